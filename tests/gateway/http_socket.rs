//! The gateway over WebSocket: the frames of the socket, let in by a token.

use crate::http::{Web, token};
use crate::place::Place;
use crate::support::model_server::Script;
use serde_json::{Value, json};
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;

/// Client of a WebSocket, as far as frames need one.
struct Socket(BufReader<TcpStream>);

impl Socket {
    fn open(web: &Web, headers: &str) -> (String, Self) {
        let (head, reader) = web.begin(&format!(
            "GET /v1/socket HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n",
            web.address
        ));
        (head, Self(reader))
    }

    fn frame(&mut self, kind: u8, bytes: &[u8]) {
        let mut out = vec![0x80 | kind];
        match bytes.len() {
            short @ 0..126 => out.push(0x80 | u8::try_from(short).unwrap()),
            long => {
                out.push(0x80 | 127);
                out.extend((long as u64).to_be_bytes());
            }
        }
        // A mask of zeros changes nothing.
        out.extend([0; 4]);
        out.extend(bytes);
        let _ = self.0.get_mut().write_all(&out);
    }

    fn request(&mut self, id: u64, method: &str, params: &Value) {
        let text = json!({"type": "req", "id": id, "method": method, "params": params}).to_string();
        self.frame(1, text.as_bytes());
    }

    /// The next text; `None` at the end.
    fn next(&mut self) -> Option<Value> {
        loop {
            let mut head = [0; 2];
            self.0.read_exact(&mut head).ok()?;
            let length = match head[1] & 0x7f {
                126 => {
                    let mut long = [0; 2];
                    self.0.read_exact(&mut long).ok()?;
                    usize::from(u16::from_be_bytes(long))
                }
                127 => {
                    let mut long = [0; 8];
                    self.0.read_exact(&mut long).ok()?;
                    usize::try_from(u64::from_be_bytes(long)).unwrap()
                }
                short => usize::from(short),
            };
            let mut body = vec![0; length];
            self.0.read_exact(&mut body).ok()?;
            match head[0] & 0xf {
                1 => return Some(serde_json::from_slice(&body).unwrap()),
                8 => return None,
                _ => {}
            }
        }
    }

    fn reply(&mut self, id: u64) -> Value {
        loop {
            let frame = self.next().expect("the connection ended before the reply");
            if frame["type"] == "res" && frame["id"] == id {
                return frame;
            }
        }
    }
}

fn connect(secret: &str, more: &Value) -> Value {
    let mut all = json!({"minProtocol": 1, "maxProtocol": 99, "secret": secret,
        "client": {"id": "c1", "name": "test", "version": "0"}});
    for (key, value) in more.as_object().unwrap() {
        all[key] = value.clone();
    }
    all
}

fn code(frame: &Value) -> &str {
    frame["error"]["code"].as_str().unwrap_or_default()
}

#[test]
fn a_token_comes_as_a_header_or_in_the_handshake() {
    let place = Place::new([Script::says("One."), Script::says("Two.")], "");
    let web = Web::serve(&place, &[]);
    let token = token(&place, &[]);
    let id = web.session(&place);
    for (headers, secret) in [(String::new(), token.as_str()), (format!("Authorization: Bearer {token}\r\n"), "")] {
        let (head, mut socket) = Socket::open(&web, &headers);
        assert!(head.starts_with("HTTP/1.1 101"), "{head}");
        socket.request(1, "connect", &connect(secret, &json!({"workspace": "default"})));
        let hello = socket.reply(1);
        assert_eq!(hello["ok"], true, "{hello}");
        socket.frame(9, b"still here");
        socket.request(
            2,
            "lisle.command",
            &json!({"command": {"to": "session", "session": id, "command": "open", "with": {"rows": 9}}}),
        );
        assert_eq!(socket.reply(2)["ok"], true);
    }
    let (head, _) = Socket::open(&web, "Authorization: Bearer wrong\r\n");
    assert!(head.starts_with("HTTP/1.1 401"), "{head}");
    let (head, _) = Socket::open(&web, "Origin: https://evil.example\r\n");
    assert!(head.starts_with("HTTP/1.1 403"), "{head}");
    // The secret of the socket is no token, and nothing else is done before the handshake.
    for (method, params, expected) in [
        ("connect", connect(place.secret().trim(), &json!({})), "UNAUTHORIZED"),
        ("connect", connect("", &json!({})), "UNAUTHORIZED"),
        ("gateway.stop", json!({}), "INVALID_REQUEST"),
    ] {
        let (_, mut socket) = Socket::open(&web, "");
        socket.request(1, method, &params);
        assert_eq!(code(&socket.reply(1)), expected);
        assert_eq!(socket.next(), None, "the connection ends");
    }
}

