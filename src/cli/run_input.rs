//! Input of `lisle run`: its message with pattern and variables, and what goes into the system prompt. Everything is checked
//! before anything is sent.

use super::args::{RunArgs, RunFormat};
use super::exit::Exit;
use super::output::{complain, say, say_json};
use super::permissions::place_without_session;
use super::prompts;
use super::run_events::VERSION;
use crate::domain::SessionId;
use crate::domain::message::UserText;
use crate::domain::prompt_text::{
    INPUT, NO_TEXT, NamedText, PatternError, Preamble, PromptKind, fill, fill_input, variables,
};
use crate::domain::session::SessionSwitch;
use crate::protocol::SessionCommand;
use crate::runtime::setup::Bootstrap;
use crate::store::prompt_files::{PromptFolders, text_of};
use crate::tools::files::attachments;
use crate::tools::json_schema::Schema;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Input of a run without its message.
pub(super) struct RunInput {
    pattern: Option<String>,
    vars: BTreeMap<String, String>,
    input_has_vars: bool,
    /// Choices for the system prompt, with their texts; a `None` text takes one out.
    chosen: Vec<(PromptKind, Option<NamedText>)>,
    /// Schema of the answer.
    pub(super) schema: Option<Schema>,
    /// Files to attach.
    pub(super) attach: Vec<PathBuf>,
    /// The model is offered no tools.
    no_tools: bool,
}

impl RunInput {
    /// Looks up what the arguments name.
    ///
    /// # Errors
    /// The exit, once the reason was told.
    pub(super) fn read(bootstrap: &Bootstrap, args: &RunArgs) -> Result<Self, Exit> {
        let folders = bootstrap.prompts();
        let mut chosen = Vec::new();
        for (kind, name) in [(PromptKind::Strategy, &args.input.strategy), (PromptKind::Context, &args.input.context)] {
            let Some(name) = name else { continue };
            let text = if name == NO_TEXT {
                None
            } else {
                Some(folders.read(kind, name).map_err(|error| prompts::failed(&error))?)
            };
            chosen.push((kind, text));
        }
        let pattern = args.input.pattern.as_ref().map(|name| pattern(&folders, name)).transpose()?;
        let schema = args.output.json_schema.as_deref().map(schema).transpose()?;
        Ok(Self {
            pattern,
            vars: args.input.vars.iter().cloned().collect(),
            input_has_vars: args.input.input_has_vars,
            chosen,
            schema,
            attach: args.input.attach.clone(),
            no_tools: args.input.no_tools,
        })
    }

    /// True if the run can go without a message: the pattern or the attachments are one.
    pub(super) fn is_enough(&self) -> bool {
        !self.attach.is_empty()
            || self.pattern.as_ref().is_some_and(|pattern| variables(pattern).all(|name| name != INPUT))
    }

    /// The message that is sent for what the user wrote.
    ///
    /// # Errors
    /// The exit, once the reason was told.
    pub(super) fn message(&self, typed: &UserText) -> Result<UserText, Exit> {
        let wrong = |error: &PatternError| {
            let add = error.options().map_or_else(String::new, |options| format!(". Add {options}"));
            complain(&format!("lisle: {error}{add}"));
            Exit::Usage
        };
        let UserText { text, mut piped, .. } = typed.clone();
        // Where the words stand somewhere in it, none of it is surely the user's own.
        let is_filled = self.input_has_vars || self.pattern.is_some();
        if is_filled && (piped.is_some() || !self.vars.is_empty()) {
            piped = Some(0);
        }
        let typed =
            if self.input_has_vars { fill_input(&text, &self.vars).map_err(|error| wrong(&error))? } else { text };
        let mut message = match &self.pattern {
            Some(pattern) => fill(pattern, &self.vars, &typed).map_err(|error| wrong(&error))?,
            None => typed,
        };
        if let Some(schema) = &self.schema {
            // Not the user's words: no title is made of it, and it opens no host.
            piped = Some(piped.unwrap_or(message.len()));
            message.push_str(&format!(
                "\n\nAnswer with JSON alone, without a code block around it. It must match this JSON Schema:\n{schema}"
            ));
        }
        Ok(UserText { piped, ..message.into() })
    }

    /// Commands that put the choices into the session.
    pub(super) fn commands(&self) -> impl Iterator<Item = SessionCommand> {
        let toolless = SessionCommand::Switch { what: SessionSwitch::NoTools, on: true };
        let chosen = self.chosen.iter().map(|(kind, text)| SessionCommand::UsePrompt {
            kind: *kind,
            name: text.as_ref().map(|text| text.name.clone()),
        });
        chosen.chain(self.no_tools.then_some(toolless))
    }

