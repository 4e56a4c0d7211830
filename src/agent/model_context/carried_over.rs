//! Content that a compaction carries over: by structure the user's words, the plan, the list of
//! finished work, the files and the commands, and a model's summary of the rest. This module
//! selects it and the rows that stay; `summary` asks the model, and the machine decides when. Pure.

use super::conversation::{self, Effective};
use super::tokens;
use crate::domain::ids::MessageId;
use crate::domain::message::{Body, Carried, Message};
use crate::domain::permission::Mode;
use crate::domain::plan::Progress;
use crate::domain::request::PlanReview;
use crate::domain::tool::{TodoItem, TodoStatus, ToolCall, ToolStatus};
use std::path::{Path, PathBuf};

/// The window of a model of which nothing is known, in tokens.
pub const UNKNOWN_WINDOW: u64 = 32_000;
/// Commands that are named, the latest ones.
const COMMANDS: usize = 20;
/// A message of more tokens is pasted matter rather than words of the user's own.
const PASTED: u64 = 2_000;

/// Token budgets of a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Characters of the user's messages that are carried over.
    pub words: usize,
    /// Characters of an older message that does not fit whole.
    pub short: usize,
    /// Characters of the last answer.
    pub answer: usize,
    /// Characters of what the model writes.
    pub summary: usize,
    /// Files of a list; the latest ones.
    pub files: usize,
    /// Tokens of the rows that stay as they are.
    pub keep: u64,
    /// Bytes that a model is asked about at once.
    pub part: usize,
}

impl Room {
    /// Budgets for a conversation in a window of so many tokens, summarised by a model with its own window.
    #[must_use]
    pub fn of(window: Option<u64>, summing: Option<u64>) -> Self {
        let window = window.unwrap_or(UNKNOWN_WINDOW).max(1_000);
        let chars = usize::try_from(window.saturating_mul(4)).unwrap_or(usize::MAX);
        let summing = usize::try_from(summing.unwrap_or(window).max(1_000)).unwrap_or(usize::MAX);
        Self {
            words: (chars / 10).min(24_000),
            short: (chars / 100).clamp(80, 400),
            answer: (chars / 20).min(8_000),
            summary: (chars / 8).min(16_000),
            files: (chars / 800).clamp(5, 100),
            keep: (window / 8).min(20_000),
            part: summing.saturating_mul(2).min(400_000),
        }
    }
}

/// State of the session besides its rows.
#[derive(Clone, Copy, Debug)]
pub struct CompactState<'a> {
    /// The permission mode.
    pub mode: Mode,
    /// The plan that waits.
    pub waiting: Option<&'a PlanReview>,
    /// The plan that is carried out.
    pub progress: Option<&'a Progress>,
    /// The agent's todo list.
    pub todo: &'a [TodoItem],
    /// The folder of the session.
    pub session_dir: &'a Path,
}

// ---- what stays as it is ----

/// Index of the first row that stays: as many of the last ones as fit into `keep` tokens, and
/// always those from `at_least` on. Rows compacted before are never among them, and no response is
/// split.
#[must_use]
pub fn cut(rows: &[Message], keep: u64, at_least: Option<usize>) -> usize {
    let compacted = rows.iter().rposition(|row| matches!(&row.body, Body::Info(info) if info.carried.is_some()));
    let first = compacted.map_or(0, |at| at + 1);
    let (mut best, mut used) = (rows.len(), 0);
    for at in (first..rows.len()).rev() {
        used += row_tokens(&rows[at]);
        let forced = at_least.is_some_and(|least| at >= least);
        if used > keep && !forced {
            break;
        }
        if begins(&rows[first..], at - first) {
            best = at;
        }
    }
    best
}

