//! The keys of connections: what is asked for when one is missing or refused, and what follows when one was given.

use super::super::mailbox::{Control, Report};
use super::SessionActor;
use crate::agent::machine_io::{Input, RunNo};
use crate::domain::ConnectionName;
use crate::domain::notice::{Level, Notice};
use crate::domain::secret::Key;
use crate::protocol::{EngineEvent, SessionEvent};
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
                let text = format!("Unknown connection, or it takes no key: {name}.");
                let notice = Notice::new(Level::Warning, text).hint("/connect lists them");
                self.out.send(SessionEvent::Notice(notice));
            }
        }
    }

    /// Stores a key that the server takes. Every session that waits for it goes on.
    pub(super) fn store_key(&self, name: ConnectionName, key: Key) {
        let (shared, mailbox) = (self.shared.clone(), self.mailbox.clone());
        tokio::spawn(async move {
            let connections = &shared.setup.connections;
            let listed = match connections.check_key(name.clone(), key.clone()).await {
                Ok(listed) => connections.store_key(name.clone(), key).await.map(|()| listed),
                Err(refused) => Err(refused),
            };
            let listed = match listed {
                Ok(listed) => listed,
                Err(why) => {
                    let _ = mailbox.report(Report::Input(Input::Keyed(name, Err(why)))).await;
                    return;
                }
            };
            if let Some(Ok(models)) = &listed {
                connections.learn(&name, models);
            }
            shared.out.send(EngineEvent::Connections(connections.infos()));
            if let Some(models) = listed {
                let _ = mailbox.report(Report::ModelsListed { connection: name.clone(), models }).await;
            }
            for mailbox in shared.sessions.mailboxes() {
                // One that ended waits for nothing.
                let _ = mailbox.control(Control::Keyed(name.clone()));
            }
        });
    }
}
