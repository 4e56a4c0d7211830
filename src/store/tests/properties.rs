//! Definitions of a workspace: read from another program's files, added to, and never lost.

use super::*;
use crate::domain::colour::{Colour, Rgb, System};
use crate::domain::expression::Expression;
use crate::domain::property::{Category, Definition, LabelValue, Properties, ValueType, split_label};
use crate::store::io::{Fault, Watched};
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};

fn expected() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/craft/expected-properties.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// A new workspace with these files.
fn with(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = folder();
    for (name, text) in files {
        let path = root.path().join("work").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    root
}

fn read(root: &Path, name: &str) -> String {
    std::fs::read_to_string(root.join("work").join(name)).unwrap()
}

fn problems(all: &Properties) -> Vec<String> {
    all.problems.iter().map(|one| one.text.clone()).collect()
}

fn label(name: &str, under: Option<&str>) -> Definition {
    Definition::Label { name: name.into(), under: under.map(str::to_owned), value_type: None }
}

fn status(name: &str) -> Definition {
    Definition::Status { name: name.into(), category: Category::Open }
}

fn view(name: &str, expression: &str) -> Definition {
    Definition::View { name: name.into(), expression: expression.into() }
}

#[test]
fn the_definitions_of_another_program_are_read_as_it_reads_them() {
    let root = copy_of("main");
    let all = store(root.path()).properties();
    let expected = expected();
    let statuses: Vec<Value> = all
        .statuses
        .iter()
        .map(|s| serde_json::json!([s.id, s.label, s.category.word(), s.fixed, s.default, s.order]))
        .collect();
    assert_eq!(Value::from(statuses), expected["statuses"]);
    assert_eq!(all.default_status, "todo");
    let colour = |id: &str| all.status(id).color;
    assert_eq!(colour("blocked-by-vendor"), Some(Colour::System(System::Destructive, 80)));
    assert_eq!(colour("done"), Some(Colour::System(System::Accent, 100)), "a known status has its usual colour");
    assert!(matches!(colour("won-t-fix"), Some(Colour::Own { light: Rgb(0x33, 0x41, 0x55), dark }) if dark.2 > dark.0));
    assert_eq!(all.status("blocked-by-vendor").icon.as_deref(), Some("🚧"));
    let tree: Vec<(usize, &str)> = all.walk().iter().map(|(depth, l)| (*depth, l.id.as_str())).collect();
    assert_eq!(tree[..5], [(0, "development"), (1, "code"), (2, "frontend"), (3, "react"), (4, "hooks-effects")]);
    assert_eq!(tree.len(), 19);
    let issue = all.label("issue").unwrap();
    assert_eq!((issue.value_type, issue.rules.len()), (Some(ValueType::String), 2));
    assert_eq!(issue.rules[1].value_template.as_deref(), Some("$1/$2#$3"));
    // The empty ids are Craft's; they are told and kept. So are the views that cannot be used.
    let told = problems(&all).join("\n");
    for part in [
        "statuses/config.json, line 67: The status \"阻塞\" has an empty id",
        "The label \"紧急\" has an empty id",
        "views.json, line 64: Ignored view \"Broken\"",
        "No field nosuchfield",
        "found a text",
    ] {
        assert!(told.contains(part), "{part}\n{told}");
    }
    assert_eq!(all.problems.len(), 5, "{told}");
}

#[test]
fn every_session_of_another_program_has_the_status_and_the_views_that_it_has_there() {
    let root = copy_of("main");
    let store = store(root.path());
    let all = store.properties();
    let expected = expected();
    let now = At(expected["now"].as_i64().unwrap());
    let unusable: Vec<&str> = expected["unusable"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    assert!(all.views.iter().all(|view| !unusable.contains(&view.id.as_str())));
    assert_eq!(all.views.len(), 9);
    let views: Vec<(&str, Expression)> =
        all.views.iter().map(|view| (view.id.as_str(), Expression::parse(&view.expression).unwrap())).collect();
    let mut seen = 0;
    for meta in store.list().sessions.iter().filter(|meta| expected["viewMatches"].get(meta.id.as_str()).is_some()) {
        let id = meta.id.as_str();
        assert_eq!(all.status(&meta.status).id, expected["sessionStatuses"][id], "{id}");
        let matching: Vec<&str> =
            views.iter().filter(|(_, view)| view.matches(meta, now).unwrap()).map(|(id, _)| *id).collect();
        assert_eq!(serde_json::json!(matching), expected["viewMatches"][id], "{id}");
        seen += 1;
    }
    assert_eq!(seen, 30);
}

#[test]
fn label_values_have_the_types_that_they_have_there() {
    for (entry, told) in expected()["labelValues"].as_object().unwrap() {
        let (id, value) = split_label(entry);
        assert_eq!(id, told[0], "{entry}");
        let (kind, read) = match value.map(LabelValue::of) {
            None => ("boolean", Value::Null),
            Some(LabelValue::Text(text)) => ("string", text.into()),
            Some(LabelValue::Number(number)) => ("number", number.into()),
            Some(LabelValue::Day(day)) => ("date", format!("{day}T00:00:00.000Z").into()),
            Some(LabelValue::Minute(at)) => ("date", at.strftime("%Y-%m-%dT%H:%M:00.000Z").to_string().into()),
        };
        assert_eq!(kind, told[1], "{entry}");
        match told[3].as_f64() {
            Some(number) => assert_eq!(read.as_f64(), Some(number), "{entry}"),
            None => assert_eq!(read, told[3], "{entry}"),
        }
    }
}

#[test]
fn without_files_there_is_what_is_built_in_and_nothing_is_written() {
    let root = folder();
    assert_eq!(store(root.path()).properties(), Properties::builtin());
    assert!(!root.path().join("work").exists());
}

#[test]
fn the_second_place_is_looked_at_and_added_to() {
    let statuses = r#"[{"id":"todo","isFixed":true},{"id":"done","isFixed":true,"category":"closed"},
        {"id":"cancelled","isFixed":true,"category":"closed"},{"id":"stuck","label":"Stuck"}]"#;
    let root = with(&[("statuses.json", statuses), ("labels.json", r#"{"labels":[{"id":"a","name":"A"}]}"#)]);
    let store = store(root.path());
    let all = store.properties();
    assert_eq!(problems(&all), Vec::<String>::new());
    assert_eq!((all.statuses.len(), all.status("stuck").label.as_str(), all.labels.len()), (4, "Stuck", 1));
    store.define(&label("B", Some("a"))).unwrap();
    store.define(&status("Parked")).unwrap();
    assert_eq!(
        read(root.path(), "labels.json"),
        r#"{"labels":[{"id":"a","name":"A", "children": [{"id":"b","name":"B"}]}]}"#
    );
    assert!(read(root.path(), "statuses.json").starts_with(r#"[{"id":"todo","isFixed":true},{"id":"done""#));
    assert!(!root.path().join("work/statuses").exists());
    let all = store.properties();
    assert_eq!((all.statuses.len(), all.status("parked").order, all.label("b").is_some()), (5, 4, true));
    assert_eq!(problems(&all), Vec::<String>::new());
}

#[test]
fn a_broken_file_is_told_with_its_line_and_never_touched() {
    for (name, text, told, definition) in [
        ("labels/config.json", "{\n  \"labels\": [\n    {\"id\": \"a\",}\n  ]\n}", "line 3", label("X", None)),
        ("labels/config.json", "", "line 1", label("X", None)),
        ("labels.json", "{\"labels\": [", "line 1", label("X", None)),
        (
            "labels/config.json",
            "\n\n{\"version\": 1,\n \"labels\": {\"a\": 1}}",
            "line 4: \"labels\" is not a list",
            label("X", None),
        ),
        ("statuses/config.json", "\"todo\"", "not an object", status("X")),
        ("statuses/config.json", "null", "not an object", status("X")),
        ("views.json", "{\"views\": [}", "line 1", view("X", "hasUnread")),
        ("views.json", "{} trailing", "line 1", view("X", "hasUnread")),
    ] {
        let root = with(&[(name, text)]);
        let store = store(root.path());
        let all = store.properties();
        let says = problems(&all).join("\n");
        assert!(says.contains(name) && says.contains(told), "{text}: {says}");
        assert!(!all.problems[0].hint.is_empty());
        assert_eq!(Properties { problems: Vec::new(), ..all }, Properties::builtin(), "{text}");
        let error = store.define(&definition).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("unchanged"), "{error}");
        assert_eq!(read(root.path(), name), text);
    }
    let root = with(&[]);
    std::fs::create_dir_all(root.path().join("work")).unwrap();
    std::fs::write(root.path().join("work/views.json"), b"{\n\"views\": \xff}").unwrap();
    let store = store(root.path());
    assert!(problems(&store.properties())[0].contains("line 2: not UTF-8"));
    assert!(store.define(&view("X", "hasUnread")).is_err());
}

#[test]
fn a_bad_entry_is_told_and_the_others_are_used() {
    let statuses = r##"{"statuses": [
 {"id": "todo", "isFixed": true, "color": "redish"},
 {"id": "done", "category": "shut", "isFixed": false},
 7,
 {"label": "No id"},
 {"id": "todo", "label": "Again"},
 {"id": "last", "label": 5, "order": -1}
], "defaultStatusId": "nowhere"}"##;
    let labels = r##"{"labels": [
 {"id": "a", "valueType": "colour", "children": [{"id": "b", "children": [{"id": "c", "children": [{"id": "d",
  "children": [{"id": "e", "children": [{"id": "f"}]}]}]}]}]},
 {"id": "a"},
 {"id": "g", "color": {"dark": "#fff"}, "autoRules": [{"flags": "i"}, {"pattern": "x"}], "children": 3}
]}"##;
    let views = r#"{"views": [
 {"id": "v1", "name": "One", "expression": "hasUnread"},
 {"id": "v2", "expression": "hasUnread ="},
 {"id": "v3", "name": "Three"}
]}"#;
    let root = with(&[("statuses/config.json", statuses), ("labels/config.json", labels), ("views.json", views)]);
    let all = store(root.path()).properties();
    let ids: Vec<&str> = all.statuses.iter().map(|s| s.id.as_str()).collect();
    assert_eq!(ids, ["last", "todo", "done", "cancelled"]);
    assert_eq!((all.status("last").label.as_str(), all.status("done").fixed), ("last", true));
    assert_eq!(all.default_status, "todo");
    let ids: Vec<&str> = all.walk().iter().map(|(_, l)| l.id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c", "d", "e", "g"]);
    assert_eq!(all.label("g").unwrap().rules.len(), 1);
    assert_eq!(
        all.label("g").unwrap().color,
        Some(Colour::Own { light: Rgb(255, 255, 255), dark: Rgb(255, 255, 255) })
    );
    assert_eq!(all.views.iter().map(|v| v.id.as_str()).collect::<Vec<_>>(), ["v1"]);
    let told = problems(&all);
    for part in [
        "line 2: Ignored the color",
        "line 3: Unknown category \"shut\"",
        "line 3: The status \"done\" is not fixed",
        "line 4: Not a status",
        "line 5: Ignored a status without an id",
        "line 6: Duplicate status \"todo\"",
        "line 7: Ignored \"label\"",
        "Missing status cancelled",
        "Unknown default status \"nowhere\"",
        "labels/config.json, line 2: Unknown type \"colour\"",
        "line 3: Labels nest 5 levels deep",
        "line 4: Duplicate label \"a\"",
        "line 5: Ignored a rule without a \"pattern\"",
        "line 5: The label's \"children\"",
        "line 3: Ignored view \"v2\": Use == to compare. (at byte 10)",
        "line 4: Ignored view \"Three\"",
    ] {
        assert!(told.iter().any(|one| one.contains(part)), "{part}\n{told:#?}");
    }
    assert_eq!(told.len(), 16, "{told:#?}");
}

