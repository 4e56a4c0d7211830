//! Restoration of files that configure or run code and that a command changed without having asked: what is new is
//! put aside, what was changed or removed is as it was before. So nothing of it takes effect until the user has seen
//! it.
//!
//! A command may lay links while this happens, so none is followed.

use crate::domain::undo::{Attributes, PathEntry};
use crate::sandbox::protected_files::{Earlier, FolderRights, GuardedChange, What};
use crate::sandbox::unseen::{self, Unseen};
use crate::tools::files::{self, FileError, restore};
use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, Uid};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Bytes of a file that is copied because it lies on another disk; of a larger one the beginning is kept.
const MOST: u64 = 64 * 1024 * 1024;

/// Outcome of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tools) enum ChangeFate {
    /// The command's version lies here now; the path is as it was before.
    Aside(PathBuf),
    /// Restored, with nothing to keep.
    Restored,
    /// The command's version was removed: there was no room for it anywhere.
    Removed,
    /// Left as the command made it; why, as the end of a sentence.
    Left(String),
}

/// Places for what commands wrote.
#[derive(Clone, Copy, Debug)]
pub(in crate::tools) struct AsideFolders<'a> {
    /// The usual one, of the session.
    pub session: &'a Path,
    /// The working directory: on the file system of most of what is taken back, so that a move there needs no room. No program
    /// looks for the names that it gets there.
    pub cwd: &'a Path,
}

/// Attempts where something else makes the file again meanwhile.
const ATTEMPTS: usize = 20;
/// The first of them, which replace nothing.
const KIND_ATTEMPTS: usize = 3;

/// Takes one change back. What was written comes to lie in one of the `folders`. It needs no room on a disk: what cannot be
/// moved, not even within its file system, is removed, and an earlier content goes into the file that was written. Blocks.
pub(in crate::tools) fn put_back(change: &GuardedChange, folders: AsideFolders<'_>) -> ChangeFate {
    let done = match &change.what {
        // What is not known to be as it was must not take effect.
        What::Made | What::Changed(None) | What::Unseen(Unseen::Barred) => aside(&change.path, folders),
        What::Unseen(Unseen::Scarce) => Err("no system resources to check it".to_owned()),
        What::Gone(None) => Err("no earlier version kept".to_owned()),
        What::Linked(Some(earlier)) => replaced(&change.path, earlier).map(|()| ChangeFate::Restored),
        What::Linked(None) => Err("no earlier version kept".to_owned()),
        What::Changed(Some(earlier)) => exchanged(&change.path, earlier, folders),
        What::Gone(Some(earlier)) => restored(&change.path, earlier).map(|()| ChangeFate::Restored),
        What::Opened(rights) => closed(&change.path, rights).map(|()| ChangeFate::Restored),
    };
    done.unwrap_or_else(ChangeFate::Left)
}

/// Gives a folder the owners and rights that it had.
fn closed(path: &Path, rights: &FolderRights) -> Result<(), String> {
    let folder = files::open_folder_of(path).map_err(|error| error.to_string())?;
    let (uid, gid) = rights.owners;
    rustix::fs::fchown(&folder, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))
        .and_then(|()| rustix::fs::fchmod(&folder, Mode::from_raw_mode(rights.mode & 0o7777)))
        .map_err(|error| error.to_string())
}

/// Moves what stands there aside and puts the earlier content in its place, also where a program that runs makes it again.
fn exchanged(path: &Path, earlier: &Earlier, folders: AsideFolders<'_>) -> Result<ChangeFate, String> {
    let mut fate = aside(path, folders)?;
    for attempt in 0..ATTEMPTS {
        // What is made again in between may be the user's, so it is replaced only where that happens again and again.
        let put = if attempt < KIND_ATTEMPTS { restored(path, earlier) } else { replaced(path, earlier) };
        let Err(why) = put else { return Ok(fate) };
        if path.symlink_metadata().is_ok() {
            // Gone again: the next attempt finds nothing in its way.
            fate = aside(path, folders).unwrap_or(fate);
            continue;
        }
        return match &fate {
            ChangeFate::Aside(copy) if rewritten(copy, path, earlier).is_ok() => Ok(ChangeFate::Restored),
            ChangeFate::Aside(copy) => Err(format!("{why}; previous content is in {}", copy.display())),
            ChangeFate::Removed | ChangeFate::Restored | ChangeFate::Left(_) => Err(why),
        };
    }
    Err("another program keeps recreating it".to_owned())
}

