//! Likely effects of a command that is not proved to read only: for the rows of secrets and protected paths, and for
//! the words of warning beside a question. Guessed from the loose reading.

use super::{catastrophic, loose};
use crate::domain::paths;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A secret and the network in one line.
const SENDS_SECRET: &str = "may send what looks like a secret";
/// A redirection to a protected path.
const CHANGES_PROTECTED: &str = "changes files that configure or run code";
/// Said of a part alone: of a line its reasons say it.
pub(in crate::permit) const NAMES_SECRET: &str = "names what looks like a secret";

/// The words of warning, the worst first. One that is not here stands behind them.
const WORST_FIRST: &[&str] = &[
    SENDS_SECRET,
    "runs as another user (sudo)",
    "runs text as commands",
    CHANGES_PROTECTED,
    NAMES_SECRET,
    "publishes",
    "deletes",
    "may discard uncommitted changes",
    "outlives the session",
    "outside the working directory",
    "overwrites or appends to a file",
    "changes permissions",
    "ends processes",
    "network",
];

/// Rank of a word of warning: the lower, the worse.
#[must_use]
pub fn gravity(risk: &str) -> usize {
    WORST_FIRST.iter().position(|known| *known == risk).unwrap_or(WORST_FIRST.len())
}

/// Likely effects of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    /// Words that name secrets.
    pub secrets: Vec<String>,
    /// Words that name what configures or runs code.
    pub protected: Vec<String>,
    /// Programs that are lisle itself, which reaches the gateway, its sessions and its rules.
    pub own: Vec<String>,
    /// Targets of redirections that lie outside the working directory and the temporary folders.
    pub writes_outside: Vec<String>,
    /// Risks, a few words each, the worst first.
    pub risks: Vec<String>,
}

impl Looks {
    /// True if it reaches the network.
    pub(in crate::permit) fn sends(&self) -> bool {
        self.risks.iter().any(|risk| risk == "network")
    }

    /// True if it reaches a repository of this machine alone.
    pub(in crate::permit) fn stays_here(&mut self) {
        self.risks.retain(|risk| risk != "network" && risk != SENDS_SECRET);
    }

    /// Takes out what a line only uses: no redirection may lead there.
    pub(in crate::permit) fn only_uses(&mut self, words: &[String]) {
        if !self.risks.iter().any(|risk| risk == CHANGES_PROTECTED) {
            self.protected.retain(|word| !words.contains(word));
        }
    }

    /// Warning about a network part of a line where another part names a secret.
    pub(in crate::permit) fn with_secret(risks: &mut Vec<String>) {
        if !risks.iter().any(|risk| risk == SENDS_SECRET) {
            risks.insert(0, SENDS_SECRET.to_owned());
        }
    }
}

/// Looks a command over.
#[must_use]
pub fn looks(command: &str, cwd: &Path) -> Looks {
    let mut out = Looks::default();
    let mut risks = BTreeSet::new();
    let mut texts = vec![command.to_owned()];
    let outer = loose::split(command).commands;
    // Texts that a shell inside the line runs (`sh -c '…'`) are looked over once more, one level deep.
    if outer.iter().any(|simple| catastrophic::starts(simple).runs_text) {
        let words = outer.into_iter().flat_map(|simple| simple.words);
        texts.extend(words.filter(|word| word.contains(char::is_whitespace)));
    }
    for text in &texts {
        for simple in loose::split(text).commands {
            let hosts = simple.words.iter().any(|word| REMOTE.contains(&word.rsplit('/').next().unwrap_or(word)));
            for word in &simple.words {
                note_word(word, cwd, hosts, &mut out, &mut risks);
            }
            for at in catastrophic::starts(&simple).programs {
                let Some((program, arguments)) = simple.words[at..].split_first() else { continue };
                if program.rsplit('/').next() == Some("lisle") {
                    out.own.push(program.clone());
                }
                risks.extend(risk(program.rsplit('/').next().unwrap_or(program), arguments));
            }
            for (operator, target) in &simple.redirects {
                note_word(target, cwd, false, &mut out, &mut risks);
                let path = paths::lexical(cwd, Path::new(target));
                let to_descriptor = operator.ends_with('&') && target.bytes().all(|b| b.is_ascii_digit() || b == b'-');
                if !operator.contains('>') || to_descriptor || path.starts_with("/dev") && !paths::is_secret(&path) {
                    continue;
                }
                risks.insert("overwrites or appends to a file");
                if paths::is_protected_for_commands(&path) {
                    risks.insert(CHANGES_PROTECTED);
                }
                let known = !target.contains(['$', '*', '?']);
                let home = target.starts_with('~') || target.starts_with("$HOME") || target.starts_with("${HOME}");
                if home || known && !below(&path, cwd) {
                    out.writes_outside.push(target.clone());
                }
            }
        }
    }
    if !out.secrets.is_empty() && risks.contains("network") {
        risks.insert(SENDS_SECRET);
    }
    for list in [&mut out.secrets, &mut out.protected, &mut out.own, &mut out.writes_outside] {
        list.sort();
        list.dedup();
    }
    out.risks = risks.into_iter().map(str::to_owned).collect();
    out.risks.sort_by_key(|risk| gravity(risk));
    out
}

