//! The hook around a call that may change files: what is there is kept before it runs, what it changed is recorded after.
//!
//! For file tools these are the files that they name. For commands it is the working directory,
//! looked at before and after; only changed files are read. No failure here holds up a call: it
//! becomes a gap, which is reported with the call.

use super::UndoSettings;
use super::possible_changes::{Intent, PossibleChanges};
use crate::domain::permission::Sandbox;
use crate::domain::tool::{CallFacts, Proposal, Touch};
use crate::domain::undo::{PathEntry, UndoEntry};
use crate::domain::{At, CallId, MessageId};
use crate::sandbox::own_folders;
use crate::sandbox::plain_file;
use crate::sandbox::repository::Repository;
use crate::store::checkpoints::{Checkpoints, NoRoom, Record, Sync};
use crate::tools::files::LARGEST;
use crate::tools::files::directory_table::{DirectoryTable, LAG, Limits, Stopped};
use crate::tools::files::restore::{look, see};
use crate::tools::protected_files;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Time that a command waits for its files to be kept; in tests, what a busy machine takes.
const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 60_000 } else { 200 });

/// Keeps what the calls of one session change.
#[derive(Debug)]
pub(in crate::agent) struct UndoRecorder {
    settings: UndoSettings,
    own_dirs: Vec<PathBuf>,
    session_dir: PathBuf,
    memory: Mutex<Memory>,
    /// The disk is nearly full, and whether the user was told.
    full: Mutex<(Option<String>, Told)>,
    stop: CancellationToken,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Told {
    #[default]
    No,
    Yes,
}

#[derive(Debug, Default)]
struct Memory {
    /// The working directory as it was looked at last.
    table: Option<Arc<DirectoryTable>>,
    /// The number of the last change.
    last: Option<u64>,
}

/// Store for the changes of a call, and the turn that it belongs to.
#[derive(Clone, Debug)]
pub(in crate::agent) struct UndoTarget {
    pub(in crate::agent) recorder: Arc<UndoRecorder>,
    pub(in crate::agent) checkpoints: Checkpoints,
    /// The message that the turn began with.
    pub(in crate::agent) turn: Option<MessageId>,
    /// The row of the call in that session.
    pub(in crate::agent) row: Option<MessageId>,
}

/// A call that is about to run.
#[derive(Clone, Debug)]
pub(in crate::agent) struct CallToRecord {
    pub(in crate::agent) checkpoints: Checkpoints,
    pub(in crate::agent) call: CallId,
    /// Row in the session whose list it goes to; for a call of a spawned session the row of the
    /// call that spawned it.
    pub(in crate::agent) row: Option<MessageId>,
    /// The message that its turn began with.
    pub(in crate::agent) turn: Option<MessageId>,
    pub(in crate::agent) at: At,
    pub(in crate::agent) facts: CallFacts,
    pub(in crate::agent) sandbox: Sandbox,
    /// The working directory.
    pub(in crate::agent) cwd: PathBuf,
}

/// A call that runs, with what was kept for it.
#[derive(Debug)]
pub(in crate::agent) struct RecordedCall {
    about: CallToRecord,
    change: u64,
    gaps: Vec<String>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// These paths were kept.
    Files(Vec<(PathBuf, PathEntry)>),
    /// The directory was looked at, or is still being looked at.
    Command {
        look: Option<JoinHandle<Looked>>,
        before: Option<Arc<DirectoryTable>>,
        began: i64,
        reach: PossibleChanges,
        /// Entries of the repository's own folders that configure or run code.
        code: Vec<(PathBuf, PathEntry)>,
        /// State of the repository.
        head: Head,
        /// Another command ran before this one was looked at, or meanwhile.
        crowded: bool,
    },
    /// Nothing could be kept.
    Nothing,
}

impl RecordedCall {
    /// The call made this change and not the proposed one.
    pub(in crate::agent) fn made(&mut self, proposal: Proposal) {
        self.about.facts.proposal = proposal;
    }

