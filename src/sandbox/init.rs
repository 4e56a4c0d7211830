//! Processes of a command's own: a namespace in which its processes are the only ones, with a first process of ours.
//!
//! Three processes take part. The *outer* one, which lisle started, waits and ends as the command ends. The *first* one of the
//! namespace closes itself in, starts the command, takes in processes that lost their parent, and ends when there are no
//! more; whatever ends it ends all of them. The third one is the command, which the kernel treats like any other process: a
//! first process would not take SIGTERM.
//!
//! ```text
//! lisle __run ── outer (lisle __hold) ── first (number 1) ── command (number 2)
//!                        ▲──── word ────────────┘
//! ```
//!
//! What the command leaves running stays below the first process, which goes on under `lisle __run` then.

#![allow(unsafe_code, reason = "forking and becoming the first process of a namespace have no safe form")]

use super::mounts;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions};
use std::os::fd::{FromRawFd, OwnedFd};

/// What a process is after [`begin`].
pub(super) enum Side {
    /// There is no namespace of its own for processes here; this process becomes the command.
    Alone,
    /// The first process.
    First(First),
    /// The command is over, and this is how; the process is to end like it.
    Outer(Ending),
}

/// The first process of a namespace, before it starts the command.
pub(super) struct First {
    /// Its `/proc`, to be attached.
    pub(super) processes: OwnedFd,
    word: OwnedFd,
}

/// How a process ended, as `waitpid` tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ending(i32);

/// The first process tells it when the command is over: something that it started still runs, or nothing does.
const LEFT: u8 = b'L';
const EMPTY: u8 = b'E';
/// The exit status of a first process that got no `/proc`.
const NO_PROCESSES: i32 = 120;

/// Divides this process, which is in its own mount namespace, into an outer and a first one.
///
/// # Errors
/// A sentence when that came to nothing and the process cannot go on.
pub(super) fn begin() -> Result<Side, String> {
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
        .map_err(|e| format!("no pipe to the first process: {e}"))?;
    let flags = libc::c_ulong::from((libc::CLONE_NEWPID | libc::SIGCHLD).cast_unsigned());
    let none = 0_usize;
    // A fork into a new namespace, as bubblewrap does it. `unshare` would leave no way back where `/proc` cannot be had.
    // SAFETY: this process has one thread, and no memory is shared.
    let child = unsafe { libc::syscall(libc::SYS_clone, flags, none, none, none, none) };
    let child = i32::try_from(child).unwrap_or(-1);
    if child < 0 {
        return Ok(Side::Alone);
    }
    if child == 0 {
        drop(read);
        // With the outer process everything ends, so nothing outlives a killed parent.
        let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
        return match mounts::processes() {
            Ok(processes) => Ok(Side::First(First { processes, word: write })),
            Err(_) => end(NO_PROCESSES),
        };
    }
    drop(write);
    outer(child, &read)
}

/// Waits for the command to end.
fn outer(first: i32, read: &OwnedFd) -> Result<Side, String> {
    // `lisle __run` sends its signals to every process of the command; this one only waits.
    let before = block_signals();
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    let mut said = [0_u8; 5];
    let mut filled = 0;
    while filled < said.len() {
        match rustix::io::read(read, said.get_mut(filled..).unwrap_or_default()) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(Errno::INTR) => {}
            Err(e) => return Err(format!("the first process says nothing: {e}")),
        }
    }
    let [kind, status @ ..] = said;
    if filled == said.len() && kind == LEFT {
        return Ok(Side::Outer(Ending(i32::from_ne_bytes(status))));
    }
    let ended = loop {
        match rustix::process::waitpid(Pid::from_raw(first), WaitOptions::empty()) {
            Ok(Some((_, status))) => break status.as_raw(),
            Ok(None) | Err(Errno::INTR) => {}
            Err(e) => return Err(format!("the first process is lost: {e}")),
        }
    };
    if filled == said.len() {
        return Ok(Side::Outer(Ending(i32::from_ne_bytes(status))));
    }
    if libc::WIFEXITED(ended) && libc::WEXITSTATUS(ended) == NO_PROCESSES {
        set_signals(&before);
        let _ = rustix::process::set_parent_process_death_signal(None);
        let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::Dumpable);
        return Ok(Side::Alone);
    }
    Ok(Side::Outer(Ending(ended)))
}

