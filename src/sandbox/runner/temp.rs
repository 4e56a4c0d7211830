//! The folder for temporary files of one command that only reads.

use crate::sandbox::profile::Replaced;
use crate::sandbox::{Bounds, Namespaces};
use std::ffi::OsString;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

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
        let (base, lies) = match replaced(bounds, &base) {
            Some(one) => (one.at.clone(), one.with.clone()),
            None => (base.clone(), base),
        };
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

/// The folder for temporary files where the one that the variables name is not there: below one that is replaced for the command.
/// A folder of its name in that would be one that earlier commands could have laid a link for.
pub(in crate::sandbox) fn instead(bounds: &Bounds, variables: &[(OsString, OsString)]) -> Option<PathBuf> {
    let base = named(variables);
    let shown = |path: &PathBuf| bounds.writable.iter().any(|place| path.starts_with(place));
    replaced(bounds, &base).filter(|one| one.at != base && !shown(&base)).map(|one| one.at.clone())
}

fn replaced<'b>(bounds: &'b Bounds, base: &Path) -> Option<&'b Replaced> {
    bounds.replaced.iter().filter(|_| bounds.namespaces == Namespaces::With).find(|one| base.starts_with(&one.at))
}

/// The folder for temporary files that the variables name.
fn named(variables: &[(OsString, OsString)]) -> PathBuf {
    let named = variables.iter().rev().find(|(name, _)| name == "TMPDIR").map(|(_, value)| PathBuf::from(value));
    named.filter(|path| path.is_absolute()).unwrap_or_else(|| "/tmp".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_below_one_that_is_replaced_is_not_looked_for() {
        let dir = tempfile::tempdir().unwrap();
        let with = dir.path().join("session");
        std::fs::create_dir(&with).unwrap();
        let bounds = Bounds {
            replaced: vec![Replaced { at: "/tmp".into(), with: with.clone() }],
            writable: vec!["/tmp/project".into()],
            namespaces: Namespaces::With,
            ..Bounds::default()
        };
        let variables = |value: &str| vec![(OsString::from("TMPDIR"), OsString::from(value))];
        for (value, other) in [
            ("/tmp", None),
            ("/tmp/user/1000", Some("/tmp")),
            ("/tmp/project/tmp", None),
            ("/var/tmp", None),
            ("relative", None),
        ] {
            assert_eq!(instead(&bounds, &variables(value)), other.map(PathBuf::from), "{value}");
        }
        let temp = Temp::new(&bounds, &variables("/tmp/user/1000")).unwrap();
        assert_eq!((temp.at.parent(), temp.lies.parent()), (Some(Path::new("/tmp")), Some(with.as_path())));
    }
}
