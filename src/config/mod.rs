//! Configuration: the user's files, and what the program needs of them.
//!
//! `paths` says where files lie, `settings` reads config.toml, `credentials` the keys, `connections` puts together what
//! can be asked, `new_server` reads the address of one to be added, `probe` looks for local servers, `rules` reads and
//! writes permissions.json, `trust` what the user trusts, `own` finds the user's themes and keymaps, `log` opens the log.
//! Nothing here fails: what is wrong becomes a [`Problem`] with its file, line and fix, and the default stands.

pub mod connections;
pub mod credentials;
mod files;
pub mod log;
pub mod new_server;
pub mod paths;
pub mod probe;
pub mod rules;
pub mod settings;
pub mod trust;
pub mod user_files;

pub use connections::Connections;
pub use credentials::Credentials;
pub use paths::Paths;
use paths::Placed;
pub use settings::Settings;

use crate::domain::problem::Problem;
use std::path::Path;

/// Everything that was read at start.
#[derive(Clone, Debug)]
pub struct LoadedConfig {
    /// config.toml, with defaults where it says nothing or something wrong.
    pub settings: Settings,
    /// Available connections.
    pub connections: Connections,
    /// Problems, in no order.
    pub problems: Vec<Problem>,
}

/// Reads the configuration. `env` looks up a variable of the environment.
#[must_use]
pub fn load(paths: &Paths, env: &dyn Fn(&str) -> Option<String>) -> LoadedConfig {
    let mut problems = Vec::new();
    let file = paths.config_file();
    let mut settings = match files::read_text(&file) {
        Ok(text) => {
            let (settings, found) = Settings::parse(&file, text.as_deref().unwrap_or(""));
            problems.extend(found);
            settings
        }
        Err(problem) => {
            problems.push(problem);
            Settings { session: None, ..Settings::default() }
        }
    };
    problems.extend(misplaced(paths));
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
    LoadedConfig { settings, connections, problems }
}

/// Tells of a config.toml beside the folder that it belongs into: people look for it there.
fn misplaced(paths: &Paths) -> Option<Problem> {
    let beside = paths.config.parent().filter(|_| paths.placed == Placed::ByHome)?.join("config.toml");
    beside.is_file().then(|| Problem {
        path: beside,
        line: None,
        text: "This file is not read.".to_owned(),
        fix: format!("Move it to {}.", paths.config_file().display()),
    })
}

#[cfg(test)]
mod tests;
