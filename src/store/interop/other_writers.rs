//! Others at the same session: another program that writes the file anew, and a lisle that takes the session over.
//!
//! The file is looked at before and after each write. What is found there becomes the base of what we write: the header
//! is merged three ways, rows of ours that are missing come again (`shadow_log` pairs them). Who finds that the session was
//! taken over writes nothing more.

use super::merge::{Merged, without_the_past};
use super::shadow_log::{Paired, pair};
use crate::domain::session::SessionMeta;
use crate::store::StoreError;
use crate::store::format::{layout, row};
use crate::store::io::{Stat, lines, whole_file};
use crate::store::read::session::{self, FoundSession, SessionReader};
use crate::store::write::journal::Journal;
use crate::store::write::ownership::{Elsewhere, busy};
use std::io::ErrorKind;
use std::time::Duration;

/// Between another program's unlink and its rename there are microseconds; this often, this long, they are waited for.
const GAP_TRIES: u32 = 40;
const GAP: Duration = Duration::from_millis(2);
/// Number of attempts to read a file that another program replaces meanwhile.
const TRIES: u32 = 8;

/// Bytes from its end in which a file has our last row, if its writer knew of it.
const PAST: u64 = 4 << 20;

impl Journal {
    /// Actions of others on the session, as far as they were noticed.
    pub fn elsewhere(&self) -> &Elsewhere {
        self.ownership.elsewhere()
    }

    /// The session is worth looking at now and then though nothing is written.
    pub fn watched(&self) -> bool {
        self.ownership.lost().is_none()
            && (self.store.inner.foreign || !self.ownership.lock().granted() || self.store.is_remote())
    }

    /// Looks whether another one wrote the session, and writes again what it left out.
    ///
    /// # Errors
    /// When the files cannot be read, or what is missing could not be written yet.
    pub fn look(&mut self) -> Result<(), StoreError> {
        if self.lifecycle.is_closed() || !self.watched() {
            return Ok(());
        }
        self.mine()?;
        if self.file.ino() != 0 || self.file.is_repaired() {
            let stat = self.present()?;
            if stat.ino != self.file.ino() || stat.len < self.file.len() {
                self.adopt()?;
            }
        }
        // What has no file gets one with the first write, and is paired with it then.
        let known = self.file.ino() != 0 || self.file.is_repaired();
        let there = known || self.store.io().stat(&self.path()).is_ok();
        if self.copies.is_unpaired() && there && !self.pair_ours()? {
            self.adopt()?;
        }
        // Nothing of ours is missing: a session that is only looked at stays as it is.
        if self.lifecycle.is_touched() || self.row_queue.iter().any(|row| row.kept) {
            self.lifecycle.touch();
            self.retry()?;
        }
        Ok(())
    }

    /// Looks whether somebody took the session over, between two writes.
    ///
    /// # Errors
    /// [`StoreError::TakenOver`].
    pub fn still_mine(&mut self) -> Result<(), StoreError> {
        if self.lifecycle.is_closed() { Ok(()) } else { self.mine() }
    }

    /// Checks that no process took the session over. Asks for a lock that was not granted yet.
    pub(in crate::store) fn mine(&mut self) -> Result<(), StoreError> {
        if self.ownership.check() {
            // The last one that can be missing because of two who write.
            self.copies.set_unpaired_if_logged();
        }
        let Some(holder) = self.ownership.lost().map(str::to_owned) else { return Ok(()) };
        let unwritten = self.row_queue.len();
        if unwritten > 0 {
            // Beside the session, where it is in nobody's way.
            let text: String = self.row_queue.iter().map(|row| row.line.as_str()).collect();
            self.salvage(text.as_bytes())?;
            self.row_queue.clear();
        }
        let unwritten = self.ownership.add_unwritten(unwritten);
        Err(StoreError::TakenOver { path: self.dir.clone(), holder, unwritten })
    }

