//! Shapes of keys and passwords, in one table: for what is exported, shared, remembered, logged and typed.
//!
//! A false hit costs a word of an export; a miss gives a key away. So a shape that is known by its beginning counts
//! wherever a word can begin, also behind an escape of JSON, a URL or a terminal.

pub use keys::keys_masked;
pub(super) use keys::{begins_with_key, is_whole_key, names_a_maker, shaped};

use super::escapes;
use hints::Hints;
use regex::Regex;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::LazyLock;
use table::{BEGINNINGS, LIKELY, MARKED, NO_VALUES, PATTERNS, SPOKEN, SPOKEN_OF, SURE};

/// Replacement for a secret.
pub(super) const MASK: &str = "***";

/// Patterns, each with its index in [`PATTERNS`].
static PATTERN: LazyLock<Vec<(usize, Regex)>> = LazyLock::new(|| {
    let numbered = PATTERNS.iter().enumerate();
    numbered.filter_map(|(at, (_, pattern))| Some((at, Regex::new(pattern).ok()?))).collect()
});
/// `password=`, `"api_key": `, `--token `: a name and what divides it from its value.
static ASSIGNED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let quotes = r#"(?:\\*["']|&quot;|&#34;|&#39;|&apos;)"#;
    Regex::new(&format!(
        r"(?i)(?:(?<sure>{SURE})|(?:{LIKELY}))(?:(?:{quotes}|\*\*|__|`)?\]?[ \t]*(?<sign>=>|:=|=|:)(?:(?:\*\*|__)[ \t])?(?<gap>[ \t]*)|[ \t]+(?<flag>))"
    ))
    .ok()
});
static MARK: LazyLock<Vec<Regex>> =
    LazyLock::new(|| MARKED.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect());
static SAID: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(SPOKEN).ok());
static NAMED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!("(?i)(?:(?<sure>{SURE})|(?:{LIKELY}))$")).ok());
/// An escape that ends in a letter or a digit, so that a word begins behind it.
static ESCAPE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?:\\[nrtbfv0]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|%[0-9a-fA-F]{2}|(?:\x1b|\\u001[bB]|\\x1[bB]|\\e|\\033)\[[0-9;:]*[A-Za-z])$",
    )
    .ok()
});
/// Colours and other controls of a terminal, also as escapes of a language: they may stand in the middle of a key.
static CONTROL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:\x1b|\\u001[bB]|\\x1[bB]|\\e|\\033)\[[0-9;:?]*[A-Za-z]").ok());
/// Length of an AWS secret access key …
const AWS: usize = 40;
/// … and its number of changes between capitals, small letters, digits and signs, more than any path has.
const AWS_CHANGES: usize = 15;

/// A text in which what looks like a key or a password is `***`, and how many were found. `None`: there is nothing of
/// that kind in it.
#[must_use]
pub fn masked(text: &str) -> Option<(String, usize)> {
    // Colours are dropped where they would hide a part of a key.
    let plain = uncoloured(text);
    if let Some(Cow::Owned(plain)) = plain
        && let Some(safe) = cut_out(&plain, &found_escaped(&plain))
    {
        return Some(safe);
    }
    cut_out(text, &found_escaped(text))
}

/// The text without colours and other controls of a terminal. `None`: it is known to have none.
fn uncoloured(text: &str) -> Option<Cow<'_, str>> {
    memchr::memchr2(b'\x1b', b'\\', text.as_bytes())?;
    CONTROL.as_ref().map(|control| control.replace_all(text, ""))
}

/// Secrets as they stand, and as they read once escapes are undone.
fn found_escaped(text: &str) -> Vec<Range> {
    let mut out = found(text, Strict::Yes);
    escapes::each_level(text, |plain, place| out.extend(found(plain, Strict::Yes).into_iter().map(place)));
    out.sort_unstable_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    out
}

/// The same for what a server says of a request: a key stands in it cut or starred as well, and so counts from six
/// characters on.
#[must_use]
pub fn quoted(text: &str) -> String {
    cut_out(text, &found(text, Strict::No)).map_or_else(|| text.to_owned(), |(text, _)| text)
}

