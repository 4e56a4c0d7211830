//! Classification of paths: inside, outside, protected, secret.
//!
//! Judged is the path after every link in it was followed (`paths`). Whether it may be touched is for the permission
//! function; what a name alone says is known to `domain::paths`.

use super::LoadedFile;
use super::paths::follow;
use crate::domain::secret::MOST;
use crate::domain::{paths, tool};
use crate::sandbox::own_folders;
use crate::sandbox::places::{
    SecrecyView, hidden, holds_beside, holds_secret as holds_any, led_to, protected_in, secrets_in,
};
use crate::sandbox::repository::Repository;
use crate::sandbox::{Allowances, Namespaces, system_support};
use crate::tools::CallPlace;
use std::collections::{BTreeSet, HashSet};
use std::ops::Bound;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Class of a resolved path, for the decision on writing it.
#[must_use]
pub fn classify(path: &Path, place: &CallPlace) -> tool::PathPlace {
    let real = |dir: &Path| follow(dir).unwrap_or_else(|_| dir.to_owned());
    let session = real(&place.session_dir);
    // The folder itself is no file of the session; only what lies below it is.
    // Temporary files are its own only where commands see them as theirs.
    let is_in = |name: &str| path.strip_prefix(session.join(name)).is_ok_and(|p| p != Path::new(""));
    if is_in("plans") || is_in("data") {
        return tool::PathPlace::SessionFolder;
    }
    if place.allowances.own_temp && is_in("tmp") {
        return tool::PathPlace::SessionTemp;
    }
    let cwd = real(&place.cwd);
    let of_lisle = |dir: &PathBuf| {
        let own = real(dir);
        path.starts_with(&own) && !(is_worktree(&cwd, &own) && path.starts_with(&cwd))
    };
    if paths::is_protected(path)
        || place.own_dirs.iter().any(of_lisle)
        || path.starts_with(&session)
        || place.allowances.extensions.iter().any(|one| path.starts_with(one))
        || path.starts_with(&cwd) && (is_named(path, &cwd) || is_of_repository(path, &cwd) || is_led_to(path, &cwd))
    {
        return tool::PathPlace::Protected;
    }
    if path.starts_with(&cwd) { tool::PathPlace::Inside } else { tool::PathPlace::Outside }
}

/// A working directory in a worktree that lisle made among its own data: what lies there is the project's.
fn is_worktree(cwd: &Path, own: &Path) -> bool {
    let below = cwd.strip_prefix(own).ok().filter(|below| below.starts_with("worktrees"));
    // The workspace, then the session.
    below.is_some_and(|below| below.components().count() >= 3)
}

/// True if git's settings name this file as something to read settings from or to run.
fn is_named(path: &Path, cwd: &Path) -> bool {
    let named = || Some(Repository::of(cwd)?.named(cwd, std::env::home_dir().as_deref()));
    named().is_some_and(|named| named.iter().any(|named| path.starts_with(named)))
}

/// True for a file of a repository that only the disk makes one: what was harmless there before may make git run programs.
#[must_use]
pub fn is_of_made_repository(path: &Path, cwd: &Path) -> bool {
    !paths::is_protected(path) && is_of_repository(path, cwd)
}

/// True if the file makes its folder a repository, with what is there and with `coming`: what git does there is up to settings
/// that were harmless so far. Only the one that does so is named, `HEAD` where it comes.
#[must_use]
pub fn makes_repository(path: &Path, cwd: &Path, coming: &BTreeSet<PathBuf>) -> bool {
    let folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(cwd));
    folders.into_iter().any(|folder| {
        let is_there = |name: &str| folder.join(name).symlink_metadata().is_ok();
        let comes = |name: &str| {
            let entry = folder.join(name);
            let mut from = coming.range::<Path, _>((Bound::Included(entry.as_path()), Bound::Unbounded));
            from.next().is_some_and(|next| next.starts_with(&entry))
        };
        let is_one = |has: &dyn Fn(&str) -> bool| has("HEAD") && (has("commondir") || has("objects") && has("refs"));
        if is_one(&is_there) || !is_one(&|name| is_there(name) || comes(name)) {
            return false;
        }
        let first = path.strip_prefix(folder).ok().and_then(|below| below.components().next());
        let is = |name: &str| first.is_some_and(|first| first.as_os_str() == name);
        is("HEAD") || !comes("HEAD") && ["commondir", "objects", "refs"].into_iter().any(is)
    })
}

