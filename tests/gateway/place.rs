//! A home with a scripted model, and the gateway that runs for it.

use crate::pty::{LIMIT, Pty, Start};
use crate::support::model_server::{Gate, ModelServer, Script, chunk};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Instant;

pub const LISLE: &str = env!("CARGO_BIN_EXE_lisle");

/// A response with a pause in it.
pub fn paused(first: &str, gate: &Gate, second: &str) -> Script {
    let text = |text: &str| chunk(json!({"content": text}), Value::Null);
    let words: String = first.split_inclusive(' ').map(text).collect();
    let end = text(second) + &chunk(json!({}), json!("stop")) + "data: [DONE]\n\n";
    Script::sse(words).then_wait(gate).then(end)
}

/// A home and a project. Its gateway ends with it.
pub struct Place {
    pub home: tempfile::TempDir,
    pub project: tempfile::TempDir,
    pub server: ModelServer,
}

impl Place {
    pub fn new(scripts: impl IntoIterator<Item = Script>, settings: &str) -> Self {
        let place = Self {
            home: tempfile::tempdir().unwrap(),
            project: tempfile::tempdir().unwrap(),
            server: ModelServer::for_program(scripts),
        };
        let config = place.lisle_home().join("config");
        std::fs::create_dir_all(&config).unwrap();
        let text = format!(
            "default_connection = \"work\"\n[connections.work]\nprovider = \"openai-compatible\"\nbase_url = \"{}\"\n\
             default_model = \"m\"\n{settings}",
            place.server.base_url()
        );
        std::fs::write(config.join("config.toml"), text).unwrap();
        place
    }

    /// As the pseudo-terminal sets it.
    pub fn lisle_home(&self) -> PathBuf {
        self.home.path().join("lisle")
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(LISLE);
        command.args(args).current_dir(self.project.path()).stdin(Stdio::null());
        command.env("HOME", self.home.path()).env("LISLE_HOME", self.lisle_home());
        for name in ["SSH_CONNECTION", "XDG_RUNTIME_DIR", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"] {
            command.env_remove(name);
        }
        crate::support::with_signals(&mut command);
        command
    }

    pub fn lisle(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// A gateway in the foreground, which listens.
    pub fn serve(&self) -> Serving {
        self.serve_with(&[])
    }

    pub fn serve_with(&self, options: &[&str]) -> Serving {
        Self::serving(self.command(&[&["serve"], options].concat()))
    }

    /// The same with a folder for sockets.
    pub fn serve_in(&self, runtime_dir: Option<&Path>) -> Serving {
        let mut command = self.command(&["serve"]);
        if let Some(dir) = runtime_dir {
            command.env("XDG_RUNTIME_DIR", dir);
        }
        Self::serving(command)
    }

    fn serving(mut command: Command) -> Serving {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("The gateway listens on "), "{line:?}");
        Serving { child }
    }

    pub fn status(&self) -> Option<Value> {
        let done = self.lisle(&["gateway", "status", "--json"]);
        done.status.success().then(|| serde_json::from_slice(&done.stdout).unwrap())
    }

    /// Waits until the gateway's status is like this.
    #[track_caller]
    pub fn status_until(&self, what: &str, condition: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + LIMIT;
        loop {
            let status = self.status().unwrap_or_default();
            if condition(&status) {
                return status;
            }
            assert!(Instant::now() < end, "not within {LIMIT:?}: {what}\n{status:#}");
        }
    }

    /// A client that says what the test says.
    pub fn raw(&self) -> Raw {
        let lock = std::fs::read_to_string(self.lisle_home().join("state/gateway.lock")).unwrap();
        let owner: Value = serde_json::from_str(&lock).unwrap();
        let stream = UnixStream::connect(owner["socket"].as_str().unwrap()).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        Raw { reader: BufReader::new(stream.try_clone().unwrap()), stream }
    }

    pub fn secret(&self) -> String {
        std::fs::read_to_string(self.lisle_home().join("state/gateway/credentials")).unwrap()
    }

    /// Parameters of a handshake.
    pub fn connect(&self, id: &str) -> Value {
        json!({"minProtocol": 1, "maxProtocol": 99, "secret": self.secret(),
            "client": {"id": id, "name": "test", "version": "0"}})
    }

    /// The app, with further arguments.
    pub fn app(&self, args: &[&str]) -> Pty {
        let cwd = self.project.path().to_string_lossy().into_owned();
        Start::new(LISLE, self.home.path()).size(120, 30).args(["--cwd", cwd.as_str()]).args(args.iter().copied()).go()
    }

    /// All rows of the sessions of the default workspace.
    pub fn transcripts(&self) -> String {
        let sessions = self.lisle_home().join("data/workspaces/default/sessions");
        let mut all = String::new();
        for session in std::fs::read_dir(sessions).into_iter().flatten().flatten() {
            all += &std::fs::read_to_string(session.path().join("session.jsonl")).unwrap_or_default();
        }
        all
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.lisle(&["gateway", "stop"]);
    }
}

pub fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A gateway in the foreground.
pub struct Serving {
    pub child: Child,
}

impl Serving {
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection on which the test says each byte.
pub struct Raw {
    stream: UnixStream,
    reader: BufReader<UnixStream>,
}

impl Raw {
    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    pub fn request(&mut self, id: u64, method: &str, params: &Value) {
        let mut line = json!({"type": "req", "id": id, "method": method, "params": params}).to_string();
        line.push('\n');
        self.send(line.as_bytes());
    }

    /// The next frame; `None` at the end.
    pub fn frame(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.reader.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(serde_json::from_str(&line).unwrap()),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("{error}"),
        }
    }

    /// The reply to a request, past the events before it.
    pub fn reply(&mut self, id: u64) -> Value {
        loop {
            let frame = self.frame().expect("the connection ended before the reply");
            if frame["type"] == "res" && frame["id"] == id {
                return frame;
            }
        }
    }

    /// The payload of the next event of this name of the engine or a session.
    pub fn event(&mut self, name: &str) -> Value {
        loop {
            let frame = self.frame().expect("the connection ended before the event");
            if frame["type"] == "event" && frame["payload"]["stamped"]["event"] == name {
                return frame["payload"]["stamped"].clone();
            }
        }
    }
}

/// Hash that an answer to a request quotes.
pub fn shown(request: &Value) -> String {
    use sha2::{Digest, Sha256};
    let mut shown = request.clone();
    shown["ask"]["would_run_now"] = json!(false);
    Sha256::digest(shown.to_string().as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Waits until a condition holds.
#[track_caller]
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + LIMIT;
    while !condition() {
        assert!(Instant::now() < end, "not within {LIMIT:?}: {what}");
        std::thread::yield_now();
    }
}

pub fn exists(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}
