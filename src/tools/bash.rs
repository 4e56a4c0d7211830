//! `bash`: one command in a fresh shell, started through lisle's own program, which holds it to its limits.
//!
//! `sandbox` confines and ends its processes; the permission function decides if it may run at all.

use super::command::confinement::NamedPlaces;
use super::command::output_buffer::KeptOutput;
use super::command::process::{self, CommandRun, blocking, shell};
use super::command_line::affected_paths::Removed;
use super::command_line::{access_requests, affected_paths, escaping_links, git_moves, named_paths};
use super::files::classify;
use super::input::{self, InputFields};
use super::read_tracker::Seen;
use super::results::downloads;
use super::{CallPlace, Halt, RunContext, RunError, Tool, same_facts, settled};
use crate::domain::permission::Sandbox;
use crate::domain::tool::{CallFacts, Outcome, Proposal, ToolFigures, ToolSpec, Touch};
use crate::sandbox::Network;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// Seconds that a command may take when none are given.
const TIMEOUT: u64 = 120;
/// The most that can be given.
const MOST_TIMEOUT: u64 = 600;
/// Bytes of output after which a command is ended: it is stuck in a loop.
const OUTPUT_LIMIT: u64 = 64_000_000;
/// The same for a job, which may go on for long.
const JOB_OUTPUT_LIMIT: u64 = 1_000_000_000;
/// Seconds that a job may take: a day, unless less is given.
const JOB_TIMEOUT: u64 = 86_400;
/// Linux takes no single argument of 128 KiB and more.
const LONGEST: usize = 120_000;

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
                of output, and whatever it leaves running is ended with it. A server, a watcher or a long build goes with \
                `background`: the call comes back at once with a job, whose output `job_output` gives and which \
                `job_kill` ends; a job goes on after the turn, and ends with lisle. What comes \
                back: standard output and error in their order (of very long output the beginning and the end; what is \
                no text goes to a file), then `exit N`. Commands may be held in a sandbox, and the result says when that may be why one failed. Prefer `read`, `list`, `glob`, `grep`, `edit` and `write` for files."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "command": {"type": "string", "description": "The command line, as bash reads it; may have several lines."},
                    "timeout_s": {"type": "integer", "minimum": 1, "description": "Seconds after which it is ended; 120 when left out, at most 600. In the background at most 86400, which is also the default there."},
                    "background": {"type": "boolean", "description": "Start it as a job and do not wait for it."},
                    "access": {
                        "type": "object",
                        "description": "What the sandbox kept from this very command, when its result named it: exactly those paths and sockets. The user is asked.",
                        "properties": {
                            "read": {"type": "array", "items": {"type": "string"}, "description": "Hidden files and folders to read: a secret of the project such as .env, a package beside it."},
                            "write": {"type": "array", "items": {"type": "string"}, "description": "Read-only paths to write: .git/config, a path outside of the working directory."},
                            "sockets": {"type": "array", "items": {"type": "string", "enum": ["ssh-agent", "gpg-agent", "docker"]}, "description": "Sockets that the one program of the line gets."}
                        }
                    },
                    "outside": {"type": "boolean", "description": "Run it outside the sandbox, when `access` cannot name what it needs. Only after a result said that the sandbox may be why the very command failed; the user is asked each time."}
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

    fn inspect(&self, input: &Value, place: &CallPlace, _seen: &Seen) -> Result<CallFacts, String> {
        facts(input, place)
    }

    fn run(&self, input: Value, with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        Box::pin(async move { settled(work(&input, with).await) })
    }
}

fn facts(input: &Value, place: &CallPlace) -> Result<CallFacts, String> {
    let BashInput { command, .. } = call(input)?;
    if !place.cwd.is_dir() {
        return Err(format!(
            "The working directory {} no longer exists. Start a session in another one.",
            place.cwd.display()
        ));
    }
    let (command, cwd) = (command.to_owned(), place.cwd.clone());
    let looked = named_paths::look(&command, place);
    let (programs, unseen) = (looked.programs, looked.unseen);
    let of_extensions = named_paths::of_extensions(&command, place);
    let mut touches =
        vec![Touch::Command { command: command.clone(), cwd: cwd.clone(), programs, unseen, of_extensions }];
    touches.extend(looked.touches);
    touches.extend(escaping_links::look(&command, place));
    touches.extend(affected_paths::look(&command, place));
    let wanted = access_requests::asked(input, &command, place)?.touches;
    touches.extend(access_requests::local_remotes(&command, place));
    let needed = access_requests::pushes(&command, place)
        .into_iter()
        .chain(access_requests::settings(&command, place))
        .chain(access_requests::targets(&command, place));
    touches.extend(needed.filter(|access| !wanted.contains(access)));
    touches.extend(wanted);
    if InputFields::of("bash", input)?.flag("outside")? {
        touches.push(Touch::Outside);
    }
    Ok(CallFacts {
        tool: "bash".to_owned(),
        subject: input::subject(input, "command"),
        touches,
        secrets_here: classify::secrets_here(place, &named_paths::named(&command, place)),
        proposal: Proposal::Command { command, cwd },
        left_out: Vec::new(),
    })
}

/// Input of a call.
struct BashInput<'a> {
    command: &'a str,
    timeout: Duration,
    background: bool,
}

