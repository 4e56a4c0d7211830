//! How a session's files are, and repairs of what can be helped.
//!
//! Looking changes nothing and holds one line in memory at a time. A repair needs the lock and keeps a copy of every
//! file that it changes; lines that are no rows go to `session.jsonl.salvage`. What a writer does by itself (folding
//! what a death left, taking away temporary files) is left to `journal` and `mend`.

use super::header::{self, Counted, First, Home, Second};
use super::io::{How, Io, Kind};
use super::journal::Journal;
use super::live;
use super::lock::{self, Asked};
use super::mend::THEIR_TEMP_MS;
use super::open::{Access, may_lack};
use super::ours::Ours;
use super::refers::{self, Refers};
use super::row::{self, Oddity};
use super::session::{self, Found, Reader};
use super::{Fsync, Store, StoreError, files, layout, pieces, tail, trash};
use crate::domain::inbox::HealthReport;
use crate::domain::message::Body;
use crate::domain::session::SessionMeta;
use crate::domain::{At, SessionId};
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Who has the session while it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lock {
    /// We do, for the repair.
    Ours,
    /// Whoever does is asked for.
    Anybody,
}

/// What was found out.
struct Examined {
    report: HealthReport,
    /// `session.jsonl` is to be written anew.
    anew: bool,
    /// What its rows are in all.
    counted: Counted,
    /// When the first row was written.
    began: Option<At>,
}

impl Store {
    /// Looks at all files of a session. Changes nothing.
    ///
    /// # Errors
    /// When there is no such session, or its files cannot be read.
    pub fn verify(&self, id: &SessionId) -> Result<HealthReport, StoreError> {
        let found = session::find(self.io(), &self.inner.layout.session(id))?;
        self.examine(id, &found, Lock::Anybody).map(|seen| seen.report)
    }

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
        let loaded = self.loaded(id, 1, Asked::Granted(lock), true)?;
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

    fn is_young(&self, path: &Path) -> bool {
        self.io().stat(path).is_ok_and(|stat| now().0.saturating_sub(stat.modified) < THEIR_TEMP_MS)
    }

    fn examine(&self, id: &SessionId, found: &Found, whose: Lock) -> Result<Examined, StoreError> {
        let io = self.io();
        let reader = self.reader(id);
        let dir = &reader.dir;
        let lock = dir.join(layout::LOCK);
        let holder = lock::last_holder(io, &lock);
        let held = whose == Lock::Anybody && io.stat(&lock).is_ok() && !lock::is_free(io, &lock);
        let words = holder.map(|holder| holder.words());
        let meta = reader.meta(found);
        let mut report = HealthReport { session: id.as_str().to_owned(), ..HealthReport::default() };
        let mut repairs = Vec::new();
        report.held_by = held.then(|| words.clone().unwrap_or_else(|| "another program".to_owned()));
        report.last_writer = if found.head.foreign { Some("another program".to_owned()) } else { words };
        let place = if found.ino == 0 { Vec::new() } else { vec![1] };
        report.odd.extend(meta.odd.iter().map(|sentence| (sentence.clone(), place.clone())));
        let head = &found.head;
        let renamed = head.fields.text("id").is_some_and(|theirs| theirs != id.as_str());
        let in_order = head.sound && (head.long || head.slot > 0 || found.odd.is_empty());
        let mut anew = !in_order || renamed || found.ino == 0;
        if found.ino == 0 && found.file.is_some() {
            repairs.push("What another program left in session.jsonl.tmp becomes the session.".to_owned());
        } else if anew {
            repairs.push("Line 1, the header, is written anew.".to_owned());
        }
        let rows = self.rows(&reader, found, &meta)?;
        report.messages = rows.counted.messages;
        report.lines = rows.lines;
        for (oddity, lines) in &rows.odd {
            report.odd.push((session::sentence(oddity, lines), lines.clone()));
            match oddity {
                Oddity::Glued => repairs.push("Rows that share a line get one each.".to_owned()),
                Oddity::Unreadable | Oddity::NoMessage => {
                    repairs.push("Lines that are no rows go to session.jsonl.salvage.".to_owned());
                }
                // A newer version knows them, and what is no UTF-8 can be read all the same.
                Oddity::NotUtf8 | Oddity::UnknownType(_) => continue,
            }
            anew = true;
        }
        if rows.unended {
            report.odd.push(("The last line does not end with a newline.".to_owned(), vec![rows.lines]));
            repairs.push("The last line gets its newline.".to_owned());
            anew = true;
        }
        // Rows of unknown types may have been counted by who knows them; a writer counts at its leisure.
        let (says, most) = (meta.messages, rows.counted.messages + rows.strange);
        if !held && head.sound && !(rows.counted.messages..=most).contains(&says) {
            let text = format!("The header counts {says} messages; the file has {}.", rows.counted.messages);
            report.odd.push((text, vec![1]));
            repairs.push("The messages are counted anew.".to_owned());
            anew = true;
        }
        let (live, _) = self.live(dir)?;
        let open = self.open_rows(&reader, found, &live)?;
        let mut refers = rows.refers;
        for line in live.rows.iter().filter_map(|entry| row::write(&entry.row, dir)) {
            refers.look(line.as_bytes());
        }
        if !held {
            let folded = live::folded(open);
            report.unfinished = (folded.len() + live.queue.len()) as u64;
            if !folded.is_empty() || live.turn {
                repairs.push("What a death left unfinished becomes part of the session, as interrupted.".to_owned());
            }
            self.lacking(&reader, found, &mut report, &mut repairs)?;
            if head.unfinished {
                repairs.push("A change of the header that a death interrupted is finished.".to_owned());
            }
        }
        self.left_files(dir, found, held, &mut report, &mut repairs)?;
        report.orphans = refers.unused();
        for path in &rows.named {
            if !io.lstat(&dir.join(path)).is_ok_and(|(kind, _)| kind == Kind::File) {
                report.missing.push(path.to_string_lossy().into_owned());
            }
        }
        for entry in files::below(io, dir)?.iter().filter(|entry| entry.kind == Kind::File) {
            report.files += 1;
            report.bytes += entry.stat.len;
        }
        repairs.dedup();
        report.repairs = repairs;
        Ok(Examined { report, anew, counted: rows.counted, began: rows.began })
    }

