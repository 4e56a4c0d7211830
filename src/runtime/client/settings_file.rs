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
    /// The settings as config.toml says them now.
    pub(in crate::runtime) fn shown(&self) -> Vec<Setting> {
        // What cannot be read was told at the start.
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        let (now, _) = Settings::parse(&self.path, &text);
        settings::shown::shown(&now, &self.started, &text)
    }
}
