//! Match of rules with calls.
//!
//! A rule that lets something run is matched narrowly: the program as it is named, every word exactly, and only what is
//! certain to stay below the working directory is a path below it. A rule that denies or asks is matched broadly: the
//! same program by another path, behind wrappers, with other words between its own.

use super::shell::DefiniteCommand;
use crate::domain::access::Access;
use crate::domain::paths;
use crate::domain::rule::{BELOW, NETWORK, Rule, SANDBOX, TEXT};
use crate::domain::source::TOOL_PREFIX;
use crate::domain::tool::{CallFacts, Touch};
use std::path::{Path, PathBuf};

/// Directories that relative paths and `~` begin at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ground {
    /// The working directory, as it is named and with its links followed.
    pub here: Vec<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
}

/// A call taken apart for rules that make it stricter.
pub(super) struct MatchedCall {
    tool: String,
    /// Whatever might run.
    commands: Vec<Vec<String>>,
    /// Whatever might be touched.
    paths: Vec<PathBuf>,
    /// The words of commands.
    words: Vec<String>,
    /// The servers that are asked.
    hosts: Vec<String>,
}

impl MatchedCall {
    pub(super) fn of(facts: &CallFacts, ground: &Ground) -> Self {
        let mut out = Self {
            tool: facts.tool.clone(),
            commands: Vec::new(),
            paths: Vec::new(),
            words: Vec::new(),
            hosts: Vec::new(),
        };
        for touch in &facts.touches {
            match touch {
                Touch::Inner | Touch::Outside | Touch::Session { .. } | Touch::Source { .. } => {}
                Touch::Access(Access::Read { path, .. } | Access::Write { path, .. }) => out.paths.push(path.clone()),
                Touch::Access(Access::Socket { service, path, .. }) => {
                    out.paths.push(path.clone());
                    out.words.push(service.name().to_owned());
                }
                Touch::Script { interpreter, .. } => out.paths.push(interpreter.clone()),
                Touch::Read { path, .. } | Touch::Write { path, .. } | Touch::Leaves { path } => {
                    out.paths.push(path.clone());
                }
                Touch::Fetch { host, .. } | Touch::Connect { host, .. } => {
                    out.hosts.push(host.clone());
                    // A rule about a host that leaves its port out is about every port.
                    let (bare, port) = host.rsplit_once(':').unwrap_or((host, ""));
                    if !port.is_empty() && (!bare.contains(':') || bare.ends_with(']')) {
                        out.hosts.push(bare.trim_matches(['[', ']']).to_owned());
                    }
                }
                Touch::Command { command, cwd, programs, .. } => {
                    for words in super::shell::pieces(command) {
                        for word in &words {
                            out.take_word(word, cwd, ground);
                        }
                        out.commands.push(words);
                    }
                    out.paths.extend(programs.iter().map(|program| program.path.clone()));
                }
            }
        }
        out
    }

    fn take_word(&mut self, word: &str, cwd: &Path, ground: &Ground) {
        // `--file=x`, `-d@x`, `host:x`: a path may begin after such a mark.
        for part in std::iter::once(word).chain(word.split(['=', '@', ':', ',']).skip(1)) {
            let part = match (part.strip_prefix("~/"), &ground.home) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => PathBuf::from(part),
            };
            self.paths.push(paths::lexical(cwd, &part));
        }
        self.words.push(word.to_owned());
    }
}

/// The paths of a command's words that lead elsewhere than their letters say.
pub(super) fn leaves(facts: &CallFacts) -> Vec<&Path> {
    let leads = facts.touches.iter().filter_map(|touch| match touch {
        Touch::Leaves { path } => Some(path.as_path()),
        _ => None,
    });
    leads.collect()
}

/// Directories of the commands of a line, as far as their words tell: the working directory, and what lies below it
/// and is changed to.
pub(super) struct Ways<'a> {
    /// The working directory.
    pub(super) cwd: &'a Path,
    /// It, and what is changed to.
    bases: Vec<PathBuf>,
    leaves: Vec<&'a Path>,
}

