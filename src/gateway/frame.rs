//! Frames of the link: one JSON object a line, of the types `req`, `res` and `event`.
//!
//! Lines, and no length before each: JSON escapes every line end, so a line is a frame; a shell's greeting before the first one
//! can be skipped, and a person can read along. What a frame means is left to [`super::server`] and [`super::remote`].

use crate::protocol;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes of a frame at most: a snapshot with the longest rows fits.
pub const LONGEST: usize = 64 << 20;

/// Bytes of a frame at most before the other side has proved who it is.
pub const LONGEST_FIRST: usize = 64 << 10;

/// Frame that was understood.
#[derive(Debug)]
pub enum LinkFrame {
    /// Request.
    Request {
        /// Number that the asker chose.
        id: u64,
        /// Method name.
        method: String,
        /// Parameters; `null` where there are none.
        params: Box<RawValue>,
    },
    /// Reply to a request.
    Reply {
        /// The request's number.
        id: u64,
        /// Result or error.
        result: Result<Box<RawValue>, FrameError>,
    },
    /// Event.
    Event {
        /// Event name.
        event: String,
        /// Content.
        payload: Box<RawValue>,
        /// Number on this connection, rising by one; `None` for events that are not repeated.
        seq: Option<u64>,
    },
}

/// Error of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FrameError {
    /// Code, for programs.
    pub code: ErrorCode,
    /// A sentence, for people: what failed and what to do.
    pub message: String,
    /// The same request may succeed later.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retryable: bool,
    /// Milliseconds to wait before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The engine's own code, for an error of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<protocol::ErrorCode>,
    /// The client got an event with these words as well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub told: bool,
}

/// Codes of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// The frame or its parameters are not understood.
    InvalidRequest,
    /// There is no such method.
    UnknownMethod,
    /// The secret is wrong or missing, or the user is another one.
    Unauthorized,
    /// The two sides have no version of the protocol in common.
    ProtocolMismatch,
    /// It cannot be done now or here.
    Unavailable,
    /// The token does not cover it.
    Forbidden,
    /// There is no such workspace, session or page.
    NotFound,
    /// There was one, and there is no longer.
    Gone,
    /// Too many wrong tokens came from this address: `retryAfterMs` says for how long.
    LockedOut,
    /// It is larger than what is taken.
    TooLarge,
    /// The engine refused the command: `details` says how.
    Refused,
    /// A code of a later version.
    #[serde(other)]
    Other,
}

impl FrameError {
    /// Error that repeating the request does not mend.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), retryable: false, retry_after_ms: None, details: None, told: false }
    }
}

/// Error of reading a frame.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A line that is no frame; the next one may be.
    #[error("{why}")]
    Malformed {
        /// The request's number, if it had one.
        id: Option<u64>,
        /// Reason, as a sentence.
        why: String,
    },
    /// The line is too long to be read on.
    #[error("a frame is longer than {0} bytes")]
    TooLong(usize),
    /// The connection failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// All fields of all types.
#[derive(Debug, Deserialize)]
struct Fields {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    id: Option<u64>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    params: Option<Box<RawValue>>,
    #[serde(default)]
    ok: Option<bool>,
    #[serde(default)]
    payload: Option<Box<RawValue>>,
    #[serde(default)]
    error: Option<FrameError>,
    #[serde(default)]
    event: Option<String>,
    #[serde(default)]
    seq: Option<u64>,
}

/// JSON `null`.
pub fn null() -> Box<RawValue> {
    RawValue::NULL.to_owned()
}

