//! A task with lisle, in the real binary: a plan is made in Explore and approved, an edit is approved by its diff, the test
//! fails, the rest is fixed, the test passes, and what was said is found again. With `LISLE_PICTURES=DIR` its screens are
//! written there as SVG, one by one and as the films of the README (`tour.svg`, and `tour-light.svg` for light pages); the
//! model is scripted, all else is the real thing.
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
const LOGOUT: &str = "use url::Url;\n\n/// Where to go after logout.\npub fn away(url: &Url) -> String {\n    decode(&decode(url.query().unwrap_or_default()))\n}\n";
const TEST: &str = "#!/bin/sh\nfor of in redirect logout; do\n  if grep -q 'decode(&decode' src/$of.rs; then\n    echo \"test $of::keeps_query ... FAILED\"\n    echo \"  left: \\\"a\\\", right: \\\"a&b\\\"\"\n    failed=1\n  else\n    echo \"test $of::keeps_query ... ok\"\n  fi\ndone\nexit ${failed:-0}\n";

/// Takes the pictures, each under a name, and keeps them for the film.
struct Camera<'a> {
    pty: &'a Pty,
    dark: bool,
    frames: Vec<(vt100::Screen, Duration)>,
}

impl Camera<'_> {
    /// Waits for `text`, then takes what is shown, to be looked at for `ms` milliseconds.
    #[track_caller]
    fn frame(&mut self, text: &str, ms: u64) -> vt100::Screen {
        self.pty.until(text);
        self.settle();
        let screen = self.pty.look(|seen| seen.screen().clone());
        self.frames.push((screen.clone(), Duration::from_millis(ms)));
        screen
    }

    /// Waits until the screen that is being written stands still; a spinner never does, so not for long.
    fn settle(&self) {
        let end = Instant::now() + Duration::from_millis(400);
        let mut before = String::new();
        while Instant::now() < end {
            let now = self.pty.text();
            if now == before {
                return;
            }
            before = now;
            std::thread::park_timeout(Duration::from_millis(60));
        }
    }

    /// The same with a picture of its own.
    #[track_caller]
    fn take(&mut self, name: &str, text: &str, ms: u64) {
        let screen = self.frame(text, ms);
        if let Some(dir) = pictures().filter(|_| self.dark) {
            std::fs::write(format!("{dir}/tour-{name}.svg"), svg::picture(&screen, true)).unwrap();
        }
    }

    fn develop(&self) {
        if let Some(dir) = pictures() {
            let name = if self.dark { "tour" } else { "tour-light" };
            std::fs::write(format!("{dir}/{name}.svg"), svg::film(&self.frames, self.dark)).unwrap();
        }
    }
}

/// Folder for pictures, if they are wanted.
fn pictures() -> Option<String> {
    std::env::var("LISLE_PICTURES").ok()
}

fn words(text: &str) -> String {
    text.split_inclusive(' ').map(|word| chunk(json!({"content": word}), Value::Null)).collect()
}

