//! Reading and writing of configuration files, with rights for their owner alone.

use crate::domain::problem::Problem;
use crate::plain_file;
use std::io::{self, Write};
use std::path::Path;

/// Bytes of a file that a person writes.
const LONGEST: u64 = 16 << 20;

/// A file's text; `None` when there is no such file. A byte order mark is taken off.
pub(super) fn read_text(path: &Path) -> Result<Option<String>, Problem> {
    match plain_file::read(path, LONGEST) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))),
            Err(_) => Err(Problem::whole(path, "Not UTF-8; the file was ignored.", "Save it as UTF-8.")),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            Err(Problem::whole(path, format!("Can't read the file: {error}."), "Check its owner and permissions."))
        }
    }
}

/// Makes a folder, and those above it that are missing, for their owner alone, whatever the umask.
pub(super) fn private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Writes a file that nobody else can read, by way of a new one beside it.
pub(super) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    private_folder(folder)?;
    let temp = folder.join(format!(".lisle-{}-{:08x}.tmp", std::process::id(), fastrand::u32(..)));
    let written = plain_file::create_new(&temp).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&temp, path)
    });
    if written.is_err() {
        // The error that counts is the first one.
        let _ = std::fs::remove_file(&temp);
    }
    written
}
