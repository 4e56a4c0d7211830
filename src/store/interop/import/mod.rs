//! Sessions of other programs as sessions here (`programs` has the list). The source is only read. What is not included
//! is counted and reported.
//!
//! A file is read twice and one record at a time: first for what stands in the header, then for its rows.

mod chat;
mod claude;
mod codex;
mod codex_files;
mod database;
mod earlier;
mod folder;
mod gemini;
mod histories;
mod inline_files;
mod look;
mod new_session;
mod opencode;
mod opencode_storage;
mod parsed;
mod pi;
mod programs;
mod records;
mod rows;
mod run;
mod stop;
mod transcript;

pub use self::histories::{Histories, HistoryItem, histories, histories_in};
pub use self::look::{HistoryLook, SeenHistories};
pub use self::programs::HistoryKind;
pub use self::run::ImportRun;
pub use self::stop::ImportStop;

use self::parsed::{ConversationFile, ImportedLine, RecordForm, made, row_id};
use self::programs::FileFormat;
use self::rows::{Rows, Sieve};
use self::transcript::ForeignTranscript;
use crate::domain::ids::looks_generated;
use crate::domain::message::{Body, Info, InfoKind};
use crate::domain::notice::Level;
use crate::domain::prompt_text::is_prompt_name;
use crate::domain::session::{SessionMeta, TitleFrom};
use crate::domain::{At, MessageId, Mode, SessionId};
use crate::store::format::json::JsonFields;
use crate::store::format::{layout, portable_paths};
use crate::store::read::session;
use crate::store::{Journal, Store, StoreError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Number of rows written at a time.
const AT_ONCE: usize = 256;
/// Files of a session's folder that are read.
const READ: [&str; 6] = [layout::SESSION, layout::THEIR_TEMP, layout::HEADER, layout::LIVE, layout::OURS, layout::LOCK];
/// The key among lisle's own ones in the header that says where a session came from.
const ORIGIN: &str = "origin";
/// The key beside it: how many of what were not included.
const COUNTS: &str = "notIncluded";
/// Advice on a file of no known format.
const UNKNOWN: &str = "unknown format: expected a session of Claude Code, Codex, Gemini CLI, opencode, pi, OpenClaw, \
                       aichat or fabric, or a folder with a session.jsonl";
/// Advice on a conversation without a message.
const EMPTY: &str = "no messages: empty, or a subagent's transcript. Choose the main conversation's file";
/// Advice on a subagent's conversation.
const SUBAGENT: &str = "a subagent's transcript. Choose the main conversation's file";
/// Name of a line that its program may still be writing. The session has no note of it, which would stay when it is whole.
const HALF_WRITTEN: &str = "half-written last lines";
/// Name of lines that are longer than [`LONGEST`](crate::store::io::lines::LONGEST).
const TOO_LONG: &str = "lines longer than 64 MB";
/// Name of records of another file that come first and are not at hand.
const MISSING: &str = "earlier records, of a file that is missing,";
/// Prefix of the id of a row that says what was not included.
const LEFT: &str = "import-left-";

/// State that all sessions of an import share.
pub(super) struct ImportContext<'c> {
    /// The loosest mode that they may have.
    at_most: Mode,
    now: At,
    /// The sessions of a conversation's earlier imports, oldest first.
    known: &'c dyn Fn(&str) -> KnownImports,
    /// Set once the import is to stop.
    stop: &'c ImportStop,
}

/// Earlier imports of a conversation.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownImports {
    /// Sessions, oldest first.
    sessions: Vec<SessionId>,
    /// Name of the one in the trash that was deleted last.
    trashed: Option<String>,
}

impl KnownImports {
    /// The sessions.
    ///
    /// # Errors
    /// [`StoreError::Trashed`] if all that there is lies in the trash.
    fn sessions(self) -> Result<Vec<SessionId>, StoreError> {
        match self.trashed {
            Some(trash) if self.sessions.is_empty() => Err(StoreError::Trashed { trash }),
            _ => Ok(self.sessions),
        }
    }
}

