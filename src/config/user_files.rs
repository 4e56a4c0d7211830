//! The user's own themes and keymaps: text files by name, below the config folder.
//!
//! Built-in ones are embedded in `theme` and `keymap`, which also give them their meaning. In debug
//! builds [`fresh`] reads them from the current sources.

use super::Paths;
use super::files::read_text;
use crate::domain::problem::Problem;
use std::path::{Path, PathBuf};

/// Kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserFileKind {
    /// `themes/NAME.toml`
    Theme,
    /// `keymaps/NAME.toml`
    Keymap,
}

impl UserFileKind {
    /// The folder's name, in the sources and in the config folder.
    #[must_use]
    pub fn folder(self) -> &'static str {
        match self {
            UserFileKind::Theme => "themes",
            UserFileKind::Keymap => "keymaps",
        }
    }

    /// Path of the user's own file of that name, if there is one.
    #[must_use]
    pub fn file(self, paths: &Paths, name: &str) -> PathBuf {
        paths.config.join(self.folder()).join(format!("{name}.toml"))
    }
}

/// The text of the user's own by that name. `Ok(None)` when there is none.
///
/// # Errors
/// The problem of the file; the caller goes on without it.
pub fn find(paths: &Paths, kind: UserFileKind, name: &str) -> Result<Option<String>, Problem> {
    // A name, never a path.
    if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\', '\0']) {
        return Ok(None);
    }
    read_text(&kind.file(paths, name))
}

/// All names that [`find`] finds, sorted.
#[must_use]
pub fn names(paths: &Paths, kind: UserFileKind) -> Vec<String> {
    let files = std::fs::read_dir(paths.config.join(kind.folder())).into_iter().flatten().flatten();
    let name = |file: std::fs::DirEntry| Some(file.file_name().to_str()?.strip_suffix(".toml")?.to_owned());
    let mut all: Vec<String> = files.filter_map(name).filter(|name| !name.starts_with('.')).collect();
    all.sort();
    all
}

/// In debug builds, the text that comes with the program as it lies in the sources now: a change shows without building
/// anew. `None` in release builds, and where the sources are gone.
#[must_use]
pub fn fresh(kind: UserFileKind, name: &str) -> Option<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(kind.folder()).join(format!("{name}.toml"));
    cfg!(debug_assertions).then(|| std::fs::read_to_string(file).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn what_comes_with_the_program_is_read_from_the_sources_in_debug_builds() {
        assert_eq!(fresh(UserFileKind::Theme, "ansi").is_some(), cfg!(debug_assertions));
        assert_eq!(fresh(UserFileKind::Keymap, "default").is_some(), cfg!(debug_assertions));
        assert_eq!(fresh(UserFileKind::Theme, "none"), None);
    }

    #[test]
    fn the_users_own_are_found_and_names_are_no_paths() {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths::find(Some(OsStr::new(dir.path()))).unwrap();
        assert_eq!(names(&paths, UserFileKind::Theme), Vec::<String>::new());
        let themes = paths.config.join("themes");
        std::fs::create_dir_all(&themes).unwrap();
        std::fs::write(themes.join("mine.toml"), "dark = true\n").unwrap();
        std::fs::write(themes.join("ansi.toml"), "dark = false\n").unwrap();
        std::fs::write(themes.join("bad.toml"), [0xff]).unwrap();
        std::fs::write(themes.join(".swap.toml"), "x").unwrap();
        std::fs::write(paths.config.join("secret.toml"), "x = 1\n").unwrap();
        assert_eq!(find(&paths, UserFileKind::Theme, "ansi"), Ok(Some("dark = false\n".to_owned())));
        for none in ["none", "../secret", ".swap", ""] {
            assert_eq!(find(&paths, UserFileKind::Theme, none), Ok(None), "{none}");
        }
        assert_eq!(find(&paths, UserFileKind::Theme, "bad").unwrap_err().path, themes.join("bad.toml"));
        assert_eq!(names(&paths, UserFileKind::Theme), ["ansi", "bad", "mine"]);
    }
}
