//! Upkeep of sessions that nobody writes: verifying, repairing, emptying, the trash, and the contents that undo needs.

pub mod checkpoints;
pub(super) mod clear;
pub(super) mod repair;
pub(super) mod trash;
pub(super) mod verify;
