//! Starts a gateway in the background: lisle itself, in a session of its own.

use super::dial::GatewayRoute;
use super::home::{GatewayFiles, HomeOwnership, Owner};
use super::methods::{self, Status};
use super::remote;
use crate::domain::sanitise::clean_line;
use crate::plain_file;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time for a gateway to listen.
const STARTS: Duration = Duration::from_secs(20);
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
/// Bytes of a log in which its last line is looked for.
const LOG_LENGTH: u64 = 10_000_000;

/// The own program, also when its file was replaced meanwhile.
fn program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok(PathBuf::from("/proc/self/exe")) } else { std::env::current_exe() }
}

/// Starts a gateway, unless one runs, and waits until it listens. `network`: arguments that say where else.
///
/// # Errors
/// Why it did not start, as a sentence without its end.
pub async fn in_background(
    files: &GatewayFiles,
    idle_exit: Option<Duration>,
    network: &[OsString],
) -> Result<Owner, String> {
    let failed = |error: io::Error| format!("can't start a gateway: {error}");
    let log = files.log_file();
    let end = Instant::now() + STARTS;
    let mut child = None;
    loop {
        match running(files)? {
            // One that was killed just now has the lock and the socket for some moments, and answers nobody.
            Some(owner) if answers(files).await => return Ok(owner),
            None if child.is_none() => child = Some(spawn(files, idle_exit, network).map_err(failed)?),
            Some(_) | None => {}
        }
        if let Some(child) = &mut child
            && let Ok(Some(status)) = child.try_wait()
            // Another one may have been faster.
            && running(files)?.is_none()
        {
            let why = last_line(&log).map_or_else(String::new, |line| format!(": {line}"));
            return Err(format!("the gateway ended at its start ({status}){why}; see {}", log.display()));
        }
        if Instant::now() > end {
            return Err(format!("the gateway does not listen after {} s: see {}", STARTS.as_secs(), log.display()));
        }
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
}

/// Last line that a gateway left in its log.
fn last_line(log: &Path) -> Option<String> {
    let text = String::from_utf8_lossy(&plain_file::read(log, LOG_LENGTH).ok()?).into_owned();
    let line = text.lines().rfind(|line| !line.trim().is_empty())?;
    let line = line.trim().strip_prefix("lisle: ").unwrap_or(line.trim());
    Some(clean_line(line.trim_end_matches('.')).into_owned())
}

/// True if the gateway that has the home answers.
async fn answers(files: &GatewayFiles) -> bool {
    remote::call::<Status>(&GatewayRoute::Socket(files.clone()), methods::STATUS, &()).await.is_ok()
}

/// Starts the process.
fn spawn(files: &GatewayFiles, idle_exit: Option<Duration>, network: &[OsString]) -> io::Result<Child> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(files.folder())?;
    let output = plain_file::append(&files.log_file())?;
    let mut command = Command::new(program()?);
    command.arg0("lisle").args(["serve", "--in-background"]).args(network);
    if let Some(limit) = idle_exit {
        command.arg("--idle-exit").arg(format!("{}s", limit.as_secs()));
    }
    // A screen that starts it must not give it what it was given itself: its terminal, and the tmux and ssh it runs in.
    for name in ["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY", "TMUX", "TMUX_PANE", "STY", "TERM"] {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(output).spawn()
}

fn running(files: &GatewayFiles) -> Result<Option<Owner>, String> {
    match files.ownership() {
        Ok(HomeOwnership::Here(owner)) => Ok(Some(owner)),
        Ok(HomeOwnership::Free) => Ok(None),
        Ok(HomeOwnership::Elsewhere(owner)) => Err(format!("the gateway of this home runs on {}", owner.host)),
        Err(error) => Err(format!("can't read the gateway's lock: {error}")),
    }
}

/// Leaves the terminal and the directory that this process was started in.
pub fn leave_terminal() {
    // The leader of a process group cannot begin a session; the parent made none of us.
    if let Err(error) = rustix::process::setsid() {
        tracing::warn!(%error, "the gateway stays in the session it was started in");
    }
    if let Err(error) = std::env::set_current_dir("/") {
        tracing::warn!(%error, "the gateway stays in the directory it was started in");
    }
}
