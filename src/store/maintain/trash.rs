//! Deleting sessions: into `WORKSPACE/trash/ID-TIME` and back, or for good.
//!
//! A session goes with one rename, so that a death leaves it here or there and never in parts; where a rename cannot do
//! it, because the trash lies on another disk, the copy is whole before the original goes. What is removed for good is
//! renamed first, to a name that no list shows. The git worktree of a session is left to the engine.

use crate::domain::message::UserText;
use crate::domain::session::SessionMeta;
use crate::domain::trash::{TrashId, Trashed};
use crate::domain::{At, Mode, SessionId};
use crate::store::format::layout;
use crate::store::io::{PathKind, trees, whole_file};
use crate::store::read::session::{self, SessionReader};
use crate::store::{Store, StoreError};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Behind the name of what only holds the messages of a session that lives on.
const CLEARED: &str = "-cleared";
/// A temporary directory that is older was left by a death.
const LEFT_MS: i64 = 24 * 60 * 60 * 1000;

/// The time in a name of the trash, UTC: `20261122T013000123Z`.
pub(in crate::store) fn stamp(at: At) -> String {
    let time = Timestamp::from_millisecond(at.0).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(TimeZone::UTC);
    format!("{}{:03}Z", time.strftime("%Y%m%dT%H%M%S"), time.millisecond())
}

fn unstamp(text: &str) -> Option<At> {
    let digits = text.strip_suffix('Z')?;
    let millis: i64 = digits.get(15..).filter(|rest| rest.len() == 3)?.parse().ok()?;
    let time = DateTime::strptime("%Y%m%dT%H%M%S", digits.get(..15)?).ok()?;
    Some(At(time.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond() + millis))
}

/// The session, the time, and whether only its messages are there; `None` for a name that is not ours.
fn parse(name: &str) -> Option<(SessionId, At, bool)> {
    let (rest, cleared) = name.strip_suffix(CLEARED).map_or((name, false), |rest| (rest, true));
    let (id, time) = rest.rsplit_once('-')?;
    Some((SessionId::parse(id).ok()?, unstamp(time)?, cleared))
}

/// Content to move to the trash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A whole session.
    Session,
    /// The messages of one that lives on.
    Messages,
}

/// A session that was moved to the trash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deleted {
    /// Its name there.
    pub trash: TrashId,
    /// Number of its pages that were revoked.
    pub pages: usize,
}

impl Store {
    /// Revokes the pages of a session that others read, and returns their number. It comes before the session goes, and
    /// while nobody else has it: one that cannot be revoked keeps it where its owner sees it.
    fn revoke_pages(&self, id: &SessionId) -> Result<usize, StoreError> {
        let layout = &self.inner.layout;
        let Some(pages) = &self.inner.pages else { return Ok(0) };
        let revoked = pages.revoke(&layout.workspace, id);
        revoked.map_err(|error| StoreError::io("revoke the shared pages of", &layout.session(id), error))
    }

    /// Moves a session to the trash, its draft with it. Its pages are revoked.
    ///
    /// # Errors
    /// [`StoreError::Held`] when another one writes it; when there is none, or it cannot be moved: then it stays as it
    /// is.
    pub fn delete(&self, id: &SessionId, now: At) -> Result<Deleted, StoreError> {
        let io = self.io();
        let layout = &self.inner.layout;
        let dir = layout.session(id);
        let _lock = self.hold_to_remove(id)?;
        let pages = self.revoke_pages(id)?;
        let (trash, to) = self.trash_name(id, now, What::Session)?;
        let draft = whole_file::read(io, &layout.draft(id)).ok().flatten().filter(|draft| !draft.is_empty());
        let kept = dir.join(layout::DRAFT);
        if let Some(draft) = &draft {
            whole_file::replace(io, &kept, draft, self.inner.fsync != crate::store::Fsync::Off)?;
        }
        if let Err(error) = self.relocate(&dir, &to) {
            // It goes on living with its draft where that was.
            if draft.is_some() {
                let _ = io.remove(&kept);
            }
            return Err(error);
        }
        if draft.is_some()
            && let Err(error) = self.save_draft(id, &UserText::default())
        {
            tracing::warn!(%error, "the draft of a deleted session stays");
        }
        Ok(Deleted { trash, pages })
    }

    /// Removes a session for good, with its pages: their number.
    ///
    /// # Errors
    /// As [`Store::delete`]. When only the removing of its files failed it is gone from the list; what is left of it
    /// goes with the trash.
    pub fn delete_now(&self, id: &SessionId) -> Result<usize, StoreError> {
        let dir = self.inner.layout.session(id);
        let _lock = self.hold_to_remove(id)?;
        let pages = self.revoke_pages(id)?;
        let hidden = self.hide(&dir)?;
        if let Err(error) = self.save_draft(id, &UserText::default()) {
            tracing::warn!(%error, "the draft of a deleted session stays");
        }
        trees::remove_all(self.io(), &hidden).map(|()| pages)
    }

