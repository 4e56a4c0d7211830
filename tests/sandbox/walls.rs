//! One hostile program, class by class, in every combination of profile, namespaces, user and version of Landlock's rules.
//!
//! The bounds are written here: which places a profile names in earnest is another matter.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

const LISLE: &str = env!("CARGO_BIN_EXE_lisle");
/// Another user, for whom nothing on the machine is.
const OTHER: u32 = 65534;

/// The hostile program and lisle, where every user finds them.
pub struct Tools {
    _dir: tempfile::TempDir,
    pub walls: PathBuf,
    lisle: PathBuf,
}

pub fn tools() -> &'static Tools {
    static TOOLS: OnceLock<Tools> = OnceLock::new();
    TOOLS.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::set_permissions(&root, std::fs::Permissions::from_mode(0o755)).unwrap();
        let (walls, lisle) = (root.join("walls"), root.join("lisle"));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sandbox/walls.c");
        assert!(Command::new("cc").arg("-o").arg(&walls).arg(source).status().unwrap().success());
        if std::fs::hard_link(LISLE, &lisle).is_err() {
            std::fs::copy(LISLE, &lisle).unwrap();
        }
        Tools { _dir: dir, walls, lisle }
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    pub profile: &'static str,
    pub namespaces: bool,
    /// As another user than the one who tests.
    pub other: bool,
    pub abi: i32,
    /// Flags of namespaces that the system refuses.
    pub lacks: u32,
}

/// Flags of `clone`.
const NEWNS: u32 = 0x0002_0000;
const NEWUSER: u32 = 0x1000_0000;
const NEWPID: u32 = 0x2000_0000;
const NEWNET: u32 = 0x4000_0000;

impl Way {
    fn is_root(self) -> bool {
        rustix::process::geteuid().is_root() && !self.other
    }

    fn writes(self) -> bool {
        self.profile == "--workspace"
    }

    /// It sees its own processes alone.
    fn has_processes(self) -> bool {
        self.namespaces && self.lacks & NEWPID == 0
    }
}

/// A program where namespaces of these kinds are refused.
fn without(lacks: u32, program: &Path) -> Command {
    if lacks == 0 {
        return Command::new(program);
    }
    let mut command = Command::new(&tools().walls);
    command.arg("refuse").arg(lacks.to_string()).arg(program);
    command
}

fn as_user(mut command: Command, other: bool) -> Command {
    if other {
        command.uid(OTHER).gid(OTHER);
    }
    command
}

/// All combinations that this machine has.
pub fn ways() -> Vec<Way> {
    static WAYS: OnceLock<Vec<Way>> = OnceLock::new();
    WAYS.get_or_init(|| {
        if !lisle::sandbox::is_enforced() {
            return Vec::new();
        }
        let users = if rustix::process::geteuid().is_root() { &[false, true][..] } else { &[false] };
        let mut out = Vec::new();
        for other in users.iter().copied() {
            let mut asks = as_user(Command::new(&tools().lisle), other);
            asks.args(["__hold", "--try-namespaces"]).current_dir("/").stdout(Stdio::null()).stderr(Stdio::null());
            let with = asks.status().unwrap().success();
            // Versions that this kernel does not have cannot be tried; it limits itself to the older ones.
            let newest = lisle::sandbox::linux::confine::landlock_version().min(9);
            for namespaces in [false, true].into_iter().filter(|namespaces| with || !namespaces) {
                for profile in ["--read-only", "--workspace"] {
                    out.extend((2..=newest).map(|abi| Way { profile, namespaces, other, abi, lacks: 0 }));
                    // What containers and hardened systems leave of them.
                    let lacks = [NEWPID, NEWNET].into_iter().filter(|_| namespaces);
                    out.extend(lacks.map(|lacks| Way { profile, namespaces, other, abi: newest, lacks }));
                }
            }
        }
        out
    })
    .clone()
}

/// A working directory with something in it, and what lies outside.
pub struct Yard {
    _dir: tempfile::TempDir,
    pub work: PathBuf,
    pub outside: PathBuf,
}

/// Attack that worked.
pub type Tried = BTreeSet<String>;

impl Yard {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (work, outside) = (root.join("work"), root.join("outside"));
        for folder in ["work/a/b", "work/free", "outside"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in ["work/a/b/protected", "work/free/file", "work/.env", "outside/secret"] {
            std::fs::write(root.join(file), "content\n").unwrap();
        }
        if rustix::process::geteuid().is_root() {
            for path in ["work", "work/a", "work/a/b", "work/free", "work/.env", "outside", "outside/secret"] {
                chown(root.join(path), Some(OTHER), Some(OTHER)).unwrap();
            }
        }
        for path in ["", "work", "outside", "work/a", "work/a/b", "work/free"] {
            std::fs::set_permissions(root.join(path), std::fs::Permissions::from_mode(0o777)).unwrap();
        }
        Self { _dir: dir, work, outside }
    }

