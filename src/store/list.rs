//! The list of sessions, from the first 8 KiB of each file, read by several threads.
//!
//! Sorting and filtering are left to whoever shows it.

use super::header::{self, First, Home, Second};
use super::io::How;
use super::{Store, layout, session, tail};
use crate::domain::notice::{Level, Notice};
use crate::domain::session::SessionMeta;
use crate::domain::{At, Mode, SessionId};
use std::io::ErrorKind;
use std::path::Path;

/// The sessions of a workspace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// All of them, hidden and archived ones included, in no order.
    pub sessions: Vec<SessionMeta>,
    /// What could not be listed.
    pub notices: Vec<Notice>,
}

/// From so many sessions on, another thread is worth its start.
const PER_THREAD: usize = 64;
/// A header that is longer than this is not looked for in a list.
const HEADER_AT_MOST: u64 = 1 << 20;

impl Store {
    /// Lists the sessions. A directory that cannot be read has a row that says so; one without any session file, as a
    /// death right after its making leaves it, has none.
    pub fn list(&self) -> Listing {
        let mut listing = Listing::default();
        let dir = self.inner.layout.sessions();
        let names = match self.io().list(&dir) {
            Ok(names) => names,
            Err(error) if error.kind() == ErrorKind::NotFound => return listing,
            Err(error) => {
                let text = format!("The sessions in {} cannot be listed: {error}.", dir.display());
                listing.notices.push(Notice::new(Level::Error, text).hint("Check the rights of the directory."));
                return listing;
            }
        };
        let mut ids = Vec::new();
        let mut strange = Vec::new();
        for name in names {
            match name.to_str().map(SessionId::parse) {
                Some(Ok(id)) => ids.push(id),
                // A session that is being made, or that was left by a death in its making or unmaking.
                _ if name.to_str().is_some_and(layout::is_temp) => {}
                // Files of other programs lie here too; only a directory could be a session.
                _ if self.io().stat(&dir.join(&name)).is_ok_and(|stat| stat.is_dir) => {
                    strange.push(name.to_string_lossy().into_owned());
                }
                _ => {}
            }
        }
        if !strange.is_empty() {
            strange.sort();
            let text = format!("Not listed, because their names are no session ids: {}.", strange.join(", "));
            let hint = format!("Rename them in {}: letters, digits, '_' and '-'.", dir.display());
            listing.notices.push(Notice::new(Level::Warning, text).hint(hint));
        }
        let threads = std::thread::available_parallelism().map_or(2, usize::from).min(8);
        let share = ids.len().div_ceil(threads).max(PER_THREAD);
        let mut shares = ids.chunks(share);
        let own = shares.next().unwrap_or_default();
        std::thread::scope(|scope| {
            let others: Vec<_> = shares
                .map(|share| (share, std::thread::Builder::new().spawn_scoped(scope, || self.rows(share)).ok()))
                .collect();
            listing.sessions = self.rows(own);
            for (share, thread) in others {
                // A thread that could not be had is no reason to leave its sessions out.
                let rows = thread.and_then(|thread| thread.join().ok()).unwrap_or_else(|| self.rows(share));
                listing.sessions.extend(rows);
            }
        });
        listing
    }

    fn rows(&self, ids: &[SessionId]) -> Vec<SessionMeta> {
        ids.iter().filter_map(|id| self.list_row(id)).collect()
    }

    /// One row of the list; `None` when the directory is no session.
    fn list_row(&self, id: &SessionId) -> Option<SessionMeta> {
        let dir = self.inner.layout.session(id);
        let unreadable = |why: String| {
            let mut meta = SessionMeta::new(id.clone(), At(0), Mode::default(), dir.clone());
            meta.odd.push(why);
            meta
        };
        match self.first_bytes(&dir.join(layout::SESSION)) {
            Ok((First::Header { fields, .. }, modified)) => {
                Some(header::decode(&fields, id, Home { dir: &dir, home: &self.inner.home }, At(modified)))
            }
            Ok(_) => Some(
                self.second(id, &dir)
                    .unwrap_or_else(|| self.whole_row(id, "Line 1, the header, cannot be read as one.")),
            ),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // Gone, or another program is between its unlink and its rename.
                let theirs = self.io().stat(&dir.join(layout::THEIR_TEMP)).is_ok();
                let ours = self.io().stat(&dir.join(layout::HEADER)).is_ok();
                (theirs || ours).then(|| self.whole_row(id, "session.jsonl is missing."))
            }
            // A file beside the sessions.
            Err(error) if error.kind() == ErrorKind::NotADirectory => None,
            Err(error) => Some(unreadable(format!("session.jsonl cannot be read: {error}."))),
        }
    }

    /// What the first bytes hold, and the time of the last change where that stands in for what a header lacks.
    fn first_bytes(&self, path: &Path) -> std::io::Result<(First, i64)> {
        let file = self.io().open(path, How::Read)?;
        let first = header::first(&tail::range(self.io(), &file, 0, header::SLOT_MAX as u64)?);
        let modified = match &first {
            First::Header { fields, .. } if fields.number("createdAt").is_none() => self.io().stat(path)?.modified,
            _ => 0,
        };
        Ok((first, modified))
    }

    /// The row from `header.json`.
    fn second(&self, id: &SessionId, dir: &Path) -> Option<SessionMeta> {
        let bytes = session::whole(self.io(), &dir.join(layout::HEADER)).ok()??;
        let place = Home { dir, home: &self.inner.home };
        let mut meta = header::decode(&Second::parse(&bytes)?.header, id, place, At(0));
        meta.odd.push("Line 1, the header, cannot be read by a list; this comes from header.json.".to_owned());
        Some(meta)
    }

    /// The row of a session whose header takes a longer look.
    fn whole_row(&self, id: &SessionId, otherwise: &str) -> SessionMeta {
        let dir = self.inner.layout.session(id);
        let large = self.io().stat(&dir.join(layout::SESSION)).is_ok_and(|stat| stat.len > HEADER_AT_MOST);
        if !large && let Ok(found) = session::find(self.io(), &dir) {
            let reader = session::Reader { io: self.io(), id, dir: dir.clone(), home: &self.inner.home };
            let mut meta = reader.meta(&found);
            if !found.head.sound
                && let Ok(page) = reader.page(&found, found.len, 200, meta.created)
            {
                let mut counted = header::Counted { last_message: At(0), ..header::Counted::default() };
                page.rows.iter().for_each(|row| session::count(&mut counted, row));
                meta.preview = counted.preview;
                meta.messages = counted.messages;
                if counted.last_message > At(0) {
                    meta.last_message = counted.last_message;
                }
            }
            return meta;
        }
        let mut meta = SessionMeta::new(id.clone(), At(0), Mode::default(), dir);
        meta.odd.push(otherwise.to_owned());
        meta
    }
}