fn call(input: &Value) -> Result<BashInput<'_>, String> {
    let fields = InputFields::of("bash", input)?;
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
    let background = fields.flag("background")?;
    let (usual, most) = if background { (JOB_TIMEOUT, JOB_TIMEOUT) } else { (TIMEOUT, MOST_TIMEOUT) };
    let seconds = fields.number("timeout_s", 1..=most)?.unwrap_or(usual);
    Ok(BashInput { command, timeout: Duration::from_secs(seconds), background })
}

fn line(place: &CallPlace, command: &str, timeout: Duration, output_limit: u64) -> CommandRun {
    let mut line: Vec<std::ffi::OsString> = shell().into_iter().map(Into::into).collect();
    line.push(command.into());
    let (named, mut approved) = (named_paths::named(command, place), named_paths::secrets(command, place));
    // What is shown anyway and stands anywhere in the line is the line's business, also in a text for a shell.
    let stands =
        |path: &&PathBuf| path.file_name().and_then(|name| name.to_str()).is_some_and(|name| command.contains(name));
    approved.extend(place.allowances.granted.readable.iter().filter(stands).cloned());
    let Removed { secrets, mounted } = affected_paths::removed(command, place);
    approved.extend(secrets);
    let told = NamedPlaces {
        line: command.to_owned(),
        named,
        approved,
        in_temp: named_paths::in_temp(command),
        moves: git_moves::at(command, place),
        mounted,
        waited_for: true,
        ..NamedPlaces::default()
    };
    CommandRun { command: line, cwd: place.cwd.clone(), timeout, output_limit, told }
}

async fn work(input: &Value, with: RunContext) -> Result<Outcome, Halt> {
    let BashInput { command, timeout, background } = call(input)?;
    let place = &with.place;
    // A link that leads elsewhere since it was decided on makes it another call.
    let now = facts(input, place)?;
    if !same_facts(&now, &with.facts) {
        return Err(RunError::FactsChanged(Box::new(now)).into());
    }
    with.before_changing()?;
    if with.sandbox == Sandbox::None
        && place.allowances.network != Network::Open
        && !crate::sandbox::is_enforced()
        && !with.facts.touches.contains(&Touch::Outside)
    {
        let text = "The command was not started: the user's setting sandbox.network wants its network held, and nothing holds \
            commands on this machine. Only the user can change that, in config.toml. Called again with `outside: true`, the \
            user is asked to let it run all the same.";
        return Err(Halt::Says(text.to_owned()));
    }
    if background {
        return in_the_background(command, timeout, &with).await;
    }
    let mut line = line(place, command, timeout, OUTPUT_LIMIT);
    line.told.not_opened =
        access_requests::asked(input, command, place).map(|asked| asked.not_opened).unwrap_or_default();
    let running = process::start(place, with.sandbox, line, &with.host, (&with.call, &with.stop)).await?;
    let mut output = BashOutput { kept: KeptOutput::default(), progress: &with.progress, shown: 0 };
    let over = running.see_it_through(&mut output, &with.stop).await;
    let kept = output.kept;
    if over.stopped {
        return Err(over.when_stopped(kept.text()).await?.into());
    }
    match kept.data() {
        None => over.outcome(kept.text()).await,
        Some(bytes) => {
            let (bytes, place) = (bytes.to_vec(), place.clone());
            let told = blocking(move || downloads::keep_output(&bytes, "bash", &place)).await?;
            over.outcome(told).await
        }
    }
}

async fn in_the_background(command: &str, timeout: Duration, with: &RunContext) -> Result<Outcome, Halt> {
    let mut line = line(&with.place, command, timeout, JOB_OUTPUT_LIMIT);
    line.told.waited_for = false;
    let id = with.jobs.start((&with.place, with.sandbox), command, line, (&with.host, &with.call, &with.stop)).await?;
    let text = format!(
        "It continues in the background as job {id}. `job_output` gives what it writes and says when it has ended, \
         `job_kill` ends it. You are told with the next request after it ended."
    );
    Ok(Outcome { figures: ToolFigures { job: Some(id), ..ToolFigures::default() }, ..Outcome::ok(text) })
}

/// Takes the output of a command that is waited for.
struct BashOutput<'a> {
    kept: KeptOutput,
    progress: &'a tokio::sync::mpsc::Sender<String>,
    shown: u64,
}

impl process::Taker for BashOutput<'_> {
    async fn take(&mut self, bytes: &[u8]) {
        self.kept.add(bytes);
    }

    fn tick(&mut self) {
        if self.shown != self.kept.total() {
            self.shown = self.kept.total();
            // A screen that is behind gets the next one.
            let _ = self.progress.try_send(self.kept.last_lines());
        }
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
        let [Touch::Command { command: touched, cwd: touched_cwd, programs, unseen: None, .. }] = &facts.touches[..]
        else {
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
            (json!({"command": "x", "timeout_s": 601}), "`timeout_s` of bash must be an integer from 1 to 600"),
        ] {
            let error = bench.error("bash", input.clone());
            assert!(error.contains(says), "{error}");
        }
        // A silent runner is distinguished from a command that ended.
        let error = bench.error("bash", json!({"command": "true"}));
        assert!(error.contains("ended before it") && error.ends_with("exit unknown"), "{error}");
        bench.place.runner = "/no/such/runner".into();
        assert!(bench.error("bash", json!({"command": "true"})).contains("could not be started through /no/such"));
        bench.place.cwd = "/no/such/dir".into();
        assert!(bench.error("bash", json!({"command": "true"})).contains("no longer exists"));
    }
}
