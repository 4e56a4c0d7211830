//! The real binary in a pseudo-terminal: types keys, waits for conditions, reads the screen, sends signals, and looks at
//! every byte that was sent. It never sleeps: each wait is for something named, with one deadline.
//!
//! Used by tests and benchmarks; `#[path]` brings it in, so each of them uses only a part.
#![allow(dead_code)]

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, mpsc};
use std::time::{Duration, Instant};

/// Longer than anything here takes on a loaded machine; a test that works never waits for it.
pub const LIMIT: Duration = Duration::from_secs(90);

/// Answers of the terminal to queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// As a terminal of today: kitty keyboard, synchronized output, a dark background.
    Modern,
    /// As an old xterm: only its device attributes.
    Old,
    /// With these answers, and no others.
    Draws(&'static [(&'static [u8], &'static [u8])]),
    /// As a modern one, but only after so long.
    Late(Duration),
    /// Not at all.
    None,
}

const MODERN: &[(&[u8], &[u8])] = &[
    (b"\x1b[?u", b"\x1b[?0u"),
    (b"\x1b[?2026$p", b"\x1b[?2026;2$y"),
    (b"\x1b[?2031$p", b"\x1b[?2031;0$y"),
    (b"\x1b]11;?\x1b\\", b"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\"),
    (b"\x1b[6n", b"\x1b[2;2R"),
    (b"\x1b[5n", b"\x1b[0n"),
    (b"\x1b[c", b"\x1b[?62;22c"),
];
const OLD: &[(&[u8], &[u8])] = &[(b"\x1b[c", b"\x1b[?1;2c")];

/// Program to start, and its surroundings.
pub struct Start {
    program: PathBuf,
    args: Vec<String>,
    env: Vec<(String, String)>,
    size: (u16, u16),
    answers: Answers,
    /// The terminal takes so many bytes a second; as many as come without.
    line: Option<u32>,
    /// The way to the terminal takes everything at once, and brings it later.
    drain: Option<Drain>,
    home: PathBuf,
    cwd: PathBuf,
}

impl Start {
    /// `program` with all of its files under `home`, in a modern terminal of 100 by 30.
    pub fn new(program: &str, home: &Path) -> Self {
        let (program, home) = (PathBuf::from(program), home.to_owned());
        let cwd = home.join("work");
        Self {
            program,
            args: Vec::new(),
            env: Vec::new(),
            size: (100, 30),
            answers: Answers::Modern,
            line: None,
            drain: None,
            home,
            cwd,
        }
    }

    pub fn args<I: IntoIterator<Item = S>, S: Into<String>>(mut self, args: I) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Columns and rows.
    pub fn size(mut self, width: u16, height: u16) -> Self {
        self.size = (width, height);
        self
    }

    pub fn answers(mut self, answers: Answers) -> Self {
        self.answers = answers;
        self
    }

    /// The line to the terminal carries so many bytes a second.
    pub fn line(mut self, bytes: u32) -> Self {
        self.line = Some(bytes);
        self
    }

    /// Between the program and the terminal lies what sshd and a slow line are: everything is taken at once, so many bytes a
    /// second go on, and both ways together take `round_trip`.
    pub fn drain(mut self, bytes: u32, round_trip: Duration) -> Self {
        self.drain = Some(Drain { bytes, half: round_trip / 2 });
        self
    }

    /// Starts it.
    pub fn go(self) -> Pty {
        let (width, height) = self.size;
        let pair = native_pty_system().openpty(pty_size(width, height)).unwrap();
        std::fs::create_dir_all(&self.cwd).unwrap();
        let mut command = CommandBuilder::new(&self.program);
        command.args(&self.args);
        command.cwd(&self.cwd);
        command.env_clear();
        for (name, value) in [("TERM", "xterm-256color"), ("LANG", "C.UTF-8"), ("SHELL", "/bin/sh"), ("TZ", "UTC")] {
            command.env(name, value);
        }
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", &self.home);
        command.env("LISLE_HOME", self.home.join("lisle"));
        for (name, value) in &self.env {
            command.env(name, value);
        }
        // Held open, so that the settings can be looked at after the end, and no byte is lost with the last close.
        let path = pair.master.tty_name().unwrap();
        let slave = rustix::fs::open(path, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let before = tcgetattr(&slave).unwrap();
        let started = Instant::now();
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let pid = Pid::from_raw(i32::try_from(child.process_id().unwrap()).unwrap()).unwrap();
        let seen = Arc::new(Shared {
            seen: Mutex::new(Seen {
                parser: vt100::Parser::new(NonZeroU16::new(height).unwrap(), NonZeroU16::new(width).unwrap(), 0),
                raw: Vec::new(),
                last: None,
            }),
            changed: Condvar::new(),
        });
        let mut keys: Box<dyn Write + Send> = pair.master.take_writer().unwrap();
        let mut reader = pair.master.try_clone_reader().unwrap();
        if let Some(drain) = self.drain {
            keys = Box::new(Delayed::new(keys, drain.half));
            reader = Box::new(Drained::new(reader, drain));
        }
        let writer = Arc::new(Mutex::new(keys));
        let (theirs, replies, answers, line) = (Arc::clone(&seen), Arc::clone(&writer), self.answers, self.line);
        std::thread::spawn(move || read(Line { reader, carries: line }, &theirs, &replies, answers));
        let (tx, ended) = mpsc::channel();
        std::thread::spawn(move || wait(child, &tx));
        Pty { master: pair.master, slave, before, writer, seen, ended, status: None, pid, started }
    }
}

fn pty_size(cols: u16, rows: u16) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

fn wait(mut child: Box<dyn Child + Send + Sync>, ended: &mpsc::Sender<ExitStatus>) {
    if let Ok(status) = child.wait() {
        let _ = ended.send(status);
    }
}

/// Output of the program, as fast as the line carries it.
struct Line {
    reader: Box<dyn Read + Send>,
    carries: Option<u32>,
}

impl Read for Line {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let Some(carries) = self.carries else { return self.reader.read(bytes) };
        let most = bytes.len().min(1024);
        let n = self.reader.read(&mut bytes[..most])?;
        // A line takes its time; nobody waits for anything here.
        std::thread::sleep(Duration::from_secs_f64(n as f64 / f64::from(carries)));
        Ok(n)
    }
}

/// A way that takes everything at once: see [`Start::drain`].
#[derive(Clone, Copy)]
struct Drain {
    bytes: u32,
    half: Duration,
}

fn sleep_until(at: Instant) {
    std::thread::sleep(at.saturating_duration_since(Instant::now()));
}

/// What was taken at once comes out piece by piece, as the line brings it.
struct Drained {
    taken: mpsc::Receiver<(Instant, Vec<u8>)>,
    drain: Drain,
    /// When the line has brought what came before.
    free: Instant,
}

impl Drained {
    /// Bytes that arrive together.
    const PIECE: usize = 100;

    fn new(mut reader: Box<dyn Read + Send>, drain: Drain) -> Self {
        let (tx, taken) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 65536];
            while let Ok(n @ 1..) = reader.read(&mut bytes) {
                let now = Instant::now();
                if bytes[..n].chunks(Self::PIECE).any(|piece| tx.send((now, piece.to_vec())).is_err()) {
                    return;
                }
            }
        });
        Self { taken, drain, free: Instant::now() }
    }
}

