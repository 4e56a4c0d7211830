//! Judges command lines: proved to read only, catastrophic, or neither.
//!
//! 1. `strict`, and `syntax` with `tree` (tree-sitter), read the line. Both readings must agree.
//! 2. `walk` judges each command of it, behind wrappers (`wrap`) too.
//! 3. `table` lists the programs, subcommands and options that only read, a file a family: `table/git.rs`. A command without
//!    a row is not read-only: it asks in Ask to Edit and is refused in Explore. So `git commit` asks because it has no row.
//! 4. `unsandboxed` is a second, shorter list, for machines that cannot enforce the read-only profile.
//!
//! `loose` takes any text apart as broadly as it can, and `catastrophic` and `facts` look through its pieces for what must
//! never pass unseen. Nothing is expanded and no disk is asked: the words that may be paths are handed back.

// Words of a command line hold any letters. A slice between them by bytes would crash the judge.
#![cfg_attr(not(test), deny(clippy::string_slice))]

mod catastrophic;
mod facts;
mod find;
mod known;
mod loose;
mod pieces;
mod remote;
mod scripts;
mod strict;
mod syntax;
mod table;
#[cfg(test)]
mod tests;
mod tree;
mod unsandboxed;
mod walk;
mod word;
mod wrap;

pub(super) use catastrophic::wraps;
pub(in crate::permit) use facts::NAMES_SECRET;
pub use facts::{Looks, gravity, looks};
pub use known::{DefiniteCommand, DefiniteCommands, known};
pub use pieces::pieces;
pub use remote::{Remote, is_root_socket, remote};

use crate::domain::tool::StartedProgram;
use walk::Walk;

/// Longer lines are not read-only.
pub const LONGEST: usize = 10_000;

/// Verdict on a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// Every part of it only reads. With the words that may be paths: secrets and devices among them are the caller's
    /// to refuse, who knows the directory.
    ReadOnly(Vec<String>),
    /// Not proved to read only; why, in words that follow "because" or stand alone.
    Other(String),
    /// Catastrophic: may destroy what nobody can bring back; why.
    Catastrophic(String),
}

/// Confinement of a command that was judged to only read, in case the judge is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadOnlyProfile {
    /// Nothing: only the short list of programs counts as proved.
    #[default]
    None,
    /// The read-only profile of the sandbox.
    Enforced,
}

/// A command line, judged whole and part by part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Verdict on the whole line.
    pub verdict: Judged,
    /// Its simple commands, in order, those that wrappers run included. Empty where the line was not understood, or is
    /// kept from being read-only by something that no part and no entry of `writes` tells.
    pub parts: Vec<CommandPart>,
    /// Files that redirections write, as they stand in the line, `/dev/null` excepted. Where every part reads, these
    /// alone keep the line from being read-only, and it may be judged as a write of them.
    pub writes: Vec<String>,
    /// It reads files whose names stand nowhere in it: what a search or another command finds, or all below a folder.
    pub computes: bool,
    /// Words that the shell replaces by names of files (patterns, `~`). The line is read-only if all of them were looked
    /// up.
    pub expands: Vec<String>,
}

/// A simple command of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandPart {
    /// As it stands in the line.
    pub text: String,
    /// Words after quote removal; `None` where one of them is only known when it runs.
    pub argv: Option<Vec<String>>,
    /// The program, as it is named; `None` where that is not known.
    pub program: Option<String>,
    /// True if it is proved to only read.
    pub reads: bool,
    /// Why it is not; empty where it is.
    pub why: String,
    /// Files that its own redirections write, as in [`Judgement::writes`].
    pub writes: Vec<String>,
}

/// Judges a command line with what the tool found out about it: no program of it may be a file of the working
/// directory, and what the shell expands must have been looked up.
#[must_use]
pub fn judge_found(
    command: &str,
    profile: ReadOnlyProfile,
    programs: &[StartedProgram],
    unseen: Option<&str>,
) -> Judgement {
    let mut judgement = judge(command, profile);
    let Judged::ReadOnly(_) = judgement.verdict else { return judgement };
    let own = |part: &CommandPart| {
        let name = part.program.as_ref()?;
        programs.iter().find(|program| program.inside && program.name == *name)
    };
    let mut why = None;
    for part in &mut judgement.parts {
        if let Some(program) = own(part) {
            part.reads = false;
            let path = program.path.display();
            part.why = format!("`{}` is {path}, a program of the working directory", program.name);
            why.get_or_insert_with(|| part.why.clone());
        }
    }
    let unseen = unseen.filter(|_| !judgement.expands.is_empty());
    if let Some(why) = why.or_else(|| unseen.map(str::to_owned)) {
        judgement.verdict = Judged::Other(why);
    }
    judgement
}

