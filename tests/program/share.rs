//! Shares by the real binary: uploads to a loopback server, what they contain, and what is said where one fails.

use crate::headless::{Place, code, err, out};
use crate::support::model_server::{ModelServer, Script};
use serde_json::{Value, json};

const KEY: &str = "share-key-0123456789abcdef";

/// A home with one session, which names a key and a home path, and the server as its endpoint.
fn place(server: &ModelServer) -> (Place, String) {
    let place = Place::new();
    let said = format!("list /home/ann/notes with sk-{}", "a1b2c3d4e5f6a7b8");
    assert_eq!(code(&place.lisle(&["run", "--connection", "demo", &said])), Some(0));
    let session = place.session();
    let config = format!("[share]\nendpoint = \"http://{}/\"\nkey_env = \"SHARE_KEY\"\n", server.address());
    place.config(&config);
    (place, session)
}

fn lisle(place: &Place, args: &[&str]) -> std::process::Output {
    let done = place.command(args).env("SHARE_KEY", KEY).output().unwrap();
    assert!(!out(&done).contains(KEY) && !err(&done).contains(KEY), "the key is printed nowhere");
    done
}

fn made(id: &str) -> Script {
    Script::json(201, &json!({"id": id, "url": format!("https://share.example/s/{id}")}))
}

#[test]
fn a_conversation_is_uploaded_replaced_and_revoked() {
    let server = ModelServer::for_program([
        made("r1"),
        Script::json(200, &json!({})),
        Script::json(404, &json!({})),
        made("r2"),
    ]);
    let (place, session) = place(&server);
    let done = lisle(&place, &["share", &session, "--expires", "36h"]);
    assert_eq!((code(&done), out(&done).as_str()), (Some(0), "https://share.example/s/r1\n"), "{}", err(&done));
    assert!(err(&done).contains(" keys, ") && err(&done).contains(" home paths."), "{}", err(&done));
    // Again: the same address; where the server has it no more, a new one.
    assert_eq!(out(&lisle(&place, &["share", &session])), "https://share.example/s/r1\n");
    let again: Value = serde_json::from_str(&out(&lisle(&place, &["share", &session, "--json"]))).unwrap();
    assert_eq!(again["url"], "https://share.example/s/r2");
    let list: Value = serde_json::from_str(&out(&lisle(&place, &["share", "list", "--json"]))).unwrap();
    assert_eq!(list.as_array().unwrap().len(), 1, "{list}");
    assert_eq!((&list[0]["session"], &list[0]["url"]), (&json!(session), &json!("https://share.example/s/r2")));
    assert!(out(&lisle(&place, &["share", "list"])).contains("https://share.example/s/r2"));
    // An upload that its server does not remove stays listed.
    let id = list[0]["id"].as_str().unwrap();
    server.add(Script::json(500, &json!({"error": format!("no {KEY}")})));
    let refused = lisle(&place, &["share", "revoke", id]);
    assert!(code(&refused) == Some(1) && err(&refused).contains("is still shared"), "{}", err(&refused));
    server.add(Script::json(204, &json!({})));
    assert_eq!(code(&lisle(&place, &["share", "revoke", id])), Some(0));
    assert_eq!(out(&lisle(&place, &["share", "list"])), "");
    assert_eq!(code(&lisle(&place, &["share", "revoke", id])), Some(1));

    let asked = server.asked();
    let lines: Vec<String> = asked.iter().map(|one| format!("{} {}", one.method, one.path)).collect();
    let wanted =
        ["POST /s/api", "PUT /s/api/r1", "PUT /s/api/r1", "POST /s/api", "DELETE /s/api/r2", "DELETE /s/api/r2"];
    assert_eq!(lines, wanted);
    assert_eq!(asked[0].header("x-fabric-ttl-days"), Some("2"));
    assert!(asked.iter().all(|one| one.header("authorization") == Some(&format!("Bearer {KEY}"))));
    let body = asked[0].json();
    assert_eq!(body["id"], json!(session));
    let said = body["messages"][0]["content"].as_str().unwrap();
    assert!(said.contains("list ~/notes with sk-***"), "{said}");
    assert!(!asked[0].body.contains("/home/ann") && !asked[0].body.contains("a1b2c3d4e5f6a7b8"));
}

#[test]
fn what_goes_wrong_is_said_and_noted_nowhere() {
    for (script, says) in [
        (Script::json(413, &json!({})), "too large for http://127.0.0.1"),
        (Script::json(401, &json!({})), "refused access; share.key_env"),
        (Script::json(404, &json!({})), "no server for shares at"),
        (Script::json(503, &json!({"error": "later"})), "answered 503"),
        (Script::json(302, &json!({})).header("location", "http://127.0.0.1:1/"), "answered 302"),
        (made("../up"), "gave an unusable answer"),
        (Script::json(200, &json!({"id": "a", "url": "javascript:1"})), "gave an unusable answer"),
        (Script::html(), "gave an unusable answer"),
        (Script::death(), "can't reach http://127.0.0.1"),
    ] {
        let server = ModelServer::for_program([script]);
        let (place, session) = place(&server);
        let done = lisle(&place, &["share", &session]);
        assert_eq!((code(&done), out(&done).as_str()), (Some(1), ""), "{says}");
        assert!(err(&done).contains(says), "{says}: {}", err(&done));
        assert_eq!(out(&lisle(&place, &["share", "list"])), "", "{says}");
    }
}

#[test]
fn the_key_goes_to_the_configured_server_alone() {
    let server = ModelServer::for_program([made("r1"), Script::json(200, &json!({}))]);
    let (place, session) = place(&server);
    // Without its key nothing is sent.
    let done = place.lisle(&["share", &session]);
    assert!(code(&done) == Some(1) && err(&done).contains("the variable SHARE_KEY is not set"), "{}", err(&done));
    assert!(server.asked().is_empty());
    assert_eq!(code(&lisle(&place, &["share", &session])), Some(0));
    // Another server now: the old upload is revoked without the new one's key.
    place.config("[share]\nendpoint = \"http://127.0.0.1:9\"\nkey_env = \"SHARE_KEY\"\n");
    let list: Value = serde_json::from_str(&out(&lisle(&place, &["share", "list", "--json"]))).unwrap();
    assert_eq!(code(&lisle(&place, &["share", "revoke", list[0]["id"].as_str().unwrap()])), Some(0));
    assert_eq!(server.asked()[1].header("authorization"), None);
    place.config("[share]\nendpoint = \"https://me:word@share.example\"\n");
    let done = lisle(&place, &["share", &session]);
    assert!(code(&done) == Some(1) && err(&done).contains("without a password") && !err(&done).contains("word@"));
    place.config("[share]\nkey = \"abcdef\"\n");
    assert!(err(&lisle(&place, &["share", "list"])).contains("Name a variable with the key in `key_env`"));
}
