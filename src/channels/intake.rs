//! The way in: who sends it, whether the message was changed on its way, who wrote it, and where it belongs. It is on disk
//! before it is answered.

use super::audit::ChannelLogLine;
use super::conversation::hand;
use super::delivery::deliver;
use super::files::random;
use super::hub::{ChannelHub, ConversationInput};
use super::ledger::{Taking, written};
use super::message::InboundMessage;
use super::record::{ChannelReply, ChannelTurn, ReplyKind, TakenMessage};
use super::route_task::dispatch;
use super::rows::now;
use crate::routes::allow::{Admission, Knock, SignatureError, SignedRequest, verify};
use crate::routes::channel_config::ChannelConfig;
use crate::routes::key::{AgentId, SessionKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Proof that a request comes from a bridge of the operator.
#[derive(Clone, Copy, Debug)]
pub enum InboundProof<'a> {
    /// Its token, or its place on this machine.
    Known,
    /// Its signature.
    Signed {
        /// Time as sent.
        time: &'a str,
        /// Signature as sent.
        signature: &'a str,
    },
}

/// Outcome for a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub enum InboundAnswer {
    /// It was taken.
    Accepted {
        /// Id of the message.
        id: String,
        /// Session key.
        key: String,
    },
    /// A message of this id was taken before; nothing was done now.
    Duplicate {
        /// Id of the message.
        id: String,
    },
    /// The sender is not known, and gets this text with a code.
    Pairing {
        /// Id of the message.
        id: String,
        /// Text for the sender.
        reply: String,
    },
    /// Nothing was done.
    Refused {
        /// Id of the message.
        id: String,
        /// Reason.
        reason: String,
    },
}

/// Error of a request. The texts are sentences without their end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InboundError {
    /// It is no message.
    Invalid(String),
    /// There is no channel of this name.
    UnknownChannel(String),
    /// The signature is wrong.
    Forged(SignatureError),
    /// It may be taken later.
    Unavailable(String),
}

/// Takes a message.
///
/// # Errors
/// Fails if it is no message, is not signed as it should be, or can't be written.
pub(super) async fn take(
    hub: &Arc<ChannelHub>,
    body: &[u8],
    proof: InboundProof<'_>,
) -> Result<InboundAnswer, InboundError> {
    if let InboundProof::Signed { time, signature } = proof {
        // Until the signature holds nothing is said of the body.
        let named = serde_json::from_slice::<NamedChannel>(body).ok();
        let known = named.and_then(|named| hub.settings.channel(&named.channel));
        let secret = match known.map(|(name, _)| name.to_string()) {
            Some(name) => {
                let files = hub.files.clone();
                let read = tokio::task::spawn_blocking(move || files.secret(&name)).await;
                read.map_err(std::io::Error::other).flatten().map_err(unavailable).ok().flatten()
            }
            None => None,
        };
        check(secret.as_deref(), &SignedRequest { time, signature, body }).map_err(InboundError::Forged)?;
    }
    let message = InboundMessage::parse(body).map_err(InboundError::Invalid)?;
    let known = hub.settings.channel(&message.channel);
    let Some((_, config)) = known else { return Err(InboundError::UnknownChannel(message.channel)) };
    match admit(hub, config, &message).await? {
        Admission::Admitted => to_its_end(admitted(hub.clone(), message)).await?,
        Admission::Code { code, displaced } => {
            let code = code.as_str().to_owned();
            if let Some(sender) = displaced {
                let why = "the list of pairing requests was full: this one made room";
                let line = ChannelLogLine::of("displaced", &message, why);
                hub.log.add(&ChannelLogLine { person: sender, ..line });
            }
            to_its_end(pairing(hub.clone(), message, code)).await
        }
        Admission::Refused(reason) => {
            hub.log.add(&ChannelLogLine::of("refused", &message, reason.text()));
            Ok(InboundAnswer::Refused { id: message.id, reason: reason.text().to_owned() })
        }
    }
}

/// The part of a message that says whose secret signed it.
#[derive(Deserialize)]
struct NamedChannel {
    channel: String,
}

/// Runs on where the client hangs up: a message that is noted as taken is also handed on.
async fn to_its_end<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<T, InboundError> {
    tokio::spawn(work).await.map_err(unavailable)
}

/// Checks a signature. Without a secret, or a channel, it is wrong in the same way: nobody learns by it which channels
/// there are.
fn check(secret: Option<&str>, request: &SignedRequest<'_>) -> Result<(), SignatureError> {
    let checked = verify(secret.unwrap_or("none").as_bytes(), request, now());
    if secret.is_some() { checked } else { checked.and(Err(SignatureError::Signature)) }
}

