//! A turn on its way: request, response, calls, results, next request, until the model stops or something stops it.

use super::batch::{Asking, Batch, Stage, Underway};
use super::{Machine, Turn, Work, notice};
use crate::agent::context;
use crate::agent::step::{RunNo, Safety, Step};
use crate::domain::Event;
use crate::domain::contract::TurnEnd;
use crate::domain::ids::{At, CallId, MessageId};
use crate::domain::message::{Body, Failure, FailureAction, InfoKind, Message, UserText};
use crate::domain::notice::Level;
use crate::domain::permission::{Authority, Decision, Mode};
use crate::domain::request::{Approval, Ask, Question, Request};
use crate::domain::sanitise::reveal;
use crate::domain::tool::{CallFacts, Outcome, Proposal, Then, ToolCall, ToolFigures, ToolStatus};
use crate::domain::usage::RequestUsage;
use crate::permit::{self, Allowed, Refusal, Verdict};
use crate::provider::{Call, Chunk, ModelRequest, ProviderError, Stop, retry};
use crate::tools::RunError;

/// A mode counts as Execute only after it has stood for so long, so that cycling through it lets nothing run.
const EXECUTE_SETTLES_MS: u64 = 1000;

/// So many equal calls in a row ask, whatever the mode.
const REPEATS_THAT_ASK: u32 = 3;

/// So often the same three calls may come where nobody can be asked; then the turn ends.
const STRIKES: u32 = 2;

const STOPPED: &str = "interrupted: the user stopped the turn";
const STEERED: &str = "skipped: the user sent a new message";

impl Machine {
    /// Begins a turn with a user message.
    pub(super) fn begin(&mut self, now: At, text: String, out: &mut Vec<Step>) {
        let at = self.stamp(now);
        let id = self.message_id(at);
        self.begin_with(now, Some((id, text)), out);
    }

    /// Begins a turn without a message: the failed request again.
    pub(super) fn begin_again(&mut self, now: At, out: &mut Vec<Step>) {
        self.begin_with(now, None, out);
    }

    fn begin_with(&mut self, now: At, message: Option<(MessageId, String)>, out: &mut Vec<Step>) {
        let mut rows: Vec<Message> = Vec::new();
        if std::mem::take(&mut self.died_in_turn) {
            rows.push(self.info(now, Level::Info, InfoKind::Interrupted, "The program ended during this turn."));
        }
        rows.extend(self.tell_mode(now));
        if let Some((id, text)) = message {
            self.status_at_begin();
            // Whatever the user says next, it is no longer this that goes on by itself.
            self.meta.pending_execution = None;
            self.ended_plan = false;
            if self.meta.preview.is_empty() {
                self.meta.preview = shorten(&text, 150);
            }
            if self.meta.title.is_empty() {
                self.meta.title = shorten(&text, 50);
            }
            let at = self.stamp(now);
            rows.push(Message::new(id, at, Body::User(UserText { text, ..UserText::default() })));
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
            self.begin_with(now, Some((next.id, next.text)), &mut turn);
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
        let Some(turn) = &mut self.turn else { return };
        if turn.requests >= limit {
            let text = format!(
                "This turn made {limit} requests, which is its limit (limits.requestsPerTurn). Send a message to go on."
            );
            let row = self.info(now, Level::Warning, InfoKind::Remark, text);
            self.keep(vec![row], Safety::Synced, out);
            self.end_turn(now, TurnEnd::Limit, out);
            return;
        }
        turn.requests += 1;
        turn.work = Work::Responding(Box::default());
        let request = ModelRequest {
            model: self.meta.model.clone().unwrap_or_default(),
            system: self.system_prompt(now),
            items: context::items(&self.rows),
            tools: self.rules.tools.iter().map(|(spec, _)| spec.clone()).collect(),
            thinking: self.meta.thinking,
        };
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
            Chunk::CallBegun(_) | Chunk::Usage(_) => {}
        }
    }

