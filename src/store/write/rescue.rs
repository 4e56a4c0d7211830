//! A refuge for what a session's files do not take: one file in the temp directory, text to read and then the rows.
//!
//! The rows stand behind [`ROWS`] as they would in a `session.jsonl`, header first, so that an import makes a session of
//! them. The file is written past [`crate::store::io::Io`]: the file calls that failed are the reason for it.

use super::journal::Journal;
use crate::domain::export::Format;
use crate::domain::message::{Message, UserText};
use crate::domain::unsaved::{Refuge, Unsaved};
use crate::domain::{SessionId, SessionMeta};
use crate::local_time::minute;
use crate::protocol::Queued;
use crate::store::format::header::{self, Home};
use crate::store::format::{layout, live, row};
use crate::store::io::{Disk, How, Io, lines, whole_file};
use crate::store::read::session;
use crate::store::{Store, StoreError};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// First line of the file.
pub(in crate::store) const TITLE: &str = "Part of a conversation that lisle could not save";
/// Line behind which the rows stand.
const ROWS: &str = "======== rows, for lisle sessions import ========";
/// Bytes of text that are told where no file can be written.
const TOLD: usize = 256 << 10;

/// Content that a session's files lack.
struct Remains<'a> {
    store: &'a Store,
    id: &'a SessionId,
    meta: &'a SessionMeta,
    header: String,
    why: String,
    /// Rows that only an open file has, whose name is gone: the file, from where, to where.
    file: Option<(&'a File, u64, u64)>,
    /// Lines of rows that were never written, in order.
    lines: Vec<String>,
    queue: &'a [Queued],
    draft: &'a UserText,
}

impl Journal {
    /// Puts what the session's files lack into a file of its own. `None` when they have everything.
    pub fn rescue(&mut self, why: &str, draft: &UserText) -> Option<Unsaved> {
        let gone = self.lifecycle.is_touched() && self.is_gone();
        let mut lines: Vec<String> = if gone { Vec::new() } else { self.unproven_lines() };
        lines.extend(self.row_queue.iter().map(|row| row.line.clone()));
        let stale = gone || self.live.stale || self.lifecycle.is_broken();
        if stale {
            // What cannot be read back stays away; the rest is as good as it was.
            if let Err(error) = self.live.restore() {
                tracing::warn!(%error, "text that was streaming could not be read back");
            }
            let rows = self.live.content.rows.iter().map(|entry| entry.row.clone()).collect();
            let open = live::folded(rows);
            lines.extend(open.iter().filter_map(|row| row::write(row, &self.dir)).map(|line| line + "\n"));
        }
        let queue: &[Queued] = if stale { &self.live.content.queue } else { &[] };
        let due = self.header.is_due() && self.lifecycle.is_touched() && self.ownership.lost().is_none();
        let title = self.header.meta().shown_title().to_owned();
        if !gone && lines.is_empty() && queue.is_empty() && draft.is_empty() {
            let refuge = Refuge::Salvage(self.dir.join(layout::SALVAGE));
            let unsaved = |rows| Unsaved { session: self.id.clone(), title, why: why.to_owned(), rows, refuge };
            if self.ownership.unwritten() > 0 {
                return Some(unsaved(self.ownership.unwritten()));
            }
            if !due {
                return None;
            }
        }
        let len = self.file.len();
        let body = self.file.head().body.min(len);
        let file = self.file.held().filter(|_| gone && len > body).map(|file| (file, body, len));
        let (store, meta, header) = (&self.store, self.header.meta(), self.header_line());
        let remains = Remains { store, id: &self.id, meta, header, why: why.to_owned(), file, lines, queue, draft };
        Some(remains.put())
    }

    /// Rows that were written and that a failed fsync may have thrown away.
    fn unproven_lines(&self) -> Vec<String> {
        let lines = self.sync_state.lines().iter().filter(|_| self.sync_state.has_failed());
        lines.map(|(_, line)| line.clone()).collect()
    }

    /// The name of the file that we write is gone: what was written to it is nowhere once we end.
    fn is_gone(&self) -> bool {
        let missing =
            |error: &io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
        self.store.io().stat(&self.path()).is_err_and(|error| missing(&error))
    }

    fn header_line(&self) -> String {
        let place = Home { dir: &self.dir, home: &self.store.inner.home };
        let mut meta = self.header.meta().clone();
        meta.id = self.id.clone();
        self.header.counted().put_into(&mut meta);
        let mut fields = self.file.head().fields.clone();
        if !fields.has("createdAt") {
            fields = Self::fresh_fields(&meta, &self.dir, &self.store);
        }
        header::encode(&mut fields, Some(self.header.base()), &meta, place);
        header::encode_counted(&mut fields, self.header.counted());
        fields.render()
    }
}

