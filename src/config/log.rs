//! The log: `state/log/lisle.log`, for its owner alone, never on the screen. Without a place to write there is none; where
//! writing fails later, [`on_failure`] says so once, and the library that logs says nothing by itself.
//!
//! A file is begun anew past a fifth of what all may take; the four before it stay.

use super::Paths;
use crate::domain::problem::Problem;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// Number of files, including the current one.
const FILES: usize = 5;

/// Bytes of a file: all together take 5 MB.
const LONGEST: u64 = 1 << 20;

/// Begins to log. `filter` is the value of `LISLE_LOG`, in the form of `tracing`'s directives; by default lisle's own
/// news and what others warn of.
///
/// # Errors
/// Reason why there is no log; the program goes on without it.
pub fn begin(paths: &Paths, filter: Option<&str>) -> Result<(), Problem> {
    let folder = paths.log_dir();
    let path = folder.join("lisle.log");
    let log = Log::open(&folder, LONGEST).map_err(|error| {
        Problem::whole(&path, format!("Logging is off: {error}."), "Check the folder's permissions.")
    })?;
    let usual = "warn,lisle=info";
    let (filter, wrong) = match filter.filter(|filter| !filter.trim().is_empty()).map(EnvFilter::try_new) {
        Some(Ok(filter)) => (filter, None),
        Some(Err(error)) => (EnvFilter::new(usual), Some(error.to_string())),
        None => (EnvFilter::new(usual), None),
    };
    // It logs whole addresses, and keys stand in them. Failures of sources are in their own logs, without.
    let filter = match "rmcp=off".parse() {
        Ok(quiet) => filter.add_directive(quiet),
        Err(_) => filter,
    };
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_env_filter(filter)
        .with_writer(log)
        // On stderr they would stand across the screen.
        .log_internal_errors(false)
        .finish();
    tracing::subscriber::set_global_default(subscriber)
        .map_err(|error| Problem::whole(&path, format!("Logging is off: {error}."), "Begin it once only."))?;
    match wrong {
        Some(error) => Err(Problem::whole(
            &path,
            format!("Invalid LISLE_LOG ({error}); using the default."),
            format!("Set it to something like {usual:?}."),
        )),
        None => Ok(()),
    }
}

/// Receiver of the notice that the log cannot be written.
type Tell = Box<dyn Fn(Problem) + Send>;

/// State of the first failure of this process.
enum Failure {
    /// No failure yet; the receiver of the notice.
    None(Option<Tell>),
    /// Failure before there was a receiver.
    Untold(Problem),
    Told,
}

static FAILURE: Mutex<Failure> = Mutex::new(Failure::None(None));

/// Tells that the log cannot be written, once in the life of the process, also when that was before this call. What comes
/// after is not logged.
pub fn on_failure(tell: impl Fn(Problem) + Send + 'static) {
    let mut failure = FAILURE.lock().unwrap_or_else(PoisonError::into_inner);
    *failure = match std::mem::replace(&mut *failure, Failure::Told) {
        Failure::None(_) => Failure::None(Some(Box::new(tell))),
        Failure::Untold(problem) => {
            tell(problem);
            Failure::Told
        }
        Failure::Told => Failure::Told,
    };
}

fn failed(folder: &Path, error: &io::Error) {
    let mut failure = FAILURE.lock().unwrap_or_else(PoisonError::into_inner);
    let Failure::None(tell) = &mut *failure else { return };
    let text = format!("Can't write the log: {error}.");
    let problem = Problem::whole(folder.join("lisle.log"), text, "lisle continues without logging.");
    *failure = match tell.take() {
        Some(tell) => {
            tell(problem);
            Failure::Told
        }
        None => Failure::Untold(problem),
    };
}

/// The current file; shared by all that log.
#[derive(Clone)]
struct Log(Arc<Mutex<Current>>);

struct Current {
    folder: PathBuf,
    file: File,
    /// Bytes in it.
    length: u64,
    longest: u64,
}

impl Log {
    fn open(folder: &Path, longest: u64) -> io::Result<Self> {
        super::files::private_folder(folder)?;
        let (file, length) = append(folder)?;
        let mut current = Current { folder: folder.to_owned(), file, length, longest };
        if length > longest {
            current.turn()?;
        }
        Ok(Self(Arc::new(Mutex::new(current))))
    }
}

fn append(folder: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(folder.join("lisle.log"))?;
    let length = file.metadata()?.len();
    Ok((file, length))
}

impl Current {
    /// Moves every file one on, the last one out, and begins anew.
    fn turn(&mut self) -> io::Result<()> {
        let numbered = |n: usize| match n {
            0 => self.folder.join("lisle.log"),
            n => self.folder.join(format!("lisle.log.{n}")),
        };
        for n in (0..FILES - 1).rev() {
            match std::fs::rename(numbered(n), numbered(n + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        (self.file, self.length) = append(&self.folder)?;
        Ok(())
    }

    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.length > self.longest {
            self.turn()?;
        }
        self.file.write_all(bytes)?;
        self.length += bytes.len() as u64;
        Ok(())
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // An event comes whole. What a server or a tool said may stand in it.
        let safe = crate::domain::secret::masked(&String::from_utf8_lossy(bytes));
        let written = safe.as_ref().map_or(bytes, |(safe, _)| safe.as_bytes());
        current.add(written).inspect_err(|error| failed(&current.folder, error))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).file.flush()
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Log;

    fn make_writer(&self) -> Log {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn files_turn_over_and_the_oldest_goes() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("log");
        let mut log = Log::open(&folder, 10).unwrap();
        for n in 0..20 {
            log.write_all(format!("line number {n:02}\n").as_bytes()).unwrap();
        }
        let mut names: Vec<_> =
            std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["lisle.log", "lisle.log.1", "lisle.log.2", "lisle.log.3", "lisle.log.4"]);
        assert_eq!(std::fs::read_to_string(folder.join("lisle.log")).unwrap(), "line number 19\n");
        assert_eq!(std::fs::read_to_string(folder.join("lisle.log.4")).unwrap(), "line number 15\n");
        assert_eq!(std::fs::metadata(folder.join("lisle.log")).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_second_program_adds_to_the_same_file() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..2 {
            writeln!(Log::open(dir.path(), 1_000).unwrap(), "from {n}").unwrap();
        }
        assert_eq!(std::fs::read_to_string(dir.path().join("lisle.log")).unwrap(), "from 0\nfrom 1\n");
    }

    #[test]
    fn a_log_that_cannot_be_written_is_told_once_also_when_nobody_was_there() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/dev/full", dir.path().join("lisle.log")).unwrap();
        let mut log = Log::open(dir.path(), 1_000).unwrap();
        assert!(log.write_all(b"a line").is_err());
        let (told, heard) = std::sync::mpsc::channel();
        let tell = |to: &std::sync::mpsc::Sender<String>| {
            let to = to.clone();
            on_failure(move |problem| to.send(problem.to_string()).unwrap());
        };
        tell(&told);
        assert!(log.write_all(b"another").is_err());
        tell(&told);
        let said: Vec<String> = heard.try_iter().collect();
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].contains("lisle.log: Can't write the log: No space left"), "{said:?}");
    }

    #[test]
    fn without_a_place_there_is_a_problem_and_no_log() {
        let dir = tempfile::tempdir().unwrap();
        // A file stands where the folder would be.
        std::fs::write(dir.path().join("state"), "x").unwrap();
        let paths = Paths::find(Some(OsStr::new(dir.path()))).unwrap();
        let problem = begin(&paths, None).unwrap_err();
        assert!(problem.text.starts_with("Logging is off"), "{problem}");
    }
}
