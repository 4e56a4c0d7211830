//! The gateway over the network: HTTP, server-sent events and WebSocket, over real sockets.

use crate::place::{Place, Serving, err, out, paused};
use crate::pty::LIMIT;
use crate::support::model_server::{Gate, Script};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

/// A gateway that listens on loopback as well.
pub struct Web {
    serving: Serving,
    pub address: String,
}

impl Web {
    pub fn serve(place: &Place, more: &[&str]) -> Self {
        Self::serve_at(place, "127.0.0.1:0", more)
    }

    /// The same gateway, asked at another of its addresses.
    pub fn at(self, address: &str) -> Self {
        Self { address: address.to_owned(), ..self }
    }

    /// The same behind a proxy, whose name says no port.
    pub fn behind_proxy(place: &Place, more: &[&str]) -> Self {
        // The port is free again when the gateway takes it.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        Self::serve_at(place, &port.to_string(), &[&["--behind-proxy"], more].concat())
    }

    fn serve_at(place: &Place, listen: &str, more: &[&str]) -> Self {
        let args = [&["serve", "--listen", listen], more].concat();
        let mut child = place.command(&args).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.next().unwrap().unwrap().starts_with("The gateway listens on "));
        let line = lines.next().unwrap().unwrap();
        // Where it has a name, the port behind that is the one on loopback.
        let port =
            line.split([' ', ')']).find_map(|word| word.rsplit_once(':').filter(|(before, _)| before.contains("://")));
        let address = port.map_or_else(|| listen.to_owned(), |(_, port)| format!("127.0.0.1:{port}"));
        Self { serving: Serving { child }, address }
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        self.serving.signal(signal);
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream
    }

    /// Sends a request as it is, and reads the response to the end of its headers.
    pub fn begin(&self, text: &str) -> (String, BufReader<TcpStream>) {
        let mut stream = self.connect();
        stream.write_all(text.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
                return (head, reader);
            }
            head += &line;
        }
    }

    pub fn raw(&self, text: &str) -> Answer {
        let (head, mut reader) = self.begin(text);
        let length = header(&head, "content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        if header(&head, "transfer-encoding").is_some_and(|coding| coding.trim() == "chunked") {
            body = chunks(&mut reader);
        } else if !text.starts_with("HEAD") {
            reader.read_exact(&mut body).unwrap();
        }
        let status = head.split(' ').nth(1).map_or(0, |status| status.parse().unwrap());
        Answer { status, head, body: String::from_utf8(body).unwrap() }
    }

    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        self.raw(&format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n{headers}{length}\r\n{body}", self.address))
    }

    pub fn get(&self, path: &str, token: &str) -> Answer {
        self.ask("GET", path, &[("Authorization", &format!("Bearer {token}"))], "")
    }

    pub fn post(&self, path: &str, token: &str, body: &Value) -> Answer {
        self.ask("POST", path, &[("Authorization", &format!("Bearer {token}"))], &body.to_string())
    }

    /// A session, made through the socket of this machine.
    pub fn session(&self, place: &Place) -> String {
        let mut raw = place.raw();
        let mut connect = place.connect("maker");
        (connect["workspace"], connect["cwd"]) = (json!(""), json!(place.project.path()));
        raw.request(1, "connect", &connect);
        raw.reply(1);
        raw.request(
            1,
            "lisle.command",
            &json!({"command": {"to": "engine", "command": "create", "with": {"title": "Mine"}}}),
        );
        let id = raw.event("opened")["session"].as_str().unwrap().to_owned();
        raw.request(
            2,
            "lisle.command",
            &json!({"command": {"to": "session", "session": id, "command": "send", "with": {"text": "hello"}}}),
        );
        raw.event("turn-ended");
        id
    }
}

pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}{}", self.head, self.body))
    }

    #[track_caller]
    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap().to_owned()
    }
}

/// A body that came in chunks, to its end.
fn chunks(reader: &mut impl BufRead) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let mut size = String::new();
        reader.read_line(&mut size).unwrap();
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        // Each chunk ends with a line break of its own.
        let mut chunk = vec![0; size + 2];
        reader.read_exact(&mut chunk).unwrap();
        body.extend_from_slice(&chunk[..size]);
        if size == 0 {
            return body;
        }
    }
}

pub fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(found, _)| found.eq_ignore_ascii_case(name))
        .map(|it| it.1)
}

pub fn token(place: &Place, args: &[&str]) -> String {
    let done = place.lisle(&[&["gateway", "token"], args].concat());
    assert!(done.status.success(), "{}", err(&done));
    out(&done).trim().to_owned()
}