/// True if a text that stands alone, such as the value of a variable, holds a key: in any of the shapes, cut ones
/// included.
#[must_use]
pub(super) fn names_a_key(text: &str) -> bool {
    let bare = text.trim();
    let scheme = ["basic ", "bearer ", "token ", "digest "].iter().any(|scheme| {
        bare.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
            && bare.get(scheme.len()..).is_some_and(|rest| rest.len() >= 6 && !rest.trim().contains(' '))
    });
    scheme || !found(text, Strict::No).is_empty() || masked(text).is_some()
}

/// Masks every text in a value. Gives how many secrets there were.
pub fn masked_value(value: &mut Value) -> usize {
    match value {
        Value::String(text) => match masked(text) {
            Some((safe, count)) => {
                *text = safe;
                count
            }
            None => 0,
        },
        Value::Array(items) => items.iter_mut().map(masked_value).sum(),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &mut Value)| match value {
                Value::String(text) if is_secret_of(name, text) => {
                    MASK.clone_into(text);
                    1
                }
                value => masked_value(value),
            };
            fields.iter_mut().map(field).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// Decides if this value of a field with this name is a secret.
#[must_use]
pub fn is_secret_of(name: &str, value: &str) -> bool {
    let hit = NAMED.as_ref().filter(|_| name.len() <= 64).and_then(|names| names.captures(name));
    hit.is_some_and(|hit| {
        let whole = hit.get(0).is_some_and(|hit| is_whole_name(name, hit.start(), hit.as_str()));
        whole && is_value(value, true) && (hit.name("sure").is_some() || is_keyed(value))
    })
}

/// The short ones count only as a word of their own.
fn is_whole_name(text: &str, at: usize, name: &str) -> bool {
    !name.get(..2).is_some_and(|two| two.eq_ignore_ascii_case("pw"))
        || name.len() > 2 && name.as_bytes().get(2).is_some_and(|next| next.eq_ignore_ascii_case(&b'd'))
        || begins(text, at)
}

/// Evidence needed to count as a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strict {
    Yes,
    No,
}

type Range = std::ops::Range<usize>;

fn found(text: &str, strict: Strict) -> Vec<Range> {
    let mut out = Vec::new();
    // Nothing shorter is a secret with its name.
    if text.len() < 7 {
        return out;
    }
    let hints = Hints::of(text);
    by_shape(text, strict, hints, &mut out);
    if hints.names() {
        assigned(text, &mut out);
        marked(text, &mut out);
        spoken(text, &mut out);
    }
    alone(text, &mut out);
    out.retain(|range| text.get(range.clone()).is_some_and(|secret| !is_masked(secret)));
    out.sort_unstable_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    out
}

/// Secrets by their own shape, whatever stands around them.
fn by_shape(text: &str, strict: Strict, hints: Hints, out: &mut Vec<Range>) {
    beginnings(text, strict, hints, out);
    for (_, pattern) in PATTERN.iter().filter(|(at, _)| hints.pattern(*at)) {
        out.extend(pattern.captures_iter(text).filter_map(|hit| hit.name("s")).map(|secret| secret.range()));
    }
}

fn is_sign(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~' | '+' | '/' | '=')
}

fn is_words(key: &str) -> bool {
    let mut words = key.split(['_', '-']).filter(|word| !word.is_empty());
    key.contains(['_', '-']) && words.all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()))
}

