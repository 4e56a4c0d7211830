//! `edit`: exact pieces of a file's text for others.
//!
//! It only works out the new text; reading, checking and writing are shared with `write`.

use super::files::paths;
use super::files::text::{self, Newlines};
use super::input::{self, InputFields};
use super::read_tracker::Seen;
use super::write::{PlannedWrite, carry_out, known};
use super::{CallPlace, RunContext, RunError, Tool, blocking};
use crate::domain::tool::{CallFacts, Outcome, ToolSpec};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::borrow::Cow;

/// Edits in one call at the most.
const MOST_EDITS: usize = 100;
/// Lines of the closest text that are shown.
const MOST_CLOSE: usize = 12;

/// The tool.
pub struct Edit;

impl Tool for Edit {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "edit".to_owned(),
            description: "Replaces exact pieces of text in a file. The file must have been read with `read` in this session \
                and be unchanged since. Each edit's `old` must stand in the file exactly once, character by character \
                with its indentation (without the line numbers that `read` shows), or `all` must be true to replace every \
                place. Several edits are made in order, each on the result of the one before, all or none. Line endings, \
                byte order mark, encoding and permissions are kept; write `\\n` for a line ending. An `old` that does not \
                match gets the closest text with its line, one that matches more than once gets the lines."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "The file: absolute, below ~, or relative to the working directory."},
                    "edits": {
                        "type": "array",
                        "description": "The edits, in order; 1 to 100.",
                        "minItems": 1,
                        "items": {
                            "type": "object",
                            "properties": {
                                "old": {"type": "string", "description": "The text to replace, exactly, with enough around it to be unique."},
                                "new": {"type": "string", "description": "The text that comes in its place; empty to delete."},
                                "all": {"type": "boolean", "description": "Replace every place, not just one."}
                            },
                            "required": ["old", "new"]
                        }
                    }
                },
                "required": ["path", "edits"]
            }),
        }
    }

    fn reads_only(&self) -> bool {
        false
    }

    fn subject(&self, input: &Value) -> String {
        input::subject(input, "path")
    }

    fn inspect(&self, input: &Value, place: &CallPlace, seen: &Seen) -> Result<CallFacts, String> {
        Ok(planned(input, place, seen)?.facts("edit", self.subject(input), place))
    }

    fn run(&self, input: Value, with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        blocking(move || {
            carry_out("edit", input::subject(&input, "path"), &with, || planned(&input, &with.place, &with.seen))
        })
    }
}

struct EditPiece<'a> {
    old: &'a str,
    new: &'a str,
    all: bool,
}

fn planned(input: &Value, place: &CallPlace, seen: &Seen) -> Result<PlannedWrite, String> {
    let fields = InputFields::of("edit", input)?;
    let path = fields.text("path")?;
    let pieces = pieces(&fields)?;
    let path = paths::resolve(path, place)?;
    let shown = paths::shown(&path, place);
    let (loaded, old, form) = known(&path, place, seen)?;
    // A file with CRLF throughout is edited as if it had `\n`, the way `read` shows it.
    let crlf = form.newlines == Newlines::CrLf;
    let mut now = if crlf { Cow::Owned(text::to_lf(&old)) } else { Cow::Borrowed(old.as_str()) };
    for (index, piece) in pieces.iter().enumerate() {
        let which = if pieces.len() == 1 { String::new() } else { format!("Edit {}: ", index + 1) };
        let next = replaced(&now, piece, form.newlines)
            .map_err(|why| format!("{which}{why} Nothing was changed in {shown}."))?;
        now = Cow::Owned(next);
    }
    let new = if crlf { text::from_lf(&now) } else { now.into_owned() };
    if new == old {
        return Err(format!("The edits leave {shown} as it is. Nothing to do."));
    }
    let after = text::encode(&new, form).map_err(|c| {
        format!("{shown} is Latin-1, which has no `{c}`. Leave that character out, or write the whole file with `write`, which makes it UTF-8.")
    })?;
    Ok(PlannedWrite { path, before: Some(loaded), old: Some(old), new, after, note: None })
}

fn pieces<'a>(fields: &InputFields<'a>) -> Result<Vec<EditPiece<'a>>, String> {
    let list = fields.list("edits")?;
    if list.is_empty() || list.len() > MOST_EDITS {
        return Err(format!("`edits` must hold 1 to {MOST_EDITS} edits, but it holds {}.", list.len()));
    }
    let mut pieces = Vec::new();
    for (index, item) in list.iter().enumerate() {
        let number = index + 1;
        let named = |why: String| format!("Edit {number}: {why}");
        let fields = InputFields::of("an edit", item).map_err(named)?;
        let piece = EditPiece {
            old: fields.text("old").map_err(named)?,
            new: fields.text("new").map_err(named)?,
            all: fields.flag("all").map_err(named)?,
        };
        if piece.old.is_empty() {
            return Err(named("`old` is empty. Give the text to replace; use `write` for a new file.".to_owned()));
        }
        if piece.old == piece.new {
            return Err(named("`old` and `new` are the same.".to_owned()));
        }
        pieces.push(piece);
    }
    Ok(pieces)
}

