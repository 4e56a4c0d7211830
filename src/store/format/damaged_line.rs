//! A damaged line taken apart: the rows on it that are whole, and what is between them.
//!
//! `row` shows the parts of such a line in the same order.

use super::json::JsonFields;
use super::row;
use std::ops::Range;

/// Number of places in a line that are tried.
const TRIED: usize = 64;

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinePiece {
    /// Byte range.
    pub at: Range<usize>,
    /// True for a row.
    pub whole: bool,
}

/// The parts of a line, in order, without the blanks between them. A sound line is one whole piece.
pub fn of(line: &[u8]) -> Vec<LinePiece> {
    let mut out = Vec::new();
    let end = line.len() - line.iter().rev().take_while(|b| b.is_ascii_whitespace()).count();
    let mut at = line[..end].iter().take_while(|b| b.is_ascii_whitespace()).count();
    while at < end {
        let Some(length) = first_value(&line[at..end]).filter(|length| is_row(&line[at..at + length])) else { break };
        out.push(LinePiece { at: at..at + length, whole: true });
        at += length;
        at += line[at..end].iter().take_while(|b| b.is_ascii_whitespace()).count();
    }
    if at >= end {
        return out;
    }
    // What follows is torn; a whole row may stand behind it. Rows begin with one of their common keys.
    let behind = memchr::memmem::find_iter(&line[at..end], b"{\"").map(|found| at + found).filter(|found| *found > at);
    match behind.take(TRIED).find(|found| is_row(&line[*found..end])) {
        Some(found) => {
            out.push(LinePiece { at: at..found, whole: false });
            out.push(LinePiece { at: found..end, whole: true });
        }
        None => out.push(LinePiece { at: at..end, whole: false }),
    }
    out
}

/// The length of the JSON value that the bytes begin with.
fn first_value(bytes: &[u8]) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<serde::de::IgnoredAny>();
    values.next()?.ok()?;
    Some(values.byte_offset())
}

fn is_row(bytes: &[u8]) -> bool {
    JsonFields::parse(&String::from_utf8_lossy(bytes)).is_ok_and(|fields| row::is_message(&fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_apart_where_rows_begin() {
        let one = r#"{"id":"1","type":"user","content":"a {\"b\""}"#;
        let two = r#"{"id":"2","type":"info","content":"\ud83d"}"#;
        for (line, parts) in [
            (one.to_owned(), vec![(one, true)]),
            (format!("{one}{two}\r"), vec![(one, true), (two, true)]),
            (format!(" {one} {two} {one}"), vec![(one, true), (two, true), (one, true)]),
            (format!(r#"{{"id":"0","type":"us{two}"#), vec![(r#"{"id":"0","type":"us"#, false), (two, true)]),
            (format!(r#"{two}{{"id":"0""#), vec![(two, true), (r#"{"id":"0""#, false)]),
            (format!("{two}\0\0\0"), vec![(two, true), ("\0\0\0", false)]),
            ("not JSON".to_owned(), vec![("not JSON", false)]),
            (r#"{"id":"x"}"#.to_owned(), vec![(r#"{"id":"x"}"#, false)]),
            ("  ".to_owned(), vec![]),
        ] {
            let found: Vec<_> = of(line.as_bytes()).into_iter().map(|p| (&line[p.at], p.whole)).collect();
            assert_eq!(found, parts, "{line}");
        }
        let mut broken = two.as_bytes().to_vec();
        broken.extend(b"{\"id\":\"\xff\xfe");
        broken.extend(one.as_bytes());
        let found: Vec<_> = of(&broken).into_iter().map(|p| (p.at.len(), p.whole)).collect();
        assert_eq!(found, [(two.len(), true), (9, false), (one.len(), true)]);
    }
}
