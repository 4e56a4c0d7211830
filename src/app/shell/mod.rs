//! Shared by features: the shown session, the draft, focus, overlays opened and closed, changes of sessions, quitting.
//!
//! Imports the state alone; features and the router stand above.

pub(crate) mod attachments;
pub(crate) mod command_table;
pub(crate) mod connecting;
pub(crate) mod connections;
pub(crate) mod draft;
pub(crate) mod focus;
pub(crate) mod labels;
pub(crate) mod models;
pub(crate) mod overlay;
pub(crate) mod quit;
pub(crate) mod scroll;
pub(crate) mod session;
pub(crate) mod session_changes;
pub(crate) mod session_list;
pub(crate) mod text;
pub(crate) mod trail;
