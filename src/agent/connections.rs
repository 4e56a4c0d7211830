//! The connections that can be asked, by name.

use crate::domain::ConnectionName;
use crate::domain::contract::ConnectionInfo;
use crate::provider::Provider;
use std::sync::Arc;

/// All connections, the default one first.
#[derive(Clone, Default)]
pub struct Connections(Vec<(ConnectionInfo, Option<Arc<dyn Provider>>)>);

impl Connections {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a connection behind the others; one without a provider can be shown but not used.
    pub fn add(&mut self, info: ConnectionInfo, provider: Option<Arc<dyn Provider>>) {
        self.0.push((info, provider));
    }

    /// What is known of a connection.
    #[must_use]
    pub fn info(&self, name: &ConnectionName) -> Option<&ConnectionInfo> {
        self.0.iter().find(|(info, _)| info.name == *name).map(|(info, _)| info)
    }

    /// The connection to ask.
    #[must_use]
    pub fn provider(&self, name: &ConnectionName) -> Option<Arc<dyn Provider>> {
        self.0.iter().find(|(info, _)| info.name == *name).and_then(|(_, provider)| provider.clone())
    }

    /// The first connection that was chosen rather than found, and can be used.
    #[must_use]
    pub fn preferred(&self) -> Option<&ConnectionInfo> {
        self.0.iter().map(|(info, _)| info).find(|info| !info.offered && info.missing.is_none())
    }

    /// All of them.
    #[must_use]
    pub fn infos(&self) -> Vec<ConnectionInfo> {
        self.0.iter().map(|(info, _)| info.clone()).collect()
    }
}
