//! The files that go along with a draft: those that are in the session, and those whose copy is still being made.

use crate::domain::attachment::Attachment;
use std::path::{Path, PathBuf};

/// A file of a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum File {
    /// File whose copy is being made.
    Coming {
        /// Path as typed.
        path: PathBuf,
        /// The text that was pasted, to be put back if it is no file that can go along.
        pasted: Option<String>,
    },
    /// It is in the session.
    There(Attachment),
}

impl File {
    /// Its name, as it is shown.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Coming { path, .. } => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            Self::There(file) => file.name.clone(),
        }
    }
}

/// The files of a draft, in the order in which they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    items: Vec<File>,
}

impl Files {
    /// Files that were kept with a draft or a message.
    #[must_use]
    pub fn kept(files: Vec<Attachment>) -> Self {
        Self { items: files.into_iter().map(File::There).collect() }
    }

    /// All of them.
    #[must_use]
    pub fn items(&self) -> &[File] {
        &self.items
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Typed paths of files that are not in the session yet.
    pub fn coming(&self) -> impl Iterator<Item = &Path> {
        self.items.iter().filter_map(|file| match file {
            File::Coming { path, .. } => Some(path.as_path()),
            File::There(_) => None,
        })
    }

    /// Files that are in the session.
    #[must_use]
    pub fn there(&self) -> Vec<Attachment> {
        let there = self.items.iter().filter_map(|file| match file {
            File::There(file) => Some(file.clone()),
            File::Coming { .. } => None,
        });
        there.collect()
    }

    /// A copy is asked for.
    pub fn ask(&mut self, path: PathBuf, pasted: Option<String>) {
        self.items.push(File::Coming { path, pasted });
    }

    /// These go along, too.
    pub fn add(&mut self, files: Vec<Attachment>) {
        self.items.extend(files.into_iter().map(File::There));
    }

    /// A copy was made: the file is there. False where nobody waits for it any more.
    pub fn came(&mut self, path: &Path, file: Attachment) -> bool {
        match self.waiting(path).and_then(|at| self.items.get_mut(at)) {
            Some(item) => {
                *item = File::There(file);
                true
            }
            None => false,
        }
    }

    /// No copy can be made: the file goes. Tells the text that was pasted for it, if somebody waited for it at all.
    pub fn refused(&mut self, path: &Path) -> Option<Option<String>> {
        match self.items.remove(self.waiting(path)?) {
            File::Coming { pasted, .. } => Some(pasted),
            File::There(_) => None,
        }
    }

    fn waiting(&self, path: &Path) -> Option<usize> {
        self.items.iter().position(|file| matches!(file, File::Coming { path: asked, .. } if asked == path))
    }

    /// Takes one out, by its place.
    pub fn remove(&mut self, at: usize) -> Option<File> {
        (at < self.items.len()).then(|| self.items.remove(at))
    }

    /// Takes the last one out.
    pub fn pop(&mut self) -> Option<File> {
        self.items.pop()
    }
}
