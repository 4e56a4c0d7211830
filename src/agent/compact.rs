//! What a compaction carries over, by structure and without a model: the user's words, the plan, the list of what is done,
//! the files, the last answer. Pure.

use crate::domain::message::{Body, Message};
use crate::domain::permission::Mode;
use crate::domain::plan::Progress;
use crate::domain::request::PlanReview;
use crate::domain::tool::{TodoItem, TodoStatus, ToolCall, ToolStatus};

/// Characters of the user's messages that are carried over; the newest one is whole in any case.
const USER: usize = 24_000;
/// Characters of an older message that does not fit whole.
const SHORT: usize = 400;
/// Characters of the last answer.
const ANSWER: usize = 8_000;
/// Files of a list; the latest ones.
const FILES: usize = 100;

/// What holds in the session besides its rows.
#[derive(Clone, Copy, Debug)]
pub struct Standing<'a> {
    /// The permission mode.
    pub mode: Mode,
    /// The plan that waits.
    pub waiting: Option<&'a PlanReview>,
    /// The plan that is carried out.
    pub progress: Option<&'a Progress>,
    /// The agent's todo list.
    pub todo: &'a [TodoItem],
}

/// A conversation, summed up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// For the user, on one line.
    pub label: String,
    /// For the model.
    pub carried: String,
}

/// Sums up what the model was given until now; what an earlier compaction carried over goes along.
#[must_use]
pub fn summary(rows: &[Message], standing: &Standing<'_>) -> Summary {
    let earlier = rows.iter().rev().find_map(|row| match &row.body {
        Body::Info(info) => info.carried.as_deref(),
        _ => None,
    });
    let said: Vec<&str> = rows
        .iter()
        .filter_map(|row| match &row.body {
            Body::User(user) if !user.text.trim().is_empty() => Some(user.text.trim()),
            _ => None,
        })
        .collect();
    let answer = rows.iter().rev().find_map(|row| match &row.body {
        Body::Assistant(said) if !said.text.trim().is_empty() => Some(said.text.trim()),
        _ => None,
    });
    let calls: Vec<&ToolCall> =
        rows.iter().filter_map(Message::tool).filter(|call| call.status == ToolStatus::Completed).collect();
    let changed = subjects(&calls, &["write", "edit"]);
    let read: Vec<&str> = subjects(&calls, &["read"]).into_iter().filter(|path| !changed.contains(path)).collect();

    let mut parts = vec![
        "The conversation until here was compacted. No model summed it up: these are its parts, word for word where it says so. \
         Answers and tool results that are not listed are gone; read files again where you need them."
            .to_owned(),
    ];
    if let Some(earlier) = earlier {
        parts.push(section("Carried over from before that", cut(earlier, ANSWER)));
    }
    if !said.is_empty() {
        parts.push(section("The user's messages, oldest first", messages(&said)));
    }
    if let Some(answer) = answer {
        parts.push(section("Your last answer", cut(answer, ANSWER)));
    }
    if let Some(plan) = standing.waiting {
        parts.push(section(&format!("The plan, kept in {}", plan.path.display()), plan.markdown.trim().to_owned()));
    }
    if let Some(plan) = standing.progress {
        let (done, of) = plan.figures();
        let head = format!("The plan \"{}\" that is carried out: {done} of {of} steps done", plan.title);
        parts.push(section(&head, plan.list()));
    }
    if !standing.todo.is_empty() {
        parts.push(section("Your todo list", todo(standing.todo)));
    }
    for (title, files) in [("Files that were changed", &changed), ("Files that were read", &read)] {
        if !files.is_empty() {
            parts.push(section(title, list(files)));
        }
    }
    parts.push(format!("Permission mode until now: {}.", standing.mode.shown()));

    let messages = count(said.len(), "message of yours", "messages of yours");
    let files = count(changed.len() + read.len(), "file", "files");
    let label =
        format!("compacted without a model: {messages}, {files} and the last answer go on; all of it stays above");
    Summary { label, carried: parts.join("\n\n") }
}

fn section(title: &str, text: String) -> String {
    format!("## {title}\n\n{text}")
}

/// The newest messages whole, as far as there is room; of older ones the beginning, with a word that it was cut.
fn messages(said: &[&str]) -> String {
    let mut room = USER;
    let mut kept: Vec<String> = Vec::new();
    for (age, text) in said.iter().rev().enumerate() {
        let long = text.chars().count();
        let text = if age == 0 || long <= room { (*text).to_owned() } else { cut(text, SHORT) };
        let used = text.chars().count();
        if age > 0 && used > room {
            kept.push(format!("[{} were left out here]", count(said.len() - age, "older message", "older messages")));
            break;
        }
        room = room.saturating_sub(used);
        kept.push(text);
    }
    kept.reverse();
    kept.join("\n\n---\n\n")
}

