//! Requests of the engine to the user, and the answers.

use super::ids::{CallId, ConnectionName, RequestId};
use super::plan::PlanApproval;
use super::rule::{Offer, Rule, RuleScope};
use super::secret::{Key, on_the_wire};
use super::tool::Proposal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Request that waits for the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    /// Its id; the first answer to it counts.
    pub id: RequestId,
    /// Content of the request.
    pub ask: Ask,
}

impl Request {
    /// Hash of what is shown of it, which an answer quotes: SHA-256, in hex. A mode that changed meanwhile changes nothing of
    /// what runs.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut shown = self.clone();
        if let Ask::Approval(approval) = &mut shown.ask {
            approval.would_run_now = false;
        }
        // Values of the protocol are JSON; what were none would match nothing.
        super::plan::hash(&serde_json::to_string(&shown).unwrap_or_default())
    }
}

/// Content of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "ask")]
pub enum Ask {
    /// May this call run?
    Approval(Box<Approval>),
    /// Approval of a plan.
    Plan(PlanReview),
    /// The agent's own question.
    Question(AgentQuestion),
    /// May rules that somebody else wrote let things run?
    Trust(Box<TrustRequest>),
    /// The key of a connection is wanted.
    Key(Box<KeyRequest>),
}

/// The key of a connection is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyRequest {
    /// The connection.
    pub connection: ConnectionName,
    /// The server that the key is sent to, and no other: `https://api.openai.com`.
    pub host: String,
    /// Place where it will be stored: a path, or the system's store in words.
    pub stored: String,
    /// Reason: there is no key, or the server refused the existing one.
    pub why: String,
}

/// Subject of trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrustWhat {
    /// A workspace that another program made: its modes are not capped any more, and its rules count.
    Workspace,
    /// The `.lisle/permissions.json` of a repository, as it is now.
    Repository,
    /// A file that names programs or servers whose tools models call: the `.mcp.json` of a project, or one of a workspace
    /// that others write.
    Sources,
    /// Skills, agents and commands of a repository, or of a workspace that others write.
    Extensions,
}

/// May rules that somebody else wrote let things run? Until it is answered they only make things stricter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrustRequest {
    /// Subject of trust.
    pub what: TrustWhat,
    /// The workspace's folder, or the repository's file; of extensions the folder of all.
    pub path: PathBuf,
    /// SHA-256 (hex) of the file's bytes; empty for a workspace. A trust covers these bytes and no others.
    pub hash: String,
    /// Text of the file, or, where it was trusted before and changed since, the difference by lines
    /// that begin with `+`, `-` or a blank. Not sanitised.
    pub text: String,
    /// It was trusted before and changed since.
    #[serde(default)]
    pub changed: bool,
    /// Programs and addresses that it makes lisle start or ask, a line each. Not sanitised.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<String>,
}

/// May this call run?
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// The call that waits.
    pub call: CallId,
    /// The tool's name.
    pub tool: String,
    /// The path or the command, on one line.
    pub subject: String,
    /// Purpose, as the agent states it. Not sanitised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// The exact effect. The answer covers this and nothing else.
    pub proposal: Proposal,
    /// Reasons for asking, one sentence each.
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
    /// Scopes in which they can be kept.
    #[serde(default)]
    pub scopes: Vec<RuleScope>,
    /// The session was switched to a looser mode since: it would now run without being asked.
    #[serde(default)]
    pub would_run_now: bool,
    /// A catastrophic command: a yes needs more than a letter.
    #[serde(default)]
    pub irreversible: bool,
}

/// A simple command of a command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartShown {
    /// As it stands in the line. Not sanitised.
    pub text: String,
    /// Verdict.
    pub state: PartState,
    /// Risks, a few words each, the worst first.
    #[serde(default)]
    pub risks: Vec<String>,
    /// No other part of the line is riskier: it is shown first, and louder than the others.
    #[serde(default)]
    pub worst: bool,
}

/// Beginning of the reason that a file is changed, and nothing else. Its path follows.
pub const FILE_CHANGE: &str = "File change: ";

/// Verdict on a part of a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PartState {
    /// It only reads: it is not asked for.
    Reads,
    /// A rule or an earlier answer allows it.
    Allowed,
    /// It is what is asked for.
    Asked,
}

/// Plan to be approved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanReview {
    /// Its file.
    pub path: PathBuf,
    /// Its title.
    pub title: String,
    /// The plan as markdown.
    pub markdown: String,
    /// Origin of the text.
    #[serde(default)]
    pub origin: PlanOrigin,
    /// The workspace was made by another program: Execute cannot follow.
    #[serde(default)]
    pub capped: bool,
    /// It was approved, to be carried out after a compaction, when the program ended. It is asked for once more.
    #[serde(default)]
    pub resumes: bool,
}

/// Origin of a plan's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlanOrigin {
    /// The agent submitted it so.
    #[default]
    Submitted,
    /// The user edited it.
    EditedByUser,
    /// The file has changed.
    ChangedOnDisk,
}

/// The agent's own question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentQuestion {
    /// The call that waits for the answer.
    pub call: CallId,
    /// The question.
    pub text: String,
    /// Answers to choose from; may be empty. A free answer is always possible.
    pub options: Vec<String>,
}

/// The user's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "answer", content = "with")]
pub enum UserAnswer {
    /// Run it, this once.
    Once,
    /// Make the proposed change, this once, without these changed places: by their place over all files, from 0, in
    /// order. At least one place is left.
    OnceWithout(Vec<u32>),
    /// Run it, and keep these rules.
    Remember {
        /// Scope of the rules.
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
    #[schemars(with = "String")]
    Key(Key),
}

impl UserAnswer {
    /// Words of the user in it. Nothing of a key, and of rules only that they are kept.
    #[must_use]
    pub fn said(&self) -> Option<String> {
        let said = match self {
            Self::Instead(text)
            | Self::No(Some(text))
            | Self::PlanEdited(text)
            | Self::PlanChanges(text)
            | Self::Reply(text) => text.clone(),
            Self::PlanApprove(approval) => approval.said(),
            Self::Once
            | Self::OnceWithout(_)
            | Self::Remember { .. }
            | Self::No(None)
            | Self::PlanDecline
            | Self::Trust(_)
            | Self::Key(_) => {
                return None;
            }
        };
        (!said.trim().is_empty()).then_some(said)
    }
}
