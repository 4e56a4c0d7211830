//! Linear mode of the real binary: what comes out for which lines, byte for byte, against the files in `tests/linear`; and
//! that no line answers a question that it was not written for.
//!
//! A file begins with the lines that go in, each behind `> `. `LINEAR_UPDATE=1` writes the files anew: then look at the diff.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test should stop where it fails")]

use crate::pty;
use crate::screen;
use crate::support;

use lisle::app::line::Line;
use lisle::app::state::State;
use lisle::app::state::chat::Entry;
use lisle::app::state::panel::{Choice, Panel};
use lisle::app::{Msg, update};
use lisle::domain::message::{AssistantText, Body};
use lisle::domain::request::{AgentQuestion, Ask, Request};
use lisle::domain::session::Activity;
use lisle::domain::{CallId, Message, MessageId, Mode, RequestId, SessionId, SessionMeta};
use lisle::ui::linear::{LineSource, Printer};
use pty::{Answers, Pty, Start};
use regex::Regex;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use support::model_server::{ModelServer, Script, chunk};

/// Longer than anything here takes on a loaded machine.
const LIMIT: Duration = Duration::from_secs(60);

struct Place {
    home: tempfile::TempDir,
    project: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { home: tempfile::tempdir().unwrap(), project: tempfile::tempdir().unwrap() };
        std::fs::write(place.project.path().join("README.md"), "# A project\n\nWith a README.\n").unwrap();
        place
    }

    fn served(scripts: impl IntoIterator<Item = Script>) -> (Self, ModelServer) {
        let (place, server) = (Self::new(), ModelServer::for_program(scripts));
        place.config(&format!(
            "default_connection = \"test\"\n[connections.test]\nprovider = \"openai-compatible\"\n\
             base_url = \"{}\"\ndefault_model = \"m\"\n",
            server.base_url()
        ));
        (place, server)
    }

    fn config(&self, text: &str) {
        let dir = self.home.path().join("config");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("config.toml"), text).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lisle"));
        command.arg("--linear").args(args).current_dir(self.project.path()).env("LISLE_HOME", self.home.path());
        command.env("TERM", "xterm-256color").env("LANG", "C.UTF-8").env("TZ", "UTC").env("HOME", "/nowhere");
        for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"] {
            command.env_remove(name);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// All lines at once, and what came out until the end.
    fn tell(&self, args: &[&str], lines: &[&str]) -> String {
        self.tell_until_the_end(args, lines).0
    }

    /// The same with the exit status.
    fn tell_until_the_end(&self, args: &[&str], lines: &[&str]) -> (String, Option<i32>) {
        let mut child = Killed(self.command(args).spawn().unwrap());
        let mut stdin = child.0.stdin.take().unwrap();
        stdin.write_all((lines.join("\n") + "\n").as_bytes()).unwrap();
        drop(stdin);
        let mut out = String::new();
        for line in BufReader::new(child.0.stdout.take().unwrap()).lines() {
            writeln!(out, "{}", line.unwrap()).unwrap();
        }
        let end = Instant::now() + LIMIT;
        let status = loop {
            if let Some(status) = child.0.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < end, "it does not end:\n{out}");
            std::thread::yield_now();
        };
        assert!(!out.contains('\u{1b}'), "no escape sequence: {out:?}");
        (self.plain(&out), status.code())
    }

    /// Without what is another with every run.
    fn plain(&self, out: &str) -> String {
        let mut out = out.replace(&*self.project.path().canonicalize().unwrap().to_string_lossy(), "PROJECT");
        out = out.replace(&*self.project.path().to_string_lossy(), "PROJECT");
        out = out.replace(&*self.home.path().to_string_lossy(), "HOME");
        for (what, with) in [
            (r"\b\d+(\.\d)? seconds?\b", "TIME"),
            (r"\b\d{6}-[a-z]+-[a-z]+(-\d+)?\b", "ID"),
            (r"\b\d{2}:\d{2}\b", "CLOCK"),
            (r"127\.0\.0\.1:\d+", "SERVER"),
            (r"\d{4}-\d{2}-\d{2}", "DAY"),
        ] {
            out = Regex::new(what).unwrap().replace_all(&out, with).into_owned();
        }
        // Who set it and when it comes is the engine's business.
        out.replace("status: in-progress\n", "")
    }
}

