//! Plans: markdown with numbered steps, what the user makes of the steps before approving, and how far they are carried
//! out.
//!
//! The text around the steps is kept as it is. Which call a step that was struck out holds back is the permission
//! function's business, where a plan is kept the engine's.

use super::permission::Mode;
use crate::domain::hex::sha256_hex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

mod parse;
#[cfg(test)]
mod tests;

/// Beginning of the message that tells the agent of an approved plan. The demo agent and tests look for the first two words.
pub const APPROVED: &str = "Plan approved. Carry it out now.";

/// True if a message of the user is that of an approval, which nobody typed.
#[must_use]
pub fn is_approval(text: &str) -> bool {
    text.starts_with(APPROVED)
}

/// Words between [`APPROVED`] and the mode of an approval.
const MODE: &str = " Permission mode: ";

/// First line of the message of an approval: with the mode in which the plan is carried out.
#[must_use]
pub fn approval_line(mode: Mode) -> String {
    format!("{APPROVED}{MODE}{}.", mode.shown())
}

/// Mode of the message of an approval; `None` for another message.
#[must_use]
pub fn approval_mode(text: &str) -> Option<Mode> {
    let first = text.lines().next()?;
    Mode::ALL.into_iter().find(|mode| first == approval_line(*mode))
}

/// Prefix of a comment's quoted line.
const COMMENT: &str = "Comment: ";

/// One step of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanStep {
    /// Its place in the plan, from 1.
    pub number: u32,
    /// Text of the step, as markdown without indentation; never empty.
    pub text: String,
    /// Status.
    #[serde(default)]
    pub status: StepStatus,
    /// The user struck it out: it is not to be done.
    #[serde(default)]
    pub struck: bool,
    /// Comment of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// Status of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepStatus {
    /// Not begun.
    #[default]
    Open,
    /// Being done.
    Running,
    /// Done.
    Done,
    /// It did not work.
    Failed,
    /// Left out by the agent.
    Skipped,
}

impl StepStatus {
    /// The word that the agent uses for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            StepStatus::Open => "open",
            StepStatus::Running => "running",
            StepStatus::Done => "done",
            StepStatus::Failed => "failed",
            StepStatus::Skipped => "skipped",
        }
    }
}

impl PlanStep {
    /// Its first line.
    #[must_use]
    pub fn line(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    /// Nothing more is to be done for it.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.struck || matches!(self.status, StepStatus::Done | StepStatus::Skipped)
    }
}

/// A plan as it was written: its steps, and the text before and after them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Everything before the steps.
    pub before: String,
    /// The steps; none where the text has no numbered ones.
    pub steps: Vec<PlanStep>,
    /// Everything after them.
    pub after: String,
    form: PlanForm,
}

/// Notation of the steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PlanForm {
    /// A numbered list.
    #[default]
    List,
    /// A heading of this depth for each: `### Step 1: …`.
    Headings(usize),
}

/// The user's marks on one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepMark {
    /// Number of the step.
    pub number: u32,
    /// It is not to be done.
    pub struck: bool,
    /// Comment of the user.
    #[serde(default)]
    pub comment: Option<String>,
}

/// Approval of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanApproval {
    /// The mode that follows.
    pub mode: Mode,
    /// Compact the conversation first.
    pub compact: bool,
    /// Marks on the steps, one entry each.
    pub marks: Vec<StepMark>,
    /// [`hash`] of the plan as it was shown: another one is asked for anew.
    pub covers: String,
}

impl PlanApproval {
    /// Comments on its steps, a line each; empty if there are none.
    #[must_use]
    pub fn said(&self) -> String {
        let said = |mark: &StepMark| {
            let comment = mark.comment.as_deref().filter(|comment| !comment.trim().is_empty())?;
            Some(format!("Step {}: {comment}", mark.number))
        };
        self.marks.iter().filter_map(said).collect::<Vec<_>>().join("\n")
    }
}

impl Outline {
    /// Reads a plan. Steps are the items of a numbered list (`1.` or `1)`), or headings like `### Step 1: …`: those below a
    /// heading that says "steps", else the last list of the text. What is indented below a step belongs to it.
    #[must_use]
    pub fn parse(markdown: &str) -> Self {
        parse::outline(markdown)
    }

    /// The plan as markdown: steps that are struck out as `~~…~~`, comments as a quoted line below their step.
    #[must_use]
    pub fn render(&self) -> String {
        let mut parts = Vec::new();
        let before = self.before.trim_end();
        if !before.is_empty() {
            parts.push(before.to_owned());
        }
        if !self.steps.is_empty() {
            let apart = if self.form == PlanForm::List { "\n" } else { "\n\n" };
            parts.push(self.steps.iter().map(|step| self.step(step)).collect::<Vec<_>>().join(apart));
        }
        let after = self.after.trim();
        if !after.is_empty() {
            parts.push(after.to_owned());
        }
        let mut out = parts.join("\n\n");
        if !out.is_empty() {
            out.push('\n');
        }
        out
    }

