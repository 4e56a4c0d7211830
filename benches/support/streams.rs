//! Streams that are faster and more than what one person reads, and what the first coloured block of code costs.

use super::{IDLE_DRAFT, ModelServer, Row, Script, caret, chunk, cpu, echo, ms, pair, pss, send, sent, start_on};
use crate::model_server::Gate;
use crate::pty::Pty;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// One token, as an event of its own: that is how servers send them.
const TOKEN: &str = "word ";

fn token() -> String {
    chunk(json!({"content": TOKEN}), Value::Null)
}

/// Opens one gate after another, `beat` apart, whatever a single one is late.
fn opened(gates: Vec<Gate>, beat: Duration) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let begun = Instant::now();
        for (n, gate) in (1..).zip(&gates) {
            std::thread::sleep((begun + beat * n).saturating_duration_since(Instant::now()));
            gate.open();
        }
    })
}

/// `tokens` events at each of `beats`, after words that say that it began; then silence.
fn paced(gates: &[Gate], tokens: usize) -> Script {
    let beat = token().repeat(tokens);
    let begin = Script::sse(chunk(json!({"content": "it begins "}), Value::Null));
    gates.iter().fold(begin, |script, gate| script.then_wait(gate).then(&beat)).then_stall()
}

fn gates(count: u32) -> Vec<Gate> {
    (0..count).map(|_| Gate::new()).collect()
}

/// Somebody types while text comes in, for as long as it does.
fn typed(pty: &Pty, (y, x): (u16, u16), while_running: &std::thread::JoinHandle<()>) -> Vec<Duration> {
    let mut times = Vec::new();
    while !while_running.is_finished() {
        times.extend(echo(pty, (y, x), Duration::from_millis(25)));
        // Takes the draft away, so that the next letters come to the same places.
        pty.keys("\x03");
        pty.wait_for("the draft is gone", |seen| {
            seen.screen().cell(y, x).is_some_and(|cell| !cell.contents().starts_with('a'))
        });
    }
    times
}

/// 1,000 tokens a second from one stream for 6 s.
pub fn swift() -> Vec<Row> {
    const BEAT: Duration = Duration::from_millis(5);
    const BEATS: u32 = 1200;
    const TOKENS: usize = 5;
    let gates = gates(BEATS);
    let server = ModelServer::for_program([paced(&gates, TOKENS)]);
    let home = tempfile::tempdir().unwrap();
    let pty = start_on(home.path(), &server);
    let caret = caret(&pty);
    send(&pty, "tell me fast");
    pty.until("it begins");
    let (bytes, used) = (sent(&pty), cpu(pty.pid()));
    let beats = opened(gates, BEAT);
    let keys = typed(&pty, caret, &beats);
    beats.join().unwrap();
    let (bytes, used) = (sent(&pty) - bytes, cpu(pty.pid()) - used);
    vec![
        ("1,000 tokens a second for 6 s, with typing: CPU", format!("{:.2} s", used.as_secs_f64()), "1.5 s"),
        ("1,000 tokens a second for 6 s: bytes", format!("{} KB", bytes / 1000), "-"),
        ("key echo p50 / p95 meanwhile", pair(keys), "5 / 16 ms"),
        ("turns of the main loop over 16 ms", slow_turns(home.path()), "0"),
    ]
}

/// The turns of the main loop that the log calls slow.
fn slow_turns(home: &Path) -> String {
    let log = std::fs::read_to_string(home.join("lisle/state/log/lisle.log")).unwrap_or_default();
    let slow: Vec<&str> = log.lines().filter_map(|line| line.split_once("main loop took ")).map(|(_, ms)| ms).collect();
    if slow.is_empty() { "0".to_owned() } else { format!("{}: {}", slow.len(), slow.join(", ")) }
}