    fn held(&self, way: Way, more: &[&str], program: &[&str]) -> Output {
        let mut arguments: Vec<OsString> = ["__hold", way.profile].map(Into::into).to_vec();
        if way.namespaces {
            arguments.push("--namespaces".into());
        }
        for path in ["/usr", "/bin", "/lib", "/lib64", "/etc"].map(Path::new).into_iter().chain([&*tools().walls]) {
            arguments.extend(["--readable".into(), path.into()]);
        }
        if way.writes() || !more.contains(&"--unread") && !more.contains(&"--laid") {
            arguments.extend(["--writable".into(), self.work.clone().into()]);
        }
        arguments.extend(["--landlock-abi".into(), way.abi.to_string().into()]);
        arguments.extend(more.iter().map(Into::into));
        arguments.push("--".into());
        arguments.extend(program.iter().map(Into::into));
        as_user(without(way.lacks, &tools().lisle), way.other)
            .args(arguments)
            .current_dir(&self.work)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// Result of a class of attacks.
    fn attack(&self, way: Way, more: &[&str], class: &str, arguments: &[&str]) -> String {
        let program = [&[tools().walls.to_str().unwrap(), class], arguments].concat();
        let out = self.held(way, more, &program);
        assert!(out.status.success(), "{way:?} {class}: {out:?}");
        String::from_utf8(out.stdout).unwrap()
    }

    /// Result of a class of attacks, held or not; `None` for what would do harm where nothing holds it.
    pub fn tried(&self, way: Option<Way>, class: &str, arguments: &[&str]) -> Option<Tried> {
        let program = [&[tools().walls.to_str().unwrap(), class], arguments].concat();
        let out = match way {
            Some(way) => self.held(way, &[], &program),
            None => Command::new(&tools().walls).args(&program[1..]).current_dir(&self.work).output().unwrap(),
        };
        (out.status.code() != Some(3)).then(|| {
            assert!(out.status.success(), "{way:?} {class}: {out:?}");
            String::from_utf8_lossy(&out.stdout).lines().map(str::to_owned).collect()
        })
    }

    fn sh(&self, way: Way, more: &[&str], line: &str) -> (String, Option<i32>) {
        let out = self.held(way, more, &["/bin/sh", "-c", line]);
        let said = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
        (said, out.status.code())
    }
}

/// The class of attacks achieves nothing anywhere.
fn nothing_works(class: &str, arguments: &[&str], yard: &Yard) {
    for way in ways() {
        assert_eq!(yard.attack(way, &[], class, arguments), "", "{class} {way:?}");
    }
}

/// The same of a class that does no harm, which achieves something where nothing is held: the program does try.
fn nothing_works_and_is_tried(class: &str, arguments: &[&str], yard: &Yard) {
    nothing_works(class, arguments, yard);
    let open = Command::new(&tools().walls).arg(class).args(arguments).current_dir(&yard.work).output().unwrap();
    assert!(open.status.success() && !open.stdout.is_empty(), "{class}, not held: {open:?}");
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn devices_and_the_terminals_of_others_are_not_there() {
    let pair = portable_pty::native_pty_system().openpty(portable_pty::PtySize::default()).unwrap();
    let name = pair.master.tty_name().unwrap();
    std::fs::set_permissions(&name, std::fs::Permissions::from_mode(0o666)).unwrap();
    let yard = Yard::new();
    nothing_works("devices", &[text(&yard.work), text(&name), "/dev/tty"], &yard);
}

/// Nothing is put over a secret without namespaces; what only reads opens none of them all the same, whatever leads there.
#[test]
fn what_is_not_to_be_read_is_not_opened_by_what_only_reads() {
    let yard = Yard::new();
    let at = |name: &str| yard.work.join(name);
    std::fs::write(at("plain"), "plain\n").unwrap();
    std::os::unix::fs::symlink(".env", at("link")).unwrap();
    std::os::unix::fs::symlink(&yard.outside, at("away")).unwrap();
    let (work, env, deep) = (at(""), at(".env"), at("a/b"));
    let more = ["--readable", text(&work), "--unread", text(&env), "--unread", text(&deep)];
    for way in ways().into_iter().filter(|way| !way.writes() && !way.namespaces) {
        for line in ["cat plain free/file", "ls -a . a a/b", "cd free && cat file"] {
            let (said, code) = yard.sh(way, &more, line);
            assert_eq!(code, Some(0), "{way:?} {line}: {said}");
        }
        for line in [
            "cat .env",
            "cat link",
            "cat a/b/protected",
            "cat /proc/self/cwd/.env",
            "cat away/secret",
            "ln .env free/e; cat free/e",
            "cd a/b && cat protected",
        ] {
            let (said, code) = yard.sh(way, &more, line);
            assert!(code != Some(0) && !said.contains("content"), "{way:?} {line}: {said}");
        }
    }
}

/// A link that another command of the session laid opens nothing to one that only reads.
#[test]
fn a_place_behind_a_link_in_the_project_opens_nothing() {
    let yard = Yard::new();
    let laid = yard.work.join("laid");
    std::os::unix::fs::symlink(&yard.outside, &laid).unwrap();
    let more = ["--readable", text(&laid), "--readable", text(&yard.work), "--laid", text(&yard.work)];
    let unread = yard.work.join(".env");
    let secret = yard.outside.join("secret");
    for way in ways().into_iter().filter(|way| !way.writes()) {
        for hides in [false, true] {
            let more = if hides { [&more[..], &["--unread", text(&unread)]].concat() } else { more.to_vec() };
            for line in [format!("cat {}", text(&secret)), "cat laid/secret".to_owned()] {
                let (said, code) = yard.sh(way, &more, &line);
                assert!(code != Some(0) && !said.contains("content"), "{way:?} {line}: {said}");
            }
        }
    }
}

#[test]
fn other_processes_cannot_be_looked_into() {
    let mut other = Command::new("sleep").arg("60").spawn().unwrap();
    let yard = Yard::new();
    let ids = [other.id().to_string(), std::process::id().to_string()];
    nothing_works_and_is_tried("processes", &["1", &ids[0], &ids[1]], &yard);
    // In a namespace of their own, or by rules from version 6 on.
    for way in ways().into_iter().filter(|way| way.has_processes() || way.abi >= 6 || !way.writes()) {
        assert_eq!(yard.attack(way, &[], "signals", &[&ids[0]]), "", "{way:?}");
    }
    nothing_works_and_is_tried("schedules", &[&ids[0], &ids[1]], &yard);
    let _ = other.kill();
    let _ = other.wait();
}

#[test]
fn memory_that_others_share_is_out_of_reach() {
    let yard = Yard::new();
    let key = std::process::id().to_string();
    let own = |word: &str| Command::new(&tools().walls).args(["memory", &key, word]).status().unwrap();
    assert!(own("made").success());
    nothing_works_and_is_tried("memory", &[&key], &yard);
    own("gone");
    // Its own works where it is its own.
    for way in ways().into_iter().filter(|way| way.namespaces && way.writes()) {
        assert_eq!(yard.attack(way, &[], "memory", &[&key, "made"]), "", "{way:?}");
    }
}

#[test]
fn the_first_process_of_a_namespace_is_not_to_be_ended_and_the_command_is() {
    let yard = Yard::new();
    for way in ways().into_iter().filter(|way| way.has_processes() && way.writes()) {
        let line = "kill -9 1; kill -15 1; kill -19 1; test $PPID = 1 && test $$ = 2 && echo lives";
        assert_eq!(yard.sh(way, &[], line).0, "lives\n", "{way:?}");
        assert_eq!(yard.sh(way, &[], "exit 7").1, Some(7), "{way:?}");
        let signalled = yard.held(way, &[], &["/bin/sh", "-c", "kill -TERM $$"]);
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&signalled.status), Some(15), "{way:?}");
        let (said, _) = yard.sh(way, &[], "for p in /proc/[0-9]*; do echo ${p##*/}; done");
        assert_eq!(said, "1\n2\n", "{way:?}");
    }
}

