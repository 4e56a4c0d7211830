//! The workspaces of this user: those below the data folder, and the folders elsewhere that were opened. Which one was
//! opened last is remembered for the next start of the app.

use crate::domain::nearest::nearest;
use crate::domain::sanitise::clean_line;
use crate::domain::workspace::{USUAL, Workspace, is_name};
use crate::store::{Options, Store};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Number of folders elsewhere that are remembered.
const ELSEWHERE: usize = 32;

/// Workspaces, and the open one.
#[derive(Clone, Debug, Default)]
pub struct Workspaces {
    /// The data folder's own.
    pub ours: PathBuf,
    /// Folder of state that may be lost.
    pub state: PathBuf,
    /// The one that is open.
    pub current: PathBuf,
}

impl Workspaces {
    /// All of them, by name; the one that is open is among them even if nothing was written there yet.
    #[must_use]
    pub fn list(&self) -> Vec<Workspace> {
        let inside = std::fs::read_dir(&self.ours).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = inside.map(|entry| entry.path()).filter(|path| is_listed(path)).collect();
        for path in self.elsewhere().into_iter().chain([self.current.clone()]) {
            if !paths.iter().any(|known| same(known, &path)) {
                paths.push(path);
            }
        }
        let mut all: Vec<Workspace> = paths.iter().map(|path| self.told(path)).collect();
        all.sort_by_key(|one| (one.name != USUAL, one.name.to_lowercase(), one.path.clone()));
        all
    }

    fn told(&self, path: &Path) -> Workspace {
        let entries = std::fs::read_dir(path.join("sessions")).into_iter().flatten().flatten();
        let sessions =
            entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_listed(&entry.path()));
        Workspace {
            name: named(path),
            path: path.to_owned(),
            sessions: sessions.count(),
            current: same(path, &self.current),
            foreign: self.store(path).is_ok_and(|store| store.is_foreign()),
        }
    }

    fn store(&self, path: &Path) -> Result<Store, crate::store::StoreError> {
        Store::open(Options { ours: Some(self.ours.clone()), ..Options::new(path.to_owned(), &self.state) })
    }

    /// The workspace that was written as a name or a folder. With `create` a new name is made, and so is a folder in one that
    /// exists.
    ///
    /// # Errors
    /// Why it cannot be opened, as a sentence.
    pub fn find(&self, written: &str, create: bool, from: Option<&Path>) -> Result<Workspace, String> {
        let written = written.trim();
        let folder = written.starts_with(['/', '~', '.']) || written.contains('/');
        let path = if folder {
            absolute(written, from)?
        } else if let Some(known) = self.list().into_iter().find(|one| one.name.eq_ignore_ascii_case(written)) {
            known.path
        } else if is_name(written) {
            self.ours.join(written)
        } else {
            let text = format!("{:?} is not a valid workspace name.", clean_line(written));
            return Err(format!("{text} Use letters, digits, spaces, - and _; start a folder with / or ~."));
        };
        let shown = clean_line(&path.display().to_string()).into_owned();
        match std::fs::metadata(&path) {
            Ok(found) if !found.is_dir() => return Err(format!("{shown} is a file, not a workspace folder.")),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound && !create => {
                let all = self.list();
                let near = nearest(written, all.iter().map(|one| one.name.as_str())).filter(|_| !folder);
                let near = near.map_or_else(String::new, |near| format!(" Closest match: {near}"));
                return Err(format!("No workspace {}.{near} /workspace new {0} creates it.", clean_line(written)));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let above = path.parent().is_some_and(Path::is_dir);
                if folder && !above {
                    return Err(format!("No folder {shown}, and no parent to create it in."));
                }
            }
            Err(error) => return Err(format!("Can't open {shown}: {error}.")),
        }
        let made = self.store(&path).and_then(|store| store.make(now()));
        made.map_err(|error| format!("Can't open the workspace: {error}."))?;
        Ok(self.told(&path))
    }

    /// Remembers that this one was opened.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn remember(&self, path: &Path) -> io::Result<()> {
        std::fs::create_dir_all(&self.state)?;
        let mut all = self.remembered();
        all.retain(|known| !same(known, path));
        all.insert(0, path.to_owned());
        all.truncate(ELSEWHERE);
        let lines: Vec<String> = all.iter().filter_map(|path| path.to_str().map(str::to_owned)).collect();
        let file = self.file();
        // A reader sees the old list or the new one.
        let temp = file.with_extension(format!("{}.tmp", std::process::id()));
        std::fs::write(&temp, lines.join("\n") + "\n")?;
        std::fs::rename(&temp, &file)
    }

    /// The one that was opened last, if it is still there.
    #[must_use]
    pub fn last(&self) -> Option<PathBuf> {
        self.remembered().into_iter().next().filter(|path| path.is_dir())
    }

    fn elsewhere(&self) -> Vec<PathBuf> {
        let mut all = self.remembered();
        all.retain(|path| path.parent() != Some(self.ours.as_path()) && path.is_dir());
        all
    }

    fn remembered(&self) -> Vec<PathBuf> {
        let text = std::fs::read_to_string(self.file()).unwrap_or_default();
        text.lines().filter(|line| line.starts_with('/')).map(PathBuf::from).collect()
    }

    fn file(&self) -> PathBuf {
        self.state.join("workspaces")
    }
}