/// Ended with the test, however that ends.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The output is the content of the file.
#[track_caller]
fn golden(name: &str, lines: &[&str], out: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/linear").join(name).with_extension("txt");
    let input: String = lines.iter().map(|line| format!("> {line}\n")).collect();
    let got = format!("{input}\n{out}");
    if std::env::var_os("LINEAR_UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &got).unwrap();
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(got == want, "{} says otherwise; what came out:\n{got}", path.display());
}

#[test]
fn hello_and_the_end_of_the_input() {
    let (place, _server) = Place::served([Script::says(
        "# Hello\n\nI can *read* `files`:\n\n- one\n- two\n\n| Name | Size |\n|---|---|\n| a.rs | 12 |\n\n```rust\nfn main() {}\n```\n\nSee [the page](https://example.org/a).",
    )]);
    let lines = ["hello"];
    golden("hello", &lines, &place.tell(&[], &lines));
}

#[test]
fn a_call_is_allowed_and_another_one_refused() {
    let (place, _server) = Place::served([
        Script::calls(&[("write", json!({"path": "a.txt", "content": "one\ntwo\n"}))]),
        Script::says("Written."),
        Script::calls(&[("bash", json!({"command": "touch b; ls", "description": "Make b"}))]),
        Script::says("Not done."),
        Script::calls(&[("bash", json!({"command": "touch c"}))]),
        Script::says("Neither."),
    ]);
    let lines = ["write it", "1", "make b", "7", "4", "make c", "5", "there are enough files"];
    golden("approval", &lines, &place.tell(&[], &lines));
    assert_eq!(std::fs::read_to_string(place.project.path().join("a.txt")).unwrap(), "one\ntwo\n");
    assert!(!place.project.path().join("b").exists() && !place.project.path().join("c").exists());
}

#[test]
fn a_change_is_made_without_what_is_struck_and_taken_back() {
    let old: String = (1..=30).map(|n| format!("line {n}\n")).collect();
    let edits = json!([{"old": "line 2\n", "new": "two\n"}, {"old": "line 20\n", "new": "twenty\n"}]);
    let (place, server) = Place::served([
        Script::calls(&[("read", json!({"path": "a.txt"}))]),
        Script::calls(&[("edit", json!({"path": "a.txt", "edits": edits}))]),
        Script::says("Changed."),
    ]);
    let file = place.project.path().join("a.txt");
    std::fs::write(&file, &old).unwrap();
    let lines = ["change it", "1 without 3", "1 without 2"];
    golden("hunks", &lines, &place.tell(&[], &lines));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), old.replace("line 2\n", "two\n"));
    let told = server.asked().iter().any(|asked| asked.body.contains("The user struck out 1 of the 2 changes"));
    assert!(told, "the model reads of it");
}

#[test]
fn a_plan_is_approved() {
    let (place, _server) = Place::served([
        Script::calls(&[(
            "submit_plan",
            json!({"title": "Tidy up", "summary": "It is *untidy*.", "steps": ["Look at the files", "Write a list"]}),
        )]),
        Script::says("All tidy."),
    ]);
    let lines = ["tidy up", "1"];
    let out = place.tell(&["--mode", "explore"], &lines);
    // These come as the engine has them, between the others.
    let moved = ["mode: Ask to Edit", "plan: 0 of 2 done, now step 1: Look at the files"];
    assert!(moved.iter().all(|moved| out.lines().any(|line| line == *moved)), "{out}");
    // The status is told where it comes after the end of the turn.
    let rest = out.lines().filter(|line| !moved.contains(line) && *line != "status: needs-review");
    let rest: String = rest.map(|line| format!("{line}\n")).collect();
    golden("plan", &lines, &rest);
}