#[test]
fn nobody_is_let_in_without_a_token_a_host_and_the_right_page() {
    let place = Place::new([], "");
    let web = Web::serve(&place, &["--host", "box.example"]);
    let token = token(&place, &[]);
    assert_eq!(web.ask("GET", "/healthz", &[], "").json(), json!({"ok": true}));
    let bearer = format!("Bearer {token}");
    for (name, headers, status) in [
        ("no token", vec![], 401),
        ("the token", vec![("Authorization", bearer.as_str())], 200),
        ("another scheme", vec![("Authorization", "Basic abc")], 401),
        ("an empty token", vec![("Authorization", "Bearer ")], 401),
        ("a wrong token", vec![("Authorization", "Bearer lisle_0123")], 401),
        ("another page", vec![("Authorization", bearer.as_str()), ("Origin", "https://evil.example")], 403),
        ("a page without origin", vec![("Authorization", bearer.as_str()), ("Origin", "null")], 403),
        ("a made-up cookie", vec![("Cookie", "lisle_browser=0123")], 401),
    ] {
        let answer = web.ask("GET", "/v1/workspaces", &headers, "");
        assert_eq!(answer.status, status, "{name}: {}", answer.body);
        assert!(!answer.body.contains(&token));
        for (name, value) in [("cache-control", "no-store"), ("x-content-type-options", "nosniff")] {
            assert_eq!(header(&answer.head, name), Some(value));
        }
    }
    let own = format!("http://{}", web.address);
    assert_eq!(web.ask("GET", "/v1/workspaces", &[("Authorization", &bearer), ("Origin", &own)], "").status, 200);
    for (host, status) in [("evil.example", 403), ("box.example", 200), ("box.example:99", 200), ("localhost", 200)] {
        let text = format!("GET /v1/workspaces HTTP/1.1\r\nHost: {host}\r\nAuthorization: {bearer}\r\n\r\n");
        assert_eq!(web.raw(&text).status, status, "{host}");
    }
    let without = web.raw(&format!("GET /v1/workspaces HTTP/1.1\r\nAuthorization: {bearer}\r\n\r\n"));
    assert_eq!(without.status, 400);
    let log = std::fs::read_to_string(place.lisle_home().join("state/gateway/http.log")).unwrap();
    assert!(log.lines().count() >= 10 && !log.contains(&token) && log.contains(r#""token":"owner""#), "{log}");
    assert!(log.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
}

#[test]
fn wrong_tokens_lock_an_address_out_and_never_the_right_one() {
    let place = Place::new([], "");
    let web = Web::serve(&place, &[]);
    let token = token(&place, &[]);
    let mut codes = Vec::new();
    for _ in 0..12 {
        codes.push(web.get("/v1/workspaces", "wrong").status);
    }
    assert_eq!(codes, [[401; 9].as_slice(), &[429; 3]].concat());
    let locked = web.get("/v1/workspaces", "wrong");
    assert_eq!((locked.code().as_str(), locked.json()["error"]["retryable"].as_bool()), ("LOCKED_OUT", Some(true)));
    let wait = locked.json()["error"]["retryAfterMs"].as_u64().unwrap();
    assert!((200_000..=300_000).contains(&wait), "{wait}");
    assert!(header(&locked.head, "retry-after").unwrap().parse::<u64>().unwrap() <= 300);
    assert_eq!(web.get("/v1/workspaces", &token).status, 200);
}

#[test]
fn tokens_do_what_their_scopes_say_until_they_are_revoked() {
    let place = Place::new([Script::says("The answer.")], "");
    let web = Web::serve(&place, &[]);
    let id = web.session(&place);
    let (read, write) = (
        token(&place, &["--name", "reader", "--scopes", "read"]),
        token(&place, &["--name", "bot", "--scopes", "write"]),
    );
    let listed: Value = serde_json::from_str(&out(&place.lisle(&["gateway", "token", "--list", "--json"]))).unwrap();
    assert!(listed.as_array().unwrap().iter().any(|one| one["name"] == "owner"), "{listed}");
    let listed = out(&place.lisle(&["gateway", "token", "--list"]));
    assert_eq!(listed, "owner  read,write,approve,admin\nreader  read\nbot  write\n");
    let path = format!("/v1/workspaces/default/sessions/{id}/messages");
    assert_eq!(web.get(&path, &read).status, 200);
    let refused = web.post(&path, &read, &json!({"id": "msg-0001", "text": "more"}));
    assert_eq!((refused.status, refused.code().as_str()), (403, "FORBIDDEN"));
    assert_eq!(web.get(&path, &write).status, 200, "write covers read");
    assert!(place.lisle(&["gateway", "token", "--revoke", "reader"]).status.success());
    assert_eq!(web.get(&path, &read).status, 401);
    let rotated = token(&place, &["--name", "bot", "--rotate"]);
    assert_eq!((web.get(&path, &write).status, web.get(&path, &rotated).status), (401, 200));
    for args in [
        &["--name", "x"][..],
        &["--scopes", "read"],
        &["--name", "a b", "--scopes", "read"],
        &["--name", "x", "--scopes", "all"],
    ] {
        assert_eq!(place.lisle(&[&["gateway", "token"], args].concat()).status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn messages_are_read_in_pages_and_taken_once() {
    let place = Place::new(["One.", "Two."].map(Script::says), "");
    let web = Web::serve(&place, &[]);
    let token = token(&place, &[]);
    let id = web.session(&place);
    let workspaces = web.get("/v1/workspaces", &token).json();
    assert_eq!(workspaces["workspaces"][0]["name"], "default", "{workspaces}");
    let sessions = web.get("/v1/workspaces/default/sessions", &token).json();
    assert_eq!((&sessions["total"], &sessions["sessions"][0]["id"]), (&json!(1), &json!(id)), "{sessions}");
    let path = format!("/v1/workspaces/default/sessions/{id}/messages");
    let (_, mut events) = web.begin(&format!(
        "GET /v1/workspaces/default/sessions/{id}/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\r\n",
        web.address
    ));
    let sent = json!({"id": "msg-00000001", "text": "again", "ask": false});
    let first = web.post(&path, &token, &sent);
    assert_eq!((first.status, &first.json()["duplicate"]), (202, &json!(false)), "{}", first.body);
    let second = web.post(&path, &token, &sent);
    assert_eq!((second.status, &second.json()["duplicate"]), (200, &json!(true)), "{}", second.body);
    next_event(&mut events, "turn-ended");
    assert_eq!(place.server.asked().len(), 2, "the message went to the model once");
    let all = web.get(&path, &token).json();
    let texts: Vec<&str> =
        all["messages"].as_array().unwrap().iter().filter_map(|row| row["body"]["text"].as_str()).collect();
    assert_eq!(texts, ["hello", "One.", "again", "Two."], "{all}");
    assert_eq!(all["before"], Value::Null);
    let mut pages = Vec::new();
    let mut page = web.get(&format!("{path}?limit=1"), &token).json();
    loop {
        let rows: Vec<Value> = page["messages"].as_array().unwrap().clone();
        pages.splice(0..0, rows);
        let Some(before) = page["before"].as_u64() else { break };
        page = web.get(&format!("{path}?limit=1&before={before}"), &token).json();
    }
    assert_eq!(json!(pages), all["messages"]);
    for body in [
        json!({}),
        json!({"id": "short", "text": "x"}),
        json!({"id": "msg-00000002", "text": " "}),
        json!({"id": "msg-00000002", "text": "x", "more": 1}),
        json!([]),
    ] {
        let answer = web.post(&path, &token, &body);
        assert!([400, 422].contains(&answer.status), "{body}: {} {}", answer.status, answer.body);
    }
}

/// Reads events up to one of this name; returns its id and the names before it.
#[track_caller]
fn next_event(reader: &mut BufReader<TcpStream>, name: &str) -> (String, Vec<String>) {
    let (mut id, mut seen) = (String::new(), Vec::new());
    loop {
        let mut line = String::new();
        assert!(reader.read_line(&mut line).unwrap() > 0, "the stream ended: {seen:?}");
        if let Some(text) = line.strip_prefix("id: ") {
            id = text.trim().to_owned();
        } else if let Some(data) = line.strip_prefix("data: ") {
            let event: Value = serde_json::from_str(data).unwrap();
            if event["event"] == name {
                return (id, seen);
            }
            seen.push(event["event"].as_str().unwrap_or_default().to_owned());
        }
    }
}

#[test]
fn events_come_as_they_happen_and_those_that_were_missed_once() {
    let gate = Gate::new();
    let place = Place::new([Script::says("One."), paused("first part ", &gate, "rest")], "");
    let web = Web::serve(&place, &[]);
    let token = token(&place, &[]);
    let id = web.session(&place);
    let path = format!("/v1/workspaces/default/sessions/{id}");
    let request = |more: &str| {
        let (host, bearer) = (&web.address, format!("Authorization: Bearer {token}"));
        format!("GET {path}/events HTTP/1.1\r\nHost: {host}\r\n{bearer}\r\n{more}\r\n")
    };
    let (head, mut events) = web.begin(&request(""));
    assert!(head.contains("text/event-stream"), "{head}");
    assert_eq!(next_event(&mut events, "opened").1, Vec::<String>::new());
    assert_eq!(web.post(&format!("{path}/messages"), &token, &json!({"id": "msg-00000001", "text": "go"})).status, 202);
    let (last, _) = next_event(&mut events, "delta");
    drop(events);
    gate.open();
    let (_, mut events) = web.begin(&request(&format!("Last-Event-ID: {last}\r\n")));
    let (_, seen) = next_event(&mut events, "turn-ended");
    assert!(!seen.contains(&"opened".to_owned()) && !seen.contains(&"turn-started".to_owned()), "{seen:?}");
    let (_, mut events) = web.begin(&request("Last-Event-ID: another:3\r\n"));
    assert_eq!(next_event(&mut events, "opened").1, Vec::<String>::new(), "another engine: a snapshot");
}

#[test]
fn paths_and_methods_that_there_are_not_are_said() {
    let place = Place::new([Script::says("One.")], "");
    let web = Web::serve(&place, &[]);
    let token = token(&place, &[]);
    let id = web.session(&place);
    let sessions = "/v1/workspaces/default/sessions";
    for (method, path, status, code) in [
        ("GET", "/nothing".to_owned(), 404, "NOT_FOUND"),
        ("GET", "/v1/workspaces/nowhere/sessions".to_owned(), 404, "NOT_FOUND"),
        ("GET", "/v1/workspaces/..%2f..%2fetc/sessions".to_owned(), 404, "NOT_FOUND"),
        ("GET", "/v1/workspaces/%2ftmp/sessions".to_owned(), 404, "NOT_FOUND"),
        ("GET", "/v1/workspaces/../sessions".to_owned(), 404, "NOT_FOUND"),
        ("GET", format!("{sessions}/nosuch/messages"), 404, "NOT_FOUND"),
        ("GET", format!("{sessions}/..%2f..%2fx/messages"), 404, "NOT_FOUND"),
        ("GET", format!("{sessions}/{id}%00/messages"), 404, "NOT_FOUND"),
        ("GET", format!("{sessions}/nosuch/events"), 404, "NOT_FOUND"),
        ("POST", format!("{sessions}/nosuch/messages"), 404, "NOT_FOUND"),
        ("DELETE", format!("{sessions}/{id}/messages"), 405, "UNKNOWN_METHOD"),
        ("PUT", "/healthz".to_owned(), 405, "UNKNOWN_METHOD"),
        ("GET", "/v1/socket".to_owned(), 400, "INVALID_REQUEST"),
        ("GET", format!("{sessions}/{id}/messages?limit=x"), 400, "INVALID_REQUEST"),
    ] {
        let body = if method == "POST" { r#"{"id":"msg-00000001","text":"x"}"# } else { "" };
        let answer = web.ask(method, &path, &[("Authorization", &format!("Bearer {token}"))], body);
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{method} {path}: {}", answer.body);
    }
    let listed = web.get(sessions, &token).json();
    assert_eq!(listed["total"], 1, "no request began a session: {listed}");
    // A session without messages is in no list yet, and takes one.
    let mut raw = place.raw();
    let mut connect = place.connect("maker");
    (connect["workspace"], connect["cwd"]) = (json!(""), json!(place.project.path()));
    raw.request(1, "connect", &connect);
    raw.reply(1);
    raw.request(1, "lisle.command", &json!({"command": {"to": "engine", "command": "create", "with": {}}}));
    let new = raw.event("opened")["session"].as_str().unwrap().to_owned();
    place.server.add(Script::says("Two."));
    let taken = web.post(&format!("{sessions}/{new}/messages"), &token, &json!({"id": "msg-00000001", "text": "x"}));
    assert_eq!(taken.status, 202, "{}", taken.body);
    raw.event("turn-ended");
}

#[test]
fn what_is_too_large_is_refused_and_the_gateway_goes_on() {
    let place = Place::new([Script::says("One.")], "");
    let web = Web::serve(&place, &[]);
    let token = token(&place, &[]);
    let id = web.session(&place);
    let path = format!("/v1/workspaces/default/sessions/{id}/messages");
    let large = web.post(&path, &token, &json!({"id": "msg-00000001", "text": "x".repeat(2 << 20)}));
    assert_eq!((large.status, large.code().as_str()), (413, "TOO_LARGE"));
    let many: String = (0..200).map(|n| format!("X-Header-{n}: x\r\n")).collect();
    let long = format!("X-Long: {}\r\n", "x".repeat(100_000));
    for headers in [many, long] {
        let answer = web.raw(&format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n{headers}\r\n", web.address));
        assert!([431, 0].contains(&answer.status), "{}", answer.head);
    }
    // Connections that say nothing take places, and no more than there are.
    let silent: Vec<TcpStream> = (0..1_000).filter_map(|_| TcpStream::connect(&web.address).ok()).collect();
    assert!(place.status().is_some(), "the socket of this machine has places of its own");
    drop(silent);
    crate::place::until("there are places again", || {
        let mut stream = web.connect();
        let mut text = String::new();
        let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.read_to_string(&mut text).is_ok() && text.contains("200 OK")
    });
}

#[test]
fn another_machine_reaches_it_encrypted_or_not_at_all() {
    let place = Place::new([], "");
    let refused = place.lisle(&["serve", "--listen", "0.0.0.0:0"]);
    assert!(!refused.status.success() && err(&refused).contains("--tls-cert"), "{}", err(&refused));
    let missing = place.lisle(&["serve", "--listen", "127.0.0.1:0", "--tls-cert", "/no/cert", "--tls-key", "/no/key"]);
    assert!(!missing.status.success() && err(&missing).contains("/no/cert"), "{}", err(&missing));
    let web = Web::serve(&place, &[]);
    let taken = Place::new([], "").lisle(&["serve", "--listen", &web.address]);
    assert!(!taken.status.success() && err(&taken).contains("can't listen on"), "{}", err(&taken));
    assert!(out(&place.lisle(&["gateway", "status"])).contains(&format!("http://{}", web.address)));
    assert!(err(&place.lisle(&["gateway", "restart"])).contains("start it with its arguments"));
    assert_eq!(web.get("/healthz", "").status, 401, "it goes on, and a token that is wrong is refused everywhere");
    assert!(err(&Place::new([], "").lisle(&["gateway", "link"])).contains("no gateway runs"));
}

/// Says what it reaches, by no word that a command line would give away.
const STEALS: &str = r#"
import socket
print("TRIED")
try:
    # A hidden file is an empty one with a word of lisle's, or is not there.
    print("READ", open(FILE).read())
except OSError as error:
    print("no file", error.errno)
try:
    line = socket.create_connection(("127.0.0.1", PORT), 5)
    line.sendall(b"GET /v1/workspaces HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    print("ANSWER", line.recv(4000).decode().split(" ")[1])
except OSError as error:
    print("no answer", error)
"#;

#[test]
fn a_held_command_has_no_token() {
    for network in ["", "[sandbox]\nnetwork = \"open\"\n"] {
        let place = Place::new([], network);
        let web = Web::serve(&place, &[]);
        let token = token(&place, &[]);
        let file = format!("{:?}", place.lisle_home().join("state/gateway/credentials.json"));
        let port = web.address.rsplit(':').next().unwrap();
        std::fs::write(place.project.path().join("look.py"), STEALS.replace("FILE", &file).replace("PORT", port))
            .unwrap();
        place.server.add(Script::calls(&[("bash", json!({"command": "python3 look.py"}))]));
        place.server.add(Script::calls(&[(
            "read",
            json!({"path": place.lisle_home().join("state/gateway/credentials.json")}),
        )]));
        place.server.add(Script::calls(&[("bash", json!({"command": "lisle gateway token"}))]));
        place.server.add(Script::says("Done."));
        let done = place.lisle(&["run", "--mode", "execute", "go"]);
        let asked = place.server.asked();
        assert_eq!(asked.len(), 4, "{}", err(&done));
        let all = &asked.last().unwrap().body;
        assert!(all.contains("TRIED") && !all.contains(&token) && !all.contains("sha256"), "{all}");
        assert!(all.contains("ANSWER 401") || all.contains("no answer"), "{all}");
    }
}

#[test]
fn examples_of_the_page_are_what_is_sent_and_answered() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/gateway.md")).unwrap();
    let block = text.split("```ndjson\n").nth(1).unwrap().split("```").next().unwrap();
    let all: Vec<Value> = block.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let place = Place::new(["One.", "Two."].map(Script::says), "");
    let web = Web::serve(&place, &[]);
    let token = token(&place, &[]);
    let id = web.session(&place);
    let path = format!("/v1/workspaces/default/sessions/{id}/messages");
    assert_eq!(web.post(&path, &token, &all[0]).json(), all[1]);
    for example in &all[2..] {
        let error: lisle::gateway::frame::FrameError = serde_json::from_value(example["error"].clone()).unwrap();
        assert_ne!(error.code, lisle::gateway::frame::ErrorCode::Other, "{example}");
    }
    assert_eq!(web.get(&path.replace(&id, "nosuch"), &token).json(), all[3]);
}
