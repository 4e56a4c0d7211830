//! Names inside keys: agents, accounts, main keys, slugs of named chats.

use super::error::KeyError;
use std::fmt;

/// Agent of a message that names none.
const DEFAULT_AGENT: &str = "main";
/// Account of a message that names none.
const DEFAULT_ACCOUNT: &str = "default";
/// Longest agent or account id.
const MAX_NAME: usize = 64;
/// Longest slug.
const MAX_SLUG: usize = 48;

/// Tells if a text is a property that every JavaScript object has, in any case.
///
/// Stores are opened by programs that use keys as object properties. Peer, group and thread ids may be these words: an
/// id is only ever a part of a key.
#[must_use]
pub fn is_prototype_name(text: &str) -> bool {
    const NAMES: [&str; 13] = [
        "__proto__",
        "constructor",
        "prototype",
        "hasownproperty",
        "isprototypeof",
        "propertyisenumerable",
        "tolocalestring",
        "tostring",
        "valueof",
        "__definegetter__",
        "__definesetter__",
        "__lookupgetter__",
        "__lookupsetter__",
    ];
    NAMES.contains(&text.trim().to_lowercase().as_str())
}

/// Text made a name: lower case, each run of other characters one dash, at most `max` long.
fn dashed(text: &str, max: usize) -> String {
    let mut name = String::new();
    for character in text.trim().to_lowercase().chars() {
        if character.is_ascii_alphanumeric() || matches!(character, '_' | '-') {
            name.push(character);
        } else if !name.ends_with('-') {
            name.push('-');
        }
    }
    let cut: String = name.trim_matches('-').chars().take(max).collect();
    cut.trim_end_matches('-').to_owned()
}

/// Tells if an id begins with the name of a channel, as `telegram:7` does and Matrix's `@ana:host` does not.
///
/// A sender with such an id must not pass for the person that a list names by channel and id.
#[must_use]
pub fn names_channel(id: &str) -> bool {
    id.trim().split_once(':').is_some_and(|(channel, _)| is_name(channel.trim()))
}

fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=MAX_NAME).contains(&text.len())
        && text.bytes().all(plain)
        && text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
}

/// Name that follows [`is_name`], else `fallback`. A leading `_` is cut, so that every result reads back.
fn normal_name(text: &str, fallback: &str) -> String {
    let text = text.trim();
    if is_prototype_name(text) {
        return fallback.to_owned();
    }
    if is_name(text) {
        return text.to_lowercase();
    }
    let name = dashed(text.trim_start_matches(['_', '-']), MAX_NAME);
    let name = name.trim_start_matches(['_', '-']);
    if is_name(name) && !is_prototype_name(name) { name.to_owned() } else { fallback.to_owned() }
}

/// Agent id: `[a-z0-9][a-z0-9_-]{0,63}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentId(String);

impl AgentId {
    /// Reads an id in any case.
    ///
    /// # Errors
    /// Fails for any other text, and for names of JavaScript's objects.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let text = text.trim();
        if is_prototype_name(text) {
            return Err(KeyError::PrototypeName(text.to_owned()));
        }
        if is_name(text) { Ok(Self(text.to_lowercase())) } else { Err(KeyError::AgentId(text.to_owned())) }
    }

    /// Makes an id of any text; `main` where nothing is left.
    #[must_use]
    pub fn normalise(text: &str) -> Self {
        Self(normal_name(text, DEFAULT_AGENT))
    }

    /// Text of the id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for AgentId {
    fn default() -> Self {
        Self(DEFAULT_AGENT.to_owned())
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Account id on a channel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountId(String);

impl AccountId {
    /// Makes an id of any text; `default` where nothing is left.
    #[must_use]
    pub fn normalise(text: &str) -> Self {
        Self(normal_name(text, DEFAULT_ACCOUNT))
    }

    /// Text of the id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for AccountId {
    fn default() -> Self {
        Self(DEFAULT_ACCOUNT.to_owned())
    }
}

/// Main key of the settings in its normal form; `main` if blank.
#[must_use]
pub fn normal_main_key(text: &str) -> String {
    let key = text.trim().to_lowercase();
    if key.is_empty() { "main".to_owned() } else { key }
}

/// Slug of a named chat: `[a-z0-9_-]`, at most 48 characters; `chat` where nothing is left.
#[must_use]
pub fn chat_slug(label: &str) -> String {
    let slug = dashed(label, MAX_SLUG);
    if slug.is_empty() || is_prototype_name(&slug) { "chat".to_owned() } else { slug }
}
