//! Drawing resources of frames: the theme as this terminal can show it, the glyphs, and the lines
//! of earlier frames.

use crate::app::State;
use crate::app::state::mark::Spot;
use crate::theme::Theme;
use crate::theme::colour::Colors;
use crate::theme::resolve::{ThemeText, builtin_names, load};
use crate::ui::{self, Appearance, Drawn, LayoutCache};
use ratatui::buffer::Buffer;

/// The name that stands for lisle's dark or light theme, whichever suits the terminal. `auto:NAME` is the same for the
/// pair of a theme, `auto:DARK,LIGHT` for any two.
pub const AUTO: &str = "auto";

/// Themes for a dark and for a light background that belong together.
const PAIRS: [(&str, &str); 7] = [
    ("lisle-dark", "lisle-light"),
    ("catppuccin", "catppuccin-latte"),
    ("gruvbox", "gruvbox-light"),
    ("nord", "nord-light"),
    ("solarized", "solarized-light"),
    ("tokyo-night", "tokyo-night-day"),
    ("ansi", "ansi-light"),
];

/// The theme that a chosen name means on this background.
fn on_background(chosen: &str, dark: bool) -> &str {
    let Some(wanted) = chosen.strip_prefix(AUTO) else { return chosen };
    let wanted = match wanted.strip_prefix(':') {
        None if wanted.is_empty() => "lisle-dark",
        None => return chosen,
        Some(wanted) => wanted.trim(),
    };
    let given = wanted.split_once(',').map(|(dark, light)| (dark.trim(), light.trim()));
    let known = || PAIRS.into_iter().find(|(dark, light)| [*dark, *light].contains(&wanted));
    match given.or_else(known) {
        Some((name, _)) if dark => name,
        Some((_, name)) => name,
        // It has no pair: it is shown on either.
        None => wanted,
    }
}

/// Abilities of the terminal, and the home directory.
#[derive(Clone, Debug)]
pub struct Shows {
    /// Number of colours.
    pub colors: Colors,
    /// Italics are shown as such.
    pub italics: bool,
    /// Glyphs to draw.
    pub glyphs: ui::glyphs::GlyphSet,
    /// The home directory, shown as `~`; empty when there is none.
    pub home: String,
}

/// Drawing resources of frames.
#[derive(Debug)]
pub struct Renderer {
    user: Vec<ThemeText>,
    shows: Shows,
    chosen: String,
    dark: bool,
    theme: Theme,
    cache: LayoutCache,
}

impl Renderer {
    /// Draws with the theme `chosen` among the user's and the built-in ones, on a background that is `dark` as far as is
    /// known. What was wrong with the theme comes back in words.
    #[must_use]
    pub fn new(shows: Shows, user: Vec<ThemeText>, chosen: &str, dark: Option<bool>) -> (Self, Vec<String>) {
        let (dark, chosen) = (dark.unwrap_or(true), chosen.to_owned());
        let mut renderer = Self { user, shows, chosen, dark, theme: Theme::plain(), cache: LayoutCache::default() };
        let problems = renderer.reload();
        (renderer, problems)
    }

    /// Draws with this theme from now on. What was wrong with it comes back in words.
    pub fn choose(&mut self, name: &str) -> Vec<String> {
        name.clone_into(&mut self.chosen);
        self.reload()
    }

    /// Draws with these signs from now on.
    pub fn glyphs(&mut self, glyphs: ui::glyphs::GlyphSet) {
        self.shows.glyphs = glyphs;
        self.cache = LayoutCache::default();
    }

    /// The terminal's background is dark or not; only [`AUTO`] and its pairs mind.
    pub fn background(&mut self, dark: bool) {
        if std::mem::replace(&mut self.dark, dark) != dark && self.chosen.starts_with(AUTO) {
            self.reload();
        }
    }

