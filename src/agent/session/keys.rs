//! The keys of connections: what is asked for when one is missing or refused, and what follows when one was given.

use super::super::mailbox::{Control, Report};
use super::super::step::{Input, RunNo};
use super::SessionActor;
use crate::domain::notice::{Level, Notice};
use crate::domain::secret::Key;
use crate::domain::{ConnectionName, Event};
use crate::provider::ProviderError;

impl SessionActor {
    /// The request cannot be made: asks for the key where one would help, and reports the failure otherwise.
    pub(super) fn fail_for_a_key(&self, run: RunNo, name: &ConnectionName, error: ProviderError) {
        match self.shared.setup.connections.wanted(name, None) {
            None => self.fail_soon(run, error),
            Some(wanted) => self.input_soon(Input::NoKey(run, Box::new(wanted), error)),
        }
    }

    /// Gives the machine this input after the steps at hand were done.
    fn input_soon(&self, input: Input) {
        let mailbox = self.mailbox.clone();
        tokio::spawn(async move {
            let _ = mailbox.report(Report::Input(input)).await;
        });
    }

    /// The user wants to give the key of a connection, here.
    pub(super) async fn ask_for_key(&mut self, name: ConnectionName) {
        match self.shared.setup.connections.wanted(&name, None) {
            Some(wanted) => self.input(Input::GiveKey(Box::new(wanted))).await,
            None => {
                let text = format!("The connection {name} takes no key, or there is none of that name.");
                let notice = Notice::new(Level::Warning, text).hint("/connection lists them");
                self.out.send(Event::Notice(notice)).await;
            }
        }
    }

    /// Stores a key. Every session that waits for it goes on.
    pub(super) fn store_key(&self, name: ConnectionName, key: Key) {
        let (shared, mailbox) = (self.shared.clone(), self.mailbox.clone());
        tokio::spawn(async move {
            let stored = shared.setup.connections.store_key(name.clone(), key).await;
            if stored.is_err() {
                let _ = mailbox.report(Report::Input(Input::Keyed(name, stored))).await;
                return;
            }
            let _ = mailbox.report(Report::Tell(Event::Connections(shared.setup.connections.infos()))).await;
            for mailbox in shared.sessions.mailboxes() {
                // One that ended waits for nothing.
                let _ = mailbox.control(Control::Keyed(name.clone()));
            }
        });
    }
}
