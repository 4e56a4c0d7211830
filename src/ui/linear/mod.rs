//! Linear mode: the same state as lines that are only ever added, for screen readers, plain terminals and logs.
//!
//! [`Printer`] remembers what was told; [`Printer::news`] gives the lines that are new, and [`Printer::hear`] what a line
//! means that was written. Words label everything, numbers choose, and nothing is decorated. `row` words the rows of the
//! conversation, `prose` markdown, `ask` what waits for the user, `sheet` what lies over the panes, `hear` reads.

mod ask;
mod hear;
mod prose;
mod row;
mod sheet;

use super::figures::{dollars, tokens};
use super::status;
use crate::app::Msg;
use crate::app::line::Line;
use crate::app::state::chat::{Density, Entry};
use crate::app::state::open::Open;
use crate::app::state::panel::{Choice, Stage};
use crate::app::state::{Current, Quit, State};
use crate::domain::Mode;
use crate::domain::contract::TurnEnd;
use crate::domain::ids::{At, MessageId, RequestId, SessionId};
use crate::domain::message::{Body, CutBy, InfoKind};
use crate::domain::notice::{Level, Notice};
use crate::domain::request::Request;
use crate::domain::sanitise::clean_line;
use crate::domain::session::{Activity, SessionMeta, TitleFrom};
use crate::domain::tool::{TodoStatus, ToolStatus};
use prose::Prose;
use sheet::Sheet;
use std::collections::{HashMap, HashSet};

pub use hear::Heard;

/// Items of a list that are read at once.
const PAGE: usize = 20;
/// Messages of the user, from the end, that are read again when a session is shown.
const AGAIN: usize = 2;

/// Source of the input lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// Person at a terminal, which echoes their input.
    Person,
    /// A file or a program: its input is printed, so that the lines are a log of both sides.
    Program,
}

/// Printed part of a row.
#[derive(Clone, Debug, Default)]
struct Told {
    prose: Prose,
    /// A call was told when it began.
    begun: bool,
    /// Text printed before the response was interrupted and requested again.
    broken: Option<String>,
    /// Nothing of it is left to tell.
    over: bool,
}

/// Meaning of the numbers printed last.
#[derive(Clone, Debug, Default)]
enum Asked {
    /// Nothing.
    #[default]
    Nothing,
    /// These answers of this request.
    Answers(RequestId, Vec<Choice>),
    /// The words for an answer of this request.
    Words(RequestId, Choice),
    /// The key that this request wants.
    Key(RequestId),
    /// Handling of the draft, which is this text.
    Draft(String),
    /// The items of a sheet, told up to this one.
    Sheet(Box<Sheet>, usize),
}

impl Asked {
    /// True if both ask for the same.
    fn is(&self, other: &Asked) -> bool {
        match (self, other) {
            (Asked::Nothing, Asked::Nothing) => true,
            (Asked::Answers(a, x), Asked::Answers(b, y)) => (a, x) == (b, y),
            (Asked::Words(a, x), Asked::Words(b, y)) => (a, x) == (b, y),
            (Asked::Key(a), Asked::Key(b)) => a == b,
            (Asked::Draft(a), Asked::Draft(b)) => a == b,
            (Asked::Sheet(a, _), Asked::Sheet(b, _)) => sheet::words(a) == sheet::words(b),
            _ => false,
        }
    }

    fn request(&self) -> Option<&RequestId> {
        match self {
            Asked::Answers(id, _) | Asked::Words(id, _) | Asked::Key(id) => Some(id),
            Asked::Nothing | Asked::Draft(_) | Asked::Sheet(..) => None,
        }
    }
}

/// Target of a line that was begun before its question was withdrawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Withdrawn {
    /// Nothing.
    #[default]
    No,
    /// A question with numbers.
    Numbers,
    /// Words or a key.
    Words,
}

/// New lines to print.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// The lines, without their ends. Nothing in them acts on a terminal.
    pub lines: Vec<String>,
    /// A turn began.
    pub began: bool,
    /// A turn ended.
    pub ended: bool,
}