#[test]
fn an_addition_leaves_every_other_byte_as_it_was() {
    let root = copy_of("main");
    let store = store(root.path());
    for (name, definition, id) in [
        ("labels/config.json", label("Flaky  test", None), "flaky-test"),
        ("labels/config.json", label("重要", Some("react")), "label-1"),
        ("labels/config.json", label("Bug", Some("estimate")), "bug-2"),
        ("statuses/config.json", status("Waiting — 待ち"), "waiting"),
        ("statuses/config.json", status("待ち"), "status-1"),
        ("views.json", view("Mine", "isFlagged == true"), "view-mine"),
    ] {
        let before = read(root.path(), name);
        store.define(&definition).unwrap();
        let after = read(root.path(), name);
        let same = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
        let rest = before.bytes().rev().zip(after.bytes().rev()).take_while(|(a, b)| a == b).count();
        assert!(same + rest >= before.len(), "{definition:?} changed more than it added:\n{after}");
        assert!(after.contains(&format!("\"id\": \"{id}\"")), "{after}");
        // The file is written as the other program would write it.
        let value: Value = serde_json::from_str(&after).unwrap();
        assert_eq!(after, format!("{value:#}"), "{name}");
    }
    let all = store.properties();
    assert_eq!(all.problems.len(), 5, "{:?}", problems(&all));
    assert_eq!(all.under("react"), ["react", "hooks-effects", "label-1"]);
    assert_eq!((all.status("waiting").order, all.status("status-1").label.as_str()), (9, "待ち"));
    assert_eq!(all.view("mine").unwrap().expression, "isFlagged == true");
}