/// Result of an import.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The new session.
    pub meta: SessionMeta,
    /// Program it came from.
    pub program: &'static str,
    /// Parts that were not included.
    pub left: Vec<NotIncluded>,
    /// Relation to an earlier import of the same conversation.
    pub again: Option<Reimport>,
}

/// Parts of a conversation that were not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotIncluded {
    /// Name of the parts, plural.
    pub what: &'static str,
    /// Number of parts.
    pub count: usize,
}

impl NotIncluded {
    /// A sentence for each.
    #[must_use]
    pub fn all(parts: &[NotIncluded]) -> Vec<String> {
        parts.iter().map(NotIncluded::words).collect()
    }

    /// A sentence.
    #[must_use]
    pub fn words(&self) -> String {
        let (first, rest) = self.what.split_at(1);
        format!("{}{rest} not included: {}.", first.to_uppercase(), self.count)
    }
}

/// Outcome of a second import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reimport {
    /// So many rows were added to the session of the earlier one.
    Added(SessionId, usize),
    /// Rows had changed: all of the session's were replaced, and the old ones are in the trash.
    Anew(SessionId),
    /// Another session was made: why.
    Another(String),
}

impl Reimport {
    /// In words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Reimport::Added(id, 0) => format!("Already imported as session {id}; nothing new."),
            Reimport::Added(id, 1) => {
                format!("Already imported as session {id}; added 1 new row.")
            }
            Reimport::Added(id, more) => {
                format!("Already imported as session {id}; added {more} new rows.")
            }
            Reimport::Anew(id) => format!(
                "Already imported as session {id}; its rows changed, so it was imported again. The old rows are in \
                 the trash."
            ),
            Reimport::Another(why) => why.clone(),
        }
    }
}

impl Journal {
    /// Keeps in the header where the session came from, so that a second import finds it.
    fn mark_origin(&mut self, origin: &str) {
        self.file.edit_fields(|fields| set_origin(fields, Some(origin)));
        self.header.set_due(true);
    }

    /// Counts of what an earlier import did not include, by kind. `None` when nobody says.
    fn not_included(&self) -> Option<BTreeMap<String, usize>> {
        serde_json::from_str(own_of(&self.file.head().fields).raw(COUNTS)?).ok()
    }

    /// Keeps in the header how many of what were not included, so that the next import says only what is new.
    fn mark_not_included(&mut self, counts: &BTreeMap<&'static str, usize>) {
        let mut own = own_of(&self.file.head().fields);
        own.set(COUNTS, serde_json::json!(counts).to_string());
        self.file.edit_fields(|fields| fields.set("lisle", own.render()));
        self.header.set_due(true);
    }
}

/// lisle's own keys of a header.
fn own_of(fields: &JsonFields) -> JsonFields {
    fields.raw("lisle").and_then(|raw| JsonFields::parse(raw).ok()).unwrap_or_default()
}

/// Says in a header where the session came from, or that it came from nowhere.
pub(in crate::store) fn set_origin(fields: &mut JsonFields, origin: Option<&str>) {
    let mut own = own_of(fields);
    match origin {
        Some(origin) => own.set(ORIGIN, serde_json::json!(origin).to_string()),
        None if !own.has(ORIGIN) && !own.has(COUNTS) => return,
        None => {
            own.remove(ORIGIN);
            own.remove(COUNTS);
        }
    }
    fields.set("lisle", own.render());
}

impl Store {
    /// Makes a session of a file or folder of another program, with its times and its directory. `at_most` is the loosest
    /// mode that it may have.
    ///
    /// # Errors
    /// When it cannot be read, is none of the known sorts, or the session not be written: then nothing of it stays.
    pub fn import(&self, written: &Path, from: &Path, at_most: Mode, now: At) -> Result<Imported, StoreError> {
        self.import_until(written, from, (at_most, now), &ImportStop::default())
    }

