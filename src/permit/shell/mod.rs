//! Judges command lines: proved to read only, catastrophic, or neither.
//!
//! `strict` reads the few lines that it understands whole, `programs` knows which arguments only read; what either
//! does not know is not read-only. `loose` takes any text apart as broadly as it can, and `grave` and `facts` look
//! through its pieces for what must never pass unseen. Nothing is expanded and no disk is asked: the words that may be
//! paths are handed back.

mod facts;
mod grave;
mod loose;
mod programs;
mod strict;
#[cfg(test)]
mod tests;

pub use facts::{Looks, looks};

use crate::domain::tool::Program;

/// Longer lines are not read-only.
pub const LONGEST: usize = 10_000;

/// What a command line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// Every part of it only reads. With the words that may be paths: secrets and devices among them are the caller's
    /// to refuse, who knows the directory.
    ReadOnly(Vec<String>),
    /// Not proved to read only; why, in words that follow "because" or stand alone.
    Other(String),
    /// It may destroy what nobody can bring back; why.
    Catastrophic(String),
}

/// What holds a command that was judged to only read, in case the judge is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hold {
    /// Nothing: only the short list of programs counts as proved.
    #[default]
    None,
    /// The read-only profile of the sandbox.
    Enforced,
}

/// A command line, judged whole and part by part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What the whole line is.
    pub verdict: Judged,
    /// Its simple commands, in order, those that wrappers run included. Empty where the line was not understood.
    pub parts: Vec<Part>,
    /// Files that redirections write, as they stand in the line, `/dev/null` excepted. Where every part reads, these
    /// alone keep the line from being read-only, and it may be judged as a write of them.
    pub writes: Vec<String>,
    /// Words that the shell replaces by names of files (patterns, `~`). The line is read-only if all of them were looked
    /// up.
    pub expands: Vec<String>,
}

/// A simple command of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// As it stands in the line.
    pub text: String,
    /// Its words after quote removal; `None` where one of them is only known when it runs.
    pub argv: Option<Vec<String>>,
    /// It is proved to only read.
    pub reads: bool,
    /// Why it is not; empty where it is.
    pub why: String,
}

/// Judges a command line with what the executor found out about it: no program of it may be a file of the working
/// directory, and what the shell expands must have been looked up.
#[must_use]
pub fn judge_found(command: &str, hold: Hold, programs: &[Program], unseen: Option<&str>) -> Judgement {
    let mut judgement = judge(command, hold);
    let Judged::ReadOnly(_) = judgement.verdict else { return judgement };
    let own = |part: &Part| {
        let name = part.argv.as_ref()?.first()?;
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

/// Judges a command line by its text alone.
#[must_use]
pub fn judge(command: &str, _hold: Hold) -> Judgement {
    let mut paths = Vec::new();
    let mut parts = Vec::new();
    let mut why = None;
    if command.chars().nth(LONGEST).is_some() {
        why = Some(format!("it is longer than {LONGEST} characters"));
    } else {
        match strict::parse(command) {
            Err(reason) => why = Some(reason),
            Ok(argvs) => {
                for argv in argvs {
                    let read = programs::read_only(&argv);
                    let argv: Vec<String> = argv.into_iter().map(|word| word.text).collect();
                    let (reads, reason) = match read {
                        Ok(found) => {
                            paths.extend(found);
                            (true, String::new())
                        }
                        Err(reason) => (false, reason),
                    };
                    if !reads {
                        why.get_or_insert_with(|| reason.clone());
                    }
                    parts.push(Part { text: argv.join(" "), argv: Some(argv), reads, why: reason });
                }
            }
        }
    }
    let verdict = match why {
        None => Judged::ReadOnly(paths),
        Some(why) => match grave::find(command) {
            Some(what) => Judged::Catastrophic(what),
            None => Judged::Other(why),
        },
    };
    Judgement { verdict, parts, writes: Vec::new(), expands: Vec::new() }
}
