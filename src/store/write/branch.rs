//! Branches: a new session with the history of another one up to a message.
//!
//! Lines are copied byte for byte, with the files that they refer to. The parent is only read, also while another
//! process writes it. The branch is made under a name that no list shows and gets its own with one rename.

use super::journal::Journal;
use super::lock;
use crate::domain::message::{Body, Message};
use crate::domain::session::{BranchedFrom, SessionMeta, TitleFrom};
use crate::domain::usage::Usage;
use crate::domain::{At, MessageId, Mode, SessionId, title};
use crate::store::format::file_refs::Refers;
use crate::store::format::header::{self, Counted, Home, Second};
use crate::store::format::{damaged_line, layout, live, row};
use crate::store::interop::import;
use crate::store::io::{How, lines, trees, whole_file};
use crate::store::read::session::{self, FoundSession, SessionReader};
use crate::store::{Fsync, Store, StoreError};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Keys of the header that are about the parent's own life.
const LEFT_BEHIND: [&str; 13] = [
    "sdkSessionId",
    "sharedUrl",
    "sharedId",
    "pendingPlanExecution",
    "previousPermissionMode",
    "branchFromSdkSessionId",
    "branchFromSdkCwd",
    "branchFromSdkTurnId",
    "transferredSessionSummary",
    "transferredSessionSummaryApplied",
    "triggeredBy",
    "lastReadMessageId",
    "lastFinalMessageId",
];

/// Relation of the new session to the other one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store) enum Manner {
    /// A branch, made now.
    Branch,
    /// The same session, from elsewhere, with its times. Its mode is no looser than this.
    Import {
        /// The loosest mode.
        at_most: Mode,
        /// Identity of the session among all others, for the next import of it.
        origin: String,
    },
}

impl Manner {
    /// Says in the header where the session came from.
    fn mark(&self, fields: &mut crate::store::format::json::JsonFields) {
        match self {
            Manner::Import { origin, .. } => import::set_origin(fields, Some(origin)),
            // The conversation is another one from here on: the next import goes to the parent.
            Manner::Branch => import::set_origin(fields, None),
        }
    }
}

/// The copied part.
pub(in crate::store) struct Cut {
    /// End of the copied lines.
    pub end: u64,
    /// Pieces of a line on which several rows stand: the last ones that come along.
    pub pieces: Vec<Vec<u8>>,
    /// Rows that the parent's file does not have.
    pub rows: Vec<Message>,
    /// Counts of the copied rows.
    counted: Counted,
    /// The last one.
    last: Option<MessageId>,
}

impl Store {
    /// Makes a session with the history of `from` up to and including the row `at`, or with all of it. Title, labels,
    /// model and directory stay; it is listed as made now. What another process is still at work on comes along only
    /// when `at` names it, as interrupted.
    ///
    /// # Errors
    /// [`StoreError::NoMessage`] when there is no such row; when the parent cannot be read, or the branch not be written:
    /// then nothing of it stays.
    pub fn branch(&self, from: &SessionId, at: Option<&MessageId>, now: At) -> Result<SessionMeta, StoreError> {
        self.branch_of(&self.reader(from), at, now, Manner::Branch)
    }

    /// Gives a branch that was just made its title, else that of its parent with the next number behind it. Where that fails
    /// it has the title of its parent, which is told in the log: the branch itself is there.
    #[must_use]
    pub fn title_branch(&self, made: SessionMeta, given: Option<String>) -> SessionMeta {
        let given = given.filter(|title| !title.trim().is_empty());
        let named = given.is_some();
        let next = || {
            let listed = self.list().sessions;
            title::next(made.shown_title(), listed.iter().map(SessionMeta::shown_title))
        };
        let text = given.unwrap_or_else(next);
        let titled = self.alter(&made.id, |meta| {
            meta.title.clone_from(&text);
            if named {
                meta.title_from = TitleFrom::User;
            }
        });
        titled.unwrap_or_else(|error| {
            tracing::warn!(%error, "the branch {} has the title of its parent", made.id);
            made
        })
    }

