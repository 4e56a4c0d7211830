//! Meaning of an input line in linear mode, where lines are read instead of keys.
//!
//! `ui::linear` reads it by what was printed before; here it says what it is about, so that no line answers a question that
//! it was not written for.

use super::state::hidden::Hidden;
use super::state::panel::Choice;
use crate::domain::ids::RequestId;

/// Meaning of an input line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A message, or a command that is written as one.
    Say(String),
    /// The draft is sent as it stands.
    SendDraft,
    /// The draft is put away into the history.
    DropDraft,
    /// This answer to this request.
    Answer {
        /// Request to answer.
        request: RequestId,
        /// The answer as it was offered.
        choice: Choice,
    },
    /// A yes, once, to the change that this request is about, without these of its changed places.
    Without {
        /// Request to answer.
        request: RequestId,
        /// The places, from 0.
        places: Vec<usize>,
    },
    /// The words that the answer to this request needs; none lead back to the answers.
    Words {
        /// Request to answer.
        request: RequestId,
        /// The words.
        text: String,
    },
    /// The answer in the user's own words to this question of the agent.
    Reply {
        /// Request to answer.
        request: RequestId,
        /// The words.
        text: String,
    },
    /// The key that this request wants; none leads back to the answers.
    Key {
        /// Request to answer.
        request: RequestId,
        /// The key, which shows itself nowhere.
        key: Hidden,
    },
    /// This row of the topmost overlay, as a click on it.
    Row(usize),
    /// Enter in the topmost overlay.
    Accept,
    /// This text in the input of the topmost overlay, in place of what stood there.
    Input(String),
    /// Out of the topmost overlay.
    Back,
    /// Ctrl+C came as a signal: what is open closes, else the turn stops; where nothing runs, twice quits.
    Interrupt,
    /// The input ended on an empty line: quits, and asks where turns run.
    End,
}
