//! Makes the changes of several files, all or none: what was made before one that fails is taken back.

use super::super::files::{self, FileError, LoadedFile};
use crate::domain::hex::hex;
use crate::domain::undo::{Attributes, PathEntry};
use crate::tools::files::restore;
use std::path::{Path, PathBuf};

/// One change on the disk.
pub(super) enum DiskChange<'a> {
    /// These bytes come under this path, in place of `before` where there is something.
    Put { path: &'a Path, bytes: &'a [u8], before: Option<&'a LoadedFile> },
    /// A file that was there under another name comes here, with its permissions.
    Bring { path: &'a Path, bytes: &'a [u8], mode: u32, from: &'a Path },
    /// This goes.
    Remove { path: &'a Path, before: &'a LoadedFile },
}

/// Reason why nothing was changed, or what could not be reverted.
pub(super) struct Failed {
    /// The one that failed.
    pub error: FileError,
    /// Files that stay changed, because reverting failed.
    pub left: Vec<PathBuf>,
}

/// Makes all changes, or none. `lost` gets the names of extended attributes that could not be kept.
pub(super) fn all(deeds: &[DiskChange<'_>], lost: &mut Vec<String>) -> Result<(), Failed> {
    let none = |error| Failed { error, left: Vec::new() };
    // Looked at before the first one: a file that changed meanwhile must not cost the others a moment of being changed.
    deeds.iter().try_for_each(check).map_err(none)?;
    let mut done: Vec<CommittedChange<'_>> = Vec::new();
    for deed in deeds {
        let folders = deed.missing_folders();
        match deed.make() {
            Ok(names) => {
                lost.extend(names);
                done.push(CommittedChange { deed, folders });
            }
            Err(error) => {
                take_folders(&folders);
                let left =
                    done.iter().rev().filter(|one| one.take_back().is_err()).map(|one| one.deed.path().to_owned());
                return Err(Failed { error, left: left.collect() });
            }
        }
    }
    Ok(())
}

/// A change that was made, with the folders that were made for it.
struct CommittedChange<'a> {
    deed: &'a DiskChange<'a>,
    folders: Vec<PathBuf>,
}

fn thing(before: &LoadedFile) -> PathEntry {
    PathEntry::File { hash: hex(&before.hash), mode: before.mode, attributes: Attributes::default() }
}

fn check(deed: &DiskChange<'_>) -> Result<(), FileError> {
    let path = deed.path();
    let changed = || FileError::Changed(path.to_owned());
    match deed {
        DiskChange::Put { before: Some(before), .. } | DiskChange::Remove { before, .. } => {
            if files::load(path).map_err(|_| changed())?.hash == before.hash { Ok(()) } else { Err(changed()) }
        }
        DiskChange::Put { before: None, .. } | DiskChange::Bring { .. } => match files::look(path) {
            Err(FileError::Missing(_)) => Ok(()),
            Err(error) => Err(error),
            Ok(_) => Err(changed()),
        },
    }
}

/// Removes folders that were made and stay empty, the deepest first.
fn take_folders(folders: &[PathBuf]) {
    for folder in folders {
        // One that somebody put something into stays.
        let _ = restore::remove_folder(folder);
    }
}

impl DiskChange<'_> {
    pub(super) fn path(&self) -> &Path {
        match self {
            DiskChange::Put { path, .. } | DiskChange::Bring { path, .. } | DiskChange::Remove { path, .. } => path,
        }
    }

    fn make(&self) -> Result<Vec<String>, FileError> {
        match self {
            DiskChange::Put { path, bytes, before } => files::replace(path, bytes, *before),
            DiskChange::Bring { path, bytes, mode, from } => restore::moved(path, bytes, *mode, from),
            DiskChange::Remove { path, before } => restore::remove(path, &thing(before)).map(|()| Vec::new()),
        }
    }

    fn missing_folders(&self) -> Vec<PathBuf> {
        if matches!(self, DiskChange::Remove { .. }) {
            return Vec::new();
        }
        let above = self.path().ancestors().skip(1);
        above.take_while(|folder| std::fs::symlink_metadata(folder).is_err()).map(Path::to_owned).collect()
    }
}

impl CommittedChange<'_> {
    fn take_back(&self) -> Result<(), FileError> {
        match self.deed {
            DiskChange::Put { path, bytes, before: Some(before) } => {
                let now = LoadedFile { bytes: bytes.to_vec(), hash: files::hash(bytes), ..(*before).clone() };
                files::replace(path, &before.bytes, Some(&now)).map(drop)
            }
            DiskChange::Put { path, bytes, before: None } | DiskChange::Bring { path, bytes, .. } => {
                let (now, _) = restore::look(path, files::LARGEST)?;
                let hash = hex(&files::hash(bytes));
                if !matches!(&now, PathEntry::File { hash: found, .. } if *found == hash) {
                    return Err(FileError::Changed(path.to_path_buf()));
                }
                restore::remove(path, &now)?;
                take_folders(&self.folders);
                Ok(())
            }
            DiskChange::Remove { path, before } => {
                restore::file(path, &before.bytes, before.mode, &PathEntry::Absent).map(drop)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_was_made_before_a_failure_is_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for name in ["a", "gone"] {
            std::fs::write(root.join(name), name).unwrap();
            std::fs::set_permissions(root.join(name), std::fs::Permissions::from_mode(0o750)).unwrap();
        }
        let (a, gone) = (files::load(&root.join("a")).unwrap(), files::load(&root.join("gone")).unwrap());
        let (new, brought) = (root.join("x/y/new"), root.join("brought"));
        let (path, removed) = (root.join("a"), root.join("gone"));
        let deeds = [
            DiskChange::Put { path: &path, bytes: b"A", before: Some(&a) },
            DiskChange::Put { path: &new, bytes: b"N", before: None },
            DiskChange::Bring { path: &brought, bytes: b"B", mode: 0o700, from: &removed },
            DiskChange::Remove { path: &removed, before: &gone },
            // The second of the same name finds it taken by the first.
            DiskChange::Bring { path: &brought, bytes: b"C", mode: 0o700, from: &removed },
        ];
        let failed = all(&deeds, &mut Vec::new()).err().unwrap();
        assert!(matches!(failed.error, FileError::Changed(_)) && failed.left.is_empty());
        let names: Vec<_> = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "{names:?}");
        for name in ["a", "gone"] {
            assert_eq!(std::fs::read(root.join(name)).unwrap(), name.as_bytes());
            assert_eq!(std::fs::metadata(root.join(name)).unwrap().permissions().mode() & 0o777, 0o750);
        }
        assert!(all(&deeds[..4], &mut Vec::new()).is_ok());
        assert!(!removed.exists() && new.exists());
        assert_eq!(std::fs::metadata(&brought).unwrap().permissions().mode() & 0o777, 0o700);
    }
}
