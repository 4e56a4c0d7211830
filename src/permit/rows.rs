//! The table of the permission modes: what one thing that a call touches comes to.

use super::access;
use super::grants;
use super::line_rows::CommandLine;
use super::policy::{AskEdits, ExploreCommands, Policy};
use super::row::{COMPUTES, EDITS_ALLOWED, TouchRow, always_ask, explore};
use super::rules::Rules;
use super::shell::{self, shortened};
use crate::domain::paths;
use crate::domain::permission::Mode;
use crate::domain::request::FILE_CHANGE;
use crate::domain::rule::NETWORK;
use crate::domain::sanitise::reveal_line;
use crate::domain::tool::{CallFacts, PathPlace, Proposal, Touch};
use std::path::Path;

/// A call that does not say what it touches is not let through.
pub(super) fn unknown(mode: Mode, facts: &CallFacts) -> Option<TouchRow> {
    facts.touches.is_empty().then(|| match mode {
        Mode::Explore => TouchRow::Deny(explore("the call doesn't declare what it touches")),
        _ => always_ask("The call doesn't declare what it touches.".to_owned(), Vec::new()),
    })
}

pub(super) fn row(policy: Policy, mode: Mode, rules: &Rules, facts: &CallFacts, touch: &Touch) -> TouchRow {
    match touch {
        // What leads elsewhere is said of a command, which has its own row.
        Touch::Inner | Touch::Leaves { .. } => TouchRow::Allow,
        Touch::Read { path, secret } => {
            let runs = || facts.touches.iter().any(|touch| matches!(touch, Touch::Command { .. }));
            if *secret || paths::is_secret(path) {
                access::secret_row(mode, rules, path, &path.display().to_string())
            } else if paths::is_device(path) && runs() {
                // The file tools open no device; a command would.
                device_row(mode, path)
            } else {
                TouchRow::Allow
            }
        }
        Touch::Write { path, place } => write_row(policy, mode, rules, &facts.tool, path, *place),
        Touch::Session { session, own } => match mode {
            Mode::Explore => TouchRow::Deny(explore(&format!("would change session {session}"))),
            // An agent keeps its own session's status and labels as it keeps its todo list.
            Mode::Ask if !*own => TouchRow::Ask {
                reason: format!("Changes another session: {session}."),
                risks: Vec::new(),
                offers: Vec::new(),
                every_time: false,
            },
            Mode::Ask | Mode::Execute => TouchRow::Allow,
        },
        Touch::Fetch { host, private, .. } => fetch_row(mode, rules, &facts.tool, host, *private),
        Touch::Connect { host, private, known } => connect_row(mode, rules, facts, (host, *private, known.is_some())),
        Touch::Source { source, tool, read_only, definition } => {
            source_row(mode, rules, &facts.tool, (source, tool), (*read_only, definition))
        }
        Touch::Access(access) => access::row(policy, mode, rules, facts, access),
        Touch::Script { .. } => script_row(policy, mode, facts.secrets_here),
        Touch::Outside => match mode {
            Mode::Explore => TouchRow::Deny(explore("commands can't leave the sandbox")),
            _ => always_ask("Runs outside the sandbox, unconfined.".to_owned(), vec!["outside the sandbox".to_owned()]),
        },
        Touch::Command { command, .. }
            if mode == Mode::Explore && policy.explore_commands == ExploreCommands::Blocked =>
        {
            TouchRow::Deny(format!(
                "`{}` is blocked: Explore runs no commands (explore.bash = \"block\" in config.toml). Use the tools \
                 read, list, glob and grep.",
                shortened(command)
            ))
        }
        Touch::Command { command, cwd, programs, unseen, .. } => {
            let judgement = shell::judge_found(command, policy.read_only_profile, programs, unseen.as_deref());
            let secrets_here = facts.secrets_here;
            let line = CommandLine { command, cwd, programs, unseen: unseen.is_some(), secrets_here, judgement };
            line.row(policy, mode, rules, facts)
        }
    }
}

/// A script that works on data: closed in it can do no harm; where nothing holds it, it is like any other command.
fn script_row(policy: Policy, mode: Mode, secrets_here: bool) -> TouchRow {
    let held = policy.read_only_profile != shell::ReadOnlyProfile::None;
    match mode {
        Mode::Explore if policy.explore_commands == ExploreCommands::Blocked => {
            TouchRow::Deny(explore("scripts are blocked (explore.bash = \"block\" in config.toml)"))
        }
        Mode::Explore if !held => TouchRow::Deny(explore("a script could change anything: no sandbox on this machine")),
        Mode::Explore if secrets_here => {
            TouchRow::Deny(explore(&format!("a script is not known to be harmless: {COMPUTES}")))
        }
        Mode::Explore | Mode::Execute => TouchRow::Allow,
        Mode::Ask => TouchRow::Ask {
            reason: if held && secrets_here {
                format!("Runs a script: {COMPUTES}.")
            } else if held {
                "Runs a script. It can read files and write only the session's data/, without network.".to_owned()
            } else {
                "Runs a script without a sandbox: it can do anything you can.".to_owned()
            },
            risks: if held { Vec::new() } else { vec!["no sandbox".to_owned()] },
            offers: Vec::new(),
            every_time: false,
        },
    }
}

