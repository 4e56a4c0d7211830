//! Links of a frame for the terminal (OSC 8): their cells and targets.
//!
//! Only addresses that `domain::link` let through come here; what is no printable ASCII is left out once more.

use std::io::Write as _;
use std::sync::Arc;

/// Cells of one row that lead somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellLink {
    /// The first column.
    pub x: u16,
    /// The row.
    pub y: u16,
    /// Width in columns.
    pub width: u16,
    /// Target.
    pub url: Arc<str>,
}

impl CellLink {
    /// True if the cell belongs to it.
    pub(super) fn holds(&self, x: u16, y: u16) -> bool {
        y == self.y && x >= self.x && x - self.x < self.width
    }
}

/// From here on cells lead to `url`, or nowhere. Parts of one link on several rows are one to the terminal.
pub(super) fn turn(url: Option<&str>, out: &mut Vec<u8>) {
    match url.filter(|url| url.bytes().all(|b| matches!(b, b'!'..=b'~'))) {
        Some(url) => {
            let hash =
                url.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
            let _ = write!(out, "\x1b]8;id={hash:x};{url}\x1b\\");
        }
        None => out.extend_from_slice(b"\x1b]8;;\x1b\\"),
    }
}

/// Host name in links to files. A terminal opens files of its own machine only, so it must know whose they are.
#[derive(Clone, Debug, Default)]
pub struct Host {
    /// The name of this machine, in printable ASCII; empty when there is none.
    name: String,
    /// The terminal opens no address that names a line.
    no_lines: bool,
}

impl Host {
    /// Form for this machine's name and a terminal, from the environment.
    #[must_use]
    pub fn new(name: &str, env: &dyn Fn(&str) -> Option<String>) -> Self {
        let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'));
        let name = if plain { name.to_owned() } else { String::new() };
        // GLib before 2.78 takes an address of a file with a fragment for a wrong one.
        Self { name, no_lines: env("VTE_VERSION").is_some_and(|version| !version.is_empty()) }
    }

    /// The address of a file with the name of this machine; others as they are.
    #[must_use]
    pub fn told(&self, url: Arc<str>) -> Arc<str> {
        let Some(path) = url.strip_prefix("file:///") else { return url };
        let path = match path.rsplit_once('#') {
            Some((path, _)) if self.no_lines => path,
            _ => path,
        };
        format!("file://{}/{path}", self.name).into()
    }
}

/// True if a terminal is known to understand links, from the environment. Others print parts of them.
#[must_use]
pub fn known(env: &dyn Fn(&str) -> Option<String>) -> bool {
    let var = |name| env(name).unwrap_or_default();
    let (term, program) = (var("TERM"), var("TERM_PROGRAM"));
    let version = |text: &str| -> (u32, u32) {
        let mut parts = text.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
        let mut next = || parts.next().and_then(|part| part.parse().ok()).unwrap_or(0);
        (next(), next())
    };
    if term == "dumb" || term == "linux" || term.starts_with("screen") && program != "tmux" {
        return false;
    }
    if program == "tmux" {
        // It passes them on to terminals that have them, and keeps them from others.
        return version(&var("TERM_PROGRAM_VERSION")) >= (3, 4);
    }
    if !var("TMUX").is_empty() {
        return false;
    }
    matches!(program.as_str(), "iTerm.app" | "WezTerm" | "ghostty" | "vscode" | "rio")
        || ["kitty", "ghostty", "wezterm", "foot", "alacritty", "contour"].iter().any(|name| term.contains(name))
        || var("VTE_VERSION").parse::<u32>().is_ok_and(|version| version >= 5_000)
        || var("KONSOLE_VERSION").parse::<u32>().is_ok_and(|version| version >= 201_200)
        || !var("WT_SESSION").is_empty()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{bytes, frame};
    use super::super::{Frame, TerminalContent};
    use super::*;

    fn linked(text: &str, links: &[(u16, u16, &str)]) -> Frame {
        let link = |(x, width, url): &(u16, u16, &str)| CellLink { x: *x, y: 0, width: *width, url: (*url).into() };
        Frame { links: links.iter().map(link).collect(), ..frame(&[text]) }
    }

    #[test]
    fn a_link_is_around_its_cells_and_ends_with_them() {
        let mut shown = TerminalContent::default();
        let first = bytes(&mut shown, linked("see here now", &[(4, 4, "https://a.b")]));
        let (before, rest) = first.split_once("\x1b]8;id=").unwrap();
        assert!(before.ends_with("see "), "{first:?}");
        let (_, rest) = rest.split_once(";https://a.b\x1b\\").unwrap();
        assert_eq!(rest, "here\x1b[C\x1b]8;;\x1b\\now");
        assert_eq!(bytes(&mut shown, linked("see here now", &[(4, 4, "https://a.b")])), "", "nothing changed");
        let other = bytes(&mut shown, linked("see here now", &[(4, 4, "https://c.d")]));
        assert!(other.contains("https://c.d\x1b\\here") && !other.contains("see"), "{other:?}");
        assert_eq!(bytes(&mut shown, linked("see here now", &[])), "\x1b[1;5Hhere", "it goes as it came");
        // What cannot be told is not told.
        assert_eq!(bytes(&mut shown, linked("see here now", &[(0, 1, "https://\x07")])).matches("https").count(), 0);
    }

    #[test]
    fn files_are_told_with_the_machine_that_has_them() {
        let told = |name: &str, vte: &str, url: &str| {
            let vte = vte.to_owned();
            Host::new(name, &move |_| Some(vte.clone())).told(url.into()).to_string()
        };
        assert_eq!(told("host-1", "", "file:///w/a.rs#42"), "file://host-1/w/a.rs#42", "kitty opens it at the line");
        assert_eq!(told("host-1", "7603", "file:///w/a.rs#42"), "file://host-1/w/a.rs");
        assert_eq!(told("a/b", "", "file:///w/a.rs"), "file:///w/a.rs", "a name that is none");
        assert_eq!(told("host-1", "", "https://a.b/c#d"), "https://a.b/c#d");
    }

    #[test]
    fn terminals_that_know_them() {
        let table: [(&[(&str, &str)], bool); 8] = [
            (&[("TERM", "xterm-kitty")], true),
            (&[("TERM", "xterm-256color")], false),
            (&[("TERM", "xterm-256color"), ("VTE_VERSION", "7603")], true),
            (&[("TERM", "xterm-256color"), ("VTE_VERSION", "4800")], false),
            (&[("TERM", "tmux-256color"), ("TERM_PROGRAM", "tmux"), ("TERM_PROGRAM_VERSION", "3.5a")], true),
            (&[("TERM", "tmux-256color"), ("TERM_PROGRAM", "tmux"), ("TERM_PROGRAM_VERSION", "3.3a")], false),
            (&[("TERM", "screen-256color"), ("TMUX", "/tmp/x"), ("VTE_VERSION", "7603")], false),
            (&[("TERM", "linux"), ("WT_SESSION", "x")], false),
        ];
        for (pairs, want) in table {
            let env = |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            assert_eq!(known(&env), want, "{pairs:?}");
        }
    }
}
