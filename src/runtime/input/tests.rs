//! Every key of the keymaps, in every spelling that terminals have, torn at every byte: exactly that key. And between the
//! keys what a terminal answers, in time, late, or never.

use super::answer::{Rgb, TerminalAnswer};
use super::reader::InputReader;
use super::{Input, translate};
use crate::keymap::key::{Code, Key, Mods};
use crate::keymap::{load_style, names};
use crate::runtime::graphics::way::TerminalProgram;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// All keys that the three keymaps name, what can be typed on a usual keyboard, and characters of two, three and four bytes.
fn all_keys() -> BTreeSet<Key> {
    let tables = names().map(|name| load_style(name).unwrap().table);
    let mut keys: BTreeSet<Key> = tables.flat_map(|table| table.bindings().to_vec()).flat_map(|b| b.keys).collect();
    keys.extend((' '..='~').chain("éß한국어漢字ひ👍\u{200d}\u{fe0f}".chars()).map(Key::char));
    keys
}

/// Shifted counterpart of each key of the usual layout.
const SHIFTED: &str = "`~1!2@3#4$5%6^7&8*9(0)-_=+[{]}\\|;:'\",<.>/?";

/// The key below a character, if it needs Shift.
fn below(c: char) -> Option<char> {
    if c.is_ascii_uppercase() {
        return Some(c.to_ascii_lowercase());
    }
    let pairs: Vec<char> = SHIFTED.chars().collect();
    pairs.chunks(2).find(|pair| pair[1] == c).map(|pair| pair[0])
}

/// The kitty protocol's spellings: with and without the kind of event, with Caps Lock or Num Lock on, and with the text.
fn kitty(out: &mut Vec<String>, key: &str, held: u32, text: &str) {
    if held == 0 {
        out.push(format!("\x1b[{key}u"));
    }
    for locks in [0, 64, 128, 192] {
        let held = 1 + held + locks;
        out.extend([
            format!("\x1b[{key};{held}u"),
            format!("\x1b[{key};{held}:1u"),
            format!("\x1b[{key};{held}:2u"),
            format!("\x1b[{key};{held};{text}u"),
        ]);
    }
}

/// Every way in which a terminal may send the key.
fn spellings(key: Key) -> Vec<String> {
    let mut out = Vec::new();
    let bits = [(Mods::SHIFT, 1), (Mods::ALT, 2), (Mods::CTRL, 4)];
    let held: u32 = bits.iter().filter(|(m, _)| key.mods.has(*m)).map(|(_, bit)| bit).sum();
    let mods = 1 + held;
    let alt = if key.mods.has(Mods::ALT) { "\x1b" } else { "" };
    let (shift_only, ctrl) = (key.mods == Mods::SHIFT, key.mods.has(Mods::CTRL));
    match key.code {
        Code::Char(c) => character(&mut out, key, c, held, alt),
        Code::Enter | Code::Tab | Code::Backspace | Code::Esc => {
            let (number, legacy, keypad) = match key.code {
                Code::Enter => (13, "\r", Some((57414, ""))),
                Code::Tab => (9, "\t", Some((9, "\x1bOI"))),
                Code::Backspace => (127, "\x7f", None),
                _ => (27, "", None),
            };
            kitty(&mut out, &number.to_string(), held, "");
            out.push(format!("\x1b[27;{mods};{number}~"));
            if held & 5 == 0 && !legacy.is_empty() {
                out.push(format!("{alt}{legacy}"));
            }
            if key.code == Code::Tab && shift_only {
                out.push("\x1b[Z".into());
            }
            if let Some((number, application)) = keypad {
                kitty(&mut out, &number.to_string(), held, "");
                out.extend((held == 0 && !application.is_empty()).then(|| application.to_owned()));
            }
            if key.code == Code::Enter && shift_only {
                // Konsole.
                out.push("\x1bOM".into());
            }
        }
        Code::Up | Code::Down | Code::Left | Code::Right | Code::Home | Code::End => {
            let (letter, rxvt, number) = match key.code {
                Code::Up => ('A', Some('a'), 57419),
                Code::Down => ('B', Some('b'), 57420),
                Code::Right => ('C', Some('c'), 57418),
                Code::Left => ('D', Some('d'), 57417),
                Code::Home => ('H', None, 57423),
                _ => ('F', None, 57424),
            };
            kitty(&mut out, &number.to_string(), held, "");
            out.extend([format!("\x1b[1;{mods}{letter}"), format!("\x1b[1;{mods}:1{letter}")]);
            out.push(format!("\x1b[1;{}{letter}", mods + 128));
            if held & 5 == 0 {
                out.extend([format!("{alt}\x1b[{letter}"), format!("{alt}\x1bO{letter}")]);
            }
            if let Some(small) = rxvt {
                out.extend((shift_only).then(|| format!("\x1b[{small}")));
                out.extend((ctrl && held == 4).then(|| format!("\x1bO{small}")));
            } else {
                let numbers = if key.code == Code::Home { [1, 7] } else { [4, 8] };
                numbers.iter().for_each(|number| tilde(&mut out, *number, held));
            }
        }
        Code::Insert | Code::Delete | Code::PageUp | Code::PageDown => {
            let (number, keypad) = match key.code {
                Code::Insert => (2, 57425),
                Code::Delete => (3, 57426),
                Code::PageUp => (5, 57421),
                _ => (6, 57422),
            };
            kitty(&mut out, &keypad.to_string(), held, "");
            tilde(&mut out, number, held);
        }
        Code::F(n) => {
            let n = u32::from(n);
            let number = [0, 11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 23, 24][n as usize];
            tilde(&mut out, number, held);
            if n <= 4 {
                let letter = ['P', 'Q', 'R', 'S'][n as usize - 1];
                out.push(format!("\x1b[1;{mods}{letter}"));
                if held == 0 {
                    out.extend([format!("\x1bO{letter}"), format!("\x1b[{letter}")]);
                }
            }
            if n <= 5 && held == 0 {
                out.push(format!("\x1b[[{}", char::from(b'A' + u8::try_from(n).unwrap() - 1)));
            }
        }
    }
    out
}

