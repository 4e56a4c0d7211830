//! The Messages provider against a server on loopback that behaves well and badly, alone and inside of the whole program.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends where its server cannot go on")]

use crate::support;

use futures_util::StreamExt;
use lisle::domain::session::ThinkingLevel;
use lisle::domain::tool::ToolSpec;
use lisle::domain::usage::RequestUsage;
use lisle::provider::anthropic::Anthropic;
use lisle::provider::http::{Endpoint, Key};
use lisle::provider::{Chunk, ConversationItem, ModelRequest, Provider, ProviderError, Stop};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use support::model_server::{Gate, ModelServer, Script};

const KEY: &str = "sk-ant-very-secret-123456";
const MODEL: &str = "claude-sonnet-5-5";

fn endpoint(server: &ModelServer) -> Endpoint {
    let mut endpoint = Endpoint::new("work", server.base_url());
    endpoint.key = Key::new(KEY);
    endpoint
}

fn provider(server: &ModelServer) -> Anthropic {
    Anthropic::new(endpoint(server)).unwrap()
}

fn request() -> ModelRequest {
    ModelRequest {
        model: MODEL.into(),
        system: "be kind".into(),
        items: vec![ConversationItem::User("hello".into())],
        tools: vec![],
        thinking: ThinkingLevel::Medium,
    }
}

/// The whole response: its chunks, and the error if it ended with one.
async fn ask(provider: &Anthropic, request: ModelRequest) -> (Vec<Chunk>, Option<ProviderError>) {
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

fn event(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap())
}

fn begin() -> String {
    event(
        &json!({"type": "message_start", "message": {"id": "msg_1", "usage": {"input_tokens": 100, "output_tokens": 1}}}),
    )
}

/// A block that comes at once.
fn block(index: usize, block: &Value) -> String {
    event(&json!({"type": "content_block_start", "index": index, "content_block": block}))
        + &event(&json!({"type": "content_block_stop", "index": index}))
}

fn words(index: usize, text: &str) -> String {
    block(index, &json!({"type": "text", "text": text}))
}

fn end(reason: &str) -> String {
    event(&json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 10}}))
        + &event(&json!({"type": "message_stop"}))
}

pub fn says(text: &str) -> Script {
    Script::sse(begin() + &words(0, text) + &end("end_turn"))
}

pub fn refuses(status: u16, kind: &str, message: &str) -> Script {
    Script::json(status, &json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}))
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
    let server = ModelServer::start([says("Grüße an 🌊"), says("Grüße an 🌊").byte_by_byte()]);
    let provider = provider(&server);
    let (whole, error) = ask(&provider, request()).await;
    assert_eq!(error, None);
    assert_eq!(text(&whole), "Grüße an 🌊");
    assert_eq!(whole.first(), Some(&Chunk::Started(Some("msg_1".into()))));
    assert_eq!(whole.last(), Some(&Chunk::Stopped(Stop::Done)));
    let mut used = whole.iter().filter_map(|chunk| if let Chunk::Usage(used) = chunk { Some(*used) } else { None });
    assert_eq!(used.next_back(), Some(RequestUsage { input: 100, output: 10, ..RequestUsage::default() }));
    assert_eq!(ask(&provider, request()).await, (whole, None));

    let asked = server.asked();
    assert_eq!((asked[0].method.as_str(), asked[0].path.as_str()), ("POST", "/v1/messages"));
    assert_eq!((asked[0].header("x-api-key"), asked[0].header("authorization")), (Some(KEY), None));
    assert_eq!((asked[0].header("anthropic-version"), asked[0].header("anthropic-beta")), (Some("2023-06-01"), None));
    assert_eq!(asked[0].json()["system"][0]["text"], "be kind");
    assert_eq!(asked[0].json()["stream"], true);
}

