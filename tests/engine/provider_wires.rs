//! Responses, Gemini and OpenAI at Azure against a server on loopback that behaves well and badly, what chat completions learn, and what
//! holds for every wire.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends where its server cannot go on"
)]

use crate::support;

use futures_util::StreamExt;
use lisle::domain::ids::CallId;
use lisle::domain::session::ThinkingLevel;
use lisle::domain::tool::ToolSpec;
use lisle::domain::usage::RequestUsage;
use lisle::provider::anthropic::Anthropic;
use lisle::provider::azure::at_azure;
use lisle::provider::gemini::Gemini;
use lisle::provider::http::{Endpoint, Key};
use lisle::provider::openai_chat::OpenAiChat;
use lisle::provider::openai_responses::OpenAiResponses;
use lisle::provider::{
    CallResult, Chunk, ConversationItem, ModelRequest, ProposedCall, Provider, ProviderError, Reply, Stop,
};
use serde_json::{Value, json};
use std::time::Duration;
use support::model_server::{Asked, Gate, ModelServer, Script};

const KEY: &str = "AIza-very-secret-123456";

/// One of the wires that are tested alike.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wire {
    Responses,
    Gemini,
}

const WIRES: [Wire; 2] = [Wire::Responses, Wire::Gemini];

impl Wire {
    fn provider(self, endpoint: Endpoint) -> Box<dyn Provider> {
        match self {
            Self::Responses => Box::new(OpenAiResponses::new(endpoint).unwrap()),
            Self::Gemini => Box::new(Gemini::new(endpoint).unwrap()),
        }
    }

    fn model(self) -> &'static str {
        match self {
            Self::Responses => "gpt-5.2",
            Self::Gemini => "gemini-3-pro-preview",
        }
    }

    fn recorded(self, name: &str) -> String {
        let folder = if self == Self::Responses { "responses" } else { "gemini" };
        std::fs::read_to_string(format!("{}/tests/streams/{folder}/{name}.sse", env!("CARGO_MANIFEST_DIR"))).unwrap()
    }

    /// A response with thinking, text and two calls.
    fn calls(self) -> String {
        self.recorded(if self == Self::Responses { "openai-reasoning-calls" } else { "thoughts-calls" })
    }

    /// A response with text.
    fn text(self) -> String {
        self.recorded(if self == Self::Responses { "openai" } else { "text" })
    }

    /// A refusal in this wire's form.
    fn refusal(self, status: u16, message: &str, code: &str) -> Script {
        match self {
            Self::Responses => Script::json(
                status,
                &json!({"error": {"message": message, "type": "invalid_request_error", "code": code}}),
            ),
            Self::Gemini => {
                Script::json(status, &json!({"error": {"code": status, "message": message, "status": code}}))
            }
        }
    }
}

fn endpoint(server: &ModelServer) -> Endpoint {
    let mut endpoint = Endpoint::new("work", format!("http://{}/v1", server.address()));
    endpoint.key = Key::new(KEY);
    endpoint
}

fn request(wire: Wire) -> ModelRequest {
    ModelRequest {
        model: wire.model().into(),
        system: "be kind".into(),
        items: vec![ConversationItem::User("hello".into())],
        tools: vec![],
        thinking: ThinkingLevel::Medium,
    }
}

/// The whole response: its chunks, and the error if it ended with one.
async fn ask(provider: &dyn Provider, request: ModelRequest) -> (Vec<Chunk>, Option<ProviderError>) {
    let mut chunks = Vec::new();
    let mut error = None;
    let mut stream = provider.stream(request);
    while let Some(item) = stream.next().await {
        assert!(error.is_none(), "nothing follows an error");
        match item {
            Ok(chunk) => chunks.push(chunk),
            Err(why) => error = Some(why),
        }
    }
    (chunks, error)
}

fn text(chunks: &[Chunk]) -> String {
    chunks.iter().filter_map(|chunk| if let Chunk::Text(text) = chunk { Some(text.as_str()) } else { None }).collect()
}

