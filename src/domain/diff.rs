//! The difference between two texts, as values that the screen can draw and the engine can count.

use serde::{Deserialize, Serialize};

/// What changes in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The changed places with three lines around each.
    pub hunks: Vec<Hunk>,
}

/// One changed place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// First line in the old text, from 1.
    pub old_start: u32,
    /// First line in the new text, from 1.
    pub new_start: u32,
    /// The lines in order, without their newline.
    pub lines: Vec<DiffLine>,
}

/// One line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffLine {
    /// Whether the line stays, goes or comes.
    pub kind: DiffKind,
    /// The line without its newline.
    pub text: String,
}

/// What happens to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DiffKind {
    /// Unchanged.
    Same,
    /// Only in the old text.
    Removed,
    /// Only in the new text.
    Added,
}

impl FileDiff {
    /// Compares two texts line by line. Gives up on exactness after half a second on very large texts, never on truth.
    #[must_use]
    pub fn between(path: &str, old: Option<&str>, new: &str) -> Self {
        let before = old.unwrap_or("");
        let diff =
            similar::TextDiff::configure().timeout(std::time::Duration::from_millis(500)).diff_lines(before, new);
        let mut out = Self { path: path.to_owned(), is_new: old.is_none(), ..Self::default() };
        for group in diff.grouped_ops(3) {
            let Some(first) = group.first() else { continue };
            let mut hunk = Hunk {
                old_start: number(first.old_range().start) + 1,
                new_start: number(first.new_range().start) + 1,
                lines: Vec::new(),
            };
            for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
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
                let text = change.value().trim_end_matches(['\n', '\r']).to_owned();
                hunk.lines.push(DiffLine { kind, text });
            }
            out.hunks.push(hunk);
        }
        out
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_hunks() {
        let d = FileDiff::between("a", Some("1\n2\n3\n4\n5\n6\n7\n8\n9\n"), "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n");
        assert_eq!((d.added, d.removed, d.hunks.len(), d.is_new), (2, 1, 1, false));
        let d = FileDiff::between("a", None, "x\ny\n");
        assert_eq!((d.added, d.removed, d.is_new), (2, 0, true));
        assert_eq!(FileDiff::between("a", Some("same"), "same").hunks, vec![]);
    }
}
