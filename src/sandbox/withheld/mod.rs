//! Things that the sandbox kept from a command that failed, as exact paths and sockets: found by what the command
//! wrote and by what lies outside of its profile. The same words, given back as `access`, open just these after an
//! answer.

use self::refusal::{HIDDEN, REFUSED};
use super::profile::Bounds;
use crate::domain::access::Service;
use crate::domain::paths::{is_protected_for_commands, is_secret, is_secret_file, lexical};
use crate::domain::sanitise::reveal_line;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub mod refusal;
pub mod services;
mod ssh;

/// Lines of the end of an output that are looked at for paths.
const LINES: usize = 200;
/// Entries of each list.
const MOST: usize = 5;
/// Packages that are looked at.
const ENTRIES: usize = 5_000;

/// Messages of programs about a missing file, in small letters.
const MISSING: &[&str] = &[
    "no such file or directory",
    "enoent",
    "os error 2)",
    "cannot find",
    "not found",
    "does not exist",
    "does not appear to be a git repository",
    "failed to read",
    "failed to load",
    "no module named",
];

/// System folders: who writes there needs more than a path.
const SYSTEM: &[&str] =
    &["/usr", "/etc", "/var", "/lib", "/lib64", "/bin", "/sbin", "/boot", "/opt", "/proc", "/sys", "/dev"];

/// Messages of programs that cannot change something mounted read-only, in small letters. Unlike other words of
/// refusal these are believed of a command that ended well, too.
const NOT_CHANGED: &[&str] = &[
    "read-only file system",
    "erofs",
    "os error 30)",
    "device or resource busy",
    "ebusy",
    "could not write config file",
];

/// Things that were kept from a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Withheld {
    /// Secrets that it opened, and that said nothing.
    pub secrets: Vec<PathBuf>,
    /// Secrets that it wanted to change.
    pub changed: Vec<PathBuf>,
    /// Hidden files and folders.
    pub read: Vec<PathBuf>,
    /// Read-only paths.
    pub write: Vec<PathBuf>,
    /// Sockets of other programs.
    pub sockets: Vec<Service>,
}

/// A command that is over.
#[derive(Clone, Copy, Debug)]
pub struct EndedCommand<'a> {
    /// Profile of the command.
    pub bounds: &'a Bounds,
    /// Directory of the command.
    pub cwd: &'a Path,
    /// The end of its output.
    pub output: &'a str,
    /// Exit status of the command.
    pub code: Option<i32>,
    /// Packages beside the project that its manifests name.
    pub packages: &'a [PathBuf],
    /// Masked places that it opened, by their numbers in the profile; `None` where that is not known.
    pub opened: Option<&'a [u32]>,
    /// When it began; `None` where that does not matter.
    pub since: Option<SystemTime>,
    /// lisle's own folders, which nothing opens.
    pub own: &'a [PathBuf],
}

/// Things that were kept from the command. Looks at the disk.
#[must_use]
pub fn look(over: &EndedCommand<'_>) -> Withheld {
    let mut out = Withheld::default();
    let well = over.code == Some(0);
    let signs = if well { NOT_CHANGED } else { REFUSED };
    for line in over.output.lines().rev().take(LINES) {
        let lower = line.to_lowercase();
        let missing = !well && MISSING.iter().any(|sign| lower.contains(sign));
        let refused = signs.iter().any(|sign| lower.contains(sign));
        if missing || refused {
            over.look_at(line, refused, &mut out);
        }
    }
    over.secrets().for_each(|path| {
        if !out.changed.contains(path) {
            push(&mut out.secrets, path.clone());
        }
    });
    if well {
        over.links_made().into_iter().for_each(|path| push(&mut out.read, path));
        return out;
    }
    let wanted = |path: &&PathBuf| over.speaks_of(path) && !over.bounds.shows(path);
    over.packages.iter().filter(wanted).for_each(|path| push(&mut out.read, path.clone()));
    let there = |service: &Service| services::find(*service).is_some_and(|path| !over.bounds.sockets.contains(&path));
    out.sockets = services::missed(over.output).into_iter().filter(there).collect();
    let agent = out.sockets.contains(&Service::SshAgent);
    let of_ssh = if agent { Vec::new() } else { ssh::wanted(over.output) };
    of_ssh.into_iter().filter(|path| !over.bounds.shows(path)).for_each(|path| push(&mut out.read, path));
    out
}

