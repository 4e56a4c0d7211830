//! The bounds of the screen, measured on the real binary in a pseudo-terminal of 200x50, on the rehearsal and on a scripted
//! model server: `cargo bench --bench terminal`, or with the names of some parts behind `--`. Prints a table of what was
//! measured beside the bound; judging it is left to the reader, because a machine that is busy with other work measures that
//! work.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a program that measures and prints")]

#[path = "../tests/support/model_server.rs"]
mod model_server;
#[path = "support/process.rs"]
mod process;
#[path = "../tests/support/pty.rs"]
mod pty;
#[path = "support/stores.rs"]
mod stores;
#[path = "support/streams.rs"]
mod streams;

use model_server::{Gate, ModelServer, Script, chunk};
use process::{cpu, pss, tasks};
use pty::{Pty, Start};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const READY: &str = "Ask to Edit";
/// So long idleness and streaming are watched. The only waits in here: time itself is what is measured.
const IDLE: Duration = Duration::from_secs(5);
const STREAM: Duration = Duration::from_secs(6);
const KEYS: usize = 60;

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let mut rows = Vec::new();
    for (_, part) in PARTS.iter().filter(|(name, _)| asked.is_empty() || asked.iter().any(|asked| asked == name)) {
        rows.extend(part());
    }
    println!("\n{:<52} {:>22} {:>14}", "work (200x50)", "measured", "bound");
    println!("{}", "-".repeat(90));
    for (work, measured, bound) in rows {
        println!("{work:<52} {measured:>22} {bound:>14}");
    }
}

type Row = (&'static str, String, &'static str);
type Part = (&'static str, fn() -> Vec<Row>);

const PARTS: [Part; 19] = [
    ("commands", commands),
    ("start", || vec![first_frame()]),
    ("idle", idle),
    ("echo", || vec![echo_idle()]),
    ("stream", streaming),
    ("slow", slow),
    ("turns", turns),
    ("calls", || vec![calls()]),
    ("markdown", markdown),
    ("switch", || vec![switching()]),
    ("stop", || vec![stopping()]),
    ("resume", resuming),
    ("many", many),
    ("large", large),
    ("scroll", scroll),
    ("crowd", crowd),
    ("swift", streams::swift),
    ("twenty", streams::twenty),
    ("code", streams::code),
];

fn start(home: &Path) -> Pty {
    let pty = Start::new(env!("CARGO_BIN_EXE_lisle"), home).size(200, 50).go();
    pty.until(READY);
    pty
}

/// Nothing runs in the session that is shown.
const IDLE_DRAFT: &str = "Message, or / for commands";

/// A connection to `server` for the app in `home`.
fn connect(home: &Path, server: &ModelServer) {
    let config = home.join("lisle/config");
    fs::create_dir_all(&config).unwrap();
    let text = format!(
        "default_connection = \"bench\"\n[connections.bench]\nprovider = \"openai-compatible\"\nbase_url = \"{}\"\n\
         key_env = \"BENCH_KEY\"\nmodels = [\"bench\"]\nparallel_requests = 64\n",
        server.base_url()
    );
    fs::write(config.join("config.toml"), text).unwrap();
}

fn start_on(home: &Path, server: &ModelServer) -> Pty {
    connect(home, server);
    let pty = Start::new(env!("CARGO_BIN_EXE_lisle"), home)
        .size(200, 50)
        .env("BENCH_KEY", "bench")
        .env("LISLE_LOG", "lisle::runtime::client=debug")
        .go();
    pty.until(READY);
    pty
}

/// Types `text` and sends it; when Enter was pressed.
fn send(pty: &Pty, text: &str) -> Instant {
    pty.keys(text);
    pty.until(text);
    let pressed = Instant::now();
    pty.keys("\r");
    pressed
}

/// When the last byte came, once nothing came for so long.
fn silence(pty: &Pty, quiet: Duration) -> Instant {
    loop {
        let last = pty.wait_for("anything", |_| true);
        let left = quiet.saturating_sub(last.elapsed());
        if left.is_zero() {
            return last;
        }
        std::thread::sleep(left);
    }
}

fn median(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    format!("{:.1} ms", ms(percentile(&times, 50)))
}

/// The folder of the only session in `home`.
fn session(home: &Path) -> PathBuf {
    let sessions = home.join("lisle/data/workspaces/default/sessions");
    fs::read_dir(sessions).unwrap().next().unwrap().unwrap().path()
}

/// A home with `count` sessions of one short turn.
fn used_home(count: usize) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let server = ModelServer::for_program([Script::says("Giraffes are tall.")]);
    let pty = start_on(home.path(), &server);
    send(&pty, "about giraffes");
    pty.until("are tall");
    pty.until(IDLE_DRAFT);
    drop(pty);
    let first = session(home.path());
    let id = first.file_name().unwrap().to_string_lossy().into_owned();
    let text = fs::read_to_string(first.join("session.jsonl")).unwrap();
    for n in 1..count {
        let copy = format!("{id}-{n}");
        let folder = first.with_file_name(&copy);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("session.jsonl"), text.replace(&id, &copy)).unwrap();
    }
    home
}

