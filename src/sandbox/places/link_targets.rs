//! Targets of links that are protected, or lie in a protected folder: a hook is often a link to a script of the project.

use crate::domain::paths::lexical;
use std::path::{Path, PathBuf};

/// Entries of protected folders that are looked at for links.
const MOST_ENTRIES: usize = 5_000;

/// Paths in the working directory to which links among these lead, and links in these folders: where a link leads counts as
/// well as the link, and each link on the way. Blocks.
#[must_use]
pub fn led_to(paths: &[PathBuf], cwd: &Path) -> Vec<PathBuf> {
    let (mut out, mut left) = (Vec::new(), MOST_ENTRIES);
    let mut open: Vec<PathBuf> = paths.to_vec();
    while let Some(path) = open.pop() {
        let Ok(meta) = path.symlink_metadata() else { continue };
        if meta.is_dir() {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            let links =
                |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink() || kind.is_dir());
            for entry in entries.take(left) {
                left -= 1;
                open.extend(links(&entry).then(|| entry.path()));
            }
        } else if meta.is_symlink() {
            out.extend(hops(&path).into_iter().filter(|target| target.starts_with(cwd) && target != cwd));
        }
    }
    out
}

/// Paths on the way of a link to where it leads, the last one without links.
fn hops(link: &Path) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = Vec::new();
    let mut at = link.to_owned();
    while let Ok(to) = std::fs::read_link(&at) {
        let Some(dir) = at.parent().and_then(|dir| dir.canonicalize().ok()) else { break };
        at = lexical(&dir, &to);
        if out.contains(&at) {
            return out;
        }
        out.push(at.clone());
    }
    out.extend(link.canonicalize());
    out
}
