//! Extensions that are texts: skills, agents and commands of the user's own, of a workspace and of a repository.
//!
//! | Module | Content |
//! | --- | --- |
//! | [`folders`] | folders that are searched, and how a file in them is read |
//! | [`found`] | one extension, or why it can't be used |
//! | [`list`] | all extensions of a directory, with those that can't be used |
//! | [`skills`], [`agents`], [`commands`] | one kind each |
//! | [`grants`] | pure: tools in Claude Code's words as rules |
//! | [`skill_tool`] | the tool by which a model loads a skill |
//!
//! Trust in files is decided elsewhere (`config::trust`, `runtime`): whoever reads a list says which bytes count. What a
//! session does with an extension is `agent`'s.

pub mod agents;
pub mod commands;
pub mod folders;
pub mod found;
pub mod grants;
pub mod list;
pub mod skill_tool;
pub mod skills;

pub use folders::ExtensionPlaces;
pub use found::{AgentExtension, CommandExtension, Extension, SkillExtension};
pub use list::ExtensionList;
