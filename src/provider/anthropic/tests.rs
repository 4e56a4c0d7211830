//! Recorded shapes of streams, cut everywhere; the request body; what is kept and given back; what is learned from a refusal.
//!
//! The streams in `tests/streams/anthropic` follow the examples of Anthropic's public documentation ("Streaming messages", "Extended
//! thinking", "Web search tool", "Prompt caching"); `llama-cpp.sse` is what that server said.

use super::*;
use crate::domain::ids::CallId;
use crate::domain::message::Native;
use crate::domain::session::ThinkingLevel;
use crate::domain::tool::ToolSpec;
use crate::domain::usage::RequestUsage;
use crate::provider::fault::Peer;
use crate::provider::figures::{ModelFacts, Thinks, built_in};
use crate::provider::response_stream::{Broken, Mapping, say};
use crate::provider::sse::{Event, SseReader};
use crate::provider::{CallResult, Chunk, ConversationItem, ProposedCall, Reply, Stop};
use serde_json::json;

const HOST: &str = "api.test";
const MODEL: &str = "claude-sonnet-5-5";

fn origin() -> BlockAuthor {
    BlockAuthor::new(HOST, MODEL)
}

fn mapper() -> MessagesEvents {
    MessagesEvents::new(origin(), BTreeMap::new())
}

/// Content of a stream.
#[derive(Clone, Debug, Default, PartialEq)]
struct Heard {
    started: Option<String>,
    text: String,
    thinking: String,
    begun: Vec<String>,
    calls: Vec<ProposedCall>,
    native: Vec<Native>,
    usage: Option<RequestUsage>,
    stop: Option<Stop>,
}

impl Heard {
    fn reply(&self) -> Reply {
        Reply { text: self.text.clone(), calls: self.calls.clone(), native: self.native.clone() }
    }

    fn inputs(&self) -> Vec<(&str, Value)> {
        self.calls.iter().map(|call| (call.name.as_str(), call.input.clone())).collect()
    }
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
            Chunk::Call(call) => out.calls.push(call),
            Chunk::Native(native) => out.native.push(native),
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
    let mut mapper = mapper();
    let mut out = Vec::new();
    for event in read(pieces) {
        out.extend(mapper.event(&event)?);
        if mapper.over() {
            return Ok(out);
        }
    }
    out.extend(mapper.end(false)?);
    Ok(out)
}

fn recorded(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/streams/anthropic/{name}.sse", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn usage(input: u64, output: u64, cache_read: u64, cache_creation: u64) -> Option<RequestUsage> {
    Some(RequestUsage { input, output, cache_read, cache_creation, ..RequestUsage::default() })
}

fn call(id: &str, name: &str, input: Value) -> ProposedCall {
    ProposedCall { id: CallId::new(id), name: name.into(), input }
}

/// The blocks that a response left to be replayed.
fn kept(heard: &Heard) -> Value {
    assert_eq!(heard.native.len(), 1);
    assert_eq!(heard.native[0].wire, WIRE);
    let mut value: Value = serde_json::from_str(&heard.native[0].json).unwrap();
    assert_eq!((&value["host"], &value["model"]), (&json!(HOST), &json!(MODEL)));
    value["blocks"].take()
}

#[test]
fn recorded_streams_wherever_they_are_cut() {
    let table = [
        (
            "text",
            Heard {
                text: "Grüße 🌊!".into(), usage: usage(25, 15, 0, 0), stop: Some(Stop::Done), ..Heard::default()
            },
        ),
        (
            "calls",
            Heard {
                text: "I look.".into(),
                calls: vec![
                    call("toolu_01T1x1fJ34qAmk2tNTrN7Up6", "read", json!({"path": "aü.txt"})),
                    call("toolu_02", "list", json!({})),
                ],
                usage: usage(1572, 89, 1000, 100),
                stop: Some(Stop::Calls),
                ..Heard::default()
            },
        ),
        (
            "thinking",
            Heard {
                text: "I read it.".into(),
                thinking: "先看 \"a\"\nthen b.".into(),
                calls: vec![
                    call("toolu_a", "read", json!({"path": "a"})),
                    call("toolu_b", "read", json!({"path": "b"})),
                ],
                usage: usage(30, 120, 0, 0),
                stop: Some(Stop::Calls),
                ..Heard::default()
            },
        ),
        (
            "pause",
            Heard {
                text: "I search.High tide at nine.".into(),
                usage: usage(50, 40, 0, 0),
                stop: Some(Stop::Paused),
                ..Heard::default()
            },
        ),
        (
            "llama-cpp",
            Heard {
                text: "The list of folders src.".into(),
                usage: usage(35, 7, 3, 0),
                stop: Some(Stop::Done),
                ..Heard::default()
            },
        ),
    ];
    let mut files = 1;
    for (name, mut expected) in table {
        let bytes = recorded(name);
        let whole = hear([bytes.as_slice()]).unwrap();
        let got = heard(whole.clone());
        assert!(got.started.is_some());
        assert_eq!(got.begun, got.calls.iter().map(|call| call.name.clone()).collect::<Vec<_>>());
        expected =
            Heard { started: got.started.clone(), begun: got.begun.clone(), native: got.native.clone(), ..expected };
        assert_eq!(got, expected, "{name}");
        assert_eq!(hear(bytes.chunks(1)).unwrap(), whole, "{name} byte by byte");
        // The mapping sees events only, so the same events are the same chunks.
        let events = read([bytes.as_slice()]);
        for cut in 0..bytes.len() {
            let (head, tail) = bytes.split_at(cut);
            assert_eq!(read([head, tail]), events, "{name} cut at {cut}");
        }
        let text = String::from_utf8(bytes).unwrap();
        let other = text.replace('\n', "\r\n").replace("data:", ": a comment\r\nid: 7\r\ndata:");
        assert_eq!(hear([other.as_bytes()]).unwrap(), whole, "{name} with CRLF and comments");
        files += 1;
    }
    assert!(
        matches!(hear([recorded("overloaded").as_slice()]), Err(Broken::Error(value)) if value["error"]["type"] == "overloaded_error")
    );
    let dir = std::fs::read_dir(format!("{}/tests/streams/anthropic", env!("CARGO_MANIFEST_DIR"))).unwrap();
    assert_eq!(dir.count(), files);
}

