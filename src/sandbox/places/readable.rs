//! Paths that a command may read beside the working directory: the embedded list (`places.toml`) on this machine.

use crate::domain::paths::is_secret;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The list, as it stands in the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadableList {
    system: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    home: Vec<PathBuf>,
    pub(super) caches_of_tools: Vec<String>,
    variables: BTreeMap<String, Vec<PathBuf>>,
    pub(super) cache: Vec<ToolCache>,
}

/// A folder of data that a tool writes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolCache {
    pub(super) path: PathBuf,
    #[serde(default)]
    pub(super) variable: Option<String>,
    #[serde(default)]
    pub(super) below: PathBuf,
    #[serde(default)]
    pub(super) tell: Option<String>,
    pub(super) seeds: Vec<PathBuf>,
}

pub(super) static LIST: LazyLock<ReadableList> =
    LazyLock::new(|| toml::from_str(include_str!("places.toml")).unwrap_or_default());

/// System directories that are there, and what of them is not to be seen.
#[must_use]
pub(super) fn system() -> (Vec<PathBuf>, Vec<PathBuf>) {
    let mut out: Vec<PathBuf> = LIST.system.iter().filter(|path| path.exists()).cloned().collect();
    // The file that says who resolves names may lie anywhere.
    let resolver = Path::new("/etc/resolv.conf").canonicalize().ok();
    out.extend(resolver.filter(|path| !path.starts_with("/etc") && !is_secret(path)));
    (out, LIST.hidden.iter().flat_map(|path| matching(path)).collect())
}

/// Toolchains, languages and git's settings of the user, as variables and the search path of programs name them, too.
#[must_use]
pub(super) fn of_user(home: Option<&Path>, env: &dyn Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = home.iter().flat_map(|home| LIST.home.iter().map(|path| home.join(path))).collect();
    // A variable must not open the home directory, or more.
    let sound = |path: &Path| {
        path.is_absolute()
            && path.parent().is_some()
            && !is_secret(path)
            && !home.is_some_and(|home| home.starts_with(path))
            && !KERNEL.iter().any(|top| path.starts_with(top))
            && path.components().count() > 2
    };
    for (name, below) in &LIST.variables {
        let Some(value) = env(name) else { continue };
        let folders = std::env::split_paths(&value).filter(|path| sound(path));
        out.extend(folders.flat_map(|folder| below.iter().map(move |name| folder.join(name))));
    }
    for dir in env("PATH").iter().flat_map(|value| std::env::split_paths(value).collect::<Vec<_>>()) {
        if !sound(&dir) {
            continue;
        }
        // Programs lie beside what they need: `tool/bin` beside `tool/lib`.
        let above = dir.parent().filter(|above| sound(above) && !above.ends_with(".local"));
        let kin = above.filter(|above| ["lib", "lib64", "libexec"].iter().any(|name| above.join(name).is_dir()));
        out.extend(kin.map(Path::to_owned));
        out.push(dir);
    }
    out.retain(|path| path.symlink_metadata().is_ok());
    out
}

/// Folders of the kernel: nothing in them is anybody's to allow.
pub(super) const KERNEL: &[&str] = &["/proc", "/sys", "/dev", "/run"];

/// A path of the list that is there; with a `*` in its last part those that it stands for.
fn matching(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let Some((start, end)) = name.split_once('*') else {
        return path.symlink_metadata().is_ok().then(|| path.to_owned()).into_iter().collect();
    };
    let entries = path.parent().and_then(|dir| std::fs::read_dir(dir).ok()).into_iter().flatten().flatten();
    let fits = |name: &str| name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end);
    entries.filter(|entry| entry.file_name().to_str().is_some_and(fits)).map(|entry| entry.path()).collect()
}

/// The same paths where what is hidden cannot be masked: a folder that holds such is replaced by all else in it.
#[must_use]
pub(super) fn without(paths: Vec<PathBuf>, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut open = paths;
    open.reverse();
    while let Some(path) = open.pop() {
        if hidden.iter().any(|one| path.starts_with(one)) {
            continue;
        }
        if !hidden.iter().any(|one| one.starts_with(&path)) {
            out.push(path);
            continue;
        }
        let mut below: Vec<PathBuf> =
            std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        below.sort();
        open.extend(below.into_iter().rev());
    }
    out
}

