//! Permission modes and what is remembered of each decision.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The programs that only read, given the right arguments. A command of these alone runs without a question, so whoever
/// starts it sees to it that the names mean the system's programs and not what a working directory brings along.
pub const READERS: &[&str] = &[
    "cat", "head", "tail", "wc", "nl", "cut", "ls", "stat", "file", "grep", "basename", "dirname", "realpath", "pwd",
    "echo", "printf", "test", "true", "false", "uname", "whoami", "id", "date",
];

/// Further programs that only read, given the right arguments, where the read-only profile holds them. A command that
/// names one is looked up first: it must be no file of the working directory.
pub const WIDE_READERS: &[&str] = &[
    "[",
    "apt-cache",
    "arch",
    "awk",
    "b2sum",
    "base32",
    "base64",
    "bash",
    "bun",
    "cal",
    "cargo",
    "cc",
    "cksum",
    "clang",
    "cmake",
    "cmp",
    "column",
    "comm",
    "dash",
    "deno",
    "df",
    "diff",
    "diff3",
    "docker",
    "dpkg",
    "dpkg-query",
    "du",
    "egrep",
    "env",
    "expand",
    "expr",
    "factor",
    "fd",
    "fdfind",
    "fgrep",
    "find",
    "findmnt",
    "fmt",
    "fold",
    "free",
    "g++",
    "gawk",
    "gcc",
    "gem",
    "getconf",
    "getent",
    "getfacl",
    "git",
    "go",
    "groups",
    "hd",
    "hexdump",
    "hostname",
    "iconv",
    "java",
    "javac",
    "join",
    "jq",
    "ldconfig",
    "locale",
    "locate",
    "logname",
    "lsattr",
    "lsb_release",
    "lsblk",
    "lscpu",
    "lsmem",
    "lsmod",
    "lsof",
    "lspci",
    "lsusb",
    "make",
    "man",
    "mawk",
    "md5sum",
    "mountpoint",
    "namei",
    "nawk",
    "ncal",
    "nice",
    "ninja",
    "nm",
    "node",
    "nohup",
    "npm",
    "nproc",
    "numfmt",
    "od",
    "paste",
    "pathchk",
    "perl",
    "pgrep",
    "php",
    "pidof",
    "pip",
    "pip3",
    "pnpm",
    "printenv",
    "ps",
    "pstree",
    "python",
    "python3",
    "readelf",
    "readlink",
    "rev",
    "rg",
    "ruby",
    "rustc",
    "rustfmt",
    "rustup",
    "sed",
    "seq",
    "sh",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "shasum",
    "shuf",
    "size",
    "sleep",
    "sort",
    "stdbuf",
    "strings",
    "sum",
    "systemd-detect-virt",
    "tac",
    "time",
    "timeout",
    "tr",
    "tree",
    "tsc",
    "tty",
    "type",
    "unexpand",
    "uniq",
    "uptime",
    "users",
    "vmstat",
    "whereis",
    "which",
    "who",
    "xargs",
    "xxd",
    "yarn",
    "yq",
];

/// Permission mode: the actions of an agent that need no approval.
///
/// Stored as `safe`, `ask` and `allow-all`, the ids that Craft Agents uses; every alias is accepted on input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub enum Mode {
    /// Read only. Never asks; a blocked call is reported.
    Explore,
    /// Reading is free, changes ask.
    #[default]
    Ask,
    /// Runs without asking, inside deny rules, protected paths and the sandbox.
    Execute,
}

impl Mode {
    /// All modes, strictest first: the order in which Shift+Tab goes through them.
    pub const ALL: [Mode; 3] = [Mode::Explore, Mode::Ask, Mode::Execute];

    /// The id on disk.
    #[must_use]
    pub fn stored(self) -> &'static str {
        match self {
            Mode::Explore => "safe",
            Mode::Ask => "ask",
            Mode::Execute => "allow-all",
        }
    }

    /// The name on the screen.
    #[must_use]
    pub fn shown(self) -> &'static str {
        match self {
            Mode::Explore => "Explore",
            Mode::Ask => "Ask to Edit",
            Mode::Execute => "Execute",
        }
    }

    /// The word that commands and arguments use.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Mode::Explore => "explore",
            Mode::Ask => "ask",
            Mode::Execute => "execute",
        }
    }

    /// Reads any of the stored, shown and spoken names; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Mode> {
        match text.trim().to_ascii_lowercase().replace(['_', ' '], "-").as_str() {
            "safe" | "explore" => Some(Mode::Explore),
            "ask" | "ask-to-edit" => Some(Mode::Ask),
            "allow-all" | "execute" | "auto" => Some(Mode::Execute),
            _ => None,
        }
    }

    /// The stricter of the two.
    #[must_use]
    pub fn stricter(self, other: Mode) -> Mode {
        self.min(other)
    }
}

