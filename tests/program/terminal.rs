//! The real binary in a pseudo-terminal: what only shows when all parts are together, and that the terminal is always
//! given back. No keys are set, so it runs on the demo.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test should stop where it fails")]

use crate::pty;
use crate::support::model_server;

use model_server::{ModelServer, Script};
use pty::{Answers, Pty, Start};
use rustix::process::Signal;
use std::path::Path;
use std::time::Duration;

/// Text of the status line in the default permission mode.
const READY: &str = "Ask to Edit";
/// Text of an empty composer while nothing runs.
const NOTHING_RUNS: &str = "Message, or / for commands";
/// Text of an empty composer before the first message.
const NOTHING_SAID: &str = "Ask anything, or type / for commands";
/// Words on the screen of a home without a model.
const FIRST: &str = "Choose a model";
/// Every mode that is switched on, with what switches it off.
const MODES: &[(&str, &str)] = &[
    ("\x1b[22;0t", "\x1b[23;0t"),
    ("\x1b[?1049h", "\x1b[?1049l"),
    ("\x1b[?2004h", "\x1b[?2004l"),
    ("\x1b[?1004h", "\x1b[?1004l"),
    ("\x1b[?1000h", "\x1b[?1000l"),
    ("\x1b[?1002h", "\x1b[?1002l"),
    ("\x1b[?1006h", "\x1b[?1006l"),
    ("\x1b[6 q", "\x1b[0 q"),
    ("\x1b[>5u", "\x1b[<u"),
    ("\x1b[>4;1m", "\x1b[>4m"),
];

fn lisle(home: &Path) -> Start {
    Start::new(env!("CARGO_BIN_EXE_lisle"), home)
}

fn ready(start: Start) -> Pty {
    let pty = start.go();
    pty.until(READY);
    pty
}

/// A home with one session in it, in which `text` was said and answered.
fn used_home(text: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let mut pty = ready(lisle(home.path()));
    say(&pty, text);
    quit(&mut pty);
    home
}

/// Says it, and waits for the whole answer: keys mean something else while a turn runs.
fn say(pty: &Pty, text: &str) {
    pty.keys(&format!("{text}\r"));
    pty.until("not a language model");
    pty.until(NOTHING_RUNS);
}

/// Waits until nothing runs: Ctrl+C stops a turn first. To be called with an empty composer, after the turn has begun.
fn quit(pty: &mut Pty) {
    pty.wait_for("nothing runs", |seen| {
        [NOTHING_RUNS, NOTHING_SAID, FIRST].iter().any(|words| seen.text().contains(words))
    });
    pty.keys("\x03");
    pty.until("again to quit");
    pty.keys("\x03");
    pty.end();
}

#[track_caller]
fn assert_given_back(pty: &Pty) {
    pty.sent("\x1b[23;0t");
    assert!(pty.settings_are_restored(), "the line settings are as before");
    pty.look(|seen| {
        assert!(!seen.screen().alternate_screen() && !seen.screen().hide_cursor() && !seen.screen().bracketed_paste());
        let sent = String::from_utf8_lossy(&seen.raw).into_owned();
        for (on, off) in MODES {
            assert_eq!(sent.contains(on), sent.contains(off), "{on:?} and {off:?}");
            assert!(sent.rfind(on) <= sent.rfind(off), "{off:?} was the last word");
        }
        // Half a frame at the end would leave colours or a frozen screen behind.
        assert!(sent.rfind("\x1b[?2026h") < sent.rfind("\x1b[?2026l"), "no synchronized update is left open");
    });
}

#[test]
fn it_starts_on_the_demo_and_answers() {
    let home = tempfile::tempdir().unwrap();
    let pty = ready(lisle(home.path()));
    pty.until("demo");
    pty.wait_for("the real cursor stands in the composer", |seen| !seen.screen().hide_cursor());
    pty.keys("what can you do?");
    pty.until("what can you do?");
    pty.keys("\r");
    pty.until("not a language model");
}

