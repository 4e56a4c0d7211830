//! Processes of a command's own: a namespace in which its processes are the only ones, with a first process of ours.
//!
//! Three processes take part. The *parent*, which lisle started, makes the namespaces in one call and waits. The *first*
//! process of the namespace closes itself in, starts the command, takes in processes that lost their parent, and ends when
//! there are no more; whatever ends it ends all of them. The third one is the command, which the kernel treats like any other
//! process: a first process would not take SIGTERM.
//!
//! ```text
//! lisle __run ── first (number 1) ── command (number 2)
//!      ▲──── word ─────┘
//! ```
//!
//! Processes that the command leaves running stay below the first one. Nothing is executed anew on the way: starting lisle's own
//! program takes longer than all of the namespaces together.

#![allow(unsafe_code, reason = "forking and becoming the first process of a namespace have no safe form")]

use super::mounts::{self, Net, SpaceFiles, Spaces};
use crate::sandbox::runner::descriptor_passing;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, Signal, WaitOptions};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};

/// A process that was started to become a command.
#[derive(Debug)]
pub(in crate::sandbox) struct Child {
    /// The first process of a namespace, or the command itself where there is none for processes.
    pub(in crate::sandbox) pid: Pid,
    /// By what the first process tells how the command ended.
    pub(in crate::sandbox) word: Option<OwnedFd>,
    /// Namespaces, where it has some.
    pub(in crate::sandbox) spaces: Option<SpaceFiles>,
}

/// Descriptors that a process begins with in the place of its parent's.
#[derive(Clone, Copy, Debug)]
pub(in crate::sandbox) struct Streams<'a> {
    pub(in crate::sandbox) input: BorrowedFd<'a>,
    pub(in crate::sandbox) output: BorrowedFd<'a>,
    pub(in crate::sandbox) errors: BorrowedFd<'a>,
    /// Queue in which openings of masked places are noted; closed before the command begins.
    pub(in crate::sandbox) queue: Option<BorrowedFd<'a>>,
    /// Numbers of descriptors that it keeps until the command begins.
    pub(in crate::sandbox) held: &'a [RawFd],
}

/// Surroundings of a new process.
pub(in crate::sandbox) struct Inside {
    /// Network, where it has namespaces.
    pub(in crate::sandbox) net: Option<Net>,
    /// `/proc` to attach, where it is the first process of a namespace.
    pub(in crate::sandbox) processes: Option<OwnedFd>,
    /// Queue in which openings of masked places are noted.
    pub(in crate::sandbox) queue: Option<OwnedFd>,
}

/// A command could not be started, and the exit status for that.
pub(in crate::sandbox) struct NotStarted(pub(in crate::sandbox) i32);

/// Steps of a process on its way to the command.
pub(in crate::sandbox) trait Confined {
    /// Closes the process in. A sentence why that failed.
    fn close_in(&self, inside: &Inside) -> Result<(), String>;
    /// Becomes the command; returns only when that failed, which was said.
    fn become_it(&self) -> NotStarted;
    /// Says why it was not closed in.
    fn fail(&self, why: &str) -> NotStarted;
}

/// End of a process, as `waitpid` reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sandbox) struct Ending(i32);

/// Report of a first process when the command is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sandbox) struct LastWord {
    pub(in crate::sandbox) ending: Ending,
    /// Something that the command started goes on. If not the first process ends now.
    pub(in crate::sandbox) leaves: bool,
}

/// Tells that the first process has a `/proc` of its own.
const READY: u8 = b'P';
const LEFT: u8 = b'L';
const EMPTY: u8 = b'E';
/// The exit status of a first process that got no `/proc`.
const NO_PROCESSES: i32 = 120;

/// Starts a process that becomes `task`, in namespaces of its own if `wanted` names a network.
///
/// # Errors
/// A sentence when there is no such process.
pub(in crate::sandbox) fn start(
    wanted: Option<Net>,
    streams: Option<Streams<'_>>,
    task: &dyn Confined,
) -> Result<Child, String> {
    let no_process = |e: Errno| format!("no process could be made: {e}");
    let Some(net) = wanted else {
        return match clone(0).map_err(no_process)? {
            None => be_alone(None, streams, task),
            Some(pid) => Ok(Child { pid, word: None, spaces: None }),
        };
    };
    for spaces in mounts::spaces(net) {
        match start_first(spaces, streams, task)? {
            Attempt::Started(child) => return Ok(child),
            Attempt::NoProcesses => break,
            Attempt::Refused => {}
        }
    }
    // Without a namespace for processes: this kernel or container gives none, or no `/proc` for it.
    for spaces in mounts::spaces(net) {
        match clone(spaces.flags) {
            Ok(None) => be_alone(Some(spaces), streams, task),
            Ok(Some(pid)) => return Ok(Child { pid, word: None, spaces: None }),
            Err(_) => {}
        }
    }
    Err("the system does not allow namespaces (any more)".to_owned())
}