    /// The files of a session as they are now, and what of it comes along: all, or up to a row.
    pub(in crate::store) fn source_of(
        &self,
        reader: &SessionReader<'_>,
        at: Option<&MessageId>,
    ) -> Result<(FoundSession, Cut), StoreError> {
        let io = self.io();
        // The live rows first: one that becomes final meanwhile is then in both, and told apart.
        let (live, _) = self.live(&reader.dir)?;
        let found = session::find(io, &reader.dir)?;
        let lock = reader.dir.join(layout::LOCK);
        let alive = io.stat(&lock).is_ok() && !lock::is_free(io, &lock);
        let lacking = self.lacking_rows(reader, &found)?;
        let mut open = live::taken_along(self.open_rows(reader, &found, &live)?);
        open.retain(|row| lacking.iter().all(|there| there.id != row.id));
        let cut = cut(reader, &found, at, (lacking, open), alive)?;
        Ok((found, cut))
    }

    pub(in crate::store) fn branch_of(
        &self,
        reader: &SessionReader<'_>,
        at: Option<&MessageId>,
        now: At,
        manner: Manner,
    ) -> Result<SessionMeta, StoreError> {
        let io = self.io();
        let (found, cut) = self.source_of(reader, at)?;
        let mut parent = reader.meta(&found);
        if !found.head.sound && cut.counted.last_message > At(0) {
            // What cannot be read says no time: the rows do.
            parent.last_message = cut.counted.last_message;
        }
        self.make_workspace(now)?;
        let born = if manner == Manner::Branch { now } else { parent.created };
        let id = self.claim(&self.fresh_id(born), born)?;
        let dir = self.inner.layout.session(&id);
        let temp = layout::temp(&dir);
        let made = self
            .fill(reader, &found, &parent, &cut, &id, &temp, (now, &manner))
            // Replaces the empty directory that was claimed, which nobody else can have.
            .and_then(|()| io.rename(&temp, &dir).map_err(|e| StoreError::io("make", &dir, e)));
        if let Err(error) = made {
            let _ = trees::remove_all(io, &temp);
            let _ = io.remove(&dir);
            return Err(error);
        }
        if let Err(error) = self.sync_dir(&self.inner.layout.sessions()) {
            tracing::warn!(%error, "a new branch was not forced to the disk");
        }
        Ok(self.reader(&id).meta(&session::find(io, &dir)?))
    }

    /// Writes the branch's files to the new directory `temp`.
    #[allow(clippy::too_many_arguments)]
    fn fill(
        &self,
        reader: &SessionReader<'_>,
        found: &FoundSession,
        parent: &SessionMeta,
        cut: &Cut,
        id: &SessionId,
        temp: &Path,
        made: (At, &Manner),
    ) -> Result<(), StoreError> {
        let io = self.io();
        let sync = self.inner.fsync != Fsync::Off;
        let path = temp.join(layout::SESSION);
        let error = |e| StoreError::io("write", &path, e);
        let mut fields = self.header_of((&reader.dir, found), parent, cut, id, made);
        let (line, _) = match header::line(&mut fields, header::SLOT) {
            Ok(fits) => fits,
            Err(_) => {
                // What other programs keep in it is too long for a new header; the parent keeps it.
                let meta = self.meta_of(&reader.dir, parent, cut, id, made);
                fields = Journal::fresh_fields(&meta, &self.inner.layout.session(id), self);
                made.1.mark(&mut fields);
                header::encode_counted(&mut fields, &cut.counted);
                header::line(&mut fields, header::SLOT)
                    .map_err(|excess| StoreError::HeaderTooLong { path: path.clone(), excess })?
            }
        };
        io.mkdir(temp).map_err(|e| StoreError::io("make", temp, e))?;
        let mut refers = Refers::of(io, &reader.dir)?;
        let mut out = trees::Lines::new(io, io.open(&path, How::New).map_err(error)?);
        out.line(line.as_bytes()).map_err(error)?;
        if let Some(file) = &found.file {
            lines::each(io, file, found.head.body, cut.end, |line| {
                refers.look(line.bytes);
                if line.len == line.bytes.len() as u64 {
                    return out.line(line.bytes);
                }
                // Too long to be held: from file to file.
                refers.look(&lines::range(io, file, line.at + line.bytes.len() as u64, line.at + line.len)?);
                out.copy(file, line.at, line.at + line.len)
            })
            .map_err(error)?;
        }
        let rendered = cut.rows.iter().filter_map(|row| row::write(row, &reader.dir)).map(String::into_bytes);
        for piece in cut.pieces.iter().cloned().chain(rendered) {
            refers.look(&piece);
            out.line(&piece).map_err(error)?;
        }
        let (file, length) = out.end().map_err(error)?;
        if sync {
            io.fsync(&file).map_err(|e| StoreError::io("save", &path, e))?;
        }
        let hash = header::hash(line.as_bytes());
        let second = Second {
            before: hash.clone(),
            after: hash,
            length,
            header: fields,
            own: own_of(&found.head.own),
            old: None,
        };
        whole_file::replace(io, &temp.join(layout::HEADER), second.render().as_bytes(), sync)?;
        let mut dirs: Vec<PathBuf> = Vec::new();
        for name in refers.used() {
            for above in name.ancestors().skip(1).collect::<Vec<_>>().into_iter().rev() {
                let dir = temp.join(above);
                if dir != temp && !dirs.contains(&dir) {
                    io.mkdir(&dir).map_err(|e| StoreError::io("make", &dir, e))?;
                    dirs.push(dir);
                }
            }
            trees::copy(io, &reader.dir.join(name), &temp.join(name), sync)?;
        }
        for dir in dirs.iter().map(PathBuf::as_path).chain([temp]) {
            self.sync_dir(dir)?;
        }
        Ok(())
    }

