//! Context windows, output limits, ways of thinking and prices of models: the built-in table of `models.toml`, and what a connection
//! says instead.

use crate::domain::model::{ModelFigures, ModelPrice};
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
    /// Tokens of the prompt that were written to a cache; `None` where that costs what other input costs.
    #[serde(default)]
    pub written: Option<f64>,
    /// The same for a cache of an hour; `None` for twice the price of other input, as the makers' lists have it.
    #[serde(default)]
    pub written_hour: Option<f64>,
    /// Tokens that the model wrote.
    pub output: f64,
}

impl Prices {
    /// The price of a request in US dollars.
    #[must_use]
    pub fn of(self, usage: RequestUsage) -> f64 {
        let cached = usage.cache_read.min(usage.input);
        let written = usage.cache_creation.min(usage.input - cached);
        let fresh = usage.input - cached - written;
        let prompt = fresh as f64 * self.input + cached as f64 * self.cached;
        let hour = usage.cache_hour.min(written);
        let written = (written - hour) as f64 * self.written.unwrap_or(self.input)
            + hour as f64 * self.written_hour.unwrap_or(2.0 * self.input);
        (prompt + written + usage.output as f64 * self.output) / 1_000_000.0
    }
}

/// Prices of requests with a long prompt, where they are others.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Long {
    /// Prompts of more tokens than this are long ones.
    pub over: u64,
    /// Prices of all tokens of such a request.
    #[serde(flatten)]
    pub prices: Prices,
}

/// Form of the request for thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Thinks {
    /// Within a number of tokens.
    Budget,
    /// The same, a small model's numbers.
    SmallBudget,
    /// As far as it sees fit, by a word for the effort.
    Adaptive,
    /// The same, and it cannot be told not to.
    Always,
}

/// Facts about a model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelFacts {
    /// Tokens that its context can hold.
    pub window: Option<u64>,
    /// The most tokens of one answer, thinking included.
    pub output: Option<u64>,
    /// Form of the request for thinking.
    pub thinks: Option<Thinks>,
    /// It can think before it answers.
    pub reasons: Option<bool>,
    /// It can be shown pictures.
    pub vision: Option<bool>,
    /// It can be shown PDF documents.
    pub pdf: Option<bool>,
    /// Prices.
    pub prices: Option<Prices>,
    /// Prices of requests with a long prompt.
    pub long: Option<Long>,
}

impl ModelFacts {
    /// Figures for clients.
    #[must_use]
    pub fn told(self, model: &str) -> ModelFigures {
        let price = |prices: Prices| ModelPrice { input: prices.input, cached: prices.cached, output: prices.output };
        ModelFigures {
            model: model.to_owned(),
            window: self.window,
            output: self.output,
            thinks: self.reasons.or(self.thinks.map(|_| true)),
            pictures: self.vision,
            documents: self.pdf,
            price: self.prices.map(price),
            long_over: self.long.map(|long| long.over),
        }
    }

    /// The price of a request in US dollars; 0 where it is not known.
    #[must_use]
    pub fn price(&self, usage: RequestUsage) -> f64 {
        let long = self.long.filter(|long| usage.input > long.over).map(|long| long.prices);
        long.or(self.prices).map_or(0.0, |prices| prices.of(usage))
    }
}

#[derive(Deserialize)]
struct FigureRow {
    window: u64,
    output_limit: Option<u64>,
    thinks: Option<Thinks>,
    /// Most models can: those that cannot are marked.
    reasons: Option<bool>,
    vision: Option<bool>,
    pdf: Option<bool>,
    long: Option<Long>,
    #[serde(flatten)]
    prices: Prices,
}

/// The end of a model's name that asks for its context of a million tokens.
pub const MILLION: &str = "[1m]";

/// The built-in figures of a model, also under a dated or prefixed name; empty for an unknown one.
#[must_use]
pub fn built_in(model: &str) -> ModelFacts {
    static TABLE: OnceLock<BTreeMap<String, FigureRow>> = OnceLock::new();
    // A test holds that the table can be read, so the empty one never comes to pass.
    let table = TABLE.get_or_init(|| toml::from_str(include_str!("models.toml")).unwrap_or_default());
    let bare = model.strip_prefix("openai/").unwrap_or(model);
    let row = table
        .get(bare)
        .or_else(|| table.get(undated(bare, "-0000-00-00")?))
        .or_else(|| table.get(&claude_family(model)?));
    let mut figures = row.map_or_else(ModelFacts::default, |row| ModelFacts {
        window: Some(row.window),
        output: row.output_limit,
        thinks: row.thinks,
        reasons: Some(row.reasons.unwrap_or(true)),
        vision: Some(row.vision.unwrap_or(true)),
        pdf: Some(row.pdf.unwrap_or(true)),
        prices: Some(row.prices),
        long: row.long,
    });
    if model.ends_with(MILLION) {
        figures.window = figures.window.map(|window| window.max(1_000_000));
    }
    figures
}

