//! Where a path that a model gave really leads, and what kind of place that is.
//!
//! A path is judged after every link in it was followed. Opening it, without following any link again, is for `files`;
//! whether it may be touched is for the permission function. Lists of names follow the design's permission page.

use super::Place;
use crate::domain::tool;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Links that are followed in one path before it counts as a loop; Linux allows as many.
const MOST_LINKS: usize = 40;

/// Follows `text` from `place`'s working directory to the real path. What does not exist stays as it is written.
///
/// # Errors
/// A sentence for the model: empty, a NUL in it, a loop of links, or `..` behind a link, where reading the path by its
/// letters and following it lead to different places.
pub fn resolve(text: &str, place: &Place) -> Result<PathBuf, String> {
    resolve_from(text, &place.cwd, std::env::home_dir().as_deref())
}

fn resolve_from(text: &str, cwd: &Path, home: Option<&Path>) -> Result<PathBuf, String> {
    if text.trim().is_empty() {
        return Err("The path is empty. Give a path, for example `src/main.rs` or `.`.".to_owned());
    }
    if text.contains('\0') {
        return Err("The path holds a NUL character, which no path can.".to_owned());
    }
    let given = match (text.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.to_owned(),
        (Some(rest), Some(home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => PathBuf::from(text),
    };
    let full = cwd.join(given);
    let followed = follow(&full).map_err(|why| format!("{text} cannot be followed: {why}."))?;
    let by_letters = follow(&lexical(&full)).map_err(|why| format!("{text} cannot be followed: {why}."))?;
    if followed != by_letters {
        return Err(format!(
            "{text} goes through a link and back with `..`, so it could mean {} or {}. Give one of them directly.",
            followed.display(),
            by_letters.display()
        ));
    }
    Ok(followed)
}

/// `path` without `.` and `..`, by its letters alone.
fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Normal(name) => out.push(name),
            Component::ParentDir => {
                out.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    out
}

/// The real path behind an absolute one, part by part as the kernel walks it; parts that do not exist are kept.
pub(crate) fn follow(path: &Path) -> Result<PathBuf, String> {
    let mut real = PathBuf::from("/");
    let mut rest: Vec<OsString> = parts(path);
    let mut links = 0;
    while let Some(part) = rest.pop() {
        if part == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&part);
        let Ok(target) = std::fs::read_link(&next) else {
            real = next;
            continue;
        };
        links += 1;
        if links > MOST_LINKS {
            return Err("its links go round in a circle".to_owned());
        }
        if target.is_absolute() {
            real = PathBuf::from("/");
        }
        rest.extend(parts(&target));
    }
    Ok(real)
}

/// The parts of a path, last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let mut parts: Vec<OsString> = path
        .components()
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
        .map(|part| part.as_os_str().to_owned())
        .collect();
    parts.reverse();
    parts
}

