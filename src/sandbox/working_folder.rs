//! Identity of a working directory: the very folder that the user chose, and not whatever has its name by now.
//!
//! A path is no promise. What commands of one session write may hold the working directory of another one, and whoever moves
//! that away and puts a link in its place would choose what the next command writes. So the folder is noted when it is chosen,
//! compared before each call, and compared once more by whoever binds it for a command, on the descriptor that is bound.

use rustix::fs::{CWD, Mode, OFlags};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// A folder by its resolved path and its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkingFolder {
    /// Path without links.
    real: PathBuf,
    /// Number of the folder; `None` where none was there.
    number: Option<FolderNumber>,
}

/// Number of a folder on this machine: its device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FolderNumber {
    device: u64,
    inode: u64,
}

impl WorkingFolder {
    /// The folder that a path leads to now. Blocks.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let number = FolderNumber::at(&real);
        Self { real, number }
    }

    /// The path still leads to this folder, the same way. True also where nothing was there and nothing is. Blocks.
    #[must_use]
    pub fn is_at(&self, path: &Path) -> bool {
        *self == Self::of(path)
    }

    /// Something else stands there by now. One that is gone is not replaced. Blocks.
    #[must_use]
    pub fn is_replaced_at(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok() && !self.is_at(path)
    }

    /// Its resolved path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.real
    }

    /// Its number, where it is there.
    #[must_use]
    pub fn number(&self) -> Option<FolderNumber> {
        self.number
    }
}

impl FolderNumber {
    /// Number of the folder at a path whose last part is no link.
    fn at(path: &Path) -> Option<Self> {
        #[cfg(target_os = "linux")]
        const LOOK: OFlags = OFlags::PATH;
        #[cfg(not(target_os = "linux"))]
        const LOOK: OFlags = OFlags::RDONLY;
        let how = LOOK | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Self::of(rustix::fs::openat(CWD, path, how, Mode::empty()).ok()?)
    }

    /// Number of an open folder.
    pub(super) fn of(folder: impl AsFd) -> Option<Self> {
        let stat = rustix::fs::fstat(folder).ok()?;
        #[allow(
            clippy::useless_conversion,
            clippy::unnecessary_fallible_conversions,
            reason = "signed on some systems"
        )]
        let device = u64::try_from(stat.st_dev).ok()?;
        Some(Self { device, inode: stat.st_ino })
    }

    /// Fails where this process works in another folder.
    pub(super) fn check_current(self) -> Result<(), String> {
        let now = rustix::fs::openat(CWD, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        match now.ok().and_then(Self::of) {
            Some(now) if now == self => Ok(()),
            _ => Err("the working directory was replaced by another folder".to_owned()),
        }
    }

    /// Words of an order: empty for none.
    pub fn written(number: Option<Self>) -> String {
        number.map(|number| format!("{}:{}", number.device, number.inode)).unwrap_or_default()
    }

    /// Reads such words.
    ///
    /// # Errors
    /// For other words.
    pub fn read(text: &str) -> Result<Option<Self>, String> {
        let other = || format!("{text} is no folder's number");
        if text.is_empty() {
            return Ok(None);
        }
        let (device, inode) = text.split_once(':').ok_or_else(other)?;
        let number = |text: &str| text.parse::<u64>().map_err(|_| other());
        Ok(Some(Self { device: number(device)?, inode: number(inode)? }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_folder_is_itself_and_nothing_else_of_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let at = |name: &str| root.join(name);
        for name in ["work", "private", "later"] {
            std::fs::create_dir(at(name)).unwrap();
        }
        symlink(at("work"), at("chosen")).unwrap();
        let (plain, linked, gone) =
            (WorkingFolder::of(&at("work")), WorkingFolder::of(&at("chosen")), WorkingFolder::of(&at("gone")));
        assert!(plain.is_at(&at("work")) && linked.is_at(&at("chosen")) && gone.is_at(&at("gone")));
        assert_eq!((linked.path(), linked.number()), (&*at("work"), plain.number()));
        // A link that leads elsewhere.
        std::fs::remove_file(at("chosen")).unwrap();
        symlink(at("private"), at("chosen")).unwrap();
        assert!(!linked.is_at(&at("chosen")));
        // Moved away, with a link to another folder or to itself in its place.
        std::fs::rename(at("work"), at("moved")).unwrap();
        assert!(!plain.is_at(&at("work")));
        for to in ["private", "moved"] {
            symlink(at(to), at("work")).unwrap();
            assert!(!plain.is_at(&at("work")), "{to}");
            std::fs::remove_file(at("work")).unwrap();
        }
        // Another folder of the name, and the folder itself once more.
        std::fs::rename(at("later"), at("work")).unwrap();
        assert!(!plain.is_at(&at("work")));
        std::fs::rename(at("work"), at("later")).unwrap();
        std::fs::rename(at("moved"), at("work")).unwrap();
        assert!(plain.is_at(&at("work")));
        std::fs::create_dir(at("gone")).unwrap();
        assert!(!gone.is_at(&at("gone")));
        for number in [None, plain.number()] {
            assert_eq!(FolderNumber::read(&FolderNumber::written(number)), Ok(number));
        }
        assert!(FolderNumber::read("1").is_err() && FolderNumber::read("1:x").is_err());
    }
}
