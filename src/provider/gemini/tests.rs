//! Recorded shapes of streams, cut everywhere; odd ones; the request body with what is given back; schemas; addresses.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends where it fails"
)]

use super::schema::subset;
use super::*;
use crate::domain::ids::CallId;
use crate::domain::message::Native;
use crate::domain::session::ThinkingLevel;
use crate::domain::tool::ToolSpec;
use crate::provider::fault::Peer;
use crate::provider::response_stream::{Broken, Mapping, say};
use crate::provider::sse::{Event, SseReader};
use crate::provider::{CallResult, Chunk, ConversationItem, ProposedCall, Reply, Stop};
use serde_json::json;

const HOST: &str = "api.test";
const MODEL: &str = "gemini-3-pro-preview";

/// Content of a stream.
#[derive(Clone, Debug, Default, PartialEq)]
struct Heard {
    started: Option<String>,
    text: String,
    thinking: String,
    begun: Vec<String>,
    calls: Vec<(String, String, Value)>,
    native: Option<Native>,
    usage: Option<(u64, u64, u64)>,
    stop: Option<Stop>,
}

fn heard(chunks: Vec<Chunk>) -> Heard {
    let mut out = Heard::default();
    for chunk in chunks {
        assert!(out.stop.is_none(), "nothing follows the end");
        match chunk {
            Chunk::Waiting(_) => panic!("a wire never waits"),
            Chunk::Started(id) => out.started = id,
            Chunk::Text(text) => out.text.push_str(&text),
            Chunk::Thinking(text) => out.thinking.push_str(&text),
            Chunk::CallBegun(name) => out.begun.push(name),
            Chunk::Call(call) => out.calls.push((call.id.as_str().to_owned(), call.name, call.input)),
            Chunk::Native(native) => {
                assert_eq!(native.wire, WIRE);
                assert!(out.native.replace(native).is_none(), "one group of blocks");
            }
            Chunk::Usage(usage) => out.usage = Some((usage.input, usage.output, usage.cache_read)),
            Chunk::Stopped(stop) => out.stop = Some(stop),
        }
    }
    out
}

fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Event> {
    let mut reader = SseReader::default();
    let mut events = Vec::new();
    for piece in pieces {
        reader.push(piece, &mut events).unwrap();
    }
    events.extend(reader.finish());
    events
}

fn hear(events: &[Event]) -> Result<Vec<Chunk>, Broken> {
    let mut mapper = GeminiEvents::new(HOST, MODEL);
    let mut out = Vec::new();
    for event in events {
        out.extend(mapper.event(event)?);
    }
    out.extend(Mapping::end(&mut mapper)?);
    Ok(out)
}

fn recorded(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/streams/gemini/{name}.sse", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn call_of(id: &str, name: &str, input: Value) -> (String, String, Value) {
    (id.to_owned(), name.to_owned(), input)
}

