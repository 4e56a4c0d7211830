//! The last step before a command: the process that is to become it closes itself in, and then becomes it. `lisle __run` makes
//! that process; `lisle __hold` does the same by itself, for trying what holds.
//!
//! In this order: namespaces (`mounts`), a first process for those of the command (`pid_namespace`), a file system that
//! holds the profile's places alone (`root_fs`), root's rights given up (`root_capabilities`), the rules of Landlock
//! (`landlock_rules`), the filters of calls (`seccomp`). Where the system allows no namespaces the last three hold alone. All of it stays with everything that the command
//! starts. What could not be done as a whole does not start the command. Which command is closed in is decided elsewhere.

#![allow(unsafe_code, reason = "the version of Landlock has no safe call that tells it")]

use super::landlock_rules::{self, NEWEST, OLDEST, Setting};
use super::mounts::{self, Net};
use super::pid_namespace::{self, Confined, Inside, NotStarted};
use super::root_capabilities;
use super::root_fs::{self, RootRole};
use super::seccomp::{self, SharedReach};
use crate::sandbox::profile::{Bounds, Namespaces, Network, Profile};
use crate::sandbox::proxy::inside::{self, WayOut};
use landlock::ABI;
use seccompiler::BpfProgram;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The first argument that makes lisle close itself in and become a command.
pub const WORD: &str = "__hold";
/// The only other argument of a process that tries what commands can get here, and ends.
pub(in crate::sandbox) const TRY: &str = "--try-namespaces";

/// True if this system can confine a command. Asks the kernel, and changes nothing.
#[must_use]
pub fn is_possible() -> bool {
    landlock_rules::are_possible() && seccomp::read_only(OLDEST).is_ok() && seccomp_is_there()
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
    pid_namespace::pass_nothing_on();
    crate::sandbox::own_process::keys::hide_arguments();
    match parse(args).and_then(|(profile, abi, command)| start(profile, abi, command)) {
        Ok(NotStarted(status)) => status,
        Err(why) => say(&format!("lisle: {NOT_CLOSED_IN}: {why}"), 126),
    }
}

/// Beginning of the sentence about a command that was not started.
const NOT_CLOSED_IN: &str = "command not started: sandbox setup failed";

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

/// Starts a command closed in, with the streams of this process, and ends like it.
fn start(profile: Profile, asked: ABI, command: Vec<OsString>) -> Result<NotStarted, String> {
    let held = HeldCommand::new(profile, asked, command, None)?;
    let Some(net) = held.wanted() else {
        held.close_in(&Inside { net: None, processes: None, queue: None })?;
        return Ok(held.become_it());
    };
    pid_namespace::start(Some(net), None, &held)?.wait()?.follow()
}

/// A command on its way: what closes it in, and what it becomes.
pub(in crate::sandbox) struct HeldCommand {
    profile: Profile,
    abi: ABI,
    command: Vec<OsString>,
    /// Variables; those of this process where there are none.
    environment: Option<Vec<(OsString, OsString)>>,
    cwd: PathBuf,
    /// Standard input of the command, where the way to the proxy has its place before.
    input: Option<OwnedFd>,
}

impl HeldCommand {
    /// A command by the newest rules that the kernel has, or by those of `asked`.
    ///
    /// # Errors
    /// A sentence when this kernel cannot hold commands, or there is no working directory.
    pub(in crate::sandbox) fn new(
        profile: Profile,
        asked: ABI,
        command: Vec<OsString>,
        environment: Option<Vec<(OsString, OsString)>>,
    ) -> Result<Self, String> {
        let abi = asked.min(ABI::from(landlock_version()));
        if abi < OLDEST && profile.bounds().is_some() {
            return Err("Landlock: this kernel has none, or one that is too old".to_owned());
        }
        let cwd = std::env::current_dir().map_err(|e| format!("the working directory is gone: {e}"))?;
        Ok(Self { profile, abi, command, environment, cwd, input: None })
    }

    /// The same with another standard input once the way to the proxy is made.
    pub(in crate::sandbox) fn with_input(self, input: Option<OwnedFd>) -> Self {
        Self { input, ..self }
    }

    /// Starts it with these streams.
    ///
    /// # Errors
    /// A sentence when it did not come to a process.
    pub(in crate::sandbox) fn start(
        &self,
        streams: pid_namespace::Streams<'_>,
    ) -> Result<pid_namespace::Child, String> {
        pid_namespace::start(self.wanted(), Some(streams), self)
    }

