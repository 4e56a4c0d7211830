//! A turn on its way: request, response, calls, results, next request, until the model stops or something stops it.

use super::{Machine, Turn, Work};
use crate::agent::step::{RunNo, Safety, Step};
use crate::domain::Event;
use crate::domain::contract::TurnEnd;
use crate::domain::ids::{At, ConnectionName, MessageId};
use crate::domain::message::{Body, Failure, FailureAction, InfoKind, Message, UserText};
use crate::domain::notice::Level;
use crate::domain::tool::ToolFigures;
use crate::domain::usage::RequestUsage;
use crate::provider::{Chunk, ProviderError, Stop, retry};

/// So often the same three calls may come where nobody can be asked; then the turn ends.
pub(super) const STRIKES: u32 = 2;

const STOPPED: &str = "interrupted: the user stopped the turn";

impl Machine {
    /// Begins a turn with a user message.
    pub(super) fn begin(&mut self, now: At, said: impl Into<UserText>, out: &mut Vec<Step>) {
        let at = self.stamp(now);
        let id = self.message_id(at);
        self.begin_with(now, Some((id, said.into())), out);
    }

    /// Begins a turn without a message: the failed request again.
    pub(super) fn begin_again(&mut self, now: At, out: &mut Vec<Step>) {
        self.begin_with(now, None, out);
    }

    fn begin_with(&mut self, now: At, message: Option<(MessageId, UserText)>, out: &mut Vec<Step>) {
        let mut rows: Vec<Message> = Vec::new();
        if std::mem::take(&mut self.died_in_turn) {
            rows.push(self.info(now, Level::Info, InfoKind::Interrupted, "The program ended during this turn."));
        }
        rows.extend(self.tell_mode(now));
        if let Some((id, said)) = message {
            self.status_at_begin();
            // Whatever the user says next, it is no longer this that goes on by itself.
            self.meta.pending_execution = None;
            self.ended_plan = false;
            if self.meta.preview.is_empty() {
                self.meta.preview = shorten(&said.told(), 150);
            }
            if self.meta.title.is_empty() {
                self.meta.title = shorten(&said.told(), 50);
            }
            let at = self.stamp(now);
            rows.push(Message::new(id, at, Body::User(said)));
        }
        self.run = RunNo(self.run.0 + 1);
        self.meta.connection_locked = true;
        self.open_turn(now, rows, out);
        self.request(now, out);
    }

    /// A turn runs from here on. What becomes of it is the caller's.
    pub(super) fn open_turn(&mut self, now: At, rows: Vec<Message>, out: &mut Vec<Step>) {
        self.turn = Some(Turn {
            started: now,
            requests: 0,
            attempts: 0,
            last_call: None,
            repeats: 0,
            steers: Vec::new(),
            planned: false,
            typed: false,
            compacted: None,
            recovered: false,
            emptied: false,
            strikes: 0,
            work: Work::BackingOff,
        });
        self.meta.activity = self.activity();
        self.shown_activity = self.meta.activity.clone();
        self.keep(rows, Safety::Synced, out);
        out.push(Step::Turn(true));
        self.changed(out);
        out.push(Step::Emit(Event::TurnStarted { at: now }));
    }

    /// Sends the next waiting message, if there is one and it may go.
    pub(super) fn send_next(&mut self, now: At, out: &mut Vec<Step>) {
        if let Some(next) = self.queue.take() {
            // The row has the id that it had in the queue, and is on disk before the queue forgets it: a death in between
            // leaves it in both, and the queue's is known as the same.
            let mut turn = Vec::new();
            self.label(&next.text);
            let said = UserText::with(next.text, next.attachments);
            self.begin_with(now, Some((next.id, said)), &mut turn);
            let kept = turn.iter().position(|step| matches!(step, Step::Keep(..))).map_or(0, |at| at + 1);
            let rest = turn.split_off(kept);
            out.append(&mut turn);
            self.queue_changed(out);
            out.extend(rest);
        }
    }

    /// Sends the conversation to the model.
    pub(super) fn request(&mut self, now: At, out: &mut Vec<Step>) {
        let limit = self.rules.requests_per_turn;
        let Some(turn) = &self.turn else { return };
        if turn.requests >= limit {
            let text = format!(
                "This turn made {limit} requests, which is its limit (limits.requestsPerTurn). Send a message to go on."
            );
            let row = self.info(now, Level::Warning, InfoKind::Remark, text);
            self.keep(vec![row], Safety::Synced, out);
            self.end_turn(now, TurnEnd::Limit, out);
            return;
        }
        let ended = self.tell_jobs(now);
        self.keep(ended, Safety::Written, out);
        let request = self.next_request(now);
        if self.compact_if_full(&request, out) {
            return;
        }
        let Some(turn) = &mut self.turn else { return };
        turn.requests += 1;
        turn.work = Work::Responding(Box::default());
        out.push(Step::Ask(self.run, Box::new(request)));
    }

