//! Rules: what remembers an answer, or was written by hand. Deny beats ask beats allow, whatever their order.
//!
//! The format is the `rules` array of `permissions.json`. How a rule is matched is the permission function's.

mod words;

use super::access::Service;
use super::paths::{is_protected_for_commands, is_secret};
use super::source::TOOL_PREFIX;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Effect of a rule on a call that it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RuleEffect {
    /// The call runs where the table of the modes would ask.
    Allow,
    /// The call is asked for where the table would let it run.
    Ask,
    /// The call does not run, in any mode.
    Deny,
}

/// One rule. What is left out matches everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rule {
    /// Effect.
    pub effect: RuleEffect,
    /// lisle's name of the tool: `bash`, `edit`, `fetch` …; `*` for every tool.
    pub tool: String,
    /// The program of a simple command, as it is named in the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The arguments of a simple command, each exactly. `./**` stands for one path at or below the working directory,
    /// `*` in last place for one free text; neither stands for an option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<String>>,
    /// A file, or with `/**` at its end everything below a folder; `./` begins at the working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// A host of the network; `*.` before it stands for every host below it. A rule that denies or asks covers those anyway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// It speaks of those commands of the program alone that only read from its server, its cluster or its daemon.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads: bool,
    /// Variables of the user's that the program gets although they hold a credential.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// Files and folders that the program may read although commands do not see them: its settings and credentials. `/`, `~/`
    /// or `./` begins them. A rule of the tool [`SANDBOX`] without a program is about every command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readable: Vec<String>,
    /// Files and folders that the program may write although commands cannot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writable: Vec<String>,
    /// Sockets of other programs that the program may connect to: `ssh-agent`, `gpg-agent`, `docker`, or a path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sockets: Vec<String>,
    /// Beginning of the hash of a source's tool, which the rule is about and no other definition of the same name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// Reason for the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Scope of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RuleScope {
    /// This session.
    Session,
    /// This workspace: its `permissions.json`.
    Workspace,
    /// Every workspace of the user: `permissions.json` in the config folder.
    User,
    /// The repository that the session works in: `.lisle/permissions.json`.
    Repository,
}

impl RuleScope {
    /// Scope in words.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            RuleScope::Session => "this session",
            RuleScope::Workspace => "this workspace",
            RuleScope::User => "all workspaces",
            RuleScope::Repository => "the repository",
        }
    }
}

/// A rule in force, with where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnownRule {
    /// The rule.
    pub rule: Rule,
    /// A pattern of the old form (a regular expression, or a glob of paths), which then is what is matched beside the
    /// tool.
    #[serde(default)]
    pub pattern: Option<String>,
    /// Scope.
    pub scope: RuleScope,
    /// The file that it stands in; `None` for one of the session's.
    #[serde(default)]
    pub file: Option<PathBuf>,
    /// Number of calls that it decided since the start.
    #[serde(default)]
    pub hits: u64,
    /// It can be removed from here.
    #[serde(default)]
    pub removable: bool,
}

/// A rule that an answer would keep, for a part of what is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Offer {
    /// The rule.
    pub rule: Rule,
    /// Harmless example of what it would also allow.
    #[serde(default)]
    pub harmless: Option<String>,
    /// The worst that is known of what it would also let run.
    #[serde(default)]
    pub worst: Option<String>,
}

/// Content of one `permissions.json`, as far as it could be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PermissionsFile {
    /// The `rules` key.
    pub rules: Vec<Rule>,
    /// `blockedTools`, as names of lisle's tools.
    pub blocked: Vec<String>,
    /// `allowedBashPatterns`: regular expressions, each matched from the start of a simple command.
    pub commands: Vec<String>,
    /// `allowedWritePaths`: globs.
    pub paths: Vec<String>,
    /// `blockedCommandHints`.
    pub hints: Vec<Hint>,
}

