//! Ten thousand keys by seed on screens of 1 to 300 cells a side: nothing panics, and the caret stays on the screen.

use super::{NOW, base, meta};
use lisle::app::msg::Msg;
use lisle::app::{resolve, start, update};
use lisle::domain::At;
use lisle::domain::contract::{Event, Stamped, VERSION};
use lisle::keymap;
use lisle::keymap::key::{Code, Key};
use lisle::theme::Theme;
use lisle::ui;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// A generator of numbers by seed (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(sides).unwrap()).unwrap()
    }
}

fn keys_of(name: &str) -> (keymap::Table, Vec<Key>) {
    let table = keymap::load_style(name).unwrap().table;
    let mut keys: Vec<Key> = table.bindings().iter().flat_map(|binding| binding.keys.clone()).collect();
    keys.extend("a /@#!\\?漢👩é".chars().map(Key::char));
    // What leads to the outside is for others to try.
    let outside = [Code::Char('q'), Code::Char('z')];
    keys.retain(|key| !(outside.contains(&key.code) && key.printable().is_none()));
    (table, keys)
}

#[test]
fn no_size_and_no_order_of_keys_breaks_the_screen() {
    let theme = Theme::builtin(true);
    for (seed, name) in [(0x5eed_0001, "default"), (0x5eed_0002, "vim"), (0x5eed_0003, "emacs")] {
        let mut dice = Dice(seed);
        let (table, keys) = keys_of(name);
        let mut state = base();
        state.keys = Arc::new(table);
        let mut now = NOW;
        start(&mut state, None);
        let sessions = ["a", "b", "c"].map(|name| meta(name, "A title", NOW)).to_vec();
        let listed = Stamped { v: VERSION, session: None, seq: 1, event: Event::Listed { sessions } };
        update(&mut state, now, Msg::Engine(Box::new(listed)));
        let mut cache = ui::Cache::default();
        for n in 0..3_334 {
            now = At(now.0 + [5, 200, 1_000][dice.roll(3)]);
            if n % 16 == 0 {
                let side = |dice: &mut Dice| u16::try_from(1 + dice.roll(300).min(dice.roll(300))).unwrap();
                let (width, height) = (side(&mut dice), side(&mut dice));
                update(&mut state, now, Msg::Resize { width, height });
            }
            let key = keys[dice.roll(keys.len())];
            let msg = resolve(&state, key);
            update(&mut state, now, msg);
            if n % 8 == 0 {
                let area = Rect::new(0, 0, state.size.width, state.size.height);
                let mut buffer = Buffer::empty(area);
                let look = ui::Look { theme: &theme, glyphs: ui::chat::Glyphs::Unicode, home: "/home/me" };
                let drawn = ui::render(&state, &look, &mut cache, &mut buffer);
                if let Some(caret) = drawn.cursor {
                    assert!(area.contains(caret), "{name} {n}: {caret:?} is not on {area:?}");
                }
                update(&mut state, now, Msg::Drawn(Box::new(drawn.frame)));
            }
        }
    }
}
