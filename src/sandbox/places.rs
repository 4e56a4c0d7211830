//! The places of a profile: what a command may write, what of that it may not, and what it does not get to see.
//!
//! Looked up on the disk right before a command starts, so it is kept cheap: known names, and a short walk.

use super::profile::{Bounds, Namespaces, Network, Profile};
use super::repository::Repository;
use crate::domain::paths::{is_protected_for_commands, is_secret};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// Where a command runs.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The working directory: absolute and resolved.
    pub cwd: &'a Path,
    /// The session's folder; commands write its `data/`.
    pub session_dir: &'a Path,
    /// lisle's own folders.
    pub own_dirs: &'a [PathBuf],
    /// Folders of package managers that may be written.
    pub caches: &'a [PathBuf],
    /// The user's home directory.
    pub home: Option<&'a Path>,
    /// What commands can get here.
    pub namespaces: Namespaces,
    /// What they reach of the network.
    pub network: &'a Network,
}

/// The workspace profile for a command that runs there.
#[must_use]
pub fn workspace(site: &Site<'_>) -> Profile {
    let repository = Repository::of(site.cwd);
    let mut writable = vec![site.cwd.to_owned(), site.session_dir.join("data")];
    writable.extend(temp(site.home));
    writable.extend(site.caches.iter().cloned());
    let mut pinned = Vec::new();
    if let Some(repository) = &repository {
        // In the folder that it lies in it could be moved away, and another one be made in its place.
        pinned.push(repository.common.clone());
        if !repository.own.starts_with(&repository.common) {
            pinned.push(repository.own.clone());
        }
    }
    let mut protected = protected(site, repository.as_ref());
    protected.extend(site.own_dirs.iter().cloned());
    let mut masked = ways_out();
    if *site.network != Network::Open {
        masked.extend(resolvers());
    }
    Profile::Workspace(Bounds {
        writable,
        protected,
        pinned,
        masked,
        network: site.network.clone(),
        namespaces: site.namespaces,
        ..Bounds::default()
    })
}

/// The read-only profile for a command that runs there.
#[must_use]
pub fn read_only(site: &Site<'_>) -> Profile {
    let masked = match site.namespaces {
        Namespaces::With => secrets(site),
        Namespaces::Without => Vec::new(),
    };
    Profile::ReadOnly(Bounds {
        writable: vec![site.session_dir.join("data")],
        masked,
        namespaces: site.namespaces,
        ..Bounds::default()
    })
}

/// What there is of paths that configure or run code: in the working directory, in the home directory where that may be
/// written, and in the repository. Those of the repository are named also where they are not there.
#[must_use]
pub fn protected(site: &Site<'_>, repository: Option<&Repository>) -> Vec<PathBuf> {
    let mut out = in_folder(site.cwd);
    if let Some(home) = site.home.filter(|home| home.starts_with(site.cwd) && *home != site.cwd) {
        out.extend(in_folder(home));
    }
    // The file of a worktree says where its repository is.
    let pointer = site.cwd.join(".git");
    if pointer.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
        out.push(pointer);
    }
    out.extend(repository.map(Repository::protected).unwrap_or_default());
    out
}

/// Protected entries of one folder, and of the folders in it that hold such among others.
fn in_folder(dir: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for name in names(dir) {
        if is_protected_for_commands(Path::new(&name)) {
            out.push(dir.join(&name));
        } else if [".config", ".github"].iter().any(|parent| name == *parent) {
            let below = names(&dir.join(&name)).map(|inner| Path::new(&name).join(inner));
            out.extend(below.filter(|path| is_protected_for_commands(path)).map(|path| dir.join(path)));
        }
    }
    out
}

fn names(dir: &Path) -> impl Iterator<Item = std::ffi::OsString> + use<> {
    std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.file_name())
}

/// Folders for temporary files.
fn temp(home: Option<&Path>) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = ["/tmp", "/var/tmp"].map(PathBuf::from).to_vec();
    // One that holds more than temporary files would open all of that.
    let own = std::env::temp_dir();
    if own.is_absolute() && own.parent().is_some() && !home.is_some_and(|home| home.starts_with(&own)) {
        out.push(own);
    }
    out
}

/// Sockets of programs that run what they are told, outside, with all the rights of the user or more.
fn ways_out() -> Vec<PathBuf> {
    let uid = rustix::process::geteuid().as_raw();
    let runtime = PathBuf::from(format!("/run/user/{uid}"));
    let mut out: Vec<PathBuf> = [
        "docker.sock",
        "podman/podman.sock",
        "containerd/containerd.sock",
        "crio/crio.sock",
        "systemd/private",
        "lxd.socket",
    ]
    .iter()
    .flat_map(|name| [Path::new("/run").join(name), runtime.join(name)])
    .collect();
    out.push(runtime.join("bus"));
    out.push(PathBuf::from(format!("/tmp/tmux-{uid}")));
    if uid == 0 {
        out.push("/run/dbus/system_bus_socket".into());
    }
    out.retain(|path| path.exists());
    out
}

