//! The words of a command line that lead, through links, to what their letters do not show: secrets and devices.
//!
//! Whether a command may run is judged by its text elsewhere; what a link hides only the disk can tell. It is broad: text
//! that no shell would take for a path is looked at like one, and what does not exist is nothing.

use super::{Place, paths, places};
use crate::domain::paths::{is_device, is_secret, lexical};
use crate::domain::tool::Touch;
use std::path::{Path, PathBuf};

/// Words that are looked up in one command line.
const MOST: usize = 5_000;

/// What the words of `command` reach that is not to be seen in them, each once.
pub(super) fn hidden(command: &str, place: &Place) -> Vec<Touch> {
    let home = std::env::home_dir();
    let mut out: Vec<Touch> = Vec::new();
    for word in split(command).into_iter().take(MOST) {
        for part in candidates(&word) {
            let given = match (part.strip_prefix("~/"), &home) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => PathBuf::from(part),
            };
            let Some(touch) = look(&given, place) else { continue };
            if !out.contains(&touch) {
                out.push(touch);
            }
        }
    }
    out
}

fn look(given: &Path, place: &Place) -> Option<Touch> {
    let full = place.cwd.join(given);
    full.symlink_metadata().ok()?;
    // The way the kernel goes: a `..` behind a link leads out of the link's target.
    let path = paths::follow(&full).ok()?;
    let by_letters = lexical(&place.cwd, given);
    let secret = places::is_secret(&path, place) && !is_secret(&by_letters) && !is_secret(given);
    let device = is_device(&path) && !is_device(&by_letters);
    (secret || device).then_some(Touch::Read { path, secret })
}

/// The forms in which a word may hold a path: as it is, behind `--option=` and behind the letter of an option.
fn candidates(word: &str) -> impl Iterator<Item = &str> {
    let value = word.split_once('=').map(|(_, value)| value);
    let joined = word.strip_prefix('-').and_then(|rest| rest.char_indices().nth(1).and_then(|(at, _)| rest.get(at..)));
    [Some(word), value, joined].into_iter().flatten().filter(|part| !part.is_empty())
}

/// Words after quote removal, split at blanks and at what separates commands.
fn split(command: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut rest = command.chars();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None | Some('"'), '\\') => word.extend(rest.next()),
            (None, c) if c.is_whitespace() || ";|&<>(){}`$".contains(c) => out.push(std::mem::take(&mut word)),
            (_, c) => word.push(c),
        }
    }
    out.push(word);
    out.retain(|word| !word.is_empty());
    out
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;
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
            assert_eq!(split(command), words, "{command}");
        }
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
            assert_eq!(hidden(command, &bench.place), secret("home/.ssh/config"), "{command}");
        }
        assert_eq!(hidden("ls dir/", &bench.place), secret("home/.ssh"));
        let zero = Touch::Read { path: "/dev/zero".into(), secret: false };
        assert_eq!(hidden("cat zero", &bench.place), [zero]);
        for command in
            ["cat harmless a.txt", "echo missing", "cat home/.ssh/config", "cat dir/../plain", "cat /dev/null", "ls"]
        {
            assert_eq!(hidden(command, &bench.place), [], "{command}");
        }
    }
}
