//! Signals at a run, by the real binary: exit statuses, and those that are ignored from the start.

use crate::headless::{Place, code, err, out, served};
use crate::support::model_server::{Gate, ModelServer, Script, chunk};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

fn gated() -> (Place, ModelServer, Gate) {
    let (place, gate) = (Place::new(), Gate::new());
    let server = ModelServer::start([Script::sse(chunk(json!({"content": "The "}), Value::Null))
        .then_wait(&gate)
        .then(chunk(json!({"content": "end."}), json!("stop")) + "data: [DONE]\n\n")]);
    served(&place, &server);
    (place, server, gate)
}

fn asked(server: &ModelServer) {
    while server.asked().is_empty() {
        std::thread::yield_now();
    }
}

#[test]
fn each_signal_has_its_exit_status() {
    for (signal, status) in [(Signal::HUP, 129), (Signal::INT, 130), (Signal::TERM, 143)] {
        let (place, server, _gate) = gated();
        let child = place.start(&["run", "hello"]);
        asked(&server);
        kill_process(Pid::from_child(&child), signal).unwrap();
        let done = child.wait_with_output().unwrap();
        assert_eq!(code(&done), Some(status), "{}", err(&done));
    }
}

#[test]
fn signals_that_are_ignored_at_the_start_stay_ignored() {
    let (place, server, gate) = gated();
    let run = place.command(&["run", "hello"]);
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP INT TERM; exec \"$0\" run hello"]).arg(run.get_program());
    command.current_dir(run.get_current_dir().unwrap()).stdin(Stdio::null());
    for (name, value) in run.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    asked(&server);
    for signal in [Signal::HUP, Signal::INT, Signal::TERM] {
        kill_process(Pid::from_child(&child), signal).unwrap();
    }
    gate.open();
    let done = child.wait_with_output().unwrap();
    assert_eq!((code(&done), out(&done).as_str()), (Some(0), "The end.\n"), "{}", err(&done));
}

#[test]
fn options_behind_the_words_of_a_search_are_options() {
    let place = Place::new();
    let done = place.lisle(&["run", "--connection", "demo", "list"]);
    assert_eq!(code(&done), Some(0), "{}", err(&done));
    let before = place.lisle(&["sessions", "search", "--json", "list"]);
    let behind = place.lisle(&["sessions", "search", "list", "--json"]);
    assert!(out(&behind).starts_with('{') && out(&behind) == out(&before), "{}", err(&behind));
    let unknown = place.lisle(&["sessions", "search", "list", "--nosuch"]);
    assert!(code(&unknown) == Some(2) && err(&unknown).contains("--nosuch"), "{}", err(&unknown));
    assert!(out(&place.lisle(&["sessions", "search", "list", "--help"])).contains("Usage:"));
    for (args, status) in [(vec!["list", "-README"], 1), (vec!["list", "-nowhere"], 0), (vec!["--", "--json"], 1)] {
        let all: Vec<&str> = ["sessions", "search"].into_iter().chain(args).collect();
        let found = place.lisle(&all);
        assert_eq!(code(&found), Some(status), "{all:?}: {}{}", out(&found), err(&found));
    }
}
