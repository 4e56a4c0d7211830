//! Worktrees of a repository whose settings and attributes would run programs: none of them runs, and git is held.

#![allow(clippy::print_stderr, reason = "a test that is left out says so")]
#![allow(clippy::unwrap_used, reason = "a test ends where its program cannot go on")]
#![cfg(unix)]

use lisle::agent::worktree::{self, BranchLeft, Loss, Merged};
use lisle::domain::SessionId;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const RUNNER: &str = env!("CARGO_BIN_EXE_lisle");

fn git(at: &Path, words: &[&str]) -> bool {
    let mut command = Command::new("git");
    command.current_dir(at).args(["-c", "user.name=Ada", "-c", "user.email=ada@example.invalid"]).args(words);
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    match command.output() {
        Ok(done) => {
            assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
            true
        }
        Err(_) => false,
    }
}

/// A repository whose every way to run something leaves a trace beside it; `None` where there is no git.
fn hostile(root: &Path) -> Option<PathBuf> {
    let repository = root.join("code");
    std::fs::create_dir_all(&repository).unwrap();
    if !git(&repository, &["init", "--quiet", "-b", "main"]) {
        eprintln!("there is no git here: worktrees are not tested");
        return None;
    }
    std::fs::write(repository.join("a.dat"), "one\n").unwrap();
    std::fs::write(repository.join("b.big"), "two\n").unwrap();
    std::fs::write(
        repository.join(".gitattributes"),
        "*.dat filter=evil merge=evil diff=evil\n*.big filter=lfs -text\n",
    )
    .unwrap();
    git(&repository, &["add", "-A"]);
    git(&repository, &["commit", "--quiet", "-m", "one"]);
    let trace = |name: &str| format!("touch '{}/ran-{name}'; cat", root.display());
    for (key, value) in [
        ("user.name", "Ada".to_owned()),
        ("user.email", "ada@example.invalid".to_owned()),
        ("filter.evil.smudge", trace("smudge")),
        ("filter.evil.clean", trace("clean")),
        ("filter.evil.required", "true".to_owned()),
        ("filter.lfs.process", trace("process")),
        ("filter.lfs.required", "true".to_owned()),
        ("merge.evil.driver", trace("merge")),
        ("diff.evil.textconv", trace("textconv")),
        ("diff.evil.command", trace("diff")),
        ("diff.external", trace("external")),
        ("core.fsmonitor", trace("fsmonitor")),
        ("core.hooksPath", repository.join(".git/hooks").display().to_string()),
        ("core.sshCommand", trace("ssh")),
        ("core.pager", trace("pager")),
        ("core.editor", trace("editor")),
        ("credential.helper", format!("!{}", trace("helper"))),
        ("gpg.program", trace("gpg")),
        ("gpg.ssh.program", trace("gpg-ssh")),
        ("commit.gpgSign", "true".to_owned()),
        ("merge.verifySignatures", "true".to_owned()),
    ] {
        git(&repository, &["config", key, &value]);
    }
    for name in [
        "post-checkout",
        "pre-merge-commit",
        "post-merge",
        "reference-transaction",
        "prepare-commit-msg",
        "post-index-change",
    ] {
        let hook = repository.join(".git/hooks").join(name);
        std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
        std::fs::write(&hook, format!("#!/bin/sh\n{} </dev/null\n", trace("hook"))).unwrap();
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    Some(repository)
}

fn traces(root: &Path) -> Vec<String> {
    let names = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("ran-")).collect()
}

#[tokio::test]
async fn nothing_that_a_repository_names_is_run() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let Some(repository) = hostile(&root) else { return };
    let data = root.join("data");
    let runner = Path::new(RUNNER);
    let id = SessionId::parse("260902-swift-river").unwrap();
    let made = worktree::create(runner, &repository, &data, "w", &id).await.unwrap();
    let note = made.note.unwrap();
    assert!(note.contains("(evil, lfs)") && note.contains("git lfs pull"), "{note}");
    let made = made.worktree;
    assert_eq!(std::fs::read_to_string(made.path.join("a.dat")).unwrap(), "one\n");
    assert_eq!(std::fs::read_to_string(made.path.join("b.big")).unwrap(), "two\n");
    assert!(!worktree::state(runner, &made).await.unwrap().dirty);
    std::fs::write(made.path.join("a.dat"), "changed\n").unwrap();
    assert!(worktree::state(runner, &made).await.unwrap().dirty);
    assert_eq!(traces(&root), Vec::<String>::new());

    // Both sides change the file that has a driver: git's own merge says so.
    let plain = [
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "filter.evil.clean=",
        "-c",
        "filter.lfs.process=",
    ];
    let off = ["-c", "filter.evil.required=false", "-c", "filter.lfs.required=false", "-c", "commit.gpgSign=false"];
    let commit = |at: &Path| {
        let words: Vec<&str> =
            plain.iter().chain(&off).copied().chain(["commit", "--quiet", "-a", "-m", "x"]).collect();
        git(at, &words);
    };
    commit(&made.path);
    assert_eq!(traces(&root), Vec::<String>::new(), "the test's own calls run nothing");
    assert_eq!(worktree::merge(runner, &made).await.unwrap(), Merged::Done(1));
    std::fs::write(made.path.join("a.dat"), "theirs\n").unwrap();
    commit(&made.path);
    std::fs::write(repository.join("a.dat"), "ours\n").unwrap();
    commit(&repository);
    assert_eq!(worktree::merge(runner, &made).await.unwrap(), Merged::Conflicts(vec!["a.dat".to_owned()]));
    assert_eq!(worktree::remove(runner, &made, Loss::Accepted).await.unwrap(), BranchLeft::Gone);
    assert!(!made.path.exists());
    assert_eq!(traces(&root), Vec::<String>::new());
}

#[tokio::test]
async fn a_filter_that_cannot_be_switched_off_ends_it() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let Some(repository) = hostile(&root) else { return };
    let file = repository.join(".git/config");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{text}[filter \"a=b\"]\n\tsmudge = touch '{}/ran-named'; cat\n", root.display()))
        .unwrap();
    let id = SessionId::parse("260902-swift-river").unwrap();
    let error = worktree::create(Path::new(RUNNER), &repository, &root.join("data"), "w", &id).await.unwrap_err();
    assert!(error.to_string().contains("can't be turned off"), "{error}");
    assert_eq!(traces(&root), Vec::<String>::new());
}
