//! The file system of a held command: a new root that holds what the profile names and nothing else.
//!
//! Every place of the profile is cloned as a mount and attached in an empty file system, which then becomes the root; the
//! old one is gone. Parents of what is shown are empty folders. Links on the way to a place are laid anew, so that both the
//! link and what it leads to work.
//!
//! Folders that commands write are not to be trusted: a command may have laid a link in them a moment ago. Such links are
//! not followed, and mount points are made there one folder at a time.

use super::covers::{Covers, ShownPlace};
use super::links::{Paths, RealPlace, protected_places, resolved};
use super::mounts::{self, attach, clone_of, place, place_in, set};
use super::pid_namespace::Inside;
use crate::sandbox::profile::{Bounds, Replaced};
use crate::sandbox::working_folder::FolderNumber;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Treatment of a path in the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PlaceKind {
    /// Readable.
    Readable,
    /// Writable.
    Writable,
    /// Writable, and a mount even where that is not needed: such a folder cannot be moved or replaced.
    Pinned,
    /// Another folder is there, which can be written.
    Replaced,
    /// Readable, though what lies around it is writable.
    Protected,
}

/// A place in the new root.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RootPlace {
    /// Path at which it appears.
    at: PathBuf,
    /// Path of its content.
    from: PathBuf,
    kind: PlaceKind,
}

/// Access of a command in its root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sandbox) enum RootRole {
    /// Reading: folders that replace others are read-only, and there are no terminals.
    Reads,
    /// Writing: it gets terminals of its own, and writes what the profile says.
    Writes,
}

/// Devices that are harmless.
pub(in crate::sandbox) const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom"];

/// A place whose mount is at hand.
#[derive(Debug)]
struct Cloned {
    place: RootPlace,
    is_folder: bool,
    mount: OwnedFd,
}

fn what(what: &'static str) -> impl Fn(Errno) -> String {
    move |e| format!("can't create the command's root ({what}): {e}")
}

fn not_mounted(path: &Path) -> impl Fn(Errno) -> String {
    move |e| format!("can't mount {}: {e}", path.display())
}

/// Gives this process its own root, in the namespace that it has just entered. `cwd` is where it goes on; without processes
/// of its own the system's `/proc` is there. Openings of masked places are noted where `inside` has a queue for them.
///
/// # Errors
/// A sentence why not. The process must not go on then: it is half of one and half of the other.
pub(in crate::sandbox) fn build(bounds: &Bounds, role: RootRole, inside: &Inside, cwd: &Path) -> Result<(), String> {
    let processes = inside.processes.as_ref();
    let slash = place(Path::new("/")).map_err(what("/"))?;
    set(&slash, &mounts::PRIVATE).map_err(what("private mounts"))?;
    let mask = rustix::process::umask(Mode::empty());

    // Cloned while everything is as it was.
    let plan = plan(bounds)?;
    let mut shown = cloned(plan.shown, &plan.held)?;
    drop(plan.held);
    let devices = devices(bounds);
    let system_processes = match processes {
        Some(_) => None,
        None => Some(place(Path::new("/proc")).and_then(clone_of).map_err(what("/proc"))?),
    };
    let whole = shown.first().is_some_and(|one| one.place.at.parent().is_none()).then(|| shown.remove(0).mount);
    let is_whole = whole.is_some();
    let names = Covers::names(bounds)?;
    let (stage, top) = stage(whole)?;

    if !is_whole {
        mount_points(&top, &shown, &plan.links, cwd)?;
    }
    let kinds: HashMap<&Path, PlaceKind> = shown.iter().map(|one| (&*one.place.at, one.place.kind)).collect();
    let (plain, rest): (Vec<&Cloned>, Vec<&Cloned>) = shown.iter().partition(|one| {
        let mut around = one.place.at.ancestors().filter_map(|path| kinds.get(path));
        !is_whole && around.all(|kind| *kind == PlaceKind::Readable)
    });
    for one in plain {
        // What is of another kind by now is not shown.
        if let Err(e) = put(&top, &one.place, &one.mount, None)
            && place(&one.place.from).is_ok_and(|from| is_folder(&from) == Ok(one.is_folder))
        {
            return Err(not_mounted(&one.place.at)(e));
        }
    }
    if !(is_whole && bounds.writable.iter().any(|path| path.parent().is_none())) {
        set(&top, &mounts::READ_ONLY).map_err(what("read-only"))?;
    }
    // What is written, and what is read-only in it, outer places first.
    for one in rest {
        put_inside(&top, &kinds, one, role)?;
    }

    let slash = is_whole.then(|| ShownPlace { at: Path::new("/"), is_own: true });
    let places = shown.iter().map(|Cloned { place, .. }| ShownPlace { at: &place.at, is_own: place.at == place.from });
    let places: Vec<ShownPlace<'_>> = slash.into_iter().chain(places).collect();
    Covers::new(&stage, &top, names, &places, cwd)?.hide(bounds, inside.queue.as_ref())?;
    furnish(&stage, &top, role, &devices).map_err(what("/dev"))?;
    let processes = processes.or(system_processes.as_ref());
    if let (Some(processes), Ok(point)) = (processes, place_in(&top, Path::new("proc"))) {
        attach(processes, point).map_err(what("/proc"))?;
    }
    rustix::process::umask(mask);
    mounts::become_root(&top).map_err(what("the change of root"))?;
    // The directory that this process was in is gone with the old root.
    std::env::set_current_dir(cwd).map_err(|e| format!("the working directory is gone: {e}"))?;
    bounds.folder.as_ref().map_or(Ok(()), |(_, folder)| folder.check_current())
}

