//! Reads the user's own commands: `commands/*.md` in the folder of the configuration, in the workspace, and
//! `.lisle/commands/*.md` in the repository where tools work. Of one name the user's own counts before the workspace's, and
//! that before the repository's; the names of lisle's commands stay lisle's.

use crate::app::slash::Slash;
use crate::domain::command::{self, CommandOrigin, OwnCommand};
use crate::domain::hex::sha256_hex;
use crate::domain::problem::Problem;
use crate::plain_file;
use std::fs;
use std::path::{Path, PathBuf};

/// Files of a folder at the most.
const FILES: usize = 500;
/// A longer file is no command.
const LONGEST: u64 = 256 << 10;

/// Folders of commands besides the repository's.
#[derive(Clone, Debug, Default)]
pub struct Folders {
    /// The folder of the configuration.
    pub config: PathBuf,
    /// The workspace.
    pub workspace: PathBuf,
}

/// All commands for sessions that work in `cwd`, by name, and what is wrong with files.
#[must_use]
pub fn read(folders: &Folders, cwd: &Path) -> (Vec<OwnCommand>, Vec<Problem>) {
    let (mut commands, mut problems): (Vec<OwnCommand>, Vec<Problem>) = Default::default();
    let repository = cwd.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(cwd);
    for (folder, origin) in [
        (folders.config.join("commands"), CommandOrigin::User),
        (folders.workspace.join("commands"), CommandOrigin::Workspace),
        (repository.join(".lisle/commands"), CommandOrigin::Repository),
    ] {
        for path in files(&folder) {
            match one(&path, origin) {
                Ok(own) if commands.iter().all(|known| known.name != own.name) => commands.push(own),
                Ok(_) => {}
                Err(problem) => problems.push(problem),
            }
        }
    }
    commands.sort_by(|a, b| a.name.cmp(&b.name));
    (commands, problems)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(FILES);
    let named = |path: &PathBuf| {
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        !hidden && path.extension().is_some_and(|extension| extension == "md")
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(named).collect();
    files.sort();
    files
}

fn one(path: &Path, origin: CommandOrigin) -> Result<OwnCommand, Problem> {
    let odd = |line, text: &str, fix: &str| Problem { path: path.to_owned(), line, text: text.into(), fix: fix.into() };
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    if !command::is_name(&name) {
        let fix = "Use lowercase letters, digits, - and _ in the file name.";
        return Err(odd(None, "Not a valid command name.", fix));
    }
    if Slash::ALL.iter().any(|slash| slash.word() == name) {
        return Err(odd(None, &format!("/{name} is a built-in command."), "Rename the file."));
    }
    // A link could lead to any file of the machine, and its text would be sent.
    let meta = fs::symlink_metadata(path)
        .map_err(|error| odd(None, &format!("Can't read the file: {error}."), "Check its owner and permissions."))?;
    if !meta.is_file() && origin == CommandOrigin::Repository {
        return Err(odd(None, "A repository command can't be a symlink.", "Use a regular file."));
    }
    if meta.len() > LONGEST {
        return Err(odd(None, "File too long for a command.", "Keep it under 256 KB."));
    }
    let unreadable = |why: &dyn std::fmt::Display| {
        odd(None, &format!("Can't read the file: {why}."), "Save it as UTF-8, and check its permissions.")
    };
    let whole = plain_file::read(path, LONGEST).map_err(|error| unreadable(&error))?;
    let whole = String::from_utf8(whole).map_err(|_| unreadable(&"not UTF-8"))?;
    let written = command::read(&whole)
        .map_err(|(line, why)| odd(Some(line), &format!("Can't use the command /{name}: {why}."), "Fix it."))?;
    let hash = sha256_hex(whole.as_bytes());
    let command::CommandFile { description, hint, text } = written;
    Ok(OwnCommand { name, description, hint, text, origin, path: path.to_owned(), hash })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_come_from_three_places_and_odd_ones_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("config/commands/fix.md", "---\nargument-hint: [ISSUE]\n---\nFix $1");
        put("config/commands/new.md", "x");
        put("config/commands/Big.md", "x");
        put("config/commands/notes.txt", "x");
        put("config/commands/.hidden.md", "x");
        put("workspace/commands/fix.md", "the workspace's");
        put("workspace/commands/tidy.md", "Tidy up");
        put("repo/.git/HEAD", "x");
        put("repo/.lisle/commands/ship.md", "Ship it");
        put("repo/.lisle/commands/broken.md", "---\nx\n---\ny");
        put("repo/src/x", "x");
        let folders = Folders { config: dir.path().join("config"), workspace: dir.path().join("workspace") };
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("repo/.lisle/commands/link.md")).unwrap();
        let (commands, problems) = read(&folders, &dir.path().join("repo/src"));
        let shown: Vec<_> = commands.iter().map(|own| (own.name.as_str(), own.origin, own.text.as_str())).collect();
        assert_eq!(
            shown,
            [
                ("fix", CommandOrigin::User, "Fix $1"),
                ("ship", CommandOrigin::Repository, "Ship it"),
                ("tidy", CommandOrigin::Workspace, "Tidy up"),
            ]
        );
        assert!(commands.iter().all(|own| own.hash.len() == 64));
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 4, "{told:?}");
        for word in ["new is a built-in command", "Not a valid command name", "can't be a symlink", "name: value"] {
            assert!(told.iter().any(|told| told.contains(word)), "{word}: {told:?}");
        }
    }
}
