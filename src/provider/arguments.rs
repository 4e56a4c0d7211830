//! The input of a call, from the text that a model wrote, and an id for a call that has none. For every wire.

use serde_json::{Map, Value, json};

/// An id for a call that came without one: nine letters and digits, which every server takes.
pub(super) fn made_up_id() -> String {
    std::iter::repeat_with(fastrand::alphanumeric).take(9).collect()
}

/// The input object. Forgives what servers and models get wrong; what is no object in any way becomes `{"_raw": text}`.
pub(super) fn input(arguments: &str) -> Value {
    let text = arguments.trim();
    if text.is_empty() {
        return json!({});
    }
    let object = |text: &str| serde_json::from_str::<Map<String, Value>>(text).ok().map(Value::Object);
    if let Some(whole) = object(text) {
        return whole;
    }
    // An empty object sent ahead of the real one.
    if let Some(rest) = text.strip_prefix("{}").and_then(object) {
        return rest;
    }
    match serde_json::from_str(text) {
        Ok(Value::Null) => json!({}),
        // An object wrapped into a string once more.
        Ok(Value::String(inner)) => object(&inner).unwrap_or_else(|| json!({"_raw": arguments})),
        _ => json!({"_raw": arguments}),
    }
}
