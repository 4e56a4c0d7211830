//! What the sandbox kept from a command that failed, as exact paths and sockets: told by what the command wrote and by what
//! lies outside of its profile. The same words, given back as `access`, open just these after an answer.

use super::profile::Bounds;
use super::refusal::{HIDDEN, REFUSED};
use super::services;
use crate::domain::access::Service;
use crate::domain::paths::{is_secret, is_secret_file, lexical};
use std::path::{Path, PathBuf};

/// Lines of the end of an output that are looked at for paths.
const LINES: usize = 200;
/// Entries of each list.
const MOST: usize = 5;

/// What programs write when a file is not there, in small letters.
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

/// What was kept from a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Withheld {
    /// Secrets of the project that said nothing.
    pub secrets: Vec<PathBuf>,
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
    /// Its profile.
    pub bounds: &'a Bounds,
    /// Its directory.
    pub cwd: &'a Path,
    /// The end of its output.
    pub output: &'a str,
    /// Its exit status.
    pub code: Option<i32>,
    /// Packages beside the project that its manifests name.
    pub packages: &'a [PathBuf],
}

/// What was kept from the command. Looks at the disk.
#[must_use]
pub fn look(over: &EndedCommand<'_>) -> Withheld {
    let mut out = Withheld { secrets: over.secrets(), ..Withheld::default() };
    if over.code == Some(0) {
        return out;
    }
    for line in over.output.lines().rev().take(LINES) {
        let lower = line.to_lowercase();
        let missing = MISSING.iter().any(|sign| lower.contains(sign));
        let refused = REFUSED.iter().any(|sign| lower.contains(sign));
        if !missing && !refused {
            continue;
        }
        for word in words(line) {
            let full = lexical(over.cwd, Path::new(word));
            if let Some(hidden) = over.hidden(&full) {
                push(&mut out.read, hidden);
            } else if refused && let Some(kept) = over.read_only(&full) {
                push(&mut out.write, kept);
            }
        }
    }
    let wanted = |path: &&PathBuf| over.speaks_of(path) && !over.bounds.shows(path);
    over.packages.iter().filter(wanted).for_each(|path| push(&mut out.read, path.clone()));
    let there = |service: &Service| services::find(*service).is_some_and(|path| !over.bounds.sockets.contains(&path));
    out.sockets = services::missed(over.output).into_iter().filter(there).collect();
    out
}

impl EndedCommand<'_> {
    /// Secrets below the directory that the command may have wanted: those that its output speaks of, and settings such as
    /// `.env` when it failed.
    fn secrets(&self) -> Vec<PathBuf> {
        let shown = self.output.contains(HIDDEN);
        let wanted = |path: &&PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let settings = name.starts_with(".env") && !name.starts_with(".envrc");
            path.starts_with(self.cwd)
                && (shown && settings || self.code != Some(0) && (settings || self.output.contains(name)))
        };
        self.bounds.masked.iter().filter(wanted).take(MOST).cloned().collect()
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

    /// What of the path is there and not shown: the target of the link that leads out, a package, or the path itself.
    fn hidden(&self, full: &Path) -> Option<PathBuf> {
        let real = full.canonicalize().ok()?;
        if self.bounds.shows(&real) || is_secret(&real) || is_secret_file(&real) || real.components().count() < 3 {
            return None;
        }
        if let Some(package) = self.packages.iter().find(|package| real.starts_with(package)) {
            return Some(package.clone());
        }
        let links = full.ancestors().take_while(|above| *above != self.cwd && above.starts_with(self.cwd));
        let link = links.filter(|path| path.is_symlink()).last().and_then(|link| link.canonicalize().ok());
        Some(link.filter(|target| !self.bounds.shows(target)).unwrap_or(real))
    }

    /// What of the path cannot be written: the protected place that it lies in, or itself where it lies outside.
    fn read_only(&self, full: &Path) -> Option<PathBuf> {
        let bounds = self.bounds;
        if let Some(protected) = bounds.protected.iter().find(|place| full.starts_with(place)) {
            return Some(protected.clone());
        }
        let writes = bounds.writable.iter().chain(bounds.replaced.iter().map(|one| &one.at));
        let mut written = writes.chain(&bounds.pinned);
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
    let words = line.split(|c: char| c.is_whitespace() || "'\"`()<>,;=".contains(c));
    let words = words.map(|word| word.strip_prefix("file://").unwrap_or(word).trim_end_matches([':', '.', ']']));
    words.filter(|word| word.contains('/') && !word.contains("://") || word.starts_with('.') && word.len() > 2)
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
            list.iter().map(|path| format!("{what}: {}", short(path, cwd))).collect()
        };
        let sockets = self.sockets.iter().map(|service| format!("socket not there: {}", service.name()));
        let mut out = paths("hidden secret", &self.secrets);
        out.extend(paths("hidden", &self.read));
        out.extend(paths("read-only", &self.write));
        out.extend(sockets);
        out
    }

    /// What the model is told: what was kept, and the words that ask the user for just this.
    #[must_use]
    pub fn told(&self, cwd: &Path) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let names = |list: &[PathBuf]| list.iter().map(|path| short(path, cwd)).collect::<Vec<_>>();
        let (secrets, read, write) = (names(&self.secrets), names(&self.read), names(&self.write));
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
        let kept = |output: &str, code| {
            let over = EndedCommand { bounds: &bounds, cwd: &at("p"), output, code: Some(code), packages: &packages };
            let mut kept = look(&over);
            kept.sockets.clear();
            kept
        };
        let none = || Withheld { secrets: vec![at("p/.env")], ..Withheld::default() };
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
            ("cat: ../other/x: No such file or directory".to_owned(), Withheld { read: vec![at("other/x")], ..none() }),
            ("cat: linked/x: No such file or directory".to_owned(), Withheld { read: vec![at("other")], ..none() }),
            (
                "error: failed to load source for `../lib/Cargo.toml`".to_owned(),
                Withheld { read: vec![at("lib")], ..none() },
            ),
            ("cat: src/b: No such file or directory".to_owned(), none()),
            ("E: Could not open lock file /var/lib/dpkg/lock - open (30: Read-only file system)".to_owned(), none()),
            ("type error".to_owned(), none()),
        ] {
            assert_eq!(kept(&output, 1), expected, "{output}");
        }
        assert_eq!(kept("all is well", 0), Withheld::default());
        assert_eq!(kept("KEY=# hidden by lisle", 0), none());
    }

    #[test]
    fn the_words_can_be_given_back() {
        let kept = Withheld {
            secrets: vec!["/w/p/.env".into()],
            read: vec!["/w/lib".into()],
            write: vec!["/w/p/.git/config".into()],
            sockets: vec![Service::SshAgent],
        };
        let told = kept.told(Path::new("/w/p")).unwrap();
        let from = told.find('{').unwrap();
        let to = told.rfind('}').unwrap();
        let access: serde_json::Value = serde_json::from_str(&told[from..=to]).unwrap();
        let expected =
            serde_json::json!({"read": [".env", "/w/lib"], "write": [".git/config"], "sockets": ["ssh-agent"]});
        assert_eq!(access, expected);
        assert!(told.contains("- hidden secret: .env") && told.contains("- read-only: .git/config"));
        assert_eq!(Withheld::default().told(Path::new("/w/p")), None);
    }
}
