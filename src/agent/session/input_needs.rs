//! Needs of inputs before the machine takes them.

use crate::agent::machine_io::Input;
use crate::protocol::SessionCommand;
use crate::provider::{Chunk, Stop};
use crate::tools::RunError;

/// True if the input needs the rules of the files as they are now: a decision follows.
pub(super) fn needs_rules(input: &Input) -> bool {
    match input {
        Input::Inspected(..) => true,
        Input::Ran(_, _, ended) => matches!(**ended, Err(RunError::FactsChanged(_))),
        Input::Command(act) => {
            matches!(
                act,
                SessionCommand::Send { .. }
                    | SessionCommand::Steer { .. }
                    | SessionCommand::Retry
                    | SessionCommand::Answer { .. }
                    | SessionCommand::Mode { .. }
            )
        }
        _ => false,
    }
}

/// A turn may begin with this input, so the machine must know what its first request holds.
pub(super) fn may_ask(input: &Input) -> bool {
    match input {
        Input::Command(act) => matches!(
            act,
            SessionCommand::Send { .. }
                | SessionCommand::Steer { .. }
                | SessionCommand::Queue(_)
                | SessionCommand::Retry
                | SessionCommand::Compact { .. }
                | SessionCommand::Answer { .. }
                | SessionCommand::Model { .. }
                | SessionCommand::StandIn { .. }
        ),
        Input::Redeliver(_) | Input::Chunk(_, Chunk::Stopped(Stop::Done)) | Input::Summarised(..) => true,
        _ => false,
    }
}