    /// Takes a session out of the trash. Where its id is taken it gets the next free one like it, which stands in what
    /// comes back; so does one whose messages were cleared, while the session lives on.
    ///
    /// # Errors
    /// When it is not in the trash, or cannot be moved: then it stays there.
    pub fn restore(&self, trash: &TrashId) -> Result<SessionMeta, StoreError> {
        let io = self.io();
        let layout = &self.inner.layout;
        let from = layout.trash().join(&trash.0);
        let Some((was, at, _)) = parse(&trash.0) else { return Err(StoreError::NotInTrash { path: from }) };
        match io.lstat(&from) {
            Ok((PathKind::Dir | PathKind::Link, _)) => {}
            Ok(_) => return Err(StoreError::NotInTrash { path: from }),
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(StoreError::NotInTrash { path: from }),
            Err(error) => return Err(StoreError::io("read", &from, error)),
        }
        self.make_workspace(at)?;
        // The rename below replaces the empty directory that this makes, which nobody else can have meanwhile.
        let id = self.claim(&was, at)?;
        let dir = layout.session(&id);
        if let Err(error) = self.relocate(&from, &dir) {
            let _ = io.remove(&dir);
            return Err(error);
        }
        self.give_back_draft(&id, &dir);
        let named = if id == was { Ok(()) } else { self.refresh(&id).map(drop) };
        if let Err(error) = named {
            // It is told with the session: the directory's name counts.
            tracing::warn!(%error, "the header of a restored session has its old id");
        }
        let reader = self.reader(&id);
        Ok(match session::find(io, &dir) {
            Ok(found) => reader.meta(&found),
            Err(error) => {
                let mut meta = SessionMeta::new(id.clone(), at, Mode::default(), dir);
                meta.odd.push(error.to_string());
                meta
            }
        })
    }

    /// Content of the trash, newest first. Foreign and unreadable entries are left out.
    pub fn trash(&self) -> Vec<Trashed> {
        let io = self.io();
        let dir = self.inner.layout.trash();
        let mut out = Vec::new();
        for name in io.list(&dir).unwrap_or_default() {
            let Some((name, (session, deleted, cleared))) = name.to_str().and_then(|n| Some((n, parse(n)?))) else {
                continue;
            };
            let path = dir.join(name);
            if !io.lstat(&path).is_ok_and(|(kind, _)| kind == PathKind::Dir) {
                continue;
            }
            let entries = trees::below(io, &path).unwrap_or_default();
            let bytes = entries.iter().filter(|entry| entry.kind == PathKind::File).map(|entry| entry.stat.len).sum();
            let reader = SessionReader { io, id: &session, dir: path.clone(), home: &self.inner.home };
            let title = session::find(io, &path).map(|found| reader.meta(&found).shown_title().to_owned());
            let title = title.unwrap_or_default();
            out.push(Trashed { trash: TrashId(name.to_owned()), session, title, deleted, bytes, cleared });
        }
        out.sort_by(|a, b| (b.deleted, &a.trash).cmp(&(a.deleted, &b.trash)));
        out
    }

    /// Whole sessions in the trash with their directories, deleted last at the end.
    pub(in crate::store) fn trashed_sessions(&self) -> Vec<(TrashId, PathBuf)> {
        let dir = self.inner.layout.trash();
        let named = |name: String| parse(&name).filter(|(.., cleared)| !cleared).map(|(_, deleted, _)| (deleted, name));
        let mut found: Vec<(At, String)> = self.names(&dir).unwrap_or_default().into_iter().filter_map(named).collect();
        found.sort();
        found.into_iter().map(|(_, name)| (TrashId(name.clone()), dir.join(name))).collect()
    }

    /// Removes for good what was deleted before `older_than`, and what deaths left half made or half removed. Gives the
    /// number of sessions. Only names that lisle gives are touched.
    ///
    /// # Errors
    /// The first thing that could not be removed, after all others were tried.
    pub fn empty_trash(&self, older_than: At) -> Result<usize, StoreError> {
        let io = self.io();
        let trash = self.inner.layout.trash();
        let mut first = None;
        let mut removed = 0;
        for name in self.names(&trash)? {
            if parse(&name).is_some_and(|(_, deleted, _)| deleted < older_than) {
                match self.hide(&trash.join(name)).and_then(|hidden| trees::remove_all(io, &hidden)) {
                    Ok(()) => removed += 1,
                    Err(error) => first = first.or(Some(error)),
                }
            }
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis());
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        for dir in [&trash, &self.inner.layout.sessions()] {
            for name in self.names(dir)?.into_iter().filter(|name| layout::is_temp(name)) {
                let path = dir.join(name);
                let left = io.lstat(&path).is_ok_and(|(_, stat)| now.saturating_sub(stat.modified) > LEFT_MS);
                if left && let Err(error) = trees::remove_all(io, &path) {
                    first = first.or(Some(error));
                }
            }
        }
        first.map_or(Ok(removed), Err)
    }

