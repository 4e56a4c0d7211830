//! Mailboxes of tasks that are there while they have work, one for each name.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Mailboxes by name.
#[derive(Debug)]
pub(super) struct Mailboxes<T>(Mutex<HashMap<String, UnboundedSender<T>>>);

impl<T> Default for Mailboxes<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Mailboxes<T> {
    fn all(&self) -> MutexGuard<'_, HashMap<String, UnboundedSender<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an item into a mailbox. `start` gets the other end of a new one.
    pub fn post(&self, name: &str, item: T, start: impl FnOnce(UnboundedReceiver<T>)) {
        let mut all = self.all();
        let item = match all.get(name) {
            Some(to) => match to.send(item) {
                Ok(()) => return,
                // Its task died.
                Err(back) => back.0,
            },
            None => item,
        };
        let (to, from) = unbounded_channel();
        let _ = to.send(item);
        all.insert(name.to_owned(), to);
        start(from);
    }

    /// Ends a mailbox if it is empty. Nothing comes into it afterwards.
    pub fn retire(&self, name: &str, from: &UnboundedReceiver<T>) -> bool {
        let mut all = self.all();
        let empty = from.is_empty();
        if empty {
            all.remove(name);
        }
        empty
    }

    /// Number of mailboxes.
    pub fn len(&self) -> usize {
        self.all().len()
    }
}
