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

/// For the read-only profile: what is refused, what looks as if the kernel did not know it, and foreign call tables.
pub(super) fn read_only(abi: ABI) -> Result<Vec<BpfProgram>, String> {
    let mut refused = all(REFUSED);
    if abi < ABI::V6 {
        // Newer rules keep signals among the command's own processes.
        refused.extend(all(SIGNALS));
    }
    no_emptying(&mut refused)?;
    // Namespaces would bring rights back that are refused here.
    for space in NAMESPACES {
        when(&mut refused, libc::SYS_clone, has(0, space.cast_unsigned(), space.cast_unsigned())?)?;
    }
    // The limits of another process.
    let other = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0);
    when(&mut refused, libc::SYS_prlimit64, other.map_err(|e| format!("seccomp: {e}"))?)?;
    // What is typed at a terminal.
    when(&mut refused, libc::SYS_ioctl, has(1, u32::MAX, libc::TIOCSTI as u32)?)?;
    let mut out = vec![
        compile(refused, SeccompAction::Errno(libc::EPERM.cast_unsigned()))?,
        // Whoever calls these has another way when the kernel is old.
        compile(all(UNKNOWN), SeccompAction::Errno(libc::ENOSYS.cast_unsigned()))?,
    ];
    if cfg!(target_arch = "x86_64") {
        out.push(no_x32());
    }
    Ok(out)
}

/// Whose rights a command has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rights {
    /// Those of a user.
    User,
    /// All of the system's: what the kernel itself refuses a user must be refused here.
    Root,
}

/// For the workspace profile. Mostly none: what a user may do at all is held by Landlock, and programs for another call
/// table go on working.
pub(super) fn workspace(abi: ABI, rights: Rights) -> Result<Vec<BpfProgram>, String> {
    let mut refused = Rules::new();
    if abi < ABI::V3 {
        refused.insert(libc::SYS_truncate, Vec::new());
        no_emptying(&mut refused)?;
    }
    if rights == Rights::Root {
        refused.extend(all(KERNEL));
    }
    if refused.is_empty() {
        return Ok(Vec::new());
    }
    let mut out = vec![compile(refused, SeccompAction::Errno(libc::EPERM.cast_unsigned()))?];
    if cfg!(target_arch = "x86_64") {
        out.push(no_x32());
    }
    Ok(out)
}

/// On x86-64 every call has a second number, for the x32 table, that the other filters do not name.
pub(super) fn no_x32() -> BpfProgram {
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

/// What only root may do, and reaches past the rules of files: into another namespace, into the kernel, by handles.
const KERNEL: &[i64] = &[
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_chroot,
    libc::SYS_bpf,
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
    libc::SYS_fanotify_init,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];

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
