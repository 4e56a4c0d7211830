//! The workspace whose sessions the store keeps: its folder, its mark, its settings, and the paths in it.
//!
//! Methods of [`Store`] that concern its sessions stand in `read`, `write`, `maintain` and `interop`.

use super::StoreError;
use super::format::layout::{self, Layout};
use super::format::{names, portable_paths};
use super::io::whole_file::{self, make_dirs};
use super::io::{Disk, Io, PathKind};
use crate::domain::{At, SessionId};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// When writes are forced to the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fsync {
    /// With every row.
    Always,
    /// With what must not be lost: user messages, calls that change something, ends of turns, headers.
    #[default]
    Normal,
    /// Never: what the system has not written by itself is lost with the machine, not with lisle.
    Off,
}

/// Durability that an append waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The write returned: it survives the death of lisle.
    Written,
    /// Forced to the disk as well: survives the death of the machine.
    Synced,
}

/// Options of a store.
#[derive(Clone, Debug)]
pub struct Options {
    /// The workspace's directory.
    pub workspace: PathBuf,
    /// lisle's state directory, for drafts and history.
    pub state: PathBuf,
    /// Folder of lisle's own workspaces, in which nobody else makes any.
    pub ours: Option<PathBuf>,
    /// The user's home directory: what `~` in headers means.
    pub home: PathBuf,
    /// Folder for what a session's files do not take.
    pub temp: PathBuf,
    /// When writes are forced to the disk.
    pub fsync: Fsync,
    /// The file calls.
    pub io: Arc<dyn Io>,
    /// Pages of sessions that others read.
    pub pages: Option<Arc<dyn PublicPages>>,
}

/// Pages of sessions that others read, kept outside of the workspace.
pub trait PublicPages: Send + Sync + std::fmt::Debug {
    /// Revokes all pages of a session, and returns their number.
    ///
    /// # Errors
    /// When one can still be read.
    fn revoke(&self, workspace: &Path, session: &SessionId) -> std::io::Result<usize>;
}

impl Options {
    /// The real disk, usual fsync, `/tmp`, and the home directory of the environment.
    pub fn new(workspace: impl Into<PathBuf>, state: impl Into<PathBuf>) -> Self {
        let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned()).unwrap_or_default();
        Self {
            workspace: workspace.into(),
            state: state.into(),
            ours: None,
            home,
            temp: PathBuf::from("/tmp"),
            fsync: Fsync::Normal,
            io: Arc::new(Disk),
            pages: None,
        }
    }
}

/// The sessions of one workspace. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    pub(super) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(super) struct Inner {
    pub layout: Layout,
    pub home: PathBuf,
    pub temp: PathBuf,
    pub fsync: Fsync,
    pub io: Arc<dyn Io>,
    pub pages: Option<Arc<dyn PublicPages>>,
    pub foreign: bool,
    pub in_data_folder: bool,
    /// On another machine; asked for once.
    remote: std::sync::OnceLock<bool>,
    /// Limits of undo's storage.
    pub kept: KeptBytes,
    name: String,
}

/// Number of bytes that are kept, as far as this process knows.
#[derive(Debug, Default)]
pub struct KeptBytes(Mutex<Option<u64>>);

impl KeptBytes {
    pub(super) fn add(&self, bytes: u64) {
        if let Some(all) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            *all += bytes;
        }
    }

    pub(super) fn set(&self, bytes: u64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(bytes);
    }

    pub(super) fn known(&self) -> Option<u64> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Compares by names alone, so a path that steps upwards or goes through a link does not count.
fn lies_below(io: &dyn Io, path: &Path, folder: &Path) -> bool {
    let Ok(rest) = path.strip_prefix(folder) else { return false };
    let mut at = folder.to_owned();
    rest.components().all(|part| {
        at.push(part);
        matches!(part, Component::Normal(_)) && !matches!(io.lstat(&at), Ok((PathKind::Link, _)))
    })
}

