//! Rows of the conversation that came since the last lines, and the begin and the end of a turn.

use super::facts::facts;
use super::news::News;
use super::printer::{PrintedRow, Printer};
use super::prose::Prose;
use super::row;
use crate::app::state::chat::{Density, Entry};
use crate::app::state::open::Open;
use crate::app::state::{Current, State};
use crate::domain::ids::MessageId;
use crate::domain::message::{AssistantText, Body, CutBy, InfoKind};
use crate::domain::sanitise::clean_line;
use crate::domain::tool::{ToolCall, ToolStatus};
use crate::protocol::TurnEnd;
use crate::ui::figures::{dollars, tokens};
use std::collections::HashSet;

/// Messages of the user, from the end, that are read again when a session is shown.
const AGAIN: usize = 2;

impl Printer {
    /// Another session is shown: what it is, and how its conversation ended.
    pub(super) fn place(&mut self, state: &State, out: &mut Vec<String>) {
        let Current::Session(id) = &state.conversations.current else { return };
        let Some(open) = state.conversations.open.get(id).filter(|open| open.loaded) else { return };
        if self.rows.shown.as_ref() == Some(id) {
            return;
        }
        // The same session under another name.
        let renamed = self.rows.shown.as_ref().is_some_and(|old| !state.conversations.open.contains_key(old))
            && open.chat.entries.iter().all(|entry| self.rows.told.contains_key(&entry.message.id));
        self.rows.shown = Some(id.clone());
        if renamed {
            return;
        }
        (self.rows.speaker, self.rows.started) = (None, None);
        self.rows.told.clear();
        self.rows.queued.clear();
        if !self.greeted {
            self.greeted = true;
            let keys = "Ctrl+C stops a turn, Ctrl+D quits";
            out.push(format!("lisle, linear mode. /help lists commands, a trailing \\ continues the line, {keys}."));
        }
        self.rows.facts = facts(state, open, &self.home);
        let title = if self.rows.facts.title.is_empty() { "new" } else { &self.rows.facts.title };
        out.push(format!("session: {title}"));
        out.push(format!("mode: {}", self.rows.facts.mode.shown()));
        out.push(format!("model: {}", self.rows.facts.model));
        out.push(format!("directory: {}", self.rows.facts.cwd));
        if let Some(names) = state.current_meta().map(|meta| &meta.names) {
            let all = [
                ("name", &names.alias),
                ("from", &names.program),
                ("strategy", &names.strategy),
                ("context", &names.context),
            ];
            let named =
                |(label, name): (&str, &Option<String>)| Some(format!("{label}: {}", clean_line(name.as_ref()?)));
            out.extend(all.into_iter().filter_map(named));
        }
        out.extend(self.rows.facts.held_by.iter().map(|who| format!("warning: read-only: {who}")));
        out.extend(self.rows.facts.plan.clone());
        // It is printed below, with the pending requests.
        self.rows.facts.redelivery = false;
        let entries = &open.chat.entries;
        let of_user = |entry: &Entry| matches!(entry.message.body, Body::User(_));
        let users: Vec<usize> = entries.iter().enumerate().filter(|(_, e)| of_user(e)).map(|(n, _)| n).collect();
        let first = users.len().checked_sub(AGAIN).and_then(|at| users.get(at)).copied().unwrap_or(0);
        if first > 0 || open.chat.earlier.is_some() {
            let more = if open.chat.earlier.is_some() { "more than " } else { "" };
            out.push(format!("({more}{first} earlier rows; /transcript prints all)"));
        }
        for (n, entry) in entries.iter().enumerate() {
            let over = n < first;
            // A call of before is told by its end alone.
            if over || matches!(&entry.message.body, Body::Tool(call) if has_ended(call)) {
                let told = PrintedRow { over, begun: true, ..PrintedRow::default() };
                self.rows.told.insert(entry.message.id.clone(), told);
            }
        }
    }

    pub(super) fn turn_begins(&mut self, open: &Open, news: &mut News) {
        if self.rows.started.is_none() && open.turn.started.is_some() {
            news.began = true;
            self.rows.started = open.turn.started;
        }
    }

