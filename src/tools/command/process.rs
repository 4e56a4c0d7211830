//! A command that runs: started through lisle's own program, read to its end, and ended when it is to end.
//!
//! Shared by `bash`, by what it leaves to the background, and by scripts that work on data.

use super::confinement::{self, Confinement, ForUser, NamedPlaces};
use crate::domain::ids::CallId;
use crate::domain::permission::Sandbox;
use crate::domain::rule::NETWORK;
use crate::domain::tool::{CallFacts, Outcome, Proposal, ToolFigures, Touch};
use crate::sandbox::proxy::names::System;
use crate::sandbox::proxy::{self, KnownHosts, Proxy, Target};
use crate::sandbox::runner::environment;
use crate::sandbox::runner::launch::{self, Order};
use crate::sandbox::runner::processes::kill_session;
use crate::sandbox::working_folder::WorkingFolder;
use crate::sandbox::{Ended, GRACE, Invocation, Network, RunReport};
use crate::tools::host::Host;
use crate::tools::input;
use crate::tools::protected_files::watch::Breaches;
use crate::tools::{CallPlace, Halt, RunError, StoppedRun};
use futures_util::future::BoxFuture;
use std::ffi::OsString;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStderr, ChildStdout};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// At most this often somebody hears of new output.
const TICK: Duration = Duration::from_millis(250);

/// Command to run.
pub(in crate::tools) struct CommandRun {
    /// The program by its absolute path, and its arguments.
    pub command: Vec<OsString>,
    /// Working directory.
    pub cwd: PathBuf,
    /// Time limit.
    pub timeout: Duration,
    /// Limit of output bytes.
    pub output_limit: u64,
    /// Places that its text names.
    pub told: NamedPlaces,
}

/// Receiver of the output.
pub(in crate::tools) trait Taker: Send {
    /// Takes bytes that came.
    fn take(&mut self, bytes: &[u8]) -> impl Future<Output = ()> + Send;
    /// Called a few times a second.
    fn tick(&mut self);
}

/// A command that was started.
pub(in crate::tools) struct Running {
    process: launch::Process,
    control: Control,
    output: ChildStdout,
    report: ChildStderr,
    held: Confinement,
    timeout: Duration,
    runner: PathBuf,
}

/// A command that is over.
pub(in crate::tools) struct Over {
    /// Report of its parent.
    pub report: Option<RunReport>,
    /// All that its parent said, for the case that this was no report.
    said: Vec<u8>,
    held: Confinement,
    timeout: Duration,
    /// True if it was asked to end.
    pub stopped: bool,
    /// It was ended because it made again what had been taken back.
    repeated: bool,
}

