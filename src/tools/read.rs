//! `read`: the lines of a text file, numbered.
//!
//! Files it has read are noted, so that they may be written afterwards. It never blocks on what is not a file.

use super::files::{self, FileError};
use super::files::{attachments, notebook};
use super::files::{classify, paths, reach, text};
use super::input::{self, InputFields};
use super::read_tracker::Seen;
use super::{CallPlace, Halt, RunContext, RunError, Tool, blocking, plain, still};
use crate::domain::attachment::image_type;
use crate::domain::tool::{CallFacts, Outcome, ToolSpec, Touch};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::path::Path;

/// Lines that come back when no limit is given.
const LINES: u64 = 2_000;
/// The most lines that can be asked for.
const MOST_LINES: u64 = 20_000;
/// Characters of a line that come back.
const LONGEST_LINE: usize = 2_000;

/// The tool.
pub struct ReadTool;

impl Tool for ReadTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "read".to_owned(),
            description: "Reads a file. Pictures (PNG, JPEG, GIF, WebP) and PDFs up to 20 MB are shown to you; notebooks (.ipynb) \
                are given as their cells with outputs. Of a text file it gives the lines back as `number<TAB>line`, from line 1 or from `offset`, \
                2000 lines unless `limit` says otherwise. Lines over 2000 characters are cut, which is told. UTF-8, \
                UTF-16 with a byte order mark and Latin-1 are read; unusual encodings and line endings are told. Other binary \
                files, directories, devices and pipes are refused (use `list` for a directory). A file must be read \
                before `edit` or `write` may change it. Files over 50 MB are refused: use `grep`."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "The file: absolute, below ~, or relative to the working directory."},
                    "offset": {"type": "integer", "minimum": 1, "description": "First line to read, counted from 1."},
                    "limit": {"type": "integer", "minimum": 1, "maximum": MOST_LINES, "description": "How many lines to read at the most; 2000 when left out."}
                },
                "required": ["path"]
            }),
        }
    }

    fn reads_only(&self) -> bool {
        true
    }

    fn subject(&self, input: &Value) -> String {
        input::subject(input, "path")
    }

    fn inspect(&self, input: &Value, place: &CallPlace, _seen: &Seen) -> Result<CallFacts, String> {
        let call = ReadInput::of(input)?;
        let path = paths::resolve(call.path, place)?;
        check(&path, place)?;
        Ok(plain("read", self.subject(input), classify::reading(path, place)))
    }

    fn run(&self, input: Value, with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        blocking(move || work(&input, &with))
    }
}

struct ReadInput<'a> {
    path: &'a str,
    offset: u64,
    limit: u64,
}

impl<'a> ReadInput<'a> {
    fn of(input: &'a Value) -> Result<Self, String> {
        let fields = InputFields::of("read", input)?;
        Ok(Self {
            path: fields.text("path")?,
            offset: fields.number("offset", 1..=u64::MAX)?.unwrap_or(1),
            limit: fields.number("limit", 1..=MOST_LINES)?.unwrap_or(LINES),
        })
    }
}

/// Checks that there is something to read.
fn check(path: &Path, place: &CallPlace) -> Result<(), String> {
    match files::look(path) {
        Ok(meta) if meta.is_dir() => Err(explain(FileError::Directory(path.to_owned()), path, place)),
        Ok(_) => reach::fault(path, "read", place).map_or(Ok(()), Err),
        Err(e) => Err(explain(e, path, place)),
    }
}

/// The sentence for the model when a file cannot be read, with what can be done instead.
pub(crate) fn explain(error: FileError, path: &Path, place: &CallPlace) -> String {
    let shown = paths::shown(path, place);
    match error {
        FileError::Missing(_) | FileError::NoFolder(_) => {
            let near = paths::neighbours(path, place);
            if near.is_empty() {
                format!("{shown} does not exist. Use `list` or `glob` to find the file.")
            } else {
                format!("{shown} does not exist. Near it: {}.", near.join(", "))
            }
        }
        FileError::Directory(_) => format!("{shown} is a directory. Use `list` to see what is in it."),
        FileError::TooLarge(_, size) => format!(
            "{shown} has {}, more than the {} that are read at once. Use `grep` to search it, or a command to see a part.",
            text::size(size),
            text::size(files::LARGEST)
        ),
        FileError::Special(_, what) => format!("{shown} is {what}, not a file with text."),
        FileError::Changed(_) => format!("{shown} changed while being opened. Try again."),
        FileError::Io { source, .. } => format!("Can't read {shown}: {source}."),
    }
}

