//! State of the sandbox on this machine: one line for each wall, with what is open where it is
//! lower, and the reason.

use super::readable;
use crate::domain::finding::Finding;
use crate::domain::permission::Sandbox;
use crate::runtime::setup::Bootstrap;
use crate::sandbox::{self, system_support::Able};
use crate::sandbox::{Network, places, system_support};
use std::path::Path;

/// Findings about the sandbox, in the order to show.
pub(super) fn findings(bootstrap: &Bootstrap) -> Vec<Finding> {
    let enforced = sandbox::is_enforced();
    let mut out = Vec::new();
    #[cfg(target_os = "linux")]
    {
        let version = sandbox::linux::confine::landlock_version();
        let seccomp = if sandbox::linux::confine::seccomp_is_there() { "seccomp" } else { "no seccomp" };
        let says = format!("Landlock {version}, {seccomp}");
        out.push(if enforced {
            Finding::ok("kernel", says)
        } else {
            Finding::warn("kernel", says, "The sandbox needs Linux 5.19 or newer with Landlock and seccomp")
        });
    }
    let set = match bootstrap.sandbox_setting() {
        Sandbox::Workspace => "workspace",
        Sandbox::ReadOnly => "read-only",
        Sandbox::None => "off",
    };
    out.push(match (enforced, set) {
        (false, _) => Finding::warn(
            "sandbox",
            format!("none (setting: {set}): commands run unconfined"),
            "Explore only runs a short list of programs",
        ),
        (true, "off") => Finding::warn(
            "sandbox",
            "off by setting; Explore and read-only commands are still confined",
            "Set `sandbox = \"workspace\"` in config.toml",
        ),
        (true, set) => Finding::ok("sandbox", format!("{set} in Ask to Edit and Execute, read-only in Explore")),
    });
    if enforced && cfg!(target_os = "linux") {
        out.extend(walls(system_support::able(bootstrap.runner())));
    }
    out.push(network(bootstrap, enforced));
    let allowed = bootstrap.allowances();
    out.push(temporary(allowed.own_temp && system_support::namespaces(bootstrap.runner()).is_ok()));
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let usual = places::usual(home.as_deref(), bootstrap.cwd());
    out.extend(readable::findings(&allowed.readable, &usual, home.as_deref()));
    let there = allowed.caches.iter().filter(|cache| cache.at.exists()).count();
    let memory = match allowed.memory {
        Some(bytes) => format!("; memory limit {} per process", megabytes(bytes)),
        None => String::new(),
    };
    out.push(Finding::ok(
        "caches",
        format!("commands use workspace copies of {there} package manager folders{memory}"),
    ));
    out
}

/// Folder of temporary files of commands.
fn temporary(own: bool) -> Finding {
    if own {
        let says = "private /tmp and /var/tmp per session";
        return Finding::ok("temp", says);
    }
    Finding::warn("temp", "shared /tmp: a private one needs namespaces", "")
}

/// Network of commands.
fn network(bootstrap: &Bootstrap, enforced: bool) -> Finding {
    let allowed = bootstrap.allowances();
    let held = bootstrap.sandbox_setting() == Sandbox::Workspace;
    let spaces = system_support::own_network(bootstrap.runner());
    if !enforced && allowed.network != Network::Open {
        let says = "no sandbox here: commands that may change something are refused";
        return Finding::warn("network", says, "Set `network = \"open\"` in [sandbox] of config.toml to allow them");
    }
    match (&allowed.network, held, spaces) {
        (Network::Open, ..) => Finding::ok("network", "open; none in Explore"),
        (Network::Proxy | Network::Off, false, _) => Finding::warn(
            "network",
            "sandbox.network has no effect without the workspace sandbox",
            "Set `profile = \"workspace\"` in [sandbox] of config.toml",
        ),
        (Network::Off, true, Ok(())) => Finding::ok("network", "off: private loopback only"),
        (Network::Off, true, Err(_)) => Finding::ok("network", "off: no sockets except kernel ones"),
        (Network::Proxy, true, Ok(())) => {
            let private = match allowed.private_hosts.len() {
                0 => String::new(),
                n => format!("; {n} private hosts from sandbox.private_hosts"),
            };
            Finding::ok(
                "network",
                format!("hosts: package registries, git remotes and rules' hosts pass, others ask{private}"),
            )
        }
        (Network::Proxy, true, Err(why)) => Finding::warn(
            "network",
            format!("hosts can't be filtered here ({why}): commands that may change something are refused"),
            "Allow unprivileged user namespaces, or set `network = \"off\"` or \"open\" in [sandbox] of config.toml",
        ),
    }
}

