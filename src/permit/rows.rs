//! The table of the permission modes: what one thing that a call touches comes to.

use super::grants;
use super::rules::Rules;
use super::shell::{self, Judged, Judgement};
use super::{AskEdits, ExploreCommands, Policy};
use crate::domain::paths;
use crate::domain::permission::Mode;
use crate::domain::rule::{Offer, Rule};
use crate::domain::tool::{CallFacts, Place, Program, Touch};
use std::path::{Path, PathBuf};

/// What one touch comes to.
pub(super) enum Row {
    Allow,
    /// A setting of the user's allows it; which.
    Setting(&'static str),
    /// Rules allow it; their places.
    Ruled(Vec<usize>),
    Ask {
        reason: String,
        risks: Vec<String>,
        /// What an answer would keep; empty in the rows that are never remembered.
        offers: Vec<Offer>,
        /// No rule can answer it.
        every_time: bool,
    },
    Deny(String),
}

const EDITS_ALLOWED: &str = "ask.edits = \"allow\" in config.toml";

/// A call that does not say what it touches is not let through.
pub(super) fn unknown(mode: Mode, facts: &CallFacts) -> Option<Row> {
    facts.touches.is_empty().then(|| match mode {
        Mode::Explore => Row::Deny(explore("the call does not say what it touches")),
        _ => never("The call does not say what it touches.".to_owned(), Vec::new()),
    })
}

pub(super) fn row(policy: Policy, mode: Mode, rules: &Rules, facts: &CallFacts, touch: &Touch) -> Row {
    match touch {
        // What leads elsewhere is said of a command, which has its own row.
        Touch::Inner | Touch::Leaves { .. } => Row::Allow,
        Touch::Read { path, secret } => {
            let runs = || facts.touches.iter().any(|touch| matches!(touch, Touch::Command { .. }));
            if *secret || paths::is_secret(path) {
                secret_row(mode, &path.display().to_string())
            } else if paths::is_device(path) && runs() {
                // The file tools open no device; a command would.
                device_row(mode, path)
            } else {
                Row::Allow
            }
        }
        Touch::Write { path, place } => write_row(policy, mode, rules, &facts.tool, path, *place),
        Touch::Outside => match mode {
            Mode::Explore => Row::Deny(explore("nothing runs outside the sandbox")),
            _ => never(
                "It asks to run outside the sandbox, so nothing holds it back.".to_owned(),
                vec!["outside the sandbox".to_owned()],
            ),
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
            let judgement = shell::judge_found(command, policy.hold, programs, unseen.as_deref());
            let line = Line { command, cwd, programs, unseen: unseen.is_some(), judgement };
            line.row(policy, mode, rules, facts)
        }
    }
}

fn secret_row(mode: Mode, what: &str) -> Row {
    match mode {
        Mode::Explore => Row::Deny(explore(&format!("{what} looks like a secret"))),
        _ => never(format!("{what} looks like a secret."), Vec::new()),
    }
}

/// A device that a command reaches through a link: reading it may block, never end or do something.
fn device_row(mode: Mode, path: &Path) -> Row {
    let what = format!("{} is a device or a file of the kernel", path.display());
    match mode {
        Mode::Explore => Row::Deny(explore(&what)),
        Mode::Ask => never(format!("{what}."), Vec::new()),
        Mode::Execute => Row::Allow,
    }
}

fn write_row(policy: Policy, mode: Mode, rules: &Rules, tool: &str, path: &Path, place: Place) -> Row {
    let shown = path.display();
    // A path that still climbs was not resolved: what was said about its place cannot be relied on.
    let place = if paths::climbs(path) { Place::Outside } else { place };
    match (place, mode) {
        (Place::SessionFolder, _) | (Place::Inside, Mode::Execute) => Row::Allow,
        (Place::Inside, Mode::Explore) => {
            Row::Deny(explore(&format!("{shown} would be changed; only the session's plans/ and data/ may be written")))
        }
        (Place::Inside, Mode::Ask) => match rules.allows_change(tool, path) {
            _ if policy.ask_edits == AskEdits::Allowed => Row::Setting(EDITS_ALLOWED),
            Some(at) => Row::Ruled(vec![at]),
            None => Row::Ask {
                reason: format!("Ask to Edit asks before a file is changed: {shown}."),
                risks: Vec::new(),
                offers: vec![grants::edits(path, rules)],
                every_time: false,
            },
        },
        (Place::Outside | Place::Protected, Mode::Explore) => Row::Deny(explore(&format!("{shown} would be changed"))),
        (Place::Outside, _) => never(
            format!("{shown} lies outside the working directory."),
            vec!["outside the working directory".to_owned()],
        ),
        (Place::Protected, _) => {
            never(format!("{shown} is protected: it configures or runs code."), vec!["protected path".to_owned()])
        }
    }
}

/// A command line with what is known of it.
struct Line<'a> {
    command: &'a str,
    cwd: &'a Path,
    programs: &'a [Program],
    /// Not all that it names could be looked up.
    unseen: bool,
    judgement: Judgement,
}