/// The reply as the agent gives it back.
fn reply(chunks: &[Chunk]) -> Reply {
    let mut out = Reply { text: text(chunks), ..Reply::default() };
    for chunk in chunks {
        match chunk {
            Chunk::Call(call) => out.calls.push(call.clone()),
            Chunk::Native(native) => out.native.push(native.clone()),
            _ => {}
        }
    }
    out
}

/// The key is in the header of this name, and nowhere else in the request.
fn key_is_only_in(asked: &Asked, header: &str) {
    for (name, value) in &asked.headers {
        assert_eq!(value.contains(KEY), name == header, "{name}");
    }
    assert!(!asked.path.contains(KEY) && !asked.body.contains(KEY), "{}", asked.path);
}

/// The error that one script leads to. The key is in none of its words.
async fn failure(wire: Wire, script: Script) -> ProviderError {
    let server = ModelServer::start([script]);
    let (_, error) = ask(&*wire.provider(endpoint(&server)), request(wire)).await;
    let error = error.expect("it fails");
    assert!(!format!("{error} {error:?}").contains(KEY), "{error:?}");
    assert!(error.text.contains("connection work"), "{}", error.text);
    error
}

#[tokio::test]
async fn a_response_is_the_same_whole_and_byte_by_byte() {
    for wire in WIRES {
        let script = Script::sse(wire.calls());
        let server = ModelServer::start([script.clone(), script.byte_by_byte()]);
        let provider = wire.provider(endpoint(&server));
        let (whole, error) = ask(&*provider, request(wire)).await;
        assert_eq!(error, None);
        assert_eq!(text(&whole), "I look at both.");
        assert!(matches!(whole.first(), Some(Chunk::Started(Some(_)))));
        assert_eq!(whole.last(), Some(&Chunk::Stopped(Stop::Calls)));
        assert_eq!(ask(&*provider, request(wire)).await, (whole, None));

        let asked = server.asked();
        let (path, header) = match wire {
            Wire::Responses => ("/v1/responses", "authorization"),
            Wire::Gemini => ("/v1/models/gemini-3-pro-preview:streamGenerateContent?alt=sse", "x-goog-api-key"),
        };
        assert_eq!((asked[0].method.as_str(), asked[0].path.as_str()), ("POST", path));
        key_is_only_in(&asked[0], header);
    }
}

#[tokio::test]
async fn thinking_comes_back_to_the_byte_after_the_tools() {
    for wire in WIRES {
        let server = ModelServer::start([Script::sse(wire.calls()), Script::sse(wire.text())]);
        let provider = wire.provider(endpoint(&server));
        let (chunks, _) = ask(&*provider, request(wire)).await;
        let reply = reply(&chunks);
        let results = reply
            .calls
            .iter()
            .map(|call| CallResult { id: call.id.clone(), text: "ok".into(), failed: false, media: Vec::new() })
            .collect();
        let items = vec![
            ConversationItem::User("hello".into()),
            ConversationItem::Assistant(reply),
            ConversationItem::Results(results),
        ];
        let (chunks, error) = ask(&*provider, ModelRequest { items, ..request(wire) }).await;
        assert_eq!((error, text(&chunks).as_str()), (None, "Grüße 🌊!"));
        let sent = server.asked()[1].body.clone();
        let exact = match wire {
            Wire::Responses => {
                r#"{"id":"rs_1","type":"reasoning","encrypted_content":"gAAAAABo/x+Y=ü","summary":[{"type":"summary_text","text":"**Looking**\n\nTwo files."},{"type":"summary_text","text":"Both at once."}]}"#
            }
            Wire::Gemini => {
                r#"{"functionCall":{"name":"read","args":{"path":"aü.txt","line":1}},"thoughtSignature":"CiQB0e2Kb/+x=="}"#
            }
        };
        assert!(wire.calls().contains(exact) && sent.contains(exact), "{sent}");
    }
}

