//! In which way this terminal draws pictures, if in any, and why: from the setting, the environment and what the terminal
//! answered.
//!
//! A terminal prints garbage for a protocol that it does not know, so only protocols that certainly
//! work are used: kitty's is not enough without placeholders, and multiplexers (tmux, screen,
//! Zellij) keep pictures from the terminal.

use crate::config::settings::Pictures;
use crate::domain::picture::Pixels;
use serde::{Deserialize, Serialize};

/// A way to draw pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureWay {
    /// kitty's graphics protocol, with placeholders.
    Kitty,
    /// iTerm2's inline images.
    Iterm,
    /// Sixels.
    Sixel,
}

impl PictureWay {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kitty => "kitty graphics",
            Self::Iterm => "iTerm2 inline images",
            Self::Sixel => "sixel",
        }
    }
}

/// Programs that say who they are (XTVERSION), as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TerminalProgram {
    /// kitty.
    Kitty,
    /// kitty before 0.28, which draws boxes for placeholders of pictures.
    OldKitty,
    /// xterm.
    Xterm,
    /// Ghostty.
    Ghostty,
    /// WezTerm.
    Wezterm,
    /// iTerm2.
    Iterm,
    /// Library that VS Code and others embed.
    XtermJs,
    /// tmux, screen or Zellij, on this machine or another.
    Between,
    /// Any other.
    Other,
}

impl TerminalProgram {
    /// Program that its own name tells.
    #[must_use]
    pub fn named(says: &str) -> Self {
        let says = says.to_ascii_lowercase();
        let version = |text: &str| {
            let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
            Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
        };
        if says.strip_prefix("kitty(").and_then(version).is_some_and(|version| version < (0, 28)) {
            return Self::OldKitty;
        }
        let known = [
            ("xterm(", Self::Xterm),
            ("kitty", Self::Kitty),
            ("ghostty", Self::Ghostty),
            ("wezterm", Self::Wezterm),
            ("iterm2", Self::Iterm),
            ("xterm.js", Self::XtermJs),
            ("tmux", Self::Between),
            ("screen", Self::Between),
            ("zellij", Self::Between),
        ];
        known.iter().find(|(name, _)| says.starts_with(name)).map_or(Self::Other, |(_, program)| *program)
    }
}

/// Answers of the terminal about pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Able {
    /// It takes kitty's graphics.
    pub kitty: bool,
    /// It takes sixels.
    pub sixel: bool,
    /// Width and height of a cell in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<(u16, u16)>,
    /// Program name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<TerminalProgram>,
}

impl Able {
    /// The size of a cell, where it can be one.
    #[must_use]
    pub fn cell(&self) -> Option<Pixels> {
        let (width, height) = self.cell?;
        ((2..=200).contains(&width) && (2..=400).contains(&height))
            .then_some(Pixels { width: width.into(), height: height.into() })
    }
}

/// Chosen protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The way, where there is one.
    pub way: Option<PictureWay>,
    /// Reason for this choice: half a sentence.
    pub why: &'static str,
}

fn none(why: &'static str) -> Choice {
    Choice { way: None, why }
}

/// True if the terminal may be asked for its picture protocols: some show the query itself.
#[must_use]
pub fn may_ask(setting: Pictures, env: &dyn Fn(&str) -> Option<String>) -> bool {
    setting != Pictures::Off && may_ask_name(env)
}

/// True if the terminal may be asked for its name: nothing stands between, and it is none that shows the query.
#[must_use]
pub fn may_ask_name(env: &dyn Fn(&str) -> Option<String>) -> bool {
    let var = |name| env(name).unwrap_or_default();
    no_screen(&var("TERM")).is_none() && !between(env) && var("TERM_PROGRAM") != "Apple_Terminal"
}

fn no_screen(term: &str) -> Option<Choice> {
    let plain = term.is_empty() || term == "dumb" || term == "linux" || term.starts_with("vt");
    plain.then(|| none("this terminal shows none"))
}

