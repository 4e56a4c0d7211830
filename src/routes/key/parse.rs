//! Reading of keys, and the text of a route.

use super::names::{AgentId, is_prototype_name, normal_main_key};
use super::{ChatType, KeyError, MAX_KEY, OpaqueChannels, Route, SessionKey, Suffix};

/// Words that begin a form of their own and cannot be a channel or an account.
const RESERVED: [&str; 16] = [
    "agent",
    "main",
    "global",
    "unknown",
    "direct",
    "dm",
    "group",
    "channel",
    "room",
    "slash",
    "cron",
    "hook",
    "subagent",
    "acp",
    "dashboard",
    "explicit",
];

/// Class of a text by its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyClass {
    /// Empty.
    Missing,
    /// A key with its agent.
    Agent,
    /// Begins with `agent:` and cannot be read.
    MalformedAgent,
    /// Anything else.
    LegacyOrAlias,
}

/// Names of the main session, from the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyNames {
    /// `session.mainKey` in its normal form.
    pub main_key: String,
    /// `session.scope = "global"`: the main session is `global`.
    pub global: bool,
    /// Channels whose ids keep their case.
    pub opaque: OpaqueChannels,
}

impl Default for KeyNames {
    fn default() -> Self {
        Self { main_key: "main".to_owned(), global: false, opaque: OpaqueChannels::default() }
    }
}

impl SessionKey {
    /// Reads a key and normalises it: lower case but for the ids of opaque channels, `dm` as `direct`, `room` as
    /// `channel`. A text without `agent:` is a key that is not qualified. Ids without their channel (`direct:<peer>`)
    /// are in lower case, as the reference writes them.
    ///
    /// # Errors
    /// Fails if the text is no key. Empty parts are an error: dropping them would join two routes.
    pub fn parse(text: &str, opaque: &OpaqueChannels) -> Result<Self, KeyError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(KeyError::Empty);
        }
        if text.chars().any(char::is_control) {
            return Err(KeyError::ControlCharacter);
        }
        let parts: Vec<&str> = text.split(':').map(str::trim).collect();
        if parts.iter().any(|part| part.is_empty()) {
            return Err(if is(parts[0], "agent") && parts.len() < 4 {
                KeyError::Incomplete
            } else {
                KeyError::EmptyPart
            });
        }
        let key = match parts.as_slice() {
            [first, agent, rest @ ..] if is(first, "agent") => read_rest(Some(AgentId::parse(agent)?), rest, opaque)?,
            [first] if is(first, "agent") => return Err(KeyError::Incomplete),
            rest => read_rest(None, rest, opaque)?,
        };
        if key.text.len() > MAX_KEY { Err(KeyError::TooLong) } else { Ok(key) }
    }

    /// Key of a store for a text that a person or program gave: aliases of the main session, keys without their agent
    /// (which get `agent`), and whole keys.
    ///
    /// # Errors
    /// Fails if the text is no key. A malformed `agent:` key is never qualified again.
    pub fn resolve(text: &str, agent: &AgentId, names: &KeyNames) -> Result<Self, KeyError> {
        if text.trim().is_empty() {
            return Ok(Self::main(agent).aliased(names));
        }
        Ok(Self::parse(text, &names.opaque)?.qualified(agent).aliased(names))
    }

    /// Class of a text by its shape.
    #[must_use]
    pub fn classify(text: &str) -> KeyClass {
        let text = text.trim();
        let prefixed = text.get(.."agent:".len()).is_some_and(|start| start.eq_ignore_ascii_case("agent:"));
        if text.is_empty() {
            KeyClass::Missing
        } else if !prefixed {
            KeyClass::LegacyOrAlias
        } else if Self::parse(text, &OpaqueChannels::default()).is_ok() {
            KeyClass::Agent
        } else {
            KeyClass::MalformedAgent
        }
    }

    /// Key with the main session's aliases replaced, also below suffixes.
    fn aliased(self, names: &KeyNames) -> Self {
        let main = match &self.route {
            Route::Main => true,
            Route::Other(text) => *text == normal_main_key(&names.main_key),
            _ => false,
        };
        match (main, names.global && self.suffixes.is_empty()) {
            (true, true) => Self::assemble(None, Route::Global, Vec::new()),
            (true, false) => Self::assemble(self.agent, Route::Main, self.suffixes),
            (false, _) => self,
        }
    }
}