fn replaced(text: &str, piece: &EditPiece<'_>, newlines: Newlines) -> Result<String, String> {
    let (mut old, mut new) = (piece.old.to_owned(), piece.new.to_owned());
    if newlines == Newlines::CrLf {
        (old, new) = (text::to_lf(&old), text::to_lf(&new));
    } else if newlines == Newlines::Mixed && !text.contains(&old) {
        // In a mixed file the place may be one of those with CRLF.
        (old, new) = (text::to_crlf(&old), text::to_crlf(&new));
    }
    let places: Vec<usize> = text.match_indices(&old).map(|(at, _)| at).collect();
    match places.as_slice() {
        [] => Err(format!("The text to replace was not found. {}", closest(text, piece.old))),
        [_] => Ok(text.replacen(&old, &new, 1)),
        _ if piece.all => Ok(text.replace(&old, &new)),
        many => {
            let mut lines: Vec<String> = many.iter().take(20).map(|at| line_of(text, *at).to_string()).collect();
            if many.len() > 20 {
                lines.push("…".to_owned());
            }
            Err(format!(
                "The text to replace stands there {} times, on lines {}. Add lines around it until it is unique, or set \
                 `all` to replace every place.",
                many.len(),
                lines.join(", ")
            ))
        }
    }
}

/// The line, from 1, that the byte `at` is on.
fn line_of(text: &str, at: usize) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes().get(..at).unwrap_or_default()).count() + 1
}