/// Commands that end by themselves, in a home with 100 sessions.
fn commands() -> Vec<Row> {
    let home = used_home(100);
    let run = |args: &[&str]| {
        let times = (0..20).map(|_| {
            let before = Instant::now();
            let mut command = Command::new(env!("CARGO_BIN_EXE_lisle"));
            command.args(args).env("LISLE_HOME", home.path().join("lisle")).stdout(Stdio::null()).stderr(Stdio::null());
            assert!(command.status().unwrap().success());
            before.elapsed()
        });
        median(times.collect())
    };
    vec![
        ("lisle --version (median)", run(&["--version"]), "-"),
        ("lisle sessions list, 100 sessions (median)", run(&["sessions", "list"]), "-"),
    ]
}

/// From Enter to the request and to its short answer, from the second message on.
fn turns() -> Vec<Row> {
    const TURNS: usize = 15;
    let server = ModelServer::for_program((0..=TURNS).map(|n| Script::says(&format!("This is answer number {n}."))));
    let waiting = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let home = tempfile::tempdir().unwrap();
    let pty = start_on(home.path(), &server);
    let (mut asked, mut shown) = (Vec::new(), Vec::new());
    for n in 0..=TURNS {
        // As a person would: not in the same instant in which the last answer came.
        silence(&pty, Duration::from_millis(150));
        let pressed = send(&pty, &format!("question {n}"));
        waiting.block_on(server.asked_times(n + 1));
        asked.push(pressed.elapsed());
        shown.push(pty.until(&format!("answer number {n}.")) - pressed);
        pty.until(IDLE_DRAFT);
    }
    vec![
        ("Enter to request, second message on (median)", median(asked.split_off(1)), "5 ms"),
        ("Enter to short answer shown (median)", median(shown.split_off(1)), "15 ms"),
    ]
}

/// Turns of ten shell calls, one a response, each of which writes a file in a repository: in Execute, in the default profile,
/// with checkpoints.
fn calls() -> Row {
    const TURNS: usize = 5;
    let call = |n: usize| Script::calls(&[("bash", json!({"command": format!("echo {n} > file-{n}")}))]);
    let turn =
        |turn: usize| (0..10).map(call).chain([Script::says(&format!("Turn {turn} is done."))]).collect::<Vec<_>>();
    let server = ModelServer::for_program((0..=TURNS).flat_map(turn));
    let home = tempfile::tempdir().unwrap();
    // A working directory outside of the home would be held to Ask to Edit.
    let project = home.path().join("project");
    fs::create_dir_all(&project).unwrap();
    let git = Command::new("git").args(["init", "-q"]).current_dir(&project).status().unwrap();
    assert!(git.success());
    connect(home.path(), &server);
    let app = Start::new(env!("CARGO_BIN_EXE_lisle"), home.path()).size(200, 50).env("BENCH_KEY", "bench");
    let folder = project.to_string_lossy().into_owned();
    let pty = app.args(["--mode", "execute", "--cwd", &folder]).go();
    pty.until("Execute");
    let took = (0..=TURNS).map(|turn| {
        silence(&pty, Duration::from_millis(150));
        let pressed = send(&pty, &format!("turn {turn}"));
        let took = pty.until(&format!("Turn {turn} is done.")) - pressed;
        pty.until(IDLE_DRAFT);
        took
    });
    let took = took.skip(1).collect();
    assert!(project.join("file-9").exists(), "the calls ran");
    ("a turn of ten shell calls in Execute (median)", median(took), "200 ms")
}

