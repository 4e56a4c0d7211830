//! Programs whose sessions are imported: their names, and how a file of each is told from others.

use super::chat::{self, ChatSession};
use super::claude::{self, ClaudeTranscript};
use super::codex::{self, CodexRollout};
use super::codex_files;
use super::database;
use super::gemini::{self, GeminiSession};
use super::opencode::{self, OpencodeSession};
use super::opencode_storage;
use super::parsed::{ConversationFile, RecordForm};
use super::pi::{self, PiSession};
use super::transcript::ForeignTranscript;
use crate::store::io::{How, lines};
use crate::store::read::session;
use crate::store::{Store, StoreError};
use serde_json::Value;
use std::io;
use std::path::Path;

/// A file says within so many lines whose it is.
const TOLD_BY: usize = 50;
/// The longest document that is read whole.
const LONGEST_DOCUMENT: u64 = 256 << 20;

/// Kind of a history: the program that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HistoryKind {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// gemini-cli.
    Gemini,
    /// opencode.
    Opencode,
    /// pi.
    Pi,
    /// OpenClaw, and Fased, which writes the same.
    Openclaw,
    /// aichat.
    Aichat,
    /// fabric.
    Fabric,
    /// Craft Agents, and lisle.
    Craft,
    /// Fabric Agents.
    FabricAgents,
}

impl HistoryKind {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 10] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
        Self::Pi,
        Self::Craft,
        Self::FabricAgents,
        Self::Openclaw,
        Self::Aichat,
        Self::Fabric,
    ];

    /// Word for the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Pi => "pi",
            Self::Openclaw => "openclaw",
            Self::Aichat => "aichat",
            Self::Fabric => "fabric",
            Self::Craft => "craft",
            Self::FabricAgents => "fabric-agents",
        }
    }

    /// The kind that is called so.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "claude" => Some(Self::ClaudeCode),
            "fased" => Some(Self::Openclaw),
            word => Self::ALL.into_iter().find(|kind| kind.word() == word),
        }
    }

    /// The program's own name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Opencode => "opencode",
            Self::Pi => "pi",
            Self::Openclaw => "OpenClaw",
            Self::Aichat => "aichat",
            Self::Fabric => "Fabric",
            Self::Craft => "Craft Agents",
            Self::FabricAgents => "Fabric Agents",
        }
    }

    /// Prefix of the ids of its rows; `None` where rows keep their own.
    pub(super) fn prefix(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some("cc"),
            Self::Codex => Some("cx"),
            Self::Gemini => Some("gm"),
            Self::Opencode => Some("oc"),
            Self::Pi => Some("pi"),
            Self::Openclaw => Some("ow"),
            Self::Aichat => Some("ac"),
            Self::Fabric => Some("fb"),
            Self::Craft | Self::FabricAgents => None,
        }
    }

    /// Reader of its conversations; `None` for those that are copied as they are.
    pub(super) fn reader(self) -> Option<Box<dyn ForeignTranscript>> {
        match self {
            Self::ClaudeCode => Some(Box::<ClaudeTranscript>::default()),
            Self::Codex => Some(Box::<CodexRollout>::default()),
            Self::Gemini => Some(Box::<GeminiSession>::default()),
            Self::Opencode => Some(Box::<OpencodeSession>::default()),
            Self::Pi => Some(Box::new(PiSession::new("pi"))),
            Self::Openclaw => Some(Box::new(PiSession::new("ow"))),
            Self::Aichat | Self::Fabric => Some(Box::<ChatSession>::default()),
            Self::Craft | Self::FabricAgents => None,
        }
    }

    /// Cuts a document of this kind into records.
    pub(super) fn records(self, document: Value) -> Option<Vec<Value>> {
        match self {
            Self::Gemini => gemini::records(document),
            Self::Opencode => opencode::records(document),
            Self::Aichat | Self::Fabric => chat::records(document),
            _ => None,
        }
    }

    /// The files that make up a conversation.
    pub(super) fn parts(self, path: &Path, form: RecordForm) -> Vec<ConversationFile> {
        match self {
            Self::Codex => codex_files::parts(path),
            _ => vec![ConversationFile::new(path, form)],
        }
    }

    /// The kind of a file of lines, by one of them.
    fn of_line(value: &Value, path: &Path) -> Option<Self> {
        if codex::is(value) {
            return Some(Self::Codex);
        }
        if gemini::is(value) && value.get("messages").is_none() {
            return Some(Self::Gemini);
        }
        if pi::is(value) {
            return Some(if pi::is_openclaw(path) { Self::Openclaw } else { Self::Pi });
        }
        claude::is(value).then_some(Self::ClaudeCode)
    }

    /// The kind of a document.
    fn of_document(document: &Value) -> Option<Self> {
        if opencode::is(document) {
            return Some(Self::Opencode);
        }
        if gemini::is(document) && document.get("messages").is_some() {
            return Some(Self::Gemini);
        }
        if chat::is_fabric(document) {
            return Some(Self::Fabric);
        }
        chat::is_aichat(document).then_some(Self::Aichat)
    }
}

