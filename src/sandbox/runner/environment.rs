//! The environment of a command: lisle's own without keys, without what makes a shell or a program run other code first,
//! and with what keeps programs from paging or prompting.
//!
//! A short list of names passes as it is (`READING_NAMES`). Every other variable is judged: what steers programs goes, what
//! looks like a credential by its name or its value goes unless a rule names it, and inside a sandbox what points to sockets
//! and credentials that are not there goes as well.
//!
//! `PATH` and the search path of libraries lose what would let a working directory put its own `cat` or its own library
//! in place of the system's: a command that only reads runs without a question, and must be what it is called.
//! It is cleaned before the parent of the command starts, so that `/proc/PARENT/environ` holds no keys either.

use super::named_keys::is_withheld;
use crate::domain::permission::READERS;
use crate::domain::secret::is_secret_variable;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Beginnings of names that belong to lisle or to a provider's own settings.
const SECRET_STARTS: &[&str] = &["LISLE_", "ANTHROPIC_", "OPENAI_", "AZURE_OPENAI_", "GEMINI_", "OPENROUTER_"];

/// Variables that would make a shell or a program run or read something else first.
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
    // Programs that others run instead of their own, often with a credential among the words.
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "SVN_SSH",
    "RSYNC_RSH",
    "CVS_RSH",
];

/// Variables of git that pass: names, dates, and the place of its configuration. The others bring settings, programs,
/// other repositories or credentials (`GIT_CONFIG_PARAMETERS`, `GIT_CONFIG_KEY_0`, `GIT_SSH_COMMAND`, `GIT_DIR` …).
const GIT: &[&str] = &[
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_MERGE_AUTOEDIT",
    "GIT_LFS_SKIP_SMUDGE",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_DEFAULT_HASH",
    "GIT_COMMIT",
    "GIT_BRANCH",
    "GIT_TAG",
    "GIT_SHA",
    "GIT_URL",
    "GIT_VERSION",
];

/// Variables that point to sockets of other programs, to displays, or to files of credentials.
const POINTERS: &[&str] = &[
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "ICEAUTHORITY",
    "SESSION_MANAGER",
    "XDG_RUNTIME_DIR",
    "TMUX",
    "TMUX_PANE",
    "STY",
    "NVIM",
    "NVIM_LISTEN_ADDRESS",
    "PULSE_SERVER",
    "PIPEWIRE_REMOTE",
    "KUBECONFIG",
    "DOCKER_HOST",
    "DOCKER_CONFIG",
    "DOCKER_CONTEXT",
    "DOCKER_CERT_PATH",
    "CONTAINER_HOST",
    "REGISTRY_AUTH_FILE",
    "PGPASSFILE",
    "PGSERVICEFILE",
    "NETRC",
    "CURL_HOME",
    "AWS_CONFIG_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "BOTO_CONFIG",
    "CLOUDSDK_CONFIG",
    "AZURE_CONFIG_DIR",
    "GNUPGHOME",
    "NPM_CONFIG_USERCONFIG",
    "NPM_CONFIG_GLOBALCONFIG",
    "TF_CLI_CONFIG_FILE",
    "KRB5CCNAME",
    "KRB5_KTNAME",
    "HYPRLAND_INSTANCE_SIGNATURE",
];
/// Beginnings and ends of such names …
const POINTER_STARTS: &[&str] = &["DBUS_", "VSCODE_IPC_", "VSCODE_GIT_", "AWS_CONTAINER_", "GNOME_KEYRING_", "PODMAN_"];
const POINTER_ENDS: &[&str] = &["_SOCK", "_SOCKET", "SOCK", "_LISTEN_ON", "_IPC_HOOK"];
/// … and of such values.
const POINTER_VALUES: &[&str] = &["unix:", "npipe:", "fd://", "/run/user/", "/var/run/", "/run/"];

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

/// Receiver of an environment.
#[derive(Clone, Copy, Debug, Default)]
pub struct For<'a> {
    /// Variables that a rule names for the program that runs: they stay although they look like credentials.
    pub named: &'a [String],
    /// Sockets that the command may connect to; `None` where nothing closes it in, so that all of them are there.
    pub sockets: Option<&'a [PathBuf]>,
}

/// lisle's own environment, cleaned for a program of the user's that it runs in `cwd` for itself, such as git.
pub fn own(cwd: &Path) -> Vec<(OsString, OsString)> {
    cleaned(std::env::vars_os(), cwd)
}