fn unavailable(error: impl std::fmt::Display) -> InboundError {
    tracing::error!(%error, "can't take a message of a channel");
    InboundError::Unavailable("messages can't be stored now: see the gateway's log".to_owned())
}

async fn admit(
    hub: &Arc<ChannelHub>,
    config: &ChannelConfig,
    message: &InboundMessage,
) -> Result<Admission, InboundError> {
    let (hub, config, message) = (hub.clone(), config.clone(), message.clone());
    let admit = move || {
        let knock = Knock {
            channel: &message.channel,
            sender: &message.from.id,
            name: message.from.name.as_deref(),
            direct: message.is_direct(),
            now: now(),
            random: random()?,
        };
        hub.files.admit(&knock, &config.allow_from, config.pairing, &hub.names.opaque)
    };
    tokio::task::spawn_blocking(admit).await.map_err(unavailable)?.map_err(unavailable)
}

/// Gives the sender a code, over the channel and to whoever brought the message.
async fn pairing(hub: Arc<ChannelHub>, message: InboundMessage, code: String) -> InboundAnswer {
    let text =
        format!("You are not on this agent's list. Send the operator this code, which is valid for one hour: {code}");
    hub.log.add(&ChannelLogLine::of("pairing", &message, ""));
    let reply = ChannelReply::to(&message, ReplyKind::Pairing, text.clone(), now());
    if let Some(n) = hub.done(Vec::new(), Some(reply)).await {
        deliver(&hub, &message.channel, n);
    }
    InboundAnswer::Pairing { id: message.id, reply: text }
}

async fn admitted(hub: Arc<ChannelHub>, message: InboundMessage) -> Result<InboundAnswer, InboundError> {
    let id = message.id.clone();
    let (agent, key) = hub.route(&message).map_err(|error| {
        hub.log.add(&ChannelLogLine::of("failed", &message, error.to_string()));
        InboundError::Invalid(format!("no session key for this chat: {error}"))
    })?;
    match hub.ledger.take(&message, now()) {
        Taking::New(taken, done) => {
            if let Err(error) = written(done).await {
                hub.ledger.untake(&taken);
                return Err(unavailable(error));
            }
            let answer = InboundAnswer::Accepted { id, key: key.to_string() };
            dispatch(&hub, *taken, agent, key);
            Ok(answer)
        }
        Taking::Duplicate(done) => {
            written(done).await.map_err(unavailable)?;
            // The one that it repeats may not have reached the disk.
            match hub.ledger.look(|state| state.seen.has(&message.source(), &id, now())) {
                true => Ok(InboundAnswer::Duplicate { id }),
                false => Err(unavailable("the message that this one repeats was not written")),
            }
        }
        Taking::Full => Err(InboundError::Unavailable("too many messages wait".to_owned())),
    }
}

/// Goes on where a gateway before this one ended: turns that were begun, then messages, then replies.
pub(super) async fn go_on(hub: &Arc<ChannelHub>) {
    let (turns, pending, replies) = hub.ledger.look(|state| {
        let mut turns: Vec<ChannelTurn> = state.turns.values().cloned().collect();
        turns.sort_by_key(|turn| turn.of.first().copied());
        let begun = |n: &u64| turns.iter().any(|turn| turn.of.contains(n));
        let pending: Vec<TakenMessage> =
            state.pending.iter().filter(|(n, _)| !begun(n)).map(|(_, taken)| taken.clone()).collect();
        let replies: Vec<(u64, String)> =
            state.replies.values().map(|reply| (reply.n, reply.channel.clone())).collect();
        (turns, pending, replies)
    });
    for (n, channel) in replies {
        deliver(hub, &channel, n);
    }
    for turn in turns {
        match SessionKey::resolve(&turn.key, &AgentId::default(), &hub.names) {
            Ok(key) => {
                let agent = key.agent().cloned().unwrap_or_default();
                hand(hub, &agent, &key, ConversationInput::Interrupted(Box::new(turn)));
            }
            Err(error) => {
                tracing::error!(%error, key = turn.key, "a turn of a channel can't go on");
                hub.done(turn.of, None).await;
            }
        }
    }
    for taken in pending {
        match hub.route(&taken.message) {
            Ok((agent, key)) => dispatch(hub, taken, agent, key),
            Err(error) => {
                hub.log.add(&ChannelLogLine::of("failed", &taken.message, error.to_string()));
                hub.done(vec![taken.n], None).await;
            }
        }
    }
}