/// A path as the user and the model read it: relative to the working directory where it lies below it.
#[must_use]
pub fn shown(path: &Path, place: &Place) -> String {
    let cwd = follow(&place.cwd).unwrap_or_else(|_| place.cwd.clone());
    match path.strip_prefix(&cwd) {
        Ok(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
        Ok(rest) => rest.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}

/// What kind of place a resolved path is, for the decision on writing it.
#[must_use]
pub fn classify(path: &Path, place: &Place) -> tool::Place {
    let real = |dir: &Path| follow(dir).unwrap_or_else(|_| dir.to_owned());
    let session = real(&place.session_dir);
    // The folder itself is no file of the session; only what lies below it is.
    if ["plans", "data"].iter().any(|name| path.strip_prefix(session.join(name)).is_ok_and(|p| p != Path::new(""))) {
        return tool::Place::SessionFolder;
    }
    if is_protected(path) || place.own_dirs.iter().any(|dir| path.starts_with(real(dir))) || path.starts_with(&session)
    {
        return tool::Place::Protected;
    }
    if path.starts_with(real(&place.cwd)) { tool::Place::Inside } else { tool::Place::Outside }
}

/// Folders that configure or run code, wherever they stand.
const PROTECTED_FOLDERS: &[&str] = &[
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".ssh",
    ".gnupg",
    ".aws",
    ".husky",
    ".githooks",
    ".github",
    ".gitlab",
    ".gitea",
    ".forgejo",
    ".circleci",
    ".buildkite",
    ".woodpecker",
    ".vscode",
    ".idea",
    ".zed",
    ".fleet",
    ".vim",
    ".nvim",
    ".emacs.d",
    ".helix",
    ".devcontainer",
    ".direnv",
    ".lisle",
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
    ".bundle",
    ".oh-my-zsh",
    ".zsh",
    "launchagents",
    "launchdaemons",
    "cron.d",
    "crontabs",
];

/// Files that configure or run code, wherever they stand.
const PROTECTED_FILES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".mkshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
    ".inputrc",
    ".xprofile",
    ".xinitrc",
    ".xsession",
    ".xsessionrc",
    ".pam_environment",
    "config.fish",
    ".envrc",
    ".mise.toml",
    "mise.toml",
    ".tool-versions",
    ".vimrc",
    ".gvimrc",
    ".exrc",
    ".nvimrc",
    ".nvim.lua",
    ".emacs",
    ".dir-locals.el",
    ".gitconfig",
    ".gitmodules",
    ".gitlab-ci.yml",
    ".travis.yml",
    ".drone.yml",
    ".woodpecker.yml",
    ".appveyor.yml",
    "appveyor.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "jenkinsfile",
    ".cirrus.yml",
    ".pre-commit-config.yaml",
    ".pre-commit-hooks.yaml",
    "lefthook.yml",
    ".lefthook.yml",
    "lefthook.toml",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    ".bunfig.toml",
    "bunfig.toml",
    ".pypirc",
    "pip.conf",
    ".condarc",
    ".gemrc",
    ".netrc",
    "_netrc",
    ".mcp.json",
    ".lesskey",
    ".tmux.conf",
    ".screenrc",
    ".wgetrc",
    ".curlrc",
];

/// Places of which a folder and what stands in it must both fit.
const PROTECTED_PAIRS: &[(&str, &str)] = &[
    (".cargo", "config"),
    (".cargo", "config.toml"),
    (".cargo", "env"),
    (".config", "fish"),
    (".config", "git"),
    (".config", "nvim"),
    (".config", "vim"),
    (".config", "helix"),
    (".config", "zed"),
    (".config", "emacs"),
    (".config", "doom"),
    (".config", "code"),
    (".config", "systemd"),
    (".config", "autostart"),
    (".config", "environment.d"),
    (".config", "direnv"),
    (".config", "mise"),
    (".config", "pip"),
    (".config", "npm"),
    (".config", "nushell"),
    (".config", "tmux"),
    (".config", "starship.toml"),
    (".pip", "pip.conf"),
    (".local", "bin"),
];

/// The names of a path in small letters: some file systems do not tell `.GIT` from `.git`.
fn names(path: &Path) -> Vec<String> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
            _ => None,
        })
        .collect()
}

fn is_protected(path: &Path) -> bool {
    let names = names(path);
    names.iter().any(|name| PROTECTED_FOLDERS.contains(&name.as_str()) || PROTECTED_FILES.contains(&name.as_str()))
        || names
            .windows(2)
            .any(|pair| PROTECTED_PAIRS.iter().any(|(folder, name)| pair[0] == *folder && pair[1] == *name))
}

/// Folders whose content is secret: keys, sign-ins and browser profiles.
const SECRET_FOLDERS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".password-store",
    ".mozilla",
    ".thunderbird",
    ".librewolf",
    ".waterfox",
    "keyrings",
    "keychains",
    "org.mozilla.firefox",
];