#[test]
fn the_cursor_stands_after_wide_characters() {
    let home = tempfile::tempdir().unwrap();
    let pty = ready(lisle(home.path()));
    let (x, y) = pty.cursor();
    pty.keys("漢字é");
    pty.until("漢字é");
    pty.wait_for("the cursor is after the text", |seen| seen.screen().cursor_position() == (y, x + 5));
}

#[test]
fn shift_tab_goes_through_the_modes() {
    let home = tempfile::tempdir().unwrap();
    let pty = ready(lisle(home.path()));
    // The engine has made the session: its thinking level stands beside the model.
    pty.until("medium");
    pty.keys("\x1b[Z");
    pty.until("Execute");
    pty.keys("\x1b[9;2u");
    pty.until("Explore");
    pty.keys("\x1b[Z");
    pty.until("Ask to Edit");
}

#[test]
fn ctrl_c_twice_quits_and_says_how_to_resume() {
    let home = tempfile::tempdir().unwrap();
    let mut pty = ready(lisle(home.path()));
    say(&pty, "about zebras");
    quit(&mut pty);
    assert_eq!(pty.end().exit_code(), 0);
    assert_given_back(&pty);
    pty.sent("\x1b[>5u");
    pty.until("--session");
    let text = pty.text();
    let command = text.lines().rev().find_map(|line| line.split_once("lisle ")).expect(&text).1.to_owned();
    let again = ready(lisle(home.path()).args(command.split_whitespace()));
    again.until("not a language model");
    again.until("about zebras");
}

#[test]
fn an_old_terminal_is_given_back_too() {
    for answers in [Answers::Old, Answers::None] {
        let home = tempfile::tempdir().unwrap();
        let mut pty = ready(lisle(home.path()).answers(answers));
        if answers == Answers::Old {
            pty.sent("\x1b[>4;1m");
        }
        quit(&mut pty);
        assert!(!pty.look(|seen| seen.sent("\x1b[>5u")), "the kitty protocol was not offered");
        assert_given_back(&pty);
    }
}

#[test]
fn a_signal_to_end_gives_the_terminal_back() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let home = tempfile::tempdir().unwrap();
        let mut pty = ready(lisle(home.path()));
        pty.signal(signal);
        assert_eq!(pty.end().signal(), None, "it ended by itself");
        assert_given_back(&pty);
    }
}

#[test]
fn a_signal_in_the_middle_of_an_answer_gives_the_terminal_back() {
    let home = tempfile::tempdir().unwrap();
    let mut pty = ready(lisle(home.path()));
    pty.keys("stream 3000\r");
    let begun = pty.look(|seen| seen.raw.len());
    pty.wait_for("it streams", |seen| seen.raw.len() > begun + 4000);
    pty.signal(Signal::TERM);
    assert_eq!(pty.end().signal(), None, "it ended by itself");
    assert_given_back(&pty);
}

#[test]
fn what_was_said_survives_kill_9() {
    let home = tempfile::tempdir().unwrap();
    let mut pty = ready(lisle(home.path()));
    pty.keys("about zebras\r");
    pty.until("not a language model");
    pty.kill();
    let again = ready(lisle(home.path()));
    again.until("zebras");
}

#[test]
fn a_used_home_shows_its_sessions() {
    let home = used_home("about giraffes");
    let pty = ready(lisle(home.path()));
    pty.until("giraffes");
}

/// The draft is exactly this.
#[track_caller]
fn drafted(pty: &Pty, text: &str) {
    pty.wait_for(&format!("the draft is {text:?}"), |seen| {
        seen.text().lines().any(|line| line.split_once("› ").is_some_and(|(_, draft)| draft.trim_end() == text))
    });
}

#[test]
fn a_terminal_that_never_answers_has_all_keys() {
    let home = tempfile::tempdir().unwrap();
    let mut pty = ready(lisle(home.path()).answers(Answers::None));
    for key in ["q", "\x1b[D", "a", "\x1b[C", "한", "\x05", "z"] {
        pty.keys(key);
    }
    drafted(&pty, "aq한z");
    pty.keys("\x15");
    pty.until(FIRST);
    quit(&mut pty);
    assert_given_back(&pty);
}