/// Judges writes of one call as they will lie beside each other: together they may make a repository.
pub fn judge_together(touches: &mut [tool::Touch], place: &CallPlace) {
    let cwd = follow(&place.cwd).unwrap_or_else(|_| place.cwd.clone());
    let written = |touch: &tool::Touch| match touch {
        tool::Touch::Write { path, .. } => Some(path.clone()),
        _ => None,
    };
    let coming: BTreeSet<PathBuf> = touches.iter().filter_map(written).collect();
    for touch in touches {
        if let tool::Touch::Write { path, place: class @ tool::PathPlace::Inside } = touch
            && coming.len() > 1
            && makes_repository(path, &cwd, &coming)
        {
            *class = tool::PathPlace::Protected;
        }
    }
}

/// True if the file lies in a folder that git takes for a repository, or will once the file is there. By its entries, since
/// a repository may have any name.
fn is_of_repository(path: &Path, cwd: &Path) -> bool {
    let folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(cwd));
    folders.into_iter().any(|folder| {
        let made = path.strip_prefix(folder).ok().and_then(|below| below.components().next());
        let has = |name: &str| {
            made.is_some_and(|made| made.as_os_str() == name) || folder.join(name).symlink_metadata().is_ok()
        };
        has("HEAD") && (has("commondir") || has("objects") && has("refs"))
    })
}

/// True if a protected path of the working directory is a link that leads there, or another name of the same file.
fn is_led_to(path: &Path, cwd: &Path) -> bool {
    let home = home();
    if home.as_ref().is_some_and(|home| home.starts_with(cwd)) {
        // Not looked through: what is protected there goes by its name.
        return false;
    }
    let mut protected = protected_in(cwd, home.as_deref());
    let repository = Repository::of(cwd);
    protected
        .extend(repository.iter().flat_map(|one| one.protected().into_iter().chain(one.named(cwd, home.as_deref()))));
    if led_to(&protected, cwd).iter().any(|to| path.starts_with(to)) {
        return true;
    }
    let several = std::fs::symlink_metadata(path).ok().filter(|meta| meta.is_file() && meta.nlink() > 1);
    protected.iter().any(|one| {
        let Ok(meta) = one.symlink_metadata() else { return false };
        several.as_ref().is_some_and(|own| (own.dev(), own.ino()) == (meta.dev(), meta.ino()))
    })
}

/// True if a directory is fit to work in: no folder of the system or of keys, nor above the home directory.
#[must_use]
pub fn is_fit(cwd: &Path) -> bool {
    paths::unfit(cwd, std::env::home_dir().as_deref()).is_none()
}

/// A directory that is no place to work in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoPlace {
    /// Reason, for a sentence that begins with the directory.
    pub why: &'static str,
    /// True if it is none even where the user chooses it.
    pub always: bool,
}

/// Looks if a directory is lisle's own, a secret, or one of the home directory that commands see only where the user says so.
/// Whoever names it as working directory would open all of it. Blocks.
#[must_use]
pub fn no_place_to_work(cwd: &Path, own_dirs: &[PathBuf]) -> Option<NoPlace> {
    let real = follow(cwd).unwrap_or_else(|_| cwd.to_owned());
    let is_own = |dir: &PathBuf| {
        let own = follow(dir).unwrap_or_else(|_| dir.clone());
        real.starts_with(&own) && !is_worktree(&real, &own)
    };
    if own_dirs.iter().any(is_own) {
        return Some(NoPlace { why: "is lisle's own", always: true });
    }
    if paths::is_secret(&real) {
        return Some(NoPlace { why: "holds keys or sign-ins", always: true });
    }
    let (nowhere, allowances, home) = (Path::new("/dev/null"), Allowances::default(), home());
    let view = SecrecyView {
        cwd: nowhere,
        session_dir: nowhere,
        own_dirs: &[],
        allowances: &allowances,
        home: home.as_deref(),
    };
    let is_worktree = own_dirs.iter().any(|own| is_worktree(&real, &follow(own).unwrap_or_else(|_| own.clone())));
    (view.is_apart(&real) && !is_worktree)
        .then_some(NoPlace { why: "may hold settings, histories and sign-ins", always: false })
}