/// Reads one line.
///
/// # Errors
/// [`ReadError::Malformed`] for what is no frame.
pub fn parse(line: &[u8]) -> Result<LinkFrame, ReadError> {
    let malformed = |id, why: String| ReadError::Malformed { id, why };
    let fields: Fields =
        serde_json::from_slice(line).map_err(|error| malformed(None, format!("Invalid frame: {error}.")))?;
    let Fields { kind, id, method, params, ok, payload, error, event, seq } = fields;
    let missing = |field: &str| malformed(id, format!("A frame of type \"{kind}\" needs \"{field}\"."));
    match kind.as_str() {
        "req" => {
            let number = id.ok_or_else(|| missing("id"))?;
            let method = method.ok_or_else(|| missing("method"))?;
            Ok(LinkFrame::Request { id: number, method, params: params.unwrap_or_else(null) })
        }
        "res" => {
            let number = id.ok_or_else(|| missing("id"))?;
            let result = match (ok.ok_or_else(|| missing("ok"))?, error) {
                (true, _) => Ok(payload.unwrap_or_else(null)),
                (false, Some(error)) => Err(error),
                (false, None) => return Err(missing("error")),
            };
            Ok(LinkFrame::Reply { id: number, result })
        }
        "event" => {
            let event = event.ok_or_else(|| missing("event"))?;
            Ok(LinkFrame::Event { event, payload: payload.unwrap_or_else(null), seq })
        }
        other => Err(malformed(id, format!("Unknown frame type {other:?}: req, res or event."))),
    }
}

