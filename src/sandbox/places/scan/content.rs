//! Content of a file: whether it makes the file a secret, or takes the suspicion away that its name raises.

use crate::domain::secret::Content;
use crate::sandbox::places::sight;
use std::ffi::OsStr;
use std::path::Path;

/// Larger files whose name says that they are secret are taken at their word.
const PUBLIC: u64 = 1024 * 1024;

fn has_ending(name: &OsStr, endings: &[&str]) -> bool {
    Path::new(name).extension().is_some_and(|end| endings.iter().any(|ending| end == *ending))
}

/// A file with the name of a key that holds certificates and public keys alone.
pub(super) fn is_public(path: &Path, name: &OsStr) -> bool {
    if !has_ending(name, &["pem", "key", "crt", "PEM", "KEY"]) {
        return false;
    }
    let Some(bytes) = sight::beginning(path, PUBLIC + 1).ok().filter(|bytes| bytes.len() as u64 <= PUBLIC) else {
        return false;
    };
    let has = |what: &[u8]| memchr::memmem::find(&bytes, what).is_some();
    (has(b"-----BEGIN CERTIFICATE") || has(b"-----BEGIN PUBLIC KEY")) && !has(b"PRIVATE KEY")
}

/// True if this file's content makes it a secret. Blocks.
#[must_use]
pub fn is_key(path: &Path) -> bool {
    let kind = Content::of(path);
    kind != Content::PassedOver
        && sight::beginning(path, crate::domain::secret::MOST as u64).is_ok_and(|all| kind.is_secret(&all))
}
