//! The screen's state and how messages change it: pure, without clock, disk or terminal.

pub mod state;
