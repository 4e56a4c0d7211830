//! What the sandbox looks up around each command: a large tree made in a temporary directory, then the places and the
//! comparison of protected files of one command. `cargo bench --bench places`; `LISLE_BENCH_DIR` names a directory to
//! measure in place of the tree that is made, `LISLE_BENCH_FILES` how many files that has.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program that measures and prints")]

use lisle::sandbox::places::{self, Moves, Site, caches, scan};
use lisle::sandbox::protected_files::Guard;
use lisle::sandbox::{Allowances, Namespaces};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let given = std::env::var_os("LISLE_BENCH_DIR").map(|dir| PathBuf::from(dir).canonicalize().unwrap());
    let cwd = given.clone().unwrap_or_else(|| root.join("tree"));
    if given.is_none() {
        let files = std::env::var("LISLE_BENCH_FILES").ok().and_then(|n| n.parse().ok()).unwrap_or(100_000);
        make(&cwd, files);
    }
    looks(&cwd, given.is_none());
    commands(&cwd, &root);
}

fn make(tree: &Path, files: usize) {
    for n in 0..files {
        let folder = tree.join(format!("node_modules/p{}/d{}", n / 100, n / 10 % 10));
        if n % 10 == 0 {
            std::fs::create_dir_all(&folder).unwrap();
        }
        std::fs::write(folder.join(format!("f{n}.{}", ["js", "json", "txt"][n % 3])), format!("text {n}")).unwrap();
    }
    for folder in ["objects", "refs", "hooks"] {
        std::fs::create_dir_all(tree.join(".git").join(folder)).unwrap();
    }
    for (name, text) in
        [(".git/HEAD", "ref: refs/heads/main\n"), (".git/config", "[core]\n\tbare = false\n"), (".env", "x")]
    {
        std::fs::write(tree.join(name), text).unwrap();
    }
}

fn looks(tree: &Path, writes: bool) {
    let time = |what: &str| {
        let began = Instant::now();
        let found = scan::look(tree, &[]).secrets.len();
        println!("look, {what}: {:?} ({found} secrets)", began.elapsed());
    };
    ["first", "unchanged", "unchanged"].into_iter().for_each(time);
    if !writes {
        return;
    }
    std::fs::write(tree.join("node_modules/p5/d5/.env"), "x").unwrap();
    time("one new file");
    time("unchanged");
    for n in 0..20_000 {
        std::fs::write(tree.join(format!("node_modules/p{}/d0/new{n}", n % 1000)), "x").unwrap();
    }
    time("20,000 new files");
    time("unchanged");
}

fn commands(cwd: &Path, root: &Path) {
    let home = std::env::home_dir().unwrap();
    let session_dir = root.join("session");
    let own_dirs = [root.join("config"), root.join("data"), root.join("state")];
    own_dirs.iter().chain([&session_dir]).for_each(|dir| std::fs::create_dir_all(dir).unwrap());
    let allowances = Allowances {
        caches: caches::usual(&home, &|_| None),
        private: Some(root.join("state/caches/w")),
        ..Allowances::default()
    };
    let site = Site {
        cwd,
        session_dir: &session_dir,
        own_dirs: &own_dirs,
        allowances: &allowances,
        named: &[],
        approved: &[],
        moves: Moves::default(),
        home: Some(&home),
        namespaces: Namespaces::With,
    };
    for _ in 0..5 {
        let began = Instant::now();
        let profile = places::workspace(&site);
        let looked_up = began.elapsed();
        let guard = Guard::before(&site, profile.bounds());
        let before = began.elapsed() - looked_up;
        let changes = guard.after(&site, &HashSet::new()).len();
        let after = began.elapsed() - looked_up - before;
        let bounds = profile.bounds().unwrap();
        println!(
            "command: places {looked_up:?}, before {before:?}, after {after:?} ({changes}); {} readable, {} protected, {} \
             pinned, {} masked, {} replaced",
            bounds.readable.len(),
            bounds.protected.len(),
            bounds.pinned.len(),
            bounds.masked.len(),
            bounds.replaced.len()
        );
    }
}
