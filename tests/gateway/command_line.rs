//! `lisle serve` and `lisle gateway …`.

use crate::place::{Place, err, exists, out, paused, until};
use crate::support::model_server::{Gate, Script};
use rustix::process::Signal;
use std::os::unix::fs::MetadataExt;

#[test]
fn a_gateway_is_started_looked_at_and_ended() {
    let place = Place::new([], "");
    let none = place.lisle(&["gateway", "status"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(err(&none).contains("no gateway runs for this home"), "{}", err(&none));
    let started = place.lisle(&["serve", "--background"]);
    assert!(started.status.success(), "{}", err(&started));
    let again = place.lisle(&["serve"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(err(&again).contains("a gateway runs for this home already"), "{}", err(&again));
    // In the background one that runs is as good, where it has what is asked for.
    let same = place.lisle(&["serve", "--background"]);
    assert!(same.status.success(), "{}", err(&same));
    for options in [&["--listen", "127.0.0.1:0"][..], &["--idle-exit", "5m"], &["--share-listen", "127.0.0.1:0"]] {
        let other = place.lisle(&[&["serve", "--background"], options].concat());
        assert_eq!((other.status.code(), out(&other)), (Some(1), String::new()), "{options:?}");
        assert!(err(&other).contains(&format!("without this {}", options[0])), "{}", err(&other));
    }
    let status = place.status().unwrap();
    let pid = status["pid"].as_u64().unwrap();
    assert_eq!(std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap().to_str(), Some("/"));
    assert!(out(&place.lisle(&["gateway", "status"])).contains(&format!("process {pid}")));
    let called = place.lisle(&["gateway", "call", "gateway.status"]);
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&called.stdout).unwrap()["pid"], pid);
    for (args, words) in [
        (["call", "no.such", "--params", "{}"], "Unknown method"),
        (["call", "gateway.stop", "--params", "{"], "not JSON"),
    ] {
        let done = place.lisle(&[&["gateway"], &args[..]].concat());
        assert!(!done.status.success() && err(&done).contains(words), "{}", err(&done));
    }
    let stopped = place.lisle(&["gateway", "stop"]);
    assert!(stopped.status.success(), "{}", err(&stopped));
    assert!(place.status().is_none());
    assert!(!exists(std::path::Path::new(status["socket"].as_str().unwrap())), "its socket is gone");
}

#[test]
fn a_signal_ends_it_and_a_removed_socket_is_made_again() {
    let place = Place::new([], "");
    let mut gateway = place.serve();
    let status = place.status().unwrap();
    let socket = std::path::PathBuf::from(status["socket"].as_str().unwrap());
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!((mode(&socket), mode(socket.parent().unwrap())), (0o600, 0o700));
    std::fs::remove_file(&socket).unwrap();
    assert_eq!(place.status_until("the socket is there again", |status| status["pid"].is_u64())["pid"], status["pid"]);
    gateway.signal(Signal::HUP);
    assert!(place.status().is_some(), "a terminal that goes away ends nothing");
    gateway.signal(Signal::TERM);
    assert!(gateway.child.wait().unwrap().success());
    assert!(place.status().is_none());
}

#[test]
fn a_run_of_its_own_beside_a_gateway_works() {
    let place = Place::new([Script::says("The answer.")], "");
    let mut gateway = place.serve();
    let done = place.lisle(&["run", "--no-gateway", "hello"]);
    assert!(done.status.success(), "{}", err(&done));
    assert_eq!(out(&done).trim(), "The answer.");
    assert!(gateway.child.try_wait().unwrap().is_none());
}

#[test]
fn an_idle_gateway_ends_by_itself() {
    let place = Place::new([], "");
    assert!(place.lisle(&["serve", "--background", "--idle-exit", "1s"]).status.success());
    until("it ended", || place.status().is_none());
    for wrong in ["0s", "5", "m", "-1m"] {
        assert_eq!(place.lisle(&["serve", &format!("--idle-exit={wrong}")]).status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn a_session_that_the_gateway_has_open_is_changed_by_it() {
    let gate = Gate::new();
    let place = Place::new([paused("first part ", &gate, "rest")], "");
    let _gateway = place.serve_with(&["--share-listen", "127.0.0.1:0"]);
    let pty = place.app(&[]);
    pty.until("Ask anything");
    pty.keys("hello\r");
    pty.until("first part");
    let status =
        place.status_until("the turn runs", |status| status["running"].as_array().is_some_and(|all| all.len() == 1));
    let id = status["running"][0]["session"].as_str().unwrap();
    let done = place.lisle(&["sessions", "set", id, "--flag", "--title", "Mine", "--json"]);
    assert!(done.status.success(), "{}", err(&done));
    until("it is changed", || {
        let shown = out(&place.lisle(&["sessions", "list", "--json", "--all"]));
        let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
        shown[0]["flagged"] == true && shown[0]["title"] == "Mine"
    });
    gate.open();
    pty.until("rest");
    // What it says is what it says without a gateway: the name in the trash, and what was revoked.
    let url = out(&place.lisle(&["share", id]));
    assert!(url.contains("/s/"), "{url}");
    let deleted = place.lisle(&["sessions", "delete", "--yes", id]);
    assert!(err(&deleted).contains("revoked: 1"), "{}", err(&deleted));
    let name = out(&deleted);
    assert!(name.starts_with(id), "{name}");
    assert_eq!(out(&place.lisle(&["sessions", "restore", name.trim()])).trim(), id);
}
