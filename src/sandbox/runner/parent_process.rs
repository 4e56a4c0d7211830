//! The parent of one command (`lisle __run`): starts it in a session of its own, passes its output on, holds it to its
//! limits, and ends everything that it started. The protocol is described in the module above.
//!
//! It is a subreaper: whatever the command starts, also behind a double fork and `setsid`, ends up as its descendant, and
//! as long as it has a child of any kind it is not done.

use super::child::{Main, begin};
use super::launch::{Order, OwnStreams};
use super::temp::{self, Temp};
use super::{environment, processes};
use crate::sandbox::working_folder::FolderNumber;
use crate::sandbox::{Ended, GRACE, Invocation, Profile, RunReport};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions};
use std::ffi::OsString;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

/// Grace period for processes that a command leaves running: a `tee` behind it still has to write.
const LEFTOVER_GRACE: Duration = Duration::from_millis(200);
/// After SIGKILL this long is waited; what is still there then hangs in the kernel or belongs to somebody else.
const KILL_PATIENCE: Duration = Duration::from_secs(3);
/// Bytes that wait here for lisle to take them; the command waits when there are more.
const MOST_WAITING: usize = 256 * 1024;
/// A pipe that is ready takes at least this many bytes without blocking (PIPE_BUF).
const PORTION: usize = 4096;
/// Interval of checks while processes are ending, or where there is no descriptor for a process's end.
const TICK: Duration = Duration::from_millis(10);

/// Runs `lisle __run`: `args` are those after [`crate::sandbox::WORD`]. What comes back is the exit status for the process.
///
/// It must be called before any thread is started and before anything is read from descriptor 0.
#[must_use]
pub fn parent_main(args: &[OsString]) -> i32 {
    let ready = become_a_parent();
    crate::sandbox::own_process::descriptors::remember();
    let order = if args == [super::launch::WAITS] {
        // Unbuffered: what comes after the order is for whoever holds the command.
        match std::io::stdin().as_fd().try_clone_to_owned().ok().and_then(|from| Order::take(std::fs::File::from(from)))
        {
            Some(order) => order.and_then(|mut order| {
                let streams = order.take_over(std::io::stdin().as_fd())?;
                go_to(&order.cwd, order.folder).map(|()| (order, streams))
            }),
            None => return 0,
        }
    } else {
        Invocation::parse(args).and_then(|invocation| {
            let cwd = std::env::current_dir().map_err(|e| format!("the working directory is gone: {e}"))?;
            let variables = environment::cleaned(std::env::vars_os(), &cwd);
            Ok((Order { cwd, folder: None, variables, invocation, talks: false }, None))
        })
    };
    #[cfg(target_os = "linux")]
    crate::sandbox::own_process::keys::hide_arguments();
    let parent = ready.and(order).and_then(|(order, streams)| start(&order, streams));
    let (report, remains) = match parent {
        Ok(parent) => {
            let (report, remains) = parent.see_it_through();
            (report, Some(remains))
        }
        Err(error) => {
            let ended = Ended::NotStarted;
            (
                RunReport { ended, exit: Some(127), signal: None, left: 0, stuck: 0, opened: None, error: Some(error) },
                None,
            )
        }
    };
    let line = serde_json::to_string(&report).unwrap_or_default();
    // lisle may be gone; there is nobody else to tell.
    let _ = writeln!(std::io::stderr(), "{line}");
    leave(remains);
    report.code().unwrap_or(125)
}

fn go_to(cwd: &Path, folder: Option<FolderNumber>) -> Result<(), String> {
    std::env::set_current_dir(cwd).map_err(|e| format!("can't enter the working directory {}: {e}", cwd.display()))?;
    folder.map_or(Ok(()), FolderNumber::check_current)
}

/// Remains of a command that is over, which the kernel takes its time to clear away.
struct Remains {
    /// Descriptor whose end the first process of a namespace waits for.
    first: Option<OwnedFd>,
    /// The process that is still to be waited for.
    last: Option<Pid>,
    /// Its watch of folders: closing one takes several milliseconds.
    main: Main,
}

/// Everything was said. lisle goes on while the kernel clears away the namespaces and watches of a command.
fn leave(remains: Option<Remains>) {
    let Some(Remains { first, last, main }) = remains else { return };
    drop(first);
    if let Ok(nothing) = std::fs::File::options().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&nothing);
        let _ = rustix::stdio::dup2_stderr(&nothing);
    }
    drop(main);
    let Some(last) = last else { return };
    while let Err(Errno::INTR) = rustix::process::waitpid(Some(last), WaitOptions::empty()) {}
}

