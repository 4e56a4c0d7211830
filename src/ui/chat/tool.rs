//! A tool call: one line that says what was done to what and how it ended, and below it what it gave.
//!
//! The subject stays to the last: where the line is too short, figures go first. `output` is what stands below.

mod output;

use super::diff;
use super::heads::is_typed;
use super::laid_out_line::{LaidOutLine, Seg};
use super::picture::PictureRows;
use super::row::{Level, Row, lasted, seconds, thousands};
use super::style::ChatStyle;
use crate::domain::At;
use crate::domain::diff::FileDiff;
use crate::domain::permission::Authority;
use crate::domain::sanitise::{clean_line, reveal_line};
use crate::domain::tool::{CUT_SHORT, NOT_RUN, STOPPED, ToolCall, ToolStatus, intent};
use crate::theme::Role;
use crate::ui::figures::count;
use crate::ui::text;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Cells of the verb, so that subjects stand below each other.
const VERB: usize = 6;
/// Cells that a subject keeps beside figures.
const SUBJECT: usize = 10;
/// Cells that are free before what a call is for is shown.
const INTENT_ROOM: usize = 24;
/// Tool that asks the user.
const ASK: &str = "ask_user";
/// Cells of a reason among the figures.
const REASON: usize = 40;

/// The call as lines; what is kept for pictures among them is added to `pictures`. `made` is when it was proposed.
pub(super) fn lines(call: &ToolCall, made: At, row: &Row<'_>, pictures: &mut Vec<PictureRows>) -> Vec<LaidOutLine> {
    let row = &Row { level: level(call, row), ..*row };
    let mut below = below(call, row);
    let mut out = vec![head(call, made, row, !below.is_empty())];
    if matches!(row.level, Level::Line | Level::Results) {
        out.extend(doing(call, row).map(LaidOutLine::quiet));
    }
    out.append(&mut below);
    if matches!(row.level, Level::Tail | Level::Full) {
        output::given(call, row, &mut out, pictures);
    }
    out
}

/// Lines below the head.
fn below(call: &ToolCall, row: &Row<'_>) -> Vec<LaidOutLine> {
    match row.level {
        Level::Line => Vec::new(),
        Level::Results => output::results(call, row),
        Level::Tail | Level::Full => output::lines(call, row),
    }
}

/// Shown part of a call: where all of it is there before it is unfolded, the fold mark closes it.
fn level(call: &ToolCall, row: &Row<'_>) -> Level {
    if row.level != Level::Full || row.usual == Level::Full || !call.figures.media.is_empty() {
        return row.level;
    }
    let (usual, full) = (below(call, &Row { level: row.usual, ..*row }), output::shown(call, row));
    if !usual.is_empty() && usual == full { Level::Line } else { row.level }
}