fn beginnings(text: &str, strict: Strict, hints: Hints, out: &mut Vec<Range>) {
    for (_, (start, least)) in BEGINNINGS.iter().enumerate().filter(|(at, _)| hints.beginning(*at)) {
        for at in memchr::memmem::find_iter(text.as_bytes(), start.as_bytes()) {
            if !begins(text, at) {
                continue;
            }
            let from = at + start.len();
            let tail = text.get(from..).unwrap_or_default();
            let counts = |c: char| is_sign(c) || (strict == Strict::No && c == '*');
            let length = tail.find(|c| !counts(c)).unwrap_or(tail.len());
            // A full stop at its end belongs to the sentence.
            let key = tail.get(..length).unwrap_or_default().trim_end_matches('.');
            let is_key = match strict {
                Strict::Yes => key.len() >= *least && is_dense(key),
                // Words are a name, as in `npm_config_cache`.
                Strict::No => key.len() >= 6 && !is_words(key),
            };
            if is_key {
                out.push(from..from + key.len());
            }
            // A line of a screen ends in the middle of it.
            if strict == Strict::Yes
                && length == key.len()
                && let Some(rest) = next_line(text, from + length)
                && (is_key || key.len() >= 4 && key.len() + rest.len() >= *least + 4)
            {
                out.push(from..from + key.len());
                out.push(rest);
            }
        }
    }
}

/// The rest of a key whose first part ends with the line at `at`: a word of signs with digits, alone on the next line, or at
/// its beginning where the first line is as long as a screen is wide.
fn next_line(text: &str, at: usize) -> Option<Range> {
    let behind = text.get(at..)?;
    let newline = ["\r\n", "\n", "\\\n"].into_iter().find(|newline| behind.starts_with(newline))?;
    let line = behind.get(newline.len()..)?;
    let indent = line.len() - line.trim_start_matches([' ', '\t', '>', '|', '+']).len();
    let word = line.get(indent..)?;
    let length = word.find(|c| !is_sign(c)).unwrap_or(word.len());
    let (word, after) = (word.get(..length)?.trim_end_matches('.'), word.get(length..)?);
    let alone = after
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .all(|c| matches!(c, '"' | '\'' | '`' | ',' | ';' | ' ' | '\\'));
    let wide = at - text.get(..at)?.rfind('\n').map_or(0, |at| at + 1) >= 70;
    let any = |is: fn(&u8) -> bool| word.as_bytes().iter().any(is);
    let is_key = word.len() >= 8 && any(u8::is_ascii_digit) && any(u8::is_ascii_alphabetic);
    let from = at + newline.len() + indent;
    (is_key && (alone || wide) && !word.starts_with('/') && !is_dated(word)).then(|| from..from + word.len())
}

/// `2026-11-23…`, `src/a1.rs`, `v1.2.3`: what stands in logs and lists.
fn is_dated(word: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    word.split('-').take(2).all(digits) || word.contains("/") && !word.ends_with('=') || word.matches('.').count() > 1
}

/// Values of elements and of pairs of attributes.
fn marked(text: &str, out: &mut Vec<Range>) {
    if !text.contains('<') && !text.contains("value=") {
        return;
    }
    for hit in MARK.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let Some(secret) = hit.name("s") else { continue };
        let value = secret.as_str().trim_end();
        let counts = hit.name("sure").is_some() || is_keyed(value) && !is_path_of_names(value);
        if counts && is_value(value, false) {
            out.push(secret.start()..secret.start() + value.len());
        }
    }
}

/// `the password is X`, where it looks like one.
fn spoken(text: &str, out: &mut Vec<Range>) {
    let Some(pattern) = SAID.as_ref() else { return };
    for hit in pattern.captures_iter(text) {
        let Some(secret) = hit.name("s") else { continue };
        let value = secret.as_str().trim_end_matches(['.', ',', ':', ';', '!', '?', ')', '*']);
        let lower = value.to_ascii_lowercase();
        let told_of = SPOKEN_OF.iter().any(|word| lower.starts_with(word));
        let any = |is: fn(char) -> bool| value.chars().any(is);
        let odd = any(|c| c.is_ascii_digit()) && any(|c| c.is_ascii_alphabetic())
            || any(|c| matches!(c, '!' | '@' | '#' | '%' | '^' | '&' | '*')) && any(|c| c.is_ascii_alphanumeric());
        let counts = if hit.name("quote").is_some() { value.len() >= 4 } else { odd && value.len() >= 6 && !told_of };
        if counts && is_value(value, false) {
            out.push(secret.start()..secret.start() + value.len());
        }
    }
}

