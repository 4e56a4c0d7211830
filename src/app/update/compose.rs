//! Writing and sending: the verbs of the composer, which also edit every other text that is being written.

use super::{attach, chat, enhance, letters, offer, overlay, panel, plan, properties, queue, slash, to, workspace};
use crate::app::effect::Effect;
use crate::app::slash as commands;
use crate::app::state::composer::{Composer, EnterDoes, Picked, UNFOLD_LINES};
use crate::app::state::edit::Done;
use crate::app::state::files::File;
use crate::app::state::open::Handed;
use crate::app::state::overlay::Overlay;
use crate::app::state::vim::{self, Token};
use crate::app::state::{Blind, Current, Editing, Focus, State};
use crate::domain::contract::{Act, Command, QueueEdit, Queued};
use crate::domain::ids::SessionId;
use crate::domain::message::UserText;
use crate::domain::{Level, Notice};
use crate::keymap::action::ComposerAction as Verb;
use crate::keymap::action::VimAction;
use crate::keymap::key::{Code, Key};

/// Way of sending a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// While a turn runs it waits for its end.
    Queue,
    /// While a turn runs it goes into it.
    Steer,
}

pub(super) fn act(state: &mut State, verb: Verb, fx: &mut Vec<Effect>) {
    match verb {
        Verb::Send => enter(state, How::Queue, fx),
        Verb::Steer => enter(state, How::Steer, fx),
        Verb::Editor => {
            state.editing = Some(Editing::Draft(state.current.clone()));
            fx.push(Effect::Edit { text: state.composer().text() });
        }
        Verb::OpenPaste => unfold(state),
        Verb::Enhance => enhance::ask(state, fx),
        Verb::Attach => state.composer_mut().set("/attach "),
        Verb::Image => fx.push(Effect::Picture),
        Verb::OpenFile if state.composer().picked().is_some() => open_picked(state, fx),
        Verb::OpenFile => {
            let draft = state.composer().files().there();
            let files = if draft.is_empty() { chat::files(state) } else { draft };
            attach::view(state, files, fx);
        }
        Verb::History => overlay::history(state),
        Verb::Queue => queue::open(state, None),
        _ => edit(state, verb, fx),
    }
}

fn unfold(state: &mut State) {
    match state.composer_mut().unfold() {
        Ok(true) => {}
        Ok(false) => state.notify(Notice::new(Level::Info, "There is no folded text in the draft.")),
        Err(lines) => {
            let key = state.keys.key_for(Verb::Editor);
            let text = format!("The text has {lines} lines; up to {UNFOLD_LINES} are unfolded here.");
            state.notify(Notice::new(Level::Info, text).hint(format!("{key} opens the draft in $EDITOR")));
        }
    }
}

/// Opens what is selected in the draft: a pasted text becomes text again, a file is shown.
pub(super) fn open_picked(state: &mut State, fx: &mut Vec<Effect>) {
    match state.composer().picked() {
        Some(Picked::Chip(_)) => unfold(state),
        Some(Picked::File(at)) => match state.composer().files().items().get(at).cloned() {
            Some(File::There(file)) => fx.push(Effect::View(Box::new(file))),
            _ => state.notify(Notice::new(Level::Info, "The file is still being copied into the session.")),
        },
        None => {}
    }
}

/// A click on a chip or file of the draft selects it; one on what is selected opens it.
pub(super) fn press(state: &mut State, picked: Picked, fx: &mut Vec<Effect>) {
    panel::give_back(state);
    state.focus = Focus::Composer;
    if state.composer().picked() == Some(picked) {
        return open_picked(state, fx);
    }
    state.composer_mut().pick(picked);
}

