//! Fetching from a scripted server on loopback.

use super::super::bench::Bench;
use super::*;
use crate::domain::ids::CallId;
use crate::domain::permission::Sandbox;
use crate::tools::host::{Alone, Host};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::Mutex;

/// Answers each request by its path; the requests are kept.
struct Server {
    at: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

type Say = (u16, &'static str, Vec<u8>);

impl Server {
    fn new(answer: impl Fn(&str) -> Say + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let (mut head, mut byte) = (Vec::new(), [0]);
                while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n == 1) {
                    head.push(byte[0]);
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                log.lock().unwrap().push(head);
                let (status, headers, body) = answer(&path);
                let head = format!(
                    "HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n",
                    body.len()
                );
                // A client that has enough hangs up.
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
            }
        });
        Self { at, asked }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.at)
    }
}

/// Every name has these addresses.
struct Named(Vec<SocketAddr>);

impl NameLookup for Named {
    fn of(&self, _: String, _: u16) -> BoxFuture<'static, std::io::Result<Vec<SocketAddr>>> {
        let all = self.0.clone();
        Box::pin(async move { Ok(all) })
    }
}

fn run(bench: &Bench, tool: &Fetch, input: Value, facts: CallFacts, host: Arc<dyn Host>) -> Result<Outcome, RunError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (progress, _shown) = tokio::sync::mpsc::channel(8);
    let with = RunContext {
        jobs: Arc::default(),
        sandbox: Sandbox::None,
        place: bench.place.clone(),
        facts,
        seen: Arc::clone(&bench.seen),
        stop: bench.stop.clone(),
        call: CallId::new("call-1"),
        progress,
        host,
    };
    runtime.block_on(tool.run(input, with))
}

#[test]
fn a_page_comes_as_markdown_with_its_title() {
    let server =
        Server::new(|_| (200, "Content-Type: text/html\r\n", b"<title>T</title><h1>Hi</h1><a href=/x>x</a>".to_vec()));
    let bench = Bench::new();
    let outcome = bench.ok("fetch", json!({"url": server.url("/a")}));
    assert_eq!(outcome.text, format!("T\n{}\n\n# Hi\n\n[x]({})\n", server.url("/a"), server.url("/x")));
    assert_eq!(outcome.figures.lines, Some(3));
    let asked = server.asked.lock().unwrap().join("");
    assert!(asked.starts_with("GET /a HTTP/1.1") && asked.to_lowercase().contains("user-agent: lisle/"), "{asked}");
}

#[test]
fn other_text_comes_as_it_is_and_files_are_kept() {
    let server = Server::new(|path| match path {
        "/j" => (200, "Content-Type: application/json\r\n", br#"{"a":[1,2]}"#.to_vec()),
        "/t" => (200, "Content-Type: text/plain; charset=latin1\r\n", b"caf\xe9".to_vec()),
        "/e" => (200, "Content-Type: text/html\r\n", b"<div id=app></div>".to_vec()),
        _ => (200, "Content-Type: application/pdf\r\n", b"%PDF-1.7 \0".to_vec()),
    });
    let bench = Bench::new();
    let text = |path: &str| bench.ok("fetch", json!({"url": server.url(path)})).text;
    assert!(text("/j").ends_with("\n\n{\"a\":[1,2]}"));
    assert!(text("/t").ends_with("café"));
    assert!(text("/e").contains("no text on it"));
    let first = text("/a%2f..%2fb/My%20report");
    let path = first.rsplit(' ').next().unwrap().trim_end_matches('.');
    assert!(path.ends_with("downloads/My-20report.pdf"), "{first}");
    assert_eq!(std::fs::read(path).unwrap(), b"%PDF-1.7 \0");
    assert!(text("/x/My%20report").contains("My-20report-2.pdf"), "a name that is taken");
}

#[test]
fn redirects_are_followed_at_the_same_host_alone() {
    let other = Server::new(|_| (200, "", b"secret".to_vec()));
    let to = format!("Location: {}\r\n", other.url("/there"));
    let to: &'static str = Box::leak(to.into_boxed_str());
    let server = Server::new(move |path| match path {
        "/a" => (302, "Location: /b\r\n", Vec::new()),
        "/b" => (200, "Content-Type: text/plain\r\n", b"here".to_vec()),
        "/loop" => (301, "Location: /loop\r\n", Vec::new()),
        "/file" => (301, "Location: file:///etc/passwd\r\n", Vec::new()),
        "/nowhere" => (301, "", Vec::new()),
        "/user" => (307, "Location: http://me:pw@127.0.0.1/\r\n", Vec::new()),
        _ => (308, to, Vec::new()),
    });
    let bench = Bench::new();
    assert!(bench.ok("fetch", json!({"url": server.url("/a")})).text.ends_with("/b\n\nhere"));
    // Another port is another place.
    let told = bench.ok("fetch", json!({"url": server.url("/away")})).text;
    assert!(told.contains(&other.url("/there")) && !told.contains("secret"), "{told}");
    assert!(other.asked.lock().unwrap().is_empty(), "nothing was asked there");
    assert!(bench.ok("fetch", json!({"url": server.url("/user")})).text.contains("points to another place"));
    for (path, says) in
        [("/loop", "more than 5 redirects"), ("/file", "not a web address"), ("/nowhere", "without a usable")]
    {
        let error = bench.error("fetch", json!({"url": server.url(path)}));
        assert!(error.contains(says), "{path}: {error}");
    }
}

#[test]
fn what_the_server_refuses_is_told_with_its_words() {
    let server = Server::new(|path| match path {
        "/404" => (404, "Content-Type: text/html\r\n", b"<h1>Not here</h1>".to_vec()),
        _ => (503, "Content-Type: image/png\r\n", b"\x89PNG".to_vec()),
    });
    let bench = Bench::new();
    let error = bench.error("fetch", json!({"url": server.url("/404")}));
    assert!(error.contains("answered 404 Not Found.") && error.contains("# Not here"), "{error}");
    let error = bench.error("fetch", json!({"url": server.url("/503")}));
    assert!(error.ends_with("answered 503 Service Unavailable."), "{error}");
    // Nobody listens there any more.
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(bench.error("fetch", json!({"url": format!("http://{gone}/")})).contains("is unreachable"));
}

#[test]
fn a_name_that_turns_out_private_is_decided_on_anew_and_only_what_was_looked_up_is_asked() {
    let server = Server::new(|_| (200, "Content-Type: text/plain\r\n", b"inside".to_vec()));
    let bench = Bench::new();
    // The name of a public page that leads to this machine: what a rebound name does.
    let tool = Fetch { names: Arc::new(Named(vec!["93.184.216.34:80".parse().unwrap(), server.at])) };
    let input = json!({"url": format!("http://page.example:{}/x", server.at.port())});
    let facts = tool.inspect(&input, &bench.place, &bench.seen).unwrap();
    let named = format!("page.example:{}", server.at.port());
    assert!(matches!(&facts.touches[..], [Touch::Fetch { private: false, host, .. }] if *host == named));
    let now = match run(&bench, &tool, input.clone(), facts, Arc::new(Alone)) {
        Err(RunError::FactsChanged(now)) => *now,
        other => panic!("{other:?}"),
    };
    assert!(matches!(&now.touches[..], [Touch::Fetch { private: true, .. }]));
    assert!(server.asked.lock().unwrap().is_empty(), "nothing was asked before it was decided");
    // From now on it is known, so the check before the run agrees with the decision.
    assert_eq!(tool.inspect(&input, &bench.place, &bench.seen).unwrap(), now);
    let tool = Fetch { names: Arc::new(Named(vec![server.at])) };
    let outcome = run(&bench, &tool, input, now, Arc::new(Alone)).unwrap();
    assert!(outcome.text.ends_with("inside") && !outcome.failed, "{}", outcome.text);
}

/// Answers every question with what it was given.
struct Echo;

impl Host for Echo {
    fn complete(&self, wanted: Completion) -> BoxFuture<'static, Result<String, String>> {
        assert_eq!(wanted.model, WhichModel::Small);
        Box::pin(async move { Ok(wanted.text) })
    }
}

