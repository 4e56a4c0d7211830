//! Protected files while commands run, also beside each other.
//!
//! What one command made must not be what another takes for given, and even puts back. So a command that begins while others
//! run is compared with what was there before them, and what one of them was allowed to do counts for the others from then on.

use super::Place;
use super::held::{Told, site};
use super::put_back::{self, Fate};
use crate::sandbox::Bounds;
use crate::sandbox::guard::{By, Change, Guard, What};
use crate::sandbox::places::{Moves, Site};
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Interval at which the changes of commands that go on in the background are looked at. What is the same twice is taken
/// back: git and package managers write such files for a moment.
const PAUSE: Duration = Duration::from_secs(1);

/// A command that runs.
struct RunningCommand {
    number: u64,
    place: Place,
    told: Told,
    guard: Guard,
    /// Changes at the last look.
    suspects: HashSet<Change>,
    /// Changes that were taken back while it ran.
    settled: Vec<(Change, String)>,
}

static RUNNING: Mutex<Vec<RunningCommand>> = Mutex::new(Vec::new());
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The part of one command in this, to its end.
pub(super) struct GuardedCommand(u64);

impl GuardedCommand {
    /// Looks at what is there before a command. Blocks.
    pub(super) fn begin(place: &Place, told: &Told, bounds: Option<&Bounds>) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let home = std::env::home_dir();
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let others: Vec<&Guard> = running.iter().map(|one| &one.guard).collect();
        let guard = Guard::before(&site(place, told, home.as_deref()), bounds, &others);
        let (place, told) = (place.clone(), told.clone());
        let background = !told.waited_for && !running.iter().any(|one| !one.told.waited_for);
        running.push(RunningCommand { number, place, told, guard, suspects: HashSet::new(), settled: Vec::new() });
        if background {
            // Without the thread the changes are found at the end.
            let _ = std::thread::Builder::new().name("lisle-guard".to_owned()).spawn(|| {
                while look_after_jobs() {
                    std::thread::sleep(PAUSE);
                }
            });
        }
        Self(number)
    }

    /// Changes up to now, each with what became of it: what nobody was allowed to do is taken back. Blocks.
    pub(super) fn end(&self) -> Vec<(Change, String)> {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(at) = running.iter().position(|one| one.number == self.0) else { return Vec::new() };
        let (breaches, stays) = changes(&running, at);
        let mut out = running.get_mut(at).map(|own| std::mem::take(&mut own.settled)).unwrap_or_default();
        if let Some(own) = running.get(at) {
            out.extend(breaches.into_iter().map(|change| {
                let line = settled(&own.place, &change);
                (change, line)
            }));
        }
        let left = out.iter().filter(|(change, _)| change.by != By::Command).map(|(change, _)| change);
        for change in stays.iter().chain(left) {
            running.iter_mut().for_each(|one| one.guard.accept(&change.path));
        }
        out
    }
}

impl Drop for GuardedCommand {
    fn drop(&mut self) {
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).retain(|one| one.number != self.0);
    }
}

/// Changes since the command at this index began: those that are told, and those that were answered for.
fn changes(running: &[RunningCommand], at: usize) -> (Vec<Change>, Vec<Change>) {
    let Some(own) = running.get(at) else { return (Vec::new(), Vec::new()) };
    let home = std::env::home_dir();
    let moves = running.iter().map(|one| one.told.moves).fold(Moves::default(), Moves::and);
    let found = own.guard.after(&Site { moves, ..site(&own.place, &own.told, home.as_deref()) });
    let asked = |path: &Path| {
        running.iter().flat_map(|one| &one.place.allowances.granted.writable).any(|asked| path.starts_with(asked))
    };
    found.into_iter().partition(|change| !asked(&change.path))
}

/// Takes back what commands in the background changed, where it is as it was at the last look. False when there are none any
/// more. Blocks.
fn look_after_jobs() -> bool {
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    for at in 0..running.len() {
        // The end of a call that is waited for is near, and whatever it does meanwhile is not done yet.
        let waits = |own: &RunningCommand| running.iter().any(|one| one.told.waited_for && one.guard.meets(&own.guard));
        if running.get(at).is_none_or(|own| own.told.waited_for || waits(own)) {
            continue;
        }
        let (breaches, _) = changes(&running, at);
        let Some(own) = running.get_mut(at) else { continue };
        let (same, new): (Vec<Change>, Vec<Change>) = breaches
            .into_iter()
            .filter(|change| change.by == By::Command && !is_being_checked_out(&change.path))
            .partition(|change| own.suspects.contains(change));
        own.suspects = new.into_iter().collect();
        for change in same {
            let line = settled(&own.place, &change);
            own.settled.push((change, line));
        }
    }
    running.iter().any(|one| !one.told.waited_for)
}