/// A tool that reads this resolved path.
#[must_use]
pub fn reading(path: PathBuf, place: &CallPlace) -> tool::Touch {
    let secret = is_secret(&path, place);
    tool::Touch::Read { path, secret }
}

/// A resolved path is a secret, by its name, its place or its content: reading it is decided on its own. What commands do not
/// see is one. Blocks.
#[must_use]
pub fn is_secret(path: &Path, place: &CallPlace) -> bool {
    is_secret_place(path, place) || view(place, home().as_deref()).is_key(path)
}

/// The same without its content, for what is only named, or read afterwards. Blocks.
#[must_use]
pub fn is_secret_place(path: &Path, place: &CallPlace) -> bool {
    is_secret_name(path, place) || view(place, home().as_deref()).is_masked(path) || hidden::is_moved(path)
}

/// The same by its name and its folder alone, for one of the many files that a pattern of a command stands for: the sandbox
/// masks the others, where it can.
#[must_use]
pub fn is_secret_match(path: &Path, place: &CallPlace) -> bool {
    let unmasked = system_support::spaces(&place.runner) == Namespaces::Without;
    is_secret_name(path, place)
        || unmasked && (view(place, home().as_deref()).is_masked(path) || hidden::is_moved(path))
}

/// lisle's own folders, as a search leaves them out: the one that the working directory lies in is not among them. Blocks.
pub(crate) fn left_out(place: &CallPlace) -> Vec<PathBuf> {
    own_folders::beside(&place.own_dirs, &place.session_dir, &place.cwd)
}

fn is_secret_name(path: &Path, place: &CallPlace) -> bool {
    if paths::is_secret_file(path) {
        return true;
    }
    let several = std::fs::symlink_metadata(path).ok().filter(|meta| meta.is_file() && meta.nlink() > 1);
    several.is_some_and(|meta| is_other_name((meta.dev(), meta.ino()), place))
        || view(place, home().as_deref()).is_apart(path)
}

/// Paths that commands see masked in the working directory, looked up once for a search.
#[derive(Debug)]
pub struct MaskedPaths {
    cwd: PathBuf,
    masked: HashSet<PathBuf>,
}

impl MaskedPaths {
    /// Those of a place. A home directory as a whole is not looked through. Blocks.
    #[must_use]
    pub fn of(place: &CallPlace) -> Self {
        Self::below(&place.cwd)
    }

    /// Those of a working directory. Blocks.
    #[must_use]
    pub fn below(cwd: &Path) -> Self {
        let cwd = follow(cwd).unwrap_or_else(|_| cwd.to_owned());
        let home = home();
        let whole_home = home.as_ref().is_some_and(|home| home.starts_with(&cwd));
        let masked = if whole_home { Vec::new() } else { secrets_in(&cwd, home.as_deref()) };
        Self { cwd, masked: masked.into_iter().collect() }
    }

    /// True if commands do not see the file at the resolved path, or would not if it had not been moved. Blocks.
    #[must_use]
    pub fn hides(&self, path: &Path) -> bool {
        let below = path.ancestors().take_while(|one| one.starts_with(&self.cwd));
        below.into_iter().any(|one| self.masked.contains(one)) || hidden::is_moved(path)
    }

    /// The same, and by name and folder.
    #[must_use]
    pub fn is_secret(&self, path: &Path, place: &CallPlace) -> bool {
        is_secret_name(path, place) || self.hides(path)
    }
}

/// A project's file that goes to the model without having been asked for is no secret: by its name, by what commands see
/// masked, and by the beginning that was read of it. Blocks.
#[must_use]
pub fn is_told(path: &Path, beginning: &[u8], masked: &MaskedPaths) -> bool {
    let (nowhere, allowances) = (Path::new("/"), Allowances::default());
    let view =
        SecrecyView { cwd: &masked.cwd, session_dir: nowhere, own_dirs: &[], allowances: &allowances, home: None };
    !paths::is_secret_file(path) && !masked.hides(path) && !view.holds_key(path, beginning)
}

