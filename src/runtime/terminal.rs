//! The terminal's manners: which modes are on while lisle has the screen, what it is asked, and how all of it is undone.
//!
//! Everything that is switched on is remembered with what switches it off, and goes off in the opposite order, whatever the
//! way out is: quitting, a signal, Ctrl+Z, an editor, an error, a panic. What the terminal answers is never waited for; the
//! last answers are kept in `state/terminal.json` by [`super::terminal_cache`]. Sequences: xterm's ctlseqs, the kitty keyboard
//! protocol, DECRQM for synchronized output (2026) and reports of light and dark (2031).
//!
//! # What is known of terminals, and minded
//!
//! | Who | What | Where |
//! | --- | --- | --- |
//! | terminals that never answer, or late | nothing waits for an answer; the reader takes one that comes late, also torn | `input::reader` |
//! | no synchronized output (tmux up to 3.3, xterm, Apple's) | frames are not wrapped, rows are not moved | `frames` |
//! | no clusters (flags take more cells) | what stands behind is written again; at the edge only the first sign | `encode` |
//! | families of more than two cells (tmux 3.3, foot) | measured at the start; then the first sign stands for all | here, `encode` |
//! | signs of ambiguous width over two cells | asked for at the start; then the signs are ASCII | here, `renderer` |
//! | TERM=linux, vt…, other locales than UTF-8 | not asked anything (it would print that); ASCII signs | here, `renderer` |
//! | TERM=dumb | linear mode | `linear` |
//! | kitty, Ghostty, foot, WezTerm, Alacritty, iTerm2 | the kitty keyboard, popped on every way out | here |
//! | xterm and tmux with `extended-keys` | modifyOtherKeys level 1 | here |
//! | rxvt, keypads in application mode, the Linux console, layouts without Latin letters | their spellings of keys | `input::spelling` |
//! | lines that tear sequences, ESC from Alt | ESC alone counts after 30 ms, an introducer after 100 ms | `input::reader` |
//! | pastes that lose their end, or stall | given up after a second; the rest is still a paste | `input::reader` |
//! | VTE, Apple's Terminal, the Linux console | no OSC 52: they are not asked, and that is said | `clipboard` |
//! | tmux | its buffer by `load-buffer -w`; calls only by the bell, unless chosen in the settings | `clipboard`, `notify` |
//! | GNU screen | OSC 52 in pieces of a string that it hands on; calls as in tmux | `clipboard`, `notify` |
//! | Zellij, Windows Terminal, ConEmu | calls by the bell: their OSC 9 is something else | `notify` |
//! | mosh, 16 and 256 colours | COLORTERM is what counts; with 16 the theme `ansi`, or `ansi-light` | `renderer` |
//! | slow lines | a write that was held up over 100 ms, or an answer so late: fewer frames, larger steps | `frames` |
//! | lines behind large buffers (sshd, proxies) | the next frame waits until the terminal answered for the last | `frames::flow` |
//! | GNU screen | no italics, which it shows in reverse | `renderer` |
//! | mosh, GNU screen with `altscreen off` | the screen is erased before it is left | here |
//! | st, zutty, qterminal | no stack of titles: an empty one is set | here |
//! | xterm | Alt sends ESC (mode 1036), as long as lisle runs | here |
//! | Konsole | `ESC O M` is Shift+Enter; the keypad is switched to digits, so that its Enter is none | here, `input::spelling` |
//! | urxvt, qterminal | no answer to OSC 11: `COLORFGBG` counts | `screen` |
//! | kitty before 0.28 | its pictures are not used: it has no placeholders | `graphics::way` |
//! | terminals that are gone | nothing is written any more; turns are saved and ended | `screen` |