    /// Rows that came, and what was added to those that grow.
    pub(super) fn rows(&mut self, open: &Open, out: &mut Vec<String>) {
        // A text of which something was told does not stay: its request is sent anew.
        let gone = self.rows.speaker.clone().filter(|id| self.rows.told.get(id).is_some_and(|told| !told.over));
        if let Some(id) = gone.filter(|id| open.chat.entries.iter().all(|entry| entry.message.id != *id)) {
            self.rows.told.remove(&id);
            self.rows.speaker = None;
            out.push("note: response interrupted, starting over".to_owned());
        }
        // Output grows at the end: rows before those that are printed completely are skipped, but for those of which
        // only a part is printed.
        let told = |entry: &Entry| self.rows.told.get(&entry.message.id);
        let begin = open.chat.entries.iter().rposition(|entry| told(entry).is_some_and(|told| told.over));
        let part = open.chat.entries.iter().position(|entry| entry.live || told(entry).is_some_and(|told| !told.over));
        let from = match (begin, part) {
            (Some(begin), Some(part)) => (begin + 1).min(part),
            (Some(begin), None) => begin + 1,
            (None, _) => 0,
        };
        for entry in open.chat.entries.iter().skip(from) {
            self.row(entry, open, out);
        }
    }

    /// New lines of an answer, with a note where it broke off or began anew.
    pub(super) fn assistant(
        &mut self,
        id: &MessageId,
        said: &AssistantText,
        over: bool,
        told: &mut PrintedRow,
        out: &mut Vec<String>,
    ) -> Vec<String> {
        let mut lines;
        if said.cut_by == Some(CutBy::Error) && said.partial && !over && told.broken.is_none() {
            out.push("note: response interrupted, retrying".to_owned());
            told.broken = Some(said.text.clone());
        } else if !said.partial && told.broken.take().is_some_and(|broken| !said.text.starts_with(&broken)) {
            out.push("note: response starts over".to_owned());
            (told.prose, told.begun, self.rows.speaker) = (Prose::default(), false, None);
        }
        let fresh = told.prose.take(&said.text, over);
        if self.rows.speaker.as_ref() == Some(id) {
            lines = row::indented(fresh).collect();
        } else {
            let again = if told.begun { "assistant continues" } else { "assistant" };
            lines = row::labelled(again, fresh);
        }
        if let Some(words) = said.cut_off().filter(|_| over && !said.text.trim().is_empty()) {
            lines.push(format!("({words})"));
        }
        told.over = over;
        lines
    }

    pub(super) fn row(&mut self, entry: &Entry, open: &Open, out: &mut Vec<String>) {
        let id = &entry.message.id;
        let mut told = self.rows.told.get(id).cloned().unwrap_or_default();
        if told.over {
            return;
        }
        let density = open.chat.density;
        let over = !entry.live || is_final(entry, open);
        let mut lines = Vec::new();
        match &entry.message.body {
            Body::User(said) => {
                let seen = self.rows.typed.iter().position(|text| *text == said.text);
                match seen {
                    Some(at) => drop(self.rows.typed.remove(at)),
                    None => lines = row::user(said, density),
                }
                told.over = true;
            }
            Body::Assistant(said) => {
                lines = self.assistant(id, said, over, &mut told, out);
            }
            Body::Thinking(thinking) if over => {
                let whole = open.chat.thinking || density == Density::Full;
                lines = row::thinking(&thinking.text, thinking.millis, whole);
                told.over = true;
            }
            Body::Thinking(_) => {
                if !told.begun {
                    lines.push("thinking".to_owned());
                    told.begun = true;
                }
            }
            Body::Tool(call) => lines = call_lines(call, over, density, &mut told),
            Body::Error(failure) => {
                lines = row::failure(failure);
                told.over = true;
            }
            Body::Info(info) => {
                // The mode is printed when the session has it; this is the note of it.
                if info.kind != InfoKind::ModeChanged {
                    lines = row::info(info);
                }
                told.over = true;
            }
            Body::Plan(plan) => {
                // One that was submitted just now is printed completely, with its answers.
                if self.rows.started.is_none() {
                    let name = plan.path.rsplit('/').next().unwrap_or_default();
                    lines.push(format!("plan: {}", clean_line(name)));
                }
                told.over = true;
            }
            Body::Odd(odd) => {
                lines.push(format!("unreadable line: {}", clean_line(odd.what.trim())));
                told.over = true;
            }
        }
        if !lines.is_empty() {
            if entry.message.parent.is_some()
                && let Some(first) = lines.first_mut()
            {
                *first = format!("subsession: {first}");
            }
            if matches!(entry.message.body, Body::Assistant(_)) {
                told.begun = true;
            }
            self.rows.speaker = Some(id.clone());
            out.append(&mut lines);
        }
        self.rows.told.insert(id.clone(), told);
    }

