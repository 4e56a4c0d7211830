//! Themes and keymaps: those that come with the program, and the user's own of the same form, which win.
//!
//! Debug builds read them from the source folder, so that a change shows without building anew. What they mean is
//! known to `theme` and `keymap`; here they are text.

use super::{Paths, Problem, read_text};
use std::path::PathBuf;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `themes/NAME.toml`
    Theme,
    /// `keymaps/NAME.toml`
    Keymap,
}

impl Kind {
    /// The folder's name, in the sources and in the config folder.
    #[must_use]
    pub fn folder(self) -> &'static str {
        match self {
            Kind::Theme => "themes",
            Kind::Keymap => "keymaps",
        }
    }

    fn embedded(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Kind::Theme => &[
                ("lisle-dark", include_str!("../../themes/lisle-dark.toml")),
                ("lisle-light", include_str!("../../themes/lisle-light.toml")),
                ("ansi", include_str!("../../themes/ansi.toml")),
                ("mono", include_str!("../../themes/mono.toml")),
            ],
            Kind::Keymap => &[("default", include_str!("../../keymaps/default.toml"))],
        }
    }
}

/// A theme's or keymap's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name.
    pub name: String,
    /// The file, for messages; for an embedded one where it lies in the sources.
    pub path: PathBuf,
    /// The text.
    pub text: String,
}

/// The names that come with the program.
#[must_use]
pub fn names(kind: Kind) -> Vec<&'static str> {
    kind.embedded().iter().map(|(name, _)| *name).collect()
}

/// The text that comes with the program; `None` for a name that does not.
#[must_use]
pub fn embedded(kind: Kind, name: &str) -> Option<Source> {
    let (name, text) = kind.embedded().iter().find(|(known, _)| *known == name)?;
    let path = PathBuf::from(kind.folder()).join(format!("{name}.toml"));
    let fresh = cfg!(debug_assertions)
        .then(|| std::fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(&path)).ok())
        .flatten();
    Some(Source { name: (*name).to_owned(), path, text: fresh.unwrap_or_else(|| (*text).to_owned()) })
}

/// The user's own by that name, else the one that comes with the program. `Ok(None)` when there is neither.
///
/// # Errors
/// The problem of the user's file; the caller goes on with [`embedded`].
pub fn find(paths: &Paths, kind: Kind, name: &str) -> Result<Option<Source>, Problem> {
    // A name, never a path.
    if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\', '\0']) {
        return Ok(None);
    }
    let path = paths.config.join(kind.folder()).join(format!("{name}.toml"));
    match read_text(&path)? {
        Some(text) => Ok(Some(Source { name: name.to_owned(), path, text })),
        None => Ok(embedded(kind, name)),
    }
}

/// All names that [`find`] finds, sorted.
#[must_use]
pub fn all_names(paths: &Paths, kind: Kind) -> Vec<String> {
    let own = std::fs::read_dir(paths.config.join(kind.folder())).into_iter().flatten().flatten();
    let own = own.filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".toml")?.to_owned()));
    let mut all: Vec<String> =
        own.filter(|name| !name.starts_with('.')).chain(names(kind).into_iter().map(str::to_owned)).collect();
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn what_comes_with_the_program_is_toml() {
        for kind in [Kind::Theme, Kind::Keymap] {
            assert!(!names(kind).is_empty());
            for name in names(kind) {
                let source = embedded(kind, name).unwrap();
                let table: Result<toml::Table, _> = source.text.parse();
                assert!(table.is_ok_and(|table| !table.is_empty()), "{}", source.path.display());
            }
        }
    }

    #[test]
    fn every_file_of_the_folders_is_listed() {
        for kind in [Kind::Theme, Kind::Keymap] {
            let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(kind.folder());
            for entry in std::fs::read_dir(folder).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                let listed = name.strip_suffix(".toml").is_some_and(|name| names(kind).contains(&name));
                assert!(listed, "{name} is not embedded");
            }
        }
    }

    #[test]
    fn the_users_own_wins_and_names_are_no_paths() {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths::find(Some(OsStr::new(dir.path()))).unwrap();
        let themes = paths.config.join("themes");
        std::fs::create_dir_all(&themes).unwrap();
        std::fs::write(themes.join("ansi.toml"), "dark = false\n").unwrap();
        std::fs::write(themes.join("mine.toml"), "dark = true\n").unwrap();
        std::fs::write(themes.join("bad.toml"), [0xff]).unwrap();
        std::fs::write(paths.config.join("secret.toml"), "x = 1\n").unwrap();
        let ansi = find(&paths, Kind::Theme, "ansi").unwrap().unwrap();
        assert_eq!((ansi.text.as_str(), ansi.path), ("dark = false\n", themes.join("ansi.toml")));
        assert!(find(&paths, Kind::Theme, "lisle-dark").unwrap().is_some());
        assert_eq!(find(&paths, Kind::Theme, "none"), Ok(None));
        assert_eq!(find(&paths, Kind::Theme, "../secret"), Ok(None));
        assert_eq!(find(&paths, Kind::Theme, "bad").unwrap_err().path, themes.join("bad.toml"));
        let names = all_names(&paths, Kind::Theme);
        assert!(names.contains(&"mine".to_owned()) && names.iter().filter(|name| *name == "ansi").count() == 1);
    }
}