/// Keys with a number: xterm's modifiers behind a semicolon, rxvt's in the last byte.
fn tilde(out: &mut Vec<String>, number: u32, held: u32) {
    let last = match held {
        0 => '~',
        1 => '$',
        4 => '^',
        5 => '@',
        _ => return out.push(format!("\x1b[{number};{}~", 1 + held)),
    };
    out.extend([format!("\x1b[{number}{last}"), format!("\x1b[{number};{}~", 1 + held)]);
    out.push(format!("\x1b[{number};{}:1~", 1 + held + 128));
}

fn character(out: &mut Vec<String>, key: Key, c: char, held: u32, alt: &str) {
    let ctrl = key.mods.has(Mods::CTRL);
    let code = u32::from(c);
    let text = if held == 0 { code.to_string() } else { String::new() };
    match below(c) {
        Some(lower) => {
            // With Shift: alone, and with what it makes of the key.
            kitty(out, &format!("{}:{code}", u32::from(lower)), held | 1, &text);
            if lower.is_ascii_lowercase() && !ctrl {
                kitty(out, &u32::from(lower).to_string(), held | 1, &text);
            }
            out.push(format!("\x1b[27;{};{code}~", 1 + (held | 1)));
        }
        None => {
            kitty(out, &code.to_string(), held, &text);
            if ctrl || key.mods.has(Mods::ALT) {
                out.push(format!("\x1b[27;{};{code}~", 1 + held));
                // A Cyrillic and a Hangul layout, with the key that stands there on the usual one.
                out.extend([1092, 12610].map(|other| format!("\x1b[{other}::{code};{}u", 1 + held)));
            }
            if c.is_ascii_lowercase() && ctrl {
                kitty(out, &format!("{code}:{}", code - 32), held | 1, &text);
            }
        }
    }
    if ctrl {
        let byte = match c {
            // These are Tab, Enter and Escape in one byte.
            'i' | 'm' | '[' => return,
            'a'..='z' => u8::try_from(c).unwrap() & 0x1f,
            ' ' => 0,
            '\\' | ']' | '^' | '_' => u8::try_from(c).unwrap() & 0x1f,
            _ => return,
        };
        out.push(format!("{alt}{}", char::from(byte)));
    } else if !(alt == "\x1b" && "[O]PX^_".contains(c)) {
        // What begins a sequence is no key until nothing follows: a test of its own.
        out.push(format!("{alt}{c}"));
    }
    if held == 0
        && let Some(at) = "*+,-./0123456789".find(c)
    {
        let at = u8::try_from(at).unwrap();
        out.push(format!("\x1bO{}", char::from(b'j' + at)));
        let number =
            if at < 6 { [57411, 57413, 57416, 57412, 57409, 57410][usize::from(at)] } else { 57393 + u32::from(at) };
        kitty(out, &number.to_string(), 0, "");
    }
}

