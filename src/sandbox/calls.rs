//! The calls of the kernel that a command closed in may not make, as filters of seccomp.
//!
//! Landlock holds files, mounts and foreign processes; what it does not see is refused here. Which filters a profile needs
//! follows from what Landlock's version of this kernel holds by itself.

use landlock::ABI;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
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

fn all(calls: &[i64]) -> Rules {
    calls.iter().map(|call| (*call, Vec::new())).collect()
}

fn when(rules: &mut Rules, call: i64, condition: SeccompCondition) -> Result<(), String> {
    let rule = SeccompRule::new(vec![condition]).map_err(|e| format!("seccomp: {e}"))?;
    rules.entry(call).or_default().push(rule);
    Ok(())
}

/// The argument's bits under `mask` are `value`.
fn has(argument: u8, mask: u32, value: u32) -> Result<SeccompCondition, String> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(u64::from(mask)), u64::from(value))
        .map_err(|e| format!("seccomp: {e}"))
}

/// Linux empties a file that is opened for reading with O_TRUNC; old rules of Landlock do not see that.
fn no_emptying(rules: &mut Rules) -> Result<(), String> {
    let (truncate, access) = (libc::O_TRUNC.cast_unsigned(), libc::O_ACCMODE.cast_unsigned());
    let reading = truncate | libc::O_RDONLY.cast_unsigned();
    when(rules, libc::SYS_openat, has(2, truncate | access, reading)?)?;
    #[cfg(target_arch = "x86_64")]
    when(rules, libc::SYS_open, has(1, truncate | access, reading)?)?;
    Ok(())
}

/// What a command shares with other programs, and may do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reach {
    /// Sockets of the internet.
    pub(super) internet: bool,
    /// Sockets of this machine. Where they would reach other programs' a pair of them that is made at once is left.
    pub(super) local: bool,
    /// System V's and POSIX' shared memory, semaphores and messages.
    pub(super) ipc: bool,
    /// Limits and priorities of any process that it knows of.
    pub(super) processes: bool,
}

/// For the read-only profile: what is refused, what looks as if the kernel did not know it, and foreign call tables.
pub(super) fn read_only(abi: ABI) -> Result<Vec<BpfProgram>, String> {
    let mut refused = all(SHARED);
    refused.extend(all(REFUSED));
    if abi < ABI::V6 {
        // Newer rules keep signals among the command's own processes.
        refused.extend(all(SIGNALS));
    }
    no_emptying(&mut refused)?;
    no_spaces_and_terminals(&mut refused)?;
    refused.extend(all(IPC));
    no_limits_of_others(&mut refused)?;
    Ok(vec![
        compile(refused, error(libc::EPERM))?,
        // Whoever calls these has another way when the kernel is old.
        compile(all(&[UNKNOWN, &[libc::SYS_openat2]].concat()), error(libc::ENOSYS))?,
        known_numbers(),
    ])
}

/// For the workspace profile.
pub(super) fn workspace(abi: ABI, reach: Reach) -> Result<Vec<BpfProgram>, String> {
    let mut refused = all(SHARED);
    let mut unknown = UNKNOWN.to_vec();
    if abi < ABI::V3 {
        refused.insert(libc::SYS_truncate, Vec::new());
        no_emptying(&mut refused)?;
        unknown.push(libc::SYS_openat2);
    }
    no_spaces_and_terminals(&mut refused)?;
    if !reach.ipc {
        refused.extend(all(IPC));
    }
    if !reach.processes {
        no_limits_of_others(&mut refused)?;
        refused.insert(libc::SYS_setpriority, vec![is_none_of(0, &[0])?, is_none_of(1, &[0])?]);
    }
    let mut out = vec![
        compile(refused, error(libc::EPERM))?,
        compile(all(&unknown), error(libc::ENOSYS))?,
        compile(families()?, error(libc::EAFNOSUPPORT))?,
        known_numbers(),
    ];
    if !reach.local {
        out.push(compile(no_local_sockets()?, error(libc::EACCES))?);
    }
    if !reach.internet {
        let mut rules = Rules::new();
        for family in [libc::AF_INET, libc::AF_INET6] {
            when(&mut rules, libc::SYS_socket, has(0, u32::MAX, family.cast_unsigned())?)?;
        }
        out.push(compile(rules, error(libc::ENETUNREACH))?);
    }
    Ok(out)
}

/// A process whose limits are set low is ended by the kernel.
fn no_limits_of_others(refused: &mut Rules) -> Result<(), String> {
    refused.insert(libc::SYS_prlimit64, vec![is_none_of(0, &[0])?]);
    Ok(())
}