impl<'a> Ways<'a> {
    /// `None` where a command of the line may run outside the working directory.
    pub(super) fn of(commands: &[DefiniteCommand], cwd: &'a Path, facts: &'a CallFacts) -> Option<Self> {
        let mut ways = Self { cwd, bases: vec![cwd.to_owned()], leaves: leaves(facts) };
        for command in commands {
            let Some(argv) = &command.argv else {
                // Words that are not known may be those of a change, too.
                let change = ["cd", "pushd", "popd"].iter().any(|name| command.text.contains(name));
                if change { return None } else { continue }
            };
            match argv.first().map(String::as_str) {
                Some("cd") => {}
                Some("pushd" | "popd" | "chroot") => return None,
                _ => continue,
            }
            let [_, to] = argv.as_slice() else { return None };
            if !is_below(to, &ways) {
                return None;
            }
            let new: Vec<PathBuf> = ways.bases.iter().map(|base| paths::lexical(base, Path::new(to))).collect();
            ways.bases.extend(new);
            ways.bases.dedup();
            if ways.bases.len() > MOST_BASES {
                return None;
            }
        }
        Some(ways)
    }

    /// All of it runs in the working directory itself.
    pub(super) fn stays(&self) -> bool {
        self.bases.len() == 1
    }

    /// This command changes the directory, to below the working directory.
    #[expect(clippy::unused_self, reason = "that the change stays below was found out when these ways were")]
    pub(super) fn is_change(&self, argv: &[String]) -> bool {
        argv.first().is_some_and(|program| program == "cd")
    }
}

/// Changes of the directory that are followed in one line.
const MOST_BASES: usize = 32;

/// True if a rule that lets things run covers this simple command.
pub(super) fn admits(rule: &Rule, argv: &[String], ways: &Ways<'_>) -> bool {
    let Some((program, args)) = argv.split_first() else { return false };
    if !matches!(rule.tool.as_str(), "bash" | "*") || rule.path.is_some() || rule.host.is_some() {
        return false;
    }
    // An assignment in place of a program changes what runs. A program of the project is another one in another folder.
    let moved = program.contains('/') && !program.starts_with('/') && !ways.stays();
    if program.is_empty()
        || program.contains('=')
        || moved
        || rule.program.as_ref().is_some_and(|named| named != program)
    {
        return false;
    }
    if rule.reads {
        return super::shell::remote(argv).is_some();
    }
    let Some(wanted) = &rule.args else { return true };
    wanted.len() == args.len()
        && wanted.iter().zip(args).enumerate().all(|(at, (want, word))| match want.as_str() {
            BELOW => is_below(word, ways),
            TEXT if at + 1 == wanted.len() => !word.starts_with('-'),
            want => want == word,
        })
}

/// True if a rule names what this simple command gets beside its sandbox.
pub(super) fn gives_to(rule: &Rule, argv: &[String], ways: &Ways<'_>) -> bool {
    let named = match rule.tool.as_str() {
        SANDBOX => &Rule { tool: "bash".to_owned(), ..rule.clone() },
        _ => rule,
    };
    // A rule about a program is not one about what its words make it run.
    let itself = rule.args.is_some() || !runs_others(argv);
    rule.gives() && rule.program.is_some() && itself && admits(named, argv, ways)
}

/// The words as a command line of words that are nothing but themselves.
pub(super) fn quoted(argv: &[String]) -> String {
    let mut words = argv.iter();
    let mut line = words.next().cloned().unwrap_or_default();
    for word in words {
        line.push_str(&format!(" '{}'", word.replace('\'', "'\\''")));
    }
    line
}

/// Commands of git that talk to repositories or sign, and run nothing that their words name.
const GIT: &[&str] = &[
    "push",
    "fetch",
    "pull",
    "clone",
    "ls-remote",
    "remote",
    "submodule",
    "commit",
    "tag",
    "merge",
    "rebase",
    "cherry-pick",
    "revert",
    "am",
    // What stands before and behind those on a line.
    "add",
    "rm",
    "mv",
    "status",
    "diff",
    "log",
    "show",
    "branch",
    "switch",
    "checkout",
    "restore",
    "reset",
    "stash",
];
/// Options and addresses that name a program to run, or a file of settings that does, by their beginnings.
const RUNS: &[&str] =
    &["--exec", "-x", "--upload-pack", "--receive-pack", "--config", "--template", "ext::", "foreach"];

/// True if the words of a program that gets something by its name make it run something else.
fn runs_others(argv: &[String]) -> bool {
    let Some((program, args)) = argv.split_first() else { return true };
    let begins = |starts: &[&str]| args.iter().any(|word| starts.iter().any(|start| word.starts_with(start)));
    match program.as_str() {
        "git" => {
            let known = args.first().is_some_and(|first| GIT.contains(&first.as_str()));
            // Of other commands it is a message, or a branch.
            let settings =
                matches!(args.first().map(String::as_str), Some("clone" | "submodule")) && begins(&["-c", "-u"]);
            !known || settings || begins(RUNS)
        }
        "ssh" | "scp" | "sftp" => begins(&["-o", "-F", "-S", "-D", "-J"]),
        "rsync" => begins(&["-e", "--rsh", "--rsync-path"]),
        _ => false,
    }
}