/// Clones the mounts of places; those that are gone are left out.
fn cloned(places: Vec<RootPlace>, held: &HashMap<PathBuf, OwnedFd>) -> Result<Vec<Cloned>, String> {
    let mut out = Vec::with_capacity(places.len());
    for one in places {
        let opened;
        let from = match held.get(&one.from) {
            Some(from) => from,
            None => match place(&one.from) {
                Ok(from) => {
                    opened = from;
                    &opened
                }
                Err(e) if is_gone(e) => continue,
                Err(e) => return Err(format!("{} changed while the command was started: {e}", one.from.display())),
            },
        };
        let is_folder = is_folder(from).map_err(what("a place"))?;
        match clone_of(from) {
            Ok(mount) => out.push(Cloned { place: one, is_folder, mount }),
            // Some kernels mount no links; what a command makes of one is seen afterwards.
            Err(_) if is_link(from) => {}
            Err(e) => return Err(not_mounted(&one.from)(e)),
        }
    }
    Ok(out)
}

/// All that is made lies in one file system in memory, which is attached where nothing is needed any more. With it comes the
/// new root, which is empty or `whole`.
fn stage(whole: Option<OwnedFd>) -> Result<(OwnedFd, OwnedFd), String> {
    let stage = mounts::memory().map_err(what("memory"))?;
    place(Path::new("/proc")).and_then(|proc| attach(&stage, proc)).map_err(what("memory"))?;
    rustix::fs::mkdirat(&stage, "root", FOLDER).map_err(what("a folder"))?;
    let root = place_in(&stage, Path::new("root")).map_err(what("a folder"))?;
    let top = whole.map_or_else(|| clone_of(&root), Ok).map_err(what("root"))?;
    attach(&top, &root).map_err(what("root"))?;
    Ok((stage, top))
}

