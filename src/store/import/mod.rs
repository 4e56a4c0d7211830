//! Sessions of other programs as sessions here: a folder of lisle or Craft Agents, a transcript of Claude Code, a rollout
//! of Codex. The source is only read. What does not come along is counted and told.
//!
//! A file is read twice and one line at a time: first for what stands in the header, then for its rows.

mod claude;
mod codex;

use super::branch::Manner;
use super::io::How;
use super::session;
use super::{Durability, Journal, Store, StoreError, layout, portable, row, tail};
use crate::domain::message::{Body, Info, InfoKind, Message};
use crate::domain::notice::Level;
use crate::domain::session::{SessionMeta, TitleFrom};
use crate::domain::tool::{ToolCall, ToolStatus};
use crate::domain::{At, CallId, MessageId, Mode, SessionId};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// So many rows are written at a time.
const AT_ONCE: usize = 256;
/// A file says within so many lines whose it is.
const TOLD_BY: usize = 50;

/// What came of an import.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The new session.
    pub meta: SessionMeta,
    /// Whose it was.
    pub program: &'static str,
    /// What did not come along, one sentence each.
    pub left: Vec<String>,
}

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    Claude,
    Codex,
}

/// What stands in the header of the new session.
#[derive(Debug, Default)]
struct Facts {
    created: Option<At>,
    cwd: Option<PathBuf>,
    title: Option<String>,
    title_from: TitleFrom,
}

/// What a line is.
enum Read {
    /// These rows.
    Rows(Vec<Message>),
    /// The result of a call of before.
    Results(Vec<Answered>),
    /// Nothing that belongs into a conversation.
    Nothing,
    /// Something that is left out: what, in the plural.
    Left(&'static str),
}

/// What a call gave.
struct Answered {
    call: String,
    text: String,
    failed: bool,
    exit: Option<i32>,
}

impl Store {
    /// Makes a session of a file or folder of another program, with its times and its directory. `at_most` is the loosest
    /// mode that it may have.
    ///
    /// # Errors
    /// When it cannot be read, is none of the known sorts, or the session not be written: then nothing of it stays.
    pub fn import(&self, written: &Path, from: &Path, at_most: Mode, now: At) -> Result<Imported, StoreError> {
        let io = self.io();
        let path = from.join(portable::absolute(&written.to_string_lossy(), &self.inner.home));
        let stat = io.stat(&path).map_err(|error| StoreError::io("import", &path, error))?;
        let unknown =
            |why: &str| StoreError::io("import", &path, io::Error::new(ErrorKind::InvalidData, why.to_owned()));
        if stat.is_dir {
            return self.import_folder(&path, at_most, now);
        }
        if path.file_name().is_some_and(|name| name == layout::SESSION)
            && let Some(folder) = path.parent()
        {
            return self.import_folder(folder, at_most, now);
        }
        match self.whose(&path)? {
            Some(program) => self.import_lines(&path, program, at_most, now),
            None => Err(unknown(
                "it is no session that lisle knows: a folder with a session.jsonl, a transcript of Claude Code, or a rollout of Codex",
            )),
        }
    }

    fn import_folder(&self, dir: &Path, at_most: Mode, now: At) -> Result<Imported, StoreError> {
        let name = dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let id = SessionId::parse(name).unwrap_or_else(|_| SessionId::numbered(0));
        let reader = session::Reader { io: self.io(), id: &id, dir: dir.to_owned(), home: &self.inner.home };
        let meta = self.branch_of(&reader, None, now, Manner::Import { at_most })?;
        Ok(Imported { meta, program: "lisle or Craft Agents", left: Vec::new() })
    }

    /// Shows every line that is a JSON object, in order. Gives how many lines are none.
    fn objects(&self, path: &Path, mut show: impl FnMut(Value) -> Result<(), StoreError>) -> Result<usize, StoreError> {
        let io = self.io();
        let error = |error| StoreError::io("import", path, error);
        let file = io.open(path, How::Read).map_err(error)?;
        let len = io.stat_of(&file).map_err(error)?.len;
        let (mut odd, mut failed) = (0, None);
        let read = tail::each(io, &file, 0, len, |line| -> io::Result<()> {
            if session::blank(line.bytes) {
                return Ok(());
            }
            match serde_json::from_slice::<Value>(line.bytes) {
                Ok(value) if value.is_object() => show(value).map_err(|error| {
                    failed = Some(error);
                    io::Error::from(ErrorKind::Interrupted)
                }),
                _ => {
                    odd += 1;
                    Ok(())
                }
            }
        });
        match (failed, read) {
            (Some(failed), _) => Err(failed),
            (None, read) => read.map(|()| odd).map_err(error),
        }
    }

    fn whose(&self, path: &Path) -> Result<Option<Program>, StoreError> {
        let io = self.io();
        let error = |error| StoreError::io("import", path, error);
        let file = io.open(path, How::Read).map_err(error)?;
        let len = io.stat_of(&file).map_err(error)?.len;
        let (lines, _) = tail::after(io, &file, 0, len, TOLD_BY).map_err(error)?;
        let values = lines.iter().filter_map(|line| serde_json::from_slice::<Value>(&line.bytes).ok());
        Ok(values
            .filter_map(|value| {
                if codex::is(&value) {
                    return Some(Program::Codex);
                }
                claude::is(&value).then_some(Program::Claude)
            })
            .next())
    }

