//! The list of sessions: groups, order, filter, and a selection that stays with its session when rows move.

use super::edit::Line;
use super::fuzzy;
use crate::domain::ids::{At, SessionId};
use crate::domain::session::{Activity, SessionMeta};
use crate::keymap::action::Action;
use crate::keymap::key::Key;
use jiff::civil::Date;
use std::collections::{HashMap, HashSet};

/// A heading of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// Something waits for the user.
    NeedsYou,
    /// A turn runs.
    Running,
    /// Used today.
    Today,
    /// Used yesterday.
    Yesterday,
    /// Used so many days ago, 2 to 6.
    DaysAgo(u8),
    /// Used in a month so many months ago, 0 for this one; then the month itself.
    Month {
        /// Months from then to now.
        ago: u32,
        /// 1 to 12.
        month: u8,
        /// The year.
        year: i16,
    },
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The day of an instant where local time is `utc_offset` seconds ahead of UTC.
fn day(at: At, utc_offset: i32) -> Option<Date> {
    let shifted = at.0.checked_add(i64::from(utc_offset).checked_mul(1_000)?)?;
    let instant = jiff::Timestamp::from_millisecond(shifted).ok()?;
    Some(jiff::tz::Offset::UTC.to_datetime(instant).date())
}

/// The group of a time. What lies in the future counts as today.
#[must_use]
pub fn group_of_time(at: At, now: At, utc_offset: i32) -> Group {
    let (Some(then), Some(today)) = (day(at, utc_offset), day(now, utc_offset)) else { return Group::Today };
    let days = today.since(then).map_or(0, |span| span.get_days());
    match days {
        i32::MIN..=0 => Group::Today,
        1 => Group::Yesterday,
        2..=6 => Group::DaysAgo(u8::try_from(days).unwrap_or(6)),
        _ => {
            let months = (i32::from(today.year()) - i32::from(then.year())) * 12 + i32::from(today.month())
                - i32::from(then.month());
            Group::Month {
                ago: u32::try_from(months).unwrap_or(0),
                month: u8::try_from(then.month()).unwrap_or(1),
                year: then.year(),
            }
        }
    }
}

impl Group {
    /// The group of a session.
    #[must_use]
    pub fn of(meta: &SessionMeta, now: At, utc_offset: i32) -> Self {
        match meta.activity {
            Activity::NeedsYou(_) => Group::NeedsYou,
            Activity::Running(_) | Activity::Stopping => Group::Running,
            Activity::Idle if meta.plan_pending => Group::NeedsYou,
            Activity::Idle => group_of_time(meta.last_message, now, utc_offset),
        }
    }

    /// The heading: `needs you`, `today`, `Tuesday`, `October`, `October 2024`.
    #[must_use]
    pub fn label(self, now: At, utc_offset: i32) -> String {
        match self {
            Group::NeedsYou => "needs you".to_owned(),
            Group::Running => "running".to_owned(),
            Group::Today => "today".to_owned(),
            Group::Yesterday => "yesterday".to_owned(),
            Group::DaysAgo(days) => {
                let then = At(now.0.saturating_sub(i64::from(days) * 86_400_000));
                day(then, utc_offset).map_or_else(String::new, |date| weekday(date).to_owned())
            }
            Group::Month { month, year, .. } => {
                let name = MONTHS.get(usize::from(month).saturating_sub(1)).copied().unwrap_or("");
                match day(now, utc_offset) {
                    Some(today) if today.year() == year => name.to_owned(),
                    _ => format!("{name} {year}"),
                }
            }
        }
    }
}

fn weekday(date: Date) -> &'static str {
    use jiff::civil::Weekday::{Friday, Monday, Saturday, Sunday, Thursday, Tuesday, Wednesday};
    match date.weekday() {
        Monday => "Monday",
        Tuesday => "Tuesday",
        Wednesday => "Wednesday",
        Thursday => "Thursday",
        Friday => "Friday",
        Saturday => "Saturday",
        Sunday => "Sunday",
    }
}

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// A heading and how many sessions stand below it.
    Group(Group, usize),
    /// A session.
    Session(SessionId),
}

/// Which sessions are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// Those that are not archived.
    #[default]
    Current,
    /// The archived ones.
    Archived,
}

