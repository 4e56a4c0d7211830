//! Programs of sources: started through lisle's own runner, in a profile of their own, with the variables that their
//! configuration names and no others that look like keys.

use super::config::filled;
use super::log::SourceLog;
use super::surroundings::Surroundings;
use crate::domain::permission::Sandbox;
use crate::sandbox::places::{self, Moves, Site};
use crate::sandbox::proxy::names::System;
use crate::sandbox::proxy::{self, KnownHosts, Proxy, Refusals, Target};
use crate::sandbox::runner::environment::{self, For};
use crate::sandbox::runner::launch::{self, Order, Process, StartedServer};
use crate::sandbox::{Allowances, Invocation, Namespaces, Network, Profile, RunReport, own_folders, system_support};
use futures_util::future::BoxFuture;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

/// A server stays until lisle lets go of it.
const FOREVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
/// Limit for the last lines of a program that ended.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// Bytes of one line on a standard error.
const LONGEST_LINE: usize = 16 * 1024;

/// A program to start.
#[derive(Clone, Debug, Default)]
pub(super) struct ProgramOrder {
    pub(super) command: String,
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    /// Folders and files that it may read beside what commands read.
    pub(super) readable: Vec<PathBuf>,
    /// Folders that it may write beside its own.
    pub(super) writable: Vec<PathBuf>,
    /// The directory that it is started in.
    pub(super) cwd: PathBuf,
    /// Its own folder, which it may write.
    pub(super) own: PathBuf,
    /// Folder of its configuration, which may hold the program, too.
    pub(super) home: Option<PathBuf>,
}

/// A program that runs.
pub(super) struct RunningProgram {
    pub(super) input: pipe::Sender,
    pub(super) output: pipe::Receiver,
    pub(super) hold: ProgramHold,
    /// How it ended, once it has.
    pub(super) ended: oneshot::Receiver<String>,
    /// Paths that its profile covers.
    pub(super) covers: Option<Covers>,
}

/// Ends the program when it is dropped.
pub(super) struct ProgramHold {
    control: Arc<ControlSocket>,
    _proxy: Option<Proxy>,
    _process: Process,
}

enum ControlSocket {
    Plain(UnixStream),
    Proxied(Arc<tokio::net::UnixStream>),
}

impl Drop for ProgramHold {
    fn drop(&mut self) {
        let both = std::net::Shutdown::Both;
        // The parent hears that it is over, whoever else holds this end.
        let _ = match &*self.control {
            ControlSocket::Plain(socket) => socket.shutdown(both),
            ControlSocket::Proxied(socket) => {
                rustix::net::shutdown(&**socket, rustix::net::Shutdown::Both).map_err(Into::into)
            }
        };
    }
}

/// Starts a program.
///
/// # Errors
/// A sentence why it was not started.
pub(super) async fn start(
    order: ProgramOrder,
    around: &Arc<Surroundings>,
    log: &Arc<SourceLog>,
) -> Result<RunningProgram, String> {
    let (blocking, name) = (Arc::clone(around), order.command.clone());
    let started = tokio::task::spawn_blocking(move || begin(&order, &blocking)).await;
    let (server, proxied, known, covers) = started.map_err(|error| format!("Can't start {name}: {error}."))??;
    let running = wired(server, proxied, known, log).map_err(|error| format!("Can't start {name}: {error}."))?;
    Ok(RunningProgram { covers, ..running })
}

type Begun = (StartedServer, bool, Arc<KnownHosts>, Option<Covers>);

/// Paths that a profile hides, and those that it protects where anything of the project is written.
pub(super) type Covers = HashSet<PathBuf>;

/// Parts of a program's profile.
struct Prepared {
    program: PathBuf,
    named: Vec<PathBuf>,
    approved: Vec<PathBuf>,
    own_dirs: Vec<PathBuf>,
    allowances: Allowances,
    home: Option<PathBuf>,
    namespaces: Namespaces,
    variables: Vec<(OsString, OsString)>,
}

impl Prepared {
    fn of(order: &ProgramOrder, around: &Surroundings) -> Result<Self, String> {
        let mut allowances = (*around.allowances).clone();
        allowances.granted.writable = order.writable.clone();
        // What one source puts into a cache is run by no other one.
        allowances.private =
            allowances.private.as_ref().and_then(|_| own_folders::in_session(&order.own, "caches").ok());
        let variables = environment::cleaned_for(std::env::vars_os(), &order.cwd, For::default());
        let program = found(&order.command, &variables, &order.cwd)?;
        let named = parts(&program, &order.args, &order.cwd);
        allowances.granted.readable.extend(order.readable.iter().cloned());
        // Of a workspace in the project it sees what it is started with.
        let of_its_home = |path: &&PathBuf| order.home.as_ref().is_some_and(|home| path.starts_with(home));
        Ok(Self {
            program,
            approved: named.iter().filter(of_its_home).cloned().collect(),
            named,
            // A server belongs to no session, whose folder would say where the workspace is.
            own_dirs: own_folders::of_workspace(&around.own_dirs, &around.workspace),
            allowances,
            home: std::env::home_dir(),
            namespaces: system_support::spaces(&around.runner),
            variables,
        })
    }

