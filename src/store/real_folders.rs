//! Refusal of links among lisle's own files. A workspace may come from somebody else, and a link where lisle keeps a folder or
//! file of a session would let that somebody choose what is read and written elsewhere.
//!
//! The workspace folder itself is the user's choice, through links or not; below it nothing is followed. Which folders
//! commands and tools use, `sandbox::own_folders` checks anew at each use.

use super::format::layout;
use super::io::PathKind;
use super::{Store, StoreError};
use crate::domain::SessionId;
use std::path::Path;

/// Folders of a workspace that lisle writes.
const OF_WORKSPACE: &[&str] = &["sessions", layout::CHECKPOINTS, "trash", "usage"];

impl Store {
    /// Checks that no folder of the workspace that lisle writes is a link.
    ///
    /// # Errors
    /// [`StoreError::Linked`] with the link's path.
    pub(super) fn refuse_linked_folders(&self) -> Result<(), StoreError> {
        let workspace = &self.inner.layout.workspace;
        OF_WORKSPACE.iter().try_for_each(|name| self.refuse_link(&workspace.join(name)))
    }

    /// Checks the same for a session: its folder, and everything that stands at the top of it.
    ///
    /// # Errors
    /// [`StoreError::Linked`] with the link's path.
    pub(super) fn refuse_links(&self, id: &SessionId) -> Result<(), StoreError> {
        self.refuse_linked_folders()?;
        let dir = self.inner.layout.session(id);
        self.refuse_link(&dir)?;
        // What cannot be listed, or is not there, is told by whoever reads it.
        let names = self.io().list(&dir).unwrap_or_default();
        names.iter().try_for_each(|name| self.refuse_link(&dir.join(name)))
    }

    fn refuse_link(&self, path: &Path) -> Result<(), StoreError> {
        match self.io().lstat(path) {
            Ok((PathKind::Link, _)) => Err(StoreError::Linked { path: path.to_owned() }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::SessionMeta;
    use crate::domain::permission::Mode;
    use crate::domain::{At, property_change::PropertyChange};
    use crate::store::Options;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_session_with_a_link_at_its_top_is_refused_and_nothing_is_written_through_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let elsewhere = root.join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        let own = ["tmp", "data", "lisle.lock", "live.jsonl", "header.json", "checkpoints", "anything"];
        for name in own.into_iter().chain(["SESSION", "sessions", "trash"]) {
            let workspace = root.join(format!("ws-{name}"));
            let store = Store::open(Options::new(&workspace, root.join("state"))).unwrap();
            let meta = SessionMeta::new(store.fresh_id(At(1)), At(1), Mode::Ask, root.clone());
            let (id, mut journal) = store.create(&meta).unwrap();
            journal.close().unwrap();
            drop(journal);
            let session = store.session_dir(&id);
            let link = match name {
                "SESSION" => session.clone(),
                "sessions" | "trash" => workspace.join(name),
                name => session.join(name),
            };
            let to = if link.symlink_metadata().is_ok() {
                let moved = root.join(format!("moved-{name}"));
                std::fs::rename(&link, &moved).unwrap();
                moved
            } else {
                elsewhere.join(format!("new-{name}"))
            };
            symlink(&to, &link).unwrap();
            let before = names(&root);
            let refusals = [
                store.load(&id, 5).err(),
                store.take_over(&id, 5).err(),
                store.read(&id, 5).err(),
                store.change(&id, &PropertyChange::Flagged(true), At(2)).err(),
            ];
            for refusal in refusals {
                let text = refusal.map(|error| error.to_string()).unwrap_or_default();
                assert!(text.contains(&link.display().to_string()) && text.contains("is a link"), "{name}: {text}");
            }
            assert_eq!(names(&root), before, "{name}");
        }
        assert_eq!(names(&elsewhere), Vec::<std::path::PathBuf>::new());
    }

    #[test]
    fn no_session_is_made_below_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("ws")).unwrap();
        std::fs::create_dir_all(root.join("elsewhere")).unwrap();
        symlink(root.join("elsewhere"), root.join("ws/sessions")).unwrap();
        let store = Store::open(Options::new(root.join("ws"), root.join("state"))).unwrap();
        let meta = SessionMeta::new(store.fresh_id(At(1)), At(1), Mode::Ask, root.clone());
        assert!(matches!(store.create(&meta), Err(StoreError::Linked { .. })));
        assert!(store.list().notices.iter().any(|notice| notice.text.contains("link")));
        // The workspace itself may be reached through one.
        symlink(root.join("real"), root.join("linked")).unwrap();
        std::fs::create_dir(root.join("real")).unwrap();
        let store = Store::open(Options::new(root.join("linked"), root.join("state"))).unwrap();
        let (id, mut journal) = store.create(&meta).unwrap();
        journal.close().unwrap();
        drop(journal);
        assert!(store.load(&id, 5).is_ok());
    }

    /// All paths below a folder, links not followed.
    fn names(root: &Path) -> Vec<std::path::PathBuf> {
        let mut out = Vec::new();
        let mut open = vec![root.to_owned()];
        while let Some(dir) = open.pop() {
            for entry in std::fs::read_dir(&dir).unwrap().flatten() {
                if entry.file_type().unwrap().is_dir() {
                    open.push(entry.path());
                }
                out.push(entry.path());
            }
        }
        out.sort();
        out
    }
}
