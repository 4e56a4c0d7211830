//! The names in a list of models. Pure; `model_catalogue` reads the rest of it.

use serde_json::Value;

/// The names in a list of models, sorted; `None` for something else.
pub(super) fn names(value: &Value) -> Option<Vec<String>> {
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