/// Hint for the model when a command is refused, in the user's own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The beginning of the commands it is for: `git push`.
    pub command: String,
    /// The hint.
    pub text: String,
    /// It is not for commands that this regular expression matches.
    pub unless: Option<String>,
}

impl PermissionsFile {
    /// The parts that make things stricter.
    #[must_use]
    pub fn tightening(mut self) -> Self {
        self.rules.retain(|rule| rule.effect != RuleEffect::Allow);
        self.commands.clear();
        self.paths.clear();
        self
    }

    /// True if an entry allows something.
    #[must_use]
    pub fn loosens(&self) -> bool {
        let allows = self.rules.iter().any(|rule| rule.effect == RuleEffect::Allow);
        allows || !self.commands.is_empty() || !self.paths.is_empty()
    }
}

/// The tool of rules about hosts that commands connect to.
pub const NETWORK: &str = "network";

/// The tool of rules about what commands get beside their sandbox. They let nothing run.
pub const SANDBOX: &str = "sandbox";

/// Stands in a rule for one path at or below the working directory.
pub const BELOW: &str = "./**";

/// Prefix of a rule about the read-only commands of a program, in words.
pub const READS: &str = "read-only commands of";

/// Stands in a rule, in last place, for one text that is no option.
pub const TEXT: &str = "*";

/// A secret of the project that configures and runs nothing: who may see it may change it as well.
fn is_own_secret(path: &String) -> bool {
    let path = Path::new(path);
    path.starts_with(".") && is_secret(path) && !is_protected_for_commands(path)
}

impl Rule {
    /// A rule that allows everything of a tool: to be narrowed by its other fields.
    #[must_use]
    pub fn allow(tool: &str) -> Self {
        let tool = tool.to_owned();
        Self {
            effect: RuleEffect::Allow,
            tool,
            program: None,
            args: None,
            path: None,
            host: None,
            reads: false,
            env: Vec::new(),
            readable: Vec::new(),
            writable: Vec::new(),
            sockets: Vec::new(),
            definition: None,
            note: None,
        }
    }

