//! Makes the schema of a tool one that Gemini takes: a subset of OpenAPI's. Pure.
//!
//! Keywords outside of the subset are omitted; the tools check their input themselves.

use serde_json::{Map, Value, json};

/// The fields of the subset (`Schema` in the API reference).
const KNOWN: &[&str] = &[
    "title",
    "description",
    "nullable",
    "default",
    "maxItems",
    "minItems",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "propertyOrdering",
];
/// Depth to which references are followed: one may lead to itself.
const DEEPEST: usize = 16;

/// The schema in the subset; `None` for an input without any fields, which Gemini wants to be left out.
pub(super) fn subset(schema: &Value) -> Option<Value> {
    let out = convert(schema, schema, 0);
    let empty = out.get("type") == Some(&json!("object")) && out.get("properties").is_none();
    (!empty).then_some(out)
}

fn convert(schema: &Value, root: &Value, depth: usize) -> Value {
    let Value::Object(fields) = schema else { return json!({"type": "string"}) };
    if depth > DEEPEST {
        return json!({"type": "object"});
    }
    if let Some(target) =
        fields.get("$ref").and_then(Value::as_str).and_then(|path| root.pointer(path.strip_prefix('#')?))
    {
        let mut out = convert(target, root, depth + 1);
        if let (Some(words), Some(out)) = (fields.get("description"), out.as_object_mut()) {
            out.insert("description".into(), words.clone());
        }
        return out;
    }
    let mut out: Map<String, Value> =
        fields.iter().filter(|(key, _)| KNOWN.contains(&key.as_str())).map(|(k, v)| (k.clone(), v.clone())).collect();
    // Parts that all hold are one.
    for part in fields.get("allOf").and_then(Value::as_array).map_or(&[][..], Vec::as_slice) {
        if let Value::Object(part) = convert(part, root, depth + 1) {
            for (key, value) in part {
                merge(&mut out, key, value);
            }
        }
    }
    kind(fields, &mut out);
    choices(fields, &mut out);
    for list in ["anyOf", "oneOf"].iter().filter_map(|key| fields.get(*key).and_then(Value::as_array)) {
        any_of(list, root, depth, &mut out);
    }
    if let Some(Value::Object(properties)) =
        fields.get("properties").filter(|all| all.as_object().is_some_and(|a| !a.is_empty()))
    {
        let properties: Map<String, Value> =
            properties.iter().map(|(name, schema)| (name.clone(), convert(schema, root, depth + 1))).collect();
        merge(&mut out, "properties".into(), Value::Object(properties));
    }
    let names = out.get("properties").and_then(Value::as_object);
    let has = |name: &&Value| name.as_str().is_some_and(|name| names.is_some_and(|all| all.contains_key(name)));
    let own = fields.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let required: Vec<Value> = own.iter().filter(has).cloned().collect();
    if !required.is_empty() {
        merge(&mut out, "required".into(), Value::Array(required));
    }
    if out.get("type") == Some(&json!("array")) {
        let items =
            fields.get("items").map_or_else(|| json!({"type": "string"}), |items| convert(items, root, depth + 1));
        out.insert("items".into(), items);
    }
    if let Some(format) = fields.get("format").and_then(Value::as_str) {
        let known = match out.get("type").and_then(Value::as_str) {
            Some("string") => matches!(format, "date-time" | "enum"),
            _ => matches!(format, "int32" | "int64" | "float" | "double"),
        };
        if known {
            out.insert("format".into(), json!(format));
        }
    }
    Value::Object(out)
}

/// The type; a list of types with null among them is one that may be null.
fn kind(fields: &Map<String, Value>, out: &mut Map<String, Value>) {
    match fields.get("type") {
        Some(Value::String(name)) => {
            out.insert("type".into(), json!(name));
        }
        Some(Value::Array(names)) => {
            let (null, rest): (Vec<&Value>, Vec<&Value>) = names.iter().partition(|name| *name == "null");
            if !null.is_empty() {
                out.insert("nullable".into(), json!(true));
            }
            match rest.as_slice() {
                [one] => {
                    out.insert("type".into(), (*one).clone());
                }
                several => {
                    let each = several.iter().map(|name| json!({"type": name}));
                    out.insert("anyOf".into(), each.collect());
                }
            }
        }
        _ if fields.contains_key("properties") => {
            out.insert("type".into(), json!("object"));
        }
        _ if fields.contains_key("items") => {
            out.insert("type".into(), json!("array"));
        }
        _ => {}
    }
}

/// `enum` and `const`: texts only. Other values go into the description.
fn choices(fields: &Map<String, Value>, out: &mut Map<String, Value>) {
    let one = fields.get("const").map(|value| vec![value.clone()]);
    let Some(values) = fields.get("enum").and_then(Value::as_array).cloned().or(one) else { return };
    if values.iter().any(Value::is_null) {
        out.insert("nullable".into(), json!(true));
    }
    let values: Vec<Value> = values.into_iter().filter(|value| !value.is_null()).collect();
    if values.iter().all(Value::is_string) && !values.is_empty() {
        out.insert("type".into(), json!("string"));
        out.insert("enum".into(), Value::Array(values));
    } else if !values.is_empty() {
        let words: Vec<String> = values.iter().map(Value::to_string).collect();
        let before = out.get("description").and_then(Value::as_str).map_or(String::new(), |text| format!("{text} "));
        out.insert("description".into(), json!(format!("{before}One of: {}.", words.join(", "))));
    }
}

/// Alternatives; one that is null makes it one that may be null.
fn any_of(list: &[Value], root: &Value, depth: usize, out: &mut Map<String, Value>) {
    let is_null = |schema: &&Value| schema.get("type") == Some(&json!("null"));
    if list.iter().any(|schema| is_null(&schema)) {
        out.insert("nullable".into(), json!(true));
    }
    let rest: Vec<Value> =
        list.iter().filter(|schema| !is_null(schema)).map(|schema| convert(schema, root, depth + 1)).collect();
    match rest.as_slice() {
        [] => {}
        [Value::Object(only)] => {
            for (key, value) in only {
                out.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        _ => {
            out.insert("anyOf".into(), Value::Array(rest));
        }
    }
}

/// Adds a field; objects and lists are joined.
fn merge(out: &mut Map<String, Value>, key: String, value: Value) {
    match (out.get_mut(&key), value) {
        (Some(Value::Object(old)), Value::Object(new)) => old.extend(new),
        (Some(Value::Array(old)), Value::Array(new)) => {
            for value in new {
                if !old.contains(&value) {
                    old.push(value);
                }
            }
        }
        (_, value) => {
            out.insert(key, value);
        }
    }
}
