//! The first minutes from an empty home, counted in keys: the demo answers, and a key leads to a model that answers.

use crate::pty::{Pty, Start};
use crate::support::model_server::{ModelServer, Script};
use serde_json::{Value, json};
use std::path::Path;

const KEY: &str = "sk-ant-api03-secret-0123456789abcdefghijkl";

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

    fn until(&mut self, text: &str) -> &mut Self {
        self.pty.until(text);
        self
    }
}

fn event(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap())
}

/// An answer in the form of Anthropic's server.
fn says(text: &str) -> Script {
    let usage = json!({"input_tokens": 10, "output_tokens": 1});
    let events = [
        json!({"type": "message_start", "message": {"id": "msg_1", "usage": usage}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": text}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}),
        json!({"type": "message_stop"}),
    ];
    Script::sse(events.iter().map(event).collect::<String>())
}

#[test]
fn the_demo_answers_after_two_keys_and_a_message() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(home.path().join("work")).unwrap();
    std::fs::write(home.path().join("work/only.txt"), "hi\n").unwrap();
    let mut screen = Counted::new(home.path());
    screen.until("Who answers?").press("\r").until("Demo mode").write("list").press("\r").until("only.txt");
    assert_eq!(screen.keys, 2);
}

#[test]
fn a_key_leads_to_the_first_answer_in_five_keys_and_is_kept_in_one_place() {
    let models =
        json!({"data": [{"id": "claude-sonnet-5-5", "type": "model", "display_name": "Sonnet"}], "has_more": false});
    let refused = json!({"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}});
    let answer = says("Pong from the model.");
    let server = ModelServer::start([
        Script::json(401, &refused),
        Script::json(200, &models),
        answer.clone(),
        answer.clone(),
        answer,
    ]);
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("lisle/config/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    let text = format!("[connections.anthropic]\nprovider = \"anthropic\"\nbase_url = \"{}\"\n", server.base_url());
    std::fs::write(config, text).unwrap();

    let mut screen = Counted::new(home.path());
    screen.until("Who answers?").press("\x1b[B").press("\r").until("the key, not shown");
    // One that the server refuses comes back to the field, with the server's words.
    screen.write("sk-ant-wrong").press("\r").until("refused");
    let wrong = 1;
    screen.until("the key, not shown").write(KEY).press("\r").until("accepted").until("claude-sonnet-5-5");
    screen.press("\r").pty.gone("Model  ");
    screen.write("ping").press("\r").until("Pong from the model.");
    assert_eq!(screen.keys - wrong, 5);
    let shown = screen.pty.look(|seen| seen.sent("secret-0123456789"));
    assert!(!shown, "it is never on the screen");

    let stored = std::fs::read_to_string(home.path().join("lisle/config/credentials")).unwrap();
    assert!(stored.contains(KEY) && !stored.contains("sk-ant-wrong"), "a refused key is not stored");
    let keyed = server.asked().iter().filter(|asked| asked.header("x-api-key") == Some(KEY)).count();
    assert!(keyed >= 2, "the list of models and the message");
}
