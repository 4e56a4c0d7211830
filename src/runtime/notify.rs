//! Calling the user who looks elsewhere: in words where the terminal is known to show them, else by the bell, which
//! multiplexers and window managers turn into a mark of their own. When to call is decided by the screen.
//!
//! Sequences by terminal: kitty has OSC 99, iTerm2, WezTerm and Ghostty OSC 9, foot, rxvt and those
//! with VTE OSC 777. (OSC 9 of Windows Terminal and ConEmu is something else.) tmux, GNU screen and
//! Zellij pass none of them on, and mark the window of a bell; only a choice in the settings is
//! passed through them.

use crate::config::settings::Notify;
use crate::domain::sanitise;

/// Multiplexer between lisle and the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Between {
    Nobody,
    Tmux,
    Screen,
    Zellij,
}

type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

fn between(env: Env<'_>) -> Between {
    let set = |name| env(name).is_some_and(|value| !value.is_empty());
    let term = env("TERM").unwrap_or_default();
    if set("TMUX") || term.starts_with("tmux") {
        Between::Tmux
    } else if set("ZELLIJ") {
        Between::Zellij
    } else if set("STY") || term.starts_with("screen") {
        Between::Screen
    } else {
        Between::Nobody
    }
}

/// The way of that name in the settings; the usual one for any other.
#[must_use]
pub fn named(word: &str) -> Notify {
    use Notify::{Bell, Off, Osc9, Osc99, Osc777};
    [Osc9, Osc777, Osc99, Bell, Off].into_iter().find(|how| how.word() == word).unwrap_or_default()
}

/// Bytes to write to the terminal. The text may be anything.
#[must_use]
pub fn call(how: Notify, text: &str, env: Env<'_>) -> String {
    let text = harmless(text);
    let between = between(env);
    let words = match how {
        Notify::Off => return String::new(),
        Notify::Bell => None,
        Notify::Auto if between == Between::Nobody => known(&text, env),
        Notify::Auto => None,
        Notify::Osc9 => Some(osc_9(&text)),
        Notify::Osc777 => Some(osc_777(&text)),
        Notify::Osc99 => Some(osc_99(&text)),
    };
    words.map(|words| through(between, &words)).unwrap_or_default() + "\x07"
}

/// The words as the terminal is known to show them.
fn known(text: &str, env: Env<'_>) -> Option<String> {
    let var = |name| env(name).unwrap_or_default();
    let (term, program) = (var("TERM"), var("TERM_PROGRAM"));
    if term == "xterm-kitty" || !var("KITTY_WINDOW_ID").is_empty() {
        Some(osc_99(text))
    } else if matches!(program.as_str(), "iTerm.app" | "WezTerm" | "ghostty") || term == "xterm-ghostty" {
        Some(osc_9(text))
    } else if !var("VTE_VERSION").is_empty() || term.starts_with("foot") || term.starts_with("rxvt") {
        Some(osc_777(text))
    } else {
        None
    }
}

/// With a word before it: a number first would be one of the other things that some terminals do with OSC 9.
fn osc_9(text: &str) -> String {
    format!("\x1b]9;lisle: {text}\x1b\\")
}

fn osc_777(text: &str) -> String {
    format!("\x1b]777;notify;lisle;{}\x1b\\", text.replace(';', ","))
}

/// A newer one takes the place of an older one.
fn osc_99(text: &str) -> String {
    format!("\x1b]99;i=lisle:o=unfocused;{text}\x1b\\")
}

/// Wrapped so that who stands between hands it on, if its settings allow that.
fn through(between: Between, words: &str) -> String {
    match between {
        Between::Nobody | Between::Zellij => words.to_owned(),
        Between::Tmux => format!("\x1bPtmux;{}\x1b\\", words.replace('\x1b', "\x1b\x1b")),
        // The end of the string within would end the wrapping: a bell ends an OSC as well.
        Between::Screen => format!("\x1bP{}\x1b\\", words.replace("\x1b\\", "\x07")),
    }
}

/// One line of text in which no terminal finds anything to do.
pub(super) fn harmless(text: &str) -> String {
    sanitise::clean_line(text).chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(how: Notify, pairs: &[(&str, &str)]) -> String {
        let env = |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        call(how, "4;a\x1b[m;b\x07 needs you", &env)
    }

    #[test]
    fn each_terminal_is_called_as_it_hears() {
        let nine = "\x1b]9;lisle: 4;a;b needs you\x1b\\\x07";
        let many = "\x1b]777;notify;lisle;4,a,b needs you\x1b\\\x07";
        for (pairs, expected) in [
            (&[("TERM", "xterm")][..], "\x07"),
            (&[("TERM", "xterm-256color"), ("WT_SESSION", "x")], "\x07"),
            (&[("TERM", "xterm"), ("TERM_PROGRAM", "WezTerm")], nine),
            (&[("TERM", "xterm-ghostty")], nine),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")], nine),
            (&[("TERM", "foot")], many),
            (&[("TERM", "xterm-256color"), ("VTE_VERSION", "7600")], many),
            (&[("TERM", "xterm-kitty")], "\x1b]99;i=lisle:o=unfocused;4;a;b needs you\x1b\\\x07"),
            // Who stands between is never asked to hand through what nobody chose.
            (&[("TERM", "tmux-256color"), ("TMUX", "/tmp/x"), ("KITTY_WINDOW_ID", "1")], "\x07"),
            (&[("TERM", "screen"), ("STY", "1.x"), ("VTE_VERSION", "7600")], "\x07"),
            (&[("TERM", "xterm-kitty"), ("ZELLIJ", "0")], "\x07"),
        ] {
            assert_eq!(said(Notify::Auto, pairs), expected, "{pairs:?}");
        }
    }

    #[test]
    fn what_was_chosen_is_done_and_handed_through() {
        let kitty = [("TERM", "xterm-kitty")];
        assert_eq!(said(Notify::Off, &kitty), "");
        assert_eq!(said(Notify::Bell, &kitty), "\x07");
        let tmux = [("TERM", "tmux-256color"), ("TMUX", "/tmp/x")];
        assert_eq!(said(Notify::Osc9, &tmux), "\x1bPtmux;\x1b\x1b]9;lisle: 4;a;b needs you\x1b\x1b\\\x1b\\\x07");
        let screen = [("TERM", "screen"), ("STY", "1.x")];
        assert_eq!(said(Notify::Osc777, &screen), "\x1bP\x1b]777;notify;lisle;4,a,b needs you\x07\x1b\\\x07");
    }
}