/// Key that `key` reads back as, or an error where that is another one.
pub(super) fn checked(key: &SessionKey, opaque: &OpaqueChannels) -> Result<SessionKey, KeyError> {
    let read = SessionKey::parse(&key.text, opaque)?;
    if same_shape(&read, key) { Ok(read) } else { Err(KeyError::AmbiguousId(key.without_agent().to_owned())) }
}

/// Compares two keys but for case and white space.
fn same_shape(a: &SessionKey, b: &SessionKey) -> bool {
    let fold = |text: &str| text.split(':').map(|part| part.trim().to_lowercase()).collect::<Vec<_>>();
    let discriminants = std::mem::discriminant(&a.route) == std::mem::discriminant(&b.route);
    let values =
        route_values(&a.route).map(|value| value.map(fold)) == route_values(&b.route).map(|value| value.map(fold));
    let suffixes = a.suffixes.len() == b.suffixes.len()
        && a.suffixes.iter().zip(&b.suffixes).all(|(one, other)| {
            let (one, other) = (one.word_and_value(), other.word_and_value());
            one.0 == other.0 && fold(one.1) == fold(other.1)
        });
    discriminants && values && suffixes
}

/// Channel, account and id of a route, as far as it has them.
fn route_values(route: &Route) -> [Option<&str>; 3] {
    match route {
        Route::Main | Route::Global | Route::Unknown => [None; 3],
        Route::Direct { channel, account, peer } => [channel.as_deref(), account.as_deref(), Some(peer)],
        Route::Group { channel, id } | Route::Channel { channel, id } => [Some(channel), None, Some(id)],
        Route::Slash { channel, user } => [Some(channel), None, Some(user)],
        Route::Cron { job, run } => [None, run.as_deref(), Some(job)],
        Route::Hook(id)
        | Route::Node(id)
        | Route::Subagent(id)
        | Route::Acp(id)
        | Route::Dashboard(id)
        | Route::Tui(id)
        | Route::Explicit(id)
        | Route::Other(id) => [None, None, Some(id)],
    }
}

/// Text of a route without agent and suffixes.
pub(super) fn route_text(route: &Route) -> String {
    match route {
        Route::Main => "main".to_owned(),
        Route::Global => "global".to_owned(),
        Route::Unknown => "unknown".to_owned(),
        Route::Direct { channel, account, peer } => {
            let place: Vec<&str> = [channel.as_deref(), account.as_deref()].into_iter().flatten().collect();
            [&place[..], &["direct", peer]].concat().join(":")
        }
        Route::Group { channel, id } => format!("{channel}:group:{id}"),
        Route::Channel { channel, id } => format!("{channel}:channel:{id}"),
        Route::Slash { channel, user } => format!("{channel}:slash:{user}"),
        Route::Cron { job, run: None } => format!("cron:{job}"),
        Route::Cron { job, run: Some(run) } => format!("cron:{job}:run:{run}"),
        Route::Hook(id) => format!("hook:{id}"),
        Route::Node(id) => format!("node-{id}"),
        Route::Subagent(id) => format!("subagent:{id}"),
        Route::Acp(id) => format!("acp:{id}"),
        Route::Dashboard(id) => format!("dashboard:{id}"),
        Route::Tui(id) => format!("tui-{id}"),
        Route::Explicit(id) => format!("explicit:{id}"),
        Route::Other(text) => text.clone(),
    }
}

