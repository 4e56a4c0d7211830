//! What is known of a model before it is chosen: how much it can hold, what it costs, what it can.
//!
//! Where the figures come from (the configuration, a built-in table, the server) is the engine's part.

use super::session::ThinkingLevel;
use serde::{Deserialize, Serialize};

/// What is known of a model of a connection. `None` is: nobody said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// What it costs.
    pub price: Option<ModelPrice>,
    /// Prompts of more tokens than this cost more.
    pub long_over: Option<u64>,
}

/// What a model costs, in US dollars for a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelPrice {
    /// Tokens of the prompt.
    pub input: f64,
    /// Tokens of the prompt that came from a cache.
    pub cached: f64,
    /// Tokens that it wrote.
    pub output: f64,
}

/// What a thinking level means to a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelMeaning {
    /// Which level.
    pub level: ThinkingLevel,
    /// What is sent for it, in words; or why it changes nothing.
    pub meaning: Result<String, String>,
}
