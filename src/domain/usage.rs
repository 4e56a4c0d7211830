//! Tokens and money of a session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Usage of a session. The key names are those of Craft Agents' `tokenUsage`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Tokens of all prompts, cached ones included, added up over the session.
    pub input_tokens: u64,
    /// Tokens that the model wrote, added up over the session.
    pub output_tokens: u64,
    /// `input_tokens + output_tokens`.
    pub total_tokens: u64,
    /// Tokens of the latest request's context: input, cache reads and cache writes together. Replaced by each request.
    pub context_tokens: u64,
    /// US dollars, added up. 0 where the price is not known.
    pub cost_usd: f64,
    /// Tokens of the latest request that came from the provider's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    /// Tokens of the latest request that were written to the provider's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_creation_tokens: Option<u64>,
    /// The model's context window in tokens, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
}

/// Usage of one request, as the provider reported it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestUsage {
    /// All tokens of the prompt, cached ones included.
    pub input: u64,
    /// Tokens that the model wrote, thinking included.
    pub output: u64,
    /// The part of `input` that was read from a cache.
    pub cache_read: u64,
    /// The part of `input` that was written to a cache.
    pub cache_creation: u64,
    /// The part of `cache_creation` that is kept for an hour, which costs more.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_hour: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(tokens: &u64) -> bool {
    *tokens == 0
}

impl Usage {
    /// Part of the context window in percent, and the window in tokens, where it is known.
    #[must_use]
    pub fn context_share(&self) -> Option<(u64, u64)> {
        let window = self.context_window.filter(|window| *window > 0)?;
        Some((self.context_tokens.saturating_mul(100) / window, window))
    }

    /// Adds one request: the context figures are replaced, input, output and cost are added up.
    pub fn add(&mut self, one: RequestUsage, cost_usd: f64, window: Option<u64>) {
        self.input_tokens = self.input_tokens.saturating_add(one.input);
        self.context_tokens = one.input;
        self.output_tokens = self.output_tokens.saturating_add(one.output);
        self.total_tokens = self.input_tokens.saturating_add(self.output_tokens);
        self.cost_usd += cost_usd;
        self.cache_read_tokens = (one.cache_read > 0).then_some(one.cache_read);
        self.cache_creation_tokens = (one.cache_creation > 0).then_some(one.cache_creation);
        if window.is_some() {
            self.context_window = window;
        }
    }

    /// Adds a request apart from the conversation: what it cost, and nothing of the context.
    pub fn add_apart(&mut self, one: RequestUsage, cost_usd: f64) {
        self.input_tokens = self.input_tokens.saturating_add(one.input);
        self.output_tokens = self.output_tokens.saturating_add(one.output);
        self.total_tokens = self.input_tokens.saturating_add(self.output_tokens);
        self.cost_usd += cost_usd;
    }

    /// Takes back what [`Usage::add`] added up for a request, before a newer count of the same request is added.
    pub fn take_back(&mut self, one: RequestUsage, cost_usd: f64) {
        self.input_tokens = self.input_tokens.saturating_sub(one.input);
        self.output_tokens = self.output_tokens.saturating_sub(one.output);
        self.total_tokens = self.input_tokens.saturating_add(self.output_tokens);
        self.cost_usd = (self.cost_usd - cost_usd).max(0.0);
    }
}
