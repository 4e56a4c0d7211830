//! The key of a connection, asked for when a turn needs it or the user wants to give one. The turn pauses meanwhile and goes on
//! after; without a key it ends as what it is, a failed request.

use super::asks::KeyAsked;
use super::state::{Machine, notice};
use super::user_input;
use crate::agent::machine_io::Step;
use crate::domain::ids::{At, ConnectionName, RequestId};
use crate::domain::notice::Level;
use crate::domain::request::{Ask, KeyRequest, Request, UserAnswer};
use crate::protocol::SessionEvent;
use crate::provider::ProviderError;

impl Machine {
    /// A request cannot be made without a key, or with the one that there is.
    pub(super) fn no_key(&mut self, now: At, wanted: KeyRequest, failure: ProviderError, out: &mut Vec<Step>) {
        // What has begun to answer is no question of keys; and nobody answers headless.
        if self.config.headless || !self.live_rows().is_empty() {
            return self.failed(now, failure, out);
        }
        if self.pause_for_key().is_none() {
            return;
        }
        self.settle_key(out);
        self.ask_for_key(now, wanted, Some(failure), out);
    }

    /// The user wants to give a key.
    pub(super) fn give_key(&mut self, now: At, wanted: KeyRequest, out: &mut Vec<Step>) {
        if self.asks.key().is_some_and(|asked| asked.failure.is_some()) {
            return out.push(notice(Level::Info, "A key request is already open.", "Answer that first."));
        }
        self.settle_key(out);
        self.ask_for_key(now, wanted, None, out);
    }

    fn ask_for_key(&mut self, now: At, wanted: KeyRequest, failure: Option<ProviderError>, out: &mut Vec<Step>) {
        let connection = wanted.connection.clone();
        let request = Request { id: self.request_id(now), ask: Ask::Key(Box::new(wanted)) };
        out.push(Step::Emit(SessionEvent::Asked(Box::new(request.clone()))));
        self.asks.set_key(KeyAsked { request, connection, failure });
    }

    /// The question is gone, without an answer.
    pub(super) fn settle_key(&mut self, out: &mut Vec<Step>) {
        if let Some(asked) = self.asks.take_key() {
            out.push(Step::Emit(SessionEvent::Settled { request: asked.request.id, by: None }));
        }
    }

    pub(super) fn asks_for_key(&self, request: &RequestId) -> bool {
        self.asks.key().is_some_and(|asked| asked.request.id == *request)
    }

    pub(super) fn answer_key(&mut self, now: At, answer: UserAnswer, out: &mut Vec<Step>) {
        let Some(asked) = self.asks.key() else { return };
        match answer {
            UserAnswer::Key(key) => out.push(Step::StoreKey(asked.connection.clone(), key)),
            UserAnswer::No(_) => {
                let failure = asked.failure.clone();
                self.settle_key(out);
                if let Some(failure) = failure.filter(|_| self.turn.is_some()) {
                    self.end_failed(now, failure, out);
                }
            }
            _ => out.push(user_input::stale_answer()),
        }
    }

    /// A connection got a key: whoever asked for it goes on, in every session.
    pub(super) fn keyed(
        &mut self,
        now: At,
        connection: &ConnectionName,
        stored: Result<(), String>,
        out: &mut Vec<Step>,
    ) {
        let Some(mut asked) = self.asks.take_key_of(connection) else { return };
        if let Err(why) = stored {
            // Clients took it for answered.
            if let Ask::Key(wanted) = &mut asked.request.ask {
                wanted.why = why;
            }
            out.push(Step::Emit(SessionEvent::Asked(Box::new(asked.request.clone()))));
            return self.asks.set_key(asked);
        }
        out.push(Step::Emit(SessionEvent::Settled { request: asked.request.id.clone(), by: None }));
        let paused = asked.failure.is_some();
        if paused && self.turn.is_some() {
            self.request(now, out);
        } else {
            out.push(notice(Level::Info, format!("Stored the key for {connection}"), ""));
        }
    }
}
