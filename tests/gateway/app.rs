//! The app in a pseudo-terminal, joined to a gateway: its line is lost, its terminal, its gateway.

use crate::place::{Place, err, paused, until};
use crate::support::model_server::{Gate, Script};
use rustix::process::Signal;

#[test]
fn a_turn_outlives_the_screen_that_began_it() {
    let gate = Gate::new();
    let place =
        Place::new([paused("first part ", &gate, "rest"), Script::says("more")], "[gateway]\nstart = \"always\"\n");
    let mut pty = place.app(&[]);
    pty.until("Ask anything");
    pty.keys("hello\r");
    pty.until("first part");
    pty.signal(Signal::KILL);
    pty.end();
    place.status_until("the turn goes on", |status| status["running"].as_array().is_some_and(|all| all.len() == 1));
    let pty = place.app(&["--continue"]);
    pty.until("first part");
    gate.open();
    place.status_until("the turn ends", |status| status["running"].as_array().is_some_and(Vec::is_empty));
    assert!(!pty.text().contains("interrupted"), "{}", pty.text());
    assert_eq!(place.server.asked().len(), 1);
}

#[test]
fn quitting_only_detaches_and_says_so() {
    let gate = Gate::new();
    let place = Place::new([paused("first part ", &gate, "rest")], "");
    let _gateway = place.serve();
    let mut pty = place.app(&[]);
    pty.until("Ask anything");
    pty.keys("hello\r");
    pty.until("first part");
    pty.keys("/quit\r");
    pty.until("The gateway goes on without this screen.");
    // A key that is too soon is no answer.
    until("it quits", || {
        pty.keys("\r");
        place.status().is_some_and(|status| status["clients"] == 0)
    });
    pty.end();
    let status = place.status_until("the client is gone", |status| status["clients"] == 0);
    assert_eq!(status["running"].as_array().unwrap().len(), 1, "the turn goes on: {status}");
    gate.open();
    place.status_until("the turn ends", |status| status["running"].as_array().is_some_and(Vec::is_empty));
}

#[test]
fn a_gateway_that_was_killed_is_said_and_joined_again() {
    for signal in [Signal::KILL, Signal::TERM] {
        joined_again(signal);
    }
}

/// The gateway ends by this signal under a client, and is started again.
fn joined_again(signal: Signal) {
    let place = Place::new([Script::says("The first answer."), Script::says("The second answer.")], "");
    let mut gateway = place.serve();
    let pty = place.app(&[]);
    pty.until("Ask anything");
    pty.keys("hello\r");
    pty.until("The first answer.");
    // Text that still streams is not promised to outlive a killed engine.
    place.status_until("the turn ends", |status| status["running"].as_array().is_some_and(Vec::is_empty));
    gateway.signal(signal);
    gateway.child.wait().unwrap();
    pty.until("Reconnecting");
    pty.keys("again\r");
    pty.until("1 message waits");
    let _gateway = place.serve();
    pty.keys("x");
    pty.until("The second answer.");
    pty.gone("Reconnecting");
    assert_eq!(pty.text().matches("The first answer.").count(), 1, "{}", pty.text());
    assert_eq!(place.server.asked().len(), 2);
}

#[test]
fn without_a_screen_a_turn_of_its_own_goes_on_to_its_end() {
    let gate = Gate::new();
    let place = Place::new([paused("first part ", &gate, "rest")], "");
    let mut pty = place.app(&["--no-gateway"]);
    pty.until("Ask anything");
    pty.keys("hello\r");
    pty.until("first part");
    pty.signal(Signal::HUP);
    gate.open();
    pty.end();
    let shown = place.lisle(&["sessions", "list", "--json", "--all"]);
    assert!(place.transcripts().contains("first part"), "{}", err(&shown));
    assert!(!place.transcripts().contains("interrupted"), "{}", place.transcripts());
}

#[test]
fn a_session_through_a_gateway_is_what_the_command_line_asks_for() {
    let place = Place::new([Script::says("not asked")], "");
    let _gateway = place.serve();
    let pty = place.app(&["--connection", "demo", "--mode", "explore"]);
    pty.until("Ask anything");
    pty.keys("list\r");
    pty.until("entries");
    assert!(pty.text().contains("Explore"), "{}", pty.text());
    assert!(place.server.asked().is_empty(), "the demo answered");
}