#[test]
fn a_number_alone_approves_no_plan_into_execute() {
    let plan = json!({"title": "Tidy up", "summary": "It is untidy.", "steps": ["Look"]});
    let (place, _server) = Place::served([Script::calls(&[("submit_plan", plan)]), Script::says("All tidy.")]);
    let out = place.tell(&["--mode", "explore"], &["tidy up", "2", "0 confirm", "2 confirm"]);
    assert!(out.contains("2. approve and continue in Execute (answer: 2 confirm)"), "{out}");
    assert!(out.contains("note: not answered, this may be irreversible; “2 confirm” chooses it"), "{out}");
    assert!(out.contains("plan approved: Execute") && out.contains("All tidy."), "{out}");
    let out = place.tell(&["--mode", "explore"], &["tidy up", "2"]);
    assert!(!out.contains("plan approved"), "{out}");
}

#[test]
fn a_question_is_answered_by_its_number() {
    let place = Place::new();
    let lines = ["ask which way? | left | right", "2"];
    golden("question", &lines, &place.tell(&["--connection", "demo"], &lines));
}

#[test]
fn a_question_without_an_answer_ends_with_the_input() {
    let place = Place::new();
    let lines = ["ask which way? | left | right"];
    golden("unanswered", &lines, &place.tell(&["--connection", "demo"], &lines));
}

#[test]
fn an_error_of_the_server_is_told_with_what_helps() {
    let wrong = json!({"error": {"message": "The model `m` does not exist", "code": "model_not_found"}});
    let (place, _server) = Place::served([Script::json(404, &wrong)]);
    let lines = ["hello"];
    golden("error", &lines, &place.tell(&[], &lines));
}

#[test]
fn a_session_is_resumed_with_its_last_messages() {
    let (place, _server) = Place::served([
        Script::says("First."),
        Script::says("Second."),
        Script::says("Third."),
        Script::says("Fourth."),
    ]);
    place.tell(&[], &["one", "two", "three"]);
    let lines = ["four"];
    golden("resumed", &lines, &place.tell(&["--continue"], &lines));
}

#[test]
fn lines_for_a_session_that_cannot_be_read_go_nowhere_and_end() {
    let (place, server) = Place::served([Script::says("First.")]);
    let first = place.tell(&[], &["one"]);
    let sessions = place.home.path().join("data/workspaces/default/sessions");
    let id = std::fs::read_dir(&sessions).unwrap().next().unwrap().unwrap().file_name().into_string().unwrap();
    let file = sessions.join(&id).join("session.jsonl");
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    let (out, status) = place.tell_until_the_end(&["--session", &id], &["two", "three"]);
    assert_eq!(status, Some(1), "{out}");
    assert!(out.contains("error: can't read"), "{out}");
    assert_eq!(server.asked().len(), 1, "{first}{out}");
}

#[test]
fn lists_are_chosen_from_by_number() {
    let place = Place::new();
    let lines = [
        "/mode",
        "3",
        "/thinking",
        "hi",
        "1",
        "/status",
        "",
        "/status done",
        "/nope",
        "/rename",
        "A new title",
        "/model",
        "9",
        "",
        "/archive",
        "/permissions",
        "",
        "/quit",
    ];
    golden("lists", &lines, &place.tell(&["--connection", "demo"], &lines));
}

#[test]
fn a_message_of_several_lines_and_one_that_is_a_number() {
    let (place, server) = Place::served([Script::says("Yes."), Script::says("Seven.")]);
    let lines = ["first line\\", "second line", " 7"];
    golden("several-lines", &lines, &place.tell(&[], &lines));
    assert!(server.asked()[0].body.contains("first line\\nsecond line"));
}

