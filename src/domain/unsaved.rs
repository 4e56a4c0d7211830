//! Content that a session could not save, and the place where its text was put instead.

use super::ids::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Hint of a notice about rows that could not be saved, as long as they are in memory.
pub const KEPT_IN_MEMORY: &str = "Kept in memory until it can be saved.";
/// Notice that nothing waits in memory any more.
pub const SAVED_AGAIN: &str = "Everything is saved again";

/// The part of a session that is not in its files, told when nothing more will be tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unsaved {
    /// The session.
    pub session: SessionId,
    /// Its title, or the start of its first message.
    pub title: String,
    /// Reason, as a sentence.
    pub why: String,
    /// Messages that its files lack.
    pub rows: usize,
    /// Place of the text.
    pub refuge: Refuge,
}

/// Place of text that could not be saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Refuge {
    /// In a file of its own: text to read, then the rows, which `lisle sessions import` takes.
    File(PathBuf),
    /// Beside the session, where another process writes it now: rows as they would stand in the session.
    Salvage(PathBuf),
    /// No file could be written either: the text itself, and why.
    Nowhere {
        /// Reason why no file could be written, as a sentence.
        why: String,
        /// The text.
        text: String,
    },
}

impl Unsaved {
    /// The reason first, and where the text is, for one row of a screen.
    #[must_use]
    pub fn brief(&self) -> (String, String) {
        let n = match self.rows {
            0 => "The last changes were".to_owned(),
            1 => "1 message was".to_owned(),
            n => format!("{n} messages were"),
        };
        match &self.refuge {
            Refuge::Salvage(_) => (
                format!("{n} not saved: another process took over this session."),
                "Up restores your message".to_owned(),
            ),
            Refuge::File(path) => {
                (format!("{n} not saved. {}", self.why), format!("saved as text in {}", path.display()))
            }
            Refuge::Nowhere { .. } => (format!("{n} not saved. {}", self.why), "copy what you need".to_owned()),
        }
    }

    /// Everything about it, for a terminal: what is missing, why, and where it is.
    #[must_use]
    pub fn words(&self) -> String {
        let Self { session, title, why, rows, refuge } = self;
        let what = match rows {
            0 => "The last changes".to_owned(),
            1 => "One message".to_owned(),
            n => format!("{n} messages"),
        };
        let name = if title.trim().is_empty() { String::new() } else { format!(" ({})", title.trim()) };
        let mut words = format!("Not saved: {what} of session {session}{name}. {why}\n");
        match refuge {
            Refuge::File(path) => {
                let path = path.display();
                words
                    .push_str(&format!("The text is in {path}\nImport it as a session:  lisle sessions import {path}"));
            }
            Refuge::Salvage(path) => words.push_str(&format!("The text is in {}", path.display())),
            Refuge::Nowhere { why, text } => {
                words.push_str(&format!("{why} This is the text:\n\n{}", text.trim_end()));
            }
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_say_what_is_missing_why_and_where_it_is() {
        let of = |rows, title: &str, refuge| Unsaved {
            session: SessionId::parse("261123-calm-river").unwrap(),
            title: title.into(),
            why: "The disk is full.".into(),
            rows,
            refuge,
        };
        let file = || Refuge::File("/tmp/x.txt".into());
        let nowhere = Refuge::Nowhere { why: "/tmp is full too.".into(), text: "hello\n".into() };
        let cases = [
            (
                of(2, "Rivers", file()),
                "Not saved: 2 messages of session 261123-calm-river (Rivers). The disk is full.\nThe text is in /tmp/x.txt\nImport it as a session:  lisle sessions import /tmp/x.txt",
            ),
            (
                of(1, "", Refuge::Salvage("/s/session.jsonl.salvage".into())),
                "Not saved: One message of session 261123-calm-river. The disk is full.\nThe text is in /s/session.jsonl.salvage",
            ),
            (
                of(0, " ", nowhere),
                "Not saved: The last changes of session 261123-calm-river. The disk is full.\n/tmp is full too. This is the text:\n\nhello",
            ),
        ];
        let late = of(1, "", Refuge::Salvage("/s/session.jsonl.salvage".into())).brief();
        assert_eq!(late.0, "1 message was not saved: another process took over this session.");
        assert_eq!(of(2, "", file()).brief().1, "saved as text in /tmp/x.txt");
        for (unsaved, words) in cases {
            assert_eq!(unsaved.words(), words);
            let json = serde_json::to_string(&unsaved).unwrap();
            assert_eq!(serde_json::from_str::<Unsaved>(&json).unwrap(), unsaved);
        }
    }
}
