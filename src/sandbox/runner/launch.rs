//! lisle's side of the processes that hold commands: starts `lisle __run -`, which takes its order through its standard input.
//!
//! One is kept ready, so that a command does not wait until the program is loaded. It knows nothing before it gets its order:
//! lists and variables are those of the moment in which a command starts. What does not answer is replaced by a new one.

use super::descriptor_passing;
use crate::sandbox::own_process::descriptors;
use crate::sandbox::places::hidden::HeldPlaces;
use crate::sandbox::working_folder::FolderNumber;
use crate::sandbox::{Invocation, WORD};
use std::ffi::{OsStr, OsString};
use std::io::{Error, ErrorKind, PipeReader, PipeWriter, Read, Result, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// The only argument of a parent that waits for its order.
pub(in crate::sandbox) const WAITS: &str = "-";
/// Mark of a command with streams of its own.
const TALKS: &str = "1";
/// An order is shorter than this.
const LONGEST: usize = 16 * 1024 * 1024;

/// Command for a parent, and its directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The working directory.
    pub cwd: PathBuf,
    /// Number of the folder that it is; another one there ends the command before it starts.
    pub folder: Option<FolderNumber>,
    /// Variables that the command gets, those that look like keys included; the last of a name counts.
    pub variables: Vec<(OsString, OsString)>,
    /// The command and what holds it.
    pub invocation: Invocation,
    /// The command has a standard input and output of its own, and only its standard error is passed on.
    pub talks: bool,
}

/// Standard input and output of a command that lisle talks with: the command's ends of two pipes.
#[derive(Debug)]
pub(in crate::sandbox) struct OwnStreams {
    pub(in crate::sandbox) input: OwnedFd,
    pub(in crate::sandbox) output: OwnedFd,
}

/// A command that lisle talks with; the output of its parent is what it writes to its standard error.
#[derive(Debug)]
pub struct StartedServer {
    /// Its standard input.
    pub input: PipeWriter,
    /// Its standard output.
    pub output: PipeReader,
    /// Its parent.
    pub parent: StartedParent,
}

/// A parent that was started.
#[derive(Debug)]
pub struct StartedParent {
    /// Control pipe: its end ends the command. The listener of a proxy comes through it.
    pub control: UnixStream,
    /// Output of the command.
    pub output: ChildStdout,
    /// Pipe of the report.
    pub report: ChildStderr,
    /// The process.
    pub process: Process,
}

/// The process of a parent, which is waited for when this is dropped, by a thread of its own.
#[derive(Debug)]
pub struct Process(Option<Child>);

impl Process {
    /// Process id, while it was not waited for.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        self.0.as_ref().map(Child::id)
    }

    /// Ends it, if it has not ended.
    pub fn kill(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let Some(mut child) = self.0.take() else { return };
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        let waits = std::thread::Builder::new().name("lisle-wait".to_owned()).spawn(move || child.wait());
        if let Err(error) = waits {
            tracing::debug!(%error, "a parent of a command is not waited for");
        }
    }
}

/// The one that is ready, and by which program.
static READY: Mutex<Option<(PathBuf, StartedParent)>> = Mutex::new(None);

/// Starts a command by `runner`, lisle's own program.
///
/// # Errors
/// The program cannot be started, or takes no order.
pub fn start(runner: &Path, order: &Order) -> Result<StartedParent> {
    start_with(runner, order, &[])
}

/// Starts a command that lisle talks with.
///
/// # Errors
/// As for [`start`].
pub fn start_server(runner: &Path, order: Order) -> Result<StartedServer> {
    let order = Order { talks: true, ..order };
    let (their_input, input) = std::io::pipe()?;
    let (output, their_output) = std::io::pipe()?;
    let parent = start_with(runner, &order, &[their_input.as_fd(), their_output.as_fd()])?;
    Ok(StartedServer { input, output, parent })
}

