//! The line of a text that is shown for a hit, cut to a window around what was found.

use crate::domain::query::Query;
use crate::domain::{fold, sanitise};
use unicode_segmentation::GraphemeCursor;

/// Characters that are shown.
const WINDOW: usize = 200;
/// Number of characters before the hit, if the line is longer.
const BEFORE: usize = 40;

/// The line with the most words of the query, harmless for a screen, and the marked bytes of it.
pub(super) fn excerpt(query: &Query, text: &str) -> (String, Vec<(usize, usize)>) {
    let mut folded = Vec::new();
    let mut count = |line: &str| {
        folded.clear();
        fold::fold_into(line.as_bytes(), &mut folded);
        let bits = query.holds(&folded).0;
        let first = query.words.iter().filter_map(|word| word.find(&folded, 0)).min();
        (bits, first)
    };
    let (all, first) = count(text);
    let mut best: Option<(u32, &str, usize)> = None;
    for line in text.lines() {
        let (bits, Some(first)) = count(line) else { continue };
        if best.is_none_or(|(words, ..)| bits.count_ones() > words) {
            best = Some((bits.count_ones(), line, first));
        }
        if bits == all {
            break;
        }
    }
    // A phrase that goes over the end of a line is in none of them, so the whole text is the line.
    let (line, first) = match (best, first) {
        (Some((_, line, first)), _) => (line, first),
        (None, Some(first)) => (text, first),
        (None, None) => (text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default(), 0),
    };
    let shown = window(line, fold::place(line, first));
    let shown = sanitise::clean_line(&shown).into_owned();
    let marks = query.marks(&shown);
    (shown, marks)
}

/// At most about [`WINDOW`] characters of the line around byte `at`; dots stand for what was cut off.
fn window(line: &str, at: usize) -> String {
    let blank = line.len() - line.trim_start().len();
    let start = line[..at].char_indices().rev().nth(BEFORE - 1).map_or(0, |(start, _)| start).max(blank).min(at);
    let reach = |from: usize| line[from..].char_indices().nth(WINDOW).map(|(end, _)| from + end);
    // What fits as a whole is not cut at its beginning.
    let start = match reach(blank.min(at)) {
        None => blank.min(at),
        Some(_) => boundary(line, start),
    };
    let end = reach(start).map_or(line.trim_end().len().max(start), |end| boundary(line, end).max(at));
    let mut out = String::with_capacity(end - start + 6);
    if start > blank {
        out.push('…');
    }
    out.push_str(&line[start..end]);
    if end < line.trim_end().len() {
        out.push('…');
    }
    out
}

/// The nearest place at or before `at` where no grapheme is cut. One that is longer than anybody reads is cut.
fn boundary(line: &str, at: usize) -> usize {
    let back = line[..at].char_indices().rev().map(|(place, _)| place);
    let whole = |place: &usize| GraphemeCursor::new(*place, line.len(), true).is_boundary(line, 0).unwrap_or(true);
    std::iter::once(at).chain(back).take(32).find(whole).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(query: &str, text: &str) -> (String, Vec<String>) {
        let (line, marks) = excerpt(&Query::parse(query).unwrap(), text);
        let marks = marks.into_iter().map(|(start, end)| line[start..end].to_owned()).collect();
        (line, marks)
    }

    #[test]
    fn the_line_with_the_most_words_is_shown() {
        let text = "first foo\n  bar and Foo\nbar";
        assert_eq!(of("foo bar", text), ("bar and Foo".into(), vec!["bar".into(), "Foo".into()]));
        assert_eq!(of("\"foo bar\"", "x\nfoo\nbar y"), ("x foo bar y".into(), vec!["foo bar".into()]));
        assert_eq!(of("tool:bash", "\n \n ls -l\nx"), ("ls -l".into(), vec![]));
        assert_eq!(of("red", "a \u{1b}[31mred\u{1b}[0m\ttext"), ("a red text".into(), vec!["red".into()]));
    }

    #[test]
    fn a_long_line_is_cut_around_the_first_mark() {
        let (line, marks) = of("needle", &format!("{}needle{}", "ä ".repeat(400), " ö".repeat(400)));
        assert_eq!(marks, ["needle"]);
        assert!(line.starts_with('…') && line.ends_with('…') && line.chars().count() <= WINDOW + 2, "{line}");
        assert_eq!(line.find("needle"), Some("…".len() + 20 * "ä ".len()));
        let family = "👩\u{200d}👩\u{200d}👧\u{200d}👦";
        let (line, _) = of("needle", &format!("{}needle{}", family.repeat(90), family.repeat(90)));
        let whole = line.trim_matches('…').replace(family, "");
        assert_eq!(whole, "needle");
    }

    proptest! {
        #[test]
        fn what_is_in_the_text_is_marked_in_the_line(
            before in "[a-mäé漢 \n]{0,300}", needle in "[n-z]{1,4}", after in "[a-mäé漢 \n]{0,300}",
        ) {
            let (line, marks) = of(&needle, &format!("{before}{needle}{after}"));
            prop_assert_eq!(marks, [needle]);
            prop_assert!(line.chars().count() <= WINDOW + 2);
        }
    }
}
