//! Skills, agents and commands of a session: what a message calls by its name, and what that adds to its turn.
//!
//! `/NAME` at the beginning calls a command or a skill, `@NAME` a skill or an agent. What they ask for (a skill's text, the
//! output of a command, a file) are calls of the session like those of a model, judged by the mode, before the first request.

use super::extension_state::{UsedExtensions, granted, persona};
use super::state::Machine;
use super::turn_state::Turn;
use crate::agent::machine_io::Step;
use crate::domain::command::Expansion;
use crate::domain::ids::{At, CallId};
use crate::domain::message::{Body, UserText};
use crate::domain::persona::Persona;
use crate::extensions::skill_tool::{NAME, NeededSource};
use crate::extensions::{ExtensionList, grants};
use crate::permit;
use crate::provider::ProposedCall;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Skills that one message loads.
const SKILLS: usize = 5;

/// Tools of lisle that a persona keeps, whatever its file lists: they change nothing.
const KEPT: [&str; 5] = ["skill", "todo", "submit_plan", "step", "ask_user"];

/// Calls of a message by name.
#[derive(Debug, Default)]
pub(super) struct Called {
    /// Text that takes the place of the message's.
    text: Option<String>,
    calls: Vec<(&'static str, Value)>,
    used: UsedExtensions,
}

impl Machine {
    /// Sets skills, agents and commands, and the sources that there are. A turn that runs keeps what it was told.
    pub fn set_extensions(&mut self, list: Arc<ExtensionList>, sources: BTreeMap<String, NeededSource>) {
        (self.config.extensions.list, self.config.extensions.sources) = (list, sources);
    }

    /// Skills, agents and commands, as they were read last.
    #[must_use]
    pub fn extensions(&self) -> Arc<ExtensionList> {
        Arc::clone(&self.config.extensions.list)
    }

    /// Makes the session that of an agent.
    pub fn set_persona(&mut self, persona: Option<Persona>) {
        self.own.persona = persona;
    }

    /// The agent of the turn, or of the session.
    pub(super) fn persona(&self) -> Option<&Persona> {
        let of_turn = self.turn.as_ref().and_then(|turn| turn.used.persona.as_ref());
        of_turn.or(self.own.persona.as_ref())
    }

    /// Model that the turn wants in the place of the session's; it may not exist.
    #[must_use]
    pub fn wanted_model(&self) -> Option<&str> {
        let of_command = self.turn.as_ref().map(|turn| turn.used.model.as_str());
        let of_agent =
            self.turn.as_ref().and_then(|turn| turn.used.persona.as_ref()).map(|persona| persona.model.as_str());
        of_command.into_iter().chain(of_agent).find(|model| !model.is_empty())
    }

    /// False for a tool that the agent at work does without.
    pub(super) fn persona_has(&self, tool: &str) -> bool {
        let Some(persona) = self.persona() else { return true };
        if grants::leave_out(&persona.disallowed_tools, tool) {
            return false;
        }
        grants::names(&persona.tools).is_none_or(|named| KEPT.contains(&tool) || named.iter().any(|name| name == tool))
    }

    /// The agent that the last message named.
    pub(super) fn called_again(&self) -> Called {
        let last = self.transcript.rows().iter().rev().find_map(|row| match &row.body {
            Body::User(said) => Some(said),
            _ => None,
        });
        let persona = last.and_then(|said| self.called(said).used.persona);
        Called { used: UsedExtensions { persona, ..UsedExtensions::default() }, ..Called::default() }
    }

    /// Calls of a message by name. Messages of whoever may not be the operator call nothing, nor do those of a spawned session,
    /// which another agent wrote.
    pub(super) fn called(&self, said: &UserText) -> Called {
        let mut out = Called::default();
        if self.config.stranger || self.meta.parent.is_some() {
            return out;
        }
        let own = said.own();
        let list = Arc::clone(&self.config.extensions.list);
        let mut skills: Vec<String> = Vec::new();
        let mut arguments = None;
        let by_user = |name: &str| {
            list.skill(name).filter(|skill| !skill.content.file.for_model_alone).map(|one| one.slug.clone())
        };
        if let Some((name, args)) = slashed(own) {
            if let Some(command) = list.command(name).filter(|command| command.trusted) {
                let command = command.own();
                out.text = Some(command.fill(args));
                out.calls.extend(command.expansions(args).into_iter().map(|one| match one {
                    Expansion::Command(line) => {
                        ("bash", json!({"command": line, "intent": format!("asked for by /{name}")}))
                    }
                    Expansion::File(path) => ("read", json!({"path": path, "intent": format!("asked for by /{name}")})),
                }));
                out.used.model = command.model;
                out.used.grants.extend(granted(&command.allowed_tools, command.origin, command.path));
                return out;
            }
            skills.extend(by_user(name));
            arguments = (!skills.is_empty()).then(|| args.to_owned());
        }
        for name in mentions(own) {
            if by_user(name).is_some() && !skills.iter().any(|known| known == name) {
                skills.push(name.to_owned());
            } else if let Some(agent) = list.agent(name) {
                out.used.persona.get_or_insert_with(|| persona(agent));
            }
        }
        skills.truncate(SKILLS);
        out.calls.extend(skills.into_iter().map(|name| match arguments.take() {
            // What follows the name belongs to the skill that was called by it.
            Some(arguments) if !arguments.is_empty() => (NAME, json!({"name": name, "arguments": arguments})),
            _ => (NAME, json!({"name": name})),
        }));
        if self.own.no_tools {
            out.calls.clear();
        }
        out
    }

