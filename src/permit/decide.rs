//! The table of the permission modes: a row for everything that a call touches, the strictest of them decides.

use super::shell::{self, Judged};
use super::{Allowed, AskEdits, ExploreCommands, Grant, Policy, Question, Verdict};
use crate::domain::paths;
use crate::domain::permission::Mode;
use crate::domain::rule::{Offer, Rule};
use crate::domain::tool::{CallFacts, Place, Proposal, Touch};
use std::path::{Path, PathBuf};

/// What one touch comes to.
enum Row {
    Allow,
    /// A setting of the user's allows it; which.
    Setting(&'static str),
    Ask {
        reason: String,
        risks: Vec<String>,
        /// What "this session" would keep; `None` in the rows that are never remembered.
        grant: Option<Grant>,
    },
    Deny(String),
}

/// Decides on one call. Of everything that the call touches the strictest row counts.
///
/// `headless`: nobody can be asked, so every ask is a denial.
#[must_use]
pub fn decide(policy: Policy, mode: Mode, grants: &[Grant], facts: &CallFacts, headless: bool) -> Verdict {
    let mut question = Question { reasons: Vec::new(), risks: Vec::new(), grant: None };
    let mut by_grant: Option<String> = None;
    let mut proposed: Vec<Option<Grant>> = Vec::new();
    for row in facts.touches.iter().map(|touch| row(policy, mode, facts, touch)).chain(unknown(mode, facts)) {
        match row {
            Row::Allow => {}
            Row::Setting(which) => drop(by_grant.get_or_insert_with(|| which.to_owned())),
            Row::Deny(why) => return Verdict::Deny(why),
            Row::Ask { reason, risks, grant } => {
                // Explore never asks, so no answer of earlier counts in it either.
                let kept = grant.as_ref().and_then(|grant| grants.iter().find(|kept| covers(kept, grant, facts)));
                if let Some(kept) = kept {
                    by_grant.get_or_insert_with(|| kept.in_words());
                    continue;
                }
                push_new(&mut question.reasons, reason);
                for risk in risks {
                    push_new(&mut question.risks, risk);
                }
                proposed.push(grant);
            }
        }
    }
    if question.reasons.is_empty() {
        return Verdict::Allow(by_grant.map_or(Allowed::ByMode, Allowed::ByGrant));
    }
    if headless {
        let reasons = question.reasons.join(" ");
        // Execute is only named where it would help.
        let helps =
            mode == Mode::Ask && matches!(decide(policy, Mode::Execute, grants, facts, false), Verdict::Allow(_));
        let way = if helps {
            "Run it from the app, where you are asked, or with --mode execute"
        } else {
            "Run it from the app, where you are asked"
        };
        return Verdict::Deny(format!("Nobody can be asked here, and this has to be asked: {reasons} {way}."));
    }
    // One grant must answer all that is asked, else remembering would promise too much.
    if let Some(Some(first)) = proposed.first() {
        let same = proposed.iter().all(|grant| grant.as_ref() == Some(first));
        question.grant = same.then(|| first.clone());
    }
    Verdict::Ask(question)
}

impl Grant {
    /// What is remembered, as it is offered to the user.
    #[must_use]
    pub fn offer(&self) -> Offer {
        let rule = match self {
            Grant::Command { command, .. } => Rule { args: Some(vec![command.clone()]), ..Rule::allow("bash") },
            Grant::Edits { below } => Rule { path: Some(format!("{}/**", below.display())), ..Rule::allow("edit") },
        };
        Offer { rule, harmless: None, worst: None }
    }

