//! The way to a model: the choice of the first screen, a key that is asked for or checked, and a conversation that goes on
//! with another connection.

use super::State;
use super::hidden::Hidden;
use crate::domain::ids::{At, ConnectionName, DEMO, SessionId};
use crate::protocol::ConnectionInfo;

/// Input on its way.
#[derive(Debug, Default)]
pub struct Connecting {
    /// The user wants to give the key of this connection: its field gets the focus when the engine asks for it.
    pub(crate) wanted: Option<ConnectionName>,
    /// Key that goes into the field.
    pub(crate) given: Option<Hidden>,
    /// Key that a server checks.
    pub(crate) checking: Option<Check>,
    /// Address of the server that is asked for its models, and whether it was written into the prompt for one.
    pub(crate) adds: Option<(String, Prompted)>,
    /// This conversation goes on in a branch, with this model of this connection.
    pub(crate) continues: Option<(SessionId, ConnectionName, String)>,
    /// Selected row of the first screen.
    pub(crate) first: usize,
    /// Chosen there, while the session is being made.
    pub(crate) chosen: Option<ConnectionName>,
    /// The demo was chosen there.
    pub(crate) demo: bool,
}

/// Way in which an address was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prompted {
    /// In the prompt for it.
    Yes,
    /// Behind a command: a script's next line is no other address.
    No,
}

/// Check of a key: its server is asked for the models.
#[derive(Debug)]
pub struct Check {
    /// The connection.
    pub connection: ConnectionName,
    /// Start.
    pub since: At,
    /// The key that stands in the field goes next, if the server refuses this one.
    pub next: bool,
    /// The key is stored; the list of models may still come.
    pub(crate) stored: bool,
}

/// Row of the first screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstRow {
    /// Name of who would answer.
    pub name: String,
    /// Its kind, and what it needs.
    pub about: String,
    /// The connection; `None` for a server whose address is asked for.
    pub connection: Option<ConnectionName>,
}

/// Name of a server that is added by its address.
pub const OTHER: &str = "Other server";

/// Name of a vendor as it writes itself, and its models in a word.
fn vendor(name: &str) -> Option<(&'static str, &'static str)> {
    match name {
        "anthropic" => Some(("Anthropic", "Claude")),
        "openai" => Some(("OpenAI", "GPT")),
        "gemini" => Some(("Gemini", "Google")),
        "openrouter" => Some(("OpenRouter", "models from many vendors")),
        _ => None,
    }
}

fn row(info: &ConnectionInfo, keyed: bool) -> FirstRow {
    let (name, models) = vendor(info.name.as_str()).map_or((info.name.as_str(), ""), |known| known);
    let host = info.host.split("://").last().unwrap_or_default();
    let needs = match (&info.key_from, &info.missing) {
        _ if !keyed || info.wants_key() => "needs a key".to_owned(),
        (_, Some(missing)) => missing.clone(),
        (Some(from), None) => format!("key {from}"),
        (None, None) => format!("found at {host}"),
    };
    let about = [models, &needs].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ");
    FirstRow { name: name.to_owned(), about, connection: Some(info.name.clone()) }
}

impl State {
    /// Key that a server checks now.
    #[must_use]
    pub fn checked_key(&self) -> Option<&Check> {
        self.connecting.checking.as_ref().filter(|check| !check.stored)
    }

    /// Rows of the first screen: nothing is configured and nothing was said yet. `None` elsewhere.
    #[must_use]
    pub fn first_choice(&self) -> Option<Vec<FirstRow>> {
        let config = &self.engine.config;
        let usable = |info: &ConnectionInfo| !info.offered && info.missing.is_none() && info.provider != DEMO;
        let begun = self.current_open().is_some_and(|open| !open.chat.entries.is_empty() || open.panel.is_some());
        let used = self.sessions.metas().any(|meta| meta.messages > 0);
        let configured = config.connections.is_empty() || config.connections.iter().any(usable);
        if configured || begun || used || self.connecting.demo || !self.sessions.loaded {
            return None;
        }
        let demo = config.connections.iter().find(|info| info.provider == DEMO).map(|info| FirstRow {
            name: "Demo".to_owned(),
            about: "try without a key".to_owned(),
            connection: Some(info.name.clone()),
        });
        let others = config.connections.iter().filter(|info| info.provider != DEMO);
        // What can be used at once stands before what needs a key.
        let (ready, lacking): (Vec<_>, Vec<_>) = others.partition(|info| info.missing.is_none());
        let known = |info: &&ConnectionInfo| config.connections.iter().all(|one| one.name != info.name);
        let vendors = config.vendors.iter().filter(known);
        let there = ready.into_iter().chain(lacking).map(|info| row(info, true));
        let other =
            FirstRow { name: OTHER.to_owned(), about: "any OpenAI-compatible address".to_owned(), connection: None };
        let vendors = vendors.map(|info| row(info, false));
        Some(demo.into_iter().chain(there).chain(vendors).chain([other]).collect())
    }

    /// Selected row of the first screen.
    #[must_use]
    pub fn first_selected(&self) -> usize {
        self.connecting.first
    }
}
