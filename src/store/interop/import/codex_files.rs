//! Files of Codex: the rollouts that make up a conversation, and the list of titles beside them.
//!
//! A rollout begins with its thread. One that a rewind or a fork began holds only what came since, and names the thread and
//! the ordinal up to which the records of another file come first. Older forks copy those records behind their first line.

use super::parsed::{ConversationFile, RecordForm, word};
use crate::plain_file;
use serde_json::Value;
use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Folders of a home of Codex that hold rollouts.
const FOLDERS: [&str; 2] = ["sessions", "archived_sessions"];

/// First record of a rollout.
pub(super) struct RolloutHead {
    pub(super) thread: String,
    pub(super) cwd: Option<PathBuf>,
    /// The conversation is a subagent's.
    pub(super) is_subagent: bool,
    /// Thread and ordinal: its records below the ordinal come first.
    base: Option<(String, u64)>,
    /// Start of the file.
    begun: String,
}

/// First record of a rollout; `None` in an older one, which has no such record.
pub(super) fn rollout_head(path: &Path) -> Option<RolloutHead> {
    let mut lines = BufReader::new(plain_file::open_through_links(path).ok()?).lines();
    let mut next = || serde_json::from_str::<Value>(&lines.next()?.ok()?).ok();
    let value = next().filter(|value| word(value, "type") == "session_meta")?;
    let payload = value.get("payload")?;
    let base = payload.get("history_base").and_then(|base| {
        let end = base.get("end_ordinal_exclusive")?.as_u64()?;
        Some((word(base, "thread_id").to_owned(), end))
    });
    let base = base.or_else(|| {
        let end = payload.get("forked_from_ordinal_exclusive")?.as_u64()?;
        // A copy of the other thread begins with its first record.
        let mut is_copy = || next().is_some_and(|second| word(&second, "type") == "session_meta");
        (!is_copy()).then(|| (word(payload, "forked_from_id").to_owned(), end))
    });
    Some(RolloutHead {
        thread: word(payload, "id").to_owned(),
        cwd: Some(word(payload, "cwd")).filter(|cwd| !cwd.is_empty()).map(PathBuf::from),
        is_subagent: payload.get("source").is_some_and(|source| source.get("subagent").is_some()),
        base: base.filter(|(thread, _)| !thread.is_empty()),
        begun: word(payload, "timestamp").to_owned(),
    })
}

/// All rollouts in the home of Codex where this one lies; elsewhere, what lies beside it.
fn rollout_files(path: &Path) -> Vec<PathBuf> {
    let folder = path.parent().unwrap_or(Path::new(""));
    // `sessions/YYYY/MM/DD`
    let root =
        folder.ancestors().take(5).find(|dir| dir.file_name().is_some_and(|name| FOLDERS.iter().any(|is| name == *is)));
    let mut folders = match root.and_then(Path::parent) {
        Some(home) => FOLDERS.map(|name| (home.join(name), 0)).to_vec(),
        None => vec![(folder.to_owned(), 4)],
    };
    let mut found = Vec::new();
    while let Some((dir, depth)) = folders.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && depth < 4 {
                folders.push((entry.path(), depth + 1));
            } else if kind.is_file() && entry.path().extension().is_some_and(|ending| ending == "jsonl") {
                found.push(entry.path());
            }
        }
    }
    found
}

/// The rollout with all of its thread, and of the threads that come before it, oldest first.
fn rollouts(path: &Path) -> Vec<(PathBuf, RolloutHead)> {
    let Some(own) = rollout_head(path) else { return Vec::new() };
    let base_of = |head: &RolloutHead| head.base.as_ref().map(|(thread, _)| thread.clone());
    let mut wanted = vec![own.thread.clone()];
    wanted.extend(base_of(&own));
    let files = rollout_files(path);
    let (mut found, mut threads) = (vec![(path.to_owned(), own)], HashSet::new());
    while let Some(thread) = wanted.pop() {
        if thread.is_empty() || !threads.insert(thread.clone()) {
            continue;
        }
        let is_named =
            |file: &&PathBuf| file.file_name().is_some_and(|name| name.to_string_lossy().contains(thread.as_str()));
        for file in files.iter().filter(is_named) {
            if let Some(head) = rollout_head(file).filter(|_| file != path) {
                wanted.extend(base_of(&head));
                found.push((file.clone(), head));
            }
        }
    }
    found.sort_by(|(one, a), (other, b)| (&a.begun, one).cmp(&(&b.begun, other)));
    found.dedup_by(|(one, _), (other, _)| one == other);
    found
}

/// Segment of a file that a rewind began; the thread's other files number their rows alike:
/// `rollout-TIME-THREAD_SEGMENT`.
fn segment(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let segment = stem.rsplit_once('_').map_or("", |(_, segment)| segment);
    segment.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// The files that make up the conversation of a rollout, in order; where it was rewound since, those of its newest end.
pub(super) fn parts(path: &Path) -> Vec<ConversationFile> {
    let all = rollouts(path);
    let part = |path: &Path, before| ConversationFile {
        before,
        segment: segment(path),
        ..ConversationFile::new(path, RecordForm::Lines)
    };
    let whole = || vec![part(path, None)];
    let Some((_, own)) = all.iter().find(|(one, _)| one == path) else { return whole() };
    let Some(newest) = all.iter().rposition(|(_, head)| head.thread == own.thread) else { return whole() };
    let mut out = vec![part(&all[newest].0, None)];
    let (mut at, mut limit) = (newest, u64::MAX);
    while let Some((thread, end)) = all.get(at).and_then(|(_, head)| head.base.clone()) {
        limit = limit.min(end);
        let Some(base) = all[..at].iter().rposition(|(_, head)| head.thread == thread) else {
            out[0].lacks = limit;
            break;
        };
        out.insert(0, part(&all[base].0, Some(limit)));
        at = base;
    }
    out
}

/// The title that the user gave the thread, from the list beside the rollouts.
pub(super) fn title(path: &Path, thread: &str) -> Option<String> {
    let index =
        path.ancestors().skip(1).take(6).map(|dir| dir.join("session_index.jsonl")).find(|file| file.is_file())?;
    let lines = BufReader::new(plain_file::open_through_links(&index).ok()?).lines().map_while(Result::ok);
    let named = lines.filter_map(|line| {
        let value: Value = serde_json::from_str(&line).ok()?;
        (word(&value, "id") == thread).then(|| word(&value, "thread_name").trim().to_owned())
    });
    named.filter(|title| !title.is_empty()).last()
}
