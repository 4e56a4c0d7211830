//! Named texts of the user that shape a conversation: contexts, patterns and strategies. Their names, their origin, and the
//! variables in a pattern. Files are `store`'s business.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Kind of a named text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PromptKind {
    /// Part of the system prompt: `contexts/NAME`.
    Context,
    /// Frame of a message: `patterns/NAME/system.md`.
    Pattern,
    /// Way of thinking, before the context in the system prompt: `strategies/NAME.json`.
    Strategy,
}

impl PromptKind {
    /// Kind in a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Context => "context",
            Self::Pattern => "pattern",
            Self::Strategy => "strategy",
        }
    }

    /// Name of its folder.
    #[must_use]
    pub fn folder(self) -> &'static str {
        match self {
            Self::Context => "contexts",
            Self::Pattern => "patterns",
            Self::Strategy => "strategies",
        }
    }
}

/// Folder that a named text comes from. An earlier one shadows the same name in a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromptOrigin {
    /// The workspace's folder.
    Workspace,
    /// lisle's config folder.
    Config,
    /// The folder of the program Fabric, which is only read.
    Fabric,
}

impl PromptOrigin {
    /// Origin in a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::Config => "config",
            Self::Fabric => "fabric",
        }
    }
}

/// Decides if a text can name a context, a pattern, a strategy or a session: `[A-Za-z0-9._-]+`, up to 100 characters,
/// without a leading dot. It may become part of a path.
#[must_use]
pub fn is_prompt_name(text: &str) -> bool {
    name_fault(text).is_none()
}

/// Reason why a text cannot be a name of [`is_prompt_name`], with what to do.
#[must_use]
pub fn name_fault(text: &str) -> Option<String> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    if text.is_empty() {
        return Some("empty name".to_owned());
    }
    if text.starts_with('.') || !text.bytes().all(fits) {
        return Some("use letters, digits, '.', '_' and '-', no dot first".to_owned());
    }
    let letters = text.len();
    (letters > LONGEST_NAME).then(|| format!("{letters} letters; a name has at most {LONGEST_NAME}"))
}

const LONGEST_NAME: usize = 100;

/// Word for "no text", which can name none.
pub const NO_TEXT: &str = "none";

/// A named text as a session keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedText {
    /// Its name.
    pub name: String,
    /// The text, without blanks around it.
    pub text: String,
}

/// Named texts in the system prompt of a session. They are stored with it: later changes of the files do not change a
/// conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Preamble {
    /// Strategy, which comes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<NamedText>,
    /// Context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<NamedText>,
}

impl Preamble {
    /// True without any text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.strategy.is_none() && self.context.is_none()
    }
}

/// Error of a pattern whose variables cannot be filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// Variables without a value, in the order of the pattern.
    Missing(Vec<String>),
    /// A part that only Fabric itself can run, such as `plugin:fetch:get`.
    Foreign(String),
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(names) => {
                write!(f, "missing variables: {}", names.join(", "))
            }
            Self::Foreign(what) => write!(f, "{{{{{what}}}}} runs a plugin of Fabric, which lisle does not have"),
        }
    }
}

impl PatternError {
    /// Options of the command line that mend it.
    #[must_use]
    pub fn options(&self) -> Option<String> {
        match self {
            Self::Missing(names) => {
                Some(names.iter().map(|name| format!("--var {name}=VALUE")).collect::<Vec<_>>().join(" "))
            }
            Self::Foreign(_) => None,
        }
    }
}

/// Name of the variable that stands for the user's text.
pub const INPUT: &str = "input";

/// Message of a pattern: variables filled in, and the input in the place of `{{input}}`, else behind the pattern. Values and
/// input are taken as they are.
///
/// # Errors
/// [`PatternError`].
pub fn fill(pattern: &str, values: &BTreeMap<String, String>, input: &str) -> Result<String, PatternError> {
    let pattern = pattern.trim();
    let has_input = variables(pattern).any(|name| name == INPUT);
    let filled =
        replaced(pattern, |name| if name == INPUT { Some(input) } else { values.get(name).map(String::as_str) })?;
    Ok(match (has_input, input.trim().is_empty()) {
        (true, _) | (false, true) => filled,
        (false, false) => format!("{filled}\n\n{input}"),
    })
}

/// Text with its variables filled in; used for input that has variables of its own.
///
/// # Errors
/// [`PatternError`].
pub fn fill_input(input: &str, values: &BTreeMap<String, String>) -> Result<String, PatternError> {
    replaced(input, |name| values.get(name).map(String::as_str))
}

/// Names of the variables of a pattern, each time they occur.
pub fn variables(pattern: &str) -> impl Iterator<Item = &str> {
    parts(pattern).filter_map(|part| match part {
        PatternPart::Variable(name) => Some(name),
        PatternPart::Text(_) | PatternPart::Foreign(_) => None,
    })
}

