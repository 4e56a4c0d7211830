//! Printable keys in a panel of answers. One bound letter marks its answer and Enter gives it; every other text belongs
//! to the composer, which gets the focus along with it.

use super::panel::{focused, give, give_back, place};
use super::{compose, input};
use crate::app::effect::Effect;
use crate::app::state::panel::{Choice, Letter, Stage};
use crate::app::state::{Focus, State};
use crate::domain::request::{Answer, Ask};
use crate::domain::{Level, Notice};
use crate::keymap::action::{AnswerAction, Context};
use crate::keymap::key::Key;

/// Milliseconds after a letter marked an answer in which Enter is dropped.
const MARKED: u64 = 150;
/// Milliseconds after a letter that moved the panel in which the next one makes both of them text.
const TYPED: u64 = 150;
/// Milliseconds for which a request stands on the screen before anything outside of its panel answers it.
pub(super) const SEEN: u64 = 500;

/// Effect of a key in a panel.
pub(super) enum Did {
    /// It scrolled, opened or changed something.
    Moved,
    /// It selects this answer.
    Selects(usize),
    /// It has no meaning here.
    Nothing,
}

/// True while the keys go to answers, in the panel or in the inbox.
pub(super) fn chooses(state: &State) -> bool {
    let answers = [Context::Approval, Context::Plan, Context::Question];
    state.contexts().first().is_some_and(|context| answers.contains(context))
}

/// True if a letter has marked an answer: whatever is typed next makes a text of both.
pub(super) fn is_marked(state: &mut State) -> bool {
    focused(state).is_some_and(|(_, panel)| panel.letter.is_some_and(|letter| letter.marks))
}

/// True if Enter comes too soon after the mark to be meant for it.
pub(super) fn is_too_soon(state: &mut State) -> bool {
    let now = state.now;
    let letter = focused(state).and_then(|(_, panel)| panel.letter);
    letter.is_some_and(|letter| letter.marks && now.since(letter.at) < MARKED)
}

/// Takes note of what a key did.
pub(super) fn settle(state: &mut State, did: Did, key: Option<Key>) {
    let now = state.now;
    let typed = key.and_then(Key::printable);
    let Some((_, panel)) = focused(state) else { return };
    match did {
        Did::Moved => {
            // Scrolling by other keys leaves the mark of a letter as it is.
            panel.letter = typed.map(|c| Letter { c, at: now, marks: false }).or(panel.letter);
        }
        Did::Selects(at) if typed.is_some() && panel.needs_arrows(at) => {
            input::type_into(state, key);
            let text = "This answer cannot be taken back: no letter selects it";
            state.notify(Notice::new(Level::Info, text).hint("select it with ↑ ↓, then Enter"));
        }
        Did::Selects(at) => {
            panel.selected = Some(at);
            panel.letter = typed.map(|c| Letter { c, at: now, marks: true });
        }
        // An answer that is not on offer is no answer: the key was a letter for the composer.
        Did::Nothing => input::type_into(state, key),
    }
}

/// Hands a text to the composer, with the focus and with the letters that came before it. Nothing is answered.
pub(super) fn to_composer(state: &mut State, text: &str) {
    let now = state.now;
    let before = focused(state).and_then(|(_, panel)| panel.letter.take());
    let before = before.filter(|letter| letter.marks || now.since(letter.at) < TYPED);
    state.overlays.clear();
    give_back(state);
    state.focus = Focus::Composer;
    state.shown = Default::default();
    let composer = state.composer_mut();
    for c in before.map(|letter| letter.c).into_iter().chain(text.chars()) {
        composer.type_char(c);
    }
    composer.spill();
    let key = state.keys.key_for(AnswerAction::Focus);
    let notice = Notice::new(Level::Info, "No answer was given: this is text for your message");
    state.notify(notice.hint(format!("{key} goes back to the question")));
}

/// Several characters in one read: with answers in the way they are a text for the composer.
pub(super) fn typed(state: &mut State, text: &str) {
    state.last_key = state.now;
    if chooses(state) {
        to_composer(state, text);
    }
}

