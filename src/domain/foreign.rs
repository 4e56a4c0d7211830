//! Tools of other programs in our words: a model that goes on after their history, or was trained on them, calls theirs.
//!
//! Names and fields are mapped in one direction, from theirs to ours. What is ours already stays as it is, and fields
//! that nobody knows stay too: tools pass over them.

use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Our names, and those of other programs for the same, in small letters.
const NAMES: &[(&str, &[&str])] = &[
    ("read", &["read", "read_file", "readfile", "view_file", "open_file"]),
    ("write", &["write", "write_file", "writefile", "create_file"]),
    ("edit", &["edit", "multiedit", "multi_edit", "edit_file", "replace", "str_replace", "search_replace"]),
    ("patch", &["patch", "apply_patch"]),
    (
        "bash",
        &[
            "bash",
            "shell",
            "shell_command",
            "run_shell_command",
            "exec",
            "exec_command",
            "container.exec",
            "local_shell",
            "run_command",
            "execute_command",
            "run_terminal_cmd",
        ],
    ),
    ("grep", &["grep", "grep_search", "search_file_content", "ripgrep"]),
    ("glob", &["glob", "find", "find_files", "file_search"]),
    ("list", &["list", "ls", "list_directory", "list_dir"]),
    ("todo", &["todo", "todowrite", "todo_write", "write_todos", "update_plan"]),
    ("fetch", &["fetch", "webfetch", "web_fetch"]),
    ("spawn", &["spawn", "task", "agent", "invoke_agent", "mcp__session__spawn_session"]),
    ("skill", &["skill"]),
    ("ask_user", &["ask_user", "askuserquestion"]),
    ("job_output", &["job_output", "bashoutput", "taskoutput"]),
    ("job_kill", &["job_kill", "killshell", "killbash", "taskstop"]),
    ("submit_plan", &["submit_plan", "mcp__session__submitplan"]),
    ("call_llm", &["call_llm", "mcp__session__call_llm"]),
    ("session_info", &["session_info", "mcp__session__get_session_info"]),
    ("list_sessions", &["list_sessions", "mcp__session__list_sessions"]),
    ("set_status", &["set_status", "mcp__session__set_session_status"]),
    ("set_labels", &["set_labels", "mcp__session__set_session_labels"]),
];

/// Our name of a tool that another program calls so, in whatever case; `None` where there is no such tool here.
#[must_use]
pub fn tool(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    NAMES.iter().find(|(_, all)| all.contains(&name.as_str())).map(|(ours, _)| *ours)
}

/// The input of a call of one of our tools, with fields of other programs as ours.
#[must_use]
pub fn input<'v>(tool: &str, input: &'v Value) -> Cow<'v, Value> {
    let Some(fields) = input.as_object() else { return Cow::Borrowed(input) };
    let mut now = fields.clone();
    match tool {
        "read" | "write" => path(&mut now),
        "edit" => edit(&mut now),
        "list" | "grep" | "glob" => {
            rename(&mut now, &["dir_path", "directory", "path"], "path");
            rename(&mut now, &["-i", "case_insensitive"], "ignore_case");
            rename(&mut now, &["-C"], "context");
            rename(&mut now, &["head_limit"], "limit");
            rename(&mut now, &["include"], "glob");
            if tool == "grep" && now.get("output_mode").and_then(Value::as_str) == Some("files_with_matches") {
                now.entry("files_only").or_insert(json!(true));
            }
        }
        "bash" => bash(&mut now),
        "patch" => rename(&mut now, &["input", "patchText", "diff"], "patch"),
        "todo" => todo(&mut now),
        "spawn" => {
            rename(&mut now, &["description", "name"], "title");
            rename(&mut now, &["subagent_type", "agent_type"], "agent");
        }
        "skill" => rename(&mut now, &["skill", "command"], "name"),
        "fetch" => rename(&mut now, &["prompt"], "question"),
        "job_output" | "job_kill" => rename(&mut now, &["bash_id", "shell_id", "task_id", "session_id"], "job"),
        "ask_user" => ask(&mut now),
        _ => {}
    }
    if now == *fields { Cow::Borrowed(input) } else { Cow::Owned(Value::Object(now)) }
}

