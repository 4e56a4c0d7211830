//! The search over all sessions: the query, how far the search is, and what was found, by session, with the marked line.

use super::super::cells::{self, Piece, piece};
use super::super::figures::{count, day};
use super::super::frame_context::FrameContext;
use crate::app::msg::Target;
use crate::app::state::find::{Find, Phase, ResultRow};
use crate::domain::sanitise::clean_line;
use crate::domain::search_hit::{HitIn, RowHit, Searched, SessionHits};
use crate::keymap::action::{Action, Context, FindAction, PickerAction};
use crate::theme::Role;
use ratatui::layout::Rect;
use unicode_segmentation::UnicodeSegmentation;

/// Cells of the sheet at the most.
const WIDTH: u16 = 120;
/// From this width of the list on the kind of a hit is written out.
const ROOMY: u16 = 56;
/// The query language, a part and what it does.
const LANGUAGE: [(&str, &str); 10] = [
    ("two words", "both, any order"),
    ("\"exact words\"", "exact phrase"),
    ("-word", "exclude"),
    ("in:title", "or in:user, in:assistant, in:tool"),
    ("status:done", "sessions with a status"),
    ("label:bug", "sessions with a label"),
    ("tool:bash", "calls to a tool"),
    ("file:redirect.rs", "calls that touch a file"),
    ("after:2026-09-01", "on or after that day"),
    ("before:2026-10-01", "before that day"),
];
/// The same in one line, for where there is room and where there is less.
const SHORT: [&str; 3] = [
    "\"exact\"  -not  in:title|user|assistant|tool  status:  label:  tool:  file:  after:  before:",
    "\"exact\"  -not  in:  status:  label:  tool:  file:  after:  before:",
    "\"exact\"  -not  in:  label:  tool:  after:",
];

pub(super) fn draw(paint: &mut FrameContext<'_>, body: Rect) {
    let find = &paint.state.searches.sessions;
    let title = [paint.piece("Search all sessions", Role::PanelTitle)];
    let open = paint.key(Action::Picker(PickerAction::Accept), Context::Picker);
    let next = paint.key(Action::Find(FindAction::NextSession), Context::Find);
    let hints = if body.width < 60 { vec![(open, "open")] } else { vec![(open, "open"), (next, "next session")] };
    // All the height there is: what is found comes in from below and moves nothing.
    let inner = super::sheet(paint, body, WIDTH, body.height, &title, &hints);
    let field = cells::row(inner, 0);
    let sign = paint.signs.prompt;
    paint.text(field, sign, Role::Accent);
    paint.one_line(cells::after(field, 2), &find.query, true);
    let told = told(paint, find, usize::from(inner.width).saturating_sub(2));
    for (n, line) in told.iter().enumerate() {
        let line: Vec<Piece<'_>> =
            line.iter().map(|(text, style)| (text.clone(), ratatui::style::Style { bg: None, ..*style })).collect();
        paint.pieces(cells::after(cells::row(inner, 1 + u16::try_from(n).unwrap_or(0)), 2), &line);
    }
    let roomy = inner.height >= 10;
    let told = u16::try_from(told.len()).unwrap_or(1);
    let top = if roomy { 2 + told } else { 1 + told }.min(inner.height);
    let foot = if roomy && !find.rows.is_empty() { 2 } else { 0 };
    let list = Rect { y: inner.y + top, height: (inner.height - top).saturating_sub(foot), ..inner };
    paint.found.overlay_rows = list.height;
    if find.rows.is_empty() {
        if find.query.text().trim().is_empty() || matches!(find.phase, Phase::Wrong(_)) {
            language(paint, list);
        }
        return;
    }
    results(paint, find, list);
    if foot > 0 {
        let row = cells::row(inner, inner.height - 1);
        let fits = SHORT.iter().find(|line| cells::width(line) <= usize::from(row.width)).unwrap_or(&"");
        paint.over(row, fits, Role::Faint);
    }
}

