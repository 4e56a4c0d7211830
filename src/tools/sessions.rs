//! `session_info` and `list_sessions`: what the agent can know of its own session and of the others in the workspace.

use super::host::Host;
use super::input::{self, InputFields};
use super::read_tracker::Seen;
use super::{CallPlace, RunContext, RunError, Tool, plain};
use crate::domain::attention::Attention;
use crate::domain::ids::{At, SessionId};
use crate::domain::message::{Body, Message};
use crate::domain::session::{Activity, SessionMeta};
use crate::domain::tool::{CallFacts, Outcome, ToolSpec, Touch};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::Arc;

/// Sessions that a list has when no limit is given, and at the most.
const LISTED: u64 = 20;
const MOST_LISTED: u64 = 100;
/// Messages of a session that can be asked for.
const MOST_MESSAGES: u64 = 50;
/// Characters of a message that come back.
const LONGEST_MESSAGE: usize = 2_000;
/// Rows that are read for one message: most rows are calls.
const ROWS_A_MESSAGE: usize = 8;

/// Facts about one session.
pub struct SessionInfo;

impl Tool for SessionInfo {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "session_info".to_owned(),
            description: "Tells what is known of this session, or of another one of the workspace: title, status, labels, \
                permission mode, directory, model, times, numbers of messages, tokens and cost. With `messages` also the \
                last texts of the user and the agent, each cut at 2000 characters. For this session it also names the \
                statuses and labels that the workspace defines."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "session": {"type": "string", "description": "The id of another session; this one when left out."},
                    "messages": {"type": "integer", "minimum": 0, "maximum": MOST_MESSAGES, "description": "So many of its last messages; none when left out."}
                },
                "required": []
            }),
        }
    }

    fn reads_only(&self) -> bool {
        true
    }

    fn subject(&self, input: &Value) -> String {
        input::subject(input, "session")
    }

    fn inspect(&self, input: &Value, _place: &CallPlace, _seen: &Seen) -> Result<CallFacts, String> {
        let fields = InputFields::of("session_info", input)?;
        session(&fields)?;
        fields.number("messages", 0..=MOST_MESSAGES)?;
        Ok(plain("session_info", self.subject(input), Touch::Inner))
    }

    fn run(&self, input: Value, with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        Box::pin(async move { Ok(info(&input, &with).await.unwrap_or_else(Outcome::error)) })
    }
}

/// The id of another session, where one is named.
pub(super) fn session(fields: &InputFields<'_>) -> Result<Option<SessionId>, String> {
    let Some(text) = fields.text_if_any("session")?.filter(|text| !text.trim().is_empty()) else { return Ok(None) };
    let id = SessionId::parse(text.trim()).map_err(|error| format!("{error}. `list_sessions` has the ids."))?;
    Ok(Some(id))
}

/// The session that is meant.
pub(super) async fn meant(host: &Arc<dyn Host>, id: Option<SessionId>) -> Result<SessionMeta, String> {
    let own = host.own();
    let Some(id) = id.filter(|id| own.as_ref().is_none_or(|own| own.id != *id)) else {
        return own.ok_or_else(|| "This call belongs to no session.".to_owned());
    };
    let all = host.sessions().await?;
    let found = all.iter().find(|meta| meta.id == id).cloned();
    found.ok_or_else(|| format!("No session {id} in this workspace. `list_sessions` has the ids."))
}

