//! The difference between two texts, as values that the screen can draw and the engine can count.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use similar::DiffableStr;
use std::ops::Range;

/// Change of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileDiff {
    /// The file, as shown to the user (relative to the working directory where it lies below it).
    pub path: String,
    /// The file does not exist yet.
    pub is_new: bool,
    /// The file is deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_gone: bool,
    /// The file had this path before, as shown to the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
    /// The changed places with three lines around each; of long ones the beginning.
    pub hunks: Vec<Hunk>,
    /// Lines of the changed places that are left out because they are too much to be shown.
    #[serde(default, skip_serializing_if = "is_none")]
    pub left_out: u32,
    /// Lines of which only a part is kept. What is missing is said in them.
    #[serde(default, skip_serializing_if = "is_none")]
    pub cut: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_none(count: &u32) -> bool {
    *count == 0
}

/// Limits of a stored change.
#[derive(Clone, Copy, Debug)]
struct Bound {
    /// Bytes of all lines.
    all: usize,
    /// Bytes of one line that is kept whole.
    line: usize,
}

/// Limits of a change that a person is asked about.
const SHOWN: Bound = Bound { all: 4_000_000, line: 20_000 };
/// Limits of a change in the row of a call.
const KEPT: Bound = Bound { all: ROW, line: 2_000 };
/// Bytes of all changes of one call that stay in its row.
pub const ROW: usize = 64_000;
/// Bytes that are kept before and behind what changed in a longer line.
const AROUND: usize = 300;

/// One changed place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hunk {
    /// First line in the old text, from 1.
    pub old_start: u32,
    /// First line in the new text, from 1.
    pub new_start: u32,
    /// The lines in order, without their newline.
    pub lines: Vec<DiffLine>,
}

/// One line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiffLine {
    /// Context, removed or added.
    pub kind: DiffKind,
    /// The line without its newline.
    pub text: String,
}

/// Kind of a diff line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DiffKind {
    /// Unchanged.
    Same,
    /// Only in the old text.
    Removed,
    /// Only in the new text.
    Added,
}

impl Hunk {
    /// Lines of this kind.
    #[must_use]
    pub fn count_of(&self, kind: DiffKind) -> u32 {
        u32::try_from(self.lines.iter().filter(|line| line.kind == kind).count()).unwrap_or(u32::MAX)
    }

    /// Its lines in the old text for [`DiffKind::Removed`], in the new one for [`DiffKind::Added`], from 0.
    fn range_of(&self, side: DiffKind) -> Range<usize> {
        let start = if side == DiffKind::Removed { self.old_start } else { self.new_start };
        let start = usize::try_from(start.saturating_sub(1)).unwrap_or(usize::MAX);
        let lines = self.lines.iter().filter(|line| line.kind == DiffKind::Same || line.kind == side).count();
        start..start.saturating_add(lines)
    }

    /// The first and the last changed line in the old text, from 1; where only lines come, the line that they come
    /// before.
    #[must_use]
    pub fn changed_lines(&self) -> (u32, u32) {
        let mut at = self.old_start;
        let mut found: Option<(u32, u32)> = None;
        for line in &self.lines {
            if line.kind != DiffKind::Same {
                let (first, last) = found.unwrap_or((at, at));
                found = Some((first, if line.kind == DiffKind::Removed { at } else { last }));
            }
            at = at.saturating_add(u32::from(line.kind != DiffKind::Added));
        }
        found.unwrap_or((self.old_start, self.old_start))
    }
}