/// Makes mount points and links, while the empty root can be written. What lies in another place has its own there.
fn mount_points(top: &OwnedFd, shown: &[Cloned], links: &[(PathBuf, PathBuf)], cwd: &Path) -> Result<(), String> {
    for name in ["proc", "dev"] {
        rustix::fs::mkdirat(top, name, FOLDER).map_err(what("a mount point"))?;
    }
    let mut covered: Vec<&Path> = Vec::new();
    for Cloned { place, is_folder, .. } in shown {
        if covered.last().is_some_and(|above| place.at.starts_with(above)) {
            continue;
        }
        make(top, below(&place.at), *is_folder).map_err(|e| format!("{}: {e}", place.at.display()))?;
        covered.push(&place.at);
    }
    for (link, target) in links {
        lay(top, below(link), target).map_err(|e| format!("{}: {e}", link.display()))?;
    }
    if !covered.iter().any(|above| cwd.starts_with(above)) {
        // It is there, and empty.
        make(top, below(cwd), true).map_err(|e| format!("{}: {e}", cwd.display()))?;
    }
    Ok(())
}

/// Attaches a place that is written, or lies in one that is.
fn put_inside(top: &OwnedFd, kinds: &HashMap<&Path, PlaceKind>, one: &Cloned, role: RootRole) -> Result<(), String> {
    let Cloned { place, is_folder, mount } = one;
    let read_only = match place.kind {
        PlaceKind::Readable | PlaceKind::Protected => true,
        PlaceKind::Replaced => role == RootRole::Reads,
        PlaceKind::Writable | PlaceKind::Pinned => false,
    };
    let attributes = if read_only { &mounts::READ_ONLY } else { &mounts::WRITABLE };
    set(mount, attributes).map_err(not_mounted(&place.at))?;
    let nearest = place.at.ancestors().skip(1).find_map(|path| Some((path, kinds.get(path)?)));
    if let Some((at, PlaceKind::Replaced)) = nearest
        && let Err(e) = make_inside(top, at, &place.at, *is_folder)
        // A read-only one has what was made there for earlier commands.
        && place_in(top, below(&place.at)).is_err()
    {
        return Err(not_mounted(&place.at)(e));
    }
    put(top, place, mount, Some(attributes)).map_err(not_mounted(&place.at))
}

/// So often something is tried that another program at work in the same folder foils.
pub(in crate::sandbox) const TRIES: usize = 200;

/// Attaches a place. Another program may remove or replace what stands there at this moment, so it is cloned anew until
/// both are the same. What was removed needs no protection, and what is to replace it has no place.
fn put(top: &OwnedFd, one: &RootPlace, clone: &OwnedFd, attributes: Option<&libc::mount_attr>) -> Result<(), Errno> {
    let mut anew = None;
    let mut error = Errno::AGAIN;
    for _ in 0..TRIES {
        let point = match place_in(top, below(&one.at)) {
            Ok(point) => point,
            Err(e) if is_gone(e) => return Ok(()),
            Err(e) => return Err(e),
        };
        match attach(anew.as_ref().unwrap_or(clone), &point) {
            Ok(()) => return Ok(()),
            Err(_) if is_link(&point) && one.kind == PlaceKind::Protected => return Ok(()),
            Err(e) => error = e,
        }
        anew = match place(&one.from) {
            Ok(from) => match clone_of(&from) {
                Ok(clone) => {
                    attributes.map_or(Ok(()), |attributes| set(&clone, attributes))?;
                    Some(clone)
                }
                Err(_) => continue,
            },
            Err(e) if is_gone(e) => None,
            Err(e) => return Err(e),
        };
    }
    Err(error)
}

/// Nothing is at a path any more, or what led there is a link or a file now.
pub(in crate::sandbox) fn is_gone(error: Errno) -> bool {
    matches!(error, Errno::NOENT | Errno::NOTDIR | Errno::LOOP)
}

fn is_link(place: &OwnedFd) -> bool {
    rustix::fs::fstat(place).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

/// The path as it is written in a folder that stands for `/`.
pub(in crate::sandbox) fn below(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

pub(in crate::sandbox) fn is_folder(place: &OwnedFd) -> Result<bool, Errno> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(place)?.st_mode) == FileType::Directory)
}

pub(in crate::sandbox) const FOLDER: Mode = Mode::from_raw_mode(0o755);
const FILE: Mode = Mode::from_raw_mode(0o644);

