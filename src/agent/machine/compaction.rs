//! A compaction on its way: what is summed up and what stays, the model asked part by part, and the row that says so.
//!
//! Nothing of the conversation changes before the one row is written that ends it: a stop, a failure or a death in the
//! middle leaves everything as it was. Without a model's answer the structure alone is carried over, and the row says why.

use super::budget::Models;
use super::compacting::{Compacting, Why};
use super::state::{Machine, notice};
use super::turn_state::{Turn, Work};
use super::user_input::give_back;
use crate::agent::machine_io::{Safety, Step, SummaryRequest};
use crate::agent::model_context::carried_over::{self, CompactState, Room};
use crate::agent::model_context::summary::{self, Part};
use crate::agent::model_context::{conversation, tokens};
use crate::domain::ids::{At, MessageId};
use crate::domain::message::{Body, Info, InfoKind, Message};
use crate::domain::notice::Level;
use crate::domain::plan::PlanApproval;
use crate::protocol::{SessionCommand, SessionEvent, TurnEnd};
use crate::provider::{ModelRequest, ProviderError, retry};

/// Number of tries for a part after a failure that may pass.
const TRIES: u32 = 3;
/// A part that is too long for the server is halved down to so many bytes.
const LEAST_PART: usize = 1_000;
/// Least part of the window that an automatic compaction must free to be worth it.
const WORTH: u64 = 12;

impl Machine {
    /// Sets the facts about the models.
    pub fn set_models(&mut self, models: Models) {
        // The same window is shown everywhere. What another program wrote stays where nothing is known here.
        if models.window.is_some() {
            self.meta.usage.context_window = models.window;
        }
        self.budget.set_models(models);
    }

    /// Progress of a compaction, for a client that comes in the middle.
    #[must_use]
    pub fn compacting(&self) -> Option<SessionEvent> {
        match self.turn.as_ref().map(|turn| &turn.work) {
            Some(Work::Compacting(it)) => Some(it.event()),
            _ => None,
        }
    }

    fn room(&self) -> Room {
        Room::of(self.window(), self.budget.models().summing.or(self.window()))
    }

    /// The window of the model that answers, as far as it is known.
    pub(super) fn window(&self) -> Option<u64> {
        self.budget.models().window.or(self.meta.usage.context_window)
    }

    // ---- begins ----

    /// The user asks for a compaction.
    pub(super) fn compact_wished(&mut self, now: At, wish: String, out: &mut Vec<Step>) {
        if self.turn.is_some() {
            let text = "Can't compact: turn running";
            out.push(notice(Level::Warning, text, "Compact when it ends; a full context is compacted automatically"));
            return give_back(SessionCommand::Compact { wish }, text, out);
        }
        if self.own.plan.is_some() {
            let text = "Can't compact: plan pending";
            out.push(notice(Level::Warning, text, "One of its answers approves and compacts first"));
            return give_back(SessionCommand::Compact { wish }, text, out);
        }
        if !carried_over::has_matter(self.transcript.rows()) {
            let text = "Nothing to compact";
            out.push(notice(Level::Info, text, ""));
            return give_back(SessionCommand::Compact { wish }, text, out);
        }
        // The last exchange stays where all of it would, and where there is nothing else, it is summed up too.
        let room = self.room();
        let user = self.transcript.rows().iter().rposition(|row| matches!(row.body, Body::User(_)));
        let half = tokens_of(self.transcript.rows()) / 2;
        let mut cut = carried_over::cut(self.transcript.rows(), room.keep.min(half), None);
        if !carried_over::has_matter(&self.transcript.rows()[..cut]) {
            cut = carried_over::cut(self.transcript.rows(), 0, user);
        }
        if !carried_over::has_matter(&self.transcript.rows()[..cut]) {
            cut = self.transcript.rows().len();
        }
        self.open_compaction(now, Why::Wished, cut, wish, out);
    }

    /// A plan was approved to be carried out behind a compaction. All of it is in the plan, so no row stays.
    pub(super) fn compact_for_plan(&mut self, now: At, approval: PlanApproval, out: &mut Vec<Step>) {
        let done = |row: &Message| matches!(&row.body, Body::Info(info) if info.kind == InfoKind::Compacted);
        if self.transcript.rows().last().is_some_and(done)
            || !carried_over::has_matter(self.transcript.rows())
            || self.meta.unmapped
        {
            // A death came between the compaction and the rest; or nothing answers here yet, and the plan waits for that.
            self.plan.set_due(approval);
            return;
        }
        self.open_compaction(now, Why::Plan(approval), self.transcript.rows().len(), String::new(), out);
    }

    fn open_compaction(&mut self, now: At, why: Why, cut: usize, wish: String, out: &mut Vec<Step>) {
        self.runs.next();
        self.open_turn(now, Vec::new(), true, out);
        self.begin_compaction(why, cut, wish, out);
    }

