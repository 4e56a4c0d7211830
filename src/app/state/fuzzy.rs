//! Fuzzy matching: the texts that match a query, best first, or only if they match.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// Places of the texts that match `query`, best first, with the places of the characters that matched. Texts that match
/// equally well stay in their order; an empty query matches all.
pub fn rank<'a>(query: &str, texts: impl Iterator<Item = &'a str>) -> Vec<(usize, Vec<usize>)> {
    if query.trim().is_empty() {
        return texts.enumerate().map(|(place, _)| (place, Vec::new())).collect();
    }
    let pattern = Pattern::parse(query, CaseMatching::Smart, Normalization::Smart);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut buffer = Vec::new();
    let mut found: Vec<(u32, usize, Vec<usize>)> = texts
        .enumerate()
        .filter_map(|(place, text)| {
            let mut marks = Vec::new();
            let score = pattern.indices(Utf32Str::new(text, &mut buffer), &mut matcher, &mut marks)?;
            marks.sort_unstable();
            marks.dedup();
            Some((score, place, marks.into_iter().map(|mark| mark as usize).collect()))
        })
        .collect();
    found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    found.into_iter().map(|(_, place, marks)| (place, marks)).collect()
}

/// Characters that mean more than themselves in what is typed.
const MEANING: [char; 5] = ['!', '^', '$', '\'', '\\'];

/// Words that texts are held against one by one, for a list that keeps its own order.
#[derive(Clone)]
pub struct Narrowed {
    words: String,
    /// The words where they are plain letters, each with whether its case counts.
    plain: Option<Vec<(Vec<u8>, Case)>>,
    pattern: Pattern,
    matcher: Matcher,
}

/// Case sensitivity.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Same,
    Counts,
}

impl std::fmt::Debug for Narrowed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Narrowed").field(&self.words).finish()
    }
}

impl Narrowed {
    /// Matcher for a query.
    #[must_use]
    pub fn new(words: &str) -> Self {
        let pattern = Pattern::parse(words, CaseMatching::Smart, Normalization::Smart);
        let plain = (words.is_ascii() && !words.contains(MEANING)).then(|| {
            let words = words.split_ascii_whitespace();
            let case =
                |word: &str| if word.bytes().any(|b| b.is_ascii_uppercase()) { Case::Counts } else { Case::Same };
            words.map(|word| (word.as_bytes().to_vec(), case(word))).collect()
        });
        Self { words: words.to_owned(), plain, pattern, matcher: Matcher::new(Config::DEFAULT) }
    }

    /// True if a text matches. Plain words in plain text need no score: their letters must occur in order.
    pub fn matches(&mut self, text: &str) -> bool {
        if let Some(plain) = self.plain.as_ref().filter(|_| text.is_ascii()) {
            return plain.iter().all(|(word, case)| {
                let mut rest = text.bytes();
                word.iter().all(|want| match case {
                    Case::Same => rest.any(|b| b.eq_ignore_ascii_case(want)),
                    Case::Counts => rest.any(|b| b == *want),
                })
            });
        }
        let mut buffer = Vec::new();
        self.pattern.score(Utf32Str::new(text, &mut buffer), &mut self.matcher).is_some()
    }

    /// True if every match of `words` also matches this: only letters were typed since.
    #[must_use]
    pub fn is_wider_than(&self, words: &str) -> bool {
        words.starts_with(&self.words) && !words.contains(MEANING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn best_first_and_stable() {
        let names = ["rename session", "new session", "retry", "stop"];
        let order = |query: &str| rank(query, names.into_iter()).into_iter().map(|(i, _)| i).collect::<Vec<_>>();
        assert_eq!(order(""), vec![0, 1, 2, 3]);
        assert_eq!(order("new").first(), Some(&1));
        assert_eq!(order("re"), vec![0, 2]);
        assert_eq!(rank("rt", names.into_iter()).first().map(|hit| hit.1.clone()), Some(vec![0, 2]));
    }

    proptest! {
        #[test]
        fn what_is_typed_on_never_finds_more(text in "[a-cA-C é]{0,12}", words in "[a-cA-C é!^$']{1,5}", more in "[a-cA-C é!$]{1,2}") {
            let longer = format!("{words}{more}");
            let (mut before, mut after) = (Narrowed::new(&words), Narrowed::new(&longer));
            if before.is_wider_than(&longer) {
                prop_assert!(before.matches(&text) || !after.matches(&text), "{words:?} {longer:?}");
            }
            let found = rank(&words, std::iter::once(text.as_str())).len() == 1;
            prop_assert!(words.trim().is_empty() || before.matches(&text) == found);
        }
    }
}