#[tokio::test]
async fn refusals_by_status() {
    for wire in WIRES {
        let limited = || wire.refusal(429, "slow down", "rate_limit_exceeded");
        let error = failure(wire, limited().header("retry-after", "7")).await;
        assert_eq!((error.code, error.retry, error.after), ("rate_limited", true, Some(Duration::from_secs(7))));
        let error = failure(wire, limited()).await;
        assert_eq!((error.code, error.retry, error.after), ("rate_limited", true, None));
        let error = failure(wire, limited().header("x-ratelimit-reset-requests", "1m2s")).await;
        assert_eq!(error.after, Some(Duration::from_secs(62)));

        let error = failure(wire, wire.refusal(401, &format!("Incorrect key: {KEY}"), "x")).await;
        assert_eq!((error.code, error.retry), ("invalid_api_key", false));
        assert!(error.text.contains("***") && error.detail.contains("***"), "{error:?}");
        let error = failure(wire, wire.refusal(413, "too big", "x")).await;
        assert_eq!((error.code, error.retry), ("invalid_request", false));
        let words = "The input token count (9) exceeds the maximum number of tokens allowed (8).";
        let error = failure(wire, wire.refusal(400, words, "INVALID_ARGUMENT")).await;
        assert_eq!((error.code, error.retry), ("context_overflow", false));
        let error = failure(wire, wire.refusal(503, "x", "UNAVAILABLE")).await;
        assert_eq!((error.code, error.retry), ("service_unavailable", true));
        let error = failure(wire, Script::html()).await;
        assert_eq!((error.code, error.retry), ("provider_error", false));
        let error = failure(wire, Script::json(200, &json!({"hello": "world"}))).await;
        assert_eq!((error.code, error.retry), ("provider_error", false));
        assert_eq!(failure(wire, Script::death()).await.code, "network_error");
    }
    for (code, expected) in [("insufficient_quota", "billing_error"), ("context_length_exceeded", "context_overflow")] {
        assert_eq!(failure(Wire::Responses, Wire::Responses.refusal(429, "x", code)).await.code, expected);
    }
    let error =
        failure(Wire::Responses, Wire::Responses.refusal(404, "The model `x` does not exist", "model_not_found")).await;
    assert_eq!(error.code, "invalid_model");
    let error = failure(Wire::Gemini, Wire::Gemini.refusal(429, "Please retry in 1.5s.", "RESOURCE_EXHAUSTED")).await;
    assert_eq!((error.code, error.after), ("rate_limited", Some(Duration::from_millis(1_500))));
}

#[tokio::test]
async fn a_stream_that_breaks_in_a_call_can_be_tried_again_and_gives_no_call() {
    for wire in WIRES {
        let whole = wire.calls();
        // Inside of the arguments of the first call.
        let at = whole.find("\"delta\":\"{\\\"pa").or_else(|| whole.find("\"functionCall\"")).unwrap() + 12;
        for script in [Script::sse(&whole[..at]), Script::sse(&whole[..at]).then_drop()] {
            let server = ModelServer::start([script]);
            let (chunks, error) = ask(&*wire.provider(endpoint(&server)), request(wire)).await;
            let error = error.unwrap();
            assert_eq!((error.code, error.retry), ("network_error", true), "{error:?}");
            assert_eq!(text(&chunks), "I look at both.");
            assert!(!chunks.iter().any(|chunk| matches!(chunk, Chunk::Call(_) | Chunk::Native(_) | Chunk::Stopped(_))));
        }
        let server = ModelServer::start([Script::sse(&whole[..at]).then_stall()]);
        let mut silent = endpoint(&server);
        silent.stall = Duration::from_millis(100);
        let (_, error) = ask(&*wire.provider(silent), request(wire)).await;
        assert_eq!(error.unwrap().title, "Response stalled");
        server.hung_up_times(1).await;
    }
}