#[tokio::test]
async fn text_comes_as_it_is_written_and_dropping_the_stream_ends_the_request() {
    let gate = Gate::new();
    let script = Script::sse(begin() + &words(0, "one ")).then_wait(&gate).then(words(1, "two")).then_stall();
    let server = ModelServer::start([script]);
    let mut stream = provider(&server).stream(request());
    assert!(server.asked().is_empty());
    assert!(matches!(stream.next().await, Some(Ok(Chunk::Started(_)))));
    assert!(matches!(stream.next().await, Some(Ok(Chunk::Usage(_)))));
    assert_eq!(stream.next().await, Some(Ok(Chunk::Text("one ".into()))));
    gate.open();
    assert_eq!(stream.next().await, Some(Ok(Chunk::Text("two".into()))));
    drop(stream);
    server.hung_up_times(1).await;
}

#[tokio::test]
async fn refusals() {
    let slow = || refuses(429, "rate_limit_error", "This request would exceed your rate limit");
    let error = failure(slow().header("retry-after", "7")).await;
    assert_eq!((error.code, error.retry, error.after), ("rate_limited", true, Some(Duration::from_secs(7))));
    let error = failure(slow()).await;
    assert_eq!((error.code, error.retry, error.after), ("rate_limited", true, None));
    let reset = slow()
        .header("anthropic-ratelimit-tokens-remaining", "0")
        .header("anthropic-ratelimit-tokens-reset", "2020-01-01T00:00:00Z");
    assert_eq!(failure(reset).await.after, Some(Duration::ZERO));

    let error = failure(refuses(529, "overloaded_error", "Overloaded")).await;
    assert_eq!((error.code, error.retry), ("service_unavailable", true));
    let error = failure(refuses(401, "authentication_error", &format!("invalid x-api-key: {KEY}"))).await;
    assert_eq!((error.code, error.retry), ("invalid_api_key", false));
    assert!(error.text.contains("***") && error.detail.contains("***"), "{error:?}");
    let error = failure(refuses(413, "request_too_large", "Request exceeds the maximum size")).await;
    assert_eq!((error.code, error.retry), ("invalid_request", false));
    assert!(error.text.contains("Compact"), "{}", error.text);
    let error =
        failure(refuses(400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum")).await;
    assert_eq!((error.code, error.retry), ("context_overflow", false));
    let error = failure(refuses(404, "not_found_error", "model: claude-9")).await;
    assert_eq!(error.code, "invalid_model");
    let error = failure(Script::new(502, "text/html", "<h1>Bad gateway</h1>")).await;
    assert_eq!((error.code, error.retry), ("service_unavailable", true));
    assert!(!error.text.contains("<h1>"), "{}", error.text);
    for script in
        [Script::html(), Script::json(200, &json!({"hello": "world"})), Script::new(200, "text/plain", "hello")]
    {
        let error = failure(script).await;
        assert_eq!((error.code, error.retry), ("provider_error", false));
        assert!(error.text.contains("base_url"), "{}", error.text);
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_in_the_middle_of_a_call_makes_no_call() {
    let tool = event(
        &json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "t", "name": "read", "input": {}}}),
    );
    let half = tool
        + &event(
            &json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"path\":\"a"}}),
        );
    let begun = begin() + &words(0, "half") + &half;
    for script in [
        Script::sse(&begun).then_drop(),
        Script::sse(&begun),
        Script::sse(&begun).then("event: content_block_delta\ndata: {\"type\":\"cont"),
    ] {
        let server = ModelServer::start([script]);
        let (chunks, error) = ask(&provider(&server), request()).await;
        assert_eq!(text(&chunks), "half");
        assert!(chunks.contains(&Chunk::CallBegun("read".into())));
        assert!(!chunks.iter().any(|chunk| matches!(chunk, Chunk::Call(_) | Chunk::Stopped(_))), "{chunks:?}");
        let error = error.unwrap();
        assert_eq!((error.code, error.retry), ("network_error", true), "{error:?}");
    }
    for (error, code, retry) in [
        (json!({"type": "overloaded_error", "message": "Overloaded"}), "service_unavailable", true),
        (json!({"type": "api_error", "message": "Internal server error"}), "service_error", true),
        (json!({"type": "invalid_request_error", "message": "bad"}), "invalid_request", false),
    ] {
        let event = event(&json!({"type": "error", "error": error}));
        let server = ModelServer::start([Script::sse(begun.clone() + &event).then_stall()]);
        let (chunks, error) = ask(&provider(&server), request()).await;
        assert_eq!(text(&chunks), "half");
        let error = error.unwrap();
        assert_eq!((error.code, error.retry), (code, retry), "{event}");
    }
}