    /// Rows of ours that another program left out.
    fn lacking(
        &self,
        reader: &Reader<'_>,
        found: &Found,
        report: &mut HealthReport,
        repairs: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        let ours = Ours::new(self.clone(), &reader.dir);
        if let Some(last) = ours.last()?
            && may_lack(&ours, found, Some(last))?
        {
            let lacking = self.missing(reader, found, &ours)?.len();
            if lacking > 0 {
                let rows = if lacking == 1 { "row" } else { "rows" };
                report.odd.push((format!("Another program left out {lacking} {rows} of ours."), Vec::new()));
                repairs.push("What another program left out is added again.".to_owned());
            }
        }
        Ok(())
    }

    /// Temporary files, of lisle and of others.
    fn left_files(
        &self,
        dir: &Path,
        found: &Found,
        held: bool,
        report: &mut HealthReport,
        repairs: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        let names = self.io().list(dir).map_err(|e| StoreError::io("read", dir, e))?;
        let temps = names.iter().filter(|name| name.to_str().is_some_and(layout::is_temp)).count();
        // Of a holder they are its work.
        if temps > 0 && !held {
            let files = if temps == 1 { "file was" } else { "files were" };
            report.odd.push((format!("{temps} temporary {files} left by a death."), Vec::new()));
            repairs.push("Temporary files that a death left are removed.".to_owned());
        }
        if found.ino != 0 && names.iter().any(|name| name == layout::THEIR_TEMP) {
            let text = if self.is_young(&dir.join(layout::THEIR_TEMP)) {
                "Another program is writing session.jsonl.tmp at this moment."
            } else {
                "Another program left session.jsonl.tmp; it is not touched while session.jsonl can be read."
            };
            report.odd.push((text.to_owned(), Vec::new()));
        }
        Ok(())
    }

