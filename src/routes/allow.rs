//! Admission of inbound messages: allow lists, pairing codes, signatures.
//!
//! `signature` checks signed requests and repeated ids. Random bytes and time are arguments; storing the state is the
//! caller's, and so is the audit log.

mod signature;
#[cfg(test)]
mod tests;

pub use signature::{MAX_SKEW_MS, MOST_IDS, REMEMBERED_MS, SeenMessages, SignatureError, SignedRequest, sign, verify};

use super::config::{DAY, HOUR};
use super::key::OpaqueChannels;
use super::owner_command::matches_sender;
use crate::domain::ids::At;
use serde::{Deserialize, Serialize};

/// Life of a pairing code.
const CODE_LIFE_MS: u64 = HOUR;
/// Most open requests on a channel. A new one displaces the oldest: strangers shut nobody out by filling the list.
const MAX_REQUESTS: usize = 20;
/// Characters of a name that are kept.
const LONGEST_NAME: usize = 80;
/// Characters of a code. Those that look alike are left out.
const ALPHABET: [char; 32] = [
    'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'J', 'K', 'L', 'M', 'N', 'P', 'Q', 'R', 'S', 'T', 'U', 'V', 'W', 'X', 'Y',
    'Z', '2', '3', '4', '5', '6', '7', '8', '9',
];

/// Pairing code: eight characters, 40 random bits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PairingCode(String);

impl PairingCode {
    /// Code of random bytes.
    #[must_use]
    pub fn of_random(bytes: [u8; 8]) -> Self {
        Self(bytes.iter().filter_map(|byte| ALPHABET.get(usize::from(byte % 32))).collect())
    }

    /// Text of the code.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Compares with what a person typed: any case, spaces and dashes do not count.
    fn is(&self, typed: &str) -> bool {
        let plain = typed.chars().filter(|one| !one.is_whitespace() && *one != '-');
        plain.collect::<String>().to_uppercase() == self.0
    }
}

/// Request of an unknown sender.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PairingRequest {
    /// Channel.
    pub channel: String,
    /// Sender.
    pub sender: String,
    /// Name that the sender shows, for the operator. It proves nothing.
    pub name: Option<String>,
    /// Code.
    pub code: PairingCode,
    /// Time of the code.
    pub asked_at: At,
}

impl PairingRequest {
    fn is_open(&self, now: At) -> bool {
        // A time ahead of the clock is from a wrong clock: the code would live for as long.
        self.asked_at <= now && now.since(self.asked_at) <= CODE_LIFE_MS
    }
}

/// People that may write on a channel, and those that ask to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ChannelAccess {
    /// Allow list: ids, `channel:id`, or `*`.
    pub allowed: Vec<String>,
    /// Requests, oldest first.
    pub requests: Vec<PairingRequest>,
    /// Requests that newer ones displaced since the list was last empty. Their codes are void.
    #[serde(skip_serializing_if = "is_zero")]
    pub displaced: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Message at the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knock<'a> {
    /// Channel.
    pub channel: &'a str,
    /// Sender.
    pub sender: &'a str,
    /// Name that the sender shows.
    pub name: Option<&'a str>,
    /// From a direct chat. Elsewhere everybody would see the code.
    pub direct: bool,
    /// Time.
    pub now: At,
    /// Bytes of a new code.
    pub random: [u8; 8],
}

/// Decision about a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It goes on.
    Admitted,
    /// The sender gets this code, and nothing else happens.
    Code {
        /// Code.
        code: PairingCode,
        /// Sender of the oldest request, which made room.
        displaced: Option<String>,
    },
    /// Nothing happens; the audit log gets the reason.
    Refused(RefusalReason),
}

/// Reason of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalReason {
    /// The message names no sender.
    NoSender,
    /// The sender is not on the allow list.
    NotAllowed,
    /// The sender has a code already; repeating it would let anybody make us send.
    CodeSent,
    /// Another sender has the code that was made.
    CodeTaken,
}

impl RefusalReason {
    /// Text for the audit log.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::NoSender => "no sender",
            Self::NotAllowed => "not on the allow list",
            Self::CodeSent => "pairing code already sent",
            Self::CodeTaken => "no free pairing code",
        }
    }
}

impl ChannelAccess {
    /// Tells if a sender is on the allow list.
    #[must_use]
    pub fn allows(&self, channel: &str, sender: &str, opaque: &OpaqueChannels) -> bool {
        self.allowed.iter().any(|entry| matches_sender(entry, channel, sender, opaque))
    }

    /// Decides about a message, and returns the state after it.
    #[must_use]
    pub fn admit(&self, knock: &Knock<'_>, opaque: &OpaqueChannels) -> (Self, Admission) {
        let sender = knock.sender.trim();
        let mut state = self.without_old(knock.now);
        let refused = |reason| Admission::Refused(reason);
        if sender.is_empty() {
            return (state, refused(RefusalReason::NoSender));
        }
        if self.allows(knock.channel, sender, opaque) {
            return (state, Admission::Admitted);
        }
        if !knock.direct {
            return (state, refused(RefusalReason::NotAllowed));
        }
        if state.requests.iter().any(|request| request.sender == sender) {
            return (state, refused(RefusalReason::CodeSent));
        }
        let code = PairingCode::of_random(knock.random);
        if state.requests.iter().any(|request| request.code == code) {
            return (state, refused(RefusalReason::CodeTaken));
        }
        let displaced = (state.requests.len() >= MAX_REQUESTS).then(|| state.requests.remove(0).sender);
        state.displaced += u64::from(displaced.is_some());
        let name = knock.name.map(|name| name.chars().take(LONGEST_NAME).collect());
        let channel = knock.channel.trim().to_lowercase();
        let request =
            PairingRequest { channel, sender: sender.to_owned(), name, code: code.clone(), asked_at: knock.now };
        state.requests.push(request);
        (state, Admission::Code { code, displaced })
    }

    /// Allows the sender of a code; `None` if no open request has it.
    #[must_use]
    pub fn approve(&self, code: &str, now: At) -> Option<(Self, PairingRequest)> {
        let mut state = self.without_old(now);
        let index = state.requests.iter().position(|request| request.code.is(code))?;
        let request = state.requests.remove(index);
        // With its channel, an id such as `*` names its sender alone.
        let entry = format!("{}:{}", request.channel, request.sender);
        if !state.allowed.contains(&entry) {
            state.allowed.push(entry);
        }
        Some((state, request))
    }

    /// Removes a sender from the allow list, and its request. A `*` still allows everybody.
    #[must_use]
    pub fn revoke(&self, channel: &str, sender: &str, opaque: &OpaqueChannels) -> Self {
        let mut state = self.clone();
        state.allowed.retain(|entry| entry.trim() == "*" || !matches_sender(entry, channel, sender, opaque));
        state.requests.retain(|request| request.sender != sender.trim());
        state
    }

    fn without_old(&self, now: At) -> Self {
        let requests: Vec<_> = self.requests.iter().filter(|request| request.is_open(now)).cloned().collect();
        let displaced = if requests.is_empty() { 0 } else { self.displaced };
        Self { allowed: self.allowed.clone(), requests, displaced }
    }
}
