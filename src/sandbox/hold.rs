//! The last step before a command (`lisle __hold`): the process that is to become it closes itself in, and then becomes it.
//!
//! In this order: namespaces (`mounts`), a first process for those of the command (`init`), a file system that holds the
//! profile's places alone (`root`), root's rights given up (`rights`), the rules of Landlock (`rules`), the filters of calls
//! (`calls`). Where the system allows no namespaces the last three hold alone. All of it stays with everything that the command
//! starts. What could not be done as a whole does not start the command. Which command is closed in is decided elsewhere.

#![allow(unsafe_code, reason = "the version of Landlock has no safe call that tells it")]

use super::calls::{self, Reach};
use super::init::{self, NotStarted, Side};
use super::mounts::{self, Net};
use super::profile::{Namespaces, Network, Profile};
use super::proxy::inside::{self, Way};
use super::rights;
use super::root::{self, Role};
use super::rules::{self, NEWEST, OLDEST, Setting};
use landlock::ABI;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// The first argument that makes lisle close itself in and become a command.
pub const WORD: &str = "__hold";
/// The only other argument of a process that tries what commands can get here, and ends.
pub(super) const TRY: &str = "--try-namespaces";

/// This system can hold a command. Asks the kernel, and changes nothing.
#[must_use]
pub fn is_possible() -> bool {
    rules::are_possible() && calls::read_only(OLDEST).is_ok() && seccomp_is_there()
}

/// The version of Landlock's rules that this kernel knows; 0 where it has none.
#[must_use]
pub fn landlock_version() -> i32 {
    const VERSION: libc::c_uint = 1;
    let none = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the kernel takes no attributes and makes nothing.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, 0_usize, VERSION) };
    i32::try_from(version).unwrap_or(0).max(0)
}

/// Filters of calls are there.
#[must_use]
pub fn seccomp_is_there() -> bool {
    // The line is missing where the kernel was built without it.
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| status.contains("\nSeccomp_filters:"))
}

/// Runs `lisle __hold [--landlock-abi N] PROFILE -- PROGRAM ARG…`: `args` are those after [`WORD`]. Returns only when the
/// command could not be started: the sentence why, which is written to the standard error, and the exit status.
#[must_use]
pub fn hold_main(args: &[OsString]) -> i32 {
    if args == [TRY] {
        return try_all();
    }
    init::pass_nothing_on();
    let start = parse(args).and_then(|(profile, abi, command)| start(&profile, abi, &command));
    match start {
        Ok(NotStarted(status)) => status,
        Err(why) => say(&format!("lisle: {NOT_CLOSED_IN}: {why}"), 126),
    }
}

/// How the sentence of a command begins that was not started.
const NOT_CLOSED_IN: &str = "the command was not started, because it could not be closed in";

fn say(text: &str, status: i32) -> i32 {
    use std::io::Write;
    // Whoever started this may be gone; there is nobody else to tell.
    let _ = writeln!(std::io::stderr(), "{text}");
    status
}

fn parse(args: &[OsString]) -> Result<(Profile, ABI, Vec<OsString>), String> {
    let mut profile = Profile::Open;
    let mut abi = NEWEST;
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if profile.take(arg, &mut rest)? {
            continue;
        }
        match arg.to_str() {
            // For trying what holds on an older kernel.
            Some("--landlock-abi") => {
                let number = rest.next().and_then(|n| n.to_str()).and_then(|n| n.parse::<i32>().ok());
                abi = ABI::from(number.ok_or("--landlock-abi needs a number")?).min(NEWEST);
            }
            Some("--") => return Ok((profile, abi, rest.cloned().collect())),
            _ => return Err(format!("{WORD} does not know {}", arg.display())),
        }
    }
    Err(format!("{WORD} needs -- PROGRAM ARG…"))
}

