//! A key is where it belongs, in the file of keys and in the header of a request, and nowhere else: whatever servers echo of it, however
//! it was given. Every file that lisle wrote is looked through, and all that it printed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test should stop where it fails"
)]

use crate::pty;
use crate::support;

use pty::Start;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use support::model_server::{ModelServer, Script};

/// Nothing about them looks like a key: only that it is known what they are can hide them.
const OF_VARIABLE: &str = "zq7unique0variable1e4b";
const STORED: &str = "zq7unique0stored5c9d02";
const IN_HEADER: &str = "zq7unique0header77aa10";
const TYPED: &str = "zq7unique0typed3f6e81";
const ALL: [&str; 4] = [OF_VARIABLE, STORED, IN_HEADER, TYPED];

fn config(home: &Path, text: &str) {
    let dir = home.join("config");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("config.toml"), text).unwrap();
}

fn lisle(home: &Path, args: &[&str], stdin: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lisle"));
    command.args(args).current_dir(home).env("LISLE_HOME", home).env("LISLE_LOG", "trace").env("RUST_BACKTRACE", "1");
    for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"] {
        command.env_remove(name);
    }
    command.env("WORK_KEY", OF_VARIABLE);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A program that ends early does not read it.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child.wait_with_output().unwrap()
}

fn printed(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[track_caller]
fn nothing_secret(what: &str, bytes: &[u8]) {
    for key in ALL {
        // A part of it is too much already.
        assert!(pty::find(bytes, &key.as_bytes()[..14]).is_none(), "{what}: {}", String::from_utf8_lossy(bytes));
    }
}

/// Every file below, the file of keys and what the user wrote left out.
#[track_caller]
fn nothing_secret_below(folder: &Path) -> usize {
    let mut looked = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            looked += nothing_secret_below(&path);
        } else if !path.ends_with("config/credentials") && !path.ends_with("config/config.toml") {
            nothing_secret(&path.display().to_string(), &std::fs::read(&path).unwrap());
            looked += 1;
        }
    }
    looked
}

/// All that a server can say wrong, with the keys in it.
fn echoes() -> Vec<Script> {
    let keys = ALL.join(" and ");
    let refused = json!({"error": {"message": format!("Incorrect API key provided: {keys}."), "code": keys}});
    let odd = json!({"error": {"message": "no", "request": {"headers": {"authorization": format!("Bearer {keys}")}}}});
    let stream = format!("data: {}\n\n", json!({"error": {"message": format!("cannot use {keys}")}}));
    let page = format!("<!doctype html><title>{keys}</title>");
    let echoed = |script: Script| script.header("x-echo", STORED).header("x-should-retry", "false");
    vec![
        echoed(Script::json(401, &refused)),
        echoed(Script::json(403, &odd)),
        echoed(Script::json(400, &refused)),
        echoed(Script::json(500, &odd)),
        echoed(Script::new(502, "text/html", &page)),
        echoed(Script::new(200, "text/html", &page)),
        echoed(Script::new(307, "text/plain", ""))
            .header("location", &format!("http://{STORED}.test/{OF_VARIABLE}?key={IN_HEADER}")),
        echoed(Script::sse(&stream)),
    ]
}

