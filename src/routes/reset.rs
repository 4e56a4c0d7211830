//! Resets: which rule a session has, when its conversation is over, and what a new one keeps.
//!
//! Freshness looks at the conversation's start (daily) and the last message of a person (idle). Time and zone are
//! arguments. An explicit and an automatic reset keep the same parts of the row.

#[cfg(test)]
mod tests;
mod trigger;

pub(super) use trigger::without_mentions;
pub use trigger::{AllowedModel, Trigger, find_trigger};

use super::config::{ResetMode, ResetRule, SessionConfig};
use super::key::{ChatType, SessionKey};
use super::row::{Conversation, OverrideSource, SessionRow};
use crate::domain::ids::{At, SessionId};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// Milliseconds that a reset waits for a running turn.
pub const RESET_WAIT_MS: u64 = 15_000;
/// Hour of the daily reset.
const DEFAULT_HOUR: u8 = 4;
/// Minutes of the mode idle without a value.
const DEFAULT_IDLE: u64 = 60;

/// Type of a session for reset rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetType {
    /// Direct messages, and sessions without a chat.
    Direct,
    /// Groups and channels.
    Group,
    /// Threads and topics.
    Thread,
}

/// Facts of a message that its key does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResetFacts {
    /// It is part of a thread.
    pub in_thread: bool,
    /// It comes from a group or channel.
    pub in_group: bool,
}

/// Type of a session.
#[must_use]
pub fn reset_type(key: &SessionKey, facts: ResetFacts) -> ResetType {
    let group_key = matches!(key.chat_type(), Some(ChatType::Group | ChatType::Channel));
    if facts.in_thread || key.is_thread() {
        ResetType::Thread
    } else if facts.in_group || group_key {
        ResetType::Group
    } else {
        ResetType::Direct
    }
}

/// Rule in force for a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetPolicy {
    /// No automatic reset.
    Never,
    /// Every day at this hour, and after idle minutes where given, whichever comes first.
    Daily {
        /// Hour, 0 to 23.
        hour: u8,
        /// Minutes.
        idle_minutes: Option<u64>,
    },
    /// After this many minutes without a message.
    Idle {
        /// Minutes.
        minutes: u64,
    },
}

/// Rule in force for a type on a channel.
///
/// A channel's rule is the whole rule: what it leaves out is the built-in default, not the base. Channel names compare
/// without case.
#[must_use]
pub fn policy(config: &SessionConfig, reset_type: ResetType, channel: Option<&str>) -> ResetPolicy {
    let channel = channel.map(|name| name.trim().to_lowercase()).unwrap_or_default();
    let by_channel = config.reset_by_channel.iter().find(|(name, _)| name.trim().to_lowercase() == channel);
    if let Some((_, rule)) = by_channel {
        return effective(rule.mode.unwrap_or(ResetMode::Daily), rule.at_hour, rule.idle_minutes);
    }
    let none = ResetRule::default();
    let base = config.reset.as_ref().unwrap_or(&none);
    let typed = config.reset_by_type.as_ref().and_then(|by_type| match reset_type {
        ResetType::Direct => by_type.direct.as_ref(),
        ResetType::Group => by_type.group.as_ref(),
        ResetType::Thread => by_type.thread.as_ref(),
    });
    let typed = typed.unwrap_or(&none);
    let only_legacy = config.reset.is_none() && config.reset_by_type.is_none() && config.idle_minutes.is_some();
    let default_mode = if only_legacy { ResetMode::Idle } else { ResetMode::Daily };
    let mode = typed.mode.or(base.mode).unwrap_or(default_mode);
    let idle = typed.idle_minutes.or(base.idle_minutes).or(config.idle_minutes);
    effective(mode, typed.at_hour.or(base.at_hour), idle)
}

fn effective(mode: ResetMode, hour: Option<u8>, idle: Option<u64>) -> ResetPolicy {
    match mode {
        ResetMode::None => ResetPolicy::Never,
        ResetMode::Idle => ResetPolicy::Idle { minutes: idle.unwrap_or(DEFAULT_IDLE) },
        ResetMode::Daily => ResetPolicy::Daily { hour: hour.unwrap_or(DEFAULT_HOUR).min(23), idle_minutes: idle },
    }
}

/// Freshness of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// It goes on.
    Fresh,
    /// It began before the day's boundary.
    StaleDaily,
    /// Nobody wrote for longer than the idle minutes.
    StaleIdle,
}