impl First {
    /// Starts the command by `become_it`, which returns only when that failed, and stays until nothing of it runs.
    pub(super) fn start(self, become_it: impl FnOnce() -> NotStarted) -> ! {
        // Nothing of this process can be read or steered by the command, which has the same user.
        let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
        // SAFETY: this process has one thread.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // A session of its own: the numbers of the one outside mean nothing in here.
            let _ = rustix::process::setsid();
            end(become_it().0);
        }
        if child < 0 {
            let _ =
                rustix::io::write(rustix::stdio::stderr(), b"lisle: the command was not started: no more processes\n");
            end(126);
        }
        let _ = rustix::thread::set_name(c"lisle-init");
        // The command's output has ended when the command's processes have ended.
        for fd in 0..3 {
            // SAFETY: nobody in this process uses these from here on.
            drop(unsafe { OwnedFd::from_raw_fd(fd) });
        }
        let word = self.word;
        loop {
            match rustix::process::wait(WaitOptions::empty()) {
                Ok(Some((pid, status))) if pid.as_raw_nonzero().get() == child => {
                    let more = matches!(rest(), Rest::Some);
                    let mut said = [if more { LEFT } else { EMPTY }; 5];
                    if let Some((_, tail)) = said.split_first_mut() {
                        tail.copy_from_slice(&status.as_raw().to_ne_bytes());
                    }
                    if more {
                        // The outer process ends now, and is not to take this one with it.
                        let _ = rustix::process::set_parent_process_death_signal(None);
                    }
                    let _ = rustix::io::write(&word, &said);
                }
                Ok(_) | Err(Errno::INTR) => {}
                // There is no child any more.
                Err(_) => end(0),
            }
        }
    }
}

/// A command could not be started, and the exit status for that.
pub(super) struct NotStarted(pub(super) i32);

enum Rest {
    Some,
    None,
}

/// Takes in what has ended already, and says whether anything goes on.
fn rest() -> Rest {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(None) => return Rest::Some,
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Err(_) => return Rest::None,
        }
    }
}

impl Ending {
    pub(super) fn is_success(self) -> bool {
        libc::WIFEXITED(self.0) && libc::WEXITSTATUS(self.0) == 0
    }

    /// Ends this process in the same way.
    pub(super) fn follow(self) -> ! {
        if libc::WIFSIGNALED(self.0) {
            let signal = libc::WTERMSIG(self.0);
            // SAFETY: takes numbers; what the signal does to this process is what it is sent for.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
                let mut set = std::mem::zeroed::<libc::sigset_t>();
                libc::sigemptyset(&raw mut set);
                libc::sigaddset(&raw mut set, signal);
                libc::sigprocmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
                libc::kill(libc::getpid(), signal);
            }
            end(128 + signal);
        }
        end(libc::WEXITSTATUS(self.0))
    }
}

fn end(status: i32) -> ! {
    // SAFETY: ends the process at once; nothing of it is written at the end that its sibling would write, too.
    unsafe { libc::_exit(status) }
}

fn block_signals() -> libc::sigset_t {
    // SAFETY: both sets are on the stack and live through the calls.
    unsafe {
        let mut all = std::mem::zeroed::<libc::sigset_t>();
        let mut before = std::mem::zeroed::<libc::sigset_t>();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        before
    }
}

fn set_signals(set: &libc::sigset_t) {
    // SAFETY: the set lives through the call.
    unsafe {
        libc::sigprocmask(libc::SIG_SETMASK, &raw const *set, std::ptr::null_mut());
    }
}

/// Descriptors that this process inherited beside the first three do not reach the command.
pub(super) fn pass_nothing_on() {
    const CLOSE_ON_EXEC: libc::c_uint = 4;
    // SAFETY: takes numbers alone, and closes nothing in this process. Kernels before 5.11 do not know it.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, CLOSE_ON_EXEC);
    }
}