/// The environment for a command that runs in `cwd` with nothing around it, made from `own`. Looks at the folders of `PATH`.
pub fn cleaned(own: impl IntoIterator<Item = (OsString, OsString)>, cwd: &Path) -> Vec<(OsString, OsString)> {
    cleaned_for(own, cwd, For::default())
}

/// The same for a command with what was granted to it. What steers other programs goes all the same.
pub fn cleaned_for(
    own: impl IntoIterator<Item = (OsString, OsString)>,
    cwd: &Path,
    of: For<'_>,
) -> Vec<(OsString, OsString)> {
    let stays = |name: &OsStr, value: &OsStr| {
        let Some(text) = name.to_str() else { return false };
        let named = of.named.iter().any(|known| text == known) && !is_of_lisle(text);
        let there = of.sockets.is_none_or(|sockets| !is_pointer(text, value) || is_granted(value, sockets));
        !is_steering(text)
            && !SET.iter().any(|(set, _)| text == *set)
            && (named || there && (is_needed(text) || !is_of_lisle(text) && !is_credential(text, value)))
    };
    let mut out: Vec<(OsString, OsString)> = own.into_iter().filter(|(name, value)| stays(name, value)).collect();
    out.extend(SET.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))));
    search_paths(&mut out, cwd);
    out
}

