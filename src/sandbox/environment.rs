//! The environment of a command: lisle's own without keys, without what makes a shell or a program run other code first,
//! and with what keeps programs from paging or prompting.
//!
//! `PATH` and the search path of libraries lose what would let a working directory put its own `cat` or its own library
//! in place of the system's: a command that only reads runs without a question, and must be what it is called.
//! It is cleaned before the parent of the command starts, so that `/proc/PARENT/environ` holds no keys either.

use crate::domain::permission::READERS;
use crate::domain::secret::masked;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Endings of names that stand for keys and passwords.
const SECRET_ENDINGS: &[&str] = &[
    "_KEY",
    "_KEY_ID",
    "_AUTH",
    "_PAT",
    "_PWD",
    "_JWT",
    "_COOKIE",
    "APIKEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
];

/// Parts of names, between low lines, that stand for them wherever they are.
const SECRET_PARTS: &[&str] = &["TOKEN", "SECRET", "SECRETS", "CREDENTIAL", "CREDENTIALS", "APIKEY", "PASSWORD"];

/// Parts of names that begin like a password and are none.
const NO_PASSWORDS: &[&str] = &["PASSTHROUGH", "PASSIVE", "PASSED", "PASSES", "PASSING"];

/// Whole names that stand for keys and passwords.
const SECRET_NAMES: &[&str] = &["NETRC", "PGPASSFILE"];

/// Beginnings of names that belong to lisle or to a provider's own settings.
const SECRET_STARTS: &[&str] = &["LISLE_", "ANTHROPIC_", "OPENAI_", "AZURE_OPENAI_", "GEMINI_", "OPENROUTER_"];

/// What would make a shell or a program run or read something else first.
const STEERING: &[&str] = &[
    "BASH_ENV",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PS4",
    "PROMPT_COMMAND",
    "CDPATH",
    "GLOBIGNORE",
    "BASH_XTRACEFD",
    "LESSOPEN",
    "LESSCLOSE",
    "RIPGREP_CONFIG_PATH",
    // Options and tables that a program takes from its environment without being told.
    "GREP_OPTIONS",
    "POSIXLY_CORRECT",
    "MAGIC",
    "EXECIGNORE",
    "BASH_LOADABLES_PATH",
    // The loader and the C library run code from these, and messages can be made formats.
    "LD_PRELOAD",
    "LD_AUDIT",
    "LD_PROFILE",
    "LD_DEBUG_OUTPUT",
    "LD_ORIGIN_PATH",
    "GCONV_PATH",
    "LOCPATH",
    "NLSPATH",
    "GETCONF_DIR",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "DYLD_FRAMEWORK_PATH",
    "OLDPWD",
    "PWD",
    "COLUMNS",
    "LINES",
];

/// No pager, no prompt, no colours, no terminal.
const SET: &[(&str, &str)] = &[
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("BAT_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
];

/// lisle's own environment, cleaned for a program of the user's that it runs in `cwd` for itself, such as git.
pub fn own(cwd: &Path) -> Vec<(OsString, OsString)> {
    cleaned(std::env::vars_os(), cwd)
}

/// The environment for a command that runs in `cwd`, made from `own`. Looks at the folders of `PATH`.
pub fn cleaned(own: impl IntoIterator<Item = (OsString, OsString)>, cwd: &Path) -> Vec<(OsString, OsString)> {
    cleaned_but(own, cwd, &[])
}

/// The same with variables that a rule names for the program that runs: a key of theirs stays. What steers other programs
/// goes all the same.
pub fn cleaned_but(
    own: impl IntoIterator<Item = (OsString, OsString)>,
    cwd: &Path,
    named: &[String],
) -> Vec<(OsString, OsString)> {
    let stays = |name: &OsStr, value: &OsStr| {
        let known = named.iter().any(|known| name == known.as_str()) && !is_of_lisle(name);
        !is_steering(name) && (known || !is_secret(name, value)) && !SET.iter().any(|(set, _)| name == *set)
    };
    let mut out: Vec<(OsString, OsString)> = own.into_iter().filter(|(name, value)| stays(name, value)).collect();
    out.extend(SET.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))));
    let real = |dir: &Path| dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    let cwd = real(cwd);
    let inside = |dir: &Path| real(dir).starts_with(&cwd);
    let has_path = out.iter().any(|(name, _)| name == "PATH");
    out.retain_mut(|(name, value)| match name.to_str() {
        Some("PATH") => {
            *value = kept(value, |dir| !(inside(dir) && replaces_a_reader(dir)));
            true
        }
        Some("LD_LIBRARY_PATH") => {
            *value = kept(value, |dir| !inside(dir));
            !value.is_empty()
        }
        _ => true,
    });
    // Without one, shells search a built-in path that may hold the working directory.
    if !has_path || out.iter().any(|(name, value)| name == "PATH" && value.is_empty()) {
        out.retain(|(name, _)| name != "PATH");
        out.push(("PATH".into(), SYSTEM_PATH.into()));
    }
    out
}

