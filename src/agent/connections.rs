//! The connections that can be asked, by name. A connection that got a key while the program runs is opened anew.

use super::blocking::blocking;
use crate::domain::ConnectionName;
use crate::domain::request::KeyRequest;
use crate::domain::secret::Key;
use crate::protocol::ConnectionInfo;
use crate::provider::figures::built_in;
use crate::provider::{Provider, ProviderError};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

/// Keeps the keys of connections and opens them. The configuration's side of it.
pub trait Keys: Send + Sync {
    /// Request for the key of this connection; `None` if a key would not help. `refused`: words of
    /// the server about the current key.
    fn wanted(&self, connection: &ConnectionName, refused: Option<&str>) -> Option<KeyRequest>;

    /// Keeps that in every session the second connection answers where the first one is named and not configured here.
    ///
    /// # Errors
    /// A sentence that says why it was not kept, and what to do.
    fn stand_in(&self, _named: &ConnectionName, _answers: &ConnectionName) -> Result<(), String> {
        Ok(())
    }

    /// The connection opened with a key that is not stored; `None` if it cannot be asked anything.
    fn open_with(&self, _connection: &ConnectionName, _key: &Key) -> Option<Arc<dyn Provider>> {
        None
    }

    /// The connection to a server by its address, opened and not kept.
    ///
    /// # Errors
    /// A sentence that says why there is none, and what to do.
    fn try_server(&self, _address: &str) -> Result<Opened, String> {
        Err("Can't add servers here.".to_owned())
    }

    /// Adds a server by its address, and opens the connection to it. Of one that is known it is that connection.
    ///
    /// # Errors
    /// A sentence that says why it was not added, and what to do.
    fn add_server(&self, _address: &str) -> Result<Opened, String> {
        Err("Can't add servers here.".to_owned())
    }

    /// Stores a key, and opens its connection with it.
    ///
    /// # Errors
    /// A sentence that says why it was not stored, and what to do. Never the key.
    fn store(&self, connection: &ConnectionName, key: &Key) -> Result<Opened, String>;
}

/// Patience with a server that is asked whether it takes a key.
const CHECK: Duration = Duration::from_secs(15);

/// Models of a server, or why it did not list them.
pub type Listed = Result<Vec<String>, String>;

/// A server that was added.
pub(super) struct AddedServer {
    pub(super) name: ConnectionName,
    /// It answers no one without a key.
    pub(super) wants_key: bool,
    pub(super) models: Listed,
}

/// False where no server of models answered, whatever it said.
fn answered(error: &ProviderError) -> bool {
    !matches!(error.code, "network_error" | "service_unavailable" | "proxy_error" | "provider_error")
}

/// A connection as it is shown, and to be asked.
pub type Opened = (ConnectionInfo, Option<Arc<dyn Provider>>);

/// Connection of a session, resolved here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnsweringConnection {
    /// The connection that it names is not configured here.
    pub missing: bool,
    /// Substitute: the one chosen for this session or for all of that name; the default if it names none.
    pub stand_in: Option<ConnectionName>,
    /// Nothing can be asked before somebody says what.
    pub unmapped: bool,
}

/// All connections, the default one first. Cheap to clone; clones are the same connections.
#[derive(Clone, Default)]
pub struct Connections {
    all: Arc<RwLock<Vec<Opened>>>,
    /// Connection chosen last, which new sessions begin with.
    chosen: Arc<Mutex<Option<ConnectionName>>>,
    keys: Option<Arc<dyn Keys>>,
    /// Substitutes in every session, by the name of the connection that is not configured here.
    stand_ins: Arc<RwLock<BTreeMap<ConnectionName, ConnectionName>>>,
    /// Models that servers listed.
    told: Arc<RwLock<BTreeMap<ConnectionName, Vec<String>>>>,
    /// Connections that a key alone would make.
    vendors: Vec<ConnectionInfo>,
}

impl Connections {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Keys are kept there.
    #[must_use]
    pub fn with_keys(mut self, keys: Arc<dyn Keys>) -> Self {
        self.keys = Some(keys);
        self
    }

    /// A key alone would make these.
    #[must_use]
    pub fn with_vendors(mut self, vendors: Vec<ConnectionInfo>) -> Self {
        self.vendors = vendors;
        self
    }

    /// These answer for connections that are not configured here.
    #[must_use]
    pub fn with_stand_ins(self, map: BTreeMap<ConnectionName, ConnectionName>) -> Self {
        *self.stand_ins.write().unwrap_or_else(PoisonError::into_inner) = map;
        self
    }

