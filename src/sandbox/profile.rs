//! Sandbox profile: the limits of a command beside the permission modes, set before it begins.
//!
//! Values and their words on a command line. Which places a profile names is found by `places`, how a process is closed in
//! is up to `linux::confine` and `seatbelt`; which command gets which profile is decided with the call.

use super::places::hidden::HeldPlaces;
use super::working_folder::FolderNumber;
use crate::domain::paths::climbs;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Sandbox profile of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Nothing but the limits of time and output.
    #[default]
    Open,
    /// It can read, and write nothing but `/dev/null`, a temporary folder of its own and some folders. No network, no
    /// sockets, no change of owners, rights, times or attributes, no signals to others.
    ReadOnly(Bounds),
    /// It can read everything and write below some folders alone; of the network it reaches what its bounds say. No
    /// signals to others.
    Workspace(Bounds),
}

/// The places that a profile names. Those that do not exist are passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Folders and files that may be read, with all below them; `/` stands for everything. With namespaces nothing else
    /// exists, apart from the other lists.
    pub readable: Vec<PathBuf>,
    /// Folders and files that may be written, with all below them.
    pub writable: Vec<PathBuf>,
    /// Files and folders below those that may be read alone. Held where namespaces are.
    pub protected: Vec<PathBuf>,
    /// Folders below those that cannot be moved away or replaced. A pin gives no right: outside of what is written it is
    /// none. Held where namespaces are.
    pub pinned: Vec<PathBuf>,
    /// Secret files and folders that are there and say nothing. Held where namespaces are.
    pub masked: Vec<PathBuf>,
    /// Secret files and folders below what may be read, of a command that writes nothing: they are not opened, where nothing can
    /// be put over them. Held without namespaces.
    pub unread: Vec<PathBuf>,
    /// Folders in which commands may have laid links, also where this one writes nothing: no link in them opens anything.
    pub laid: Vec<PathBuf>,
    /// Folders that appear at another path, writable, instead of what is there. Held where namespaces are.
    pub replaced: Vec<Replaced>,
    /// Devices beside the harmless ones.
    pub devices: Vec<PathBuf>,
    /// Sockets of other programs that the command may connect to.
    pub sockets: Vec<PathBuf>,
    /// Network of the command.
    pub network: Network,
    /// Namespaces of the command, for limits beyond the other rules.
    pub namespaces: Namespaces,
    /// Number of the working directory, which is written where the profile says so and only while it is that folder. It is
    /// passed beside the words.
    pub folder: Option<(PathBuf, FolderNumber)>,
    /// The first ones of `masked`, held since they were looked up. They are passed beside the words.
    pub held: Arc<HeldPlaces>,
}

impl Bounds {
    /// Makes each path name the place that its text says: the kernel takes `..` after a link for another folder than the one
    /// that is written there. What the user named is resolved; what was found in a project is left out, for a link there must
    /// not show or open what no list names.
    pub(super) fn settle(&mut self) {
        for list in [&mut self.readable, &mut self.writable, &mut self.devices, &mut self.sockets] {
            let resolved = |path: PathBuf| if climbs(&path) { path.canonicalize().ok() } else { Some(path) };
            *list = std::mem::take(list).into_iter().filter_map(resolved).collect();
        }
        self.protected.retain(|path| !climbs(path));
        self.pinned = self.pins().cloned().collect();
    }

    /// The pinned folders that lie in what is written.
    pub(super) fn pins(&self) -> impl Iterator<Item = &PathBuf> {
        let written = |path: &PathBuf| self.writable.iter().any(|folder| path.starts_with(folder));
        self.pinned.iter().filter(move |path| !climbs(path) && written(path))
    }
}

/// A folder that appears at another path: a private cache over the host's, the session's temporary files as `/tmp`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// Path that the command uses.
    pub at: PathBuf,
    /// Folder that it gets there.
    pub with: PathBuf,
}

/// Network of a command in the workspace profile; the read-only profile has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Network {
    /// All that the system reaches.
    #[default]
    Open,
    /// Hosts that lisle's proxy allows. Needs namespaces; the listener is passed through the standard input.
    Proxy,
    /// Nothing.
    Off,
}

/// Mount namespace of a command, with a user namespace where it needs one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Namespaces {
    /// Without namespaces: this system does not allow them, or nobody has asked.
    #[default]
    Without,
    /// With namespaces.
    With,
}

