//! Methods of the gateway beside `connect`, with what they take and answer.

use crate::domain::SessionId;
use crate::domain::ids::MessageId;
use crate::protocol::{Command, Stamped};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A command of lisle's own: [`CommandParams`]. Answered once the engine has it.
pub const COMMAND: &str = "lisle.command";
/// Event of an engine: [`EngineNews`].
pub const EVENT: &str = "lisle.event";
/// Asks for a sign of life, and says what was seen: [`PingParams`].
pub const PING: &str = "ping";
/// The client leaves and does not come back.
pub const LEAVE: &str = "leave";
/// State of the gateway: [`Status`].
pub const STATUS: &str = "gateway.status";
/// Clients, also those that lost their line lately, and browsers that opened a link: a list of [`ClientShown`].
pub const CLIENTS: &str = "gateway.clients";
/// Cuts a client off: [`DetachParams`].
pub const DETACH: &str = "gateway.detach";
/// Saves and ends: [`StopParams`].
pub const STOP: &str = "gateway.stop";
/// Makes an address that lets one browser in, once: [`LinkMade`].
pub const LINK: &str = "gateway.link";
/// Takes a message of a channel: [`crate::channels::InboundMessage`]. Answered with a [`crate::channels::InboundAnswer`].
pub const CHANNEL_SEND: &str = "channel.send";
/// Figures of the channels: [`crate::channels::ChannelFigures`].
pub const CHANNEL_STATUS: &str = "channel.status";
/// Event: the connection ends, and why: [`Closing`].
pub const CLOSING: &str = "gateway.closing";

/// All methods that a client may call after `connect`.
pub const ALL: &[&str] = &[COMMAND, PING, LEAVE, STATUS, CLIENTS, DETACH, STOP, LINK, CHANNEL_SEND, CHANNEL_STATUS];

/// Parameters of [`COMMAND`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommandParams {
    /// Folder of the workspace; the one of the handshake without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<PathBuf>,
    /// Id of the message that the command sends: one that was taken before is refused as a duplicate, also by a later gateway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
    /// Command.
    pub command: Command,
}

/// Payload of [`EVENT`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EngineNews {
    /// Folder of the workspace.
    pub workspace: PathBuf,
    /// Event.
    pub stamped: Stamped,
}

/// [`EngineNews`] as it is written.
#[derive(Debug, Serialize)]
pub struct EngineNewsRef<'a> {
    /// Folder of the workspace.
    pub workspace: &'a Path,
    /// Event.
    pub stamped: &'a Stamped,
}

/// Parameters of [`PING`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PingParams {
    /// Number of the last event that came.
    #[serde(default)]
    pub seen: u64,
}

/// Parameters of [`DETACH`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DetachParams {
    /// [`ClientShown::id`].
    pub client: String,
}

/// Parameters of [`STOP`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StopParams {
    /// Not before no turn runs.
    #[serde(default)]
    pub when_idle: bool,
}

/// Answer to [`STATUS`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Version of the program.
    pub version: String,
    /// Version of the protocol.
    pub protocol: u32,
    /// Name of the machine.
    pub host: String,
    /// Process id.
    pub pid: u32,
    /// One run of the gateway.
    pub instance: String,
    /// Seconds since it began.
    pub uptime_seconds: u64,
    /// Its socket.
    pub socket: PathBuf,
    /// Open workspaces.
    pub workspaces: Vec<PathBuf>,
    /// Connected clients.
    pub clients: usize,
    /// Sessions in which a turn runs.
    pub running: Vec<SessionShown>,
    /// Sessions that wait for the user.
    pub waiting: Vec<SessionShown>,
    /// It ends once no turn runs.
    pub stopping: bool,
    /// It listens on the network as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpShown>,
    /// It serves shared pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<HttpShown>,
}

/// Way in over the network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HttpShown {
    /// Address that it can be reached at, without a slash at its end.
    pub url: String,
    /// Traffic is encrypted here.
    pub tls: bool,
    /// A proxy in front of it does that.
    pub behind_proxy: bool,
    /// Shared pages alone are served there.
    #[serde(default)]
    pub shares: bool,
}

/// Answer to [`LINK`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinkMade {
    /// Address to open.
    pub url: String,
    /// Time in which it can be.
    pub seconds: u64,
}

/// Session, with its workspace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct SessionShown {
    /// Folder of the workspace.
    pub workspace: PathBuf,
    /// Session id.
    pub session: SessionId,
}

/// A client of the gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientShown {
    /// Id for [`DETACH`].
    pub id: String,
    /// Name for people.
    pub name: String,
    /// Version of its program; empty for a browser.
    pub version: String,
    /// It has a line; otherwise it lost it and may come back.
    pub connected: bool,
    /// Seconds since it came, or since its line was lost.
    pub seconds: u64,
    /// Workspaces that it looks at.
    pub workspaces: Vec<PathBuf>,
    /// For a browser: token that made its link. The browser ends with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// Payload of [`CLOSING`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Closing {
    /// Reason, as a sentence.
    pub why: String,
    /// The client may come back by itself.
    pub may_return: bool,
}
