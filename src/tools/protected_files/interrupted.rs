//! Changes of commands that are being taken back, noted on the disk until that is done: what a process that was ended
//! meanwhile left undone is done by the next one, before any command runs.

use super::decide;
use super::process_notes::{self, Note};
use super::put_back::{self, AsideFolders, ChangeFate};
use crate::domain::paths::climbs;
use crate::domain::sanitise::reveal_path;
use crate::sandbox::own_folders;
use crate::sandbox::protected_files::{ChangedBy, Earlier, Guard, GuardedChange, What};
use crate::sandbox::unseen::Unseen;
use crate::sandbox::working_folder::{FolderNumber, WorkingFolder};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The most changes that are told one by one.
const MOST_TOLD: usize = 10;

static FOLDER: Mutex<Option<PathBuf>> = Mutex::new(None);
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// Changes that are being taken back.
#[derive(Debug)]
pub(in crate::tools) struct Unfinished {
    _note: Option<Note>,
}

impl Unfinished {
    /// Notes them. Blocks.
    pub fn begin(changes: &[GuardedChange], folder: &Path, cwd: &Path) -> Self {
        UNDER_WAY.fetch_add(1, Ordering::Relaxed);
        let place = FOLDER.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let own = changes.iter().any(|change| change.by == ChangedBy::Command);
        let note = place.filter(|_| own).and_then(|place| {
            let note = Note::new(&place, &written(changes, folder, cwd));
            note.inspect_err(|error| tracing::warn!(%error, "what is taken back is not noted")).ok()
        });
        Self { _note: note }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
    }
}

/// True while changes of a command are being taken back.
#[must_use]
pub fn is_under_way() -> bool {
    UNDER_WAY.load(Ordering::Relaxed) > 0
}

/// Keeps the notes in this folder from now on, and does what processes that are gone left undone. A line a change. Blocks.
pub fn finish_in(folder: PathBuf) -> Vec<String> {
    let notes = process_notes::others(&folder);
    *FOLDER.lock().unwrap_or_else(PoisonError::into_inner) = Some(folder);
    let mut out = Vec::new();
    for note in notes.into_iter().filter(|note| !note.lives) {
        if let Some((place, changes)) = read(&note.text) {
            out.extend(changes.iter().filter_map(|change| finished(change, &place)));
        }
        note.remove();
    }
    let more = out.len().saturating_sub(MOST_TOLD);
    out.truncate(MOST_TOLD);
    out.extend((more > 0).then(|| format!("and {more} more")));
    out
}

fn finished(change: &GuardedChange, place: &NotedPlace) -> Option<String> {
    let path = crate::tools::input::one_line(&reveal_path(&change.path), 300);
    if !place.covers(&change.path) {
        return Some(format!(
            "{path} not restored: it does not lie in the working directory, or that is another folder now"
        ));
    }
    let now = change.path.symlink_metadata();
    let is_there = now.is_ok();
    // What was restored before the process ended is in order.
    let is_done = match &change.what {
        What::Gone(_) => is_there,
        What::Linked(_) => change.path.symlink_metadata().is_ok_and(|meta| meta.nlink() == 1),
        What::Changed(Some(earlier)) => is_as_before(&change.path, earlier),
        What::Made | What::Changed(None) | What::Unseen(_) => !is_there,
        // Not noted.
        What::Opened(_) => true,
    };
    if is_done {
        return None;
    }
    let change = match &change.what {
        // It was moved aside, and nothing was put in its place.
        What::Changed(Some(earlier)) if !is_there => {
            GuardedChange { what: What::Gone(Some(earlier.clone())), ..change.clone() }
        }
        _ => change.clone(),
    };
    let fate = put_back::put_back(&change, AsideFolders { session: &place.folder, cwd: &place.cwd });
    put_back::tidy(&change.path, &place.cwd);
    Some(match fate {
        ChangeFate::Aside(copy) => format!("{path}: the command's version is in {}", reveal_path(&copy)),
        ChangeFate::Restored => format!("{path}: restored"),
        ChangeFate::Removed => format!("{path}: the command's version was removed, no disk space to keep it"),
        ChangeFate::Left(why) => format!("{path} not restored: {why}"),
    })
}

fn is_as_before(path: &Path, earlier: &Earlier) -> bool {
    if earlier.is_link() {
        return std::fs::read_link(path).is_ok_and(|to| to.as_os_str().as_bytes() == earlier.content);
    }
    let most = u64::try_from(earlier.content.len()).unwrap_or(u64::MAX);
    crate::sandbox::plain_file::bytes(path, most).is_some_and(|bytes| bytes == earlier.content)
}

