//! Cuts the terminal's bytes into whole sequences, however they were split in transit.
//!
//! Cutting follows ECMA-48, so a sequence that nobody knows still ends where it ends and leaks no characters. What a
//! key sequence means is termina's business; it is given one whole sequence at a time. Answers to queries are taken out
//! before it. Pure: time comes in with the bytes, and whoever waits asks [`InputReader::deadline`] for how long.

use super::Input;
use super::answer::{self, TerminalAnswer};
use super::spelling;
use std::time::{Duration, Instant};
use termina::event::{KeyCode, KeyEvent, KeyEventKind, Modifiers};
use termina::{Event, Parser};

/// Silence after which a lone ESC is the Escape key.
const LONE_ESCAPE: Duration = Duration::from_millis(30);
/// The same while an answer is on its way, whose ESC a slow line may have torn off.
const LONE_ESCAPE_OR_ANSWER: Duration = Duration::from_millis(150);
/// Silence after which `ESC [` and its like are Alt with that character. Much longer than for ESC: as a key they are rare, and
/// an arrow key that a line or a busy machine tore would type its letter.
const INTRODUCER: Duration = Duration::from_millis(500);
/// Silence after which an unfinished sequence, paste or answer is over.
const UNFINISHED: Duration = Duration::from_secs(1);
/// Time within which an answer that was torn after its ESC continues.
const REST_OF_AN_ANSWER: Duration = Duration::from_secs(2);
/// Time within which a paste that stopped halfway may continue,
const REST_OF_A_PASTE: Duration = Duration::from_secs(10);
/// and the bytes that then come at once. Nobody types as fast.
const PASTED_AT_ONCE: usize = 16;
/// Longer control sequences are no key and no answer.
const LONGEST_CSI: usize = 256;
/// Length above which only the end of a string is looked for.
const LONGEST_STRING: usize = 4096;
/// A longer paste comes in pieces.
const LONGEST_PASTE: usize = 8 << 20;

const ESC: u8 = 0x1b;
const PASTE_BEGIN: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// State of the parser after the last byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParserState {
    /// Between sequences.
    Ground,
    /// Inside a character of several bytes; the number of missing ones.
    Character(usize),
    /// After ESC.
    Escape,
    /// After `ESC O`.
    Ss3,
    /// After `ESC [`.
    Csi,
    /// Inside a sequence of fixed length (X10 mouse, F keys of the Linux console); the number of missing bytes.
    Tail(usize),
    /// In an OSC.
    Osc,
    /// In another string: DCS, SOS, PM, APC.
    Other,
    /// After an ESC in either string.
    StringEscape,
    /// In a bracketed paste.
    Paste,
}

/// The state between reads.
#[derive(Debug)]
pub struct InputReader {
    place: ParserState,
    /// The bytes of the sequence so far, from its ESC on; of a paste, what was pasted.
    bytes: Vec<u8>,
    /// The sequence began with two ESC: some terminals send Alt with an arrow so.
    doubled: bool,
    /// The string that an ESC was seen in was an OSC.
    osc: bool,
    /// Time of the last byte.
    last: Option<Instant>,
    /// Queries are on their way: what looks like the begin of an answer is hardly a key.
    expecting: bool,
    /// An answer is on its way.
    owed: bool,
    /// Time when ESC was taken for a key while answers were expected: the rest of one may follow.
    torn: Option<Instant>,
    /// Time when a paste was abandoned, whose rest may still follow.
    given_up: Option<Instant>,
    parser: Parser,
}

impl Default for InputReader {
    fn default() -> Self {
        Self {
            place: ParserState::Ground,
            bytes: Vec::with_capacity(64),
            doubled: false,
            osc: false,
            last: None,
            expecting: false,
            owed: false,
            torn: None,
            given_up: None,
            parser: Parser::default(),
        }
    }
}

impl InputReader {
    /// One for a terminal that was asked something. Until its last answer has come ([`answer::TerminalAnswer::Attributes`]) the
    /// begin of a sequence waits longer for its rest: keys that look like one (Alt with `[`) are rarer then than answers
    /// that a slow line tears apart.
    #[must_use]
    pub fn expecting() -> Self {
        Self { expecting: true, ..Self::default() }
    }

