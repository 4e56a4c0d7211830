//! What a command may do beside what the permission modes allow: the profile that it is closed into before it begins.
//!
//! Values and their words on a command line. How a process is closed in is `hold`'s; which command gets which profile is
//! decided with the call.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// What holds a command back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Nothing but the limits of time and output.
    #[default]
    Open,
    /// It can read, and write nothing but `/dev/null`, a temporary folder of its own and these folders. No network, no
    /// sockets, no change of owners, rights, times or attributes, no signals to others.
    ReadOnly {
        /// Folders that it may write all the same; those that do not exist are left out.
        writable: Vec<PathBuf>,
    },
}

/// `--read-only`: the profile's name among the arguments.
const READ_ONLY: &str = "--read-only";
/// `--writable PATH`: a folder that may be written.
const WRITABLE: &str = "--writable";

impl Profile {
    /// The arguments that stand for it.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        match self {
            Profile::Open => Vec::new(),
            Profile::ReadOnly { writable } => {
                let mut out: Vec<OsString> = vec![READ_ONLY.into()];
                for path in writable {
                    out.extend([WRITABLE.into(), path.clone().into()]);
                }
                out
            }
        }
    }

    /// Takes `arg`, with what follows it, if it is about the profile.
    pub(super) fn take<'a>(
        &mut self,
        arg: &OsStr,
        rest: &mut impl Iterator<Item = &'a OsString>,
    ) -> Result<bool, String> {
        if arg == READ_ONLY {
            *self = Profile::ReadOnly { writable: Vec::new() };
            return Ok(true);
        }
        if arg != WRITABLE {
            return Ok(false);
        }
        match (self, rest.next()) {
            (Profile::ReadOnly { writable }, Some(path)) => {
                writable.push(path.into());
                Ok(true)
            }
            (Profile::Open, _) => Err(format!("{WRITABLE} stands after {READ_ONLY}")),
            (_, None) => Err(format!("{WRITABLE} needs a path")),
        }
    }
}