#[test]
fn servers_that_echo_keys_get_them_nowhere() {
    for provider in ["openai-compatible", "openai", "anthropic", "gemini"] {
        let home = tempfile::tempdir().unwrap();
        let server = ModelServer::start(echoes().into_iter().flat_map(|script| [script.clone(), script]));
        let connection = |name: &str, more: &str| {
            let headers = format!("headers = {{ \"x-team\" = \"{IN_HEADER}\", \"x-other\" = \"{TYPED}\" }}");
            let address = server.address();
            format!(
                "[connections.{name}]\nprovider = '{provider}'\nbase_url = 'http://{address}/v1'\n{headers}\n{more}\n"
            )
        };
        // Each connection hides what it knows of; so each has all of them.
        let variable = format!("key_env = 'WORK_KEY'\nproxy = 'http://{STORED}:x@127.0.0.1:9'\ndefault_model = 'm'");
        let stored = format!("proxy = 'http://{OF_VARIABLE}:x@127.0.0.1:9'\ndefault_model = 'm'");
        config(home.path(), &(connection("variable", &variable) + &connection("stored", &stored)));
        let added = lisle(home.path(), &["auth", "add", "stored", "--no-check"], &format!("{STORED}\n"));
        assert!(added.status.success(), "{}", printed(&added));
        nothing_secret("auth add", printed(&added).as_bytes());
        let listed = lisle(home.path(), &["auth", "list"], "");
        let text = printed(&listed);
        assert!(text.contains("from WORK_KEY") && text.contains("stored") && text.contains("127.0.0.1"), "{text}");
        nothing_secret("auth list", text.as_bytes());
        for _ in echoes() {
            for name in ["variable", "stored"] {
                let output = lisle(home.path(), &["run", "--connection", name, "--output", "json", "hello"], "");
                assert!(matches!(output.status.code(), Some(1 | 4)), "{}", printed(&output));
                nothing_secret(&format!("{provider} {name}"), printed(&output).as_bytes());
            }
        }
        let asked = server.asked();
        let sent = |key: &str| asked.iter().any(|one| one.headers.iter().any(|(_, value)| value.contains(key)));
        assert!(sent(OF_VARIABLE) && sent(STORED), "the keys were used");
        for args in [&["doctor"][..], &["sessions", "list", "--json"], &["auth", "list", "--json"]] {
            nothing_secret(args[0], printed(&lisle(home.path(), args, "")).as_bytes());
        }
        assert!(nothing_secret_below(home.path()) > 10, "sessions and a log were written");
        let removed = lisle(home.path(), &["auth", "remove", "stored"], "");
        assert!(removed.status.success(), "{}", printed(&removed));
        assert!(!std::fs::read_to_string(home.path().join("config/credentials")).unwrap().contains(STORED));
        assert_eq!(lisle(home.path(), &["auth", "remove", "stored"], "").status.code(), Some(1));
        assert_eq!(lisle(home.path(), &["auth", "add", "nobody"], STORED).status.code(), Some(2));
    }
}

#[test]
fn a_key_that_is_given_in_the_app_lets_the_turn_go_on_and_shows_nowhere() {
    let home = tempfile::tempdir().unwrap();
    let refusal: Value =
        json!({"error": {"message": format!("{TYPED} is not a key of ours"), "code": "invalid_api_key"}});
    let refuses = Script::json(401, &refusal);
    let server = ModelServer::for_program([refuses, Script::says("The key fits.")]);
    let lisle_home = home.path().join("lisle");
    config(
        &lisle_home,
        &format!(
            "[connections.work]\nprovider = 'openai-compatible'\nbase_url = 'http://{}/v1'\nkey_env = 'NO_SUCH_KEY'\ndefault_model = 'm'\n",
            server.address()
        ),
    );
    let mut pty = Start::new(env!("CARGO_BIN_EXE_lisle"), home.path()).env("LISLE_LOG", "trace").go();
    pty.until("Ask to Edit");
    pty.keys("hello\r");
    pty.until("API key for work?");
    let address = format!("http://{}", server.address());
    pty.until(&address);
    // Typing goes on to the message, and a key that is pasted there goes nowhere.
    pty.keys("draft");
    pty.keys(&format!("\x1b[200~{TYPED}\x1b[201~"));
    pty.until("looks like an API key");
    // Each asking has words of its own: keys for the second one must not meet the first.
    for why in ["No key yet", "key of ours"] {
        pty.until(why);
        to_the_field(&pty);
        pty.keys(&format!("\x1b[200~{TYPED}\x1b[201~"));
        pty.until(&"*".repeat(TYPED.len()));
        pty.keys("\r");
        // The server refuses the first one, and is asked again with the second.
        pty.gone("API key (hidden)");
    }
    pty.until("The key fits.");
    assert!(pty.text().contains("draft"));
    again_until(&pty, "\x15\x03", "again to quit");
    pty.keys("\x03");
    pty.end();
    pty.look(|seen| nothing_secret("the screen", &seen.raw));
    assert!(nothing_secret_below(home.path()) > 3);
    let stored = std::fs::read_to_string(lisle_home.join("config/credentials")).unwrap();
    assert_eq!(stored, format!("\"work\" = \"{TYPED}\"\n"));
    let asked = server.asked();
    let with_key = asked.iter().filter(|one| one.header("authorization") == Some(&format!("Bearer {TYPED}")));
    assert!(with_key.count() >= 2, "{asked:?}");
}