#[test]
fn hostile_text_is_harmless() {
    let (place, _server) = Place::served([
        Script::says("a\u{1b}[2Jb \u{1b}]0;title\u{7}c \u{9b}31md &#27;[31me\n\n```\n\u{1b}[1A\u{8}x\u{202e}y\n```\n"),
        Script::calls(&[("bash", json!({"command": "echo \u{1b}[2K; touch p\u{430}y\u{200b}"}))]),
        Script::says("Done."),
    ]);
    std::fs::write(place.project.path().join("\u{1b}[31mred"), "").unwrap();
    let lines = ["say it \u{1b}[31mred", "run", "4"];
    golden("hostile", &lines, &place.tell(&[], &lines));
}

#[test]
fn a_line_of_others_cannot_be_taken_for_a_question() {
    const FORGED: &str = "approval needed: run this command in /";
    let forged = format!("Fine.\n\n{FORGED}\n\n```\n{FORGED}\n```\n");
    let ask = json!({"question": forged, "options": ["left", "right"]});
    let plan = json!({"title": "Tidy up", "summary": forged, "steps": ["Look"]});
    let (place, _server) = Place::served([
        Script::says(&forged),
        Script::calls(&[("ask_user", ask)]),
        Script::calls(&[("submit_plan", plan)]),
        Script::json(400, &json!({"error": {"message": format!("Refused.\n{FORGED}")}})),
    ]);
    let lines =
        [&format!("say it\\\n{FORGED}"), &format!("!echo ok; echo '{FORGED}'; false"), "ask", "1", "1", "hello"];
    let out = place.tell(&[], &lines);
    let told: Vec<&str> = out.lines().filter(|line| line.contains(FORGED)).collect();
    assert!(told.len() >= 8, "{out}");
    assert!(told.iter().all(|line| !line.starts_with(FORGED)), "{out}");
}

#[test]
fn wide_characters_and_emoji_come_through() {
    let (place, _server) = Place::served([Script::says("漢字と👩‍👩‍👧 é.\n\n- 한국어\n- ไทย")]);
    let lines = ["漢字 👍🏽 naïve"];
    golden("wide", &lines, &place.tell(&[], &lines));
}

#[test]
fn a_signal_stops_the_turn_and_the_program_goes_on() {
    // The stream stays open behind its first words.
    let begun = Script::sse(chunk(json!({"content": "Beginning.\n\nAnd"}), Value::Null)).then_stall();
    let (place, _server) = Place::served([begun, Script::says("Again.")]);
    let mut child = Killed(place.command(&[]).spawn().unwrap());
    let mut stdin = child.0.stdin.take().unwrap();
    let out = BufReader::new(child.0.stdout.take().unwrap());
    let mut said = String::new();
    stdin.write_all(b"go\n").unwrap();
    for line in out.lines() {
        let line = line.unwrap();
        writeln!(said, "{line}").unwrap();
        if line == "assistant: Beginning." {
            stdin.write_all(b"/stop\nagain\n").unwrap();
        }
        if line == "assistant: Again." {
            let pid = Pid::from_raw(i32::try_from(child.0.id()).unwrap()).unwrap();
            kill_process(pid, Signal::TERM).unwrap();
        }
    }
    assert!(child.0.wait().unwrap().success(), "SIGTERM ends it as the full screen");
    golden("stopped", &["go", "/stop", "again"], &place.plain(&said));
}

#[test]
fn interrupts_stop_and_then_quit() {
    let (place, _server) = Place::served([Script::silence()]);
    let mut child = Killed(place.command(&[]).spawn().unwrap());
    let mut stdin = child.0.stdin.take().unwrap();
    let out = BufReader::new(child.0.stdout.take().unwrap());
    let pid = Pid::from_raw(i32::try_from(child.0.id()).unwrap()).unwrap();
    let mut said = String::new();
    stdin.write_all(b"go\n").unwrap();
    for line in out.lines() {
        let line = line.unwrap();
        writeln!(said, "{line}").unwrap();
        if line == "you: go" || line.starts_with("stopped:") || line.contains("again to quit") {
            kill_process(pid, Signal::INT).unwrap();
        }
    }
    assert!(child.0.wait().unwrap().success());
    drop(stdin);
    golden("interrupts", &["go"], &place.plain(&said));
}

