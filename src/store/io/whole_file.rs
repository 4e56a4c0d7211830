//! Small files read whole and replaced whole, and the folders that they lie in.

use super::{How, Io, lines};
use crate::store::format::layout;
use crate::store::{StoreError, process_runs};
use std::io::ErrorKind;
use std::path::Path;

/// Bytes of a file that is read whole. A longer one is none of ours, and would fill the memory.
const LONGEST: u64 = 512 << 20;

/// A whole small file; `None` when there is none.
///
/// # Errors
/// When it is there and cannot be read.
pub fn read(io: &dyn Io, path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    let file = match io.open(path, How::Read) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::io("read", path, error)),
    };
    let len = io.stat_of(&file).map_err(|e| StoreError::io("read", path, e))?.len;
    if len > LONGEST {
        return Err(StoreError::io("read", path, ErrorKind::FileTooLarge.into()));
    }
    lines::range(io, &file, 0, len).map(Some).map_err(|e| StoreError::io("read", path, e))
}

/// Writes a small file whole: under a temporary name, forced to disk if asked for, renamed.
///
/// # Errors
/// When any of this fails; the file is then as it was.
pub fn replace(io: &dyn Io, path: &Path, bytes: &[u8], sync: bool) -> Result<(), StoreError> {
    let temp = layout::temp(path);
    let write = || -> std::io::Result<()> {
        let file = io.open(&temp, How::New)?;
        io.append(&file, bytes)?;
        if sync {
            io.fsync(&file)?;
        }
        io.rename(&temp, path)
    };
    write().map_err(|error| {
        // Best effort: the next writer removes what stays.
        let _ = io.remove(&temp);
        StoreError::io("write", path, error)
    })
}

/// Tells if a file is a temporary one of [`replace`] whose process died.
#[must_use]
pub fn is_left_over(name: &str) -> bool {
    let process =
        name.strip_prefix(".lisle-").and_then(|rest| rest.split_once('-')).and_then(|(pid, _)| pid.parse().ok());
    layout::is_temp(name) && process.is_some_and(|pid| !process_runs(pid, None))
}

/// Makes a directory and what is missing above it.
///
/// # Errors
/// When one cannot be made.
pub fn make_dirs(io: &dyn Io, path: &Path) -> Result<(), StoreError> {
    match io.mkdir(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) else {
                return Err(StoreError::io("make", path, error));
            };
            make_dirs(io, above)?;
            match io.mkdir(path) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(StoreError::io("make", path, error)),
                _ => Ok(()),
            }
        }
        Err(error) => Err(StoreError::io("make", path, error)),
    }
}
