//! A setting as a face shows it: what it is, what it is set to, where that was said, and whether it can be changed while the
//! program runs.

use serde::{Deserialize, Serialize};

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Its name in config.toml, dotted: `ui.glyphs`.
    pub key: String,
    /// What it belongs to.
    pub group: SettingGroup,
    /// What it does, as a sentence.
    pub about: String,
    /// What it is set to.
    pub value: String,
    /// Where that was said.
    pub said: Said,
    /// What it can be set to from the screen, in order; empty where it is written in config.toml by hand.
    pub choices: Vec<String>,
    /// From when on a change holds.
    pub holds: Holds,
    /// What holds until the next start, where that is something else.
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

/// What a setting belongs to, in the order to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SettingGroup {
    /// How the screen looks.
    Screen,
    /// What new sessions begin with, and what becomes of them by themselves.
    Sessions,
    /// What the agent may do.
    Permissions,
    /// Limits.
    Limits,
    /// How files are kept.
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
            Self::Permissions => "what the agent may do",
            Self::Limits => "limits",
            Self::Files => "files",
        }
    }
}

/// Where a setting was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Said {
    /// Nowhere: it is the default.
    Default,
    /// On this line of config.toml.
    Line(usize),
    /// In the app, which keeps it elsewhere.
    Kept,
}

/// From when on a change of a setting holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Holds {
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
            said: Said::Default,
            choices: ["a", "b"].map(str::to_owned).to_vec(),
            holds: Holds::Now,
            until_then: None,
        };
        assert_eq!(setting.next(), Some("a"));
        setting.value = "odd".to_owned();
        assert_eq!(setting.next(), Some("a"));
        setting.choices.clear();
        assert_eq!(setting.next(), None);
    }
}