impl FileDiff {
    /// Compares two texts line by line. Gives up on exactness after half a second on very large texts, never on truth.
    /// The kept part is bounded, however long the lines are: the counts are exact, and what is left out is said.
    #[must_use]
    pub fn between(path: &str, old: Option<&str>, new: &str) -> Self {
        let before = old.unwrap_or("");
        let diff =
            similar::TextDiff::configure().timeout(std::time::Duration::from_millis(500)).diff_lines(before, new);
        let mut out = Self { path: path.to_owned(), is_new: old.is_none(), ..Self::default() };
        let (olds, news): (Vec<&str>, Vec<&str>) = (diff.iter_old_slices().collect(), diff.iter_new_slices().collect());
        let mut left = SHOWN.all;
        for group in diff.grouped_ops(3) {
            let Some(first) = group.first() else { continue };
            let mut hunk = Hunk {
                old_start: number(first.old_range().start) + 1,
                new_start: number(first.new_range().start) + 1,
                lines: Vec::new(),
            };
            for op in &group {
                for change in diff.iter_changes(op) {
                    let kind = match change.tag() {
                        similar::ChangeTag::Equal => DiffKind::Same,
                        similar::ChangeTag::Delete => DiffKind::Removed,
                        similar::ChangeTag::Insert => DiffKind::Added,
                    };
                    match kind {
                        DiffKind::Added => out.added += 1,
                        DiffKind::Removed => out.removed += 1,
                        DiffKind::Same => {}
                    }
                    if left == 0 {
                        out.left_out += 1;
                        continue;
                    }
                    let line = trimmed(change.value());
                    // The line that it took the place of, or that took its place.
                    let partner = match (change.old_index(), change.new_index()) {
                        (Some(at), None) => {
                            let at = op.new_range().start + (at - op.old_range().start);
                            news.get(at).filter(|_| op.new_range().contains(&at))
                        }
                        (None, Some(at)) => {
                            let at = op.old_range().start + (at - op.new_range().start);
                            olds.get(at).filter(|_| op.old_range().contains(&at))
                        }
                        _ => None,
                    };
                    let text = cut(line, partner.map(|line| trimmed(line)), SHOWN.line, true);
                    out.cut += u32::from(text != line);
                    left = left.saturating_sub(text.len() + 1);
                    hunk.lines.push(DiffLine { kind, text });
                }
            }
            if !hunk.lines.is_empty() {
                out.hunks.push(hunk);
            }
        }
        out
    }

    /// The new text with the old one in the places of `struck`, given by their place in `hunks`. Lines are those that
    /// the places were found by. `None` where not all places are kept.
    #[must_use]
    pub fn text_without(&self, old: &str, new: &str, struck: &[usize]) -> Option<String> {
        if self.left_out > 0 {
            return None;
        }
        let (olds, news) = (old.tokenize_lines(), new.tokenize_lines());
        let mut out = String::with_capacity(old.len().max(new.len()));
        let mut at = 0;
        for (place, hunk) in self.hunks.iter().enumerate() {
            let (was, is) = (hunk.range_of(DiffKind::Removed), hunk.range_of(DiffKind::Added));
            out.extend(olds.get(at..was.start)?.iter().copied());
            let lines = if struck.contains(&place) { olds.get(was.clone())? } else { news.get(is)? };
            out.extend(lines.iter().copied());
            at = was.end;
        }
        out.extend(olds.get(at..)?.iter().copied());
        Some(out)
    }

    /// The same change of the same file, with none of its places.
    #[must_use]
    pub fn clone_without_hunks(&self) -> Self {
        Self {
            path: self.path.clone(),
            moved_from: self.moved_from.clone(),
            hunks: Vec::new(),
            is_new: self.is_new,
            is_gone: self.is_gone,
            added: self.added,
            removed: self.removed,
            left_out: self.left_out,
            cut: self.cut,
        }
    }

    /// Takes these places out of it, given by their place in `hunks`.
    pub fn strike(&mut self, struck: &[usize]) {
        let mut shift = 0_i64;
        let mut place = 0;
        let (added, removed) = (&mut self.added, &mut self.removed);
        self.hunks.retain_mut(|hunk| {
            let gone = struck.contains(&place);
            place += 1;
            let (more, less) = (hunk.count_of(DiffKind::Added), hunk.count_of(DiffKind::Removed));
            if gone {
                shift += i64::from(less) - i64::from(more);
                (*added, *removed) = (added.saturating_sub(more), removed.saturating_sub(less));
            } else {
                hunk.new_start = u32::try_from(i64::from(hunk.new_start) + shift).unwrap_or(1).max(1);
            }
            !gone
        });
    }

    /// Count of omitted lines; `None` if there are none.
    #[must_use]
    pub fn rest(&self) -> Option<String> {
        match self.left_out {
            0 => None,
            1 => Some("1 more line not shown".to_owned()),
            n => Some(format!("{n} more lines not shown")),
        }
    }

