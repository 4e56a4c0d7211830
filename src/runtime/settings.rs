//! Settings and the doctor for clients: read and changed beside the loop.

use super::face::{Face, Told};
use super::frames::Pace;
use super::memory::Known;
use super::{Look, SettingsFile, canvas, deeds, notify};
use crate::app::Msg;
use crate::config::settings::{self, Settings, write};
use crate::domain::finding::Finding;
use crate::domain::setting::Setting;
use crate::domain::{Level, Notice};
use crate::ui::glyphs::GlyphSet;
use tokio::sync::mpsc::UnboundedSender;

impl Face {
    /// Uses a setting from now on where that can be, and writes it into config.toml.
    pub(super) fn set(&mut self, key: String, value: String) {
        match (key.as_str(), value.as_str()) {
            ("ui.glyphs", word) => {
                self.auto_signs = !matches!(word, "unicode" | "ascii");
                self.canvas.glyphs(match word {
                    "unicode" => GlyphSet::Unicode,
                    "ascii" => GlyphSet::Ascii,
                    _ => canvas::signs(self.known.wide_signs, &deeds::env),
                });
            }
            ("ui.notify", word) => self.notify = notify::named(word),
            ("ui.fps", fps) => self.pace = Pace::new(fps.parse().unwrap_or(60)),
            _ => {}
        }
        change(&self.tell, &self.settings, key, value);
    }

    /// The doctor's look, with what this terminal answered.
    pub(super) fn look(&self) {
        look(&self.tell, &self.look, Some(answers(self.known, self.links)));
    }
}

/// Reads the settings.
pub(super) fn read(tell: &UnboundedSender<Told>, settings: &SettingsFile) {
    let (tell, settings) = (tell.clone(), settings.clone());
    tokio::task::spawn_blocking(move || {
        let _ = tell.send(Told::Msg(Msg::Settings(settings.shown())));
    });
}

/// Writes a setting into config.toml, and reads all of them again.
pub(super) fn change(tell: &UnboundedSender<Told>, settings: &SettingsFile, key: String, value: String) {
    let (tell, settings) = (tell.clone(), settings.clone());
    tokio::task::spawn_blocking(move || {
        if let Err(why) = write::set(&settings.path, &key, &value) {
            let _ = tell.send(Told::Msg(Msg::Notice(Notice::new(Level::Error, why))));
        }
        let _ = tell.send(Told::Msg(Msg::Settings(settings.shown())));
    });
}

/// Looks at this machine and this installation.
pub(super) fn look(tell: &UnboundedSender<Told>, look: &Look, terminal: Option<Finding>) {
    let (tell, look) = (tell.clone(), look.clone());
    tokio::task::spawn_blocking(move || {
        let mut findings = look();
        if let Some(terminal) = terminal {
            let at = findings.iter().position(|one| one.about == "characters").unwrap_or(findings.len());
            findings.insert(at, terminal);
        }
        let _ = tell.send(Told::Msg(Msg::Doctor(findings)));
    });
}

impl SettingsFile {
    /// The settings as config.toml says them now.
    fn shown(&self) -> Vec<Setting> {
        // What cannot be read was told at the start.
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        let (now, _) = Settings::parse(&self.path, &text);
        settings::shown::shown(&now, &self.started, &text)
    }
}

/// Findings about the terminal's answers.
fn answers(known: Known, links: bool) -> Finding {
    let whole = if known.synchronized { "frames appear as a whole" } else { "frames appear as they come" };
    let ground = match known.dark() {
        Some(true) => "a dark background",
        Some(false) => "a light background",
        None => "a background that it did not tell",
    };
    let links = if links { "links can be clicked" } else { "no links" };
    Finding::ok("answers", format!("{ground}; {whole}; {links}"))
}
