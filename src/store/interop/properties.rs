//! Definitions of a workspace: `statuses/config.json`, `labels/config.json` and `views.json`, in
//! Craft Agents' format.
//!
//! `read` makes values of the files, `edit` adds to their text; here they are found, read and replaced. A file that is
//! broken is told and left as it is: the built-in definitions stand in for it, and nothing is added to it.

mod edit;
mod read;

use crate::domain::notice::{Level, Notice};
use crate::domain::property::{BUILTIN_STATUSES, BUILTIN_VIEWS, Definition, Properties, TODO};
use crate::store::io::Stat;
use crate::store::io::whole_file::{self, make_dirs};
use crate::store::{Fsync, Store, StoreError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// One of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum PropertyFile {
    Statuses,
    Labels,
    Views,
}

impl PropertyFile {
    const ALL: [PropertyFile; 3] = [PropertyFile::Statuses, PropertyFile::Labels, PropertyFile::Views];

    /// The key of its list.
    fn key(self) -> &'static str {
        match self {
            Self::Statuses => "statuses",
            Self::Labels => "labels",
            Self::Views => "views",
        }
    }

    /// Paths in a workspace, in the order in which they are tried.
    fn places(self) -> &'static [&'static str] {
        match self {
            Self::Statuses => &["statuses/config.json", "statuses.json"],
            Self::Labels => &["labels/config.json", "labels.json"],
            Self::Views => &["views.json"],
        }
    }

    /// Substitute for the file, in words.
    fn instead(self) -> &'static str {
        match self {
            Self::Statuses => "Using the built-in statuses.",
            Self::Labels => "No labels loaded.",
            Self::Views => "Using the built-in views.",
        }
    }
}

/// Stamp of the files: a changed one has another. See [`Store::properties_stamp`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertiesStamp(Vec<Option<Stat>>);

impl Store {
    /// Definitions of the workspace, with the files' errors in `problems`. Reads three small files.
    pub fn properties(&self) -> Properties {
        let mut all = Properties::builtin();
        for kind in PropertyFile::ALL {
            let (path, bytes) = match self.definitions(kind) {
                Ok((path, Some(bytes))) => (path, bytes),
                Ok((_, None)) => continue,
                Err(error) => {
                    let notice = Notice::new(Level::Warning, format!("{error} {}", kind.instead()));
                    all.problems.push(notice.hint("Check the permissions of the file and its folder."));
                    continue;
                }
            };
            let mut reading = read::PropertyReader::new(&path);
            if let Err(problem) = reading.file(kind, &bytes, &mut all) {
                let hint = "Fix the file; until then lisle doesn't change it.";
                all.problems.push(
                    Notice::new(Level::Warning, format!("{}{problem} {}", path.display(), kind.instead())).hint(hint),
                );
            }
            all.problems.extend(reading.problems);
        }
        all
    }

    /// Current stamp of the files, from their metadata alone: a different one means that
    /// [`Store::properties`] would differ, too.
    pub fn properties_stamp(&self) -> PropertiesStamp {
        let paths = PropertyFile::ALL.into_iter().flat_map(PropertyFile::places);
        PropertiesStamp(paths.map(|place| self.io().stat(&self.inner.layout.workspace.join(place)).ok()).collect())
    }

    /// Adds a definition to its file, which is made when there is none. All that stands in the file stays as it is
    /// written there, and what another program put there meanwhile is kept.
    ///
    /// # Errors
    /// When the file is broken or cannot be written, or when the definition cannot be added: its name is taken, its
    /// condition is none, the label above it is not known.
    pub fn define(&self, definition: &Definition) -> Result<(), StoreError> {
        let kind = match definition {
            Definition::Label { .. } => PropertyFile::Labels,
            Definition::Status { .. } => PropertyFile::Statuses,
            Definition::View { .. } => PropertyFile::Views,
        };
        for _ in 0..5 {
            let before = self.properties_stamp();
            let (path, bytes) = self.definitions(kind)?;
            let refused = |why: String| StoreError::Definition { path: path.clone(), why };
            let text = match bytes {
                Some(bytes) => String::from_utf8(bytes).map_err(|_| refused("not UTF-8".to_owned()))?,
                None => fresh(kind),
            };
            let edited = edit::add(&text, kind, definition).map_err(refused)?;
            if let Some(dir) = path.parent() {
                make_dirs(self.io(), dir)?;
            }
            // Changed between reading and writing: what came in between is read, too.
            if before != self.properties_stamp() {
                continue;
            }
            whole_file::replace(self.io(), &path, edited.as_bytes(), self.inner.fsync != Fsync::Off)?;
            return self.sync_dir(path.parent().unwrap_or(Path::new("")));
        }
        let path = self.inner.layout.workspace.join(kind.places().first().copied().unwrap_or_default());
        Err(StoreError::Definition { path, why: "another program keeps changing it. Try again".to_owned() })
    }

    /// The file and its bytes; the first place and nothing when there is none.
    fn definitions(&self, kind: PropertyFile) -> Result<(PathBuf, Option<Vec<u8>>), StoreError> {
        let mut first = None;
        for place in kind.places() {
            let path = self.inner.layout.workspace.join(place);
            match whole_file::read(self.io(), &path) {
                Ok(Some(bytes)) => return Ok((path, Some(bytes))),
                Ok(None) => {}
                // Where a folder should be is a file: then there is nothing in it.
                Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotADirectory => {}
                Err(error) => return Err(error),
            }
            first.get_or_insert(path);
        }
        Ok((first.unwrap_or_default(), None))
    }
}

/// A file with what is built in: who adds a status does not lose the others.
fn fresh(kind: PropertyFile) -> String {
    let file = match kind {
        PropertyFile::Statuses => {
            let statuses: Vec<_> = BUILTIN_STATUSES.iter().map(edit::status).collect();
            serde_json::json!({"version": 1, "statuses": statuses, "defaultStatusId": TODO})
        }
        PropertyFile::Labels => serde_json::json!({"version": 1, "labels": []}),
        PropertyFile::Views => {
            let views: Vec<_> = BUILTIN_VIEWS.iter().map(edit::view).collect();
            serde_json::json!({"version": 1, "views": views})
        }
    };
    format!("{file:#}\n")
}