#[test]
fn queues_of_others_are_out_of_reach() {
    let yard = Yard::new();
    let name = format!("/lisle-test-{}", std::process::id());
    let own = |word: &str| Command::new(&tools().walls).args(["queues", &name, word]).status().unwrap();
    own("made");
    nothing_works_and_is_tried("queues", &[&name], &yard);
    own("gone");
}

#[test]
fn no_file_gets_the_rights_of_its_owner() {
    let yard = Yard::new();
    let secret = yard.outside.join("secret");
    nothing_works("set-ids", &[text(&secret)], &yard);
    // Modes without that work, and packages of the system bring such files where the system is the working directory.
    for way in ways().into_iter().filter(|way| way.writes() && (way.namespaces || way.is_root())) {
        let (said, code) =
            yard.sh(way, &[], "cd free && touch x && chmod 1755 x && mkdir -m 1777 d && stat -c %a x d && rm -r x d");
        assert_eq!((said.as_str(), code), ("1755\n1777\n", Some(0)), "{way:?}");
        let line = "cd free && touch y && chmod 4755 y; stat -c %a y; rm y";
        let (said, _) = yard.sh(way, &["--writable", "/usr"], line);
        assert_eq!(said.ends_with("4755\n"), way.is_root(), "{way:?} {said}");
    }
}

