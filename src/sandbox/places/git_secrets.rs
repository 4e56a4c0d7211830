//! Secrets in git's own folders, where the look at a working tree does not go: hooks, helpers and people keep some there.

use super::sight;
use crate::domain::paths::{is_secret_entry, is_secret_folder};
use std::path::{Path, PathBuf};

/// Folders that git alone fills, with names of its own, at any depth: submodules have theirs.
const OF_GIT: &[&str] = &["objects", "refs", "logs"];

/// Entries of one repository that are looked at. Folders that are left then are hidden: commands can fill others.
const MOST: usize = 100_000;

/// Secret files and folders by their names, and folders that are not looked at. Links are not followed. Blocks.
pub(super) fn below(git: &Path) -> Vec<PathBuf> {
    look(git, MOST)
}

fn look(git: &Path, mut left: usize) -> Vec<PathBuf> {
    let (mut out, mut open) = (Vec::new(), vec![git.to_owned()]);
    while let Some(dir) = open.pop() {
        let entries = match std::fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) => {
                out.extend((!sight::is_gone(&error) && dir != git).then_some(dir));
                continue;
            }
        };
        for entry in entries.flatten() {
            // The folder itself cannot be hidden, so all of its entries are looked at.
            if left == 0 && dir != git {
                out.push(dir);
                break;
            }
            left = left.saturating_sub(1);
            let path = entry.path();
            let name = path.strip_prefix(git).unwrap_or(&path);
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && is_secret_folder(name) => out.push(path),
                Ok(kind) if kind.is_dir() => {
                    open.extend((!OF_GIT.iter().any(|one| path.ends_with(one))).then_some(path))
                }
                Ok(_) if is_secret_entry(name) => out.push(path),
                _ => {}
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_by_name_at_any_depth_and_what_git_names_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let git = dir.path().join(".git");
        let secret =
            [".env", "hooks/.env", "info/deploy.pem", "lfs.env", "modules/x/.env", "worktrees/w/.netrc", ".ssh"];
        let open =
            ["HEAD", "config", "hooks/pre-commit", "logs/HEAD", "modules/x/HEAD", "modules/token/config", "index"];
        let of_git = ["refs/heads/.env", "objects/.env", "modules/x/refs/heads/token", "lfs/objects/id_rsa"];
        for name in secret[..6].iter().chain(&open).chain(&of_git).chain(&[".ssh/a"]) {
            std::fs::create_dir_all(git.join(name).parent().unwrap()).unwrap();
            std::fs::write(git.join(name), "x").unwrap();
        }
        let mut found = below(&git);
        found.sort();
        let mut expected: Vec<PathBuf> = secret.iter().map(|name| git.join(name)).collect();
        expected.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_not_looked_at_is_hidden() {
        let dir = tempfile::tempdir().unwrap();
        let git = dir.path().join(".git");
        for name in ["HEAD", "a/1", "a/2", "b/1", "b/2", ".env"] {
            std::fs::create_dir_all(git.join(name).parent().unwrap()).unwrap();
            std::fs::write(git.join(name), "x").unwrap();
        }
        for left in 0..=8 {
            let found = look(&git, left);
            assert!(found.contains(&git.join(".env")) && !found.contains(&git), "{left}");
            let hidden = ["a", "b"].iter().filter(|name| found.contains(&git.join(name))).count();
            assert_eq!(hidden, if left < 6 { 2 } else { usize::from(left < 8) }, "{left}");
        }
    }
}