    /// Prints what would be sent to a session, or refuses what the run would refuse.
    pub(super) fn dry_run(
        mut self,
        bootstrap: &Bootstrap,
        session: Option<&SessionId>,
        message: &str,
        format: Option<RunFormat>,
    ) -> Exit {
        let mut place = place_without_session(bootstrap);
        if let Some(session) = session {
            let seen = match bootstrap.store.read(session, 0) {
                Ok(seen) => seen,
                Err(error) => {
                    complain(&format!("lisle: {error}."));
                    return Exit::Failed;
                }
            };
            place.cwd.clone_from(&seen.meta.cwd);
            let own = |key: &str| seen.own.get(key).cloned().unwrap_or_default();
            self.no_tools |= own("noTools").as_bool().unwrap_or(false);
            self.add_own(serde_json::from_value(own("preamble")).unwrap_or_default());
        }
        for path in &self.attach {
            if let Err(why) = attachments::check(path, &place) {
                complain(&format!("lisle: can't attach {}: {why}", path.display()));
                return Exit::Usage;
            }
        }
        self.print(message, format)
    }

    /// Adds the texts of the session where the run chooses no others.
    fn add_own(&mut self, own: Preamble) {
        for (kind, text) in [(PromptKind::Strategy, own.strategy), (PromptKind::Context, own.context)] {
            if text.is_some() && self.chosen.iter().all(|(chosen, _)| *chosen != kind) {
                self.chosen.push((kind, text));
            }
        }
        // The strategy comes first.
        self.chosen.sort_by_key(|(kind, _)| *kind == PromptKind::Context);
    }

    /// Prints what would be sent.
    fn print(&self, message: &str, format: Option<RunFormat>) -> Exit {
        if !matches!(format, None | Some(RunFormat::Text)) {
            let text = |wanted| {
                let found = self.chosen.iter().find(|(kind, _)| *kind == wanted);
                found.and_then(|(_, text)| text.as_ref()).map(|text| json!({"name": text.name, "text": text.text}))
            };
            let sent = json!({
                "v": VERSION, "type": "dry-run", "message": message.trim_end(), "attachments": self.attach,
                "strategy": text(PromptKind::Strategy), "context": text(PromptKind::Context), "tools": !self.no_tools,
            });
            say_json(&sent.to_string());
            return Exit::Done;
        }
        let chosen = self.chosen.iter().filter_map(|(kind, text)| Some((kind.word(), text.as_ref()?)));
        let mut out: String = chosen.map(|(kind, text)| format!("[{kind} {}]\n{}\n\n", text.name, text.text)).collect();
        for path in &self.attach {
            out.push_str(&format!("[attachment]\n{}\n\n", path.display()));
        }
        out.push_str(&format!("[message]\n{}\n", message.trim_end()));
        say(&out);
        Exit::Done
    }
}

/// Text of a pattern by its name, or by the path of its file.
fn pattern(folders: &PromptFolders, name: &str) -> Result<String, Exit> {
    let read = if name.starts_with(['/', '~', '.', '\\']) {
        let home = std::env::home_dir();
        let path = match (name.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(name),
        };
        text_of(&path)
    } else {
        folders.read(PromptKind::Pattern, name).map(|text| text.text)
    };
    read.map_err(|error| prompts::failed(&error))
}

fn schema(path: &Path) -> Result<Schema, Exit> {
    let wrong = |why: String| {
        complain(&format!("lisle: can't use --json-schema {}: {why}", path.display()));
        Exit::Usage
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| wrong(format!("it is not JSON: {error}")))?;
    Schema::new(value).map_err(wrong)
}

/// JSON of an answer: all of it, or the one code block in it.
pub(super) fn json_of(answer: &str) -> Option<Value> {
    let whole = answer.trim();
    let block = || {
        let (_, rest) = whole.split_once("```")?;
        let (_, inside) = rest.split_once('\n')?;
        let (inside, _) = inside.split_once("```")?;
        serde_json::from_str(inside.trim()).ok()
    };
    serde_json::from_str(whole).ok().or_else(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_found_in_an_answer() {
        for (answer, found) in [
            ("{\"a\":1}\n", Some("{\"a\":1}")),
            ("Here:\n```json\n{\"a\": 1}\n```\nDone.", Some("{\"a\":1}")),
            ("```\n[1]\n```", Some("[1]")),
            ("no JSON", None),
            ("``` {", None),
        ] {
            assert_eq!(json_of(answer).map(|value| value.to_string()).as_deref(), found, "{answer:?}");
        }
    }
}
