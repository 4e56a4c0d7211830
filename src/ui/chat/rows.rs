//! The rows that are no talk: failures with what helps, remarks, mode changes, interruptions, compaction, plans, and
//! lines that cannot be read.

use super::laid_out_line::{LaidOutLine, Unfold, laid_lines};
use super::plan::{carried_out, figures};
use super::row::{Level, Row};
use super::source_lines::plain;
use super::stream::Stream;
use super::style::ChatStyle;
use crate::domain::Mode;
use crate::domain::message::{Failure, FailureAction, Info, InfoKind, Odd, Plan};
use crate::domain::notice::Level as Loudness;
use crate::domain::plan::Progress;
use crate::domain::sanitise::{clean_line, clean_message};
use crate::theme::Role;
use crate::ui::glyphs::Glyphs;
use crate::ui::mode::mode_role;
use crate::ui::text::{self, Fold, lead_within, wrap};
use ratatui::text::{Line, Span};
use std::path::Path;

/// Lines of what a server said, while the row is folded.
const DETAIL: usize = 2;

/// A failure.
pub(super) fn failure(failure: &Failure, row: &Row<'_>) -> Vec<LaidOutLine> {
    let mark = row.look.glyph("✗ ", "x ");
    let title = clean_line(&failure.title);
    let title = if title.trim().is_empty() { clean_line(&failure.code) } else { title };
    let mut out = row.words(mark, &title, Role::Error);
    let lead = [Span::raw("  ")];
    if !failure.text.trim().is_empty() {
        for line in clean_message(failure.text.trim()).split('\n') {
            out.extend(plain(line, row.look.style(Role::Text), row.width, &lead, Fold::Words, &row.look));
        }
    }
    if !failure.detail.trim().is_empty() {
        let mut lines = Vec::new();
        for line in clean_message(failure.detail.trim()).split('\n') {
            lines.extend(plain(line, row.look.style(Role::Dim), row.width, &lead, Fold::Words, &row.look));
        }
        let hidden = if row.level == Level::Full { 0 } else { lines.len().saturating_sub(DETAIL) };
        lines.truncate(lines.len() - hidden);
        out.extend(lines);
        if hidden > 0 {
            out.push(row.more(hidden, Unfold::Here));
        }
    }
    // What helped an older failure is no help any more.
    if row.last && !failure.actions.is_empty() {
        let mut spans = Vec::new();
        for (action, key) in row.helps.iter().filter(|(action, _)| failure.actions.contains(action)) {
            if !spans.is_empty() {
                spans.push(Span::raw("   "));
            }
            let word = match action {
                FailureAction::Retry => "try again",
                FailureAction::Model => "another model",
                FailureAction::Settings => "settings",
                FailureAction::Compact => "compact",
                FailureAction::NewSession => "new session",
            };
            spans.push(Span::styled(key.clone(), row.look.style(Role::Key)));
            spans.push(Span::styled(format!(" {word}"), row.look.style(Role::Dim)));
        }
        if !spans.is_empty() {
            out.extend(wrap(&spans, row.width, &lead, &lead, Fold::Words).into_iter().map(LaidOutLine::quiet));
        }
    }
    out
}

/// A remark of the program.
pub(super) fn info(info: &Info, row: &Row<'_>) -> Vec<LaidOutLine> {
    let text = clean_line(info.text.trim());
    match info.kind {
        InfoKind::ModeChanged => {
            // The mode that is named last is the one that holds now.
            let named = Mode::ALL.into_iter().filter_map(|mode| Some((text.rfind(mode.shown())?, mode))).max();
            let signs = Glyphs::of(row.look.glyphs);
            let (sign, role) = named.map_or((signs.dot, Role::Dim), |(_, mode)| (signs.mode(mode), mode_role(mode)));
            row.words(&format!("{sign} "), &text, role)
        }
        InfoKind::Interrupted | InfoKind::Restarted | InfoKind::Ended => {
            row.words(row.look.glyph("■ ", "# "), &text, Role::Warning)
        }
        InfoKind::Compacted => {
            let lines = divider(&text, row.width, &row.look);
            lines.into_iter().map(|line| LaidOutLine::standing_for(line, text.as_ref())).collect()
        }
        InfoKind::Restored => row.words(row.look.glyph("↶ ", "< "), &text, Role::Accent),
        InfoKind::JobEnded => row.words(row.look.glyph("· ", "- "), &text, Role::Dim),
        InfoKind::Remark => match info.level {
            Loudness::Info => row.words(row.look.glyph("· ", "- "), &text, Role::Dim),
            Loudness::Warning => row.words("! ", &text, Role::Warning),
            Loudness::Error => row.words(row.look.glyph("✗ ", "x "), &text, Role::Error),
        },
    }
}

