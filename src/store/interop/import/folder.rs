//! Folders of sessions, of lisle itself or of Craft Agents: their lines are copied as they are.
//!
//! A second import of the same session adds what came since to the session of the first one. A conversation that went on
//! by itself on both sides becomes another session.

use super::{AT_ONCE, ImportContext, Imported, LEFT, READ, Reimport};
use crate::domain::session::{SessionMeta, TitleFrom};
use crate::domain::{At, SessionId};
use crate::store::format::file_refs::Refers;
use crate::store::format::{layout, row};
use crate::store::io::{lines, trees};
use crate::store::read::session::{self, FoundSession, SessionReader};
use crate::store::write::branch::{Cut, Manner};
use crate::store::write::journal::Journal;
use crate::store::{Fsync, Store, StoreError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;

/// Sentence about the owner of a folder.
const PROGRAM: &str = "lisle, Craft Agents or Fabric Agents";

/// A row as it is compared: what tells it from others, and all of it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ComparedRow {
    id: u64,
    whole: u64,
}

impl ComparedRow {
    fn of(bytes: &[u8]) -> Self {
        let bytes = bytes.trim_ascii();
        let text = String::from_utf8_lossy(bytes);
        let whole = hash(bytes);
        Self { id: row::id_of(&text).map_or(whole, |id| hash(id.as_str())), whole }
    }
}

fn hash(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// Difference from an earlier import.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Since {
    /// So many rows behind those that are here.
    Rows(usize),
    /// Rows that are here have other content there.
    Other,
    /// Nothing.
    Nothing,
    /// The conversation is another one since: it went on here, or was rewound there.
    Apart,
}

impl Since {
    fn of(theirs: &[ComparedRow], here: &[ComparedRow]) -> Self {
        let both = theirs.len().min(here.len());
        if theirs.iter().zip(here).any(|(there, here)| there.id != here.id) {
            return Since::Apart;
        }
        match theirs.len().checked_sub(here.len()) {
            Some(_) if theirs[..both] != here[..both] => Since::Other,
            Some(0) | None => Since::Nothing,
            Some(more) => Since::Rows(more),
        }
    }
}

impl Store {
    pub(super) fn import_folder(&self, dir: &Path, context: &ImportContext<'_>) -> Result<Imported, StoreError> {
        for name in READ {
            let path = dir.join(name);
            if self.io().lstat(&path).is_ok() {
                self.regular(&path)?;
            }
        }
        let name = dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let id = SessionId::parse(name).unwrap_or_else(|_| SessionId::numbered(0));
        let reader = SessionReader { io: self.io(), id: &id, dir: dir.to_owned(), home: &self.inner.home };
        self.import_session(&reader, context).map_err(|error| match error {
            StoreError::NoSession { path } => self.no_session(dir, path),
            StoreError::Io { path, source, .. } if path.starts_with(dir) => StoreError::io("import", &path, source),
            other => other,
        })
    }

    /// Advice on a folder that is no session's.
    fn no_session(&self, dir: &Path, path: std::path::PathBuf) -> StoreError {
        let is_transcript = |name: &std::ffi::OsString| Path::new(name).extension().is_some_and(|end| end == "jsonl");
        let why = if self.io().list(dir).unwrap_or_default().iter().any(is_transcript) {
            "no session.jsonl. This looks like a transcripts folder: choose one of its *.jsonl, or import all with `lisle \
             sessions import`"
        } else {
            "no session.jsonl. Choose a session's folder, or a transcript"
        };
        StoreError::NoImport { path, why }
    }

    fn import_session(&self, reader: &SessionReader<'_>, context: &ImportContext<'_>) -> Result<Imported, StoreError> {
        let ImportContext { at_most, now, .. } = *context;
        let (found, cut) = self.source_of(reader, None)?;
        let origin = origin(reader.id, &found);
        let mut why = None;
        let earlier = (context.known)(&origin).sessions()?;
        if !earlier.is_empty() {
            let mut theirs = Vec::new();
            each_line(reader, &found, &cut, |line| {
                theirs.push(ComparedRow::of(line));
                Ok(())
            })?;
            for id in earlier.iter().rev() {
                let since = Since::of(&theirs, &self.lines_of(id)?);
                if since != Since::Apart {
                    return self.update_folder((reader, &found, &cut), id, since, (theirs.len(), now));
                }
            }
            why = earlier.last().map(|last| {
                format!(
                    "This conversation diverged from its earlier import, session {last}; imported as a new session."
                )
            });
        }
        let manner = Manner::Import { at_most, origin };
        let meta = self.branch_of(reader, None, now, manner)?;
        Ok(Imported { meta, program: PROGRAM, left: Vec::new(), again: why.map(Reimport::Another) })
    }

