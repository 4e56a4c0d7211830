//! `live.jsonl`: what can still change. Running calls, text that is streaming, the queue, and whether a turn runs.
//!
//! One entry a line; the last line of an id wins. [`Live`] holds the same in memory, so that the file can be written
//! anew at any time; `live_file` does that. Of text that streams in, only what the file lacks need be in memory. When the file may
//! be emptied is the journal's business.
//!
//! | line | means |
//! |---|---|
//! | `{"from":N,"row":{…}}` | this row, opened when `session.jsonl` had N bytes |
//! | `{"id":"…","at":N,"add":"…"}` | text added at byte N of that row's text |
//! | `{"drop":"…"}` | that row does not stay |
//! | `{"queue":[…]}` | the whole queue |
//! | `{"turn":true}` | a turn runs |

use super::json::JsonFields;
use super::{portable_paths, row};
use crate::domain::message::Body;
use crate::domain::{Message, MessageId};
use crate::protocol::Queued;
use serde_json::json;
use std::collections::HashMap;
use std::path::Path;

/// A row that can still change.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveRow {
    /// The row as it is now.
    pub row: Message,
    /// Length of `session.jsonl` when it was opened: its final row can only stand behind.
    pub from: u64,
    /// Bytes of its text that are in the file.
    pub saved: usize,
    /// Number of bytes from the beginning that are no longer in memory: `row` has the text from there on.
    pub cut: usize,
}

/// All of `live.jsonl`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    /// Rows, in the order in which they were opened.
    pub rows: Vec<LiveRow>,
    /// The queue.
    pub queue: Vec<Queued>,
    /// A turn runs.
    pub turn: bool,
    /// Rows that were said not to stay, as they were read.
    pub dropped: Vec<MessageId>,
}

/// The text of a row that can grow.
pub fn text(row: &Message) -> Option<&String> {
    match &row.body {
        Body::Assistant(text) => Some(&text.text),
        Body::Thinking(thinking) => Some(&thinking.text),
        _ => None,
    }
}

/// Text added to a row; `None` if anything else of it changed, too.
pub fn grown(old: &Message, new: &Message) -> Option<String> {
    let (before, now) = (text(old)?, text(new)?);
    let add = now.strip_prefix(before.as_str())?.to_owned();
    let mut old = old.clone();
    text_mut(&mut old)?.push_str(&add);
    (old == *new).then_some(add)
}

fn text_mut(row: &mut Message) -> Option<&mut String> {
    match &mut row.body {
        Body::Assistant(text) => Some(&mut text.text),
        Body::Thinking(thinking) => Some(&mut thinking.text),
        _ => None,
    }
}

impl Live {
    /// Reads the file's content; lines that cannot be read are left out, as a torn last one must be.
    pub fn parse(bytes: &[u8], dir: &Path) -> Self {
        let mut live = Self::default();
        live.take_all(bytes, dir);
        live
    }

    /// Goes on reading with lines that were added.
    pub fn take_all(&mut self, bytes: &[u8], dir: &Path) {
        for line in bytes.split(|b| *b == b'\n') {
            if let Ok(line) = std::str::from_utf8(line) {
                self.take(line, dir);
            }
        }
    }

    fn take(&mut self, line: &str, dir: &Path) -> Option<()> {
        let plain = JsonFields::parse(line).ok()?;
        if let Some(raw) = plain.raw("row") {
            let read = row::read(raw.as_bytes(), 0, 0, dir).rows.into_iter().next()?;
            if !matches!(read.body, Body::Odd(_)) {
                let from = plain.number("from").and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
                self.set(read, from);
                self.saved();
            }
        } else if let Some(id) = plain.text("drop") {
            let id = MessageId::new(id);
            self.drop_row(&id);
            self.dropped.push(id);
        } else if let Some(raw) = plain.raw("queue") {
            self.queue = serde_json::from_str(raw).ok()?;
        } else if let Some(turn) = plain.flag("turn") {
            self.turn = turn;
        } else {
            let id = MessageId::new(plain.text("id")?);
            let add = JsonFields::parse(&portable_paths::expand(line, dir)).ok()?.text("add")?;
            let at = usize::try_from(plain.number("at")?).ok()?;
            let entry = self.rows.iter_mut().find(|entry| entry.row.id == id)?;
            let text = text_mut(&mut entry.row)?;
            // An addition that was written twice begins before the end; one with a gap stays behind it.
            if text.is_char_boundary(at) {
                text.truncate(at);
            }
            text.push_str(&add);
            entry.saved = text.len();
        }
        Some(())
    }

    /// Opens a row, or replaces the one of its id where it stands.
    pub fn set(&mut self, row: Message, from: u64) {
        match self.rows.iter_mut().find(|entry| entry.row.id == row.id) {
            Some(entry) => (entry.row, entry.cut) = (row, 0),
            None => self.rows.push(LiveRow { row, from, saved: 0, cut: 0 }),
        }
    }

