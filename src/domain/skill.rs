//! Skills: a folder with a `SKILL.md`, in the format of Claude Code. Its front matter says what it is for; its text is
//! loaded when it is used. Reading files is others' part.

use super::front_matter::{Fault, FrontMatter};
use super::sanitise::clean_line;

/// Characters of a description that are used.
const LONGEST_DESCRIPTION: usize = 1_024;
/// Entries of a list that are used.
const LONGEST_LIST: usize = 50;

/// Name of a skill's file.
pub const FILE: &str = "SKILL.md";

/// Content of a `SKILL.md`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillFile {
    /// `name`, for people; the folder's name is what it is called by. Sanitised.
    pub name: String,
    /// `description` on one line. Sanitised.
    pub description: String,
    /// `globs`: files that it is about.
    pub globs: Vec<String>,
    /// `alwaysAllow`, in Claude Code's words `allowed-tools`: tools that run without being asked for while it is used.
    pub always_allow: Vec<String>,
    /// `requiredSources`: slugs.
    pub required_sources: Vec<String>,
    /// The model is not told of it: `disable-model-invocation`.
    pub for_user_alone: bool,
    /// Users do not call it by name: `user-invocable: false`.
    pub for_model_alone: bool,
    /// Text behind the front matter.
    pub text: String,
}

/// Reads a `SKILL.md`.
///
/// # Errors
/// The line, from 1, and the problem in it.
pub fn read(whole: &str) -> Result<SkillFile, Fault> {
    let matter = FrontMatter::read(whole)?;
    let description = line(&matter.text("description")?, LONGEST_DESCRIPTION);
    if description.is_empty() {
        return Err((1, "no description: the model chooses skills by it"));
    }
    if matter.body.is_empty() {
        return Err((1, "no text behind the front matter"));
    }
    let list = |name: &str| {
        matter
            .list(name)
            .map(|all| all.iter().map(|item| clean_line(item).into_owned()).take(LONGEST_LIST).collect::<Vec<_>>())
    };
    let mut always_allow = list("alwaysAllow")?;
    always_allow.extend(list("allowed-tools")?);
    Ok(SkillFile {
        name: line(&matter.text("name")?, 64),
        description,
        globs: list("globs")?,
        always_allow,
        required_sources: list("requiredSources")?,
        for_user_alone: matter.text("disable-model-invocation")?.eq_ignore_ascii_case("true"),
        for_model_alone: matter.text("user-invocable")?.eq_ignore_ascii_case("false"),
        text: matter.body,
    })
}

/// A text on one line, without control characters, cut.
pub(super) fn line(text: &str, most: usize) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    clean_line(&words).trim().chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_is_read() {
        let whole = "---\nname: PDF\ndescription: >\n  Fill forms\n  in PDF files.\nglobs: ['*.pdf']\nalwaysAllow: [Read]\n\
            allowed-tools: Bash(pdftotext:*), Grep\nrequiredSources:\n  - drive\nlicense: x\n---\n\n# Forms\n\nDo it.\n";
        let skill = read(whole).unwrap();
        assert_eq!((skill.name.as_str(), skill.description.as_str()), ("PDF", "Fill forms in PDF files."));
        assert_eq!(skill.always_allow, ["Read", "Bash(pdftotext:*)", "Grep"]);
        assert_eq!((skill.required_sources, skill.globs), (vec!["drive".to_owned()], vec!["*.pdf".to_owned()]));
        assert_eq!(skill.text, "# Forms\n\nDo it.");
    }

    #[test]
    fn what_is_missing_or_broken_is_said_with_its_line() {
        for (whole, line, says) in [
            ("", 1, "no description"),
            ("# No front matter", 1, "no description"),
            ("---\ndescription: x\n---\n", 1, "no text"),
            ("---\ndescription: x\n", 1, "unclosed front matter"),
            ("---\nname: x\ndescription: [a]\n---\ny", 3, "expected one text"),
            ("---\ndescription: x\nglobs:\n  a: b\n---\ny", 3, "expected a list"),
            ("---\ndescription: x\n\tbroken\n: y\n---\ny", 4, "expected `name: value`"),
        ] {
            let (at, text) = read(whole).unwrap_err();
            assert!(at == line && text.contains(says), "{whole:?}: {at} {text}");
        }
    }

    #[test]
    fn descriptions_are_one_clean_line() {
        let skill = read("---\ndescription: \"a\\n\u{1b}[31mred\u{202e}\"\n---\nx").unwrap();
        assert!(!skill.description.contains(['\n', '\u{1b}', '\u{202e}']), "{:?}", skill.description);
    }
}
