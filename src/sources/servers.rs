//! Servers that run: one for each source, directory, configuration and reach, shared by the sessions that use it.

use super::config::SourceConfig;
use super::server::Server;
use super::surroundings::{Reach, Surroundings};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// File and name of a source, working directory, reach.
type ServerKey = (PathBuf, String, PathBuf, Reach);

/// All servers of an engine.
#[derive(Default)]
pub struct Servers {
    around: Arc<Surroundings>,
    running: Mutex<HashMap<ServerKey, Weak<Server>>>,
}

impl Servers {
    /// No server runs yet.
    #[must_use]
    pub fn new(around: Surroundings) -> Self {
        Self { around: Arc::new(around), running: Mutex::default() }
    }

    /// The server of a source for work in a directory; not started, where it is new.
    #[must_use]
    pub fn of(&self, source: &SourceConfig, cwd: &Path, reach: Reach) -> Arc<Server> {
        // One that opens nothing is the same for all.
        let reach = if source.writable.is_empty() { Reach::Own } else { reach };
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|_, server| server.strong_count() > 0);
        let key = (source.file.clone(), source.slug.clone(), cwd.to_owned(), reach);
        // A changed configuration is another server; the one before ends with the last session that uses it.
        if let Some(server) = running.get(&key).and_then(Weak::upgrade).filter(|server| server.source() == source) {
            return server;
        }
        let server = Arc::new(Server::new(source.clone(), (cwd, reach), Arc::clone(&self.around)));
        running.insert(key, Arc::downgrade(&server));
        server
    }

    /// Inputs of their starts.
    #[must_use]
    pub fn surroundings(&self) -> &Surroundings {
        &self.around
    }
}