/// A file of a working tree that git writes at this moment: whether it is one of a commit is known afterwards.
fn is_being_checked_out(path: &Path) -> bool {
    let mut above = path.ancestors().skip(1);
    above.find(|folder| folder.join(".git").is_dir()).is_some_and(|top| {
        path.strip_prefix(top).is_ok_and(|below| !below.starts_with(".git")) && top.join(".git/index.lock").exists()
    })
}

/// Takes back what the command was not to do, and tells of a change in one line.
fn settled(place: &Place, change: &Change) -> String {
    let path = change.path.strip_prefix(&place.cwd).unwrap_or(&change.path).display().to_string();
    let path = super::input::one_line(&path, 200);
    let what = match &change.what {
        What::Made => "is new",
        What::Changed(_) => "was changed",
        What::Gone(_) => "was removed",
    };
    if change.by != By::Command {
        return format!("{path} {what}");
    }
    // Not below `data/`, which commands write: a link that they lay there would lead lisle out of it.
    let fate = put_back::put_back(change, &place.session_dir.join("protected"));
    put_back::tidy(&change.path, &place.cwd);
    match (fate, &change.what) {
        (Fate::Aside(copy), What::Made) => format!("{path} is new: it was moved to {}", copy.display()),
        (Fate::Aside(copy), _) => {
            format!("{path} {what}: it is as before again, what the command wrote is in {}", copy.display())
        }
        (Fate::Restored, _) => format!("{path} {what}: it is there again"),
        (Fate::Left(why), _) => format!("{path} {what} and was left so: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Allowances;
    use std::path::PathBuf;

    fn place(cwd: &Path, session_dir: &Path, writable: &[PathBuf]) -> Place {
        let mut allowances = Allowances::default();
        allowances.granted.writable = writable.to_vec();
        Place {
            cwd: cwd.to_owned(),
            session_dir: session_dir.to_owned(),
            own_dirs: Vec::new(),
            runner: "/nowhere".into(),
            allowances: allowances.into(),
            known: Default::default(),
            window: 0,
        }
    }

    fn begin(place: &Place) -> GuardedCommand {
        GuardedCommand::begin(place, &Told { waited_for: true, ..Told::default() }, None)
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
        let place = place(&cwd, &session, &[]);
        let plant = || plant(&cwd);
        let clean = || is_clean(&cwd);
        let job = begin(&place);
        plant();
        // One that does nothing, and one in a folder of its own, find what the job did.
        let inner = Place { cwd: cwd.join("sub"), ..place.clone() };
        let (one, other) = (begin(&place), begin(&inner));
        assert_eq!(one.end().len(), 3);
        assert!(clean());
        plant();
        other.end();
        assert!(clean());
        drop((one, other));
        plant();
        assert_eq!(job.end().len(), 3);
        assert!(clean());
        drop(job);
        // Whoever comes later takes what is there as it is.
        plant();
        assert_eq!(begin(&place).end(), []);
    }

    fn plant(cwd: &Path) {
        std::fs::write(cwd.join(".git/config"), "[core]\nfsmonitor = x\n").unwrap();
        std::fs::write(cwd.join(".git/hooks/pre-commit"), "x").unwrap();
        std::fs::write(cwd.join("sub/.envrc"), "x").unwrap();
    }

    fn is_clean(cwd: &Path) -> bool {
        std::fs::read_to_string(cwd.join(".git/config")).is_ok_and(|text| text == "[core]\n")
            && !cwd.join(".git/hooks/pre-commit").exists()
            && !cwd.join("sub/.envrc").exists()
    }

    #[test]
    fn what_was_answered_for_stays_while_others_run() {
        let (_dir, cwd, session) = folder();
        let job = begin(&place(&cwd, &session, &[]));
        let one = begin(&place(&cwd, &session, &[cwd.join(".git/config")]));
        std::fs::write(cwd.join(".git/config"), "[user]\nname = x\n").unwrap();
        assert_eq!(one.end(), []);
        drop(one);
        assert_eq!(job.end(), []);
        std::fs::write(cwd.join(".git/config"), "[core]\nfsmonitor = x\n").unwrap();
        let found = job.end();
        let [(Change { what: What::Changed(Some(earlier)), .. }, _)] = &found[..] else { panic!("{found:?}") };
        assert_eq!(earlier.content, b"[user]\nname = x\n");
    }

    #[test]
    fn what_a_job_leaves_there_is_taken_back_while_it_runs() {
        let (_dir, cwd, session) = folder();
        let job = GuardedCommand::begin(&place(&cwd, &session, &[]), &Told::default(), None);
        plant(&cwd);
        // The job's own thread looks as well.
        while !is_clean(&cwd) {
            assert!(look_after_jobs());
        }
        assert_eq!(job.end().len(), 3, "told at its end");
        assert_eq!(job.end(), []);
    }
}
