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

/// Judges a command line.
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
    Judgement { verdict, parts }
}
