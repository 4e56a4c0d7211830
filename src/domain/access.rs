//! Access: what one command gets beside the list of its sandbox, after an answer or by a rule.
//!
//! An access names exactly one thing: a path to read, a path to write, or the socket of another program. What it comes to on
//! this machine is looked up by the tool; who may have it is the permission function's decision.

use super::paths::{is_protected_for_commands, is_secret};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// One thing that the sandbox keeps from a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "access")]
pub enum Access {
    /// A file or folder that is hidden from commands.
    Read {
        /// Resolved path.
        path: PathBuf,
        /// It is a secret, which shows its content only after an answer.
        secret: bool,
    },
    /// A path that commands cannot write.
    Write {
        /// Resolved path.
        path: PathBuf,
        /// The one program of the line that gets it; `None` where the whole line does.
        #[serde(default)]
        program: Option<String>,
    },
    /// The socket of another program.
    Socket {
        /// Name of it.
        service: Service,
        /// Path of it.
        path: PathBuf,
        /// The one program of the line that gets it.
        program: String,
    },
}

/// Programs whose sockets a command may get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Service {
    /// Keys for SSH: signs in to servers, signs commits.
    SshAgent,
    /// Keys of GnuPG: signs and decrypts.
    GpgAgent,
    /// Containers: whoever has it controls the machine.
    Docker,
}

/// Access of a call beside its profile: by the answer that let it run, and by rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// Names of variables that stay in its environment.
    pub env: Vec<String>,
    /// Files and folders that it may read, secrets among them.
    pub readable: Vec<PathBuf>,
    /// Files and folders that it may write.
    pub writable: Vec<PathBuf>,
    /// Sockets that it may connect to: a [`Service`] by its name, or a path.
    pub sockets: Vec<String>,
}

impl Service {
    /// All of them.
    pub const ALL: [Service; 3] = [Service::SshAgent, Service::GpgAgent, Service::Docker];

    /// The name in calls and rules.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Service::SshAgent => "ssh-agent",
            Service::GpgAgent => "gpg-agent",
            Service::Docker => "docker",
        }
    }

    /// The service of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|service| service.name() == name)
    }

    /// Variables that tell a program where the socket is. They go along with it alone.
    #[must_use]
    pub fn variables(self) -> &'static [&'static str] {
        match self {
            Service::SshAgent => &["SSH_AUTH_SOCK", "SSH_AGENT_PID"],
            Service::GpgAgent => &["GPG_AGENT_INFO", "GNUPGHOME"],
            Service::Docker => &["DOCKER_HOST"],
        }
    }

    /// Files of the home folder that programs need beside the socket. None of them holds a key.
    #[must_use]
    pub fn files(self) -> &'static [&'static str] {
        match self {
            Service::SshAgent => &["~/.ssh/config", "~/.ssh/*.pub"],
            Service::GpgAgent => {
                &["~/.gnupg/pubring.kbx", "~/.gnupg/trustdb.gpg", "~/.gnupg/gpg.conf", "~/.gnupg/common.conf"]
            }
            Service::Docker => &[],
        }
    }

    /// The worst that whoever has the socket can do.
    #[must_use]
    pub fn worst(self) -> &'static str {
        match self {
            Service::SshAgent => "signs in to any server as you, with every key in the agent",
            Service::GpgAgent => "signs and decrypts as you, with every key in the agent",
            Service::Docker => "controls this machine like root",
        }
    }
}

impl Access {
    /// A warning in a few words, for the user who is asked.
    #[must_use]
    pub fn risk(&self, cwd: &Path) -> String {
        match self {
            Access::Read { path, secret: true } => format!("reads a secret: {}", short(path, cwd)),
            Access::Read { path, .. } => format!("reads outside the working directory: {}", short(path, cwd)),
            Access::Write { path, .. } if is_secret(path) && !configures(path, cwd) => {
                format!("reads and changes a secret: {}", short(path, cwd))
            }
            Access::Write { path, .. } if path.starts_with(cwd) => {
                format!("writes files that configure or run code: {}", short(path, cwd))
            }
            Access::Write { path, .. } => format!("writes outside the working directory: {}", short(path, cwd)),
            Access::Socket { service, program, .. } => {
                format!("{program} gets {}: {}", service.name(), service.worst())
            }
        }
    }
}

fn configures(path: &Path, cwd: &Path) -> bool {
    is_protected_for_commands(path.strip_prefix(cwd).unwrap_or(path))
}

/// The path from the working directory on, where it lies there.
fn short(path: &Path, cwd: &Path) -> String {
    match path.strip_prefix(cwd) {
        Ok(below) if !below.as_os_str().is_empty() => below.display().to_string(),
        _ => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_found_by_their_names() {
        for service in Service::ALL {
            assert_eq!(Service::named(service.name()), Some(service));
        }
        assert_eq!(Service::named("x11"), None);
    }

    #[test]
    fn the_warning_names_the_exact_thing() {
        let cwd = Path::new("/w/p");
        let read = |path: &str, secret| Access::Read { path: path.into(), secret };
        let write = |path: &str| Access::Write { path: path.into(), program: None };
        for (access, words) in [
            (read("/w/p/.env", true), "reads a secret: .env"),
            (read("/w/lib", false), "reads outside the working directory: /w/lib"),
            (write("/w/p/.git/config"), "writes files that configure or run code: .git/config"),
            (write("/w/p/.env.test"), "reads and changes a secret: .env.test"),
            (write("/w/p/.envrc"), "writes files that configure or run code: .envrc"),
            (write("/w/r.git"), "writes outside the working directory: /w/r.git"),
            (
                Access::Socket { service: Service::Docker, path: "/run/docker.sock".into(), program: "docker".into() },
                "docker gets docker: controls this machine like root",
            ),
        ] {
            assert_eq!(access.risk(cwd), words);
        }
    }
}
