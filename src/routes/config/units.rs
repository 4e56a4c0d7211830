//! Durations and sizes as texts: `30d`, `1h30m`, `10mb`.

use super::scalar::Scalar;
use serde::{Deserialize, Deserializer, de::Error};

/// Milliseconds of a minute.
pub const MINUTE: u64 = 60_000;
/// Milliseconds of an hour.
pub const HOUR: u64 = 60 * MINUTE;
/// Milliseconds of a day.
pub const DAY: u64 = 24 * HOUR;

/// Duration in milliseconds; a bare number counts days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Days(pub u64);

/// Duration in milliseconds; a bare number counts hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hours(pub u64);

/// Size in bytes, at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub u64);

/// Splits a text into numbers and the letters behind each.
fn numbers_with_units(text: &str) -> Option<Vec<(f64, String)>> {
    let text = text.trim().to_lowercase();
    let mut rest = text.as_str();
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let letters = after.find(|c: char| !c.is_ascii_alphabetic() && c != ' ').unwrap_or(after.len());
        let (unit, next) = after.split_at(letters);
        parts.push((number.parse().ok()?, unit.trim().to_owned()));
        rest = next;
    }
    (!parts.is_empty()).then_some(parts)
}

/// Whole number of a product that fits into 53 bits.
fn whole(value: f64) -> Option<u64> {
    const MOST: f64 = 9_007_199_254_740_991.0;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let number = value.round() as u64;
    (value.is_finite() && (0.0..=MOST).contains(&value)).then_some(number)
}

/// Milliseconds of a duration such as `45d`, `1h30m` or `500ms`; `bare` is the unit of a number without one.
///
/// # Errors
/// Fails for any other text; a number without a unit is only allowed alone.
pub fn parse_duration(text: &str, bare: u64) -> Result<u64, String> {
    let wrong = || format!("invalid duration {text:?}: use for example 30d, 12h or 1h30m");
    let parts = numbers_with_units(text).ok_or_else(wrong)?;
    let mut sum = 0.0;
    for (number, unit) in &parts {
        let factor = match unit.as_str() {
            "ms" => 1,
            "s" => 1000,
            "m" => MINUTE,
            "h" => HOUR,
            "d" => DAY,
            "" if parts.len() == 1 => bare,
            _ => return Err(wrong()),
        };
        #[allow(clippy::cast_precision_loss)]
        let factor = factor as f64;
        sum += number * factor;
    }
    whole(sum).ok_or_else(wrong)
}

/// Bytes of a size such as `10mb`, `2g` or `4096`; units are powers of 1024.
///
/// # Errors
/// Fails for any other text.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("invalid size {text:?}: use for example 500kb, 20mb or 2gb");
    let parts = numbers_with_units(text).ok_or_else(wrong)?;
    let [(number, unit)] = parts.as_slice() else { return Err(wrong()) };
    let factor = match unit.as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1024.0,
        "m" | "mb" => 1024.0 * 1024.0,
        "g" | "gb" => 1024.0 * 1024.0 * 1024.0,
        "t" | "tb" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return Err(wrong()),
    };
    whole(number * factor).ok_or_else(wrong)
}

impl Days {
    pub(super) fn of(scalar: &Scalar) -> Result<Self, String> {
        scalar.number_text("a duration").and_then(|text| parse_duration(&text, DAY)).map(Self)
    }
}

impl Hours {
    pub(super) fn of(scalar: &Scalar) -> Result<Self, String> {
        scalar.number_text("a duration").and_then(|text| parse_duration(&text, HOUR)).map(Self)
    }
}

impl Bytes {
    fn of(scalar: &Scalar) -> Result<Self, String> {
        let bytes = parse_bytes(&scalar.number_text("a size")?)?;
        // A limit of nothing would delete everything, and "no limit" is written by leaving the key out.
        if bytes == 0 { Err("size must be at least 1 byte".to_owned()) } else { Ok(Self(bytes)) }
    }
}

impl<'de> Deserialize<'de> for Days {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::of(&Scalar::deserialize(from)?).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::of(&Scalar::deserialize(from)?).map_err(D::Error::custom)
    }
}
