//! Model catalogue: figures, meaning of thinking levels, and the servers being asked for their models.

use crate::domain::ids::{At, ConnectionName};
use crate::domain::model::{LevelMeaning, ModelFigures};
use std::collections::HashMap;

/// Facts about models.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    figures: HashMap<ConnectionName, HashMap<String, ModelFigures>>,
    levels: HashMap<(ConnectionName, String), Vec<LevelMeaning>>,
    asking: HashMap<ConnectionName, At>,
}

impl Catalogue {
    /// Figures of a model.
    #[must_use]
    pub fn figures(&self, connection: &ConnectionName, model: &str) -> Option<&ModelFigures> {
        self.figures.get(connection)?.get(model)
    }

    /// Takes over what the engine knows.
    pub fn learn(&mut self, connection: ConnectionName, models: Vec<ModelFigures>) {
        let known = self.figures.entry(connection).or_default();
        known.extend(models.into_iter().map(|one| (one.model.clone(), one)));
    }

    /// Meaning of the thinking levels for a model; empty until the engine has answered.
    #[must_use]
    pub fn levels(&self, connection: &ConnectionName, model: &str) -> &[LevelMeaning] {
        self.levels.get(&(connection.clone(), model.to_owned())).map_or(&[], Vec::as_slice)
    }

    /// Takes over what the levels mean.
    pub fn learn_levels(&mut self, connection: ConnectionName, model: String, levels: Vec<LevelMeaning>) {
        self.levels.insert((connection, model), levels);
    }

    /// The server of a connection is asked for its models from now on.
    pub fn ask(&mut self, connection: ConnectionName, now: At) {
        self.asking.insert(connection, now);
    }

    /// It answered.
    pub fn answered(&mut self, connection: &ConnectionName) {
        self.asking.remove(connection);
    }

    /// Since when the server of a connection is being asked.
    #[must_use]
    pub fn asked_since(&self, connection: &ConnectionName) -> Option<At> {
        self.asking.get(connection).copied()
    }

    /// True while any server is being asked.
    #[must_use]
    pub fn asks(&self) -> bool {
        !self.asking.is_empty()
    }
}
