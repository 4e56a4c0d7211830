//! Agents: a markdown file each, `agents/NAME.md`. Blocks.

use super::folders::ExtensionFolder;
use super::found::{AgentExtension, Counts, Unusable, UnusableWhy, add, stem, whole};
use crate::domain::extension::{ExtensionKind, slug_fault};
use crate::domain::persona;
use crate::domain::problem::Problem;
use std::path::Path;

/// Agents in these folders, by name.
pub(super) fn read(
    folders: &[ExtensionFolder],
    counts: &Counts<'_>,
    unusable: &mut Vec<Unusable>,
) -> Vec<AgentExtension> {
    let mut out = Vec::new();
    for folder in folders {
        for file in folder.texts() {
            match one(folder, &file, counts) {
                Ok(agent) => add(&mut out, agent, ExtensionKind::Agent, unusable),
                Err(problem) => unusable.push(Unusable {
                    kind: ExtensionKind::Agent,
                    name: stem(&file),
                    origin: folder.origin,
                    file,
                    why: UnusableWhy::Broken(problem),
                }),
            }
        }
    }
    out.sort_by(|a, b| a.slug.cmp(&b.slug));
    out
}

fn one(folder: &ExtensionFolder, file: &Path, counts: &Counts<'_>) -> Result<AgentExtension, Problem> {
    let slug = stem(file);
    if let Some(fault) = slug_fault(&slug) {
        return Err(Problem::whole(file, format!("Not a valid name of an agent: {fault}."), "Rename the file."));
    }
    let text = folder.text(file)?;
    let content = persona::read(&text).map_err(|(line, why)| Problem {
        path: file.to_owned(),
        line: Some(line),
        text: format!("Can't use the agent {slug}: {why}."),
        fix: "Fix the file.".to_owned(),
    })?;
    Ok(whole((slug, text), folder, file.to_owned(), content, counts))
}
