//! Commands that are closed in stay harmless even when the judge is wrong: a hostile program is run in the real profile.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test should stop where it fails")]

#[path = "sandbox/matrix.rs"]
mod matrix;
#[path = "sandbox/ready.rs"]
mod ready;
#[path = "sandbox/walls.rs"]
mod walls;

use lisle::sandbox::places::caches::CacheFolder;
use lisle::sandbox::places::{self, Moves, Site};
use lisle::sandbox::{Allowances, Bounds, Ended, Invocation, Namespaces, Profile, RunReport, system_support};
use std::io::Read;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const LISLE: &str = env!("CARGO_BIN_EXE_lisle");

/// The arguments without namespaces, and with them where the system has them.
fn spaces() -> impl Iterator<Item = &'static [&'static str]> {
    let with = system_support::namespaces(Path::new(LISLE)).is_ok();
    [&[][..], &["--namespaces"]].into_iter().take(if with { 2 } else { 1 })
}

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
        self.held_with(abi, &[], program)
    }

    fn held_with(&self, abi: &str, more: &[&str], program: &[&str]) -> Output {
        Command::new(LISLE)
            .args(["__hold", "--read-only", "--readable", "/", "--writable"])
            .arg(self.root.join("data"))
            .args(["--landlock-abi", abi])
            .args(more)
            .arg("--")
            .args(program)
            .current_dir(&self.root)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }
}

