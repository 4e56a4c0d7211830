//! A turn on its way: request, response, calls, results, next request, until the model stops or something stops it.

use super::extension_state::UsedExtensions;
use super::extensions::Called;
use super::repeats::Repeats;
use super::response::Response;
use super::state::{Machine, notice};
use super::turn_state::{Turn, Work};
use crate::agent::machine_io::{Safety, Step};
use crate::agent::model_context::conversation;
use crate::domain::count::count;
use crate::domain::ids::{At, ConnectionName, MessageId};
use crate::domain::message::{Body, CutBy, Failure, FailureAction, InfoKind, Message, UserText};
use crate::domain::notice::Level;
use crate::domain::title;
use crate::domain::usage::RequestUsage;
use crate::protocol::{Queued, SessionEvent, TurnEnd};
use crate::provider::named::NO_MODEL;
use crate::provider::{Chunk, ProviderError, Stop, retry};

impl Machine {
    /// Begins a turn with a message that comes by itself, or with what the user said to a plan: it calls nothing by name.
    pub(super) fn begin(&mut self, now: At, said: impl Into<UserText>, out: &mut Vec<Step>) {
        let at = self.stamp(now);
        let id = self.message_id(at);
        self.begin_with(now, Some((id, said.into())), Called::default(), out);
    }

    /// Begins a turn without a message: the failed request again.
    pub(super) fn begin_again(&mut self, now: At, out: &mut Vec<Step>) {
        if conversation::items(self.transcript.rows()).is_empty() {
            return out.push(notice(Level::Info, "Nothing to retry: the conversation is empty.", "Send a message."));
        }
        // A request that ends with the model's last word has no question in it.
        if self.is_answered() {
            if self.meta.unfinished.take().is_some() {
                self.changed(out);
            }
            return out.push(notice(
                Level::Info,
                "Nothing to retry: the last message was answered.",
                "Send a message.",
            ));
        }
        // The agent that the message named answers this time, too.
        let called = self.called_again();
        self.begin_with(now, None, called, out);
    }

    fn is_answered(&self) -> bool {
        let aside = |row: &&Message| !matches!(row.body, Body::Info(_) | Body::Plan(_) | Body::Thinking(_));
        let last = self.transcript.rows().iter().rev().find(aside);
        last.is_some_and(|row| matches!(&row.body, Body::Assistant(said) if !said.partial && !said.intermediate))
    }

    /// Begins a turn. `called`: what the message calls by name.
    pub(super) fn begin_with(
        &mut self,
        now: At,
        message: Option<(MessageId, UserText)>,
        mut called: Called,
        out: &mut Vec<Step>,
    ) {
        if self.wants_connection(out) {
            return self.hold_first(now, message, out);
        }
        let mut rows: Vec<Message> = Vec::new();
        rows.extend(self.tell_death(now));
        rows.extend(self.tell_mode(now));
        if let Some((id, said)) = message {
            let said = called.put_text(said);
            self.status_at_begin();
            // Whatever the user says next, it is no longer this that goes on by itself.
            self.meta.pending_execution = None;
            self.plan.set_ended(false);
            if self.meta.preview.is_empty() {
                self.meta.preview = shorten(&said.told(), 150);
            }
            self.title_by_beginning();
            let at = self.stamp(now);
            rows.push(Message::new(id, at, Body::User(said)));
        }
        self.runs.next();
        self.meta.connection_locked = true;
        if self.meta.connection.is_none() {
            self.meta.connection = self.meta.stand_in.take();
        }
        self.open_turn(now, rows, false, out);
        self.begin_called(now, called, out);
    }

    /// A session without a title gets the start of its first message, which may be of long ago: it came from elsewhere.
    pub(super) fn title_by_beginning(&mut self) {
        if self.meta.title.is_empty() {
            self.meta.title = title::beginning(&self.meta.preview);
        }
    }

