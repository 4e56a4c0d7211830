//! JSON of servers, halves of characters included.
//!
//! JSON may name a character beyond the first 65,536 by two escapes, and a server that cuts its text anywhere sends them apart: `\ud83d`
//! at the end of one event, `\ude00` at the beginning of the next. Rust's strings hold no halves, so [`parse`] puts a stand-in for each
//! that is alone: one of the last 2,048 characters of the last private plane, which no server has a use for. [`Halves`] joins stand-ins
//! over the chunks of a stream, [`mend`] in a text that is whole; what stays alone becomes U+FFFD.

use super::{Chunk, ProposedCall};
use crate::domain::message::Native;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::VecDeque;

/// The stand-in of the first half, U+D800.
const FIRST: u32 = 0x0010_F800;
/// The first byte of every stand-in in UTF-8.
const LEAD: u8 = 0xF4;

/// Reads a value. Halves of characters become stand-ins.
///
/// # Errors
/// When the text is no JSON.
pub(super) fn parse(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text).or_else(|error| match stand_in(text) {
        Some(text) => serde_json::from_str(&text),
        None => Err(error),
    })
}

/// Reads the bytes of a value.
///
/// # Errors
/// When they are no JSON.
pub(super) fn parse_bytes(bytes: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(bytes).or_else(|error| match std::str::from_utf8(bytes).ok().and_then(stand_in) {
        Some(text) => serde_json::from_str(&text),
        None => Err(error),
    })
}

/// The text with stand-ins for the escapes of halves that are alone; `None` where there are none.
fn stand_in(text: &str) -> Option<String> {
    let mut out: Option<String> = None;
    let (mut done, mut at) = (0, 0);
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
        let escape = at + found;
        match half_at(text, escape) {
            Some(half) if is_high(half) && half_at(text, escape + 6).is_some_and(is_low) => at = escape + 12,
            Some(half) => {
                let out = out.get_or_insert_default();
                out.push_str(text.get(done..escape)?);
                out.extend(char::from_u32(FIRST + (half - 0xD800)));
                at = escape + 6;
                done = at;
            }
            // The escaped character is one byte long in every other escape.
            None => at = escape + 2,
        }
    }
    let mut out = out?;
    out.push_str(text.get(done..)?);
    Some(out)
}

/// The half that the escape at this place names.
fn half_at(text: &str, at: usize) -> Option<u32> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    let half = u32::from_str_radix(digits, 16).ok()?;
    (0xD800..=0xDFFF).contains(&half).then_some(half)
}

fn is_high(half: u32) -> bool {
    half < 0xDC00
}

fn is_low(half: u32) -> bool {
    half >= 0xDC00
}

/// The half that a character stands in for.
fn half_of(c: char) -> Option<u32> {
    u32::from(c).checked_sub(FIRST).map(|offset| 0xD800 + offset)
}

/// The text without stand-ins: two that belong together are their character, one that is alone is U+FFFD.
pub(super) fn mend(text: &str) -> Cow<'_, str> {
    if memchr::memchr(LEAD, text.as_bytes()).is_none() || !text.chars().any(|c| half_of(c).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let Some(high) = half_of(c) else {
            out.push(c);
            continue;
        };
        let low = rest.peek().copied().and_then(half_of).filter(|low| is_high(high) && is_low(*low));
        let whole = low.and_then(|low| char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00)));
        if whole.is_some() {
            rest.next();
        }
        out.push(whole.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    Cow::Owned(out)
}

/// A value without stand-ins.
pub(super) fn mended(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(owned(text)),
        Value::Array(list) => list.into_iter().map(mended).collect(),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(key, value)| (owned(key), mended(value))).collect::<Map<_, _>>())
        }
        other => other,
    }
}

fn owned(text: String) -> String {
    match mend(&text) {
        Cow::Owned(mended) => mended,
        Cow::Borrowed(_) => text,
    }
}

/// The chunks of one response, without stand-ins. Text and thinking that end in a half wait for the other one.
#[derive(Debug, Default)]
pub(super) struct Halves {
    text: Option<char>,
    thinking: Option<char>,
}