impl Store {
    /// Puts the rows of a session that could not be made on disk into a file of its own.
    #[must_use]
    pub fn rescue_new(&self, meta: &SessionMeta, rows: &[Message], why: &str, draft: &UserText) -> Unsaved {
        let dir = self.session_dir(&meta.id);
        let header = Journal::fresh_fields(meta, &dir, self).render();
        let lines = rows.iter().filter_map(|row| row::write(row, &dir)).map(|line| line + "\n").collect();
        let (id, why) = (&meta.id, why.to_owned());
        Remains { store: self, id, meta, header, why, file: None, lines, queue: &[], draft }.put()
    }

    /// The rows of a file that [`Journal::rescue`] made, as a folder with a `session.jsonl`; `None` for any other file.
    pub(in crate::store) fn unpacked(&self, path: &Path) -> Result<Option<PathBuf>, StoreError> {
        let error = |error| StoreError::io("import", path, error);
        let file = self.io().open(path, How::Read).map_err(error)?;
        if lines::range(self.io(), &file, 0, TITLE.len() as u64).map_err(error)? != TITLE.as_bytes() {
            return Ok(None);
        }
        let bytes = whole_file::read(self.io(), path)?.unwrap_or_default();
        let mark = format!("\n{ROWS}\n");
        // Its last one: the text before may quote it, a row cannot.
        let Some(at) = memchr::memmem::rfind(&bytes, mark.as_bytes()) else { return Ok(None) };
        let folder = self.inner.temp.join(format!(".lisle-import-{}-{:08x}", std::process::id(), fastrand::u32(..)));
        self.io().mkdir(&folder).map_err(error)?;
        let made = || -> io::Result<()> {
            let out = self.io().open(&folder.join(layout::SESSION), How::New)?;
            self.io().append(&out, &bytes[at + mark.len()..])
        };
        made().map_err(error)?;
        Ok(Some(folder))
    }
}

impl Remains<'_> {
    fn put(self) -> Unsaved {
        let name = format!("lisle-unsaved-{}-{:08x}.txt", self.id, fastrand::u32(..));
        let path = self.store.inner.temp.join(name);
        let mut rows = 0;
        let refuge = match self.write_file(&path, &mut rows) {
            Ok(()) => Refuge::File(path),
            Err(error) => {
                // What is there of it says less than what is told now.
                let _ = Disk.remove(&path);
                let why = format!("{}.", StoreError::io("write", &path, error));
                let mut text = Vec::new();
                rows = 0;
                // Into memory it cannot fail, and what cannot be read is not there.
                let _ = self.text(&mut text, &mut rows);
                let text = String::from_utf8_lossy(&text);
                let from = text.char_indices().rev().map(|(at, _)| at).find(|at| text.len() - at >= TOLD).unwrap_or(0);
                Refuge::Nowhere { why, text: text[from..].to_owned() }
            }
        };
        let title = self.meta.shown_title().to_owned();
        Unsaved { session: self.id.clone(), title, why: self.why, rows, refuge }
    }

    fn write_file(&self, path: &Path, rows: &mut usize) -> io::Result<()> {
        // Made here and with mode 0600, whatever lies in a folder that everybody may write.
        let file = Disk.open(path, How::New)?;
        let mut out = io::BufWriter::new(&file);
        self.text(&mut out, rows)?;
        writeln!(out, "\n{ROWS}\n{}", self.header)?;
        self.each(&mut |line| {
            out.write_all(line)?;
            if line.ends_with(b"\n") { Ok(()) } else { out.write_all(b"\n") }
        })?;
        out.flush()?;
        drop(out);
        Disk.fsync(&file)
    }

    fn text(&self, out: &mut dyn Write, rows: &mut usize) -> io::Result<()> {
        let dir = self.store.session_dir(self.id);
        writeln!(out, "{TITLE}\n\n{}\nfiles {}", Format::Text.head(self.meta, &minute).trim_end(), dir.display())?;
        writeln!(out, "{}", self.why)?;
        let mut last = self.meta.created;
        self.each(&mut |line| {
            let mut read = row::read(line.strip_suffix(b"\n").unwrap_or(line), 0, 0, &dir).rows;
            session::fill_times(&mut read, last);
            for row in &mut read {
                row::settle(row);
                last = row.at;
                *rows += 1;
                out.write_all(Format::Text.row(row, &minute).as_bytes())?;
            }
            Ok(())
        })?;
        for queued in self.queue {
            writeln!(out, "\nQueued:\n{}", queued.text)?;
        }
        if !self.draft.text.is_empty() {
            writeln!(out, "\nDraft:\n{}", self.draft.text)?;
        }
        for file in &self.draft.attachments {
            writeln!(out, "Attached: {}", file.path.display())?;
        }
        Ok(())
    }

    fn each(&self, show: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        if let Some((file, from, to)) = self.file {
            let io = self.store.io();
            lines::each(io, file, from, to, |line| -> io::Result<()> {
                if line.len == line.bytes.len() as u64 {
                    return show(line.bytes);
                }
                show(&lines::range(io, file, line.at, line.at + line.len)?)
            })?;
        }
        self.lines.iter().try_for_each(|line| show(line.as_bytes()))
    }
}
