//! Model catalogues of servers: sizes of contexts and answers, media, prices. The fields are those
//! of the lists of OpenRouter, vLLM, Groq, Mistral, LM Studio, llama.cpp, Ollama, Gemini and
//! Anthropic. Pure; kept as long as the program runs.

use super::endpoint::Endpoint;
use super::figures::{ModelFacts, Prices};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Catalogue of a server, by model.
#[derive(Clone, Debug, Default)]
pub struct ModelCatalogue(Arc<Mutex<BTreeMap<String, ModelFacts>>>);

impl ModelCatalogue {
    /// Remembers what a list says; a newer word comes before an older one.
    pub(super) fn learn(&self, list: &Value) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (model, new) in of_list(list) {
            let known = all.entry(model).or_default();
            *known = over(new, *known);
        }
    }

    /// Remembers what a list says where nothing is known yet.
    pub(super) fn learn_behind(&self, list: &Value) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (model, new) in of_list(list) {
            let known = all.entry(model).or_default();
            *known = over(*known, new);
        }
    }

    /// Remembers what is said of one model.
    pub(super) fn learn_of(&self, model: &str, new: ModelFacts) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.entry(model.to_owned()).or_default();
        *known = over(new, *known);
    }

    /// All that is known of a model: the configuration's word first, then the built-in table, then the server's.
    pub(super) fn known(&self, endpoint: &Endpoint, model: &str) -> ModelFacts {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(model).copied();
        over(endpoint.known(model), told.unwrap_or_default())
    }
}

/// The first one's word where it says something, else the second one's.
fn over(first: ModelFacts, second: ModelFacts) -> ModelFacts {
    ModelFacts {
        window: first.window.or(second.window),
        output: first.output.or(second.output),
        thinks: first.thinks.or(second.thinks),
        reasons: first.reasons.or(second.reasons),
        vision: first.vision.or(second.vision),
        pdf: first.pdf.or(second.pdf),
        prices: first.prices.or(second.prices),
        long: if first.prices.is_some() { first.long } else { second.long },
    }
}

/// The figures in a list of models.
fn of_list(list: &Value) -> BTreeMap<String, ModelFacts> {
    let models = list.get("data").or_else(|| list.get("models")).unwrap_or(list).as_array();
    let one = |model: &Value| {
        let name = ["id", "key", "name", "model"].iter().find_map(|key| model.get(key).and_then(Value::as_str))?;
        let figures = of_model(model);
        let told = figures != ModelFacts::default();
        told.then(|| (name.strip_prefix("models/").unwrap_or(name).to_owned(), figures))
    };
    models.map_or(&[][..], Vec::as_slice).iter().filter_map(one).collect()
}

/// The figures of one model. What is loaded comes before what is possible.
fn of_model(model: &Value) -> ModelFacts {
    const WINDOW: [&str; 10] = [
        "/loaded_context_length",
        "/max_model_len",
        "/context_length",
        "/context_window",
        "/max_context_length",
        "/meta/n_ctx",
        "/top_provider/context_length",
        "/inputTokenLimit",
        "/max_input_tokens",
        "/meta/n_ctx_train",
    ];
    const OUTPUT: [&str; 5] = [
        "/top_provider/max_completion_tokens",
        "/max_completion_tokens",
        "/outputTokenLimit",
        "/max_output_tokens",
        "/max_tokens",
    ];
    let number = |place: &&str| model.pointer(place).and_then(Value::as_u64).filter(|&tokens| tokens > 0);
    let inputs = model.pointer("/architecture/input_modalities").and_then(Value::as_array);
    let takes = |kind: &str| inputs.map(|kinds| kinds.iter().any(|one| one == kind));
    let kind = model.get("type").and_then(Value::as_str).filter(|kind| matches!(*kind, "llm" | "vlm"));
    let says = |place: &str| model.pointer(place).and_then(Value::as_bool);
    let parameters = model.get("supported_parameters").and_then(Value::as_array);
    let parameters = parameters.map(|known| known.iter().any(|one| one == "reasoning"));
    let vision =
        takes("image").or_else(|| says("/capabilities/vision")).or_else(|| says("/capabilities/image_input/supported"));
    ModelFacts {
        window: WINDOW.iter().find_map(number),
        output: OUTPUT.iter().find_map(number),
        thinks: None,
        reasons: parameters.or_else(|| says("/capabilities/thinking/supported")).or_else(|| says("/thinking")),
        vision: vision.or_else(|| kind.map(|kind| kind == "vlm")),
        // OpenRouter reads documents for models that cannot; others that take files say so.
        pdf: says("/capabilities/pdf_input/supported"),
        prices: prices(model),
        long: None,
    }
}

/// OpenRouter's prices: dollars for one token, as texts.
fn prices(model: &Value) -> Option<Prices> {
    let pricing = model.get("pricing")?;
    let million = |key: &str| {
        let price = pricing.get(key)?;
        let price = price.as_str().and_then(|text| text.parse::<f64>().ok()).or_else(|| price.as_f64())?;
        // A model that chooses among others has a price of -1.
        (price.is_finite() && price >= 0.0).then_some(price * 1e6)
    };
    let input = million("prompt")?;
    Some(Prices {
        input,
        cached: million("input_cache_read").unwrap_or(input),
        written: million("input_cache_write"),
        written_hour: None,
        output: million("completion")?,
    })
}

