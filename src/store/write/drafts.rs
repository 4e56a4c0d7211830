//! Unsent texts, one file a session, and texts sent earlier, one line each.
//!
//! Both lie in lisle's state directory and not in the workspace: another program has no use for them.

use crate::domain::attachment::copy_in;
use crate::domain::message::UserText;
use crate::domain::{SessionId, secret};
use crate::store::format::layout;
use crate::store::io::whole_file::{self, make_dirs};
use crate::store::io::{How, lines};
use crate::store::{Store, StoreError};
use std::io::ErrorKind;

/// Prefix of a draft with files: a line of it and the files as JSON, then the text. No draft is
/// typed like that; one that came so from an editor is written with a line of its own.
const MARK: &str = "\u{1}files:";

/// Number of texts that are offered again.
const REMEMBERED: usize = 1000;

impl Store {
    /// Keeps the unsent text of a session with the files that would go along; where there is neither, the file goes.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save_draft(&self, id: &SessionId, draft: &UserText) -> Result<(), StoreError> {
        self.put_draft(id, written(draft).as_bytes())
    }

    /// Writes a draft's file as it is to be.
    pub(in crate::store) fn put_draft(&self, id: &SessionId, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.inner.layout.draft(id);
        let io = self.io();
        if bytes.is_empty() {
            return match io.remove(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(StoreError::io("remove", &path, error)),
                _ => Ok(()),
            };
        }
        make_dirs(io, &self.inner.layout.drafts())?;
        let temp = layout::temp(&path);
        let write = || -> std::io::Result<()> {
            let file = io.open(&temp, How::New)?;
            io.append(&file, bytes)?;
            io.rename(&temp, &path)
        };
        write().map_err(|error| {
            // What is half written helps nobody; that removing it may fail too changes nothing.
            let _ = io.remove(&temp);
            StoreError::io("write", &path, error)
        })
    }

    /// The unsent text of a session and its files; empty when there is none or it cannot be read.
    pub fn draft(&self, id: &SessionId) -> UserText {
        let bytes = whole_file::read(self.io(), &self.inner.layout.draft(id)).ok().flatten();
        let mut draft = bytes.map(|bytes| read(&String::from_utf8_lossy(&bytes))).unwrap_or_default();
        let dir = self.session_dir(id);
        draft.attachments.retain_mut(|file| {
            // Where the session lies now, and only what is still there.
            let Some(copy) = file.copy_in(&dir) else { return false };
            file.path = copy;
            file.text = file.text.take().and_then(|text| copy_in(&dir, &text));
            self.io().stat(&file.path).is_ok()
        });
        draft
    }

    /// Adds a text to the history, keys in it masked: it outlives the session and its deletion.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn remember(&self, text: &str) -> Result<(), StoreError> {
        if text.trim().is_empty() {
            return Ok(());
        }
        let path = self.inner.layout.history();
        if let Some(dir) = path.parent() {
            make_dirs(self.io(), dir)?;
        }
        let safe = secret::masked(text).map_or_else(|| text.to_owned(), |(safe, _)| safe);
        let line = format!("{}\n", serde_json::Value::String(safe));
        let append = || self.io().append(&self.io().open(&path, How::Append)?, line.as_bytes());
        append().map_err(|error| StoreError::io("write", &path, error))
    }

    /// The last 1,000 texts, oldest first; none when they cannot be read.
    pub fn history(&self) -> Vec<String> {
        let path = self.inner.layout.history();
        let read = || -> std::io::Result<Vec<String>> {
            let file = self.io().open(&path, How::Read)?;
            let len = self.io().stat(&path)?.len;
            let lines = lines::before(self.io(), &file, 0, len, REMEMBERED)?.lines;
            Ok(lines.iter().filter_map(|line| serde_json::from_slice(&line.bytes).ok()).collect())
        };
        read().unwrap_or_default()
    }
}

/// A draft as its file holds it.
fn written(draft: &UserText) -> String {
    if draft.attachments.is_empty() && !draft.text.starts_with(MARK) {
        return draft.text.clone();
    }
    let files = serde_json::to_string(&draft.attachments).unwrap_or_else(|_| "[]".to_owned());
    format!("{MARK}{files}\n{}", draft.text)
}

/// A draft from its file.
fn read(file: &str) -> UserText {
    let marked = file.strip_prefix(MARK).and_then(|rest| rest.split_once('\n'));
    match marked.and_then(|(files, text)| Some((serde_json::from_str(files).ok()?, text))) {
        Some((files, text)) => UserText::with(text, files),
        None => file.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::attachment::{Attachment, AttachmentKind};

    #[test]
    fn what_is_written_is_read() {
        let file = Attachment {
            name: "a b.png".into(),
            path: "/s/attachments/1_a.png".into(),
            kind: AttachmentKind::Image,
            mime: "image/png".into(),
            bytes: 3,
            text: None,
        };
        for text in ["", "words\n\n", "\u{1}files:[]\nodd", "\u{1}files:", "\n"] {
            for files in [Vec::new(), vec![file.clone()]] {
                let draft = UserText::with(text, files);
                assert_eq!(read(&written(&draft)), draft);
            }
        }
        assert_eq!(written(&"plain".into()), "plain", "a draft without files is its text");
        assert_eq!(read("\u{1}files:{broken\nx").text, "\u{1}files:{broken\nx");
    }
}
