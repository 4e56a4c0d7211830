//! Lines below a tool call: its result, as much of it as the density says.

use super::super::diff;
use super::super::files;
use super::super::laid_out_line::{CodeAt, LaidOutLine, Source, Unfold, coded};
use super::super::language::language_of;
use super::super::picture::PictureRows;
use super::super::row::{Level, Row};
use super::super::source_lines::{bounded, plain};
use super::{VERB, refusal};
use crate::domain::permission::Authority;
use crate::domain::sanitise::{clean, clean_line, reveal};
use crate::domain::tool::{ToolCall, ToolStatus};
use crate::theme::Role;
use crate::ui::text::{self, Fold};
use ratatui::text::Span;

/// Lines of output in a tail.
const TAIL: usize = 8;
/// Lines of output of an unfolded call.
const FULL: usize = 1_000;
/// Lines of a change that is not unfolded.
const CHANGED: usize = 12;
/// Lines of a failure that is not unfolded.
const FAILED: usize = 6;
/// Lines of the output of a command that the user typed.
const TYPED: usize = 12;
/// Entries of a list that is not unfolded.
const LISTED: usize = 3;
/// Tool that proposes a plan.
const PLAN: &str = "submit_plan";

/// Tools that give a list.
const LISTS: [&str; 3] = ["list", "glob", "grep"];

/// `… 280 more lines`, above the lines that are shown.
fn hidden_lines(row: &Row<'_>, hidden: usize, unfold: Unfold) -> LaidOutLine {
    LaidOutLine { skips: u32::try_from(hidden).unwrap_or(u32::MAX), ..row.more(hidden, unfold) }
}

/// The subject of an unfolded call whose line has no room for it.
pub(super) fn whole_subject(call: &ToolCall, row: &Row<'_>) -> Option<String> {
    let whole = reveal(call.subject.trim());
    let long = whole.contains('\n') || text::width(&whole) + VERB + 3 > row.width;
    (row.level == Level::Full && long).then_some(whole)
}

/// Lines below the head of a folded call: what people look for, and nothing of a call that went well and changed nothing.
pub(super) fn results(call: &ToolCall, row: &Row<'_>) -> Vec<LaidOutLine> {
    let output = Output::new(call, row);
    if refusal(call).is_some() || !call.status.ended() {
        return Vec::new();
    }
    if call.figures.changes().next().is_some() {
        return output.changes(CHANGED, Unfold::Here);
    }
    let typed = call.decision.as_ref().is_some_and(|by| by.authority == Authority::Typed);
    let failed = call.status == ToolStatus::Error || call.figures.exit.is_some_and(|code| code != 0);
    let result = printed(call);
    if result.trim().is_empty() {
        return Vec::new();
    }
    match () {
        () if typed => output.last(result, Role::ToolOutput, TYPED, Unfold::Here),
        // One line of a failure stands in the head.
        () if failed && (call.figures.exit.is_some() || result.trim().contains('\n')) => {
            output.last(result, Role::ToolOutput, FAILED, Unfold::Here)
        }
        () if !failed && LISTS.contains(&call.name.as_str()) => output.first(result, LISTED),
        () => Vec::new(),
    }
}

/// Lines below the head of an unfolded call, or of one with the last lines of what it gave.
pub(super) fn lines(call: &ToolCall, row: &Row<'_>) -> Vec<LaidOutLine> {
    let mut out = shown(call, row);
    if row.level == Level::Full {
        out.extend(allowed(call).map(|by| Output::new(call, row).remark(&by)).unwrap_or_default());
    }
    out
}

/// The same without the authority that allowed the call.
pub(super) fn shown(call: &ToolCall, row: &Row<'_>) -> Vec<LaidOutLine> {
    let output = Output::new(call, row);
    let full = row.level == Level::Full;
    let (limit, unfold) = if full { (FULL, Unfold::Program) } else { (TAIL, Unfold::Here) };
    let mut out = Vec::new();
    if let Some(whole) = whole_subject(call, row) {
        out.extend(output.last(&whole, Role::ToolSubject, 200, Unfold::Program));
    }
    if let Some(reason) = refusal(call) {
        out.extend(output.last(reason, Role::Warning, limit, unfold));
    } else if call.figures.changes().next().is_some() {
        out.extend(output.changes(if full { FULL } else { 2 * TAIL }, unfold));
    } else if let Some(lines) = call.result.as_deref().and_then(|result| numbered(call, result)) {
        out.extend(output.behind(file(call, &lines, limit, unfold, &output.inner)));
    } else if call.name == PLAN && call.status == ToolStatus::Completed {
        // The plan stands below; the result tells the model where it is.
    } else if !printed(call).trim().is_empty() {
        out.extend(output.last(printed(call), Role::ToolOutput, limit, unfold));
    } else if call.status.ended() {
        out.extend(output.remark("no output"));
    }
    if !full {
        return out;
    }
    if let Some(why) = &call.figures.undo_incomplete {
        out.extend(output.last(&format!("undo incomplete: {why}"), Role::Warning, limit, unfold));
    }
    if let Some(path) = &call.figures.full_result {
        out.extend(output.remark(&format!("full result: {}", clean_line(&path.to_string_lossy()))));
    }
    out
}