    pub(super) fn used(&mut self, used: RequestUsage, window: Option<u64>, cost: f64, out: &mut Vec<Step>) {
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
            Work::Calling(_) | Work::BackingOff => None,
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
                let text = "The answer reached the model's output limit and was cut off.";
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

    /// Messages sent to steer go in now; then the model is asked again.
    fn deliver_steers(&mut self, now: At, out: &mut Vec<Step>) -> bool {
        let Some(turn) = &mut self.turn else { return false };
        let steers = std::mem::take(&mut turn.steers);
        if steers.is_empty() {
            return false;
        }
        let mut rows = Vec::new();
        for steer in steers {
            let at = self.stamp(now);
            let body = Body::User(UserText { text: steer.text, steer: true, ..UserText::default() });
            rows.push(Message::new(steer.id, at, body));
        }
        self.keep(rows, Safety::Synced, out);
        self.queue_changed(out);
        self.request(now, out);
        true
    }

    // ---- calls ----

    pub(super) fn propose(&mut self, now: At, turn_id: Option<String>, calls: Vec<Call>, out: &mut Vec<Step>) {
        let mut batch = Batch::default();
        for call in calls {
            let spec = self.rules.tools.iter().find(|(spec, _)| spec.name == call.name);
            let reads_only = spec.is_some_and(|(_, reads_only)| *reads_only);
            let tool = ToolCall {
                id: call.id.clone(),
                name: call.name.clone(),
                input: call.input.clone(),
                subject: subject(&call),
                status: ToolStatus::Pending,
                result: None,
                millis: None,
                figures: ToolFigures::default(),
                decision: None,
            };
            let mut row = self.row(now, Body::Tool(Box::new(tool)));
            row.turn.clone_from(&turn_id);
            // A call must be on disk before its tool runs, power loss included when it may change something.
            out.push(Step::Live(row.clone(), if reads_only { Safety::Written } else { Safety::Synced }));
            out.push(Step::Emit(Event::Row(Box::new(row.clone()))));
            batch.push(call, row, reads_only);
        }
        if let Some(turn) = &mut self.turn {
            turn.work = Work::Calling(batch);
        }
        self.advance(now, out);
    }

    /// Keeps what became final, starts what may start, and goes on when all calls have results.
    fn advance(&mut self, now: At, out: &mut Vec<Step>) {
        let run = self.run;
        let Some(Turn { work: Work::Calling(batch), .. }) = &mut self.turn else { return };
        let rows = batch.take_final();
        let starts = batch.startable();
        let done = batch.done();
        self.keep(rows, Safety::Synced, out);
        out.extend(starts.into_iter().map(|call| Step::Inspect(run, call)));
        if !done {
            return;
        }
        if self.turn.as_ref().is_some_and(|turn| turn.typed) {
            self.end_turn(now, TurnEnd::Done, out);
        } else if self.turn.as_ref().is_some_and(|turn| turn.planned) {
            self.end_turn(now, TurnEnd::Plan, out);
        } else if self.deliver_steers(now, out) {
            // The user said something else: that is another matter.
        } else if self.turn.as_ref().is_some_and(|turn| turn.strikes >= STRIKES) {
            let text =
                "The agent made the same call again and again, so the turn was ended. Say what it should do instead.";
            let row = self.info(now, Level::Warning, InfoKind::Remark, text);
            self.keep(vec![row], Safety::Synced, out);
            self.end_turn(now, TurnEnd::Limit, out);
        } else {
            self.request(now, out);
        }
    }

    pub(super) fn inspected(&mut self, now: At, id: &CallId, found: Result<CallFacts, String>, out: &mut Vec<Step>) {
        let Some(Turn { work: Work::Calling(batch), .. }) = &mut self.turn else { return };
        let Some(one) = batch.open(id).filter(|one| one.stage == Stage::Inspecting) else { return };
        let call = one.call.clone();
        match found {
            Ok(facts) => {
                let repeated = self.count_repeats(&call);
                self.judge(now, &call, facts, repeated, out);
            }
            Err(text) => {
                if self.count_repeats(&call) {
                    self.strike();
                }
                self.finish(now, id, Outcome::error(text), out);
            }
        }
    }

    /// The same call three times in a row, and nobody can be asked about it.
    fn strike(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.strikes += 1;
        }
    }

