//! Anything in any order, by seed: keys of all keymaps, verbs, the mouse, pastes, the focus, timers, and everything that an
//! engine may send, on screens of 1 to 300 cells a side. Nothing panics, nothing is drawn outside, and no control character
//! becomes a cell.
//!
//! `LISLE_SEED=N` tries that seed, `LISLE_STEPS=N` so many steps of it; a failure says which seed it was and which step.

#[path = "any_event.rs"]
mod any_event;

use super::{NOW, base, meta};
use lisle::app::effect::Effect;
use lisle::app::msg::{Mouse, MouseKind, Msg, Timer};
use lisle::app::{State, resolve, start, update};
use lisle::domain::At;
use lisle::keymap;
use lisle::keymap::action::Action;
use lisle::keymap::key::{Code, Key};
use lisle::protocol::{EngineEvent, Event, Stamped};
use lisle::theme::Theme;
use lisle::ui;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A generator of numbers by seed (xorshift).
pub struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        // Small seeds are alike in their first numbers.
        let mut dice = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            dice.roll(2);
        }
        dice
    }

    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(sides.max(1)).unwrap()).unwrap()
    }

    pub fn once_in(&mut self, times: usize) -> bool {
        self.roll(times) == 0
    }

    pub fn of<T: Clone>(&mut self, things: &[T]) -> T {
        things[self.roll(things.len())].clone()
    }

    /// A text that is hard to show, of up to some pieces.
    pub fn text(&mut self) -> String {
        const PIECES: [&str; 22] = [
            "word ",
            "\n",
            "\t",
            "漢字",
            "👩\u{200d}👩\u{200d}👧",
            "🇩🇪",
            "❤\u{fe0f}",
            "e\u{301}",
            "שלום",
            "\u{202e}",
            "\u{200b}",
            "\u{1b}[31m",
            "\u{7}",
            "# ",
            "- ",
            "| a | b |\n|---|---|\n| c | d |\n",
            "```rust\nfn x() {}\n```\n",
            "https://example.org/a ",
            "**b** ",
            "$x$ ",
            "/new ",
            "loooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooong ",
        ];
        let long = if self.once_in(20) { 400 } else { 8 };
        (0..self.roll(long)).map(|_| self.of(&PIECES)).collect()
    }
}

/// Says which seed it was, when the test fails.
struct Told {
    seed: u64,
    keymap: &'static str,
    step: usize,
    last: String,
}

impl Drop for Told {
    #[allow(clippy::print_stderr, reason = "the seed of a failure is what one needs of it")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self { seed, keymap, step, last } = self;
            eprintln!("failed with LISLE_SEED={seed}, keymap {keymap}, step {step}: {last}");
        }
    }
}

fn keys_of(name: &str) -> (keymap::Table, Vec<Key>) {
    let table = keymap::load_style(name).unwrap().table;
    let keys: BTreeSet<Key> = table.bindings().iter().flat_map(|binding| binding.keys.clone()).collect();
    let mut keys: Vec<Key> = keys.into_iter().collect();
    keys.extend("a /@#!\\?漢👩é".chars().map(Key::char));
    keys.extend([Code::Enter, Code::Esc, Code::Up, Code::Down, Code::Tab].map(Key::plain));
    (table, keys)
}

/// Next step.
fn any_msg(dice: &mut Dice, state: &State, keys: &[Key], armed: &[Timer], seq: &mut u64) -> Vec<Msg> {
    let size = state.screen.size;
    match dice.roll(100) {
        0..=49 => vec![resolve(state, dice.of(keys))],
        50..=54 => {
            let action = dice.of(Action::ALL);
            vec![Msg::Act { action, key: dice.once_in(2).then(|| dice.of(keys)) }]
        }
        55..=62 => {
            let at = |dice: &mut Dice, side: u16| u16::try_from(dice.roll(usize::from(side) + 2)).unwrap();
            let kinds =
                [MouseKind::Press, MouseKind::Drag, MouseKind::Release, MouseKind::WheelUp, MouseKind::WheelDown];
            let (col, row) = (at(dice, size.width), at(dice, size.height));
            let press = Mouse { kind: dice.of(&kinds), col, row };
            let drag = Mouse { kind: MouseKind::Drag, col: at(dice, size.width), row: at(dice, size.height) };
            let release = Mouse { kind: MouseKind::Release, ..drag };
            let whole = press.kind == MouseKind::Press && dice.once_in(2);
            if whole { [press, drag, release].map(Msg::Mouse).to_vec() } else { vec![Msg::Mouse(press)] }
        }
        63..=65 => vec![Msg::Paste(dice.text())],
        66..=67 => vec![Msg::Focus(dice.once_in(2))],
        68..=71 => armed.last().map(|_| Msg::Timer(dice.of(armed))).into_iter().collect(),
        72..=73 => vec![any_event::of_the_outside(dice)],
        _ => any_event::of_the_engine(dice, state)
            .into_iter()
            .map(|event| {
                *seq += 1;
                Msg::Engine(Box::new(Stamped::new(*seq, event)))
            })
            .collect(),
    }
}