/// Authority that allowed the call, and its reason.
fn allowed(call: &ToolCall) -> Option<String> {
    let decision = call.decision.as_ref().filter(|decision| decision.allowed)?;
    let by = match &decision.authority {
        Authority::Mode => "mode".to_owned(),
        Authority::Rule(rule) => format!("rule {}", clean_line(rule)),
        Authority::Grant(what) => format!("session answer: {}", clean_line(what)),
        Authority::Person => "you".to_owned(),
        Authority::Typed => "you (typed)".to_owned(),
        Authority::Nobody => "nobody".to_owned(),
    };
    let why = clean_line(decision.reason.trim());
    let why = if why.is_empty() { String::new() } else { format!("; {why}") };
    Some(format!("allowed by {by} ({}){why}", decision.mode.shown()))
}

/// Output of a call without the line that repeats its exit code.
fn printed(call: &ToolCall) -> &str {
    let text = call.result.as_deref().unwrap_or_default().trim_end();
    let code = call.figures.exit.map(|code| format!("exit {code}"));
    code.and_then(|code| text.strip_suffix(code.as_str())).filter(|rest| rest.ends_with('\n')).unwrap_or(text)
}

/// Space below the head of a call.
struct Output<'a, 'r> {
    call: &'a ToolCall,
    /// Inputs of the lines, without the indent.
    inner: Row<'r>,
    /// Cells on the left.
    indent: usize,
}

impl<'a, 'r> Output<'a, 'r> {
    fn new(call: &'a ToolCall, row: &Row<'r>) -> Self {
        let indent = if row.width < 40 { 2 } else { 5 };
        let less = |width: usize| width.saturating_sub(indent).max(1);
        Self { call, inner: Row { width: less(row.width), wide: less(row.wide), ..*row }, indent }
    }

    fn behind(&self, lines: Vec<LaidOutLine>) -> Vec<LaidOutLine> {
        let lead = [Span::raw(" ".repeat(self.indent))];
        lines.into_iter().map(|line| line.behind(&lead)).collect()
    }

    /// A remark of one line, which is no part of the text.
    fn remark(&self, text: &str) -> Vec<LaidOutLine> {
        self.behind(vec![LaidOutLine::quiet(self.inner.hint(text))])
    }

    fn laid(&self, lines: &[&str], role: Role) -> Vec<LaidOutLine> {
        let style = self.inner.look.style(role);
        // Sentences are lisle's own or a tool's; what a command printed keeps its columns.
        let sentences = self.call.figures.exit.is_none() && self.call.status == ToolStatus::Error;
        let fold = if sentences { Fold::Words } else { Fold::Anywhere };
        let laid = |line: &&str| plain(line, style, self.inner.width, &[], fold, &self.inner.look);
        lines.iter().flat_map(laid).collect()
    }

    /// The last `limit` lines of a text.
    fn last(&self, text: &str, role: Role, limit: usize, unfold: Unfold) -> Vec<LaidOutLine> {
        let cleaned = clean(text.trim_end());
        let all: Vec<&str> = cleaned.trim_start_matches('\n').split('\n').collect();
        // A row that only says that there is one more is no shorter than that one.
        let hidden = all.len().saturating_sub(limit);
        let hidden = if hidden == 1 { 0 } else { hidden };
        let mut lines = Vec::new();
        if hidden > 0 {
            lines.push(hidden_lines(&self.inner, hidden, unfold));
        }
        lines.extend(self.laid(all.get(hidden..).unwrap_or_default(), role));
        self.behind(lines)
    }

    /// The first `limit` lines of a text.
    fn first(&self, text: &str, limit: usize) -> Vec<LaidOutLine> {
        let cleaned = clean(text.trim());
        let all: Vec<&str> = cleaned.split('\n').collect();
        let shown = if all.len() == limit + 1 { all.len() } else { all.len().min(limit) };
        let mut lines = self.laid(all.get(..shown).unwrap_or_default(), Role::ToolOutput);
        if shown < all.len() {
            lines.push(self.inner.more(all.len() - shown, Unfold::Here));
        }
        self.behind(lines)
    }

