//! Extended attributes of files: access lists, labels and what users hang on files. A new file that takes an old one's place
//! gets those of the old one, and no others.
//!
//! Permission bits are set by the caller, afterwards: an access list changes them.

use crate::domain::hex::hex;
use crate::domain::undo::{Attributes, KnownAttributes};
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Stat, Uid, XattrFlags};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, OwnedFd};

/// Bytes of one attribute, and of all names, at the most: the kernel's bound.
const MOST: usize = 64 * 1024;
/// Bytes that nearly all names and values fit in: room for more is made only where it is needed.
const USUAL: usize = 512;

/// Gives the new file `to` the owner and the extended attributes of the file `name` in `folder`, as far as that is allowed.
/// Names those that it does not get.
pub(in crate::tools) fn carry(folder: &OwnedFd, name: &OsStr, to: &OwnedFd) -> Vec<String> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
    // What is there cannot be opened or is none: whoever gives the new file its name looks at that.
    let Ok(from) = rustix::fs::openat(folder, name, flags, Mode::empty()) else { return Vec::new() };
    if let Ok(stat) = rustix::fs::fstat(&from) {
        // Giving a file away takes rights that few have; the caller clears set-id bits without them.
        let _ = std::os::unix::fs::fchown(to, Some(stat.st_uid), Some(stat.st_gid));
    }
    let old = names(&from);
    // What the folder gives to new files, such as an access list of its own.
    for name in names(to).difference(&old) {
        let _ = rustix::fs::fremovexattr(to, name.as_c_str());
    }
    let copied = |name: &CString| {
        let value = value(&from, name)?;
        if self::value(to, name).is_ok_and(|there| there == value) {
            return Ok(());
        }
        rustix::fs::fsetxattr(to, name.as_c_str(), &value, XattrFlags::empty())
    };
    let lost = old.iter().filter(|name| copied(name).is_err());
    lost.map(|name| name.to_string_lossy().into_owned()).collect()
}

/// Bytes of the attributes of one file, at the most, that undo keeps in its list.
const MOST_KEPT: usize = 4 * 1024;

/// Owner and attributes of an open file, of which this is what the system says; unknown where there are too many of them.
pub(in crate::tools) fn of(file: impl AsFd, stat: &Stat) -> Attributes {
    let mut known = KnownAttributes { owner: foreign_owner(stat), ..KnownAttributes::default() };
    let mut size = 0;
    for name in names(&file) {
        // One that may not be read is nobody's to restore.
        let Ok(value) = value(&file, &name) else { continue };
        size += value.len() + name.as_bytes().len();
        let Ok(name) = name.into_string() else { return Attributes::default() };
        if size > MOST_KEPT {
            return Attributes::default();
        }
        known.extended.insert(name, hex(&value));
    }
    Attributes::of(known)
}

/// The owner of a link.
pub(in crate::tools) fn of_link(stat: &Stat) -> Attributes {
    Attributes::of(KnownAttributes { owner: foreign_owner(stat), ..KnownAttributes::default() })
}

/// Owner as the system says; `None` for that of this process.
#[allow(clippy::useless_conversion)]
fn foreign_owner(stat: &Stat) -> Option<(u32, u32)> {
    let own = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let owner = (u32::from(stat.st_uid), u32::from(stat.st_gid));
    (owner != own).then_some(owner)
}

/// The same of a folder by its name.
pub(in crate::tools) fn of_folder(above: &OwnedFd, name: &OsStr) -> Attributes {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(folder) = rustix::fs::openat(above, name, flags, Mode::empty()) else { return Attributes::default() };
    rustix::fs::fstat(&folder).map_or_else(|_| Attributes::default(), |stat| of(&folder, &stat))
}

