//! On a pseudo-terminal: what is switched on goes off again, whichever way the program ends.

use super::*;
use portable_pty::{MasterPty, PtySize, native_pty_system};
use rustix::fs::{Mode as FileMode, OFlags};
use rustix::termios::{InputModes, LocalModes, OutputModes, tcgetattr};
use std::io::Read as _;
use std::sync::mpsc;

/// A pseudo-terminal: what is written to it can be read, and its settings can be looked at.
struct Pty {
    tty: Tty,
    /// Held open: a terminal whose other end is closed is gone.
    _master: Box<dyn MasterPty + Send>,
    sent: mpsc::Receiver<Vec<u8>>,
    seen: String,
}

fn pty() -> Pty {
    let pair = native_pty_system().openpty(PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 }).unwrap();
    let open = || {
        let path = pair.master.tty_name().unwrap();
        rustix::fs::open(path, OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC, FileMode::empty())
            .unwrap()
    };
    let tty = Tty::on(open(), open());
    let mut reader = pair.master.try_clone_reader().unwrap();
    let (tx, sent) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(n @ 1..) = reader.read(&mut bytes) {
            if tx.send(bytes[..n].to_vec()).is_err() {
                return;
            }
        }
    });
    Pty { tty, _master: pair.master, sent, seen: String::new() }
}

impl Pty {
    /// Everything written until `end` was.
    fn until(&mut self, end: &str) -> &str {
        while !self.seen.contains(end) {
            let bytes = self.sent.recv_timeout(Duration::from_secs(20)).expect(end);
            self.seen.push_str(std::str::from_utf8(&bytes).unwrap());
        }
        &self.seen
    }

    fn is_raw(&self) -> bool {
        !tcgetattr(&*self.tty.input).unwrap().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }
}

const ALL: Wishes = Wishes { mouse: Mouse::Ours, queries: Queries::Ask, screen: Screen::Ours };

/// The panic hook and the live terminal are one for the whole process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Every mode that was set was reset, in the opposite order.
fn assert_undone(sent: &str) {
    let (before, after) = sent.split_once(BEFORE_UNDOING).expect("it was given back");
    let mut last = 0;
    for (on, off) in [KITTY, OTHER_KEYS, DARK_OR_LIGHT, MOUSE, CURSOR, FOCUS, PASTE, ALTERNATE, TITLE] {
        assert_eq!(before.contains(on), after.contains(off), "{on:?} and {off:?}");
        if let Some(at) = after.find(off)
            && on != OTHER_KEYS.0
            && on != KITTY.0
            && on != DARK_OR_LIGHT.0
        {
            assert!(at >= last, "{off:?} came too early in {after:?}");
            last = at;
        }
    }
}

#[test]
fn the_terminal_comes_back_as_it_was() {
    let _alone = alone();
    let mut pty = pty();
    assert!(!pty.is_raw());
    let guard = Guard::take(pty.tty.clone(), ALL).unwrap();
    assert!(pty.is_raw() && guard.has_screen());
    let sent = pty.until(ASK_ATTRIBUTES).to_owned();
    for asked in [ASK_KEYBOARD, ASK_SYNCHRONIZED, ASK_DARK_OR_LIGHT, ASK_BACKGROUND, MOUSE.0, PASTE.0, FOCUS.0] {
        assert!(sent.contains(asked), "{asked:?}");
    }
    for not_offered in [KITTY.0, OTHER_KEYS.0] {
        assert!(!sent.contains(not_offered), "{not_offered:?}");
    }
    drop(guard);
    assert!(!pty.is_raw());
    assert_undone(pty.until(TITLE.1));
}

#[test]
fn what_answers_switched_on_goes_off_too() {
    for (answers, on) in [
        (
            vec![
                TerminalAnswer::KittyKeyboard,
                TerminalAnswer::Mode { number: 2031, usable: true },
                TerminalAnswer::Attributes,
            ],
            KITTY,
        ),
        (vec![TerminalAnswer::Attributes], OTHER_KEYS),
    ] {
        let _alone = alone();
        let mut pty = pty();
        let guard = Guard::take(pty.tty.clone(), ALL).unwrap();
        let mut switched = String::new();
        for answer in answers {
            // Answered twice, as after coming back from an editor: switched on once.
            switched.push_str(&guard.answered(answer).1);
            switched.push_str(&guard.answered(answer).1);
        }
        assert_eq!(switched.matches(on.0).count(), 1, "{switched:?}");
        pty.tty.output.write(switched.as_bytes());
        guard.leave();
        assert_undone(pty.until(TITLE.1));
    }
}

#[test]
fn answers_are_passed_on() {
    let _alone = alone();
    let pty = pty();
    let guard = Guard::take(pty.tty.clone(), ALL).unwrap();
    let learnt = |answer| guard.answered(answer).0;
    assert_eq!(learnt(TerminalAnswer::Background(Rgb(1, 2, 3))), Some(Learnt::Background(Rgb(1, 2, 3))));
    assert_eq!(learnt(TerminalAnswer::Mode { number: 2026, usable: true }), Some(Learnt::Synchronized(true)));
    assert_eq!(learnt(TerminalAnswer::Attributes), Some(Learnt::All));
    assert_eq!(guard.answered(TerminalAnswer::ColoursChanged).1, ASK_BACKGROUND);
    guard.leave();
    assert_eq!(guard.answered(TerminalAnswer::KittyKeyboard), (None, String::new()), "it is not ours any more");
}

