//! Word changes within changed lines: removed lines are compared with the added ones that replace them.

use crate::domain::diff::{DiffKind, DiffLine};
use similar::{ChangeTag, TextDiff};
use std::ops::Range;

/// Bytes of a line that is compared word by word.
const LONGEST: usize = 1_000;
/// Lines of one run that are compared.
const RUN: usize = 200;
/// Lines that have less in common than this are others, not changed ones.
const ALIKE: f32 = 0.5;

/// For each line the bytes of its text, as `shown` gives it, that are not in its counterpart. Lines without a counterpart
/// have none: all of them is new.
pub(super) fn changed(lines: &[DiffLine], shown: &dyn Fn(&str) -> String) -> Vec<Vec<Range<usize>>> {
    let mut out = vec![Vec::new(); lines.len()];
    let run = |from: usize, kind: DiffKind| {
        lines.get(from..).unwrap_or_default().iter().take_while(|line| line.kind == kind).count()
    };
    let mut at = 0;
    while at < lines.len() {
        let gone = run(at, DiffKind::Removed);
        let came = run(at + gone, DiffKind::Added);
        for n in 0..gone.min(came).min(RUN) {
            let (one, other) = (at + n, at + gone + n);
            let (Some(old), Some(new)) = (lines.get(one), lines.get(other)) else { continue };
            if old.text.len().max(new.text.len()) > LONGEST {
                continue;
            }
            let (before, after) = between(&shown(&old.text), &shown(&new.text));
            if let Some(ranges) = out.get_mut(one) {
                *ranges = before;
            }
            if let Some(ranges) = out.get_mut(other) {
                *ranges = after;
            }
        }
        at += (gone + came).max(1);
    }
    out
}

/// The bytes that only the old line has, and those that only the new one has; nothing where they have little in common.
fn between(old: &str, new: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let diff = TextDiff::configure().diff_unicode_words(old, new);
    let mut same = 0;
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let (mut one, mut other) = (0, 0);
    for change in diff.iter_all_changes() {
        let text = change.value();
        match change.tag() {
            ChangeTag::Equal => {
                same += weight(text);
                one += text.len();
                other += text.len();
            }
            ChangeTag::Delete => add(&mut before, &mut one, text),
            ChangeTag::Insert => add(&mut after, &mut other, text),
        }
    }
    let all = weight(old).max(weight(new)).max(1);
    if (same as f32) < ALIKE * all as f32 { (Vec::new(), Vec::new()) } else { (before, after) }
}

/// Bytes that are no blanks.
fn weight(text: &str) -> usize {
    text.chars().filter(|c| !c.is_whitespace()).map(char::len_utf8).sum()
}

fn add(ranges: &mut Vec<Range<usize>>, at: &mut usize, text: &str) {
    let range = *at..*at + text.len();
    *at = range.end;
    match ranges.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(old: &str, new: &str) -> (Vec<String>, Vec<String>) {
        let (before, after) = between(old, new);
        let of = |text: &str, ranges: Vec<Range<usize>>| ranges.into_iter().map(|r| text[r].to_owned()).collect();
        (of(old, before), of(new, after))
    }

    #[test]
    fn words_not_letters() {
        let strings = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        assert_eq!(marked("let count = 1;", "let total = 1;"), (strings(&["count"]), strings(&["total"])));
        assert_eq!(marked("a + b", "a + b + c"), (strings(&[]), strings(&[" + c"])));
        assert_eq!(marked("same", "same"), (strings(&[]), strings(&[])));
        assert_eq!(marked("nothing here", "is alike at all"), (strings(&[]), strings(&[])));
    }

    proptest::proptest! {
        #[test]
        fn ranges_are_in_their_text(old in "[a日 .é]{0,12}", new in "[a日 .é]{0,12}") {
            let (before, after) = between(&old, &new);
            proptest::prop_assert!(before.iter().all(|r| old.get(r.clone()).is_some()));
            proptest::prop_assert!(after.iter().all(|r| new.get(r.clone()).is_some()));
        }
    }
}