    /// Goes on with a turn that was opened for a message: what it called comes before the first request.
    pub(super) fn begin_called(&mut self, now: At, called: Called, out: &mut Vec<Step>) {
        let Called { calls, used, .. } = called;
        if let Some(turn) = &mut self.turn {
            turn.used = used;
        }
        if calls.is_empty() {
            return self.request(now, out);
        }
        let id = self.response_id(now);
        let calls = calls.into_iter().enumerate().map(|(number, (tool, input))| ProposedCall {
            id: CallId::new(format!("{id}-{}", number + 1)),
            name: tool.to_owned(),
            input,
        });
        let calls = calls.collect();
        self.propose(now, Some(id), calls, out);
    }

    /// A skill was loaded: sources that it needs are used from now on, and what it allows holds for the turn.
    pub(super) fn use_skill(&mut self, slug: &str, out: &mut Vec<Step>) {
        let list = Arc::clone(&self.config.extensions.list);
        let Some(skill) = list.skill(slug) else { return };
        let file = &skill.content.file;
        if !self.config.stranger
            && let Some(turn) = &mut self.turn
            && let Some(grant) = granted(&file.always_allow, skill.origin, skill.file.clone())
            && !turn.used.grants.contains(&grant)
        {
            turn.used.grants.push(grant);
        }
        let usable = |source: &&String| self.config.extensions.sources.get(*source) == Some(&NeededSource::Usable);
        let needed: Vec<String> = file.required_sources.iter().filter(usable).cloned().collect();
        let needed: Vec<String> =
            needed.into_iter().filter(|source| self.own.sources.get(source) != Some(&true)).collect();
        if !needed.is_empty() {
            needed.into_iter().for_each(|source| {
                self.own.sources.insert(source, true);
            });
            self.changed_by_user(out);
            out.push(Step::UseSources);
        }
    }

    /// Adds the rules of what the turn uses.
    pub(super) fn with_grants(&self, mut rules: permit::Rules) -> permit::Rules {
        for grant in self.turn.iter().flat_map(|turn| &turn.used.grants) {
            rules.add(&grant.rules, grant.scope, &grant.file);
        }
        rules
    }

    /// The turn uses rules of skills or commands.
    pub(super) fn has_grants(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn: &Turn| !turn.used.grants.is_empty())
    }
}

impl Called {
    /// The message as it is kept.
    pub(super) fn put_text(&mut self, said: UserText) -> UserText {
        let Some(text) = self.text.take() else { return said };
        let behind = said.piped.and_then(|from| said.text.get(from..)).unwrap_or_default().to_owned();
        let piped = said.piped.map(|_| text.len());
        UserText { text: format!("{text}{behind}"), piped, ..said }
    }
}

/// Name after a slash at the beginning of a message, and what follows it.
fn slashed(own: &str) -> Option<(&str, &str)> {
    let rest = own.strip_prefix('/')?;
    let (name, args) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    (!name.is_empty()).then_some((name, args))
}

/// Names after `@` at the beginning of a word, and those of `[skill:NAME]` and `[agent:NAME]`, as Craft Agents writes them.
fn mentions(own: &str) -> impl Iterator<Item = &str> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    own.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | ';')).filter_map(move |word| {
        let bracketed = |kind: &str| word.strip_prefix('[')?.strip_prefix(kind)?.split_once(']').map(|(name, _)| name);
        if let Some(name) = bracketed("skill:").or_else(|| bracketed("agent:")) {
            return Some(name.rsplit(':').next().unwrap_or(name));
        }
        let name = word.strip_prefix('@')?.trim_end_matches(['.', ':', '!', '?', '"', '\'']);
        (!name.is_empty() && name.chars().all(plain)).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_messages() {
        for (text, expected) in [
            ("@reviewer look at @src/main.rs, (@pdf) and @notes.", vec!["reviewer", "pdf", "notes"]),
            ("[skill:pdf] and [agent:ws:reviewer] x", vec!["pdf", "reviewer"]),
            ("a@b.c @ @Pdf @../x @a/b", vec![]),
        ] {
            assert_eq!(mentions(text).collect::<Vec<_>>(), expected, "{text}");
        }
        for (text, expected) in [
            ("/pdf fill it", Some(("pdf", "fill it"))),
            ("/pdf", Some(("pdf", ""))),
            (" /pdf", None),
            ("/", None),
            ("pdf", None),
        ] {
            assert_eq!(slashed(text), expected, "{text}");
        }
    }
}
