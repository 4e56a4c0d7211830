//! git's settings, read without running git: the keys and values of a file with what it includes, which of them run
//! nothing, and which files of a working tree the others name.
//!
//! Format: <https://git-scm.com/docs/git-config>. Conditions of `includeIf` are not looked at: any of them may hold later.

use crate::domain::git_settings::{is_plain_address, runs_nothing};
use crate::sandbox::plain_file;
use std::collections::{BTreeSet, HashMap};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Larger files are no settings.
pub(in crate::sandbox) const LARGEST: u64 = 1024 * 1024;
/// Files that one file leads to, and how deep.
const MOST_FILES: usize = 50;
const DEEPEST: usize = 10;

/// A setting: the key with section and name in small letters, and its value.
pub(in crate::sandbox) type Setting = (String, String);

/// Settings that run nothing and name no file that does, whatever their value: a section, and the last part of the key; an
/// empty list stands for all of the section. Everything else is taken to matter.
const HARMLESS: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
            "autocrlf",
            "eol",
            "safecrlf",
            "quotepath",
            "abbrev",
            "compression",
            "sparsecheckout",
            "sparsecheckoutcone",
            "untrackedcache",
            "protecthfs",
            "protectntfs",
            "longpaths",
            "trustctime",
            "checkstat",
            "preloadindex",
            "commitgraph",
            "multipackindex",
            "sharedrepository",
            "worktree",
        ],
    ),
    ("extensions", &[]),
    (
        "remote",
        &[
            "url",
            "pushurl",
            "fetch",
            "push",
            "tagopt",
            "prune",
            "prunetags",
            "mirror",
            "promisor",
            "partialclonefilter",
        ],
    ),
    ("branch", &["remote", "merge", "rebase", "pushremote", "description", "vscode-merge-base", "gh-merge-base"]),
    ("submodule", &["url", "active", "branch", "fetchrecursesubmodules", "ignore", "shallow", "recurse"]),
    ("user", &["name", "email", "useconfigonly"]),
    ("author", &[]),
    ("committer", &[]),
    ("init", &["defaultbranch"]),
    ("color", &[]),
    ("column", &[]),
    ("advice", &[]),
    ("gc", &["auto", "autodetach", "pruneexpire", "reflogexpire", "autopacklimit"]),
    ("index", &[]),
    ("pack", &["threads", "windowmemory", "usesparse", "writebitmaphashcache"]),
    ("fetch", &["prune", "prunetags", "parallel", "writecommitgraph", "recursesubmodules"]),
    ("pull", &["rebase", "ff"]),
    ("push", &["default", "autosetupremote", "followtags"]),
    ("merge", &["ff", "conflictstyle", "renames", "stat", "log"]),
    ("rebase", &["autostash", "autosquash", "updaterefs", "stat"]),
    ("rerere", &[]),
    ("lfs", &["repositoryformatversion", "access"]),
    ("http", &["postbuffer", "lowspeedlimit", "lowspeedtime"]),
    ("commit", &["gpgsign", "verbose", "cleanup"]),
    ("tag", &["gpgsign", "sort"]),
    ("log", &["date", "follow", "abbrevcommit", "decorate"]),
    ("status", &[]),
    ("feature", &[]),
];

/// True if a setting runs nothing and names no file that does. An address with a helper of its own runs that.
pub(in crate::sandbox) fn is_harmless((key, value): &Setting) -> bool {
    let mut parts = key.splitn(2, '.');
    let (section, rest) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let last = rest.rsplit('.').next().unwrap_or_default();
    let known = HARMLESS.iter().any(|(name, keys)| *name == section && (keys.is_empty() || keys.contains(&last)));
    // What is switched off, or on with git's own program.
    let known = known
        || matches!(
            (key.as_str(), value.as_str()),
            ("core.hookspath", "/dev/null") | ("core.fsmonitor", "false" | "true")
        );
    let is_address = matches!(last, "url" | "pushurl" | "remote" | "pushremote");
    known && !(is_address && (value.contains("::") || value.starts_with('-')))
}

