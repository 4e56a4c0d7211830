//! Files that a command does not get to see, asked of one path: by where it lies, and by what is in it.
//!
//! A list (`places.toml`) says what the root of a command is built from; file tools follow the same list for what in a home
//! directory holds settings, histories and sign-ins: its names with a dot.

use super::folders::{SESSION, TEMP, toolchains};
use super::{git_index, readable, scan};
use crate::domain::secret::Content;
use crate::sandbox::allowances::Allowances;
use crate::sandbox::own_folders;
use crate::sandbox::repository::Repository;
use std::path::{Path, PathBuf};

/// Whose view it is.
#[derive(Clone, Copy, Debug)]
pub struct SecrecyView<'a> {
    /// The working directory.
    pub cwd: &'a Path,
    /// The session's folder.
    pub session_dir: &'a Path,
    /// lisle's own folders.
    pub own_dirs: &'a [PathBuf],
    /// Access that settings and answers grant.
    pub allowances: &'a Allowances,
    /// The user's home directory.
    pub home: Option<&'a Path>,
}

impl SecrecyView<'_> {
    /// The resolved path lies where commands see nothing unless the user says so: in lisle's own folders, or in a folder or
    /// file of the home directory that has a dot and is on no list.
    #[must_use]
    pub fn is_apart(&self, path: &Path) -> bool {
        let cwd = real(self.cwd);
        let below_cwd = path.starts_with(&cwd);
        if self.is_of_session(path) || self.is_granted(path) {
            return false;
        }
        let mut own = own_folders::with_workspace(self.own_dirs, &real(self.session_dir)).into_iter().map(real);
        if own.any(|own| path.starts_with(&own) && !(below_cwd && cwd.starts_with(&own))) {
            return true;
        }
        let Some(home) = self.home.map(real) else { return false };
        let first = path.strip_prefix(&home).ok().and_then(|below| below.components().next());
        let dotted = first.is_some_and(|first| {
            let name = first.as_os_str().to_string_lossy();
            name.starts_with('.') || name == "snap" || cfg!(target_os = "macos") && name == "Library"
        });
        if below_cwd || !dotted {
            return false;
        }
        let repository = Repository::of(&cwd).filter(|one| !home.starts_with(&one.top));
        let mut of_repository = repository.iter().flat_map(|one| [&one.top, &one.common, &one.own]);
        let env = |name: &str| std::env::var(name).ok();
        !of_repository.any(|place| path.starts_with(place))
            && !readable::of_user(Some(&home), &env).iter().any(|place| path.starts_with(real(place)))
    }

    /// The file at the resolved path is a secret by its content. What git has counts as little as it does for commands.
    /// Blocks.
    #[must_use]
    pub fn is_key(&self, path: &Path) -> bool {
        let file = path.symlink_metadata().is_ok_and(|meta| meta.is_file());
        file && !self.is_of_session(path) && scan::is_key(path) && !is_open(path, git_index::blob(path))
    }

    /// The same of bytes that were read there.
    #[must_use]
    pub fn holds_key(&self, path: &Path, bytes: &[u8]) -> bool {
        let is_secret = !self.is_of_session(path) && Content::of(path).is_secret(bytes);
        is_secret && !is_open(path, Some(git_index::blob_of(bytes)))
    }

    /// A file of the working directory that commands see masked. Blocks.
    #[must_use]
    pub fn is_masked(&self, path: &Path) -> bool {
        let cwd = real(self.cwd);
        let whole_home = self.home.is_some_and(|home| home.starts_with(&cwd));
        if !path.starts_with(&cwd) || whole_home {
            return false;
        }
        let found = scan::look(&cwd, &toolchains(&cwd, self.home));
        found.secrets.iter().chain(&found.cut).any(|secret| path.starts_with(secret))
    }

    /// The session's own files: what tools and commands made for it.
    fn is_of_session(&self, path: &Path) -> bool {
        let session = real(self.session_dir);
        SESSION.iter().chain([&TEMP]).any(|name| path.starts_with(session.join(name)))
    }

    fn is_granted(&self, path: &Path) -> bool {
        let granted = &self.allowances.granted;
        let all = self.allowances.readable.iter().chain(&granted.readable).chain(&granted.unmasked);
        all.chain(&granted.writable).any(|place| path.starts_with(real(place)))
    }
}

/// Git has the file with this content.
fn is_open(path: &Path, content: Option<git_index::Blob>) -> bool {
    let repository = path.parent().and_then(Repository::of);
    repository.zip(content).is_some_and(|(one, content)| one.has(path, content))
}

