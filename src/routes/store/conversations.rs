//! Conversations behind rows: transcripts beside a store of the reference, or sessions of one of lisle's workspaces.

use super::error::RouteStoreError;
use super::lock::is_locked;
use super::rows::RouteRows;
use crate::domain::ids::{At, SessionId};
use crate::domain::notice::Level;
use crate::routes::key::{AgentId, OpaqueChannels, SessionKey};
use crate::routes::maintenance::{FileKind, StoreFile};
use crate::routes::row::StoredRow;
use crate::store::io::{Io, PathKind, trees};
use crate::store::{Store, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Facts of the conversations of a store.
#[derive(Clone, Debug, Default)]
pub struct ConversationSurvey {
    /// Files.
    pub files: Vec<StoreFile>,
    /// Conversations that a process writes.
    pub running: BTreeSet<SessionId>,
    /// Conversations that a person flagged.
    pub flagged: BTreeSet<SessionId>,
}

/// Conversations of a store, and what maintenance does with them.
pub trait Conversations {
    /// Files and conversations in use.
    ///
    /// # Errors
    /// Fails if a folder can't be read.
    fn survey(&self, rows: &RouteRows) -> Result<ConversationSurvey, RouteStoreError>;
    /// Puts a conversation away. One that is gone already is no error.
    ///
    /// # Errors
    /// Fails if it can't be moved.
    fn archive(&self, file: &str, archive: &str, now: At) -> Result<(), RouteStoreError>;
    /// Deletes a conversation or an archive. One that is gone already is no error.
    ///
    /// # Errors
    /// Fails if it can't be removed.
    fn delete(&self, file: &str, now: At) -> Result<(), RouteStoreError>;
}

/// Name of a conversation's file as a row gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NamedFile {
    /// In the store's folder.
    Inside(String),
    /// Elsewhere.
    Outside(PathBuf),
}

/// File that `sessionFile` of a row names.
pub(super) fn named_file(text: &str, folder: &Path) -> NamedFile {
    let path = folder.join(text);
    let steps_up = path.components().any(|part| part == Component::ParentDir);
    match path.file_name().and_then(|name| name.to_str()) {
        Some(name) if !steps_up && path.parent() == Some(folder) => NamedFile::Inside(name.to_owned()),
        _ => NamedFile::Outside(path),
    }
}

/// Transcripts in the folder of a store, as the reference keeps them.
#[derive(Clone, Debug)]
pub struct FolderConversations {
    io: Arc<dyn Io>,
    folder: PathBuf,
    store_name: String,
}

impl FolderConversations {
    /// Transcripts beside a store's file.
    #[must_use]
    pub fn beside(io: Arc<dyn Io>, store: &Path) -> Self {
        let store_name = store.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { io, folder: store.parent().unwrap_or(Path::new(".")).to_owned(), store_name }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    fn failed<'a>(&'a self, doing: &'static str, file: &'a str) -> impl FnOnce(std::io::Error) -> RouteStoreError + 'a {
        move |error| RouteStoreError::io(doing, &self.path(file), error)
    }

    /// The store's file with its copies, which are not among the conversations, and its lock: a run that applies has
    /// one, and would count it.
    fn is_of_store(&self, name: &str) -> bool {
        let rest = name.strip_prefix(&self.store_name);
        rest.is_some_and(|rest| rest.is_empty() || rest == ".lock" || rest.starts_with(".bak."))
    }

    /// File of the folder; `None` for folders and what vanished meanwhile.
    fn file(&self, name: String) -> Result<Option<StoreFile>, RouteStoreError> {
        let (kind, stat) = match self.io.lstat(&self.path(&name)) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failed("read", &name)(error)),
        };
        let file = StoreFile {
            bytes: stat.len,
            modified: At(stat.modified),
            kind: FileKind::of_name(&name),
            // What a link leads to may be anybody's.
            keep: kind != PathKind::File,
            name,
        };
        Ok((kind != PathKind::Dir).then_some(file))
    }
}

