//! `lisle sessions export`: the text is made once and held, until what is masked in it was told; then it is written to
//! stdout, a pipe, a device or a file.

use super::args::Export;
use super::exit::Exit;
use super::output::{complain, is_open, say};
use crate::domain::export::{Format, Masked};
use crate::domain::{SessionId, sanitise};
use crate::local_export::PicturedExport;
use crate::runtime::setup::Bootstrap;
use crate::store::{FillExport, Store, StoreError, WriteExport};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Bytes of an export that are held in memory; the rest is in a file.
const IN_MEMORY: usize = 16 << 20;

pub(super) fn export(bootstrap: &Bootstrap, args: &Export) -> Exit {
    let Some(id) = &args.id else { return Exit::Usage };
    let by_name = args.out.as_deref().and_then(Format::of);
    let format = args.format.or(by_name).unwrap_or_default();
    if let Some(ending) = args.out.as_deref().filter(|out| !is_stream(out) && !out.is_dir()).and_then(Path::extension)
        && args.format.or(by_name).is_none()
    {
        let ending = sanitise::reveal_line(&ending.to_string_lossy());
        complain(&format!("lisle: no format has the ending .{ending}: this is Markdown. --format says which"));
    }
    if !is_open() {
        return Exit::Failed;
    }
    match written(&bootstrap.store, id, format, args.out.as_deref(), &bootstrap.paths.state) {
        Ok(()) => Exit::Done,
        Err(error) => {
            complain(&format!("lisle: can't export {id}: {error}."));
            Exit::Failed
        }
    }
}

fn written(store: &Store, id: &SessionId, format: Format, out: Option<&Path>, state: &Path) -> Result<(), StoreError> {
    let mut held = HeldExport::new(state);
    // The masked keys are told before anything is written.
    let masked = store.export_to(id, format, &PicturedExport, &mut |piece| {
        held.add(piece);
        Ok(())
    })?;
    if let Some(words) = masked.words() {
        complain(&format!("lisle: masked: {words}."));
    }
    let mut fill = |write: &mut WriteExport<'_>| -> Result<Masked, StoreError> {
        match held.give(write) {
            Some(given) => given.map(|()| masked).map_err(|source| failed(out.unwrap_or(Path::new("stdout")), source)),
            None => store.export_to(id, format, &PicturedExport, write),
        }
    };
    match out.filter(|out| *out != Path::new("-")) {
        Some(out) if is_stream(out) => into_stream(out, &mut fill),
        Some(out) => {
            // From where the command is given, not from where the session's tools work.
            let out = std::path::absolute(out).unwrap_or_else(|_| out.to_owned());
            let done = store.export_by(id, format, Some(&out), &mut fill)?;
            say(&format!("{}\n", done.path.display()));
            Ok(())
        }
        None => {
            // A pipe that nobody reads any more ends it, and is no error.
            let mut closed = false;
            let done = fill(&mut |bytes| {
                closed = !say(&String::from_utf8_lossy(bytes));
                if closed { Err(ErrorKind::BrokenPipe.into()) } else { Ok(()) }
            });
            if closed { Ok(()) } else { done.map(drop) }
        }
    }
}

fn failed(path: &Path, source: io::Error) -> StoreError {
    StoreError::Io { doing: "export", path: path.to_owned(), source }
}

/// True for what is there and neither a file nor a folder: a pipe, a device, /dev/stdout.
fn is_stream(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| !meta.is_dir() && (!meta.is_file() || path.starts_with("/dev")))
}

/// Writes an export into what is there already.
fn into_stream(path: &Path, fill: &mut FillExport<'_>) -> Result<(), StoreError> {
    // Appended, as `lisle run -o` checks it: a redirected stdout is a file that has a place of its own.
    let mut file = OpenOptions::new().append(true).open(path).map_err(|source| failed(path, source))?;
    let mut closed = false;
    let done = fill(&mut |bytes| {
        let written = file.write_all(bytes);
        closed = written.as_ref().is_err_and(|error| error.kind() == ErrorKind::BrokenPipe);
        written
    });
    match done {
        _ if closed => Ok(()),
        Err(StoreError::Io { source, .. }) => Err(failed(path, source)),
        done => done.map(drop),
    }
}