use super::frames::flow;
use super::graphics::kitty;
use super::graphics::way::TerminalProgram;
use super::input::answer::{Rgb, TerminalAnswer};
use super::strays::Strays;
use super::tty::{Tty, TtyError, Typed};
use rustix::termios::Termios;
use std::io;
use std::panic;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError, TryLockError};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// A terminal that takes nothing is not waited for longer when it is given back.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// A mode with what ends it.
type Mode = (&'static str, &'static str);

/// Terminals without a stack of titles get an empty one.
const TITLE: Mode = ("\x1b[22;0t", "\x1b]2;\x1b\\\x1b[23;0t");
/// Erased before it goes: where there is no other screen (mosh, GNU screen with `altscreen off`), the shell goes on in it.
const ALTERNATE: Mode = ("\x1b[?1049h", "\x1b[2J\x1b[H\x1b[?1049l");
const PASTE: Mode = ("\x1b[?2004h", "\x1b[?2004l");
const FOCUS: Mode = ("\x1b[?1004h", "\x1b[?1004l");
/// Presses, the wheel, and motion while a button is down, with coordinates that have no limit (SGR). Nothing here follows
/// the pointer otherwise.
const MOUSE: Mode = ("\x1b[?1000h\x1b[?1002h\x1b[?1006h", "\x1b[?1006l\x1b[?1002l\x1b[?1000l");
/// A steady bar, and back to the terminal's own cursor.
const CURSOR: Mode = ("\x1b[6 q", "\x1b[0 q");
/// Escape and modified keys become unambiguous (1), and they come with what Shift makes of them and with the key of the
/// usual layout (4): Ctrl+C is Ctrl+C on a Cyrillic keyboard too. Releases and the rest of the protocol are not asked for.
const KITTY: Mode = ("\x1b[>5u", "\x1b[<u");
/// Shift+Enter and its like, for terminals of xterm's family.
const OTHER_KEYS: Mode = ("\x1b[>4;1m", "\x1b[>4m");
/// Alt with a letter is ESC and the letter in xterm, not a letter of Latin-1.
const ALT_SENDS_ESCAPE: Mode = ("\x1b[?1036s\x1b[?1036h", "\x1b[?1036r");
/// Digits and Enter of the keypad come as such. Programs that want it otherwise say so themselves.
const NUMERIC_KEYPAD: &str = "\x1b>";
const DARK_OR_LIGHT: Mode = ("\x1b[?2031h", "\x1b[?2031l");

const ASK_KEYBOARD: &str = "\x1b[?u";
const ASK_SYNCHRONIZED: &str = "\x1b[?2026$p";
const ASK_DARK_OR_LIGHT: &str = "\x1b[?2031$p";
const ASK_BACKGROUND: &str = "\x1b]11;?\x1b\\";
/// Query for the terminal's name (XTVERSION).
const ASK_NAME: &str = "\x1b[>q";
/// Query for the size of a cell in pixels.
pub(super) const ASK_CELL: &str = "\x1b[16t";
/// A sign of ambiguous width, and where the cursor stands then. In the second row: see [`TerminalAnswer::Ambiguous`].
const ASK_WIDTH: &str = "\x1b[2;1H\u{25cf}\x1b[6n\r\x1b[K";
/// A family of three, and where the cursor stands then: see [`Answer::Family`].
const ASK_FAMILY: &str = "\x1b[3;1H👨\u{200d}👩\u{200d}👧\x1b[6n\r\x1b[K";
/// Every terminal answers this, so what was asked before it and has no answer then is not known to the terminal.
const ASK_ATTRIBUTES: &str = "\x1b[c";

/// A picture that was sent halfway ends.
const END_PICTURE: &str = "\x1b_Gm=0,q=2;\x1b\\";

/// A string that was cut off in the middle ends; then whatever was on is reset.
const BEFORE_UNDOING: &str = "\x1b\\\x1b[?2026l\x1b[m\x1b[?25h";

/// Requested modes of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wishes {
    /// Mouse presses and the wheel come to lisle.
    pub mouse: Mouse,
    /// The terminal understands queries. The Linux console prints parts of them.
    pub queries: Queries,
    /// Screen to use.
    pub screen: Screen,
}

