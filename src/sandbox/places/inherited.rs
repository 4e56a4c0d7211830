//! Properties that a folder has from those above it, and from its own name.

use super::python_environment;
use crate::domain::paths::{is_protected_for_commands, is_secret_folder};
use std::path::{Path, PathBuf};

/// Folders of what others wrote or machines made: nothing in them configures the user's own programs but for repositories
/// of git, whose settings count wherever a repository lies.
const DEPENDENCIES: &[&str] = &["node_modules", "target", ".venv", "vendor", ".hg", ".jj", ".svn"];

/// Properties that a folder has from those above it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Inherited {
    pub(super) dependency: bool,
    pub(super) secret: bool,
    /// True below a protected folder, which is protected as a whole.
    pub(super) protected: bool,
    /// True for a virtual environment.
    pub(super) environment: bool,
    /// True for an environment that would be secret by its name otherwise.
    pub(super) named: bool,
    pub(super) depth: usize,
}

impl Inherited {
    /// Properties of a folder in this one.
    pub(super) fn below(self, folder: &Path) -> Self {
        let name = folder.file_name().unwrap_or_default();
        let above = folder.parent().and_then(Path::file_name);
        let named = above.map_or_else(|| PathBuf::from(name), |above| Path::new(above).join(name));
        let environment = python_environment::is_one(folder);
        let package =
            self.environment && python_environment::is_part(name) || DEPENDENCIES.iter().any(|one| name == *one);
        let withheld = self.named && !python_environment::is_of_tools(name);
        let by_name = withheld || is_secret_folder(&named);
        Self {
            dependency: self.dependency || package,
            secret: self.secret || by_name && !environment,
            protected: self.protected || is_protected_for_commands(&named),
            environment,
            named: by_name && environment,
            depth: self.depth + 1,
        }
    }
}
