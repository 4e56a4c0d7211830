//! A change of a file as numbered lines. Also the user's ground for an approval: so every suspicious character shows.

use super::look::Look;
use super::markdown::bounded;
use crate::domain::diff::{DiffKind, FileDiff};
use crate::domain::lookalike::expose;
use crate::domain::sanitise::reveal;
use crate::theme::Role;
use crate::ui::text::{Fold, expand_tabs, wrap};
use ratatui::text::{Line, Span};

/// All lines of the change: number, sign, text; a mark between the changed places.
pub(super) fn lines(diff: &FileDiff, width: usize, look: &Look<'_>) -> Vec<Line<'static>> {
    let meta = look.style(Role::DiffMeta);
    if diff.hunks.is_empty() {
        let text = if diff.is_new { "an empty file" } else { "no change" };
        return wrap(&[Span::styled(text, meta)], width, &[], &[], Fold::Words);
    }
    let highest = diff.hunks.iter().map(|h| {
        let lines = u32::try_from(h.lines.len()).unwrap_or(u32::MAX);
        h.old_start.max(h.new_start).saturating_add(lines)
    });
    let digits = highest.max().unwrap_or(1).to_string().len();
    let mut out = Vec::new();
    for (number, hunk) in diff.hunks.iter().enumerate() {
        if number > 0 {
            let gap = Span::styled(format!("{:>digits$}", look.glyph("⋮", ":")), meta);
            out.extend(wrap(&[gap], width, &[], &[], Fold::Anywhere));
        }
        let (mut old, mut new) = (hunk.old_start, hunk.new_start);
        for line in &hunk.lines {
            let (at, sign, role) = match line.kind {
                DiffKind::Same => (new, ' ', Role::Text),
                DiffKind::Removed => (old, '-', Role::DiffRemoved),
                DiffKind::Added => (new, '+', Role::DiffAdded),
            };
            old = old.saturating_add(u32::from(line.kind != DiffKind::Added));
            new = new.saturating_add(u32::from(line.kind != DiffKind::Removed));
            let style = look.style(role);
            let first = [Span::styled(format!("{at:>digits$} "), meta), Span::styled(format!("{sign} "), style)];
            let rest = [Span::raw(" ".repeat(digits + 3))];
            let (kept, more) = bounded(&line.text, look);
            // A newline cannot stand in a line; if one does, it is a blank of its own.
            let text = expand_tabs(&reveal(kept)).replace('\n', " ");
            let spans: Vec<_> = [Span::styled(text, style)].into_iter().chain(more).collect();
            out.extend(wrap(&spans, width, &first, &rest, Fold::Anywhere));
        }
    }
    out
}

/// The changes of several files, each under its name and what becomes of it.
pub(super) fn several<'a>(
    diffs: impl Iterator<Item = &'a FileDiff>,
    width: usize,
    look: &Look<'_>,
) -> Vec<Line<'static>> {
    let mut out = Vec::new();
    for diff in diffs {
        if !out.is_empty() {
            out.push(Line::default());
        }
        let mut name = vec![Span::styled(expose(&diff.path), look.style(Role::Strong))];
        let fate = match diff {
            FileDiff { is_new: true, .. } => "  new".to_owned(),
            FileDiff { is_gone: true, .. } => "  deleted".to_owned(),
            FileDiff { moved_from: Some(from), .. } => format!("  was {}", expose(from)),
            _ => String::new(),
        };
        name.push(Span::styled(fate, look.style(Role::DiffMeta)));
        name.push(Span::styled(format!("  +{}", diff.added), look.style(Role::DiffAdded)));
        let minus = look.glyph("−", "-");
        name.push(Span::styled(format!(" {minus}{}", diff.removed), look.style(Role::DiffRemoved)));
        out.extend(wrap(&name, width, &[], &[], Fold::Anywhere));
        // One that only moves has nothing else to show.
        if !diff.hunks.is_empty() || diff.moved_from.is_none() {
            out.extend(lines(diff, width, look));
        }
    }
    out
}

/// The change as a patch: for copying.
pub(super) fn plain(diff: &FileDiff) -> String {
    let mut out = String::new();
    for hunk in &diff.hunks {
        out.push_str("@@\n");
        for line in &hunk.lines {
            out.push(match line.kind {
                DiffKind::Same => ' ',
                DiffKind::Removed => '-',
                DiffKind::Added => '+',
            });
            out.push_str(&line.text);
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::Theme;
    use crate::ui::chat::Glyphs;

    fn shown(old: Option<&str>, new: &str, width: usize) -> Vec<String> {
        let theme = Theme::plain();
        let look = Look { theme: &theme, glyphs: Glyphs::Unicode };
        lines(&FileDiff::between("a", old, new), width, &look).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn numbers_signs_and_hidden_characters() {
        let old = (1..30).map(|i| format!("line {i}\n")).collect::<String>();
        let new = old.replace("line 2\n", "\tli\u{200b}ne two\x1b[8m\n").replace("line 28\n", "");
        assert_eq!(
            shown(Some(&old), &new, 40),
            [
                " 1   line 1",
                " 2 - line 2",
                " 2 +     li⟦U+200B⟧ne two␛[8m",
                " 3   line 3",
                " 4   line 4",
                " 5   line 5",
                " ⋮",
                "25   line 25",
                "26   line 26",
                "27   line 27",
                "28 - line 28",
                "28   line 29",
            ]
        );
        assert_eq!(shown(None, "a long line\n", 10), ["1 + a long", "     line"]);
        assert_eq!(shown(None, "", 20), ["an empty file"]);
        assert_eq!(shown(Some("x"), "x", 20), ["no change"]);
    }
}
