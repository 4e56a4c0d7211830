//! Content of a model's context window in parts, with their sizes.

use super::ids::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kind of a part of the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContextSort {
    /// Identity of the agent, environment, permission mode: lisle's own words.
    System,
    /// Preferences of the user for every session.
    Preferences,
    /// A file of project memory.
    Memory,
    /// A context or a strategy that was chosen for the session.
    Preamble,
    /// A tool's description.
    Tool,
    /// Content carried over by the last compaction.
    Carried,
    /// The user's messages.
    User,
    /// The model's answers.
    Assistant,
    /// Its calls.
    Calls,
    /// Their results.
    Results,
}

impl ContextSort {
    /// All of them, in the order of a request.
    pub const ALL: [ContextSort; 10] = [
        Self::System,
        Self::Preferences,
        Self::Memory,
        Self::Preamble,
        Self::Tool,
        Self::Carried,
        Self::User,
        Self::Assistant,
        Self::Calls,
        Self::Results,
    ];

    /// In a word or two.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::System => "system prompt",
            Self::Preferences => "preferences",
            Self::Memory => "project memory",
            Self::Preamble => "context and strategy",
            Self::Tool => "tools",
            Self::Carried => "carried over",
            Self::User => "your messages",
            Self::Assistant => "answers",
            Self::Calls => "tool calls",
            Self::Results => "tool results",
        }
    }
}

/// A part of a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextPart {
    /// Kind of the part.
    pub sort: ContextSort,
    /// Its name: a part of the system prompt, a file, a tool, a call.
    pub name: String,
    /// Characters of a text, or how many there are of its kind.
    pub count: u64,
    /// Its tokens.
    pub tokens: u64,
}

/// Source of the figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measured {
    /// From the lengths of the texts.
    #[default]
    Guessed,
    /// The same, corrected by what the server counted last.
    Corrected,
}

/// Content of the next request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextReport {
    /// Session id.
    pub session: SessionId,
    /// The model, where one was chosen.
    pub model: String,
    /// The model's window in tokens, where it is known.
    pub window: Option<u64>,
    /// Tokens at which it is compacted by itself.
    pub compact_at: Option<u64>,
    /// The most tokens of one answer, where they are known.
    pub reserve: Option<u64>,
    /// Source of the figures.
    pub measured: Measured,
    /// The parts, in the order of a request.
    pub parts: Vec<ContextPart>,
    /// The results that take most, the largest first.
    pub largest: Vec<ContextPart>,
    /// Problems of project memory files.
    pub notes: Vec<String>,
    /// It is being compacted right now.
    pub compacting: bool,
}

impl ContextReport {
    /// One of which nothing is known.
    #[must_use]
    pub fn new(session: SessionId) -> Self {
        Self {
            session,
            model: String::new(),
            window: None,
            compact_at: None,
            reserve: None,
            measured: Measured::default(),
            parts: Vec::new(),
            largest: Vec::new(),
            notes: Vec::new(),
            compacting: false,
        }
    }

    /// Tokens of all parts.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.parts.iter().map(|part| part.tokens).sum()
    }

    /// The sorts that there are, each with how many parts it has and their tokens.
    #[must_use]
    pub fn sums(&self) -> Vec<(ContextSort, u64, u64)> {
        let sum = |sort: ContextSort| {
            let parts = || self.parts.iter().filter(move |part| part.sort == sort);
            let messages =
                matches!(sort, ContextSort::User | ContextSort::Assistant | ContextSort::Calls | ContextSort::Results);
            let count = if messages { parts().map(|part| part.count).sum() } else { parts().count() as u64 };
            (sort, count, parts().map(|part| part.tokens).sum())
        };
        ContextSort::ALL.into_iter().map(sum).filter(|(_, count, _)| *count > 0).collect()
    }

    /// Tokens that are left of the window.
    #[must_use]
    pub fn free(&self) -> Option<u64> {
        self.window.map(|window| window.saturating_sub(self.total()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_summed_by_their_sort() {
        let part = |sort, count, tokens| ContextPart { sort, name: String::new(), count, tokens };
        let report = ContextReport {
            window: Some(1_000),
            parts: vec![
                part(ContextSort::System, 4_000, 100),
                part(ContextSort::Tool, 1, 200),
                part(ContextSort::Tool, 1, 50),
                part(ContextSort::User, 7, 70),
            ],
            ..ContextReport::new(SessionId::numbered(1))
        };
        assert_eq!((report.total(), report.free()), (420, Some(580)));
        let sums = [(ContextSort::System, 1, 100), (ContextSort::Tool, 2, 250), (ContextSort::User, 7, 70)];
        assert_eq!(report.sums(), sums);
    }
}
