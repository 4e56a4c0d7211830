//! Recorded shapes of streams, cut everywhere; odd ones; and the request body with what is given back.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends where it fails"
)]

use super::*;
use crate::domain::ids::CallId;
use crate::domain::message::Native;
use crate::domain::session::ThinkingLevel;
use crate::domain::tool::ToolSpec;
use crate::provider::response_stream::{Broken, Mapping, say};
use crate::provider::sse::{Event, SseReader};
use crate::provider::{CallResult, Chunk, ConversationItem, ProposedCall, Reply, Stop};
use serde_json::{Value, json};

const HOST: &str = "api.test";
const MODEL: &str = "m";

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
    let mut mapper = ResponsesEvents::new(HOST, MODEL);
    let mut out = Vec::new();
    for event in events {
        out.extend(mapper.event(event)?);
        if mapper.over() {
            return Ok(out);
        }
    }
    out.extend(mapper.end()?);
    Ok(out)
}

fn recorded(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/streams/responses/{name}.sse", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn call_of(id: &str, name: &str, input: Value) -> (String, String, Value) {
    (id.to_owned(), name.to_owned(), input)
}

#[test]
fn recorded_streams_wherever_they_are_cut() {
    let text = |text: &str| Heard { text: text.into(), stop: Some(Stop::Done), ..Heard::default() };
    let called = |calls: Vec<(String, String, Value)>| Heard { calls, stop: Some(Stop::Calls), ..Heard::default() };
    let table = [
        ("openai", Heard { usage: Some((1117, 46, 1024)), ..text("Grüße 🌊!") }, false),
        (
            "openai-reasoning-calls",
            Heard {
                text: "I look at both.".into(),
                thinking: "**Looking**\n\nTwo files.\n\nBoth at once.".into(),
                begun: vec!["read".into(), "list".into()],
                usage: Some((82, 149, 0)),
                ..called(vec![
                    call_of("call_A", "read", json!({"path": "aü.txt"})),
                    call_of("call_B", "list", json!({"path": "src"})),
                ])
            },
            true,
        ),
        ("openai-refusal", Heard { stop: Some(Stop::Filtered), ..text("I can't help with that.") }, false),
        (
            "openai-incomplete",
            Heard {
                calls: vec![call_of("call_C", "read", json!({"path": "a"}))],
                begun: vec!["read".into(), "write".into()],
                usage: Some((20, 16, 0)),
                stop: Some(Stop::Length),
                ..text("Half of")
            },
            false,
        ),
        ("llama-cpp", Heard { usage: Some((39, 3, 0)), ..text("hey there") }, false),
        (
            "lm-studio",
            Heard {
                thinking: "Need ls.".into(),
                begun: vec!["bash".into()],
                usage: Some((90, 30, 0)),
                ..called(vec![call_of("call_E", "bash", json!({"command": "ls -la"}))])
            },
            true,
        ),
    ];
    let mut files = 0;
    for (name, expected, replayed) in table {
        let bytes = recorded(name);
        let events = read([bytes.as_slice()]);
        let whole = hear(&events).unwrap();
        let got = heard(whole);
        assert!(got.started.is_some(), "{name}");
        assert_eq!(got.native.is_some(), replayed, "{name}");
        let expected = Heard { started: got.started.clone(), native: got.native.clone(), ..expected };
        assert_eq!(got, expected, "{name}");
        // The mapping sees events only, so the same events are the same chunks.
        assert_eq!(read(bytes.chunks(1)), events, "{name} byte by byte");
        for cut in 0..bytes.len() {
            let (head, tail) = bytes.split_at(cut);
            assert_eq!(read([head, tail]), events, "{name} cut at {cut}");
        }
        files += 1;
    }
    let dir = std::fs::read_dir(format!("{}/tests/streams/responses", env!("CARGO_MANIFEST_DIR"))).unwrap();
    assert_eq!(dir.count(), files);
}