    /// The same as it stays in a row, of which `left` bytes are free.
    #[must_use]
    pub fn for_row(&self, left: &mut usize) -> Self {
        let mut out = Self { hunks: Vec::new(), ..self.clone() };
        for hunk in &self.hunks {
            let mut kept = Hunk { lines: Vec::new(), ..*hunk };
            for (at, line) in hunk.lines.iter().enumerate() {
                if *left == 0 {
                    out.left_out += 1;
                    continue;
                }
                // Of one that was cut before it is not known any more how much it lacks.
                let told = line.text.len() <= SHOWN.line;
                let text = cut(&line.text, partner(&hunk.lines, at), KEPT.line, told);
                out.cut += u32::from(text != line.text);
                *left = left.saturating_sub(text.len() + 1);
                kept.lines.push(DiffLine { kind: line.kind, text });
            }
            if !kept.lines.is_empty() {
                out.hunks.push(kept);
            }
        }
        out
    }
}

/// The line that took the place of the one at `at`, or whose place it took.
fn partner(lines: &[DiffLine], at: usize) -> Option<&str> {
    let kind = lines.get(at)?.kind;
    let begin = |mut at: usize, kind: DiffKind| {
        while at > 0 && lines.get(at - 1).is_some_and(|line| line.kind == kind) {
            at -= 1;
        }
        at
    };
    let first = begin(at, kind);
    let (from, other) = match kind {
        DiffKind::Same => return None,
        DiffKind::Removed => {
            let run = lines.get(first..).unwrap_or_default().iter().take_while(|line| line.kind == kind);
            (first + run.count(), DiffKind::Added)
        }
        DiffKind::Added => (begin(first, DiffKind::Removed), DiffKind::Removed),
    };
    let line = lines.get(from + (at - first)).filter(|line| line.kind == other && from + (at - first) != at)?;
    Some(&line.text)
}

fn trimmed(line: &str) -> &str {
    line.trim_end_matches(['\n', '\r'])
}

/// A line, or of a long one what differs from `partner` with a little around it; without a partner its two ends.
fn cut(line: &str, partner: Option<&str>, long: usize, told: bool) -> String {
    if line.len() <= long {
        return line.to_owned();
    }
    let (from, to) = match partner {
        None => (0, line.len()),
        Some(other) => {
            let same = line.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
            let most = line.len().min(other.len()) - same;
            let behind = line.bytes().rev().zip(other.bytes().rev()).take(most).take_while(|(a, b)| a == b).count();
            (same.saturating_sub(AROUND), (line.len() - behind + AROUND).min(line.len()))
        }
    };
    let (from, to) = (line.floor_char_boundary(from), line.ceil_char_boundary(to));
    let part = line.get(from..to).unwrap_or_default();
    let mut out = left_out(from, told);
    if part.len() <= long {
        out.push_str(part);
    } else {
        let (head, tail) = (part.floor_char_boundary(long / 2), part.ceil_char_boundary(part.len() - long / 2));
        out.push_str(part.get(..head).unwrap_or_default());
        out.push_str(&left_out(tail - head, told));
        out.push_str(part.get(tail..).unwrap_or_default());
    }
    out.push_str(&left_out(line.len() - to, told));
    out
}

