//! The calls of a response: proposed, looked at, decided, run, ended; steered in between.

use super::batch::{Asking, Batch, OpenCall, Stage};
use super::state::Machine;
use super::stop::stopped_text;
use super::turn_state::{Turn, Work};
use crate::agent::machine_io::{Safety, Step};
use crate::domain::foreign;
use crate::domain::ids::{At, CallId};
use crate::domain::message::{Body, InfoKind, UserText};
use crate::domain::notice::Level;
use crate::domain::permission::{Authority, Decision, Mode};
use crate::domain::request::{AgentQuestion, Approval, Ask, Request};
use crate::domain::sanitise::reveal;
use crate::domain::tool::{CallFacts, Outcome, Proposal, Then, ToolCall, ToolFigures, ToolStatus, Touch, intent};
use crate::permit::{self, Allowed, Refusal, Verdict};
use crate::protocol::{SessionEvent, TurnEnd};
use crate::provider::ProposedCall;
use crate::tools::RunError;

/// A mode counts as Execute only after it has stood for so long, so that cycling through it lets nothing run.
pub(super) const EXECUTE_SETTLES_MS: u64 = 1000;

/// Result of a call that the session does without.
const NOT_OFFERED: &str = "This session does not have this tool. Answer without it.";

const STEERED: &str = "skipped: the user sent a new message";

impl Machine {
    pub(super) fn propose(&mut self, now: At, turn_id: Option<String>, calls: Vec<ProposedCall>, out: &mut Vec<Step>) {
        let mut batch = Batch::default();
        for (number, call) in calls.into_iter().enumerate() {
            let mut call = self.in_our_words(call);
            // A server may give every call the same id; within a response it tells the calls apart.
            if batch.open(&call.id).is_some() {
                call.id = CallId::new(format!("{}-{}", call.id, number + 1));
            }
            let spec = self.config.tools.iter().find(|(spec, _)| spec.name == call.name);
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
            out.push(Step::KeepLive(row.clone(), if reads_only { Safety::Written } else { Safety::Synced }));
            out.push(Step::Emit(SessionEvent::Row(Box::new(row.clone()))));
            batch.push(now, call, row, reads_only);
        }
        if let Some(turn) = &mut self.turn {
            turn.work = Work::Calling(batch);
        }
        self.advance(now, out);
    }

    /// A call of a tool by the name and the fields that another program gives it, as it is meant here: models imitate the
    /// history that they see.
    fn in_our_words(&self, call: ProposedCall) -> ProposedCall {
        let offered = |name: &str| self.config.tools.iter().any(|(spec, _)| spec.name == name);
        let name = match foreign::tool(&call.name) {
            Some(ours) if !offered(&call.name) && offered(ours) => ours.to_owned(),
            _ => call.name,
        };
        let input = if offered(&name) { foreign::input(&name, &call.input).into_owned() } else { call.input };
        ProposedCall { name, input, ..call }
    }