    pub(super) fn chunk(&mut self, now: At, chunk: Chunk, out: &mut Vec<Step>) {
        let at = self.stamp(now);
        let id = self.message_id(at);
        let Some(Turn { work: Work::Responding(response), .. }) = &mut self.turn else { return };
        match chunk {
            Chunk::Started(turn) => response.turn = turn,
            Chunk::Text(add) => response.add_text(add, id, at, out),
            Chunk::Thinking(add) => response.add_thinking(add, id, at, out),
            Chunk::Native(native) => response.add_native(native),
            Chunk::Call(call) => response.calls.push(call),
            Chunk::Stopped(stop) => self.responded(now, stop, out),
            Chunk::Waiting(name) => out.push(Step::Emit(Event::Waiting(name.map(ConnectionName::new)))),
            Chunk::CallBegun(_) | Chunk::Usage(_) => {}
        }
    }

    pub(super) fn used(&mut self, used: RequestUsage, window: Option<u64>, cost: f64, out: &mut Vec<Step>) {
        self.gauge.counts(used.input);
        // A response may be counted more than once, each time up to then.
        if let Some(Turn { work: Work::Responding(response), .. }) = &mut self.turn
            && let Some((before, its_cost)) = response.used.replace((used, cost))
        {
            self.meta.usage.take_back(before, its_cost);
        }
        self.meta.usage.add(used, cost, window);
        self.changed(out);
    }

    /// Takes the response that streams in; what comes when none does is ignored.
    fn take_response(&mut self) -> Option<super::Response> {
        let turn = self.turn.as_mut()?;
        if !matches!(turn.work, Work::Responding(_)) {
            return None;
        }
        match std::mem::replace(&mut turn.work, Work::BackingOff) {
            Work::Responding(response) => Some(*response),
            Work::Calling(_) | Work::Compacting(_) | Work::BackingOff => None,
        }
    }

    /// The response is complete.
    fn responded(&mut self, now: At, stop: Stop, out: &mut Vec<Step>) {
        let at = self.stamp(now);
        let id = self.message_id(at);
        let Some(mut response) = self.take_response() else { return };
        if let Some(turn) = &mut self.turn {
            turn.attempts = 0;
        }
        let empty = response.is_empty();
        let mut rows: Vec<Message> = response.end_thinking(now).into_iter().collect();
        rows.extend(response.end_text(false, id, now));
        let ends = response.calls.is_empty();
        self.keep(rows, if ends { Safety::Synced } else { Safety::Written }, out);
        match &stop {
            Stop::Length => {
                let text =
                    "The answer reached the model's output limit and was cut off. Send \"go on\" and it continues.";
                let row = self.info(now, Level::Warning, InfoKind::Remark, text);
                self.keep(vec![row], Safety::Written, out);
            }
            Stop::Filtered => {
                self.fail(now, plain_failure("provider_error", "Withheld", "The provider withheld the answer."), out);
                return;
            }
            Stop::Done | Stop::Calls | Stop::Paused | Stop::Other(_) => {}
        }
        if !ends {
            self.propose(now, response.turn, response.calls, out);
        } else if empty && stop != Stop::Paused && self.ask_once_more() {
            // Servers send nothing now and then. Nothing of it was shown, so the same is sent again.
            let reason = "Empty answer: the model said nothing".to_owned();
            out.push(Step::Emit(Event::Retrying { attempt: 1, of: 1, wait_ms: 0, reason }));
            self.request(now, out);
        } else if empty {
            let text = "The model sent an empty answer. Try again, or choose another model with /model.";
            self.fail(now, plain_failure("provider_error", "Empty answer", text), out);
        } else if self.deliver_steers(now, out) {
            // The model is asked again, with what the user said.
        } else if stop == Stop::Paused {
            self.request(now, out);
        } else {
            self.end_turn(now, TurnEnd::Done, out);
        }
    }

    /// An empty answer is asked for again, once in a turn.
    fn ask_once_more(&mut self) -> bool {
        self.turn.as_mut().is_some_and(|turn| !std::mem::replace(&mut turn.emptied, true))
    }

    /// Messages sent to steer go in now; then the model is asked again.
    pub(super) fn deliver_steers(&mut self, now: At, out: &mut Vec<Step>) -> bool {
        let Some(turn) = &mut self.turn else { return false };
        let steers = std::mem::take(&mut turn.steers);
        if steers.is_empty() {
            return false;
        }
        let mut rows = Vec::new();
        for steer in steers {
            let at = self.stamp(now);
            let body = Body::User(UserText { text: steer.text, attachments: steer.attachments, steer: true });
            rows.push(Message::new(steer.id, at, body));
        }
        self.keep(rows, Safety::Synced, out);
        self.queue_changed(out);
        self.request(now, out);
        true
    }

    // ---- ends ----

