//! Rules: what remembers an answer, or was written by hand. Deny beats ask beats allow, whatever their order.
//!
//! The format is the `rules` array of `permissions.json`. How a rule is matched is the permission function's.

mod words;

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a rule does with a call that it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// The call runs where the table of the modes would ask.
    Allow,
    /// The call is asked for where the table would let it run.
    Ask,
    /// The call does not run, in any mode.
    Deny,
}

/// One rule. What is left out matches everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// What it does.
    pub effect: Effect,
    /// lisle's name of the tool: `bash`, `edit`, `fetch` …; `*` for every tool.
    pub tool: String,
    /// The program of a simple command, as it is named in the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The arguments of a simple command, each exactly. `./**` stands for one path at or below the working directory,
    /// `*` in last place for one free text; neither stands for an option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<String>>,
    /// A file, or with `/**` at its end everything below a folder; `./` begins at the working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// A host of the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Why it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// How long and for what a rule holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleScope {
    /// This session.
    Session,
    /// This workspace: its `permissions.json`.
    Workspace,
    /// Every workspace of the user: `permissions.json` in the config folder.
    User,
    /// The repository that the session works in: `.lisle/permissions.json`.
    Repository,
}

/// A rule in force, with where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownRule {
    /// The rule.
    pub rule: Rule,
    /// For what it holds.
    pub scope: RuleScope,
    /// The file that it stands in; `None` for one of the session's.
    #[serde(default)]
    pub file: Option<PathBuf>,
    /// How many calls it decided on since it is known here.
    #[serde(default)]
    pub hits: u64,
    /// It can be removed from here.
    #[serde(default)]
    pub removable: bool,
}

/// A rule that an answer would keep, for a part of what is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// The rule.
    pub rule: Rule,
    /// Something harmless that it would also let run.
    #[serde(default)]
    pub harmless: Option<String>,
    /// The worst that is known of what it would also let run.
    #[serde(default)]
    pub worst: Option<String>,
}

impl Rule {
    /// A rule that allows everything of a tool: to be narrowed by its other fields.
    #[must_use]
    pub fn allow(tool: &str) -> Self {
        let tool = tool.to_owned();
        Self { effect: Effect::Allow, tool, program: None, args: None, path: None, host: None, note: None }
    }

    /// The rule on one line: `git commit -m *`, `edit ./**`. Not sanitised.
    #[must_use]
    pub fn in_words(&self) -> String {
        let mut said: Vec<&str> = Vec::new();
        match &self.program {
            Some(program) => said.push(program),
            None => said.push(&self.tool),
        }
        said.extend(self.args.iter().flatten().map(String::as_str));
        said.extend(self.path.as_deref());
        said.extend(self.host.as_deref());
        said.into_iter().map(words::quoted).collect::<Vec<_>>().join(" ")
    }
}
