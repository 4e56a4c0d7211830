//! Screen state from one start to the next: `state/face.json`.
//!
//! A file that is missing or unreadable means that nothing is remembered. Of several lisles the last one to change
//! something wins, and no file is half written.

use crate::app::state::sessions::kept::Kept;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, io};

/// The file.
#[derive(Clone, Debug)]
pub(in crate::runtime) struct UiStateFile {
    path: PathBuf,
    /// State to write; a later one replaces an earlier one.
    wanted: Arc<Mutex<Option<Kept>>>,
}

impl UiStateFile {
    /// The file in `state_dir`.
    pub fn of(state_dir: &Path) -> Self {
        Self { path: state_dir.join("face.json"), wanted: Arc::default() }
    }

    /// Saved state.
    pub fn recall(&self) -> Kept {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// This is to be remembered: [`UiStateFile::write`] does it.
    pub fn want(&self, kept: Kept) {
        *self.wanted.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
    }

    /// Writes what is wanted, if it was not written yet.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self) -> io::Result<()> {
        // Held while it is written, so that what came later is written later.
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(kept) = wanted.take() else { return Ok(()) };
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let new = folder.join(format!(".face.json.{}", std::process::id()));
        let mut file = fs::File::create(&new)?;
        file.write_all(serde_json::to_string_pretty(&kept)?.as_bytes())?;
        drop(file);
        fs::rename(&new, &self.path).inspect_err(|_| {
            let _ = fs::remove_file(&new);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::state::sessions::Grouping;
    use std::collections::BTreeMap;

    #[test]
    fn what_was_wanted_last_is_remembered() {
        let dir = tempfile::tempdir().unwrap();
        let file = UiStateFile::of(&dir.path().join("state"));
        assert_eq!(file.recall(), Kept::default());
        let folded = BTreeMap::from([(Grouping::Status, vec!["status done".to_owned()])]);
        let last =
            Kept { grouping: Grouping::Status, folded, filter: vec!["-is:flagged".to_owned()], ..Kept::default() };
        file.want(Kept::default());
        file.want(last.clone());
        file.write().unwrap();
        file.write().unwrap();
        assert_eq!(file.recall(), last);
        assert_eq!(fs::read_dir(dir.path().join("state")).unwrap().count(), 1, "nothing is left beside it");
        fs::write(dir.path().join("state/face.json"), "{ \"grouping\": \"date\", \"new\": 1 }").unwrap();
        assert_eq!(file.recall(), Kept::default());
    }
}
