//! Rows of a command line: its verdict, its parts, and the rules that an answer would keep of them.

use super::access;
use super::grants;
use super::matches::Ways;
use super::policy::{AskEdits, Policy};
use super::row::{COMPUTES, EDITS_ALLOWED, TouchRow, always_ask, asked, explore, noting};
use super::rules::Rules;
use super::shell::{self, CommandPart, Judged, Judgement, shortened};
use crate::domain::command_effects::{Settles, reach};
use crate::domain::paths;
use crate::domain::permission::{Mode, Sandbox};
use crate::domain::request::{PartShown, PartState};
use crate::domain::rule::Offer;
use crate::domain::tool::{CallFacts, StartedProgram, Touch};
use std::path::{Path, PathBuf};

/// The parts of the command that a call runs, and what becomes of each, for the user who is asked. Empty where the line
/// was not understood.
#[must_use]
pub fn parts(policy: Policy, rules: &Rules, facts: &CallFacts) -> Vec<PartShown> {
    let command = facts.touches.iter().find_map(|touch| match touch {
        Touch::Command { command, cwd, programs, unseen, .. } => Some((command, cwd, programs, unseen)),
        _ => None,
    });
    let Some((command, cwd, programs, unseen)) = command else { return Vec::new() };
    let judgement = shell::judge_found(command, policy.read_only_profile, programs, unseen.as_deref());
    let secrets_here = facts.secrets_here;
    let line = CommandLine { command, cwd, programs, unseen: unseen.is_some(), secrets_here, judgement };
    let known = shell::known(command);
    let ways = known.as_ref().and_then(|known| Ways::of(&known.commands, cwd, facts));
    let whole = line.looks(command, facts);
    let shown = |part: &CommandPart| {
        let wide = part.argv.as_deref().is_some_and(|argv| reach(argv).unknown) && !is_held(policy);
        let ways = ways.as_ref().filter(|_| !wide);
        let looks = line.looks(&part.text, facts);
        let state = line.state(part, &looks, rules, ways);
        let mut risks = if state == PartState::Reads { Vec::new() } else { looks.risks.clone() };
        if !looks.secrets.is_empty() {
            risks.push(shell::NAMES_SECRET.to_owned());
        } else if looks.sends() && !whole.secrets.is_empty() {
            // Another part may hand it a secret.
            shell::Looks::with_secret(&mut risks);
        }
        risks.sort_by_key(|risk| shell::gravity(risk));
        // What cannot be brought back is worse than all else.
        let danger = shell::danger(&part.text);
        let rank = if danger.is_some() { Some(0) } else { risks.first().map(|risk| 1 + shell::gravity(risk)) };
        let risks = danger.into_iter().chain(risks).collect();
        (rank, PartShown { text: part.text.clone(), state, risks, worst: false })
    };
    let mut all: Vec<(Option<usize>, PartShown)> = Vec::new();
    for part in line.judgement.parts.iter().map(shown) {
        // What a loop runs several times is shown once.
        if !all.contains(&part) {
            all.push(part);
        }
    }
    let asked = |part: &PartShown| part.state == PartState::Asked;
    let worst = all.iter().filter(|(_, part)| asked(part)).filter_map(|(rank, _)| *rank).min();
    if let Some((_, part)) = all.iter_mut().find(|(rank, part)| asked(part) && rank.is_some() && *rank == worst) {
        part.worst = true;
    }
    all.into_iter().map(|(_, part)| part).collect()
}

/// A command line with what is known of it.
pub(super) struct CommandLine<'a> {
    pub(super) command: &'a str,
    pub(super) cwd: &'a Path,
    pub(super) programs: &'a [StartedProgram],
    /// Not all that it names could be looked up.
    pub(super) unseen: bool,
    /// Secrets lie below the working directory, and nothing masks them.
    pub(super) secrets_here: bool,
    pub(super) judgement: Judgement,
}