#[tokio::test]
async fn errors_in_the_stream_end_it() {
    let table = [
        (Wire::Responses, json!({"type": "error", "code": "server_error", "message": "x"}), "service_error"),
        (
            Wire::Responses,
            json!({"type": "response.failed", "response": {"error": {"code": "rate_limit_exceeded", "message": "Please try again in 2s."}}}),
            "rate_limited",
        ),
        (Wire::Gemini, json!({"error": {"code": 503, "message": "x", "status": "UNAVAILABLE"}}), "service_unavailable"),
        (
            Wire::Gemini,
            json!({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "print(x)"}]}),
            "service_error",
        ),
    ];
    for (wire, event, code) in table {
        let whole = wire.text();
        let begun = &whole[..whole.find("🌊").unwrap()];
        let begun = &begun[..begun.rfind("data:").unwrap()];
        let server = ModelServer::start([Script::sse(begun).then(format!("data: {event}\n\n"))]);
        let (chunks, error) = ask(&*wire.provider(endpoint(&server)), request(wire)).await;
        let error = error.unwrap();
        assert_eq!((error.code, error.retry), (code, true), "{event}");
        assert!(text(&chunks).starts_with("Grüße"), "{chunks:?}");
    }
}

#[tokio::test]
async fn a_huge_event_is_taken_and_an_endless_one_refused() {
    for wire in WIRES {
        let long = "x".repeat(2 * 1024 * 1024);
        let event = match wire {
            Wire::Responses => json!({"type": "response.output_text.delta", "output_index": 0, "delta": long}),
            Wire::Gemini => json!({"candidates": [{"content": {"parts": [{"text": long}]}}]}),
        };
        let script = Script::sse(format!("data: {event}\n\n{}", wire.text()));
        let endless = Script::sse(format!("data: {}", "y".repeat(17 * 1024 * 1024)));
        let server = ModelServer::start([script, endless]);
        let provider = wire.provider(endpoint(&server));
        let (chunks, error) = ask(&*provider, request(wire)).await;
        assert_eq!((error, text(&chunks).len() > long.len()), (None, true));
        assert_eq!(ask(&*provider, request(wire)).await.1.unwrap().code, "response_too_large");
    }
}

#[tokio::test]
async fn dropping_the_stream_ends_the_request() {
    for wire in WIRES {
        let whole = wire.text();
        let server = ModelServer::start([Script::sse(&whole[..whole.find("🌊").unwrap()]).then_stall()]);
        let mut stream = wire.provider(endpoint(&server)).stream(request(wire));
        assert!(stream.next().await.is_some());
        drop(stream);
        server.hung_up_times(1).await;
    }
}

#[tokio::test]
async fn whole_responses_instead_of_streams_are_taken() {
    let message = json!({"type": "message", "content": [{"type": "output_text", "text": "hi"}]});
    let bodies = [
        (
            Wire::Responses,
            json!({"id": "r", "object": "response", "status": "completed", "error": null, "output": [message]}),
        ),
        (Wire::Gemini, json!([{"candidates": [{"content": {"parts": [{"text": "hi"}]}, "finishReason": "STOP"}]}])),
    ];
    for (wire, body) in bodies {
        let server = ModelServer::start([Script::json(200, &body)]);
        let (chunks, error) = ask(&*wire.provider(endpoint(&server)), request(wire)).await;
        assert_eq!((error, text(&chunks).as_str(), chunks.last()), (None, "hi", Some(&Chunk::Stopped(Stop::Done))));
    }
}