#[tokio::test]
async fn silence_has_limits_and_pings_are_sound() {
    let ping = "event: ping\ndata: {\"type\": \"ping\"}\n\n";
    let stopped = event(&json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}));
    let server = ModelServer::start([
        Script::sse(begin() + &words(0, "half") + ping).then_stall(),
        Script::silence(),
        Script::sse(begin() + &words(0, "all") + &stopped).then_stall(),
    ]);
    let mut endpoint = endpoint(&server);
    endpoint.stall = Duration::from_millis(100);
    endpoint.first_byte = Some(Duration::from_millis(100));
    let provider = Anthropic::new(endpoint).unwrap();
    let error = ask(&provider, request()).await.1.unwrap();
    assert_eq!((error.code, error.retry, error.title.as_str()), ("network_error", true, "Response stalled"));
    let error = ask(&provider, request()).await.1.unwrap();
    assert_eq!((error.code, error.retry), ("service_unavailable", false));
    let (chunks, error) = ask(&provider, request()).await;
    assert_eq!((error, chunks.last()), (None, Some(&Chunk::Stopped(Stop::Done))), "only its end mark was missing");
    server.hung_up_times(3).await;
}

#[tokio::test]
async fn what_is_refused_is_changed_and_remembered() {
    let refuse = |text: &str| refuses(400, "invalid_request_error", text);
    let server = ModelServer::start([
        refuse(
            "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-5-5",
        ),
        refuse("This model does not support effort level 'xhigh'."),
        says("a"),
        refuse(
            "input length and `max_tokens` exceed context limit: 180000 + 64000 > 200000, decrease input length or `max_tokens` and try again",
        ),
        says("b"),
        says("c"),
        refuse("something else"),
    ]);
    let provider = provider(&server);
    let request = ModelRequest { thinking: ThinkingLevel::Xhigh, ..request() };
    for expected in ["a", "b", "c"] {
        assert_eq!(text(&ask(&provider, request.clone()).await.0), expected);
    }
    assert_eq!(ask(&provider, request).await.1.unwrap().code, "invalid_request");
    let sent: Vec<String> = server
        .asked()
        .iter()
        .map(|asked| asked.json())
        .map(|body| format!("{} {}", body["max_tokens"], body["output_config"]["effort"].as_str().unwrap()))
        .collect();
    assert_eq!(
        sent,
        ["128000 xhigh", "64000 xhigh", "64000 high", "64000 high", "20000 high", "64000 high", "64000 high"]
    );
    // A server that refuses for ever is not asked for ever.
    let server = ModelServer::start((0..20).map(|_| refuse("adaptive thinking is not supported; use adaptive")));
    assert!(ask(&self::provider(&server), self::request()).await.1.is_some());
    assert!(server.asked().len() <= 8, "{}", server.asked().len());
}

#[tokio::test]
async fn headers_fields_and_the_large_context() {
    let server = ModelServer::start([says("x"), says("y")]);
    let mut endpoint = endpoint(&server);
    endpoint.headers = vec![
        ("X-Title".into(), "lisle".into()),
        ("Anthropic-Beta".into(), "mine-2026-01-01".into()),
        ("anthropic-version".into(), "2030-01-01".into()),
    ];
    endpoint.extra_body = Some(json!({"temperature": 0.5, "thinking": null}));
    let provider = Anthropic::new(endpoint).unwrap();
    let tool = ToolSpec { name: "read".into(), description: "reads".into(), schema: json!({"type": "object"}) };
    let request = ModelRequest { model: "claude-sonnet-4-5[1m]".into(), tools: vec![tool], ..request() };
    ask(&provider, request.clone()).await;
    ask(&provider, ModelRequest { model: MODEL.into(), ..request }).await;
    let asked = server.asked_times(2).await;
    assert_eq!(asked[0].header("x-title"), Some("lisle"));
    assert_eq!(asked[0].header("anthropic-version"), Some("2030-01-01"));
    assert_eq!(
        asked[0].header("anthropic-beta"),
        Some("mine-2026-01-01,context-1m-2025-08-07,interleaved-thinking-2025-05-14")
    );
    assert_eq!(
        (&asked[0].json()["model"], &asked[0].json()["temperature"]),
        (&json!("claude-sonnet-4-5"), &json!(0.5))
    );
    assert!(asked[0].json().get("thinking").is_none());
    assert_eq!(asked[1].header("anthropic-beta"), Some("mine-2026-01-01"));
    assert_eq!(provider.figures("claude-sonnet-4-5[1m]", RequestUsage::default()).0, Some(1_000_000));
}

