//! Rules that an answer would remember: narrow ones, each with a harmless and the worst known
//! example of what it would allow.
//!
//! A rule is the program with every word exactly. Only programs of a short list have paths that stand for "below the
//! working directory", and only a few options take a text that stands for any text. What runs other programs or code
//! that stands in the line itself is never kept.

use super::matches::{self, Ways};
use super::rules::Rules;
use super::shell;
use crate::domain::rule::{BELOW, NETWORK, Offer, Rule, RuleEffect, TEXT};
use crate::domain::tool::{CallFacts, Touch};
use std::path::Path;

/// Programs that run what their words say, as others, elsewhere or as code: a rule about them would be a rule about
/// everything.
const RUN_OTHERS: &[&str] = &[
    "sqlite3", "psql", "mysql", "awk", "gawk", "mawk", "nawk", "sed", "ed", "ex", "vi", "vim", "nvim", "emacs", "trap",
    "ltrace", "gdb", "entr", "screen", "tmux", "at", "batch", "crontab", "expect", "export", "set", "alias", "unalias",
    "function", "declare", "local", "readonly", "unset", "shopt", "enable", "hash",
];

/// Programs that run code: with a file of it they can be kept word for word, with code in the line or on their input not.
const RUN_CODE: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "ash",
    "fish",
    "mksh",
    "python",
    "python2",
    "python3",
    "pypy",
    "pypy3",
    "node",
    "nodejs",
    "deno",
    "bun",
    "perl",
    "ruby",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "wish",
    "osascript",
    "pwsh",
    "powershell",
    "Rscript",
    "R",
    "julia",
    "ghci",
    "irb",
    "ipython",
];

/// Programs whose words, but options, are all paths, with the letters of options that take no value.
const ON_PATHS: &[(&str, &str)] = &[
    ("rm", "rRfdIv"),
    ("rmdir", "pv"),
    ("mkdir", "pv"),
    ("touch", "acm"),
    ("cp", "rRafpnuvidPLHTx"),
    ("mv", "fnuviT"),
    ("rustfmt", "qvl"),
    ("gofmt", "wlsde"),
    ("black", "q"),
    ("isort", "q"),
    ("prettier", "wcl"),
    ("eslint", "q"),
    ("clang-format", "i"),
    ("shfmt", "wld"),
    ("pytest", "qvxsl"),
];

/// The same for subcommands.
const ON_PATHS_BELOW: &[(&str, &str, &str)] = &[
    ("git", "add", "ANuvnf"),
    ("git", "rm", "rfqn"),
    ("git", "mv", "fkvn"),
    ("git", "restore", "SWq"),
    ("ruff", "check", "qv"),
    ("ruff", "format", "qv"),
];

/// Long options of those programs that take no value.
const WITHOUT_VALUE: &[&str] = &[
    "--",
    "--force",
    "--recursive",
    "--verbose",
    "--quiet",
    "--all",
    "--update",
    "--cached",
    "--staged",
    "--worktree",
    "--dry-run",
    "--check",
    "--write",
    "--fix",
    "--diff",
    "--parents",
    "--no-clobber",
    "--intent-to-add",
];

/// Hex digits of a definition in a rule.
const DEFINITION: usize = 32;

/// The rule that would let this tool of a source be called, as it is defined now.
pub(super) fn source(tool: &str, definition: &str) -> Offer {
    let definition = definition.get(..DEFINITION).map(str::to_owned);
    Offer {
        rule: Rule { definition, ..Rule::allow(tool) },
        harmless: None,
        worst: Some("this tool with any arguments".to_owned()),
    }
}

/// The rule that would let the file tools change what lies below the working directory.
pub(super) fn edits(path: &Path, rules: &Rules) -> Offer {
    let here = rules.ground.here.iter().find(|here| path.starts_with(here));
    let beside = here.and_then(|here| path.strip_prefix(here).ok()).and_then(Path::parent);
    let beside = beside.map(|folder| folder.join("another-file")).unwrap_or_else(|| "another-file".into());
    Offer {
        rule: edit_rule(),
        harmless: Some(format!("edit {}", beside.display())),
        worst: Some("any unprotected file in the working directory, including build files and scripts".to_owned()),
    }
}

/// The rule that would let this host be asked.
pub(super) fn host(tool: &str, host: &str) -> Offer {
    if tool == NETWORK {
        return Offer {
            rule: Rule { host: Some(host.to_owned()), ..Rule::allow(tool) },
            harmless: None,
            worst: Some(format!("any command can send what it reads to {host} and run what it downloads")),
        };
    }
    Offer {
        rule: Rule { host: Some(host.to_owned()), ..Rule::allow(tool) },
        harmless: Some(format!("fetch https://{host}/")),
        worst: Some(format!("any URL on {host}, with any data the agent adds")),
    }
}

