//! A first hour with lisle, in the real binary: ask, watch it stream, approve an edit, plan in Explore, approve the plan,
//! search, go to another session. With `LISLE_PICTURES=DIR` its screens are written there as SVG, one by one and as the
//! film of the README (`tour.svg`); the model is scripted, all else is the real thing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test should stop where it fails")]

#[path = "support/model_server.rs"]
mod model_server;
#[path = "support/pty.rs"]
mod pty;
#[path = "support/svg.rs"]
mod svg;

use model_server::{Gate, ModelServer, Script, chunk};
use pty::{Pty, Start};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const WIDTH: u16 = 118;
const HEIGHT: u16 = 34;

const CODE: &str = "use url::Url;\n\n/// Where to go after login.\npub fn back(url: &Url) -> String {\n    let next = url.query().unwrap_or_default();\n    decode(&decode(next))\n}\n";
const TEST: &str = "#!/bin/sh\ngrep -q 'decode(&decode' src/redirect.rs && { echo 'keeps_query: FAILED'; exit 1; }\necho 'test redirect::keeps_query ... ok'\n";

/// Takes the pictures, each under a name, and keeps them for the film.
struct Camera<'a> {
    pty: &'a Pty,
    frames: Vec<(vt100::Screen, Duration)>,
}

impl Camera<'_> {
    /// Waits for `text`, then takes what is shown, to be looked at for `ms` milliseconds.
    #[track_caller]
    fn frame(&mut self, text: &str, ms: u64) -> vt100::Screen {
        self.pty.until(text);
        let screen = self.pty.look(|seen| seen.screen().clone());
        self.frames.push((screen.clone(), Duration::from_millis(ms)));
        screen
    }

    /// The same with a picture of its own.
    #[track_caller]
    fn take(&mut self, name: &str, text: &str, ms: u64) {
        let screen = self.frame(text, ms);
        if let Ok(dir) = std::env::var("LISLE_PICTURES") {
            std::fs::write(format!("{dir}/tour-{name}.svg"), svg::picture(&screen, true)).unwrap();
        }
    }

    fn develop(&self) {
        if let Ok(dir) = std::env::var("LISLE_PICTURES") {
            std::fs::write(format!("{dir}/tour.svg"), svg::film(&self.frames, true)).unwrap();
        }
    }
}

fn words(text: &str) -> String {
    text.split_inclusive(' ').map(|word| chunk(json!({"content": word}), Value::Null)).collect()
}

/// A used home whose project has a bug, and whose server says what `scripts` say.
fn home(server: &ModelServer) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("work/src/redirect.rs", CODE);
    write("work/test.sh", TEST);
    write("work/README.md", "# app\n\nA login page.\n");
    let config = format!(
        "default_connection = \"anthropic\"\n\n[ui]\ntheme = \"lisle-dark\"\n\n[connections.anthropic]\n\
         provider = \"openai-compatible\"\nbase_url = \"{}\"\ndefault_model = \"claude-sonnet\"\n\n\
         [connections.anthropic.figures.\"claude-sonnet\"]\nwindow = 200000\ninput = 3.0\noutput = 15.0\n",
        server.base_url()
    );
    write("lisle/config/config.toml", &config);
    home
}

