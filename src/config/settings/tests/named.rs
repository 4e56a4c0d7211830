//! Every text that names a setting names one that there is: the sources are read for them.

use super::parse;
use std::path::{Path, PathBuf};

/// The tables of config.toml whose settings are named in texts.
const TABLES: [&str; 12] = [
    "permissions",
    "explore",
    "ask",
    "limits",
    "compact",
    "input",
    "ui",
    "store",
    "auto_archive",
    "trash",
    "undo",
    "sandbox",
];
/// File extensions that may follow a table's name in a file name.
const ENDINGS: [&str; 8] = ["json", "jsonl", "lock", "toml", "rs", "md", "txt", "log"];

fn sources(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "tests" {
                sources(&path, out);
            }
        } else if name.ends_with(".rs") && name != "tests.rs" {
            out.push(path);
        }
    }
}

/// The settings that the texts of a source name, as `table.name`.
fn named(source: &str) -> Vec<String> {
    // What stands behind is tests.
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    texts(source).iter().flat_map(|text| in_text(text)).collect()
}

/// String literals of a source, comments and single characters left out.
fn texts(source: &str) -> Vec<String> {
    let literal = regex::Regex::new(
        r##"(?s)//[^\n]*|'(?:\\.[^']*|[^'\\])'|r#"(?P<hashed>.*?)"#|r"(?P<raw>[^"]*)"|"(?P<plain>(?:\\.|[^"\\])*)""##,
    )
    .unwrap();
    let text = |found: regex::Captures<'_>| {
        ["hashed", "raw", "plain"].into_iter().find_map(|name| Some(found.name(name)?.as_str().to_owned()))
    };
    literal.captures_iter(source).filter_map(text).collect()
}

fn in_text(text: &str) -> Vec<String> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = Vec::new();
    for (at, _) in text.match_indices('.') {
        let (before, after) = (&text[..at], &text[at + 1..]);
        let table = &before[before.trim_end_matches(word).len()..];
        let name = &after[..after.len() - after.trim_start_matches(word).len()];
        let free = !before.trim_end_matches(word).ends_with(['.', '/', '-', '{', '$']);
        let behind = after[name.len()..].chars().next();
        if free
            && TABLES.contains(&table)
            && name.starts_with(|c: char| c.is_ascii_lowercase())
            && !ENDINGS.contains(&name)
            && !matches!(behind, Some('(' | '/' | '}'))
        {
            out.push(format!("{table}.{name}"));
        }
    }
    out
}

#[test]
fn every_setting_that_a_text_names_exists() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let mut seen = Vec::new();
    for file in files {
        for key in named(&std::fs::read_to_string(&file).unwrap()) {
            let (table, name) = key.split_once('.').unwrap();
            let (_, problems) = parse(&format!("[{table}]\n{name} = []\n"));
            let unknown = problems.iter().find(|problem| problem.text.starts_with("Unknown setting"));
            assert!(unknown.is_none(), "{}: {key}: {}", file.display(), unknown.unwrap().text);
            seen.push(key);
        }
    }
    for known in ["limits.requests_per_turn", "limits.first_byte_seconds", "undo.max_bytes"] {
        assert!(seen.iter().any(|key| key == known), "{known} is found: {seen:?}");
    }
}

#[test]
fn names_are_found_in_texts_alone() {
    assert_eq!(named("x(\"raise limits.firstByteSeconds.\")"), ["limits.firstByteSeconds"]);
    assert_eq!(named("limits.requests(); // \"x\"\nlet a = \"permissions.json, explore.bash = x\";"), ["explore.bash"]);
}
