//! Reading one session's files: the header, pages of rows, what was odd. Changes nothing.

use crate::domain::message::{Body, Message};
use crate::domain::session::SessionMeta;
use crate::domain::{At, MessageId, SessionId};
use crate::store::StoreError;
use crate::store::format::header::{self, Counted, First, Home, Second};
use crate::store::format::json::JsonFields;
use crate::store::format::layout;
use crate::store::format::row::{self, Oddity};
use crate::store::io::{How, Io, Stat, lines, whole_file};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Files up to this size are looked through line by line when they are opened.
const SCANNED: u64 = 4 << 20;
/// A page with so many bytes takes no more rows.
const PAGE: usize = 4 << 20;
/// Maximum length of a header.
const HEADER_AT_MOST: u64 = 64 << 20;

/// `session.jsonl` as it was found.
#[derive(Debug)]
pub struct FoundSession {
    /// The file; `None` when there is none, or only what another program left under its temporary name.
    pub file: Option<File>,
    /// Inode.
    pub ino: u64,
    /// Length.
    pub len: u64,
    /// Last change.
    pub modified: i64,
    /// The header.
    pub head: Head,
    /// Irregularities, one sentence each.
    pub odd: Vec<String>,
}

/// The header, from line 1 or from `header.json`.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// Keys.
    pub fields: JsonFields,
    /// The engine's own data.
    pub own: Value,
    /// SHA-256 of what stands before the rows, without the newline.
    pub hash: String,
    /// Length of line 1 with its newline where it can be overwritten in place; else 0.
    pub slot: usize,
    /// Start of the rows.
    pub body: u64,
    /// Line 1 is a header, but longer than other programs read: it stays as it is.
    pub long: bool,
    /// Line 1 is a header.
    pub sound: bool,
    /// True if the bytes before the rows are no header; they go to salvage when it is replaced.
    pub displaced: bool,
    /// Length of the file that the header's counts cover; `None` when nobody says.
    pub counted_to: Option<u64>,
    /// `header.json` is newer than line 1: a refresh was not finished.
    pub unfinished: bool,
    /// Another program wrote the header last.
    pub foreign: bool,
    /// The header as we wrote it last, where another program wrote it since.
    pub ours: Option<JsonFields>,
}

/// Opens a session's file and reads its header; nothing more.
///
/// # Errors
/// When it cannot be read for another reason than that it is not there.
pub fn find(io: &dyn Io, dir: &Path) -> Result<FoundSession, StoreError> {
    let path = dir.join(layout::SESSION);
    let mut odd = Vec::new();
    let second = whole_file::read(io, &dir.join(layout::HEADER))?.and_then(|bytes| Second::parse(&bytes));
    let (file, stat) = match open(io, &path) {
        Ok(opened) => opened,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let theirs = dir.join(layout::THEIR_TEMP);
            match open(io, &theirs) {
                Ok((temp, stat)) => {
                    let (bytes, first) = look(io, &temp, stat, &theirs)?;
                    odd.push(
                        "session.jsonl is missing; showing session.jsonl.tmp, left by another program.".to_owned(),
                    );
                    let head = head(first, &bytes, second, &mut odd);
                    return Ok(FoundSession {
                        file: Some(temp),
                        ino: 0,
                        len: stat.len,
                        modified: stat.modified,
                        head,
                        odd,
                    });
                }
                // Renamed just now, or there is none.
                Err(_) => match open(io, &path) {
                    Ok(opened) => opened,
                    Err(_) if second.is_some() => {
                        odd.push("session.jsonl is missing; using the header from header.json.".to_owned());
                        let head = head(First::Empty, b"", second, &mut Vec::new());
                        return Ok(FoundSession { file: None, ino: 0, len: 0, modified: 0, head, odd });
                    }
                    Err(_) => return Err(StoreError::NoSession { path: dir.to_owned() }),
                },
            }
        }
        Err(error) => return Err(StoreError::io("read", &path, error)),
    };
    let (bytes, first) = look(io, &file, stat, &path)?;
    let head = head(first, &bytes, second, &mut odd);
    Ok(FoundSession { file: Some(file), ino: stat.ino, len: stat.len, modified: stat.modified, head, odd })
}

/// Opens a file and says what is known of the very file that was opened: another program may replace it meanwhile.
///
/// # Errors
/// The system's error.
pub fn open(io: &dyn Io, path: &Path) -> std::io::Result<(File, Stat)> {
    let file = io.open(path, How::Read)?;
    let stat = io.stat_of(&file)?;
    Ok((file, stat))
}