    /// Decides on a call.
    fn judge(&mut self, now: At, call: &Call, facts: CallFacts, repeated: bool, out: &mut Vec<Step>) {
        if self.turn.as_ref().is_some_and(|turn| turn.typed) {
            self.run_call(now, call, facts, Authority::Typed, out);
            return;
        }
        let mode = self.mode_for(call);
        let verdict = self.verdict(mode, &facts);
        self.count_hits(&verdict);
        if repeated && (mode == Mode::Explore || self.rules.headless || matches!(verdict, Verdict::Deny(_))) {
            self.strike();
        }
        let verdict = match verdict {
            Verdict::Allow(_) | Verdict::Ask(_) if repeated && (mode == Mode::Explore || self.rules.headless) => {
                let reason = "The same call with the same input came three times in a row. Do something else.";
                Verdict::Deny(Refusal { reason: reason.to_owned(), rule: None })
            }
            Verdict::Allow(_) if repeated => Verdict::Ask(permit::Question {
                reasons: vec!["The same call with the same input comes for the third time in a row.".to_owned()],
                ..permit::Question::default()
            }),
            other => other,
        };
        match verdict {
            Verdict::Allow(allowed) => {
                let authority = match allowed {
                    Allowed::ByMode => Authority::Mode,
                    Allowed::BySetting(setting) => Authority::Rule(setting.to_owned()),
                    Allowed::ByRules(ruled) if ruled.by_answer => Authority::Grant(ruled.words),
                    Allowed::ByRules(ruled) => Authority::Rule(ruled.words),
                };
                self.run_call(now, call, facts, authority, out);
            }
            Verdict::Deny(Refusal { reason, rule }) => {
                // Explore asks nobody, so nobody was missing.
                let asks = self.rules.headless && mode != Mode::Explore;
                let authority = match rule {
                    Some(ruled) => Authority::Rule(ruled.words),
                    None if asks => Authority::Nobody,
                    None => Authority::Mode,
                };
                self.refuse(now, &call.id, Decision::refused(mode, authority, reason), out);
            }
            Verdict::Ask(question) if self.answered_by_editing(&call.id, &facts, &question) => {
                self.run_call(now, call, facts, Authority::Person, out);
            }
            Verdict::Ask(question) => self.ask(now, call, facts, question, out),
        }
    }

    /// Whether writing the command was the answer to what would be asked about it. What is asked every time is asked all
    /// the same, and so is a command with characters that could not be seen while it was edited.
    fn answered_by_editing(&mut self, id: &CallId, facts: &CallFacts, question: &permit::Question) -> bool {
        let Some(edited) = self.open_call(id).and_then(|one| one.edited.as_mut()) else { return false };
        if !std::mem::take(&mut edited.fresh) {
            return false;
        }
        let plain = matches!(&facts.proposal, Proposal::Command { command, .. } if reveal(command) == *command);
        plain && !question.every_time
    }

    /// Whether this is the third equal call in a row.
    fn count_repeats(&mut self, call: &Call) -> bool {
        let Some(turn) = &mut self.turn else { return false };
        let this = (call.name.clone(), call.input.clone());
        if turn.last_call.as_ref() == Some(&this) {
            turn.repeats += 1;
        } else {
            turn.last_call = Some(this);
            turn.repeats = 1;
        }
        if turn.repeats >= REPEATS_THAT_ASK {
            turn.repeats = 0;
            turn.last_call = None;
            return true;
        }
        false
    }

    /// The mode that counts for a call: Execute only for calls proposed after it has stood for a second.
    fn mode_for(&mut self, call: &Call) -> Mode {
        let settled = self.mode_since.plus(EXECUTE_SETTLES_MS);
        let proposed = match &mut self.turn {
            Some(Turn { work: Work::Calling(batch), .. }) => batch.open(&call.id).map(|one| one.row.at),
            _ => None,
        };
        match self.meta.mode {
            Mode::Execute if self.mode_since != At(0) && proposed.is_none_or(|at| at < settled) => Mode::Ask,
            mode => mode,
        }
    }

    fn ask(&mut self, now: At, call: &Call, facts: CallFacts, question: permit::Question, out: &mut Vec<Step>) {
        let parts = permit::parts(self.rules.policy, &self.law, &facts);
        let request = Request {
            id: self.request_id(now),
            ask: Ask::Approval(Box::new(Approval {
                call: call.id.clone(),
                tool: facts.tool.clone(),
                subject: facts.subject.clone(),
                proposal: facts.proposal.clone(),
                reasons: question.reasons,
                risks: question.risks,
                parts,
                offers: question.offers,
                scopes: question.scopes,
                would_run_now: false,
            })),
        };
        let Some(one) = self.open_call(&call.id) else { return };
        one.stage = Stage::Asking(Box::new(Asking { request: request.clone(), facts }));
        out.push(Step::Emit(Event::Asked(Box::new(request))));
    }

