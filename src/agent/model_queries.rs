//! Questions about connections and their models: what a server lists, what is known of a model, and a server that is added.

use super::connections::{AddedServer, Connections};
use super::event_outbox::EngineOutbox;
use crate::domain::ConnectionName;
use crate::domain::model::LevelMeaning;
use crate::domain::session::ThinkingLevel;
use crate::protocol::EngineEvent;
use crate::provider::figures::built_in;

/// Asks the server of a connection for its models.
pub(super) fn models(connections: &Connections, connection: ConnectionName, out: EngineOutbox) {
    let connections = connections.clone();
    let provider = connections.provider(&connection);
    tokio::spawn(async move {
        let models = match provider {
            Some(provider) => provider.models().await.map_err(|error| error.to_string()),
            None => Err(format!("No connection named {connection}.")),
        };
        let learned = models.as_ref().is_ok_and(|models| connections.learn(&connection, models));
        if learned {
            out.send(EngineEvent::Connections(connections.infos()));
        }
        out.send(EngineEvent::Models { connection, models });
    });
}

/// Adds a server and asks it for its models.
pub(super) fn add_server(connections: &Connections, address: String, everybody: EngineOutbox, out: EngineOutbox) {
    let connections = connections.clone();
    tokio::spawn(async move {
        let added = match connections.add_server(address.clone()).await {
            Ok(added) => added,
            Err(why) => return out.send(EngineEvent::ServerNotAdded { address, why }),
        };
        let AddedServer { name: connection, wants_key, models } = added;
        everybody.send(EngineEvent::Connections(connections.infos()));
        if models.as_ref().is_ok_and(|models| connections.learn(&connection, models)) {
            everybody.send(EngineEvent::Connections(connections.infos()));
        }
        out.send(EngineEvent::Models { connection: connection.clone(), models });
        out.send(EngineEvent::ServerAdded { connection, wants_key });
    });
}

/// Tells what is known of models, also of a connection that cannot be used yet.
pub(super) fn figures(connections: &Connections, connection: ConnectionName, models: &[String], out: &EngineOutbox) {
    let provider = connections.provider(&connection);
    let known = |model: &String| match &provider {
        Some(provider) => provider.known(model).told(model),
        None => built_in(model).told(model),
    };
    let models = models.iter().map(known).collect();
    out.send(EngineEvent::Figures { connection, models });
}

/// Tells what the thinking levels mean to a model.
pub(super) fn levels(connections: &Connections, connection: ConnectionName, model: &str, out: &EngineOutbox) {
    let Some(provider) = connections.provider(&connection) else { return };
    let meaning = |level| LevelMeaning { level, meaning: provider.level(model, level) };
    let levels = ThinkingLevel::ALL.into_iter().map(meaning).collect();
    out.send(EngineEvent::Levels { connection, model: model.to_owned(), levels });
}