/// A file that was read is a secret: by its name, because it is one under another name, or by its content.
#[must_use]
pub fn holds_secret(path: &Path, read: &LoadedFile, place: &CallPlace) -> bool {
    is_secret_place(path, place)
        || (read.names > 1 && is_other_name(read.id, place))
        || view(place, home().as_deref()).holds_key(path, &read.bytes)
}

/// The same by the content alone, of an open file. Blocks.
#[must_use]
pub fn is_key(path: &Path, mut file: &std::fs::File, place: &CallPlace) -> bool {
    use std::io::{Read, Seek};
    let mut bytes = Vec::new();
    let read = file.rewind().and_then(|()| file.take(MOST as u64).read_to_end(&mut bytes));
    // What cannot be looked at is not given away.
    read.is_err() || view(place, home().as_deref()).holds_key(path, &bytes)
}

/// True if there are secrets that what only reads could read, in the working directory or in one of the places that it names: where
/// nothing holds it. Blocks.
#[must_use]
pub fn secrets_here(place: &CallPlace, named: &[PathBuf]) -> bool {
    system_support::spaces(&place.runner) == Namespaces::Without
        && !crate::sandbox::is_enforced()
        && (holds_any(&place.cwd, home().as_deref()) || named.iter().any(|path| path.is_dir() && holds_beside(path)))
}

fn home() -> Option<PathBuf> {
    std::env::home_dir()
}

fn view<'a>(place: &'a CallPlace, home: Option<&'a Path>) -> SecrecyView<'a> {
    let CallPlace { cwd, session_dir, own_dirs, allowances, .. } = place;
    SecrecyView { cwd, session_dir, own_dirs, allowances, home }
}

/// Folders of the home directory whose files are secrets, and how deep they are looked through.
const SECRET_FOLDERS: &[&str] = &[".ssh", ".aws", ".gnupg", ".config/gh", ".docker", ".kube", ".azure"];
/// Files of the home directory that are secrets.
const SECRET_FILES: &[&str] = &[
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".vault-token",
    ".cargo/credentials.toml",
];
/// Number of files of a folder that are looked at.
const MOST_SECRETS: usize = 500;

/// True if a file with several names is one of the known secrets: those of the home directory,
/// lisle's own credentials, and the `.env` files of the working directory.
fn is_other_name(id: (u64, u64), place: &CallPlace) -> bool {
    let is = |path: &Path| std::fs::metadata(path).is_ok_and(|meta| (meta.dev(), meta.ino()) == id);
    let among = |folder: &Path, wanted: &dyn Fn(&str) -> bool| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_SECRETS);
        entries.filter(|entry| wanted(&entry.file_name().to_string_lossy().to_lowercase())).any(|e| is(&e.path()))
    };
    let home = std::env::home_dir();
    home.iter().any(|home| {
        SECRET_FOLDERS.iter().any(|folder| among(&home.join(folder), &|name| !name.ends_with(".pub")))
            || SECRET_FILES.iter().any(|file| is(&home.join(file)))
    }) || place.own_dirs.iter().any(|dir| among(dir, &|name| name.starts_with("credential")))
        || among(&place.cwd, &|name| paths::is_secret(Path::new(name)))
}

#[cfg(test)]
mod tests {
    use super::super::paths::resolve_from;
    use super::*;
    use crate::tools::bench::{place, tree};
    use std::os::unix::fs::symlink;

