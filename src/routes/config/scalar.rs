//! Values of several types: `30`, `"30d"`, `false`.

use super::QueueCap;
use super::units::{Days, Hours};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};
use std::fmt;

/// Value of a setting before its meaning is known.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar {
    Text(String),
    Whole(i64),
    Float(f64),
    Bool(bool),
}

impl Scalar {
    /// Text of a number or a text; `wanted` names what the setting takes.
    pub(super) fn number_text(&self, wanted: &str) -> Result<String, String> {
        match self {
            Self::Text(text) => Ok(text.clone()),
            Self::Whole(number) => Ok(number.to_string()),
            Self::Float(number) => Ok(number.to_string()),
            Self::Bool(value) => Err(format!("{value} is not {wanted}")),
        }
    }

    /// Number without its fraction.
    fn floor(&self) -> Option<i64> {
        match self {
            Self::Whole(number) => Some(*number),
            #[allow(clippy::cast_possible_truncation)]
            Self::Float(number) if number.is_finite() && number.abs() < 1e15 => Some(number.floor() as i64),
            Self::Float(_) | Self::Text(_) | Self::Bool(_) => None,
        }
    }
}

struct ScalarVisitor;

impl Visitor<'_> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a text or false")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Scalar, E> {
        Ok(Scalar::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Scalar, E> {
        Ok(Scalar::Whole(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Scalar, E> {
        i64::try_from(value).map(Scalar::Whole).map_err(E::custom)
    }

    fn visit_f64<E>(self, value: f64) -> Result<Scalar, E> {
        Ok(Scalar::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(value.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ScalarVisitor)
    }
}

/// Hour of the day. The reference clamps; an hour that no day has is an error here.
pub(super) fn hour<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u8>, D::Error> {
    let hour = Scalar::deserialize(from)?.floor().and_then(|hour| u8::try_from(hour).ok());
    hour.filter(|hour| *hour < 24).map(Some).ok_or_else(|| D::Error::custom("atHour must be a number from 0 to 23"))
}

/// Number of minutes.
pub(super) fn positive<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let number = Scalar::deserialize(from)?.floor().and_then(|number| u64::try_from(number).ok());
    number.filter(|number| *number > 0).map(Some).ok_or_else(|| D::Error::custom("must be a number of at least 1"))
}

/// Number of entries.
pub(super) fn count<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    let number = Scalar::deserialize(from)?.floor().and_then(|number| usize::try_from(number).ok());
    number.filter(|number| *number > 0).ok_or_else(|| D::Error::custom("must be a number of at least 1"))
}

/// Duration that counts days, or `false`.
pub(super) fn days_or_false<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<Days>>, D::Error> {
    match Scalar::deserialize(from)? {
        Scalar::Bool(false) => Ok(Some(None)),
        other => Days::of(&other).map(|days| Some(Some(days))).map_err(D::Error::custom),
    }
}

/// Duration that counts hours, or `false`.
pub(super) fn hours_or_false<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Hours>, D::Error> {
    match Scalar::deserialize(from)? {
        Scalar::Bool(false) => Ok(None),
        other => Hours::of(&other).map(Some).map_err(D::Error::custom),
    }
}

impl<'de> Deserialize<'de> for QueueCap {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Scalar::deserialize(from)? {
            Scalar::Bool(false) => Ok(Self(None)),
            other => {
                let number = other.floor().and_then(|number| u64::try_from(number).ok()).filter(|number| *number > 0);
                let wrong = || D::Error::custom("cap must be a number of at least 1, or false for no limit");
                number.map(|number| Self(Some(number))).ok_or_else(wrong)
            }
        }
    }
}

impl Serialize for QueueCap {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(number) => to.serialize_u64(number),
            None => to.serialize_bool(false),
        }
    }
}
