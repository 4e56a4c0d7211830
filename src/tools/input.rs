//! Reads the fields of a call's input, with a sentence for the model where one is missing or of the wrong type.
//!
//! Unknown fields are ignored: models add some. What the fields mean is each tool's own matter.

use serde_json::{Map, Value};
use std::ops::RangeInclusive;

/// The input object of one call.
#[derive(Clone, Copy, Debug)]
pub struct InputFields<'a> {
    tool: &'a str,
    map: &'a Map<String, Value>,
}

impl<'a> InputFields<'a> {
    /// Takes the input of a call of `tool`.
    ///
    /// # Errors
    /// When it is no object, or the marker `{"_raw": TEXT}` of an input that was not JSON.
    pub fn of(tool: &'a str, input: &'a Value) -> Result<Self, String> {
        let Some(map) = input.as_object() else {
            return Err(format!("The input of {tool} must be one JSON object, but it is {}.", kind(input)));
        };
        if let Some(raw) = map.get("_raw") {
            let text = raw.as_str().map_or_else(|| raw.to_string(), str::to_owned);
            return Err(format!(
                "Invalid JSON input for {tool}. It started with: {}. Send one complete JSON object.",
                one_line(&text, 120)
            ));
        }
        Ok(Self { tool, map })
    }

    fn value(&self, name: &str) -> Option<&'a Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    fn missing(&self, name: &str, what: &str) -> String {
        let given: Vec<&str> = self.map.keys().map(String::as_str).collect();
        let given = if given.is_empty() { "nothing".to_owned() } else { given.join(", ") };
        format!("{} needs the field `{name}` ({what}). The input had: {given}.", self.tool)
    }

    fn wrong(&self, name: &str, what: &str, value: &Value) -> String {
        format!("The field `{name}` of {} must be {what}, but it is {}.", self.tool, kind(value))
    }

    /// A text that must be there; may be empty.
    ///
    /// # Errors
    /// When it is missing or no text.
    pub fn text(&self, name: &str) -> Result<&'a str, String> {
        self.text_if_any(name)?.ok_or_else(|| self.missing(name, "a text"))
    }

    /// A text that may be left out.
    ///
    /// # Errors
    /// When it is no text.
    pub fn text_if_any(&self, name: &str) -> Result<Option<&'a str>, String> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(name, "a text", other)),
        }
    }

    /// A whole number that may be left out.
    ///
    /// # Errors
    /// When it is no whole number or outside `range`.
    pub fn number(&self, name: &str, range: RangeInclusive<u64>) -> Result<Option<u64>, String> {
        let what = format!("an integer from {} to {}", range.start(), range.end());
        let Some(value) = self.value(name) else { return Ok(None) };
        // Some models write 5.0 for 5.
        let number = value.as_u64().or_else(|| whole(value.as_f64()?));
        match number {
            Some(n) if range.contains(&n) => Ok(Some(n)),
            Some(n) => Err(format!("The field `{name}` of {} must be {what}, but it is {n}.", self.tool)),
            None => Err(self.wrong(name, &what, value)),
        }
    }

    /// A yes or no; no when it is left out.
    ///
    /// # Errors
    /// When it is neither.
    pub fn flag(&self, name: &str) -> Result<bool, String> {
        match self.value(name) {
            None => Ok(false),
            Some(Value::Bool(yes)) => Ok(*yes),
            Some(other) => Err(self.wrong(name, "true or false", other)),
        }
    }

    /// A list that must be there.
    ///
    /// # Errors
    /// When it is missing or no list.
    pub fn list(&self, name: &str) -> Result<&'a [Value], String> {
        self.list_if_any(name)?.ok_or_else(|| self.missing(name, "a list"))
    }

    /// A list that may be left out.
    ///
    /// # Errors
    /// When it is no list.
    pub fn list_if_any(&self, name: &str) -> Result<Option<&'a [Value]>, String> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(other) => Err(self.wrong(name, "a list", other)),
        }
    }
}

fn whole(number: f64) -> Option<u64> {
    // Up to 2^53 a float holds whole numbers exactly, so the text form is the number itself.
    (number.fract() == 0.0 && (0.0..=9.0e15).contains(&number)).then(|| format!("{number:.0}").parse().ok()).flatten()
}

fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(yes) => format!("{yes}"),
        Value::Number(n) => format!("the number {n}"),
        Value::String(text) => format!("the text \"{}\"", one_line(text, 60)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// `text` on one line and at most `most` characters long, for subjects and messages.
#[must_use]
pub fn one_line(text: &str, most: usize) -> String {
    let mut out = String::new();
    for (count, c) in text.trim().chars().enumerate() {
        if count == most {
            out.push('…');
            break;
        }
        out.push(if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c });
    }
    out
}

/// The field `name` of any input on one line, for a subject; empty when there is none.
#[must_use]
pub fn subject(input: &Value, name: &str) -> String {
    input.get(name).and_then(Value::as_str).map(|text| one_line(text, 200)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn wrong_inputs_get_a_sentence_that_names_the_field() {
        for (input, says) in [
            (json!("x"), "must be one JSON object"),
            (json!([1]), "must be one JSON object"),
            (json!({"_raw": "{\"path\": \"a"}), "Invalid JSON input"),
            (json!({}), "needs the field `path`"),
            (json!({"path": null}), "needs the field `path`"),
            (json!({"path": 5}), "`path` of read must be a text, but it is the number 5"),
            (json!({"path": "a", "offset": "3"}), "`offset` of read must be an integer from 1 to 9"),
            (json!({"path": "a", "offset": 0}), "but it is 0"),
            (json!({"path": "a", "offset": -1}), "the number -1"),
            (json!({"path": "a", "offset": 1.5}), "the number 1.5"),
            (json!({"path": "a", "all": "yes"}), "`all` of read must be true or false"),
        ] {
            let read = |input: &Value| -> Result<(), String> {
                let fields = InputFields::of("read", input)?;
                fields.text("path")?;
                fields.number("offset", 1..=9)?;
                fields.flag("all")?;
                Ok(())
            };
            let error = read(&input).unwrap_err();
            assert!(error.contains(says), "{input}: {error}");
        }
        let input = json!({"path": "a", "offset": 5.0, "extra": {}, "all": true});
        let fields = InputFields::of("read", &input).unwrap();
        assert_eq!((fields.number("offset", 1..=9), fields.flag("all")), (Ok(Some(5)), Ok(true)));
    }

    #[test]
    fn subjects_are_one_line_and_never_fail() {
        assert_eq!(subject(&json!({"command": "a\nb\tc"}), "command"), "a b c");
        assert_eq!(subject(&json!(7), "command"), "");
        assert_eq!(one_line("äöü", 2), "äö…");
    }
}
