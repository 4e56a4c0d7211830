//! Values between the engine and one client: numbered requests down; replies, and events, up.
//!
//! A reply goes to the client that asked and takes no number of its own: what belongs to a request are events that
//! name it ([`Stamped::re`]), and last a [`Reply`].

use super::{Command, Stamped};
use crate::domain::ids::MessageId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Command with the number that its reply quotes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientRequest {
    /// Number chosen by the client, from 1. It may repeat between clients.
    pub id: u64,
    /// Id of the message that the command sends, chosen by the client: the row keeps it, and the engine takes no second one
    /// with it, ever. 8 to 64 letters, digits, `-` and `_`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
    /// Command.
    #[serde(flatten)]
    pub command: Command,
}

impl ClientRequest {
    /// Request whose message, if it sends one, gets its id from the engine.
    #[must_use]
    pub fn new(id: u64, command: Command) -> Self {
        Self { id, message: None, command }
    }
}

/// Value for one client, in the order in which they are sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToClient {
    /// Event. Clients share it, so that one for many is held once.
    Event(Arc<Stamped>),
    /// End of a request.
    Reply(Reply),
    /// The client fell too far behind: nothing follows. It may connect anew.
    CutOff {
        /// Reason, as a sentence.
        why: String,
    },
}

/// End of a request: nothing more comes for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reply {
    /// [`ClientRequest::id`].
    pub id: u64,
    /// Reason why the command was not done; `None` if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Box<CommandError>>,
}

/// Reason why a command was not done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandError {
    /// Code, for programs.
    pub code: ErrorCode,
    /// Reason, as a sentence. Not sanitised.
    pub message: String,
    /// The same command may succeed later.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retryable: bool,
    /// The client got an event with these words as well, so it need not show them again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub told: bool,
}

/// Code of an error of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "CommandErrorCode")]
pub enum ErrorCode {
    /// The client's scopes do not cover the command.
    Forbidden,
    /// The message was taken before: nothing was done again.
    Duplicate,
    /// The answered request is not the one that was shown to the client, or no longer waits.
    Stale,
    /// The command was refused or failed.
    Failed,
    /// The engine ends, or the session ended inside lisle.
    Unavailable,
}

/// Permission of a client to send commands of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// List, history, events.
    Read,
    /// Send, stop, queue, properties of sessions.
    Write,
    /// Answers to requests.
    Approve,
    /// Execute, the user's own commands, working directory, paths of files, keys, rules, trust, end of the engine.
    Admin,
}

impl Scope {
    /// All of them, the weakest first.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Approve, Self::Admin];

    /// Name, as a token says it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Approve => "approve",
            Self::Admin => "admin",
        }
    }
}

/// Scopes of a client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Scopes(BTreeSet<Scope>);

impl Scopes {
    /// All of them: a client in the same process, and the owner of the machine.
    #[must_use]
    pub fn all() -> Self {
        Self::of([Scope::Read, Scope::Write, Scope::Approve, Scope::Admin])
    }

    /// These alone.
    #[must_use]
    pub fn of(scopes: impl IntoIterator<Item = Scope>) -> Self {
        Self(scopes.into_iter().collect())
    }

    /// Names, as a token says them.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|scope| scope.name()).collect()
    }

    /// True if they cover a command of this scope. `Admin` covers all, and each of the others covers `Read`.
    #[must_use]
    pub fn cover(&self, scope: Scope) -> bool {
        self.0.contains(&scope) || self.0.contains(&Scope::Admin) || (scope == Scope::Read && !self.0.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_cover_what_they_imply() {
        use Scope::{Admin, Approve, Read, Write};
        let cases: &[(&[Scope], &[Scope])] = &[
            (&[], &[]),
            (&[Read], &[Read]),
            (&[Write], &[Read, Write]),
            (&[Approve], &[Read, Approve]),
            (&[Write, Approve], &[Read, Write, Approve]),
            (&[Admin], &[Read, Write, Approve, Admin]),
        ];
        for (has, covered) in cases {
            let scopes = Scopes::of(has.iter().copied());
            for scope in [Read, Write, Approve, Admin] {
                assert_eq!(scopes.cover(scope), covered.contains(&scope), "{has:?} {scope:?}");
            }
        }
    }
}