/// The rule that would let this simple command run; `None` where nothing of it can be kept.
pub(super) fn command(argv: &[String], ways: &Ways<'_>, rules: &Rules) -> Option<Offer> {
    let (program, args) = argv.split_first()?;
    if let Some(remote) = shell::remote(argv) {
        return Some(reading(remote, argv));
    }
    if !is_offered(program, args, ways.cwd) {
        return None;
    }
    // Below the home folder lies all that the user has.
    let home = rules.ground.home.as_deref() == Some(ways.cwd);
    let (wanted, kind) = if home { (args.to_vec(), GrantKind::Exact) } else { widened(program, args, ways) };
    let rule = Rule { program: Some(program.clone()), args: Some(wanted), ..Rule::allow("bash") };
    // What is offered is sound, and answers what was asked.
    (rule.fault().is_none() && matches::admits(&rule, argv, ways)).then(|| Offer {
        // An exact rule lets nothing else run.
        harmless: (kind != GrantKind::Exact).then(|| harmless(&rule, args, kind)),
        worst: worst(program, args, kind),
        rule,
    })
}

/// The rule that lets the commands of a program run that only read from its server, with what they need for that.
fn reading(remote: &shell::Remote, argv: &[String]) -> Offer {
    let owned = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
    let rule = Rule {
        program: Some(remote.program.to_owned()),
        reads: true,
        env: owned(remote.env),
        readable: owned(remote.readable),
        sockets: owned(remote.sockets),
        ..Rule::allow("bash")
    };
    let gets = [rule.env.join(", "), rule.readable.join(", "), rule.sockets.join(", ")];
    let gets: Vec<String> = gets.into_iter().filter(|list| !list.is_empty()).collect();
    Offer {
        rule,
        harmless: Some(argv.join(" ")),
        worst: Some(format!("can request anything you can see on its server; it gets {}", gets.join("; "))),
    }
}

/// True if an answer of the user's, as offered or as edited, may be remembered for this request: a
/// valid allow rule, of the tool in question, that covers part of it.
///
/// # Errors
/// A sentence why not.
pub fn takes(rule: &Rule, facts: &CallFacts, offers: &[Offer], ground: &matches::Ground) -> Result<(), String> {
    if let Some(fault) = rule.fault() {
        return Err(fault);
    }
    if rule.effect != RuleEffect::Allow {
        return Err("Answers only save rules that allow. Write others to permissions.json.".to_owned());
    }
    if offers.iter().any(|offer| offer.rule == *rule) {
        return Ok(());
    }
    let covers = facts.touches.iter().any(|touch| match touch {
        Touch::Command { command, cwd, .. } if rule.tool == "bash" => {
            let known = shell::known(command).map(|line| line.commands).unwrap_or_default();
            let mut parts = known.iter().filter_map(|part| part.argv.as_deref());
            let ways = Ways::of(&known, cwd, facts);
            rule.program.is_some() && ways.is_some_and(|ways| parts.any(|argv| matches::admits(rule, argv, &ways)))
        }
        Touch::Write { path, .. } => {
            rule.path.is_some() && rule.tool != "*" && matches::allows_change(rule, &facts.tool, path, ground)
        }
        // What is given is given as it was offered.
        Touch::Access(_) => false,
        Touch::Fetch { host, .. } | Touch::Connect { host, .. } => {
            rule.tool != "*" && matches::allows_host(rule, &facts.tool, host)
        }
        _ => false,
    });
    if covers { Ok(()) } else { Err(format!("`{}` doesn't cover this request.", rule.in_words())) }
}

/// Source of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GrantKind {
    Exact,
    Paths,
    Text,
}

fn is_offered(program: &str, args: &[String], cwd: &Path) -> bool {
    let base = program.rsplit('/').next().unwrap_or(program);
    let plain = |c: char| c.is_ascii_alphanumeric() || "._+-/".contains(c);
    let code_in_line = RUN_CODE.contains(&base) && !is_script(base, args);
    let shown = args.iter().all(|word| word.chars().count() <= 200 && !word.chars().any(is_unshowable));
    !program.is_empty()
        && program.chars().all(plain)
        && !shell::wraps(base)
        && !RUN_OTHERS.contains(&base)
        && !code_in_line
        && shown
        // What comes on the input is not in the words.
        && !args.iter().any(|word| word == "-" || word == "/dev/stdin")
        // Words that are patterns in a rule would be kept as more than they are.
        && !args.iter().any(|word| word.contains('*'))
        && !args.iter().any(|word| leads_out(word, cwd))
}

