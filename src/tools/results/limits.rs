//! Results that are too long for the model: the whole text goes to a file, the model gets its head and tail.
//!
//! Done once, by the registry, for every tool alike.

use super::downloads;
use crate::domain::access::Access;
use crate::domain::secret::keys_masked;
use crate::domain::tool::{CallFacts, Touch};
use crate::tools::CallPlace;
use crate::tools::command_line::named_paths;
use std::path::PathBuf;

/// A result as it goes to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// The text for the model.
    pub text: String,
    /// File with the whole text, if `text` is not all of it.
    pub full: Option<PathBuf>,
    /// The cut text, for a summary; only if all of it was kept.
    pub long: Option<Long>,
}

/// A result that is too long for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Long {
    /// All of it.
    pub text: String,
    /// Approximate number of tokens.
    pub tokens: u64,
    /// Path.
    pub path: PathBuf,
    /// Tokens that the model may get instead.
    pub most: u64,
}

/// Tokens that a result may have: a tenth of the window, at least 2,000 and at most 12,000.
#[must_use]
pub fn most_tokens(window: u64) -> u64 {
    (window / 10).clamp(2_000, 12_000)
}

/// The call was decided on as one that shows a secret, or that nothing holds.
#[must_use]
pub fn was_decided(facts: &CallFacts, place: &CallPlace) -> bool {
    facts.touches.iter().any(|touch| match touch {
        Touch::Read { secret, .. } | Touch::Access(Access::Read { secret, .. }) => *secret,
        Touch::Outside => true,
        Touch::Command { command, .. } => !named_paths::secrets(command, place).is_empty(),
        _ => false,
    })
}

/// A result without what is a key or a password by its own shape.
#[must_use]
pub fn without_keys(text: String) -> String {
    let Some((safe, count)) = keys_masked(&text) else { return text };
    let what = if count == 1 { "1 key or password" } else { &format!("{count} keys or passwords") };
    let line = if safe.ends_with('\n') { "" } else { "\n" };
    format!("{safe}{line}({what} shown as ***; do not write the stars back)\n")
}

/// Number of parts that make a token; a character counts as some of them.
const PARTS: u64 = 24;

/// A guess at the tokens of a text: of ASCII four characters make one, of other alphabets two, of scripts with a sign for a
/// syllable or a word one. Of a text of 20,000 characters or more that is unbroken base64 to at least 70 %, 1.5 make one.
#[must_use]
pub fn tokens(text: &str) -> u64 {
    let dense = is_dense(text);
    let parts = match text.is_ascii() {
        true => text.len() as u64 * parts('a', dense),
        false => text.chars().map(|c| parts(c, dense)).sum(),
    };
    parts.div_ceil(PARTS)
}

/// True for text that is mostly base64.
fn is_dense(text: &str) -> bool {
    if text.len() < 20_000 {
        return false;
    }
    let chars = text.chars().count() as u64;
    chars >= 20_000 && base64_chars(text) * 10 >= chars * 7
}

fn parts(c: char, dense: bool) -> u64 {
    match u32::from(c) {
        0..0x80 if dense => 16,
        0..0x80 => 6,
        // Latin with marks, Greek, Cyrillic, Armenian, Hebrew, Arabic; then quotes and dashes.
        0x80..0x0900 | 0x1E00..0x2070 => 12,
        // The scripts of India and of South-East Asia.
        0x0900..0x1100 => 18,
        // Signs for a syllable or a word, lines of boxes, arrows; then pictures.
        0x1100..0x1E00 | 0x2070..0x1_F000 | 0x2_0000.. => 24,
        0x1_F000..0x2_0000 => 48,
    }
}

/// Number of characters that make about so many tokens.
fn chars_within(chars: impl Iterator<Item = char>, tokens: u64, dense: bool) -> u64 {
    let mut left = tokens.saturating_mul(PARTS);
    let fits = |c: &char| {
        let part = parts(*c, dense);
        let fits = part <= left;
        left = left.saturating_sub(part);
        fits
    };
    chars.take_while(fits).count() as u64
}

/// Characters in runs of 60 and more of the base64 alphabet.
fn base64_chars(text: &str) -> u64 {
    let mut sum = 0;
    let mut run = 0;
    for b in text.bytes().chain([b' ']) {
        if b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_') {
            run += 1;
        } else {
            if run >= 60 {
                sum += run;
            }
            run = 0;
        }
    }
    sum
}