#[test]
fn a_stream_that_ends_early_is_broken_wherever_it_ends() {
    for name in ["openai", "openai-reasoning-calls"] {
        let bytes = recorded(name);
        let at = String::from_utf8(bytes.clone()).unwrap().find("event: response.completed").unwrap();
        let end = bytes.len() - 6;
        for cut in (0..at).step_by(7).chain(at..end) {
            let result = hear(&read([&bytes[..cut]]));
            assert!(matches!(result, Err(Broken::Short | Broken::Garbled(_))), "{name} cut at {cut}: {result:?}");
        }
    }
}

/// Content of a stream of these events.
fn events(list: &[Value]) -> Result<Heard, Broken> {
    let list: Vec<Event> = list.iter().map(|value| Event { name: String::new(), data: value.to_string() }).collect();
    hear(&list).map(heard)
}

#[test]
fn shapes_of_other_servers() {
    // Without indexes, ids and deltas: all of it comes with the last event.
    let output = json!([{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
                        {"type": "message", "content": [{"type": "output_text", "text": "a"}]},
                        {"type": "message", "content": [{"type": "output_text", "text": "b"}]},
                        {"type": "function_call", "call_id": "c", "name": "read", "arguments": ""}]);
    let got = events(&[json!({"type": "response.completed", "response": {"output": output}})]).unwrap();
    assert_eq!((got.thinking.as_str(), got.text.as_str(), &got.stop), ("hm", "a\n\nb", &Some(Stop::Calls)));
    assert_eq!(got.calls, [call_of("c", "read", json!({}))]);
    assert_eq!(
        (got.native, got.usage, got.started),
        (None, None, None),
        "thinking that is a mere name is not given back"
    );

    // Arguments in pieces, no items of their own at the end.
    let item =
        json!({"type": "function_call", "call_id": "fc_1", "name": "read", "arguments": "", "status": "in_progress"});
    let got = events(&[
        json!({"type": "response.output_item.added", "item": item}),
        json!({"type": "response.function_call_arguments.delta", "item_id": "fc_1", "delta": "{\"path\":"}),
        json!({"type": "response.function_call_arguments.delta", "item_id": "other", "delta": "\"a\"}"}),
        json!({"type": "response.completed", "response": {}}),
    ])
    .unwrap();
    assert_eq!(got.calls, [call_of("fc_1", "read", json!({"path": "a"}))]);

    // The end mark of chat completions, with and without all items.
    let done = Event { name: String::new(), data: "[DONE]".into() };
    let event = |value: Value| Event { name: String::new(), data: value.to_string() };
    let message = json!({"type": "message", "id": "m", "content": [{"type": "output_text", "text": "a"}]});
    let added = event(json!({"type": "response.output_item.added", "item": message}));
    let ended = event(json!({"type": "response.output_item.done", "item": message}));
    assert_eq!(heard(hear(&[added.clone(), ended.clone(), done.clone()]).unwrap()).text, "a");
    assert_eq!(hear(&[added, done]), Err(Broken::Short));
    assert_eq!(hear(&[ended]), Err(Broken::Short), "another item may have been on its way");

    // The type in the name of the event alone, and a line that is no JSON.
    let named = Event { name: "response.output_text.delta".into(), data: json!({"delta": "x"}).to_string() };
    let ping = Event { name: String::new(), data: "ping".into() };
    let last = Event { name: "response.completed".into(), data: "{}".into() };
    assert_eq!(heard(hear(&[ping, named, last]).unwrap()).text, "x");

    // A filter, and a reason that nobody knows.
    for (reason, stop) in [("content_filter", Stop::Filtered), ("odd", Stop::Other("odd".into()))] {
        let response = json!({"status": "incomplete", "incomplete_details": {"reason": reason}});
        let got = events(&[json!({"type": "response.incomplete", "response": response})]).unwrap();
        assert_eq!(got.stop, Some(stop));
    }

    // Thinking under two names is one.
    let got = events(&[
        json!({"type": "response.reasoning_text.delta", "output_index": 0, "content_index": 0, "delta": "a"}),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "b"}),
        json!({"type": "response.completed", "response": {}}),
    ])
    .unwrap();
    assert_eq!(got.thinking, "a");
}