/// True if the two differ only in settings that a command may write without a question.
///
/// All others are the same, in the same order: of two values the last one counts. No remote that stays has another address,
/// and what a branch follows is a remote that is there.
pub(in crate::sandbox) fn only_harmless(before: &[Setting], after: &[Setting]) -> bool {
    // What a submodule had goes with it.
    let gone = |setting: &Setting| setting.0.starts_with("submodule.") && !after.contains(setting);
    let weighty = |all: &[Setting]| -> Vec<Setting> {
        all.iter().filter(|one| !runs_nothing(&one.0, &one.1) && !gone(one)).cloned().collect()
    };
    let names: BTreeSet<&str> = after.iter().filter_map(remote_of_address).collect();
    let remotes = after.iter().filter(|one| remote_of_address(one).is_some() && is_plain_address(&one.1));
    let hosts: BTreeSet<&str> = remotes.map(|(_, address)| host_of(address)).collect();
    let addresses = |all: &[Setting], name: &str| -> Vec<Setting> {
        all.iter().filter(|setting| remote_of_address(setting) == Some(name)).cloned().collect()
    };
    let mut old = before.iter().filter_map(remote_of_address);
    let follows = |(key, value): &Setting| {
        let is_branch = key.starts_with("branch.") && (key.ends_with(".remote") || key.ends_with(".pushremote"));
        // Where the branch of somebody else comes from, which is where the project lies: any other host would get the next push.
        let is_beside = || is_plain_address(value) && hosts.contains(&host_of(value));
        !is_branch || value == "." || names.contains(value.as_str()) || is_beside()
    };
    weighty(before) == weighty(after)
        && old.all(|name| addresses(before, name) == addresses(after, name))
        && after.iter().filter(|setting| !before.contains(setting)).all(follows)
}

/// The host of a plain address, without user and port.
fn host_of(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let host = rest.split(['/', ':']).next().unwrap_or_default();
    host.rsplit('@').next().unwrap_or(host)
}

/// The remote whose address this is.
fn remote_of_address((key, _): &Setting) -> Option<&str> {
    let name = key.strip_prefix("remote.")?;
    name.strip_suffix(".url").or_else(|| name.strip_suffix(".pushurl"))
}

/// The settings of a text; `None` where git would not read it either.
pub(in crate::sandbox) fn parse(text: &str) -> Option<Vec<Setting>> {
    // To git a name ends there.
    if text.contains('\0') {
        return None;
    }
    let mut out = Vec::new();
    let mut section = String::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            c if is_space(c) => {}
            '#' | ';' => {
                chars.by_ref().find(|c| *c == '\n');
            }
            '[' => section = header(&mut chars)?,
            c if c.is_ascii_alphabetic() && !section.is_empty() => {
                let mut name = c.to_ascii_lowercase().to_string();
                while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '-') {
                    name.push(c.to_ascii_lowercase());
                }
                while chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
                let value = match chars.peek() {
                    Some('=') => {
                        chars.next();
                        value(&mut chars)?
                    }
                    None | Some('\n' | '#' | ';') => "true".to_owned(),
                    Some(_) => return None,
                };
                out.push((format!("{section}.{name}"), value));
            }
            _ => return None,
        }
    }
    Some(out)
}

/// White space as git has it: other blanks are letters of a value.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// The rest of `[section]`, `[section "sub"]` or `[section.sub]`.
fn header(chars: &mut Chars<'_>) -> Option<String> {
    let mut out = String::new();
    loop {
        match chars.next()? {
            ']' => return (!out.is_empty()).then_some(out),
            c if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') => out.push(c.to_ascii_lowercase()),
            ' ' | '\t' => break,
            _ => return None,
        }
    }
    while chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
    if chars.next()? != '"' {
        return None;
    }
    out.push('.');
    loop {
        match chars.next()? {
            '"' => break,
            '\\' => out.push(chars.next()?),
            '\n' => return None,
            c => out.push(c),
        }
    }
    (chars.next()? == ']').then_some(out)
}