/// `--read-only`, `--workspace`: the profile's name among the arguments.
const READ_ONLY: &str = "--read-only";
const WORKSPACE: &str = "--workspace";
/// `--namespaces`: with namespaces.
const NAMESPACES: &str = "--namespaces";
/// Each with a path behind it.
const READABLE: &str = "--readable";
const DEVICE: &str = "--device";
const SOCKET: &str = "--socket";
/// The network through the proxy alone.
const PROXY: &str = "--proxy";
/// No network.
const OFFLINE: &str = "--offline";
/// With two paths behind it: where, and what.
const REPLACED: &str = "--replaced";
const WRITABLE: &str = "--writable";
const PROTECTED: &str = "--protected";
const PINNED: &str = "--pinned";
const MASKED: &str = "--masked";
const UNREAD: &str = "--unread";
const LAID: &str = "--laid";

impl Bounds {
    /// True if the command sees the content of a path. Below a folder that appears at another path it sees what lies
    /// in that.
    #[must_use]
    pub fn shows(&self, path: &Path) -> bool {
        let instead = |one: &Replaced| path.strip_prefix(&one.at).is_ok_and(|below| one.with.join(below).exists());
        let mut listed = self.readable.iter().chain(&self.writable).chain(&self.sockets);
        ["/proc", "/dev"].iter().any(|own| path.starts_with(own))
            || listed.any(|place| path.starts_with(place))
            || self.replaced.iter().any(instead)
    }
}

impl Profile {
    /// The places, where there are bounds at all.
    #[must_use]
    pub fn bounds(&self) -> Option<&Bounds> {
        match self {
            Profile::Open => None,
            Profile::ReadOnly(bounds) | Profile::Workspace(bounds) => Some(bounds),
        }
    }

    pub(super) fn bounds_mut(&mut self) -> Option<&mut Bounds> {
        match self {
            Profile::Open => None,
            Profile::ReadOnly(bounds) | Profile::Workspace(bounds) => Some(bounds),
        }
    }

    /// The arguments that stand for it.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let (name, bounds) = match self {
            Profile::Open => return Vec::new(),
            Profile::ReadOnly(bounds) => (READ_ONLY, bounds),
            Profile::Workspace(bounds) => (WORKSPACE, bounds),
        };
        let mut out: Vec<OsString> = vec![name.into()];
        if bounds.namespaces == Namespaces::With {
            out.push(NAMESPACES.into());
        }
        for (word, paths) in [
            (READABLE, &bounds.readable),
            (WRITABLE, &bounds.writable),
            (PROTECTED, &bounds.protected),
            (PINNED, &bounds.pinned),
            (MASKED, &bounds.masked),
            (UNREAD, &bounds.unread),
            (LAID, &bounds.laid),
            (DEVICE, &bounds.devices),
            (SOCKET, &bounds.sockets),
        ] {
            for path in paths {
                out.extend([word.into(), path.clone().into()]);
            }
        }
        for replaced in &bounds.replaced {
            out.extend([REPLACED.into(), replaced.at.clone().into(), replaced.with.clone().into()]);
        }
        match &bounds.network {
            Network::Open => {}
            Network::Proxy => out.push(PROXY.into()),
            Network::Off => out.push(OFFLINE.into()),
        }
        out
    }

    /// Takes `arg`, with what follows it, if it is about the profile.
    pub(super) fn take<'a>(
        &mut self,
        arg: &OsStr,
        rest: &mut impl Iterator<Item = &'a OsString>,
    ) -> Result<bool, String> {
        let Some(word) = arg.to_str() else { return Ok(false) };
        match word {
            READ_ONLY => *self = Profile::ReadOnly(Bounds::default()),
            WORKSPACE => *self = Profile::Workspace(Bounds::default()),
            NAMESPACES | OFFLINE | PROXY | REPLACED | READABLE | WRITABLE | PROTECTED | PINNED | MASKED | UNREAD
            | LAID | DEVICE | SOCKET => {
                let bounds = self.bounds_mut();
                let bounds = bounds.ok_or_else(|| format!("{word} stands after {READ_ONLY} or {WORKSPACE}"))?;
                // An empty one would stand for the working directory, or for everything.
                let mut path = || {
                    let path = rest.next().filter(|path| !path.is_empty()).map(PathBuf::from);
                    path.ok_or_else(|| format!("{word} needs a path"))
                };
                match word {
                    NAMESPACES => bounds.namespaces = Namespaces::With,
                    OFFLINE => bounds.network = Network::Off,
                    PROXY => bounds.network = Network::Proxy,
                    REPLACED => bounds.replaced.push(Replaced { at: path()?, with: path()? }),
                    READABLE => bounds.readable.push(path()?),
                    WRITABLE => bounds.writable.push(path()?),
                    PROTECTED => bounds.protected.push(path()?),
                    PINNED => bounds.pinned.push(path()?),
                    DEVICE => bounds.devices.push(path()?),
                    SOCKET => bounds.sockets.push(path()?),
                    UNREAD => bounds.unread.push(path()?),
                    LAID => bounds.laid.push(path()?),
                    _ => bounds.masked.push(path()?),
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