/// Cuts a result of `tool` to what the model may get. A longer one is kept whole below the session's `long_responses/`.
#[must_use]
pub fn fit(text: String, tool: &str, place: &CallPlace) -> Fitted {
    let most = most_tokens(place.window);
    let has = tokens(&text);
    if has <= most {
        return Fitted { text, full: None, long: None };
    }
    let dense = is_dense(&text);
    // Half of what is allowed is enough to see what it is; the rest can be read from the file.
    let head = head(&text, chars_within(text.chars(), most / 3, dense));
    let tail = tail(&text, chars_within(text.chars().rev(), most / 6, dense));
    let (note, full) = match downloads::create(place, "long_responses", tool, "txt", text.as_bytes()) {
        Ok(path) => (
            format!(
                "[The result is too long: about {has} tokens, {} lines. All of it is in {} — read parts of it with \
                 `read` (offset, limit) or search it with `grep`. Here are its beginning and its end.]",
                text.lines().count(),
                path.display()
            ),
            Some(path),
        ),
        Err(why) => (
            format!(
                "[The result is too long: about {has} tokens. It could not be kept ({why}). Here are its beginning and \
                 its end; ask for less of it to see more.]"
            ),
            None,
        ),
    };
    let cut = format!("{note}\n\n{head}\n\n[… cut …]\n\n{tail}");
    let long = full.clone().map(|path| Long { text, tokens: has, path, most });
    Fitted { text: cut, full, long }
}

/// About the first `chars` characters, up to a line end where one is near.
pub(in crate::tools) fn head(text: &str, chars: u64) -> &str {
    let end = nth(text, chars);
    let cut = text.get(..end).unwrap_or(text);
    match cut.rfind('\n') {
        Some(line) if line * 10 >= end * 9 => cut.get(..line).unwrap_or(cut),
        _ => cut,
    }
}

/// About the last `chars` characters, from a line start where one is near.
pub(in crate::tools) fn tail(text: &str, chars: u64) -> &str {
    let count = text.chars().count() as u64;
    let cut = text.get(nth(text, count.saturating_sub(chars))..).unwrap_or(text);
    match cut.find('\n') {
        Some(line) if line * 10 <= cut.len() => cut.get(line + 1..).unwrap_or(cut),
        _ => cut,
    }
}

/// The byte at which the n-th character begins.
fn nth(text: &str, n: u64) -> usize {
    text.char_indices().nth(usize::try_from(n).unwrap_or(usize::MAX)).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::bench::Bench;
    use proptest::prelude::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn the_budget_follows_the_window() {
        for (window, most) in [(0, 2_000), (8_192, 2_000), (64_000, 6_400), (200_000, 12_000), (1_000_000, 12_000)] {
            assert_eq!(most_tokens(window), most);
        }
    }

    #[test]
    fn base64_counts_more() {
        assert_eq!(tokens(""), 0);
        assert_eq!(tokens("abcd"), 1);
        assert_eq!(tokens("äöüßx"), 3);
        for (text, least, most) in
            [("тише едешь дальше будешь", 6, 14), ("一二三四五六七八", 6, 12), ("한국어 문장", 4, 8), ("🦀🦀", 2, 6)]
        {
            assert!((least..=most).contains(&tokens(text)), "{text}: {}", tokens(text));
        }
        let long = "QUJD".repeat(5_000);
        assert_eq!(tokens(&long), 13_334);
        assert_eq!(tokens(&long[..19_999]), 5_000, "short ones count as text");
        let words = "word ".repeat(4_000);
        assert_eq!(tokens(&words), 5_000);
        assert_eq!(tokens(&format!("{}{}", &long[..14_000], &words[..6_000])), 13_334, "70 % is enough");
        assert_eq!(tokens(&format!("{}{}", &long[..13_900], &words[..6_100])), 5_000);
    }

    #[test]
    fn a_long_result_is_kept_whole_and_private() {
        let bench = Bench::new();
        let text: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
        let fitted = fit(text.clone(), "bash", &bench.place);
        let full = fitted.full.unwrap();
        assert_eq!(std::fs::read_to_string(&full).unwrap(), text);
        assert_eq!(std::fs::metadata(&full).unwrap().mode() & 0o777, 0o600);
        assert_eq!(std::fs::metadata(full.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
        assert!(full.parent().unwrap().ends_with("long_responses"));
        assert!(full.to_str().unwrap().ends_with("_bash.txt"));
        assert!(fitted.text.contains(full.to_str().unwrap()));
        assert!(fitted.text.contains("\n\nline 0\n") && fitted.text.ends_with("line 19999\n"));
        assert!(tokens(&fitted.text) <= most_tokens(bench.place.window));
        let second = fit(text, "bash", &bench.place).full.unwrap();
        assert_ne!(second, full);
    }

    #[test]
    fn a_result_that_fits_stays_and_one_that_cannot_be_kept_says_so() {
        let mut bench = Bench::new();
        assert_eq!(fit("short".into(), "bash", &bench.place), Fitted { text: "short".into(), full: None, long: None });
        bench.write("file", "x");
        bench.place.session_dir = bench.place.cwd.join("file");
        let fitted = fit("word ".repeat(20_000), "bash", &bench.place);
        assert!(fitted.full.is_none() && fitted.text.contains("could not be kept"), "{}", fitted.text);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn whatever_comes_it_fits_afterwards(seed in "[a-zä漢🦀\n ]{1,40}", times in 1usize..3_000) {
            let bench = Bench::new();
            let fitted = fit(seed.repeat(times), "x", &bench.place);
            prop_assert!(tokens(&fitted.text) <= most_tokens(bench.place.window));
        }
    }
}
