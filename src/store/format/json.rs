//! JSON of other programs, read without losing what serde_json cannot hold.
//!
//! [`JsonFields`] is an object whose values stay the text they were: big numbers, odd spacing, duplicate keys and deep
//! nesting survive, and keys keep their order. Lone surrogates (`\ud83d` without its half), which JavaScript writes
//! when it cuts a text, are read as U+FFFD.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// An object as it stood in the file.
#[derive(Clone, Debug, Default)]
pub struct JsonFields(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for JsonFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = JsonFields;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonFields, A::Error> {
                let mut fields = Vec::new();
                while let Some(pair) = map.next_entry::<String, Box<RawValue>>()? {
                    fields.push(pair);
                }
                Ok(JsonFields(fields))
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

impl JsonFields {
    /// Reads one object.
    ///
    /// # Errors
    /// Reason why the text is not one object, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        match serde_json::from_str(text) {
            Ok(fields) => Ok(fields),
            // A lone surrogate in a key; those in values do not matter here.
            Err(error) => match mend_surrogates(text) {
                Cow::Owned(mended) => serde_json::from_str(&mended).map_err(|_| error.to_string()),
                Cow::Borrowed(_) => Err(error.to_string()),
            },
        }
    }

    /// The text of a value; of the last one where a key stands twice, as JavaScript reads it.
    pub fn raw(&self, key: &str) -> Option<&str> {
        self.0.iter().rev().find(|(k, _)| k == key).map(|(_, v)| v.get())
    }

    /// A value; `None` when it is missing or `null`. One that is nested too deep comes as its text.
    pub fn value(&self, key: &str) -> Option<Value> {
        self.raw(key).map(value_of).filter(|v| !v.is_null())
    }

    /// A value that is a text.
    pub fn text(&self, key: &str) -> Option<String> {
        match self.value(key)? {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// A value that is a whole number (or a fraction, cut).
    pub fn number(&self, key: &str) -> Option<i64> {
        let value = self.value(key)?;
        #[allow(clippy::cast_possible_truncation)]
        value.as_i64().or_else(|| value.as_f64().map(|f| f as i64))
    }

    /// A value that is true or false.
    pub fn flag(&self, key: &str) -> Option<bool> {
        self.value(key)?.as_bool()
    }

    /// Sets a value where its key stands, else at the end.
    pub fn set(&mut self, key: &str, json: String) {
        let Ok(raw) = RawValue::from_string(json) else { return };
        match self.0.iter_mut().rev().find(|(k, _)| k == key) {
            Some((_, value)) => *value = raw,
            None => self.0.push((key.to_owned(), raw)),
        }
    }

    /// Takes a key away.
    pub fn remove(&mut self, key: &str) {
        self.0.retain(|(k, _)| k != key);
    }

    /// True if the key exists.
    pub fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(k, _)| k == key)
    }

    /// The object as one line of JSON, values as they were.
    pub fn render(&self) -> String {
        let mut out = String::from("{");
        for (i, (key, value)) in self.0.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            out.push_str(&serde_json::to_string(key).unwrap_or_default());
            out.push(':');
            // A header is one line; a value that came over several lines cannot be in one, but its spacing may be.
            out.push_str(value.get());
        }
        out.push('}');
        out
    }
}

/// A value of its text; text that serde_json cannot hold comes as a string of itself.
pub fn value_of(raw: &str) -> Value {
    serde_json::from_str(raw)
        .or_else(|_| serde_json::from_str(&mend_surrogates(raw)))
        .unwrap_or_else(|_| Value::String(raw.to_owned()))
}

/// Replaces `\uD800`–`\uDFFF` escapes that have no other half by `\uFFFD`.
pub fn mend_surrogates(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let unit = |at: usize| -> Option<u32> {
        let hex = text.get(at + 2..at + 6)?;
        (bytes.get(at) == Some(&b'\\') && bytes.get(at + 1) == Some(&b'u'))
            .then(|| u32::from_str_radix(hex, 16).ok())
            .flatten()
    };
    let mut out = String::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', bytes.get(at..).unwrap_or_default()) {
        at += found;
        match unit(at) {
            Some(0xD800..=0xDBFF) if matches!(unit(at + 6), Some(0xDC00..=0xDFFF)) => at += 12,
            Some(0xD800..=0xDFFF) => {
                out.push_str(&text[kept..at]);
                out.push_str("\\ufffd");
                at += 6;
                kept = at;
            }
            _ => at += 2,
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_become_the_replacement_character_and_pairs_stay() {
        for (from, to) in [
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\ude00 x""#, r#""\ufffd x""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
            (r#""a\"#, r#""a\"#),
            (r#""\u00"#, r#""\u00"#),
        ] {
            assert_eq!(mend_surrogates(from), to);
        }
    }

    #[test]
    fn unset_fields_survive_as_they_were() {
        let text = r#"{"a":12345678901234567890123,"b": [1.0, 1e21] ,"a":"x\ud83d","c":{"d":null}}"#;
        let mut fields = JsonFields::parse(text).unwrap();
        assert_eq!(fields.text("a").as_deref(), Some("x\u{fffd}"));
        fields.set("c", "7".into());
        fields.set("new", "true".into());
        assert_eq!(fields.render(), r#"{"a":12345678901234567890123,"b":[1.0, 1e21],"a":"x\ud83d","c":7,"new":true}"#);
    }

    #[test]
    fn deep_nesting_comes_as_text() {
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(600), "]".repeat(600));
        let fields = JsonFields::parse(&deep).unwrap();
        assert!(matches!(fields.value("a"), Some(Value::String(s)) if s.starts_with("[[[")));
        assert_eq!(fields.render(), deep);
    }
}