/// The program itself reports what this system can do; where it cannot, nothing is run.
fn enforced(yard: &Yard) -> bool {
    if lisle::sandbox::is_enforced() {
        return true;
    }
    let out = yard.held("6", &["/bin/sh", "-c", "echo ran"]);
    assert_eq!(out.status.code(), Some(126));
    assert!(out.stdout.is_empty());
    assert!(String::from_utf8_lossy(&out.stderr).contains("sandbox setup failed"));
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
    for (abi, more) in ["2", "3", "4", "6"].into_iter().flat_map(|abi| spaces().map(move |more| (abi, more))) {
        let out = yard.held_with(abi, more, &arguments);
        assert_eq!(String::from_utf8_lossy(&out.stdout), "", "Landlock {abi} {more:?}");
        assert!(out.status.success(), "Landlock {abi} {more:?}: {out:?}");
        assert_eq!(yard.tree(), before, "Landlock {abi} {more:?}");
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
    let mut child = Command::new(LISLE)
        .args(["__run", "--timeout-ms", "20000", "--output-limit", "10000", "--read-only", "--readable", "/"])
        .args(["--", "/bin/sh", "-c", line])
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

#[test]
fn a_kernel_that_cannot_hold_a_command_does_not_start_it() {
    let yard = Yard::new();
    for profile in ["--read-only", "--workspace"] {
        let out = Command::new(LISLE)
            .args(["__hold", profile, "--landlock-abi", "0", "--", "/bin/sh", "-c", "echo ran"])
            .current_dir(&yard.root)
            .output()
            .unwrap();
        assert_eq!((out.status.code(), out.stdout.len()), (Some(126), 0), "{profile}");
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(said.contains("sandbox setup failed: Landlock"), "{said}");
    }
}

#[test]
fn a_directory_that_is_gone_is_named() {
    let yard = Yard::new();
    let line =
        "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" __run --timeout-ms 9000 --output-limit 100 -- /bin/true";
    let child = Command::new("/bin/sh")
        .args(["-c", line, LISLE])
        .current_dir(&yard.root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let out = child.wait_with_output().unwrap();
    let report = RunReport::parse(&String::from_utf8_lossy(&out.stderr)).unwrap();
    assert_eq!(report.ended, Ended::NotStarted);
    assert!(report.error.unwrap().contains("the working directory is gone"));
}

/// A home directory with a project in it, and what lies beside.
struct Home {
    _dir: tempfile::TempDir,
    root: PathBuf,
    work: PathBuf,
    session: PathBuf,
}

impl Home {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in ["work/src", "sibling", "session/data", "cache", ".ssh"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in
            ["cache/theirs", "sibling/file", ".bashrc", ".ssh/id_ed25519", "work/.envrc", "work/.env", "work/src/a"]
        {
            std::fs::write(root.join(file), "content\n").unwrap();
        }
        Self { work: root.join("work"), session: root.join("session"), _dir: dir, root }
    }

    fn site<'a>(&'a self, cwd: &'a Path, allowances: &'a Allowances, namespaces: Namespaces) -> Site<'a> {
        Site {
            cwd,
            session_dir: &self.session,
            own_dirs: &[],
            allowances,
            named: &[],
            approved: &[],
            moves: Moves::default(),
            home: Some(&self.root),
            namespaces,
        }
    }

    /// Runs a command line in the profile of its place. Temporary folders are taken out of it: the project lies in one.
    fn run(&self, cwd: &Path, profile: Profile, line: &str) -> (String, Option<i32>) {
        let without_temp = |mut bounds: Bounds| {
            bounds.readable.retain(|path| !self.root.starts_with(path));
            bounds.writable.retain(|path| !self.root.starts_with(path));
            bounds.replaced.retain(|one| !self.root.starts_with(&one.at));
            bounds
        };
        let profile = match profile {
            Profile::Workspace(bounds) => Profile::Workspace(without_temp(bounds)),
            Profile::ReadOnly(bounds) => Profile::ReadOnly(without_temp(bounds)),
            Profile::Open => Profile::Open,
        };
        let command = ["/bin/bash", "--noprofile", "--norc", "-c", line].map(Into::into).to_vec();
        let timeout = std::time::Duration::from_secs(60);
        let call = Invocation { timeout, output_limit: 1_000_000, memory: None, profile, command };
        let mut child = Command::new(LISLE)
            .args(call.arguments())
            .current_dir(cwd)
            .env("HOME", &self.root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Kept open: its end would end the command.
        let control = child.stdin.take();
        let mut said = String::new();
        child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        let code = child.wait().unwrap().code();
        drop(control);
        (said, code)
    }

    fn in_workspace(&self, namespaces: Namespaces, line: &str) -> (String, Option<i32>) {
        let allowances = Allowances {
            caches: vec![CacheFolder::named(self.root.join("cache"))],
            private: Some(self.session.join("caches")),
            // The home directory of the test has no toolchain.
            readable: Path::new(env!("CARGO")).ancestors().nth(2).map(Path::to_owned).into_iter().collect(),
            ..Allowances::default()
        };
        self.run(&self.work, places::workspace(&self.site(&self.work, &allowances, namespaces)), line)
    }
}

/// Without namespaces, and with them where the system has them.
fn kinds() -> Vec<Namespaces> {
    if !lisle::sandbox::is_enforced() {
        return Vec::new();
    }
    match system_support::spaces(Path::new(LISLE)) {
        Namespaces::With => vec![Namespaces::Without, Namespaces::With],
        Namespaces::Without => vec![Namespaces::Without],
    }
}

/// Cases that need git are tried where git is.
fn has_git() -> bool {
    Command::new("git").arg("--version").output().is_ok()
}

fn git(dir: &Path, args: &[&str]) {
    let out = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"])
        .args(args)
        .current_dir(dir)
        .output()
        .unwrap();
    assert!(out.status.success(), "{out:?}");
}

#[test]
fn the_workspace_is_written_and_what_lies_outside_is_not() {
    let home = Home::new();
    for kind in kinds() {
        let written = "echo x > new && mkdir -p d/e && mv new d/e/ && ln d/e/new hard && ln -s new soft && rm -r d hard soft \
            && echo x > ../session/data/x && echo x > /dev/null && cat src/a";
        assert_eq!(home.in_workspace(kind, written), ("content\n".to_owned(), Some(0)), "{kind:?}");
        // Caches are the workspace's own.
        if kind == Namespaces::With {
            let (said, code) = home.in_workspace(kind, "cat ../cache/theirs && echo x > ../cache/new");
            assert_eq!((said.as_str(), code), ("content\n", Some(0)));
        }
        assert!(!home.root.join("cache/new").exists());
        for line in [
            "cat ../sibling/file",
            "cat ../.bashrc",
            "echo x > ../new",
            "echo x >> ../sibling/file",
            "echo x > \"$HOME/new\"",
            "echo x > /etc/lisle-test",
            "truncate -s 0 ../sibling/file",
            "rm ../sibling/file",
            "mv ../sibling/file .",
            "mv src ../moved",
            "ln ../sibling/file hard && echo x >> hard",
            "ln -s ../sibling link; echo x > link/new",
            "ln -s ../sibling/file link2; echo x >> link2",
            "mkdir ../made",
            "mknod disk b 7 0",
            "cp /bin/true ../session/true",
            ": > /proc/self/oom_score_adj",
            "kill -9 $PPID; kill -0 $PPID && test $PPID != 1",
        ] {
            let (said, code) = home.in_workspace(kind, line);
            assert_ne!(code, Some(0), "{kind:?} {line}: {said}");
        }
        if kind == Namespaces::With {
            // Rights and times are not held by Landlock.
            for line in ["chmod 777 ../sibling/file", "touch ../sibling/file", "touch .."] {
                assert_ne!(home.in_workspace(kind, line).1, Some(0), "{line}");
            }
        }
        assert_eq!(std::fs::read_to_string(home.root.join("sibling/file")).unwrap(), "content\n");
        let mut left: Vec<_> = std::fs::read_dir(&home.root).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".bashrc", ".ssh", "cache", "session", "sibling", "work"]);
        assert_eq!(std::fs::read_dir(home.root.join("sibling")).unwrap().count(), 1);
    }
}

