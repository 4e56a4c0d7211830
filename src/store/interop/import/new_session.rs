//! The session of an import. It is written under a name that no list shows and gets its own with one rename, once it is
//! whole: a death at any point leaves nothing that looks like a session.

use super::rows::Rows;
use super::{Copied, ImportContext, Imported, Reimport, Source};
use crate::domain::session::SessionMeta;
use crate::domain::{Mode, SessionId};
use crate::store::format::header::First;
use crate::store::format::layout;
use crate::store::io::{trees, whole_file};
use crate::store::read::session;
use crate::store::write::lock;
use crate::store::{Store, StoreError};
use std::collections::VecDeque;
use std::path::Path;

impl Store {
    /// Makes the session of a conversation. `why` there is another one of it already, if there is.
    pub(super) fn import_anew(
        &self,
        source: Source,
        context: &ImportContext<'_>,
        why: Option<String>,
    ) -> Result<Imported, StoreError> {
        let ImportContext { at_most, now, .. } = *context;
        let facts = source.reading.facts();
        let created = facts.created.unwrap_or(now);
        let cwd = facts.cwd.clone().unwrap_or_else(|| self.inner.home.clone());
        self.make_workspace(created)?;
        let mut meta = SessionMeta::new(self.fresh_id(created), created, Mode::Ask.stricter(at_most), cwd);
        meta.title = facts.title.clone().unwrap_or_default();
        meta.title_from = facts.title_from;
        meta.thinking = facts.thinking.unwrap_or_default();
        meta.names.alias = self.free_alias(&source);
        let hidden = layout::temp(&self.session_dir(&meta.id));
        let made = self.write_hidden(&hidden, &source, meta.clone()).and_then(|copied| {
            // A session without a row would look like one that was lost.
            if copied.rows == 0 {
                Err(source.without_messages())
            } else {
                Ok((self.show(&hidden, &meta)?, copied.left))
            }
        });
        let (id, left) = made.inspect_err(|_| {
            // What is half imported helps nobody.
            let _ = trees::remove_all(self.io(), &hidden);
        })?;
        let meta = self.reader(&id).meta(&session::find(self.io(), &self.session_dir(&id))?);
        Ok(Imported { meta, program: source.kind.name(), left, again: why.map(Reimport::Another) })
    }

    /// Writes the whole session to a new directory.
    fn write_hidden(&self, dir: &Path, source: &Source, meta: SessionMeta) -> Result<Copied, StoreError> {
        self.io().mkdir(dir).map_err(|error| StoreError::io("make", dir, error))?;
        let mut journal = self.begin_in(dir, meta.clone())?;
        if let Some(origin) = source.origin() {
            journal.mark_origin(&origin);
        }
        self.copy(Rows::new(journal, meta.created, VecDeque::new()), source, meta)
    }

    /// Gives a whole session its id, or the next free one like it, by which lists show it.
    fn show(&self, hidden: &Path, meta: &SessionMeta) -> Result<SessionId, StoreError> {
        let io = self.io();
        let id = self.claim(&meta.id, meta.created)?;
        let dir = self.session_dir(&id);
        // Replaces the empty directory that was claimed, which nobody else can have.
        if let Err(error) = io.rename(hidden, &dir) {
            let _ = io.remove(&dir);
            return Err(StoreError::io("make", &dir, error));
        }
        if let Err(error) = self.sync_dir(&self.inner.layout.sessions()) {
            tracing::warn!(%error, "an imported session was not forced to the disk");
        }
        if id != meta.id
            && let Err(error) = self.refresh(&id)
        {
            // The directory's name counts.
            tracing::warn!(%error, "the header of an imported session has another id");
        }
        Ok(id)
    }

    /// Removes what imports that died left under hidden names. The caller has the lock of imports.
    pub(super) fn remove_left_imports(&self) {
        let (io, sessions) = (self.io(), self.inner.layout.sessions());
        for name in io.list(&sessions).unwrap_or_default() {
            let path = sessions.join(&name);
            let held = || {
                let lock = path.join(layout::LOCK);
                io.stat(&lock).is_ok() && !lock::is_free(io, &lock)
            };
            if name.to_str().is_some_and(whole_file::is_left_over)
                && !held()
                && let Err(error) = trees::remove_all(io, &path)
            {
                tracing::warn!(%error, "what an earlier import left stays");
            }
        }
    }

    /// Imports a file of lines that lisle exported, whatever its name.
    pub(super) fn import_lines_of_ours(
        &self,
        path: &Path,
        context: &ImportContext<'_>,
    ) -> Result<Imported, StoreError> {
        let error = |error| StoreError::io("import", path, error);
        let is_header = match self.first_bytes(path).map_err(error)? {
            First::Header { fields, .. } => ["id", "createdAt", "lisle"].iter().all(|key| fields.has(key)),
            _ => false,
        };
        if !is_header {
            return Err(StoreError::NoImport { path: path.to_owned(), why: self.unknown_format(path) });
        }
        let name = format!(".lisle-import-{}-{:08x}", std::process::id(), fastrand::u32(..));
        let folder = self.inner.temp.join(name);
        self.io().mkdir(&folder).map_err(error)?;
        let copied = trees::copy(self.io(), path, &folder.join(layout::SESSION), false);
        let imported = copied.and_then(|()| self.import_folder(&folder, context));
        let _ = trees::remove_all(self.io(), &folder);
        imported
    }
}