fn work(input: &Value, with: &RunContext) -> Result<Outcome, Halt> {
    let call = ReadInput::of(input)?;
    let path = paths::resolve(call.path, &with.place)?;
    let shown = paths::shown(&path, &with.place);
    let subject = with.facts.subject.clone();
    still(plain("read", subject.clone(), classify::reading(path.clone(), &with.place)), with)?;
    let loaded = files::load(&path).map_err(|e| explain(e, &path, &with.place))?;
    if classify::holds_secret(&path, &loaded, &with.place) {
        // The open file counts, whatever had its name a moment ago.
        still(plain("read", subject, Touch::Read { path: path.clone(), secret: true }), with)?;
    }
    if let Some(seen) = shown_whole(&path, &shown, &loaded, with)? {
        return Ok(seen);
    }
    let (mut content, form) = text::decode(&loaded.bytes)
        .map_err(|kind| format!("{shown} is {kind} ({}), not text.", text::size(loaded.bytes.len() as u64)))?;
    with.seen.note(&path, loaded.hash);
    let mut form = form.told();
    let is_book = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("ipynb"));
    if let Some(cells) = is_book.then(|| notebook::told(&content)).flatten() {
        content = cells;
        form = Some("cells of a notebook; its file is JSON, which `edit` changes as text".to_owned());
    }
    if content.is_empty() {
        return Ok(Outcome::ok(format!("({shown} is empty)")));
    }
    let total = content.lines().count() as u64;
    if call.offset > total {
        return Err(Halt::Says(format!("{shown} has only {total} lines; no line {}.", call.offset)));
    }
    let mut out = String::new();
    let mut last = call.offset;
    let skip = usize::try_from(call.offset - 1).unwrap_or(usize::MAX);
    for (number, line) in (call.offset..).zip(content.lines().skip(skip)).take(usize::try_from(call.limit).unwrap_or(0))
    {
        out.push_str(&format!("{number}\t{}\n", cut_line(line, LONGEST_LINE)));
        last = number;
    }
    let mut notes = Vec::new();
    if last < total {
        notes.push(format!("lines {}-{last} of {total}; go on with offset {}", call.offset, last + 1));
    } else if !content.ends_with('\n') {
        notes.push("no line ending at the end".to_owned());
    }
    notes.extend(form);
    if !notes.is_empty() {
        out.push_str(&format!("({})\n", notes.join("; ")));
    }
    let mut outcome = Outcome::ok(out);
    outcome.figures.lines = Some(last - call.offset + 1);
    Ok(outcome)
}

