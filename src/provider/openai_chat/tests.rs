//! Recorded shapes of streams, cut everywhere; quirks one by one; and the request body.

use super::*;
use crate::domain::ids::CallId;
use crate::domain::message::Native;
use crate::domain::session::ThinkingLevel;
use crate::domain::tool::ToolSpec;
use crate::domain::usage::RequestUsage;
use crate::provider::response_stream::Broken;
use crate::provider::sse::{Event, SseReader};
use crate::provider::{CallResult, Chunk, ConversationItem, ProposedCall, Reply, Stop};
use serde_json::{Value, json};

const HOST: &str = "api.test";

/// Content of a stream.
#[derive(Clone, Debug, Default, PartialEq)]
struct Heard {
    started: Option<String>,
    text: String,
    thinking: String,
    begun: Vec<String>,
    calls: Vec<(String, Value)>,
    ids: Vec<String>,
    native: Option<Value>,
    usage: Option<RequestUsage>,
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
            Chunk::Call(call) => {
                out.ids.push(call.id.as_str().to_owned());
                out.calls.push((call.name, call.input));
            }
            Chunk::Native(native) => {
                assert_eq!(native.wire, WIRE);
                out.native = Some(serde_json::from_str(&native.json).unwrap());
            }
            Chunk::Usage(usage) => out.usage = Some(usage),
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

/// Runs bytes through the reader and the mapping, in these pieces.
fn hear<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<Chunk>, Broken> {
    let mut mapper = ChatEvents::new(HOST);
    let mut out = Vec::new();
    for event in read(pieces) {
        if event.data == "[DONE]" {
            out.extend(mapper.end(true)?);
            return Ok(out);
        }
        out.extend(mapper.data(&event.data)?);
    }
    out.extend(mapper.end(false)?);
    Ok(out)
}

fn recorded(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/streams/{name}.sse", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn usage(input: u64, output: u64, cache_read: u64, cache_creation: u64) -> Option<RequestUsage> {
    Some(RequestUsage { input, output, cache_read, cache_creation, ..RequestUsage::default() })
}

fn calls(list: &[(&str, Value)]) -> Vec<(String, Value)> {
    list.iter().map(|(name, input)| ((*name).to_owned(), input.clone())).collect()
}

#[test]
fn recorded_streams_wherever_they_are_cut() {
    let text = |text: &str| Heard { text: text.into(), stop: Some(Stop::Done), ..Heard::default() };
    let called = |list: &[(&str, Value)]| Heard { calls: calls(list), stop: Some(Stop::Calls), ..Heard::default() };
    let table = [
        ("openai", Heard { usage: usage(1117, 46, 1024, 0), ..text("Grüße 🌊!") }),
        (
            "openai-parallel-calls",
            Heard {
                usage: usage(82, 49, 0, 0),
                ..called(&[("read", json!({"path": "aü.txt"})), ("list", json!({"path": "src"}))])
            },
        ),
        ("openai-refusal", Heard { stop: Some(Stop::Filtered), ..text("I can't help with that.") }),
        (
            "llama-cpp",
            Heard {
                thinking: "Playful".into(),
                usage: usage(17, 78, 7, 0),
                native: Some(json!({"reasoning_content": "Playful", "host": HOST})),
                ..called(&[("bash", json!({"command": "ls -la"}))])
            },
        ),
        (
            "ollama-calls",
            Heard {
                thinking: "Two files.".into(),
                usage: usage(193, 58, 0, 0),
                native: Some(json!({"reasoning": "Two files.", "host": HOST})),
                ..called(&[("read", json!({"path": "a"})), ("read", json!({"path": "b"}))])
            },
        ),
        (
            "vllm",
            Heard {
                text: "I look.\n".into(),
                usage: usage(30, 19, 0, 0),
                ..called(&[("grep", json!({"pattern": "TODO"}))])
            },
        ),
        (
            "deepseek",
            Heard {
                text: "I read it.".into(),
                thinking: "先看文件。".into(),
                usage: usage(317, 60, 256, 0),
                native: Some(json!({"reasoning_content": "先看文件。", "host": HOST})),
                ..called(&[("read", json!({"path": "x"}))])
            },
        ),
        ("groq", Heard { thinking: "Short.".into(), usage: usage(36, 3, 0, 0), ..text("Yes.") }),
        (
            "mistral",
            Heard {
                text: "Both then.".into(),
                thinking: "Hm, both.".into(),
                usage: usage(120, 31, 0, 0),
                ..called(&[("read", json!({"path": "a"})), ("list", json!({}))])
            },
        ),
        (
            "openrouter",
            Heard {
                thinking: "First look.".into(),
                usage: usage(400, 50, 100, 200),
                native: Some(json!({
                    "reasoning": "First look.",
                    "reasoning_details": [{"type": "reasoning.text", "text": "First look.", "format": "anthropic-claude-v1",
                                           "index": 0, "signature": "EvAB"}],
                    "host": HOST
                })),
                ..called(&[("list", json!({"path": "."}))])
            },
        ),
        (
            "lm-studio-think-tags",
            Heard { thinking: "A < b holds.\n".into(), stop: Some(Stop::Length), ..text("It holds: <think>.") },
        ),
    ];
    let mut files = 0;
    for (name, mut expected) in table {
        let bytes = recorded(name);
        let whole = hear([bytes.as_slice()]).unwrap();
        let got = heard(whole.clone());
        assert!(got.started.is_some());
        assert_eq!(got.begun, got.calls.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
        expected = Heard { started: got.started.clone(), begun: got.begun.clone(), ids: got.ids.clone(), ..expected };
        assert_eq!(got, expected, "{name}");
        assert_eq!(hear(bytes.chunks(1)).unwrap(), whole, "{name} byte by byte");
        // The mapping sees events only, so the same events are the same chunks.
        let events = read([bytes.as_slice()]);
        for cut in 0..bytes.len() {
            let (head, tail) = bytes.split_at(cut);
            assert_eq!(read([head, tail]), events, "{name} cut at {cut}");
        }
        files += 1;
    }
    let dir = std::fs::read_dir(format!("{}/tests/streams", env!("CARGO_MANIFEST_DIR"))).unwrap();
    assert_eq!(dir.filter(|f| f.as_ref().unwrap().path().extension().is_some_and(|e| e == "sse")).count(), files);
}

#[test]
fn a_stream_that_ends_early_is_broken_wherever_it_ends() {
    let bytes = recorded("openai");
    let text = String::from_utf8(bytes.clone()).unwrap();
    let finish = text.find("\"finish_reason\":\"stop\"").unwrap();
    for cut in 0..finish {
        let result = hear([&bytes[..cut]]);
        assert!(matches!(result, Err(Broken::Short | Broken::Garbled(_))), "cut at {cut}: {result:?}");
    }
    // Without its usage and its end mark it is whole.
    let end = finish + text[finish..].find("\n\n").unwrap();
    let got = heard(hear([&bytes[..end]]).unwrap());
    assert_eq!((got.stop, got.usage), (Some(Stop::Done), None));
}

/// The calls of a stream whose deltas have these `tool_calls`.
fn pieces(list: &[Value]) -> Heard {
    let mut mapper = ChatEvents::new(HOST);
    let mut out = Vec::new();
    for piece in list {
        out.extend(mapper.value(&json!({"choices": [{"delta": {"tool_calls": piece}}]})).unwrap());
    }
    out.extend(mapper.value(&json!({"choices": [{"delta": {}, "finish_reason": "stop"}]})).unwrap());
    out.extend(mapper.end(true).unwrap());
    heard(out)
}

#[test]
fn calls_however_servers_cut_them() {
    let a = ("read", json!({"path": "a"}));
    let b = ("read", json!({"path": "b"}));
    type Case = (&'static str, Vec<Value>, Vec<(&'static str, Value)>);
    let table: Vec<Case> = vec![
        (
            "no ids, indexes",
            vec![
                json!([{"index": 0, "function": {"name": "read", "arguments": "{\"path\":"}}]),
                json!([{"index": 1, "function": {"name": "read", "arguments": "{\"path\":"}}]),
                json!([{"index": 1, "function": {"arguments": "\"b\"}"}}, {"index": 0, "function": {"arguments": "\"a\"}"}}]),
            ],
            vec![a.clone(), b.clone()],
        ),
        (
            "no indexes, ids at first",
            vec![
                json!([{"id": "1", "function": {"name": "read", "arguments": "{\"path\":"}}]),
                json!([{"function": {"arguments": "\"a\"}"}}]),
                json!([{"id": "2", "function": {"name": "read", "arguments": ""}}]),
                json!([{"function": {"arguments": "{\"path\":\"b\"}"}}]),
            ],
            vec![a.clone(), b.clone()],
        ),
        (
            "neither ids nor indexes, whole calls",
            vec![
                json!([{"function": {"name": "read", "arguments": "{\"path\":\"a\"}"}}, {"function": {"name": "read", "arguments": "{\"path\":\"b\"}"}}]),
            ],
            vec![a.clone(), b.clone()],
        ),
        (
            "neither ids nor indexes, the name in every piece",
            vec![
                json!([{"function": {"name": "read", "arguments": "{\"path\":"}}]),
                json!([{"function": {"name": "read", "arguments": "\"a\"}"}}]),
                json!([{"function": {"name": "read", "arguments": "{\"path\":\"b\"}"}}]),
            ],
            vec![a.clone(), b.clone()],
        ),
        (
            "one id in every piece, the name repeated",
            vec![
                json!([{"index": 0, "id": "1", "function": {"name": "read", "arguments": "{\"pa"}}]),
                json!([{"index": 0, "id": "1", "function": {"name": "read", "arguments": "th\":\"a\"}"}}]),
            ],
            vec![a.clone()],
        ),
        (
            "another id in every piece",
            vec![
                json!([{"index": 0, "id": "1", "function": {"name": "read", "arguments": ""}}]),
                json!([{"index": 0, "id": "2", "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}}]),
            ],
            vec![a.clone()],
        ),
        (
            "two calls with one id",
            vec![json!([
                {"index": 0, "id": "x", "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}},
                {"index": 1, "id": "", "function": {"name": "read", "arguments": "{\"path\":\"b\"}"}},
            ])],
            vec![a.clone(), b.clone()],
        ),
        (
            "one id for all, indexes of their own",
            vec![
                json!([{"index": 0, "id": "c", "function": {"name": "read", "arguments": ""}}]),
                json!([{"index": 1, "id": "c", "function": {"name": "read", "arguments": ""}}]),
                json!([{"index": 0, "id": "c", "function": {"arguments": "{\"path\":"}}]),
                json!([{"index": 1, "id": "c", "function": {"arguments": "{\"path\":\"b\"}"}}]),
                json!([{"index": 0, "id": "c", "function": {"arguments": "\"a\"}"}}]),
            ],
            vec![a.clone(), b.clone()],
        ),
        (
            "one id and one index for all",
            vec![
                json!([{"index": 0, "id": "call_0", "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}}]),
                json!([{"index": 0, "id": "call_0", "function": {"name": "read", "arguments": "{\"path\":\"b\"}"}}]),
            ],
            vec![a.clone(), b.clone()],
        ),
        (
            "one index for all and no ids",
            vec![
                json!([{"index": 0, "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}}]),
                json!([{"index": 0, "function": {"name": "read", "arguments": "{\"path\":\"b\"}"}}]),
            ],
            vec![a.clone(), b.clone()],
        ),
        (
            "one index for all, ids of their own, the pieces mixed",
            vec![
                json!([{"index": 0, "id": "1", "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}}]),
                json!([{"index": 0, "id": "2", "function": {"name": "read", "arguments": "{\"path\""}}]),
                json!([{"index": 0, "id": "2", "function": {"arguments": ":\"b\"}"}}]),
            ],
            vec![a.clone(), b.clone()],
        ),
        (
            "the whole call once more at its end",
            vec![
                json!([{"index": 0, "id": "1", "function": {"name": "read", "arguments": "{\"path\":"}}]),
                json!([{"index": 0, "id": "1", "function": {"arguments": "\"a\"}"}}]),
                json!([{"index": 0, "id": "1", "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}}]),
                json!([{"index": 0, "id": "1", "function": {"name": "read", "arguments": ""}}]),
            ],
            vec![a.clone()],
        ),
        (
            "a piece under an index of its own",
            vec![
                json!([{"index": 0, "id": "1", "function": {"name": "read", "arguments": "{\"path\":"}}]),
                json!([{"index": 1, "function": {"arguments": "\"a\"}"}}]),
            ],
            vec![a.clone()],
        ),
        (
            "arguments as an object",
            vec![json!([{"index": 0, "id": "1", "function": {"name": "read", "arguments": {"path": "a"}}}])],
            vec![a.clone()],
        ),
        (
            "arguments wrapped twice",
            vec![json!([{"index": 0, "function": {"name": "read", "arguments": "\"{\\\"path\\\":\\\"a\\\"}\""}}])],
            vec![a.clone()],
        ),
        (
            "an empty object first",
            vec![
                json!([{"index": 0, "function": {"name": "read", "arguments": "{}"}}]),
                json!([{"index": 0, "function": {"arguments": "{\"path\":\"a\"}"}}]),
            ],
            vec![a.clone()],
        ),
        (
            "no arguments",
            vec![
                json!([{"index": 0, "function": {"name": "list", "arguments": ""}}, {"index": 1, "function": {"name": "list"}}, {"index": 2, "function": {"name": "list", "arguments": null}}, {"index": 3, "function": {"name": "list", "arguments": "null"}}]),
            ],
            vec![("list", json!({})), ("list", json!({})), ("list", json!({})), ("list", json!({}))],
        ),
        (
            "no object",
            vec![
                json!([{"index": 0, "function": {"name": "read", "arguments": "{\"path\": oops"}}, {"index": 1, "function": {"name": "read", "arguments": "[1]"}}]),
            ],
            vec![("read", json!({"_raw": "{\"path\": oops"})), ("read", json!({"_raw": "[1]"}))],
        ),
        (
            "a name in pieces",
            vec![
                json!([{"index": 0, "id": "1", "function": {"name": "submit_"}}]),
                json!([{"index": 0, "function": {"name": "plan", "arguments": "{}"}}]),
            ],
            vec![("submit_plan", json!({}))],
        ),
        ("no name", vec![json!([{"index": 0, "id": "1", "function": {"arguments": "{}"}}])], vec![]),
    ];
    for (what, list, expected) in table {
        let got = pieces(&list);
        assert_eq!(got.calls, calls(&expected), "{what}");
        assert_eq!(got.stop, Some(if expected.is_empty() { Stop::Done } else { Stop::Calls }), "{what}");
        let mut ids = got.ids.clone();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), expected.len(), "{what}: ids differ");
        assert!(ids.iter().all(|id| !id.is_empty()), "{what}");
    }
}

#[test]
fn reasons_to_stop() {
    let table = [
        ("stop", Stop::Done),
        ("eos", Stop::Done),
        ("length", Stop::Length),
        ("model_length", Stop::Length),
        ("content_filter", Stop::Filtered),
        ("weather", Stop::Other("weather".into())),
    ];
    for (reason, stop) in table {
        let mut mapper = ChatEvents::new(HOST);
        mapper.value(&json!({"choices": [{"delta": {"content": "x"}, "finish_reason": reason}]})).unwrap();
        assert_eq!(mapper.end(false).unwrap().last(), Some(&Chunk::Stopped(stop)), "{reason}");
    }
    for reason in ["error", "insufficient_system_resource"] {
        let mut mapper = ChatEvents::new(HOST);
        mapper.value(&json!({"choices": [{"delta": {}, "finish_reason": reason}]})).unwrap();
        assert!(matches!(mapper.end(true), Err(Broken::Error(_))), "{reason}");
    }
}

#[test]
fn errors_inside_of_the_stream_and_what_is_no_json() {
    let data = |text: &str| ChatEvents::new(HOST).data(text);
    assert!(matches!(data(r#"{"error":{"message":"x"}}"#), Err(Broken::Error(_))));
    assert!(matches!(data(r#"{"object":"error","message":"x"}"#), Err(Broken::Error(_))));
    assert!(matches!(
        data(r#"{"choices":[{"error":{"message":"x"},"finish_reason":"error"}]}"#),
        Err(Broken::Error(_))
    ));
    assert!(data(r#"{"error":null,"choices":[]}"#).is_ok());
    assert!(matches!(data("{oops"), Err(Broken::Garbled(_))));
    assert_eq!(data("ping"), Ok(vec![]));
    assert_eq!(data(""), Ok(vec![]));
    let other = json!({"choices": [{"index": 1, "delta": {"content": "x"}}]});
    assert_eq!(ChatEvents::new(HOST).value(&other), Ok(vec![Chunk::Started(None)]));
}

fn request(items: Vec<ConversationItem>) -> ModelRequest {
    ModelRequest { model: "m".into(), system: String::new(), items, tools: vec![], thinking: ThinkingLevel::Medium }
}

fn call(id: &str, input: Value) -> ProposedCall {
    ProposedCall { id: CallId::new(id), name: "read".into(), input }
}

const FIRST: ChatOptions = ChatOptions {
    usage: true,
    effort: 0,
    tools: true,
    thought: false,
    sight: Sight { pictures: true, documents: true },
};

#[test]
fn the_body_of_a_request() {
    let reply = Reply {
        text: String::new(),
        calls: vec![call("c1", json!({"path": "a"})), call("c2", json!({}))],
        native: vec![],
    };
    let results = vec![
        CallResult { id: CallId::new("c1"), text: "A".into(), failed: false, media: Vec::new() },
        CallResult { id: CallId::new("c2"), text: String::new(), failed: true, media: Vec::new() },
    ];
    let mut request = request(vec![
        ConversationItem::User("one".into()),
        ConversationItem::User("two".into()),
        ConversationItem::User(" ".into()),
        ConversationItem::Assistant(Reply { text: "  ".into(), ..Reply::default() }),
        ConversationItem::Assistant(reply),
        ConversationItem::Results(results),
        ConversationItem::Assistant(Reply { text: "done".into(), ..Reply::default() }),
    ]);
    request.system = "be kind".into();
    request.tools =
        vec![ToolSpec { name: "read".into(), description: "reads".into(), schema: json!({"type": "object"}) }];
    assert_eq!(
        wire::body(&request, FIRST, HOST, Some(&json!({"temperature": 0, "stream_options": null}))),
        json!({
            "model": "m",
            "messages": [
                {"role": "system", "content": "be kind"},
                {"role": "user", "content": "one\n\ntwo"},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}},
                    {"id": "c2", "type": "function", "function": {"name": "read", "arguments": "{}"}},
                ]},
                {"role": "tool", "tool_call_id": "c1", "content": "A"},
                {"role": "tool", "tool_call_id": "c2", "content": "(no output)"},
                {"role": "assistant", "content": "done"},
            ],
            "stream": true,
            "tools": [{"type": "function", "function": {"name": "read", "description": "reads", "parameters": {"type": "object"}}}],
            "temperature": 0,
        })
    );
}

#[test]
fn optional_fields() {
    let mut request = request(vec![ConversationItem::User("x".into())]);
    let body = wire::body(&request, FIRST, HOST, None);
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
    assert!(body.get("tools").is_none() && body.get("reasoning_effort").is_none());
    assert!(wire::body(&request, ChatOptions { usage: false, ..FIRST }, HOST, None).get("stream_options").is_none());
    let table = [
        (ThinkingLevel::Off, 0, Some("none")),
        (ThinkingLevel::Off, 1, Some("minimal")),
        (ThinkingLevel::Off, 2, None),
        (ThinkingLevel::Low, 0, Some("low")),
        (ThinkingLevel::Medium, 0, None),
        (ThinkingLevel::High, 0, Some("high")),
        (ThinkingLevel::Xhigh, 1, Some("high")),
        (ThinkingLevel::Max, 0, Some("max")),
        (ThinkingLevel::Max, 3, None),
    ];
    for (level, effort, word) in table {
        request.thinking = level;
        let body = wire::body(&request, ChatOptions { effort, ..FIRST }, HOST, None);
        assert_eq!(body.get("reasoning_effort").and_then(Value::as_str), word, "{level:?} {effort}");
    }
}

#[test]
fn thinking_goes_back_only_to_the_server_it_came_from() {
    let kept = json!({"reasoning_content": "hm", "host": HOST, "role": "system"}).to_string();
    let native = vec![
        Native { wire: WIRE.into(), json: kept },
        Native { wire: "anthropic-messages".into(), json: "{\"reasoning_content\":\"other\"}".into() },
        Native { wire: WIRE.into(), json: "oops".into() },
    ];
    let with = |calls: Vec<ProposedCall>| {
        request(vec![ConversationItem::Assistant(Reply { text: "t".into(), calls, native: native.clone() })])
    };
    let message = |request: &ModelRequest, host: &str| wire::body(request, FIRST, host, None)["messages"][0].clone();
    let called = with(vec![call("c1", json!({}))]);
    assert_eq!(message(&called, HOST)["reasoning_content"], "hm");
    assert_eq!(message(&called, HOST)["role"], "assistant");
    assert!(message(&called, "other.test").get("reasoning_content").is_none());
    assert!(message(&with(vec![]), HOST).get("reasoning_content").is_none());
}

#[test]
fn ids_of_calls_fit_the_server() {
    let long = "chatcmpl-tool-2f6b9c9b6c7f4b6f8a0e5f5f4d3c2b1a";
    let id = |id: &str, host: &str| {
        let reply = Reply { calls: vec![call(id, json!({}))], ..Reply::default() };
        let results = vec![CallResult { id: CallId::new(id), text: "x".into(), failed: false, media: Vec::new() }];
        let body = wire::body(
            &request(vec![ConversationItem::Assistant(reply), ConversationItem::Results(results)]),
            FIRST,
            host,
            None,
        );
        assert_eq!(body["messages"][0]["tool_calls"][0]["id"], body["messages"][1]["tool_call_id"]);
        body["messages"][1]["tool_call_id"].as_str().unwrap().to_owned()
    };
    assert_eq!(id("call_1", HOST), "call_1");
    assert!(id(long, HOST).len() <= 40);
    assert_eq!(id("D681PevKs", "api.mistral.ai"), "D681PevKs");
    assert_eq!(id("call_1", "api.mistral.ai").len(), 9);
    assert_ne!(id("call_1", "api.mistral.ai"), id("call_2", "api.mistral.ai"));
    assert_eq!(id("call_1", "notmistral.ai"), "call_1");
}

#[test]
fn lists_of_models() {
    let table = [
        (json!({"object": "list", "data": [{"id": "b"}, {"id": "a"}, {"id": "a"}]}), Some(vec!["a", "b"])),
        (json!({"models": [{"name": "x:latest", "model": "x:latest"}]}), Some(vec!["x:latest"])),
        (json!([{"id": "a"}, "b"]), Some(vec!["a", "b"])),
        (json!({"data": []}), Some(vec![])),
        (json!({"message": "hello"}), None),
    ];
    for (value, names) in table {
        assert_eq!(model_names(&value), names.map(|n| n.into_iter().map(str::to_owned).collect()), "{value}");
    }
}

proptest::proptest! {
    #[test]
    fn think_tags_are_found_wherever_the_text_is_cut(
        thought in "[a<th/>k \n]{0,12}",
        answer in "[a<th/>ik ]{1,12}",
        cuts in proptest::collection::vec(0usize..60, 0..6),
    ) {
        let thought = thought.replace("</think>", "");
        let text = format!("\n<think>{thought}</think>\n\n{answer}");
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (text.len() + 1)).collect();
        cuts.push(text.len());
        cuts.sort_unstable();
        let mut mapper = ChatEvents::new(HOST);
        let mut out = Vec::new();
        let mut from = 0;
        for cut in cuts {
            let content = &text[from..cut];
            from = cut;
            out.extend(mapper.value(&json!({"choices": [{"delta": {"content": content}}]})).unwrap());
        }
        out.extend(mapper.end(true).unwrap());
        let got = heard(out);
        proptest::prop_assert_eq!(got.text.trim_start(), answer.trim_start());
        proptest::prop_assert_eq!(got.thinking.trim_start_matches('\n'), thought.trim_start_matches('\n'));
    }
}

#[test]
fn a_model_without_tools_hears_of_calls_in_words() {
    let reply = Reply { text: "I look.".into(), calls: vec![call("c1", json!({"path": "a"}))], native: vec![] };
    let results = vec![CallResult { id: CallId::new("c1"), text: "A".into(), failed: false, media: Vec::new() }];
    let mut request = request(vec![
        ConversationItem::User("one".into()),
        ConversationItem::Assistant(reply),
        ConversationItem::Results(results),
    ]);
    request.tools =
        vec![ToolSpec { name: "read".into(), description: "reads".into(), schema: json!({"type": "object"}) }];
    let body = wire::body(&request, ChatOptions { tools: false, ..FIRST }, HOST, None);
    assert!(body.get("tools").is_none());
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": "one"},
            {"role": "assistant", "content": "I look.\n\n[call c1 of read: {\"path\":\"a\"}]"},
            {"role": "user", "content": "[result of call c1]\nA"},
        ])
    );
}

#[test]
fn a_server_that_wants_all_thinking_back_gets_an_empty_one_where_there_is_none() {
    let asked = |calls: Vec<ProposedCall>| {
        request(vec![ConversationItem::Assistant(Reply { text: "t".into(), calls, native: vec![] })])
    };
    let thought = ChatOptions { thought: true, ..FIRST };
    let called = asked(vec![call("c1", json!({}))]);
    assert_eq!(wire::body(&called, thought, HOST, None)["messages"][0]["reasoning_content"], "");
    assert!(wire::body(&called, FIRST, HOST, None)["messages"][0].get("reasoning_content").is_none());
    assert!(wire::body(&asked(vec![]), thought, HOST, None)["messages"][0].get("reasoning_content").is_none());
}

#[test]
fn openrouter_is_told_who_asks_and_others_are_not() {
    let headers = |url: &str, own: &[(&str, &str)]| {
        let mut endpoint = Endpoint::new("x", url);
        endpoint.headers = own.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        OpenAiChat::new(endpoint).ok().unwrap().endpoint().headers.clone()
    };
    let pair = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    assert_eq!(headers("https://openrouter.ai/api/v1", &[]), pair("x-title", "lisle"));
    assert_eq!(headers("https://openrouter.ai/api/v1", &[("X-Title", "mine")]), pair("X-Title", "mine"));
    assert!(headers("http://127.0.0.1/v1", &[]).is_empty());
}

#[test]
fn pictures_and_documents_are_parts_and_follow_results() {
    use crate::provider::media::tests::conversation;
    let request = request(conversation());
    let messages = |options: ChatOptions, host: &str| wire::body(&request, options, host, None)["messages"].clone();
    let text = |text: &str| json!({"type": "text", "text": text});
    let jpg = json!({"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,CCCC"}});
    let all = messages(FIRST, HOST);
    assert_eq!(
        all[0]["content"],
        json!([
            text("what is it?"),
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            {"type": "file", "file": {"filename": "b.pdf", "file_data": "data:application/pdf;base64,BBBB"}},
        ])
    );
    assert_eq!(all[2], json!({"role": "tool", "tool_call_id": "c1", "content": "a picture"}));
    let beside = json!([text("[image c.jpg of the result of call c1]"), jpg]);
    assert_eq!(all[3], json!({"role": "user", "content": beside}));
    // Mistral takes pictures in results, and no user behind them.
    let all = messages(FIRST, "api.mistral.ai");
    assert_eq!(all[2]["content"], json!([text("a picture"), jpg]));
    assert_eq!(all.as_array().unwrap().len(), 3);
    // Servers that take nothing but text get nothing but text.
    let blind = ChatOptions { sight: Sight { pictures: false, documents: false }, ..FIRST };
    let all = messages(blind, HOST);
    assert_eq!(
        all[0]["content"],
        "what is it?\n[image a.png could not be shown to this model]\n[document b.pdf could not be shown to this model]"
    );
    assert_eq!(
        all[3]["content"],
        "[image c.jpg of the result of call c1]\n[image c.jpg could not be shown to this model]"
    );
    let all = messages(ChatOptions { tools: false, ..blind }, HOST);
    let told = all[2]["content"].as_str().unwrap();
    assert_eq!(told, "[result of call c1]\na picture\n[image c.jpg could not be shown to this model]");
}

#[test]
fn a_server_without_files_and_a_model_without_eyes_are_known() {
    use crate::provider::media::tests::conversation;
    let at = |url: &str| OpenAiChat::new(Endpoint::new("x", url)).unwrap();
    let sight = |provider: &OpenAiChat| {
        let sight = provider.options(&request(conversation())).sight;
        (sight.pictures, sight.documents)
    };
    assert_eq!(sight(&at("https://api.openai.com/v1")), (true, true));
    let local = at("http://127.0.0.1:1/v1");
    assert_eq!(sight(&local), (true, false));
    let body = r#"{"error":{"code":500,"message":"image input is not supported - hint: provide the mmproj"}}"#;
    let refused = local.peer().status(500, &reqwest::header::HeaderMap::new(), body, 0);
    let asked = request(conversation());
    assert!(local.after_refusal(&asked, &refused).is_some());
    assert_eq!(sight(&local), (false, false));
    assert!(local.after_refusal(&asked, &refused).is_none(), "once");
}
