//! Facts from the disk about the words of a command line: secrets and devices that they lead to
//! through links, patterns and `~`, and the files of its programs.
//!
//! The text of a command is judged elsewhere; this module adds what only the disk can tell. It is
//! broad: text that no shell would take for a path is looked up like one, and a path that does not
//! exist is ignored.

use super::affected_paths;
use crate::domain::paths::{is_device, is_secret, lexical};
use crate::domain::permission::{READERS, WIDE_READERS};
use crate::domain::tool::{StartedProgram, Touch};
use crate::sandbox::places::below_temp;
use crate::sandbox::runner::environment;
use crate::tools::CallPlace;
use crate::tools::files::{classify, paths};
use globset::{GlobBuilder, GlobMatcher};
use std::path::{Path, PathBuf};

/// Words that are looked up in one command line.
const MOST: usize = 5_000;
/// Names of files that patterns may stand for, and folders that are read for it.
const MOST_MATCHES: usize = 20_000;
/// Folders that a line may change to.
const MOST_BASES: usize = 24;
/// Depth to which texts for shells are followed.
const DEEPEST: usize = 4;

/// Findings.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::tools) struct Looked {
    /// Paths reached through the words and not visible in them, each once.
    pub(in crate::tools) touches: Vec<Touch>,
    /// The files of the programs that are known to only read.
    pub(in crate::tools) programs: Vec<StartedProgram>,
    /// Reason why some words could not be looked up.
    pub(in crate::tools) unseen: Option<String>,
}

/// A word, and whether a pattern's mark stood in it without quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PatternWord {
    text: String,
    open: bool,
}

/// Looks the words of `command` up.
pub(in crate::tools) fn look(command: &str, place: &CallPlace) -> Looked {
    let home = std::env::home_dir();
    let words = all_words(command);
    let mut out = Looked::default();
    if words.len() > MOST {
        out.unseen = Some("it has more words than are looked up".to_owned());
    }
    let bases = bases(&words, place, home.as_deref());
    if bases.len() > MOST_BASES {
        out.unseen = Some("too many directory changes".to_owned());
    }
    let mut budget = MOST_MATCHES;
    for word in words.iter().take(MOST) {
        for part in candidates(&word.text) {
            let (given, from_home) = match (part.strip_prefix('~'), &home) {
                (Some(""), Some(home)) => (home.clone(), true),
                (Some(rest), Some(home)) if rest.starts_with('/') => (home.join(rest.trim_start_matches('/')), true),
                _ => (PathBuf::from(part), false),
            };
            for base in bases.iter().take(MOST_BASES) {
                let full = base.join(&given);
                if word.open && part.contains(['*', '?', '[']) {
                    match matches(&full, &mut budget) {
                        Ok(found) => {
                            let touches =
                                found.iter().filter_map(|path| reached(path, classify::is_secret_match, place));
                            touches.for_each(|touch| push_new(&mut out.touches, touch));
                        }
                        Err(why) => out.unseen = Some(format!("`{part}` {why}")),
                    }
                } else if from_home || *base != place.cwd {
                    // The letters do not show where it leads.
                    reached(&full, classify::is_secret, place)
                        .into_iter()
                        .for_each(|touch| push_new(&mut out.touches, touch));
                } else if let Some(touch) = hidden(&given, place) {
                    push_new(&mut out.touches, touch);
                }
            }
        }
    }
    out.programs = programs(&words, place);
    out
}

/// The paths that the words of a line may name, each with the folder that it is seen from.
pub(in crate::tools) fn below(command: &str, place: &CallPlace) -> Vec<(PathBuf, PathBuf)> {
    let words = all_words(command);
    let bases = bases(&words, place, std::env::home_dir().as_deref());
    let mut out = Vec::new();
    for word in words.iter().take(MOST) {
        for part in candidates(&word.text) {
            out.extend(bases.iter().take(MOST_BASES).map(|base| (base.clone(), PathBuf::from(part))));
        }
    }
    out
}