    /// The window is so full that it is compacted before the next request. False where it is not, or where that would help
    /// nothing.
    pub(super) fn compact_if_full(&mut self, request: &ModelRequest, out: &mut Vec<Step>) -> bool {
        let guess = tokens::request(request);
        self.budget.gauge_mut().asks(&request.model, guess);
        let Some(limit) = self.compact_limit() else { return false };
        let Some(window) = self.window() else { return false };
        let just_done = self
            .turn
            .as_ref()
            .is_some_and(|turn| turn.compacted.is_some() && turn.compacted.as_ref() == self.transcript.last());
        if just_done || self.budget.gauge().at_least(guess) < limit {
            return false;
        }
        let cut = carried_over::cut(self.transcript.rows(), self.room().keep, self.unanswered());
        let freed = self.budget.gauge().scaled(tokens_of(&self.transcript.rows()[..cut]));
        if !carried_over::has_matter(&self.transcript.rows()[..cut]) || freed < window / WORTH {
            return false;
        }
        self.begin_compaction(Why::Full, cut, String::new(), out);
        true
    }

    /// Tokens at which it is compacted by itself.
    pub(super) fn compact_limit(&self) -> Option<u64> {
        let window = self.window().filter(|_| self.config.compact_at > 0.0)?;
        Some((window as f64 * self.config.compact_at / 100.0) as u64)
    }

    /// The request did not fit. It is taken out, what was before is compacted, and it is sent again: once in a turn. False
    /// where that was done, or there is nothing to compact.
    pub(super) fn compact_for_overflow(&mut self, out: &mut Vec<Step>) -> bool {
        let Some(turn) = &mut self.turn else { return false };
        if std::mem::replace(&mut turn.recovered, true) {
            return false;
        }
        turn.requests = turn.requests.saturating_sub(1);
        // Whatever was guessed, it was too little, and the window may be smaller than what is known of it: less stays than
        // usual, and never all of it.
        let keep = (self.room().keep / 2).min(tokens_of(self.transcript.rows()) / 3);
        let cut = carried_over::cut(self.transcript.rows(), keep, self.unanswered());
        if !carried_over::has_matter(&self.transcript.rows()[..cut]) {
            return false;
        }
        self.begin_compaction(Why::Overflow, cut, String::new(), out);
        true
    }

    /// Index of the user's last message, if the model has said nothing since: it stays as it is.
    fn unanswered(&self) -> Option<usize> {
        let told = |row: &Message| matches!(row.body, Body::User(_) | Body::Assistant(_) | Body::Tool(_));
        let last = self.transcript.rows().iter().rposition(told)?;
        if !matches!(self.transcript.rows()[last].body, Body::User(_)) {
            return None;
        }
        // Several messages may have been delivered at once. One that failed was answered by its failure.
        let answer = |row: &Message| matches!(row.body, Body::Assistant(_) | Body::Tool(_) | Body::Error(_));
        let first = self.transcript.rows()[..last].iter().rposition(answer);
        let from = first.map_or(0, |at| at + 1);
        self.transcript.rows()[from..].iter().position(|row| matches!(row.body, Body::User(_))).map(|at| from + at)
    }

    fn begin_compaction(&mut self, why: Why, cut: usize, wish: String, out: &mut Vec<Step>) {
        let parts = summary::material(&self.transcript.rows()[..cut], self.room().part);
        let it = Compacting {
            why,
            cut,
            wish,
            parts: parts.into(),
            done: 0,
            so_far: String::new(),
            failures: 0,
            by_own: false,
        };
        if let Some(turn) = &mut self.turn {
            turn.work = Work::Compacting(Box::new(it));
        }
        self.sum_up(out);
    }

    // ---- goes on ----

    /// Asks the model about the next part.
    pub(super) fn sum_up(&mut self, out: &mut Vec<Step>) {
        let room = self.room();
        let Some(Turn { work: Work::Compacting(it), .. }) = &self.turn else { return };
        let Some(text) = it.parts.front() else { return };
        let part = Part { so_far: &it.so_far, text, number: it.done + 1, of: it.done + it.parts.len(), wish: &it.wish };
        let (system, text) = summary::question(&part, &room);
        let small = self.budget.models().has_small && !it.by_own;
        out.push(Step::Emit(it.event()));
        out.push(Step::Summarise(self.runs.current(), Box::new(SummaryRequest { small, system, text })));
    }