/// A response, or what a person said, begins with this row.
fn begins(rows: &[Message], at: usize) -> bool {
    let Some(row) = rows.get(at) else { return false };
    let told =
        |row: &&Message| matches!(row.body, Body::User(_) | Body::Assistant(_) | Body::Thinking(_) | Body::Tool(_));
    let before = rows.iter().take(at).rev().find(told);
    match (&row.body, before) {
        (Body::User(_), _) => true,
        (Body::Assistant(_) | Body::Thinking(_) | Body::Tool(_), before) => before
            .is_none_or(|before| matches!(before.body, Body::User(_)) || !conversation::same_response(before, row)),
        _ => false,
    }
}

fn row_tokens(row: &Message) -> u64 {
    match &row.body {
        Body::User(user) => tokens::text(&user.text),
        Body::Assistant(said) => tokens::text(&said.text),
        Body::Tool(call) => {
            let result = call.result.as_deref().unwrap_or_default();
            tokens::text(&call.input.to_string())
                + tokens::text(&conversation::elide(result, conversation::KEPT_RESULT))
        }
        _ => 0,
    }
}

/// True if these rows contain something to summarise.
#[must_use]
pub fn has_matter(rows: &[Message]) -> bool {
    let Effective { kept, since, .. } = Effective::of(rows);
    let matters = |row: &Message| matches!(row.body, Body::User(_) | Body::Assistant(_) | Body::Tool(_));
    kept.iter().chain(since).any(matters)
}

// ---- what is carried over ----

/// Content of these rows to carry over, with a model's summary and the content of an earlier compaction.
#[must_use]
pub fn carry(
    rows: &[Message],
    standing: &CompactState<'_>,
    summary: Option<&str>,
    keeps: Option<MessageId>,
    room: &Room,
) -> Carried {
    let Effective { carried: earlier, kept, since } = Effective::of(rows);
    let rows = || kept.iter().chain(since).filter(|row| row.parent.is_none());
    let calls: Vec<&ToolCall> =
        rows().filter_map(Message::tool).filter(|call| call.status == ToolStatus::Completed).collect();
    let mut said: Vec<String> = earlier.map(|earlier| earlier.said.clone()).unwrap_or_default();
    said.extend(rows().filter_map(|row| match &row.body {
        Body::User(user) if is_pasted(&user.text) => {
            Some(pasted(user.text.trim(), &whole_path(standing.session_dir, &row.id), room))
        }
        Body::User(user) if !user.text.trim().is_empty() => Some(user.text.trim().to_owned()),
        _ => None,
    }));
    let said = words(said, room);
    let before = |list: fn(&Carried) -> &Vec<String>| earlier.map(list).cloned().unwrap_or_default();
    let changed = subjects(before(|one| &one.changed), &calls, &["write", "edit", "patch", "multi_edit"]);
    let mut read = subjects(before(|one| &one.read), &calls, &["read"]);
    read.retain(|path| !changed.contains(path));
    let answer = rows().rev().find_map(|row| match &row.body {
        Body::Assistant(said) if !said.text.trim().is_empty() => Some(said.text.trim()),
        _ => None,
    });

    let mut parts = vec![match summary {
        Some(_) => {
            "The conversation until here was compacted. A model summed it up; the user's messages, the plan and the \
                    lists below are kept word for word and count more than the summary. Tool results are gone: read \
                    files again where you need them."
                .to_owned()
        }
        None => "The conversation until here was compacted. No model summed it up: these are its parts, word for word \
                 where it says so. Answers and tool results that are not listed are gone; read files again where you \
                 need them."
            .to_owned(),
    }];
    match (summary, earlier) {
        (Some(summary), _) => parts.push(section("Summary", cut_to(summary, room.summary))),
        (None, Some(earlier)) if !earlier.summary.is_empty() => {
            parts.push(section("Summary of what was before that", cut_to(&earlier.summary, room.summary)));
        }
        // One of an earlier version has its text alone.
        (None, Some(earlier)) if earlier.said.is_empty() => {
            parts.push(section("Carried over from before that", cut_to(&earlier.text, room.answer)));
        }
        (None, _) => {}
    }
    if !said.is_empty() {
        parts.push(section("The user's messages, oldest first", said.join("\n\n---\n\n")));
    }
    if let Some(answer) = answer.filter(|_| keeps.is_none()) {
        parts.push(section("Your last answer", cut_to(answer, room.answer)));
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
            parts.push(section(title, list(files, room.files)));
        }
    }
    let commands: Vec<&ToolCall> = rows().filter_map(Message::tool).filter(|call| call.name == "bash").collect();
    if summary.is_none() && !commands.is_empty() {
        parts.push(section("The last commands", tried(&commands, room)));
    }
    parts.push(format!("Permission mode until now: {}.", standing.mode.shown()));
    let summary = summary.map(str::to_owned).or_else(|| earlier.map(|earlier| earlier.summary.clone()));
    let summary = cut_to(&summary.unwrap_or_default(), room.summary);
    Carried { text: parts.join("\n\n"), keeps, summary, said, changed, read }
}

