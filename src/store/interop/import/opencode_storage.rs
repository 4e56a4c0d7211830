//! opencode's older storage: a JSON file for each session, message and part, with the objects of an export.
//!
//! `storage/session/PROJECT/SESSION.json`, `storage/message/SESSION/MESSAGE.json`, `storage/part/MESSAGE/PART.json`.

use super::parsed::word;
use crate::plain_file;
use crate::store::StoreError;
use serde_json::{Value, json};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Bytes of a file at most.
const LONGEST: u64 = 256 << 20;

/// True for the file of a session in the storage.
pub(super) fn is(document: &Value, path: &Path) -> bool {
    let is_session = word(document, "id").starts_with("ses_") && document.get("messages").is_none();
    is_session && document.get("time").is_some_and(Value::is_object) && storage(path).is_some()
}

/// The storage that a session's file lies in.
fn storage(path: &Path) -> Option<&Path> {
    let sessions = path.parent()?.parent()?;
    sessions.parent().filter(|_| sessions.file_name().is_some_and(|name| name == "session"))
}

/// The JSON files of a folder by their names, which are in the order of their times. A folder that is not there has none.
fn files(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::io("import", folder, error)),
    };
    let is_json = |entry: &std::fs::DirEntry| {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        is_file && Path::new(&entry.file_name()).extension().is_some_and(|ending| ending == "json")
    };
    let mut all: Vec<PathBuf> = entries.flatten().filter(is_json).map(|entry| entry.path()).collect();
    all.sort();
    Ok(all)
}

/// The object of a file; `None` if it is none, as one that was written half.
fn object(path: &Path) -> Result<Option<Value>, StoreError> {
    let error = |error| StoreError::io("import", path, error);
    let (file, mut bytes) = (plain_file::open_through_links(path).map_err(error)?, Vec::new());
    file.take(LONGEST).read_to_end(&mut bytes).map_err(error)?;
    Ok(serde_json::from_slice(&bytes).ok().filter(Value::is_object))
}

/// True for an id that is the name of a folder and leads nowhere else.
fn is_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// Shows the records of a session: itself, and its messages with their parts. Gives how many are no JSON objects.
pub(super) fn each(path: &Path, mut show: impl FnMut(Value) -> Result<(), StoreError>) -> Result<usize, StoreError> {
    let (Some(storage), Some(session)) = (storage(path), object(path)?) else { return Ok(1) };
    let id = word(&session, "id").to_owned();
    show(json!({"session": session}))?;
    if !is_id(&id) {
        return Ok(0);
    }
    let mut odd = 0;
    for message in files(&storage.join("message").join(id))? {
        let Some(info) = object(&message)?.filter(|info| is_id(word(info, "id"))) else {
            odd += 1;
            continue;
        };
        let mut parts = Vec::new();
        for part in files(&storage.join("part").join(word(&info, "id")))? {
            match object(&part)? {
                Some(part) => parts.push(part),
                None => odd += 1,
            }
        }
        show(json!({"info": info, "parts": parts}))?;
    }
    Ok(odd)
}