    #[test]
    fn places_are_judged_on_the_real_path() {
        use tool::PathPlace::{Inside, Outside, Protected, SessionFolder};
        let (_dir, root) = tree();
        symlink(root.join("work/.git"), root.join("work/innocent")).unwrap();
        symlink(root.join("outside"), root.join("state/sessions/s1/data")).unwrap();
        let place = place(&root);
        for (given, kind) in [
            ("src/main.rs", Inside),
            (".gitignore", Inside),
            ("git/config", Inside),
            (".git/hooks/pre-commit", Protected),
            (".GIT/config", Protected),
            (".git./config", Protected),
            (".git /config", Protected),
            (".g\u{200c}it/config", Protected),
            ("\u{feff}.git/config", Protected),
            ("GIT~1/config", Protected),
            (".\u{17f}sh/config", Protected),
            (".ba\u{17f}hrc", Protected),
            (".gitx/config", Inside),
            ("../config/trusted.toml", Protected),
            ("../config/permissions.json", Protected),
            (".LISLE/permissions.json", Protected),
            ("sub/.git", Protected),
            ("innocent/config", Protected),
            (".github/workflows/ci.yml", Protected),
            (".envrc", Protected),
            ("sub/.bashrc", Protected),
            (".vscode/settings.json", Protected),
            (".cargo/config.toml", Protected),
            ("cargo/config.toml", Inside),
            (".npmrc", Protected),
            (".husky/pre-push", Protected),
            (".lisle/permissions.json", Protected),
            ("../outside/x", Outside),
            ("/etc/hosts", Outside),
            ("~/.ssh/authorized_keys", Protected),
            ("../config/config.toml", Protected),
            ("../state/sessions/s1/plans/a.md", SessionFolder),
            ("../state/sessions/s1/plans", Protected),
            ("../state/sessions/s1/session.jsonl", Protected),
            ("../state/sessions/s1/data/x", Outside),
            ("../state/sessions/s2/plans/a.md", Protected),
        ] {
            let path = resolve_from(given, &place.cwd, Some(&root.join("home"))).unwrap();
            assert_eq!(classify(&path, &place), kind, "{given}");
        }
    }

    #[test]
    fn files_of_a_worktree_that_lisle_made_are_the_projects() {
        let (_dir, root) = tree();
        let mut place = place(&root);
        let own = place.own_dirs[0].clone();
        place.cwd = own.join("worktrees/w/260902-a-b");
        for folder in ["worktrees/w/260902-a-b/src", "worktrees/w/260902-c-d", "worktrees/w"] {
            std::fs::create_dir_all(own.join(folder)).unwrap();
        }
        let at = |name: &str| classify(&follow(&own.join("worktrees/w").join(name)).unwrap(), &place);
        assert_eq!(at("260902-a-b/src/main.rs"), tool::PathPlace::Inside);
        assert_eq!(at("260902-a-b/.git"), tool::PathPlace::Protected);
        assert_eq!(at("260902-c-d/src/main.rs"), tool::PathPlace::Protected);
        // A folder of lisle's own is none that somebody works in.
        place.cwd = own.join("worktrees/w");
        assert_eq!(classify(&follow(&own.join("worktrees/w/x")).unwrap(), &place), tool::PathPlace::Protected);
    }

    #[test]
    fn some_directories_are_no_place_to_work_in_whoever_names_them() {
        let (_dir, root) = tree();
        let own = [root.join("state")];
        let home = home().unwrap();
        std::fs::create_dir_all(root.join("state/worktrees/w/s/src")).unwrap();
        symlink(root.join("state/sessions"), root.join("work/link")).unwrap();
        for (cwd, always) in [
            (root.join("state"), Some(true)),
            (root.join("state/sessions/s1/data"), Some(true)),
            (root.join("work/link/s1"), Some(true)),
            (root.join("state/worktrees/w"), Some(true)),
            (root.join("state/worktrees/w/s/src"), None),
            (root.join("work"), None),
            (home.join(".ssh"), Some(true)),
            (home.join(".aws/x"), Some(true)),
            (home.join(".config"), Some(false)),
            (home.join(".local/share"), Some(false)),
            (home.join(".claude"), Some(false)),
            (home.clone(), None),
            (home.join("src/x"), None),
        ] {
            assert_eq!(no_place_to_work(&cwd, &own).map(|no| no.always), always, "{}", cwd.display());
        }
    }