fn error(number: i32) -> SeccompAction {
    SeccompAction::Errno(number.cast_unsigned())
}

/// The argument is none of these.
fn is_none_of(argument: u8, values: &[i32]) -> Result<SeccompRule, String> {
    let differs = |value: &i32| {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, u64::from(value.cast_unsigned()))
    };
    let conditions = values.iter().map(differs).collect::<Result<Vec<_>, _>>();
    conditions.and_then(SeccompRule::new).map_err(|e| format!("seccomp: {e}"))
}

/// Families of sockets that are not those of the internet, of this machine, or of routes and addresses: to the host of a
/// virtual machine, to devices nearby, to the kernel's own parts.
fn families() -> Result<Rules, String> {
    let mut rules = Rules::new();
    let known = [libc::AF_INET, libc::AF_INET6, libc::AF_UNIX, libc::AF_NETLINK];
    rules.insert(libc::SYS_socket, vec![is_none_of(0, &known)?]);
    rules.insert(libc::SYS_socketpair, vec![is_none_of(0, &[libc::AF_UNIX])?]);
    let kernel = has(0, u32::MAX, libc::AF_NETLINK.cast_unsigned())?;
    let other = SeccompCondition::new(
        2,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::Ne,
        u64::from(libc::NETLINK_ROUTE.cast_unsigned()),
    );
    let conditions = other.map(|other| vec![kernel, other]);
    let rule = conditions.and_then(SeccompRule::new).map_err(|e| format!("seccomp: {e}"))?;
    rules.entry(libc::SYS_socket).or_default().push(rule);
    Ok(rules)
}

/// Sockets that could reach those of other programs. One of a pair sends to others as well if it is one for datagrams, and
/// raw ones of this family are.
fn no_local_sockets() -> Result<Rules, String> {
    const TYPE: u32 = 0xf;
    let mut rules = Rules::new();
    when(&mut rules, libc::SYS_socket, has(0, u32::MAX, libc::AF_UNIX.cast_unsigned())?)?;
    for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW] {
        when(&mut rules, libc::SYS_socketpair, has(1, TYPE, kind.cast_unsigned())?)?;
    }
    Ok(rules)
}

/// Namespaces give rights to parts of the kernel that are root's otherwise, and bring back what is refused here; what is
/// typed at a terminal, its selection and its line rules are those of its user; a frozen file system stops everybody.
fn no_spaces_and_terminals(refused: &mut Rules) -> Result<(), String> {
    for space in NAMESPACES {
        when(refused, libc::SYS_clone, has(0, space.cast_unsigned(), space.cast_unsigned())?)?;
    }
    const TIOCLINUX: u32 = 0x541c;
    const FIFREEZE: u32 = 0xc004_5877;
    const FITHAW: u32 = 0xc004_5878;
    for request in [libc::TIOCSTI as u32, libc::TIOCCONS as u32, libc::TIOCSETD as u32, TIOCLINUX, FIFREEZE, FITHAW] {
        when(refused, libc::SYS_ioctl, has(1, u32::MAX, request)?)?;
    }
    Ok(())
}

/// The newest call that these lists were made for (`file_setattr`); from 424 on numbers are the same on all machines.
const NEWEST: u32 = 469;

/// What is newer than these lists looks as if the kernel did not know it. On x86-64 every call has a second number, for the
/// x32 table, that the other filters do not name: it ends the program.
fn known_numbers() -> BpfProgram {
    const LOAD_WORD: u16 = 0x20;
    const JUMP_GREATER: u16 = 0x25;
    const JUMP_GREATER_OR_EQUAL: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const X32: u32 = 0x4000_0000;
    let kill = u32::from(if cfg!(target_arch = "x86_64") { SeccompAction::KillProcess } else { error(libc::ENOSYS) });
    let unknown = u32::from(error(libc::ENOSYS));
    let allow = u32::from(SeccompAction::Allow);
    vec![
        sock_filter { code: LOAD_WORD, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_GREATER_OR_EQUAL, jt: 0, jf: 1, k: X32 },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: kill },
        sock_filter { code: JUMP_GREATER, jt: 0, jf: 1, k: NEWEST },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: unknown },
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

/// Calls with a successor or an elder that can be looked into, where what is to be done lies behind a pointer.
const UNKNOWN: &[i64] = &[libc::SYS_clone3, libc::SYS_io_uring_setup];

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
