//! Channels: messages of other people come in, turns answer them, replies go out.
//!
//! | Module | Content |
//! | --- | --- |
//! | `message` | a message as it comes in, checked and made harmless |
//! | `intake` | the way in: signature, allow list, session key, journal |
//! | `record`, `journal`, `ledger` | messages, turns and replies that are not done, on disk before anybody hears of them |
//! | `hub`, `mailboxes` | what all tasks share; one task a route, a session key and a channel, while there is work |
//! | `route_task`, `commands` | commands in messages: `/session` of the route, the others of the conversation |
//! | `conversation`, `channel_session`, `turn`, `engine_client` | the queue of a session key, its session with resets, the turn as it is followed |
//! | `reply`, `delivery` | the send policy; signed posts to the webhook, again where that may help, dead letters |
//! | `rows` | changes of session rows, those that wait together |
//! | `files`, `audit` | allow lists, pairing requests and secrets; the log |
//!
//! Rules are those of [`crate::routes`], sessions those of [`crate::agent`]. Sockets are left to the gateway.
//!
//! Invariants: a message is on disk before it is answered, and its turn before the session has it; a message and its reply
//! are done in one record. So each message is taken once and answered once, whenever the process dies. A command whose answer was not noted
//! is done again.

mod audit;
mod channel_session;
mod commands;
mod conversation;
mod delivery;
mod engine_client;
mod files;
mod hub;
mod intake;
mod journal;
mod ledger;
mod mailboxes;
mod message;
mod record;
mod reply;
mod route_task;
mod rows;
mod turn;

pub use audit::ChannelLogLine;
pub use delivery::{SIGNATURE_HEADER, TIME_HEADER};
pub use files::ChannelFiles;
pub use hub::{ChannelEngines, ChannelPlaces, EngineFuture};
pub use intake::{InboundAnswer, InboundError, InboundProof};
pub use message::{InboundMessage, MessageChat, MessageSender};

use crate::json_log::{self, JsonLog};
use crate::routes::channel_config::ChannelSettings;
use crate::routes::config::SessionConfig;
use crate::routes::key::OpaqueChannels;
use hub::ChannelHub;
use ledger::Ledger;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::{Arc, OnceLock};

/// Bytes of the file of dead letters before it is begun again; the one before is kept.
const DEAD_LETTERS: u64 = 64 << 20;

/// Channels of a gateway.
#[derive(Clone)]
pub struct Channels(Arc<ChannelHub>);

/// Figures of the channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ChannelFigures {
    /// Configured channels.
    pub channels: usize,
    /// Messages that are not done.
    pub messages: usize,
    /// Replies that are not delivered.
    pub replies: usize,
    /// Session keys at work.
    pub busy: usize,
}

impl Channels {
    /// Channels of a home: reads what is not done.
    ///
    /// # Errors
    /// Fails if a file can't be read or written.
    pub fn open(places: ChannelPlaces, session: SessionConfig, settings: ChannelSettings) -> io::Result<Self> {
        Self::of(places, session, settings, None)
    }

    /// Channels that take nothing and do nothing, for a reason: a sentence without its end. What is not done stays so.
    ///
    /// # Errors
    /// Fails if a file can't be read or written.
    pub fn closed(places: ChannelPlaces, why: &str) -> io::Result<Self> {
        Self::of(places, SessionConfig::default(), ChannelSettings::default(), Some(why.to_owned()))
    }

    fn of(
        places: ChannelPlaces,
        session: SessionConfig,
        settings: ChannelSettings,
        closed: Option<String>,
    ) -> io::Result<Self> {
        let files = ChannelFiles::in_folder(places.files.clone());
        files.make()?;
        let ledger = Ledger::open(files.journal(), rows::now())?;
        let hub = ChannelHub {
            names: session.key_names(OpaqueChannels::default()),
            log: JsonLog::new(files.log(), json_log::USUAL),
            dead_letters: JsonLog::new(files.dead_letters(), DEAD_LETTERS).into(),
            places,
            session,
            settings,
            files,
            ledger,
            rows: rows::RowWriters::default(),
            routes: mailboxes::Mailboxes::default(),
            conversations: mailboxes::Mailboxes::default(),
            outboxes: mailboxes::Mailboxes::default(),
            engines: OnceLock::new(),
            closed,
            ending: tokio_util::sync::CancellationToken::new(),
        };
        Ok(Self(Arc::new(hub)))
    }

    /// Begins to work, with what was not done first.
    pub async fn start(&self, engines: Arc<dyn ChannelEngines>) {
        if self.0.engines.set(engines).is_ok() && self.0.closed.is_none() {
            intake::go_on(&self.0).await;
        }
    }

    /// Takes a message: the body of a request as it came.
    ///
    /// # Errors
    /// Fails if it is no message, is not signed as it should be, or can't be written.
    pub async fn take(&self, body: &[u8], proof: InboundProof<'_>) -> Result<InboundAnswer, InboundError> {
        if let Some(why) = &self.0.closed {
            return Err(InboundError::Unavailable(why.clone()));
        }
        intake::take(&self.0, body, proof).await
    }

    /// Ends the tasks, before the engines end. What is not done is done by the next gateway.
    pub fn end(&self) {
        self.0.ending.cancel();
    }

    /// Figures.
    #[must_use]
    pub fn figures(&self) -> ChannelFigures {
        let (messages, replies) = self.0.ledger.look(|state| (state.pending.len(), state.replies.len()));
        let busy = self.0.conversations.len();
        ChannelFigures { channels: self.0.settings.channels.len(), messages, replies, busy }
    }
}