    /// The command goes on after its call.
    pub(in crate::agent) fn goes_on(&mut self) {
        self.gaps.push("Continues in the background; later changes are not recorded.".to_owned());
    }
}

type Looked = Result<Arc<DirectoryTable>, String>;

impl UndoRecorder {
    pub(in crate::agent) fn new(settings: UndoSettings, own_dirs: Vec<PathBuf>, session_dir: PathBuf) -> Self {
        let (memory, full, stop) = (Mutex::default(), Mutex::default(), CancellationToken::new());
        Self { settings, own_dirs, session_dir, memory, full, stop }
    }

    /// Ends what is still being copied: the program ends.
    pub(in crate::agent) fn end_all(&self) {
        self.stop.cancel();
    }

    /// Notice for the user, once.
    pub(in crate::agent) fn news(&self) -> Option<String> {
        let mut full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        let news = full.0.clone().filter(|_| full.1 == Told::No);
        if news.is_some() {
            full.1 = Told::Yes;
        }
        news
    }

    /// Keeps what a call may change. `None` where it changes nothing, or undo is switched off.
    pub(in crate::agent) async fn begin(self: &Arc<Self>, about: CallToRecord) -> Option<RecordedCall> {
        if !self.settings.enabled {
            return None;
        }
        let writes = written(&about.facts);
        let reach = PossibleChanges::of(&about.facts);
        let changes = match &reach {
            Some(reach) => about.sandbox != Sandbox::ReadOnly && *reach != PossibleChanges::Nothing,
            None => !writes.is_empty(),
        };
        if !changes {
            return None;
        }
        let recorder = self.clone();
        let cwd = crate::tools::files::paths::follow(&about.cwd).unwrap_or_else(|_| about.cwd.clone());
        let about = CallToRecord { cwd, ..about };
        if let Some(reach) = reach {
            return Some(self.begin_command(about, reach).await);
        }
        let kept = tokio::task::spawn_blocking(move || recorder.begin_files(about, &writes)).await;
        // A defect here must not stop the call; the log has it.
        kept.inspect_err(|error| tracing::error!(%error, "keeping a file for undo ended badly")).ok()
    }

    // ---- the file tools ----

    fn begin_files(&self, about: CallToRecord, paths: &[PathBuf]) -> RecordedCall {
        let mut gaps = Vec::new();
        let change = self.number(&about.checkpoints);
        if let Some(gap) = self.no_room(&about.checkpoints) {
            // That it changed something is known all the same.
            let _ = about.checkpoints.add(&begun(&about, change, Vec::new()), Sync::No);
            return RecordedCall { about, change, gaps: vec![gap], kind: Kind::Nothing };
        }
        let mut kept: Vec<(PathBuf, PathEntry)> = Vec::new();
        for path in paths {
            // Folders that will be made for it.
            let missing = path
                .ancestors()
                .skip(1)
                .take_while(|above| matches!(see(above, LARGEST), Ok(PathEntry::Absent)) && above.parent().is_some());
            let mut missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
            missing.reverse();
            kept.extend(missing.into_iter().map(|folder| (folder, PathEntry::Absent)));
            let thing = match look(path, LARGEST) {
                Ok((file @ PathEntry::File { .. }, Some(bytes))) => match about.checkpoints.keep(&bytes, Sync::Yes) {
                    Ok(_) => file,
                    Err(error) => {
                        gaps.push(format!("{error}."));
                        PathEntry::unkept("can't save it")
                    }
                },
                Ok((thing, _)) => thing,
                Err(error) => {
                    gaps.push(format!("{error}."));
                    PathEntry::unkept(error.to_string())
                }
            };
            kept.push((path.clone(), thing));
        }
        let after = || PathEntry::unkept("lisle quit meanwhile");
        let entries =
            kept.iter().map(|(path, before)| UndoEntry { path: path.clone(), before: before.clone(), after: after() });
        let entries = entries.collect();
        if let Err(error) = about.checkpoints.add(&begun(&about, change, entries), Sync::Yes) {
            gaps.push(format!("{error}."));
        }
        RecordedCall { about, change, gaps, kind: Kind::Files(kept) }
    }

    // ---- commands ----

