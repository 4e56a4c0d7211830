//! Server-sent events: bytes go in as they arrive, whole events come out. Knows no vendor and does no I/O.
//!
//! Follows the event stream format of the WHATWG HTML standard (section 9.2), except that `id` and `retry` are dropped,
//! that [`SseReader::finish`] gives out an event whose blank line never came, and that a line `error: …`, which some
//! servers send, is read as an event named `error`.

use std::mem;

/// The most bytes that one event may have.
pub const MOST_BYTES: usize = 16 * 1024 * 1024;

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Its name; empty where the server gave none.
    pub name: String,
    /// Its data; several `data` lines are joined with line feeds.
    pub data: String,
}

/// An event is larger than the reader takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of more than {} MB", .most / 1024 / 1024)]
pub struct TooLong {
    /// The most bytes that it may have.
    pub most: usize,
}

/// Takes bytes, gives events.
#[derive(Debug)]
pub struct SseReader {
    most: usize,
    /// The line so far, as bytes: a chunk may end inside of a character.
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    /// The last byte was a CR: an LF that follows belongs to it.
    after_cr: bool,
    /// Nothing but a byte order mark can have come yet.
    at_start: bool,
}

impl Default for SseReader {
    fn default() -> Self {
        Self::new(MOST_BYTES)
    }
}

