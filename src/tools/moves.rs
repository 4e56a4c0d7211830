//! Detection of command lines that only move between states of the repository: `git switch`,
//! `pull`, `merge` and the like. Such a line may change protected files that git tracks, so it must
//! do nothing else.
//!
//! Strict: what is not on the lists, or could be read in two ways, is something else.

use crate::domain::reach::reach;
use crate::sandbox::places::Moves;

/// Subcommands that change the working tree to another state, with the options that run nothing.
const MOVING: &[(&str, &[&str])] = &[
    (
        "switch",
        &[
            "-c",
            "-C",
            "-d",
            "-q",
            "-f",
            "-t",
            "--create",
            "--detach",
            "--track",
            "--no-track",
            "--guess",
            "--quiet",
            "--discard-changes",
            "--force",
            "-",
        ],
    ),
    (
        "checkout",
        &[
            "-b",
            "-B",
            "-q",
            "-f",
            "-t",
            "--detach",
            "--track",
            "--no-track",
            "--quiet",
            "--force",
            "--ours",
            "--theirs",
            "--",
            "-",
        ],
    ),
    (
        "pull",
        &[
            "-q",
            "-v",
            "-r",
            "--rebase",
            "--no-rebase",
            "--ff",
            "--ff-only",
            "--no-ff",
            "--no-edit",
            "--autostash",
            "--tags",
            "--prune",
            "--quiet",
            "--verbose",
            "--all",
        ],
    ),
    (
        "merge",
        &[
            "-q",
            "-m",
            "--ff",
            "--ff-only",
            "--no-ff",
            "--no-edit",
            "--no-commit",
            "--squash",
            "--abort",
            "--continue",
            "--quit",
            "--quiet",
            "--autostash",
            "--stat",
            "-n",
        ],
    ),
    (
        "rebase",
        &[
            "-q",
            "--onto",
            "--abort",
            "--continue",
            "--skip",
            "--quit",
            "--autostash",
            "--autosquash",
            "--quiet",
            "--root",
            "--stat",
            "-n",
        ],
    ),
    ("stash", &["-u", "-k", "-q", "-m", "--include-untracked", "--keep-index", "--index", "--quiet"]),
    ("cherry-pick", &["-x", "-n", "--abort", "--continue", "--skip", "--quit", "--no-commit", "--allow-empty"]),
    ("revert", &["-n", "--abort", "--continue", "--skip", "--quit", "--no-commit", "--no-edit"]),
    ("reset", &["--hard", "--soft", "--mixed", "--keep", "--merge", "-q", "--quiet"]),
    ("restore", &["-s", "--source", "--staged", "--worktree", "-q", "--quiet", "--"]),
];
/// Subcommands that may stand beside those, with any words: they read, or write what git keeps.
const BESIDE: &[&str] = &["status", "branch", "rev-parse"];

/// Classifies the line.
pub(super) fn of(command: &str) -> Moves {
    match (moves(command), settles(command)) {
        (false, false) => Moves::No,
        (true, false) => Moves::Repository,
        (false, true) => Moves::Settings,
        (true, true) => Moves::Both,
    }
}

/// Whether all of the line is git, which is to change its settings or hooks. The user is asked about such words each time.
fn settles(command: &str) -> bool {
    let Some(commands) = commands(command) else { return false };
    let is_git = |words: &Vec<String>| words.first().is_some_and(|program| program == "git");
    let settles = |words: &Vec<String>| reach(words).settles.is_some_and(|what| what.starts_with("git's "));
    commands.iter().all(is_git) && commands.iter().any(settles)
}

fn moves(command: &str) -> bool {
    let Some(commands) = commands(command) else { return false };
    let mut any = false;
    for words in &commands {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ["git", subcommand, rest @ ..] = &words[..] else { return false };
        let Some((_, options)) = MOVING.iter().find(|(name, _)| name == subcommand) else {
            if BESIDE.contains(subcommand) && rest.iter().all(|word| !word.starts_with('-') || *word == "-s") {
                continue;
            }
            return false;
        };
        any = true;
        // An address may name a program of its own.
        let harmless = |word: &&str| {
            if word.starts_with('-') {
                options.contains(word)
            } else {
                !word.contains("::") && !word.contains("://") && !word.starts_with('+')
            }
        };
        if !rest.iter().all(harmless) {
            return false;
        }
    }
    any
}

/// The words of commands that are joined by `&&` or `;`; `None` where a shell may read more in it.
fn commands(line: &str) -> Option<Vec<Vec<String>>> {
    let mut out = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.trim().chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"'), '$' | '`' | '\\' | '!') => return None,
            (Some(_), '\n') => return None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                quote = Some(c);
            }
            (None, ' ' | '\t') => out.last_mut()?.extend(word.take()),
            (None, '&') if chars.next_if_eq(&'&').is_some() => {
                out.last_mut()?.extend(word.take());
                out.push(Vec::new());
            }
            (None, ';') => {
                out.last_mut()?.extend(word.take());
                out.push(Vec::new());
            }
            (None, c) if c.is_ascii_alphanumeric() || "-_./@~^=+:,%".contains(c) => {
                // `~` begins a word only where a home directory is meant.
                if word.is_none() && c == '~' {
                    return None;
                }
                word.get_or_insert_default().push(c);
            }
            _ => return None,
        }
    }
    if quote.is_some() {
        return None;
    }
    out.last_mut()?.extend(word.take());
    if out.last().is_some_and(Vec::is_empty) && out.len() > 1 {
        out.pop();
    }
    out.iter().all(|words| !words.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_moves_are_moves() {
        for line in [
            "git switch main",
            "git switch -c feature/x",
            "git checkout -b new origin/main",
            "git pull --rebase && git stash pop",
            "git merge --no-ff -m 'one && two' topic",
            "git rebase main; git status",
            "git reset --hard HEAD~2",
            "git checkout main -- .envrc",
        ] {
            assert_eq!(of(line), Moves::Repository, "{line}");
        }
        for line in [
            "",
            "git status",
            "git commit -m x",
            "git switch main && make",
            "git -c core.hooksPath=x switch main",
            "git rebase -x 'touch y' main",
            "git rebase --exec=y main",
            "git rebase --exe y main",
            "git rebase -i main",
            "git pull ext::sh",
            "git pull https://evil.example/x",
            "git pull --upload-pack=x",
            "git merge -s own main",
            "git switch main | sh",
            "git switch $(x)",
            "git switch \"$x\"",
            "git switch main > .envrc",
            "git switch main\ntouch .envrc",
            "git switch main & touch x",
            "GIT_DIR=x git switch main",
            "./git switch main",
            "git switch 'main",
            "sudo git switch main",
            "git remote add o https://x/y && make",
            "git remote -v",
            "git remote add o $(x)",
            "make; git config a.b c",
        ] {
            assert_eq!(of(line), Moves::No, "{line}");
        }
        for (line, moves) in [
            ("git remote add o https://x/y && git fetch o", Moves::Settings),
            ("git branch -m old new", Moves::Settings),
            ("git submodule deinit -f x", Moves::Settings),
            ("git switch --track origin/x", Moves::Both),
        ] {
            assert_eq!(of(line), moves, "{line}");
        }
    }
}
