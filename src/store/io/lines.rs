//! Lines of a file, from its end or from its start, without having the whole in memory.
//!
//! A cursor is the byte where a page begins; the page before ends there. What a line holds is left to `row`.

use crate::store::io::Io;
use std::fs::File;
use std::io;

/// A line that is not blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextLine {
    /// The byte where it begins.
    pub at: u64,
    /// Bytes without the newline.
    pub bytes: Vec<u8>,
}

/// Lines of a page, oldest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinePage {
    /// The lines.
    pub lines: Vec<TextLine>,
    /// End of the page before; `None` if there is none.
    pub earlier: Option<u64>,
}

const BLOCK: u64 = 64 * 1024;

/// The last `want` lines (at least one) between `floor`, where a line begins, and `end`.
///
/// # Errors
/// When the file cannot be read.
pub fn before(io: &dyn Io, file: &File, floor: u64, end: u64, want: usize) -> io::Result<LinePage> {
    within(io, file, floor, end, want, usize::MAX)
}

/// The same, but no more lines once these have `enough` bytes.
///
/// # Errors
/// When the file cannot be read.
pub fn within(io: &dyn Io, file: &File, floor: u64, end: u64, want: usize, enough: usize) -> io::Result<LinePage> {
    let want = want.max(1);
    let mut span = BLOCK;
    // The window grows by four each time, so that long lines cost at most a third more than their length.
    loop {
        let start = end.saturating_sub(span).max(floor);
        let bytes = range(io, file, start, end)?;
        let whole = start <= floor;
        let mut lines = Vec::new();
        let mut stop = bytes.len();
        let mut more = false;
        let mut taken = 0;
        for newline in memchr::memrchr_iter(b'\n', &bytes).map(Some).chain(std::iter::once(None)) {
            let begin = newline.map_or(0, |n| n + 1);
            if newline.is_none() && !whole {
                break;
            }
            let line = &bytes[begin..stop];
            stop = newline.unwrap_or(0);
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            if lines.len() == want || (taken >= enough && !lines.is_empty()) {
                more = true;
                break;
            }
            taken += line.len();
            lines.push(TextLine { at: start + begin as u64, bytes: line.to_vec() });
        }
        if whole || more {
            lines.reverse();
            let earlier = if more { lines.first().map(|line| line.at) } else { None };
            return Ok(LinePage { lines, earlier });
        }
        span = span.saturating_mul(4);
    }
}

/// The first `want` lines (at least one) from `start`, where a line begins, to `end`, and where the next page begins;
/// `None` when nothing but blanks follows.
///
/// # Errors
/// When the file cannot be read.
pub fn after(io: &dyn Io, file: &File, start: u64, end: u64, want: usize) -> io::Result<(Vec<TextLine>, Option<u64>)> {
    let want = want.max(1);
    let mut span = BLOCK;
    loop {
        let stop = end.min(start.saturating_add(span));
        let bytes = range(io, file, start, stop)?;
        let whole = stop >= end;
        let mut lines = Vec::new();
        let mut at = 0;
        for newline in memchr::memchr_iter(b'\n', &bytes).map(Some).chain(std::iter::once(None)) {
            if newline.is_none() && !whole {
                break;
            }
            let (begin, line) = (at, &bytes[at..newline.unwrap_or(bytes.len())]);
            at = newline.map_or(bytes.len(), |n| n + 1);
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            if lines.len() == want {
                return Ok((lines, Some(start + begin as u64)));
            }
            lines.push(TextLine { at: start + begin as u64, bytes: line.to_vec() });
        }
        if whole {
            return Ok((lines, None));
        }
        span = span.saturating_mul(4);
    }
}

/// Start of the line that byte `at` is in, not before `floor`, which is a line start, too.
///
/// # Errors
/// When the file cannot be read.
pub fn line_start(io: &dyn Io, file: &File, floor: u64, at: u64) -> io::Result<u64> {
    let mut end = at;
    while end > floor {
        let start = end.saturating_sub(BLOCK).max(floor);
        let bytes = range(io, file, start, end)?;
        if let Some(newline) = memchr::memrchr(b'\n', &bytes) {
            return Ok(start + newline as u64 + 1);
        }
        end = start;
    }
    Ok(floor)
}

/// The bytes from `start` to `end`, fewer when the file is shorter.
///
/// # Errors
/// When the file cannot be read.
pub fn range(io: &dyn Io, file: &File, start: u64, end: u64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(end.saturating_sub(start)).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    let got = io.read_at(file, start, &mut bytes)?;
    bytes.truncate(got);
    Ok(bytes)
}

/// A line as [`each`] shows it; blank ones too.
#[derive(Clone, Copy, Debug)]
pub struct LineView<'a> {
    /// The byte where it begins.
    pub at: u64,
    /// Length without the newline.
    pub len: u64,
    /// Bytes without the newline; only the first of them if it is longer than [`LONGEST`].
    pub bytes: &'a [u8],
    /// A newline follows.
    pub ended: bool,
}

