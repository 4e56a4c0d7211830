//! Printable keys in a panel of answers. One bound letter marks its answer and Enter gives it; every other text belongs
//! to the composer, which gets the focus along with it.

use crate::app::effect::Effect;
use crate::app::intent::Intent;
use crate::app::panels::{answers, hunks};
use crate::app::shell::focus::SEEN;
use crate::app::shell::{draft, focus};
use crate::app::state::notices::TrueWhile;
use crate::app::state::panel::{Choice, Letter, LetterDid, Stage};
use crate::app::state::{Focus, State};
use crate::domain::ids::At;
use crate::domain::request::UserAnswer;
use crate::domain::{Level, Notice};
use crate::keymap::action::{AnswerAction, Context};
use crate::keymap::key::Key;

/// Milliseconds after a letter marked an answer in which Enter is dropped.
const MARKED: u64 = 150;

/// Milliseconds after a letter marked an answer from which a letter that moves the panel is no text: the mark goes.
const APART: u64 = 400;

/// Milliseconds after a letter that moved the panel in which the next one makes both of them text.
const TYPED: u64 = 150;

/// Effect of a key in a panel.
pub(crate) enum Did {
    /// It scrolled, opened or changed something.
    Moved,
    /// It selects this answer.
    Selects(usize),
    /// It has no meaning here.
    Nothing,
}

/// True while the keys go to answers, in the panel or in the inbox.
pub(crate) fn chooses(state: &State) -> bool {
    let answers = [Context::Approval, Context::Plan, Context::Question];
    state.contexts().first().is_some_and(|context| answers.contains(context))
}

/// True if a letter has marked an answer: whatever is typed next makes a text of both.
pub(crate) fn is_marked(state: &mut State) -> bool {
    let now = state.clock.now;
    focus::focused(state).is_some_and(|(_, panel)| panel.letter.is_some_and(|letter| holds(letter, now)))
}

/// The next letter makes a text of both: one that marked an answer, and for a while one that may mark none.
fn holds(letter: Letter, now: At) -> bool {
    match letter.did {
        LetterDid::Marked => true,
        LetterDid::Refused => now.since(letter.at) < APART,
        LetterDid::Moved => false,
    }
}

/// Drops the mark of a letter that was set a while ago, for a key that moves the panel. True if there is no mark now.
pub(crate) fn unmark(state: &mut State) -> bool {
    let now = state.clock.now;
    let Some((_, panel)) = focus::focused(state) else { return true };
    match panel.letter {
        Some(letter) if letter.did != LetterDid::Moved && now.since(letter.at) < APART => false,
        Some(letter) if letter.did == LetterDid::Marked => {
            panel.letter = None;
            panel.selected = None;
            true
        }
        _ => true,
    }
}

/// True if Enter comes too soon after the mark to be meant for it.
pub(crate) fn is_too_soon(state: &mut State) -> bool {
    let now = state.clock.now;
    let letter = focus::focused(state).and_then(|(_, panel)| panel.letter);
    letter.is_some_and(|letter| letter.did == LetterDid::Marked && now.since(letter.at) < MARKED)
}

/// Takes note of what a key did.
pub(crate) fn settle(state: &mut State, did: Did, key: Option<Key>) {
    let now = state.clock.now;
    let typed = key.and_then(Key::printable);
    let Some((_, panel)) = focus::focused(state) else { return };
    match did {
        Did::Moved => {
            // Scrolling by other keys leaves the mark of a letter as it is.
            panel.letter = typed.map(|c| Letter { c, at: now, did: LetterDid::Moved }).or(panel.letter);
        }
        Did::Selects(at) if typed.is_some() && panel.needs_arrows(at) => {
            // As the beginning of a text it goes to the composer with the next letter, if that comes soon; what arrows chose
            // before is open again.
            panel.selected = None;
            panel.letter = typed.map(|c| Letter { c, at: now, did: LetterDid::Refused });
            state.notify(Notice::new(Level::Info, "This may be irreversible: choose it with ↑ ↓, then Enter"));
        }
        Did::Selects(at) => {
            panel.selected = Some(at);
            panel.letter = typed.map(|c| Letter { c, at: now, did: LetterDid::Marked });
        }
        // An answer that is not on offer is no answer: the key was a letter for the composer.
        Did::Nothing => type_through(state, key),
    }
}

