//! Contents that make a file a secret whatever it is called: the one rule for what commands do not see and for what file
//! tools do not give without a question.
//!
//! A private key counts in every file but source code, also behind other text, quoted in JSON or written in UTF-16, and in other
//! forms than PEM (`key_forms`); tokens of known makers, passwords in addresses and the like count in files of data alone, since
//! texts and programs show examples.
//! Bounded: of a file the first [`MOST`] bytes are searched for private keys, the first [`TOKENS`] for the rest.

use super::key_forms;
use super::shapes::{begins_with_key, is_whole_key, names_a_maker, shaped};
use std::borrow::Cow;
use std::path::Path;

/// Bytes of a file that are searched for private keys.
pub const MOST: usize = 8 * 1024 * 1024;
/// Bytes of a file of data that are searched for tokens.
pub const TOKENS: usize = 64 * 1024;

/// Endings of files that machines write or that are source code; they are not looked into.
const PASSED_OVER: &[&str] = &[
    "o", "a", "so", "rlib", "rmeta", "d", "wasm", "class", "jar", "pyc", "map", "png", "jpg", "jpeg", "gif", "webp",
    "ico", "svg", "woff", "woff2", "ttf", "otf", "pdf", "zip", "gz", "xz", "bz2", "zst", "br", "mp3", "mp4", "rs",
    "ts", "tsx", "jsx", "mjs", "cjs", "py", "go", "java", "kt", "rb", "c", "h", "cc", "cpp", "hpp", "css", "scss",
    "html", "lock",
];
/// Endings of files of data. A name without an ending is data as well.
const DATA: &[&str] = &[
    "json",
    "jsonl",
    "ndjson",
    "yml",
    "yaml",
    "toml",
    "ini",
    "conf",
    "cfg",
    "cnf",
    "config",
    "properties",
    "env",
    "txt",
    "csv",
    "tsv",
    "xml",
    "plist",
    "log",
];

/// Kind of content that a file's name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Source code, or what machines write: not looked into.
    PassedOver,
    /// Settings, lists and other data.
    Data,
    /// Any other text.
    Text,
}

impl Content {
    /// By the name of the file.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
        match ending {
            Some(ending) if PASSED_OVER.contains(&ending.as_str()) => Self::PassedOver,
            Some(ending) if DATA.contains(&ending.as_str()) => Self::Data,
            Some(_) => Self::Text,
            None => Self::Data,
        }
    }

    /// True if a file with these first bytes is a secret.
    #[must_use]
    pub fn is_secret(self, bytes: &[u8]) -> bool {
        if self == Self::PassedOver {
            return false;
        }
        let bytes = bytes.get(..MOST).unwrap_or(bytes);
        let bytes = plain(bytes);
        if begins_with_key(&bytes) || is_whole_key(&bytes) || key_forms::is_key(&bytes) {
            return true;
        }
        let start = bytes.get(..TOKENS).unwrap_or(&bytes);
        if self != Self::Data || start.starts_with(b"#!") {
            return false;
        }
        if key_forms::holds_key(start) {
            return true;
        }
        if !names_a_maker(start) {
            return false;
        }
        let text = String::from_utf8_lossy(start);
        // Of a key that was cut off the line alone is left.
        let line = |line: &str| line.starts_with("-----BEGIN ") && line.contains("PRIVATE KEY");
        text.lines().any(line) || !shaped(&text).is_empty()
    }
}

