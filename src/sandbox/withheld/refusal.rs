//! Tells a command that failed by itself from one that the sandbox held back, by what it wrote. A guess, and told as one.

use crate::domain::permission::Sandbox;
use crate::sandbox::profile::Network;
use crate::sandbox::proxy::Refused;
use std::path::{Path, PathBuf};

/// Content of a hidden file, one line.
pub(in crate::sandbox) const HIDDEN: &str = "hidden by lisle";

/// Messages of programs that the kernel refused something, in small letters.
pub(in crate::sandbox) const REFUSED: &[&str] = &[
    "permission denied",
    "read-only file system",
    "operation not permitted",
    "invalid cross-device link",
    "device or resource busy",
    "ebusy",
    HIDDEN,
    "os error 16)",
    "permissionerror",
    "eacces",
    "erofs",
    "eperm",
    "os error 1)",
    "os error 13)",
    "os error 18)",
    "os error 30)",
    // Git replaces its files as a whole, which a protected one does not let happen.
    "could not write config file",
    "could not lock config file",
];

/// The same where there is no network.
const OFFLINE: &[&str] = &[
    "could not resolve host",
    "temporary failure in name resolution",
    "name or service not known",
    "network is unreachable",
    "getaddrinfo",
    "failed to connect",
    "can't create socket",
    "cannot create socket",
    "address family not supported",
    "could not connect",
    "couldn't connect",
    "connection refused",
    "no route to host",
    "enetunreach",
    "econnrefused",
    "eai_again",
    "failed to lookup address",
    "dns error",
];

/// The same of services whose sockets are hidden.
const SERVICES: &[&str] =
    &["cannot connect to the docker daemon", "failed to connect to the docker", "connect to podman", "connect to bus"];

/// Bytes of the end of an output that are looked at.
const END: usize = 64 * 1024;
/// The exit status of curl when it could not connect.
const NOT_CONNECTED: i32 = 7;
/// The exit status of a command that was ended by a filter of calls: 128 + SIGSYS.
const BAD_CALL: i32 = 159;

/// Place at which the user opens a host for good.
#[derive(Clone, Debug)]
pub struct HostFiles {
    /// The `permissions.json` of the workspace.
    pub rules: PathBuf,
    /// The user's `config.toml`.
    pub config: PathBuf,
}

/// Note to the model about hosts that the proxy refused; `None` where it refused none.
#[must_use]
pub fn hosts(refused: &[Refused], files: &HostFiles) -> Option<String> {
    if refused.is_empty() {
        return None;
    }
    let list: Vec<String> = refused.iter().map(|one| format!("- {}: {}", one.target, one.why)).collect();
    let not_allowed = || refused.iter().filter(|one| !one.allowed);
    let public = not_allowed().find(|one| !one.private).map(|one| {
        format!(
            " The user can allow one for good in the `rules` of {}: {{\"effect\": \"allow\", \"tool\": \"network\", \"host\": \
             \"{}\"}}.",
            files.rules.display(),
            one.target.in_rules()
        )
    });
    let private = not_allowed().find(|one| one.private).map(|one| {
        format!(
            " Hosts of the private network are opened in {}: private_hosts = [\"{}\"] below [sandbox].",
            files.config.display(),
            one.target
        )
    });
    if public.is_none() && private.is_none() {
        return Some(format!("These hosts were allowed and could not be reached:\n{}", list.join("\n")));
    }
    Some(format!(
        "The sandbox blocked these hosts for this command (sandbox.network = \"hosts\"):\n{}\n{}{} Do not look for a way \
         around it.",
        list.join("\n"),
        public.unwrap_or_default().trim_start(),
        private.unwrap_or_default()
    ))
}

