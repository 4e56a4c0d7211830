//! What can be said of a path from its name alone: secrets, devices, and files that configure or run code.
//!
//! Pure: nothing is looked up. Whoever has a disk resolves links first and asks again about what came out.

use std::path::{Component, Path, PathBuf};

/// Joins `path` to `base` and takes out `.` and `..` by name alone. A link before a `..` is not seen here.
#[must_use]
pub fn lexical(base: &Path, path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in base.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                // `/..` is `/`; a relative path keeps the steps that lead out of it.
                if !out.pop() && !out.has_root() {
                    out.push("..");
                }
            }
            other => out.push(other),
        }
    }
    out
}

/// Whether the path has a `..` in it: such a path was not resolved, and says nothing about where it leads.
#[must_use]
pub fn climbs(path: &Path) -> bool {
    path.components().any(|part| part == Component::ParentDir)
}

/// Folders whose whole content is secret.
const SECRET_FOLDERS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".password-store",
    ".mozilla",
    ".thunderbird",
    "bravesoftware",
    "google-chrome",
    "chromium",
    "keychains",
    "keyrings",
    "gcloud",
];

/// Files that are secret wherever they lie.
const SECRET_FILES: &[&str] = &[
    ".netrc",
    "_netrc",
    ".authinfo",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".htpasswd",
    ".vault-token",
    ".boto",
    ".s3cfg",
    "credentials",
    "credentials.toml",
    "credentials.json",
    "credentials.db",
    "credentials.enc",
    "auth.json",
    "logins.json",
    "key4.db",
    "cookies.sqlite",
    "login data",
];

/// Endings of files that hold keys.
const SECRET_ENDINGS: &[&str] = &["pem", "key", "p12", "pfx", "jks", "keystore", "kdbx", "ppk", "p8", "keytab"];

/// Whether a path looks like keys, credentials or the like: `.ssh`, `.gnupg`, `.aws`, `.netrc`, `.env*`, key files,
/// browser profiles, credential files. Case does not matter, for the sake of file systems where it does not either.
#[must_use]
pub fn is_secret(path: &Path) -> bool {
    let parts: Vec<String> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
            _ => None,
        })
        .collect();
    if parts.iter().any(|part| SECRET_FOLDERS.contains(&part.as_str()) || is_env_file(part)) {
        return true;
    }
    let Some(name) = parts.last().map(String::as_str) else { return false };
    let parent = parts.len().checked_sub(2).and_then(|i| parts.get(i)).map_or("", String::as_str);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    SECRET_FILES.contains(&name)
        || SECRET_ENDINGS.contains(&ending)
        || (["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"].iter().any(|k| name.starts_with(k)) && ending != "pub")
        || matches!(
            (parent, name),
            ("gh", "hosts.yml")
                | (".docker", "config.json")
                | ("etc", "shadow" | "gshadow" | "shadow-" | "gshadow-" | "sudoers")
        )
        || (parts.first().is_some_and(|p| p == "proc") && ["environ", "mem", "kcore", "cmdline"].contains(&name))
}

/// `.env` and its kin, without the examples that are made to be read.
fn is_env_file(name: &str) -> bool {
    let example = [".example", ".sample", ".template", ".dist", ".defaults"].iter().any(|end| name.ends_with(end));
    name.starts_with(".env") && !example
}

/// Whether reading the path may block, never end or do something: devices and kernel files. A few that only tell
/// facts about the machine are excepted.
#[must_use]
pub fn is_device(path: &Path) -> bool {
    const HARMLESS: &[&str] = &[
        "/dev/null",
        "/proc/cpuinfo",
        "/proc/meminfo",
        "/proc/loadavg",
        "/proc/uptime",
        "/proc/version",
        "/proc/filesystems",
    ];
    ["/dev", "/proc", "/sys"].iter().any(|top| path.starts_with(top)) && !HARMLESS.iter().any(|p| path == Path::new(p))
}

/// Folders that hold what configures or runs code.
const PROTECTED_FOLDERS: &[&str] =
    &[".ssh", ".gnupg", ".vscode", ".idea", ".husky", ".githooks", ".circleci", ".cargo", ".lisle", ".buildkite"];

