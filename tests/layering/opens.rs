//! Holds the way in which files are opened where other programs may have put anything at a path: in the store, the routes,
//! the channels, the settings and the gateway only `plain_file` opens, which waits for no pipe and reads no device.

use super::source::{paths, sources, without_tests, without_text};
use std::path::{Path, PathBuf};

/// Folders in which files are opened by `plain_file` alone.
const HELD: &[&str] = &["src/store", "src/routes", "src/channels", "src/config", "src/gateway", "src/json_log.rs"];

/// Ends of paths that open a file as it comes.
const RAW: &[&str] = &[
    "File::open",
    "File::options",
    "File::create",
    "File::create_new",
    "fs::read",
    "fs::read_to_string",
    "fs::write",
    "fs::copy",
    "OpenOptions",
    "OpenOptions::new",
];

/// Files that open something else, each with the reason why.
const ALLOWED: &[(&str, &str)] = &[
    ("src/channels/files.rs", "/dev/urandom"),
    ("src/gateway/home.rs", "/dev/urandom"),
    ("src/store/write/lock.rs", "/proc"),
    ("src/config/log.rs", "the log, which the user may lead to a device"),
    ("src/config/user_files.rs", "the sources, in debug builds"),
];

fn raw_opens(file: &Path, text: &str) -> Vec<String> {
    let tests_only = file.iter().any(|part| part == "tests" || part == "tests.rs");
    let code = without_tests(&without_text(text), tests_only);
    let is_raw = |path: &str| RAW.iter().any(|raw| path == *raw || path.ends_with(&format!("::{raw}")));
    let found = paths(&code).into_iter().filter(|(_, path)| is_raw(path));
    found.map(|(line, path)| format!("{}:{line}: `{path}` waits for pipes: use plain_file", file.display())).collect()
}

#[test]
fn files_that_others_may_have_put_there_are_opened_by_plain_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for held in HELD {
        match root.join(held).is_dir() {
            true => sources(root, Path::new(held), &mut files).unwrap(),
            false => files.push(PathBuf::from(held)),
        }
    }
    let read = |file: &Path| std::fs::read_to_string(root.join(file)).unwrap();
    let is_allowed = |file: &Path| ALLOWED.iter().any(|(allowed, _)| Path::new(allowed) == file);
    let found: Vec<String> =
        files.iter().filter(|file| !is_allowed(file)).flat_map(|file| raw_opens(file, &read(file))).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    for (file, why) in ALLOWED {
        let opens = raw_opens(Path::new(file), &read(Path::new(file)));
        assert!(!opens.is_empty(), "{file} opens nothing any more ({why})");
    }
}

#[test]
fn raw_opens_are_found_in_code_alone() {
    for (source, count) in [
        ("use std::fs::File;\nfn f() { File::open(x); }", 1),
        ("fn f() { std::fs::read(x); std::fs::read_to_string(x); }", 2),
        ("use std::fs::{self, OpenOptions};", 1),
        ("fn f() { tokio::fs::read(x) }", 1),
        ("fn f() { std::fs::read_dir(x); std::fs::read_link(x); io.open(x); plain_file::read(x, 1); }", 0),
        ("// File::open\nconst A: &str = \"File::open\";\n#[cfg(test)]\nmod tests { fn f() { std::fs::read(x); } }", 0),
    ] {
        assert_eq!(raw_opens(Path::new("src/store/x.rs"), source).len(), count, "{source}");
    }
}
