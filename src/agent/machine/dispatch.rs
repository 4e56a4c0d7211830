//! Router of the machine's inputs, and the activity that results.

use super::state::Machine;
use super::turn_state::{Turn, Work};
use crate::agent::machine_io::{Input, RunNo, Safety, Step};
use crate::domain::attention::WANTS_MODEL;
use crate::domain::ids::At;
use crate::domain::message::{CutBy, InfoKind, UserText};
use crate::domain::notice::Level;
use crate::domain::request::{Ask, Request};
use crate::domain::session::Activity;
use crate::protocol::SessionEvent;

impl Machine {
    /// Takes an input and says what is to be done.
    pub fn step(&mut self, now: At, input: Input) -> Vec<Step> {
        let mut out = Vec::new();
        self.take(now, input, &mut out);
        let activity = self.activity();
        if activity != *self.announced.activity() {
            self.announced.set_activity(activity.clone());
            self.meta.activity = activity;
            self.note_unfinished();
            self.changed(&mut out);
        }
        out
    }

    /// Routes an input. Late reports of a run that was stopped are ignored.
    fn take(&mut self, now: At, input: Input, out: &mut Vec<Step>) {
        match input {
            Input::Command(act) => self.person(now, act, out),
            Input::Chunk(run, chunk) if run == self.runs.current() => self.chunk(now, chunk, out),
            Input::Used(run, used, window, cost) if run == self.runs.current() => self.used(used, window, cost, out),
            Input::SideUsage(used, cost) => {
                self.meta.usage.add_apart(used, cost);
                self.changed(out);
            }
            Input::Child(run, call, child, line) if run == self.runs.current() => self.child(&call, *child, line, out),
            Input::Ceiling(ceiling) => self.set_ceiling(now, ceiling, out),
            Input::Deliver(text) => self.deliver(now, text, out),
            Input::Titled { title, was, wanted } => self.titled(title, &was, wanted, out),
            Input::Failed(run, error) if run == self.runs.current() => self.failed(now, error, out),
            Input::NoKey(run, wanted, failure) if run == self.runs.current() => self.no_key(now, *wanted, failure, out),
            Input::NoModel(run, error) if run == self.runs.current() => self.no_model(now, error, out),
            Input::GiveKey(wanted) => self.give_key(now, *wanted, out),
            Input::Keyed(connection, stored) => self.keyed(now, &connection, stored, out),
            Input::RetryNow(run) if run == self.runs.current() && self.is_stopping() => self.stopped_in_vain(now, out),
            Input::RetryNow(run) if run == self.runs.current() && self.backs_off() => self.request(now, out),
            // The part that could not be summed up, again. Does nothing where none is.
            Input::RetryNow(run) if run == self.runs.current() => self.sum_up(out),
            Input::Summarised(run, answer) if run == self.runs.current() => self.summed(now, answer, out),
            Input::Inspected(run, call, found) if run == self.runs.current() => self.inspected(now, &call, found, out),
            Input::Progress(run, call, text) if run == self.runs.current() => self.progress(&call, text, out),
            Input::Ran(run, call, ended) if run == self.runs.current() => self.ran(now, &call, *ended, out),
            Input::Ran(run, call, ended) => self.ran_late(now, (run, &call), *ended, out),
            Input::Reaped(run) => self.reaped(now, run, out),
            Input::PlanFile(file) => self.found_plan(file, out),
            Input::CarryOut => self.carry_out_due(now, out),
            Input::Change(change) => self.change(now, &change, out),
            Input::Preamble(kind, text) => self.set_preamble(kind, text, out),
            Input::Restored(text) => self.restored(now, text, out),
            Input::SourceFailed(text) => self.source_failed(now, text, out),
            Input::JobEnded(text) => self.job_ended(now, text, out),
            Input::MayReach(number, call, facts) => self.may_reach(now, number, call, *facts, out),
            Input::NoLongerReaches(number) => self.no_longer_reaches(number, out),
            Input::FileRules(files) => self.set_file_rules(now, *files, out),
            Input::Forget(rule) => self.forget(&rule, out),
            Input::Look => self.looked_at(now, out),
            Input::Redeliver(at) => self.redeliver(now, at, out),
            Input::Enqueue(said) => self.enqueue_held(now, self.signed(said), out),
            Input::Shutdown => self.shut_down(now, out),
            // The rest is late news of a run that was stopped.
            Input::Chunk(..)
            | Input::Child(..)
            | Input::Used(..)
            | Input::Failed(..)
            | Input::NoKey(..)
            | Input::NoModel(..)
            | Input::RetryNow(_)
            | Input::Summarised(..)
            | Input::Inspected(..)
            | Input::Progress(..) => {}
        }
    }

