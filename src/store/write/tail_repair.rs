//! Repairs of `session.jsonl`, made only by the holder of the lock and only before its first write.
//!
//! Nothing is thrown away: what is cut off or displaced goes to `session.jsonl.salvage` first.

use super::journal::Journal;
use crate::store::StoreError;
use crate::store::format::row::{self, Oddity};
use crate::store::format::{header, layout};
use crate::store::io::{How, Io, lines, whole_file};
use crate::store::read::session;
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Another program's temporary file that is younger is being written.
pub(in crate::store) const THEIR_TEMP_MS: i64 = 60_000;
const CHUNK: u64 = 1 << 20;
/// Number of times that a file is put back that another program wrote meanwhile.
const SWAPS: u32 = 16;

impl Journal {
    /// Makes the file fit for appending. Does nothing once it is.
    pub(in crate::store) fn mend(&mut self) -> Result<(), StoreError> {
        if self.file.is_repaired() {
            return Ok(());
        }
        let io = self.store.inner.io.clone();
        for name in io.list(&self.dir).map_err(|e| StoreError::io("read", &self.dir, e))? {
            // Left by a writer that died; there is none but us, or one that was taken over from.
            if self.ownership.lock().granted() && name.to_str().is_some_and(layout::is_temp) {
                let _ = io.remove(&self.dir.join(&name));
            }
        }
        match self.appear() {
            Ok(stat) => {
                if stat.ino != self.file.ino() {
                    self.adopt()?;
                } else {
                    self.file.measured(stat);
                }
                self.mend_tail()?;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => self.adopt_temp()?,
            Err(error) => return Err(self.error("read", error)),
        }
        if !self.file.head().sound {
            self.write_header(true)?;
        }
        self.file.set_repaired();
        Ok(())
    }

    /// A last line without a newline gets one when it can be read; else it goes to salvage.
    fn mend_tail(&mut self) -> Result<(), StoreError> {
        let io = self.store.inner.io.clone();
        let file = io.open(&self.path(), How::Extend).map_err(|e| self.error("write", e))?;
        let (len, body) = (self.file.len(), self.file.head().body);
        let start = body.min(len);
        let torn = if body == len {
            // No rows: the header itself may lack its newline, or may be no header.
            let last = lines::range(&*io, &file, len.saturating_sub(1), len);
            let ended = last.map_err(|e| self.error("read", e))? == b"\n";
            if len == 0 || ended {
                None
            } else if self.file.head().sound {
                self.file.set_without_slot();
                Some((len, true))
            } else {
                Some((0, false))
            }
        } else {
            let page = lines::before(&*io, &file, start, len, 1).map_err(|e| self.error("read", e))?;
            page.lines.last().and_then(|line| {
                let ended = line.at + (line.bytes.len() as u64) < len;
                let read = row::read(&line.bytes, line.at, 0, &self.dir);
                let whole = !matches!(read.odd, Some(Oddity::Unreadable));
                (!ended).then_some((line.at, whole && !read.rows.is_empty()))
            })
        };
        match torn {
            Some((_, true)) => {
                io.append(&file, b"\n").map_err(|e| self.error("write", e))?;
                self.file.newline_added();
            }
            Some((at, false)) => {
                let bytes = lines::range(&*io, &file, at, len).map_err(|e| self.error("read", e))?;
                self.salvage(&bytes)?;
                io.truncate(&file, at).map_err(|e| self.error("write", e))?;
                self.file.cut_off(at);
            }
            None => {}
        }
        self.file.hold(file);
        Ok(())
    }

    /// Keeps bytes that leave the file.
    pub(in crate::store) fn salvage(&self, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.dir.join(layout::SALVAGE);
        let io = &*self.store.inner.io;
        let write = || -> std::io::Result<()> {
            let file = io.open(&path, How::Append)?;
            io.append(&file, bytes)?;
            if !bytes.ends_with(b"\n") {
                io.append(&file, b"\n")?;
            }
            io.fsync(&file)
        };
        write().map_err(|e| StoreError::io("write", &path, e))
    }

    /// The file is missing: what another program left whole under its temporary name becomes it.
    pub(in crate::store) fn adopt_temp(&mut self) -> Result<(), StoreError> {
        let io = self.store.inner.io.clone();
        let theirs = self.dir.join(layout::THEIR_TEMP);
        // One that is still open here comes back, unless theirs is whole.
        self.file.name_lost();
        let Ok(stat) = io.stat(&theirs) else { return Ok(()) };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis());
        let young = i64::try_from(now).unwrap_or(i64::MAX).saturating_sub(stat.modified) < THEIR_TEMP_MS;
        if young {
            let error = std::io::Error::new(
                ErrorKind::WouldBlock,
                "another program is writing session.jsonl.tmp; taken over after a minute",
            );
            return Err(self.error("write", error));
        }
        let bytes = whole_file::read(&*io, &theirs)?.unwrap_or_default();
        if bytes.is_empty() {
            return Ok(());
        }
        // The other program removes its temporary file sooner or later, whole or not.
        self.salvage(&bytes)?;
        if !matches!(header::first(&bytes), header::First::Header { .. }) {
            return Ok(());
        }
        // What was being written when it died has no end: the lines before it were shown, and stay.
        let end = match memchr::memrchr(b'\n', &bytes) {
            Some(last) if serde_json::from_slice::<serde::de::IgnoredAny>(&bytes[last + 1..]).is_err() => last + 1,
            _ => bytes.len(),
        };
        whole_file::replace(&*io, &self.path(), &bytes[..end], true)?;
        self.store.sync_dir(&self.dir)?;
        let found = session::find(&*io, &self.dir)?;
        self.take_found(found).map(drop)
    }