/// Notice for the user, on one line. `why`: reason why no model summarised it.
#[must_use]
pub fn label(carried: &Carried, kept: usize, why: Option<&str>) -> String {
    let files = count(carried.changed.len() + carried.read.len(), "file", "files");
    let messages = count(carried.said.len(), "of your messages", "of your messages");
    let how = match why {
        None if carried.summary.is_empty() => "without a model".to_owned(),
        None => "with a summary".to_owned(),
        Some(why) => format!("without a model ({})", why.trim_end_matches('.')),
    };
    let kept = if kept == 0 { String::new() } else { format!(", {} verbatim", count(kept, "row", "rows")) };
    format!("compacted {how}: kept {messages} and {files}{kept}; full history above")
}

fn section(title: &str, text: String) -> String {
    format!("## {title}\n\n{text}")
}

/// The user's messages, as far as there is room: the newest whole, then the short ones, which say what is wanted and what must
/// not be, and then the beginnings of the others; the newer ones of each first. Where some are missing, it is said how many.
fn words(said: Vec<String>, room: &Room) -> Vec<String> {
    let mut left = room.words;
    let mut kept: Vec<Option<String>> = vec![None; said.len()];
    if let (Some(newest), Some(slot)) = (said.last(), kept.last_mut()) {
        let newest = cut_to(newest, room.words.saturating_mul(3));
        left = left.saturating_sub(newest.chars().count());
        *slot = Some(newest);
    }
    let is_short = |text: &str| text.chars().nth(room.short).is_none();
    for short in [true, false] {
        for (text, slot) in said.iter().zip(&mut kept).rev().filter(|(text, _)| is_short(text) == short) {
            let whole = text.chars().nth(left).is_none();
            let text = if whole { text.clone() } else { cut_to(text, room.short) };
            let used = text.chars().count();
            if slot.is_none() && used <= left {
                left -= used;
                *slot = Some(text);
            }
        }
    }
    let mut out = Vec::new();
    let mut missing = 0;
    for slot in kept {
        match slot {
            None => missing += 1,
            Some(text) => {
                if missing > 0 {
                    out.push(format!("[{} were left out here]", count(missing, "older message", "older messages")));
                    missing = 0;
                }
                out.push(text);
            }
        }
    }
    out
}

// ---- what was pasted ----

fn is_pasted(text: &str) -> bool {
    // A token has a byte at least.
    text.len() as u64 > PASTED && tokens::text(text) > PASTED
}

/// The messages among these rows of which only a part is carried over, each with the file that is to hold the whole of it.
#[must_use]
pub fn wholes(rows: &[Message], session_dir: &Path) -> Vec<(PathBuf, String)> {
    let Effective { kept, since, .. } = Effective::of(rows);
    let whole = |row: &Message| match &row.body {
        Body::User(user) if is_pasted(&user.text) => Some((whole_path(session_dir, &row.id), user.text.clone())),
        _ => None,
    };
    kept.iter().chain(since).filter_map(whole).collect()
}

fn whole_path(session_dir: &Path, id: &MessageId) -> PathBuf {
    // Rows of other programs may have any id.
    let name: String =
        id.as_str().chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).take(80).collect();
    session_dir.join("long_responses").join(format!("message_{name}.txt"))
}

