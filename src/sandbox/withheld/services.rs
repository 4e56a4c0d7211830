//! Sockets of other programs on this machine: where an agent or a daemon listens, which files go along with it, and what a
//! program writes that could not reach it.

use crate::domain::access::Service;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// The socket of a service, by the environment of lisle; `None` where there is none.
#[must_use]
pub fn find(service: Service) -> Option<PathBuf> {
    let var = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    candidates(service, &var, std::env::home_dir().as_deref()).into_iter().find_map(|path| {
        let is_socket = path.metadata().is_ok_and(|meta| meta.file_type().is_socket());
        is_socket.then(|| path.canonicalize().ok()).flatten()
    })
}

fn candidates(service: Service, var: &dyn Fn(&str) -> Option<PathBuf>, home: Option<&Path>) -> Vec<PathBuf> {
    let runtime = var("XDG_RUNTIME_DIR")
        .unwrap_or_else(|| PathBuf::from(format!("/run/user/{}", rustix::process::geteuid().as_raw())));
    match service {
        Service::SshAgent => var("SSH_AUTH_SOCK").into_iter().collect(),
        Service::GpgAgent => {
            let own = var("GNUPGHOME").or_else(|| home.map(|home| home.join(".gnupg")));
            own.map(|own| own.join("S.gpg-agent")).into_iter().chain([runtime.join("gnupg/S.gpg-agent")]).collect()
        }
        Service::Docker => {
            let named = std::env::var("DOCKER_HOST").ok();
            let named = named.as_deref().and_then(|host| host.strip_prefix("unix://")).map(PathBuf::from);
            let usual = ["/run/docker.sock", "/var/run/docker.sock"].map(PathBuf::from);
            named.into_iter().chain(usual).chain([runtime.join("docker.sock")]).collect()
        }
    }
}

/// Files that programs need beside the socket, those that are there.
#[must_use]
pub fn files(service: Service) -> Vec<PathBuf> {
    let home = std::env::home_dir();
    let gnupg = std::env::var_os("GNUPGHOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let mut out = Vec::new();
    for named in service.files() {
        let below = named.trim_start_matches("~/");
        let path = match (below.strip_prefix(".gnupg/"), &gnupg, &home) {
            (Some(name), Some(gnupg), _) => gnupg.join(name),
            (_, _, Some(home)) => home.join(below),
            _ => continue,
        };
        match path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix('*')) {
            None => out.push(path),
            Some(end) => {
                let entries = path.parent().and_then(|dir| std::fs::read_dir(dir).ok()).into_iter().flatten().flatten();
                out.extend(entries.map(|entry| entry.path()).filter(|path| path.to_string_lossy().ends_with(end)));
            }
        }
    }
    out.retain(|path| path.is_file());
    out
}

/// Messages of programs that did not reach a service, in small letters.
const SIGNS: &[(Service, &[&str])] = &[
    (
        Service::SshAgent,
        &[
            "permission denied (publickey",
            "could not open a connection to your authentication agent",
            "couldn't get agent socket",
            "no private key found for public key",
            "couldn't load public key",
            "error connecting to agent",
        ],
    ),
    (
        Service::GpgAgent,
        &[
            "gpg failed to sign the data",
            "gpg: signing failed",
            "gpg: can't connect to the agent",
            "gpg: can't connect to the gpg-agent",
            "gpg: decryption failed: no secret key",
        ],
    ),
    (
        Service::Docker,
        &[
            "connect to the docker daemon",
            "failed to connect to the docker",
            "docker.sock",
            "connect to the docker api",
        ],
    ),
];

/// Services that this output says were not reached.
#[must_use]
pub fn missed(output: &str) -> Vec<Service> {
    let lower = output.to_lowercase();
    SIGNS
        .iter()
        .filter(|(_, signs)| signs.iter().any(|sign| lower.contains(sign)))
        .map(|(service, _)| *service)
        // The names of servers come with the agent.
        .chain(super::ssh::is_alias(output).then_some(Service::SshAgent))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_are_looked_for_where_programs_look() {
        let var = |name: &str| match name {
            "SSH_AUTH_SOCK" => Some(PathBuf::from("/tmp/agent")),
            "XDG_RUNTIME_DIR" => Some(PathBuf::from("/run/user/7")),
            _ => None,
        };
        let of = |service| candidates(service, &var, Some(Path::new("/home/u")));
        assert_eq!(of(Service::SshAgent), [Path::new("/tmp/agent")]);
        let gpg = ["/home/u/.gnupg/S.gpg-agent", "/run/user/7/gnupg/S.gpg-agent"];
        assert_eq!(of(Service::GpgAgent), gpg.map(PathBuf::from));
        assert!(of(Service::Docker).contains(&PathBuf::from("/run/docker.sock")));
    }

    #[test]
    fn what_was_not_reached_is_told_by_the_output() {
        for (output, services) in [
            ("git@h: Permission denied (publickey).\n", vec![Service::SshAgent]),
            ("error: gpg failed to sign the data\nfatal: failed to write commit object\n", vec![Service::GpgAgent]),
            ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", vec![Service::Docker]),
            ("touch: cannot touch '/x': Permission denied\n", vec![]),
        ] {
            assert_eq!(missed(output), services, "{output}");
        }
    }
}
