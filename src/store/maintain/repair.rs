//! Repairs of a session's files, of what can be helped.
//!
//! A repair needs the lock and keeps a copy of every file that it changes; lines that are no rows go to
//! `session.jsonl.salvage`. What is to be done `verify` finds out. What a writer does by itself (folding what a death
//! left, taking away temporary files) is left to `journal` and `tail_repair`.

use super::trash;
use super::verify::{Examined, Lock, now};
use crate::domain::SessionId;
use crate::domain::session::SessionMeta;
use crate::domain::session_health::HealthReport;
use crate::store::format::header::{self, First, Home, Second};
use crate::store::format::row::{self, Oddity};
use crate::store::format::{damaged_line, layout};
use crate::store::io::{How, Io, lines, trees, whole_file};
use crate::store::open::Access;
use crate::store::read::session::{self, FoundSession, SessionReader};
use crate::store::write::journal::Journal;
use crate::store::write::lock::LockOutcome;
use crate::store::{Fsync, Store, StoreError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

impl Store {
    /// Repairs what can be, and says how the files are then and what was done. A sound session stays as it is. What is
    /// changed is kept first, under names that end with `.before-repair-` and the time.
    ///
    /// # Errors
    /// [`StoreError::Held`] when another one writes the session; when something cannot be read or written: nothing is
    /// lost then, and it can be tried again.
    pub fn repair(&self, id: &SessionId) -> Result<HealthReport, StoreError> {
        let (lock, found) = self.hold(id)?;
        let seen = self.examine(id, &found, Lock::Ours)?;
        if seen.report.repairs.is_empty() {
            return Ok(seen.report);
        }
        let io = self.io();
        let reader = self.reader(id);
        let theirs = reader.dir.join(layout::THEIR_TEMP);
        let adopted = found.ino == 0 && found.file.is_some();
        if adopted && self.is_young(&theirs) {
            let error =
                std::io::Error::new(ErrorKind::WouldBlock, "another program is writing it; try again in a minute");
            return Err(StoreError::io("take over", &theirs, error));
        }
        self.keep_copies(&reader.dir, adopted, seen.anew)?;
        if seen.anew {
            self.write_anew(&reader, &found, &seen)?;
        }
        // The rest is what a writer does before and with its first write.
        let loaded = self.loaded(id, 1, LockOutcome::Granted(lock), true)?;
        let (meta, own) = (loaded.meta, loaded.own);
        if let Access::Writer(mut journal) = loaded.access {
            journal.set_meta(SessionMeta { held_by: None, ..meta }, own);
            journal.close()?;
        }
        if adopted {
            // Its copy stays; here it would be taken for the file of a program that is writing.
            io.remove(&theirs).map_err(|e| StoreError::io("remove", &theirs, e))?;
        }
        let found = session::find(io, &reader.dir)?;
        let after = self.examine(id, &found, Lock::Anybody)?;
        Ok(HealthReport { repairs: seen.report.repairs, repaired: true, ..after.report })
    }

    /// Keeps what the repair changes.
    fn keep_copies(&self, dir: &Path, adopted: bool, anew: bool) -> Result<(), StoreError> {
        let io = self.io();
        let stamp = trash::stamp(now());
        let source = if adopted { layout::THEIR_TEMP } else { layout::SESSION };
        for (from, name) in [(source, layout::SESSION), (layout::HEADER, layout::HEADER), (layout::LIVE, layout::LIVE)]
        {
            let from = dir.join(from);
            match io.lstat(&from) {
                Ok((_, stat)) if stat.len > 0 || name == layout::SESSION => {}
                Ok(_) => continue,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(StoreError::io("read", &from, error)),
            }
            let to = dir.join(format!("{name}.before-repair-{stamp}"));
            // A file that is replaced can live on under the other name; one that is written in place cannot.
            let replaced = name == layout::SESSION && (anew || adopted);
            if !(replaced && io.link(&from, &to).is_ok()) {
                let temp = layout::temp(&to);
                trees::copy(io, &from, &temp, self.inner.fsync != Fsync::Off)?;
                io.rename(&temp, &to).map_err(|e| StoreError::io("write", &to, e))?;
            }
        }
        self.sync_dir(dir)
    }

    /// Writes `session.jsonl` anew: a sound header, a line for each row; what is none goes to salvage before.
    fn write_anew(&self, reader: &SessionReader<'_>, found: &FoundSession, seen: &Examined) -> Result<(), StoreError> {
        let io = self.io();
        let path = reader.dir.join(layout::SESSION);
        let sync = self.inner.fsync != Fsync::Off;
        let error = |e| StoreError::io("write", &path, e);
        let before = match &found.file {
            Some(file) => lines::range(io, file, 0, found.head.body).map_err(|e| StoreError::io("read", &path, e))?,
            None => Vec::new(),
        };
        let (line, fields) = self.sound_header(reader, found, seen, &before)?;
        let mut salvage = Salvage { io, path: reader.dir.join(layout::SALVAGE), file: None };
        if found.head.displaced && !session::blank(&before) {
            salvage.keep(before.strip_suffix(b"\n").unwrap_or(&before))?;
        }
        let temp = layout::temp(&path);
        let mut write = || -> Result<u64, StoreError> {
            let mut out = trees::Lines::new(io, io.open(&temp, How::New).map_err(error)?);
            out.line(&line).map_err(error)?;
            if let Some(file) = &found.file {
                lines::each(io, file, found.head.body, found.len, |line| -> Result<(), Failed> {
                    if session::blank(line.bytes) {
                        return Ok(());
                    }
                    if line.len != line.bytes.len() as u64 {
                        return Ok(out.copy(file, line.at, line.at + line.len)?);
                    }
                    let whole = line.bytes.strip_suffix(b"\r").unwrap_or(line.bytes);
                    match row::read(whole, line.at, 0, &reader.dir).odd {
                        None | Some(Oddity::NotUtf8 | Oddity::UnknownType(_)) => out.line(whole)?,
                        Some(Oddity::Glued | Oddity::Unreadable | Oddity::NoMessage) => {
                            for piece in damaged_line::of(whole) {
                                let bytes = &whole[piece.at];
                                if piece.whole { out.line(bytes)? } else { salvage.keep(bytes)? }
                            }
                        }
                    }
                    Ok(())
                })
                .map_err(|failed| match failed {
                    Failed::Io(e) => error(e),
                    Failed::Store(e) => e,
                })?;
            }
            let (file, length) = out.end().map_err(error)?;
            if sync {
                io.fsync(&file).map_err(error)?;
            }
            salvage.end()?;
            Ok(length)
        };
        let put = write().and_then(|length| {
            let second = Second {
                before: found.head.hash.clone(),
                after: header::hash(&line),
                // Nothing of the old file is counted again, should the new one never take its place.
                length: length.max(found.len),
                header: fields,
                own: found.head.own.clone(),
                old: None,
            };
            whole_file::replace(io, &reader.dir.join(layout::HEADER), second.render().as_bytes(), sync)?;
            let there = io.stat(&path).map(|stat| stat.ino);
            if found.ino != 0 && !matches!(there, Ok(ino) if ino == found.ino) {
                let busy = std::io::Error::new(ErrorKind::WouldBlock, "another program wrote it meanwhile");
                return Err(error(busy));
            }
            io.rename(&temp, &path).map_err(error)
        });
        put.inspect_err(|_| {
            let _ = io.remove(&temp);
        })?;
        self.sync_dir(&reader.dir)
    }

    /// Line 1 as it is to be, and its keys. One that is too long for other programs stays as it came.
    fn sound_header(
        &self,
        reader: &SessionReader<'_>,
        found: &FoundSession,
        seen: &Examined,
        before: &[u8],
    ) -> Result<(Vec<u8>, crate::store::format::json::JsonFields), StoreError> {
        let base = reader.meta(found);
        let mut meta = base.clone();
        seen.counted.put_into(&mut meta);
        let mut fields = found.head.fields.clone();
        if !found.head.sound && !fields.has("createdAt") {
            meta.created = seen.began.unwrap_or(meta.created);
            fields = Journal::fresh_fields(&meta, &reader.dir, self);
        }
        header::encode(&mut fields, Some(&base), &meta, Home { dir: &reader.dir, home: &self.inner.home });
        header::encode_counted(&mut fields, &seen.counted);
        if found.head.long
            && let First::Header { start, end, .. } = header::first(before)
        {
            return Ok((before[start..end].trim_ascii_end().to_vec(), fields));
        }
        match header::line(&mut fields, header::SLOT) {
            Ok((line, _)) => Ok((line.into_bytes(), fields)),
            Err(excess) => Err(StoreError::HeaderTooLong { path: reader.dir.join(layout::SESSION), excess }),
        }
    }
}

/// `session.jsonl.salvage`, opened when something comes.
struct Salvage<'a> {
    io: &'a dyn Io,
    path: PathBuf,
    file: Option<std::fs::File>,
}

impl Salvage<'_> {
    fn keep(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let keep = |file: &mut Option<std::fs::File>| -> std::io::Result<()> {
            let file = match file {
                Some(file) => file,
                None => file.insert(self.io.open(&self.path, How::Append)?),
            };
            self.io.append(file, &[bytes, b"\n"].concat())
        };
        keep(&mut self.file).map_err(|e| StoreError::io("write", &self.path, e))
    }

    fn end(&mut self) -> Result<(), StoreError> {
        let Some(file) = self.file.take() else { return Ok(()) };
        self.io.fsync(&file).map_err(|e| StoreError::io("save", &self.path, e))
    }
}

enum Failed {
    Io(std::io::Error),
    Store(StoreError),
}

impl From<std::io::Error> for Failed {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
