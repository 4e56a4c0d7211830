//! `grep`: lines of files by regular expression, with ripgrep's own libraries.
//!
//! Binary files, ignored files and files that look like secrets are not searched; a secret can only be named directly,
//! which the permission function then sees.

use super::files::walk::{Cut, Patience};
use super::files::{classify, paths, reach, walk};
use super::glob::{matcher, subject};
use super::input::InputFields;
use super::read_tracker::Seen;
use super::{CallPlace, Halt, RunContext, RunError, Tool, files, plain, read, reading, still};
use crate::domain::tool::{CallFacts, Outcome, ToolSpec, Touch};
use futures_util::future::BoxFuture;
use globset::GlobMatcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Matching lines that come back at the most.
const MOST: u64 = 250;
/// Lines around a match at the most.
const MOST_CONTEXT: u64 = 10;
/// Characters of a line that come back.
const LONGEST_LINE: usize = 300;
/// Files larger than this are left out of a walk.
const LARGEST: u64 = 200_000_000;

/// The tool.
pub struct Grep;

impl Tool for Grep {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "grep".to_owned(),
            description: "Searches file contents line by line with a regular expression (Rust syntax; no look-around, no \
                back-references; escape `{`, `(` and the like to mean them). What comes back: a path, below it \
                `number:line` for matches and `number-line` for context. At most 250 matching lines, lines cut at 300 \
                characters; both are told. What .gitignore and .ignore exclude, binary files and secrets (.env, keys) are \
                not searched; hidden files are. Use `files_only` for the paths with their number of matching lines."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "pattern": {"type": "string", "description": "The regular expression; it is matched within one line."},
                    "path": {"type": "string", "description": "A file or directory; the working directory when left out."},
                    "glob": {"type": "string", "description": "Only files that match, for example `*.rs` or `src/**/*.ts`."},
                    "context": {"type": "integer", "minimum": 0, "maximum": MOST_CONTEXT, "description": "Lines to show before and after each match; 0 when left out."},
                    "ignore_case": {"type": "boolean", "description": "Capital and small letters are the same."},
                    "files_only": {"type": "boolean", "description": "Only paths and counts, no lines."},
                    "limit": {"type": "integer", "minimum": 1, "maximum": MOST, "description": "Matching lines (with files_only: files) at the most; 250 when left out."}
                },
                "required": ["pattern"]
            }),
        }
    }

    fn reads_only(&self) -> bool {
        true
    }

    fn subject(&self, input: &Value) -> String {
        subject(input)
    }

    fn inspect(&self, input: &Value, place: &CallPlace, _seen: &Seen) -> Result<CallFacts, String> {
        let call = GrepInput::of(input, place)?;
        Ok(plain("grep", self.subject(input), classify::reading(call.root, place)))
    }

    fn run(&self, input: Value, with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        reading(with.stop.clone(), move || work(&input, &with))
    }
}

struct GrepInput {
    root: PathBuf,
    is_folder: bool,
    regex: RegexMatcher,
    glob: Option<GlobMatcher>,
    context: usize,
    files_only: bool,
    limit: u64,
}

impl GrepInput {
    fn of(input: &Value, place: &CallPlace) -> Result<Self, String> {
        let fields = InputFields::of("grep", input)?;
        let pattern = fields.text("pattern")?;
        if pattern.is_empty() {
            return Err("The pattern is empty and would match every line.".to_owned());
        }
        if pattern.contains('\n') {
            return Err(
                "The pattern holds a line ending, but grep matches within one line. Search for one of the lines, \
                        with `context` to see those around it."
                    .to_owned(),
            );
        }
        let regex = RegexMatcherBuilder::new()
            .case_insensitive(fields.flag("ignore_case")?)
            .line_terminator(Some(b'\n'))
            .build(pattern)
            .map_err(|e| {
                format!(
                    "Invalid regular expression: {e}. It matches within one line; escape special characters with \
                     `\\`."
                )
            })?;
        let glob = fields.text_if_any("glob")?.map(|glob| matcher(glob, "glob")).transpose()?;
        let root = paths::resolve(fields.text_if_any("path")?.unwrap_or("."), place)?;
        let meta = files::look(&root).map_err(|e| read::explain(e, &root, place))?;
        if let Some(why) = reach::fault(&root, "grep", place) {
            return Err(why);
        }
        let context = usize::try_from(fields.number("context", 0..=MOST_CONTEXT)?.unwrap_or(0)).unwrap_or(0);
        Ok(Self {
            root,
            is_folder: meta.is_dir(),
            regex,
            glob,
            context,
            files_only: fields.flag("files_only")?,
            limit: fields.number("limit", 1..=MOST)?.unwrap_or(MOST),
        })
    }
}

