//! Wishes of a feature that another one fulfils: the router does them when the feature has returned.

use super::slash::Call;
use super::state::focus::Focus;
use crate::domain::ids::{ConnectionName, RequestId, SessionId};
use crate::domain::request::UserAnswer;
use crate::keymap::action::Action;

/// Wish of a feature for the router.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Intent {
    /// This verb.
    Act(Action),
    /// This verb, chosen from an overlay that was opened where `from` had the keys.
    ActFrom {
        /// Verb.
        action: Action,
        /// Focus before the overlay was opened.
        from: Focus,
    },
    /// This command.
    Run(Call),
    /// The command of the user's own that has this name.
    BeginOwn(String),
    /// The text of a repository's command, which was seen before.
    SendOwn {
        /// Hash of the file.
        hash: String,
        /// Text of the message.
        text: String,
    },
    /// The draft is the key of this connection.
    UseKey(ConnectionName),
    /// The draft holds a key and is sent all the same.
    SendKey,
    /// This text, in the composer of this session, which is shown for that.
    Write {
        /// Session that it is said to.
        session: SessionId,
        /// The text.
        text: String,
    },
    /// This answer to a request.
    Answer {
        /// Session of the request.
        session: SessionId,
        /// Request to answer.
        request: RequestId,
        /// The answer.
        answer: UserAnswer,
    },
}