    fn meta_of(
        &self,
        from: &Path,
        parent: &SessionMeta,
        cut: &Cut,
        id: &SessionId,
        (now, manner): (At, &Manner),
    ) -> SessionMeta {
        let mut meta = SessionMeta::new(id.clone(), now, parent.mode, parent.cwd.clone());
        if self.inner.foreign {
            meta.mode = meta.mode.min(Mode::Ask);
        }
        meta.title.clone_from(&parent.title);
        meta.title_from = parent.title_from;
        meta.labels.clone_from(&parent.labels);
        meta.connection.clone_from(&parent.connection);
        meta.connection_locked = parent.connection_locked;
        meta.model.clone_from(&parent.model);
        meta.thinking = parent.thinking;
        meta.first_cwd.clone_from(&parent.first_cwd);
        meta.usage = Usage { context_window: parent.usage.context_window, ..Usage::default() };
        meta.messages = cut.counted.messages;
        meta.preview.clone_from(&cut.counted.preview);
        match manner {
            Manner::Branch => {
                let from = |message| BranchedFrom { session: parent.id.clone(), message };
                meta.branched_from = cut.last.clone().map(from);
                // Nothing was sent from here yet.
                meta.connection_locked = false;
            }
            Manner::Import { at_most, .. } => {
                meta.mode = meta.mode.stricter(*at_most);
                (meta.created, meta.used, meta.last_message) = (parent.created, parent.used, parent.last_message);
                meta.flagged = parent.flagged;
                meta.status.clone_from(&parent.status);
                meta.usage.clone_from(&parent.usage);
                // What lay in the session's own directory there lies in this one's here.
                let dir = self.inner.layout.session(id);
                meta.cwd = moved(&parent.cwd, from, &dir);
                meta.first_cwd = parent.first_cwd.as_deref().map(|path| moved(path, from, &dir));
            }
        }
        meta
    }

    /// The branch's header: the parent's, with what other programs keep in it, but for what is about its own life.
    fn header_of(
        &self,
        (from, found): (&Path, &FoundSession),
        parent: &SessionMeta,
        cut: &Cut,
        id: &SessionId,
        made: (At, &Manner),
    ) -> crate::store::format::json::JsonFields {
        let dir = self.inner.layout.session(id);
        let meta = self.meta_of(from, parent, cut, id, made);
        let mut fields = found.head.fields.clone();
        if !found.head.sound && !fields.has("createdAt") {
            fields = Journal::fresh_fields(&meta, &dir, self);
        }
        for key in LEFT_BEHIND {
            fields.remove(key);
        }
        // What another program wrote says nothing of a plan that waits; here it is said that none does.
        let mut base = SessionMeta { plan_pending: true, ..parent.clone() };
        if let Manner::Import { .. } = made.1 {
            // Its times are written, also where they came from the file's own.
            (base.created, base.used, base.last_message) = (At(0), At(0), At(0));
        }
        let place = Home { dir: &dir, home: &self.inner.home };
        if let Manner::Import { .. } = made.1 {
            // Of another home's sessions none is here.
            fields.remove("branchFromMessageId");
            fields.remove("branchFromSessionPath");
            for path in ["workingDirectory", "sdkCwd"] {
                fields.remove(path);
            }
            (base.cwd, base.first_cwd) = (PathBuf::new(), Some(PathBuf::new()));
        }
        header::encode(&mut fields, Some(&base), &meta, place);
        made.1.mark(&mut fields);
        let workspace = self.workspace_id();
        header::settle(&mut fields, &meta, place, (&self.inner.layout.workspace, workspace.as_deref()));
        header::encode_counted(&mut fields, &cut.counted);
        fields
    }
}