/// Note to the model about a command line that wrote `output` and ended with `code` in this sandbox; `None` when
/// nothing speaks for a refusal.
#[must_use]
pub fn hint(
    sandbox: Sandbox,
    network: &Network,
    cwd: &Path,
    (line, output): (&str, &str),
    code: Option<i32>,
) -> Option<String> {
    if code == Some(0) {
        return None;
    }
    // A client that was told to be silent says it by its status alone.
    let silent = output.trim().is_empty() && code == Some(NOT_CONNECTED) && line.contains("curl");
    let said = format!("failed to connect: {line}");
    let output = if silent { said.as_str() } else { output };
    let mut from = output.len().saturating_sub(END);
    while !output.is_char_boundary(from) {
        from += 1;
    }
    let end = output.get(from..).unwrap_or_default().to_lowercase();
    let says = |signs: &[&str]| signs.iter().any(|sign| end.contains(sign));
    let refused = code == Some(BAD_CALL) || says(REFUSED);
    match sandbox {
        Sandbox::ReadOnly if refused || says(OFFLINE) => Some(
            "This ran in the read-only sandbox, which may be why it failed: nothing can be written but $TMPDIR and the \
             session's data/, there is no network, and places of secrets are empty. Except in Explore the user is asked to \
             run it outside the sandbox when you call it again with `outside: true`."
                .to_owned(),
        ),
        Sandbox::Workspace if *network == Network::Off && says(OFFLINE) => Some(
            "Commands have no network here (sandbox.network = \"off\" in config.toml), which may be why it failed. If it has \
             to have one, call it again with `outside: true`: the user is asked."
                .to_owned(),
        ),
        Sandbox::Workspace if *network == Network::Proxy && says(OFFLINE) => Some(match local_server(&end) {
            Some(server) => format!(
                "Commands have a network of their own here (sandbox.network = \"hosts\" in config.toml), in which nothing of \
                 this command listens at {server}. A server that runs outside of it is reached once the user writes \
                 private_hosts = [\"{server}\"] below [sandbox] in config.toml."
            ),
            None => "This command reaches the network through a proxy alone (sandbox.network = \"hosts\" in config.toml; the \
                     variables http_proxy and all_proxy name it, HTTP and SOCKS 5), and looks up no names itself. A program \
                     that does not use the proxy cannot connect."
                .to_owned(),
        }),
        Sandbox::Workspace if refused || says(SERVICES) => Some(format!(
            "This ran in the workspace sandbox, which may be why it failed: it writes below {}, in /tmp, the workspace's \
             package caches and the repository alone, not to git's hooks and configuration or other files that configure or \
             run code, and folders that hold such cannot be moved; secrets say \"hidden by lisle\", and it reaches no Unix \
             sockets of other programs (containers, agents, the session). If it has to, call it again with `outside: true`: the user is asked.",
            cwd.display()
        )),
        _ => None,
    }
}

/// A server of this machine that a program could not connect to, as it writes it: host and port.
fn local_server(lower: &str) -> Option<String> {
    ["127.0.0.1", "localhost", "[::1]", "::1"].iter().find_map(|host| {
        let (_, rest) = lower.split_once(host)?;
        let rest = rest.trim_start_matches(|c: char| c == ':' || c == '"' || c.is_whitespace());
        let rest = rest.strip_prefix("port").unwrap_or(rest).trim_start();
        let port: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let host = if *host == "::1" { "[::1]" } else { host };
        port.parse::<u16>().is_ok().then(|| format!("{host}:{port}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_and_an_ordinary_failure_is_not() {
        let cwd = Path::new("/w");
        let told = |sandbox, output: &str, code| hint(sandbox, &Network::Open, cwd, ("", output), Some(code)).is_some();
        for (output, code) in [
            ("touch: cannot touch '/etc/x': Permission denied\n", 1),
            ("sh: 1: cannot create /x: Read-only file system\n", 2),
            ("Error: EACCES: permission denied, open '/x'\n", 1),
            ("Os { code: 13 } Permission denied (os error 13)\n", 101),
            ("", 159),
        ] {
            assert!(told(Sandbox::Workspace, output, code) && told(Sandbox::ReadOnly, output, code), "{output}");
            assert!(!told(Sandbox::None, output, code) && !told(Sandbox::Workspace, output, 0), "{output}");
        }
        for output in ["error: expected `;`\n", "test failed\n", "", "ä".repeat(END).as_str()] {
            assert!(!told(Sandbox::Workspace, output, 1) && !told(Sandbox::ReadOnly, output, 1), "{output}");
        }
        let offline = "curl: (6) Could not resolve host: example.org\n";
        assert!(told(Sandbox::ReadOnly, offline, 6) && !told(Sandbox::Workspace, offline, 6));
        let closed = |network| hint(Sandbox::Workspace, network, cwd, ("", offline), Some(6)).unwrap();
        assert!(closed(&Network::Off).contains("sandbox.network = \"off\""));
        assert!(closed(&Network::Proxy).contains("through a proxy alone"));
        for (output, server) in [
            (
                "curl: (7) Failed to connect to 127.0.0.1 port 8080 after 0 ms: Could not connect to server",
                "127.0.0.1:8080",
            ),
            ("connect ECONNREFUSED ::1:5432", "[::1]:5432"),
            ("psql: connection to server at \"localhost\" (::1), port 5432 failed: Connection refused", ""),
            ("Connection refused (localhost:6379)", "localhost:6379"),
        ] {
            let said = hint(Sandbox::Workspace, &Network::Proxy, cwd, ("", output), Some(7)).unwrap();
            assert_eq!(said.contains(&format!("private_hosts = [\"{server}\"]")), !server.is_empty(), "{said}");
        }
        let silent = |line| hint(Sandbox::Workspace, &Network::Proxy, cwd, (line, ""), Some(7));
        assert!(silent("curl -s http://localhost:80/ | jq .").unwrap().contains("localhost:80"));
        assert_eq!(silent("make"), None);
        let docker = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock.\n";
        assert!(told(Sandbox::Workspace, docker, 1));
        assert!(
            hint(Sandbox::Workspace, &Network::Open, cwd, ("", "permission denied"), None)
                .unwrap()
                .contains("below /w")
        );
    }
}
