//! Overlays as numbered lists: the rows, then the actions for the chosen row.
//!
//! A picker, the inbox and the questions of lisle's own are written out from their state; the others are read off their own
//! drawing, cell by cell, so that nothing of them is said twice in the program.

use super::super::frame_context::{Appearance, FrameContext};
use super::super::glyphs::GlyphSet;
use super::super::layout_cache::LayoutCache;
use super::super::overlay;
use super::undo_sheet;
use crate::app::line::Line;
use crate::app::msg::{Msg, Target};
use crate::app::state::State;
use crate::app::state::find::Phase;
use crate::app::state::overlay::{Deed, Overlay, Wanted};
use crate::app::state::picker::{Kind, Picker, Value};
use crate::domain::sanitise::{clean_line, reveal, reveal_line};
use crate::keymap::action::{Action, Context, UndoAction};
use crate::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Cells of a drawing that is read: files and their changes stand below each other, not side by side.
const WIDTH: u16 = 96;
/// Its rows: more than any sheet needs but a very long one, which goes on behind a narrower choice.
const HEIGHT: u16 = 400;

/// An overlay as lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Sheet {
    /// Heading, and text without a number.
    pub head: Vec<String>,
    /// Items to choose, numbered in this order.
    pub items: Vec<Item>,
    /// Text below the items.
    pub foot: Vec<String>,
    /// A text that is no number goes into its input: what that does, in a few words.
    pub input: Option<&'static str>,
    /// It is being filled: nothing of it is printed yet.
    pub waits: bool,
}

/// Item that a number chooses.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Lines of the item.
    pub lines: Vec<String>,
    /// Message that the item sends.
    pub does: Msg,
}

fn item(text: impl Into<String>, does: Msg) -> Item {
    Item { lines: vec![text.into()], does }
}

pub(super) fn row(text: impl Into<String>, at: usize) -> Item {
    item(text, Msg::Line(Line::Row(at)))
}

/// The topmost overlay as lines; `None` where there is none.
pub(super) fn of(state: &State, home: &str) -> Option<Sheet> {
    Some(match state.overlay()? {
        Overlay::Picker(picker) => of_picker(picker),
        Overlay::Inbox(inbox) => {
            let rows = inbox.rows.iter().enumerate();
            let text = |title: &str, what: &str| format!("{}: {}", clean_line(title), clean_line(what));
            let items: Vec<Item> = rows.map(|(at, one)| row(text(&one.title, &one.what), at)).collect();
            let foot = if items.is_empty() { vec!["nothing pending".to_owned()] } else { Vec::new() };
            Sheet { head: vec!["inbox: requests from all sessions".to_owned()], items, foot, ..Sheet::default() }
        }
        Overlay::Confirm(asked) => {
            let mut head = vec![format!("question: {}", reveal_line(&asked.title))];
            head.extend(
                asked.says.iter().flat_map(|says| says.lines()).filter(|line| !line.trim().is_empty()).map(reveal),
            );
            let mut items = vec![item(format!("yes: {}", clean_line(&asked.verb)), Msg::Line(Line::Accept))];
            if let Deed::Rewind { files: Some(_), .. } = &asked.deed {
                items.push(item("yes, review its files first", act(UndoAction::WithFiles)));
            }
            items.push(item("no", Msg::Line(Line::Back)));
            Sheet { head, items, ..Sheet::default() }
        }
        Overlay::ConfirmQuit => {
            let mut head = vec!["question: quit?".to_owned()];
            head.extend(state.leaving());
            let items = vec![item("yes: quit", Msg::Line(Line::Accept)), item("no", Msg::Line(Line::Back))];
            Sheet { head, items, ..Sheet::default() }
        }
        Overlay::Rename(rename) => {
            let head = vec![format!("title: {}", clean_line(rename.title.text()))];
            Sheet { head, input: Some("enter the new title"), ..Sheet::default() }
        }
        Overlay::Prompt(prompt) => {
            let mut head = vec![clean_line(&prompt.title).into_owned()];
            if !prompt.line.text().is_empty() {
                head.push(format!("now: {}", clean_line(prompt.line.text())));
            }
            head.extend(prompt.problem.iter().map(|problem| format!("error: {}", clean_line(problem))));
            let input = match prompt.wanted {
                Wanted::Cwd(_) => "enter the directory",
                Wanted::LabelValue { .. } => "enter the value",
                Wanted::Import => "enter the file",
                Wanted::Server => "enter the address",
            };
            Sheet { head, input: Some(input), ..Sheet::default() }
        }
        Overlay::Undo(card) => {
            let mut sheet = undo_sheet::of(state.clock, card);
            sheet.items.extend(verbs(state));
            sheet.items.extend(undo_sheet::accept(card));
            sheet
        }
        drawn => {
            let mut sheet = read_off(state, home);
            sheet.items.extend(verbs(state));
            sheet.waits = waits(state, drawn);
            if matches!(drawn, Overlay::Find) {
                sheet.input = Some("text searches again");
            }
            sheet
        }
    })
}

