//! Lists of sessions over HTTP, with a connection for each request: what scripts and a browser wait for.

use super::place::{Place, Serving};
use super::{Row, median, ms, stores};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Requests that are measured for each row.
const REQUESTS: usize = 15;

/// The list of 1,000 and of 10,000 sessions: at once again, and when it is too old to be given without a look at the files.
pub fn lists() -> Vec<Row> {
    let [page, all] = [1_000, 10_000].map(measured);
    vec![
        ("HTTP list, 1,000 sessions: first / known / after a look", page, "50 ms"),
        ("HTTP list, 1,000 of 10,000: first / known / after a look", all, "-"),
    ]
}

fn measured(sessions: usize) -> String {
    let place = Place::new([], "");
    let workspace = place.lisle_home().join("data/workspaces/default");
    stores::fill(&workspace, stores::Plan { sessions, damaged: 0, rows: 2, padded: true, seed: 1 });
    let made = place.lisle(&["gateway", "token", "--name", "bench", "--scopes", "read"]);
    let token = String::from_utf8(made.stdout).unwrap().trim().to_owned();
    let (_serving, address) = listening(&place);
    let ask = || {
        let begun = Instant::now();
        let body = get(&address, &token, "/v1/workspaces/default/sessions?limit=1000&all=1");
        let took = begun.elapsed();
        let page: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            (page["total"].as_u64(), page["sessions"].as_array().map(Vec::len)),
            (Some(sessions as u64), Some(1_000))
        );
        took
    };
    let first = ask();
    let mut known: Vec<Duration> = (0..REQUESTS).map(|_| ask()).collect();
    let mut looks: Vec<Duration> = (0..5)
        .map(|_| {
            std::thread::sleep(Duration::from_millis(2_100));
            ask()
        })
        .collect();
    format!("{:.0} / {:.1} / {:.0} ms", ms(first), ms(median(&mut known)), ms(median(&mut looks)))
}

/// A gateway on a port of loopback, and its address.
fn listening(place: &Place) -> (Serving, String) {
    let args = ["serve", "--listen", "127.0.0.1:0"];
    let mut child = place.command(&args).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let address = lines.find_map(|line| {
        let line = line.unwrap();
        line.split("://").nth(1).map(|rest| rest.split([' ', ')', '/']).next().unwrap_or_default().to_owned())
    });
    (Serving { child }, address.unwrap())
}

fn get(address: &str, token: &str, path: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    let head =
        format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line == "\r\n" || line.is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    body
}
