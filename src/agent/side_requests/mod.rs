//! Side requests: what a small model is asked beside the turns. `titles` names sessions, `enhance` rewrites a draft.

pub mod enhance;
pub mod titles;
