//! Inputs of a start of sources: folders, the runner, access of commands, variables.

use super::config::{SourceConfig, hex};
use crate::domain::permission::Sandbox;
use crate::sandbox::Allowances;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Looks up a variable of the user's environment.
pub type Variable = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Folders that a server writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Its own alone: what uses it may change nothing.
    Own,
    /// Those as well that its configuration opens.
    Configured,
}

/// Inputs of a start.
pub struct Surroundings {
    /// The own binary, which starts programs.
    pub runner: PathBuf,
    /// Folder of the sources' own folders.
    pub folder: PathBuf,
    /// The workspace's folder.
    pub workspace: PathBuf,
    /// lisle's own folders.
    pub own_dirs: Vec<PathBuf>,
    /// Access that the user's settings grant commands.
    pub allowances: Arc<Allowances>,
    /// Profile of commands that may change something; [`Sandbox::None`] where nothing holds them.
    pub sandbox: Sandbox,
    /// The user's environment.
    pub variable: Box<Variable>,
}

impl Default for Surroundings {
    /// No program can be started, and no variable is set.
    fn default() -> Self {
        Self {
            runner: PathBuf::new(),
            folder: PathBuf::new(),
            workspace: PathBuf::new(),
            own_dirs: Vec::new(),
            allowances: Arc::default(),
            sandbox: Sandbox::None,
            variable: Box::new(|_| None),
        }
    }
}

impl Surroundings {
    /// Folder of a source: its log, and what its program may write.
    #[must_use]
    pub fn folder_of(&self, source: &SourceConfig) -> PathBuf {
        if self.is_of_workspace(source) {
            return self.folder.join(&source.slug);
        }
        // Projects call their servers what they like.
        let of_file = hex(source.file.as_os_str().as_encoded_bytes());
        self.folder.join(format!("{}.{}", source.slug, of_file.get(..12).unwrap_or_default()))
    }

    /// The workspace brings it, and not a project.
    #[must_use]
    pub fn is_of_workspace(&self, source: &SourceConfig) -> bool {
        source.file.starts_with(self.workspace.join("sources"))
    }

    /// A variable of a source's configuration.
    #[must_use]
    pub fn variable(&self, source: &SourceConfig, cwd: &Path, name: &str) -> Option<String> {
        let path = |path: &Path| Some(path.to_string_lossy().into_owned());
        match name {
            "WORKSPACE" => path(&self.workspace),
            "SOURCE_DIR" => path(source.file.parent()?),
            "SOURCE_DATA" => path(&self.folder_of(source).join("data")),
            "PROJECT" => path(cwd),
            _ => (self.variable)(name),
        }
    }
}