/// Progress of the search, and the number of hits.
fn told(paint: &FrameContext<'_>, find: &Find, width: usize) -> Vec<Vec<Piece<'static>>> {
    let sessions = count(find.groups.len(), "session", "sessions");
    let hits = find.total();
    let hits = if hits == 1 { "1 hit".to_owned() } else { format!("{hits} hits") };
    if let Phase::Wrong(wrong) = &find.phase {
        // A caret below the place, and the sentence beside it where it has room, else below.
        let column = find.query.text().get(..wrong.at).map_or(0, |before| cells::width(&clean_line(before)));
        let text = clean_line(&wrong.text).into_owned();
        let mut lines = vec![format!("{:column$}^", "")];
        match lines.first_mut() {
            Some(caret) if column + cells::width(&text) + 2 <= width => *caret = format!("{caret} {text}"),
            _ => lines.extend(super::sheet::folded(&text, width)),
        }
        return lines.into_iter().map(|line| vec![paint.piece(line, Role::Error)]).collect();
    }
    vec![match &find.phase {
        Phase::Idle | Phase::Wrong(_) => {
            vec![paint.piece("titles, messages, tool calls and results", Role::Faint)]
        }
        Phase::Typing | Phase::Searching(_) => {
            let mut out = vec![paint.piece(format!("{} searching", paint.spin()), Role::Running)];
            if !find.stale && !find.groups.is_empty() {
                out.push(paint.piece(format!("  {hits} in {sessions}"), Role::Dim));
            }
            out
        }
        Phase::Stopped => vec![paint.piece(format!("stopped  {hits} in {sessions}"), Role::Dim)],
        Phase::Done(Searched { error: Some(why), .. }) => {
            vec![paint.piece(format!("{} {}", paint.signs.marks.warning, clean_line(why)), Role::Warning)]
        }
        Phase::Done(done) => {
            let mut out = Vec::new();
            if find.groups.is_empty() {
                let all = count(usize::try_from(done.sessions).unwrap_or(usize::MAX), "session", "sessions");
                out.push(paint.piece(format!("no matches in {all}"), Role::Text));
            } else {
                out.push(paint.piece(format!("{hits} in {sessions}"), Role::Text));
            }
            out.push(paint.piece(format!("  {} ms", done.millis), Role::Faint));
            if done.stopped {
                out.push(paint.piece("  truncated: add a word to narrow it", Role::Warning));
            }
            if done.unreadable > 0 {
                let n = count(usize::try_from(done.unreadable).unwrap_or(usize::MAX), "session", "sessions");
                out.push(paint.piece(format!("  {n} unreadable"), Role::Warning));
            }
            out
        }
    }]
}

fn language(paint: &mut FrameContext<'_>, area: Rect) {
    let widest = LANGUAGE.iter().map(|(part, _)| cells::width(part)).max().unwrap_or(0);
    for (n, (part, what)) in LANGUAGE.iter().enumerate() {
        let row = cells::after(cells::row(area, u16::try_from(n).unwrap_or(u16::MAX)), 2);
        let pieces =
            [paint.piece(format!("{part:widest$}"), Role::Accent), paint.piece(format!("   {what}"), Role::Dim)];
        let pieces = pieces.map(|(text, style)| (text, ratatui::style::Style { bg: None, ..style }));
        paint.pieces(row, &pieces);
    }
}

fn results(paint: &mut FrameContext<'_>, find: &Find, list: Rect) {
    let height = usize::from(list.height).max(1);
    // The selected line is seen also when the screen has become smaller since.
    let place = find.place().unwrap_or(0);
    let top = find.top.min(place).max((place + 1).saturating_sub(height));
    for (n, row) in find.rows.iter().enumerate().skip(top).take(height) {
        let area = cells::row(list, u16::try_from(n - top).unwrap_or(u16::MAX));
        let band = Rect { x: area.x.saturating_sub(1), width: area.width + 2, ..area };
        let chosen = row.hit().is_some() && row.hit() == find.selected;
        if chosen {
            paint.tint(band, if find.stale { Role::SelectedDim } else { Role::Selected });
        }
        let (left, right) = match *row {
            ResultRow::Session(group, title) => match find.groups.get(group) {
                Some(found) => {
                    session(paint, found, title.and_then(|hit| found.hits.get(hit)), usize::from(area.width))
                }
                None => continue,
            },
            ResultRow::Hit(group, hit) => match find.hit((group, hit)) {
                Some((_, hit)) => line(paint, hit, chosen, usize::from(area.width)),
                None => continue,
            },
            ResultRow::More(_, more) => (
                vec![paint.piece(format!("  {} {more} more in this session", paint.signs.ellipsis()), Role::Faint)],
                Vec::new(),
            ),
        };
        let bare = |pieces: Vec<Piece<'static>>| -> Vec<Piece<'static>> {
            let stale = find.stale.then(|| paint.style(Role::Faint));
            let bare = |(text, style)| (text, ratatui::style::Style { bg: None, ..stale.unwrap_or(style) });
            pieces.into_iter().map(bare).collect()
        };
        let (left, right) = (bare(left), bare(right));
        let least = cells::pieces_width(&left).min(usize::from(area.width) * 2 / 3);
        paint.sides(area, &left, &right, least);
        paint.target(band, Target::OverlayRow(n));
    }
}

type Sides = (Vec<Piece<'static>>, Vec<Piece<'static>>);

/// The line of a session: its title, how much was found there, and its day.
fn session(paint: &FrameContext<'_>, found: &SessionHits, title: Option<&RowHit>, width: usize) -> Sides {
    let state = paint.state;
    let hits = if found.total == 1 { "1 hit".to_owned() } else { format!("{} hits", found.total) };
    let when = day(found.last_message, state.clock.now, state.clock.utc_offset);
    let right = vec![paint.piece(format!("{hits}  {when:>6}"), Role::Dim)];
    let room = width.saturating_sub(cells::pieces_width(&right) + 2);
    let left = match title {
        Some(hit) => marked(paint, &hit.line, &hit.marks, Role::Strong, room),
        None => {
            let text = if found.title.trim().is_empty() { "New session" } else { &found.title };
            vec![paint.piece(cells::cut(&clean_line(text), room, paint.signs.cut).into_owned(), Role::Strong)]
        }
    };
    (left, right)
}

/// The line of a hit: where it was found, the line, and its time.
fn line(paint: &FrameContext<'_>, hit: &RowHit, chosen: bool, width: usize) -> Sides {
    let roomy = width >= usize::from(ROOMY);
    let (word, role) = match hit.place {
        HitIn::User => ("you", Role::UserHead),
        HitIn::Assistant if roomy => ("assistant", Role::AssistantHead),
        HitIn::Assistant => ("asst", Role::AssistantHead),
        HitIn::Tool => ("tool", Role::ToolVerb),
        HitIn::Title => ("title", Role::Dim),
        HitIn::Id => ("id", Role::Dim),
        HitIn::Label => (if roomy { "label" } else { "lbl" }, Role::Accent),
        HitIn::Other => ("note", Role::Dim),
    };
    let column = if roomy { 11 } else { 5 };
    let style = ratatui::style::Style { add_modifier: ratatui::style::Modifier::empty(), ..paint.style(role) };
    let mut left = vec![piece(format!("  {word:column$}"), style)];
    let mut right = Vec::new();
    if roomy && hit.row.is_some() {
        let when = day(hit.when, paint.state.clock.now, paint.state.clock.utc_offset);
        right.push(paint.piece(format!("{when:>6}"), Role::Faint));
    }
    let beside = cells::pieces_width(&right);
    let room = width.saturating_sub(column + 2 + beside + if beside > 0 { 2 } else { 0 });
    left.extend(marked(paint, &hit.line, &hit.marks, if chosen { Role::Strong } else { Role::Text }, room));
    (left, right)
}

/// A text with its marked bytes as hits, in at most `room` cells; where the first mark would not be seen, the start is
/// cut off.
fn marked(
    paint: &FrameContext<'_>,
    text: &str,
    marks: &[(usize, usize)],
    role: Role,
    room: usize,
) -> Vec<Piece<'static>> {
    let (text, marks) = window(text, marks, room, paint.signs.cut);
    let mut chars: Vec<usize> = Vec::new();
    for (n, (at, _)) in text.char_indices().enumerate() {
        if marks.iter().any(|(start, end)| (*start..*end).contains(&at)) {
            chars.push(n);
        }
    }
    paint.marked(&text, &chars, role)
}

