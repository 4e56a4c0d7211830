//! JSON as text: where its parts stand, and items put into the `rules` list or taken out of it without touching another
//! byte.

use crate::domain::rule::Rule;
use crate::domain::splice::{between, end, indent, put, start, starts_line};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// An object with its fields in order, each as a part of the text. A key may stand more than once.
pub(super) struct RuleEntry<'a> {
    pub(super) raw: &'a str,
    pub(super) fields: Vec<(String, &'a RawValue)>,
}

impl<'a> RuleEntry<'a> {
    pub(super) fn parse(text: &'a str) -> serde_json::Result<Self> {
        let fields: RuleFields<'a> = serde_json::from_str(text)?;
        Ok(Self { raw: text, fields: fields.0 })
    }

    /// The text of a field.
    pub(super) fn string(&self, key: &str) -> Option<String> {
        let (_, raw) = self.fields.iter().find(|(other, _)| other == key)?;
        serde_json::from_str(raw.get()).ok()
    }
}

struct RuleFields<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for RuleFields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Vec<(String, &'de RawValue)>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    all.push(entry);
                }
                Ok(all)
            }
        }
        deserializer.deserialize_map(All).map(RuleFields)
    }
}

/// The items of a list, as parts of its text.
pub(super) fn items(list: &str) -> serde_json::Result<Vec<&str>> {
    let items: Vec<&RawValue> = serde_json::from_str(list)?;
    Ok(items.into_iter().map(RawValue::get).collect())
}

/// The line of the text in which a part of it begins, from 1.
pub(super) fn line(text: &str, part: &str) -> usize {
    1 + text.get(..start(text, part)).unwrap_or_default().bytes().filter(|b| *b == b'\n').count()
}

/// The text with the rules at the end of its `rules` key.
///
/// # Errors
/// Reason why they cannot be added, as the end of a sentence.
pub(super) fn add(text: &str, rules: &[Rule]) -> Result<String, String> {
    let (mark, body) = mark(text);
    let mut body = if body.trim().is_empty() { "{}\n".to_owned() } else { body.to_owned() };
    let there: Vec<Rule> = listed(&body)?.iter().filter_map(|raw| super::rule(raw).ok()).collect();
    for rule in rules.iter().filter(|rule| !there.contains(rule)) {
        let item = serde_json::to_string(rule).map_err(|error| error.to_string())?;
        body = with(&body, &item)?;
    }
    listed(&body)?;
    Ok(format!("{mark}{body}"))
}

/// The text without the items of its `rules` key that are meant.
///
/// # Errors
/// Reason why they cannot be removed, as the end of a sentence.
pub(super) fn remove(text: &str, meant: &dyn Fn(&str) -> bool) -> Result<String, String> {
    let (mark, body) = mark(text);
    let mut body = body.to_owned();
    if body.trim().is_empty() {
        return Ok(text.to_owned());
    }
    loop {
        let items = listed(&body)?;
        let Some(at) = items.iter().position(|item| meant(item)) else { break };
        // The item goes with the comma that parts it from its neighbour, and with the blanks there.
        let (from, to) =
            match (at.checked_sub(1).and_then(|before| items.get(before)), items.get(at + 1), items.get(at)) {
                (Some(before), _, Some(item)) => (end(&body, before), end(&body, item)),
                (None, Some(after), Some(item)) => (start(&body, item), start(&body, after)),
                (None, None, Some(item)) => {
                    let (from, to) = (start(&body, item), end(&body, item));
                    let before = body.get(..from).unwrap_or_default().trim_end().len();
                    let after = body.get(to..).unwrap_or_default();
                    (before, to + after.len() - after.trim_start().len())
                }
                _ => break,
            };
        let left = body.get(..from).unwrap_or_default();
        body = format!("{left}{}", body.get(to..).unwrap_or_default());
    }
    listed(&body)?;
    Ok(format!("{mark}{body}"))
}

fn mark(text: &str) -> (&'static str, &str) {
    match text.strip_prefix('\u{feff}') {
        Some(body) => ("\u{feff}", body),
        None => ("", text),
    }
}

/// The items of the `rules` key; none where there is no such key.
fn listed(body: &str) -> Result<Vec<&str>, String> {
    let root = RuleEntry::parse(body).map_err(|error| format!("not valid JSON ({error}); fix it first"))?;
    let lists: Vec<&RawValue> = root.fields.into_iter().filter(|(key, _)| key == "rules").map(|(_, raw)| raw).collect();
    match lists.as_slice() {
        [] => Ok(Vec::new()),
        [raw] => items(raw.get()).map_err(|_| "\"rules\" is not a list; fix it first".to_owned()),
        _ => Err("duplicate key \"rules\"; fix it first".to_owned()),
    }
}

/// The text with one item more at the end of the `rules` list, which is made when there is none.
fn with(body: &str, item: &str) -> Result<String, String> {
    let root = RuleEntry::parse(body).map_err(|error| error.to_string())?;
    if let Some((_, list)) = root.fields.iter().find(|(key, _)| key == "rules") {
        let last = items(list.get()).ok().and_then(|items| items.last().copied());
        return Ok(match last {
            Some(last) if starts_line(body, last) => {
                put(body, end(body, last), &format!(",\n{}{item}", indent(body, last)))
            }
            Some(last) => put(body, end(body, last), &format!(", {item}")),
            None => {
                let outer = indent(body, list.get());
                let from = start(body, list.get());
                let after = body.get(end(body, list.get())..).unwrap_or_default();
                format!("{}[\n{outer}  {item}\n{outer}]{after}", body.get(..from).unwrap_or_default())
            }
        });
    }
    Ok(match root.fields.last() {
        Some((_, last)) if between(body, root.raw, last.get()).contains('\n') => {
            let inner = indent(body, last.get());
            put(body, end(body, last.get()), &format!(",\n{inner}\"rules\": [\n{inner}  {item}\n{inner}]"))
        }
        Some((_, last)) => put(body, end(body, last.get()), &format!(", \"rules\": [{item}]")),
        None => {
            let whole = body.trim();
            let after = body.get(end(body, whole)..).unwrap_or_default();
            let before = body.get(..start(body, whole)).unwrap_or_default();
            format!("{before}{{\n  \"rules\": [\n    {item}\n  ]\n}}{after}")
        }
    })
}