#[test]
fn recorded_streams_wherever_they_are_cut() {
    let text = |text: &str, stop: Stop| Heard { text: text.into(), stop: Some(stop), ..Heard::default() };
    let table = [
        ("text", Heard { usage: Some((2048, 45, 1024)), ..text("Grüße 🌊!", Stop::Done) }, false),
        (
            "thoughts-calls",
            Heard {
                thinking: "**Looking**\n\nTwo files.".into(),
                begun: vec!["read".into(), "list".into()],
                usage: Some((82, 149, 0)),
                calls: vec![
                    call_of("r2-0", "read", json!({"path": "aü.txt", "line": 1})),
                    call_of("r2-1", "list", json!({})),
                ],
                ..text("I look at both.", Stop::Calls)
            },
            true,
        ),
        (
            "ids",
            Heard {
                begun: vec!["bash".into()],
                usage: Some((8, 2, 0)),
                calls: vec![call_of("fc-abc", "bash", json!({"command": "ls"}))],
                ..text("", Stop::Calls)
            },
            true,
        ),
        ("length", Heard { usage: Some((8, 2, 0)), ..text("Half", Stop::Length) }, false),
        ("safety", Heard { usage: Some((10, 0, 0)), ..text("Well", Stop::Filtered) }, false),
        ("blocked", Heard { usage: Some((9, 0, 0)), ..text("", Stop::Filtered) }, false),
    ];
    let mut files = 0;
    for (name, expected, replayed) in table {
        let bytes = recorded(name);
        let events = read([bytes.as_slice()]);
        let got = heard(hear(&events).unwrap());
        assert!(got.started.is_some(), "{name}");
        assert_eq!(got.native.is_some(), replayed, "{name}");
        let expected = Heard { started: got.started.clone(), native: got.native.clone(), ..expected };
        assert_eq!(got, expected, "{name}");
        assert_eq!(read(bytes.chunks(1)), events, "{name} byte by byte");
        for cut in 0..bytes.len() {
            let (head, tail) = bytes.split_at(cut);
            assert_eq!(read([head, tail]), events, "{name} cut at {cut}");
        }
        files += 1;
    }
    let dir = std::fs::read_dir(format!("{}/tests/streams/gemini", env!("CARGO_MANIFEST_DIR"))).unwrap();
    assert_eq!(dir.count(), files);
}

#[test]
fn a_stream_that_ends_early_is_broken_wherever_it_ends() {
    let bytes = recorded("thoughts-calls");
    let at = String::from_utf8(bytes.clone()).unwrap().rfind("data: ").unwrap();
    for cut in 0..bytes.len() - 3 {
        let result = hear(&read([&bytes[..cut]]));
        assert!(matches!(result, Err(Broken::Short | Broken::Garbled(_))), "cut at {cut} of {at}: {result:?}");
    }
}

fn events(list: &[Value]) -> Result<Heard, Broken> {
    let list: Vec<Event> = list.iter().map(|value| Event { name: String::new(), data: value.to_string() }).collect();
    hear(&list).map(heard)
}

fn one(part: Value, finish: &str) -> Value {
    json!({"candidates": [{"content": {"parts": [part]}, "finishReason": finish, "finishMessage": "why"}]})
}

#[test]
fn ends_and_odd_shapes() {
    let text = || json!({"text": "x"});
    for (reason, stop) in [
        ("STOP", Stop::Done),
        ("MAX_TOKENS", Stop::Length),
        ("RECITATION", Stop::Filtered),
        ("SPII", Stop::Filtered),
        ("BLOCKLIST", Stop::Filtered),
        ("OTHER", Stop::Other("OTHER".into())),
    ] {
        assert_eq!(events(&[one(text(), reason)]).unwrap().stop, Some(stop), "{reason}");
    }
    // Another try may go well.
    for reason in ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MISSING_THOUGHT_SIGNATURE"] {
        let error = say(&Peer::default(), events(&[one(text(), reason)]).unwrap_err());
        assert_eq!((error.code, error.retry), ("service_error", true), "{reason}");
        assert!(error.text.contains("why"), "{}", error.text);
    }
    // Old models gave the reason in every event.
    let got = events(&[one(json!({"text": "a"}), "STOP"), one(json!({"text": "b"}), "STOP")]).unwrap();
    assert_eq!((got.text.as_str(), got.native), ("ab", None));
    // Inputs however they come; without an id of the response the ids are made up and differ.
    for (args, input) in
        [(json!("{\"a\":1}"), json!({"a": 1})), (Value::Null, json!({})), (json!([1]), json!({"_raw": "[1]"}))]
    {
        let got = events(&[one(json!({"functionCall": {"name": "read", "args": args}}), "STOP")]).unwrap();
        assert_eq!(got.calls[0].2, input);
        assert!(!got.calls[0].0.is_empty());
    }
    let twice = json!({"functionCall": {"id": "x", "name": "read"}});
    let got = events(&[one(twice.clone(), "STOP"), one(twice, "STOP")]).unwrap();
    assert_ne!(got.calls[0].0, got.calls[1].0);
    // Neither candidates nor a reason.
    assert_eq!(events(&[json!({"usageMetadata": {"promptTokenCount": 1}})]), Err(Broken::Short));
    assert!(matches!(hear(&[Event { name: String::new(), data: "{oops".into() }]), Err(Broken::Garbled(_))));
    let whole = GeminiEvents::new(HOST, MODEL).whole(&json!([one(json!({"text": "a"}), "STOP")])).unwrap().unwrap();
    assert_eq!(heard(whole).text, "a");
    assert_eq!(GeminiEvents::new(HOST, MODEL).whole(&json!({"hello": 1})), Ok(None));
}

