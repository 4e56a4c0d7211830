//! A JSON Schema that an answer has to match: any draft, with references inside the schema. Nothing is fetched for one.

use jsonschema::Validator;
use serde_json::Value;
use std::fmt;

/// A schema that is known to be one.
#[derive(Debug)]
pub struct Schema {
    given: Value,
    validator: Validator,
}

impl Schema {
    /// Checks a schema.
    ///
    /// # Errors
    /// The place and what is wrong there, as part of a sentence.
    pub fn new(given: Value) -> Result<Self, String> {
        if !given.is_object() && !given.is_boolean() {
            return Err("a JSON Schema is an object".to_owned());
        }
        match jsonschema::options().offline().build(&given) {
            Ok(validator) => Ok(Self { given, validator }),
            Err(error) => Err(sentence(&error.to_string(), error.instance_path().as_str())),
        }
    }

    /// The first problem of a value: the place, and what is expected there. `None` if it is valid.
    #[must_use]
    pub fn fault(&self, value: &Value) -> Option<String> {
        let error = self.validator.iter_errors(value).next()?;
        // A value may be as long as the answer is.
        Some(sentence(&error.masked().to_string(), error.instance_path().as_str()))
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.given.fmt(f)
    }
}

fn sentence(error: &str, place: &str) -> String {
    if place.is_empty() { error.to_owned() } else { format!("at {place}: {error}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_fit_or_the_place_is_named() {
        let schema = Schema::new(json!({
            "type": "object",
            "required": ["name", "tags"],
            "properties": {
                "name": {"type": "string", "minLength": 2, "pattern": "^[a-z]+$"},
                "age": {"type": ["integer", "null"], "minimum": 0},
                "tags": {"type": "array", "maxItems": 2, "items": {"$ref": "#/$defs/tag"}},
                "more": {"anyOf": [{"type": "string"}, {"type": "number"}]}
            },
            "$defs": {"tag": {"enum": ["a", "b"]}},
            "additionalProperties": false
        }))
        .unwrap();
        for good in [
            json!({"name": "ab", "tags": []}),
            json!({"name": "ab", "tags": ["a", "b"], "age": 3.0, "more": 1.5}),
            json!({"name": "ab", "tags": ["a"], "age": null, "more": "x"}),
        ] {
            assert_eq!(schema.fault(&good), None, "{good}");
        }
        for (bad, says) in [
            (json!([]), "value is not of type \"object\""),
            (json!({"name": "ab"}), "\"tags\" is a required property"),
            (json!({"name": "a", "tags": []}), "at /name: value is shorter than 2 characters"),
            (json!({"name": "AB", "tags": []}), "at /name: value does not match"),
            (json!({"name": "ab", "tags": ["a", "c"]}), "at /tags/1: value is not one of"),
            (json!({"name": "ab", "tags": ["a", "a", "a"]}), "at /tags: value has more than 2 items"),
            (json!({"name": "ab", "tags": [], "age": 1.5}), "at /age: value is not of types"),
            (json!({"name": "ab", "tags": [], "age": -1}), "at /age: value is less than the minimum of 0"),
            (json!({"name": "ab", "tags": [], "x": 1}), "'x' was unexpected"),
            (json!({"name": "ab", "tags": [], "more": true}), "at /more: value is not valid under any"),
        ] {
            let fault = schema.fault(&bad);
            assert!(fault.as_deref().is_some_and(|fault| fault.contains(says)), "{bad}: {fault:?}");
        }
    }

    #[test]
    fn what_is_no_schema_is_refused() {
        for (bad, says) in [
            (json!("string"), "is an object"),
            (json!({"type": "foo"}), "at /type"),
            (json!({"properties": {"a": {"minLength": "x"}}}), "at /properties/a/minLength"),
            (json!({"pattern": "("}), "pattern"),
            (json!({"$ref": "http://127.0.0.1:9/schema.json"}), "127.0.0.1"),
            (json!({"$ref": "file:///etc/passwd"}), "passwd"),
        ] {
            let error = Schema::new(bad.clone()).unwrap_err();
            assert!(error.contains(says), "{bad}: {error}");
        }
    }
}
