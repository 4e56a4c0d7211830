//! A text as it reads once its escapes are undone: entities of HTML and XML, percent signs of addresses, backslashes of
//! JSON. So a secret is found however it was escaped, and cut out where it stands.

use std::borrow::Cow;
use std::ops::Range;

/// So often escapes are undone: JSON in JSON, in a page.
const DEPTH: usize = 4;
/// No escape is longer.
const LONGEST: usize = 12;

/// A text without its escapes, and where each of its bytes stands in the text that was given.
#[derive(Debug)]
struct Plain {
    text: String,
    at: Vec<usize>,
}

/// Shows the text without its escapes, once for each level of them, with what gives the place in `text` of a place there.
pub fn each_level(text: &str, mut show: impl FnMut(&str, &dyn Fn(Range<usize>) -> Range<usize>)) {
    let mut level: Option<Plain> = None;
    for _ in 0..DEPTH {
        let known = level.as_ref().map_or(text, |level| &level.text);
        let Some(next) = undone(known) else { return };
        let at = match &level {
            Some(before) => next.at.iter().filter_map(|at| before.at.get(*at).copied()).collect(),
            None => next.at,
        };
        let next = Plain { text: next.text, at };
        let place = |at: usize| next.at.get(at).copied().unwrap_or(text.len());
        show(&next.text, &|range| place(range.start)..place(range.end));
        level = Some(next);
    }
}

/// `None`: there is no escape in it.
fn undone(text: &str) -> Option<Plain> {
    let bytes = text.as_bytes();
    memchr::memchr3(b'&', b'%', b'\\', bytes)?;
    let mut out = Plain { text: String::with_capacity(text.len()), at: Vec::with_capacity(text.len() + 1) };
    let (mut at, mut any) = (0, false);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let (sign, length): (Cow<'_, str>, usize) = match escape(rest) {
            Some((sign, length)) => {
                any = true;
                (sign, length)
            }
            None => {
                let end = memchr::memchr3(b'&', b'%', b'\\', rest.as_bytes().get(1..).unwrap_or_default());
                let length = end.map_or(rest.len(), |end| end + 1);
                // The signs are one byte each, so this is no middle of a character.
                let plain = rest.get(..length).unwrap_or(rest);
                out.at.extend(at..at + plain.len());
                out.text.push_str(plain);
                at += plain.len();
                continue;
            }
        };
        out.at.extend(std::iter::repeat_n(at, sign.len()));
        out.text.push_str(&sign);
        at += length;
    }
    out.at.push(text.len());
    any.then_some(out)
}

/// The escape at the beginning of a text: what it stands for, and its length.
fn escape(text: &str) -> Option<(Cow<'static, str>, usize)> {
    match text.as_bytes().first()? {
        b'&' => entity(text),
        b'%' => percent(text),
        b'\\' => backslash(text),
        _ => None,
    }
}

fn entity(text: &str) -> Option<(Cow<'static, str>, usize)> {
    let near = text.as_bytes().get(..text.len().min(LONGEST)).unwrap_or_default();
    let end = memchr::memchr(b';', near)?;
    let name = text.get(1..end)?;
    let sign = match name {
        "lt" => "<",
        "gt" => ">",
        "amp" => "&",
        "quot" => "\"",
        "apos" => "'",
        "nbsp" => " ",
        "colon" => ":",
        "equals" => "=",
        "sol" => "/",
        "plus" => "+",
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            return Some((char::from_u32(code)?.to_string().into(), end + 1));
        }
    };
    Some((sign.into(), end + 1))
}

fn percent(text: &str) -> Option<(Cow<'static, str>, usize)> {
    let hex = text.get(1..3).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()))?;
    let byte = u8::from_str_radix(hex, 16).ok()?;
    // A part of a longer character is no part of a key.
    let sign = if byte.is_ascii() { char::from(byte) } else { '\u{fffd}' };
    Some((sign.to_string().into(), 3))
}

fn backslash(text: &str) -> Option<(Cow<'static, str>, usize)> {
    let sign = match text.as_bytes().get(1)? {
        b'n' => "\n",
        b'r' => "\r",
        b't' => "\t",
        b'"' => "\"",
        b'\'' => "'",
        b'`' => "`",
        b'/' => "/",
        b'\\' => "\\",
        b'*' => "*",
        b'_' => "_",
        b'u' => {
            let code = text.get(2..6).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()))?;
            let sign = char::from_u32(u32::from_str_radix(code, 16).ok()?).unwrap_or('\u{fffd}');
            return Some((sign.to_string().into(), 6));
        }
        b'x' => {
            let code = text.get(2..4).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()))?;
            let byte = u8::from_str_radix(code, 16).ok()?;
            return Some((char::from(byte).to_string().into(), 4));
        }
        _ => return None,
    };
    Some((sign.into(), 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn levels(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        each_level(text, |plain, _| out.push(plain.to_owned()));
        out
    }

    #[test]
    fn escapes_of_each_kind_are_undone_level_by_level() {
        for (text, wanted) in [
            ("plain", vec![]),
            ("100% & \\d", vec![]),
            ("&lt;a&gt;&#39;&#x2F;", vec!["<a>'/"]),
            ("a%3Db%2fc", vec!["a=b/c"]),
            (r#"{\"a\":\"b\\nc\"}"#, vec!["{\"a\":\"b\\nc\"}", "{\"a\":\"b\nc\"}"]),
            ("&amp;lt;a", vec!["&lt;a", "<a"]),
            ("\\u0022\\x41ü%C3", vec!["\"Aü\u{fffd}"]),
        ] {
            assert_eq!(levels(text), wanted, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_place_stands_between_characters_and_in_order(text in "[a&;lt%3D\\\\u0\"nü🌊#x]{0,40}") {
            each_level(&text, |plain, place| {
                let mut last = 0;
                for (at, _) in plain.char_indices() {
                    let there = place(at..plain.len());
                    assert!(text.is_char_boundary(there.start) && there.start >= last && there.end == text.len());
                    last = there.start;
                }
            });
        }
    }
}