#[test]
fn failures_in_the_stream() {
    let table = [
        (
            json!({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}),
            "service_unavailable",
            true,
        ),
        (json!([{"error": {"code": 429, "message": "x", "status": "RESOURCE_EXHAUSTED"}}]), "rate_limited", true),
        (
            json!({"error": {"code": 500, "message": "An internal error has occurred.", "status": "INTERNAL"}}),
            "service_error",
            true,
        ),
    ];
    for (event, code, retry) in table {
        let error = say(&Peer::default(), events(std::slice::from_ref(&event)).unwrap_err());
        assert_eq!((error.code, error.retry), (code, retry), "{event}");
    }
}

fn request(items: Vec<ConversationItem>) -> ModelRequest {
    ModelRequest { model: MODEL.into(), system: String::new(), items, tools: vec![], thinking: ThinkingLevel::Medium }
}

fn body(request: &ModelRequest) -> Value {
    wire::body(request, &GeminiOptions::default(), HOST, None)
}

fn call(id: &str, input: Value) -> ProposedCall {
    ProposedCall { id: CallId::new(id), name: "read".into(), input }
}

fn result(id: &str, text: &str, failed: bool) -> CallResult {
    CallResult { id: CallId::new(id), text: text.into(), failed, media: Vec::new() }
}

#[test]
fn the_body_of_a_request() {
    let reply = Reply {
        text: "I look.".into(),
        calls: vec![call("c1", json!({"path": "a"})), call("c2", json!("odd"))],
        native: vec![],
    };
    let mut asked = request(vec![
        ConversationItem::User("one".into()),
        ConversationItem::User(" ".into()),
        ConversationItem::Assistant(reply),
        ConversationItem::Results(vec![result("c1", "A", false), result("c2", "", true)]),
    ]);
    asked.system = "be kind".into();
    let tool = |schema| ToolSpec { name: "read".into(), description: "reads".into(), schema };
    asked.tools = vec![
        tool(json!({"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": false})),
        tool(json!({"type": "object", "properties": {}})),
    ];
    let extra = json!({"safetySettings": [], "generationConfig": null});
    assert_eq!(
        wire::body(&asked, &GeminiOptions::default(), HOST, Some(&extra)),
        json!({
            "systemInstruction": {"parts": [{"text": "be kind"}]},
            "contents": [
                {"role": "user", "parts": [{"text": "one"}]},
                {"role": "model", "parts": [
                    {"text": "I look."},
                    {"functionCall": {"name": "read", "args": {"path": "a"}}, "thoughtSignature": "skip_thought_signature_validator"},
                    {"functionCall": {"name": "read", "args": {}}},
                ]},
                {"role": "user", "parts": [
                    {"functionResponse": {"name": "read", "response": {"output": "A"}}},
                    {"functionResponse": {"name": "read", "response": {"error": "(no output)"}}},
                ]},
            ],
            "tools": [{"functionDeclarations": [
                {"name": "read", "description": "reads", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}},
                {"name": "read", "description": "reads"},
            ]}],
            "safetySettings": [],
        })
    );
    asked.model = "gemini-2.5-flash".into();
    assert!(!body(&asked).to_string().contains("thoughtSignature"));
}