fn real(path: impl AsRef<Path>) -> PathBuf {
    path.as_ref().canonicalize().unwrap_or_else(|_| path.as_ref().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> String {
        format!("-----BEGIN {} KEY-----\nabc\n", "PRIVATE")
    }

    fn home() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap().join("u");
        for file in [
            "work/a",
            "work/.hidden",
            "notes.txt",
            ".zsh_history",
            ".bashrc",
            ".config/nvim/init.lua",
            ".config/git/ignore",
            ".rustup/toolchains/x/a.rs",
            ".cargo/registry/src/a.rs",
            ".ssh/known_hosts",
            ".config/lisle/config.toml",
            ".local/share/lisle/sessions/s1/session.jsonl",
            ".local/share/lisle/sessions/s1/data/a.csv",
            ".local/share/lisle/sessions/s2/session.jsonl",
            ".dotfiles/zsh/a",
        ] {
            std::fs::create_dir_all(home.join(file).parent().unwrap()).unwrap();
            std::fs::write(home.join(file), "x").unwrap();
        }
        (dir, home)
    }

    #[test]
    fn a_workspace_in_the_project_is_apart() {
        let (_dir, home) = home();
        let cwd = home.join("work");
        let session = cwd.join("ws/sessions/s1");
        let allowances = Allowances::default();
        let inner = cwd.join("ws");
        let view = |cwd| SecrecyView { cwd, session_dir: &session, own_dirs: &[], allowances: &allowances, home: None };
        for apart in ["ws/sessions/s2/session.jsonl", "ws/permissions.json", "ws/checkpoints/ab/copy"] {
            assert!(view(&cwd).is_apart(&cwd.join(apart)), "{apart}");
        }
        assert!(view(&inner).is_apart(&cwd.join("ws/sessions/s2/session.jsonl")), "also from the workspace");
        for open in ["a.rs", "ws/sessions/s1/data/a.csv"] {
            assert!(!view(&cwd).is_apart(&cwd.join(open)), "{open}");
        }
    }

    #[test]
    fn what_a_home_directory_keeps_behind_a_dot_is_apart_unless_it_is_listed() {
        let (_dir, home) = home();
        let (cwd, session) = (home.join("work"), home.join(".local/share/lisle/sessions/s1"));
        let own = [home.join(".config/lisle"), home.join(".local/share/lisle")];
        let allowances = Allowances::default();
        let view = SecrecyView {
            cwd: &cwd,
            session_dir: &session,
            own_dirs: &own,
            allowances: &allowances,
            home: Some(&home),
        };
        for apart in [
            ".zsh_history",
            ".bashrc",
            ".config/nvim/init.lua",
            ".config/lisle/config.toml",
            ".local/share/lisle/sessions/s1/session.jsonl",
            ".local/share/lisle/sessions/s2/session.jsonl",
            ".not-there",
        ] {
            assert!(view.is_apart(&home.join(apart)), "{apart}");
        }
        for open in [
            "work/a",
            "work/.hidden",
            "notes.txt",
            ".config/git/ignore",
            ".rustup/toolchains/x/a.rs",
            ".cargo/registry/src/a.rs",
            ".ssh/known_hosts",
            ".local/share/lisle/sessions/s1/data/a.csv",
            "",
        ] {
            assert!(!view.is_apart(&home.join(open)), "{open}");
        }
        // The working directory, and what the user's settings and answers name.
        let dotfiles = home.join(".dotfiles");
        assert!(view.is_apart(&dotfiles.join("zsh/a")));
        assert!(!SecrecyView { cwd: &dotfiles, ..view }.is_apart(&dotfiles.join("zsh/a")));
        let named = Allowances { readable: vec![home.join(".config/nvim")], ..Allowances::default() };
        assert!(!SecrecyView { allowances: &named, ..view }.is_apart(&home.join(".config/nvim/init.lua")));
        // lisle's folders stay apart also where they lie in the working directory.
        assert!(SecrecyView { cwd: &home, ..view }.is_apart(&home.join(".config/lisle/config.toml")));
        assert!(!SecrecyView { cwd: &home, ..view }.is_apart(&home.join(".bashrc")));
    }

    #[test]
    fn what_git_has_is_no_secret_by_its_content_but_a_name_in_its_list_opens_nothing() {
        let (_dir, home) = home();
        let (cwd, session) = (home.join("work"), home.join("s"));
        for folder in ["objects", "refs"] {
            std::fs::create_dir_all(cwd.join(".git").join(folder)).unwrap();
        }
        std::fs::write(cwd.join(".git/HEAD"), "x").unwrap();
        for name in ["fixture", "deploy"] {
            std::fs::write(cwd.join(name), key()).unwrap();
        }
        let allowances = Allowances::default();
        let view = SecrecyView { cwd: &cwd, session_dir: &session, own_dirs: &[], allowances: &allowances, home: None };
        std::fs::write(cwd.join(".git/index"), super::super::tests_index_of(&[("fixture", key().as_bytes())])).unwrap();
        assert_eq!((view.is_key(&cwd.join("fixture")), view.is_key(&cwd.join("deploy"))), (false, true));
        assert!(view.is_masked(&cwd.join("deploy")));
        std::fs::write(
            cwd.join(".git/index"),
            super::super::tests_index_of(&[("deploy", b"other"), ("fixture", key().as_bytes())]),
        )
        .unwrap();
        assert_eq!((view.is_key(&cwd.join("fixture")), view.is_key(&cwd.join("deploy"))), (false, true));
    }
}
