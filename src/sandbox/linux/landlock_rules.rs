//! The rules of Landlock for a held command: which places it may read and write, which ports, sockets and processes reach.
//!
//! They apply with namespaces and without. With a root of its own everything in it may be read;
//! without, the list of the profile decides, and of the rest only names, sizes and times are
//! visible.

use super::links::Paths;
use super::mounts::place_in;
use super::root_fs::DEVICES;
use crate::sandbox::profile::{Bounds, Profile};
use crate::sandbox::working_folder::FolderNumber;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use rustix::fs::{FileType, Mode, OFlags};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The newest rules that are asked for. What a kernel does not know of them is made up for by the filter of calls.
pub(in crate::sandbox) const NEWEST: ABI = ABI::V9;
/// Kernels without these rules cannot hold a command.
pub(in crate::sandbox) const OLDEST: ABI = ABI::V2;

/// Facts about the process when the rules are made.
#[derive(Clone, Copy, Debug)]
pub(in crate::sandbox) struct Setting {
    pub(in crate::sandbox) abi: ABI,
    /// The process has a root of its own, made for the profile.
    pub(in crate::sandbox) own_root: bool,
    /// True if it reaches no network, and must not where it shares the system's.
    pub(in crate::sandbox) offline: bool,
}

/// True if this kernel can confine a command. Changes nothing.
pub(in crate::sandbox) fn are_possible() -> bool {
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(OLDEST))
        .and_then(Ruleset::create);
    rules.is_ok()
}

/// Closes this process in, for good.
///
/// # Errors
/// A sentence why not.
pub(in crate::sandbox) fn apply(profile: &Profile, setting: Setting) -> Result<(), String> {
    let Some(bounds) = profile.bounds() else { return Ok(()) };
    let rules = rules(bounds, matches!(profile, Profile::ReadOnly(_)), setting);
    let status = rules.and_then(RulesetCreated::restrict_self).map_err(|e| format!("Landlock: {e}"))?;
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return Err("Landlock is not enforced by this kernel".to_owned());
    }
    Ok(())
}

type Rules = Result<RulesetCreated, RulesetError>;

fn rules(bounds: &Bounds, reads: bool, setting: Setting) -> Rules {
    let Setting { abi, own_root, offline } = setting;
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(OLDEST))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))?;
    if abi >= ABI::V4 && offline {
        rules = rules.handle_access(AccessNet::from_all(abi))?;
    }
    if abi >= ABI::V6 {
        // Signals and abstract sockets stay among the command's own processes.
        rules = rules.scope(Scope::from_all(abi))?;
    }
    let mut rules = rules.create()?;

    let reading = AccessFs::from_read(abi);
    // Devices and sockets are made nowhere by what only reads, and a device that is made could be a disk.
    let kinds = AccessFs::MakeChar | AccessFs::MakeBlock;
    let kinds = if reads { kinds | AccessFs::MakeSock } else { kinds };
    // A socket that lies there can be that of a program outside; those of the command's own processes need no rule.
    let writing = AccessFs::from_all(abi) & !(kinds | AccessFs::ResolveUnix);

    let mut places: Vec<(PathBuf, BitFlags<AccessFs>)> = Vec::new();
    let mut grant = |path: &Path, access: BitFlags<AccessFs>| places.push((path.to_owned(), access));
    if own_root {
        grant(Path::new("/"), reading);
    } else {
        bounds.readable.iter().for_each(|path| grant(path, reading));
        // Of other processes the kernel's own rule for attaching holds what is not theirs to read.
        grant(Path::new("/proc"), reading);
    }
    for name in DEVICES {
        let access = if reads && *name != "null" { reading } else { writing };
        grant(&Path::new("/dev").join(name), access);
    }
    bounds.devices.iter().for_each(|path| grant(path, writing));
    if own_root && !reads {
        // Without a root of its own these would be those of the user, too.
        ["/dev/shm", "/dev/pts", "/dev/tty"].iter().for_each(|path| grant(Path::new(path), writing));
    }
    bounds.writable.iter().for_each(|path| grant(path, writing));
    let sockets = AccessFs::from_all(abi) & AccessFs::ResolveUnix;
    for replaced in &bounds.replaced {
        let path = if own_root { &replaced.at } else { &replaced.with };
        // Sockets in it are those of the session's own commands.
        grant(path, if reads { reading } else { writing | sockets });
    }
    bounds.sockets.iter().for_each(|path| grant(path, reading | sockets));
    let mut paths = Paths::new(bounds);
    // What is written is not split: a command reads what it makes.
    let unread = UnreadPlaces::of(if reads && !own_root { &bounds.unread } else { &[] });
    for (path, access) in places {
        // A link that a command could have laid opens nothing.
        let Some(real) = paths.open(&path) else { continue };
        let place = real.held;
        let is_other = |place: &OwnedFd| {
            bounds.folder.as_ref().is_some_and(|(cwd, folder)| *cwd == path && FolderNumber::of(place) != Some(*folder))
        };
        // Nor does another folder in the place of the working directory.
        if let Some(place) = place.filter(|place| !is_other(place)) {
            rules = if access == reading {
                split(rules, (place, &real.path), &unread, (access, abi))?
            } else {
                allow(rules, place, access, abi)?
            };
        }
    }
    Ok(rules)
}

