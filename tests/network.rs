//! Commands whose network is held, through the real program: off, or certain hosts by the proxy.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failing test should stop where it fails")]
#![allow(clippy::print_stderr, reason = "a test that is left out says so")]

#[path = "support/network.rs"]
mod support;

use lisle::domain::ids::CallId;
use lisle::domain::permission::Sandbox;
use lisle::domain::tool::Touch;
use lisle::sandbox::{Network, system_support};
use lisle::tools::RunContext;
use lisle::tools::read_tracker::Seen;
use lisle::tools::registry::Registry;
use serde_json::json;
use std::net::UdpSocket;
use std::path::Path;
use std::sync::Arc;
use support::{Bench, LISLE, held, server, through_proxy};
use tokio_util::sync::CancellationToken;

#[test]
fn a_command_reaches_what_the_proxy_lets_through_and_nothing_else() {
    if !held() {
        return;
    }
    let (at, count) = server();
    let to = at.to_string();
    let bench = Bench::new(Network::Proxy, std::slice::from_ref(&to), &[]);
    let out = bench.run(&through_proxy(at));
    assert!(out.text.contains("200 OK") && out.text.contains("inside"), "{}", out.text);
    assert_eq!(bench.asked(), [(to, true)]);

    let closed = Bench::new(Network::Proxy, &[], &[]);
    let out = closed.run(&format!("{}; exit 3", through_proxy(at)));
    assert!(out.text.contains("403 Forbidden") && out.text.contains("blocked by lisle"), "{}", out.text);
    assert!(out.text.contains("The sandbox blocked these hosts") && out.text.contains(&at.to_string()), "{}", out.text);
    assert_eq!(*count.lock().unwrap(), 1);

    // Around it: the server itself, a name server, and the network of the machine are not there.
    let names = UdpSocket::bind("127.0.0.1:0").unwrap();
    names.set_nonblocking(true).unwrap();
    for around in [
        format!("echo hi >/dev/tcp/127.0.0.1/{}", at.port()),
        format!("echo hi >/dev/udp/127.0.0.1/{}; false", names.local_addr().unwrap().port()),
        "echo hi >/dev/udp/192.0.2.1/53".to_owned(),
        "echo hi >/dev/tcp/192.0.2.1/80".to_owned(),
        "getent ahostsv4 example.org || exit 1; echo resolved".to_owned(),
        "cat /proc/net/route | grep -v Iface".to_owned(),
        "unshare -n true && nsenter -t 1 -n true".to_owned(),
    ] {
        let out = closed.run(&around);
        assert!(out.failed, "{around}: {}", out.text);
        assert!(!out.text.contains("resolved"), "{}", out.text);
    }
    let mut datagram = [0; 8];
    assert!(names.recv(&mut datagram).is_err(), "no datagram came through");
    assert_eq!(*count.lock().unwrap(), 1);
}

#[test]
fn programs_find_the_proxy_and_their_own_loopback_is_theirs() {
    if !held() {
        return;
    }
    let bench = Bench::new(Network::Proxy, &[], &["127.0.0.1:1".into()]);
    let out = bench.run(
        "echo $http_proxy $HTTPS_PROXY $CARGO_HTTP_PROXY $no_proxy; test ! -S /proc/self/fd/0 && cat && echo empty",
    );
    let proxy = "http://127.0.0.1:43128";
    assert!(out.text.starts_with(&format!("{proxy} {proxy} {proxy} localhost,::1\nempty\n")), "{}", out.text);
    // Nothing of the control socket is left in the command.
    let out = bench.run("ls -l /proc/self/fd | grep -c socket");
    assert!(out.text.starts_with("0\n"), "{}", out.text);
    // The port is taken: nobody takes the proxy's place for another program of the command.
    let out = bench.run("command -v python3 >/dev/null || exit 7; python3 -c 'import socket; socket.socket().bind((\"127.0.0.1\", 43128))'");
    assert!(out.failed, "{}", out.text);
}