/// The approval of a plan, which nobody typed.
pub(super) fn approval(mode: Option<Mode>, row: &Row<'_>) -> Vec<LaidOutLine> {
    let mode = mode.map_or_else(String::new, |mode| format!("{}{}", row.look.glyph(" · ", " - "), mode.shown()));
    let text = format!("Plan approved{mode}");
    let lines = divider(&text, row.width, &row.look);
    lines.into_iter().map(|line| LaidOutLine::standing_for(line, text.as_str())).collect()
}

/// `── text ────────`
pub(super) fn divider(text: &str, width: usize, look: &ChatStyle<'_>) -> Vec<Line<'static>> {
    let dash = look.glyph("─", "-");
    let style = look.style(Role::Rule);
    let text = text::cut_with(text, width.saturating_sub(6), look.ellipsis());
    let left = width.saturating_sub(4 + text::width(&text));
    if text.is_empty() {
        return vec![text::line(dash.repeat(width), style)];
    }
    vec![Line::from(vec![
        Span::styled(format!("{} ", dash.repeat(2)), style),
        Span::styled(text.into_owned(), look.style(Role::Dim)),
        Span::styled(format!(" {}", dash.repeat(left)), style),
    ])]
}

/// Progress of this plan, if it is being carried out.
pub(super) fn progress<'a>(plan: &Plan, row: &Row<'a>) -> Option<&'a Progress> {
    row.plan.filter(|progress| progress.path == Path::new(&plan.path))
}

/// A submitted plan.
pub(super) fn plan(plan: &Plan, row: &Row<'_>) -> Vec<LaidOutLine> {
    let look = &row.look;
    let style = look.style(Role::PanelTitle);
    let bar = [Span::styled(look.glyph("▌ ", "| "), look.style(Role::Accent))];
    let bar = lead_within(&bar, row.width);
    let name = clean_line(plan.path.rsplit('/').next().unwrap_or_default()).into_owned();
    let mut title = vec![Span::styled("plan", style), Span::styled(format!("  {name}"), look.style(Role::Dim))];
    let inner = row.width - text::spans_width(bar);
    let lines = match progress(plan, row) {
        None => {
            let mut stream = Stream::default();
            stream.update(plan.markdown.trim(), inner, look);
            stream.into_inks()
        }
        Some(progress) => {
            title.push(Span::styled(format!("  {}", figures(progress)), look.style(Role::Accent)));
            laid_lines(carried_out(plan.markdown.trim(), progress, inner, look))
        }
    };
    if row.level == Level::Line {
        let used = text::spans_width(&title) + 2;
        let more = Row { width: inner.saturating_sub(used), ..*row }.more(lines.len(), Unfold::Here).line;
        let gap = [Span::raw("  ")];
        let spans: Vec<_> = title.into_iter().chain(gap).chain(more.spans).collect();
        return wrap(&spans, row.width, bar, bar, Fold::Words).into_iter().map(LaidOutLine::quiet).collect();
    }
    let mut out: Vec<LaidOutLine> =
        wrap(&title, row.width, bar, bar, Fold::Words).into_iter().map(LaidOutLine::quiet).collect();
    out.extend(lines.into_iter().map(|line| line.behind(bar)));
    out
}

/// A line that cannot be shown as anything else.
pub(super) fn odd(odd: &Odd, row: &Row<'_>) -> Vec<LaidOutLine> {
    let place = if odd.line == 0 { String::new() } else { format!(" (line {})", odd.line) };
    let view = if row.level == Level::Line { ", Enter: view raw" } else { "" };
    let mut out = row.words("? ", &format!("{}{place}{view}", clean_line(odd.what.trim())), Role::Dim);
    if row.level != Level::Line {
        for line in clean_message(&odd.raw).split('\n') {
            let lead = [Span::raw("  ")];
            out.extend(plain(line, row.look.style(Role::ToolOutput), row.width, &lead, Fold::Anywhere, &row.look));
        }
    }
    out
}
