//! `job_output` and `job_kill`: what a job writes, and its end. What jobs are is in [`super::command::jobs`].

use super::command::jobs::OutputRequest;
use super::input::{self, InputFields};
use super::read_tracker::Seen;
use super::{CallPlace, Halt, RunContext, RunError, Tool, plain, settled};
use crate::domain::tool::{CallFacts, Outcome, ToolFigures, ToolSpec, Touch};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::time::Duration;

/// The longest that one call waits, in seconds.
const MOST_WAIT: u64 = 600;
/// Lines of a tail.
const MOST_TAIL: u64 = 2_000;

/// Reads what a job writes.
pub struct JobOutput;

/// Ends a job.
pub struct JobKill;

impl Tool for JobOutput {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "job_output".to_owned(),
            description: "Gives what a background job (`bash` with `background`) wrote since the last time, or its last \
                lines, and says whether it goes on or how it ended. With `wait_s` it waits for its end, or until a text is \
                in the new output, so that you need not ask again and again. Only the end of very much output is kept here; \
                the result names the file with all of it."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "job": {"type": "string", "description": "The job's name, as `bash` gave it."},
                    "wait_s": {"type": "integer", "minimum": 0, "maximum": MOST_WAIT, "description": "Seconds to wait for its end at the most; 0 when left out."},
                    "until": {"type": "string", "description": "Wait no longer once this text is in the new output, such as `listening on`."},
                    "tail": {"type": "integer", "minimum": 1, "maximum": MOST_TAIL, "description": "The last lines, instead of what is new."}
                },
                "required": ["job"]
            }),
        }
    }

    fn reads_only(&self) -> bool {
        true
    }

    fn subject(&self, input: &Value) -> String {
        input::subject(input, "job")
    }

    fn inspect(&self, input: &Value, _place: &CallPlace, _seen: &Seen) -> Result<CallFacts, String> {
        wanted(input)?;
        Ok(plain("job_output", self.subject(input), Touch::Inner))
    }

    fn run(&self, input: Value, with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        Box::pin(async move { settled(read(&input, &with).await) })
    }
}

fn wanted(input: &Value) -> Result<(&str, OutputRequest), String> {
    let fields = InputFields::of("job_output", input)?;
    let job = fields.text("job")?;
    let until = fields.text_if_any("until")?.filter(|text| !text.is_empty()).map(str::to_owned);
    let wait = fields.number("wait_s", 0..=MOST_WAIT)?;
    // Who names a text wants to wait for it.
    let wait = wait.unwrap_or(if until.is_some() { 30 } else { 0 });
    let tail = fields.number("tail", 1..=MOST_TAIL)?.and_then(|lines| usize::try_from(lines).ok());
    Ok((job, OutputRequest { wait: Duration::from_secs(wait), until, tail }))
}

async fn read(input: &Value, with: &RunContext) -> Result<Outcome, Halt> {
    let (job, wanted) = wanted(input)?;
    let (text, _, exit) = with.jobs.read(job, &wanted, &with.stop).await?;
    let lines = u64::try_from(text.lines().count()).ok();
    Ok(Outcome { figures: ToolFigures { exit, lines, ..ToolFigures::default() }, ..Outcome::ok(text) })
}

impl Tool for JobKill {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "job_kill".to_owned(),
            description: "Ends a background job (`bash` with `background`) with everything that it started: it is asked to \
                end (SIGTERM), and after two seconds it is killed. What comes back: what it wrote since the last time, and \
                how it ended. A job that has ended already is left as it is."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {"job": {"type": "string", "description": "The job's name, as `bash` gave it."}},
                "required": ["job"]
            }),
        }
    }

    fn reads_only(&self) -> bool {
        false
    }

    fn subject(&self, input: &Value) -> String {
        input::subject(input, "job")
    }

    fn inspect(&self, input: &Value, _place: &CallPlace, _seen: &Seen) -> Result<CallFacts, String> {
        InputFields::of("job_kill", input)?.text("job")?;
        Ok(plain("job_kill", self.subject(input), Touch::Inner))
    }

    fn run(&self, input: Value, with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        Box::pin(async move { settled(kill(&input, &with).await) })
    }
}

async fn kill(input: &Value, with: &RunContext) -> Result<Outcome, Halt> {
    let job = InputFields::of("job_kill", input)?.text("job")?;
    let (text, _) = with.jobs.kill_and_wait(job, &with.stop).await?;
    Ok(Outcome::ok(text))
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    #[test]
    fn errors() {
        let bench = Bench::new();
        for (tool, input, says) in [
            ("job_output", json!({}), "needs the field `job`"),
            ("job_output", json!({"job": "x"}), "No job `x`: none started"),
            ("job_output", json!({"job": "x", "wait_s": 601}), "from 0 to 600"),
            ("job_output", json!({"job": "x", "tail": 0}), "from 1 to 2000"),
            ("job_kill", json!({"job": 1}), "`job` of job_kill must be a text"),
            ("job_kill", json!({"job": "x"}), "No job `x`"),
            ("bash", json!({"command": "x", "background": true, "timeout_s": 86_401}), "from 1 to 86400"),
        ] {
            let error = bench.error(tool, input.clone());
            assert!(error.contains(says), "{input}: {error}");
        }
    }
}
