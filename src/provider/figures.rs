//! Context windows and prices of models: the built-in table of `models.toml`, and what a connection says instead.

use crate::domain::usage::RequestUsage;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Prices in US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
pub struct Prices {
    /// Tokens of the prompt.
    pub input: f64,
    /// Tokens of the prompt that came from a cache.
    pub cached: f64,
    /// Tokens that the model wrote.
    pub output: f64,
}

impl Prices {
    /// The price of a request in US dollars.
    #[must_use]
    pub fn of(self, usage: RequestUsage) -> f64 {
        let cached = usage.cache_read.min(usage.input);
        let fresh = usage.input - cached;
        (fresh as f64 * self.input + cached as f64 * self.cached + usage.output as f64 * self.output) / 1_000_000.0
    }
}

/// What is known of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Tokens that its context can hold.
    pub window: Option<u64>,
    /// What it costs.
    pub prices: Option<Prices>,
}

#[derive(Deserialize)]
struct Row {
    window: u64,
    #[serde(flatten)]
    prices: Prices,
}

/// The built-in figures of a model, also under a dated or prefixed name; empty for an unknown one.
#[must_use]
pub fn built_in(model: &str) -> Figures {
    static TABLE: OnceLock<BTreeMap<String, Row>> = OnceLock::new();
    // A test holds that the table can be read, so the empty one never comes to pass.
    let table = TABLE.get_or_init(|| toml::from_str(include_str!("models.toml")).unwrap_or_default());
    let bare = model.strip_prefix("openai/").unwrap_or(model);
    let row = table.get(bare).or_else(|| table.get(undated(bare)?));
    row.map_or_else(Figures::default, |row| Figures { window: Some(row.window), prices: Some(row.prices) })
}

/// A name without the `-2024-08-06` at its end, if there is one.
fn undated(model: &str) -> Option<&str> {
    let at = model.len().checked_sub(11)?;
    let (name, date) = (model.get(..at)?, model.get(at..)?);
    let shape: String = date.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    (shape == "-0000-00-00").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_read_and_is_sane() {
        let table: BTreeMap<String, Row> = toml::from_str(include_str!("models.toml")).unwrap();
        assert!(table.len() > 10);
        for (name, row) in table {
            assert!(row.window >= 8_000, "{name}");
            assert!(row.prices.cached <= row.prices.input && row.prices.input < row.prices.output, "{name}");
        }
    }

    #[test]
    fn names_find_their_model() {
        for name in ["gpt-4o", "gpt-4o-2024-08-06", "openai/gpt-4o", "openai/gpt-4o-2024-11-20"] {
            assert_eq!(built_in(name).window, Some(128_000), "{name}");
        }
        for name in ["gpt-4o-audio", "llama3", "", "-2024-08-06", "über-2024-08-06", "gpt-4o-2024-08-xx"] {
            assert_eq!(built_in(name), Figures::default(), "{name}");
        }
    }

    #[test]
    fn cached_tokens_are_cheaper_and_never_counted_twice() {
        let prices = Prices { input: 2.0, cached: 0.5, output: 8.0 };
        let usage = RequestUsage { input: 1_000_000, output: 500_000, cache_read: 400_000, cache_creation: 0 };
        assert!((prices.of(usage) - (1.2 + 0.2 + 4.0)).abs() < 1e-9);
        let odd = RequestUsage { input: 10, output: 0, cache_read: 20, cache_creation: 0 };
        assert!((prices.of(odd) - 10.0 * 0.5 / 1e6).abs() < 1e-12);
    }
}
