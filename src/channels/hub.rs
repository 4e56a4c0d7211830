//! Shared parts of all tasks of the channels: settings, state, files, engines.

use super::files::ChannelFiles;
use super::ledger::{Ledger, written};
use super::mailboxes::Mailboxes;
use super::message::InboundMessage;
use super::record::{ChannelReply, ChannelTurn, TakenMessage};
use super::rows::RowWriters;
use crate::agent::Engine;
use crate::json_log::JsonLog;
use crate::routes::channel_config::{ChannelConfig, ChannelSettings};
use crate::routes::config::SessionConfig;
use crate::routes::key::{AgentId, KeyError, KeyNames, SessionKey};
use crate::routes::owner_command::OwnerCommand;
use crate::routes::routing::{bind_agent, route_key};
use crate::routes::store::store_path;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use tokio_util::sync::CancellationToken;

/// Folder in the home directory with the working directories of agents that name none.
const OWN_DIRECTORIES: &str = "lisle-agents";

/// Engine of a workspace, once it is open.
pub type EngineFuture<'a> = Pin<Box<dyn Future<Output = Result<Engine, String>> + Send + 'a>>;

/// Opens engines of workspaces.
pub trait ChannelEngines: Send + Sync {
    /// The engine of a workspace's folder, opened if it is not yet.
    fn engine(&self, folder: PathBuf) -> EngineFuture<'_>;
}

/// Folders that channels use.
#[derive(Clone, Debug)]
pub struct ChannelPlaces {
    /// Files of channels, out of reach of a model's commands.
    pub files: PathBuf,
    /// Session rows of agents.
    pub agents: PathBuf,
    /// Workspaces of agents.
    pub workspaces: PathBuf,
    /// Home directory of the user.
    pub home: PathBuf,
}

/// Message with its route.
#[derive(Clone, Debug)]
pub(super) struct RoutedMessage {
    pub taken: TakenMessage,
    pub agent: AgentId,
    /// Key of the route, before the pointer to a named session.
    pub base: SessionKey,
}

/// Work for the conversation of a key.
#[derive(Debug)]
pub(super) enum ConversationInput {
    /// A message, with the command in it that its sender may use.
    Message(Box<TakenMessage>, Option<Box<OwnerCommand>>),
    /// A turn that a death interrupted.
    Interrupted(Box<ChannelTurn>),
}

/// Shared parts.
pub(super) struct ChannelHub {
    pub places: ChannelPlaces,
    pub session: SessionConfig,
    pub settings: ChannelSettings,
    pub names: KeyNames,
    pub files: ChannelFiles,
    pub ledger: Ledger,
    pub log: JsonLog,
    /// Replies that were given up.
    pub dead_letters: Arc<JsonLog>,
    pub rows: RowWriters,
    pub routes: Mailboxes<RoutedMessage>,
    pub conversations: Mailboxes<ConversationInput>,
    /// Numbers of replies, by channel.
    pub outboxes: Mailboxes<u64>,
    pub engines: OnceLock<Arc<dyn ChannelEngines>>,
    /// Reason why nothing is taken.
    pub closed: Option<String>,
    /// Cancelled before the engines end.
    pub ending: CancellationToken,
}

impl ChannelHub {
    /// Settings of a channel.
    pub fn channel(&self, name: &str) -> Option<&ChannelConfig> {
        self.settings.channels.get(name)
    }

    /// Agent and session key of a message.
    pub fn route(&self, message: &InboundMessage) -> Result<(AgentId, SessionKey), KeyError> {
        let (agent, _) = bind_agent(&self.settings.bindings, &message.binding_facts(), &AgentId::default());
        let key = route_key(&agent, &message.route(), &self.session, &self.names)?;
        // The global session belongs to no agent in particular.
        Ok((key.agent().cloned().unwrap_or_default(), key))
    }

    /// File of an agent's rows.
    pub fn store(&self, agent: &AgentId) -> PathBuf {
        store_path(&self.places.agents, self.session.store.as_deref(), &self.places.home, agent)
    }

    /// Folder of an agent's workspace.
    pub fn workspace(&self, agent: &AgentId) -> PathBuf {
        self.places.workspaces.join(agent.as_str())
    }

    /// Working directory of an agent's tools, which is made if it is its own.
    ///
    /// # Errors
    /// A sentence without its end.
    pub fn directory(&self, agent: &AgentId) -> Result<PathBuf, String> {
        let Some(written) = self.settings.agent(agent).directory else {
            // Outside lisle's own folders, in which no session works.
            let own = self.places.home.join(OWN_DIRECTORIES).join(agent.as_str());
            std::fs::create_dir_all(&own).map_err(|error| format!("can't make {}: {error}", own.display()))?;
            return Ok(own);
        };
        let folder = match written.strip_prefix("~") {
            Ok(rest) => self.places.home.join(rest),
            Err(_) => written,
        };
        if folder.is_absolute() && folder.is_dir() {
            Ok(folder)
        } else {
            Err(format!("agents.{agent}.directory is not a folder: {}", folder.display()))
        }
    }

    /// The engine of an agent's workspace.
    ///
    /// # Errors
    /// A sentence without its end.
    pub async fn engine(&self, agent: &AgentId) -> Result<Engine, String> {
        match self.engines.get() {
            Some(engines) => {
                engines.engine(self.workspace(agent)).await.map_err(|why| why.trim_end_matches('.').into())
            }
            None => Err("the gateway is starting".to_owned()),
        }
    }

    /// Notes that messages are done with. Returns the number of the reply that is to be delivered. Without a webhook
    /// replies stay in the conversation.
    pub async fn done(&self, of: Vec<u64>, reply: Option<ChannelReply>) -> Option<u64> {
        let reply = reply.filter(|reply| self.channel(&reply.channel).is_some_and(|one| one.webhook.is_some()));
        let (number, done) = self.ledger.done(of, reply);
        if let Err(error) = written(done).await {
            // In memory it is so, and the next record may be written again.
            tracing::error!(error, "can't note that messages of channels are done");
        }
        number
    }
}