/// As [`SECRET_FOLDERS`], a folder with what stands in it.
const SECRET_PAIRS: &[(&str, &str)] = &[
    (".config", "gcloud"),
    (".config", "google-chrome"),
    (".config", "google-chrome-beta"),
    (".config", "chromium"),
    (".config", "bravesoftware"),
    (".config", "microsoft-edge"),
    (".config", "vivaldi"),
    (".config", "opera"),
    (".config", "gh"),
    (".config", "rclone"),
    (".docker", "config.json"),
    (".cargo", "credentials"),
    (".cargo", "credentials.toml"),
    ("snap", "firefox"),
    ("snap", "chromium"),
    ("application support", "google"),
    ("application support", "firefox"),
    ("application support", "chromium"),
    ("application support", "bravesoftware"),
    ("application support", "microsoft edge"),
];

const SECRET_FILES: &[&str] = &[
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".htpasswd",
    ".vault-token",
    ".terraformrc",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "credentials.enc",
    "secrets.json",
    "secrets.toml",
    "secrets.yml",
    "secrets.yaml",
    "shadow",
    "gshadow",
    "shadow-",
    "gshadow-",
    "sudoers",
];

const SECRET_ENDINGS: &[&str] = &["pem", "key", "p12", "pfx", "jks", "keystore", "kdbx", "ppk"];

/// What of `/proc/PID` shows a process's environment, memory or open files.
const SECRET_PROC: &[&str] = &["environ", "mem", "fd", "root", "cwd", "map_files", "task"];

/// A resolved path looks like a secret: reading it is decided on its own.
#[must_use]
pub fn is_secret(path: &Path, place: &Place) -> bool {
    if looks_secret(path) {
        return true;
    }
    let own = place.own_dirs.iter().any(|dir| path.starts_with(follow(dir).unwrap_or_else(|_| dir.clone())));
    own && names(path).last().is_some_and(|name| name.starts_with("credential") || name.starts_with("key"))
}

fn looks_secret(path: &Path) -> bool {
    let names = names(path);
    let Some(last) = names.last() else { return false };
    if names.iter().any(|name| SECRET_FOLDERS.contains(&name.as_str()))
        || names.windows(2).any(|pair| SECRET_PAIRS.iter().any(|(folder, name)| pair[0] == *folder && pair[1] == *name))
    {
        return true;
    }
    if names.first().is_some_and(|name| name == "proc") {
        return names.get(2).is_some_and(|name| SECRET_PROC.contains(&name.as_str()));
    }
    let ending = last.rsplit_once('.').map(|(_, ending)| ending);
    SECRET_FILES.contains(&last.as_str())
        || last.starts_with(".env")
        || ending.is_some_and(|ending| SECRET_ENDINGS.contains(&ending))
        || is_key_name(last)
}

/// `id_rsa`, `id_work`, `id_ed25519.old`; not `id_rsa.pub` and not `id_map.rs`.
fn is_key_name(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("id_") else { return false };
    let kind = ["rsa", "dsa", "ecdsa", "ed25519", "xmss"].iter().any(|kind| rest.starts_with(kind));
    !name.ends_with(".pub") && (kind || !rest.contains('.'))
}

