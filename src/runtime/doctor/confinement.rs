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
            Finding::warn(
                "kernel",
                says,
                "Commands can be held from Linux 5.19 on, with both built in and not forbidden",
            )
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
            format!("none, though the setting is {set}: commands run as you would run them"),
            "In Explore only a short list of programs runs",
        ),
        (true, "off") => Finding::warn(
            "sandbox",
            "off by the setting; Explore and commands that only read are closed in all the same",
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
        Some(bytes) => format!("; each process has at most {} of its own memory", megabytes(bytes)),
        None => String::new(),
    };
    out.push(Finding::ok(
        "caches",
        format!("commands get the workspace's own copies of {there} folders of package managers{memory}"),
    ));
    out
}

/// Folder of temporary files of commands.
fn temporary(own: bool) -> Finding {
    if own {
        let says =
            "/tmp and /var/tmp are a folder of the session for commands and file tools; other programs see none of it";
        return Finding::ok("temp", says);
    }
    Finding::warn("temp", "commands share /tmp with other programs: a folder of the session needs namespaces", "")
}

/// Network of commands.
fn network(bootstrap: &Bootstrap, enforced: bool) -> Finding {
    let allowed = bootstrap.allowances();
    let held = bootstrap.sandbox_setting() == Sandbox::Workspace;
    let spaces = system_support::own_network(bootstrap.runner());
    if !enforced && allowed.network != Network::Open {
        let says = "nothing holds commands here, so those that may change something are refused";
        return Finding::warn("network", says, "Set `network = \"open\"` in [sandbox] of config.toml to let them run");
    }
    match (&allowed.network, held, spaces) {
        (Network::Open, ..) => Finding::ok("network", "open for commands that may change something, none in Explore"),
        (Network::Proxy | Network::Off, false, _) => Finding::warn(
            "network",
            "sandbox.network has no effect without the workspace sandbox",
            "Set `profile = \"workspace\"` in [sandbox] of config.toml",
        ),
        (Network::Off, true, Ok(())) => Finding::ok("network", "off: commands have loopback of their own alone"),
        (Network::Off, true, Err(_)) => Finding::ok("network", "off: commands make no sockets but of the kernel's own"),
        (Network::Proxy, true, Ok(())) => {
            let private = match allowed.private_hosts.len() {
                0 => String::new(),
                n => format!("; of the private network {n} from sandbox.private_hosts"),
            };
            Finding::ok(
                "network",
                format!(
                    "hosts: package registries, the repository's remotes and hosts of rules pass, others are asked for{private}"
                ),
            )
        }
        (Network::Proxy, true, Err(why)) => Finding::warn(
            "network",
            format!("hosts cannot be held here ({why}): commands that may change something are refused"),
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
            Ok(()) => Finding::ok("namespaces", "commands get a root, a process list and devices of their own"),
            Err(why) => Finding::warn("namespaces", format!("not for lisle: {why}"), remedy()),
        },
        wall(
            "reading",
            either(
                "the read list alone; other files do not exist",
                "the read list alone; without namespaces names, sizes and times of other files are visible",
            ),
        ),
        wall(
            "secrets",
            either(
                "hidden in the project, by name and by content",
                "not hidden without namespaces; commands that compute file names ask where a secret lies",
            ),
        ),
        wall(
            "protected",
            either(
                "hooks, CI, editor and shell configuration are read-only at any depth",
                "compared after each command without namespaces, and kept for restoring",
            ),
        ),
        match &able.proc {
            Ok(()) => Finding::ok("processes", "a command sees its own alone"),
            Err(why) => Finding::warn(
                "processes",
                format!("command lines of others are visible; memory and variables are closed ({why})"),
                if root {
                    "Start the container with an unmasked /proc (docker: --security-opt systempaths=unconfined)"
                } else {
                    ""
                },
            ),
        },
    ];
    out.push(match able.local_sockets() {
        Ok(()) => Finding::ok("sockets", "those of other programs (X11, tmux, D-Bus, agents, docker) do not exist"),
        Err(why) => Finding::warn(
            "sockets",
            format!("Unix sockets are refused to commands: {why}"),
            if root { "Use Linux 6.12 or newer" } else { "" },
        ),
    });
    out
}

/// Advice for systems known to forbid namespaces.
fn remedy() -> String {
    let says = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    if says("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" {
        return "AppArmor forbids them. Save what `lisle doctor apparmor` prints as /etc/apparmor.d/lisle and load it with \
                `apparmor_parser -r /etc/apparmor.d/lisle`"
            .to_owned();
    }
    for (setting, path) in [
        ("kernel.unprivileged_userns_clone=1", "/proc/sys/kernel/unprivileged_userns_clone"),
        ("user.max_user_namespaces=15000", "/proc/sys/user/max_user_namespaces"),
    ] {
        if says(path) == "0" {
            return format!("Run `sysctl -w {setting}` as root, and put it into /etc/sysctl.d");
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
