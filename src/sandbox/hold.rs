//! The last step before a command (`lisle __hold`): the process that is to become it closes itself in, and then becomes it.
//!
//! Landlock says which files may be written, seccomp which calls of the kernel may be made at all. Both stay with
//! everything that the command starts. If not all of it could be loaded, the command is not started. Which command is
//! closed in, and where it is not possible, is decided elsewhere.

use super::profile::Profile;
use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The first argument that makes lisle close itself in and become a command.
pub const WORD: &str = "__hold";

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
    rules.is_ok() && filters(OLDEST).is_ok() && seccomp_is_there()
}

fn seccomp_is_there() -> bool {
    // The line is missing where the kernel was built without it.
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| status.contains("\nSeccomp_filters:"))
}

/// Runs `lisle __hold [--landlock-abi N] PROFILE -- PROGRAM ARG…`: `args` are those after [`WORD`]. Returns only when the
/// command could not be started: the sentence why, which is written to the standard error, and the exit status.
#[must_use]
pub fn hold_main(args: &[OsString]) -> i32 {
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
        Err(why) => format!("the command was not started, because it could not be closed in: {why}"),
    };
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "lisle: {why}");
    126
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
fn close_in(profile: &Profile, abi: ABI) -> Result<(), String> {
    let Profile::ReadOnly { writable } = profile else { return Ok(()) };
    // Computed before the first step, so that nothing half done is run with.
    let filters = filters(abi)?;
    let error = |error: &dyn std::fmt::Display| format!("Landlock: {error}");
    let oldest = AccessFs::from_all(OLDEST);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(oldest)
        .map_err(|e| error(&e))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))
        .map_err(|e| error(&e))?;
    if abi >= ABI::V4 {
        rules = rules.handle_access(AccessNet::from_all(abi)).map_err(|e| error(&e))?;
    }
    if abi >= ABI::V6 {
        rules = rules.scope(Scope::from_all(abi)).map_err(|e| error(&e))?;
    }
    let mut rules = rules.create().map_err(|e| error(&e))?;
    let below = |path: &std::path::Path| PathFd::new(path);
    let root = below("/".as_ref()).map_err(|e| error(&e))?;
    rules = rules.add_rule(PathBeneath::new(root, AccessFs::from_read(abi))).map_err(|e| error(&e))?;
    if let Ok(null) = below("/dev/null".as_ref()) {
        rules = rules
            .add_rule(PathBeneath::new(null, AccessFs::from_file(abi) & !AccessFs::Execute))
            .map_err(|e| error(&e))?;
    }
    for path in writable {
        if let Ok(folder) = below(path) {
            // No devices or sockets are made there.
            let kinds = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::MakeSock;
            let access = AccessFs::from_all(abi) & !kinds;
            rules = rules.add_rule(PathBeneath::new(folder, access)).map_err(|e| error(&e))?;
        }
    }
    let status = rules.restrict_self().map_err(|e| error(&e))?;
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return Err("Landlock is not enforced by this kernel".to_owned());
    }
    for filter in &filters {
        seccompiler::apply_filter(filter).map_err(|e| format!("seccomp: {e}"))?;
    }
    Ok(())
}

/// The filters of calls: what is refused, what looks as if the kernel did not know it, and foreign call tables.
fn filters(abi: ABI) -> Result<Vec<BpfProgram>, String> {
    let arch: TargetArch =
        std::env::consts::ARCH.try_into().map_err(|_| format!("seccomp: no rules for {}", std::env::consts::ARCH))?;
    let compile = |rules, action| -> Result<BpfProgram, String> {
        SeccompFilter::new(rules, SeccompAction::Allow, action, arch)
            .and_then(TryInto::try_into)
            .map_err(|e| format!("seccomp: {e}"))
    };
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    if abi < ABI::V6 {
        // Newer rules keep signals among the command's own processes.
        refused.extend(SIGNALS.iter().map(|call| (*call, Vec::new())));
    }
    let mut when = |call: i64, conditions: Vec<SeccompCondition>| -> Result<(), String> {
        let rule = SeccompRule::new(conditions).map_err(|e| format!("seccomp: {e}"))?;
        refused.entry(call).or_default().push(rule);
        Ok(())
    };
    let has = |argument, bits: u32, value: u32| {
        SeccompCondition::new(
            argument,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::MaskedEq(u64::from(bits)),
            u64::from(value),
        )
        .map_err(|e| format!("seccomp: {e}"))
    };
    // Linux empties a file that is opened for reading with O_TRUNC; old rules do not see that.
    let (truncate, access) = (libc::O_TRUNC.cast_unsigned(), libc::O_ACCMODE.cast_unsigned());
    when(libc::SYS_openat, vec![has(2, truncate | access, truncate | libc::O_RDONLY.cast_unsigned())?])?;
    #[cfg(target_arch = "x86_64")]
    when(libc::SYS_open, vec![has(1, truncate | access, truncate | libc::O_RDONLY.cast_unsigned())?])?;
    // Namespaces would bring rights back that are refused here.
    for space in NAMESPACES {
        when(libc::SYS_clone, vec![has(0, space.cast_unsigned(), space.cast_unsigned())?])?;
    }
    // The limits of another process.
    let other = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0);
    when(libc::SYS_prlimit64, vec![other.map_err(|e| format!("seccomp: {e}"))?])?;
    // What is typed at a terminal.
    when(libc::SYS_ioctl, vec![has(1, u32::MAX, libc::TIOCSTI as u32)?])?;
    let unknown = UNKNOWN.iter().map(|call| (*call, Vec::new())).collect();
    let mut out = vec![
        compile(refused, SeccompAction::Errno(libc::EPERM.cast_unsigned()))?,
        // Whoever calls these has another way when the kernel is old.
        compile(unknown, SeccompAction::Errno(libc::ENOSYS.cast_unsigned()))?,
    ];
    if cfg!(target_arch = "x86_64") {
        out.push(no_x32());
    }
    Ok(out)
}

/// On x86-64 every call has a second number, for the x32 table, that the other filters do not name.
fn no_x32() -> BpfProgram {
    const LOAD_WORD: u16 = 0x20;
    const JUMP_GREATER_OR_EQUAL: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const X32: u32 = 0x4000_0000;
    let kill = u32::from(SeccompAction::KillProcess);
    let allow = u32::from(SeccompAction::Allow);
    vec![
        sock_filter { code: LOAD_WORD, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_GREATER_OR_EQUAL, jt: 0, jf: 1, k: X32 },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: kill },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: allow },
    ]
}

const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

/// Calls with a successor that cannot be looked into, because what it is to do lies behind a pointer.
const UNKNOWN: &[i64] = &[libc::SYS_clone3, libc::SYS_openat2, libc::SYS_io_uring_setup];

const SIGNALS: &[i64] = &[
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
];

/// Numbers that the library does not name yet; they are the same on all machines.
const FILE_SETATTR: i64 = 469;
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const OPEN_TREE_ATTR: i64 = 467;

const REFUSED: &[i64] = &[
    // The network, and other programs' sockets.
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    // Rights, owners, times and attributes, which Landlock does not hold.
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    FILE_SETATTR,
    libc::SYS_truncate,
    libc::SYS_fallocate,
    libc::SYS_mknodat,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_unshare,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_setpriority,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_ioprio_set,
    // Shared memory of other processes.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_semget,
    libc::SYS_msgget,
    // The kernel itself.
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_personality,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mknod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];