    /// A turn runs from here on. What becomes of it is the caller's. `typed`: no model is asked for an answer.
    pub(super) fn open_turn(&mut self, now: At, rows: Vec<Message>, typed: bool, out: &mut Vec<Step>) {
        self.turn = Some(Turn {
            started: now,
            requests: 0,
            failed: Vec::new(),
            repeats: Repeats::default(),
            steers: Vec::new(),
            planned: false,
            typed,
            compacted: None,
            recovered: false,
            emptied: false,
            standing: None,
            sent: None,
            broken: None,
            used: UsedExtensions::default(),
            work: Work::BackingOff,
        });
        self.show_activity();
        self.keep(rows, Safety::Synced, out);
        out.push(Step::Turn(true));
        self.changed(out);
        out.push(Step::Emit(SessionEvent::TurnStarted { at: now }));
    }

    /// Sends the next waiting message, if there is one and it may go.
    pub(super) fn send_next(&mut self, now: At, out: &mut Vec<Step>) {
        if let Some(next) = self.queue.take() {
            // The row has the id that it had in the queue, and is on disk before the queue forgets it: a death in between
            // leaves it in both, and the queue's is known as the same.
            let mut turn = Vec::new();
            self.label(&next.text);
            let Queued { id, text, attachments, piped, client, .. } = next;
            let said = UserText { piped, client, ..UserText::with(text, attachments) };
            let called = self.called(&said);
            self.begin_with(now, Some((id, said)), called, &mut turn);
            let kept = turn.iter().position(|step| matches!(step, Step::Append(..))).map_or(0, |at| at + 1);
            let rest = turn.split_off(kept);
            out.append(&mut turn);
            self.queue_changed(out);
            out.extend(rest);
        }
    }

    /// Sends the conversation to the model.
    pub(super) fn request(&mut self, now: At, out: &mut Vec<Step>) {
        let limit = self.config.requests_per_turn;
        let Some(turn) = &self.turn else { return };
        if turn.requests >= limit {
            let text = format!(
                "Turn stopped at its limit of {}. Send a message to continue; \
                 limits.requests_per_turn or --max-turns sets the limit.",
                count(usize::try_from(limit).unwrap_or(usize::MAX), "request", "requests")
            );
            self.settle_broken(now, CutBy::Error, out);
            let row = self.info(now, Level::Warning, InfoKind::Remark, text);
            self.keep(vec![row], Safety::Synced, out);
            self.end_turn(now, TurnEnd::Limit, out);
            return;
        }
        self.answering.set_wants_model(false);
        // What is sent again is the same. Else what happened meanwhile is told with the results: the prompt stays as it is for the turn.
        if turn.sent.is_none() || turn.sent.as_ref() != self.transcript.last() {
            let mut told = self.tell_jobs(now);
            told.extend(self.tell_mode(now));
            self.keep(told, Safety::Written, out);
        }
        let request = self.next_request(now);
        if self.compact_if_full(&request, out) {
            return;
        }
        let id = self.response_id(now);
        let last = self.transcript.last().cloned();
        let Some(turn) = &mut self.turn else { return };
        turn.requests += 1;
        turn.sent = last;
        let mut response = turn.broken.take().unwrap_or_default();
        response.turn = Some(id);
        response.model =
            Some(request.model.clone()).filter(|model| !model.is_empty()).or(self.answering.usual_model().cloned());
        turn.work = Work::Responding(response);
        out.push(Step::Ask(self.runs.current(), Box::new(request)));
    }

    pub(super) fn chunk(&mut self, now: At, chunk: Chunk, out: &mut Vec<Step>) {
        let at = self.stamp(now);
        let id = self.message_id(at);
        let Some(Turn { work: Work::Responding(response), .. }) = &mut self.turn else { return };
        match chunk {
            // Some servers give every response the same id.
            Chunk::Started(theirs) => {
                let known =
                    |theirs: &String| self.transcript.rows().iter().any(|row| row.turn.as_ref() == Some(theirs));
                response.turn = theirs.filter(|theirs| !known(theirs)).or(response.turn.take());
            }
            Chunk::Text(add) => response.add_text(add, id, at, out),
            Chunk::Thinking(add) => response.add_thinking(add, id, at, out),
            Chunk::Native(native) => response.add_native(native),
            Chunk::Call(call) => response.calls.push(call),
            Chunk::Stopped(stop) => self.responded(now, stop, out),
            Chunk::Waiting(name) => out.push(Step::Emit(SessionEvent::Waiting(name.map(ConnectionName::new)))),
            Chunk::CallBegun(_) | Chunk::Usage(_) => {}
        }
    }