    /// The names that can be chosen, in the order to show, and the one in force.
    #[must_use]
    pub fn themes(&self) -> (Vec<String>, String) {
        let mut names = vec![AUTO.to_owned()];
        names.extend(PAIRS.iter().skip(1).map(|(dark, _)| format!("{AUTO}:{dark}")));
        names.extend(builtin_names().map(str::to_owned));
        if !names.contains(&self.chosen) && self.chosen.starts_with(AUTO) {
            names.insert(1, self.chosen.clone());
        }
        for text in &self.user {
            if !names.contains(&text.name) {
                names.push(text.name.clone());
            }
        }
        (names, self.chosen.clone())
    }

    /// Draws the whole screen.
    pub fn draw(&mut self, state: &State, buffer: &mut Buffer) -> Drawn {
        let look = Appearance { theme: &self.theme, glyphs: self.shows.glyphs, home: &self.shows.home };
        ui::render(state, &look, &mut self.cache, buffer)
    }

    /// Position in the conversation at a cell of the last frame, or the nearest one.
    #[must_use]
    pub fn spot(&self, col: u16, row: u16) -> Option<Spot> {
        self.cache.spot(col, row)
    }

    fn reload(&mut self) -> Vec<String> {
        let name = on_background(&self.chosen, self.dark);
        let loaded = load(name, &self.user);
        self.theme = loaded.theme.for_terminal(self.shows.colors);
        if !self.shows.italics {
            self.theme = self.theme.without_italics();
        }
        loaded.problems.iter().map(ToString::to_string).collect()
    }
}

/// Colours of a terminal, from the environment (see no-color.org and `COLORTERM`).
#[must_use]
pub fn colors(env: &dyn Fn(&str) -> Option<String>) -> Colors {
    let var = |name| env(name).unwrap_or_default();
    if !var("NO_COLOR").is_empty() {
        return Colors::None;
    }
    let (term, program) = (var("TERM"), var("TERM_PROGRAM"));
    if matches!(var("COLORTERM").as_str(), "truecolor" | "24bit")
        || ["-direct", "kitty", "ghostty", "alacritty", "foot", "wezterm"].iter().any(|name| term.contains(name))
        || matches!(program.as_str(), "iTerm.app" | "WezTerm" | "ghostty" | "vscode")
    {
        Colors::True
    } else if term.contains("256color") || program == "Apple_Terminal" {
        Colors::C256
    } else if term.contains("mono") || term.starts_with("vt") {
        Colors::None
    } else {
        Colors::C16
    }
}

/// True if italics are shown as such: GNU screen shows them in reverse.
#[must_use]
pub fn italics(env: &dyn Fn(&str) -> Option<String>) -> bool {
    let set = |name| env(name).is_some_and(|value| !value.is_empty());
    // tmux in screen and screen in tmux have both, and screen is what shows it either way.
    !set("STY") && (set("TMUX") || !env("TERM").is_some_and(|term| term.starts_with("screen")))
}

/// Background as rxvt and its kin tell it: `COLORFGBG` ends with the number of its colour among 16. `None` where it says
/// nothing.
#[must_use]
pub fn dark_by_colors(env: &dyn Fn(&str) -> Option<String>) -> Option<bool> {
    let ground: u8 = env("COLORFGBG")?.rsplit(';').next()?.parse().ok()?;
    match ground {
        0..=6 | 8 => Some(true),
        7 | 9..=15 => Some(false),
        _ => None,
    }
}

/// Glyphs for a terminal that draws characters of ambiguous width over two cells, or does not.
#[must_use]
pub fn signs(wide: bool, env: &dyn Fn(&str) -> Option<String>) -> ui::glyphs::GlyphSet {
    if wide { ui::glyphs::GlyphSet::Ascii } else { glyphs(env) }
}

