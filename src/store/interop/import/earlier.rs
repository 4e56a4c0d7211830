//! Earlier imports of a conversation: their sessions, their rows, and what they lacked.

use super::rows::Sieve;
use super::{COUNTS, KnownImports, LEFT, MISSING, ORIGIN, Source, own_of};
use crate::domain::session::SessionMeta;
use crate::domain::{At, MessageId, SessionId};
use crate::store::format::header::First;
use crate::store::format::{layout, row};
use crate::store::io::lines;
use crate::store::read::session;
use crate::store::{Access, Journal, Store, StoreError};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

impl Store {
    /// The session of an earlier import, for writing.
    pub(super) fn writer_of_earlier(&self, id: &SessionId) -> Result<(Journal, SessionMeta), StoreError> {
        let loaded = self.load(id, 1)?;
        match loaded.access {
            Access::Writer(journal) => Ok((*journal, loaded.meta)),
            Access::Reader { held_by } => Err(StoreError::Held { path: self.session_dir(id), holder: held_by }),
        }
    }

    /// The ids of all rows that a source has, in order.
    pub(super) fn ids_of(&self, source: &Source) -> Result<Vec<MessageId>, StoreError> {
        let mut reading = source.reading.again();
        let mut sieve = Sieve::default();
        self.each_record(source.kind, &source.parts, &mut |value, line| {
            let (read, row) = (reading.read(&value, line), reading.row(&value, line));
            sieve.record(read, |index| source.row(&row, index));
            source.stop.check()
        })?;
        Ok(sieve.ids)
    }

    /// The ids of a session's rows in order, without what an import says of itself.
    pub(super) fn row_ids(&self, id: &SessionId) -> Result<Vec<MessageId>, StoreError> {
        let dir = self.session_dir(id);
        let found = session::find(self.io(), &dir)?;
        let mut out = Vec::new();
        if let Some(file) = &found.file {
            lines::each(self.io(), file, found.head.body, found.len, |line| -> io::Result<()> {
                if !session::blank(line.bytes) {
                    out.extend(row::read(line.bytes, line.at, 0, &dir).rows.into_iter().map(|row| row.id));
                }
                Ok(())
            })
            .map_err(|error| StoreError::io("read", &dir, error))?;
        }
        out.extend(self.lacking_rows(&self.reader(id), &found)?.into_iter().map(|row| row.id));
        out.retain(|id| !id.as_str().starts_with(LEFT));
        Ok(out)
    }

    /// True if the beginning of an imported session was not at hand.
    pub(super) fn lacked_records(&self, id: &SessionId) -> bool {
        let Ok(First::Header { fields, .. }) = self.first_bytes(&self.session_dir(id).join(layout::SESSION)) else {
            return false;
        };
        let counts = own_of(&fields).raw(COUNTS).and_then(|raw| serde_json::from_str(raw).ok());
        counts.is_some_and(|counts: BTreeMap<String, usize>| counts.get(MISSING).is_some_and(|count| *count > 0))
    }

    /// The earlier imports from there.
    pub(super) fn imported_before(&self, origin: &str) -> KnownImports {
        self.all_origins().remove(origin).unwrap_or_default()
    }

    /// The earlier imports of every conversation, those in the trash included.
    pub(super) fn all_origins(&self) -> HashMap<String, KnownImports> {
        let (ids, _) = self.ids().unwrap_or_default();
        let mut found: Vec<(At, SessionId, String)> = Vec::new();
        for id in ids {
            if let Some((created, origin)) = self.origin_in(&self.session_dir(&id)) {
                found.push((created, id, origin));
            }
        }
        found.sort();
        let mut out: HashMap<String, KnownImports> = HashMap::new();
        for (_, id, origin) in found {
            out.entry(origin).or_default().sessions.push(id);
        }
        for (trash, dir) in self.trashed_sessions() {
            if let Some((_, origin)) = self.origin_in(&dir) {
                out.entry(origin).or_default().trashed = Some(trash.0);
            }
        }
        out
    }

    /// Time of making and origin of the session in a directory, if it was imported.
    fn origin_in(&self, dir: &Path) -> Option<(At, String)> {
        let Ok(First::Header { fields, .. }) = self.first_bytes(&dir.join(layout::SESSION)) else { return None };
        Some((At(fields.number("createdAt").unwrap_or(0)), own_of(&fields).text(ORIGIN)?))
    }
}
