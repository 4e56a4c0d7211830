//! Facts about a model before it is chosen: capacity, cost, abilities.
//!
//! The source of the figures (the configuration, a built-in table, the server) is up to the engine.

use super::session::ThinkingLevel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Figures of a connection's model. `None`: unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelFigures {
    /// The model's name at the connection.
    pub model: String,
    /// Tokens that its context can hold.
    pub window: Option<u64>,
    /// The most tokens of one answer.
    pub output: Option<u64>,
    /// It can think before it answers.
    pub thinks: Option<bool>,
    /// It can be shown pictures.
    pub pictures: Option<bool>,
    /// It can be given PDF documents.
    pub documents: Option<bool>,
    /// Price.
    pub price: Option<ModelPrice>,
    /// Prompts of more tokens than this cost more.
    pub long_over: Option<u64>,
}

/// Price of a model, in US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelPrice {
    /// Tokens of the prompt.
    pub input: f64,
    /// Tokens of the prompt that came from a cache.
    pub cached: f64,
    /// Tokens that it wrote.
    pub output: f64,
}

/// Meaning of a thinking level for a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LevelMeaning {
    /// Level.
    pub level: ThinkingLevel,
    /// Request that it makes, in words; or why it has no effect.
    pub meaning: Result<String, String>,
}