    /// Keeps what became final, starts what may start, and goes on when all calls have results.
    fn advance(&mut self, now: At, out: &mut Vec<Step>) {
        let run = self.runs.current();
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
        } else if self.turn.as_ref().is_some_and(|turn| turn.repeats.is_out()) {
            let text = "Turn stopped: the agent kept repeating the same call. Tell it what to do instead.";
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
        let typed = self.turn.as_ref().is_some_and(|turn| turn.typed);
        // A model calls what it was not offered, too.
        let found = found
            .and_then(|facts| if typed || self.offers(&call.name) { Ok(facts) } else { Err(NOT_OFFERED.to_owned()) });
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
            turn.repeats.strike();
        }
    }

    /// Decides on a call.
    fn judge(&mut self, now: At, call: &ProposedCall, facts: CallFacts, repeated: bool, out: &mut Vec<Step>) {
        if self.turn.as_ref().is_some_and(|turn| turn.typed) {
            self.run_call(now, call, facts, Authority::Typed, out);
            return;
        }
        let mode = self.mode_for(call);
        let verdict = self.verdict(mode, &facts);
        self.count_hits(&verdict);
        if repeated && (mode == Mode::Explore || self.config.headless || matches!(verdict, Verdict::Deny(_))) {
            self.strike();
        }
        let verdict = match verdict {
            Verdict::Allow(_) | Verdict::Ask(_) if repeated && (mode == Mode::Explore || self.config.headless) => {
                let reason = "The same call with the same input came three times in a row. Do something else.";
                Verdict::Deny(Refusal { reason: reason.to_owned(), rule: None })
            }
            Verdict::Allow(_) if repeated => Verdict::Ask(permit::PermissionQuestion {
                reasons: vec!["The same call with the same input comes for the third time in a row.".to_owned()],
                ..permit::PermissionQuestion::default()
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
                let asks = self.config.headless && mode != Mode::Explore;
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

    /// True if editing the command already answered the question about it. Questions asked every
    /// time are asked all the same, and so is a command with characters that could not be seen
    /// while it was edited.
    fn answered_by_editing(&mut self, id: &CallId, facts: &CallFacts, question: &permit::PermissionQuestion) -> bool {
        let Some(edited) = self.open_call(id).and_then(|one| one.edited.as_mut()) else { return false };
        if !std::mem::take(&mut edited.fresh) {
            return false;
        }
        let plain = matches!(&facts.proposal, Proposal::Command { command, .. } if reveal(command) == *command);
        plain && !question.every_time
    }

    /// True if this is the third equal call in a row.
    fn count_repeats(&mut self, call: &ProposedCall) -> bool {
        self.turn.as_mut().is_some_and(|turn| turn.repeats.count(call))
    }

    /// The mode that counts for a call: Execute only for calls proposed after it has stood for a second.
    fn mode_for(&mut self, call: &ProposedCall) -> Mode {
        let settled = self.mode_since.plus(EXECUTE_SETTLES_MS);
        let proposed = match &mut self.turn {
            Some(Turn { work: Work::Calling(batch), .. }) => batch.open(&call.id).map(|one| one.proposed),
            _ => None,
        };
        match self.meta.mode {
            Mode::Execute if self.mode_since != At(0) && proposed.is_none_or(|at| at < settled) => Mode::Ask,
            mode => mode,
        }
    }

    fn ask(
        &mut self,
        now: At,
        call: &ProposedCall,
        facts: CallFacts,
        question: permit::PermissionQuestion,
        out: &mut Vec<Step>,
    ) {
        let mut question = question;
        if matches!(facts.proposal, Proposal::Command { .. }) && call.input.get("background") == Some(&true.into()) {
            question.risks.push("runs in the background until stopped".to_owned());
        }
        // Execute has not stood long enough to count for this call.
        let settles = self.mode_for(call) != self.meta.mode;
        let would_run_now = settles && matches!(self.verdict(self.meta.mode, &facts), Verdict::Allow(_));
        let parts = permit::parts(self.config.policy, self.trust.rules(), &facts);
        let request = Request {
            id: self.request_id(now),
            ask: Ask::Approval(Box::new(Approval {
                call: call.id.clone(),
                tool: facts.tool.clone(),
                subject: facts.subject.clone(),
                intent: intent(&call.input),
                proposal: facts.proposal.clone(),
                reasons: question.reasons,
                risks: question.risks,
                parts,
                offers: question.offers,
                scopes: question.scopes,
                would_run_now,
                irreversible: permit::is_catastrophic(&facts),
            })),
        };
        let Some(one) = self.open_call(&call.id) else { return };
        one.stage = Stage::Asking(Box::new(Asking { request: request.clone(), facts }));
        out.push(Step::Emit(SessionEvent::Asked(Box::new(request))));
    }

    /// Starts a call that was allowed.
    pub(super) fn run_call(
        &mut self,
        now: At,
        call: &ProposedCall,
        facts: CallFacts,
        authority: Authority,
        out: &mut Vec<Step>,
    ) {
        let mode = self.mode_for(call);
        let mut told = self.tell_mode(now);
        if let Some(row) = &mut told {
            // It stands among the calls of this response: the model hears of it with their results.
            row.turn = self.open_call(&call.id).and_then(|one| one.row.turn.clone());
        }
        self.keep(told.into_iter().collect(), Safety::Written, out);
        let run = self.runs.current();
        // What a person types is not held to the session's mode.
        let held_as = if authority == Authority::Typed { Mode::Execute } else { mode };
        let sandbox = permit::sandbox(self.config.policy, held_as, &facts);
        let client = self.config.client.clone();
        let Some(one) = self.open_call(&call.id) else { return };
        one.stage = Stage::Running;
        one.started = Some(now);
        one.writes = is_written_whole(&facts);
        // Whatever lets it run: that it is not what the model proposed is the user's doing.
        let (authority, reason) = match &mut one.edited {
            None if !facts.left_out.is_empty() => (authority, struck_in_words(&facts)),
            None => (authority, String::new()),
            Some(edited) => {
                edited.fresh = false;
                (Authority::Person, format!("command edited by you; proposed: {}", edited.proposed))
            }
        };
        let client = client.filter(|_| matches!(authority, Authority::Person | Authority::Typed));
        let decision = Decision { allowed: true, mode, authority, reason, sandbox, client };
        one.decide(decision);
        if let Some(tool) = one.tool() {
            tool.status = ToolStatus::Executing;
            tool.subject.clone_from(&facts.subject);
            // What would change stands in the row from the start; the tool replaces it by what did change.
            tool.figures.propose(&facts.proposal.shown_without(&facts.left_out));
        }
        let row = one.row.clone();
        let safety = if matches!(facts.proposal, Proposal::Plain | Proposal::Address { .. }) {
            Safety::Written
        } else {
            Safety::Synced
        };
        out.push(Step::KeepLive(row.clone(), safety));
        out.push(Step::Emit(SessionEvent::Row(Box::new(row))));
        out.push(Step::Run(run, call.clone(), Box::new(facts), sandbox));
    }

    /// Gives a call the result that it must not run.
    pub(super) fn refuse(&mut self, now: At, id: &CallId, mut decision: Decision, out: &mut Vec<Step>) {
        if decision.authority == Authority::Person {
            decision.client.clone_from(&self.config.client);
        }
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
        out.push(Step::Emit(SessionEvent::Row(Box::new(one.row.clone()))));
    }

    pub(super) fn ran(&mut self, now: At, id: &CallId, ended: Result<Outcome, RunError>, out: &mut Vec<Step>) {
        let Some(one) = self.open_call(id).filter(|one| one.stage == Stage::Running) else { return };
        match ended {
            Ok(outcome) => self.finish(now, id, outcome, out),
            Err(RunError::Stopped(run)) => self.finish(now, id, Outcome::error(stopped_text(&run.text)), out),
            Err(RunError::FactsChanged(facts)) => {
                let call = one.call.clone();
                one.stage = Stage::Inspecting;
                if let Some(tool) = one.tool() {
                    tool.status = ToolStatus::Pending;
                    tool.decision = None;
                    tool.figures = ToolFigures::default();
                }
                let row = one.row.clone();
                out.push(Step::KeepLive(row.clone(), Safety::Written));
                out.push(Step::Emit(SessionEvent::Row(Box::new(row))));
                self.judge(now, &call, *facts, false, out);
            }
        }
    }

    /// A call has its result.
    pub(super) fn finish(&mut self, now: At, id: &CallId, mut outcome: Outcome, out: &mut Vec<Step>) {
        match std::mem::take(&mut outcome.then) {
            Then::Ask(question) if !self.config.headless => {
                self.put_question(now, id, question, out);
                return;
            }
            Then::Ask(_) => {
                let text = "This run is non-interactive. Decide yourself and say what you assumed.";
                self.end_call(now, id, Outcome { failed: true, text: text.to_owned(), ..outcome }, out);
            }
            Then::Todo(items) => {
                self.own.todo.clone_from(&items);
                self.end_call(now, id, outcome, out);
                out.push(Step::Emit(SessionEvent::Todo(items)));
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
            Then::Skill(slug) => {
                self.end_call(now, id, outcome, out);
                self.use_skill(&slug, out);
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
            out.push(Step::Emit(SessionEvent::Settled { request, by: None }));
        }
        out.push(Step::KeepLive(row.clone(), Safety::Written));
        out.push(Step::Emit(SessionEvent::Row(Box::new(row))));
    }

    fn put_question(&mut self, now: At, id: &CallId, mut question: AgentQuestion, out: &mut Vec<Step>) {
        question.call = id.clone();
        let request = Request { id: self.request_id(now), ask: Ask::Question(question) };
        let Some(one) = self.open_call(id) else { return };
        one.stage = Stage::Answering(Box::new(request.clone()));
        out.push(Step::Emit(SessionEvent::Asked(Box::new(request))));
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
    pub(super) fn steer(&mut self, now: At, said: UserText, out: &mut Vec<Step>) {
        let item = self.queued(now, said);
        let id = item.id.clone();
        let Some(turn) = &mut self.turn else { return };
        turn.steers.push(item);
        // Until it is delivered it is kept like a queued message.
        self.queue_changed(out);
        out.push(Step::Emit(SessionEvent::Accepted { id, queued: true }));
        self.skip_unstarted(now, STEERED, out);
        self.advance(now, out);
    }

    fn open_call(&mut self, id: &CallId) -> Option<&mut OpenCall> {
        match &mut self.turn {
            Some(Turn { work: Work::Calling(batch), .. }) => batch.open(id),
            _ => None,
        }
    }
}

/// Reason of a decision that leaves out parts of what was proposed.
fn struck_in_words(facts: &CallFacts) -> String {
    format!("you skipped {} of {} changes", facts.left_out.len(), facts.proposal.strikable())
}

/// lisle itself writes the files of such a call, each whole: once that began it is not stopped halfway.
fn is_written_whole(facts: &CallFacts) -> bool {
    match &facts.proposal {
        Proposal::Change { .. } | Proposal::Changes { .. } => true,
        Proposal::Plain | Proposal::Address { .. } => {
            facts.touches.iter().any(|touch| matches!(touch, Touch::Write { .. }))
        }
        Proposal::Command { .. } | Proposal::Script { .. } | Proposal::Connect { .. } | Proposal::SourceCall { .. } => {
            false
        }
    }
}

/// Subject of a call before its tool was asked: the first of the usual fields.
fn subject(call: &ProposedCall) -> String {
    ["command", "path", "url", "pattern", "title", "question"]
        .iter()
        .find_map(|key| call.input.get(key).and_then(serde_json::Value::as_str))
        .unwrap_or_default()
        .to_owned()
}