    #[test]
    fn what_gits_settings_name_is_protected() {
        let (_dir, root) = tree();
        let place = place(&root);
        for folder in ["objects", "refs"] {
            std::fs::create_dir_all(place.cwd.join(".git").join(folder)).unwrap();
        }
        std::fs::write(place.cwd.join(".git/HEAD"), "x").unwrap();
        std::fs::write(place.cwd.join(".git/config"), "[core]\n\thooksPath = githooks\n").unwrap();
        let at = |name: &str| classify(&follow(&place.cwd).unwrap().join(name), &place);
        assert_eq!(
            (at("githooks/pre-commit"), at("src/main.rs")),
            (tool::PathPlace::Protected, tool::PathPlace::Inside)
        );
    }

    #[test]
    fn a_repository_of_any_name_is_protected_and_so_is_the_file_that_completes_one() {
        let (_dir, root) = tree();
        let place = place(&root);
        let cwd = follow(&place.cwd).unwrap();
        let at = |name: &str| classify(&cwd.join(name), &place);
        let free = tool::PathPlace::Inside;
        for folder in ["bare/objects", "bare/refs", "own", "half/objects"] {
            std::fs::create_dir_all(cwd.join(folder)).unwrap();
        }
        for file in ["bare/HEAD", "own/HEAD", "half/HEAD"] {
            std::fs::write(cwd.join(file), "x").unwrap();
        }
        for (name, place) in [
            ("bare/config", tool::PathPlace::Protected),
            ("bare/hooks/pre-commit", tool::PathPlace::Protected),
            ("bare/info/new/deep", tool::PathPlace::Protected),
            ("half/refs/heads/main", tool::PathPlace::Protected),
            ("own/commondir", tool::PathPlace::Protected),
            ("own/config", free),
            ("half/config", free),
            ("src/refs/a", free),
            ("HEAD", free),
        ] {
            assert_eq!(at(name), place, "{name}");
        }
    }

    #[test]
    fn what_a_protected_link_leads_to_is_protected() {
        let (_dir, root) = tree();
        let place = place(&root);
        let cwd = follow(&place.cwd).unwrap();
        std::fs::create_dir_all(cwd.join("env.d")).unwrap();
        for file in ["env.d/e", "env.d/f", "twin"] {
            std::fs::write(cwd.join(file), "x").unwrap();
        }
        symlink("env.d/e", cwd.join(".envrc")).unwrap();
        std::fs::create_dir_all(cwd.join("sub")).unwrap();
        std::fs::hard_link(cwd.join("twin"), cwd.join("sub/.gdbinit")).unwrap();
        let at = |name: &str| classify(&cwd.join(name), &place);
        assert_eq!(at("env.d/e"), tool::PathPlace::Protected);
        assert_eq!(at("twin"), tool::PathPlace::Protected);
        assert_eq!(at("env.d/f"), tool::PathPlace::Inside);
    }

    #[test]
    fn secrets_are_known_by_their_path() {
        let (_dir, root) = tree();
        let place = place(&root);
        for secret in [
            "/home/u/.ssh/config",
            "/home/u/.gnupg/x",
            "/home/u/.aws/credentials",
            "/home/u/.netrc",
            "/w/.env",
            "/w/.env.local",
            "/w/.ENV.production",
            "/w/tls/server.pem",
            "/w/server.key",
            "/w/id_rsa",
            "/w/id_work",
            "/w/id_ed25519.bak",
            "/home/u/.mozilla/firefox/abc/logins.json",
            "/home/u/.config/google-chrome/Default/Cookies",
            "/proc/self/environ",
            "/proc/12/fd/3",
            "/etc/shadow",
        ] {
            assert!(is_secret(Path::new(secret), &place), "{secret}");
        }
        for open in ["/w/env", "/w/id_rsa.pub", "/w/src/id_map.rs", "/w/keys.rs", "/proc/cpuinfo", "/", "/w/monkey"] {
            assert!(!is_secret(Path::new(open), &place), "{open}");
        }
        assert!(is_secret(&root.join("config/credentials"), &place));
        // What else is lisle's own is not for commands either.
        assert!(is_secret(&root.join("config/config.toml"), &place));
        assert!(is_secret(&root.join("state/sessions/s2/session.jsonl"), &place));
        assert!(!is_secret(&root.join("state/sessions/s1/data/a.csv"), &place));
    }
}