/// Outcome of starting a first process.
enum Attempt {
    Started(Child),
    /// No `/proc`, as in containers that hide parts of theirs: other namespaces would not change that.
    NoProcesses,
    Refused,
}

/// A process in namespaces, with one for processes.
fn start_first(spaces: Spaces, streams: Option<Streams<'_>>, task: &dyn Confined) -> Result<Attempt, String> {
    let (read, write) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
        .map_err(|e| format!("no way to the first process: {e}"))?;
    let Ok(cloned) = clone(spaces.flags | libc::CLONE_NEWPID) else { return Ok(Attempt::Refused) };
    let Some(pid) = cloned else {
        // It would hear itself where its parent has ended.
        drop(read);
        be_first(spaces, write, streams, task)
    };
    drop(write);
    loop {
        match descriptor_passing::receive_with_a_byte(read.as_fd()) {
            Ok(Some(fds)) => {
                return Ok(Attempt::Started(Child { pid, word: Some(read), spaces: SpaceFiles::arrived(fds) }));
            }
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            _ => break,
        }
    }
    let ended = wait_for(pid)?;
    if ended.code() == Some(NO_PROCESSES) {
        Ok(Attempt::NoProcesses)
    } else {
        Err("the first process ended at once".to_owned())
    }
}

/// A copy of this process with these flags: `None` in the copy.
fn clone(flags: libc::c_int) -> Result<Option<Pid>, Errno> {
    let flags = libc::c_ulong::from((flags | libc::SIGCHLD).cast_unsigned());
    let none = 0_usize;
    // A fork, into new namespaces where flags say so, as bubblewrap does it.
    // SAFETY: this process has one thread, and no memory is shared.
    let child = unsafe { libc::syscall(libc::SYS_clone, flags, none, none, none, none) };
    match i32::try_from(child) {
        Ok(0) => Ok(None),
        Ok(child) if child > 0 => Ok(Pid::from_raw(child)),
        _ => Err(Errno::from_raw_os_error(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EAGAIN))),
    }
}

/// The way of a process that becomes the command itself.
fn be_alone(spaces: Option<Spaces>, streams: Option<Streams<'_>>, task: &dyn Confined) -> ! {
    begin(streams);
    let queue = streams.and_then(|streams| keep_alone(None, streams.queue, streams.held).1);
    let ready = spaces.map_or(Ok(()), mounts::name_users);
    let inside = Inside { net: spaces.map(|spaces| spaces.net), processes: None, queue };
    let closed = ready.and_then(|()| task.close_in(&inside));
    drop(inside);
    let NotStarted(status) = match closed {
        Ok(()) => task.become_it(),
        Err(why) => task.fail(&why),
    };
    end(status)
}

/// The way of a first process.
fn be_first(spaces: Spaces, word: OwnedFd, streams: Option<Streams<'_>>, task: &dyn Confined) -> ! {
    // With the parent everything ends, so nothing outlives a killed one.
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    begin(streams);
    let (word, queue) = match streams {
        Some(streams) => keep_alone(Some(word), streams.queue, streams.held),
        None => (Some(word), None),
    };
    let Some(word) = word else { end(126) };
    let ready = mounts::name_users(spaces);
    let Ok(processes) = mounts::processes() else { end(NO_PROCESSES) };
    // The parent enters them by these files; later nobody can open them any more. Nobody who takes them: the parent ended
    // before its death was a signal.
    let files = SpaceFiles::own(spaces).unwrap_or_default();
    let sent = if files.is_empty() {
        rustix::net::send(&word, &[READY], rustix::net::SendFlags::NOSIGNAL).is_ok()
    } else {
        let files: Vec<BorrowedFd<'_>> = files.iter().map(AsFd::as_fd).collect();
        descriptor_passing::send(word.as_fd(), &files).is_ok()
    };
    if !sent {
        end(126);
    }
    drop(files);
    let inside = Inside { net: Some(spaces.net), processes: Some(processes), queue };
    if let Err(why) = ready.and_then(|()| task.close_in(&inside)) {
        end(task.fail(&why).0);
    }
    drop(inside);
    if streams.is_some_and(|streams| !streams.held.is_empty()) {
        close_range(word.as_raw_fd().saturating_add(1), RawFd::MAX);
    }
    stay(&word, task)
}