    /// Starts a call that was allowed.
    pub(super) fn run_call(
        &mut self,
        now: At,
        call: &Call,
        facts: CallFacts,
        authority: Authority,
        out: &mut Vec<Step>,
    ) {
        let mode = self.mode_for(call);
        let told = self.tell_mode(now);
        self.keep(told.into_iter().collect(), Safety::Written, out);
        let run = self.run;
        // What a person types is not held to the session's mode.
        let held_as = if authority == Authority::Typed { Mode::Execute } else { mode };
        let sandbox = permit::sandbox(self.rules.policy, held_as, &facts);
        let Some(one) = self.open_call(&call.id) else { return };
        one.stage = Stage::Running;
        one.started = Some(now);
        // Whatever lets it run: that it is not what the model proposed is the user's doing.
        let (authority, reason) = match &mut one.edited {
            None => (authority, String::new()),
            Some(edited) => {
                edited.fresh = false;
                (Authority::Person, format!("you changed the command; proposed was: {}", edited.proposed))
            }
        };
        let decision = Decision { allowed: true, mode, authority, reason, sandbox };
        one.decide(decision);
        if let Some(tool) = one.tool() {
            tool.status = ToolStatus::Executing;
            tool.subject.clone_from(&facts.subject);
            // What would change stands in the row from the start; the tool replaces it by what did change.
            if let Proposal::Change { diff, .. } = &facts.proposal {
                tool.figures.diff = Some(diff.clone());
            }
        }
        let row = one.row.clone();
        let safety = if matches!(facts.proposal, Proposal::Plain) { Safety::Written } else { Safety::Synced };
        out.push(Step::Live(row.clone(), safety));
        out.push(Step::Emit(Event::Row(Box::new(row))));
        out.push(Step::Run(run, call.clone(), Box::new(facts), sandbox));
    }

    /// Gives a call the result that it must not run.
    pub(super) fn refuse(&mut self, now: At, id: &CallId, decision: Decision, out: &mut Vec<Step>) {
        let reason = decision.reason.clone();
        if let Some(one) = self.open_call(id) {
            one.decide(decision);
        }
        self.finish(now, id, Outcome::error(reason), out);
    }

    pub(super) fn progress(&mut self, id: &CallId, text: String, out: &mut Vec<Step>) {
        let Some(one) = self.open_call(id).filter(|one| one.stage == Stage::Running) else { return };
        if let Some(tool) = one.tool() {
            tool.result = Some(text);
        }
        out.push(Step::Emit(Event::Row(Box::new(one.row.clone()))));
    }

    pub(super) fn ran(&mut self, now: At, id: &CallId, ended: Result<Outcome, RunError>, out: &mut Vec<Step>) {
        let Some(one) = self.open_call(id).filter(|one| one.stage == Stage::Running) else { return };
        match ended {
            Ok(outcome) => self.finish(now, id, outcome, out),
            Err(RunError::Stopped(text)) => self.finish(now, id, Outcome::error(stopped_text(&text)), out),
            Err(RunError::FactsChanged(facts)) => {
                let call = one.call.clone();
                one.stage = Stage::Inspecting;
                if let Some(tool) = one.tool() {
                    tool.status = ToolStatus::Pending;
                    tool.decision = None;
                    tool.figures = ToolFigures::default();
                }
                let row = one.row.clone();
                out.push(Step::Live(row.clone(), Safety::Written));
                out.push(Step::Emit(Event::Row(Box::new(row))));
                self.judge(now, &call, *facts, false, out);
            }
        }
    }

    /// A call has its result.
    pub(super) fn finish(&mut self, now: At, id: &CallId, mut outcome: Outcome, out: &mut Vec<Step>) {
        match std::mem::take(&mut outcome.then) {
            Then::Ask(question) if !self.rules.headless => {
                self.put_question(now, id, question, out);
                return;
            }
            Then::Ask(_) => {
                let text = "Nobody can answer: this runs without a screen. Decide yourself and say what you assumed.";
                self.end_call(now, id, Outcome { failed: true, text: text.to_owned(), ..outcome }, out);
            }
            Then::Todo(items) => {
                self.own.todo.clone_from(&items);
                self.end_call(now, id, outcome, out);
                out.push(Step::Emit(Event::Todo(items)));
                out.push(Step::KeepMeta(Safety::Written));
            }
            Then::Plan { path, title, markdown } => {
                self.end_call(now, id, outcome, out);
                self.submit_plan(now, path, title, markdown, out);
            }
            Then::Step { number, status } => {
                let outcome = self.report_step(number, status, outcome, out);
                self.end_call(now, id, outcome, out);
            }
            Then::Nothing => self.end_call(now, id, outcome, out),
        }
        self.advance(now, out);
    }

