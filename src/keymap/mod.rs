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

/// The name under which problems of [`DEFAULT`] are told.
pub const DEFAULT_NAME: &str = "keymaps/default.toml";

/// A table, and what was odd about the texts it was made from.
#[derive(Debug)]
pub struct Loaded {
    /// The table; the embedded one alone when the user's text cannot be read at all.
    pub table: Table,
    /// What was odd, in the order of the lines.
    pub problems: Vec<Problem>,
}

/// Makes the table from the embedded text and the user's own (its file name, for problems, and its text).
#[must_use]
pub fn load(user: Option<(&str, &str)>) -> Loaded {
    load_over(DEFAULT, user)
}

/// The same over another text in the place of the embedded one: a newer state of it.
#[must_use]
pub fn load_over(ground: &str, user: Option<(&str, &str)>) -> Loaded {
    let mut problems = Vec::new();
    let defaults = parse::parse(DEFAULT_NAME, ground, &mut problems);
    let own = user.map(|(name, text)| parse::parse(name, text, &mut problems));
    let mut table = Table::default();
    match &own {
        Some(own) if own.clear == parse::Clear::Yes => {}
        _ => table.add(&defaults.rows),
    }
    if let Some(own) = own {
        table.add(&own.rows);
    }
    problems.extend(check::check(&table));
    Loaded { table, problems }
}

#[cfg(test)]
mod tests;
