//! What the engine asks the user, and the answers.

use super::ids::{CallId, ConnectionName, RequestId};
use super::plan::PlanApproval;
use super::rule::{Offer, Rule, RuleScope};
use super::secret::{Key, on_the_wire};
use super::tool::Proposal;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Something that waits for the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Its id; the first answer to it counts.
    pub id: RequestId,
    /// What is asked.
    pub ask: Ask,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "ask")]
pub enum Ask {
    /// May this call run?
    Approval(Box<Approval>),
    /// Is this plan good?
    Plan(PlanReview),
    /// The agent's own question.
    Question(Question),
    /// May rules that somebody else wrote let things run?
    Trust(Box<TrustRequest>),
    /// The key of a connection is wanted.
    Key(Box<KeyRequest>),
}

/// The key of a connection is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRequest {
    /// The connection.
    pub connection: ConnectionName,
    /// The server that the key is sent to, and no other: `https://api.openai.com`.
    pub host: String,
    /// Where it will be stored: a path, or the system's store in words.
    pub stored: String,
    /// Why it is wanted: there is none, or the server refused the one there is.
    pub why: String,
}

/// What can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrustWhat {
    /// A workspace that another program made: its modes are not capped any more, and its rules count.
    Workspace,
    /// The `.lisle/permissions.json` of a repository, as it is now.
    Repository,
}

/// May rules that somebody else wrote let things run? Until it is answered they only make things stricter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustRequest {
    /// What is to be trusted.
    pub what: TrustWhat,
    /// The workspace's folder, or the repository's file.
    pub path: PathBuf,
    /// SHA-256 (hex) of the file's bytes; empty for a workspace. A trust covers these bytes and no others.
    pub hash: String,
    /// What it says: the file's text, or, where it was trusted before and changed since, the difference by lines that
    /// begin with `+`, `-` or a blank. Not sanitised.
    pub text: String,
    /// It was trusted before and changed since.
    #[serde(default)]
    pub changed: bool,
}

/// May this call run?
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// The call that waits.
    pub call: CallId,
    /// The tool's name.
    pub tool: String,
    /// The path or the command, on one line.
    pub subject: String,
    /// What the agent says that it is for. Not sanitised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// What exactly will happen. The answer covers this and nothing else.
    pub proposal: Proposal,
    /// Why it is asked, one sentence each.
    pub reasons: Vec<String>,
    /// Facts that make it riskier: outside the directory, network, deletes, sudo.
    pub risks: Vec<String>,
    /// The simple commands of a command line, in order. Empty where the line was not understood: then all that is said
    /// of it is guessed.
    #[serde(default)]
    pub parts: Vec<PartShown>,
    /// The rules that an answer would keep, one for each part that was not allowed before; empty where it is never
    /// remembered.
    #[serde(default)]
    pub offers: Vec<Offer>,
    /// For what they can be kept.
    #[serde(default)]
    pub scopes: Vec<RuleScope>,
    /// The session was switched to a looser mode since: it would now run without being asked.
    #[serde(default)]
    pub would_run_now: bool,
}

/// A simple command of a command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartShown {
    /// As it stands in the line. Not sanitised.
    pub text: String,
    /// What becomes of it.
    pub state: PartState,
    /// What makes it risky, a few words each, the worst first.
    #[serde(default)]
    pub risks: Vec<String>,
    /// No other part of the line is riskier: it is shown first, and louder than the others.
    #[serde(default)]
    pub worst: bool,
}

/// What becomes of a part of a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartState {
    /// It only reads: it is not asked for.
    Reads,
    /// A rule or an earlier answer allows it.
    Allowed,
    /// It is what is asked for.
    Asked,
}

/// Is this plan good?
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanReview {
    /// Its file.
    pub path: PathBuf,
    /// Its title.
    pub title: String,
    /// The plan as markdown.
    pub markdown: String,
    /// Where this text comes from.
    #[serde(default)]
    pub origin: PlanOrigin,
    /// The workspace was made by another program: Execute cannot follow.
    #[serde(default)]
    pub capped: bool,
    /// It was approved, to be carried out after a compaction, when the program ended. It is asked for once more.
    #[serde(default)]
    pub resumes: bool,
}

/// Where the text of a plan comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanOrigin {
    /// The agent submitted it so.
    #[default]
    Submitted,
    /// The user edited it.
    EditedByUser,
    /// Its file was found changed.
    ChangedOnDisk,
}

/// The agent's own question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The call that waits for the answer.
    pub call: CallId,
    /// The question.
    pub text: String,
    /// Answers to choose from; may be empty. A free answer is always possible.
    pub options: Vec<String>,
}

/// The user's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "answer", content = "with")]
pub enum Answer {
    /// Run it, this once.
    Once,
    /// Run it, and keep these rules.
    Remember {
        /// For what.
        scope: RuleScope,
        /// The rules as offered, or as the user edited them.
        rules: Vec<Rule>,
    },
    /// Run this command instead; it is judged anew.
    Instead(String),
    /// Do not run it; the text, if any, goes to the model.
    No(Option<String>),
    /// Go on with the plan.
    PlanApprove(PlanApproval),
    /// The plan reads like this now; it is asked for anew.
    PlanEdited(String),
    /// Plan again; the text goes to the model and Explore stays.
    PlanChanges(String),
    /// Drop the plan.
    PlanDecline,
    /// The answer to a question.
    Reply(String),
    /// The rules may count, or may not.
    Trust(bool),
    /// The key of a connection. It shows itself nowhere.
    #[serde(with = "on_the_wire")]
    Key(Key),
}

impl Answer {
    /// What the user wrote in it. Nothing of a key, and of rules only that they are kept.
    #[must_use]
    pub fn said(&self) -> Option<String> {
        let said = match self {
            Self::Instead(text)
            | Self::No(Some(text))
            | Self::PlanEdited(text)
            | Self::PlanChanges(text)
            | Self::Reply(text) => text.clone(),
            Self::PlanApprove(approval) => approval.said(),
            Self::Once | Self::Remember { .. } | Self::No(None) | Self::PlanDecline | Self::Trust(_) | Self::Key(_) => {
                return None;
            }
        };
        (!said.trim().is_empty()).then_some(said)
    }
}
