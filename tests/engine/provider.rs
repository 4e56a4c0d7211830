//! The Chat Completions provider against a server on loopback that behaves well and badly.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends where its server cannot go on")]

use crate::support;

use futures_util::StreamExt;
use lisle::domain::session::ThinkingLevel;
use lisle::domain::usage::RequestUsage;
use lisle::provider::http::{Endpoint, Key};
use lisle::provider::openai_chat::OpenAiChat;
use lisle::provider::{Chunk, ConversationItem, ModelRequest, Provider, ProviderError, Stop};
use serde_json::{Value, json};
use std::time::Duration;
use support::model_server::{Gate, ModelServer, Script, chunk};

const KEY: &str = "sk-very-secret-123456";

fn endpoint(server: &ModelServer) -> Endpoint {
    let mut endpoint = Endpoint::new("work", server.base_url());
    endpoint.key = Key::new(KEY);
    endpoint
}

fn provider(server: &ModelServer) -> OpenAiChat {
    OpenAiChat::new(endpoint(server)).unwrap()
}

fn request() -> ModelRequest {
    ModelRequest {
        model: "m".into(),
        system: "be kind".into(),
        items: vec![ConversationItem::User("hello".into())],
        tools: vec![],
        thinking: ThinkingLevel::Medium,
    }
}