/// Hands a text to the composer, with the focus and with the letters that came before it. Nothing is answered.
pub(crate) fn to_composer(state: &mut State, text: &str) {
    let now = state.clock.now;
    let asked = focus::focused(state).map(|(session, panel)| (session, panel.letter.take()));
    let before = asked.as_ref().and_then(|(_, letter)| *letter);
    // A command that begins a while after the mark of a letter does not begin with that letter.
    let commands = |letter: &Letter| text.starts_with('/') && now.since(letter.at) >= APART;
    let before = before.filter(|letter| (holds(*letter, now) && !commands(letter)) || now.since(letter.at) < TYPED);
    let text: String = before.map(|letter| letter.c).into_iter().chain(text.chars()).collect();
    match asked.map(|(session, _)| session).filter(|session| state.current_id() != Some(session)) {
        // What is said to a request of another session belongs there.
        Some(session) => state.follow_up(Intent::Write { session, text }),
        None => write(state, &text),
    }
}

/// Writes a text that answers nothing into the composer of the session that is shown.
pub(crate) fn write(state: &mut State, text: &str) {
    let now = state.clock.now;
    state.overlays.clear();
    focus::give_back(state);
    state.focus = Focus::Composer;
    state.screen.shown = Default::default();
    // An Esc that was meant for the panel finds it left already: it stops no turn.
    state.input.moments.closed = now;
    let composer = state.composer_mut();
    for c in text.chars() {
        composer.type_char(c);
    }
    composer.spill();
    let key = state.keys.key_for(AnswerAction::Focus);
    let notice = Notice::new(Level::Info, "Not an answer: typed into your message");
    let waits = state.panel().map(|(_, asked)| TrueWhile::Waits(asked.id.clone()));
    state.notify_while(notice.hint(format!("{key} back to the request")), waits.into_iter().collect());
}

/// Several characters in one read: with answers in the way they are a text for the composer.
pub(crate) fn typed(state: &mut State, text: &str) {
    state.input.last_key = state.clock.now;
    if chooses(state) {
        to_composer(state, text);
    }
}

/// "Yes, this once" in one chord. It counts for what stood on the screen as a whole for a while, and never for what cannot be
/// taken back; everything else gets the focus, to be read.
pub(crate) fn yes_once(state: &mut State, fx: &mut Vec<Effect>) {
    let here = state.overlays.is_empty() && state.focus == Focus::Composer;
    let quiet = state.input.quiet_until;
    let panel = match here {
        true => state
            .current_id()
            .cloned()
            .and_then(|id| Some((id.clone(), state.conversations.open.get(&id)?.panel.clone()?))),
        false => focus::focused(state).map(|(session, panel)| (session, panel.clone())),
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
    let once = answers::place(&panel, &Choice::Once).filter(|at| !panel.needs_arrows(*at));
    let shown = state.screen.frame.panel.clone().filter(|(request, _)| *request == panel.request);
    let whole = shown.as_ref().is_some_and(|(_, whole)| *whole);
    if shown.is_none() || state.clock.now.since(state.input.moments.panel_seen) < SEEN {
        return;
    }
    if once.is_none() || !whole {
        if here {
            answers::focus(state);
        }
        let (why, how) = match once {
            None => ("This one needs its own answer", "choose one below"),
            Some(_) => ("Not fully visible", "scroll through it first"),
        };
        return state.notify(Notice::new(Level::Info, why).hint(how));
    }
    if draft::is_held(state, &session, fx) {
        return;
    }
    let answer = panel.answer(&Choice::Once).unwrap_or(UserAnswer::Once);
    if hunks::refused(state, &panel, &answer) {
        return;
    }
    answers::give(state, &session, &panel.request, answer, fx);
    if here {
        // What is being typed goes on; the next request is safe for the time that it has to stand there.
        state.input.quiet_until = quiet;
    }
}

/// Types a key into the composer from a panel of answers, where it has no meaning.
pub(super) fn type_through(state: &mut State, key: Option<Key>) {
    if let Some(c) = key.and_then(Key::printable).filter(|_| chooses(state)) {
        to_composer(state, c.encode_utf8(&mut [0; 4]));
    }
}