/// Size of the omitted part of a line, if known.
fn left_out(bytes: usize, told: bool) -> String {
    match (bytes, told) {
        (0, _) => String::new(),
        (_, true) => format!("[\u{2026} {bytes} bytes \u{2026}]"),
        (_, false) => "[\u{2026}]".to_owned(),
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever is struck out: nothing gives the new text, everything the old one, and what is shown of the rest is
        /// the change that is left.
        #[test]
        fn struck_places_stay_as_they_were(
            old in prop::collection::vec(prop::sample::select(vec!["a\n", "b\n", "c\r\n", "\n", "d"]), 0..60),
            new in prop::collection::vec((0..60_usize, prop::sample::select(vec!["x\n", "y\r\n", ""])), 0..6),
            marks in any::<u64>(),
        ) {
            let before: String = old.concat();
            let mut lines: Vec<&str> = old.clone();
            for (at, line) in new {
                if let Some(place) = lines.get_mut(at) { *place = line } else { lines.push(line) }
            }
            let after: String = lines.concat();
            let diff = FileDiff::between("f", Some(&before), &after);
            let all: Vec<usize> = (0..diff.hunks.len()).collect();
            prop_assert_eq!(diff.text_without(&before, &after, &[]).unwrap(), after.clone());
            prop_assert_eq!(diff.text_without(&before, &after, &all).unwrap(), before.clone());
            let struck: Vec<usize> = all.iter().copied().filter(|at| marks >> (at % 64) & 1 == 1).collect();
            let left = diff.text_without(&before, &after, &struck).unwrap();
            let mut shown = diff.clone();
            shown.strike(&struck);
            let signs = |hunks: &[Hunk]| -> Vec<DiffLine> {
                hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.kind != DiffKind::Same).cloned().collect()
            };
            prop_assert_eq!(shown.text_without(&before, &left, &[]).unwrap(), left.clone());
            prop_assert_eq!(signs(&shown.hunks).len() as u32, shown.added + shown.removed);
        }
    }

    #[test]
    fn counts_and_hunks() {
        let d = FileDiff::between("a", Some("1\n2\n3\n4\n5\n6\n7\n8\n9\n"), "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n");
        assert_eq!((d.added, d.removed, d.hunks.len(), d.is_new), (2, 1, 1, false));
        let d = FileDiff::between("a", None, "x\ny\n");
        assert_eq!((d.added, d.removed, d.is_new), (2, 0, true));
        assert_eq!(FileDiff::between("a", Some("same"), "same").hunks, vec![]);
    }

    fn row(diff: &FileDiff) -> FileDiff {
        let mut left = ROW;
        diff.for_row(&mut left)
    }

    fn bytes(diff: &FileDiff) -> usize {
        diff.hunks.iter().flat_map(|hunk| &hunk.lines).map(|line| line.text.len()).sum()
    }

    #[test]
    fn what_changed_in_a_long_line_is_kept_with_a_little_around_it() {
        let line = |word: &str| format!("{}{word}{}", "ä".repeat(500_000), "b".repeat(1_000_000));
        let diff = FileDiff::between("a", Some(&line("old")), &line("new"));
        let texts: Vec<&str> = diff.hunks[0].lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!((diff.added, diff.removed, diff.left_out), (1, 1, 0));
        assert_eq!(diff.cut, 2);
        for (text, word) in texts.iter().zip(["old", "new"]) {
            assert!(text.len() < KEPT.line && text.contains(&format!("ä{word}b")), "{}", text.len());
            assert!(
                text.starts_with("[\u{2026} 999700 bytes \u{2026}]")
                    && text.ends_with("[\u{2026} 999700 bytes \u{2026}]")
            );
        }
        // Another line altogether: its two ends.
        let diff = FileDiff::between("a", None, &"x".repeat(1_000_000));
        assert!(bytes(&diff) < SHOWN.line + 100 && diff.hunks[0].lines[0].text.contains("980000 bytes"));
        let kept = row(&diff);
        assert!(bytes(&kept) < KEPT.line + 100, "{}", bytes(&kept));
    }

    #[test]
    fn a_line_is_cut_around_what_changed_in_it_also_in_a_row() {
        let line = |word: &str| format!("{}{word}{}", "a".repeat(5_000), "b".repeat(5_000));
        let (old, new) = (format!("one\n{}\nx\n", line("old")), format!("1\n{}\nx\n", line("new")));
        let diff = FileDiff::between("a", Some(&old), &new);
        assert_eq!((diff.cut, diff.left_out), (0, 0));
        let kept = row(&diff);
        assert_eq!(kept.cut, 2);
        for (line, word) in kept.hunks[0].lines.iter().filter(|line| line.text.len() > 10).zip(["old", "new"]) {
            assert!(line.text.contains(&format!("a{word}b")) && line.text.len() < 1_000, "{}", line.text);
        }
    }

    #[test]
    fn many_lines_are_counted_and_the_first_of_them_kept() {
        let text = "0123456789\n".repeat(100_000);
        let diff = FileDiff::between("a", None, &text);
        assert_eq!(diff.added, 100_000);
        assert_eq!((diff.hunks[0].lines.len(), diff.left_out), (100_000, 0), "all of it can be shown");
        let kept = row(&diff);
        assert!(bytes(&kept) <= ROW && kept.added == 100_000);
        assert_eq!(kept.hunks[0].lines.len() + kept.left_out as usize, 100_000);
    }
}