#[tokio::test]
async fn models_are_listed_page_by_page() {
    let page = |names: &[&str], more: bool| {
        let data: Vec<Value> =
            names.iter().map(|name| json!({"type": "model", "id": name, "display_name": name})).collect();
        Script::json(200, &json!({"data": data, "has_more": more, "last_id": names.last()}))
    };
    let server = ModelServer::start([
        page(&["new", "mid"], true),
        page(&["mid", "old"], true),
        page(&["old"], true),
        refuses(401, "authentication_error", "invalid x-api-key"),
        Script::json(200, &json!({"hello": 1})),
    ]);
    let provider = provider(&server);
    assert_eq!(provider.models().await.unwrap(), ["new", "mid", "old"], "a page without news is the last");
    let asked = server.asked();
    let paths: Vec<&str> = asked.iter().map(|asked| asked.path.as_str()).collect();
    assert_eq!(
        paths,
        ["/v1/models?limit=1000", "/v1/models?limit=1000&after_id=mid", "/v1/models?limit=1000&after_id=old"]
    );
    assert_eq!((asked[1].header("x-api-key"), asked[1].header("anthropic-version")), (Some(KEY), Some("2023-06-01")));
    assert_eq!(provider.models().await.unwrap_err().code, "invalid_api_key");
    assert_eq!(provider.models().await.unwrap_err().code, "provider_error");
}

#[tokio::test]
async fn a_redirect_takes_no_key_to_another_server() {
    let other = ModelServer::start([says("thief")]);
    for status in [301, 302, 303, 307, 308] {
        let to = format!("http://{}/v1/messages", other.address());
        let error = failure(Script::new(status, "text/plain", "").header("location", &to)).await;
        assert_eq!((error.code, error.retry), ("provider_error", false), "{status}");
    }
    assert!(other.asked().is_empty());
}

#[tokio::test]
async fn a_proxy_is_used_where_one_is_set() {
    let proxy = ModelServer::start([says("by proxy")]);
    let mut endpoint = Endpoint::new("work", "http://models.test/anthropic");
    endpoint.proxy = Some(format!("http://{}", proxy.address()));
    assert_eq!(text(&ask(&Anthropic::new(endpoint).unwrap(), request()).await.0), "by proxy");
    assert_eq!(proxy.asked()[0].path, "http://models.test/anthropic/v1/messages");
}

/// The real program with a home of its own.
fn lisle(home: &Path, project: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lisle"));
    command.args(args).current_dir(project).env("LISLE_HOME", home).stdin(Stdio::null());
    command.env("LISLE_TEST_ANTHROPIC", KEY).env("LISLE_LOG", "trace").env_remove("ANTHROPIC_API_KEY");
    command.output().unwrap()
}