#[test]
fn answers_after_two_seconds_change_the_keyboard_and_type_nothing() {
    let home = tempfile::tempdir().unwrap();
    let mut pty = ready(lisle(home.path()).answers(Answers::Late(Duration::from_secs(2))));
    pty.keys("qa");
    drafted(&pty, "qa");
    assert!(!pty.look(|seen| seen.sent("\x1b[>5u")), "nothing was waited for");
    pty.sent("\x1b[>5u");
    pty.keys("z");
    drafted(&pty, "qaz");
    pty.keys("\x1b[117;5u");
    pty.until(FIRST);
    quit(&mut pty);
    assert_given_back(&pty);
}

#[test]
fn answers_in_the_middle_of_typing_leak_nothing() {
    let home = tempfile::tempdir().unwrap();
    let pty = ready(lisle(home.path()).answers(Answers::None));
    // What a terminal says to what it was asked, key by key between it; each byte is a write of its own.
    let said = [
        ("q", "\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\"),
        ("한", "\x1b[?2026;2$y"),
        ("\x1b[D", "\x1bP>|xterm(390)\x1b\\"),
        ("a", "\x1b[?2031;0$y\x1b[?0u"),
        ("\x1b[C", "\x1b[?62;22c"),
        ("z", "\x1b]11;rgb:ff/ff/ff\x07"),
    ];
    for (key, answer) in said {
        pty.keys(key);
        for byte in answer.chars() {
            pty.keys(&byte.to_string());
        }
    }
    pty.keys("!");
    drafted(&pty, "qa한z!");
    pty.sent("\x1b[>5u");
}

#[test]
fn a_pasted_line_end_never_sends() {
    let home = tempfile::tempdir().unwrap();
    let pty = ready(lisle(home.path()));
    pty.keys("\x1b[200~first line\rsecond line\r\x1b[201~");
    pty.until("second line");
    // What comes after it in the same stream was handled when it shows; nothing was sent before it.
    pty.keys("third");
    pty.until("third");
    assert!(!pty.text().contains("not a language model"));
    pty.keys("\r");
    pty.until("not a language model");
}

#[test]
fn a_paste_whose_end_got_lost_does_not_kill_the_keyboard() {
    let home = tempfile::tempdir().unwrap();
    // A terminal that is asked nothing has no answer that could fall into the paste.
    let pty = ready(lisle(home.path()).answers(Answers::None));
    pty.keys("\x1b[200~no end");
    pty.until("no end");
    pty.keys(" here");
    pty.until("no end here");
}

#[test]
fn shift_enter_breaks_the_line_in_every_spelling() {
    let home = tempfile::tempdir().unwrap();
    let pty = ready(lisle(home.path()));
    for (line, end) in [("one", "\x1b[13;2u"), ("two", "\x1b[27;2;13~"), ("three", "\x1b\r"), ("four", "\n")] {
        pty.keys(line);
        pty.keys(end);
        pty.until(line);
    }
    pty.keys("five");
    pty.until("five");
    assert!(!pty.text().contains("not a language model"));
}

#[test]
fn every_size_is_survived_and_the_last_one_is_drawn() {
    let home = tempfile::tempdir().unwrap();
    let pty = ready(lisle(home.path()));
    for (width, height) in [(40, 10), (20, 5), (2, 2), (1, 1), (200, 50), (79, 24), (110, 24)] {
        pty.resize(width, height);
    }
    pty.resize(90, 20);
    pty.until(READY);
    pty.keys("still here");
    pty.until("still here");
}

#[test]
fn ctrl_l_repaints_everything() {
    let home = tempfile::tempdir().unwrap();
    let pty = ready(lisle(home.path()));
    pty.keys("draft");
    pty.until("draft");
    let before = pty.look(|seen| seen.raw.len());
    pty.keys("\x0c");
    pty.wait_for("the screen is cleared and drawn", |seen| {
        let new = String::from_utf8_lossy(&seen.raw[before..]).into_owned();
        new.contains("\x1b[2J") && new.contains("draft") && new.contains(READY)
    });
}

#[test]
fn ctrl_z_without_job_control_comes_back() {
    let home = tempfile::tempdir().unwrap();
    let pty = ready(lisle(home.path()));
    pty.keys("draft");
    pty.until("draft");
    pty.keys("\x1a");
    pty.sent("\x1b[?1049l");
    pty.wait_for("the screen is taken again", |seen| {
        String::from_utf8_lossy(&seen.raw).matches("\x1b[?1049h").count() == 2 && seen.text().contains("draft")
    });
    pty.keys(" more");
    pty.until("draft more");
}

#[test]
fn stopped_and_continued_by_others_it_sets_the_terminal_anew() {
    let home = tempfile::tempdir().unwrap();
    let pty = ready(lisle(home.path()));
    pty.keys("draft");
    pty.until("draft");
    pty.signal(Signal::STOP);
    pty.change_settings();
    pty.signal(Signal::CONT);
    pty.wait_for("the screen is taken again", |seen| {
        String::from_utf8_lossy(&seen.raw).matches("\x1b[?1049h").count() == 2 && seen.text().contains("draft")
    });
    // In the line mode of a shell the letters would not come before Enter.
    pty.keys(" more");
    pty.until("draft more");
}

#[test]
fn signs_that_would_take_two_cells_are_ascii() {
    let home = tempfile::tempdir().unwrap();
    let mut pty = ready(lisle(home.path()).answers(Answers::None));
    pty.until("│");
    pty.sent("\x1b[6n");
    pty.keys("\x1b[2;3R\x1b[?62c");
    pty.gone("│");
    pty.until("> Demo");
    quit(&mut pty);
    // The next time it is known from the first frame on.
    let pty = ready(lisle(home.path()).answers(Answers::None));
    assert!(!pty.look(|seen| seen.sent("│")), "{}", pty.text());
    pty.keys("\x1b[2;2R\x1b[?62c");
    pty.until("│");
}

#[test]
fn frames_are_held_together_only_where_the_terminal_can() {
    for (answers, can) in [(Answers::Modern, true), (Answers::Old, false), (Answers::None, false)] {
        let home = tempfile::tempdir().unwrap();
        let pty = ready(lisle(home.path()).answers(answers));
        say(&pty, "about zebras");
        pty.keys("\x0c");
        pty.until(NOTHING_RUNS);
        assert_eq!(pty.look(|seen| seen.sent("\x1b[?2026h")), can, "{answers:?}");
    }
}

/// Number of times that these bytes were sent.
fn times(pty: &Pty, bytes: &str) -> usize {
    pty.look(|seen| String::from_utf8_lossy(&seen.raw).matches(bytes).count())
}

#[test]
fn who_looks_elsewhere_is_called_once_and_who_looks_is_not() {
    let home = tempfile::tempdir().unwrap();
    let pty = ready(lisle(home.path()).env("TERM", "xterm-kitty"));
    say(&pty, "about zebras");
    assert_eq!(times(&pty, "\x1b]99;"), 0, "the terminal has the focus");
    pty.keys("about giraffes\r\x1b[O");
    pty.sent("is done\x1b\\\x07");
    pty.until(NOTHING_RUNS);
    pty.keys("\x1b[I");
    say(&pty, "about lions");
    pty.until("about lions");
    assert_eq!(times(&pty, "\x1b]99;"), 1);
}

#[test]
fn a_question_calls_by_what_was_chosen_and_changes_the_title() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(home.path().join("lisle/config")).unwrap();
    std::fs::write(home.path().join("lisle/config/config.toml"), "[ui]\nnotify = \"osc777\"\n").unwrap();
    let pty = ready(lisle(home.path()));
    let titles = times(&pty, "\x1b]2;");
    pty.keys("run touch a\r\x1b[O");
    pty.sent("\x1b]777;notify;lisle;");
    pty.sent("needs you · lisle\x1b\\");
    pty.until("Run this command?");
    assert_eq!(times(&pty, "\x1b]777;"), 1);
    assert_eq!(times(&pty, "\x1b]2;"), titles + 1, "the title is written when it changes");
}

