//! Lists as text and as JSON.

use super::*;
use std::path::Path;

const NOW: At = At(1_000_000_000);

fn list(stores: &[(&str, Value)]) -> RouteList {
    let mut list = RouteList::default();
    for (agent, rows) in stores {
        let rows: Vec<(String, StoredRow)> =
            rows.as_object().unwrap().iter().map(|(key, row)| (key.clone(), StoredRow::read(row.clone()))).collect();
        let path = Path::new("/s").join(agent);
        let rows = rows.iter().map(|(key, row)| (key.as_str(), row.clone()));
        list.add(&AgentId::parse(agent).unwrap(), path, &KeyNames::default(), rows);
    }
    list
}

#[test]
fn tokens_of_the_window_are_known_or_marked() {
    for (row, cell) in [
        (json!({}), "-"),
        (json!({"contextTokens": 32_000}), "unknown/32k (?%)"),
        (json!({"totalTokens": 950}), "950/? (?%)"),
        (json!({"totalTokens": 1_234, "contextTokens": 200_000}), "1.2k/200k (1%)"),
        (json!({"totalTokens": 3_000, "contextTokens": 200_000}), "3.0k/200k (2%)"),
        (json!({"totalTokens": 900_000, "contextTokens": 100}), "900k/100 (999%)"),
        (json!({"totalTokens": 5, "totalTokensFresh": false, "contextTokens": 100}), "unknown/100 (?%)"),
        (json!({"totalTokens": 5, "contextTokens": 0}), "5/? (?%)"),
    ] {
        let mut row = row;
        row["sessionId"] = "s".into();
        let list = list(&[("main", json!({"k": row}))]);
        assert_eq!(list.routes[0].tokens(), cell, "{row}");
    }
}

#[test]
fn runs_are_left_out_damaged_rows_are_named_and_text_of_others_is_harmless() {
    let list = list(&[(
        "main",
        json!({
            "agent:main:cron:job": {"sessionId": "a"},
            "agent:main:cron:job:run:b": {"sessionId": "b"},
            "agent:main:x\u{1b}[31m": {"sessionId": "c", "model": "m\u{7}"},
            "broken": {"updatedAt": 5},
        }),
    )]);
    let keys: Vec<&str> = list.routes.iter().map(|route| route.key.as_str()).collect();
    assert_eq!(keys, ["agent:main:cron:job", "agent:main:x\u{1b}[31m"]);
    assert_eq!(list.damaged, ["broken"]);
    assert!(list.lines(NOW).iter().all(|line| !line.contains(char::is_control)), "{:?}", list.lines(NOW));
}

#[test]
fn several_stores_are_one_list_with_a_column_for_the_agent() {
    let row = |id: &str, at: i64| json!({"sessionId": id, "updatedAt": at});
    let list = list(&[
        ("main", json!({"agent:main:main": row("a", 5), "global": row("g", 1)})),
        ("work", json!({"agent:work:telegram:group:-5": row("b", 7)})),
    ]);
    let json = list.json(At(10));
    assert_eq!((&json["path"], &json["allAgents"], &json["count"]), (&Value::Null, &true.into(), &3.into()));
    assert_eq!(json["stores"][1], json!({"agentId": "work", "path": "/s/work"}));
    let kinds: Vec<&str> =
        json["sessions"].as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["group", "direct", "global"]);
    let lines = list.lines(At(10));
    assert_eq!(lines[0], "Session stores: 2 (main, work)");
    assert!(lines[2].starts_with("Agent      Kind   Key "), "{}", lines[2]);
    assert!(lines[3].starts_with("work       group  agent:work:teleg...oup:-5 "), "{}", lines[3]);
    let none = RouteList { stores: vec![(AgentId::default(), "/s".into())], ..RouteList::default() };
    assert_eq!(none.lines(NOW), ["Session store: /s", "Sessions listed: 0", "No sessions found."]);
}
