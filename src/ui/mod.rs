//! Drawing: the state goes in, cells come out; only the layout cache changes.

pub mod chat;
pub mod text;
