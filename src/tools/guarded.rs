//! Protected files while commands run, also beside each other.
//!
//! A command must not take for given, and even put back, what another one made. So one that begins while others
//! run is compared with what was there before them, and what one of them was allowed to do counts for the others from then on.

use super::CallPlace;
use super::held::{NamedPlaces, site};
use super::put_back::{self, ChangeFate};
use crate::sandbox::Bounds;
use crate::sandbox::guard::{ChangedBy, Guard, GuardedChange, MOST_CHANGES, What};
use crate::sandbox::places::Moves;
use crate::sandbox::places::hidden::HeldPlaces;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Interval at which the changes of commands that go on in the background are looked at. What is the same twice is taken
/// back: git and package managers write such files for a moment.
const PAUSE: Duration = Duration::from_secs(1);

/// Age up to which jobs are left alone for a call that is waited for.
const SHORT: Duration = Duration::from_secs(5);
/// Looks of one job that pass over the working tree because git seems to write it.
const MOST_CHECKED_OUT: u32 = 5;
/// Times that changes are put back one portion after the other.
const MOST_ROUNDS: usize = 1_000;
/// Lines that are kept of what a job did, until it ends.
const MOST_SETTLED: usize = 200;

/// A command that runs.
struct RunningCommand {
    number: u64,
    place: CallPlace,
    told: NamedPlaces,
    guard: Arc<Guard>,
    /// Files and folders that are hidden from it.
    hidden: Arc<HeldPlaces>,
    began: Instant,
    /// Looks that passed over what git seemed to write.
    passed: u32,
    /// Changes at the last look.
    suspects: HashSet<GuardedChange>,
    /// Changes that cannot be taken back.
    left: HashSet<GuardedChange>,
    /// Changes that were settled while it ran.
    settled: Vec<(GuardedChange, String)>,
}

/// Held for moments alone: files are looked at without it, unless something is to be taken back. A command in a slow folder
/// delays no other one.
static RUNNING: Mutex<Vec<RunningCommand>> = Mutex::new(Vec::new());
static NEXT: AtomicU64 = AtomicU64::new(0);
/// A thread looks after jobs. Changed while [`RUNNING`] is held.
static LOOKED_AFTER: AtomicBool = AtomicBool::new(false);

fn running() -> MutexGuard<'static, Vec<RunningCommand>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The part of one command in this, to its end.
pub(super) struct GuardedCommand(u64);

impl GuardedCommand {
    /// Looks at what is there before a command. Blocks.
    pub(super) fn begin(place: &CallPlace, told: &NamedPlaces, bounds: Option<&Bounds>) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let home = std::env::home_dir();
        let mut guard = Guard::before(&site(place, told, home.as_deref()), bounds);
        let hidden = bounds.map(|bounds| Arc::clone(&bounds.held)).unwrap_or_default();
        let mut running = running();
        running.iter().for_each(|other| guard.take_over(&other.guard));
        let (place, told) = (place.clone(), told.clone());
        let background = !told.waited_for;
        running.push(RunningCommand {
            number,
            place,
            told,
            guard: guard.into(),
            hidden,
            began: Instant::now(),
            passed: 0,
            suspects: HashSet::new(),
            left: HashSet::new(),
            settled: Vec::new(),
        });
        if background && !LOOKED_AFTER.swap(true, Ordering::Relaxed) {
            let looks = std::thread::Builder::new().name("lisle-guard".to_owned()).spawn(|| {
                while look_after_jobs() {
                    std::thread::sleep(PAUSE);
                }
            });
            // Without the thread the changes are found at the end.
            LOOKED_AFTER.store(looks.is_ok(), Ordering::Relaxed);
        }
        Self(number)
    }

    /// True if all protected files are known.
    pub(super) fn is_whole(&self) -> bool {
        running().iter().find(|one| one.number == self.0).is_none_or(|own| own.guard.is_whole())
    }

    /// Changes up to now, each with what became of it: what nobody was allowed to do is taken back. Blocks.
    pub(super) fn end(&self) -> Vec<(GuardedChange, String)> {
        note_moves();
        let Some(look) = GuardedLook::of(&running(), self.0) else { return Vec::new() };
        let none = look.changes().is_empty();
        let mut running = running();
        let Some(at) = running.iter().position(|one| one.number == self.0) else { return Vec::new() };
        let mut out = running.get_mut(at).map(|own| std::mem::take(&mut own.settled)).unwrap_or_default();
        // Another command that ends now may have settled them.
        for _ in 0..MOST_ROUNDS {
            let changes =
                GuardedLook::of(&running, self.0).filter(|_| !none).map(|look| look.parted()).unwrap_or_default();
            let more = changes.breaches.len() + changes.asked.len() >= MOST_CHANGES;
            let mut accepted: Vec<PathBuf> = changes.asked.into_iter().map(|change| change.path).collect();
            let mut undone = false;
            for change in changes.breaches {
                let (line, stays) = settled(&look.place, &change);
                match change.by {
                    ChangedBy::Command => undone |= !stays,
                    ChangedBy::Git | ChangedBy::NewRepository | ChangedBy::Unknown => {
                        accepted.push(change.path.clone())
                    }
                }
                out.push((change, line));
            }
            for path in &accepted {
                running.iter_mut().for_each(|one| Arc::make_mut(&mut one.guard).accept(path));
            }
            // What is neither taken back nor accepted would come again.
            if !more || !undone && accepted.is_empty() {
                break;
            }
        }
        out
    }
}