/// A path below `from` as it is below `to`; any other path as it is.
fn moved(path: &Path, from: &Path, to: &Path) -> PathBuf {
    match path.strip_prefix(from) {
        Ok(rest) if rest.as_os_str().is_empty() => to.to_owned(),
        Ok(rest) => to.join(rest),
        Err(_) => path.to_owned(),
    }
}

/// Engine data that the branch keeps: the substitute for a connection that is not configured here,
/// the connection that its model was chosen for, and the switches. The plan, the todo list and the
/// answers stay with the parent.
fn own_of(parent: &Value) -> Value {
    let kept = ["connections", "modelFor", "extendedPromptCache", "richToolDescriptions", "preamble"]
        .into_iter()
        .filter_map(|key| Some((key.to_owned(), parent.get(key)?.clone())));
    let kept: serde_json::Map<String, Value> = kept.collect();
    if kept.is_empty() { Value::Null } else { Value::Object(kept) }
}

/// End of the history, and its counts up to there.
fn cut(
    reader: &SessionReader<'_>,
    found: &FoundSession,
    at: Option<&MessageId>,
    (lacking, open): (Vec<Message>, Vec<Message>),
    alive: bool,
) -> Result<Cut, StoreError> {
    let mut counted = Counted::default();
    let mut last = None;
    let mut hit: Option<Cut> = None;
    let mut torn = None;
    if let Some(file) = &found.file {
        lines::each(reader.io, file, found.head.body, found.len, |line| -> std::io::Result<()> {
            if session::blank(line.bytes) {
                return Ok(());
            }
            let rows = row::read(line.bytes, line.at, 0, &reader.dir).rows;
            let wanted = at.and_then(|at| rows.iter().rposition(|row| row.id == *at));
            let whole = line.at + line.len + u64::from(line.ended);
            if let Some(index) = wanted {
                let parts = damaged_line::of(line.bytes);
                let along = &rows[..=index];
                let mut hit_counted = counted.clone();
                along.iter().for_each(|row| session::count(&mut hit_counted, row));
                let within = index + 1 < rows.len() && parts.len() == rows.len();
                let part = |piece: &damaged_line::LinePiece| line.bytes[piece.at.clone()].to_vec();
                // Of rows with the same id the last one counts.
                hit = Some(Cut {
                    end: if within { line.at } else { whole },
                    pieces: if within { parts[..=index].iter().map(part).collect() } else { Vec::new() },
                    rows: Vec::new(),
                    counted: hit_counted,
                    last: at.cloned(),
                });
            }
            for row in &rows {
                session::count(&mut counted, row);
                last = Some(row.id.clone());
            }
            // Being written by somebody at this moment, or left by a death: the parent has it.
            if !line.ended && rows.iter().all(|row| matches!(row.body, Body::Odd(_))) {
                torn = Some(line.at);
            }
            Ok(())
        })
        .map_err(|e| StoreError::io("read", &reader.dir.join(layout::SESSION), e))?;
    }
    // Final, though the file lacks them: they come before what is open.
    let finals = lacking.len();
    let open: Vec<Message> = lacking.into_iter().chain(open).collect();
    let index = at.and_then(|at| open.iter().position(|row| row.id == *at));
    let mut whole = match (hit, at) {
        (Some(hit), _) if index.is_none() => return Ok(hit),
        (None, Some(at)) if index.is_none() => {
            return Err(StoreError::NoMessage { path: reader.dir.clone(), message: at.as_str().to_owned() });
        }
        _ => Cut { end: torn.unwrap_or(found.len), pieces: Vec::new(), rows: open, counted, last },
    };
    let along = index.map_or(if alive { finals } else { whole.rows.len() }, |index| index + 1);
    whole.rows.truncate(along);
    for row in &whole.rows {
        session::count(&mut whole.counted, row);
        whole.last = Some(row.id.clone());
    }
    Ok(whole)
}
