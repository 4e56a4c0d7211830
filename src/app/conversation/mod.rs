//! The conversation: reading, searching, marking and copying it, and keeping its rows.

pub(crate) mod colours;
pub(crate) mod copy;
pub(crate) mod drawn;
pub(crate) mod jump;
pub(crate) mod mark;
pub(crate) mod pictures;
pub(crate) mod reading;
pub(crate) mod rows;
pub(crate) mod search;