/// Freshness of a row's conversation. Equal times are fresh; times in the future are fresh, so a clock that jumps
/// backwards resets nothing.
#[must_use]
pub fn freshness(policy: ResetPolicy, row: &SessionRow, now: At, zone: &TimeZone) -> Freshness {
    let (started, last) = times(row);
    let idle = |minutes: u64| last.is_some_and(|last| now.since(last) > minutes.saturating_mul(60_000));
    let daily = |hour: u8| match (started, boundary(now, hour, zone)) {
        (Some(started), Some(boundary)) => started < boundary,
        (None, _) | (_, None) => false,
    };
    match policy {
        ResetPolicy::Daily { hour, .. } if daily(hour) => Freshness::StaleDaily,
        ResetPolicy::Daily { idle_minutes: Some(minutes), .. } | ResetPolicy::Idle { minutes } if idle(minutes) => {
            Freshness::StaleIdle
        }
        ResetPolicy::Daily { .. } | ResetPolicy::Idle { .. } | ResetPolicy::Never => Freshness::Fresh,
    }
}

/// Start and last message. Rows of older programs have neither; their last change stands for both, as it did there.
fn times(row: &SessionRow) -> (Option<At>, Option<At>) {
    let conversation = &row.conversation;
    let last = conversation.last_interaction_at.or(row.updated_at);
    (conversation.session_started_at.or(last), last)
}

/// Time from which on the next message starts a new conversation; `None` for never.
#[must_use]
pub fn reset_due(policy: ResetPolicy, row: &SessionRow, zone: &TimeZone) -> Option<At> {
    let (started, last) = times(row);
    // One millisecond more: equal is fresh.
    let idle = |minutes: u64| last.map(|last| last.plus(minutes.saturating_mul(60_000)).plus(1));
    match policy {
        ResetPolicy::Never => None,
        ResetPolicy::Idle { minutes } => idle(minutes),
        ResetPolicy::Daily { hour, idle_minutes } => {
            let daily = started.and_then(|started| next_boundary(started, hour, zone));
            [daily, idle_minutes.and_then(idle)].into_iter().flatten().min()
        }
    }
}

/// Latest daily boundary at or before `now`; `None` outside the calendar.
///
/// An hour that the clock skips is the first instant after the gap; one that comes twice is the first of the two.
#[must_use]
pub fn boundary(now: At, hour: u8, zone: &TimeZone) -> Option<At> {
    // Three days back at most: a zone that changes sides of the date line skips a whole day.
    (0..=3).filter_map(|back| boundary_of_day(now, -back, hour, zone)).find(|at| *at <= now)
}

/// First daily boundary after `now`.
fn next_boundary(now: At, hour: u8, zone: &TimeZone) -> Option<At> {
    (0..=3).filter_map(|ahead| boundary_of_day(now, ahead, hour, zone)).find(|at| *at > now)
}

fn boundary_of_day(now: At, days: i64, hour: u8, zone: &TimeZone) -> Option<At> {
    let today = Timestamp::from_millisecond(now.0).ok()?.to_zoned(zone.clone()).date();
    let date = today.checked_add(days.days()).ok()?;
    let wall = date.at(i8::try_from(hour).ok()?, 0, 0, 0);
    let at = zone.to_ambiguous_timestamp(wall).compatible().ok()?;
    Some(At(at.as_millisecond()))
}

/// Notes a person's message in the row. Times ahead of the clock are set back: after the clock was wrong, they would
/// keep the conversation for as long as it was.
pub fn record_interaction(row: &mut SessionRow, now: At) {
    let conversation = &mut row.conversation;
    conversation.last_interaction_at = Some(now);
    conversation.session_started_at = conversation.session_started_at.map(|started| started.min(now));
    row.updated_at = row.updated_at.max(Some(now));
}

/// Row with a new conversation, after an explicit or an automatic reset alike.
///
/// Settings, names, pointers, policies, place and unknown keys stay. A model that a fallback chose does not: nobody set
/// it.
#[must_use]
pub fn restarted(row: &SessionRow, session: SessionId, now: At) -> SessionRow {
    let mut settings = row.settings.clone();
    if settings.model_override_source == Some(OverrideSource::Auto) {
        settings.model_override = None;
        settings.provider_override = None;
        settings.model_override_source = None;
    }
    if settings.auth_profile_override_source == Some(OverrideSource::Auto) {
        settings.auth_profile_override = None;
        settings.auth_profile_override_source = None;
    }
    SessionRow {
        updated_at: row.updated_at.max(Some(now)),
        conversation: Conversation::new(session, now),
        settings,
        links: row.links.clone(),
        place: row.place.clone(),
        other: row.other.clone(),
    }
}

/// Decides if the first message of a thread forks the parent's conversation. A parent of unknown size is forked.
#[must_use]
pub fn forks_parent(thread: Option<&SessionRow>, parent: &SessionRow, max_tokens: u64) -> bool {
    let forked = thread.is_some_and(|row| row.links.forked_from_parent == Some(true));
    let too_big = max_tokens > 0 && parent.total_tokens().is_some_and(|tokens| tokens > max_tokens);
    !forked && !too_big
}