#[test]
fn thinking_by_level_and_model() {
    use ThinkingLevel::{High, Low, Max, Medium, Off, Xhigh};
    let (only, nothing) = (json!({"includeThoughts": true}), Value::Null);
    let budget = |tokens: u64| json!({"includeThoughts": true, "thinkingBudget": tokens});
    let level = |word: &str| json!({"includeThoughts": true, "thinkingLevel": word});
    let table = [
        ("gemini-2.5-pro", Off, 0, budget(128)),
        ("gemini-2.5-pro", Max, 0, budget(32_000)),
        ("gemini-2.5-flash", Off, 0, budget(0)),
        ("gemini-2.5-flash", Low, 0, budget(4_000)),
        ("gemini-2.5-flash", Medium, 0, only.clone()),
        ("gemini-2.5-flash", High, 0, budget(20_000)),
        ("models/gemini-2.5-flash-lite", Xhigh, 0, budget(24_576)),
        ("gemini-2.5-flash", High, 1, only.clone()),
        ("gemini-2.5-flash", High, 2, nothing.clone()),
        ("gemini-3-pro-preview", Off, 0, level("minimal")),
        ("gemini-3-pro-preview", Off, 1, level("low")),
        ("gemini-flash-latest", Max, 0, level("high")),
        ("gemini-3-pro-preview", Medium, 0, only),
        ("gemini-2.0-flash", High, 0, nothing.clone()),
        ("gemma-3-27b-it", High, 0, nothing),
    ];
    for (model, thinking, way, expected) in table {
        let asked = ModelRequest { model: model.into(), thinking, ..request(vec![ConversationItem::User("x".into())]) };
        let body = wire::body(&asked, &GeminiOptions { thinking: way, ..GeminiOptions::default() }, HOST, None);
        let got = body.pointer("/generationConfig/thinkingConfig").cloned().unwrap_or_default();
        assert_eq!(got, expected, "{model} {thinking:?} {way}");
    }
}

/// The reply that a recorded stream leads to, as it comes back with the next request.
fn reply_of(name: &str) -> (Reply, Vec<CallResult>) {
    let got = heard(hear(&read([recorded(name).as_slice()])).unwrap());
    let call = |(id, name, input): (String, String, Value)| ProposedCall { id: CallId::new(id), name, input };
    let calls: Vec<ProposedCall> = got.calls.into_iter().map(call).collect();
    let results = calls.iter().map(|call| result(call.id.as_str(), "ok", false)).collect();
    (Reply { text: got.text, calls, native: got.native.into_iter().collect() }, results)
}

#[test]
fn signatures_are_given_back_byte_for_byte() {
    let parts = |name: &str| {
        let (reply, results) = reply_of(name);
        let sent = body(&request(vec![ConversationItem::Assistant(reply), ConversationItem::Results(results)]));
        (sent["contents"][0]["parts"].clone(), sent["contents"][1]["parts"].clone())
    };
    let (model, user) = parts("thoughts-calls");
    assert_eq!(
        model,
        json!([
            {"text": "I look at both."},
            {"functionCall": {"name": "read", "args": {"path": "aü.txt", "line": 1}}, "thoughtSignature": "CiQB0e2Kb/+x=="},
            {"functionCall": {"name": "list", "args": {}}},
            {"text": ""},
        ])
    );
    let stream = String::from_utf8(recorded("thoughts-calls")).unwrap();
    assert!(stream.contains(&model[1].to_string()), "as the server wrote it, to the byte");
    assert!(user[0]["functionResponse"].get("id").is_none(), "no id where the server gave none");
    let (model, user) = parts("ids");
    assert_eq!(model[0]["functionCall"]["id"], "fc-abc");
    assert_eq!(model[1], json!({"text": "", "thoughtSignature": "RW5k"}));
    assert_eq!(user[0]["functionResponse"], json!({"id": "fc-abc", "name": "bash", "response": {"output": "ok"}}));
}

