//! The same screens in process and over the socket: one table of keys, two apps, equal texts.

use crate::place::{LISLE, Place};
use crate::pty::{LIMIT, Pty, Start};
use crate::support::model_server::Script;
use regex::Regex;
use serde_json::json;
use std::time::{Duration, Instant};

/// Screen: its name, keys that lead to it, text that it shows, and the key that leaves it.
type Scene = (&'static str, &'static str, &'static str, Option<&'static str>);

const ESC: Option<&str> = Some("\x1b");
/// Time after which that key is pressed once more.
const AGAIN: Duration = Duration::from_secs(1);
/// Yes, once. It counts a moment after the request is shown, so it is pressed again until it does.
const F4: &str = "\x1bOS";

const SCENES: &[Scene] = &[
    ("start", "", "Ask anything", None),
    ("commands", "/", "new session", None),
    ("a command is chosen", "usa", "usage: tokens and cost", Some("\x15")),
    ("answer", "hello\r", "The first answer.", None),
    ("request", "write it\r", "new.txt", None),
    ("approved", F4, "It is written.", None),
    ("usage", "/usage\r", "Usage", ESC),
    ("trash", "/trash\r", "Trash is empty", ESC),
    ("sources", "/sources\r", "Sources", ESC),
    ("extensions", "/extensions\r", "Extensions", ESC),
    ("rename", "/rename Another title\r", "Another title", None),
];

fn scripts() -> Vec<Script> {
    let write = json!({"path": "new.txt", "content": "one\ntwo\n"});
    vec![Script::says("The first answer."), Script::calls(&[("write", write)]), Script::says("It is written.")]
}

/// An app, and the place that it works in.
struct Side {
    place: Place,
    pty: Pty,
}

impl Side {
    fn new(place: Place, more: &[&str]) -> Self {
        // A name that is the same on both sides.
        let project = place.project.path().join("app");
        std::fs::create_dir_all(&project).unwrap();
        let cwd = project.to_string_lossy().into_owned();
        let pty = Start::new(LISLE, place.home.path())
            .size(110, 34)
            .args(["--cwd", cwd.as_str()])
            .args(more.iter().copied())
            .go();
        Self { place, pty }
    }

    /// Presses keys until a text is shown.
    #[track_caller]
    fn press(&self, name: &str, keys: &str, shows: &str) {
        let (end, mut pressed) = (Instant::now() + LIMIT, None::<Instant>);
        while !self.pty.text().contains(shows) || pressed.is_none() {
            assert!(Instant::now() < end, "{name}: {shows:?} is not shown\n{}", self.pty.text());
            if pressed.is_none_or(|pressed| keys == F4 && pressed.elapsed() > AGAIN) {
                self.pty.keys(keys);
                pressed = Some(Instant::now());
            }
            std::thread::yield_now();
        }
    }

    /// The screen, without what differs from run to run: temporary names, ports, ids, and times.
    fn screen(&self) -> String {
        let text = self.pty.text();
        [
            (r"\.tmp\w{6}", ".tmp"),
            (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
            (r"\d{6}-[a-z]+-[a-z]+", "ID"),
            (r"\b\d+(\.\d+)? ?(ms|s|m)\b", "TIME"),
            (r"\b\d\d:\d\d\b", "CLOCK"),
            (r"\b(just now|TIME ago)\b", "NOW"),
            // A turn of less than a second names no time.
            (r"TIME · ", ""),
            (r"[─━]{2,}", "──"),
            (r" {2,}", "  "),
        ]
        .iter()
        .fold(text, |text, (pattern, with)| Regex::new(pattern).unwrap().replace_all(&text, *with).into_owned())
    }
}

#[test]
fn screens_are_the_same_in_process_and_over_the_socket() {
    let alone = Side::new(Place::new(scripts(), ""), &["--no-gateway"]);
    let place = Place::new(scripts(), "");
    let _gateway = place.serve();
    let joined = Side::new(place, &[]);
    for (name, keys, shows, leave) in SCENES {
        for side in [&alone, &joined] {
            side.press(name, keys, shows);
        }
        equal(name, &alone, &joined);
        if let Some(key) = leave {
            for side in [&alone, &joined] {
                side.pty.keys(key);
                side.pty.wait_for(&format!("{name} is left"), |seen| !seen.text().contains(shows));
            }
            equal(&format!("after {name}"), &alone, &joined);
        }
    }
    assert!(joined.place.status().unwrap()["clients"] == 1, "it was a client of the gateway");
}

/// Waits until both show the same.
#[track_caller]
fn equal(name: &str, alone: &Side, joined: &Side) {
    let end = Instant::now() + LIMIT;
    loop {
        let (one, other) = (alone.screen(), joined.screen());
        if one == other {
            return;
        }
        assert!(Instant::now() < end, "{name}: not the same\n--- in process ---\n{one}\n--- joined ---\n{other}");
        std::thread::yield_now();
    }
}
