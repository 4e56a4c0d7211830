//! opencode's database, read only: the objects of an export, from its tables.
//!
//! A database that another program has open is read through its locks; one that nobody has open is read as it lies, so
//! that no file appears beside it.

use super::parsed::word;
use crate::store::StoreError;
use rusqlite::{Connection, OpenFlags, Row};
use serde_json::{Value, json};
use std::io;
use std::path::{Path, PathBuf};

/// Start of every SQLite file.
pub(super) const MAGIC: &[u8] = b"SQLite format 3\0";

/// A session in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store) struct DatabaseSession {
    pub(in crate::store) id: String,
    /// Sum of its parts, in bytes; 0 where that was not asked.
    pub(in crate::store) bytes: u64,
}

fn failed(path: &Path, error: rusqlite::Error) -> StoreError {
    StoreError::io("import", path, io::Error::other(error))
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn open(path: &Path) -> Result<Connection, StoreError> {
    let has = |ending: &str| beside(path, ending).metadata().is_ok_and(|meta| meta.len() > 0);
    let is_open = has("-wal");
    if is_open && !has("-shm") {
        let why = "its program left a write-ahead log. Start and quit opencode once, or use `opencode export`";
        return Err(StoreError::NoImport { path: path.to_owned(), why });
    }
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'_' | b'-' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri.push_str(if is_open { "?mode=ro" } else { "?immutable=1" });
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(uri, flags).map_err(|error| failed(path, error))?;
    database.busy_timeout(std::time::Duration::from_secs(5)).map_err(|error| failed(path, error))?;
    Ok(database)
}

/// Sessions of a database that are nobody's subagents, oldest first; with the number of those that are.
pub(in crate::store) fn sessions(path: &Path) -> Result<(Vec<DatabaseSession>, usize), StoreError> {
    let error = |error| failed(path, error);
    let database = open(path)?;
    let ask = "SELECT id, parent_id IS NOT NULL, \
               (SELECT coalesce(sum(length(data)), 0) FROM part WHERE part.session_id = session.id) \
               FROM session ORDER BY time_created, id";
    let mut rows = database.prepare(ask).map_err(error)?;
    let found = rows.query_map([], |row| {
        let session = DatabaseSession { id: row.get(0)?, bytes: row.get::<_, i64>(2)?.unsigned_abs() };
        Ok((session, row.get::<_, bool>(1)?))
    });
    let (mut sessions, mut below) = (Vec::new(), 0);
    for found in found.map_err(error)? {
        let (session, is_below) = found.map_err(error)?;
        if is_below { below += 1 } else { sessions.push(session) }
    }
    Ok((sessions, below))
}

fn object(row: &Row<'_>) -> rusqlite::Result<(String, Value)> {
    let (id, data): (String, String) = (row.get(0)?, row.get(1)?);
    let mut value: Value = serde_json::from_str(&data).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.insert("id".to_owned(), json!(id));
    }
    Ok((id, value))
}

/// Shows the records of a session: itself, and its messages with their parts. Gives how many are no JSON objects.
pub(super) fn each(
    path: &Path,
    session: &str,
    mut show: impl FnMut(Value) -> Result<(), StoreError>,
) -> Result<usize, StoreError> {
    let error = |error| failed(path, error);
    let database = open(path)?;
    // One state of the database for all of it.
    let database = database.unchecked_transaction().map_err(error)?;
    let ask = "SELECT id, parent_id, directory, title, revert, time_created FROM session WHERE id = ?1";
    let head = database.query_row(ask, [session], |row| {
        let revert: Option<String> = row.get(4)?;
        let revert: Value = revert.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        Ok(json!({"session": {
            "id": row.get::<_, String>(0)?, "parentID": row.get::<_, Option<String>>(1)?,
            "directory": row.get::<_, String>(2)?, "title": row.get::<_, String>(3)?,
            "revert": {"messageID": word(&revert, "messageID")}, "time": {"created": row.get::<_, i64>(5)?},
        }}))
    });
    show(head.map_err(error)?)?;
    let ask = "SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id";
    let mut messages = database.prepare(ask).map_err(error)?;
    let mut parts = database.prepare("SELECT id, data FROM part WHERE message_id = ?1 ORDER BY id").map_err(error)?;
    let mut odd = 0;
    for message in messages.query_map([session], object).map_err(error)? {
        let (id, info) = message.map_err(error)?;
        let parts: Result<Vec<_>, _> = parts.query_map([id], object).map_err(error)?.collect();
        let parts: Vec<Value> = parts.map_err(error)?.into_iter().map(|(_, part)| part).collect();
        odd += usize::from(!info.is_object()) + parts.iter().filter(|part| !part.is_object()).count();
        if info.is_object() {
            show(json!({"info": info, "parts": parts}))?;
        }
    }
    Ok(odd)
}