    fn step(&self, step: &PlanStep) -> String {
        let (lead, indent) = match self.form {
            PlanForm::List => {
                let lead = format!("{}. ", step.number);
                let indent = " ".repeat(lead.len());
                (lead, indent)
            }
            PlanForm::Headings(depth) => (format!("{} Step {}: ", "#".repeat(depth), step.number), String::new()),
        };
        let mut lines: Vec<String> = step.text.lines().map(str::to_owned).collect();
        if let Some(first) = lines.first_mut().filter(|_| step.struck) {
            *first = format!("~~{first}~~");
        }
        if let Some(comment) = &step.comment {
            let quoted = comment.trim().lines().enumerate().map(|(n, line)| match (n, line.trim_end()) {
                (0, line) => format!("> {COMMENT}{line}"),
                (_, "") => ">".to_owned(),
                (_, line) => format!("> {line}"),
            });
            lines.extend(quoted);
        }
        let mut lines = lines.into_iter();
        let mut out = format!("{lead}{}", lines.next().unwrap_or_default());
        for line in lines {
            out.push('\n');
            if !line.is_empty() {
                out.push_str(&indent);
                out.push_str(&line);
            }
        }
        out
    }

    /// Puts the user's marks on the steps; a mark of a step that there is not is left out.
    pub fn apply(&mut self, marks: &[StepMark]) {
        for mark in marks {
            if let Some(step) = self.steps.iter_mut().find(|step| step.number == mark.number) {
                step.struck = mark.struck;
                step.comment = mark.comment.clone().filter(|comment| !comment.trim().is_empty());
            }
        }
    }

    /// The user's marks on the steps.
    #[must_use]
    pub fn marks(&self) -> Vec<StepMark> {
        let mark =
            |step: &PlanStep| StepMark { number: step.number, struck: step.struck, comment: step.comment.clone() };
        self.steps.iter().map(mark).collect()
    }

    /// True if a part of it was struck out or commented.
    #[must_use]
    pub fn is_marked(&self) -> bool {
        self.steps.iter().any(|step| step.struck || step.comment.is_some())
    }

    /// Every step is struck out: there is nothing to carry out.
    #[must_use]
    pub fn is_all_struck(&self) -> bool {
        !self.steps.is_empty() && self.steps.iter().all(|step| step.struck)
    }

    /// `5 steps, 1 struck, 2 comments`; empty without steps.
    #[must_use]
    pub fn in_words(&self) -> String {
        let count = |n: usize, one: &str, many: &str| match n {
            0 => None,
            1 => Some(format!("1 {one}")),
            n => Some(format!("{n} {many}")),
        };
        let struck = self.steps.iter().filter(|step| step.struck).count();
        let comments = self.steps.iter().filter(|step| step.comment.is_some()).count();
        let parts = [
            count(self.steps.len(), "step", "steps"),
            count(struck, "struck", "struck"),
            count(comments, "comment", "comments"),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// Hash of a plan's text: SHA-256, in hex.
#[must_use]
pub fn hash(markdown: &str) -> String {
    sha256_hex(markdown.as_bytes())
}

/// A plan that was approved, and how far it is carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// Its title.
    pub title: String,
    /// Its file.
    pub path: PathBuf,
    /// Its steps as approved.
    pub steps: Vec<PlanStep>,
    /// All that was to be done is done: it is only shown.
    #[serde(default)]
    pub over: bool,
}

impl Progress {
    /// Steps that are done, and those that are to be done at all: `(3, 5)`.
    #[must_use]
    pub fn figures(&self) -> (usize, usize) {
        let wanted = self.steps.iter().filter(|step| !step.struck);
        (wanted.clone().filter(|step| step.status == StepStatus::Done).count(), wanted.count())
    }

    /// Nothing more is to be done.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.steps.iter().all(PlanStep::is_settled)
    }

    /// The step after which is asked first: the one that runs, else the first that is open.
    #[must_use]
    pub fn next(&self) -> Option<&PlanStep> {
        let of = |status| self.steps.iter().find(move |step| !step.struck && step.status == status);
        of(StepStatus::Running).or_else(|| of(StepStatus::Open))
    }

    /// Sets how far a step is.
    ///
    /// # Errors
    /// A sentence for the agent: there is no such step, or the user struck it out.
    pub fn set(&mut self, number: u32, status: StepStatus) -> Result<(), String> {
        let last = self.steps.len();
        let Some(step) = self.steps.iter_mut().find(|step| step.number == number) else {
            return Err(match last {
                0 => "The plan has no numbered steps to report.".to_owned(),
                _ => format!("The plan has no step {number}: its steps are 1 to {last}."),
            });
        };
        if step.struck {
            return Err(format!("The user struck out step {number}: it is not to be done. Go on with the next one."));
        }
        step.status = status;
        Ok(())
    }

    /// The steps, a line each, for the agent: `[x] 1. Measure`.
    #[must_use]
    pub fn list(&self) -> String {
        let lines = self.steps.iter().map(|step| {
            let sign = match (step.struck, step.status) {
                (true, _) => "struck",
                (_, StepStatus::Open) => " ",
                (_, StepStatus::Running) => ">",
                (_, StepStatus::Done) => "x",
                (_, StepStatus::Failed) => "failed",
                (_, StepStatus::Skipped) => "skipped",
            };
            format!("[{sign}] {}. {}", step.number, step.line())
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Record of Craft Agents in a session's header about a plan that is carried out after a compaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingExecution {
    /// The plan's file.
    pub plan_path: String,
    /// Content of the composer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft_input_snapshot: Option<String>,
    /// The conversation is not compacted yet.
    pub awaiting_compaction: bool,
    /// The agent was told to carry it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_dispatched: Option<bool>,
}