#[test]
fn devices_of_the_host_open_and_keep_their_modes() {
    let yard = Yard::new();
    for way in ways().into_iter().filter(|way| way.namespaces) {
        let (said, code) =
            yard.sh(way, &[], "echo x > /dev/null && head -c 3 /dev/zero | wc -c && ! echo x > /dev/full");
        assert!(code == Some(0) && said.starts_with('3'), "{way:?} {said}");
        for name in ["null", "zero", "full", "random", "urandom"] {
            // To the modes and times that they have: the host loses nothing where it works.
            for line in [format!("chmod 666 /dev/{name}"), format!("touch -c -r /dev/{name} /dev/{name}")] {
                assert_ne!(yard.sh(way, &[], &line).1, Some(0), "{way:?} {line}");
            }
        }
    }
}

#[test]
fn settings_of_the_kernel_stay_as_they_are() {
    nothing_works_and_is_tried("settings", &[], &Yard::new());
}

#[test]
fn what_is_left_out_looks_like_what_is_not_there() {
    let yard = Yard::new();
    let (hidden, missing) = (yard.outside.join("secret"), yard.outside.join("missing"));
    let beside = yard.outside.with_file_name("missing");
    for way in ways().into_iter().filter(|way| way.namespaces) {
        for (one, other) in [(&hidden, &missing), (&yard.outside, &beside)] {
            assert_eq!(yard.attack(way, &[], "oracle", &[text(one), text(other)]), "", "{way:?}");
        }
        assert_eq!(yard.attack(way, &[], "watches", &[text(&yard.outside)]), "", "{way:?}");
    }
}

#[test]
fn arguments_of_lisle_name_no_place() {
    let yard = Yard::new();
    nothing_works("arguments", &[text(&yard.work)], &yard);
}

#[test]
fn a_system_that_refuses_what_was_promised_starts_no_command() {
    let yard = Yard::new();
    if !lisle::sandbox::is_enforced() {
        return;
    }
    for (lacks, more, why) in [
        (NEWNS | NEWUSER, "--namespaces", "does not allow namespaces"),
        (0, "--offline", "Landlock: this kernel has none"),
    ] {
        for profile in ["--read-only", "--workspace"] {
            let mut command = Command::new(&tools().walls);
            command.arg("refuse").arg(lacks.to_string()).arg(&tools().lisle);
            command.args(["__hold", profile, more, "--readable", "/", "--", "/bin/sh", "-c", "echo ran"]);
            let out = command.current_dir(&yard.work).stdin(Stdio::null()).output().unwrap();
            assert_eq!((out.status.code(), out.stdout.len()), (Some(126), 0), "{lacks:x} {profile}: {out:?}");
            let said = String::from_utf8_lossy(&out.stderr).into_owned();
            assert!(said.contains(why), "{said}");
        }
    }
    let asks = |lacks| {
        let out =
            without(lacks, &tools().lisle).args(["__hold", "--try-namespaces"]).current_dir("/").output().unwrap();
        (out.status.success(), String::from_utf8_lossy(&out.stdout).into_owned())
    };
    let (root, said) = asks(NEWNS | NEWUSER);
    assert!(!root && said.lines().filter(|line| line.trim_end().contains(' ')).count() >= 3, "{said}");
    if asks(0).0 {
        let (root, said) = asks(NEWPID);
        assert!(root && said.contains("proc not allowed"), "{said}");
    }
}

#[test]
fn where_no_proc_can_be_mounted_the_rest_holds() {
    let yard = Yard::new();
    let other = rustix::process::geteuid().is_root();
    let unshare = || {
        let mut command = as_user(Command::new("unshare"), other);
        command.arg("-Urm").current_dir(&yard.work).stdin(Stdio::null());
        command
    };
    // As in a container that covers parts of /proc: what lies over it cannot be taken away in there.
    let covered = "mount -t tmpfs none /proc/sys && exec unshare -Urm \"$@\"";
    let inside = |program: &[&str]| unshare().args(["/bin/sh", "-c", covered, "sh"]).args(program).output();
    if !lisle::sandbox::is_enforced() || !inside(&["true"]).is_ok_and(|out| out.status.success()) {
        return;
    }
    let lisle = text(&tools().lisle);
    let out = inside(&[lisle, "__hold", "--try-namespaces"]).unwrap();
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success() && said.contains("\nproc not allowed\nroot \n"), "{said}");
    let line = format!("echo ran; ls {}; echo x > free/new && rm free/new", yard.work.parent().unwrap().display());
    let mut program = vec![lisle, "__hold", "--workspace", "--namespaces", "--writable", text(&yard.work)];
    for path in ["/usr", "/bin", "/lib", "/lib64"] {
        program.extend(["--readable", path]);
    }
    program.extend(["--", "/bin/sh", "-c", &line]);
    let out = inside(&program).unwrap();
    assert_eq!((String::from_utf8_lossy(&out.stdout).as_ref(), out.status.code()), ("ran\nwork\n", Some(0)), "{out:?}");
}