/// Edits the text that is being written: in the topmost overlay, in the panel, in a filter or search, else the draft.
fn edit(state: &mut State, verb: Verb, fx: &mut Vec<Effect>) {
    match state.overlays.last_mut() {
        Some(Overlay::Picker(picker)) => {
            if picker.query.edit(verb) == Done::Changed {
                picker.filter();
                properties::offer_new_label(state);
                workspace::offer_new(state);
            }
            return;
        }
        Some(Overlay::Rename(rename)) => {
            rename.title.edit(verb);
            return;
        }
        Some(Overlay::Inbox(_)) => {
            if let Some(words) = panel::words(state) {
                words.edit(verb);
            } else if let Some(key) = panel::secret(state) {
                key.edit(verb);
            }
            return;
        }
        Some(Overlay::Find) => {
            state.find.query.edit(verb);
            return;
        }
        Some(Overlay::Prompt(prompt)) => {
            prompt.line.edit(verb);
            prompt.problem = None;
            return;
        }
        Some(
            Overlay::Help(_)
            | Overlay::ConfirmQuit
            | Overlay::Confirm(_)
            | Overlay::Trash(_)
            | Overlay::Audit(_)
            | Overlay::Context(_)
            | Overlay::Usage(_)
            | Overlay::Rules(_)
            | Overlay::Jobs(_)
            | Overlay::Queue(_)
            | Overlay::Health(_)
            | Overlay::Undo(_)
            | Overlay::Changes(_),
        ) => return,
        None => {}
    }
    match state.focus {
        Focus::Panel => {
            if let Some(words) = panel::words(state) {
                words.edit(verb);
            } else if let Some(key) = panel::secret(state) {
                key.edit(verb);
            }
        }
        Focus::List if state.sessions.filter_open() => {
            if let Some(filter) = state.sessions.filter.as_mut() {
                filter.query.edit(verb);
            }
            state.sessions.retype(state.now, state.utc_offset);
        }
        Focus::Chat if state.search.as_ref().is_some_and(|search| search.typing) => {
            if let Some(search) = state.search.as_mut() {
                search.query.edit(verb);
            }
            chat::search_again(state);
        }
        _ => edit_draft(state, verb, fx),
    }
}

/// A verb of modal editing.
pub(super) fn modal(state: &mut State, verb: VimAction, key: Option<Key>) {
    if state.focus != Focus::Composer || !state.overlays.is_empty() {
        return;
    }
    if verb == VimAction::Normal && state.composer().vim().mode() == vim::Mode::Normal {
        // Here Esc has nothing else to do.
        state.notices.clear();
    }
    let token = match verb {
        VimAction::Digit => match key.map(|key| key.code) {
            Some(Code::Char(c)) => c.to_digit(10).map(|digit| Token::Digit(digit as usize)),
            _ => None,
        },
        verb => Some(Token::Verb(verb)),
    };
    if let Some(token) = token {
        feed(state, token);
    }
}

/// The character that a verb of modal editing waited for.
pub(super) fn character(state: &mut State, c: char) {
    feed(state, Token::Char(c));
}

fn feed(state: &mut State, token: Token) {
    let Some(walk) = state.composer_mut().modal(token) else { return };
    let history = std::mem::take(&mut state.history);
    if walk < 0 {
        state.composer_mut().earlier(&history);
    } else {
        state.composer_mut().later(&history);
    }
    state.history = history;
}

fn edit_draft(state: &mut State, verb: Verb, fx: &mut Vec<Effect>) {
    if verb == Verb::Up && state.composer().is_empty() {
        let last = state.current_open().and_then(|open| open.waiting().last()).cloned();
        if let Some(queued) = last {
            return take_queued(state, &queued, fx);
        }
    }
    if let (Some(Picked::File(at)), Verb::Backspace | Verb::Delete) = (state.composer().picked(), verb) {
        attach::take_out(state, at, fx);
        let left = state.composer().files().items().len();
        if left > 0 {
            state.composer_mut().pick(Picked::File(at.min(left - 1)));
        } else {
            state.composer_mut().unpick();
        }
        return;
    }
    if state.composer_mut().edit(verb) != Done::Nothing {
        return;
    }
    if verb == Verb::Backspace {
        // Nothing stands before the caret but the files.
        if let Some(file) = state.composer_mut().files_mut().pop() {
            attach::dropped(state, &file, fx);
        }
        return;
    }
    // At an edge the walk through what was sent earlier begins or goes on.
    let history = std::mem::take(&mut state.history);
    match verb {
        Verb::Up => {
            state.composer_mut().earlier(&history);
        }
        Verb::Down => {
            state.composer_mut().later(&history);
        }
        _ => {}
    }
    state.history = history;
}