/// A longer line is not held in memory.
pub const LONGEST: usize = 64 << 20;
const STEP: u64 = 1 << 20;

/// Shows every line between `start`, where one begins, and `end`, in order. Holds one line in memory at a time.
///
/// # Errors
/// When the file cannot be read, or what `show` fails with.
pub fn each<E: From<io::Error>>(
    io: &dyn Io,
    file: &File,
    start: u64,
    end: u64,
    mut show: impl FnMut(LineView<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let (mut begun, mut len, mut held) = (start, 0u64, Vec::new());
    let mut at = start;
    while at < end {
        let bytes = range(io, file, at, (at + STEP).min(end))?;
        if bytes.is_empty() {
            break;
        }
        at += bytes.len() as u64;
        let mut rest = bytes.as_slice();
        while let Some(newline) = memchr::memchr(b'\n', rest) {
            let (line, after) = (&rest[..newline], &rest[newline + 1..]);
            len += line.len() as u64;
            if held.is_empty() {
                show(LineView { at: begun, len, bytes: line, ended: true })?;
            } else {
                held.extend_from_slice(&line[..line.len().min(LONGEST - held.len())]);
                show(LineView { at: begun, len, bytes: &held, ended: true })?;
                // A very long line's memory is given back.
                held = Vec::new();
            }
            begun += len + 1;
            len = 0;
            rest = after;
        }
        len += rest.len() as u64;
        held.extend_from_slice(&rest[..rest.len().min(LONGEST - held.len())]);
    }
    if len > 0 {
        show(LineView { at: begun, len, bytes: &held, ended: false })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::io::{Disk, How};
    use proptest::prelude::*;

    fn file(content: &[u8]) -> File {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, content).unwrap();
        Disk.open(&path, How::Read).unwrap()
    }

    fn pages(content: &[u8], floor: u64, rows: usize, enough: usize) -> Vec<TextLine> {
        let file = file(content);
        let mut all = Vec::new();
        let mut end = Some(content.len() as u64);
        while let Some(to) = end {
            let page = within(&Disk, &file, floor, to, rows, enough).unwrap();
            assert!(page.lines.len() <= rows);
            let but_the_first: usize = page.lines.iter().skip(1).map(|line| line.bytes.len()).sum();
            assert!(but_the_first < enough);
            all.splice(0..0, page.lines);
            end = page.earlier;
        }
        all
    }

    #[test]
    fn every_line_is_shown_once_with_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let long = "x".repeat(usize::try_from(STEP).unwrap() * 2 + 5);
        for content in [format!("head\na\n\n{long}\nb"), format!("head\n{long}"), "head\n".into(), "head\nz\n".into()] {
            std::fs::write(&path, &content).unwrap();
            let file = Disk.open(&path, How::Read).unwrap();
            let mut out = "head\n".to_owned();
            each(&Disk, &file, 5, content.len() as u64, |line| -> io::Result<()> {
                assert_eq!((line.at, line.len), (out.len() as u64, line.bytes.len() as u64));
                out.push_str(std::str::from_utf8(line.bytes).unwrap());
                if line.ended {
                    out.push('\n');
                }
                Ok(())
            })
            .unwrap();
            assert_eq!(out, content);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn pages_together_are_the_whole(
            lengths in prop::collection::vec(prop_oneof![0usize..40, 60_000usize..70_000, Just(200_000)], 0..12),
            rows in 1usize..6, last in any::<bool>(), floor in any::<bool>(),
            enough in prop::sample::select(vec![1, 60_000, 100_000, usize::MAX]),
        ) {
            let mut content: Vec<u8> = Vec::new();
            let mut whole = Vec::new();
            for (i, length) in lengths.iter().enumerate() {
                let bytes = vec![b'a' + u8::try_from(i).unwrap(); *length];
                if *length > 0 && !(floor && i == 0) {
                    whole.push(TextLine { at: content.len() as u64, bytes: bytes.clone() });
                }
                content.extend(&bytes);
                content.push(b'\n');
            }
            let from = if floor { lengths.first().map_or(0, |n| *n as u64 + 1) } else { 0 };
            if !last && content.len() as u64 > from {
                content.pop();
            }
            prop_assert_eq!(&pages(&content, from, rows, enough), &whole);
            let mut all = Vec::new();
            let ends = content[usize::try_from(from).unwrap()..].last().is_none_or(|b| *b == b'\n');
            each(&Disk, &file(&content), from, content.len() as u64, |line| -> io::Result<()> {
                let last = line.at + line.len == content.len() as u64;
                assert_eq!((line.len, line.ended), (line.bytes.len() as u64, ends || !last));
                all.push(TextLine { at: line.at, bytes: line.bytes.to_vec() });
                Ok(())
            }).unwrap();
            all.retain(|line| !line.bytes.is_empty());
            prop_assert_eq!(all, whole);
        }
    }
}
