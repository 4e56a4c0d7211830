//! Usage hint for the command that is being typed.

use super::State;
use super::offer::OfferKind;
use crate::app::slash;

/// A command and how it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Name, including its sign.
    pub name: String,
    /// Arguments that can follow it; empty for none.
    pub usage: String,
    /// Description.
    pub description: String,
    /// Nothing stands behind it yet.
    pub bare: bool,
}

impl State {
    /// The command whose arguments are being written, built in or the user's own; `None` while its name is.
    #[must_use]
    pub fn hint(&self) -> Option<Hint> {
        let composer = self.composer();
        let [line] = composer.editor().lines() else { return None };
        if let Some(command) = line.strip_prefix('!') {
            return Some(Hint {
                name: "!".to_owned(),
                usage: "COMMAND".to_owned(),
                description: if self.running() {
                    "not during a turn: Enter when it ends"
                } else {
                    "runs now; its output joins the conversation"
                }
                .to_owned(),
                bare: command.trim().is_empty(),
            });
        }
        if composer.menu.as_ref().is_some_and(|menu| menu.kind == OfferKind::Commands) {
            return None;
        }
        let bare = line.trim_end().len() < line.len() && line.split_whitespace().count() == 1;
        Some(match slash::read(line)? {
            Ok(call) => Hint {
                name: format!("/{}", call.slash.word()),
                usage: call.slash.usage().to_owned(),
                description: call.slash.description().to_owned(),
                bare,
            },
            Err(unknown) => {
                let name = unknown.word.to_lowercase();
                let own = self.drafts.commands.iter().find(|own| own.name == name)?;
                Hint { name: format!("/{name}"), usage: own.hint.clone(), description: own.description.clone(), bare }
            }
        })
    }
}
