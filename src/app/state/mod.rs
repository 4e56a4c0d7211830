//! All that the screen knows, one file a concern.

pub mod chat;
