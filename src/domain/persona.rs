//! Agents of the user's own: a file each, `agents/NAME.md`, in the format of Claude Code. Its text becomes part of the
//! system prompt, for one turn or for a spawned session. Reading files is others' part.

use super::front_matter::{Fault, FrontMatter};
use super::skill::line;
use serde::{Deserialize, Serialize};

/// An agent as a session uses it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Persona {
    /// Name.
    pub name: String,
    /// Text of the system prompt.
    pub text: String,
    /// Tools that it may use, in the words of the file; empty for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Tools that it does without, likewise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disallowed_tools: Vec<String>,
    /// Model; empty for the session's.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
}

/// Content of an agent's file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersonaFile {
    /// `name`; empty for that of the file. Sanitised.
    pub name: String,
    /// `description` on one line. Sanitised.
    pub description: String,
    /// `color`; empty for none. Sanitised.
    pub color: String,
    /// `model`; empty for the session's. Sanitised.
    pub model: String,
    /// `tools`; empty for all. Sanitised.
    pub tools: Vec<String>,
    /// `disallowedTools`. Sanitised.
    pub disallowed_tools: Vec<String>,
    /// Text behind the front matter.
    pub text: String,
}

/// Reads the file of an agent.
///
/// # Errors
/// The line, from 1, and the problem in it.
pub fn read(whole: &str) -> Result<PersonaFile, Fault> {
    let matter = FrontMatter::read(whole)?;
    let description = line(&matter.text("description")?, 1_024);
    if description.is_empty() {
        return Err((1, "no description: the model chooses agents by it"));
    }
    if matter.body.is_empty() {
        return Err((1, "no text behind the front matter"));
    }
    let model = line(&matter.text("model")?, 200);
    let tools = |name: &str| -> Result<Vec<String>, Fault> {
        Ok(matter.list(name)?.iter().map(|tool| line(tool, 200)).take(200).collect())
    };
    Ok(PersonaFile {
        name: line(&matter.text("name")?, 64),
        description,
        color: line(&matter.words("color"), 40),
        model: if model == "inherit" { String::new() } else { model },
        tools: tools("tools")?,
        disallowed_tools: tools("disallowedTools")?,
        text: matter.body,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_read() {
        let whole = "---\nname: reviewer\ndescription: Reviews changes\ncolor: blue\nmodel: haiku\ntools: Read, Grep\n---\nYou review.";
        let read = read(whole).unwrap();
        assert_eq!(
            (read.description.as_str(), read.color.as_str(), read.model.as_str()),
            ("Reviews changes", "blue", "haiku")
        );
        assert_eq!((read.tools, read.text.as_str()), (vec!["Read".to_owned(), "Grep".to_owned()], "You review."));
        assert_eq!(super::read("---\ndescription: x\nmodel: inherit\n---\ny").unwrap().model, "");
    }

    #[test]
    fn what_is_missing_is_said() {
        for (whole, says) in
            [("x", "no description"), ("---\ndescription: x\n---\n", "no text"), ("---\nx", "unclosed")]
        {
            assert!(read(whole).unwrap_err().1.contains(says), "{whole:?}");
        }
    }
}