/// Takes a message out of the queue into the composer. A draft is not lost for it.
pub(super) fn take_queued(state: &mut State, queued: &Queued, fx: &mut Vec<Effect>) {
    let Current::Session(id) = state.current.clone() else { return };
    keep_draft(state, fx);
    if let Some(open) = state.open.get_mut(&id) {
        open.queue.retain(|other| other.id != queued.id);
        open.steers.retain(|other| other.id != queued.id);
        open.composer.set(&queued.text);
        open.composer.files_mut().add(queued.attachments.clone());
    }
    fx.push(to(&id, Act::Queue(QueueEdit::Remove { id: queued.id.clone() })));
    state.focus = Focus::Composer;
}

/// Puts the draft away into the history, so that something else can be written.
pub(super) fn keep_draft(state: &mut State, fx: &mut Vec<Effect>) {
    let text = state.composer_mut().take();
    remember(state, &text, fx);
}

fn remember(state: &mut State, text: &str, fx: &mut Vec<Effect>) {
    if !text.trim().is_empty() {
        state.history.push(text);
        fx.push(Effect::Send(Command::Remember { text: text.to_owned() }));
    }
}

/// Enter in the composer.
pub(super) fn enter(state: &mut State, how: How, fx: &mut Vec<Effect>) {
    if how == How::Queue && state.focus == Focus::Composer && state.composer().picked().is_some() {
        return open_picked(state, fx);
    }
    match state.composer_mut().enter() {
        EnterDoes::BrokeLine => {}
        EnterDoes::Empty if how == How::Queue => enter_on_nothing(state, fx),
        EnterDoes::Empty => {}
        EnterDoes::Send if state.blind == Blind::WentOn => {
            let text = "Not sent: a part of it was typed over a window.";
            state.notify(Notice::new(Level::Warning, text).hint("Enter sends it as it stands"));
        }
        EnterDoes::Send if letters::holds_back(state) => {}
        EnterDoes::Send => {
            let text = state.composer().text();
            if let Some(command) = command(&text) {
                return type_command(state, command, fx);
            }
            if let Some((at, args)) = offer::own(state, &text) {
                return slash::run_own(state, at, &args, fx);
            }
            match commands::read(&text) {
                None if how == How::Queue && letters::reply(state, &text, fx) => {}
                None => drop(send(state, text, how, fx)),
                Some(Ok(call)) => {
                    state.composer_mut().take();
                    slash::run(state, call, fx);
                }
                Some(Err(unknown)) => slash::unknown(state, &unknown),
            }
        }
    }
}

/// Enter on an empty draft: after a while without keys it answers what waits, else it lets a held queue go.
fn enter_on_nothing(state: &mut State, fx: &mut Vec<Effect>) {
    if state.focus != Focus::Composer || !state.composer().is_empty() {
        return;
    }
    if state.panel().is_some() {
        if state.idle_before >= panel::CALM {
            panel::focus(state, fx);
        }
        return;
    }
    let held = state.current_open().is_some_and(|open| open.queue_held && !open.queue.is_empty());
    if let (true, Some(id)) = (held, state.current_id()) {
        fx.push(to(id, Act::Queue(QueueEdit::Release)));
    }
}

/// Number of sent messages that can still come back with their chips.
const HANDED: usize = 8;

/// Sends a message, and the draft with it is gone. False: it was not sent, and the user was told why.
pub(super) fn send(state: &mut State, text: String, how: How, fx: &mut Vec<Effect>) -> bool {
    if let Some(id) = state.current_id().cloned()
        && is_held(state, &id, fx)
    {
        return false;
    }
    if state.composer().files().coming().next().is_some() {
        let text = "A file is still being copied into the session.";
        state.notify(Notice::new(Level::Info, text).hint("send the message again in a moment"));
        return false;
    }
    let composer = state.composer().clone();
    state.composer_mut().take();
    let attachments = state.composer_mut().take_files().there();
    remember(state, &text, fx);
    let steer = how == How::Steer && state.running();
    let Current::Session(id) = state.current.clone() else {
        state.lobby_sent.push(UserText::with(text, attachments));
        return true;
    };
    chat::to_end(state, fx);
    state.left_unread = None;
    let act = if steer { Act::Steer { text, attachments } } else { Act::Send { text, attachments } };
    hand(state, &id, act, composer, fx);
    true
}

/// Sends what the user wrote. Until it is sent away by others, the composer can be brought back as it stood.
fn hand(state: &mut State, id: &SessionId, act: Act, composer: Composer, fx: &mut Vec<Effect>) {
    if let (Some(open), Some(said)) = (state.open.get_mut(id), act.said()) {
        open.handed.push_back(Handed { said, composer });
        if open.handed.len() > HANDED {
            open.handed.pop_front();
        }
    }
    fx.push(to(id, act));
}

