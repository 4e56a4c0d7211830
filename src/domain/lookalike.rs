//! Characters that a reader takes for others: a Cyrillic `а` in a Latin word, a full-width `；`, a minus that is no hyphen.
//!
//! For texts that the user decides on: commands, paths, names. The confusable characters are those
//! of Unicode's own table (UTS 39); invisible ones are found by `sanitise`, and this module makes
//! both visible.

use super::sanitise::{is_unseen, mark, reveal};
use std::collections::BTreeSet;
use unicode_security::confusable_detection::skeleton;

/// Deceptive character in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lookalike {
    /// It cannot be seen, or turns the direction of what stands around it.
    Unseen(char),
    /// It looks like an ASCII letter.
    Letter(char),
    /// It looks like an ASCII sign.
    Sign(char),
}

impl Lookalike {
    /// The character.
    #[must_use]
    pub fn char(self) -> char {
        match self {
            Lookalike::Unseen(c) | Lookalike::Letter(c) | Lookalike::Sign(c) => c,
        }
    }
}

/// The text with everything visible that is not what it seems: `p⟦U+0430⟧ypal`, `ls ⟦U+FF1B⟧ rm`. Newlines and tabs stay.
#[must_use]
pub fn expose(text: &str) -> String {
    if text.is_ascii() {
        return reveal(text);
    }
    let mut marked = String::with_capacity(text.len());
    each(text, |c, odd| match odd {
        Some(Lookalike::Letter(c) | Lookalike::Sign(c)) => mark(c, &mut |m| marked.push(m)),
        _ => marked.push(c),
    });
    reveal(&marked)
}

/// The same on one line: newlines are visible as well, and no part of the text can look like a line of its own.
#[must_use]
pub fn expose_line(text: &str) -> String {
    expose(text).replace('\n', "␊").replace('\t', " ")
}

/// Deceptive characters in a text, each once.
#[must_use]
pub fn odd(text: &str) -> BTreeSet<Lookalike> {
    let mut found = BTreeSet::new();
    if !text.bytes().all(|b| matches!(b, b' '..=b'~' | b'\n' | b'\t')) {
        each(text, |_, odd| found.extend(odd));
    }
    found
}

fn each(text: &str, mut tell: impl FnMut(char, Option<Lookalike>)) {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c: char| !c.is_alphanumeric() || is_unseen(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end.max(first.len_utf8()));
        rest = after;
        if end == 0 {
            tell(first, oddity(first));
            continue;
        }
        // In a word of another script its letters are its own; one that reads as an ASCII word is not.
        let poses =
            word.chars().any(|c| c.is_ascii_alphabetic()) || word.chars().all(|c| c.is_ascii() || ascii(c).is_some());
        for c in word.chars() {
            tell(c, oddity(c).filter(|odd| poses || matches!(odd, Lookalike::Unseen(_))));
        }
    }
}

fn oddity(c: char) -> Option<Lookalike> {
    if matches!(c, '\n' | '\t' | ' '..='~') {
        None
    } else if is_unseen(c) || c.is_control() {
        Some(Lookalike::Unseen(c))
    } else {
        ascii(c).map(|like| if like.is_ascii_alphanumeric() { Lookalike::Letter(c) } else { Lookalike::Sign(c) })
    }
}

