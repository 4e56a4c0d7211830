//! `skill`: loads a skill whole, or a file beside it. What follows from its use (sources, rules) is the machine's.

use super::found::SkillExtension;
use super::list::ExtensionList;
use super::skills::file_beside;
use crate::domain::command::put_arguments;
use crate::domain::tool::{CallFacts, Outcome, Proposal, Then, ToolSpec, Touch};
use crate::tools::input::{InputFields, one_line};
use crate::tools::read_tracker::Seen;
use crate::tools::{CallPlace, RunContext, RunError, Tool};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// Name of the tool.
pub const NAME: &str = "skill";

/// State of a source that a skill needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeededSource {
    /// It can be used.
    Usable,
    /// Its file is not trusted.
    NotTrusted,
}

/// The tool.
pub struct SkillTool {
    list: Arc<ExtensionList>,
    /// Sources that there are.
    sources: BTreeMap<String, NeededSource>,
}

impl SkillTool {
    /// The tool for these skills, with the sources that there are.
    #[must_use]
    pub fn new(list: Arc<ExtensionList>, sources: BTreeMap<String, NeededSource>) -> Self {
        Self { list, sources }
    }

    fn find(&self, input: &Value) -> Result<(&SkillExtension, Option<String>), String> {
        let fields = InputFields::of(NAME, input)?;
        let name = fields.text("name")?.trim().trim_start_matches('/');
        let file = fields.text_if_any("file")?.map(str::trim).filter(|file| !file.is_empty()).map(str::to_owned);
        if let Some(skill) = self.list.skill(name) {
            return Ok((skill, file));
        }
        if self.list.skills.iter().any(|skill| skill.slug == name) {
            return Err(format!(
                "The skill {name} is not trusted: it comes from others. The user can review it with /trust."
            ));
        }
        let known: Vec<&str> = self
            .list
            .skills
            .iter()
            .filter(|one| one.trusted && !one.content.file.for_user_alone)
            .map(|one| one.slug.as_str())
            .collect();
        Err(format!("No skill {:?}. Available: {}.", one_line(name, 60), known.join(", ")))
    }

    /// The whole skill for the model.
    fn told(&self, skill: &SkillExtension, arguments: &str) -> String {
        let folder = skill.content.folder.display().to_string();
        let mut out = format!("Skill {}, in {folder}.", skill.slug);
        if !skill.content.beside.is_empty() {
            let files = skill.content.beside.join(", ");
            let _ = write!(out, " Files beside it, read with this tool and `file`: {files}.");
        }
        for source in &skill.content.file.required_sources {
            let state = match self.sources.get(source) {
                Some(NeededSource::Usable) => "its tools are offered from the next response on",
                Some(NeededSource::NotTrusted) => "not trusted; the user can review it with /trust",
                None => "missing; tell the user that the skill needs it",
            };
            let _ = write!(out, "\nSource {}: {state}.", one_line(source, 60));
        }
        let text = skill.content.file.text.replace("${CLAUDE_SKILL_DIR}", &folder);
        let text = if arguments.is_empty() { text } else { put_arguments(&text, arguments) };
        let _ = write!(out, "\n\n{text}");
        out
    }
}

