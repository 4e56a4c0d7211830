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

/// Judges a command line.
#[must_use]
pub fn judge(command: &str) -> Judged {
    let why = match read_only(command) {
        Ok(paths) => return Judged::ReadOnly(paths),
        Err(why) => why,
    };
    match grave::find(command) {
        Some(what) => Judged::Catastrophic(what),
        None => Judged::Other(why),
    }
}

fn read_only(command: &str) -> Result<Vec<String>, String> {
    if command.chars().nth(LONGEST).is_some() {
        return Err(format!("it is longer than {LONGEST} characters"));
    }
    let mut paths = Vec::new();
    for argv in strict::parse(command)? {
        paths.extend(programs::read_only(&argv)?);
    }
    Ok(paths)
}
