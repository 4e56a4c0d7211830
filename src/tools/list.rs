//! `list`: what is in a directory. Names only; it reads no file.

use super::files::walk::{Cut, Patience};
use super::files::{classify, paths, reach, text};
use super::input::{self, InputFields};
use super::read_tracker::Seen;
use super::{CallPlace, Halt, RunContext, RunError, Tool, files, plain, read, reading, still};
use crate::domain::tool::{CallFacts, Outcome, ToolSpec};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Entries that come back at the most.
const MOST: usize = 500;
/// Depth limit of a listing.
const DEEPEST: u64 = 5;
/// Number of ignored entries that are named.
const MOST_IGNORED: usize = 20;

/// The tool.
pub struct ListTool;

impl Tool for ListTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "list".to_owned(),
            description: "Lists a directory: directories first with `/` and the number of their entries, then files with \
                their size, links with their target; sorted by name, indented by depth. Hidden files are listed; what \
                .gitignore and .ignore exclude is only named at the end and not counted. At most 500 entries come back, \
                which is told. Use `glob` to find files by name and `grep` to find text."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "The directory; the working directory when left out."},
                    "depth": {"type": "integer", "minimum": 1, "maximum": DEEPEST, "description": "How many levels to list; 1 when left out."}
                },
                "required": []
            }),
        }
    }

    fn reads_only(&self) -> bool {
        true
    }

    fn subject(&self, input: &Value) -> String {
        let path = input::subject(input, "path");
        if path.is_empty() { ".".to_owned() } else { path }
    }

    fn inspect(&self, input: &Value, place: &CallPlace, _seen: &Seen) -> Result<CallFacts, String> {
        let (path, _) = call(input, place)?;
        Ok(plain("list", self.subject(input), classify::reading(path, place)))
    }

    fn run(&self, input: Value, with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        reading(with.stop.clone(), move || work(&input, &with))
    }
}

fn call(input: &Value, place: &CallPlace) -> Result<(PathBuf, u64), String> {
    let fields = InputFields::of("list", input)?;
    let path = directory(fields.text_if_any("path")?, "list", place)?;
    Ok((path, fields.number("depth", 1..=DEEPEST)?.unwrap_or(1)))
}

/// The resolved directory that `list` and `glob` work in.
pub(crate) fn directory(path: Option<&str>, tool: &str, place: &CallPlace) -> Result<PathBuf, String> {
    let path = paths::resolve(path.unwrap_or("."), place)?;
    let meta = files::look(&path).map_err(|e| read::explain(e, &path, place))?;
    if meta.is_dir() {
        reach::fault(&path, tool, place).or_else(|| reach::unnamed(&path, tool, place)).map_or(Ok(path), Err)
    } else {
        Err(format!("{} is not a directory, and {tool} works on directories.", paths::shown(&path, place)))
    }
}

/// One entry, as far as it is shown.
enum ListedKind {
    Folder,
    File(u64),
    Link(Option<PathBuf>),
    Special,
}

fn work(input: &Value, with: &RunContext) -> Result<Outcome, Halt> {
    let (root, depth) = call(input, &with.place)?;
    still(plain("list", with.facts.subject.clone(), classify::reading(root.clone(), &with.place)), with)?;
    let patience = Patience::new(with.stop.clone());
    // One level more than is shown, to count what is in the last folders.
    let deepest = usize::try_from(depth).unwrap_or(1) + 1;
    let mut children: BTreeMap<PathBuf, Vec<(OsString, ListedKind)>> = BTreeMap::new();
    let mut unreadable = 0;
    let mut cut = None;
    for entry in reach::named_below(&root, &with.place).max_depth(Some(deepest)).build() {
        cut = patience.cut();
        if cut.is_some() {
            break;
        }
        let Ok(entry) = entry else {
            unreadable += 1;
            continue;
        };
        let Some(parent) = entry.path().parent().filter(|_| entry.depth() > 0) else { continue };
        let kind = match entry.file_type() {
            Some(kind) if kind.is_dir() => ListedKind::Folder,
            Some(kind) if kind.is_symlink() => ListedKind::Link(std::fs::read_link(entry.path()).ok()),
            Some(kind) if kind.is_file() => ListedKind::File(entry.metadata().map_or(0, |meta| meta.len())),
            _ => ListedKind::Special,
        };
        children.entry(parent.to_owned()).or_default().push((entry.file_name().to_owned(), kind));
    }
    if cut == Some(Cut::Stopped) {
        return Err(RunError::stopped("").into());
    }
    let known: BTreeSet<OsString> = children.get(&root).into_iter().flatten().map(|(name, _)| name.clone()).collect();
    let mut page = ListPage::default();
    page.level(&root, 0, usize::try_from(depth).unwrap_or(1), &mut children);
    let mut notes = ignored(&root, &known);
    if page.left_out > 0 {
        notes.push(format!("{} more entries are not shown; list a directory below, or use glob", page.left_out));
    }
    if cut.is_some() {
        notes.push("not everything was looked at: it took too long".to_owned());
    }
    if unreadable > 0 {
        notes.push(format!("{unreadable} entries could not be read"));
    }
    if page.lines == 0 {
        page.text.push_str("(nothing in it)\n");
    }
    for note in notes {
        page.text.push_str(&format!("({note})\n"));
    }
    let mut outcome = Outcome::ok(page.text);
    outcome.figures.lines = Some(page.lines as u64);
    Ok(outcome)
}