/// Screen to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Screen {
    /// An empty one of our own, the alternate one.
    Ours,
    /// The shell's: lines are added to it and stay.
    Theirs,
}

/// Receiver of mouse events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mouse {
    /// lisle.
    Ours,
    /// The terminal, for its own selection.
    Theirs,
}

/// Queries about the terminal's abilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queries {
    /// It is.
    Ask,
    /// It is, and for its name, too.
    AskName,
    /// It is, and for its name and what pictures it draws, too.
    AskPictures,
    /// It is not.
    Omit,
}

impl Queries {
    /// Choice for a terminal of this `TERM`.
    #[must_use]
    pub fn for_term(term: &str) -> Self {
        if term == "linux" || term.starts_with("vt") { Self::Omit } else { Self::Ask }
    }
}

/// Consequence of a terminal's answer for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learnt {
    /// Its background colour.
    Background(Rgb),
    /// It has synchronized output, or has not.
    Synchronized(bool),
    /// It takes kitty's graphics.
    Graphics,
    /// It takes sixels.
    Sixel,
    /// Program name and version.
    Program(TerminalProgram),
    /// Width and height of a cell in pixels.
    Cell(u16, u16),
    /// It draws signs of ambiguous width over two cells, or over one.
    WideSigns(bool),
    /// It draws joined signs as one, or one by one.
    JoinedSigns(bool),
    /// All answers have come.
    All,
}

#[derive(Debug)]
struct HeldTerminal {
    tty: Tty,
    /// The line settings as they were found.
    found: Option<Termios>,
    /// Sequences that undo the modes, in the order in which they went on.
    undo: Vec<&'static str>,
    /// Lisle has the screen.
    ours: bool,
    /// Queries are on their way, and their answers would become the shell's input.
    asked: bool,
    kitty: bool,
    /// Numbers of the pictures that the terminal keeps for us.
    pictures: Vec<u32>,
    /// Redirection of other output while the screen is up.
    strays: Option<Strays>,
}

/// The terminal while lisle has it. Dropping it gives the terminal back.
#[derive(Debug)]
pub struct Guard {
    held: Arc<Mutex<HeldTerminal>>,
    wishes: Wishes,
}

/// The terminal that a panic gives back, and the thread whose panics end the program.
static LIVE: Mutex<Option<(ThreadId, Arc<Mutex<HeldTerminal>>)>> = Mutex::new(None);
static HOOK: Once = Once::new();

