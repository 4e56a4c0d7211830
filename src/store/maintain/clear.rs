//! Clearing a session: its messages go to the trash like a deleted session, everything else of it stays.
//!
//! The trash has a whole copy before anything is taken away, and the session gets its empty file with one exchange of
//! names. The copy costs no space where the file system can give a file two names.

use crate::domain::At;
use crate::domain::session::SessionMeta;
use crate::domain::trash::TrashId;
use crate::domain::usage::Usage;
use crate::store::StoreError;
use crate::store::format::header::{self, Home, Second};
use crate::store::format::{file_refs, layout};
use crate::store::io::{Io, PathKind, trees, whole_file};
use crate::store::write::journal::Journal;
use serde_json::Value;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Keys of the header that are about messages which are gone.
const GONE: [&str; 8] = [
    "sdkSessionId",
    "lastFinalMessageId",
    "lastReadMessageId",
    "pendingPlanExecution",
    "branchFromSdkSessionId",
    "branchFromSdkTurnId",
    "transferredSessionSummary",
    "transferredSessionSummaryApplied",
];
/// Files that belong to the messages, beside the directories that they refer to.
const BODY: [&str; 5] = [layout::SESSION, layout::HEADER, layout::LIVE, layout::SALVAGE, layout::OURS];

/// The engine's own data without what belongs to the messages: context and strategy are settings.
fn kept_own(own: &Value) -> Value {
    own.get("preamble").map_or(Value::Null, |preamble| serde_json::json!({"preamble": preamble}))
}