    pub(super) fn turn_ends(&mut self, state: &State, open: &Open, news: &mut News) {
        let Some(began) = self.rows.started.filter(|_| open.turn.started.is_none()) else { return };
        self.rows.started = None;
        news.ended = true;
        // What stopped it, or made it fail, stands in a row of its own.
        if open.ended != Some(TurnEnd::Done) {
            return;
        }
        let mut line = format!("done: {}", row::lasted(state.clock.now.since(began)));
        if let Some(usage) = state.current_meta().map(|meta| &meta.usage) {
            if let Some((percent, window)) = usage.context_share().filter(|_| usage.context_tokens > 0) {
                line.push_str(&format!(", {percent}% of {} tokens", tokens(window)));
            }
            if usage.cost_usd > 0.0 {
                line.push_str(&format!(", cost so far {}", dollars(usage.cost_usd)));
            }
        }
        news.lines.push(line);
    }

    pub(super) fn queue(&mut self, open: &Open, out: &mut Vec<String>) {
        let now: HashSet<MessageId> = open.waiting().map(|item| item.id.clone()).collect();
        for item in open.waiting().filter(|item| !self.rows.queued.contains(&item.id)) {
            let text: String = clean_line(item.text.trim()).chars().take(200).collect();
            if item.redelivered {
                out.push(format!("queued in the last run: {text}"));
            } else {
                // The terminal shows it already, above what came since.
                self.rows.typed.retain(|typed| *typed != item.text);
                out.push(format!("queued: {text}"));
            }
        }
        self.rows.queued = now;
    }
}

/// True if nothing is added any more to a row that the end of its turn did not reach yet: it stands before what follows it,
/// whatever of it one frame has.
fn is_final(entry: &Entry, open: &Open) -> bool {
    // What comes behind a response that is complete, or that no other attempt follows.
    let ends = |later: &Entry| {
        matches!(later.message.body, Body::User(_) | Body::Tool(_) | Body::Error(_) | Body::Plan(_) | Body::Odd(_))
    };
    let ended = || open.chat.entries.iter().rev().take_while(|later| later.key > entry.key).any(ends);
    match &entry.message.body {
        // The next attempt goes on in the row of one that an error cut off.
        Body::Assistant(said) => (said.partial && said.cut_by != Some(CutBy::Error)) || ended(),
        Body::Thinking(thinking) => thinking.millis.is_some() || ended(),
        _ => false,
    }
}

/// Lines of a call that are due now.
fn has_ended(call: &ToolCall) -> bool {
    match call.status {
        ToolStatus::Completed | ToolStatus::Error | ToolStatus::Backgrounded => true,
        ToolStatus::Pending | ToolStatus::Executing => false,
    }
}

fn call_lines(call: &ToolCall, over: bool, density: Density, told: &mut PrintedRow) -> Vec<String> {
    let mut lines = Vec::new();
    match call.status {
        ToolStatus::Pending if over => told.over = true,
        ToolStatus::Pending => {}
        ToolStatus::Executing if over => {
            lines = row::call_begins(call);
            told.over = true;
        }
        ToolStatus::Executing => {
            if !told.begun {
                lines = row::call_begins(call);
                told.begun = true;
            }
        }
        ToolStatus::Completed | ToolStatus::Error | ToolStatus::Backgrounded => {
            // One that was too quick to be seen running is told like the others.
            let ran = call.decision.as_ref().is_some_and(|decision| decision.allowed);
            if ran && !told.begun {
                lines = row::call_begins(call);
            }
            lines.extend(row::call_ended(call, density));
            told.over = true;
        }
    }
    lines
}