/// The ASCII character that this other one looks like.
fn ascii(c: char) -> Option<char> {
    if c.is_ascii() {
        return None;
    }
    // Full-width forms are wider and still read as the sign itself; Unicode counts them as equal, not as alike.
    if let '\u{ff01}'..='\u{ff5e}' = c {
        return char::from_u32(u32::from(c) - 0xfee0);
    }
    let mut buffer = [0; 4];
    let mut like = skeleton(c.encode_utf8(&mut buffer));
    match (like.next(), like.next()) {
        (Some(one), None) if one.is_ascii_graphic() => Some(one),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_poses_as_ascii_is_marked() {
        for (text, want) in [
            ("curl https://p\u{430}ypal.com", "curl https://p⟦U+0430⟧ypal.com"),
            ("\u{441}\u{440} a b", "⟦U+0441⟧⟦U+0440⟧ a b"),
            ("ls \u{ff1b} rm \u{ff0f}etc", "ls ⟦U+FF1B⟧ rm ⟦U+FF0F⟧etc"),
            ("rm \u{2013}rf x", "rm ⟦U+2013⟧rf x"),
            ("a\u{2044}b \u{2215}c", "a⟦U+2044⟧b ⟦U+2215⟧c"),
            ("g\u{131}thub.com", "g⟦U+0131⟧thub.com"),
            ("\u{ff52}m x", "⟦U+FF52⟧m x"),
            ("a\u{a0}b\u{200b}\u{202e}", "a⟦U+00A0⟧b⟦U+200B⟧⟦U+202E⟧"),
        ] {
            assert_eq!(expose(text), want);
        }
    }

    #[test]
    fn honest_text_stays_as_it_is() {
        for text in [
            "git commit -m 'plain'",
            "echo 'héllo, wörld' 日本語 ｶﾅ",
            "git commit -m 'Привет, мир: проверка работы'",
            "echo 'Καλημέρα κόσμε'",
            "printf '→ ✓ …'",
            "echo 'größe, naïve, façade, Øre, łódź'",
        ] {
            assert_eq!(expose(text), text);
            assert!(odd(text).is_empty(), "{text}: {:?}", odd(text));
        }
    }

    #[test]
    fn each_is_told_once_with_its_kind() {
        let found: Vec<Lookalike> = odd("p\u{430}yp\u{430}l\u{200b} \u{ff1b}\x1b").into_iter().collect();
        assert_eq!(
            found,
            [
                Lookalike::Unseen('\x1b'),
                Lookalike::Unseen('\u{200b}'),
                Lookalike::Letter('\u{430}'),
                Lookalike::Sign('\u{ff1b}')
            ]
        );
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_what_is_shown_is_honest(text in any::<String>()) {
            let shown = expose(&text);
            prop_assert!(odd(&shown).is_empty(), "{shown:?}: {:?}", odd(&shown));
            prop_assert_eq!(expose(&shown), shown.clone());
            let kept = text.chars().filter(|c| matches!(c, ' '..='~' | '\n' | '\t'));
            let mut of_shown = shown.chars();
            for c in kept {
                prop_assert!(of_shown.any(|other| other == c));
            }
        }
    }

    proptest! {
        /// Whatever stands in a text that is decided on: of each character that would deceive there is something to be seen,
        /// and nothing begins a line of its own.
        #[test]
        fn what_is_shown_has_a_trace_of_all_that_deceives(
            parts in prop::collection::vec(
                prop_oneof![
                    "[ -~]{0,6}".prop_map(String::from),
                    prop::sample::select(vec![
                        "\r", "\n", "\u{1b}[2K", "\u{8}", "\u{200b}", "\u{200d}", "\u{2060}", "\u{feff}", "\u{202e}", "\u{2066}",
                        "\u{61c}", "\u{ad}", "\u{e0041}", "\u{fe0f}", "\u{2028}", "\u{85}", "\u{9b}31m", "\0", "\u{7f}", "\u{3164}",
                    ]).prop_map(String::from),
                    any::<char>().prop_map(String::from),
                ],
                0..12,
            )
        ) {
            let text = parts.concat();
            let line = expose_line(&text);
            prop_assert!(!line.chars().any(|c| c.is_control() || is_unseen(c)), "{line:?}");
            let parted = line.contains(['\u{2028}', '\u{2029}']);
            prop_assert!(!parted, "{line:?}");
            for shown in [line, expose(&text)] {
                for c in text.chars() {
                    let trace = match c {
                        '\n' | '\t' => continue,
                        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap().to_string(),
                        '\u{7f}' => "\u{2421}".to_owned(),
                        c if is_unseen(c) => format!("U+{:04X}", u32::from(c)),
                        _ => continue,
                    };
                    prop_assert!(shown.contains(&trace), "{text:?} is shown as {shown:?}");
                }
            }
        }
    }
}