/// A filter of the list by title.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// What was typed.
    pub query: Line,
    /// It is still being typed; afterwards it only stays in force.
    pub typing: bool,
}

/// A letter pressed in the list that has not acted yet: perhaps a text is being typed that was meant for the composer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldLetter {
    /// The letter.
    pub key: Key,
    /// What it does.
    pub action: Action,
    /// When it was pressed.
    pub at: At,
}

/// The list of sessions.
#[derive(Clone, Debug, Default)]
pub struct Sessions {
    metas: HashMap<SessionId, SessionMeta>,
    rows: Vec<Row>,
    /// The day and offset for which `rows` was made.
    made_for: Option<(Date, i32)>,
    selected: Option<SessionId>,
    /// The engine sent the list.
    pub loaded: bool,
    /// Which sessions are listed.
    pub which: Which,
    /// A filter by title.
    pub filter: Option<Filter>,
    /// The first row on the screen.
    pub top: usize,
    /// A letter that has not acted yet.
    pub held: Option<HeldLetter>,
}

impl Sessions {
    /// The lines of the list, headings among them.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Properties of a session.
    #[must_use]
    pub fn meta(&self, id: &SessionId) -> Option<&SessionMeta> {
        self.metas.get(id)
    }

    /// Properties of a session, to be changed; [`Sessions::arrange`] afterwards.
    pub fn meta_mut(&mut self, id: &SessionId) -> Option<&mut SessionMeta> {
        self.metas.get_mut(id)
    }

    /// All sessions, in no order.
    pub fn metas(&self) -> impl Iterator<Item = &SessionMeta> {
        self.metas.values()
    }

    /// The selected session.
    #[must_use]
    pub fn selected(&self) -> Option<&SessionId> {
        self.selected.as_ref()
    }

    /// The listed sessions in their order.
    pub fn order(&self) -> impl DoubleEndedIterator<Item = &SessionId> {
        self.rows.iter().filter_map(|row| match row {
            Row::Session(id) => Some(id),
            Row::Group(..) => None,
        })
    }

    /// How many sessions wait for the user, archived ones too.
    #[must_use]
    pub fn needing(&self) -> usize {
        self.metas.values().filter(|meta| needs_you(meta)).count()
    }

    /// Whether the filter is being typed.
    #[must_use]
    pub fn filter_open(&self) -> bool {
        self.filter.as_ref().is_some_and(|filter| filter.typing)
    }

    /// Replaces all sessions.
    pub fn replace(&mut self, metas: Vec<SessionMeta>, now: At, utc_offset: i32) {
        self.loaded = true;
        self.metas = metas.into_iter().map(|meta| (meta.id.clone(), meta)).collect();
        self.arrange(now, utc_offset);
    }

    /// Puts in one session, new or changed.
    pub fn put(&mut self, meta: SessionMeta, now: At, utc_offset: i32) {
        self.metas.insert(meta.id.clone(), meta);
        self.arrange(now, utc_offset);
    }

    /// The session has another id from now on.
    pub fn reidentify(&mut self, from: &SessionId, to: &SessionId, now: At, utc_offset: i32) {
        if let Some(mut meta) = self.metas.remove(from) {
            meta.id = to.clone();
            self.metas.entry(to.clone()).or_insert(meta);
        }
        if self.selected.as_ref() == Some(from) {
            self.selected = Some(to.clone());
        }
        self.arrange(now, utc_offset);
    }

    /// Makes the rows anew when the day has changed since. Whether it did.
    pub fn turn_day(&mut self, now: At, utc_offset: i32) -> bool {
        let stale = day(now, utc_offset).map(|date| (date, utc_offset)) != self.made_for;
        if stale {
            self.arrange(now, utc_offset);
        }
        stale
    }

