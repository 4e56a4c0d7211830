//! The files of sources as the engine sees them.

use crate::sources::SourceList;
use std::path::Path;

/// The files of sources. Its calls read files: they belong off the async threads.
pub trait SourceBook: Send + Sync {
    /// Sources for this directory.
    fn read(&self, cwd: &Path) -> SourceList;
}

/// No sources.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSources;

impl SourceBook for NoSources {
    fn read(&self, _: &Path) -> SourceList {
        SourceList::default()
    }
}