/// Figures that are printed when they change.
#[derive(Clone, Debug, Default, PartialEq)]
struct Facts {
    title: String,
    mode: Mode,
    model: String,
    status: String,
    labels: String,
    marked: String,
    cwd: String,
    plan: Option<String>,
    todo: Option<String>,
    retry: Option<String>,
    compacting: Option<(u32, u32)>,
    waiting: Option<String>,
    held_by: Option<String>,
    files: Vec<String>,
    redelivery: bool,
}

/// Record of what was printed so far.
#[derive(Debug)]
pub struct Printer {
    writer: Writer,
    /// Whoever reads the lines does not see what is typed.
    logs: bool,
    home: String,
    /// The first lines were told.
    greeted: bool,
    /// The session whose conversation was told last.
    shown: Option<SessionId>,
    told: HashMap<MessageId, Told>,
    /// Message of the speaker label printed last.
    speaker: Option<MessageId>,
    facts: Facts,
    started: Option<At>,
    queued: HashSet<MessageId>,
    notices: Vec<Notice>,
    needing: HashSet<SessionId>,
    running: HashSet<SessionId>,
    quit: Quit,
    asked: Asked,
    /// Time when it was printed.
    asked_at: At,
    /// A question was taken away that had not been answered here: the next line may be meant for it.
    withdrawn: Withdrawn,
    /// The request that was told last, whole.
    request: Option<Request>,
    /// A list that was told further on the user's wish.
    more: Option<(usize, Box<Sheet>)>,
    /// More may come for the list that is open: it is not told yet.
    holds: bool,
    /// The last line was about the question: a changed question is printed again.
    acted: bool,
    /// Messages that a person typed and sees already.
    typed: Vec<String>,
}

impl Printer {
    /// Nothing was told. `home` is the home directory, shown as `~`.
    #[must_use]
    pub fn new(writer: Writer, home: &str) -> Self {
        Self {
            writer,
            logs: writer == Writer::Program,
            home: home.to_owned(),
            greeted: false,
            shown: None,
            told: HashMap::new(),
            speaker: None,
            facts: Facts::default(),
            started: None,
            queued: HashSet::new(),
            notices: Vec::new(),
            needing: HashSet::new(),
            running: HashSet::new(),
            quit: Quit::No,
            asked: Asked::Nothing,
            asked_at: At(i64::MIN),
            withdrawn: Withdrawn::No,
            request: None,
            more: None,
            holds: false,
            acted: false,
            typed: Vec::new(),
        }
    }

    /// The lines go elsewhere than to the terminal where somebody types: messages are printed as well.
    #[must_use]
    pub fn logging(mut self) -> Self {
        self.logs = true;
        self
    }

    /// Holds a list back that the engine may still fill, or no longer.
    pub fn hold(&mut self, holds: bool) {
        self.holds = holds;
    }

    /// True while a key is asked for: the input must not be echoed.
    #[must_use]
    pub fn wants_secret(&self) -> bool {
        matches!(self.asked, Asked::Key(_))
    }

    /// True while a question or a list waits for a line.
    #[must_use]
    pub fn asks(&self) -> bool {
        !matches!(self.asked, Asked::Nothing)
    }

    /// True while a request of the engine waits, which nobody can answer once the input has ended.
    #[must_use]
    pub fn waits_for_an_answer(&self) -> bool {
        self.asked.request().is_some()
    }

    /// The lines that are new since the last time.
    pub fn news(&mut self, state: &State) -> News {
        let mut news = News::default();
        self.place(state, &mut news.lines);
        if let Some(open) = state.current_open().filter(|open| open.loaded && self.shown.as_ref() == state.current_id())
        {
            self.turn_begins(open, &mut news);
            self.rows(open, &mut news.lines);
            self.queue(open, &mut news.lines);
            self.facts(state, open, &mut news.lines);
            self.turn_ends(state, open, &mut news);
        }
        self.others(state, &mut news.lines);
        self.notices(state, &mut news.lines);
        if matches!(state.ending.quit, Quit::OnceMore(_)) && self.quit != state.ending.quit {
            news.lines.push("note: Ctrl+C once more quits".to_owned());
        }
        self.quit = state.ending.quit;
        self.ask(state, &mut news.lines);
        for line in &mut news.lines {
            *line = prose::harmless(line);
        }
        news
    }

