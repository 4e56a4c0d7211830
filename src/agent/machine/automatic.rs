//! Automatic changes of a session: its status follows the work, rules give it labels, and messages
//! left in the queue by a crash are sent after a delay in which anybody can hold them.

use super::automation::{Automatic, REDELIVERED_AFTER_MS};
use super::state::{Machine, notice};
use crate::agent::machine_io::Step;
use crate::domain::ids::At;
use crate::domain::message::Body;
use crate::domain::notice::Level;
use crate::domain::property::{Category, REVIEW, TODO, WORKING, append_labels};
use crate::domain::property_change::PropertyChange;
use crate::protocol::{SessionEvent, TurnEnd};

/// Labels that come by themselves leave the header room for what people give.
const LABEL_BYTES: usize = 2000;

impl Machine {
    /// Sets the automatic changes that the workspace allows.
    pub fn set_automatic(&mut self, automatic: Automatic) {
        self.automation.set_allowed(automatic);
    }

    /// Time at which messages left by a crash are sent.
    #[must_use]
    pub fn redelivery(&self) -> Option<At> {
        self.automation.redelivery()
    }

    // ---- status and labels ----

    /// A person changed the properties.
    pub(super) fn change(&mut self, now: At, change: &PropertyChange, out: &mut Vec<Step>) {
        let before = self.meta.clone();
        change.apply(&mut self.meta, now);
        match change {
            PropertyChange::Status(_) => self.automation.set_status_by_user(true),
            PropertyChange::Unread(false) => self.meta.last_read = self.transcript.last().cloned(),
            _ => {}
        }
        if self.meta != before {
            self.changed_by_user(out);
        }
    }

    /// The end of the session was seen.
    pub(super) fn read(&mut self, out: &mut Vec<Step>) {
        if self.meta.mark_seen() {
            self.meta.last_read = self.transcript.last().cloned();
            self.changed(out);
        }
    }

    /// A turn begins. What the user set belongs to the turn before; what was to be reviewed is answered.
    pub(super) fn status_at_begin(&mut self) {
        let by_user = self.automation.status_by_user();
        self.automation.set_status_by_user(false);
        if (self.meta.status == REVIEW && !by_user) || (self.meta.messages == 0 && self.meta.status == TODO) {
            self.set_status(WORKING);
        }
    }

    /// A plan was approved: it was looked at, and the work goes on.
    pub(super) fn status_at_approval(&mut self) {
        if self.meta.status == REVIEW {
            self.set_status(WORKING);
        }
    }

    /// A turn ended.
    pub(super) fn status_at_end(&mut self, end: TurnEnd) {
        let asks = match end {
            TurnEnd::Plan => true,
            TurnEnd::Done => self.last_answer().is_some_and(is_question),
            TurnEnd::Stopped | TurnEnd::Failed | TurnEnd::Limit => false,
        };
        if asks {
            self.set_status(REVIEW);
        }
    }

    fn last_answer(&self) -> Option<&str> {
        self.transcript.rows().iter().rev().find_map(|row| match &row.body {
            Body::Assistant(said) if !said.text.trim().is_empty() && !said.partial => Some(said.text.as_str()),
            _ => None,
        })
    }

    /// Sets a status that exists, over an open one that is known and that the user did not set in this turn.
    fn set_status(&mut self, to: &str) {
        let find = |id: &str| self.automation.allowed().statuses.iter().find(|status| status.id == id);
        let from_open = find(&self.meta.status).is_some_and(|status| status.category == Category::Open);
        if from_open && !self.automation.status_by_user() && find(to).is_some() {
            self.meta.status = to.to_owned();
        }
    }

    /// A message that begins a turn gives labels.
    pub(super) fn label(&mut self, text: &str) {
        let mut room = LABEL_BYTES.saturating_sub(self.meta.labels.iter().map(String::len).sum());
        let fits = |entry: &String| {
            let fits = entry.len() <= room;
            room = room.saturating_sub(entry.len());
            fits
        };
        let labels: Vec<String> = self.automation.allowed().labels.of(text).into_iter().filter(fits).collect();
        append_labels(&mut self.meta.labels, labels);
    }

    // ---- what a death left in the queue ----

    /// Notes that a client shows the session: from now on the user can hold what would be sent by itself.
    pub(super) fn looked_at(&mut self, now: At, out: &mut Vec<Step>) {
        let goes = self.automation.take_redelivers() && self.queue.held && self.turn.is_none();
        if !goes || self.config.headless {
            return;
        }
        let at = now.plus(REDELIVERED_AFTER_MS);
        self.automation.plan_redelivery(at);
        out.push(Step::RedeliverAt(at));
        out.push(Step::Emit(SessionEvent::Redelivering { at: Some(at) }));
    }

    /// The user did something: nothing goes by itself any more.
    pub(super) fn hold_redelivery(&mut self, out: &mut Vec<Step>) {
        if self.automation.hold_redelivery() {
            out.push(Step::Emit(SessionEvent::Redelivering { at: None }));
        }
    }

    /// The time of a redelivery has come.
    pub(super) fn redeliver(&mut self, now: At, at: At, out: &mut Vec<Step>) {
        if self.automation.redelivery() != Some(at) {
            return;
        }
        self.hold_redelivery(out);
        if self.turn.is_some() || self.queue.items.is_empty() {
            return;
        }
        self.queue.held = false;
        out.push(notice(Level::Info, "Sending messages left from the last run", ""));
        self.send_next(now, out);
    }
}

/// The text ends with a question, markup and quotes behind it left out.
fn is_question(text: &str) -> bool {
    let end = text.trim_end_matches(|c: char| c.is_whitespace() || "*_`\"')]”’»".contains(c));
    end.ends_with(['?', '？', '؟'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_end_with_a_question_mark() {
        for yes in ["Shall I?", "so?\n\n", "**Shall I go on?**", "He said \"why?\"", "よろしいですか？"] {
            assert!(is_question(yes), "{yes}");
        }
        for no in ["", "Done.", "Why? Because.", "? no", "```\na?b\n```x"] {
            assert!(!is_question(no), "{no}");
        }
    }
}