/// The walls around a held command.
fn walls(able: &Able) -> Vec<Finding> {
    let wall = |about: &str, holds: Result<&str, &str>| match holds {
        Ok(says) => Finding::ok(about, says),
        Err(says) => Finding::warn(about, says, ""),
    };
    let root = able.root.is_ok();
    let either = |yes: &'static str, no: &'static str| if root { Ok(yes) } else { Err(no) };
    let mut out = vec![
        match &able.root {
            Ok(()) => Finding::ok("namespaces", "private root, process list and devices"),
            Err(why) => Finding::warn("namespaces", format!("not available: {why}"), remedy()),
        },
        wall(
            "reading",
            either(
                "read list only; other files are invisible",
                "read list only; without namespaces, other files' names, sizes and times are visible, and commands that may write \
                 can change rights, owners and times of your files",
            ),
        ),
        wall(
            "secrets",
            either(
                "hidden in the project, by name and content",
                "hidden from read-only commands; not from others without namespaces",
            ),
        ),
        wall(
            "protected",
            either(
                "hooks, CI, editor and shell configuration are read-only at any depth",
                "without namespaces: checked after each command and restorable",
            ),
        ),
        match &able.proc {
            Ok(()) => Finding::ok("processes", "a command sees only its own"),
            Err(why) => Finding::warn(
                "processes",
                format!("other processes' command lines are visible; memory and variables are not ({why})"),
                if root {
                    "Start the container with an unmasked /proc (docker: --security-opt systempaths=unconfined)"
                } else {
                    ""
                },
            ),
        },
    ];
    out.push(match able.local_sockets() {
        Ok(()) => Finding::ok("sockets", "other programs' sockets (X11, tmux, D-Bus, agents, docker) are invisible"),
        Err(why) => Finding::warn(
            "sockets",
            format!("commands can't use Unix sockets: {why}"),
            if root { "Use Linux 6.12 or newer" } else { "" },
        ),
    });
    out
}

/// Advice for systems known to forbid namespaces.
fn remedy() -> String {
    let says = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    if says("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" {
        return "Blocked by AppArmor. Save the output of `lisle doctor apparmor` as /etc/apparmor.d/lisle, then run \
         `apparmor_parser -r /etc/apparmor.d/lisle`"
            .to_owned();
    }
    for (setting, path) in [
        ("kernel.unprivileged_userns_clone=1", "/proc/sys/kernel/unprivileged_userns_clone"),
        ("user.max_user_namespaces=15000", "/proc/sys/user/max_user_namespaces"),
    ] {
        if says(path) == "0" {
            return format!("Run `sysctl -w {setting}` as root, and add it to /etc/sysctl.d");
        }
    }
    let in_container = ["/.dockerenv", "/run/.containerenv"].iter().any(|mark| Path::new(mark).exists());
    if in_container {
        "Start the container with a seccomp profile that allows unshare, mount and pivot_root".to_owned()
    } else {
        "Allow unprivileged user namespaces on this system".to_owned()
    }
}

/// A profile for AppArmor that lets `program` make user namespaces, and changes nothing else.
/// Format: <https://gitlab.com/apparmor/apparmor/-/wikis/unprivileged_userns_restriction>.
#[must_use]
pub fn apparmor(program: &Path) -> String {
    let path = program.display().to_string().replace('"', "");
    format!(
        "# Lets lisle make user namespaces for the commands that it holds.\nabi <abi/4.0>,\ninclude <tunables/global>\n\n\
         profile lisle \"{path}\" flags=(unconfined) {{\n  userns,\n  include if exists <local/lisle>\n}}\n"
    )
}

/// Bytes in megabytes, with a tenth.
pub(super) fn megabytes(bytes: u64) -> String {
    let tenths = bytes.saturating_mul(10) / 1_000_000;
    format!("{}.{} MB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn able(root: Result<(), String>, landlock: i32) -> Able {
        let each = || root.clone();
        Able {
            landlock,
            seccomp: true,
            user: each(),
            mount: each(),
            pid: each(),
            network: each(),
            proc: each(),
            root: each(),
        }
    }

    #[test]
    fn each_wall_is_high_or_says_what_is_open() {
        let states = |able: &Able| walls(able).iter().map(|one| one.advice.is_empty()).collect::<Vec<_>>();
        assert!(walls(&able(Ok(()), 7)).iter().all(|one| one.state == crate::domain::finding::Health::Ok));
        let low = able(Err("Operation not permitted".into()), 7);
        assert!(walls(&low).iter().all(|one| one.state == crate::domain::finding::Health::Warn), "{:?}", walls(&low));
        assert_eq!(states(&low).iter().filter(|none| !**none).count(), 1, "one thing is to be done, once");
        assert!(walls(&low)[0].says.contains("Operation not permitted"));
        let old = &walls(&able(Ok(()), 5))[5];
        assert!(old.says.contains("Landlock 5") && old.advice.contains("Linux 6.12"));
        let masked = Able { proc: Err("not allowed".into()), ..able(Ok(()), 7) };
        assert!(walls(&masked)[4].says.contains("not allowed") && !walls(&masked)[4].advice.is_empty());
    }

    #[test]
    fn the_profile_names_the_program() {
        let text = apparmor(Path::new("/opt/my tools/lisle"));
        assert!(text.contains("profile lisle \"/opt/my tools/lisle\" flags=(unconfined) {\n  userns,"), "{text}");
    }
}
