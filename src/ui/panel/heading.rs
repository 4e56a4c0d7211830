//! Heading of a request: what is asked, in a few words.

use super::lines::{in_title, place};
use super::trust;
use crate::app::state::hunks::HunkView;
use crate::domain::diff::FileDiff;
use crate::domain::lookalike::{expose, expose_line};
use crate::domain::request::{Ask, Request};
use crate::domain::sanitise::{clean_line, reveal_line};
use crate::domain::tool::Proposal;
use crate::theme::Role;
use crate::ui::cells::{Piece, piece};
use crate::ui::figures::count;
use crate::ui::frame_context::FrameContext;

/// Cells below which a plan's name is short, so that its number of steps and its title have room.
const NARROW: u16 = 50;

/// The request in a few words: `Run this command?  in ~/src/app`, `Change src/main.rs?  +14 −3`.
/// A row that is `alone` names the subject, since nothing below does.
/// `hunks`: the changed places, where they can be struck out; the figures are of those that are left.
pub(super) fn heading(
    paint: &FrameContext<'_>,
    request: &Request,
    hunks: Option<&HunkView>,
    (width, alone): (u16, bool),
) -> Vec<Piece<'static>> {
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
                let mut said = vec![loud(verb), strong(format!(" {}", expose_line(&diff.path))), loud("?")];
                said.extend(figures(paint, &approval.proposal, hunks));
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
                let mut said = vec![loud(&format!("Change {}?", count(changes.len(), "file", "files")))];
                said.extend(figures(paint, &approval.proposal, hunks));
                said
            }
            Proposal::Script { language, .. } => {
                vec![loud("Run this script?"), dim(format!("  {}", clean_line(language)))]
            }
            Proposal::SourceCall { source, tool, .. } => vec![
                loud("Call "),
                strong(expose(&one_line(tool, paint.signs.cut))),
                loud(" of source "),
                strong(expose(&one_line(source, paint.signs.cut))),
                loud("?"),
            ],
            Proposal::Plain if alone => {
                vec![loud("Allow? "), strong(expose(&one_line(&approval.subject, paint.signs.cut)))]
            }
            Proposal::Plain => vec![loud(&format!("Allow {}?", clean_line(&approval.tool)))],
        },
        Ask::Plan(plan) => vec![
            loud(if width < NARROW { "Plan?" } else { "Approve this plan?" }),
            strong(format!("  {}", expose_line(&plan.title))),
        ],
        Ask::Question(question) if alone => vec![loud("Asks: "), strong(reveal_line(&question.text))],
        Ask::Question(_) => vec![loud("A question for you")],
        Ask::Trust(request) => trust::heading(request).into_iter().map(loud).collect(),
        Ask::Key(wanted) => {
            vec![loud("API key for "), strong(clean_line(wanted.connection.as_str()).into_owned()), loud("?")]
        }
    }
}

/// `  +14 −3  3 changes`; where some are struck out, that comes first: what has no room goes from the end.
fn figures(paint: &FrameContext<'_>, proposal: &Proposal, hunks: Option<&HunkView>) -> Vec<Piece<'static>> {
    let all = || proposal.diffs().fold((0, 0), |sum: (u32, u32), diff| (sum.0 + diff.added, sum.1 + diff.removed));
    let struck = hunks.filter(|hunks| !hunks.left_out().is_empty());
    let (added, removed) = struck.map_or_else(all, |hunks| hunks.counts(proposal));
    let mut said = vec![piece(format!("  +{added}"), paint.style(Role::Good))];
    // A new file takes nothing away.
    if removed > 0 || proposal.diffs().any(|diff| !diff.is_new) {
        said.push(piece(format!(" {}{removed}", paint.signs.minus), paint.style(Role::Error)));
    }
    if let Some(hunks) = hunks {
        let role = if struck.is_some() { Role::Accent } else { Role::Dim };
        let words = piece(format!("  {}", hunks.in_words()), paint.style(role));
        said.insert(if struck.is_some() { 0 } else { said.len() }, words);
    }
    said
}

/// The first line, marked when there are more.
fn one_line(text: &str, cut: &str) -> String {
    match text.split_once('\n') {
        Some((first, _)) => format!("{first} {cut}"),
        None => text.to_owned(),
    }
}
