//! Stored texts of commands whose output names this machine or a process of it: the doctor, the gateway, completions. What
//! differs between machines and runs has a stand-in, or is left out.

use crate::goldens::{self, settings};
use crate::headless::{Place, code, err, out};
use regex::Regex;
use std::process::Command;

/// Names of what the doctor finds that is the same on every machine.
const STABLE: [&str; 10] =
    ["version", "config", "data", "state", "directory", "workspace", "trash", "terminal", "characters", "connection"];

fn shown(place: &Place, text: &str) -> String {
    let mut text = text.replace(place.project.path().to_str().unwrap(), "[PROJECT]");
    text = text.replace(place.home.path().to_str().unwrap(), "[HOME]");
    for (pattern, stand_in) in [
        (r"lisle \d+\.\d+\.\d+", "lisle [VERSION]"),
        (r#""version": "[^"]+""#, r#""version": "[VERSION]""#),
        (r#""host": "[^"]+""#, r#""host": "[HOST]""#),
        (r" on \S+, process", " on [HOST], process"),
        (r"process \d+", "process [PID]"),
        (r#""instance": "[^"]+""#, r#""instance": "[INSTANCE]""#),
        (r#""pid": \d+"#, r#""pid": 0"#),
        (r#""(\w*(?:seconds|Seconds|since|Since))": \d+"#, r#""$1": 0"#),
        (r"for \d+ s", "for 0 s"),
    ] {
        text = Regex::new(pattern).unwrap().replace_all(&text, stand_in).into_owned();
    }
    text
}

fn golden(name: &str, text: &str) {
    settings().bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn the_doctor_prints_what_it_printed_before() {
    let place = goldens::home();
    let doctor = |line: &str| {
        let mut command = goldens::command(&place, line);
        command.env("TERM", "xterm").env("LC_ALL", "C.UTF-8").env_remove("COLORTERM").output().unwrap()
    };
    let text: String =
        out(&doctor("doctor")).lines().filter(|line| is_stable(line)).map(|l| format!("{l}\n")).collect();
    golden("doctor", &shown(&place, &text));
    let done = doctor("doctor --json");
    let mut found: Vec<serde_json::Value> = serde_json::from_str(&out(&done)).unwrap();
    found.retain(|one| STABLE.contains(&one["about"].as_str().unwrap()));
    golden("doctor___json", &shown(&place, &serde_json::to_string_pretty(&found).unwrap()));
}

fn is_stable(line: &str) -> bool {
    line.split_whitespace().nth(1).is_some_and(|about| STABLE.contains(&about))
}

/// Gateway of a home, which ends with the test.
struct Gateway<'a>(&'a Place);

impl Drop for Gateway<'_> {
    fn drop(&mut self) {
        let _ = self.0.command(&["gateway", "stop"]).output();
    }
}

#[test]
fn gateway_commands_print_what_they_printed_before() {
    let place = Place::new();
    let lines = |lines: &[(&str, i32)]| {
        let mut all = String::new();
        for (line, status) in lines {
            let done = place.command(&line.split(' ').collect::<Vec<_>>()).env("TZ", "UTC").output().unwrap();
            assert_eq!(code(&done), Some(*status), "{line}: {}", err(&done));
            all += &format!("$ lisle {line}\n{}--- stderr\n{}\n", out(&done), err(&done));
        }
        shown(&place, &all)
    };
    let gone = lines(&[
        ("gateway status --json", 1),
        ("gateway clients", 1),
        ("gateway call status", 1),
        ("gateway detach 1", 1),
        ("gateway link", 1),
        ("gateway stop", 1),
        ("gateway token --list", 0),
        ("gateway token --revoke nobody", 1),
        ("gateway token --name nobody --rotate", 1),
        ("gateway token --name nobody", 2),
    ]);
    golden("gateway_commands_without_one", &gone);
    let _gateway = Gateway(&place);
    golden(
        "gateway_commands",
        &lines(&[
            ("serve --background", 0),
            ("serve --background --listen 127.0.0.1:1", 1),
            ("serve", 1),
            ("gateway status", 0),
            ("gateway status --json", 0),
            ("gateway clients", 0),
            ("gateway clients --json", 0),
            ("gateway call nothing", 1),
            ("gateway call status --params {", 2),
            ("gateway detach 99", 1),
            ("gateway link", 1),
            ("gateway restart", 0),
            ("gateway stop", 0),
            ("gateway status", 1),
        ]),
    );
}

/// Candidates for the last word, with what is said of them.
fn candidates(place: &Place, words: &[&str]) -> String {
    let mut command = place.command(&[&["--", "lisle"], words].concat());
    let done = command.env("LISLE_COMPLETE", "fish").output().unwrap();
    assert_eq!(code(&done), Some(0), "{}", err(&done));
    format!("$ lisle {}\n{}\n", words.join(" "), out(&done))
}

#[test]
fn completions_offer_what_they_offered_before() {
    let place = goldens::home();
    let words: &[&[&str]] = &[
        &[""],
        &["--"],
        &["sessions", ""],
        &["gateway", ""],
        &["run", "--mode", ""],
        &["run", "--format", ""],
        &["run", "--context", ""],
        &["run", "--pattern", ""],
        &["run", "--strategy", ""],
        &["run", "--connection", ""],
        &["sessions", "export", "x", "--format", ""],
        &["sessions", "import", "--from", ""],
        &["sessions", "nothing", ""],
        &["completions", ""],
        &["schema", ""],
        &["man", "se"],
        &["help", "s"],
        &["keys", "show", ""],
        &["themes", "show", "nord"],
    ];
    golden("completions", &words.iter().map(|words| candidates(&place, words)).collect::<String>());
}

#[test]
fn shells_that_are_here_read_the_scripts_of_completions() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = place.home.path().join(shell);
        std::fs::write(&script, place.lisle(&["completions", shell]).stdout).unwrap();
        // The script of a shell that is not installed is read where it is.
        let Ok(done) = Command::new(shell).arg("-n").arg(&script).env("HOME", place.home.path()).output() else {
            continue;
        };
        assert!(done.status.success() && done.stderr.is_empty(), "{shell}: {}", err(&done));
    }
}
