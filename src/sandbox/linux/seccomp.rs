//! The calls of the kernel that a command closed in may not make, as filters of seccomp.
//!
//! Landlock holds files, mounts and foreign processes; what it does not see is refused here. Which filters a profile needs
//! follows from what Landlock's version of this kernel holds by itself. Most calls are refused by their number (`seccomp_numbers`),
//! some by their arguments; what lies behind a pointer is not seen by a filter, so calls that take all that way look as if
//! the kernel did not know them.

use super::seccomp_numbers;
use landlock::ABI;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};
use std::collections::BTreeMap;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn compile(rules: Rules, action: SeccompAction) -> Result<BpfProgram, String> {
    let arch: TargetArch =
        std::env::consts::ARCH.try_into().map_err(|_| format!("seccomp: no rules for {}", std::env::consts::ARCH))?;
    SeccompFilter::new(rules, SeccompAction::Allow, action, arch)
        .and_then(TryInto::try_into)
        .map_err(|e| format!("seccomp: {e}"))
}

/// Refused system calls: as a whole, or with certain arguments.
#[derive(Default)]
struct Refused {
    calls: seccomp_numbers::Refused,
    rules: Rules,
}

impl Refused {
    /// Calls that the process is not permitted.
    fn calls(&mut self, calls: &[i64]) {
        self.calls.extend(calls.iter().map(|call| (*call, libc::EPERM)));
    }

    /// Calls that the kernel seems not to know: whoever calls these has another way when the kernel is old.
    fn unknown(&mut self, calls: &[i64]) {
        self.calls.extend(calls.iter().map(|call| (*call, libc::ENOSYS)));
    }

    /// A call where all of these conditions hold.
    fn when(&mut self, call: i64, conditions: Vec<SeccompCondition>) -> Result<(), String> {
        when(&mut self.rules, call, conditions)
    }

    fn compiled(mut self) -> Result<Vec<BpfProgram>, String> {
        // A rule for a call that is refused anyway would say less.
        self.rules.retain(|call, _| !self.calls.contains_key(call));
        Ok(vec![seccomp_numbers::program(&self.calls), compile(self.rules, error(libc::EPERM))?])
    }
}

fn when(rules: &mut Rules, call: i64, conditions: Vec<SeccompCondition>) -> Result<(), String> {
    let rule = SeccompRule::new(conditions).map_err(|e| format!("seccomp: {e}"))?;
    rules.entry(call).or_default().push(rule);
    Ok(())
}

/// The argument's bits under `mask` are `value`.
fn has(argument: u8, mask: u32, value: u32) -> Result<SeccompCondition, String> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(u64::from(mask)), u64::from(value))
        .map_err(|e| format!("seccomp: {e}"))
}

/// Linux empties a file that is opened for reading with O_TRUNC; old rules of Landlock do not see that.
fn no_emptying(refused: &mut Refused) -> Result<(), String> {
    let (truncate, access) = (libc::O_TRUNC.cast_unsigned(), libc::O_ACCMODE.cast_unsigned());
    let reading = truncate | libc::O_RDONLY.cast_unsigned();
    refused.when(libc::SYS_openat, vec![has(2, truncate | access, reading)?])?;
    #[cfg(target_arch = "x86_64")]
    refused.when(libc::SYS_open, vec![has(1, truncate | access, reading)?])?;
    Ok(())
}

/// Resources that a command shares with other programs, and its rights to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sandbox) struct SharedReach {
    /// Sockets of the internet.
    pub(in crate::sandbox) internet: bool,
    /// Sockets of this machine. Where they would reach other programs' a pair of them that is made at once is left.
    pub(in crate::sandbox) local: bool,
    /// System V's and POSIX' shared memory, semaphores and messages.
    pub(in crate::sandbox) ipc: bool,
    /// Limits and priorities of any process that it knows of.
    pub(in crate::sandbox) processes: bool,
    /// Files that run with the rights of their owner or group.
    pub(in crate::sandbox) set_id: bool,
}