fn below(path: &Path, cwd: &Path) -> bool {
    path.starts_with(cwd) || ["/tmp", "/var/tmp", "/private/tmp"].iter().any(|temp| path.starts_with(temp))
}

/// Programs that take `host:path` for a path of another machine.
const REMOTE: &[&str] = &["git", "scp", "sftp", "rsync"];

/// A word such as `user@host:path`, with the path.
fn path_elsewhere(word: &str) -> Option<&str> {
    let (host, path) = word.split_once(':')?;
    let is_host = |c: char| c.is_ascii_alphanumeric() || "@-_.".contains(c);
    (host.len() > 1 && !host.starts_with(['-', '.']) && host.chars().all(is_host)).then_some(path)
}

/// `hosts`: the command may take the word for a path of another machine.
fn note_word(word: &str, cwd: &Path, hosts: bool, out: &mut Looks, risks: &mut BTreeSet<&'static str>) {
    let elsewhere = path_elsewhere(word).filter(|_| hosts);
    // `--file=.env`, `-d@.env`, `host:path`: a path may begin after such a mark.
    let marks = ['=', '@', ':', ','];
    for part in std::iter::once(word).chain(word.split(marks).skip(1)) {
        // What follows the colon of an address is a host.
        let of_address = part.starts_with("//") && word.contains("://");
        if part.is_empty() || part.contains(char::is_whitespace) || part.contains("://") || of_address {
            continue;
        }
        let resolved: PathBuf = paths::lexical(cwd, Path::new(part));
        if paths::is_secret(&resolved) || paths::is_secret(Path::new(part)) {
            out.secrets.push(part.to_owned());
        }
        if paths::is_protected_for_commands(&resolved) {
            out.protected.push(part.to_owned());
        }
        let names_path = part.starts_with(['/', '~']) || part == ".." || part.starts_with("../");
        if names_path
            && elsewhere != Some(part)
            && (part.starts_with('~') || !below(&resolved, cwd))
            && !part.starts_with("/dev/")
        {
            risks.insert("outside the working directory");
        }
    }
}

/// Risk of a program, or of a word that may be one.
fn risk(name: &str, next: &[String]) -> Vec<&'static str> {
    let first = next.iter().find(|word| !word.starts_with('-')).map_or("", String::as_str);
    let mut out = Vec::new();
    match name {
        "sudo" | "doas" | "su" | "pkexec" | "runuser" => out.push("runs as another user (sudo)"),
        "rm" | "rmdir" | "unlink" | "shred" | "truncate" => out.push("deletes"),
        "chmod" | "chown" | "chgrp" | "setfacl" | "chattr" | "umask" => out.push("changes permissions"),
        "find" if next.iter().any(|word| word == "-delete") => out.push("deletes"),
        "kill" | "pkill" | "killall" => out.push("ends processes"),
        "curl" | "wget" | "ssh" | "scp" | "sftp" | "rsync" | "nc" | "ncat" | "telnet" | "ftp" | "ping" | "dig"
        | "host" | "nslookup" | "http" | "aws" | "gcloud" | "az" | "kubectl" | "gh" => out.push("network"),
        "eval" | "exec" | "source" => out.push("runs text as commands"),
        "crontab" | "systemctl" | "launchctl" | "at" => out.push("outlives the session"),
        "git" => match first {
            "push" | "pull" | "fetch" | "clone" | "ls-remote" => out.push("network"),
            "clean" => out.push("deletes"),
            "reset" | "checkout" | "restore" | "rebase" => out.push("may discard uncommitted changes"),
            _ => {}
        },
        "npm" | "pnpm" | "yarn" | "pip" | "pip3" | "uv" | "cargo" | "gem" | "go" | "brew" | "apt" | "apt-get"
        | "dnf" | "pacman" | "docker" | "podman" => {
            let words =
                ["install", "i", "add", "update", "upgrade", "publish", "pull", "push", "get", "ci", "sync", "run"];
            if words.contains(&first) {
                out.push("network");
            }
            if first == "publish" {
                out.push("publishes");
            }
        }
        _ => {}
    }
    out
}
