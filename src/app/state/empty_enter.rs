//! Enter on an empty draft: the first thing that applies, which the composer names.

use super::State;
use crate::domain::attention::{Attention, WANTS_MODEL};

/// Effect of Enter on an empty draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyEnter {
    /// Gives the request above the focus.
    Answer,
    /// Sends the failed request again.
    Retry,
    /// Sends what is queued.
    Release,
    /// Continues the interrupted turn.
    Continue,
    /// Chooses who answers, on the first screen.
    Choose,
    /// Chooses the model that a message waits for.
    Model,
}

impl EmptyEnter {
    /// Its effect in a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            EmptyEnter::Answer => "answer",
            EmptyEnter::Retry => "retry",
            EmptyEnter::Release => "send queue",
            EmptyEnter::Continue => "continue",
            EmptyEnter::Choose => "choose",
            EmptyEnter::Model => "choose a model",
        }
    }

    /// Its effect, behind the name of the key.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            EmptyEnter::Answer => "to answer the request above",
            EmptyEnter::Retry => "retries the request",
            EmptyEnter::Release => "sends the queue",
            EmptyEnter::Continue => "continues the turn",
            EmptyEnter::Choose | EmptyEnter::Model => "chooses a model",
        }
    }
}

impl State {
    /// Effect of Enter while the draft is empty; `None` if it does nothing.
    #[must_use]
    pub fn empty_enter(&self) -> Option<EmptyEnter> {
        if self.panel().is_some() {
            return Some(EmptyEnter::Answer);
        }
        if self.first_choice().is_some() {
            return Some(EmptyEnter::Choose);
        }
        let meta = self.current_meta()?;
        if meta.held_by.is_some() {
            return None;
        }
        let open = self.current_open()?;
        let held = open.queue_held && !open.queue.is_empty();
        match meta.attention() {
            Attention::NeedsYou(why) if why == WANTS_MODEL => Some(EmptyEnter::Model),
            _ if open.turn.retry.is_some() => Some(EmptyEnter::Retry),
            Attention::Failed(_) if meta.can_retry() => Some(EmptyEnter::Retry),
            // As the list says; what waits is sent behind it.
            Attention::Interrupted(_) if meta.can_retry() => Some(EmptyEnter::Continue),
            _ if held => Some(EmptyEnter::Release),
            _ => None,
        }
    }
}