/// Words of the line that name files of extensions which count: commands use them. None where nothing keeps commands from writing
/// them.
pub(in crate::tools) fn of_extensions(command: &str, place: &CallPlace) -> Vec<String> {
    let known = &place.allowances.extensions;
    if known.is_empty() || !crate::sandbox::is_enforced() {
        return Vec::new();
    }
    let home = std::env::home_dir();
    let is_of_extension = |word: &&PatternWord| {
        let real = paths::resolve_from(&word.text, &place.cwd, home.as_deref());
        !word.open && real.is_ok_and(|real| known.iter().any(|one| real.starts_with(one)))
    };
    let words = all_words(command);
    words.iter().take(MOST).filter(is_of_extension).map(|word| word.text.clone()).collect()
}

/// Paths outside of the working directory that the line names by their whole letters: absolute ones, those that begin with
/// `~/` or `..`, without patterns. Not all of them are there.
pub(in crate::tools) fn named(command: &str, place: &CallPlace) -> Vec<PathBuf> {
    let words = all_words(command);
    let home = std::env::home_dir();
    let mut out = Vec::new();
    for word in words.iter().filter(|word| !word.open).take(MOST) {
        for part in candidates(&word.text) {
            let path = match (part.strip_prefix("~/"), &home) {
                (Some(rest), Some(home)) => home.join(rest),
                _ if part.starts_with('/') => PathBuf::from(part),
                _ if part.starts_with("../") || part.contains("/../") || part == ".." => place.cwd.join(part),
                _ => continue,
            };
            let path = lexical(&place.cwd, &path);
            if !path.starts_with(&place.cwd) && path.symlink_metadata().is_ok() {
                push_new(&mut out, path);
            }
        }
        if out.len() >= MOST_NAMED {
            break;
        }
    }
    out
}

/// Secrets that the line itself names, whole words of a single command line alone: whoever decided saw these as well.
pub(in crate::tools) fn secrets(command: &str, place: &CallPlace) -> Vec<PathBuf> {
    // What stands behind a remark or in a text for a program need not have been seen.
    if command.contains(['#', '\n']) || command.contains("<<") {
        return Vec::new();
    }
    let home = std::env::home_dir();
    let mut out = Vec::new();
    // A word that only tests have was perhaps not asked about.
    let is_test = |argv: &&Vec<String>| argv.iter().any(|word| matches!(word.as_str(), "test" | "[" | "[["));
    let commands = affected_paths::commands(command);
    let (tests, others): (Vec<&Vec<String>>, Vec<&Vec<String>>) = commands.iter().partition(is_test);
    let only_tested = |text: &str| {
        tests.iter().any(|argv| argv.iter().any(|word| word == text))
            && !others.iter().any(|argv| argv.iter().any(|word| word.contains(text)))
    };
    let words = split(command, ";|&<>(){}`$");
    for word in words.iter().filter(|word| !word.open && !only_tested(&word.text)).take(MOST) {
        let value = word.text.split_once('=').map(|(_, value)| value);
        for part in [Some(word.text.as_str()), value].into_iter().flatten() {
            let given = match (part.strip_prefix("~/"), &home) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => PathBuf::from(part),
            };
            let path = lexical(&place.cwd, &given);
            let there = path.symlink_metadata().is_ok();
            let real = || paths::follow(&path).unwrap_or_else(|_| path.clone());
            if there && (is_secret(&path) || is_secret(Path::new(part)) || classify::is_secret(&real(), place)) {
                push_new(&mut out, path);
            }
        }
    }
    out.truncate(MOST_NAMED);
    out
}

/// Paths below `/tmp` that the line names by their letters.
pub(in crate::tools) fn in_temp(command: &str) -> Vec<PathBuf> {
    let words = all_words(command);
    let named = words
        .iter()
        .take(MOST)
        .flat_map(|word| candidates(&word.text))
        .map(|part| lexical(Path::new("/"), Path::new(part)));
    let mut out = Vec::new();
    for path in named.filter(|path| path.is_absolute() && below_temp(path).is_some_and(|below| below != Path::new("")))
    {
        push_new(&mut out, path);
    }
    out.truncate(MOST_NAMED);
    out
}

/// Paths that one line names.
const MOST_NAMED: usize = 50;