    /// Another session is shown: what it is, and how its conversation ended.
    fn place(&mut self, state: &State, out: &mut Vec<String>) {
        let Current::Session(id) = &state.conversations.current else { return };
        let Some(open) = state.conversations.open.get(id).filter(|open| open.loaded) else { return };
        if self.shown.as_ref() == Some(id) {
            return;
        }
        // The same session under another name.
        let renamed = self.shown.as_ref().is_some_and(|old| !state.conversations.open.contains_key(old))
            && open.chat.entries.iter().all(|entry| self.told.contains_key(&entry.message.id));
        self.shown = Some(id.clone());
        if renamed {
            return;
        }
        (self.speaker, self.started) = (None, None);
        self.told.clear();
        self.queued.clear();
        if !self.greeted {
            self.greeted = true;
            let keys = "Ctrl+C stops a turn, Ctrl+D quits";
            out.push(format!("lisle, linear mode. /help lists the commands, a line that ends in \\ goes on, {keys}."));
        }
        self.facts = facts(state, open, &self.home);
        let title = if self.facts.title.is_empty() { "new" } else { &self.facts.title };
        out.push(format!("session: {title}"));
        out.push(format!("mode: {}", self.facts.mode.shown()));
        out.push(format!("model: {}", self.facts.model));
        out.push(format!("directory: {}", self.facts.cwd));
        out.extend(self.facts.held_by.iter().map(|who| format!("warning: only read here: {who}")));
        out.extend(self.facts.plan.clone());
        // It is printed below, with the pending requests.
        self.facts.redelivery = false;
        let entries = &open.chat.entries;
        let of_user = |entry: &Entry| matches!(entry.message.body, Body::User(_));
        let users: Vec<usize> = entries.iter().enumerate().filter(|(_, e)| of_user(e)).map(|(n, _)| n).collect();
        let first = users.len().checked_sub(AGAIN).and_then(|at| users.get(at)).copied().unwrap_or(0);
        if first > 0 || open.chat.earlier.is_some() {
            let more = if open.chat.earlier.is_some() { "more than " } else { "" };
            out.push(format!("({more}{first} rows before; /transcript tells them all)"));
        }
        for entry in entries.iter().take(first) {
            self.told.insert(entry.message.id.clone(), Told { over: true, ..Told::default() });
        }
    }

    fn turn_begins(&mut self, open: &Open, news: &mut News) {
        if self.started.is_none() && open.turn.started.is_some() {
            news.began = true;
            self.started = open.turn.started;
        }
    }

    /// Rows that came, and what was added to those that grow.
    fn rows(&mut self, open: &Open, out: &mut Vec<String>) {
        // A text of which something was told does not stay: its request is sent anew.
        let gone = self.speaker.clone().filter(|id| self.told.get(id).is_some_and(|told| !told.over));
        if let Some(id) = gone.filter(|id| open.chat.entries.iter().all(|entry| entry.message.id != *id)) {
            self.told.remove(&id);
            self.speaker = None;
            out.push("note: the answer broke off and begins anew".to_owned());
        }
        // Output grows at the end: rows before those that are printed completely are skipped.
        let begin = open
            .chat
            .entries
            .iter()
            .rposition(|entry| self.told.get(&entry.message.id).is_some_and(|told| told.over) && !entry.live);
        let live = open.chat.entries.iter().position(|entry| entry.live);
        let from = match (begin, live) {
            (Some(begin), Some(live)) => (begin + 1).min(live),
            (Some(begin), None) => begin + 1,
            (None, _) => 0,
        };
        for entry in open.chat.entries.iter().skip(from) {
            self.row(entry, open, out);
        }
    }

