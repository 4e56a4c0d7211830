//! Paths in git's `index`: a reader of its names alone, versions 2 to 4 of
//! <https://git-scm.com/docs/index-format>. Other formats give none.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// A longer list is not read for this.
const MOST: u64 = 64 * 1024 * 1024;

/// The hash of what a masked file says. Git has got it from a command that added the mask, and has nothing of the file.
const MASK: [u8; 20] = [
    0x74, 0x5e, 0xe2, 0xda, 0x8b, 0xa7, 0xa3, 0x7a, 0xf9, 0x42, 0x66, 0x48, 0x22, 0x18, 0xb4, 0x75, 0x0d, 0xf6, 0x19,
    0xdc,
];

/// The paths of `wanted`, given from the top of the working tree, that the index has; of a folder, whether it has any
/// file below it.
#[must_use]
pub fn tracked(index: &Path, wanted: &HashSet<PathBuf>) -> HashSet<PathBuf> {
    if wanted.is_empty() || index.metadata().map_or(true, |meta| meta.len() > MOST) {
        return HashSet::new();
    }
    std::fs::read(index).ok().and_then(|bytes| among(&bytes, wanted)).unwrap_or_default()
}

/// The same of the content of an index; `None` for one that is cut off or of an unknown kind.
fn among(bytes: &[u8], wanted: &HashSet<PathBuf>) -> Option<HashSet<PathBuf>> {
    use std::os::unix::ffi::OsStrExt;
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let version = (bytes.get(..4)? == b"DIRC").then(|| number(4)).flatten()?;
    let count = number(8)?;
    // The times, number, owner and size of a file, then its hash of 20 bytes, then flags.
    const HASH: usize = 40;
    const FLAGS: usize = 60;
    let mut out = HashSet::new();
    let mut name: Vec<u8> = Vec::new();
    let mut at = 12;
    for _ in 0..count {
        let is_mask = bytes.get(at + HASH..at + FLAGS)? == MASK;
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
        for above in path.ancestors().filter(|above| !is_mask && !above.as_os_str().is_empty()) {
            if let Some(hit) = wanted.get(above) {
                out.insert(hit.clone());
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

    /// An index of version 2 with these names.
    pub(in crate::sandbox) fn index(names: &[&str]) -> Vec<u8> {
        let mut out = b"DIRC\0\0\0\x02".to_vec();
        out.extend(u32::try_from(names.len()).unwrap().to_be_bytes());
        for name in names {
            let start = out.len();
            out.extend([0; FLAGS_AT]);
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
        let mut found: Vec<String> = found.iter().map(|path| path.display().to_string()).collect();
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
    fn a_mask_that_a_command_added_is_not_the_file() {
        let mut bytes = index(&["a/.env", "b/.env"]);
        bytes[12 + 40..12 + 60].copy_from_slice(&MASK);
        assert_eq!(found(&bytes, &["a/.env", "b/.env"]), ["b/.env"]);
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
