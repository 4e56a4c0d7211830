//! The query language as tables, and properties that hold for any text.

use super::*;
use crate::domain::attachment::{Attachment, AttachmentKind};
use crate::domain::message::{AssistantText, UserText};
use crate::domain::property::{Label, Properties, Status};
use crate::domain::tool::{ToolFigures, ToolStatus};
use crate::domain::{At, CallId, MessageId, Mode, SessionId, SessionMeta};
use jiff::tz::TimeZone;
use proptest::prelude::*;
use serde_json::json;

fn parsed(text: &str) -> Query {
    Query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn words(words: &[QueryWord]) -> Vec<String> {
    words.iter().map(|word| String::from_utf8(word.folded.clone()).unwrap()).collect()
}

#[test]
fn words_phrases_and_exclusions() {
    for (text, with, without) in [
        ("", &[][..], &[][..]),
        ("  \t ", &[], &[]),
        ("Flaky test", &["flaky", "test"], &[]),
        ("\"flaky  Test\"", &["flaky  test"], &[]),
        ("\"say \\\"hi\\\"\"", &["say \"hi\""], &[]),
        ("\"open quote goes", &["open quote goes"], &[]),
        ("a\"b", &["a\"b"], &[]),
        ("\"a b\"c", &["a b", "c"], &[]),
        ("x -y -\"z w\"", &["x"], &["y", "z w"]),
        ("--release - -", &["--release", "-"], &[]),
        (
            "std::io http://x.y localhost:80 main.rs:12 C:\\x",
            &["std::io", "http://x.y", "localhost:80", "main.rs:12", "c:\\x"],
            &[],
        ),
        ("error: note:this warning:", &["error:", "note:this", "warning:"], &[]),
        ("tool::name", &["tool::name"], &[]),
        ("\"status:done\"", &["status:done"], &[]),
        ("twice TWICE twice", &["twice"], &[]),
        ("漢字 Straße", &["漢字", "strasse"], &[]),
        ("\u{301}", &[], &[]),
    ] {
        let query = parsed(text);
        assert_eq!((words(&query.words), words(&query.without)), (owned(with), owned(without)), "{text}");
        assert!(query.places.is_empty() && query.statuses.is_empty() && query.tools.is_empty());
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn filters() {
    let query = parsed(
        "x status:in_progress -label:\"Needs care\" TOOL:Bash file:src/main.rs in:user -in:tool after:7d before:2026-11-01",
    );
    let names = |named: &[NamedFilter]| named.iter().map(|one| (one.name.clone(), one.not)).collect::<Vec<_>>();
    assert_eq!(words(&query.words), ["x"]);
    assert_eq!(names(&query.statuses), [("in_progress".to_owned(), false)]);
    assert_eq!(names(&query.labels), [("Needs care".to_owned(), true)]);
    assert_eq!(names(&query.tools), [("Bash".to_owned(), false)]);
    assert_eq!(names(&query.files), [("src/main.rs".to_owned(), false)]);
    assert_eq!((query.places, query.not_places), (vec![HitIn::User], vec![HitIn::Tool]));
    assert!(query.after.is_some() && query.before.is_some());
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (text, at, part) in [
        ("x lable:bug", 2, "Did you mean label:"),
        ("since:7d", 0, "Did you mean after:"),
        ("äö afer:7d", 5, "Did you mean after:"),
        ("status:", 0, "status: needs a value"),
        ("a  label:\"\"", 3, "label: needs a value"),
        ("in:nowhere", 0, "in:title, in:user, in:assistant or in:tool"),
        ("x after:soon", 2, "Invalid date after:soon"),
        ("before:2026-13-01", 0, "Invalid date"),
        ("-after:7d", 0, "Use before:7d"),
    ] {
        let error = Query::parse(text).unwrap_err();
        assert_eq!(error.at, at, "{text}");
        assert!(error.text.contains(part), "{text}: {error}");
    }
}

#[test]
fn dates() {
    let zone = TimeZone::fixed(jiff::tz::offset(2));
    let now: jiff::Timestamp = "2026-11-22T01:30:00+02:00".parse().unwrap();
    let meant = |text: &str| {
        let at = When::parse(text).unwrap_or_else(|| panic!("{text}")).at(At(now.as_millisecond()), &zone);
        jiff::Timestamp::from_millisecond(at.0).unwrap().to_zoned(zone.clone()).strftime("%Y-%m-%dT%H:%M").to_string()
    };
    for (text, at) in [
        ("2026-11-01", "2026-11-01T00:00"),
        ("2026-11", "2026-11-01T00:00"),
        ("2026", "2026-01-01T00:00"),
        ("2026-11-01T12:30", "2026-11-01T12:30"),
        ("today", "2026-11-22T00:00"),
        ("Yesterday", "2026-11-21T00:00"),
        ("90min", "2026-11-22T00:00"),
        ("12h", "2026-11-21T13:30"),
        ("7d", "2026-11-15T01:30"),
        ("2w", "2026-11-08T01:30"),
        ("3m", "2026-08-22T01:30"),
        ("1y", "2025-11-22T01:30"),
    ] {
        assert_eq!(meant(text), at, "{text}");
    }
    for wrong in [
        "",
        "7",
        "7x",
        "11-01",
        "2026-2-1",
        "2026-02-30",
        "2026-11-01T25:00",
        "2026T12:00",
        "tomorrow",
        "99999d",
        "-1d",
        "d",
    ] {
        assert_eq!(When::parse(wrong), None, "{wrong}");
    }
    assert!(When::parse("9000y").unwrap().at(At(0), &zone) < At(0), "before all time is no error");
}

fn call(name: &str, input: Value, result: &str) -> Message {
    let call = ToolCall {
        id: CallId::new("c"),
        name: name.into(),
        subject: input.get("command").and_then(Value::as_str).unwrap_or_default().to_owned(),
        input,
        status: ToolStatus::Completed,
        result: Some(result.into()),
        millis: None,
        figures: ToolFigures::default(),
        decision: None,
    };
    Message::new(MessageId::new("m"), At(5), Body::Tool(Box::new(call)))
}

#[test]
fn rows_are_taken_by_place_tool_and_file() {
    let plan = Attachment {
        name: "Plan.PDF".into(),
        path: "/s/attachments/1_Plan.PDF".into(),
        kind: AttachmentKind::Pdf,
        mime: "application/pdf".into(),
        bytes: 3,
        text: None,
    };
    let user = UserText { text: "hi".into(), attachments: vec![plan], steer: false, piped: None, client: None };
    let user = Message::new(MessageId::new("u"), At(5), Body::User(user));
    let said = AssistantText { text: "hi".into(), ..AssistantText::default() };
    let said = Message::new(MessageId::new("a"), At(5), Body::Assistant(said));
    let bash = call("bash", json!({"command": "cat src/main.rs"}), "fn main");
    let read = call("read", json!({"path": "src/Main.rs", "limit": 3}), "fn main");
    let other = call("mcp__linear__create_issue", json!({"deep": [{"file_paths": ["x/y.rs"]}]}), "done");
    let rows = [user, said, bash, read, other];
    for (text, taken) in [
        ("", "uabrm"),
        ("in:user", "u"),
        ("in:assistant in:tool", "abrm"),
        ("-in:tool", "ua"),
        ("in:title", ""),
        ("tool:Bash", "b"),
        ("tool:bash tool:read", "br"),
        ("-tool:bash", "uarm"),
        ("tool:linear", "m"),
        ("tool:create_issue", "m"),
        ("tool:create", ""),
        ("file:main.rs", "r"),
        ("file:.rs", "rm"),
        ("file:.pdf", "u"),
        ("file:.rs -tool:read", "m"),
    ] {
        let query = parsed(text);
        let seen: String =
            rows.iter().zip("uabrm".chars()).filter(|(row, _)| query.takes_row(row)).map(|(_, c)| c).collect();
        assert_eq!(seen, taken, "{text}");
    }
    assert_eq!(texts(&rows[4].body), ["", "mcp__linear__create_issue", "x/y.rs", "done"]);
}

fn session(id: &str, status: &str, labels: &[&str]) -> SessionMeta {
    let mut meta = SessionMeta::new(SessionId::parse(id).unwrap(), At(0), Mode::Ask, "/w".into());
    meta.status = status.into();
    meta.labels = owned(labels);
    meta
}

fn properties() -> Properties {
    let status = |id: &str, label: &str| Status {
        id: id.into(),
        label: label.into(),
        color: None,
        icon: None,
        category: Default::default(),
        order: 0,
        fixed: false,
        default: true,
    };
    let label = |id: &str, name: &str, children| Label {
        id: id.into(),
        name: name.into(),
        color: None,
        value_type: None,
        children,
        rules: Vec::new(),
    };
    let below = label("ui", "Screen", vec![label("mouse", "Mouse", vec![])]);
    Properties {
        statuses: vec![status("todo", "To Do"), status("in-progress", "In Progress")],
        default_status: "todo".into(),
        labels: vec![label("bug", "Bug", vec![below]), label("prio", "Priority", vec![])],
        ..Properties::default()
    }
}

#[test]
fn sessions_are_taken_by_status_and_label() {
    let sessions = [
        session("a", "todo", &[]),
        session("b", "in-progress", &["bug", "prio::3"]),
        session("c", "gone", &["mouse"]),
        session("d", "todo", &["prio::4", "loose"]),
    ];
    for (text, taken) in [
        ("", "abcd"),
        ("status:todo", "acd"),
        ("status:\"to do\"", "acd"),
        ("status:IN_PROGRESS", "b"),
        ("status:gone", "c"),
        ("-status:in-progress", "acd"),
        ("status:todo status:in-progress", "abcd"),
        ("label:bug", "bc"),
        ("label:screen", "c"),
        ("label:bug label:prio", "b"),
        ("-label:bug", "ad"),
        ("label:Priority::3", "b"),
        ("-label:prio::3", "acd"),
        ("label:loose", "d"),
        ("status:todo label:prio", "d"),
    ] {
        let scope = Scope::new(&parsed(text), &properties(), &sessions, At(0), &TimeZone::UTC).unwrap();
        let seen: Vec<&str> = sessions.iter().filter(|meta| scope.takes(meta)).map(|meta| meta.id.as_str()).collect();
        assert_eq!(seen.concat(), taken, "{text}");
    }
    for (text, part) in [("x status:don", "Available: todo, in-progress."), ("x label:bgu", "bug, ui, mouse, prio")] {
        let error = Scope::new(&parsed(text), &properties(), &sessions, At(0), &TimeZone::UTC).unwrap_err();
        assert_eq!(error.at, 2);
        assert!(error.text.contains(part), "{error}");
    }
    let scope =
        Scope::new(&parsed("after:1970-01-02 before:1970-01-03"), &properties(), &[], At(0), &TimeZone::UTC).unwrap();
    let day = 86_400_000;
    assert_eq!([day - 1, day, 2 * day - 1, 2 * day].map(|at| scope.takes_time(At(at))), [false, true, true, false]);
}

#[test]
fn marks_are_whole_characters_and_never_overlap() {
    for (query, line, marked) in [
        ("foo", "a Foo, FOO", &["Foo", "FOO"][..]),
        ("foo oob", "foobar", &["foob"]),
        ("strasse", "die Straße", &["Straße"]),
        ("cafe", "Cafe\u{301} und Café", &["Cafe\u{301}", "Café"]),
        ("字", "漢字字", &["字字"]),
        ("\"a b\"", "a\tb a  b", &["a\tb"]),
        ("-foo", "foo", &[]),
        ("file:main.rs -file:src x", "src/main.rs", &["main.rs"]),
    ] {
        let marks = parsed(query).marks(line);
        let texts: Vec<&str> = marks.iter().map(|(start, end)| &line[*start..*end]).collect();
        assert_eq!(texts, marked, "{query}");
    }
}

#[test]
fn an_id_is_meant_from_the_beginning_of_a_part() {
    for (query, meant) in [
        ("blithe", true),
        ("fox", true),
        ("261128-b", true),
        ("128", false),
        ("the", false),
        ("ox", false),
        ("-lit", false),
    ] {
        assert_eq!(parsed(query).begins_a_part_of("261128-blithe-fox"), meant, "{query}");
    }
    assert!(parsed("the").begins_a_part_of("lithe-the"));
}

proptest! {
    #[test]
    fn any_text_can_be_asked_and_quoted(text in "\\PC{0,30}", line in "\\PC{0,40}") {
        if let Ok(query) = Query::parse(&text) {
            let marks = query.marks(&line);
            prop_assert!(marks.windows(2).all(|two| two[0].1 < two[1].0));
            for (start, end) in marks {
                prop_assert!(start < end && line.get(start..end).is_some());
            }
        } else {
            let error = Query::parse(&text).unwrap_err();
            prop_assert!(text.is_char_boundary(error.at));
        }
        let quoted = Query::parse(&format!("\"{}\"", text.replace('\\', "/").replace('"', "\\\""))).unwrap();
        prop_assert_eq!(quoted.words.first().map(|word| word.folded.clone()).unwrap_or_default(), fold::fold(&text.replace('\\', "/")));
    }
}
