//! Under which heading a session stands: by what it waits for and when it was used, or by status, label or directory.

use super::catalogue::Catalogue;
use crate::domain::attention::Attention;
use crate::domain::ids::At;
use crate::domain::session::SessionMeta;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Grouping of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grouping {
    /// Needs you, running, then the days.
    #[default]
    Date,
    /// The statuses in their order.
    Status,
    /// The labels in the order of their tree; a session stands under its first one.
    Label,
    /// The directory in which the tools work.
    Directory,
    /// No headings.
    Flat,
}

impl Grouping {
    /// All of them, in the order in which one key goes through them.
    pub const ALL: [Grouping; 5] = [Self::Date, Self::Status, Self::Label, Self::Directory, Self::Flat];

    /// The one after this one.
    #[must_use]
    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|one| *one == self).unwrap_or(0);
        Self::ALL.get((at + 1) % Self::ALL.len()).copied().unwrap_or_default()
    }

    /// Label on the screen: `by status`.
    #[must_use]
    pub fn shown(self) -> &'static str {
        match self {
            Grouping::Date => "by date",
            Grouping::Status => "by status",
            Grouping::Label => "by label",
            Grouping::Directory => "by directory",
            Grouping::Flat => "ungrouped",
        }
    }
}

/// A heading of the list. The order of the values is their order on the screen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// A request waits for the user.
    NeedsYou,
    /// A turn runs.
    Running,
    /// Used today.
    Today,
    /// Used yesterday.
    Yesterday,
    /// Used 2 to 6 days ago.
    DaysAgo(u8),
    /// Used in an earlier month: its distance in months, 0 for this one, and the month.
    Month {
        /// Months from then to now.
        ago: u32,
        /// 1 to 12.
        month: u8,
        /// The year.
        year: i16,
    },
    /// A status: its place among them, and its id.
    Status(u32, Arc<str>),
    /// A label: its place in the tree, and its id; empty for sessions without one.
    Label(u32, Arc<str>),
    /// A directory.
    Directory(Arc<str>),
    /// All in one, without a heading.
    All,
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

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// The day of an instant where local time is `utc_offset` seconds ahead of UTC.
fn date(at: At, utc_offset: i32) -> Option<Date> {
    let shifted = at.0.checked_add(i64::from(utc_offset).checked_mul(1_000)?)?;
    let instant = jiff::Timestamp::from_millisecond(shifted).ok()?;
    Some(jiff::tz::Offset::UTC.to_datetime(instant).date())
}

/// The day that it is, for groups of times: made once, asked for each session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calendar {
    /// Days since the epoch, in local time.
    day: i64,
    /// Local time minus UTC, in milliseconds.
    offset: i64,
    year: i16,
    month: i8,
}

impl Default for Calendar {
    fn default() -> Self {
        Self::of(At(0), 0)
    }
}

impl Calendar {
    /// The day of `now` where local time is `utc_offset` seconds ahead of UTC.
    #[must_use]
    pub fn of(now: At, utc_offset: i32) -> Self {
        let offset = i64::from(utc_offset).saturating_mul(1_000);
        let today = date(now, utc_offset).unwrap_or_default();
        let day = now.0.saturating_add(offset).div_euclid(DAY);
        Self { day, offset, year: today.year(), month: today.month() }
    }

    /// The group of a time. What lies in the future counts as today.
    #[must_use]
    pub fn group(&self, at: At) -> Group {
        let days = self.day.saturating_sub(at.0.saturating_add(self.offset).div_euclid(DAY));
        match days {
            i64::MIN..=0 => Group::Today,
            1 => Group::Yesterday,
            2..=6 => Group::DaysAgo(u8::try_from(days).unwrap_or(6)),
            _ => {
                let seconds = i32::try_from(self.offset / 1_000).unwrap_or(0);
                let then = date(at, seconds).unwrap_or_default();
                let months = (i32::from(self.year) - i32::from(then.year())) * 12 + i32::from(self.month)
                    - i32::from(then.month());
                Group::Month {
                    ago: u32::try_from(months).unwrap_or(0),
                    month: u8::try_from(then.month()).unwrap_or(1),
                    year: then.year(),
                }
            }
        }
    }
}

/// The group of a session.
#[must_use]
pub fn group_of(meta: &SessionMeta, grouping: Grouping, calendar: &Calendar, catalogue: &Catalogue) -> Group {
    match grouping {
        // On top whatever the groups are; a flat list has no headings.
        grouping if grouping != Grouping::Flat && meta.needs_you() => Group::NeedsYou,
        Grouping::Date => match meta.attention() {
            Attention::Running => Group::Running,
            _ => calendar.group(meta.last_message),
        },
        Grouping::Status => {
            let (place, id) = catalogue.status(&meta.status);
            Group::Status(place, id)
        }
        Grouping::Label => {
            let first = meta.labels.iter().map(|entry| catalogue.label(entry)).min();
            let (place, id) = first.unwrap_or((u32::MAX, Arc::from("")));
            Group::Label(place, id)
        }
        Grouping::Directory => Group::Directory(Arc::from(meta.cwd.to_string_lossy())),
        Grouping::Flat => Group::All,
    }
}

