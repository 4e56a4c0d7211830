//! Validation of JSON against a schema: the keywords of JSON Schema that models are given (`type`,
//! `properties`, `required`, `additionalProperties`, `items`, `enum`, `const`, lengths and bounds,
//! `anyOf`). Unknown keywords are ignored.

use serde_json::{Map, Value};

/// Depth limit of validation.
const DEEPEST: usize = 32;

/// The first problem of a value: the place, and what is expected there. `None` if it is valid.
#[must_use]
pub fn fault(value: &Value, schema: &Value) -> Option<String> {
    check(value, schema, "the value", 0).err()
}

fn check(value: &Value, schema: &Value, at: &str, depth: usize) -> Result<(), String> {
    let Some(schema) = schema.as_object() else {
        return if *schema == Value::Bool(false) { Err(format!("{at} must not be there")) } else { Ok(()) };
    };
    if depth > DEEPEST {
        return Err(format!("{at} lies too deep"));
    }
    if let Some(wanted) = schema.get("type") {
        let names: Vec<&str> = match wanted {
            Value::String(name) => vec![name],
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        if !names.is_empty() && !names.iter().any(|name| is(value, name)) {
            return Err(format!("{at} must be {}, but it is {}", names.join(" or "), kind(value)));
        }
    }
    if let Some(Value::Array(all)) = schema.get("enum")
        && !all.contains(value)
    {
        let all: Vec<String> = all.iter().take(20).map(Value::to_string).collect();
        return Err(format!("{at} must be one of {}", all.join(", ")));
    }
    if let Some(one) = schema.get("const").filter(|one| *one != value) {
        return Err(format!("{at} must be {one}"));
    }
    if let Some(Value::Array(ways)) = schema.get("anyOf").or_else(|| schema.get("oneOf"))
        && !ways.is_empty()
        && ways.iter().all(|way| check(value, way, at, depth + 1).is_err())
    {
        return Err(format!("{at} has none of the shapes that it may have"));
    }
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let size = |key: &str| schema.get(key).and_then(Value::as_u64);
    let within = |count: u64, least: &str, most: &str, what: &str| match (size(least), size(most)) {
        (Some(least), _) if count < least => Err(format!("{at} must have at least {least} {what}")),
        (_, Some(most)) if count > most => Err(format!("{at} must have at most {most} {what}")),
        _ => Ok(()),
    };
    match value {
        Value::Object(fields) => check_fields(fields, schema, at, depth)?,
        Value::Array(items) => {
            within(items.len() as u64, "minItems", "maxItems", "items")?;
            if let Some(shape) = schema.get("items") {
                for (n, item) in items.iter().enumerate() {
                    check(item, shape, &format!("{at}[{n}]"), depth + 1)?;
                }
            }
        }
        Value::String(text) => within(text.chars().count() as u64, "minLength", "maxLength", "characters")?,
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            if bound("minimum").is_some_and(|least| number < least) {
                return Err(format!("{at} must be at least {}", bound("minimum").unwrap_or_default()));
            }
            if bound("maximum").is_some_and(|most| number > most) {
                return Err(format!("{at} must be at most {}", bound("maximum").unwrap_or_default()));
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
    Ok(())
}

/// Checks the fields of an object.
fn check_fields(
    fields: &Map<String, Value>,
    schema: &Map<String, Value>,
    at: &str,
    depth: usize,
) -> Result<(), String> {
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        if !fields.contains_key(name) {
            return Err(format!("{at} needs the field \"{name}\""));
        }
    }
    let known = schema.get("properties").and_then(Value::as_object);
    for (name, field) in fields {
        let shape = known.and_then(|known| known.get(name)).or_else(|| schema.get("additionalProperties"));
        match shape {
            Some(Value::Bool(false)) => return Err(format!("{at} must not have the field \"{name}\"")),
            Some(shape) => check(field, shape, &format!("{at}.{name}"), depth + 1)?,
            None => {}
        }
    }
    Ok(())
}

fn is(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => true,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_fit_or_the_place_is_named() {
        let schema = json!({
            "type": "object",
            "required": ["name", "tags"],
            "properties": {
                "name": {"type": "string", "minLength": 2},
                "age": {"type": ["integer", "null"], "minimum": 0},
                "tags": {"type": "array", "maxItems": 2, "items": {"enum": ["a", "b"]}},
                "more": {"anyOf": [{"type": "string"}, {"type": "number"}]}
            },
            "additionalProperties": false
        });
        for good in [
            json!({"name": "ab", "tags": []}),
            json!({"name": "ab", "tags": ["a", "b"], "age": 3.0, "more": 1.5}),
            json!({"name": "ab", "tags": ["a"], "age": null, "more": "x"}),
        ] {
            assert_eq!(fault(&good, &schema), None, "{good}");
        }
        for (bad, says) in [
            (json!([]), "the value must be object, but it is a list"),
            (json!({"name": "ab"}), "needs the field \"tags\""),
            (json!({"name": "a", "tags": []}), "the value.name must have at least 2 characters"),
            (json!({"name": "ab", "tags": ["a", "c"]}), "the value.tags[1] must be one of \"a\", \"b\""),
            (json!({"name": "ab", "tags": ["a", "a", "a"]}), "at most 2 items"),
            (json!({"name": "ab", "tags": [], "age": 1.5}), "the value.age must be integer or null"),
            (json!({"name": "ab", "tags": [], "age": -1}), "at least 0"),
            (json!({"name": "ab", "tags": [], "x": 1}), "must not have the field \"x\""),
            (json!({"name": "ab", "tags": [], "more": true}), "none of the shapes"),
        ] {
            let fault = fault(&bad, &schema);
            assert!(fault.as_deref().is_some_and(|fault| fault.contains(says)), "{bad}: {fault:?}");
        }
        assert_eq!(fault(&json!(1), &json!({})), None);
        assert_eq!(fault(&json!(1), &json!({"const": 2})), Some("the value must be 2".to_owned()));
    }
}