#[test]
fn mounts_cannot_be_changed_or_opened_anew() {
    let yard = Yard::new();
    nothing_works("mounts", &["/etc"], &yard);
}

#[test]
fn calls_into_the_kernel_and_of_foreign_tables_are_refused() {
    let yard = Yard::new();
    nothing_works("calls", &[text(&yard.work)], &yard);
}

#[test]
fn nothing_is_typed_at_terminals() {
    let yard = Yard::new();
    nothing_works("terminals", &[], &yard);
}

#[test]
fn what_is_not_in_the_list_cannot_be_read() {
    let yard = Yard::new();
    let secret = yard.outside.join("secret");
    nothing_works_and_is_tried("reads", &[text(&secret), text(&yard.outside), "/root", "/var/lib", "/boot"], &yard);
}

#[test]
fn sockets_of_others_are_out_of_reach_and_families_are_a_list() {
    let yard = Yard::new();
    let (stream, datagram) = (yard.outside.join("stream"), yard.outside.join("datagram"));
    let _stream = UnixListener::bind(&stream).unwrap();
    let _datagram = UnixDatagram::bind(&datagram).unwrap();
    for path in [&stream, &datagram] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    }
    let name = format!("lisle-test-{}", std::process::id());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    nothing_works_and_is_tried("sockets", &[text(&stream), &format!("@{name}"), text(&datagram)], &yard);
}

#[test]
fn parents_of_what_is_protected_stay_where_they_are() {
    let yard = Yard::new();
    let at = |name: &str| yard.work.join(name);
    let (a, b, protected) = (at("a"), at("a/b"), at("a/b/protected"));
    let more = ["--pinned", text(&a), "--pinned", text(&b), "--protected", text(&protected)];
    for way in ways().into_iter().filter(|way| way.namespaces && way.writes()) {
        assert_eq!(yard.attack(way, &more, "renames", &[text(&yard.work)]), "", "{way:?}");
        let (said, code) =
            yard.sh(way, &more, "echo new > a/b/new && mv a/b/new a/other && rm a/other && cat a/b/protected");
        assert_eq!((said.as_str(), code), ("content\n", Some(0)), "{way:?}");
    }
}

#[test]
fn descriptors_that_lisle_was_started_with_stay_with_it() {
    let yard = Yard::new();
    let file = std::fs::File::open(yard.outside.join("secret")).unwrap();
    // Passed on by the shell, as by a careless program.
    let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    for (word, rest) in [
        ("__hold", &["--workspace", "--readable", "/"][..]),
        ("__run", &["--timeout-ms", "9000", "--output-limit", "9000"]),
    ] {
        let line = format!("exec 9<{path}; exec \"$0\" \"$@\" 9<&9");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &line, text(&tools().lisle), word]).args(rest);
        command.args(["--", text(&tools().walls), "descriptors"]).current_dir(&yard.work);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let control = child.stdin.take();
        let mut said = String::new();
        child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(child.wait().unwrap().success() && said.is_empty(), "{word}: {said}");
        drop(control);
    }
}

#[test]
fn rights_of_root_are_a_list() {
    let yard = Yard::new();
    for way in ways() {
        let (said, _) = yard.sh(way, &[], "grep -E '^(Cap|NoNewPrivs)' /proc/self/status");
        let field = |name: &str| said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(":\t"));
        let kept = match (way.is_root(), way.writes()) {
            (false, _) => 0,
            // CAP_DAC_READ_SEARCH alone.
            (true, false) => 1 << 2,
            // CAP_CHOWN, DAC_OVERRIDE, FOWNER, FSETID, SETGID, SETUID.
            (true, true) => 0b1101_1011,
        };
        let set = |name: &str| u64::from_str_radix(field(name).unwrap(), 16).unwrap();
        assert_eq!([set("CapInh"), set("CapAmb")], [0, 0], "{way:?}");
        assert_eq!([set("CapPrm"), set("CapEff")], [kept, kept], "{way:?}");
        // A user without namespaces cannot change this set, and no_new_privs holds.
        if way.is_root() || way.namespaces {
            assert_eq!(set("CapBnd"), kept, "{way:?}");
        }
        assert_eq!(field("NoNewPrivs"), Some("1"), "{way:?}");
    }
}

