//! What holds back a call that was allowed. The profiles are the sandbox's.

use super::shell::{self, Hold, Judged};
use crate::domain::permission::{Mode, Sandbox};
use crate::domain::tool::{CallFacts, Program, Touch};

/// What holds back a call that was allowed, where commands can be held: all that runs in Explore, and everywhere what
/// runs because it only reads. So it stays harmless when the judge is wrong.
#[must_use]
pub fn sandbox(hold: Hold, mode: Mode, facts: &CallFacts) -> Sandbox {
    if hold == Hold::None {
        return Sandbox::None;
    }
    let mut commands = facts.touches.iter().filter_map(|touch| match touch {
        Touch::Command { command, programs, unseen, .. } => Some((command, programs, unseen)),
        _ => None,
    });
    let Some(first) = commands.next() else { return Sandbox::None };
    let reads = |(command, programs, unseen): (&String, &Vec<Program>, &Option<String>)| {
        matches!(shell::judge_found(command, hold, programs, unseen.as_deref()).verdict, Judged::ReadOnly(_))
    };
    if mode == Mode::Explore || (reads(first) && commands.all(reads)) { Sandbox::ReadOnly } else { Sandbox::None }
}