async fn info(input: &Value, with: &RunContext) -> Result<Outcome, String> {
    let fields = InputFields::of("session_info", input)?;
    let wanted = session(&fields)?;
    let count = usize::try_from(fields.number("messages", 0..=MOST_MESSAGES)?.unwrap_or(0)).unwrap_or(0);
    let meta = meant(&with.host, wanted).await?;
    let own = with.host.own().is_some_and(|own| own.id == meta.id);
    let mut out = described(&meta);
    if own {
        let defined = with.host.properties();
        let statuses: Vec<&str> = defined.statuses.iter().map(|status| status.id.as_str()).collect();
        let labels: Vec<&str> = defined.walk().into_iter().map(|(_, label)| label.id.as_str()).collect();
        let list = |ids: Vec<&str>| if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
        out.push(format!("statuses that there are: {}", list(statuses)));
        out.push(format!("labels that there are: {}", list(labels)));
    }
    if count > 0 {
        let rows = with.host.said(meta.id.clone(), count * ROWS_A_MESSAGE).await?;
        let said: Vec<String> = rows.iter().filter_map(message).collect();
        out.push(String::new());
        let last = said.get(said.len().saturating_sub(count)..).unwrap_or_default();
        if last.is_empty() {
            out.push("(no messages among its last rows)".to_owned());
        }
        out.extend(last.iter().cloned());
    }
    let mut outcome = Outcome::ok(out.join("\n"));
    outcome.figures.lines = Some(out.len() as u64);
    Ok(outcome)
}

fn described(meta: &SessionMeta) -> Vec<String> {
    let mut out = vec![
        format!("id: {}", meta.id),
        format!("title: {}", meta.shown_title()),
        format!("status: {}", meta.status),
        format!("labels: {}", if meta.labels.is_empty() { "none".to_owned() } else { meta.labels.join(", ") }),
        format!("permission mode: {}", meta.mode.shown()),
        format!("directory: {}", meta.cwd.display()),
        format!(
            "model: {} at {}, thinking {}",
            meta.model.as_deref().unwrap_or("the default"),
            meta.asked().map_or("no connection", |name| name.as_str()),
            meta.thinking.word()
        ),
        format!("now: {}", doing(meta)),
        format!("created: {}; last message: {}", time(meta.created), time(meta.last_message)),
        format!(
            "rows: {}; tokens of context: {}; tokens written: {}; cost: ${:.4}",
            meta.messages, meta.usage.context_tokens, meta.usage.output_tokens, meta.usage.cost_usd
        ),
    ];
    for (is, what) in [(meta.flagged, "flagged"), (meta.archived, "archived"), (meta.plan_pending, "plan pending")] {
        if is {
            out.push(what.to_owned());
        }
    }
    if let Some(parent) = &meta.parent {
        out.push(format!("spawned by: {}", parent.session));
    }
    if let Some(from) = &meta.branched_from {
        out.push(format!("branched from: {}", from.session));
    }
    out
}

fn doing(meta: &SessionMeta) -> String {
    match &meta.activity {
        Activity::Idle => match meta.attention() {
            Attention::Failed(why) => format!("failed: {}", input::one_line(&why, 100)),
            Attention::Interrupted(_) => "interrupted".to_owned(),
            _ => "idle".to_owned(),
        },
        Activity::Running(since) => format!("working since {}", time(*since)),
        Activity::Stopping => "stopping".to_owned(),
        Activity::NeedsYou(what) => format!("waits for the user: {}", input::one_line(what, 100)),
    }
}

