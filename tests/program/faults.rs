//! Whatever a server of models does wrong, on the screen of the real binary and without a screen: what is told, what is
//! tried again, and that nothing is shown twice.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test should stop where it fails")]

use crate::support;

use crate::pty;

use pty::{Pty, Start};
use serde_json::{Value, json};
use std::process::{Command, Output, Stdio};
use support::model_server::{Gate, ModelServer, Script, chunk};

struct Place {
    home: tempfile::TempDir,
    project: tempfile::TempDir,
    server: ModelServer,
}

impl Place {
    fn new(scripts: impl IntoIterator<Item = Script>) -> Self {
        let place = Self {
            home: tempfile::tempdir().unwrap(),
            project: tempfile::tempdir().unwrap(),
            server: ModelServer::for_program(scripts),
        };
        let config = place.lisle_home().join("config");
        std::fs::create_dir_all(&config).unwrap();
        let text = format!(
            "[limits]\nstall_seconds = 1\nrequests_per_turn = 4\n[connections.work]\nprovider = \
             \"openai-compatible\"\nbase_url = \"{}\"\ndefault_model = \"m\"\n",
            place.server.base_url()
        );
        std::fs::write(config.join("config.toml"), text).unwrap();
        std::fs::write(place.project.path().join("a.txt"), "one\n").unwrap();
        place
    }

    /// As the pseudo-terminal sets it.
    fn lisle_home(&self) -> std::path::PathBuf {
        self.home.path().join("lisle")
    }

    /// The app, with this message sent.
    fn say(&self, text: &str) -> Pty {
        let cwd = self.project.path().to_string_lossy().into_owned();
        let start = Start::new(env!("CARGO_BIN_EXE_lisle"), self.home.path()).size(120, 30);
        let pty = start.args(["--cwd", cwd.as_str(), "--connection", "work"]).go();
        pty.until("Ask anything, or type / for commands");
        pty.keys(text);
        pty.until(text);
        pty.keys("\r");
        pty
    }

    fn run(&self, text: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lisle"));
        command.args(["run", "--connection", "work", text]).current_dir(self.project.path());
        command.env("LISLE_HOME", self.lisle_home()).stdin(Stdio::null()).output().unwrap()
    }
}

/// A response that begins with this text and does not end.
fn begins(text: &str) -> Script {
    Script::sse(chunk(json!({"content": text}), Value::Null))
}

fn error(status: u16, text: &str) -> Script {
    Script::json(status, &json!({"error": {"message": text}}))
}

fn times(pty: &Pty, text: &str) -> usize {
    pty.text().matches(text).count()
}

#[test]
fn a_rate_limit_is_counted_down_and_can_be_cut_short() {
    let place = Place::new([error(429, "slow down").header("retry-after", "300"), Script::says("The answer is here.")]);
    let pty = place.say("hello");
    pty.until("retry 1 of 5 in 5m 00s");
    // The seconds go on by themselves.
    pty.until("retry 1 of 5 in 4m 59s");
    pty.until("enter retries the request");
    pty.keys("\x18i");
    pty.until("The answer is here.");
    pty.gone("retry 1 of 5");
}

#[test]
fn an_answer_that_stalls_or_breaks_off_begins_anew_and_is_shown_once() {
    let broken_call = json!({"tool_calls": [{"index": 0, "id": "c", "type": "function",
        "function": {"name": "read", "arguments": "{\"path\": \"a."}}]});
    let place = Place::new([
        begins("Half of an ").then_stall(),
        begins("Half of an ").then_drop(),
        begins("Half of an ").then(chunk(broken_call, Value::Null)).then_drop(),
        error(503, "<html>"),
        Script::says("Half of an answer and the rest of it."),
    ]);
    let pty = place.say("hello");
    pty.until("Half of an answer and the rest of it.");
    assert_eq!(times(&pty, "Half of an"), 1, "{}", pty.text());
    assert_eq!(place.server.asked().len(), 5);
}

#[test]
fn what_cannot_be_mended_by_waiting_says_what_to_do() {
    for script in [error(413, "too large"), Script::html()] {
        let place = Place::new([script]);
        let pty = place.say("hello");
        pty.until("try again");
        let text = pty.text().to_lowercase();
        assert!(text.contains("another model"), "{text}");
        assert_eq!(place.server.asked().len(), 1, "{text}");
        // Once more, by the key that is shown, as soon as the turn is over.
        pty.gone("stops");
        place.server.add(Script::says("It works now."));
        pty.keys("\x18i");
        pty.until("It works now.");
    }
}