    /// Writes the file anew with this line 1; every other byte stays. Nothing is ever missing: the new file is whole
    /// before it takes the name. False when another program replaced the file meanwhile: theirs stays.
    pub(in crate::store) fn rewrite(&mut self, line: &str) -> Result<bool, StoreError> {
        if self.sync_state.has_failed() {
            // What is copied below may be what a failed fsync threw away.
            self.sync()?;
        }
        let io = self.store.inner.io.clone();
        let path = self.path();
        let temp = layout::temp(&path);
        let mut now = 0;
        let old = match io.open(&path, How::Read) {
            Ok(file) => Some(file),
            // A new one, which nobody else knows.
            Err(error) if error.kind() == ErrorKind::NotFound && self.file.ino() == 0 => None,
            // Another program is between its unlink and its rename.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(self.error("read", error)),
        };
        let body = self.file.head().body;
        // Also what somebody appended without our knowing.
        let (len, copied) = match &old {
            Some(_) => {
                let stat = io.stat(&path).map_err(|e| self.error("read", e))?;
                (stat.len, stat.ino)
            }
            None => (0, 0),
        };
        if copied != self.file.ino() && old.is_some() && self.file.ino() != 0 {
            return Ok(false);
        }
        if let Some(old) = old.as_ref().filter(|_| self.file.head().displaced && body > 0) {
            let bytes = lines::range(&*io, old, 0, body).map_err(|e| self.error("read", e))?;
            self.salvage(&bytes)?;
            self.file.displaced_saved();
        }
        let mut write = || -> std::io::Result<Option<File>> {
            let file = io.open(&temp, How::New)?;
            io.append(&file, line.as_bytes())?;
            io.append(&file, b"\n")?;
            if let Some(old) = &old {
                copy(&*io, old, body, len, &file)?;
            }
            if self.store.inner.fsync != crate::store::Fsync::Off {
                io.fsync(&file)?;
            }
            now = io.stat(&temp)?.ino;
            if old.is_none() {
                io.rename(&temp, &path)?;
                return Ok(Some(file));
            }
            let taken = exchange(&*io, &temp, now, &path, copied)?;
            Ok(taken.then_some(file))
        };
        let file = write().map_err(|error| {
            // Best effort; the next writer removes what stays.
            let _ = io.remove(&temp);
            self.error("write", error)
        })?;
        let Some(file) = file else { return Ok(false) };
        // From here on the new file counts, also when the next calls fail.
        self.file.replaced(file, now, header::hash(line.as_bytes()), line.len() + 1);
        self.sync_state.done();
        self.copies.moved();
        self.store.sync_dir(&self.dir)?;
        Ok(true)
    }
}

/// Adds the bytes `from` to `to` of a file to another one.
fn copy(io: &dyn Io, old: &File, from: u64, to: u64, new: &File) -> std::io::Result<()> {
    let mut at = from;
    while at < to {
        let bytes = lines::range(io, old, at, (at + CHUNK).min(to))?;
        if bytes.is_empty() {
            break;
        }
        io.append(new, &bytes)?;
        at += bytes.len() as u64;
    }
    Ok(())
}

/// Puts the file `temp`, with the inode `new`, in the place of `path`, if that is the file `old`. False when another
/// program had replaced it: then its newest file stays. `temp` is gone in any case but an error.
fn exchange(io: &dyn Io, temp: &Path, new: u64, path: &Path, old: u64) -> std::io::Result<bool> {
    let (mut placed, mut expected) = (new, old);
    // Each time that something else than expected comes out, it is newer than what was put in: it goes back.
    for _ in 0..SWAPS {
        match io.swap(temp, path) {
            Ok(()) => {}
            // Between their unlink and their rename: their file comes.
            Err(error) if error.kind() == ErrorKind::NotFound && placed == new => {
                io.remove(temp)?;
                return Ok(false);
            }
            // What cannot swap cannot tell more than this.
            Err(_) if placed == new => {
                if io.stat(path)?.ino != old {
                    io.remove(temp)?;
                    return Ok(false);
                }
                io.rename(temp, path)?;
                return Ok(true);
            }
            Err(error) => return Err(error),
        }
        // What cannot be looked at stays under the temporary name, which the next writer removes.
        let Ok(out) = io.stat(temp).map(|stat| stat.ino) else { return Ok(placed == new) };
        if out == expected {
            let _ = io.remove(temp);
            return Ok(placed == new);
        }
        (placed, expected) = (out, placed);
    }
    Err(super::ownership::busy())
}
