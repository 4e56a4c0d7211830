//! The first minutes from an empty home, counted in keys.

use crate::anthropic::{refuses, says};
use crate::pty::{Pty, Start};
use crate::secrets::again;
use crate::support::model_server::{Gate, ModelServer, Script};
use serde_json::json;
use std::path::Path;

/// A screen, and the number of keys that were pressed.
struct Counted {
    pty: Pty,
    keys: usize,
}

impl Counted {
    fn new(home: &Path) -> Self {
        Self { pty: Start::new(env!("CARGO_BIN_EXE_lisle"), home).go(), keys: 0 }
    }

    fn press(&mut self, key: &str) -> &mut Self {
        self.pty.keys(key);
        self.keys += 1;
        self
    }

    /// Writes a message or a key, which is no choice to be learned.
    fn write(&mut self, text: &str) -> &mut Self {
        self.pty.keys(text);
        self
    }

    /// Presses the key that closes what appeared by itself: as soon as it counts there.
    fn close(&mut self, key: &str, shown: &str) -> &mut Self {
        self.keys += 1;
        again(&self.pty, key, &format!("{shown} is gone"), |text| !text.contains(shown));
        self
    }

    fn until(&mut self, text: &str) -> &mut Self {
        self.pty.until(text);
        self
    }
}

#[test]
fn the_demo_answers_after_two_keys_and_a_message() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(home.path().join("work")).unwrap();
    std::fs::write(home.path().join("work/only.txt"), "hi\n").unwrap();
    let mut screen = Counted::new(home.path());
    screen.until("Choose a model").press("\r").until("Demo mode").write("list").press("\r").until("only.txt");
    assert_eq!(screen.keys, 2);
}

const WRONG: &str = "sk-ant-api03-wrong0123456789abcdefghijklmnop";
const RIGHT: &str = "sk-ant-api03-right0123456789abcdefghijklmnop";

fn pasted(text: &str) -> String {
    format!("\x1b[200~{text}\x1b[201~")
}

/// A home with a connection that lacks its key.
fn keyless(server: &ModelServer) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(home.path().join("lisle/config")).unwrap();
    let config = format!(
        "[connections.anthropic]\nprovider = \"anthropic\"\nbase_url = \"{}\"\nkey_env = \"NOT_SET\"\n",
        server.base_url()
    );
    std::fs::write(home.path().join("lisle/config/config.toml"), config).unwrap();
    home
}

fn listed() -> Script {
    let model = json!({"type": "model", "id": "claude-listed-1", "display_name": "Listed"});
    Script::json(200, &json!({"data": [model], "has_more": false}))
}

fn refused() -> Script {
    refuses(401, "authentication_error", "invalid x-api-key")
}

#[test]
fn a_key_and_the_first_answer_take_five_keys_and_a_refused_one_is_pasted_again_at_once() {
    let server = ModelServer::start([refused(), listed(), says("Hello from the server")]);
    let home = keyless(&server);
    let mut screen = Counted::new(home.path());
    screen.until("Choose a model").press("\x1b[B").press("\r").until("API key (hidden)");
    // The server answers within a millisecond; nothing that follows waits for the user to be slow.
    screen.write(&pasted(WRONG)).press("\r").until("rejected the key");
    screen.write(&pasted(RIGHT)).until("****").press("\r").until("claude-listed-1").close("\r", "refresh");
    screen.write("hello").press("\r").until("Hello from the server");
    assert_eq!(screen.keys, 5 + 1, "one of them gave the key that was refused");
    let keys: Vec<_> = server.asked().iter().filter_map(|asked| asked.header("x-api-key").map(str::to_owned)).collect();
    assert_eq!(keys[..3], [WRONG, RIGHT, RIGHT]);
}

#[test]
fn what_is_typed_while_a_key_is_checked_goes_into_the_field() {
    let gate = Gate::new();
    let server = ModelServer::start([refused().held(&gate), listed(), says("Hello from the server")]);
    let home = keyless(&server);
    let mut screen = Counted::new(home.path());
    screen.until("Choose a model").press("\x1b[B").press("\r").until("API key (hidden)");
    screen.write(WRONG).press("\r").until("checking");
    // Typed, not pasted, and its Enter before the first one is refused.
    screen.write(RIGHT).until("****").press("\r");
    gate.open();
    screen.until("claude-listed-1").close("\r", "refresh").write("hello").press("\r").until("Hello from the server");
    let keys: Vec<_> = server.asked().iter().filter_map(|asked| asked.header("x-api-key").map(str::to_owned)).collect();
    assert_eq!(keys[..3], [WRONG, RIGHT, RIGHT]);
    let text = screen.pty.text();
    assert!(!text.contains("api03") && !screen.pty.look(|seen| seen.sent(RIGHT)), "{text}");
}
