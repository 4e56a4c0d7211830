//! Signed requests: HMAC-SHA-256 over time and body, and the ids of messages that came before.

use super::DAY;
use crate::domain::hex::hex;
use crate::domain::ids::At;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::collections::BTreeMap;
use std::fmt;

/// Most difference between the request's time and ours.
pub const MAX_SKEW_MS: u64 = 5 * 60_000;
/// Time that message ids are remembered.
pub const REMEMBERED_MS: u64 = 30 * DAY;
/// Longest message id in bytes.
const MAX_ID: usize = 256;

/// Signed request.
#[derive(Clone, Copy, Debug)]
pub struct SignedRequest<'a> {
    /// Time as sent: seconds since the epoch.
    pub time: &'a str,
    /// Signature as sent: hex, with or without `sha256=`.
    pub signature: &'a str,
    /// Body as sent.
    pub body: &'a [u8],
}

/// Error of a signed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureError {
    /// No secret is set, so nothing can be signed with it.
    NoSecret,
    /// The time is no number of seconds.
    Time,
    /// The signature is another one.
    Signature,
    /// The time is more than five minutes off.
    Skew,
    /// The message id is missing or too long.
    MessageId,
}

impl fmt::Display for SignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoSecret => "no secret is set for this webhook",
            Self::Time => "invalid time of request: use seconds since 1970",
            Self::Signature => "invalid signature",
            Self::Skew => "time of request is more than five minutes off",
            Self::MessageId => "message id is missing or longer than 256 bytes",
        })
    }
}

impl std::error::Error for SignatureError {}

/// HMAC state over `<time>.<body>`; `None` without a secret. The time has digits only, so the dot is unambiguous.
fn mac(secret: &[u8], time: &str, body: &[u8]) -> Option<Hmac<Sha256>> {
    if secret.is_empty() {
        return None;
    }
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
    mac.update(time.as_bytes());
    mac.update(b".");
    mac.update(body);
    Some(mac)
}

/// Signature of a request in hex; `None` without a secret.
#[must_use]
pub fn sign(secret: &[u8], time: &str, body: &[u8]) -> Option<String> {
    let tag = mac(secret, time, body)?.finalize().into_bytes();
    Some(hex(&tag))
}

/// Checks the signature in constant time, then the time of the request.
///
/// # Errors
/// Fails if the signature or the time is wrong.
pub fn verify(secret: &[u8], request: &SignedRequest<'_>, now: At) -> Result<(), SignatureError> {
    let digits = !request.time.is_empty() && request.time.bytes().all(|byte| byte.is_ascii_digit());
    let seconds: i64 = request.time.parse().ok().filter(|_| digits).ok_or(SignatureError::Time)?;
    let sent = At(seconds.checked_mul(1000).ok_or(SignatureError::Time)?);
    let mac = mac(secret, request.time, request.body).ok_or(SignatureError::NoSecret)?;
    let signature = request.signature.trim();
    let tag = bytes_of_hex(signature.strip_prefix("sha256=").unwrap_or(signature)).ok_or(SignatureError::Signature)?;
    mac.verify_slice(&tag).map_err(|_| SignatureError::Signature)?;
    // One of the two is 0.
    if now.since(sent).max(sent.since(now)) > MAX_SKEW_MS { Err(SignatureError::Skew) } else { Ok(()) }
}

fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let digits: Option<Vec<u8>> = text.as_bytes().iter().map(digit).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    digits.chunks_exact(2).map(|pair| Some(pair.first()? << 4 | pair.last()?)).collect()
}

/// Ids that are remembered at the most: those of a busy channel take tens of megabytes.
pub const MOST_IDS: usize = 500_000;

/// Ids of messages that came, by source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SeenMessages(BTreeMap<String, BTreeMap<String, At>>);

impl SeenMessages {
    /// Notes a message; `true` if it is new. The first time of an id counts, so that repeating it does not prolong it.
    ///
    /// # Errors
    /// Fails without an id.
    pub fn note(&mut self, source: &str, id: &str, now: At) -> Result<bool, SignatureError> {
        let id = id.trim();
        if id.is_empty() || id.len() > MAX_ID {
            return Err(SignatureError::MessageId);
        }
        let ids = self.0.entry(source.to_owned()).or_default();
        match ids.get(id) {
            Some(seen) if now.since(*seen) <= REMEMBERED_MS => Ok(false),
            Some(_) | None => {
                ids.insert(id.to_owned(), now);
                Ok(true)
            }
        }
    }

    /// Tells if a message came within the last 30 days.
    #[must_use]
    pub fn has(&self, source: &str, id: &str, now: At) -> bool {
        let seen = self.0.get(source).and_then(|ids| ids.get(id.trim()));
        seen.is_some_and(|seen| now.since(*seen) <= REMEMBERED_MS)
    }

    /// Forgets a message that was noted and then not taken.
    pub fn forget(&mut self, source: &str, id: &str) {
        if let Some(ids) = self.0.get_mut(source) {
            ids.remove(id.trim());
        }
    }

    /// Forgets ids that are older than 30 days, and the oldest where there are more than [`MOST_IDS`]. Called now and then: it
    /// looks at every id.
    pub fn forget_old(&mut self, now: At) {
        let mut times: Vec<At> = self.0.values().flat_map(BTreeMap::values).copied().collect();
        let too_many = times.len().checked_sub(MOST_IDS + 1);
        let last_gone = too_many.map(|last| *times.select_nth_unstable(last).1);
        for ids in self.0.values_mut() {
            ids.retain(|_, seen| now.since(*seen) <= REMEMBERED_MS && last_gone.is_none_or(|gone| *seen > gone));
        }
        self.0.retain(|_, ids| !ids.is_empty());
    }

    /// Number of ids.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.values().map(BTreeMap::len).sum()
    }
}