/// The whole response: its chunks, and the error if it ended with one.
async fn ask(provider: &OpenAiChat, request: ModelRequest) -> (Vec<Chunk>, Option<ProviderError>) {
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

/// The error that one script leads to. It never holds the key.
async fn failure(script: Script) -> ProviderError {
    let server = ModelServer::start([script]);
    let (_, error) = ask(&provider(&server), request()).await;
    let error = error.expect("it fails");
    assert!(!format!("{error:?}").contains(KEY), "{error:?}");
    assert!(error.text.contains("127.0.0.1") && error.text.contains("connection work"), "{}", error.text);
    error
}

#[tokio::test]
async fn a_response_is_the_same_whole_and_byte_by_byte() {
    let script = Script::says("Grüße an 🌊 alle");
    let server = ModelServer::start([script.clone(), script.byte_by_byte()]);
    let provider = provider(&server);
    let (whole, error) = ask(&provider, request()).await;
    assert_eq!(error, None);
    assert_eq!(text(&whole), "Grüße an 🌊 alle");
    assert_eq!(whole.first(), Some(&Chunk::Started(Some("chatcmpl-1".into()))));
    assert_eq!(whole.last(), Some(&Chunk::Stopped(Stop::Done)));
    assert!(whole.contains(&Chunk::Usage(RequestUsage { input: 100, output: 10, ..RequestUsage::default() })));
    assert_eq!(ask(&provider, request()).await, (whole, None));

    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!((asked[0].method.as_str(), asked[0].path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(asked[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(asked[0].json()["messages"][1], json!({"role": "user", "content": "hello"}));
    assert_eq!(asked[0].json()["stream"], true);
}

#[tokio::test]
async fn text_comes_as_it_is_written_and_nothing_is_asked_before_the_stream_is_polled() {
    let gate = Gate::new();
    let script = Script::sse(chunk(json!({"content": "one "}), Value::Null))
        .then_wait(&gate)
        .then(chunk(json!({"content": "two"}), json!("stop")))
        .then("data: [DONE]\n\n");
    let server = ModelServer::start([script]);
    let mut stream = provider(&server).stream(request());
    assert!(server.asked().is_empty());
    assert!(matches!(stream.next().await, Some(Ok(Chunk::Started(_)))));
    assert_eq!(stream.next().await, Some(Ok(Chunk::Text("one ".into()))));
    gate.open();
    let rest: Vec<_> = stream.collect().await;
    assert_eq!(rest, [Ok(Chunk::Text("two".into())), Ok(Chunk::Stopped(Stop::Done))]);
}

#[tokio::test]
async fn calls_come_whole() {
    let server = ModelServer::start([Script::calls(&[("read", json!({"path": "a"})), ("list", json!({}))])]);
    let (chunks, _) = ask(&provider(&server), request()).await;
    let calls: Vec<_> =
        chunks.iter().filter_map(|c| if let Chunk::Call(call) = c { Some(call.clone()) } else { None }).collect();
    assert_eq!(calls.len(), 2);
    assert_eq!((calls[0].name.as_str(), &calls[0].input), ("read", &json!({"path": "a"})));
    assert_eq!(chunks.last(), Some(&Chunk::Stopped(Stop::Calls)));
}

#[tokio::test]
async fn dropping_the_stream_ends_the_request() {
    let server = ModelServer::start([Script::sse(chunk(json!({"content": "x"}), Value::Null)).then_stall()]);
    let mut stream = provider(&server).stream(request());
    assert!(stream.next().await.is_some());
    drop(stream);
    server.hung_up_times(1).await;
}

#[tokio::test]
async fn refusals_by_status() {
    let error = failure(
        Script::json(429, &json!({"error": {"message": "slow down", "code": "rate_limit_exceeded"}}))
            .header("retry-after", "7"),
    )
    .await;
    assert_eq!((error.code, error.retry, error.after), ("rate_limited", true, Some(Duration::from_secs(7))));
    assert!(error.text.contains("slow down"), "{}", error.text);

    let error = failure(Script::json(401, &json!({"error": {"message": format!("Incorrect key: {KEY}")}}))).await;
    assert_eq!((error.code, error.retry), ("invalid_api_key", false));
    assert!(error.text.contains("***") && error.detail.contains("***"), "{error:?}");

    let error = failure(Script::new(404, "text/plain", "404 page not found")).await;
    assert_eq!(error.code, "invalid_request");
    assert!(error.text.contains("base_url"), "{}", error.text);

    let error = failure(Script::new(503, "text/html", "<h1>Bad</h1>").header("retry-after-ms", "1500")).await;
    assert_eq!((error.code, error.after), ("service_unavailable", Some(Duration::from_millis(1500))));

    // A refusal whose words never end is a refusal all the same.
    let error = failure(Script::new(500, "text/plain", "oops").then_drop()).await;
    assert_eq!((error.code, error.detail.as_str()), ("service_error", "oops"));
}

#[tokio::test]
async fn what_is_no_api() {
    for script in [
        Script::html(),
        Script::new(200, "text/plain", "\n <!doctype html>"),
        Script::new(200, "text/event-stream", "<html>"),
        Script::new(200, "application/json", "{\"a\":1}\n{\"b\":2}"),
        Script::json(200, &json!({"hello": "world"})),
    ] {
        let error = failure(script).await;
        assert_eq!((error.code, error.retry), ("provider_error", false));
        assert!(error.text.contains("base_url"), "{}", error.text);
        assert!(!error.detail.is_empty());
    }
    // Words that are no events: the stream ends without anything.
    let error = failure(Script::new(200, "text/plain", "hello")).await;
    assert_eq!(error.code, "provider_error");
}

#[tokio::test]
async fn a_whole_response_instead_of_a_stream_is_taken() {
    let message = json!({"role": "assistant", "content": "hi", "reasoning_content": "hm", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "list", "arguments": "{}"}}]});
    let body = json!({"id": "x", "object": "chat.completion", "usage": {"prompt_tokens": 5, "completion_tokens": 2},
                      "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]});
    let server = ModelServer::start([Script::json(200, &body).byte_by_byte()]);
    let (chunks, error) = ask(&provider(&server), request()).await;
    assert_eq!(error, None);
    assert_eq!(text(&chunks), "hi");
    assert!(chunks.contains(&Chunk::Thinking("hm".into())));
    assert!(chunks.iter().any(|chunk| matches!(chunk, Chunk::Call(call) if call.name == "list")));
    assert_eq!(chunks.last(), Some(&Chunk::Stopped(Stop::Calls)));
    let error =
        failure(Script::json(200, &json!({"error": {"message": "Overloaded", "type": "overloaded_error"}}))).await;
    assert_eq!((error.code, error.retry), ("service_unavailable", true));
}

#[tokio::test]
async fn a_stream_that_breaks_off_can_be_tried_again() {
    let begun = chunk(json!({"content": "half"}), Value::Null);
    for script in [
        Script::sse(&begun).then_drop(),
        Script::sse(&begun),
        Script::sse(&begun).then("data: {\"choices\":[{\"del"),
        Script::sse(&begun).then("data: {\"choices\":[{\"del").then_drop(),
    ] {
        let server = ModelServer::start([script]);
        let (chunks, error) = ask(&provider(&server), request()).await;
        assert_eq!(text(&chunks), "half");
        let error = error.unwrap();
        assert_eq!((error.code, error.retry), ("network_error", true), "{error:?}");
        assert_eq!(error.title, "Response interrupted");
    }
    let error = failure(Script::death()).await;
    assert_eq!((error.code, error.retry), ("network_error", true));
}

#[tokio::test]
async fn errors_in_the_stream_end_it() {
    let begun = chunk(json!({"content": "half"}), Value::Null);
    for (event, code) in [
        ("data: {\"error\":{\"message\":\"The server had an error\",\"type\":\"server_error\"}}\n\n", "service_error"),
        ("event: error\ndata: {\"error\":{\"message\":\"x\",\"code\":429}}\n\n", "rate_limited"),
        ("error: {\"code\":500,\"message\":\"x\",\"type\":\"server_error\"}\n\n", "service_error"),
        ("event: error\ndata: the context length exceeded all\n\n", "context_overflow"),
        ("data: {oops}\n\n", "provider_error"),
    ] {
        let server = ModelServer::start([Script::sse(&begun).then(event).then_stall()]);
        let (chunks, error) = ask(&provider(&server), request()).await;
        assert_eq!(text(&chunks), "half");
        assert_eq!(error.unwrap().code, code, "{event}");
    }
}

#[tokio::test]
async fn silence_has_limits() {
    let begun = chunk(json!({"content": "half"}), Value::Null);
    let server =
        ModelServer::start([Script::sse(&begun).then_stall(), Script::silence(), Script::sse("").then_stall()]);
    let mut endpoint = endpoint(&server);
    endpoint.stall = Duration::from_millis(100);
    endpoint.first_byte = Some(Duration::from_millis(100));
    let provider = OpenAiChat::new(endpoint).unwrap();
    let (chunks, error) = ask(&provider, request()).await;
    assert_eq!(text(&chunks), "half");
    let error = error.unwrap();
    assert_eq!((error.code, error.retry, error.title.as_str()), ("network_error", true, "Response stalled"));
    for _ in 0..2 {
        let (chunks, error) = ask(&provider, request()).await;
        assert!(chunks.is_empty());
        let error = error.unwrap();
        assert_eq!((error.code, error.retry), ("service_unavailable", false));
        assert!(error.text.contains("100 ms"), "{}", error.text);
    }
    server.hung_up_times(3).await;
}

#[tokio::test]
async fn a_server_that_forgets_to_end_has_still_answered() {
    let server = ModelServer::start([
        Script::sse(chunk(json!({"content": "all"}), json!("stop"))).then_stall(),
        Script::sse(chunk(json!({"content": "all"}), json!("stop"))).then_drop(),
    ]);
    let mut endpoint = endpoint(&server);
    endpoint.stall = Duration::from_millis(100);
    let provider = OpenAiChat::new(endpoint).unwrap();
    for _ in 0..2 {
        let (chunks, error) = ask(&provider, request()).await;
        assert_eq!(error, None);
        assert_eq!(text(&chunks), "all");
        assert_eq!(chunks.last(), Some(&Chunk::Stopped(Stop::Done)));
    }
}

#[tokio::test]
async fn refused_options_are_left_out_and_remembered() {
    let refuse = |text: &str| Script::json(400, &json!({"error": {"message": text, "type": "invalid_request_error"}}));
    let server = ModelServer::start([
        refuse("Unknown field: stream_options"),
        refuse("Unsupported value: 'reasoning_effort' does not support 'max' with this model."),
        refuse("Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model."),
        Script::says("a"),
        Script::says("b"),
        refuse("something else"),
    ]);
    let provider = provider(&server);
    let request = ModelRequest { thinking: ThinkingLevel::Max, ..request() };
    assert_eq!(text(&ask(&provider, request.clone()).await.0), "a");
    assert_eq!(text(&ask(&provider, request.clone()).await.0), "b");
    assert_eq!(ask(&provider, request.clone()).await.1.unwrap().code, "invalid_request");
    let sent: Vec<_> = server
        .asked()
        .iter()
        .map(|asked| asked.json())
        .map(|body| (body.get("stream_options").is_some(), body["reasoning_effort"].as_str().unwrap_or("").to_owned()))
        .collect();
    let sent: Vec<_> = sent.iter().map(|(usage, effort)| (*usage, effort.as_str())).collect();
    assert_eq!(
        sent,
        [(true, "max"), (false, "max"), (false, "xhigh"), (false, "high"), (false, "high"), (false, "high")]
    );
}

#[tokio::test]
async fn models_are_listed() {
    let server = ModelServer::start([
        Script::json(200, &json!({"object": "list", "data": [{"id": "b"}, {"id": "a"}]})),
        Script::json(401, &json!({"error": "no"})),
        Script::html(),
        Script::json(200, &json!({"hello": 1})),
    ]);
    let provider = provider(&server);
    assert_eq!(provider.models().await.unwrap(), ["a", "b"]);
    assert_eq!(provider.models().await.unwrap_err().code, "invalid_api_key");
    assert_eq!(provider.models().await.unwrap_err().code, "provider_error");
    assert_eq!(provider.models().await.unwrap_err().code, "provider_error");
    assert_eq!((server.asked()[0].method.as_str(), server.asked()[0].path.as_str()), ("GET", "/v1/models"));
}

#[tokio::test]
async fn a_redirect_takes_nothing_to_another_server() {
    let other = ModelServer::start([Script::says("thief")]);
    for status in [301, 302, 303, 307, 308] {
        let to = format!("{}/chat/completions?token=abcdefgh", other.base_url());
        let error = failure(Script::new(status, "text/plain", "").header("location", &to)).await;
        assert_eq!((error.code, error.retry), ("provider_error", false), "{status}");
        assert!(error.text.contains("base_url") && !error.text.contains("abcdefgh"), "{}", error.text);
    }
    assert!(other.asked().is_empty());

    let server = ModelServer::start([
        Script::new(307, "text/plain", "").header("location", "/v2/chat/completions"),
        Script::says("hi"),
    ]);
    let (chunks, _) = ask(&provider(&server), request()).await;
    assert_eq!(text(&chunks), "hi");
    let asked = server.asked();
    assert_eq!(asked[1].path, "/v2/chat/completions");
    assert!(asked[1].header("authorization").is_some());
    assert_eq!(asked[1].body, asked[0].body);

    let server = ModelServer::start((0..20).map(|_| Script::new(307, "text/plain", "").header("location", "/v1/loop")));
    assert_eq!(ask(&provider(&server), request()).await.1.unwrap().code, "provider_error");
    assert!(server.asked().len() < 10);
}

#[tokio::test]
async fn a_proxy_is_used_where_one_is_set_and_never_for_loopback() {
    let proxy = ModelServer::start([Script::says("by proxy")]);
    let mut endpoint = Endpoint::new("work", "http://models.test/v1");
    endpoint.proxy = Some(format!("http://{}", proxy.address()));
    let (chunks, _) = ask(&OpenAiChat::new(endpoint).unwrap(), request()).await;
    assert_eq!(text(&chunks), "by proxy");
    assert_eq!(proxy.asked()[0].path, "http://models.test/v1/chat/completions");

    let closed = closed_port();
    let mut endpoint = Endpoint::new("work", "http://models.test/v1");
    endpoint.proxy = Some(format!("http://127.0.0.1:{closed}"));
    let error = ask(&OpenAiChat::new(endpoint).unwrap(), request()).await.1.unwrap();
    assert_eq!(error.code, "proxy_error", "{error:?}");

    let server = ModelServer::start([Script::says("direct")]);
    let mut endpoint = endpoint_of(&server.base_url());
    endpoint.proxy = Some(format!("http://127.0.0.1:{closed}"));
    assert_eq!(text(&ask(&OpenAiChat::new(endpoint).unwrap(), request()).await.0), "direct");
}

fn endpoint_of(base_url: &str) -> Endpoint {
    Endpoint::new("work", base_url)
}

/// A port at which nothing listens: it was free a moment ago.
fn closed_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[tokio::test]
async fn no_server_and_no_tls_are_told_apart() {
    let provider = OpenAiChat::new(endpoint_of(&format!("http://127.0.0.1:{}/v1", closed_port()))).unwrap();
    let error = ask(&provider, request()).await.1.unwrap();
    assert_eq!(
        (error.code, error.title.as_str(), error.retry),
        ("network_error", "Connection refused", true),
        "{error:?}"
    );
    assert!(error.text.contains("Start the server"), "{}", error.text);

    let server = ModelServer::start([]);
    let provider = OpenAiChat::new(endpoint_of(&format!("https://{}/v1", server.address()))).unwrap();
    let error = ask(&provider, request()).await.1.unwrap();
    assert_eq!(
        (error.code, error.title.as_str(), error.retry),
        ("network_error", "No secure connection", false),
        "{error:?}"
    );
    assert!(error.text.contains("http://"), "{}", error.text);
}

#[tokio::test]
async fn extra_headers_and_fields_are_sent() {
    let server = ModelServer::start([Script::says("x")]);
    let mut endpoint = endpoint(&server);
    endpoint.key = None;
    endpoint.headers = vec![("X-Title".into(), "lisle".into())];
    endpoint.extra_body = Some(json!({"temperature": 0.5, "model": "other"}));
    ask(&OpenAiChat::new(endpoint).unwrap(), request()).await;
    let asked = server.asked_times(1).await;
    assert_eq!(asked[0].header("x-title"), Some("lisle"));
    assert_eq!(asked[0].header("authorization"), None);
    assert_eq!((&asked[0].json()["temperature"], &asked[0].json()["model"]), (&json!(0.5), &json!("other")));
}