/// The items of a picker that fit its words.
fn of_picker(picker: &Picker) -> Sheet {
    let mut sheet = Sheet { head: vec![format!("choose: {}", picker.kind.title())], ..Sheet::default() };
    if !picker.query.text().is_empty() {
        sheet.head.push(format!("filter: {}", clean_line(picker.query.text())));
    }
    for (at, hit) in picker.hits.iter().enumerate() {
        let Some(one) = picker.items.get(hit.item) else { continue };
        let detail = if one.detail.trim().is_empty() { String::new() } else { format!(": {}", one.detail.trim()) };
        let now = if one.facts.current { ", active" } else { "" };
        let off = if one.facts.off { ", not usable yet" } else { "" };
        let heads = picker.kind.columns().iter().map(|column| column.head).chain(std::iter::repeat(""));
        let columns = one.facts.columns.iter().zip(heads).filter(|(said, _)| !said.trim().is_empty());
        let columns: String = columns.map(|(said, head)| format!(", {head} {}", said.trim())).collect();
        let columns = columns.replace(",  ", ", ");
        // What stands in columns says it all, and the name of a verb says nothing that its description does not.
        let alone = columns.is_empty() && !matches!(one.value, Value::Act(_));
        let detail = if alone { detail } else { String::new() };
        let text = format!("{}{now}{off}{columns}{detail}", one.label.trim());
        if one.value == Value::Remark {
            sheet.foot.push(clean_line(&text).into_owned());
        } else {
            sheet.items.push(row(clean_line(&text).into_owned(), at));
        }
    }
    if sheet.items.is_empty() && sheet.foot.is_empty() {
        let text = if picker.items.is_empty() { picker.kind.none() } else { "no matches" };
        sheet.foot.push(text.to_owned());
    }
    sheet.input = Some(match picker.kind {
        Kind::Labels => "text filters the list, or names a new label",
        _ => "text filters the list",
    });
    sheet
}

fn act(verb: impl Into<Action>) -> Msg {
    Msg::Act { action: verb.into(), key: None }
}

/// True while the engine still has to fill it.
fn waits(state: &State, top: &Overlay) -> bool {
    match top {
        Overlay::Find => matches!(state.searches.sessions.phase, Phase::Typing | Phase::Searching(_)),
        Overlay::Trash(bin) => bin.rows.is_none(),
        Overlay::Health(card) => card.busy,
        Overlay::Changes(card) => card.changes.is_none(),
        Overlay::Audit(audit) => audit.log.is_none(),
        Overlay::Context(card) => card.report.is_none(),
        Overlay::Rules(rules) => rules.known.is_none(),
        Overlay::Sources(card) => card.known.is_none(),
        Overlay::Extensions(card) => card.known.is_none(),
        Overlay::Usage(usage) => usage.spending.is_none(),
        _ => false,
    }
}

