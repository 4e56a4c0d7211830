//! Sizes that a request goes by: the models' windows, project memory, and how tokens were counted so far.

use crate::agent::model_context::project_memory::Memory;
use crate::agent::model_context::tokens::Gauge;
use std::sync::Arc;

/// Facts about the models that a session uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Models {
    /// The window of the session's model, in tokens.
    pub window: Option<u64>,
    /// The most tokens of one of its answers.
    pub output: Option<u64>,
    /// True if there is a small model of its own.
    pub has_small: bool,
    /// The window of the model that sums up.
    pub summing: Option<u64>,
}

/// Sizes of a session's requests.
#[derive(Clone, Debug, Default)]
pub(super) struct Budget {
    models: Models,
    memory: Arc<Memory>,
    gauge: Gauge,
}

impl Budget {
    /// Facts about the models.
    pub(super) fn models(&self) -> &Models {
        &self.models
    }

    pub(super) fn set_models(&mut self, models: Models) {
        self.models = models;
    }

    /// Project memory.
    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }

    pub(super) fn set_memory(&mut self, memory: Arc<Memory>) {
        self.memory = memory;
    }

    /// Corrects guessed tokens by what servers counted.
    pub(super) fn gauge(&self) -> &Gauge {
        &self.gauge
    }

    pub(super) fn gauge_mut(&mut self) -> &mut Gauge {
        &mut self.gauge
    }
}
