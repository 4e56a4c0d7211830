//! Folders that package managers and compilers write. A command gets a folder of its workspace in the place of each, so
//! that nothing it writes there is ever run or read by anybody outside.
//!
//! Its first content is a copy of the host's data (`seeds`), by reflink where the file system can, else by copying where
//! that is cheap; otherwise it begins empty. Never by hard links, which would be the host's own files.

use super::readable::LIST;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// Files that are copied of one seed, and bytes where they have to be copied as such.
const FILES: usize = 20_000;
const BYTES: u64 = 128 * 1024 * 1024;

/// A folder that commands write as their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheFolder {
    /// Path of the folder.
    pub at: PathBuf,
    /// Parts that a copy begins with; an empty path stands for all of it.
    pub seeds: Vec<PathBuf>,
    /// The variable that tells the tool of another place.
    pub tell: Option<String>,
}

impl CacheFolder {
    /// A folder that is named by the user.
    #[must_use]
    pub fn named(at: PathBuf) -> Self {
        Self { at, seeds: vec![PathBuf::new()], tell: None }
    }

    /// Path of its copy below the folder of a workspace.
    fn copy(&self, private: &Path) -> PathBuf {
        let name = self.at.to_string_lossy().replace('/', "-");
        private.join(name.trim_start_matches('-'))
    }
}

/// The usual folders of data, in `home` or where `env` says. Not all of them are there.
#[must_use]
pub fn usual(home: &Path, env: &dyn Fn(&str) -> Option<String>) -> Vec<CacheFolder> {
    let named = |name: &str| env(name).map(PathBuf::from).filter(|path| path.is_absolute() && path.parent().is_some());
    let mut out: Vec<CacheFolder> = LIST
        .cache
        .iter()
        .map(|cache| {
            let at = cache.variable.as_deref().and_then(&named).map(|at| at.join(&cache.below));
            let at = at.unwrap_or_else(|| home.join(&cache.path));
            CacheFolder { at: at.components().collect(), seeds: cache.seeds.clone(), tell: cache.tell.clone() }
        })
        .collect();
    for name in &LIST.caches_of_tools {
        if let Some(at) = named(name) {
            out.push(CacheFolder { tell: Some(name.clone()), ..CacheFolder::named(at) });
        }
    }
    // A folder that holds the home directory would hide all of it.
    out.retain(|cache| !home.starts_with(&cache.at));
    out.sort_by(|a, b| a.at.cmp(&b.at));
    out.dedup_by(|a, b| a.at == b.at);
    out
}

/// The private folder of a cache, made and filled where that has not been done. Blocks; `None` where it cannot be made.
#[must_use]
pub(super) fn private(cache: &CacheFolder, private: &Path) -> Option<PathBuf> {
    static MADE: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
    let copy = cache.copy(private);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let made = made.get_or_insert_with(HashSet::new);
    if made.contains(&copy) && copy.is_dir() {
        return Some(copy);
    }
    if made.is_empty() {
        begin(private);
    }
    if !copy.is_dir() {
        folder(private)?;
        // Another process may do the same: the one that is ready first counts.
        let draft = tempfile_in(private)?;
        for seed in &cache.seeds {
            // A copy that was not finished is a smaller cache.
            let _ = Copying::new(&cache.at.join(seed)).run(&draft.join(seed));
        }
        if std::fs::rename(&draft, &copy).is_err() {
            let _ = std::fs::remove_dir_all(&draft);
        }
    }
    copy.is_dir().then(|| {
        made.insert(copy.clone());
        copy
    })
}

/// The file that says whose caches a folder holds; its time is that of the last use.
const OWNER: &str = ".workspace";
/// Caches that nobody used for so long are removed; of a workspace that is gone much sooner.
const UNUSED: Duration = Duration::from_hours(60 * 24);
const GONE: Duration = Duration::from_hours(24);

/// Notes whose caches these are, where there are some. Blocks.
pub fn note_owner(private: &Path, workspace: &Path) {
    if private.is_dir() {
        // Caches of an unknown owner only stay for longer.
        let _ = std::fs::write(private.join(OWNER), workspace.as_os_str().as_bytes());
    }
}

/// The first use of this folder by this process: others that nobody needs any more are removed in the background.
fn begin(private: &Path) {
    if let Ok(owner) = std::fs::File::options().append(true).open(private.join(OWNER)) {
        let _ = owner.set_modified(SystemTime::now());
    }
    let private = private.to_owned();
    std::thread::spawn(move || sweep(&private, SystemTime::now()));
}

/// Removes caches beside this folder that nobody needs any more.
fn sweep(private: &Path, now: SystemTime) {
    let beside = private.parent().and_then(|above| std::fs::read_dir(above).ok()).into_iter().flatten().flatten();
    for folder in beside.map(|entry| entry.path()).filter(|path| path != private) {
        let Ok(meta) = folder.symlink_metadata() else { continue };
        let noted = folder.join(OWNER);
        let used = noted.metadata().and_then(|meta| meta.modified()).or_else(|_| meta.modified());
        let age = used.ok().and_then(|used| now.duration_since(used).ok()).unwrap_or_default();
        let owner = std::fs::read(&noted).ok().map(|path| PathBuf::from(OsString::from_vec(path)));
        let is_gone = owner.is_some_and(|owner| owner.is_absolute() && owner.symlink_metadata().is_err());
        if meta.is_dir() && (age > UNUSED || is_gone && age > GONE) {
            let _ = std::fs::remove_dir_all(&folder);
        }
    }
}