/// Makes a mount point with its parents, where nobody else makes anything.
fn make(top: impl AsFd, path: &Path, is_folder: bool) -> Result<(), Errno> {
    let top = top.as_fd();
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    let attempt = || {
        if is_folder {
            rustix::fs::mkdirat(top, path, FOLDER)
        } else {
            rustix::fs::mknodat(top, path, FileType::RegularFile, FILE, 0)
        }
    };
    match attempt() {
        Err(Errno::NOENT) => {
            if let Some(parent) = path.parent() {
                make(top, parent, true)?;
            }
            attempt().or_else(there)
        }
        other => other.or_else(there),
    }
}

pub(in crate::sandbox) fn there(error: Errno) -> Result<(), Errno> {
    if error == Errno::EXIST { Ok(()) } else { Err(error) }
}

/// Lays a link.
fn lay(top: impl AsFd, path: &Path, target: &Path) -> Result<(), Errno> {
    let top = top.as_fd();
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        make(top, parent, true)?;
    }
    rustix::fs::symlinkat(target, top, path).or_else(there)
}

/// Makes a mount point in a folder that earlier commands wrote: what is no folder on the way makes room.
fn make_inside(top: impl AsFd, outer: &Path, path: &Path, is_folder: bool) -> Result<(), Errno> {
    let mut dir = place_in(top, below(outer))?;
    let names: Vec<&OsStr> = path.strip_prefix(outer).unwrap_or(path).iter().collect();
    let Some((last, parents)) = names.split_last() else { return Ok(()) };
    for name in parents {
        dir = folder_in(&dir, name)?;
    }
    if is_folder {
        return folder_in(&dir, last).map(|_| ());
    }
    let there = rustix::fs::statat(&dir, *last, AtFlags::SYMLINK_NOFOLLOW);
    if there.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile) {
        return Ok(());
    }
    let _ = rustix::fs::unlinkat(&dir, *last, AtFlags::empty());
    rustix::fs::mknodat(&dir, *last, FileType::RegularFile, FILE, 0)
}

fn folder_in(dir: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let open = || {
        let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(dir, name, how, Mode::empty())
    };
    match open() {
        Err(Errno::NOTDIR | Errno::LOOP) => {
            rustix::fs::unlinkat(dir, name, AtFlags::empty())?;
        }
        Err(Errno::NOENT) => {}
        other => return other,
    }
    rustix::fs::mkdirat(dir, name, FOLDER).or_else(there)?;
    open()
}

/// The device files that a profile names, cloned.
fn devices(bounds: &Bounds) -> Vec<(PathBuf, bool, OwnedFd)> {
    let harmless = DEVICES.iter().map(|name| Path::new("/dev").join(name));
    let named = bounds.devices.iter().filter(|path| path.starts_with("/dev")).cloned();
    let cloned = |path: PathBuf| {
        let name = path.strip_prefix("/dev").ok()?.to_owned();
        let from = place(&resolved(&path).ok()?).ok()?;
        Some((name, is_folder(&from).ok()?, clone_of(&from).ok()?))
    };
    harmless.chain(named).filter_map(cloned).collect()
}