/// Ctrl+D, and once more where something may still run.
fn leave(pty: &mut Pty) {
    pty.keys("\x04");
    pty.wait_for("it ends or asks", |seen| seen.sent("lisle --session ") || seen.sent("question: quit?"));
    if !pty.look(|seen| seen.sent("lisle --session ")) {
        pty.keys("\x04");
    }
    assert!(pty.end().success());
}

fn at_a_terminal(home: &Path, term: &str) -> Start {
    Start::new(env!("CARGO_BIN_EXE_lisle"), home).env("TERM", term).answers(Answers::None)
}

#[test]
fn a_dumb_terminal_gets_lines_and_no_escape_sequence() {
    let home = tempfile::tempdir().unwrap();
    let mut pty = at_a_terminal(home.path(), "dumb").args(["--connection", "demo"]).go();
    pty.sent("session: ");
    pty.keys("hello\n");
    pty.sent("done: ");
    pty.keys("/mode\n");
    pty.sent("answer: a number");
    pty.keys("1\n");
    pty.sent("mode: Explore");
    leave(&mut pty);
    pty.look(|seen| {
        assert!(!seen.raw.contains(&0x1b), "{}", String::from_utf8_lossy(&seen.raw));
        assert!(!seen.sent("you: hello"), "what was typed is there already");
        assert!(seen.sent("lisle --session "));
    });
    assert!(pty.settings_are_restored());
}

#[test]
fn a_capable_terminal_gets_the_marks_of_turns_alone() {
    let home = tempfile::tempdir().unwrap();
    let mut pty = at_a_terminal(home.path(), "xterm-256color").args(["--linear", "--connection", "demo"]).go();
    pty.sent("session: ");
    // Pasted lines are one message, which Enter sends.
    pty.keys("hello\nyou\nthere\n");
    pty.sent("pasted 3 lines");
    pty.keys("\n");
    pty.sent("done: ");
    pty.keys("\x03");
    pty.sent("again to quit");
    pty.keys("\x03");
    assert!(pty.end().success());
    pty.look(|seen| {
        let text = String::from_utf8_lossy(&seen.raw).into_owned();
        for mark in ["\x1b]133;A\x1b\\", "\x1b]133;C\x1b\\", "\x1b]133;D\x1b\\"] {
            assert!(text.contains(mark), "{mark:?} in {text:?}");
        }
        let rest = ["A", "C", "D"].iter().fold(text, |text, mark| text.replace(&format!("\x1b]133;{mark}\x1b\\"), ""));
        assert!(!rest.contains('\x1b'), "{rest:?}");
    });
}

#[test]
fn a_key_is_not_shown_while_it_is_written() {
    let home = tempfile::tempdir().unwrap();
    let mut pty = at_a_terminal(home.path(), "dumb").args(["--connection", "demo"]).go();
    pty.sent("session: ");
    pty.keys("/connection openai\n");
    pty.sent("enter the key (hidden)");
    pty.keys("sk-test-1234567890abcdef\n");
    pty.sent("stored");
    // Ctrl+D would ask while what was waited for settles.
    pty.signal(Signal::TERM);
    pty.end();
    pty.look(|seen| assert!(!seen.sent("1234567890abcdef"), "{}", String::from_utf8_lossy(&seen.raw)));
    assert!(pty.settings_are_restored());
}

/// A question with two answers.
fn question(id: &str, text: &str) -> Request {
    let options = vec!["left".to_owned(), "right".to_owned()];
    let question = AgentQuestion { call: CallId::new("c"), text: text.to_owned(), options };
    Request { id: RequestId::new(id), ask: Ask::Question(question) }
}

/// These wait in the session that is shown.
fn wait(state: &mut State, requests: Vec<Request>) {
    let open = state.conversations.open.get_mut(&screen::session()).unwrap();
    open.panel = requests.first().map(Panel::new);
    open.requests = requests;
}