impl Journal {
    /// Takes all messages out of the session; no turn may run. They go to the trash with the files that belong to them.
    /// Title, status and settings stay; usage is zero, of the engine's own data context and strategy stay, and the other
    /// program's provider session is forgotten.
    ///
    /// # Errors
    /// When something could not be saved, copied or written; then the session is as it was.
    pub fn clear(&mut self, now: At) -> Result<TrashId, StoreError> {
        self.open_for_writing()?;
        // The copy has everything.
        self.flush()?;
        self.sync()?;
        let io = self.store.inner.io.clone();
        let meta = self.cleared_meta(now);
        let counted = header::Counted {
            last_message: self.header.counted().last_message,
            used: meta.used,
            ..header::Counted::default()
        };
        let mut fields = self.file.head().fields.clone();
        GONE.iter().for_each(|key| fields.remove(key));
        let base = SessionMeta { plan_pending: true, ..self.header.base().clone() };
        header::encode(&mut fields, Some(&base), &meta, Home { dir: &self.dir, home: &self.store.inner.home });
        header::encode_counted(&mut fields, &counted);
        let (line, slot) = header::line(&mut fields, header::SLOT)
            .map_err(|excess| StoreError::HeaderTooLong { path: self.path(), excess })?;
        let (name, kept) = self.keep_body(&*io, now)?;
        let second = self.dir.join(layout::HEADER);
        let before = Second {
            before: self.file.head().hash.clone(),
            after: self.file.head().hash.clone(),
            length: self.file.len(),
            header: self.file.head().fields.clone(),
            own: self.header.own().clone(),
            old: None,
        };
        let mut after = Second {
            before: self.file.head().hash.clone(),
            after: header::hash(line.as_bytes()),
            length: slot as u64,
            header: fields.clone(),
            own: kept_own(self.header.own()),
            // Counts for as long as the file has its old first line: a death between the two takes nothing.
            old: Some(Box::new(before)),
        };
        let sync = self.fsyncs();
        let emptied = whole_file::replace(&*io, &second, after.render().as_bytes(), sync).and_then(|()| {
            // All rows are what stands before those that another one may add at this moment.
            let body = self.file.set_body(self.file.len());
            let emptied = self.rewrite(&line);
            if !matches!(emptied, Ok(true)) && self.file.head().hash != after.after {
                self.file.set_body(body);
            }
            emptied
        });
        let emptied = match emptied {
            Ok(false) => {
                let error = std::io::Error::new(ErrorKind::WouldBlock, "another program is writing it");
                Err(self.error("clear", error))
            }
            Ok(true) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = emptied {
            if self.file.head().hash != after.after {
                let _ = trees::remove_all(&*io, &kept);
                return Err(error);
            }
            // It is empty; only a power loss at this moment could undo it.
            tracing::warn!(%error, "a cleared session was not forced to the disk");
        }
        self.file.set_fields(fields);
        after.old = None;
        // Otherwise it comes with the next change of the header; until then the old one says the same.
        let due = whole_file::replace(&*io, &second, after.render().as_bytes(), sync).is_err();
        self.header.cleared(meta, kept_own(self.header.own()), counted, due);
        self.forget_rows();
        if let Err(error) = self.remove_body(&*io) {
            tracing::warn!(%error, "files of a cleared session stay beside it");
        }
        // What is live is emptied at last; what cannot be now is tried again.
        let _ = self.retry();
        Ok(name)
    }

    /// Properties without what the messages decided.
    fn cleared_meta(&self, now: At) -> SessionMeta {
        SessionMeta {
            id: self.id.clone(),
            messages: 0,
            preview: String::new(),
            last_role: None,
            last_read: None,
            unread: false,
            plan_pending: false,
            unfinished: None,
            pending_execution: None,
            used: self.header.counted().used.max(now),
            usage: Usage { context_window: self.header.meta().usage.context_window, ..Usage::default() },
            ..self.header.meta().clone()
        }
    }

    /// Files of the body, directories before what is in them.
    fn body(&self, io: &dyn Io) -> Result<Vec<trees::TreeEntry>, StoreError> {
        let tops = file_refs::DIRS.iter().chain(&[layout::CHECKPOINTS]);
        let mut out = Vec::new();
        for top in BODY.iter().chain(tops) {
            let path = self.dir.join(top);
            match io.lstat(&path) {
                Ok((kind, stat)) => {
                    out.push(trees::TreeEntry { path: PathBuf::from(top), kind, stat });
                    if kind == PathKind::Dir {
                        let below = trees::below(io, &path)?;
                        out.extend(
                            below.into_iter().map(|e| trees::TreeEntry { path: Path::new(top).join(e.path), ..e }),
                        );
                    }
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(StoreError::io("read", &path, error)),
            }
        }
        Ok(out)
    }

    /// Puts a copy of the body into the trash.
    fn keep_body(&self, io: &dyn Io, now: At) -> Result<(TrashId, PathBuf), StoreError> {
        let (name, to) = self.store.trash_name(&self.id, now, super::trash::What::Messages)?;
        let temp = layout::temp(&to);
        let copy = || -> Result<(), StoreError> {
            io.mkdir(&temp).map_err(|e| StoreError::io("make", &temp, e))?;
            for entry in self.body(io)? {
                let (from, to) = (self.dir.join(&entry.path), temp.join(&entry.path));
                // What is written in place may not be one file with its copy.
                let own = [layout::LIVE, layout::OURS].iter().any(|name| entry.path == Path::new(name));
                match entry.kind {
                    PathKind::Dir => io.mkdir(&to).map_err(|e| StoreError::io("make", &to, e))?,
                    PathKind::File if own || io.link(&from, &to).is_err() => {
                        // An attempt that failed may have left its name.
                        let _ = io.remove(&to);
                        trees::copy(io, &from, &to, self.fsyncs())?;
                    }
                    PathKind::File => {}
                    // A link stays with the session if it cannot have two names.
                    PathKind::Link | PathKind::Other => drop(io.link(&from, &to)),
                }
                if entry.kind == PathKind::Dir {
                    self.store.sync_dir(&to)?;
                }
            }
            self.store.sync_dir(&temp)?;
            io.rename(&temp, &to).map_err(|e| StoreError::io("make", &to, e))?;
            self.store.sync_dir(&self.store.inner.layout.trash())
        };
        copy().inspect_err(|_| {
            let _ = trees::remove_all(io, &temp);
            let _ = trees::remove_all(io, &to);
        })?;
        Ok((name, to))
    }

    /// Removes the files of the body, which the trash has.
    fn remove_body(&mut self, io: &dyn Io) -> Result<(), StoreError> {
        if let Some(ours) = self.copies.log_mut() {
            ours.remove()?;
        }
        let gone = |path: &Path| match io.remove(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(StoreError::io("remove", path, error)),
            _ => Ok(()),
        };
        gone(&self.dir.join(layout::SALVAGE))?;
        gone(&self.dir.join(layout::OURS))?;
        for top in file_refs::DIRS.iter().chain(&[layout::CHECKPOINTS]) {
            let dir = self.dir.join(top);
            let entries = if io.lstat(&dir).is_ok_and(|(kind, _)| kind == PathKind::Dir) {
                trees::below(io, &dir)?
            } else {
                continue;
            };
            for entry in entries.iter().rev() {
                match entry.kind {
                    PathKind::File => gone(&dir.join(&entry.path))?,
                    // One that holds a link stays with it.
                    PathKind::Dir => drop(io.remove(&dir.join(&entry.path))),
                    PathKind::Link | PathKind::Other => {}
                }
            }
            drop(io.remove(&dir));
        }
        Ok(())
    }
}