/// Notes what commands that run moved of what is hidden, before another one begins or one is over. Blocks.
pub(super) fn note_moves() {
    let hidden: Vec<Arc<HeldPlaces>> = running().iter().map(|one| Arc::clone(&one.hidden)).collect();
    hidden.iter().for_each(|places| places.note_moves());
}

impl Drop for GuardedCommand {
    fn drop(&mut self) {
        running().retain(|one| one.number != self.0);
    }
}

/// Everything that a look at one command's changes needs.
struct GuardedLook {
    place: CallPlace,
    told: NamedPlaces,
    guard: Arc<Guard>,
    /// Protected paths that a command which runs may change, because that was answered for.
    writable: Vec<PathBuf>,
}

/// Changes, by whether they were answered for.
#[derive(Default)]
struct Parted {
    breaches: Vec<GuardedChange>,
    asked: Vec<GuardedChange>,
}

impl GuardedLook {
    fn of(running: &[RunningCommand], number: u64) -> Option<Self> {
        let own = running.iter().find(|one| one.number == number)?;
        let moves = running.iter().map(|one| one.told.moves).fold(Moves::default(), Moves::and);
        Some(Self {
            place: own.place.clone(),
            told: NamedPlaces { moves, ..own.told.clone() },
            guard: Arc::clone(&own.guard),
            writable: running.iter().flat_map(|one| &one.place.allowances.granted.writable).cloned().collect(),
        })
    }

    fn changes(&self) -> Vec<GuardedChange> {
        let home = std::env::home_dir();
        self.guard.after(&site(&self.place, &self.told, home.as_deref()))
    }

    fn parted(&self) -> Parted {
        let is_asked = |change: &GuardedChange| self.writable.iter().any(|path| change.path.starts_with(path));
        let (asked, breaches) = self.changes().into_iter().partition(is_asked);
        Parted { breaches, asked }
    }
}

/// Takes back what commands in the background changed, where it is as it was at the last look. False when there are none any
/// more. Blocks.
fn look_after_jobs() -> bool {
    let numbers = |running: &[RunningCommand]| -> Vec<u64> {
        // The end of most calls that are waited for is near, and whatever they do until then is not done yet.
        let is_short = |one: &RunningCommand| one.told.waited_for && one.began.elapsed() < SHORT;
        let waits = |own: &RunningCommand| running.iter().any(|one| is_short(one) && one.guard.meets(&own.guard));
        let jobs = running.iter().filter(|one| !one.told.waited_for && !waits(one));
        jobs.map(|one| one.number).collect()
    };
    let jobs = numbers(&running());
    for number in jobs {
        let look = GuardedLook::of(&running(), number);
        if look.is_none_or(|look| look.changes().is_empty()) {
            continue;
        }
        let mut running = running();
        if !numbers(&running).contains(&number) {
            continue;
        }
        let Some(Parted { breaches, .. }) = GuardedLook::of(&running, number).map(|look| look.parted()) else {
            continue;
        };
        let Some(own) = running.iter_mut().find(|one| one.number == number) else { continue };
        // A command can make itself look like git, so that is believed for a while.
        let (checked_out, breaches): (Vec<GuardedChange>, Vec<GuardedChange>) = breaches
            .into_iter()
            .filter(|change| change.by == ChangedBy::Command)
            .partition(|change| own.passed < MOST_CHECKED_OUT && is_being_checked_out(&change.path));
        own.passed += u32::from(!checked_out.is_empty());
        let (same, new): (Vec<GuardedChange>, Vec<GuardedChange>) = breaches
            .into_iter()
            .filter(|change| !own.left.contains(change))
            .partition(|change| own.suspects.contains(change));
        own.suspects = new.into_iter().collect();
        for change in same {
            let (line, stays) = settled(&own.place, &change);
            own.left.extend(stays.then(|| change.clone()));
            if own.settled.len() < MOST_SETTLED {
                own.settled.push((change, line));
            }
        }
    }
    let running = running();
    let goes_on = running.iter().any(|one| !one.told.waited_for);
    LOOKED_AFTER.store(goes_on, Ordering::Relaxed);
    goes_on
}

