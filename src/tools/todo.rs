//! `todo`: the agent's own list of what it is doing, for the user to see.

use super::input::{InputFields, one_line};
use super::read_tracker::Seen;
use super::{CallPlace, RunContext, RunError, Tool, plain};
use crate::domain::tool::{CallFacts, Outcome, Then, TodoItem, TodoStatus, ToolSpec, Touch};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

/// Items at the most.
const MOST: usize = 100;
/// Characters of an item.
const LONGEST: usize = 500;

/// The tool.
pub struct Todo;

impl Tool for Todo {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "todo".to_owned(),
            description:
                "Sets the todo list that the user sees beside the conversation. Give the whole list each time; an \
                empty one clears it. Use it for work of three steps and more: one item `in_progress` at a time, marked \
                `completed` as soon as it is done. At most 100 items. What comes back: the list as it is now."
                    .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "items": {
                        "type": "array",
                        "description": "The whole list, in order.",
                        "items": {
                            "type": "object",
                            "properties": {
                                "content": {"type": "string", "description": "The task, in a few words."},
                                "status": {"type": "string", "enum": ["pending", "in_progress", "completed"], "description": "Where it stands."}
                            },
                            "required": ["content", "status"]
                        }
                    }
                },
                "required": ["items"]
            }),
        }
    }

    fn reads_only(&self) -> bool {
        // It changes nothing on disk, but the last list counts, so calls keep their order.
        false
    }

    fn subject(&self, input: &Value) -> String {
        match items(input) {
            Ok(items) => summary(&items),
            Err(_) => String::new(),
        }
    }

    fn inspect(&self, input: &Value, _place: &CallPlace, _seen: &Seen) -> Result<CallFacts, String> {
        items(input)?;
        Ok(plain("todo", self.subject(input), Touch::Inner))
    }

    fn run(&self, input: Value, _with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>> {
        Box::pin(async move {
            Ok(match items(&input) {
                Err(sentence) => Outcome::error(sentence),
                Ok(items) => {
                    let mut text = summary(&items);
                    for item in &items {
                        let mark = match item.status {
                            TodoStatus::Pending => ' ',
                            TodoStatus::InProgress => '>',
                            TodoStatus::Completed => 'x',
                        };
                        text.push_str(&format!("\n[{mark}] {}", item.content));
                    }
                    Outcome { then: Then::Todo(items), ..Outcome::ok(text) }
                }
            })
        })
    }
}

fn items(input: &Value) -> Result<Vec<TodoItem>, String> {
    let list = InputFields::of("todo", input)?.list("items")?;
    if list.len() > MOST {
        return Err(format!("`items` holds {} entries; at most {MOST} are kept. Make them coarser.", list.len()));
    }
    let mut items = Vec::new();
    for (index, item) in list.iter().enumerate() {
        let number = index + 1;
        let named = |why: String| format!("Item {number}: {why}");
        let fields = InputFields::of("an item", item).map_err(named)?;
        let content = one_line(fields.text("content").map_err(named)?, LONGEST);
        if content.is_empty() {
            return Err(named("`content` is empty.".to_owned()));
        }
        let status = match fields.text("status").map_err(named)? {
            "pending" => TodoStatus::Pending,
            "in_progress" => TodoStatus::InProgress,
            "completed" => TodoStatus::Completed,
            other => {
                let other = one_line(other, 40);
                return Err(named(format!(
                    "`status` must be pending, in_progress or completed, but it is \"{other}\"."
                )));
            }
        };
        items.push(TodoItem { content, status });
    }
    Ok(items)
}

fn summary(items: &[TodoItem]) -> String {
    let done = items.iter().filter(|item| item.status == TodoStatus::Completed).count();
    if items.is_empty() { "the list is empty".to_owned() } else { format!("{done} of {} done", items.len()) }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    #[test]
    fn the_list_goes_to_the_engine() {
        let bench = Bench::new();
        let outcome = bench.ok(
            "todo",
            json!({"items": [
                {"content": "look\naround", "status": "completed"},
                {"content": "build", "status": "in_progress", "activeForm": "Building"},
                {"content": "test", "status": "pending"}
            ]}),
        );
        assert_eq!(outcome.text, "1 of 3 done\n[x] look around\n[>] build\n[ ] test");
        let Then::Todo(items) = outcome.then else { panic!() };
        assert_eq!(items[1], TodoItem { content: "build".into(), status: TodoStatus::InProgress });
        assert_eq!(bench.ok("todo", json!({"items": []})).then, Then::Todo(vec![]));
    }

    #[test]
    fn errors() {
        let bench = Bench::new();
        for (input, says) in [
            (json!({}), "needs the field `items`"),
            (json!({"items": "x"}), "`items` of todo must be a list"),
            (json!({"items": ["x"]}), "Item 1: The input of an item must be one JSON object"),
            (
                json!({"items": [{"content": "a", "status": "done"}]}),
                "must be pending, in_progress or completed, but it is \"done\"",
            ),
            (json!({"items": [{"content": " ", "status": "pending"}]}), "Item 1: `content` is empty"),
            (json!({"items": vec![json!({"content": "a", "status": "pending"}); 101]}), "at most 100"),
        ] {
            let error = bench.error("todo", input.clone());
            assert!(error.contains(says), "{input}: {error}");
        }
    }
}