/// Makes this process a fit parent.
fn become_a_parent() -> Result<(), String> {
    // EPERM: the leader of a process group cannot leave it; then it must at least lead its session.
    if let Err(e) = rustix::process::setsid()
        && rustix::process::getsid(None) != Ok(rustix::process::getpid())
    {
        return Err(format!("no new session could be started ({e}); it must not lead a process group"));
    }
    #[cfg(target_os = "linux")]
    crate::sandbox::linux::pid_namespace::pass_nothing_on();
    hold()
}

/// Starts the command.
fn start(order: &Order, streams: Option<OwnStreams>) -> Result<CommandParent, String> {
    let Order { cwd, variables, invocation: call, .. } = order;
    limit_memory(call.memory);
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
        .map_err(|e| format!("no pipe for the output: {e}"))?;
    rustix::io::ioctl_fionbio(&read, true).map_err(|e| format!("no pipe for the output: {e}"))?;
    let temp = match &call.profile {
        Profile::Open | Profile::Workspace(_) => None,
        Profile::ReadOnly(bounds) => Some(Temp::new(bounds, variables)?),
    };
    // An order names the variables that the command gets, among them keys that a rule gives it.
    let environment = match &call.profile {
        Profile::ReadOnly { .. } => environment::reading(variables.iter().cloned(), cwd),
        _ => variables.clone(),
    };
    let own_temp = match (&temp, &call.profile) {
        (Some(temp), _) => Some(temp.at.clone()),
        (None, Profile::Workspace(bounds)) => temp::instead(bounds, variables),
        (None, _) => None,
    };
    let own_temp = own_temp.map(|temp| ("TMPDIR".into(), temp.into()));
    let environment: Vec<(OsString, OsString)> = environment.into_iter().chain(own_temp).collect();
    let mut profile = call.profile.clone();
    if let Some(bounds) = profile.bounds_mut() {
        bounds.writable.extend(temp.iter().map(|temp| temp.at.clone()));
    }
    let main = begin(profile, &call.command, environment, (write, streams))?;
    Ok(CommandParent {
        main,
        output: Some(read),
        waiting: Vec::new(),
        passed: 0,
        limit: call.output_limit,
        deadline: Instant::now() + call.timeout,
        control_open: true,
        lisle_reads: true,
        status: None,
        last: None,
        first: None,
        phase: Phase::Running,
        left: 0,
        _temp: temp,
    })
}