/// A value up to the end of its line, or of those that it goes on in.
fn value(chars: &mut Chars<'_>) -> Option<String> {
    let (mut out, mut quoted) = (String::new(), false);
    // Blanks at the end do not count, those in quotes do.
    let mut kept = 0;
    while let Some(c) = chars.next() {
        match c {
            '\n' if quoted => return None,
            '\n' => break,
            '#' | ';' if !quoted => {
                chars.by_ref().find(|c| *c == '\n');
                break;
            }
            '"' => quoted = !quoted,
            '\\' => match chars.next()? {
                '\n' => continue,
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'b' => out.push('\u{8}'),
                c @ ('"' | '\\') => out.push(c),
                _ => return None,
            },
            c if is_space(c) && !quoted => {
                if !out.is_empty() {
                    out.push(c);
                }
                continue;
            }
            c => out.push(c),
        }
        kept = out.len();
    }
    out.truncate(kept);
    (!quoted).then_some(out)
}

/// Stamp of a file, which changes with it.
type Stamp = (u64, u64, u64, i64, i64);
type Read = HashMap<PathBuf, (Stamp, Arc<Vec<Setting>>)>;
static READ: Mutex<Option<Read>> = Mutex::new(None);
/// Files that are remembered.
const REMEMBERED: usize = 1_000;

/// The settings of one file, without those that it includes. What cannot be read has none.
fn of_file(path: &Path) -> Arc<Vec<Setting>> {
    let Ok(meta) = path.metadata() else { return Arc::default() };
    if !meta.is_file() || meta.len() > LARGEST {
        return Arc::default();
    }
    let stamp = (meta.dev(), meta.ino(), meta.len(), meta.ctime(), meta.ctime_nsec());
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let read = read.get_or_insert_with(HashMap::new);
    if let Some((_, known)) = read.get(path).filter(|(known, _)| *known == stamp) {
        return Arc::clone(known);
    }
    let text = plain_file::bytes_through_links(path, LARGEST).unwrap_or_default();
    let found = Arc::new(parse(&String::from_utf8_lossy(&text)).unwrap_or_default());
    if read.len() >= REMEMBERED {
        read.clear();
    }
    read.insert(path.to_owned(), (stamp, Arc::clone(&found)));
    found
}

/// Folders that names in settings begin at.
#[derive(Clone, Copy, Debug)]
pub(in crate::sandbox) struct Ground<'a> {
    /// The top of the working tree: git runs programs there.
    pub(in crate::sandbox) top: &'a Path,
    /// Folders that may be written; names that lead elsewhere are nobody's matter here.
    pub(in crate::sandbox) within: &'a Path,
    pub(in crate::sandbox) home: Option<&'a Path>,
}

/// Files and folders in `ground` that these files of settings name, themselves and in what they include, as something to
/// read settings from or to run. Some may not be there.
pub(in crate::sandbox) fn named(files: &[PathBuf], ground: Ground<'_>) -> Vec<PathBuf> {
    let mut out = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut open: Vec<(PathBuf, usize)> = files.iter().rev().map(|file| (file.clone(), 0)).collect();
    while let Some((file, depth)) = open.pop() {
        if seen.len() >= MOST_FILES || !seen.insert(file.clone()) {
            continue;
        }
        let dir = file.parent().unwrap_or(ground.top).to_owned();
        for setting in of_file(&file).iter() {
            let (key, value) = setting;
            if (key == "include.path" || key.starts_with("includeif.")) && key.ends_with(".path") {
                if let Some(path) = at(value, &dir, ground.home) {
                    out.insert(path.clone());
                    if depth < DEEPEST {
                        open.push((path, depth + 1));
                    }
                }
            } else if key == "core.attributesfile" || key == "init.templatedir" {
                out.extend(at(value, ground.top, ground.home));
            } else if key == "core.hookspath" {
                if let Some(folder) = at(value, ground.top, ground.home) {
                    // The whole tree cannot be kept from commands, but the hooks in it.
                    if ground.within.starts_with(&folder) || ground.top.starts_with(&folder) {
                        out.extend(HOOKS.iter().map(|name| folder.join(name)));
                    } else {
                        out.insert(folder);
                    }
                }
            } else if !key.starts_with("alias.") && !is_harmless(setting) {
                out.extend(programs(value, ground));
            }
        }
    }
    out.into_iter().filter(|path| path.starts_with(ground.within) && path != ground.within).collect()
}

