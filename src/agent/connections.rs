//! The connections that can be asked, by name.

use crate::domain::ConnectionName;
use crate::domain::contract::ConnectionInfo;
use crate::provider::Provider;
use std::sync::{Arc, Mutex, PoisonError};

/// All connections, the default one first.
#[derive(Clone, Default)]
pub struct Connections {
    all: Vec<(ConnectionInfo, Option<Arc<dyn Provider>>)>,
    /// What the user chose last, which new sessions begin with.
    chosen: Arc<Mutex<Option<ConnectionName>>>,
}

impl Connections {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a connection behind the others; one without a provider can be shown but not used.
    pub fn add(&mut self, info: ConnectionInfo, provider: Option<Arc<dyn Provider>>) {
        self.all.push((info, provider));
    }

    /// What is known of a connection.
    #[must_use]
    pub fn info(&self, name: &ConnectionName) -> Option<&ConnectionInfo> {
        self.all.iter().find(|(info, _)| info.name == *name).map(|(info, _)| info)
    }

    /// The connection to ask.
    #[must_use]
    pub fn provider(&self, name: &ConnectionName) -> Option<Arc<dyn Provider>> {
        self.all.iter().find(|(info, _)| info.name == *name).and_then(|(_, provider)| provider.clone())
    }

    /// The user chose this connection: new sessions begin with it.
    pub fn choose(&self, name: &ConnectionName) {
        *self.chosen.lock().unwrap_or_else(PoisonError::into_inner) = Some(name.clone());
    }

    /// What a new session begins with: the connection chosen last, else the first one that was chosen earlier rather than
    /// found; one that can be used.
    #[must_use]
    pub fn preferred(&self) -> Option<&ConnectionInfo> {
        let chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let usable = || self.all.iter().map(|(info, _)| info).filter(|info| info.missing.is_none());
        usable().find(|info| chosen.as_ref() == Some(&info.name)).or_else(|| usable().find(|info| !info.offered))
    }

    /// All of them.
    #[must_use]
    pub fn infos(&self) -> Vec<ConnectionInfo> {
        self.all.iter().map(|(info, _)| info.clone()).collect()
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
    }
}
