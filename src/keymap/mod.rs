//! Keys, verbs, and which key does what: the embedded table, the user's own over it, and what is odd about them.
//!
//! `key` names the keys, `action` the verbs, `parse` reads the file format, `table` holds the result and follows chords,
//! `check` finds what cannot work. Nothing here reads files: the text is given. What a verb does is `app`'s.

pub mod action;
pub mod check;
pub mod key;
pub mod parse;
pub mod table;

use crate::domain::problem::Problem;
pub use action::{Action, Context};
pub use key::Key;
pub use table::{Binding, Fed, Table};

/// The name of the keymap that lisle comes with.
pub const GROUND: &str = "default";

/// The text of the keymap that lisle comes with.
pub const DEFAULT: &str = include_str!("../../keymaps/default.toml");

/// File name in problems of [`DEFAULT`].
pub const DEFAULT_NAME: &str = "keymaps/default.toml";

/// The keymaps that are laid over [`DEFAULT`] by name: with their names for problems, and their texts.
pub const STYLES: &[(&str, &str, &str)] = &[
    ("emacs", "keymaps/emacs.toml", include_str!("../../keymaps/emacs.toml")),
    ("vim", "keymaps/vim.toml", include_str!("../../keymaps/vim.toml")),
];

/// The names of all keymaps that lisle comes with.
pub fn names() -> impl Iterator<Item = &'static str> {
    std::iter::once(GROUND).chain(STYLES.iter().map(|style| style.0))
}

/// A table, and what was odd about the texts it was made from.
#[derive(Debug)]
pub struct LoadedKeymap {
    /// The table; the embedded one alone when the user's text cannot be read at all.
    pub table: Table,
    /// Problems, in the order of the lines.
    pub problems: Vec<Problem>,
}

/// Makes the table from the embedded text and the user's own (its file name, for problems, and its text).
#[must_use]
pub fn load(user: Option<(&str, &str)>) -> LoadedKeymap {
    let ground = std::iter::once((DEFAULT_NAME, DEFAULT));
    load_files(&ground.chain(user).collect::<Vec<_>>())
}

/// Makes the table of the keymap of that name with what lisle comes with alone; `None` for a name that it does not know.
#[must_use]
pub fn load_style(name: &str) -> Option<LoadedKeymap> {
    if name == GROUND {
        return Some(load(None));
    }
    STYLES.iter().find(|style| style.0 == name).map(|style| load(Some((style.1, style.2))))
}

/// Makes the table from files (name for problems, text), each laid over those before it. One that says `clear = true`
/// begins anew.
#[must_use]
pub fn load_files(files: &[(&str, &str)]) -> LoadedKeymap {
    let mut problems = Vec::new();
    let mut table = Table::default();
    for (name, text) in files {
        let parsed = parse::parse(name, text, &mut problems);
        if parsed.clear == parse::Clear::Yes {
            table = Table::default();
        }
        table.add(&parsed.rows);
    }
    problems.extend(check::check(&table));
    LoadedKeymap { table, problems }
}

/// The embedded keymap that a user's file wants to be laid over, and the line that says so.
#[must_use]
pub fn inherits(text: &str) -> Option<(String, usize)> {
    parse::parse("", text, &mut Vec::new()).inherits
}

#[cfg(test)]
mod tests;