impl Group {
    /// It has a heading.
    #[must_use]
    pub fn is_headed(&self) -> bool {
        *self != Group::All
    }

    /// The heading of a group of times or of what happens: `needs you`, `today`, `Tuesday`, `October`, `October 2024`.
    /// Of the others what they are called on disk; [`Catalogue`] knows better names.
    #[must_use]
    pub fn label(&self, now: At, utc_offset: i32) -> String {
        match self {
            Group::NeedsYou => "needs you".to_owned(),
            Group::Running => "running".to_owned(),
            Group::Today => "today".to_owned(),
            Group::Yesterday => "yesterday".to_owned(),
            Group::DaysAgo(days) => {
                let then = At(now.0.saturating_sub(i64::from(*days) * DAY));
                date(then, utc_offset).map_or_else(String::new, |date| weekday(date).to_owned())
            }
            Group::Month { month, year, .. } => {
                let name = MONTHS.get(usize::from(*month).saturating_sub(1)).copied().unwrap_or("");
                match date(now, utc_offset) {
                    Some(today) if today.year() == *year && today.month() == i8::try_from(*month).unwrap_or(0) => {
                        "earlier this month".to_owned()
                    }
                    Some(today) if today.year() == *year => name.to_owned(),
                    _ => format!("{name} {year}"),
                }
            }
            Group::Label(_, id) if id.is_empty() => "no label".to_owned(),
            Group::Status(_, id) | Group::Label(_, id) | Group::Directory(id) => id.to_string(),
            Group::All => String::new(),
        }
    }

    /// Name in the saved state; a weekday stands for itself whenever it is.
    #[must_use]
    pub fn key(&self) -> String {
        match self {
            Group::NeedsYou => "needs-you".to_owned(),
            Group::Running => "running".to_owned(),
            Group::Today => "today".to_owned(),
            Group::Yesterday => "yesterday".to_owned(),
            Group::DaysAgo(days) => format!("{days}-days-ago"),
            Group::Month { month, year, .. } => format!("{year}-{month:02}"),
            Group::Status(_, id) => format!("status {id}"),
            Group::Label(_, id) => format!("label {id}"),
            Group::Directory(path) => format!("in {path}"),
            Group::All => "all".to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Mode;
    use crate::domain::ids::SessionId;
    use crate::domain::session::Activity;
    use proptest::prelude::*;

    /// Saturday, 2026-11-21, 12:00 UTC.
    const NOON: i64 = 1_795_262_400_000;
    const HOUR: i64 = 3_600_000;

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
            (24 * 7, 0, "earlier this month"),
            (24 * 30, 0, "October"),
            (24 * 365, 0, "November 2025"),
        ] {
            let group = Calendar::of(At(NOON), offset).group(At(NOON - hours_ago * HOUR));
            assert_eq!(group.label(At(NOON), offset), label, "{hours_ago} hours ago at {offset}");
        }
    }

    #[test]
    fn sessions_have_groups() {
        let catalogue = Catalogue::default();
        let mut meta = SessionMeta::new(SessionId::parse("a").unwrap(), At(NOON), Mode::Ask, "/src/app".into());
        meta.labels = vec!["zeta".to_owned(), "prio::2".to_owned()];
        meta.status = "done".to_owned();
        let key = |grouping| group_of(&meta, grouping, &Calendar::of(At(NOON), 0), &catalogue).key();
        assert_eq!(
            Grouping::ALL.map(key),
            ["today", "status done", "label prio", "in /src/app", "all"].map(str::to_owned)
        );
        meta.activity = Activity::NeedsYou("approve".to_owned());
        for grouping in Grouping::ALL.into_iter().filter(|grouping| *grouping != Grouping::Flat) {
            assert_eq!(group_of(&meta, grouping, &Calendar::of(At(NOON), 0), &catalogue), Group::NeedsYou);
        }
        meta.activity = Activity::Idle;
        meta.labels.clear();
        let none = group_of(&meta, Grouping::Label, &Calendar::of(At(NOON), 0), &catalogue);
        assert_eq!(none.label(At(NOON), 0), "no label");
        assert!(none > Group::Label(7, Arc::from("x")), "at the end");
        let round = Grouping::ALL.iter().fold(Grouping::Date, |grouping, _| grouping.next());
        assert_eq!(round, Grouping::Date);
    }

    proptest! {
        #[test]
        fn later_is_never_further_down(a in -NOON..NOON, b in -NOON..NOON, offset in -50_000i32..50_000) {
            let calendar = Calendar::of(At(NOON), offset);
            let (early, late) = (a.min(b), a.max(b));
            prop_assert!(calendar.group(At(NOON + late)) <= calendar.group(At(NOON + early)));
        }
    }
}