    /// The problem of the rule, as a sentence; `None` if it is valid.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        let blank = |text: &str| text.is_empty() || text.chars().any(|c| c.is_whitespace() || c.is_control());
        let commands = matches!(self.tool.as_str(), "bash" | "*" | SANDBOX);
        if blank(&self.tool) {
            return Some("A rule's tool must be one word or `*`.".to_owned());
        }
        if self.program.as_ref().is_some_and(|program| blank(program) || program.contains('=')) {
            return Some("A rule's program must be one word.".to_owned());
        }
        if self.args.is_some() && self.program.is_none() {
            return Some("`args` needs a `program`.".to_owned());
        }
        if self.program.is_some() && !commands {
            return Some(format!("`program` and `args` belong to the tool `bash`, not `{}`.", self.tool));
        }
        if self.tool == SANDBOX {
            if let Some(fault) = self.sandbox_fault() {
                return Some(fault);
            }
        } else if (self.reads || self.gives()) && (self.program.is_none() || self.effect != RuleEffect::Allow) {
            let text = "`reads`, `env`, `readable`, `writable` and `sockets` need a rule that allows a `program`.";
            return Some(text.to_owned());
        }
        if self.reads && self.args.is_some() {
            return Some("`reads` can't have `args`: lisle knows which commands are read-only.".to_owned());
        }
        let hex = |text: &String| text.len() >= 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
        if self.definition.as_ref().is_some_and(|text| !hex(text) || !self.tool.starts_with(TOOL_PREFIX)) {
            return Some("`definition` is the hash of a tool of a source.".to_owned());
        }
        if let Some(fault) = self.given_fault() {
            return Some(fault);
        }
        let args = self.args.as_deref().unwrap_or_default();
        for (at, word) in args.iter().enumerate() {
            let last = at + 1 == args.len();
            if word == TEXT && !last {
                return Some("In `args`, `*` must be last.".to_owned());
            }
            if word.contains('*') && word != TEXT && word != BELOW {
                return Some(format!("In `args`, invalid pattern `{word}`: use `./**`, or `*` as the last one."));
            }
        }
        if let Some(host) = &self.host {
            let name = host.strip_prefix("*.").unwrap_or(host);
            if blank(name) || name.contains(['/', '*', '@', '?', '#']) {
                return Some(format!(
                    "Invalid host `{host}`: use a host name, or `*.` plus a host name for its subdomains."
                ));
            }
        }
        let path = self.path.as_deref()?;
        let plain = path.strip_suffix("/**").unwrap_or(path);
        let begins = ["./", "/", "~/"].iter().any(|start| path.starts_with(start));
        let climbs = plain.split('/').any(|part| part == "..");
        if !begins || climbs || plain.contains(['*', '?', '[', '{']) || path.chars().any(char::is_control) {
            return Some(format!(
                "Invalid path pattern `{path}`: start with `./`, `/` or `~/`, without `..`; `/**` is allowed at the \
                 end."
            ));
        }
        None
    }

    /// It gives something beside the sandbox.
    #[must_use]
    pub fn gives(&self) -> bool {
        [&self.env, &self.readable, &self.writable, &self.sockets].iter().any(|list| !list.is_empty())
    }

    /// Problem of the names and paths that it gives.
    fn given_fault(&self) -> Option<String> {
        let named = |name: &String| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !self.env.iter().all(named) {
            return Some("`env` must list variable names.".to_owned());
        }
        let placed = |path: &String| {
            ["/", "~/", "./"].iter().any(|start| path.starts_with(start))
                && !path.split('/').any(|part| part == "..")
                && !path.contains(['*', '?'])
                && !path.chars().any(char::is_control)
        };
        let socket = |name: &String| Service::named(name).is_some() || placed(name);
        if !self.readable.iter().chain(&self.writable).all(placed) || !self.sockets.iter().all(socket) {
            return Some(
                "`readable`, `writable` and `sockets` must list paths starting with `/`, `~/` or `./`, without `..`; \
                 `sockets` also takes `ssh-agent`, `gpg-agent` and `docker`."
                    .to_owned(),
            );
        }
        None
    }

    /// Problem of a rule of the tool [`SANDBOX`].
    fn sandbox_fault(&self) -> Option<String> {
        let said = if self.effect != RuleEffect::Allow {
            "A rule for the tool `sandbox` can only allow."
        } else if self.reads || self.path.is_some() || self.host.is_some() {
            "A rule for the tool `sandbox` takes only `readable`, `writable`, `sockets`, `env`, `program` and `args`."
        } else if !self.gives() {
            "A rule for the tool `sandbox` needs `readable`, `writable` or `sockets`."
        } else if self.program.is_none() && (self.readable.is_empty() || !self.writable.iter().all(is_own_secret)) {
            "`writable` and `sockets` need a `program`, except for project secrets (`./.env`)."
        } else if self.program.is_none() && !(self.env.is_empty() && self.sockets.is_empty()) {
            "`env` and `sockets` need a `program`."
        } else {
            return None;
        };
        Some(said.to_owned())
    }

    /// Access that a rule of the tool [`SANDBOX`] gives, and its receiver.
    fn given_in_words(&self) -> String {
        let list = |verb: &str, names: &[String]| {
            let all: Vec<_> = names.iter().map(|name| words::quoted(name)).collect();
            (!all.is_empty()).then(|| format!("{verb} {}", all.join(" ")))
        };
        let both = !self.readable.is_empty() && self.readable == self.writable;
        let parts = [
            list(if both { "read and change" } else { "read" }, &self.readable),
            list("write", if both { &[] } else { &self.writable }),
            list("use", &self.sockets),
            list("use the variables", &self.env),
        ];
        let given = parts.into_iter().flatten().collect::<Vec<_>>().join(" and ");
        let named = self.program.iter().chain(self.args.iter().flatten());
        let who = named.map(|word| words::quoted(word)).collect::<Vec<_>>().join(" ");
        format!("{} may {given}", if who.is_empty() { "any command" } else { &who })
    }

    /// The rule on one line: `git commit -m *`, `edit ./**`. Not sanitised.
    #[must_use]
    pub fn in_words(&self) -> String {
        if let (true, Some(program)) = (self.reads, &self.program) {
            return format!("{READS} {}", words::quoted(program));
        }
        if self.tool == SANDBOX {
            return self.given_in_words();
        }
        let mut said: Vec<&str> = Vec::new();
        match &self.program {
            Some(program) => said.push(program),
            None => said.push(&self.tool),
        }
        said.extend(self.args.iter().flatten().map(String::as_str));
        said.extend(self.path.as_deref());
        said.extend(self.host.as_deref());
        let definition = self.definition.as_ref().map(|text| format!("@{}", text.get(..8).unwrap_or(text)));
        said.extend(definition.as_deref());
        said.into_iter().map(words::quoted).collect::<Vec<_>>().join(" ")
    }
}