/// Passage of `text` most similar to `wanted`, with its line numbers, as a sentence.
pub(super) fn closest(text: &str, wanted: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let sought: Vec<&str> = wanted.lines().collect();
    let Some((anchor, first)) = sought.iter().enumerate().find(|(_, line)| !line.trim().is_empty()) else {
        return "It is only white space; give some text around it.".to_owned();
    };
    // Equal lines (but for white space) count most; how like the first line is settles the rest.
    let mut best: Option<(f32, usize)> = None;
    for (at, line) in lines.iter().enumerate() {
        let equal = sought
            .iter()
            .skip(anchor)
            .zip(lines.iter().skip(at))
            .filter(|(a, b)| !a.trim().is_empty() && a.trim() == b.trim())
            .count();
        let like = if lines.len() <= 5_000 && line.len() < 500 && first.len() < 500 {
            paths::likeness(first.trim(), line.trim())
        } else {
            0.0
        };
        let score = f32::from(u16::try_from(equal).unwrap_or(u16::MAX)) * 2.0 + like;
        if best.is_none_or(|(most, _)| score > most) {
            best = Some((score, at));
        }
    }
    let Some((_, at)) = best.filter(|(score, _)| *score >= 0.5) else {
        return "Nothing in the file is like it; read the file again.".to_owned();
    };
    let count = (sought.len() - anchor).clamp(1, MOST_CLOSE);
    let close: Vec<&str> = lines.iter().skip(at).take(count).copied().collect();
    let same_words = close.len() == sought.len() - anchor
        && close.iter().zip(sought.iter().skip(anchor)).all(|(a, b)| a.split_whitespace().eq(b.split_whitespace()));
    let mut out = format!("The closest text begins on line {}", at + 1);
    out.push_str(if same_words { ", and differs only in white space:\n" } else { ":\n" });
    for (number, line) in (at + 1..).zip(&close) {
        out.push_str(&format!("{number}\t{}\n", super::read::cut_line(line, 300)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;
    use crate::domain::tool::Proposal;
    use proptest::prelude::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    fn edit(path: &str, edits: Value) -> Value {
        json!({"path": path, "edits": edits})
    }

    #[test]
    fn pieces_are_replaced_in_order() {
        let bench = Bench::new();
        for (name, old, edits, new) in [
            ("one", "a b c\n", json!([{"old": "b", "new": "B"}]), "a B c\n"),
            ("all", "a a a\n", json!([{"old": "a", "new": "b", "all": true}]), "b b b\n"),
            ("gone", "a\nb\nc\n", json!([{"old": "b\n", "new": ""}]), "a\nc\n"),
            ("order", "a\n", json!([{"old": "a", "new": "b"}, {"old": "b", "new": "c"}]), "c\n"),
            ("dollar", "a\n", json!([{"old": "a", "new": "$0 $1 \\1"}]), "$0 $1 \\1\n"),
        ] {
            bench.write(name, old);
            bench.ok("read", json!({"path": name}));
            let outcome = bench.ok("edit", edit(name, edits));
            assert_eq!(bench.content(name), new.as_bytes(), "{name}");
            assert!(outcome.figures.diff.is_some() && outcome.text.starts_with("Changed "), "{}", outcome.text);
        }
        // A second edit needs no second reading.
        bench.ok("edit", edit("one", json!([{"old": "B", "new": "b"}])));
    }

    #[test]
    fn line_endings_bom_encoding_and_mode_are_kept() {
        let bench = Bench::new();
        for (name, old, edits, new) in [
            ("crlf", &b"a\r\nb\r\nc\r\n"[..], json!([{"old": "a\nb", "new": "x\ny"}]), &b"x\r\ny\r\nc\r\n"[..]),
            ("crlf-given", b"a\r\nb\r\n", json!([{"old": "a\r\nb", "new": "x"}]), b"x\r\n"),
            ("mixed-lf", b"a\nb\r\n", json!([{"old": "a\n", "new": "x\n"}]), b"x\nb\r\n"),
            ("mixed-crlf", b"a\nb\r\nc\r\nd\n", json!([{"old": "b\nc", "new": "x\ny"}]), b"a\nx\r\ny\r\nd\n"),
            ("bom", b"\xef\xbb\xbfa\n", json!([{"old": "a", "new": "b"}]), b"\xef\xbb\xbfb\n"),
            ("wide", b"\xfe\xff\0a\0\n", json!([{"old": "a", "new": "b"}]), b"\xfe\xff\0b\0\n"),
            ("latin", b"caf\xe9 a\n", json!([{"old": "\u{e9} a", "new": "\u{e8}"}]), b"caf\xe8\n"),
        ] {
            bench.write(name, old);
            std::fs::set_permissions(bench.path(name), std::fs::Permissions::from_mode(0o640)).unwrap();
            bench.ok("read", json!({"path": name}));
            bench.ok("edit", edit(name, edits));
            assert_eq!(bench.content(name), new, "{name}");
            assert_eq!(std::fs::metadata(bench.path(name)).unwrap().mode() & 0o7777, 0o640);
        }
    }

    #[test]
    fn the_proposal_is_the_change() {
        let bench = Bench::new();
        bench.write("f", "a\n");
        bench.ok("read", json!({"path": "f"}));
        let facts = bench.inspect("edit", &edit("f", json!([{"old": "a", "new": "b"}]))).unwrap();
        let Proposal::Change { diff, before, after } = facts.proposal else { panic!() };
        assert_eq!((diff.added, diff.removed, diff.is_new), (1, 1, false));
        assert_eq!(before, crate::domain::hex::hex(&super::super::files::hash(b"a\n")));
        assert_eq!(after, crate::domain::hex::hex(&super::super::files::hash(b"b\n")));
    }

    /// Pieces of files, most of them odd.
    fn piece() -> impl Strategy<Value = &'static [u8]> {
        prop::sample::select(vec![
            &b"a"[..],
            b" \t",
            b"\n",
            b"\r\n",
            b"\r\r\n",
            b"\r",
            b"\n\r",
            "é€".as_bytes(),
            "\u{10ffe9}".as_bytes(),
            b"\xe9",
            b"\xff\xc3",
            b"\xe2\x82",
        ])
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

        /// Whatever bytes a file has: those outside of what was edited stay the same.
        #[test]
        fn what_is_not_edited_stays_byte_for_byte(
            (mark, before, after) in (any::<bool>(), prop::collection::vec(piece(), 0..12), prop::collection::vec(piece(), 0..12)),
            crlf in any::<bool>(),
            by_patch in any::<bool>(),
            new in prop::sample::select(vec!["new", "two\nlines", "é"]),
        ) {
            let end: &[u8] = if crlf { b"\r\n" } else { b"\n" };
            let mark: &[u8] = if mark { b"\xef\xbb\xbf" } else { b"" };
            let head = [mark, &before.concat(), end].concat();
            let tail = [end, &after.concat()].concat();
            let bench = Bench::new();
            bench.write("f", [&head, &b"EDITED"[..], &tail].concat());
            let facts = bench.inspect("read", &json!({"path": "f"})).unwrap();
            // What is no text at all is not edited.
            prop_assume!(!bench.run_with("read", json!({"path": "f"}), facts).unwrap().failed);
            let lines: String = new.split('\n').map(|line| format!("+{line}\n")).collect();
            let (tool, input) = match by_patch {
                false => ("edit", edit("f", json!([{"old": "EDITED", "new": new}]))),
                true => ("patch", json!({"patch": format!("*** Begin Patch\n*** Update File: f\n@@\n-EDITED\n{lines}*** End Patch")})),
            };
            let facts = bench.inspect(tool, &input).unwrap();
            bench.run_with(tool, input, facts).unwrap();
            let now = bench.content("f");
            prop_assert!(now.starts_with(&head), "{now:?} should begin with {head:?}");
            prop_assert!(now.ends_with(&tail), "{now:?} should end with {tail:?}");
            let middle = &now[head.len()..now.len() - tail.len()];
            let lines = middle.split(|byte| *byte == b'\n').count();
            prop_assert_eq!(lines, new.split('\n').count(), "{:?}", middle);
        }
    }

    #[test]
    fn nothing_is_changed_once_the_turn_was_stopped() {
        let bench = Bench::new();
        bench.write("f", "one\n");
        bench.ok("read", json!({"path": "f"}));
        let patch = "*** Begin Patch\n*** Add File: new\n+x\n*** End Patch";
        bench.stop.cancel();
        for (tool, input) in [
            ("edit", edit("f", json!([{"old": "one", "new": "1"}]))),
            ("write", json!({"path": "made", "content": "x"})),
            ("patch", json!({ "patch": patch })),
            ("bash", json!({"command": "touch made"})),
            ("bash", json!({"command": "touch made", "background": true})),
            ("transform_data", json!({"language": "bash", "script": "true", "output": "made"})),
        ] {
            let facts = bench.inspect(tool, &input).unwrap();
            let ended = bench.run_with(tool, input, facts);
            assert_eq!(ended, Err(RunError::stopped("")), "{tool}");
        }
        assert_eq!(bench.content("f"), b"one\n");
        assert!(!bench.path("made").exists() && !bench.path("new").exists());
    }

    #[test]
    fn errors_show_what_is_there() {
        let bench = Bench::new();
        bench.write("unread", "x");
        bench.write("latin", b"caf\xe9\n");
        bench.write("f", "fn main() {\n    let value = 1;\n    println!(\"{value}\");\n}\n// x\n// x\n");
        bench.ok("read", json!({"path": "f"}));
        bench.ok("read", json!({"path": "latin"}));
        for (input, says) in [
            (
                edit("f", json!([{"old": "let  value = 1;", "new": ""}])),
                "begins on line 2, and differs only in white space:\n2\t    let value = 1;\n",
            ),
            (
                edit("f", json!([{"old": "    let valeu = 1;\n    println!(\"{value}\");", "new": ""}])),
                "begins on line 2:\n2\t    let value = 1;\n3\t    println",
            ),
            (edit("f", json!([{"old": "% qqq §§§ %%", "new": ""}])), "Nothing in the file is like it"),
            (edit("f", json!([{"old": "// x", "new": ""}])), "2 times, on lines 5, 6. Add lines"),
            (
                edit("f", json!([{"old": "fn", "new": "pub fn"}, {"old": "none at all here", "new": ""}])),
                "Edit 2: The text to replace",
            ),
            (edit("f", json!([{"old": "a", "new": "a"}])), "are the same"),
            (edit("f", json!([{"old": "", "new": "a"}])), "`old` is empty"),
            (edit("f", json!([{"old": "a"}])), "Edit 1: an edit needs the field `new`"),
            (edit("f", json!([{"old": 1, "new": "a"}])), "`old` of an edit must be a text"),
            (edit("f", json!([])), "must hold 1 to 100 edits"),
            (edit("f", json!("x")), "`edits` of edit must be a list"),
            (edit("f", json!([{"old": "fn", "new": "gn"}, {"old": "gn", "new": "fn"}])), "leave f as it is"),
            (edit("latin", json!([{"old": "caf", "new": "€"}])), "Latin-1, which has no `€`"),
            (edit("unread", json!([{"old": "x", "new": "y"}])), "was not read yet"),
            (edit("none", json!([{"old": "x", "new": "y"}])), "does not exist"),
            (edit("..", json!([{"old": "x", "new": "y"}])), "is a directory"),
        ] {
            let error = bench.error("edit", input.clone());
            assert!(error.contains(says), "{input}: {error}");
        }
        bench.write("f", "fn changed() {}\n");
        let error = bench.error("edit", edit("f", json!([{"old": "fn", "new": "pub fn"}])));
        assert!(error.contains("changed since it was read"), "{error}");
    }
}
