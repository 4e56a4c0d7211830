//! A server of models on loopback that does what a test's script says: plain HTTP/1.1, chunk borders anywhere, pauses
//! until the test opens a gate, errors, broken and silent streams. It keeps what was asked of it.
//!
//! It runs in a thread of its own, so that tests with and without a runtime can use it.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends where its server cannot go on")]

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};

/// Limit for a condition that a test waits for.
const LIMIT: Duration = Duration::from_secs(90);

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    pub method: String,
    /// As it stands in the request line: a whole address where the server is used as a proxy.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// A pause of a script, until the test opens it.
#[derive(Clone)]
pub struct Gate(Arc<watch::Sender<bool>>);

impl Gate {
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    pub fn open(&self) {
        self.0.send_replace(true);
    }
}

#[derive(Clone)]
enum Act {
    Send(Vec<u8>),
    Wait(Gate),
    /// Silence until the client goes away.
    Stall,
    /// The connection ends without an end of the response.
    Drop,
}

/// One response.
#[derive(Clone)]
pub struct Script {
    status: u16,
    headers: Vec<(String, String)>,
    acts: Vec<Act>,
    /// Silence or death comes before the first byte of the response.
    headless: bool,
    /// It answers this model alone, which no other script answers then.
    model: Option<String>,
}

impl Script {
    pub fn new(status: u16, content_type: &str, body: impl AsRef<[u8]>) -> Self {
        Self {
            status,
            headers: vec![("content-type".into(), content_type.into())],
            acts: vec![Act::Send(body.as_ref().to_vec())],
            headless: false,
            model: None,
        }
    }

    /// An event stream, sent as it is.
    pub fn sse(body: impl AsRef<[u8]>) -> Self {
        Self::new(200, "text/event-stream; charset=utf-8", body)
    }

    /// A Chat Completions stream that says a text, word by word, with usage and an end mark.
    pub fn says(text: &str) -> Self {
        let mut body = String::new();
        for word in text.split_inclusive(' ') {
            body += &chunk(json!({"content": word}), Value::Null);
        }
        body += &chunk(json!({}), json!("stop"));
        Self::sse(body + &usage() + "data: [DONE]\n\n")
    }

    /// A Chat Completions stream that makes calls: name and input each.
    pub fn calls(calls: &[(&str, Value)]) -> Self {
        let mut body = String::new();
        for (index, (name, input)) in calls.iter().enumerate() {
            let function = json!({"name": name, "arguments": input.to_string()});
            let call = json!({"index": index, "id": format!("call_{index}"), "type": "function", "function": function});
            body += &chunk(json!({"tool_calls": [call]}), Value::Null);
        }
        body += &chunk(json!({}), json!("tool_calls"));
        Self::sse(body + &usage() + "data: [DONE]\n\n")
    }

    pub fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    pub fn html() -> Self {
        Self::new(200, "text/html", "<!doctype html><title>Welcome</title>")
    }

    /// No word, not even a status, until the client goes away.
    pub fn silence() -> Self {
        Self { acts: vec![Act::Stall], headless: true, ..Self::sse("") }
    }

    /// The connection ends without a word.
    pub fn death() -> Self {
        Self { acts: vec![Act::Drop], headless: true, ..Self::sse("") }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub fn then(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.acts.push(Act::Send(bytes.as_ref().to_vec()));
        self
    }

    pub fn then_wait(mut self, gate: &Gate) -> Self {
        self.acts.push(Act::Wait(gate.clone()));
        self
    }

    /// Nothing of the body comes before the gate is open.
    pub fn held(mut self, gate: &Gate) -> Self {
        self.acts.insert(0, Act::Wait(gate.clone()));
        self
    }

    pub fn then_stall(mut self) -> Self {
        self.acts.push(Act::Stall);
        self
    }

    pub fn then_drop(mut self) -> Self {
        self.acts.push(Act::Drop);
        self
    }

    /// Only for requests to this model, in whatever order they come.
    pub fn for_model(mut self, model: &str) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Each byte becomes an HTTP chunk of its own.
    pub fn byte_by_byte(mut self) -> Self {
        self.acts = self
            .acts
            .into_iter()
            .flat_map(|act| match act {
                Act::Send(bytes) => bytes.into_iter().map(|byte| Act::Send(vec![byte])).collect(),
                act => vec![act],
            })
            .collect();
        self
    }
}

/// A chunk of a Chat Completions stream as an event.
pub fn chunk(delta: Value, finish: Value) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    format!("data: {}\n\n", json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [choice]}))
}

fn usage() -> String {
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110});
    format!("data: {}\n\n", json!({"id": "chatcmpl-1", "choices": [], "usage": usage}))
}

struct Shared {
    /// True if questions for the models are scripted too.
    lists: bool,
    scripts: Mutex<VecDeque<Script>>,
    asked: watch::Sender<Vec<Asked>>,
    hung_up: watch::Sender<usize>,
}