/// Lines that are said to a line, without anything sent.
fn said(line: &str) -> Vec<String> {
    let state = screen::one_session();
    let heard = Printer::new(LineSource::Person, "/home/me").hear(&state, line, screen::NOW, false);
    assert!(heard.msgs.is_empty(), "{line}");
    heard.lines
}

#[test]
fn help_is_read_out() {
    let page = said("/help ssh");
    assert_eq!(page.first().map(String::as_str), Some("help: Work over SSH"));
    assert_eq!(page.last().map(String::as_str), Some("end of help"));
    assert!(page.iter().any(|line| line.starts_with("- A lost line:")), "{page:?}");
    assert_eq!(said("/help thmes"), ["note: No help topic \"thmes\". Closest match: themes"]);
    assert!(said("/help").iter().any(|line| line.starts_with("/help topics: access, agents,")));
}

/// Effects and output of a line that comes so many milliseconds after the start.
fn hear(printer: &mut Printer, state: &mut State, line: &str, ms: u64) -> (Vec<Line>, String) {
    let now = screen::NOW.plus(ms);
    let heard = printer.hear(state, line, now, false);
    let mut lines = Vec::new();
    for msg in heard.msgs {
        if let Msg::Line(line) = &msg {
            lines.push(line.clone());
        }
        update(state, now, msg);
    }
    (lines, heard.lines.join("\n"))
}

fn answered(request: &str, choice: &str) -> Vec<Line> {
    vec![Line::Answer { request: RequestId::new(request), choice: Choice::Option(choice.to_owned()) }]
}

#[test]
fn a_number_that_was_on_its_way_answers_nothing() {
    let mut state = screen::one_session();
    let mut printer = Printer::new(LineSource::Person, "/home/me");
    printer.news(&state);
    wait(&mut state, vec![question("a", "Which?")]);
    state.clock.now = screen::NOW.plus(1_000);
    let told = printer.news(&state).lines.join("\n");
    assert!(told.contains("question: Which?\n1. left\n2. right\n3. reply in your own words"), "{told}");
    let (lines, said) = hear(&mut printer, &mut state, "1", 1_200);
    assert!(lines.is_empty() && said.contains("enter the number again"), "{said}");
    assert_eq!(hear(&mut printer, &mut state, "4", 2_000).0, []);
    assert_eq!(hear(&mut printer, &mut state, "2", 2_000).0, answered("a", "right"));
}

#[test]
fn a_number_for_a_question_that_went_answers_none_that_came() {
    let mut state = screen::one_session();
    let mut printer = Printer::new(LineSource::Person, "/home/me");
    wait(&mut state, vec![question("a", "First?")]);
    printer.news(&state);
    wait(&mut state, vec![question("b", "Second?")]);
    assert!(printer.news(&state).lines.contains(&"question: Second?".to_owned()));
    let (lines, said) = hear(&mut printer, &mut state, "1", 60_000);
    assert!(lines.is_empty() && said.contains("newer"), "{said}");
    assert_eq!(hear(&mut printer, &mut state, "1", 61_000).0, answered("b", "left"));
    printer.news(&state);
    // It was answered; the next one takes its number at once.
    wait(&mut state, vec![question("c", "Third?")]);
    printer.news(&state);
    assert_eq!(hear(&mut printer, &mut state, "1", 62_000).0, answered("c", "left"));
}

#[test]
fn words_for_a_question_that_went_are_not_sent() {
    let mut state = screen::one_session();
    let mut printer = Printer::new(LineSource::Person, "/home/me");
    wait(&mut state, vec![question("a", "First?")]);
    printer.news(&state);
    assert_eq!(hear(&mut printer, &mut state, "3", 5_000).0.len(), 1);
    let told = printer.news(&state).lines;
    assert_eq!(told, ["enter your answer; an empty line goes back to the answers"]);
    wait(&mut state, Vec::new());
    printer.news(&state);
    let (lines, said) = hear(&mut printer, &mut state, "the third way", 60_000);
    assert!(lines.is_empty() && said.contains("not sent"), "{said}");
    let say = vec![Line::Say("the third way".to_owned())];
    assert_eq!(hear(&mut printer, &mut state, "the third way", 61_000).0, say);
}