/// Figures that llama.cpp reports for its loaded model, at `/props`.
pub(super) fn of_props(props: &Value) -> ModelFacts {
    ModelFacts {
        window: props
            .pointer("/default_generation_settings/n_ctx")
            .and_then(Value::as_u64)
            .filter(|&tokens| tokens > 0),
        vision: props.pointer("/modalities/vision").and_then(Value::as_bool),
        ..ModelFacts::default()
    }
}

/// Server programs that report more at another address, below the one that ends in `/v1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CatalogueSource {
    /// Ollama tells the context of a model only while it runs, and cuts a longer conversation without a word.
    Ollama,
    /// LM Studio tells what is loaded, and which models have eyes.
    LmStudio,
    /// llama.cpp tells how much of the context it gives to one conversation.
    LlamaCpp,
}

impl CatalogueSource {
    /// Author of this list.
    pub(super) fn of(list: &Value) -> Option<Self> {
        let owners = list.get("data").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        owners.iter().find_map(|model| match model.get("owned_by").and_then(Value::as_str)? {
            "library" => Some(Self::Ollama),
            "organization_owner" => Some(Self::LmStudio),
            "llamacpp" => Some(Self::LlamaCpp),
            _ => None,
        })
    }

    /// Path with more figures.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Ollama => "/../api/ps",
            Self::LmStudio => "/../api/v0/models",
            Self::LlamaCpp => "/../props",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn one(model: Value) -> ModelFacts {
        of_list(&json!({"data": [model]})).into_values().next().unwrap_or_default()
    }

    #[test]
    fn what_servers_tell() {
        let openrouter = one(json!({
            "id": "a/b", "context_length": 200_000, "architecture": {"input_modalities": ["text", "image"]},
            "pricing": {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003"},
            "top_provider": {"context_length": 200_000, "max_completion_tokens": 64_000},
        }));
        assert_eq!(
            (openrouter.window, openrouter.output, openrouter.vision),
            (Some(200_000), Some(64_000), Some(true))
        );
        let prices = openrouter.prices.unwrap();
        assert!((prices.input - 3.0).abs() < 1e-9 && (prices.output - 15.0).abs() < 1e-9, "{prices:?}");
        assert!((prices.cached - 0.3).abs() < 1e-9 && prices.written.is_none());
        let auto = one(json!({"id": "auto", "context_length": 2, "pricing": {"prompt": "-1", "completion": "-1"}}));
        assert_eq!(auto.prices, None);
        let table = [
            ("vLLM", json!({"id": "m", "max_model_len": 8_192}), Some(8_192), None),
            (
                "Groq",
                json!({"id": "m", "context_window": 131_072, "max_completion_tokens": 32_768}),
                Some(131_072),
                None,
            ),
            (
                "Mistral",
                json!({"id": "m", "max_context_length": 32_768, "capabilities": {"vision": true}}),
                Some(32_768),
                Some(true),
            ),
            (
                "LM Studio",
                json!({"id": "m", "type": "vlm", "max_context_length": 131_072, "loaded_context_length": 4_096}),
                Some(4_096),
                Some(true),
            ),
            ("LM Studio", json!({"id": "m", "type": "llm", "max_context_length": 8_192}), Some(8_192), Some(false)),
            ("llama.cpp", json!({"id": "m", "meta": {"n_ctx": 4_096, "n_ctx_train": 32_768}}), Some(4_096), None),
            ("nothing", json!({"id": "m", "type": "model"}), None, None),
        ];
        for (who, model, window, vision) in table {
            let figures = one(model);
            assert_eq!((figures.window, figures.vision), (window, vision), "{who}");
        }
        let gemini =
            json!({"models": [{"name": "models/g", "inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536}]});
        let told = ModelCatalogue::default();
        told.learn(&gemini);
        let endpoint = Endpoint::new("x", "http://127.0.0.1:1");
        let known = told.known(&endpoint, "g");
        assert_eq!((known.window, known.output), (Some(1_048_576), Some(65_536)));
        let props = json!({"default_generation_settings": {"n_ctx": 2_048}, "modalities": {"vision": false}});
        assert_eq!((of_props(&props).window, of_props(&props).vision), (Some(2_048), Some(false)));
    }

    #[test]
    fn the_configuration_and_the_table_come_before_the_server() {
        let told = ModelCatalogue::default();
        told.learn(&json!({"data": [{"id": "gpt-4o", "context_length": 5}, {"id": "m", "context_length": 5}]}));
        let mut endpoint = Endpoint::new("x", "http://127.0.0.1:1");
        assert_eq!(told.known(&endpoint, "gpt-4o").window, Some(128_000));
        assert_eq!(told.known(&endpoint, "m").window, Some(5));
        told.learn_of("m", ModelFacts { window: Some(6), ..ModelFacts::default() });
        assert_eq!(told.known(&endpoint, "m").window, Some(6), "the newer word");
        endpoint.figures.insert("m".into(), ModelFacts { window: Some(7), ..ModelFacts::default() });
        assert_eq!(told.known(&endpoint, "m").window, Some(7));
    }

    #[test]
    fn tellers_are_known_by_their_lists() {
        for (owner, teller) in [
            ("library", Some(CatalogueSource::Ollama)),
            ("organization_owner", Some(CatalogueSource::LmStudio)),
            ("llamacpp", Some(CatalogueSource::LlamaCpp)),
            ("openai", None),
        ] {
            assert_eq!(CatalogueSource::of(&json!({"data": [{"id": "m", "owned_by": owner}]})), teller);
        }
    }
}
