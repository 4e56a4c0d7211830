//! The proxy with servers and clients on loopback.

use super::session::Session;
use super::*;
use futures_util::future::BoxFuture;
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Lets these through, by `host:port`, private or not, and keeps what it was asked.
#[derive(Default)]
struct Door {
    open: HashSet<(String, bool)>,
    asked: Mutex<Vec<(String, bool)>>,
}

impl Gate for Door {
    fn may_reach(&self, target: Target, private: bool) -> BoxFuture<'static, Result<(), String>> {
        let key = (target.to_string(), private);
        self.asked.lock().unwrap().push(key.clone());
        let open = self.open.contains(&key);
        Box::pin(async move { if open { Ok(()) } else { Err("No.".to_owned()) } })
    }
}

/// Names with their addresses, one after the other at each look: what a rebound name does.
#[derive(Default)]
struct Book {
    names: HashMap<String, Vec<Vec<SocketAddr>>>,
    looked: AtomicUsize,
}

impl NameLookup for Book {
    fn of(&self, host: String, _: u16) -> BoxFuture<'static, std::io::Result<Vec<SocketAddr>>> {
        let look = self.looked.fetch_add(1, Ordering::SeqCst);
        let all = self.names.get(&host).map(|looks| looks[look.min(looks.len() - 1)].clone());
        Box::pin(async move { all.ok_or_else(|| std::io::ErrorKind::NotFound.into()) })
    }
}

/// A proxy with what it was asked.
struct Bench {
    at: SocketAddr,
    door: Arc<Door>,
    refusals: Refusals,
    ended: CancellationToken,
    book: Arc<Book>,
}

impl Bench {
    async fn new(open: &[(&str, bool)], names: &[(&str, &[&[SocketAddr]])]) -> Self {
        let open = open.iter().map(|(to, private)| ((*to).to_owned(), *private)).collect();
        let door = Arc::new(Door { open, ..Door::default() });
        let names = names
            .iter()
            .map(|(name, looks)| ((*name).to_owned(), looks.iter().map(|all| all.to_vec()).collect()))
            .collect();
        let book = Arc::new(Book { names, ..Book::default() });
        let (refusals, ended) = (Refusals::default(), CancellationToken::new());
        let session = Session::new(door.clone(), book.clone(), refusals.clone(), ended.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let session = Arc::new(session);
        tokio::spawn(async move { serve(&listener, &session).await });
        Self { at, door, refusals, ended, book }
    }

    /// Reply to these bytes until the proxy hangs up.
    async fn says(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = TcpStream::connect(self.at).await.unwrap();
        stream.write_all(bytes.as_ref()).await.unwrap();
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all).await;
        String::from_utf8_lossy(&all).into_owned()
    }

    fn asked(&self) -> Vec<(String, bool)> {
        self.door.asked.lock().unwrap().clone()
    }
}

/// Answers each request with its own head and keeps the connection; the second value counts connections.
async fn server() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                let mut head = Vec::new();
                let mut byte = [0];
                while stream.read(&mut byte).await.is_ok_and(|read| read == 1) {
                    head.push(byte[0]);
                    if head.ends_with(b"\r\n\r\n") {
                        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", head.len());
                        if stream.write_all(&[answer.as_bytes(), &head].concat()).await.is_err() {
                            return;
                        }
                        head.clear();
                    }
                }
            });
        }
    });
    (at, count)
}

const LAST: &str = "Connection: close\r\n\r\n";

#[tokio::test]
async fn plain_requests_go_to_the_host_of_the_address_whatever_the_header_says() {
    let (at, _) = server().await;
    let to = at.to_string();
    let bench = Bench::new(&[(&to, true)], &[]).await;
    let said = bench
        .says(format!(
            "GET http://{at}/a?b HTTP/1.1\r\nHost: other.example\r\nProxy-Authorization: Basic x\r\nProxy-Connection: \
             keep-alive\r\nX-Gone: 1\r\nX-Kept: 2\r\nConnection: close, x-gone\r\n\r\n"
        ))
        .await;
    let lower = said.to_lowercase();
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    assert!(lower.contains("get /a?b http/1.1") && lower.contains(&format!("host: {at}")), "{said}");
    assert!(lower.contains("x-kept") && !lower.contains("x-gone") && !lower.contains("proxy-"), "{said}");
    assert!(!lower.contains("other.example"), "{said}");
}

