//! Confinement of commands: every one is started through lisle's own program (`lisle __run`), which stays its parent.
//!
//! This file has the words of the pipe between the two: [`Invocation`] goes down as arguments, [`RunReport`] comes back.
//! The permission function decides about a command; nothing here does.
//!
//! | Module | Content |
//! | --- | --- |
//! | [`Profile`], [`Allowances`] | what a command may reach; what the user's settings and answers add |
//! | [`places`], [`repository`] | paths of a profile, looked up before each command |
//! | [`runner`] | starts the parent; the parent itself; the command's process and variables |
//! | `linux`, [`seatbelt`] | confines the command before it begins, on Linux and on macOS |
//! | [`proxy`] | network of a command that has none of its own |
//! | [`protected_files`], [`withheld`] | findings after a command: changed files; what a failed one was refused |
//! | [`plain_file`], [`unseen`] | reads of files that may be changed meanwhile; what cannot be looked at |
//! | [`system_support`] | kinds of confinement that this system has |
//! | [`own_folders`] | lisle's folders, where no repository may lie |
//! | [`own_process`] | memory, keys and open files of lisle's own process |
//!
//! # Protocol
//! lisle starts `RUNNER __run --timeout-ms N --output-limit N [PROFILE] -- PROGRAM ARG…` in the command's directory, or
//! `RUNNER __run -`, which gets the directory, variables and arguments as an order ([`runner::launch`]), with
//! - descriptor 0: the control pipe. A byte on it, or its end, ends the command with everything it started. lisle's
//!   death closes it, so nothing outlives lisle, not even after `kill -9`;
//! - descriptor 1: the command's standard output and error, in the order in which they came;
//! - descriptor 2: one line of JSON at the end, a [`RunReport`]. No such line means that the parent itself was killed.
//!
//! The exit status is the command's, 128 + N after signal N.

use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::time::Duration;

mod allowances;
#[cfg(target_os = "linux")]
pub mod linux;
pub mod own_folders;
pub mod own_process;
pub mod places;
mod profile;
pub mod protected_files;
pub mod proxy;
pub mod repository;
pub mod runner;
pub mod seatbelt;
pub mod system_support;
pub mod unseen;
pub mod withheld;
pub mod working_folder;

pub use crate::plain_file;

pub use allowances::{Allowances, Granted, followed};
pub use profile::{Bounds, Namespaces, Network, Profile, Replaced};

/// The first argument that makes lisle the parent of a command.
pub const WORD: &str = "__run";

/// Between asking a command's processes to end (SIGTERM) and ending them (SIGKILL).
pub const GRACE: Duration = Duration::from_secs(2);

/// Closes this process's memory and environment, where keys lie, to other processes of the same user: nothing that a
/// command starts can read them from `/proc` or attach to it. There is no core file either. Called once at the start of
/// whatever holds keys; what it starts is not affected.
pub fn close_to_others() {
    // Where it cannot be had the program goes on as it would have without.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// Commands can be closed in here. Where they cannot, [`Profile::Open`] is the only one.
#[must_use]
pub fn is_enforced() -> bool {
    #[cfg(target_os = "linux")]
    return self::linux::confine::is_possible();
    #[cfg(target_os = "macos")]
    return seatbelt::is_possible();
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    false
}

/// Order to the parent: a command with its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The command and everything it started is ended after this time.
    pub timeout: Duration,
    /// Limit of output bytes.
    pub output_limit: u64,
    /// The most memory in bytes that it may use.
    pub memory: Option<u64>,
    /// Profile that confines it.
    pub profile: Profile,
    /// The program (an absolute path) and its arguments.
    pub command: Vec<OsString>,
}

impl Invocation {
    /// The arguments after the program's own name, [`WORD`] first.
    #[must_use]
    pub fn arguments(&self) -> Vec<OsString> {
        let mut out: Vec<OsString> = vec![
            WORD.into(),
            "--timeout-ms".into(),
            self.timeout.as_millis().to_string().into(),
            "--output-limit".into(),
            self.output_limit.to_string().into(),
        ];
        if let Some(bytes) = self.memory {
            out.extend(["--memory".into(), bytes.to_string().into()]);
        }
        out.extend(self.profile.arguments());
        out.push("--".into());
        out.extend(self.command.iter().cloned());
        out
    }