/// Runs a command line, and gives what it printed.
fn lisle(home: &Path, args: &[&str]) -> String {
    let done = Command::new(env!("CARGO_BIN_EXE_lisle"))
        .args(args)
        .env("LISLE_HOME", home.join("lisle"))
        .env("HOME", home)
        .current_dir(home.join("work"))
        .output()
        .unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// One message and its answer without the screen, so that the list has a past.
fn past(home: &Path, server: &ModelServer, title: &str, answer: &str, more: &[&str]) {
    server.add(Script::says(answer));
    let lisle = |args: &[&str]| lisle(home, args);
    lisle(&["run", "--mode", "explore", title]);
    let listed: Value = serde_json::from_str(&lisle(&["sessions", "list", "--json"])).unwrap();
    let listed = listed.as_array().cloned().or_else(|| listed["sessions"].as_array().cloned()).unwrap();
    let id = listed.iter().find(|row| row.to_string().contains(title)).unwrap()["id"].as_str().unwrap().to_owned();
    lisle(&[&["sessions", "set", &id], more].concat());
}

#[test]
fn a_first_hour() {
    let server = ModelServer::for_program([]);
    let home = home(&server);
    lisle(home.path(), &["labels", "add", "bug"]);
    past(home.path(), &server, "Weekly report", "Three things were done this week.", &["--flag"]);
    past(
        home.path(),
        &server,
        "Why is the cache cold after a restart?",
        "It is filled by reads only.",
        &["--status", "done"],
    );
    past(home.path(), &server, "Port the parser", "The parser keeps the query string as it is.", &["--label", "bug"]);
    let pty =
        Start::new(env!("CARGO_BIN_EXE_lisle"), home.path()).size(WIDTH, HEIGHT).env("COLORTERM", "truecolor").go();
    let mut camera = Camera { pty: &pty, frames: Vec::new() };
    camera.take("start", "Port the parser", 1_800);

    // It reads, then wants to edit.
    let gate = Gate::new();
    let reads = json!({"index": 0, "id": "call_0", "type": "function", "function":
        {"name": "read", "arguments": json!({"path": "src/redirect.rs"}).to_string()}});
    let begin = words("I will look at the redirect first. ");
    let rest = words("The query is probably decoded more than once.");
    let asks = chunk(json!({"tool_calls": [reads]}), Value::Null) + &chunk(json!({}), json!("tool_calls"));
    server.add(Script::sse(begin).then_wait(&gate).then(rest + &asks + "data: [DONE]\n\n"));
    let edits = json!([{"old": "    decode(&decode(next))", "new": "    decode(next)"}]);
    server.add(Script::calls(&[("edit", json!({"path": "src/redirect.rs", "edits": edits}))]));
    server.add(Script::calls(&[("bash", json!({"command": "sh test.sh"}))]));
    server.add(Script::says(
        "Fixed: `next` was decoded **twice**, so an encoded `&` ended the query early.\n\n\
         | file | what changed |\n|---|---|\n| `src/redirect.rs` | decodes once |\n\n\
         The test `redirect::keeps_query` passes now.",
    ));
    for word in "The redirect after login drops the query string.".split_inclusive(' ') {
        pty.keys(word);
        camera.frame(word.trim(), 120);
    }
    camera.take("typed", "drops the query string.", 1_200);
    pty.keys("\r");
    camera.take("streaming", "look at the redirect first", 1_400);
    gate.open();
    pty.until("−1");
    camera.take("approval", "decode(&decode(next))", 3_200);
    // The panel waits beside the composer until it is given the focus; keys are dropped just after that.
    approve(&pty);
    pty.until("sh test.sh");
    camera.take("command", "test.sh", 2_600);
    approve(&pty);
    camera.take("answered", "passes now", 3_000);

    // In Explore it plans.
    // Keys that were pressed once too often lie in the composer.
    press(&pty, "\x15x", "› x");
    pty.keys("\x15");
    pty.until("Write a message");
    pty.keys("\x1b[Z\x1b[Z");
    camera.take("explore", "Explore", 1_400);
    server.add(Script::calls(&[(
        "submit_plan",
        json!({
            "title": "Check the logout path",
            "summary": "Logout builds its redirect by hand. It should use `back` as login does.",
            "steps": ["Read `src/logout.rs`", "Use `back` there", "Add `logout_keeps_query` to the tests"],
        }),
    )]));
    pty.keys("Does logout have the same bug? Plan a fix.\r");
    camera.take("plan", "logout_keeps_query", 3_400);

    // What was said, in every session.
    press(&pty, "\x06", "Search all sessions");
    pty.keys("query string");
    pty.until("keeps the query string");
    pty.gone("searching");
    camera.take("search", "keeps the query string", 2_600);
    pty.keys("\x1b");
    pty.gone("Search all sessions");
    // The plan waits; approved, it is gone about.
    server.add(Script::says("There is no `src/logout.rs` yet, so there is nothing to mend: the plan ends here."));
    approve(&pty);
    camera.take("end", "nothing to mend", 2_600);
    camera.develop();
}

/// Gives the focus to what asks, and answers with the first choice.
fn approve(pty: &Pty) {
    // Just after it came, and just after it got the focus, its keys do nothing.
    press(pty, "\x18y", "esc later");
    choose_first(pty);
    // Right after the mark it does nothing either.
    let end = Instant::now() + pty::LIMIT;
    while pty.text().contains("esc later") {
        assert!(Instant::now() < end, "it is not answered\n{}", pty.text());
        pty.keys("\r");
        std::thread::park_timeout(Duration::from_millis(50));
    }
}

/// Moves the mark to the first choice: down while there is none, up where keys that piled up took it too far.
fn choose_first(pty: &Pty) {
    let end = Instant::now() + pty::LIMIT;
    loop {
        let text = pty.text();
        if text.contains("▌›y") {
            return;
        }
        assert!(Instant::now() < end, "no choice is marked\n{text}");
        pty.keys(if text.contains("▌›") { "\x1b[A" } else { "\x1b[B" });
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// Presses keys until the screen shows `sign`.
fn press(pty: &Pty, keys: &str, sign: &str) {
    let end = Instant::now() + pty::LIMIT;
    while !pty.text().contains(sign) {
        assert!(Instant::now() < end, "{keys:?} does nothing\n{}", pty.text());
        pty.keys(keys);
        std::thread::park_timeout(Duration::from_millis(20));
    }
}