fn run(seed: u64, name: &'static str, steps: usize) {
    let theme = Theme::builtin(true);
    let mut dice = Dice::new(seed);
    let (table, keys) = keys_of(name);
    let mut state = base();
    state.keys = Arc::new(table);
    let (mut now, mut seq) = (NOW, 1);
    let mut armed: Vec<Timer> = Vec::new();
    start(&mut state, None);
    let sessions = ["a", "b", "c"].map(|name| meta(name, "A title", NOW)).to_vec();
    let listed = Stamped::new(seq, Event::Engine(EngineEvent::Listed { sessions }));
    update(&mut state, now, Msg::Engine(Box::new(listed)));
    let mut cache = ui::LayoutCache::default();
    let mut told = Told { seed, keymap: name, step: 0, last: String::new() };
    for step in 0..steps {
        told.step = step;
        now = At(now.0 + [5, 200, 1_000][dice.roll(3)]);
        if step % 16 == 0 {
            let side = |dice: &mut Dice| u16::try_from(1 + dice.roll(300).min(dice.roll(300))).unwrap();
            let (width, height) = (side(&mut dice), side(&mut dice));
            update(&mut state, now, Msg::Resize { width, height });
        }
        for msg in any_msg(&mut dice, &state, &keys, &armed, &mut seq) {
            told.last = format!("{msg:?}").chars().take(300).collect();
            for effect in update(&mut state, now, msg) {
                match effect {
                    Effect::Arm { timer, .. } if !armed.contains(&timer) => armed.push(timer),
                    Effect::Disarm(timer) => armed.retain(|other| *other != timer),
                    _ => {}
                }
            }
        }
        if step % 8 == 0 || dice.once_in(16) {
            told.last.push_str(", drawing");
            let area = Rect::new(0, 0, state.screen.size.width, state.screen.size.height);
            let mut buffer = Buffer::empty(area);
            let glyphs = if dice.once_in(4) { ui::glyphs::GlyphSet::Ascii } else { ui::glyphs::GlyphSet::Unicode };
            let look = ui::Appearance { theme: &theme, glyphs, home: "/home/me" };
            let drawn = ui::render(&state, &look, &mut cache, &mut buffer);
            if let Some(caret) = drawn.cursor {
                assert!(area.contains(caret), "{caret:?} is not on {area:?}");
            }
            for (place, target) in &drawn.frame.areas {
                assert!(
                    place.x + place.w <= area.width && place.y + place.h <= area.height,
                    "{target:?} is at {place:?}"
                );
            }
            let acts = |symbol: &str| symbol.chars().any(|c| c.is_control() || c == '\u{202e}');
            let bad = buffer.content.iter().find(|cell| acts(cell.symbol()));
            assert!(bad.is_none(), "{bad:?} is on the screen");
            update(&mut state, now, Msg::Drawn(Box::new(drawn.frame)));
        }
    }
}

#[test]
fn no_size_and_no_order_of_events_breaks_the_screen() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let steps = number("LISLE_STEPS").and_then(|steps| usize::try_from(steps).ok()).unwrap_or(3_334);
    for (n, name) in (0..).zip(keymap::names().collect::<Vec<_>>()) {
        run(number("LISLE_SEED").unwrap_or(0x5eed_0001 + n), name, steps);
    }
}