#[test]
fn a_stream_that_ends_early_is_broken_wherever_it_ends() {
    let bytes = recorded("calls");
    let text = String::from_utf8(bytes.clone()).unwrap();
    let finish = text.find("\"stop_reason\":\"tool_use\"").unwrap();
    for cut in 0..finish {
        let result = hear([&bytes[..cut]]);
        assert!(matches!(result, Err(Broken::Short | Broken::Garbled(_))), "cut at {cut}: {result:?}");
    }
    // Without its end mark and with less usage it is whole.
    let delta = text[..finish].rfind("event: message_delta").unwrap();
    let last = "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n";
    let got = heard(hear([&bytes[..delta], last.as_bytes()]).unwrap());
    assert_eq!((got.stop, got.usage, got.calls.len()), (Some(Stop::Calls), usage(1572, 2, 1000, 100), 2));
}

#[test]
fn a_huge_line_is_one_piece_of_text() {
    let long = "ä".repeat(3_000_000);
    let event = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": long}});
    let stop = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}});
    let stream = format!("data: {event}\n\ndata: {stop}\n\n");
    assert_eq!(heard(hear(stream.as_bytes().chunks(65_536)).unwrap()).text.len(), 6_000_000);
}

/// The chunks of a stream of these events, which ends after them.
fn said(events: &[Value]) -> Heard {
    let mut mapper = mapper();
    let mut out = Vec::new();
    for event in events {
        out.extend(mapper.data(&event.to_string()).unwrap());
    }
    out.extend(mapper.end(true).unwrap());
    heard(out)
}

fn stopped(reason: &str) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}})
}

#[test]
fn reasons_to_stop() {
    let table = [
        ("end_turn", Stop::Done),
        ("stop_sequence", Stop::Done),
        ("tool_use", Stop::Done),
        ("max_tokens", Stop::Length),
        ("refusal", Stop::Filtered),
        ("pause_turn", Stop::Paused),
        ("weather", Stop::Other("weather".into())),
    ];
    for (reason, stop) in table {
        assert_eq!(said(&[stopped(reason)]).stop, Some(stop), "{reason}");
    }
    let mut mapper = mapper();
    mapper.data(&stopped("model_context_window_exceeded").to_string()).unwrap();
    let broken = mapper.end(true).unwrap_err();
    assert_eq!(say(&Peer::default(), broken).code, "context_overflow");
}