    /// A message that cannot be sent now waits.
    fn enqueue_held(&mut self, now: At, said: UserText, out: &mut Vec<Step>) {
        self.hold_redelivery(out);
        let id = self.enqueue(now, said);
        self.queue.hold();
        self.queue_changed(out);
        out.push(Step::Emit(SessionEvent::Accepted { id, queued: true }));
    }

    fn restored(&mut self, now: At, text: String, out: &mut Vec<Step>) {
        let row = self.info(now, Level::Info, InfoKind::Restored, text);
        self.keep(vec![row], Safety::Synced, out);
        self.changed(out);
    }

    fn reaped(&mut self, now: At, upto: RunNo, out: &mut Vec<Step>) {
        self.runs.reaped(upto);
        if self.is_stopping_of(upto) {
            self.stopped_in_vain(now, out);
        }
    }

    fn shut_down(&mut self, now: At, out: &mut Vec<Step>) {
        self.runs.close();
        if self.turn.is_some() {
            self.stop(now, CutBy::Restart, out);
        }
    }

    pub(super) fn backs_off(&self) -> bool {
        matches!(&self.turn, Some(Turn { work: Work::BackingOff, .. }))
    }

    /// Shows the activity that results; whoever calls this tells of it.
    pub(super) fn show_activity(&mut self) {
        self.meta.activity = self.activity();
        self.announced.set_activity(self.meta.activity.clone());
        self.note_unfinished();
    }

    pub(super) fn activity(&self) -> Activity {
        if let Some(asked) = self.asks.key() {
            return Activity::NeedsYou(waiting_for(&asked.request));
        }
        if self.answering.wants_model() {
            return Activity::NeedsYou(WANTS_MODEL.to_owned());
        }
        if self.is_stopping() {
            return Activity::Stopping;
        }
        if let Some(request) = self.asks.all_connecting().next() {
            return Activity::NeedsYou(waiting_for(request));
        }
        if let Some(turn) = &self.turn {
            if let Work::Calling(batch) = &turn.work
                && let Some(request) = batch.requests().next()
            {
                return Activity::NeedsYou(waiting_for(request));
            }
            if let Work::Calling(batch) = &turn.work
                && let Some(what) = batch.waits_below()
            {
                return Activity::NeedsYou(what);
            }
            return Activity::Running(turn.started);
        }
        if !self.is_quiet() {
            return Activity::Stopping;
        }
        match &self.own.plan {
            Some(plan) => Activity::NeedsYou(format!("plan: {}", plan.review.title)),
            None if self.waits_for_connection() => Activity::NeedsYou("which connection answers".to_owned()),
            None => match self.trust.request() {
                Some(request) => Activity::NeedsYou(waiting_for(request)),
                None => Activity::Idle,
            },
        }
    }
}

/// A few words for the list: what a request is about.
fn waiting_for(request: &Request) -> String {
    match &request.ask {
        Ask::Approval(approval) => format!("approve: {} {}", approval.tool, approval.subject),
        Ask::Plan(review) => format!("plan: {}", review.title),
        Ask::Question(question) => format!("question: {}", question.text),
        Ask::Trust(request) => format!("trust: {}", request.path.display()),
        Ask::Key(request) => format!("key: {}", request.connection),
    }
}
