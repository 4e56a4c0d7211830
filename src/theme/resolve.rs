//! Makes a [`Theme`] of theme files: follows `inherits`, looks colours up in the palettes, fills roles that nobody
//! names. The built-in files are the same format, embedded from `themes/`.

use super::parse::{RoleText, ThemeFile, basic_names, did_you_mean, literal, parse};
use super::{Colors, Role, Theme, style};
use crate::domain::problem::Problem;
use ratatui::style::{Color, Modifier, Style};
use std::collections::BTreeMap;

/// Setting that names the theme; the place of a problem with that name.
pub const SETTING: &str = "ui.theme";

/// In the order in which they are offered.
const BUILTIN: [(&str, &str); 16] = [
    ("lisle-dark", include_str!("../../themes/lisle-dark.toml")),
    ("lisle-light", include_str!("../../themes/lisle-light.toml")),
    ("high-contrast", include_str!("../../themes/high-contrast.toml")),
    ("catppuccin", include_str!("../../themes/catppuccin.toml")),
    ("catppuccin-latte", include_str!("../../themes/catppuccin-latte.toml")),
    ("gruvbox", include_str!("../../themes/gruvbox.toml")),
    ("gruvbox-light", include_str!("../../themes/gruvbox-light.toml")),
    ("nord", include_str!("../../themes/nord.toml")),
    ("nord-light", include_str!("../../themes/nord-light.toml")),
    ("solarized", include_str!("../../themes/solarized.toml")),
    ("solarized-light", include_str!("../../themes/solarized-light.toml")),
    ("tokyo-night", include_str!("../../themes/tokyo-night.toml")),
    ("tokyo-night-day", include_str!("../../themes/tokyo-night-day.toml")),
    ("ansi", include_str!("../../themes/ansi.toml")),
    ("ansi-light", include_str!("../../themes/ansi-light.toml")),
    ("mono", include_str!("../../themes/mono.toml")),
];

/// The text of a theme file that goes before the embedded ones: one of the user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThemeText {
    /// The theme's name: the file's name without `.toml`.
    pub name: String,
    /// The file as the user knows it, for messages.
    pub file: String,
    /// Text of the file.
    pub text: String,
}

/// A theme and what was wrong on the way to it.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedTheme {
    /// The theme: complete whatever was wrong.
    pub theme: Theme,
    /// Problems, by file and line.
    pub problems: Vec<Problem>,
}

/// The names of the themes that need no file.
pub fn builtin_names<'a>() -> impl Iterator<Item = &'a str> {
    BUILTIN.iter().map(|(name, _)| *name)
}

/// The file of a theme that comes with lisle.
#[must_use]
pub fn builtin_text(name: &str) -> Option<&'static str> {
    BUILTIN.iter().find(|theme| theme.0 == name).map(|theme| theme.1)
}

/// The theme `name` from the user's files, which go before the built-in ones. A theme that does not exist is
/// reported and becomes lisle-dark; a theme of the user may inherit the built-in one of its own name.
#[must_use]
pub fn load(name: &str, user: &[ThemeText]) -> LoadedTheme {
    let mut problems = Vec::new();
    let mut chain: Vec<(String, ThemeFile)> = Vec::new();
    // Files used so far: one that comes again is a circle.
    let mut used: Vec<String> = Vec::new();
    let mut asked_by: Option<String> = None;
    let mut next = Some(name.to_owned());
    while let Some(wanted) = next.take() {
        let own = user.iter().find(|text| text.name == wanted && !used.contains(&text.file));
        let (file, text) = match own {
            Some(own) => (own.file.clone(), own.text.as_str()),
            None => match BUILTIN.iter().find(|(name, _)| *name == wanted) {
                Some((name, text)) if !used.contains(&format!("built-in {name}")) => {
                    (format!("built-in {name}"), *text)
                }
                _ => {
                    let known = user.iter().map(|text| text.name.as_str()).chain(builtin_names());
                    let circle = chain.iter().any(|_| user.iter().any(|text| text.name == wanted));
                    let text = if circle {
                        format!("theme `{wanted}` inherits itself")
                    } else {
                        format!("unknown theme `{wanted}`")
                    };
                    let near = did_you_mean(&wanted, known);
                    let fix = match () {
                        () if circle => "remove one `inherits`".to_owned(),
                        () if near.is_empty() => "`lisle themes list` shows them".to_owned(),
                        () => near,
                    };
                    let file = asked_by.take().unwrap_or_else(|| SETTING.to_owned());
                    problems.push(Problem::whole(file, text, fix));
                    if chain.is_empty() {
                        next = Some("lisle-dark".to_owned());
                    }
                    continue;
                }
            },
        };
        let (said, wrong) = parse(&file, text);
        problems.extend(wrong);
        next.clone_from(&said.inherits);
        asked_by = Some(file.clone());
        used.push(file.clone());
        chain.push((file, said));
    }
    let theme = resolve(name, &chain, &mut problems);
    LoadedTheme { theme, problems }
}

