//! Exact content of an approval, and its warnings.

use super::super::cells;
use super::super::chat::{self, ChangeLine};
use super::super::figures::count;
use super::super::frame_context::FrameContext;
use super::super::text::{self, Fold};
use super::lines::{in_title, place, styled, words};
use super::view::View;
use crate::app::state::overlay::Reach;
use crate::domain::diff::{DiffKind, FileDiff};
use crate::domain::lookalike::{Lookalike, expose, expose_line, odd};
use crate::domain::request::{Approval, Ask, FILE_CHANGE, PartShown, PartState, Request};
use crate::domain::sanitise::{clean_line, reveal_line};
use crate::domain::tool::Proposal;
use crate::keymap::action::{Action, AnswerAction, Context};
use crate::theme::Role;
use ratatui::text::{Line, Span};
use std::collections::BTreeSet;

/// Word on a command line whose parts were not judged one by one.
pub(in crate::ui) const UNCHECKED_PARTS: &str = "Best guess: not checked part by part. It may do more than shown.";
/// Cells of the part that carries the worst risk, beside that: all of it stands below.
const PART: usize = 56;
/// Characters that a warning names.
const NAMED: usize = 4;

/// The exact effect, in lines of `width` cells.
pub(super) fn body(
    paint: &FrameContext<'_>,
    approval: &Approval,
    width: u16,
    look: &chat::ChatStyle<'_>,
) -> Vec<ChangeLine> {
    let lines = match &approval.proposal {
        Proposal::Command { command, cwd } => {
            let mut lines = command_lines(paint, command, width);
            if !in_title(paint, cwd, width) {
                lines.extend(styled(paint, &place(paint, cwd), width, Role::Dim));
            }
            lines.extend(part_lines(paint, &approval.parts, width));
            lines
        }
        Proposal::Change { diff, .. } => {
            return chat::change_lines(diff, width, paint.state.conversations.unified, look);
        }
        Proposal::Connect { to, command } => {
            let mut lines = styled(paint, &expose(to), width, Role::ToolSubject);
            if !command.is_empty() {
                lines.extend(command_lines(paint, command, width));
            }
            lines
        }
        Proposal::Address { url } => styled(paint, &expose(url), width, Role::ToolSubject),
        Proposal::Changes { .. } => return chat::changes_lines(approval.proposal.diffs(), width, look),
        Proposal::Script { script, files, .. } => {
            let mut lines = styled(paint, &expose(script), width, Role::Strong);
            lines
                .extend(files.iter().flat_map(|path| styled(paint, &expose(&paint.home_path(path)), width, Role::Dim)));
            lines
        }
        Proposal::SourceCall { arguments, .. } => styled(paint, &expose(arguments), width, Role::Strong),
        Proposal::Plain => styled(paint, &expose(&approval.subject), width, Role::ToolSubject),
    };
    lines.into_iter().map(ChangeLine::from).collect()
}