    /// The model answered about a part, or did not.
    pub(super) fn summed(&mut self, now: At, answer: Result<String, ProviderError>, out: &mut Vec<Step>) {
        let seed = self.transcript.seed();
        let (run, has_small) = (self.runs.current(), self.budget.models().has_small);
        let Some(Turn { work: Work::Compacting(it), .. }) = &mut self.turn else { return };
        let error = match answer {
            Ok(text) if !text.trim().is_empty() => {
                it.so_far = text.trim().to_owned();
                it.parts.pop_front();
                it.done += 1;
                it.failures = 0;
                if it.parts.is_empty() {
                    return self.compacted(now, None, out);
                }
                return self.sum_up(out);
            }
            Ok(_) => None,
            Err(error) => Some(error),
        };
        it.failures += 1;
        let too_long = error.as_ref().is_some_and(|error| error.code == "context_overflow");
        if too_long && it.parts.front().is_some_and(|part| part.len() >= LEAST_PART * 2) {
            it.failures = 0;
            it.parts = summary::halves(std::mem::take(&mut it.parts)).into();
            return self.sum_up(out);
        }
        if let Some(error) = error.as_ref().filter(|error| error.retry && it.failures < TRIES)
            && let Some(wait) = retry::delay(it.failures, error.after, seed)
        {
            let (attempt, of) = (it.failures, TRIES - 1);
            let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            let reason = format!("{}: {}", error.title, error.text);
            out.push(Step::Emit(SessionEvent::Retrying { attempt, of, wait_ms, reason }));
            out.push(Step::RetryIn(run, wait_ms));
            return;
        }
        if has_small && !it.by_own {
            it.by_own = true;
            it.failures = 0;
            return self.sum_up(out);
        }
        let why = error.map_or_else(|| "the model gave no summary".to_owned(), |error| error.title);
        self.compacted(now, Some(&why), out);
    }

    // ---- ends ----

    /// All of it is summed up, or as far as that goes: the row is written, and what waited for it follows.
    fn compacted(&mut self, now: At, why_not: Option<&str>, out: &mut Vec<Step>) {
        let Some(turn) = &mut self.turn else { return };
        let Work::Compacting(it) = std::mem::replace(&mut turn.work, Work::BackingOff) else { return };
        let cut = it.cut.min(self.transcript.rows().len());
        let standing = CompactState {
            mode: self.meta.mode,
            waiting: self.own.plan.as_ref().map(|plan| &plan.review),
            progress: self.own.progress.as_ref(),
            todo: &self.own.todo,
            session_dir: &self.config.session_dir,
        };
        // What is named must be there when the model reads it.
        out.extend(
            carried_over::wholes(&self.transcript.rows()[..cut], standing.session_dir)
                .into_iter()
                .map(|(path, text)| Step::KeepLongText(path, text)),
        );
        // A failure in the middle loses no more than the parts that were not looked at: those before are summed up.
        let written = Some(it.so_far.as_str()).filter(|text| !text.is_empty());
        let keeps: Option<MessageId> = self.transcript.rows().get(cut).map(|row| row.id.clone());
        let carried = carried_over::carry(&self.transcript.rows()[..cut], &standing, written, keeps, &self.room());
        let text = carried_over::label(&carried, self.transcript.rows().len() - cut, why_not);
        let level = if why_not.is_some() { Level::Warning } else { Level::Info };
        let info = Info { text, level, kind: InfoKind::Compacted, carried: Some(Box::new(carried)) };
        let row = self.row(now, Body::Info(info));
        self.transcript.drop_before(cut);
        self.keep(vec![row], Safety::Synced, out);
        self.show_freed(now, out);
        let last = self.transcript.last().cloned();
        if let Some(turn) = &mut self.turn {
            turn.compacted = last;
            turn.standing = None;
        }
        match it.why {
            Why::Full | Why::Overflow => {
                if !self.deliver_steers(now, out) {
                    self.request(now, out);
                }
            }
            // What was said meanwhile is sent next, or once the plan was carried out.
            Why::Wished => {
                self.queue_steers(out);
                self.end_turn(now, TurnEnd::Done, out);
            }
            Why::Plan(approval) => {
                self.queue_steers(out);
                self.turn = None;
                self.plan.set_due(approval);
            }
        }
    }

    fn queue_steers(&mut self, out: &mut Vec<Step>) {
        let steers = self.turn.as_mut().map(|turn| std::mem::take(&mut turn.steers)).unwrap_or_default();
        if !steers.is_empty() {
            self.queue.items.splice(0..0, steers);
            self.queue_changed(out);
        }
    }

    /// The figure of the context is a guess until the next request counts it.
    fn show_freed(&mut self, now: At, out: &mut Vec<Step>) {
        let mut guess = self.standing_tokens(now);
        guess.rest += tokens_of(self.transcript.rows());
        self.meta.usage.context_tokens = self.budget.gauge().corrected(guess);
        self.changed(out);
    }

    /// It was stopped: nothing changed. A plan that was approved waits again.
    pub(super) fn compaction_stopped(&mut self, it: &Compacting, out: &mut Vec<Step>) {
        if matches!(it.why, Why::Plan(_)) {
            self.meta.pending_execution = None;
            out.push(Step::KeepMeta(Safety::Synced));
            self.stays_asked(out);
        }
    }
}

/// A guess at the tokens of what the model gets of these rows.
pub(super) fn tokens_of(rows: &[Message]) -> u64 {
    conversation::items(rows).iter().map(tokens::item).sum()
}
