//! Reads a query. What is no filter is a word, also with a colon in it: people search for `std::io` and `http://`.

use super::super::nearest::nearest;
use super::super::search_hit::HitIn;
use super::{NamedFilter, Query, QueryError, QueryWord, When};

/// The filters, in the order in which they are named to the user.
const FILTERS: [&str; 7] = ["status", "label", "tool", "file", "after", "before", "in"];
/// Filters of other programs that somebody may mean by one of ours.
const ELSEWHERE: [(&str, &str); 7] = [
    ("since", "after"),
    ("until", "before"),
    ("path", "file"),
    ("tag", "label"),
    ("state", "status"),
    ("from", "in"),
    ("is", "status"),
];
/// More words than this are no query any more, and bits of a number count them.
const WORDS: usize = 60;

/// A part of the query between blanks.
struct QueryPart {
    at: usize,
    not: bool,
    /// The filter's name, when it looks like one.
    key: Option<String>,
    value: String,
    /// Some of it was quoted.
    quoted: bool,
}

pub(super) fn query(text: &str) -> Result<Query, QueryError> {
    let mut query = Query::default();
    for part in parts(text) {
        match &part.key {
            Some(key) => filter(&mut query, key, &part)?,
            None => {
                let words = if part.not { &mut query.without } else { &mut query.words };
                if let Some(word) = QueryWord::new(&part.value)
                    && !words.contains(&word)
                {
                    if words.len() == WORDS {
                        let text = format!("Too many words (limit {WORDS}). Quote a phrase to search for it exactly.");
                        return Err(QueryError { at: part.at, text });
                    }
                    words.push(word);
                }
            }
        }
    }
    Ok(query)
}

fn parts(text: &str) -> Vec<QueryPart> {
    let mut parts = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.peek().copied() {
        if c.is_whitespace() {
            chars.next();
            continue;
        }
        let mut part = QueryPart { at, not: false, key: None, value: String::new(), quoted: false };
        let mut behind = text[at..].chars().skip(1);
        if c == '-' && behind.next().is_some_and(|next| next != '-' && !next.is_whitespace()) {
            part.not = true;
            chars.next();
        }
        let mut quote = false;
        while let Some((_, c)) = chars.peek().copied() {
            if !quote && c.is_whitespace() {
                break;
            }
            chars.next();
            match c {
                '\\' if quote && chars.peek().is_some_and(|(_, next)| *next == '"') => {
                    part.value.push('"');
                    chars.next();
                }
                // A quote within a word belongs to it: `it"s`, `x="y"`.
                '"' if quote || part.value.is_empty() => {
                    quote = !quote;
                    part.quoted = true;
                    if !quote {
                        break;
                    }
                }
                ':' if !quote && part.key.is_none() && !part.quoted && is_key(&part.value, chars.peek()) => {
                    part.key = Some(std::mem::take(&mut part.value).to_ascii_lowercase());
                }
                _ => part.value.push(c),
            }
        }
        parts.push(part);
    }
    parts
}

/// True if the word before a colon is the name of a filter, or so near to one that it was meant.
fn is_key(word: &str, next: Option<&(usize, char)>) -> bool {
    let word = word.to_ascii_lowercase();
    if FILTERS.contains(&word.as_str()) {
        return !matches!(next, Some((_, ':')));
    }
    if !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return false;
    }
    let begins_value = next.is_some_and(|(_, c)| c.is_alphanumeric() || *c == '"');
    begins_value && meant(&word).is_some()
}

/// The filter that was meant by a word that is none.
fn meant(word: &str) -> Option<&'static str> {
    let other = ELSEWHERE.iter().find(|(theirs, _)| *theirs == word).map(|(_, ours)| *ours);
    let near = || {
        // A short word is near to everything, and the beginning of a name may be a word of its own.
        let names = FILTERS.into_iter().filter(|name| name.len().abs_diff(word.len()) < 2);
        (word.len() > 3).then(|| nearest(word, names)).flatten()
    };
    other.or_else(near)
}

fn filter(query: &mut Query, key: &str, part: &QueryPart) -> Result<(), QueryError> {
    let error = |text: String| Err(QueryError { at: part.at, text });
    if !FILTERS.contains(&key) {
        let known = FILTERS.map(|name| format!("{name}:")).join(" ");
        let meant = meant(key).unwrap_or_default();
        return error(format!(
            "No filter {key}:. Did you mean {meant}:? Quote it to search for the text. Filters: {known}"
        ));
    }
    let Some(word) = QueryWord::new(&part.value).filter(|_| !part.value.trim().is_empty()) else {
        return error(format!("{key}: needs a value after the colon, such as {}.", example(key)));
    };
    let named = NamedFilter { name: part.value.trim().to_owned(), word, at: part.at, not: part.not };
    match key {
        "status" => query.statuses.push(named),
        "label" => query.labels.push(named),
        "tool" => query.tools.push(named),
        "file" => query.files.push(named),
        "in" => {
            let place = match part.value.to_ascii_lowercase().as_str() {
                "title" => HitIn::Title,
                "user" | "me" => HitIn::User,
                "assistant" | "model" => HitIn::Assistant,
                "tool" | "tools" => HitIn::Tool,
                other => {
                    return error(format!("No scope in:{other}. Use in:title, in:user, in:assistant or in:tool."));
                }
            };
            if part.not { query.not_places.push(place) } else { query.places.push(place) }
        }
        _ if part.not => {
            let other = if key == "after" { "before" } else { "after" };
            return error(format!("Use {other}:{} instead of -{key}:.", part.value));
        }
        _ => {
            let Some(when) = When::parse(&part.value) else {
                return error(format!(
                    "Invalid date {key}:{}. Use 2026-11-01, 2026-11, today, yesterday, or a time span: 12h, 7d, 2w, \
                     3m, 1y.",
                    part.value
                ));
            };
            *(if key == "after" { &mut query.after } else { &mut query.before }) = Some(when);
        }
    }
    Ok(())
}

fn example(key: &str) -> &'static str {
    match key {
        "status" => "status:done",
        "label" => "label:bug",
        "tool" => "tool:bash",
        "file" => "file:main.rs",
        "in" => "in:user",
        "after" => "after:yesterday",
        _ => "before:2026-11-01",
    }
}