fn push_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// A path whose letters do not show what it is: a link.
fn hidden(given: &Path, place: &CallPlace) -> Option<Touch> {
    let full = place.cwd.join(given);
    full.symlink_metadata().ok()?;
    // The way the kernel goes: a `..` behind a link leads out of the link's target.
    let path = paths::follow(&full).ok()?;
    let by_letters = lexical(&place.cwd, given);
    let secret = classify::is_secret(&path, place) && !is_secret(&by_letters) && !is_secret(given);
    let device = is_device(&path) && !is_device(&by_letters);
    (secret || device).then_some(Touch::Read { path, secret })
}

/// A secret or a device behind a path that stands nowhere in the line.
fn reached(full: &Path, is_hidden: fn(&Path, &CallPlace) -> bool, place: &CallPlace) -> Option<Touch> {
    full.symlink_metadata().ok()?;
    let path = paths::follow(full).ok()?;
    let secret = is_hidden(&path, place) || is_secret(full);
    (secret || is_device(&path)).then_some(Touch::Read { path, secret })
}

/// The folders in which a command of the line may run: where it starts, and where its `cd`s lead.
fn bases(words: &[PatternWord], place: &CallPlace, home: Option<&Path>) -> Vec<PathBuf> {
    let mut out = vec![place.cwd.clone()];
    for (at, _) in words.iter().enumerate().filter(|(_, word)| word.text == "cd") {
        let to = words.get(at + 1..).unwrap_or_default().iter().find(|word| !word.text.starts_with('-'));
        let to = to.map_or("", |word| word.text.as_str());
        let to = match (to.strip_prefix('~'), home) {
            (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
            _ => PathBuf::from(to),
        };
        // A `cd` without a word leads home, whatever stands behind it.
        let targets: Vec<PathBuf> = out.iter().map(|base| base.join(&to)).chain(home.map(Path::to_owned)).collect();
        for target in targets {
            if out.len() <= MOST_BASES {
                push_new(&mut out, target);
            }
        }
    }
    out
}

/// The files that a pattern stands for, as bash expands it: names with a dot at their beginning only where the pattern has
/// one.
pub(in crate::tools) fn matches(pattern: &Path, budget: &mut usize) -> Result<Vec<PathBuf>, String> {
    let mut found = vec![PathBuf::from("/")];
    for part in pattern.components() {
        let name = part.as_os_str().to_str().ok_or("is not supported")?;
        if name == "/" {
            continue;
        }
        if !name.contains(['*', '?', '[']) {
            found.iter_mut().for_each(|path| path.push(name));
            continue;
        }
        let matcher = matcher(name).ok_or("is a pattern that is not supported")?;
        let mut next = Vec::new();
        for folder in &found {
            let Ok(entries) = std::fs::read_dir(folder) else { continue };
            for entry in entries.flatten() {
                *budget = budget.checked_sub(1).ok_or("stands for too many files")?;
                let file = entry.file_name();
                let dot = file.as_encoded_bytes().starts_with(b".");
                if dot && !name.starts_with(['.', '[', '?']) {
                    continue;
                }
                if matcher.is_match(&file) {
                    next.push(folder.join(file));
                }
            }
        }
        found = next;
    }
    Ok(found)
}

fn matcher(name: &str) -> Option<GlobMatcher> {
    // Classes such as `[[:alpha:]]` mean something else here.
    if name.contains("[:") || name.contains("[.") || name.contains("[=") {
        return None;
    }
    let mut text = String::new();
    for c in name.chars() {
        match c {
            '*' if text.ends_with('*') => {}
            '{' | '}' | '\\' | ',' => {
                text.push('[');
                text.push(c);
                text.push(']');
            }
            c => text.push(c),
        }
    }
    GlobBuilder::new(&text).backslash_escape(false).build().ok().map(|glob| glob.compile_matcher())
}

/// The files of the programs among the words, by the search path that the command gets.
fn programs(words: &[PatternWord], place: &CallPlace) -> Vec<StartedProgram> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let known = |name: &str| READERS.contains(&name) || WIDE_READERS.contains(&name);
    let mut names: Vec<&str> = words.iter().map(|word| word.text.as_str()).filter(|name| known(name)).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return Vec::new();
    }
    let search = environment::own(&place.cwd).into_iter().find(|(name, _)| name == "PATH").map(|(_, value)| value);
    let dirs: Vec<PathBuf> = search.iter().flat_map(|value| std::env::split_paths(value)).collect();
    let cwd = paths::follow(&place.cwd).unwrap_or_else(|_| place.cwd.clone());
    let found = |name: &str| {
        dirs.iter().find_map(|dir| {
            let named = dir.join(name);
            let meta = named.metadata().ok()?;
            if !meta.is_file() || meta.permissions().mode() & 0o111 == 0 {
                return None;
            }
            let path = paths::follow(&named).unwrap_or_else(|_| named.clone());
            let dir = paths::follow(dir).unwrap_or_else(|_| dir.clone());
            let inside = [&path, &named, &dir].into_iter().any(|at| at.starts_with(&cwd) || at.starts_with(&place.cwd));
            Some(StartedProgram { name: name.to_owned(), path, inode: meta.ino(), inside })
        })
    };
    names.into_iter().filter_map(found).collect()
}