/// Sockets of programs that look up names for others: a way out for whoever writes into the names.
fn resolvers() -> Vec<PathBuf> {
    let names = [
        "systemd/resolve",
        "systemd/userdb",
        "nscd",
        "avahi-daemon/socket",
        "dbus/system_bus_socket",
        "dnsmasq",
        "unbound",
        "sssd",
    ];
    let paths = names.iter().map(|name| Path::new("/run").join(name)).chain([PathBuf::from("/var/lib/sss/pipes")]);
    paths.filter(|path| path.exists()).collect()
}

/// Names that are not gone into when secrets are looked for.
const SKIPPED: &[&str] = &["node_modules", "target", "vendor", "dist", "build", ".venv", "venv", "__pycache__"];
/// How deep below the working directory `.env` files are looked for, and among how many entries.
const DEPTH: usize = 3;
const MOST: usize = 2_000;

/// Secret places that are there: of the home directory, lisle's own, and `.env` files below the working directory.
fn secrets(site: &Site<'_>) -> Vec<PathBuf> {
    let mut out = Vec::new();
    if let Some(home) = site.home {
        for folder in ["", ".config", ".local/share", ".cargo", ".docker", ".config/gh", "snap", "Library"] {
            let below = names(&home.join(folder)).map(|name| Path::new(folder).join(name));
            out.extend(below.filter(|path| is_secret(path)).map(|path| home.join(path)));
        }
    }
    for dir in site.own_dirs {
        out.extend(["credentials", "config.toml"].iter().map(|name| dir.join(name)).filter(|path| path.exists()));
    }
    out.extend(env_files(site.cwd));
    // What the command works in cannot be empty.
    out.retain(|path| !site.cwd.starts_with(path) && !site.session_dir.starts_with(path));
    out.sort();
    out.dedup();
    // What lies in an empty folder is not there any more.
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in out {
        if !kept.last().is_some_and(|above| path.starts_with(above)) {
            kept.push(path);
        }
    }
    kept
}

fn env_files(cwd: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = VecDeque::from([(cwd.to_owned(), 1)]);
    let mut looked = 0;
    while let Some((dir, depth)) = open.pop_front() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            looked += 1;
            if looked > MOST {
                open.clear();
                break;
            }
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if name.starts_with(".env") && is_secret(Path::new(name)) {
                found.push(entry.path());
            } else if is_dir && depth < DEPTH && !name.starts_with('.') && !SKIPPED.contains(&name) {
                open.push_back((entry.path(), depth + 1));
            }
        }
    }
    if found.is_empty() {
        return found;
    }
    // What git has is no secret to whoever reads the repository, and would show as changed.
    let index = Repository::of(cwd).and_then(|repository| Some((index(&repository)?, repository.top)));
    if let Some((index, top)) = index {
        found.retain(|path| {
            let name = path.strip_prefix(&top).map(|path| path.as_os_str().as_encoded_bytes()).unwrap_or_default();
            name.is_empty() || !is_listed(&index, name)
        });
    }
    found
}

/// Whether git's list has this path: written in full, its length in the two bytes before it or before two bytes more, and
/// a zero behind it (versions 2 and 3 of <https://git-scm.com/docs/index-format>; version 4 has no paths in full).
fn is_listed(index: &[u8], path: &[u8]) -> bool {
    let length = u16::try_from(path.len()).unwrap_or(u16::MAX).min(0xfff);
    let says_length = |at: Option<usize>| {
        let bytes = at.and_then(|at| index.get(at..at + 2)).and_then(|bytes| <[u8; 2]>::try_from(bytes).ok());
        bytes.is_some_and(|bytes| u16::from_be_bytes(bytes) & 0xfff == length)
    };
    memchr::memmem::find_iter(index, path)
        .filter(|at| index.get(at + path.len()) == Some(&0))
        .any(|at| says_length(at.checked_sub(2)) || says_length(at.checked_sub(4)))
}

/// The list of the files that git has; `None` where it is too long to be looked into for this.
fn index(repository: &Repository) -> Option<Vec<u8>> {
    const MOST: u64 = 20 * 1024 * 1024;
    let path = repository.own.join("index");
    (path.metadata().ok()?.len() <= MOST).then(|| std::fs::read(path).ok()).flatten()
}