fn told(inputs: &[Input]) -> Vec<String> {
    let name = |input: &Input| match input {
        Input::Key(event) => translate::key(event).map_or("no key".to_owned(), |key| key.to_string()),
        other => format!("{other:?}"),
    };
    inputs.iter().map(name).collect()
}

#[test]
fn every_key_in_every_spelling_torn_at_every_byte_is_that_key() {
    let mut spelt = 0;
    let keys = all_keys();
    for key in &keys {
        let name = key.to_string();
        let ways = spellings(*key);
        assert!(!ways.is_empty(), "{name}");
        for way in ways {
            spelt += 1;
            let bytes = way.as_bytes();
            for reader in [InputReader::default, InputReader::expecting] {
                for cut in 0..=bytes.len() {
                    let (mut reader, now) = (reader(), Instant::now());
                    let mut got = reader.feed(&bytes[..cut], now);
                    got.extend(reader.silence(now + ms(29)));
                    got.extend(reader.feed(&bytes[cut..], now + ms(29)));
                    assert_eq!(told(&got), [name.as_str()], "{} cut at {cut}", way.escape_debug());
                    assert_eq!(reader.deadline(), None, "{}", way.escape_debug());
                }
                // Each byte by itself, between two other keys.
                let (mut reader, now) = (reader(), Instant::now());
                let mut got = reader.feed(b"x", now);
                for (n, byte) in (0u64..).zip(bytes) {
                    got.extend(reader.silence(now + ms(29 * n)));
                    got.extend(reader.feed(&[*byte], now + ms(29 * n)));
                }
                got.extend(reader.feed(b"y", now + ms(1000)));
                assert_eq!(told(&got), ["x", &name, "y"], "{}", way.escape_debug());
            }
        }
    }
    assert!(keys.len() > 150 && spelt > 2000, "{} keys, {spelt} spellings", keys.len());
}