    /// An answer other than those of [`InputReader::expecting`] is on its way, or is not.
    pub fn owed(&mut self, owed: bool) {
        self.owed = owed;
    }

    /// Takes bytes that came at `at` and gives what became whole with them.
    ///
    /// Time between two calls means nothing by itself (the process may have been stopped while the bytes waited); only
    /// [`InputReader::silence`] ends what is unfinished.
    pub fn feed(&mut self, bytes: &[u8], at: Instant) -> Vec<Input> {
        let mut out = Vec::new();
        if bytes.is_empty() {
            return out;
        }
        self.last = Some(at);
        let recent = |begun: Option<Instant>, limit| begun.is_some_and(|begun| at.duration_since(begun) < limit);
        if recent(self.torn.take(), REST_OF_AN_ANSWER) && answer::is_rest(bytes) {
            self.take(ESC, &mut out);
        }
        if self.place == ParserState::Ground && recent(self.given_up, REST_OF_A_PASTE) && is_rest_of_a_paste(bytes) {
            self.place = ParserState::Paste;
        }
        for &byte in bytes {
            self.take(byte, &mut out);
        }
        out
    }

    /// Time to call [`InputReader::silence`], if nothing comes until then; `None` when nothing is unfinished.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let wait = match self.place {
            ParserState::Ground => return None,
            ParserState::Escape if self.owed => LONE_ESCAPE_OR_ANSWER,
            ParserState::Escape => LONE_ESCAPE,
            ParserState::Ss3 => INTRODUCER,
            ParserState::Csi | ParserState::Osc | ParserState::Other
                if self.bytes.len() == 2 && !self.expecting && !self.owed =>
            {
                INTRODUCER
            }
            _ => UNFINISHED,
        };
        Some(self.last? + wait)
    }

    /// Nothing came until `at`: what is unfinished and past its deadline is taken for what it is so far.
    pub fn silence(&mut self, at: Instant) -> Vec<Input> {
        let mut out = Vec::new();
        if self.deadline().is_none_or(|deadline| at < deadline) {
            return out;
        }
        match self.place {
            ParserState::Paste => {
                self.end_paste(&mut out);
                self.given_up = Some(at);
            }
            ParserState::Escape => {
                self.torn = (self.expecting || self.owed).then_some(at);
                self.escape_before(&mut out);
                out.push(key(KeyCode::Escape, Modifiers::NONE));
            }
            ParserState::Ss3 => self.introducer_as_key(&mut out),
            ParserState::Csi | ParserState::Osc | ParserState::Other if self.bytes.len() == 2 => {
                self.introducer_as_key(&mut out)
            }
            _ => self.escape_before(&mut out),
        }
        self.reset();
        out
    }

    fn reset(&mut self) {
        self.place = ParserState::Ground;
        self.bytes.clear();
        self.doubled = false;
    }

    fn take(&mut self, byte: u8, out: &mut Vec<Input>) {
        match self.place {
            ParserState::Ground => self.ground(byte, out),
            ParserState::Character(missing) => self.character(byte, missing, out),
            ParserState::Escape => self.escape(byte, out),
            ParserState::Ss3 => self.ss3(byte, out),
            ParserState::Csi => self.csi(byte, out),
            ParserState::Tail(missing) => {
                self.bytes.push(byte);
                if missing > 1 { self.place = ParserState::Tail(missing - 1) } else { self.finish(out) }
            }
            ParserState::Osc | ParserState::Other => self.string(byte, out),
            ParserState::StringEscape => self.string_escape(byte, out),
            ParserState::Paste => self.paste(byte, out),
        }
    }

    fn ground(&mut self, byte: u8, out: &mut Vec<Input>) {
        self.bytes.push(byte);
        match byte {
            ESC => self.place = ParserState::Escape,
            0xc2..=0xdf => self.place = ParserState::Character(1),
            0xe0..=0xef => self.place = ParserState::Character(2),
            0xf0..=0xf4 => self.place = ParserState::Character(3),
            // Not UTF-8: a lone continuation byte, or one that never occurs.
            0x80.. => self.reset(),
            _ => self.finish(out),
        }
    }

    fn character(&mut self, byte: u8, missing: usize, out: &mut Vec<Input>) {
        if byte & 0xc0 != 0x80 {
            // The character was cut off; what comes now is another one.
            self.escape_before(out);
            self.reset();
            return self.take(byte, out);
        }
        self.bytes.push(byte);
        if missing > 1 { self.place = ParserState::Character(missing - 1) } else { self.finish(out) }
    }

    fn escape(&mut self, byte: u8, out: &mut Vec<Input>) {
        match byte {
            ESC => {
                // Of three in a row the first is surely the key.
                self.escape_before(out);
                self.doubled = true;
                return;
            }
            b'[' => self.place = ParserState::Csi,
            b'O' => self.place = ParserState::Ss3,
            b']' => self.place = ParserState::Osc,
            b'P' | b'X' | b'^' | b'_' => self.place = ParserState::Other,
            _ => {
                self.place = ParserState::Ground;
                return self.ground(byte, out);
            }
        }
        self.bytes.push(byte);
    }

    fn ss3(&mut self, byte: u8, out: &mut Vec<Input>) {
        if !(0x40..=0x7e).contains(&byte) {
            self.introducer_as_key(out);
            self.reset();
            return self.take(byte, out);
        }
        self.bytes.push(byte);
        self.finish(out);
    }

    fn csi(&mut self, byte: u8, out: &mut Vec<Input>) {
        if !(0x20..=0x7e).contains(&byte) {
            // A control sequence has no such byte: it was cut off, or it never was one.
            if self.bytes.len() == 2 {
                self.introducer_as_key(out);
            } else {
                self.escape_before(out);
            }
            self.reset();
            return self.take(byte, out);
        }
        self.bytes.push(byte);
        match (self.bytes.len(), byte) {
            (3, b'[') => self.place = ParserState::Tail(1),
            (3, b'M') => self.place = ParserState::Tail(3),
            (_, 0x40..) => self.finish(out),
            // rxvt ends keys with Shift so, against ECMA-48.
            (4.., b'$') if self.bytes[2..].iter().rev().skip(1).all(u8::is_ascii_digit) => self.finish(out),
            (LONGEST_CSI.., _) => self.reset(),
            _ => {}
        }
    }

    fn string(&mut self, byte: u8, out: &mut Vec<Input>) {
        match byte {
            ESC => {
                self.osc = self.place == ParserState::Osc;
                self.place = ParserState::StringEscape;
            }
            0x07 if self.place == ParserState::Osc => self.end_string(out),
            // CAN and SUB break a string off.
            0x18 | 0x1a => self.reset(),
            _ if self.bytes.len() < LONGEST_STRING => self.bytes.push(byte),
            _ => {}
        }
    }

    fn string_escape(&mut self, byte: u8, out: &mut Vec<Input>) {
        if byte == b'\\' {
            self.place = if self.osc { ParserState::Osc } else { ParserState::Other };
            return self.end_string(out);
        }
        // The string was cut off by another sequence.
        self.reset();
        self.ground(ESC, out);
        self.take(byte, out);
    }

    fn end_string(&mut self, out: &mut Vec<Input>) {
        self.escape_before(out);
        if self.place == ParserState::Osc {
            out.extend(self.bytes.get(2..).and_then(answer::osc).map(Input::Answer));
        }
        if let ([ESC, kind, text @ ..], ParserState::Other) = (self.bytes.as_slice(), self.place) {
            let answer = match kind {
                b'_' => answer::apc(text),
                b'P' => answer::dcs(text),
                _ => None,
            };
            out.extend(answer.map(Input::Answer));
        }
        self.reset();
    }

    fn paste(&mut self, byte: u8, out: &mut Vec<Input>) {
        self.bytes.push(byte);
        if byte == b'~' && self.bytes.ends_with(PASTE_END) {
            self.bytes.truncate(self.bytes.len() - PASTE_END.len());
            self.end_paste(out);
            self.given_up = None;
            self.reset();
        } else if self.bytes.len() >= LONGEST_PASTE && byte & 0xc0 != 0x80 && byte != ESC {
            self.end_paste(out);
            self.bytes.clear();
        }
    }

    fn end_paste(&mut self, out: &mut Vec<Input>) {
        // An end marker that was itself cut off is not text.
        let cut = (1..PASTE_END.len()).rev().find(|&n| self.bytes.ends_with(&PASTE_END[..n])).unwrap_or(0);
        let text = String::from_utf8_lossy(&self.bytes[..self.bytes.len() - cut]);
        out.push(Input::Paste(pasted(&text)));
    }

    /// The first ESC of two was a key of its own.
    fn escape_before(&mut self, out: &mut Vec<Input>) {
        if std::mem::take(&mut self.doubled) {
            out.push(key(KeyCode::Escape, Modifiers::NONE));
        }
    }

    /// `ESC [` and nothing more: Alt with `[`.
    fn introducer_as_key(&mut self, out: &mut Vec<Input>) {
        self.escape_before(out);
        if let Some(&byte) = self.bytes.get(1) {
            out.push(key(KeyCode::Char(char::from(byte)), Modifiers::ALT));
        }
    }

    /// A whole sequence that is no string.
    fn finish(&mut self, out: &mut Vec<Input>) {
        let unit = std::mem::take(&mut self.bytes);
        self.unit(&unit, out);
        let place = self.place;
        self.bytes = unit;
        self.reset();
        if place == ParserState::Paste {
            self.place = ParserState::Paste;
        }
    }

    fn unit(&mut self, unit: &[u8], out: &mut Vec<Input>) {
        match unit {
            PASTE_BEGIN => {
                self.given_up = None;
                self.escape_before(out);
                self.place = ParserState::Paste;
                return;
            }
            [ESC, b'[', b'?' | b'>' | b'=', ..] => {
                self.escape_before(out);
                out.extend(answer::sixel(unit).map(Input::Answer));
                let answer = answer::private_csi(unit);
                self.expecting &= answer != Some(TerminalAnswer::Attributes);
                out.extend(answer.map(Input::Answer));
                return;
            }
            [ESC, b'[', .., b't'] => {
                self.escape_before(out);
                out.extend(answer::window(unit).map(Input::Answer));
                return;
            }
            _ => {}
        }
        if let Some(answer) = answer::status(unit).or_else(|| answer::width_of_a_sign(unit)) {
            self.escape_before(out);
            out.push(Input::Answer(answer));
            return;
        }
        let rewritten = spelling::usual(unit);
        self.parser.parse(rewritten.as_deref().unwrap_or(unit), false);
        let event = self.parser.pop();
        if event.is_none() {
            // It may hold on to what it did not understand.
            self.parser = Parser::default();
        }
        match event {
            Some(Event::Key(key)) if key.kind == KeyEventKind::Release => self.escape_before(out),
            Some(Event::Key(mut key)) => {
                if std::mem::take(&mut self.doubled) {
                    if is_cursor_key(key.code) && !key.modifiers.contains(Modifiers::ALT) {
                        key.modifiers |= Modifiers::ALT;
                    } else {
                        out.push(self::key(KeyCode::Escape, Modifiers::NONE));
                    }
                }
                out.push(Input::Key(key));
            }
            other => {
                self.escape_before(out);
                match other {
                    Some(Event::Mouse(mouse)) => out.push(Input::Mouse(mouse)),
                    Some(Event::FocusIn) => out.push(Input::Focus(true)),
                    Some(Event::FocusOut) => out.push(Input::Focus(false)),
                    _ => {}
                }
            }
        }
    }
}

fn key(code: KeyCode, modifiers: Modifiers) -> Input {
    Input::Key(KeyEvent::new(code, modifiers))
}

fn is_cursor_key(code: KeyCode) -> bool {
    use KeyCode::{Delete, Down, End, Home, Insert, Left, PageDown, PageUp, Right, Up};
    matches!(code, Up | Down | Left | Right | Home | End | PageUp | PageDown | Insert | Delete)
}

/// Bytes that continue an abandoned paste: its end without another begin, or more text at once than hands type.
fn is_rest_of_a_paste(bytes: &[u8]) -> bool {
    let at = |mark: &[u8]| bytes.windows(mark.len()).position(|window| window == mark);
    match (at(PASTE_BEGIN), at(PASTE_END)) {
        (Some(begin), end) => end.is_some_and(|end| end < begin),
        (None, Some(_)) => true,
        (None, None) => bytes.len() > PASTED_AT_ONCE && bytes.first() != Some(&ESC),
    }
}

/// Pasted text as the composer takes it: terminals send line ends as CR, and nothing in it may act as a control.
fn pasted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                chars.next_if_eq(&'\n');
                out.push('\n');
            }
            '\n' | '\t' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests;
