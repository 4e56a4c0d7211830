//! Which connection answers: the session's own, what stands in for one that is not configured here, or nothing yet. Then what
//! is said waits in the queue, and goes as soon as somebody said what does.

use super::state::{Machine, notice};
use crate::agent::machine_io::Step;
use crate::domain::ids::{At, ConnectionName, MessageId};
use crate::domain::message::UserText;
use crate::domain::notice::Level;
use crate::protocol::{Queued, SessionEvent};
use crate::provider::ProviderError;

impl Machine {
    /// Asks for a connection where the session has none that can answer, and tells if it did. Headless nobody can be asked, and
    /// the request fails with what to do.
    pub(super) fn wants_connection(&self, out: &mut Vec<Step>) -> bool {
        let wanted = self.meta.connection.clone().filter(|_| self.meta.unmapped && !self.config.headless);
        let Some(connection) = wanted else { return false };
        out.push(Step::Emit(SessionEvent::ConnectionWanted { connection }));
        true
    }

    /// Holds the queue until a connection stands in.
    pub(super) fn hold_for_connection(&mut self, out: &mut Vec<Step>) {
        self.queue.hold();
        self.show_activity();
        self.queue_changed(out);
        self.changed(out);
    }

    /// The message that would begin a turn goes to the front of what waits.
    pub(super) fn hold_first(&mut self, now: At, message: Option<(MessageId, UserText)>, out: &mut Vec<Step>) {
        if let Some((id, said)) = message {
            let at = self.stamp(now);
            let UserText { text, attachments, piped, client, .. } = said;
            self.queue.items.insert(0, Queued { id, text, at, redelivered: false, attachments, piped, client });
        }
        self.hold_for_connection(out);
    }

    /// Messages wait because nothing answers here.
    pub(super) fn waits_for_connection(&self) -> bool {
        self.meta.unmapped && !self.queue.items.is_empty()
    }

    /// Another model, and another connection where the session is not bound to one that is there.
    pub(super) fn set_model(
        &mut self,
        now: At,
        connection: Option<ConnectionName>,
        model: String,
        out: &mut Vec<Step>,
    ) {
        let other = connection.filter(|name| self.meta.asked() != Some(name));
        if let Some(name) = other.clone() {
            let bound = self.meta.connection_locked && self.meta.connection.is_some();
            if bound && !self.answering.is_missing() {
                let text = "A session's connection can't change after its first message.";
                out.push(notice(Level::Warning, text, "Start a new session to use another connection."));
                return;
            }
            if bound {
                self.map(name);
            } else {
                self.meta.connection = Some(name);
                self.meta.stand_in = None;
                self.meta.unmapped = false;
                self.answering.set_missing(false);
            }
        }
        let model = Some(model).filter(|model| !model.is_empty());
        if self.meta.model != model {
            // The window was the other model's.
            self.meta.usage.context_window = None;
        }
        // Whatever answers in the place of the session's connection: its own model stays.
        let own = self.meta.model.take().or(self.meta.own_model.take());
        self.meta.own_model = own.filter(|_| model.is_none() && self.meta.stand_in.is_some());
        self.meta.model = model;
        self.own.model_for = self.meta.asked().cloned();
        if self.answering.wants_model() && self.meta.model.is_some() {
            self.changed_by_user(out);
            return self.request(now, out);
        }
        self.changed_by_user(out);
        if other.is_some() {
            self.release(now, out);
        }
    }

    /// Somebody says what answers in the place of the session's own connection.
    pub(super) fn stand_in(&mut self, now: At, name: ConnectionName, everywhere: bool, out: &mut Vec<Step>) {
        let Some(theirs) = self.meta.connection.clone().filter(|_| self.answering.is_missing()) else {
            let model = self.meta.model.clone().unwrap_or_default();
            return self.set_model(now, Some(name), model, out);
        };
        if theirs == name {
            let text = format!("Connection {theirs} is not configured here.");
            out.push(notice(Level::Warning, text, "Choose another: /connect lists them."));
            return;
        }
        match everywhere {
            true => {
                self.own.connections.remove(&theirs);
                self.answers_here(name.clone());
                out.push(Step::StandIn(theirs, name));
            }
            false => self.map(name),
        }
        self.changed_by_user(out);
        self.release(now, out);
    }

    /// In this session alone, whatever is said for all of them.
    fn map(&mut self, name: ConnectionName) {
        if let Some(theirs) = self.meta.connection.clone() {
            self.own.connections.insert(theirs, name.clone());
        }
        self.answers_here(name);
    }

    fn answers_here(&mut self, name: ConnectionName) {
        self.meta.stand_in = Some(name);
        self.meta.unmapped = false;
        // The window was that of another connection's model.
        self.meta.usage.context_window = None;
    }

    /// The connection that the session was made with is not configured here.
    #[must_use]
    pub fn is_connection_missing(&self) -> bool {
        self.answering.is_missing()
    }

    /// Sets the reach of the session's connection, which was found out outside of the machine.
    pub fn set_reach(&mut self, missing: bool, stand_in: Option<ConnectionName>, unmapped: bool) {
        self.answering.set_missing(missing);
        self.meta.stand_in = stand_in;
        self.meta.unmapped = unmapped;
        self.show_activity();
    }

    /// The request cannot be made before somebody chooses a model: the turn waits. Headless nobody chooses, and what has begun to
    /// answer has a model.
    pub(super) fn no_model(&mut self, now: At, error: ProviderError, out: &mut Vec<Step>) {
        let asked = self.meta.asked().cloned().filter(|_| !self.config.headless && self.live_rows().is_empty());
        let Some(connection) = asked else { return self.failed(now, error, out) };
        if self.pause_for_key().is_none() {
            return;
        }
        self.answering.set_wants_model(true);
        self.show_activity();
        self.changed(out);
        out.push(Step::Emit(SessionEvent::ModelWanted { connection, why: error.text }));
    }

    /// The model that answers where the session names none, as it was found out from outside.
    pub fn set_usual_model(&mut self, model: Option<String>) {
        self.answering.set_usual_model(model);
    }

    /// The connection that is asked does not offer the session's model: its own usual one answers.
    pub fn drop_model(&mut self) {
        self.meta.own_model = self.meta.model.take().or(self.meta.own_model.take());
        self.own.model_for = None;
    }

    /// Something answers from now on: what waited for it goes.
    pub(super) fn release(&mut self, now: At, out: &mut Vec<Step>) {
        let nothing_goes = self.queue.items.is_empty() || self.turn.is_some() || self.own.plan.is_some();
        // A run without a screen has a message of its own, and one turn.
        if self.meta.unmapped || nothing_goes || self.config.headless {
            return;
        }
        self.queue.held = false;
        self.queue_changed(out);
        self.send_next(now, out);
    }
}
