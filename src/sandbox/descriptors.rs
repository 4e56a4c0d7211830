//! Number of files that lisle may have open. Looks at large trees, commands that are held and a proxy need more than the usual
//! soft limit; programs that lisle starts for commands get that one back, since some count on it.

use std::sync::OnceLock;

/// Variable by which a parent of commands learns the limit that its commands get. They do not see it.
pub(super) const BEFORE: &str = "LISLE_DESCRIPTORS";
/// Enough for every command at once. Programs that try each number would take long with more.
#[cfg(target_os = "linux")]
const MOST: u64 = 65_536;

static LIMIT: OnceLock<u64> = OnceLock::new();

/// Raises the soft limit of this process. Called once at the start of lisle.
pub fn raise() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        let (before, most) = (current.unwrap_or(MOST), maximum.unwrap_or(MOST).min(MOST));
        // Where it cannot be had lisle goes on with less.
        if before < most && setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum }).is_ok() {
            let _ = LIMIT.set(before);
        }
    }
}

/// The soft limit before [`raise`], if that changed it.
pub(super) fn before() -> Option<u64> {
    LIMIT.get().copied()
}

/// Remembers in a parent of commands what they get.
pub(super) fn remember() {
    let before = std::env::var(BEFORE).ok().and_then(|text| text.parse().ok());
    if let Some(before) = before {
        let _ = LIMIT.set(before);
    }
}

/// Gives the limit back, in the process that is about to become the command.
pub(super) fn give_back() {
    #[cfg(target_os = "linux")]
    if let Some(before) = before() {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        // A smaller one can always be had.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(before), maximum });
    }
}