/// A path as settings write it.
fn at(value: &str, base: &Path, home: Option<&Path>) -> Option<PathBuf> {
    if value.is_empty() {
        return None;
    }
    let path = match value.strip_prefix("~/") {
        Some(below) => home?.join(below),
        None => base.join(value),
    };
    Some(crate::domain::paths::lexical(base, &path))
}

/// Files of the working tree that a value may run, which git hands to a shell: what an expansion leads to is known to the shell
/// alone, so each word counts as if it began at the top, or in any folder that another word names.
fn programs(value: &str, ground: Ground<'_>) -> BTreeSet<PathBuf> {
    let words = words(value);
    let endings: Vec<&str> = words.iter().flat_map(|word| endings(word)).collect();
    let within = |path: &PathBuf| {
        path.starts_with(ground.within) && path.components().all(|part| !matches!(part, Component::ParentDir))
    };
    let in_tree = |base: &Path, ending: &str| at(ending, base, ground.home).filter(within);
    let folders = endings.iter().filter_map(|ending| in_tree(ground.top, ending)).filter(|path| path.is_dir());
    let bases: BTreeSet<PathBuf> = folders.take(MOST_BASES).chain([ground.top.to_owned()]).collect();
    let mut out = BTreeSet::new();
    for (base, ending) in bases.iter().flat_map(|base| endings.iter().map(move |ending| (base, *ending))) {
        let Some(path) = in_tree(base, ending) else { continue };
        if ending.contains(PATTERN) {
            let entries = path.parent().and_then(|folder| std::fs::read_dir(folder).ok());
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            // What stands before and behind the pattern in the name.
            let (begin, end) = (name.split(PATTERN).next(), name.rsplit([PATTERN, &[']']].concat().as_slice()).next());
            let fits = |file: &PathBuf| {
                let file = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                file.starts_with(begin.unwrap_or_default()) && file.ends_with(end.unwrap_or_default())
            };
            let entries = entries.into_iter().flatten().flatten().map(|entry| entry.path());
            out.extend(entries.filter(fits).take(MOST_MATCHES));
        } else {
            out.insert(path);
        }
    }
    out.retain(|path| path.symlink_metadata().is_ok_and(|meta| !meta.is_dir()));
    out
}

/// Characters of patterns for names.
const PATTERN: &[char] = &['*', '?', '['];
/// Folders that words of a value are looked for in.
const MOST_BASES: usize = 20;
/// Files of a folder that a pattern may stand for.
const MOST_MATCHES: usize = 200;

/// The words of a value. A first one without a slash is a program of the system, and a function is none.
fn words(value: &str) -> Vec<&str> {
    let marks = |c: char| c.is_whitespace() || "'\"`;|&()<>=!$,{}:".contains(c);
    let functions: Vec<&str> = value
        .match_indices("()")
        .filter_map(|(at, _)| value.get(..at)?.rsplit(marks).next())
        .filter(|name| !name.is_empty())
        .collect();
    let all = value.split(marks).filter(|word| !word.is_empty()).enumerate();
    let named = all.filter(|(at, word)| !(*at == 0 && !word.contains('/') || functions.contains(word)));
    named.map(|(_, word)| word).filter(|word| !word.starts_with('-') && !word.contains('%')).collect()
}

/// A word, and what of it may stand behind an expansion: `/x` behind `$(pwd)`, `D/x` behind a dollar, `/../x`.
fn endings(word: &str) -> impl Iterator<Item = &str> {
    let bare = |mut word: &'_ str| -> usize {
        let whole = word.len();
        while let Some(rest) = ["/", "./", "../"].iter().find_map(|up| word.strip_prefix(up)) {
            word = rest;
        }
        whole - word.len()
    };
    let stripped = word.get(bare(word)..);
    let behind = word.split_once('/').map(|(_, rest)| rest).and_then(|rest| rest.get(bare(rest)..));
    [Some(word), stripped, behind].into_iter().flatten().filter(|ending| !ending.is_empty())
}

