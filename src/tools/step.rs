//! `step`: the agent reports how far a step of the approved plan is. Which plan that is the engine knows.

use super::input::{InputFields, one_line};
use super::read_tracker::Seen;
use super::{CallPlace, RunContext, RunError, Tool, plain};
use crate::domain::plan::StepStatus;
use crate::domain::tool::{CallFacts, Outcome, Then, ToolSpec, Touch};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

/// Characters of a note.
const LONGEST: usize = 300;

/// The tool.
pub struct StepTool;

impl Tool for StepTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "step".to_owned(),
            description: "Reports how far a step of the approved plan is; the user sees the plan tick off. Call it with \
                `running` when you begin a step, and with `done`, `failed` or `skipped` when it ended. Steps that the user \
                struck out are not to be done and not reported. What comes back: how many steps are done, and the next one."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "number": {"type": "integer", "minimum": 1, "description": "The step's number in the plan."},
                    "status": {"type": "string", "enum": ["running", "done", "failed", "skipped"], "description": "How far it is."},
                    "note": {"type": "string", "description": "Why it failed or was skipped, in a few words."}
                },
                "required": ["number", "status"]
            }),
        }
    }

    fn reads_only(&self) -> bool {
        // It changes nothing on disk, but the last report counts, so calls keep their order.
        false
    }

    fn subject(&self, input: &Value) -> String {
        match StepReport::of(input) {
            Ok(StepReport { number, status, note }) if note.is_empty() => format!("{number} {}", status.word()),
            Ok(StepReport { number, status, note }) => format!("{number} {}: {note}", status.word()),
            Err(_) => String::new(),
        }
    }

    fn inspect(&self, input: &Value, _place: &CallPlace, _seen: &Seen) -> Result<CallFacts, String> {
        StepReport::of(input)?;
        Ok(plain("step", self.subject(input), Touch::Inner))
    }

    fn run(&self, input: Value, _with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        Box::pin(async move {
            Ok(match StepReport::of(&input) {
                Err(sentence) => Outcome::error(sentence),
                Ok(StepReport { number, status, .. }) => {
                    let text = format!("Step {number} is {}.", status.word());
                    Outcome { then: Then::Step { number, status }, ..Outcome::ok(text) }
                }
            })
        })
    }
}

struct StepReport {
    number: u32,
    status: StepStatus,
    note: String,
}

impl StepReport {
    fn of(input: &Value) -> Result<Self, String> {
        let fields = InputFields::of("step", input)?;
        let number = input.get("number").and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
        let number = number.filter(|n| *n > 0).ok_or("`number` must be the step's number in the plan, from 1.")?;
        let status = match fields.text("status")? {
            "running" => StepStatus::Running,
            "done" => StepStatus::Done,
            "failed" => StepStatus::Failed,
            "skipped" => StepStatus::Skipped,
            other => {
                let other = one_line(other, 40);
                return Err(format!("`status` must be running, done, failed or skipped, but it is \"{other}\"."));
            }
        };
        let note = input.get("note").and_then(Value::as_str).map(|note| one_line(note, LONGEST)).unwrap_or_default();
        Ok(Self { number, status, note })
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    #[test]
    fn reports_go_to_the_engine() {
        let bench = Bench::new();
        let outcome = bench.ok("step", json!({"number": 2, "status": "done"}));
        assert_eq!(outcome.then, Then::Step { number: 2, status: StepStatus::Done });
        assert_eq!(StepTool.subject(&json!({"number": 2, "status": "failed", "note": "no\nnet"})), "2 failed: no net");
    }

    #[test]
    fn errors() {
        let bench = Bench::new();
        for (input, says) in [
            (json!({"status": "done"}), "`number` must be"),
            (json!({"number": 0, "status": "done"}), "`number` must be"),
            (json!({"number": "2", "status": "done"}), "`number` must be"),
            (json!({"number": 1}), "needs the field `status`"),
            (json!({"number": 1, "status": "finished"}), "must be running, done, failed or skipped"),
        ] {
            let error = bench.error("step", input.clone());
            assert!(error.contains(says), "{input}: {error}");
        }
    }
}
