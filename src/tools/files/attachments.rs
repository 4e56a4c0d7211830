//! Files that go to the model beside text, given by a person or read by a tool: looked at, and copied into the session.
//!
//! The copy is made at once, so that what is sent later is what was chosen. Nothing outside the session is read for a
//! request. What the bytes are decides over what the name says.

use super::FileError;
use super::{classify, paths, reach, text};
use crate::domain::attachment::{Attachment, AttachmentKind, FOLDER, LARGEST, image_type};
use crate::sandbox::own_folders;
use crate::tools::CallPlace;
use crate::tools::files;
use std::path::{Path, PathBuf};

/// Bytes of a file's name that are kept in the copy's.
const LONGEST_NAME: usize = 100;

/// Copies the file that somebody wrote into the session of this place.
///
/// # Errors
/// A sentence: what was wrong with which file, and what to do.
pub fn take(written: &Path, place: &CallPlace) -> Result<Attachment, String> {
    let (path, shown, bytes) = loaded(written, place)?;
    keep(&name_of(&path), &bytes, &place.session_dir).map_err(|why| format!("{shown}: {why}"))
}

/// Checks that a file could be attached at this place. Nothing is copied.
///
/// # Errors
/// As [`take`].
pub fn check(written: &Path, place: &CallPlace) -> Result<(), String> {
    let (path, shown, bytes) = loaded(written, place)?;
    sound(&name_of(&path), &bytes).map(drop).map_err(|why| format!("{shown}: {why}"))
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Path, path as it is shown and bytes of a file that may be attached.
fn loaded(written: &Path, place: &CallPlace) -> Result<(PathBuf, String, Vec<u8>), String> {
    let written = written.to_str().ok_or("Only files with UTF-8 paths can be attached")?;
    let path = paths::resolve(written, place)?;
    let shown = paths::shown(&path, place);
    let secret = || format!("Not attached: {shown} may contain secrets. Copy the harmless parts to another file.");
    if classify::is_secret(&path, place) || crate::domain::paths::is_secret_file(Path::new(written)) {
        return Err(secret());
    }
    if reach::fault(&path, "attach", place).is_some() {
        return Err(format!("Can't attach {shown}: device or kernel file"));
    }
    let size = files::look(&path).map_err(|error| explain(error, &shown))?.len();
    if size > LARGEST {
        return Err(too_large(&shown, size));
    }
    let read = files::load(&path).map_err(|error| explain(error, &shown))?;
    if classify::holds_secret(&path, &read, place) {
        return Err(secret());
    }
    Ok((path, shown, read.bytes))
}

/// Keeps these bytes as a file of the session.
///
/// # Errors
/// Half a sentence: what was wrong with them.
pub fn keep(name: &str, bytes: &[u8], session: &Path) -> Result<Attachment, String> {
    let size = bytes.len() as u64;
    let (kind, mime) = sound(name, bytes)?;
    let stored = format!("{}_{}", id(), sanitised(name));
    let path = own_folders::in_session(session, FOLDER)?.join(stored);
    files::create_private(&path, bytes).map_err(|error| format!("can't copy it: {error}"))?;
    Ok(Attachment { name: name.to_owned(), path, kind, mime: mime.to_owned(), bytes: size, text: None })
}

/// Kind and media type of bytes that can be sent.
fn sound(name: &str, bytes: &[u8]) -> Result<(AttachmentKind, &'static str), String> {
    let size = bytes.len() as u64;
    if bytes.is_empty() {
        return Err("empty file".to_owned());
    }
    if size > LARGEST {
        return Err(format!("{} exceeds the limit of {}", text::size(size), text::size(LARGEST)));
    }
    kind_of(name, bytes)
}

/// Removes a copy. Only a file directly in the session's folder of attachments is ever removed.
pub fn remove(path: &Path, session: &Path) {
    let is_sound = own_folders::fault(session).is_none();
    let Some(copy) = crate::domain::attachment::copy_in(session, path).filter(|_| is_sound) else { return };
    if let Err(error) = std::fs::remove_file(&copy)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(%error, "the copy {} stays", copy.display());
    }
}