/// Actions for the chosen row, or for the whole sheet.
fn verbs(state: &State) -> Vec<Item> {
    let Some(top) = state.overlay() else { return Vec::new() };
    let context = state.contexts().into_iter().next().unwrap_or(Context::Global);
    let own = matches!(
        context,
        Context::Health | Context::Undo | Context::Changes | Context::Jobs | Context::Queue | Context::Rules
    );
    let mut actions: Vec<Action> = Vec::new();
    for binding in state.keys.of(context).filter(|_| own) {
        let about = match binding.action {
            Action::Undo(verb) => !matches!(verb, UndoAction::NextFile | UndoAction::PreviousFile),
            Action::Job(_) | Action::Queue(_) | Action::Rules(_) | Action::Health(_) => true,
            _ => false,
        };
        if about && !actions.contains(&binding.action) {
            actions.push(binding.action);
        }
    }
    let mut out: Vec<Item> = actions.into_iter().map(|verb| item(verb.description(), act(verb))).collect();
    let accept = match top {
        Overlay::Trash(bin) if bin.rows.as_ref().is_some_and(|rows| !rows.is_empty()) => {
            Some("revoke the selected one")
        }
        Overlay::Sources(_) => Some("turn the selected one on or off"),
        Overlay::Extensions(_) => Some("use the selected one"),
        Overlay::Audit(_) => Some("expand or collapse the selected one"),
        Overlay::Context(_) => Some("the other view"),
        Overlay::Usage(_) => Some("the next view"),
        _ => None,
    };
    out.extend(accept.map(|text| item(text, Msg::Line(Line::Accept))));
    out
}

/// Draws the overlay on a large sheet without keys, and reads its rows.
fn read_off(state: &State, home: &str) -> Sheet {
    let theme = Theme::plain();
    let look = Appearance { theme: &theme, glyphs: GlyphSet::Unicode, home };
    let (mut cache, mut buf) = (LayoutCache::default(), Buffer::empty(Rect::new(0, 0, WIDTH, HEIGHT)));
    let mut paint = FrameContext::new(state, &look, &mut cache, &mut buf);
    paint.without_keys = true;
    let area = paint.buf.area;
    overlay::draw(&mut paint, area);
    let areas = std::mem::take(&mut paint.found.areas);
    let mut sheet = Sheet::default();
    let mut seen: Vec<usize> = Vec::new();
    for y in 0..HEIGHT {
        let text: String = (0..WIDTH).filter_map(|x| buf.cell((x, y))).map(|cell| cell.symbol()).collect();
        let Some(text) = in_words(&text) else { continue };
        let at = areas.iter().rev().find_map(|(area, target)| match target {
            Target::OverlayRow(at) if area.y <= y && y - area.y < area.h => Some(*at),
            _ => None,
        });
        match at {
            Some(at) if seen.contains(&at) => {
                if let Some(item) = sheet.items.last_mut() {
                    item.lines.push(text);
                }
            }
            Some(at) => {
                seen.push(at);
                sheet.items.push(row(text, at));
            }
            None if sheet.items.is_empty() => sheet.head.push(text),
            None => sheet.foot.push(text),
        }
    }
    sheet
}

/// A drawn row without what only the eye needs: frames, bars, gaps. `None` where nothing is left.
fn in_words(text: &str) -> Option<String> {
    let mut said = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '✓' => said.push_str("yes  "),
            '✗' => said.push_str("no  "),
            '▲' => said.push_str("warning: "),
            '⚑' => said.push_str("flagged "),
            '…' => said.push_str("..."),
            '−' => said.push('-'),
            // What stands between dots stands apart.
            '·' => said.push_str("  "),
            '\u{2190}'..='\u{21ff}' | '\u{2500}'..='\u{25ff}' | '\u{2800}'..='\u{28ff}' | '›' | '»' | '•' | '≡' => {
                said.push(' ')
            }
            c => said.push(c),
        }
    }
    if !said.chars().any(char::is_alphanumeric) {
        return None;
    }
    // Columns stand apart by more than one blank.
    let parts: Vec<&str> = said.split("  ").map(str::trim).filter(|part| !part.is_empty()).collect();
    Some(parts.join(", "))
}

/// Words of a sheet, by which news is recognised. Times and moving signs do not count.
pub(super) fn words(sheet: &Sheet) -> String {
    let items = sheet.items.iter().flat_map(|item| &item.lines);
    let all = sheet.head.iter().chain(items).chain(&sheet.foot);
    all.flat_map(|line| line.chars()).filter(|c| c.is_alphabetic()).collect()
}
