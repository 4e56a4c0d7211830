//! Rows of a bounded length: what is too long goes to a file in the session's `long_responses/`, and its head and tail stay.

use crate::store::format::portable_paths;
use serde_json::Value;
use std::path::Path;

/// Bytes of a row's line at the most.
pub const MOST: usize = 16 << 20;
/// Bytes of a text that stay in the row, at its beginning and at its end.
const ENDS: usize = 32 << 10;
/// A shorter text is left as it is.
const LEAST: usize = 4 * ENDS;

/// The folder of a session for texts that are too long.
pub const FOLDER: &str = "long_responses";

/// A row's line that is short enough, and the files that have what it lacks, by name.
#[derive(Debug, PartialEq, Eq)]
pub struct Bounded {
    /// The line with its newline.
    pub line: String,
    /// Names in [`FOLDER`], with their content.
    pub files: Vec<(String, String)>,
}

/// Shortens a row's line; `None` for one that is no row.
pub fn bounded(line: &str, id: &str, dir: &Path, most: usize) -> Option<Bounded> {
    let mut value: Value = serde_json::from_str(&portable_paths::expand(line, dir)).ok()?;
    let name: String = id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    let mut files = Vec::new();
    loop {
        let rendered = portable_paths::render(&value, dir) + "\n";
        let longest = longest(&value);
        if rendered.len() <= most {
            return Some(Bounded { line: rendered, files });
        }
        let n = files.len() + 1;
        let file = |ending: &str| format!("{name}{}.{ending}", if n > 1 { format!("-{n}") } else { String::new() });
        // Half of what a provider gave is worth nothing to it.
        let native = value.pointer("/lisle/native").and_then(Value::as_str).is_some_and(|text| text.len() == longest);
        if native && longest > LEAST {
            if let Some(Value::String(text)) = remove(&mut value, "native") {
                files.push((file("json"), text));
            }
            continue;
        }
        let mut cut = None;
        if longest > LEAST {
            let file = file("txt");
            let place = dir.join(FOLDER).join(&file);
            shorten(&mut value, longest, &mut |text| {
                let whole = std::mem::take(text);
                let (head, tail) = (head(&whole), tail(&whole));
                let left = whole.len() - head.len() - tail.len();
                *text =
                    format!("{head}\n[{left} bytes are left out here; the whole is in {}]\n{tail}", place.display());
                cut = Some((file.clone(), whole));
            });
        } else if let Some(figures) = remove(&mut value, "figures") {
            cut = Some((file("json"), figures.to_string()));
        }
        match cut {
            Some(cut) => files.push(cut),
            // Of many small parts: it stays as it is, which costs time and loses nothing.
            None => return Some(Bounded { line: rendered, files }),
        }
    }
}

fn remove(value: &mut Value, key: &str) -> Option<Value> {
    value.get_mut("lisle")?.as_object_mut()?.remove(key)
}

fn longest(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(all) => all.iter().map(longest).max().unwrap_or(0),
        Value::Object(all) => all.values().map(longest).max().unwrap_or(0),
        _ => 0,
    }
}

fn shorten(value: &mut Value, len: usize, cut: &mut dyn FnMut(&mut String)) -> bool {
    match value {
        Value::String(text) if text.len() == len => {
            cut(text);
            true
        }
        Value::Array(all) => all.iter_mut().any(|one| shorten(one, len, cut)),
        Value::Object(all) => all.values_mut().any(|one| shorten(one, len, cut)),
        _ => false,
    }
}

fn head(text: &str) -> &str {
    let end = (0..=ENDS.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

fn tail(text: &str) -> &str {
    let from = (text.len().saturating_sub(ENDS)..=text.len()).find(|at| text.is_char_boundary(*at));
    &text[from.unwrap_or(text.len())..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_too_long_is_whole_in_a_file_and_the_rest_of_the_row_stays() {
        let dir = Path::new("/w/sessions/a");
        let long = |c: &str, n: usize| c.repeat(n);
        let cases = [
            (
                "a result",
                json!({"id": "msg-1", "toolResult": long("é", 100_000), "toolInput": {"path": "/w/sessions/a/x"}}),
                1,
            ),
            (
                "a result and an input",
                json!({"id": "m/1", "toolResult": long("r", 300_000), "toolInput": {"edits": [{"new": long("n", 200_000)}]}}),
                2,
            ),
            (
                "what a provider gave",
                json!({"id": "n", "content": "c", "lisle": {"v": 1, "native": long("j", 400_000)}}),
                1,
            ),
            (
                "a diff of short lines",
                json!({"id": "d", "content": "c", "lisle": {"figures": {"lines": vec!["x".repeat(900); 400]}}}),
                1,
            ),
            ("many small parts", json!({"id": "s", "parts": vec!["x".repeat(900); 400]}), 0),
        ];
        for (name, value, count) in cases {
            let line = portable_paths::render(&value, dir);
            let made = bounded(&line, value["id"].as_str().unwrap(), dir, 180_000).unwrap();
            let read: Value = serde_json::from_str(&portable_paths::expand(&made.line, dir)).unwrap();
            assert_eq!(made.files.len(), count, "{name}");
            assert!(count == 0 || made.line.len() <= 180_000, "{name}");
            assert!(made.line.ends_with("}\n") && made.line.matches('\n').count() == 1, "{name}");
            for key in ["id", "content"] {
                assert_eq!(read.get(key), value.get(key), "{name}");
            }
            for (file, content) in &made.files {
                assert!(!file.contains('/') && line.contains(&content[..20.min(content.len())]), "{name}: {file}");
                assert!(file.ends_with(".json") || made.line.contains(file.as_str()), "{name}: {file}");
            }
        }
    }
}