/// Kind of a file for a model, with its media type.
///
/// # Errors
/// Half a sentence, for a file that no model can be given.
pub fn kind_of(name: &str, bytes: &[u8]) -> Result<(AttachmentKind, &'static str), String> {
    if let Some(mime) = image_type(bytes) {
        return Ok((AttachmentKind::Image, mime));
    }
    if bytes.starts_with(b"%PDF-") {
        return Ok((AttachmentKind::Pdf, "application/pdf"));
    }
    match text::decode(bytes) {
        Ok(_) => Ok((AttachmentKind::Text, text_type(&ending(name)))),
        Err(kind) => Err(refused(kind, &ending(name))),
    }
}

fn ending(name: &str) -> String {
    name.rsplit_once('.').map_or_else(String::new, |(_, ending)| ending.to_ascii_lowercase())
}

fn refused(kind: &str, ending: &str) -> String {
    let advice = match ending {
        "docx" | "doc" | "odt" | "rtf" | "pages" => "save it as PDF or text",
        "xlsx" | "xls" | "ods" | "numbers" => "save it as CSV or PDF",
        "pptx" | "ppt" | "odp" | "key" => "save it as PDF",
        "bmp" | "tif" | "tiff" | "heic" | "heif" | "avif" | "ico" | "jxl" => "save it as PNG or JPEG",
        "mp3" | "wav" | "ogg" | "flac" | "m4a" | "mp4" | "mov" | "webm" | "mkv" => "audio and video are not supported",
        _ => "name it in the message for tools to read",
    };
    format!("can't send {kind}; {advice}")
}

fn text_type(ending: &str) -> &'static str {
    match ending {
        "csv" => "text/csv",
        "tsv" => "text/tab-separated-values",
        "md" | "markdown" => "text/markdown",
        "html" | "htm" => "text/html",
        "json" | "ipynb" => "application/json",
        "svg" => "image/svg+xml",
        "xml" => "text/xml",
        "yaml" | "yml" => "application/yaml",
        _ => "text/plain",
    }
}

/// A random id in the form of a UUID, version 4.
fn id() -> String {
    let high = (fastrand::u64(..) & !0xf000) | 0x4000;
    let low = (fastrand::u64(..) & (u64::MAX >> 2)) | (1 << 63);
    let (a, b, c) = (high >> 32, (high >> 16) & 0xffff, high & 0xffff);
    format!("{a:08x}-{b:04x}-{c:04x}-{:04x}-{:012x}", low >> 48, low & 0xffff_ffff_ffff)
}

/// A name that can stand in any path: letters, digits, dots and dashes, at most a hundred bytes, its ending kept.
fn sanitised(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '-') { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    let name = name.trim_start_matches('.');
    let (stem, ending) = match name.rsplit_once('.') {
        Some((stem, ending)) if ending.len() <= 16 && !stem.is_empty() => (stem, Some(ending)),
        _ => (name, None),
    };
    let room = LONGEST_NAME - ending.map_or(0, |ending| ending.len() + 1);
    let mut end = stem.len().min(room);
    while !stem.is_char_boundary(end) {
        end -= 1;
    }
    let stem = stem.get(..end).filter(|stem| !stem.is_empty()).unwrap_or("file");
    ending.map_or_else(|| stem.to_owned(), |ending| format!("{stem}.{ending}"))
}

fn too_large(shown: &str, size: u64) -> String {
    let (size, most) = (text::size(size), text::size(LARGEST));
    format!("{shown} is {size}, over the limit of {most}. Name it in the message: tools can read parts of it.")
}

