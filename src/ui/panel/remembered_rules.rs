//! Rules that a lasting yes would remember: each in words, with a harmless and the worst command
//! that it would also allow; and the same rules while they are being edited.

use super::super::cells;
use super::super::frame_context::FrameContext;
use super::view::View;
use crate::app::state::panel::Panel;
use crate::domain::lookalike::expose;
use crate::domain::request::{Approval, Ask};
use crate::domain::rule::Rule;
use crate::keymap::action::{Action, AnswerAction, Context};
use crate::theme::Role;
use ratatui::text::{Line, Span};

/// Cells before a rule: it stands below the label of its answer.
const INDENT: usize = 6;
/// Rules that are shown with what they would also let run; of more only the words.
const WITH_EXAMPLES: usize = 4;

/// The lines below the selected answer, if it is one that remembers.
pub(super) fn lines(paint: &FrameContext<'_>, view: View<'_>, width: u16) -> Vec<Line<'static>> {
    let (Some(choice), Ask::Approval(approval)) = (view.panel.choice(), &view.request.ask) else { return Vec::new() };
    if choice.scope().is_none() {
        return Vec::new();
    }
    let mut out = Vec::new();
    for (n, rule) in view.panel.rules.iter().enumerate() {
        push(
            paint,
            &mut out,
            "will allow",
            &folded(&expose(&rule.in_words())),
            (Role::Strong, Role::Strong),
            (width, n == 0),
        );
        if view.panel.rules.len() <= WITH_EXAMPLES {
            examples(paint, &mut out, approval, rule, width);
        }
    }
    // After a letter every other one is text.
    let key = paint.key_of(Action::Answer(AnswerAction::Rules), Context::Approval);
    if let Some(key) = key.filter(|_| view.panel.letter.is_none()) {
        let pad = Span::raw(" ".repeat(INDENT.min(usize::from(width) / 8)));
        let key = Span::styled(key, flat(paint, Role::Key));
        out.push(Line::from(vec![pad, key, Span::styled(" edit this rule", flat(paint, Role::Dim))]));
    }
    out
}

fn examples(paint: &FrameContext<'_>, out: &mut Vec<Line<'static>>, approval: &Approval, rule: &Rule, width: u16) {
    match approval.offers.iter().find(|offer| offer.rule == *rule) {
        Some(offer) => {
            // First, for where not all has room.
            if let Some(worst) = &offer.worst {
                push(paint, out, "worst case", &expose(worst), (Role::Warning, Role::Dim), (width, true));
            }
            if let Some(harmless) = &offer.harmless {
                push(paint, out, "also allows", &folded(&expose(harmless)), (Role::Dim, Role::Dim), (width, true));
            }
        }
        None => push(paint, out, "", "changed by you", (Role::Dim, Role::Dim), (width, true)),
    }
}

/// A labelled text, wrapped below itself.
fn push(
    paint: &FrameContext<'_>,
    out: &mut Vec<Line<'static>>,
    label: &str,
    text: &str,
    (role, of_label): (Role, Role),
    (width, labelled): (u16, bool),
) {
    let width = usize::from(width);
    let indent = INDENT.min(width / 8);
    let lead = if width < 50 { 0 } else { 12 };
    let room = width.saturating_sub(indent + lead).max(1);
    let text = if lead == 0 && labelled && !label.is_empty() { format!("{label} {text}") } else { text.to_owned() };
    for (n, part) in cells::wrap(&text, room).into_iter().enumerate() {
        let said = if n == 0 && labelled && lead > 0 { label } else { "" };
        out.push(Line::from(vec![
            Span::styled(format!("{:indent$}{said:lead$}", ""), flat(paint, of_label)),
            Span::styled(part, flat(paint, role)),
        ]));
    }
}

/// Without a ground of its own: it stands on the panel's.
fn flat(paint: &FrameContext<'_>, role: Role) -> ratatui::style::Style {
    paint.flat(paint.style(role))
}

/// The rules in a few words, beside an answer that is not selected.
pub(super) fn in_short(panel: &Panel) -> String {
    match panel.rules.as_slice() {
        [one] => folded(&expose(&one.in_words())),
        many => format!("{} rules", many.len()),
    }
}

/// The same words without most of those that come again and again in a row.
fn folded(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let runs = words.chunk_by(|one, next| one == next);
    let shown = runs.map(|run| match run {
        [word, ..] if run.len() >= FOLDED && !word.is_empty() => format!("{word} ({} times)", run.len()),
        _ => run.join(" "),
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// Number of equal words in a row from which on they are counted.
const FOLDED: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_words_in_a_row_are_counted() {
        for (text, shown) in [
            ("touch ./** ./** ./**", "touch ./** ./** ./**"),
            ("touch ./** ./** ./** ./** b", "touch ./** (4 times) b"),
            ("a    b", "a    b"),
            ("x", "x"),
            ("", ""),
        ] {
            assert_eq!(folded(text), shown);
        }
    }
}