    fn row(&mut self, entry: &Entry, open: &Open, out: &mut Vec<String>) {
        let id = &entry.message.id;
        let mut told = self.told.get(id).cloned().unwrap_or_default();
        if told.over {
            return;
        }
        let density = open.chat.density;
        let over = !entry.live;
        let mut lines = Vec::new();
        match &entry.message.body {
            Body::User(said) => {
                let seen = self.typed.iter().position(|text| *text == said.text);
                match seen {
                    Some(at) => drop(self.typed.remove(at)),
                    None => lines = row::user(said),
                }
                told.over = true;
            }
            Body::Assistant(said) => {
                if said.cut_by == Some(CutBy::Error) && said.partial && !over && told.broken.is_none() {
                    out.push("note: the answer broke off and is asked for again".to_owned());
                    told.broken = Some(said.text.clone());
                } else if !said.partial && told.broken.take().is_some_and(|broken| !said.text.starts_with(&broken)) {
                    out.push("note: the answer begins anew".to_owned());
                    (told.prose, told.begun, self.speaker) = (Prose::default(), false, None);
                }
                let fresh = told.prose.take(&said.text, over);
                if self.speaker.as_ref() == Some(id) {
                    lines = fresh;
                } else {
                    let again = if told.begun { "assistant goes on" } else { "assistant" };
                    lines = row::labelled(again, fresh);
                }
                if let Some(words) = said.cut_off().filter(|_| over && !said.text.trim().is_empty()) {
                    lines.push(format!("({words})"));
                }
                told.over = over;
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
            Body::Tool(call) => match call.status {
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
                    lines = row::call_ended(call, density);
                    told.over = true;
                }
            },
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
                if self.started.is_none() {
                    let name = plan.path.rsplit('/').next().unwrap_or_default();
                    lines.push(format!("plan: {}", clean_line(name)));
                }
                told.over = true;
            }
            Body::Odd(odd) => {
                lines.push(format!("odd line: {}", clean_line(odd.what.trim())));
                told.over = true;
            }
        }
        if !lines.is_empty() {
            if entry.message.parent.is_some()
                && let Some(first) = lines.first_mut()
            {
                *first = format!("below the call: {first}");
            }
            if matches!(entry.message.body, Body::Assistant(_)) {
                told.begun = true;
            }
            self.speaker = Some(id.clone());
            out.append(&mut lines);
        }
        self.told.insert(id.clone(), told);
    }

    fn queue(&mut self, open: &Open, out: &mut Vec<String>) {
        let now: HashSet<MessageId> = open.waiting().map(|item| item.id.clone()).collect();
        for item in open.waiting().filter(|item| !self.queued.contains(&item.id)) {
            let text: String = clean_line(item.text.trim()).chars().take(200).collect();
            if item.redelivered {
                out.push(format!("waits since the last end: {text}"));
            } else {
                // The terminal shows it already, above what came since.
                self.typed.retain(|typed| *typed != item.text);
                out.push(format!("waits for its turn: {text}"));
            }
        }
        self.queued = now;
    }

    fn facts(&mut self, state: &State, open: &Open, out: &mut Vec<String>) {
        let now = facts(state, open, &self.home);
        let was = std::mem::replace(&mut self.facts, now);
        let now = &self.facts;
        let mut tell = |label: &str, was: &str, now: &str| {
            if was != now && !now.is_empty() {
                out.push(format!("{label}: {now}"));
            }
        };
        // The start of the first message is no title that tells anything; nor does the work's own status.
        if state.current_meta().is_some_and(|meta| meta.title_from != TitleFrom::Provisional) {
            tell("title", &was.title, &now.title);
        }
        tell("mode", was.mode.shown(), now.mode.shown());
        tell("model", &was.model, &now.model);
        let begins = open.chat.entries.back().is_some_and(|last| matches!(last.message.body, Body::User(_)));
        if open.turn.started.is_none() && !begins {
            tell("status", &was.status, &now.status);
        }
        tell("marked", &was.marked, &now.marked);
        tell("labels", &was.labels, &now.labels);
        tell("directory", &was.cwd, &now.cwd);
        let opt = |text: &Option<String>| text.clone().unwrap_or_default();
        tell("retry", &opt(&was.retry), &opt(&now.retry));
        tell("waiting", &opt(&was.waiting), &opt(&now.waiting));
        tell("warning", &opt(&was.held_by), &opt(&now.held_by));
        for (was, now) in [(&was.plan, &now.plan), (&was.todo, &now.todo)] {
            if was != now {
                out.extend(now.clone());
            }
        }
        if now.redelivery && !was.redelivery {
            out.push(
                "warning: what waited when lisle ended last is sent in a few seconds; any line holds it".to_owned(),
            );
        }
        for file in now.files.iter().filter(|file| !was.files.contains(file)) {
            out.push(format!("goes along with the next message: {file}"));
        }
        if let Some((part, of)) = now.compacting.filter(|_| was.compacting != now.compacting) {
            out.push(format!("compacting: part {part} of {of}"));
        }
    }

    fn turn_ends(&mut self, state: &State, open: &Open, news: &mut News) {
        let Some(began) = self.started.filter(|_| open.turn.started.is_none()) else { return };
        self.started = None;
        news.ended = true;
        // What stopped it, or made it fail, stands in a row of its own.
        if open.ended != Some(TurnEnd::Done) {
            return;
        }
        let mut line = format!("done: {}", row::lasted(state.clock.now.since(began)));
        if let Some(usage) = state.current_meta().map(|meta| &meta.usage) {
            if let Some(window) = usage.context_window.filter(|window| *window > 0 && usage.context_tokens > 0) {
                let part = usage.context_tokens.saturating_mul(100) / window;
                line.push_str(&format!(", {part}% of {} tokens", tokens(window)));
            }
            if usage.cost_usd > 0.0 {
                line.push_str(&format!(", cost so far {}", dollars(usage.cost_usd)));
            }
        }
        news.lines.push(line);
    }

    /// News of sessions that are not shown.
    fn others(&mut self, state: &State, out: &mut Vec<String>) {
        let shown = state.current_id();
        let (mut needing, mut running) = (HashSet::new(), HashSet::new());
        for meta in state.sessions.metas() {
            let title = || clean_line(meta.shown_title()).into_owned();
            match &meta.activity {
                Activity::NeedsYou(what) => {
                    if !self.needing.contains(&meta.id) && shown != Some(&meta.id) {
                        out.push(format!("needs you: {}: {} (/inbox)", title(), clean_line(what)));
                    }
                    needing.insert(meta.id.clone());
                }
                Activity::Running(_) => drop(running.insert(meta.id.clone())),
                Activity::Idle
                    if self.running.contains(&meta.id) && shown != Some(&meta.id) && meta.parent.is_none() =>
                {
                    out.push(format!("done elsewhere: {}", title()));
                }
                Activity::Idle | Activity::Stopping => {}
            }
        }
        (self.needing, self.running) = (needing, running);
    }

    fn notices(&mut self, state: &State, out: &mut Vec<String>) {
        let now: Vec<Notice> = state.notices.iter().cloned().collect();
        // Before the first session exists only problems are printed.
        let early = !self.greeted;
        let mut kept = Vec::new();
        for notice in &now {
            if self.notices.contains(notice) {
                kept.push(notice.clone());
            } else if !early || notice.level == Level::Error {
                out.extend(row::notice(notice));
                kept.push(notice.clone());
            }
        }
        self.notices = kept;
    }

    /// Prints the pending question if it is not the one printed last.
    fn ask(&mut self, state: &State, out: &mut Vec<String>) {
        let now = self.wanted(state);
        if self.holds && matches!(now, Asked::Sheet(..)) && !self.asked.is(&now) {
            return;
        }
        let acted = std::mem::take(&mut self.acted);
        if let Asked::Sheet(sheet, _) = &now
            && sheet.waits
        {
            return;
        }
        if self.asked.is(&now) {
            if acted && let Asked::Sheet(sheet, _) = &now {
                // A row was chosen, and nothing else changed: what can be done with it.
                let verbs = sheet.items.iter().enumerate().filter(|(_, item)| !is_row(&item.does));
                out.extend(verbs.flat_map(|(n, item)| numbered(n, &item.lines)));
                self.asked = now;
            }
            return;
        }
        let ends = state.ending.quit == Quit::Ending;
        let answered_here = acted || ends || self.asked.request().is_none();
        if !answered_here && self.asked.request() != now.request() {
            self.withdrawn = match self.asked {
                Asked::Words(..) | Asked::Key(_) => Withdrawn::Words,
                _ => Withdrawn::Numbers,
            };
            if matches!(now, Asked::Nothing) {
                out.push("note: the question was settled without an answer from here".to_owned());
            }
        }
        // What the user's own line led to is read before the next one.
        self.asked_at = if acted { At(i64::MIN) } else { state.clock.now };
        let mut now = now;
        self.tell_asked(state, &mut now, out);
        if let Asked::Answers(..) = now {
            self.request = state.panel().map(|(_, request)| request.clone());
        }
        self.asked = now;
    }

    /// Question that the state asks for.
    fn wanted(&self, state: &State) -> Asked {
        if state.ending.quit == Quit::Ending {
            return Asked::Nothing;
        }
        if let Some(sheet) = sheet::of(state, &self.home) {
            return Asked::Sheet(Box::new(sheet), 0);
        }
        if let Some((panel, request)) = state.panel() {
            return match &panel.stage {
                Stage::Writing { purpose, .. } => Asked::Words(request.id.clone(), purpose.clone()),
                Stage::Secret { .. } => Asked::Key(request.id.clone()),
                Stage::Choosing | Stage::Rules { .. } => Asked::Answers(request.id.clone(), panel.choices.clone()),
            };
        }
        let loaded = state.current_open().is_some_and(|open| open.loaded);
        if loaded && !state.composer().has_no_text() {
            return Asked::Draft(state.composer().text());
        }
        Asked::Nothing
    }

    fn tell_asked(&self, state: &State, now: &mut Asked, out: &mut Vec<String>) {
        match now {
            Asked::Nothing => {}
            Asked::Answers(id, _) => {
                let Some((panel, request)) = state.panel().filter(|(panel, _)| panel.request == *id) else { return };
                // Back from the words: only the answers again.
                if self.asked.request() == Some(id) && !matches!(self.asked, Asked::Answers(..)) {
                    out.extend(ask::answers(panel, request));
                    return;
                }
                let waiting = state.current_open().map_or(0, |open| open.requests.len());
                let place = (waiting > 1).then_some((1, waiting));
                let mut lines = ask::lines(panel, request, place, &self.home);
                if self.request.as_ref() == Some(request) {
                    // It was told before something else lay over it.
                    lines.truncate(1);
                    lines.extend(ask::answers(panel, request));
                    lines.push("(? tells all of it again)".to_owned());
                }
                out.append(&mut lines);
                out.push(format!("answer: a number from 1 to {}", panel.choices.len()));
            }
            Asked::Words(id, purpose) => {
                let begun = state.panel().filter(|(panel, _)| panel.request == *id).map(|(panel, _)| &panel.stage);
                let begun = match begun {
                    Some(Stage::Writing { text, .. }) => text.text(),
                    _ => String::new(),
                };
                out.extend(ask::words_for(purpose, &begun));
            }
            Asked::Key(_) => {
                out.push("write or paste the key, it is not shown; an empty line goes back to the answers".to_owned());
            }
            Asked::Draft(text) => {
                out.extend(row::labelled("draft", row::plain(text)));
                out.extend(["1. send it", "2. edit it in $EDITOR", "3. put it away"].map(str::to_owned));
                out.push("answer: a number, or another message in its place".to_owned());
            }
            Asked::Sheet(sheet, told) => {
                out.extend(sheet.head.iter().cloned());
                *told = page(sheet, 0, out);
            }
        }
    }
}