/// The command with nothing hidden: every line, every character that would deceive made visible.
fn command_lines(paint: &FrameContext<'_>, command: &str, width: u16) -> Vec<Line<'static>> {
    let room = usize::from(width).saturating_sub(2).max(1);
    let (sign, text) = (paint.style(Role::Faint), paint.style(Role::Strong));
    let shown = expose(command);
    let wrapped = cells::wrap(&shown, room);
    let lines = wrapped.into_iter().enumerate();
    lines
        .map(|(n, line)| {
            let lead = if n == 0 { "$ " } else { "  " };
            Line::from(vec![Span::styled(lead, sign), Span::styled(line, text)])
        })
        .collect()
}

/// Verdict on each part of a line of several commands.
fn part_lines(paint: &FrameContext<'_>, parts: &[PartShown], width: u16) -> Vec<Line<'static>> {
    if parts.len() < 2 {
        return Vec::new();
    }
    // They stand below the text of the command.
    let mut lines = vec![Line::default()];
    // The word tells one part from another: where all are asked for, it says nothing.
    let all_asked = parts.iter().all(|part| part.state == PartState::Asked);
    let lead = if all_asked { 0 } else { 16 };
    let room = usize::from(width).saturating_sub(lead + 2).max(1);
    for part in parts {
        let (word, role) = match part.state {
            PartState::Asked => ("needs approval", Role::NeedsYou),
            PartState::Reads => ("read-only", Role::Dim),
            PartState::Allowed => ("allowed", Role::Good),
        };
        let role_of_text = match part.state {
            _ if part.worst => Role::Strong,
            PartState::Asked => Role::Text,
            PartState::Reads | PartState::Allowed => Role::Dim,
        };
        let shown = expose_line(&part.text);
        for (n, line) in cells::wrap(&shown, room).into_iter().enumerate() {
            let word = if n == 0 && !all_asked { word } else { "" };
            let word = Span::styled(format!("  {word:lead$}"), paint.flat(paint.style(role)));
            lines.push(Line::from(vec![word, Span::styled(line, paint.style(role_of_text))]));
        }
        // Each part carries its own risk.
        if !part.risks.is_empty() {
            let sign = Span::raw(format!("  {:lead$}", ""));
            let said = format!("{} {}", paint.signs.marks.warning, reveal_line(&part.risks.join(", ")));
            for line in cells::wrap(&said, room) {
                lines.push(Line::from(vec![sign.clone(), Span::styled(line, paint.style(Role::Warning))]));
            }
        }
    }
    lines
}

/// Warning about bytes that look like something else. In a change only added text counts, and no
/// signs: prose has its own dashes and quotes.
pub(in crate::ui) fn oddities(proposal: &Proposal) -> Option<String> {
    let found: BTreeSet<Lookalike> = match proposal {
        Proposal::Command { command, cwd } => odd(command).into_iter().chain(odd(&cwd.to_string_lossy())).collect(),
        Proposal::Change { .. } | Proposal::Changes { .. } => {
            let of_one = |diff: &FileDiff| {
                let added = diff.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.kind == DiffKind::Added);
                let of_text = added.flat_map(|line| odd(&line.text)).filter(|odd| !matches!(odd, Lookalike::Sign(_)));
                odd(&diff.path).into_iter().chain(of_text).collect::<Vec<_>>()
            };
            proposal.diffs().flat_map(of_one).collect()
        }
        Proposal::Address { url } => odd(url).into_iter().collect(),
        Proposal::Connect { to, command } => odd(to).into_iter().chain(odd(command)).collect(),
        Proposal::Script { script, .. } => odd(script).into_iter().collect(),
        Proposal::SourceCall { tool, arguments, .. } => odd(tool).into_iter().chain(odd(arguments)).collect(),
        Proposal::Plain => return None,
    };
    let list = |wanted: fn(&Lookalike) -> bool| {
        let all: Vec<String> = found.iter().filter(|odd| wanted(odd)).map(|odd| code(odd.char())).collect();
        match all.len() {
            0 => None,
            1..=NAMED => Some(all.join(", ")),
            more => Some(format!("{} and {} more", all[..NAMED].join(", "), more - NAMED)),
        }
    };
    let alike = list(|odd| !matches!(odd, Lookalike::Unseen(_))).map(|all| format!("look-alike characters: {all}"));
    let unseen = list(|odd| matches!(odd, Lookalike::Unseen(_))).map(|all| format!("invisible characters: {all}"));
    let both: Vec<String> = alike.into_iter().chain(unseen).collect();
    (!both.is_empty()).then(|| format!("contains {}", both.join("; ")))
}

fn code(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}

/// Warnings of a request, the worst first.
pub(super) fn warnings(approval: &Approval) -> Vec<String> {
    oddities(&approval.proposal).into_iter().chain(approval.risks.iter().map(|risk| reveal_line(risk))).collect()
}

/// The worst of them, with the part of the command line that carries it: that may be out of sight. `cut` ends a
/// part that has no room.
pub(super) fn worst(request: &Request, cut: &str) -> Option<String> {
    let Ask::Approval(approval) = &request.ask else { return None };
    let worst = warnings(approval).into_iter().next()?;
    let carries = |part: &&PartShown| part.worst && part.risks.iter().any(|risk| reveal_line(risk) == worst);
    let part = approval.parts.iter().find(carries).filter(|_| approval.parts.len() > 1);
    let named = |part: &PartShown| cells::cut(&expose_line(&part.text), PART, cut).into_owned();
    Some(part.map_or_else(|| worst.clone(), |part| format!("{worst}: {}", named(part))))
}

/// Other process that writes the session of this request.
pub(super) fn holder<'s>(paint: &FrameContext<'s>, request: &Request) -> Option<&'s str> {
    let state = paint.state;
    let (id, _) = state.conversations.open.iter().find(|(_, open)| open.request(&request.id).is_some())?;
    state.sessions.meta(id)?.held_by.as_deref()
}

