//! A session's conversation written to a file for people, or its lines as they are. Read as it is written: one row is in
//! memory at a time, and the session is not changed.

use crate::domain::attachment::{Attachment, AttachmentKind, image_type};
use crate::domain::export::{
    ExportContext, Format, HOME_MARK, Masked, file_name, folder_masked, homes_masked, homes_masked_as, homes_shown,
    markdown_of, openclaw, picture,
};
use crate::domain::message::{Body, Message};
use crate::domain::{SessionId, SessionMeta, secret};
use crate::store::format::{layout, live, portable_paths, row};
use crate::store::io::whole_file::{self, make_dirs};
use crate::store::io::{How, Io, lines};
use crate::store::read::session;
use crate::store::{Store, StoreError};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

/// The folder of a session for what is given to others.
const SHARED: &str = "shared";
/// Bytes written at once.
const LARGE: usize = 1 << 20;
/// Names that are tried: `a.md`, `a-2.md` …
const NAMES: usize = 999;

/// Result of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The file.
    pub path: PathBuf,
    /// Numbers of what was masked.
    pub masked: Masked,
}

/// Takes pieces of an export.
pub type WriteExport<'w> = dyn FnMut(&[u8]) -> io::Result<()> + 'w;

/// Gives the pieces of an export to their writer, and says what was masked in them.
pub type FillExport<'f> = dyn FnMut(&mut WriteExport<'_>) -> Result<Masked, StoreError> + 'f;

/// Takes the text piece by piece.
struct Sink<'w> {
    write: &'w mut dyn FnMut(&[u8]) -> io::Result<()>,
    waiting: Vec<u8>,
    masked: Masked,
    home: &'w Path,
    /// Folder of the session, and the way to its files.
    dir: &'w Path,
    io: &'w dyn Io,
    format: Format,
    /// Folder that shows its last name alone.
    folder: Option<PathBuf>,
    /// Rows of a format that is written as a whole.
    rows: Vec<Message>,
}

impl Sink<'_> {
    /// A text in which no key is left to mask.
    fn safe(&mut self, (text, keys): (String, usize)) -> io::Result<()> {
        self.masked.keys += keys;
        let sign = if self.format == Format::Markdown { HOME_MARK } else { '~' };
        let (text, homes) = homes_masked_as(&text, self.home, sign).unwrap_or((text, 0));
        self.masked.homes += homes;
        let text = match self.format {
            Format::Markdown => homes_shown(&text),
            Format::Html => text.replace(HOME_MARK, "~"),
            Format::Json | Format::Text | Format::Openclaw => text,
        };
        let short = self.folder.as_ref().and_then(|folder| folder_masked(&text, folder));
        self.bytes(short.unwrap_or(text).as_bytes())
    }

    /// A line of JSON. Bytes that are no UTF-8 are no reason to give a key away.
    fn json(&mut self, line: &[u8]) -> io::Result<()> {
        let text = String::from_utf8_lossy(line);
        match secret::masked_json(&text) {
            Some(safe) => self.safe(safe),
            None if homes_masked(&text, self.home).is_some() => self.safe((text.into_owned(), 0)),
            None => self.bytes(line),
        }
    }

    /// A line of the session's file, for programs.
    fn stored(&mut self, file: &File, line: &lines::LineView<'_>) -> io::Result<()> {
        // Being written at this moment, or left by a death.
        if !line.ended && serde_json::from_slice::<serde::de::IgnoredAny>(line.bytes).is_err() {
            return Ok(());
        }
        if line.len == line.bytes.len() as u64 {
            self.json(line.bytes)?;
        } else {
            self.json(&lines::range(self.io, file, line.at, line.at + line.len)?)?;
        }
        self.bytes(b"\n")
    }

    fn row(&mut self, format: Format, row: &mut Message, look: &dyn ExportContext) -> io::Result<()> {
        if format == Format::Openclaw {
            self.rows.push(row.clone());
            return Ok(());
        }
        if format == Format::Html
            && let Some(text) = markdown_of(row)
        {
            // Before it is rendered: colours of code would stand in the middle of a path.
            if let Some((safe, homes)) = homes_masked_as(text, self.home, HOME_MARK) {
                *text = safe;
                self.masked.homes += homes;
            }
            if let Some(safe) = self.folder.as_ref().and_then(|folder| folder_masked(text, folder)) {
                *text = safe;
            }
        }
        self.safe(format.safe_row(row, look))?;
        if format == Format::Html && look.shows_pictures() { self.pictures(row) } else { Ok(()) }
    }

    /// Pictures of a message, behind it. Nothing in them is masked, and nothing of them is looked at as text.
    fn pictures(&mut self, row: &Message) -> io::Result<()> {
        let Body::User(said) = &row.body else { return Ok(()) };
        for file in said.attachments.iter().filter(|file| file.kind == AttachmentKind::Image) {
            // One that is gone, or no picture, is named above.
            let bytes = file.copy_in(self.dir).and_then(|path| whole_file::read(self.io, &path).ok()?);
            if let Some((bytes, mime)) = bytes.as_deref().and_then(|bytes| Some((bytes, image_type(bytes)?))) {
                self.bytes(picture(mime, &STANDARD.encode(bytes), &file.name).as_bytes())?;
            }
        }
        Ok(())
    }

    /// Everything after the last row.
    fn end(&mut self, format: Format, meta: &SessionMeta) -> io::Result<()> {
        if format == Format::Openclaw {
            self.transcript(meta)?;
        }
        self.bytes(format.tail().as_bytes())?;
        self.flush()
    }

    /// The transcript of all rows.
    fn transcript(&mut self, meta: &SessionMeta) -> io::Result<()> {
        let (dir, io) = (self.dir, self.io);
        // A session that others wrote may name any file of this machine.
        let own = |path: &Path| path.strip_prefix(dir).is_ok_and(|path| path.components().all(is_normal));
        let picture = |file: &Attachment| {
            own(&file.path).then(|| Some(STANDARD.encode(whole_file::read(io, &file.path).ok()??))).flatten()
        };
        let rows = std::mem::take(&mut self.rows);
        for line in openclaw::transcript(meta, &rows, &picture).lines {
            self.json(line.to_string().as_bytes())?;
            self.bytes(b"\n")?;
        }
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() < LARGE { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.waiting.is_empty() {
            (self.write)(&self.waiting)?;
            self.waiting.clear();
        }
        Ok(())
    }
}