fn replaced<'a>(pattern: &'a str, value: impl Fn(&str) -> Option<&'a str>) -> Result<String, PatternError> {
    let mut out = String::with_capacity(pattern.len());
    let mut missing: Vec<String> = Vec::new();
    for part in parts(pattern) {
        match part {
            PatternPart::Text(text) => out.push_str(text),
            PatternPart::Foreign(what) => return Err(PatternError::Foreign(what.to_owned())),
            PatternPart::Variable(name) => match value(name) {
                Some(value) => out.push_str(value),
                None if missing.iter().any(|known| known == name) => {}
                None => missing.push(name.to_owned()),
            },
        }
    }
    if missing.is_empty() { Ok(out) } else { Err(PatternError::Missing(missing)) }
}

enum PatternPart<'a> {
    Text(&'a str),
    Variable(&'a str),
    Foreign(&'a str),
}

/// A pattern in parts. Braces around anything but a name are text: patterns speak of templates and of JSON, too.
fn parts(pattern: &str) -> impl Iterator<Item = PatternPart<'_>> {
    let mut rest = pattern;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut from = 0;
        while let Some(open) = rest[from..].find("{{").map(|at| from + at) {
            let Some(length) = rest[open + 2..].find("}}") else { break };
            let inside = &rest[open + 2..open + 2 + length];
            let part = if is_variable(inside) {
                PatternPart::Variable(inside)
            } else if is_foreign(inside) {
                PatternPart::Foreign(inside)
            } else {
                from = open + 1;
                continue;
            };
            if open > 0 {
                let text = &rest[..open];
                rest = &rest[open..];
                return Some(PatternPart::Text(text));
            }
            rest = &rest[length + 4..];
            return Some(part);
        }
        Some(PatternPart::Text(std::mem::take(&mut rest)))
    })
}

/// True for the name of a variable.
#[must_use]
pub fn is_variable(name: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_') && name.bytes().all(fits)
}

/// True for Fabric's own calls.
fn is_foreign(inside: &str) -> bool {
    (inside.starts_with("plugin:") || inside.starts_with("ext:")) && !inside.contains(['{', '}', '\n'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn names_never_leave_their_folder() {
        for good in ["writer", "a", "0", "A_b-9.txt", "x..y"] {
            assert!(is_prompt_name(good), "{good}");
        }
        let long = "x".repeat(101);
        for bad in ["", ".", "..", ".x", "a/b", "a\\b", "a b", "ä", "a\n", "a\0", "~", "$x", long.as_str()] {
            assert!(!is_prompt_name(bad), "{bad:?}");
        }
    }

    #[test]
    fn patterns_are_filled() {
        let all = values(&[("role", "a {{input}} poet"), ("lang.to", "French")]);
        for (pattern, input, filled) in [
            ("Summarise:\n{{input}}", "text", Ok("Summarise:\ntext")),
            ("As {{role}}: {{input}}!", "x", Ok("As a {{input}} poet: x!")),
            ("To {{lang.to}}.", "bonjour", Ok("To French.\n\nbonjour")),
            ("  Alone.\n", "", Ok("Alone.")),
            ("{{input}}{{input}}", "{{role}}", Ok("{{role}}{{role}}")),
            ("a {{ b }} {{}} {{{input}}} {{x", "i", Ok("a {{ b }} {{}} {i} {{x")),
            ("{{a}} {{b}} {{a}}", "", Err("missing variables: a, b")),
            (
                "{{plugin:file:read:x}}",
                "",
                Err("{{plugin:file:read:x}} runs a plugin of Fabric, which lisle does not have"),
            ),
        ] {
            let got = fill(pattern, &all, input).map_err(|error| error.to_string());
            assert_eq!(got.as_deref().map_err(String::as_str), filled, "{pattern:?}");
        }
        assert_eq!(fill_input("as {{role}}", &all).as_deref(), Ok("as a {{input}} poet"));
    }

    proptest! {
        #[test]
        fn what_the_user_typed_stays_as_it_is(input in "\\PC{0,40}") {
            prop_assert_eq!(fill("<{{input}}>", &BTreeMap::new(), &input).unwrap(), format!("<{input}>"));
        }

        #[test]
        fn any_text_is_a_pattern(pattern in "[{}a-z: \n]{0,60}") {
            let _ = fill(&pattern, &BTreeMap::new(), "x");
            let whole: String = parts(&pattern).map(|part| match part {
                PatternPart::Text(text) => text.to_owned(),
                PatternPart::Variable(name) | PatternPart::Foreign(name) => format!("{{{{{name}}}}}"),
            }).collect();
            prop_assert_eq!(whole, pattern);
        }
    }
}