impl Conversations for FolderConversations {
    fn survey(&self, rows: &RouteRows) -> Result<ConversationSurvey, RouteStoreError> {
        let names = match self.io.list(&self.folder) {
            Ok(names) => names,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(ConversationSurvey::default()),
            Err(error) => return Err(RouteStoreError::io("read", &self.folder, error)),
        };
        // Names of other encodings are never touched.
        let mut names: Vec<String> = names.into_iter().filter_map(|name| name.into_string().ok()).collect();
        names.retain(|name| !self.is_of_store(name));
        names.sort();
        let mut survey = ConversationSurvey::default();
        for name in names {
            survey.files.extend(self.file(name)?);
        }
        for (_, row) in rows.iter() {
            let StoredRow::Row(row) = row else { continue };
            let session = &row.conversation.session_id;
            let Some(named) = row.conversation.session_file.as_deref().map(|text| named_file(text, &self.folder))
            else {
                continue;
            };
            let kind = FileKind::Conversation { session: session.clone() };
            match named {
                // A name of another form, such as a fork's.
                NamedFile::Inside(name) => {
                    let file = survey.files.iter_mut().find(|file| file.name == name && file.kind == FileKind::Other);
                    file.into_iter().for_each(|file| file.kind = kind.clone());
                }
                NamedFile::Outside(path) if self.io.stat(&path).is_ok() => {
                    let name = path.display().to_string();
                    survey.files.push(StoreFile { name, bytes: 0, modified: At(0), kind, keep: true });
                }
                NamedFile::Outside(_) => {}
            }
        }
        for file in &mut survey.files {
            let FileKind::Conversation { session } = &file.kind else { continue };
            if is_locked(&*self.io, &self.folder.join(&file.name)) {
                survey.running.insert(session.clone());
                file.keep = true;
            }
        }
        Ok(survey)
    }

    fn archive(&self, file: &str, archive: &str, _now: At) -> Result<(), RouteStoreError> {
        let failed = self.failed("archive", file);
        if self.io.lstat(&self.path(archive)).is_ok() {
            return Err(failed(ErrorKind::AlreadyExists.into()));
        }
        match self.io.rename(&self.path(file), &self.path(archive)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(()),
        }
    }

    fn delete(&self, file: &str, _now: At) -> Result<(), RouteStoreError> {
        match self.io.remove(&self.path(file)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(self.failed("delete", file)(error)),
            _ => Ok(()),
        }
    }
}

/// Sessions of the workspaces of agents. Both ways to remove one lead to the trash of its workspace, which has an age of
/// its own.
pub struct WorkspaceConversations<'a> {
    /// File calls.
    pub io: Arc<dyn Io>,
    /// Agent of keys that name none.
    pub agent: &'a AgentId,
    /// Opens the workspace of an agent.
    pub open: &'a dyn Fn(&AgentId) -> Result<Store, StoreError>,
}

impl WorkspaceConversations<'_> {
    /// Sessions with routes, by the agents of their keys: one store may have those of several.
    fn routed(&self, rows: &RouteRows) -> BTreeMap<AgentId, BTreeSet<SessionId>> {
        let mut routed = BTreeMap::from([(self.agent.clone(), BTreeSet::new())]);
        for (text, row) in rows.iter() {
            let key = SessionKey::parse(text, &OpaqueChannels::default()).ok();
            let agent = key.as_ref().and_then(SessionKey::agent).unwrap_or(self.agent);
            let sessions = routed.entry(agent.clone()).or_default();
            if let StoredRow::Row(row) = row {
                sessions.insert(row.conversation.session_id);
            }
        }
        routed
    }

    fn to_trash(&self, file: &str, now: At) -> Result<(), RouteStoreError> {
        let Some((agent, session)) = file.split_once('/') else { return Ok(()) };
        if let (Ok(agent), Ok(id)) = (AgentId::parse(agent), SessionId::parse(session)) {
            let workspace = (self.open)(&agent)?;
            if self.io.stat(&workspace.session_dir(&id)).is_ok() {
                workspace.delete(&id, now)?;
            }
        }
        Ok(())
    }
}

impl Conversations for WorkspaceConversations<'_> {
    fn survey(&self, rows: &RouteRows) -> Result<ConversationSurvey, RouteStoreError> {
        let mut survey = ConversationSurvey::default();
        for (agent, routed) in self.routed(rows) {
            let workspace = (self.open)(&agent)?;
            let listing = workspace.list();
            // Sessions that can't be listed must not count as missing.
            if let Some(error) = listing.notices.iter().find(|notice| notice.level == Level::Error) {
                return Err(RouteStoreError::Unlisted(error.text.trim_end_matches('.').to_owned()));
            }
            for meta in listing.sessions {
                let running = workspace.is_held(&meta.id);
                let below = trees::below(&*self.io, &workspace.session_dir(&meta.id))?;
                survey.files.push(StoreFile {
                    name: format!("{agent}/{}", meta.id),
                    bytes: below.iter().filter(|one| one.kind == PathKind::File).map(|one| one.stat.len).sum(),
                    modified: meta.last_message,
                    kind: FileKind::Conversation { session: meta.id.clone() },
                    keep: running || meta.flagged || !routed.contains(&meta.id),
                });
                if running {
                    survey.running.insert(meta.id.clone());
                }
                if meta.flagged {
                    survey.flagged.insert(meta.id);
                }
            }
        }
        Ok(survey)
    }

    fn archive(&self, file: &str, _archive: &str, now: At) -> Result<(), RouteStoreError> {
        self.to_trash(file, now)
    }

    fn delete(&self, file: &str, now: At) -> Result<(), RouteStoreError> {
        self.to_trash(file, now)
    }
}
