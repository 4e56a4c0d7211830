//! Hosts that need no question: package registries, the system's package mirrors, the remotes of the repository, and what
//! the user's settings name of the private network.

use super::super::plain_file;
use super::super::repository::Repository;
use super::target::Target;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The embedded list.
const REGISTRIES: &str = include_str!("../../../hosts/registries.toml");

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RegistryFile {
    #[serde(default)]
    registry: Vec<Registry>,
    #[serde(default)]
    remote: Vec<Companion>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Registry {
    name: String,
    hosts: Vec<String>,
}

/// Hosts that belong to a remote at another one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Companion {
    host: String,
    hosts: Vec<String>,
}

fn file() -> &'static RegistryFile {
    static READ: OnceLock<RegistryFile> = OnceLock::new();
    // A test reads it; what cannot be read lets nothing through.
    READ.get_or_init(|| toml::from_str(REGISTRIES).unwrap_or_default())
}

/// Ports of an entry that names none.
const WEB: [u16; 2] = [443, 80];

/// Hosts that a session's commands reach without a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownHosts {
    remotes: Vec<Target>,
    private: Vec<(String, Option<u16>)>,
}

impl KnownHosts {
    /// Hosts for a session in `cwd`. Of a repository those remotes count that it had when a session first worked in it,
    /// which the file `seen` tells: what commands add since is asked about as any other host, and of a repository that was
    /// none then all of it. `private`: hosts of the private
    /// network that the user's settings name, each with a port or for all of them. Blocks.
    #[must_use]
    pub fn of(cwd: &Path, private: &[String], seen: Option<&Path>) -> Self {
        let remotes = match (Repository::of(cwd), seen) {
            (Some(repository), Some(seen)) => first_seen(seen, &repository.common, remotes(&repository)),
            (Some(repository), None) => remotes(&repository),
            // One that is made here later was made by whoever works here.
            (None, Some(seen)) => first_seen(seen, cwd, Vec::new()),
            (None, None) => Vec::new(),
        };
        let private = private.iter().filter_map(|text| entry(text)).collect();
        Self { remotes, private }
    }

    /// Reason why this may be reached without a question, in a few words; `None` if it may not.
    #[must_use]
    pub fn why(&self, target: &Target) -> Option<String> {
        let web = WEB.contains(&target.port());
        let registry = file().registry.iter().find(|registry| registry.hosts.iter().any(|host| host == target.host()));
        if let Some(registry) = registry.filter(|_| web) {
            return Some(format!("package registry {}", registry.name));
        }
        if self.remotes.contains(target) {
            return Some("remote of the repository".to_owned());
        }
        let near = |companion: &&Companion| self.remotes.iter().any(|remote| remote.host() == companion.host);
        let mut companions = file().remote.iter().filter(near);
        if web && companions.any(|companion| companion.hosts.iter().any(|host| host == target.host())) {
            return Some("remote of the repository".to_owned());
        }
        (web && mirrors().iter().any(|host| host == target.host())).then(|| "package mirror of the system".to_owned())
    }

    /// The user's settings name it, wherever it lies.
    #[must_use]
    pub fn names_private(&self, target: &Target) -> bool {
        let is = |(host, port): &(String, Option<u16>)| {
            host == target.host() && port.is_none_or(|port| port == target.port())
        };
        self.private.iter().any(is)
    }

    /// Hosts that a command reaches without the proxy: its own network, except the settings'
    /// private hosts on this machine.
    #[must_use]
    pub fn direct(&self) -> Vec<&'static str> {
        let named = |host: &str| self.private.iter().any(|(named, _)| named == host);
        ["localhost", "127.0.0.1", "::1"].into_iter().filter(|host| !named(host)).collect()
    }
}

/// Reads `HOST` or `HOST:PORT`; `None` for what is neither.
#[must_use]
pub fn entry(text: &str) -> Option<(String, Option<u16>)> {
    if let Some(target) = Target::parse(text, None) {
        return Some((target.host().to_owned(), Some(target.port())));
    }
    Target::new(text, 1).map(|target| (target.host().to_owned(), None))
}

/// Remotes of the repository, for fetch and push, from its own configuration.
fn remotes(repository: &Repository) -> Vec<Target> {
    const MOST: u64 = 1024 * 1024;
    let path = repository.common.join("config");
    let text = plain_file::text(&path, MOST).unwrap_or_default();
    let mut out: Vec<Target> = addresses(&text).filter_map(remote).collect();
    out.sort();
    out.dedup();
    out
}

/// A line of the file of remotes, which only grows.
#[derive(Debug, Deserialize, Serialize)]
struct SeenRepository {
    /// Its folder, as git names it.
    repository: PathBuf,
    /// Its remotes then: `HOST:PORT`.
    remotes: Vec<String>,
}