/// The usual folders that package managers and compilers write, in `home` or where `env` says. Not all of them are there.
#[must_use]
pub fn usual_caches(home: &Path, env: &dyn Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let named = |name: &str, usual: &str| {
        let named = env(name).map(PathBuf::from).filter(|path| path.is_absolute() && path.parent().is_some());
        named.unwrap_or_else(|| home.join(usual))
    };
    let cargo = named("CARGO_HOME", ".cargo");
    let gradle = named("GRADLE_USER_HOME", ".gradle");
    let go = named("GOPATH", "go");
    let mut out = vec![
        named("XDG_CACHE_HOME", ".cache"),
        cargo.join("registry"),
        cargo.join("git"),
        cargo.join(".package-cache"),
        cargo.join(".package-cache-mutate"),
        cargo.join(".global-cache"),
        named("GOMODCACHE", "go/pkg/mod"),
        go.join("pkg"),
        named("npm_config_cache", ".npm"),
    ];
    out.extend(["caches", "daemon", "native", "notifications", "workers", "wrapper"].map(|name| gradle.join(name)));
    let usual = [
        ".m2/repository",
        ".m2/wrapper",
        ".ivy2/cache",
        ".sbt/boot",
        ".nuget/packages",
        ".yarn/berry/cache",
        ".bun/install/cache",
        ".local/share/pnpm",
        ".local/share/uv",
        ".pub-cache",
        ".hex/packages",
        ".stack",
        ".cabal/packages",
        ".conda/pkgs",
        ".composer/cache",
        ".julia/compiled",
        ".terraform.d/plugin-cache",
        "Library/Caches",
    ];
    out.extend(usual.map(|name| home.join(name)));
    for name in ["GOCACHE", "PIP_CACHE_DIR", "UV_CACHE_DIR", "SCCACHE_DIR", "CCACHE_DIR", "YARN_CACHE_FOLDER"] {
        out.extend(env(name).map(PathBuf::from).filter(|path| path.is_absolute() && path.parent().is_some()));
    }
    // A folder that holds the home directory would open all of it.
    out.retain(|path| !home.starts_with(path));
    out.sort();
    out.dedup();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for file in files {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        (dir, root)
    }

    fn site<'a>(cwd: &'a Path, home: &'a Path, own_dirs: &'a [PathBuf]) -> Site<'a> {
        let session_dir = Path::new("/no/session");
        Site {
            cwd,
            session_dir,
            own_dirs,
            caches: &[],
            home: Some(home),
            namespaces: Namespaces::With,
            network: &Network::Open,
        }
    }

    #[test]
    fn what_configures_or_runs_code_is_protected_where_it_may_be_written() {
        let (_dir, root) = tree(&[
            "home/.bashrc",
            "home/.config/fish/config.fish",
            "home/p/.envrc",
            "home/p/.github/workflows/ci.yml",
            "home/p/.github/CODEOWNERS",
            "home/p/.vscode/tasks.json",
            "home/p/src/main.rs",
        ]);
        let (home, p) = (root.join("home"), root.join("home/p"));
        let mut found = protected(&site(&p, &home, &[]), None);
        found.sort();
        assert_eq!(found, [p.join(".envrc"), p.join(".github/workflows"), p.join(".vscode")]);
        let mut found = protected(&site(&root, &home, &[]), None);
        found.sort();
        assert_eq!(found, [home.join(".bashrc"), home.join(".config/fish")]);
    }

    #[test]
    fn secrets_are_found_and_not_the_folder_that_is_worked_in() {
        let (_dir, root) = tree(&[
            "home/.ssh/id_ed25519",
            "home/.aws/credentials",
            "home/.npmrc",
            "home/.cargo/credentials.toml",
            "home/.cargo/config.toml",
            "home/.config/gh/hosts.yml",
            "home/.config/git/config",
            "own/credentials",
            "p/.env",
            "p/.env.example",
            "p/a/b/.env.local",
            "p/a/b/c/.env",
            "p/node_modules/x/.env",
        ]);
        let (home, p, own) = (root.join("home"), root.join("p"), [root.join("own")]);
        let mut expected: Vec<PathBuf> =
            [".ssh", ".aws", ".npmrc", ".cargo/credentials.toml", ".config/gh"].map(|name| home.join(name)).to_vec();
        expected.extend(["own/credentials", "p/.env", "p/a/b/.env.local"].map(|name| root.join(name)));
        expected.sort();
        assert_eq!(secrets(&site(&p, &home, &own)), expected);
        let ssh = home.join(".ssh");
        assert!(!secrets(&site(&ssh, &home, &own)).contains(&ssh));
    }

    #[test]
    fn an_env_file_that_git_has_stays() {
        let (_dir, root) = tree(&["p/.env", "p/.env.local", "p/.git/HEAD", "p/.git/objects/x", "p/.git/refs/x"]);
        // Of another folder's file of the same name nothing is said.
        std::fs::write(root.join("p/.git/index"), b"DIRC....\0\x0a.env.local\0..\0\x06x/.env\0").unwrap();
        assert_eq!(env_files(&root.join("p")), [root.join("p/.env")]);
    }

    #[test]
    fn caches_never_open_the_home_directory() {
        let env = |name: &str| match name {
            "CARGO_HOME" => Some("/fast/cargo".to_owned()),
            "XDG_CACHE_HOME" => Some("/home".to_owned()),
            "GOCACHE" => Some("/".to_owned()),
            _ => None,
        };
        let found = usual_caches(Path::new("/home/u"), &env);
        assert!(found.contains(&"/fast/cargo/registry".into()) && found.contains(&"/home/u/.npm".into()));
        assert!(found.iter().all(|path| !Path::new("/home/u").starts_with(path)), "{found:?}");
        assert!(!found.iter().any(|path| path.ends_with(".cargo") || path.ends_with("bin")));
    }
}