/// A request as a line.
#[must_use]
pub fn request(id: u64, method: &str, params: &impl Serialize) -> Vec<u8> {
    #[derive(Serialize)]
    struct Out<'a, P> {
        r#type: &'a str,
        id: u64,
        method: &'a str,
        params: &'a P,
    }
    line(&Out { r#type: "req", id, method, params })
}

/// A reply as a line.
#[must_use]
pub fn reply(id: Option<u64>, result: Result<&impl Serialize, &FrameError>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Out<'a, P> {
        r#type: &'a str,
        id: Option<u64>,
        ok: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        payload: Option<&'a P>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a FrameError>,
    }
    line(&Out { r#type: "res", id, ok: result.is_ok(), payload: result.ok(), error: result.err() })
}

/// An event as a line.
#[must_use]
pub fn event(event: &str, payload: &impl Serialize, seq: Option<u64>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Out<'a, P> {
        r#type: &'a str,
        event: &'a str,
        payload: &'a P,
        #[serde(skip_serializing_if = "Option::is_none")]
        seq: Option<u64>,
    }
    line(&Out { r#type: "event", event, payload, seq })
}

fn line(value: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).unwrap_or_else(|error| {
        // Values of ours have string keys and no numbers that JSON lacks.
        tracing::error!(%error, "can't write a frame as JSON");
        Vec::new()
    });
    line.push(b'\n');
    line
}

/// Splits bytes into lines, however they come.
#[derive(Debug)]
pub struct FrameLines {
    bytes: Vec<u8>,
    /// Bytes that are known to hold no line end.
    looked: usize,
    longest: usize,
}

impl FrameLines {
    /// Lines of at most so many bytes.
    #[must_use]
    pub fn new(longest: usize) -> Self {
        Self { bytes: Vec::new(), looked: 0, longest }
    }

    /// Allows lines of so many bytes from now on.
    pub fn allow(&mut self, longest: usize) {
        self.longest = longest;
    }

    /// Adds bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole line, without its end. Empty lines are skipped.
    ///
    /// # Errors
    /// [`ReadError::TooLong`], and from then on always.
    pub fn next_line(&mut self) -> Result<Option<Vec<u8>>, ReadError> {
        loop {
            let rest = self.bytes.get(self.looked..).unwrap_or_default();
            let Some(at) = memchr::memchr(b'\n', rest).map(|at| self.looked + at) else {
                self.looked = self.bytes.len();
                return if self.looked > self.longest { Err(ReadError::TooLong(self.longest)) } else { Ok(None) };
            };
            if at > self.longest {
                return Err(ReadError::TooLong(self.longest));
            }
            let rest = self.bytes.split_off(at + 1);
            let mut line = std::mem::replace(&mut self.bytes, rest);
            self.looked = 0;
            line.truncate(at);
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            if !line.is_empty() {
                return Ok(Some(line));
            }
        }
    }
}

/// Reads frames from a stream.
#[derive(Debug)]
pub struct FrameReader<R> {
    stream: R,
    lines: FrameLines,
    chunk: Vec<u8>,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// Reads frames of at most so many bytes.
    pub fn new(stream: R, longest: usize) -> Self {
        Self { stream, lines: FrameLines::new(longest), chunk: vec![0; 64 << 10] }
    }

    /// Allows frames of so many bytes from now on.
    pub fn allow(&mut self, longest: usize) {
        self.lines.allow(longest);
    }

    /// The next line; `None` at the end. Nothing is lost when it is dropped while it waits.
    ///
    /// # Errors
    /// A line that is too long, or a connection that failed.
    pub async fn line(&mut self) -> Result<Option<Vec<u8>>, ReadError> {
        loop {
            if let Some(line) = self.lines.next_line()? {
                return Ok(Some(line));
            }
            match self.stream.read(&mut self.chunk).await? {
                // A torn last line is no frame.
                0 => return Ok(None),
                n => self.lines.push(self.chunk.get(..n).unwrap_or_default()),
            }
        }
    }

    /// The next frame; `None` at the end.
    ///
    /// # Errors
    /// As [`FrameReader::line`], and for a line that is no frame.
    pub async fn frame(&mut self) -> Result<Option<LinkFrame>, ReadError> {
        match self.line().await? {
            Some(line) => parse(&line).map(Some),
            None => Ok(None),
        }
    }

    /// The stream, and what was read of it and is no whole line yet.
    pub fn into_parts(self) -> (R, Vec<u8>) {
        (self.stream, self.lines.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines_of(parts: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut lines = FrameLines::new(1000);
        let mut out = Vec::new();
        for part in parts {
            lines.push(part);
            while let Some(line) = lines.next_line().unwrap() {
                out.push(line);
            }
        }
        out
    }

    #[test]
    fn frames_torn_at_every_byte_are_the_same_frames() {
        let mut bytes = request(1, "lisle.command", &serde_json::json!({"text": "a\nb\u{2028}c"}));
        bytes.extend(event("x", &"ä€😀", Some(7)));
        bytes.extend(reply(Some(1), Ok(&())));
        let whole = lines_of(&[&bytes]);
        assert_eq!(whole.len(), 3);
        for at in 0..=bytes.len() {
            let (before, after) = bytes.split_at(at);
            assert_eq!(lines_of(&[before, after]), whole, "torn at {at}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(lines_of(&single), whole);
    }

    proptest! {
        #[test]
        fn whatever_comes_is_a_frame_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = parse(&bytes);
            let mut lines = FrameLines::new(100);
            lines.push(&bytes);
            while let Ok(Some(line)) = lines.next_line() {
                prop_assert!(line.len() <= 100);
            }
        }

        #[test]
        fn requests_come_back_as_they_were(id: u64, method in "\\PC{0,20}", text in "\\PC*") {
            let line = request(id, &method, &text);
            prop_assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
            let Ok(LinkFrame::Request { id: back, method: same, params }) = parse(&line) else { panic!() };
            prop_assert_eq!((back, same), (id, method));
            prop_assert_eq!(serde_json::from_str::<String>(params.get()).unwrap(), text);
        }
    }

    #[test]
    fn what_is_no_frame_is_said() {
        for (line, word) in [
            ("", "Invalid frame"),
            ("[]", "Invalid frame"),
            ("{}", "type"),
            (r#"{"type":"req"}"#, "\"id\""),
            (r#"{"type":"req","id":1}"#, "\"method\""),
            (r#"{"type":"res","id":1}"#, "\"ok\""),
            (r#"{"type":"res","id":1,"ok":false}"#, "\"error\""),
            (r#"{"type":"event"}"#, "\"event\""),
            (r#"{"type":"hello","id":3}"#, "Unknown frame type"),
            (r#"{"type":"req","id":-1,"method":"x"}"#, "Invalid frame"),
        ] {
            let Err(ReadError::Malformed { why, .. }) = parse(line.as_bytes()) else { panic!("{line}") };
            assert!(why.contains(word), "{line}: {why}");
        }
        let later = r#"{"type":"res","id":1,"ok":false,"error":{"code":"NEW_ONE","message":"x","more":1}}"#;
        let Ok(LinkFrame::Reply { result: Err(error), .. }) = parse(later.as_bytes()) else { panic!() };
        assert_eq!(error.code, ErrorCode::Other);
    }

    #[tokio::test]
    async fn a_frame_of_100_mb_is_refused_before_it_is_read() {
        let stream = tokio::io::repeat(b'x');
        let mut reader = FrameReader::new(stream.take(100 << 20), LONGEST);
        assert!(matches!(reader.frame().await, Err(ReadError::TooLong(LONGEST))));
        assert!(reader.lines.bytes.len() < LONGEST + (1 << 20));
    }
}
