//! Tools of a source that change nothing, by what its `permissions.json` says of them.
//!
//! A name counts exactly. A pattern that is more than a name counts for nothing: what a server calls `list_and_delete` is
//! its own choice.

use crate::domain::problem::Problem;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Content of a source's `permissions.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourcePermissions {
    /// Names of tools, as the server has them.
    pub read_only: BTreeSet<String>,
    /// A tool that the server marks `readOnlyHint` counts as one.
    pub trust_annotations: bool,
}

impl SourcePermissions {
    /// Reads the text of the file.
    #[must_use]
    pub fn parse(path: &Path, text: &str) -> (Self, Vec<Problem>) {
        let mut out = Self::default();
        let mut problems = Vec::new();
        let mut problem = |text: String, fix: &str| problems.push(Problem::whole(path, text, fix));
        let root = match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(root)) => root,
            Ok(_) => {
                problem("Not a JSON object; no tool counts as read-only.".to_owned(), "Fix it.");
                return (out, problems);
            }
            Err(error) => {
                problem(format!("Not valid JSON; no tool counts as read-only: {error}."), "Fix it.");
                return (out, problems);
            }
        };
        match root.get("trustAnnotations") {
            None | Some(Value::Null) => {}
            Some(Value::Bool(trusted)) => out.trust_annotations = *trusted,
            Some(_) => problem("trustAnnotations is not true or false, ignored.".to_owned(), "Fix it."),
        }
        let patterns = match root.get("allowedMcpPatterns") {
            None | Some(Value::Null) => &[][..],
            Some(Value::Array(patterns)) => patterns,
            Some(_) => {
                problem("allowedMcpPatterns is not a list, ignored.".to_owned(), "Fix it.");
                &[][..]
            }
        };
        for entry in patterns {
            let pattern = entry.as_str().or_else(|| entry.get("pattern")?.as_str()).unwrap_or_default();
            match exact(pattern) {
                Some(name) => drop(out.read_only.insert(name.to_owned())),
                None => {
                    let text = format!("allowedMcpPatterns: {pattern:?} is no exact tool name, ignored.");
                    problem(text, "Name each read-only tool.");
                }
            }
        }
        (out, problems)
    }

    /// True if a tool changes nothing.
    #[must_use]
    pub fn is_read_only(&self, remote: &str, hint: bool) -> bool {
        self.read_only.contains(remote) || self.trust_annotations && hint
    }
}

/// The name that a pattern stands for, where it stands for one alone.
fn exact(pattern: &str) -> Option<&str> {
    let name = pattern.strip_prefix('^').unwrap_or(pattern);
    let name = name.strip_suffix('$').unwrap_or(name);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (!name.is_empty() && name.chars().all(plain)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_counts_exactly_and_a_pattern_for_nothing() {
        let text = r#"{"allowedMcpPatterns": [{"pattern": "^read_file$", "comment": "x"}, "list", "list.*", "get|delete", ""]}"#;
        let (found, problems) = SourcePermissions::parse(Path::new("p.json"), text);
        assert_eq!(problems.len(), 3, "{problems:?}");
        for (tool, hint, expected) in [
            ("read_file", false, true),
            ("list", false, true),
            ("list_and_delete", false, false),
            ("read_file2", true, false),
            ("delete", false, false),
        ] {
            assert_eq!(found.is_read_only(tool, hint), expected, "{tool}");
        }
    }

    #[test]
    fn annotations_count_where_the_user_says_so() {
        let (found, _) = SourcePermissions::parse(Path::new("p.json"), r#"{"trustAnnotations": true}"#);
        assert!(found.is_read_only("a", true) && !found.is_read_only("a", false));
        for text in ["{}", r#"{"trustAnnotations": "true"}"#, "[]", "{", ""] {
            let (found, _) = SourcePermissions::parse(Path::new("p.json"), text);
            assert!(!found.is_read_only("a", true), "{text}");
        }
        for text in [r#"{"trustAnnotations": "true"}"#, r#"{"allowedMcpPatterns": "x"}"#] {
            assert_eq!(SourcePermissions::parse(Path::new("p.json"), text).1.len(), 1, "{text}");
        }
    }
}