/// Puts the earlier content there in one step, whatever file stands there.
fn replaced(path: &Path, earlier: &Earlier) -> Result<(), String> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err("no name".to_owned()) };
    let new = parent.join(format!(".lisle-{}-{:016x}", std::process::id(), fastrand::u64(..)));
    restored(&new, earlier)?;
    let folder = files::open_folder_of(parent).map_err(|error| error.to_string())?;
    let from = new.file_name().unwrap_or_default();
    rustix::fs::renameat(&folder, from, &folder, name).map_err(|error| {
        // Best effort: the reason of the failure is what counts.
        let _ = restore::discard(&new);
        error.to_string()
    })
}

/// Writes the earlier content into the file that was moved aside, and moves it back: on a full disk there is room for it alone.
fn rewritten(copy: &Path, path: &Path, earlier: &Earlier) -> std::io::Result<()> {
    let how = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = std::fs::File::from(rustix::fs::open(copy, how, Mode::empty())?);
    let meta = file.metadata()?;
    // One with another name is another file too.
    if earlier.is_link() || !meta.is_file() || meta.nlink() != 1 {
        return Err(std::io::ErrorKind::Unsupported.into());
    }
    file.write_all(&earlier.content)?;
    file.set_len(earlier.content.len() as u64)?;
    file.set_permissions(std::fs::Permissions::from_mode(earlier.mode & 0o7777))?;
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(std::io::ErrorKind::InvalidInput.into());
    };
    let to = files::open_folder_of(parent).map_err(std::io::Error::other)?;
    Ok(rustix::fs::renameat_with(rustix::fs::CWD, copy, &to, name, RenameFlags::NOREPLACE)?)
}

fn restored(path: &Path, earlier: &Earlier) -> Result<(), String> {
    let put = || {
        if earlier.is_link() {
            let target = PathBuf::from(OsString::from_vec(earlier.content.clone()));
            restore::link(path, &target, &Attributes::default(), &PathEntry::Absent).map(drop)
        } else {
            restore::file(path, &earlier.content, earlier.mode & 0o7777, &PathEntry::Absent).map(drop)
        }
    };
    put().or_else(|error| if opened(path) { put() } else { Err(error) }).map_err(|error| error.to_string())
}

/// Gives the user the rights on the thing and on the folders above it that are theirs and lack them. True if one lacked some.
fn opened(path: &Path) -> bool {
    let above: Vec<&Path> = path.ancestors().collect();
    // From the outside: an inner one cannot be reached before.
    above.into_iter().rev().filter(|path| unseen::open_up(path)).count() > 0
}

/// Moves what stands there, whatever it is, to a free name in the first of the folders that has room, or else removes it.
fn aside(path: &Path, folders: AsideFolders<'_>) -> Result<ChangeFate, String> {
    let error = match aside_in(path, folders.session, true) {
        Ok(copy) => return Ok(ChangeFate::Aside(copy)),
        Err(error) => error,
    };
    if !matches!(error, Errno::NOSPC | Errno::DQUOT | Errno::IO | Errno::ROFS) {
        return Err(error.to_string());
    }
    match aside_in(path, folders.cwd, false) {
        Ok(copy) => Ok(ChangeFate::Aside(copy)),
        Err(_) => restore::discard(path).map(|()| ChangeFate::Removed).map_err(|_| error.to_string()),
    }
}

/// Moves what stands there to a free name in one folder, which is made. `named`: the name stays in the new one.
fn aside_in(path: &Path, folder: &Path, named: bool) -> Result<PathBuf, Errno> {
    std::fs::create_dir_all(folder).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let to = rustix::fs::open(folder, how, Mode::empty())?;
    let moved = moved(path, folder, &to, named);
    moved.or_else(|error| if opened(path) { self::moved(path, folder, &to, named) } else { Err(error) })
}

