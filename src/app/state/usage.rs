//! Usage of requests: the grouping, and the selected row.

use crate::domain::SessionId;
use crate::domain::spending::{Spending, UsageGroup};

/// Sheet with the usage of requests.
#[derive(Clone, Debug)]
pub struct Usage {
    /// Also by the turns of this session.
    pub session: Option<SessionId>,
    /// Usage, once the engine has answered.
    pub spending: Option<Spending>,
    /// Grouping.
    pub shown: UsageGrouping,
    /// The selected row.
    pub selected: usize,
}

/// Grouping of the usage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UsageGrouping {
    /// Days.
    #[default]
    Days,
    /// Models.
    Models,
    /// Sessions.
    Sessions,
    /// Turns of this session.
    Turns,
}

impl UsageGrouping {
    /// The one after it, around.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            UsageGrouping::Days => UsageGrouping::Models,
            UsageGrouping::Models => UsageGrouping::Sessions,
            UsageGrouping::Sessions => UsageGrouping::Turns,
            UsageGrouping::Turns => UsageGrouping::Days,
        }
    }

    /// In a few words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            UsageGrouping::Days => "by day",
            UsageGrouping::Models => "by model",
            UsageGrouping::Sessions => "by session",
            UsageGrouping::Turns => "turns of this session",
        }
    }
}

impl Usage {
    /// Empty sheet that waits for the engine.
    #[must_use]
    pub fn new(session: Option<SessionId>) -> Self {
        Self { session, spending: None, shown: UsageGrouping::default(), selected: 0 }
    }

    /// The rows that are shown.
    #[must_use]
    pub fn rows(&self) -> &[UsageGroup] {
        let Some(spending) = &self.spending else { return &[] };
        match self.shown {
            UsageGrouping::Days => &spending.days,
            UsageGrouping::Models => &spending.models,
            UsageGrouping::Sessions => &spending.sessions,
            UsageGrouping::Turns => &spending.turns,
        }
    }

    /// Moves the selection.
    pub fn step(&mut self, by: isize) {
        self.select(self.selected.saturating_add_signed(by));
    }

    /// Selects a row.
    pub fn select(&mut self, at: usize) {
        self.selected = at.min(self.rows().len().saturating_sub(1));
    }

    /// Adds it up the next way.
    pub fn turn(&mut self) {
        self.shown = self.shown.next();
        self.selected = 0;
    }
}
