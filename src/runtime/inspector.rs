//! `lisle doctor keys`: what the terminal sends for a key, what lisle takes it for, and what it would do in each place.
//!
//! The terminal is taken as the app takes it (raw, with the same keyboard protocol), only without the alternate screen:
//! lines are printed below each other and stay. It is given back whatever the way out is, a signal and a panic too.
//! [`Inspector`] is the pure part.

use super::client::exit::RunError;
use super::environment::env;
use super::input::answer::TerminalAnswer;
use super::input::reader::InputReader;
use super::input::{Input, translate};
use super::signals::{Signal, Signals};
use super::terminal::{Guard, Mouse, Queries, Screen, Wishes};
use super::tty::{Tty, TtyError, Wrote};
use crate::domain::sanitise::clean_line;
use crate::keymap::action::Context;
use crate::keymap::key::{Code, Key, Mods, chord_name};
use crate::keymap::{Fed, Table};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::fmt::Write as _;
use std::io;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Pressed keys, and their effects.
#[derive(Debug)]
pub struct Inspector {
    keys: Table,
    pending: Vec<Key>,
    last: Option<Key>,
}

/// Continuation after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It goes on.
    On,
    /// The user wants out.
    Quit,
}

impl Inspector {
    /// Inspector for this table.
    #[must_use]
    pub fn new(keys: Table) -> Self {
        Self { keys, pending: Vec::new(), last: None }
    }

    /// Introduction.
    #[must_use]
    pub fn greeting() -> Vec<String> {
        vec![
            "Press keys to see what the terminal sends and how lisle handles it.".to_owned(),
            "Ctrl+C twice or q twice to quit.".to_owned(),
            String::new(),
        ]
    }

    /// The lines for these bytes, which were taken for this.
    pub fn take(&mut self, bytes: &[u8], input: &Input) -> (Vec<String>, Then) {
        let mut lines = vec![format!("bytes   {}   {}", hex(bytes), named(bytes))];
        let mut then = Then::On;
        match input {
            Input::Key(event) => match translate::key(event) {
                Some(key) => {
                    let twice = self.last.replace(key) == Some(key);
                    let ends = [Key::char('q'), Key::new(Code::Char('c'), Mods::CTRL)].contains(&key);
                    if twice && ends {
                        then = Then::Quit;
                    }
                    self.key(key, &mut lines);
                }
                None => {
                    let code = clean_line(&format!("{:?}", event.code)).into_owned();
                    lines.push(format!("key     {code}: unknown, ignored"));
                }
            },
            Input::Typed(events) => {
                events.iter().filter_map(translate::key).for_each(|key| self.key(key, &mut lines));
            }
            Input::Mouse(event) => {
                let what = clean_line(&format!("{:?}", event.kind)).into_owned();
                lines.push(format!("mouse   {what} at column {}, row {}", event.column + 1, event.row + 1));
            }
            Input::Focus(true) => lines.push("focus   gained".to_owned()),
            Input::Focus(false) => lines.push("focus   lost".to_owned()),
            Input::Paste(text) => {
                let shown: String = clean_line(text).chars().take(60).collect();
                lines.push(format!("paste   {} characters: {shown}", text.chars().count()));
            }
            Input::Answer(answer) => lines.push(format!("answer  {}", answered(*answer))),
            Input::Gone => then = Then::Quit,
        }
        lines.push(String::new());
        (lines, then)
    }

