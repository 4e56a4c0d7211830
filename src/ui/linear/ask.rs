//! Pending requests as lines: the exact effect, the reason, and numbered answers.
//!
//! Nothing that is decided on is shortened, and what could deceive is made visible.

use super::super::panel::approval::{UNCHECKED_PARTS, oddities};
use super::asked::CONFIRM;
use super::prose;
use super::row::{change, diff, hunk_lines, indented, labelled};
use crate::app::state::panel::{Choice, Panel};
use crate::domain::count::count;
use crate::domain::diff::FileDiff;
use crate::domain::lookalike::{expose, expose_line};
use crate::domain::request::{Approval, Ask, KeyRequest, PartShown, PartState, Request, TrustRequest, TrustWhat};
use crate::domain::sanitise::{clean_line, reveal, reveal_line};
use crate::domain::tool::Proposal;
use std::path::Path;

/// Each line of a text that is decided on, with nothing hidden.
fn exposed(text: &str) -> Vec<String> {
    expose(text).split('\n').map(str::to_owned).collect()
}

/// A path with the home directory as `~`.
pub(super) fn home_path(path: &Path, home: &str) -> String {
    match path.strip_prefix(home) {
        Ok(rest) if rest.as_os_str().is_empty() && !home.is_empty() => "~".to_owned(),
        Ok(rest) if !home.is_empty() => format!("~/{}", rest.display()),
        _ => path.display().to_string(),
    }
}

/// The request and its numbered answers. `place` is "1 of 3" where several wait.
pub(super) fn lines(panel: &Panel, request: &Request, place: Option<(usize, usize)>, home: &str) -> Vec<String> {
    let mut out = match &request.ask {
        Ask::Approval(approval) => approve(approval, home),
        Ask::Plan(plan) => {
            let mut out = vec![format!("plan: {}", reveal_line(plan.title.trim()))];
            let marked = panel.plan.as_ref().map_or_else(|| plan.markdown.clone(), |view| view.text());
            out.extend(indented(prose::whole(&reveal(&marked))));
            out.push("end of plan. Approve it?".to_owned());
            out
        }
        Ask::Question(question) => labelled("question", prose::whole(&reveal(&question.text))),
        Ask::Trust(trust) => trusting(trust, home),
        Ask::Key(wanted) => key(wanted, home),
    };
    if let (Some((at, of)), Some(first)) = (place, out.first_mut()) {
        *first = format!("{at} of {of}, {first}");
    }
    out.extend(answers(panel, request));
    out
}

/// The answers behind their numbers, and what those that remember would keep.
pub(super) fn answers(panel: &Panel, request: &Request) -> Vec<String> {
    let mut out = Vec::new();
    for (n, choice) in panel.choices.iter().enumerate() {
        let label = expose_line(choice.label());
        let sure = if panel.needs_arrows(n) { format!(" (answer: {}{CONFIRM})", n + 1) } else { String::new() };
        out.push(format!("{}. {label}{sure}", n + 1));
    }
    let keeping = panel.choices.iter().enumerate().filter(|(_, choice)| choice.scope().is_some());
    let keeping: Vec<String> = keeping.map(|(n, _)| (n + 1).to_string()).collect();
    if !keeping.is_empty() {
        out.extend(remembered(panel, request, &keeping.join(" and ")));
    }
    out
}

/// Rule that a lasting yes would remember, and what else it would allow.
fn remembered(panel: &Panel, request: &Request, which: &str) -> Vec<String> {
    let Ask::Approval(approval) = &request.ask else { return Vec::new() };
    let mut out = Vec::new();
    for rule in &panel.rules {
        let mut line = format!("{which} will allow: {}", expose_line(&rule.in_words()));
        if let Some(offer) = approval.offers.iter().find(|offer| offer.rule == *rule) {
            if let Some(harmless) = &offer.harmless {
                line.push_str(&format!("; also allows: {}", expose_line(harmless)));
            }
            if let Some(worst) = &offer.worst {
                line.push_str(&format!("; worst case: {}", expose_line(worst)));
            }
        }
        out.push(line.replace('\n', " "));
    }
    out
}