impl EndedCommand<'_> {
    /// Takes in what the paths of a line were kept from.
    fn look_at(&self, line: &str, refused: bool, out: &mut Withheld) {
        for word in tokens(line) {
            let full = lexical(self.cwd, Path::new(word));
            let masked = self.bounds.masked.contains(&full) && !self.is_own(&full);
            if masked && refused && !self.bounds.protected.contains(&full) {
                push(&mut out.changed, full);
            } else if !is_path(word) {
                continue;
            } else if let Some(hidden) = self.hidden(&full) {
                push(&mut out.read, hidden);
            } else if refused && let Some(kept) = self.read_only(&full) {
                push(if is_secret(&kept) && !protects(&kept) { &mut out.changed } else { &mut out.write }, kept);
            }
        }
    }

    /// Secrets that the command opened, when it failed or showed what stands in their place.
    fn secrets(&self) -> impl Iterator<Item = &PathBuf> {
        let shown = self.output.contains(HIDDEN);
        let unread = self.bounds.unread.iter().filter(|path| self.code != Some(0) && self.names(path));
        let masked = self.bounds.masked.iter().enumerate();
        let wanted = move |(number, path): &(usize, &PathBuf)| {
            let opened = u32::try_from(*number).is_ok_and(|number| match self.opened {
                Some(opened) => opened.contains(&number),
                // Nobody noted it: what the output names.
                None => self.names(path),
            });
            // Looking for a name in an empty folder opens nothing.
            let asked = opened || self.code != Some(0) && path.is_dir() && self.names(path);
            asked && (shown || self.code != Some(0)) && !self.is_own(path) && (path.is_file() || path.is_dir())
        };
        masked.filter(wanted).map(|(_, path)| path).chain(unread)
    }

    /// The output names this path, or one below it.
    fn names(&self, path: &Path) -> bool {
        let is = |word: &str| lexical(self.cwd, Path::new(word)).starts_with(path);
        self.output.lines().rev().take(LINES).flat_map(tokens).any(is)
    }

    fn is_own(&self, path: &Path) -> bool {
        self.own.iter().any(|own| path.starts_with(own))
    }

    /// Targets of links that the command laid among its packages, and that it could not look into: a package manager links a
    /// folder beside the project without a word, whether it is there or not.
    fn links_made(&self) -> Vec<PathBuf> {
        let Some(since) = self.since else { return Vec::new() };
        let top = self.cwd.join("node_modules");
        let entries = |dir: &Path| {
            let names = std::fs::read_dir(dir).into_iter().flatten().flatten().take(ENTRIES);
            names.map(|entry| entry.path()).collect::<Vec<_>>()
        };
        let is_scope = |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"@"));
        let mut all = entries(&top);
        let scopes: Vec<PathBuf> = all.iter().filter(|path| is_scope(path)).cloned().collect();
        all.extend(scopes.iter().flat_map(|scope| entries(scope)));
        let new = |path: &PathBuf| {
            let meta = path.symlink_metadata().ok();
            meta.is_some_and(|meta| meta.is_symlink() && meta.modified().is_ok_and(|time| time >= since))
        };
        all.into_iter().filter(new).filter_map(|link| self.hidden(&link)).collect()
    }

    /// The output names a package: by its path, by a way up that ends in its name, or by its name in quotes.
    fn speaks_of(&self, package: &Path) -> bool {
        let Some(name) = package.file_name().and_then(|name| name.to_str()) else { return false };
        let by_path = |word: &str| {
            lexical(self.cwd, Path::new(word)).starts_with(package)
                || word.starts_with("..") && Path::new(word).components().any(|part| part.as_os_str() == name)
        };
        let quoted = |mark: char| self.output.contains(&format!("{mark}{name}{mark}"));
        self.output.lines().rev().take(LINES).flat_map(words).any(by_path) || ['\'', '"', '`'].into_iter().any(quoted)
    }

    /// Hidden part of the path: the target of the link that leads out, a package, or the path itself.
    fn hidden(&self, full: &Path) -> Option<PathBuf> {
        let within = full.ancestors().take_while(|above| *above != self.cwd && above.starts_with(self.cwd));
        let link = within.filter(|path| path.is_symlink()).last().and_then(|link| link.canonicalize().ok());
        // Programs leave an ending out, so the path itself need not be there.
        let real = full.canonicalize().ok().or_else(|| link.clone())?;
        if self.bounds.shows(&real) || is_secret(&real) || is_secret_file(&real) || real.components().count() < 3 {
            return None;
        }
        if let Some(package) = self.packages.iter().find(|package| real.starts_with(package)) {
            return Some(package.clone());
        }
        Some(link.filter(|target| !self.bounds.shows(target)).unwrap_or(real))
    }

    /// Unwritable part of the path: the protected place that it lies in, or itself where it lies outside.
    fn read_only(&self, full: &Path) -> Option<PathBuf> {
        let bounds = self.bounds;
        if let Some(protected) = bounds.protected.iter().find(|place| full.starts_with(place)) {
            return Some(protected.clone());
        }
        let mut written = bounds.writable.iter().chain(bounds.replaced.iter().map(|one| &one.at));
        let system = SYSTEM.iter().any(|top| full.starts_with(top)) || full.components().count() < 3;
        let there = full.symlink_metadata().is_ok() || full.parent().is_some_and(Path::is_dir);
        let outside = !full.starts_with(self.cwd) && !written.any(|place| full.starts_with(place));
        (outside && there && !system && !is_secret(full)).then(|| full.to_owned())
    }
}