/// Files that configure or run code wherever they lie.
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
    ".cshrc",
    ".tcshrc",
    ".inputrc",
    ".envrc",
    ".gitconfig",
    ".gitmodules",
    ".gitlab-ci.yml",
    ".travis.yml",
    "jenkinsfile",
    "azure-pipelines.yml",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pypirc",
    "pip.conf",
    ".editorconfig",
    ".vimrc",
    ".exrc",
    ".nvimrc",
    ".emacs",
    ".dir-locals.el",
    ".tmux.conf",
    ".mcp.json",
    "authorized_keys",
    "crontab",
];

/// Whether a command that names this path may change what configures or runs code: `.git/hooks`, `.git/config*`,
/// `.git/info/attributes`, shell start files, `.ssh`, `.envrc`, editor, hook, CI and package-manager settings.
/// The rest of `.git` is what git commands write all the time; for the file tools all of `.git` is protected.
#[must_use]
pub fn is_protected_for_commands(path: &Path) -> bool {
    let parts: Vec<String> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
            _ => None,
        })
        .collect();
    let pair = |a: &str, b: &str| parts.windows(2).any(|w| w[0] == a && w[1].starts_with(b));
    parts.iter().any(|part| PROTECTED_FOLDERS.contains(&part.as_str()))
        || parts.last().is_some_and(|name| PROTECTED_FILES.contains(&name.as_str()))
        || pair(".git", "hooks")
        || pair(".git", "config")
        || pair(".github", "workflows")
        || pair(".github", "actions")
        || parts.windows(3).any(|w| w[0] == ".git" && w[1] == "info" && w[2] == "attributes")
        || pair(".config", "fish")
        || pair(".config", "nvim")
        || pair(".config", "lisle")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_taken_out_by_name() {
        for (base, path, out) in [
            ("/a/b", "c", "/a/b/c"),
            ("/a/b", "../c", "/a/c"),
            ("/a/b", "../../../../etc", "/etc"),
            ("/a/b", "/x/./y/../z", "/x/z"),
            ("/", "..", "/"),
            ("a", "../../b", "../b"),
        ] {
            assert_eq!(lexical(Path::new(base), Path::new(path)), Path::new(out), "{base} {path}");
        }
        assert!(climbs(Path::new("/a/../b")) && !climbs(Path::new("/a/..b/c")));
    }

    #[test]
    fn secrets_are_known_by_name() {
        for secret in [
            "/home/u/.ssh/id_rsa",
            "/home/u/.SSH/config",
            ".env",
            "app/.env.production",
            ".envrc",
            "x/.env/y",
            "/root/.aws/credentials",
            "certs/server.key",
            "a.PEM",
            "deploy/id_ed25519",
            "/home/u/.netrc",
            "/home/u/.config/lisle/credentials",
            "/home/u/.cargo/credentials.toml",
            "/home/u/.config/gh/hosts.yml",
            "/etc/shadow",
            "/proc/self/environ",
            "/home/u/.mozilla/firefox/x/places.sqlite",
        ] {
            assert!(is_secret(Path::new(secret)), "{secret}");
        }
        for open in [
            "/home/u/src/main.rs",
            ".env.example",
            "environment.rs",
            "src/env.rs",
            "id_rsa.pub",
            "keys.rs",
            "docs/ssh.md",
            "/etc/passwd",
            "keyboard.toml",
            "/",
            "",
        ] {
            assert!(!is_secret(Path::new(open)), "{open}");
        }
    }

    #[test]
    fn devices_and_protected_paths_are_known_by_name() {
        for device in ["/dev/zero", "/dev/sda", "/proc/kmsg", "/sys/power/state", "/dev"] {
            assert!(is_device(Path::new(device)), "{device}");
        }
        for plain in ["/dev/null", "/proc/meminfo", "/device", "dev/zero", "/home/dev"] {
            assert!(!is_device(Path::new(plain)), "{plain}");
        }
        for protected in [
            "/r/.git/hooks/pre-commit",
            "/r/.git/config",
            "/r/.git/config.worktree",
            "/r/.git/info/attributes",
            "/home/u/.bashrc",
            "/r/.github/workflows/ci.yml",
            "/r/.cargo/config.toml",
            "/r/.vscode/tasks.json",
            "/r/.envrc",
        ] {
            assert!(is_protected_for_commands(Path::new(protected)), "{protected}");
        }
        for open in ["/r/.git/HEAD", "/r/.gitignore", "/r/src/config.rs", "/r/.github/CODEOWNERS", "/r/Cargo.toml"] {
            assert!(!is_protected_for_commands(Path::new(open)), "{open}");
        }
    }
}