/// Gives the first of these fields our name, where ours is missing. The place among the others stays.
fn rename(fields: &mut Map<String, Value>, theirs: &[&str], ours: &str) {
    if fields.get(ours).is_some_and(|value| !value.is_null()) {
        return;
    }
    let Some(name) = theirs.iter().find(|name| fields.get(**name).is_some_and(|value| !value.is_null())) else {
        return;
    };
    *fields = std::mem::take(fields)
        .into_iter()
        .filter(|(key, _)| key != ours)
        .map(|(key, value)| if key == *name { (ours.to_owned(), value) } else { (key, value) })
        .collect();
}

fn path(fields: &mut Map<String, Value>) {
    rename(fields, &["file_path", "filePath", "target_file", "absolute_path", "filename"], "path");
    rename(fields, &["contents", "file_text"], "content");
}

fn edit(fields: &mut Map<String, Value>) {
    path(fields);
    let piece = |fields: &mut Map<String, Value>| {
        rename(fields, &["old_string", "oldString", "old_str", "oldText", "search"], "old");
        rename(fields, &["new_string", "newString", "new_str", "newText"], "new");
        rename(fields, &["replace_all", "replaceAll", "allow_multiple"], "all");
        if fields.get("all") == Some(&json!(false)) {
            fields.remove("all");
        }
    };
    if let Some(Value::Array(edits)) = fields.get_mut("edits") {
        edits.iter_mut().filter_map(Value::as_object_mut).for_each(piece);
        return;
    }
    let theirs = ["old_string", "oldString", "old_str", "old"];
    if !theirs.iter().any(|name| fields.get(*name).is_some_and(Value::is_string)) {
        return;
    }
    piece(fields);
    let mut one = Map::new();
    for name in ["old", "new", "all"] {
        if let Some(value) = fields.remove(name) {
            one.insert(name.to_owned(), value);
        }
    }
    fields.insert("edits".to_owned(), json!([one]));
}

fn bash(fields: &mut Map<String, Value>) {
    rename(fields, &["cmd", "commandLine"], "command");
    rename(fields, &["run_in_background", "is_background"], "background");
    if let Some(Value::Array(words)) = fields.get("command") {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        // `bash -lc LINE` is the line.
        let line = match words.as_slice() {
            [shell, flag, line] if shell.ends_with("sh") && flag.starts_with('-') && flag.ends_with('c') => {
                (*line).to_owned()
            }
            words => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
        };
        fields.insert("command".to_owned(), json!(line));
    }
    if !fields.contains_key("timeout_s")
        && let Some(millis) = ["timeout", "timeout_ms"].iter().find_map(|name| fields.get(*name)?.as_u64())
    {
        fields.remove("timeout");
        fields.remove("timeout_ms");
        // In milliseconds there; what is too small for that was meant in seconds.
        let seconds = if millis >= 1000 { millis / 1000 } else { millis };
        fields.insert("timeout_s".to_owned(), json!(seconds.clamp(1, 600)));
    }
    let folder = ["workdir", "working_directory", "dir_path", "cwd"].into_iter();
    let folder = folder.filter_map(|name| fields.remove(name)).find_map(|value| value.as_str().map(str::to_owned));
    let Some(folder) = folder.filter(|folder| !folder.is_empty()) else { return };
    if let Some(command) = fields.get("command").and_then(Value::as_str) {
        let line = format!("cd {} && {command}", quoted(&folder));
        fields.insert("command".to_owned(), json!(line));
    }
}

/// A word as a shell takes it for one.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '=' | ':' | ',' | '+' | '@');
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn todo(fields: &mut Map<String, Value>) {
    rename(fields, &["todos", "plan", "tasks"], "items");
    let Some(Value::Array(items)) = fields.get_mut("items") else { return };
    for item in items.iter_mut().filter_map(Value::as_object_mut) {
        rename(item, &["step", "description", "title", "activeForm"], "content");
    }
}