    /// The changes of the call in at most `limit` lines.
    fn changes(&self, limit: usize, unfold: Unfold) -> Vec<LaidOutLine> {
        let (figures, row) = (&self.call.figures, &self.inner);
        let mut lines = match &figures.diff {
            Some(diff) if row.beside => diff::beside(diff, row.wide, &row.look),
            Some(diff) => diff::unified(diff, row.wide, &row.look),
            None => diff::several(figures.diffs.iter(), row.wide, row.beside, &row.look),
        };
        let hidden = lines.len().saturating_sub(limit);
        let hidden = if hidden == 1 { 0 } else { hidden };
        lines.truncate(lines.len() - hidden);
        if hidden > 0 {
            lines.push(row.more(hidden, unfold));
        }
        self.behind(lines)
    }
}

/// The files that the call gave, below the rest of an unfolded call.
pub(super) fn given(call: &ToolCall, row: &Row<'_>, out: &mut Vec<LaidOutLine>, pictures: &mut Vec<PictureRows>) {
    if call.figures.media.is_empty() {
        return;
    }
    let indent = if row.width < 40 { 2 } else { 5 };
    let inner = Row { width: row.width.saturating_sub(indent).max(1), ..*row };
    let (mut lines, mut kept) = (Vec::new(), Vec::new());
    files::add(&call.figures.media, &inner, &mut lines, &mut kept);
    for mut one in kept {
        one.first += out.len();
        one.indent = one.indent.saturating_add(u16::try_from(indent).unwrap_or(0));
        pictures.push(one);
    }
    let lead = [Span::raw(" ".repeat(indent))];
    out.extend(lines.into_iter().map(|line| line.behind(&lead)));
}

/// File content that `read` returned: lines with their numbers. `None` if it returned something else.
fn numbered<'r>(call: &ToolCall, result: &'r str) -> Option<Vec<(&'r str, &'r str)>> {
    if call.name != "read" || call.status != ToolStatus::Completed {
        return None;
    }
    let numbered = |line: &'r str| {
        let (number, text) = line.split_once('\t')?;
        (!number.is_empty() && number.len() <= 9 && number.bytes().all(|b| b.is_ascii_digit()))
            .then_some((number, text))
    };
    let mut lines: Vec<&str> = result.trim_end_matches('\n').split('\n').collect();
    let note = lines.last().copied().filter(|line| line.starts_with('(') && lines.len() > 1);
    lines.truncate(lines.len() - usize::from(note.is_some()));
    let mut out = lines.into_iter().map(numbered).collect::<Option<Vec<_>>>()?;
    out.extend(note.map(|note| ("", note)));
    Some(out)
}

/// Lines of a file behind their numbers, as code in the language of its ending; of too many the last ones.
fn file(call: &ToolCall, lines: &[(&str, &str)], limit: usize, unfold: Unfold, row: &Row<'_>) -> Vec<LaidOutLine> {
    let look = &row.look;
    let (style, faint) = (look.style(Role::ToolOutput), look.style(Role::Faint));
    let digits = lines.iter().map(|(number, _)| number.len()).max().unwrap_or(1);
    let hidden = lines.len().saturating_sub(limit);
    let mut out = Vec::new();
    if hidden > 0 {
        out.push(hidden_lines(row, hidden, unfold));
    }
    let mut at = CodeAt::first(0, &language_of(call.subject.trim()));
    at.line = u32::try_from(hidden).unwrap_or(u32::MAX);
    for (number, line) in lines.get(hidden..).unwrap_or_default() {
        if number.is_empty() {
            out.extend(
                plain(line, look.style(Role::Dim), row.width, &[], Fold::Words, look)
                    .into_iter()
                    .map(LaidOutLine::silent),
            );
            continue;
        }
        let (kept, more) = bounded(line, look);
        let text = clean(kept).replace('\n', " ");
        let shown = Span::styled(text::expand_tabs(&text).into_owned(), style);
        let spans: Vec<_> = [shown].into_iter().chain(more).collect();
        let source = Source { tabbed: Some(&text), spans: Some(1), ..Source::default() };
        let first = [Span::styled(format!("{number:>digits$}  "), faint)];
        let rest = [Span::raw(" ".repeat(digits + 2))];
        out.extend(coded(&spans, row.width, &first, &rest, &at, source));
        at.next();
    }
    out
}