/// The beginning and the end of what was pasted, where what is wanted of it stands, and where all of it lies.
fn pasted(text: &str, whole: &Path, room: &Room) -> String {
    let all = text.chars().count();
    let head: String = text.chars().take(room.short.saturating_mul(2)).collect();
    let tail: String = text.chars().skip(all.saturating_sub(room.short)).collect();
    format!("{head}\n[… {all} characters in all; the whole message is in {} …]\n{tail}", whole.display())
}

/// The first characters, with a word on what is missing.
fn cut_to(text: &str, most: usize) -> String {
    let all = text.chars().count();
    if all <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most).collect();
    format!("{kept} [… {} more characters were cut]", all - most)
}

/// Subjects of the calls of these tools, once each, latest last, after the earlier ones.
fn subjects(mut found: Vec<String>, calls: &[&ToolCall], tools: &[&str]) -> Vec<String> {
    for call in calls.iter().filter(|call| tools.contains(&call.name.as_str())) {
        let path = call.input.get("path").and_then(serde_json::Value::as_str).unwrap_or(&call.subject);
        found.retain(|other| other != path);
        found.push(path.to_owned());
    }
    found
}

fn list(files: &[String], most: usize) -> String {
    let hidden = files.len().saturating_sub(most);
    let mut lines: Vec<String> = files.iter().skip(hidden).map(|path| format!("- {path}")).collect();
    if hidden > 0 {
        lines.push(format!("- and {hidden} before these"));
    }
    lines.join("\n")
}