/// Gives an open file this owner, as far as that is allowed, and these attributes and no others. Names those that it does not
/// get.
pub(in crate::tools) fn give(known: &KnownAttributes, to: &OwnedFd) -> Vec<String> {
    let owner = owner(known);
    if !is_owner(known, to) {
        // Giving a file away takes rights that few have; the group alone may be allowed.
        let both = std::os::unix::fs::fchown(to, Some(owner.0), Some(owner.1));
        let _ = both.or_else(|_| std::os::unix::fs::fchown(to, None, Some(owner.1)));
    }
    for name in names(to).iter().filter(|name| name.to_str().is_ok_and(|name| !known.extended.contains_key(name))) {
        let _ = rustix::fs::fremovexattr(to, name.as_c_str());
    }
    let given = |(name, text): &(&String, &String)| {
        let name = CString::new(name.as_str()).map_err(|_| Errno::INVAL)?;
        let wanted = bytes(text).ok_or(Errno::INVAL)?;
        if value(to, &name).is_ok_and(|there| there == wanted) {
            return Ok(());
        }
        rustix::fs::fsetxattr(to, name.as_c_str(), &wanted, XattrFlags::empty())
    };
    let mut lost: Vec<String> =
        known.extended.iter().filter(|one| given(one).is_err()).map(|(name, _)| name.clone()).collect();
    if !is_owner(known, to) {
        lost.push(format!("owner {}:{}", owner.0, owner.1));
    }
    lost
}

/// True if an open file belongs to this owner.
pub(in crate::tools) fn is_owner(known: &KnownAttributes, file: &OwnedFd) -> bool {
    rustix::fs::fstat(file).is_ok_and(|stat| foreign_owner(&stat) == known.owner)
}

/// Gives the link `name` in `folder` this owner, as far as that is allowed. Names the owner that it does not get.
pub(in crate::tools) fn give_link(known: &KnownAttributes, folder: &OwnedFd, name: &OsStr) -> Option<String> {
    let is_given = || {
        let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
        stat.is_ok_and(|stat| foreign_owner(&stat) == known.owner)
    };
    if is_given() {
        return None;
    }
    let (user, group) = owner(known);
    let give = |user: Option<u32>| {
        let user = user.map(Uid::from_raw);
        rustix::fs::chownat(folder, name, user, Some(Gid::from_raw(group)), AtFlags::SYMLINK_NOFOLLOW)
    };
    // As with files.
    let _ = give(Some(user)).or_else(|_| give(None));
    (!is_given()).then(|| format!("owner {user}:{group}"))
}

fn owner(known: &KnownAttributes) -> (u32, u32) {
    known.owner.unwrap_or_else(|| (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw()))
}