/// The forms in which a word may hold a path: as it is, behind `--option=`, behind the letter of an option, and behind
/// the `:` of a git object.
fn candidates(word: &str) -> impl Iterator<Item = &str> {
    let value = word.split_once('=').map(|(_, value)| value);
    let object = word.split_once(':').map(|(_, path)| path);
    let joined = word.strip_prefix('-').and_then(|rest| rest.char_indices().nth(1).and_then(|(at, _)| rest.get(at..)));
    [Some(word), value, joined, object].into_iter().flatten().filter(|part| !part.is_empty())
}

/// The words of a line, and of the texts in it that a shell runs.
fn all_words(command: &str) -> Vec<PatternWord> {
    let mut out = Vec::new();
    collect(command, DEEPEST, &mut out);
    out
}

fn collect(text: &str, depth: usize, out: &mut Vec<PatternWord>) {
    // Braces may separate commands or be letters of a name.
    let mut words = split(text, ";|&<>(){}`$");
    let again = split(text, ";|&<>()`$");
    words.extend(again.into_iter().filter(|word| word.text.contains(['{', '}'])));
    let shell = words.iter().any(|word| matches!(word.text.as_str(), "sh" | "bash" | "dash"));
    for word in words {
        if shell && depth > 0 && word.text.contains(char::is_whitespace) && out.len() <= MOST {
            collect(&word.text, depth - 1, out);
        }
        out.push(word);
    }
}

