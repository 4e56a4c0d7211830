//! The folder for temporary files of one command that only reads.

use crate::sandbox::{Bounds, Namespaces};
use std::ffi::OsString;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

/// A folder for temporary files that nobody else uses, removed with everything in it.
pub(in crate::sandbox) struct Temp {
    /// Path at which the command finds it.
    pub(in crate::sandbox) at: PathBuf,
    /// Path of the folder itself: another one when the folder for temporary files is replaced for the command.
    lies: PathBuf,
}

impl Temp {
    /// Makes it where these variables say.
    pub(in crate::sandbox) fn new(bounds: &Bounds, variables: &[(OsString, OsString)]) -> Result<Self, String> {
        let base = named(variables);
        let replaced = bounds.replaced.iter().filter(|_| bounds.namespaces == Namespaces::With);
        let inside = replaced.filter_map(|one| Some(one.with.join(base.strip_prefix(&one.at).ok()?))).next();
        let lies = inside.unwrap_or_else(|| base.clone());
        let mut last = None;
        // The process number is nobody else's now; what is left of an earlier one has another number behind it.
        for n in 0..256 {
            let name = format!("lisle-run-{}-{n}", std::process::id());
            let (at, lies) = (base.join(&name), lies.join(&name));
            match std::fs::DirBuilder::new().mode(0o700).create(&lies) {
                Ok(()) => return Ok(Self { at, lies }),
                Err(error) => last = Some(error),
            }
        }
        let why = last.map_or_else(String::new, |error| format!(": {error}"));
        Err(format!("no temporary folder could be made in {}{why}", lies.display()))
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        // Whatever a command leaves unreadable in it stays for whoever cleans that folder.
        let _ = std::fs::remove_dir_all(&self.lies);
    }
}

/// The folder for temporary files that the variables name.
fn named(variables: &[(OsString, OsString)]) -> PathBuf {
    let named = variables.iter().rev().find(|(name, _)| name == "TMPDIR").map(|(_, value)| PathBuf::from(value));
    named.filter(|path| path.is_absolute()).unwrap_or_else(|| "/tmp".into())
}
