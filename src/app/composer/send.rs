//! Sending: what Enter does with a draft, and what comes back when the engine refuses it.

use crate::app::effect::Effect;
use crate::app::shell::{draft, scroll, session};

use crate::app::state::composer::Composer;
use crate::app::state::notices::TrueWhile;
use crate::app::state::open::Handed;
use crate::app::state::{Current, State};
use crate::domain::ids::SessionId;
use crate::domain::message::UserText;
use crate::domain::{Level, Notice};
use crate::protocol::SessionCommand;

/// Way of sending a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// While a turn runs it waits for its end.
    Queue,
    /// While a turn runs it goes into it.
    Steer,
}

/// Number of sent messages that can still come back with their chips.
const HANDED: usize = 8;

/// Sends a message, and the draft with it is gone. False: it was not sent, and the user was told why.
pub(crate) fn send(state: &mut State, text: String, how: How, fx: &mut Vec<Effect>) -> bool {
    send_said(state, UserText::from(text), how, fx)
}

/// Sends words that others wrote, and that the user agreed to: they call nothing by its name.
pub(crate) fn send_of_others(state: &mut State, text: String, fx: &mut Vec<Effect>) {
    send_said(state, UserText { piped: Some(0), ..UserText::from(text) }, How::Queue, fx);
}

fn send_said(state: &mut State, said: UserText, how: How, fx: &mut Vec<Effect>) -> bool {
    let UserText { text, piped, .. } = said;
    if let Some(id) = state.current_id().cloned()
        && draft::is_held(state, &id, fx)
    {
        return false;
    }
    if state.composer().files().coming().next().is_some() {
        let text = "Not sent: a file is still copying into the session";
        state.notify(Notice::new(Level::Info, text).hint("try again in a moment"));
        return false;
    }
    let composer = state.composer().clone();
    state.composer_mut().take();
    let attachments = state.composer_mut().take_files().there();
    draft::remember(state, &text, fx);
    let steer = how == How::Steer && state.running();
    let Current::Session(id) = state.conversations.current.clone() else {
        state.lobby.sent.push(UserText { piped, ..UserText::with(text, attachments) });
        return true;
    };
    scroll::to_end(state, fx);
    state.conversations.left_unread = None;
    let act = if steer {
        SessionCommand::Steer { text, attachments, piped }
    } else {
        SessionCommand::Send { text, attachments, piped }
    };
    hand(state, &id, act, composer, fx);
    true
}

/// Sends what the user wrote. Until it is sent away by others, the composer can be brought back as it stood.
fn hand(state: &mut State, id: &SessionId, act: SessionCommand, composer: Composer, fx: &mut Vec<Effect>) {
    if let (Some(open), Some(said)) = (state.conversations.open.get_mut(id), act.said()) {
        open.handed.push_back(Handed { said, composer });
        if open.handed.len() > HANDED {
            open.handed.pop_front();
        }
    }
    fx.push(session::to(id, act));
}

/// The engine did not take what the user wrote: it stands where it was written.
pub(crate) fn refused(state: &mut State, id: &SessionId, act: &SessionCommand) {
    let Some(said) = act.said() else { return };
    let Some(open) = state.conversations.open.get_mut(id) else {
        // Nobody looks at that session any more. What was sent is in the history.
        return state.drafts.history.push(&said.text);
    };
    let handed = open.handed.iter().rposition(|handed| handed.said == said);
    let handed = handed.and_then(|at| open.handed.remove(at)).filter(|handed| !handed.composer.has_no_text());
    let before = match handed {
        Some(handed) => handed.composer,
        // It was written behind a command.
        None => {
            let mut composer = Composer::default();
            composer.set(&said.text);
            composer.files_mut().add(said.attachments);
            composer
        }
    };
    open.composer.bring_back(before);
}

/// The command of a draft that begins with `!`.
pub(crate) fn command(draft: &str) -> Option<&str> {
    draft.strip_prefix('!').map(str::trim)
}

/// Programs that take the whole terminal. Without one some of them end at once and others wait for keys for ever.
const FULL_SCREEN: &[&str] = &[
    "vi", "vim", "nvim", "view", "vimdiff", "nano", "pico", "micro", "hx", "helix", "kak", "emacs", "mg", "joe", "ne",
    "top", "htop", "btop", "atop", "iotop", "tmux", "screen", "zellij", "mc", "ranger", "nnn", "lf", "yazi", "tig",
    "lazygit", "gitui", "k9s", "fzf", "dialog", "whiptail", "mutt", "lynx", "w3m",
];

/// The program of a command line that takes the whole terminal; `None` where it was told not to.
fn needs_terminal(command: &str) -> Option<&str> {
    let batch =
        ["-b", "--batch", "-es", "-Es", "--headless", "--version", "--help", "-h", "-f", "--filter", "-dump", "-d"];
    let before = |word: &str| ["sudo", "exec", "command", "nohup", "env"].contains(&word) || word.contains('=');
    let mut words = command.split_whitespace().skip_while(|word| before(word));
    let name = words.next()?.rsplit('/').next()?;
    let told = words.any(|word| batch.iter().any(|option| word.starts_with(option)) || word.starts_with(['|', '>']));
    // These two also run without a terminal, for other programs.
    let serves = ["tmux", "screen"].contains(&name) && command.split_whitespace().count() > 1;
    (FULL_SCREEN.contains(&name) && !told && !serves).then_some(name)
}

/// Runs what stands behind a `!`: a command of the user's own, whose output goes into the conversation.
pub(super) fn type_command(state: &mut State, command: &str, fx: &mut Vec<Effect>) {
    if command.is_empty() {
        let text = "Type a command after !. It runs now; its output joins the conversation";
        return state.notify(Notice::new(Level::Info, text).hint("a leading space sends it as text"));
    }
    if let Some(program) = needs_terminal(command) {
        let text = format!("{program} needs a terminal, and commands here have none");
        let key = state.keys.key_for(crate::keymap::action::AppAction::Suspend);
        return state
            .notify(Notice::new(Level::Warning, text).hint(format!("{key} suspends to your shell; fg returns")));
    }
    if state.running() {
        let text = "Turn running: command kept in the composer";
        let notice = Notice::new(Level::Info, text).hint("Enter again when the turn ends");
        return state.notify_while(notice, vec![TrueWhile::TurnRuns]);
    }
    if let Some(id) = state.current_id().cloned()
        && draft::is_held(state, &id, fx)
    {
        return;
    }
    let composer = state.composer().clone();
    let text = state.composer_mut().take();
    draft::remember(state, &text, fx);
    let Current::Session(id) = state.conversations.current.clone() else {
        state.lobby.sent.push(text.into());
        return;
    };
    scroll::to_end(state, fx);
    hand(state, &id, SessionCommand::Type { command: command.to_owned() }, composer.without_files(), fx);
}