/// A used home whose project has a bug, and whose server says what `scripts` say.
fn home(server: &ModelServer, theme: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("work/src/redirect.rs", CODE);
    write("work/src/logout.rs", LOGOUT);
    write("work/test.sh", TEST);
    write("work/README.md", "# app\n\nA login page.\n");
    let config = format!(
        "default_connection = \"anthropic\"\n\n[ui]\ntheme = \"{theme}\"\n\n[connections.anthropic]\n\
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
fn a_task_from_its_plan_to_its_passing_test() {
    tour(true);
    // The same once more on light ground: only for looking at.
    if pictures().is_some() {
        tour(false);
    }
}

/// Calls behind news of the plan's steps.
fn at_steps(steps: &[(u32, &str)], tool: &str, input: Value) -> Script {
    let news = steps.iter().map(|(number, status)| ("step", json!({"number": number, "status": status})));
    Script::calls(&news.chain([(tool, input)]).collect::<Vec<_>>())
}

fn edit(steps: &[(u32, &str)], path: &str, old: &str, new: &str) -> Script {
    at_steps(steps, "edit", json!({"path": path, "edits": [{"old": old, "new": new}]}))
}

fn run_tests(steps: &[(u32, &str)]) -> Script {
    at_steps(steps, "bash", json!({"command": "sh test.sh", "intent": "Run the tests"}))
}

fn tour(dark: bool) {
    let server = ModelServer::for_program([]);
    let home = home(&server, if dark { "lisle-dark" } else { "lisle-light" });
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
    let mut camera = Camera { pty: &pty, dark, frames: Vec::new() };
    camera.take("start", "Port the parser", 1_400);

    // In Explore it reads and plans.
    pty.keys("\x1b[Z\x1b[Z");
    camera.frame("Explore", 1_000);
    let gate = Gate::new();
    let reads = |n: usize, path: &str| {
        json!({"index": n, "id": format!("call_{n}"), "type": "function", "function":
            {"name": "read", "arguments": json!({"path": path}).to_string()}})
    };
    let begin = words("I will look at the redirect first. ");
    let rest = words("The query is probably decoded more than once.");
    let calls = json!({"tool_calls": [reads(0, "src/redirect.rs"), reads(1, "src/logout.rs"), reads(2, "test.sh")]});
    let asks = chunk(calls, Value::Null) + &chunk(json!({}), json!("tool_calls"));
    server.add(Script::sse(begin).then_wait(&gate).then(rest + &asks + "data: [DONE]\n\n"));
    server.add(Script::calls(&[(
        "submit_plan",
        json!({
            "title": "Keep the query string",
            "summary": "`next` is decoded twice, so an encoded `&` ends the query early.",
            "steps": ["Decode once in `src/redirect.rs`", "Run the tests", "Fix what else they find"],
        }),
    )]));
    for word in "The redirect after login drops the query string. Plan a fix.".split_inclusive(' ') {
        pty.keys(word);
        camera.frame(word.trim(), 110);
    }
    pty.keys("\r");
    camera.take("streaming", "look at the redirect first", 1_400);
    gate.open();
    camera.take("plan", "Fix what else they find", 3_400);

    // Approved, it is carried out: each change is asked for with its diff.
    server.add(edit(&[(1, "running")], "src/redirect.rs", "    decode(&decode(next))", "    decode(next)"));
    server.add(run_tests(&[(1, "done"), (2, "running")]));
    server.add(edit(
        &[(2, "done"), (3, "running")],
        "src/logout.rs",
        "decode(&decode(url.query().unwrap_or_default()))",
        "decode(url.query().unwrap_or_default())",
    ));
    server.add(run_tests(&[]));
    server.add(Script::calls(&[("step", json!({"number": 3, "status": "done"}))]));
    server.add(Script::says(
        "Fixed: the query was decoded **twice**, in two places.\n\n\
         | file | what changed |\n|---|---|\n| `src/redirect.rs` | decodes once |\n| `src/logout.rs` | decodes once |\n\n\
         Both tests of `keeps_query` pass now.",
    ));
    approve(&mut camera, "Approve this plan?");
    camera.take("approval", "decode(&decode(next))", 3_200);
    // The panel waits beside the composer until it is given the focus; keys are dropped just after that.
    approve(&mut camera, "Change src/redirect.rs?");
    camera.take("command", "Run this command?", 2_200);
    approve(&mut camera, "Run this command?");
    camera.take("failed", "logout::keeps_query ... FAILED", 3_000);
    camera.take("fix", "Change src/logout.rs?", 2_600);
    approve(&mut camera, "Change src/logout.rs?");
    pty.until("Run this command?");
    approve(&mut camera, "Run this command?");
    camera.take("answered", "pass now", 3_200);

    // What was said is found in every session.
    press(&pty, "\x06", |text| text.contains("Search all sessions"));
    pty.keys("query string");
    pty.until("keeps the query string");
    pty.gone("searching");
    camera.take("search", "keeps the query string", 2_600);
    pty.keys("\x1b");
    pty.gone("Search all sessions");
    camera.frame("pass now", 1_200);
    camera.develop();
}

/// Gives the focus to what asks, and answers with the first choice; `title` is gone then.
fn approve(camera: &mut Camera<'_>, title: &str) {
    let pty = camera.pty;
    pty.until(title);
    // Just after it came, and just after it got the focus, its keys do nothing.
    press(pty, "\x1bOR", |text| text.contains("esc later"));
    press(pty, "\x1b[B", |text| text.contains("▌›y"));
    camera.frame("▌›y", 900);
    // Right after the mark it does nothing either.
    press(pty, "\r", |text| !text.contains("esc later") || !text.contains(title));
}

/// Presses a key until the screen is so. Between two presses there is time for the first one to be seen: what is pressed
/// too often does something else.
fn press(pty: &Pty, key: &str, shown: impl Fn(&str) -> bool) {
    let end = Instant::now() + pty::LIMIT;
    while Instant::now() < end {
        pty.keys(key);
        let again = Instant::now() + Duration::from_millis(700);
        while Instant::now() < again {
            if shown(&pty.text()) {
                return;
            }
            std::thread::park_timeout(Duration::from_millis(10));
        }
    }
    panic!("{key:?} does nothing\n{}", pty.text());
}
