//! `set_status` and `set_labels`: the properties that an agent may give a session, checked against what the workspace
//! defines.

use super::input::{self, InputFields};
use super::read_tracker::Seen;
use super::sessions::{meant, session};
use super::{CallPlace, RunContext, RunError, Tool, plain};
use crate::domain::ids::SessionId;
use crate::domain::nearest::nearest;
use crate::domain::property::{add_label, remove_label, split_label};
use crate::domain::property_change::PropertyChange;
use crate::domain::tool::{CallFacts, Outcome, ToolSpec, Touch};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

/// Labels of one call.
const MOST_LABELS: usize = 20;

/// The session that a call of this place changes, and whether it is its own.
fn touched(named: Option<SessionId>, place: &CallPlace) -> Result<Touch, String> {
    let own = place.session_dir.file_name().and_then(|name| name.to_str()).and_then(|name| SessionId::parse(name).ok());
    match (named, own) {
        (None, None) => Err("This call belongs to no session.".to_owned()),
        (None, Some(own)) => Ok(Touch::Session { session: own, own: true }),
        (Some(named), own) => Ok(Touch::Session { own: own.as_ref() == Some(&named), session: named }),
    }
}

/// Subject of a call.
fn subject(what: String, input: &Value) -> String {
    match input::subject(input, "session") {
        other if other.is_empty() => what,
        other => format!("{what} ({other})"),
    }
}

/// Sets the status.
pub struct SetStatus;

impl Tool for SetStatus {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "set_status".to_owned(),
            description: "Sets the status of this session, or of another one, to one that the workspace defines \
                (`session_info` names them; usually todo, in-progress, needs-review, done, cancelled). Do it when the \
                user asked for it, or when it is plain that the work is done."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "status": {"type": "string", "description": "The status, by its id."},
                    "session": {"type": "string", "description": "The id of another session; this one when left out."}
                },
                "required": ["status"]
            }),
        }
    }

    fn reads_only(&self) -> bool {
        false
    }

    fn subject(&self, input: &Value) -> String {
        subject(input::subject(input, "status"), input)
    }

    fn inspect(&self, input: &Value, place: &CallPlace, _seen: &Seen) -> Result<CallFacts, String> {
        let fields = InputFields::of("set_status", input)?;
        status(&fields)?;
        Ok(plain("set_status", self.subject(input), touched(session(&fields)?, place)?))
    }

    fn run(&self, input: Value, with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        Box::pin(async move { Ok(set_status(&input, &with).await.unwrap_or_else(Outcome::error)) })
    }
}

fn status<'a>(fields: &InputFields<'a>) -> Result<&'a str, String> {
    match fields.text("status")?.trim() {
        "" => Err("`status` is empty. `session_info` names the statuses that there are.".to_owned()),
        word => Ok(word),
    }
}

async fn set_status(input: &Value, with: &RunContext) -> Result<Outcome, String> {
    let fields = InputFields::of("set_status", input)?;
    let word = status(&fields)?;
    let defined = with.host.properties();
    let wanted = word.replace('_', "-");
    let known = defined.known_status(&wanted).or_else(|| defined.find_status(word));
    let Some(known) = known else {
        let ids: Vec<&str> = defined.statuses.iter().map(|status| status.id.as_str()).collect();
        let near = nearest(&wanted, ids.iter().copied()).map(|near| format!(" Did you mean {near:?}?"));
        return Err(format!("No status {word:?}.{} Available: {}.", near.unwrap_or_default(), ids.join(", ")));
    };
    let meta = meant(&with.host, session(&fields)?).await?;
    if meta.status == known.id {
        return Ok(Outcome::ok(format!("The status was {} already.", known.id)));
    }
    with.host.change(meta.id.clone(), PropertyChange::Status(known.id.clone())).await?;
    Ok(Outcome::ok(format!("The status of {} is {} now; it was {}.", meta.id, known.id, meta.status)))
}

/// Adds and takes away labels.
pub struct SetLabels;

impl Tool for SetLabels {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "set_labels".to_owned(),
            description: "Gives this session, or another one, labels that the workspace defines (`session_info` names \
                them), or takes them away. A label is `id`, or `id::value` where it has a value; adding one with another \
                value replaces the old one. Labels that are not named stay."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "add": {"type": "array", "items": {"type": "string"}, "maxItems": MOST_LABELS, "description": "Labels to give."},
                    "remove": {"type": "array", "items": {"type": "string"}, "maxItems": MOST_LABELS, "description": "Labels to take away, by their ids."},
                    "session": {"type": "string", "description": "The id of another session; this one when left out."}
                },
                "required": []
            }),
        }
    }

    fn reads_only(&self) -> bool {
        false
    }

    fn subject(&self, input: &Value) -> String {
        let names = |key: &str, sign: &str| -> Vec<String> {
            let list = input.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
            list.iter().filter_map(Value::as_str).map(|name| format!("{sign}{}", input::one_line(name, 40))).collect()
        };
        subject([names("add", "+"), names("remove", "-")].concat().join(" "), input)
    }

    fn inspect(&self, input: &Value, place: &CallPlace, _seen: &Seen) -> Result<CallFacts, String> {
        let fields = InputFields::of("set_labels", input)?;
        labels(&fields)?;
        Ok(plain("set_labels", self.subject(input), touched(session(&fields)?, place)?))
    }

    fn run(&self, input: Value, with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        Box::pin(async move { Ok(set_labels(&input, &with).await.unwrap_or_else(Outcome::error)) })
    }
}

/// Labels to add and to remove; at least one.
fn labels(fields: &InputFields<'_>) -> Result<(Vec<String>, Vec<String>), String> {
    let list = |name: &str| -> Result<Vec<String>, String> {
        let items = fields.list_if_any(name)?.unwrap_or_default();
        if items.len() > MOST_LABELS {
            return Err(format!("`{name}` holds {} labels; at most {MOST_LABELS} go into one call.", items.len()));
        }
        let text = |item: &Value| item.as_str().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let read: Option<Vec<String>> = items.iter().map(text).collect();
        read.ok_or_else(|| format!("Every label in `{name}` must be a text that is not empty."))
    };
    let both = (list("add")?, list("remove")?);
    if both.0.is_empty() && both.1.is_empty() {
        return Err("set_labels needs labels in `add` or in `remove`.".to_owned());
    }
    Ok(both)
}

async fn set_labels(input: &Value, with: &RunContext) -> Result<Outcome, String> {
    let fields = InputFields::of("set_labels", input)?;
    let (add, remove) = labels(&fields)?;
    let defined = with.host.properties();
    for entry in &add {
        defined.check_label(entry)?;
    }
    let meta = meant(&with.host, session(&fields)?).await?;
    let mut entries = meta.labels.clone();
    for entry in &remove {
        let (id, _) = split_label(entry);
        if !entries.iter().any(|there| split_label(there).0 == id) {
            return Err(format!("The session {} has no label {id:?}. It has: {}.", meta.id, told(&entries)));
        }
        remove_label(&mut entries, id);
    }
    for entry in &add {
        add_label(&mut entries, entry);
    }
    if entries != meta.labels {
        with.host.change(meta.id.clone(), PropertyChange::Labels(entries.clone())).await?;
    }
    Ok(Outcome::ok(format!("The labels of {} are: {}.", meta.id, told(&entries))))
}

fn told(labels: &[String]) -> String {
    if labels.is_empty() { "none".to_owned() } else { labels.join(", ") }
}
