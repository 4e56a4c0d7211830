//! Reads one theme file into what it says, and says what is wrong with it by line.
//!
//! ```toml
//! dark = true                 # or false; made for that background
//! inherits = "lisle-dark"     # what this file does not say comes from there
//! [palette]
//! ink = "#d6d9e0"             # names for colours
//! [roles]
//! text = { fg = "ink", bg = "#16181d" }
//! dim = "bright-black"        # short for { fg = "bright-black" }
//! strong = { bold = true }    # also: dim italic underline reverse strike
//! ```
//! A colour is a name of the palette (also the inherited one), `#rrggbb`, one of the 16 (`red`, `bright-red` …),
//! a number up to 255, or `default` for the terminal's own. What cannot be read is left out and reported.

use super::Role;
use crate::domain::nearest::nearest;
use crate::domain::problem::Problem;
use ratatui::style::{Color, Modifier};
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Content of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ThemeFile {
    pub dark: Option<bool>,
    pub inherits: Option<String>,
    pub palette: BTreeMap<String, Color>,
    pub roles: BTreeMap<Role, RoleText>,
}

/// Style of one role in a file. Colours stay words until the palettes of the whole chain are known.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RoleText {
    pub fg: Option<String>,
    pub bg: Option<String>,
    pub add: Modifier,
    pub line: usize,
}

const TOP: [&str; 4] = ["dark", "inherits", "palette", "roles"];
const STYLE: [&str; 8] = ["fg", "bg", "bold", "dim", "italic", "underline", "reverse", "strike"];
const BASIC: [(&str, Color); 17] = [
    ("default", Color::Reset),
    ("black", Color::Black),
    ("red", Color::Red),
    ("green", Color::Green),
    ("yellow", Color::Yellow),
    ("blue", Color::Blue),
    ("magenta", Color::Magenta),
    ("cyan", Color::Cyan),
    ("white", Color::Gray),
    ("bright-black", Color::DarkGray),
    ("bright-red", Color::LightRed),
    ("bright-green", Color::LightGreen),
    ("bright-yellow", Color::LightYellow),
    ("bright-blue", Color::LightBlue),
    ("bright-magenta", Color::LightMagenta),
    ("bright-cyan", Color::LightCyan),
    ("bright-white", Color::White),
];

/// Reads `text`. What could be read comes back also when there are problems.
pub(super) fn parse(file: &str, text: &str) -> (ThemeFile, Vec<Problem>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut reader = ThemeReader { file, text, out: ThemeFile::default(), problems: Vec::new() };
    for error in &errors {
        let at = error.span().unwrap_or(0..0);
        reader.problem(&at, format!("not valid TOML: {}", error.message().trim()), String::new());
    }
    reader.top(table.get_ref());
    (reader.out, reader.problems)
}

struct ThemeReader<'a> {
    file: &'a str,
    text: &'a str,
    out: ThemeFile,
    problems: Vec<Problem>,
}

