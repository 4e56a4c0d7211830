//! Pictures in the output of frames.

use super::*;
use crate::ui::chat::picture::{colour, place, placeholder};
use image::{Rgba, RgbaImage};
use ratatui::layout::Rect;
use std::path::PathBuf;

const CELLS: Cells = Cells { cols: 4, rows: 3 };
const ABLE: Able = Able { kitty: true, sixel: true, cell: Some((10, 20)), program: Some(way::TerminalProgram::Kitty) };

fn env(name: &str) -> Option<String> {
    (name == "TERM").then(|| "xterm-256color".to_owned())
}

fn graphics(setting: Pictures) -> Graphics {
    let mut graphics = Graphics::new(setting, &env, &ABLE);
    graphics.be_sure();
    graphics
}

fn want(name: &str) -> Want {
    Want { path: PathBuf::from(format!("/s/attachments/{name}")), cells: CELLS }
}

/// A picture whose rows of cells have a colour each.
fn picture() -> RgbaImage {
    RgbaImage::from_fn(40, 60, |_, y| Rgba([(y / 20 * 100) as u8, 50, 50, 255]))
}

fn form(way: PictureWay) -> PictureForm {
    match way {
        PictureWay::Kitty => PictureForm::Kitty(make::png(&picture(), CompressionType::Fast).unwrap()),
        PictureWay::Iterm => PictureForm::Inline(picture(), b"whole"[..].into()),
        PictureWay::Sixel => PictureForm::Sixel(sixel::Indexed::of(&picture()), b"whole"[..].into()),
    }
}

/// A screen with rows `rows` of a picture at its top.
fn screen(number: u32, rows: std::ops::Range<u16>) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, 20, 6));
    for (y, row) in rows.enumerate() {
        for col in 0..CELLS.cols {
            let symbol = placeholder(row, col).unwrap();
            buffer[(2 + col, y as u16)].set_symbol(&symbol).set_fg(colour(number));
        }
    }
    buffer
}

fn placeholders(buffer: &Buffer) -> usize {
    buffer.content.iter().filter(|cell| place(cell.symbol()).is_some()).count()
}

#[test]
fn kitty_gets_a_picture_once_and_shows_it_when_it_is_there() {
    let mut graphics = graphics(Pictures::Auto);
    let now = Instant::now();
    let (number, gone) = graphics.take(&want("a.png"), form(PictureWay::Kitty));
    assert!(gone.is_empty());
    let mut buffer = screen(number, 0..3);
    let laid = graphics.lay(&mut buffer, false, now);
    assert_eq!((placeholders(&buffer), laid.send.len(), laid.over.len()), (0, 1, 0), "it is on its way");
    let (sent, pieces) = &laid.send[0];
    assert_eq!(*sent, number);
    let first = String::from_utf8(pieces[0].clone()).unwrap();
    assert!(first.starts_with(&format!("\x1b_Ga=T,U=1,q=2,f=100,t=d,i={number},c=4,r=3")), "{first}");
    assert_eq!(graphics.held(), [number]);
    let mut buffer = screen(number, 0..3);
    assert!(graphics.lay(&mut buffer, false, now).send.is_empty(), "not twice");
    assert_eq!(placeholders(&buffer), 0);
    graphics.sent(number);
    let mut buffer = screen(number, 1..3);
    assert!(graphics.lay(&mut buffer, false, now).send.is_empty());
    assert_eq!(placeholders(&buffer), 8);
    // Ctrl+L, and coming back from an editor: it is sent again.
    for again in [Graphics::repaint, Graphics::left] {
        again(&mut graphics);
        assert_eq!(graphics.lay(&mut screen(number, 0..3), false, now).send.len(), 1);
        graphics.sent(number);
    }
    // The screen is cleared while it is on its way: whether it came before or after that, nobody knows.
    graphics.repaint();
    graphics.lay(&mut screen(number, 0..3), false, now);
    graphics.repaint();
    assert!(graphics.lay(&mut screen(number, 0..3), false, now).send.is_empty());
    graphics.sent(number);
    let mut buffer = screen(number, 0..3);
    assert_eq!((graphics.lay(&mut buffer, false, now).send.len(), placeholders(&buffer)), (1, 0));
    assert_eq!(graphics.forget(), [number]);
    let mut buffer = screen(number, 0..3);
    assert!(graphics.lay(&mut buffer, false, now).send.is_empty());
    assert_eq!(placeholders(&buffer), 0, "what is not known any more is blank");
}

