//! Protected files while commands run, also beside each other.
//!
//! A command must not take for given, and even put back, what another one made. So one that begins while others
//! run is compared with what was there before them, and what one of them was allowed to do counts for the others from then on.

use super::decide::{self, SettledChange};
use super::interrupted::Unfinished;
use super::other_processes;
use super::process_notes::Note;
use crate::sandbox::Bounds;
use crate::sandbox::places::Moves;
use crate::sandbox::places::hidden::HeldPlaces;
use crate::sandbox::protected_files::{ChangedBy, Guard, GuardedChange, MOST_CHANGES, What};
use crate::tools::CallPlace;
use crate::tools::command::confinement::{NamedPlaces, site};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio_util::sync::CancellationToken;

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
    /// Paths that were taken back from it.
    taken: HashSet<PathBuf>,
    /// Changes that were settled while it ran.
    settled: Vec<SettledChange>,
    breaches: Arc<Breaches>,
    /// Tells other processes of lisle of it.
    _notes: Vec<Note>,
}

/// News of a command that is looked after, for whoever waits for its end.
#[derive(Debug, Default)]
pub(in crate::tools) struct Breaches {
    lines: Mutex<Vec<String>>,
    /// It made again what had been taken back: it is to be ended.
    pub is_over: CancellationToken,
}

impl Breaches {
    /// Lines that nobody was told of.
    pub(in crate::tools) fn news(&self) -> Vec<String> {
        std::mem::take(&mut self.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn tell(&self, line: &str) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() < MOST_SETTLED {
            lines.push(line.to_owned());
        }
    }
}

/// Commands of this process.
struct Commands {
    running: Vec<RunningCommand>,
    /// Commands that ended while others had begun to look at what is there: what they left, or what was put back at their
    /// end, may be what those saw.
    ended: Vec<EndedCommand>,
    /// Commands that look at what is there before them, by when they began to.
    beginning: Vec<u64>,
}

/// A command that is over.
struct EndedCommand {
    number: u64,
    /// State before it.
    guard: Arc<Guard>,
    /// Its end, in the order of [`NEXT`].
    at: u64,
}

impl Commands {
    /// Takes out a command that is over.
    fn remove(&mut self, number: u64) {
        let Some(at) = self.running.iter().position(|one| one.number == number) else { return };
        let over = self.running.remove(at);
        if !self.beginning.is_empty() {
            let at = NEXT.fetch_add(1, Ordering::Relaxed);
            self.ended.push(EndedCommand { number, guard: over.guard, at });
        }
    }

    /// Forgets a command that began to look then, and what nobody who looks can have seen.
    fn looked(&mut self, since: u64) {
        self.beginning.retain(|one| *one != since);
        let first = self.beginning.iter().min().copied().unwrap_or(u64::MAX);
        self.ended.retain(|ended| ended.at > first);
    }

    /// State before a command, looked at since then, without what others did that ran meanwhile.
    fn take_over(&self, guard: &mut Guard, since: u64) {
        let ended = self.ended.iter().filter(|ended| ended.at > since);
        let running = self.running.iter().map(|one| (one.number, &one.guard));
        let mut others: Vec<(u64, &Arc<Guard>)> =
            running.chain(ended.map(|ended| (ended.number, &ended.guard))).collect();
        // Whichever began later knows what the others were allowed to do.
        others.sort_by_key(|(number, _)| *number);
        others.into_iter().for_each(|(_, other)| guard.take_over(other));
    }

