//! Files that stand inside a conversation of another program, as base64: they become attachments of the session.
//!
//! Every program has its own block for one: `source` (Claude Code), `image_url` (Codex, chats), `inlineData` (Gemini), `data`
//! (pi), `url` (opencode). A block that only names a file elsewhere is left out: nothing is read for an import but the history.
//! A file's text that the program put into a message becomes an attachment too.

use super::parsed::{Answered, ImportedLine, made, word};
use crate::domain::At;
use crate::domain::attachment::{Attachment, AttachmentKind, FOLDER, LARGEST, image_type};
use crate::domain::hex::hex;
use crate::domain::message::{Body, UserText};
use crate::store::StoreError;
use crate::store::io::{Io, whole_file};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::path::Path;

/// A file as it stands in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InlineFile {
    mime: String,
    /// Base64.
    data: String,
    name: String,
}

/// The files of a message's blocks. Those that stand elsewhere count as left out.
pub(super) fn files<'v>(blocks: impl IntoIterator<Item = &'v Value>) -> Vec<ImportedLine> {
    let line = |block: &Value| {
        let file = is_file(block).then(|| inline(block))?;
        Some(file.map_or(ImportedLine::Left("attached files"), ImportedLine::File))
    };
    blocks.into_iter().filter_map(line).collect()
}

/// The files with these names for those that have none, where there are as many.
pub(super) fn named<'n>(mut files: Vec<ImportedLine>, names: impl Iterator<Item = &'n str>) -> Vec<ImportedLine> {
    let names: Vec<&str> = names.collect();
    let bare = |line: &&mut ImportedLine| matches!(line, ImportedLine::File(file) if file.name.is_empty());
    if files.iter_mut().filter(bare).count() == names.len() {
        for (line, name) in files.iter_mut().filter(bare).zip(names) {
            if let ImportedLine::File(file) = line {
                last_name(name).clone_into(&mut file.name);
            }
        }
    }
    files
}

/// A message of the user behind its files; nothing where both are missing.
pub(super) fn asked(at: At, files: Vec<ImportedLine>, said: UserText) -> Vec<ImportedLine> {
    let is_there = !said.text.trim().is_empty() || files.iter().any(|file| matches!(file, ImportedLine::File(_)));
    let row = is_there.then(|| ImportedLine::Rows(vec![made(at, Body::User(said))]));
    files.into_iter().chain(row).collect()
}

/// A result with the files of its blocks. Those that stand elsewhere count as left out.
pub(super) fn answered<'v>(result: Answered, blocks: impl IntoIterator<Item = &'v Value>) -> Vec<ImportedLine> {
    let (mut out, mut kept) = (Vec::new(), Vec::new());
    for line in files(blocks) {
        match line {
            ImportedLine::File(file) => kept.push(file),
            other => out.push(other),
        }
    }
    let is_lost = result.text.trim().is_empty() && kept.is_empty() && !out.is_empty();
    let text = if is_lost { "[attached file not included]".to_owned() } else { result.text };
    out.push(ImportedLine::Results(vec![Answered { text, files: kept, ..result }]));
    out
}

/// Last part of a path of any system.
fn last_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

fn is_file(block: &Value) -> bool {
    matches!(word(block, "type"), "image" | "document" | "input_image" | "input_file" | "image_url" | "file")
        || ["image_url", "inlineData", "fileData"].iter().any(|key| block.get(*key).is_some())
}