/// Answers of a terminal, and their meaning.
fn answers() -> Vec<(&'static str, Option<TerminalAnswer>)> {
    vec![
        ("\x1b[?62;22c", Some(TerminalAnswer::Attributes)),
        ("\x1b[>41;390;0c", None),
        ("\x1b[?2026;2$y", Some(TerminalAnswer::Mode { number: 2026, usable: true })),
        ("\x1b[?2031;0$y", Some(TerminalAnswer::Mode { number: 2031, usable: false })),
        ("\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\", Some(TerminalAnswer::Background(Rgb(0x1e, 0x1e, 0x2e)))),
        ("\x1b]11;rgb:1e1e/1e1e/2e2e\x07", Some(TerminalAnswer::Background(Rgb(0x1e, 0x1e, 0x2e)))),
        ("\x1b[2;3R", Some(TerminalAnswer::Ambiguous { wide: true })),
        ("\x1b[3;3R", Some(TerminalAnswer::Family { joined: true })),
        ("\x1b[3;7R", Some(TerminalAnswer::Family { joined: false })),
        ("\x1b[0n", Some(TerminalAnswer::Status)),
        ("\x1b[?5u", Some(TerminalAnswer::KittyKeyboard)),
        ("\x1bP>|WezTerm 20240203\x1b\\", Some(TerminalAnswer::Program(TerminalProgram::Wezterm))),
        ("\x1bP1+r524742=38\x1b\\", None),
        ("\x1b_Gi=31;OK\x1b\\", Some(TerminalAnswer::Graphics)),
        ("\x1b_Gi=7;ENOENT:no such picture\x1b\\", None),
        ("\x1b[6;20;10t", Some(TerminalAnswer::Cell { width: 10, height: 20 })),
    ]
}

#[test]
fn answers_between_keys_torn_at_every_byte_lose_no_key_and_make_none_up() {
    // Keys of every kind of sequence, before and behind an answer.
    let keys =
        ["q", "\r", "é", "한", "\x1b[A", "\x1bOB", "\x1bx", "\x1b[13;2u", "\x1b[27;5;106~", "\x1b[3~", "\x1b[[A", "👍"];
    for (answer, learnt) in answers() {
        for before in keys {
            for after in keys {
                let mut expected = told(&InputReader::default().feed(before.as_bytes(), Instant::now()));
                expected.extend(learnt.map(|learnt| format!("{:?}", Input::Answer(learnt))));
                expected.extend(told(&InputReader::default().feed(after.as_bytes(), Instant::now())));
                let bytes = format!("{before}{answer}{after}").into_bytes();
                for cut in 0..bytes.len() {
                    let (mut reader, now) = (InputReader::expecting(), Instant::now());
                    let mut got = reader.feed(&bytes[..cut], now);
                    got.extend(reader.silence(now + ms(29)));
                    got.extend(reader.feed(&bytes[cut..], now + ms(29)));
                    assert_eq!(told(&got), expected, "{} cut at {cut}", bytes.escape_ascii());
                    assert_eq!(reader.deadline(), None);
                }
            }
        }
        // The Escape key, and the answer at once behind it.
        let mut got = InputReader::expecting().feed(format!("\x1b{answer}").as_bytes(), Instant::now());
        got.retain(|input| !matches!(input, Input::Answer(_)));
        assert_eq!(told(&got), ["esc"], "{answer:?}");
    }
}

#[test]
fn an_answer_that_a_slow_line_tears_types_nothing() {
    for (answer, learnt) in answers() {
        let bytes = answer.as_bytes();
        for cut in 1..bytes.len() {
            let (mut reader, now) = (InputReader::expecting(), Instant::now());
            let mut got = reader.feed(&bytes[..cut], now);
            got.extend(reader.silence(now + ms(900)));
            got.extend(reader.feed(&bytes[cut..], now + ms(900)));
            got.extend(reader.feed(b"y", now + ms(950)));
            // Behind its ESC nobody can know better than that it was the Escape key; the rest is no text all the same.
            let mut expected: Vec<String> = if cut == 1 { vec!["esc".into()] } else { Vec::new() };
            expected.extend(learnt.map(|learnt| format!("{:?}", Input::Answer(learnt))));
            expected.push("y".into());
            assert_eq!(told(&got), expected, "{answer:?} torn at {cut}");
        }
    }
}

#[test]
fn after_the_last_answer_alt_with_an_introducer_is_quick_again() {
    let (mut reader, now) = (InputReader::expecting(), Instant::now());
    assert_eq!(reader.feed(b"\x1b[", now), []);
    assert_eq!(reader.deadline(), Some(now + ms(1000)), "an answer may follow");
    assert_eq!(told(&reader.silence(now + ms(1000))), ["alt+["], "a terminal that never answers has that key too");
    reader.feed(b"\x1b[?62c", now);
    assert_eq!(reader.feed(b"\x1b[", now), []);
    assert_eq!(reader.deadline(), Some(now + ms(500)));
    // Escape and then typed text are two things, also while an answer is awaited.
    let (mut reader, now) = (InputReader::expecting(), Instant::now());
    reader.feed(b"\x1b", now);
    let mut got = reader.silence(now + ms(30));
    got.extend(reader.feed(b"[?x", now + ms(500)));
    assert_eq!(told(&got), ["esc", "[", "?", "x"]);
}

#[test]
fn a_paste_that_stalls_goes_on_as_a_paste() {
    let paste = |text: &str| format!("{:?}", Input::Paste(text.to_owned()));
    let stalled = || {
        let (mut reader, now) = (InputReader::default(), Instant::now());
        assert_eq!(reader.feed(b"\x1b[200~one\rtw", now), []);
        assert_eq!(told(&reader.silence(now + ms(1000))), [paste("one\ntw")]);
        (reader, now + ms(1500))
    };
    // Its rest, with the end or with more to come: a line end in it never sends.
    let (mut reader, now) = stalled();
    assert_eq!(told(&reader.feed(b"o\r\x1b[201~k", now)), [paste("o\n"), "k".into()]);
    assert_eq!(told(&reader.feed(b"\r", now)), ["enter"]);
    let (mut reader, now) = stalled();
    assert_eq!(reader.feed(b"o and then a lot more\r", now), []);
    assert_eq!(told(&reader.feed(b"three\x1b[201~\r", now)), [paste("o and then a lot more\nthree"), "enter".into()]);
    // Hands and another paste are not its rest.
    let (mut reader, now) = stalled();
    assert_eq!(told(&reader.feed(b"o\r", now)), ["o", "enter"]);
    assert_eq!(told(&reader.feed(b"\x1b[200~new\x1b[201~", now)), [paste("new")]);
    let (mut reader, now) = stalled();
    assert_eq!(reader.feed(&b"\x1b[A".repeat(9), now).len(), 9);
    let typed = reader.feed(b"a line that came at once", now + ms(20_000));
    assert_eq!(typed.len(), 24, "long after it, it is forgotten");
}
