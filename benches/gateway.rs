//! The bounds of the gateway, measured on the real binary over real sockets against the same work without one: `cargo bench
//! --bench gateway`, or with the names of some parts behind `--`. Prints what was measured beside the bound; judging it is left
//! to the reader, because a machine that is busy with other work measures that work.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a program that measures and prints"
)]
#![allow(dead_code, reason = "what the tests of the gateway share has more than is measured")]

#[path = "support/http_lists.rs"]
mod http_lists;
#[path = "../tests/gateway/place.rs"]
mod place;
#[path = "support/process.rs"]
mod process;
#[path = "../tests/support/pty.rs"]
mod pty;
#[path = "support/stores.rs"]
mod stores;
#[path = "../tests/support/mod.rs"]
mod support;

use place::{Place, Raw, Serving};
use process::{cpu, pss};
use pty::Pty;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use support::model_server::{Gate, Script, chunk};

const READY: &str = "Ask anything";
const IDLE_DRAFT: &str = "Message, or / for commands";
/// Pieces of an answer and the time between them: 50 a second.
const BEAT: Duration = Duration::from_millis(20);

type Row = (&'static str, String, &'static str);
type Part = (&'static str, fn() -> Vec<Row>);

const PARTS: [Part; 8] = [
    ("turns", turns),
    ("stream", stream),
    ("join", join),
    ("lists", http_lists::lists),
    ("load", load),
    ("memory", memory),
    ("reconnects", reconnects),
    ("deaths", deaths),
];

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let mut rows = Vec::new();
    for (_, part) in PARTS.iter().filter(|(name, _)| asked.is_empty() || asked.iter().any(|asked| asked == name)) {
        rows.extend(part());
    }
    println!("\n{:<62} {:>34} {:>22}", "work", "measured", "bound");
    println!("{}", "-".repeat(120));
    for (work, measured, bound) in rows {
        println!("{work:<62} {measured:>34} {bound:>22}");
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// In this process, then through a gateway.
fn both<T>(mut work: impl FnMut(&Place, &Pty, Option<&Serving>) -> T, scripts: impl Fn() -> Vec<Script>) -> (T, T) {
    let place = Place::new(scripts(), "");
    let pty = place.app(&["--no-gateway"]);
    pty.until(READY);
    let alone = work(&place, &pty, None);
    drop(pty);
    let place = Place::new(scripts(), "");
    let serving = place.serve();
    let pty = place.app(&[]);
    pty.until(READY);
    let through = work(&place, &pty, Some(&serving));
    (alone, through)
}

/// A text of so many pieces, one a beat.
fn paced(pieces: usize, gates: &[Gate], size: usize) -> Script {
    let piece = "x".repeat(size.saturating_sub(1)) + " ";
    let said = chunk(json!({"content": piece}), Value::Null);
    let begun = Script::sse("");
    let all = gates.iter().take(pieces).fold(begun, |script, gate| script.then_wait(gate).then(&said));
    let end = chunk(json!({"content": "the-end"}), Value::Null) + &chunk(json!({}), json!("stop")) + "data: [DONE]\n\n";
    all.then(end)
}

/// Opens the gates one a beat, in a thread of its own.
fn beats(gates: Vec<Gate>) -> std::thread::JoinHandle<()> {
    let begun = Instant::now();
    std::thread::spawn(move || {
        for (n, gate) in (1..).zip(&gates) {
            std::thread::sleep((begun + BEAT * n).saturating_duration_since(Instant::now()));
            gate.open();
        }
    })
}

/// From Enter to the request at the server.
fn turns() -> Vec<Row> {
    const TURNS: usize = 31;
    let work = |place: &Place, pty: &Pty, _: Option<&Serving>| {
        let waiting = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut asked = Vec::new();
        for n in 0..TURNS {
            pty.keys(&format!("question {n}"));
            pty.until(&format!("question {n}"));
            let pressed = Instant::now();
            pty.keys("\r");
            waiting.block_on(place.server.asked_times(n + 1));
            asked.push(pressed.elapsed());
            pty.until(&format!("answer number {n}."));
            pty.until(IDLE_DRAFT);
        }
        median(&mut asked[1..])
    };
    let (alone, through) = both(work, || (0..TURNS).map(|n| Script::says(&format!("answer number {n}."))).collect());
    let more = ms(through) - ms(alone);
    vec![
        ("Enter to request, in process", format!("{:.1} ms", ms(alone)), "-"),
        ("Enter to request, through the gateway", format!("{:.1} ms ({more:+.1})", ms(through)), "at most 2 ms more"),
    ]
}

/// CPU of a stream, and the time from a piece to the screen.
fn stream() -> Vec<Row> {
    const PIECES: usize = 500;
    const SAMPLES: usize = 40;
    let gates: Mutex<Vec<Gate>> = Mutex::default();
    let singles: Mutex<Vec<Gate>> = Mutex::default();
    let scripts = || {
        let new = |count: usize| (0..count).map(|_| Gate::new()).collect::<Vec<_>>();
        (*gates.lock().unwrap(), *singles.lock().unwrap()) = (new(PIECES), new(SAMPLES));
        let long = paced(PIECES, &gates.lock().unwrap(), 6);
        let marked = singles.lock().unwrap().iter().enumerate().fold(Script::sse(""), |script, (n, gate)| {
            script.then_wait(gate).then(chunk(json!({"content": format!("mark{n}. ")}), Value::Null))
        });
        vec![long, marked.then(chunk(json!({}), json!("stop")) + "data: [DONE]\n\n")]
    };
    let work = |_: &Place, pty: &Pty, serving: Option<&Serving>| {
        let gateway = serving.map(|serving| i32::try_from(serving.child.id()).unwrap());
        let used = || cpu(pty.pid()) + gateway.map(cpu).unwrap_or_default();
        let before = used();
        pty.keys("tell me all\r");
        let beats = beats(gates.lock().unwrap().clone());
        pty.until("the-end");
        pty.until(IDLE_DRAFT);
        let used = used() - before;
        beats.join().unwrap();
        pty.keys("and once more\r");
        let mut times = Vec::new();
        for (n, gate) in singles.lock().unwrap().iter().enumerate() {
            std::thread::sleep(Duration::from_millis(60));
            let opened = Instant::now();
            gate.open();
            times.push(pty.until(&format!("mark{n}.")).saturating_duration_since(opened));
        }
        (used, median(&mut times))
    };
    let (alone, through) = both(work, scripts);
    let ratio = |a: Duration, b: Duration| format!("{:.0} / {:.0} ms ({:.2} times)", ms(a), ms(b), ms(b) / ms(a));
    vec![
        ("500 pieces at 50/s: CPU alone / with gateway and client", ratio(alone.0, through.0), "at most 1.2 times"),
        (
            "piece to screen, alone / through the gateway",
            format!("{:.1} / {:.1} ms", ms(alone.1), ms(through.1)),
            "at most 1.2 times",
        ),
    ]
}

/// The list of ten thousand sessions, by a client that joins.
fn join() -> Vec<Row> {
    let place = Place::new([], "");
    let workspace = place.lisle_home().join("data/workspaces/default");
    std::fs::create_dir_all(workspace.join("sessions")).unwrap();
    stores::fill(&workspace, stores::Plan { sessions: 10_000, damaged: 0, rows: 2, padded: true, seed: 1 });
    let _serving = place.serve();
    let first = place.app(&[]);
    first.until("Sessions");
    drop(first);
    let mut times: Vec<Duration> = (0..7)
        .map(|_| {
            let pty = place.app(&[]);
            // The head of the list counts those that are neither archived nor hidden.
            let is_filled = |head: &str| {
                head.split_whitespace()
                    .nth(1)
                    .and_then(|count| count.parse().ok())
                    .is_some_and(|count: u32| count > 1_000)
            };
            pty.wait_for("the list is filled", |seen| seen.text().lines().next().is_some_and(is_filled)) - pty.started
        })
        .collect();
    vec![("joining with 10,000 sessions: list shown", format!("{:.0} ms", ms(median(&mut times))), "300 ms warm")]
}

/// A client over the socket, with its sessions.
fn client(place: &Place, id: &str) -> Raw {
    let mut raw = place.raw();
    let mut connect = place.connect(id);
    (connect["workspace"], connect["cwd"]) = (json!(""), json!(place.project.path()));
    raw.request(1, "connect", &connect);
    raw.reply(1);
    raw
}

fn engine(command: &str, with: &Value) -> Value {
    json!({"command": {"to": "engine", "command": command, "with": with}})
}

fn session(id: &str, command: &str, with: &Value) -> Value {
    json!({"command": {"to": "session", "session": id, "command": command, "with": with}})
}

/// Makes sessions, by one client.
fn make(place: &Place, count: usize) -> Vec<String> {
    let mut maker = client(place, "maker");
    (0..count)
        .map(|n| {
            maker.request(n as u64 + 2, "lisle.command", &engine("create", &json!({})));
            maker.event("opened")["session"].as_str().unwrap().to_owned()
        })
        .collect()
}

/// 200 turns at once, seen by 100 clients, ten of which read nothing.
fn load() -> Vec<Row> {
    const TURNS: usize = 200;
    const DEAF: usize = 10;
    const PIECES: usize = 3_400;
    const SIZE: usize = 200;
    let alone = {
        let gates: Vec<Gate> = (0..PIECES / 10).map(|_| Gate::new()).collect();
        let place = Place::new([paced(PIECES / 10, &gates, SIZE)], "parallel_requests = 256\n");
        let _serving = place.serve();
        let ids = make(&place, 1);
        let mut raw = client(&place, "alone");
        raw.request(2, "lisle.command", &session(&ids[0], "open", &json!({"rows": 1})));
        raw.request(3, "lisle.command", &session(&ids[0], "send", &json!({"text": "go"})));
        let begun = Instant::now();
        let beats = beats(gates);
        raw.event("turn-ended");
        beats.join().unwrap();
        begun.elapsed().as_secs_f64() / (PIECES as f64 / 10.0)
    };
    let gates: Vec<Gate> = (0..PIECES).map(|_| Gate::new()).collect();
    let scripts: Vec<Script> = (0..TURNS).map(|_| paced(PIECES, &gates, SIZE)).collect();
    let place = Place::new(scripts, "parallel_requests = 256\n");
    let serving = place.serve();
    let pid = i32::try_from(serving.child.id()).unwrap();
    let ids = make(&place, TURNS);
    let memory = pss(pid);
    let mut deaf = Vec::new();
    let mut readers = Vec::new();
    let mut begun = Instant::now();
    for (n, pair) in ids.chunks(2).enumerate() {
        let mut raw = client(&place, &format!("client-{n}"));
        for (at, id) in pair.iter().enumerate() {
            raw.request(2 + at as u64, "lisle.command", &session(id, "open", &json!({"rows": 1})));
        }
        for (at, id) in pair.iter().enumerate() {
            raw.request(4 + at as u64, "lisle.command", &session(id, "send", &json!({"text": "go"})));
        }
        if n < DEAF {
            deaf.push(raw);
            continue;
        }
        readers.push(std::thread::spawn(move || {
            let (mut open, mut frames) = (2, 0);
            let mut times = Vec::new();
            while open > 0 {
                let Some(frame) = raw.frame() else { break };
                frames += 1;
                if frames % 500 == 0 {
                    raw.request(100 + frames, "ping", &json!({"seen": frame["seq"].as_u64().unwrap_or(0)}));
                }
                if frame["payload"]["stamped"]["event"] == "turn-ended" {
                    times.push(Instant::now());
                    open -= 1;
                }
            }
            times
        }));
        begun = Instant::now();
    }
    let beats = beats(gates);
    let mut most = memory;
    let mut slowest = Duration::ZERO;
    for reader in readers {
        for time in reader.join().unwrap() {
            slowest = slowest.max(time.saturating_duration_since(begun));
        }
        most = most.max(pss(pid));
    }
    beats.join().unwrap();
    let clients = place.lisle(&["gateway", "clients", "--json"]);
    let left: Value = serde_json::from_slice(&clients.stdout).unwrap_or_default();
    let still = |n: usize| {
        let id = format!("client-{n}");
        left.as_array().is_some_and(|all| all.iter().any(|one| one["id"] == id.as_str() && one["connected"] == true))
    };
    let cut = (0..DEAF).filter(|n| !still(*n)).count();
    drop(deaf);
    let a_piece = slowest.as_secs_f64() / PIECES as f64;
    let text = (TURNS * PIECES * SIZE) as f64 / 1e6;
    vec![
        (
            "200 turns at 50/s, 100 clients: slowest turn over one alone",
            format!("{:+.1} %", (a_piece / alone - 1.0) * 100.0),
            "20 %",
        ),
        (
            "the same: memory grows by (text of all turns)",
            format!("{:.0} MB ({text:.0} MB)", most - memory),
            "2 times the text",
        ),
        ("the same: clients that read nothing and were cut off", format!("{cut} of {DEAF}"), "all"),
    ]
}

/// Memory after 200 turns at full speed, all at once and 20 at a time, while their 100 clients stay and once they left.
fn memory() -> Vec<Row> {
    const PIECES: usize = 1_000;
    let [all, all_left] = memory_after(200, PIECES);
    let [some, some_left] = memory_after(20, PIECES);
    let [few, _] = memory_after(20, 1);
    vec![
        ("200 turns at once, 100 clients that stay: memory grows by", all, "2 times the text"),
        ("the same, once the clients left", all_left, "-"),
        ("200 turns, 20 at a time: memory grows by", some, "2 times the text"),
        ("the same, once the clients left", some_left, "-"),
        ("the same with answers of one piece: what sessions hold", few, "-"),
    ]
}

fn memory_after(at_once: usize, pieces: usize) -> [String; 2] {
    const TURNS: usize = 200;
    const SIZE: usize = 340;
    let piece = "x".repeat(SIZE - 1) + " ";
    let end = chunk(json!({}), json!("stop")) + "data: [DONE]\n\n";
    let answer = chunk(json!({"content": piece}), Value::Null).repeat(pieces) + &end;
    let place = Place::new((0..TURNS).map(|_| Script::sse(&answer)), "parallel_requests = 256\n");
    let serving = place.serve();
    let pid = i32::try_from(serving.child.id()).unwrap();
    let ids = make(&place, TURNS);
    let before = pss(pid);
    let pairs: Vec<(usize, &[String])> = ids.chunks(2).enumerate().collect();
    let mut stay: Vec<Raw> = Vec::new();
    for some in pairs.chunks(at_once / 2) {
        let turns = some.iter().map(|(n, pair)| {
            let mut raw = client(&place, &format!("client-{n}"));
            for (at, id) in (0..).zip(*pair) {
                raw.request(2 + 2 * at, "lisle.command", &session(id, "open", &json!({"rows": 1})));
                raw.request(3 + 2 * at, "lisle.command", &session(id, "send", &json!({"text": "go"})));
            }
            std::thread::spawn(move || {
                (0..2).for_each(|_| drop(raw.event("turn-ended")));
                raw
            })
        });
        let turns: Vec<_> = turns.collect();
        stay.extend(turns.into_iter().map(|reader| reader.join().unwrap()));
    }
    let held = pss(pid) - before;
    drop(stay);
    place.status_until("the clients are gone", |status| status["clients"] == 0);
    let left = pss(pid) - before;
    let text = (TURNS * pieces * SIZE) as f64 / 1e6;
    let times = |grown: f64| format!("{grown:.0} MB ({:.1} times {text:.1} MB)", grown / text);
    [times(held), times(left)]
}

/// A client that comes back a thousand times while a turn streams, and gets each piece once.
fn reconnects() -> Vec<Row> {
    const TIMES: usize = 1_000;
    let gates: Vec<Gate> = (0..400).map(|_| Gate::new()).collect();
    let text = |n: usize| format!("p{n} ");
    let script = gates.iter().enumerate().fold(Script::sse(""), |script, (n, gate)| {
        script.then_wait(gate).then(chunk(json!({"content": text(n)}), Value::Null))
    });
    let script = script.then(chunk(json!({}), json!("stop")) + "data: [DONE]\n\n");
    let place = Place::new([script], "");
    let _serving = place.serve();
    let id = make(&place, 1).remove(0);
    let mut connect = place.connect("comes-back");
    (connect["workspace"], connect["cwd"]) = (json!(""), json!(place.project.path()));
    let (mut seen, mut said, mut ended, mut opened) = (0, String::new(), 0, 0);
    let begun = Instant::now();
    for n in 0..TIMES {
        let mut raw = place.raw();
        raw.request(1, "connect", &connect);
        let hello = raw.reply(1)["payload"].clone();
        assert_eq!(hello["resumed"], n > 0, "it goes on where it was");
        if n == 0 {
            raw.request(2, "lisle.command", &session(&id, "open", &json!({"rows": 1})));
            raw.request(3, "lisle.command", &session(&id, "send", &json!({"text": "go"})));
        }
        // Some of what there is, so that the line breaks in the middle.
        raw.request(n as u64 * 10 + 10, "ping", &json!({"seen": seen}));
        if let Some(gate) = gates.get(n) {
            gate.open();
        }
        loop {
            let Some(frame) = raw.frame() else { break };
            if frame["type"] == "res" && frame["id"] == n as u64 * 10 + 10 {
                break;
            }
            // A reply of the engine has a number in the line of events, which it does not say.
            if frame["type"] == "res" {
                seen += 1;
                continue;
            }
            let Some(at) = frame["seq"].as_u64() else { continue };
            assert_eq!(at, seen + 1, "no event is missed and none comes twice");
            seen = at;
            let stamped = &frame["payload"]["stamped"];
            match stamped["event"].as_str() {
                Some("delta") => said += stamped["with"]["add"].as_str().unwrap(),
                Some("turn-ended") => ended += 1,
                Some("opened") => opened += 1,
                _ => {}
            }
        }
        connect["resume"] = json!({"instance": hello["instance"], "seq": seen});
    }
    let each = begun.elapsed() / u32::try_from(TIMES).unwrap();
    // Text that began a row came with the row.
    let whole = (1..gates.len()).all(|n| said.contains(&text(n)));
    vec![(
        "1,000 reconnects while a turn streams",
        format!(
            "{:.1} ms each, {}",
            ms(each),
            if whole && ended == 1 && opened == 1 { "all came once" } else { "LOST" }
        ),
        "no event lost or doubled",
    )]
}

/// The gateway is killed a hundred times while messages come in.
fn deaths() -> Vec<Row> {
    const DEATHS: usize = 100;
    let scripts: Vec<Script> = (0..DEATHS * 4).map(|n| Script::says(&format!("answer {n}"))).collect();
    let place = Place::new(scripts, "");
    let mut serving = place.serve();
    let id = make(&place, 1).remove(0);
    let (mut accepted, mut begun) = (0, Vec::new());
    for n in 0..DEATHS {
        let message = format!("msg-death-{n:04}");
        let mut tries = 0;
        loop {
            tries += 1;
            let started = Instant::now();
            let mut raw = client(&place, &format!("writer-{n}-{tries}"));
            begun.push(started.elapsed());
            raw.request(2, "lisle.command", &session(&id, "open", &json!({"rows": 1})));
            let mut send = session(&id, "send", &json!({"text": format!("message number {n}.")}));
            send["message"] = json!(message);
            raw.request(3, "lisle.command", &send);
            // Killed at another moment each time: before, while and after it is taken.
            std::thread::sleep(Duration::from_micros(fastrand::u64(0..12_000)));
            if tries == 1 {
                serving.signal(Signal::KILL);
                let _ = serving.child.wait();
                serving = place.serve();
                continue;
            }
            let reply = raw.reply(3);
            assert!(reply["ok"] == true || reply["error"]["details"] == "duplicate", "{reply}");
            accepted += 1;
            break;
        }
    }
    drop(serving);
    let rows = place.transcripts();
    let mut counts: HashMap<usize, usize> = HashMap::new();
    for line in rows.lines().skip(1) {
        let row: Value = serde_json::from_str(line).unwrap_or_default();
        if row["type"] == "user"
            && let Some(n) = row["content"].as_str().and_then(|text| text.strip_prefix("message number "))
        {
            *counts.entry(n.trim_end_matches('.').parse().unwrap()).or_default() += 1;
        }
    }
    let (lost, doubled) =
        ((0..DEATHS).filter(|n| !counts.contains_key(n)).count(), counts.values().filter(|count| **count > 1).count());
    vec![(
        "100 kill -9 of the gateway while messages come in",
        format!("{accepted} taken, {lost} lost, {doubled} doubled"),
        "none lost or doubled",
    )]
}