/// Characters that make a rule look like another one.
fn is_unshowable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Code that lies in a file or is installed, and none that stands in the line: the first word is a file, Python's module, or
/// `node --test` runs the tests of the project.
fn is_script(base: &str, args: &[String]) -> bool {
    let is_file = |word: &&String| !word.starts_with('-') && word.contains(['.', '/']) && !word.contains(' ');
    let is_module = |word: &&String| {
        let mut parts = word.split('.');
        let plain = parts.all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
        plain && !TAKES_CODE.contains(&word.as_str())
    };
    match args {
        [option, module, rest @ ..] if option == "-m" && base.starts_with("py") => {
            is_module(&module) && !rest.iter().any(|word| word.starts_with("-c"))
        }
        [option, rest @ ..] if option == "--test" && base == "node" => rest.iter().all(|word| is_file(&word)),
        [first, ..] => is_file(&first),
        [] => false,
    }
}

/// Modules of Python that take code from the line or from the terminal.
const TAKES_CODE: &[&str] = &["timeit", "code", "pdb", "asyncio", "idlelib", "IPython", "bpython", "ptpython", "trace"];

/// A word that names a path outside the working directory and the temporary folders.
fn leads_out(word: &str, cwd: &Path) -> bool {
    let parts = std::iter::once(word).chain(word.split_once('=').map(|(_, value)| value));
    parts.into_iter().any(|part| {
        let names_path = part.starts_with(['/', '~']) || Path::new(part).components().any(|c| c.as_os_str() == "..");
        let full = crate::domain::paths::lexical(cwd, Path::new(part));
        let temp = ["/tmp", "/var/tmp", "/private/tmp", "/dev/null"].iter().any(|temp| full.starts_with(temp));
        names_path && (part.starts_with('~') || !full.starts_with(cwd)) && !temp
    })
}

/// The words of the rule: paths and free text generalised where the program is known well enough.
fn widened(program: &str, args: &[String], ways: &Ways<'_>) -> (Vec<String>, GrantKind) {
    if let Some(text) = free_text(program, args) {
        return (text, GrantKind::Text);
    }
    let first = args.first().map(String::as_str);
    let below = ON_PATHS_BELOW.iter().find(|(name, sub, _)| *name == program && Some(*sub) == first);
    let whole = ON_PATHS.iter().find(|(name, _)| *name == program);
    let (skip, flags) = match (below, whole) {
        (Some((_, _, flags)), _) => (1, *flags),
        (None, Some((_, flags))) => (0, *flags),
        (None, None) => return (args.to_vec(), GrantKind::Exact),
    };
    let known = |word: &str| match word.strip_prefix('-') {
        Some(rest) if rest.starts_with('-') => WITHOUT_VALUE.contains(&word),
        Some(letters) => !letters.is_empty() && letters.chars().all(|c| flags.contains(c)),
        None => matches::is_below(word, ways),
    };
    let rest = args.get(skip..).unwrap_or_default();
    // An option that may take a value would make a path of its value, and what follows `--` is no option any more.
    if !rest.iter().all(|word| known(word)) || rest.iter().all(|word| word.starts_with('-')) {
        return (args.to_vec(), GrantKind::Exact);
    }
    let mut out: Vec<String> = args.get(..skip).unwrap_or_default().to_vec();
    out.extend(rest.iter().map(|word| if word.starts_with('-') { word.clone() } else { BELOW.to_owned() }));
    (out, GrantKind::Paths)
}

/// Options whose value is a text for people, when it is the last word.
fn free_text(program: &str, args: &[String]) -> Option<Vec<String>> {
    let (text, before) = args.split_last()?;
    let (option, _) = before.split_last()?;
    let words: Vec<&str> = before.iter().map(String::as_str).collect();
    let takes = match (program, words.as_slice()) {
        ("git", ["commit", ..]) => matches!(option.as_str(), "-m" | "-am" | "--message"),
        ("git", ["stash", "push", ..]) => matches!(option.as_str(), "-m" | "--message"),
        ("git", ["tag", ..]) => option == "-m",
        _ => false,
    };
    (takes && !text.starts_with('-')).then(|| before.iter().cloned().chain([TEXT.to_owned()]).collect())
}

