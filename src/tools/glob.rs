//! `glob`: files by name, newest first.

use super::files::walk::{Cut, Patience};
use super::files::{classify, paths, reach};
use super::input::{self, InputFields};
use super::list::directory;
use super::read_tracker::Seen;
use super::{CallPlace, Halt, RunContext, RunError, Tool, plain, reading, still};
use crate::domain::tool::{CallFacts, Outcome, ToolSpec};
use futures_util::future::BoxFuture;
use globset::{GlobBuilder, GlobMatcher};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::SystemTime;

/// Files that come back at the most.
const MOST: usize = 500;

/// The tool.
pub struct Glob;

impl Tool for Glob {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "glob".to_owned(),
            description: "Finds files whose path matches a pattern, newest first, one path a line. `*` and `?` stay within \
                one name, `**` crosses directories, `{a,b}` and `[ab]` work. A pattern without `/` matches the file name \
                at any depth (`*.rs` finds every Rust file); one with `/` matches the path from `path` on \
                (`src/**/*.rs`). What .gitignore and .ignore exclude is left out, hidden files are not; links are not \
                followed. At most 500 paths come back, which is told."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "pattern": {"type": "string", "description": "The pattern, for example `*.toml` or `src/**/mod.rs`."},
                    "path": {"type": "string", "description": "The directory to look in; the working directory when left out."}
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
        let (path, _) = call(input, place)?;
        Ok(plain("glob", self.subject(input), classify::reading(path, place)))
    }

    fn run(&self, input: Value, with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        reading(with.stop.clone(), move || work(&input, &with))
    }
}

/// `PATTERN in PATH`, for the two tools that search.
pub(crate) fn subject(input: &Value) -> String {
    let (pattern, path) = (input::subject(input, "pattern"), input::subject(input, "path"));
    if path.is_empty() { pattern } else { format!("{pattern} in {path}") }
}

fn call(input: &Value, place: &CallPlace) -> Result<(PathBuf, GlobMatcher), String> {
    let fields = InputFields::of("glob", input)?;
    let matcher = matcher(fields.text("pattern")?, "pattern")?;
    Ok((directory(fields.text_if_any("path")?, "glob", place)?, matcher))
}

/// A matcher for paths relative to where the search begins. A pattern without `/` matches names at any depth.
pub(crate) fn matcher(pattern: &str, field: &str) -> Result<GlobMatcher, String> {
    let wanted = pattern.strip_prefix("./").unwrap_or(pattern);
    if wanted.is_empty() {
        return Err(format!("The {field} is empty. Give one, for example `*.rs`."));
    }
    if wanted.starts_with(['/', '~']) || wanted.split('/').any(|part| part == "..") {
        return Err(format!(
            "The {field} {pattern} leaves the directory that is searched. Give that directory as `path` and a {field} below it."
        ));
    }
    let whole = if wanted.contains('/') { wanted.to_owned() } else { format!("**/{wanted}") };
    match GlobBuilder::new(&whole).literal_separator(true).backslash_escape(true).build() {
        Ok(glob) => Ok(glob.compile_matcher()),
        Err(e) => Err(format!("Invalid glob in {field}: {pattern}: {}.", e.kind())),
    }
}