    /// The rows of a session here, without what an import says of itself.
    fn lines_of(&self, id: &SessionId) -> Result<Vec<ComparedRow>, StoreError> {
        let reader = self.reader(id);
        let (found, cut) = self.source_of(&reader, None)?;
        let mut lines = Vec::new();
        each_line(&reader, &found, &cut, |line| {
            let is_ours = row::id_of(&String::from_utf8_lossy(line)).is_some_and(|id| id.as_str().starts_with(LEFT));
            if !is_ours {
                lines.push(ComparedRow::of(line));
            }
            Ok(())
        })?;
        Ok(lines)
    }

    /// Brings the session of an earlier import up to date.
    fn update_folder(
        &self,
        (reader, found, cut): (&SessionReader<'_>, &FoundSession, &Cut),
        id: &SessionId,
        since: Since,
        (all, now): (usize, At),
    ) -> Result<Imported, StoreError> {
        let more = match since {
            Since::Rows(more) => more,
            Since::Other => all,
            Since::Nothing | Since::Apart => 0,
        };
        if more > 0 {
            let (mut journal, mut meta) = self.writer_of_earlier(id)?;
            if since == Since::Other {
                // The rows as they were go to the trash: nothing of them is lost.
                journal.clear(now)?;
                journal.header.accept();
            }
            self.add_lines((reader, found, cut), all - more, &mut journal)?;
            let theirs = reader.meta(found);
            refresh(&mut meta, theirs);
            let own = journal.header.own().clone();
            journal.set_meta(meta, own);
            journal.close()?;
        }
        let meta = self.reader(id).meta(&session::find(self.io(), &self.session_dir(id))?);
        let again = match since {
            Since::Other => Reimport::Anew(id.clone()),
            _ => Reimport::Added(id.clone(), more),
        };
        Ok(Imported { meta, program: PROGRAM, left: Vec::new(), again: Some(again) })
    }

    /// Adds the lines behind the first `skip` rows, with the files that they refer to.
    fn add_lines(
        &self,
        (reader, found, cut): (&SessionReader<'_>, &FoundSession, &Cut),
        skip: usize,
        journal: &mut Journal,
    ) -> Result<(), StoreError> {
        let io = self.io();
        let mut refers = Refers::of(io, &reader.dir)?;
        let (mut passed, mut waiting) = (0, Vec::new());
        each_line(reader, found, cut, |line| {
            passed += 1;
            if passed <= skip {
                return Ok(());
            }
            refers.look(line);
            waiting.push(String::from_utf8_lossy(line).into_owned());
            if waiting.len() < AT_ONCE {
                return Ok(());
            }
            journal.append_lines(std::mem::take(&mut waiting))
        })?;
        journal.append_lines(waiting)?;
        let sync = self.inner.fsync != Fsync::Off;
        let here = journal.dir().to_owned();
        for name in refers.used() {
            let to = here.join(name);
            if io.stat(&to).is_ok() {
                continue;
            }
            for above in name.ancestors().skip(1).collect::<Vec<_>>().into_iter().rev() {
                let dir = here.join(above);
                if io.stat(&dir).is_err() {
                    io.mkdir(&dir).map_err(|error| StoreError::io("make", &dir, error))?;
                }
            }
            trees::copy(io, &reader.dir.join(name), &to, sync)?;
        }
        Ok(())
    }
}

/// Identity of a session among all others, wherever its folder lies.
fn origin(id: &SessionId, found: &FoundSession) -> String {
    let fields = &found.head.fields;
    let id = fields.text("id").unwrap_or_else(|| id.as_str().to_owned());
    format!("session:{id}:{}", fields.number("createdAt").unwrap_or(0))
}

/// Takes over the other side's properties, but for those that a person may have changed here.
fn refresh(meta: &mut SessionMeta, theirs: SessionMeta) {
    if meta.title_from != TitleFrom::User || meta.title.trim().is_empty() {
        (meta.title, meta.title_from) = (theirs.title, theirs.title_from);
    }
    meta.usage = theirs.usage;
    meta.used = meta.used.max(theirs.used);
}

/// Shows every line of a session as it would be copied.
fn each_line(
    reader: &SessionReader<'_>,
    found: &FoundSession,
    cut: &Cut,
    mut show: impl FnMut(&[u8]) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let error = |error| StoreError::io("import", &reader.dir.join(layout::SESSION), error);
    let mut failed = None;
    if let Some(file) = &found.file {
        let read = lines::each(reader.io, file, found.head.body, cut.end, |line| -> io::Result<()> {
            if session::blank(line.bytes) {
                return Ok(());
            }
            let whole;
            let bytes = if line.len == line.bytes.len() as u64 {
                line.bytes
            } else {
                whole = lines::range(reader.io, file, line.at, line.at + line.len)?;
                &whole
            };
            show(bytes).map_err(|error| {
                failed = Some(error);
                io::Error::from(io::ErrorKind::Interrupted)
            })
        });
        match failed {
            Some(failed) => return Err(failed),
            None => read.map_err(error)?,
        }
    }
    let rendered = cut.rows.iter().filter_map(|row| row::write(row, &reader.dir)).map(String::into_bytes);
    for piece in cut.pieces.iter().cloned().chain(rendered) {
        show(&piece)?;
    }
    Ok(())
}
