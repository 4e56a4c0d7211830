//! Facts from the engine about the workspace and its models.

use super::catalogue::Catalogue;
use crate::domain::ids::{ConnectionName, SessionId};
use crate::domain::property::Properties;
use crate::domain::setting::Setting;
use crate::domain::workspace::Workspace;
use crate::protocol::Configured;
use std::collections::HashMap;

/// Line to the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EngineLine {
    /// The engine runs in this process and ends with it.
    #[default]
    Own,
    /// It runs in a gateway, which goes on without this client.
    Joined,
    /// The line to the gateway was lost, and is made again by itself.
    Reconnecting {
        /// Reason, as a sentence without its end.
        why: String,
        /// Messages that wait for it.
        waiting: usize,
    },
    /// The line is made again once the user does something.
    Down {
        /// Reason, as a sentence without its end.
        why: String,
        /// Messages that wait for it.
        waiting: usize,
    },
}

/// Facts from the engine and the runtime that hold for all sessions.
#[derive(Debug, Default)]
pub struct EngineFacts {
    /// Configuration as the engine reported it.
    pub config: Configured,
    /// Line to the engine.
    pub line: EngineLine,
    /// Statuses, labels and views of the workspace; empty until the engine told them.
    pub properties: Properties,
    /// Models that servers told, or why not.
    pub models: HashMap<ConnectionName, Result<Vec<String>, String>>,
    /// Model catalogue.
    pub catalogue: Catalogue,
    /// The user's settings, once they were asked for.
    pub settings: Vec<Setting>,
    /// The workspaces there are, once they were asked for.
    pub(crate) workspaces: Vec<Workspace>,
    /// The sequence number of the last event of the engine as a whole.
    pub(crate) seq: Option<u64>,
    /// A label that is being defined, and the sessions that get it then.
    pub(crate) new_label: Option<(String, Vec<SessionId>)>,
}
