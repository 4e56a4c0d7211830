//! Values that a source was given and that are shown nowhere: keys, and whatever variables of its configuration hold.
//!
//! A server that says one of them back rarely does so letter by letter: addresses escape it, headers encode it, a terminal's
//! signs stand in it. What is compared is what a reader would see, in each form that programs write. A server that means to
//! give its own key away can: this is for those that do not.

use crate::domain::sanitise::clean;
use crate::domain::secret;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use reqwest::Url;
use std::fmt::Write as _;

/// Values that are shorter are no keys, and would be found everywhere.
const SHORTEST: usize = 6;
/// The same where letters of both sizes are one, and spaces do not count.
const SHORTEST_LOOSE: usize = 8;
/// Text in the place of a value.
const MASK: &str = "***";

/// Values that are shown nowhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HiddenValues {
    /// Forms of the values, the longest first.
    exact: Vec<String>,
    /// The same as [`Loose`] has them.
    loose: Vec<String>,
}

impl HiddenValues {
    /// These values in each form that a text may have them in.
    #[must_use]
    pub fn new(values: Vec<String>) -> Self {
        let values = values.into_iter().filter(|value| value.chars().count() >= SHORTEST);
        let mut exact: Vec<String> = values.flat_map(|value| forms(&value)).collect();
        exact.retain(|form| form.chars().count() >= SHORTEST);
        longest_first(&mut exact);
        let mut loose: Vec<String> = exact.iter().map(|form| Loose::of(form).text).collect();
        loose.retain(|form| form.len() >= SHORTEST_LOOSE);
        longest_first(&mut loose);
        Self { exact, loose }
    }

    /// The text without them, and without what looks like a key.
    #[must_use]
    pub fn masked(&self, text: &str) -> String {
        let text = self.hidden(text);
        secret::masked(&text).map_or(text, |(masked, _)| masked)
    }

    /// The text without them. Where one is found only because signs that nobody sees stand in it, these are gone, too.
    #[must_use]
    pub fn hidden(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for form in &self.exact {
            if text.contains(form.as_str()) {
                text = text.replace(form.as_str(), MASK);
            }
        }
        if self.loose.is_empty() {
            return text;
        }
        // Signs are taken out by whoever shows it, and some of them take others along.
        for seen in [clean(&text).into_owned(), text.clone()] {
            let found = Loose::of(&seen).all_of(&self.loose);
            if !found.is_empty() {
                text = seen;
                found.into_iter().rev().for_each(|range| text.replace_range(range, MASK));
            }
        }
        text
    }
}

fn longest_first(all: &mut Vec<String>) {
    all.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    all.dedup();
}

/// A text in small letters without spaces and control characters.
struct Loose {
    text: String,
    /// Byte of the whole text for each byte of this one.
    from: Vec<usize>,
}

impl Loose {
    fn of(whole: &str) -> Self {
        let mut out = Self { text: String::with_capacity(whole.len()), from: Vec::with_capacity(whole.len()) };
        for (at, one) in whole.char_indices().filter(|(_, one)| !one.is_whitespace() && !one.is_control()) {
            let length = one.len_utf8();
            out.text.push(one.to_ascii_lowercase());
            out.from.extend(std::iter::repeat_n(at, length));
        }
        out
    }

    /// Ranges of the whole text in which one of these lies, in order, none over another.
    fn all_of(&self, forms: &[String]) -> Vec<std::ops::Range<usize>> {
        let mut found: Vec<(usize, usize)> = forms
            .iter()
            .flat_map(|form| self.text.match_indices(form.as_str()))
            .map(|(at, form)| (at, at + form.len()))
            .collect();
        found.sort_by_key(|(at, end)| (*at, std::cmp::Reverse(*end)));
        let mut out: Vec<std::ops::Range<usize>> = Vec::new();
        for (at, end) in found {
            let last = self.text.get(at..end).and_then(|found| found.chars().next_back()).map_or(1, char::len_utf8);
            let (Some(begin), Some(end)) = (self.from.get(at), self.from.get(end - 1)) else { continue };
            let end = end + last;
            match out.last_mut() {
                Some(before) if *begin < before.end => before.end = before.end.max(end),
                _ => out.push(*begin..end),
            }
        }
        out
    }
}

/// A value as it is and line by line, as JSON and addresses write it, encoded as headers are, and read as a wrong character set.
fn forms(value: &str) -> Vec<String> {
    let json = serde_json::Value::String(value.to_owned()).to_string();
    let mut out: Vec<String> = value.lines().map(|line| line.trim().to_owned()).collect();
    out.push(json.get(1..json.len().saturating_sub(1)).unwrap_or_default().to_owned());
    out.extend(addresses(value));
    out.extend(encoded(value.as_bytes()));
    if !value.is_ascii() {
        out.push(value.bytes().map(char::from).collect());
    }
    let signs = value.encode_utf16().fold(String::new(), |mut out, unit| {
        let _ = write!(out, "\\u{unit:04x}");
        out
    });
    out.extend([signs, value.chars().rev().collect(), value.to_owned()]);
    out
}