fn approve(approval: &Approval, home: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut numbers = ChangeNumbers { next: 0, all: approval.proposal.strikable() };
    match &approval.proposal {
        Proposal::Command { command, cwd } => {
            let place = expose_line(&home_path(cwd, home));
            out.push(format!("approval needed: run this command in {place}"));
            out.extend(labelled("command", exposed(command)));
            out.extend(parts(&approval.parts));
        }
        Proposal::Change { diff: one, .. } => {
            let verb = match (one.is_new, one.is_gone) {
                (true, _) => "create",
                (_, true) => "delete",
                _ => "change",
            };
            let path = expose_line(&one.path);
            out.push(format!("approval needed: {verb} {path}, {}", change(one)));
            out.extend(diff_exposed(one, &mut numbers));
        }
        Proposal::Changes { changes } => {
            out.push(format!("approval needed: change {}", count(changes.len(), "file", "files")));
            for one in approval.proposal.diffs() {
                out.push(format!("file: {}, {}", expose_line(&one.path), change(one)));
                out.extend(diff_exposed(one, &mut numbers));
            }
        }
        Proposal::Connect { to, command } => {
            out.push(format!("approval needed: network access to {}", expose_line(to)));
            if !command.is_empty() {
                out.extend(labelled("command", exposed(command)));
            }
        }
        Proposal::Address { url } => out.push(format!("approval needed: fetch {}", expose_line(url))),
        Proposal::Script { language, script, files } => {
            out.push(format!("approval needed: run this script, {}", clean_line(language)));
            out.extend(indented(exposed(script)));
            out.push("end of script".to_owned());
            out.extend(files.iter().map(|path| format!("file: {}", expose_line(&home_path(path, home)))));
        }
        Proposal::SourceCall { source, tool, arguments } => {
            out.push(format!("approval needed: call {} of source {}", expose_line(tool), expose_line(source)));
            out.extend(labelled("arguments", exposed(arguments)));
        }
        Proposal::Plain => {
            let subject = expose_line(&approval.subject);
            out.push(format!("approval needed: {} {subject}", clean_line(&approval.tool)));
        }
    }
    if let Some(intent) = &approval.intent {
        out.push(format!("Agent: {}", expose_line(intent)));
    }
    if let Some(odd) = oddities(&approval.proposal) {
        out.push(format!("warning: {odd}"));
    }
    out.extend(approval.risks.iter().map(|risk| format!("risk: {}", reveal_line(risk))));
    out.extend(approval.reasons.iter().map(|reason| format!("why: {}", reveal_line(reason))));
    if matches!(approval.proposal, Proposal::Command { .. }) && approval.parts.is_empty() {
        out.push(UNCHECKED_PARTS.to_owned());
    }
    if approval.would_run_now {
        out.push("note: it would now run without asking".to_owned());
    }
    out
}

/// Verdict on each part of a line of several commands, the riskiest first, as on the screen.
fn parts(parts: &[PartShown]) -> Vec<String> {
    let mut out = Vec::new();
    if parts.len() < 2 {
        return out;
    }
    let (worst, others): (Vec<&PartShown>, Vec<&PartShown>) = parts.iter().partition(|part| part.worst);
    for part in worst.into_iter().chain(others) {
        let word = match part.state {
            PartState::Asked => "needs approval",
            PartState::Reads => "read-only",
            PartState::Allowed => "allowed",
        };
        let mark = if part.worst { "riskiest part" } else { "part" };
        out.push(format!("{mark}, {word}: {}", expose_line(&part.text)));
        out.extend(part.risks.iter().map(|risk| format!("  risk of this part: {}", reveal_line(risk))));
    }
    out
}

/// Numbers of changed places, counted over all files.
struct ChangeNumbers {
    next: usize,
    /// Count of places that can be left out one by one; 0 where none can.
    all: usize,
}

/// A change with every character of it visible, its places behind their numbers where they can be left out.
fn diff_exposed(one: &FileDiff, numbers: &mut ChangeNumbers) -> Vec<String> {
    let mut shown = one.clone();
    for line in shown.hunks.iter_mut().flat_map(|hunk| &mut hunk.lines) {
        line.text = reveal(&line.text);
    }
    let mut out = Vec::new();
    if numbers.all == 0 {
        out = diff(&shown);
    } else {
        for hunk in &shown.hunks {
            numbers.next += 1;
            let mut lines = hunk_lines(hunk);
            if let Some(first) = lines.first_mut() {
                *first = format!("change {} of {}, {first}", numbers.next, numbers.all);
            }
            out.append(&mut lines);
        }
    }
    out.push("end of change".to_owned());
    out
}

fn trusting(request: &TrustRequest, home: &str) -> Vec<String> {
    let what = match (request.what, request.changed) {
        (TrustWhat::Workspace, _) => "trust this workspace",
        (TrustWhat::Repository, false) => "trust these rules",
        (TrustWhat::Repository, true) => "trust the changed rules",
        (TrustWhat::Sources, false) => "trust these sources",
        (TrustWhat::Sources, true) => "trust the changed sources",
        (TrustWhat::Extensions, false) => "trust these skills, agents and commands",
        (TrustWhat::Extensions, true) => "trust the changed skills, agents and commands",
    };
    let path = reveal_line(&home_path(&request.path, home));
    let mut out = vec![format!("trust needed: {what}? {path}")];
    out.extend(indented(request.text.lines().map(reveal)));
    out
}

fn key(wanted: &KeyRequest, home: &str) -> Vec<String> {
    let stored = home_path(Path::new(&wanted.stored), home);
    vec![
        format!("key needed: {}. {}", clean_line(wanted.connection.as_str()), clean_line(wanted.why.trim())),
        format!("Sent only to {}.", expose_line(&wanted.host)),
        format!("Stored in {}, readable only by you.", expose_line(&stored)),
    ]
}

/// Prompt for an answer that needs text.
pub(super) fn words_for(choice: &Choice, begun: &str) -> Vec<String> {
    let what = match choice {
        Choice::Reason => "why not",
        Choice::Instead => "the edited command",
        Choice::PlanChanges => "what to change",
        _ => "your answer",
    };
    let mut out = vec![format!("enter {what}; an empty line goes back to the answers")];
    if !begun.trim().is_empty() {
        out.extend(labelled("so far", exposed(begun)));
    }
    out
}