impl Guard {
    /// Takes the terminal: raw mode, the alternate screen and all that belongs to it. A panic of this thread gives it back
    /// from now on; panics of other threads go to the log, because the screen is not theirs.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub fn take(tty: Tty, wishes: Wishes) -> Result<Self, TtyError> {
        let held = HeldTerminal {
            tty,
            found: None,
            undo: Vec::new(),
            ours: false,
            asked: false,
            kitty: false,
            pictures: Vec::new(),
            strays: None,
        };
        let guard = Self { held: Arc::new(Mutex::new(held)), wishes };
        guard.enter()?;
        *LIVE.lock().unwrap_or_else(PoisonError::into_inner) = Some((thread::current().id(), Arc::clone(&guard.held)));
        HOOK.call_once(|| {
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                if give_back_if_ours() {
                    before(info);
                } else {
                    tracing::error!("{info}");
                }
            }));
        });
        Ok(guard)
    }

    /// Takes the screen again after [`Guard::leave`]. Does nothing in the background: trying would stop the process.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub fn enter(&self) -> Result<(), TtyError> {
        let mut held = self.lock();
        if held.ours || !held.tty.in_foreground() {
            return Ok(());
        }
        let found = held.tty.settings().map_err(TtyError::Refused)?;
        let mut raw = found.clone();
        raw.make_raw();
        held.tty.set(&raw, Typed::Keep).map_err(TtyError::Refused)?;
        // From here on there is something to undo.
        (held.found, held.ours, held.kitty) = (Some(found), true, false);
        let mut bytes = String::new();
        let ours = self.wishes.screen == Screen::Ours;
        if ours && held.tty.is_of_process() {
            let caught = Strays::catch().inspect_err(|error| tracing::warn!(%error, "others may write on the screen"));
            held.strays = caught.ok();
        }
        let mut modes = if ours { vec![TITLE, ALTERNATE] } else { Vec::new() };
        modes.extend([PASTE, FOCUS]);
        if ours {
            modes.push(CURSOR);
        }
        if self.wishes.mouse == Mouse::Ours {
            modes.push(MOUSE);
        }
        for (on, off) in modes {
            bytes.push_str(on);
            held.undo.push(off);
        }
        if ours {
            bytes.extend(["\x1b[?25l\x1b[2J", NUMERIC_KEYPAD]);
        }
        if self.wishes.queries != Queries::Omit {
            bytes.extend([ASK_KEYBOARD, ASK_SYNCHRONIZED, ASK_DARK_OR_LIGHT, ASK_BACKGROUND]);
            if matches!(self.wishes.queries, Queries::AskName | Queries::AskPictures) {
                bytes.push_str(ASK_NAME);
            }
            if self.wishes.queries == Queries::AskPictures {
                bytes.extend([ASK_CELL, kitty::ASK]);
            }
            if ours && held.tty.size().1 > 2 {
                bytes.extend([ASK_WIDTH, ASK_FAMILY]);
            }
            if ours {
                bytes.push_str(flow::ASK);
            }
            bytes.push_str(ASK_ATTRIBUTES);
            held.asked = true;
        }
        let opened = held.tty.output.open(bytes.as_bytes());
        if let Err(error) = opened {
            held.give_back();
            return Err(TtyError::Refused(error));
        }
        Ok(())
    }

    /// Gives the terminal back as it was found. Nothing that others write to it passes until [`Guard::enter`].
    pub fn leave(&self) {
        self.lock().give_back();
    }

    /// Answers are on their way, and whoever reads next should not take them for keys.
    pub fn owes_answers(&self) {
        self.lock().asked = true;
    }

    /// The terminal keeps the pictures of these numbers for us, and no others. They go when it is given back.
    pub fn keeps(&self, pictures: Vec<u32>) {
        self.lock().pictures = pictures;
    }

    /// The mouse is lisle's from now on, or the terminal's. The bytes are to be written to it.
    pub fn mouse(&mut self, ours: bool) -> String {
        self.wishes.mouse = if ours { Mouse::Ours } else { Mouse::Theirs };
        let (on, off) = MOUSE;
        let mut held = self.lock();
        let is_on = held.undo.contains(&off);
        if !held.ours || is_on == ours {
            return String::new();
        }
        if ours {
            held.undo.push(off);
        } else {
            held.undo.retain(|undo| *undo != off);
        }
        (if ours { on } else { off }).to_owned()
    }

    /// True while lisle has the screen.
    #[must_use]
    pub fn has_screen(&self) -> bool {
        self.lock().ours
    }

    /// Takes an answer of the terminal. The bytes are to be written to it.
    pub fn answered(&self, answer: TerminalAnswer) -> (Option<Learnt>, String) {
        let mut held = self.lock();
        let mut bytes = String::new();
        if !held.ours {
            return (None, bytes);
        }
        let mut switch = |held: &mut HeldTerminal, (on, off): Mode| {
            if !held.undo.contains(&off) {
                bytes.push_str(on);
                held.undo.push(off);
            }
        };
        let learnt = match answer {
            TerminalAnswer::KittyKeyboard => {
                held.kitty = true;
                switch(&mut held, KITTY);
                None
            }
            TerminalAnswer::Attributes => {
                if held.asked && !held.kitty {
                    switch(&mut held, OTHER_KEYS);
                }
                held.asked = false;
                Some(Learnt::All)
            }
            TerminalAnswer::Mode { number: 2026, usable } => Some(Learnt::Synchronized(usable)),
            TerminalAnswer::Mode { number: 2031, usable: true } => {
                switch(&mut held, DARK_OR_LIGHT);
                None
            }
            TerminalAnswer::Mode { .. } => None,
            TerminalAnswer::Graphics => Some(Learnt::Graphics),
            TerminalAnswer::Sixel => Some(Learnt::Sixel),
            TerminalAnswer::Program(program) => {
                if program == TerminalProgram::Xterm {
                    switch(&mut held, ALT_SENDS_ESCAPE);
                }
                Some(Learnt::Program(program))
            }
            TerminalAnswer::Cell { width, height } => Some(Learnt::Cell(width, height)),
            TerminalAnswer::Background(rgb) => Some(Learnt::Background(rgb)),
            TerminalAnswer::Ambiguous { wide } => Some(Learnt::WideSigns(wide)),
            TerminalAnswer::Family { joined } => Some(Learnt::JoinedSigns(joined)),
            // The writer's, see `frames::flow`.
            TerminalAnswer::Status => None,
            TerminalAnswer::ColoursChanged => {
                bytes.push_str(ASK_BACKGROUND);
                None
            }
        };
        (learnt, bytes)
    }

    fn lock(&self) -> MutexGuard<'_, HeldTerminal> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.leave();
        let mut live = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
        if live.as_ref().is_some_and(|(_, held)| Arc::ptr_eq(held, &self.held)) {
            *live = None;
        }
    }
}