/// The first bytes, at least to the end of the header.
fn look(io: &dyn Io, file: &File, stat: Stat, path: &Path) -> Result<(Vec<u8>, First), StoreError> {
    let mut want = header::SLOT_MAX as u64;
    loop {
        let bytes = lines::range(io, file, 0, want.min(stat.len)).map_err(|e| StoreError::io("read", path, e))?;
        let first = header::first(&bytes);
        let cut = match &first {
            First::Header { ended, .. } => !ended,
            First::Message { .. } => false,
            First::Broken { .. } => !bytes.contains(&b'\n'),
            First::Empty => true,
        };
        if !cut || want >= stat.len.min(HEADER_AT_MOST) {
            return Ok((bytes, first));
        }
        want = want.saturating_mul(8);
    }
}

fn head(first: First, bytes: &[u8], second: Option<Second>, odd: &mut Vec<String>) -> Head {
    let mut head = Head { foreign: true, ..Head::default() };
    match first {
        First::Header { fields, start, end, ended, lossy } => {
            head.fields = fields;
            head.sound = true;
            head.displaced = lossy;
            head.body = end as u64;
            head.long = end > header::SLOT_MAX;
            if ended && start == 0 && !lossy && (end == header::SLOT || end == header::SLOT_MAX) {
                head.slot = end;
            }
            if bytes.starts_with(b"\xef\xbb\xbf") {
                odd.push("The file begins with a byte order mark.".to_owned());
            }
            if start > 3 || (start > 0 && !bytes.starts_with(b"\xef\xbb\xbf")) {
                odd.push("Line 1 is blank; the header follows it.".to_owned());
            }
            if bytes[..end].ends_with(b"\r\n") {
                odd.push("Lines end with CRLF.".to_owned());
            }
            if lossy {
                odd.push("The header in line 1 contains bytes that are not UTF-8.".to_owned());
            }
            if head.long {
                odd.push(format!(
                    "The header in line 1 has {end} bytes; other programs read only {}. Changes go to header.json.",
                    header::SLOT_MAX
                ));
            }
        }
        First::Message { start } => {
            head.body = start as u64;
            odd.push("The header is missing: line 1 is a message.".to_owned());
        }
        First::Broken { end, why } => {
            head.body = end as u64;
            head.displaced = true;
            odd.push(format!("{}.", why.trim_end_matches('.').replacen("line", "Line", 1)));
        }
        First::Empty => odd.push("session.jsonl is empty.".to_owned()),
    }
    let line = bytes.get(..usize::try_from(head.body).unwrap_or(0)).unwrap_or_default();
    head.hash = header::hash(line.strip_suffix(b"\n").unwrap_or(line));
    let Some(second) = second.map(|second| second.for_line(&head.hash)) else { return head };
    head.own = second.own;
    let known = head.hash == second.before || head.hash == second.after;
    if !known && head.sound && head.fields.raw("name") != second.header.raw("name") {
        // Renamed by another program, so by a person: no title that a model makes replaces it.
        let mut own = head.fields.raw("lisle").and_then(|raw| JsonFields::parse(raw).ok()).unwrap_or_default();
        own.set("titleFrom", "\"user\"".to_owned());
        head.fields.set("lisle", own.render());
    }
    if !known && head.sound {
        head.ours = Some(second.header.clone());
    }
    if known || !head.sound {
        head.counted_to = Some(second.length);
        head.fields = second.header;
        head.unfinished = head.hash != second.after;
        head.foreign = false;
        if !head.sound {
            odd.push("Using the header from header.json.".to_owned());
        }
    }
    head
}

/// A page of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct RowPage {
    /// The rows, oldest first.
    pub rows: Vec<Message>,
    /// End of the page before; `None` if there is none.
    pub earlier: Option<u64>,
}

/// One session's files for reading.
#[derive(Clone, Debug)]
pub struct SessionReader<'a> {
    /// The calls.
    pub io: &'a dyn Io,
    /// The session.
    pub id: &'a SessionId,
    /// Directory.
    pub dir: PathBuf,
    /// The user's home directory.
    pub home: &'a Path,
}

