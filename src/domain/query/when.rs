//! Dates as somebody types them, and the instants that they mean.

use crate::domain::At;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan};

/// A point in time that may depend on now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// This moment on the clock of the place.
    Moment(DateTime),
    /// Start of the day this many days ago.
    DayAgo(i32),
    /// Span before now.
    Ago(i32, Unit),
}

/// Unit of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// `min`
    Minutes,
    /// `h`
    Hours,
    /// `d`
    Days,
    /// `w`
    Weeks,
    /// `m`
    Months,
    /// `y`
    Years,
}

impl When {
    /// Reads a date or span; `None` when it is neither.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        match text.as_str() {
            "today" => return Some(Self::DayAgo(0)),
            "yesterday" => return Some(Self::DayAgo(1)),
            _ => {}
        }
        if let Some(digits) = text.find(|c: char| !c.is_ascii_digit()).filter(|at| *at > 0) {
            let unit = match &text[digits..] {
                "min" => Some(Unit::Minutes),
                "h" => Some(Unit::Hours),
                "d" => Some(Unit::Days),
                "w" => Some(Unit::Weeks),
                "m" => Some(Unit::Months),
                "y" => Some(Unit::Years),
                _ => None,
            };
            if let Some(unit) = unit {
                // More than this is no span that a calendar has.
                return text[..digits].parse().ok().filter(|n| *n <= 9_000).map(|n| Self::Ago(n, unit));
            }
        }
        let number = |text: &str, digits: usize| -> Option<i16> {
            (text.len() == digits && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok()).flatten()
        };
        let (day, time) = match text.split_once('t') {
            Some((day, time)) => (day, Some(time)),
            None => (text.as_str(), None),
        };
        let mut parts = day.split('-');
        let year = number(parts.next()?, 4)?;
        let month = parts.next().map(|part| number(part, 2));
        let date = parts.next().map(|part| number(part, 2));
        if parts.next().is_some() || (time.is_some() && date.is_none()) {
            return None;
        }
        let small = |part: Option<Option<i16>>| -> Option<i8> { part.unwrap_or(Some(1))?.try_into().ok() };
        let date = Date::new(year, small(month)?, small(date)?).ok()?;
        let Some(time) = time else { return Some(Self::Moment(date.to_datetime(jiff::civil::Time::midnight()))) };
        let (hour, minute) = time.split_once(':')?;
        let time = jiff::civil::Time::new(number(hour, 2)?.try_into().ok()?, number(minute, 2)?.try_into().ok()?, 0, 0);
        Some(Self::Moment(date.to_datetime(time.ok()?)))
    }

    /// The instant that it means for somebody in `zone`.
    #[must_use]
    pub fn at(self, now: At, zone: &TimeZone) -> At {
        let here = Timestamp::from_millisecond(now.0).unwrap_or_default().to_zoned(zone.clone());
        let meant = match self {
            Self::Moment(moment) => moment.to_zoned(zone.clone()),
            Self::DayAgo(days) => here.checked_sub(days.days()).and_then(|day| day.start_of_day()),
            Self::Ago(n, unit) => here.checked_sub(span(n, unit)),
        };
        meant.map_or(At(i64::MIN), |meant| At(meant.timestamp().as_millisecond()))
    }
}

fn span(n: i32, unit: Unit) -> Span {
    match unit {
        Unit::Minutes => n.minutes(),
        Unit::Hours => n.hours(),
        Unit::Days => n.days(),
        Unit::Weeks => n.weeks(),
        Unit::Months => n.months(),
        Unit::Years => n.years(),
    }
}
