//! Commands of chats: `/session`, `/send`, `/status`, `/context`, `/compact`, `/stop`, `/queue` and the reset triggers.
//!
//! Reads commands and decides who may use them. Doing them, and the words of replies, are the caller's. A command must
//! be the whole message, so that a text that only mentions one is never a command.

mod authority;
#[cfg(test)]
mod tests;

pub use authority::{CommandVerdict, OwnerRules, Sender, SenderStanding, matches_sender, verdict};

use super::config::{QueueCap, QueueDrop, QueueMode, parse_duration};
use super::queue::QueueOverrides;
use super::reset::{AllowedModel, Trigger, find_trigger, without_mentions};
use super::send_policy::SendSetting;
use std::fmt;

/// Verb of `/session`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionVerb {
    /// New named session; `None` for a name by number.
    New {
        /// Name.
        name: Option<String>,
    },
    /// List.
    List,
    /// Switch to a name, slug or key.
    Switch {
        /// Target.
        target: String,
    },
    /// Show the active one.
    Current,
    /// Back to the main session: `close`, `main`, `switch main`, `switch`.
    Close,
}

/// View of `/context`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextView {
    /// Help.
    Help,
    /// Contributors.
    List,
    /// With every tool and skill.
    Detail,
    /// JSON.
    Json,
}

/// Argument of `/queue`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueCommand {
    /// Show the settings.
    Show,
    /// Remove the session's settings.
    Reset,
    /// Change the settings that are given.
    Set(QueueOverrides),
}

/// Command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnerCommand {
    /// `/session`
    Session(SessionVerb),
    /// `/send`
    Send(SendSetting),
    /// `/status`
    Status,
    /// `/context`
    Context(ContextView),
    /// `/compact`
    Compact {
        /// Instructions for the summary.
        instructions: Option<String>,
    },
    /// `/stop`, or a word such as `abort` as the whole message.
    Stop,
    /// `/new`, `/reset`, or another trigger of the settings.
    Reset(Trigger),
    /// `/queue`
    Queue(QueueCommand),
}

/// Error in a command's arguments. The message is not sent to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageError(pub &'static str);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Usage: {}", self.0)
    }
}

impl std::error::Error for UsageError {}

const SESSION_USAGE: UsageError = UsageError("/session new [name] | list | switch <name> | current | close");
const SEND_USAGE: UsageError = UsageError("/send on | off | inherit");
const CONTEXT_USAGE: UsageError = UsageError("/context list | detail | json");
const QUEUE_USAGE: UsageError = UsageError(
    "/queue steer | followup | collect | steer-backlog | interrupt [debounce:2s] [cap:25|off] \
     [drop:old|new|summarize] | reset",
);

/// Texts that stop a run when they are the whole message.
const STOP_WORDS: [&str; 33] = [
    "stop",
    "esc",
    "abort",
    "wait",
    "exit",
    "interrupt",
    "halt",
    "please stop",
    "stop please",
    "stop now",
    "cancel",
    "stopp",
    "anhalten",
    "aufhören",
    "hör auf",
    "bitte stopp",
    "arrête",
    "arrete",
    "arrêtez",
    "détente",
    "detente",
    "deténte",
    "basta",
    "fermati",
    "pare",
    "parar",
    "стоп",
    "остановись",
    "停止",
    "停",
    "やめて",
    "止めて",
    "توقف",
];

/// Words of the settings that commands are read with.
#[derive(Clone, Copy, Debug, Default)]
pub struct CommandWords<'a> {
    /// Reset triggers.
    pub triggers: &'a [String],
    /// Names that call the agent; those at a message's start do not count.
    pub mentions: &'a [&'a str],
    /// Models that a trigger may choose.
    pub models: &'a [AllowedModel],
}

/// Reads a message; `None` for one that is no command.
#[must_use]
pub fn parse(text: &str, words: &CommandWords<'_>) -> Option<Result<OwnerCommand, UsageError>> {
    if let Some(trigger) = find_trigger(text, words.triggers, words.mentions, words.models, true) {
        return Some(Ok(OwnerCommand::Reset(trigger)));
    }
    let text = without_mentions(text, words.mentions);
    if is_stop_word(text) {
        return Some(Ok(OwnerCommand::Stop));
    }
    let (name, rest) = split_word(text.strip_prefix('/')?);
    let (name, rest) = match name.split_once(':') {
        // `/send:on` and `/send: on`
        Some((name, glued)) => (name, format!("{glued} {rest}").trim().to_owned()),
        None => (name, rest.to_owned()),
    };
    match name.to_lowercase().as_str() {
        "session" => Some(session(&rest).map(OwnerCommand::Session)),
        "send" => send(&rest),
        "status" => rest.is_empty().then_some(Ok(OwnerCommand::Status)),
        "context" => Some(context(&rest).map(OwnerCommand::Context)),
        "compact" => Some(Ok(OwnerCommand::Compact { instructions: Some(rest).filter(|rest| !rest.is_empty()) })),
        // Whatever follows: somebody who writes `/stop it!` means it.
        "stop" => Some(Ok(OwnerCommand::Stop)),
        "queue" => Some(queue(&rest).map(OwnerCommand::Queue)),
        _ => None,
    }
}

