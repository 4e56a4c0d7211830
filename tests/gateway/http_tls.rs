//! The gateway over the network, encrypted by itself or by a proxy before it.

use crate::http::{Web, token};
use crate::place::{Place, err};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

/// Certificate and key of the tests, for `localhost` and 127.0.0.1, valid for a hundred years.
const CERT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tls/cert.pem");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tls/key.pem");

/// A request over TLS, and what comes back until the end.
fn ask(web: &Web, text: &str) -> String {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(CERT).unwrap()).unwrap();
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let mut session = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let mut socket: TcpStream = web.connect();
    let mut stream = rustls::Stream::new(&mut session, &mut socket);
    stream.write_all(text.as_bytes()).unwrap();
    let mut got = Vec::new();
    let _ = stream.read_to_end(&mut got);
    String::from_utf8_lossy(&got).into_owned()
}

#[test]
fn a_gateway_with_a_certificate_speaks_tls_and_nothing_else() {
    let place = Place::new([], "");
    let web = Web::serve(&place, &["--tls-cert", CERT, "--tls-key", KEY]);
    let token = token(&place, &[]);
    let request = format!(
        "GET /v1/workspaces HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    let answer = ask(&web, &request);
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"workspaces\""), "{answer}");
    let without = ask(&web, "GET /v1/workspaces HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert!(without.starts_with("HTTP/1.1 401"), "{without}");
    // A client that speaks no TLS gets no answer of HTTP.
    let mut plain = web.connect();
    plain.write_all(request.as_bytes()).unwrap();
    let mut got = Vec::new();
    let _ = plain.read_to_end(&mut got);
    assert!(!String::from_utf8_lossy(&got).contains("HTTP/1.1"), "{got:?}");
    assert_eq!(place.status().unwrap()["http"]["tls"], true);
}

#[test]
fn files_that_are_no_certificate_and_addresses_without_encryption_are_refused() {
    let place = Place::new([], "");
    let missing = place.project.path().join("none.pem").display().to_string();
    for (args, words) in [
        (vec!["--listen", "127.0.0.1:0", "--tls-cert", KEY, "--tls-key", KEY], "cert"),
        (vec!["--listen", "127.0.0.1:0", "--tls-cert", &missing, "--tls-key", KEY], "none.pem"),
        (vec!["--listen", "127.0.0.1:0", "--tls-cert", CERT, "--tls-key", CERT], "key"),
        (vec!["--listen", "0.0.0.0:0"], "--tls-cert"),
    ] {
        let done = place.lisle(&[&["serve"], args.as_slice()].concat());
        assert!(!done.status.success() && err(&done).contains(words), "{args:?}: {}", err(&done));
        assert!(place.status().is_none());
    }
}

#[test]
fn behind_a_proxy_the_address_that_it_names_is_locked_out_and_not_the_proxy() {
    let place = Place::new([], "");
    let web = Web::behind_proxy(&place, &["--host", "lisle.example.org"]);
    let token = token(&place, &[]);
    let from = |address: &str, token: &str| {
        let bearer = format!("Bearer {token}");
        // What the client itself wrote stands first: only the last one is the proxy's.
        let headers = [("Authorization", bearer.as_str()), ("X-Forwarded-For", address)];
        web.ask("GET", "/v1/workspaces", &headers, "").status
    };
    for _ in 0..12 {
        from("10.0.0.1, 192.0.2.7", "wrong");
    }
    assert_eq!(from("10.0.0.9, 192.0.2.7", "wrong"), 429, "it is locked out, whatever it claims to be");
    assert_eq!(from("192.0.2.7, 192.0.2.8", "wrong"), 401, "another one is not");
    assert_eq!(from("192.0.2.7", &token), 200, "and the right token is let in");
    let log = std::fs::read_to_string(place.lisle_home().join("state/gateway/http.log")).unwrap();
    assert!(log.contains("192.0.2.7") && !log.contains(&token), "{log}");
}