/// The path that a rule names by `/`, `~/` or `./`, for each form of the working directory.
pub(super) fn places(named: &str, ground: &Ground) -> Vec<PathBuf> {
    let plain = |path: &Path| paths::lexical(Path::new("/"), path);
    match (named.strip_prefix("~/"), &ground.home) {
        (Some(below), Some(home)) => vec![plain(&home.join(below))],
        (Some(_), None) => Vec::new(),
        (None, _) if named.starts_with("./") => ground.here.iter().map(|here| plain(&here.join(named))).collect(),
        (None, _) => vec![plain(Path::new(named))],
    }
}

/// True if a rule's path opens this one. A secret is opened by its own name or that of its secret folder, never by a
/// folder that holds more.
pub(super) fn opens(named: &str, path: &Path, secret: bool, ground: &Ground) -> bool {
    places(named, ground)
        .iter()
        .any(|full| path == full || path.starts_with(full) && (!secret || paths::is_secret(full)))
}

/// True if a word of a command is certain to name a path at or below the working directory that is neither secret nor
/// protected. Anything a program might read as more than a path is not.
pub(super) fn is_below(word: &str, ways: &Ways<'_>) -> bool {
    let odd = |c: char| c.is_control() || "*?[]{}$`\\:\"'<>|&;!".contains(c);
    if word.is_empty() || word.starts_with(['-', '~', '@', '+', '%', '^']) || word.contains(odd) {
        return false;
    }
    let (path, cwd) = (Path::new(word), ways.cwd);
    // Below `/` lies everything.
    if paths::climbs(path) || paths::climbs(cwd) || !cwd.is_absolute() || cwd.parent().is_none() {
        return false;
    }
    ways.bases.iter().all(|base| {
        let full = paths::lexical(base, path);
        let protected = full.strip_prefix(cwd).is_ok_and(paths::is_protected);
        full.starts_with(cwd)
            && !protected
            && !paths::is_secret(&full)
            && !paths::is_secret_file(path)
            && !ways.leaves.iter().any(|leads| full.starts_with(leads))
    })
}

/// True if a rule lets this tool change this file. The file lies below the working directory and is not protected.
pub(super) fn allows_change(rule: &Rule, tool: &str, path: &Path, ground: &Ground) -> bool {
    // `edit` stands for all tools that change files; what a command writes is judged like them.
    let named =
        rule.tool == "*" || rule.tool == tool || (rule.tool == "edit" && matches!(tool, "write" | "patch" | "bash"));
    // A rule about commands does not speak of files, whatever it leaves out.
    let silent = rule.program.is_none() && rule.host.is_none() && !(rule.tool == "bash" && rule.path.is_none());
    named && silent && !paths::climbs(path) && rule.path.as_ref().is_none_or(|pattern| is_at(pattern, path, ground))
}

/// True if a path is what a rule's pattern names, or lies below it.
fn is_at(pattern: &str, path: &Path, ground: &Ground) -> bool {
    let (named, below) = match pattern.strip_suffix("/**") {
        Some(named) => (named, true),
        None => (pattern, false),
    };
    let fits = |full: &Path| if below { path.starts_with(full) } else { path == full };
    if named == "." || named.starts_with("./") {
        return ground.here.iter().any(|here| fits(&paths::lexical(here, Path::new(named))));
    }
    match (named.strip_prefix('~'), &ground.home) {
        (Some(rest), Some(home)) => fits(&home.join(rest.trim_start_matches('/'))),
        (Some(_), None) => false,
        (None, _) => fits(Path::new(if named.is_empty() { "/" } else { named })),
    }
}