    /// The request failed: try again, or say so.
    pub(super) fn failed(&mut self, now: At, error: ProviderError, out: &mut Vec<Step>) {
        let seed = self.rng.u64(..);
        let run = self.run;
        let Some(mut response) = self.take_response() else { return };
        if error.code == "context_overflow" && self.compact_for_overflow(out) {
            response.discard(out);
            return;
        }
        let Some(turn) = &mut self.turn else { return };
        turn.attempts += 1;
        let wait = if error.retry { retry::delay(turn.attempts, error.after, seed) } else { None };
        if let Some(wait) = wait {
            let attempt = turn.attempts;
            turn.requests = turn.requests.saturating_sub(1);
            response.discard(out);
            let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            let reason = format!("{}: {}", error.title, error.text);
            out.push(Step::Emit(Event::Retrying { attempt, of: retry::MOST, wait_ms, reason }));
            out.push(Step::RetryIn(run, wait_ms));
            return;
        }
        let at = self.stamp(now);
        let id = self.message_id(at);
        let mut rows: Vec<Message> = response.end_thinking(now).into_iter().collect();
        rows.extend(response.end_text(true, id, now));
        self.keep(rows, Safety::Written, out);
        let failure = match error.code {
            "context_overflow" => self.overflow(error),
            _ => failure_row(error),
        };
        self.fail(now, failure, out);
    }

    /// The turn pauses before its request until there is a key; nothing where no request was on its way.
    pub(super) fn pause_for_key(&mut self) -> Option<()> {
        self.take_response()?;
        let turn = self.turn.as_mut()?;
        turn.requests = turn.requests.saturating_sub(1);
        Some(())
    }

    /// The turn ends with a request that could not be made.
    pub(super) fn end_failed(&mut self, now: At, error: ProviderError, out: &mut Vec<Step>) {
        self.fail(now, failure_row(error), out);
    }

    fn fail(&mut self, now: At, failure: Failure, out: &mut Vec<Step>) {
        let row = self.row(now, Body::Error(failure));
        self.keep(vec![row], Safety::Synced, out);
        self.end_turn(now, TurnEnd::Failed, out);
    }

    /// Stops the turn: what was dropped gets its result here, whatever still reports is ignored.
    pub(super) fn stop(&mut self, now: At, why: &str, out: &mut Vec<Step>) {
        let at = self.stamp(now);
        let id = self.message_id(at);
        if self.turn.is_some() {
            self.settle_key(out);
        }
        let Some(turn) = &mut self.turn else { return };
        let stopped = self.run;
        self.run = RunNo(self.run.0 + 1);
        self.ending = Some(stopped);
        out.push(Step::Cancel(stopped));
        let mut alone = false;
        match std::mem::replace(&mut turn.work, Work::BackingOff) {
            Work::Compacting(it) => {
                alone = it.is_alone();
                self.compaction_stopped(&it, out);
            }
            Work::Responding(mut response) => {
                let mut rows: Vec<Message> = response.end_thinking(now).into_iter().collect();
                rows.extend(response.end_text(true, id, now));
                self.keep(rows, Safety::Written, out);
            }
            Work::Calling(mut batch) => {
                for one in batch.all_open() {
                    if let Some(request) = one.request() {
                        out.push(Step::Emit(Event::Settled { request: request.id.clone() }));
                    }
                    let so_far = one.tool().and_then(|tool| tool.result.take()).unwrap_or_default();
                    let figures = one.tool().map(|tool| std::mem::take(&mut tool.figures)).unwrap_or_default();
                    // A change that was only proposed is not a change.
                    let figures = ToolFigures { diff: None, diffs: Vec::new(), ..figures };
                    one.finish(now, true, stopped_text(&so_far), figures);
                }
                let rows = batch.take_final();
                self.keep(rows, Safety::Written, out);
            }
            Work::BackingOff => {}
        }
        // No answer of the model was interrupted where only a summary was.
        let row = match alone {
            true => self.info(now, Level::Info, InfoKind::Remark, "The compaction was stopped; nothing changed."),
            false => self.info(now, Level::Info, InfoKind::Interrupted, why),
        };
        self.keep(vec![row], Safety::Synced, out);
        self.end_turn(now, TurnEnd::Stopped, out);
    }
}

pub(super) fn stopped_text(so_far: &str) -> String {
    if so_far.trim().is_empty() { STOPPED.to_owned() } else { format!("{STOPPED}. Its output until then:\n{so_far}") }
}

fn plain_failure(code: &str, title: &str, text: &str) -> Failure {
    Failure {
        code: code.to_owned(),
        title: title.to_owned(),
        text: text.to_owned(),
        detail: String::new(),
        actions: vec![FailureAction::Retry, FailureAction::Model],
    }
}

fn failure_row(error: ProviderError) -> Failure {
    let actions = match error.code {
        "invalid_api_key" | "invalid_credentials" | "billing_error" => {
            vec![FailureAction::Retry, FailureAction::Model, FailureAction::Settings]
        }
        "invalid_model" => vec![FailureAction::Model],
        // It is asked without tools then.
        "model_no_tool_support" => vec![FailureAction::Model, FailureAction::Retry],
        _ => vec![FailureAction::Retry, FailureAction::Model],
    };
    Failure { code: error.code.to_owned(), title: error.title, text: error.text, detail: error.detail, actions }
}

/// The first `limit` characters of the first words, on one line, with an ellipsis where it was cut.
pub(super) fn shorten(text: &str, limit: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= limit {
        return line;
    }
    let mut cut: String = line.chars().take(limit).collect();
    cut.push('…');
    cut
}