#[test]
fn failures_in_the_stream() {
    let table = [
        (json!({"type": "error", "code": "server_error", "message": "x", "param": null}), "service_error", true),
        (
            json!({"type": "error", "error": {"type": "too_many_requests", "code": "rate_limit_exceeded", "message": "Please try again in 3s."}}),
            "rate_limited",
            true,
        ),
        (
            json!({"type": "response.failed", "response": {"error": {"code": "context_length_exceeded", "message": "x"}}}),
            "context_overflow",
            false,
        ),
        (
            json!({"type": "response.failed", "response": {"error": {"code": "insufficient_quota", "message": "x"}}}),
            "billing_error",
            false,
        ),
        (
            json!({"type": "response.failed", "response": {"error": {"code": "rate_limit_exceeded", "message": "x"}}}),
            "rate_limited",
            true,
        ),
        (
            json!({"type": "response.failed", "response": {"error": {"code": "invalid_prompt", "message": "x"}}}),
            "invalid_request",
            false,
        ),
        (json!({"type": "response.failed", "response": {"error": null}}), "service_error", true),
        (json!({"error": {"message": "Overloaded", "type": "overloaded_error"}}), "service_unavailable", true),
    ];
    for (event, code, retry) in table {
        let broken = events(std::slice::from_ref(&event)).unwrap_err();
        let error = say(&crate::provider::fault::Peer::default(), broken);
        assert_eq!((error.code, error.retry), (code, retry), "{event}");
    }
    assert!(matches!(hear(&[Event { name: String::new(), data: "{oops".into() }]), Err(Broken::Garbled(_))));
}

fn request(items: Vec<ConversationItem>) -> ModelRequest {
    ModelRequest { model: MODEL.into(), system: String::new(), items, tools: vec![], thinking: ThinkingLevel::Medium }
}

fn body(request: &ModelRequest, options: &ResponsesOptions) -> Value {
    wire::body(request, options, HOST, None)
}

fn call(id: &str, input: Value) -> ProposedCall {
    ProposedCall { id: CallId::new(id), name: "read".into(), input }
}

