//! Commands: a markdown file each, `commands/NAME.md`. The names of lisle's commands stay lisle's. Blocks.

use super::folders::ExtensionFolder;
use super::found::{Candidate, CommandExtension, Counts, Unusable, read as read_all, whole};
use crate::domain::command::{self, OwnCommand};
use crate::domain::extension::ExtensionKind;
use crate::domain::lookalike;
use crate::domain::problem::Problem;

/// Commands in these folders, by name.
pub(super) fn read(
    folders: &[ExtensionFolder],
    reserved: &[&str],
    counts: &Counts<'_>,
    unusable: &mut Vec<Unusable>,
) -> Vec<CommandExtension> {
    let one = |folder: &ExtensionFolder, one: &Candidate| command(folder, one, reserved, counts);
    read_all(ExtensionKind::Command, folders, ExtensionFolder::texts, one, unusable)
}

fn command(
    folder: &ExtensionFolder,
    one: &Candidate,
    reserved: &[&str],
    counts: &Counts<'_>,
) -> Result<CommandExtension, Problem> {
    let Candidate { name, file } = one;
    if !command::is_name(name) {
        let fix = "Use lowercase letters, digits, - and _ in the file name.";
        return Err(Problem::whole(file, "Not a valid command name.", fix));
    }
    if !lookalike::odd(name).is_empty() {
        let text =
            format!("Not a valid command name: {} has letters that look like others.", lookalike::expose_line(name));
        return Err(Problem::whole(file, text, "Rename the file."));
    }
    if reserved.contains(&name.as_str()) {
        return Err(Problem::whole(file, format!("/{name} is a built-in command."), "Rename the file."));
    }
    let text = folder.text(file)?;
    let content = command::read(&text).map_err(|(line, why)| Problem {
        path: file.clone(),
        line: Some(line),
        text: format!("Can't use the command /{name}: {why}."),
        fix: "Fix it.".to_owned(),
    })?;
    Ok(whole(one, text, folder, content, counts))
}

impl CommandExtension {
    /// The command as clients call it.
    #[must_use]
    pub fn own(&self) -> OwnCommand {
        let file = self.content.clone();
        OwnCommand {
            kind: ExtensionKind::Command,
            name: self.slug.clone(),
            description: file.description,
            hint: file.hint,
            text: file.text,
            model: file.model,
            allowed_tools: file.allowed_tools,
            origin: self.origin,
            path: self.file.clone(),
            hash: self.hash.clone(),
            trusted: self.trusted,
        }
    }
}