/// Next free number of a name in a folder: of many files of one name not each looks for its own.
static NEXT: Mutex<Option<HashMap<(PathBuf, OsString), u64>>> = Mutex::new(None);

fn moved(path: &Path, folder: &Path, to: &OwnedFd, named: bool) -> Result<PathBuf, Errno> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(Errno::INVAL) };
    let from = files::open_folder_of(parent).map_err(|error| of_folder(&error))?;
    let mut next = NEXT.lock().unwrap_or_else(PoisonError::into_inner);
    let number = next.get_or_insert_default().entry((folder.to_owned(), name.to_owned())).or_insert(1);
    loop {
        let free = if named { numbered(*number, name) } else { format!("lisle-aside-{number}").into() };
        match rustix::fs::renameat_with(&from, name, to, &free, RenameFlags::NOREPLACE) {
            Ok(()) => {
                *number += 1;
                return Ok(folder.join(free));
            }
            Err(Errno::EXIST) => *number += 1,
            Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS) => match copied(&from, name, to, &free) {
                Err(Errno::EXIST) => *number += 1,
                Err(error) => {
                    // A part of a copy takes room that the next one may need.
                    let _ = rustix::fs::unlinkat(to, &free, AtFlags::empty());
                    return Err(error);
                }
                Ok(()) => return Ok(folder.join(free)),
            },
            Err(error) => return Err(error),
        }
    }
}

fn of_folder(error: &FileError) -> Errno {
    match error {
        FileError::Io { source, .. } => Errno::from_io_error(source).unwrap_or(Errno::IO),
        FileError::Missing(_) => Errno::NOENT,
        FileError::NoFolder(_) => Errno::NOTDIR,
        FileError::Changed(_) => Errno::LOOP,
        FileError::Directory(_) | FileError::Special(..) | FileError::TooLarge(..) => Errno::INVAL,
    }
}

fn numbered(number: u64, name: &OsStr) -> OsString {
    let mut free = OsString::from(format!("{number}-"));
    // The longest name leaves no room for a number.
    let rest = name.as_bytes();
    free.push(OsStr::from_bytes(rest.get(..LONGEST_NAME).unwrap_or(rest)));
    free
}

/// Bytes of a name that is kept under a number.
const LONGEST_NAME: usize = 200;
/// Depth of folders that are copied to another disk.
const DEEPEST: usize = 100;

