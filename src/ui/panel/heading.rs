//! Heading of a request: what is asked, in a few words.

use super::lines::{in_title, place};
use super::trust;
use crate::domain::diff::FileDiff;
use crate::domain::lookalike::{expose, expose_line};
use crate::domain::request::{Ask, Request};
use crate::domain::sanitise::clean_line;
use crate::domain::tool::Proposal;
use crate::theme::Role;
use crate::ui::cells::{Piece, piece};
use crate::ui::figures::count;
use crate::ui::frame_context::FrameContext;

/// Cells below which a plan's name is short, so that its number of steps and its title have room.
const NARROW: u16 = 50;

/// The request in a few words: `Run this command?  in ~/src/app`, `Change src/main.rs?  +14 −3`.
/// A row that is `alone` names the subject, since nothing below does.
pub(super) fn heading(paint: &FrameContext<'_>, request: &Request, width: u16, alone: bool) -> Vec<Piece<'static>> {
    let loud = |text: &str| piece(text.to_owned(), paint.style(Role::NeedsYou));
    let strong = |text: String| piece(text, paint.style(Role::PanelTitle));
    let dim = |text: String| piece(text, paint.style(Role::Dim));
    match &request.ask {
        Ask::Approval(approval) => match &approval.proposal {
            Proposal::Command { command, .. } if alone => {
                vec![loud("Run? "), strong(expose(&one_line(command, paint.signs.cut)))]
            }
            Proposal::Command { cwd, .. } if in_title(paint, cwd, width) => {
                vec![loud("Run this command?"), dim(format!("  {}", place(paint, cwd)))]
            }
            Proposal::Command { .. } => vec![loud("Run this command?")],
            Proposal::Change { diff, .. } => {
                let verb = match diff {
                    FileDiff { is_new: true, .. } => "Create",
                    FileDiff { is_gone: true, .. } => "Delete",
                    _ => "Change",
                };
                let mut said = vec![
                    loud(verb),
                    strong(format!(" {}", expose(&diff.path))),
                    loud("?"),
                    piece(format!("  +{}", diff.added), paint.style(Role::Good)),
                ];
                // A new file takes nothing away.
                if !diff.is_new || diff.removed > 0 {
                    let removed = format!(" {}{}", paint.signs.minus, diff.removed);
                    said.push(piece(removed, paint.style(Role::Error)));
                }
                said
            }
            Proposal::Address { url } if alone => {
                vec![loud("Fetch? "), strong(expose(&one_line(url, paint.signs.cut)))]
            }
            Proposal::Address { .. } => vec![loud("Fetch this address?")],
            Proposal::Connect { to, .. } => {
                vec![loud("Allow network access to "), strong(expose(&one_line(to, paint.signs.cut))), loud("?")]
            }
            Proposal::Changes { changes } => {
                let sum = |of: fn(&FileDiff) -> u32| approval.proposal.diffs().map(of).fold(0, u32::saturating_add);
                vec![
                    loud(&format!("Change {}?", count(changes.len(), "file", "files"))),
                    piece(format!("  +{}", sum(|diff| diff.added)), paint.style(Role::Good)),
                    piece(format!(" {}{}", paint.signs.minus, sum(|diff| diff.removed)), paint.style(Role::Error)),
                ]
            }
            Proposal::Script { language, .. } => {
                vec![loud("Run this script?"), dim(format!("  {}", clean_line(language)))]
            }
            Proposal::Plain if alone => {
                vec![loud("Allow? "), strong(expose(&one_line(&approval.subject, paint.signs.cut)))]
            }
            Proposal::Plain => vec![loud(&format!("Allow {}?", clean_line(&approval.tool)))],
        },
        Ask::Plan(plan) => vec![
            loud(if width < NARROW { "Plan?" } else { "Approve this plan?" }),
            strong(format!("  {}", expose_line(&plan.title))),
        ],
        Ask::Question(question) if alone => vec![loud("Asks: "), strong(clean_line(&question.text).into_owned())],
        Ask::Question(_) => vec![loud("A question for you")],
        Ask::Trust(request) => trust::heading(request).into_iter().map(loud).collect(),
        Ask::Key(wanted) => {
            vec![loud("API key for "), strong(clean_line(wanted.connection.as_str()).into_owned()), loud("?")]
        }
    }
}

/// The first line, marked when there are more.
fn one_line(text: &str, cut: &str) -> String {
    match text.split_once('\n') {
        Some((first, _)) => format!("{first} {cut}"),
        None => text.to_owned(),
    }
}