    /// Adds text to a row; false when there is no such row.
    pub fn grow(&mut self, id: &MessageId, add: &str) -> bool {
        let found = self.rows.iter_mut().find(|entry| entry.row.id == *id).and_then(|e| text_mut(&mut e.row));
        match found {
            Some(text) => {
                text.push_str(add);
                true
            }
            None => false,
        }
    }

    /// Takes a row away; false when there was none.
    pub fn drop_row(&mut self, id: &MessageId) -> bool {
        let before = self.rows.len();
        self.rows.retain(|entry| entry.row.id != *id);
        self.rows.len() != before
    }

    /// Everything that is in memory is in the file now.
    pub fn saved(&mut self) {
        for entry in &mut self.rows {
            entry.saved = entry.cut + text(&entry.row).map_or(0, String::len);
        }
    }

    /// Text that is in the file need not be in memory as well; [`Live::restore`] gets it back.
    pub fn let_go(&mut self) {
        for entry in &mut self.rows {
            if let Some(text) = text_mut(&mut entry.row).filter(|text| entry.cut + text.len() == entry.saved) {
                *text = String::new();
                entry.cut = entry.saved;
            }
        }
    }

    /// Bytes of text that are in the file only.
    pub fn let_gone(&self) -> usize {
        self.rows.iter().map(|entry| entry.cut).sum()
    }

    /// Takes text that was let go back from the file as it was `read`. What is not there any more stays away.
    pub fn restore(&mut self, read: &Self) {
        for entry in self.rows.iter_mut().filter(|entry| entry.cut > 0) {
            let before = read.rows.iter().find(|other| other.row.id == entry.row.id).and_then(|other| text(&other.row));
            let before = before.map(|text| text.get(..entry.cut).unwrap_or(text)).unwrap_or_default();
            if let Some(text) = text_mut(&mut entry.row) {
                text.insert_str(0, before);
            }
            entry.cut = 0;
        }
    }

    /// Lines for the text that is not in the file yet.
    pub fn additions(&self, dir: &Path) -> String {
        let mut out = String::new();
        for entry in &self.rows {
            if let Some(add) = text(&entry.row)
                .and_then(|text| text.get(entry.saved.saturating_sub(entry.cut)..))
                .filter(|add| !add.is_empty())
            {
                let line = json!({"id": entry.row.id, "at": entry.saved, "add": add});
                out.push_str(&portable_paths::render(&line, dir));
                out.push('\n');
            }
        }
        out
    }

    /// The whole file.
    pub fn render(&self, dir: &Path) -> String {
        let mut out = String::new();
        if self.turn {
            out.push_str(&turn_line(true));
        }
        if !self.queue.is_empty() {
            out.push_str(&self.queue_line(dir));
        }
        for entry in &self.rows {
            out.push_str(&row_line(entry, dir));
        }
        out
    }

    /// The line of the queue.
    pub fn queue_line(&self, _dir: &Path) -> String {
        format!("{}\n", json!({"queue": self.queue}))
    }

    /// The rows that `session.jsonl` lacks. `finals` says for each id in the file where its last row begins.
    pub fn open_rows(&self, finals: &HashMap<MessageId, u64>) -> Vec<Message> {
        let open = |entry: &&LiveRow| finals.get(&entry.row.id).is_none_or(|at| *at < entry.from);
        self.rows.iter().filter(open).map(|entry| entry.row.clone()).collect()
    }
}

/// Rows as a death leaves them: calls without a result interrupted by it, text cut off by it, empty text gone.
pub fn folded(rows: Vec<Message>) -> Vec<Message> {
    settled(rows, row::settle_after_death)
}

/// Rows as a takeover from a lisle that is at work leaves them.
pub fn folded_at_takeover(rows: Vec<Message>) -> Vec<Message> {
    settled(rows, row::settle_after_takeover)
}

/// Rows as they are taken along while they may still change where they are: calls interrupted, text cut off, empty text gone.
pub fn taken_along(rows: Vec<Message>) -> Vec<Message> {
    settled(rows, |row| {
        row::settle(row);
        if let Body::Assistant(text) = &mut row.body {
            text.partial = true;
        }
    })
}

fn settled(mut rows: Vec<Message>, settle: impl Fn(&mut Message)) -> Vec<Message> {
    rows.iter_mut().for_each(settle);
    rows.retain(|row| match &row.body {
        Body::Assistant(text) => !text.text.is_empty() || text.native.is_some(),
        Body::Thinking(thinking) => !thinking.text.is_empty() || thinking.native.is_some(),
        _ => true,
    });
    rows
}

/// The line of a row.
pub fn row_line(entry: &LiveRow, dir: &Path) -> String {
    match row::write(&entry.row, dir) {
        Some(row) => format!("{{\"from\":{},\"row\":{row}}}\n", entry.from),
        None => String::new(),
    }
}

/// The line that takes a row away.
pub fn drop_line(id: &MessageId) -> String {
    format!("{}\n", json!({"drop": id}))
}

/// The line that says whether a turn runs.
pub fn turn_line(runs: bool) -> String {
    format!("{{\"turn\":{runs}}}\n")
}
