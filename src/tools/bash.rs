//! `bash`: one command in a fresh shell, started through lisle's own program, which holds it to its limits.
//!
//! How its processes are held and ended is `sandbox`'s matter; whether it may run at all is the permission function's.

use super::held::Held;
use super::input::{self, Fields};
use super::{Halt, Place, Run, RunError, Tool, leaves, same_facts, seen::Seen, settled, words};
use crate::domain::tool::{CallFacts, Outcome, Proposal, ToolFigures, ToolSpec, Touch};
use crate::sandbox::{Ended, GRACE, Invocation, Profile, Report, environment, process};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::time::Instant;

/// Seconds that a command may take when none are given.
const TIMEOUT: u64 = 120;
/// The most that can be given.
const MOST_TIMEOUT: u64 = 600;
/// Bytes of output after which a command is ended: it is stuck in a loop.
const OUTPUT_LIMIT: u64 = 64_000_000;
/// Bytes that are kept of the beginning, and as many of the end.
const KEPT: usize = 1_000_000;
/// Linux takes no single argument of 128 KiB and more.
const LONGEST: usize = 120_000;
/// At most this often the screen gets the last lines.
const PROGRESS: Duration = Duration::from_millis(250);
/// Lines and characters of one such message.
const PROGRESS_LINES: usize = 10;
const PROGRESS_CHARS: usize = 2_000;

/// The tool.
pub struct Bash;

impl Tool for Bash {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "bash".to_owned(),
            description: "Runs one command line in a fresh bash (no profile, no rc files) in the session's working \
                directory. Nothing carries over to the next call: no variables and no `cd`; use absolute paths or \
                `cd DIR && …`. There is no terminal and no input (standard input is empty), pagers are off, API keys are \
                not in the environment. It is ended after `timeout_s` seconds (120 unless given, at most 600) or 64 MB \
                of output, and whatever it leaves running is ended with it, so no servers in the background. What comes \
                back: standard output and error in their order (of very long output the beginning and the end), then \
                `exit N`. Commands may be held in a sandbox, and the result says when that may be why one failed. Prefer `read`, `list`, `glob`, `grep`, `edit` and `write` for files."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "command": {"type": "string", "description": "The command line, as bash reads it; may have several lines."},
                    "timeout_s": {"type": "integer", "minimum": 1, "maximum": MOST_TIMEOUT, "description": "Seconds after which it is ended; 120 when left out."},
                    "outside": {"type": "boolean", "description": "Run it outside the sandbox. Only after a result said that the sandbox may be why the very command failed; the user is asked each time."}
                },
                "required": ["command"]
            }),
        }
    }

    fn reads_only(&self) -> bool {
        false
    }

    fn subject(&self, input: &Value) -> String {
        input::subject(input, "command")
    }

    fn inspect(&self, input: &Value, place: &Place, _seen: &Seen) -> Result<CallFacts, String> {
        facts(input, place)
    }

    fn run(&self, input: Value, with: Run) -> BoxFuture<'static, Result<Outcome, RunError>> {
        Box::pin(async move { settled(work(&input, with).await) })
    }
}

fn facts(input: &Value, place: &Place) -> Result<CallFacts, String> {
    let (command, _) = call(input)?;
    if !place.cwd.is_dir() {
        return Err(format!(
            "The working directory {} does not exist any more. Start a session in another one.",
            place.cwd.display()
        ));
    }
    let (command, cwd) = (command.to_owned(), place.cwd.clone());
    let looked = words::look(&command, place);
    let (programs, unseen) = (looked.programs, looked.unseen);
    let mut touches = vec![Touch::Command { command: command.clone(), cwd: cwd.clone(), programs, unseen }];
    touches.extend(looked.touches);
    touches.extend(leaves::look(&command, place));
    if Fields::of("bash", input)?.flag("outside")? {
        touches.push(Touch::Outside);
    }
    Ok(CallFacts {
        tool: "bash".to_owned(),
        subject: input::subject(input, "command"),
        touches,
        proposal: Proposal::Command { command, cwd },
    })
}

