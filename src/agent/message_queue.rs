//! Messages that wait for the turn to end.

use crate::protocol::{QueueEdit, Queued};

/// The queue and whether it waits for the user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queue {
    /// Queued messages, in order.
    pub items: Vec<Queued>,
    /// It waits for the user to let it go: after a stop, an error, a limit or a crash.
    pub held: bool,
}

impl Queue {
    /// Takes the next message, unless the queue is held.
    pub fn take(&mut self) -> Option<Queued> {
        if self.held || self.items.is_empty() { None } else { Some(self.items.remove(0)) }
    }

    /// Keeps what waits from being sent; an empty queue is never held.
    pub fn hold(&mut self) {
        self.held = !self.items.is_empty();
    }

    /// Applies an edit; tells whether anything changed.
    pub fn edit(&mut self, edit: QueueEdit) -> bool {
        let before = self.clone();
        match edit {
            QueueEdit::Remove { id } => self.items.retain(|item| item.id != id),
            QueueEdit::Replace { id, text } => {
                if let Some(item) = self.items.iter_mut().find(|item| item.id == id) {
                    item.text = text;
                }
            }
            QueueEdit::Move { id, to } => {
                if let Some(from) = self.items.iter().position(|item| item.id == id) {
                    let item = self.items.remove(from);
                    self.items.insert(to.min(self.items.len()), item);
                }
            }
            QueueEdit::Release => self.held = false,
            QueueEdit::Hold => self.hold(),
        }
        if self.items.is_empty() {
            self.held = false;
        }
        *self != before
    }
}
