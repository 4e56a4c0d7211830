//! Early ends of a turn: the user, the end of lisle, a time limit, a signal, a takeover by another lisle.
//!
//! A dropped call gets its result here, and later reports are ignored. But a call that was writing
//! a file may have done it: its own result is waited for. A turn that ends still has one result for
//! each call.

use super::batch::{Batch, OpenCall};
use super::runs::Death;
use super::state::Machine;
use super::turn_state::{Stopping, Turn, Work};
use crate::agent::machine_io::{RunNo, Safety, Step};
use crate::domain::ids::{At, CallId};
use crate::domain::message::{CutBy, InfoKind, Message, UserText};
use crate::domain::notice::Level;
use crate::domain::tool::{CUT_SHORT, Outcome, STOPPED, ToolFigures};
use crate::protocol::{SessionEvent, TurnEnd};
use crate::tools::RunError;

/// Milliseconds to wait for the end of a write. A second Esc ends the wait.
const WRITE_ENDS_MS: u64 = 6_000;

/// The result of a write whose end did not come.
const UNKNOWN: &str = "It was being written at that moment: read the file before you rely on what is in it";

/// Kind and text of the row that says what ended a turn.
fn row_of(by: CutBy) -> (InfoKind, &'static str) {
    match by {
        CutBy::User => (InfoKind::Interrupted, "You stopped the turn."),
        CutBy::Restart => (InfoKind::Restarted, "lisle quit during this turn."),
        CutBy::TimeLimit => (InfoKind::Ended, "Timeout: the turn was stopped (--timeout)."),
        CutBy::Signal => (InfoKind::Ended, "lisle was stopped by a signal during this turn."),
        CutBy::TakenOver => (InfoKind::Ended, "Another lisle took over during this turn."),
        CutBy::Error => (InfoKind::Ended, "Turn stopped: it no longer responded."),
    }
}

/// Row of a turn that died with the program.
const DIED: &str = "lisle quit during this turn and was restarted.";

/// Row of a turn of another lisle, in the session that was taken from it.
const TAKEN: &str = "This session was taken over from another lisle during this turn.";

/// The result of a call that was stopped, with its output until then.
fn result_of(by: CutBy, so_far: &str) -> String {
    let why = match by {
        CutBy::User => return with_output(STOPPED, so_far),
        CutBy::Restart => "lisle quit; the user did not stop the call",
        CutBy::TimeLimit => "the time limit of this run was reached; the user did not stop the call",
        CutBy::Signal => "a signal ended lisle; the user did not stop the call",
        CutBy::TakenOver => "another lisle took the session over; the user did not stop the call",
        CutBy::Error => "nothing was heard of the turn any more; the user did not stop the call",
    };
    with_output(&format!("{CUT_SHORT}{why}"), so_far)
}

pub(super) fn stopped_text(so_far: &str) -> String {
    with_output(STOPPED, so_far)
}

fn with_output(why: &str, so_far: &str) -> String {
    if so_far.trim().is_empty() { why.to_owned() } else { format!("{why}. Its output until then:\n{so_far}") }
}

/// The call ends without an outcome.
fn drop_call(one: &mut OpenCall, now: At, why: impl Fn(&str) -> String) {
    let so_far = one.tool().and_then(|tool| tool.result.take()).unwrap_or_default();
    let figures = one.tool().map(|tool| std::mem::take(&mut tool.figures)).unwrap_or_default();
    // A change that was only proposed is not a change.
    let figures = ToolFigures { diff: None, diffs: Vec::new(), ..figures };
    one.finish(now, true, why(&so_far), figures);
}

impl Machine {
    /// Cause of the last early end of a turn.
    #[must_use]
    pub fn last_cut(&self) -> Option<CutBy> {
        self.runs.last_cut()
    }

    /// The turn was stopped and waits for the end of a write.
    pub(super) fn is_stopping(&self) -> bool {
        matches!(&self.turn, Some(Turn { work: Work::Stopping(_), .. }))
    }

    /// The write that is waited for is of this run, or of one before.
    pub(super) fn is_stopping_of(&self, run: RunNo) -> bool {
        matches!(&self.turn, Some(Turn { work: Work::Stopping(it), .. }) if it.run <= run)
    }

    /// Stops the turn. Where a file is being written, the turn ends with that.
    pub(super) fn stop(&mut self, now: At, by: CutBy, out: &mut Vec<Step>) {
        if self.is_stopping() {
            // Whoever stops it once more wants to wait no longer. One that quits waits: it ends with that anyway.
            if by != CutBy::Restart {
                self.stopped_in_vain(now, out);
            }
            return;
        }
        if self.turn.is_some() {
            self.settle_key(out);
        }
        let Some(turn) = &mut self.turn else { return };
        let stopped = self.runs.cut(by);
        out.push(Step::Cancel(stopped));
        let mut alone = false;
        match std::mem::replace(&mut turn.work, Work::BackingOff) {
            Work::Compacting(it) => {
                alone = it.is_alone();
                self.compaction_stopped(&it, out);
            }
            Work::Responding(response) => self.keep(response.end_cut(by, now), Safety::Written, out),
            Work::Calling(mut batch) => {
                self.drop_calls(now, by, &mut batch, out);
                if !batch.done() {
                    let it = Stopping { batch, by, run: stopped, said: Vec::new() };
                    if let Some(turn) = &mut self.turn {
                        turn.work = Work::Stopping(Box::new(it));
                    }
                    out.push(Step::RetryIn(self.runs.current(), WRITE_ENDS_MS));
                    return;
                }
            }
            Work::Stopping(_) | Work::BackingOff => {}
        }
        self.stopped(now, by, alone, out);
    }