/// So many bytes of markdown with everything that answers have.
fn prose(bytes: usize) -> String {
    let mut text = String::new();
    let mut n = 0;
    while text.len() < bytes {
        n += 1;
        let _ = match n % 6 {
            0 => write!(text, "## Part {n}\n\n"),
            1 => write!(
                text,
                "The **buffer** renders `frame_{n}` and the *window* scrolls over it, {}.\n\n",
                "word ".repeat(40)
            ),
            2 => write!(text, "- one of {n}\n- another, [linked](https://example.org/{n})\n  - below it\n\n"),
            3 => write!(
                text,
                "```rust\nfn frame_{n}(buffer: &mut Buffer) -> usize {{\n    buffer.len() + {n}\n}}\n```\n\n"
            ),
            4 => write!(text, "| name | value |\n|---|---|\n| frame | {n} |\n| window | {} |\n\n", n * 7),
            _ => write!(text, "> It was said {n} times.\n\n{}\n\n", "Plain text goes on and on. ".repeat(12)),
        };
    }
    text.truncate(bytes);
    text
}

/// 200 KB of markdown at 20 KB/s with somebody typing, then 200 KB more at once; then the window is dragged about.
fn markdown() -> Vec<Row> {
    const BEAT: Duration = Duration::from_millis(10);
    let text = prose(200_000);
    let pieces: Vec<&str> = text.as_bytes().chunks(200).map(|piece| std::str::from_utf8(piece).unwrap()).collect();
    let said = |piece: &str| chunk(json!({"content": piece}), Value::Null);
    let end = |mark: &str| said(&format!("\n\n{mark}\n")) + &chunk(json!({}), json!("stop")) + "data: [DONE]\n\n";
    let gates: Vec<Gate> = pieces.iter().map(|_| Gate::new()).collect();
    let paced = pieces
        .iter()
        .zip(&gates)
        .fold(Script::sse(""), |script, (piece, gate)| script.then_wait(gate).then(said(piece)));
    let at_once = Script::sse(said(&text) + &end("second-end"));
    let server = ModelServer::for_program([paced.then(end("first-end")), at_once]);
    let home = tempfile::tempdir().unwrap();
    let pty = start_on(home.path(), &server);
    let caret = caret(&pty);
    let (bytes, used) = (sent(&pty), cpu(pty.pid()));
    let pressed = send(&pty, "tell me all");
    let beats = std::thread::spawn(move || {
        for (n, gate) in (1..).zip(&gates) {
            std::thread::sleep((pressed + BEAT * n).saturating_duration_since(Instant::now()));
            gate.open();
        }
    });
    pty.wait_for("it streams", |seen| seen.raw.len() > bytes + 20_000);
    let keys = echo(&pty, caret, Duration::from_millis(60));
    let wall = pty.until("first-end") - pressed;
    beats.join().unwrap();
    let over = wall.saturating_sub(BEAT * u32::try_from(pieces.len()).unwrap());
    let (bytes, used) = (sent(&pty) - bytes, cpu(pty.pid()) - used);
    pty.keys("\x03");
    pty.until(IDLE_DRAFT);
    send(&pty, "and once more");
    pty.until("second-end");
    pty.until(IDLE_DRAFT);
    let memory = pss(pty.pid());
    let before = cpu(pty.pid());
    for n in 0..50 {
        pty.resize(100 + 2 * n, 30 + n % 20);
        std::thread::sleep(BEAT);
    }
    let last = Instant::now();
    pty.resize(200, 50);
    let settled = silence(&pty, Duration::from_millis(300)).saturating_duration_since(last);
    vec![
        ("200 KB markdown at 20 KB/s: wall over ideal", format!("{:.0} ms", ms(over)), "200 ms"),
        ("200 KB markdown at 20 KB/s: CPU", format!("{:.2} s", used.as_secs_f64()), "1.5 s"),
        ("200 KB markdown at 20 KB/s: bytes", format!("{} KB", bytes / 1000), "2000 KB"),
        ("key echo p50 / p95 while 20 KB/s stream in", pair(keys), "5 / 16 ms"),
        ("memory after 400 KB of answers (PSS)", format!("{memory:.1} MB"), "40 MB"),
        ("50 resizes: settled after the last", format!("{:.1} ms", ms(settled)), "50 ms"),
        ("50 resizes: CPU", format!("{:.2} s", (cpu(pty.pid()) - before).as_secs_f64()), "-"),
    ]
}