    /// Looks through the rows.
    fn rows(&self, reader: &Reader<'_>, found: &Found, meta: &SessionMeta) -> Result<Rows, StoreError> {
        let io = self.io();
        let error = |e| StoreError::io("read", &reader.dir.join(layout::SESSION), e);
        let known = if found.head.sound { (meta.last_message, meta.used) } else { (At(0), At(0)) };
        let preview = if found.head.sound { meta.preview.clone() } else { String::new() };
        let mut rows = Rows {
            lines: 0,
            odd: BTreeMap::new(),
            unended: false,
            strange: 0,
            counted: Counted { last_message: known.0, used: known.1, preview, ..Counted::default() },
            began: None,
            refers: Refers::of(io, &reader.dir)?,
            named: BTreeSet::new(),
        };
        let Some(file) = &found.file else { return Ok(rows) };
        tail::each(io, file, 0, found.head.body, |line| -> std::io::Result<()> {
            rows.lines += 1;
            rows.refers.look(line.bytes);
            Ok(())
        })
        .map_err(error)?;
        tail::each(io, file, found.head.body, found.len, |line| -> std::io::Result<()> {
            rows.lines += 1;
            rows.unended = !line.ended;
            rows.refers.look(line.bytes);
            // One that is too long to be held is left as it is.
            if session::blank(line.bytes) || line.len != line.bytes.len() as u64 {
                return Ok(());
            }
            let read = row::read(line.bytes, line.at, rows.lines, &reader.dir);
            for row in &read.rows {
                session::count(&mut rows.counted, row);
                rows.strange += u64::from(matches!(row.body, Body::Odd(_)));
                rows.began = rows.began.or((row.at > At(0)).then_some(row.at));
            }
            if let Some(oddity) = read.odd {
                rows.odd.entry(oddity).or_default().push(rows.lines);
            }
            rows.named.extend(refers::named(line.bytes, &reader.dir));
            Ok(())
        })
        .map_err(error)?;
        if rows.counted.last_message == At(0) {
            rows.counted.last_message = meta.last_message;
        }
        rows.counted.used = rows.counted.used.max(rows.counted.last_message);
        Ok(rows)
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
                files::copy(io, &from, &temp, self.inner.fsync != Fsync::Off)?;
                io.rename(&temp, &to).map_err(|e| StoreError::io("write", &to, e))?;
            }
        }
        self.sync_dir(dir)
    }

    /// Writes `session.jsonl` anew: a sound header, a line for each row; what is none goes to salvage before.
    fn write_anew(&self, reader: &Reader<'_>, found: &Found, seen: &Examined) -> Result<(), StoreError> {
        let io = self.io();
        let path = reader.dir.join(layout::SESSION);
        let sync = self.inner.fsync != Fsync::Off;
        let error = |e| StoreError::io("write", &path, e);
        let before = match &found.file {
            Some(file) => tail::range(io, file, 0, found.head.body).map_err(|e| StoreError::io("read", &path, e))?,
            None => Vec::new(),
        };
        let (line, fields) = self.sound_header(reader, found, seen, &before)?;
        let mut salvage = Salvage { io, path: reader.dir.join(layout::SALVAGE), file: None };
        if found.head.displaced && !session::blank(&before) {
            salvage.keep(before.strip_suffix(b"\n").unwrap_or(&before))?;
        }
        let temp = layout::temp(&path);
        let mut write = || -> Result<u64, StoreError> {
            let mut out = files::Lines::new(io, io.open(&temp, How::New).map_err(error)?);
            out.line(&line).map_err(error)?;
            if let Some(file) = &found.file {
                tail::each(io, file, found.head.body, found.len, |line| -> Result<(), Failed> {
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
                            for piece in pieces::of(whole) {
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
            session::replace(io, &reader.dir.join(layout::HEADER), second.render().as_bytes(), sync)?;
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
        reader: &Reader<'_>,
        found: &Found,
        seen: &Examined,
        before: &[u8],
    ) -> Result<(Vec<u8>, super::json::Fields), StoreError> {
        let base = reader.meta(found);
        let mut meta = base.clone();
        meta.messages = seen.counted.messages;
        meta.last_message = seen.counted.last_message;
        meta.used = seen.counted.used;
        meta.preview.clone_from(&seen.counted.preview);
        meta.last_role = seen.counted.last_role.map(str::to_owned);
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

/// What the rows are.
struct Rows {
    lines: u64,
    odd: BTreeMap<Oddity, Vec<u64>>,
    unended: bool,
    /// Rows that cannot be counted.
    strange: u64,
    counted: Counted,
    began: Option<At>,
    refers: Refers,
    named: BTreeSet<PathBuf>,
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

fn now() -> At {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis());
    At(i64::try_from(now).unwrap_or(i64::MAX))
}