/// The value as a part of an address: of its path, its query or its fragment. Hosts are small.
fn addresses(value: &str) -> Vec<String> {
    let mut out = Vec::new();
    for start in ["http://h/", "http://h/?", "http://h/#"] {
        if let Ok(url) = Url::parse(&format!("{start}{value}")) {
            out.extend(url.as_str().get(start.len()..).map(str::to_owned));
            out.extend([url.path().trim_start_matches('/'), url.query().unwrap_or_default()].map(str::to_owned));
        }
    }
    if let Ok(mut url) = Url::parse("http://h") {
        url.set_path(value);
        url.set_query(Some(value));
        out.extend([url.path().trim_start_matches('/').to_owned(), url.query().unwrap_or_default().to_owned()]);
    }
    // As forms and careful programs escape it: all but letters and figures.
    out.push(value.bytes().fold(String::new(), |mut out, byte| {
        let _ =
            if byte.is_ascii_alphanumeric() { write!(out, "{}", char::from(byte)) } else { write!(out, "%{byte:02X}") };
        out
    }));
    out
}

/// The value in base 64 wherever it begins in what is encoded, in hexadecimal figures, and as escapes of an address.
fn encoded(value: &[u8]) -> Vec<String> {
    let mut out = Vec::new();
    for before in 0..3_usize {
        let mut bytes = vec![0; before];
        bytes.extend_from_slice(value);
        // Signs at the ends hold bits of what stands beside, too.
        let whole = bytes.len() * 8 / 6;
        let from = (before * 8).div_ceil(6);
        for text in [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)] {
            out.extend(text.get(from..whole).map(str::to_owned));
        }
    }
    let figures = |start: &str| {
        value.iter().fold(String::new(), |mut out, byte| {
            let _ = write!(out, "{start}{byte:02x}");
            out
        })
    };
    out.extend([figures(""), figures("%")]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "kX9+/Zq=7&L \"m2\\X\u{e9}#w";

    #[test]
    fn a_value_is_hidden_in_each_form_that_programs_write() {
        let hidden = HiddenValues::new(vec![KEY.to_owned(), "tk9Zq7Lm2Xw8Rv4Bxa".to_owned()]);
        let key = "tk9Zq7Lm2Xw8Rv4Bxa";
        let spaced = |between: &str| format!("{}{between}{}", &key[..7], &key[7..]);
        let of_url = Url::parse(&format!("http://127.0.0.1:19209/mcp?key={KEY}")).unwrap();
        for text in [
            KEY.to_owned(),
            key.to_uppercase(),
            key.chars().rev().collect(),
            spaced("\0"),
            spaced("\u{1b}[0m"),
            spaced("\u{1b}[38;5;1m"),
            spaced("\u{8}"),
            spaced("\u{200b}"),
            spaced("\u{e0041}"),
            spaced("\n"),
            spaced("\r\n  "),
            base64::engine::general_purpose::STANDARD.encode(format!("user:{key}")),
            base64::engine::general_purpose::STANDARD.encode(format!("us:{key}@")),
            URL_SAFE_NO_PAD.encode(format!("{KEY}/")),
            figures_of(key),
            figures_of(key).to_uppercase(),
            key.bytes().map(|byte| format!("%{byte:02X}")).collect(),
            key.bytes().map(|byte| format!("\\u{byte:04X}")).collect(),
            of_url.to_string(),
            of_url.query().unwrap().to_owned(),
            serde_json::Value::String(KEY.to_owned()).to_string(),
            KEY.bytes().map(char::from).collect(),
        ] {
            let shown = hidden.hidden(&format!("before {text} behind"));
            assert!(shown.contains("***"), "{text:?} {shown:?}");
            let loose = |text: &str| Loose::of(text).text;
            assert!(!loose(&shown).contains(&loose(key)), "{shown:?}");
            assert!(shown.starts_with("before ") && shown.ends_with(" behind"), "{shown:?}");
        }
        assert_eq!(hidden.hidden("\u{1b}[1mnothing\u{1b}[0m"), "\u{1b}[1mnothing\u{1b}[0m");
        assert_eq!(hidden.hidden("a tk9Zq7 b"), "a tk9Zq7 b");
    }

    fn figures_of(key: &str) -> String {
        key.bytes().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn short_values_are_no_keys() {
        let hidden = HiddenValues::new(vec!["abc".into(), "abcdef".into()]);
        assert_eq!(hidden.hidden("abc abcdef abcd ef"), "abc *** abcd ef");
    }

    proptest::proptest! {
        #[test]
        fn any_text_around_a_value_stays(before in "[ -@]{0,20}", behind in "\\PC{0,20}") {
            let hidden = HiddenValues::new(vec!["Zq7Lm2Xw8Rv4".into()]);
            let shown = hidden.hidden(&format!("{before}|Zq7Lm2Xw8Rv4|{behind}"));
            proptest::prop_assert_eq!(shown, format!("{before}|***|{behind}"));
        }
    }
}