#[tokio::test]
async fn each_request_on_a_connection_is_judged_by_itself() {
    let (at, count) = server().await;
    let bench = Bench::new(&[(&at.to_string(), true)], &[]).await;
    let said = bench
        .says(format!(
            "GET http://{at}/ HTTP/1.1\r\nHost: {at}\r\n\r\nGET http://evil.example/ HTTP/1.1\r\nHost: {at}\r\n{LAST}"
        ))
        .await;
    assert!(said.contains("200 OK") && said.contains("403 Forbidden"), "{said}");
    assert!(
        said.contains("blocked by lisle: sandbox.network = \"hosts\"") && said.contains("evil.example:80"),
        "{said}"
    );
    // Two lengths, or a length and chunks: what one reads as a body another reads as a request.
    for smuggled in [
        format!(
            "POST http://{at}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhelloGET http://evil2.example/ HTTP/1.1\r\n\r\n"
        ),
        format!(
            "POST http://{at}/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n"
        ),
        format!("GET http://{at}/ HTTP/1.1\r\nHost: x\r\nX: a\n\nGET http://evil2.example/ HTTP/1.1\r\n{LAST}"),
    ] {
        let _ = bench.says(&smuggled).await;
    }
    assert!(count.load(Ordering::SeqCst) < 10);
    let refused = bench.refusals.all();
    assert_eq!(refused[0].target.to_string(), "evil.example:80");
}

#[tokio::test]
async fn a_tunnel_carries_anything_to_the_host_that_was_judged_and_keeps_early_bytes() {
    let (at, _) = server().await;
    let bench = Bench::new(&[(&at.to_string(), true)], &[]).await;
    let mut stream = TcpStream::connect(bench.at).await.unwrap();
    let early = format!("CONNECT {at} HTTP/1.1\r\nHost: {at}\r\n\r\nGET http://evil.example/ HTTP/1.1\r\n\r\n");
    stream.write_all(early.as_bytes()).await.unwrap();
    let mut all = Vec::new();
    while !String::from_utf8_lossy(&all).contains("GET http://evil.example/") {
        assert!(stream.read_buf(&mut all).await.unwrap() > 0, "{}", String::from_utf8_lossy(&all));
    }
    assert!(all.starts_with(b"HTTP/1.1 200"));
    assert_eq!(bench.asked(), [(at.to_string(), true)], "what is said inside is not looked into");
    // The end of the command ends it.
    bench.ended.cancel();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
}

#[tokio::test]
async fn socks_leads_to_the_same_judge() {
    let (at, _) = server().await;
    let bench =
        Bench::new(&[("public.example:80", false), ("public.example:80", true)], &[("public.example", &[&[at]])]).await;
    let asks = |name: &str| [&[5, 1, 0, 5, 1, 0, 3, name.len() as u8], name.as_bytes(), &[0, 80]].concat();
    let mut stream = TcpStream::connect(bench.at).await.unwrap();
    stream.write_all(&asks("Public.Example.")).await.unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer[..4], [5, 0, 5, 0]);
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n").await.unwrap();
    let mut all = vec![0; 15];
    stream.read_exact(&mut all).await.unwrap();
    assert_eq!(all, b"HTTP/1.1 200 OK");
    assert_eq!(bench.says(asks("evil.example")).await.as_bytes()[2..4], [5, 2], "not allowed by the rules");
}

#[tokio::test]
async fn a_name_is_looked_up_once_it_is_allowed_and_judged_again_by_where_it_leads() {
    let (at, count) = server().await;
    let public: SocketAddr = "192.0.2.1:80".parse().unwrap();
    // The second look leads inside, as a rebound name does; and one that has both kinds of addresses.
    let names: &[(&str, &[&[SocketAddr]])] = &[("rebound.example", &[&[at]]), ("both.example", &[&[public, at]])];
    let bench = Bench::new(&[("rebound.example:80", false), ("both.example:80", false)], names).await;
    for name in ["rebound.example", "both.example"] {
        let said = bench.says(format!("GET http://{name}/ HTTP/1.1\r\nHost: x\r\n{LAST}")).await;
        assert!(said.contains("403"), "{said}");
    }
    assert_eq!(count.load(Ordering::SeqCst), 0, "nothing was connected to");
    let looked = bench.book.looked.load(Ordering::SeqCst);
    assert!(bench.says(format!("GET http://never.example/ HTTP/1.1\r\nHost: x\r\n{LAST}")).await.contains("403"));
    assert_eq!(bench.book.looked.load(Ordering::SeqCst), looked, "a refused name is not looked up");
}