#[test]
fn nothing_is_begun_on_a_slow_line_or_before_the_terminal_said_what_it_is() {
    for setting in [Pictures::Auto, Pictures::Sixel] {
        let now = Instant::now();
        let mut graphics = Graphics::new(setting, &env, &ABLE);
        let way = graphics.way().unwrap().0;
        let (number, _) = graphics.take(&want("a.png"), form(way));
        // Until it says something, nothing is waited for; a slow line is looked at again.
        for (slow, again) in [(false, None), (true, Some(now + PATIENCE))] {
            let laid = graphics.lay(&mut screen(number, 0..3), slow, now);
            assert!(laid.send.is_empty() && laid.over.is_empty(), "{setting:?}");
            assert_eq!(laid.again, again, "{setting:?}");
            graphics.be_sure();
        }
        let laid = graphics.lay(&mut screen(number, 0..3), false, now);
        assert!(!laid.send.is_empty() || laid.again.is_some());
    }
}

#[test]
fn what_is_drawn_over_cells_is_drawn_when_it_rests_and_as_far_as_it_is_seen() {
    for (setting, way) in [(Pictures::Sixel, PictureWay::Sixel), (Pictures::Iterm2, PictureWay::Iterm)] {
        let mut graphics = graphics(setting);
        let now = Instant::now();
        let (number, _) = graphics.take(&want("a.png"), form(way));
        let mut buffer = screen(number, 0..3);
        let laid = graphics.lay(&mut buffer, false, now);
        assert_eq!((placeholders(&buffer), laid.over.len(), laid.again), (0, 0, Some(now + REST)));
        // It moves: it has to rest anew.
        let later = now + REST / 2;
        let laid = graphics.lay(&mut screen(number, 1..3), false, later);
        assert_eq!((laid.over.len(), laid.again), (0, Some(later + REST)));
        assert!(graphics.lay(&mut screen(number, 1..3), false, now + REST).over.is_empty());
        let rested = later + REST;
        let laid = graphics.lay(&mut screen(number, 1..3), false, rested);
        assert_eq!((laid.over.len(), laid.again), (1, None));
        assert_eq!(laid.over[0].area, Rect::new(2, 0, 4, 2));
        match way {
            PictureWay::Sixel => {
                let (width, height, pixels) = sixel::tests::decode(&laid.over[0].bytes);
                assert_eq!((width, height), (40, 40));
                assert!(pixels[0].unwrap()[0].abs_diff(100) < 3 && pixels[39 * 40].unwrap()[0].abs_diff(200) < 3);
            }
            _ => assert!(laid.over[0].bytes.windows(17).any(|bytes| bytes == b"width=4;height=2;")),
        }
        // It stays as it is, and the whole of it is what was made beforehand.
        assert_eq!(graphics.lay(&mut screen(number, 1..3), true, rested).over, laid.over);
        graphics.lay(&mut screen(number, 0..3), false, rested);
        let whole = graphics.lay(&mut screen(number, 0..3), false, rested + REST).over;
        assert_eq!(whole[0].bytes.as_ref(), b"whole");
        // Out of sight it is gone at once.
        assert!(graphics.lay(&mut Buffer::empty(Rect::new(0, 0, 20, 6)), false, rested).over.is_empty());
    }
}

#[test]
fn what_was_not_seen_for_longest_goes_when_there_is_too_much() {
    let mut graphics = graphics(Pictures::Auto);
    let big = || PictureForm::Kitty(vec![0; 10 << 20]);
    let numbers: Vec<u32> = (0..3).map(|n| graphics.take(&want(&n.to_string()), big()).0).collect();
    // The first is seen, and the others were not since they came.
    graphics.lay(&mut screen(numbers[0], 0..3), false, Instant::now());
    graphics.sent(numbers[0]);
    graphics.lay(&mut screen(numbers[0], 0..3), false, Instant::now());
    let (_, gone) = graphics.take(&want("new"), big());
    assert_eq!(gone, [numbers[1]]);
    assert_eq!(graphics.held(), [numbers[0]]);
}

#[test]
fn another_way_makes_everything_anew() {
    let mut graphics = graphics(Pictures::Auto);
    assert_eq!(graphics.way().unwrap().0, PictureWay::Kitty);
    assert_eq!(graphics.learn(&env, &ABLE), None);
    let (number, _) = graphics.take(&want("a.png"), form(PictureWay::Kitty));
    graphics.lay(&mut screen(number, 0..3), false, Instant::now());
    assert_eq!(graphics.learn(&env, &Able { cell: Some((12, 24)), ..ABLE }), Some(vec![number]));
    assert_eq!(graphics.learn(&env, &Able::default()), Some(Vec::new()));
    assert_eq!((graphics.cell(), graphics.way()), (None, None));
}