fn inline(block: &Value) -> Option<InlineFile> {
    let name = [word(block, "filename"), word(block, "title")].into_iter().find(|name| !name.is_empty());
    let made = |mime: &str, data: &str| {
        (!data.is_empty()).then(|| InlineFile {
            mime: mime.to_owned(),
            data: data.to_owned(),
            name: name.unwrap_or_default().to_owned(),
        })
    };
    let url = [block.pointer("/image_url/url"), block.get("image_url"), block.get("url"), block.get("file_data")];
    if let Some(url) = url.into_iter().flatten().find_map(Value::as_str) {
        let (mime, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
        return made(mime, data);
    }
    let source = block.get("source").or_else(|| block.get("inlineData")).unwrap_or(block);
    let mime = ["media_type", "mimeType"].iter().map(|key| word(source, key)).find(|mime| !mime.is_empty())?;
    made(mime, word(source, "data"))
}

impl InlineFile {
    /// A file whose text the program put into a message.
    pub(super) fn of_text(name: &str, text: &str) -> Self {
        Self { mime: "text/plain".to_owned(), data: STANDARD.encode(text), name: name.to_owned() }
    }

    /// Gives a file without a name the last part of this path.
    pub(super) fn named(mut self, path: &str) -> Self {
        if self.name.is_empty() {
            last_name(path).clone_into(&mut self.name);
        }
        self
    }

    /// Writes the file among the attachments of a session. `None`: it is none that could be kept.
    ///
    /// # Errors
    /// When the file system refuses.
    pub(super) fn keep(&self, io: &dyn Io, session: &Path) -> Result<Option<Attachment>, StoreError> {
        let data: String = self.data.split_ascii_whitespace().collect();
        let bytes = STANDARD.decode(&data).or_else(|_| STANDARD_NO_PAD.decode(data.trim_end_matches('=')));
        let Some(bytes) = bytes.ok().filter(|bytes| !bytes.is_empty() && bytes.len() as u64 <= LARGEST) else {
            return Ok(None);
        };
        let (kind, mime) = kind(&bytes, &self.mime);
        // The same file of several messages is kept once.
        let id = hex(&Sha256::digest(&bytes)[..6]);
        let folder = session.join(FOLDER);
        whole_file::make_dirs(io, &folder)?;
        let name = match file_name(&self.name) {
            Some(name) => name,
            None => free_name(&io.list(&folder).unwrap_or_default(), &id, kind, &mime),
        };
        let path = folder.join(format!("{id}_{name}"));
        whole_file::replace(io, &path, &bytes, false)?;
        let size = bytes.len() as u64;
        Ok(Some(Attachment { name, path, kind, mime, bytes: size, text: None }))
    }
}

/// Kind of a file by its bytes, its media type, and a usual ending. What another program called a picture and is none would
/// have a provider refuse the whole conversation.
fn kind(bytes: &[u8], said: &str) -> (AttachmentKind, String) {
    if let Some(mime) = image_type(bytes) {
        return (AttachmentKind::Image, mime.to_owned());
    }
    if bytes.starts_with(b"%PDF-") {
        return (AttachmentKind::Pdf, "application/pdf".to_owned());
    }
    match said.split_once('/') {
        Some(("text", _)) if std::str::from_utf8(bytes).is_ok() => (AttachmentKind::Text, "text/plain".to_owned()),
        Some(("audio", _)) => (AttachmentKind::Audio, said.to_owned()),
        _ => (AttachmentKind::Unknown, "application/octet-stream".to_owned()),
    }
}

/// Name of a file as it can be one in a folder and on a screen; `None` if nothing is left of it.
fn file_name(given: &str) -> Option<String> {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '.' | '-' | '_' | '(' | ')');
    let name: String = last_name(given).chars().filter(|c| fits(*c)).take(LONGEST_NAME).collect();
    let name = name.trim().trim_start_matches('.');
    (!name.is_empty()).then(|| name.to_owned())
}

/// Name of a file that has none: `picture.png`, and `picture-2.png` for the next one. `there` are the names in the folder,
/// `id` is what begins that of this file.
fn free_name(there: &[OsString], id: &str, kind: AttachmentKind, mime: &str) -> String {
    let (stem, ending) = match (kind, mime.split_once('/')) {
        (AttachmentKind::Image, Some((_, ending))) => ("picture", format!(".{ending}")),
        (AttachmentKind::Pdf, _) => ("document", ".pdf".to_owned()),
        (AttachmentKind::Text, _) => ("text", ".txt".to_owned()),
        _ => ("file", String::new()),
    };
    let named = |number: usize| match number {
        1 => format!("{stem}{ending}"),
        number => format!("{stem}-{number}{ending}"),
    };
    // A file that was kept before has its name; of the others none is taken twice.
    let kept: Vec<(&str, &str)> = there.iter().filter_map(|name| name.to_str()?.split_once('_')).collect();
    let fits = |name: &String| kept.iter().all(|(of, taken)| taken != name || *of == id);
    let own = (1..=kept.len()).map(named).find(|name| kept.contains(&(id, name.as_str())));
    own.or_else(|| (1..).map(named).find(fits)).unwrap_or_else(|| named(1))
}

