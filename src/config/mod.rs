//! Configuration: the user's files, and what the program needs of them.
//!
//! `paths` says where files lie, `settings` reads config.toml, `credentials` the keys, `connections` puts together what
//! can be asked, `probe` looks for local servers, `rules` reads and
//! writes permissions.json, `trust` what the user trusts, `own` finds the user's themes and keymaps, `log` opens the log.
//! Nothing here fails: what is wrong becomes a [`Problem`] with its file, line and fix, and the default stands.

pub mod connections;
pub mod credentials;
pub mod log;
pub mod own;
pub mod paths;
pub mod probe;
pub mod rules;
pub mod settings;
pub mod trust;

pub use connections::Connections;
pub use credentials::Credentials;
pub use paths::Paths;
pub use settings::Settings;

use crate::domain::problem::Problem;
use std::path::Path;

/// Everything that was read at start.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// config.toml, with defaults where it says nothing or something wrong.
    pub settings: Settings,
    /// Available connections.
    pub connections: Connections,
    /// Problems, in no order.
    pub problems: Vec<Problem>,
}

/// Reads the configuration. `env` looks up a variable of the environment.
#[must_use]
pub fn load(paths: &Paths, env: &dyn Fn(&str) -> Option<String>) -> Loaded {
    let mut problems = Vec::new();
    let file = paths.config_file();
    let mut settings = match read_text(&file) {
        Ok(text) => {
            let (settings, found) = Settings::parse(&file, text.as_deref().unwrap_or(""));
            problems.extend(found);
            settings
        }
        Err(problem) => {
            problems.push(problem);
            Settings::default()
        }
    };
    if let (Some(workspace), Some(home)) = (&mut settings.workspace, env("HOME"))
        && let Ok(below) = workspace.strip_prefix("~")
    {
        *workspace = Path::new(&home).join(below);
    }
    let (keys, found) = Credentials::read(&paths.credentials_file());
    problems.extend(found);
    let chosen = connections::chosen(paths);
    let (connections, found) = Connections::gather(&settings, &keys, env, chosen.as_ref(), &file);
    problems.extend(found);
    Loaded { settings, connections, problems }
}

/// A file's text; `None` when there is no such file. A byte order mark is taken off.
fn read_text(path: &Path) -> Result<Option<String>, Problem> {
    match std::fs::read(path) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))),
            Err(_) => {
                Err(Problem::whole(path, "The file is not UTF-8, so nothing of it was read.", "Save it as UTF-8."))
            }
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            Err(Problem::whole(path, format!("The file could not be read: {error}."), "Check its owner and rights."))
        }
    }
}

/// Makes a folder, and those above it that are missing, for their owner alone, whatever the umask.
fn private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests;