impl Halves {
    /// Takes a chunk and gives it out as far as it is whole.
    pub(super) fn take(&mut self, chunk: Chunk, out: &mut VecDeque<Chunk>) {
        let chunk = match chunk {
            Chunk::Text(text) => join(&mut self.text, text).map(Chunk::Text),
            Chunk::Thinking(text) => join(&mut self.thinking, text).map(Chunk::Thinking),
            Chunk::Call(call) => {
                Some(Chunk::Call(ProposedCall { name: owned(call.name), input: mended(call.input), ..call }))
            }
            Chunk::CallBegun(name) => Some(Chunk::CallBegun(owned(name))),
            Chunk::Native(native) => Some(Chunk::Native(Native { json: owned(native.json), ..native })),
            Chunk::Stopped(stop) => {
                self.end(out);
                Some(Chunk::Stopped(stop))
            }
            other @ (Chunk::Waiting(_) | Chunk::Started(_) | Chunk::Usage(_)) => Some(other),
        };
        out.extend(chunk);
    }

    /// The response is over: halves that wait stay alone.
    pub(super) fn end(&mut self, out: &mut VecDeque<Chunk>) {
        let alone = || char::REPLACEMENT_CHARACTER.to_string();
        out.extend(self.thinking.take().map(|_| Chunk::Thinking(alone())));
        out.extend(self.text.take().map(|_| Chunk::Text(alone())));
    }
}

/// Puts a text behind the half that waits, and lets a half at its end wait. Nothing where that is all.
fn join(held: &mut Option<char>, text: String) -> Option<String> {
    if held.is_none() && memchr::memchr(LEAD, text.as_bytes()).is_none() {
        return Some(text);
    }
    let mut all: String = held.take().into_iter().collect();
    all.push_str(&text);
    if let Some(last) = all.chars().next_back().filter(|last| half_of(*last).is_some_and(is_high)) {
        all.pop();
        *held = Some(last);
    }
    (!all.is_empty() || text.is_empty()).then(|| owned(all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn read(text: &str) -> Value {
        mended(parse(text).unwrap())
    }

    #[test]
    fn halves_in_a_whole_value() {
        for (text, value) in [
            (r#""a\ud83d\ude00b""#, json!("a😀b")),
            (r#""\ud83d""#, json!("\u{fffd}")),
            (r#""\ude00\ud83d""#, json!("\u{fffd}\u{fffd}")),
            (r#""\ud83d\ud83d\ude00""#, json!("\u{fffd}😀")),
            (r#""\\ud83d\ud83dé""#, json!("\\ud83d\u{fffd}é")),
            (r#"{"\ude00":["\uD83D\u0041"]}"#, json!({"\u{fffd}": ["\u{fffd}A"]})),
        ] {
            assert_eq!(read(text), value, "{text}");
            assert_eq!(mended(parse_bytes(text.as_bytes()).unwrap()), value, "{text}");
        }
        for bad in [r#""\ud83"#, r#""\ud83d"#, "{", r#""\x""#] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    fn heard(chunks: Vec<Chunk>) -> (String, String) {
        let (mut halves, mut out) = (Halves::default(), VecDeque::new());
        chunks.into_iter().for_each(|chunk| halves.take(chunk, &mut out));
        halves.end(&mut out);
        let (mut text, mut thinking) = (String::new(), String::new());
        for chunk in out {
            match chunk {
                Chunk::Text(more) => text.push_str(&more),
                Chunk::Thinking(more) => thinking.push_str(&more),
                _ => {}
            }
        }
        (text, thinking)
    }

    #[test]
    fn a_half_waits_for_the_other_one_of_its_kind() {
        let half = |text: &str| parse(text).unwrap().as_str().unwrap().to_owned();
        let (high, low) = (half(r#""\ud83d""#), half(r#""\ude00""#));
        let chunks = vec![
            Chunk::Text(format!("a{high}")),
            Chunk::Thinking(high.clone()),
            Chunk::Usage(Default::default()),
            Chunk::Text(format!("{low}b{high}")),
            Chunk::Thinking(low.clone()),
            Chunk::Text("c".into()),
            Chunk::Text(low),
            Chunk::Text(high),
        ];
        assert_eq!(heard(chunks), ("a😀b\u{fffd}c\u{fffd}\u{fffd}".to_owned(), "😀".to_owned()));
    }

    proptest! {
        #[test]
        fn wherever_a_text_is_cut_it_is_the_same(text in "[a-z😀é🌊\\\\\"]{0,12}", cuts in proptest::collection::vec(0usize..30, 0..6)) {
            let units: Vec<u16> = text.encode_utf16().collect();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (units.len() + 1)).collect();
            cuts.extend([0, units.len()]);
            cuts.sort_unstable();
            let piece = |units: &[u16]| {
                let escaped: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
                Chunk::Text(parse(&format!("\"{escaped}\"")).unwrap().as_str().unwrap().to_owned())
            };
            let pieces = cuts.windows(2).map(|cut| piece(&units[cut[0]..cut[1]])).collect();
            prop_assert_eq!(heard(pieces).0, text);
        }
    }
}