impl Read for Drained {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let Ok((at, piece)) = self.taken.recv() else { return Ok(0) };
        let takes = Duration::from_secs_f64(piece.len() as f64 / f64::from(self.drain.bytes));
        self.free = self.free.max(at) + takes;
        sleep_until(self.free + self.drain.half);
        bytes[..piece.len()].copy_from_slice(&piece);
        Ok(piece.len())
    }
}

/// Keys and answers on their way to the program.
struct Delayed {
    sent: mpsc::Sender<(Instant, Vec<u8>)>,
    half: Duration,
}

impl Delayed {
    fn new(mut writer: Box<dyn Write + Send>, half: Duration) -> Self {
        let (sent, keys) = mpsc::channel::<(Instant, Vec<u8>)>();
        std::thread::spawn(move || {
            for (at, bytes) in keys {
                sleep_until(at);
                if writer.write_all(&bytes).and_then(|()| writer.flush()).is_err() {
                    return;
                }
            }
        });
        Self { sent, half }
    }
}

impl Write for Delayed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let _ = self.sent.send((Instant::now() + self.half, bytes.to_vec()));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn read(mut reader: Line, shared: &Shared, writer: &Arc<Mutex<Box<dyn Write + Send>>>, answers: Answers) {
    let table = match answers {
        Answers::Modern | Answers::Late(_) => MODERN,
        Answers::Old => OLD,
        Answers::Draws(table) => table,
        Answers::None => &[],
    };
    let mut bytes = [0; 65536];
    // Up to here queries have been answered.
    let mut answered = 0;
    while let Ok(n @ 1..) = reader.read(&mut bytes) {
        let mut seen = shared.lock();
        seen.parser.process(&bytes[..n]);
        seen.raw.extend_from_slice(&bytes[..n]);
        seen.last = Some(Instant::now());
        let mut replies = Vec::new();
        // In the order in which they were asked.
        while let Some((at, query, reply)) = table
            .iter()
            .filter_map(|(query, reply)| find(&seen.raw[answered..], query).map(|at| (at, *query, *reply)))
            .min_by_key(|(at, ..)| *at)
        {
            answered += at + query.len();
            replies.extend_from_slice(reply);
        }
        drop(seen);
        shared.changed.notify_all();
        if replies.is_empty() {
            continue;
        }
        let writer = Arc::clone(writer);
        let reply = move || {
            let mut writer = writer.lock().unwrap();
            let _ = writer.write_all(&replies).and_then(|()| writer.flush());
        };
        match answers {
            Answers::Late(after) => drop(std::thread::spawn(move || {
                std::thread::sleep(after);
                reply();
            })),
            _ => reply(),
        }
    }
}

pub fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

/// Output of the terminal so far.
pub struct Seen {
    parser: vt100::Parser,
    /// Every byte.
    pub raw: Vec<u8>,
    /// When the last of them came.
    pub last: Option<Instant>,
}

