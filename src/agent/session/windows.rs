//! Size of a model's context window, asked of the server when an answer came and nobody knew. Some
//! servers, Ollama first of all, report it only while the model runs, and silently cut a longer
//! conversation.

use super::super::mailbox::Report;
use super::SessionActor;
use crate::protocol::EngineEvent;

impl SessionActor {
    /// Asks the server for its models, once in the life of this task. The provider remembers the answer; the next request uses it.
    pub(super) fn ask_for_windows(&mut self) {
        let setup = &self.shared.setup;
        if self.sources.windows_asked() || self.machine.asks_nobody() {
            return;
        }
        let Some(name) = self.machine.meta().asked().cloned() else { return };
        let asks = setup.connections.info(&name).is_some_and(|info| !info.host.is_empty());
        let Some(provider) = setup.connections.provider(&name).filter(|_| asks) else { return };
        self.sources.ask_windows();
        let (mailbox, connections, out) = (self.mailbox.clone(), setup.connections.clone(), self.shared.out.clone());
        tokio::spawn(async move {
            let models = provider.models().await.map_err(|error| error.to_string());
            if let Err(why) = &models {
                tracing::info!("Can't list the models of {name}: {why}");
            }
            if models.as_ref().is_ok_and(|models| connections.learn(&name, models)) {
                out.send(EngineEvent::Connections(connections.infos()));
            }
            let _ = mailbox.report(Report::ModelsListed { connection: name, models }).await;
        });
    }
}
