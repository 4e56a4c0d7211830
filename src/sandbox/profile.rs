//! What a command may do beside what the permission modes allow: the profile that it is closed into before it begins.
//!
//! Values and their words on a command line. Which places a profile names is found by `places`, how a process is closed in
//! is `hold`'s; which command gets which profile is decided with the call.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// What holds a command back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Nothing but the limits of time and output.
    #[default]
    Open,
    /// It can read, and write nothing but `/dev/null`, a temporary folder of its own and some folders. No network, no
    /// sockets, no change of owners, rights, times or attributes, no signals to others.
    ReadOnly(Bounds),
    /// It can read everything and write below some folders alone; the network is open. No signals to others.
    Workspace(Bounds),
}

/// The places that a profile names. Those that do not exist are passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Folders and files that may be written, with all below them.
    pub writable: Vec<PathBuf>,
    /// Files and folders below those that may be read alone. Held where namespaces are.
    pub protected: Vec<PathBuf>,
    /// Folders that may be written and cannot be moved away or replaced. Held where namespaces are.
    pub pinned: Vec<PathBuf>,
    /// Files, folders and sockets that are empty for the command. Held where namespaces are.
    pub masked: Vec<PathBuf>,
    /// Whether the command gets namespaces of its own, for what the other rules cannot hold.
    pub namespaces: Namespaces,
}

/// Whether a command gets a mount namespace, and where it needs one a user namespace, of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Namespaces {
    /// It does not: this system does not let it, or nobody has asked.
    #[default]
    Without,
    /// It does.
    With,
}

/// `--read-only`, `--workspace`: the profile's name among the arguments.
const READ_ONLY: &str = "--read-only";
const WORKSPACE: &str = "--workspace";
/// `--namespaces`: with namespaces.
const NAMESPACES: &str = "--namespaces";
/// Each with a path behind it.
const WRITABLE: &str = "--writable";
const PROTECTED: &str = "--protected";
const PINNED: &str = "--pinned";
const MASKED: &str = "--masked";

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
            (WRITABLE, &bounds.writable),
            (PROTECTED, &bounds.protected),
            (PINNED, &bounds.pinned),
            (MASKED, &bounds.masked),
        ] {
            for path in paths {
                out.extend([word.into(), path.clone().into()]);
            }
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
            NAMESPACES | WRITABLE | PROTECTED | PINNED | MASKED => {
                let bounds = self.bounds_mut();
                let bounds = bounds.ok_or_else(|| format!("{word} stands after {READ_ONLY} or {WORKSPACE}"))?;
                if word == NAMESPACES {
                    bounds.namespaces = Namespaces::With;
                    return Ok(true);
                }
                let path = rest.next().ok_or_else(|| format!("{word} needs a path"))?;
                let list = match word {
                    WRITABLE => &mut bounds.writable,
                    PROTECTED => &mut bounds.protected,
                    PINNED => &mut bounds.pinned,
                    _ => &mut bounds.masked,
                };
                list.push(path.into());
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
