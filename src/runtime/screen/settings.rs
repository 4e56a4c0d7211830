//! Settings that are used at once, and the doctor's look with what this terminal answered.

use super::Screen;
use crate::domain::finding::Finding;
use crate::runtime::client::background_tasks;
use crate::runtime::environment::env;
use crate::runtime::frames::Pace;
use crate::runtime::terminal_cache::TerminalAnswers;
use crate::runtime::{notify, renderer};
use crate::ui::glyphs::GlyphSet;

impl Screen {
    /// Uses a setting from now on where that can be, and writes it into config.toml.
    pub(super) fn set(&mut self, key: String, value: String) {
        match (key.as_str(), value.as_str()) {
            ("ui.glyphs", word) => {
                self.auto_glyphs = !matches!(word, "unicode" | "ascii");
                self.renderer.glyphs(match word {
                    "unicode" => GlyphSet::Unicode,
                    "ascii" => GlyphSet::Ascii,
                    _ => renderer::signs(self.answers.known.wide_signs, &env),
                });
            }
            ("ui.notify", word) => self.notify = notify::named(word),
            ("ui.fps", fps) => self.frames.pace = Pace::new(fps.parse().unwrap_or(60)),
            _ => {}
        }
        background_tasks::change_setting(&self.client.events, &self.client.files.settings, key, value);
    }

    /// The doctor's look, with what this terminal answered.
    pub(super) fn look(&self) {
        background_tasks::examine(
            &self.client.events,
            &self.client.files.examine,
            Some(answers(self.answers.known, self.hyperlinks.known)),
        );
    }
}

/// Findings about the terminal's answers.
fn answers(known: TerminalAnswers, links: bool) -> Finding {
    let whole = if known.synchronized { "synchronized frames" } else { "unsynchronized frames" };
    let ground = match known.dark() {
        Some(true) => "dark background",
        Some(false) => "light background",
        None => "unknown background",
    };
    let links = if links { "clickable links" } else { "no links" };
    Finding::ok("answers", format!("{ground}; {whole}; {links}"))
}
