//! The process of one command: started with its output into a pipe, behind the walls of its profile where it has any.

use super::launch::OwnStreams;
use super::processes;
#[cfg(target_os = "linux")]
use crate::sandbox::Namespaces;
use crate::sandbox::{Network, Profile};
use rustix::process::{Pid, Signal};
use std::ffi::OsString;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The process that a command is, or that starts it.
pub(in crate::sandbox) struct Main {
    pub(in crate::sandbox) pid: Pid,
    /// Becomes readable at the command's end; `None` where there is no such descriptor.
    pub(in crate::sandbox) end: Option<OwnedFd>,
    /// The descriptor also says how the command ended: the process is the first one of a namespace.
    pub(in crate::sandbox) speaks: bool,
    #[cfg(target_os = "linux")]
    pub(in crate::sandbox) openings: Option<crate::sandbox::linux::opened_masks::Openings>,
    #[cfg(target_os = "linux")]
    pub(in crate::sandbox) renewal: Option<crate::sandbox::linux::mount_renewal::Renewal>,
}

impl Main {
    /// Numbers of the masked places that it opened, where they were noted.
    pub(in crate::sandbox) fn opened(&self) -> Option<Vec<u32>> {
        #[cfg(target_os = "linux")]
        return self.openings.as_ref().map(crate::sandbox::linux::opened_masks::Openings::numbers);
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Time of the next look at its mounts, whatever happens until then.
    pub(in crate::sandbox) fn look_again(&self) -> Option<Instant> {
        #[cfg(target_os = "linux")]
        return self.renewal.as_ref().map(crate::sandbox::linux::mount_renewal::Renewal::due);
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Mounts what was replaced again; where that fails, everything ends, since nothing covers it any more.
    pub(in crate::sandbox) fn renew(&mut self) {
        #[cfg(target_os = "linux")]
        if self.renewal.as_mut().is_some_and(|renewal| !renewal.look()) {
            processes::signal(&processes::own_descendants(), Signal::KILL);
        }
    }
}

/// Starts the command with its output into `output`; with streams of its own that is its standard error alone.
pub(in crate::sandbox) fn begin(
    profile: Profile,
    command: &[OsString],
    environment: Vec<(OsString, OsString)>,
    (output, own): (OwnedFd, Option<OwnStreams>),
) -> Result<Main, String> {
    #[cfg(target_os = "linux")]
    if profile.bounds().is_some() {
        use crate::sandbox::linux::confine::HeldCommand;
        use crate::sandbox::linux::landlock_rules;
        use crate::sandbox::linux::mount_renewal::Renewal;
        use crate::sandbox::linux::opened_masks::Openings;
        use crate::sandbox::linux::pid_namespace::Streams;
        let why = |e: String| format!("sandbox setup failed: {e}");
        let proxied = profile.bounds().is_some_and(|bounds| bounds.network == Network::Proxy);
        let (own_input, own_output) = own.map(|own| (own.input, own.output)).unzip();
        // The way to the proxy takes the standard input until the command begins.
        let (input, later) = match own_input {
            Some(own) if !proxied => (own, None),
            later => (input(&profile)?, later),
        };
        let masks = profile.bounds().is_some_and(|bounds| !bounds.masked.is_empty());
        let openings = if masks { Openings::new() } else { None };
        // Without namespaces nothing is mounted, and the end of a watch would be waited for.
        let mounts = profile.bounds().filter(|bounds| bounds.namespaces == Namespaces::With);
        let renewal = mounts.map(Renewal::of);
        let mut numbers = profile.bounds().map(|bounds| bounds.held.numbers()).unwrap_or_default();
        numbers.extend(later.iter().map(AsRawFd::as_raw_fd));
        let held =
            HeldCommand::new(profile, landlock_rules::NEWEST, command.to_vec(), Some(environment)).map_err(why)?;
        let held = held.with_input(later);
        let queue = openings.as_ref().map(AsFd::as_fd);
        let written = own_output.as_ref().unwrap_or(&output);
        let (input, errors) = (input.as_fd(), output.as_fd());
        let streams = Streams { input, output: written.as_fd(), errors, queue, held: &numbers };
        let child = held.start(streams).map_err(why)?;
        let speaks = child.word.is_some();
        let renewal = renewal.and_then(|renewal| renewal.enter(child.spaces));
        return Ok(Main { pid: child.pid, end: child.word.or_else(|| end_of(child.pid)), speaks, openings, renewal });
    }
    #[cfg(not(target_os = "linux"))]
    let (program, arguments) = match profile.bounds() {
        Some(_) => crate::sandbox::seatbelt::line(&profile, command)?,
        None => apart(command)?,
    };
    #[cfg(target_os = "linux")]
    let (program, arguments) = apart(command)?;
    // This process needs few.
    crate::sandbox::own_process::descriptors::give_back();
    let (stdin, stdout) = match own {
        Some(own) => (own.input, own.output),
        None => (input(&profile)?, output.try_clone().map_err(|e| format!("no pipe for the output: {e}"))?),
    };
    let mut line = Command::new(&program);
    line.args(arguments)
        .env_clear()
        .envs(environment)
        .stdin(stdin)
        .stdout(Stdio::from(stdout))
        .stderr(Stdio::from(output))
        // A group of its own, so that `kill 0` in a script does not end its parent.
        .process_group(0);
    let child = line.spawn().map_err(|e| format!("can't start {}: {e}", program.display()))?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or("the command has no process number")?;
    Ok(Main {
        pid,
        end: end_of(pid),
        speaks: false,
        #[cfg(target_os = "linux")]
        openings: None,
        #[cfg(target_os = "linux")]
        renewal: None,
    })
}

fn apart(command: &[OsString]) -> Result<(OsString, Vec<OsString>), String> {
    let (program, arguments) = command.split_first().ok_or("no command")?;
    Ok((program.clone(), arguments.to_vec()))
}

/// Nothing; for a command that goes through the proxy the control socket, by which its listener is handed over before it
/// begins.
fn input(profile: &Profile) -> Result<OwnedFd, String> {
    if profile.bounds().is_some_and(|bounds| bounds.network == Network::Proxy) {
        let control = std::io::stdin().as_fd().try_clone_to_owned();
        return control.map_err(|e| format!("no way to the proxy: {e}"));
    }
    let nothing = std::fs::File::open("/dev/null").map(OwnedFd::from);
    nothing.map_err(|e| format!("/dev/null cannot be read: {e}"))
}

/// A descriptor that becomes readable when the process ends; `None` where there is none.
#[cfg(target_os = "linux")]
fn end_of(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn end_of(_: Pid) -> Option<OwnedFd> {
    None
}
