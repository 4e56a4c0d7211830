//! Log of the channels: a line of JSON for what was refused, withheld, given up, or commanded. It has no texts of messages.

use super::message::InboundMessage;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Bytes of the file before it is begun again; the one before is kept.
const LONGEST: u64 = 4 << 20;

/// Line of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ChannelLogLine {
    /// Milliseconds since 1970.
    pub at: i64,
    /// What happened: `refused`, `pairing`, `withheld`, `dead`, `command`, `failed`, `dropped`.
    pub what: String,
    /// Channel.
    pub channel: String,
    /// Sender, or the receiver of a reply.
    pub person: String,
    /// Session key, where there is one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// Id of the message or reply.
    pub id: String,
    /// Reason.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

impl ChannelLogLine {
    /// Line about a message.
    pub(super) fn of(what: &str, message: &InboundMessage, why: impl Into<String>) -> Self {
        Self {
            what: what.to_owned(),
            channel: message.channel.clone(),
            person: message.from.id.clone(),
            id: message.id.clone(),
            why: why.into(),
            ..Self::default()
        }
    }
}

/// The file.
#[derive(Debug)]
pub(super) struct ChannelLog {
    path: PathBuf,
    open: Mutex<Option<(File, u64)>>,
}

impl ChannelLog {
    pub fn new(path: PathBuf) -> Self {
        Self { path, open: Mutex::default() }
    }

    /// Adds a line. A disk that is full or gone stops no message.
    pub fn add(&self, mut line: ChannelLogLine) {
        line.at = jiff::Timestamp::now().as_millisecond();
        let mut text = serde_json::to_vec(&line).unwrap_or_default();
        text.push(b'\n');
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = self.write(&mut open, &text) {
            tracing::warn!(%error, path = %self.path.display(), "can't write the log of channels");
            *open = None;
        }
    }

    fn write(&self, open: &mut Option<(File, u64)>, text: &[u8]) -> io::Result<()> {
        if open.as_ref().is_some_and(|(_, length)| *length >= LONGEST) {
            *open = None;
            std::fs::rename(&self.path, self.path.with_extension("1.log"))?;
        }
        let (file, length) = match open {
            Some(open) => open,
            None => {
                let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path)?;
                let length = file.metadata()?.len();
                open.insert((file, length))
            }
        };
        file.write_all(text)?;
        *length += text.len() as u64;
        Ok(())
    }
}
