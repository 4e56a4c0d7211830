//! Sandbox of an allowed call. The profiles are in `sandbox`.

use super::policy::Policy;
use super::shell::{self, Judged, ReadOnlyProfile};
use crate::domain::access::Access;
use crate::domain::paths::{is_secret, lexical};
use crate::domain::permission::{Mode, Sandbox};
use crate::domain::tool::{CallFacts, Touch};
use std::path::Path;

/// Sandbox of an allowed call, where commands can be confined: everything in Explore, and read-only
/// commands everywhere, can change nothing. So a mistake of the judge stays harmless. Every other
/// command runs in the profile of the user's settings; outside of all if it asked for that and was
/// allowed.
#[must_use]
pub fn sandbox(policy: Policy, mode: Mode, facts: &CallFacts) -> Sandbox {
    // Such a script has no business anywhere else, whatever the mode and the settings are.
    if policy.read_only_profile != ReadOnlyProfile::None
        && facts.touches.iter().any(|touch| matches!(touch, Touch::Script { .. }))
    {
        return Sandbox::ReadOnly;
    }
    let mut commands = facts.touches.iter().filter(|touch| matches!(touch, Touch::Command { .. })).peekable();
    if policy.read_only_profile == ReadOnlyProfile::None || commands.peek().is_none() {
        return Sandbox::None;
    }
    if mode == Mode::Explore {
        return Sandbox::ReadOnly;
    }
    if facts.touches.contains(&Touch::Outside) {
        return Sandbox::None;
    }
    // Secrets are empty where only reading is possible; who was asked about one and agreed wants to see it. What is written
    // and whose sockets are used is written and used nowhere else either.
    let opened = facts.touches.iter().any(|touch| {
        matches!(touch, Touch::Read { secret: true, .. } | Touch::Access(Access::Write { .. } | Access::Socket { .. }))
    });
    if !opened && commands.all(|touch| only_reads(policy.read_only_profile, touch)) {
        Sandbox::ReadOnly
    } else {
        policy.sandbox
    }
}

/// True if a command is allowed because it only reads, and reads nothing secret.
fn only_reads(profile: ReadOnlyProfile, touch: &Touch) -> bool {
    let Touch::Command { command, cwd, programs, unseen, .. } = touch else { return true };
    match shell::judge_found(command, profile, programs, unseen.as_deref()).verdict {
        Judged::ReadOnly(words) => {
            words.iter().map(Path::new).all(|word| !is_secret(word) && !is_secret(&lexical(cwd, word)))
        }
        _ => false,
    }
}