/// Glyphs that a terminal draws well, from the environment.
#[must_use]
pub fn glyphs(env: &dyn Fn(&str) -> Option<String>) -> ui::glyphs::GlyphSet {
    let set = |name: &&str| env(name).is_some_and(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find(|name| set(name)).and_then(|name| env(name));
    let utf8 = locale.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    });
    let linux = env("TERM").is_some_and(|term| term == "linux");
    if utf8 && !linux { ui::glyphs::GlyphSet::Unicode } else { ui::glyphs::GlyphSet::Ascii }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&'static str, &'static str)]) -> impl Fn(&str) -> Option<String> + use<> {
        let pairs = pairs.to_vec();
        move |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn colours_are_counted() {
        for (pairs, expected) in [
            (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")][..], Colors::True),
            (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("NO_COLOR", "1")], Colors::None),
            (&[("TERM", "xterm-256color"), ("NO_COLOR", "")], Colors::C256),
            (&[("TERM", "xterm-kitty")], Colors::True),
            (&[("TERM", "linux")], Colors::C16),
            (&[("TERM", "xterm")], Colors::C16),
            (&[("TERM", "vt220")], Colors::None),
            (&[("TERM", "tmux-256color"), ("TERM_PROGRAM", "tmux")], Colors::C256),
        ] {
            assert_eq!(colors(&env(pairs)), expected, "{pairs:?}");
        }
    }

    #[test]
    fn italics_and_the_background_are_known_from_the_environment() {
        for (pairs, italic) in [
            (&[("TERM", "xterm-256color")][..], true),
            (&[("TERM", "screen.xterm-256color"), ("STY", "1.pts")], false),
            (&[("TERM", "screen-256color")], false),
            (&[("TERM", "screen-256color"), ("TMUX", "/tmp/x")], true),
            (&[("TERM", "xterm"), ("STY", "1.pts")], false),
            (&[("TERM", "screen.xterm-256color"), ("STY", "1.pts"), ("TMUX", "/tmp/x")], false),
        ] {
            assert_eq!(italics(&env(pairs)), italic, "{pairs:?}");
        }
        for (value, dark) in [
            ("15;0", Some(true)),
            ("0;15", Some(false)),
            ("0;default;7", Some(false)),
            ("15;default", None),
            ("0;99", None),
            ("", None),
        ] {
            assert_eq!(dark_by_colors(&|_| Some(value.to_owned())), dark, "{value}");
        }
        assert_eq!(dark_by_colors(&|_| None), None);
    }

    #[test]
    fn signs_suit_the_locale_and_the_console() {
        use ui::glyphs::GlyphSet::{Ascii, Unicode};
        for (pairs, expected) in [
            (&[("LANG", "en_US.UTF-8"), ("TERM", "xterm")][..], Unicode),
            (&[("LANG", "en_US.UTF-8"), ("TERM", "linux")], Ascii),
            (&[("LANG", "de_DE.utf8")], Unicode),
            (&[("LANG", "en_US.UTF-8"), ("LC_ALL", "C")], Ascii),
            (&[("LANG", "en_US.UTF-8"), ("LC_ALL", "")], Unicode),
            (&[("LANG", "C")], Ascii),
        ] {
            assert_eq!(glyphs(&env(pairs)), expected, "{pairs:?}");
        }
    }

    #[test]
    fn auto_follows_the_background_and_a_chosen_theme_does_not() {
        let shows =
            Shows { colors: Colors::True, italics: true, glyphs: ui::glyphs::GlyphSet::Unicode, home: String::new() };
        let (mut renderer, problems) = Renderer::new(shows.clone(), Vec::new(), AUTO, None);
        assert!(renderer.theme.dark && problems.is_empty());
        assert!(!Renderer::new(shows, Vec::new(), AUTO, Some(false)).0.theme.dark);
        renderer.background(false);
        assert!(!renderer.theme.dark);
        assert_eq!(renderer.choose("lisle-dark"), Vec::<String>::new());
        renderer.background(false);
        assert!(renderer.theme.dark);
        assert_eq!(renderer.themes().1, "lisle-dark");
        assert!(!renderer.choose("no-such-theme").is_empty(), "it is told");
        assert_eq!(renderer.themes().0[0], AUTO);
    }
}
