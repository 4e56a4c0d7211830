//! Targets of links that are protected, lie in a protected folder, or on the way to a protected path: a hook is often a link to
//! a script of the project.

use crate::domain::paths::parts_to_walk;
use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Entries of protected folders that are looked at for links.
const MOST_ENTRIES: usize = 5_000;
/// At most so many links lead to one place, as for the kernel.
const MOST_LINKS: usize = 40;

/// Paths in the working directory to which these lead, and links in these folders: where a link leads counts as well as the
/// link, and each link on the way, also where nothing is yet. Blocks.
#[must_use]
pub fn led_to(paths: &[PathBuf], cwd: &Path) -> Vec<PathBuf> {
    ways(paths, cwd).targets
}

/// Ways of paths through links, in the working directory.
#[derive(Debug, Default)]
pub(super) struct LinkWays {
    /// Paths to which they lead.
    pub(super) targets: Vec<PathBuf>,
    /// Links on the way, each where it lies: whoever replaces one changes all that lies behind it.
    pub(super) links: Vec<PathBuf>,
}

/// The ways of these paths, and of links in these folders. Blocks.
pub(super) fn ways(paths: &[PathBuf], cwd: &Path) -> LinkWays {
    let (mut out, mut left) = (LinkWays::default(), MOST_ENTRIES);
    let mut open: Vec<PathBuf> = paths.to_vec();
    let mut walk = LinkWalk { cwd, plain: HashSet::new() };
    while let Some(path) = open.pop() {
        let inside = |path: &PathBuf| path.starts_with(cwd) && path != cwd;
        let found = walk.hops(&path);
        out.targets.extend(found.targets.into_iter().filter(inside));
        out.links.extend(found.links.into_iter().filter(inside));
        if path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            let links =
                |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink() || kind.is_dir());
            for entry in entries.take(left) {
                left -= 1;
                open.extend(links(&entry).then(|| entry.path()));
            }
        }
    }
    out
}

/// Follows paths as the kernel does, and goes on where it would stop: a file that is made later comes to lie there.
struct LinkWalk<'a> {
    /// It has no links itself.
    cwd: &'a Path,
    /// Paths that are no links.
    plain: HashSet<PathBuf>,
}

impl LinkWalk<'_> {
    /// Links on the way, paths that they name, and the path after all of them; nothing where no link is on the way.
    fn hops(&mut self, path: &Path) -> LinkWays {
        let mut out = LinkWays::default();
        let (mut done, rest) = match path.strip_prefix(self.cwd) {
            Ok(below) => (self.cwd.to_owned(), below),
            Err(_) => (PathBuf::from("/"), path),
        };
        let mut left = parts_to_walk(rest);
        let mut met = 0;
        while let Some(part) = left.pop() {
            if part == ".." {
                done.pop();
                continue;
            }
            done.push(&part);
            if self.plain.contains(&done) {
                continue;
            }
            let Ok(target) = std::fs::read_link(&done) else {
                // What is not there may be a link later, and its folder is looked at again then.
                if done.symlink_metadata().is_ok() {
                    self.plain.insert(done.clone());
                }
                continue;
            };
            met += 1;
            if met > MOST_LINKS {
                return out;
            }
            // Of what goes up behind it the link alone decides where it is.
            out.targets.extend(left.iter().any(|part| part == "..").then(|| done.clone()));
            out.links.push(done.clone());
            done.pop();
            out.targets.extend(on_the_way(&done, &target, &left));
            if target.is_absolute() {
                done = PathBuf::from("/");
            }
            left.extend(parts_to_walk(&target));
        }
        if met > 0 {
            out.targets.push(done);
        }
        out
    }
}

/// The path that a link in a folder without links stands for; `None` where it goes up after a name that may be a link, so that
/// its text says nothing of its place.
fn on_the_way(folder: &Path, target: &Path, left: &[OsString]) -> Option<PathBuf> {
    let mut path = if target.is_absolute() { PathBuf::from("/") } else { folder.to_owned() };
    let mut named = false;
    for part in parts_to_walk(target).iter().rev().chain(left.iter().rev()) {
        match (part == "..", named) {
            (true, true) => return None,
            (true, false) => drop(path.pop()),
            (false, _) => {
                path.push(part);
                named = true;
            }
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::paths::climbs;
    use std::os::unix::fs::symlink;

    #[test]
    fn where_links_lead_is_known_before_anything_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in ["real", "real2", "s2", "p/.git"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        symlink("real", root.join("l")).unwrap();
        symlink("../real2", root.join("s2/q")).unwrap();
        symlink("l", root.join("again")).unwrap();
        symlink("round", root.join("round")).unwrap();
        for (name, target, led) in [
            (".vscode", "l/v", "real/v"),
            (".envrc", "again/e/env.sh", "real/e/env.sh"),
            (".idea", "s2/q/../nn", "nn"),
            (".claude", root.join("l/claude").to_str().unwrap(), "real/claude"),
            (".husky", "real/h", "real/h"),
        ] {
            symlink(target, root.join(name)).unwrap();
            let found = led_to(&[root.join(name)], &root);
            assert!(found.contains(&root.join(led)), "{name}: {found:?}");
        }
        // One that goes up behind a link, which is another place than its text says: nothing outside is named.
        symlink("..", root.join("s2/up")).unwrap();
        symlink("up/../outside", root.join("s2/.zed")).unwrap();
        let found = led_to(&[root.join("s2/.zed")], &root);
        assert!(found.contains(&root.join("s2/up")) && found.iter().all(|path| !climbs(path)), "{found:?}");
        // A path that is none itself, and one of which nothing is there.
        assert!(led_to(&[root.join("l/a")], &root).contains(&root.join("real/a")));
        assert!(led_to(&[root.join("real/a")], &root).is_empty());
        // Links in a protected folder, one that goes round, and one that leads out.
        symlink("../../l/hook", root.join("p/.git/pre-commit")).unwrap();
        assert!(led_to(&[root.join("p/.git")], &root).contains(&root.join("real/hook")));
        assert!(led_to(&[root.join("round/x")], &root).iter().all(|path| path.starts_with(&root)));
        symlink("/etc/passwd", root.join(".netrc")).unwrap();
        assert!(led_to(&[root.join(".netrc")], &root).is_empty());
    }
}