/// Starts a command. Blocks while the places of its profile are looked up, off the async threads. `host` decides on what
/// it wants of the network. Whoever stops it meanwhile does not wait: nothing is started then.
pub(in crate::tools) async fn start(
    place: &CallPlace,
    sandbox: Sandbox,
    line: CommandRun,
    host: &Arc<dyn Host>,
    (call, stop): (&CallId, &CancellationToken),
) -> Result<Running, Halt> {
    let site = place.clone();
    let CommandRun { command, cwd, timeout, output_limit, told } = line;
    let held = blocking(move || match site.fault() {
        Some(fault) => Err(fault),
        None => Ok(Confinement::new(site, sandbox, told)),
    });
    let held = tokio::select! {
        biased;
        () = stop.cancelled() => return Err(RunError::stopped("").into()),
        held = held => held?.map_err(Halt::Says)?,
    };
    if let Some(fault) = held.fault() {
        return Err(Halt::Says(fault));
    }
    let (memory, profile) = (place.allowances.memory, held.profile.clone());
    let shown = as_typed(&command);
    let invocation = Invocation { timeout, output_limit, memory, profile, command };
    let mut variables = variables(sandbox, place);
    variables.extend(held.variables.iter().map(|(name, value)| (name.into(), value.into())));
    if *held.network() == Network::Proxy {
        variables.extend(
            proxy::environment(&place.known.direct()).into_iter().map(|(name, value)| (name.into(), value.into())),
        );
    }
    // Of another directory than the session's nothing was noted.
    let folder = place.folder.as_ref().filter(|_| cwd == place.cwd).and_then(WorkingFolder::number);
    let order = Order { cwd: cwd.clone(), folder, variables, invocation, talks: false };
    let not_started = |e: std::io::Error| {
        format!("The command could not be started through {} in {}: {e}.", place.runner.display(), cwd.display())
    };
    let started = launch::start(&place.runner, &order).map_err(not_started)?;
    let output = ChildStdout::from_std(started.output).map_err(not_started)?;
    let report = ChildStderr::from_std(started.report).map_err(not_started)?;
    let control = match held.network() {
        Network::Open | Network::Off => Control { _proxy: None, socket: ControlSocket::Silent(started.control) },
        Network::Proxy => {
            started.control.set_nonblocking(true).map_err(not_started)?;
            let socket = Arc::new(tokio::net::UnixStream::from_std(started.control).map_err(not_started)?);
            let known = Arc::clone(&place.known);
            let gate = Arc::new(Gate { host: Arc::clone(host), known, call: call.clone(), command: shown });
            let proxy = Proxy::start(Arc::clone(&socket), gate, Arc::new(System), held.refusals.clone());
            Control { _proxy: Some(proxy), socket: ControlSocket::Proxy(socket) }
        }
    };
    let runner = place.runner.clone();
    Ok(Running { process: started.process, control, output, report, held, timeout, runner })
}

/// The environment of a command. Inside a sandbox what leads to the sockets of other programs goes along with those alone.
fn variables(sandbox: Sandbox, place: &CallPlace) -> Vec<(OsString, OsString)> {
    let granted = &place.allowances.granted;
    let sockets = (sandbox != Sandbox::None).then_some(granted.sockets.as_slice());
    environment::cleaned_for(std::env::vars_os(), &place.cwd, environment::For { named: &granted.env, sockets })
}

/// Guard that ends a command when it is dropped.
struct Control {
    _proxy: Option<Proxy>,
    socket: ControlSocket,
}

/// lisle's end of the socket whose end means that everything is to end.
enum ControlSocket {
    Silent(UnixStream),
    /// The proxy's listener comes through it.
    Proxy(Arc<tokio::net::UnixStream>),
}

impl Drop for Control {
    fn drop(&mut self) {
        // Whoever else holds this end: the other one hears that it is over.
        let both = rustix::net::Shutdown::Both;
        let _ = match &self.socket {
            ControlSocket::Silent(socket) => rustix::net::shutdown(socket, both),
            ControlSocket::Proxy(socket) => rustix::net::shutdown(socket, both),
        };
    }
}

/// Decides what a command reaches of the network.
struct Gate {
    host: Arc<dyn Host>,
    known: Arc<KnownHosts>,
    call: CallId,
    /// Name of the program that connects.
    command: String,
}

impl proxy::Gate for Gate {
    fn may_reach(&self, target: Target, private: bool) -> BoxFuture<'static, Result<(), String>> {
        let named = self.known.names_private(&target);
        let known = if private {
            named.then(|| "sandbox.private_hosts in config.toml".to_owned())
        } else {
            self.known.why(&target).or_else(|| named.then(|| "sandbox.private_hosts in config.toml".to_owned()))
        };
        let to = target.to_string();
        let facts = CallFacts {
            tool: NETWORK.to_owned(),
            subject: to.clone(),
            touches: vec![Touch::Connect { host: target.in_rules(), private, known }],
            proposal: Proposal::Connect { to, command: self.command.clone() },
            secrets_here: false,
            left_out: Vec::new(),
        };
        self.host.may_reach(self.call.clone(), facts)
    }
}