#[test]
fn inputs_however_they_come() {
    let begin = |block: Value| json!({"type": "content_block_start", "index": 0, "content_block": block});
    let piece = |text: &str| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": text}});
    let tool = json!({"type": "tool_use", "id": "t", "name": "read", "input": {}});
    let whole = json!({"type": "tool_use", "id": "t", "name": "read", "input": {"path": "a"}});
    let table: [(&str, Vec<Value>, &str, Value); 6] = [
        ("none", vec![begin(tool.clone())], "tool_use", json!({})),
        ("whole at the beginning", vec![begin(whole)], "tool_use", json!({"path": "a"})),
        ("in pieces", vec![begin(tool.clone()), piece(""), piece("{\"a\""), piece(":1}")], "tool_use", json!({"a": 1})),
        ("cut off by the limit", vec![begin(tool.clone()), piece("{\"a\"")], "max_tokens", json!({"_raw": "{\"a\""})),
        ("cut off before its first letter", vec![begin(tool.clone())], "max_tokens", json!({"_raw": ""})),
        ("no object", vec![begin(tool), piece("[1]")], "end_turn", json!({"_raw": "[1]"})),
    ];
    for (what, mut events, reason, input) in table {
        events.push(stopped(reason));
        let got = said(&events);
        assert_eq!(got.inputs(), [("read", input)], "{what}");
        assert_eq!(got.stop, Some(if reason == "max_tokens" { Stop::Length } else { Stop::Calls }), "{what}");
        assert!(got.native.is_empty());
    }
    // Ids that are missing or come twice.
    let twice = [
        json!({"type": "tool_use", "name": "a"}),
        json!({"type": "tool_use", "id": "x", "name": "b"}),
        json!({"type": "tool_use", "id": "x", "name": "c"}),
        json!({"type": "tool_use", "id": "y"}),
    ];
    let events: Vec<Value> = twice.into_iter().map(begin).chain([stopped("tool_use")]).collect();
    let got = said(&events);
    let mut ids: Vec<&str> = got.calls.iter().map(|call| call.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((ids.len(), got.calls.len()), (3, 3), "{got:?}");
    assert!(ids.iter().all(|id| !id.is_empty()));
}

#[test]
fn odd_events() {
    let data = |text: &str| mapper().data(text);
    assert!(matches!(data(r#"{"type":"error","error":{"type":"api_error","message":"x"}}"#), Err(Broken::Error(_))));
    assert!(matches!(data("{oops"), Err(Broken::Garbled(_))));
    for nothing in [
        "ping",
        "",
        r#"{"type":"ping"}"#,
        r#"{"type":"what"}"#,
        r#"{"type":"content_block_delta","index":9,"delta":{"type":"input_json_delta","partial_json":"{"}}"#,
    ] {
        assert_eq!(data(nothing), Ok(vec![]), "{nothing}");
    }
    // A server that does not say when a block begins.
    let delta = |kind: &str, key: &str, index: u64| json!({"type": "content_block_delta", "index": index, "delta": {"type": kind, key: "x"}});
    let got = said(&[
        delta("thinking_delta", "thinking", 0),
        delta("text_delta", "text", 1),
        delta("text_delta", "text", 1),
        stopped("end_turn"),
    ]);
    assert_eq!((got.thinking.as_str(), got.text.as_str()), ("x", "xx"));
}

#[test]
fn a_response_in_one_piece() {
    let mut mapper = mapper();
    let value = json!({"id": "m", "type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "hi"},
        {"type": "tool_use", "id": "c", "name": "list", "input": {"path": "."}}], "usage": {"input_tokens": 5, "output_tokens": 2}});
    let chunks = mapper.whole(&value).unwrap().unwrap();
    let got = heard(chunks);
    assert_eq!(
        (got.text.as_str(), got.thinking.as_str(), got.inputs()),
        ("hi", "hm", vec![("list", json!({"path": "."}))])
    );
    assert_eq!((got.usage, got.stop), (usage(5, 2, 0, 0), Some(Stop::Calls)));
    assert_eq!(super::MessagesEvents::default().whole(&json!({"hello": 1})), Ok(None));
}

#[test]
fn what_is_kept_for_an_hour_is_counted_apart() {
    let mut mapper = mapper();
    let value = json!({"id": "m", "type": "message", "role": "assistant", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "hi"}], "usage": {"input_tokens": 5, "output_tokens": 2,
        "cache_creation_input_tokens": 300, "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 200}}});
    let chunks = mapper.whole(&value).unwrap().unwrap();
    let wanted = RequestUsage { cache_hour: 200, ..usage(305, 2, 0, 300).unwrap() };
    assert_eq!(heard(chunks).usage, Some(wanted));
}

fn request(items: Vec<ConversationItem>) -> ModelRequest {
    ModelRequest { model: MODEL.into(), system: String::new(), items, tools: vec![], thinking: ThinkingLevel::Medium }
}

fn options(request: &ModelRequest) -> AnthropicOptions {
    AnthropicOptions { long: false, ..AnthropicOptions::first(request, &built_in(&request.model)) }
}

fn body(request: &ModelRequest) -> Value {
    wire::body(request, options(request), &BlockAuthor::new(HOST, &request.model), None)
}

fn user(text: &str) -> ConversationItem {
    ConversationItem::User(text.into())
}

fn results(ids: &[&str]) -> ConversationItem {
    ConversationItem::Results(
        ids.iter()
            .map(|id| CallResult { id: CallId::new(*id), text: "r".into(), failed: false, media: Vec::new() })
            .collect(),
    )
}

#[test]
fn thinking_goes_back_byte_for_byte_in_its_place() {
    let got = heard(hear([recorded("thinking").as_slice()]).unwrap());
    // On disk a call's input is in its own row alone.
    assert!(!got.native[0].json.contains("path"), "{}", got.native[0].json);
    let items = vec![user("go"), ConversationItem::Assistant(got.reply()), results(&["toolu_a", "toolu_b"])];
    let sent = body(&request(items.clone()));
    let redacted = "EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIwxtE3rAFBa8cr3qpPkNRj2YfWXGmKDxH4mPnZ5sQ7vB9URj2pLmN3kF8/dW5hR7xJ0aP1oLs9yTcMnKVf2wRpEGjH9XZaBt4UvDcPrQ==";
    let expected = concat!(
        r#"[{"type":"thinking","thinking":"先看 \"a\"\nthen b.","signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3h+/=="},"#,
        r#"{"type":"redacted_thinking","data":"REDACTED"},"#,
        r#"{"type":"text","text":"I read it."},"#,
        r#"{"type":"tool_use","id":"toolu_a","name":"read","input":{"path":"a"}},"#,
        r#"{"type":"thinking","thinking":"","signature":"ErUB"},"#,
        r#"{"type":"tool_use","id":"toolu_b","name":"read","input":{"path":"b"}}]"#,
    );
    assert_eq!(sent["messages"][1]["content"].to_string(), expected.replace("REDACTED", redacted));

    // A snapshot of the same model reads it, others do not, nor does another server.
    let plain = json!([{"type": "text", "text": "I read it."}, {"type": "tool_use", "id": "toolu_a", "name": "read", "input": {"path": "a"}},
                       {"type": "tool_use", "id": "toolu_b", "name": "read", "input": {"path": "b"}}]);
    let content = |model: &str, host: &str, items: &[ConversationItem]| {
        let request = ModelRequest { model: model.into(), ..request(items.to_vec()) };
        wire::body(&request, options(&request), &BlockAuthor::new(host, model), None)["messages"][1]["content"].clone()
    };
    assert_ne!(content("claude-sonnet-5-5-20260928", HOST, &items), plain);
    assert_ne!(content("claude-sonnet-5-5[1m]", HOST, &items), plain);
    assert_eq!(content("claude-opus-5-5", HOST, &items), plain);
    assert_eq!(content(MODEL, "other.test", &items), plain);

    // What does not say what the rows say is not sent: rows can be changed.
    let changed = |change: fn(&mut Reply)| {
        let mut reply = got.reply();
        change(&mut reply);
        content(MODEL, HOST, &[user("go"), ConversationItem::Assistant(reply)])
    };
    let kinds = |content: &Value| -> Vec<String> {
        content.as_array().unwrap().iter().map(|block| block["type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(&changed(|_| {})).len(), 6);
    assert_eq!(kinds(&changed(|reply| reply.text.push_str("\n\n"))).len(), 6);
    assert_eq!(kinds(&changed(|reply| reply.text.push_str(" more"))), ["text", "tool_use", "tool_use"]);
    assert_eq!(kinds(&changed(|reply| reply.calls.truncate(1))), ["text", "tool_use"]);
    assert_eq!(kinds(&changed(|reply| reply.calls.reverse())), ["text", "tool_use", "tool_use"]);
    assert_eq!(kinds(&changed(|reply| reply.native[0].json = "oops".into())), ["text", "tool_use", "tool_use"]);
    assert_eq!(kinds(&changed(|reply| reply.native[0].wire = "openai-chat".into())), ["text", "tool_use", "tool_use"]);

    // Without thinking there is none to give back.
    let off = ModelRequest { thinking: ThinkingLevel::Off, ..request(items) };
    assert_eq!(body(&off)["messages"][1]["content"], plain);
}

#[test]
fn thinking_that_the_limit_cut_off_is_not_kept() {
    let block = |signature: &str| json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "hm", "signature": signature}});
    assert!(said(&[block(""), stopped("max_tokens")]).native.is_empty());
    assert_eq!(
        kept(&said(&[block("s"), stopped("max_tokens")])),
        json!([{"type": "thinking", "thinking": "hm", "signature": "s"}])
    );
    // Servers that do not sign get it back all the same.
    assert_eq!(
        kept(&said(&[block(""), stopped("end_turn")])),
        json!([{"type": "thinking", "thinking": "hm", "signature": ""}])
    );
}

#[test]
fn blocks_of_unknown_kinds_are_kept_and_a_paused_turn_goes_on_after_them() {
    let got = heard(hear([recorded("pause").as_slice()]).unwrap());
    let blocks = kept(&got);
    assert_eq!(
        blocks[1],
        json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "tide"}})
    );
    assert_eq!(blocks[3]["citations"][0]["encrypted_index"], "Eo0B");
    let sent = body(&request(vec![user("when?"), ConversationItem::Assistant(got.reply())]));
    assert_eq!(sent["messages"][1]["content"], blocks);
    assert_eq!(sent["messages"][2]["content"][0]["text"], "Go on.", "it ended with text");
    // A pause right behind a server's own tool: nothing comes after it.
    let native = |blocks: Value| Native {
        wire: WIRE.into(),
        json: json!({"host": HOST, "model": MODEL, "blocks": blocks}).to_string(),
    };
    let reply = Reply { native: vec![native(json!([blocks[1]]))], ..Reply::default() };
    let sent = body(&request(vec![user("when?"), ConversationItem::Assistant(reply.clone())]));
    assert_eq!(sent["messages"].as_array().unwrap().len(), 2);
    // And what the model says when it goes on is the same message.
    let more = Reply {
        text: "At nine.".into(),
        native: vec![native(json!([blocks[1]])), native(json!([{"type": "text", "text": "At nine."}]))],
        calls: vec![],
    };
    let sent = body(&request(vec![user("when?"), ConversationItem::Assistant(more), user("thanks")]));
    assert_eq!(sent["messages"][1]["content"], json!([blocks[1], {"type": "text", "text": "At nine."}]));
}

#[test]
fn the_body_of_a_request() {
    let reply = Reply {
        text: String::new(),
        calls: vec![call("c1", "read", json!({"path": "a"})), call("c2", "read", json!("oops"))],
        native: vec![],
    };
    let answers = vec![
        CallResult { id: CallId::new("c1"), text: "A".into(), failed: false, media: Vec::new() },
        CallResult { id: CallId::new("c2"), text: String::new(), failed: true, media: Vec::new() },
    ];
    let mut request = request(vec![
        user("one"),
        user("two"),
        user(" "),
        ConversationItem::Assistant(Reply { text: "  ".into(), ..Reply::default() }),
        ConversationItem::Assistant(reply),
        ConversationItem::Results(answers),
        user("and now?"),
        ConversationItem::Assistant(Reply { text: "done".into(), ..Reply::default() }),
        user("thanks"),
    ]);
    request.system = "be kind".into();
    request.tools = ["list", "read"]
        .map(|name| ToolSpec { name: name.into(), description: "d".into(), schema: json!({"type": "object"}) })
        .to_vec();
    let cache = json!({"type": "ephemeral"});
    let sent =
        wire::body(&request, options(&request), &origin(), Some(&json!({"temperature": 0, "output_config": null})));
    assert_eq!(
        sent,
        json!({
            "model": MODEL,
            "max_tokens": 128_000,
            "system": [{"type": "text", "text": "be kind", "cache_control": cache}],
            "tools": [
                {"name": "list", "description": "d", "input_schema": {"type": "object"}},
                {"name": "read", "description": "d", "input_schema": {"type": "object"}, "cache_control": cache},
            ],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a"}},
                    {"type": "tool_use", "id": "c2", "name": "read", "input": {}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "A"},
                    {"type": "tool_result", "tool_use_id": "c2", "content": "(no output)", "is_error": true},
                    {"type": "text", "text": "and now?", "cache_control": cache},
                ]},
                {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
                {"role": "user", "content": [{"type": "text", "text": "thanks", "cache_control": cache}]},
            ],
            "thinking": {"type": "adaptive", "display": "summarized"},
            "stream": true,
            "temperature": 0,
        })
    );
    assert_eq!(sent.to_string().matches("cache_control").count(), 4);
    let long = wire::body(&request, AnthropicOptions { long: true, ..options(&request) }, &origin(), None);
    assert_eq!(long.to_string().matches(r#""cache_control":{"type":"ephemeral","ttl":"1h"}"#).count(), 4);
    let bare = wire::body(&request, AnthropicOptions { cached: false, ..options(&request) }, &origin(), None);
    assert!(!bare.to_string().contains("cache_control"));
    assert_eq!(bare["output_config"], json!({"effort": "medium"}));
}

#[test]
fn calls_of_the_past_are_explained_where_no_tool_is_on_offer() {
    let reply = Reply {
        calls: vec![call("a", "read", json!({})), call("b", "my.list", json!({})), call("c", "read", json!({}))],
        ..Reply::default()
    };
    let items = vec![user("x"), ConversationItem::Assistant(reply), results(&["a", "b", "c"])];
    let sent = body(&request(items.clone()));
    assert_eq!(sent["tool_choice"], json!({"type": "none"}));
    assert_eq!(
        sent["tools"],
        json!([{"name": "my_list", "input_schema": {"type": "object"}},
               {"name": "read", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}}])
    );
    let mut offered = request(items);
    offered.tools = vec![ToolSpec { name: "read".into(), description: String::new(), schema: json!({}) }];
    assert_eq!((body(&offered)["tools"].as_array().unwrap().len(), body(&offered).get("tool_choice")), (1, None));
    let silent = body(&request(vec![user("x")]));
    assert_eq!((silent.get("tools"), silent.get("tool_choice")), (None, None));
}