/// Back and forth between two sessions.
fn switching() -> Row {
    let server = ModelServer::for_program([Script::says("Zebras have stripes."), Script::says("Giraffes are tall.")]);
    let home = tempfile::tempdir().unwrap();
    let pty = start_on(home.path(), &server);
    send(&pty, "the first");
    pty.until("have stripes");
    pty.until(IDLE_DRAFT);
    pty.keys("\x0e");
    pty.gone("have stripes");
    send(&pty, "the second");
    pty.until("are tall");
    pty.until(IDLE_DRAFT);
    let times = (0..20).map(|n| {
        // The latest one is on top of the list.
        let (key, text) = if n % 2 == 0 { ("\x1b2", "have stripes") } else { ("\x1b1", "are tall") };
        let pressed = Instant::now();
        pty.keys(key);
        pty.until(text) - pressed
    });
    ("switching sessions (median)", median(times.collect()), "50 ms")
}

fn stopping() -> Row {
    let home = tempfile::tempdir().unwrap();
    let pty = start(home.path());
    let begun = sent(&pty);
    pty.keys("stream 3000\r");
    pty.wait_for("it streams", |seen| seen.raw.len() > begun + 4000);
    let pressed = Instant::now();
    pty.keys("\x1b");
    pty.until("You stopped the turn");
    let silent = silence(&pty, Duration::from_millis(300)).saturating_duration_since(pressed);
    ("Esc to silence", format!("{:.1} ms", ms(silent)), "100 ms")
}

/// A session of 5,000 messages and 10 MB.
fn resuming() -> Vec<Row> {
    const MESSAGES: usize = 5_000;
    let home = used_home(1);
    let folder = session(home.path());
    let file = folder.join("session.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    let rows: Vec<Value> = text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| rows.iter().find(|row| row["type"] == kind).unwrap();
    let mut grown = text.lines().next().unwrap().to_owned() + "\n";
    for n in 0..MESSAGES {
        let mut row = of(if n % 2 == 0 { "user" } else { "assistant" }).clone();
        row["id"] = json!(format!("msg-{n}"));
        let last = if n + 1 == MESSAGES { "\n\nthe-very-end" } else { "" };
        row["content"] = json!(format!("{}{last}", prose(2_000)));
        grown += &format!("{row}\n");
    }
    fs::write(&file, grown).unwrap();
    let id = folder.file_name().unwrap().to_string_lossy().into_owned();
    let (mut ready, mut shown) = (Vec::new(), Vec::new());
    for _ in 0..10 {
        let app = Start::new(env!("CARGO_BIN_EXE_lisle"), home.path()).size(200, 50).env("BENCH_KEY", "bench");
        let pty = app.args(["--session", &id]).go();
        pty.until(READY);
        pty.keys("zq");
        ready.push(pty.until("zq") - pty.started);
        shown.push(pty.until("the-very-end") - pty.started);
    }
    vec![
        ("resume 5,000 messages, 10 MB: input ready (median)", median(ready), "20 ms"),
        ("resume: last message shown (median)", median(shown), "60 ms"),
    ]
}

/// A home whose workspace has been filled, as if lisle had made it.
fn filled_home(fill: impl FnOnce(&Path)) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let workspace = home.path().join("lisle/data/workspaces/default");
    fs::create_dir_all(&workspace).unwrap();
    fill(&workspace);
    fs::write(workspace.join("config.json"), json!({"name": "default", "madeBy": "lisle"}).to_string()).unwrap();
    // Files that were just written are not trusted yet.
    std::thread::sleep(Duration::from_millis(2100));
    home
}