/// Names of hooks: <https://git-scm.com/docs/githooks>.
const HOOKS: &[&str] = &[
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "post-index-change",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Setting> {
        parse(text).unwrap()
    }

    #[test]
    fn settings_are_read_as_git_reads_them() {
        let text = "\u{feff}# c\n[Core]\n\tfsMonitor = \"a \\\"b\\\" \" c # x\n bare\n[remote \"O r\"] url=x\\\ny ; z\n[a.B]k=\n";
        let expected =
            [("core.fsmonitor", "a \"b\"  c"), ("core.bare", "true"), ("remote.O r.url", "xy"), ("a.b.k", "")];
        assert_eq!(of(text), expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
        for bad in ["x = 1", "[core", "[core]\nx y", "[core]\nx = \"a", "[core]\nx = \\q"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_runs_something_is_not_harmless() {
        let harmless = |text: &str| of(text).iter().all(is_harmless);
        for text in [
            "[core]\nrepositoryformatversion = 0\nbare = false\n[remote \"origin\"]\nurl = https://h/x\nfetch = +a:b\n",
            "[core]\nhooksPath = /dev/null\nfsmonitor = false\n",
            "[branch \"a.b\"]\nremote = origin\nmerge = refs/heads/a.b\n[user]\nname = x\n[submodule \"x\"]\nactive\n",
        ] {
            assert!(harmless(text), "{text}");
        }
        for text in [
            "[core]\nfsmonitor = x",
            "[core]\nhooksPath = x",
            "[core]\nsshCommand = x",
            "[include]\npath = x",
            "[remote \"o\"]\nurl = ext::sh -c x",
            "[remote \"o\"]\nuploadpack = x",
            "[filter \"f\"]\nclean = x",
            "[submodule \"x\"]\nupdate = !x",
            "[alias]\nst = !x",
            "[gpg]\nprogram = x",
            "[new]\nthing = x",
        ] {
            assert!(!harmless(text), "{text}");
        }
    }

    #[test]
    fn a_backspace_hides_nothing() {
        // git keeps it as a letter, so what stands before it counts.
        let text = format!("[remote \"o\"]\nurl = ext::sh{}https://h/x\n", "\\b".repeat(7));
        assert!(!of(&text).iter().all(is_harmless));
        assert!(!only_harmless(&[], &of(&text)));
        assert_eq!(of("[a]\nb = x\u{a0}\n")[0].1, "x\u{a0}");
    }

    #[test]
    fn a_harmless_difference_is_told_from_others() {
        let base =
            "[core]\nbare = false\n[core]\nsshCommand = a\n[core]\nsshCommand = b\n[remote \"o\"]\nurl = https://h/x\n";
        let with = |more: &str| of(&format!("{base}{more}"));
        for more in [
            "",
            "[branch \"x\"]\nremote = o\nmerge = refs/heads/x\n",
            "[branch \"x\"]\nremote = .\n",
            "[user]\nname = x\nemail = y\n",
            "[remote \"n\"]\nurl = git@h:x\nfetch = +refs/heads/*:refs/remotes/n/*\n[branch \"x\"]\nremote = n\n",
            "[color]\nui = auto\n",
        ] {
            assert!(only_harmless(&of(base), &with(more)), "{more}");
            // A remote is not taken away without a question.
            assert_eq!(only_harmless(&with(more), &of(base)), !more.contains("remote \"n"), "{more}");
        }
        for more in [
            "[core]\npager = x\n",
            "[core]\nworktree = /home\n",
            "[include]\npath = x\n",
            "[branch \"x\"]\nremote = ext::sh\n",
            "[branch \"x\"]\nremote = folder\n",
            "[remote \"n\"]\nurl = ./folder\n",
            "[remote \"o\"]\nurl = https://evil/x\n",
            "[remote \"o\"]\npushurl = https://evil/x\n",
            "[remote \"o\"]\nuploadpack = x\n",
            "[url \"https://evil/\"]\ninsteadOf = https://h/\n",
        ] {
            assert!(!only_harmless(&of(base), &with(more)), "{more}");
        }
        // Of two values the last one counts.
        let turned = base.replace("= a", "= c").replace("= b", "= a").replace("= c", "= b");
        assert!(!only_harmless(&of(base), &of(&turned)));
        let other = base.replace("https://h/x", "https://evil/x");
        assert!(!only_harmless(&of(base), &of(&other)) && !only_harmless(&of(base), &of("")));
    }

    #[test]
    fn files_that_settings_name_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in ["p/tools", "p/.git", "home", "elsewhere"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in ["p/tools/clean.py", "p/tools/ssh", "p/diff.sh", "p/notes", "p/make", "elsewhere/x", "p/tools/more"]
        {
            std::fs::write(root.join(file), "x").unwrap();
        }
        let top = root.join("p");
        let config = format!(
            "[include]\npath = ../tools/config\n[includeIf \"onbranch:x\"]\npath = {0}/tools/other\n[core]\nhooksPath = hooks\n\
             sshCommand = ./tools/ssh -v\nattributesFile = tools/attributes\n[filter \"f\"]\nclean = python3 tools/clean.py %f\n\
             [diff \"d\"]\ncommand = sh -c 'exec \"{0}/diff.sh\" \"$@\"'\n[alias]\nx = !cat notes\n[gpg]\nprogram = make\n\
             [credential]\nhelper = {1}/elsewhere/x\n[remote \"o\"]\nurl = ./notes\n",
            top.display(),
            root.display()
        );
        std::fs::write(root.join("p/.git/config"), config).unwrap();
        std::fs::write(root.join("p/tools/config"), "[merge \"m\"]\ndriver = tools/more\n").unwrap();
        let home = root.join("home");
        let ground = Ground { top: &top, within: &top, home: Some(&home) };
        let found = named(&[root.join("p/.git/config")], ground);
        let names: Vec<_> = found.iter().map(|path| path.strip_prefix(&top).unwrap().to_str().unwrap()).collect();
        let expected = [
            "diff.sh",
            "hooks",
            "tools/attributes",
            "tools/clean.py",
            "tools/config",
            "tools/more",
            "tools/other",
            "tools/ssh",
        ];
        assert_eq!(names, expected);
        // What a shell makes of a value is not known: each file that it may run is found.
        for (value, file) in [
            ("$(git rev-parse --show-toplevel)/tools/ssh", Some("tools/ssh")),
            ("`git rev-parse --show-toplevel`/tools/ssh", Some("tools/ssh")),
            ("$(pwd)/tools/ssh -v", Some("tools/ssh")),
            ("$PWD/tools/ssh", Some("tools/ssh")),
            ("${PWD}/tools/ssh", Some("tools/ssh")),
            ("\"$GIT_DIR\"/../diff.sh", Some("diff.sh")),
            ("$(dirname \"$GIT_DIR\")/diff.sh", Some("diff.sh")),
            ("${GIT_WORK_TREE:-.}/diff.sh", Some("diff.sh")),
            ("cd tools && ./ssh", Some("tools/ssh")),
            ("cat | ( cd tools ; sh more )", Some("tools/more")),
            ("D=tools; $D/ssh", Some("tools/ssh")),
            ("P=\"$(git rev-parse --show-toplevel)\"; \"$P/tools/ssh\"", Some("tools/ssh")),
            ("tools/s[s]h", Some("tools/ssh")),
            ("ext::tools/ssh", Some("tools/ssh")),
            ("!make() { tools/ssh; }; make", Some("tools/ssh")),
            ("make notes-of-the-day", None),
        ] {
            let text = format!("[diff]\nexternal = \"{}\"\n", value.replace('"', "\\\""));
            std::fs::write(root.join("p/.git/config"), text).unwrap();
            let found = named(&[root.join("p/.git/config")], ground);
            let holds = file.map_or(found.is_empty(), |file| found.contains(&top.join(file)));
            assert!(holds, "{value}: {found:?}");
            assert!(!found.contains(&top.join("make")), "{value}: a function is no file");
        }
        // Hooks beside everything else are protected one by one.
        std::fs::write(root.join("p/.git/config"), "[core]\nhooksPath = .\n").unwrap();
        let found = named(&[root.join("p/.git/config")], ground);
        assert!(found.contains(&top.join("pre-commit")) && !found.contains(&top));
    }
}