/// System directories without folders of the user, or of lisle, that lie below them: the home of a service in `/opt` is no
/// part of the system. Blocks.
#[must_use]
pub(super) fn apart(system: Vec<PathBuf>, own: &[&Path]) -> Vec<PathBuf> {
    let real = own.iter().filter_map(|dir| dir.canonicalize().ok());
    let all = own.iter().map(|dir| dir.to_path_buf()).chain(real);
    let is_below = |dir: &PathBuf| system.iter().any(|top| dir.starts_with(top) && dir != top);
    let below: Vec<PathBuf> = all.filter(is_below).collect();
    if below.is_empty() { system } else { without(system, &below) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_in_a_system_directory_is_none_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for name in ["opt/tool/bin", "opt/service/.config", "etc"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        std::fs::write(root.join("opt/service/.bashrc"), "").unwrap();
        std::os::unix::fs::symlink(root.join("opt/service"), root.join("home")).unwrap();
        let system = || vec![root.join("etc"), root.join("opt")];
        let expected = [root.join("etc"), root.join("opt/tool")];
        for home in ["opt/service", "home"] {
            assert_eq!(apart(system(), &[&root.join(home)]), expected, "{home}");
        }
        assert_eq!(apart(system(), &[&root.join("elsewhere"), Path::new("/"), &root.join("opt")]), system());
    }

    #[test]
    fn the_list_is_understood() {
        let list: ReadableList = toml::from_str(include_str!("places.toml")).unwrap();
        assert!(list.system.iter().chain(&list.hidden).all(|path| path.is_absolute()));
        assert!(list.home.iter().all(|path| path.is_relative()));
        // Of `.ssh` the keys of hosts alone, which are public.
        let secret: Vec<&PathBuf> = list.home.iter().filter(|path| is_secret(path)).collect();
        assert_eq!(secret, [Path::new(".ssh/known_hosts")]);
        // Of a folder that holds credentials only parts are listed.
        for whole in [".cargo", ".gradle", ".m2", ".config", ".local", ".local/share", ".cache", ".docker", ".composer"]
        {
            assert!(!list.home.contains(&PathBuf::from(whole)), "{whole}");
        }
        assert!(list.cache.iter().all(|cache| cache.path.is_relative()));
        assert!(
            !list
                .cache
                .iter()
                .flat_map(|cache| &cache.seeds)
                .any(|seed| seed.ends_with("_npx") || seed.ends_with("bin"))
        );
    }

    #[test]
    fn variables_and_the_search_path_never_open_the_home_directory() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let home = root.join("home/u");
        for folder in
            ["tools/node/bin", "tools/node/lib", ".local/bin", ".local/lib", "bin", ".ssh/bin", "cargo/registry"]
        {
            std::fs::create_dir_all(home.join(folder)).unwrap();
        }
        let at = |name: &str| home.join(name).display().to_string();
        let path = ["tools/node/bin", ".local/bin", "bin", ".ssh/bin", ""].map(at).join(":");
        let env = |name: &str| match name {
            "PATH" => Some(format!("{path}:/:/tmp:relative:{}", root.join("home").display())),
            "CARGO_HOME" => Some(at("cargo")),
            "JAVA_HOME" => Some("/".to_owned()),
            "GOPATH" => Some(at("")),
            _ => None,
        };
        let mut found: Vec<PathBuf> = of_user(Some(&home), &env);
        found.sort();
        found.dedup();
        let names = [".local/bin", ".local/lib", "bin", "cargo/registry", "tools/node", "tools/node/bin"];
        assert_eq!(found, names.map(|name| home.join(name)));
    }

    #[test]
    fn what_is_hidden_is_left_out_of_its_folder() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for file in ["etc/passwd", "etc/shadow", "etc/ssh/ssh_config", "etc/ssh/ssh_host_rsa_key", "usr/x"] {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), "x").unwrap();
        }
        let hidden: Vec<PathBuf> = [root.join("etc/shadow"), root.join("etc/ssh/ssh_host_*_key")]
            .iter()
            .flat_map(|path| matching(path))
            .collect();
        let left = without(vec![root.join("etc"), root.join("usr")], &hidden);
        assert_eq!(left, ["etc/passwd", "etc/ssh/ssh_config", "usr"].map(|name| root.join(name)));
    }
}
