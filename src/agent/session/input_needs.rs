//! Needs of inputs before the machine takes them.

use crate::agent::step::Input;
use crate::protocol::Act;
use crate::provider::{Chunk, Stop};
use crate::tools::RunError;

/// True if the input needs the rules of the files as they are now: a decision follows.
pub(super) fn needs_rules(input: &Input) -> bool {
    match input {
        Input::Inspected(..) => true,
        Input::Ran(_, _, ended) => matches!(**ended, Err(RunError::FactsChanged(_))),
        Input::Act(act) => {
            matches!(act, Act::Send { .. } | Act::Steer { .. } | Act::Retry | Act::Answer { .. } | Act::Mode { .. })
        }
        _ => false,
    }
}

/// A turn may begin with this input, so the machine must know what its first request holds.
pub(super) fn may_ask(input: &Input) -> bool {
    match input {
        Input::Act(act) => matches!(
            act,
            Act::Send { .. }
                | Act::Steer { .. }
                | Act::Queue(_)
                | Act::Retry
                | Act::Compact { .. }
                | Act::Answer { .. }
                | Act::Model { .. }
                | Act::StandIn { .. }
        ),
        Input::Redeliver(_) | Input::Chunk(_, Chunk::Stopped(Stop::Done)) | Input::Summarised(..) => true,
        _ => false,
    }
}