    /// The same, until it is told to stop.
    ///
    /// # Errors
    /// As [`Store::import`], and [`StoreError::Stopped`].
    pub fn import_until(
        &self,
        written: &Path,
        from: &Path,
        (at_most, now): (Mode, At),
        stop: &ImportStop,
    ) -> Result<Imported, StoreError> {
        let path = from.join(portable_paths::absolute(&written.to_string_lossy(), &self.inner.home));
        let _lock = self.import_lock(&path)?;
        let known = |origin: &str| self.imported_before(origin);
        let context = &ImportContext { at_most, now, known: &known, stop };
        self.import_path(path, context).map_err(|error| error.of_import(&self.inner.layout.sessions()))
    }

    fn import_path(&self, path: PathBuf, context: &ImportContext<'_>) -> Result<Imported, StoreError> {
        let io = self.io();
        let stat = io.stat(&path).map_err(|error| StoreError::io("import", &path, error))?;
        if stat.is_dir {
            return self.import_folder(&path, context);
        }
        self.regular(&path)?;
        if path.file_name().is_some_and(|name| name == layout::SESSION)
            && let Some(folder) = path.parent()
        {
            return self.import_folder(folder, context);
        }
        if let Some(folder) = self.unpacked(&path)? {
            let imported = self.import_folder(&folder, context);
            // A copy, in the temp directory.
            let _ = std::fs::remove_dir_all(&folder);
            return imported;
        }
        match self.format_of(&path)? {
            Some(FileFormat::One(kind, form)) => self.import_records(&path, kind, form, context, None),
            Some(FileFormat::Database) => {
                let (sessions, _) = database::sessions(&path)?;
                let why = match sessions.as_slice() {
                    [one] => {
                        let form = RecordForm::Database(one.id.clone());
                        return self.import_records(&path, HistoryKind::Opencode, form, context, None);
                    }
                    [] => "no sessions in this database",
                    _ => "several sessions in this database: import them with `lisle sessions import`",
                };
                Err(StoreError::NoImport { path, why })
            }
            None => self.import_lines_of_ours(&path, context),
        }
    }

    /// `why` another session of the same conversation is made, where there is one.
    fn import_records(
        &self,
        path: &Path,
        kind: HistoryKind,
        form: RecordForm,
        context: &ImportContext<'_>,
        why: Option<String>,
    ) -> Result<Imported, StoreError> {
        let no_import = |why| StoreError::NoImport { path: path.to_owned(), why };
        let mut reading = kind.reader().ok_or_else(|| no_import(UNKNOWN))?;
        let mut parts = kind.parts(path, form.clone());
        let odd = self.each_record(kind, &parts, &mut |value, line| {
            reading.first(&value, line);
            context.stop.check()
        })?;
        reading.ready(path);
        if let (Some(order), [part]) = (reading.order(), parts.as_mut_slice()) {
            part.form = RecordForm::Log(order);
        }
        let mut left: BTreeMap<&'static str, usize> = BTreeMap::new();
        let lacking = parts.iter().map(|part| part.lacks).sum::<u64>();
        left.extend([
            ("lines that are not JSON", odd.broken),
            (TOO_LONG, odd.too_long),
            (HALF_WRITTEN, odd.half_written),
            ("rewound messages", reading.rewound()),
            (MISSING, usize::try_from(lacking).unwrap_or(usize::MAX)),
        ]);
        if kind == HistoryKind::ClaudeCode {
            left.insert("subagent records", self.subagents(path));
        }
        let source = Source { parts, kind, reading, left, stop: context.stop.clone() };
        if source.reading.facts().subagent {
            return Err(source.refused(SUBAGENT));
        }
        let earlier = match (&why, source.origin()) {
            (None, Some(origin)) => (context.known)(&origin).sessions()?,
            _ => Vec::new(),
        };
        let Some(last) = earlier.last() else { return self.import_anew(source, context, why) };
        let last = last.clone();
        match self.update(&earlier, source)? {
            Some(imported) => Ok(imported),
            None => {
                let of_ours = |id: &MessageId| kind.prefix().is_some_and(|prefix| id.as_str().starts_with(prefix));
                let why = if self.row_ids(&last)?.iter().all(of_ours) {
                    if lacking == 0 && self.lacked_records(&last) {
                        let why = format!(
                            "Its beginning was missing at its import as session {last}; imported whole as a new session."
                        );
                        return self.import_records(path, kind, form, context, Some(why));
                    }
                    format!(
                        "The conversation was rewound in {} after its import as session {last}; imported as a new \
                         session.",
                        kind.name()
                    )
                } else {
                    format!("Its earlier import, session {last}, was continued here; imported as a new session.")
                };
                self.import_records(path, kind, form, context, Some(why))
            }
        }
    }