#[test]
fn signatures_go_back_only_where_they_fit() {
    let (reply, _) = reply_of("thoughts-calls");
    let signed = |reply: &Reply, model: &str, options: &GeminiOptions, host: &str| {
        let asked = ModelRequest { model: model.into(), ..request(vec![ConversationItem::Assistant(reply.clone())]) };
        wire::body(&asked, options, host, None).to_string().contains("CiQB0e2Kb/+x==")
    };
    let options = GeminiOptions::default();
    assert!(signed(&reply, MODEL, &options, HOST));
    assert!(!signed(&reply, MODEL, &options, "other.test"));
    assert!(!signed(&reply, "gemini-2.5-pro", &options, HOST));
    assert!(!signed(&reply, MODEL, &GeminiOptions { stale: ["r2".to_owned()].into(), ..options.clone() }, HOST));
    assert!(!signed(&Reply { text: "Other.".into(), ..reply.clone() }, MODEL, &options, HOST));
    assert!(!signed(&Reply { calls: reply.calls[..1].to_vec(), ..reply.clone() }, MODEL, &options, HOST));
}

#[test]
fn schemas_in_the_subset() {
    let table = [
        (
            json!({"$schema": "x", "type": "object", "additionalProperties": false, "required": ["a", "gone"],
                   "properties": {"a": {"type": ["string", "null"], "format": "uri", "examples": ["x"]},
                                  "n": {"type": "integer", "format": "int64", "minimum": 0, "exclusiveMinimum": 0}}}),
            json!({"type": "object", "required": ["a"],
                   "properties": {"a": {"type": "string", "nullable": true}, "n": {"type": "integer", "format": "int64", "minimum": 0}}}),
        ),
        (
            json!({"type": "object", "properties": {"c": {"const": "x"}, "e": {"enum": ["a", null]}, "i": {"type": "integer", "enum": [1, 2], "description": "Odd."}}}),
            json!({"type": "object", "properties": {"c": {"type": "string", "enum": ["x"]}, "e": {"type": "string", "nullable": true, "enum": ["a"]},
                   "i": {"type": "integer", "description": "Odd. One of: 1, 2."}}}),
        ),
        (
            json!({"type": "object", "$defs": {"p": {"type": "string", "description": "old"}},
                   "properties": {"r": {"$ref": "#/$defs/p", "description": "new"}, "l": {"type": "array"}, "k": {"type": "array", "items": {"$ref": "#/$defs/p"}}}}),
            json!({"type": "object", "properties": {"r": {"type": "string", "description": "new"}, "l": {"type": "array", "items": {"type": "string"}},
                   "k": {"type": "array", "items": {"type": "string", "description": "old"}}}}),
        ),
        (
            json!({"type": "object", "properties": {"o": {"oneOf": [{"type": "string"}, {"type": "null"}]}, "t": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                   "m": {"type": ["string", "integer"]}}}),
            json!({"type": "object", "properties": {"o": {"nullable": true, "type": "string"}, "t": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                   "m": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}}),
        ),
        (
            json!({"allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"b": {"type": "boolean"}}}], "properties": {"c": true}}),
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "boolean"}, "c": {"type": "string"}}, "required": ["a"]}),
        ),
    ];
    for (schema, expected) in table {
        assert_eq!(subset(&schema), Some(expected), "{schema}");
    }
    assert_eq!(subset(&json!({"type": "object"})), None);
    // A schema that leads to itself ends.
    let endless = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
    assert!(subset(&endless).is_some());
}