    /// Writes a call's result down. What follows from it was taken out of the outcome before.
    fn end_call(&mut self, now: At, id: &CallId, outcome: Outcome, out: &mut Vec<Step>) {
        let Some(one) = self.open_call(id) else { return };
        let settled = one.request().map(|request| request.id.clone());
        one.finish(now, outcome.failed, outcome.text, outcome.figures);
        let row = one.row.clone();
        if let Some(request) = settled {
            out.push(Step::Emit(Event::Settled { request }));
        }
        out.push(Step::Live(row.clone(), Safety::Written));
        out.push(Step::Emit(Event::Row(Box::new(row))));
    }

    fn put_question(&mut self, now: At, id: &CallId, mut question: Question, out: &mut Vec<Step>) {
        question.call = id.clone();
        let request = Request { id: self.request_id(now), ask: Ask::Question(question) };
        let Some(one) = self.open_call(id) else { return };
        one.stage = Stage::Answering(Box::new(request.clone()));
        out.push(Step::Emit(Event::Asked(Box::new(request))));
    }

    /// Calls that were not started get this result instead.
    pub(super) fn skip_unstarted(&mut self, now: At, why: &str, out: &mut Vec<Step>) {
        let Some(Turn { work: Work::Calling(batch), .. }) = &mut self.turn else { return };
        let ids: Vec<CallId> =
            batch.all_open().filter(|one| one.not_started()).map(|one| one.call.id.clone()).collect();
        for id in ids {
            self.end_call(now, &id, Outcome::error(why), out);
        }
    }

    /// A message to steer: calls that were not started are skipped, and it goes in with the results.
    pub(super) fn steer(&mut self, now: At, text: String, out: &mut Vec<Step>) {
        let at = self.stamp(now);
        let id = self.message_id(at);
        let Some(turn) = &mut self.turn else { return };
        turn.steers.push(crate::domain::contract::Queued { id, text, at, redelivered: false });
        // Until it is delivered it is kept like a queued message.
        out.push(Step::KeepQueue(self.waiting()));
        out.push(notice(Level::Info, "The message goes in with the next tool results.", ""));
        self.skip_unstarted(now, STEERED, out);
        self.advance(now, out);
    }

    fn open_call(&mut self, id: &CallId) -> Option<&mut Underway> {
        match &mut self.turn {
            Some(Turn { work: Work::Calling(batch), .. }) => batch.open(id),
            _ => None,
        }
    }

    // ---- ends ----

    /// The request failed: try again, or say so.
    pub(super) fn failed(&mut self, now: At, error: ProviderError, out: &mut Vec<Step>) {
        let seed = self.rng.u64(..);
        let run = self.run;
        let Some(mut response) = self.take_response() else { return };
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
        let Some(turn) = &mut self.turn else { return };
        let stopped = self.run;
        self.run = RunNo(self.run.0 + 1);
        self.ending = Some(stopped);
        out.push(Step::Cancel(stopped));
        match std::mem::replace(&mut turn.work, Work::BackingOff) {
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
                    let figures = ToolFigures { diff: None, ..figures };
                    one.finish(now, true, stopped_text(&so_far), figures);
                }
                let rows = batch.take_final();
                self.keep(rows, Safety::Written, out);
            }
            Work::BackingOff => {}
        }
        let row = self.info(now, Level::Info, InfoKind::Interrupted, why);
        self.keep(vec![row], Safety::Synced, out);
        self.end_turn(now, TurnEnd::Stopped, out);
    }
}

fn stopped_text(so_far: &str) -> String {
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
        "context_overflow" => vec![FailureAction::NewSession],
        _ => vec![FailureAction::Retry, FailureAction::Model],
    };
    Failure { code: error.code.to_owned(), title: error.title, text: error.text, detail: error.detail, actions }
}

/// What identifies a call before its tool was asked: the first of the usual fields.
fn subject(call: &Call) -> String {
    ["command", "path", "pattern", "title", "question"]
        .iter()
        .find_map(|key| call.input.get(key).and_then(serde_json::Value::as_str))
        .unwrap_or_default()
        .to_owned()
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
