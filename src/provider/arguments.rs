//! The input of a call, from the text that a model wrote, and an id for a call that has none. For every wire.

use super::json::parse;
use crate::domain::ids::CallId;
use serde_json::{Value, json};

/// An id for a call that came without one: nine letters and digits, which every server takes.
pub(super) fn made_up_id() -> String {
    std::iter::repeat_with(fastrand::alphanumeric).take(9).collect()
}

/// True if a call that a server wrote under the id `kept` is ours: where a server repeats ids over
/// responses, a number behind the id tells later calls apart.
pub(super) fn is_same_call(kept: &str, ours: &CallId) -> bool {
    let rest = ours.as_str().strip_prefix(kept);
    rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok()))
}

/// The input object. Forgives what servers and models get wrong; what is no object in any way becomes `{"_raw": text}`.
pub(super) fn input(arguments: &str) -> Value {
    let text = arguments.trim();
    if text.is_empty() {
        return json!({});
    }
    let object = |text: &str| parse(text).ok().filter(Value::is_object);
    if let Some(whole) = object(text) {
        return whole;
    }
    // An empty object sent ahead of the real one.
    if let Some(rest) = text.strip_prefix("{}").and_then(object) {
        return rest;
    }
    match parse(text) {
        Ok(Value::Null) => json!({}),
        // An object wrapped into a string once more.
        Ok(Value::String(inner)) => object(&inner).unwrap_or_else(|| json!({"_raw": arguments})),
        _ => json!({"_raw": arguments}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_that_models_write() {
        for (text, value) in [
            ("", json!({})),
            ("null", json!({})),
            (r#"{}{"a":1}"#, json!({"a": 1})),
            (r#""{\"a\":1}""#, json!({"a": 1})),
            (r#"{"a":"\ud83d"}"#, super::super::json::parse(r#"{"a":"\ud83d"}"#).unwrap()),
            ("{", json!({"_raw": "{"})),
        ] {
            assert_eq!(input(text), value, "{text}");
        }
    }

    #[test]
    fn a_number_behind_an_id_tells_repeated_ones_apart() {
        let same = |kept: &str, ours: &str| is_same_call(kept, &CallId::new(ours));
        assert!(same("call_0", "call_0") && same("call_0", "call_0-2"));
        assert!(!same("call_0", "call_01") && !same("call_0", "call_0-x") && !same("call_1", "call_0-2"));
    }
}