#[test]
fn the_root_holds_the_list_alone_and_links_lead_on() {
    let yard = Yard::new();
    let root = yard.work.parent().unwrap();
    std::os::unix::fs::symlink("work", root.join("link")).unwrap();
    std::os::unix::fs::symlink(root.join("outside"), yard.work.join("lure")).unwrap();
    let link = root.join("link/free");
    let lure = yard.work.join("lure");
    for way in ways() {
        let more = ["--readable", text(&link), "--readable", text(&lure), "--writable", text(&lure)];
        let cat = format!("cat {}/file", link.display());
        assert_eq!(yard.sh(way, &more, &cat).0, "content\n", "{way:?}");
        // Commands write that folder, so one of them could have laid the link.
        let (said, code) = yard.sh(way, &more, "cat lure/secret || echo x > lure/new");
        assert!(code != Some(0) && !said.contains("content"), "{way:?} {said}");
        assert_eq!(yard.sh(way, &[], "cat a/b/protected && pwd").0, format!("content\n{}\n", yard.work.display()));
        if way.namespaces {
            let above = format!("ls -A {}", root.display());
            assert_eq!(yard.sh(way, &[], &above).0, "work\n", "{way:?}");
            let (said, code) = yard.sh(way, &[], "touch /new /usr/new /dev/new; : > /etc/new");
            assert_ne!(code, Some(0), "{way:?} {said}");
        }
    }
    assert_eq!(std::fs::read_dir(&yard.outside).unwrap().count(), 1);
}

#[test]
fn a_masked_file_holds_one_comment_and_a_masked_folder_nothing() {
    let yard = Yard::new();
    let (env, folder) = (yard.work.join(".env"), yard.work.join("a"));
    let more = ["--masked", text(&env), "--masked", text(&folder)];
    for way in ways().into_iter().filter(|way| way.namespaces) {
        let (said, _) =
            yard.sh(way, &more, "cat .env; ls -A a; rm -f .env; echo x > .env; echo x > a/x; mv .env e; cat .env");
        let hidden: Vec<&str> = said.lines().filter(|line| !line.contains(": ")).collect();
        assert_eq!(hidden, ["# hidden by lisle"; 2], "{way:?} {said}");
    }
    assert_eq!(std::fs::read_to_string(env).unwrap(), "content\n");
}

#[test]
fn a_replaced_folder_is_another_and_what_lies_below_it_is_mounted_in() {
    let yard = Yard::new();
    let kept = yard.work.parent().unwrap().join("kept");
    std::fs::create_dir(&kept).unwrap();
    std::fs::set_permissions(&kept, std::fs::Permissions::from_mode(0o777)).unwrap();
    let temp = yard.work.parent().unwrap();
    // An earlier command has laid a link where the working directory is to be.
    std::os::unix::fs::symlink("/usr", kept.join("work")).unwrap();
    let more = ["--replaced", text(temp), text(&kept)];
    for way in ways().into_iter().filter(|way| way.namespaces && way.writes()) {
        let line = format!("echo here > {0}/file && cat {0}/file a/b/protected && ls {0}", temp.display());
        assert_eq!(yard.sh(way, &more, &line).0, "here\ncontent\nfile\nwork\n", "{way:?}");
        assert_eq!(std::fs::read_to_string(kept.join("file")).unwrap(), "here\n");
        std::fs::remove_file(kept.join("file")).unwrap();
    }
    // What only reads writes none of it.
    for way in ways().into_iter().filter(|way| way.namespaces && !way.writes()) {
        let line = format!("cat a/b/protected; echo x > {}/file", temp.display());
        let (said, code) = yard.sh(way, &more, &line);
        assert!(code != Some(0) && said.starts_with("content\n"), "{way:?} {said}");
    }
}

#[test]
fn a_socket_that_is_named_can_be_reached_and_no_other() {
    let yard = Yard::new();
    let (named, other) = (yard.outside.join("named"), yard.outside.join("other"));
    let _listeners = [&named, &other].map(|path| {
        let listener = UnixListener::bind(path).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
        listener
    });
    let newest = lisle::sandbox::linux::confine::landlock_version();
    for way in ways().into_iter().filter(|way| way.writes()) {
        let more = ["--socket", text(&named)];
        let said = yard.attack(way, &more, "sockets", &[text(&named), text(&other), text(&other)]);
        let abi = way.abi.min(newest);
        let reached = abi >= 6 && (way.namespaces || abi >= 9);
        let expected = if reached { format!("connected to {}\n", named.display()) } else { String::new() };
        assert_eq!(said, expected, "{way:?}");
    }
}

#[test]
fn a_masked_socket_leads_nowhere() {
    let yard = Yard::new();
    let socket = yard.work.join("free/server.sock");
    let _listener = UnixListener::bind(&socket).unwrap();
    std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o777)).unwrap();
    let mut reached = false;
    for way in ways().into_iter().filter(|way| way.writes() && way.namespaces) {
        let open = yard.attack(way, &[], "sockets", &[text(&socket), "/none", "/none"]);
        reached |= open.contains("connected");
        let more = ["--masked", text(&socket)];
        assert_eq!(yard.attack(way, &more, "sockets", &[text(&socket), "/none", "/none"]), "", "{way:?}");
    }
    // Rules from version 9 on refuse it by themselves.
    let newest = lisle::sandbox::linux::confine::landlock_version();
    assert!(reached || newest < 6 || !ways().iter().any(|way| way.writes() && way.namespaces && way.abi < 9));
}

