//! Holds the structure of the sources: the walls between the rooms, and the sizes and circles inside them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod docs;
mod features;
mod opens;
mod source;
mod structure;
mod walls;
mod wording;