/// Name of the command in a question: the line that a shell was given, else its words.
fn as_typed(command: &[OsString]) -> String {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    match words.iter().rposition(|word| word == "-c") {
        Some(at) => words.get(at + 1..).unwrap_or_default().join(" "),
        None => words.join(" "),
    }
}

/// Looks at the disk off the async threads.
pub(in crate::tools) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Halt> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|e| Halt::Says(format!("The tool crashed: {e}. Try another way.")))
}

impl Running {
    /// News of what it makes while it runs.
    pub fn breaches(&self) -> Arc<Breaches> {
        self.held.breaches()
    }

    /// Reads it to its end. When `stop` comes, everything it started is ended.
    pub async fn see_it_through(self, taker: &mut impl Taker, stop: &CancellationToken) -> Over {
        let Running { mut process, control, output, report, held, timeout, runner } = self;
        let mut control = Some(control);
        let mut said = Vec::new();
        // The parent keeps to the time itself; this is for the case that it does not.
        let mut last_moment = Instant::now() + timeout + GRACE + Duration::from_secs(10);
        let (mut stopped, mut repeated) = (false, false);
        let breaches = held.breaches();
        {
            let collected = collect(output, report, taker, &mut said);
            tokio::pin!(collected);
            loop {
                tokio::select! {
                    () = &mut collected => break,
                    () = stop.cancelled(), if !stopped => {
                        stopped = true;
                        // Its end is the word to end everything.
                        drop(control.take());
                        last_moment = Instant::now() + GRACE + Duration::from_secs(4);
                    }
                    () = breaches.is_over.cancelled(), if !repeated && !stopped => {
                        repeated = true;
                        drop(control.take());
                        last_moment = Instant::now() + GRACE + Duration::from_secs(4);
                    }
                    () = tokio::time::sleep_until(last_moment) => break,
                }
            }
        }
        drop(control);
        let report = RunReport::parse(&String::from_utf8_lossy(&said));
        if report.is_none() {
            // The parent was killed or hangs: what it held must not go on.
            if let Some(pid) = process.id().and_then(|pid| i32::try_from(pid).ok()) {
                let _ = tokio::task::spawn_blocking(move || kill_session(pid)).await;
            }
            process.kill();
        }
        // It has said its last word, and is waited for elsewhere.
        drop(process);
        // Off the way of this command; the next one finds it.
        drop(tokio::task::spawn_blocking(move || launch::keep_ready(&runner)));
        Over { report, said, held, timeout, stopped, repeated }
    }
}

/// Reads both pipes to their ends.
async fn collect(
    mut output: impl AsyncRead + Unpin,
    report: impl AsyncRead + Unpin,
    taker: &mut impl Taker,
    said: &mut Vec<u8>,
) {
    let mut report = report.take(64 * 1024);
    let mut buffer = vec![0; 64 * 1024];
    let (mut output_open, mut report_open) = (true, true);
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    while output_open || report_open {
        tokio::select! {
            read = output.read(&mut buffer), if output_open => match read {
                Ok(0) | Err(_) => output_open = false,
                Ok(count) => taker.take(buffer.get(..count).unwrap_or_default()).await,
            },
            read = report.read_buf(said), if report_open => match read {
                Ok(0) | Err(_) => report_open = false,
                Ok(_) => {}
            },
            _ = tick.tick() => taker.tick(),
        }
    }
}

impl Over {
    /// The exit status as a shell gives it.
    pub fn code(&self) -> Option<i32> {
        self.report.as_ref().and_then(RunReport::code)
    }

    /// True if it ended by itself, and well.
    pub fn is_well(&self) -> bool {
        self.report.as_ref().is_some_and(|report| report.ended == Ended::Itself) && self.code() == Some(0)
    }