/// A picture or a PDF goes to the model as what it is: a copy that the session keeps. `None` for any other file.
fn shown_whole(
    path: &Path,
    shown: &str,
    loaded: &files::LoadedFile,
    with: &RunContext,
) -> Result<Option<Outcome>, Halt> {
    let bytes = &loaded.bytes;
    let picture = image_type(bytes).is_some();
    if !picture && !bytes.starts_with(b"%PDF-") {
        return Ok(None);
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let file = attachments::keep(&name, bytes, &with.place.session_dir).map_err(|why| format!("{shown}: {why}."))?;
    with.seen.note(path, loaded.hash);
    let what = if picture { "picture" } else { "document" };
    let mut outcome =
        Outcome::ok(format!("The {what} {shown} ({}, {}) goes along with this.", file.mime, text::size(file.bytes)));
    outcome.figures.media.push(file);
    Ok(Some(outcome))
}

/// The line, cut to `most` characters with a note of its length.
pub(crate) fn cut_line(line: &str, most: usize) -> std::borrow::Cow<'_, str> {
    match line.char_indices().nth(most) {
        None => line.into(),
        Some((at, _)) => {
            format!("{}… [line cut: {} characters]", line.get(..at).unwrap_or(""), line.chars().count()).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    /// Runs what was decided on after `between` happened; gives the facts that are to be decided on anew.
    fn changed(bench: &Bench, tool: &str, input: serde_json::Value, between: impl FnOnce()) -> Vec<Touch> {
        let facts = bench.inspect(tool, &input).unwrap();
        between();
        match bench.run_with(tool, input, facts) {
            Err(RunError::FactsChanged(now)) => now.touches,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_link_that_was_swapped_since_the_decision_is_decided_anew() {
        use std::os::unix::fs::symlink;
        for tool in ["read", "grep", "list", "glob"] {
            let bench = Bench::new();
            bench.write("open/f", "harmless\n");
            bench.write(".ssh/f", "secret\n");
            let target = |folder: &str| bench.path(folder).join(if tool == "read" { "f" } else { "" });
            symlink(target("open"), bench.path("link")).unwrap();
            let input = json!({"path": "link", "pattern": "e"});
            let input = if tool == "list" || tool == "read" { json!({"path": "link"}) } else { input };
            let touches = changed(&bench, tool, input, || {
                std::fs::remove_file(bench.path("link")).unwrap();
                symlink(target(".ssh"), bench.path("link")).unwrap();
            });
            assert!(matches!(&touches[0], Touch::Read { secret: true, .. }), "{tool}: {touches:?}");
        }
    }

    #[test]
    fn a_file_that_commands_see_masked_is_a_secret_for_every_tool_that_reads() {
        let bench = Bench::new();
        let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9");
        let key = format!("-----BEGIN OPENSSH {} KEY-----\nabc\n", "PRIVATE");
        bench.write("sec/deploykey", &key);
        bench.write("sec/tok.txt", format!("token {token}\n"));
        bench.write("sec/plain.txt", "token: see the wiki\n");
        bench.write(".git/config", format!("[remote \"o\"]\n\turl = https://me:{token}@github.com/a/b\n"));
        for (name, is_secret) in
            [("sec/deploykey", true), ("sec/tok.txt", true), (".git/config", true), ("sec/plain.txt", false)]
        {
            let expected = [Touch::Read { path: bench.path(name), secret: is_secret }];
            assert_eq!(bench.inspect("read", &json!({"path": name})).unwrap().touches, expected, "{name}");
            let asked = bench.inspect("call_llm", &json!({"prompt": "p", "files": [name]})).unwrap();
            assert_eq!(asked.touches, expected, "{name}");
            let searched = bench.inspect("grep", &json!({"pattern": "x", "path": name})).unwrap();
            assert_eq!(searched.touches, expected, "{name}");
            let script = json!({"language": "bash", "script": "x", "inputs": [name], "output": "o"});
            assert!(bench.inspect("transform_data", &script).unwrap().touches.contains(&expected[0]), "{name}");
            let line = bench.inspect("bash", &json!({"command": format!("cat {name}")})).unwrap();
            assert_eq!(line.touches.contains(&expected[0]), is_secret, "{name}");
            assert_eq!(super::attachments::take(&bench.path(name), &bench.place).is_err(), is_secret, "{name}");
        }
        // What was not named is left out, also from counts: they would tell the key sign by sign.
        for files_only in [false, true] {
            let found = bench.ok("grep", json!({"pattern": "token|BEGIN", "files_only": files_only})).text;
            assert!(
                found.contains("plain.txt") && !found.contains("tok.txt") && !found.contains("deploykey"),
                "{found}"
            );
            assert!(found.contains("look like secrets: 2"), "{found}");
        }
        // One that is put there between the decision and the reading.
        let touches = changed(&bench, "read", json!({"path": "sec/plain.txt"}), || bench.write("sec/plain.txt", &key));
        assert_eq!(touches, [Touch::Read { path: bench.path("sec/plain.txt"), secret: true }]);
    }

    #[test]
    fn another_name_of_a_secret_is_a_secret() {
        let bench = Bench::new();
        bench.write(".env", "KEY=1\n");
        bench.write("own/f", "x");
        let own = bench.place.own_dirs[0].clone();
        std::fs::create_dir_all(&own).unwrap();
        std::fs::write(own.join("credentials"), "KEY=2\n").unwrap();
        std::fs::hard_link(bench.path(".env"), bench.path("notes.txt")).unwrap();
        std::fs::hard_link(own.join("credentials"), bench.path("more.txt")).unwrap();
        std::fs::hard_link(bench.path("own/f"), bench.path("other")).unwrap();
        for (name, is_secret) in [("notes.txt", true), ("more.txt", true), ("other", false), ("own/f", false)] {
            let facts = bench.inspect("read", &json!({"path": name})).unwrap();
            assert_eq!(facts.touches, [Touch::Read { path: bench.path(name), secret: is_secret }], "{name}");
        }
        let found = bench.ok("grep", json!({"pattern": "KEY", "files_only": true}));
        assert!(found.text.contains("look like secrets: 3"), "{}", found.text);
        // One that comes between decision and reading.
        bench.write("plain", "x\n");
        let touches = changed(&bench, "read", json!({"path": "plain"}), || {
            std::fs::remove_file(bench.path("plain")).unwrap();
            std::fs::hard_link(bench.path(".env"), bench.path("plain")).unwrap();
        });
        assert_eq!(touches, [Touch::Read { path: bench.path("plain"), secret: true }]);
    }

    #[test]
    fn devices_and_kernel_files_are_left_alone() {
        let bench = Bench::new();
        rustix::fs::mkfifoat(rustix::fs::CWD, bench.path("pipe"), rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
        for path in
            ["/dev/zero", "/dev/tty", "/dev/stdin", "/proc/self/fd/0", "/proc/kmsg", "/sys/kernel/notes", "pipe"]
        {
            let error = match bench.inspect("read", &json!({"path": path})) {
                Err(error) => error,
                // What shows a process's inside is asked for as a secret, whatever becomes of it then.
                Ok(facts) if matches!(&facts.touches[0], Touch::Read { secret: true, .. }) => continue,
                Ok(facts) => bench.run_with("read", json!({"path": path}), facts).unwrap().text,
            };
            let told =
                ["does not open devices", "not a file", "not a regular file", "does not exist", "is a directory"];
            assert!(told.iter().any(|words| error.contains(words)), "{path}: {error}");
        }
    }

    #[test]
    fn a_working_directory_that_is_gone_is_told() {
        let bench = Bench::new();
        bench.write("f", "x\n");
        std::fs::remove_dir_all(&bench.place.cwd).unwrap();
        for (tool, input) in [
            ("read", json!({"path": "f"})),
            ("list", json!({})),
            ("glob", json!({"pattern": "*"})),
            ("grep", json!({"pattern": "x"})),
            ("write", json!({"path": "f", "content": "x"})),
            ("edit", json!({"path": "f", "edits": [{"old": "x", "new": "y"}]})),
        ] {
            let error = bench.error(tool, input);
            assert!(error.contains("no longer exists") && error.contains("/cwd"), "{tool}: {error}");
        }
        assert!(!bench.place.cwd.exists(), "nothing was made in its place");
    }

    #[test]
    fn lines_are_numbered_and_ranges_told() {
        let bench = Bench::new();
        bench.write("f", "a\nb\nc\n");
        bench.write("open", "a\nb");
        bench.write("crlf", "\u{feff}a\r\nb\r\n");
        bench.write("latin", b"caf\xe9\n");
        bench.write("wide", b"\xff\xfea\0\n\0");
        bench.write("empty", "");
        for (input, text) in [
            (json!({"path": "f"}), "1\ta\n2\tb\n3\tc\n"),
            (json!({"path": "f", "offset": 2}), "2\tb\n3\tc\n"),
            (json!({"path": "f", "offset": 2, "limit": 1}), "2\tb\n(lines 2-2 of 3; go on with offset 3)\n"),
            (json!({"path": "open"}), "1\ta\n2\tb\n(no line ending at the end)\n"),
            (json!({"path": "crlf"}), "1\ta\n2\tb\n(UTF-8 with a byte order mark, CRLF line endings)\n"),
            (json!({"path": "latin"}), "1\tcafé\n(not UTF-8, read as Latin-1)\n"),
            (json!({"path": "wide"}), "1\ta\n(UTF-16 LE)\n"),
            (json!({"path": "empty"}), "(empty is empty)"),
        ] {
            assert_eq!(bench.ok("read", input.clone()).text, text, "{input}");
        }
        assert_eq!(bench.ok("read", json!({"path": "f"})).figures.lines, Some(3));
        assert_eq!(bench.seen.hash(&bench.path("f")), Some(files::hash(b"a\nb\nc\n")));
    }

    #[test]
    fn long_files_and_lines_are_cut() {
        let bench = Bench::new();
        bench.write("many", "x\n".repeat(2_500));
        bench.write("wide", format!("{}\n", "ä".repeat(2_001)));
        let text = bench.ok("read", json!({"path": "many"})).text;
        assert!(text.ends_with("2000\tx\n(lines 1-2000 of 2500; go on with offset 2001)\n"));
        let text = bench.ok("read", json!({"path": "wide"})).text;
        assert_eq!(text, format!("1\t{}… [line cut: 2001 characters]\n", "ä".repeat(2_000)));
    }

    #[test]
    fn what_cannot_be_read_is_explained() {
        let bench = Bench::new();
        bench.write("src/main.rs", "x");
        bench.write("pic", b"BM\x46\0\0\0\0\0\0\0\0\0");
        bench.write("f", "a\n");
        rustix::fs::mkfifoat(rustix::fs::CWD, bench.path("pipe"), rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
        for (input, says) in [
            (json!({"path": "src/man.rs"}), "src/man.rs does not exist. Near it: src/main.rs."),
            (json!({"path": "zzz"}), "Use `list` or `glob`"),
            (json!({"path": "f/x"}), "does not exist"),
            (json!({"path": "src"}), "src is a directory. Use `list`"),
            (json!({"path": "pic"}), "(12 bytes), not text."),
            (json!({"path": "pipe"}), "pipe is a named pipe"),
            (json!({"path": "/dev/zero"}), "does not open devices"),
            (json!({"path": "f", "offset": 9}), "f has only 1 lines; no line 9."),
            (json!({"path": "f", "offset": 0}), "`offset` of read"),
            (json!({"path": "f", "limit": 99_999_999}), "`limit` of read"),
            (json!({}), "needs the field `path`"),
        ] {
            let error = bench.error("read", input.clone());
            assert!(error.contains(says), "{input}: {error}");
        }
        assert_eq!(bench.seen.hash(&bench.path("pic")), None);
    }

    #[test]
    fn pictures_and_documents_go_along_as_copies_of_the_session() {
        let bench = Bench::new();
        let mut png = std::io::Cursor::new(Vec::new());
        image::RgbImage::new(3, 2).write_to(&mut png, image::ImageFormat::Png).unwrap();
        bench.write("plot.png", png.into_inner());
        bench.write("paper.pdf", b"%PDF-1.7\n%%EOF\n");
        for (name, mime) in [("plot.png", "image/png"), ("paper.pdf", "application/pdf")] {
            let outcome = bench.ok("read", json!({"path": name}));
            let [kept] = outcome.figures.media.as_slice() else { panic!("{outcome:?}") };
            assert_eq!((kept.name.as_str(), kept.mime.as_str()), (name, mime));
            assert!(kept.path.starts_with(&bench.place.session_dir), "{kept:?}");
            assert_eq!(std::fs::read(&kept.path).unwrap(), bench.content(name));
            assert!(outcome.text.contains(name), "{}", outcome.text);
        }
    }

    #[test]
    fn secrets_are_told_to_the_decision() {
        let bench = Bench::new();
        bench.write(".env", "K=1");
        std::os::unix::fs::symlink(".env", bench.path("harmless.txt")).unwrap();
        let facts = bench.inspect("read", &json!({"path": "harmless.txt"})).unwrap();
        assert_eq!(facts.touches, [crate::domain::tool::Touch::Read { path: bench.path(".env"), secret: true }]);
        assert_eq!(facts.subject, "harmless.txt");
    }
}