/// To the minute, in UTC.
fn time(at: At) -> String {
    jiff::Timestamp::from_millisecond(at.0)
        .map_or_else(|_| "unknown".to_owned(), |at| at.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

fn message(row: &Message) -> Option<String> {
    let (who, text) = match &row.body {
        Body::User(user) => ("user", &user.text),
        Body::Assistant(said) if !said.text.trim().is_empty() => ("agent", &said.text),
        _ => return None,
    };
    let mut text: String = text.trim().to_owned();
    if let Some((end, _)) = text.char_indices().nth(LONGEST_MESSAGE) {
        text.truncate(end);
        text.push('…');
    }
    Some(format!("[{who}, {}]\n{text}", time(row.at)))
}

/// The sessions of the workspace.
pub struct ListSessions;

impl Tool for ListSessions {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "list_sessions".to_owned(),
            description: "Lists the sessions of this workspace, the latest first, a line each: id, status, time of the last \
                message, what it does now, labels, title. 20 unless `limit` says otherwise, 100 at the most; how many \
                there are besides is told. Archived sessions and those that calls spawned are left out unless asked for. \
                `session_info` tells more of one."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "words": {"type": "string", "description": "Only those whose title or start holds all of these words."},
                    "status": {"type": "string", "description": "Only those of this status, by its id."},
                    "label": {"type": "string", "description": "Only those with this label or one below it, by its id."},
                    "archived": {"type": "boolean", "description": "The archived ones instead of the others."},
                    "spawned": {"type": "boolean", "description": "The ones that calls of this session spawned instead of the others."},
                    "limit": {"type": "integer", "minimum": 1, "maximum": MOST_LISTED, "description": "So many at the most; 20 when left out."},
                    "offset": {"type": "integer", "minimum": 0, "description": "Leave out so many of the latest."}
                },
                "required": []
            }),
        }
    }

    fn reads_only(&self) -> bool {
        true
    }

    fn subject(&self, input: &Value) -> String {
        let part = |key: &str| {
            let text = input::subject(input, key);
            (!text.is_empty()).then(|| if key == "words" { text } else { format!("{key}:{text}") })
        };
        ["words", "status", "label"].into_iter().filter_map(part).collect::<Vec<_>>().join(" ")
    }

    fn inspect(&self, input: &Value, _place: &CallPlace, _seen: &Seen) -> Result<CallFacts, String> {
        SessionFilter::of(input)?;
        Ok(plain("list_sessions", self.subject(input), Touch::Inner))
    }

    fn run(&self, input: Value, with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        Box::pin(async move { Ok(list(&input, &with).await.unwrap_or_else(Outcome::error)) })
    }
}

struct SessionFilter {
    words: Vec<String>,
    status: Option<String>,
    label: Option<String>,
    archived: bool,
    spawned: bool,
    limit: usize,
    offset: usize,
}

impl SessionFilter {
    fn of(input: &Value) -> Result<Self, String> {
        let fields = InputFields::of("list_sessions", input)?;
        let text = |name: &str| Ok::<_, String>(fields.text_if_any(name)?.filter(|text| !text.trim().is_empty()));
        let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        Ok(Self {
            words: text("words")?.unwrap_or_default().to_lowercase().split_whitespace().map(str::to_owned).collect(),
            status: text("status")?.map(|status| status.trim().replace('_', "-")),
            label: text("label")?.map(|label| label.trim().to_owned()),
            archived: fields.flag("archived")?,
            spawned: fields.flag("spawned")?,
            limit: number(fields.number("limit", 1..=MOST_LISTED)?.unwrap_or(LISTED)),
            offset: number(fields.number("offset", 0..=u64::MAX)?.unwrap_or(0)),
        })
    }
}

