//! What a list of models says: their names, and how much their contexts can hold. Pure.

use serde_json::Value;
use std::collections::BTreeMap;

/// The names in a list of models, sorted; `None` for something else.
pub(in crate::provider) fn names(value: &Value) -> Option<Vec<String>> {
    let list = value.get("data").or_else(|| value.get("models")).unwrap_or(value).as_array()?;
    let name = |model: &Value| -> Option<String> {
        let name = ["id", "name", "model"].iter().find_map(|key| model.get(key).and_then(Value::as_str));
        name.or_else(|| model.as_str()).map(str::to_owned)
    };
    let mut names: Vec<String> = list.iter().filter_map(name).collect();
    names.sort_unstable();
    names.dedup();
    Some(names)
}

/// The context windows in tokens, where the server tells them: OpenRouter's, vLLM's, Groq's, Mistral's, LM Studio's, llama.cpp's and
/// Ollama's names of it. What is loaded comes before what is possible.
pub(super) fn windows(value: &Value) -> BTreeMap<String, u64> {
    const PLACES: [&str; 8] = [
        "/loaded_context_length",
        "/max_model_len",
        "/context_length",
        "/context_window",
        "/max_context_length",
        "/meta/n_ctx",
        "/top_provider/context_length",
        "/meta/n_ctx_train",
    ];
    let list = value.get("data").or_else(|| value.get("models")).unwrap_or(value).as_array();
    let window = |model: &Value| {
        let name = ["id", "name", "model"].iter().find_map(|key| model.get(key).and_then(Value::as_str))?;
        let tokens = PLACES.iter().find_map(|place| model.pointer(place).and_then(Value::as_u64).filter(|&n| n > 0))?;
        Some((name.to_owned(), tokens))
    };
    list.map_or(&[][..], Vec::as_slice).iter().filter_map(window).collect()
}

/// The list is Ollama's, which tells the context of a model only while it runs, and at another address. It cuts a longer conversation
/// without a word, so the number matters.
pub(super) fn are_ollamas(value: &Value) -> bool {
    let list = value.get("data").and_then(Value::as_array);
    list.is_some_and(|list| list.iter().any(|model| model.get("owned_by").and_then(Value::as_str) == Some("library")))
}