proptest::proptest! {
    #[test]
    fn messages_alternate_and_the_user_has_the_first_word(kinds in proptest::collection::vec(0u8..6, 0..24)) {
        let items: Vec<ConversationItem> = kinds.iter().enumerate().flat_map(|(at, kind)| {
            let id = format!("c{at}");
            let say = |text: &str| ConversationItem::Assistant(Reply { text: text.into(), ..Reply::default() });
            match kind {
                0 => vec![user("u")],
                1 => vec![user("\n")],
                2 => vec![say("s")],
                3 => vec![say("")],
                4 => vec![ConversationItem::Assistant(Reply { calls: vec![call(&id, "read", json!({}))], ..Reply::default() }), results(&[&id])],
                _ => vec![ConversationItem::Assistant(Reply { native: vec![Native { wire: "x".into(), json: "{}".into() }], ..Reply::default() })],
            }
        }).collect();
        let sent = body(&request(items));
        let messages = sent["messages"].as_array().unwrap();
        let roles: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
        for (at, role) in roles.iter().enumerate() {
            proptest::prop_assert_eq!(*role, if at % 2 == 0 { "user" } else { "assistant" });
        }
        proptest::prop_assert_eq!(roles.last(), Some(&"user"));
        for message in messages {
            let content = message["content"].as_array().unwrap();
            proptest::prop_assert!(!content.is_empty());
            for block in content {
                proptest::prop_assert!(block.get("text").is_none_or(|text| !text.as_str().unwrap().trim().is_empty()));
            }
        }
        proptest::prop_assert!(sent.to_string().matches("cache_control").count() <= 4);
    }
}