/// Characters of a name that are kept.
const LONGEST_NAME: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn file(mime: &str, data: &str, name: &str) -> InlineFile {
        InlineFile { mime: mime.to_owned(), data: data.to_owned(), name: name.to_owned() }
    }

    #[test]
    fn blocks_of_every_program_are_read() {
        for (block, expected) in [
            (
                json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}),
                Some(file("image/png", "AAAA", "")),
            ),
            (
                json!({"type": "document", "title": "a.pdf", "source": {"type": "base64", "media_type": "application/pdf", "data": "AA=="}}),
                Some(file("application/pdf", "AA==", "a.pdf")),
            ),
            (
                json!({"type": "input_image", "image_url": "data:image/jpeg;base64,AAAA"}),
                Some(file("image/jpeg", "AAAA", "")),
            ),
            (
                json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}),
                Some(file("image/png", "AAAA", "")),
            ),
            (json!({"inlineData": {"mimeType": "image/webp", "data": "AAAA"}}), Some(file("image/webp", "AAAA", ""))),
            (json!({"type": "image", "data": "AAAA", "mimeType": "image/png"}), Some(file("image/png", "AAAA", ""))),
            (
                json!({"type": "file", "mime": "image/png", "filename": "a b.png", "url": "data:image/png;base64,AAAA"}),
                Some(file("image/png", "AAAA", "a b.png")),
            ),
            (json!({"type": "image", "source": {"type": "url", "url": "https://x/a.png"}}), None),
            (json!({"type": "file", "url": "file:///etc/passwd", "mime": "text/plain"}), None),
            (json!({"fileData": {"fileUri": "gs://x"}}), None),
        ] {
            assert_eq!(inline(&block), expected, "{block}");
            assert!(is_file(&block), "{block}");
        }
        for block in [json!({"type": "text", "text": "x"}), json!("x"), json!({"text": "x"}), json!(null)] {
            assert!(!is_file(&block), "{block}");
        }
    }

    #[test]
    fn names_and_bytes_of_others_do_no_harm() {
        let dir = tempfile::tempdir().unwrap();
        let io = crate::store::io::Disk;
        let keep = |file: InlineFile| file.keep(&io, dir.path()).unwrap();
        let png = "iVBORw0K\nGgoAAAAN";
        let kept = keep(file("image/png", png, "../../x/\u{1b}[2Jevil.png")).unwrap();
        assert_eq!(kept.path.parent(), Some(dir.path().join(FOLDER).as_path()));
        assert_eq!((std::fs::read(&kept.path).unwrap().len(), kept.bytes, kept.kind), (12, 12, AttachmentKind::Image));
        assert_eq!(kept.name, "2Jevil.png");
        assert_eq!(keep(file("image/jpeg", png, "")).unwrap().name, "picture.png", "the bytes say what it is");
        let other = keep(file("image/png", "AAAA", "..")).unwrap();
        assert_eq!((other.kind, other.name.as_str()), (AttachmentKind::Unknown, "file"));
        assert_eq!(
            keep(file("text/x-rust", "Zm4=", "a.rs")).map(|kept| (kept.kind, kept.name)),
            Some((AttachmentKind::Text, "a.rs".to_owned()))
        );
        assert_eq!(keep(file("image/png", "???", "")), None);
        assert_eq!(keep(file("image/png", "", "")), None);
        // Pictures without a name are told apart, and one that comes again is the same.
        let name = |data: &str| keep(file("image/png", data, "")).unwrap().name;
        let (second, third) = ("iVBORw0KGgoAAAAO", "iVBORw0KGgoAAAAP");
        assert_eq!(
            [name(second), name(third), name(second), name(png)],
            ["picture-2.png", "picture-3.png", "picture-2.png", "picture.png"]
        );
    }
}