/// The part of a text around its first mark that fits, and the marks in it.
fn window(text: &str, marks: &[(usize, usize)], room: usize, cut: &str) -> (String, Vec<(usize, usize)>) {
    let first = marks.first().map_or(0, |mark| mark.0).min(text.len());
    let before = text.get(..first).map_or(0, cells::width);
    let mark = marks.first().and_then(|mark| text.get(mark.0..mark.1)).map_or(0, cells::width);
    if cells::width(text) <= room || before + mark < room {
        return (text.to_owned(), marks.to_vec());
    }
    // A third of the room stays for what is before the mark, more where little follows it.
    let rest = text.get(first..).map_or(0, cells::width);
    let keep = room.saturating_sub(rest).max(room / 3).min(room.saturating_sub(mark));
    let mut start = first;
    let mut used = 0;
    for (at, grapheme) in text.get(..first).unwrap_or_default().grapheme_indices(true).rev() {
        used += cells::width(grapheme);
        if used + cells::width(cut) > keep {
            break;
        }
        start = at;
    }
    let shift = |at: usize| (at + cut.len()).saturating_sub(start);
    let moved = marks.iter().filter(|mark| mark.0 >= start).map(|mark| (shift(mark.0), shift(mark.1))).collect();
    (format!("{cut}{}", text.get(start..).unwrap_or_default()), moved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_mark_is_always_seen() {
        let text = "a long line in which the word stands late, and goes on after it";
        let at = text.find("late").unwrap();
        let (shown, marks) = window(text, &[(at, at + 4)], 24, "…");
        assert_eq!(shown.get(marks[0].0..marks[0].1), Some("late"));
        assert!(shown.starts_with('…') && cells::width(&shown[..marks[0].1]) <= 24, "{shown}");
        assert_eq!(window("short", &[(0, 2)], 24, "…"), ("short".to_owned(), vec![(0, 2)]));
        // Odd marks break nothing.
        for marks in [vec![(0, 999)], vec![(3, 1)], vec![(1, 2)], vec![(60, 70)]] {
            let (shown, _) = window("ääääääääääääääääääääääääääääää", &marks, 5, "…");
            assert!(!shown.is_empty());
        }
    }
}