impl ThemeReader<'_> {
    fn line(&self, at: &Range<usize>) -> usize {
        self.text.as_bytes().iter().take(at.start).filter(|&&byte| byte == b'\n').count() + 1
    }

    fn problem(&mut self, at: &Range<usize>, text: impl Into<String>, fix: String) {
        let line = Some(self.line(at));
        self.problems.push(Problem { path: self.file.into(), line, text: text.into(), fix });
    }

    fn top(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("dark", DeValue::Boolean(dark)) => self.out.dark = Some(*dark),
                ("dark", _) => self.problem(&value.span(), "`dark` must be true or false", String::new()),
                ("inherits", DeValue::String(name)) => self.out.inherits = Some(name.to_string()),
                ("inherits", _) => self.problem(&value.span(), "`inherits` must be a theme name", String::new()),
                ("palette", DeValue::Table(palette)) => self.palette(palette),
                ("roles", DeValue::Table(roles)) => self.roles(roles),
                (section @ ("palette" | "roles"), _) => {
                    self.problem(&value.span(), format!("`{section}` must be a table"), format!("write [{section}]"));
                }
                (other, _) => {
                    self.problem(&key.span(), format!("unknown theme key `{other}`"), did_you_mean(other, TOP));
                }
            }
        }
    }

    fn palette(&mut self, palette: &DeTable<'_>) {
        for (name, value) in palette {
            let color = word(value).as_deref().and_then(literal);
            match color {
                Some(color) => {
                    self.out.palette.insert(name.get_ref().to_string(), color);
                }
                None => self.problem(
                    &value.span(),
                    format!("palette entry `{}` is not a color", name.get_ref()),
                    "write #rrggbb, one of the 16 names, a number up to 255, or default".to_owned(),
                ),
            }
        }
    }

    fn roles(&mut self, roles: &DeTable<'_>) {
        for (name, value) in roles {
            let Some(&role) = Role::ALL.iter().find(|role| role.word() == name.get_ref().as_ref()) else {
                let fix = did_you_mean(name.get_ref(), Role::ALL.iter().map(|role| role.word()));
                self.problem(&name.span(), format!("unknown role `{}`", name.get_ref()), fix);
                continue;
            };
            let line = self.line(&name.span());
            let mut said = RoleText { fg: None, bg: None, add: Modifier::empty(), line };
            match value.get_ref() {
                DeValue::Table(parts) => self.parts(role, parts, &mut said),
                _ => match word(value) {
                    Some(fg) => said.fg = Some(fg),
                    None => {
                        let text = format!("style of `{}` must be a color or a table", role.word());
                        self.problem(&value.span(), text, "write e.g. { fg = \"red\", bold = true }".to_owned());
                        continue;
                    }
                },
            }
            self.out.roles.insert(role, said);
        }
    }

    fn parts(&mut self, role: Role, parts: &DeTable<'_>, said: &mut RoleText) {
        for (key, value) in parts {
            let flag = match key.get_ref().as_ref() {
                "fg" | "bg" => {
                    let color = word(value);
                    if color.is_none() {
                        self.problem(&value.span(), "a color must be a string or a number", String::new());
                    }
                    if key.get_ref() == "fg" {
                        said.fg = color
                    } else {
                        said.bg = color
                    }
                    continue;
                }
                "bold" => Modifier::BOLD,
                "dim" => Modifier::DIM,
                "italic" => Modifier::ITALIC,
                "underline" => Modifier::UNDERLINED,
                "reverse" => Modifier::REVERSED,
                "strike" => Modifier::CROSSED_OUT,
                other => {
                    let text = format!("`{}` has no key `{other}`", role.word());
                    self.problem(&key.span(), text, did_you_mean(other, STYLE));
                    continue;
                }
            };
            match value.get_ref() {
                DeValue::Boolean(on) => said.add.set(flag, *on),
                _ => self.problem(&value.span(), format!("`{}` must be true or false", key.get_ref()), String::new()),
            }
        }
    }
}

/// The word of a colour: a string, or a number as text.
fn word(value: &Spanned<DeValue<'_>>) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A colour that needs no palette.
pub(super) fn literal(word: &str) -> Option<Color> {
    if let Some(hex) = word.strip_prefix('#') {
        let digits: Option<Vec<u8>> = hex.chars().map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok())).collect();
        return match *digits?.as_slice() {
            [r, g, b] => Some(Color::Rgb(r * 17, g * 17, b * 17)),
            [r, s, g, h, b, c] => Some(Color::Rgb(r * 16 + s, g * 16 + h, b * 16 + c)),
            _ => None,
        };
    }
    if let Some((_, color)) = BASIC.iter().find(|(name, _)| *name == word) {
        return Some(*color);
    }
    word.parse::<u8>().ok().map(Color::Indexed)
}

/// The names of colours that every theme knows.
pub(super) fn basic_names<'a>() -> impl Iterator<Item = &'a str> {
    BASIC.iter().map(|(name, _)| *name)
}

/// "did you mean …?", or nothing when no name is near.
pub(super) fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, names).map_or_else(String::new, |name| format!("did you mean `{name}`?"))
}
