//! Paths in git's `index`: a reader of its names alone, versions 2 to 4 of
//! <https://git-scm.com/docs/index-format>. Other formats give none.

use crate::sandbox::plain_file;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// A longer list is not read for this.
const MOST: u64 = 64 * 1024 * 1024;

/// Bytes of a file whose content is compared with what git has of it, at the most.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Hash by which git knows the content of a file.
pub type Blob = [u8; 20];

/// The paths of `wanted`, given from the top of the working tree, that the index has, each with the hash of its content; a
/// folder, where any file below it is there, without one.
#[must_use]
pub fn tracked(index: &Path, wanted: &HashSet<PathBuf>) -> HashMap<PathBuf, Option<Blob>> {
    if wanted.is_empty() {
        return HashMap::new();
    }
    plain_file::bytes(index, MOST).and_then(|bytes| among(&bytes, wanted)).unwrap_or_default()
}

/// The hash that git would give to a file as it is; `None` for what is no file, or too large. Blocks.
#[must_use]
pub fn blob(path: &Path) -> Option<Blob> {
    plain_file::bytes(path, LARGEST).map(|bytes| blob_of(&bytes))
}

/// The same of these bytes.
#[must_use]
pub fn blob_of(bytes: &[u8]) -> Blob {
    use sha1::{Digest, Sha1};
    let head = format!("blob {}\0", bytes.len());
    Sha1::new().chain_update(head).chain_update(bytes).finalize().into()
}

/// The same of the content of an index; `None` for one that is cut off or of an unknown kind.
fn among(bytes: &[u8], wanted: &HashSet<PathBuf>) -> Option<HashMap<PathBuf, Option<Blob>>> {
    use std::os::unix::ffi::OsStrExt;
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let version = (bytes.get(..4)? == b"DIRC").then(|| number(4)).flatten()?;
    let count = number(8)?;
    // The times, number, owner and size of a file, then its hash of 20 bytes, then flags.
    const HASH: usize = 40;
    const FLAGS: usize = 60;
    let mut out = HashMap::new();
    let mut name: Vec<u8> = Vec::new();
    let mut at = 12;
    for _ in 0..count {
        let hash: Blob = bytes.get(at + HASH..at + FLAGS)?.try_into().ok()?;
        let flags = u16::from_be_bytes(bytes.get(at + FLAGS..at + FLAGS + 2)?.try_into().ok()?);
        let extended = version >= 3 && flags & 0x4000 != 0;
        let start = at + FLAGS + if extended { 4 } else { 2 };
        match version {
            2 | 3 => {
                let end = start + memchr::memchr(0, bytes.get(start..)?)?;
                name.clear();
                name.extend_from_slice(bytes.get(start..end)?);
                at += (end - at + 8) & !7;
            }
            4 => {
                let (strip, from) = offset(bytes, start)?;
                let end = from + memchr::memchr(0, bytes.get(from..)?)?;
                name.truncate(name.len().checked_sub(strip)?);
                name.extend_from_slice(bytes.get(from..end)?);
                at = end + 1;
            }
            _ => return None,
        }
        let path = Path::new(std::ffi::OsStr::from_bytes(&name));
        for above in path.ancestors().filter(|above| !above.as_os_str().is_empty()) {
            if let Some(hit) = wanted.get(above) {
                out.insert(hit.clone(), (above == path).then_some(hash));
            }
        }
    }
    Some(out)
}

/// A number as version 4 writes how much of the name before is left out.
fn offset(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut byte = *bytes.get(at)?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        at += 1;
        byte = *bytes.get(at)?;
        value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
    }
    Some((value, at + 1))
}

#[cfg(test)]
pub(in crate::sandbox) mod tests {
    use super::*;

    /// An index of version 2 with files of these names that hold `x`.
    pub(in crate::sandbox) fn index(names: &[&str]) -> Vec<u8> {
        let files: Vec<(&str, &[u8])> = names.iter().map(|name| (*name, &b"x"[..])).collect();
        index_of(&files)
    }

    /// The same with these contents.
    pub(in crate::sandbox) fn index_of(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut out = b"DIRC\0\0\0\x02".to_vec();
        out.extend(u32::try_from(files.len()).unwrap().to_be_bytes());
        for (name, content) in files {
            let start = out.len();
            out.extend([0; FLAGS_AT - 20]);
            out.extend(blob_of(content));
            out.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
            out.extend(name.as_bytes());
            out.push(0);
            while !(out.len() - start).is_multiple_of(8) {
                out.push(0);
            }
        }
        out.extend([0; 20]);
        out
    }
    const FLAGS_AT: usize = 60;

    fn found(bytes: &[u8], wanted: &[&str]) -> Vec<String> {
        let wanted = wanted.iter().map(PathBuf::from).collect();
        let found = among(bytes, &wanted).unwrap_or_default();
        let mut found: Vec<String> = found.keys().map(|path| path.display().to_string()).collect();
        found.sort();
        found
    }

    #[test]
    fn names_and_folders_are_found_whole() {
        let bytes = index(&[".env", "a/.env", "keys/one.pem", "x"]);
        assert_eq!(found(&bytes, &[".env", "b/.env", "env", "keys", "key", "a/.env/x"]), [".env", "keys"]);
        assert_eq!(found(&bytes, &["x"]), ["x"]);
        assert_eq!(found(&bytes[..70], &["x"]), Vec::<String>::new());
        assert_eq!(found(b"PACK", &["x"]), Vec::<String>::new());
    }

    #[test]
    fn a_file_comes_with_the_hash_that_git_gives_it() {
        let wanted = ["a/.env", "a"].map(PathBuf::from).into();
        let found = among(&index_of(&[("a/.env", b"hello\n")]), &wanted).unwrap();
        // `printf 'hello\n' | git hash-object --stdin`
        let hash: String = found[Path::new("a/.env")].unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!((hash.as_str(), found[Path::new("a")]), ("ce013625030ba8dba906f756967f9e9ca394464a", None));
    }

    #[test]
    fn names_that_are_written_by_their_difference_are_found() {
        let mut bytes = b"DIRC\0\0\0\x04\0\0\0\x03".to_vec();
        for (strip, rest) in [(0, "a/.env"), (4, ".env.local"), (10, "b")] {
            bytes.extend([0; FLAGS_AT]);
            bytes.extend([0, 1, strip]);
            bytes.extend(rest.as_bytes());
            bytes.push(0);
        }
        assert_eq!(found(&bytes, &["a/.env", "a/.env.local", "a/b", ".env"]), ["a/.env", "a/.env.local", "a/b"]);
    }
}