#[test]
fn leaving_and_coming_back_is_like_the_first_time() {
    let _alone = alone();
    let mut pty = pty();
    let guard = Guard::take(pty.tty.clone(), ALL).unwrap();
    guard.leave();
    guard.leave();
    assert!(!pty.is_raw());
    assert_eq!(pty.tty.output.write(b"late"), super::super::tty::Wrote::Shut);
    pty.until(TITLE.1);
    pty.seen.clear();
    guard.enter().unwrap();
    assert!(pty.is_raw());
    pty.until(ASK_ATTRIBUTES);
    drop(guard);
    assert!(!pty.is_raw());
    let sent = pty.until(TITLE.1);
    assert_undone(sent);
    assert_eq!(sent.matches(ALTERNATE.1).count(), 1);
}

#[test]
fn a_panic_gives_the_terminal_back_before_it_is_printed() {
    let _alone = alone();
    let mut pty = pty();
    let tty = pty.tty.clone();
    let owner = thread::spawn(move || {
        let guard = Guard::take(tty, ALL).unwrap();
        // A panic of another thread, such as an engine task's, is not the end and leaves the screen alone.
        assert!(thread::spawn(|| panic!("of a task")).join().is_err());
        assert!(guard.has_screen());
        // The hook runs before the stack is unwound: the guard is forgotten so that only the hook can give back.
        let guard = std::mem::ManuallyDrop::new(guard);
        panic!("of the loop, with {}", guard.has_screen());
    });
    assert!(owner.join().is_err());
    assert!(!pty.is_raw());
    assert_undone(pty.until(TITLE.1));
    *LIVE.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

#[test]
fn the_linux_console_is_asked_nothing_and_may_keep_its_mouse() {
    let _alone = alone();
    assert_eq!(Queries::for_term("linux"), Queries::Omit);
    assert_eq!(Queries::for_term("xterm-256color"), Queries::Ask);
    let mut pty = pty();
    drop(
        Guard::take(pty.tty.clone(), Wishes { mouse: Mouse::Theirs, queries: Queries::Omit, screen: Screen::Ours })
            .unwrap(),
    );
    let sent = pty.until(TITLE.1);
    for never in [ASK_ATTRIBUTES, ASK_BACKGROUND, "?1000h"] {
        assert!(!sent.contains(never), "{never:?}");
    }
}

#[test]
fn pictures_go_when_the_terminal_is_given_back() {
    let _alone = alone();
    let mut pty = pty();
    let guard = Guard::take(pty.tty.clone(), Wishes { queries: Queries::AskPictures, ..ALL }).unwrap();
    let sent = pty.until(ASK_ATTRIBUTES).to_owned();
    for asked in [ASK_NAME, ASK_CELL, kitty::ASK] {
        assert!(sent.contains(asked), "{asked:?}");
    }
    guard.keeps(vec![7, 8]);
    guard.keeps(vec![8, 9]);
    guard.leave();
    let sent = pty.until(TITLE.1).to_owned();
    assert_undone(&sent);
    for (number, kept) in [(7, false), (8, true), (9, true)] {
        assert_eq!(sent.contains(&kitty::delete(number)), kept, "{number}");
    }
    assert!(sent.find(&kitty::delete(8)) < sent.find(ALTERNATE.1), "while the screen is still ours");
    // Not again: the terminal has none any more.
    pty.seen.clear();
    guard.enter().unwrap();
    guard.leave();
    assert!(!pty.until(TITLE.1).contains("\x1b_Ga=d"));
}

#[test]
fn who_is_not_asked_for_pictures_is_asked_nothing_of_them() {
    let _alone = alone();
    let mut pty = pty();
    let guard = Guard::take(pty.tty.clone(), ALL).unwrap();
    let sent = pty.until(ASK_ATTRIBUTES).to_owned();
    assert!(!sent.contains("\x1b_G") && !sent.contains(ASK_NAME), "{sent:?}");
    drop(guard);
    assert!(!pty.until(TITLE.1).contains("\x1b_G"));
}

#[test]
fn xterm_tells_its_name_without_pictures_and_sends_escape_for_alt_until_it_is_given_back() {
    let _alone = alone();
    let mut pty = pty();
    let guard = Guard::take(pty.tty.clone(), Wishes { queries: Queries::AskName, ..ALL }).unwrap();
    let sent = pty.until(ASK_ATTRIBUTES).to_owned();
    assert!(sent.contains(ASK_NAME) && !sent.contains("\x1b_G") && !sent.contains(ASK_CELL), "{sent:?}");
    let name = |says: &str| TerminalAnswer::Program(TerminalProgram::named(says));
    assert_eq!(guard.answered(name("foot(1.13.1)")).1, "", "only xterm needs it");
    let switched = guard.answered(name("XTerm(379)")).1;
    assert_eq!(switched, ALT_SENDS_ESCAPE.0);
    pty.tty.output.write(switched.as_bytes());
    drop(guard);
    assert!(pty.until(TITLE.1).contains(ALT_SENDS_ESCAPE.1));
}

#[test]
fn a_terminal_that_a_killed_one_left_raw_has_its_lines_back() {
    let mut pty = pty();
    let mut raw = pty.tty.settings().unwrap();
    raw.make_raw();
    pty.tty.set(&raw, Typed::Keep).unwrap();
    assert!(pty.is_raw());
    crate::runtime::tty::make_lines(&*pty.tty.input).unwrap();
    let settings = pty.tty.settings().unwrap();
    assert!(!pty.is_raw() && settings.output_modes.contains(OutputModes::OPOST | OutputModes::ONLCR));
    assert!(settings.input_modes.contains(InputModes::ICRNL));
    pty.tty.output.open(reset().as_bytes()).unwrap();
    let sent = pty.until(TITLE.1);
    for (_, off) in [KITTY, OTHER_KEYS, MOUSE, CURSOR, FOCUS, PASTE, ALTERNATE] {
        assert!(sent.contains(off), "{off:?}");
    }
}