#[test]
fn own_terminals_and_shared_memory_work_in_the_workspace() {
    let yard = Yard::new();
    for way in ways().into_iter().filter(|way| way.namespaces && way.writes()) {
        let line = "echo x > /dev/shm/x && cat /dev/shm/x && : < /dev/ptmx && head -c 1 /dev/zero | wc -c && ls /dev";
        let (said, code) = yard.sh(way, &[], line);
        let names = "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero";
        assert_eq!(said.split_whitespace().collect::<Vec<_>>().join(" "), format!("x 1 {names}"), "{way:?}");
        assert_eq!(code, Some(0), "{way:?}");
        assert_eq!(yard.sh(way, &[], "ls /dev/shm").0, "", "{way:?}");
    }
}

/// Starts a line under the parent of commands, in a workspace with namespaces.
fn run(yard: &Yard, timeout: &str, line: &str) -> std::process::Child {
    let mut command = Command::new(LISLE);
    command.args(["__run", "--timeout-ms", timeout, "--output-limit", "9000", "--workspace", "--namespaces"]);
    for path in ["/usr", "/bin", "/lib", "/lib64", "/etc"] {
        command.args(["--readable", path]);
    }
    command.arg("--writable").arg(&yard.work).args(["--", "/bin/bash", "--noprofile", "--norc", "-c", line]);
    command.current_dir(&yard.work).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Output of a command, and the report of its parent. Its control pipe is open for as long.
fn outcome(mut child: std::process::Child) -> (String, lisle::sandbox::RunReport) {
    let control = child.stdin.take();
    let (mut said, mut report) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut report).unwrap();
    child.wait().unwrap();
    drop(control);
    let report = lisle::sandbox::RunReport::parse(&report).unwrap_or_else(|| panic!("{said} {report}"));
    (said, report)
}

#[test]
fn what_a_command_leaves_in_its_own_namespace_is_counted_and_ended() {
    if !ways().iter().any(|way| way.namespaces && !way.other) {
        return;
    }
    let yard = Yard::new();
    let line =
        "sleep 1000 & setsid bash -c 'trap \"\" TERM HUP; sleep 1000' & ( setsid sleep 1000 & ) ; echo started; exit 3";
    let (said, report) = outcome(run(&yard, "60000", line));
    assert_eq!((said.as_str(), report.exit, report.stuck), ("started\n", Some(3), 0), "{report:?}");
    assert!((3..=4).contains(&report.left), "{report:?}");
    assert_eq!(report.ended, lisle::sandbox::Ended::Itself);
    // Nothing is left by a pipe, and by what ends soon.
    let (said, report) = outcome(run(&yard, "60000", "(sleep 0.05; echo late) & echo early"));
    assert_eq!((said.as_str(), report.exit, report.left), ("early\nlate\n", Some(0), 0), "{report:?}");
}

#[test]
fn a_command_in_its_own_namespace_takes_signals_and_ends_in_time() {
    if !ways().iter().any(|way| way.namespaces && !way.other) {
        return;
    }
    let yard = Yard::new();
    let (said, report) = outcome(run(&yard, "300", "trap 'echo asked; exit 9' TERM; sleep 1000 & wait"));
    assert_eq!((said.as_str(), report.exit), ("asked\n", Some(9)), "{report:?}");
    assert_eq!(report.ended, lisle::sandbox::Ended::Timeout);
    let (_, report) = outcome(run(&yard, "300", "trap '' TERM; sleep 1000; sleep 1000"));
    assert_eq!((report.signal, report.stuck), (Some(9), 0), "{report:?}");
    let (_, report) = outcome(run(&yard, "60000", "kill -SEGV $$"));
    assert_eq!(report.signal, Some(11), "{report:?}");
}

#[test]
fn a_killed_parent_takes_its_whole_namespace_along() {
    if !ways().iter().any(|way| way.namespaces && !way.other) {
        return;
    }
    let yard = Yard::new();
    let mut child = run(&yard, "600000", "trap '' TERM HUP; ( setsid sleep 1000 & ) ; echo started; sleep 1000");
    let mut out = child.stdout.take().unwrap();
    let mut first = [0; 8];
    out.read_exact(&mut first).unwrap();
    child.kill().unwrap();
    // Every one of them has the other end; it closes with the last of them.
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!((&first, rest.as_str()), (b"started\n", ""));
    child.wait().unwrap();
}