/// Variables of the user's that a command which only reads gets, beside those of [`READING_STARTS`].
const READING_NAMES: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "HOSTNAME",
    "LD_LIBRARY_PATH",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "PNPM_HOME",
];
const READING_STARTS: &[&str] = &["LC_"];

/// What keeps programs that only read from writing beside that, from running what a repository's settings name, and from
/// the network.
const READING: &[(&str, &str)] = &[
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_EDITOR", "false"),
    ("GIT_ASKPASS", "false"),
    ("EDITOR", "false"),
    ("VISUAL", "false"),
    ("BROWSER", "false"),
    ("CARGO_NET_OFFLINE", "true"),
    ("CARGO_TERM_COLOR", "never"),
    ("RUSTUP_AUTO_INSTALL", "0"),
    ("GOTOOLCHAIN", "local"),
    ("GOPROXY", "off"),
    ("GOFLAGS", "-mod=readonly"),
    ("GOTELEMETRY", "off"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    ("PIP_NO_INPUT", "1"),
    ("npm_config_offline", "true"),
    ("npm_config_update_notifier", "false"),
    ("npm_config_logs_max", "0"),
    ("NO_UPDATE_NOTIFIER", "1"),
];

/// Settings of git that win over those of a repository. An empty `diff.external` would be run as a program, so that and
/// the drivers that a repository names are left to the profile.
const GIT_SETTINGS: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("core.sshCommand", "false"),
    // `git diff` would write the index, whatever GIT_OPTIONAL_LOCKS says.
    ("diff.autoRefreshIndex", "false"),
    ("log.showSignature", "false"),
    ("gpg.program", "false"),
    ("credential.helper", ""),
    ("maintenance.auto", "false"),
    ("gc.auto", "0"),
];

/// The environment for a command in `cwd` that only reads: a short list of the user's variables, and what switches off
/// that settings run code. Its `PATH` has no folder of the working directory at all.
pub fn reading(own: impl IntoIterator<Item = (OsString, OsString)>, cwd: &Path) -> Vec<(OsString, OsString)> {
    let listed = |name: &OsStr| {
        let Some(name) = name.to_str() else { return false };
        let set = SET.iter().any(|(set, _)| *set == name);
        set || READING_NAMES.contains(&name) || READING_STARTS.iter().any(|start| name.starts_with(start))
    };
    let mut out: Vec<(OsString, OsString)> = cleaned(own, cwd).into_iter().filter(|(name, _)| listed(name)).collect();
    let real = |dir: &Path| dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    let inside = real(cwd);
    for (_, value) in out.iter_mut().filter(|(name, _)| name == "PATH") {
        let rest = kept(value, |dir| !real(dir).starts_with(&inside));
        *value = if rest.is_empty() { SYSTEM_PATH.into() } else { rest };
    }
    out.extend(READING.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))));
    out.push(("GIT_CONFIG_COUNT".into(), GIT_SETTINGS.len().to_string().into()));
    for (at, (key, value)) in GIT_SETTINGS.iter().enumerate() {
        out.push((format!("GIT_CONFIG_KEY_{at}").into(), (*key).into()));
        out.push((format!("GIT_CONFIG_VALUE_{at}").into(), (*value).into()));
    }
    out
}