    fn key(&mut self, key: Key, lines: &mut Vec<String>) {
        let chord: Vec<Key> = self.pending.iter().copied().chain([key]).collect();
        lines.push(format!("key     {}", chord_name(&chord)));
        if let Some(c) = key.printable().filter(|_| self.pending.is_empty()) {
            lines.push(format!("types   {c}   in text fields"));
        }
        let mut found: Vec<(String, Vec<&str>)> = Vec::new();
        let mut begins = false;
        for context in Context::ALL {
            let does = match self.keys.feed(&[*context], &self.pending, key) {
                Fed::Action(action) => format!("{}  {}", action.name(), action.description()),
                Fed::Pending => {
                    begins = true;
                    "starts a chord".to_owned()
                }
                Fed::None => continue,
            };
            match found.iter_mut().find(|(known, _)| *known == does) {
                Some((_, places)) => places.push(context.word()),
                None => found.push((does, vec![context.word()])),
            }
        }
        if found.is_empty() {
            lines.push("does    nothing".to_owned());
        }
        for (does, places) in found {
            lines.push(format!("does    {does}   in {}", places.join(", ")));
        }
        if begins {
            self.pending.push(key);
        } else {
            self.pending.clear();
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    let shown: Vec<String> = bytes.iter().take(24).map(|byte| format!("{byte:02x}")).collect();
    let more = if bytes.len() > 24 { format!(" and {} more", bytes.len() - 24) } else { String::new() };
    shown.join(" ") + &more
}

/// The bytes by their names: `ESC [ A`.
fn named(bytes: &[u8]) -> String {
    let mut out = String::new();
    let text = String::from_utf8_lossy(bytes.get(..bytes.len().min(24)).unwrap_or_default());
    for c in text.chars() {
        if !out.is_empty() {
            out.push(' ');
        }
        let _ = match c {
            '\u{1b}' => write!(out, "ESC"),
            '\u{0}' => write!(out, "NUL"),
            '\u{7f}' => write!(out, "DEL"),
            ' ' => write!(out, "SPACE"),
            c if u32::from(c) < 0x20 => write!(out, "^{}", char::from_u32(u32::from(c) + 0x40).unwrap_or('?')),
            c => write!(out, "{}", clean_line(&c.to_string())),
        };
    }
    out
}

fn answered(answer: TerminalAnswer) -> String {
    match answer {
        TerminalAnswer::KittyKeyboard => "kitty keyboard protocol: yes, in use".to_owned(),
        TerminalAnswer::Mode { number: 2026, usable } => format!("synchronized output: {}", yes(usable)),
        TerminalAnswer::Mode { number: 2031, usable } => format!("reports light/dark changes: {}", yes(usable)),
        TerminalAnswer::Mode { number, usable } => format!("mode {number}: {}", yes(usable)),
        TerminalAnswer::Background(rgb) => {
            format!(
                "background: #{:02x}{:02x}{:02x}, {}",
                rgb.0,
                rgb.1,
                rgb.2,
                if rgb.is_light() { "light" } else { "dark" }
            )
        }
        TerminalAnswer::Graphics => "images: kitty graphics protocol".to_owned(),
        TerminalAnswer::Sixel => "images: sixel".to_owned(),
        TerminalAnswer::Program(program) => format!("name: {program:?}"),
        TerminalAnswer::Cell { width, height } => format!("cell size: {width} by {height} pixels"),
        TerminalAnswer::Ambiguous { wide } => {
            format!("ambiguous-width characters: {}", if wide { "two cells" } else { "one cell" })
        }
        TerminalAnswer::Family { joined } => {
            format!("joined emoji (a family): {}", if joined { "as one" } else { "one by one" })
        }
        TerminalAnswer::Attributes => "end of terminal replies".to_owned(),
        TerminalAnswer::Status => "status OK".to_owned(),
        TerminalAnswer::ColoursChanged => "light/dark changed".to_owned(),
    }
}

fn yes(usable: bool) -> &'static str {
    if usable { "yes" } else { "no" }
}

/// Looks at keys until the user, or a signal, ends it. The terminal is as before when it returns.
///
/// # Errors
/// When there is no usable terminal.
pub async fn inspect(keys: Table) -> Result<(), RunError> {
    let tty = Tty::open()?;
    let term = env("TERM").unwrap_or_default();
    if term == "dumb" {
        return Err(TtyError::Dumb(term).into());
    }
    let mut signals = Signals::listen().map_err(RunError::System)?;
    let wishes = Wishes { mouse: Mouse::Theirs, queries: Queries::for_term(&term), screen: Screen::Theirs };
    let guard = Guard::take(tty.clone(), wishes)?;
    let (mut input, _stop) = listen(&tty).map_err(RunError::System)?;
    let mut inspector = Inspector::new(keys);
    let mut reader = InputReader::default();
    let mut unit: Vec<u8> = Vec::new();
    print(&tty, &Inspector::greeting());
    loop {
        let silence = reader.deadline();
        let inputs = tokio::select! {
            bytes = input.recv() => {
                let Some(bytes) = bytes else { break };
                let mut found = Vec::new();
                // Byte by byte, so that it is known which of them became what.
                for byte in bytes {
                    unit.push(byte);
                    let inputs = reader.feed(&[byte], Instant::now());
                    if !inputs.is_empty() {
                        found.push((std::mem::take(&mut unit), inputs));
                    }
                }
                found
            }
            () = until(silence) => {
                let inputs = reader.silence(Instant::now());
                if inputs.is_empty() { Vec::new() } else { vec![(std::mem::take(&mut unit), inputs)] }
            }
            signal = signals.next() => match signal {
                Signal::End | Signal::Hangup | Signal::Interrupt => break,
                Signal::Size | Signal::Continued => continue,
            },
        };
        let mut quit = false;
        for (bytes, inputs) in inputs {
            for input in inputs {
                if let Input::Answer(answer) = input {
                    let (_, more) = guard.answered(answer);
                    write(&tty, more.as_bytes());
                }
                let (lines, then) = inspector.take(&bytes, &input);
                print(&tty, &lines);
                quit |= then == Then::Quit;
            }
        }
        if quit {
            break;
        }
    }
    guard.leave();
    Ok(())
}

/// The bytes of the terminal as they come, read by a thread that ends when the second one is dropped.
fn listen(tty: &Tty) -> io::Result<(UnboundedReceiver<Vec<u8>>, io::PipeWriter)> {
    let (stopped, stop) = io::pipe()?;
    let (tell, told) = unbounded_channel();
    let tty = tty.clone();
    std::thread::Builder::new().name("lisle-keys".into()).spawn(move || {
        let mut bytes = [0_u8; 1024];
        loop {
            let mut fds = [PollFd::new(&*tty.input, PollFlags::IN), PollFd::new(&stopped, PollFlags::IN)];
            match poll(&mut fds, None) {
                Err(Errno::INTR) => continue,
                Err(_) => return,
                Ok(_) if !fds[1].revents().is_empty() => return,
                Ok(_) => {}
            }
            match rustix::io::read(&*tty.input, &mut bytes) {
                Err(Errno::INTR | Errno::AGAIN) => {}
                Ok(read) if read > 0 && tell.send(bytes[..read].to_vec()).is_ok() => {}
                Ok(_) | Err(_) => return,
            }
        }
    })?;
    Ok((told, stop))
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

fn print(tty: &Tty, lines: &[String]) {
    let mut text = String::new();
    for line in lines {
        text.push_str(&clean_line(line));
        text.push_str("\r\n");
    }
    write(tty, text.as_bytes());
}

/// Writes it all, or as much as a terminal takes that does not stop taking for longer than a second.
fn write(tty: &Tty, mut bytes: &[u8]) {
    let end = Instant::now() + Duration::from_secs(1);
    while !bytes.is_empty() && Instant::now() < end {
        match tty.output.write(bytes) {
            Wrote::Some(n) => bytes = bytes.get(n..).unwrap_or_default(),
            Wrote::Full => tty.output.room(None, Some(Duration::from_millis(100))),
            Wrote::Shut | Wrote::Gone => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(inspector: &mut Inspector, bytes: &[u8]) -> (String, Then) {
        let (mut reader, now) = (InputReader::default(), Instant::now());
        let mut inputs = reader.feed(bytes, now);
        inputs.extend(reader.silence(now + Duration::from_secs(2)));
        let mut out = (String::new(), Then::On);
        for input in inputs {
            let (lines, then) = inspector.take(bytes, &input);
            out = (out.0 + &lines.join("\n"), then);
        }
        out
    }

    fn inspector() -> Inspector {
        Inspector::new(crate::keymap::load(None).table)
    }

    #[test]
    fn a_key_shows_its_bytes_its_name_and_what_it_does_where() {
        let mut inspector = inspector();
        let (up, then) = shown(&mut inspector, b"\x1b[A");
        assert!(up.starts_with("bytes   1b 5b 41   ESC [ A\nkey     up\n"), "{up}");
        assert!(up.contains("does    list.up  up   in list\n"), "{up}");
        assert!(up.contains("composer.up") && up.contains("in composer, input"), "{up}");
        assert_eq!(then, Then::On);
        let (space, _) = shown(&mut inspector, b"\0");
        assert!(
            space.contains("NUL") && space.contains("key     ctrl+space") && space.contains("does    nothing"),
            "{space}"
        );
        let (odd, _) = shown(&mut inspector, b"\x1b[24;5~");
        assert!(odd.contains("key     ctrl+f12\ndoes    nothing"), "{odd}");
    }

    #[test]
    fn chords_are_followed() {
        let mut inspector = inspector();
        assert!(shown(&mut inspector, b"\x18").0.contains("does    starts a chord   in global"));
        let (m, _) = shown(&mut inspector, b"m");
        assert!(m.contains("key     ctrl+x m\ndoes    mode.next"), "{m}");
        assert!(!m.contains("types"), "{m}");
        assert!(shown(&mut inspector, b"m").0.contains("types   m"));
    }

    #[test]
    fn the_same_key_twice_ends_it() {
        let mut inspector = inspector();
        let then = |inspector: &mut Inspector, bytes: &[u8]| shown(inspector, bytes).1;
        assert_eq!(then(&mut inspector, b"q"), Then::On);
        assert_eq!(then(&mut inspector, b"\x03"), Then::On);
        assert_eq!(then(&mut inspector, b"q"), Then::On);
        assert_eq!(then(&mut inspector, b"q"), Then::Quit);
        assert_eq!(then(&mut inspector, b"\x03"), Then::On);
        assert_eq!(then(&mut inspector, b"\x03"), Then::Quit);
    }

    #[test]
    fn what_comes_from_elsewhere_does_nothing_to_the_terminal() {
        let mut inspector = inspector();
        let (paste, _) = shown(&mut inspector, b"\x1b[200~a\x1b]0;evil\x07b\x1b[201~");
        assert!(!paste.replace('\n', "").contains(char::is_control), "{paste:?}");
        assert!(paste.contains("paste"), "{paste}");
        let (focus, _) = shown(&mut inspector, b"\x1b[O");
        assert!(focus.contains("focus   lost"), "{focus}");
    }
}
