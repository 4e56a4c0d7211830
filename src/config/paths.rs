//! Paths of lisle's files: those of `directories`, or everything under `LISLE_HOME`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Origin of the paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// `LISLE_HOME`.
    ByHome,
    /// The system's conventions.
    BySystem,
}

/// lisle's folders. None of them is made here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// Files of the user: config.toml, keymaps, themes, credentials.
    pub config: PathBuf,
    /// Files that must not be lost: workspaces and their sessions.
    pub data: PathBuf,
    /// Files that may be lost: log, caches, drafts, history.
    pub state: PathBuf,
    /// Origin of the paths.
    pub placed: Placed,
}

/// Error: no place for lisle's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no home directory found for lisle's files: set LISLE_HOME to a folder")]
pub struct NoHome;

impl Paths {
    /// The folders; `home` is the value of `LISLE_HOME`, where an empty one counts as none.
    ///
    /// # Errors
    /// [`NoHome`] when the system knows no home directory and `home` is not given.
    pub fn find(home: Option<&OsStr>) -> Result<Self, NoHome> {
        if let Some(home) = home.filter(|home| !home.is_empty()) {
            // Commands run in other directories, so a relative home is fixed here, once.
            let home = std::path::absolute(home).unwrap_or_else(|_| PathBuf::from(home));
            return Ok(Self {
                config: home.join("config"),
                data: home.join("data"),
                state: home.join("state"),
                placed: Placed::ByHome,
            });
        }
        let dirs = directories::ProjectDirs::from("", "", "lisle").ok_or(NoHome)?;
        Ok(Self {
            config: dirs.config_dir().to_owned(),
            data: dirs.data_dir().to_owned(),
            state: dirs.state_dir().map_or_else(|| dirs.data_local_dir().join("state"), Path::to_owned),
            placed: Placed::BySystem,
        })
    }

    /// config.toml.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The stored keys.
    #[must_use]
    pub fn credentials_file(&self) -> PathBuf {
        self.config.join("credentials")
    }

    /// The folder of the log files.
    #[must_use]
    pub fn log_dir(&self) -> PathBuf {
        self.state.join("log")
    }

    /// All of lisle's folders, which tools must not write.
    #[must_use]
    pub fn own_dirs(&self) -> Vec<PathBuf> {
        vec![self.config.clone(), self.data.clone(), self.state.clone()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_given_home_holds_everything() {
        let paths = Paths::find(Some(OsStr::new("/x/y"))).unwrap();
        assert_eq!(paths.placed, Placed::ByHome);
        assert!(paths.own_dirs().iter().all(|dir| dir.starts_with("/x/y")));
        assert_eq!(paths.config_file(), Path::new("/x/y/config/config.toml"));
        let relative = Paths::find(Some(OsStr::new("y"))).unwrap();
        assert!(relative.config.is_absolute() && relative.config.ends_with("y/config"));
    }

    #[test]
    fn an_empty_home_is_none() {
        assert_eq!(Paths::find(Some(OsStr::new(""))), Paths::find(None));
    }
}
