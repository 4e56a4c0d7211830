//! The bodies that every wire makes of a request, for tests that hold for all of them.

use super::endpoint::Endpoint;
use super::{ModelRequest, anthropic, gemini, openai_chat, openai_responses};
use serde_json::Value;
use std::sync::OnceLock;

type Body = Box<dyn Fn(&ModelRequest) -> Value + Send + Sync>;

static WIRES: OnceLock<Vec<(&'static str, Body)>> = OnceLock::new();

fn wires() -> Vec<(&'static str, Body)> {
    let endpoint = || Endpoint::new("test", "http://127.0.0.1:1/v1");
    let azure = |version| super::azure::at_azure(Endpoint::new("test", "http://127.0.0.1:1"), version);
    let (dated, in_address) = azure(Some("2024-10-21"));
    let (newest, in_body) = azure(None);
    let messages = anthropic::Anthropic::new(endpoint()).unwrap();
    let responses = openai_responses::OpenAiResponses::new(endpoint()).unwrap();
    let azure_responses = openai_responses::OpenAiResponses::at(newest, in_body).unwrap();
    let chat = openai_chat::OpenAiChat::new(endpoint()).unwrap();
    let azure_chat = openai_chat::OpenAiChat::at(dated, in_address).unwrap();
    let gemini = gemini::Gemini::new(endpoint()).unwrap();
    vec![
        ("anthropic", Box::new(move |request: &ModelRequest| messages.body(request))),
        ("responses", Box::new(move |request: &ModelRequest| responses.body(request))),
        ("azure responses", Box::new(move |request: &ModelRequest| azure_responses.body(request))),
        ("chat", Box::new(move |request: &ModelRequest| chat.body(request))),
        ("azure chat", Box::new(move |request: &ModelRequest| azure_chat.body(request))),
        ("gemini", Box::new(move |request: &ModelRequest| gemini.body(request))),
    ]
}

/// Bodies by the wire's name.
pub(crate) fn all(request: &ModelRequest) -> Vec<(&'static str, Value)> {
    WIRES.get_or_init(wires).iter().map(|(wire, body)| (*wire, body(request))).collect()
}