/// True if another process writes this session: then nothing is sent there, and the user gets a notice.
pub(super) fn is_held(state: &mut State, id: &SessionId, fx: &mut Vec<Effect>) -> bool {
    let Some(holder) = state.sessions.meta(id).and_then(|meta| meta.held_by.clone()) else { return false };
    let text = format!("This session is only read here: {holder} writes it.");
    let key = state.keys.key_for(crate::keymap::action::SessionAction::New);
    // The holder may be gone: the engine looks again, and the next Enter sends if so.
    fx.push(Effect::Send(Command::Open { session: id.clone(), rows: super::session::ROWS }));
    state.notify(Notice::new(Level::Warning, text).hint(format!("/takeover writes here; {key} begins a new session")));
    true
}

/// The engine did not take what the user wrote: it stands where it was written.
pub(super) fn refused(state: &mut State, id: &SessionId, act: &Act) {
    let Some(said) = act.said() else { return };
    let Some(open) = state.open.get_mut(id) else {
        // Nobody looks at that session any more. What was sent is in the history.
        return state.history.push(&said.text);
    };
    if let Act::Answer { request, .. } = act {
        let given = open.given.iter().rposition(|given| given.request.id == *request);
        match given.and_then(|at| open.given.remove(at)) {
            Some(given) if !given.settled => return panel::again(state, id, given),
            Some(given) if !given.panel.has_words() => return,
            _ => {}
        }
    }
    let Some(open) = state.open.get_mut(id) else { return };
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
pub(super) fn command(draft: &str) -> Option<&str> {
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
fn type_command(state: &mut State, command: &str, fx: &mut Vec<Effect>) {
    if command.is_empty() {
        let text = "Write a command after the !: it runs at once, and its output goes into the conversation.";
        return state.notify(Notice::new(Level::Info, text).hint("a blank before the ! sends the text as it is"));
    }
    if let Some(program) = needs_terminal(command) {
        let text = format!("{program} needs a terminal, and commands here have none");
        let key = state.keys.key_for(crate::keymap::action::AppAction::Suspend);
        return state
            .notify(Notice::new(Level::Warning, text).hint(format!("{key} goes to your shell; fg comes back")));
    }
    if state.running() {
        let text = "A turn runs: the command waits in the composer.";
        return state.notify(Notice::new(Level::Info, text).hint("Enter again when it has ended"));
    }
    if let Some(id) = state.current_id().cloned()
        && is_held(state, &id, fx)
    {
        return;
    }
    let composer = state.composer().clone();
    let text = state.composer_mut().take();
    remember(state, &text, fx);
    let Current::Session(id) = state.current.clone() else {
        state.lobby_sent.push(text.into());
        return;
    };
    chat::to_end(state, fx);
    hand(state, &id, Act::Type { command: command.to_owned() }, composer.without_files(), fx);
}

/// The text comes back from $EDITOR.
pub(super) fn edited(state: &mut State, result: Result<String, String>, fx: &mut Vec<Effect>) {
    let place = match state.editing.take() {
        Some(Editing::Plan { session, request }) => {
            return match result {
                Ok(text) => plan::edited(state, &session, request, text, fx),
                Err(why) => state.notify(Notice::new(Level::Error, why).hint("the plan is as it was")),
            };
        }
        Some(Editing::Draft(place)) => place,
        None => Current::New,
    };
    match result {
        Ok(text) => {
            let text = text.trim_end_matches('\n');
            let composer = match &place {
                Current::Session(id) => state.open.get_mut(id).map(|open| &mut open.composer),
                Current::New => None,
            };
            match composer {
                Some(composer) => composer.set(text),
                None => state.composer_mut().set(text),
            }
        }
        Err(why) => state.notify(Notice::new(Level::Error, why)),
    }
}

/// Esc on the offered commands: they go until something is typed.
pub(super) fn close_menu(state: &mut State) {
    state.composer_mut().close_menu();
}

/// Opens the draft for a text that a picker gave.
pub(super) fn write(state: &mut State, text: &str, fx: &mut Vec<Effect>) {
    keep_draft(state, fx);
    state.composer_mut().set(text);
    close_menu(state);
}