/// Any text as lines in which no terminal finds anything to do.
#[must_use]
pub fn as_lines(text: &str) -> Vec<String> {
    row::plain(text).iter().map(|line| prose::harmless(line)).collect()
}

fn is_row(does: &Msg) -> bool {
    matches!(does, Msg::Line(Line::Row(_)))
}

/// An item behind its number.
fn numbered(n: usize, lines: &[String]) -> Vec<String> {
    let mut lines = lines.iter();
    let first = lines.next().map(|line| format!("{}. {line}", n + 1));
    first.into_iter().chain(lines.map(|line| format!("   {line}"))).collect()
}

/// The items from this one on, as many as are read at once, and what can be written. Returns the first one that is left.
fn page(sheet: &Sheet, from: usize, out: &mut Vec<String>) -> usize {
    let all = sheet.items.len();
    let to = from.saturating_add(PAGE).min(all);
    for (n, item) in sheet.items.iter().enumerate().take(to).skip(from) {
        out.extend(numbered(n, &item.lines));
    }
    if to < all {
        out.push(format!("({} more: write \"more\")", all - to));
    } else {
        out.extend(sheet.foot.iter().cloned());
    }
    let mut ways = Vec::new();
    if all > 0 {
        ways.push("a number".to_owned());
    }
    ways.extend(sheet.input.map(str::to_owned));
    let ways = if ways.is_empty() { String::new() } else { format!("{}; ", ways.join("; ")) };
    out.push(format!("answer: {ways}an empty line closes"));
    to
}