impl HeldTerminal {
    fn give_back(&mut self) {
        if !std::mem::take(&mut self.ours) {
            return;
        }
        self.strays = None;
        let mut bytes = String::from(BEFORE_UNDOING);
        let pictures = std::mem::take(&mut self.pictures);
        if !pictures.is_empty() {
            bytes.push_str(END_PICTURE);
            bytes.extend(pictures.into_iter().map(kitty::delete));
        }
        bytes.extend(self.undo.drain(..).rev());
        let asked = std::mem::take(&mut self.asked);
        // In the background the screen belongs to somebody else, and touching its settings would stop us.
        if !self.tty.in_foreground() {
            let _ = self.tty.output.shut(b"", Duration::ZERO);
            return;
        }
        // A terminal that is gone or takes nothing is nobody's to restore; there is no one to tell either.
        let written: io::Result<()> = self.tty.output.shut(bytes.as_bytes(), LAST_WORDS);
        if let Some(found) = self.found.take() {
            let _ = self.tty.set(&found, if asked || written.is_err() { Typed::Flush } else { Typed::Keep });
        }
    }
}

/// Bytes that undo everything that lisle may have switched on, for a terminal that a killed one left behind.
#[must_use]
pub fn reset() -> String {
    let modes = [KITTY, OTHER_KEYS, DARK_OR_LIGHT, ALT_SENDS_ESCAPE, MOUSE, CURSOR, FOCUS, PASTE, ALTERNATE, TITLE];
    let mut bytes = String::from(BEFORE_UNDOING);
    bytes.extend(modes.map(|(_, off)| off));
    bytes
}

/// Gives the terminal back when the thread that panics is the one that holds it. Whether the panic may be printed.
fn give_back_if_ours() -> bool {
    let live = match LIVE.try_lock() {
        Ok(live) => live,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return true,
    };
    let Some((owner, held)) = live.as_ref() else { return true };
    if *owner != thread::current().id() {
        return false;
    }
    match held.try_lock() {
        Ok(mut held) => held.give_back(),
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner().give_back(),
        Err(TryLockError::WouldBlock) => {}
    }
    true
}

#[cfg(test)]
mod tests;