    fn import_lines(&self, path: &Path, program: Program, at_most: Mode, now: At) -> Result<Imported, StoreError> {
        let mut facts = Facts::default();
        let odd = self.objects(path, |value| {
            match program {
                Program::Claude => claude::facts(&value, &mut facts),
                Program::Codex => codex::facts(&value, &mut facts),
            }
            Ok(())
        })?;
        let created = facts.created.unwrap_or(now);
        let cwd = facts.cwd.unwrap_or_else(|| self.inner.home.clone());
        let mut meta = SessionMeta::new(self.fresh_id(created), created, Mode::Ask.stricter(at_most), cwd);
        meta.title = facts.title.unwrap_or_default();
        meta.title_from = facts.title_from;
        let (id, journal) = self.create(&meta)?;
        let mut writer = Rows { journal, waiting: VecDeque::new(), made: 0, last: created };
        let mut left: BTreeMap<&'static str, usize> = BTreeMap::new();
        let written = self.objects(path, |value| {
            let read = match program {
                Program::Claude => claude::read(&value),
                Program::Codex => codex::read(&value),
            };
            for read in read {
                match read {
                    Read::Rows(rows) => rows.into_iter().for_each(|row| writer.push(row)),
                    Read::Results(results) => results.into_iter().for_each(|result| writer.answer(result)),
                    Read::Nothing => {}
                    Read::Left(what) => *left.entry(what).or_default() += 1,
                }
            }
            writer.write(AT_ONCE)
        });
        if odd > 0 {
            left.insert("lines that are no JSON", odd);
        }
        let told = |(what, count): (&str, usize)| {
            let (first, rest) = what.split_at(1);
            format!("{}{rest} that did not come along: {count}.", first.to_uppercase())
        };
        let left: Vec<String> = left.into_iter().map(told).collect();
        let program = match program {
            Program::Claude => "Claude Code",
            Program::Codex => "Codex",
        };
        // It stays with the session what it lacks.
        if !left.is_empty() {
            let text = format!("This was a session of {program}. {}", left.join(" "));
            let info = Info { text, level: Level::Info, kind: InfoKind::Remark, carried: None };
            writer.push(made(writer.last, Body::Info(info)));
        }
        let written = written.and_then(|_| writer.end());
        let meta = match written {
            Ok(()) => self.reader(&id).meta(&session::find(self.io(), &self.session_dir(&id))?),
            Err(error) => {
                drop(writer);
                // What is half imported helps nobody.
                let _ = self.delete_now(&id);
                return Err(error);
            }
        };
        Ok(Imported { meta, program, left })
    }
}

/// Rows on their way into the new session. A call waits for its result, and what follows it waits too.
struct Rows {
    journal: Journal,
    waiting: VecDeque<Message>,
    made: u64,
    last: At,
}

impl Rows {
    fn push(&mut self, mut row: Message) {
        self.made += 1;
        // Ids of other programs are not unique here.
        row.id = MessageId::new(format!("msg-{}-{:06}", row.at.0, self.made));
        if row.at == At(0) {
            row.at = self.last;
        }
        self.last = row.at;
        self.waiting.push_back(row);
    }

    fn answer(&mut self, result: Answered) {
        let open = |row: &&mut Message| row.tool().is_some_and(|call| call.id.as_str() == result.call);
        if let Some(row) = self.waiting.iter_mut().rev().find(open)
            && let Body::Tool(call) = &mut row.body
        {
            call.status = if result.failed { ToolStatus::Error } else { ToolStatus::Completed };
            call.figures.exit = result.exit;
            call.result = Some(result.text);
        }
    }

    /// Writes what is whole, once there is so much of it.
    fn write(&mut self, least: usize) -> Result<(), StoreError> {
        if self.waiting.len() < least.max(1) {
            return Ok(());
        }
        let whole = |row: &&Message| row.tool().is_none_or(|call| call.result.is_some());
        let count = self.waiting.iter().take_while(whole).count();
        let rows: Vec<Message> = self.waiting.drain(..count).collect();
        if rows.is_empty() { Ok(()) } else { self.journal.append(&rows, Durability::Written) }
    }

    fn end(&mut self) -> Result<(), StoreError> {
        self.waiting.iter_mut().for_each(row::settle);
        self.write(1)?;
        self.journal.close()
    }
}

/// A row of this time.
fn made(at: At, body: Body) -> Message {
    Message::new(MessageId::new(""), at, body)
}

/// A call that has no result yet.
fn call(id: &str, name: &str, input: Value) -> Body {
    let subject = row::subject(&input);
    Body::Tool(Box::new(ToolCall {
        id: CallId::new(id),
        name: row::own_tool(name).to_owned(),
        input,
        subject,
        status: ToolStatus::Executing,
        result: None,
        millis: None,
        figures: Default::default(),
        decision: None,
    }))
}

/// The time of a line.
fn time(value: &Value) -> At {
    let text = value.get("timestamp").and_then(Value::as_str);
    let parsed = text.and_then(|text| text.parse::<jiff::Timestamp>().ok());
    At(parsed.map_or(0, jiff::Timestamp::as_millisecond))
}

/// The text of content that is one text, or blocks of which some are text.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