impl Line<'_> {
    fn row(&self, policy: Policy, mode: Mode, rules: &Rules, facts: &CallFacts) -> Row {
        let name = shortened(self.command);
        let why = match &self.judgement.verdict {
            Judged::ReadOnly(words) => match self.read_row(mode, words) {
                Ok(row) => return row,
                Err(why) => why,
            },
            Judged::Catastrophic(what) => {
                return match mode {
                    Mode::Explore => Row::Deny(explore(&format!("`{name}`: {what}"))),
                    _ => never(
                        format!("This may destroy what nobody can bring back: {what}."),
                        shell::looks(self.command, self.cwd).risks,
                    ),
                };
            }
            Judged::Other(why) => why.clone(),
        };
        if mode == Mode::Explore {
            // The judge's reason already says it when it is about the list.
            let listed = why.ends_with("is not on the list of commands that only read");
            let text = if listed { why } else { format!("`{name}` is not proved to only read: {why}") };
            return Row::Deny(explore(&text));
        }
        let looks = shell::looks(self.command, self.cwd);
        let list = |words: &[String]| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        let leaves = super::matches::leaves(facts);
        let written: Vec<PathBuf> = self.judgement.writes.iter().map(|word| self.full(word)).collect();
        let elsewhere = self.judgement.writes.iter().zip(&written);
        let elsewhere = elsewhere.filter(|(_, path)| leaves.iter().any(|leads| path.starts_with(leads)));
        let elsewhere: Vec<String> = elsewhere.map(|(word, _)| word.clone()).collect();
        let stops = [
            (&looks.secrets, "It names what looks like a secret"),
            (&looks.protected, "It names what configures or runs code"),
            (&looks.writes_outside, "It writes outside the working directory"),
            (&elsewhere, "It writes through a link that leads elsewhere"),
        ]
        .into_iter()
        .filter(|(words, _)| !words.is_empty())
        .map(|(words, what)| format!("{what}: {}.", list(words)))
        .collect::<Vec<_>>()
        .join(" ");
        if !stops.is_empty() {
            return never(stops, looks.risks);
        }
        if mode == Mode::Execute {
            return Row::Allow;
        }
        self.part_by_part(policy, rules, facts, &written, (why, looks.risks))
    }

    fn full(&self, word: &str) -> PathBuf {
        paths::lexical(self.cwd, Path::new(word))
    }

    /// The row of a line that only reads these words, or why it is not let through all the same.
    fn read_row(&self, mode: Mode, words: &[String]) -> Result<Row, String> {
        let name = shortened(self.command);
        let paths: Vec<PathBuf> = words.iter().map(|word| self.full(word)).collect();
        let mut pairs = words.iter().zip(&paths);
        if let Some((word, _)) =
            pairs.clone().find(|(word, path)| paths::is_secret(path) || paths::is_secret(Path::new(word)))
        {
            return Ok(secret_row(mode, &format!("`{name}` reads {word}, which")));
        }
        match pairs.find(|(_, path)| paths::is_device(path)) {
            None => Ok(Row::Allow),
            Some((word, _)) => Err(format!("{word} is a device or a file of the kernel")),
        }
    }

    /// Only the parts that neither read nor are allowed by a rule are asked.
    fn part_by_part(
        &self,
        policy: Policy,
        rules: &Rules,
        facts: &CallFacts,
        written: &[PathBuf],
        (why, risks): (String, Vec<String>),
    ) -> Row {
        let mut ruled = Vec::new();
        let mut by_setting = false;
        let mut offers = Vec::new();
        let mut reasons: Vec<String> = Vec::new();
        let mut nothing_offered = false;
        for part in &self.judgement.parts {
            let argv = part.argv.as_deref().filter(|argv| self.is_known(argv));
            // Beside a part that changes something, what reads is looked at once more by itself.
            let device = |argv: &[String]| argv.iter().any(|word| paths::is_device(&self.full(word)));
            if part.reads && argv.is_some_and(|argv| !device(argv)) {
                continue;
            }
            if let Some(at) = argv.and_then(|argv| rules.allows_command(argv, self.cwd, facts)) {
                ruled.push(at);
                continue;
            }
            let reason = if part.why.is_empty() { why.clone() } else { part.why.clone() };
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
            match argv.and_then(|argv| grants::command(argv, self.cwd, facts, rules)) {
                Some(offer) => offers.push(offer),
                None => nothing_offered = true,
            }
        }
        for path in written {
            match rules.allows_change("bash", path).filter(|_| self.is_inside(path, rules)) {
                _ if policy.ask_edits == AskEdits::Allowed && self.is_inside(path, rules) => by_setting = true,
                Some(at) => ruled.push(at),
                None => {
                    reasons.push(format!("it writes {}", path.display()));
                    nothing_offered |= !self.is_inside(path, rules);
                    offers.push(grants::edits(path, rules));
                }
            }
        }
        // Only what the parts say can be answered by rules about parts.
        let explained = !ruled.is_empty() || by_setting;
        if reasons.is_empty() && explained {
            return if ruled.is_empty() { Row::Setting(EDITS_ALLOWED) } else { Row::Ruled(ruled) };
        }
        if nothing_offered || reasons.is_empty() {
            offers.clear();
        }
        let why = if reasons.is_empty() { why } else { reasons.join("; ") };
        Row::Ask { reason: format!("Not proved to only read: {why}."), risks, offers, every_time: false }
    }

    /// Everything about the words is known: no pattern that the shell replaces, no program that is another than its name
    /// says.
    fn is_known(&self, argv: &[String]) -> bool {
        let expands = argv.iter().any(|word| self.judgement.expands.contains(word));
        let own = argv.first().is_some_and(|program| {
            !program.contains('/') && self.programs.iter().any(|one| one.inside && one.name == *program)
        });
        let looked_up = !self.unseen || self.judgement.expands.is_empty();
        !expands && !own && looked_up
    }

    /// Below the working directory for certain: what the shell replaces is not known.
    fn is_inside(&self, path: &Path, rules: &Rules) -> bool {
        let below = path.starts_with(self.cwd) || rules.ground.here.iter().any(|here| path.starts_with(here));
        let plain = !path.to_string_lossy().contains(['$', '*', '?', '[', '{', '~', '`']);
        below && plain && !paths::climbs(path) && !paths::is_protected(path.strip_prefix(self.cwd).unwrap_or(path))
    }
}

/// A question that is asked every time.
fn never(reason: String, risks: Vec<String>) -> Row {
    Row::Ask { reason, risks, offers: Vec::new(), every_time: true }
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

/// The rule that lets the file tools change what lies below the working directory.
pub(super) fn edit_rule() -> Rule {
    Rule { path: Some(crate::domain::rule::BELOW.to_owned()), ..Rule::allow("edit") }
}
