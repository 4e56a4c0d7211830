//! Folders that are searched for extensions, and how a file in them is read. Blocks.
//!
//! Files of a workspace or a repository may come from others: a link there leads nowhere but below its own folder. In the
//! user's own folders links are the user's word.

use super::found::Candidate;
use crate::domain::extension::ExtensionOrigin;
use crate::domain::problem::Problem;
use crate::sandbox::plain_file;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Entries of a folder at the most.
const ENTRIES: usize = 500;
/// Folders in which files of commands and agents may lie, one in the other.
const SUBFOLDERS: usize = 4;
/// Bytes of one file.
pub const LONGEST: u64 = 256 * 1024;

/// Places of extensions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtensionPlaces {
    /// The folder of the configuration.
    pub config: PathBuf,
    /// The workspace's folder.
    pub workspace: PathBuf,
    /// Nobody but lisle's user writes the workspace.
    pub is_own_workspace: bool,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The repository, or the directory where there is none.
    pub repository: PathBuf,
}

/// A folder that is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtensionFolder {
    /// Path.
    pub path: PathBuf,
    /// Owner of its files.
    pub origin: ExtensionOrigin,
    /// Folder that no link may leave; `None` where links are the user's word.
    pub root: Option<PathBuf>,
    /// Its files count by their bytes.
    pub needs_trust: bool,
}

impl ExtensionPlaces {
    /// Folders of this name (`skills`, `agents`, `commands`), those of the user before those of others: of one name the first
    /// one counts.
    #[must_use]
    pub fn folders(&self, name: &str) -> Vec<ExtensionFolder> {
        let own = |path: PathBuf, origin| ExtensionFolder { path, origin, root: None, needs_trust: false };
        let mut out = vec![own(self.config.join(name), ExtensionOrigin::User)];
        let workspace = ExtensionFolder {
            path: self.workspace.join(name),
            origin: ExtensionOrigin::Workspace,
            root: Some(self.workspace.clone()),
            needs_trust: !self.is_own_workspace,
        };
        // What others may write takes no name of the user's own.
        let home = self
            .home
            .iter()
            .flat_map(|home| OTHERS.map(|other| own(home.join(other).join(name), ExtensionOrigin::Home)));
        if self.is_own_workspace {
            out.push(workspace);
            out.extend(home);
        } else {
            out.extend(home);
            out.push(workspace);
        }
        let mut of_repository = vec![".agents", ".claude"];
        if name == "commands" {
            of_repository.insert(0, ".lisle");
        }
        out.extend(of_repository.into_iter().map(|other| ExtensionFolder {
            path: self.repository.join(other).join(name),
            origin: ExtensionOrigin::Repository,
            root: Some(self.repository.clone()),
            needs_trust: true,
        }));
        // Whoever works in the home has its folders once.
        let mut seen: Vec<PathBuf> = Vec::new();
        out.retain(|folder| {
            let real = folder.path.canonicalize().unwrap_or_else(|_| folder.path.clone());
            let is_new = !seen.contains(&real);
            seen.push(real);
            is_new
        });
        out
    }
}

impl ExtensionPlaces {
    /// Files that count by their bytes and that are there: a change of one of them, or another one, is a reason to read
    /// again.
    #[must_use]
    pub fn files_of_others(&self) -> Vec<PathBuf> {
        let kinds = ["skills", "agents", "commands"].iter().flat_map(|name| self.folders(name));
        let mut out = Vec::new();
        for folder in kinds.filter(|folder| folder.needs_trust) {
            out.push(folder.path.clone());
            for path in folder.entries() {
                walk(&path, 0, &mut out);
            }
        }
        out
    }
}

/// Adds a path and what is below it. No link is followed.
fn walk(path: &Path, depth: usize, out: &mut Vec<PathBuf>) {
    if out.len() >= WALKED || depth > DEPTH {
        return;
    }
    out.push(path.to_owned());
    if path.symlink_metadata().is_ok_and(|data| data.is_dir()) {
        let mut below: Vec<PathBuf> =
            fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        below.sort();
        below.iter().for_each(|path| walk(path, depth + 1, out));
    }
}