#[test]
fn the_body_of_a_request() {
    let reply = Reply {
        text: "I look.".into(),
        calls: vec![call("c1", json!({"path": "a"})), call(&"x".repeat(70), json!("odd"))],
        native: vec![],
    };
    let results = vec![
        CallResult { id: CallId::new("c1"), text: "A".into(), failed: false, media: Vec::new() },
        CallResult { id: CallId::new("x".repeat(70)), text: String::new(), failed: true, media: Vec::new() },
    ];
    let mut request = request(vec![
        ConversationItem::User("one".into()),
        ConversationItem::User(" ".into()),
        ConversationItem::Assistant(reply),
        ConversationItem::Results(results),
    ]);
    request.system = "be kind".into();
    request.tools =
        vec![ToolSpec { name: "read".into(), description: "reads".into(), schema: json!({"type": "object"}) }];
    let body =
        wire::body(&request, &ResponsesOptions::default(), HOST, Some(&json!({"temperature": 0, "include": null})));
    let long = body["input"][3]["call_id"].clone();
    assert_eq!(long.as_str().unwrap().len(), 32);
    assert_eq!(
        body,
        json!({
            "model": "m",
            "instructions": "be kind",
            "input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "one"}]},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
                {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{\"path\":\"a\"}"},
                {"type": "function_call", "call_id": long, "name": "read", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1", "output": "A"},
                {"type": "function_call_output", "call_id": long, "output": "(no output)"},
            ],
            "tools": [{"type": "function", "name": "read", "description": "reads", "parameters": {"type": "object"}, "strict": false}],
            "parallel_tool_calls": true,
            "reasoning": {"summary": "auto"},
            "prompt_cache_key": body["prompt_cache_key"].clone(),
            "store": false,
            "stream": true,
            "temperature": 0,
        })
    );
    let key = body["prompt_cache_key"].as_str().unwrap().to_owned();
    request.items.push(ConversationItem::User("more".into()));
    assert_eq!(
        wire::body(&request, &ResponsesOptions::default(), HOST, None)["prompt_cache_key"],
        key,
        "it stays while the conversation grows"
    );
    assert!(!key.contains("one"));
}

#[test]
fn thinking_levels_and_refused_fields() {
    let mut asked = request(vec![ConversationItem::User("x".into())]);
    let table = [
        (ThinkingLevel::Off, 0, Some("none")),
        (ThinkingLevel::Off, 1, Some("minimal")),
        (ThinkingLevel::Low, 0, Some("low")),
        (ThinkingLevel::Medium, 0, None),
        (ThinkingLevel::High, 0, Some("high")),
        (ThinkingLevel::Xhigh, 0, Some("xhigh")),
        (ThinkingLevel::Max, 2, Some("high")),
        (ThinkingLevel::Max, usize::MAX, None),
    ];
    for (level, effort, word) in table {
        asked.thinking = level;
        let body = body(&asked, &ResponsesOptions { effort, ..ResponsesOptions::default() });
        assert_eq!(body.pointer("/reasoning/effort").and_then(Value::as_str), word, "{level:?} {effort}");
        assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
    }
    let bare = body(
        &asked,
        &ResponsesOptions { without: Extra::ALL.into_iter().collect(), effort: 9, ..ResponsesOptions::default() },
    );
    let long = |without| body(&asked, &ResponsesOptions { kept_long: true, without, ..ResponsesOptions::default() });
    assert_eq!(long(Default::default())["prompt_cache_retention"], json!("24h"));
    assert!(long([Extra::Retention].into()).get("prompt_cache_retention").is_none());
    for field in ["include", "reasoning", "prompt_cache_key", "parallel_tool_calls", "prompt_cache_retention"] {
        assert!(bare.get(field).is_none(), "{field}");
    }
    for (model, thinks) in [
        ("gpt-5", true),
        ("o3", true),
        ("gpt-4o", false),
        ("gpt-4.1-mini", false),
        ("llama", true),
        ("openai/gpt-4o", false),
    ] {
        assert_eq!(wire::may_think(model), thinks, "{model}");
    }
}

/// The reply that a recorded stream leads to, as it comes back with the next request.
fn reply_of(name: &str) -> (Reply, Vec<CallResult>) {
    let got = heard(hear(&read([recorded(name).as_slice()])).unwrap());
    let call = |(id, name, input): (String, String, Value)| ProposedCall { id: CallId::new(id), name, input };
    let calls: Vec<ProposedCall> = got.calls.into_iter().map(call).collect();
    let results = calls
        .iter()
        .map(|call| CallResult { id: call.id.clone(), text: "ok".into(), failed: false, media: Vec::new() })
        .collect();
    (Reply { text: got.text, calls, native: got.native.into_iter().collect() }, results)
}

#[test]
fn thinking_is_given_back_byte_for_byte() {
    for (name, count) in [("openai-reasoning-calls", 4), ("lm-studio", 2)] {
        let stream = String::from_utf8(recorded(name)).unwrap();
        let (reply, results) = reply_of(name);
        let asked = request(vec![
            ConversationItem::User("x".into()),
            ConversationItem::Assistant(reply.clone()),
            ConversationItem::Results(results),
        ]);
        let sent = body(&asked, &ResponsesOptions::default());
        let items = sent["input"].as_array().unwrap();
        assert_eq!(items.len(), 1 + count + reply.calls.len(), "{name}");
        for item in &items[1..=count] {
            // As the server wrote it, to the byte.
            assert!(stream.contains(&format!("\"item\":{item}")), "{name}: {item}");
        }
        assert_eq!(items[count + 1]["call_id"], reply.calls[0].id.as_str());
    }
}

#[test]
fn thinking_goes_back_only_where_it_fits() {
    let (reply, _) = reply_of("openai-reasoning-calls");
    let kinds = |asked: &ModelRequest, options: &ResponsesOptions, host: &str| -> Vec<String> {
        let body = wire::body(asked, options, host, None);
        body["input"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap_or("").to_owned()).collect()
    };
    let plain = ["message", "function_call", "function_call"];
    let native = ["reasoning", "message", "function_call", "function_call"];
    let asked = |reply: &Reply| request(vec![ConversationItem::Assistant(reply.clone())]);
    assert_eq!(kinds(&asked(&reply), &ResponsesOptions::default(), HOST), native);
    assert_eq!(kinds(&asked(&reply), &ResponsesOptions::default(), "other.test"), plain);
    let stale = ResponsesOptions { stale: ["resp_2".to_owned()].into(), ..ResponsesOptions::default() };
    assert_eq!(kinds(&asked(&reply), &stale, HOST), plain);
    assert_eq!(
        kinds(&ModelRequest { model: "other".into(), ..asked(&reply) }, &ResponsesOptions::default(), HOST),
        plain
    );
    let changed = [
        Reply { text: "Another text.".into(), ..reply.clone() },
        Reply { calls: reply.calls[..1].to_vec(), ..reply.clone() },
        Reply { calls: vec![call("call_A", json!({})), call("call_C", json!({}))], ..reply.clone() },
        Reply { native: vec![Native { wire: WIRE.into(), json: "oops".into() }], ..reply.clone() },
        Reply { native: vec![Native { wire: "openai-chat".into(), json: "{}".into() }], ..reply.clone() },
    ];
    for reply in changed {
        assert!(
            !kinds(&asked(&reply), &ResponsesOptions::default(), HOST).contains(&"reasoning".to_owned()),
            "{reply:?}"
        );
    }
    // White space is not the text's, and what was edited in a call before it ran is still what the model wrote.
    let shown = Reply { text: "  I look\nat both.\n".into(), ..reply.clone() };
    assert_eq!(kinds(&asked(&shown), &ResponsesOptions::default(), HOST), native);
}

#[test]
fn pictures_and_documents_are_parts_also_of_results() {
    use crate::provider::media::tests::conversation;
    let request = ModelRequest {
        model: "gpt-5".into(),
        system: String::new(),
        items: conversation(),
        tools: vec![],
        thinking: crate::domain::session::ThinkingLevel::Medium,
    };
    let input = |options: &ResponsesOptions| wire::body(&request, options, "api.test", None)["input"].clone();
    let text = |text: &str| json!({"type": "input_text", "text": text});
    let jpg = json!({"type": "input_image", "image_url": "data:image/jpeg;base64,CCCC"});
    let rich = ResponsesOptions { rich_results: true, ..ResponsesOptions::default() };
    let all = input(&rich);
    assert_eq!(
        all[0]["content"],
        json!([
            text("what is it?"),
            {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
            {"type": "input_file", "filename": "b.pdf", "file_data": "data:application/pdf;base64,BBBB"},
        ])
    );
    assert_eq!(all[2]["output"], json!([text("a picture"), jpg]));
    assert_eq!(all.as_array().unwrap().len(), 3);
    let all = input(&ResponsesOptions::default());
    assert_eq!(all[2]["output"], "a picture");
    assert_eq!(all[3]["content"], json!([text("[image c.jpg of the result of call c1]"), jpg]));
    let blind = Sight { pictures: false, documents: false };
    let all = input(&ResponsesOptions { sight: blind, ..rich });
    assert_eq!(all[2]["output"][1], text("[image c.jpg could not be shown to this model]"));
    for (url, rich) in [("https://api.openai.com/v1", true), ("http://127.0.0.1:1/v1", false)] {
        let provider = OpenAiResponses::new(Endpoint::new("x", url)).unwrap();
        assert_eq!(provider.options(&request).rich_results, rich, "{url}");
    }
    let (endpoint, place) = super::super::azure::at_azure(Endpoint::new("x", "https://me.openai.azure.com"), None);
    assert!(OpenAiResponses::at(endpoint, place).unwrap().options(&request).rich_results);
}