#[test]
fn unknown_keys_and_odd_spacing_survive_an_addition() {
    let text = "\u{feff}{ \"x\": 12345678901234567890123,\r\n\t\"labels\" :[\r\n\t\t{ \"id\":\"a\" , \"new\": [1.0] , \"children\":null},\r\n\t\t{\"id\":\"b\", \"children\": []}\r\n\t] , \"y\":{\"z\":\"\\ud83d\"}}\r\n";
    let root = with(&[("labels/config.json", text)]);
    let store = store(root.path());
    store.define(&label("Below", Some("b"))).unwrap();
    store.define(&label("Other", Some("a"))).unwrap();
    store.define(&label("Top", None)).unwrap();
    let after = read(root.path(), "labels/config.json");
    for part in
        ["{ \"x\": 12345678901234567890123,\r\n", "\"new\": [1.0] ,", "\"y\":{\"z\":\"\\ud83d\"}}\r\n", "\u{feff}"]
    {
        assert!(after.contains(part), "{part}: {after}");
    }
    let all = store.properties();
    let ids: Vec<&str> = all.walk().iter().map(|(_, l)| l.id.as_str()).collect();
    assert_eq!(ids, ["a", "other", "b", "below", "top"], "{after}");
    assert_eq!(problems(&all), Vec::<String>::new());
}