/// Text of an export in which nothing is left to mask: its beginning in memory, the rest in a file without a name.
struct HeldExport {
    memory: Vec<u8>,
    /// Folder of the file.
    dir: PathBuf,
    rest: Option<File>,
    /// Lengths of the pieces: none ends inside a character.
    pieces: Vec<usize>,
    /// There was no place for it, as on a full disk: it is made a second time.
    lost: bool,
}

impl HeldExport {
    fn new(dir: &Path) -> Self {
        Self { memory: Vec::new(), dir: dir.to_owned(), rest: None, pieces: Vec::new(), lost: false }
    }

    fn add(&mut self, piece: &[u8]) {
        if self.lost {
            return;
        }
        self.pieces.push(piece.len());
        if self.rest.is_none() && self.memory.len() + piece.len() <= IN_MEMORY {
            return self.memory.extend_from_slice(piece);
        }
        if let Err(_full) = self.add_to_file(piece) {
            *self = Self { lost: true, ..Self::new(&self.dir) };
        }
    }

    fn add_to_file(&mut self, piece: &[u8]) -> io::Result<()> {
        let file = match self.rest.take() {
            Some(file) => file,
            None => unnamed(&self.dir)?,
        };
        self.rest.insert(file).write_all(piece)
    }

    /// Gives all pieces to their writer, from the first one on. `None` if they are not there.
    fn give(&mut self, write: &mut WriteExport<'_>) -> Option<io::Result<()>> {
        (!self.lost).then(|| self.give_pieces(write))
    }

    fn give_pieces(&mut self, write: &mut WriteExport<'_>) -> io::Result<()> {
        if let Some(file) = &mut self.rest {
            file.rewind()?;
        }
        let (mut memory, mut piece) = (self.memory.as_slice(), Vec::new());
        for &len in &self.pieces {
            if let Some((first, rest)) = memory.split_at_checked(len).filter(|_| !memory.is_empty()) {
                write(first)?;
                memory = rest;
            } else if let Some(file) = &mut self.rest {
                piece.resize(len, 0);
                file.read_exact(&mut piece)?;
                write(&piece)?;
            }
        }
        Ok(())
    }
}

/// A new file of this user alone, whose name is gone: nothing of it stays, however this process ends.
fn unnamed(dir: &Path) -> io::Result<File> {
    let path = dir.join(format!("export-{}.tmp", std::process::id()));
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(held: &mut HeldExport) -> Vec<usize> {
        let mut all = Vec::new();
        let done = held.give(&mut |piece| {
            assert!(piece.iter().all(|byte| usize::from(*byte) == all.len()));
            all.push(piece.len());
            Ok(())
        });
        done.unwrap().unwrap();
        all
    }

    #[test]
    fn pieces_come_back_as_they_went_in_and_leave_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let mut held = HeldExport::new(dir.path());
        let lengths = [0, 3, IN_MEMORY - 9, 6, 7, 0, IN_MEMORY, 1];
        for (number, len) in (0_u8..).zip(lengths) {
            held.add(&vec![number; len]);
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        assert_eq!(given(&mut held), lengths);
        // A second place for it, where the first one was none.
        assert_eq!(given(&mut held), lengths);
    }

    #[test]
    fn without_a_place_nothing_is_held() {
        let mut held = HeldExport::new(Path::new("/nonexistent"));
        held.add(b"a");
        held.add(&vec![b'b'; IN_MEMORY]);
        held.add(b"c");
        assert!(held.give(&mut |_| Ok(())).is_none() && held.memory.is_empty());
    }
}
