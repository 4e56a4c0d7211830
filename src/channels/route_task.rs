//! One route at work: reads commands, does those of `/session`, and hands everything else to the conversation that the
//! route's pointer names. `/session` never looks at the age of a conversation.

use super::audit::ChannelLogLine;
use super::channel_session::{ChannelSession, Restart, SessionFinder, put_row, readable_row};
use super::conversation::hand;
use super::delivery::deliver;
use super::hub::{ChannelHub, ConversationInput, RoutedMessage};
use super::record::{ChannelReply, ReplyKind, TakenMessage};
use super::reply::may_send;
use super::rows::now;
use crate::domain::ids::SessionId;
use crate::domain::sanitise::clean_line;
use crate::routes::key::{AgentId, SessionKey};
use crate::routes::named::{NamedError, NewNames, children, find_child, list_lines, new_child, target_key};
use crate::routes::owner_command::{
    CommandVerdict, CommandWords, OwnerCommand, Sender, SenderStanding, SessionVerb, UsageError, parse, verdict,
};
use crate::routes::row::{SessionRow, StoredRow};
use crate::routes::store::RouteRows;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;

/// Hands a message to its route.
pub(super) fn dispatch(hub: &Arc<ChannelHub>, taken: TakenMessage, agent: AgentId, base: SessionKey) {
    let (all, name) = (hub.clone(), base.to_string());
    let message = RoutedMessage { taken, agent, base };
    hub.routes.post(&name.clone(), message, move |from| drop(tokio::spawn(run(all, name, from))));
}

async fn run(hub: Arc<ChannelHub>, name: String, mut from: UnboundedReceiver<RoutedMessage>) {
    while let Some(message) = from.recv().await {
        if hub.ending.is_cancelled() {
            return;
        }
        RouteWork { hub: &hub, message }.go().await;
        if hub.routes.retire(&name, &from) {
            return;
        }
    }
}

/// Reading of a message, by its words and its sender.
enum MessageReading {
    Message,
    Command(OwnerCommand),
    Usage(UsageError),
    Ignored,
}

struct RouteWork<'a> {
    hub: &'a Arc<ChannelHub>,
    message: RoutedMessage,
}