    /// Number of subagents' conversations beside a transcript.
    fn subagents(&self, path: &Path) -> usize {
        let names = self.io().list(&path.with_extension("").join("subagents")).unwrap_or_default();
        names.iter().filter(|name| Path::new(name).extension().is_some_and(|ending| ending == "jsonl")).count()
    }

    /// Name by which its program continues the session, unless another one has it here.
    fn free_alias(&self, source: &Source) -> Option<String> {
        if !matches!(source.kind, HistoryKind::Fabric | HistoryKind::Aichat) {
            return None;
        }
        let name = source.reading.facts().id.clone().filter(|name| is_prompt_name(name))?;
        (!looks_generated(&name) && self.named(&name).is_none()).then_some(name)
    }

    /// Adds what came since to the session of an earlier import. `None`: each of them went on by itself here, or the
    /// conversation was rewound there; nothing was changed.
    fn update(&self, earlier: &[SessionId], source: Source) -> Result<Option<Imported>, StoreError> {
        let program = source.kind;
        let ids = self.ids_of(&source)?;
        if ids.is_empty() {
            return Err(source.without_messages());
        }
        let mut fitting = None;
        for id in earlier.iter().rev() {
            let known = self.row_ids(id)?;
            if ids.iter().zip(&known).all(|(new, old)| new == old) {
                fitting = Some((id, known));
                break;
            }
        }
        let Some((id, known)) = fitting else { return Ok(None) };
        let Some(more) = ids.len().checked_sub(known.len()) else {
            // It went on here alone.
            let meta = self.reader(id).meta(&session::find(self.io(), &self.session_dir(id))?);
            let again = Some(Reimport::Added(id.clone(), 0));
            return Ok(Some(Imported { meta, program: program.name(), left: Vec::new(), again }));
        };
        let (journal, mut meta) = self.writer_of_earlier(id)?;
        let last = meta.used;
        let facts = source.reading.facts();
        if let (Some(title), true) = (&facts.title, meta.title_from != TitleFrom::User) {
            (meta.title, meta.title_from) = (title.clone(), facts.title_from);
        }
        let left = self.copy(Rows::new(journal, last, known.into()), &source, meta)?.left;
        let meta = self.reader(id).meta(&session::find(self.io(), &self.session_dir(id))?);
        let again = Some(Reimport::Added(id.clone(), more));
        Ok(Some(Imported { meta, program: program.name(), left, again }))
    }

