//! Questions to the user that belong to no call of the turn: the key of a connection, and what running commands reach.

use super::batch::Asking;
use crate::domain::ids::{ConnectionName, RequestId};
use crate::domain::request::Request;
use crate::provider::ProviderError;

/// The question that waits.
#[derive(Clone, Debug)]
pub(super) struct KeyAsked {
    pub(super) request: Request,
    pub(super) connection: ConnectionName,
    /// The turn pauses for it: this is what it ends with if there is no key.
    pub(super) failure: Option<ProviderError>,
}

/// A connection that waits for the user.
#[derive(Clone, Debug)]
pub(super) struct Connecting {
    pub(super) number: u64,
    pub(super) asking: Asking,
}

/// Questions that wait for the user.
#[derive(Clone, Debug, Default)]
pub(super) struct Asks {
    key: Option<KeyAsked>,
    connecting: Vec<Connecting>,
}

impl Asks {
    /// Takes the question for the key of this connection.
    pub(super) fn take_key_of(&mut self, connection: &ConnectionName) -> Option<KeyAsked> {
        self.key.take_if(|asked| asked.connection == *connection)
    }

    /// The question for the key of a connection.
    pub(super) fn key(&self) -> Option<&KeyAsked> {
        self.key.as_ref()
    }

    pub(super) fn set_key(&mut self, asked: KeyAsked) {
        self.key = Some(asked);
    }

    pub(super) fn take_key(&mut self) -> Option<KeyAsked> {
        self.key.take()
    }

    /// The connection of a command that this request is about.
    pub(super) fn connecting(&self, request: &RequestId) -> Option<&Connecting> {
        self.connecting.iter().find(|one| one.asking.request.id == *request)
    }

    /// Questions about connections of commands, oldest first.
    pub(super) fn all_connecting(&self) -> impl Iterator<Item = &Request> {
        self.connecting.iter().map(|one| &one.asking.request)
    }

    pub(super) fn add_connecting(&mut self, one: Connecting) {
        self.connecting.push(one);
    }

    pub(super) fn remove_connecting(&mut self, number: u64) -> Option<Connecting> {
        let at = self.connecting.iter().position(|one| one.number == number)?;
        Some(self.connecting.remove(at))
    }

    pub(super) fn take_connecting(&mut self) -> Vec<Connecting> {
        std::mem::take(&mut self.connecting)
    }
}