/// Words after quote removal, split at blanks and at these separators. `$HOME` stands as `~`.
fn split(command: &str, separators: &str) -> Vec<PatternWord> {
    let command = command.replace("${HOME}", "~").replace("$HOME", "~");
    let mut out = Vec::new();
    let mut word = PatternWord { text: String::new(), open: false };
    let mut quote = None;
    let mut rest = command.chars().peekable();
    while let Some(c) = rest.next() {
        match (quote, c) {
            // `$'…'`: what is escaped in it is a letter of the word.
            (Some('$'), '\'') => quote = None,
            (Some('$'), '\\') => word.text.extend(rest.next().map(|c| match c {
                't' => '\t',
                'n' => '\n',
                c => c,
            })),
            (Some(open), c) if c == open && open != '$' => quote = None,
            (None, '$') if rest.next_if_eq(&'\'').is_some() => quote = Some('$'),
            (None, '\'' | '"') => quote = Some(c),
            (None, '\\') => word.text.extend(rest.next().filter(|c| *c != '\n')),
            (Some('"'), '\\') => match rest.next() {
                Some('\n') | None => {}
                Some(c @ ('$' | '`' | '"' | '\\')) => word.text.push(c),
                Some(c) => word.text.extend(['\\', c]),
            },
            (None, c) if c.is_whitespace() || separators.contains(c) => {
                out.push(std::mem::replace(&mut word, PatternWord { text: String::new(), open: false }));
            }
            (None, '*' | '?' | '[') => {
                word.open = true;
                word.text.push(c);
            }
            (_, c) => word.text.push(c),
        }
    }
    out.push(word);
    out.retain(|word| !word.text.is_empty());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::bench::Bench;
    use std::os::unix::fs::symlink;

    #[test]
    fn words_come_without_their_quotes() {
        for (command, words) in [
            ("cat a 'b c' \"d e\"f", vec!["cat", "a", "b c", "d ef"]),
            ("cat a\\ b;ls>c|d", vec!["cat", "a b", "ls", "c", "d"]),
            ("cat 'it''s' li\"n\"k", vec!["cat", "its", "link"]),
            ("'open", vec!["open"]),
            ("", vec![]),
        ] {
            let found: Vec<String> = all_words(command).into_iter().map(|word| word.text).collect();
            assert_eq!(found, words, "{command}");
        }
    }

    #[test]
    fn paths_outside_and_secrets_are_taken_as_they_are_written() {
        let mut bench = Bench::new();
        let root = bench.place.cwd.parent().unwrap().to_owned();
        for name in ["other/x", "work/.env", "work/sub/.env", "other/.env"] {
            std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            std::fs::write(root.join(name), "x").unwrap();
        }
        let at = |name: &str| root.join(name);
        let absolute = format!("cat {}", at("other/x").display());
        for (command, paths) in [
            ("ls ../other", vec!["other"]),
            (absolute.as_str(), vec!["other/x"]),
            ("diff a.txt ../other/x", vec!["other/x"]),
            ("cc -I../other x.c", vec!["other"]),
            ("cat --file=../other/x", vec!["other/x"]),
            ("ls ../missing ../o*", vec![]),
            ("ls sub src/../sub", vec![]),
        ] {
            assert_eq!(named(command, &bench.place), paths.into_iter().map(at).collect::<Vec<_>>(), "{command}");
        }
        for (command, paths) in [
            ("cat .env", vec!["work/.env"]),
            ("docker run --env-file=sub/.env x", vec!["work/sub/.env"]),
            ("cat ../other/.env", vec!["other/.env"]),
            ("cat $(echo x) # .env", vec![]),
            ("sh -c 'cat .env'", vec![]),
            ("cat <<X\n.env\nX", vec![]),
            ("cat .e*", vec![]),
            // Who decided was not asked about a file that is only tested.
            ("test -f .env && sh x", vec![]),
            ("test -f .env && cat .env", vec!["work/.env"]),
            ("[ -n 'a; .env b' ]", vec![]),
        ] {
            assert_eq!(secrets(command, &bench.place), paths.into_iter().map(at).collect::<Vec<_>>(), "{command}");
        }
        bench.place.cwd = at("work/sub");
        assert_eq!(named("cat ../.env", &bench.place), [at("work/.env")]);
    }

    #[test]
    fn links_to_secrets_and_devices_are_seen_through() {
        let bench = Bench::new();
        bench.write("home/.ssh/config", "x");
        bench.write("home/plain", "x");
        bench.write("a.txt", "x");
        bench.write("sub/b.txt", "x");
        bench.write("x.env", "x");
        let at = |name: &str| bench.path(name);
        symlink(at("home/.ssh/config"), at("link")).unwrap();
        symlink("link", at("again")).unwrap();
        symlink(at("home/.ssh"), at("dir")).unwrap();
        symlink("/dev/zero", at("zero")).unwrap();
        symlink("a.txt", at("harmless")).unwrap();
        let secret = |path: &str| vec![Touch::Read { path: at(path), secret: true }];
        for command in [
            "cat link",
            "cat -n ./again | head -3",
            "cat li'n'k",
            "cat \"link\"",
            "cat sub/../link",
            "cat dir/config",
            "date -rlink",
            "date --reference=link",
            "grep x a.txt link again",
        ] {
            assert_eq!(look(command, &bench.place).touches, secret("home/.ssh/config"), "{command}");
        }
        assert_eq!(look("ls dir/", &bench.place).touches, secret("home/.ssh"));
        let zero = Touch::Read { path: "/dev/zero".into(), secret: false };
        assert_eq!(look("cat zero", &bench.place).touches, [zero]);
        for command in
            ["cat harmless a.txt", "echo missing", "cat home/.ssh/config", "cat dir/../plain", "cat /dev/null", "ls"]
        {
            assert_eq!(look(command, &bench.place).touches, [], "{command}");
        }
    }
}