#[test]
fn levels_of_thinking() {
    use ThinkingLevel::{High, Low, Max, Medium, Off, Xhigh};
    let adaptive = json!({"type": "adaptive", "display": "summarized"});
    let budget = |tokens: u64| json!({"type": "enabled", "budget_tokens": tokens});
    let disabled = json!({"type": "disabled"});
    type Case<'a> = (&'a str, ThinkingLevel, Option<Value>, Option<&'a str>);
    let table: Vec<Case<'_>> = vec![
        ("claude-sonnet-5-5", Off, Some(disabled.clone()), None),
        ("claude-sonnet-5-5", Low, Some(adaptive.clone()), Some("low")),
        ("claude-sonnet-5-5", Xhigh, Some(adaptive.clone()), Some("xhigh")),
        ("claude-sonnet-5-5", Max, Some(adaptive.clone()), Some("max")),
        ("claude-opus-5-5", Off, Some(adaptive.clone()), Some("low")),
        ("claude-opus-5-5[1m]", High, Some(adaptive.clone()), Some("high")),
        ("claude-unheard-of-9", High, Some(adaptive), Some("high")),
        ("claude-sonnet-4-5-20250929", Off, None, None),
        ("claude-sonnet-4-5-20250929", Low, Some(budget(4_000)), None),
        ("claude-sonnet-4-5", Medium, Some(budget(10_000)), None),
        ("claude-opus-4-5", High, Some(budget(20_000)), None),
        ("claude-opus-4-5", Xhigh, Some(budget(26_000)), None),
        ("claude-opus-4-5", Max, Some(budget(32_000)), None),
        ("claude-haiku-4-5", Low, Some(budget(2_000)), None),
        ("claude-haiku-4-5-20251001", Max, Some(budget(8_000)), None),
        ("smol", Off, Some(disabled), None),
        ("smol", Medium, None, None),
        ("smol", Max, Some(budget(4_096)), None),
    ];
    for (model, level, thinking, effort) in table {
        let request = ModelRequest { model: model.into(), thinking: level, ..request(vec![user("x")]) };
        let sent = body(&request);
        assert_eq!(sent.get("thinking"), thinking.as_ref(), "{model} {level:?}");
        assert_eq!(sent.pointer("/output_config/effort").and_then(Value::as_str), effort, "{model} {level:?}");
        assert!(!sent["model"].as_str().unwrap().contains('['));
        let tokens = sent.pointer("/thinking/budget_tokens").and_then(Value::as_u64).unwrap_or(0);
        assert!(tokens < sent["max_tokens"].as_u64().unwrap(), "{model}");
    }
}