/// The same where it cannot be moved: what it holds is copied, then it is removed.
fn copied(from: &OwnedFd, name: &OsStr, to: &OwnedFd, free: &OsStr) -> Result<(), Errno> {
    let kind = rustix::fs::statat(from, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(kind.st_mode) == FileType::Directory {
        return copied_folder(from, name, (to, free), DEEPEST);
    }
    copied_file(from, name, to, free)
}

fn copied_folder(from: &OwnedFd, name: &OsStr, (to, free): (&OwnedFd, &OsStr), depth: usize) -> Result<(), Errno> {
    let below = depth.checked_sub(1).ok_or(Errno::NAMETOOLONG)?;
    rustix::fs::mkdirat(to, free, Mode::from_raw_mode(0o700))?;
    let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let copy = rustix::fs::openat(to, free, how, Mode::empty())?;
    let folder = rustix::fs::openat(from, name, how, Mode::empty())?;
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(&folder)? {
        names.push(OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned());
    }
    for inner in names.iter().filter(|name| *name != "." && *name != "..") {
        let kind = rustix::fs::statat(&folder, inner, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(kind.st_mode) == FileType::Directory {
            copied_folder(&folder, inner, (&copy, inner), below)?;
        } else {
            copied_file(&folder, inner, &copy, inner)?;
        }
    }
    rustix::fs::unlinkat(from, name, AtFlags::REMOVEDIR)
}

fn copied_file(from: &OwnedFd, name: &OsStr, to: &OwnedFd, free: &OsStr) -> Result<(), Errno> {
    let how = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut copy = std::fs::File::from(rustix::fs::openat(to, free, how, Mode::from_raw_mode(0o600))?);
    let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let content = match rustix::fs::openat(from, name, how, Mode::empty()) {
        Ok(file) => {
            let file = std::fs::File::from(file);
            let mut bytes = Vec::new();
            if file.metadata().is_ok_and(|meta| meta.is_file()) {
                file.take(MOST).read_to_end(&mut bytes).map_err(|_| Errno::IO)?;
            }
            bytes
        }
        // Where a link leads is all that it holds; a pipe holds nothing.
        Err(_) => rustix::fs::readlinkat(from, name, Vec::new()).map(|target| target.into_bytes()).unwrap_or_default(),
    };
    copy.write_all(&content).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    rustix::fs::unlinkat(from, name, AtFlags::empty())
}

/// Removes folders that are empty now, from this one up to those that are no part of what is protected.
pub(in crate::tools) fn tidy(path: &Path, cwd: &Path) {
    let folders = path.ancestors().skip(1).take_while(|above| *above != cwd && above.starts_with(cwd));
    for folder in folders {
        let below = folder.strip_prefix(cwd).unwrap_or(folder);
        let of_git = folder.components().any(|part| part.as_os_str().as_bytes() == b".git");
        if of_git
            || !crate::domain::paths::is_protected(below)
            || !restore::remove_folder(folder).is_ok_and(|removed| removed)
        {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::protected_files::ChangedBy;
    use std::os::unix::fs::symlink;

    fn change(path: &Path, what: What) -> GuardedChange {
        GuardedChange { path: path.to_owned(), what, by: ChangedBy::Command }
    }

    #[test]
    fn what_was_done_is_taken_back_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (cwd, kept) = (root.join("p"), root.join("session/protected"));
        std::fs::create_dir_all(cwd.join(".vscode")).unwrap();
        let folders = AsideFolders { session: &kept, cwd: &cwd };
        let at = |name: &str| cwd.join(name);
        let earlier = |content: &str, mode: u32| Some(Earlier { content: content.as_bytes().to_vec(), mode });
        // New.
        std::fs::write(at(".vscode/tasks.json"), "evil").unwrap();
        let fate = put_back(&change(&at(".vscode/tasks.json"), What::Made), folders);
        assert_eq!(fate, ChangeFate::Aside(kept.join("1-tasks.json")));
        assert_eq!(std::fs::read_to_string(kept.join("1-tasks.json")).unwrap(), "evil");
        tidy(&at(".vscode/tasks.json"), &cwd);
        assert!(!at(".vscode").exists() && cwd.exists());
        // Changed, by a link in its place, and gone with its folder.
        symlink("/etc/passwd", at("hook")).unwrap();
        let fate = put_back(&change(&at("hook"), What::Changed(earlier("mine", 0o100_755))), folders);
        assert_eq!(fate, ChangeFate::Aside(kept.join("1-hook")));
        assert!(!at("hook").is_symlink() && kept.join("1-hook").is_symlink());
        assert_eq!(std::fs::metadata(at("hook")).unwrap().permissions().mode() & 0o777, 0o755);
        // What was written through its other name later stays there.
        std::fs::hard_link(at("hook"), at("other")).unwrap();
        let fate = put_back(&change(&at("hook"), What::Linked(earlier("mine", 0o100_755))), folders);
        std::fs::write(at("other"), "evil").unwrap();
        assert_eq!((fate, std::fs::read_to_string(at("hook")).unwrap().as_str()), (ChangeFate::Restored, "mine"));
        let fate = put_back(&change(&at("sub/.envrc"), What::Gone(earlier("target", 0o120_777))), folders);
        assert_eq!((fate, std::fs::read_link(at("sub/.envrc")).unwrap()), (ChangeFate::Restored, "target".into()));
        // What is not known to be as it was takes no effect either, and nothing is followed.
        std::fs::write(at("x"), "new").unwrap();
        let fate = put_back(&change(&at("x"), What::Changed(None)), folders);
        assert_eq!((fate, at("x").exists()), (ChangeFate::Aside(kept.join("1-x")), false));
        std::fs::create_dir(root.join("outside")).unwrap();
        std::fs::write(root.join("outside/f"), "mine").unwrap();
        symlink(root.join("outside"), at("lure")).unwrap();
        assert!(matches!(put_back(&change(&at("lure/f"), What::Made), folders), ChangeFate::Left(_)));
        assert_eq!(std::fs::read_to_string(root.join("outside/f")).unwrap(), "mine");
    }

    #[test]
    fn rights_that_a_command_took_away_keep_nothing_in_its_place() {
        if rustix::process::geteuid().is_root() {
            return eprintln!("not tested: root has all rights");
        }
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (cwd, kept) = (root.join("p"), root.join("kept"));
        std::fs::create_dir_all(cwd.join("zz/.git/hooks")).unwrap();
        std::fs::write(cwd.join("zz/.git/config"), "evil").unwrap();
        for (folder, mode) in [("zz/.git/hooks", 0o000), ("zz/.git", 0o555), ("zz", 0o111)] {
            std::fs::set_permissions(cwd.join(folder), std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let earlier = Earlier { content: b"mine".to_vec(), mode: 0o100_644 };
        let fate = put_back(
            &change(&cwd.join("zz/.git/config"), What::Changed(Some(earlier))),
            AsideFolders { session: &kept, cwd: &cwd },
        );
        assert_eq!(fate, ChangeFate::Aside(kept.join("1-config")));
        assert_eq!(std::fs::read_to_string(cwd.join("zz/.git/config")).unwrap(), "mine");
        let hooks = change(&cwd.join("zz/.git/hooks"), What::Unseen(Unseen::Barred));
        assert_eq!(
            put_back(&hooks, AsideFolders { session: &kept, cwd: &cwd }),
            ChangeFate::Aside(kept.join("1-hooks"))
        );
    }

    #[test]
    fn a_folder_goes_aside_as_a_whole_at_any_depth() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let mut deep = root.join("p");
        std::fs::create_dir(&deep).unwrap();
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut open = rustix::fs::open(&deep, how, Mode::empty()).unwrap();
        for _ in 0..24 {
            let name = "d".repeat(250);
            rustix::fs::mkdirat(&open, name.as_str(), Mode::from_raw_mode(0o755)).unwrap();
            open = rustix::fs::openat(&open, name.as_str(), how, Mode::empty()).unwrap();
            deep.push(name);
        }
        assert!(deep.symlink_metadata().is_err(), "no path of the system leads there");
        let fate = put_back(
            &change(&deep, What::Unseen(Unseen::Barred)),
            AsideFolders { session: &root.join("kept"), cwd: &root },
        );
        let ChangeFate::Aside(copy) = fate else { panic!("{fate:?}") };
        assert!(copy.is_dir());
    }

    /// A small file system of its own that is full, where one may be mounted.
    fn full_disk(at: &Path, inodes: bool) -> bool {
        std::fs::create_dir_all(at).unwrap();
        let options = if inodes { "size=1m,nr_inodes=12" } else { "size=64k" };
        let mount = std::process::Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(at).output();
        mount.is_ok_and(|mount| mount.status.success())
    }

    struct Unmounted<'a>(&'a Path);

    impl Drop for Unmounted<'_> {
        fn drop(&mut self) {
            let _ = std::process::Command::new("umount").args(["-l"]).arg(self.0).output();
        }
    }

    fn fill(folder: &Path) {
        let names = (0..).map(|n| folder.join(format!("full{n}")));
        let fills = |path: PathBuf| std::fs::write(path, vec![1; 4096]);
        assert!(names.map(fills).take(1_000).any(|made| made.is_err()));
        // What is left of the last page.
        let mut last = std::fs::File::options().append(true).open(folder.join("full0")).unwrap();
        while last.write_all(&[1; 64]).is_ok() {}
    }

    #[test]
    fn nothing_takes_effect_on_a_full_disk() {
        for (inodes, one_disk) in [(false, true), (false, false), (true, true), (true, false)] {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().canonicalize().unwrap();
            let small = root.join("small");
            if !full_disk(&small, inodes) {
                return eprintln!("not tested: nothing may be mounted");
            }
            let _end = Unmounted(&small);
            // The session lies on the full disk, the project there, too, or beside it.
            let cwd = if one_disk { small.join("p") } else { root.join("p") };
            let session = small.join("session");
            for folder in [&session, &cwd.join(".git"), &cwd.join(".github")] {
                std::fs::create_dir_all(folder).unwrap();
            }
            std::fs::write(cwd.join(".envrc"), "evil").unwrap();
            std::fs::write(cwd.join(".git/config"), "evil, and as long as before").unwrap();
            fill(&small);
            let kept = session.join("protected");
            let folders = AsideFolders { session: &kept, cwd: &cwd };
            let fates = [
                put_back(&change(&cwd.join(".envrc"), What::Made), folders),
                put_back(&change(&cwd.join(".github"), What::Unseen(Unseen::Barred)), folders),
            ];
            assert!(fates.iter().all(|fate| matches!(fate, ChangeFate::Aside(_) | ChangeFate::Removed)), "{fates:?}");
            assert!(!cwd.join(".envrc").exists() && !cwd.join(".github").exists());
            let earlier = Earlier { content: b"[core]".to_vec(), mode: 0o100_640 };
            let fate = put_back(&change(&cwd.join(".git/config"), What::Changed(Some(earlier))), folders);
            assert!(!matches!(fate, ChangeFate::Left(_)), "{inodes} {one_disk}: {fate:?}");
            let config = cwd.join(".git/config");
            assert_eq!(std::fs::read_to_string(&config).unwrap(), "[core]", "{inodes} {one_disk}");
            assert_eq!(config.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        }
    }

    #[test]
    fn what_a_program_makes_again_and_again_is_put_back() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (config, kept) = (root.join("p/config"), root.join("kept"));
        std::fs::create_dir_all(root.join("p")).unwrap();
        std::fs::write(&config, "evil").unwrap();
        let (stop, again) = (std::sync::atomic::AtomicBool::new(false), config.clone());
        std::thread::scope(|scope| {
            // It makes the file the moment that it is gone.
            scope.spawn(|| {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    let made = std::fs::File::options().write(true).create_new(true).open(&again);
                    let _ = made.map(|mut made| made.write_all(b"evil"));
                }
            });
            for _ in 0..200 {
                let earlier = Earlier { content: b"mine".to_vec(), mode: 0o100_644 };
                let folders = AsideFolders { session: &kept, cwd: &root };
                let fate = put_back(&change(&config, What::Changed(Some(earlier))), folders);
                if matches!(fate, ChangeFate::Left(_)) {
                    stop.store(true, std::sync::atomic::Ordering::Relaxed);
                    panic!("{fate:?}");
                }
                assert_eq!(std::fs::read_to_string(&config).unwrap(), "mine");
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    }

    #[test]
    fn what_cannot_be_moved_is_copied() {
        let dir = tempfile::tempdir().unwrap();
        let open = |name: &str| {
            std::fs::create_dir(dir.path().join(name)).unwrap();
            rustix::fs::open(dir.path().join(name), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap()
        };
        let (from, to) = (open("from"), open("to"));
        std::fs::write(dir.path().join("from/f"), "text").unwrap();
        symlink("there", dir.path().join("from/l")).unwrap();
        for (name, content) in [("f", "text"), ("l", "there")] {
            copied(&from, OsStr::new(name), &to, OsStr::new(name)).unwrap();
            assert_eq!(std::fs::read_to_string(dir.path().join("to").join(name)).unwrap(), content);
        }
        std::fs::create_dir_all(dir.path().join("from/d/e")).unwrap();
        std::fs::write(dir.path().join("from/d/e/f"), "inner").unwrap();
        copied(&from, OsStr::new("d"), &to, OsStr::new("1-d")).unwrap();
        assert_eq!(std::fs::read_to_string(dir.path().join("to/1-d/e/f")).unwrap(), "inner");
        assert_eq!(std::fs::read_dir(dir.path().join("from")).unwrap().count(), 0);
    }
}
