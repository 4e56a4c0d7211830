//! The user's settings: config.toml and what it said at the start.

use crate::config::settings::{self, Settings};
use crate::domain::setting::Setting;
use std::path::PathBuf;

/// The user's settings, where they are and what they were.
#[derive(Clone, Debug)]
pub struct SettingsFile {
    /// config.toml.
    pub path: PathBuf,
    /// Settings at the start.
    pub started: Settings,
}

impl SettingsFile {
    /// The settings as config.toml says them now. What cannot be read was told at the start.
    pub(in crate::runtime) fn now(&self) -> Settings {
        Settings::parse(&self.path, &self.text()).0
    }

    /// The same, for the list of settings.
    pub(in crate::runtime) fn shown(&self) -> Vec<Setting> {
        let text = self.text();
        settings::shown::shown(&Settings::parse(&self.path, &text).0, &self.started, &text)
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.path).unwrap_or_default()
    }
}
