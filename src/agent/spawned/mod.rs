//! Spawned sessions: `call` makes one for a call of `spawn` and waits for its answer, `progress` is the link between it and
//! whoever waits, `family` has those that work now by their parents.

pub(super) mod call;
pub(super) mod family;
pub(super) mod progress;