/// Makes a folder that is the user's alone, with those above it.
pub(super) fn folder(path: &Path) -> Option<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).ok()
}

fn tempfile_in(dir: &Path) -> Option<PathBuf> {
    (0..100).find_map(|n| {
        let path = dir.join(format!(".new-{}-{n}", std::process::id()));
        std::fs::DirBuilder::new().mode(0o700).create(&path).ok().map(|()| path)
    })
}

/// A copy of a folder.
struct Copying {
    from: PathBuf,
    files: Vec<(PathBuf, bool)>,
    bytes: u64,
    too_much: bool,
}

impl Copying {
    /// Looks at what there is to be copied.
    fn new(from: &Path) -> Self {
        let mut out = Self { from: from.to_owned(), files: Vec::new(), bytes: 0, too_much: false };
        let mut open = vec![PathBuf::new()];
        while let Some(below) = open.pop() {
            let path = if below.as_os_str().is_empty() { from.to_owned() } else { from.join(&below) };
            let Ok(meta) = path.symlink_metadata() else { continue };
            if out.files.len() >= FILES {
                out.too_much = true;
                break;
            }
            if meta.is_dir() {
                out.files.push((below.clone(), true));
                let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
                open.extend(entries.map(|entry| below.join(entry.file_name())));
            } else if meta.is_file() {
                out.bytes += meta.len();
                out.files.push((below, false));
            }
        }
        out
    }

    fn run(&self, to: &Path) -> std::io::Result<()> {
        if self.files.is_empty() || self.too_much {
            return Ok(());
        }
        if let Some(above) = to.parent() {
            std::fs::create_dir_all(above)?;
        }
        let mut reflinks = true;
        for (below, is_folder) in &self.files {
            let whole = below.as_os_str().is_empty();
            let (from, to) =
                if whole { (self.from.clone(), to.to_owned()) } else { (self.from.join(below), to.join(below)) };
            if *is_folder {
                std::fs::create_dir_all(&to)?;
                continue;
            }
            reflinks = reflinks && reflink(&from, &to).is_ok();
            if !reflinks {
                if self.bytes > BYTES {
                    return Ok(());
                }
                // A file that cannot be read, or was removed meanwhile, is not in the copy.
                let _ = std::fs::copy(&from, &to);
            }
        }
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn reflink(from: &Path, to: &Path) -> std::io::Result<()> {
    let source = File::open(from)?;
    let mode = source.metadata()?.permissions().mode() & 0o777;
    let target = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(to)?;
    Ok(rustix::fs::ioctl_ficlone(&target, &source)?)
}

#[cfg(not(target_os = "linux"))]
fn reflink(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_never_open_the_home_directory() {
        let env = |name: &str| match name {
            "CARGO_HOME" => Some("/fast/cargo".to_owned()),
            "XDG_CACHE_HOME" => Some("/home".to_owned()),
            "GOCACHE" => Some("/".to_owned()),
            _ => None,
        };
        let found: Vec<PathBuf> = usual(Path::new("/home/u"), &env).into_iter().map(|cache| cache.at).collect();
        assert!(found.contains(&"/fast/cargo/registry".into()) && found.contains(&"/home/u/.npm".into()));
        assert!(found.iter().all(|path| !Path::new("/home/u").starts_with(path)), "{found:?}");
        assert!(!found.iter().any(|path| path.ends_with(".cargo") || path.ends_with("bin")));
    }

    #[test]
    fn caches_that_nobody_needs_go() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["own", "there", "gone", "old", "young", "unknown"] {
            std::fs::create_dir_all(at("caches").join(name).join("npm")).unwrap();
        }
        for (name, workspace) in [("there", "."), ("gone", "missing"), ("old", "."), ("young", "missing")] {
            note_owner(&at("caches").join(name), &at(workspace));
        }
        let now = SystemTime::now() + Duration::from_hours(2 * 24);
        let used = |name: &str, when| {
            File::options().append(true).open(at("caches").join(name).join(OWNER)).unwrap().set_modified(when).unwrap();
        };
        used("old", now - UNUSED - GONE);
        used("young", now);
        sweep(&at("caches/own"), now);
        let mut left: Vec<_> = std::fs::read_dir(at("caches"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["own", "there", "unknown", "young"]);
    }

    #[test]
    fn a_private_copy_holds_the_data_and_is_nobody_elses() {
        use std::os::unix::fs::MetadataExt;
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for file in ["npm/_cacache/a/b", "npm/_npx/x/bin", "npm/_logs/l"] {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), "text").unwrap();
        }
        let cache = CacheFolder { at: root.join("npm"), seeds: vec!["_cacache".into(), "missing".into()], tell: None };
        let copy = private(&cache, &root.join("state/w")).unwrap();
        assert_eq!(std::fs::read_to_string(copy.join("_cacache/a/b")).unwrap(), "text");
        assert!(!copy.join("_npx").exists() && !copy.join("missing").exists());
        let number = |path: PathBuf| path.metadata().unwrap().ino();
        assert_ne!(number(copy.join("_cacache/a/b")), number(root.join("npm/_cacache/a/b")));
        assert_eq!(copy.metadata().unwrap().mode() & 0o777, 0o700);
        // It is made once.
        std::fs::write(copy.join("own"), "x").unwrap();
        assert_eq!(private(&cache, &root.join("state/w")), Some(copy.clone()));
        assert!(copy.join("own").exists());
        let whole = CacheFolder::named(root.join("npm/_cacache"));
        assert!(private(&whole, &root.join("state/w")).unwrap().join("a/b").exists());
    }
}