/// Takes the working directory's own programs and libraries out of the search paths.
fn search_paths(out: &mut Vec<(OsString, OsString)>, cwd: &Path) {
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

/// Variables that keep programs which only read from writing beside that, from running what a repository's settings
/// name, and from the network.
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
    // First the list: whether the value of another one is a key need not be looked at, which takes milliseconds.
    let mut out = cleaned(own.into_iter().filter(|(name, _)| listed(name)), cwd);
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

/// True if a folder has a program of its own for a name that is known to only read. A project's `.venv/bin` or
/// `node_modules/.bin` has none and stays.
fn replaces_a_reader(dir: &Path) -> bool {
    READERS.iter().any(|name| dir.join(name).symlink_metadata().is_ok())
}

/// Variables that make a shell or a program run or read something else first.
fn is_steering(name: &str) -> bool {
    // Functions that bash would take over from whoever started it.
    STEERING.contains(&name) || name.starts_with("BASH_FUNC_") || name.starts_with("GIT_") && !GIT.contains(&name)
}

/// lisle's own variables and those of providers: no rule names them.
fn is_of_lisle(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    SECRET_STARTS.iter().any(|start| upper.starts_with(start))
}

/// Folders and names that everything needs are never taken for a key.
fn is_needed(name: &str) -> bool {
    READING_NAMES.contains(&name) || READING_STARTS.iter().any(|start| name.starts_with(start))
}

/// A key or a password, by its name or by its value. What is no text cannot be judged.
fn is_credential(name: &str, value: &OsStr) -> bool {
    let is_key = |value: &str| is_secret_variable(name, value) || is_withheld(name, value);
    value.to_str().is_none_or(is_key) || CREDENTIAL_FILES.contains(&name)
}

/// Names that lead to a credential's file.
const CREDENTIAL_FILES: &[&str] = &["NETRC", "PGPASSFILE"];

/// Something of other programs, or a file of credentials, that a sandbox does not show.
fn is_pointer(name: &str, value: &OsStr) -> bool {
    let upper = name.to_ascii_uppercase();
    let value = value.to_string_lossy();
    POINTERS.contains(&upper.as_str())
        || POINTER_STARTS.iter().any(|start| upper.starts_with(start))
        || POINTER_ENDS.iter().any(|end| upper.ends_with(end))
        || !is_needed(name) && POINTER_VALUES.iter().any(|start| value.starts_with(start))
}

/// A pointer to a socket that the command may connect to.
fn is_granted(value: &OsStr, sockets: &[PathBuf]) -> bool {
    let value = value.to_string_lossy();
    let path = ["unix://", "unix:path=", "unix:"].iter().find_map(|start| value.strip_prefix(start)).unwrap_or(&value);
    sockets.iter().any(|socket| socket == Path::new(path.split([',', ';']).next().unwrap_or(path)))
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
            ("DBPASS", false),
            ("X_PW", false),
            ("SSH_ASKPASS", false),
            ("GIT_CONFIG_PARAMETERS", false),
            ("GIT_CONFIG_COUNT", false),
            ("GIT_CONFIG_KEY_0", false),
            ("GIT_CONFIG_VALUE_0", false),
            ("GIT_SSH_COMMAND", false),
            ("GIT_EXTERNAL_DIFF", false),
            ("GIT_DIR", false),
            ("GIT_AUTHOR_NAME", true),
            ("GIT_CONFIG_GLOBAL", true),
            ("PGPASSFILE", false),
            ("XAUTHORITY", true),
            ("RUSTFLAGS", true),
            ("JAVA_HOME", true),
            ("PYTHONPATH", true),
            ("NODE_ENV", true),
            ("CI", true),
            ("npm_config_registry", true),
            ("npm_config_cache", true),
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
    fn what_settings_name_for_a_key_goes_whatever_it_is_called() {
        let has = |name: &str, value: &str, named: &[String]| {
            let of = For { named, sockets: None };
            let env = cleaned_for([(OsString::from(name), OsString::from(value))], Path::new("/w"), of);
            env.into_iter().any(|(n, _)| n == name)
        };
        assert!(has("LISTED_FOR_A_TEST", "plain words", &[]));
        super::super::named_keys::withhold(["LISTED_FOR_A_TEST".to_owned(), "CARGO_HOME".to_owned()]);
        assert!(!has("LISTED_FOR_A_TEST", "plain words", &[]));
        assert!(has("LISTED_FOR_A_TEST", "plain words", &["LISTED_FOR_A_TEST".to_owned()]), "a rule names it");
        assert!(has("LISTED_FOR_A_TEST", "/srv/data", &[]) && has("LISTED_FOR_A_TEST", "8080", &[]));
        assert!(has("CARGO_HOME", "nowhere", &[]), "everything needs it");
    }

    #[test]
    fn what_points_outside_of_a_sandbox_goes_unless_it_was_granted() {
        let of = |name: &str, value: &str, sockets: Option<&[PathBuf]>, named: &[String]| {
            let of = For { named, sockets };
            let env = cleaned_for([(OsString::from(name), OsString::from(value))], Path::new("/w"), of);
            env.into_iter().any(|(n, _)| n == name)
        };
        let agent = [PathBuf::from("/tmp/agent.1")];
        for (name, value) in [
            ("SSH_AUTH_SOCK", "/tmp/agent.1"),
            ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/tmp/agent.1,guid=x"),
            ("DOCKER_HOST", "unix:///tmp/agent.1"),
        ] {
            assert!(of(name, value, None, &[]), "nothing closes it in: {name}");
            assert!(!of(name, value, Some(&[]), &[]), "{name}");
            assert!(of(name, value, Some(&agent), &[]), "granted: {name}");
        }
        for (name, value) in [
            ("DISPLAY", ":0"),
            ("WAYLAND_DISPLAY", "wayland-1"),
            ("XAUTHORITY", "/home/u/.Xauthority"),
            ("XDG_RUNTIME_DIR", "/run/user/1000"),
            ("KUBECONFIG", "/home/u/.kube/other"),
            ("TMUX", "/tmp/tmux-0/default,1,0"),
            ("SWAYSOCK", "/x"),
            ("VSCODE_IPC_HOOK_CLI", "/x"),
            ("ANYTHING", "unix:///x"),
            ("ANYTHING", "/run/x.sock"),
        ] {
            assert!(!of(name, value, Some(&[]), &[]), "{name}");
            assert!(of(name, value, Some(&[]), &[name.to_owned()]), "a rule names it: {name}");
            assert!(of(name, value, None, &[]), "nothing closes it in: {name}");
        }
    }

    #[test]
    fn values_that_are_keys_go_whatever_their_name_is() {
        let of = |name: &str, value: &str, named: &[String]| {
            let of = For { named, sockets: None };
            let env = cleaned_for([(OsString::from(name), OsString::from(value))], Path::new("/w"), of);
            env.into_iter().any(|(n, _)| n == name)
        };
        for value in [
            "postgres://me:hunter2@db/x",
            "http://user:pw@proxy:3128",
            "ghp_0123456789abcdefghij0123456789abcdef",
            "sk-0123456789abcdefghij",
            "AKIAIOSFODNN7EXAMPLE",
            "sk_live_abcdefgh",
            "glpat-aaaaaaaaaaaa",
            "hf_abcdefghij",
            "https://hooks.slack.com/services/T00/B00/abcdef",
            "Bearer abcdefgh",
            "user:pw1@tcp(db:3306)/x",
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