/// For the read-only profile.
pub(in crate::sandbox) fn read_only(abi: ABI) -> Result<Vec<BpfProgram>, String> {
    let mut refused = Refused::default();
    for list in [SHARED, REFUSED, IPC] {
        refused.calls(list);
    }
    if abi < ABI::V6 {
        // Newer rules keep signals among the command's own processes.
        refused.calls(SIGNALS);
    }
    refused.unknown(UNKNOWN);
    no_emptying(&mut refused)?;
    no_spaces_and_terminals(&mut refused)?;
    no_limits_of_others(&mut refused)?;
    no_set_id(&mut refused)?;
    refused.compiled()
}

/// Filters of the workspace profile.
pub(in crate::sandbox) fn workspace(abi: ABI, reach: SharedReach) -> Result<Vec<BpfProgram>, String> {
    let mut refused = Refused::default();
    refused.calls(SHARED);
    refused.unknown(UNKNOWN);
    if abi < ABI::V3 {
        refused.calls(&[libc::SYS_truncate]);
        no_emptying(&mut refused)?;
    }
    no_spaces_and_terminals(&mut refused)?;
    if !reach.ipc {
        refused.calls(IPC);
    }
    if !reach.processes {
        no_limits_of_others(&mut refused)?;
        // The first argument of these says what kind the second one is; neither names anybody but the caller.
        for call in [libc::SYS_setpriority, libc::SYS_ioprio_set] {
            refused.when(call, vec![is_not(1, 0)?])?;
        }
        refused.when(libc::SYS_setpriority, vec![is_not(0, 0)?])?;
        refused.when(libc::SYS_ioprio_set, vec![is_not(0, 1)?])?;
        for call in SCHEDULES {
            refused.when(*call, vec![is_not(0, 0)?])?;
        }
    }
    if !reach.set_id {
        no_set_id(&mut refused)?;
    }
    let mut out = refused.compiled()?;
    out.push(compile(families()?, error(libc::EAFNOSUPPORT))?);
    if !reach.local {
        out.push(compile(no_local_sockets()?, error(libc::EACCES))?);
    }
    if !reach.internet {
        let mut rules = Rules::new();
        for family in [libc::AF_INET, libc::AF_INET6] {
            when(&mut rules, libc::SYS_socket, vec![has(0, u32::MAX, family.cast_unsigned())?])?;
        }
        out.push(compile(rules, error(libc::ENETUNREACH))?);
    }
    Ok(out)
}

/// A process whose limits are set low is ended by the kernel.
fn no_limits_of_others(refused: &mut Refused) -> Result<(), String> {
    refused.when(libc::SYS_prlimit64, vec![is_not(0, 0)?])
}

/// Files that run with the rights of their owner or group would be a way for somebody else to get those. Folders cannot be
/// told from files here, so they do not get such a group either.
fn no_set_id(refused: &mut Refused) -> Result<(), String> {
    /// `__O_TMPFILE`: the flag without that of folders.
    const TEMPORARY: u32 = 0o20_000_000;
    for bit in [libc::S_ISUID, libc::S_ISGID] {
        for (call, mode) in MODES {
            refused.when(*call, vec![has(*mode, bit, bit)?])?;
        }
        // The mode counts where a file is made.
        for (call, flags) in OPENS {
            for makes in [libc::O_CREAT.cast_unsigned(), TEMPORARY] {
                refused.when(*call, vec![has(*flags, makes, makes)?, has(*flags + 1, bit, bit)?])?;
            }
        }
    }
    Ok(())
}

/// Calls that give a file a mode, and the number of the argument.
const MODES: &[(i64, u8)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (libc::SYS_fchmodat2, 2),
    (libc::SYS_mknodat, 2),
    (libc::SYS_mkdirat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mkdir, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
];

/// Calls that open or make a file, and the number of the argument with their flags; the mode is the next one.
const OPENS: &[(i64, u8)] = &[
    (libc::SYS_openat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1),
];

fn error(number: i32) -> SeccompAction {
    SeccompAction::Errno(number.cast_unsigned())
}

/// The argument is another one.
fn is_not(argument: u8, value: i32) -> Result<SeccompCondition, String> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, u64::from(value.cast_unsigned()))
        .map_err(|e| format!("seccomp: {e}"))
}