fn ask(fields: &mut Map<String, Value>) {
    let Some(Value::Array(questions)) = fields.get("questions") else { return };
    let [Value::Object(one)] = questions.as_slice() else { return };
    let (question, options) = (one.get("question").cloned(), one.get("options").cloned());
    let label = |option: Value| option.get("label").cloned().unwrap_or(option);
    if let Some(question) = question.filter(|_| !fields.contains_key("question")) {
        fields.remove("questions");
        fields.insert("question".to_owned(), question);
        if let Some(Value::Array(options)) = options {
            fields.insert("options".to_owned(), options.into_iter().map(label).collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_other_programs_are_calls_of_ours() {
        for (name, given, ours, wanted) in [
            ("Read", json!({"file_path": "a", "offset": 1}), "read", json!({"path": "a", "offset": 1})),
            ("read_file", json!({"absolute_path": "a"}), "read", json!({"path": "a"})),
            ("Write", json!({"content": "x", "file_path": "a"}), "write", json!({"content": "x", "path": "a"})),
            (
                "Edit",
                json!({"replace_all": false, "file_path": "a", "old_string": "x", "new_string": "y"}),
                "edit",
                json!({"path": "a", "edits": [{"old": "x", "new": "y"}]}),
            ),
            (
                "MultiEdit",
                json!({"file_path": "a", "edits": [{"old_string": "x", "new_string": "", "replace_all": true}]}),
                "edit",
                json!({"path": "a", "edits": [{"old": "x", "new": "", "all": true}]}),
            ),
            (
                "edit",
                json!({"path": "a", "edits": [{"oldText": "x", "newText": "y"}]}),
                "edit",
                json!({"path": "a", "edits": [{"old": "x", "new": "y"}]}),
            ),
            (
                "Bash",
                json!({"command": "ls", "timeout": 5000, "description": "d"}),
                "bash",
                json!({"command": "ls", "description": "d", "timeout_s": 5}),
            ),
            ("exec_command", json!({"cmd": "ls", "workdir": "/a b"}), "bash", json!({"command": "cd '/a b' && ls"})),
            ("shell", json!({"command": ["bash", "-lc", "ls | wc"]}), "bash", json!({"command": "ls | wc"})),
            ("shell", json!({"command": ["ls", "a b"]}), "bash", json!({"command": "ls 'a b'"})),
            ("exec", json!({"command": "ls"}), "bash", json!({"command": "ls"})),
            ("find", json!({"pattern": "*.rs"}), "glob", json!({"pattern": "*.rs"})),
            ("apply_patch", json!({"input": "p"}), "patch", json!({"patch": "p"})),
            (
                "TodoWrite",
                json!({"todos": [{"content": "a", "status": "pending", "activeForm": "b"}]}),
                "todo",
                json!({"items": [{"content": "a", "status": "pending", "activeForm": "b"}]}),
            ),
            (
                "update_plan",
                json!({"plan": [{"step": "a", "status": "pending"}]}),
                "todo",
                json!({"items": [{"content": "a", "status": "pending"}]}),
            ),
            ("LS", json!({"path": "a"}), "list", json!({"path": "a"})),
            ("Grep", json!({"pattern": "x", "-i": true}), "grep", json!({"pattern": "x", "ignore_case": true})),
            ("Task", json!({"description": "d", "prompt": "p"}), "spawn", json!({"title": "d", "prompt": "p"})),
        ] {
            assert_eq!(tool(name), Some(ours), "{name}");
            assert_eq!(*input(ours, &given), wanted, "{name}");
            assert!(matches!(input(ours, &wanted), Cow::Borrowed(_)), "what is ours stays: {name}");
        }
        assert_eq!(tool("mcp__github__search"), None);
        assert_eq!(*input("edit", &json!("x")), json!("x"));
    }
}