    /// Copies a source's rows into a session that has these properties then.
    fn copy(&self, mut writer: Rows, source: &Source, mut meta: SessionMeta) -> Result<Copied, StoreError> {
        let (mut reading, mut left, program) = (source.reading.again(), source.left.clone(), source.kind);
        let known = !writer.known.is_empty();
        let mut sieve = Sieve::default();
        self.each_record(program, &source.parts, &mut |value, line| {
            source.stop.check()?;
            let (read, row) = (reading.read(&value, line), reading.row(&value, line));
            for read in sieve.record(read, |index| source.row(&row, index)) {
                match read {
                    ImportedLine::Rows(rows) => {
                        for row in rows {
                            let lost = writer.push_with_files(row, self.io())?;
                            *left.entry("attached files").or_default() += lost;
                        }
                    }
                    ImportedLine::File(file) => writer.files.push(file),
                    ImportedLine::Results(results) => {
                        for result in results {
                            let lost = writer.answer(result, self.io())?;
                            *left.entry("attached files").or_default() += lost;
                        }
                    }
                    ImportedLine::Known(about) => writer.know(about),
                    ImportedLine::Interrupted(_) | ImportedLine::Nothing => {}
                    ImportedLine::Left(what) => *left.entry(what).or_default() += 1,
                }
            }
            // A file belongs to the message of its own record: without one it goes with no later message.
            *left.entry("attached files").or_default() += std::mem::take(&mut writer.files).len();
            writer.write(AT_ONCE)
        })?;
        left.retain(|_, count| *count > 0);
        let before = match writer.journal.not_included() {
            Some(before) => before,
            // Nobody says what an earlier import left out: nothing new, then.
            None if known => left.iter().map(|(what, count)| ((*what).to_owned(), *count)).collect(),
            None => BTreeMap::new(),
        };
        writer.journal.mark_not_included(&left);
        left.iter_mut().for_each(|(what, count)| {
            *count = count.saturating_sub(before.get(*what).copied().unwrap_or(0));
        });
        left.retain(|_, count| *count > 0);
        let passing = left.remove(HALF_WRITTEN).map(|count| NotIncluded { what: HALF_WRITTEN, count });
        let mut left: Vec<NotIncluded> = left.into_iter().map(|(what, count)| NotIncluded { what, count }).collect();
        // It stays with the session what it lacks.
        if !left.is_empty() {
            let which = if known { "The rows above were added from" } else { "This was" };
            let words = left.iter().map(NotIncluded::words).collect::<Vec<_>>().join(" ");
            let text = format!("{which} a session of {}. {words}", program.name());
            let info = Info { text, level: Level::Info, kind: InfoKind::Remark, carried: None };
            let mut row = made(writer.last, Body::Info(info));
            let number = if known { format!("-{}", sieve.ids.len()) } else { String::new() };
            row.id = MessageId::new(format!("{LEFT}{}{number}", meta.id));
            writer.push(row);
        }
        left.extend(passing);
        let facts = reading.facts();
        if facts.usage.output_tokens > 0 || facts.usage.input_tokens > 0 {
            meta.usage = facts.usage.clone();
        }
        meta.model = facts.model.clone().or(meta.model);
        writer.end(meta)?;
        Ok(Copied { left, rows: sieve.ids.len() })
    }
}

/// A conversation of another program, looked through and ready to be copied.
struct Source {
    parts: Vec<ConversationFile>,
    kind: HistoryKind,
    reading: Box<dyn ForeignTranscript>,
    left: BTreeMap<&'static str, usize>,
    stop: ImportStop,
}

impl Source {
    /// Identity of the conversation.
    fn origin(&self) -> Option<String> {
        let id = self.reading.facts().id.as_deref()?;
        Some(format!("{}:{id}", self.kind.name()))
    }

    /// Advice on one without a message.
    fn without_messages(&self) -> StoreError {
        self.refused(EMPTY)
    }

    fn refused(&self, why: &'static str) -> StoreError {
        let path = self.parts.last().map(|part| part.path.clone()).unwrap_or_default();
        StoreError::NoImport { path, why }
    }

    /// The id of a row of a record: the same at the next import.
    fn row(&self, record: &str, index: usize) -> MessageId {
        row_id(self.kind.prefix().unwrap_or_default(), record, index)
    }
}

/// Result of copying.
struct Copied {
    /// Rows of the conversation.
    rows: usize,
    /// Parts that were not included.
    left: Vec<NotIncluded>,
}