/// UTF-16, with a mark at its beginning or without, as UTF-8.
fn plain(bytes: &[u8]) -> Cow<'_, [u8]> {
    let odd = |at: usize| bytes.iter().skip(at).step_by(2).take(32);
    let wide = |at: usize| bytes.len() >= 32 && odd(at).filter(|byte| **byte == 0).count() >= 30;
    let little = bytes.starts_with(b"\xff\xfe") || wide(1);
    if !little && !bytes.starts_with(b"\xfe\xff") && !wide(0) {
        return Cow::Borrowed(bytes);
    }
    let unit = |two: &[u8]| match *two {
        [low, high] if little => u16::from_le_bytes([low, high]),
        [high, low] => u16::from_be_bytes([high, low]),
        _ => 0,
    };
    let units: Vec<u16> = bytes.chunks_exact(2).map(unit).collect();
    let text = String::from_utf16_lossy(&units);
    Cow::Owned(text.trim_start_matches('\u{feff}').as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::super::examples;
    use super::*;
    use proptest::prelude::*;

    /// A key as the programs write it, with nothing real in it.
    fn pem(newline: &str) -> String {
        let line = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2";
        let words = ("OPENSSH PRIVATE", "KEY");
        format!("-----BEGIN {} {}-----{newline}{line}{newline}{line}{newline}-----END", words.0, words.1)
    }

    fn secret(name: &str, text: impl AsRef<[u8]>) -> bool {
        Content::of(Path::new(name)).is_secret(text.as_ref())
    }

    #[test]
    fn a_private_key_counts_wherever_it_stands() {
        let long = |bytes: usize| "some words of a text\n".repeat(bytes / 21);
        for name in ["deploykey", "tok.txt", "notes.md", "a.log", "x.json", "odd.ending"] {
            assert!(secret(name, pem("\n")), "{name}");
            assert!(secret(name, pem("\r\n")), "{name}");
            assert!(secret(name, format!("{{\"k\": \"{}\"}}", pem("\\n"))), "{name}: in JSON");
            assert!(secret(name, format!("{{\"k\": \"{}\"}}", pem("\\\\n"))), "{name}: in JSON in JSON");
            assert!(secret(name, format!("{}{}", long(70_000), pem("\n"))), "{name}: behind 70 KB");
            assert!(secret(name, format!("{}{}", long(3_000_000), pem("\n"))), "{name}: behind 3 MB");
            let units: Vec<u16> = pem("\n").encode_utf16().collect();
            let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
            let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
            for wide in
                [[b"\xff\xfe".as_slice(), &little].concat(), [b"\xfe\xff".as_slice(), &big].concat(), little, big]
            {
                assert!(secret(name, wide), "{name}: in UTF-16");
            }
        }
        for name in ["token.rs", "test_keys.py", "a.png"] {
            assert!(!secret(name, pem("\n")), "{name}");
        }
        assert!(!secret("README.md", "Keys begin with `-----BEGIN PRIVATE KEY-----` and end alike.\n"));
        assert!(!secret(
            "README.md",
            &"-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n".repeat(3).as_bytes()[28..]
        ));
    }

    #[test]
    fn tokens_and_passwords_count_in_files_of_data() {
        let aws = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzABCDEfgh1";
        let jwt =
            ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"];
        for text in [
            format!("ghp_{}", "a1B2c3D4e5F6g7H8i9"),
            format!("[default]\naws_secret_access_key = {aws}\n"),
            format!("\"aws_secret_access_key\": \"{aws}\""),
            format!("t: {}", jwt.join(".")),
            "url = https://me:ghp_a1B2c3D4e5F6g7H8@github.com/a/b\n".to_owned(),
            "dsn: postgres://app:Tr0ub4dor@db.example.com:5432/app\n".to_owned(),
        ] {
            for name in ["tok.txt", "app.yml", "config", ".git/config", "x.log"] {
                assert!(secret(name, &text), "{name}: {text}");
            }
            assert!(!secret("README.md", &text) && !secret("a.rs", &text), "{text}");
        }
        for open in [
            "postgres://postgres:postgres@localhost:5432/app",
            "postgres://user:password@db/app",
            "https://github.com/a/b",
            "url: https://$USER:$TOKEN@example.com",
            "git@github.com:a/b.git",
        ] {
            assert!(!secret("docker-compose.yml", open), "{open}");
        }
        assert!(!secret("configure", format!("#!/bin/sh\n# ghp_{}\n", "a1B2c3D4e5F6g7H8i9")));
    }

    proptest! {
        /// A file of data is secret by the shapes that are masked in texts: nothing is known to one alone.
        #[test]
        fn the_shapes_are_those_of_the_one_table(at in 0..examples().len()) {
            let (text, _) = &examples()[at];
            if !shaped(text).is_empty() {
                prop_assert!(secret("x.txt", text), "{}", text);
            }
        }
    }
}