/// Entries of `root` that the walk skipped.
fn ignored(root: &Path, known: &BTreeSet<OsString>) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| !known.contains(&entry.file_name()))
        .map(|entry| {
            let slash = if entry.file_type().is_ok_and(|kind| kind.is_dir()) { "/" } else { "" };
            format!("{}{slash}", entry.file_name().to_string_lossy())
        })
        .collect();
    if names.is_empty() {
        return names;
    }
    names.sort();
    let more = names.len().saturating_sub(MOST_IGNORED);
    names.truncate(MOST_IGNORED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    vec![format!("ignored: {}{more}", names.join(", "))]
}

#[derive(Default)]
struct ListPage {
    text: String,
    lines: usize,
    left_out: usize,
}

impl ListPage {
    fn level(
        &mut self,
        dir: &Path,
        depth: usize,
        deepest: usize,
        all: &mut BTreeMap<PathBuf, Vec<(OsString, ListedKind)>>,
    ) {
        let mut entries = all.remove(dir).unwrap_or_default();
        entries.sort_by(|a, b| {
            let folder = |kind: &ListedKind| !matches!(kind, ListedKind::Folder);
            (folder(&a.1), &a.0).cmp(&(folder(&b.1), &b.0))
        });
        for (name, kind) in entries {
            if self.lines >= MOST {
                self.left_out += 1;
                continue;
            }
            self.lines += 1;
            let indent = "  ".repeat(depth);
            let shown = name.to_string_lossy();
            let path = dir.join(&name);
            let line = match kind {
                ListedKind::Folder => {
                    let count = all.get(&path).map_or(0, Vec::len);
                    format!("{indent}{shown}/  {count} {}", if count == 1 { "entry" } else { "entries" })
                }
                ListedKind::File(size) => format!("{indent}{shown}  {}", text::size(size)),
                ListedKind::Link(Some(target)) => format!("{indent}{shown} -> {}", target.display()),
                ListedKind::Link(None) => format!("{indent}{shown} -> ?"),
                ListedKind::Special => format!("{indent}{shown}  (a device, pipe or socket)"),
            };
            self.text.push_str(&line);
            self.text.push('\n');
            if depth + 1 < deepest {
                self.level(&path, depth + 1, deepest, all);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    #[test]
    fn directories_first_then_files_then_what_is_ignored() {
        let bench = Bench::new();
        for file in ["src/a.rs", "src/deep/b.rs", "target/x", "z.txt", ".hidden", ".git/config"] {
            bench.write(file, "12345");
        }
        bench.write(".gitignore", "target/\n");
        std::os::unix::fs::symlink("/etc", bench.path("link")).unwrap();
        std::fs::create_dir(bench.path("empty")).unwrap();
        assert_eq!(
            bench.ok("list", json!({})).text,
            "empty/  0 entries\nsrc/  2 entries\n.gitignore  8 bytes\n.hidden  5 bytes\nlink -> /etc\nz.txt  5 bytes\n\
             (ignored: .git/, target/)\n"
        );
        assert_eq!(
            bench.ok("list", json!({"path": "src", "depth": 3})).text,
            "deep/  1 entry\n  b.rs  5 bytes\na.rs  5 bytes\n"
        );
        assert_eq!(bench.ok("list", json!({"path": "empty"})).text, "(nothing in it)\n");
        assert_eq!(bench.ok("list", json!({"path": "src"})).figures.lines, Some(2));
    }

    #[test]
    fn many_entries_are_cut_with_a_note() {
        let bench = Bench::new();
        for n in 0..520 {
            bench.write(&format!("d/{n:03}"), "");
        }
        let text = bench.ok("list", json!({"path": "d"})).text;
        assert!(text.contains("499  0 bytes\n(20 more entries are not shown"), "{text}");
    }

    #[test]
    fn errors() {
        let bench = Bench::new();
        bench.write("file", "");
        for (input, says) in [
            (json!({"path": "none"}), "does not exist"),
            (json!({"path": "file"}), "file is not a directory"),
            (json!({"depth": 9}), "`depth` of list must be an integer from 1 to 5"),
        ] {
            let error = bench.error("list", input.clone());
            assert!(error.contains(says), "{input}: {error}");
        }
    }
}