/// True if a folder is listed: names that begin with a dot belong to programs, not to workspaces or sessions.
fn is_listed(path: &Path) -> bool {
    path.is_dir() && path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.'))
}

fn same(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

fn named(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// A folder as it was written, from the home directory or from where tools work.
fn absolute(written: &str, from: Option<&Path>) -> Result<PathBuf, String> {
    let path = match written.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            let home = std::env::home_dir().ok_or("No home directory for ~.")?;
            home.join(rest.trim_start_matches('/'))
        }
        _ => from.map_or_else(|| PathBuf::from(written), |from| from.join(written)),
    };
    let path = std::path::absolute(&path).map_err(|error| format!("Not a folder: {written}: {error}."))?;
    // `..` is taken back by hand where the folder is not there yet.
    Ok(path.canonicalize().unwrap_or_else(|_| {
        path.components().fold(PathBuf::new(), |mut out, part| {
            match part {
                Component::ParentDir => drop(out.pop()),
                part => out.push(part),
            }
            out
        })
    }))
}

fn now() -> crate::domain::At {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    crate::domain::At(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(home: &Path) -> Workspaces {
        let ours = home.join("data/workspaces");
        Workspaces { current: ours.join(USUAL), ours, state: home.join("state") }
    }

    #[test]
    fn a_workspace_is_made_by_its_name_and_listed_with_its_sessions() {
        let home = tempfile::tempdir().unwrap();
        let places = places(home.path());
        let names = |places: &Workspaces| {
            places.list().into_iter().map(|one| (one.name, one.sessions, one.current)).collect::<Vec<_>>()
        };
        assert_eq!(names(&places), [(USUAL.to_owned(), 0, true)], "the one that is open, though nothing is there");
        let made = places.find("Work", true, None).unwrap();
        assert!(made.path.join("config.json").is_file() && !made.foreign && !made.current);
        std::fs::create_dir_all(made.path.join("sessions/260101-a")).unwrap();
        std::fs::create_dir_all(made.path.join("sessions/.tmp-b")).unwrap();
        assert_eq!(names(&places), [(USUAL.to_owned(), 0, true), ("Work".to_owned(), 1, false)]);
        assert_eq!(places.find("work", false, None).unwrap().path, made.path, "small letters name the same");
        let why = places.find("Wrok", false, None).unwrap_err();
        assert!(why.contains("Closest match: Work") && why.contains("/workspace new Wrok"), "{why}");
        assert_eq!(names(&places).len(), 2, "a misspelled name makes none");
    }

    #[test]
    fn folders_elsewhere_are_opened_and_remembered() {
        let home = tempfile::tempdir().unwrap();
        let places = places(home.path());
        let project = home.path().join("project");
        std::fs::create_dir_all(&project).unwrap();
        let made = places.find("./sessions-here", true, Some(&project)).unwrap();
        assert_eq!(made.path, project.canonicalize().unwrap().join("sessions-here"));
        assert_eq!(places.last(), None);
        places.remember(&made.path).unwrap();
        places.remember(&places.ours.join("gone")).unwrap();
        places.remember(&made.path).unwrap();
        assert_eq!(places.last(), Some(made.path.clone()));
        assert!(places.list().iter().any(|one| one.name == "sessions-here"));
        std::fs::remove_dir_all(&made.path).unwrap();
        assert_eq!(places.last(), None, "one that is gone is not opened");
    }

    #[test]
    fn what_cannot_be_one_is_told() {
        let home = tempfile::tempdir().unwrap();
        let places = places(home.path());
        let file = home.path().join("file");
        std::fs::write(&file, "x").unwrap();
        for (written, words) in [
            (file.to_str().unwrap(), "is a file"),
            ("/nowhere/at/all", "No folder"),
            ("a|b", "is not a valid workspace name"),
            ("", "is not a valid workspace name"),
        ] {
            let why = places.find(written, true, None).unwrap_err();
            assert!(why.contains(words), "{written}: {why}");
        }
    }
}