#[tokio::test]
async fn what_a_model_refuses_is_left_out_and_remembered() {
    let refuse = |text: &str| Wire::Responses.refusal(400, text, "unsupported_value");
    let done = || Script::sse(Wire::Responses.text());
    let server = ModelServer::start([
        refuse("Encrypted content is not supported with this model."),
        refuse("Unsupported parameter: 'reasoning.summary' is not supported with this model."),
        refuse("Unsupported value: 'reasoning.effort' does not support 'max' with this model."),
        done(),
        done(),
        refuse("something else"),
    ]);
    let provider = Wire::Responses.provider(endpoint(&server));
    let asking = ModelRequest { thinking: ThinkingLevel::Max, ..request(Wire::Responses) };
    assert_eq!(ask(&*provider, asking.clone()).await.1, None);
    assert_eq!(ask(&*provider, asking.clone()).await.1, None);
    assert_eq!(ask(&*provider, asking).await.1.unwrap().code, "invalid_request");
    let sent: Vec<_> = server
        .asked()
        .iter()
        .map(|asked| (asked.json()["include"].clone(), asked.json()["reasoning"].clone()))
        .collect();
    assert_eq!(sent[0], (json!(["reasoning.encrypted_content"]), json!({"effort": "max", "summary": "auto"})));
    assert_eq!(sent[1], (Value::Null, json!({"effort": "max", "summary": "auto"})));
    assert_eq!(sent[2], (Value::Null, json!({"effort": "max"})));
    assert!(sent[3..].iter().all(|one| *one == (Value::Null, json!({"effort": "xhigh"}))), "{sent:?}");

    let server = ModelServer::start([
        Wire::Gemini.refusal(400, "Thinking level MINIMAL is not supported for this model.", "INVALID_ARGUMENT"),
        Script::sse(Wire::Gemini.text()),
    ]);
    let provider = Wire::Gemini.provider(endpoint(&server));
    assert_eq!(ask(&*provider, ModelRequest { thinking: ThinkingLevel::Off, ..request(Wire::Gemini) }).await.1, None);
    assert_eq!(server.asked()[1].json()["generationConfig"]["thinkingConfig"]["thinkingLevel"], "low");
}

#[tokio::test]
async fn thinking_that_the_server_cannot_read_any_more_is_left_out() {
    for (wire, refusal) in [
        (
            Wire::Responses,
            Wire::Responses.refusal(
                400,
                "The encrypted content gAAA could not be verified.",
                "invalid_encrypted_content",
            ),
        ),
        (Wire::Gemini, Wire::Gemini.refusal(400, "Corrupted thought signature.", "INVALID_ARGUMENT")),
    ] {
        let server =
            ModelServer::start([Script::sse(wire.calls()), refusal.clone(), Script::sse(wire.text()), refusal]);
        let provider = wire.provider(endpoint(&server));
        let reply = reply(&ask(&*provider, request(wire)).await.0);
        let results = reply
            .calls
            .iter()
            .map(|call| CallResult { id: call.id.clone(), text: "ok".into(), failed: false, media: Vec::new() })
            .collect();
        let next = ModelRequest {
            items: vec![ConversationItem::Assistant(reply), ConversationItem::Results(results)],
            ..request(wire)
        };
        assert_eq!(ask(&*provider, next.clone()).await.1, None, "{wire:?}");
        let asked = server.asked();
        let secret = if wire == Wire::Responses { "gAAAAABo" } else { "CiQB0e2Kb" };
        assert!(asked[1].body.contains(secret) && !asked[2].body.contains(secret));
        // It is not tried for ever.
        assert_eq!(ask(&*provider, next).await.1.unwrap().code, "invalid_request");
        assert_eq!(server.asked().len(), 4);
    }
}

#[tokio::test]
async fn models_are_listed_page_by_page_and_the_key_stays_in_its_header() {
    let model = |name: &str| json!({"name": name, "supportedGenerationMethods": ["generateContent"]});
    let server = ModelServer::start([
        Script::json(200, &json!({"models": [model("models/b")], "nextPageToken": "a b&c"})),
        Script::json(200, &json!({"models": [model("models/a"), model("models/b")]})),
        Script::json(403, &json!({"error": {"code": 403, "message": "x", "status": "PERMISSION_DENIED"}})),
        Script::json(200, &json!({"hello": 1})),
    ]);
    let provider = Wire::Gemini.provider(endpoint(&server));
    assert_eq!(provider.models().await.unwrap(), ["a", "b"]);
    assert_eq!(provider.models().await.unwrap_err().code, "invalid_api_key");
    assert_eq!(provider.models().await.unwrap_err().code, "provider_error");
    let asked = server.asked();
    assert_eq!(asked[0].path, "/v1/models?pageSize=1000");
    assert_eq!(asked[1].path, "/v1/models?pageSize=1000&pageToken=a%20b%26c");
    asked.iter().for_each(|asked| key_is_only_in(asked, "x-goog-api-key"));
    let server = ModelServer::start([Script::json(200, &json!({"data": [{"id": "m"}]}))]);
    assert_eq!(Wire::Responses.provider(endpoint(&server)).models().await.unwrap(), ["m"]);
}

