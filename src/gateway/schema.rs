//! JSON Schema of what crosses the lines of a gateway, made of the types that are read and written: `lisle schema gateway`.
//!
//! The document is the schema of one frame. Its `methods`, `events` and `http` say which parameters a method takes and what
//! answers it, which a frame alone does not.

use super::frame::FrameError;
use super::handshake::{CONNECT, Connect, Hello};
use super::http;
use super::methods::{
    self, ClientShown, Closing, CommandParams, DetachParams, EngineNews, LinkMade, PingParams, Status, StopParams,
};
use crate::channels::{ChannelFigures, InboundAnswer, InboundMessage};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// Method with what it takes and answers.
struct MethodSchema {
    name: &'static str,
    params: Params,
    answer: Schema,
}

/// Parameters of a method.
enum Params {
    /// They may be left out, and are not read.
    None,
    /// They may be left out, or be null.
    Optional(Schema),
    Required(Schema),
}

impl Params {
    fn schema(&self) -> Value {
        match self {
            Self::None => json!({ "type": ["object", "null"] }),
            Self::Optional(schema) => json!({ "anyOf": [schema, { "type": "null" }] }),
            Self::Required(schema) => json!(schema),
        }
    }
}

/// All methods, `connect` first.
fn methods(generator: &mut SchemaGenerator) -> Vec<MethodSchema> {
    fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<T>()
    }
    let made = generator;
    let method = |name, params, answer| MethodSchema { name, params, answer };
    vec![
        method(CONNECT, Params::Required(of::<Connect>(made)), of::<Hello>(made)),
        method(methods::COMMAND, Params::Required(of::<CommandParams>(made)), of::<()>(made)),
        method(methods::PING, Params::Optional(of::<PingParams>(made)), of::<()>(made)),
        method(methods::LEAVE, Params::None, of::<()>(made)),
        method(methods::STATUS, Params::None, of::<Status>(made)),
        method(methods::CLIENTS, Params::None, of::<Vec<ClientShown>>(made)),
        method(methods::DETACH, Params::Required(of::<DetachParams>(made)), of::<()>(made)),
        method(methods::STOP, Params::Optional(of::<StopParams>(made)), of::<()>(made)),
        method(methods::LINK, Params::None, of::<LinkMade>(made)),
        method(methods::CHANNEL_SEND, Params::Required(of::<InboundMessage>(made)), of::<InboundAnswer>(made)),
        method(methods::CHANNEL_STATUS, Params::None, of::<ChannelFigures>(made)),
    ]
}

fn request(method: &MethodSchema) -> Value {
    let mut required = vec!["type", "id", "method"];
    if matches!(method.params, Params::Required(_)) {
        required.push("params");
    }
    json!({
        "type": "object",
        "properties": {
            "type": { "const": "req" },
            "id": { "type": "integer", "minimum": 0 },
            "method": { "const": method.name },
            "params": method.params.schema(),
        },
        "required": required,
    })
}

fn reply_done(methods: &[MethodSchema]) -> Value {
    let mut answers: Vec<&Schema> = Vec::new();
    for method in methods {
        if !answers.contains(&&method.answer) {
            answers.push(&method.answer);
        }
    }
    json!({
        "type": "object",
        "properties": {
            "type": { "const": "res" },
            "id": { "type": "integer", "minimum": 0 },
            "ok": { "const": true },
            "payload": { "description": "Answer of the method that was asked: see \"methods\".", "anyOf": answers },
        },
        "required": ["type", "id", "ok"],
    })
}

fn reply_refused(error: &Schema) -> Value {
    json!({
        "type": "object",
        "properties": {
            "type": { "const": "res" },
            "id": { "description": "Null for a line that is no request.", "type": ["integer", "null"], "minimum": 0 },
            "ok": { "const": false },
            "error": error,
        },
        "required": ["type", "id", "ok", "error"],
    })
}

fn event(name: &str, payload: &Schema, numbered: bool) -> Value {
    let mut required = vec!["type", "event", "payload"];
    if numbered {
        required.push("seq");
    }
    json!({
        "type": "object",
        "properties": {
            "type": { "const": "event" },
            "event": { "const": name },
            "payload": payload,
            "seq": { "description": "Number on this connection, rising by one.", "type": "integer", "minimum": 1 },
        },
        "required": required,
    })
}

