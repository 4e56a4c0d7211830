//! `trusted.toml`: the workspaces and the rules of repositories that the user trusts. Only lisle writes it.
//!
//! A file of rules is trusted by its path and the SHA-256 of its bytes; its text is kept, so that a change can be shown. A
//! workspace is trusted by its path, and its rules as those of a repository.

use super::rules;
use crate::domain::problem::Problem;
use crate::domain::request::{TrustRequest, TrustWhat};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Trusted files and workspaces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trusted {
    #[serde(default)]
    trusted: Vec<TrustEntry>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct TrustEntry {
    what: TrustWhat,
    path: PathBuf,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    sha256: String,
    /// Time, as `2026-11-22T05:00:00Z`.
    time: String,
    /// The text that was trusted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    text: String,
}

impl Trusted {
    /// Reads the file; no file is no trust, and one that cannot be read is none either.
    #[must_use]
    pub fn read(path: &Path) -> (Self, Option<Problem>) {
        match super::files::read_text(path) {
            Ok(text) => match parse(text.as_deref().unwrap_or_default()) {
                Ok(trusted) => (trusted, None),
                Err(why) => {
                    let text = format!("Can't read the file, so nothing is trusted: {why}");
                    let fix = "Move it out of the way, then trust your workspaces again.";
                    (Self::default(), Some(Problem::whole(path, text, fix)))
                }
            },
            Err(problem) => (Self::default(), Some(problem)),
        }
    }

    /// The workspace in this folder is trusted.
    #[must_use]
    pub fn workspace(&self, folder: &Path) -> bool {
        self.trusted.iter().any(|one| one.what == TrustWhat::Workspace && one.path == folder)
    }

    /// Request for trust in the rules of a workspace, as they are now; `None` if they are those that were trusted.
    #[must_use]
    pub fn asks_of_workspace(&self, folder: &Path, found: &rules::RuleFile) -> Option<TrustRequest> {
        let known = self.trusted.iter().find(|one| one.what == TrustWhat::Workspace && one.path == folder);
        if known.is_some_and(|known| known.sha256 == found.hash) {
            return None;
        }
        Some(TrustRequest {
            what: TrustWhat::Workspace,
            path: folder.to_owned(),
            hash: found.hash.clone(),
            text: known.map_or_else(|| found.text.clone(), |known| difference(&known.text, &found.text)),
            changed: known.is_some(),
            starts: Vec::new(),
        })
    }

    /// Request for trust in this file of a repository; `None` if it is trusted.
    #[must_use]
    pub fn asks(&self, path: &Path, found: &rules::RuleFile) -> Option<TrustRequest> {
        self.asks_of_file(TrustWhat::Repository, path, (&found.hash, &found.text))
    }

    /// Request for trust in this file of sources; `None` if it is trusted.
    #[must_use]
    pub fn asks_of_sources(&self, path: &Path, text: &str) -> Option<TrustRequest> {
        self.asks_of_file(TrustWhat::Sources, path, (&rules::hash(text.as_bytes()), text))
    }

    /// The extension in this file is trusted with this hash.
    #[must_use]
    pub fn counts_extension(&self, path: &Path, hash: &str) -> bool {
        let known = self.extension(path);
        known.is_some_and(|known| !known.sha256.is_empty() && known.sha256 == hash)
    }

    fn extension(&self, path: &Path) -> Option<&TrustEntry> {
        self.trusted.iter().find(|one| one.what == TrustWhat::Extensions && one.path == path)
    }

    /// Request for trust in files of extensions in a folder; `None` without any. Each is shown with its path; of those that
    /// were trusted before and changed the difference is shown.
    #[must_use]
    pub fn asks_of_extensions(&self, folder: &Path, files: &[TrustFile<'_>]) -> Option<TrustRequest> {
        let changed = files.iter().any(|file| self.extension(file.path).is_some());
        let (mut text, mut hashes) = (String::new(), String::new());
        for file in files {
            let path = file.path.display();
            hashes.push_str(&format!("{path}\0{}\n", file.hash));
            let known = self.extension(file.path).map(|known| known.text.as_str());
            text.push_str(&match (changed, known) {
                (false, _) => format!("=== {path}\n{}\n\n", file.text.trim_end()),
                (true, known) => format!(" === {path}\n{}", difference(known.unwrap_or_default(), file.text)),
            });
        }
        (!files.is_empty()).then(|| TrustRequest {
            what: TrustWhat::Extensions,
            path: folder.to_owned(),
            hash: rules::hash(hashes.as_bytes()),
            text,
            changed,
            starts: Vec::new(),
        })
    }

    fn asks_of_file(&self, what: TrustWhat, path: &Path, (hash, text): (&str, &str)) -> Option<TrustRequest> {
        let known = self.trusted.iter().find(|one| one.what == what && one.path == path);
        if known.is_some_and(|known| !known.sha256.is_empty() && known.sha256 == hash) {
            return None;
        }
        Some(TrustRequest {
            what,
            path: path.to_owned(),
            hash: hash.to_owned(),
            text: known.map_or_else(|| text.to_owned(), |known| difference(&known.text, text)),
            changed: known.is_some(),
            starts: Vec::new(),
        })
    }
}

fn parse(text: &str) -> Result<Trusted, String> {
    toml::from_str(text).map_err(|error| error.message().to_owned())
}

/// The lines of both texts, each behind `+`, `-` or a blank.
fn difference(old: &str, new: &str) -> String {
    let diff = similar::TextDiff::from_lines(old, new);
    let mut out = String::new();
    for change in diff.iter_all_changes() {
        let mark = match change.tag() {
            similar::ChangeTag::Insert => '+',
            similar::ChangeTag::Delete => '-',
            similar::ChangeTag::Equal => ' ',
        };
        let line: &str = change.value();
        out.push(mark);
        out.push_str(line.trim_end_matches(['\n', '\r']));
        out.push('\n');
    }
    out
}

/// File of an extension as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustFile<'f> {
    /// Path.
    pub path: &'f Path,
    /// Hash of all that its trust covers.
    pub hash: &'f str,
    /// Text that is shown of it.
    pub text: &'f str,
}

/// Keeps that the user trusts these files of extensions, each by itself. `time` is now in words.
///
/// # Errors
/// A sentence why not; nothing was changed then.
pub fn keep_extensions(path: &Path, files: &[TrustFile<'_>], time: &str) -> Result<(), String> {
    let entry = |file: &TrustFile<'_>| TrustEntry {
        what: TrustWhat::Extensions,
        path: file.path.to_owned(),
        sha256: file.hash.to_owned(),
        time: time.to_owned(),
        text: file.text.to_owned(),
    };
    keep_all(path, files.iter().map(entry).collect())
}

fn keep_all(path: &Path, entries: Vec<TrustEntry>) -> Result<(), String> {
    let folder = path.parent().unwrap_or(Path::new("."));
    rules::change(path, folder, |old| {
        let mut all = parse(old).map_err(|why| format!("can't read it ({why}); move it out of the way first"))?;
        let is_new = |one: &TrustEntry| !entries.iter().any(|new| (new.what, &new.path) == (one.what, &one.path));
        all.trusted.retain(is_new);
        all.trusted.extend(entries.iter().cloned());
        toml::to_string(&all).map_err(|error| error.to_string())
    })
}

/// Keeps that the user trusts what was shown. `text` is what the file says now, `time` is now in words.
///
/// # Errors
/// A sentence why not; nothing was changed then.
pub fn keep(path: &Path, request: &TrustRequest, text: &str, time: &str) -> Result<(), String> {
    let entry = TrustEntry {
        what: request.what,
        path: request.path.clone(),
        sha256: request.hash.clone(),
        time: time.to_owned(),
        text: text.to_owned(),
    };
    keep_all(path, vec![entry])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> rules::RuleFile {
        rules::RuleFile { text: text.into(), hash: rules::hash(text.as_bytes()), ..rules::RuleFile::default() }
    }

    #[test]
    fn a_file_is_trusted_by_path_and_bytes_and_a_change_is_shown() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config/trusted.toml");
        let (path, first) = (Path::new("/r/.lisle/permissions.json"), found("{\n \"a\": 1\n}\n"));
        let (none, problem) = Trusted::read(&file);
        assert!(problem.is_none());
        let asked = none.asks(path, &first).unwrap();
        assert_eq!((asked.text.as_str(), asked.changed), (first.text.as_str(), false));
        keep(&file, &asked, &first.text, "2026-01-01T00:00:00Z").unwrap();

        let trusted = Trusted::read(&file).0;
        assert_eq!(trusted.asks(path, &first), None);
        assert!(trusted.asks(Path::new("/other/.lisle/permissions.json"), &first).is_some());
        let second = found("{\n \"a\": 2\n}\n");
        let asked = trusted.asks(path, &second).unwrap();
        assert!(asked.changed);
        assert_eq!(asked.text, " {\n- \"a\": 1\n+ \"a\": 2\n }\n");
        keep(&file, &asked, &second.text, "2026-01-01T00:00:01Z").unwrap();
        let trusted = Trusted::read(&file).0;
        assert!(trusted.asks(path, &second).is_none() && trusted.asks(path, &first).is_some());
        // A file that cannot be read has no hash, and is never trusted.
        assert!(trusted.asks(path, &rules::RuleFile::default()).is_some());
    }

    #[test]
    fn a_workspace_is_trusted_by_its_folder() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("trusted.toml");
        let request = TrustRequest {
            what: TrustWhat::Workspace,
            path: "/w".into(),
            hash: String::new(),
            text: String::new(),
            changed: false,
            starts: Vec::new(),
        };
        keep(&file, &request, "", "2026-01-01T00:00:00Z").unwrap();
        let trusted = Trusted::read(&file).0;
        assert!(trusted.workspace(Path::new("/w")) && !trusted.workspace(Path::new("/v")));
        assert!(trusted.asks(Path::new("/w"), &found("{}")).is_some());
    }

    #[test]
    fn what_cannot_be_read_trusts_nothing_and_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("trusted.toml");
        std::fs::write(&file, "trusted = 3\n").unwrap();
        let (trusted, problem) = Trusted::read(&file);
        assert_eq!(trusted, Trusted::default());
        assert!(problem.unwrap().to_string().contains("nothing is trusted"));
        let request = Trusted::default().asks(Path::new("/r"), &found("{}")).unwrap();
        let error = keep(&file, &request, "{}", "t").unwrap_err();
        assert!(error.contains("was not changed"), "{error}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "trusted = 3\n");
    }
}