/// 20 streams at once at 100 tokens a second each, for 10 s.
pub fn twenty() -> Vec<Row> {
    const SESSIONS: usize = 20;
    const BEAT: Duration = Duration::from_millis(10);
    const BEATS: u32 = 1000;
    let gates = gates(BEATS);
    let server = ModelServer::for_program(std::iter::repeat_n(paced(&gates, 1), SESSIONS));
    let home = tempfile::tempdir().unwrap();
    let pty = start_on(home.path(), &server);
    let caret = caret(&pty);
    let idle = pss(pty.pid());
    for n in 0..SESSIONS {
        if n > 0 {
            pty.keys("\x0e");
            pty.gone("it begins");
        }
        send(&pty, &format!("question {n}"));
        pty.until("it begins");
    }
    let (bytes, used, open) = (sent(&pty), cpu(pty.pid()), pss(pty.pid()));
    let beats = opened(gates, BEAT);
    let keys = typed(&pty, caret, &beats);
    beats.join().unwrap();
    let (bytes, used, late) = (sent(&pty) - bytes, cpu(pty.pid()) - used, pss(pty.pid()));
    let text = (BEATS as usize * TOKEN.len() * SESSIONS) as f64 / 1e6;
    vec![
        ("20 streams of 100 tokens/s for 10 s, typing: CPU", format!("{:.2} s", used.as_secs_f64()), "-"),
        ("20 streams of 100 tokens/s: bytes", format!("{} KB", bytes / 1000), "-"),
        ("key echo p50 / p95 meanwhile", pair(keys), "5 / 16 ms"),
        ("turns of the main loop over 16 ms", slow_turns(home.path()), "0"),
        ("20 streams: memory idle, open, after (PSS)", format!("{idle:.1} {open:.1} {late:.1} MB"), "-"),
        ("20 streams: growth of the text received", format!("{:.2} MB of {text:.2}", late - open), "-"),
    ]
}

/// What the first block of code in an answer costs: its colours, and the memory of the grammars.
pub fn code() -> Vec<Row> {
    let home = tempfile::tempdir().unwrap();
    let server = ModelServer::for_program([
        Script::says("Plain words and no more."),
        Script::says("See:\n\n```rust\nfn zebra(n: usize) -> usize {\n    n + 1\n}\n```\n\nthat is all"),
    ]);
    let pty = start_on(home.path(), &server);
    std::thread::sleep(Duration::from_secs(2));
    let idle = pss(pty.pid());
    send(&pty, "without code");
    pty.until("and no more");
    pty.until(IDLE_DRAFT);
    std::thread::sleep(Duration::from_millis(1000));
    let before = pss(pty.pid());
    let used = cpu(pty.pid());
    send(&pty, "with code");
    let shown = pty.until("that is all");
    let coloured = pty.wait_for("`fn` has another colour than the name", |seen| {
        let text = seen.text();
        let found = text
            .lines()
            .enumerate()
            .find_map(|(y, line)| line.find("fn zebra").map(|at| (y, line[..at].chars().count())));
        let Some((y, x)) = found else { return false };
        let colour = |x: usize| {
            let cell = seen.screen().cell(u16::try_from(y).unwrap(), u16::try_from(x).unwrap());
            cell.map(vt100::Cell::fgcolor)
        };
        colour(x) != colour(x + 3)
    });
    let waited = coloured.saturating_duration_since(shown);
    pty.until(IDLE_DRAFT);
    std::thread::sleep(Duration::from_millis(1000));
    let used = cpu(pty.pid()) - used;
    let after = pss(pty.pid());
    vec![
        ("empty home, idle: memory (PSS)", format!("{idle:.1} MB"), "25 MB"),
        ("first block of code: coloured after it was shown", format!("{:.1} ms", ms(waited)), "-"),
        ("first block of code: CPU of the turn", format!("{:.0} ms", ms(used)), "-"),
        ("first block of code: memory before, after (PSS)", format!("{before:.1}, {after:.1} MB"), "-"),
    ]
}