    /// Makes the rows anew. The selection stays with its session; if that is not listed any more, it goes to the one
    /// that stands at its place.
    pub fn arrange(&mut self, now: At, utc_offset: i32) {
        self.made_for = day(now, utc_offset).map(|date| (date, utc_offset));
        let place = self.selected.as_ref().and_then(|id| self.order().position(|other| other == id));
        let archived = self.which == Which::Archived;
        let mut listed: Vec<(Group, &SessionMeta)> = self
            .metas
            .values()
            .filter(|meta| !meta.hidden && meta.archived == archived)
            .map(|meta| (Group::of(meta, now, utc_offset), meta))
            .collect();
        if let Some(query) = self.filter.as_ref().map(|f| f.query.text()).filter(|query| !query.trim().is_empty()) {
            let kept: HashSet<usize> = fuzzy::rank(query, listed.iter().map(|(_, meta)| meta.shown_title()))
                .into_iter()
                .map(|h| h.0)
                .collect();
            let mut place = 0;
            listed.retain(|_| {
                place += 1;
                kept.contains(&(place - 1))
            });
        }
        listed.sort_by(|(ga, a), (gb, b)| {
            ga.cmp(gb).then_with(|| b.last_message.cmp(&a.last_message)).then_with(|| b.id.cmp(&a.id))
        });
        let mut rows: Vec<Row> = Vec::with_capacity(listed.len() + 8);
        for chunk in listed.chunk_by(|a, b| a.0 == b.0) {
            rows.extend(chunk.first().map(|(group, _)| Row::Group(*group, chunk.len())));
            rows.extend(chunk.iter().map(|(_, meta)| Row::Session(meta.id.clone())));
        }
        self.rows = rows;
        let listed_still = self.selected.as_ref().is_some_and(|id| self.order().any(|other| other == id));
        if !listed_still && self.selected.is_some() {
            let last = self.order().count().saturating_sub(1);
            let instead = self.order().nth(place.unwrap_or(0).min(last)).cloned();
            self.selected = instead;
        }
    }

    /// Selects this session.
    pub fn select(&mut self, id: &SessionId) {
        self.selected = Some(id.clone());
    }

    /// Moves the selection by so many sessions, stopping at both ends; without one to the first.
    pub fn step(&mut self, by: isize) {
        let order: Vec<&SessionId> = self.order().collect();
        let at = self.selected.as_ref().and_then(|id| order.iter().position(|other| *other == id));
        let target = at.map_or(0, |at| at.saturating_add_signed(by).min(order.len().saturating_sub(1)));
        self.selected = order.get(target).map(|id| (*id).clone()).or_else(|| self.selected.clone());
    }

    /// Scrolls so that the selected row, with a heading right above it, is among `height` rows from [`Sessions::top`].
    pub fn follow(&mut self, height: usize) {
        let Some(at) = self.selected.as_ref().and_then(|id| self.rows.iter().position(|row| is(row, id))) else {
            self.top = self.top.min(self.rows.len().saturating_sub(height.max(1)));
            return;
        };
        let headed = matches!(self.rows.get(at.wrapping_sub(1)), Some(Row::Group(..)));
        let first = if headed { at - 1 } else { at };
        if first < self.top {
            self.top = first;
        } else if at >= self.top + height.max(1) {
            self.top = at + 1 - height.max(1);
        }
        self.top = self.top.min(self.rows.len().saturating_sub(height.max(1)));
    }
}

fn is(row: &Row, id: &SessionId) -> bool {
    matches!(row, Row::Session(other) if other == id)
}

