//! What kind of place a path is: inside, outside, protected, secret.
//!
//! Judged is the path after every link in it was followed (`paths`). Whether it may be touched is for the permission
//! function; the lists here say only what it is.

use super::Place;
use super::paths::follow;
use crate::domain::tool;
use std::path::{Component, Path};

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
    own && names(path).last().is_some_and(|name| name.starts_with("credential"))
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

#[cfg(test)]
mod tests {
    use super::super::paths::resolve_from;
    use super::*;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

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
}