/// The server. It ends when it is dropped.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl ModelServer {
    /// Answers the first request with the first script, and so on; after the last one with 500.
    pub fn start(scripts: impl IntoIterator<Item = Script>) -> Self {
        Self::with(scripts, true)
    }

    /// The same for the whole program, which asks for the models when it likes: it is told that there is no such list, and
    /// neither a script nor a place among what was asked goes to that.
    pub fn for_program(scripts: impl IntoIterator<Item = Script>) -> Self {
        Self::with(scripts, false)
    }

    fn with(scripts: impl IntoIterator<Item = Script>, lists: bool) -> Self {
        let shared = Arc::new(Shared {
            lists,
            scripts: Mutex::new(scripts.into_iter().collect()),
            asked: watch::Sender::new(Vec::new()),
            hung_up: watch::Sender::new(0),
        });
        let (stop, stopped) = oneshot::channel();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let of_thread = shared.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    () = accept(listener, of_thread) => {}
                    _ = stopped => {}
                }
            });
        });
        Self { address, shared, stop: Some(stop), thread: Some(thread) }
    }

    /// The base address of its API.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Adds a script after the last one.
    pub fn add(&self, script: Script) {
        self.shared.scripts.lock().unwrap().push_back(script);
    }

    /// Requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.asked.borrow().clone()
    }

    /// Waits until so many requests have come.
    pub async fn asked_times(&self, times: usize) -> Vec<Asked> {
        let mut asked = self.shared.asked.subscribe();
        let waiting = asked.wait_for(|asked| asked.len() >= times);
        tokio::time::timeout(LIMIT, waiting).await.expect("no request came").unwrap().clone()
    }

    /// Waits until so many clients have gone away during a stall.
    pub async fn hung_up_times(&self, times: usize) {
        let mut hung_up = self.shared.hung_up.subscribe();
        let waiting = hung_up.wait_for(|count| *count >= times);
        tokio::time::timeout(LIMIT, waiting).await.expect("the client is still there").unwrap();
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.stop.take().map(|stop| stop.send(()));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((socket, _)) = listener.accept().await {
        let _ = socket.set_nodelay(true);
        let shared = shared.clone();
        tokio::spawn(async move {
            let _ = serve(socket, &shared).await;
        });
    }
}

async fn serve(mut socket: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut unread = Vec::new();
    while let Some(asked) = read_request(&mut socket, &mut unread).await? {
        if asked.method == "GET" && !shared.lists {
            socket.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").await?;
            continue;
        }
        let script = next_script(&mut shared.scripts.lock().unwrap(), &asked);
        let script = script.unwrap_or_else(|| Script::json(500, &json!({"error": {"message": "no script is left"}})));
        shared.asked.send_modify(|all| all.push(asked));
        if !script.headless {
            let mut head = format!("HTTP/1.1 {} Scripted\r\ntransfer-encoding: chunked\r\n", script.status);
            for (name, value) in &script.headers {
                head += &format!("{name}: {value}\r\n");
            }
            socket.write_all((head + "\r\n").as_bytes()).await?;
        }
        for act in script.acts {
            match act {
                Act::Send(bytes) if bytes.is_empty() => {}
                Act::Send(bytes) => {
                    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
                    chunk.extend_from_slice(&bytes);
                    chunk.extend_from_slice(b"\r\n");
                    socket.write_all(&chunk).await?;
                }
                Act::Wait(gate) => {
                    let _ = gate.0.subscribe().wait_for(|open| *open).await;
                }
                Act::Stall => {
                    let mut rest = [0; 64];
                    while socket.read(&mut rest).await.is_ok_and(|n| n > 0) {}
                    shared.hung_up.send_modify(|count| *count += 1);
                    return Ok(());
                }
                Act::Drop => return Ok(()),
            }
        }
        socket.write_all(b"0\r\n\r\n").await?;
    }
    Ok(())
}

fn next_script(scripts: &mut VecDeque<Script>, asked: &Asked) -> Option<Script> {
    let body = serde_json::from_str::<Value>(&asked.body).unwrap_or_default();
    let model = body["model"].as_str();
    let its_own = scripts.iter().position(|script| script.model.is_some() && script.model.as_deref() == model);
    scripts.remove(its_own.or_else(|| scripts.iter().position(|script| script.model.is_none()))?)
}

async fn read_request(socket: &mut TcpStream, unread: &mut Vec<u8>) -> std::io::Result<Option<Asked>> {
    let head_end = loop {
        if let Some(at) = unread.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        if socket.read_buf(unread).await? == 0 {
            return Ok(None);
        }
        if unread.first() == Some(&0x16) {
            // A client that begins with TLS is told so as other servers without TLS tell it.
            socket.write_all(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n").await?;
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&unread[..head_end]).into_owned();
    let mut lines = head.lines();
    let mut first = lines.next().unwrap_or("").split(' ');
    let (method, path) = (first.next().unwrap_or("").to_owned(), first.next().unwrap_or("").to_owned());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, value)| value.parse().unwrap());
    let body_start = head_end + 4;
    while unread.len() < body_start + length {
        if socket.read_buf(unread).await? == 0 {
            return Ok(None);
        }
    }
    let body = String::from_utf8_lossy(&unread[body_start..body_start + length]).into_owned();
    unread.drain(..body_start + length);
    Ok(Some(Asked { method, path, headers, body }))
}