fn start_with(runner: &Path, order: &Order, streams: &[BorrowedFd<'_>]) -> Result<StartedParent> {
    let message = order.message()?;
    let ready = READY.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some((by, mut parent)) = ready
        && by == runner
        && parent.control.write_all(&message).is_ok()
        && order.hand_over(&parent.control, streams).is_ok()
    {
        return Ok(parent);
    }
    let mut parent = spawn(runner)?;
    match parent.control.write_all(&message).and_then(|()| order.hand_over(&parent.control, streams)) {
        // One that ended before it read its order tells by its status.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
        other => other?,
    }
    Ok(parent)
}

/// Keeps a parent ready for the next command, if there is none.
pub fn keep_ready(runner: &Path) {
    let mut ready = READY.lock().unwrap_or_else(PoisonError::into_inner);
    if ready.as_ref().is_none_or(|(by, _)| by != runner) {
        // Without one the next command starts a moment later.
        *ready = spawn(runner).ok().map(|parent| (runner.to_owned(), parent));
    }
}

fn spawn(runner: &Path) -> Result<StartedParent> {
    let (control, theirs) = UnixStream::pair()?;
    let usual = descriptors::usual().map(|limit| (descriptors::USUAL_LIMIT, limit.to_string()));
    let mut child = Command::new(runner)
        .args([WORD, WAITS])
        .env_clear()
        .envs(usual)
        .current_dir("/")
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let pipes = (child.stdout.take(), child.stderr.take());
    let process = Process(Some(child));
    match pipes {
        (Some(output), Some(report)) => Ok(StartedParent { control, output, report, process }),
        _ => Err(Error::other("it has no pipes")),
    }
}

impl Order {
    fn held(&self) -> Option<&HeldPlaces> {
        self.invocation.profile.bounds().map(|bounds| &*bounds.held)
    }

    /// Sends the hidden places that are held, then the command's own streams.
    fn hand_over(&self, control: &UnixStream, streams: &[BorrowedFd<'_>]) -> Result<()> {
        let fds: Vec<BorrowedFd<'_>> = self.held().into_iter().flat_map(HeldPlaces::descriptors).collect();
        descriptor_passing::send(control.as_fd(), &fds)?;
        descriptor_passing::send(control.as_fd(), streams)
    }

    /// Takes in the hidden places and the command's own streams, where there are some.
    ///
    /// # Errors
    /// A sentence when not all of them came.
    pub(in crate::sandbox) fn take_over(
        &mut self,
        control: BorrowedFd<'_>,
    ) -> std::result::Result<Option<OwnStreams>, String> {
        if let Some(bounds) = self.invocation.profile.bounds_mut().filter(|bounds| !bounds.held.is_empty()) {
            let fds = descriptor_passing::receive(control, bounds.held.len())
                .map_err(|e| format!("the hidden places did not arrive: {e}"))?;
            bounds.held = HeldPlaces::filled(fds, &bounds.masked).into();
        }
        if !self.talks {
            return Ok(None);
        }
        let fds = descriptor_passing::receive(control, 2)
            .map_err(|e| format!("the streams of the command did not arrive: {e}"))?;
        let streams = <[OwnedFd; 2]>::try_from(fds).map(|[input, output]| OwnStreams { input, output });
        streams.map(Some).map_err(|_| "the streams of the command did not arrive".to_owned())
    }

    /// Bytes of the order: its length, and texts that end with zeros: the directory, its number, the number of places that are held, 1 for
    /// a command with streams of its own, the number of variables, these, and the arguments.
    fn message(&self) -> Result<Vec<u8>> {
        let arguments = self.invocation.arguments();
        let mut out = vec![0; 4];
        let mut text = |parts: &[&OsStr]| -> Result<()> {
            for part in parts {
                if part.as_bytes().contains(&0) {
                    return Err(Error::new(ErrorKind::InvalidInput, "a zero in an argument"));
                }
                out.extend(part.as_bytes());
            }
            out.push(0);
            Ok(())
        };
        text(&[self.cwd.as_os_str()])?;
        text(&[OsStr::new(&FolderNumber::written(self.folder))])?;
        text(&[OsStr::new(&self.held().map_or(0, HeldPlaces::len).to_string())])?;
        text(&[OsStr::new(if self.talks { TALKS } else { "0" })])?;
        text(&[OsStr::new(&self.variables.len().to_string())])?;
        for (name, value) in &self.variables {
            text(&[name, OsStr::new("="), value])?;
        }
        // The word is not sent.
        for argument in arguments.iter().skip(1) {
            text(&[argument])?;
        }
        let length = u32::try_from(out.len() - 4).map_err(Error::other)?;
        if let Some(head) = out.first_chunk_mut() {
            *head = length.to_le_bytes();
        }
        Ok(out)
    }

    fn read(message: &[u8]) -> Option<std::result::Result<Self, String>> {
        let mut texts = message.strip_suffix(&[0])?.split(|byte| *byte == 0);
        let owned = |text: &[u8]| OsString::from_vec(text.to_vec());
        let cwd = PathBuf::from(owned(texts.next()?));
        let folder = FolderNumber::read(std::str::from_utf8(texts.next()?).ok()?).ok()?;
        let held: usize = std::str::from_utf8(texts.next()?).ok()?.parse().ok()?;
        let talks = texts.next()? == TALKS.as_bytes();
        let count: usize = std::str::from_utf8(texts.next()?).ok()?.parse().ok()?;
        let mut variables = Vec::with_capacity(count.min(1024));
        for _ in 0..count {
            let text = texts.next()?;
            // A name may begin with the sign, as on some systems it does.
            let at = 1 + text.get(1..)?.iter().position(|byte| *byte == b'=')?;
            variables.push((owned(text.get(..at)?), owned(text.get(at + 1..)?)));
        }
        let arguments: Vec<OsString> = texts.map(owned).collect();
        Some(Invocation::parse(&arguments).map(|mut invocation| {
            if let Some(bounds) = invocation.profile.bounds_mut() {
                bounds.held = HeldPlaces::expected(held).into();
                bounds.folder = folder.map(|folder| (cwd.clone(), folder));
            }
            Self { cwd, folder, variables, invocation, talks }
        }))
    }

    /// Waits for an order; `None` where none comes any more. Reads nothing that comes after it.
    ///
    /// # Errors
    /// A sentence when it is none.
    pub(in crate::sandbox) fn take(mut from: impl Read) -> Option<std::result::Result<Self, String>> {
        let mut length = [0; 4];
        from.read_exact(&mut length).ok()?;
        let length = usize::try_from(u32::from_le_bytes(length)).ok().filter(|length| *length <= LONGEST)?;
        let mut message = vec![0; length];
        from.read_exact(&mut message).ok()?;
        Some(Self::read(&message).unwrap_or_else(|| Err("the order is not supported".to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Profile;
    use crate::sandbox::working_folder::WorkingFolder;

    #[test]
    fn an_order_arrives_as_it_was_and_nothing_behind_it_is_read() {
        let order = Order {
            cwd: "/a b".into(),
            folder: WorkingFolder::of(Path::new("/")).number(),
            variables: vec![("A".into(), "b=c\n".into()), ("EMPTY".into(), "".into())],
            invocation: Invocation {
                timeout: std::time::Duration::from_secs(1),
                output_limit: 7,
                memory: None,
                profile: Profile::Open,
                command: vec!["/bin/sh".into(), "-c".into(), "".into(), OsString::from_vec(vec![0xff, b'x'])],
            },
            talks: true,
        };
        let mut bytes = order.message().unwrap();
        bytes.push(b'!');
        let mut left = &bytes[..];
        assert_eq!(Order::take(&mut left), Some(Ok(order.clone())));
        assert_eq!(left, b"!");
        assert_eq!(Order::take(&bytes[..10]), None);
        assert!(matches!(Order::take(&[2, 0, 0, 0, b'x', 0][..]), Some(Err(_))));
        assert_eq!(Order::take(&[0xff; 64][..]), None);
        let split = Order { cwd: OsString::from_vec(b"a\0b".to_vec()).into(), ..order };
        assert!(split.message().is_err());
    }
}