/// Outcome for a request to a server. A host that the user named in a message is the user's own wish.
fn fetch_row(mode: Mode, rules: &Rules, tool: &str, host: &str, private: bool) -> TouchRow {
    if private {
        let what = format!("{host} is on this machine or its network");
        return match mode {
            Mode::Explore => TouchRow::Deny(explore(&what)),
            _ => always_ask(format!("{what}."), vec!["private network".to_owned()]),
        };
    }
    if mode == Mode::Execute {
        return TouchRow::Allow;
    }
    if let Some(at) = rules.allows_host(tool, host) {
        return TouchRow::Ruled(vec![at]);
    }
    match mode {
        _ if rules.named.iter().any(|named| named == host) => TouchRow::Allow,
        Mode::Explore => TouchRow::Deny(format!(
            "Explore only contacts hosts from your messages or rules, not {host}. Mention the URL in a message, or \
             switch to Ask to Edit."
        )),
        _ => TouchRow::Ask {
            reason: format!("First request to this host: {host}."),
            risks: vec!["network".to_owned()],
            offers: vec![grants::host(tool, host)],
            every_time: false,
        },
    }
}

/// Outcome for a call of a source's tool: its slug and its name at the server; if it is known to change nothing, and its
/// definition. Explore goes by that knowledge alone, and no rule answers for it.
fn source_row(
    mode: Mode,
    rules: &Rules,
    called: &str,
    (source, tool): (&str, &str),
    (read_only, definition): (bool, &str),
) -> TouchRow {
    if read_only || mode == Mode::Execute {
        return TouchRow::Allow;
    }
    let tool = reveal_line(tool);
    if mode == Mode::Explore {
        return TouchRow::Deny(explore(&format!(
            "`{tool}` of source {source} is not known to be read-only (sources/{source}/permissions.json names tools that are)"
        )));
    }
    match rules.allows_source(called, definition) {
        Some(at) => TouchRow::Ruled(vec![at]),
        None => TouchRow::Ask {
            reason: format!("`{tool}` of source {source} is not known to be read-only."),
            risks: vec!["acts through a source".to_owned()],
            offers: vec![grants::source(called, definition)],
            every_time: false,
        },
    }
}

/// Connection of a running command: a host, whether it is private, and whether a list or a setting of the user's
/// names it. Every other one is asked about once, in Execute as well: who holds commands to hosts wants to hear of a
/// new one.
fn connect_row(mode: Mode, rules: &Rules, facts: &CallFacts, (host, private, known): (&str, bool, bool)) -> TouchRow {
    if mode == Mode::Explore {
        return TouchRow::Deny(explore(&format!("commands have no network: {host}")));
    }
    if known {
        return TouchRow::Allow;
    }
    let who = match &facts.proposal {
        Proposal::Connect { command, .. } if !command.trim().is_empty() => format!("`{}`", shortened(command)),
        _ => "A command".to_owned(),
    };
    if private {
        let what = format!(
            "{who} wants to connect to {host} on this machine or its network. To allow it without asking, use \
             `private_hosts` under [sandbox] in config.toml."
        );
        return always_ask(what, vec!["private network".to_owned()]);
    }
    match rules.allows_host(NETWORK, host) {
        Some(at) => TouchRow::Ruled(vec![at]),
        None => TouchRow::Ask {
            reason: format!("{who} wants to connect to {host}: not a package registry, git remote or allowed host."),
            risks: vec!["network".to_owned()],
            offers: vec![grants::host(NETWORK, host)],
            every_time: false,
        },
    }
}

/// A device that a command reaches through a link: reading it may block, never end or do something.
fn device_row(mode: Mode, path: &Path) -> TouchRow {
    let what = format!("{} is a device or kernel file", path.display());
    match mode {
        Mode::Explore => TouchRow::Deny(explore(&what)),
        Mode::Ask => always_ask(format!("{what}."), Vec::new()),
        Mode::Execute => TouchRow::Allow,
    }
}

fn write_row(policy: Policy, mode: Mode, rules: &Rules, tool: &str, path: &Path, place: PathPlace) -> TouchRow {
    let shown = path.display();
    // A path that still climbs was not resolved: what was said about its place cannot be relied on.
    let place = if paths::climbs(path) { PathPlace::Outside } else { place };
    match (place, mode) {
        (PathPlace::SessionFolder, _)
        | (PathPlace::SessionTemp, Mode::Ask | Mode::Execute)
        | (PathPlace::Inside, Mode::Execute) => TouchRow::Allow,
        (PathPlace::Inside | PathPlace::SessionTemp, Mode::Explore) => {
            TouchRow::Deny(explore(&format!("would change {shown}; only the session's plans/ and data/ are writable")))
        }
        (PathPlace::Inside, Mode::Ask) => match rules.allows_change(tool, path) {
            _ if policy.ask_edits == AskEdits::Allowed => TouchRow::Setting(EDITS_ALLOWED),
            Some(at) => TouchRow::Ruled(vec![at]),
            None => TouchRow::Ask {
                reason: format!("{FILE_CHANGE}{shown}."),
                risks: Vec::new(),
                offers: vec![grants::edits(path, rules)],
                every_time: false,
            },
        },
        (PathPlace::Outside | PathPlace::Protected, Mode::Explore) => {
            TouchRow::Deny(explore(&format!("would change {shown}")))
        }
        (PathPlace::Outside, _) => always_ask(
            format!("{shown} is outside the working directory."),
            vec!["outside the working directory".to_owned()],
        ),
        // What holds all places is no file that runs code.
        (PathPlace::Protected, _) if path.parent().is_none() => {
            always_ask(format!("{shown} holds all files."), vec!["all files".to_owned()])
        }
        (PathPlace::Protected, _) => {
            always_ask(format!("{shown} is protected: it configures or runs code."), vec!["protected path".to_owned()])
        }
    }
}

/// True if a call runs a command that may destroy what nobody can bring back.
#[must_use]
pub fn is_catastrophic(facts: &CallFacts) -> bool {
    facts
        .touches
        .iter()
        .any(|touch| matches!(touch, Touch::Command { command, .. } if shell::danger(command).is_some()))
}