#[test]
fn a_turn_that_waits_for_a_tool_writes_few_bytes() {
    let home = tempfile::tempdir().unwrap();
    let pty = lisle(home.path()).args(["--mode", "execute"]).go();
    pty.until("Execute");
    pty.keys("run sleep 10\r");
    let at = |second: &str| {
        pty.until(second);
        pty.look(|seen| seen.raw.len())
    };
    let (from, to) = (at(" 5s "), at(" 9s "));
    assert!(to - from < 400, "{} bytes in four seconds", to - from);
}

#[test]
fn the_editor_gets_the_terminal_and_its_text_comes_back() {
    let home = tempfile::tempdir().unwrap();
    let editor = "f() { printf editing; read key; printf 'said %s' \"$key\" >> \"$1\"; }; f";
    let pty = ready(lisle(home.path()).env("EDITOR", editor));
    pty.keys("draft ");
    pty.until("draft");
    pty.keys("\x07");
    pty.sent("\x1b[?1049l");
    // What was typed for lisle is thrown away before the editor starts.
    pty.until("editing");
    // This line is the editor's: lisle must not read it.
    pty.keys("hello\r");
    pty.until("draft said hello");
    pty.keys(" end");
    pty.until("draft said hello end");
}

#[test]
fn without_a_terminal_it_says_so() {
    let home = tempfile::tempdir().unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_lisle"))
        .env_clear()
        .env("LISLE_HOME", home.path())
        .env("TERM", "xterm")
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("terminal"), "{said}");
    assert!(output.stdout.is_empty(), "nothing is drawn into a pipe");
}