    /// The session's file as it is now. Where another program is about to give it its name, that is waited for.
    pub(in crate::store) fn appear(&self) -> std::io::Result<Stat> {
        let io = self.store.io();
        let mut tries = 0;
        loop {
            match io.stat(&self.path()) {
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                    tries += 1;
                    let comes = io.stat(&self.dir.join(layout::THEIR_TEMP)).is_ok();
                    // It may have got its name right after it was missed.
                    if tries > GAP_TRIES || (tries > 2 && !comes) {
                        return Err(error);
                    }
                }
                done => return done,
            }
            if tries > 1 {
                std::thread::sleep(GAP);
            }
        }
    }

    /// The same for a file that was there before; if it is gone for good, it comes back where that can be done.
    pub(in crate::store) fn present(&mut self) -> Result<Stat, StoreError> {
        let io = self.store.inner.io.clone();
        let missing = match self.appear() {
            Ok(stat) => {
                self.ownership.back();
                return Ok(stat);
            }
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => error,
            Err(error) => return Err(self.error("write", error)),
        };
        if io.stat(&self.dir).is_err() {
            self.ownership.gone();
            return Err(self.error("write", missing));
        }
        // What they left under their temporary name is taken over when it is old enough.
        self.adopt_temp()?;
        if self.file.ino() != 0 {
            self.copies.set_unpaired_if_logged();
        } else {
            self.restore(missing)?;
        }
        io.stat(&self.path()).map_err(|e| self.error("write", e))
    }

    /// Restores a file that was removed, from the descriptor that is still open here.
    fn restore(&mut self, missing: std::io::Error) -> Result<(), StoreError> {
        let io = self.store.inner.io.clone();
        let path = self.path();
        let Some(file) = self.file.appending().filter(|_| self.file.len() > 0) else {
            self.ownership.gone();
            return Err(self.error("write", missing));
        };
        let bytes = lines::range(&*io, file, 0, self.file.len()).map_err(|e| self.error("read", e))?;
        whole_file::replace(&*io, &path, &bytes, true)?;
        self.store.sync_dir(&self.dir)?;
        let found = session::find(&*io, &self.dir)?;
        self.take_found(found).map(drop)
    }

    /// Goes on with the file that was found. False when its name is another one's by now.
    pub(in crate::store) fn take_found(&mut self, found: FoundSession) -> Result<bool, StoreError> {
        let io = self.store.inner.io.clone();
        self.copies.moved();
        // They stand in another file, or are paired with those of this one.
        self.sync_state.forget();
        let path = self.path();
        Ok(self.file.adopt(found, &*io, &path))
    }

    /// Another program replaced the file or its line 1: what is there now is the base of what we write, but for what
    /// we changed and did not write yet.
    pub(in crate::store) fn adopt(&mut self) -> Result<(), StoreError> {
        for _ in 0..TRIES {
            if self.adopt_header()? && self.pair_ours()? {
                if self.ownership.rewrites() > 0 {
                    // From here on it may come again.
                    self.copies.start_log(&self.store, &self.dir);
                }
                return Ok(());
            }
        }
        Err(self.error("read", busy()))
    }

    fn adopt_header(&mut self) -> Result<bool, StoreError> {
        self.copies.set_unpaired(true);
        let io = self.store.inner.io.clone();
        self.present()?;
        let found = session::find(&*io, &self.dir)?;
        if found.ino == 0 {
            // Taken away once more; what was found is its temporary name.
            return Err(self.error("read", busy()));
        }
        let reader = SessionReader { io: &*io, id: &self.id, dir: self.dir.clone(), home: &self.store.inner.home };
        let theirs = reader.meta(&found);
        let mut counted = reader.recount(&found, &theirs)?;
        for waits in self.row_queue.iter() {
            let rows = row::read(waits.line.as_bytes(), 0, 0, &self.dir).rows;
            rows.iter().for_each(|row| session::count(&mut counted, row));
        }
        self.header.set_counted(counted);
        let past = self.is_past(&found, &theirs)?;
        let seen = if past { without_the_past(self.header.base(), &theirs) } else { theirs.clone() };
        self.header.adopt(theirs, &seen);
        let replaced = found.ino != self.file.ino() || self.is_overwritten(found.ino)?;
        self.remember_ours(&found)?;
        let same = self.take_found(found)?;
        self.header.set_due(true);
        if replaced {
            self.ownership.rewritten();
        }
        self.copies.set_unpaired(true);
        Ok(same)
    }

    /// True if their content is an earlier one of ours: before our last row, or before our last
    /// mark of what is read.
    fn is_past(&self, found: &FoundSession, theirs: &SessionMeta) -> Result<bool, StoreError> {
        let base = self.header.base();
        if base.usage.output_tokens > theirs.usage.output_tokens && base.messages <= theirs.messages {
            return Ok(true);
        }
        if theirs.last_read != base.last_read && theirs.last_read.as_ref().is_some_and(|id| self.header.was_read(id)) {
            return Ok(true);
        }
        let (Some(id), Some(file)) = (self.copies.last(), &found.file) else { return Ok(false) };
        let from = found.len.saturating_sub(PAST).max(found.head.body);
        let bytes = lines::range(self.store.io(), file, from, found.len).map_err(|e| self.error("read", e))?;
        let id = format!("\"{}\"", id.as_str());
        // Without any row it was cleared by a person.
        Ok(!bytes.trim_ascii().is_empty() && memchr::memmem::find(&bytes, id.as_bytes()).is_none())
    }

    /// Their changes of the properties since the last call.
    pub fn take_merged(&mut self) -> Option<Merged> {
        self.header.take_merged()
    }

    /// Looks which of our rows another program left out or changed. The former wait for the next write. False when the
    /// file is not the one that we know any more.
    fn pair_ours(&mut self) -> Result<bool, StoreError> {
        let mut lines = match self.copies.log() {
            Some(ours) => ours.read()?,
            None => self.copies.unsure().to_vec(),
        };
        for waits in self.row_queue.iter().filter(|row| row.kept) {
            if let Some(at) = lines.iter().rposition(|line| *line == waits.line) {
                lines.remove(at);
            }
        }
        let mut paired = Paired::default();
        if !lines.is_empty() {
            let io = self.store.inner.io.clone();
            let (file, stat) = session::open(&*io, &self.path()).map_err(|e| self.error("read", e))?;
            if stat.ino != self.file.ino() {
                return Ok(false);
            }
            // All of it: where its rows begin is known of the file that was looked at last.
            let rows = lines::range(&*io, &file, 0, stat.len).map_err(|e| self.error("read", e))?;
            paired = pair(lines, &rows, self.file.head().sound && !rows.is_empty());
        }
        let Paired { missing, displaced, kept, .. } = paired;
        if !displaced.is_empty() {
            self.salvage(displaced.concat().as_bytes())?;
            let waits = self.row_queue.iter().filter(|row| row.kept).map(|row| row.line.clone());
            let stay: Vec<String> = kept.iter().chain(&missing).cloned().chain(waits).collect();
            if let Some(ours) = self.copies.log_mut() {
                ours.replace(&stay)?;
            }
        }
        self.copies.paired();
        for line in missing.into_iter().rev() {
            for row in row::read(line.as_bytes(), 0, 0, &self.dir).rows {
                self.header.count(&row);
            }
            let id = row::id_of(&line);
            self.row_queue.push_missing(line, id);
            self.sync_state.want(self.fsyncs());
            self.header.set_due(true);
        }
        Ok(true)
    }

    /// Length of the file, which is checked before each row. Changes by others are taken in.
    pub(in crate::store) fn there(&mut self) -> Result<u64, StoreError> {
        let stat = self.present()?;
        if stat.ino != self.file.ino()
            || (stat.len < self.file.len() && !self.file.is_torn())
            || self.is_overwritten(stat.ino)?
        {
            self.adopt()?;
            return Ok(self.file.len());
        }
        if self.copies.is_unpaired() && !self.pair_ours()? {
            self.adopt()?;
            return Ok(self.file.len());
        }
        if stat.len > self.file.len() && !self.file.is_torn() && !self.stray(stat.len)? {
            return Ok(self.file.len());
        }
        Ok(stat.len)
    }

    /// Rows that somebody added behind ours: whoever was taken over from, in the middle of a write. False when they were
    /// taken away because we wrote them ourselves, as rows that were interrupted.
    fn stray(&mut self, len: u64) -> Result<bool, StoreError> {
        let io = self.store.inner.io.clone();
        // Not by its name, which may be another file's by now.
        let Some(file) = self.file.appending() else { return Ok(true) };
        let bytes = lines::range(&*io, file, self.file.len(), len).map_err(|e| self.error("read", e))?;
        let whole = |line: &&[u8]| !line.trim_ascii().is_empty();
        let read = bytes.split(|b| *b == b'\n').filter(whole).map(|line| row::read(line, 0, 0, &self.dir));
        let rows: Vec<_> = read.flat_map(|line| line.rows).collect();
        if self.row_queue.written_elsewhere(&rows) {
            self.salvage(&bytes)?;
            io.truncate(file, self.file.len()).map_err(|e| self.error("write", e))?;
            return Ok(false);
        }
        rows.iter().for_each(|row| self.header.count(row));
        self.header.set_due(true);
        Ok(true)
    }

    /// Once the lock is ours and everything is there, nobody can take rows out any more.
    pub(in crate::store) fn retire_ours(&mut self) -> Result<(), StoreError> {
        let idle = !self.copies.is_unpaired() && self.row_queue.is_empty() && self.ownership.rewrites() == 0;
        let done = idle && self.copies.is_log_for_now() && self.ownership.lock().granted();
        if let Some(ours) = self.copies.log_mut().filter(|_| done) {
            ours.remove()?;
            self.copies.end_log();
        }
        Ok(())
    }

    /// Looks once more after a row was written: it may have gone to a file that was replaced in between.
    pub(in crate::store) fn written(&mut self, line: &str) -> Result<(), StoreError> {
        let now = self.store.io().stat(&self.path());
        if now.as_ref().is_ok_and(|stat| stat.ino == self.file.ino()) {
            return Ok(());
        }
        // One that was taken over from cannot know where its row went: it counts as unwritten.
        if self.mine().is_err() {
            self.ownership.add_unwritten(1);
            return self.salvage(line.as_bytes()).and_then(|()| self.mine());
        }
        self.copies.doubt(line);
        self.copies.set_unpaired(true);
        Ok(())
    }
}
