//! Commands that the user types after `!`: they run at once, because the user said so, and what they print stands in the
//! conversation. The model is not asked; it sees them with the next message.

use super::state::{Machine, notice};
use super::user_input::give_back;
use crate::agent::machine_io::Step;
use crate::domain::ids::{At, CallId};
use crate::domain::message::Message;
use crate::domain::notice::Level;
use crate::domain::permission::Sandbox;
use crate::permit::shell::ReadOnlyProfile;
use crate::protocol::SessionCommand;
use crate::provider::ProposedCall;
use serde_json::json;

/// Seconds after which such a command is ended.
const TIMEOUT_S: u64 = 600;

impl Machine {
    /// Runs a command for the user.
    pub(super) fn typed(&mut self, now: At, command: &str, out: &mut Vec<Step>) {
        if self.turn.is_some() {
            let text = "Command not started: turn running.";
            out.push(notice(Level::Warning, text, "Run it when the turn ends; Esc stops the turn."));
            give_back(SessionCommand::Type { command: command.to_owned() }, text, out);
            return;
        }
        let rows: Vec<Message> = self.tell_death(now).into_iter().collect();
        self.title_by_beginning();
        if self.meta.title.is_empty() {
            self.meta.title = crate::domain::title::beginning(&format!("! {command}"));
        }
        self.runs.next();
        self.open_turn(now, rows, true, out);
        self.tell_confined(out);
        let id = format!("typed-{}-{}", self.stamp(now).0, self.letters());
        let input = json!({"command": command, "timeout_s": TIMEOUT_S});
        let call = ProposedCall { id: CallId::new(id), name: "bash".to_owned(), input };
        self.propose(now, None, vec![call], out);
    }

    /// Tells once that typed commands are confined like the agent's, unlike those in a shell of the user's.
    fn tell_confined(&mut self, out: &mut Vec<Step>) {
        let policy = self.config.policy;
        let closed = policy.read_only_profile != ReadOnlyProfile::None && policy.sandbox != Sandbox::None;
        if closed && self.announced.confined_is_news() {
            let hint = "Change `sandbox` in config.toml; your own shell is not confined.";
            out.push(notice(Level::Info, "! commands run in the sandbox, like the agent's.", hint));
        }
    }
}