/// Whether something waits for the user in a session.
#[must_use]
pub fn needs_you(meta: &SessionMeta) -> bool {
    !meta.hidden
        && (matches!(meta.activity, Activity::NeedsYou(_)) || (meta.plan_pending && meta.activity == Activity::Idle))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Mode;
    use std::path::PathBuf;

    /// Saturday, 2026-11-21, 12:00 UTC.
    const NOON: i64 = 1_795_262_400_000;
    const HOUR: i64 = 3_600_000;

    fn meta(id: &str, at: i64) -> SessionMeta {
        let id = SessionId::parse(id).unwrap();
        SessionMeta::new(id, At(at), Mode::Ask, PathBuf::from("/w"))
    }

    fn shown(sessions: &Sessions) -> Vec<String> {
        let of = |row: &Row| match row {
            Row::Group(group, count) => format!("[{} {count}]", group.label(At(NOON), 0)),
            Row::Session(id) => id.to_string(),
        };
        sessions.rows().iter().map(of).collect()
    }

    #[test]
    fn times_have_groups() {
        for (hours_ago, offset, label) in [
            (0, 0, "today"),
            (-5, 0, "today"),
            (12, 0, "today"),
            (13, 0, "yesterday"),
            (13, 7_200, "today"),
            (11, -12 * 3_600, "yesterday"),
            (36, 0, "yesterday"),
            (37, 0, "Thursday"),
            (24 * 6, 0, "Sunday"),
            (24 * 7, 0, "November"),
            (24 * 30, 0, "October"),
            (24 * 365, 0, "November 2025"),
        ] {
            let group = group_of_time(At(NOON - hours_ago * HOUR), At(NOON), offset);
            assert_eq!(group.label(At(NOON), offset), label, "{hours_ago} hours ago at {offset}");
        }
    }

    #[test]
    fn what_needs_you_comes_first_then_what_runs_then_the_days() {
        let mut sessions = Sessions::default();
        let mut all = vec![
            meta("old", NOON - 24 * 60 * HOUR),
            meta("new", NOON),
            meta("newer", NOON + 1),
            meta("needs", NOON - 24 * 90 * HOUR),
            meta("runs", NOON - 24 * 90 * HOUR),
            meta("plan", NOON - 24 * 91 * HOUR),
            meta("hidden", NOON),
            meta("archived", NOON),
        ];
        all[3].activity = Activity::NeedsYou("approve: ls".to_owned());
        all[4].activity = Activity::Running(At(NOON));
        all[5].plan_pending = true;
        all[6].hidden = true;
        all[7].archived = true;
        sessions.replace(all, At(NOON), 0);
        assert_eq!(
            shown(&sessions),
            [
                "[needs you 2]",
                "needs",
                "plan",
                "[running 1]",
                "runs",
                "[today 2]",
                "newer",
                "new",
                "[September 1]",
                "old"
            ]
        );
        assert_eq!(sessions.needing(), 2);
        sessions.which = Which::Archived;
        sessions.arrange(At(NOON), 0);
        assert_eq!(shown(&sessions), ["[today 1]", "archived"]);
    }

    #[test]
    fn the_selection_stays_with_its_session() {
        let mut sessions = Sessions::default();
        sessions.replace(vec![meta("a", 3), meta("b", 2), meta("c", 1)], At(NOON), 0);
        sessions.step(0);
        sessions.step(1);
        assert_eq!(sessions.selected().map(SessionId::as_str), Some("b"));
        sessions.put(meta("c", 9), At(NOON), 0);
        sessions.put(meta("d", 99), At(NOON), 0);
        assert_eq!(sessions.selected().map(SessionId::as_str), Some("b"));
        // It goes out of the list: the one at its place is selected.
        let mut gone = meta("b", 2);
        gone.archived = true;
        sessions.put(gone, At(NOON), 0);
        assert_eq!(sessions.selected().map(SessionId::as_str), Some("a"));
        sessions.step(isize::MAX);
        sessions.step(isize::MIN);
        assert_eq!(sessions.selected().map(SessionId::as_str), Some("d"));
    }

    #[test]
    fn the_day_turns() {
        let mut sessions = Sessions::default();
        sessions.replace(vec![meta("a", NOON)], At(NOON), 0);
        assert!(!sessions.turn_day(At(NOON + 11 * HOUR), 0));
        assert!(sessions.turn_day(At(NOON + 12 * HOUR), 0));
        assert!(matches!(sessions.rows().first(), Some(Row::Group(Group::Yesterday, 1))));
    }

    #[test]
    fn the_selected_row_is_kept_in_sight() {
        let mut sessions = Sessions::default();
        sessions.replace((0..50).map(|n| meta(&format!("s{n}"), n)).collect(), At(NOON), 0);
        sessions.step(0);
        for _ in 0..60 {
            sessions.step(1);
            sessions.follow(10);
            let at = sessions.rows().iter().position(|row| is(row, sessions.selected().unwrap())).unwrap();
            assert!((sessions.top..sessions.top + 10).contains(&at));
        }
        sessions.step(isize::MIN);
        sessions.follow(10);
        assert_eq!(sessions.top, 0, "with its heading");
    }
}
