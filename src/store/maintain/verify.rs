//! Health of a session's files, and the effects of a repair.
//!
//! Looking changes nothing and holds one line in memory at a time. The repair itself is `repair`'s.

use crate::domain::message::Body;
use crate::domain::session::SessionMeta;
use crate::domain::session_health::HealthReport;
use crate::domain::{At, SessionId};
use crate::store::format::file_refs::{self, Refers};
use crate::store::format::header::Counted;
use crate::store::format::row::{self, Oddity};
use crate::store::format::{layout, live};
use crate::store::interop::shadow_log::{Ours, may_lack};
use crate::store::io::{PathKind, lines, trees};
use crate::store::read::session::{self, FoundSession, SessionReader};
use crate::store::write::lock;
use crate::store::write::tail_repair::THEIR_TEMP_MS;
use crate::store::{Store, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Holder of the session during the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum Lock {
    /// We do, for the repair.
    Ours,
    /// Whoever does is asked for.
    Anybody,
}

/// Findings.
pub(in crate::store) struct Examined {
    pub report: HealthReport,
    /// `session.jsonl` is to be written anew.
    pub anew: bool,
    /// Counts of all rows.
    pub counted: Counted,
    /// When the first row was written.
    pub began: Option<At>,
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

    pub(in crate::store) fn is_young(&self, path: &Path) -> bool {
        self.io().stat(path).is_ok_and(|stat| now().0.saturating_sub(stat.modified) < THEIR_TEMP_MS)
    }

    pub(in crate::store) fn examine(
        &self,
        id: &SessionId,
        found: &FoundSession,
        whose: Lock,
    ) -> Result<Examined, StoreError> {
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
            repairs.push("Restore the session from session.jsonl.tmp, left by another program.".to_owned());
        } else if anew {
            repairs.push("Rewrite the header in line 1.".to_owned());
        }
        let rows = self.rows(&reader, found, &meta)?;
        report.messages = rows.counted.messages;
        report.lines = rows.lines;
        anew |= rows.report_odd(&mut report, &mut repairs);
        // Rows of unknown types may have been counted by who knows them; a writer counts at its leisure.
        let (says, most) = (meta.messages, rows.counted.messages + rows.strange);
        if !held && head.sound && !(rows.counted.messages..=most).contains(&says) {
            let text = format!("The header says {says} messages; the file has {}.", rows.counted.messages);
            report.odd.push((text, vec![1]));
            repairs.push("Recount the messages.".to_owned());
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
                repairs.push("Add unfinished rows to the session as interrupted.".to_owned());
            }
            self.lacking(&reader, found, &mut report, &mut repairs)?;
            if head.unfinished {
                repairs.push("Finish an interrupted header change.".to_owned());
            }
        }
        self.left_files(dir, found, held, &mut report, &mut repairs)?;
        report.orphans = refers.unused();
        for path in &rows.named {
            if !io.lstat(&dir.join(path)).is_ok_and(|(kind, _)| kind == PathKind::File) {
                report.missing.push(path.to_string_lossy().into_owned());
            }
        }
        for entry in trees::below(io, dir)?.iter().filter(|entry| entry.kind == PathKind::File) {
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
        reader: &SessionReader<'_>,
        found: &FoundSession,
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
                report.odd.push((format!("Another program dropped {lacking} of our {rows}."), Vec::new()));
                repairs.push("Re-add rows another program dropped.".to_owned());
            }
        }
        Ok(())
    }

    /// Temporary files, of lisle and of others.
    fn left_files(
        &self,
        dir: &Path,
        found: &FoundSession,
        held: bool,
        report: &mut HealthReport,
        repairs: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        let names = self.io().list(dir).map_err(|e| StoreError::io("read", dir, e))?;
        let temps = names.iter().filter(|name| name.to_str().is_some_and(layout::is_temp)).count();
        // Of a holder they are its work.
        if temps > 0 && !held {
            let files = if temps == 1 { "file was" } else { "files were" };
            let text = format!("{temps} temporary {files} left by an unfinished write.");
            report.odd.push((text, Vec::new()));
            repairs.push("Remove leftover temporary files.".to_owned());
        }
        if found.ino != 0 && names.iter().any(|name| name == layout::THEIR_TEMP) {
            let text = if self.is_young(&dir.join(layout::THEIR_TEMP)) {
                "Another program is writing session.jsonl.tmp."
            } else {
                "Another program left session.jsonl.tmp; ignored while session.jsonl is readable."
            };
            report.odd.push((text.to_owned(), Vec::new()));
        }
        Ok(())
    }

    /// Looks through the rows.
    fn rows(&self, reader: &SessionReader<'_>, found: &FoundSession, meta: &SessionMeta) -> Result<Rows, StoreError> {
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
        lines::each(io, file, 0, found.head.body, |line| -> std::io::Result<()> {
            rows.lines += 1;
            rows.refers.look(line.bytes);
            Ok(())
        })
        .map_err(error)?;
        lines::each(io, file, found.head.body, found.len, |line| -> std::io::Result<()> {
            rows.lines += 1;
            rows.unended = !line.ended;
            let bytes = session::whole_line(io, file, &line)?;
            rows.refers.look(&bytes);
            if session::blank(&bytes) {
                return Ok(());
            }
            let read = row::read(&bytes, line.at, rows.lines, &reader.dir);
            for row in &read.rows {
                session::count(&mut rows.counted, row);
                rows.strange += u64::from(matches!(row.body, Body::Odd(_)));
                rows.began = rows.began.or((row.at > At(0)).then_some(row.at));
            }
            if let Some(oddity) = read.odd {
                rows.odd.entry(oddity).or_default().push(rows.lines);
            }
            rows.named.extend(file_refs::named(&bytes, &reader.dir));
            Ok(())
        })
        .map_err(error)?;
        if rows.counted.last_message == At(0) {
            rows.counted.last_message = meta.last_message;
        }
        rows.counted.used = rows.counted.used.max(rows.counted.last_message);
        Ok(rows)
    }
}

/// Summary of the rows.
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

impl Rows {
    /// Reports irregular lines. True if a repair writes the file again.
    fn report_odd(&self, report: &mut HealthReport, repairs: &mut Vec<String>) -> bool {
        let mut rewritten = false;
        for (oddity, lines) in &self.odd {
            report.odd.push((session::sentence(oddity, lines), lines.clone()));
            match oddity {
                Oddity::Glued => repairs.push("Split rows that share a line.".to_owned()),
                Oddity::Unreadable | Oddity::NoMessage => {
                    repairs.push("Move invalid lines to session.jsonl.salvage.".to_owned());
                }
                // A newer version knows them, and what is no UTF-8 can be read all the same.
                Oddity::NotUtf8 | Oddity::UnknownType(_) => continue,
            }
            rewritten = true;
        }
        if self.unended {
            report.odd.push(("The last line has no newline.".to_owned(), vec![self.lines]));
            repairs.push("Add the missing last newline.".to_owned());
            rewritten = true;
        }
        rewritten
    }
}

pub(in crate::store) fn now() -> At {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis());
    At(i64::try_from(now).unwrap_or(i64::MAX))
}