/// Used where nothing is left of the own one.
const SYSTEM_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The absolute folders of a search path that `keep` lets through. Relative and empty ones mean the working directory.
fn kept(value: &OsStr, keep: impl Fn(&Path) -> bool) -> OsString {
    let dirs: Vec<PathBuf> = std::env::split_paths(value).filter(|dir| dir.is_absolute() && keep(dir)).collect();
    // Only a separator inside a folder's name is an error, and they were split at those.
    std::env::join_paths(dirs).unwrap_or_default()
}

/// Whether a folder has a program of its own for a name that is known to only read. A project's `.venv/bin` or
/// `node_modules/.bin` has none and stays.
fn replaces_a_reader(dir: &Path) -> bool {
    READERS.iter().any(|name| dir.join(name).symlink_metadata().is_ok())
}

/// What makes a shell or a program run or read something else first. A name that is no text is nobody's setting, and cannot
/// be judged.
fn is_steering(name: &OsStr) -> bool {
    // Functions that bash would take over from whoever started it.
    name.to_str().is_none_or(|name| STEERING.contains(&name) || name.starts_with("BASH_FUNC_"))
}

/// lisle's own variables and those of providers: no rule names them.
fn is_of_lisle(name: &OsStr) -> bool {
    let upper = name.to_string_lossy().to_ascii_uppercase();
    SECRET_STARTS.iter().any(|start| upper.starts_with(start))
}