/// Makes `/dev`.
fn furnish(stage: &OwnedFd, top: &OwnedFd, role: RootRole, devices: &[(PathBuf, bool, OwnedFd)]) -> Result<(), Errno> {
    let Ok(point) = place_in(top, Path::new("dev")) else { return Ok(()) };
    rustix::fs::mkdirat(stage, "dev", FOLDER)?;
    let dev = place_in(stage, Path::new("dev"))?;
    for (name, is_folder, _) in devices {
        make(&dev, name, *is_folder)?;
    }
    for (name, target) in [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ] {
        rustix::fs::symlinkat(target, &dev, name).or_else(there)?;
    }
    let terminals = if role == RootRole::Writes { mounts::terminals().ok() } else { None };
    if terminals.is_some() {
        make(&dev, Path::new("pts"), true)?;
        make(&dev, Path::new("tty"), false)?;
        rustix::fs::symlinkat("pts/ptmx", &dev, "ptmx").or_else(there)?;
    }
    let shared = role == RootRole::Writes;
    if shared {
        make(&dev, Path::new("shm"), true)?;
        rustix::fs::mkdirat(stage, "shm", Mode::from_raw_mode(0o1777))?;
        rustix::fs::chmodat(stage, "shm", Mode::from_raw_mode(0o1777), AtFlags::empty())?;
    }
    let all = clone_of(&dev)?;
    set(&all, &mounts::READ_ONLY)?;
    attach(&all, point)?;
    for (name, _, device) in devices {
        set(device, &mounts::DEVICE)?;
        place_in(&all, name).and_then(|point| attach(device, point))?;
    }
    if let Some(terminals) = terminals {
        place_in(&all, Path::new("pts")).and_then(|point| attach(&terminals, point))?;
        // The terminal of whoever opens it, which can be one of its own alone.
        if let Ok(tty) = place(Path::new("/dev/tty")).and_then(clone_of) {
            set(&tty, &mounts::DEVICE)?;
            place_in(&all, Path::new("tty")).and_then(|point| attach(&tty, point))?;
        }
    }
    if shared {
        let memory = clone_of(place_in(stage, Path::new("shm"))?)?;
        place_in(&all, Path::new("shm")).and_then(|point| attach(&memory, point))?;
    }
    Ok(())
}

/// Content of the new root.
#[derive(Debug, Default)]
struct RootPlan {
    /// Outer places first; those that change nothing are left out.
    shown: Vec<RootPlace>,
    /// Links and what they say.
    links: Vec<(PathBuf, PathBuf)>,
    /// Contents of places that were opened when their paths were resolved.
    held: HashMap<PathBuf, OwnedFd>,
}

/// Places of the profile's lists, but for those that only take away.
///
/// # Errors
/// As [`plan`].
fn listed(
    bounds: &Bounds,
    paths: &mut Paths,
    mut hold: impl FnMut(RealPlace) -> PathBuf,
) -> Result<Vec<RootPlace>, String> {
    let mut all: Vec<RootPlace> = Vec::new();
    let pins: Vec<PathBuf> = bounds.pins().cloned().collect();
    for (list, kind) in [
        (&bounds.readable[..], PlaceKind::Readable),
        (&bounds.sockets[..], PlaceKind::Readable),
        (&bounds.writable[..], PlaceKind::Writable),
        (&pins[..], PlaceKind::Pinned),
    ] {
        for path in list {
            let Some((at, from)) = paths.shown(path, &bounds.replaced) else { continue };
            if let Some((cwd, folder)) = &bounds.folder
                && cwd == path
                && from.held.as_ref().and_then(FolderNumber::of) != Some(*folder)
            {
                return Err(format!("{} was replaced by another folder", path.display()));
            }
            all.push(RootPlace { at, from: hold(from), kind });
        }
    }
    for Replaced { at, with } in &bounds.replaced {
        // lisle's own folder, in which a stranger may have laid a link.
        if with.is_symlink() {
            return Err(format!("{} is a link", with.display()));
        }
        // The place itself need not be there.
        let at = paths.open(at).map_or_else(|| at.clone(), |place| place.path);
        if let Some(from) = paths.open(with).filter(|_| at.is_absolute()) {
            all.push(RootPlace { at, from: hold(from), kind: PlaceKind::Replaced });
        }
    }
    Ok(all)
}