fn shown_in(folder: &Path) -> Vec<PathBuf> {
    let is_shown = |name: &OsStr| !name.as_encoded_bytes().starts_with(b".");
    let all = fs::read_dir(folder).into_iter().flatten().flatten();
    let shown = all.filter(|entry| is_shown(&entry.file_name())).map(|entry| entry.path());
    let mut out: Vec<PathBuf> = shown.take(ENTRIES).collect();
    out.sort();
    out
}

/// Paths whose changes are noticed, and how deep they lie.
const WALKED: usize = 5_000;
const DEPTH: usize = 8;

/// Folders of other programs with the same formats.
const OTHERS: [&str; 2] = [".claude", ".agents"];

impl ExtensionFolder {
    /// Entries that are not hidden, by name.
    #[must_use]
    pub fn entries(&self) -> Vec<PathBuf> {
        shown_in(&self.path)
    }

    /// Markdown files, those in folders of it behind its own: `commands/git/push.md` is `push`.
    pub(super) fn texts(&self) -> Vec<Candidate> {
        let is_text = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
        let (mut out, mut level) = (Vec::new(), self.entries());
        for _ in 0..=SUBFOLDERS {
            let (folders, files): (Vec<PathBuf>, _) = level.into_iter().partition(|path| self.is_folder(path));
            out.extend(files.into_iter().filter(is_text).map(Candidate::of_file));
            level = folders.iter().flat_map(|folder| shown_in(folder)).take(ENTRIES).collect();
        }
        out
    }

    /// Links to folders are followed where they are the user's word.
    fn is_folder(&self, path: &Path) -> bool {
        let data = if self.root.is_none() { path.metadata() } else { path.symlink_metadata() };
        data.is_ok_and(|data| data.is_dir())
    }

    /// A path with its links followed.
    ///
    /// # Errors
    /// It leads out of the folder that no link may leave.
    pub fn real(&self, path: &Path) -> Result<PathBuf, Problem> {
        let real = path.canonicalize().map_err(|error| unreadable(path, &error))?;
        let Some(root) = &self.root else { return Ok(real) };
        let root = root.canonicalize().map_err(|error| unreadable(root, &error))?;
        if real.starts_with(&root) {
            return Ok(real);
        }
        let text = format!("Not read: it links outside {}.", root.display());
        Err(Problem::whole(path, text, "Use a regular file."))
    }

    /// Text of a file.
    ///
    /// # Errors
    /// A problem with the path: a link that leads out, not a regular file, too large, not UTF-8.
    pub fn text(&self, path: &Path) -> Result<String, Problem> {
        let bytes = bytes(&self.real(path)?, LONGEST).map_err(|error| unreadable(path, &error))?;
        let not_text = |_| Problem::whole(path, "Can't read the file: not UTF-8.", "Save it as UTF-8.");
        let text = String::from_utf8(bytes).map_err(not_text)?;
        match text.find('\0') {
            Some(_) => Err(Problem::whole(path, "Not a text file.", "Replace or remove it.")),
            None => Ok(text),
        }
    }
}

/// Bytes of a file at a path whose links were followed before.
///
/// # Errors
/// Not a regular file, too large, or moved meanwhile.
pub fn bytes(real: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    let file = plain_file::open(real)?;
    if plain_file::path_of(&file).is_some_and(|now| now != real) {
        return Err(std::io::Error::other("it moved while being read"));
    }
    let mut out = Vec::new();
    file.take(most + 1).read_to_end(&mut out)?;
    if out.len() as u64 > most {
        return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, format!("larger than {} KiB", most / 1024)));
    }
    Ok(out)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    Problem::whole(path, format!("Can't read the file: {error}."), "Check its type, size and permissions.")
}