fn bytes(hexadecimal: &str) -> Option<Vec<u8>> {
    let pairs = hexadecimal.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

fn names(file: impl AsFd) -> BTreeSet<CString> {
    // A file system without attributes has none.
    let all = whole(|buffer| rustix::fs::flistxattr(&file, buffer)).unwrap_or_default();
    let names = all.split(|byte| *byte == 0).filter(|name| !name.is_empty() && !is_systems(name));
    names.filter_map(|name| CString::new(name).ok()).collect()
}

/// All bytes of what fills a buffer, and says if it is too small.
fn whole(fill: impl Fn(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut usual = [0_u8; USUAL];
    match fill(&mut usual) {
        Ok(length) => Ok(usual.get(..length).unwrap_or_default().to_vec()),
        Err(Errno::RANGE) => {
            let mut buffer = vec![0_u8; MOST];
            let length = fill(&mut buffer)?;
            buffer.truncate(length);
            Ok(buffer)
        }
        Err(error) => Err(error),
    }
}

/// An attribute that the system keeps itself: it follows the content, or says which program wrote it.
fn is_systems(name: &[u8]) -> bool {
    [&b"security.ima"[..], b"security.evm", b"com.apple.provenance"].contains(&name)
}

fn value(file: impl AsFd, name: &CString) -> Result<Vec<u8>, Errno> {
    whole(|buffer| rustix::fs::fgetxattr(&file, name.as_c_str(), buffer))
}

/// Lost attributes, as the middle of a sentence; `None` if there are none.
#[must_use]
pub fn lost(names: &[String]) -> Option<String> {
    let known: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let named: Vec<&str> = known.into_iter().collect();
    (!named.is_empty()).then(|| format!("extended attributes of the file could not be kept: {}", named.join(", ")))
}

/// Attributes of files of tests.
#[cfg(test)]
pub(crate) mod testing {
    use std::path::Path;

    pub(crate) const ACL: &str = "system.posix_acl_access";

    /// Sets an attribute; false where the file system of the test has none, which the test then says.
    pub(crate) fn set(path: &Path, name: &str, value: &[u8]) -> bool {
        let done = rustix::fs::setxattr(path, name, value, rustix::fs::XattrFlags::empty());
        if let Err(error) = done {
            eprintln!("not tested: {name} cannot be set in {}: {error}", path.display());
        }
        done.is_ok()
    }

    pub(crate) fn get(path: &Path, name: &str) -> Option<Vec<u8>> {
        let mut buffer = [0_u8; 512];
        let length = rustix::fs::getxattr(path, name, &mut buffer[..]).ok()?;
        Some(buffer[..length].to_vec())
    }

    /// An access list as it lies on the disk: the owner, one more user, the group, the mask, all others.
    pub(crate) fn acl(user: u32) -> Vec<u8> {
        let mut out = 2_u32.to_le_bytes().to_vec();
        for (tag, rights, id) in [(1_u16, 6_u16, !0), (2, 4, user), (4, 4, !0), (0x10, 4, !0), (0x20, 0, !0)] {
            out.extend(tag.to_le_bytes());
            out.extend(rights.to_le_bytes());
            out.extend(u32::to_le_bytes(id));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::restore;
    use super::testing::{ACL, acl, get, set};
    use crate::domain::undo::PathEntry;
    use crate::tools::bench::Bench;
    use crate::tools::files;
    use serde_json::json;

    #[test]
    fn what_hangs_on_a_file_survives_tools_and_restorations() {
        let bench = Bench::new();
        for name in ["edited", "written", "patched", "moved"] {
            bench.write(name, "one\ntwo\n");
        }
        if !set(&bench.path("edited"), "user.note", b"kept") {
            return;
        }
        let has_acl = set(&bench.path("edited"), ACL, &acl(12345));
        for name in ["edited", "written", "patched", "moved"] {
            assert!(set(&bench.path(name), "user.note", b"kept"));
            assert!(!has_acl || set(&bench.path(name), ACL, &acl(12345)));
            bench.ok("read", json!({"path": name}));
        }
        bench.ok("edit", json!({"path": "edited", "edits": [{"old": "one", "new": "1"}]}));
        bench.ok("write", json!({"path": "written", "content": "new\n"}));
        let patch = "*** Begin Patch\n*** Update File: patched\n@@\n-one\n+1\n*** Update File: moved\n*** Move to: there\n*** End Patch\n";
        bench.ok("patch", json!({ "patch": patch }));
        // Undo puts old bytes where the new ones are.
        let path = bench.path("edited");
        let (now, _) = restore::look(&path, files::LARGEST).unwrap();
        let mode = if let PathEntry::File { mode, .. } = now { mode } else { panic!("{now:?}") };
        assert_eq!(restore::file(&path, b"one\ntwo\n", mode, &now).unwrap(), Vec::<String>::new());
        for name in ["edited", "written", "patched", "there"] {
            assert_eq!(get(&bench.path(name), "user.note").as_deref(), Some(&b"kept"[..]), "{name}");
            if has_acl {
                assert_eq!(get(&bench.path(name), ACL), Some(acl(12345)), "{name}");
            }
        }
    }

    #[test]
    fn a_new_file_in_place_of_an_old_one_gets_no_list_of_its_folder() {
        let bench = Bench::new();
        bench.write("d/f", "one\n");
        if !set(&bench.path("d"), "system.posix_acl_default", &acl(12345)) {
            return;
        }
        bench.ok("read", json!({"path": "d/f"}));
        bench.ok("edit", json!({"path": "d/f", "edits": [{"old": "one", "new": "1"}]}));
        assert_eq!(get(&bench.path("d/f"), ACL), None);
    }
}