impl KnownRule {
    /// The pattern, on one line. Not sanitised.
    #[must_use]
    pub fn in_words(&self) -> String {
        match &self.pattern {
            Some(pattern) => format!("{} /{pattern}/", self.rule.tool),
            None => self.rule.in_words(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_told() {
        let bash = |program: &str, args: &[&str]| Rule {
            program: Some(program.into()),
            args: Some(args.iter().map(|arg| (*arg).to_owned()).collect()),
            ..Rule::allow("bash")
        };
        let path = |path: &str| Rule { path: Some(path.into()), ..Rule::allow("edit") };
        for good in [
            Rule::allow("*"),
            bash("git", &["commit", "-m", "*"]),
            bash("cp", &["./**", "./**"]),
            path("./**"),
            path("./src/a b.rs"),
            path("/etc/**"),
            path("~/notes/**"),
            Rule { host: Some("docs.rs".into()), ..Rule::allow("fetch") },
            Rule { host: Some("*.docs.rs".into()), ..Rule::allow("fetch") },
        ] {
            assert_eq!(good.fault(), None, "{good:?}");
        }
        for (bad, says) in [
            (Rule::allow(""), "tool"),
            (Rule::allow("a b"), "tool"),
            (bash("git push", &[]), "one word"),
            (bash("A=b", &[]), "one word"),
            (bash("git", &["*", "-m"]), "must be last"),
            (bash("git", &["src/*"]), "nvalid"),
            (Rule { program: Some("x".into()), ..Rule::allow("edit") }, "belong to the tool `bash`"),
            (Rule { args: Some(vec![]), ..Rule::allow("bash") }, "needs a `program`"),
            (Rule { host: Some("https://docs.rs/".into()), ..Rule::allow("fetch") }, "Invalid host"),
            (Rule { host: Some("d*.rs".into()), ..Rule::allow("fetch") }, "Invalid host"),
            (path("src/**"), "start with"),
            (path("./../x"), "start with"),
            (path("./a/*/b"), "start with"),
        ] {
            let fault = bad.fault().unwrap_or_else(|| panic!("{bad:?}"));
            assert!(fault.contains(says), "{fault}");
        }
    }

    #[test]
    fn what_tightens_is_told_from_what_loosens() {
        let deny = Rule { effect: RuleEffect::Deny, ..Rule::allow("bash") };
        let written = PermissionsFile {
            rules: vec![Rule::allow("edit"), deny.clone()],
            commands: vec!["^ls".into()],
            paths: vec!["**".into()],
            ..PermissionsFile::default()
        };
        assert!(written.loosens());
        let tight = written.tightening();
        assert!(!tight.loosens() && tight.rules == [deny], "{tight:?}");
    }
}