#[test]
fn the_settings_open_a_host_of_the_private_network() {
    if !held() {
        return;
    }
    let (at, _) = server();
    let bench = Bench::new(Network::Proxy, &[], &[at.to_string()]);
    assert!(bench.run(&through_proxy(at)).text.contains("inside"));
    let known = bench.door.asked.lock().unwrap()[0].touches.clone();
    assert!(
        matches!(&known[..], [Touch::Connect { private: true, known: Some(why), .. }] if why.contains("private_hosts"))
    );
}

#[test]
fn off_is_a_network_of_its_own_with_loopback() {
    if !held() {
        return;
    }
    let (at, count) = server();
    let bench = Bench::new(Network::Off, &[], &[]);
    for command in [format!("echo hi >/dev/tcp/127.0.0.1/{}", at.port()), "echo hi >/dev/tcp/192.0.2.1/80".to_owned()] {
        let out = bench.run(&command);
        assert!(out.failed, "{}", out.text);
        assert!(out.text.contains("Commands have no network here (sandbox.network = \"off\""), "{}", out.text);
    }
    assert_eq!(*count.lock().unwrap(), 0);
    assert!(bench.run("grep -q lo /proc/net/dev && echo $http_proxy.").text.starts_with(".\n"));
}

#[test]
fn a_command_ends_with_lisles_end_of_the_control_socket() {
    if !held() {
        return;
    }
    let bench = Bench::new(Network::Proxy, &[], &[]);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let bash = Registry::standard().find("bash").unwrap();
    let seen = Arc::new(Seen::default());
    let input = json!({"command": "echo started; sleep 600", "timeout_s": 600});
    let facts = bash.inspect(&input, &bench.place, &seen).unwrap();
    let (progress, mut shown) = tokio::sync::mpsc::channel(8);
    let stop = CancellationToken::new();
    let with = RunContext {
        sandbox: Sandbox::Workspace,
        place: bench.place.clone(),
        facts,
        seen,
        stop: stop.clone(),
        call: CallId::new("call-1"),
        progress,
        jobs: Arc::default(),
        host: bench.door.clone(),
    };
    let began = std::time::Instant::now();
    let ended = runtime.block_on(async {
        let running = bash.run(input, with);
        tokio::pin!(running);
        loop {
            tokio::select! {
                end = &mut running => break end,
                Some(_) = shown.recv() => stop.cancel(),
            }
        }
    });
    assert!(ended.is_err() && began.elapsed().as_secs() < 60);
}

#[test]
fn without_namespaces_certain_hosts_are_not_promised_and_off_takes_the_families() {
    if !lisle::sandbox::is_enforced() {
        eprintln!("skipped: nothing holds commands on this system");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let held = |more: &[&str], line: &str| {
        std::process::Command::new(LISLE)
            .args(["__hold", "--workspace", "--readable", "/"])
            .args(more)
            .args(["--", "/bin/bash", "-c", line])
            .current_dir(dir.path())
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap()
    };
    let out = held(&["--proxy"], "echo ran");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.stdout.is_empty() && said.contains("could go around the proxy"), "{said}");
    let (at, count) = server();
    let out = held(&["--offline"], &format!("echo hi >/dev/tcp/127.0.0.1/{}", at.port()));
    assert!(!out.status.success());
    let out = held(&["--offline"], "echo hi >/dev/udp/127.0.0.1/53");
    assert!(!out.status.success());
    assert!(held(&["--offline"], "echo a | cat").status.success());
    assert_eq!(*count.lock().unwrap(), 0);
    // The proxy needs somebody at the other end of the standard input.
    if system_support::own_network(Path::new(LISLE)).is_ok() {
        let out = held(&["--namespaces", "--proxy"], "echo ran");
        assert!(out.stdout.is_empty() && !out.status.success());
    }
}