    /// Resolves a session's connection. `mapped`: substitute chosen for this session alone.
    #[must_use]
    pub fn reach(&self, named: Option<&ConnectionName>, mapped: Option<&ConnectionName>) -> AnsweringConnection {
        let Some(named) = named else {
            return AnsweringConnection {
                stand_in: self.preferred().map(|info| info.name),
                ..AnsweringConnection::default()
            };
        };
        if self.info(named).is_some() {
            return AnsweringConnection::default();
        }
        let everywhere = self.stand_ins.read().unwrap_or_else(PoisonError::into_inner).get(named).cloned();
        let stand_in = mapped.cloned().into_iter().chain(everywhere).find(|name| self.can_answer(name));
        // A vendor's, to which a key alone would lead: that is asked for.
        let by_key = self.wanted(named, None).is_some();
        AnsweringConnection { missing: true, unmapped: stand_in.is_none() && !by_key, stand_in }
    }

    /// A server told its models. True where it has just one, which is from now on the one that is meant where none is named.
    pub fn learn(&self, name: &ConnectionName, models: &[String]) -> bool {
        self.told.write().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), models.to_vec());
        self.learn_only(name)
    }

    /// The same for what the connection found out by itself.
    pub fn learn_only(&self, name: &ConnectionName) -> bool {
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        let Some((info, provider)) = all.iter_mut().find(|(info, _)| info.name == *name) else { return false };
        let only = provider.as_ref().and_then(|provider| provider.only()).filter(|_| info.default_model.is_empty());
        only.is_some_and(|only| {
            info.default_model = only;
            true
        })
    }

    /// The connection is known to have this model: it is named in the configuration, its server told it, or its maker is the
    /// model's.
    #[must_use]
    pub fn offers(&self, name: &ConnectionName, model: &str) -> bool {
        let Some(info) = self.info(name) else { return false };
        let named = info.models.iter().chain([&info.default_model, &info.small_model]).any(|known| known == model);
        let told = || {
            let told = self.told.read().unwrap_or_else(PoisonError::into_inner);
            told.get(name).is_some_and(|models| models.iter().any(|known| known == model))
        };
        let by_maker = || {
            let claude = model.starts_with("claude-");
            let made = match info.provider.as_str() {
                "anthropic" => claude,
                "gemini" => model.starts_with("gemini-"),
                "openai" => !claude && !model.starts_with("gemini-") && !model.contains('/'),
                _ => false,
            };
            made && built_in(model).window.is_some()
        };
        named || told() || by_maker()
    }

    /// It is configured here, or a key alone would make it.
    #[must_use]
    pub fn can_answer(&self, name: &ConnectionName) -> bool {
        self.info(name).is_some() || self.wanted(name, None).is_some()
    }

    /// The second one answers for the first one from now on, in every session that names it.
    pub(super) async fn stand_in(&self, named: ConnectionName, answers: ConnectionName) -> Result<(), String> {
        let keys = self.keys.clone();
        self.stand_ins.write().unwrap_or_else(PoisonError::into_inner).insert(named.clone(), answers.clone());
        let Some(keys) = keys else { return Ok(()) };
        let kept = blocking(move || keys.stand_in(&named, &answers)).await;
        kept.unwrap_or_else(|| Err("Not saved: internal error, see the log.".to_owned()))
    }

    /// Connections that a key alone would make.
    #[must_use]
    pub fn vendors(&self) -> Vec<ConnectionInfo> {
        self.vendors.clone()
    }

    /// Adds a connection behind the others, or in the place of the one of its name; one without a provider can be shown but not
    /// used.
    pub fn add(&mut self, info: ConnectionInfo, provider: Option<Arc<dyn Provider>>) {
        self.put((info, provider));
    }

    fn put(&self, opened: Opened) {
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        match all.iter_mut().find(|(info, _)| info.name == opened.0.name) {
            Some(known) => *known = opened,
            None => all.push(opened),
        }
    }

    fn with<T>(&self, look: impl FnOnce(&[Opened]) -> T) -> T {
        look(&self.all.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Description of a connection.
    #[must_use]
    pub fn info(&self, name: &ConnectionName) -> Option<ConnectionInfo> {
        self.with(|all| all.iter().find(|(info, _)| info.name == *name).map(|(info, _)| info.clone()))
    }

    /// The connection to ask.
    #[must_use]
    pub fn provider(&self, name: &ConnectionName) -> Option<Arc<dyn Provider>> {
        self.with(|all| all.iter().find(|(info, _)| info.name == *name).and_then(|(_, provider)| provider.clone()))
    }

    /// The user chose this connection: new sessions begin with it.
    pub fn choose(&self, name: &ConnectionName) {
        *self.chosen.lock().unwrap_or_else(PoisonError::into_inner) = Some(name.clone());
    }

    /// The user chose this model there: new sessions of the connection begin with it.
    pub(super) fn choose_model(&self, name: &ConnectionName, model: &str) {
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        if let Some((info, _)) = all.iter_mut().find(|(info, _)| info.name == *name) {
            model.clone_into(&mut info.default_model);
        }
    }

    /// Connection of new sessions: the one chosen last, else the first one that was chosen earlier
    /// rather than found. It can be used, or could with a key, which is asked for when needed.
    #[must_use]
    pub fn preferred(&self) -> Option<ConnectionInfo> {
        let chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.with(|all| {
            let can = |info: &&ConnectionInfo| info.missing.is_none() || self.wanted(&info.name, None).is_some();
            let usable = || all.iter().map(|(info, _)| info).filter(can);
            let preferred = usable().find(|info| chosen.as_ref() == Some(&info.name));
            preferred.or_else(|| usable().find(|info| !info.offered)).cloned()
        })
    }

    /// All of them.
    #[must_use]
    pub fn infos(&self) -> Vec<ConnectionInfo> {
        self.with(|all| all.iter().map(|(info, _)| info.clone()).collect())
    }

    /// Request for the key of a connection; `None` if a key would not help.
    pub(super) fn wanted(&self, name: &ConnectionName, refused: Option<&str>) -> Option<KeyRequest> {
        self.keys.as_ref()?.wanted(name, refused)
    }

    /// Asks the server of a connection for its models with a key that is not stored yet. `None`: it was not asked.
    ///
    /// # Errors
    /// Words of the server, which refused the key.
    pub async fn check_key(&self, name: ConnectionName, key: Key) -> Result<Option<Listed>, String> {
        let Some(keys) = self.keys.clone() else { return Ok(None) };
        let opened = blocking(move || keys.open_with(&name, &key)).await.flatten();
        let Some(provider) = opened else { return Ok(None) };
        match tokio::time::timeout(CHECK, provider.models()).await {
            Ok(Err(error)) if error.code == "invalid_api_key" => Err(error.text),
            Ok(listed) => Ok(Some(listed.map_err(|error| error.to_string()))),
            Err(_) => Ok(Some(Err(format!("No response within {} s.", CHECK.as_secs())))),
        }
    }

    /// Adds a server by its address. The name of its connection.
    ///
    /// # Errors
    /// A sentence that says why it was not added, and what to do.
    pub(super) async fn add_server(&self, address: String) -> Result<AddedServer, String> {
        let Some(keys) = self.keys.clone() else { return Err("Can't add servers here.".to_owned()) };
        let failed = || Err("Internal error, see the log.".to_owned());
        let (by, tried) = (keys.clone(), address.clone());
        let (_, provider) = blocking(move || by.try_server(&tried)).await.unwrap_or_else(failed)?;
        // An address that nobody answers at is a slip of the hand more often than a server that sleeps.
        let listed = match provider {
            Some(provider) => provider.models().await,
            // Its row says why it can't be asked.
            None => Ok(Vec::new()),
        };
        if let Err(error) = &listed
            && !answered(error)
        {
            return Err(error.text.clone());
        }
        let opened = blocking(move || keys.add_server(&address)).await.unwrap_or_else(failed)?;
        let name = opened.0.name.clone();
        self.put(opened);
        let wants_key = listed.as_ref().is_err_and(|error| error.code == "invalid_api_key");
        Ok(AddedServer { name, wants_key, models: listed.map_err(|error| error.to_string()) })
    }

    /// Stores a key and opens its connection with it; sessions ask the new one from their next request on.
    pub(super) async fn store_key(&self, name: ConnectionName, key: Key) -> Result<(), String> {
        let Some(keys) = self.keys.clone() else { return Err("Can't store keys here.".to_owned()) };
        let stored = blocking(move || keys.store(&name, &key)).await;
        self.put(stored.unwrap_or_else(|| Err("Key not stored: internal error, see the log.".to_owned()))?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_sessions_follow_the_choice_and_never_an_offer() {
        let info = |name: &str, offered, missing: Option<&str>| ConnectionInfo {
            name: ConnectionName::new(name),
            provider: "openai-compatible".into(),
            default_model: String::new(),
            small_model: String::new(),
            models: vec![],
            host: String::new(),
            key_from: None,
            missing: missing.map(Into::into),
            offered,
        };
        let mut connections = Connections::new();
        connections.add(info("found", true, None), None);
        connections.add(info("broken", false, Some("no key")), None);
        connections.add(info("rehearsal", false, None), None);
        let preferred = || connections.preferred().map(|info| info.name.to_string());
        assert_eq!(preferred().as_deref(), Some("demo"), "what was only found is not used by itself");
        connections.choose(&ConnectionName::new("found"));
        assert_eq!(preferred().as_deref(), Some("found"));
        connections.choose(&ConnectionName::new("broken"));
        assert_eq!(preferred().as_deref(), Some("demo"), "what cannot be used is not begun with");
        connections.put((info("broken", false, None), None));
        assert_eq!(preferred().as_deref(), Some("broken"), "it got its key");
    }
}