fn is_stop_word(text: &str) -> bool {
    let is_end = |character: char| {
        character.is_whitespace()
            || (character.is_ascii_punctuation() && character != '/')
            || "…。！？、".contains(character)
    };
    STOP_WORDS.contains(&text.trim().trim_end_matches(is_end).to_lowercase().as_str())
}

fn split_word(text: &str) -> (&str, &str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (word, rest.trim())
}

/// Verb of `/session`. An unknown verb is an error and not a message, so that a typing mistake does not reach the
/// model.
fn session(rest: &str) -> Result<SessionVerb, UsageError> {
    let (verb, argument) = split_word(rest);
    let name = Some(argument.to_owned()).filter(|name| !name.is_empty());
    let alone = |verb: SessionVerb| if argument.is_empty() { Ok(verb) } else { Err(SESSION_USAGE) };
    match verb.to_lowercase().as_str() {
        "new" => Ok(SessionVerb::New { name }),
        "switch" => Ok(match name {
            Some(target) if target.to_lowercase() != "main" => SessionVerb::Switch { target },
            Some(_) | None => SessionVerb::Close,
        }),
        "" | "current" => alone(SessionVerb::Current),
        "list" => alone(SessionVerb::List),
        "main" | "close" => alone(SessionVerb::Close),
        _ => Err(SESSION_USAGE),
    }
}

fn send(rest: &str) -> Option<Result<OwnerCommand, UsageError>> {
    let setting = match rest.to_lowercase().as_str() {
        "on" | "allow" => SendSetting::On,
        "off" | "deny" => SendSetting::Off,
        "inherit" | "default" | "reset" => SendSetting::Inherit,
        // `/send on please` is a message.
        other if other.contains(char::is_whitespace) => return None,
        _ => return Some(Err(SEND_USAGE)),
    };
    Some(Ok(OwnerCommand::Send(setting)))
}

fn context(rest: &str) -> Result<ContextView, UsageError> {
    match rest.to_lowercase().as_str() {
        "" | "help" => Ok(ContextView::Help),
        "list" | "show" => Ok(ContextView::List),
        "detail" | "deep" => Ok(ContextView::Detail),
        "json" => Ok(ContextView::Json),
        _ => Err(CONTEXT_USAGE),
    }
}

fn queue(rest: &str) -> Result<QueueCommand, UsageError> {
    match rest.to_lowercase().as_str() {
        "" => return Ok(QueueCommand::Show),
        "default" | "reset" | "clear" => return Ok(QueueCommand::Reset),
        _ => {}
    }
    let mut overrides = QueueOverrides::default();
    for (index, word) in rest.to_lowercase().split_whitespace().enumerate() {
        match word.split_once(':') {
            None if index == 0 => overrides.mode = Some(queue_mode(word).ok_or(QUEUE_USAGE)?),
            Some(("debounce", time)) => overrides.debounce_ms = Some(parse_duration(time, 1).map_err(|_| QUEUE_USAGE)?),
            Some(("cap", "off" | "none" | "false")) => overrides.cap = Some(QueueCap(None)),
            Some(("cap", number)) => {
                let number = number.parse().ok().filter(|number| *number > 0);
                overrides.cap = Some(QueueCap(Some(number.ok_or(QUEUE_USAGE)?)));
            }
            Some(("drop", "old")) => overrides.drop = Some(QueueDrop::Old),
            Some(("drop", "new")) => overrides.drop = Some(QueueDrop::New),
            Some(("drop", "summarize" | "summarise")) => overrides.drop = Some(QueueDrop::Summarize),
            _ => return Err(QUEUE_USAGE),
        }
    }
    Ok(QueueCommand::Set(overrides))
}

fn queue_mode(word: &str) -> Option<QueueMode> {
    match word {
        "steer" | "queue" => Some(QueueMode::Steer),
        "followup" => Some(QueueMode::Followup),
        "collect" => Some(QueueMode::Collect),
        "steer-backlog" => Some(QueueMode::SteerBacklog),
        "interrupt" => Some(QueueMode::Interrupt),
        _ => None,
    }
}