    /// Ends the calls of a stopped turn, but for one that writes at this moment.
    fn drop_calls(&mut self, now: At, by: CutBy, batch: &mut Batch, out: &mut Vec<Step>) {
        // Who was taken over cannot keep how a write ends.
        let waits = by != CutBy::TakenOver;
        for one in batch.all_open().filter(|one| !waits || !one.is_writing()) {
            if let Some(request) = one.request() {
                out.push(Step::Emit(SessionEvent::Settled { request: request.id.clone(), by: None }));
            }
            drop_call(one, now, |so_far| result_of(by, so_far));
        }
        let rows = batch.take_final();
        self.keep(rows, Safety::Written, out);
        // Those behind the write become final with it.
        for row in batch.live().filter(|row| row.tool().is_some_and(|call| call.status.ended())) {
            out.push(Step::KeepLive(row.clone(), Safety::Written));
            out.push(Step::Emit(SessionEvent::Row(Box::new(row.clone()))));
        }
    }

    /// A call ended after its turn was stopped.
    pub(super) fn ran_late(
        &mut self,
        now: At,
        (run, id): (RunNo, &CallId),
        ended: Result<Outcome, RunError>,
        out: &mut Vec<Step>,
    ) {
        if let Some(Turn { work: Work::Stopping(it), .. }) = &mut self.turn
            && it.run == run
            && let by = it.by
            && let Some(one) = it.batch.open(id)
        {
            match ended {
                Ok(outcome) => one.finish(now, outcome.failed, outcome.text, outcome.figures),
                Err(_) => drop_call(one, now, |so_far| result_of(by, so_far)),
            }
            return self.end_stopping(now, out);
        }
        // Its row says that it was interrupted, so this is said behind it.
        let text = match ended {
            Ok(outcome) if outcome.figures.changes().next().is_some() => {
                format!("Too late to stop, already done: {}", outcome.text.trim())
            }
            Err(RunError::Stopped(run)) if !run.protected.is_empty() => {
                format!("The stopped command changed files that configure or run code:\n{}", run.protected.join("\n"))
            }
            _ => return,
        };
        self.job_ended(now, text, out);
    }

    /// Ends the wait for the end of a write, if there is one.
    pub(super) fn stopped_in_vain(&mut self, now: At, out: &mut Vec<Step>) {
        let Some(Turn { work: Work::Stopping(it), .. }) = &mut self.turn else { return };
        let by = it.by;
        for one in it.batch.all_open() {
            drop_call(one, now, |so_far| format!("{}. {UNKNOWN}.", result_of(by, so_far)));
        }
        self.end_stopping(now, out);
    }

    fn end_stopping(&mut self, now: At, out: &mut Vec<Step>) {
        let Some(turn) = &mut self.turn else { return };
        let Work::Stopping(it) = std::mem::replace(&mut turn.work, Work::BackingOff) else { return };
        let Stopping { mut batch, by, said, .. } = *it;
        let rows = batch.take_final();
        self.keep(rows, Safety::Written, out);
        self.stopped(now, by, false, out);
        if said.is_empty() || self.runs.are_closing() || self.config.headless {
            return;
        }
        // As a message does that comes after the end: it is sent first, what waited follows.
        let (first, rest) = std::mem::take(&mut self.queue.items).into_iter().partition(|item| said.contains(&item.id));
        self.queue.items = first;
        let mut rest: Vec<_> = rest;
        self.queue.items.append(&mut rest);
        self.queue.held = false;
        self.send_next(now, out);
    }

    /// A message that came while the end of a write is waited for.
    pub(super) fn said_meanwhile(&mut self, now: At, said: UserText, out: &mut Vec<Step>) {
        let id = self.enqueue(now, said);
        if let Some(Turn { work: Work::Stopping(it), .. }) = &mut self.turn {
            it.said.push(id.clone());
        }
        self.queue_changed(out);
        out.push(Step::Emit(SessionEvent::Accepted { id, queued: true }));
    }

    /// The row about the last turn, which ended without a word: written with the next one.
    pub(super) fn tell_death(&mut self, now: At) -> Option<Message> {
        let (kind, text) = match self.runs.take_death()? {
            Death::TakenOver => (InfoKind::Ended, TAKEN),
            Death::Restarted => (InfoKind::Restarted, DIED),
        };
        Some(self.info(now, Level::Info, kind, text))
    }

    /// The turn is over. `alone`: no answer of the model was interrupted, only a summary.
    fn stopped(&mut self, now: At, by: CutBy, alone: bool, out: &mut Vec<Step>) {
        self.settle_broken(now, CutBy::Error, out);
        let (kind, text) = match alone {
            true => (InfoKind::Remark, "Compaction stopped; nothing changed."),
            false => row_of(by),
        };
        // Whoever stops a retry still wants to know what went wrong.
        let failed = self.turn.as_ref().and_then(|turn| turn.failed.last()).filter(|_| !alone);
        let text = match failed {
            Some(reason) => format!("{text} The last attempt failed: {reason}"),
            None => text.to_owned(),
        };
        let row = self.info(now, Level::Info, kind, text);
        self.keep(vec![row], Safety::Synced, out);
        self.end_turn(now, TurnEnd::Stopped, out);
    }
}