#[test]
fn lisles_own_environment_shows_no_key() {
    let home = tempfile::tempdir().unwrap();
    let mut lisle = Command::new(LISLE)
        .args(["run", "-"])
        .env("LISLE_HOME", home.path())
        .env("OPENAI_API_KEY", "sk-not-to-be-seen")
        .env("ACME", "abcdefgh0123456789ABCDEFGH")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let path = format!("/proc/{}/environ", lisle.id());
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let has = |text: &[u8], what: &str| text.windows(what.len()).any(|part| part == what.as_bytes());
    // Only root can look, once it is closed to others; for anybody else it is closed then.
    loop {
        match std::fs::read(&path) {
            // One after the other goes.
            Ok(text) if text.is_empty() || ["not-to-be-seen", "0123456789"].iter().any(|key| has(&text, key)) => {}
            Ok(text) => {
                assert!(has(&text, "LISLE_HOME"), "{}", String::from_utf8_lossy(&text));
                break;
            }
            Err(_) => break,
        }
        assert!(std::time::Instant::now() < until, "its environment shows keys");
        std::thread::yield_now();
    }
    drop(lisle.stdin.take());
    let _ = lisle.kill();
    let _ = lisle.wait();
}

#[test]
fn a_protected_link_and_what_it_leads_to_stay() {
    let yard = Yard::new();
    let link = yard.work.join("a/link");
    std::os::unix::fs::symlink("b/protected", &link).unwrap();
    let a = yard.work.join("a");
    let bounds = ["--pinned", text(&a), "--protected", text(&link)];
    for way in ways().into_iter().filter(|way| way.namespaces && way.writes()) {
        let line = "cat a/link; rm -f a/link; ln -sf evil a/link; mv a/link a/away; ln -s evil a/evil; mv -T a/evil a/link; \
            echo evil > a/link; readlink a/link; cat a/link; rm -f a/evil";
        let (said, _) = yard.sh(way, &bounds, &format!("({line}) 2>/dev/null"));
        assert_eq!(said, "content\nb/protected\ncontent\n", "{way:?}");
        assert_eq!(std::fs::read_link(&link).unwrap(), Path::new("b/protected"));
    }
}

#[test]
fn what_others_replace_meanwhile_neither_fails_a_command_nor_opens_anything() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let yard = Yard::new();
    let (at, over) = (yard.work.join("a/b/protected"), AtomicBool::new(false));
    let [a, b, env] = ["a", "a/b", ".env"].map(|name| yard.work.join(name));
    let pinned = ["--pinned", text(&a), "--pinned", text(&b), "--protected", text(&at)];
    let bounds = [&pinned[..], &["--masked", text(&env), "--masked", text(&at)]].concat();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // A file, then another one, then none, then a folder.
            let new = yard.work.join("new");
            while !over.load(Ordering::Relaxed) {
                for path in [&at, &yard.work.join(".env")] {
                    let _ = std::fs::remove_dir(path);
                    let _ = std::fs::write(&new, "other\n");
                    let _ = std::fs::rename(&new, path);
                    let _ = std::fs::remove_file(path);
                    let _ = std::fs::create_dir(path);
                }
            }
        });
        let ways = ways().into_iter().filter(|way| way.namespaces && way.writes());
        let all = ways.flat_map(|way| std::iter::repeat_n(way, 20));
        let failed: Vec<String> = all
            .map(|way| (way, yard.held(way, &bounds, &["/bin/true"])))
            .filter(|(_, out)| !out.status.success())
            .map(|(way, out)| format!("{way:?}: {}", String::from_utf8_lossy(&out.stderr)))
            .collect();
        over.store(true, Ordering::Relaxed);
        assert_eq!(failed, Vec::<String>::new());
    });
}

#[test]
fn a_path_that_goes_up_opens_nothing_whatever_list_names_it() {
    let yard = Yard::new();
    let outside = yard.work.parent().unwrap().join("beyond");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("f"), "kept\n").unwrap();
    let above = yard.work.join("..");
    let beside = yard.work.join("../beyond");
    std::os::unix::fs::symlink("..", yard.work.join("a/up")).unwrap();
    let through = yard.work.join("a/up/../beyond");
    let marker = yard.work.parent().unwrap().join("marker");
    for path in [&above, &beside, &through] {
        let file = path.join("f");
        for list in ["--pinned", "--protected"] {
            let bounds = [list, text(path), "--protected", text(&file)];
            for way in ways().into_iter().filter(|way| way.writes()) {
                let line = format!("echo x > {}; echo x > {}", text(&marker), text(&outside.join("f")));
                yard.sh(way, &bounds, &format!("({line}) 2>/dev/null"));
                assert!(!marker.exists(), "{list} {path:?} {way:?}");
                assert_eq!(std::fs::read_to_string(outside.join("f")).unwrap(), "kept\n", "{list} {path:?} {way:?}");
            }
        }
    }
}
