//! Pictures in the conversation, with the real binary in terminals that say they draw them, and in one that says nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test should stop where it fails")]

use crate::pty;

use base64::Engine as _;
use image::{Rgba, RgbaImage};
use pty::{Answers, Pty, Start};
use std::path::Path;

const PLACEHOLDER: &str = "\u{10eeee}";

/// As kitty: its graphics, its name, and cells of 10 by 20 pixels.
const KITTY: &[(&[u8], &[u8])] = &[
    (b"\x1b[>q", b"\x1bP>|kitty(0.42.1)\x1b\\"),
    (b"\x1b[16t", b"\x1b[6;20;10t"),
    (b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\", b"\x1b_Gi=31;OK\x1b\\"),
    (b"\x1b[c", b"\x1b[?62;22c"),
];
/// As a terminal with sixels.
const SIXEL: &[(&[u8], &[u8])] = &[(b"\x1b[16t", b"\x1b[6;20;10t"), (b"\x1b[c", b"\x1b[?62;4;22c")];

/// Runs lisle, and says something with a picture of 100 by 60 pixels, red on the left and blue on the right.
fn said_with_a_picture(home: &Path, answers: Answers) -> Pty {
    let work = home.join("work");
    std::fs::create_dir_all(&work).unwrap();
    let colour = |x| if x < 50 { Rgba([220, 20, 20, 255]) } else { Rgba([20, 20, 220, 255]) };
    RgbaImage::from_fn(100, 60, |x, _| colour(x)).save(work.join("shot.png")).unwrap();
    let pty = Start::new(env!("CARGO_BIN_EXE_lisle"), home).answers(answers).size(100, 40).go();
    pty.until("Ask to Edit");
    pty.keys("/attach shot.png\r");
    pty.until("B ×");
    pty.keys("look\r");
    pty.until("image  shot.png");
    pty.until("100×60");
    // Ctrl+C stops a turn while one runs, and the first frame after the message can show the composer at rest.
    pty.until("not a language model");
    pty.until("Message, or / for commands");
    pty
}

/// To be called while nothing runs.
fn quit(pty: &mut Pty) {
    pty.keys("\x03");
    pty.until("again to quit");
    pty.keys("\x03");
    pty.end();
    pty.sent("\x1b[23;0t");
}

/// The picture that was sent by kitty's protocol, and its number.
fn transmitted(raw: &[u8]) -> (u32, RgbaImage) {
    let text = String::from_utf8_lossy(raw).into_owned();
    let first = text.find("\x1b_Ga=T,").expect("a picture was sent");
    let (mut data, mut number) = (String::new(), None);
    for piece in text[first..].split("\x1b_G").skip(1) {
        let (keys, rest) = piece.split_once(';').unwrap();
        let (payload, _) = rest.split_once("\x1b\\").unwrap();
        data.push_str(payload);
        number = number.or_else(|| keys.split(',').find_map(|key| key.strip_prefix("i=")?.parse().ok()));
        if keys.contains("m=0") {
            break;
        }
    }
    let png = base64::engine::general_purpose::STANDARD.decode(data).unwrap();
    (number.unwrap(), image::load_from_memory(&png).unwrap().to_rgba8())
}

#[test]
fn kitty_is_given_the_picture_and_its_cells_and_has_none_at_the_end() {
    let home = tempfile::tempdir().unwrap();
    let mut pty = said_with_a_picture(home.path(), Answers::Draws(KITTY));
    // Ten columns and three rows of placeholders, once the picture is there.
    pty.wait_for("the placeholders", |seen| {
        seen.text().matches(PLACEHOLDER).count() == 30 && seen.text().contains("\u{10eeee}\u{30e}\u{34a}")
    });
    let (number, picture) = pty.look(|seen| transmitted(&seen.raw));
    assert_eq!(picture.dimensions(), (100, 60));
    assert_eq!((picture.get_pixel(10, 10).0, picture.get_pixel(90, 50).0), ([220, 20, 20, 255], [20, 20, 220, 255]));
    let before = |seen: &pty::Seen, early: &str, late: &str| {
        pty::find(&seen.raw, early.as_bytes()) < pty::find(&seen.raw, late.as_bytes())
    };
    assert!(pty.look(|seen| before(seen, "\x1b_Ga=T,", PLACEHOLDER)), "not before it was sent");
    // What covers it is text as elsewhere, and it is not sent again.
    pty.keys("\x1bOP");
    pty.gone(PLACEHOLDER);
    pty.keys("\x1b");
    pty.wait_for("the placeholders", |seen| seen.text().matches(PLACEHOLDER).count() == 30);
    assert_eq!(pty.look(|seen| String::from_utf8_lossy(&seen.raw).matches("\x1b_Ga=T,").count()), 1);
    quit(&mut pty);
    let gone = format!("\x1b_Ga=d,d=I,i={number},q=2\x1b\\");
    assert!(pty.look(|seen| before(seen, &gone, "\x1b[?1049l")), "it goes before the screen does");
    // The next start knows that pictures are drawn here.
    let kept = std::fs::read_to_string(home.path().join("lisle/state/terminal.json")).unwrap();
    assert!(kept.contains("\"kitty\": true"), "{kept}");
}

#[test]
fn sixels_are_drawn_over_blank_cells_when_all_is_at_rest() {
    let home = tempfile::tempdir().unwrap();
    let mut pty = said_with_a_picture(home.path(), Answers::Draws(SIXEL));
    pty.sent("\x1bP0;1;0q\"1;1;100;60#");
    pty.look(|seen| {
        assert!(!seen.sent(PLACEHOLDER) && !seen.sent("\x1b_Ga=T"));
    });
    quit(&mut pty);
}

#[test]
fn a_terminal_that_says_nothing_gets_the_described_line_alone() {
    for answers in [Answers::None, Answers::Modern] {
        let home = tempfile::tempdir().unwrap();
        let mut pty = said_with_a_picture(home.path(), answers);
        quit(&mut pty);
        pty.look(|seen| {
            for never in [PLACEHOLDER, "\x1b_Ga=T", "\x1b_Ga=d", "\x1bP0;1;0q", "\x1b]1337;"] {
                assert!(!seen.sent(never), "{never:?} with {answers:?}");
            }
        });
    }
}
