//! Keys and the mouse on their way: chords, times between keys, and what was pressed where.

use super::{Focus, mark};
use crate::domain::Mode;
use crate::domain::ids::{At, SessionId};
use crate::keymap::action::Action;
use crate::keymap::key::Key;

/// Keys of an unfinished chord.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chord {
    /// Keys pressed so far; empty when there are none.
    pub keys: Vec<Key>,
    /// The strip of what can follow is to be shown.
    pub strip: bool,
    /// Number of pages turned.
    pub page: u16,
}

/// Blind typing: keys swallowed by an overlay without a text field, and those after them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Blind {
    /// No.
    #[default]
    No,
    /// An overlay swallows what is typed.
    Swallowed,
    /// The overlay closed while keys were coming, and the rest of them goes into the composer.
    WentOn,
}

/// Key that may be held down: legacy terminals report its repeats as presses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    /// The key.
    pub key: Key,
    /// End of the time in which it counts as a repeat.
    pub until: At,
}

/// A letter pressed in the list or in the conversation that has not acted yet: perhaps a text is being typed that was meant for
/// the composer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeldLetter {
    /// The letter.
    pub key: Key,
    /// Action of the key, if it has one.
    pub action: Option<Action>,
    /// Time of the press.
    pub at: At,
    /// The pane that had the focus.
    pub pane: Focus,
}

/// Times that decide what a key means.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    /// Time since when the request in [`crate::app::msg::Frame::panel`] is on the screen.
    pub panel_seen: At,
    /// Time when Esc closed something last.
    pub closed: At,
    /// Esc was pressed where it had nothing to do.
    pub escaped: Option<At>,
}

/// Keys and the mouse.
#[derive(Debug)]
pub struct KeyInput {
    /// An unfinished chord.
    pub chord: Chord,
    /// Time of the last key or paste, initially of the start; the mouse does not count.
    pub last_key: At,
    /// Milliseconds without a key before the one that is being handled.
    pub(crate) idle_before: u64,
    /// Until then keys are dropped: what they were meant for has just changed under them.
    pub quiet_until: At,
    /// Text typed in the composer is taken all the same: the user went there by an answer.
    pub(crate) quiet_types: bool,
    /// Key that may still be held down from before its meaning changed.
    pub(crate) held: Option<Held>,
    /// Letter that has not acted yet.
    pub(crate) letter: Option<HeldLetter>,
    /// The last key.
    pub(crate) last: Option<Key>,
    /// Times that decide what a key means.
    pub(crate) moments: Moments,
    /// Keys that were typed where nobody reads them, and went on into the composer.
    pub(crate) blind: Blind,
    /// Position under the mouse, for the next mouse message.
    pub(crate) spot: Option<mark::Spot>,
    /// The mouse on the conversation.
    pub(crate) pressed: Option<mark::Pressed>,
    /// Mode that the user passes through: it is set once the key has rested.
    pub(crate) resting_mode: Option<(SessionId, Mode)>,
    /// The mouse was given to the terminal.
    pub mouse_given: bool,
}

impl KeyInput {
    /// Nothing was pressed since `now`.
    #[must_use]
    pub fn new(now: At) -> Self {
        Self {
            chord: Chord::default(),
            last_key: now,
            idle_before: 0,
            quiet_until: At(i64::MIN),
            quiet_types: false,
            held: None,
            letter: None,
            last: None,
            moments: Moments { panel_seen: At(i64::MIN), closed: At(i64::MIN), escaped: None },
            blind: Blind::No,
            spot: None,
            pressed: None,
            resting_mode: None,
            mouse_given: false,
        }
    }
}
