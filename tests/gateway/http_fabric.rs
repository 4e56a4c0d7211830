//! Fabric's endpoints of the gateway.

use crate::http::{Answer, Web, token};
use crate::place::Place;
use crate::support::model_server::Script;
use serde_json::{Value, json};

/// A client with a token, as Fabric's clients send it.
struct Fabric<'a> {
    web: &'a Web,
    token: String,
}

impl Fabric<'_> {
    #[track_caller]
    fn ask(&self, method: &str, path: &str, body: &str) -> Answer {
        self.web.ask(method, path, &[("X-API-Key", &self.token)], body)
    }

    /// What a `GET` answers.
    #[track_caller]
    fn get(&self, path: &str) -> Value {
        let answer = self.ask("GET", path, "");
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json()
    }

    #[track_caller]
    fn status(&self, method: &str, path: &str, body: &str) -> u16 {
        self.ask(method, path, body).status
    }
}

#[test]
fn contexts_and_patterns_are_listed_saved_renamed_and_deleted() {
    let place = Place::new([], "");
    let web = Web::serve(&place, &[]);
    let fabric = Fabric { web: &web, token: token(&place, &[]) };
    for (kind, text) in [("contexts", "Content"), ("patterns", "Pattern")] {
        let at = |rest: &str| format!("/{kind}/{rest}");
        assert_eq!(fabric.get(&at("names")), json!([]), "an empty list is one");
        assert_eq!(fabric.get(&at("exists/work")), json!(false));
        assert_eq!(fabric.status("GET", &at("work"), ""), 404);
        assert_eq!(fabric.status("POST", &at("work"), "Be brief, {{input}}."), 200);
        assert_eq!(fabric.get(&at("exists/work")), json!(true));
        let shown = fabric.get(&at("work"));
        assert_eq!((&shown["Name"], &shown[text]), (&json!("work"), &json!("Be brief, {{input}}.")));
        assert_eq!(fabric.status("PUT", &at("rename/work/other"), ""), 200);
        assert_eq!(fabric.get(&at("names")), json!(["other"]));
        assert_eq!(fabric.status("DELETE", &at("other"), ""), 200);
        assert_eq!(fabric.status("DELETE", &at("other"), ""), 404, "deleting what is not there is an error here");
        for (name, body, status) in [
            (".hidden", "text", 400),
            ("a%2Fb", "text", 400),
            ("..%2F..%2Fx", "text", 400),
            ("empty", " ", 400),
            ("long", &"x".repeat(300 * 1024), 413),
        ] {
            assert_eq!(fabric.status("POST", &at(name), body), status, "{name}");
        }
        assert_eq!(fabric.get(&at("names")), json!([]), "nothing was written");
    }
    let found: Vec<_> = walk(place.lisle_home().as_path());
    assert!(found.iter().all(|file| !file.ends_with(".hidden")), "{found:?}");
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.flat_map(|entry| if entry.path().is_dir() { walk(&entry.path()) } else { vec![entry.path()] }).collect()
}

