//! Audit log of a session: every tool call with the mode, what let it run or stopped it, and what held it back; and the
//! clients that sent messages.
//!
//! It is no file of its own: it is read from the rows of the session, in which each decision is kept with its call.

use super::ids::{At, CallId, MessageId, SessionId};
use super::message::{Body, Message};
use super::permission::{Authority, Decision};
use super::tool::ToolStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Audit log of one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditLog {
    /// Session id.
    pub session: SessionId,
    /// Its tool calls, oldest first.
    pub entries: Vec<AuditEntry>,
    /// Earlier calls that were left out because there are too many.
    #[serde(default)]
    pub left_out: usize,
    /// Messages of the user that a client of a gateway sent, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<AuditMessage>,
}

/// One message of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditMessage {
    /// Time of the message.
    pub at: At,
    /// Message id.
    pub message: MessageId,
    /// Client that sent it, by name. Not sanitised.
    pub client: String,
    /// Beginning of its text. Not sanitised.
    pub subject: String,
}

/// One tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// Time of the proposal.
    pub at: At,
    /// The provider's id of the call.
    pub call: CallId,
    /// The tool's name.
    pub tool: String,
    /// The path, the command or the pattern. Not sanitised.
    pub subject: String,
    /// State of the call.
    pub status: ToolStatus,
    /// The exit status of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// Decision; `None` for calls that were never decided on, and for those of other programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
}

/// Outcome of a call, as far as permission goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It was allowed to run.
    Ran,
    /// It was refused.
    Refused,
    /// It waits to be decided on.
    Waits,
    /// It ended before anything was decided: stopped, skipped, or wrong.
    Dropped,
    /// Another program ran it; how it decided is not known here.
    Elsewhere,
}

impl Fate {
    /// In a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Fate::Ran => "ran",
            Fate::Refused => "refused",
            Fate::Waits => "waits",
            Fate::Dropped => "dropped",
            Fate::Elsewhere => "elsewhere",
        }
    }
}

impl AuditEntry {
    /// Outcome.
    #[must_use]
    pub fn fate(&self) -> Fate {
        match (&self.decision, self.status) {
            (Some(decision), _) if decision.allowed => Fate::Ran,
            (Some(_), _) => Fate::Refused,
            (None, ToolStatus::Pending) => Fate::Waits,
            (None, ToolStatus::Error) => Fate::Dropped,
            (None, ToolStatus::Executing | ToolStatus::Completed | ToolStatus::Backgrounded) => Fate::Elsewhere,
        }
    }
}

/// Characters of a message in the log.
const SUBJECT: usize = 200;

impl AuditMessage {
    /// The message of a row, if a client of a gateway sent it.
    fn of(row: &Message) -> Option<Self> {
        let Body::User(said) = &row.body else { return None };
        let subject = said.told().chars().take(SUBJECT).collect();
        Some(Self { at: row.at, message: row.id.clone(), client: said.client.clone()?, subject })
    }
}

impl AuditLog {
    /// Reads it from the rows of a session, keeping the last `most` calls.
    #[must_use]
    pub fn of(session: SessionId, rows: &[Message], most: usize) -> Self {
        let calls = rows.iter().filter_map(|row| match &row.body {
            Body::Tool(call) => Some((row.at, call)),
            _ => None,
        });
        let mut entries: Vec<AuditEntry> = calls
            .map(|(at, call)| AuditEntry {
                at,
                call: call.id.clone(),
                tool: call.name.clone(),
                subject: call.subject.clone(),
                status: call.status,
                exit: call.figures.exit,
                decision: call.decision.clone(),
            })
            .collect();
        let left_out = entries.len().saturating_sub(most);
        entries.drain(..left_out);
        let mut messages: Vec<AuditMessage> = rows.iter().filter_map(AuditMessage::of).collect();
        messages.drain(..messages.len().saturating_sub(most));
        Self { session, entries, left_out, messages }
    }

    /// Number of calls with this outcome.
    #[must_use]
    pub fn count(&self, fate: Fate) -> usize {
        self.entries.iter().filter(|entry| entry.fate() == fate).count()
    }
}

impl Authority {
    /// Authority of the decision, in a few words.
    #[must_use]
    pub fn in_words(&self) -> String {
        match self {
            Authority::Mode => "mode".to_owned(),
            Authority::Rule(rule) => format!("rule: {rule}"),
            Authority::Grant(answer) => format!("your earlier answer: {answer}"),
            Authority::Person => "you".to_owned(),
            Authority::Typed => "you (typed)".to_owned(),
            Authority::Nobody => "nobody available to ask".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;
    use crate::domain::message::UserText;
    use crate::domain::permission::{Mode, Sandbox};
    use crate::domain::tool::{ToolCall, ToolFigures};

    fn call(id: &str, status: ToolStatus, decision: Option<bool>) -> Message {
        let decision = decision.map(|allowed| Decision {
            allowed,
            mode: Mode::Explore,
            authority: Authority::Mode,
            reason: String::new(),
            sandbox: Sandbox::ReadOnly,
            client: None,
        });
        let call = ToolCall {
            id: CallId::new(id),
            name: "bash".into(),
            input: serde_json::json!({"command": "ls"}),
            subject: "ls".into(),
            status,
            result: None,
            millis: None,
            figures: ToolFigures { exit: Some(1), ..ToolFigures::default() },
            decision,
        };
        Message::new(MessageId::new(id), At(7), Body::Tool(Box::new(call)))
    }

    #[test]
    fn every_call_has_a_fate() {
        use ToolStatus::{Completed, Error, Executing, Pending};
        let rows = [
            call("a", Completed, Some(true)),
            call("b", Error, Some(true)),
            call("c", Error, Some(false)),
            call("d", Pending, None),
            call("e", Error, None),
            call("f", Completed, None),
            call("g", Executing, Some(true)),
        ];
        let session = SessionId::parse("s").unwrap();
        let log = AuditLog::of(session.clone(), &rows, 100);
        let fates: Vec<Fate> = log.entries.iter().map(AuditEntry::fate).collect();
        use Fate::{Dropped, Elsewhere, Ran, Refused, Waits};
        assert_eq!(fates, [Ran, Ran, Refused, Waits, Dropped, Elsewhere, Ran]);
        assert_eq!((log.count(Ran), log.left_out), (3, 0));
        let last = AuditLog::of(session.clone(), &rows, 2);
        assert_eq!((last.entries.len(), last.left_out), (2, 5));
        assert_eq!(last.entries[0].call.as_str(), "f");
    }

    #[test]
    fn messages_name_the_client_that_sent_them() {
        let said = |id: &str, client: Option<&str>| {
            let text = UserText { client: client.map(str::to_owned), ..UserText::from("look") };
            Message::new(MessageId::new(id), At(7), Body::User(text))
        };
        let rows = [said("a", None), said("b", Some("phone (token anna)")), call("c", ToolStatus::Completed, None)];
        let log = AuditLog::of(SessionId::parse("s").unwrap(), &rows, 100);
        let shown: Vec<(&str, &str, &str)> =
            log.messages.iter().map(|one| (one.message.as_str(), one.client.as_str(), one.subject.as_str())).collect();
        assert_eq!(shown, [("b", "phone (token anna)", "look")]);
    }
}
