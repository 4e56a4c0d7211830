//! State of a session in one value, for every place that shows it: list, inbox, title, notifications, quit dialog, JSON.

use super::session::{Activity, SessionMeta};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Attention that a session asks of the user. Derived from [`SessionMeta`] alone, so engine, screen and command line agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is", content = "why")]
pub enum Attention {
    /// A request waits: `approve: cargo test`, `plan: …`.
    NeedsYou(String),
    /// A turn runs, or is being stopped.
    Running,
    /// The last turn failed: the error's title.
    Failed(String),
    /// lisle ended during the last turn: what it waited for then; empty if it worked.
    Interrupted(String),
    /// News since the last look.
    Unread,
    /// Nothing.
    Idle,
}

/// Last turn of a session that came to no end of its own. Kept in the header until the next turn ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unfinished {
    /// How it ended.
    pub how: Broken,
    /// Title of the error, or the request that waited.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The same request can be sent again.
    #[serde(default)]
    pub retries: bool,
    /// The user looked at it.
    #[serde(default)]
    pub seen: bool,
}

/// How a turn ended that came to no end of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Broken {
    /// Its request failed.
    Failed,
    /// lisle ended, or a limit did. Also stored while a turn runs, so that a death needs no last word.
    Interrupted,
}

impl Unfinished {
    /// A turn that failed or was interrupted and that nobody looked at yet.
    #[must_use]
    pub fn new(how: Broken, why: impl Into<String>) -> Self {
        Self { how, why: why.into(), retries: true, seen: false }
    }
}

/// Reason of a session that waits for the choice of a model.
pub const WANTS_MODEL: &str = "choose a model";

impl SessionMeta {
    /// State of the session.
    #[must_use]
    pub fn attention(&self) -> Attention {
        match (&self.activity, &self.unfinished) {
            (Activity::NeedsYou(what), _) => Attention::NeedsYou(what.clone()),
            (Activity::Running(_) | Activity::Stopping, _) => Attention::Running,
            (Activity::Idle, _) if self.plan_pending => Attention::NeedsYou("plan waiting".to_owned()),
            (Activity::Idle, Some(Unfinished { how: Broken::Failed, why, .. })) => Attention::Failed(why.clone()),
            (Activity::Idle, Some(Unfinished { why, .. })) => Attention::Interrupted(why.clone()),
            (Activity::Idle, None) if self.unread => Attention::Unread,
            (Activity::Idle, None) => Attention::Idle,
        }
    }

    /// A failed or interrupted turn that nobody looked at yet.
    #[must_use]
    pub fn is_broken_unseen(&self) -> bool {
        self.activity == Activity::Idle && self.unfinished.as_ref().is_some_and(|last| !last.seen)
    }

    /// Decides if the session stands among those that need the user. A spawned session is hidden from the list and counts
    /// all the same: nobody else answers for it.
    #[must_use]
    pub fn needs_you(&self) -> bool {
        let listed = !self.hidden || self.parent.is_some();
        listed
            && match self.attention() {
                Attention::NeedsYou(_) => !self.archived || self.activity != Activity::Idle,
                Attention::Failed(_) | Attention::Interrupted(_) => !self.archived && self.is_broken_unseen(),
                Attention::Running | Attention::Unread | Attention::Idle => false,
            }
    }

    /// Reason for which the session needs the user, in a few words for a row of the list.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        match self.attention() {
            Attention::NeedsYou(what) if what.trim().is_empty() => None,
            Attention::NeedsYou(what) => Some(what),
            Attention::Failed(why) if !self.can_retry() => Some(lower(&why)),
            Attention::Failed(why) => Some(format!("{} · Enter retries", lower(&why))),
            Attention::Interrupted(why) if why.trim().is_empty() => Some("interrupted · Enter continues".to_owned()),
            Attention::Interrupted(why) => Some(format!("interrupted · Enter continues · {why}")),
            Attention::Running | Attention::Unread | Attention::Idle => None,
        }
    }

    /// The failed or interrupted turn can go on with the same request.
    #[must_use]
    pub fn can_retry(&self) -> bool {
        self.activity == Activity::Idle && self.unfinished.as_ref().is_some_and(|last| last.retries)
    }

    /// Marks the end of the session as seen. False if it was already. A turn that runs has no end yet.
    pub fn mark_seen(&mut self) -> bool {
        let ended = self.unfinished.as_mut().filter(|_| self.activity == Activity::Idle);
        let broken = ended.is_some_and(|last| !std::mem::replace(&mut last.seen, true));
        std::mem::take(&mut self.unread) || broken
    }
}

/// The same with a small first letter, unless the first word is an abbreviation.
fn lower(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => first.to_lowercase().chain(letters).collect(),
        (None, _) => "failed".to_owned(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{At, SessionId};
    use crate::domain::permission::Mode;

    fn meta(change: impl FnOnce(&mut SessionMeta)) -> SessionMeta {
        let mut meta = SessionMeta::new(SessionId::parse("a").unwrap(), At(1), Mode::Ask, "/w".into());
        change(&mut meta);
        meta
    }

    #[test]
    fn every_state_has_one_word_and_the_broken_ones_wait_until_they_are_seen() {
        let failed = || Some(Unfinished::new(Broken::Failed, "Server error (500)"));
        let cut = |why: &str| Some(Unfinished::new(Broken::Interrupted, why));
        let needs = |what: &str| Activity::NeedsYou(what.to_owned());
        let rows: [(SessionMeta, Attention, bool, Option<&str>); 9] = [
            (meta(|_| {}), Attention::Idle, false, None),
            (meta(|m| m.unread = true), Attention::Unread, false, None),
            (meta(|m| m.activity = Activity::Running(At(1))), Attention::Running, false, None),
            (
                meta(|m| (m.activity, m.unfinished) = (Activity::Running(At(1)), cut(""))),
                Attention::Running,
                false,
                None,
            ),
            (
                meta(|m| m.activity = needs("approve: x")),
                Attention::NeedsYou("approve: x".into()),
                true,
                Some("approve: x"),
            ),
            (
                meta(|m| m.unfinished = failed()),
                Attention::Failed("Server error (500)".into()),
                true,
                Some("server error (500) · Enter retries"),
            ),
            (
                meta(|m| m.unfinished = cut("approve: x")),
                Attention::Interrupted("approve: x".into()),
                true,
                Some("interrupted · Enter continues · approve: x"),
            ),
            (
                meta(|m| (m.unfinished, m.archived) = (cut(""), true)),
                Attention::Interrupted(String::new()),
                false,
                Some("interrupted · Enter continues"),
            ),
            (
                meta(|m| (m.plan_pending, m.hidden) = (true, true)),
                Attention::NeedsYou("plan waiting".into()),
                false,
                Some("plan waiting"),
            ),
        ];
        for (meta, attention, needs, reason) in rows {
            assert_eq!((meta.attention(), meta.needs_you()), (attention, needs), "{meta:?}");
            assert_eq!(meta.reason().as_deref(), reason);
        }
        let mut seen = meta(|m| m.unfinished = failed());
        assert!(seen.mark_seen() && !seen.mark_seen());
        assert!(!seen.needs_you() && matches!(seen.attention(), Attention::Failed(_)), "seen, and still failed");
    }
}
