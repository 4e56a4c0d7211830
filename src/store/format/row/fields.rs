//! Fields of a row in the other program's words; what only lisle has goes into `lisle`.

use super::{attached, craft_tool, shown};
use crate::domain::message::{
    AssistantText, Body, Failure, FailureAction, Info, InfoKind, Message, Plan, Thinking, UserText,
};
use crate::domain::tool::{ToolCall, ToolStatus};
use serde_json::{Map, Value, json};

/// Fields of a row while they are gathered, in their order.
struct RowFields {
    out: Map<String, Value>,
    /// Fields of `lisle`.
    own: Map<String, Value>,
}

/// The JSON object of a row, paths not yet replaced.
pub(super) fn value(row: &Message) -> Option<Value> {
    let mut fields = RowFields { out: Map::new(), own: Map::new() };
    fields.own.insert("v".into(), json!(1));
    if let Some(model) = &row.model {
        fields.own.insert("model".into(), json!(model));
    }
    fields.out.insert("id".into(), json!(row.id));
    let kind = match &row.body {
        Body::User(user) => fields.user(user),
        Body::Assistant(text) => fields.assistant(text),
        Body::Thinking(thinking) => fields.thinking(thinking),
        Body::Tool(call) => fields.tool(call),
        Body::Error(failure) => fields.error(failure),
        Body::Info(info) => fields.info(info),
        Body::Plan(plan) => fields.plan(plan),
        Body::Odd(_) => return None,
    };
    fields.put("timestamp", json!(row.at));
    fields.put("turnId", json!(row.turn));
    fields.put("parentToolUseId", json!(row.parent));
    let own = std::mem::take(&mut fields.own);
    fields.put("lisle", Value::Object(own));
    fields.put("type", json!(kind));
    Some(Value::Object(fields.out))
}

impl RowFields {
    /// Sets a field, unless it is null.
    fn put(&mut self, key: &str, value: Value) {
        if !value.is_null() {
            self.out.insert(key.to_owned(), value);
        }
    }

    /// A message of the user.
    fn user(&mut self, user: &UserText) -> &'static str {
        self.put("content", json!(user.text));
        if !user.attachments.is_empty() {
            self.put("attachments", user.attachments.iter().map(attached::write).collect());
        }
        if user.steer {
            self.own.insert("steer".into(), json!(true));
        }
        if let Some(from) = user.piped {
            self.own.insert("piped".into(), json!(from));
        }
        if let Some(client) = &user.client {
            self.own.insert("client".into(), json!(client));
        }
        "user"
    }

    /// Text of the model.
    fn assistant(&mut self, text: &AssistantText) -> &'static str {
        self.put("content", json!(text.text));
        if text.intermediate {
            self.put("isIntermediate", json!(true));
        }
        if text.partial {
            self.own.insert("partial".into(), json!(true));
        }
        if let Some(by) = text.cut_by {
            self.own.insert("cutBy".into(), json!(by));
        }
        if let Some(native) = &text.native {
            self.own.insert("native".into(), json!(native));
        }
        "assistant"
    }

    /// Thinking of the model; another program reads it as text between calls.
    fn thinking(&mut self, thinking: &Thinking) -> &'static str {
        self.put("content", json!(thinking.text));
        self.put("isIntermediate", json!(true));
        self.own.insert("thinking".into(), json!(true));
        if let Some(millis) = thinking.millis {
            self.own.insert("millis".into(), json!(millis));
        }
        if let Some(native) = &thinking.native {
            self.own.insert("native".into(), json!(native));
        }
        "assistant"
    }

    /// A tool call with its result.
    fn tool(&mut self, call: &ToolCall) -> &'static str {
        let name = craft_tool(&call.name);
        self.put("content", json!(format!("Running {name}...")));
        self.put("toolName", json!(name));
        self.put("toolUseId", json!(call.id));
        let (input, added) = shown::to_craft(&call.name, &call.input);
        self.put("toolInput", input);
        if !added.is_empty() {
            self.own.insert("added".into(), json!(added));
        }
        if let Some(intent) = crate::domain::tool::intent(&call.input) {
            self.put("toolIntent", json!(intent));
        }
        self.put("toolStatus", json!(call.status));
        self.put("toolResult", json!(call.result));
        self.put("toolDuration", json!(call.millis));
        if call.status.ended() {
            self.put("isError", json!(call.status == ToolStatus::Error));
        }
        self.own.insert("subject".into(), json!(call.subject));
        match json!(call.figures) {
            Value::Object(figures) if figures.is_empty() => {}
            figures => drop(self.own.insert("figures".into(), figures)),
        }
        if let Some(decision) = &call.decision {
            self.own.insert("decision".into(), json!(decision));
        }
        "tool"
    }

    /// A failure.
    fn error(&mut self, failure: &Failure) -> &'static str {
        self.put("content", json!(failure.text));
        self.put("errorCode", json!(failure.code));
        self.put("errorTitle", json!(failure.title));
        if !failure.detail.is_empty() {
            self.put("errorOriginal", json!(failure.detail));
        }
        self.put("errorCanRetry", json!(failure.actions.contains(&FailureAction::Retry)));
        let actions: Vec<Value> = failure
            .actions
            .iter()
            .filter_map(|action| match action {
                FailureAction::Retry => Some(json!({"key": "r", "label": "Retry", "action": "retry"})),
                FailureAction::Settings => Some(json!({"key": "s", "label": "Settings", "action": "settings"})),
                FailureAction::Model | FailureAction::Compact | FailureAction::NewSession => None,
            })
            .collect();
        if !actions.is_empty() {
            self.put("errorActions", Value::Array(actions));
        }
        self.own.insert("actions".into(), json!(failure.actions));
        "error"
    }

    /// A remark of the program.
    fn info(&mut self, info: &Info) -> &'static str {
        self.put("content", json!(info.text));
        if info.kind == InfoKind::Compacted {
            self.put("statusType", json!("compaction_complete"));
        }
        self.put("infoLevel", json!(info.level));
        self.own.insert("kind".into(), json!(info.kind));
        if let Some(carried) = &info.carried {
            self.own.insert("carried".into(), json!(carried));
        }
        "info"
    }

    /// A submitted plan.
    fn plan(&mut self, plan: &Plan) -> &'static str {
        self.put("content", json!(plan.markdown));
        self.put("planPath", json!(plan.path));
        "plan"
    }
}
