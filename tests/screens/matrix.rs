//! Everything that is hard to show, at five sizes and in four ways to colour: as text once a size, as runs of styles where
//! the theme matters, and by rules for all of them. With `LISLE_PICTURES=DIR` each screen is also written there as SVG.

// What goes wrong in a helper of a test is the test's failure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod rules;
mod scenes;
use crate::screen;

use lisle::theme::{Colors, Theme};
use lisle::ui::chat::Glyphs;
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
            let (buf, _) = screen::draw_with(&state, &shade.theme(), Glyphs::Unicode, 80, 24);
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
                for glyphs in [Glyphs::Unicode, Glyphs::Ascii] {
                    let (buf, drawn) = screen::draw_with(&state, &theme, glyphs, width, height);
                    let place = format!("{} {width}x{height} {shade:?} {glyphs:?}", scene.name());
                    rules::cells(&place, &buf);
                    rules::borders(&place, &state, &buf, &drawn, glyphs);
                    rules::status(&place, &state, &buf);
                    rules::signs(&place, &state, &buf, glyphs);
                    rules::caret(&place, &buf, &drawn);
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