fn work(input: &Value, with: &RunContext) -> Result<Outcome, Halt> {
    let (root, matcher) = call(input, &with.place)?;
    still(plain("glob", with.facts.subject.clone(), classify::reading(root.clone(), &with.place)), with)?;
    let patience = Patience::new(with.stop.clone());
    let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
    let mut cut = None;
    for entry in reach::named_below(&root, &with.place).build().flatten() {
        cut = patience.cut();
        if cut.is_some() {
            break;
        }
        let is_folder = entry.file_type().is_none_or(|kind| kind.is_dir());
        let Ok(below) = entry.path().strip_prefix(&root) else { continue };
        if is_folder || !matcher.is_match(below) {
            continue;
        }
        let changed = entry.metadata().ok().and_then(|meta| meta.modified().ok()).unwrap_or(SystemTime::UNIX_EPOCH);
        found.push((changed, entry.into_path()));
    }
    if cut == Some(Cut::Stopped) {
        return Err(RunError::stopped("").into());
    }
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let total = found.len();
    found.truncate(MOST);
    let mut text: String = found.iter().map(|(_, path)| format!("{}\n", paths::shown(path, &with.place))).collect();
    if total == 0 {
        text.push_str("No file matches.\n");
    }
    if total > MOST {
        text.push_str(&format!("({MOST} of {total} files, the newest; narrow the pattern to see others)\n"));
    }
    if cut.is_some() {
        text.push_str("(not everything was looked at: it took too long; give a directory below)\n");
    }
    let mut outcome = Outcome::ok(text);
    outcome.figures.lines = Some(total as u64);
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;
    use std::time::Duration;

    fn bench() -> Bench {
        let bench = Bench::new();
        let files =
            ["a.rs", "src/b.rs", "src/deep/c.rs", "src/deep/d.toml", "target/e.rs", ".github/f.yml", ".git/g.rs"];
        for (age, file) in files.into_iter().enumerate() {
            bench.write(file, "x");
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + age as u64);
            std::fs::File::options().write(true).open(bench.path(file)).unwrap().set_modified(time).unwrap();
        }
        bench.write(".ignore", "target\n");
        bench
    }

    #[test]
    fn patterns_find_files_newest_first() {
        let mut bench = bench();
        std::fs::create_dir(bench.place.session_dir.parent().unwrap().parent().unwrap()).unwrap();
        std::fs::write(bench.place.own_dirs[0].join("out.rs"), "x").unwrap();
        std::os::unix::fs::symlink(&bench.place.own_dirs[0], bench.path("link")).unwrap();
        // As where the working directory is the home directory.
        bench.write("lisle/checkpoints/copy.rs", "x");
        bench.place.own_dirs.push(bench.path("lisle"));
        for (input, text) in [
            (json!({"pattern": "*.rs"}), "src/deep/c.rs\nsrc/b.rs\na.rs\n"),
            (json!({"pattern": "./*.rs"}), "src/deep/c.rs\nsrc/b.rs\na.rs\n"),
            (json!({"pattern": "src/*.rs"}), "src/b.rs\n"),
            (json!({"pattern": "src/**/*.{rs,toml}"}), "src/deep/d.toml\nsrc/deep/c.rs\nsrc/b.rs\n"),
            (json!({"pattern": "deep/*", "path": "src"}), "src/deep/d.toml\nsrc/deep/c.rs\n"),
            (json!({"pattern": "*.yml"}), ".github/f.yml\n"),
            (json!({"pattern": "out.rs"}), "No file matches.\n"),
        ] {
            assert_eq!(bench.ok("glob", input.clone()).text, text, "{input}");
        }
        assert_eq!(bench.inspect("glob", &json!({"pattern": "*.rs", "path": "src"})).unwrap().subject, "*.rs in src");
    }

    #[test]
    fn many_files_are_cut_with_a_note() {
        let bench = Bench::new();
        for n in 0..510 {
            bench.write(&format!("d/{n}"), "");
        }
        let outcome = bench.ok("glob", json!({"pattern": "d/*"}));
        assert!(outcome.text.ends_with("(500 of 510 files, the newest; narrow the pattern to see others)\n"));
        assert_eq!(outcome.figures.lines, Some(510));
    }

    #[test]
    fn errors() {
        let bench = bench();
        for (input, says) in [
            (json!({"pattern": ""}), "pattern is empty"),
            (json!({"pattern": "/etc/*"}), "leaves the directory"),
            (json!({"pattern": "../*"}), "leaves the directory"),
            (json!({"pattern": "a[b"}), "Invalid glob"),
            (json!({"pattern": "*", "path": "a.rs"}), "a.rs is not a directory"),
            (json!({"pattern": "*", "path": "none"}), "does not exist"),
        ] {
            let error = bench.error("glob", input.clone());
            assert!(error.contains(says), "{input}: {error}");
        }
    }
}