    /// Takes a file as it is now for what was there before, for all of them.
    fn accept(&mut self, path: &Path) {
        let running = self.running.iter_mut().map(|one| &mut one.guard);
        let all = running.chain(self.ended.iter_mut().map(|ended| &mut ended.guard));
        all.for_each(|guard| Arc::make_mut(guard).accept(path));
    }
}

/// Held for moments alone: files are looked at without it, unless something is to be taken back. A command in a slow folder
/// delays no other one.
static RUNNING: Mutex<Commands> =
    Mutex::new(Commands { running: Vec::new(), ended: Vec::new(), beginning: Vec::new() });
static NEXT: AtomicU64 = AtomicU64::new(0);
/// A thread looks after jobs. Changed while [`RUNNING`] is held.
static LOOKED_AFTER: AtomicBool = AtomicBool::new(false);

fn commands() -> MutexGuard<'static, Commands> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a command among those that look at what is there, until it is dropped: what ends meanwhile is kept.
struct Look(u64);

impl Look {
    fn begin() -> Self {
        let mut commands = commands();
        let since = NEXT.fetch_add(1, Ordering::Relaxed);
        commands.beginning.push(since);
        Self(since)
    }
}

impl Drop for Look {
    fn drop(&mut self) {
        commands().looked(self.0);
    }
}

/// A command whose state before is known, and which does not run yet.
struct BeginningCommand<'a> {
    number: u64,
    place: &'a CallPlace,
    told: &'a NamedPlaces,
    guard: Guard,
    hidden: Arc<HeldPlaces>,
    settled: Vec<SettledChange>,
    notes: Vec<Note>,
    looked: Look,
}

impl<'a> BeginningCommand<'a> {
    /// Looks at what is there. Blocks.
    fn look(place: &'a CallPlace, told: &'a NamedPlaces, bounds: Option<&Bounds>) -> Self {
        let looked = Look::begin();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let (home, scope) = (std::env::home_dir(), Guard::scope_of(&place.cwd));
        // Noted before anything is looked at: of two that begin at once each knows of the other.
        let mut notes = other_processes::note(SystemTime::now(), &scope);
        let before = other_processes::since(&scope);
        let mut guard = Guard::before(&site(place, told, home.as_deref()), bounds);
        let settled = settle_left(place, &mut guard);
        other_processes::note_files(&mut notes, guard.files());
        // One of another process may have ended meanwhile.
        if let Some(since) = before.into_iter().chain(other_processes::since(guard.scope())).min() {
            guard.doubt(since);
        }
        let hidden = bounds.map(|bounds| Arc::clone(&bounds.held)).unwrap_or_default();
        Self { number, place, told, guard, hidden, settled, notes, looked }
    }