/// The first number behind those of the standard streams.
const FIRST: RawFd = 3;

/// Gives a new process its own streams.
fn begin(streams: Option<Streams<'_>>) {
    // The parent is closed to others, and its copy could not name its users that way.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::Dumpable);
    let Some(Streams { input, output, errors, .. }) = streams else { return };
    // A group of its own, so that `kill 0` in a script does not end its parent.
    let _ = rustix::process::setpgid(None, None);
    let copied = rustix::stdio::dup2_stdin(input)
        .and_then(|()| rustix::stdio::dup2_stdout(output))
        .and_then(|()| rustix::stdio::dup2_stderr(errors));
    if copied.is_err() {
        end(126);
    }
}

/// Closes what a new process has of its parent's beside the streams, these two and those that are held, which have higher
/// numbers.
fn keep_alone(
    word: Option<OwnedFd>,
    queue: Option<BorrowedFd<'_>>,
    held: &[RawFd],
) -> (Option<OwnedFd>, Option<OwnedFd>) {
    // Out of the way first: one may have the number that the other gets.
    let aside = |fd: BorrowedFd<'_>| rustix::io::fcntl_dupfd_cloexec(fd, FIRST + 2).map(IntoRawFd::into_raw_fd);
    let aside = |fd: BorrowedFd<'_>| aside(fd).unwrap_or_else(|_| end(126));
    let kept = [word.as_ref().map(|word| aside(word.as_fd())), queue.map(aside)];
    if let Some(word) = word {
        let _ = word.into_raw_fd();
    }
    let mut next = FIRST;
    let kept = kept.map(|number| {
        let number = number?;
        // SAFETY: whoever had this number in the parent is not asked in this process any more.
        if unsafe { libc::dup3(number, next, libc::O_CLOEXEC) } != next {
            end(126);
        }
        next += 1;
        Some(next - 1)
    });
    let mut held: Vec<RawFd> = held.to_vec();
    held.sort_unstable();
    for number in held.into_iter().chain([RawFd::MAX]) {
        if next < number {
            close_range(next, number.saturating_sub(1));
        }
        next = number.saturating_add(1);
    }
    // SAFETY: these numbers are those of the copies.
    let [word, queue] = kept.map(|number| number.map(|number| unsafe { OwnedFd::from_raw_fd(number) }));
    (word, queue)
}

/// Starts the command and stays until nothing of it runs.
fn stay(word: &OwnedFd, task: &dyn Confined) -> ! {
    // Nothing of this process can be read or steered by the command, which has the same user.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    let Ok(command) = start_command(task) else { end(task.fail("no more processes").0) };
    let _ = rustix::thread::set_name(c"lisle-init");
    // The command's output has ended when the command's processes have ended.
    for fd in 0..3 {
        // SAFETY: nobody in this process uses these from here on.
        drop(unsafe { OwnedFd::from_raw_fd(fd) });
    }
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == command => {
                let kind = if goes_on() { LEFT } else { EMPTY };
                let mut said = [kind; 5];
                if let Some((_, tail)) = said.split_first_mut() {
                    tail.copy_from_slice(&status.as_raw().to_ne_bytes());
                }
                let _ = rustix::io::write(word, &said);
            }
            Ok(_) | Err(Errno::INTR) => {}
            // There is no child any more. The end takes a moment, which would come before what the parent has to say: it
            // closes its side when that is done.
            Err(_) => {
                while rustix::io::read(word, &mut [0]) == Err(Errno::INTR) {}
                end(0)
            }
        }
    }
}

/// Bytes for the stack of a command's process until it is the command; the system gives what is used.
const STACK: usize = 1024 * 1024;