    pub(super) fn used(&mut self, used: RequestUsage, window: Option<u64>, cost: f64, out: &mut Vec<Step>) {
        self.budget.gauge_mut().counts(used.input);
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
    fn take_response(&mut self) -> Option<Response> {
        let turn = self.turn.as_mut()?;
        if !matches!(turn.work, Work::Responding(_)) {
            return None;
        }
        match std::mem::replace(&mut turn.work, Work::BackingOff) {
            Work::Responding(response) => Some(*response),
            Work::Calling(_) | Work::Compacting(_) | Work::Stopping(_) | Work::BackingOff => None,
        }
    }

    /// The response is complete.
    fn responded(&mut self, now: At, stop: Stop, out: &mut Vec<Step>) {
        let at = self.stamp(now);
        let id = self.message_id(at);
        let Some(response) = self.take_response() else { return };
        if let Some(turn) = &mut self.turn {
            turn.failed.clear();
        }
        let silent = if stop == Stop::Paused { response.is_empty() } else { response.says_nothing() };
        if silent && !matches!(stop, Stop::Paused | Stop::Length | Stop::Filtered) && self.ask_once_more() {
            // Servers send nothing now and then. The same is sent again.
            self.keep_broken(response, out);
            let reason = "Empty response from the model".to_owned();
            out.push(Step::Emit(SessionEvent::Retrying { attempt: 1, of: 1, wait_ms: 0, reason }));
            self.request(now, out);
            return;
        }
        let (calls, turn) = (response.calls.clone(), response.turn.clone());
        let rows = if silent { response.end_cut(CutBy::Error, now) } else { response.end(id, now) };
        let ends = calls.is_empty();
        self.keep(rows, if ends { Safety::Synced } else { Safety::Written }, out);
        match &stop {
            Stop::Length if silent => {
                let text = "Output limit reached while thinking, before any text. Lower the thinking level, or \
                 switch models with /model.";
                self.fail(now, plain_failure("provider_error", "Empty response", text), out);
                return;
            }
            Stop::Length => {
                let text = "Truncated at the model's output limit. Send \"go on\" to continue.";
                let row = self.info(now, Level::Warning, InfoKind::Remark, text);
                self.keep(vec![row], Safety::Written, out);
            }
            Stop::Filtered => {
                self.fail(now, plain_failure("provider_error", "Withheld", "The provider withheld the response."), out);
                return;
            }
            Stop::Done | Stop::Calls | Stop::Paused | Stop::Other(_) => {}
        }
        if !ends {
            self.propose(now, turn, calls, out);
        } else if silent {
            let text = "The model returned an empty response twice. Try again, or switch models with /model.";
            self.fail(now, plain_failure("provider_error", "Empty response", text), out);
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
            let body = Body::User(UserText {
                text: steer.text,
                attachments: steer.attachments,
                steer: true,
                piped: steer.piped,
                client: steer.client,
            });
            rows.push(Message::new(steer.id, at, body));
        }
        self.keep(rows, Safety::Synced, out);
        self.queue_changed(out);
        self.request(now, out);
        true
    }

    // ---- ends ----

    pub(super) fn end_turn(&mut self, now: At, end: TurnEnd, out: &mut Vec<Step>) {
        self.answering.set_wants_model(false);
        let ended = self.tell_jobs(now);
        self.keep(ended, Safety::Synced, out);
        // What was to steer and was not delivered waits in the queue.
        let typed = self.turn.as_ref().is_some_and(|turn| turn.typed);
        let steers = self.turn.take().map(|turn| turn.steers).unwrap_or_default();
        let steered = !steers.is_empty();
        self.queue.items.splice(0..0, steers);
        self.meta.plan_pending = self.own.plan.is_some();
        if end != TurnEnd::Done || steered {
            self.queue.hold();
        }
        if !typed {
            self.status_at_end(end);
            self.end_unfinished(end);
        }
        // A face that shows the end says so at once; headless the answer was printed.
        if matches!(end, TurnEnd::Done | TurnEnd::Plan) && !typed && !self.config.headless && self.meta.parent.is_none()
        {
            self.meta.unread = true;
        }
        self.show_activity();
        // The properties first: a death in between must not lose what the turn cost.
        self.changed(out);
        out.push(Step::Turn(false));
        out.push(Step::Emit(SessionEvent::TurnEnded { end }));
        if self.queue.held {
            self.queue_changed(out);
        } else if self.runs.go_on() {
            self.send_next(now, out);
        }
    }

    /// The request failed: try again, or say so.
    pub(super) fn failed(&mut self, now: At, error: ProviderError, out: &mut Vec<Step>) {
        let seed = self.transcript.seed();
        let run = self.runs.current();
        let Some(response) = self.take_response() else { return };
        if error.code == "context_overflow" && self.compact_for_overflow(out) {
            self.keep_broken(response, out);
            return;
        }
        let Some(turn) = &mut self.turn else { return };
        let reason = format!("{}: {}", error.title, error.text);
        turn.failed.push(reason.clone());
        let attempt = u32::try_from(turn.failed.len()).unwrap_or(u32::MAX);
        let wait = if error.retry { retry::delay(attempt, error.after, seed) } else { None };
        if let Some(wait) = wait {
            turn.requests = turn.requests.saturating_sub(1);
            self.keep_broken(response, out);
            let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            out.push(Step::Emit(SessionEvent::Retrying { attempt, of: retry::MOST, wait_ms, reason }));
            out.push(Step::RetryIn(run, wait_ms));
            return;
        }
        self.keep(response.end_cut(CutBy::Error, now), Safety::Written, out);
        let failure = match error.code {
            "context_overflow" => self.overflow(error),
            _ => self.failure(error),
        };
        self.fail(now, failure, out);
    }

    /// Keeps the shown part of a response that broke off, for the next attempt.
    fn keep_broken(&mut self, response: Response, out: &mut Vec<Step>) {
        if let Some(turn) = &mut self.turn {
            turn.broken = Some(Box::new(response.begin_again(out)));
        }
    }

    /// No attempt follows: what the ones before showed becomes final.
    pub(super) fn settle_broken(&mut self, now: At, by: CutBy, out: &mut Vec<Step>) {
        if let Some(broken) = self.turn.as_mut().and_then(|turn| turn.broken.take()) {
            self.keep(broken.end_cut(by, now), Safety::Written, out);
        }
    }

    /// An id for the next response: what belongs together is told by it, also where the server gives none.
    pub(super) fn response_id(&mut self, now: At) -> String {
        let at = self.stamp(now);
        format!("resp-{}-{}", at.0, self.letters())
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
        let failure = self.failure(error);
        self.fail(now, failure, out);
    }

    fn fail(&mut self, now: At, failure: Failure, out: &mut Vec<Step>) {
        self.settle_broken(now, CutBy::Error, out);
        self.fails_with(&failure);
        let row = self.row(now, Body::Error(failure));
        self.keep(vec![row], Safety::Synced, out);
        self.end_turn(now, TurnEnd::Failed, out);
    }
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

pub(super) fn failure_row(error: ProviderError) -> Failure {
    let code = if error.code == NO_MODEL { "invalid_model" } else { error.code };
    let actions = match error.code {
        "invalid_api_key" | "invalid_credentials" | "billing_error" => {
            vec![FailureAction::Retry, FailureAction::Model, FailureAction::Settings]
        }
        "invalid_model" | NO_MODEL => vec![FailureAction::Model],
        // It is asked without tools then.
        "model_no_tool_support" => vec![FailureAction::Model, FailureAction::Retry],
        _ => vec![FailureAction::Retry, FailureAction::Model],
    };
    let detail = error.further_detail().to_owned();
    Failure { code: code.to_owned(), title: error.title, text: error.text, detail, actions }
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
