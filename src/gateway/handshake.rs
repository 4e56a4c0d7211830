//! Handshake of a connection: the client's `connect` request with what it is, and the gateway's answer or refusal.
//!
//! Both sides say which versions of the protocol they speak. Unknown fields are ignored, so that a later version can say more;
//! `tests/gateway/conversations` keeps what earlier versions said.

use super::frame::{ErrorCode, FrameError};
use crate::protocol;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Method of the first request.
pub const CONNECT: &str = "connect";

/// Oldest version of the protocol that is spoken.
pub const OLDEST: u32 = protocol::VERSION;

/// First request of a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Connect {
    /// Oldest version of the protocol that the client speaks.
    pub min_protocol: u32,
    /// Newest version of the protocol that the client speaks.
    pub max_protocol: u32,
    /// Client.
    pub client: ClientName,
    /// Content of the secret file. `lisle gateway stdio` fills it in for clients of other machines.
    #[serde(default)]
    pub secret: String,
    /// Workspace that is attached at once: a folder, or a name below the gateway's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<PathBuf>,
    /// Working directory of the sessions that this client makes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// Nobody can be asked: turns of this client ask nobody.
    #[serde(default)]
    pub headless: bool,
    /// Connection to go on with, after a line that was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Resume>,
}

/// Client, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientName {
    /// Id that stays the same over all connections of one run of the client.
    pub id: String,
    /// Name for people: program, user and machine.
    pub name: String,
    /// Version of the program.
    pub version: String,
}

/// Last event that a client saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Resume {
    /// [`Hello::instance`] of the connection that was lost.
    pub instance: String,
    /// Number of the last event that came.
    pub seq: u64,
}

/// Answer to a `connect` that was accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// Version of the protocol that is spoken from now on.
    pub protocol: u32,
    /// Version of the gateway's program.
    pub version: String,
    /// One run of the gateway. Another one knows nothing of connections to this one.
    pub instance: String,
    /// Process id of the gateway.
    pub pid: u32,
    /// Name of its machine.
    pub host: String,
    /// Folder of the workspace that was attached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<PathBuf>,
    /// Missed events follow. Otherwise it asks anew for all that it shows.
    #[serde(default)]
    pub resumed: bool,
    /// Highest request number that was taken from this client in this instance: what it sent after that is sent again.
    #[serde(default)]
    pub taken: u64,
}

/// The version that both sides speak, or why there is none.
///
/// # Errors
/// A refusal that says which side is older, and what to do.
pub fn version(connect: &Connect) -> Result<u32, FrameError> {
    agree(connect, OLDEST, protocol::VERSION)
}

fn agree(connect: &Connect, oldest: u32, newest: u32) -> Result<u32, FrameError> {
    let common = newest.min(connect.max_protocol);
    if common >= oldest && common >= connect.min_protocol {
        return Ok(common);
    }
    let (ours, theirs) = (env!("CARGO_PKG_VERSION"), &connect.client.version);
    let (min, max) = (connect.min_protocol, connect.max_protocol);
    let what = if min > newest {
        format!(
            "The gateway is older than this lisle: it is lisle {ours} with protocol {newest}, and lisle {theirs} needs \
             {min}. \"lisle gateway restart --when-idle\" starts the new one once no turn runs; --no-gateway does without it."
        )
    } else {
        format!(
            "This lisle is older than the gateway: it is lisle {theirs} with protocol {max}, and the gateway's lisle {ours} \
             needs {oldest}. Start the lisle that is installed now, or use --no-gateway."
        )
    };
    Err(FrameError::new(ErrorCode::ProtocolMismatch, what))
}

/// True if the secrets are the same. Takes as long for any two of one length.
#[must_use]
pub fn same_secret(one: &str, other: &str) -> bool {
    // An empty secret is none.
    let (one, other) = (one.as_bytes(), other.as_bytes());
    one.len() == other.len() && !one.is_empty() && one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connect(min: u32, max: u32) -> Connect {
        let client = ClientName { id: "c".into(), name: "test".into(), version: "9.9.9".into() };
        Connect {
            min_protocol: min,
            max_protocol: max,
            client,
            secret: String::new(),
            workspace: None,
            cwd: None,
            headless: false,
            resume: None,
        }
    }

    #[test]
    fn the_newest_version_of_both_is_spoken_else_the_older_side_is_named() {
        for (client, gateway, outcome) in [
            ((2, 2), (2, 2), Ok(2)),
            ((1, 3), (2, 2), Ok(2)),
            ((2, 4), (1, 3), Ok(3)),
            ((3, 4), (1, 2), Err("The gateway is older")),
            ((1, 1), (2, 2), Err("This lisle is older")),
        ] {
            let agreed = agree(&connect(client.0, client.1), gateway.0, gateway.1);
            match (agreed, outcome) {
                (Ok(version), Ok(expected)) => assert_eq!(version, expected),
                (Err(error), Err(words)) => {
                    assert_eq!(error.code, ErrorCode::ProtocolMismatch);
                    assert!(error.message.starts_with(words), "{}", error.message);
                }
                other => panic!("{client:?} {gateway:?}: {other:?}"),
            }
        }
    }

    #[test]
    fn secrets_are_compared_whole() {
        assert!(same_secret("abc", "abc"));
        for (one, other) in [("abc", "abd"), ("abc", "ab"), ("", ""), ("", "a")] {
            assert!(!same_secret(one, other), "{one} {other}");
        }
    }
}