impl Tool for SkillTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: "Loads a skill: instructions for a kind of task, which the system prompt lists. Load the one that is \
                about the task before you begin it, and follow it. With `file`: a file beside it that its text names. What comes \
                back: the text, with the skill's folder."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "Name of the skill, as it is listed."},
                    "arguments": {"type": "string", "description": "What the skill's $ARGUMENTS, $1 and so on stand for."},
                    "file": {"type": "string", "description": "A file beside the skill, relative to its folder; the skill itself when left out."}
                },
                "required": ["name"]
            }),
        }
    }

    fn reads_only(&self) -> bool {
        true
    }

    fn subject(&self, input: &Value) -> String {
        let of =
            |name: &str| input.get(name).and_then(Value::as_str).map(|text| one_line(text, 60)).unwrap_or_default();
        match (of("name"), of("file")) {
            (name, file) if file.is_empty() => name,
            (name, file) => format!("{name} {file}"),
        }
    }

    fn inspect(&self, input: &Value, _: &CallPlace, _: &Seen) -> Result<CallFacts, String> {
        self.find(input)?;
        Ok(CallFacts {
            tool: NAME.to_owned(),
            subject: self.subject(input),
            touches: vec![Touch::Inner],
            proposal: Proposal::Plain,
            secrets_here: false,
            left_out: Vec::new(),
        })
    }

    fn run(&self, input: Value, _: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        let found = self.find(&input).map(|(skill, file)| match file {
            Some(file) => (skill.clone(), Some(file), String::new()),
            None => {
                let arguments = input.get("arguments").and_then(Value::as_str).unwrap_or_default();
                (skill.clone(), None, self.told(skill, arguments))
            }
        });
        Box::pin(async move {
            let (skill, file, text) = match found {
                Ok(found) => found,
                Err(sentence) => return Ok(Outcome::error(sentence)),
            };
            let Some(file) = file else {
                return Ok(Outcome { then: Then::Skill(skill.slug), ..Outcome::ok(text) });
            };
            let read = tokio::task::spawn_blocking(move || file_beside(&skill, &file)).await;
            Ok(match read {
                Ok(Ok(text)) => Outcome::ok(text),
                Ok(Err(sentence)) => Outcome::error(sentence),
                Err(error) => Outcome::error(format!("Can't read the file: {error}.")),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::found::{Extension, SkillFolder};
    use super::*;
    use crate::domain::extension::ExtensionOrigin;
    use crate::domain::skill;

    fn tool(trusted: bool) -> SkillTool {
        let text = "---\ndescription: Forms\nrequiredSources: [drive, gone, theirs]\n---\nRun ${CLAUDE_SKILL_DIR}/x.";
        let content = SkillFolder {
            file: skill::read(text).unwrap(),
            folder: "/s/pdf".into(),
            beside: vec!["forms.md".into(), "x".into()],
        };
        let skill = Extension {
            slug: "pdf".into(),
            origin: ExtensionOrigin::Repository,
            file: "/s/pdf/SKILL.md".into(),
            hash: String::new(),
            shown: String::new(),
            needs_trust: true,
            trusted,
            content,
        };
        let list = ExtensionList { skills: vec![skill], ..ExtensionList::default() };
        let sources =
            [("drive".to_owned(), NeededSource::Usable), ("theirs".to_owned(), NeededSource::NotTrusted)].into();
        SkillTool::new(Arc::new(list), sources)
    }

    #[test]
    fn a_skill_is_told_whole_with_its_files_and_sources() {
        let tool = tool(true);
        let (skill, file) = tool.find(&json!({"name": "/pdf"})).unwrap();
        assert_eq!(file, None);
        assert_eq!(
            tool.told(skill, ""),
            "Skill pdf, in /s/pdf. Files beside it, read with this tool and `file`: forms.md, x.\n\
             Source drive: its tools are offered from the next response on.\n\
             Source gone: missing; tell the user that the skill needs it.\n\
             Source theirs: not trusted; the user can review it with /trust.\n\nRun /s/pdf/x."
        );
        assert_eq!(tool.subject(&json!({"name": "pdf", "file": "a.md"})), "pdf a.md");
    }

    #[test]
    fn unknown_and_untrusted_skills_say_so() {
        for (trusted, input, says) in [
            (true, json!({"name": "pfd"}), "No skill \"pfd\". Available: pdf."),
            (true, json!({}), "needs the field `name`"),
            (true, json!({"name": "../pdf"}), "No skill"),
            (false, json!({"name": "pdf"}), "is not trusted"),
        ] {
            let error = tool(trusted).find(&input).unwrap_err();
            assert!(error.contains(says), "{input}: {error}");
        }
    }
}