    /// The names in a directory that are text; none when it is missing.
    fn names(&self, dir: &Path) -> Result<Vec<String>, StoreError> {
        match self.io().list(dir) {
            Ok(names) => Ok(names.into_iter().filter_map(|name| name.into_string().ok()).collect()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(StoreError::io("read", dir, error)),
        }
    }

    /// A free name in the trash, which is made where it is missing.
    pub(in crate::store) fn trash_name(
        &self,
        id: &SessionId,
        now: At,
        what: What,
    ) -> Result<(TrashId, PathBuf), StoreError> {
        let io = self.io();
        let layout = &self.inner.layout;
        let trash = layout.trash();
        match io.mkdir(&trash) {
            Ok(()) => self.sync_dir(&layout.workspace)?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(StoreError::io("make", &trash, error)),
        }
        let mut at = now;
        loop {
            let name = format!("{id}-{}{}", stamp(at), if what == What::Messages { CLEARED } else { "" });
            let path = trash.join(&name);
            match io.lstat(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok((TrashId(name), path)),
                Err(error) => return Err(StoreError::io("read", &path, error)),
                Ok(_) => at = at.plus(1),
            }
        }
    }

    /// The lock of a session that is to go, which may be past reading.
    fn hold_to_remove(&self, id: &SessionId) -> Result<crate::store::write::lock::Lock, StoreError> {
        match self.hold(id) {
            Ok((lock, _)) => Ok(lock),
            Err(error @ (StoreError::NoSession { .. } | StoreError::Held { .. })) => Err(error),
            Err(_) => self.lock_briefly(id),
        }
    }

    /// Moves a directory to a name that is free, or an empty directory, also across disks.
    fn relocate(&self, from: &Path, to: &Path) -> Result<(), StoreError> {
        let io = self.io();
        match io.rename(from, to) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::CrossesDevices => self.carry_over(from, to)?,
            Err(error) => return Err(StoreError::io("move", from, error)),
        }
        for dir in [to, from].iter().filter_map(|path| path.parent()) {
            if let Err(error) = self.sync_dir(dir) {
                // It is moved; only a power loss at this moment could undo it.
                tracing::warn!(%error, "a moved session was not forced to the disk");
            }
        }
        Ok(())
    }

    /// Copies a directory to another disk, whole, before the original goes.
    fn carry_over(&self, from: &Path, to: &Path) -> Result<(), StoreError> {
        let io = self.io();
        let temp = layout::temp(to);
        let copy = || -> Result<(), StoreError> {
            io.mkdir(&temp).map_err(|e| StoreError::io("make", &temp, e))?;
            let entries = trees::below(io, from)?;
            trees::copy_all(io, from, &entries, &temp, self.inner.fsync != crate::store::Fsync::Off)?;
            io.rename(&temp, to).map_err(|e| StoreError::io("move", from, e))
        };
        copy().inspect_err(|_| {
            let _ = trees::remove_all(io, &temp);
        })?;
        // It cannot stay in both places; the copy is what is taken back then.
        let hidden = self.hide(from).inspect_err(|_| {
            let _ = trees::remove_all(io, to);
        })?;
        if let Err(error) = trees::remove_all(io, &hidden) {
            tracing::warn!(%error, "a moved session's old files stay");
        }
        Ok(())
    }

    /// Gives a directory, or a link to one, a name that no list shows.
    fn hide(&self, path: &Path) -> Result<PathBuf, StoreError> {
        let hidden = layout::temp(path);
        self.io().rename(path, &hidden).map_err(|e| StoreError::io("remove", path, e))?;
        Ok(hidden)
    }

    /// Brings the draft of a restored session back to where drafts lie.
    fn give_back_draft(&self, id: &SessionId, dir: &Path) {
        let kept = dir.join(layout::DRAFT);
        let Ok(Some(draft)) = whole_file::read(self.io(), &kept) else { return };
        if !self.draft(id).is_empty() {
            // One that was begun meanwhile is not overwritten; the old one stays beside the session.
            return;
        }
        let back = self.put_draft(id, &draft);
        let done = back.and_then(|()| self.io().remove(&kept).map_err(|e| StoreError::io("remove", &kept, e)));
        if let Err(error) = done {
            tracing::warn!(%error, "the draft of a restored session stays in its directory");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_trash_come_back_and_others_are_not_ours() {
        let id = SessionId::parse("260902-swift-river").unwrap();
        for at in [At(0), At(1_795_300_000_007), At(1_795_305_599_999)] {
            let name = format!("{id}-{}", stamp(at));
            assert_eq!(parse(&name), Some((id.clone(), at, false)), "{name}");
            assert_eq!(parse(&format!("{name}-cleared")), Some((id.clone(), at, true)));
        }
        assert_eq!(stamp(At(1_795_300_000_007)), "20261121T222640007Z");
        for other in ["260902-swift-river", "a-20261122T013000Z", "a b-20261122T013000123Z", ".lisle-1-2.tmp", "", "-"]
        {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