/// Format of a file: whose it is, and how its records lie in it. A database has many sessions.
#[derive(Clone, Debug)]
pub(super) enum FileFormat {
    /// One conversation.
    One(HistoryKind, RecordForm),
    /// opencode's database.
    Database,
}

/// True if a name ends like a YAML file's.
fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml")
}

impl Store {
    /// Finds out whose a file is; `None` if it is nobody's.
    pub(super) fn format_of(&self, path: &Path) -> Result<Option<FileFormat>, StoreError> {
        let io = self.io();
        let error = |error| StoreError::io("import", path, error);
        let file = io.open(path, How::Read).map_err(error)?;
        let len = io.stat_of(&file).map_err(error)?.len;
        let begin = lines::range(io, &file, 0, len.min(64)).map_err(error)?;
        if begin.starts_with(database::MAGIC) {
            return Ok(Some(FileFormat::Database));
        }
        // A line at a time: one of them may be as long as the file.
        let (mut count, mut found) = (0, None);
        let read = lines::each(io, &file, 0, len, |line| -> io::Result<()> {
            if session::blank(line.bytes) {
                return Ok(());
            }
            let value = serde_json::from_slice::<Value>(line.bytes).ok();
            (count, found) = (count + 1, value.and_then(|value| HistoryKind::of_line(&value, path)));
            let is_told = found.is_some() || count >= TOLD_BY;
            if is_told { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
        });
        if let (None, Err(failed)) = (found, read)
            && count < TOLD_BY
        {
            return Err(error(failed));
        }
        if let Some(kind) = found {
            return Ok(Some(FileFormat::One(kind, RecordForm::Lines)));
        }
        let first = begin.iter().find(|byte| !byte.is_ascii_whitespace());
        if !matches!(first, Some(b'{' | b'[')) && !is_yaml(path) {
            return Ok(None);
        }
        let document = self.document(path)?;
        if document.as_ref().is_some_and(|document| opencode_storage::is(document, path)) {
            return Ok(Some(FileFormat::One(HistoryKind::Opencode, RecordForm::Storage)));
        }
        let kind = document.and_then(|document| HistoryKind::of_document(&document));
        Ok(kind.map(|kind| FileFormat::One(kind, RecordForm::Document)))
    }

    /// A JSON or YAML file; `None` if it is neither.
    pub(super) fn document(&self, path: &Path) -> Result<Option<Value>, StoreError> {
        let io = self.io();
        let error = |error| StoreError::io("import", path, error);
        self.regular(path)?;
        let file = io.open(path, How::Read).map_err(error)?;
        let len = io.stat_of(&file).map_err(error)?.len;
        if len > LONGEST_DOCUMENT {
            let why = "longer than 256 MB, and its format is read whole";
            return Err(StoreError::NoImport { path: path.to_owned(), why });
        }
        let bytes = lines::range(io, &file, 0, len).map_err(error)?;
        if is_yaml(path) {
            return Ok(serde_norway::from_slice(&bytes).ok());
        }
        Ok(serde_json::from_slice(&bytes).ok())
    }
}