    async fn begin_command(self: &Arc<Self>, about: CallToRecord, reach: PossibleChanges) -> RecordedCall {
        let change = self.number(&about.checkpoints);
        let (recorder, asked) = (self.clone(), about.clone());
        let crowded = another_runs(about.cwd.clone()).await;
        let found = tokio::task::spawn_blocking(move || (recorder.code(&asked), head_of(&asked.cwd))).await;
        let (code, head) = found.unwrap_or_default();
        let (recorder, asked) = (self.clone(), about.clone());
        let mut look = tokio::task::spawn_blocking(move || {
            if let Err(error) = asked.checkpoints.add(&begun(&asked, change, Vec::new()), Sync::No) {
                return Err(format!("{error}."));
            }
            match recorder.no_room(&asked.checkpoints) {
                Some(gap) => Err(gap),
                None => recorder.look(&asked),
            }
        });
        let waited = tokio::time::timeout(PATIENCE, &mut look).await;
        let began = now_ns();
        let crowded = crowded || another_runs(about.cwd.clone()).await;
        let (look, before, gaps) = match waited {
            Ok(Ok(Ok(table))) => (None, Some(table), Vec::new()),
            Ok(Ok(Err(gap))) => return RecordedCall { about, change, gaps: vec![gap], kind: Kind::Nothing },
            Ok(Err(error)) => {
                tracing::error!(%error, "looking at the working directory for undo ended badly");
                let gap = "Internal error, see the log.".to_owned();
                return RecordedCall { about, change, gaps: vec![gap], kind: Kind::Nothing };
            }
            Err(_) => {
                let gap = format!("Started before the files in {} were recorded.", about.cwd.display());
                (Some(look), None, vec![gap])
            }
        };
        RecordedCall { about, change, gaps, kind: Kind::Command { look, before, began, reach, code, head, crowded } }
    }

    /// Keeps the hooks and the configuration of the repository, which the look at the directory leaves out: the one thing in
    /// git's own folders that a command may not change by itself.
    fn code(&self, about: &CallToRecord) -> Vec<(PathBuf, PathEntry)> {
        if about.checkpoints.room(self.settings.bounds).is_err() {
            return Vec::new();
        }
        let keep = |path: PathBuf| {
            let thing = match look(&path, MOST_CODE).ok()? {
                (file @ PathEntry::File { .. }, Some(bytes)) => {
                    about.checkpoints.keep(&bytes, Sync::No).ok()?;
                    file
                }
                (thing, _) => thing,
            };
            Some((path, thing))
        };
        code_files(&about.cwd).into_iter().filter_map(keep).collect()
    }

    /// Changes of the repository's code, including new files.
    fn changed_code(before: Vec<(PathBuf, PathEntry)>, cwd: &Path) -> Vec<UndoEntry> {
        let known: Vec<PathBuf> = before.iter().map(|(path, _)| path.clone()).collect();
        let new =
            code_files(cwd).into_iter().filter(|path| !known.contains(path)).map(|path| (path, PathEntry::Absent));
        let entry = |(path, before): (PathBuf, PathEntry)| {
            let after = see(&path, MOST_CODE).ok()?;
            (after != before).then_some(UndoEntry { path, before, after })
        };
        before.into_iter().chain(new).filter_map(entry).collect()
    }

    /// Looks at the working directory and keeps what is new in it.
    fn look(&self, about: &CallToRecord) -> Looked {
        let before = self.memory.lock().unwrap_or_else(PoisonError::into_inner).table.clone();
        // What lisle itself writes is no change of a call.
        let own = own_folders::beside(&self.own_dirs, &self.session_dir, &about.cwd);
        let limits: Limits = self.settings.limits(&own);
        let mut keep = |bytes: &[u8]| about.checkpoints.keep(bytes, Sync::No).map_err(|error| error.to_string());
        let table = DirectoryTable::look(&about.cwd, before.as_deref(), &limits, &mut keep, &self.stop);
        let table = Arc::new(table.map_err(|Stopped| "lisle is quitting.".to_owned())?);
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).table = Some(table.clone());
        Ok(table)
    }