/// Starts the process that becomes the command. Until it does, or ends, it uses the memory of this process, which waits:
/// a copy of it would be made to be thrown away.
fn start_command(task: &dyn Confined) -> Result<Pid, Errno> {
    extern "C" fn run(task: *mut libc::c_void) -> libc::c_int {
        // A session of its own: the numbers of the one outside mean nothing in here.
        let _ = rustix::process::setsid();
        // SAFETY: points to what the caller has on its stack, and the caller waits.
        let task = unsafe { *task.cast::<&dyn Confined>() };
        end(task.become_it().0)
    }
    let mut stack: Vec<u128> = Vec::with_capacity(STACK / size_of::<u128>());
    let mut task = task;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // A `vfork`, as `posix_spawn` makes it.
    // SAFETY: the stack grows down from the end of memory that lives through the call, which returns when nobody uses it any
    // more. This process has one thread.
    let child = unsafe {
        let top = stack.as_mut_ptr().add(stack.capacity());
        libc::clone(run, top.cast(), flags, (&raw mut task).cast())
    };
    if child <= 0 {
        return Err(Errno::from_raw_os_error(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EAGAIN)));
    }
    Pid::from_raw(child).ok_or(Errno::AGAIN)
}

/// Takes in what has ended already, and says whether anything goes on.
fn goes_on() -> bool {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(None) => return true,
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Reads what a first process says at the command's end; `None` when it ended without a word, which ends the command too.
pub(in crate::sandbox) fn heard(word: &OwnedFd) -> Option<LastWord> {
    let mut said = [0_u8; 5];
    let mut filled = 0;
    while filled < said.len() {
        match rustix::io::read(word, said.get_mut(filled..).unwrap_or_default()) {
            Ok(0) => return None,
            Ok(count) => filled += count,
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    let [kind, status @ ..] = said;
    Some(LastWord { ending: Ending(i32::from_ne_bytes(status)), leaves: kind == LEFT })
}

/// Waits for the end of a child.
pub(in crate::sandbox) fn wait_for(pid: Pid) -> Result<Ending, String> {
    loop {
        match rustix::process::waitpid(Some(pid), WaitOptions::empty()) {
            Ok(Some((_, status))) => return Ok(Ending(status.as_raw())),
            Ok(None) | Err(Errno::INTR) => {}
            Err(e) => return Err(format!("a process is lost: {e}")),
        }
    }
}

impl Child {
    /// Waits for the end of the command.
    pub(in crate::sandbox) fn wait(self) -> Result<Ending, String> {
        // Signals are for the command; this one only waits.
        block_signals();
        let word = self.word.and_then(|word| heard(&word));
        match word {
            Some(word) if word.leaves => Ok(word.ending),
            Some(word) => wait_for(self.pid).map(|_| word.ending),
            None => wait_for(self.pid),
        }
    }
}

impl Ending {
    pub(in crate::sandbox) fn code(self) -> Option<i32> {
        libc::WIFEXITED(self.0).then(|| libc::WEXITSTATUS(self.0))
    }

    pub(in crate::sandbox) fn signal(self) -> Option<i32> {
        libc::WIFSIGNALED(self.0).then(|| libc::WTERMSIG(self.0))
    }

    /// Ends this process in the same way.
    pub(in crate::sandbox) fn follow(self) -> ! {
        let Some(signal) = self.signal() else { end(self.code().unwrap_or(126)) };
        // SAFETY: takes numbers; what the signal does to this process is what it is sent for.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            let mut set = std::mem::zeroed::<libc::sigset_t>();
            libc::sigemptyset(&raw mut set);
            libc::sigaddset(&raw mut set, signal);
            libc::sigprocmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
            libc::kill(libc::getpid(), signal);
        }
        end(128 + signal)
    }
}

fn end(status: i32) -> ! {
    // SAFETY: ends the process at once; nothing of it is written at the end that its parent would write, too.
    unsafe { libc::_exit(status) }
}

fn block_signals() {
    // SAFETY: the set is on the stack and lives through the calls.
    unsafe {
        let mut all = std::mem::zeroed::<libc::sigset_t>();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
    }
}

/// Descriptors that this process inherited beside the first three do not reach the command.
pub(in crate::sandbox) fn pass_nothing_on() {
    const CLOSE_ON_EXEC: libc::c_uint = 4;
    // SAFETY: takes numbers alone, and closes nothing in this process. Kernels before 5.11 do not know it.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, CLOSE_ON_EXEC);
    }
}

/// Closes what a new process has of its parent's between these numbers. Without this call (before Linux 5.9, which cannot
/// hold commands anyway) they close with the command's beginning.
fn close_range(first: RawFd, last: RawFd) {
    // SAFETY: nothing in this process uses these descriptors of its parent any more.
    unsafe {
        libc::syscall(libc::SYS_close_range, first.cast_unsigned(), last.cast_unsigned(), 0);
    }
}