#[tokio::test]
async fn a_redirect_takes_no_key_to_another_server() {
    for wire in WIRES {
        let other = ModelServer::start([Script::sse(wire.text())]);
        let script = Script::new(307, "text/plain", "").header("location", &format!("http://{}/x", other.address()));
        assert_eq!(failure(wire, script).await.code, "provider_error");
        assert!(other.asked().is_empty());
    }
}

#[tokio::test]
async fn azure_is_asked_at_its_own_addresses_with_its_own_header() {
    let server = ModelServer::start([Script::says("a"), Script::says("b"), Script::sse(Wire::Responses.text())]);
    let mut plain = Endpoint::new("work", format!("http://{}", server.address()));
    plain.key = Key::new(KEY);
    plain.models = vec!["my-gpt".into()];
    let asking = ModelRequest { model: "my-gpt".into(), ..request(Wire::Responses) };
    for version in [None, Some("2024-10-21")] {
        let (endpoint, place) = at_azure(plain.clone(), version);
        let provider = OpenAiChat::at(endpoint, place).unwrap();
        assert_eq!(ask(&provider, asking.clone()).await.1, None);
        assert_eq!(provider.models().await.unwrap(), ["my-gpt"], "nothing is asked");
    }
    let (endpoint, place) = at_azure(plain, Some("preview"));
    let provider = OpenAiResponses::at(endpoint, place).unwrap();
    assert_eq!(ask(&provider, asking).await.1, None);
    let asked = server.asked();
    let paths: Vec<&str> = asked.iter().map(|asked| asked.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "/openai/v1/chat/completions",
            "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21",
            "/openai/v1/responses?api-version=preview",
        ]
    );
    for asked in &asked {
        key_is_only_in(asked, "api-key");
        assert_eq!(asked.json()["model"], "my-gpt");
    }
}

#[tokio::test]
async fn a_model_without_tools_is_told_of_once_and_then_asked_without() {
    let refusal =
        Script::json(400, &json!({"error": {"message": "registry.ollama.ai/library/gemma:2b does not support tools"}}));
    let server = ModelServer::start([refusal, Script::says("hi")]);
    let provider = OpenAiChat::new(endpoint(&server)).unwrap();
    let tool = ToolSpec { name: "read".into(), description: "reads".into(), schema: json!({"type": "object"}) };
    let asking = ModelRequest { tools: vec![tool], ..request(Wire::Responses) };
    let error = ask(&provider, asking.clone()).await.1.unwrap();
    assert_eq!((error.code, error.retry), ("model_no_tool_support", false));
    assert!(error.text.ends_with("Retry sends it without tools."), "{}", error.text);
    assert_eq!(ask(&provider, asking).await.1, None);
    let asked = server.asked();
    assert!(asked[0].json().get("tools").is_some() && asked[1].json().get("tools").is_none());
}