    fn role(&self) -> RootRole {
        if matches!(self.profile, Profile::ReadOnly(_)) { RootRole::Reads } else { RootRole::Writes }
    }

    /// True if it reaches nothing of the network, or only what a proxy lets through.
    fn is_offline(&self, bounds: &Bounds) -> bool {
        self.role() == RootRole::Reads || bounds.network != Network::Open
    }

    /// Root works in the system's own folders, and packages bring set-id files there.
    fn manages_the_system(&self, bounds: &Bounds) -> bool {
        rustix::process::geteuid().is_root()
            && bounds.writable.iter().any(|path| Path::new("/usr/bin").starts_with(path))
    }

    /// The network for its namespaces; `None` where it gets none.
    fn wanted(&self) -> Option<Net> {
        let bounds = self.profile.bounds().filter(|bounds| bounds.namespaces == Namespaces::With)?;
        Some(if self.is_offline(bounds) { Net::Empty } else { Net::Shared })
    }

    /// Reach into what it shares with other programs in these surroundings.
    fn filters(&self, bounds: &Bounds, inside: &Inside) -> Result<Vec<BpfProgram>, String> {
        let own_network = inside.net == Some(Net::Empty);
        let own_root = inside.net.is_some();
        match self.role() {
            RootRole::Reads => seccomp::read_only(self.abi),
            RootRole::Writes => seccomp::workspace(
                self.abi,
                SharedReach {
                    internet: !self.is_offline(bounds) || own_network,
                    // Abstract ones live in a network; those with a path are where the path is.
                    local: (self.abi >= ABI::V6 || own_network) && (self.abi >= ABI::V9 || own_root),
                    ipc: own_root,
                    processes: inside.processes.is_some(),
                    set_id: self.manages_the_system(bounds),
                },
            ),
        }
    }
}

impl Confined for HeldCommand {
    fn close_in(&self, inside: &Inside) -> Result<(), String> {
        let Some(bounds) = self.profile.bounds() else { return Ok(()) };
        let role = self.role();
        let own_network = inside.net == Some(Net::Empty);
        let own_root = inside.net.is_some();
        if role == RootRole::Writes && bounds.network == Network::Proxy && !own_network {
            return Err("without a network of its own it could go around the proxy".to_owned());
        }
        if role == RootRole::Writes && own_network {
            let way = if bounds.network == Network::Proxy { WayOut::Proxy } else { WayOut::None };
            inside::begin(way, self.input.as_ref())?;
        }
        let filters = self.filters(bounds, inside)?;
        if own_root {
            root_fs::build(bounds, role, inside, &self.cwd)?;
        }
        root_capabilities::give_up(&self.profile)?;
        let setting = Setting { abi: self.abi, own_root, offline: self.is_offline(bounds) && !own_network };
        landlock_rules::apply(&self.profile, setting)?;
        filters.iter().try_for_each(|filter| seccompiler::apply_filter(filter).map_err(|e| format!("seccomp: {e}")))
    }

    fn become_it(&self) -> NotStarted {
        let Some((program, arguments)) = self.command.split_first() else {
            return NotStarted(say("lisle: no command", 126));
        };
        crate::sandbox::own_process::descriptors::give_back();
        let mut command = Command::new(program);
        command.args(arguments);
        if let Some(environment) = &self.environment {
            command.env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
        }
        let error = command.exec();
        NotStarted(say(&format!("lisle: can't start {}: {error}", program.display()), 126))
    }

    fn fail(&self, why: &str) -> NotStarted {
        NotStarted(say(&format!("lisle: {NOT_CLOSED_IN}: {why}"), 126))
    }
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

/// Makes a root in a process that ends then. True with processes of its own.
fn try_view() -> Result<bool, String> {
    let child = pid_namespace::start(Some(Net::Shared), None, &Trial)?;
    let own_processes = child.word.is_some();
    match child.wait()?.code() {
        Some(0) => Ok(own_processes),
        _ => Err("a root of its own cannot be made".to_owned()),
    }
}

/// A process that gets a root and does nothing in it.
struct Trial;

impl Confined for Trial {
    fn close_in(&self, inside: &Inside) -> Result<(), String> {
        let bounds = Bounds { readable: vec!["/usr".into()], ..Bounds::default() };
        root_fs::build(&bounds, RootRole::Writes, inside, Path::new("/"))
    }

    fn become_it(&self) -> NotStarted {
        NotStarted(0)
    }

    fn fail(&self, why: &str) -> NotStarted {
        NotStarted(say(why, 1))
    }
}
