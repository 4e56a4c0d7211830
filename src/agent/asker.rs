//! Client that asked for something: its answers go to it alone, and its request ends when nobody works for it any more.

use super::hub::{ClientEnd, ClientId};
use crate::domain::ids::MessageId;
use crate::domain::notice::{Level, Notice};
use crate::protocol::{CommandError, ErrorCode, Event, Reply, Stamped, ToClient};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// One request of a client. Clones are held by whoever works for it; the reply is sent when the last one is dropped.
#[derive(Clone, Debug)]
pub(super) struct Asker(Arc<Asked>);

#[derive(Debug)]
struct Asked {
    client: Arc<ClientEnd>,
    request: u64,
    message: Option<MessageId>,
    /// First reason why it was not done.
    error: Mutex<Option<CommandError>>,
    /// It is being carried out: dropped like this, whoever did it died.
    under_way: AtomicBool,
}

impl Asker {
    pub(super) fn new(client: Arc<ClientEnd>, request: u64, message: Option<MessageId>) -> Self {
        Self(Arc::new(Asked { client, request, message, error: Mutex::default(), under_way: AtomicBool::new(false) }))
    }

    pub(super) fn client(&self) -> &Arc<ClientEnd> {
        &self.0.client
    }

    /// Id that the client chose for the message that it sends.
    pub(super) fn message(&self) -> Option<&MessageId> {
        self.0.message.as_ref()
    }

    pub(super) fn id(&self) -> ClientId {
        self.0.client.id()
    }

    /// Notes that the request is being carried out, or no longer is.
    pub(super) fn set_under_way(&self, under_way: bool) {
        self.0.under_way.store(under_way, Ordering::Relaxed);
    }

    /// Sends an event to this client alone. `seq`: number of the event of the same sender before it.
    pub(super) fn answer(&self, seq: u64, event: Event) {
        let stamped = Stamped { re: Some(self.0.request), ..Stamped::new(seq, event) };
        self.0.client.push(ToClient::Event(Arc::new(stamped)));
    }

    /// Notes that the request was not done. The first reason counts.
    pub(super) fn fail(&self, code: ErrorCode, message: impl Into<String>) {
        self.note(CommandError { code, message: message.into(), retryable: false, told: false });
    }

    /// Notes that the request was not done, for a reason that the client got as an event.
    pub(super) fn fail_told(&self, code: ErrorCode, message: &str) {
        self.note(CommandError { code, message: message.to_owned(), retryable: false, told: true });
    }

    /// An error or a warning that the client gets is why its request was not done.
    pub(super) fn hear(&self, notice: &Notice) {
        if notice.level >= Level::Warning {
            self.fail_told(ErrorCode::Failed, &notice.text);
        }
    }

    fn note(&self, error: CommandError) {
        self.0.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let error = self.error.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let error = error.or_else(|| {
            self.under_way.load(Ordering::Relaxed).then(|| CommandError {
                code: ErrorCode::Unavailable,
                message: "Internal error, see the log".to_owned(),
                retryable: true,
                told: false,
            })
        });
        self.client.push(ToClient::Reply(Reply { id: self.request, error: error.map(Box::new) }));
    }
}