/// The argument is none of these.
fn is_none_of(argument: u8, values: &[i32]) -> Result<SeccompRule, String> {
    let conditions = values.iter().map(|value| is_not(argument, *value)).collect::<Result<Vec<_>, _>>()?;
    SeccompRule::new(conditions).map_err(|e| format!("seccomp: {e}"))
}

/// Families of sockets that are not those of the internet, of this machine, or of routes and addresses: to the host of a
/// virtual machine, to devices nearby, to the kernel's own parts.
fn families() -> Result<Rules, String> {
    let mut rules = Rules::new();
    let known = [libc::AF_INET, libc::AF_INET6, libc::AF_UNIX, libc::AF_NETLINK];
    rules.insert(libc::SYS_socket, vec![is_none_of(0, &known)?]);
    rules.insert(libc::SYS_socketpair, vec![is_none_of(0, &[libc::AF_UNIX])?]);
    let kernel = has(0, u32::MAX, libc::AF_NETLINK.cast_unsigned())?;
    when(&mut rules, libc::SYS_socket, vec![kernel, is_not(2, libc::NETLINK_ROUTE)?])?;
    Ok(rules)
}

/// Sockets that could reach those of other programs. One of a pair sends to others as well if it is one for datagrams, and
/// raw ones of this family are.
fn no_local_sockets() -> Result<Rules, String> {
    const TYPE: u32 = 0xf;
    let mut rules = Rules::new();
    when(&mut rules, libc::SYS_socket, vec![has(0, u32::MAX, libc::AF_UNIX.cast_unsigned())?])?;
    for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW] {
        when(&mut rules, libc::SYS_socketpair, vec![has(1, TYPE, kind.cast_unsigned())?])?;
    }
    Ok(rules)
}

/// Namespaces give rights to parts of the kernel that are root's otherwise, and bring back what is refused here; what is
/// typed at a terminal, its selection and its line rules are those of its user; a frozen file system stops everybody.
fn no_spaces_and_terminals(refused: &mut Refused) -> Result<(), String> {
    for space in NAMESPACES {
        refused.when(libc::SYS_clone, vec![has(0, space.cast_unsigned(), space.cast_unsigned())?])?;
    }
    const TIOCLINUX: u32 = 0x541c;
    const FIFREEZE: u32 = 0xc004_5877;
    const FITHAW: u32 = 0xc004_5878;
    for request in [libc::TIOCSTI as u32, libc::TIOCCONS as u32, libc::TIOCSETD as u32, TIOCLINUX, FIFREEZE, FITHAW] {
        refused.when(libc::SYS_ioctl, vec![has(1, u32::MAX, request)?])?;
    }
    Ok(())
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

/// Calls with a successor or an elder that can be looked into, where what is to be done lies behind a pointer.
const UNKNOWN: &[i64] = &[libc::SYS_clone3, libc::SYS_io_uring_setup, libc::SYS_openat2];

/// When a process runs, which is the first argument.
const SCHEDULES: &[i64] =
    &[libc::SYS_sched_setaffinity, libc::SYS_sched_setscheduler, libc::SYS_sched_setparam, libc::SYS_sched_setattr];

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

/// Refused to every command: mounts and namespaces, what reaches into the kernel or past the rules of files, and what would
/// be the whole machine's. Most of it is root's alone, but rights come back in namespaces, and root's are only given up.
const SHARED: &[i64] = &[
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
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
    libc::SYS_kexec_file_load,
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
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_pidfd_getfd,
    libc::SYS_lookup_dcookie,
    libc::SYS_nfsservctl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];

/// Shared memory, semaphores and messages of other processes.
const IPC: &[i64] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Refused beside to what only reads.
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
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_setpriority,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_ioprio_set,
    // The kernel itself.
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
];
