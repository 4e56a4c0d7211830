//! Parts of a text known by their place in it: where they lie, and the text with something put in or replaced.
//!
//! Files that people write are changed this way: what is not touched stays byte for byte.

/// The byte at which a part of a text begins. The part must be a slice of the text.
#[must_use]
pub fn start(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len())
}

/// The byte behind a part of a text.
#[must_use]
pub fn end(text: &str, part: &str) -> usize {
    (start(text, part) + part.len()).min(text.len())
}

/// The text from the beginning of one part to that of a later one.
#[must_use]
pub fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    text.get(start(text, from)..start(text, to)).unwrap_or_default()
}

/// The text with something put in before this byte.
#[must_use]
pub fn put(text: &str, at: usize, what: &str) -> String {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    format!("{before}{what}{after}")
}

/// The text with one part replaced.
#[must_use]
pub fn replaced(text: &str, part: &str, with: &str) -> String {
    let before = text.get(..start(text, part)).unwrap_or_default();
    let after = text.get(end(text, part)..).unwrap_or_default();
    format!("{before}{with}{after}")
}

/// The blanks at the beginning of the line in which a part begins.
#[must_use]
pub fn indent(text: &str, part: &str) -> String {
    let before = text.get(..start(text, part)).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect()
}

/// True if a part has nothing but blanks before it in its line, and is not in the first one.
#[must_use]
pub fn starts_line(text: &str, part: &str) -> bool {
    let before = text.get(..start(text, part)).unwrap_or_default();
    before.contains('\n') && before.rsplit('\n').next().unwrap_or_default().trim().is_empty()
}