/// Marks of a session.
fn marks(meta: &SessionMeta) -> String {
    let marks = [(meta.flagged, "flagged"), (meta.archived, "archived"), (meta.hidden, "hidden")];
    let marks: Vec<&str> = marks.iter().filter(|(on, _)| *on).map(|(_, word)| *word).collect();
    if marks.is_empty() { "nothing".to_owned() } else { marks.join(", ") }
}

/// The facts of the session that is shown.
fn facts(state: &State, open: &Open, home: &str) -> Facts {
    let meta = state.current_meta();
    let (model, thinking) = status::model(state);
    let todo = (!open.todo.is_empty()).then(|| {
        let done = open.todo.iter().filter(|item| item.status == TodoStatus::Completed).count();
        let now = open.todo.iter().find(|item| item.status == TodoStatus::InProgress);
        let now = now.map(|item| format!(", now: {}", clean_line(&item.content))).unwrap_or_default();
        format!("to do: {done} of {} done{now}", open.todo.len())
    });
    let retry = open.turn.retry.as_ref();
    Facts {
        title: meta.map(|meta| clean_line(meta.shown_title()).into_owned()).unwrap_or_default(),
        mode: status::mode(state),
        model: match thinking {
            Some(level) => format!("{model}, thinking {level}"),
            None => model,
        },
        status: meta.map(|meta| clean_line(&meta.status).into_owned()).unwrap_or_default(),
        labels: match meta.map(|meta| meta.labels.join(", ").replace("::", " ")) {
            Some(labels) if !labels.is_empty() => clean_line(&labels).into_owned(),
            _ => "none".to_owned(),
        },
        marked: meta.map(marks).unwrap_or_default(),
        cwd: meta.map(|meta| clean_line(&ask::home_path(&meta.cwd, home)).into_owned()).unwrap_or_default(),
        plan: open.plan.as_deref().map(row::progress),
        todo,
        retry: retry.map(|retry| format!("{} of {}: {}", retry.attempt, retry.of, clean_line(&retry.reason))),
        compacting: open.turn.compacting,
        waiting: open.turn.waiting.as_ref().map(|name| format!("for a free place at {}", clean_line(name.as_str()))),
        redelivery: open.redelivery.is_some(),
        files: state.composer().files().there().iter().map(|file| clean_line(&file.name).into_owned()).collect(),
        held_by: meta.and_then(|meta| meta.held_by.as_ref()).map(|who| clean_line(who).into_owned()),
    }
}
