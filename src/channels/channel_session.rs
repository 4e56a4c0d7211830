//! Session behind a key: the one that its row names while that is fresh, else a new one. The row says where the last
//! message came from.

use super::engine_client::EngineClient;
use super::hub::ChannelHub;
use super::message::InboundMessage;
use super::rows::now;
use crate::domain::ids::{At, ConnectionName, SessionId};
use crate::domain::property_change::PropertyChange;
use crate::domain::sanitise::clean_line;
use crate::protocol::{Command, EngineCommand, EngineEvent, Event, NewSession, Opened, SessionCommand};
use crate::routes::key::{AgentId, ChatType, SessionKey, find_spellings};
use crate::routes::reset::{
    Freshness, ResetFacts, forks_parent, freshness, policy, record_interaction, reset_type, restarted,
};
use crate::routes::row::{Origin, SessionRow, StoredRow, ThreadId};
use crate::routes::store::RouteRows;
use jiff::tz::TimeZone;

/// Session that is open, with its row.
#[derive(Debug)]
pub(super) struct ChannelSession {
    pub client: EngineClient,
    pub opened: Opened,
    pub row: SessionRow,
}

/// Reason to begin a new conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Restart {
    /// Only if the one of the row is over.
    IfOver,
    /// In any case; a model may be chosen with it: connection and name.
    Now(Option<(String, String)>),
}

/// Row of a key as it was found.
#[derive(Debug)]
enum FoundRow {
    /// Its conversation goes on.
    Fresh(Box<SessionRow>),
    /// Its conversation is over.
    Over(Box<SessionRow>),
    /// There is none; that of the thread's parent, if its conversation is forked.
    Missing(Option<SessionId>),
    /// A value of another shape.
    Unreadable,
}

/// Row of a key by any spelling, with the texts that it is stored under: the key itself last.
pub(super) fn stored_row(
    rows: &RouteRows,
    key: &SessionKey,
    agent: &AgentId,
    hub: &ChannelHub,
) -> (Option<StoredRow>, Vec<String>) {
    if let Some(row) = rows.get(key.as_str()) {
        return (Some(row), Vec::new());
    }
    let all: Vec<(String, Option<At>)> = rows
        .iter()
        .map(|(text, row)| match row {
            StoredRow::Row(row) => (text.to_owned(), row.updated_at),
            StoredRow::Unreadable(_) => (text.to_owned(), None),
        })
        .collect();
    let lookup = find_spellings(key, all.iter().map(|(text, at)| (text.as_str(), *at)), agent, &hub.names);
    let row = lookup.found.as_deref().and_then(|text| rows.get(text));
    let mut stale = lookup.stale;
    // A folded spelling may be another room's: it is read, and stays.
    stale.extend(lookup.found.filter(|text| SessionKey::resolve(text, agent, &hub.names).ok().as_ref() == Some(key)));
    (row, stale)
}

/// Row of a key, if it can be read.
pub(super) fn readable_row(
    rows: &RouteRows,
    key: &SessionKey,
    agent: &AgentId,
    hub: &ChannelHub,
) -> Option<SessionRow> {
    match stored_row(rows, key, agent, hub).0 {
        Some(StoredRow::Row(row)) => Some(*row),
        Some(StoredRow::Unreadable(_)) | None => None,
    }
}

/// Writes a row in the place of its other spellings.
pub(super) fn put_row(rows: &mut RouteRows, key: &SessionKey, row: &SessionRow, stale: &[String]) {
    for text in stale {
        rows.remove(text);
    }
    if let Err(error) = rows.set(key.as_str(), row) {
        tracing::error!(%error, key = key.as_str(), "can't write a session row as JSON");
    }
}

/// Notes where a message came from, and where replies go.
fn note_place(row: &mut SessionRow, message: &InboundMessage) {
    let thread = message.thread.clone().map(ThreadId::Text);
    let chat_type = message.chat_type();
    let group = message.chat.as_ref().filter(|_| chat_type != ChatType::Direct);
    let place = &mut row.place;
    let origin = place.origin.take().unwrap_or_default();
    place.origin = Some(Origin {
        label: Some(message.label()),
        provider: Some(message.channel.clone()),
        surface: Some(message.channel.clone()),
        chat_type: Some(chat_type),
        from: Some(message.from.id.clone()),
        to: Some(message.reply_to().to_owned()),
        account_id: message.account.clone(),
        thread_id: thread.clone(),
        other: origin.other,
    });
    place.chat_type = Some(chat_type);
    place.channel = Some(message.channel.clone());
    place.group_id = group.map(|chat| chat.id.clone());
    place.subject = group.and_then(|chat| chat.name.clone());
    place.space = message.guild.clone().or_else(|| message.team.clone());
    place.last_channel = Some(message.channel.clone());
    place.last_to = Some(message.reply_to().to_owned());
    place.last_account_id.clone_from(&message.account);
    place.last_thread_id = thread;
    place.delivery_context = None;
    row.sync_delivery();
}