#[test]
fn a_weak_token_reaches_what_its_scopes_say() {
    let place = Place::new([Script::says("One.")], "");
    let web = Web::serve(&place, &[]);
    let read = token(&place, &["--name", "reader", "--scopes", "read"]);
    let id = web.session(&place);
    let open = |more: &Value| {
        let (_, mut socket) = Socket::open(&web, "");
        socket.request(1, "connect", &connect(&read, more));
        let reply = socket.reply(1);
        (socket, reply)
    };
    let (_, elsewhere) = open(&json!({"workspace": place.project.path()}));
    assert_eq!(code(&elsewhere), "NOT_FOUND", "{elsewhere}");
    let (mut socket, hello) = open(&json!({"workspace": "default", "cwd": "/"}));
    assert_eq!(hello["ok"], true, "{hello}");
    let to_session = |command: Value| {
        let mut all = json!({"to": "session", "session": id});
        for (key, value) in command.as_object().unwrap() {
            all[key] = value.clone();
        }
        json!({ "command": all })
    };
    for (n, (method, params, expected)) in [
        ("gateway.stop", json!({}), "FORBIDDEN"),
        ("gateway.detach", json!({"client": "reader/c1"}), "FORBIDDEN"),
        ("gateway.link", json!({}), "FORBIDDEN"),
        ("gateway.status", json!({}), ""),
        ("lisle.command", json!({"workspace": "/etc", "command": {"to": "engine", "command": "list"}}), "NOT_FOUND"),
        ("lisle.command", json!({"command": {"to": "engine", "command": "list"}}), ""),
        ("lisle.command", to_session(json!({"command": "open", "with": {"rows": 1}})), ""),
        ("lisle.command", to_session(json!({"command": "send", "with": {"text": "x"}})), "REFUSED"),
        ("lisle.command", json!({"command": {"to": "engine", "command": "create", "with": {}}}), "REFUSED"),
    ]
    .into_iter()
    .enumerate()
    {
        let id = n as u64 + 2;
        socket.request(id, method, &params);
        let reply = socket.reply(id);
        assert_eq!(code(&reply), expected, "{method} {params}: {reply}");
    }
    // Nobody goes on with the connection of another token.
    let mut owner = place.raw();
    owner.request(1, "connect", &place.connect("c1"));
    assert_eq!(owner.reply(1)["ok"], true);
    socket.request(20, "ping", &json!({}));
    assert_eq!(socket.reply(20)["ok"], true);
    assert!(place.lisle(&["gateway", "token", "--revoke", "reader"]).status.success());
    while let Some(frame) = socket.next() {
        assert!(frame["event"] != "gateway.closing" || frame["payload"]["mayReturn"] == false, "{frame}");
    }
}

#[test]
fn messages_that_are_too_long_end_the_connection_and_nothing_else() {
    let place = Place::new([], "");
    let web = Web::serve(&place, &[]);
    let token = token(&place, &[]);
    for (greets, length) in [(false, 70_000), (true, 2 << 20)] {
        let (_, mut socket) = Socket::open(&web, "");
        if greets {
            socket.request(1, "connect", &connect(&token, &json!({})));
            assert_eq!(socket.reply(1)["ok"], true);
        }
        socket.frame(1, "x".repeat(length).as_bytes());
        while let Some(frame) = socket.next() {
            assert_eq!(code(&frame), "INVALID_REQUEST", "{frame}");
        }
    }
    let (_, mut socket) = Socket::open(&web, "");
    socket.request(1, "connect", &connect(&token, &json!({})));
    assert_eq!(socket.reply(1)["ok"], true);
    socket.frame(1, b"no frame");
    assert_eq!(code(&socket.next().unwrap()), "INVALID_REQUEST");
    socket.request(2, "no.such", &json!({}));
    assert_eq!(code(&socket.reply(2)), "UNKNOWN_METHOD");
    assert_eq!(web.get("/healthz", &token).status, 200);
}