#[test]
fn broken_arguments_go_back_to_the_model() {
    let call = json!({"tool_calls": [{"index": 0, "id": "c", "type": "function",
        "function": {"name": "read", "arguments": "{\"path\": \"a.t"}}]});
    let body = chunk(call, Value::Null) + &chunk(json!({}), json!("tool_calls")) + "data: [DONE]\n\n";
    let place = Place::new([Script::sse(body), Script::says("I see.")]);
    let pty = place.say("hello");
    pty.until("I see.");
    let second = &place.server.asked()[1].body;
    assert!(second.contains("Invalid JSON input"), "{second}");
}

#[test]
fn an_answer_that_was_cut_or_withheld_says_so() {
    let ends = |why: &str| {
        let body = chunk(json!({"content": "As far as it goes"}), Value::Null) + &chunk(json!({}), json!(why));
        Script::sse(body + "data: [DONE]\n\n")
    };
    let place = Place::new([ends("length"), Script::says("and on it goes.")]);
    let pty = place.say("hello");
    pty.until("go on");
    pty.keys("go on\r");
    pty.until("and on it goes.");
    let place = Place::new([ends("content_filter")]);
    let pty = place.say("hello");
    pty.until("withheld");
    pty.until("try again");
}

#[test]
fn the_same_call_three_times_in_a_row_asks_and_requests_have_a_limit() {
    let read = || Script::calls(&[("read", json!({"path": "a.txt"}))]);
    let place = Place::new([read(), read(), read(), Script::says("never")]);
    let pty = place.say("hello");
    pty.until("third time in a row");
    assert_eq!(place.server.asked().len(), 3, "nothing is asked while it waits");
    // F3 gives the panel the focus; its keys count a moment later, so they are pressed until they do.
    pty.keys("\x1bOR");
    pty.until("esc");
    let one = |n: u32| Script::calls(&[("read", json!({"path": "a.txt", "limit": n}))]);
    let place = Place::new([one(1), one(2), one(3), one(4), Script::says("never")]);
    let pty = place.say("hello");
    pty.until("limit of 4 requests");
    assert_eq!(place.server.asked().len(), 4);
}

#[test]
fn silence_before_the_first_byte_is_told_and_not_tried_again() {
    let gate = Gate::new();
    let body =
        chunk(json!({"content": "At last."}), Value::Null) + &chunk(json!({}), json!("stop")) + "data: [DONE]\n\n";
    let place = Place::new([Script::sse("").then_wait(&gate).then(body)]);
    let pty = place.say("hello");
    // Longer than a stall may be.
    pty.until("no response for 5s");
    gate.open();
    pty.until("At last.");
    assert_eq!(place.server.asked().len(), 1);
}

#[test]
fn without_a_screen_each_fault_has_its_code_and_its_words() {
    let seconds = |text: &str| error(429, text).header("retry-after", "0");
    for (scripts, code, says) in [
        (vec![error(401, "bad key")], 4, "lisle: "),
        (vec![error(413, "too large")], 1, "lisle: "),
        (vec![Script::html()], 1, "lisle: "),
        (vec![seconds("slow"), Script::says("done")], 0, "Trying again (1 of 5)"),
        (vec![begins("Half").then_stall(), Script::says("done")], 0, "Trying again (1 of 5)"),
        (vec![seconds("s"), seconds("s"), seconds("s"), seconds("s"), seconds("s"), seconds("s")], 1, "(5 of 5)"),
    ] {
        let place = Place::new(scripts);
        let done = place.run("hello");
        let err = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(code), "{err}");
        assert!(err.contains(says), "{says}: {err}");
        let out = String::from_utf8_lossy(&done.stdout).into_owned();
        assert_eq!(out, if code == 0 { "done\n" } else { "" }, "{err}");
    }
}

#[test]
fn what_requests_used_is_written_down_and_added_up() {
    let place = Place::new([Script::says("one"), Script::says("two")]);
    assert_eq!(place.run("hello").status.code(), Some(0));
    assert_eq!(place.run("hello").status.code(), Some(0));
    let mut command = Command::new(env!("CARGO_BIN_EXE_lisle"));
    command.args(["usage", "--by", "model", "--json"]).env("LISLE_HOME", place.lisle_home()).stdin(Stdio::null());
    let said: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    assert_eq!(said["groups"][0]["key"], "m");
    let total = &said["total"];
    assert_eq!(
        (total["requests"].clone(), total["input"].clone(), total["output"].clone()),
        (json!(2), json!(200), json!(20))
    );
    // Nobody knows what this model costs, and that is no $0.00.
    assert_eq!((total["costUsd"].clone(), said["groups"][0]["costUsd"].clone()), (Value::Null, Value::Null));
    assert_eq!((total["unpriced"].clone(), said["beyond"]["sessions"].clone()), (json!(2), json!(0)));
    let mut command = Command::new(env!("CARGO_BIN_EXE_lisle"));
    command.args(["usage", "--since", "1d"]).env("LISLE_HOME", place.lisle_home()).stdin(Stdio::null());
    let table = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(table.contains("  ?\n") && table.lines().count() == 3, "{table}");
}