impl CommandLine<'_> {
    /// Row of the whole line.
    pub(super) fn row(&self, policy: Policy, mode: Mode, rules: &Rules, facts: &CallFacts) -> TouchRow {
        let name = shortened(self.command);
        let why = match &self.judgement.verdict {
            Judged::ReadOnly(_) if self.secrets_here && self.judgement.computes => COMPUTES.to_owned(),
            Judged::ReadOnly(words) => match self.read_row(mode, rules, &self.read(words)) {
                Ok(row) => return row,
                Err(why) => why,
            },
            Judged::Catastrophic(what) => {
                return match mode {
                    Mode::Explore => TouchRow::Deny(explore(&format!("`{name}`: {what}"))),
                    _ => {
                        let others = shell::looks(self.command, self.cwd).risks;
                        always_ask(
                            "This may be irreversible.".to_owned(),
                            std::iter::once(what.clone()).chain(others).collect(),
                        )
                    }
                };
            }
            Judged::Other(why) => why.clone(),
        };
        if mode == Mode::Explore {
            // The judge's reason already says it when it is about the list.
            let text =
                if super::row::is_whole(&why) { why } else { format!("`{name}` is not known to be read-only: {why}") };
            return TouchRow::Deny(explore(&text));
        }
        let looks = self.looks(self.command, facts);
        let list = |words: &[String]| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        let leaves = super::matches::leaves(facts);
        let leads = |word: &&String| leaves.iter().any(|path| self.full(word).starts_with(path));
        let elsewhere: Vec<String> = self.judgement.writes.iter().filter(leads).cloned().collect();
        let known = shell::known(self.command);
        let Reached { protected, settles, noted } = self.reached(known.as_ref());
        let secrets: Vec<String> =
            looks.secrets.iter().filter(|word| rules.shows(&self.full(word), true).is_none()).cloned().collect();
        let stops = [
            (&secrets, "Possible secret"),
            (&looks.protected, "Files that configure or run code"),
            (&protected, "Would change files that configure or run code"),
            (&looks.own, "Runs lisle itself, which reaches other sessions and the rules"),
            (&settles, "Changes"),
            (&looks.writes_outside, "Writes outside the working directory"),
            (&elsewhere, "Writes through a symlink to another place"),
        ]
        .into_iter()
        .filter(|(words, _)| !words.is_empty())
        .map(|(words, what)| format!("{what}: {}.", list(words)))
        .collect::<Vec<_>>()
        .join(" ");
        if !stops.is_empty() {
            let paths: Vec<PathBuf> = secrets.iter().map(|word| self.full(word)).collect();
            let others = [&looks.protected, &looks.own, &protected, &settles, &looks.writes_outside, &elsewhere];
            let offers = match others.iter().all(|list| list.is_empty()) {
                true => self.with_secrets(&paths, (policy, mode, rules, facts), known.as_ref()),
                false => Vec::new(),
            };
            let risks = paths.iter().map(|path| access::secret_risk(path, rules)).chain(looks.risks).collect();
            return TouchRow::Ask { reason: stops, risks, offers, every_time: true };
        }
        if mode == Mode::Execute {
            return TouchRow::Allow;
        }
        match known.filter(|_| !self.reads_badly()) {
            Some(known) => noting(self.part_by_part(policy, rules, facts, &known.commands, (why, looks.risks)), &noted),
            None => asked(&why, looks.risks, Vec::new()),
        }
    }

    /// Rules that an answer keeps of a line that is asked about for its secrets alone: that they are shown, and the
    /// line itself.
    fn with_secrets(
        &self,
        paths: &[PathBuf],
        (policy, mode, rules, facts): (Policy, Mode, &Rules, &CallFacts),
        known: Option<&shell::DefiniteCommands>,
    ) -> Vec<Offer> {
        let shown: Option<Vec<Offer>> = paths.iter().map(|path| access::secret(path, &rules.ground)).collect();
        let mut offers = shown.unwrap_or_default();
        if let (false, Mode::Ask, Some(known)) = (offers.is_empty(), mode, known)
            && let TouchRow::Ask { offers: more, .. } =
                self.part_by_part(policy, rules, facts, &known.commands, (String::new(), Vec::new()))
        {
            offers.extend(more);
        }
        offers
    }

    /// Changes by the commands of the line beside what their words name, as far as the words tell.
    fn reached(&self, known: Option<&shell::DefiniteCommands>) -> Reached {
        let mut out = Reached::default();
        for argv in known.into_iter().flat_map(|known| &known.commands).filter_map(|one| one.argv.as_deref()) {
            let reach = reach(argv);
            for target in reach.targets() {
                let full = self.full(&target);
                let short = full.strip_prefix(self.cwd).unwrap_or(&full);
                if paths::is_protected_for_commands(short) && !out.protected.contains(&target) {
                    out.protected.push(target);
                }
            }
            match reach.settles {
                Some(Settles::Git(written)) if written.harmless => out.noted.extend(written.settings),
                Some(settles) => out.settles.extend(settles.told()),
                None => {}
            }
        }
        out
    }

    /// As `part_by_part` has it.
    fn state(&self, part: &CommandPart, looks: &shell::Looks, rules: &Rules, ways: Option<&Ways<'_>>) -> PartState {
        // No rule answers for these.
        let hidden = looks.secrets.iter().any(|word| rules.shows(&self.full(word), true).is_none());
        if hidden || !looks.protected.is_empty() || !looks.own.is_empty() || !looks.writes_outside.is_empty() {
            return PartState::Asked;
        }
        let may_write = |word: &String| {
            let inside = ways.is_some_and(|ways| ways.stays() && super::matches::is_below(word, ways));
            inside && rules.allows_change("bash", &self.full(word)).is_some()
        };
        if !part.writes.iter().all(may_write) {
            return PartState::Asked;
        }
        let written = !part.writes.is_empty();
        let Some(argv) = part.argv.as_deref().filter(|argv| self.is_itself(argv)) else { return PartState::Asked };
        let computes = || self.secrets_here && shell::judge(&part.text, shell::ReadOnlyProfile::Enforced).computes;
        if part.reads && !computes() && !argv.iter().any(|word| paths::is_device(&self.full(word))) {
            if written { PartState::Allowed } else { PartState::Reads }
        } else if ways.is_some_and(|ways| rules.allows_command(argv, ways).is_some()) {
            PartState::Allowed
        } else {
            PartState::Asked
        }
    }

    fn full(&self, word: &str) -> PathBuf {
        paths::lexical(self.cwd, Path::new(word))
    }

    /// Row of a line that only reads and is asked about all the same, for what it reads; no rule speaks of that.
    fn reads_badly(&self) -> bool {
        matches!(self.judgement.verdict, Judged::ReadOnly(_))
    }

    /// The words whose content a line reads: what it only tests the presence of is not among them.
    fn read(&self, words: &[String]) -> Vec<String> {
        let known = shell::known(self.command);
        words.iter().filter(|word| !known.as_ref().is_some_and(|known| known.only_tests(word))).cloned().collect()
    }

    /// Paths that the line, or a part of it, seems to touch, without those known to be otherwise.
    fn looks(&self, text: &str, facts: &CallFacts) -> shell::Looks {
        let mut out = shell::looks(text, self.cwd);
        out.only_uses(facts.of_extensions());
        let Some(known) = shell::known(self.command) else { return out };
        out.secrets.retain(|word| !known.only_tests(word));
        // git talks to a repository of this machine: the tool looked it up.
        let is_repository = |touch: &Touch| match touch {
            Touch::Read { path, secret } => !secret && !paths::is_device(path),
            _ => false,
        };
        let network = |command: &shell::DefiniteCommand| shell::looks(&command.text, self.cwd).sends();
        let is_git = |command: &shell::DefiniteCommand| {
            command.argv.as_deref().and_then(<[String]>::first).is_some_and(|program| program == "git")
        };
        let mut sending = known.commands.iter().filter(|command| network(command));
        if facts.touches.iter().any(is_repository) && sending.all(is_git) {
            out.stays_here();
        }
        out
    }

    /// The row of a line that only reads these words, or why it is not let through all the same.
    fn read_row(&self, mode: Mode, rules: &Rules, words: &[String]) -> Result<TouchRow, String> {
        let name = shortened(self.command);
        let paths: Vec<PathBuf> = words.iter().map(|word| self.full(word)).collect();
        let mut pairs = words.iter().zip(&paths);
        let hidden = |path: &Path| mode == Mode::Explore || rules.shows(path, true).is_none();
        let secret = |word: &str, path: &Path| paths::is_secret(path) || paths::is_secret(Path::new(word));
        if let Some((word, path)) = pairs.clone().find(|(word, path)| secret(word, path) && hidden(path)) {
            return Ok(access::secret_row(mode, rules, path, &format!("`{name}` reads {word}, which")));
        }
        match pairs.find(|(_, path)| paths::is_device(path)) {
            None => Ok(TouchRow::Allow),
            Some((word, _)) => Err(format!("{word} is a device or kernel file")),
        }
    }

    /// Only the parts that neither read nor are allowed by a rule are asked.
    fn part_by_part(
        &self,
        policy: Policy,
        rules: &Rules,
        facts: &CallFacts,
        commands: &[shell::DefiniteCommand],
        (why, risks): (String, Vec<String>),
    ) -> TouchRow {
        let mut found = LineFindings::default();
        let Some(ways) = Ways::of(commands, self.cwd, facts) else { return asked(&why, risks, Vec::new()) };
        for command in commands {
            if self.only_reads(&command.text, policy, rules) {
                continue;
            }
            let argv = command.argv.as_deref().filter(|argv| self.is_itself(argv));
            let bare = argv.is_some_and(|argv| {
                self.only_reads(&super::matches::quoted(argv), policy, rules) || ways.is_change(argv)
            });
            if !bare {
                self.command(argv, &command.text, &ways, rules, policy, &mut found);
            }
            match &command.writes {
                None => {
                    found.ask(format!("what `{}` writes is only known at run time", shortened(&command.text)), None)
                }
                Some(written) => written.iter().for_each(|word| self.written(word, policy, rules, &ways, &mut found)),
            }
        }
        match (found.reasons.is_empty(), found.ruled.is_empty(), found.by_setting) {
            (true, false, _) => TouchRow::Ruled(found.ruled),
            (true, true, true) => TouchRow::Setting(EDITS_ALLOWED),
            // Each part reads, and the whole does not: what is the matter is nothing that a rule could speak of.
            (true, true, false) => asked(&why, risks, Vec::new()),
            (false, ..) => {
                let offers = if found.not_offered { Vec::new() } else { found.offers };
                asked(&found.reasons.join("; "), risks, offers)
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a part of a line, and what it is judged by")]
    fn command(
        &self,
        argv: Option<&[String]>,
        text: &str,
        ways: &Ways<'_>,
        rules: &Rules,
        policy: Policy,
        found: &mut LineFindings,
    ) {
        // What it writes stands in a file that may be another one the next time, and nothing would hold it.
        if argv.is_some_and(|argv| reach(argv).unknown) && !is_held(policy) {
            found.ask(
                format!("what `{}` writes is only known at run time, and nothing confines it", shortened(text)),
                None,
            );
            return;
        }
        if let Some(at) = argv.and_then(|argv| rules.allows_command(argv, ways)) {
            found.ruled.push(at);
            return;
        }
        let offer = argv.and_then(|argv| grants::command(argv, ways, rules));
        let why = match shell::judge(text, shell::ReadOnlyProfile::Enforced).verdict {
            Judged::Other(why) => why,
            _ => shell::needs_sandbox(text),
        };
        found.ask(why, offer);
    }

    /// Judges the target of a redirection like a write of the file tools.
    fn written(&self, word: &str, policy: Policy, rules: &Rules, ways: &Ways<'_>, found: &mut LineFindings) {
        // After a change of the directory it is not certain which file that is.
        let path = self.full(word);
        let inside = ways.stays() && super::matches::is_below(word, ways);
        match rules.allows_change("bash", &path).filter(|_| inside) {
            _ if inside && policy.ask_edits == AskEdits::Allowed => found.by_setting = true,
            Some(at) => found.ruled.push(at),
            None => found.ask(format!("it writes to `{word}`"), inside.then(|| grants::edits(&path, rules))),
        }
    }

    /// True if this part alone is proved to only read, and nothing that it reads is a secret or a device.
    fn only_reads(&self, text: &str, policy: Policy, rules: &Rules) -> bool {
        let unseen = self.unseen.then_some("some paths were not checked");
        let judgement = shell::judge_found(text, policy.read_only_profile, self.programs, unseen);
        if self.secrets_here && judgement.computes {
            return false;
        }
        match judgement.verdict {
            Judged::ReadOnly(words) => {
                matches!(self.read_row(Mode::Ask, rules, &self.read(&words)), Ok(TouchRow::Allow))
            }
            Judged::Other(_) | Judged::Catastrophic(_) => false,
        }
    }

    /// The program is the one that has this name elsewhere, too: none of the working directory stands before it.
    fn is_itself(&self, argv: &[String]) -> bool {
        argv.first().is_some_and(|program| {
            program.contains('/') || !self.programs.iter().any(|one| one.inside && one.name == *program)
        })
    }
}

/// Changes by commands beside what their words name.
#[derive(Default)]
struct Reached {
    protected: Vec<String>,
    settles: Vec<String>,
    /// Settings of git that run nothing.
    noted: Vec<String>,
}

/// Findings about the parts of a line.
#[derive(Default)]
struct LineFindings {
    ruled: Vec<usize>,
    by_setting: bool,
    offers: Vec<Offer>,
    reasons: Vec<String>,
    /// Something of what is asked cannot be kept.
    not_offered: bool,
}

impl LineFindings {
    fn ask(&mut self, why: String, offer: Option<Offer>) {
        if !self.reasons.contains(&why) {
            self.reasons.push(why);
        }
        self.not_offered |= offer.is_none();
        self.offers.extend(offer);
    }
}

/// The profile that other commands than readers run in keeps protected paths from them.
fn is_held(policy: Policy) -> bool {
    policy.read_only_profile != shell::ReadOnlyProfile::None && policy.sandbox != Sandbox::None
}