#[test]
fn thinking_goes_back_byte_for_byte_after_a_tool_and_the_key_is_written_nowhere() {
    let thinking = json!({"type": "thinking", "thinking": "Wörter \"x\" \\ \u{1F30A}\n\tmore", "signature": "EqQBCgIYAhIM1gbc+/Da9G=="});
    let hidden = json!({"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix/LafPsn4a=="});
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "README.md"}});
    let first = begin()
        + &block(0, &thinking)
        + &block(1, &hidden)
        + &words(2, "I read it.")
        + &block(3, &call)
        + &end("tool_use");
    let second = begin()
        + &block(0, &json!({"type": "thinking", "thinking": "", "signature": "ErUB"}))
        + &words(1, "A project.")
        + &end("end_turn");
    let server = ModelServer::start([
        Script::sse(first),
        refuses(529, "overloaded_error", "Overloaded").header("retry-after", "0"),
        Script::sse(second),
        says("Welcome."),
        refuses(401, "authentication_error", &format!("invalid x-api-key {KEY}")),
    ]);
    let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(project.path().join("README.md"), "# A project\n").unwrap();
    std::fs::create_dir_all(home.path().join("config")).unwrap();
    let config = format!(
        "[connections.work]\nprovider = \"anthropic\"\nbase_url = \"{}\"\nkey_env = \"LISLE_TEST_ANTHROPIC\"\ndefault_model = \"{MODEL}\"\n",
        server.base_url()
    );
    std::fs::write(home.path().join("config/config.toml"), config).unwrap();

    let mut heard = Vec::new();
    for (args, code, answer) in [
        (vec!["run", "what is here?"], Some(0), "I read it.\n\nA project.\n"),
        (vec!["run", "--continue", "thanks"], Some(0), "Welcome.\n"),
        (vec!["run", "--continue", "--output", "json", "more"], Some(4), ""),
    ] {
        let done = lisle(home.path(), project.path(), &args);
        let (out, err) = (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap());
        assert_eq!(done.status.code(), code, "{args:?} {out} {err}");
        assert!(answer.is_empty() || out.ends_with(answer.rsplit("\n\n").next().unwrap()), "{args:?} {out}");
        heard.extend([out, err]);
    }

    let asked = server.asked();
    assert_eq!(asked.len(), 5);
    assert!(asked.iter().all(|asked| asked.header("x-api-key") == Some(KEY) && !asked.body.contains(KEY)));
    let expected = json!([thinking, hidden, {"type": "text", "text": "I read it."}, call]).to_string();
    for later in &asked[1..] {
        assert_eq!(later.json()["messages"][1]["content"].to_string(), expected);
        assert_eq!(later.json()["messages"][2]["content"][0]["tool_use_id"], "toolu_1");
    }
    // The prefix that a cache holds stays what it was.
    let (before, after) = (asked[2].json(), asked[3].json());
    assert_eq!((&before["system"], &before["tools"]), (&after["system"], &after["tools"]));
    assert_eq!(after["messages"][3]["content"][0]["signature"], "ErUB");
    assert_eq!(after["messages"][4]["content"][0]["text"], "thanks");

    // Nothing that the program wrote or said holds the key.
    assert!(heard.iter().all(|said| !said.contains(KEY)), "{heard:?}");
    let mut files = 0;
    let mut folders = vec![home.path().to_owned(), project.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if entry.file_type().unwrap().is_file() {
                let bytes = std::fs::read(entry.path()).unwrap();
                assert!(!bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes()), "{}", entry.path().display());
                files += 1;
            }
        }
    }
    assert!(files >= 4, "there is a session to look into");
}

#[test]
fn a_turn_that_pauses_goes_on() {
    let server_tool =
        json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "tide"}});
    let server = ModelServer::start([
        Script::sse(begin() + &words(0, "I search.") + &block(1, &server_tool) + &end("pause_turn")),
        says("At nine."),
    ]);
    let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::create_dir_all(home.path().join("config")).unwrap();
    let config = format!(
        "[connections.work]\nprovider = \"anthropic\"\nbase_url = \"{}\"\ndefault_model = \"{MODEL}\"\n",
        server.base_url()
    );
    std::fs::write(home.path().join("config/config.toml"), config).unwrap();
    let done = lisle(home.path(), project.path(), &["run", "high tide?"]);
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    let messages = asked[1].json()["messages"].clone();
    assert_eq!(messages.as_array().unwrap().len(), 2, "the server goes on by itself");
    assert_eq!(messages[1]["content"], json!([{"type": "text", "text": "I search."}, server_tool]));
}