#[test]
fn patterns_are_applied_and_strategies_and_models_are_told() {
    let place = Place::new([], "");
    let strategies = place.lisle_home().join("config/strategies");
    std::fs::create_dir_all(&strategies).unwrap();
    std::fs::write(strategies.join("cot.json"), r#"{"description": "step by step", "prompt": "Think."}"#).unwrap();
    let web = Web::serve(&place, &[]);
    let fabric = Fabric { web: &web, token: token(&place, &[]) };
    assert_eq!(fabric.status("POST", "/patterns/translate", "Into {{lang}} as {{tone}}:\n{{input}}"), 200);
    let applied = fabric.ask(
        "POST",
        "/patterns/translate/apply?lang=fr&tone=a%20friend",
        &json!({"input": "hello {{lang}}", "variables": {"lang": "de"}}).to_string(),
    );
    assert_eq!(applied.json()["Pattern"], "Into de as a friend:\nhello {{lang}}", "{}", applied.body);
    assert_eq!(fabric.status("POST", "/patterns/translate/apply", "{}"), 400, "a variable is missing");
    assert_eq!(fabric.get("/strategies"), json!([{"name": "cot", "description": "step by step", "prompt": "Think."}]));
    let models = fabric.get("/models/names");
    let vendor = models["vendors"].as_object().unwrap().values().find(|models| **models != json!([])).unwrap();
    assert!(models["models"].as_array().unwrap().contains(&vendor[0]), "{models}");
}

#[test]
fn a_session_is_saved_replaced_renamed_and_read() {
    let place = Place::new([], "");
    let web = Web::serve(&place, &[]);
    let fabric = Fabric { web: &web, token: token(&place, &[]) };
    assert_eq!(fabric.get("/sessions/names"), json!([]));
    assert_eq!(fabric.status("GET", "/sessions/notes", ""), 404, "an unknown session is not an empty one");
    let said = |text: &str| json!([{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}]);
    let saved = fabric.ask("POST", "/sessions/notes", &said("first").to_string());
    assert_eq!(saved.status, 200, "{}", saved.body);
    assert_eq!(fabric.get("/sessions/notes"), json!({"Name": "notes", "Messages": said("first")}));
    assert_eq!(fabric.status("POST", "/sessions/notes", &said("second").to_string()), 200);
    assert_eq!(fabric.get("/sessions/notes")["Messages"], said("second"));
    assert_eq!(fabric.get("/sessions/names"), json!(["notes"]));
    let trash = place.lisle(&["sessions", "trash", "--json"]);
    let trash: Value = serde_json::from_slice(&trash.stdout).unwrap();
    assert_eq!(trash.as_array().map(Vec::len), Some(1), "the old one is in the trash: {trash}");
    assert_eq!(fabric.status("PUT", "/sessions/rename/notes/diary", ""), 200);
    assert_eq!(fabric.get("/sessions/exists/diary"), json!(true));
    assert_eq!(fabric.get("/sessions/exists/notes"), json!(false));
    for (name, body, status) in [
        ("diary", "not json", 400),
        ("diary", "[]", 400),
        ("diary", r#"{"Messages": []}"#, 400),
        ("diary", r#"[{"role": "tool", "content": "x"}]"#, 400),
        (".x", r#"[{"role": "user", "content": "x"}]"#, 400),
    ] {
        assert_eq!(fabric.status("POST", &format!("/sessions/{name}"), body), status, "{name} {body}");
    }
    assert_eq!(fabric.get("/sessions/diary")["Messages"], said("second"), "nothing was replaced");
    assert_eq!(fabric.status("DELETE", "/sessions/diary", ""), 200);
    assert_eq!(fabric.get("/sessions/names"), json!([]));
    let left = std::fs::read_dir(place.lisle_home().join("state/gateway/saving")).unwrap().count();
    assert_eq!(left, 0, "no copy is left on the way");
}

#[test]
fn a_token_of_smaller_scope_changes_no_text_and_nobody_without_one_reads() {
    let place = Place::new([Script::says("Hello.")], "");
    let web = Web::serve(&place, &[]);
    let id = web.session(&place);
    let owner = Fabric { web: &web, token: token(&place, &[]) };
    assert_eq!(owner.status("POST", "/contexts/work", "text"), 200);
    let reader = Fabric { web: &web, token: token(&place, &["--name", "reader", "--scopes", "read"]) };
    let writer = Fabric { web: &web, token: token(&place, &["--name", "bot", "--scopes", "write"]) };
    let messages = reader.get(&format!("/sessions/{id}"))["Messages"].clone();
    assert_eq!(messages, json!([{"role": "user", "content": "hello"}, {"role": "assistant", "content": "Hello."}]));
    let list = r#"[{"role": "user", "content": "x"}]"#;
    for (client, method, path, body) in [
        (&writer, "POST", "/contexts/work".to_owned(), "other"),
        (&writer, "DELETE", "/contexts/work".to_owned(), ""),
        (&writer, "PUT", "/patterns/rename/a/b".to_owned(), ""),
        (&writer, "POST", "/sessions/mine".to_owned(), list),
        (&reader, "DELETE", format!("/sessions/{id}"), ""),
        (&reader, "PUT", format!("/sessions/rename/{id}/mine"), ""),
    ] {
        assert_eq!(client.status(method, &path, body), 403, "{method} {path}");
    }
    assert_eq!(owner.get("/contexts/work")["Content"], "text");
    for headers in [&[][..], &[("X-API-Key", "wrong")]] {
        assert_eq!(web.ask("GET", "/contexts/names", headers, "").status, 401);
    }
}

/// Frames of a chat's answer.
fn frames(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{}", answer.body);
    let data = answer.body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|json| serde_json::from_str(json).unwrap()).collect()
}

/// Texts of frames of one type, put together.
fn told(frames: &[Value], kind: &str) -> String {
    frames.iter().filter(|frame| frame["type"] == kind).filter_map(|frame| frame["content"].as_str()).collect()
}

#[test]
fn a_chat_has_no_tools_and_leaves_the_list_as_it_was() {
    let place = Place::new([Script::says("Hello **you**."), Script::says("Again."), Script::says("More.")], "");
    let web = Web::serve(&place, &[]);
    let fabric = Fabric { web: &web, token: token(&place, &[]) };
    assert_eq!(fabric.status("POST", "/patterns/greet", "Greet {{name}} politely."), 200);
    assert_eq!(fabric.status("POST", "/contexts/tone", "Speak like a sailor."), 200);
    let prompts = json!({"prompts": [
        {"userInput": "hi", "patternName": "greet", "contextName": "tone", "variables": {"name": "Ana"}},
        {"userInput": "hi", "patternName": "greet"},
        {"userInput": "hi", "patternName": "nothing"},
        {"userInput": "once more", "sessionName": "talk"},
    ], "temperature": 0.7, "language": "Latin"});
    let all = frames(&fabric.ask("POST", "/chat", &prompts.to_string()));
    let completes: Vec<usize> = (0..all.len()).filter(|at| all[*at]["type"] == "complete").collect();
    assert_eq!(completes.len(), 4, "one for each prompt: {all:?}");
    let of = |n: usize| &all[if n == 0 { 0 } else { completes[n - 1] + 1 }..completes[n]];
    assert_eq!(told(of(0), "content"), "Hello **you**.");
    assert!(told(of(1), "error").contains("missing variables: name"), "{:?}", of(1));
    assert!(told(of(2), "error").contains("nothing"), "{:?}", of(2));
    assert_eq!(told(of(3), "content"), "Again.");
    assert!(of(0).iter().any(|frame| frame["type"] == "usage" && frame["usage"]["total_tokens"].is_u64()));
    let asked = place.server.asked();
    let body = asked.first().unwrap().json();
    assert!(body.get("tools").is_none_or(|tools| tools == &json!([])), "{body}");
    let sent = body["messages"].to_string();
    for part in ["Greet Ana politely.", "Speak like a sailor.", "Latin", "without tools"] {
        assert!(sent.contains(part), "{part}: {sent}");
    }
    assert_eq!(fabric.get("/sessions/names"), json!(["talk"]), "the others are in the trash");
    // A named session goes on.
    let again = json!({"prompts": [{"userInput": "and now?", "sessionName": "talk"}]});
    assert_eq!(told(&frames(&fabric.ask("POST", "/chat", &again.to_string())), "content"), "More.");
    assert_eq!(fabric.get("/sessions/talk")["Messages"].as_array().map(Vec::len), Some(4));
    for body in [r#"{"prompts": []}"#, "{}", "x"] {
        assert_eq!(fabric.status("POST", "/chat", body), 400, "{body}");
    }
    let reader = Fabric { web: &web, token: token(&place, &["--name", "reader", "--scopes", "read"]) };
    assert_eq!(reader.status("POST", "/chat", &again.to_string()), 403);
}