#[test]
fn a_question_is_answered_by_a_small_model_or_the_page_comes() {
    let server = Server::new(|_| (200, "Content-Type: text/plain\r\n", b"42 is the answer".to_vec()));
    let bench = Bench::new();
    let input = json!({"url": server.url("/"), "question": "What is it?"});
    let facts = bench.inspect("fetch", &input).unwrap();
    let asked = run(&bench, &Fetch::default(), input.clone(), facts, Arc::new(Echo)).unwrap().text;
    assert!(
        asked.contains("Answer to the question:\nQuestion: What is it?") && asked.contains("42 is the answer"),
        "{asked}"
    );
    let alone = bench.ok("fetch", input).text;
    assert!(alone.contains("could not be put to a model") && alone.ends_with("42 is the answer"), "{alone}");
}

#[test]
fn facts_name_the_host_as_it_is_asked() {
    let bench = Bench::new();
    for (url, host, private) in [
        ("https://Docs.RS/serde", "docs.rs", false),
        ("http://2130706433/", "127.0.0.1", true),
        ("http://0x7f.1/", "127.0.0.1", true),
        ("http://0177.0.0.1/", "127.0.0.1", true),
        ("http://[::ffff:7f00:1]/", "::ffff:7f00:1", true),
        ("http://169.254.169.254/latest/meta-data", "169.254.169.254", true),
        ("http://localhost:8080/", "localhost:8080", true),
        ("http://[::1]:8080/", "[::1]:8080", true),
        ("http://docs.rs:443/", "docs.rs", false),
        ("https://docs.rs:6379/", "docs.rs:6379", false),
        ("https://ｅｘａｍｐｌｅ.com/", "example.com", false),
    ] {
        let facts = bench.inspect("fetch", &json!({"url": url})).unwrap();
        match &facts.touches[..] {
            [Touch::Fetch { host: found, private: is, .. }] => {
                assert_eq!((found.as_str(), *is), (host, private), "{url}")
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn errors() {
    let bench = Bench::new();
    for (url, says) in [
        ("docs.rs", "Invalid URL"),
        ("file:///etc/passwd", "http and https alone"),
        ("https://me:secret@docs.rs/", "a name or a password"),
        ("https://", "Invalid URL"),
    ] {
        let error = bench.inspect("fetch", &json!({"url": url})).unwrap_err();
        assert!(error.contains(says) && !error.contains("secret"), "{url}: {error}");
    }
    assert!(bench.inspect("fetch", &json!({"url": format!("https://a.b/{}", "x".repeat(5_000))})).is_err());
}

#[test]
fn names_are_made_harmless() {
    for (url, said, name) in [
        ("https://a.b/x/report.pdf?dl=1", "application/pdf", "report.pdf"),
        ("https://a.b/", "image/png", "download.png"),
        ("https://a.b/..%2f..%2fetc", "x/y", "2f..-2fetc"),
        ("https://a.b/.bashrc", "x/y", "bashrc.bin"),
    ] {
        assert_eq!(file_name(&Url::parse(url).unwrap(), said), name);
    }
}