    /// Reads what [`Invocation::arguments`] wrote; `args` begins after [`WORD`].
    ///
    /// # Errors
    /// A sentence that says what is missing or not understood.
    pub fn parse(args: &[OsString]) -> Result<Self, String> {
        let mut timeout = None;
        let mut output_limit = None;
        let mut memory = None;
        let mut profile = Profile::Open;
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let number = |value: Option<&OsString>| -> Result<u64, String> {
                value
                    .and_then(|text| text.to_str())
                    .and_then(|text| text.parse().ok())
                    .ok_or_else(|| format!("{WORD}: {} needs a number", arg.display()))
            };
            if arg == OsStr::new("--timeout-ms") {
                timeout = Some(Duration::from_millis(number(rest.next())?));
            } else if arg == OsStr::new("--output-limit") {
                output_limit = Some(number(rest.next())?);
            } else if arg == OsStr::new("--memory") {
                memory = Some(number(rest.next())?);
            } else if profile.take(arg, &mut rest).map_err(|why| format!("{WORD}: {why}"))? {
                continue;
            } else if arg == OsStr::new("--") {
                let command: Vec<OsString> = rest.cloned().collect();
                return match (timeout, output_limit, command.is_empty()) {
                    (Some(timeout), Some(output_limit), false) => {
                        Ok(Self { timeout, output_limit, memory, profile, command })
                    }
                    _ => Err(format!("{WORD} needs --timeout-ms N --output-limit N -- PROGRAM ARG…")),
                };
            } else {
                return Err(format!("{WORD} does not know {}", arg.display()));
            }
        }
        Err(format!("{WORD} needs -- PROGRAM ARG…"))
    }
}

/// End of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// By itself.
    Itself,
    /// Time limit.
    Timeout,
    /// Output limit.
    Output,
    /// lisle asked for it, or is gone.
    Asked,
    /// Failed start.
    NotStarted,
}

/// Report of the parent when everything is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunReport {
    /// Why it ended.
    pub ended: Ended,
    /// The command's exit status, when it has one.
    #[serde(default)]
    pub exit: Option<i32>,
    /// The signal that ended it.
    #[serde(default)]
    pub signal: Option<i32>,
    /// Processes that it had left running and that were ended after it.
    #[serde(default)]
    pub left: u32,
    /// Processes that could not be ended.
    #[serde(default)]
    pub stuck: u32,
    /// Masked places that it opened, by their numbers in the profile; `None` where that is not known.
    #[serde(default)]
    pub opened: Option<Vec<u32>>,
    /// Why it could not be started.
    #[serde(default)]
    pub error: Option<String>,
}

impl RunReport {
    /// The exit status as a shell gives it: the command's, or 128 + the signal.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.exit.or_else(|| self.signal.map(|signal| 128 + signal))
    }

    /// Finds the report in what came on descriptor 2: its last line.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text.lines().rev().find(|line| !line.trim().is_empty())?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_come_back() {
        let call = Invocation {
            timeout: Duration::from_millis(1_500),
            output_limit: 7,
            memory: Some(1 << 30),
            profile: Profile::Workspace(Bounds {
                readable: vec!["/usr".into()],
                writable: vec!["/a b".into(), "/c".into()],
                protected: vec!["/c/d".into()],
                pinned: vec!["/c/e".into()],
                masked: vec!["/f".into()],
                unread: vec!["/g".into()],
                laid: vec!["/h".into()],
                replaced: vec![Replaced { at: "/tmp".into(), with: "/s/tmp".into() }],
                devices: vec!["/dev/kvm".into()],
                sockets: vec!["/run/x.sock".into()],
                network: Network::Proxy,
                namespaces: Namespaces::With,
                folder: None,
                held: Default::default(),
            }),
            command: vec!["/bin/bash".into(), "-c".into(), "-- echo".into()],
        };
        assert_eq!(Invocation::parse(&call.arguments()[1..]), Ok(call));
        for bad in [
            &[][..],
            &["--"],
            &["--timeout-ms", "1", "--", "x"],
            &["--timeout-ms", "x", "--output-limit", "1", "--", "x"],
            &["--timeout-ms", "1", "--output-limit", "1", "--"],
            &["--timeout-ms", "1", "--output-limit", "1", "x"],
            &["--timeout-ms"],
            &["--timeout-ms", "1", "--output-limit", "1", "--read-only", "--readable", "", "--", "x"],
            &["--timeout-ms", "1", "--output-limit", "1", "--workspace", "--replaced", "/a", "", "--", "x"],
        ] {
            let args: Vec<OsString> = bad.iter().map(OsString::from).collect();
            assert!(Invocation::parse(&args).is_err(), "{bad:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_closed_process_is_not_dumpable() {
        use rustix::process::{DumpableBehavior, dumpable_behavior, set_dumpable_behavior};
        let before = dumpable_behavior().unwrap();
        close_to_others();
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
        set_dumpable_behavior(before).unwrap();
    }

    #[test]
    fn the_report_is_the_last_line() {
        let report = RunReport {
            ended: Ended::Timeout,
            exit: None,
            signal: Some(15),
            left: 0,
            stuck: 0,
            opened: Some(vec![2]),
            error: None,
        };
        let text = format!("some noise\n{}\n", serde_json::to_string(&report).unwrap());
        assert_eq!(RunReport::parse(&text), Some(report.clone()));
        assert_eq!(report.code(), Some(143));
        assert_eq!(RunReport::parse("thread panicked"), None);
        assert_eq!(RunReport::parse(""), None);
    }
}