/// Those of the remotes that the repository had when it was first seen; all of them if that is now. A repository in the
/// working tree of one that was seen has those of that one.
fn first_seen(file: &Path, repository: &Path, remotes: Vec<Target>) -> Vec<Target> {
    const MOST: u64 = 64 * 1024 * 1024;
    let text = plain_file::text(file, MOST).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<SeenRepository>(line).ok());
    // The first line of a repository counts, whatever was added since; of several above it the nearest.
    let mut known: Option<SeenRepository> = None;
    for line in lines {
        let tree = line.repository.parent().filter(|_| line.repository.ends_with(".git")).unwrap_or(&line.repository);
        let nearer =
            |known: &SeenRepository| line.repository.components().count() > known.repository.components().count();
        if repository.starts_with(tree) && known.as_ref().is_none_or(nearer) {
            known = Some(line);
        }
    }
    let told = |target: &Target| format!("{}:{}", target.host(), target.port());
    if let Some(known) = known {
        return remotes.into_iter().filter(|target| known.remotes.contains(&told(target))).collect();
    }
    let line = SeenRepository { repository: repository.to_owned(), remotes: remotes.iter().map(told).collect() };
    let append = || -> std::io::Result<()> {
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(file)?;
        file.write_all(format!("{}\n", serde_json::to_string(&line)?).as_bytes())
    };
    if let Err(error) = append() {
        tracing::warn!("can't write {}, so no remotes are allowed: {error}", file.display());
        return Vec::new();
    }
    remotes
}

/// The addresses of remotes and submodules in a configuration of git.
fn addresses(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.lines().filter_map(move |line| {
        let line = line.trim();
        if let Some(section) = line.strip_prefix('[') {
            let section = section.to_ascii_lowercase();
            inside = section.starts_with("remote ") || section.starts_with("submodule ");
            return None;
        }
        let (key, value) = line.split_once('=')?;
        let key = key.trim().to_ascii_lowercase();
        (inside && matches!(key.as_str(), "url" | "pushurl")).then(|| value.trim().trim_matches('"'))
    })
}

/// The server of a remote: `https://host/…`, `ssh://user@host:port/…`, `user@host:path`. `None` for a path.
fn remote(address: &str) -> Option<Target> {
    if let Some((scheme, rest)) = address.split_once("://") {
        let usual = match scheme.to_ascii_lowercase().as_str() {
            "https" => 443,
            "http" => 80,
            "ssh" | "git+ssh" => 22,
            "git" => 9418,
            _ => return None,
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let server = authority.rsplit_once('@').map_or(authority, |(_, server)| server);
        return Target::parse(server, Some(usual));
    }
    // `host:path` of ssh; a slash before the colon makes it a path.
    let (server, _) = address.split_once(':').filter(|(server, _)| !server.contains('/'))?;
    Target::new(server.rsplit_once('@').map_or(server, |(_, host)| host), 22)
}

/// The hosts that this system installs its own packages from.
fn mirrors() -> &'static [String] {
    static READ: OnceLock<Vec<String>> = OnceLock::new();
    READ.get_or_init(|| {
        let mut files = vec![std::path::PathBuf::from("/etc/apt/sources.list")];
        let more = std::fs::read_dir("/etc/apt/sources.list.d").into_iter().flatten().flatten();
        files.extend(
            more.map(|entry| entry.path())
                .filter(|path| path.extension().is_some_and(|ending| ending == "list" || ending == "sources")),
        );
        let mut out: Vec<String> = files
            .iter()
            .filter_map(|path| std::fs::read_to_string(path).ok())
            .flat_map(|text| mirrors_in(&text))
            .collect();
        out.sort();
        out.dedup();
        out
    })
}

