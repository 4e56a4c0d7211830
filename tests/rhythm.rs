//! A person writes while requests appear: mid-word pauses, Enter, completion, Esc, escape sequences in pieces, pastes. The
//! real binary in a pseudo-terminal, with a scripted server of models on loopback that lets approvals, questions and
//! plans appear in the shown session and in others at chosen moments.
//!
//! Nothing that was written may answer anything, and all of it must be where it was meant for. Here the rhythm itself is
//! the matter, so unlike other tests this one waits by the clock. By default it takes seconds; with
//! `LISLE_TEST_RHYTHM=50` so many requests appear over a few minutes, with pauses up to ten seconds. Password fields do
//! not exist yet; they will have to be among what appears.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test should stop where it fails")]

mod support;

#[path = "support/pty.rs"]
mod pty;

use pty::{Pty, Start};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;
use support::model_server::{Gate, ModelServer, Script, chunk};

/// Text of the composer in a new session.
const NEW: &str = "Ask anything, or type / for commands";
/// Requests that appear by default.
const SHORT: usize = 8;
/// Requests of the shown session; they wait side by side.
const SHOWN: usize = 3;

/// Calls of a session's model, and the number of requests that they make.
fn asks(n: usize) -> (Vec<(&'static str, Value)>, usize) {
    match n % 5 {
        0 => (vec![("bash", json!({"command": format!("touch made-{n} && echo yes 1 n")}))], 1),
        1 => (vec![("write", json!({"path": format!("written-{n}.txt"), "content": "one\ntwo\n"}))], 1),
        2 => (vec![("ask_user", json!({"question": "Which one?", "options": ["red", "green"]}))], 1),
        3 => {
            let plan = json!({"title": format!("Plan {n}"), "summary": "What is to be done.", "steps": ["One", "Two"]});
            (vec![("submit_plan", plan)], 1)
        }
        _ => (vec![("read", json!({"path": ".env.a"})), ("read", json!({"path": ".env.b"}))], 2),
    }
}

/// A response that comes when its gate is opened.
fn gated(calls: &[(&str, Value)], gate: &Gate) -> Script {
    let mut body = String::new();
    for (index, (name, input)) in calls.iter().enumerate() {
        let function = json!({"name": name, "arguments": input.to_string()});
        let call = json!({"index": index, "id": format!("call_{index}"), "type": "function", "function": function});
        body += &chunk(json!({"tool_calls": [call]}), Value::Null);
    }
    body += &chunk(json!({}), json!("tool_calls"));
    Script::sse("").then_wait(gate).then(body + "data: [DONE]\n\n")
}

/// A writer with a keyboard, who knows what should have become of the keys.
struct Writer<'p> {
    pty: &'p Pty,
    rng: fastrand::Rng,
    /// The longest pause, in milliseconds.
    longest: u64,
    draft: String,
    sent: Vec<String>,
    gates: std::vec::IntoIter<Gate>,
}

impl Writer<'_> {
    fn wait(ms: u64) {
        std::thread::sleep(Duration::from_millis(ms));
    }

    /// Time goes by; somewhere in it a request appears, now and then right before the next key.
    fn pause(&mut self) {
        // Most pauses are short.
        let part = self.rng.u64(0..=100).pow(2);
        let ms = 300 + (self.longest - 300) * part / 10_000;
        let before = if self.rng.bool() { ms } else { self.rng.u64(0..ms) };
        Self::wait(before);
        if let Some(gate) = self.gates.next() {
            gate.open();
            if self.rng.bool() {
                // About when it comes to the screen.
                Self::wait(self.rng.u64(0..60));
            }
        }
        Self::wait(ms - before);
    }

    fn type_in(&mut self, text: &str) {
        for c in text.chars() {
            Self::wait(self.rng.u64(5..60));
            self.pty.keys(c.encode_utf8(&mut [0; 4]));
            self.draft.push(c);
        }
    }

    fn enter(&mut self) {
        self.pty.keys("\r");
        self.sent.push(std::mem::take(&mut self.draft));
        // Some press it twice.
        if self.rng.bool() {
            self.pty.keys("\r");
        }
    }

    fn paste(&mut self, text: &str) {
        self.pty.keys(&format!("\x1b[200~{text}\x1b[201~"));
        self.draft.push_str(text);
    }

    /// A command is completed, its menu left with Esc, and the draft wiped.
    fn change_of_mind(&mut self) {
        self.pty.keys("/");
        Self::wait(80);
        self.pty.keys("the");
        self.pause();
        self.pty.keys("\t");
        self.pause();
        self.pty.keys("\x15/re");
        self.pty.until("› /re");
        self.pause();
        // The menu is open: Esc closes it and nothing else.
        self.pty.keys("\x1b[27u");
        self.pause();
        self.pty.keys("\x15");
    }

    /// There and back, each in two pieces.
    fn arrows(&self) {
        // Not torn behind ESC: after some milliseconds that is the Escape key, and a busy machine takes longer here.
        for end in ["D", "C"] {
            self.pty.keys("\x1b[");
            self.pty.keys(end);
        }
        for _ in 0..2 {
            self.pty.keys("\x1b[C");
        }
    }
}

/// Words made of what would answer, if it got there.
const WORDS: &[&str] =
    &["yes", "new", "1 2 3", "sure", "never", "why", "worse", "answers", "12", "eyes", "renew", "3 wryness", "fame"];

fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, out) } else { out.push(path) }
    }
}

#[test]
fn nothing_that_is_written_answers() {
    let wanted: Option<usize> = std::env::var("LISLE_TEST_RHYTHM").ok().map(|count| count.parse().unwrap());
    let (count, longest) = wanted.map_or((SHORT, 900), |count| (count, 10_000));
    let seed = 7;

    // One session for each of the others' requests, the shown one last.
    let mut scripts = Vec::new();
    let mut gates = Vec::new();
    let mut requests = 0;
    while requests + SHOWN < count {
        let (calls, makes) = asks(scripts.len());
        let gate = Gate::new();
        scripts.push(gated(&calls, &gate));
        gates.push(gate);
        requests += makes;
    }
    let gate = Gate::new();
    let secrets: Vec<(&str, Value)> = ["a", "b", "c"].map(|n| ("read", json!({"path": format!(".env.{n}")}))).into();
    scripts.push(gated(&secrets, &gate));
    requests += SHOWN;
    // Somewhere in the middle.
    gates.insert(gates.len() / 2, gate);
    let sessions = scripts.len();
    let server = ModelServer::for_program(scripts);

    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("lisle/config");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::create_dir_all(home.path().join("work")).unwrap();
    for name in ["a", "b", "c"] {
        std::fs::write(home.path().join(format!("work/.env.{name}")), "KEY=1\n").unwrap();
    }
    let text = format!(
        "default_connection = \"local\"\n[connections.local]\nprovider = \"openai-compatible\"\nbase_url = \"{}\"\n\
         default_model = \"m\"\nparallel_requests = 64\n",
        server.base_url()
    );
    std::fs::write(config.join("config.toml"), text).unwrap();

    let mut pty = Start::new(env!("CARGO_BIN_EXE_lisle"), home.path()).size(100, 40).go();
    let clock = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for n in 0..sessions {
        pty.until(NEW);
        pty.keys(&format!("begin {n}\r"));
        clock.block_on(server.asked_times(n + 1));
        pty.until("Type ahead");
        if n + 1 < sessions {
            pty.keys("\x0e");
        }
    }

    let mut writer = Writer {
        pty: &pty,
        rng: fastrand::Rng::with_seed(seed),
        longest,
        draft: String::new(),
        sent: Vec::new(),
        gates: gates.into_iter(),
    };
    let mut round = 0;
    while writer.gates.len() > 0 || round < 3 {
        let words = writer.rng.usize(2..5);
        for _ in 0..words {
            let word = WORDS[writer.rng.usize(..WORDS.len())];
            let middle = writer.rng.usize(..word.len());
            writer.type_in(&word[..middle]);
            if writer.rng.u8(..3) > 0 {
                writer.pause();
            }
            writer.type_in(&word[middle..]);
            writer.type_in(" ");
        }
        writer.type_in("end");
        match round % 3 {
            0 => writer.arrows(),
            1 => writer.paste("y\nn\n1\npasted "),
            _ => {}
        }
        writer.type_in("ing");
        if round % 2 == 0 {
            writer.pause();
        }
        writer.enter();
        if round % 3 == 1 {
            writer.change_of_mind();
        }
        round += 1;
    }
    writer.type_in("yes, the draft stays 1");
    let Writer { draft, sent, .. } = writer;

    // Every request waits still.
    let needing = format!("{sessions} need you");
    pty.until(&needing);
    pty.keys("\x18a");
    pty.until(&format!("{requests} requests"));
    pty.keys("\x1b[27u");
    pty.gone("Needs you");
    pty.until("the draft stays 1");
    pty.signal(Signal::TERM);
    pty.end();

    let mut all = Vec::new();
    files(&home.path().join("lisle"), &mut all);
    let named = |name: &'static str| all.iter().filter(move |path| path.file_name().is_some_and(|of| of == name));
    let read = |path: &PathBuf| std::fs::read_to_string(path).unwrap();
    let mut seen = 0;
    for path in named("session.jsonl") {
        let text = read(path);
        seen += 1;
        assert!(!text.contains("\"by\":\"person\""), "{}\n{text}", path.display());
    }
    assert_eq!(seen, sessions);
    for made in std::fs::read_dir(home.path().join("work")).unwrap() {
        let name = made.unwrap().file_name().into_string().unwrap();
        assert!(name.starts_with(".env."), "{name} was made by something that nobody allowed");
    }

    // What was sent while the turn ran waits in its queue, in order, and what was not sent is the draft.
    let queues: Vec<Vec<String>> = named("live.jsonl")
        .filter_map(|path| {
            let text = read(path);
            let queues =
                text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()?.get("queue").cloned());
            let last = queues.fold(None, |_, queue| Some(queue))?;
            let texts = last.as_array()?.iter().map(|item| item["text"].as_str().unwrap().to_owned()).collect();
            Some(texts)
        })
        .filter(|queue: &Vec<String>| !queue.is_empty())
        .collect();
    assert_eq!(queues, [sent]);
    let drafts: Vec<String> =
        all.iter().filter(|path| path.components().any(|part| part.as_os_str() == "drafts")).map(read).collect();
    assert!(drafts.contains(&draft), "{drafts:?}\n{draft:?}");
}
