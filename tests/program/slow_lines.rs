//! Lines that take everything at once and bring it slowly, as sshd does: what is typed shows soon although an answer streams,
//! and nothing is sent while nothing happens.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test should stop where it fails")]

use crate::pty::{Answers, Pty, Start};
use std::time::{Duration, Instant};

const ROUND_TRIP: Duration = Duration::from_millis(300);
/// Longest frame of a streaming answer in a pane of 100 by 30, with the one of the key.
const FRAMES: u32 = 5_000;
/// More than a loaded machine needs for a frame.
const BUSY: Duration = Duration::from_millis(700);

/// An answer that streams over a line of so many bytes a second.
fn streams(home: &std::path::Path, bytes: u32, answers: Answers) -> Pty {
    let pty = begins_to_stream(home, bytes, answers);
    let begun = pty.look(|seen| seen.raw.len());
    pty.wait_for("it streams", |seen| seen.raw.len() > begun + 3 * FRAMES as usize);
    pty
}

fn begins_to_stream(home: &std::path::Path, bytes: u32, answers: Answers) -> Pty {
    let start = Start::new(env!("CARGO_BIN_EXE_lisle"), home).answers(answers);
    let pty =
        start.args(["--no-gateway"]).env("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22").drain(bytes, ROUND_TRIP).go();
    pty.until("Ask to Edit");
    pty.keys("stream 3000\r");
    pty.until("esc stops");
    pty
}

/// Time until the keys made the screen show this.
fn shown(pty: &Pty, keys: &str, text: &str) -> Duration {
    let pressed = Instant::now();
    pty.keys(keys);
    pty.until(text).saturating_duration_since(pressed)
}

#[test]
fn keys_show_after_one_round_trip_and_one_frame_on_any_line() {
    for bytes in [5_000, 16_000] {
        let home = tempfile::tempdir().unwrap();
        let pty = streams(home.path(), bytes, Answers::Modern);
        let most = ROUND_TRIP * 2 + Duration::from_secs(1) * FRAMES / bytes + BUSY;
        let typed = ["zebra", "okapi", "quagga"].map(|word| shown(&pty, word, word));
        pty.keys("\x1b[117;5u");
        pty.gone("zebra");
        let stopped = shown(&pty, "\x1b[27u", "You stopped");
        eprintln!("{bytes} bytes a second: typed text after {typed:?}, Esc after {stopped:?}, at most {most:?}");
        assert!(typed.iter().all(|took| *took <= most), "{bytes}: {typed:?}, at most {most:?}");
        assert!(stopped <= most, "{bytes}: {stopped:?}, at most {most:?}");
    }
}

#[test]
fn a_slow_line_is_told_with_what_helps() {
    let home = tempfile::tempdir().unwrap();
    // Looked for from the beginning: it goes away by itself.
    let pty = begins_to_stream(home.path(), 5_000, Answers::Modern);
    pty.wait_for("it is told", |seen| seen.text().contains("Slow connection") && seen.text().contains("ssh -C"));
}

#[test]
fn nothing_is_asked_while_nothing_happens() {
    let home = tempfile::tempdir().unwrap();
    let pty = Start::new(env!("CARGO_BIN_EXE_lisle"), home.path()).drain(16_000, ROUND_TRIP).go();
    pty.until("Ask to Edit");
    // Each key has its frame, and each frame its question; between them there is none.
    let asked = |pty: &Pty| pty.look(|seen| String::from_utf8_lossy(&seen.raw).matches("\x1b[5n").count());
    shown(&pty, "a", "› a");
    let before = asked(&pty);
    assert!(before > 0, "frames are asked about");
    shown(&pty, "b", "› ab");
    let after = asked(&pty);
    assert!(after <= before + 2, "{before} questions became {after} by one key");
}