/// Chat type of a key that has none of the known forms, by its words.
pub(super) fn legacy_chat_type(text: &str) -> Option<ChatType> {
    let words: Vec<&str> = text.split(':').collect();
    if words.contains(&"group") {
        Some(ChatType::Group)
    } else if words.contains(&"channel")
        || words.windows(2).any(|w| w[0].starts_with("guild-") && w[1].starts_with("channel-"))
    {
        Some(ChatType::Channel)
    } else if words.contains(&"direct") || words.contains(&"dm") {
        Some(ChatType::Direct)
    } else {
        None
    }
}

fn is(part: &str, word: &str) -> bool {
    part.eq_ignore_ascii_case(word)
}

fn is_marker(part: &str) -> bool {
    ["thread", "topic", "chat", "subagent"].iter().any(|word| is(part, word))
}

/// Parts of a value: the first one, then those before the next marker.
fn value_length(parts: &[&str]) -> usize {
    let rest = parts.iter().skip(1);
    parts.len().min(1) + rest.take_while(|part| !is_marker(part)).count()
}

/// Reader of the parts behind the agent.
struct Parts<'a> {
    parts: &'a [&'a str],
    keeps_case: bool,
}

impl<'a> Parts<'a> {
    fn word(&self, at: usize) -> String {
        self.parts.get(at).map(|part| part.to_lowercase()).unwrap_or_default()
    }

    fn skip(&mut self, count: usize) {
        self.parts = self.parts.get(count..).unwrap_or_default();
    }

    /// Value up to the next marker.
    fn value(&mut self, word: &'static str) -> Result<String, KeyError> {
        let (value, rest) = self.parts.split_at(value_length(self.parts));
        self.parts = rest;
        let text = value.join(":");
        match (value.is_empty(), self.keeps_case) {
            (true, _) => Err(KeyError::MissingValue(word)),
            (false, true) => Ok(text),
            (false, false) => Ok(text.to_lowercase()),
        }
    }

    fn ended(&self) -> bool {
        self.parts.first().is_none_or(|part| is_marker(part))
    }
}

fn read_rest(agent: Option<AgentId>, parts: &[&str], opaque: &OpaqueChannels) -> Result<SessionKey, KeyError> {
    let mut reader = Parts { parts, keeps_case: false };
    let route = read_route(&mut reader, agent.is_some(), opaque)?;
    let mut suffixes = Vec::new();
    while !reader.parts.is_empty() {
        suffixes.push(read_suffix(&mut reader)?);
    }
    Ok(SessionKey::assemble(agent, route, suffixes))
}

fn read_suffix(reader: &mut Parts<'_>) -> Result<Suffix, KeyError> {
    let word = reader.word(0);
    reader.skip(1);
    match word.as_str() {
        "thread" => reader.value("thread").map(Suffix::Thread),
        "topic" => reader.value("topic").map(Suffix::Topic),
        "subagent" => reader.value("subagent").map(|id| Suffix::Subagent(id.to_lowercase())),
        "chat" => {
            let slug = reader.value("chat")?.to_lowercase();
            if is_prototype_name(&slug) { Err(KeyError::PrototypeName(slug)) } else { Ok(Suffix::Chat(slug)) }
        }
        _ => Err(KeyError::AmbiguousId(word)),
    }
}

