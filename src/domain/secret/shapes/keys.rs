//! Shapes of keys, whatever stands around them: for the contents of files, and for what tools give to a model.

use super::{BEGINNINGS, Hints, PATTERN, Range, Strict, by_shape, cut_out, escapes, is_masked, uncoloured};
use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// True if a file that begins so is a private key, whatever its name: PEM, OpenSSH, PGP, PuTTY,
/// age, or the account of a service as JSON. A text with a key in its middle is not.
#[must_use]
pub fn begins_with_key(beginning: &[u8]) -> bool {
    let text = beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning).trim_ascii_start();
    let has = |what: &[u8]| memchr::memmem::find(text, what).is_some();
    if text.starts_with(b"PuTTY-User-Key-File-") || text.starts_with(b"AGE-SECRET-KEY-") {
        return true;
    }
    match text.first() {
        Some(b'{') => has(b"\"private_key\"") && has(b"PRIVATE KEY-----"),
        // Keys may follow their certificates.
        Some(b'-') => text.starts_with(b"-----BEGIN ") && has(b"PRIVATE KEY"),
        // Comments of age, and what openssl writes before a key.
        Some(b'#') if !text.starts_with(b"#!") => has(b"\nAGE-SECRET-KEY-") || has_key_line(text),
        Some(b'B' | b'K') if text.starts_with(b"Bag Attributes") || text.starts_with(b"Key Attributes") => {
            has_key_line(text)
        }
        _ => false,
    }
}

/// True if a private key stands in a text: its line, with what looks like the key itself behind it.
#[must_use]
pub fn is_whole_key(bytes: &[u8]) -> bool {
    /// The first lines of a key, with headers.
    const WINDOW: usize = 2048;
    const LINE: &[u8] = b"PRIVATE KEY";
    memchr::memmem::find_iter(bytes, LINE).any(|at| {
        let before = bytes.get(at.saturating_sub(32)..at).unwrap_or_default();
        let Some(begin) = memchr::memmem::rfind(before, b"-----BEGIN ") else { return false };
        let from = at.saturating_sub(32) + begin;
        let near = String::from_utf8_lossy(bytes.get(from..bytes.len().min(from + WINDOW)).unwrap_or_default());
        let cut = near.find("-----END").map_or(&*near, |end| near.get(..end + 8).unwrap_or_default());
        let body = |pattern: &Regex| {
            let secret = pattern.captures(cut).and_then(|hit| hit.name("s"));
            secret.is_some_and(|secret| secret.as_str().bytes().filter(u8::is_ascii_alphanumeric).count() >= 40)
        };
        PATTERN.iter().filter(|(_, pattern)| pattern.as_str().contains("PRIVATE KEY")).any(|(_, pattern)| body(pattern))
    })
}

/// Quick look before the patterns: true if something in it can be a key of a known maker or a password in an address.
#[must_use]
pub fn names_a_maker(bytes: &[u8]) -> bool {
    static MAKER: LazyLock<Option<regex::bytes::Regex>> = LazyLock::new(|| {
        let starts = BEGINNINGS.iter().map(|(start, _)| regex::escape(start)).collect::<Vec<_>>().join("|");
        let others = r"AKIA|ASIA|eyJ|://[^\s/]*@|(?i:aws_?secret)|PRIVATE KEY|hooks\.slack|discord|webhook\.office|(?i:authorization)|curl|sshpass|redis-cli|mysql|mariadb|sig=|(?i:x-amz-|x-goog-)|machine|default|@(?:tcp|unix)\(|[0-9]:AA";
        regex::bytes::Regex::new(&format!("(?-u:{starts}|{others})")).ok()
    });
    MAKER.as_ref().is_none_or(|maker| maker.is_match(bytes))
}

/// Words that stand in the place of a password in examples and on machines of developers.
const STAND_INS: &[&str] = &[
    "password",
    "passwd",
    "pass",
    "secret",
    "postgres",
    "mysql",
    "mariadb",
    "root",
    "admin",
    "user",
    "username",
    "example",
    "changeme",
    "test",
    "guest",
    "token",
    "key",
    "x-oauth-basic",
    "your_token",
    "your-token",
    "your_password",
];

/// Keys and passwords by their own shape, whatever stands around them.
#[must_use]
pub fn shaped(text: &str) -> Vec<Range> {
    let mut out = Vec::new();
    if text.len() < 7 {
        return out;
    }
    by_shape(text, Strict::Yes, Hints::of(text), &mut out);
    let is_one = |secret: &str| {
        !is_masked(secret)
            && !secret.starts_with(['$', '{', '<', '%'])
            && !STAND_INS.contains(&secret.to_ascii_lowercase().as_str())
    };
    out.retain(|range| text.get(range.clone()).is_some_and(is_one));
    out.sort_unstable_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    out
}

/// A text in which what is a key or a password by its own shape is `***`, and how many were found: for what a tool gives to a
/// model. Values that only a name makes suspicious stay, since source code is full of such names. `None`: there is nothing of
/// that kind in it.
#[must_use]
pub fn keys_masked(text: &str) -> Option<(String, usize)> {
    if !names_a_maker(text.as_bytes()) && !text.contains('\\') && !text.contains('\x1b') {
        return None;
    }
    let all = |text: &str| {
        let mut out = shaped(text);
        escapes::each_level(text, |plain, place| out.extend(shaped(plain).into_iter().map(place)));
        out.sort_unstable_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
        out
    };
    // Colours are dropped where they would hide a part of a key.
    if let Some(Cow::Owned(plain)) = uncoloured(text)
        && let Some(safe) = cut_out(&plain, &all(&plain))
    {
        return Some(safe);
    }
    cut_out(text, &all(text))
}

/// A line that begins a private key, with nothing but remarks before it.
fn has_key_line(text: &[u8]) -> bool {
    let Some(at) = memchr::memmem::find(text, b"\n-----BEGIN ") else { return false };
    let line = text.get(at + 1..).unwrap_or_default().split(|byte| *byte == b'\n').next().unwrap_or_default();
    memchr::memmem::find(line, b"PRIVATE KEY").is_some()
}
