//! Literals that stand in every secret of a shape. They are looked for in one pass over a text, so that most texts need no
//! pattern at all.

use super::table::{BEGINNINGS, PATTERNS};
use aho_corasick::{AhoCorasick, MatchKind};
use std::sync::LazyLock;

/// Parts of the names whose value is a secret: those of `SURE`, `LIKELY`, `MARKED` and `SPOKEN`.
const NAMES: [&str; 7] = ["pass", "pw", "secret", "key", "auth", "token", "credential"];
/// Letters that patterns without regard to case take for `s` and `k`, and that the literals here lack.
const FOLDED: [&str; 2] = ["\u{17f}", "\u{212a}"];

/// Literals, and for each the shapes that it stands in: one bit a shape.
struct HintTable {
    literals: AhoCorasick,
    shapes: Vec<u128>,
}

static TABLE: LazyLock<Option<HintTable>> = LazyLock::new(|| {
    let begins = BEGINNINGS.iter().enumerate().map(|(at, (start, _))| (*start, bit(at)));
    let patterns = PATTERNS
        .iter()
        .enumerate()
        .flat_map(|(at, (needs, _))| needs.iter().map(move |needed| (*needed, bit(BEGINNINGS.len() + at))));
    let names = NAMES.map(|name| (name, bit(BEGINNINGS.len() + PATTERNS.len())));
    let all: Vec<(&str, u128)> =
        begins.chain(patterns).chain(names).chain(FOLDED.map(|letter| (letter, u128::MAX))).collect();
    let built = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .kind(Some(aho_corasick::AhoCorasickKind::DFA))
        .build(all.iter().map(|(literal, _)| literal));
    let shapes = all.iter().map(|(_, shapes)| *shapes).collect();
    built.ok().map(|literals| HintTable { literals, shapes })
});

/// Bit of a shape. More shapes than bits share the last one, which costs time and misses nothing.
fn bit(at: usize) -> u128 {
    1 << at.min(127)
}

/// Shapes that a text can have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hints(u128);

impl Hints {
    pub(super) fn of(text: &str) -> Self {
        let Some(table) = TABLE.as_ref() else { return Self(u128::MAX) };
        let shapes = table.literals.find_overlapping_iter(text);
        Self(shapes.fold(0, |all, hit| all | table.shapes.get(hit.pattern().as_usize()).copied().unwrap_or(u128::MAX)))
    }

    /// True if the beginning of this index in [`BEGINNINGS`] can stand in the text.
    pub(super) fn beginning(self, at: usize) -> bool {
        self.0 & bit(at) != 0
    }

    /// True if the pattern of this index in [`PATTERNS`] can find something.
    pub(super) fn pattern(self, at: usize) -> bool {
        self.0 & bit(BEGINNINGS.len() + at) != 0
    }

    /// True if a name can stand in the text whose value is a secret.
    pub(super) fn names(self) -> bool {
        self.0 & bit(BEGINNINGS.len() + PATTERNS.len()) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PATTERN, tests::examples};
    use super::*;

    #[test]
    fn every_pattern_that_finds_something_was_hinted_at() {
        let all: Vec<String> = examples().into_iter().flat_map(|(text, _)| [text.to_uppercase(), text]).collect();
        for text in &all {
            let hints = Hints::of(text);
            for (at, pattern) in PATTERN.iter() {
                assert!(!pattern.is_match(text) || hints.pattern(*at), "{text}: {}", pattern.as_str());
            }
        }
        let tried = |at: &usize| all.iter().any(|text| Hints::of(text).pattern(*at));
        let untried: Vec<_> = (0..PATTERNS.len()).filter(|at| !tried(at)).map(|at| PATTERNS[at].0).collect();
        assert!(untried.is_empty(), "no example: {untried:?}");
    }

    #[test]
    fn a_text_without_the_literals_of_shapes_needs_no_pattern() {
        for (text, names, any) in [
            ("The parser reads a line and returns it.", false, false),
            ("a monKEY", true, true),
            ("SK-LEARN", false, true),
            ("pa\u{17f}\u{17f}word", true, true),
        ] {
            let hints = Hints::of(text);
            assert_eq!((hints.names(), hints.0 != 0), (names, any), "{text}");
        }
        assert!(BEGINNINGS.len() + PATTERNS.len() < 128);
    }
}