/// The last commands, and how they went.
fn tried(commands: &[&ToolCall], room: &Room) -> String {
    let most = COMMANDS.min(room.files);
    let lines = commands.iter().skip(commands.len().saturating_sub(most)).map(|call| {
        let how = match call.status {
            ToolStatus::Completed => "ran",
            _ => "failed",
        };
        format!("- {how}: {}", cut_to(&one_line(&call.subject), 200))
    });
    lines.collect::<Vec<_>>().join("\n")
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

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
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
    fn standing() -> CompactState<'static> {
        CompactState { mode: Mode::Explore, waiting: None, progress: None, todo: &[], session_dir: Path::new("/s") }
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
        let standing = CompactState { waiting: Some(&review), todo: &todo, ..standing() };
        let whole = carry(&rows, &standing, None, None, &room());
        let (label, carried) = (label(&whole, 0, None), &whole.text);
        for part in
            ["look at it\n\n---\n\nand plan", "last words", "1. a\n2. ~~b~~", "/s/plans/p.md", "[x] t", "Explore"]
        {
            assert!(carried.contains(part), "{part} in {carried}");
        }
        assert!(carried.contains("changed\n\n- b.rs\n\n## Files that were read\n\n- a.rs\n"), "{carried}");
        assert!(!carried.contains("c.rs") && !carried.contains("earlier words"));
        assert!(label.contains("2 of your messages and 2 files") && !label.contains('\n'));
    }

    #[test]
    fn short_messages_go_on_before_long_ones_and_what_was_pasted_is_named() {
        let carry = |rows: &[Message]| super::carry(rows, &standing(), None, None, &room());
        let paste = |c: &str| user(&format!("Mend this:\n{}\nand keep the tests.", c.repeat(20_000)));
        let mut rows = vec![user("never touch main")];
        rows.extend((0..40).map(|_| paste("x")));
        rows.push(user("and be quick"));
        for (at, row) in rows.iter_mut().enumerate() {
            row.id = MessageId::new(format!("m/{at}"));
        }
        let carried = carry(&rows);
        assert_eq!(carried.said.first().map(String::as_str), Some("never touch main"), "however much was pasted since");
        assert_eq!(carried.said.last().map(String::as_str), Some("and be quick"));
        let last = &carried.said[carried.said.len() - 2];
        for part in ["Mend this:", "and keep the tests.", "/s/long_responses/message_m40.txt"] {
            assert!(last.contains(part), "{part} in {last}");
        }
        assert!(carried.text.chars().count() < 30_000 && carried.text.contains("were left out here"));
        let wholes = wholes(&rows, Path::new("/s"));
        assert_eq!((wholes.len(), wholes[39].0.as_path()), (40, Path::new("/s/long_responses/message_m40.txt")));
        assert!(wholes[39].1.ends_with("keep the tests."));
        // A message of middle length is cut where a short one needs the room.
        let most = room().words;
        let (long, short) = ("a b ".repeat(1_900), "s".repeat(300));
        let carried = carry(&[user(&short), user(&long), user(&long), user(&long), user(&long), user("now")]);
        assert!(carried.said[0] == short && carried.text.contains("more characters were cut"));
        assert!(carried.said.iter().map(|text| text.chars().count()).sum::<usize>() <= most);
    }

    fn compaction(carried: Carried) -> Message {
        let (text, carried) = ("t".to_owned(), Some(Box::new(carried)));
        row(Body::Info(Info { text, level: Level::Info, kind: InfoKind::Compacted, carried }))
    }
    fn room() -> Room {
        Room::of(Some(200_000), None)
    }

    #[test]
    fn an_earlier_compaction_goes_along() {
        let old = compaction("before".to_owned().into());
        let carried = carry(&[old, user("more")], &standing(), None, None, &room());
        assert!(carried.text.contains("Carried over from before that\n\nbefore"));
        // However often it is compacted, the user's words and the files go on as they were, and no summary is summed up.
        let mut rows = vec![user("never touch main"), tool("edit", "a.rs", ToolStatus::Completed)];
        for round in 0..5 {
            let carried = carry(&rows, &standing(), Some(&format!("summary {round}")), None, &room());
            rows =
                vec![compaction(carried), user(&format!("wish {round}")), tool("read", "b.rs", ToolStatus::Completed)];
        }
        let last = carry(&rows, &standing(), None, None, &room());
        assert_eq!(last.said[..2], ["never touch main", "wish 0"]);
        assert_eq!((last.said.len(), last.changed, last.read), (6, vec!["a.rs".into()], vec!["b.rs".into()]));
        assert!(last.text.contains("before that\n\nsummary 4") && last.summary == "summary 4");
        assert!(!last.text.contains("summary 3") && last.text.matches("## ").count() == 4, "{}", last.text);
    }

    #[test]
    fn a_small_window_gets_a_small_text() {
        let rows: Vec<Message> = (0..200).flat_map(|n| [user(&"w ".repeat(200)), said(&format!("{n}"))]).collect();
        let room = Room::of(Some(2_048), None);
        let carried = carry(&rows, &standing(), Some(&"s".repeat(9_000)), None, &room);
        assert!(tokens::text(&carried.text) < 1_000, "{}", tokens::text(&carried.text));
        assert!(carried.said.len() < 10 && carried.said[0].contains("left out here"));
    }

    #[test]
    fn the_last_rows_stay_and_no_response_is_taken_apart() {
        let long = |text: &str| said(&text.repeat(400));
        let rows = [
            user("a"),
            long("b"),
            user("c"),
            long("d"),
            tool("read", "e", ToolStatus::Completed),
            tool("read", "f", ToolStatus::Completed),
            long("g"),
        ];
        assert_eq!(cut(&rows, 1_000_000, None), 0, "all of it has room");
        assert_eq!(cut(&rows, 0, None), rows.len());
        assert_eq!(cut(&rows, 110, None), 6, "the last response alone");
        assert_eq!(cut(&rows, 130, None), 6, "its calls have room, and what they came with has not");
        assert_eq!(cut(&rows, 240, None), 2, "down to what the user said, which costs next to nothing");
        assert_eq!(cut(&rows, 0, Some(2)), 2, "what has to stay does");
        let mut again = vec![user("old"), compaction(Carried::default())];
        again.extend(rows);
        assert_eq!(cut(&again, 1_000_000, None), 2, "what was compacted is not taken up again");
    }
}
