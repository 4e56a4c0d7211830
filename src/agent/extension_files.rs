//! The files of skills, agents and commands as the engine sees them.

use crate::extensions::ExtensionList;
use std::path::Path;

/// The files of skills, agents and commands. Its calls read files: they belong off the async threads.
pub trait ExtensionBook: Send + Sync {
    /// Extensions for this directory.
    fn read(&self, cwd: &Path) -> ExtensionList;
}

/// No extensions.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoExtensions;

impl ExtensionBook for NoExtensions {
    fn read(&self, _: &Path) -> ExtensionList {
        ExtensionList::default()
    }
}