#[test]
fn within_a_budget_a_turn_that_began_without_thinking_goes_on_without() {
    let plain = Reply { calls: vec![call("a", "read", json!({}))], ..Reply::default() };
    let thought = Native {
        wire: WIRE.into(),
        json: json!({"host": HOST, "model": "claude-sonnet-4-5", "blocks": [
        {"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "tool_use", "id": "a"}]})
        .to_string(),
    };
    let thinking = Reply { native: vec![thought], ..plain.clone() };
    let asks = |items: Vec<ConversationItem>, model: &str| {
        let request = ModelRequest { model: model.into(), ..request(items) };
        let sent = body(&request);
        (sent.get("thinking").is_some(), sent.to_string().contains("\"hm\""))
    };
    let turn = |reply: &Reply| vec![user("go"), ConversationItem::Assistant(reply.clone()), results(&["a"])];
    assert_eq!(asks(turn(&plain), "claude-sonnet-4-5"), (false, false));
    assert_eq!(asks(turn(&thinking), "claude-sonnet-4-5"), (true, true));
    assert_eq!(asks(turn(&plain), MODEL), (true, false), "an adaptive model does not mind");
    let mut next = turn(&plain);
    next.extend([ConversationItem::Assistant(Reply { text: "ok".into(), ..Reply::default() }), user("more")]);
    assert_eq!(asks(next, "claude-sonnet-4-5"), (true, false), "the next turn may think again");
    // Later answers of a turn need not begin with it.
    let mut longer = turn(&thinking);
    longer.extend([
        ConversationItem::Assistant(Reply { calls: vec![call("b", "read", json!({}))], ..Reply::default() }),
        results(&["b"]),
    ]);
    assert_eq!(asks(longer, "claude-sonnet-4-5"), (true, true));
}

#[test]
fn ids_and_names_fit_the_api() {
    let long = "x".repeat(65);
    for (own, fits) in [("toolu_01-A", true), ("call.1", false), ("", false), ("ü", false), (long.as_str(), false)] {
        let reply = Reply { calls: vec![call(own, "functions.read file", json!({}))], ..Reply::default() };
        let sent = body(&request(vec![user("x"), ConversationItem::Assistant(reply), results(&[own])]));
        let id = sent["messages"][1]["content"][0]["id"].as_str().unwrap();
        assert_eq!(sent["messages"][2]["content"][0]["tool_use_id"], id);
        assert_eq!(id == own, fits, "{own}");
        assert!(
            !id.is_empty() && id.len() <= 64 && id.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)),
            "{id}"
        );
        assert_eq!(sent["messages"][1]["content"][0]["name"], "functions_read_file");
    }
    // A tool whose name had to be changed is called by its own name here.
    let mut request = request(vec![user("x")]);
    request.tools = ["a.b", "list"]
        .map(|name| ToolSpec { name: name.into(), description: String::new(), schema: json!({}) })
        .to_vec();
    assert_eq!(body(&request)["tools"][0]["name"], "a_b");
    let mut mapper = MessagesEvents::new(origin(), wire::renamed(&request));
    let block = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "c", "name": "a_b", "input": {}}});
    let mut chunks = mapper.data(&block.to_string()).unwrap();
    chunks.extend(mapper.end(true).unwrap());
    let got = heard(chunks);
    assert_eq!((got.begun, got.calls[0].name.as_str()), (vec!["a.b".to_owned()], "a.b"));
}