fn work(input: &Value, with: &RunContext) -> Result<Outcome, Halt> {
    let call = GrepInput::of(input, &with.place)?;
    still(plain("grep", with.facts.subject.clone(), classify::reading(call.root.clone(), &with.place)), with)?;
    // A file that is named itself was decided on as what it is.
    let asked = !with.facts.touches.iter().any(|touch| matches!(touch, Touch::Read { secret: true, .. }));
    let mut search = GrepSearch {
        searcher: SearcherBuilder::new()
            .line_number(true)
            .before_context(call.context)
            .after_context(call.context)
            .binary_detection(BinaryDetection::quit(0))
            .build(),
        patience: Patience::new(with.stop.clone()),
        left: call.limit,
        matches: 0,
        files: 0,
        text: String::new(),
        cut: None,
        secrets: 0,
        unreadable: 0,
        large: 0,
    };
    if call.is_folder {
        let masked = classify::MaskedPaths::of(&with.place);
        for entry in walk::below(&call.root).build().flatten() {
            search.cut = search.cut.or_else(|| search.patience.cut());
            if search.cut.is_some() || search.left == 0 {
                break;
            }
            let Ok(below) = entry.path().strip_prefix(&call.root) else { continue };
            if !entry.file_type().is_some_and(|kind| kind.is_file())
                || call.glob.as_ref().is_some_and(|glob| !glob.is_match(below))
            {
                continue;
            }
            if masked.is_secret(entry.path(), &with.place) {
                search.secrets += 1;
            } else if entry.metadata().is_ok_and(|meta| meta.len() > LARGEST) {
                search.large += 1;
            } else if search.file(entry.path(), &call, (&with.place, true)).is_err() {
                search.unreadable += 1;
            }
        }
    } else {
        search.file(&call.root, &call, (&with.place, asked)).map_err(|e| read::explain(e, &call.root, &with.place))?;
    }
    if search.cut == Some(Cut::Stopped) {
        return Err(RunError::stopped(search.text).into());
    }
    Ok(search.outcome())
}

struct GrepSearch {
    searcher: Searcher,
    patience: Patience,
    left: u64,
    matches: u64,
    files: u64,
    text: String,
    cut: Option<Cut>,
    secrets: u64,
    unreadable: u64,
    large: u64,
}

impl GrepSearch {
    /// `checks`: what the file holds was not decided on, so nothing of a secret comes back, not even that it matches.
    fn file(
        &mut self,
        path: &Path,
        call: &GrepInput,
        (place, checks): (&CallPlace, bool),
    ) -> Result<(), files::FileError> {
        let file = files::open(path)?;
        let mut page = GrepPage {
            text: String::new(),
            matches: 0,
            left: if call.files_only { u64::MAX } else { self.left },
            quiet: call.files_only,
            binary: false,
            patience: &self.patience,
            cut: None,
        };
        self.searcher
            .search_file(&call.regex, &file, &mut page)
            .map_err(|source| files::FileError::Io { path: path.to_owned(), source })?;
        let GrepPage { text, matches, binary, cut, .. } = page;
        self.cut = cut;
        if matches == 0 || binary {
            return Ok(());
        }
        if checks && classify::is_key(path, &file, place) {
            self.secrets += 1;
            return Ok(());
        }
        self.files += 1;
        self.matches += matches;
        let shown = paths::shown(path, place);
        if call.files_only {
            self.left -= 1;
            self.text.push_str(&format!("{shown}  {matches}\n"));
        } else {
            self.left = self.left.saturating_sub(matches);
            self.text.push_str(&format!("{shown}\n{text}\n"));
        }
        Ok(())
    }

    fn outcome(mut self) -> Outcome {
        if self.matches == 0 {
            self.text.push_str("No line matches.\n");
        }
        let mut notes = Vec::new();
        if self.left == 0 {
            notes.push("the limit is reached; there may be more. Narrow the pattern, the path or the glob".to_owned());
        }
        if self.cut.is_some() {
            notes.push("not everything was searched: it took too long".to_owned());
        }
        for (count, what) in [
            (self.secrets, "files not searched because they look like secrets"),
            (self.unreadable, "files that could not be read"),
            (self.large, "files over 200 MB, not searched"),
        ] {
            if count > 0 {
                notes.push(format!("{what}: {count}"));
            }
        }
        for note in notes {
            self.text.push_str(&format!("({note})\n"));
        }
        let mut outcome = Outcome::ok(self.text);
        outcome.figures.lines = Some(self.matches);
        outcome
    }
}

/// Takes the lines of one file.
struct GrepPage<'a> {
    text: String,
    matches: u64,
    left: u64,
    quiet: bool,
    binary: bool,
    patience: &'a Patience,
    cut: Option<Cut>,
}

impl GrepPage<'_> {
    fn line(&mut self, number: Option<u64>, sign: char, bytes: &[u8]) {
        if self.quiet {
            return;
        }
        let line = String::from_utf8_lossy(bytes);
        let line = line.trim_end_matches(['\n', '\r']);
        self.text.push_str(&format!("{}{sign}{}\n", number.unwrap_or(0), read::cut_line(line, LONGEST_LINE)));
    }
}

