//! Extensions of a machine, those that a turn uses, and the rules that come with them.

use crate::agent::model_context::prompt::SourceGuide;
use crate::domain::extension::ExtensionOrigin;
use crate::domain::persona::Persona;
use crate::domain::rule::{PermissionsFile, RuleScope};
use crate::extensions::skill_tool::NeededSource;
use crate::extensions::{AgentExtension, ExtensionList, grants};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Extensions of a machine, as they were read last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineExtensions {
    /// Texts about sources for models.
    pub guides: Vec<SourceGuide>,
    /// Skills, agents and commands.
    pub list: Arc<ExtensionList>,
    /// Sources that there are.
    pub sources: BTreeMap<String, NeededSource>,
}

/// Extensions that a turn uses.
#[derive(Clone, Debug, Default)]
pub(super) struct UsedExtensions {
    /// Agent that the message named.
    pub(super) persona: Option<Persona>,
    /// Model of a command.
    pub(super) model: String,
    pub(super) grants: Vec<Grant>,
}

/// Rules of a skill or of a command, for the turn that uses it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Grant {
    pub(super) rules: PermissionsFile,
    pub(super) scope: RuleScope,
    pub(super) file: PathBuf,
}

/// An agent as a session uses it.
#[must_use]
pub fn persona(agent: &AgentExtension) -> Persona {
    let file = agent.content.clone();
    Persona {
        name: agent.slug.clone(),
        text: file.text,
        tools: file.tools,
        disallowed_tools: file.disallowed_tools,
        model: file.model,
    }
}

/// Rules of these tools; `None` if they allow nothing.
pub(super) fn granted(tools: &[String], origin: ExtensionOrigin, file: PathBuf) -> Option<Grant> {
    let rules = grants::rules(tools);
    let scope = match origin {
        ExtensionOrigin::User | ExtensionOrigin::Home => RuleScope::User,
        ExtensionOrigin::Workspace => RuleScope::Workspace,
        ExtensionOrigin::Repository => RuleScope::Repository,
    };
    rules.loosens().then_some(Grant { rules, scope, file })
}
