//! The last step before a command (`lisle __hold`): the process that is to become it closes itself in, and then becomes it.
//!
//! Landlock says which files may be written, `calls` which calls of the kernel may be made at all, `mounts` gives it a view
//! of its own of the file system where the system allows it. All of it stays with everything that the command starts. If
//! Landlock or the filters could not be loaded, the command is not started. Which command is closed in, and where it is not
//! possible, is decided elsewhere.

#![allow(unsafe_code, reason = "the version of Landlock has no safe call that tells it")]

use super::profile::{Bounds, Namespaces, Network, Profile};
use super::proxy::{self, inside::Way};
use super::{calls, mounts};
use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// The first argument that makes lisle close itself in and become a command.
pub const WORD: &str = "__hold";
/// The only other argument of a process that tries whether commands can get a view of their own, and ends.
pub(super) const TRY: &str = "--try-namespaces";

/// The newest rules that are asked for. What a kernel does not know of them is made up for by the filter of calls.
const NEWEST: ABI = ABI::V6;
/// Kernels without these rules cannot hold a command.
const OLDEST: ABI = ABI::V2;

/// This system can hold a command. Asks the kernel, and changes nothing.
#[must_use]
pub fn is_possible() -> bool {
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(OLDEST))
        .and_then(Ruleset::create);
    rules.is_ok() && calls::read_only(OLDEST).is_ok() && seccomp_is_there()
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
        return match mounts::try_all() {
            Ok(()) => 0,
            Err(why) => say(&why, 1),
        };
    }
    let why = match parse(args).and_then(|(profile, abi, command)| {
        close_in(&profile, abi)?;
        Ok(command)
    }) {
        Ok(command) => match command.split_first() {
            Some((program, arguments)) => {
                let error = Command::new(program).args(arguments).exec();
                format!("{} could not be started: {error}", program.display())
            }
            None => "there is no command".to_owned(),
        },
        Err(why) => format!("{NOT_CLOSED_IN}: {why}"),
    };
    say(&format!("lisle: {why}"), 126)
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

/// Closes this process in, for good.
fn close_in(profile: &Profile, asked: ABI) -> Result<(), String> {
    let Some(bounds) = profile.bounds() else { return Ok(()) };
    let abi = asked.min(ABI::from(landlock_version()));
    if abi < OLDEST {
        return Err("Landlock: this kernel has none, or one that is too old".to_owned());
    }
    let cwd = std::env::current_dir().map_err(|e| format!("the working directory is gone: {e}"))?;
    let with_view = bounds.namespaces == Namespaces::With;
    // Computed before the first step, so that nothing half done is run with.
    let (filters, terminals, net) = match profile {
        Profile::Workspace(_) => {
            let rights = if rustix::process::geteuid().is_root() { calls::Rights::Root } else { calls::Rights::User };
            let mut filters = calls::workspace(abi, rights)?;
            filters.extend(proxy::calls::filters(&bounds.network, bounds.namespaces)?);
            let net = match bounds.network {
                Network::Open => mounts::Net::Shared,
                Network::Proxy => mounts::Net::Own(Way::Proxy),
                Network::Off => mounts::Net::Own(Way::None),
            };
            (filters, mounts::Terminals::Own, net)
        }
        _ => (calls::read_only(abi)?, mounts::Terminals::None, mounts::Net::Empty),
    };
    if !with_view && bounds.network == Network::Proxy {
        return Err("without namespaces it has no network of its own, so the proxy could be gone around".to_owned());
    }
    let terminals = if with_view { mounts::arrange(bounds, terminals, net, &cwd)? } else { mounts::Terminals::None };
    let rules = match profile {
        Profile::Workspace(_) => workspace(bounds, terminals, abi),
        _ => read_only(bounds, abi),
    };
    let status = rules.and_then(RulesetCreated::restrict_self).map_err(|e| format!("Landlock: {e}"))?;
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return Err("Landlock is not enforced by this kernel".to_owned());
    }
    for filter in &filters {
        seccompiler::apply_filter(filter).map_err(|e| format!("seccomp: {e}"))?;
    }
    Ok(())
}

type Rules = Result<RulesetCreated, landlock::RulesetError>;

/// Rules by which everything can be read and nothing written. Signals go to the command's own processes alone.
fn reading(abi: ABI, net: AccessNetFor) -> Rules {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(OLDEST))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))?;
    if abi >= ABI::V4 && net == AccessNetFor::Nobody {
        rules = rules.handle_access(AccessNet::from_all(abi))?;
    }
    if abi >= ABI::V6 {
        rules = rules.scope(Scope::from_all(abi))?;
    }
    let mut rules = rules.create()?;
    if let Ok(root) = PathFd::new("/") {
        rules = rules.add_rule(PathBeneath::new(root, AccessFs::from_read(abi)))?;
    }
    Ok(rules)
}

/// Who may use the network.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AccessNetFor {
    Nobody,
    Everybody,
}

/// Adds a place that is there; a file takes the rights of files.
fn allow(rules: RulesetCreated, path: &Path, folder: landlock::BitFlags<AccessFs>, abi: ABI) -> Rules {
    let (Ok(meta), Ok(fd)) = (path.metadata(), PathFd::new(path)) else { return Ok(rules) };
    let access = if meta.is_dir() { folder } else { AccessFs::from_file(abi) & !AccessFs::Execute };
    rules.add_rule(PathBeneath::new(fd, access))
}

fn read_only(bounds: &Bounds, abi: ABI) -> Rules {
    let mut rules = allow(reading(abi, AccessNetFor::Nobody)?, Path::new("/dev/null"), AccessFs::from_read(abi), abi)?;
    for path in &bounds.writable {
        // No devices or sockets are made there.
        let kinds = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::MakeSock;
        rules = allow(rules, path, AccessFs::from_all(abi) & !kinds, abi)?;
    }
    Ok(rules)
}

/// Devices that programs write; what is not there is passed over. The graphics card is what programs compute with.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/shm",
    "/dev/dri",
    "/dev/kfd",
    "/dev/nvidiactl",
    "/dev/nvidia-uvm",
    "/dev/nvidia0",
    "/dev/nvidia1",
];

/// Terminals that the command makes. Without a view of its own they would be those of the user, too.
const TERMINALS: &[&str] = &["/dev/ptmx", "/dev/pts"];

fn workspace(bounds: &Bounds, terminals: mounts::Terminals, abi: ABI) -> Rules {
    let mut rules = reading(abi, AccessNetFor::Everybody)?;
    // A device that is made could be a disk.
    let access = AccessFs::from_all(abi) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    let terminals = if terminals == mounts::Terminals::Own { TERMINALS } else { &[] };
    for path in DEVICES.iter().chain(terminals).map(Path::new) {
        rules = allow(rules, path, access, abi)?;
    }
    for path in bounds.writable.iter().chain(&bounds.pinned) {
        rules = allow(rules, path, access, abi)?;
    }
    Ok(rules)
}