/// Every form that the table of the programs admits, with sample values: what the test runs that looks whether they
/// change anything.
#[must_use]
pub fn forms() -> Vec<String> {
    table::forms()
}

/// Warning about what it may destroy that nobody can bring back; `None` where it does not look as if it did.
#[must_use]
pub fn danger(command: &str) -> Option<String> {
    catastrophic::find(command)
}

/// Judges a command line by its text alone.
#[must_use]
pub fn judge(command: &str, profile: ReadOnlyProfile) -> Judgement {
    let mut walk = if command.chars().nth(LONGEST).is_some() {
        Walk::refused(format!("longer than {LONGEST} characters"))
    } else if let Some(c) = command.chars().find(|c| is_odd(*c)) {
        Walk::refused(format!("contains the invisible character U+{:04X}", u32::from(c)))
    } else {
        Walk::of(command, profile)
    };
    if profile == ReadOnlyProfile::None {
        short_list(command, &mut walk);
        if walk.why.is_some() {
            reasons_without_sandbox(command, &mut walk);
        }
    }
    let Walk { paths, parts, writes, expands, computes, why, .. } = walk;
    let verdict = match why {
        None => Judged::ReadOnly(paths),
        Some(why) => match catastrophic::find(command) {
            Some(what) => Judged::Catastrophic(what),
            None => Judged::Other(why),
        },
    };
    Judgement { verdict, parts, writes, computes, expands }
}

/// Verdict without a sandbox: on lines that the strict reading understands, of programs of the short list.
fn short_list(command: &str, walk: &mut Walk) {
    let judged = strict::parse(command).and_then(|simples| {
        simples.iter().try_fold(Vec::new(), |mut paths, simple| {
            paths.extend(unsandboxed::read_only(&simple.words)?);
            paths.extend(simple.reads.iter().cloned());
            Ok(paths)
        })
    });
    match judged {
        Ok(paths) if walk.why.is_none() => walk.paths = paths,
        Ok(_) => {}
        Err(why) => {
            if walk.why.is_none() {
                for part in &mut walk.parts {
                    part.reads = false;
                    part.why.clone_from(&why);
                }
            }
            walk.why = Some(why);
        }
    }
}

/// End of a reason to ask where there is no sandbox.
pub const NEEDS_SANDBOX: &str = "needs a sandbox to count as read-only";

/// Reason against what only reads, where nothing holds it to that.
#[must_use]
pub fn needs_sandbox(command: &str) -> String {
    format!("`{}` {NEEDS_SANDBOX}", shortened(command))
}

/// Puts reasons where there is no sandbox: what would only read in one needs one; all else has the reason that it would
/// have there. Verdicts stay as they are.
fn reasons_without_sandbox(command: &str, walk: &mut Walk) {
    let held = Walk::of(command, ReadOnlyProfile::Enforced);
    for (part, held) in walk.parts.iter_mut().zip(&held.parts).filter(|(part, _)| !part.reads) {
        part.why = if held.reads { needs_sandbox(&part.text) } else { held.why.clone() };
    }
    walk.why = Some(match held.why {
        Some(why) => why,
        // An option of a program that may run without one: the reason names it.
        None => walk.why.take().filter(|_| short_lists(command)).unwrap_or_else(|| needs_sandbox(command)),
    });
}

/// The first line of a command, short enough for a sentence.
pub(in crate::permit) fn shortened(command: &str) -> String {
    let mut lines = command.trim().lines();
    let first = lines.next().unwrap_or_default();
    let mut out: String = first.chars().take(60).collect();
    if out.len() < first.len() || lines.next().is_some() {
        out.push('…');
    }
    out
}

/// True if the short list has all programs of a line.
fn short_lists(command: &str) -> bool {
    let listed = |simple: &strict::StrictCommand| unsandboxed::lists(&simple.words);
    strict::parse(command).is_ok_and(|simples| simples.iter().all(listed))
}

/// Characters that a terminal does not show as what they are, or that shells do not agree on.
fn is_odd(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}