/// Parts of it, with the places where they are shown.
///
/// # Errors
/// A sentence when the working directory is another folder, or a link stands in the place of a folder of lisle's own.
fn plan(bounds: &Bounds) -> Result<RootPlan, String> {
    let mut paths = Paths::new(bounds);
    let mut held = HashMap::new();
    let mut all = listed(bounds, &mut paths, |place| {
        held.extend(place.held.map(|fd| (place.path.clone(), fd)));
        place.path
    })?;
    // A link that leads there is as good as the place, for what only takes away, and is not to be replaced either.
    all.extend(protected_places(bounds).into_iter().map(|path| RootPlace {
        at: path.clone(),
        from: path,
        kind: PlaceKind::Protected,
    }));
    // These are made anew.
    all.retain(|one| !["/dev", "/proc"].iter().any(|own| one.at.starts_with(own)));
    // By path, so that what lies above comes first; of the same path the strictest word is the last one and counts.
    all.sort_by(|a, b| (&a.at, a.kind).cmp(&(&b.at, b.kind)));
    all.dedup_by(|later, earlier| {
        let same = later.at == earlier.at;
        if same {
            std::mem::swap(earlier, later);
        }
        same
    });
    let mut shown: Vec<RootPlace> = Vec::with_capacity(all.len());
    let mut kinds: HashMap<PathBuf, PlaceKind> = HashMap::new();
    for one in all {
        let above = one.at.ancestors().skip(1).find_map(|path| kinds.get(path)).copied();
        let writes = matches!(above, Some(PlaceKind::Writable | PlaceKind::Pinned));
        let as_above = match one.kind {
            PlaceKind::Readable => writes || matches!(above, Some(PlaceKind::Readable | PlaceKind::Protected)),
            PlaceKind::Writable => writes,
            PlaceKind::Pinned => false,
            PlaceKind::Replaced => false,
            // Where nothing above is writable all is read-only anyway, or is not there; in a folder that stands in the place of
            // another one there is nothing of what is protected. It takes away, and never shows what nothing else does.
            PlaceKind::Protected => !writes,
        };
        if !as_above {
            kinds.insert(one.at.clone(), one.kind);
            shown.push(one);
        }
    }
    // Links at the top lead to what programs name by them: `/bin`, `/lib64`.
    for entry in std::fs::read_dir("/").into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            let _ = paths.real(&entry.path());
        }
    }
    let covers = |path: &Path| path.ancestors().any(|path| kinds.contains_key(path));
    let leads = |link: &Path| {
        link.canonicalize().is_ok_and(|real| covers(&real) || shown.iter().any(|one| one.at.starts_with(&real)))
    };
    let links = paths.links().into_iter().filter(|(link, _)| !covers(link) && leads(link)).collect();
    Ok(RootPlan { shown, links, held })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::working_folder::WorkingFolder;

    fn tree(folders: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in folders {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        (dir, root)
    }

    fn kinds(plan: &RootPlan) -> Vec<(PathBuf, PlaceKind)> {
        plan.shown.iter().map(|one| (one.at.clone(), one.kind)).collect()
    }

    #[test]
    fn outer_places_come_first_and_what_changes_nothing_is_left_out() {
        let (_dir, root) = tree(&["w/.git/hooks", "w/sub", "other/hooks", "w/keep/data", "read/w"]);
        let at = |name: &str| root.join(name);
        let bounds = Bounds {
            readable: vec![at("w/sub"), at("read"), at("read/w")],
            writable: vec![at("w/sub"), at("w"), at("gone"), at("w/keep/data"), at("w/.git")],
            protected: vec![at("w/.git/hooks"), at("other/hooks"), at("w/keep"), at("w/gone")],
            pinned: vec![at("w/.git")],
            ..Bounds::default()
        };
        let expected = [
            (at("read"), PlaceKind::Readable),
            (at("w"), PlaceKind::Writable),
            (at("w/.git"), PlaceKind::Pinned),
            (at("w/.git/hooks"), PlaceKind::Protected),
            (at("w/keep"), PlaceKind::Protected),
            (at("w/keep/data"), PlaceKind::Writable),
        ];
        assert_eq!(kinds(&plan(&bounds).unwrap()), expected);
        // The same place by both words is protected.
        let both = Bounds {
            readable: vec![at("read")],
            writable: vec![at("w"), at("w/sub")],
            protected: vec![at("w/sub")],
            ..Bounds::default()
        };
        let expected =
            [(at("read"), PlaceKind::Readable), (at("w"), PlaceKind::Writable), (at("w/sub"), PlaceKind::Protected)];
        assert_eq!(kinds(&plan(&both).unwrap()), expected);
    }

    #[test]
    fn a_root_is_made_of_no_other_folder_than_the_chosen_one_nor_of_a_link_in_the_place_of_lisles_own() {
        let (_dir, root) = tree(&["work", "private", "session"]);
        let number = |name: &str| WorkingFolder::of(&root.join(name)).number().unwrap();
        let bounds = |name: &str, with: &str| Bounds {
            writable: vec![root.join("work")],
            replaced: vec![Replaced { at: "/tmp".into(), with: root.join(with) }],
            folder: Some((root.join("work"), number(name))),
            ..Bounds::default()
        };
        std::os::unix::fs::symlink("private", root.join("link")).unwrap();
        assert!(plan(&bounds("work", "session")).is_ok());
        for (name, with) in [("private", "session"), ("work", "link")] {
            assert!(plan(&bounds(name, with)).is_err(), "{name} {with}");
        }
    }

    #[test]
    fn a_protected_link_shows_nothing_of_where_it_leads_outside() {
        let (_dir, root) = tree(&["home/work/sub", "home/work/.git", "home/other", "tmp/socket", "session"]);
        let at = |name: &str| root.join(name);
        let link = |name: &str, to: &str| {
            std::os::unix::fs::symlink(to, at(name)).unwrap();
            at(name)
        };
        let protected = vec![
            link("home/work/.vscode", ".."),
            link("home/work/.idea", "../other"),
            link("home/work/.github", at("tmp").to_str().unwrap()),
            link("home/work/.cargo", at("tmp/socket").to_str().unwrap()),
            link("home/work/.husky", "/"),
            link("home/work/.claude", "."),
            link("home/work/.devcontainer", "sub"),
            at("tmp/socket"),
        ];
        let bounds = Bounds {
            writable: vec![at("home/work")],
            replaced: vec![Replaced { at: at("tmp"), with: at("session") }],
            protected,
            ..Bounds::default()
        };
        let plan = plan(&bounds).unwrap();
        let links = [".cargo", ".claude", ".devcontainer", ".github", ".husky", ".idea", ".vscode", "sub"];
        let links = links.map(|name| (at("home/work").join(name), PlaceKind::Protected));
        let expected: Vec<_> = [(at("home/work"), PlaceKind::Writable)]
            .into_iter()
            .chain(links)
            .chain([(at("tmp"), PlaceKind::Replaced)])
            .collect();
        assert_eq!(kinds(&plan), expected);
    }

    #[test]
    fn links_on_the_way_are_laid_anew_and_those_that_a_command_could_have_laid_are_not_followed() {
        let (_dir, root) = tree(&["real/inner", "work", "secret"]);
        let at = |name: &str| root.join(name);
        std::os::unix::fs::symlink("real", at("link")).unwrap();
        std::os::unix::fs::symlink(at("link/inner"), at("second")).unwrap();
        std::os::unix::fs::symlink(at("secret"), at("work/lure")).unwrap();
        let bounds = Bounds {
            readable: vec![at("second"), at("work/lure")],
            writable: vec![at("work"), at("work/lure")],
            pinned: vec![at("work/lure")],
            ..Bounds::default()
        };
        let plan = plan(&bounds).unwrap();
        assert_eq!(kinds(&plan), [(at("real/inner"), PlaceKind::Readable), (at("work"), PlaceKind::Writable)]);
        let links: Vec<_> = plan.links.iter().filter(|(link, _)| link.starts_with(&root)).cloned().collect();
        assert_eq!(links, [(at("link"), "real".into()), (at("second"), at("link/inner"))]);
    }
}