impl TryFrom<String> for Mode {
    type Error = String;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Mode::parse(&text).ok_or_else(|| format!("invalid permission mode {text:?}: use explore, ask or execute"))
    }
}

impl From<Mode> for String {
    fn from(mode: Mode) -> Self {
        mode.stored().to_owned()
    }
}

/// The sandbox that a command ran in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sandbox {
    /// Nothing but the process limits.
    #[default]
    None,
    /// It could write nothing but a temporary folder and the session's `data/`, and had no network.
    ReadOnly,
    /// It could write below the working directory, in temporary folders and in caches alone.
    Workspace,
}

/// State of the sandbox on this machine: abilities of the system, and the user's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "can", content = "others")]
pub enum SandboxState {
    /// The system cannot: commands run as the user would run them.
    Nothing,
    /// Read-only commands, and all of Explore, are confined; other commands run in this.
    Held(Sandbox),
    /// The same with the workspace profile, but the system cannot hold commands to certain hosts, as the settings want it:
    /// those that may change something do not run.
    NoHosts,
}

impl Default for SandboxState {
    fn default() -> Self {
        SandboxState::Held(Sandbox::Workspace)
    }
}

impl SandboxState {
    /// Deviation from the usual in this mode, in a few words; empty if there is none.
    #[must_use]
    pub fn in_words(self, mode: Mode) -> &'static str {
        match (self, mode) {
            (SandboxState::Nothing, _) => "no sandbox",
            (SandboxState::Held(_) | SandboxState::NoHosts, Mode::Explore)
            | (SandboxState::Held(Sandbox::Workspace), _) => "",
            (SandboxState::NoHosts, _) => "network not filtered: commands refused",
            (SandboxState::Held(Sandbox::ReadOnly), _) => "read-only sandbox",
            (SandboxState::Held(Sandbox::None), _) => "sandbox off",
        }
    }
}

/// Authority that allowed or stopped a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "by", content = "what")]
pub enum Authority {
    /// The table of the permission mode.
    Mode,
    /// A rule of the configuration, as written.
    Rule(String),
    /// An answer that holds for this session.
    Grant(String),
    /// The user, asked for this very call.
    Person,
    /// The user, who typed the command.
    Typed,
    /// No person to ask (headless).
    Nobody,
}

/// The decision on one tool call. It is stored with the call and never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// It was allowed to run.
    pub allowed: bool,
    /// The mode in force when it was decided.
    pub mode: Mode,
    /// Authority.
    #[serde(flatten)]
    pub authority: Authority,
    /// Reason, in words; for a refusal the model got this text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The sandbox profile that a command ran in.
    #[serde(default)]
    pub sandbox: Sandbox,
    /// Client of a gateway at which a person decided. Not sanitised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

impl Decision {
    /// The call must not run.
    #[must_use]
    pub fn refused(mode: Mode, authority: Authority, reason: String) -> Self {
        Self { allowed: false, mode, authority, reason, sandbox: Sandbox::None, client: None }
    }

    /// Authority and client of the decision, in a few words.
    #[must_use]
    pub fn by(&self) -> String {
        let who = self.authority.in_words();
        match &self.client {
            Some(client) => format!("{who}, at {client}"),
            None => who,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_alias_is_read_and_the_stored_id_written() {
        for (text, mode) in [
            ("safe", Mode::Explore),
            ("explore", Mode::Explore),
            ("ask", Mode::Ask),
            ("ask-to-edit", Mode::Ask),
            ("ask_to_edit", Mode::Ask),
            ("Ask to Edit", Mode::Ask),
            ("allow-all", Mode::Execute),
            ("execute", Mode::Execute),
        ] {
            assert_eq!(Mode::parse(text), Some(mode), "{text}");
        }
        assert_eq!(Mode::parse("yolo"), None);
        assert_eq!(serde_json::to_string(&Mode::Execute).unwrap(), "\"allow-all\"");
        assert_eq!(Mode::Execute.stricter(Mode::Explore), Mode::Explore);
    }

    #[test]
    fn what_is_unusual_about_the_sandbox_is_said_where_it_counts() {
        for (holding, explore, execute) in [
            (SandboxState::Nothing, "no sandbox", "no sandbox"),
            (SandboxState::Held(Sandbox::Workspace), "", ""),
            (SandboxState::Held(Sandbox::ReadOnly), "", "read-only sandbox"),
            (SandboxState::Held(Sandbox::None), "", "sandbox off"),
            (SandboxState::NoHosts, "", "network not filtered: commands refused"),
        ] {
            assert_eq!((holding.in_words(Mode::Explore), holding.in_words(Mode::Execute)), (explore, execute));
        }
        assert_eq!(SandboxState::default().in_words(Mode::Ask), "");
    }
}