    /// Notes for the model besides the output, line by line; `exit N` is the last one. `output` is its end. Beside it
    /// what the user is to know.
    pub async fn told(self, output: String) -> Result<(String, ForUser), Halt> {
        let Over { report, said, held, timeout, repeated, .. } = self;
        let code = report.as_ref().and_then(RunReport::code);
        let opened = report.as_ref().and_then(|report| report.opened.clone());
        let notes =
            blocking(move || held.notes(&output, confinement::CommandEnd { code, opened: opened.as_deref() })).await?;
        let Some(report) = report else {
            let said = input::one_line(&String::from_utf8_lossy(&said), 300);
            let said = if said.is_empty() { String::new() } else { format!(" It said: {said}") };
            let text = format!(
                "The process that held the command ended before it.{said}\n{}exit unknown",
                lines(&notes.lines)
            );
            return Ok((text, notes.user));
        };
        let mut text = String::new();
        match report.ended {
            Ended::Itself => {}
            Ended::Timeout => {
                text.push_str(&format!("Ended because it took longer than {} s (timeout_s).\n", timeout.as_secs()));
            }
            Ended::Output => text.push_str("Ended because it wrote more than it may.\n"),
            Ended::Asked if repeated => text.push_str(
                "Stopped by lisle: it recreated files that configure or run code after they were restored.\n",
            ),
            Ended::Asked => text.push_str("Ended on request.\n"),
            Ended::NotStarted => {
                let why = report.error.clone().unwrap_or_default();
                text.push_str(&format!("Can't start the command: {why}.\n"));
            }
        }
        if report.left > 0 {
            text.push_str(&format!("(Left running and ended with it: {}.)\n", processes(report.left)));
        }
        if report.stuck > 0 {
            text.push_str(&format!("(Can't stop {}.)\n", processes(report.stuck)));
        }
        text.push_str(&lines(&notes.lines));
        match code {
            Some(code) => text.push_str(&format!("exit {code}")),
            None => text.push_str("exit unknown"),
        }
        Ok((text, notes.user))
    }

    /// End of a command that was stopped. Its changes of protected files do not stay either.
    pub async fn when_stopped(self, mut text: String) -> Result<RunError, Halt> {
        let held = self.held;
        let output = text.clone();
        let notes =
            blocking(move || held.notes(&output, confinement::CommandEnd { code: Some(0), opened: None })).await?;
        if !notes.lines.is_empty() {
            text.push_str(&format!("\n{}", lines(&notes.lines)));
        }
        Ok(RunError::Stopped(StoppedRun { text, protected: notes.user.protected }))
    }

    /// The result of a call that was nothing but this command.
    pub async fn outcome(self, mut text: String) -> Result<Outcome, Halt> {
        let lines = u64::try_from(text.lines().count()).ok().filter(|lines| *lines > 0);
        let not_started = self.report.as_ref().is_some_and(|report| report.ended == Ended::NotStarted);
        let (failed, exit) = (!self.is_well(), self.code());
        let (end, ForUser { protected, withheld }) = self.told(text.clone()).await?;
        if not_started {
            text.clear();
        } else if text.is_empty() {
            text.push_str("(no output)\n");
        } else if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&end);
        Ok(Outcome {
            failed,
            figures: ToolFigures { exit, lines, protected, withheld, ..ToolFigures::default() },
            ..Outcome::ok(text)
        })
    }
}

/// Notes, each in brackets.
fn lines(notes: &[String]) -> String {
    notes.iter().map(|note| format!("({note})\n")).collect()
}

fn processes(count: u32) -> String {
    if count == 1 { "1 process".to_owned() } else { format!("{count} processes") }
}

/// The shell with its arguments up to the command line, by absolute path and never `$SHELL`.
pub(in crate::tools) fn shell() -> Vec<&'static str> {
    match ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"].into_iter().find(|path| Path::new(path).exists()) {
        Some(bash) => vec![bash, "--noprofile", "--norc", "-c"],
        None => vec!["/bin/sh", "-c"],
    }
}
