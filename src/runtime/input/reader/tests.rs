//! Bytes of a terminal, split anywhere, become the same inputs, and none of them leaks into a text.

use super::super::answer::{Rgb, TerminalAnswer};
use super::*;
use crate::runtime::graphics::way::TerminalProgram;
use proptest::prelude::*;
use termina::event::{MouseButton, MouseEventKind};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn all(bytes: &[u8]) -> Vec<Input> {
    InputReader::default().feed(bytes, Instant::now())
}

fn keys(bytes: &str) -> Vec<String> {
    all(bytes.as_bytes()).iter().map(word).collect()
}

fn word(input: &Input) -> String {
    match input {
        Input::Key(key) => {
            let mut word = String::new();
            for (flag, letter) in [(Modifiers::CONTROL, "C-"), (Modifiers::ALT, "A-"), (Modifiers::SHIFT, "S-")] {
                if key.modifiers.contains(flag) {
                    word.push_str(letter);
                }
            }
            match key.code {
                KeyCode::Char(c) => word.push(c),
                code => word.push_str(&format!("{code:?}")),
            }
            word
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn keys_are_read() {
    for (bytes, expected) in [
        ("a", "a"),
        ("ß", "ß"),
        ("👍", "👍"),
        ("\r", "Enter"),
        ("\n", "C-j"),
        ("\x1b\r", "A-Enter"),
        ("\x1ba", "A-a"),
        ("\x1bé", "A-é"),
        ("\x1b[A", "Up"),
        ("\x1bOA", "Up"),
        ("\x1b[1;5C", "C-Right"),
        ("\x1b[1;3A", "A-Up"),
        ("\x1b\x1b[A", "A-Up"),
        ("\x1b[Z", "S-BackTab"),
        ("\x1b[5~", "PageUp"),
        ("\x1bOP", "Function(1)"),
        ("\x1b[[A", "Function(1)"),
        ("\x1b[1;2R", "S-Function(3)"),
        ("\x1b[13;2u", "S-Enter"),
        ("\x1b[27;2;13~", "S-Enter"),
        ("\x1b[27u", "Escape"),
        ("\x1b[106;5u", "C-j"),
        ("\x1b[27;5;106~", "C-j"),
        ("\x7f", "Backspace"),
        ("\0", "C- "),
    ] {
        assert_eq!(keys(bytes), [expected], "{bytes:?}");
    }
}

#[test]
fn releases_and_what_is_no_key_are_dropped() {
    for bytes in [
        "\x1b[97;1:3u",
        "\x1b[201~",
        "\x1b[?62;4c",
        "\x1b[>0;10;1c",
        "\x1b[8;24;80t",
        "\x1bP>|xterm(390)\x1b\\",
        "\x1b_Gi=1;OK\x1b\\",
        "\x1b]10;rgb:0/0/0\x07",
        "\x1b]4;1;rgb:0/0/0\x1b\\",
        "\x1b[999X",
    ] {
        let mut got = all(bytes.as_bytes());
        got.retain(|input| !matches!(input, Input::Answer(_)));
        assert_eq!(got, [], "{bytes:?}");
    }
    assert_eq!(all(b"\x80\xff\xc3"), []);
}

#[test]
fn a_lone_escape_counts_after_30_ms() {
    let (mut reader, now) = (InputReader::default(), Instant::now());
    assert_eq!(reader.feed(b"\x1b", now), []);
    assert_eq!(reader.deadline(), Some(now + ms(30)));
    assert_eq!(reader.silence(now + ms(29)), []);
    assert_eq!(reader.silence(now + ms(30)), [key(KeyCode::Escape, Modifiers::NONE)]);
    assert_eq!(reader.deadline(), None);
    assert_eq!(reader.feed(b"[", now), [key(KeyCode::Char('['), Modifiers::NONE)]);
}

#[test]
fn two_escapes_are_two_keys() {
    let (mut reader, now) = (InputReader::default(), Instant::now());
    assert_eq!(reader.feed(b"\x1b\x1b", now), []);
    assert_eq!(reader.silence(now + ms(30)).len(), 2);
    assert_eq!(keys("\x1b\x1bx"), ["Escape", "A-x"]);
    assert_eq!(keys("\x1b\x1b[I"), ["Escape", "Focus(true)"], "an answer does not eat the key before it");
    assert_eq!(keys("\x1b\x1b]11;rgb:0/0/0\x07").first().map(String::as_str), Some("Escape"));
}

#[test]
fn an_introducer_alone_is_alt_with_it() {
    for (bytes, c) in [("\x1b[", '['), ("\x1bO", 'O'), ("\x1b]", ']'), ("\x1bP", 'P'), ("\x1b_", '_')] {
        let (mut reader, now) = (InputReader::default(), Instant::now());
        assert_eq!(reader.feed(bytes.as_bytes(), now), []);
        assert_eq!(reader.silence(now + ms(99)), []);
        assert_eq!(reader.silence(now + ms(500)), [key(KeyCode::Char(c), Modifiers::ALT)], "{bytes:?}");
    }
    assert_eq!(keys("\x1b[\r"), ["A-[", "Enter"]);
}

#[test]
fn a_sequence_that_stopped_halfway_is_dropped_and_the_next_key_is_whole() {
    let (mut reader, now) = (InputReader::default(), Instant::now());
    assert_eq!(reader.feed(b"\x1b[1;", now), []);
    assert_eq!(reader.silence(now + ms(999)), []);
    assert_eq!(reader.silence(now + ms(1000)), []);
    assert_eq!(reader.feed(b"a", now), [key(KeyCode::Char('a'), Modifiers::NONE)]);
    assert_eq!(keys("\x1b[1;\x1b[A"), ["Up"]);
    assert_eq!(keys("\u{1b}]11;rgb:0/\x1b[A"), ["Up"]);
}

#[test]
fn mouse_and_focus_are_read() {
    let got = all(b"\x1b[<0;3;2M\x1b[<0;3;2m\x1b[<65;1;1M\x1b[M !!\x1b[O");
    let kinds: Vec<_> = got.iter().filter_map(|i| if let Input::Mouse(m) = i { Some(m.kind) } else { None }).collect();
    assert_eq!(
        kinds,
        [
            MouseEventKind::Down(MouseButton::Left),
            MouseEventKind::Up(MouseButton::Left),
            MouseEventKind::ScrollDown,
            MouseEventKind::Down(MouseButton::Left)
        ]
    );
    assert_eq!(got.last(), Some(&Input::Focus(false)));
    assert!(matches!(&got[0], Input::Mouse(m) if (m.column, m.row) == (2, 1)));
}

#[test]
fn a_paste_is_one_input_and_cannot_act() {
    let text = |bytes: &str| match all(bytes.as_bytes()).as_slice() {
        [Input::Paste(text)] => text.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(text("\x1b[200~a\r\nb\rc\nd\te\x1b[201~"), "a\nb\nc\nd\te");
    assert_eq!(text("\x1b[200~\x1b[31mred\x1b]0;t\x07\x03\x1b[200~\u{9b}x\x1b[201~"), "[31mred]0;t[200~x");
    assert_eq!(text("\x1b[200~\x1b[201~"), "");
}

#[test]
fn a_paste_without_an_end_comes_after_one_second() {
    for (bytes, expected) in [("\x1b[200~abc", "abc"), ("\x1b[200~abc\x1b[20", "abc"), ("\x1b[200~ä\u{1b}", "ä")] {
        let (mut reader, now) = (InputReader::default(), Instant::now());
        assert_eq!(reader.feed(bytes.as_bytes(), now), []);
        assert_eq!(reader.silence(now + ms(999)), []);
        assert_eq!(reader.silence(now + ms(1000)), [Input::Paste(expected.into())]);
        assert_eq!(reader.feed(b"\r", now + ms(1100)), [key(KeyCode::Enter, Modifiers::NONE)], "the keyboard lives");
    }
}

/// Possible input from a terminal: keys, mouse, pastes, answers.
fn piece() -> impl Strategy<Value = &'static [u8]> {
    let pieces: Vec<&'static [u8]> = vec![
        b"a",
        b"Z",
        b"\r",
        b"\x03",
        "é".as_bytes(),
        "漢".as_bytes(),
        "👍".as_bytes(),
        b"\x1ba",
        b"\x1b\r",
        b"\x1b[A",
        b"\x1bOB",
        b"\x1b[1;5C",
        b"\x1b[3~",
        b"\x1b[13;2u",
        b"\x1b[27;2;13~",
        b"\x1b[<0;10;20M",
        b"\x1b[I",
        b"\x1b[[B",
        b"\x1b[M !!",
        b"\x1b[200~one\rtwo \xc3\xa4 \x1b[A\x1b[201~",
        b"\x1b[?1u",
        b"\x1b[?2026;2$y",
        b"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\",
        b"\x1b]11;rgb:ff/ff/ff\x07",
        b"\x1bP>|kitty(0.36)\x1b\\",
        b"\x1b_Gi=31;OK\x1b\\",
        b"\x1b[6;20;10t",
        b"\x1b[?62;4;22c",
        b"\x1b[?62;22c",
    ];
    prop::sample::select(pieces)
}

proptest! {
    #[test]
    fn any_split_gives_the_same(pieces in prop::collection::vec(piece(), 0..20), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20)) {
        let stream = pieces.concat();
        let now = Instant::now();
        let mut reader = InputReader::default();
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        places.push(stream.len());
        places.sort_unstable();
        let (mut from, mut got) = (0, Vec::new());
        for to in places {
            got.extend(reader.feed(&stream[from..to], now));
            from = to;
        }
        prop_assert_eq!(&got, &all(&stream));
        prop_assert_eq!(reader.deadline(), None, "every piece is whole");
        // Each piece alone means the same as in the stream.
        let alone: Vec<Input> = pieces.iter().flat_map(|piece| all(piece)).collect();
        prop_assert_eq!(got, alone);
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut reader = InputReader::default();
        let now = Instant::now();
        reader.feed(&bytes, now);
        reader.silence(now + Duration::from_secs(2));
        prop_assert_eq!(reader.deadline(), None);
        prop_assert_eq!(reader.feed(b"a", now), [key(KeyCode::Char('a'), Modifiers::NONE)]);
    }

    #[test]
    fn pasted_text_holds_no_controls(text in any::<String>()) {
        prop_assert!(pasted(&text).chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
    }
}

#[test]
fn answers_split_at_every_byte_leak_nothing() {
    let background = Input::Answer(TerminalAnswer::Background(Rgb(0x1e, 0x1e, 0x2e)));
    for (bytes, expected) in [
        (&b"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\"[..], Some(background.clone())),
        (b"\x1b]11;rgb:1e1e/1e1e/2e2e\x07", Some(background)),
        (b"\x1b[?2026;1$y", Some(Input::Answer(TerminalAnswer::Mode { number: 2026, usable: true }))),
        (b"\x1b[?0u", Some(Input::Answer(TerminalAnswer::KittyKeyboard))),
        (b"\x1b[?65;1;9c", Some(Input::Answer(TerminalAnswer::Attributes))),
        (b"\x1b[>41;390;0c", None),
        (b"\x1bP1+r544e=787465726d\x1b\\", None),
        (b"\x1b_Gi=31;OK\x1b\\", Some(Input::Answer(TerminalAnswer::Graphics))),
        (b"\x1b_Gi=31;ENOTSUPPORTED:no\x1b\\", None),
        (b"\x1bP>|WezTerm 20240203\x1b\\", Some(Input::Answer(TerminalAnswer::Program(TerminalProgram::Wezterm)))),
        (b"\x1b[6;20;10t", Some(Input::Answer(TerminalAnswer::Cell { width: 10, height: 20 }))),
        (b"\x1b[4;480;800t", None),
    ] {
        for cut in 0..bytes.len() {
            // With a key before and after, and a silence shorter than what a lone ESC needs.
            let now = Instant::now();
            let mut reader = InputReader::default();
            let mut got = reader.feed(b"x", now);
            got.extend(reader.feed(&bytes[..cut], now));
            got.extend(reader.silence(now + ms(29)));
            got.extend(reader.feed(&bytes[cut..], now + ms(29)));
            got.extend(reader.feed(b"y", now + ms(30)));
            let mut whole = vec![key(KeyCode::Char('x'), Modifiers::NONE)];
            whole.extend(expected.clone());
            whole.push(key(KeyCode::Char('y'), Modifiers::NONE));
            assert_eq!(got, whole, "{} cut at {cut}", bytes.escape_ascii());
        }
    }
}

#[test]
fn an_answer_comes_late_among_keys() {
    let now = Instant::now();
    let mut reader = InputReader::default();
    let mut got = Vec::new();
    // Byte by byte, with the pauses of a slow line, and a key right before and after it.
    for (n, byte) in b"a\x1b_Gi=31;OK\x1b\\b\x1b[?62;4;9cc".iter().enumerate() {
        let at = now + ms(20) * u32::try_from(n).unwrap();
        got.extend(reader.silence(at));
        got.extend(reader.feed(&[*byte], at));
    }
    let letter = |c| key(KeyCode::Char(c), Modifiers::NONE);
    let answer = Input::Answer;
    assert_eq!(
        got,
        [
            letter('a'),
            answer(TerminalAnswer::Graphics),
            letter('b'),
            answer(TerminalAnswer::Sixel),
            answer(TerminalAnswer::Attributes),
            letter('c')
        ]
    );
}

#[test]
fn an_answer_that_is_torn_behind_its_escape_is_no_key_while_it_is_owed() {
    let (mut reader, now) = (InputReader::default(), Instant::now());
    reader.owed(true);
    assert!(reader.feed(b"\x1b", now).is_empty());
    assert!(reader.silence(now + ms(100)).is_empty(), "the rest may still come");
    assert_eq!(reader.feed(b"[0n", now + ms(120)), [Input::Answer(TerminalAnswer::Status)]);
    // A key that was pressed meanwhile is one.
    let got = reader.feed(b"\x1b\x1b[0n", now + ms(200));
    assert_eq!(got.iter().map(word).collect::<Vec<_>>(), ["Escape", "Answer(Status)"]);
    assert!(reader.feed(b"\x1b", now + ms(300)).is_empty());
    assert_eq!(reader.silence(now + ms(460)).iter().map(word).collect::<Vec<_>>(), ["Escape"]);
    assert_eq!(reader.feed(b"[0n", now + ms(500)), [Input::Answer(TerminalAnswer::Status)], "however late the rest is");
}
