//! Protected files while commands run, also beside each other.
//!
//! What one command made must not be what another takes for given, and even puts back. So a command that begins while others
//! run is compared with what was there before them, and what one of them was allowed to do counts for the others from then on.

use crate::sandbox::guard::{By, Change, Guard};
use crate::sandbox::places::{Moves, Site};
use crate::sandbox::{Allowances, Bounds};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A command that runs.
struct Running {
    number: u64,
    guard: Guard,
    moves: Moves,
    /// Protected paths that it may change, because that was answered for.
    writable: Vec<PathBuf>,
}

static RUNNING: Mutex<Vec<Running>> = Mutex::new(Vec::new());
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The part of one command in this, to its end.
pub(super) struct Guarded(u64);

impl Guarded {
    /// Looks at what is there before a command. Blocks.
    pub(super) fn begin(site: &Site<'_>, allowances: &Allowances, bounds: Option<&Bounds>) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let others: Vec<&Guard> = running.iter().map(|one| &one.guard).collect();
        let guard = Guard::before(site, bounds, &others);
        let writable = allowances.granted.writable.clone();
        running.push(Running { number, guard, moves: site.moves, writable });
        Self(number)
    }

    /// Changes up to now, each with what `settle` says of it, which takes back what nobody was allowed to do. Blocks.
    pub(super) fn end(&self, site: &Site<'_>, settle: impl Fn(&Change) -> String) -> Vec<(Change, String)> {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(own) = running.iter().find(|one| one.number == self.0) else { return Vec::new() };
        let moves = running.iter().map(|one| one.moves).fold(Moves::default(), Moves::and);
        let mut changes = own.guard.after(&Site { moves, ..*site });
        // What was answered for is no breach.
        let (asked, breaches): (Vec<Change>, Vec<Change>) = changes
            .drain(..)
            .partition(|change| running.iter().flat_map(|one| &one.writable).any(|path| change.path.starts_with(path)));
        let lines: Vec<String> = breaches.iter().map(settle).collect();
        let stays = asked.iter().chain(breaches.iter().filter(|change| change.by != By::Command));
        for change in stays {
            running.iter_mut().for_each(|one| one.guard.accept(&change.path));
        }
        breaches.into_iter().zip(lines).collect()
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).retain(|one| one.number != self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Namespaces;
    use crate::sandbox::guard::What;
    use crate::tools::put_back::put_back;
    use std::path::Path;

    fn site<'a>(cwd: &'a Path, session_dir: &'a Path, allowances: &'a Allowances) -> Site<'a> {
        Site {
            cwd,
            session_dir,
            own_dirs: &[],
            allowances,
            named: &[],
            approved: &[],
            moves: Moves::default(),
            home: None,
            namespaces: Namespaces::Without,
        }
    }

    /// A working directory with a repository, and the session's folder.
    fn folder() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let cwd = root.join("p");
        for name in [".git/objects", ".git/refs", ".git/hooks", "sub"] {
            std::fs::create_dir_all(cwd.join(name)).unwrap();
        }
        std::fs::write(cwd.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::write(cwd.join(".git/config"), "[core]\n").unwrap();
        (dir, cwd, root.join("session"))
    }

    #[test]
    fn what_one_command_made_is_no_ones_state_before() {
        let (_dir, cwd, session) = folder();
        let allowances = Allowances::default();
        let site = site(&cwd, &session, &allowances);
        let settle = |change: &Change| format!("{:?}", put_back(change, &session.join("protected")));
        let plant = || {
            std::fs::write(cwd.join(".git/config"), "[core]\nfsmonitor = x\n").unwrap();
            std::fs::write(cwd.join(".git/hooks/pre-commit"), "x").unwrap();
            std::fs::write(cwd.join("sub/.envrc"), "x").unwrap();
        };
        let clean = || {
            std::fs::read_to_string(cwd.join(".git/config")).unwrap() == "[core]\n"
                && !cwd.join(".git/hooks/pre-commit").exists()
                && !cwd.join("sub/.envrc").exists()
        };
        let job = Guarded::begin(&site, &allowances, None);
        plant();
        // One that does nothing, and one in a folder of its own, find what the job did.
        let below = cwd.join("sub");
        let inner = Site { cwd: &below, ..site };
        let (one, other) = (Guarded::begin(&site, &allowances, None), Guarded::begin(&inner, &allowances, None));
        assert_eq!(one.end(&site, settle).len(), 3);
        assert!(clean());
        plant();
        other.end(&inner, settle);
        assert!(clean());
        drop((one, other));
        plant();
        assert_eq!(job.end(&site, settle).len(), 3);
        assert!(clean());
        drop(job);
        // Whoever comes later takes what is there as it is.
        plant();
        let later = Guarded::begin(&site, &allowances, None);
        assert_eq!(later.end(&site, settle), []);
    }

    #[test]
    fn what_was_answered_for_stays_while_others_run() {
        let (_dir, cwd, session) = folder();
        let mut allowances = Allowances::default();
        let plain = Allowances::default();
        let settle = |change: &Change| format!("{:?}", put_back(change, &session.join("protected")));
        let job = Guarded::begin(&site(&cwd, &session, &plain), &plain, None);
        allowances.granted.writable.push(cwd.join(".git/config"));
        let asked = site(&cwd, &session, &allowances);
        let one = Guarded::begin(&asked, &allowances, None);
        std::fs::write(cwd.join(".git/config"), "[user]\nname = x\n").unwrap();
        assert_eq!(one.end(&asked, settle), []);
        drop(one);
        assert_eq!(job.end(&site(&cwd, &session, &plain), settle), []);
        std::fs::write(cwd.join(".git/config"), "[core]\nfsmonitor = x\n").unwrap();
        let found = job.end(&site(&cwd, &session, &plain), settle);
        let [(Change { what: What::Changed(Some(earlier)), .. }, _)] = &found[..] else { panic!("{found:?}") };
        assert_eq!(earlier.content, b"[user]\nname = x\n");
    }
}