/// A key or a password, by its name or by its value.
fn is_secret(name: &OsStr, value: &OsStr) -> bool {
    let upper = name.to_string_lossy().to_ascii_uppercase();
    let mut parts = upper.split(|c: char| !c.is_ascii_alphanumeric());
    let password = |part: &str| part.starts_with("PASS") && !NO_PASSWORDS.contains(&part);
    let first = parts.next().unwrap_or_default();
    let by_name = SECRET_ENDINGS.iter().any(|end| upper.ends_with(end) && upper != "OLDPWD")
        || SECRET_PARTS.contains(&first)
        || parts.any(|part| SECRET_PARTS.contains(&part) || password(part))
        || upper.contains("API_KEY")
        || ["PASS", "SSHPASS"].contains(&upper.as_str())
        || SECRET_NAMES.contains(&upper.as_str())
        || is_of_lisle(name);
    // Folders and names that everything needs are never taken for a key.
    let needed =
        READING_NAMES.iter().any(|known| name == *known) || READING_STARTS.iter().any(|start| upper.starts_with(start));
    by_name || !needed && masked(&value.to_string_lossy()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_steering_go_and_pagers_are_cat() {
        let own = [
            ("PATH", true),
            ("HOME", true),
            ("LANG", true),
            ("SSH_AUTH_SOCK", true),
            ("KEYBOARD", true),
            ("ANTHROPIC_API_KEY", false),
            ("ANTHROPIC_BASE_URL", false),
            ("my_api_key", false),
            ("GITHUB_TOKEN", false),
            ("AWS_SECRET_ACCESS_KEY", false),
            ("AWS_ACCESS_KEY_ID", false),
            ("CLIENT_SECRET", false),
            ("LISLE_ANYTHING", false),
            ("PGPASSWORD", false),
            ("BASH_ENV", false),
            ("ENV", false),
            ("BASH_FUNC_ls%%", false),
            ("GREP_OPTIONS", false),
            ("LD_PRELOAD", false),
            ("POSIXLY_CORRECT", false),
            ("GITHUB_PAT", false),
            ("npm_config__authToken", false),
            ("NPM_CONFIG_//registry.npmjs.org/:_authToken", false),
            ("SIGNING_KEY", false),
            ("SMTP_PASS", false),
            ("DB_PASS_2", false),
            ("DB_PWD", false),
            ("SSHPASS", false),
            ("TOKEN", false),
            ("SECRET_KEY_BASE", false),
            ("API_KEY_OF_X", false),
            ("GOOGLE_APPLICATION_CREDENTIALS", false),
            ("SSH_ASKPASS", true),
            ("XAUTHORITY", true),
            ("MAX_TOKENS", true),
            ("TOKENIZERS_PARALLELISM", true),
            ("GPG_TTY", true),
            ("MONKEY", true),
            ("FTP_PASSIVE", true),
            ("PASSWORD_STORE_DIR", false),
        ];
        let env = cleaned(own.iter().map(|(name, _)| (OsString::from(name), OsString::from("/x"))), Path::new("/w"));
        for (name, stays) in own {
            assert_eq!(env.iter().any(|(n, _)| n == name), stays, "{name}");
        }
        let env = cleaned([("PAGER".into(), "less".into())], Path::new("/w"));
        assert_eq!(env.iter().filter(|(name, _)| name == "PAGER").count(), 1);
        assert!(env.contains(&("PAGER".into(), "cat".into())));
    }

    #[test]
    fn values_that_are_keys_go_whatever_their_name_is() {
        let of = |name: &str, value: &str, named: &[String]| {
            let env = cleaned_but([(OsString::from(name), OsString::from(value))], Path::new("/w"), named);
            env.into_iter().any(|(n, _)| n == name)
        };
        for value in [
            "postgres://me:hunter2@db/x",
            "http://user:pw@proxy:3128",
            "ghp_0123456789abcdefghij0123456789abcdef",
            "sk-0123456789abcdefghij",
            "AKIAIOSFODNN7EXAMPLE",
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n-----END",
        ] {
            assert!(!of("ANYTHING", value, &[]), "{value}");
            assert!(of("ANYTHING", value, &["ANYTHING".to_owned()]), "a rule names it: {value}");
        }
        for value in
            ["", "/usr/bin:/bin", "https://example.org/a?b=c", "postgres://me@db/x", "1", "rs=0:di=01;34:ln=01;36"]
        {
            assert!(of("ANYTHING", value, &[]), "{value}");
        }
        assert!(of("PATH", "/x/sk-0123456789abcdefghij/bin", &[]));
        // No rule gives away lisle's own, or lets in what makes programs run something else.
        for name in ["LISLE_X", "ANTHROPIC_API_KEY", "LD_PRELOAD", "BASH_ENV"] {
            assert!(!of(name, "x", &[name.to_owned()]), "{name}");
        }
    }

    #[test]
    fn no_working_directory_puts_its_programs_before_the_systems() {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path().join("repo");
        let (evil, venv, outside) = (cwd.join("bin"), cwd.join(".venv/bin"), dir.path().join("home/bin"));
        for made in [&evil, &venv, &outside] {
            std::fs::create_dir_all(made).unwrap();
        }
        std::fs::write(evil.join("cat"), "").unwrap();
        std::fs::write(venv.join("python"), "").unwrap();
        std::fs::write(outside.join("cat"), "").unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&evil, &link).unwrap();
        let shown = |path: &Path| path.display().to_string();
        let all = ["", ".", "bin", "./bin", "../repo/bin"].map(str::to_owned).into_iter();
        let all: Vec<String> = all.chain([&evil, &link, &venv, &outside].map(|path| shown(path))).collect();
        let of = |name: &str, value: String| {
            let env = cleaned([(OsString::from(name), OsString::from(value))], &cwd);
            env.into_iter().find(|(n, _)| n == name).map(|(_, value)| value.into_string().unwrap())
        };
        assert_eq!(of("PATH", all.join(":")), Some(format!("{}:{}", shown(&venv), shown(&outside))));
        assert_eq!(of("PATH", ".:".to_owned()).as_deref(), Some(SYSTEM_PATH));
        assert_eq!(of("LD_LIBRARY_PATH", all.join(":")), Some(shown(&outside)));
        assert_eq!(of("LD_LIBRARY_PATH", ":".to_owned()), None);
        assert!(cleaned([], &cwd).contains(&("PATH".into(), SYSTEM_PATH.into())));
    }
}