impl SessionReader<'_> {
    /// The session's properties as the header has them.
    pub fn meta(&self, found: &FoundSession) -> SessionMeta {
        let place = Home { dir: &self.dir, home: self.home };
        let mut meta = header::decode(&found.head.fields, self.id, place, At(found.modified));
        meta.odd.splice(0..0, found.odd.iter().cloned());
        meta
    }

    /// The last `rows` rows before `end`.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn page(&self, found: &FoundSession, end: u64, rows: usize, created: At) -> Result<RowPage, StoreError> {
        let Some(file) = &found.file else { return Ok(RowPage { rows: Vec::new(), earlier: None }) };
        let end = end.min(found.len);
        let error = |e| StoreError::io("read", &self.dir.join(layout::SESSION), e);
        let lines = lines::within(self.io, file, found.head.body.min(end), end, rows, PAGE).map_err(error)?;
        // Only what cannot be read is shown with the number of its line.
        let mut starts = None;
        let mut rows = Vec::new();
        for line in &lines.lines {
            let mut made = row::read(&line.bytes, line.at, 0, &self.dir).rows;
            if end <= SCANNED && made.iter().any(|row| matches!(row.body, Body::Odd(_))) {
                let starts = match &mut starts {
                    Some(starts) => starts,
                    None => starts.insert(self.starts(file, end).map_err(error)?),
                };
                let number = starts.partition_point(|at| *at <= line.at) as u64;
                made = row::read(&line.bytes, line.at, number, &self.dir).rows;
            }
            rows.append(&mut made);
        }
        rows.iter_mut().for_each(row::settle);
        fill_times(&mut rows, created);
        Ok(RowPage { rows, earlier: lines.earlier })
    }

    /// Counts that the header should have, whatever it has: all rows of a file that is not large.
    /// `meta` is its own.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn recount(&self, found: &FoundSession, meta: &SessionMeta) -> Result<Counted, StoreError> {
        let mut counted = counted_of(meta, found);
        if let Some(file) = found.file.as_ref().filter(|_| found.len <= SCANNED) {
            counted = Counted { messages: 0, last_role: None, last_final: None, ..counted };
            self.count_from(file, found.head.body, found.len, &mut counted)?;
        }
        Ok(counted)
    }

    /// Counts of the header plus the rows that came after it was written, as a crash leaves them;
    /// all rows if it has none. `meta` is its own.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn up_to_date(&self, found: &FoundSession, meta: &SessionMeta) -> Result<Counted, StoreError> {
        let mut counted = counted_of(meta, found);
        let from = counted_to(found);
        if let Some(file) = &found.file {
            self.count_from(file, from, found.len, &mut counted)?;
        }
        Ok(counted)
    }

    /// Counts the rows between two bytes.
    fn count_from(&self, file: &File, start: u64, end: u64, counted: &mut Counted) -> Result<(), StoreError> {
        lines::each(self.io, file, start, end, |line| -> std::io::Result<()> {
            if !blank(line.bytes) {
                let bytes = whole_line(self.io, file, &line)?;
                row::read(&bytes, line.at, 0, &self.dir).rows.iter().for_each(|row| count(counted, row));
            }
            Ok(())
        })
        .map_err(|e| StoreError::io("read", &self.dir.join(layout::SESSION), e))
    }

    /// Start of each line up to `end`.
    fn starts(&self, file: &File, end: u64) -> std::io::Result<Vec<u64>> {
        let mut starts = Vec::new();
        lines::each(self.io, file, 0, end, |line| -> std::io::Result<()> {
            starts.push(line.at);
            Ok(())
        })?;
        Ok(starts)
    }

    /// Looks through the rows of a file that is not large: what is odd, and what the header should count.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn scan(&self, found: &FoundSession, counted: &mut Counted) -> Result<Vec<String>, StoreError> {
        let Some(file) = &found.file else { return Ok(Vec::new()) };
        let error = |e| StoreError::io("read", &self.dir.join(layout::SESSION), e);
        // Rows that came after the header was last written, as after a death, are counted; where nobody counted, all.
        let trusted = counted_to(found);
        if found.len > SCANNED {
            let rest = found.len.saturating_sub(trusted);
            // What came since our own header is little, unless a row is very long.
            if rest > 0 && (rest <= SCANNED || found.head.counted_to.is_some()) {
                self.count_from(file, trusted, found.len, counted)?;
            }
            return Ok(Vec::new());
        }
        let mut odd: BTreeMap<Oddity, Vec<u64>> = BTreeMap::new();
        let mut number = 0u64;
        let mut ended = true;
        let line = |line: lines::LineView<'_>| -> std::io::Result<()> {
            number += 1;
            ended = line.ended;
            if line.at >= found.head.body && !blank(line.bytes) {
                let read = row::read(&whole_line(self.io, file, &line)?, line.at, number, &self.dir);
                if line.at >= trusted {
                    read.rows.iter().for_each(|row| count(counted, row));
                }
                if let Some(oddity) = read.odd {
                    odd.entry(oddity).or_default().push(number);
                }
            }
            Ok(())
        };
        lines::each(self.io, file, 0, found.len, line).map_err(error)?;
        let mut sentences: Vec<String> = odd.iter().map(|(oddity, lines)| sentence(oddity, lines)).collect();
        if !ended {
            sentences.push("The last line has no newline.".to_owned());
        }
        Ok(sentences)
    }

    /// Start of the last row of each id, from byte `from` on.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn finals(
        &self,
        found: &FoundSession,
        from: u64,
    ) -> Result<std::collections::HashMap<MessageId, u64>, StoreError> {
        let mut out = std::collections::HashMap::new();
        let Some(file) = &found.file else { return Ok(out) };
        // A file that became shorter was written anew by another program.
        let start = if from > found.len { found.head.body } else { from.max(found.head.body) };
        let line = |line: lines::LineView<'_>| -> std::io::Result<()> {
            let bytes = whole_line(self.io, file, &line)?;
            if let Some(id) = std::str::from_utf8(&bytes).ok().and_then(|l| JsonFields::parse(l).ok()?.text("id")) {
                out.insert(MessageId::new(id), if from > found.len { u64::MAX } else { line.at });
            }
            Ok(())
        };
        lines::each(self.io, file, start, found.len, line)
            .map_err(|e| StoreError::io("read", &self.dir.join(layout::SESSION), e))?;
        Ok(out)
    }
}