fn push(list: &mut Vec<PathBuf>, path: PathBuf) {
    if list.len() < MOST && !list.contains(&path) {
        list.push(path);
    }
}

/// Words of a line that may be paths.
fn words(line: &str) -> impl Iterator<Item = &str> {
    tokens(line).filter(|word| is_path(word))
}

/// Words of a line without the marks around them.
fn tokens(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|c: char| c.is_whitespace() || "'\"`()<>,;=".contains(c));
    let words = words.map(|word| word.strip_prefix("file://").unwrap_or(word).trim_end_matches([':', '.', ']']));
    words.filter(|word| !word.is_empty())
}

fn is_path(word: &str) -> bool {
    word.contains('/') && !word.contains("://") || word.starts_with('.') && word.len() > 2
}

/// The path configures or runs code, by its last two names.
fn protects(path: &Path) -> bool {
    let above = path.parent().and_then(Path::file_name).map(Path::new).unwrap_or(Path::new(""));
    path.file_name().is_some_and(|name| is_protected_for_commands(&above.join(name)))
}

/// The path from the working directory on, where it lies there.
fn short(path: &Path, cwd: &Path) -> String {
    match path.strip_prefix(cwd) {
        Ok(below) if !below.as_os_str().is_empty() => below.display().to_string(),
        _ => path.display().to_string(),
    }
}

impl Withheld {
    /// Adds what the command wrote and was not to.
    pub fn refused(&mut self, paths: Vec<PathBuf>) {
        paths.into_iter().for_each(|path| push(&mut self.write, path));
    }