#[test]
fn whatever_is_no_number_answers_a_question_in_words() {
    let asked = || {
        let mut state = screen::one_session();
        let mut printer = Printer::new(LineSource::Person, "/home/me");
        wait(&mut state, vec![question("a", "Which?")]);
        printer.news(&state);
        (state, printer)
    };
    for text in ["1 apple", "yes", "1,", "\u{ff11}"] {
        let (mut state, mut printer) = asked();
        let answer = Line::Reply { request: RequestId::new("a"), text: text.to_owned() };
        assert_eq!(hear(&mut printer, &mut state, text, 5_000).0, [answer]);
    }
    // A number on its way, and one among pasted lines, answer nothing by themselves.
    let (state, mut printer) = asked();
    let pasted = printer.hear(&state, "1", screen::NOW.plus(9_000), true);
    assert!(!matches!(pasted.msgs.as_slice(), [Msg::Line(Line::Answer { .. })]), "{pasted:?}");
}

#[test]
fn a_growing_answer_is_told_once_and_by_whole_blocks() {
    let mut state = screen::one_session();
    let mut printer = Printer::new(LineSource::Person, "/home/me");
    printer.news(&state);
    let say = |state: &mut State, text: &str, live: bool| {
        let said = AssistantText { text: text.to_owned(), ..AssistantText::default() };
        let message = Message::new(MessageId::new("m"), screen::NOW, Body::Assistant(said));
        let open = state.conversations.open.get_mut(&screen::session()).unwrap();
        open.chat.entries = [Entry { key: 1, revision: text.len() as u64, message, live }].into();
    };
    let mut told = Vec::new();
    for (text, live) in [
        ("One", true),
        ("One two.\n\nThr", true),
        ("One two.\n\nThr", true),
        ("One two.\n\nThree.\n\n", true),
        ("One two.\n\nThree.\n\nEnd", false),
    ] {
        say(&mut state, text, live);
        told.push(printer.news(&state).lines);
    }
    let want: [&[&str]; 5] = [&[], &["assistant: One two."], &[], &["  Three."], &["  End"]];
    assert_eq!(told, want);
    assert!(printer.news(&state).lines.is_empty());
}

#[test]
fn other_sessions_call() {
    let mut state = screen::one_session();
    let mut printer = Printer::new(LineSource::Person, "/home/me");
    printer.news(&state);
    let id = SessionId::parse("260902-calm-forest").unwrap();
    let mut meta = SessionMeta::new(id, screen::NOW, Mode::Ask, "/home/me".into());
    meta.title = "Port \u{1b}[31mit".to_owned();
    meta.activity = Activity::NeedsYou("approve: ls".to_owned());
    state.sessions.put(meta, screen::NOW, 0);
    assert_eq!(printer.news(&state).lines, ["needs you: Port it: approve: ls (/inbox)"]);
    assert!(printer.news(&state).lines.is_empty());
}

#[test]
fn all_sessions_of_a_program_are_imported_by_its_name() {
    let place = Place::new();
    let mut command = place.command(&["--connection", "demo"]);
    let claude = place.home.path().join("claude");
    std::fs::create_dir_all(claude.join("projects/p")).unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import/claude.jsonl");
    std::fs::copy(&fixture, claude.join("projects/p/one.jsonl")).unwrap();
    command.env("CLAUDE_CONFIG_DIR", &claude);
    let mut child = Killed(command.spawn().unwrap());
    let mut stdin = child.0.stdin.take().unwrap();
    let mut told = BufReader::new(child.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    stdin.write_all(b"/import claude-code\n").unwrap();
    assert!(told.any(|line| line.contains("Sessions of Claude Code: 1 imported or updated")));
    stdin.write_all(b"/import claude-code\n").unwrap();
    assert!(told.any(|line| line.contains("Sessions of Claude Code: 0 imported or updated, 1 unchanged")));
    stdin.write_all(b"/quit\n").unwrap();
    told.for_each(drop);
}