fn explain(error: FileError, shown: &str) -> String {
    match error {
        FileError::Missing(_) | FileError::NoFolder(_) => format!("{shown} does not exist."),
        FileError::Directory(_) => {
            format!("{shown} is a folder. Attach files, or name the folder in the message for tools to read.")
        }
        FileError::TooLarge(_, size) => too_large(shown, size),
        FileError::Special(_, what) => format!("Can't attach {shown}: {what}"),
        FileError::Changed(_) => format!("{shown} changed while being opened. Try again."),
        FileError::Io { source, .. } => format!("Can't read {shown}: {source}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::bench::{place, tree};
    use proptest::prelude::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_file_is_copied_into_the_session_and_stays_as_it_was() {
        let (_dir, root) = tree();
        let place = place(&root);
        std::fs::write(root.join("work/a plot.png"), b"\x89PNG\r\n\x1a\nrest").unwrap();
        let file = take(Path::new("a plot.png"), &place).unwrap();
        assert_eq!(
            (file.name.as_str(), file.kind, file.mime.as_str(), file.bytes),
            ("a plot.png", AttachmentKind::Image, "image/png", 12)
        );
        assert_eq!(file.path.parent(), Some(place.session_dir.join(FOLDER).as_path()));
        assert!(file.path.to_string_lossy().ends_with("_a_plot.png"), "{:?}", file.path);
        std::fs::write(root.join("work/a plot.png"), b"changed").unwrap();
        assert_eq!(std::fs::read(&file.path).unwrap(), b"\x89PNG\r\n\x1a\nrest");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file.path), mode(&place.session_dir.join(FOLDER))), (0o600, 0o700));
        remove(&file.path, &place.session_dir);
        assert!(!file.path.exists());
        remove(&root.join("work/a plot.png"), &place.session_dir);
        assert!(root.join("work/a plot.png").exists(), "nothing else is ever removed");
    }

    #[test]
    fn what_cannot_be_sent_is_refused_with_the_reason() {
        let (_dir, root) = tree();
        let place = place(&root);
        let write = |name: &str, bytes: &[u8]| std::fs::write(root.join("work").join(name), bytes).unwrap();
        write("empty", b"");
        write("deck.pptx", b"PK\x03\x04\0\0\0\0");
        write("song.mp3", b"ID3\x04\0\0\0");
        write("p.bmp", b"BM\0\0\0\0");
        write(".env", b"KEY=1");
        symlink(root.join("work/.env"), root.join("work/harmless.txt")).unwrap();
        std::fs::File::create(root.join("work/big")).unwrap().set_len(LARGEST + 1).unwrap();
        for (name, says) in [
            ("missing", "does not exist"),
            ("src", "is a folder"),
            ("empty", "empty file"),
            ("deck.pptx", "save it as PDF"),
            ("song.mp3", "audio and video"),
            ("p.bmp", "save it as PNG"),
            (".env", "secrets"),
            ("harmless.txt", "secrets"),
            ("big", "limit of 20"),
            ("/dev/zero", "device"),
        ] {
            let why = take(Path::new(name), &place).unwrap_err();
            assert!(why.contains(says), "{name}: {why}");
        }
        assert!(!place.session_dir.join(FOLDER).exists(), "nothing was kept of them");
    }

    #[test]
    fn a_folder_that_is_a_link_takes_nothing_out_of_the_session() {
        let (_dir, root) = tree();
        let place = place(&root);
        std::fs::create_dir_all(&place.session_dir).unwrap();
        symlink(root.join("outside"), place.session_dir.join(FOLDER)).unwrap();
        assert!(keep("a.txt", b"hello", &place.session_dir).is_err());
        assert_eq!(std::fs::read_dir(root.join("outside")).unwrap().count(), 0);
    }

    #[test]
    fn the_bytes_decide_what_it_is() {
        let is = |name: &str, bytes: &[u8]| kind_of(name, bytes).unwrap();
        assert_eq!(is("x.txt", b"GIF89a..."), (AttachmentKind::Image, "image/gif"));
        assert_eq!(is("x", b"RIFF\0\0\0\0WEBPVP8 "), (AttachmentKind::Image, "image/webp"));
        assert_eq!(is("x.png", b"%PDF-1.7"), (AttachmentKind::Pdf, "application/pdf"));
        assert_eq!(is("n.ipynb", b"{}"), (AttachmentKind::Text, "application/json"));
        assert_eq!(is("t.CSV", b"a,b"), (AttachmentKind::Text, "text/csv"));
    }

    proptest! {
        #[test]
        fn a_copy_has_a_plain_name(name in "\\PC{0,200}") {
            let plain = sanitised(&name);
            prop_assert!(!plain.is_empty() && plain.len() <= LONGEST_NAME && !plain.starts_with('.'), "{plain:?}");
            prop_assert!(plain.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_')), "{plain:?}");
        }
    }

    #[test]
    fn ids_look_like_uuids() {
        let id = id();
        let lengths: Vec<usize> = id.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert!(id.as_bytes()[14] == b'4' && b"89ab".contains(&id.as_bytes()[19]), "{id}");
    }
}