    fn site<'a>(&'a self, order: &'a ProgramOrder) -> Site<'a> {
        Site {
            cwd: &order.cwd,
            session_dir: &order.own,
            own_dirs: &self.own_dirs,
            allowances: &self.allowances,
            named: &self.named,
            approved: &self.approved,
            moves: Moves::default(),
            home: self.home.as_deref(),
            namespaces: self.namespaces,
        }
    }

    fn profile(&self, order: &ProgramOrder, around: &Surroundings) -> Profile {
        match around.sandbox {
            Sandbox::None => Profile::Open,
            Sandbox::ReadOnly | Sandbox::Workspace => places::server(&self.site(order)),
        }
    }
}

/// Paths that the profile would hide and protect now; `None` where nothing closes the program in. Blocks.
pub(super) fn covers(order: &ProgramOrder, around: &Surroundings) -> Option<Covers> {
    let profile = Prepared::of(order, around).ok()?.profile(order, around);
    covers_of(&profile, order)
}

fn covers_of(profile: &Profile, order: &ProgramOrder) -> Option<Covers> {
    let bounds = profile.bounds().filter(|bounds| bounds.namespaces == Namespaces::With)?;
    let protected = bounds.protected.iter().filter(|_| !order.writable.is_empty());
    Some(bounds.masked.iter().chain(protected).cloned().collect())
}

fn begin(order: &ProgramOrder, around: &Surroundings) -> Result<Begun, String> {
    let data =
        own_folders::in_session(&order.own, "data").map_err(|why| format!("Can't prepare its folder: {why}."))?;
    let prepared = Prepared::of(order, around)?;
    let profile = prepared.profile(order, around);
    if let Some(count) = profile.bounds().and_then(places::too_many_hidden) {
        return Err(format!("{} holds too many secrets to hide them one by one ({count}).", order.cwd.display()));
    }
    let network = profile.bounds().map_or(Network::Open, |bounds| bounds.network.clone());
    if network == Network::Proxy
        && let Err(why) = system_support::own_network(&around.runner)
    {
        return Err(format!("sandbox.network = \"hosts\" needs namespaces, which this system does not allow ({why})."));
    }
    let mut variables = prepared.variables.clone();
    if profile.bounds().is_some() {
        let redirected = places::redirected(&prepared.site(order));
        variables.extend(redirected.into_iter().map(|(name, value)| (name.into(), value.into())));
    }
    let known = match network {
        Network::Proxy => Arc::new(KnownHosts::of(&order.cwd, &prepared.allowances.private_hosts, None)),
        Network::Open | Network::Off => Arc::default(),
    };
    if network == Network::Proxy {
        let proxied = proxy::environment(&known.direct());
        variables.extend(proxied.into_iter().map(|(name, value)| (name.into(), value.into())));
    }
    variables.push(("LISLE_SOURCE_DATA".into(), data.into_os_string()));
    variables.extend(order.env.iter().map(|(name, value)| (name.into(), value.into())));
    let mut command = vec![prepared.program.into_os_string()];
    command.extend(order.args.iter().map(OsString::from));
    let covers = covers_of(&profile, order);
    let memory = prepared.allowances.memory;
    let invocation = Invocation { timeout: FOREVER, output_limit: u64::MAX, memory, profile, command };
    let order = Order { cwd: order.cwd.clone(), folder: None, variables, invocation, talks: true };
    let server = launch::start_server(&around.runner, order)
        .map_err(|error| format!("Can't start it through {}: {error}.", around.runner.display()))?;
    Ok((server, network == Network::Proxy, known, covers))
}

/// The file of a program: a path as it is, a name by the search path that it gets.
fn found(command: &str, variables: &[(OsString, OsString)], cwd: &Path) -> Result<PathBuf, String> {
    let is_program = |path: &Path| path.is_file();
    if command.contains('/') {
        let path = cwd.join(command);
        return if is_program(&path) { Ok(path) } else { Err(format!("No program {command}.")) };
    }
    let path =
        variables.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone()).unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(command))
        .find(|path| is_program(path))
        .ok_or_else(|| format!("No program {command} on PATH. Install it, or give its path."))
}

/// Paths that a program needs to be itself: its file, files that its arguments name, and the packages that they lie in.
fn parts(program: &Path, args: &[String], cwd: &Path) -> Vec<PathBuf> {
    const MANIFESTS: &[&str] = &["package.json", "pyproject.toml", "setup.py", "deno.json"];
    let files = args.iter().filter(|arg| arg.contains('/')).map(|arg| cwd.join(arg)).filter(|path| path.is_file());
    let mut out = Vec::new();
    for file in std::iter::once(program.to_owned()).chain(files) {
        let real = file.canonicalize().unwrap_or_else(|_| file.clone());
        // The outermost one of nested packages holds what the inner ones import.
        let is_package = |folder: &&Path| MANIFESTS.iter().any(|name| folder.join(name).is_file());
        let package = real.ancestors().skip(1).filter(is_package).last();
        let beside = (file != program).then(|| real.parent()).flatten();
        out.extend(package.or(beside).map(Path::to_owned));
        out.extend([file, real]);
    }
    out
}

