//! Body of an upload: a session's header with its messages in one JSON object.

use serde_json::value::RawValue;

/// Error of lines that are no session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the session has no header")]
pub struct NotASession;

/// The lines of a session as servers for shares take them: the header, with the messages as its `messages`. Lines that are
/// not JSON are left out.
///
/// # Errors
/// When the first line is no JSON object.
pub fn session_json(lines: &[u8]) -> Result<Vec<u8>, NotASession> {
    let mut lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let header = lines.next().ok_or(NotASession)?;
    let mut header: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(header).map_err(|_| NotASession)?;
    header.remove("messages");
    let mut out = serde_json::to_vec(&header).map_err(|_| NotASession)?;
    // The object stays open for one more field.
    out.pop();
    if !header.is_empty() {
        out.push(b',');
    }
    out.extend_from_slice(b"\"messages\":[");
    let messages = lines.filter_map(|line| serde_json::from_slice::<&RawValue>(line).ok());
    for (at, message) in messages.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(message.get().as_bytes());
    }
    out.extend_from_slice(b"]}");
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_one_object() {
        let body = |lines: &str| session_json(lines.as_bytes()).map(|body| String::from_utf8(body).unwrap());
        for (lines, expected) in [
            ("{\"id\":\"s\"}\n{\"id\":\"a\"}\n\n{\"id\":\"b\"}\n", r#"{"id":"s","messages":[{"id":"a"},{"id":"b"}]}"#),
            ("{\"id\":\"s\"}\n{\"id\":\"a\"}\n{\"id\":\"ha", r#"{"id":"s","messages":[{"id":"a"}]}"#),
            ("{\"messages\":1}\n", r#"{"messages":[]}"#),
        ] {
            assert_eq!(body(lines).as_deref(), Ok(expected), "{lines}");
        }
        for lines in ["", "\n", "[]\n", "header\n{}\n"] {
            assert_eq!(body(lines), Err(NotASession), "{lines:?}");
        }
    }
}