/// Secret places that are not opened.
struct UnreadPlaces {
    places: HashSet<PathBuf>,
    /// Folders above them.
    ways: HashSet<PathBuf>,
    /// Files among them by device and number: another name of one is the same file to a rule.
    files: HashSet<(u64, u64)>,
}

impl UnreadPlaces {
    fn of(paths: &[PathBuf]) -> Self {
        let ways = paths.iter().flat_map(|path| path.ancestors().skip(1)).map(Path::to_owned).collect();
        let files = paths.iter().filter_map(|path| path.symlink_metadata().ok()).filter(|meta| meta.is_file());
        let files = files.map(|meta| (meta.dev(), meta.ino())).collect();
        Self { places: paths.iter().cloned().collect(), ways, files }
    }

    fn holds(&self, path: &Path, place: &OwnedFd) -> bool {
        let is_same = |stat: rustix::fs::Stat| self.files.contains(&(stat.st_dev, stat.st_ino));
        self.places.contains(path) || rustix::fs::fstat(place).is_ok_and(is_same)
    }
}

/// Grants reading of a place but for what is not opened: a folder on the way there is listed, and all else in it granted by
/// itself. Each is opened from the folder above, and a link opens nothing: no path is walked twice.
fn split(
    mut rules: RulesetCreated,
    (place, path): (OwnedFd, &Path),
    unread: &UnreadPlaces,
    (access, abi): (BitFlags<AccessFs>, ABI),
) -> Rules {
    // One that was named within a hidden place is meant.
    if unread.holds(path, &place) {
        return Ok(rules);
    }
    if !unread.ways.contains(path) {
        return allow(rules, place, access, abi);
    }
    let listed = rustix::fs::openat(&place, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let names = listed.and_then(rustix::fs::Dir::read_from);
    for entry in names.into_iter().flatten().flatten() {
        let name = Path::new(OsStr::from_bytes(entry.file_name().to_bytes()));
        if name == Path::new(".") || name == Path::new("..") {
            continue;
        }
        let below = place_in(&place, name);
        let is_link =
            |fd: &OwnedFd| rustix::fs::fstat(fd).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_symlink());
        if let Some(below) = below.ok().filter(|below| !is_link(below)) {
            rules = split(rules, (below, &path.join(name)), unread, (access, abi))?;
        }
    }
    allow(rules, place, AccessFs::ReadDir.into(), abi)
}

/// Adds a place that is there; a file takes the rights of files.
fn allow(rules: RulesetCreated, fd: OwnedFd, access: BitFlags<AccessFs>, abi: ABI) -> Rules {
    let is_folder =
        rustix::fs::fstat(&fd).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory);
    let access = if is_folder { access } else { access & AccessFs::from_file(abi) };
    if access.is_empty() { Ok(rules) } else { rules.add_rule(PathBeneath::new(fd, access)) }
}
