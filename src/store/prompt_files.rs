//! Files of contexts, patterns and strategies in the workspace, in the config folder and in Fabric's folder.
//!
//! Names are checked before they become paths. What lies in a workspace may come from others: no link is followed there. Files of
//! Fabric are only read. Blocking: it belongs off the async threads.

use crate::domain::nearest::nearest;
use crate::domain::prompt_text::{NO_TEXT, NamedText, PromptKind, PromptOrigin, is_prompt_name, name_fault};
use crate::plain_file;
use serde_json::Value;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Bytes that a text may have: it goes into every request.
pub const MOST_BYTES: u64 = 256 * 1024;

/// Folders of contexts, patterns and strategies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptFolders {
    /// The workspace.
    pub workspace: PathBuf,
    /// lisle's config folder.
    pub config: PathBuf,
    /// Fabric's folder, where there is one.
    pub fabric: Option<PathBuf>,
}

/// A named text and its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptFile {
    /// Its name.
    pub name: String,
    /// Folder that it comes from.
    pub origin: PromptOrigin,
    /// Path of the file.
    pub path: PathBuf,
}

/// Error of a named text.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// The text cannot be a name.
    #[error("invalid {} name {name:?}: {}", .kind.word(), fault_words(name))]
    Name {
        /// Kind.
        kind: PromptKind,
        /// Name as it was given.
        name: String,
    },
    /// Nothing has this name.
    #[error("no {} {name:?}{}", .kind.word(), known_words(.near.as_deref(), .known))]
    Missing {
        /// Kind.
        kind: PromptKind,
        /// Name that was asked for.
        name: String,
        /// The nearest name that exists.
        near: Option<String>,
        /// All that exist.
        known: Vec<String>,
    },
    /// The file cannot be used.
    #[error("can't read {}: {why}", .path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Reason.
        why: String,
    },
    /// The file cannot be changed.
    #[error("can't change {}: {why}", .path.display())]
    Unwritable {
        /// Path of the file.
        path: PathBuf,
        /// Reason.
        why: String,
    },
}

/// Names that are listed where none is near.
const LISTED: usize = 12;

fn known_words(near: Option<&str>, known: &[String]) -> String {
    match near {
        Some(near) => format!(". Did you mean {near:?}?"),
        None if known.is_empty() => ": there is none yet".to_owned(),
        None if known.len() > LISTED => format!(". There are {} others", known.len()),
        None => format!(". Available: {}", known.join(", ")),
    }
}

fn fault_words(name: &str) -> String {
    name_fault(name).unwrap_or_else(|| format!("{name:?} stands for no text"))
}

impl PromptFolders {
    /// Folders in order: the first one with a name has it.
    fn folders(&self, kind: PromptKind) -> impl Iterator<Item = (PromptOrigin, PathBuf)> {
        let all = [
            (PromptOrigin::Workspace, Some(&self.workspace)),
            (PromptOrigin::Config, Some(&self.config)),
            (PromptOrigin::Fabric, self.fabric.as_ref()),
        ];
        let folder = move |folder: &PathBuf| folder.join(kind.folder());
        all.into_iter().filter_map(move |(origin, at)| Some((origin, folder(at?))))
    }

    /// Folder of a kind among our own.
    fn own(&self, kind: PromptKind, origin: PromptOrigin) -> PathBuf {
        let folder = if origin == PromptOrigin::Workspace { &self.workspace } else { &self.config };
        folder.join(kind.folder())
    }