    /// The command as one that runs from now on.
    fn run(mut self) -> GuardedCommand {
        let breaches = Arc::<Breaches>::default();
        let background = !self.told.waited_for;
        // It is over after the lock on the others.
        let looked = self.looked;
        let mut commands = commands();
        commands.take_over(&mut self.guard, looked.0);
        commands.running.push(RunningCommand {
            number: self.number,
            place: self.place.clone(),
            told: self.told.clone(),
            guard: self.guard.into(),
            hidden: self.hidden,
            began: Instant::now(),
            passed: 0,
            suspects: HashSet::new(),
            left: HashSet::new(),
            taken: HashSet::new(),
            settled: self.settled,
            breaches: Arc::clone(&breaches),
            _notes: self.notes,
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
        GuardedCommand(self.number, breaches)
    }
}

/// The part of one command in this, to its end.
pub(in crate::tools) struct GuardedCommand(u64, Arc<Breaches>);

impl GuardedCommand {
    /// Looks at what is there before a command. Blocks.
    pub(in crate::tools) fn begin(place: &CallPlace, told: &NamedPlaces, bounds: Option<&Bounds>) -> Self {
        BeginningCommand::look(place, told, bounds).run()
    }

    /// News of it while it runs.
    pub(in crate::tools) fn breaches(&self) -> Arc<Breaches> {
        Arc::clone(&self.1)
    }

    /// True if all protected files are known.
    pub(in crate::tools) fn is_whole(&self) -> bool {
        commands().running.iter().find(|one| one.number == self.0).is_none_or(|own| own.guard.is_whole())
    }

    /// Changes up to now, each with what became of it: what nobody was allowed to do is taken back. Blocks.
    pub(in crate::tools) fn end(&self) -> Vec<SettledChange> {
        note_moves();
        let Some(look) = GuardedLook::of(&commands().running, self.0) else { return Vec::new() };
        let mut left = HashSet::new();
        let none = look.changes(&left).is_empty();
        let mut commands = commands();
        let Some(at) = commands.running.iter().position(|one| one.number == self.0) else { return Vec::new() };
        let mut out = commands.running.get_mut(at).map(|own| std::mem::take(&mut own.settled)).unwrap_or_default();
        // Another command that ends now may have settled them.
        for _ in 0..MOST_ROUNDS {
            let Some(look) = GuardedLook::of(&commands.running, self.0).filter(|_| !none) else { break };
            let Parted { mut breaches, asked } = look.parted(&left);
            let unseen = breaches.iter().any(|change| matches!(change.what, What::Unseen(_)));
            let links = breaches.iter().chain(&asked).any(|change| look.guard.is_link(change));
            let more = unseen || links || breaches.len() + asked.len() >= MOST_CHANGES;
            breaches.sort_by_key(GuardedChange::rank);
            let _unfinished = Unfinished::begin(&breaches, &decide::folder(&look.place), &look.place.cwd);
            let mut accepted: Vec<PathBuf> = asked.into_iter().map(|change| change.path).collect();
            for change in breaches {
                let settled = decide::settled(&look.place, &look.guard, change);
                let path = settled.change.path.clone();
                match settled.change.by {
                    // The next look goes past what stays.
                    ChangedBy::Command => drop(settled.stays.then(|| left.insert(path))),
                    ChangedBy::Git | ChangedBy::NewRepository | ChangedBy::Unknown => accepted.push(path),
                }
                out.push(settled);
            }
            if !left.is_empty() {
                // One of those that run beside it may make it again; without them it is looked at once more.
                let jobs = commands.running.iter().filter(|one| !one.told.waited_for && one.guard.meets(&look.guard));
                jobs.for_each(|job| job.breaches.is_over.cancel());
            }
            for path in &accepted {
                commands.accept(path);
            }
            if !more {
                break;
            }
        }
        decide::grouped(out)
    }
}

/// Moves aside what commands made whose lisle was ended meanwhile: they are told with the next command. Blocks.
fn settle_left(place: &CallPlace, guard: &mut Guard) -> Vec<SettledChange> {
    let mut out = Vec::new();
    for left in other_processes::take_left(guard.scope()) {
        let Some(files) = &left.files else { continue };
        let changes = guard.made_by(left.began, &left.scope, files);
        let _unfinished = Unfinished::begin(&changes, &decide::folder(place), &place.cwd);
        for change in changes {
            let path = change.path.clone();
            let mut settled = decide::settled(place, guard, change);
            settled.line.push_str(" (made by a command of a lisle that was ended)");
            guard.accept(&path);
            out.push(settled);
        }
    }
    out
}

/// True if commands run that may change what lies in this folder, or in its repository: their protected files are what
/// they leave until they are looked at. Blocks.
#[must_use]
pub fn another_runs(cwd: &Path) -> bool {
    let scope = Guard::scope_of(cwd);
    let meets = |one: &PathBuf| scope.iter().any(|own| own.starts_with(one) || one.starts_with(own));
    commands().running.iter().any(|command| command.guard.scope().iter().any(meets))
        || other_processes::since(&scope).is_some()
}

/// Notes what commands that run moved of what is hidden, before another one begins or one is over. Blocks.
pub(in crate::tools) fn note_moves() {
    let hidden: Vec<Arc<HeldPlaces>> = commands().running.iter().map(|one| Arc::clone(&one.hidden)).collect();
    hidden.iter().for_each(|places| places.note_moves());
}

impl Drop for GuardedCommand {
    fn drop(&mut self) {
        commands().remove(self.0);
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

    fn changes(&self, skip: &HashSet<PathBuf>) -> Vec<GuardedChange> {
        if !self.place.is_same_folder() {
            // What lies there now is none of this command's.
            return Vec::new();
        }
        let home = std::env::home_dir();
        self.guard.after(&site(&self.place, &self.told, home.as_deref()), skip)
    }

    fn parted(&self, skip: &HashSet<PathBuf>) -> Parted {
        let is_asked = |change: &GuardedChange| self.writable.iter().any(|path| change.path.starts_with(path));
        let (asked, breaches) = self.changes(skip).into_iter().partition(is_asked);
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
    let jobs = numbers(&commands().running);
    for number in jobs {
        let look = GuardedLook::of(&commands().running, number);
        if look.is_none_or(|look| look.changes(&HashSet::new()).is_empty()) {
            continue;
        }
        let mut commands = commands();
        let running = &mut commands.running;
        if !numbers(running).contains(&number) {
            continue;
        }
        let Some(look) = GuardedLook::of(running, number) else { continue };
        let Parted { breaches, .. } = look.parted(&HashSet::new());
        let Some(own) = running.iter_mut().find(|one| one.number == number) else { continue };
        // A command can make itself look like git, so that is believed for a while.
        let (checked_out, breaches): (Vec<GuardedChange>, Vec<GuardedChange>) = breaches
            .into_iter()
            .filter(|change| change.by == ChangedBy::Command)
            .partition(|change| own.passed < MOST_CHECKED_OUT && is_being_checked_out(&change.path));
        own.passed += u32::from(!checked_out.is_empty());
        // What was taken back before is not waited for again.
        let (mut same, new): (Vec<GuardedChange>, Vec<GuardedChange>) = breaches
            .into_iter()
            .filter(|change| !own.left.contains(change))
            .partition(|change| own.suspects.contains(change) || own.taken.contains(&change.path));
        own.suspects = new.into_iter().collect();
        same.sort_by_key(GuardedChange::rank);
        let _unfinished =
            (!same.is_empty()).then(|| Unfinished::begin(&same, &decide::folder(&own.place), &own.place.cwd));
        for change in same {
            // It would make it once more: it is ended, and what it leaves is taken back at its end.
            if !own.taken.insert(change.path.clone()) {
                own.breaches.is_over.cancel();
            }
            let settled = decide::settled(&own.place, &look.guard, change);
            // What cannot be taken back while it runs may be once it does not.
            if settled.stays {
                own.breaches.is_over.cancel();
            }
            own.left.extend(settled.stays.then(|| settled.change.clone()));
            own.breaches.tell(&settled.line);
            if own.settled.len() < MOST_SETTLED {
                own.settled.push(settled);
            }
        }
    }
    let commands = commands();
    let goes_on = commands.running.iter().any(|one| !one.told.waited_for);
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

/// A command that runs in this folder until it is dropped.
#[cfg(test)]
pub fn running_in(cwd: &Path) -> impl Sized + use<> {
    tests::begin(&tests::place(cwd, &cwd.join("session"), &[]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Allowances;

    pub(super) fn place(cwd: &Path, session_dir: &Path, writable: &[PathBuf]) -> CallPlace {
        let mut allowances = Allowances::default();
        allowances.granted.writable = writable.to_vec();
        CallPlace {
            cwd: cwd.to_owned(),
            folder: None,
            session_dir: session_dir.to_owned(),
            own_dirs: Vec::new(),
            runner: "/nowhere".into(),
            allowances: allowances.into(),
            known: Default::default(),
            window: 0,
        }
    }

    pub(super) fn begin(place: &CallPlace) -> GuardedCommand {
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
        // Somebody looks at another folder all the while.
        let _elsewhere = Look::begin();
        let job = begin(&place);
        plant();
        // One that does nothing, and one in a folder of its own, find what the job did.
        let inner = CallPlace { cwd: cwd.join("sub"), ..place.clone() };
        let (one, other) = (begin(&place), begin(&inner));
        assert!(another_runs(&cwd) && another_runs(&cwd.join("sub")) && !another_runs(&session));
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
        assert!(!another_runs(&cwd));
        // Whoever comes later takes what is there as it is.
        plant();
        assert_eq!(begin(&place).end(), []);
    }

    #[test]
    fn a_protected_folder_stays_closed_to_other_users() {
        use std::os::unix::fs::PermissionsExt;
        let (_dir, cwd, session) = folder();
        let place = place(&cwd, &session, &[]);
        std::fs::create_dir_all(cwd.join(".vscode")).unwrap();
        std::fs::write(cwd.join(".vscode/tasks.json"), "{}").unwrap();
        for name in [".git", ".git/hooks", ".vscode", "sub"] {
            mode(&cwd.join(name), 0o755);
        }
        let one = begin(&place);
        for name in [".git", ".git/hooks", ".vscode", "sub"] {
            mode(&cwd.join(name), 0o777);
        }
        let found = one.end();
        assert_eq!(paths(&found, &cwd), [".git", ".git/hooks", ".vscode"]);
        assert_eq!(found[0].line, ".git was opened to other users of this machine: restored");
        let rights = |name: &str| cwd.join(name).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!([".git", ".git/hooks", ".vscode", "sub"].map(rights), [0o755, 0o755, 0o755, 0o777]);
        assert_eq!(one.end(), []);
        if rustix::process::geteuid().is_root() {
            // Its owner may write it, whatever its mode.
            std::os::unix::fs::chown(cwd.join(".git/hooks"), Some(65_534), None).unwrap();
            assert_eq!(paths(&one.end(), &cwd), [".git/hooks"]);
            assert_eq!(std::os::unix::fs::MetadataExt::uid(&cwd.join(".git/hooks").metadata().unwrap()), 0);
        }
    }

    #[test]
    fn what_ends_while_another_one_looks_is_no_state_before_it() {
        let (_dir, cwd, session) = folder();
        let place = place(&cwd, &session, &[]);
        let told = NamedPlaces { waited_for: true, ..NamedPlaces::default() };
        std::fs::write(cwd.join(".envrc"), "mine").unwrap();
        let job = begin(&place);
        plant(&cwd);
        std::fs::remove_file(cwd.join(".envrc")).unwrap();
        let late = BeginningCommand::look(&place, &told, None);
        assert_eq!(job.end().len(), 4);
        drop(job);
        let late = late.run();
        assert_eq!(late.end(), [], "nothing of the job comes back, and what was put back stays");
        assert!(is_clean(&cwd) && std::fs::read_to_string(cwd.join(".envrc")).is_ok_and(|text| text == "mine"));
        drop(late);
        // What the job was allowed to do meanwhile is a state before.
        let job = begin(&self::place(&cwd, &session, &[cwd.join(".git/config")]));
        let late = BeginningCommand::look(&place, &told, None);
        std::fs::write(cwd.join(".git/config"), "[user]\nname = x\n").unwrap();
        assert_eq!(job.end(), []);
        drop(job);
        assert_eq!(late.run().end(), []);
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
        let [SettledChange { change: GuardedChange { what: What::Changed(Some(earlier)), .. }, .. }] = &found[..]
        else {
            panic!("{found:?}")
        };
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
        assert_eq!(job.breaches().news().len(), 3, "told while it runs");
        assert!(!job.breaches().is_over.is_cancelled());
        // The second time it is ended.
        plant(&cwd);
        while !is_clean(&cwd) {
            assert!(look_after_jobs());
        }
        assert!(job.breaches().is_over.is_cancelled());
        assert_eq!(job.end().len(), 6, "told at its end");
        assert_eq!(job.end(), []);
    }

    /// A repository below the working directory that runs a program, and whose files are few.
    fn evil(git: &Path) {
        for name in ["objects", "refs", "hooks"] {
            std::fs::create_dir_all(git.join(name)).unwrap();
        }
        std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::write(git.join("config"), "[core]\n\tfsmonitor = x\n").unwrap();
        std::fs::write(git.join("hooks/pre-commit"), "x").unwrap();
    }

    fn mode(path: &Path, mode: u32) {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn paths(settled: &[SettledChange], cwd: &Path) -> Vec<String> {
        let below = |one: &SettledChange| one.change.path.strip_prefix(cwd).unwrap().display().to_string();
        settled.iter().map(below).collect()
    }

    #[test]
    fn what_cannot_be_listed_is_opened_and_looked_at() {
        if rustix::process::geteuid().is_root() {
            return eprintln!("not tested: root has all rights");
        }
        let (_dir, cwd, session) = folder();
        let place = place(&cwd, &session, &[]);
        std::fs::remove_dir_all(cwd.join(".git/hooks")).unwrap();
        let one = begin(&place);
        evil(&cwd.join("zz/q/.git"));
        std::fs::create_dir(cwd.join(".git/hooks")).unwrap();
        std::fs::write(cwd.join(".git/hooks/pre-commit"), "x").unwrap();
        evil(&cwd.join(".git/modules/m"));
        for (name, bits) in [
            (".git/modules/m/hooks", 0o311),
            (".git/modules/m", 0o311),
            (".git/modules", 0o311),
            (".git/hooks", 0o311),
            ("zz/q/.git/hooks", 0o311),
            ("zz/q/.git", 0o555),
            ("zz/q", 0o000),
            ("zz", 0o311),
        ] {
            mode(&cwd.join(name), bits);
        }
        let found = one.end();
        let expected = [
            ".git/hooks/pre-commit",
            ".git/modules/m/config",
            ".git/modules/m/hooks/pre-commit",
            "zz/q/.git/config",
            "zz/q/.git/hooks/pre-commit",
        ];
        assert_eq!(paths(&found, &cwd), expected);
        assert!(found.iter().all(|one| !one.stays && one.change.path.symlink_metadata().is_err()), "{found:?}");
    }

    #[test]
    fn what_lies_too_deep_goes_as_a_whole() {
        use rustix::fs::{Mode, OFlags};
        let (_dir, cwd, session) = folder();
        let one = begin(&place(&cwd, &session, &[]));
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut open = rustix::fs::open(&cwd, how, Mode::empty()).unwrap();
        let name = "d".repeat(240);
        for _ in 0..20 {
            rustix::fs::mkdirat(&open, name.as_str(), Mode::from_raw_mode(0o755)).unwrap();
            open = rustix::fs::openat(&open, name.as_str(), how, Mode::empty()).unwrap();
        }
        rustix::fs::mkdirat(&open, ".git", Mode::from_raw_mode(0o755)).unwrap();
        let found = one.end();
        let [SettledChange { change: GuardedChange { path, what: What::Unseen(_), .. }, stays: false, .. }] =
            &found[..]
        else {
            panic!("{found:?}")
        };
        assert!(path.as_os_str().len() < 3_500 && path.symlink_metadata().is_err(), "{}", path.display());
        assert_eq!(begin(&place(&cwd, &session, &[])).end(), []);
    }

    #[test]
    fn a_folder_that_a_git_file_leads_to_is_looked_after_wherever_it_lies() {
        let (_dir, cwd, session) = folder();
        let place = place(&cwd, &session, &[]);
        let config = |more: &str| format!("[core]\n\tbare = false\n\tworktree = ../../zz\n{more}");
        let one = begin(&place);
        evil(&cwd.join(".git/foo"));
        std::fs::remove_file(cwd.join(".git/foo/hooks/pre-commit")).unwrap();
        std::fs::create_dir(cwd.join("zz")).unwrap();
        std::fs::write(cwd.join("zz/.git"), "gitdir: ../.git/foo\n").unwrap();
        std::fs::write(cwd.join(".git/foo/config"), config("")).unwrap();
        assert_eq!(one.end(), [], "nothing of it runs anything");
        drop(one);
        let one = begin(&place);
        std::fs::write(cwd.join(".git/foo/config"), config("\tfsmonitor = x\n")).unwrap();
        std::fs::write(cwd.join(".git/foo/hooks/post-checkout"), "x").unwrap();
        assert_eq!(paths(&one.end(), &cwd), [".git/foo/config", ".git/foo/hooks/post-checkout"]);
        assert_eq!(std::fs::read_to_string(cwd.join(".git/foo/config")).unwrap(), config(""));
    }

    #[test]
    fn many_files_that_stay_hide_no_other_one() {
        let (_dir, cwd, session) = folder();
        let place = place(&cwd, &session, &[]);
        let one = begin(&place);
        std::fs::create_dir_all(cwd.join(".fleet/a")).unwrap();
        (0..100).for_each(|n| std::fs::write(cwd.join(".fleet/a").join(n.to_string()), "x").unwrap());
        (0..100).for_each(|n| {
            std::fs::create_dir_all(cwd.join(format!("a/{n}"))).unwrap();
            std::fs::write(cwd.join(format!("a/{n}/.envrc")), "x").unwrap();
        });
        std::fs::write(cwd.join("sub/.envrc"), "x").unwrap();
        evil(&cwd.join("zz/.git"));
        mode(&cwd.join(".fleet/a"), 0o555);
        mode(&cwd.join(".fleet"), 0o555);
        let found = one.end();
        assert!(!cwd.join(".fleet").exists() && !cwd.join("a/99/.envrc").exists() && !cwd.join("sub/.envrc").exists());
        assert_eq!(paths(&found, &cwd)[..2], ["zz/.git/config", "zz/.git/hooks/pre-commit"]);
        let lines: Vec<&String> = found.iter().map(|one| &one.line).filter(|line| !line.is_empty()).collect();
        assert!(lines.len() < 10 && lines.iter().any(|line| line.contains(".fleet ")), "{lines:?}");
    }
}
