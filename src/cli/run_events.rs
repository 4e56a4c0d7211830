//! Events of `lisle run --format json` and `stream-json`: a format of its own, whose version rises with every change that a
//! reader could notice. Its schema is made of these types: `lisle schema`.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Version of the format.
pub(super) const VERSION: u32 = 1;

/// A line of stream-json.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "Event of lisle run --format stream-json")]
pub(super) struct RunLine {
    /// Version of the format.
    pub(super) v: u32,
    /// Event.
    #[serde(flatten)]
    pub(super) event: RunEvent,
}

impl RunLine {
    pub(super) fn new(event: RunEvent) -> Self {
        Self { v: VERSION, event }
    }
}

/// Event of a run. The first one is `session`, the last one `result`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum RunEvent {
    /// The session that the message goes to.
    Session {
        /// Session id.
        id: String,
        /// Name of the session, where it has one.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The session is new.
        new: bool,
        /// Connection.
        #[serde(skip_serializing_if = "Option::is_none")]
        connection: Option<String>,
        /// Model.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// Permission mode: explore, ask or execute.
        mode: String,
        /// Working directory.
        cwd: String,
    },
    /// Text of the model came: a piece of the message of this id.
    Text {
        /// Message id.
        id: String,
        /// Added text.
        add: String,
    },
    /// The text so far of this message does not count: the response starts over, or the model is asked again.
    Dropped {
        /// Message id.
        id: String,
    },
    /// A message of the model as a whole.
    Message {
        /// Message id.
        id: String,
        /// Text.
        text: String,
        /// A remark between tool calls, not the answer.
        remark: bool,
    },
    /// A tool call began or ended.
    Tool {
        /// Call id.
        id: String,
        /// Name of the tool.
        name: String,
        /// Subject on one line: the path, the command, the pattern.
        subject: String,
        /// Started, done, failed or refused.
        state: ToolState,
        /// Result as the model sees it, once it ended.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<String>,
    },
    /// A plan was submitted for approval.
    Plan {
        /// The plan as Markdown.
        text: String,
    },
    /// Something worth knowing, such as a retry or a warning.
    Notice {
        /// Text.
        text: String,
    },
    /// End of the run.
    Result(RunResult),
}

/// State of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToolState {
    /// It began.
    Started,
    /// It ended.
    Done,
    /// It ended with an error.
    Failed,
    /// It was not allowed.
    Refused,
}

/// Status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum RunStatus {
    /// The answer is whole.
    Done,
    /// A plan waits for approval.
    Plan,
    /// A limit of requests or of time was reached.
    Limit,
    /// The user or a signal stopped it.
    Interrupted,
    /// It failed, or nothing was sent.
    Failed,
}

/// End of a run, and the only line of `--format json`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(super) struct RunResult {
    /// Session id, where there is a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<String>,
    /// Status.
    pub(super) status: RunStatus,
    /// Exit status of the process.
    pub(super) exit: u8,
    /// The answer or the plan, as far as it came.
    pub(super) text: String,
    /// The answer as JSON, with --json-schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) json: Option<Value>,
    /// Reason of a bad end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    /// Tool calls that were not allowed.
    pub(super) refused: u32,
    /// Tokens and cost of the run.
    pub(super) usage: RunUsage,
    /// Milliseconds from start to end.
    pub(super) millis: u64,
}

/// Tokens and cost of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(super) struct RunUsage {
    /// Tokens of all prompts.
    pub(super) input_tokens: u64,
    /// Tokens that the model wrote.
    pub(super) output_tokens: u64,
    /// US dollars; null where the price is not known.
    pub(super) cost_usd: Option<f64>,
}

/// The only line of `--format json`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "Output of lisle run --format json")]
pub(super) struct ResultLine {
    /// Version of the format.
    pub(super) v: u32,
    /// Always `result`.
    #[serde(rename = "type")]
    pub(super) kind: ResultKind,
    /// End of the run.
    #[serde(flatten)]
    pub(super) result: RunResult,
}

/// Word of a result line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ResultKind {
    /// A result.
    Result,
}

/// Schema of the lines of stream-json.
pub(super) fn events_schema() -> Value {
    schemars::schema_for!(RunLine).to_value()
}

/// Schema of the line of json.
pub(super) fn result_schema() -> Value {
    schemars::schema_for!(ResultLine).to_value()
}
