//! The connections that can be asked, by name. A connection that got a key while the program runs is opened anew.

use super::desk::blocking;
use crate::domain::ConnectionName;
use crate::domain::contract::ConnectionInfo;
use crate::domain::request::KeyRequest;
use crate::domain::secret::Key;
use crate::provider::Provider;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Keeps the keys of connections and opens them. The configuration's side of it.
pub trait Keys: Send + Sync {
    /// What is asked when the key of this connection is wanted; `None` where a key would not help. `refused` is what the server
    /// said of the one that there is.
    fn wanted(&self, connection: &ConnectionName, refused: Option<&str>) -> Option<KeyRequest>;

    /// Stores a key, and opens its connection with it.
    ///
    /// # Errors
    /// A sentence that says why it was not stored, and what to do. Never the key.
    fn store(&self, connection: &ConnectionName, key: &Key) -> Result<Opened, String>;
}

/// A connection as it is shown, and to be asked.
pub type Opened = (ConnectionInfo, Option<Arc<dyn Provider>>);

/// All connections, the default one first. Cheap to clone; clones are the same connections.
#[derive(Clone, Default)]
pub struct Connections {
    all: Arc<RwLock<Vec<Opened>>>,
    /// What the user chose last, which new sessions begin with.
    chosen: Arc<Mutex<Option<ConnectionName>>>,
    keys: Option<Arc<dyn Keys>>,
    /// Those that a key alone would make.
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

    /// What is known of a connection.
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

    /// What a new session begins with: the connection chosen last, else the first one that was chosen earlier rather than
    /// found; one that can be used, or could with a key: that is asked for when it is needed.
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

    /// What is asked when the key of a connection is wanted; `None` where a key would not help.
    pub(super) fn wanted(&self, name: &ConnectionName, refused: Option<&str>) -> Option<KeyRequest> {
        self.keys.as_ref()?.wanted(name, refused)
    }

    /// Stores a key and opens its connection with it; sessions ask the new one from their next request on.
    pub(super) async fn store_key(&self, name: ConnectionName, key: Key) -> Result<(), String> {
        let Some(keys) = self.keys.clone() else { return Err("Keys cannot be stored here.".to_owned()) };
        let stored = blocking(move || keys.store(&name, &key)).await;
        self.put(stored.unwrap_or_else(|| Err("Storing the key failed inside lisle; the log has it.".to_owned()))?);
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
        assert_eq!(preferred().as_deref(), Some("rehearsal"), "what was only found is not used by itself");
        connections.choose(&ConnectionName::new("found"));
        assert_eq!(preferred().as_deref(), Some("found"));
        connections.choose(&ConnectionName::new("broken"));
        assert_eq!(preferred().as_deref(), Some("rehearsal"), "what cannot be used is not begun with");
        connections.put((info("broken", false, None), None));
        assert_eq!(preferred().as_deref(), Some("broken"), "it got its key");
    }
}