/// Another program stands between lisle and the terminal.
fn between(env: &dyn Fn(&str) -> Option<String>) -> bool {
    let term = env("TERM").unwrap_or_default();
    ["TMUX", "STY", "ZELLIJ"].iter().any(|name| env(name).is_some_and(|value| !value.is_empty()))
        || term.starts_with("screen")
        || term.starts_with("tmux")
}

/// The way for this terminal.
#[must_use]
pub fn choose(setting: Pictures, env: &dyn Fn(&str) -> Option<String>, able: &Able) -> Choice {
    let var = |name| env(name).unwrap_or_default();
    let (term, program) = (var("TERM"), var("TERM_PROGRAM"));
    if setting == Pictures::Off {
        return none("ui.pictures in config.toml is \"off\"");
    }
    if let Some(choice) = no_screen(&term) {
        return choice;
    }
    if (between(env) || able.program == Some(TerminalProgram::Between)) && setting != Pictures::Sixel {
        return none("tmux, screen or Zellij blocks images");
    }
    if able.cell().is_none() {
        return none("the terminal doesn't report its cell size in pixels");
    }
    let set = |way| Choice { way: Some(way), why: "ui.pictures in config.toml says so" };
    match setting {
        Pictures::Kitty => return set(PictureWay::Kitty),
        Pictures::Iterm2 => return set(PictureWay::Iterm),
        Pictures::Sixel => return set(PictureWay::Sixel),
        Pictures::Auto | Pictures::Off => {}
    }
    let is = |known: TerminalProgram, named: bool| able.program == Some(known) || able.program.is_none() && named;
    let kitty = is(TerminalProgram::Kitty, term == "xterm-kitty");
    let ghostty = is(TerminalProgram::Ghostty, term == "xterm-ghostty" || program == "ghostty");
    if able.kitty && (kitty || ghostty) {
        return Choice { way: Some(PictureWay::Kitty), why: "reported by the terminal" };
    }
    let iterm = is(TerminalProgram::Iterm, program == "iTerm.app" || var("LC_TERMINAL") == "iTerm2");
    let wezterm = is(TerminalProgram::Wezterm, program == "WezTerm");
    // It has both or none: a setting of its own.
    let embedded = able.sixel && is(TerminalProgram::XtermJs, program == "vscode");
    if iterm || wezterm || embedded {
        return Choice { way: Some(PictureWay::Iterm), why: "known for this terminal" };
    }
    if able.sixel {
        return Choice { way: Some(PictureWay::Sixel), why: "reported by the terminal" };
    }
    none("the terminal reports no image support")
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: Option<(u16, u16)> = Some((10, 20));

    fn way(setting: Pictures, pairs: &[(&str, &str)], able: Able) -> Option<PictureWay> {
        let env = |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        choose(setting, &env, &able).way
    }

    #[test]
    fn only_what_certainly_works_is_taken() {
        let xterm = &[("TERM", "xterm-256color")][..];
        let nothing = Able { cell: CELL, ..Able::default() };
        let kitty = Able { kitty: true, program: Some(TerminalProgram::Kitty), ..nothing };
        let sixel = Able { sixel: true, ..nothing };
        let auto = Pictures::Auto;
        for (pairs, able, want) in [
            (xterm, nothing, None),
            (xterm, kitty, Some(PictureWay::Kitty)),
            (&[("TERM", "xterm-kitty")], Able { program: None, ..kitty }, Some(PictureWay::Kitty)),
            (&[("TERM", "xterm-kitty")], nothing, None),
            // Kitty's protocol without placeholders.
            (&[("TERM", "xterm-kitty")], Able { program: Some(TerminalProgram::OldKitty), ..kitty }, None),
            (xterm, Able { program: Some(TerminalProgram::Other), ..kitty }, None),
            (xterm, Able { program: Some(TerminalProgram::Wezterm), sixel: true, ..kitty }, Some(PictureWay::Iterm)),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")], nothing, Some(PictureWay::Iterm)),
            (&[("TERM", "xterm-256color"), ("LC_TERMINAL", "iTerm2")], nothing, Some(PictureWay::Iterm)),
            // Started from iTerm2, but it is another one.
            (
                &[("TERM", "foot"), ("LC_TERMINAL", "iTerm2")],
                Able { program: Some(TerminalProgram::Other), ..sixel },
                Some(PictureWay::Sixel),
            ),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "vscode")], nothing, None),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "vscode")], sixel, Some(PictureWay::Iterm)),
            (xterm, sixel, Some(PictureWay::Sixel)),
            (xterm, Able { cell: None, ..kitty }, None),
            (xterm, Able { cell: Some((0, 0)), ..kitty }, None),
            (&[("TERM", "tmux-256color")], sixel, None),
            (&[("TERM", "xterm-kitty"), ("TMUX", "/tmp/x")], kitty, None),
            (&[("TERM", "xterm-256color"), ("ZELLIJ", "0")], sixel, None),
            (xterm, Able { program: Some(TerminalProgram::Between), ..sixel }, None),
            (&[("TERM", "dumb")], sixel, None),
            (&[("TERM", "linux")], sixel, None),
            (&[], sixel, None),
        ] {
            assert_eq!(way(auto, pairs, able), want, "{pairs:?} {able:?}");
        }
        assert_eq!(way(Pictures::Off, xterm, kitty), None);
        assert_eq!(way(Pictures::Sixel, xterm, nothing), Some(PictureWay::Sixel));
        assert_eq!(way(Pictures::Sixel, &[("TERM", "tmux-256color"), ("TMUX", "x")], nothing), Some(PictureWay::Sixel));
        assert_eq!(way(Pictures::Kitty, &[("TERM", "tmux-256color"), ("TMUX", "x")], nothing), None);
        assert_eq!(way(Pictures::Iterm2, xterm, nothing), Some(PictureWay::Iterm));
        assert_eq!(way(Pictures::Kitty, xterm, Able::default()), None, "without the size of a cell");
    }

    #[test]
    fn terminals_say_who_they_are() {
        for (says, program) in [
            ("kitty(0.42.1)", TerminalProgram::Kitty),
            ("kitty(1.0)", TerminalProgram::Kitty),
            ("kitty(0.26.5)", TerminalProgram::OldKitty),
            ("ghostty 1.2.0", TerminalProgram::Ghostty),
            ("WezTerm 20240203-110809-5046fc22", TerminalProgram::Wezterm),
            ("iTerm2 3.5.11", TerminalProgram::Iterm),
            ("xterm.js(5.6.0)", TerminalProgram::XtermJs),
            ("tmux 3.5a", TerminalProgram::Between),
            ("Zellij(0.41.2)", TerminalProgram::Between),
            ("XTerm(390)", TerminalProgram::Xterm),
            ("", TerminalProgram::Other),
        ] {
            assert_eq!(TerminalProgram::named(says), program, "{says}");
        }
    }

    #[test]
    fn where_the_question_would_be_seen_it_is_not_asked() {
        let ask = |pairs: &[(&str, &str)]| {
            let env = |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            may_ask(Pictures::Auto, &env)
        };
        assert!(ask(&[("TERM", "xterm-256color")]));
        assert!(!ask(&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "Apple_Terminal")]));
        // tmux makes it the title of the pane.
        assert!(!ask(&[("TERM", "tmux-256color"), ("TMUX", "/tmp/x")]));
        assert!(!ask(&[("TERM", "linux")]));
        let xterm = |name: &str| (name == "TERM").then(|| "xterm".to_owned());
        assert!(!may_ask(Pictures::Off, &xterm) && may_ask_name(&xterm), "its name says more than what it draws");
    }
}
