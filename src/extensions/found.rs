//! One extension as it is found: its file, its content, whether it counts, or why it can't be used.

use super::folders::ExtensionFolder;
use crate::domain::command::CommandFile;
use crate::domain::extension::{ExtensionKind, ExtensionOrigin};
use crate::domain::hex::sha256_hex;
use crate::domain::persona::PersonaFile;
use crate::domain::problem::Problem;
use crate::domain::skill::SkillFile;
use std::path::{Path, PathBuf};

/// Says if the bytes with this hash count at this path.
pub type Counts<'c> = dyn Fn(&Path, &str) -> bool + 'c;

/// One extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension<T> {
    /// Name by which it is used.
    pub slug: String,
    /// Owner of the file.
    pub origin: ExtensionOrigin,
    /// Its file.
    pub file: PathBuf,
    /// SHA-256 of all that trust in it covers, in hexadecimal digits.
    pub hash: String,
    /// Text that is shown before it is trusted. Not sanitised.
    pub shown: String,
    /// It comes from others, and counts by its bytes.
    pub needs_trust: bool,
    /// It counts.
    pub trusted: bool,
    /// Content.
    pub content: T,
}

/// A skill with the files beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFolder {
    /// Content of its `SKILL.md`.
    pub file: SkillFile,
    /// Its folder, with links followed.
    pub folder: PathBuf,
    /// Paths of the files beside `SKILL.md`, relative to the folder.
    pub beside: Vec<String>,
}

/// A skill.
pub type SkillExtension = Extension<SkillFolder>;
/// An agent.
pub type AgentExtension = Extension<PersonaFile>;
/// A command.
pub type CommandExtension = Extension<CommandFile>;

/// An extension that can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// Kind.
    pub kind: ExtensionKind,
    /// Name of the file or folder. Not sanitised.
    pub name: String,
    /// Owner of the file.
    pub origin: ExtensionOrigin,
    /// Its file.
    pub file: PathBuf,
    /// Reason.
    pub why: UnusableWhy,
}

impl Unusable {
    /// Problem of a broken file.
    #[must_use]
    pub fn problem(&self) -> Option<&Problem> {
        match &self.why {
            UnusableWhy::Broken(problem) => Some(problem),
            UnusableWhy::Taken(_) => None,
        }
    }
}

/// Reason why an extension can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnusableWhy {
    /// Its file is broken.
    Broken(Problem),
    /// The file of another extension has its name.
    Taken(PathBuf),
}

/// A file that may be an extension, with the name that it has on the disk.
pub(super) struct Candidate {
    pub(super) name: String,
    pub(super) file: PathBuf,
}

impl Candidate {
    /// A file that is one by itself: its name in small letters gives the name.
    pub(super) fn of_file(file: PathBuf) -> Self {
        Self { name: file.file_stem().unwrap_or_default().to_string_lossy().to_ascii_lowercase(), file }
    }
}

/// Extensions of one kind in these folders, by name. `candidates` lists a folder, `one` reads a file of it.
pub(super) fn read<T>(
    kind: ExtensionKind,
    folders: &[ExtensionFolder],
    candidates: impl Fn(&ExtensionFolder) -> Vec<Candidate>,
    one: impl Fn(&ExtensionFolder, &Candidate) -> Result<Extension<T>, Problem>,
    unusable: &mut Vec<Unusable>,
) -> Vec<Extension<T>> {
    let mut out = Vec::new();
    for folder in folders {
        for candidate in candidates(folder) {
            match one(folder, &candidate) {
                Ok(found) => add(&mut out, found, kind, unusable),
                Err(problem) => {
                    let Candidate { name, file } = candidate;
                    let why = UnusableWhy::Broken(problem);
                    unusable.push(Unusable { kind, name, origin: folder.origin, file, why });
                }
            }
        }
    }
    out.sort_by(|a, b| a.slug.cmp(&b.slug));
    out
}

/// Adds an extension, unless another one has its name.
fn add<T>(out: &mut Vec<Extension<T>>, found: Extension<T>, kind: ExtensionKind, unusable: &mut Vec<Unusable>) {
    match out.iter().find(|known| known.slug == found.slug) {
        None => out.push(found),
        Some(known) => unusable.push(Unusable {
            kind,
            name: found.slug,
            origin: found.origin,
            file: found.file,
            why: UnusableWhy::Taken(known.file.clone()),
        }),
    }
}

/// A file of one extension as it is found: the whole of it counts.
pub(super) fn whole<T>(
    candidate: &Candidate,
    text: String,
    folder: &ExtensionFolder,
    content: T,
    counts: &Counts<'_>,
) -> Extension<T> {
    let hash = sha256_hex(text.as_bytes());
    let trusted = !folder.needs_trust || counts(&candidate.file, &hash);
    Extension {
        slug: candidate.name.clone(),
        origin: folder.origin,
        file: candidate.file.clone(),
        hash,
        shown: text,
        needs_trust: folder.needs_trust,
        trusted,
        content,
    }
}
