//! Everything that is hard to show, at five sizes and in four ways to colour: as text once a size, as runs of styles where
//! the theme matters, and by rules for all of them. With `LISLE_PICTURES=DIR` each screen is also written there as SVG.

// What goes wrong in a helper of a test is the test's failure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod rules;
mod scenes;
use crate::screen;

use lisle::theme::{Colors, Theme};
use lisle::ui::glyphs::GlyphSet;
use scenes::Scene;
use std::fmt::Write as _;

const SIZES: [(u16, u16); 5] = [(140, 40), (100, 30), (80, 24), (40, 10), (20, 5)];

/// A way to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shade {
    Dark,
    Light,
    /// The 16 of the user's terminal.
    Sixteen,
    /// NO_COLOR.
    Mono,
}

impl Shade {
    const ALL: [Shade; 4] = [Shade::Dark, Shade::Light, Shade::Sixteen, Shade::Mono];

    fn theme(self) -> Theme {
        match self {
            Shade::Dark => Theme::builtin(true),
            Shade::Light => Theme::builtin(false),
            Shade::Sixteen => Theme::builtin(true).for_terminal(Colors::C16),
            Shade::Mono => Theme::builtin(true).for_terminal(Colors::None),
        }
    }
}

#[test]
fn every_scene_at_every_size() {
    for (width, height) in SIZES {
        let mut all = String::new();
        for scene in Scene::ALL {
            let state = scene.state(width, height);
            let shot = screen::shot(&format!("matrix-{}", scene.name()), &state, width, height);
            writeln!(all, "=== {} ===\n{shot}\n", scene.name()).unwrap();
        }
        insta::assert_snapshot!(format!("{width}x{height}"), all);
    }
}

#[test]
fn styles_where_the_theme_matters() {
    for shade in Shade::ALL {
        let mut all = String::new();
        for scene in [Scene::Table, Scene::Changes, Scene::Approval, Scene::Palette] {
            let state = scene.state(80, 24);
            let (buf, _) = screen::draw_with(&state, &shade.theme(), GlyphSet::Unicode, 80, 24);
            writeln!(all, "=== {} ===\n{}", scene.name(), rules::runs(&buf)).unwrap();
        }
        insta::assert_snapshot!(format!("styles-{shade:?}").to_lowercase(), all);
    }
}

#[test]
fn what_holds_on_every_screen() {
    let mut looked = 0;
    for scene in Scene::ALL {
        for (width, height) in SIZES {
            let state = scene.state(width, height);
            for shade in Shade::ALL {
                let theme = shade.theme();
                for glyphs in [GlyphSet::Unicode, GlyphSet::Ascii] {
                    let (buf, drawn) = screen::draw_with(&state, &theme, glyphs, width, height);
                    let place = format!("{} {width}x{height} {shade:?} {glyphs:?}", scene.name());
                    rules::cells(&place, &buf);
                    rules::borders(&place, &state, &buf, &drawn, glyphs);
                    rules::status(&place, &state, &buf);
                    rules::signs(&place, &state, &buf, glyphs);
                    rules::caret(&place, &buf, &drawn);
                    rules::clickable(&place, &buf, &drawn, glyphs);
                    let sent = rules::sent(buf.clone(), &drawn);
                    rules::bytes(&place, &sent);
                    rules::emulated(&place, &buf, &sent);
                    match shade {
                        Shade::Dark | Shade::Light => rules::contrast(&place, &theme, &buf),
                        Shade::Sixteen => rules::only_sixteen(&place, &sent),
                        Shade::Mono => rules::no_colours(&place, &sent),
                    }
                    looked += 1;
                }
            }
        }
    }
    assert_eq!(looked, Scene::ALL.len() * 5 * 4 * 2);
}

/// The screen as lines of text.
fn lines(state: &lisle::app::State, width: u16, height: u16) -> String {
    let (buf, _) = screen::draw_with(state, &Theme::builtin(true), GlyphSet::Unicode, width, height);
    screen::text(&screen::terminal(&buf))
}

#[test]
fn every_answer_of_a_window_is_on_the_screen_whatever_it_says() {
    use lisle::app::state::overlay::{Confirm, Deed, Overlay};
    let long = "a word and one more ".repeat(30);
    for (width, height) in [(40, 10), (40, 12), (80, 24), (140, 40)] {
        for title in ["Quit?", "Clear “A title that is about as wide as a screen”?", &long] {
            for says in [vec!["Short.".to_owned()], vec![long.clone(), long.clone()]] {
                for verb in ["go", "move all of it to the trash"] {
                    let mut state = Scene::Top.state(width, height);
                    let deed = Deed::Copy(String::new());
                    let asked = Confirm::new(title, says.clone(), verb, deed);
                    state.overlays.push(Overlay::Confirm(Box::new(asked)));
                    let shown = lines(&state, width, height);
                    // What is longer than the sheet is read to its end first.
                    let goes_on = shown.contains("more lines") && shown.contains("enter read on");
                    assert!(goes_on || shown.contains(&format!("enter {verb}")), "{width}x{height}:\n{shown}");
                    assert!(shown.contains("esc close"), "{width}x{height}:\n{shown}");
                    assert!(shown.contains(says[0].split(' ').next().unwrap()), "{shown}");
                }
            }
        }
    }
}

#[test]
fn every_answer_to_a_request_is_on_a_small_screen_whichever_is_selected() {
    for (scene, keys) in [
        (Scene::Approval, ["y", "s", "w", "n", "r", "e"].as_slice()),
        (Scene::Plan, &["y", "approve, Execute", "s", "approve, compact, Execute", "r", "v", "n"]),
    ] {
        for selected in 0..keys.len() {
            let mut state = scene.state(40, 10);
            let panel = scenes::open(&mut state).panel.as_mut().unwrap();
            assert_eq!(panel.choices.len(), keys.len());
            panel.selected = Some(selected);
            let keeps = panel.choices[selected].scope().is_some();
            let shown = lines(&state, 40, 10);
            if keeps {
                // The other answers give way to all that a yes for longer keeps.
                assert!(shown.contains("worst case"), "{shown}");
                assert!(shown.contains(&format!("{} of {}", selected + 1, keys.len())), "{shown}");
                continue;
            }
            for key in keys {
                // One that no letter selects has its words alone.
                let is_letter = key.len() == 1;
                let is_there = if is_letter { shown.contains(&format!(" {key} ")) } else { shown.contains(key) };
                let is_chosen = !is_letter && keys[selected] == *key;
                assert!(is_there || is_chosen, "{key} with {selected} selected:\n{shown}");
            }
        }
    }
}

#[test]
fn a_request_that_takes_no_answer_here_says_so_on_a_small_screen() {
    for scene in [Scene::Approval, Scene::Plan] {
        let mut state = scene.state(40, 10);
        let mut meta = state.current_meta().cloned().unwrap();
        meta.held_by = Some("another lisle (process 4711)".to_owned());
        state.sessions.put(meta, screen::NOW, 0);
        let shown = lines(&state, 40, 10);
        assert!(shown.contains("answer here") && shown.contains("/takeover"), "{shown}");
    }
}
