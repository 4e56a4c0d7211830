//! Inputs of one row's layout, and texts that rows share: times, folds.

use super::laid_out_line::{LaidOutLine, Source, Unfold, laid_out};
use super::picture::Sight;
use super::style::ChatStyle;
use crate::app::state::chat::{Chat, Density, Entry};
use crate::domain::message::FailureAction;
use crate::domain::plan::Progress;
use crate::domain::{At, Body};
use crate::theme::Role;
use crate::ui::text::{Fold, cut_with, line};
use ratatui::text::{Line, Span};

/// Shown part of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// Its identity on one line.
    Line,
    /// Results that people look for: a change, a failure, the begin of a list.
    Results,
    /// The last lines of its output too.
    Tail,
    /// Everything.
    Full,
}

/// Inputs of one row's layout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    pub(super) look: ChatStyle<'a>,
    /// Cells of text.
    pub(super) width: usize,
    /// Cells of what is not read line by line: changes beside each other.
    pub(super) wide: usize,
    pub(super) level: Level,
    /// The level as long as the row is not unfolded.
    pub(super) usual: Level,
    /// The instant of the frame.
    pub(super) now: At,
    /// No row stands below it.
    pub(super) last: bool,
    /// The plan that is carried out.
    pub(super) plan: Option<&'a Progress>,
    /// Old and new of a change stand beside each other where there is room.
    pub(super) beside: bool,
    /// Keys for what helps after a failure.
    pub(super) helps: &'a [(FailureAction, String)],
    /// State of pictures.
    pub(super) pictures: Sight<'a>,
}

impl Row<'_> {
    /// A line of words that is wrapped, with a lead that hangs.
    pub(super) fn words(&self, lead: &str, text: &str, role: Role) -> Vec<LaidOutLine> {
        let style = self.look.style(role);
        let rest = Span::raw(" ".repeat(crate::ui::text::width(lead)));
        let (text, first) = ([Span::styled(text.to_owned(), style)], [Span::styled(lead.to_owned(), style)]);
        let laid = laid_out(&text, self.width, &first, &[rest], Fold::Words, Source::default());
        laid.into_iter().map(|(laid_line, _)| laid_line).collect()
    }

    /// One dim line, cut.
    pub(super) fn hint(&self, text: &str) -> Line<'static> {
        line(cut_with(text, self.width, self.look.ellipsis()).into_owned(), self.look.style(Role::Dim))
    }

    /// `… 280 more lines`, before its key.
    pub(super) fn more(&self, count: usize, unfold: Unfold) -> LaidOutLine {
        let lines = if count == 1 { "line" } else { "lines" };
        let said = self.hint(&format!("{} {} more {lines}", self.look.ellipsis(), thousands(count as u64)));
        LaidOutLine { more: Some(unfold), ..LaidOutLine::quiet(said) }
    }

    /// Cells of a fold mark.
    pub(super) const FOLD: u16 = 2;

    /// The mark of a row that can be unfolded. `open`: some of what it hides is shown.
    pub(super) fn fold(&self, open: bool) -> &'static str {
        if open { self.look.glyph("▾ ", "v ") } else { self.look.glyph("▸ ", "> ") }
    }
}

/// Shown part of a call that is not unfolded.
pub(super) fn usual(density: Density) -> Level {
    match density {
        Density::Lines => Level::Results,
        Density::Tails => Level::Tail,
        Density::Full => Level::Full,
    }
}

/// Shown part of an entry. `asked_plan` as in [`super::ChatOpts`].
pub(super) fn level(chat: &Chat, entry: &Entry, asked_plan: Option<&str>) -> Level {
    let toggled = chat.toggled.contains(&entry.key);
    match (&entry.message.body, chat.density, toggled) {
        (Body::Thinking(_), _, _) if chat.thinking != toggled => Level::Full,
        (Body::Thinking(_), _, _) => Level::Line,
        (Body::Plan(plan), _, toggled) => {
            if toggled != (asked_plan == Some(plan.path.as_str())) {
                Level::Line
            } else {
                Level::Full
            }
        }
        (Body::Odd(_) | Body::Error(_), density, toggled) => {
            if toggled != (density == Density::Full) {
                Level::Full
            } else {
                Level::Line
            }
        }
        (_, Density::Full, true) => Level::Line,
        (_, density, false) => usual(density),
        (_, Density::Lines | Density::Tails, true) => Level::Full,
    }
}

/// A time that passed, for a figure: `30ms`, `0.4s`, `6.2s`, `42s`, `3m 20s`, `1h 05m`.
pub(super) fn lasted(ms: u64) -> String {
    if ms < 100 {
        // Not "0.0s".
        format!("{ms}ms")
    } else if ms < 9_950 {
        format!("{:.1}s", ms as f64 / 1000.0)
    } else {
        seconds(ms.saturating_add(500))
    }
}

/// The same in whole seconds.
pub(super) fn seconds(ms: u64) -> String {
    match ms / 1000 {
        s @ 0..60 => format!("{s}s"),
        s @ 60..3600 => format!("{}m {:02}s", s / 60, s % 60),
        s => format!("{}h {:02}m", s / 3600, s % 3600 / 60),
    }
}

/// `1,234`.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