impl RouteWork<'_> {
    async fn go(self) {
        let command = match self.read().await {
            MessageReading::Message => None,
            MessageReading::Command(command) => Some(command),
            MessageReading::Usage(error) => return self.answer(error.to_string()).await,
            MessageReading::Ignored => {
                let message = &self.message.taken.message;
                let line = ChannelLogLine::of("refused", message, "no right to commands");
                self.hub.log.add(&ChannelLogLine { key: self.message.base.to_string(), ..line });
                self.hub.done(vec![self.message.taken.n], None).await;
                return;
            }
        };
        if let Some(OwnerCommand::Session(verb)) = command {
            let text = match self.named(verb).await {
                Ok(text) => text,
                Err(why) => {
                    tracing::warn!(why, key = self.message.base.as_str(), "a command of a channel failed");
                    "That failed. The operator can see why.".to_owned()
                }
            };
            return self.answer(text).await;
        }
        let target = self.target().await;
        let input = ConversationInput::Message(Box::new(self.message.taken), command.map(Box::new));
        hand(self.hub, &self.message.agent, &target, input);
    }

    /// Reads a command, and decides if the sender may use it.
    async fn read(&self) -> MessageReading {
        let message = &self.message.taken.message;
        let config = self.hub.channel(&message.channel).cloned().unwrap_or_default();
        let mentions: Vec<&str> = config.mentions.iter().map(String::as_str).collect();
        let words = CommandWords { triggers: &self.hub.session.reset_triggers, mentions: &mentions, models: &[] };
        let Some(parsed) = parse(&message.text, &words) else { return MessageReading::Message };
        let (files, channel, allow_from) = (self.hub.files.clone(), message.channel.clone(), config.allow_from.clone());
        let access = tokio::task::spawn_blocking(move || files.channel_access(&channel, &allow_from)).await;
        let list = match access {
            Ok(Ok(access)) => access.allowed,
            Ok(Err(_)) | Err(_) => return MessageReading::Ignored,
        };
        let sender = Sender::Person { channel: &message.channel, id: &message.from.id };
        let standing = self.hub.settings.commands.standing(sender, &list, &self.hub.names.opaque);
        match parsed {
            Ok(command) => match verdict(&command, standing) {
                CommandVerdict::Run => MessageReading::Command(command),
                CommandVerdict::Ignore => MessageReading::Ignored,
                CommandVerdict::Message => MessageReading::Message,
            },
            Err(error) if standing >= SenderStanding::Authorised => MessageReading::Usage(error),
            Err(_) => MessageReading::Ignored,
        }
    }

    /// Changes or reads the rows of the agent.
    async fn edit<T: Send + 'static>(
        &self,
        edit: impl FnOnce(&mut RouteRows, &ChannelHub, &AgentId, &SessionKey) -> T + Send + 'static,
    ) -> Result<T, String> {
        let (hub, agent, base) = (self.hub.clone(), self.message.agent.clone(), self.message.base.clone());
        let store = self.hub.store(&agent);
        self.hub.rows.edit(&store, move |rows| edit(rows, &hub, &agent, &base)).await
    }

    /// Key that a message goes to.
    async fn target(&self) -> SessionKey {
        let target = self
            .edit(|rows, hub, agent, base| {
                let row = readable_row(rows, base, agent, hub);
                let exists = |key: &SessionKey| readable_row(rows, key, agent, hub).is_some();
                target_key(base, row.as_ref(), None, &hub.names.opaque, exists)
            })
            .await;
        // Without its store the conversation fails with the reason.
        target.unwrap_or_else(|_| self.message.base.clone())
    }

    async fn answer(&self, text: String) {
        let (taken, base) = (&self.message.taken, &self.message.base);
        let row = self.edit(|rows, hub, agent, base| readable_row(rows, base, agent, hub)).await.ok().flatten();
        let reply = may_send(self.hub, base, row.as_ref(), taken).then(|| ChannelReply {
            key: Some(base.to_string()),
            ..ChannelReply::to(&taken.message, ReplyKind::Command, text, now())
        });
        if let Some(n) = self.hub.done(vec![taken.n], reply).await {
            deliver(self.hub, &taken.message.channel, n);
        }
    }

    /// Does a `/session` command. Returns its answer.
    async fn named(&self, verb: SessionVerb) -> Result<String, String> {
        match verb {
            SessionVerb::New { name } => self.new_session(name).await,
            SessionVerb::List => {
                self.edit(|rows, hub, agent, base| {
                    let all = readable_rows(rows, hub);
                    let row = readable_row(rows, base, agent, hub);
                    let exists = |key: &SessionKey| all.iter().any(|(other, _)| other == key);
                    let active = target_key(base, row.as_ref(), None, &hub.names.opaque, exists);
                    let lines = list_lines(base, &active, &children(base, all.iter().map(|(key, row)| (key, row))));
                    lines.join("\n")
                })
                .await
            }
            SessionVerb::Current => {
                let active = self.target().await;
                let shown = active.clone();
                let label = self
                    .edit(move |rows, hub, agent, _| {
                        readable_row(rows, &shown, agent, hub).and_then(|row| row.links.label)
                    })
                    .await?;
                let name = if active == self.message.base { "Main".to_owned() } else { label.unwrap_or_default() };
                Ok(format!("Session: {}\n{active}", clean_line(&name)))
            }
            SessionVerb::Switch { target } => self.switch(target).await,
            SessionVerb::Close => {
                self.edit(|rows, hub, agent, base| point(rows, hub, agent, base, None)).await?;
                Ok("The main session is active.".to_owned())
            }
        }
    }

    async fn switch(&self, target: String) -> Result<String, String> {
        self.edit(move |rows, hub, agent, base| {
            let all = readable_rows(rows, hub);
            let found = children(base, all.iter().map(|(key, row)| (key, row)));
            let shown = clean_line(&target).into_owned();
            let Some(key) = find_child(&target, &found) else {
                return format!("No session {shown:?}. /session list shows them.");
            };
            let label = found.iter().find(|(other, _)| *other == key).and_then(|(_, row)| row.links.label.clone());
            point(rows, hub, agent, base, Some(key));
            format!("Session {:?} is active.", label.unwrap_or(shown))
        })
        .await
    }

    async fn new_session(&self, name: Option<String>) -> Result<String, String> {
        let (taken, agent, base) = (&self.message.taken, &self.message.agent, &self.message.base);
        let finder = SessionFinder { hub: self.hub, agent, key: base, message: &taken.message };
        // The pointer lies in the base row.
        let is_there = self.edit(|rows, hub, agent, base| readable_row(rows, base, agent, hub).is_some()).await?;
        if !is_there {
            let ChannelSession { .. } = finder.open(Restart::IfOver).await?;
        }
        let session: SessionId = finder.create(name.as_deref()).await?;
        self.edit(move |rows, hub, agent, base| {
            let all = readable_rows(rows, hub);
            let base_row = readable_row(rows, base, agent, hub);
            let names = NewNames {
                opaque: &hub.names.opaque,
                label_taken: &|label: &str| {
                    let same = |row: &SessionRow| {
                        row.links.label.as_ref().is_some_and(|one| one.to_lowercase() == label.to_lowercase())
                    };
                    all.iter().any(|(_, row)| same(row))
                },
                key_taken: &|key: &SessionKey| rows.get(key.as_str()).is_some(),
            };
            match new_child(base, base_row.as_ref(), name.as_deref(), session, now(), &names) {
                Ok((key, row)) => {
                    let label = row.links.label.clone().unwrap_or_default();
                    put_row(rows, &key, &row, &[]);
                    point(rows, hub, agent, base, Some(&key));
                    format!("Session {label:?} is active: new messages in this chat go there.")
                }
                Err(NamedError::Label) => "A name has at most 64 characters.".to_owned(),
                Err(NamedError::Key(error)) => format!("Invalid session name: {error}."),
            }
        })
        .await
    }
}

/// Rows that can be read, with their keys.
fn readable_rows(rows: &RouteRows, hub: &ChannelHub) -> Vec<(SessionKey, SessionRow)> {
    let readable = |(text, row): (&str, StoredRow)| match row {
        StoredRow::Row(row) => Some((SessionKey::parse(text, &hub.names.opaque).ok()?, *row)),
        StoredRow::Unreadable(_) => None,
    };
    rows.iter().filter_map(readable).collect()
}

/// Points the base row to a named session, or to none.
fn point(rows: &mut RouteRows, hub: &ChannelHub, agent: &AgentId, base: &SessionKey, to: Option<&SessionKey>) {
    if let Some(mut row) = readable_row(rows, base, agent, hub) {
        row.links.active_session_key = to.map(ToString::to_string);
        put_row(rows, base, &row, &[]);
    }
}