/// Goes to the field for the key. Keys are dropped for a while when the panel gets the focus, so it is tried again.
#[track_caller]
fn to_the_field(pty: &pty::Pty) {
    // It has the focus: before, the other keys would be a message. Pressed again, F3 would take the focus back.
    pty.keys("\x1bOR");
    pty.until("later");
    // Just after it got the focus its keys do nothing. Down would go on to the next answer when the screen is late;
    // the letter marks the same one however often it is pressed.
    again_until(pty, "1", "▌›1");
    again_until(pty, "\r", "API key (hidden)");
}

#[track_caller]
fn again_until(pty: &pty::Pty, keys: &str, shown: &str) {
    again(pty, keys, shown, |text| text.contains(shown));
}

/// Presses a key once a second until it has done what it is for: one that comes too soon does nothing. For keys that may be
/// pressed twice: on a busy machine the screen can be later than a second.
#[track_caller]
pub(crate) fn again(pty: &pty::Pty, keys: &str, what: &str, reached: impl Fn(&str) -> bool) {
    let end = Instant::now() + pty::LIMIT;
    while Instant::now() < end {
        pty.keys(keys);
        let again = Instant::now() + Duration::from_secs(1);
        while Instant::now() < again {
            if reached(&pty.text()) {
                return;
            }
            std::thread::yield_now();
        }
    }
    panic!("{what}: not reached\n{}", pty.text());
}

#[test]
fn a_key_is_stored_once_its_server_accepts_it() {
    let home = tempfile::tempdir().unwrap();
    let refusal = json!({"error": {"message": "Incorrect API key", "code": "invalid_api_key"}});
    let server = ModelServer::start([Script::json(401, &refusal), Script::json(200, &json!({"data": [{"id": "m"}]}))]);
    let at = |address: &str| {
        format!(
            "[connections.work]\nprovider = 'openai-compatible'\nbase_url = 'http://{address}/v1'\nkey_env = 'NO_SUCH_KEY'\ndefault_model = 'm'\n"
        )
    };
    config(home.path(), &at(&server.address().to_string()));
    let stored = || std::fs::read_to_string(home.path().join("config/credentials")).unwrap_or_default().contains(TYPED);
    let add = |more: &[&str]| {
        let output = lisle(home.path(), &[&["auth", "add", "work"], more].concat(), &format!("{TYPED}\n"));
        (output.status.code(), printed(&output))
    };
    let (code, said) = add(&[]);
    assert!(code == Some(1) && said.contains("refused the key, nothing stored: ") && !stored(), "{said}");
    let (code, said) = add(&[]);
    assert!(code == Some(0) && said.contains("(the server accepts it)") && stored(), "{said}");
    // Nobody answers there.
    config(home.path(), &at("127.0.0.1:9"));
    let (code, said) = add(&[]);
    assert!(code == Some(0) && said.contains("(not checked: "), "{said}");
    let (code, said) = add(&["--no-check"]);
    assert!(code == Some(0) && said.contains("(not checked)"), "{said}");
}
