//! Equal calls in a row, within a turn.

use crate::domain::tool::without_intent;
use crate::provider::ProposedCall;
use serde_json::Value;

/// Number of equal calls in a row that ask, whatever the mode.
const REPEATS_THAT_ASK: u32 = 3;

/// So often the same three calls may come where nobody can be asked; then the turn ends.
const STRIKES: u32 = 2;

/// The tool that may be called again and again with the same input.
const POLLS: &str = "job_output";

/// Repeated calls of a turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeats {
    /// The last call, by name and input.
    last: Option<(String, Value)>,
    /// Number of times that it came in a row.
    count: u32,
    /// Number of times that the same call came three times in a row and nobody could be asked.
    strikes: u32,
}

impl Repeats {
    /// Counts a call. True if this is the third equal one in a row.
    pub(super) fn count(&mut self, call: &ProposedCall) -> bool {
        // To ask again how far a job is is what it is for.
        if call.name == POLLS {
            return false;
        }
        let this = (call.name.clone(), without_intent(&call.input));
        if self.last.as_ref() == Some(&this) {
            self.count += 1;
        } else {
            self.last = Some(this);
            self.count = 1;
        }
        if self.count < REPEATS_THAT_ASK {
            return false;
        }
        self.count = 0;
        self.last = None;
        true
    }

    /// The same call came three times in a row, and nobody can be asked about it.
    pub(super) fn strike(&mut self) {
        self.strikes += 1;
    }

    /// True if the turn is to end for it.
    pub(super) fn is_out(&self) -> bool {
        self.strikes >= STRIKES
    }
}
