//! Questions of lisle's own, and lines that it asks for.

use super::super::cells;
use super::super::frame_context::FrameContext;
use super::sheet::most_rows;
use crate::app::state::overlay::{Confirm, Deed, Prompt, Wanted};
use crate::domain::count::count;
use crate::domain::sanitise::{clean_line, reveal_line};
use crate::keymap::action::{Action, Context, PickerAction, UndoAction};
use crate::theme::Role;
use ratatui::layout::Rect;

/// Cells of the sheet at the most.
const WIDTH: u16 = 72;

pub(super) fn confirm(paint: &mut FrameContext<'_>, asked: &Confirm, body: Rect) {
    let title = [paint.piece(reveal_line(&asked.title), Role::NeedsYou)];
    let accept = paint.key(Action::Picker(PickerAction::Accept), Context::Confirm);
    let inside = usize::from(if body.width < 60 { body.width } else { WIDTH.min(body.width - 8) }.saturating_sub(4));
    let laid_out = |roomy: bool| {
        let mut lines = Vec::new();
        for text in &asked.says {
            if roomy && !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(super::sheet::folded(&reveal_line(text), inside));
        }
        lines
    };
    let mut lines = laid_out(body.height >= 18);
    let files = matches!(&asked.deed, Deed::Rewind { files: Some(_), .. });
    let with_files = paint.key(Action::Undo(UndoAction::WithFiles), Context::Confirm).filter(|_| files);
    let rows = |lines: &[String]| u16::try_from(lines.len()).unwrap_or(u16::MAX);
    if rows(&lines) > most_rows(body) {
        lines = laid_out(false);
    }
    // Nobody agrees to what is below the edge.
    let is_more = rows(&lines).saturating_sub(asked.scroll) > most_rows(body);
    let verb = if is_more { "read on" } else { asked.verb.as_str() };
    let hints = [(accept, verb), (with_files, "with files")];
    let inner = super::sheet(paint, body, WIDTH, rows(&lines), &title, &hints);
    paint.found.overlay_rows = inner.height;
    paint.found.overlay_lines = rows(&lines);
    let most = usize::from(inner.height).max(1);
    let scroll = usize::from(asked.scroll).min(lines.len().saturating_sub(most));
    for (n, line) in lines.iter().skip(scroll).take(most).enumerate() {
        paint.over(cells::row(inner, u16::try_from(n).unwrap_or(u16::MAX)), line, Role::Text);
    }
    let below = lines.len().saturating_sub(scroll + most);
    if below > 0 && most > 1 {
        let row = cells::row(inner, inner.height - 1);
        paint.fill(row, Role::Panel);
        // This row has one of them in its place.
        let more = format!("{} {}", paint.signs.arrows.down, count(below + 1, "more line", "more lines"));
        paint.over(row, &more, Role::Dim);
    }
}

pub(super) fn prompt(paint: &mut FrameContext<'_>, prompt: &Prompt, body: Rect) {
    let title = [paint.piece(clean_line(&prompt.title).into_owned(), Role::PanelTitle)];
    let accept = paint.key(Action::Picker(PickerAction::Accept), Context::Search);
    let verb = match prompt.wanted {
        Wanted::Server => "add",
        Wanted::Import => "import",
        Wanted::LabelValue { .. } | Wanted::Cwd(_) => "set",
    };
    let inside = usize::from(if body.width < 60 { body.width } else { WIDTH.min(body.width - 8) }.saturating_sub(6));
    let (below, role) = match &prompt.problem {
        Some(problem) => (problem.as_str(), Role::Error),
        None => (about(&prompt.wanted), Role::Dim),
    };
    let below = super::sheet::folded(&clean_line(below), inside);
    let rows = u16::try_from(1 + below.len()).unwrap_or(u16::MAX);
    let inner = super::sheet(paint, body, WIDTH, rows, &title, &[(accept, verb)]);
    let row = cells::row(inner, 0);
    let sign = paint.signs.prompt;
    paint.text(row, sign, Role::Accent);
    paint.one_line(cells::after(row, 2), &prompt.line, true);
    for (n, line) in below.iter().enumerate() {
        paint.over(cells::after(cells::row(inner, u16::try_from(n + 1).unwrap_or(u16::MAX)), 2), line, role);
    }
}

/// Help below a line that is asked for.
fn about(wanted: &Wanted) -> &'static str {
    match wanted {
        Wanted::Import => {
            "Claude Code, Codex, gemini-cli, opencode, pi, OpenClaw, aichat, fabric, Craft Agents, Fabric Agents. The \
             program is detected."
        }
        Wanted::Server => "The server of Ollama, llama.cpp, vLLM, LM Studio or any other with OpenAI's chat API.",
        Wanted::LabelValue { .. } | Wanted::Cwd(_) => "",
    }
}
