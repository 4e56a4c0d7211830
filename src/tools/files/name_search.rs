//! Search for files that contain given names: one quick pass for people's drafts, with ignore
//! rules, without secrets.

use super::walk;
use crate::domain::paths::is_secret;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, sinks};
use std::path::Path;
use std::time::Instant;

/// Number of files that are listed.
const MOST_FILES: usize = 10;
/// Number of lines of a file that are listed.
const MOST_LINES: usize = 3;
/// Number of characters of a line that are listed.
const LONGEST_LINE: usize = 160;
/// Larger files are no source text.
const LARGEST: u64 = 1_000_000;

/// A file that holds one of the names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldingFile {
    /// Path below the directory.
    pub path: String,
    /// The first lines that hold one of them, with their numbers.
    pub lines: Vec<(u64, String)>,
    /// Number of matching lines.
    hits: usize,
    /// True if the file itself has the name.
    named: bool,
}

/// The last part of a path: what is searched for in texts.
fn tail(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// The files below `root` that hold the names or are named so, those with the most of them first; what was found until
/// then.
#[must_use]
pub fn search(root: &Path, names: &[String], until: Instant) -> Vec<HoldingFile> {
    let words: Vec<String> = names.iter().map(|name| literal(tail(name))).collect();
    let pattern = format!(r"(?:\b|_)(?:{})(?:\b|_)", words.join("|"));
    let Ok(regex) = RegexMatcherBuilder::new().case_insensitive(true).line_terminator(Some(b'\n')).build(&pattern)
    else {
        return Vec::new();
    };
    let mut searcher = SearcherBuilder::new().line_number(true).binary_detection(BinaryDetection::quit(0)).build();
    let mut found: Vec<HoldingFile> = Vec::new();
    for entry in walk::below(root).build().flatten() {
        if Instant::now() > until {
            break;
        }
        let small = entry.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= LARGEST);
        if !small || is_secret(entry.path()) || is_built(entry.path(), root) {
            continue;
        }
        if let Some(file) = look(&mut searcher, &regex, entry.path(), root, names) {
            found.push(file);
        }
    }
    found.sort_by(|a, b| {
        b.named.cmp(&a.named).then(b.hits.cmp(&a.hits)).then(a.path.len().cmp(&b.path.len())).then(a.path.cmp(&b.path))
    });
    found.truncate(MOST_FILES);
    found
}

fn look(
    searcher: &mut Searcher,
    regex: &RegexMatcher,
    path: &Path,
    root: &Path,
    names: &[String],
) -> Option<HoldingFile> {
    let shown = path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
    let lower = shown.to_lowercase();
    let ends = |name: &String| {
        let name = name.to_lowercase();
        lower == name || lower.strip_suffix(&name).is_some_and(|before| before.ends_with('/'))
    };
    let named = names.iter().any(ends);
    let (mut lines, mut hits) = (Vec::new(), 0);
    let sink = sinks::Lossy(|number, line: &str| {
        hits += 1;
        if lines.len() < MOST_LINES {
            lines.push((number, line.trim().chars().take(LONGEST_LINE).collect()));
        }
        Ok(hits < 100)
    });
    // A file that cannot be read is left out, or stands there by its name.
    let _ = searcher.search_path(regex, path, sink);
    (named || hits > 0).then_some(HoldingFile { path: shown, lines, hits, named })
}

/// Folders of what others wrote or machines made, where no rule leaves them out.
fn is_built(path: &Path, root: &Path) -> bool {
    let below = path.strip_prefix(root).unwrap_or(path);
    let built = ["target", "node_modules", "dist", "build", "vendor", ".venv", "venv", "__pycache__", ".next", "out"];
    below.parent().is_some_and(|dir| dir.iter().any(|part| part.to_str().is_some_and(|part| built.contains(&part))))
}

fn literal(name: &str) -> String {
    name.chars().flat_map(|c| [(!c.is_alphanumeric() && c != '_').then_some('\\'), Some(c)]).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn files_with_the_names_are_found_and_secrets_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("src/auth/redirect.rs", "fn keep_query() {}\n");
        write("src/other.rs", "// calls keep_query\nkeep_query();\n");
        write(".env", "keep_query=SECRET\n");
        write("ignored/x.rs", "keep_query\n");
        write(".gitignore", "ignored\n");
        write("target/y.rs", "keep_query\n");
        write("bin", "keep_query\0\n");
        let far = Instant::now() + Duration::from_secs(60);
        let found = search(dir.path(), &["redirect.rs".into(), "keep_query".into()], far);
        let paths: Vec<&str> = found.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths[..2], ["src/auth/redirect.rs", "src/other.rs"], "{paths:?}");
        assert!(!paths.iter().any(|path| path.contains("env") || path.contains("ignored") || path.contains("target")));
        assert_eq!(found[1].lines, [(1, "// calls keep_query".to_owned()), (2, "keep_query();".to_owned())]);
        assert!(search(dir.path(), &["keep_query".into()], Instant::now() - Duration::from_secs(1)).is_empty());
    }
}