#[cfg(target_os = "linux")]
fn hold() -> Result<(), String> {
    let me = rustix::process::getpid();
    rustix::process::set_child_subreaper(Some(me)).map_err(|e| format!("this process cannot adopt orphans: {e}"))?;
    // What it runs shall not look into it. Not essential, the environment holds no keys.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, none);
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn hold() -> Result<(), String> {
    Ok(())
}

/// Each process may use so much memory of its own. It counts for this one as well, which needs next to none.
#[cfg(target_os = "linux")]
fn limit_memory(bytes: Option<u64>) {
    let Some(bytes) = bytes else { return };
    let limit = rustix::process::Rlimit { current: Some(bytes), maximum: Some(bytes) };
    // A smaller limit that was there before cannot be raised, and holds.
    let _ = rustix::process::setrlimit(rustix::process::Resource::Data, limit);
}

#[cfg(not(target_os = "linux"))]
fn limit_memory(_: Option<u64>) {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The command runs.
    Running,
    /// Ended by itself, and something that it started goes on.
    Leftovers { since: Instant },
    /// Everything was asked to end.
    Asked { why: Ended, since: Instant },
    /// Everything is being killed.
    Killing { why: Ended, since: Instant },
}

struct CommandParent {
    main: Main,
    output: Option<OwnedFd>,
    waiting: Vec<u8>,
    passed: u64,
    limit: u64,
    deadline: Instant,
    control_open: bool,
    lisle_reads: bool,
    status: Option<(Option<i32>, Option<i32>)>,
    /// The first process of a namespace that has nothing left, and ends …
    last: Option<Pid>,
    /// … when this is closed: after the report, since its end takes longer.
    first: Option<OwnedFd>,
    phase: Phase,
    left: u32,
    /// Goes with this.
    _temp: Option<Temp>,
}

impl CommandParent {
    fn see_it_through(mut self) -> (RunReport, Remains) {
        loop {
            let alone = self.reap();
            let now = Instant::now();
            let over = self.step(alone, now);
            if over {
                break;
            }
            self.wait(now);
        }
        self.flush();
        let (ended, stuck) = match self.phase {
            Phase::Running | Phase::Leftovers { .. } => (Ended::Itself, 0),
            Phase::Asked { why, .. } | Phase::Killing { why, .. } => (why, commands().len()),
        };
        let (exit, signal) = self.status.unwrap_or((None, None));
        let stuck = u32::try_from(stuck).unwrap_or(u32::MAX);
        let report = RunReport { ended, exit, signal, left: self.left, stuck, opened: self.main.opened(), error: None };
        (report, Remains { first: self.first, last: self.last, main: self.main })
    }

    /// Takes in what ended. True when there is no child of any kind any more, or one alone that ends now.
    fn reap(&mut self) -> bool {
        if self.last.is_some() {
            return true;
        }
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    if pid == self.main.pid {
                        self.main_ended((status.exit_status(), status.terminating_signal()));
                    }
                }
                Ok(None) => return false,
                Err(Errno::INTR) => {}
                Err(_) => return true,
            }
        }
    }

    /// The command has ended, or the first process of its namespace: what that one said of the command counts, also where
    /// nobody has listened yet.
    fn main_ended(&mut self, status: (Option<i32>, Option<i32>)) {
        self.hear();
        (self.main.end, self.last) = (None, None);
        self.status.get_or_insert(status);
    }

    /// Goes to the next phase where it is time. True when all is over.
    fn step(&mut self, alone: bool, now: Instant) -> bool {
        if alone {
            return true;
        }
        match self.phase {
            Phase::Running => {
                if !self.control_open {
                    self.ask(Ended::Asked, now);
                } else if now >= self.deadline {
                    self.ask(Ended::Timeout, now);
                } else if self.passed > self.limit {
                    self.ask(Ended::Output, now);
                } else if self.status.is_some() {
                    self.phase = Phase::Leftovers { since: now };
                }
            }
            Phase::Leftovers { since } => {
                if !self.control_open || now >= since + LEFTOVER_GRACE {
                    self.left = u32::try_from(commands().len()).unwrap_or(u32::MAX);
                    self.ask(Ended::Itself, now);
                }
            }
            Phase::Asked { why, since } => {
                if now >= since + GRACE {
                    self.phase = Phase::Killing { why, since: now };
                    self.signal_all(Signal::KILL);
                }
            }
            Phase::Killing { since, .. } => {
                // Again each time: what was forked meanwhile is met, too.
                self.signal_all(Signal::KILL);
                return now >= since + KILL_PATIENCE;
            }
        }
        false
    }

    fn ask(&mut self, why: Ended, now: Instant) {
        self.phase = Phase::Asked { why, since: now };
        self.signal_all(Signal::TERM);
        // A stopped process takes its signal only when it goes on.
        self.signal_all(Signal::CONT);
    }

    fn signal_all(&self, signal: Signal) {
        processes::signal(&processes::own_descendants(), signal);
        // Without `/proc` the command's own group is what can be found.
        if cfg!(not(target_os = "linux")) {
            let _ = rustix::process::kill_process_group(self.main.pid, signal);
        }
    }

    /// Waits until something happens and moves output along.
    fn wait(&mut self, now: Instant) {
        let quick = !matches!(self.phase, Phase::Running) || self.main.end.is_none();
        let most = if quick { TICK } else { self.deadline.saturating_duration_since(now) };
        let look = self.main.look_again();
        let most = look.map_or(most, |look| most.min(look.saturating_duration_since(now)));
        let stdin = std::io::stdin();
        let stdout = std::io::stdout();
        let mut fds = Vec::with_capacity(4);
        let mut who = Vec::with_capacity(4);
        if self.control_open {
            fds.push(PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN));
            who.push(ReadySource::Control);
        }
        if let Some(output) = self.output.as_ref().filter(|_| self.waiting.len() < MOST_WAITING) {
            fds.push(PollFd::from_borrowed_fd(output.as_fd(), PollFlags::IN));
            who.push(ReadySource::Output);
        }
        if !self.waiting.is_empty() {
            fds.push(PollFd::from_borrowed_fd(stdout.as_fd(), PollFlags::OUT));
            who.push(ReadySource::Lisle);
        }
        if let Some(main) = &self.main.end {
            fds.push(PollFd::from_borrowed_fd(main.as_fd(), PollFlags::IN));
            who.push(ReadySource::Main);
        }
        #[cfg(target_os = "linux")]
        if let Some(events) = self.main.renewal.as_ref().and_then(crate::sandbox::linux::mount_renewal::Renewal::events)
        {
            fds.push(PollFd::from_borrowed_fd(events, PollFlags::IN));
            who.push(ReadySource::Renewal);
        }
        let ready: Vec<ReadySource> = match poll(&mut fds, timespec(most).as_ref()) {
            Ok(_) => fds.iter().zip(who).filter(|(fd, _)| !fd.revents().is_empty()).map(|(_, who)| who).collect(),
            Err(_) => Vec::new(),
        };
        drop(fds);
        let mut replaced = look.is_some_and(|look| look <= Instant::now());
        for who in ready {
            match who {
                // A byte and the end mean the same.
                ReadySource::Control => self.control_open = false,
                ReadySource::Output => self.take(),
                ReadySource::Lisle => self.give(),
                ReadySource::Main => self.hear(),
                ReadySource::Renewal => replaced = true,
            }
        }
        if replaced {
            self.main.renew();
        }
    }

    /// Takes in what the first process of a namespace says; the end of any other is seen by waiting for it.
    fn hear(&mut self) {
        #[cfg(target_os = "linux")]
        if let Some(end) = self.main.end.take_if(|_| self.main.speaks) {
            let Some(word) = crate::sandbox::linux::pid_namespace::heard(&end) else { return };
            self.status = Some((word.ending.code(), word.ending.signal()));
            if !word.leaves {
                (self.last, self.first) = (Some(self.main.pid), Some(end));
            }
        }
    }

    /// Takes output from the command.
    fn take(&mut self) {
        let mut buffer = [0; 16 * 1024];
        let Some(output) = &self.output else { return };
        match rustix::io::read(output, &mut buffer) {
            Ok(0) => self.output = None,
            Ok(count) => {
                let room = usize::try_from(self.limit.saturating_sub(self.passed)).unwrap_or(usize::MAX);
                self.passed += count as u64;
                if self.lisle_reads {
                    self.waiting.extend(buffer.iter().take(count.min(room)));
                }
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => self.output = None,
        }
    }

    /// Gives output to lisle.
    fn give(&mut self) {
        let portion = self.waiting.get(..PORTION.min(self.waiting.len())).unwrap_or_default();
        match rustix::io::write(std::io::stdout(), portion) {
            Ok(count) => {
                self.waiting.drain(..count.min(self.waiting.len()));
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => {
                self.waiting.clear();
                self.lisle_reads = false;
            }
        }
    }

    /// Passes on what is still in the pipe. Everything has ended, so this ends too; lisle's death ends it at once.
    fn flush(&mut self) {
        let until = Instant::now() + KILL_PATIENCE;
        loop {
            while self.output.is_some() && self.waiting.len() < MOST_WAITING {
                let before = self.passed;
                self.take();
                if self.passed == before {
                    self.output = None;
                }
            }
            if self.waiting.is_empty() || !self.lisle_reads {
                return;
            }
            let stdout = std::io::stdout();
            let mut fds = [PollFd::from_borrowed_fd(stdout.as_fd(), PollFlags::OUT)];
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            match poll(&mut fds, timespec(left).as_ref()) {
                Ok(0) => return,
                Ok(_) => self.give(),
                Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }
}

#[derive(Clone, Copy)]
enum ReadySource {
    Control,
    Output,
    Lisle,
    Main,
    /// A protected or masked place was replaced.
    Renewal,
}

/// Processes of the command: without the first process of its namespace, which is ours.
fn commands() -> Vec<i32> {
    let mut all = processes::own_descendants();
    all.retain(|pid| !processes::is_own_first(*pid));
    all
}

/// `None` would be for ever; too long a time is a day.
fn timespec(time: Duration) -> Option<Timespec> {
    // Rounded up, so that a deadline is over when poll comes back.
    let time = time.min(Duration::from_secs(86_400)) + Duration::from_millis(1);
    Timespec::try_from(time).ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_exit_status_is_that_of_the_command_however_fast_its_first_process_ends() {
        let (read, write) = rustix::pipe::pipe().unwrap();
        // Status 1 of a command that leaves nothing, as `waitpid` gives it.
        let [a, b, c, d] = 0x100_i32.to_ne_bytes();
        rustix::io::write(&write, &[b'E', a, b, c, d]).unwrap();
        drop(write);
        let pid = rustix::process::getpid();
        let mut parent = CommandParent {
            main: Main { pid, end: Some(read), speaks: true, openings: None, renewal: None },
            output: None,
            waiting: Vec::new(),
            passed: 0,
            limit: 0,
            deadline: Instant::now(),
            control_open: true,
            lisle_reads: true,
            status: None,
            last: None,
            first: None,
            phase: Phase::Running,
            left: 0,
            _temp: None,
        };
        parent.main_ended((Some(0), None));
        assert_eq!((parent.status, parent.last), (Some((Some(1), None)), None));
    }
}