#[tokio::test]
async fn no_spelling_goes_around_the_private_network() {
    let (at, count) = server().await;
    let bench = Bench::new(&[("127.0.0.1:1", false)], &[]).await;
    let port = at.port();
    for host in [
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "2130706433",
        "0177.0.0.1",
        "0.0.0.0",
        "0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "127.0.0.1.",
        "[0:0:0:0:0:ffff:7f00:0001]",
        "169.254.169.254",
        "metadata.google.internal",
        "１２７.0.0.1",
        "a.localhost",
    ] {
        let said = bench.says(format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: x\r\n{LAST}")).await;
        assert!(said.contains(" 403 ") || said.contains(" 400 "), "{host}: {said}");
        assert!(!said.contains(" 200 "), "{host}");
    }
    assert!(bench.asked().iter().all(|(_, private)| *private), "{:?}", bench.asked());
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_user_in_the_address_names_no_host() {
    let bench = Bench::new(&[("allowed.example:80", false), ("allowed.example:443", false)], &[]).await;
    for bytes in [
        "CONNECT allowed.example:443@evil.example:443 HTTP/1.1\r\nHost: x\r\n".to_owned(),
        "CONNECT me:pw@allowed.example:443 HTTP/1.1\r\nHost: x\r\n".to_owned(),
        "GET http://allowed.example@evil.example/ HTTP/1.1\r\nHost: x\r\n".to_owned(),
        "GET http://evil.example\\@allowed.example/ HTTP/1.1\r\nHost: x\r\n".to_owned(),
        "GET http://allowed.example%00.evil.example/ HTTP/1.1\r\nHost: x\r\n".to_owned(),
        "GET https://allowed.example/ HTTP/1.1\r\nHost: x\r\n".to_owned(),
        "GET ftp://allowed.example/ HTTP/1.1\r\nHost: x\r\n".to_owned(),
        "GET / HTTP/1.1\r\nHost: allowed.example\r\n".to_owned(),
        "CONNECT allowed.example HTTP/1.1\r\nHost: x\r\n".to_owned(),
        "CONNECT / HTTP/1.1\r\nHost: x\r\n".to_owned(),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n".to_owned(),
    ] {
        let said = bench.says(format!("{bytes}{LAST}")).await;
        assert!(said.is_empty() || said.contains(" 400 ") || said.contains(" 403 "), "{bytes}: {said}");
    }
    let evil = |(to, _): &(String, bool)| to.starts_with("allowed.example");
    assert!(!bench.asked().iter().any(evil), "{:?}", bench.asked());
}

#[tokio::test]
async fn one_question_for_a_host_however_many_connections_wait() {
    struct Slow(tokio::sync::Notify, AtomicUsize);
    impl Gate for Arc<Slow> {
        fn may_reach(&self, _: Target, _: bool) -> BoxFuture<'static, Result<(), String>> {
            let this = self.clone();
            Box::pin(async move {
                this.1.fetch_add(1, Ordering::SeqCst);
                this.0.notified().await;
                Err("No.".to_owned())
            })
        }
    }
    let slow = Arc::new(Slow(tokio::sync::Notify::new(), AtomicUsize::new(0)));
    let (refusals, ended) = (Refusals::default(), CancellationToken::new());
    let session = Arc::new(Session::new(Arc::new(slow.clone()), Arc::new(Book::default()), refusals.clone(), ended));
    let target = Target::new("a.example", 443).unwrap();
    {
        // One that hangs up takes the question not with it.
        let gone = session.open(&target);
        tokio::pin!(gone);
        assert!(futures_util::poll!(gone.as_mut()).is_pending());
    }
    let waiting: Vec<_> = (0..5)
        .map(|_| {
            let (session, target) = (session.clone(), target.clone());
            tokio::spawn(async move { session.open(&target).await.is_err() })
        })
        .collect();
    slow.0.notify_one();
    for one in waiting {
        assert!(one.await.unwrap());
    }
    assert_eq!(slow.1.load(Ordering::SeqCst), 1);
    assert_eq!(refusals.all(), [Refused { target, private: false, allowed: false, why: "No.".to_owned() }]);
}

#[tokio::test]
async fn a_command_asks_few_things_at_once() {
    struct Count(AtomicUsize);
    impl Gate for Arc<Count> {
        fn may_reach(&self, _: Target, _: bool) -> BoxFuture<'static, Result<(), String>> {
            let this = self.clone();
            Box::pin(async move {
                this.0.fetch_add(1, Ordering::SeqCst);
                std::future::pending().await
            })
        }
    }
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let (refusals, ended) = (Refusals::default(), CancellationToken::new());
    let session = Arc::new(Session::new(Arc::new(count.clone()), Arc::new(Book::default()), refusals, ended.clone()));
    let waiting: Vec<_> = (0..50)
        .map(|n| {
            let session = session.clone();
            tokio::spawn(
                async move { session.open(&Target::new(&format!("h{n}.example"), 443).unwrap()).await.is_err() },
            )
        })
        .collect();
    // On one thread all that can go on does so before the next turn of this task comes often enough.
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(count.0.load(Ordering::SeqCst), 8);
    ended.cancel();
    for one in waiting {
        assert!(one.await.unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_ever() {
    struct Never;
    impl Gate for Never {
        fn may_reach(&self, _: Target, _: bool) -> BoxFuture<'static, Result<(), String>> {
            Box::pin(std::future::pending())
        }
    }
    let session =
        Session::new(Arc::new(Never), Arc::new(Book::default()), Refusals::default(), CancellationToken::new());
    let refused = session.open(&Target::new("a.example", 443).unwrap()).await.unwrap_err();
    assert!(
        matches!(refused, super::session::Refusal::NotAllowed(why) if why.contains("Nobody answered within 120 s"))
    );
}

#[tokio::test]
async fn more_connections_than_may_be_wait_and_long_heads_are_refused() {
    let (at, _) = server().await;
    let bench = Bench::new(&[(&at.to_string(), true)], &[]).await;
    let head = format!("GET http://{at}/ HTTP/1.1\r\nHost: x\r\nX: {}\r\n{LAST}", "x".repeat(1_000_000));
    let said = bench.says(&head).await;
    assert!(said.is_empty() || said.contains(" 431 "), "{said}");
    let many: String = (0..200).map(|n| format!("X{n}: 1\r\n")).collect();
    let said = bench.says(format!("GET http://{at}/ HTTP/1.1\r\nHost: x\r\n{many}{LAST}")).await;
    assert!(said.is_empty() || said.contains(" 431 ") || said.contains(" 400 "), "{said}");
    // All places are taken by clients that say nothing; when one leaves, the next is served.
    let mut silent = Vec::new();
    for _ in 0..MOST {
        silent.push(TcpStream::connect(bench.at).await.unwrap());
    }
    let ask = format!("GET http://{at}/ HTTP/1.1\r\nHost: x\r\n{LAST}");
    let served = bench.says(&ask);
    tokio::pin!(served);
    assert!(futures_util::poll!(served.as_mut()).is_pending());
    drop(silent);
    assert!(served.await.contains("200 OK"));
}

#[tokio::test]
async fn nothing_that_is_sent_stops_the_proxy() {
    let (at, _) = server().await;
    let bench = Bench::new(&[(&at.to_string(), true)], &[]).await;
    let seeds: [&[u8]; 6] = [
        b"GET http://a.example/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT a.example:443 HTTP/1.1\r\n\r\n",
        &[5, 1, 0, 5, 1, 0, 3, 4, b'a', b'b', b'c', b'd', 0, 80],
        b"POST http://a.example/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\0\0\0\0",
    ];
    let mut random = fastrand::Rng::with_seed(7);
    for round in 0..300 {
        let mut bytes = seeds[round % seeds.len()].to_vec();
        for _ in 0..random.usize(..6) {
            let place = random.usize(..bytes.len());
            bytes[place] = random.u8(..);
        }
        bytes.truncate(random.usize(1..=bytes.len()));
        let mut stream = TcpStream::connect(bench.at).await.unwrap();
        let _ = stream.write_all(&bytes).await;
        let _ = stream.shutdown().await;
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all).await;
    }
    let said = bench.says(format!("GET http://{at}/ HTTP/1.1\r\nHost: x\r\n{LAST}")).await;
    assert!(said.contains("200 OK"), "{said}");
}

#[tokio::test]
async fn only_a_listener_at_the_right_place_is_taken() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let fds = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    crate::sandbox::runner::descriptor_passing::send(
        std::os::fd::AsFd::as_fd(&theirs),
        &[std::os::fd::AsFd::as_fd(&fds)],
    )
    .unwrap();
    let came = handover::receive(&ours).await.unwrap();
    assert!(listener(came).is_err(), "another port");
    drop(theirs);
    assert!(handover::receive(&ours).await.is_err(), "nobody is there any more");
}
