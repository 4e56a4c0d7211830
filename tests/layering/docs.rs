//! Paths and module names in the documents for developers: each of them exists.

use super::source::{sources, without_text};
use std::path::{Path, PathBuf};

/// Documents that lead through the sources.
const DOCUMENTS: &[&str] = &["docs/architecture.md", "docs/glossary.md", "CONTRIBUTING.md", "src/lib.rs"];

/// Texts between backticks and targets of links.
fn named(text: &str) -> Vec<&str> {
    let code = text.split("```").step_by(2).flat_map(|prose| prose.split('`').skip(1).step_by(2));
    let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    code.chain(links.filter(|link| link.contains("src/"))).collect()
}

/// True if the name of a path or a module leads nowhere. Placeholders (`NAME`), and what is neither, lead somewhere.
fn is_missing(name: &str, root: &Path, files: &[PathBuf]) -> bool {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "_/.:-".contains(c));
    if !plain || name.contains("NAME") {
        return false;
    }
    let begins = ["src/", "tests/", "keymaps/", "themes/", "docs/", "benches/"].iter().any(|top| name.starts_with(top));
    if begins {
        return !root.join(name.trim_start_matches("../")).exists();
    }
    if name.ends_with(".rs") {
        return !files.iter().any(|file| file.ends_with(name));
    }
    let mut parts = name.split("::").peekable();
    let mut at = root.join("src");
    let is_module = |at: &Path| at.is_dir() || at.with_extension("rs").exists();
    if !name.contains("::") || !parts.peek().is_some_and(|first| is_module(&at.join(first))) {
        return false;
    }
    while let Some(next) = parts.next_if(|part| is_module(&at.join(part))) {
        at.push(next);
    }
    let Some(item) = parts.next() else { return false };
    let word = |text: String| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == item);
    let below = files.iter().map(|file| root.join(file)).filter(|file| file.with_extension("").starts_with(&at));
    !below.filter_map(|file| std::fs::read_to_string(file).ok().map(|text| without_text(&text))).any(word)
}

#[test]
fn documents_name_files_and_modules_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(root, Path::new("src"), &mut files).unwrap();
    let mut missing = Vec::new();
    for document in DOCUMENTS {
        let text = std::fs::read_to_string(root.join(document)).unwrap();
        let text = if document.ends_with(".rs") { text.replace("//!", "") } else { text };
        let gone = named(&text).into_iter().filter(|name| is_missing(name, root, &files));
        missing.extend(gone.map(|name| format!("{document}: {name}")));
    }
    assert!(missing.is_empty(), "these lead nowhere:\n{}", missing.join("\n"));
}

#[test]
fn missing_paths_and_modules_are_found() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(root, Path::new("src"), &mut files).unwrap();
    for there in ["src/lib.rs", "src/tools/NAME.rs", "registry.rs", "permit::decide", "domain::sanitise", "cargo test"]
    {
        assert!(!is_missing(there, root, &files), "{there}");
    }
    for gone in ["src/nowhere.rs", "nowhere.rs", "permit::nothing_of_this_name", "permit::decide::nor_of_this"] {
        assert!(is_missing(gone, root, &files), "{gone}");
    }
    assert_eq!(named("a `src/x.rs` b\n```sh\n`no`\n```\n[c](src/y.rs)"), ["src/x.rs", "src/y.rs"]);
}