#[tokio::test]
async fn deepseek_gets_the_thinking_of_every_call_where_it_wants_it() {
    let words = "The reasoning_content in the thinking mode must be passed back to the API.";
    let server = ModelServer::start([Script::json(400, &json!({"error": {"message": words}})), Script::says("hi")]);
    let provider = OpenAiChat::new(endpoint(&server)).unwrap();
    let calls = vec![ProposedCall { id: CallId::new("c"), name: "read".into(), input: json!({}) }];
    let results = vec![CallResult { id: CallId::new("c"), text: "x".into(), failed: false, media: Vec::new() }];
    let items =
        vec![ConversationItem::Assistant(Reply { calls, ..Reply::default() }), ConversationItem::Results(results)];
    assert_eq!(ask(&provider, ModelRequest { items, ..request(Wire::Responses) }).await.1, None);
    assert_eq!(server.asked()[1].json()["messages"][1]["reasoning_content"], "");
}

#[tokio::test]
async fn ollama_is_asked_how_much_context_it_gives_a_running_model() {
    let server = ModelServer::start([
        Script::json(200, &json!({"data": [{"id": "qwen3:8b", "owned_by": "library"}]})),
        Script::json(200, &json!({"models": [{"name": "qwen3:8b", "model": "qwen3:8b", "context_length": 4096}]})),
    ]);
    let provider = OpenAiChat::new(endpoint(&server)).unwrap();
    assert_eq!(provider.figures("qwen3:8b", RequestUsage::default()).0, None);
    assert_eq!(provider.models().await.unwrap(), ["qwen3:8b"]);
    assert_eq!(server.asked()[1].path, "/api/ps");
    assert_eq!(provider.figures("qwen3:8b", RequestUsage::default()).0, Some(4_096));
}