#[test]
fn the_doctor_shows_keys_and_gives_the_terminal_back() {
    let home = tempfile::tempdir().unwrap();
    let mut pty = lisle(home.path()).args(["doctor", "keys"]).go();
    pty.until("Ctrl+C twice");
    pty.keys("\x1b[A");
    pty.until("list.up");
    pty.keys("q");
    pty.until("types   q");
    pty.keys("q");
    pty.end();
}

#[test]
fn a_log_that_cannot_be_written_leaves_the_screen_alone() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("lisle/state/log");
    std::fs::create_dir_all(&log).unwrap();
    std::os::unix::fs::symlink("/dev/full", log.join("lisle.log")).unwrap();
    // A server that does not tell its models is a line of the log.
    let server = ModelServer::for_program([Script::says("The Danube.")]);
    let config = home.path().join("lisle/config");
    std::fs::create_dir_all(&config).unwrap();
    let text = format!(
        "default_connection = \"local\"\n[connections.local]\nprovider = \"openai-compatible\"\nbase_url = \"{}\"\ndefault_model = \"m\"\n",
        server.base_url()
    );
    std::fs::write(config.join("config.toml"), text).unwrap();
    let mut pty = ready(lisle(home.path()));
    pty.keys("which river is long?\r");
    pty.until("The Danube.");
    pty.until("Can't write the log");
    assert!(!pty.text().contains("tracing"), "{}", pty.text());
    quit(&mut pty);
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_library_writes_goes_to_the_log_and_not_over_the_screen() {
    let home = tempfile::tempdir().unwrap();
    let library = home.path().join("stray.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/terminal/stray.c");
    let mut cc = std::process::Command::new("cc");
    let built = cc.args(["-shared", "-fPIC", "-pthread", "-o"]).arg(&library).arg(source).status().unwrap();
    assert!(built.success());
    let told = home.path().join("told");
    let start = lisle(home.path()).env("STRAY", told.to_str().unwrap()).env("LD_PRELOAD", library.to_str().unwrap());
    let mut pty = ready(start);
    std::fs::write(&told, "").unwrap();
    say(&pty, "list");
    let log = home.path().join("lisle/state/log/lisle.log");
    pty.wait_for("both words are in the log", |_| {
        std::fs::read_to_string(&log).is_ok_and(|log| log.matches("a stray word").count() == 2)
    });
    assert!(!pty.look(|seen| pty::find(&seen.raw, b"a stray word").is_some()), "{}", pty.text());
    quit(&mut pty);
    assert_given_back(&pty);
}