#[test]
fn betas() {
    let of = |model: &str, level: ThinkingLevel, tools: usize| {
        let mut request = ModelRequest { model: model.into(), thinking: level, ..request(vec![user("x")]) };
        request.tools = vec![ToolSpec { name: "a".into(), description: String::new(), schema: json!({}) }; tools];
        wire::betas(&request, options(&request)).join(" ")
    };
    assert_eq!(of("claude-sonnet-4-5", ThinkingLevel::High, 1), "interleaved-thinking-2025-05-14");
    assert_eq!(
        of("claude-sonnet-4-5[1m]", ThinkingLevel::High, 1),
        "context-1m-2025-08-07 interleaved-thinking-2025-05-14"
    );
    assert_eq!(of("claude-sonnet-4-5", ThinkingLevel::Off, 1), "");
    assert_eq!(of("claude-sonnet-4-5", ThinkingLevel::High, 0), "");
    assert_eq!(of(MODEL, ThinkingLevel::High, 1), "");
    assert_eq!(of("smol", ThinkingLevel::High, 1), "");
}

#[test]
fn what_a_refusal_teaches() {
    let refused = |message: &str| {
        let body = json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}, "request_id": "req_63999"});
        Peer::default().status(400, &reqwest::header::HeaderMap::new(), &body.to_string(), 0)
    };
    let first = |model: &str, level| {
        AnthropicOptions::first(
            &ModelRequest { model: model.into(), thinking: level, ..request(vec![]) },
            &built_in(model),
        )
    };
    let old = first("claude-sonnet-4-5", ThinkingLevel::High);
    let new = first(MODEL, ThinkingLevel::Max);
    use Lasts::{FromNowOn, ThisOnce};
    type Case<'a> = (AnthropicOptions, ThinkingLevel, &'a str, Option<(AnthropicOptions, Lasts)>);
    let table: Vec<Case<'_>> = vec![
        (
            old,
            ThinkingLevel::High,
            "max_tokens: 64000 > 32000, which is the maximum allowed number of output tokens for claude-opus-4-20250514",
            Some((AnthropicOptions { most: 32_000, ..old }, FromNowOn)),
        ),
        (
            old,
            ThinkingLevel::High,
            "input length and `max_tokens` exceed context limit: 180000 + 64000 > 200000, decrease input length or `max_tokens` and try again",
            Some((AnthropicOptions { most: 20_000, ..old }, ThisOnce)),
        ),
        (
            old,
            ThinkingLevel::High,
            "input length and `max_tokens` exceed context limit: 199900 + 64000 > 200000, decrease input length or `max_tokens` and try again",
            None,
        ),
        (old, ThinkingLevel::High, "prompt is too long: 208310 tokens > 200000 maximum", None),
        (
            old,
            ThinkingLevel::High,
            "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior.",
            Some((AnthropicOptions { thinks: Some(Thinks::Adaptive), ..old }, FromNowOn)),
        ),
        (
            new,
            ThinkingLevel::Max,
            "adaptive thinking is not supported on this model",
            Some((AnthropicOptions { thinks: Some(Thinks::Budget), ..new }, FromNowOn)),
        ),
        (
            new,
            ThinkingLevel::Max,
            "This model does not support effort level 'max'.",
            Some((AnthropicOptions { effort: 1, ..new }, FromNowOn)),
        ),
        (
            new,
            ThinkingLevel::Max,
            "thinking.adaptive.display: Extra inputs are not permitted",
            Some((AnthropicOptions { shown: false, ..new }, FromNowOn)),
        ),
        (
            old,
            ThinkingLevel::High,
            "this model does not support thinking",
            Some((AnthropicOptions { thinks: None, ..old }, FromNowOn)),
        ),
        (
            old,
            ThinkingLevel::High,
            "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
            Some((AnthropicOptions { thinks: None, ..old }, ThisOnce)),
        ),
        (
            new,
            ThinkingLevel::Max,
            "messages.1.content.0: Invalid `signature` in `thinking` block",
            Some((AnthropicOptions { replayed: false, ..new }, ThisOnce)),
        ),
        (
            new,
            ThinkingLevel::Max,
            "system.0.cache_control: Extra inputs are not permitted",
            Some((AnthropicOptions { cached: false, ..new }, FromNowOn)),
        ),
        (
            old,
            ThinkingLevel::High,
            "Unexpected value(s) `interleaved-thinking-2025-05-14` for the `anthropic-beta` header",
            Some((AnthropicOptions { interleaved: false, ..old }, FromNowOn)),
        ),
        (new, ThinkingLevel::Max, "messages: text content blocks must be non-empty", None),
        (new, ThinkingLevel::Max, "Your credit balance is too low to access the Anthropic API.", None),
    ];
    for (options, level, message, expected) in table {
        assert_eq!(
            options.after(&ModelRequest { thinking: level, ..request(vec![]) }, &refused(message)),
            expected,
            "{message}"
        );
    }
    let busy = Peer::default().status(529, &reqwest::header::HeaderMap::new(), "thinking", 0);
    assert_eq!(new.after(&ModelRequest { thinking: ThinkingLevel::Max, ..request(vec![]) }, &busy), None);
    assert_eq!(AnthropicOptions::first(&request(vec![]), &ModelFacts::default()).most, 64_000);
    let unknown = ModelRequest { model: "smol".into(), ..request(vec![]) };
    assert_eq!(AnthropicOptions::first(&unknown, &ModelFacts::default()).most, 8_192);
    assert_eq!(AnthropicOptions::first(&unknown, &ModelFacts { output: Some(500), ..ModelFacts::default() }).most, 500);
}