impl SseReader {
    /// A reader that takes events of up to `most` bytes.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { most, line: Vec::new(), event: Event::default(), has_data: false, after_cr: false, at_start: true }
    }

    /// Takes bytes and appends the events that they complete to `out`.
    ///
    /// # Errors
    /// [`TooLong`] when an event outgrows the limit; the reader is of no use after that.
    pub fn push(&mut self, mut bytes: &[u8], out: &mut impl Extend<Event>) -> Result<(), TooLong> {
        if mem::take(&mut self.after_cr) {
            match bytes.first() {
                Some(b'\n') => bytes = bytes.get(1..).unwrap_or(&[]),
                None => self.after_cr = true,
                Some(_) => {}
            }
        }
        while let Some(at) = memchr::memchr2(b'\n', b'\r', bytes) {
            let (head, tail) = bytes.split_at(at);
            self.extend_line(head)?;
            bytes = match tail {
                [b'\r', b'\n', rest @ ..] => rest,
                [b'\r'] => {
                    self.after_cr = true;
                    &[]
                }
                [_, rest @ ..] => rest,
                [] => &[],
            };
            out.extend(self.end_line());
        }
        self.extend_line(bytes)
    }

    /// Call it at the end of the bytes: an event that has no blank line after it, perhaps cut off.
    pub fn finish(&mut self) -> Option<Event> {
        if !self.line.is_empty() {
            // An event can only end here if the rest is an empty line, which it is not.
            let _ = self.end_line();
        }
        self.dispatch()
    }

    fn extend_line(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.line.len() + self.event.data.len() + bytes.len() > self.most {
            return Err(TooLong { most: self.most });
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = mem::take(&mut self.line);
        let mut line = line.as_slice();
        if mem::take(&mut self.at_start) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(at) => {
                let (field, value) = line.split_at(at);
                let value = value.get(1..).unwrap_or(&[]);
                (field, value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &[][..]),
        };
        match field {
            b"data" => self.add(value),
            b"event" => self.event.name = String::from_utf8_lossy(value).into_owned(),
            b"error" => {
                "error".clone_into(&mut self.event.name);
                self.add(value);
            }
            // Comments (an empty field name), which servers send as pings, and fields that nothing here needs.
            _ => {}
        }
        None
    }

    fn add(&mut self, value: &[u8]) {
        if mem::replace(&mut self.has_data, true) {
            self.event.data.push('\n');
        }
        self.event.data.push_str(&String::from_utf8_lossy(value));
    }

    fn dispatch(&mut self) -> Option<Event> {
        let event = mem::take(&mut self.event);
        mem::take(&mut self.has_data).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole(bytes: &[u8]) -> Vec<Event> {
        parts([bytes])
    }

    fn parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Vec<Event> {
        let mut reader = SseReader::default();
        let mut out = Vec::new();
        for part in parts {
            reader.push(part, &mut out).unwrap();
        }
        out.extend(reader.finish());
        out
    }

    fn event(name: &str, data: &str) -> Event {
        Event { name: name.into(), data: data.into() }
    }

    #[test]
    fn the_format() {
        let table: [(&str, Vec<Event>); 16] = [
            ("data: a\n\ndata: b\n\n", vec![event("", "a"), event("", "b")]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", vec![event("", "a"), event("", "b")]),
            ("data: a\r\rdata: b\r\r", vec![event("", "a"), event("", "b")]),
            ("data: a\r\n\ndata: b\n\r\n", vec![event("", "a"), event("", "b")]),
            ("data:a\ndata:  b\n\n", vec![event("", "a\n b")]),
            ("\u{feff}data: a\n\n", vec![event("", "a")]),
            (": ping\n\n:\n\ndata: a\n: in between\ndata: b\n\n", vec![event("", "a\nb")]),
            ("event: error\ndata: {}\n\ndata: a\n\n", vec![event("error", "{}"), event("", "a")]),
            ("event: nothing\n\ndata: a\n\n", vec![event("", "a")]),
            ("data\n\n", vec![event("", "")]),
            ("data: a: b\n\n", vec![event("", "a: b")]),
            ("id: 1\nretry: 5\nodd: x\ndata: a\n\n", vec![event("", "a")]),
            ("data: [DONE]", vec![event("", "[DONE]")]),
            ("data: a\n", vec![event("", "a")]),
            ("error: {\"code\":500}\n\n", vec![event("error", "{\"code\":500}")]),
            ("", vec![]),
        ];
        for (text, events) in table {
            assert_eq!(whole(text.as_bytes()), events, "{text:?}");
        }
        assert_eq!(whole(b"data: \xff\xc3\n\n"), vec![event("", "\u{fffd}\u{fffd}")]);
    }

    #[test]
    fn a_huge_event_is_refused_however_it_is_cut() {
        for line in ["data: 0123456789\n".repeat(20), "data: ".to_owned() + &"x".repeat(200), "x".repeat(200)] {
            for size in [1, 7, 500] {
                let mut reader = SseReader::new(100);
                let mut out = Vec::new();
                let result: Result<(), TooLong> =
                    line.as_bytes().chunks(size).try_for_each(|part| reader.push(part, &mut out));
                assert_eq!(result, Err(TooLong { most: 100 }));
            }
        }
        let mut reader = SseReader::new(20);
        let mut out = Vec::new();
        reader.push("data: abc\n\n".repeat(50).as_bytes(), &mut out).unwrap();
        assert_eq!(out.len(), 50);
    }

    fn streams() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            Just(String::new()),
            Just(": ping".to_owned()),
            "data: ?[a🌊é{}:\" ]{0,8}",
            "event: [a-z]{0,5}",
            "[a-z]{0,6}:?[ 静]{0,2}",
            Just("\u{feff}data: x".to_owned()),
        ];
        let end = prop_oneof![Just("\n"), Just("\r\n"), Just("\r"), Just("\n\n"), Just("\r\n\r\n")];
        proptest::collection::vec((line, end), 0..20)
            .prop_map(|lines| lines.into_iter().map(|(line, end)| line + end).collect())
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_events(text in streams(), cuts in proptest::collection::vec(any::<u16>(), 0..12)) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut as usize % (bytes.len() + 1)).collect();
            cuts.push(bytes.len());
            cuts.sort_unstable();
            let mut from = 0;
            let pieces: Vec<&[u8]> = cuts.into_iter().map(|cut| { let piece = &bytes[from..cut]; from = cut; piece }).collect();
            prop_assert_eq!(parts(pieces), whole(bytes));
            prop_assert_eq!(parts(bytes.chunks(1)), whole(bytes));
        }

        #[test]
        fn any_bytes_are_taken(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(parts(bytes.chunks(1)), whole(&bytes));
        }
    }
}
