//! State of the pictures in conversations: their sizes, and those that the runtime has ready.

use crate::domain::ids::SessionId;
use crate::domain::picture::{KnownPicture, Pixels, Want};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Number of files whose size is remembered.
const KEPT: usize = 4_000;

/// A picture that was asked for in a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// It is being made.
    Coming,
    /// It can be drawn, under this number (1 to 0xff_ffff).
    There(u32),
}

/// State of the pictures.
#[derive(Clone, Debug, Default)]
pub struct Gallery {
    /// Pixels of a cell, where the terminal draws pictures; `None` where it does not.
    pub cell: Option<Pixels>,
    known: HashMap<PathBuf, KnownPicture>,
    asked: HashSet<PathBuf>,
    ready: HashMap<Want, Ready>,
    /// The session whose pictures are ready or coming.
    session: Option<SessionId>,
}

impl Gallery {
    /// Size of a file's picture, or why it has none.
    #[must_use]
    pub fn known(&self, path: &Path) -> Option<&KnownPicture> {
        self.known.get(path)
    }

    /// State of a picture.
    #[must_use]
    pub fn ready(&self, want: &Want) -> Option<Ready> {
        self.ready.get(want).copied()
    }

    /// Files among these whose size must be asked for.
    pub fn to_measure(&mut self, files: Vec<PathBuf>) -> Vec<PathBuf> {
        if self.known.len() + self.asked.len() > KEPT {
            self.known.clear();
            self.asked.clear();
        }
        let unknown = files.into_iter().filter(|path| !path.as_os_str().is_empty() && !self.known.contains_key(path));
        unknown.filter(|path| self.asked.insert(path.clone())).collect()
    }

    /// Sizes came.
    pub fn measured(&mut self, sizes: Vec<(PathBuf, KnownPicture)>) {
        for (path, known) in sizes {
            self.asked.remove(&path);
            self.known.insert(path, known);
        }
    }

    /// Pictures among these that must be made.
    pub fn to_make(&mut self, wants: Vec<Want>) -> Vec<Want> {
        let mut new = Vec::new();
        for want in wants {
            if !self.ready.contains_key(&want) {
                self.ready.insert(want.clone(), Ready::Coming);
                new.push(want);
            }
        }
        new
    }

    /// A picture came, under a number, or it cannot be made.
    pub fn made(&mut self, want: Want, made: Result<u32, String>) {
        match made {
            Ok(number) => {
                self.ready.insert(want, Ready::There(number));
            }
            Err(why) => {
                self.ready.remove(&want);
                self.known.insert(want.path, KnownPicture::Broken(why));
            }
        }
    }

    /// These numbers stand for nothing any more.
    pub fn gone(&mut self, numbers: &[u32]) {
        self.ready.retain(|_, ready| !matches!(ready, Ready::There(number) if numbers.contains(number)));
    }

    /// Another session is shown, or the terminal draws otherwise: whether anything was ready or coming for the last one.
    pub fn turn_to(&mut self, session: Option<&SessionId>) -> bool {
        if self.session.as_ref() == session {
            return false;
        }
        self.session = session.cloned();
        let any = !self.ready.is_empty();
        self.ready.clear();
        any
    }

    /// The terminal draws pictures in cells of this size, or none. What was ready is made anew.
    pub fn draw_in(&mut self, cell: Option<Pixels>) {
        if self.cell != cell {
            self.cell = cell;
            self.ready.clear();
        }
    }
}