/// All of a line, also of one that is shown cut off because it is very long.
pub(in crate::store) fn whole_line<'a>(
    io: &dyn Io,
    file: &File,
    line: &lines::LineView<'a>,
) -> std::io::Result<Cow<'a, [u8]>> {
    if line.len == line.bytes.len() as u64 {
        return Ok(Cow::Borrowed(line.bytes));
    }
    lines::range(io, file, line.at, line.at + line.len).map(Cow::Owned)
}

pub(in crate::store) fn blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

/// Rows without a time have that of the row before.
pub(in crate::store) fn fill_times(rows: &mut [Message], created: At) {
    let mut last = created;
    for row in rows {
        if row.at == At(0) {
            row.at = last;
        }
        last = row.at;
    }
}

/// Irregularity of these lines.
pub(in crate::store) fn sentence(oddity: &Oddity, lines: &[u64]) -> String {
    let shown: Vec<String> = lines.iter().take(20).map(u64::to_string).collect();
    let more =
        if lines.len() > shown.len() { format!(" and {} more", lines.len() - shown.len()) } else { String::new() };
    let (lines_are, verb) = if lines.len() == 1 { ("Line", "") } else { ("Lines", "s") };
    let list = format!("{lines_are} {}{more}", shown.join(", "));
    let one = verb.is_empty();
    let pick = |single: &str, many: &str| if one { single.to_owned() } else { many.to_owned() };
    match oddity {
        Oddity::Unreadable => {
            format!("{list} unreadable; {} and kept.", pick("shown as is", "shown as is"))
        }
        Oddity::NotUtf8 => format!("{list} {} bytes that are not UTF-8.", pick("holds", "hold")),
        Oddity::Glued => format!("{list} {} several rows; missing newline.", pick("holds", "hold")),
        Oddity::NoMessage => format!("{list} {} no message; {} kept.", pick("is", "are"), pick("it is", "they are")),
        Oddity::UnknownType(kind) => {
            format!("{list} {} of type {kind:?}, unknown to this version; kept.", pick("is", "are"))
        }
    }
}

/// Start of the rows that the header does not count.
pub(in crate::store) fn counted_to(found: &FoundSession) -> u64 {
    match found.head.counted_to {
        Some(to) => to.max(found.head.body),
        None if found.head.sound && found.head.fields.has("messageCount") => found.len,
        None => found.head.body,
    }
}

/// Counts of the header; missing figures are those of the properties.
pub fn counted_of(meta: &SessionMeta, found: &FoundSession) -> Counted {
    let fields = &found.head.fields;
    let roles = ["user", "assistant", "plan", "tool", "error"];
    let role = fields.text("lastMessageRole");
    Counted {
        messages: meta.messages,
        last_message: meta.last_message,
        used: meta.used,
        preview: meta.preview.clone(),
        last_role: roles.into_iter().find(|known| role.as_deref() == Some(known)),
        last_final: fields.text("lastFinalMessageId"),
    }
}

/// Counts a row for the header, as Craft Agents does.
pub fn count(counted: &mut Counted, row: &Message) {
    counted.used = counted.used.max(row.at);
    counted.last_role = match &row.body {
        Body::Odd(_) => return,
        Body::User(_) => Some("user"),
        Body::Assistant(_) | Body::Thinking(_) => Some("assistant"),
        Body::Tool(_) => Some("tool"),
        Body::Error(_) => Some("error"),
        Body::Plan(_) => Some("plan"),
        Body::Info(_) => None,
    };
    counted.messages += 1;
    match &row.body {
        Body::User(user) => {
            counted.last_message = counted.last_message.max(row.at);
            if counted.preview.is_empty() {
                counted.preview = header::preview(&user.text);
            }
        }
        Body::Assistant(text) if !text.intermediate => {
            counted.last_message = counted.last_message.max(row.at);
            counted.last_final = Some(row.id.as_str().to_owned());
        }
        _ => {}
    }
}
