//! Commands that are closed in stay harmless even when the judge is wrong: a hostile program is run in the real profile.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test should stop where it fails")]

use std::io::Read;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

struct Yard {
    _dir: tempfile::TempDir,
    root: PathBuf,
}

impl Yard {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::write(root.join("file"), "content").unwrap();
        std::fs::create_dir(root.join("data")).unwrap();
        Self { _dir: dir, root }
    }

    fn file(&self) -> PathBuf {
        self.root.join("file")
    }

    /// Everything that can be seen of the tree.
    fn tree(&self) -> Vec<String> {
        let mut out = Vec::new();
        let mut open = vec![self.root.clone()];
        while let Some(path) = open.pop() {
            let meta = path.symlink_metadata().unwrap();
            let times = (meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec());
            let content = if meta.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
            out.push(format!("{} {:o} {} {times:?} {content:?}", path.display(), meta.mode(), meta.uid()));
            if meta.is_dir() {
                open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
        }
        out.sort();
        out
    }

    /// Runs a program closed in, by the rules of Landlock's version `abi`.
    fn held(&self, abi: &str, program: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_lisle"))
            .args(["__hold", "--read-only", "--writable"])
            .arg(self.root.join("data"))
            .args(["--landlock-abi", abi, "--"])
            .args(program)
            .current_dir(&self.root)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }
}

/// What this system can do is said by the program itself; where it cannot, nothing is run.
fn enforced(yard: &Yard) -> bool {
    if lisle::sandbox::is_enforced() {
        return true;
    }
    let out = yard.held("6", &["/bin/sh", "-c", "echo ran"]);
    assert_eq!(out.status.code(), Some(126));
    assert!(out.stdout.is_empty());
    assert!(String::from_utf8_lossy(&out.stderr).contains("could not be closed in"));
    false
}

#[test]
fn nothing_that_a_hostile_program_tries_works() {
    let yard = Yard::new();
    if !enforced(&yard) {
        return;
    }
    let tools = tempfile::tempdir().unwrap();
    let hostile = tools.path().join("hostile");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sandbox/hostile.c");
    let built = Command::new("cc").arg("-o").arg(&hostile).arg(source).status().unwrap();
    assert!(built.success());
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let _udp = UdpSocket::bind(("127.0.0.1", port)).unwrap();
    let socket = tools.path().join("socket");
    let _unix = UnixListener::bind(&socket).unwrap();
    let mut other = Command::new("sleep").arg("60").spawn().unwrap();
    let arguments = [
        hostile.to_str().unwrap().to_owned(),
        yard.file().to_str().unwrap().to_owned(),
        other.id().to_string(),
        port.to_string(),
        socket.to_str().unwrap().to_owned(),
    ];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let before = yard.tree();
    for abi in ["2", "3", "4", "6"] {
        let out = yard.held(abi, &arguments);
        assert_eq!(String::from_utf8_lossy(&out.stdout), "", "Landlock {abi}");
        assert!(out.status.success(), "Landlock {abi}: {out:?}");
        assert_eq!(yard.tree(), before, "Landlock {abi}");
    }
    // Not closed in, most of it works: the program does try.
    let open = Command::new(&hostile).args(&arguments[1..]).output().unwrap();
    assert!(open.stdout.split(|byte| *byte == b'\n').count() > 15, "{}", String::from_utf8_lossy(&open.stdout));
    let _ = other.kill();
    let _ = other.wait();
}

#[test]
fn reading_goes_on_and_the_folders_named_can_be_written() {
    let yard = Yard::new();
    if !enforced(&yard) {
        return;
    }
    let line = "cat file && ls | wc -l && echo x > data/x && cat data/x && echo gone > /dev/null && (date | cut -c1-2)";
    let out = yard.held("6", &["/bin/sh", "-c", line]);
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success() && said.starts_with("content2\nx\n"), "{out:?}");
}

#[test]
fn a_command_gets_a_temporary_folder_of_its_own_that_goes_with_it() {
    let yard = Yard::new();
    if !enforced(&yard) {
        return;
    }
    let line = "echo x > \"$TMPDIR/x\" && cat \"$TMPDIR/x\" && echo \"$TMPDIR\"; echo x > file; sleep 100 & exit 3";
    let mut child = Command::new(env!("CARGO_BIN_EXE_lisle"))
        .args(["__run", "--timeout-ms", "20000", "--output-limit", "10000", "--read-only", "--", "/bin/sh", "-c", line])
        .current_dir(&yard.root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Kept open: its end would end the command.
    let control = child.stdin.take();
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    drop(control);
    let mut lines = said.lines();
    assert_eq!(lines.next(), Some("x"), "{said}");
    let temp = PathBuf::from(lines.next().unwrap());
    assert!(temp.is_absolute() && !temp.exists(), "{said}");
    assert_eq!(std::fs::read_to_string(yard.file()).unwrap(), "content");
}
