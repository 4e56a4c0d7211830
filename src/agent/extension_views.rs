//! Skills, agents and commands as clients see them. Pure.

use super::model_context::{extension_lines, tokens};
use crate::domain::command::Expansion;
use crate::domain::extension::{ExtensionKind, ExtensionState, ExtensionView};
use crate::extensions::found::{Unusable, UnusableWhy};
use crate::extensions::grants;
use crate::extensions::skill_tool::NeededSource;
use crate::extensions::{CommandExtension, Extension, ExtensionList};

/// Skills, agents and commands as clients see them. `source`: state of a source that a skill needs.
#[must_use]
pub fn of_list(list: &ExtensionList, source: impl Fn(&str) -> Option<NeededSource>) -> Vec<ExtensionView> {
    let mut out: Vec<ExtensionView> = Vec::new();
    for skill in &list.skills {
        let file = &skill.content.file;
        let mut notes: Vec<String> = file
            .required_sources
            .iter()
            .map(|slug| match source(slug) {
                Some(NeededSource::Usable) => format!("needs the source {slug}"),
                Some(NeededSource::NotTrusted) => format!("needs the source {slug}, which is not trusted"),
                None => format!("needs the source {slug}, which is missing"),
            })
            .collect();
        notes.extend(
            Some(&file.always_allow).filter(|all| !all.is_empty()).map(|all| format!("allows {}", all.join(", "))),
        );
        notes.extend(file.for_user_alone.then(|| "called by you alone".to_owned()));
        notes.extend(file.for_model_alone.then(|| "called by the model alone".to_owned()));
        if list.command(&skill.slug).is_some() {
            notes.push(format!("/{} is a command: use @{}", skill.slug, skill.slug));
        }
        let tokens = tokens::text(&extension_lines::of_skill(skill));
        out.push(view(skill, ExtensionKind::Skill, (&file.description, tokens), notes));
    }
    for agent in &list.agents {
        let file = &agent.content;
        let mut notes = Vec::new();
        let (parts, whole): (Vec<&String>, Vec<&String>) = file.tools.iter().partition(|tool| grants::is_part(tool));
        let listed = |all: &[&String]| all.iter().map(|one| one.as_str()).collect::<Vec<_>>().join(", ");
        notes.extend((!file.tools.is_empty()).then(|| format!("tools {}", listed(&whole))));
        notes.extend((!parts.is_empty()).then(|| format!("left out, parts of tools: {}", listed(&parts))));
        let denied = Some(&file.disallowed_tools).filter(|all| !all.is_empty());
        notes.extend(denied.map(|all| format!("without {}", all.join(", "))));
        notes.extend(Some(&file.model).filter(|model| !model.is_empty()).map(|model| format!("model {model}")));
        let tokens = tokens::text(&extension_lines::of_agent(agent));
        out.push(view(agent, ExtensionKind::Agent, (&file.description, tokens), notes));
    }
    out.extend(list.commands.iter().map(of_command));
    out.extend(list.unusable.iter().map(unusable));
    out.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    out
}

fn view<T>(
    found: &Extension<T>,
    kind: ExtensionKind,
    (description, tokens): (&str, u64),
    notes: Vec<String>,
) -> ExtensionView {
    ExtensionView {
        kind,
        name: found.slug.clone(),
        description: description.to_owned(),
        origin: found.origin,
        file: found.file.clone(),
        state: if found.trusted { ExtensionState::On } else { ExtensionState::NotTrusted },
        tokens: if found.trusted { tokens } else { 0 },
        notes,
    }
}

fn of_command(command: &CommandExtension) -> ExtensionView {
    let own = command.own();
    let mut notes: Vec<String> = own
        .expansions("")
        .into_iter()
        .map(|one| match one {
            Expansion::Command(line) => format!("runs {line}"),
            Expansion::File(path) => format!("reads {path}"),
        })
        .collect();
    notes
        .extend(Some(&own.allowed_tools).filter(|all| !all.is_empty()).map(|all| format!("allows {}", all.join(", "))));
    notes.extend(Some(&own.model).filter(|model| !model.is_empty()).map(|model| format!("model {model}")));
    let mut out = view(command, ExtensionKind::Command, (&own.description, 0), notes);
    // A text alone is shown before it is sent.
    if !own.needs_trust() {
        out.state = ExtensionState::On;
    }
    out
}

fn unusable(one: &Unusable) -> ExtensionView {
    let state = match &one.why {
        UnusableWhy::Broken(problem) => ExtensionState::Failed { why: problem.to_string() },
        UnusableWhy::Taken(by) => ExtensionState::Off { why: format!("{} has this name.", by.display()) },
    };
    ExtensionView {
        kind: one.kind,
        name: one.name.clone(),
        description: String::new(),
        origin: one.origin,
        file: one.file.clone(),
        state,
        tokens: 0,
        notes: Vec::new(),
    }
}
