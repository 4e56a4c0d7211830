//! Extensions as clients see them: sources, skills, agents and commands, where each comes from, and its state.

use super::source::{SourceState, SourceView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Owner of an extension's file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExtensionOrigin {
    /// The user, in the folder of the configuration.
    #[default]
    User,
    /// The user, in a folder of other programs: `~/.claude`, `~/.agents`.
    Home,
    /// The workspace.
    Workspace,
    /// The repository, above the directory where tools work: whoever wrote the repository wrote it.
    Repository,
}

impl ExtensionOrigin {
    /// In a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            ExtensionOrigin::User => "yours",
            ExtensionOrigin::Home => "home",
            ExtensionOrigin::Workspace => "workspace",
            ExtensionOrigin::Repository => "repository",
        }
    }
}

/// Kind of an extension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExtensionKind {
    /// Server whose tools models call.
    Source,
    /// Instructions for a task, loaded on use.
    Skill,
    /// Persona.
    Agent,
    /// Text that is sent by its name.
    #[default]
    Command,
}

impl ExtensionKind {
    /// In a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            ExtensionKind::Source => "source",
            ExtensionKind::Skill => "skill",
            ExtensionKind::Agent => "agent",
            ExtensionKind::Command => "command",
        }
    }
}

/// State of an extension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum ExtensionState {
    /// Usable.
    On,
    /// Not used; a source that the session does not use, or a name that another one has.
    Off {
        /// Reason, a sentence; may be empty. Not sanitised.
        why: String,
    },
    /// Its file is not trusted.
    NotTrusted,
    /// Its file can't be used.
    Failed {
        /// Reason, a sentence. Not sanitised.
        why: String,
    },
}

impl ExtensionState {
    /// One or two words.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            ExtensionState::On => "on",
            ExtensionState::Off { .. } => "off",
            ExtensionState::NotTrusted => "not trusted",
            ExtensionState::Failed { .. } => "failed",
        }
    }

    /// Reason of a state that has one.
    #[must_use]
    pub fn why(&self) -> Option<&str> {
        match self {
            ExtensionState::Off { why } | ExtensionState::Failed { why } => {
                Some(why.as_str()).filter(|why| !why.is_empty())
            }
            ExtensionState::On | ExtensionState::NotTrusted => None,
        }
    }
}

/// One extension of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionView {
    /// Kind.
    pub kind: ExtensionKind,
    /// Name by which it is used.
    pub name: String,
    /// Description in a line. Not sanitised.
    pub description: String,
    /// Owner of its file.
    pub origin: ExtensionOrigin,
    /// Its file.
    pub file: PathBuf,
    /// State.
    #[serde(flatten)]
    pub state: ExtensionState,
    /// Tokens that it adds to each request, estimated.
    pub tokens: u64,
    /// Effects beside its text, a line each: sources that it needs, tools that it allows, commands that it runs. Not
    /// sanitised.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl ExtensionView {
    /// A source as one of the extensions.
    #[must_use]
    pub fn of_source(source: &SourceView, origin: ExtensionOrigin) -> Self {
        let state = match &source.state {
            SourceState::NotTrusted => ExtensionState::NotTrusted,
            SourceState::Failed { why } | SourceState::Unsupported { why } => {
                ExtensionState::Failed { why: why.clone() }
            }
            SourceState::Idle | SourceState::Starting | SourceState::Ready if source.on => ExtensionState::On,
            SourceState::Idle | SourceState::Starting | SourceState::Ready => {
                ExtensionState::Off { why: "Turn it on with /sources.".to_owned() }
            }
        };
        let tokens = if state == ExtensionState::On { source.tokens() } else { 0 };
        Self {
            kind: ExtensionKind::Source,
            name: source.slug.clone(),
            description: source.target.clone(),
            origin,
            file: source.file.clone(),
            state,
            tokens,
            notes: Vec::new(),
        }
    }
}

/// Longest slug, in characters.
const LONGEST_SLUG: usize = 64;

/// Fault of a name as half a sentence; `None` if a skill, an agent or a command can have it.
#[must_use]
pub fn slug_fault(slug: &str) -> Option<&'static str> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    if slug.is_empty() || slug.chars().count() > LONGEST_SLUG {
        return Some("use 1 to 64 characters");
    }
    (!slug.chars().all(plain)).then_some("use lowercase letters a to z, digits, - and _")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::source::SourceToolView;

    #[test]
    fn names_are_plain() {
        for good in ["pdf", "code-review", "a_1"] {
            assert_eq!(slug_fault(good), None, "{good}");
        }
        for bad in ["", "PDF", "a b", "../x", "..", "a/b", "pаypal", "\u{1b}[1m", &"x".repeat(65)] {
            assert!(slug_fault(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn a_source_is_shown_by_what_the_session_does_with_it() {
        let tool = SourceToolView { name: "mcp__a__b".into(), read_only: true, tokens: 40 };
        let source = |on, state| SourceView {
            slug: "a".into(),
            name: "A".into(),
            target: "prog".into(),
            file: "/w/sources/a/config.json".into(),
            on,
            state,
            tools: vec![tool.clone()],
        };
        for (on, state, word, tokens) in [
            (true, SourceState::Ready, "on", 40),
            (true, SourceState::Idle, "on", 40),
            (false, SourceState::Ready, "off", 0),
            (true, SourceState::NotTrusted, "not trusted", 0),
            (true, SourceState::Failed { why: "Died.".into() }, "failed", 0),
        ] {
            let view = ExtensionView::of_source(&source(on, state), ExtensionOrigin::Workspace);
            assert_eq!((view.state.word(), view.tokens), (word, tokens));
        }
    }
}
