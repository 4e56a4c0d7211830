//! `lisle run` where a gateway has the home: the turn is the gateway's, the answer the run's own.

use crate::place::{Place, err, out, paused, until};
use crate::support::model_server::{Gate, Script, chunk};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::Read;
use std::process::{Child, Stdio};

fn begin(place: &Place, args: &[&str]) -> Child {
    place.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn running(status: &Value) -> usize {
    status["running"].as_array().map_or(0, Vec::len)
}

#[test]
fn an_interrupted_run_stops_its_own_turn_and_prints_what_came() {
    let (gate, other) = (Gate::new(), Gate::new());
    let place = Place::new([], "");
    let _gateway = place.serve();
    place.server.add(paused("other first ", &other, "other rest"));
    let beside = begin(&place, &["run", "beside"]);
    place.status_until("the other turn runs", |status| running(status) == 1);
    until("the other one asked", || place.server.asked().len() == 1);
    place.server.add(paused("first part ", &gate, "rest"));
    let run = begin(&place, &["run", "hello"]);
    place.status_until("both turns run", |status| running(status) == 2);
    until("its text is shown", || place.transcripts().contains("hello") && place.server.asked().len() == 2);
    kill_process(Pid::from_child(&run), Signal::INT).unwrap();
    let done = run.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(130), "{}", err(&done));
    place.status_until("its turn alone ended", |status| running(status) == 1);
    gate.open();
    other.open();
    let beside = beside.wait_with_output().unwrap();
    assert_eq!((out(&beside).trim(), beside.status.code()), ("other first other rest", Some(0)), "{}", err(&beside));
}

#[test]
fn people_at_other_clients_answer_a_run_that_waits() {
    let write = |path: &str| Script::calls(&[("write", json!({"path": path, "content": "text\n"}))]);
    let place = Place::new([write("new.txt"), Script::says("Written.")], "");
    let alone = place.lisle(&["run", "--wait", "go"]);
    assert_eq!(alone.status.code(), Some(2));
    assert!(err(&alone).contains("--wait needs a gateway"), "{}", err(&alone));
    let _gateway = place.serve();
    let run = begin(&place, &["run", "--wait", "--mode", "ask", "go"]);
    place.status_until("it waits for an answer", |status| {
        status["waiting"].as_array().is_some_and(|all| all.len() == 1)
    });
    let pty = place.app(&["--continue"]);
    pty.until("new.txt");
    until("it is approved", || {
        pty.keys("\u{1b}OS");
        place.project.path().join("new.txt").is_file()
    });
    let done = run.wait_with_output().unwrap();
    assert_eq!((out(&done).trim(), done.status.code()), ("Written.", Some(0)), "{}", err(&done));
    assert!(err(&done).contains("waiting for approval of new.txt"), "{}", err(&done));
    assert!(err(&done).contains("answered by "), "{}", err(&done));
    // Without the option nobody is asked.
    place.server.add(write("other.txt"));
    place.server.add(Script::says("Not written."));
    let done = place.lisle(&["run", "--mode", "ask", "go"]);
    assert_eq!(done.status.code(), Some(3), "{}", err(&done));
    assert!(!place.project.path().join("other.txt").exists());
}

#[test]
fn a_gateway_that_dies_ends_the_run_with_a_word() {
    let gate = Gate::new();
    let place = Place::new([paused("first part ", &gate, "rest")], "");
    let gateway = place.serve();
    let run = begin(&place, &["run", "hello"]);
    place.status_until("the turn runs", |status| running(status) == 1);
    until("the model was asked", || place.server.asked().len() == 1);
    gateway.signal(Signal::KILL);
    drop(gateway);
    let _gateway = place.serve();
    let done = run.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(1), "{}", err(&done));
    assert!(err(&done).contains("the gateway ended, and with it the turn. Open the session with"), "{}", err(&done));
    gate.open();
}

#[test]
fn a_run_whose_gateway_is_killed_ends_soon_and_prints_what_came() {
    let gate = Gate::new();
    let place = Place::new([], "");
    let gateway = place.serve();
    place.server.add(paused("first part ", &gate, "rest"));
    let mut run = begin(&place, &["run", "-s", "hello"]);
    // The client has it only then; the gateway saves it earlier.
    let mut came = [0; 5];
    run.stdout.as_mut().unwrap().read_exact(&mut came).unwrap();
    assert_eq!(&came, b"first");
    let killed = std::time::Instant::now();
    gateway.signal(Signal::KILL);
    let done = run.wait_with_output().unwrap();
    assert!(killed.elapsed() < std::time::Duration::from_secs(30), "{:?}", killed.elapsed());
    assert_eq!(done.status.code(), Some(1), "{}", err(&done));
    assert!(out(&done).starts_with(" part"), "{:?}: {}", out(&done), err(&done));
    gate.open();
}

#[test]
fn a_run_that_nobody_reads_any_more_stops_its_turn() {
    let gate = Gate::new();
    let piece = |text: &str| chunk(json!({"content": text}), Value::Null);
    let place = Place::new([], "");
    let _gateway = place.serve();
    place.server.add(Script::sse(piece("first part ")).then_wait(&gate).then(piece("more ")).then_stall());
    let mut run = begin(&place, &["run", "-s", "hello"]);
    let mut stdout = run.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 5]).unwrap();
    drop(stdout);
    place.status_until("the turn runs", |status| running(status) == 1);
    gate.open();
    place.status_until("the turn stopped", |status| running(status) == 0);
    assert_eq!(run.wait_with_output().unwrap().status.code(), Some(1));
}

#[test]
fn a_message_behind_a_running_turn_has_an_exit_status_of_its_own() {
    let gate = Gate::new();
    let place = Place::new([], "");
    let _gateway = place.serve();
    place.server.add(paused("first part ", &gate, "rest"));
    let run = begin(&place, &["run", "--session", "notes", "hello"]);
    place.status_until("the turn runs", |status| running(status) == 1);
    until("the model was asked", || place.server.asked().len() == 1);
    let queued = place.lisle(&["run", "--session", "notes", "next"]);
    assert_eq!((queued.status.code(), out(&queued)), (Some(7), String::new()), "{}", err(&queued));
    assert!(err(&queued).contains("message queued in"), "{}", err(&queued));
    gate.open();
    assert_eq!(run.wait_with_output().unwrap().status.code(), Some(0));
}
