//! A setting as a client shows it: what it is, what it is set to, where that was said, and whether it can be changed while the
//! program runs.

use serde::{Deserialize, Serialize};

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Its name in config.toml, dotted: `ui.glyphs`.
    pub key: String,
    /// Group.
    pub group: SettingGroup,
    /// Description, as a sentence.
    pub about: String,
    /// Value.
    pub value: String,
    /// Source of the value.
    pub said: SettingSource,
    /// Values that the screen can set, in order; empty if it is edited in config.toml by hand.
    pub choices: Vec<String>,
    /// When a change takes effect.
    pub takes_effect: TakesEffect,
    /// Value until the next start, if different.
    pub until_then: Option<String>,
}

impl Setting {
    /// The choice after the one in force, around; `None` where there is nothing to choose.
    #[must_use]
    pub fn next(&self) -> Option<&str> {
        let now = self.choices.iter().position(|choice| *choice == self.value);
        let next = now.map_or(0, |now| (now + 1) % self.choices.len().max(1));
        self.choices.get(next).map(String::as_str)
    }
}

/// Group of settings, in the order to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SettingGroup {
    /// Look of the screen.
    Screen,
    /// Defaults and automatic changes of sessions.
    Sessions,
    /// Permissions of the agent.
    Permissions,
    /// Limits.
    Limits,
    /// Storage of files.
    Files,
}

impl SettingGroup {
    /// All of them, in order.
    pub const ALL: [SettingGroup; 5] = [Self::Screen, Self::Sessions, Self::Permissions, Self::Limits, Self::Files];

    /// In a word or two.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Screen => "screen",
            Self::Sessions => "sessions",
            Self::Permissions => "permissions",
            Self::Limits => "limits",
            Self::Files => "files",
        }
    }
}

/// Source of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SettingSource {
    /// Nowhere: it is the default.
    Default,
    /// On this line of config.toml.
    Line(usize),
    /// In the app, which keeps it elsewhere.
    Kept,
}

/// When a change takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TakesEffect {
    /// At once.
    Now,
    /// From the next start on.
    NextStart,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_go_around() {
        let mut setting = Setting {
            key: "ui.glyphs".to_owned(),
            group: SettingGroup::Screen,
            about: String::new(),
            value: "b".to_owned(),
            said: SettingSource::Default,
            choices: ["a", "b"].map(str::to_owned).to_vec(),
            takes_effect: TakesEffect::Now,
            until_then: None,
        };
        assert_eq!(setting.next(), Some("a"));
        setting.value = "odd".to_owned();
        assert_eq!(setting.next(), Some("a"));
        setting.choices.clear();
        assert_eq!(setting.next(), None);
    }
}