    /// Names that can be read, sorted, each from the first folder that has it.
    #[must_use]
    pub fn list(&self, kind: PromptKind) -> Vec<PromptFile> {
        let mut all: Vec<PromptFile> = Vec::new();
        for (origin, folder) in self.folders(kind) {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let Some(name) = entry.file_name().to_str().and_then(|file| name_of(kind, file)).map(str::to_owned)
                else {
                    continue;
                };
                let path = path_of(kind, &folder, &name);
                if is_readable(origin, &folder, &path) && all.iter().all(|known| known.name != name) {
                    all.push(PromptFile { name, origin, path });
                }
            }
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// The file of that name.
    ///
    /// # Errors
    /// It is no name, or nothing has it.
    pub fn find(&self, kind: PromptKind, name: &str) -> Result<PromptFile, PromptError> {
        if !is_prompt_name(name) {
            return Err(PromptError::Name { kind, name: name.to_owned() });
        }
        let found = self.folders(kind).find_map(|(origin, folder)| {
            let path = path_of(kind, &folder, name);
            is_readable(origin, &folder, &path).then(|| PromptFile { name: name.to_owned(), origin, path })
        });
        found.ok_or_else(|| {
            let names = self.list(kind);
            let near = nearest(name, names.iter().map(|one| one.name.as_str())).map(str::to_owned);
            let known = names.into_iter().map(|one| one.name).collect();
            PromptError::Missing { kind, name: name.to_owned(), near, known }
        })
    }

    /// The text of that name. Of a strategy it is the prompt in its file.
    ///
    /// # Errors
    /// [`PromptError`].
    pub fn read(&self, kind: PromptKind, name: &str) -> Result<NamedText, PromptError> {
        let file = self.find(kind, name)?;
        let text = match kind {
            PromptKind::Context | PromptKind::Pattern => text_of(&file.path)?,
            PromptKind::Strategy => strategy_of(&file.path)?.1,
        };
        Ok(NamedText { name: file.name, text: text.trim().to_owned() })
    }

    /// Description and prompt of a strategy.
    ///
    /// # Errors
    /// [`PromptError`].
    pub fn strategy(&self, name: &str) -> Result<(String, String), PromptError> {
        strategy_of(&self.find(PromptKind::Strategy, name)?.path)
    }

    /// Writes a text to a folder of our own, in the place of one of that name there.
    ///
    /// # Errors
    /// [`PromptError`].
    pub fn set(&self, kind: PromptKind, origin: PromptOrigin, name: &str, text: &str) -> Result<PathBuf, PromptError> {
        let path = self.writable(kind, origin, name)?;
        if text.len() as u64 > MOST_BYTES {
            let why = format!("the text is longer than {} KiB", MOST_BYTES / 1024);
            return Err(PromptError::Unwritable { path, why });
        }
        write_private(&path, text.as_bytes()).map_err(|error| unwritable(&path, &error))?;
        Ok(path)
    }

    /// Renames a text where it stands.
    ///
    /// # Errors
    /// [`PromptError`], also when the new name is taken.
    pub fn rename(&self, kind: PromptKind, old: &str, new: &str) -> Result<PathBuf, PromptError> {
        let file = self.find(kind, old)?;
        self.not_foreign(&file)?;
        let path = self.writable(kind, file.origin, new)?;
        if let Some(folder) = path.parent().filter(|_| kind == PromptKind::Pattern) {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)
                .map_err(|error| unwritable(&path, &error))?;
        }
        // A link is refused where the name exists: nothing is replaced.
        fs::hard_link(&file.path, &path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => unwritable(&path, &"it exists already"),
            _ => unwritable(&path, &error),
        })?;
        remove(kind, &file.path)?;
        Ok(path)
    }

    /// Deletes a text.
    ///
    /// # Errors
    /// [`PromptError`].
    pub fn delete(&self, kind: PromptKind, name: &str) -> Result<PathBuf, PromptError> {
        let file = self.find(kind, name)?;
        self.not_foreign(&file)?;
        remove(kind, &file.path)?;
        Ok(file.path)
    }

    fn writable(&self, kind: PromptKind, origin: PromptOrigin, name: &str) -> Result<PathBuf, PromptError> {
        if !is_prompt_name(name) || name == NO_TEXT {
            return Err(PromptError::Name { kind, name: name.to_owned() });
        }
        let folder = self.own(kind, origin);
        let path = path_of(kind, &folder, name);
        let linked = |path: &Path| fs::symlink_metadata(path).is_ok_and(|data| data.is_symlink());
        if origin == PromptOrigin::Workspace && path.ancestors().take_while(|one| one.starts_with(&folder)).any(linked)
        {
            return Err(unwritable(&path, &"it is a link"));
        }
        Ok(path)
    }

    fn not_foreign(&self, file: &PromptFile) -> Result<(), PromptError> {
        match file.origin {
            PromptOrigin::Fabric => Err(unwritable(&file.path, &"files of Fabric are only read")),
            PromptOrigin::Workspace | PromptOrigin::Config => Ok(()),
        }
    }
}

