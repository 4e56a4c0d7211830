//! The bounds of the screen, measured on the real binary in a pseudo-terminal of 200x50, on the rehearsal:
//! `cargo bench --bench terminal`. Prints a table of what was measured beside the bound; judging it is left to the reader,
//! because a machine that is busy with other work measures that work.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a program that measures and prints")]

#[path = "../tests/support/pty.rs"]
mod pty;

use pty::{Pty, Start};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

const READY: &str = "Ask to Edit";
/// So long idleness and streaming are watched. The only waits in here: time itself is what is measured.
const IDLE: Duration = Duration::from_secs(5);
const STREAM: Duration = Duration::from_secs(6);
const KEYS: usize = 60;

fn main() {
    let mut rows = Vec::new();
    rows.push(first_frame());
    rows.extend(idle());
    rows.push(echo_idle());
    rows.extend(streaming());
    println!("\n{:<46} {:>22} {:>14}", "work (200x50)", "measured", "bound");
    println!("{}", "-".repeat(84));
    for (work, measured, bound) in rows {
        println!("{work:<46} {measured:>22} {bound:>14}");
    }
}

type Row = (&'static str, String, &'static str);

fn start(home: &Path) -> Pty {
    let pty = Start::new(env!("CARGO_BIN_EXE_lisle"), home).size(200, 50).go();
    pty.until(READY);
    pty
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
    let home = tempfile::tempdir().unwrap();
    drop(start(home.path()));
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
    let home = tempfile::tempdir().unwrap();
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
    let caret = caret(&pty);
    pty.keys("stream 3000\r");
    let begun = sent(&pty);
    pty.wait_for("it streams", |seen| seen.raw.len() > begun + 2000);
    let (bytes, used) = (sent(&pty), cpu(pty.pid()));
    std::thread::sleep(STREAM);
    let rows = vec![
        ("100 words a second for 6 s: CPU", format!("{:.2} s", (cpu(pty.pid()) - used).as_secs_f64()), "0.25 s"),
        ("100 words a second for 6 s: bytes", format!("{} KB", (sent(&pty) - bytes) / 1000), "150 KB"),
        ("key echo p50 / p95 while streaming", pair(echo(&pty, caret, Duration::from_millis(30))), "5 / 16 ms"),
    ];
    drop(pty);
    rows
}

fn sent(pty: &Pty) -> usize {
    pty.look(|seen| seen.raw.len())
}

fn tasks(pid: i32) -> Vec<std::path::PathBuf> {
    fs::read_dir(format!("/proc/{pid}/task")).unwrap().map(|entry| entry.unwrap().path()).collect()
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

/// User and system time of all threads, to the nanosecond (`schedstat`).
fn cpu(pid: i32) -> Duration {
    let nanos = |task: &Path| {
        let text = fs::read_to_string(task.join("schedstat")).unwrap_or_default();
        text.split_whitespace().next().and_then(|nanos| nanos.parse::<u64>().ok()).unwrap_or(0)
    };
    Duration::from_nanos(tasks(pid).iter().map(|task| nanos(task)).sum())
}

/// The process's share of the memory it uses, in MB.
fn pss(pid: i32) -> f64 {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(0.0) / 1000.0
}