    /// What is remembered, in words.
    #[must_use]
    pub fn in_words(&self) -> String {
        match self {
            Grant::Command { command, cwd } => format!("`{command}` in {}", cwd.display()),
            Grant::Edits { below } => format!("edits below {}", below.display()),
        }
    }
}

/// A call that does not say what it touches is not let through.
fn unknown(mode: Mode, facts: &CallFacts) -> Option<Row> {
    facts.touches.is_empty().then(|| match mode {
        Mode::Explore => Row::Deny(explore("the call does not say what it touches")),
        _ => ask("The call does not say what it touches."),
    })
}

fn row(policy: Policy, mode: Mode, facts: &CallFacts, touch: &Touch) -> Row {
    match touch {
        Touch::Inner => Row::Allow,
        Touch::Read { path, secret } => {
            let runs = || facts.touches.iter().any(|touch| matches!(touch, Touch::Command { .. }));
            if *secret || paths::is_secret(path) {
                secret_row(mode, &path.display().to_string(), Vec::new())
            } else if paths::is_device(path) && runs() {
                // The file tools open no device; a command would.
                device_row(mode, path)
            } else {
                Row::Allow
            }
        }
        Touch::Write { path, place } => match write_row(mode, facts, path, *place) {
            // Only the row of plain edits can be remembered, and so be set.
            Row::Ask { grant: Some(Grant::Edits { .. }), .. } if policy.ask_edits == AskEdits::Allowed => {
                Row::Setting("ask.edits = \"allow\" in config.toml")
            }
            row => row,
        },
        Touch::Command { command, .. }
            if mode == Mode::Explore && policy.explore_commands == ExploreCommands::Blocked =>
        {
            Row::Deny(format!(
                "Explore runs no commands at all, by explore.bash = \"block\" in config.toml, so `{}` does not run. Use the \
                 tools read, list, glob and grep.",
                shortened(command)
            ))
        }
        Touch::Command { command, cwd, programs, unseen } => {
            let judged = shell::judge_found(command, policy.hold, programs, unseen.as_deref()).verdict;
            command_row(judged, mode, command, cwd)
        }
    }
}

fn secret_row(mode: Mode, what: &str, risks: Vec<String>) -> Row {
    match mode {
        Mode::Explore => Row::Deny(explore(&format!("{what} looks like a secret"))),
        _ => Row::Ask { reason: format!("{what} looks like a secret."), risks, grant: None },
    }
}

/// A device that a command reaches through a link: reading it may block, never end or do something.
fn device_row(mode: Mode, path: &Path) -> Row {
    let what = format!("{} is a device or a file of the kernel", path.display());
    match mode {
        Mode::Explore => Row::Deny(explore(&what)),
        Mode::Ask => Row::Ask { reason: format!("{what}."), risks: Vec::new(), grant: None },
        Mode::Execute => Row::Allow,
    }
}

fn write_row(mode: Mode, facts: &CallFacts, path: &Path, place: Place) -> Row {
    let shown = path.display();
    // A path that still climbs was not resolved: what was said about its place cannot be relied on.
    let place = if paths::climbs(path) { Place::Outside } else { place };
    match (place, mode) {
        (Place::SessionFolder, _) | (Place::Inside, Mode::Execute) => Row::Allow,
        (Place::Inside, Mode::Explore) => {
            Row::Deny(explore(&format!("{shown} would be changed; only the session's plans/ and data/ may be written")))
        }
        (Place::Inside, Mode::Ask) => Row::Ask {
            reason: format!("Ask to Edit asks before a file is changed: {shown}."),
            risks: Vec::new(),
            grant: Some(Grant::Edits { below: working_directory(facts, path) }),
        },
        (Place::Outside | Place::Protected, Mode::Explore) => Row::Deny(explore(&format!("{shown} would be changed"))),
        (Place::Outside, _) => Row::Ask {
            reason: format!("{shown} lies outside the working directory."),
            risks: vec!["outside the working directory".to_owned()],
            grant: None,
        },
        (Place::Protected, _) => Row::Ask {
            reason: format!("{shown} is protected: it configures or runs code."),
            risks: vec!["protected path".to_owned()],
            grant: None,
        },
    }
}

/// The working directory of a file's change: what the diff's short path was shortened by; else the file's own folder.
fn working_directory(facts: &CallFacts, path: &Path) -> PathBuf {
    let short = match &facts.proposal {
        Proposal::Change { diff, .. } => Path::new(&diff.path),
        _ => Path::new(""),
    };
    let parts = short.components().count();
    let above = if parts > 0 && short.is_relative() && !paths::climbs(short) && path.ends_with(short) {
        path.ancestors().nth(parts)
    } else {
        path.parent()
    };
    above.unwrap_or(path).to_owned()
}

fn command_row(judged: Judged, mode: Mode, command: &str, cwd: &Path) -> Row {
    let name = shortened(command);
    let why = match judged {
        Judged::ReadOnly(words) => {
            let paths: Vec<PathBuf> = words.iter().map(|word| paths::lexical(cwd, Path::new(word))).collect();
            let mut pairs = words.iter().zip(&paths);
            if let Some((word, _)) =
                pairs.clone().find(|(word, path)| paths::is_secret(path) || paths::is_secret(Path::new(word)))
            {
                return secret_row(mode, &format!("`{name}` reads {word}, which"), Vec::new());
            }
            match pairs.find(|(_, path)| paths::is_device(path)) {
                None => return Row::Allow,
                Some((word, _)) => format!("{word} is a device or a file of the kernel"),
            }
        }
        Judged::Catastrophic(what) => {
            return match mode {
                Mode::Explore => Row::Deny(explore(&format!("`{name}`: {what}"))),
                _ => Row::Ask {
                    reason: format!("This may destroy what nobody can bring back: {what}."),
                    risks: shell::looks(command, cwd).risks,
                    grant: None,
                },
            };
        }
        Judged::Other(why) => why,
    };
    if mode == Mode::Explore {
        // The judge's reason already says it when it is about the list.
        let listed = why.ends_with("is not on the list of commands that only read");
        let text = if listed { why } else { format!("`{name}` is not proved to only read: {why}") };
        return Row::Deny(explore(&text));
    }
    let looks = shell::looks(command, cwd);
    let list = |words: &[String]| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let never = [
        (&looks.secrets, "It names what looks like a secret"),
        (&looks.protected, "It names what configures or runs code"),
        (&looks.writes_outside, "It writes outside the working directory"),
    ]
    .into_iter()
    .filter(|(words, _)| !words.is_empty())
    .map(|(words, what)| format!("{what}: {}.", list(words)))
    .collect::<Vec<_>>()
    .join(" ");
    if !never.is_empty() {
        return Row::Ask { reason: never, risks: looks.risks, grant: None };
    }
    if mode == Mode::Execute {
        return Row::Allow;
    }
    Row::Ask {
        reason: format!("Not proved to only read: {why}."),
        risks: looks.risks,
        grant: Some(Grant::Command { command: command.to_owned(), cwd: cwd.to_owned() }),
    }
}

/// Whether what was kept answers what is asked now.
fn covers(kept: &Grant, asked: &Grant, facts: &CallFacts) -> bool {
    match (kept, asked) {
        (Grant::Command { .. }, Grant::Command { .. }) => kept == asked,
        // Asked only for writes inside; every one of the call must lie below what was granted.
        (Grant::Edits { below }, Grant::Edits { .. }) => facts.touches.iter().all(|touch| match touch {
            Touch::Write { path, place: Place::Inside } => path.starts_with(below) && !paths::climbs(path),
            _ => true,
        }),
        _ => false,
    }
}

fn ask(reason: &str) -> Row {
    Row::Ask { reason: reason.to_owned(), risks: Vec::new(), grant: None }
}

fn explore(why: &str) -> String {
    format!("Explore is read-only: {why}. Shift+Tab to Ask to Edit lets it ask.")
}

/// The first line of a command, short enough for a sentence.
fn shortened(command: &str) -> String {
    let mut lines = command.trim().lines();
    let first = lines.next().unwrap_or_default();
    let mut out: String = first.chars().take(60).collect();
    if out.len() < first.len() || lines.next().is_some() {
        out.push('…');
    }
    out
}

fn push_new(list: &mut Vec<String>, text: String) {
    if !list.contains(&text) {
        list.push(text);
    }
}