/// The name that all snapshots of a Claude model share, however a vendor writes it; `None` for other models.
#[must_use]
pub fn claude_family(model: &str) -> Option<String> {
    let name = model.strip_suffix(MILLION).unwrap_or(model);
    let name = name.strip_prefix("anthropic/").unwrap_or(name);
    let name = name.strip_suffix("-latest").unwrap_or(name);
    let name = undated(name, "-00000000").unwrap_or(name);
    name.starts_with("claude-").then(|| name.replace('.', "-"))
}

/// A name without the date at its end, if there is one of that shape.
fn undated<'a>(model: &'a str, shape: &str) -> Option<&'a str> {
    let at = model.len().checked_sub(shape.len())?;
    let (name, date) = (model.get(..at)?, model.get(at..)?);
    let zeros: String = date.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    (zeros == shape).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_read_and_is_sane() {
        let table: BTreeMap<String, FigureRow> = toml::from_str(include_str!("models.toml")).unwrap();
        assert!(table.len() > 10);
        for (name, row) in table {
            assert!(row.window >= 8_000, "{name}");
            for prices in [Some(row.prices), row.long.map(|long| long.prices)].into_iter().flatten() {
                assert!(prices.cached <= prices.input && prices.input < prices.output, "{name}");
                assert!(prices.written.is_none_or(|written| written > prices.input), "{name}");
            }
            assert!(row.output_limit.is_none_or(|limit| limit < row.window), "{name}");
            assert_eq!(name.starts_with("claude-"), row.thinks.is_some() && row.output_limit.is_some(), "{name}");
        }
    }

    #[test]
    fn names_find_their_model() {
        for name in ["gpt-4o", "gpt-4o-2024-08-06", "openai/gpt-4o", "openai/gpt-4o-2024-11-20"] {
            assert_eq!(built_in(name).window, Some(128_000), "{name}");
        }
        for name in ["gpt-4o-audio", "llama3", "", "-2024-08-06", "über-2024-08-06", "gpt-4o-2024-08-xx"] {
            assert_eq!(built_in(name), ModelFacts::default(), "{name}");
        }
    }

    #[test]
    fn cached_tokens_are_cheaper_and_never_counted_twice() {
        let prices = Prices { input: 2.0, cached: 0.5, written: None, written_hour: None, output: 8.0 };
        let usage = RequestUsage { input: 1_000_000, output: 500_000, cache_read: 400_000, ..RequestUsage::default() };
        assert!((prices.of(usage) - (1.2 + 0.2 + 4.0)).abs() < 1e-9);
        let odd = RequestUsage { input: 10, output: 0, cache_read: 20, ..RequestUsage::default() };
        assert!((prices.of(odd) - 10.0 * 0.5 / 1e6).abs() < 1e-12);
    }
    #[test]
    fn tokens_written_to_a_cache_and_long_prompts_have_prices_of_their_own() {
        let figures = built_in("claude-sonnet-5-5");
        let usage = RequestUsage {
            input: 3_000_000,
            output: 0,
            cache_read: 1_000_000,
            cache_creation: 1_000_000,
            cache_hour: 0,
        };
        assert!((figures.price(usage) - (2.0 + 0.1 + 2.5)).abs() < 1e-9);
        // A cache of an hour costs twice the input, and never more than was written.
        let hour = RequestUsage { cache_hour: 400_000, ..usage };
        assert!((figures.price(hour) - (2.0 + 0.1 + 0.6 * 2.5 + 0.4 * 4.0)).abs() < 1e-9);
        let odd = RequestUsage { cache_hour: 9_000_000, ..usage };
        assert!((figures.price(odd) - (2.0 + 0.1 + 4.0)).abs() < 1e-9);
        let figures = built_in("claude-haiku-5-5");
        let usage = |input| RequestUsage { input, output: 1_000, ..RequestUsage::default() };
        assert!((figures.price(usage(100_000)) - (0.01 + 0.0005)).abs() < 1e-9);
        assert!((figures.price(usage(100_001)) - (0.100_001 * 0.5 + 0.0025)).abs() < 1e-9);
        assert_eq!(ModelFacts::default().price(usage(5)), 0.0);
    }

    #[test]
    fn claude_models_are_found_however_they_are_written() {
        for name in [
            "claude-sonnet-4-5",
            "claude-sonnet-4-5-20250929",
            "claude-sonnet-4-5-latest",
            "anthropic/claude-sonnet-4.5",
        ] {
            let figures = built_in(name);
            assert_eq!((figures.window, figures.output), (Some(200_000), Some(64_000)), "{name}");
            assert_eq!(claude_family(name).as_deref(), Some("claude-sonnet-4-5"));
        }
        assert_eq!(built_in("claude-sonnet-4-5[1m]").window, Some(1_000_000));
        assert_eq!(built_in("claude-sonnet-9[1m]").window, None);
        assert_eq!(claude_family("gpt-4o-20250929"), None);
    }
}
