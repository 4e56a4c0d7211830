//! The list of sessions, and ways between them.

pub(crate) mod deleted;
pub(crate) mod export;
pub(crate) mod list;
pub(crate) mod panes;
pub(crate) mod questions;
pub(crate) mod toggles;
pub(crate) mod turn;
pub(crate) mod walk;
