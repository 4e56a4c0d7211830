//! Writing to stdout and stderr. A closed pipe is not an error: whoever read has read enough.

use super::exit::Exit;
use crate::domain::ids::{DEMO, shown_name};
use crate::domain::sanitise;
use crate::sandbox::own_process::streams;
use serde::Serialize;
use serde_json::Value;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// A result could not be written, for another reason than a closed pipe.
static LOST: AtomicBool = AtomicBool::new(false);

/// Whoever read stdout has closed it.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Last line that was complained about.
static LAST: Mutex<String> = Mutex::new(String::new());

/// The last complaint, for whoever reads JSON; `None` before the first one.
pub(super) fn last_complaint() -> Option<String> {
    LAST.lock().ok().map(|last| last.clone()).filter(|last| !last.is_empty())
}

/// Decides if a part of the result is missing on stdout, as on a full disk. Then the exit status is not 0.
fn is_lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// The exit status, with a result that stdout lacks in mind.
pub(super) fn unless_lost(exit: Exit) -> Exit {
    if is_lost() && exit == Exit::Done { Exit::Failed } else { exit }
}

/// Reports the first failure that is no closed pipe. Returns if the write succeeded.
fn checked(written: io::Result<()>) -> bool {
    let Err(error) = written else { return true };
    if error.kind() == ErrorKind::BrokenPipe {
        CLOSED.store(true, Ordering::Relaxed);
    } else if !LOST.swap(true, Ordering::Relaxed) {
        complain(&format!("lisle: can't write stdout: {error}."));
    }
    false
}

/// Error of every write where stdout was closed before this process began.
pub(super) fn closed_at_start() -> io::Result<()> {
    if streams::is_stdout_closed() { Err(io::Error::other("it is closed")) } else { Ok(()) }
}

/// Decides if stdout takes results at all. Where it was closed before this process began, says so on stderr.
pub(super) fn is_open() -> bool {
    is_open_or("")
}

/// The same, with a sentence on what was not done because of that.
pub(super) fn is_open_or(undone: &str) -> bool {
    let Err(error) = closed_at_start() else { return true };
    if !LOST.swap(true, Ordering::Relaxed) {
        complain(format!("lisle: can't write stdout: {error}. {undone}").trim_end());
    }
    false
}

/// Writes a result to stdout: sanitised for a terminal, as it is for a pipe. False when nobody reads any more.
pub(super) fn say(text: &str) -> bool {
    if !text.is_empty() && !is_open() {
        return false;
    }
    let mut out = std::io::stdout().lock();
    let written = if out.is_terminal() {
        out.write_all(sanitise::clean(text).as_bytes())
    } else {
        out.write_all(text.as_bytes())
    };
    checked(written.and_then(|()| out.flush()))
}

/// Writes a line of JSON to stdout. False when nobody reads any more.
pub(super) fn say_json(json: &str) -> bool {
    put(&format!("{}\n", sanitise::reveal_json(json)))
}

/// Decides if somebody still reads stdout.
pub(super) fn is_listened_to() -> bool {
    !CLOSED.load(Ordering::Relaxed)
}

/// Writes what is clean already and may be marked. False when nobody reads any more.
pub(super) fn put(text: &str) -> bool {
    if !text.is_empty() && !is_open() {
        return false;
    }
    let mut out = std::io::stdout().lock();
    checked(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// A notice as a line of text: its hint has no full stop on the screen, and stands behind it as a sentence here.
pub(super) fn sentences(text: &str, hint: &str) -> String {
    let ends = |sentence: &str| {
        let sentence = sentence.trim();
        let stop = if sentence.is_empty() || sentence.ends_with(['.', '!', '?', ':', '…']) { "" } else { "." };
        format!("{sentence}{stop}")
    };
    let mut letters = hint.trim().chars();
    let hint =
        letters.next().map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + letters.as_str());
    format!("{} {}", ends(text), ends(&hint)).trim().to_owned()
}

/// End of a sentence on an unknown name: the nearest one, else those that there are.
pub(super) fn hint(near: Option<&str>, known: &[String]) -> String {
    match near {
        Some(near) => format!(". Did you mean {near:?}?"),
        None => format!(". Available: {}", known.join(", ")),
    }
}

/// Writes a sequence for the terminal to stderr.
pub(super) fn put_err(sequence: &str) {
    // Without a terminal there is nothing to ask.
    let _ = std::io::stderr().lock().write_all(sequence.as_bytes());
}

/// Writes a diagnostic line to stderr.
pub(super) fn complain(text: &str) {
    let mut out = std::io::stderr().lock();
    let text = sanitise::clean(text).trim_end().to_owned();
    // The error in a sentence may be one with an end of its own.
    let text = text.strip_suffix("?.").map_or(text.clone(), |text| format!("{text}?"));
    if let (Some(why), Ok(mut last)) = (text.strip_prefix("lisle: "), LAST.lock()) {
        why.clone_into(&mut last);
    }
    // A line of its own begins with nothing that others wrote.
    let _ = writeln!(out, "{}", text.replace('\n', "\n  "));
}

/// A value as JSON for users, in which the demo has the name that they know. What a call was given stays as it was.
///
/// # Errors
/// Those of the serializer.
pub(super) fn with_demo(value: &impl Serialize) -> serde_json::Result<Value> {
    let mut value = serde_json::to_value(value)?;
    name_demo(&mut value);
    Ok(value)
}

fn name_demo(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(name_demo),
        Value::Object(fields) => {
            let is_demo = fields.get("provider").is_some_and(|provider| provider == DEMO);
            for (name, value) in fields {
                match (name.as_str(), &mut *value) {
                    ("connection" | "model" | "key", Value::String(text)) => *text = shown_name(text).to_owned(),
                    ("name", Value::String(text)) if is_demo => *text = shown_name(text).to_owned(),
                    ("input", _) => {}
                    (_, inner) => name_demo(inner),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

pub(super) fn print_json(value: &impl Serialize) -> Exit {
    match with_demo(value).and_then(|value| serde_json::to_string_pretty(&value)) {
        Ok(text) => {
            say_json(&text);
            Exit::Done
        }
        Err(error) => {
            complain(&format!("lisle: can't write the result as JSON: {error}"));
            Exit::Failed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_demo_has_the_name_that_people_know_and_inputs_of_calls_stay() {
        let value = json!({
            "connection": "rehearsal",
            "connections": [{"name": "rehearsal", "provider": "demo"}, {"name": "rehearsal", "provider": "openai"}],
            "call": {"input": {"connection": "rehearsal"}, "text": "rehearsal"},
        });
        let wanted = json!({
            "connection": "demo",
            "connections": [{"name": "demo", "provider": "demo"}, {"name": "rehearsal", "provider": "openai"}],
            "call": {"input": {"connection": "rehearsal"}, "text": "rehearsal"},
        });
        assert_eq!(with_demo(&value).unwrap(), wanted);
    }
}