/// Other writers of the session, then all risks but the worst, then reasons, one sentence each.
pub(super) fn facts(paint: &FrameContext<'_>, view: View<'_>, width: u16) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    if let Some(holder) = holder(paint, view.request) {
        let said = format!(
            "{} {} is writing this session. /takeover to answer here.",
            paint.signs.marks.warning,
            clean_line(holder)
        );
        lines.extend(words(paint, &said, width, Role::Warning));
    }
    let Ask::Approval(approval) = &view.request.ask else { return lines };
    let Approval { risks, reasons, would_run_now, proposal, parts, intent, .. } = &**approval;
    let mut say = |sign: &'static str, role: Role, text: &str| {
        let style = paint.style(role);
        let span = Span::styled(reveal_line(text), style);
        let (first, rest) = ([Span::styled(format!("{sign} "), style)], [Span::raw("  ")]);
        lines.extend(text::wrap(&[span], usize::from(width), &first, &rest, Fold::Words));
    };
    // The agent's own words come after whatever speaks for caution.
    let odd = oddities(proposal);
    let warns = odd.is_some() || !risks.is_empty();
    let said = intent.as_ref().map(|intent| format!("Agent: {}", expose_line(intent)));
    if let Some(said) = said.as_ref().filter(|_| !warns) {
        say(paint.signs.dot, Role::Dim, said);
    }
    // The worst stands below the title, and those of the parts with them.
    let of_part = |risk: &&str| parts.len() > 1 && parts.iter().any(|part| part.risks.iter().any(|one| one == risk));
    let others = risks.iter().skip(usize::from(odd.is_none())).map(String::as_str);
    let others: Vec<&str> = others.filter(|risk| !of_part(risk)).collect();
    if !others.is_empty() {
        say(paint.signs.marks.warning, Role::Warning, &others.join(", "));
    }
    // That a file changes is in the title.
    let is_change = matches!(proposal, Proposal::Change { .. } | Proposal::Changes { .. });
    for reason in reasons.iter().filter(|reason| !(is_change && reason.starts_with(FILE_CHANGE))) {
        say(paint.signs.dot, Role::Dim, reason);
    }
    if let Some(said) = said.as_ref().filter(|_| warns) {
        say(paint.signs.dot, Role::Dim, said);
    }
    if matches!(proposal, Proposal::Command { .. }) && parts.is_empty() {
        say(paint.signs.dot, Role::Dim, UNCHECKED_PARTS);
    }
    if *would_run_now {
        say(paint.signs.dot, Role::Good, "It would now run without asking.");
    }
    let (equal, reach) = view.equal;
    if equal > 0 {
        let ones = count(equal, "identical request", "identical requests");
        let key = paint.key_of(Action::Answer(AnswerAction::Equal), Context::Approval).unwrap_or_default();
        match reach {
            Reach::This => say(paint.signs.dot, Role::Dim, &format!("{ones} too · {key} answers all")),
            Reach::Equal => {
                let text = format!("answering this and {ones} · {key} this one only");
                say(paint.signs.marks.warning, Role::NeedsYou, &text);
            }
        }
    }
    lines
}