/// Removes a file; of a pattern also its folder, unless more lies there.
fn remove(kind: PromptKind, path: &Path) -> Result<(), PromptError> {
    fs::remove_file(path).map_err(|error| unwritable(path, &error))?;
    if let Some(folder) = path.parent().filter(|_| kind == PromptKind::Pattern) {
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}

fn unwritable(path: &Path, why: &impl ToString) -> PromptError {
    PromptError::Unwritable { path: path.to_owned(), why: why.to_string() }
}

/// Name that a file or folder of this kind gives, if it can have one.
fn name_of(kind: PromptKind, file: &str) -> Option<&str> {
    let name = match kind {
        PromptKind::Context | PromptKind::Pattern => file,
        PromptKind::Strategy => file.strip_suffix(".json")?,
    };
    is_prompt_name(name).then_some(name)
}

fn path_of(kind: PromptKind, folder: &Path, name: &str) -> PathBuf {
    match kind {
        PromptKind::Context => folder.join(name),
        PromptKind::Pattern => folder.join(name).join("system.md"),
        PromptKind::Strategy => folder.join(format!("{name}.json")),
    }
}

/// True for a file, in a workspace for one that no link leads to.
fn is_readable(origin: PromptOrigin, folder: &Path, path: &Path) -> bool {
    let is_plain = |path: &Path| fs::symlink_metadata(path).is_ok_and(|data| !data.is_symlink());
    let direct = || path.ancestors().take_while(|above| above.starts_with(folder)).all(is_plain);
    fs::metadata(path).is_ok_and(|data| data.is_file()) && (origin != PromptOrigin::Workspace || direct())
}

/// A file's text.
///
/// # Errors
/// [`PromptError::Unreadable`].
pub fn text_of(path: &Path) -> Result<String, PromptError> {
    let unreadable = |why: String| PromptError::Unreadable { path: path.to_owned(), why };
    let bytes = plain_file::read(path, MOST_BYTES).map_err(|error| unreadable(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8".to_owned()))?;
    Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
}

fn strategy_of(path: &Path) -> Result<(String, String), PromptError> {
    let unreadable = |why: &str| PromptError::Unreadable { path: path.to_owned(), why: why.to_owned() };
    let value: Value = serde_json::from_str(&text_of(path)?).map_err(|_| unreadable("it is not JSON"))?;
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let prompt = text("prompt").ok_or_else(|| unreadable("it has no text \"prompt\""))?;
    Ok((text("description").unwrap_or_default(), prompt))
}

/// Writes a file for its owner alone, by way of a new one beside it.
fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let temp = folder.join(format!(".lisle-{}-{:08x}.tmp", std::process::id(), fastrand::u32(..)));
    let written = plain_file::create_new(&temp).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temp, path)
    });
    if written.is_err() {
        // The error that counts is the first one.
        let _ = fs::remove_file(&temp);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bench {
        dir: tempfile::TempDir,
        folders: PromptFolders,
    }

    impl Bench {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let at = |name: &str| dir.path().join(name);
            let folders = PromptFolders { workspace: at("w"), config: at("c"), fabric: Some(at("f")) };
            Self { dir, folders }
        }

        fn file(&self, path: &str, text: impl AsRef<[u8]>) {
            let path = self.dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn listed(&self, kind: PromptKind) -> Vec<String> {
            self.folders.list(kind).iter().map(|one| format!("{} {}", one.name, one.origin.word())).collect()
        }

        fn error(&self, kind: PromptKind, name: &str) -> String {
            let error = self.folders.read(kind, name).unwrap_err().to_string();
            error.replace(self.dir.path().to_str().unwrap(), "")
        }
    }

    #[test]
    fn the_nearest_folder_has_a_name() {
        let bench = Bench::new();
        for (path, text) in [
            ("w/contexts/writer", " of the workspace\n"),
            ("c/contexts/writer", "of config"),
            ("c/contexts/coder", "\u{feff}of config"),
            ("c/contexts/.hidden", "x"),
            ("c/contexts/a folder/x", "x"),
            ("f/contexts/writer", "of fabric"),
            ("f/patterns/summarize/system.md", "Sum up: {{input}}"),
            ("f/patterns/empty/README.md", ""),
            ("f/strategies/cot.json", r#"{"description":"Step by step","prompt":"Think."}"#),
            ("f/strategies/readme.txt", ""),
        ] {
            bench.file(path, text);
        }
        assert_eq!(bench.listed(PromptKind::Context), ["coder config", "writer workspace"]);
        assert_eq!(bench.listed(PromptKind::Pattern), ["summarize fabric"]);
        assert_eq!(bench.listed(PromptKind::Strategy), ["cot fabric"]);
        let text = |kind, name: &str| bench.folders.read(kind, name).unwrap().text;
        assert_eq!(text(PromptKind::Context, "writer"), "of the workspace");
        assert_eq!(text(PromptKind::Context, "coder"), "of config");
        assert_eq!(text(PromptKind::Strategy, "cot"), "Think.");
        assert_eq!(bench.folders.strategy("cot").unwrap().0, "Step by step");
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        let bench = Bench::new();
        bench.file("c/contexts/writer", "x");
        bench.file("c/contexts/latin", b"caf\xe9");
        bench.file("c/contexts/long", vec![b'x'; 256 * 1024 + 1]);
        bench.file("c/strategies/broken.json", "{");
        bench.file("c/strategies/empty.json", "{}");
        bench.file("secret", "key");
        bench.file("w/contexts/x", "");
        std::os::unix::fs::symlink(bench.dir.path().join("secret"), bench.dir.path().join("w/contexts/outside"))
            .unwrap();
        std::os::unix::fs::symlink(bench.dir.path().join("secret"), bench.dir.path().join("c/contexts/mine")).unwrap();
        for (kind, name, why) in [
            (PromptKind::Context, "writr", "no context \"writr\". Did you mean \"writer\"?"),
            (PromptKind::Pattern, "zzz", "no pattern \"zzz\": there is none yet"),
            (
                PromptKind::Context,
                "../writer",
                "invalid context name \"../writer\": use letters, digits, '.', '_' and '-', no dot first",
            ),
            (PromptKind::Context, "latin", "can't read /c/contexts/latin: it is not UTF-8"),
            (PromptKind::Context, "long", "can't read /c/contexts/long: larger than 256 KiB"),
            (PromptKind::Strategy, "broken", "can't read /c/strategies/broken.json: it is not JSON"),
            (PromptKind::Strategy, "empty", "can't read /c/strategies/empty.json: it has no text \"prompt\""),
            (PromptKind::Context, "outside", "no context \"outside\". Available: latin, long, mine, writer, x"),
        ] {
            assert_eq!(bench.error(kind, name), why);
        }
        // The user's own links are the user's word.
        assert_eq!(bench.folders.read(PromptKind::Context, "mine").unwrap().text, "key");
    }

    #[test]
    fn contexts_are_written_renamed_and_deleted() {
        let bench = Bench::new();
        let folders = &bench.folders;
        let path = folders.set(PromptKind::Context, PromptOrigin::Config, "writer", "Be brief.\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "Be brief.\n");
        folders.set(PromptKind::Context, PromptOrigin::Config, "coder", "x").unwrap();
        assert!(
            folders
                .rename(PromptKind::Context, "writer", "coder")
                .unwrap_err()
                .to_string()
                .ends_with("it exists already")
        );
        folders.rename(PromptKind::Context, "writer", "author").unwrap();
        assert_eq!(bench.listed(PromptKind::Context), ["author config", "coder config"]);
        folders.delete(PromptKind::Context, "author").unwrap();
        assert!(matches!(folders.delete(PromptKind::Context, "author"), Err(PromptError::Missing { .. })));
        for name in ["..", "a/b", ""] {
            assert!(matches!(
                folders.set(PromptKind::Context, PromptOrigin::Config, name, ""),
                Err(PromptError::Name { .. })
            ));
            assert!(matches!(folders.delete(PromptKind::Context, name), Err(PromptError::Name { .. })));
        }
        bench.file("f/contexts/theirs", "x");
        assert!(folders.delete(PromptKind::Context, "theirs").unwrap_err().to_string().contains("only read"));
        assert!(bench.dir.path().join("f/contexts/theirs").exists());
    }
}