/// A stream file of a wire.
fn stream(path: &str) -> Script {
    Script::sse(std::fs::read_to_string(format!("{}/tests/streams/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap())
}

#[tokio::test]
async fn two_requests_that_learn_the_same_at_once_both_go_on() {
    let openai = |text: &str| Wire::Responses.refusal(400, text, "unsupported_value");
    let anthropic = |text: &str| {
        let error = json!({"type": "invalid_request_error", "message": text});
        Script::json(400, &json!({"type": "error", "error": error}))
    };
    type Open = fn(Endpoint) -> Box<dyn Provider>;
    let wires: [(&str, &str, Open, Script, Script); 6] = [
        (
            "responses",
            "gpt-5.2",
            |at| Box::new(OpenAiResponses::new(at).unwrap()),
            openai("Encrypted content is not supported with this model."),
            Script::sse(Wire::Responses.text()),
        ),
        (
            "responses, the effort",
            "gpt-5.2",
            |at| Box::new(OpenAiResponses::new(at).unwrap()),
            openai("Unsupported value: 'reasoning.effort' does not support 'max' with this model."),
            Script::sse(Wire::Responses.text()),
        ),
        (
            "gemini",
            "gemini-3-pro-preview",
            |at| Box::new(Gemini::new(at).unwrap()),
            Wire::Gemini.refusal(400, "Thinking is not supported for this model.", "INVALID_ARGUMENT"),
            Script::sse(Wire::Gemini.text()),
        ),
        (
            "chat",
            "m",
            |at| Box::new(OpenAiChat::new(at).unwrap()),
            openai("unknown field stream_options"),
            Script::says("hi"),
        ),
        (
            "chat, a stale word",
            "m",
            |at| Box::new(OpenAiChat::new(at).unwrap()),
            openai("reasoning_effort: max is not known"),
            Script::says("hi"),
        ),
        (
            "anthropic",
            "claude-opus-4-6",
            |at| Box::new(Anthropic::new(at).unwrap()),
            anthropic("cache_control is not permitted here"),
            stream("anthropic/text.sse"),
        ),
    ];
    for (name, model, open, refusal, answer) in wires {
        // Both are asked before either is refused.
        let gate = Gate::new();
        let held = || refusal.clone().held(&gate);
        let server = ModelServer::start([held(), held(), answer.clone(), answer.clone()]);
        let provider = open(endpoint(&server));
        let asking = ModelRequest { model: model.into(), thinking: ThinkingLevel::Max, ..request(Wire::Responses) };
        let both = async {
            server.asked_times(2).await;
            gate.open();
        };
        let (first, second, ()) = tokio::join!(ask(&*provider, asking.clone()), ask(&*provider, asking.clone()), both);
        assert_eq!((first.1, second.1), (None, None), "{name}");
        let asked = server.asked();
        assert_eq!(asked.len(), 4, "{name}");
        assert!(asked[0].body == asked[1].body && asked[2].body != asked[0].body, "{name}");
        assert_eq!(asked[2].body, asked[3].body, "{name}: both learned the same");
    }
}

#[tokio::test]
async fn halves_of_characters_wait_for_each_other_in_every_wire() {
    let events = |list: &[&str]| list.iter().map(|data| format!("data: {data}\n\n")).collect::<String>();
    let chat = events(&[
        r#"{"choices":[{"index":0,"delta":{"reasoning_content":"t\ud83d"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"reasoning_content":"\ude00"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"a\ud83d"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"\ude00b\ud83d"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"read","arguments":"{\"path\":\"\ud83d"}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\ude00\\ud83d\\ude00\\ud83d\"}"}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
        "[DONE]",
    ]);
    let anthropic = events(&[
        r#"{"type":"message_start","message":{"id":"m"}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"t\ud83d"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"\ude00"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a\ud83d"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"\ude00b\ud83d"}}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"c","name":"read","input":{}}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"\ud83d"}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"\ude00\\ud83d\\ude00\\ud83d\"}"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    let responses = events(&[
        r#"{"type":"response.created","response":{"id":"r"}}"#,
        r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"rs","type":"reasoning"}}"#,
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"t\ud83d"}"#,
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"\ude00"}"#,
        r#"{"type":"response.output_item.added","output_index":1,"item":{"id":"m","type":"message"}}"#,
        r#"{"type":"response.output_text.delta","output_index":1,"delta":"a\ud83d"}"#,
        r#"{"type":"response.output_text.delta","output_index":1,"delta":"\ude00b\ud83d"}"#,
        r#"{"type":"response.output_item.added","output_index":2,"item":{"id":"f","type":"function_call","call_id":"c","name":"read"}}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":2,"delta":"{\"path\":\"\ud83d"}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":2,"delta":"\ude00\\ud83d\\ude00\\ud83d\"}"}"#,
        r#"{"type":"response.completed","response":{"id":"r","status":"completed"}}"#,
    ]);
    let gemini = events(&[
        r#"{"responseId":"r","candidates":[{"content":{"parts":[{"text":"t\ud83d","thought":true}]}}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"\ude00","thought":true}]}}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"a\ud83d"}]}}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"\ude00b\ud83d"}]}}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"read","args":{"path":"\ud83d\ude00\ud83d\ude00\ud83d"}}}]},"finishReason":"STOP"}]}"#,
    ]);
    type Open = fn(Endpoint) -> Box<dyn Provider>;
    let wires: [(&str, Open, String); 4] = [
        ("chat", |at| Box::new(OpenAiChat::new(at).unwrap()), chat),
        ("anthropic", |at| Box::new(Anthropic::new(at).unwrap()), anthropic),
        ("responses", |at| Box::new(OpenAiResponses::new(at).unwrap()), responses),
        ("gemini", |at| Box::new(Gemini::new(at).unwrap()), gemini),
    ];
    for (name, open, body) in wires {
        let server = ModelServer::start([Script::sse(body)]);
        let (chunks, error) = ask(&*open(endpoint(&server)), request(Wire::Responses)).await;
        assert_eq!(error, None, "{name}");
        let thinking: String = chunks
            .iter()
            .filter_map(|chunk| if let Chunk::Thinking(text) = chunk { Some(text.as_str()) } else { None })
            .collect();
        assert_eq!((thinking.as_str(), text(&chunks).as_str()), ("t😀", "a😀b\u{fffd}"), "{name}");
        let calls = reply(&chunks).calls;
        assert_eq!(calls[0].input, json!({"path": "😀😀\u{fffd}"}), "{name}");
    }
}
