//! Fields that Craft Agents shows of a call: it looks for the path, the two texts of an edit and
//! the todos under its own names.
//!
//! They are appended to the input, and removed when the row is read, so that a model sees what it wrote.

use serde_json::{Map, Value, json};

/// An edit with longer texts is shown by its path alone: the row has its difference besides.
const LONGEST: usize = 32 * 1024;

/// The input with what Craft looks for, and the names of what was added.
pub(super) fn to_craft(tool: &str, input: &Value) -> (Value, Vec<String>) {
    let mut added = Map::new();
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    match tool {
        "read" | "write" | "edit" => {
            added.extend(text("path").map(|path| ("file_path".to_owned(), json!(path))));
        }
        "todo" => {
            let todo = |item: &Value| {
                let content = item.get("content")?.as_str()?;
                Some(json!({"content": content, "status": item.get("status")?, "activeForm": content}))
            };
            if let Some(items) = input.get("items").and_then(Value::as_array) {
                added.insert("todos".to_owned(), items.iter().filter_map(todo).collect());
            }
        }
        _ => {}
    }
    if tool == "edit" {
        let edits = input.get("edits").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let side = |name: &str| -> Vec<&str> { edits.iter().filter_map(|edit| edit.get(name)?.as_str()).collect() };
        let (old, new) = (side("old").join("\n"), side("new").join("\n"));
        if !edits.is_empty() && old.len() + new.len() <= LONGEST {
            added.insert("old_string".to_owned(), json!(old));
            added.insert("new_string".to_owned(), json!(new));
        }
    }
    let Some(fields) = input.as_object().filter(|_| !added.is_empty()) else { return (input.clone(), Vec::new()) };
    added.retain(|name, _| !fields.contains_key(name));
    let names = added.keys().cloned().collect();
    let mut out = fields.clone();
    out.extend(added);
    (Value::Object(out), names)
}

/// The input as it was before these were added.
pub(super) fn to_ours(mut input: Value, added: Vec<String>) -> Value {
    if let Some(fields) = input.as_object_mut() {
        for name in added {
            fields.shift_remove(&name);
        }
    }
    input
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::foreign;

    #[test]
    fn craft_finds_what_it_shows_and_the_input_comes_back_as_it_was() {
        for (tool, input, shown) in [
            ("read", json!({"path": "a.rs", "limit": 2}), json!({"path": "a.rs", "limit": 2, "file_path": "a.rs"})),
            (
                "edit",
                json!({"edits": [{"old": "x", "new": "y"}, {"old": "1", "new": ""}], "path": "a"}),
                json!({"edits": [{"old": "x", "new": "y"}, {"old": "1", "new": ""}], "path": "a", "file_path": "a",
                    "old_string": "x\n1", "new_string": "y\n"}),
            ),
            (
                "todo",
                json!({"items": [{"content": "a", "status": "pending"}]}),
                json!({"items": [{"content": "a", "status": "pending"}],
                    "todos": [{"content": "a", "status": "pending", "activeForm": "a"}]}),
            ),
            ("bash", json!({"command": "ls"}), json!({"command": "ls"})),
            ("read", json!({"path": "a", "file_path": "b"}), json!({"path": "a", "file_path": "b"})),
            ("read", json!("x"), json!("x")),
        ] {
            let (there, added) = to_craft(tool, &input);
            assert_eq!(there, shown, "{tool}");
            let back = to_ours(there, added);
            assert_eq!(back.to_string(), input.to_string(), "{tool}");
            // Where another program took the list of what was added away, it is the same call.
            assert!(!input.is_object() || foreign::input(tool, &shown).get("path") == input.get("path"));
        }
    }
}
