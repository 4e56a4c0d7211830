//! Rows that are written, read, odd or broken.

use super::*;

const DIR: &str = "/w/sessions/a";

fn read_one(line: &str) -> (Message, Option<Oddity>) {
    let mut line = read(line.as_bytes(), 7, 3, Path::new(DIR));
    assert_eq!(line.rows.len(), 1);
    (line.rows.remove(0), line.odd)
}

#[test]
fn every_sort_of_row_comes_back() {
    for row in samples(Path::new(DIR)) {
        let line = write(&row, Path::new(DIR)).unwrap();
        assert!(!line.contains('\n') && !line.contains(DIR), "{line}");
        assert_eq!(read_one(&line), (row, None));
    }
}

#[test]
fn keys_types_and_tool_names_are_crafts() {
    let lines: Vec<Value> = samples(Path::new(DIR))
        .iter()
        .map(|row| serde_json::from_str(&write(row, Path::new(DIR)).unwrap()).unwrap())
        .collect();
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["user", "assistant", "assistant", "tool", "tool", "error", "info", "info", "plan"]);
    assert_eq!(lines[2]["isIntermediate"], true);
    assert_eq!(lines[3]["toolName"], "Bash");
    assert_eq!(lines[3]["toolStatus"], "completed");
    assert_eq!(lines[3]["lisle"]["decision"]["by"], "person");
    assert_eq!(lines[7]["statusType"], "compaction_complete");
    assert_eq!(lines[8]["planPath"], "{{SESSION_PATH}}/plans/p.md");
    for (own, craft) in TOOLS {
        assert_eq!((craft_tool(own), own_tool(craft)), (craft, own));
    }
    assert_eq!(own_tool("mcp__linear__create_issue"), "mcp__linear__create_issue");
}

#[test]
fn odd_lines_are_shown_and_named() {
    for (line, oddity) in [
        ("{\"id\":\"a\",\"type\":\"user\"", Oddity::Unreadable),
        ("not JSON", Oddity::Unreadable),
        ("null", Oddity::NoMessage),
        ("[]", Oddity::NoMessage),
        ("{\"id\":5,\"content\":\"no type\"}", Oddity::NoMessage),
        ("{\"id\":\"a\",\"type\":\"hologram\",\"content\":\"x\"}", Oddity::UnknownType("hologram".into())),
    ] {
        let (row, odd) = read_one(line);
        assert!(matches!(&row.body, Body::Odd(odd) if odd.raw == line && odd.line == 3), "{line}");
        assert_eq!(odd, Some(oddity));
        assert_eq!(row.id.as_str(), "line-7");
    }
}

#[test]
fn lone_surrogates_odd_contents_and_missing_ids_are_read() {
    let (row, _) = read_one(r#"{"type":"user","content":"\ud83d x","id":"a"}"#);
    assert!(matches!(row.body, Body::User(user) if user.text == "\u{fffd} x"));
    let (row, _) = read_one(r#"{"id":"a","type":"user","content":{"parts":[1]}}"#);
    assert!(matches!(row.body, Body::User(user) if user.text == r#"{"parts":[1]}"#));
    let (row, _) = read_one(r#"{"type":"user","content":null}"#);
    assert_eq!(row.id.as_str(), "line-7");
}

#[test]
fn bytes_that_are_not_utf8_are_shown_as_such() {
    let line = read(b"{\"id\":\"a\",\"type\":\"user\",\"content\":\"x\xff\xfe\x80\"}", 0, 1, Path::new(DIR));
    assert_eq!(line.odd, Some(Oddity::NotUtf8));
    assert!(matches!(&line.rows[0].body, Body::User(user) if user.text == "x\u{fffd}\u{fffd}\u{fffd}"));
}

#[test]
fn rows_on_one_line_are_told_apart() {
    let (a, b) = (r#"{"id":"a","content":"1","type":"user"}"#, r#"{"id":"b","content":"2","type":"user"}"#);
    let ids = |line: &str| -> Vec<String> {
        let line = read(line.as_bytes(), 0, 1, Path::new(DIR));
        assert_eq!(line.odd, Some(Oddity::Glued));
        line.rows.iter().map(|row| row.id.as_str().to_owned()).collect()
    };
    assert_eq!(ids(&format!("{a}{b}")), ["a", "b"]);
    assert_eq!(ids(&format!("{}{b}", &a[..20])), ["line-0", "b"]);
    assert_eq!(ids(&format!("{a}{}", &b[..20])), ["a", "line-0"]);
}

#[test]
fn an_input_nested_600_deep_is_kept_as_text() {
    let deep = format!("{}1{}", "[".repeat(600), "]".repeat(600));
    let (row, odd) = read_one(&format!(r#"{{"id":"a","type":"tool","content":"","toolName":"X","toolInput":{deep}}}"#));
    assert_eq!(row.tool().unwrap().input, Value::String(deep));
    assert_eq!(odd, None);
}