#[test]
fn addresses() {
    for base in [
        "https://a.test",
        "https://a.test/",
        "https://a.test/v1",
        "https://a.test/v1/",
        "https://a.test/v1/messages",
        " https://a.test ",
    ] {
        assert_eq!(bare(base), "https://a.test", "{base}");
    }
    assert_eq!(bare("https://a.test/anthropic/v1?x=1"), "https://a.test/anthropic?x=1");
}

#[test]
fn pictures_and_documents_are_blocks_also_inside_of_results() {
    use crate::provider::media::{Sight, tests::conversation};
    let content = |sight: Sight| {
        let request = request(conversation());
        let bare = AnthropicOptions { sight, cached: false, ..options(&request) };
        let body = wire::body(&request, bare, &origin(), None);
        (body["messages"][0]["content"].clone(), body["messages"][2]["content"].clone())
    };
    let (asked, answered) = content(Sight::default());
    let source = |mime: &str, data: &str| json!({"type": "base64", "media_type": mime, "data": data});
    assert_eq!(
        asked,
        json!([
            {"type": "image", "source": source("image/png", "AAAA")},
            {"type": "document", "source": source("application/pdf", "BBBB"), "title": "b.pdf"},
            {"type": "text", "text": "what is it?"},
        ])
    );
    assert_eq!(
        answered,
        json!([{"type": "tool_result", "tool_use_id": "c1", "content": [
            {"type": "text", "text": "a picture"},
            {"type": "image", "source": source("image/jpeg", "CCCC")},
        ]}])
    );
    let (asked, answered) = content(Sight { pictures: false, documents: true });
    assert_eq!(asked[0], json!({"type": "text", "text": "[image a.png could not be shown to this model]"}));
    assert_eq!(asked[1]["type"], "document");
    let words = json!({"type": "text", "text": "[image c.jpg could not be shown to this model]"});
    assert_eq!(answered[0]["content"][1], words);
}

#[test]
fn a_model_that_refuses_pictures_is_asked_in_words_from_then_on() {
    use crate::provider::media::tests::conversation;
    let request = request(conversation());
    let refused = Peer::default().status(
        400,
        &reqwest::header::HeaderMap::new(),
        r#"{"error":{"message":"this model does not support image input"}}"#,
        0,
    );
    let (next, lasts) = options(&request).after(&request, &refused).unwrap();
    assert!(!next.sight.pictures && next.sight.documents && lasts == Lasts::FromNowOn);
}