/// Up to five existing paths that were perhaps meant by one that does not exist, nearest first, as shown.
#[must_use]
pub fn neighbours(missing: &Path, place: &Place) -> Vec<String> {
    // The first part that is not there decides: `scr/main.rs` is near to `src`.
    let Some((folder, wrong, rest)) = first_missing(missing) else { return Vec::new() };
    let wanted = wrong.to_string_lossy().to_lowercase();
    let mut near: Vec<(f32, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(&folder).into_iter().flatten().take(5_000).flatten() {
        let name = entry.file_name().to_string_lossy().to_lowercase();
        let ratio = likeness(&wanted, &name);
        let full = entry.path().join(&rest);
        let whole = !rest.as_os_str().is_empty() && full.exists();
        if ratio >= 0.6 || (whole && ratio >= 0.4) {
            near.push((if whole { ratio + 1.0 } else { ratio }, if whole { full } else { entry.path() }));
        }
    }
    // The same name elsewhere below the working directory is near, too.
    if let Some(name) = missing.file_name() {
        let cwd = follow(&place.cwd).unwrap_or_else(|_| place.cwd.clone());
        for entry in super::walk::below(&cwd).max_depth(Some(8)).build().take(5_000).flatten() {
            if entry.file_name() == name && !near.iter().any(|(_, path)| path == entry.path()) {
                near.push((0.95, entry.into_path()));
            }
        }
    }
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    near.truncate(5);
    near.into_iter().map(|(_, path)| shown(&path, place)).collect()
}

/// The deepest folder of `path` that exists, the part that is not in it, and what follows that part.
fn first_missing(path: &Path) -> Option<(PathBuf, OsString, PathBuf)> {
    let mut folder = PathBuf::from("/");
    let mut rest = path.components();
    rest.next();
    while let Some(part) = rest.next() {
        let next = folder.join(part);
        if std::fs::symlink_metadata(&next).is_err() {
            return Some((folder, part.as_os_str().to_owned(), rest.as_path().to_owned()));
        }
        folder = next;
    }
    None
}

/// From 0 (nothing in common) to 1 (the same).
pub(crate) fn likeness(a: &str, b: &str) -> f32 {
    similar::TextDiff::from_chars(a, b).ratio()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn place(root: &Path) -> Place {
        Place {
            cwd: root.join("work"),
            session_dir: root.join("state/sessions/s1"),
            own_dirs: vec![root.join("state"), root.join("config")],
            runner: PathBuf::from("/bin/false"),
            window: 200_000,
        }
    }

    fn tree() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for sub in ["work/src", "work/.git", "outside", "state/sessions/s1/plans", "config", "home"] {
            std::fs::create_dir_all(root.join(sub)).unwrap();
        }
        (dir, root)
    }

    #[test]
    fn paths_are_followed_to_where_they_lead() {
        let (_dir, root) = tree();
        symlink(root.join("outside"), root.join("work/out")).unwrap();
        symlink("loop-b", root.join("work/loop-a")).unwrap();
        symlink("loop-a", root.join("work/loop-b")).unwrap();
        symlink("../outside/made-later", root.join("work/dangling")).unwrap();
        let cwd = root.join("work");
        let home = root.join("home");
        for (given, real) in [
            (".", "work"),
            ("src/main.rs", "work/src/main.rs"),
            ("./src/../src//x", "work/src/x"),
            ("../outside/x", "outside/x"),
            ("out/x/y", "outside/x/y"),
            ("dangling", "outside/made-later"),
            ("~", "home"),
            ("~/a", "home/a"),
            ("~a", "work/~a"),
            ("no/such/../place", "work/no/place"),
        ] {
            assert_eq!(resolve_from(given, &cwd, Some(&home)), Ok(root.join(real)), "{given}");
        }
        assert_eq!(resolve_from("/etc/../etc/hosts", &cwd, None), Ok(PathBuf::from("/etc/hosts")));
        assert_eq!(resolve_from("../../../../../../../../../..", &cwd, None), Ok(PathBuf::from("/")));
        for (given, says) in [
            ("", "empty"),
            ("  ", "empty"),
            ("a\0b", "NUL"),
            ("loop-a/x", "circle"),
            ("out/../src", "goes through a link and back"),
        ] {
            let error = resolve_from(given, &cwd, None).unwrap_err();
            assert!(error.contains(says), "{given}: {error}");
        }
    }

    #[test]
    fn places_are_judged_on_the_real_path() {
        use tool::Place::{Inside, Outside, Protected, SessionFolder};
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
        assert!(!is_secret(&root.join("config/config.toml"), &place));
    }

    #[test]
    fn a_missing_file_has_neighbours() {
        let (_dir, root) = tree();
        for file in ["work/src/main.rs", "work/src/paths.rs", "work/README.md"] {
            std::fs::write(root.join(file), "x").unwrap();
        }
        let place = place(&root);
        let near = |given: &str| neighbours(&resolve_from(given, &place.cwd, None).unwrap(), &place);
        assert_eq!(near("src/mian.rs"), ["src/main.rs"]);
        assert_eq!(near("scr/main.rs"), ["src/main.rs"]);
        assert_eq!(near("paths.rs"), ["src/paths.rs"]);
        assert_eq!(near("readme.md"), ["README.md"]);
        assert_eq!(near("zzzzzz"), Vec::<String>::new());
    }
}