/// Closes this process in, for good, and becomes the command.
fn start(profile: &Profile, asked: ABI, command: &[OsString]) -> Result<NotStarted, String> {
    let Some(bounds) = profile.bounds() else { return Ok(become_it(command)) };
    let abi = asked.min(ABI::from(landlock_version()));
    if abi < OLDEST {
        return Err("Landlock: this kernel has none, or one that is too old".to_owned());
    }
    let cwd = std::env::current_dir().map_err(|e| format!("the working directory is gone: {e}"))?;
    let role = if matches!(profile, Profile::ReadOnly(_)) { Role::Reads } else { Role::Writes };
    let offline = role == Role::Reads || bounds.network != Network::Open;
    let entered = match bounds.namespaces {
        Namespaces::Without => None,
        Namespaces::With => {
            let entered = mounts::enter(if offline { Net::Empty } else { Net::Shared })?;
            // Without them less is held than whoever asked for them counts on.
            Some(entered.ok_or("the system does not allow namespaces (any more)")?)
        }
    };
    let own_network = entered == Some(Net::Empty);
    let own_root = entered.is_some();
    if role == Role::Writes && bounds.network == Network::Proxy && !own_network {
        return Err("without a network of its own it could go around the proxy".to_owned());
    }
    if role == Role::Writes && own_network {
        inside::begin(if bounds.network == Network::Proxy { Way::Proxy } else { Way::None })?;
    }
    let setting = Setting { abi, own_root, offline: offline && !own_network };
    let close_in = |own_processes: bool| {
        let filters = match role {
            Role::Reads => calls::read_only(abi)?,
            Role::Writes => calls::workspace(
                abi,
                Reach {
                    internet: !offline || own_network,
                    // Abstract ones live in a network; those with a path are where the path is.
                    local: (abi >= ABI::V6 || own_network) && (abi >= ABI::V9 || own_root),
                    ipc: own_root,
                    processes: own_processes,
                },
            )?,
        };
        rights::give_up(profile)?;
        rules::apply(profile, setting)?;
        filters.iter().try_for_each(|filter| seccompiler::apply_filter(filter).map_err(|e| format!("seccomp: {e}")))
    };
    if !own_root {
        close_in(false)?;
        return Ok(become_it(command));
    }
    match init::begin()? {
        Side::Outer(ending) => ending.follow(),
        Side::Alone => {
            root::build(bounds, role, None, &cwd)?;
            close_in(false)?;
            Ok(become_it(command))
        }
        Side::First(first) => {
            root::build(bounds, role, Some(&first.processes), &cwd)?;
            close_in(true)?;
            first.start(|| become_it(command))
        }
    }
}

fn become_it(command: &[OsString]) -> NotStarted {
    let Some((program, arguments)) = command.split_first() else {
        return NotStarted(say("lisle: there is no command", 126));
    };
    let error = Command::new(program).args(arguments).exec();
    NotStarted(say(&format!("lisle: {} could not be started: {error}", program.display()), 126))
}

/// Tries everything that commands can get, one line for each: its name, and why not. The exit status tells whether they
/// get a root of their own.
fn try_all() -> i32 {
    use std::io::Write;
    let mut out = std::io::stdout();
    // Nobody who asks and does not listen is helped by an answer.
    let mut report = |name: &str, outcome: Result<(), String>| {
        let _ = writeln!(out, "{name} {}", outcome.err().unwrap_or_default());
    };
    mounts::try_each(&mut |name, outcome| report(name, outcome.map_err(|e| e.to_string())));
    let view = try_view();
    report("proc", view.clone().and_then(|own| if own { Ok(()) } else { Err("not allowed".to_owned()) }));
    report("root", view.clone().map(|_| ()));
    i32::from(view.is_err())
}

/// Makes a root in this process, which must end after it. True with processes of its own.
fn try_view() -> Result<bool, String> {
    if mounts::enter(Net::Shared)?.is_none() {
        return Err("the system does not allow namespaces".to_owned());
    }
    let bounds = super::Bounds { readable: vec!["/usr".into()], ..super::Bounds::default() };
    let here = Path::new("/");
    match init::begin()? {
        Side::Outer(ending) if ending.is_success() => Ok(true),
        Side::Outer(_) => Err("a root of its own cannot be made".to_owned()),
        Side::Alone => root::build(&bounds, Role::Writes, None, here).map(|()| false),
        Side::First(first) => {
            let status = match root::build(&bounds, Role::Writes, Some(&first.processes), here) {
                Ok(()) => 0,
                Err(why) => say(&why, 1),
            };
            first.start(|| NotStarted(status))
        }
    }
}
