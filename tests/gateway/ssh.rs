//! `lisle ssh`, with a program in the place of ssh: what it is given, a greeting, a line that is cut.

use crate::place::{LISLE, Place, err, paused};
use crate::pty::Start;
use crate::support::model_server::Gate;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A program in the place of ssh, and what it was called with.
struct Ssh {
    folder: tempfile::TempDir,
}

impl Ssh {
    /// `body` runs after the arguments were noted; `$last` is the remote command.
    fn new(body: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("ssh");
        let note = folder.path().join("called").display().to_string();
        let text =
            format!("#!/bin/sh\necho \"$*\" >> '{note}'\nfor last; do :; done\necho $$ > '{note}.pid'\n{body}\n");
        std::fs::write(&program, text).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder }
    }

    fn path(&self) -> String {
        format!("{}:{}", self.folder.path().display(), std::env::var("PATH").unwrap())
    }

    fn called(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.path().join("called")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn pid_file(&self) -> PathBuf {
        self.folder.path().join("called.pid")
    }
}

/// The body of an ssh that leads to the home of the far side.
fn leads(far: &Path) -> String {
    format!(
        "echo 'Welcome to box'; printf 'no line end: '\nexport LISLE_HOME='{}' HOME='{}'\nexec '{LISLE}' gateway stdio",
        far.join("lisle").display(),
        far.display()
    )
}

#[test]
fn sessions_of_another_machine_are_shown_and_a_cut_line_loses_nothing() {
    let gate = Gate::new();
    let far = Place::new([paused("one two three ", &gate, "four five")], "");
    let near = Place::new([], "[machines.box]\nhost = \"me@box.test\"\ncommand = \"/opt/lisle\"\n");
    let ssh = Ssh::new(&leads(far.home.path()));
    let pty = Start::new(LISLE, near.home.path()).size(120, 30).env("PATH", &ssh.path()).args(["ssh", "box"]).go();
    pty.until("Ask anything");
    assert_eq!(ssh.called(), ["-T -- me@box.test /opt/lisle gateway stdio"]);
    pty.keys("hello\r");
    pty.until("one two three");
    // The line is cut in mid-turn.
    let pid = std::fs::read_to_string(ssh.pid_file()).unwrap();
    let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    pty.until("Reconnecting");
    gate.open();
    pty.keys("x");
    pty.until("four five");
    pty.gone("Reconnecting");
    assert_eq!(pty.text().matches("one two three").count(), 1, "{}", pty.text());
    assert!(ssh.called().get(1).unwrap().contains("BatchMode=yes"), "{:?}", ssh.called());
    assert_eq!(far.server.asked().len(), 1);
    assert!(near.transcripts().is_empty(), "nothing of it is on this machine");
}

#[test]
fn what_is_wrong_there_is_said_with_what_to_do() {
    for (body, words) in [
        ("echo 'sh: lisle: not found' >&2; exit 127", "install lisle there"),
        ("echo \"error: unrecognized subcommand 'gateway'\" >&2; exit 2", "is older"),
        ("echo 'me@box: Permission denied (publickey).' >&2; exit 255", "needs a password or another key"),
        ("echo 'ssh: Could not resolve hostname box' >&2; exit 255", "Could not resolve hostname"),
        ("exit 0", "ended with 0"),
    ] {
        let near = Place::new([], "");
        let ssh = Ssh::new(body);
        let done = near.command(&["ssh", "box"]).env("PATH", ssh.path()).output().unwrap();
        assert_eq!(done.status.code(), Some(1), "{body}");
        assert!(err(&done).contains(words), "{body}: {}", err(&done));
    }
    let near = Place::new([], "");
    let done = near.lisle(&["ssh", "--", "-oProxyCommand=true"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(err(&done).contains("is no host"), "{}", err(&done));
}
