//! Files that name what a walk leaves out. The walk opens them itself and waits for what they hold, so they are looked at
//! before: a pipe of that name would hold it for ever.

use std::io::Read;
use std::path::{Path, PathBuf};

/// True if the rules that a walk opens on entering a folder are regular files, or are not there.
pub(super) fn are_plain(folder: &Path) -> bool {
    opened(folder).is_some_and(|files| files.iter().all(|file| is_plain(file)))
}

/// True if those of a folder and of all above it are: a walk opens them when it begins.
pub(super) fn are_plain_from(root: &Path) -> bool {
    root.ancestors().all(are_plain)
}

fn is_plain(file: &Path) -> bool {
    match file.metadata() {
        Ok(found) => found.is_file(),
        Err(_) => true,
    }
}

/// Files that are opened in a folder; `None` where that is not to be told. A file `.git` leads to the folder of a linked
/// working tree, whose `commondir` leads on.
fn opened(folder: &Path) -> Option<Vec<PathBuf>> {
    let mut out: Vec<PathBuf> = [".ignore", ".gitignore"].map(|name| folder.join(name)).into();
    let git = folder.join(".git");
    let is_folder = git.metadata().map_or(true, |found| found.is_dir());
    if is_folder {
        out.push(git.join("info/exclude"));
        return Some(out);
    }
    let real = folder.join(first_line(&git)?.strip_prefix("gitdir: ")?);
    let common = real.join("commondir");
    if common.symlink_metadata().is_ok() {
        out.push(real.join(first_line(&common)?).join("info/exclude"));
    }
    Some(out)
}

fn first_line(file: &Path) -> Option<String> {
    let mut line = String::new();
    super::open(file).ok()?.take(LONGEST).read_to_string(&mut line).ok()?;
    line.lines().next().map(ToOwned::to_owned)
}

/// Bytes that are read of a file with a path in it.
const LONGEST: u64 = 16 * 1024;