impl Store {
    /// Writes a session's whole conversation, keys and home paths masked, piece by piece. `look` is what it takes from
    /// around it.
    ///
    /// # Errors
    /// When the session cannot be read, or what `write` fails with.
    pub fn export_to(
        &self,
        id: &SessionId,
        format: Format,
        look: &dyn ExportContext,
        write: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<Masked, StoreError> {
        let io = self.io();
        let reader = self.reader(id);
        // The live rows first: one that becomes final meanwhile is then in both, and told apart.
        let (live, _) = self.live(&reader.dir)?;
        let found = session::find(io, &reader.dir)?;
        let lacking = self.lacking_lines(&reader, &found)?;
        let mut open = live::taken_along(self.open_rows(&reader, &found, &live)?);
        let meta = reader.meta(&found);
        let path = reader.dir.join(layout::SESSION);
        let error = |error| StoreError::io("export", &path, error);
        // Lines for programs keep the working directory.
        let folder = (!matches!(format, Format::Json | Format::Openclaw)).then(|| meta.cwd.clone());
        let (masked, home) = (Masked::default(), self.inner.home.as_path());
        let mut sink =
            Sink { write, waiting: Vec::new(), masked, home, dir: &reader.dir, io, format, folder, rows: Vec::new() };
        let mut last = meta.created;
        sink.safe(format.safe_head(&meta, look)).map_err(error)?;
        if let Some(file) = &found.file {
            let from = if format == Format::Json { 0 } else { found.head.body };
            lines::each(io, file, from, found.len, |line| -> io::Result<()> {
                if session::blank(line.bytes) {
                    return Ok(());
                }
                if format == Format::Json {
                    return sink.stored(file, &line);
                }
                let mut rows = row::read(line.bytes, line.at, 0, &reader.dir).rows;
                session::fill_times(&mut rows, last);
                for row in &mut rows {
                    row::settle(row);
                    last = row.at;
                    sink.row(format, row, look)?;
                }
                Ok(())
            })
            .map_err(error)?;
        }
        // What another program left out of the file is the session's all the same.
        for line in lacking {
            let mut rows = row::read(line.as_bytes(), 0, 0, &reader.dir).rows;
            open.retain(|row| rows.iter().all(|there| there.id != row.id));
            if format == Format::Json {
                sink.json(line.as_bytes()).map_err(error)?;
                continue;
            }
            session::fill_times(&mut rows, last);
            for row in &mut rows {
                row::settle(row);
                last = row.at;
                sink.row(format, row, look).map_err(error)?;
            }
        }
        for mut row in open {
            let written = match format {
                Format::Json => {
                    sink.json(row::write(&row, &reader.dir).map(|line| line + "\n").unwrap_or_default().as_bytes())
                }
                _ => sink.row(format, &mut row, look),
            };
            written.map_err(error)?;
        }
        sink.end(format, &meta).map_err(error)?;
        Ok(sink.masked)
    }

    /// Writes a session's conversation to a new file of mode 0600: at `wanted`, where one may write a relative path and
    /// `~`, or a folder; without it under a name from its title where its tools work, else in its own folder. A file that
    /// is there stays: then the name gets a number. The format is that of the name where none is given.
    ///
    /// # Errors
    /// When the session cannot be read, or the file not be written: then there is none.
    pub fn export(
        &self,
        id: &SessionId,
        format: Option<Format>,
        wanted: Option<&Path>,
        look: &dyn ExportContext,
    ) -> Result<Exported, StoreError> {
        let by_name = wanted.and_then(Format::of);
        let format = format.or(by_name).unwrap_or_default();
        self.export_by(id, format, wanted, &mut |write| self.export_to(id, format, look, write))
    }

    /// The same with another writer of the text, such as one that has it already.
    ///
    /// # Errors
    /// As for [`Store::export`], and what `fill` fails with.
    pub fn export_by(
        &self,
        id: &SessionId,
        format: Format,
        wanted: Option<&Path>,
        fill: &mut FillExport<'_>,
    ) -> Result<Exported, StoreError> {
        let meta = self.header_only(id)?;
        let named = format!("{}.{}", file_name(&meta), format.ending());
        let Some(wanted) = wanted else {
            return match self.export_at(&meta.cwd.join(&named), fill) {
                Err(StoreError::Io { source, .. }) if is_no_place(&source) => {
                    self.export_at(&self.session_dir(id).join(&named), fill)
                }
                done => done,
            };
        };
        let mut path = meta.cwd.join(portable_paths::absolute(&wanted.to_string_lossy(), &self.inner.home));
        if self.io().stat(&path).is_ok_and(|stat| stat.is_dir) {
            path = path.join(&named);
        }
        self.export_at(&path, fill)
    }

    /// Writes a session's conversation as one page, or its lines for an upload, into its own folder. Nothing is sent.
    ///
    /// # Errors
    /// As for [`Store::export`].
    pub fn share(&self, id: &SessionId, format: Format, look: &dyn ExportContext) -> Result<Exported, StoreError> {
        let meta = self.header_only(id)?;
        let folder = self.session_dir(id).join(SHARED);
        make_dirs(self.io(), &folder)?;
        let named = format!("{}.{}", file_name(&meta), format.ending());
        self.export_at(&folder.join(named), &mut |write| self.export_to(id, format, look, write))
    }

    fn header_only(&self, id: &SessionId) -> Result<SessionMeta, StoreError> {
        let reader = self.reader(id);
        Ok(reader.meta(&session::find(self.io(), &reader.dir)?))
    }

    fn export_at(&self, path: &Path, fill: &mut FillExport<'_>) -> Result<Exported, StoreError> {
        let io = self.io();
        let (file, path) = self.free(path)?;
        let written = fill(&mut |bytes| io.append(&file, bytes));
        let written = written.and_then(|masked| {
            let kept = io.fsync(&file).map_err(|error| StoreError::io("save", &path, error));
            kept.map(|()| masked)
        });
        match written {
            Ok(masked) => Ok(Exported { path, masked }),
            Err(error) => {
                // What is half written helps nobody; that removing it may fail too changes nothing.
                let _ = io.remove(&path);
                Err(error)
            }
        }
    }

    /// Makes a file of this name, or of the next one that is free.
    fn free(&self, wanted: &Path) -> Result<(File, PathBuf), StoreError> {
        let part = |part: Option<&std::ffi::OsStr>| part.map(|name| name.to_string_lossy().into_owned());
        let stem = part(wanted.file_stem()).unwrap_or_default();
        let ending = part(wanted.extension()).map_or_else(String::new, |ending| format!(".{ending}"));
        for number in 1..=NAMES {
            let path = match number {
                1 => wanted.to_owned(),
                number => wanted.with_file_name(format!("{stem}-{number}{ending}")),
            };
            match self.io().open(&path, How::New) {
                Ok(file) => return Ok((file, path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(StoreError::io("write", &path, error)),
            }
        }
        let error = io::Error::from(ErrorKind::AlreadyExists);
        Err(StoreError::io("write", wanted, error))
    }
}

fn is_normal(part: Component<'_>) -> bool {
    matches!(part, Component::Normal(_))
}

/// No file can be made there by us, whatever its name.
fn is_no_place(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem | ErrorKind::NotADirectory
    )
}