/// Current activity of a spawned session, while its call waits for it.
fn doing(call: &ToolCall, row: &Row<'_>) -> Option<Line<'static>> {
    let child = call.figures.child.as_ref().filter(|_| call.status == ToolStatus::Executing)?;
    let (mark, text, role) = match (&child.waits, &call.result) {
        (Some(waits), _) => ("● ", clean_line(waits), Role::NeedsYou),
        (None, Some(line)) => ("└ ", clean_line(line.lines().next_back().unwrap_or_default()), Role::ToolOutput),
        (None, None) => return None,
    };
    let ascii = if child.waits.is_some() { "* " } else { "` " };
    let lead = format!("{}{}", " ".repeat(if row.width < 40 { 2 } else { 2 + VERB + 1 }), row.look.glyph(mark, ascii));
    let room = row.width.saturating_sub(text::width(&lead));
    let text = text::cut_with(&text, room, row.look.ellipsis()).into_owned();
    let style = row.look.style(role);
    Some(Line::from(vec![
        Span::styled(lead, row.look.style(if child.waits.is_some() { role } else { Role::Dim })),
        Span::styled(text, style),
    ]))
}

fn refusal(call: &ToolCall) -> Option<&str> {
    call.decision.as_ref().filter(|decision| !decision.allowed).map(|decision| decision.reason.as_str())
}

/// The refusal in the fewest words. The user's own words are shown; the rest of that text is for the agent.
fn refused(call: &ToolCall, ellipsis: &str) -> Option<String> {
    let reason = refusal(call)?;
    let person = call.decision.as_ref().is_some_and(|decision| decision.authority == Authority::Person);
    let said = if person { reason.split_once(": ").map_or("", |(_, said)| said) } else { reason };
    let said = clean_line(said.trim());
    let word = if person { "denied by you" } else { "refused" };
    Some(if said.is_empty() { word.to_owned() } else { format!("{word}: {}", text::cut_with(&said, REASON, ellipsis)) })
}

/// The line of a call. `open`: something stands below it.
fn head(call: &ToolCall, made: At, row: &Row<'_>, open: bool) -> LaidOutLine {
    let look = &row.look;
    let subject = subject(call, look.ellipsis());
    let whole = subject.clone();
    let typed = is_typed(call);
    let verb = if typed { "!".into() } else { verb(&call.name) };
    let pad = VERB.saturating_sub(text::width(&verb));
    let verb = text::cut_with(&verb, row.width.saturating_sub(2), look.ellipsis()).into_owned();
    let mut spans = vec![
        Span::styled(row.fold(open || row.level == Level::Full), look.style(Role::Dim)),
        Span::styled(verb, look.style(Role::ToolVerb)),
        Span::raw(" ".repeat(pad + 1)),
    ];
    let lead = text::spans_width(&spans);
    let room = row.width.saturating_sub(lead);
    let mut figures = figures(call, made, row);
    if let Some(reason) = figures.first_mut().filter(|figure| figure.content.contains(": ")) {
        // A reason is shortened before the subject, as long as some of it is left; then its first word stays.
        let subject = text::width(&subject);
        let most = room.saturating_sub(subject.min(SUBJECT) + 2);
        let beside = room.saturating_sub(subject + 2).max(REASON / 2);
        let word = reason.content.split(':').next().unwrap_or_default().to_owned();
        let short = text::cut_with(&reason.content, beside, look.ellipsis()).into_owned();
        reason.content = if beside <= most { short.into() } else { word.into() };
    }
    let wide = |figures: &[Span<'_>]| if figures.is_empty() { 0 } else { text::spans_width(figures) + 2 };
    while wide(&figures) + text::width(&subject).min(SUBJECT) > room && !figures.is_empty() {
        // The last one goes with the dot before it.
        figures.truncate(figures.len().saturating_sub(2));
    }
    let beside = room.saturating_sub(wide(&figures));
    let is_path = matches!(call.name.as_str(), "read" | "write" | "edit" | "patch" | "list");
    let subject = if is_path {
        text::cut_start(&subject, beside, look.ellipsis())
    } else {
        text::cut_with(&subject, beside, look.ellipsis())
    };
    let space = room.saturating_sub(text::width(&subject) + text::spans_width(&figures));
    // What it is for stands behind the subject, where there is room for some of it.
    let mut space = space;
    let said = intent(&call.input).filter(|_| space >= INTENT_ROOM && !is_path);
    let said = said.map(|said| text::cut_with(&clean_line(&said), space - 4, look.ellipsis()).into_owned());
    spans.push(Span::styled(subject.into_owned(), look.style(Role::ToolSubject)));
    if let Some(said) = said {
        space = space.saturating_sub(text::width(&said) + 2);
        spans.push(Span::styled(format!("  {said}"), look.style(Role::Dim)));
    }
    if !figures.is_empty() {
        spans.push(Span::raw(" ".repeat(space)));
        spans.append(&mut figures);
    }
    // A pane narrower than the verb.
    let mut left = row.width;
    spans.retain_mut(|span| {
        let cut = text::cut_with(&span.content, left, "").into_owned();
        left -= text::width(&cut);
        span.content = cut.into();
        !span.content.is_empty()
    });
    // The text is there once.
    let whole = if output::whole_subject(call, row).is_some() { "" } else { &whole };
    LaidOutLine { folds: true, ..marked_head(Line::from(spans), whole) }
}

/// The line of a call, as the text of its verb and its whole subject.
fn marked_head(line: Line<'static>, whole: &str) -> LaidOutLine {
    let part = |at: usize| line.spans.get(at).map_or("", |span| span.content.as_ref());
    let shown = if whole.is_empty() { "" } else { part(3) };
    let (verb, shown) = (part(1).to_owned(), shown.to_owned());
    let from = text::width(part(0));
    let verb_width = text::width(&verb);
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let cells = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
    let mut segs = vec![Seg { x: cells(from), width: cells(verb_width), from: 0, len: number(verb.len()) }];
    let at = from + verb_width + text::width(part(2));
    let (wide, before) = (text::width(&shown), verb.len() + 1);
    let seg = |x: usize, width: usize, from: usize, len: usize| Seg {
        x: cells(x),
        width: cells(width),
        from: number(before + from),
        len: number(len),
    };
    // Of a subject that was cut the sign stands for what is not shown.
    let same = whole.bytes().zip(shown.bytes()).take_while(|(a, b)| a == b).count();
    let same = whole.floor_char_boundary(same);
    let last = whole.bytes().rev().zip(shown.bytes().rev()).take_while(|(a, b)| a == b).count();
    let last = whole.len() - whole.ceil_char_boundary(whole.len() - last.min(whole.len() - same));
    if same == whole.len() {
        segs.push(seg(at, wide, 0, whole.len()));
    } else {
        let (start, end) = (text::width(whole.get(..same).unwrap_or_default()), last);
        let end_wide = text::width(whole.get(whole.len() - end..).unwrap_or_default());
        segs.push(seg(at, start, 0, same));
        segs.push(seg(at + start, wide.saturating_sub(start + end_wide), same, whole.len() - same - end));
        segs.push(seg(at + wide.saturating_sub(end_wide), end_wide, whole.len() - end, end));
    }
    segs.retain(|seg| seg.width > 0 && seg.len > 0);
    let text = format!("{verb} {whole}");
    LaidOutLine { text: Some(text.trim_end().into()), segs, ..LaidOutLine::quiet(line) }
}

/// A tool's name as a verb that fits the column of verbs.
fn verb(name: &str) -> std::borrow::Cow<'_, str> {
    match name {
        "submit_plan" => "plan".into(),
        "ask_user" => "ask".into(),
        "job_output" => "job".into(),
        "job_kill" => "kill".into(),
        "transform_data" => "data".into(),
        "call_llm" => "ask llm".into(),
        "session_info" | "list_sessions" => "look".into(),
        "set_status" => "status".into(),
        "set_labels" => "labels".into(),
        other => clean_line(other),
    }
}

/// Subject of the call, on one line.
fn subject(call: &ToolCall, ellipsis: &str) -> String {
    let source = if call.subject.trim().is_empty() {
        match &call.input {
            serde_json::Value::Null => String::new(),
            serde_json::Value::Object(map) if map.is_empty() => String::new(),
            other => other.to_string(),
        }
    } else {
        call.subject.clone()
    };
    let source = source.get(..source.floor_char_boundary(2_000)).unwrap_or(&source);
    match source.trim().split_once('\n') {
        Some((first, _)) => format!("{} {ellipsis}", reveal_line(first.trim_end())),
        None => reveal_line(source.trim()),
    }
}

/// State or outcome of the call, most important first, with dots between.
fn figures(call: &ToolCall, made: At, row: &Row<'_>) -> Vec<Span<'static>> {
    let look = &row.look;
    let dim = look.style(Role::Dim);
    let mut parts: Vec<Vec<Span<'static>>> = Vec::new();
    let mut add = |text: String, style: Style| parts.push(vec![Span::styled(text, style)]);
    if let Some((text, style)) = outcome(call, made, row) {
        add(text, style);
    }
    if let Some(child) = &call.figures.child {
        if child.waits.is_some() && !call.status.ended() {
            add("needs you".to_owned(), look.style(Role::NeedsYou));
        }
        if child.background {
            add("in the background".to_owned(), dim);
        }
        if child.calls > 0 {
            add(format!("{} {}", thousands(child.calls), if child.calls == 1 { "call" } else { "calls" }), dim);
        }
        if child.tokens > 0 {
            add(format!("{} tokens", crate::ui::figures::tokens(child.tokens)), dim);
        }
    }
    if let [first, more @ ..] = call.figures.withheld.as_slice() {
        let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        add(format!("sandbox: {}{more}", clean_line(first)), look.style(Role::Warning));
    }
    if call.figures.undo_incomplete.is_some() {
        add("undo incomplete".to_owned(), look.style(Role::Warning));
    }
    if call.decision.as_ref().is_some_and(|by| by.allowed && by.authority == Authority::Person && !by.reason.is_empty())
    {
        add("changed by you".to_owned(), dim);
    }
    if let Some(lines) = call.figures.lines {
        add(format!("{} {}", thousands(lines), if lines == 1 { "line" } else { "lines" }), dim);
    }
    if let Some(job) = &call.figures.job {
        add(format!("job {}", clean_line(job)), dim);
    }
    parts.extend(changes(call, look));
    if let Some(ms) = call.millis.filter(|ms| call.status.ended() && (call.figures.exit.is_some() || *ms >= 1000)) {
        parts.push(vec![Span::styled(lasted(ms), dim)]);
    }
    // Each part one span, a dot between two: so that the last goes as two.
    let dot = Span::styled(look.glyph(" · ", " - "), dim);
    let mut out: Vec<Span<'static>> = Vec::new();
    for part in parts {
        if !out.is_empty() {
            out.push(dot.clone());
        }
        out.extend(part);
    }
    out
}

/// How a call stands, or how it ended where that says more than its figures.
fn outcome(call: &ToolCall, made: At, row: &Row<'_>) -> Option<(String, Style)> {
    let look = &row.look;
    let dim = look.style(Role::Dim);
    if let Some(text) = refused(call, look.ellipsis()) {
        return Some((text, look.style(Role::Warning)));
    }
    match call.status {
        ToolStatus::Pending => Some(("waiting".to_owned(), dim)),
        // The user's time is not the tool's.
        ToolStatus::Executing if call.name == ASK => Some(("waiting".to_owned(), dim)),
        ToolStatus::Executing => Some((seconds(row.now.since(made)), look.style(Role::Running))),
        ToolStatus::Backgrounded => Some(("in the background".to_owned(), dim)),
        ToolStatus::Completed | ToolStatus::Error => {
            let bad = look.style(Role::Error);
            let failed = call.status == ToolStatus::Error;
            match call.figures.exit {
                Some(code) if code != 0 => Some((format!("exit {code}"), bad)),
                Some(_) | None if !failed => None,
                _ => {
                    let first = call.result.as_deref().unwrap_or_default().trim().lines().next();
                    let first = clean_line(first.unwrap_or_default()).into_owned();
                    // The row below says who did.
                    if first.starts_with(STOPPED) {
                        return Some(("stopped".to_owned(), dim));
                    }
                    // It never began; the reason stands in the result.
                    if first.starts_with(NOT_RUN) {
                        return Some(("not run".to_owned(), dim));
                    }
                    if first.starts_with(CUT_SHORT) {
                        return Some(("interrupted".to_owned(), look.style(Role::Warning)));
                    }
                    let why = text::cut_with(&first, REASON, look.ellipsis());
                    Some((if why.is_empty() { "failed".to_owned() } else { format!("failed: {why}") }, bad))
                }
            }
        }
    }
}

/// Lines that a call added and removed, and in how many files.
fn changes(call: &ToolCall, look: &ChatStyle<'_>) -> Vec<Vec<Span<'static>>> {
    let dim = look.style(Role::Dim);
    let mut parts: Vec<Vec<Span<'static>>> = Vec::new();
    if let Some(first) = call.figures.changes().next() {
        let minus = look.glyph("−", "-");
        let sum = |of: fn(&FileDiff) -> u32| call.figures.changes().map(of).fold(0, u32::saturating_add);
        parts.push(vec![
            Span::styled(format!("+{}", sum(|diff| diff.added)), look.style(Role::DiffAdded)),
            Span::raw(" "),
            Span::styled(format!("{minus}{}", sum(|diff| diff.removed)), look.style(Role::DiffRemoved)),
        ]);
        if !call.figures.diffs.is_empty() {
            parts.push(vec![Span::styled(count(call.figures.diffs.len(), "file", "files"), dim)]);
        } else if first.is_gone {
            parts.push(vec![Span::styled("deleted", dim)]);
        } else if first.is_new {
            parts.push(vec![Span::styled("new", dim)]);
        }
    }
    parts
}

/// Verb, subject and what came back, for copying.
pub(super) fn plain_text(call: &ToolCall) -> String {
    let mut text = format!("{} {}", call.name, call.subject);
    if call.figures.changes().next().is_some() {
        for diff in call.figures.changes() {
            text.push('\n');
            if call.figures.diff.is_none() {
                text.push_str(&format!("{}\n", diff.path));
            }
            text.push_str(&diff::plain(diff));
        }
    } else if let Some(result) = &call.result {
        text.push('\n');
        text.push_str(result);
    }
    text
}
