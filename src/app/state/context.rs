//! Content of a session's context window: the engine's report, and how much of it is shown.

use crate::domain::SessionId;
use crate::domain::context::ContextReport;

/// Sheet with the content of a session's context window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextCard {
    /// Session id.
    pub session: SessionId,
    /// Report, once the engine has answered.
    pub report: Option<ContextReport>,
    /// Level of detail.
    pub depth: Depth,
    /// Lines above the first one that is shown.
    pub scroll: u16,
}

/// Level of detail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// The sums, with a meter.
    #[default]
    Sums,
    /// And each part: files, the parts of the system prompt, kinds of messages.
    List,
    /// And each tool, and the largest results.
    Detail,
}

impl Depth {
    /// The depth of that name; `show` and `deep` are other names that people know.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "" => Some(Depth::Sums),
            "list" | "show" => Some(Depth::List),
            "detail" | "deep" => Some(Depth::Detail),
            _ => None,
        }
    }

    /// The one after it, around.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Depth::Sums => Depth::List,
            Depth::List => Depth::Detail,
            Depth::Detail => Depth::Sums,
        }
    }

    /// In a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Depth::Sums => "sums",
            Depth::List => "list",
            Depth::Detail => "detail",
        }
    }
}

impl ContextCard {
    /// One that is not filled yet.
    #[must_use]
    pub fn new(session: SessionId, depth: Depth) -> Self {
        Self { session, report: None, depth, scroll: 0 }
    }

    /// Shows the next depth, from its beginning.
    pub fn turn(&mut self) {
        (self.depth, self.scroll) = (self.depth.next(), 0);
    }
}
