//! The composer: writing, completing, sending, and files that go along.

pub(crate) mod attach;
pub(crate) mod chips;
pub(crate) mod completion;
pub(crate) mod editing;
pub(crate) mod enhance;
pub(crate) mod enter;
pub(crate) mod key_text;
pub(crate) mod reply;
pub(crate) mod send;
pub(crate) mod user_commands;