    // ---- after the call ----

    /// Records what a call changed. `did` says that it ended well, `now` when. Gives what is not known of it, one sentence
    /// each.
    pub(in crate::agent) async fn end(self: &Arc<Self>, underway: RecordedCall, did: bool, now: At) -> Vec<String> {
        let RecordedCall { about, change, mut gaps, kind } = underway;
        let ended_ns = now_ns();
        let crowded = matches!(kind, Kind::Command { crowded: true, .. });
        let (late, before, span, reach, files, (code, head)) = match kind {
            Kind::Nothing => {
                let (entries, told, at) = (Vec::new(), gaps.clone(), Some(now));
                let ended = Record::Ended { change, entries, gaps: told, at, sure: false, commits: false, crowded };
                // Why it could not be listed, if it cannot be, was told with what could not be kept.
                let _ = tokio::task::spawn_blocking(move || about.checkpoints.add(&ended, Sync::No)).await;
                return gaps;
            }
            Kind::Files(files) => {
                let head = head_of(&about.cwd);
                (false, None, (0, 0), PossibleChanges::Unknown, Some(files), (Vec::new(), head))
            }
            Kind::Command { look: Some(look), began, reach, code, head, .. } if look.is_finished() => {
                let table = match look.await {
                    Ok(Ok(table)) => Some(table),
                    Ok(Err(gap)) => {
                        gaps.push(gap);
                        None
                    }
                    Err(_) => None,
                };
                (true, table, (began, ended_ns), reach, None, (code, head))
            }
            Kind::Command { look, before, began, reach, code, head, .. } => {
                (look.is_some(), before, (began, ended_ns), reach, None, (code, head))
            }
        };
        let recorder = self.clone();
        let ended = tokio::task::spawn_blocking(move || {
            // A file that a redirection names can be written by anybody else at the same time.
            let sure = files.is_some() || reach == PossibleChanges::Nothing;
            let entries = match files {
                Some(files) => changed_files(files, &Intent::of(&about.facts.proposal), did),
                None => match before {
                    Some(before) => {
                        let mut entries = recorder.changed(&about, before, late, span, &mut gaps);
                        entries.extend(Self::changed_code(code, &about.cwd));
                        entries.retain(|entry| reach.has(&entry.path));
                        entries
                    }
                    None => Self::changed_code(code, &about.cwd),
                },
            };
            let commits = head != head_of(&about.cwd);
            let ended = Record::Ended { change, entries, gaps: gaps.clone(), at: Some(now), sure, commits, crowded };
            if let Err(error) = about.checkpoints.add(&ended, Sync::No) {
                gaps.push(format!("{error}."));
            }
            if let Err(error) = about.checkpoints.bound(recorder.settings.bounds) {
                tracing::warn!(%error, "what undo keeps could not be brought within its bound");
            }
            gaps
        });
        ended.await.unwrap_or_else(|error| {
            tracing::error!(%error, "recording a change for undo ended badly");
            vec!["Internal error, see the log.".to_owned()]
        })
    }

    /// Changes while a command ran, in nanoseconds from `began` to `ended`. Changes before or after
    /// that are somebody else's.
    fn changed(
        &self,
        about: &CallToRecord,
        before: Arc<DirectoryTable>,
        late: bool,
        (began, ended): (i64, i64),
        gaps: &mut Vec<String>,
    ) -> Vec<UndoEntry> {
        let after = match self.look(about) {
            Ok(after) => after,
            Err(gap) => {
                gaps.push(gap);
                return Vec::new();
            }
        };
        let mut before = before;
        if late {
            Arc::make_mut(&mut before).doubt_since(began);
        }
        for gap in before.gaps().iter().chain(after.gaps()) {
            if !gaps.contains(gap) {
                gaps.push(gap.clone());
            }
        }
        let meanwhile =
            |path: &Path| after.changed_at(path).is_none_or(|at| at >= began.saturating_sub(LAG) && at <= ended);
        let mut changes = before.changes(&after);
        // What lies in a folder that was moved keeps its times.
        let made =
            |entry: &&UndoEntry| matches!((&entry.before, &entry.after), (PathEntry::Absent, PathEntry::Folder { .. }));
        let moved: HashSet<PathBuf> =
            changes.iter().filter(made).map(|entry| entry.path.clone()).filter(|path| meanwhile(path)).collect();
        let came_along = |path: &Path| path.ancestors().skip(1).any(|above| moved.contains(above));
        changes.retain(|entry| meanwhile(&entry.path) || came_along(&entry.path));
        changes
    }