fn read_route(reader: &mut Parts<'_>, qualified: bool, opaque: &OpaqueChannels) -> Result<Route, KeyError> {
    let first = reader.word(0);
    let alone = reader.parts.get(1).is_none_or(|part| is_marker(part));
    match first.as_str() {
        "" => Err(KeyError::Incomplete),
        "agent" => Err(KeyError::DoublePrefix),
        "main" if alone => single(reader, Route::Main),
        "global" if alone && !qualified => single(reader, Route::Global),
        "unknown" if alone && !qualified => single(reader, Route::Unknown),
        "direct" | "dm" => {
            reader.skip(1);
            Ok(Route::Direct { channel: None, account: None, peer: reader.value("direct")? })
        }
        "cron" => read_cron(reader),
        "hook" => after(reader, "hook").map(Route::Hook),
        "subagent" => after(reader, "subagent").map(Route::Subagent),
        "acp" => after(reader, "acp").map(Route::Acp),
        "dashboard" => after(reader, "dashboard").map(Route::Dashboard),
        "explicit" => after(reader, "explicit").map(Route::Explicit),
        _ if alone && first.starts_with("node-") => dashed_id(reader, &first, "node-").map(Route::Node),
        _ if alone && first.starts_with("tui-") => dashed_id(reader, &first, "tui-").map(Route::Tui),
        _ => read_chat(reader, first, opaque),
    }
}

fn single(reader: &mut Parts<'_>, route: Route) -> Result<Route, KeyError> {
    reader.skip(1);
    Ok(route)
}

fn after(reader: &mut Parts<'_>, word: &'static str) -> Result<String, KeyError> {
    reader.skip(1);
    reader.value(word)
}

fn dashed_id(reader: &mut Parts<'_>, part: &str, prefix: &'static str) -> Result<String, KeyError> {
    reader.skip(1);
    let id = part.strip_prefix(prefix).unwrap_or_default().trim();
    if id.is_empty() { Err(KeyError::MissingValue(prefix)) } else { Ok(id.to_owned()) }
}

fn read_cron(reader: &mut Parts<'_>) -> Result<Route, KeyError> {
    let job = reader.word(1);
    if job.is_empty() {
        return Err(KeyError::MissingValue("cron"));
    }
    reader.skip(2);
    if !reader.word(0).eq("run") {
        return if reader.ended() {
            Ok(Route::Cron { job, run: None })
        } else {
            Err(KeyError::TooManyParts("cron:JOB"))
        };
    }
    let run = reader.word(1);
    if run.is_empty() {
        return Err(KeyError::MissingValue("run"));
    }
    reader.skip(2);
    if reader.ended() {
        Ok(Route::Cron { job, run: Some(run) })
    } else {
        Err(KeyError::TooManyParts("cron:JOB:run:ID"))
    }
}

/// Forms that begin with a channel, and texts of no known form.
fn read_chat(reader: &mut Parts<'_>, channel: String, opaque: &OpaqueChannels) -> Result<Route, KeyError> {
    let (second, third) = (reader.word(1), reader.word(2));
    let is_chat = matches!(second.as_str(), "direct" | "dm" | "group" | "channel" | "room" | "slash");
    let with_account = !is_chat && matches!(third.as_str(), "direct" | "dm");
    if !is_chat && !with_account {
        let text = reader.value("key")?;
        return if is_prototype_name(&text) { Err(KeyError::PrototypeName(text)) } else { Ok(Route::Other(text)) };
    }
    check_name(&channel)?;
    reader.keeps_case = opaque.contains(&channel);
    if with_account {
        check_name(&second)?;
        reader.skip(3);
        return Ok(Route::Direct { channel: Some(channel), account: Some(second), peer: reader.value("direct")? });
    }
    reader.skip(2);
    match second.as_str() {
        "group" => Ok(Route::Group { channel, id: reader.value("group")? }),
        "channel" | "room" => Ok(Route::Channel { channel, id: reader.value("channel")? }),
        "slash" => Ok(Route::Slash { channel, user: reader.value("slash")? }),
        _ => Ok(Route::Direct { channel: Some(channel), account: None, peer: reader.value("direct")? }),
    }
}

fn check_name(name: &str) -> Result<(), KeyError> {
    if is_prototype_name(name) {
        Err(KeyError::PrototypeName(name.to_owned()))
    } else if name != "unknown" && RESERVED.contains(&name) || is_marker(name) {
        // `unknown` is the channel of a message that names none.
        Err(KeyError::ReservedName(name.to_owned()))
    } else {
        Ok(())
    }
}
