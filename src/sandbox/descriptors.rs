//! Limit of open files: lisle's own is as high as the system lets it be, since what it cannot open for want of a descriptor it
//! cannot look after. Commands get the one that lisle was started with: some programs go through all numbers up to it.

use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit};
use std::sync::OnceLock;

/// Limit with which lisle was started, where it was raised.
static USUAL: OnceLock<Rlimit> = OnceLock::new();
/// More is never needed.
const MOST: u64 = 65_536;

/// Raises the limit of this process.
pub fn raise() {
    let usual = getrlimit(Resource::Nofile);
    let most = usual.maximum.unwrap_or(MOST).min(MOST);
    if usual.current.is_some_and(|now| now < most) {
        let higher = Rlimit { current: Some(most), maximum: usual.maximum };
        if setrlimit(Resource::Nofile, higher).is_ok() {
            let _ = USUAL.set(usual);
        }
    }
}

/// Gives a process that was started the limit of before.
#[cfg(target_os = "linux")]
pub(super) fn give_usual(process: u32) {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    if let (Some(pid), Some(usual)) = (pid, USUAL.get()) {
        // One that has ended needs none.
        let _ = rustix::process::prlimit(Some(pid), Resource::Nofile, *usual);
    }
}

/// The same where another process's limit cannot be set: it keeps the higher one.
#[cfg(not(target_os = "linux"))]
pub(super) fn give_usual(_: u32) {
    let _: Option<Pid> = None;
}