fn wired(
    server: StartedServer,
    proxied: bool,
    known: Arc<KnownHosts>,
    log: &Arc<SourceLog>,
) -> io::Result<RunningProgram> {
    let StartedServer { input, output, parent } = server;
    let input = pipe::Sender::from_owned_fd(input.into())?;
    let output = pipe::Receiver::from_owned_fd(output.into())?;
    let errors = pipe::Receiver::from_owned_fd(parent.output.into())?;
    let report = pipe::Receiver::from_owned_fd(parent.report.into())?;
    let (control, proxy) = if proxied {
        parent.control.set_nonblocking(true)?;
        let socket = Arc::new(tokio::net::UnixStream::from_std(parent.control)?);
        let gate = Arc::new(ServerGate { known, log: Arc::clone(log) });
        let proxy = Proxy::start(Arc::clone(&socket), gate, Arc::new(System), Refusals::default());
        (ControlSocket::Proxied(socket), Some(proxy))
    } else {
        (ControlSocket::Plain(parent.control), None)
    };
    let heard = tokio::spawn(listen(errors, Arc::clone(log)));
    let (say, ended) = oneshot::channel();
    tokio::spawn(async move {
        let how = ending(report).await;
        // Its last words come with its end; something that it left behind may hold the pipe open.
        let _ = tokio::time::timeout(LAST_WORDS, heard).await;
        // Whoever waited may have let go of it.
        let _ = say.send(how);
    });
    let hold = ProgramHold { control: Arc::new(control), _proxy: proxy, _process: parent.process };
    Ok(RunningProgram { input, output, hold, ended, covers: None })
}

/// Passes a standard error on to the log, whatever comes.
async fn listen(mut from: pipe::Receiver, log: Arc<SourceLog>) {
    let mut buffer = vec![0; 64 * 1024];
    let mut line: Vec<u8> = Vec::new();
    while let Ok(count) = from.read(&mut buffer).await {
        if count == 0 {
            break;
        }
        let mut lines = Vec::new();
        for byte in buffer.get(..count).unwrap_or_default() {
            if *byte == b'\n' {
                lines.push(String::from_utf8_lossy(&line).into_owned());
                line.clear();
            } else if line.len() < LONGEST_LINE {
                line.push(*byte);
            }
        }
        log.add("stderr", lines);
    }
    log.add("stderr", vec![String::from_utf8_lossy(&line).into_owned()]);
}

/// How the program ended, in a few words.
async fn ending(report: pipe::Receiver) -> String {
    let mut said = Vec::new();
    // A parent that was killed says nothing.
    let _ = report.take(64 * 1024).read_to_end(&mut said).await;
    match RunReport::parse(&String::from_utf8_lossy(&said)) {
        Some(RunReport { error: Some(error), .. }) => error,
        Some(report) => match (report.exit, report.signal) {
            (_, Some(signal)) => format!("signal {signal}"),
            (Some(code), None) => format!("exit {code}"),
            (None, None) => "ended".to_owned(),
        },
        None => "killed".to_owned(),
    }
}

/// Decides what a program reaches with `sandbox.network = "hosts"`: nobody is asked for it.
struct ServerGate {
    known: Arc<KnownHosts>,
    log: Arc<SourceLog>,
}

impl proxy::Gate for ServerGate {
    fn may_reach(&self, target: Target, private: bool) -> BoxFuture<'static, Result<(), String>> {
        let named = self.known.names_private(&target);
        let is_known = if private { named } else { named || self.known.why(&target).is_some() };
        if !is_known {
            self.log.add("lisle", vec![format!("not allowed by sandbox.network = \"hosts\": {target}")]);
        }
        let answer = if is_known { Ok(()) } else { Err("A source reaches known hosts alone.".to_owned()) };
        Box::pin(async move { answer })
    }
}

/// Folders that a configuration opens, with variables filled in.
///
/// # Errors
/// A sentence that names the variable that is not set, the path that is not absolute, or the link in the project.
pub(super) fn folders(
    written: &[String],
    cwd: &Path,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<PathBuf>, String> {
    let path = |text: &String| {
        let path = PathBuf::from(filled(text, variable)?);
        let path = if text == "." { cwd.to_owned() } else { path };
        if !path.is_absolute() {
            return Err(format!("`readable` and `writable` need absolute paths or \".\", not {text:?}."));
        }
        // A repository brings links to wherever it likes.
        match places::link_below(&path, cwd) {
            Some(link) => Err(format!("{} is a link. Name the folder that it leads to.", link.display())),
            None => Ok(path),
        }
    };
    written.iter().map(path).collect()
}