    /// Nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Each thing in a few words.
    #[must_use]
    pub fn words(&self, cwd: &Path) -> Vec<String> {
        let paths = |what: &'static str, list: &[PathBuf]| -> Vec<String> {
            list.iter().map(|path| format!("{what}: {}", reveal_line(&short(path, cwd)))).collect()
        };
        let sockets = self.sockets.iter().map(|service| match service.files() {
            [] => format!("socket not there: {}", service.name()),
            files => format!("socket not there: {}, and with it {}", service.name(), files.join(" ")),
        });
        let mut out = paths("hidden secret", &self.secrets);
        out.extend(paths("secret, not changed", &self.changed));
        let hidden = |path: &PathBuf| if is_secret(path) { "hidden secret" } else { "hidden" };
        out.extend(self.read.iter().map(|path| format!("{}: {}", hidden(path), reveal_line(&short(path, cwd)))));
        out.extend(paths("read-only", &self.write));
        out.extend(sockets);
        out
    }

    /// Text for the model: what was kept, and the words that ask the user for just this.
    #[must_use]
    pub fn told(&self, cwd: &Path) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let names = |list: &[PathBuf]| list.iter().map(|path| short(path, cwd)).collect::<Vec<_>>();
        let (secrets, read) = (names(&self.secrets), names(&self.read));
        let write = [names(&self.changed), names(&self.write)].concat();
        let sockets: Vec<String> = self.sockets.iter().map(|service| service.name().to_owned()).collect();
        let mut lines = vec!["The sandbox kept this from the command:".to_owned()];
        lines.extend(self.words(cwd).iter().map(|words| format!("- {words}")));
        let mut access = serde_json::Map::new();
        for (key, list) in [("read", [secrets, read].concat()), ("write", write), ("sockets", sockets)] {
            if !list.is_empty() {
                access.insert(key.to_owned(), list.into());
            }
        }
        lines.push(format!(
            "If it needs this, call it again with `access` {}: the user is asked for exactly that, once or for the session. \
             Explore opens nothing.",
            serde_json::Value::Object(access)
        ));
        Some(lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for file in ["p/.git/config", "p/.env", "p/.vscode/settings.json", "other/x", "lib/Cargo.toml", "p/src/a"] {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), "x").unwrap();
        }
        std::os::unix::fs::symlink(root.join("other"), root.join("p/linked")).unwrap();
        (dir, root)
    }

    #[test]
    fn what_was_kept_is_named_exactly() {
        let (_dir, root) = tree();
        let at = |name: &str| root.join(name);
        let bounds = Bounds {
            readable: vec!["/usr".into(), "/var".into(), at("p")],
            writable: vec![at("p")],
            protected: vec![at("p/.git/config"), at("p/.vscode")],
            masked: vec![at("p/.env")],
            ..Bounds::default()
        };
        let packages = [at("lib")];
        let kept = |output: &str, code, opened: &[u32]| {
            let mut kept = look(&EndedCommand {
                bounds: &bounds,
                cwd: &at("p"),
                output,
                code: Some(code),
                packages: &packages,
                opened: Some(opened),
                since: None,
                own: &[],
            });
            kept.sockets.clear();
            kept
        };
        let none = Withheld::default;
        for (output, expected) in [
            (
                "error: could not write config file .git/config: Device or resource busy\n".to_owned(),
                Withheld { write: vec![at("p/.git/config")], ..none() },
            ),
            (
                "touch: cannot touch '.vscode/settings.json': Read-only file system".to_owned(),
                Withheld { write: vec![at("p/.vscode")], ..none() },
            ),
            (
                format!("touch: cannot touch '{}': Read-only file system", at("p/../other2").display()),
                Withheld { write: vec![at("other2")], ..none() },
            ),
            (
                "sh: 1: cannot create .env: Read-only file system".to_owned(),
                Withheld { changed: vec![at("p/.env")], ..none() },
            ),
            ("cat: ../other/x: No such file or directory".to_owned(), Withheld { read: vec![at("other/x")], ..none() }),
            ("cat: linked/x: No such file or directory".to_owned(), Withheld { read: vec![at("other")], ..none() }),
            // An ending is left out.
            ("Error: Cannot find module './linked/util'".to_owned(), Withheld { read: vec![at("other")], ..none() }),
            (
                "error: failed to load source for `../lib/Cargo.toml`".to_owned(),
                Withheld { read: vec![at("lib")], ..none() },
            ),
            ("cat: src/b: No such file or directory".to_owned(), none()),
            ("E: Could not open lock file /var/lib/dpkg/lock - open (30: Read-only file system)".to_owned(), none()),
            ("type error".to_owned(), none()),
        ] {
            assert_eq!(kept(&output, 1, &[]), expected, "{output}");
            // What was opened is told of a command that failed, and nothing else of one that did not.
            let mut with = expected.clone();
            if with.changed.is_empty() {
                with.secrets = vec![at("p/.env")];
            }
            assert_eq!(kept(&output, 1, &[0]), with, "{output}");
            let refused = output.contains("Read-only") || output.contains("busy");
            assert_eq!(kept(&output, 0, &[0]), if refused { expected } else { none() }, "{output}");
        }
        assert_eq!(kept("KEY=# hidden by lisle", 0, &[0]), Withheld { secrets: vec![at("p/.env")], ..none() });
        assert_eq!(kept("the words hidden by lisle in a text", 0, &[]), none());
    }

    #[test]
    fn a_link_that_a_package_manager_laid_to_a_hidden_folder_is_told() {
        let (_dir, root) = tree();
        let at = |name: &str| root.join(name);
        std::fs::create_dir_all(at("p/node_modules/@me")).unwrap();
        std::os::unix::fs::symlink("../../lib", at("p/node_modules/lib")).unwrap();
        std::os::unix::fs::symlink("../../../other", at("p/node_modules/@me/other")).unwrap();
        let bounds = Bounds { readable: vec![at("p")], ..Bounds::default() };
        let read = |since| {
            look(&EndedCommand {
                bounds: &bounds,
                cwd: &at("p"),
                output: "added 1 package",
                code: Some(0),
                packages: &[],
                opened: None,
                since: Some(since),
                own: &[],
            })
            .read
        };
        let mut found = read(SystemTime::UNIX_EPOCH);
        found.sort();
        assert_eq!(found, [at("lib"), at("other")]);
        assert!(read(SystemTime::now() + std::time::Duration::from_secs(60)).is_empty());
    }

    #[test]
    fn the_words_can_be_given_back() {
        let kept = Withheld {
            secrets: vec!["/w/p/.env".into()],
            changed: vec!["/w/p/.env.test".into()],
            read: vec!["/w/lib".into()],
            write: vec!["/w/p/.git/config".into()],
            sockets: vec![Service::SshAgent],
        };
        let told = kept.told(Path::new("/w/p")).unwrap();
        let from = told.find('{').unwrap();
        let to = told.rfind('}').unwrap();
        let access: serde_json::Value = serde_json::from_str(&told[from..=to]).unwrap();
        let expected = serde_json::json!({"read": [".env", "/w/lib"], "write": [".env.test", ".git/config"], "sockets": ["ssh-agent"]});
        assert_eq!(access, expected);
        assert!(told.contains("- hidden secret: .env") && told.contains("- read-only: .git/config"));
        assert!(told.contains("- secret, not changed: .env.test"));
        assert_eq!(Withheld::default().told(Path::new("/w/p")), None);
    }
}