fn mirrors_in(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let listed = lines.filter(|line| line.starts_with("deb") || line.starts_with("URIs:"));
    let words = listed.flat_map(str::split_whitespace);
    let addresses = words.filter(|word| word.starts_with("http://") || word.starts_with("https://"));
    addresses
        .filter_map(remote)
        .filter(|target| WEB.contains(&target.port()))
        .map(|target| target.host().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(text: &str) -> Target {
        Target::parse(text, None).unwrap()
    }

    #[test]
    fn the_embedded_list_is_sound() {
        let file: RegistryFile = toml::from_str(REGISTRIES).unwrap();
        let hosts =
            file.registry.iter().flat_map(|one| &one.hosts).chain(file.remote.iter().flat_map(|one| &one.hosts));
        let mut count = 0;
        for host in hosts {
            assert_eq!(Target::new(host, 443).unwrap().host(), host);
            assert!(!crate::domain::address::is_private_name(host), "{host}");
            count += 1;
        }
        assert!(count > 10);
    }

    #[test]
    fn registries_pass_at_the_ports_of_the_web() {
        let known = KnownHosts::default();
        assert_eq!(known.why(&target("static.crates.io:443")).as_deref(), Some("package registry crates.io"));
        assert!(known.why(&target("PYPI.org.:443")).is_some());
        for not in
            ["static.crates.io:22", "x.static.crates.io:443", "crates.io.evil.example:443", "codeload.github.com:443"]
        {
            assert_eq!(known.why(&target(not)), None, "{not}");
        }
    }

    #[test]
    fn remotes_of_the_repository_pass_at_their_port() {
        let dir = tempfile::tempdir().unwrap();
        let git = dir.path().join(".git");
        for folder in ["objects", "refs"] {
            std::fs::create_dir_all(git.join(folder)).unwrap();
        }
        std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let config = "[core]\n\turl = https://not.example/\n[remote \"origin\"]\n\turl = https://me:pw@code.example/x.git\n\tpushurl = git@push.example:me/x.git\n\
            [remote \"up\"]\n\turl=ssh://git@up.example:2222/x\n\turl = ../elsewhere\n\turl = /a:b\n[submodule \"s\"]\n\turl = https://GitHub.com/a/b\n\
            [branch \"main\"]\n\turl = https://branch.example\n";
        std::fs::write(git.join("config"), config).unwrap();
        let known = KnownHosts::of(&dir.path().canonicalize().unwrap(), &[], None);
        for may in
            ["code.example:443", "push.example:22", "up.example:2222", "github.com:443", "codeload.github.com:443"]
        {
            assert!(known.why(&target(may)).is_some(), "{may}");
        }
        for not in ["code.example:80", "not.example:443", "up.example:22", "branch.example:443", "elsewhere:22", "a:22"]
        {
            assert_eq!(known.why(&target(not)), None, "{not}");
        }
    }

    #[test]
    fn a_remote_that_was_added_since_the_first_session_is_not_among_them() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let seen = root.join("remotes.jsonl");
        let write = |folder: &str, urls: &[&str]| {
            let git = root.join(folder).join(".git");
            for folder in ["objects", "refs"] {
                std::fs::create_dir_all(git.join(folder)).unwrap();
            }
            std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
            let remote = |(at, url): (usize, &&str)| format!("[remote \"r{at}\"]\n\turl = {url}\n");
            std::fs::write(git.join("config"), urls.iter().enumerate().map(remote).collect::<String>()).unwrap();
        };
        let passes = |folder: &str, host: &str| {
            KnownHosts::of(&root.join(folder), &[], Some(&seen)).why(&target(&format!("{host}:443"))).is_some()
        };
        write("work", &["https://one.example/x"]);
        assert!(passes("work", "one.example"));
        write("work", &["https://one.example/x", "https://evil.example/x"]);
        assert!(passes("work", "one.example") && !passes("work", "evil.example"));
        // A repository that a command makes in it, too.
        write("work/sub", &["https://evil.example/x", "https://one.example/x"]);
        assert!(passes("work/sub", "one.example") && !passes("work/sub", "evil.example"));
        write("other", &["https://two.example/x"]);
        assert!(passes("other", "two.example"));
        // What is made where none was, was made by whoever worked there.
        std::fs::create_dir_all(root.join("none-yet")).unwrap();
        assert!(!passes("none-yet", "evil.example"));
        write("none-yet", &["https://evil.example/x"]);
        write("none-yet/sub", &["https://evil.example/x"]);
        assert!(!passes("none-yet", "evil.example") && !passes("none-yet/sub", "evil.example"));
        // Where nothing can be kept nothing counts.
        assert_eq!(KnownHosts::of(&root.join("work/sub"), &[], Some(&root.join("none/x"))), KnownHosts::default());
    }

    #[test]
    fn the_settings_name_hosts_of_the_private_network() {
        let known =
            KnownHosts::of(Path::new("/nowhere"), &["127.0.0.1:4873".into(), "Nas.local".into(), "a b".into()], None);
        for (to, named) in
            [("127.0.0.1:4873", true), ("127.0.0.1:22", false), ("nas.local:80", true), ("[::1]:4873", false)]
        {
            assert_eq!(known.names_private(&target(to)), named, "{to}");
        }
        assert_eq!(known.direct(), ["localhost", "::1"]);
        assert_eq!(KnownHosts::default().direct(), ["localhost", "127.0.0.1", "::1"]);
    }

    #[test]
    fn mirrors_are_read_in_both_forms() {
        let list = "deb [signed-by=/x] http://mirror.example/debian stable main\n# deb http://off.example/ x\ndeb-src https://src.example:443/d x\n\
            deb cdrom:[x]/ y\ndeb http://odd.example:3142/debian x\n";
        assert_eq!(mirrors_in(list), ["mirror.example", "src.example"]);
        assert_eq!(
            mirrors_in("Types: deb\nURIs: http://a.example/u http://b.example/u\nSuites: x\n"),
            ["a.example", "b.example"]
        );
    }
}