/// The folder for copies, the working directory and its number, then a change each: kind, path, and what was there. Lengths
/// stand before texts: any byte may be in them.
fn written(changes: &[GuardedChange], folder: &Path, cwd: &Path) -> Vec<u8> {
    let mut out = Vec::new();
    let mut text = |bytes: &[u8]| {
        out.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
        out.extend(bytes);
    };
    text(folder.as_os_str().as_bytes());
    text(cwd.as_os_str().as_bytes());
    text(FolderNumber::written(WorkingFolder::of(cwd).number()).as_bytes());
    for change in changes.iter().filter(|change| change.by == ChangedBy::Command) {
        let (kind, earlier) = match &change.what {
            What::Made => ("made", None),
            What::Linked(earlier) => ("linked", earlier.as_ref()),
            What::Changed(earlier) => ("changed", earlier.as_ref()),
            What::Gone(earlier) => ("gone", earlier.as_ref()),
            What::Unseen(Unseen::Barred) => ("unseen", None),
            What::Unseen(Unseen::Scarce) | What::Opened(_) => continue,
        };
        text(kind.as_bytes());
        text(change.path.as_os_str().as_bytes());
        text(earlier.map(|earlier| earlier.mode.to_string()).unwrap_or_default().as_bytes());
        text(earlier.map(|earlier| earlier.content.as_slice()).unwrap_or_default());
    }
    out
}

/// Place of noted changes.
struct NotedPlace {
    /// Folder for copies.
    folder: PathBuf,
    cwd: PathBuf,
    number: Option<FolderNumber>,
}

impl NotedPlace {
    /// A note is believed for its own working directory alone, while that is the folder that it was: whoever could write one
    /// would write anywhere else.
    fn covers(&self, path: &Path) -> bool {
        let is_same = self.number.is_some() && WorkingFolder::of(&self.cwd).number() == self.number;
        let plain = !climbs(path) && !climbs(&self.folder);
        let kept = self.folder.parent().is_some_and(|session| {
            self.folder.file_name() == Some(decide::ASIDE.as_ref()) && own_folders::fault(session).is_none()
        });
        is_same && plain && kept && Guard::scope_of(&self.cwd).iter().any(|own| path.starts_with(own) && path != own)
    }
}

fn read(mut bytes: &[u8]) -> Option<(NotedPlace, Vec<GuardedChange>)> {
    let mut text = || {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (text, rest) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
        bytes = rest;
        Some(text)
    };
    let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
    let (folder, cwd) = (path(text()?), path(text()?));
    let number = FolderNumber::read(std::str::from_utf8(text()?).ok()?).ok()?;
    let noted = NotedPlace { folder, cwd, number };
    let mut out = Vec::new();
    // One that was being written when the process ended breaks off.
    while let (Some(kind), Some(at), Some(mode), Some(content)) = (text(), text(), text(), text()) {
        let mode = std::str::from_utf8(mode).ok().and_then(|mode| mode.parse().ok());
        let earlier = mode.map(|mode| Earlier { content: content.to_vec(), mode });
        let what = match kind {
            b"made" => What::Made,
            b"linked" => What::Linked(earlier),
            b"changed" => What::Changed(earlier),
            b"gone" => What::Gone(earlier),
            _ => What::Unseen(Unseen::Barred),
        };
        out.push(GuardedChange { path: path(at), what, by: ChangedBy::Command });
    }
    Some((noted, out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_left_undone_is_done() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (cwd, kept) = (root.join("p"), root.join("sessions/s1/protected"));
        std::fs::create_dir_all(cwd.join("new")).unwrap();
        let at = |name: &str| cwd.join(name);
        let earlier = || Some(Earlier { content: b"mine".to_vec(), mode: 0o100_644 });
        let one = |name: &str, what| GuardedChange { path: at(name), what, by: ChangedBy::Command };
        let changes = [
            one("new", What::Made),
            one("changed", What::Changed(earlier())),
            one("moved", What::Changed(earlier())),
            one("done", What::Changed(earlier())),
            one("gone", What::Gone(earlier())),
            GuardedChange { by: ChangedBy::Git, ..one("gits", What::Made) },
        ];
        for (name, text) in [("new/x", "evil"), ("changed", "evil"), ("done", "mine"), ("gits", "x")] {
            std::fs::write(at(name), text).unwrap();
        }
        let text = written(&changes, &kept, &cwd);
        let told = |text: &[u8]| -> Vec<String> {
            let (place, changes) = read(text).unwrap();
            changes.iter().filter_map(|change| finished(change, &place)).collect()
        };
        // Nothing of it where the working directory is another folder by now.
        std::fs::rename(&cwd, root.join("moved")).unwrap();
        for is_link in [true, false] {
            match is_link {
                true => std::os::unix::fs::symlink(&root, &cwd).unwrap(),
                false => std::fs::create_dir(&cwd).unwrap(),
            }
            assert!(told(&text).iter().all(|line| line.contains("not restored")), "{is_link}");
            let _ = std::fs::remove_file(&cwd).or_else(|_| std::fs::remove_dir(&cwd));
        }
        std::fs::rename(root.join("moved"), &cwd).unwrap();
        // Nor what a note says of other places.
        let elsewhere =
            GuardedChange { path: root.join(".profile"), what: What::Gone(earlier()), by: ChangedBy::Command };
        assert_eq!(told(&written(&[elsewhere], &kept, &cwd)).len(), 1);
        assert!(!root.join(".profile").exists());
        let told = told(&text);
        assert_eq!(told.len(), 4, "{told:?}");
        let content = |name: &str| std::fs::read_to_string(at(name)).unwrap();
        assert!(!at("new").exists() && kept.join("1-new/x").exists());
        assert_eq!(["changed", "moved", "done", "gone", "gits"].map(content), ["mine", "mine", "mine", "mine", "x"]);
        assert_eq!(read(text.get(..text.len() - 1).unwrap()).unwrap().1.len(), 4, "the last one breaks off");
    }
}