/// Starts over 10,000 sessions, with and without the cache of the list.
fn many() -> Vec<Row> {
    const COUNT: usize = 10_000;
    let plan = stores::Plan { sessions: COUNT, damaged: 300, rows: 12, padded: true, seed: 1 };
    let home = filled_home(|workspace| drop(stores::fill(workspace, plan)));
    let newest = stores::Session::make(&stores::id(COUNT - 1), COUNT - 1, plan);
    let header: Value = serde_json::from_slice(&newest.header).unwrap();
    let title: String = header["name"].as_str().unwrap().chars().take(12).collect();
    let listed = |pty: &Pty| pty.until(title.trim()) - pty.started;
    let (mut whole, mut cold_first, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..5 {
        let _ = fs::remove_dir_all(home.path().join("lisle/state/index"));
        let pty = start(home.path());
        cold_first.push(pty.until(READY) - pty.started);
        pty.until("Ask anything, or type / for commands");
        pty.wait_for("the caret is shown", |seen| !seen.screen().hide_cursor());
        let caret = caret(&pty);
        // The list is read meanwhile.
        keys.extend(echo(&pty, caret, Duration::from_millis(2)));
        whole.push(listed(&pty));
    }
    let (mut first, mut shown) = (Vec::new(), Vec::new());
    for _ in 0..10 {
        let pty = start(home.path());
        first.push(pty.until(READY) - pty.started);
        shown.push(listed(&pty));
    }
    let pty = start(home.path());
    listed(&pty);
    pty.keys("\x1b[O");
    std::thread::sleep(Duration::from_secs(3));
    vec![
        ("start with 10,000 sessions: first frame (median)", median(first), "40 ms"),
        ("start with 10,000 sessions: list shown (median)", median(shown), "-"),
        ("the same without the cache: first frame (median)", median(cold_first), "40 ms"),
        ("the same without the cache: list shown (median)", median(whole), "1500 ms"),
        ("key echo p50 / p95 while that list is read", pair(keys), "5 / 16 ms"),
        ("idle with 10,000 sessions: memory (PSS)", format!("{:.1} MB", pss(pty.pid())), "45 MB"),
    ]
}

/// Opens a session of 300 MB and 200,000 rows.
fn large() -> Vec<Row> {
    let home = filled_home(|workspace| {
        stores::fill(workspace, stores::Plan { sessions: 1, damaged: 0, rows: 1, padded: true, seed: 1 });
        let folder = workspace.join("sessions/261122-vast-ocean");
        stores::large(&folder, 200_000, 300_000_000, 2);
        let last = json!({"id": "end", "content": "the-very-end", "timestamp": 1_780_000_900_000_i64, "type": "user"});
        let mut file = fs::OpenOptions::new().append(true).open(folder.join("session.jsonl")).unwrap();
        std::io::Write::write_all(&mut file, format!("{last}\n").as_bytes()).unwrap();
    });
    let base = start(home.path());
    std::thread::sleep(Duration::from_secs(1));
    let without = pss(base.pid());
    drop(base);
    let mut shown = Vec::new();
    let mut memory = 0.0;
    for _ in 0..10 {
        let app = Start::new(env!("CARGO_BIN_EXE_lisle"), home.path()).size(200, 50);
        let pty = app.args(["--session", "261122-vast-ocean"]).go();
        shown.push(pty.until("the-very-end") - pty.started);
        memory = pss(pty.pid()) - without;
    }
    vec![
        ("start with a session of 300 MB: last row shown (median)", median(shown), "100 ms"),
        ("a session of 300 MB: more memory than none (PSS)", format!("{memory:.1} MB"), "60 MB"),
    ]
}

/// What stands on the rows of the conversation.
fn conversation(seen: &pty::Seen) -> Vec<String> {
    seen.screen().rows(0, 200).skip(1).take(40).collect()
}

/// From a key to the screen that it changes, one key after another.
fn paging(pty: &Pty, key: &str, times: usize) -> Vec<Duration> {
    (0..times)
        .map(|_| {
            let before = pty.look(conversation);
            let pressed = Instant::now();
            pty.keys(key);
            let moved = pty.wait_for("it scrolls", |seen| conversation(seen) != before) - pressed;
            // As a key repeats: the page before is asked for when the edge is reached, and has to come.
            std::thread::sleep(Duration::from_millis(33));
            moved
        })
        .collect()
}

/// Through a session of 200,000 rows: by pages from its end and from its beginning, by bursts of the wheel, and from one end
/// to the other.
fn scroll() -> Vec<Row> {
    const PAGES: usize = 200;
    let home = filled_home(|workspace| {
        stores::fill(workspace, stores::Plan { sessions: 1, damaged: 0, rows: 1, padded: true, seed: 1 });
        let folder = workspace.join("sessions/261122-vast-ocean");
        stores::large(&folder, 200_000, 150_000_000, 2);
        let path = folder.join("session.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        let row = |mark: &str, at: i64| json!({"id": mark, "content": mark, "timestamp": at, "type": "user"});
        let (header, rows) = text.split_once('\n').unwrap();
        let first = row("the-very-beginning", 1_700_000_000_000);
        let last = row("the-very-end", 1_780_000_900_000);
        fs::write(path, format!("{header}\n{first}\n{rows}{last}\n")).unwrap();
    });
    let app = Start::new(env!("CARGO_BIN_EXE_lisle"), home.path()).size(200, 50);
    let pty = app.args(["--session", "261122-vast-ocean"]).go();
    pty.until("the-very-end");
    silence(&pty, Duration::from_millis(500));
    let fresh = pss(pty.pid());
    let from_end = paging(&pty, "\x1b[5~", PAGES);
    // A burst of a trackpad: nothing may move any more soon after it stopped.
    let bursts: Vec<Duration> = (0..10)
        .map(|n| {
            let wheel = if n % 2 == 0 { "\x1b[<64;100;20M" } else { "\x1b[<65;100;20M" };
            let before = pty.look(conversation);
            let sent = Instant::now();
            pty.keys(&wheel.repeat(50));
            pty.wait_for("it scrolls", |seen| conversation(seen) != before);
            silence(&pty, Duration::from_millis(200)).saturating_duration_since(sent)
        })
        .collect();
    let (mut to_top, mut to_end) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        let pressed = Instant::now();
        pty.keys("\x1b[1;5H");
        to_top.push(pty.until("the-very-beginning") - pressed);
        silence(&pty, Duration::from_millis(200));
        let pressed = Instant::now();
        pty.keys("\x1b[1;5F");
        to_end.push(pty.until("the-very-end") - pressed);
        silence(&pty, Duration::from_millis(200));
    }
    pty.keys("\x1b[1;5H");
    pty.until("the-very-beginning");
    silence(&pty, Duration::from_millis(200));
    let from_top = paging(&pty, "\x1b[6~", PAGES);
    vec![
        ("200,000 rows: PageUp from the end, p50 / p95", pair(from_end), "5 / 16 ms"),
        ("200,000 rows: PageDown from the beginning, p50 / p95", pair(from_top), "5 / 16 ms"),
        ("200,000 rows: 50 notches of the wheel at once, median", median(bursts), "50 ms"),
        ("200,000 rows: to the beginning (median)", median(to_top), "50 ms"),
        ("200,000 rows: to the end (median)", median(to_end), "50 ms"),
        ("200,000 rows: more memory after all that (PSS)", format!("{:.1} MB", pss(pty.pid()) - fresh), "20 MB"),
    ]
}

/// 20 sessions that stream at once. Ten times as fast as 200 tokens a second for ten minutes each: the same text in a minute.
fn crowd() -> Vec<Row> {
    const SESSIONS: usize = 20;
    const BEAT: Duration = Duration::from_millis(10);
    /// Of 5 tokens, 25 bytes.
    const PIECES: usize = 4;
    const BEATS: u32 = 6000;
    let piece = "word ".repeat(5);
    let beat = chunk(json!({"content": piece}), Value::Null).repeat(PIECES);
    let gates: Vec<Gate> = (0..BEATS).map(|_| Gate::new()).collect();
    let begin = Script::sse(chunk(json!({"content": "it begins "}), Value::Null));
    let script = gates.iter().fold(begin, |script, gate| script.then_wait(gate).then(&beat)).then_stall();
    let server = ModelServer::for_program(std::iter::repeat_n(script, SESSIONS));
    let home = tempfile::tempdir().unwrap();
    let pty = start_on(home.path(), &server);
    for n in 0..SESSIONS {
        if n > 0 {
            pty.keys("\x0e");
            pty.gone("it begins");
        }
        send(&pty, &format!("question {n}"));
        pty.until("it begins");
    }
    let begun = Instant::now();
    let used = cpu(pty.pid());
    let mut early = 0.0;
    for (n, gate) in (1..).zip(&gates) {
        std::thread::sleep((begun + BEAT * n).saturating_duration_since(Instant::now()));
        gate.open();
        if n == BEATS / 5 {
            early = pss(pty.pid());
        }
    }
    let late = pss(pty.pid());
    let text = (BEATS as usize * 4 / 5 * PIECES * piece.len() * SESSIONS) as f64 / 1e6;
    let grown = late - early;
    vec![
        ("20 sessions, text of minutes 2 to 10 at once: growth", format!("{grown:.1} MB of {text:.1}"), "1.2 times"),
        ("20 sessions, 4 MB/min each: memory in the end (PSS)", format!("{late:.1} MB"), "-"),
        (
            "20 sessions, 40,000 tokens a second in all: CPU",
            format!("{:.1} s of 60", (cpu(pty.pid()) - used).as_secs_f64()),
            "-",
        ),
    ]
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// The part of sorted `times` below which `percent` of them lie.
fn percentile(times: &[Duration], percent: usize) -> Duration {
    times.get((times.len() * percent / 100).min(times.len().saturating_sub(1))).copied().unwrap_or_default()
}

fn pair(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    format!("{:.1} / {:.1} ms", ms(percentile(&times, 50)), ms(percentile(&times, 95)))
}

fn first_frame() -> Row {
    let home = used_home(100);
    let mut times: Vec<Duration> = (0..10)
        .map(|_| {
            let pty = Start::new(env!("CARGO_BIN_EXE_lisle"), home.path()).size(200, 50).go();
            pty.until(READY) - pty.started
        })
        .collect();
    times.sort_unstable();
    ("start in a used home: first frame (median)", format!("{:.1} ms", ms(percentile(&times, 50))), "40 ms")
}

fn idle() -> Vec<Row> {
    let home = used_home(100);
    let pty = start(home.path());
    // Unfocused, as the bound says; then quiet, so that what start still had to do is over.
    pty.keys("\x1b[O");
    std::thread::sleep(Duration::from_secs(2));
    let (bytes, switches, cpu) = (sent(&pty), wakeups(pty.pid()), cpu(pty.pid()));
    std::thread::sleep(IDLE);
    let woken = wakeups(pty.pid()) - switches;
    vec![
        ("idle 5 s: bytes to the terminal", (sent(&pty) - bytes).to_string(), "0"),
        ("idle 5 s: wakeups of all threads", woken.to_string(), "0"),
        ("idle 5 s: CPU", format!("{:.0} ms", ms(self::cpu(pty.pid()) - cpu)), "0"),
        ("idle: memory (PSS)", format!("{:.1} MB", pss(pty.pid())), "25 MB"),
    ]
}

/// Where the next letter will be, as row and column. To be asked while nothing is drawn.
fn caret(pty: &Pty) -> (u16, u16) {
    // In the middle of a frame the cursor is hidden, and anywhere.
    pty.wait_for("the cursor is shown", |seen| !seen.screen().hide_cursor());
    pty.look(|seen| seen.screen().cursor_position())
}

/// Types letters one after another from `caret` on, each after the one before was seen, and measures each.
fn echo(pty: &Pty, (y, x): (u16, u16), between: Duration) -> Vec<Duration> {
    let mut times = Vec::new();
    for n in 0..KEYS {
        let letter = char::from(b'a' + u8::try_from(n % 26).unwrap());
        let x = x + u16::try_from(n).unwrap();
        let before = Instant::now();
        pty.keys(&letter.to_string());
        pty.wait_for("the letter is where the cursor was", |seen| {
            seen.screen().cell(y, x).is_some_and(|cell| cell.contents() == letter.to_string())
        });
        times.push(before.elapsed());
        std::thread::sleep(between);
    }
    times
}

fn echo_idle() -> Row {
    let home = tempfile::tempdir().unwrap();
    let pty = start(home.path());
    let caret = caret(&pty);
    echo(&pty, caret, Duration::from_millis(1));
    pty.keys("\x03");
    pty.gone("abcdef");
    ("key echo p50 / p95, idle", pair(echo(&pty, caret, Duration::from_millis(20))), "2 / 5 ms")
}

fn streaming() -> Vec<Row> {
    let home = tempfile::tempdir().unwrap();
    let pty = start(home.path());
    pty.keys("stream 3000\r");
    let begun = sent(&pty);
    pty.wait_for("it streams", |seen| seen.raw.len() > begun + 2000);
    let (bytes, used) = (sent(&pty), cpu(pty.pid()));
    std::thread::sleep(STREAM);
    let rows = vec![
        ("100 words a second for 6 s: CPU", format!("{:.2} s", (cpu(pty.pid()) - used).as_secs_f64()), "0.25 s"),
        ("100 words a second for 6 s: bytes", format!("{} KB", (sent(&pty) - bytes) / 1000), "150 KB"),
    ];
    drop(pty);
    rows
}

/// The same over a line of 32 KB/s, and 200 KB of markdown at 20 KB/s over it.
fn slow() -> Vec<Row> {
    const LINE: u32 = 32_000;
    let home = tempfile::tempdir().unwrap();
    let pty = Start::new(env!("CARGO_BIN_EXE_lisle"), home.path()).size(200, 50).line(LINE).go();
    pty.until(READY);
    let begun = sent(&pty);
    pty.keys("stream 3000\r");
    pty.wait_for("it streams", |seen| seen.raw.len() > begun + 2000);
    let bytes = sent(&pty);
    std::thread::sleep(STREAM);
    let words = sent(&pty) - bytes;
    drop(pty);

    const BEAT: Duration = Duration::from_millis(10);
    let text = prose(200_000);
    let said = |piece: &str| chunk(json!({"content": piece}), Value::Null);
    let end = said("\n\nthe-very-end\n") + &chunk(json!({}), json!("stop")) + "data: [DONE]\n\n";
    let gates: Vec<Gate> = (0..text.len().div_ceil(200)).map(|_| Gate::new()).collect();
    let script = text.as_bytes().chunks(200).zip(&gates).fold(Script::sse(""), |script, (piece, gate)| {
        script.then_wait(gate).then(said(std::str::from_utf8(piece).unwrap()))
    });
    let server = ModelServer::for_program([script.then(end)]);
    let home = tempfile::tempdir().unwrap();
    connect(home.path(), &server);
    let app = Start::new(env!("CARGO_BIN_EXE_lisle"), home.path()).size(200, 50).env("BENCH_KEY", "bench");
    let pty = app.line(LINE).go();
    pty.until(READY);
    let bytes = sent(&pty);
    let pressed = send(&pty, "tell me all");
    for (n, gate) in (1..).zip(&gates) {
        std::thread::sleep((pressed + BEAT * n).saturating_duration_since(Instant::now()));
        gate.open();
    }
    let over = pressed.elapsed();
    let shown = pty.until("the-very-end") - pressed;
    vec![
        ("slow line (32 KB/s): 100 words a second for 6 s: bytes", format!("{} KB", words / 1000), "40 KB"),
        ("slow line: 200 KB markdown at 20 KB/s: bytes", format!("{} KB", (sent(&pty) - bytes) / 1000), "500 KB"),
        ("slow line: its end shown after it came", format!("{:.0} ms", ms(shown.saturating_sub(over))), "-"),
    ]
}

fn sent(pty: &Pty) -> usize {
    pty.look(|seen| seen.raw.len())
}

/// How often threads of the process went to sleep by themselves, which is how often they were woken.
fn wakeups(pid: i32) -> u64 {
    let count = |task: &Path| {
        let status = fs::read_to_string(task.join("status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:").map(str::trim));
        line.and_then(|count| count.parse::<u64>().ok()).unwrap_or(0)
    };
    tasks(pid).iter().map(|task| count(task)).sum()
}
