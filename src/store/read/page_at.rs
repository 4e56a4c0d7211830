//! Rows around a place in a large file, and the pages behind it, so that a hit far from the end can be shown.

use super::session::{self, FoundSession, SessionReader};
use crate::domain::{Message, SessionId};
use crate::store::format::{layout, row};
use crate::store::io::lines;
use crate::store::{Store, StoreError};

/// Rows around a place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Around {
    /// The rows, oldest first.
    pub rows: Vec<Message>,
    /// End of the page before, for [`Store::page`]; `None` at the beginning.
    pub earlier: Option<u64>,
    /// Start of the next page, for [`Store::page_after`]; `None` at the end of the file: the live rows follow.
    pub later: Option<u64>,
}

impl Store {
    /// About `rows` rows around byte `at`, which is in the row that is shown: half of them before it. What one side does
    /// not have, the other one gets. A place behind the end is the end, one in the header the beginning.
    ///
    /// # Errors
    /// When the session cannot be read.
    pub fn page_at(&self, id: &SessionId, at: u64, rows: usize) -> Result<Around, StoreError> {
        let reader = SessionReader { io: self.io(), id, dir: self.session_dir(id), home: &self.inner.home };
        let found = session::find(self.io(), &reader.dir)?;
        let created = reader.meta(&found).created;
        let rows = rows.max(1);
        let error = |error| StoreError::io("read", &reader.dir.join(layout::SESSION), error);
        let at = match &found.file {
            // Another program may have written the file anew since the hit was found.
            Some(file) => lines::line_start(self.io(), file, found.head.body, at.min(found.len)).map_err(error)?,
            None => return Ok(Around::default()),
        };
        let mut behind = after(&reader, &found, at, rows - rows / 2)?;
        let before = reader.page(&found, at, rows - behind.lines.min(rows - 1), created)?;
        if behind.next.is_some() && before.earlier.is_none() {
            behind = after(&reader, &found, at, rows.saturating_sub(before.rows.len()).max(1))?;
        }
        let mut all = before.rows;
        all.extend(behind.rows);
        if behind.next.is_none() {
            all.extend(self.settled_lacking(&reader, &found)?);
        }
        session::fill_times(&mut all, created);
        // A page has at least one row; at the beginning there is none before.
        Ok(Around { rows: all, earlier: before.earlier, later: behind.next })
    }

    /// The `rows` rows from byte `cursor` on, which is [`Around::later`] or what this gave before, and where the page
    /// behind begins.
    ///
    /// # Errors
    /// When the session cannot be read.
    pub fn page_after(
        &self,
        id: &SessionId,
        cursor: u64,
        rows: usize,
    ) -> Result<(Vec<Message>, Option<u64>), StoreError> {
        let reader = SessionReader { io: self.io(), id, dir: self.session_dir(id), home: &self.inner.home };
        let found = session::find(self.io(), &reader.dir)?;
        let created = reader.meta(&found).created;
        let mut page = after(&reader, &found, cursor.max(found.head.body), rows)?;
        if page.next.is_none() {
            page.rows.extend(self.settled_lacking(&reader, &found)?);
        }
        session::fill_times(&mut page.rows, created);
        Ok((page.rows, page.next))
    }

    /// Rows of ours that another program left out of the file: they stand behind its last one.
    fn settled_lacking(&self, reader: &SessionReader<'_>, found: &FoundSession) -> Result<Vec<Message>, StoreError> {
        let mut rows = self.lacking_rows(reader, found)?;
        rows.iter_mut().for_each(row::settle);
        Ok(rows)
    }
}

struct Behind {
    rows: Vec<Message>,
    lines: usize,
    next: Option<u64>,
}

fn after(reader: &SessionReader<'_>, found: &FoundSession, from: u64, lines: usize) -> Result<Behind, StoreError> {
    let Some(file) = &found.file else { return Ok(Behind { rows: Vec::new(), lines: 0, next: None }) };
    let (lines, next) = lines::after(reader.io, file, from, found.len, lines)
        .map_err(|error| StoreError::io("read", &reader.dir.join(layout::SESSION), error))?;
    let mut rows: Vec<Message> =
        lines.iter().flat_map(|line| row::read(&line.bytes, line.at, 0, &reader.dir).rows).collect();
    rows.iter_mut().for_each(row::settle);
    Ok(Behind { rows, lines: lines.len(), next })
}
