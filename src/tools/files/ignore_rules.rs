//! Files that name what a walk leaves out. The walk opens them itself and waits for what they hold, so they are looked at
//! before: a pipe of that name would hold it for ever.

use crate::plain_file;
use std::path::{Path, PathBuf};

/// True if the rules that a walk opens on entering a folder are regular files, or are not there.
pub(super) fn are_plain(folder: &Path) -> bool {
    opened(folder).iter().all(|file| is_plain(file))
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

/// Files that are opened in a folder. A file `.git` leads to the folder of a linked working tree, whose `commondir` leads on.
fn opened(folder: &Path) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = [".ignore", ".gitignore"].map(|name| folder.join(name)).into();
    let git = folder.join(".git");
    if git.metadata().is_ok_and(|found| found.is_file()) {
        if let Some(real) = first_line(&git).and_then(|line| Some(folder.join(line.strip_prefix("gitdir: ")?))) {
            let common = real.join("commondir");
            out.extend(first_line(&common).map(|line| real.join(line).join("info/exclude")));
            out.push(common);
        }
    } else {
        out.push(git.join("info/exclude"));
    }
    out
}

fn first_line(file: &Path) -> Option<String> {
    let opened = plain_file::open_through_links(file).ok()?;
    let mut line = String::new();
    std::io::Read::read_to_string(&mut std::io::Read::take(opened, LONGEST), &mut line).ok()?;
    line.lines().next().map(ToOwned::to_owned)
}

/// Bytes that are read of a file with a path in it.
const LONGEST: u64 = 16 * 1024;