#[test]
fn schemas_of_our_own_tools_keep_only_what_is_known() {
    fn check(schema: &Value) {
        for (key, value) in schema.as_object().unwrap() {
            match key.as_str() {
                "properties" => value.as_object().unwrap().values().for_each(check),
                "items" => check(value),
                "anyOf" => value.as_array().unwrap().iter().for_each(check),
                "type" | "description" | "required" | "enum" | "minimum" | "maximum" | "nullable" | "minItems"
                | "maxItems" | "title" | "default" | "format" | "minLength" | "maxLength" | "pattern" => {}
                other => panic!("{other} in {schema}"),
            }
        }
    }
    let schema = json!({"$schema": "x", "$id": "y", "type": "object", "unevaluatedProperties": false, "patternProperties": {"x": {}},
        "properties": {"edits": {"type": "array", "uniqueItems": true, "items": {"type": "object", "additionalProperties": {"type": "string"},
        "properties": {"old": {"type": "string", "contentEncoding": "x"}}, "dependentRequired": {}}}}});
    check(&subset(&schema).unwrap());
}

#[test]
fn addresses_and_models() {
    let base = "https://generativelanguage.googleapis.com";
    let table = [
        (base.to_owned(), "gemini-2.5-pro", "/v1beta/models/gemini-2.5-pro"),
        (format!("{base}/v1beta"), "gemini-2.5-pro", "/models/gemini-2.5-pro"),
        (format!("{base}/v1/"), "models/x", "/models/x"),
        (base.to_owned(), "tunedModels/my-1", "/v1beta/tunedModels/my-1"),
        (base.to_owned(), "a?key=b#c", "/v1beta/models/a%3Fkey%3Db%23c"),
    ];
    for (base, model, expected) in table {
        assert_eq!(path(&base, model), format!("{expected}:streamGenerateContent?alt=sse"), "{base} {model}");
    }
    let list = json!({"models": [
        {"name": "models/gemini-2.5-pro", "supportedGenerationMethods": ["generateContent", "countTokens"]},
        {"name": "models/embedding-001", "supportedGenerationMethods": ["embedContent"]},
        {"name": "tunedModels/x"},
    ]});
    assert_eq!(model_names(&list), Some(vec!["gemini-2.5-pro".into(), "tunedModels/x".into()]));
    assert_eq!(model_names(&json!({})), Some(vec![]));
    assert_eq!(model_names(&json!({"data": []})), None);
}

#[test]
fn pictures_and_documents_are_parts_also_of_results() {
    use crate::provider::media::tests::conversation;
    let contents = |model: &str, sight: Sight| {
        let request = ModelRequest { model: model.into(), ..request(conversation()) };
        wire::body(&request, &GeminiOptions { sight, ..GeminiOptions::default() }, HOST, None)["contents"].clone()
    };
    let inline = |mime: &str, data: &str| json!({"inlineData": {"mimeType": mime, "data": data}});
    let all = contents(MODEL, Sight::default());
    let asked = json!([inline("image/png", "AAAA"), inline("application/pdf", "BBBB"), {"text": "what is it?"}]);
    assert_eq!(all[0]["parts"], asked);
    let result = &all[2]["parts"][0]["functionResponse"];
    assert_eq!(result["parts"], json!([inline("image/jpeg", "CCCC")]));
    assert_eq!(result["response"], json!({"output": "a picture"}));
    assert_eq!(all.as_array().unwrap().len(), 3);
    // Before Gemini 3 a result is a text.
    let all = contents("gemini-2.5-pro", Sight::default());
    assert_eq!(all[2]["parts"].as_array().unwrap().len(), 1);
    assert!(all[2]["parts"][0]["functionResponse"].get("parts").is_none());
    let beside = json!([{"text": "[image c.jpg of the result of call c1]"}, inline("image/jpeg", "CCCC")]);
    assert_eq!(all[3], json!({"role": "user", "parts": beside}));
    let all = contents(MODEL, Sight { pictures: false, documents: false });
    let said = all[2]["parts"][0]["functionResponse"]["response"]["output"].as_str().unwrap();
    assert_eq!(said, "a picture\n[image c.jpg could not be shown to this model]");
}
