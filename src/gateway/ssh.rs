//! Line to the gateway of another machine: the user's own ssh runs `lisle gateway stdio` there.

use super::dial::{Attempt, DialError, Dialed};
use super::stdio::MARKER;
use crate::domain::sanitise::clean_line;
use std::io::Write;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tokio::task::JoinHandle;

/// Lines of a shell's greeting at most, and bytes of each.
const GREETING_LINES: usize = 500;
const GREETING_BYTES: u64 = 256 << 10;
/// Time for a line that nobody is asked for.
const AGAIN: Duration = Duration::from_secs(30);
/// Time for what a program said that has ended.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How a machine is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshCommand {
    host: String,
    lisle: String,
}

impl SshCommand {
    /// A host as ssh takes it, and the command that is lisle there.
    ///
    /// # Errors
    /// A host that ssh would take for an option, or that is none.
    pub fn new(host: &str, lisle: Option<&str>) -> Result<Self, String> {
        if host.is_empty() || host.starts_with('-') || host.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(format!("{host:?} is no host: write HOST, USER@HOST or a name of ~/.ssh/config"));
        }
        Ok(Self { host: host.to_owned(), lisle: lisle.unwrap_or("lisle").to_owned() })
    }

    /// Name for people.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    fn arguments(&self, attempt: Attempt) -> Vec<String> {
        let mut all = vec!["-T".to_owned()];
        if attempt == Attempt::Again {
            all.extend(["-o".to_owned(), "BatchMode=yes".to_owned(), "-o".to_owned(), "ConnectTimeout=15".to_owned()]);
        }
        all.extend(["--".to_owned(), self.host.clone(), format!("{} gateway stdio", self.lisle)]);
        all
    }
}

/// Opens a line through ssh.
pub(super) async fn dial(command: &SshCommand, attempt: Attempt) -> Result<Dialed, DialError> {
    let mut child = Command::new("ssh")
        .args(command.arguments(attempt))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| DialError::Refused(format!("can't start ssh: {error}. Install OpenSSH's client")))?;
    let (Some(write), Some(read), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take()) else {
        return Err(DialError::Unreachable("ssh has no input and output".to_owned()));
    };
    let (said, follower) = Said::follow(errors, attempt == Attempt::First);
    let mut read = BufReader::new(read);
    let greeted = skip_greeting(&mut read);
    let found = match attempt {
        Attempt::First => greeted.await,
        Attempt::Again => tokio::time::timeout(AGAIN, greeted).await.unwrap_or(false),
    };
    // From here on the screen has the terminal.
    said.hush();
    if !found {
        // The program may end before all that it said was read; what it started may hold the pipe for longer.
        let _ = tokio::time::timeout(LAST_WORDS, follower).await;
        return Err(why_not(command, child, &said).await);
    }
    Ok(Dialed { read: Box::new(read), write: Box::new(write), secret: String::new(), program: Some(child) })
}

/// Reads up to the line that `lisle gateway stdio` begins with. False if that does not come.
async fn skip_greeting(read: &mut (impl tokio::io::AsyncBufRead + Unpin)) -> bool {
    let mut left = GREETING_BYTES;
    for _ in 0..GREETING_LINES {
        let mut line = Vec::new();
        match (&mut *read).take(left).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return false,
            Ok(n) => left = left.saturating_sub(n as u64),
        }
        if line.trim_ascii_end().ends_with(MARKER.as_bytes()) {
            return true;
        }
    }
    false
}

/// Reason why there is no line, with what to do.
async fn why_not(command: &SshCommand, mut child: Child, said: &Said) -> DialError {
    let status = tokio::time::timeout(Duration::from_secs(2), child.wait()).await;
    let code = status.ok().and_then(Result::ok).and_then(|status| status.code());
    let (host, lisle, last) = (command.host(), &command.lisle, said.last());
    match code {
        Some(127) => DialError::Refused(format!(
            "no \"{lisle}\" on {host}: install lisle there, or name its path as machines.NAME.command in config.toml \
             (~/.cargo/bin is often not in the PATH of ssh commands)"
        )),
        Some(2) => {
            DialError::Refused(format!("the lisle on {host} is older and has no gateway: update it there ({last})"))
        }
        // ssh's own failures.
        Some(255) if last.contains("Permission denied") => {
            DialError::Refused(format!("{host} needs a password or another key ({last}): start lisle ssh again"))
        }
        Some(255) => DialError::Unreachable(format!("ssh to {host} failed: {last}")),
        Some(code) => DialError::Unreachable(format!("\"{lisle} gateway stdio\" on {host} ended with {code}: {last}")),
        None => DialError::Unreachable(format!("{host} did not answer as a gateway")),
    }
}

/// Lines that ssh and the other side write to stderr.
#[derive(Clone)]
struct Said(Arc<Mutex<(bool, String)>>);

impl Said {
    fn follow(errors: ChildStderr, shown: bool) -> (Self, JoinHandle<()>) {
        let said = Self(Arc::new(Mutex::new((shown, String::new()))));
        let ours = said.clone();
        let follower = tokio::spawn(async move {
            let mut lines = BufReader::new(errors.take(1 << 20)).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let line = clean_line(&line).into_owned();
                let mut said = ours.0.lock().unwrap_or_else(PoisonError::into_inner);
                if said.0 {
                    // Nobody reads it: nothing is lost.
                    let _ = writeln!(std::io::stderr(), "{line}");
                }
                if !line.trim().is_empty() {
                    said.1 = line;
                }
            }
        });
        (said, follower)
    }

    fn hush(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0 = false;
    }

    fn last(&self) -> String {
        let said = self.0.lock().unwrap_or_else(PoisonError::into_inner).1.clone();
        if said.is_empty() { "nothing was said".to_owned() } else { said.trim_end_matches('.').to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_never_an_option_and_the_workspace_is_in_no_argument() {
        for host in ["-oProxyCommand=touch x", "-h", "", "a b", "a\nb"] {
            assert!(SshCommand::new(host, None).is_err(), "{host:?}");
        }
        let command = SshCommand::new("me@box", Some("~/.cargo/bin/lisle")).unwrap();
        assert_eq!(command.arguments(Attempt::First), ["-T", "--", "me@box", "~/.cargo/bin/lisle gateway stdio"]);
        let again = command.arguments(Attempt::Again);
        assert!(again.contains(&"BatchMode=yes".to_owned()) && again.iter().rev().nth(1).unwrap() == "me@box");
    }

    #[tokio::test]
    async fn a_greeting_of_the_shell_is_skipped() {
        for (text, found) in [
            (format!("{MARKER}\nrest"), true),
            (format!("Welcome\r\nto \u{1b}[1mbox\u{1b}[0m\n{MARKER}\r\nrest"), true),
            (format!("no line end{MARKER}\nrest"), true),
            ("Welcome\n".to_owned(), false),
            ("x\n".repeat(GREETING_LINES + 1) + MARKER, false),
            ("x".repeat(300 << 10), false),
        ] {
            let mut read = BufReader::new(text.as_bytes());
            assert_eq!(skip_greeting(&mut read).await, found, "{}", text.get(..40).unwrap_or(&text));
            if found {
                let mut rest = String::new();
                read.read_to_string(&mut rest).await.unwrap();
                assert_eq!(rest, "rest");
            }
        }
    }
}
