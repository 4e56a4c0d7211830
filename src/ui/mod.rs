//! Drawing: the state goes in, cells come out; only the layout cache changes.

pub mod cells;
pub mod chat;
pub mod figures;
pub mod glyphs;
pub mod layout;
pub mod text;