/// Enter on a word that fell out of a panel: it may have been meant as an answer. True: it is not sent.
pub(super) fn holds_back(state: &mut State) -> bool {
    let asks = waiting_question(state).is_some();
    let text = state.composer().text();
    let held = state.composer_mut().take_spill() && is_doubtful(text.trim(), asks);
    if held {
        let key = state.keys.key_for(AnswerAction::Focus);
        let text = format!("Not sent: “{}” may have been meant as an answer", text.trim());
        let hint = format!("{key} goes back to the question; Enter sends it as a message");
        state.notify(Notice::new(Level::Warning, text).hint(hint));
    }
    held
}

/// A single word; where any text is an answer, one of a letter or two.
fn is_doubtful(text: &str, asks: bool) -> bool {
    let command = text.starts_with(['/', '!']);
    !command && !text.contains(char::is_whitespace) && (!asks || text.chars().count() <= 2)
}

/// The question of the agent that waits in the session that is shown.
fn waiting_question(state: &State) -> Option<crate::domain::ids::RequestId> {
    // Behind another request nobody sees it.
    let (_, asked) = state.panel()?;
    matches!(asked.ask, Ask::Question(_)).then(|| asked.id.clone())
}

/// A text from the composer while the agent's question waits: it is the answer. False: no question waits.
pub(super) fn reply(state: &mut State, text: &str, fx: &mut Vec<Effect>) -> bool {
    let Some(request) = waiting_question(state).filter(|_| state.composer().files().is_empty()) else { return false };
    let Some(session) = state.current_id().cloned() else { return false };
    if compose::is_held(state, &session, fx) {
        return true;
    }
    let on_screen = state.frame.panel.as_ref().is_some_and(|(shown, _)| *shown == request);
    if !on_screen || state.now.since(state.moments.panel_seen) < SEEN {
        let notice = Notice::new(Level::Info, "A question came up: your text would be its answer");
        state.notify(notice.hint("Enter once more sends it"));
        return true;
    }
    compose::keep_draft(state, fx);
    if let Some(panel) = state.current_open_mut().and_then(|open| open.panel.as_mut())
        && panel.request == request
    {
        // It comes back here where the answer does not count.
        panel.begun = Some((Choice::Words, text.to_owned()));
    }
    give(state, &session, &request, Answer::Reply(text.trim().to_owned()), fx);
    true
}

/// "Yes, this once" in one chord. It counts for what stood on the screen as a whole for a while, and never for what cannot be
/// taken back; everything else gets the focus, to be read.
pub(super) fn yes_once(state: &mut State, fx: &mut Vec<Effect>) {
    let here = state.overlays.is_empty() && state.focus == Focus::Composer;
    let quiet = state.quiet_until;
    let panel = match here {
        true => state.current_id().cloned().and_then(|id| Some((id.clone(), state.open.get(&id)?.panel.clone()?))),
        false => focused(state).map(|(session, panel)| (session, panel.clone())),
    };
    let Some((session, panel)) = panel else {
        if here {
            state.notify(Notice::new(Level::Info, "Nothing to answer here"));
        }
        return;
    };
    if !matches!(panel.stage, Stage::Choosing) {
        return;
    }
    let once = place(&panel, &Choice::Once).filter(|at| !panel.needs_arrows(*at));
    let shown = state.frame.panel.clone().filter(|(request, _)| *request == panel.request);
    let whole = shown.as_ref().is_some_and(|(_, whole)| *whole);
    if shown.is_none() || state.now.since(state.moments.panel_seen) < SEEN {
        return;
    }
    if once.is_none() || !whole {
        if here {
            super::panel::focus(state, fx);
        }
        let why = if once.is_none() { "This takes an answer of its own" } else { "Not all of it is on the screen" };
        return state.notify(Notice::new(Level::Info, why).hint("read it, then choose an answer"));
    }
    if compose::is_held(state, &session, fx) {
        return;
    }
    give(state, &session, &panel.request, Answer::Once, fx);
    if here {
        // What is being typed goes on; the next request is safe for the time that it has to stand there.
        state.quiet_until = quiet;
    }
}