/// A word can begin here.
fn begins(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    if !before.ends_with(|c: char| c.is_ascii_alphanumeric()) {
        return true;
    }
    let near = before.char_indices().rev().take(24).last().map_or(0, |(at, _)| at);
    ESCAPE.as_ref().is_some_and(|escape| escape.is_match(&before[near..]))
}

/// No name or phrase: with a digit, or with capitals and small letters.
fn is_dense(word: &str) -> bool {
    let any = |is: fn(&u8) -> bool| word.as_bytes().iter().any(is);
    any(u8::is_ascii_digit) || (any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase))
}

/// The value could be a key though nothing says so but a common name.
fn is_keyed(value: &str) -> bool {
    value.len() >= 6 && is_dense(value) && !value.contains(' ')
}

/// A name of code with its path: `process.env.API_KEY`, `vscode.CancellationToken`.
fn is_path_of_names(value: &str) -> bool {
    let is_name =
        |part: &str| !part.is_empty() && part.len() <= 30 && part.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
    value.contains('.') && value.split('.').all(is_name)
}

/// Values behind a name that says that they are secret.
fn assigned(text: &str, out: &mut Vec<Range>) {
    let Some(pattern) = ASSIGNED.as_ref() else { return };
    for hit in pattern.captures_iter(text) {
        let Some(whole) = hit.get(0) else { continue };
        let from = whole.end();
        let rest = text.get(from..).unwrap_or_default();
        let sign = hit.name("sign").map(|sign| sign.as_str());
        let sure = hit.name("sure").map(|name| name.as_str().to_ascii_lowercase());
        if !is_whole_name(text, whole.start(), whole.as_str()) {
            continue;
        }
        // A comparison, or a path of a language: `Token::Word`.
        if sign == Some("=") && rest.starts_with(['=', '~']) || sign == Some(":") && rest.starts_with(':') {
            continue;
        }
        if sign.is_none() && !is_flag(text, whole.start()) {
            continue;
        }
        let Some((range, in_quotes)) = value(rest) else { continue };
        let value = rest.get(range.clone()).unwrap_or_default();
        let tight = sign == Some("=") && hit.name("gap").is_some_and(|gap| gap.is_empty());
        // The folder that one is in.
        let folder = sure.as_deref() == Some("pwd") && value.starts_with('/');
        let counts = match &sure {
            Some(_) if in_quotes || tight || sign.is_none() => true,
            _ => is_keyed(value) && !is_path_of_names(value),
        };
        if counts && !folder && is_value(value, in_quotes) {
            out.push(from + range.start..from + range.end);
        }
    }
}

/// The name at this place is an option of a command: `--db-password`.
fn is_flag(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name = before.len() - before.chars().rev().take_while(|c| is_name(*c)).count();
    // An escape may stand right before it, as in `\n--password`.
    before.get(name..).is_some_and(|name| name.contains("--"))
}

/// Range of a value at the beginning of a text, and whether it is in quotes.
fn value(text: &str) -> Option<(Range, bool)> {
    let slashes = text.len() - text.trim_start_matches('\\').len();
    let rest = text.get(slashes..).unwrap_or_default();
    let entity = ["&quot;", "&#34;", "&#39;", "&apos;"].into_iter().find(|entity| rest.starts_with(*entity));
    let quote = match rest.chars().next() {
        Some(c @ ('"' | '\'' | '`')) => text.get(..slashes + c.len_utf8()),
        _ => entity.filter(|_| slashes == 0),
    };
    if let Some(quote) = quote {
        let inner = text.get(quote.len()..).unwrap_or_default();
        let line = inner.find('\n').unwrap_or(inner.len());
        let inner = inner.get(..line).unwrap_or_default();
        let mut end = inner.len();
        for (at, _) in inner.match_indices(quote) {
            let escaped = slashes == 0 && inner.get(..at).is_some_and(|before| before.ends_with('\\'));
            if !escaped {
                end = at;
                break;
            }
        }
        return (end > 0).then_some((quote.len()..quote.len() + end, true));
    }
    let mut end = text.len();
    let mut signs = text.char_indices().peekable();
    while let Some((at, c)) = signs.next() {
        let next = signs.peek().map(|(_, next)| *next);
        let over = match c {
            '\\' => matches!(next, Some('n' | 'r' | 't' | '"' | '\'' | 'u')),
            '"' | '\'' | '<' | '>' | '&' | ',' | ';' | ')' | ']' | '}' | '`' | '|' => true,
            c => c.is_whitespace() || c.is_control(),
        };
        if over {
            end = at;
            break;
        }
    }
    let value = text.get(..end).unwrap_or_default().trim_end_matches(['.', ':', '!', '?']);
    (!value.is_empty()).then_some((0..value.len(), false))
}