/// The first characters, with a word on what is missing.
fn cut(text: &str, most: usize) -> String {
    let all = text.chars().count();
    if all <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most).collect();
    format!("{kept} [… {} more characters were cut]", all - most)
}

/// What calls of these tools were about, once each, the latest last.
fn subjects<'c>(calls: &[&'c ToolCall], tools: &[&str]) -> Vec<&'c str> {
    let mut found: Vec<&str> = Vec::new();
    for call in calls.iter().filter(|call| tools.contains(&call.name.as_str())) {
        let path = call.input.get("path").and_then(serde_json::Value::as_str).unwrap_or(&call.subject);
        found.retain(|other| *other != path);
        found.push(path);
    }
    found
}

fn list(files: &[&str]) -> String {
    let hidden = files.len().saturating_sub(FILES);
    let mut lines: Vec<String> = files.iter().skip(hidden).map(|path| format!("- {path}")).collect();
    if hidden > 0 {
        lines.push(format!("- and {hidden} before these"));
    }
    lines.join("\n")
}

fn todo(items: &[TodoItem]) -> String {
    let lines = items.iter().map(|item| {
        let sign = match item.status {
            TodoStatus::Pending => ' ',
            TodoStatus::InProgress => '>',
            TodoStatus::Completed => 'x',
        };
        format!("[{sign}] {}", item.content)
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn count(n: usize, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{At, CallId, MessageId};
    use crate::domain::message::{AssistantText, Info, InfoKind, UserText};
    use crate::domain::notice::Level;
    use crate::domain::tool::ToolFigures;

    fn row(body: Body) -> Message {
        Message::new(MessageId::new("m"), At(0), body)
    }
    fn user(text: &str) -> Message {
        row(Body::User(UserText { text: text.into(), ..UserText::default() }))
    }
    fn said(text: &str) -> Message {
        row(Body::Assistant(AssistantText { text: text.into(), ..AssistantText::default() }))
    }
    fn tool(name: &str, path: &str, status: ToolStatus) -> Message {
        row(Body::Tool(Box::new(ToolCall {
            id: CallId::new("c"),
            name: name.into(),
            input: serde_json::json!({ "path": path }),
            subject: path.into(),
            status,
            result: Some("x".into()),
            millis: None,
            figures: ToolFigures::default(),
            decision: None,
        })))
    }
    fn standing() -> Standing<'static> {
        Standing { mode: Mode::Explore, waiting: None, progress: None, todo: &[] }
    }

    #[test]
    fn the_parts_are_carried_over() {
        let rows = [
            user("look at it"),
            tool("read", "a.rs", ToolStatus::Completed),
            tool("read", "b.rs", ToolStatus::Completed),
            tool("edit", "b.rs", ToolStatus::Completed),
            tool("write", "c.rs", ToolStatus::Error),
            said("earlier words"),
            user("and plan"),
            said("last words"),
        ];
        let review =
            PlanReview { path: "/s/plans/p.md".into(), markdown: "1. a\n2. ~~b~~".into(), ..Default::default() };
        let todo = [TodoItem { content: "t".into(), status: TodoStatus::Completed }];
        let Summary { label, carried } =
            summary(&rows, &Standing { waiting: Some(&review), todo: &todo, ..standing() });
        for part in
            ["look at it\n\n---\n\nand plan", "last words", "1. a\n2. ~~b~~", "/s/plans/p.md", "[x] t", "Explore"]
        {
            assert!(carried.contains(part), "{part} in {carried}");
        }
        assert!(carried.contains("changed\n\n- b.rs\n\n## Files that were read\n\n- a.rs\n"), "{carried}");
        assert!(!carried.contains("c.rs") && !carried.contains("earlier words"));
        assert!(label.contains("2 messages of yours, 2 files") && !label.contains('\n'));
    }

    #[test]
    fn the_newest_message_is_whole_and_older_ones_are_cut() {
        let (long, longest) = ("a".repeat(USER), "b".repeat(USER * 2));
        let Summary { carried, .. } = summary(&[user(&long), user("short"), user(&longest)], &standing());
        assert!(
            carried.contains(&longest)
                && !carried.contains("short")
                && carried.contains("2 older messages were left out")
        );
        let Summary { carried, .. } = summary(&[user(&long), user("short")], &standing());
        assert!(carried.contains("more characters were cut") && carried.contains("short"));
        assert!(carried.chars().count() < USER);
    }

    #[test]
    fn an_earlier_compaction_goes_along() {
        let info =
            Info { text: "t".into(), level: Level::Info, kind: InfoKind::Compacted, carried: Some("before".into()) };
        let Summary { carried, .. } = summary(&[row(Body::Info(info)), user("more")], &standing());
        assert!(carried.contains("Carried over from before that\n\nbefore"));
    }
}