/// `chain`: the theme's own file first, then what it inherits.
fn resolve(name: &str, chain: &[(String, ThemeFile)], problems: &mut Vec<Problem>) -> Theme {
    let mut palette: BTreeMap<&str, Color> = BTreeMap::new();
    let mut said: BTreeMap<Role, (&str, &RoleText)> = BTreeMap::new();
    for (file, theme) in chain.iter().rev() {
        palette.extend(theme.palette.iter().map(|(name, color)| (name.as_str(), *color)));
        said.extend(theme.roles.iter().map(|(role, text)| (*role, (file.as_str(), text))));
    }
    let mut known: BTreeMap<Role, Style> = BTreeMap::new();
    for (role, (file, text)) in &said {
        let mut color = |word: &Option<String>| {
            let word = word.as_deref()?;
            let found = palette.get(word).copied().or_else(|| literal(word));
            if found.is_none() {
                problems.push(Problem {
                    path: (*file).into(),
                    line: Some(text.line),
                    text: format!("`{}` uses `{word}`, which is not in the palette", role.word()),
                    fix: did_you_mean(word, palette.keys().copied().chain(basic_names())),
                });
            }
            found
        };
        let (fg, bg) = (color(&text.fg), color(&text.bg));
        known.insert(*role, style(fg, bg, text.add));
    }
    let styles = Role::ALL.iter().map(|role| filled(*role, &known)).collect();
    let dark = chain.iter().find_map(|(_, file)| file.dark).unwrap_or(true);
    Theme { name: name.to_owned(), dark, styles, colors: Colors::True }
}

/// The style of a role: its own, else that of the first role down [`falls_back_to`] that has one.
fn filled(role: Role, known: &BTreeMap<Role, Style>) -> Style {
    let mut at = role;
    loop {
        if let Some(style) = known.get(&at) {
            // Only the screen itself and panels have the ground of `text`: elsewhere it would cut holes in them.
            let borrowed = at != role && at == Role::Text;
            return if borrowed { Style { bg: None, ..*style } } else { *style };
        }
        match falls_back_to(at) {
            Some(next) => at = next,
            // A selection must be seen even if no file says how.
            None if matches!(role, Role::Selected | Role::SelectedDim) => return style(None, None, Modifier::REVERSED),
            None => return Style::default(),
        }
    }
}

/// The role whose style is used where a theme does not name this one.
#[must_use]
pub fn falls_back_to(role: Role) -> Option<Role> {
    Some(match role {
        Role::Text | Role::SelectedDim | Role::UserGround | Role::CodeGround => return None,
        Role::Selected => Role::SelectedDim,
        Role::Dim | Role::Strong | Role::User | Role::ToolSubject | Role::CodeBlock | Role::Panel => Role::Text,
        Role::CodeKeyword | Role::CodeFunction | Role::CodeType => Role::CodeBlock,
        Role::CodeString | Role::CodeNumber | Role::CodeConstant => Role::CodeBlock,
        Role::CodeComment => Role::Faint,
        Role::DiffAddedWord => Role::DiffAdded,
        Role::DiffRemovedWord => Role::DiffRemoved,
        Role::Faint | Role::Thinking | Role::ToolOutput | Role::Quote | Role::Status | Role::Group => Role::Dim,
        Role::AssistantHead | Role::ToolVerb => Role::Dim,
        Role::Rule | Role::Mark | Role::DiffMeta => Role::Faint,
        Role::Found => Role::Match,
        Role::RuleFocus | Role::Link | Role::Code | Role::Key | Role::Unread | Role::UserHead => Role::Accent,
        Role::Running | Role::ModeAsk | Role::Match => Role::Accent,
        Role::Accent | Role::Heading | Role::Emphasis | Role::Bold | Role::PanelTitle => Role::Strong,
        Role::NeedsYou | Role::Error => Role::Warning,
        Role::Warning => Role::Strong,
        Role::ModeExplore | Role::DiffAdded => Role::Good,
        Role::ModeExecute | Role::DiffRemoved => Role::Error,
        Role::Good => Role::Text,
        Role::Heading2 => Role::Heading,
        Role::Heading3 => Role::Heading2,
    })
}