/// It is no placeholder, no name of a type or a variable, and not masked already.
fn is_value(value: &str, in_quotes: bool) -> bool {
    let bare = value.trim();
    if bare.chars().count() < 3 || is_masked(bare) || bare.starts_with(['$', '{', '<', '%']) {
        return false;
    }
    if in_quotes {
        return true;
    }
    // `os.environ`, `config.password`.
    let path = bare.trim_end_matches('[');
    let dotted = path.contains('.')
        && path.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '.' | '_'))
        && !path.starts_with('.');
    !bare.starts_with(['(', '[', '&', '='])
        && !is_call(bare)
        && !dotted
        && !NO_VALUES.contains(&bare.to_ascii_lowercase().as_str())
}

/// A call in code: `get_password(user`, `sha256(`. A bracket behind any other word belongs to the sentence.
fn is_call(value: &str) -> bool {
    const WITH_DIGITS: [&str; 9] =
        ["md5", "sha1", "sha256", "sha384", "sha512", "base64", "b64decode", "b64encode", "pbkdf2"];
    let Some((name, _)) = value.split_once('(') else { return false };
    let is_name = |part: &str| part.chars().all(|c| c.is_alphabetic() || matches!(c, '_' | ':' | '$' | '!'));
    name.split('.').all(|part| is_name(part) || WITH_DIGITS.contains(&part.to_ascii_lowercase().as_str()))
}

/// Nothing of it is to be seen any more, also where the stars are escaped.
fn is_masked(value: &str) -> bool {
    value.chars().all(|c| matches!(c, '*' | '\\' | '•' | '.' | '…'))
}

/// A secret access key of AWS that stands alone.
fn alone(text: &str, out: &mut Vec<Range>) {
    let in_word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'+');
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !in_word(bytes[at]) {
            at += 1;
            continue;
        }
        let end = at + bytes[at..].iter().take_while(|b| in_word(**b)).count();
        // Behind an escape, what it is made of is no part of the word.
        if let Some(from) = end.checked_sub(AWS).filter(|from| *from >= at && begins(text, *from))
            && changes(&bytes[from..end]) >= AWS_CHANGES
        {
            out.push(from..end);
        }
        at = end;
    }
}

pub(super) fn changes(word: &[u8]) -> usize {
    let class = |b: &u8| match b {
        b if b.is_ascii_uppercase() => 0,
        b if b.is_ascii_lowercase() => 1,
        b if b.is_ascii_digit() => 2,
        _ => 3,
    };
    let all = [0, 1, 2].iter().all(|wanted| word.iter().any(|b| class(b) == *wanted));
    if all { word.windows(2).filter(|pair| class(&pair[0]) != class(&pair[1])).count() } else { 0 }
}

fn cut_out(text: &str, found: &[Range]) -> Option<(String, usize)> {
    if found.is_empty() {
        return None;
    }
    let (mut out, mut at, mut count) = (String::with_capacity(text.len()), 0, 0);
    for Range { start, end } in found.iter().cloned() {
        if start < at {
            // It overlaps with the one before: what is left of it goes too.
            at = at.max(end);
            continue;
        }
        out.push_str(text.get(at..start).unwrap_or_default());
        out.push_str(MASK);
        (at, count) = (end, count + 1);
    }
    out.push_str(text.get(at..).unwrap_or_default());
    Some((out, count))
}

mod hints;
mod keys;
mod table;
#[cfg(test)]
pub(crate) mod tests;