fn harmless(rule: &Rule, args: &[String], kind: GrantKind) -> String {
    let program = rule.program.as_deref().unwrap_or_default();
    let words = match kind {
        GrantKind::Exact => args.to_vec(),
        GrantKind::Paths | GrantKind::Text => {
            let stand_in = |word: &String| match word.as_str() {
                BELOW => "notes.txt".to_owned(),
                TEXT => "'another message'".to_owned(),
                _ => word.clone(),
            };
            rule.args.iter().flatten().map(stand_in).collect()
        }
    };
    std::iter::once(program.to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// The worst that is known of what the rule lets run.
fn worst(program: &str, args: &[String], kind: GrantKind) -> Option<String> {
    let base = program.rsplit('/').next().unwrap_or(program);
    let first = args.iter().find(|word| !word.starts_with('-')).map_or("", String::as_str);
    let recursive = args.iter().any(|word| {
        word == "--recursive" || word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R'])
    });
    let text = match (base, first) {
        ("rm", _) if kind == GrantKind::Paths && recursive => "rm -r . : deletes everything in the working directory",
        ("rm" | "rmdir" | "unlink" | "shred", _) if kind == GrantKind::Paths => {
            "deletes any file in the working directory"
        }
        ("cp" | "mv" | "touch", _) if kind == GrantKind::Paths => {
            "overwrites or moves any file in the working directory"
        }
        ("rm" | "rmdir" | "unlink" | "shred" | "truncate", _) => "deletes it again, whatever it contains by then",
        ("git", "push") => "publishes any later commits",
        ("git", "commit") => "commits anything staged later, and runs the repository's hooks",
        ("git", "add") => "stages any file, including keys and passwords",
        ("git", "rm") => "deletes any file in the repository",
        ("git", "restore" | "checkout" | "reset" | "clean" | "stash" | "switch") => "discards uncommitted changes",
        ("git", "pull" | "merge" | "rebase" | "cherry-pick" | "am") => "changes any file in the repository",
        ("git", "clone" | "fetch" | "submodule") => "fetches anything the remote contains by then",
        (
            "npm" | "pnpm" | "yarn" | "bun" | "pip" | "pip3" | "uv" | "poetry" | "gem" | "composer" | "bundle" | "brew",
            "install" | "i" | "add" | "ci" | "sync" | "update" | "upgrade",
        ) => "installs packages, which can run any code during installation",
        ("apt" | "apt-get" | "dnf" | "yum" | "pacman" | "apk", _) => "installs or removes system packages",
        ("npm" | "pnpm" | "yarn" | "cargo" | "twine" | "gem", "publish" | "push" | "upload") => {
            "publishes the project as it is by then"
        }
        ("curl" | "wget" | "scp" | "rsync" | "http", _) => "sends and fetches over the network",
        ("docker" | "podman" | "kubectl" | "helm" | "terraform" | "ansible-playbook", _) => {
            "changes remote systems using project files"
        }
        ("kill" | "pkill" | "killall", _) => "kills any process with that ID or name",
        ("chmod" | "chown" | "chgrp", _) => "changes its permissions",
        _ if runs_project(base) || RUN_CODE.contains(&base) || program.contains('/') => {
            "runs any code in the project: build scripts, tests, configuration"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// Programs that run what the project says.
fn runs_project(base: &str) -> bool {
    const NAMES: &[&str] = &[
        "cargo",
        "npm",
        "npx",
        "pnpm",
        "yarn",
        "make",
        "gmake",
        "ninja",
        "cmake",
        "meson",
        "bazel",
        "buck2",
        "go",
        "gradle",
        "gradlew",
        "mvn",
        "ant",
        "sbt",
        "mill",
        "rake",
        "bundle",
        "mix",
        "dotnet",
        "msbuild",
        "swift",
        "xcodebuild",
        "zig",
        "just",
        "task",
        "tox",
        "nox",
        "pytest",
        "poetry",
        "uv",
        "pdm",
        "hatch",
        "jest",
        "vitest",
        "mocha",
        "tsc",
        "vite",
        "webpack",
        "eslint",
        "prettier",
        "composer",
        "phpunit",
        "rspec",
        "cabal",
        "stack",
        "dune",
        "opam",
        "nix",
        "pre-commit",
        "lefthook",
        "turbo",
        "nx",
        "lerna",
        "black",
        "ruff",
        "mypy",
        "rustc",
        "gcc",
        "cc",
        "clang",
    ];
    NAMES.contains(&base)
}

/// The rule that lets the file tools change what lies below the working directory.
fn edit_rule() -> Rule {
    Rule { path: Some(BELOW.to_owned()), ..Rule::allow("edit") }
}
