//! Abilities of this system to confine commands, asked from the kernel itself.
//!
//! Namespaces can only be tried: what forbids them (the kernel's build, a limit, a container, AppArmor) is not to be read
//! anywhere. A process of its own tries, once.

use super::profile::Namespaces;
use std::path::Path;
use std::sync::OnceLock;

/// Abilities of confined commands on this system; each an error of a few words if it is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Able {
    /// Version of the Landlock ABI; 0 without Landlock.
    pub landlock: i32,
    /// Filters of system calls (seccomp) can be installed.
    pub seccomp: bool,
    /// A user namespace; root does without.
    pub user: Result<(), String>,
    /// A mount namespace.
    pub mount: Result<(), String>,
    /// A namespace of processes.
    pub pid: Result<(), String>,
    /// A network of its own.
    pub network: Result<(), String>,
    /// A `/proc` with the command's processes alone. Without, Landlock keeps memory and environment of other processes
    /// closed, and command lines can be read.
    pub proc: Result<(), String>,
    /// A root of the file system that holds the profile's places alone; all the rest that needs namespaces hangs on it.
    pub root: Result<(), String>,
}

impl Able {
    /// Sockets of other programs by which this system lets a held command reach them, where it has the network of the
    /// system: these families are refused as a whole then.
    pub fn local_sockets(&self) -> Result<(), String> {
        match (self.landlock, &self.root) {
            (..6, _) => Err(format!("Landlock {} does not hold abstract sockets", self.landlock)),
            (6..9, Err(_)) => Err(format!("Landlock {} does not hold sockets with a path", self.landlock)),
            _ => Ok(()),
        }
    }
}

/// Abilities of commands that are started through `runner`. Tried at the first call, which takes as
/// long as some small processes.
pub fn able(runner: &Path) -> &'static Able {
    static FOUND: OnceLock<Able> = OnceLock::new();
    FOUND.get_or_init(|| attempt(runner))
}

/// Checks that commands started through `runner` can get a root of their own; else the reason in a few words.
pub fn namespaces(runner: &Path) -> Result<(), &'static str> {
    able(runner).root.as_ref().copied().map_err(String::as_str)
}

/// Checks that they can get a network of their own as well; else the reason.
pub fn own_network(runner: &Path) -> Result<(), &'static str> {
    namespaces(runner)?;
    able(runner).network.as_ref().copied().map_err(String::as_str)
}

/// Namespaces that they can get, as a value for a profile.
#[must_use]
pub fn spaces(runner: &Path) -> Namespaces {
    if namespaces(runner).is_ok() { Namespaces::With } else { Namespaces::Without }
}

impl Able {
    /// Nothing that needs namespaces.
    fn without(why: &str, landlock: i32, seccomp: bool) -> Self {
        let no = || Err(why.to_owned());
        Self { landlock, seccomp, user: no(), mount: no(), pid: no(), network: no(), proc: no(), root: no() }
    }
}

#[cfg(target_os = "linux")]
fn attempt(runner: &Path) -> Able {
    use super::linux::confine;
    use std::process::{Command, Stdio};
    let (landlock, seccomp) = (confine::landlock_version(), confine::seccomp_is_there());
    let out = Command::new(runner)
        .args([confine::WORD, confine::TRY])
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::null())
        .output();
    match out {
        Ok(out) => read(&String::from_utf8_lossy(&out.stdout), landlock, seccomp),
        Err(e) => Able::without(&format!("can't start {}: {e}", runner.display()), landlock, seccomp),
    }
}

#[cfg(not(target_os = "linux"))]
fn attempt(_: &Path) -> Able {
    Able::without("not available on this system", 0, false)
}

/// Reads what a process that tried has said: lines of a name and why not.
#[cfg(target_os = "linux")]
fn read(said: &str, landlock: i32, seccomp: bool) -> Able {
    let mut out = Able::without("no reason given", landlock, seccomp);
    for line in said.lines() {
        let (name, why) = line.split_once(' ').unwrap_or((line, ""));
        let outcome = if why.is_empty() { Ok(()) } else { Err(why.to_owned()) };
        match name {
            "user" => out.user = outcome,
            "mount" => out.mount = outcome,
            "pid" => out.pid = outcome,
            "network" => out.network = outcome,
            "proc" => out.proc = outcome,
            "root" => out.root = outcome,
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn what_a_process_tried_is_read() {
        let able = read("user \nmount Operation not permitted (os error 1)\nwhat \nroot \n", 7, true);
        assert_eq!((able.user, able.root), (Ok(()), Ok(())));
        assert_eq!(able.mount, Err("Operation not permitted (os error 1)".to_owned()));
        assert_eq!(able.proc, Err("no reason given".to_owned()));
    }

    #[test]
    fn sockets_are_held_by_newer_rules_or_by_a_root_of_their_own() {
        let of = |landlock, root| Able { root, ..Able::without("x", landlock, true) }.local_sockets().is_ok();
        let no = || Err("x".to_owned());
        assert_eq!(
            [of(5, Ok(())), of(6, Ok(())), of(8, no()), of(9, no()), of(9, Ok(()))],
            [false, true, false, true, true]
        );
    }
}
