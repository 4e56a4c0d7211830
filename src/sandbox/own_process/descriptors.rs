//! Limit of open files: lisle's own is as high as the system lets it be, since what it cannot open for want of a descriptor it
//! cannot look after, and parents of commands have it too, who hold the hidden places. Commands get the one that lisle was
//! started with: some programs go through all numbers up to it.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::sync::OnceLock;

/// Variable by which a parent of commands learns the limit that its commands get. They do not see it.
pub(in crate::sandbox) const USUAL_LIMIT: &str = "LISLE_DESCRIPTORS";
/// More is never needed.
const MOST: u64 = 65_536;

/// Soft limit with which lisle was started, where it was raised.
static USUAL: OnceLock<u64> = OnceLock::new();

/// Raises the limit of this process. Called once at the start of lisle.
pub fn raise() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let most = maximum.unwrap_or(MOST).min(MOST);
    let Some(usual) = current.filter(|now| *now < most) else { return };
    // Where it cannot be had lisle goes on with less.
    if setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum }).is_ok() {
        let _ = USUAL.set(usual);
    }
}

/// Files that this process may have open, beside those that it needs for itself.
#[cfg(target_os = "linux")]
pub(in crate::sandbox) fn spare() -> usize {
    const OWN: u64 = 256;
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(MOST).min(MOST);
    usize::try_from(limit.saturating_sub(OWN)).unwrap_or(usize::MAX)
}

/// Soft limit before [`raise`], if that changed it.
pub(in crate::sandbox) fn usual() -> Option<u64> {
    USUAL.get().copied()
}

/// Takes in, in a parent of commands, what they get.
pub(in crate::sandbox) fn remember() {
    let usual = std::env::var(USUAL_LIMIT).ok().and_then(|text| text.parse().ok());
    if let Some(usual) = usual {
        let _ = USUAL.set(usual);
    }
}

/// Gives the limit back, in the process that is about to become the command.
pub(in crate::sandbox) fn give_back() {
    if let Some(usual) = usual() {
        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        // A smaller one can always be had.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(usual), maximum });
    }
}
