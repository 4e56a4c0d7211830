//! Agents: a markdown file each, `agents/NAME.md`. Blocks.

use super::folders::ExtensionFolder;
use super::found::{AgentExtension, Candidate, Counts, Unusable, read as read_all, whole};
use crate::domain::extension::{ExtensionKind, slug_fault};
use crate::domain::persona;
use crate::domain::problem::Problem;

/// Agents in these folders, by name.
pub(super) fn read(
    folders: &[ExtensionFolder],
    counts: &Counts<'_>,
    unusable: &mut Vec<Unusable>,
) -> Vec<AgentExtension> {
    read_all(ExtensionKind::Agent, folders, ExtensionFolder::texts, |folder, one| agent(folder, one, counts), unusable)
}

fn agent(folder: &ExtensionFolder, one: &Candidate, counts: &Counts<'_>) -> Result<AgentExtension, Problem> {
    let Candidate { name: slug, file } = one;
    if let Some(fault) = slug_fault(slug) {
        return Err(Problem::whole(file, format!("Not a valid name of an agent: {fault}."), "Rename the file."));
    }
    let text = folder.text(file)?;
    let content = persona::read(&text).map_err(|(line, why)| Problem {
        path: file.clone(),
        line: Some(line),
        text: format!("Can't use the agent {slug}: {why}."),
        fix: "Fix the file.".to_owned(),
    })?;
    let mut agent = whole(one, text, folder, content, counts);
    // The name in the file is what other programs call it by.
    let named = agent.content.name.to_ascii_lowercase();
    if slug_fault(&named).is_none() {
        agent.slug = named;
    }
    Ok(agent)
}