    // ---- what both need ----

    fn number(&self, checkpoints: &Checkpoints) -> u64 {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let listed = || checkpoints.records().unwrap_or_default().iter().map(Record::number).max().unwrap_or(0);
        let next = memory.last.unwrap_or_else(listed) + 1;
        memory.last = Some(next);
        next
    }

    /// Looks at the list again: somebody else wrote into it.
    pub(in crate::agent) fn look_again(&self) {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).last = None;
    }

    /// Reason why nothing can be kept, if the disk is nearly full.
    fn no_room(&self, checkpoints: &Checkpoints) -> Option<String> {
        let NoRoom { free } = checkpoints.room(self.settings.bounds).err()?;
        let size = crate::tools::files::text::size(free);
        let text = format!("Undo is off: disk nearly full ({size} free).");
        self.full.lock().unwrap_or_else(PoisonError::into_inner).0 = Some(text.clone());
        Some(text)
    }
}

/// True if commands run that may change what lies in this folder.
async fn another_runs(cwd: PathBuf) -> bool {
    // What is not known counts as one.
    tokio::task::spawn_blocking(move || protected_files::another_runs(&cwd)).await.unwrap_or(true)
}

/// Bytes of a hook or configuration that is kept.
const MOST_CODE: u64 = 1_000_000;

/// Files of the repository's own folders that configure or run code; those that may be made and are not there, too.
fn code_files(cwd: &Path) -> Vec<PathBuf> {
    Repository::of(cwd).map(|repository| repository.code_files()).unwrap_or_default()
}

/// State of a repository: its HEAD, that branch, and the list of stashes.
type Head = Option<[String; 3]>;

fn head_of(cwd: &Path) -> Head {
    let repository = Repository::of(cwd)?;
    let text = |path: PathBuf| match see(&path, MOST_CODE) {
        Ok(PathEntry::File { hash, .. }) => hash,
        _ => String::new(),
    };
    let head = plain_file::text(&repository.own.join("HEAD"), MOST_CODE)?;
    let branch = head.strip_prefix("ref:").map_or_else(String::new, |name| text(repository.common.join(name.trim())));
    Some([head.clone(), branch, text(repository.common.join("refs/stash"))])
}

/// The paths that a call of a file tool writes.
fn written(facts: &CallFacts) -> Vec<PathBuf> {
    let write = |touch: &Touch| match touch {
        Touch::Write { path, .. } => Some(path.clone()),
        _ => None,
    };
    facts.touches.iter().filter_map(write).collect()
}

fn begun(about: &CallToRecord, change: u64, entries: Vec<UndoEntry>) -> Record {
    let subject: String = about.facts.subject.lines().next().unwrap_or_default().chars().take(200).collect();
    Record::Begun {
        change,
        call: about.call.clone(),
        row: about.row.clone(),
        turn: about.turn.clone(),
        at: about.at,
        tool: about.facts.tool.clone(),
        subject,
        entries,
    }
}

/// Changes of the kept files. A content that the call was not to write is somebody else's: the call
/// wrote its own before that, or nothing if it did not end well.
fn changed_files(kept: Vec<(PathBuf, PathEntry)>, intent: &Intent, did: bool) -> Vec<UndoEntry> {
    let entry = |(path, before): (PathBuf, PathEntry)| {
        let found = see(&path, LARGEST).unwrap_or_else(|error| PathEntry::unkept(error.to_string()));
        if found == before {
            return None;
        }
        let after = intent.left(&before, found, did)?;
        (after != before).then_some(UndoEntry { path, before, after })
    };
    kept.into_iter().filter_map(entry).collect()
}

fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