async fn list(input: &Value, with: &RunContext) -> Result<Outcome, String> {
    let wanted = SessionFilter::of(input)?;
    let defined = with.host.properties();
    let own = with.host.own().map(|own| own.id);
    let mut all = with.host.sessions().await?;
    all.retain(|meta| {
        let below = meta.parent.as_ref().is_some_and(|parent| Some(&parent.session) == own.as_ref());
        let listed = if wanted.spawned { below } else { !meta.hidden && meta.parent.is_none() };
        let text = format!("{} {}", meta.title, meta.preview).to_lowercase();
        listed
            && meta.archived == wanted.archived
            && wanted.words.iter().all(|word| text.contains(word))
            && wanted.status.as_ref().is_none_or(|status| meta.status == *status)
            && wanted.label.as_ref().is_none_or(|label| defined.has_label(&meta.labels, label))
    });
    all.sort_by(|a, b| b.last_message.cmp(&a.last_message).then_with(|| b.id.cmp(&a.id)));
    let found = all.len();
    let mut lines: Vec<String> = all
        .iter()
        .skip(wanted.offset)
        .take(wanted.limit)
        .map(|meta| {
            let mark = if own.as_ref() == Some(&meta.id) { " (this session)" } else { "" };
            let labels: String = meta.labels.iter().map(|label| format!(" #{label}")).collect();
            let title = input::one_line(meta.shown_title(), 100);
            format!("{}{mark}  {}  {}  {}{labels}  {title}", meta.id, meta.status, time(meta.last_message), doing(meta))
        })
        .collect();
    let shown = lines.len();
    if found == 0 {
        lines.push("(no session is like that)".to_owned());
    } else if shown < found {
        lines.push(format!("({shown} of {found} sessions; use `offset` and `limit` for others)"));
    }
    let mut outcome = Outcome::ok(lines.join("\n"));
    outcome.figures.lines = Some(shown as u64);
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::super::host::{Alone, Completion, NotDone, Spawned, Task};
    use super::*;
    use crate::domain::ids::{CallId, MessageId};
    use crate::domain::message::UserText;
    use crate::domain::permission::Mode;
    use crate::domain::property::{Label, Properties, ValueType};
    use crate::domain::property_change::PropertyChange;
    use crate::domain::session::SpawnedBy;
    use std::sync::{Mutex, PoisonError};

    /// Three sessions and one that the first of them spawned; changes are kept.
    #[derive(Default)]
    struct Three {
        changes: Mutex<Vec<(SessionId, PropertyChange)>>,
    }

    fn id(name: &str) -> SessionId {
        SessionId::parse(name).unwrap()
    }

    fn meta(name: &str, at: i64, change: impl FnOnce(&mut SessionMeta)) -> SessionMeta {
        let mut meta = SessionMeta::new(id(name), At(at), Mode::Ask, "/w".into());
        meta.title = format!("Title of {name}");
        change(&mut meta);
        meta
    }

    fn all() -> Vec<SessionMeta> {
        let parent = SpawnedBy { session: id("s1"), call: CallId::new("c") };
        vec![
            meta("s1", 60_000, |meta| meta.labels = vec!["bug".into()]),
            meta("s2", 120_000, |meta| meta.status = "done".into()),
            meta("s3", 180_000, |meta| meta.archived = true),
            meta("s4", 240_000, |meta| (meta.hidden, meta.parent) = (true, Some(parent))),
        ]
    }

    impl Host for Three {
        fn complete(&self, wanted: Completion) -> BoxFuture<'static, Result<String, String>> {
            Alone.complete(wanted)
        }
        fn own(&self) -> Option<SessionMeta> {
            all().into_iter().next()
        }
        fn properties(&self) -> Arc<Properties> {
            let label = |id: &str, value_type| Label {
                id: id.into(),
                name: id.into(),
                color: None,
                value_type,
                children: vec![],
                rules: vec![],
            };
            let labels = vec![label("bug", None), label("prio", Some(ValueType::Number))];
            Arc::new(Properties { labels, ..Properties::builtin() })
        }
        fn sessions(&self) -> BoxFuture<'static, Result<Vec<SessionMeta>, String>> {
            Box::pin(async { Ok(all()) })
        }
        fn said(&self, _: SessionId, _: usize) -> BoxFuture<'static, Result<Vec<Message>, String>> {
            let said = UserText { text: format!("hello {}", "x".repeat(3_000)), ..UserText::default() };
            Box::pin(async { Ok(vec![Message::new(MessageId::new("m"), At(0), Body::User(said))]) })
        }
        fn change(&self, session: SessionId, change: PropertyChange) -> BoxFuture<'static, Result<(), String>> {
            self.changes.lock().unwrap_or_else(PoisonError::into_inner).push((session, change));
            Box::pin(async { Ok(()) })
        }
        fn spawn(&self, task: Task) -> BoxFuture<'static, Result<Spawned, NotDone>> {
            Alone.spawn(task)
        }
    }

    fn bench() -> (Bench, Arc<Three>) {
        let host = Arc::new(Three::default());
        let mut bench = Bench::new();
        bench.host = host.clone();
        (bench, host)
    }

    #[test]
    fn sessions_are_listed_the_latest_first_and_told_of() {
        let (bench, _) = bench();
        let list = |input: Value| bench.ok("list_sessions", input).text;
        let plain = list(json!({}));
        assert!(plain.find("s2").unwrap() < plain.find("s1 (this session)").unwrap(), "{plain}");
        assert!(!plain.contains("s3") && !plain.contains("s4") && plain.contains("#bug"), "{plain}");
        assert!(list(json!({"archived": true})).contains("s3"));
        assert!(list(json!({"spawned": true})).contains("s4"));
        assert!(list(json!({"status": "done"})).starts_with("s2"));
        assert!(list(json!({"label": "bug", "words": "TITLE s1"})).starts_with("s1"));
        assert_eq!(list(json!({"words": "nowhere"})), "(no session is like that)");
        assert!(list(json!({"limit": 1})).ends_with("(1 of 2 sessions; use `offset` and `limit` for others)"));
        let own = bench.ok("session_info", json!({"messages": 2})).text;
        assert!(
            own.contains("permission mode: Ask to Edit") && own.contains("labels that there are: bug, prio"),
            "{own}"
        );
        assert!(own.contains("[user, 1970-01-01 00:00 UTC]\nhello x") && own.ends_with('…') && own.len() < 3_000);
        let other = bench.ok("session_info", json!({"session": "s2"})).text;
        assert!(other.contains("status: done") && !other.contains("statuses that there are"), "{other}");
        for (input, says) in [
            (json!({"session": "s9"}), "No session s9"),
            (json!({"session": "../x"}), "invalid session id"),
            (json!({"messages": 51}), "from 0 to 50"),
        ] {
            assert!(bench.error("session_info", input).contains(says), "{says}");
        }
    }

    #[test]
    fn what_is_set_is_checked_against_what_there_is() {
        let (bench, host) = bench();
        assert!(bench.ok("set_status", json!({"status": "In Progress"})).text.contains("in-progress now; it was todo"));
        assert!(bench.ok("set_status", json!({"status": "todo"})).text.contains("already"));
        bench.ok("set_labels", json!({"add": ["prio::2"], "remove": ["bug"], "session": "s1"}));
        let changes = host.changes.lock().unwrap().clone();
        let labels = PropertyChange::Labels(vec!["prio::2".into()]);
        assert_eq!(changes, [(id("s1"), PropertyChange::Status("in-progress".into())), (id("s1"), labels)]);
        for (tool, input, says) in [
            ("set_status", json!({"status": "dnoe"}), "Did you mean \"done\"?"),
            ("set_status", json!({"status": " "}), "`status` is empty"),
            ("set_labels", json!({}), "needs labels"),
            ("set_labels", json!({"add": ["bgu"]}), "bug"),
            ("set_labels", json!({"add": ["prio::high"]}), "expected a number"),
            ("set_labels", json!({"remove": ["prio"]}), "has no label"),
            ("set_labels", json!({"add": [1]}), "must be a text"),
        ] {
            let error = bench.error(tool, input);
            assert!(error.contains(says), "{says}: {error}");
        }
    }

    #[test]
    fn whose_session_is_changed_is_among_the_facts() {
        let (bench, _) = bench();
        // The directory of the session has its id.
        let own = bench.inspect("set_status", &json!({"status": "done"})).unwrap().touches;
        assert_eq!(own, [Touch::Session { session: id("s1"), own: true }]);
        let other = bench.inspect("set_labels", &json!({"add": ["bug"], "session": "s2"})).unwrap().touches;
        assert_eq!(other, [Touch::Session { session: id("s2"), own: false }]);
    }
}
