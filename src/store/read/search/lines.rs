//! Lines of a file from the front, through a buffer that is used again and again.

use crate::store::io::Io;
use std::fs::File;
use std::io;

/// Read at once: what a processor's cache holds beside its fold.
const BLOCK: usize = 256 << 10;
/// A longer line comes in parts. No row is that long: what a tool gives back is cut long before.
const LONGEST: usize = 16 << 20;
/// The end of a part that the next one begins with, so that a word across the cut is found.
const OVERLAP: usize = 4 << 10;

/// A line, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SearchLine<'a> {
    /// Start in the file.
    pub at: u64,
    /// Bytes without the newline.
    pub bytes: &'a [u8],
    /// True for a part of a line that is too long to be a row.
    pub part: bool,
}

/// The buffer. It outlives the files that are read with it.
#[derive(Debug)]
pub(super) struct LineBuffer {
    buffer: Vec<u8>,
    /// Start of the bytes that were read and not given out.
    start: usize,
    filled: usize,
    /// Start of `buffer` in the file.
    at: u64,
    /// Number of bytes after `start` that hold no newline.
    searched: usize,
    /// The line that `start` is in began here.
    line: Option<u64>,
    longest: usize,
}

impl LineBuffer {
    pub(super) fn new() -> Self {
        Self::with(BLOCK, LONGEST)
    }

    fn with(block: usize, longest: usize) -> Self {
        Self { buffer: vec![0; block], start: 0, filled: 0, at: 0, searched: 0, line: None, longest }
    }

    /// Begins anew at byte `at` of a file.
    pub(super) fn begin(&mut self, at: u64) {
        if self.buffer.len() > BLOCK {
            self.buffer = vec![0; BLOCK];
        }
        (self.start, self.filled, self.at, self.searched, self.line) = (0, 0, at, 0, None);
    }

    /// The first bytes, for a look at the header.
    pub(super) fn first(&mut self, io: &dyn Io, file: &File) -> io::Result<&[u8]> {
        self.begin(0);
        self.fill(io, file)?;
        Ok(&self.buffer[..self.filled])
    }

    /// Leaves out what stands before byte `at`.
    pub(super) fn skip_to(&mut self, at: u64) {
        match usize::try_from(at.saturating_sub(self.at)) {
            Ok(start) if start <= self.filled => (self.start, self.searched) = (start, 0),
            _ => self.begin(at),
        }
    }

    /// Reads more; false at the end of the file.
    fn fill(&mut self, io: &dyn Io, file: &File) -> io::Result<bool> {
        self.buffer.copy_within(self.start..self.filled, 0);
        self.at += self.start as u64;
        self.filled -= self.start;
        self.start = 0;
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let got = io.read_at(file, self.at + self.filled as u64, &mut self.buffer[self.filled..])?;
        self.filled += got;
        Ok(got > 0)
    }

    /// The next line; `None` at the end of the file.
    pub(super) fn next(&mut self, io: &dyn Io, file: &File) -> io::Result<Option<SearchLine<'_>>> {
        loop {
            let rest = &self.buffer[self.start..self.filled];
            let newline = memchr::memchr(b'\n', &rest[self.searched..]).map(|at| at + self.searched);
            let begun = self.at + self.start as u64;
            let (length, next, ended) = match newline {
                Some(at) => (at, at + 1, true),
                None if rest.len() >= self.longest => (rest.len(), rest.len() - OVERLAP.min(rest.len() / 2), false),
                None => {
                    self.searched = rest.len();
                    if self.fill(io, file)? {
                        continue;
                    }
                    if self.filled == 0 {
                        return Ok(None);
                    }
                    (self.filled, self.filled, true)
                }
            };
            let start = self.start;
            let (at, part) = (self.line.unwrap_or(begun), !ended || self.line.is_some());
            self.line = (!ended).then_some(at);
            self.start += next;
            self.searched = 0;
            return Ok(Some(SearchLine { at, bytes: &self.buffer[start..start + length], part }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::io::{Disk, How};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn lines_are_those_of_the_file(
            lengths in prop::collection::vec(0usize..90, 0..12), last in any::<bool>(), block in 1usize..40, skip in 0usize..60,
        ) {
            let mut content = Vec::new();
            for (n, length) in lengths.iter().enumerate() {
                content.extend(vec![b'a' + u8::try_from(n).unwrap(); *length]);
                content.push(b'\n');
            }
            if last {
                content.pop();
            }
            let skip = skip.min(content.len());
            let dir = tempfile::tempdir().unwrap();
            std::fs::write(dir.path().join("f"), &content).unwrap();
            let file = Disk.open(&dir.path().join("f"), How::Read).unwrap();
            let longest = 64;
            let mut lines = LineBuffer::with(block, longest);
            lines.first(&Disk, &file).unwrap();
            lines.skip_to(skip as u64);
            let mut seen: Vec<(u64, Vec<u8>)> = Vec::new();
            let mut expected = Vec::new();
            let mut at = skip;
            for line in content[skip..].split(|b| *b == b'\n') {
                expected.push((at as u64, line.to_vec()));
                at += line.len() + 1;
            }
            if expected.last().is_some_and(|(_, line)| line.is_empty()) {
                expected.pop();
            }
            while let Some(line) = lines.next(&Disk, &file).unwrap() {
                match seen.last_mut().filter(|(at, _)| line.part && *at == line.at) {
                    // A part begins with what the one before ended with.
                    Some((_, whole)) => whole.resize(content[line.at as usize..].split(|b| *b == b'\n').next().unwrap().len().min(whole.len() + line.bytes.len()), line.bytes[0]),
                    None => seen.push((line.at, line.bytes.to_vec())),
                }
                prop_assert!(line.part || line.bytes.len() < longest.max(2 * block).max(90));
            }
            prop_assert_eq!(seen, expected);
        }
    }
}