#[test]
fn the_first_addition_makes_the_file_with_what_is_built_in() {
    let root = folder();
    let store = store(root.path());
    let before = store.properties_stamp();
    store.define(&status("Blocked")).unwrap();
    assert_ne!(store.properties_stamp(), before);
    store.define(&label("Bug", None)).unwrap();
    store.define(&Definition::Label { name: "Due".into(), under: None, value_type: Some(ValueType::Date) }).unwrap();
    store.define(&view("Busy", "messageCount > 100")).unwrap();
    store.define(&view("busy", "messageCount > 200")).unwrap();
    let all = store.properties();
    let builtin = Properties::builtin();
    assert_eq!(all.statuses[..5], builtin.statuses);
    assert_eq!((all.statuses[5].id.as_str(), all.statuses[5].order, all.statuses.len()), ("blocked", 5, 6));
    assert_eq!(all.views[..4], builtin.views);
    assert_eq!((all.views[4].id.as_str(), all.views[4].expression.as_str()), ("view-busy", "messageCount > 200"));
    assert_eq!(all.label("due").unwrap().value_type, Some(ValueType::Date));
    assert_eq!(problems(&all), Vec::<String>::new());
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(root.path().join("work/labels/config.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let names: Vec<_> =
        std::fs::read_dir(root.path().join("work/labels")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["config.json"]);
}

#[test]
fn what_cannot_be_added_says_why_and_changes_nothing() {
    let root = copy_of("main");
    let store = store(root.path());
    for (definition, why) in [
        (label("  ", None), "empty name"),
        (label("development", None), "a label named \"development\" already exists"),
        (label("CODE", Some("development")), "already"),
        (label("New", Some("nowhere")), "no label \"nowhere\""),
        (label("Deep", Some("hooks-effects")), "5 levels"),
        (status("todo"), "already"),
        (view("Odd", "messageCount > \"1\""), "invalid condition: > expects a number"),
        (view("", "hasUnread"), "empty name"),
    ] {
        let files = ["labels/config.json", "statuses/config.json", "views.json"];
        let before = files.map(|name| read(root.path(), name));
        let error = store.define(&definition).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        assert_eq!(files.map(|name| read(root.path(), name)), before);
    }
}

#[test]
fn an_addition_that_fails_anywhere_leaves_the_old_file_or_the_new_one() {
    let count = Arc::new(Watched::new(Arc::new(Disk), Fault::None));
    let root = copy_of("main");
    let old = read(root.path(), "labels/config.json");
    store_with(root.path(), count.clone()).define(&label("New", Some("bug"))).unwrap();
    let new = read(root.path(), "labels/config.json");
    assert_ne!(old, new);
    let (mut kept, mut replaced) = (0, 0);
    for at in 1..=count.calls() {
        for fault in [Fault::DieBefore(at), Fault::DieAmid(at), Fault::Fail { at, times: 1, errno: 28 }] {
            let root = copy_of("main");
            // Opening makes calls of its own, which are not in question here.
            let options = Options {
                io: Arc::new(Watched::new(Arc::new(Disk), fault)),
                ..Options::new(root.path().join("work"), root.path().join("state"))
            };
            let Ok(store) = Store::open(options) else { continue };
            let done = store.define(&label("New", Some("bug")));
            let now = read(root.path(), "labels/config.json");
            assert!(now == old || now == new, "{fault:?}: {now}");
            assert!(done.is_err() || now == new, "{fault:?}: said to be done");
            if now == old { kept += 1 } else { replaced += 1 }
        }
    }
    assert!(kept > 5 && replaced > 0, "{kept} {replaced}");
}

#[test]
fn what_another_program_added_meanwhile_is_kept() {
    for (times, kept) in [(1, true), (1_000, false)] {
        let root = with(&[("labels/config.json", r#"{"labels":[{"id":"mine","name":"Mine"}]}"#)]);
        let path = root.path().join("work/labels/config.json");
        let left = AtomicU64::new(times);
        // The directory is asked for after the file was read.
        let hook = move |call: &str| {
            let now = call == "mkdir"
                && left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
            if now {
                let theirs = path.with_extension("theirs");
                std::fs::write(&theirs, r#"{"labels":[{"id":"theirs","name":"Theirs"}]}"#)?;
                std::fs::rename(theirs, &path)?;
            }
            Ok(())
        };
        let store = store_with(root.path(), Arc::new(Hooked(hook)));
        let done = store.define(&label("New", None));
        let text = read(root.path(), "labels/config.json");
        assert!(text.contains("theirs"), "{text}");
        assert_eq!((done.is_ok(), text.contains("\"new\"")), (kept, kept), "{done:?} {text}");
    }
}