impl Store {
    /// Opens the workspace; one that does not exist is made with its first session.
    ///
    /// # Errors
    /// When the workspace's path names something that cannot be one.
    pub fn open(options: Options) -> Result<Self, StoreError> {
        let Options { workspace, state, ours, home, temp, fsync, io, pages } = options;
        let workspace = std::path::absolute(&workspace).unwrap_or(workspace);
        match io.stat(&workspace) {
            Ok(stat) if !stat.is_dir => {
                let error = std::io::Error::from(ErrorKind::NotADirectory);
                return Err(StoreError::io("open the workspace", &workspace, error));
            }
            // Missing or unreadable: the list and the first write say so in their own words.
            _ => {}
        }
        let layout = Layout { workspace, state };
        let config = match whole_file::read(&*io, &layout.config()) {
            // A pipe or a folder of this name is nobody's mistake of rights: the workspace is refused.
            Err(error) if error.is_of_no_file() => return Err(error),
            other => other.ok().flatten(),
        };
        let (name, marked) = config.as_deref().map(layout::read_marker).unwrap_or((None, false));
        // The mark alone tells nothing of a folder that came from elsewhere: whoever made that could write it.
        let in_data_folder = ours.is_some_and(|folder| lies_below(&*io, &layout.workspace, &folder));
        let made = || whole_file::read(&*io, &layout.made()).ok().flatten();
        let id = config.as_deref().and_then(layout::marker_id);
        let is_made_here = || id.as_ref().is_some_and(|id| made().is_some_and(|made| made == id.as_bytes()));
        let known = in_data_folder || (marked && is_made_here());
        // Without config.json it is ours to make, unless somebody's sessions are in it already.
        let foreign = if config.is_some() { !(marked && known) } else { io.stat(&layout.sessions()).is_ok() };
        let name = name.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| {
            layout.workspace.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
        });
        Ok(Self {
            inner: Arc::new(Inner {
                layout,
                home,
                temp,
                fsync,
                io,
                pages,
                name,
                foreign,
                in_data_folder,
                remote: std::sync::OnceLock::new(),
                kept: Default::default(),
            }),
        })
    }

    /// The workspace's folder.
    pub fn dir(&self) -> &Path {
        &self.inner.layout.workspace
    }

    /// The workspace's name.
    pub fn workspace_name(&self) -> &str {
        &self.inner.name
    }

    /// Another program made the workspace.
    pub fn is_foreign(&self) -> bool {
        self.inner.foreign
    }

    /// The workspace lies where lisle keeps its own, and where nobody else makes any.
    pub fn is_in_data_folder(&self) -> bool {
        self.inner.in_data_folder
    }

    /// The workspace lies on another machine, or may: nobody is told there when a file changes, and locks may not
    /// tell the truth. A session there is taken over only when somebody says so.
    pub fn is_remote(&self) -> bool {
        *self.inner.remote.get_or_init(|| {
            // One that does not exist yet will be where the directories above it are.
            let found = self.inner.layout.workspace.ancestors().find_map(|path| self.io().is_remote(path).ok());
            found.unwrap_or(false)
        })
    }

    /// The workspace's id as its `config.json` has it.
    pub(super) fn workspace_id(&self) -> Option<String> {
        let config = whole_file::read(self.io(), &self.inner.layout.config()).ok().flatten()?;
        layout::read_id(&config)
    }

    /// The directory of a session, whether or not it exists.
    pub fn session_dir(&self, id: &SessionId) -> PathBuf {
        self.inner.layout.session(id)
    }

    /// The conversation's file of a session, whether or not it exists.
    #[must_use]
    pub fn session_file(&self, id: &SessionId) -> PathBuf {
        self.session_dir(id).join(layout::SESSION)
    }

    /// The directory that somebody wrote, with `~` for the user's home.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn directory(&self, written: &Path) -> Result<PathBuf, StoreError> {
        let path = portable_paths::absolute(&written.to_string_lossy(), &self.inner.home);
        match self.io().stat(&path) {
            Ok(stat) if stat.is_dir => Ok(path),
            Ok(_) => Err(StoreError::io("work in", &path, std::io::Error::from(ErrorKind::NotADirectory))),
            Err(error) => Err(StoreError::io("work in", &path, error)),
        }
    }

    pub(super) fn io(&self) -> &dyn Io {
        &*self.inner.io
    }

    /// An id that is not taken now; it is claimed by [`Store::create`].
    pub fn fresh_id(&self, at: At) -> SessionId {
        let taken = |id: &SessionId| self.io().stat(&self.inner.layout.session(id)).is_ok();
        let zone = jiff::tz::TimeZone::system();
        // None free: whatever stands there is found out when it is claimed.
        names::fresh(at, &zone, taken)
            .or_else(|| names::fresh(at, &zone, |_| false))
            .unwrap_or_else(|| SessionId::numbered(fastrand::u32(..)))
    }

    /// Makes the workspace's folders and its mark where they are not there yet.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn make(&self, at: At) -> Result<(), StoreError> {
        self.make_workspace(at)
    }

    pub(super) fn make_workspace(&self, at: At) -> Result<(), StoreError> {
        self.refuse_linked_folders()?;
        let layout = &self.inner.layout;
        let io = self.io();
        // The mark first: sessions without it would look like another program's.
        if !self.inner.foreign && io.stat(&layout.config()).is_err() {
            make_dirs(io, &layout.workspace)?;
            let text = layout::marker(&self.inner.name, at.0);
            let (made, id) = (layout.made(), layout::marker_id(text.as_bytes()).unwrap_or_default());
            make_dirs(io, made.parent().unwrap_or(&layout.state))?;
            whole_file::replace(io, &made, id.as_bytes(), false)?;
            whole_file::replace(io, &layout.config(), text.as_bytes(), self.inner.fsync != Fsync::Off)?;
            self.sync_dir(&layout.workspace)?;
        }
        if io.stat(&layout.sessions()).is_err() {
            make_dirs(io, &layout.sessions())?;
            self.sync_dir(&layout.workspace)?;
        }
        Ok(())
    }

    pub(super) fn sync_dir(&self, dir: &Path) -> Result<(), StoreError> {
        if self.inner.fsync == Fsync::Off {
            return Ok(());
        }
        self.io().fsync_dir(dir).map_err(|e| StoreError::io("save", dir, e))
    }

    /// Makes the directory of `wanted`, or of the next free id like it, empty.
    pub(super) fn claim(&self, wanted: &SessionId, at: At) -> Result<SessionId, StoreError> {
        let others = (0..100).map(|_| self.fresh_id(at));
        for id in std::iter::once(wanted.clone()).chain(names::siblings(wanted)).chain(others) {
            let dir = self.inner.layout.session(&id);
            match self.io().mkdir(&dir) {
                Ok(()) => return Ok(id),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(StoreError::io("make", &dir, error)),
            }
        }
        Err(StoreError::NoName { path: self.inner.layout.sessions() })
    }
}