/// A file of a working tree that git writes at this moment: whether it is one of a commit is known afterwards.
fn is_being_checked_out(path: &Path) -> bool {
    let mut above = path.ancestors().skip(1);
    above.find(|folder| folder.join(".git").is_dir()).is_some_and(|top| {
        path.strip_prefix(top).is_ok_and(|below| !below.starts_with(".git")) && top.join(".git/index.lock").exists()
    })
}

/// Takes back a change that the command was not to make. A line that tells of it, and true if it could not be taken back.
fn settled(place: &CallPlace, change: &GuardedChange) -> (String, bool) {
    let path = change.path.strip_prefix(&place.cwd).unwrap_or(&change.path).display().to_string();
    let path = super::input::one_line(&path, 200);
    let what = match &change.what {
        What::Made => "is new",
        What::Changed(_) => "was changed",
        What::Gone(_) => "was removed",
    };
    if change.by != ChangedBy::Command {
        return (format!("{path} {what}"), false);
    }
    // Not below `data/`, which commands write: a link that they lay there would lead lisle out of it.
    let fate = put_back::put_back(change, &place.session_dir.join("protected"));
    put_back::tidy(&change.path, &place.cwd);
    let stays = matches!(fate, ChangeFate::Left(_));
    let line = match (fate, &change.what) {
        (ChangeFate::Aside(copy), What::Made) => format!("{path} is new: it was moved to {}", copy.display()),
        (ChangeFate::Aside(copy), _) => {
            format!("{path} {what}: it is as before again, what the command wrote is in {}", copy.display())
        }
        (ChangeFate::Restored, _) => format!("{path} {what}: it is there again"),
        (ChangeFate::Left(why), _) => format!("{path} {what} and was left so: {why}"),
    };
    (line, stays)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Allowances;

    fn place(cwd: &Path, session_dir: &Path, writable: &[PathBuf]) -> CallPlace {
        let mut allowances = Allowances::default();
        allowances.granted.writable = writable.to_vec();
        CallPlace {
            cwd: cwd.to_owned(),
            session_dir: session_dir.to_owned(),
            own_dirs: Vec::new(),
            runner: "/nowhere".into(),
            allowances: allowances.into(),
            known: Default::default(),
            window: 0,
        }
    }

    fn begin(place: &CallPlace) -> GuardedCommand {
        GuardedCommand::begin(place, &NamedPlaces { waited_for: true, ..NamedPlaces::default() }, None)
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
        let inner = CallPlace { cwd: cwd.join("sub"), ..place.clone() };
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
        let [(GuardedChange { what: What::Changed(Some(earlier)), .. }, _)] = &found[..] else { panic!("{found:?}") };
        assert_eq!(earlier.content, b"[user]\nname = x\n");
    }

    #[test]
    fn what_a_job_leaves_there_is_taken_back_while_it_runs() {
        let (_dir, cwd, session) = folder();
        let job = GuardedCommand::begin(&place(&cwd, &session, &[]), &NamedPlaces::default(), None);
        plant(&cwd);
        // The job's own thread looks as well.
        while !is_clean(&cwd) {
            assert!(look_after_jobs());
        }
        assert_eq!(job.end().len(), 3, "told at its end");
        assert_eq!(job.end(), []);
    }
}