fn call(input: &Value) -> Result<(&str, Duration), String> {
    let fields = Fields::of("bash", input)?;
    let command = fields.text("command")?;
    if command.trim().is_empty() {
        return Err("`command` is empty. Give a command line.".to_owned());
    }
    if command.contains('\0') {
        return Err("`command` holds a NUL character, which no command line can.".to_owned());
    }
    if command.len() > LONGEST {
        return Err(format!(
            "`command` is {} bytes long; at most {LONGEST} can be passed on. Write a script file with `write` and run it.",
            command.len()
        ));
    }
    let seconds = fields.number("timeout_s", 1..=MOST_TIMEOUT)?.unwrap_or(TIMEOUT);
    Ok((command, Duration::from_secs(seconds)))
}

/// The shell with its arguments up to the command line, by absolute path and never `$SHELL`.
fn shell() -> Vec<&'static str> {
    match ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"].into_iter().find(|path| Path::new(path).exists()) {
        Some(bash) => vec![bash, "--noprofile", "--norc", "-c"],
        None => vec!["/bin/sh", "-c"],
    }
}

/// Looks at the disk off the async threads.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Halt> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|e| Halt::Says(format!("The tool broke off: {e}. Nothing more is known; try another way.")))
}

fn spawn(place: &Place, command: &str, timeout: Duration, profile: Profile) -> std::io::Result<Child> {
    let mut line: Vec<std::ffi::OsString> = shell().into_iter().map(Into::into).collect();
    line.push(command.into());
    let memory = place.allowances.memory;
    let call = Invocation { timeout, output_limit: OUTPUT_LIMIT, memory, profile, command: line };
    Command::new(&place.runner)
        .args(call.arguments())
        .current_dir(&place.cwd)
        .env_clear()
        .envs(environment::cleaned(std::env::vars_os(), &place.cwd))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

async fn work(input: &Value, with: Run) -> Result<Outcome, Halt> {
    let (command, timeout) = call(input)?;
    let place = &with.place;
    // A link that leads elsewhere since it was decided on makes it another call.
    let now = facts(input, place)?;
    if !same_facts(&now, &with.facts) {
        return Err(RunError::FactsChanged(Box::new(now)).into());
    }
    let (site, sandbox) = (place.clone(), with.sandbox);
    let held = blocking(move || Held::new(site, sandbox)).await?;
    let mut child = spawn(place, command, timeout, held.profile.clone()).map_err(|e| {
        format!("The command could not be started through {} in {}: {e}.", place.runner.display(), place.cwd.display())
    })?;
    let (Some(control), Some(output), Some(report)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(Halt::Says("The command could not be started: it has no pipes.".to_owned()));
    };
    let mut control = Some(control);
    let mut kept = Kept::default();
    let mut said = Vec::new();
    // The parent keeps to the time itself; this is for the case that it does not.
    let mut last_moment = Instant::now() + timeout + GRACE + Duration::from_secs(10);
    let mut stopped = false;
    {
        let collected = collect(output, report, &mut kept, &mut said, &with.progress);
        tokio::pin!(collected);
        loop {
            tokio::select! {
                () = &mut collected => break,
                () = with.stop.cancelled(), if !stopped => {
                    stopped = true;
                    // Its end is the word to end everything.
                    drop(control.take());
                    last_moment = Instant::now() + GRACE + Duration::from_secs(4);
                }
                () = tokio::time::sleep_until(last_moment) => break,
            }
        }
    }
    drop(control);
    let report = Report::parse(&String::from_utf8_lossy(&said));
    if report.is_none() {
        // The parent was killed or hangs: what it held must not go on.
        if let Some(pid) = child.id().and_then(|pid| i32::try_from(pid).ok()) {
            let _ = tokio::task::spawn_blocking(move || process::kill_session(pid)).await;
        }
        let _ = child.start_kill();
    }
    // It has said its last word, so this does not take long; if it does, tokio takes care of the remains.
    let _ = tokio::time::timeout(Duration::from_secs(1), child.wait()).await;
    let output = kept.text();
    if stopped {
        return Err(RunError::Stopped(output).into());
    }
    let code = report.as_ref().and_then(Report::code);
    let end = output.clone();
    let notes = blocking(move || held.notes(&end, code)).await?;
    Ok(outcome(output, report, &said, timeout, &notes))
}

/// Reads both pipes to their ends and sends the last lines now and then.
async fn collect(
    mut output: impl AsyncRead + Unpin,
    report: impl AsyncRead + Unpin,
    kept: &mut Kept,
    said: &mut Vec<u8>,
    progress: &tokio::sync::mpsc::Sender<String>,
) {
    let mut report = report.take(64 * 1024);
    let mut buffer = vec![0; 64 * 1024];
    let (mut output_open, mut report_open) = (true, true);
    let mut tick = tokio::time::interval(PROGRESS);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut shown = 0;
    while output_open || report_open {
        tokio::select! {
            read = output.read(&mut buffer), if output_open => match read {
                Ok(0) | Err(_) => output_open = false,
                Ok(count) => kept.add(buffer.get(..count).unwrap_or_default()),
            },
            read = report.read_buf(said), if report_open => match read {
                Ok(0) | Err(_) => report_open = false,
                Ok(_) => {}
            },
            _ = tick.tick(), if shown != kept.total => {
                shown = kept.total;
                // A screen that is behind gets the next one.
                let _ = progress.try_send(kept.last_lines());
            }
        }
    }
}

fn outcome(mut text: String, report: Option<Report>, said: &[u8], timeout: Duration, notes: &[String]) -> Outcome {
    let lines = u64::try_from(text.lines().count()).ok().filter(|lines| *lines > 0);
    if text.is_empty() {
        text.push_str("(no output)");
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let Some(report) = report else {
        let said = input::one_line(&String::from_utf8_lossy(said), 300);
        let said = if said.is_empty() { String::new() } else { format!(" It said: {said}") };
        text.push_str(&format!("The process that held the command ended before it.{said}\nexit unknown"));
        return Outcome::error(text);
    };
    match report.ended {
        Ended::Itself => {}
        Ended::Timeout => {
            text.push_str(&format!("Ended because it took longer than {} s (timeout_s).\n", timeout.as_secs()));
        }
        Ended::Output => text.push_str("Ended because it wrote more than 64 MB.\n"),
        Ended::Asked => text.push_str("Ended on request.\n"),
        Ended::NotStarted => {
            text = format!("The command could not be started: {}.\n", report.error.clone().unwrap_or_default());
        }
    }
    if report.left > 0 {
        text.push_str(&format!("(Left running and ended with it: {}.)\n", processes(report.left)));
    }
    if report.stuck > 0 {
        text.push_str(&format!("({} could not be ended.)\n", processes(report.stuck)));
    }
    for note in notes {
        text.push_str(&format!("({note})\n"));
    }
    let code = report.code();
    match code {
        Some(code) => text.push_str(&format!("exit {code}")),
        None => text.push_str("exit unknown"),
    }
    Outcome {
        failed: code != Some(0) || report.ended != Ended::Itself,
        figures: ToolFigures { exit: code, lines, ..ToolFigures::default() },
        ..Outcome::ok(text)
    }
}

fn processes(count: u32) -> String {
    if count == 1 { "1 process".to_owned() } else { format!("{count} processes") }
}

/// The beginning and the end of an output of any length.
#[derive(Default)]
struct Kept {
    head: Vec<u8>,
    tail: Vec<u8>,
    total: u64,
}

impl Kept {
    fn add(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(KEPT - self.head.len()));
        self.head.extend(first);
        self.tail.extend(rest);
        // Twice what is kept, so that moving it stays rare.
        if self.tail.len() > 2 * KEPT {
            self.tail.drain(..self.tail.len() - KEPT);
        }
    }

    fn text(&self) -> String {
        let tail = self.tail.get(self.tail.len().saturating_sub(KEPT)..).unwrap_or_default();
        let cut = self.total.saturating_sub((self.head.len() + tail.len()) as u64);
        if cut == 0 {
            return String::from_utf8_lossy(&[&self.head[..], tail].concat()).into_owned();
        }
        format!(
            "{}\n[… {cut} bytes of output are left out here …]\n{}",
            String::from_utf8_lossy(&self.head),
            String::from_utf8_lossy(tail)
        )
    }

    /// The last whole lines, for the screen.
    fn last_lines(&self) -> String {
        let from = if self.tail.is_empty() { &self.head } else { &self.tail };
        let end = from.get(from.len().saturating_sub(PROGRESS_CHARS)..).unwrap_or_default();
        let text = String::from_utf8_lossy(end);
        let lines: Vec<&str> = text.lines().collect();
        // The first one is cut when there is more before it.
        let skip = lines.len().saturating_sub(PROGRESS_LINES).max(usize::from(end.len() < from.len()));
        lines.get(skip..).filter(|rest| !rest.is_empty()).unwrap_or(&lines).join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    #[test]
    fn the_facts_are_the_command_and_its_directory() {
        let bench = Bench::new();
        let facts = bench.inspect("bash", &json!({"command": "ls\n-l"})).unwrap();
        let (command, cwd) = ("ls\n-l".to_owned(), bench.place.cwd.clone());
        let [Touch::Command { command: touched, cwd: touched_cwd, programs, unseen: None }] = &facts.touches[..] else {
            panic!("{facts:?}")
        };
        assert_eq!((touched, touched_cwd), (&command, &cwd));
        assert!(programs.iter().any(|program| program.name == "ls" && program.inode > 0 && !program.inside));
        assert_eq!(facts.proposal, Proposal::Command { command, cwd });
        assert_eq!(facts.subject, "ls -l");
    }

    #[test]
    fn a_link_that_changed_its_target_is_decided_on_anew() {
        let bench = Bench::new();
        bench.write("a.txt", "x");
        bench.write("home/.ssh/id", "x");
        let (link, input) = (bench.path("link"), json!({"command": "cat link"}));
        std::os::unix::fs::symlink("a.txt", &link).unwrap();
        let before = bench.inspect("bash", &input).unwrap();
        assert_eq!(before.touches.len(), 1);
        std::fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink("home/.ssh/id", &link).unwrap();
        let Err(RunError::FactsChanged(after)) = bench.run_with("bash", input, before) else { panic!() };
        assert_eq!(after.touches[1], Touch::Read { path: bench.path("home/.ssh/id"), secret: true });
    }

    #[test]
    fn errors() {
        let mut bench = Bench::new();
        for (input, says) in [
            (json!({}), "needs the field `command`"),
            (json!({"command": " \n"}), "`command` is empty"),
            (json!({"command": "a\0b"}), "NUL"),
            (json!({"command": "x".repeat(LONGEST + 1)}), "Write a script file"),
            (json!({"command": "x", "timeout_s": 601}), "`timeout_s` of bash must be a whole number from 1 to 600"),
        ] {
            let error = bench.error("bash", input.clone());
            assert!(error.contains(says), "{error}");
        }
        // A runner that says nothing is told apart from a command that ended.
        let error = bench.error("bash", json!({"command": "true"}));
        assert!(error.contains("ended before it") && error.ends_with("exit unknown"), "{error}");
        bench.place.runner = "/no/such/runner".into();
        assert!(bench.error("bash", json!({"command": "true"})).contains("could not be started through /no/such"));
        bench.place.cwd = "/no/such/dir".into();
        assert!(bench.error("bash", json!({"command": "true"})).contains("does not exist any more"));
    }

    #[test]
    fn beginning_and_end_are_kept() {
        let mut kept = Kept::default();
        for part in [&b"start\n"[..], &vec![b'x'; 5 * KEPT], b"\nend\n"] {
            for chunk in part.chunks(70_000) {
                kept.add(chunk);
            }
        }
        let text = kept.text();
        assert!(text.starts_with("start\n") && text.ends_with("\nend\n"));
        assert!(text.contains(&format!("[… {} bytes of output are left out here …]", 3 * KEPT + 11)));
        assert!(text.len() < 2 * KEPT + 200);
        let mut short = Kept::default();
        short.add("äö".as_bytes());
        assert_eq!(short.text(), "äö");
    }

    #[test]
    fn progress_is_the_last_whole_lines() {
        let mut kept = Kept::default();
        kept.add(b"a\nb\n");
        assert_eq!(kept.last_lines(), "a\nb");
        for n in 0..1_000 {
            kept.add(format!("line {n}\n").as_bytes());
        }
        assert_eq!(kept.last_lines().lines().count(), PROGRESS_LINES);
        assert!(kept.last_lines().ends_with("line 999"));
    }
}
