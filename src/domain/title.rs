//! Titles of copies: a number distinguishes a copy from its original.

/// The title of a copy: that of the original with the next number that no other title has, from 2 on. A title that is a
/// copy's already counts on: `Fix it (2)` is followed by `Fix it (3)`.
#[must_use]
pub fn next<'t>(title: &'t str, taken: impl Iterator<Item = &'t str>) -> String {
    let base = split(title).map_or(title, |(base, _)| base).trim();
    let same = |other: &str| split(other).filter(|(other, _)| other.trim() == base).map(|(_, number)| number);
    let last = taken.chain([title]).filter_map(same).max().unwrap_or(1);
    format!("{base} ({})", last.saturating_add(1)).trim_start().to_owned()
}

/// Characters of a title that is the beginning of a message, at the most.
const LONGEST: usize = 60;

/// The title of a session that has none: the first words of a message. One that is cut ends after a word, where that leaves
/// enough of it.
#[must_use]
pub fn beginning(message: &str) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = line.char_indices().nth(LONGEST) else { return line };
    let (kept, rest) = line.split_at(end);
    let words = if rest.starts_with(' ') { kept } else { kept.rsplit_once(' ').map_or(kept, |(words, _)| words) };
    let kept = if words.chars().count() * 2 > LONGEST { words } else { kept };
    format!("{}…", kept.trim_end())
}

/// A title that ends in a number of its own: what stands before it, and the number.
fn split(title: &str) -> Option<(&str, u32)> {
    let (base, number) = title.trim_end().strip_suffix(')')?.rsplit_once('(')?;
    let digits = !number.is_empty() && number.len() < 6 && number.bytes().all(|b| b.is_ascii_digit());
    let number = number.parse().ok().filter(|number| digits && *number > 1)?;
    (base.is_empty() || base.ends_with(' ')).then_some((base, number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_beginning_ends_after_a_word_where_there_are_words() {
        let long = "replace return a - b with return a + b in src/app.py and say why";
        assert_eq!(beginning(long), "replace return a - b with return a + b in src/app.py and say…");
        assert_eq!(beginning("  two\n words "), "two words");
        assert_eq!(beginning(&"字".repeat(61)), format!("{}…", "字".repeat(60)));
        assert_eq!(beginning(&format!("go {}", "x".repeat(80))), format!("go {}…", "x".repeat(57)));
        assert_eq!(beginning(&format!("{} more", "x".repeat(60))), format!("{}…", "x".repeat(60)));
    }

    #[test]
    fn a_copy_has_the_next_number() {
        for (title, taken, expected) in [
            ("Fix it", &["Fix it"][..], "Fix it (2)"),
            ("Fix it", &["Fix it", "Fix it (2)", "Fix it (7)", "Fix them (9)"], "Fix it (8)"),
            ("Fix it (2)", &["Fix it (2)"], "Fix it (3)"),
            ("f(2)", &[], "f(2) (2)"),
            ("Report (2026x)", &[], "Report (2026x) (2)"),
            ("", &[], "(2)"),
        ] {
            assert_eq!(next(title, taken.iter().copied()), expected, "{title}");
        }
    }

    proptest! {
        #[test]
        fn no_two_copies_have_one_title(title in "[a-z (0-9)]{0,12}", more in 1usize..5) {
            let mut all = vec![title.clone()];
            for _ in 0..more {
                let copy = next(&title, all.iter().map(String::as_str));
                prop_assert!(!all.contains(&copy), "{copy:?} {all:?}");
                all.push(copy);
            }
        }
    }
}
