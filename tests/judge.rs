//! Runs every form that the judge admits without any sandbox, and looks whether one of them changes anything: names, bytes,
//! rights, owners and times of a throw-away tree. Times of change tell of attributes as well.
//!
//! It takes minutes and wants the programs installed: `.ci/judge` does both.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends where its program cannot go on")]
#![cfg(unix)]

use lisle::permit::shell::{Hold, Judged, forms, judge};
use lisle::sandbox::environment;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A form may take this long; it is ended then, which is no fault.
const PATIENCE: Duration = Duration::from_secs(4);

fn shell(dir: &Path, script: &str) {
    let out = Command::new("bash").arg("-euc").arg(script).current_dir(dir).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}

/// A repository with some commits, files of several kinds, links and folders.
fn plant(tree: &Path) {
    std::fs::create_dir_all(tree.join("sub/deep")).unwrap();
    std::fs::create_dir_all(tree.join("src")).unwrap();
    for (name, text) in [
        ("a.txt", "one a\ntwo b\nthree a\n12 34 5\n"),
        ("b.txt", "one a\ntwo c\nfour d\n"),
        ("x.json", "{\"a\": {\"b\": [1, 2]}, \"name\": \"n\", \"items\": [{\"x\": 2, \"y\": 3}]}\n"),
        ("x.yaml", "a:\n  b: 1\n"),
        ("names", "a.txt\nb.txt\n"),
        ("sub/c.md", "# c\n"),
        ("sub/deep/d.rs", "fn main() {}\n"),
        ("src/a.rs", "fn a() {}\n"),
        ("src/lib.rs", "//! x\n"),
        ("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("Cargo.lock", "version = 3\n\n[[package]]\nname = \"x\"\nversion = \"0.1.0\"\n"),
        ("package.json", "{\"name\": \"x\", \"version\": \"1.0.0\"}\n"),
        ("Makefile", "all:\n\ttouch made\ntest:\n\ttouch made\n"),
        ("go.mod", "module x\n"),
    ] {
        std::fs::write(tree.join(name), text).unwrap();
    }
    std::fs::write(tree.join("a.bin"), b"\x7fELF\0\x01some text here\0\xff").unwrap();
    symlink("a.txt", tree.join("link")).unwrap();
    symlink("sub", tree.join("folder")).unwrap();
    symlink("nowhere", tree.join("dangling")).unwrap();
    shell(
        tree,
        "git init -q -b main . && git config user.name n && git config user.email n@x.y && git add . && git commit -qm one \
         && echo more >> a.txt && git commit -qam two && git tag v1 && git branch other && echo again >> a.txt \
         && git commit -qam three && git remote add origin /nowhere && echo work >> b.txt && git stash -q \
         && git notes add -m note && echo open >> sub/c.md && git add sub/c.md && echo untracked > new.txt && mkfifo pipe \
         && touch -d '2 days ago' src/a.rs",
    );
}

/// What is in a tree: everything that can change but the time of the last reading.
type Picture = BTreeMap<PathBuf, (u32, u64, u32, (i64, i64), (i64, i64), Vec<u8>)>;

fn picture(tree: &Path) -> Picture {
    let mut out = Picture::new();
    let mut open = vec![tree.to_owned()];
    while let Some(path) = open.pop() {
        let meta = path.symlink_metadata().unwrap();
        let content = if meta.is_file() {
            std::fs::read(&path).unwrap()
        } else if meta.is_symlink() {
            path.read_link().unwrap().into_os_string().into_encoded_bytes()
        } else {
            Vec::new()
        };
        if meta.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        let times = ((meta.mtime(), meta.mtime_nsec()), (meta.ctime(), meta.ctime_nsec()));
        out.insert(path, (meta.mode(), meta.ino(), meta.uid(), times.0, times.1, content));
    }
    out
}

/// Runs a line under bash with the environment of a command that only reads. True when it ended by itself.
fn run(line: &str, tree: &Path, home: &Path) -> bool {
    let own = std::env::vars_os().filter(|(name, _)| name != "HOME" && name != "CARGO_HOME");
    let own = own.chain([(OsString::from("HOME"), home.as_os_str().to_owned())]);
    let mut child = Command::new("/bin/bash")
        .args(["--noprofile", "--norc", "-c", line])
        .current_dir(tree)
        .env_clear()
        .envs(environment::reading(own, tree))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    let started = Instant::now();
    loop {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        if started.elapsed() > PATIENCE {
            let group = rustix::process::Pid::from_child(&child);
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            let _ = child.wait();
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn installed(program: &str) -> bool {
    let builtin = ["cd", "type", "command", "exit", ":"].contains(&program);
    let mut dirs =
        std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect::<Vec<_>>()).unwrap_or_default();
    builtin || dirs.iter_mut().any(|dir| dir.join(program).exists())
}

#[test]
#[ignore = "takes minutes: .ci/judge runs it"]
fn no_form_that_only_reads_changes_anything() {
    let dir = tempfile::tempdir().unwrap();
    let (tree, home) = (dir.path().join("tree"), dir.path().join("home"));
    std::fs::create_dir_all(&home).unwrap();
    plant(&tree);
    let lines: Vec<String> = include_str!("judge/allowed.txt")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| line.to_owned()))
        // These go on for ever.
        .filter(|line: &String| !line.starts_with("while") && !line.starts_with("until"))
        .collect();
    let all: Vec<String> = forms().into_iter().chain(lines).collect();
    let mut missing = BTreeSet::new();
    let mut changes = Vec::new();
    let (mut ran, mut slow) = (0, 0);
    let mut before = picture(&tree);
    for line in all {
        if !matches!(judge(&line, Hold::Enforced).verdict, Judged::ReadOnly(_)) {
            continue;
        }
        let program = line.split_whitespace().next().unwrap_or_default().to_owned();
        if program.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_+.".contains(&b))
            && !installed(&program)
            && !program.contains('=')
        {
            missing.insert(program);
            continue;
        }
        slow += u32::from(!run(&line, &tree, &home));
        ran += 1;
        let after = picture(&tree);
        if after != before {
            let names: BTreeSet<&PathBuf> = before
                .iter()
                .filter(|(path, was)| after.get(*path) != Some(was))
                .map(|(path, _)| path)
                .chain(after.keys().filter(|path| !before.contains_key(*path)))
                .collect();
            changes.push(format!("{line}: {names:?}"));
            before = after;
        }
    }
    println!("{ran} forms ran, {slow} were ended after {} s; not installed: {missing:?}", PATIENCE.as_secs());
    assert!(ran > 2_000, "only {ran} forms ran");
    assert!(changes.is_empty(), "{} forms change something:\n{}", changes.len(), changes.join("\n"));
}