/// Schema of the frames, with the methods, events and HTTP requests that it describes.
#[must_use]
pub fn gateway_schema() -> Value {
    // What is read may leave out what has a default, and so may what is written: one contract holds for both.
    let mut generator = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    let methods = methods(&mut generator);
    let error = generator.subschema_for::<FrameError>();
    let news = generator.subschema_for::<EngineNews>();
    let closing = generator.subschema_for::<Closing>();
    let exchanges = http::exchanges(&mut generator);
    let http_error = http::error_body(&mut generator);
    let events = [event(methods::EVENT, &news, true), event(methods::CLOSING, &closing, false)];
    let table = |method: &MethodSchema| {
        (method.name.to_owned(), json!({ "params": method.params.schema(), "answer": method.answer }))
    };
    let exchange = |one: &http::HttpExchange| {
        (one.path.to_owned(), json!({ "body": one.body, "answer": one.answer, "error": http_error }))
    };
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Frame of lisle's gateway",
        "description": "One JSON object a line, in both directions.",
        "anyOf": [
            { "title": "Request", "anyOf": methods.iter().map(request).collect::<Vec<_>>() },
            { "title": "Reply", "anyOf": [reply_done(&methods), reply_refused(&error)] },
            { "title": "Event", "anyOf": events },
        ],
        "methods": methods.iter().map(table).collect::<Map<_, _>>(),
        "events": { methods::EVENT: news, methods::CLOSING: closing },
        "http": exchanges.iter().map(exchange).collect::<Map<_, _>>(),
        "$defs": generator.take_definitions(true),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::frame;
    use crate::tools::json_schema::Schema;
    use serde_json::Value;

    const COMMANDS: &str = include_str!("../protocol/snapshots/lisle__protocol__tests__commands.snap");
    const EVENTS: &str = include_str!("../protocol/snapshots/lisle__protocol__tests__events.snap");
    const CONVERSATION: &str = include_str!("../../tests/gateway/conversations/protocol-3.jsonl");

    fn lines(text: &str) -> impl Iterator<Item = Value> {
        text.lines().filter(|line| line.starts_with('{')).map(|line| serde_json::from_str(line).unwrap())
    }

    /// Schema of a part of the document, by its pointer.
    fn part(document: &Value, pointer: &str) -> Schema {
        let mut whole = json!({ "$defs": document["$defs"] });
        whole["allOf"] = json!([document.pointer(pointer).unwrap_or_else(|| panic!("{pointer}"))]);
        Schema::new(whole).unwrap()
    }

    #[test]
    fn all_methods_are_in_the_schema() {
        let document = gateway_schema();
        let names: Vec<&str> = document["methods"].as_object().unwrap().keys().map(String::as_str).collect();
        let expected: Vec<&str> = std::iter::once(CONNECT).chain(methods::ALL.iter().copied()).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn every_command_and_event_fits_the_schema() {
        let frames = Schema::new(gateway_schema()).unwrap();
        let mut seen = 0;
        for command in lines(COMMANDS) {
            let line = frame::request(7, methods::COMMAND, &json!({ "command": command }));
            assert_eq!(frames.fault(&serde_json::from_slice(&line).unwrap()), None, "{command}");
            seen += 1;
        }
        for stamped in lines(EVENTS) {
            let line = frame::event(methods::EVENT, &json!({ "workspace": "/w", "stamped": stamped }), Some(1));
            assert_eq!(frames.fault(&serde_json::from_slice(&line).unwrap()), None, "{stamped}");
            seen += 1;
        }
        assert!(seen > 100, "{seen}");
    }

    #[test]
    fn recorded_conversations_fit_the_schema() {
        let document = gateway_schema();
        let frames = Schema::new(document.clone()).unwrap();
        for line in lines(CONVERSATION) {
            let (sent, answer) = (&line["send"], &line["answer"]);
            assert_eq!(frames.fault(sent), None, "{sent}");
            assert_eq!(frames.fault(answer), None, "{answer}");
            if answer["ok"] == true && !answer["payload"].is_null() {
                let method = sent["method"].as_str().unwrap();
                let answers = part(&document, &format!("/methods/{method}/answer"));
                assert_eq!(answers.fault(&answer["payload"]), None, "{answer}");
            }
        }
    }

    #[test]
    fn what_no_gateway_takes_does_not_fit() {
        let frames = Schema::new(gateway_schema()).unwrap();
        for wrong in [
            json!({}),
            json!({"type": "hello", "id": 3}),
            json!({"type": "req", "id": 1, "method": "no.such"}),
            json!({"type": "req", "id": -1, "method": "ping"}),
            json!({"type": "req", "id": 1, "method": "connect"}),
            json!({"type": "req", "id": 1, "method": "lisle.command", "params": {"command": {"to": "engine", "command": "no-such"}}}),
            json!({"type": "req", "id": 1, "method": "lisle.command", "params": {"command": {"to": "session", "command": "stop"}}}),
            json!({"type": "res", "id": 1, "ok": false}),
            json!({"type": "event", "event": "lisle.event", "payload": {}}),
        ] {
            assert!(frames.fault(&wrong).is_some(), "{wrong}");
        }
    }

    /// Blocks of a page that are fenced with a word.
    fn blocks<'t>(page: &'t str, word: &str) -> Vec<&'t str> {
        let fence = format!("```{word}\n");
        page.split(fence.as_str()).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
    }

    #[test]
    fn examples_of_the_manual_fit_the_schema() {
        let document = gateway_schema();
        let page = include_str!("../../docs/gateway.md");
        let frames = Schema::new(document.clone()).unwrap();
        let examples: Vec<Value> = blocks(page, "jsonl").into_iter().flat_map(lines).collect();
        assert!(examples.len() >= 6, "frames: {}", examples.len());
        for example in examples {
            assert_eq!(frames.fault(&example), None, "{example}");
        }
        let bodies: Vec<Schema> = document["http"]
            .as_object()
            .unwrap()
            .values()
            .flat_map(|exchange| ["body", "answer", "error"].map(|name| exchange[name].clone()))
            .filter(|schema| !schema.is_null())
            .map(|schema| Schema::new(json!({ "allOf": [schema], "$defs": document["$defs"] })).unwrap())
            .collect();
        let mut examples: Vec<Value> = blocks(page, "ndjson").into_iter().flat_map(lines).collect();
        let given = page.split("-d '").skip(1).map(|rest| rest.split('\'').next().unwrap());
        examples.extend(given.map(|text| serde_json::from_str::<Value>(text).unwrap()));
        assert!(examples.len() >= 4, "bodies: {}", examples.len());
        for example in examples {
            assert!(bodies.iter().any(|schema| schema.fault(&example).is_none()), "{example}");
        }
    }
}