impl Seen {
    /// The text on the screen, row by row without blanks at the ends.
    pub fn text(&self) -> String {
        self.parser.screen().contents().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }

    pub fn screen(&self) -> &vt100::Screen {
        self.parser.screen()
    }

    /// The bytes were sent.
    pub fn sent(&self, bytes: &str) -> bool {
        find(&self.raw, bytes.as_bytes()).is_some()
    }
}

struct Shared {
    seen: Mutex<Seen>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap()
    }
}

/// A running program in its terminal. Dropping it kills the program.
pub struct Pty {
    master: Box<dyn MasterPty + Send>,
    slave: OwnedFd,
    before: Termios,
    writer: Arc<Mutex<Box<dyn Write + Send>>>,
    seen: Arc<Shared>,
    ended: mpsc::Receiver<ExitStatus>,
    status: Option<ExitStatus>,
    pid: Pid,
    /// When it was started.
    pub started: Instant,
}

impl Pty {
    /// Waits until `condition` holds and returns when it did. `what` names it in the failure.
    #[track_caller]
    pub fn wait_for(&self, what: &str, mut condition: impl FnMut(&Seen) -> bool) -> Instant {
        let end = Instant::now() + LIMIT;
        let mut seen = self.seen.lock();
        while !condition(&seen) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let last = &seen.raw[seen.raw.len().saturating_sub(400)..];
                panic!(
                    "not within {LIMIT:?}: {what}\n--- screen ---\n{}\n--- {} bytes came, the last: {}",
                    seen.text(),
                    seen.raw.len(),
                    last.escape_ascii()
                );
            }
            seen = self.seen.changed.wait_timeout(seen, left).unwrap().0;
        }
        seen.last.unwrap_or(self.started)
    }

    /// Waits until the screen shows `text`.
    #[track_caller]
    pub fn until(&self, text: &str) -> Instant {
        self.wait_for(&format!("{text:?} is on the screen"), |seen| seen.text().contains(text))
    }

    /// Waits until the screen does not show `text` any more.
    #[track_caller]
    pub fn gone(&self, text: &str) -> Instant {
        self.wait_for(&format!("{text:?} is not on the screen"), |seen| !seen.text().contains(text))
    }

    /// Waits until these bytes were sent.
    #[track_caller]
    pub fn sent(&self, bytes: &str) -> Instant {
        self.wait_for(&format!("{bytes:?} was sent"), |seen| seen.sent(bytes))
    }

    /// Types text or the bytes of a key.
    pub fn keys(&self, bytes: &str) {
        let mut writer = self.writer.lock().unwrap();
        writer.write_all(bytes.as_bytes()).unwrap();
        writer.flush().unwrap();
    }

    /// Gives the terminal another size.
    pub fn resize(&self, width: u16, height: u16) {
        // The emulator first: what the program draws for the new size must not meet the old one.
        self.seen.lock().parser.set_size(NonZeroU16::new(height).unwrap(), NonZeroU16::new(width).unwrap());
        self.master.resize(pty_size(width, height)).unwrap();
    }

    /// Looks at what came so far.
    pub fn look<T>(&self, at: impl FnOnce(&Seen) -> T) -> T {
        at(&self.seen.lock())
    }

    /// The text on the screen.
    pub fn text(&self) -> String {
        self.look(Seen::text)
    }

    /// Column and row of the real cursor, once it is shown.
    pub fn cursor(&self) -> (u16, u16) {
        // It is hidden while a frame is on its way.
        self.wait_for("the cursor is shown", |seen| !seen.screen().hide_cursor());
        self.look(|seen| {
            let (row, column) = seen.screen().cursor_position();
            (column, row)
        })
    }

    /// Its process id.
    pub fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Sends a signal to the program.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid, signal).unwrap();
    }

    /// Waits until the program has ended and tells how.
    #[track_caller]
    pub fn end(&mut self) -> ExitStatus {
        if self.status.is_none() {
            match self.ended.recv_timeout(LIMIT) {
                Ok(status) => self.status = Some(status),
                Err(_) => panic!("did not end within {LIMIT:?}\n--- screen ---\n{}", self.text()),
            }
        }
        self.status.clone().unwrap()
    }

    /// Ends the program as a crash would, and waits until it is gone.
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.end();
    }

    /// Sets the line settings to what they were before the program started, as a shell does when it gets its turn.
    pub fn change_settings(&self) {
        tcsetattr(&self.slave, OptionalActions::Now, &self.before).unwrap();
    }

    /// The line settings are what they were before the program started.
    pub fn settings_are_restored(&self) -> bool {
        same(&tcgetattr(&self.slave).unwrap(), &self.before)
    }
}

fn same(a: &Termios, b: &Termios) -> bool {
    (a.input_modes, a.output_modes, a.control_modes, a.local_modes)
        == (b.input_modes, b.output_modes, b.control_modes, b.local_modes)
}

impl Drop for Pty {
    fn drop(&mut self) {
        if self.status.is_none() && self.ended.try_recv().is_err() {
            let _ = kill_process(self.pid, Signal::KILL);
        }
    }
}
