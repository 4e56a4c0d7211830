//! Changes that a command was not to make: what becomes of them, and the words about it.

use super::put_back::{self, AsideFolders, ChangeFate};
use crate::domain::sanitise::reveal_path;
use crate::sandbox::protected_files::{ChangedBy, Guard, GuardedChange, What};
use crate::sandbox::unseen::Unseen;
use crate::tools::CallPlace;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Name of the session's folder for what commands wrote.
pub(super) const ASIDE: &str = "protected";

/// Change that was settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tools) struct SettledChange {
    pub change: GuardedChange,
    /// A line that tells of it; empty where another one tells of many.
    pub line: String,
    /// It could not be taken back, and takes effect.
    pub stays: bool,
}

/// The folder for what commands wrote.
pub(in crate::tools) fn folder(place: &CallPlace) -> PathBuf {
    // Not below `data/`, which commands write: a link that they lay there would lead lisle out of it.
    place.session_dir.join(ASIDE)
}

/// Takes back a change that the command was not to make. Blocks.
pub(in crate::tools) fn settled(place: &CallPlace, guard: &Guard, change: GuardedChange) -> SettledChange {
    let path = reveal_path(change.path.strip_prefix(&place.cwd).unwrap_or(&change.path));
    let path = crate::tools::input::one_line(&path, 200);
    let what = match &change.what {
        What::Made => "was created",
        What::Changed(_) => "was changed",
        What::Linked(_) => "got another name",
        What::Gone(_) => "was removed",
        What::Unseen(_) => "is unreadable",
        What::Opened(_) => "was opened to other users of this machine",
    };
    if change.by != ChangedBy::Command {
        return SettledChange { line: format!("{path} {what}"), change, stays: false };
    }
    let (fate, stays) = fate(place, guard, &change);
    put_back::tidy(&change.path, &place.cwd);
    let line = match (fate, &change.what) {
        (ChangeFate::Aside(copy), What::Made | What::Unseen(_)) => {
            format!("{path} {what}: moved to {}", reveal_path(&copy))
        }
        (ChangeFate::Aside(copy), What::Changed(None)) => {
            format!("{path} {what}, no earlier version kept: moved to {}", reveal_path(&copy))
        }
        (ChangeFate::Aside(copy), _) => {
            format!("{path} {what}: restored, the command's version is in {}", reveal_path(&copy))
        }
        (ChangeFate::Restored, What::Linked(_)) => {
            format!("{path} {what} (a hard link): it is a file of its own again")
        }
        (ChangeFate::Restored, _) => format!("{path} {what}: restored"),
        (ChangeFate::Removed, _) => format!("{path} {what}: removed, no disk space to keep it"),
        (ChangeFate::Left(why), _) => format!("{path} {what} and not restored: {why}"),
    };
    SettledChange { change, line, stays }
}

/// Its fate, and whether what the command wrote still stands there.
fn fate(place: &CallPlace, guard: &Guard, change: &GuardedChange) -> (ChangeFate, bool) {
    let session = folder(place);
    let folders = AsideFolders { session: &session, cwd: &place.cwd };
    let fate = match &change.what {
        What::Unseen(_) if !guard.may_move(&change.path) => ChangeFate::Left("it was there before".to_owned()),
        _ => put_back::put_back(change, folders),
    };
    let ChangeFate::Left(why) = fate else { return (fate, false) };
    if matches!(change.what, What::Opened(_)) {
        return (ChangeFate::Left(why), true);
    }
    // Gone with a folder that was moved, or removed by the command: nothing stands there.
    if change.path.symlink_metadata().is_err_and(|error| !crate::sandbox::unseen::is_in_the_way(&error)) {
        return (ChangeFate::Left(why), false);
    }
    let inside = |above: &&Path| above.starts_with(&place.cwd) && *above != place.cwd;
    for above in change.path.ancestors().skip(1).take_while(inside).take_while(|above| guard.may_move(above)) {
        let whole =
            GuardedChange { path: above.to_owned(), what: What::Unseen(Unseen::Barred), by: ChangedBy::Command };
        if let ChangeFate::Aside(copy) = put_back::put_back(&whole, folders) {
            return (ChangeFate::Aside(copy), false);
        }
    }
    (ChangeFate::Left(why), true)
}

/// Changes of one folder, or of one name, that are told one by one.
const SHOWN: usize = 3;

/// The changes, those first that matter most, with the words of many under those of a few.
pub(in crate::tools) fn grouped(mut changes: Vec<SettledChange>) -> Vec<SettledChange> {
    changes.sort_by_key(|one| (!one.stays, one.change.rank()));
    let mut groups: HashMap<PathBuf, usize> = HashMap::new();
    let mut more: HashMap<(ChangedBy, bool), usize> = HashMap::new();
    for one in &mut changes {
        let path = &one.change.path;
        let keys = [path.parent().map(Path::to_owned), path.file_name().map(PathBuf::from)];
        let counts = keys.into_iter().flatten().map(|key| {
            let count = groups.entry(key).or_default();
            *count += 1;
            *count
        });
        if counts.max() > Some(SHOWN) {
            one.line.clear();
            *more.entry((one.change.by, one.stays)).or_default() += 1;
        }
    }
    for one in changes.iter_mut().rev().filter(|one| !one.line.is_empty()) {
        if let Some(more) = more.remove(&(one.change.by, one.stays)) {
            one.line.push_str(&format!("; and {more} more of the same folders or names"));
        }
    }
    changes
}