#[test]
fn programs_work_in_the_workspace() {
    if !has_git() {
        return;
    }
    let home = Home::new();
    std::fs::write(home.work.join("Cargo.toml"), "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\n").unwrap();
    std::fs::write(home.work.join("src/main.rs"), "fn main() { println!(\"built\"); }\n").unwrap();
    git(&home.work, &["init", "-q"]);
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let cargo = format!(
        "TMPDIR=$HOME/session/data CARGO_TARGET_DIR=target HOME={} {} run -q --offline",
        std::env::var("HOME").unwrap(),
        env!("CARGO")
    );
    for kind in kinds() {
        let dial = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected");
        for (line, says) in [
            (
                "git add src && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git log -1 --format=%s",
                "x",
            ),
            ("git checkout -q --detach && git checkout -q - && git stash list && echo done", "done"),
            ("bash -c 'bash -c \"echo deep\"'", "deep"),
            ("sleep 5 & kill $! && echo ended", "ended"),
            (&dial, "connected"),
            (&cargo, "built"),
        ] {
            let (said, code) = home.in_workspace(kind, line);
            assert_eq!((said.trim(), code), (says, Some(0)), "{kind:?} {line}");
        }
    }
}

#[test]
fn what_configures_or_runs_code_is_read_only_where_namespaces_are() {
    if !has_git() {
        return;
    }
    let home = Home::new();
    git(&home.work, &["init", "-q"]);
    if !kinds().contains(&Namespaces::With) {
        return;
    }
    let before = std::fs::read(home.work.join(".git/config")).unwrap();
    for line in [
        "echo x > .git/hooks/pre-commit",
        "rm -r .git/hooks",
        "mv .git/hooks .git/old",
        "mv .git .old",
        "rm -rf .git/config",
        "git config core.fsmonitor ./x",
        "git config core.hooksPath /x",
        "echo x >> .git/config",
        "chmod 777 .git/config",
        "echo x >> .envrc",
        "rm .envrc",
        "mv src/a .envrc",
        "umount .envrc",
        "mount -o remount,rw .envrc",
        "unshare -Urm sh -c 'umount .envrc; echo x >> .envrc'",
    ] {
        let (said, code) = home.in_workspace(Namespaces::With, line);
        assert_ne!(code, Some(0), "{line}: {said}");
    }
    assert_eq!(std::fs::read(home.work.join(".git/config")).unwrap(), before);
    assert_eq!(std::fs::read_to_string(home.work.join(".envrc")).unwrap(), "content\n");
    assert!(!home.work.join(".git/hooks/pre-commit").exists());
    // The terminals of the user are not there, and one of its own works.
    let (said, _) = home.in_workspace(Namespaces::With, "ls /dev/pts");
    assert_eq!(said, "ptmx\n");
}

#[test]
fn a_worktree_writes_its_repository_and_neither_hooks_nor_configuration() {
    if !has_git() {
        return;
    }
    let home = Home::new();
    let main = home.root.join("sibling");
    git(&main, &["init", "-q"]);
    git(&main, &["commit", "-q", "--allow-empty", "-m", "first"]);
    std::fs::remove_dir_all(&home.work).unwrap();
    git(&main, &["worktree", "add", "-q", "../work"]);
    for kind in kinds() {
        let commit =
            "echo $RANDOM > f && git add f && git -c user.name=a -c user.email=a@b commit -q -m more && echo done";
        assert_eq!(home.in_workspace(kind, commit), ("done\n".to_owned(), Some(0)), "{kind:?}");
        assert_ne!(home.in_workspace(kind, "echo x > ../sibling/new").1, Some(0));
        if kind == Namespaces::With {
            for line in ["echo x > ../sibling/.git/hooks/pre-commit", "git config a.b c", "echo x > .git"] {
                assert_ne!(home.in_workspace(kind, line).1, Some(0), "{line}");
            }
        }
    }
    // A pointer that nothing points back at opens nothing.
    let victim = home.root.join("cache2/.git");
    std::fs::create_dir_all(victim.parent().unwrap()).unwrap();
    git(victim.parent().unwrap(), &["init", "-q"]);
    std::fs::write(home.work.join(".git"), format!("gitdir: {}\n", victim.display())).unwrap();
    for kind in kinds() {
        assert_ne!(home.in_workspace(kind, "echo x > ../cache2/.git/HEAD").1, Some(0), "{kind:?}");
    }
}

#[test]
fn secrets_are_empty_for_what_only_reads_where_namespaces_are() {
    let home = Home::new();
    if !kinds().contains(&Namespaces::With) {
        return;
    }
    let allowances = Allowances::default();
    let profile = || places::read_only(&home.site(&home.work, &allowances, Namespaces::With));
    let (said, code) = home.run(&home.work, profile(), "cat .env src/a");
    assert_eq!((said.as_str(), code), ("# hidden by lisle\ncontent\n", Some(0)));
    // What is not on the list is not there at all.
    let (said, code) = home.run(&home.work, profile(), "ls -A .. ; ls -A ../.ssh");
    assert!(said.starts_with("session\nwork\n") && code != Some(0), "{said}");
    // The environment of others, and their view, stay closed.
    let line = format!("cat /proc/{0}/environ /proc/{0}/root{1}/.env", std::process::id(), home.work.display());
    let (said, code) = home.run(&home.work, profile(), &line);
    assert!(code != Some(0) && !said.contains("content"), "{said}");
}
