//! Named sessions of a route: children of its base key, and the pointer to the active one.
//!
//! The pointer lies in the base row's links, which resets keep. Reading and writing rows is the caller's; so is never
//! checking freshness for a `/session` command.

#[cfg(test)]
mod tests;

use super::key::{KeyError, OpaqueChannels, SessionKey, Suffix, chat_slug};
use super::owner_command::OwnerCommand;
use super::row::{RowPlace, SessionRow};
use crate::domain::ids::{At, SessionId};

/// Longest label in characters.
const MAX_LABEL: usize = 64;
/// Children that a list shows.
const LISTED: usize = 20;

/// Key that a message acts on: the base for `/session` commands, else the active child.
///
/// A pointer to a missing row counts as none. `/stop` and resets follow the pointer as messages do.
#[must_use]
pub fn target_key(
    base: &SessionKey,
    row: Option<&SessionRow>,
    command: Option<&OwnerCommand>,
    opaque: &OpaqueChannels,
    exists: impl Fn(&SessionKey) -> bool,
) -> SessionKey {
    if matches!(command, Some(OwnerCommand::Session(_))) {
        return base.clone();
    }
    let active = row.and_then(|row| row.links.active_session_key.as_deref());
    let active = active.and_then(|text| SessionKey::parse(text, opaque).ok());
    active.filter(|key| is_child(key, None, base) && exists(key)).unwrap_or_else(|| base.clone())
}

/// Tells if a key is a named child of `base`: by its form, or by its row's `baseSessionKey`.
#[must_use]
pub fn is_child(key: &SessionKey, row: Option<&SessionRow>, base: &SessionKey) -> bool {
    let in_row = row.and_then(|row| row.links.base_session_key.as_deref());
    key.chat_base().as_ref() == Some(base) || in_row == Some(base.as_str())
}

/// Children of `base`, those that changed last first.
#[must_use]
pub fn children<'a>(
    base: &SessionKey,
    rows: impl IntoIterator<Item = (&'a SessionKey, &'a SessionRow)>,
) -> Vec<(&'a SessionKey, &'a SessionRow)> {
    let mut found: Vec<_> = rows.into_iter().filter(|(key, row)| is_child(key, Some(row), base)).collect();
    found.sort_by(|(a, a_row), (b, b_row)| (b_row.updated_at, *a).cmp(&(a_row.updated_at, *b)));
    found
}

/// Child that a person names by key, slug or label; the one that changed last if several fit.
#[must_use]
pub fn find_child<'a>(target: &str, children: &[(&'a SessionKey, &'a SessionRow)]) -> Option<&'a SessionKey> {
    let wanted = target.trim().to_lowercase();
    let is = |text: Option<&str>| text.is_some_and(|text| text.to_lowercase() == wanted);
    let fits = |(key, row): &&(&SessionKey, &SessionRow)| {
        is(Some(key.as_str()))
            || is(slug(key))
            || is(row.links.session_slug.as_deref())
            || is(row.links.label.as_deref())
    };
    children.iter().find(fits).map(|(key, _)| *key)
}

fn slug(key: &SessionKey) -> Option<&str> {
    match key.suffixes().last() {
        Some(Suffix::Chat(slug)) => Some(slug),
        _ => None,
    }
}

/// Error in the making of a named session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedError {
    /// The label is longer than 64 characters or has control characters.
    Label,
    /// The key cannot be made.
    Key(KeyError),
}

/// New child of a route: its key and row. Names that are taken get a number: `Research 2`, `research-2`.
///
/// `taken` tells if a label is used in the store, where labels are unique.
///
/// # Errors
/// Fails if the label is too long.
pub fn new_child(
    base: &SessionKey,
    base_row: Option<&SessionRow>,
    name: Option<&str>,
    session: SessionId,
    now: At,
    names: &NewNames<'_>,
) -> Result<(SessionKey, SessionRow), NamedError> {
    let name = name.map(str::trim).filter(|name| !name.is_empty());
    if name.is_some_and(|name| name.chars().count() > MAX_LABEL || name.chars().any(char::is_control)) {
        return Err(NamedError::Label);
    }
    let mut number = 1_u64;
    loop {
        let label = match (name, number) {
            (None, number) => format!("Chat {number}"),
            (Some(name), 1) => name.to_owned(),
            (Some(name), number) => format!("{} {number}", name.chars().take(MAX_LABEL - 8).collect::<String>()),
        };
        let slug = match (name, number) {
            (Some(name), 2..) => format!("{}-{number}", chat_slug(name)),
            _ => chat_slug(&label),
        };
        let key = base.with_suffix(Suffix::Chat(slug.clone()), names.opaque).map_err(NamedError::Key)?;
        if (names.label_taken)(&label) || (names.key_taken)(&key) {
            number += 1;
            continue;
        }
        let mut row = SessionRow::new(session, now);
        row.place = base_row.map_or_else(RowPlace::default, |row| row.place.clone());
        row.links.base_session_key = Some(base.to_string());
        row.links.session_slug = Some(slug);
        row.links.display_name = Some(label.clone());
        row.links.label = Some(label);
        return Ok((key, row));
    }
}

/// Names in use, for [`new_child`].
pub struct NewNames<'a> {
    /// Channels whose ids keep their case.
    pub opaque: &'a OpaqueChannels,
    /// Tells if a label is used, without case.
    pub label_taken: &'a dyn Fn(&str) -> bool,
    /// Tells if a key is used.
    pub key_taken: &'a dyn Fn(&SessionKey) -> bool,
}

/// Lines of `/session list`.
#[must_use]
pub fn list_lines(base: &SessionKey, active: &SessionKey, children: &[(&SessionKey, &SessionRow)]) -> Vec<String> {
    let mark = |key: &SessionKey| if key == active { " active" } else { "" };
    let mut lines = vec!["Sessions".to_owned(), format!("* Main ({base}){}", mark(base))];
    lines.extend(children.iter().take(LISTED).map(|(key, row)| {
        let id = slug(key).unwrap_or(key.as_str());
        format!("- {} ({id}){}", row.links.label.as_deref().unwrap_or(id), mark(key))
    }));
    if children.len() > LISTED {
        lines.push(format!("... {} more", children.len() - LISTED));
    }
    lines
}