impl Sink for GrepPage<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        self.cut = self.patience.cut();
        if self.left == 0 || self.cut.is_some() {
            return Ok(false);
        }
        self.left -= 1;
        self.matches += 1;
        self.line(found.line_number(), ':', found.bytes());
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> Result<bool, Self::Error> {
        self.line(found.line_number(), '-', found.bytes());
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, Self::Error> {
        if !self.quiet {
            self.text.push_str("--\n");
        }
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> Result<(), Self::Error> {
        self.binary = end.binary_byte_offset().is_some();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    fn bench() -> Bench {
        let bench = Bench::new();
        bench.write("a.rs", "fn one() {}\nfn two() {}\nlet x = 1;\nlet y = 2;\nfn three() {}\r\n");
        bench.write("src/b.txt", "Fn upper\ncaf\u{e9} fn\n");
        bench.write("bin", b"fn \0 fn\n");
        bench.write(".env", "fn=secret\n");
        bench.write("target/c.rs", "fn hidden() {}\n");
        bench.write(".gitignore", "target/\n");
        bench
    }

    #[test]
    fn lines_are_found_with_their_numbers() {
        let bench = bench();
        for (input, text) in [
            (
                json!({"pattern": "^fn "}),
                "a.rs\n1:fn one() {}\n2:fn two() {}\n5:fn three() {}\n\n(files not searched because they look like secrets: 1)\n",
            ),
            (json!({"pattern": "FN UP", "ignore_case": true, "path": "src"}), "src/b.txt\n1:Fn upper\n\n"),
            (
                json!({"pattern": "three|one", "path": "a.rs", "context": 1}),
                "a.rs\n1:fn one() {}\n2-fn two() {}\n--\n4-let y = 2;\n5:fn three() {}\n\n",
            ),
            (json!({"pattern": "fn", "glob": "*.rs", "files_only": true}), "a.rs  3\n"),
            (
                json!({"pattern": "fn", "glob": "*.rs", "limit": 1}),
                "a.rs\n1:fn one() {}\n\n(the limit is reached; there may be more. Narrow the pattern, the path or the glob)\n",
            ),
            (json!({"pattern": "caf\u{e9}", "path": "src"}), "src/b.txt\n2:caf\u{e9} fn\n\n"),
            (json!({"pattern": "nowhere", "path": "src"}), "No line matches.\n"),
            (json!({"pattern": "secret", "path": ".env"}), ".env\n1:fn=secret\n\n"),
        ] {
            assert_eq!(bench.ok("grep", input.clone()).text, text, "{input}");
        }
        let facts = bench.inspect("grep", &json!({"pattern": "x", "path": ".env"})).unwrap();
        assert_eq!(facts.touches, [crate::domain::tool::Touch::Read { path: bench.path(".env"), secret: true }]);
    }

    #[test]
    fn much_and_long_is_cut() {
        let bench = Bench::new();
        bench.write("many", "match\n".repeat(300));
        bench.write("wide", format!("x{}\n", "y".repeat(400)));
        let outcome = bench.ok("grep", json!({"pattern": "match"}));
        assert_eq!(outcome.figures.lines, Some(250));
        assert!(outcome.text.contains("250:match\n\n(the limit is reached"), "{}", outcome.text);
        let text = bench.ok("grep", json!({"pattern": "xy"})).text;
        assert_eq!(text, format!("wide\n1:x{}… [line cut: 401 characters]\n\n", "y".repeat(299)));
    }

    #[test]
    fn a_pipe_in_the_way_does_not_block() {
        let bench = Bench::new();
        bench.write("f", "x\n");
        rustix::fs::mkfifoat(rustix::fs::CWD, bench.path("pipe"), rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
        assert_eq!(bench.ok("grep", json!({"pattern": "x"})).text, "f\n1:x\n\n");
        assert!(bench.error("grep", json!({"pattern": "x", "path": "pipe"})).contains("is a named pipe"));
    }

    #[test]
    fn errors() {
        let bench = bench();
        for (input, says) in [
            (json!({"pattern": "a("}), "Invalid regular expression"),
            (json!({"pattern": "a\nb"}), "within one line"),
            (json!({"pattern": "a\\nb"}), "Invalid regular expression"),
            (json!({"pattern": ""}), "matches every line".replace("matches", "match").as_str()),
            (json!({"pattern": "a", "glob": "../*"}), "leaves the directory"),
            (json!({"pattern": "a", "context": 11}), "`context` of grep"),
            (json!({"pattern": "a", "limit": 251}), "`limit` of grep"),
            (json!({"pattern": "a", "path": "none"}), "does not exist"),
        ] {
            let error = bench.error("grep", input.clone());
            assert!(error.contains(says), "{input}: {error}");
        }
    }
}
