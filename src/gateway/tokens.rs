//! Tokens of clients over the network: a file beside the gateway's secret, which commands and the gateway read.
//!
//! The owner's token is kept as it is, so that it can be shown again; of the others only the SHA-256 is. The file's name is one
//! that tools do not read (`domain::paths`), and the sandbox hides its folder.

use super::home::{self, GatewayFiles};
use crate::domain::hex::sha256_hex;
use crate::plain_file;
use crate::protocol::{Scope, Scopes};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Name of the token that is there without being asked for, with all scopes.
pub const OWNER: &str = "owner";

/// Bytes of the file.
const LONGEST: u64 = 4 << 20;
/// Bytes of chance in a token.
const LENGTH: usize = 32;

/// Beginning of each token: a person, or a program that looks for secrets, knows it by this.
const PREFIX: &str = "lisle_";

/// Token as the file has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredToken {
    /// Name.
    pub name: String,
    /// Scopes.
    pub scopes: Scopes,
    /// SHA-256 of the token, in hexadecimal.
    pub sha256: String,
    /// The token itself, for the owner's alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// Token as it is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenShown {
    /// Name.
    pub name: String,
    /// Scopes.
    pub scopes: Scopes,
}

/// State of the file at one look: another one means that it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileStamp(u64, u64, i64, i64);

/// File of the tokens of one home.
#[derive(Clone, Debug)]
pub struct TokenFile {
    folder: PathBuf,
}

/// SHA-256 of a token, in hexadecimal.
pub(super) fn hash(token: &str) -> String {
    sha256_hex(token.as_bytes())
}

fn new_token() -> io::Result<String> {
    Ok(format!("{PREFIX}{}", home::random_hex(LENGTH)?))
}

/// True if a token can have this name.
#[must_use]
pub fn is_token_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=40).contains(&name.len()) && name.chars().all(fits)
}

impl TokenFile {
    /// That of a home.
    #[must_use]
    pub fn of(files: &GatewayFiles) -> Self {
        Self { folder: files.folder() }
    }

    fn path(&self) -> PathBuf {
        self.folder.join("credentials.json")
    }

    /// State of the file; `None` without one.
    pub(super) fn stamp(&self) -> Option<FileStamp> {
        let found = std::fs::symlink_metadata(self.path()).ok()?;
        Some(FileStamp(found.ino(), found.size(), found.mtime(), found.mtime_nsec()))
    }

    /// Tokens as they are stored.
    pub(super) fn read(&self) -> io::Result<Vec<StoredToken>> {
        match plain_file::read(&self.path(), LONGEST) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Changes the file, alone.
    fn change<T>(&self, change: impl FnOnce(&mut Vec<StoredToken>) -> io::Result<T>) -> io::Result<T> {
        home::private_folder(&self.folder)?;
        let folder = plain_file::folder(&self.folder)?;
        folder.lock()?;
        let mut all = self.read()?;
        let before = all.clone();
        let done = change(&mut all)?;
        if all != before {
            home::write_private(&self.path(), &serde_json::to_string_pretty(&all)?)?;
        }
        Ok(done)
    }

    /// The owner's token, made if there is none.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn owner(&self) -> io::Result<String> {
        self.change(|all| match all.iter().find(|one| one.name == OWNER).and_then(|one| one.token.clone()) {
            Some(token) => Ok(token),
            None => put(all, OWNER, Scopes::all(), true),
        })
    }

    /// Names and scopes of all tokens.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn list(&self) -> io::Result<Vec<TokenShown>> {
        Ok(self.read()?.into_iter().map(|one| TokenShown { name: one.name, scopes: one.scopes }).collect())
    }

    /// Makes a token of this name, which is returned and not shown again. `None` if there is one of that name: whoever has it
    /// would be shut out without a word.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add(&self, name: &str, scopes: impl IntoIterator<Item = Scope>) -> io::Result<Option<String>> {
        let scopes = Scopes::of(scopes);
        self.change(|all| match all.iter().any(|one| one.name == name) {
            true => Ok(None),
            false => put(all, name, scopes, name == OWNER).map(Some),
        })
    }

    /// Makes a new token in the place of the one of this name. `None` if there is none.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn rotate(&self, name: &str) -> io::Result<Option<String>> {
        self.change(|all| match all.iter().find(|one| one.name == name).map(|one| one.scopes.clone()) {
            Some(scopes) => put(all, name, scopes, name == OWNER).map(Some),
            None if name == OWNER => put(all, OWNER, Scopes::all(), true).map(Some),
            None => Ok(None),
        })
    }

    /// Removes the token of this name. False if there is none.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn revoke(&self, name: &str) -> io::Result<bool> {
        self.change(|all| {
            let before = all.len();
            all.retain(|one| one.name != name);
            Ok(all.len() < before)
        })
    }
}

fn put(all: &mut Vec<StoredToken>, name: &str, scopes: Scopes, shown_again: bool) -> io::Result<String> {
    let token = new_token()?;
    all.retain(|one| one.name != name);
    let kept = shown_again.then(|| token.clone());
    all.push(StoredToken { name: name.to_owned(), scopes, sha256: hash(&token), token: kept });
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_owners_token_is_shown_again_and_others_are_kept_as_hashes() {
        let dir = tempfile::tempdir().unwrap();
        let file = TokenFile::of(&GatewayFiles::of(dir.path(), None));
        assert!(file.list().unwrap().is_empty());
        let owner = file.owner().unwrap();
        assert_eq!((file.owner().unwrap(), owner.len()), (owner.clone(), PREFIX.len() + 2 * LENGTH));
        let phone = file.add("phone", [Scope::Read]).unwrap().unwrap();
        assert!(file.add("phone", Scope::ALL).unwrap().is_none(), "the one that is there still counts");
        let text = std::fs::read_to_string(file.path()).unwrap();
        assert!(text.contains(&owner) && text.contains(&hash(&phone)) && !text.contains(&phone), "{text}");
        assert_eq!(std::fs::metadata(file.path()).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(crate::domain::paths::is_secret(&file.path()), "tools do not read it");
        let names: Vec<String> = file.list().unwrap().into_iter().map(|one| one.name).collect();
        assert_eq!(names, [OWNER, "phone"]);
        assert_ne!(file.rotate("phone").unwrap().unwrap(), phone);
        assert_ne!(file.rotate(OWNER).unwrap().unwrap(), owner);
        assert!(file.rotate("nobody").unwrap().is_none());
        assert!(file.revoke("phone").unwrap() && !file.revoke("phone").unwrap());
    }

    #[test]
    fn names_of_tokens_are_short_words() {
        for (name, fits) in [("phone", true), ("a-b_c.1", true), ("", false), ("a b", false), ("../x", false)] {
            assert_eq!(is_token_name(name), fits, "{name}");
        }
        assert!(!is_token_name(&"x".repeat(41)));
    }
}