fn reset_facts(message: &InboundMessage) -> ResetFacts {
    ResetFacts { in_thread: message.thread.is_some(), in_group: !message.is_direct() }
}

/// Rule of resets that is in force for a key.
pub(super) fn reset_policy(
    hub: &ChannelHub,
    key: &SessionKey,
    message: &InboundMessage,
) -> crate::routes::reset::ResetPolicy {
    policy(&hub.session, reset_type(key, reset_facts(message)), Some(&message.channel))
}

/// One conversation's way to its session.
pub(super) struct SessionFinder<'a> {
    pub hub: &'a std::sync::Arc<ChannelHub>,
    pub agent: &'a AgentId,
    pub key: &'a SessionKey,
    pub message: &'a InboundMessage,
}

impl SessionFinder<'_> {
    /// Opens the session of a message.
    ///
    /// # Errors
    /// A sentence without its end.
    pub async fn open(&self, restart: Restart) -> Result<ChannelSession, String> {
        let engine = self.hub.engine(self.agent).await?;
        let mut client = EngineClient::of(&engine, &self.message.channel);
        let row = match self.find(&restart).await? {
            FoundRow::Fresh(row) => match client.open(&row.conversation.session_id).await {
                Ok(Some(opened)) => return self.in_its_mode(client, opened, *row).await,
                // Somebody deleted it: the row gets a new one.
                Ok(None) => Some((*row, false)),
                Err(error) => return Err(error.text().to_owned()),
            },
            FoundRow::Over(row) => Some((*row, true)),
            FoundRow::Missing(parent) => {
                if let Some(parent) = parent
                    && let Some(forked) = self.fork(&mut client, parent).await
                {
                    let row = self.put(forked.meta.id.clone(), true, None).await?;
                    return self.in_its_mode(client, forked, row).await;
                }
                None
            }
            FoundRow::Unreadable => return Err(format!("the row of {} is damaged", self.key)),
        };
        let model = match &restart {
            Restart::Now(Some(chosen)) => Some(chosen.clone()),
            Restart::Now(None) | Restart::IfOver => None,
        };
        let new = self.new_session(row.as_ref().map(|(row, _)| row), model.as_ref())?;
        let opened = client.create(new).await.map_err(|error| error.text().to_owned())?;
        let before = row.filter(|(_, archives)| *archives).map(|(row, _)| row.conversation.session_id);
        let row = self.put(opened.meta.id.clone(), false, model).await?;
        if let Some(before) = before.filter(|before| *before != opened.meta.id) {
            let change = EngineCommand::Change { sessions: vec![before], change: PropertyChange::Archived(true) };
            if let Err(error) = client.ask(Command::Engine(change), None).await {
                tracing::warn!(error = error.text(), "can't archive the conversation before a reset");
            }
        }
        Ok(ChannelSession { client, opened, row })
    }

    /// The session in the agent's mode, whatever mode the operator worked in there: it holds for the operator's own turns.
    async fn in_its_mode(
        &self,
        mut client: EngineClient,
        mut opened: Opened,
        row: SessionRow,
    ) -> Result<ChannelSession, String> {
        let mode = self.hub.settings.agent(self.agent).mode;
        if opened.meta.mode > mode {
            let command = SessionCommand::Mode { mode, drop_plan: false };
            client.session(&opened.meta.id, command, None).await.map_err(|error| error.text().to_owned())?;
            opened.meta.mode = mode;
        }
        Ok(ChannelSession { client, opened, row })
    }

    /// Makes a session for a named one; its row is the caller's.
    ///
    /// # Errors
    /// A sentence without its end.
    pub async fn create(&self, name: Option<&str>) -> Result<SessionId, String> {
        let engine = self.hub.engine(self.agent).await?;
        let mut client = EngineClient::of(&engine, &self.message.channel);
        let mut new = self.new_session(None, None)?;
        if let Some(name) = name {
            new.title = Some(format!("{} · {}", self.title(), clean_line(name)));
        }
        let opened = client.create(new).await.map_err(|error| error.text().to_owned())?;
        Ok(opened.meta.id)
    }

    /// Looks at the row. One that goes on notes the message.
    async fn find(&self, restart: &Restart) -> Result<FoundRow, String> {
        let (hub, agent, key, message) = (self.hub.clone(), self.agent.clone(), self.key.clone(), self.message.clone());
        let restart = restart.clone();
        let find = move |rows: &mut RouteRows| {
            let (row, stale) = stored_row(rows, &key, &agent, &hub);
            let mut row = match row {
                Some(StoredRow::Row(row)) => row,
                Some(StoredRow::Unreadable(_)) => return FoundRow::Unreadable,
                None => return FoundRow::Missing(forked_parent(rows, &key, &agent, &hub)),
            };
            let now = now();
            let rule = policy(&hub.session, reset_type(&key, reset_facts(&message)), Some(&message.channel));
            let fresh = freshness(rule, &row, now, &TimeZone::system()) == Freshness::Fresh;
            if !fresh || restart != Restart::IfOver {
                return FoundRow::Over(row);
            }
            note_place(&mut row, &message);
            record_interaction(&mut row, now);
            put_row(rows, &key, &row, &stale);
            FoundRow::Fresh(row)
        };
        self.hub.rows.edit(&self.hub.store(self.agent), find).await
    }

    /// Puts a new session into the row.
    async fn put(
        &self,
        session: SessionId,
        forked: bool,
        model: Option<(String, String)>,
    ) -> Result<SessionRow, String> {
        let (hub, agent, key, message) = (self.hub.clone(), self.agent.clone(), self.key.clone(), self.message.clone());
        let put = move |rows: &mut RouteRows| {
            let now = now();
            let (row, stale) = stored_row(rows, &key, &agent, &hub);
            let mut row = match row {
                Some(StoredRow::Row(row)) => restarted(&row, session, now),
                Some(StoredRow::Unreadable(_)) | None => SessionRow::new(session, now),
            };
            if forked {
                row.links.forked_from_parent = Some(true);
            }
            if let Some((provider, model)) = model {
                row.settings.provider_override = Some(provider);
                row.settings.model_override = Some(model);
                row.settings.model_override_source = Some(crate::routes::row::OverrideSource::User);
            }
            note_place(&mut row, &message);
            put_row(rows, &key, &row, &stale);
            row
        };
        self.hub.rows.edit(&self.hub.store(self.agent), put).await
    }

    /// A session that goes on from a thread's parent.
    async fn fork(&self, client: &mut EngineClient, parent: SessionId) -> Option<Opened> {
        let branch = EngineCommand::Branch { session: parent, at: None, title: Some(self.title()) };
        let events = client.ask(Command::Engine(branch), None).await.ok()?;
        let branched = events.iter().find_map(|stamped| match &stamped.event {
            Event::Engine(EngineEvent::Branched { to, .. }) => Some(to.clone()),
            Event::Engine(_) | Event::Session { .. } => None,
        })?;
        client.open(&branched).await.ok().flatten()
    }

    fn title(&self) -> String {
        format!("{} · {}", self.message.channel, self.message.label())
    }

    fn new_session(&self, row: Option<&SessionRow>, model: Option<&(String, String)>) -> Result<NewSession, String> {
        let agent = self.hub.settings.agent(self.agent);
        let of_row = row.and_then(SessionRow::model_override);
        let (connection, model) = match (model, of_row) {
            (Some((provider, model)), _) => (Some(provider.clone()), Some(model.clone())),
            (None, Some((provider, model))) => {
                (provider.map(str::to_owned).or(agent.connection), Some(model.to_owned()))
            }
            (None, None) => (agent.connection, agent.model),
        };
        let name = row.and_then(|row| row.links.label.clone());
        Ok(NewSession {
            cwd: Some(self.hub.directory(self.agent)?),
            title: Some(name.map_or_else(|| self.title(), |name| format!("{} · {name}", self.title()))),
            connection: connection.map(ConnectionName::new),
            model,
            mode: Some(agent.mode),
            ..NewSession::default()
        })
    }
}

/// Conversation of a thread's parent, if the first message of the thread goes on from it.
fn forked_parent(rows: &RouteRows, key: &SessionKey, agent: &AgentId, hub: &ChannelHub) -> Option<SessionId> {
    let parent = readable_row(rows, &key.thread_parent()?, agent, hub)?;
    forks_parent(None, &parent, hub.session.parent_fork_max_tokens).then_some(parent.conversation.session_id)
}