/// True if a rule that denies or asks is about this call.
pub(super) fn bites(rule: &Rule, asked: &MatchedCall, ground: &Ground) -> bool {
    let changes = |tool: &str| matches!(tool, "edit" | "write" | "patch");
    // What a host may not be fetched from or named to in a command, a command does not reach either.
    let reaches = asked.tool == NETWORK && matches!(rule.tool.as_str(), "fetch" | "bash") && rule.host.is_some();
    // `mcp__SLUG` is about all tools of a source.
    let of_source = rule.tool.starts_with(TOOL_PREFIX)
        && asked.tool.strip_prefix(&rule.tool).is_some_and(|rest| rest.starts_with("__"));
    let same = rule.tool == "*"
        || rule.tool == asked.tool
        || of_source
        || (changes(&rule.tool) && changes(&asked.tool))
        || reaches;
    same && rule.program.as_ref().is_none_or(|program| {
        asked.commands.iter().any(|words| runs(program, rule.args.as_deref().unwrap_or_default(), words, ground))
    }) && rule.path.as_ref().is_none_or(|pattern| asked.paths.iter().any(|path| is_at(pattern, path, ground)))
        && rule.host.as_ref().is_none_or(|host| speaks_of(host, asked))
}

/// True if the call has to do with a host, or one below it.
fn speaks_of(host: &str, asked: &MatchedCall) -> bool {
    let host = host.strip_prefix("*.").unwrap_or(host).to_ascii_lowercase();
    asked.words.iter().any(|word| word.to_ascii_lowercase().contains(&host))
        || asked.hosts.iter().any(|other| *other == host || is_below_host(other, &host))
}

fn is_below_host(host: &str, above: &str) -> bool {
    host.strip_suffix(above).is_some_and(|rest| rest.ends_with('.'))
}

/// True if a rule lets this host be asked: the one that it names, or with `*.` those below it.
pub(super) fn allows_host(rule: &Rule, tool: &str, host: &str) -> bool {
    // Who may be fetched from may be reached.
    let same =
        rule.tool == tool || rule.tool == "*" || (tool == NETWORK && rule.tool == "fetch" && rule.host.is_some());
    let named = same && rule.program.is_none() && rule.path.is_none();
    named
        && match &rule.host {
            Some(wanted) => match wanted.strip_prefix("*.") {
                Some(above) => is_below_host(host, &above.to_ascii_lowercase()),
                None => wanted.eq_ignore_ascii_case(host),
            },
            // A rule about everything does not speak of the network.
            None => rule.tool == tool,
        }
}

/// True if a rule lets this tool of a source be called, in this definition.
pub(super) fn allows_source(rule: &Rule, tool: &str, definition: &str) -> bool {
    // A rule about everything, or about commands, does not speak of other people's servers.
    rule.tool == tool
        && rule.program.is_none()
        && rule.path.is_none()
        && rule.host.is_none()
        && rule.definition.as_ref().is_none_or(|begin| definition.starts_with(begin.as_str()))
}

/// True if a text names a host: as a word of its own, alone or as part of an address.
#[must_use]
pub fn names_host(text: &str, host: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let host = host.trim_matches(['[', ']']);
    let of_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    !host.is_empty()
        && text.match_indices(host).any(|(at, _)| {
            let before = text.get(..at).and_then(|head| head.chars().next_back());
            let mut after = text.get(at + host.len()..).unwrap_or_default().chars();
            // A full stop ends a sentence, or goes on with a longer name.
            let goes_on = match after.next() {
                Some('.') => after.next().is_some_and(of_name),
                Some(c) => of_name(c),
                None => false,
            };
            // What stands before an @ or in the path of another address is no host.
            let within = before.is_some_and(|c| of_name(c) || matches!(c, '.' | '@' | '=' | '%'))
                || (before == Some('/') && !text.get(..at).is_some_and(|head| head.ends_with("://")));
            // What stands before an @ is a name or a password, and the host comes behind it.
            let rest = text.get(at + host.len()..).unwrap_or_default();
            let authority =
                rest.split(|c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '<' | '>' | '"')).next();
            let is_user = authority.is_some_and(|rest| rest.contains('@'));
            !within && !goes_on && !is_user
        })
}

/// True if the words run this program with these arguments in this order, whatever stands between them.
fn runs(program: &str, args: &[String], words: &[String], ground: &Ground) -> bool {
    let Some((named, mut rest)) = words.split_first() else { return false };
    let base = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
    let same = named == program || base(named) == base(program);
    same && args.iter().all(|want| {
        let found = rest.iter().position(|word| match want.as_str() {
            TEXT => true,
            BELOW => ground.here.iter().any(|here| paths::lexical(here, Path::new(word)).starts_with(here)),
            want => want == word,
        });
        rest = found.and_then(|at| rest.get(at + 1..)).unwrap_or_default();
        found.is_some()
    })
}
