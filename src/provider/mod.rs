//! Connections to models: a request value goes in, a stream of chunks comes out.
//!
//! Vendor wire structs stay private to their module. `sse` knows bytes and no vendors, `http` knows status codes and
//! keys and no vendors, `response_stream` knows streams and no vendors, `json` joins halves of characters, `media` what a model can be shown, `levels` how hard it can think, `fault` puts failures into words, `figures` knows windows and
//! prices. A folder a vendor; `rehearsal` is the one without a server. Retrying is the agent's business: an error says whether it may be tried again and when.

pub mod anthropic;
mod arguments;
pub mod azure;
pub mod bounded;
mod client;
pub mod endpoint;
pub mod fault;
pub mod figures;
pub mod gemini;
pub mod http;
mod json;
mod learning;
mod levels;
mod media;
mod model_catalogue;
pub mod named;
pub mod openai_chat;
pub mod openai_responses;
pub mod rehearsal;
#[cfg(test)]
pub(crate) mod request_bodies;
mod response_stream;
pub mod retry;
pub mod sse;

use crate::domain::ids::CallId;
use crate::domain::message::Native;
use crate::domain::session::ThinkingLevel;
use crate::domain::tool::ToolSpec;
use crate::domain::usage::RequestUsage;
use futures_util::stream::BoxStream;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// One request to a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelRequest {
    /// The model's name at the connection.
    pub model: String,
    /// The system prompt.
    pub system: String,
    /// The conversation, oldest first.
    pub items: Vec<ConversationItem>,
    /// The tools on offer; empty for none.
    pub tools: Vec<ToolSpec>,
    /// Thinking level.
    pub thinking: ThinkingLevel,
}

/// One part of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum ConversationItem {
    /// The user said this.
    User(UserContent),
    /// The model said this.
    Assistant(Reply),
    /// Results of the calls of the reply before, in the order of the calls. Every call has one.
    Results(Vec<CallResult>),
}

/// Message of the user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserContent {
    /// The text; may be empty where there are media.
    pub text: String,
    /// Attached media.
    pub media: Vec<Media>,
}

impl From<String> for UserContent {
    fn from(text: String) -> Self {
        Self { text, media: Vec::new() }
    }
}

impl From<&str> for UserContent {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// A picture or a document for the model. A provider that cannot send it says so in its place, in words.
#[derive(Clone, Debug, PartialEq)]
pub struct Media {
    /// Its name, for words about it.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// Its media type: `image/png`, `image/jpeg`, `image/gif`, `image/webp`, `application/pdf`.
    pub mime: String,
    /// Its bytes in base64; `None` while they were not read, or why they could not be.
    pub data: Option<Result<Arc<str>, String>>,
}

/// Answer of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// Its text; may be empty.
    pub text: String,
    /// Its calls.
    pub calls: Vec<ProposedCall>,
    /// The provider's own blocks; a provider of the same wire replays them instead of the neutral fields.
    pub native: Vec<Native>,
}

/// A tool call proposed by a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ProposedCall {
    /// Its id.
    pub id: CallId,
    /// The tool's name.
    pub name: String,
    /// The input object. A text that was no JSON object arrives as `{"_raw": text}`, and the tool says so.
    pub input: Value,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallResult {
    /// Call id.
    pub id: CallId,
    /// The text for the model.
    pub text: String,
    /// It failed.
    pub failed: bool,
    /// Media of the result.
    pub media: Vec<Media>,
}

/// A piece of a response.
#[derive(Clone, Debug, PartialEq)]
pub enum Chunk {
    /// The request waits for a free place at the connection of this name; `None` when it has one. Nothing was sent before.
    Waiting(Option<String>),
    /// The response began; the provider's id of it, if it has one.
    Started(Option<String>),
    /// Text was added.
    Text(String),
    /// Thinking was added.
    Thinking(String),
    /// A whole call: its input was complete and parsed.
    Call(ProposedCall),
    /// A call is being written: its tool's name, sent once so that the screen can show it.
    CallBegun(String),
    /// Blocks to replay with the next request.
    Native(Native),
    /// Usage so far; a later one replaces an earlier one.
    Usage(RequestUsage),
    /// The response is complete. Always the last chunk of a whole response.
    Stopped(Stop),
}

/// Reason why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It was done.
    Done,
    /// It wants its calls run.
    Calls,
    /// It hit its output limit.
    Length,
    /// The provider withheld the answer.
    Filtered,
    /// It paused in the middle of its work and goes on when it is asked again with what it said so far.
    Paused,
    /// Anything else, as the server said it.
    Other(String),
}

/// Error of a request.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
#[error("{title}: {text}")]
pub struct ProviderError {
    /// One of the codes of Craft Agents' error list: `invalid_api_key`, `rate_limited`, `service_error`,
    /// `service_unavailable`, `network_error`, `proxy_error`, `billing_error`, `model_no_tool_support`, `invalid_model`,
    /// `invalid_request`, `context_overflow`, `response_too_large`, `provider_error`, `unknown_error`; and [`named::NO_MODEL`] of our own.
    pub code: &'static str,
    /// A few words.
    pub title: String,
    /// A sentence: what happened, with which server, and what to do. Never a key.
    pub text: String,
    /// Words of the server, cut to 2,000 characters, keys masked.
    pub detail: String,
    /// It may be tried again by itself.
    pub retry: bool,
    /// Delay that the server asked for.
    pub after: Option<Duration>,
}

impl ProviderError {
    /// Words of the server, where they say more than the text does.
    #[must_use]
    pub fn further_detail(&self) -> &str {
        fn is_said(value: &serde_json::Value, text: &str) -> bool {
            match value {
                serde_json::Value::Null => true,
                serde_json::Value::String(said) => text.contains(said.trim()),
                serde_json::Value::Array(all) => all.iter().all(|one| is_said(one, text)),
                serde_json::Value::Object(all) => all.values().all(|one| is_said(one, text)),
                serde_json::Value::Bool(_) | serde_json::Value::Number(_) => false,
            }
        }
        let repeats = serde_json::from_str(&self.detail).is_ok_and(|value| is_said(&value, &self.text));
        if repeats { "" } else { &self.detail }
    }
}

/// The stream of a response. Dropping it cancels the request. It ends after [`Chunk::Stopped`] or an error.
pub type Chunks = BoxStream<'static, Result<Chunk, ProviderError>>;

/// A connection that can be asked.
pub trait Provider: Send + Sync {
    /// The wire format whose [`Native`] blocks it can replay.
    fn wire(&self) -> &'static str;

    /// Starts a request. Nothing is sent before the stream is polled.
    fn stream(&self, request: ModelRequest) -> Chunks;

    /// The same, for a conversation whose prompts are to stay in the server's cache for long, where it has that.
    fn stream_kept_long(&self, request: ModelRequest) -> Chunks {
        self.stream(request)
    }

    /// Asks the server for its models.
    fn models(&self) -> futures_util::future::BoxFuture<'static, Result<Vec<String>, ProviderError>>;

    /// The model that is meant where none is named: the only one of its server, once that is known.
    fn only(&self) -> Option<String> {
        None
    }

    /// The context window of a model in tokens and the price of a request in US dollars, where they are known.
    fn figures(&self, model: &str, usage: RequestUsage) -> (Option<u64>, f64);

    /// All that is known of a model without asking the server.
    fn known(&self, model: &str) -> figures::ModelFacts {
        figures::built_in(model)
    }

    /// Request that a thinking level makes, in words; or why it has no effect on this model.
    ///
    /// # Errors
    /// The reason, as a part of a sentence.
    fn level(&self, model: &str, level: ThinkingLevel) -> Result<String, String> {
        match self.known(model).told(model).thinks {
            Some(false) => levels::never(level),
            _ => Ok(levels::by_itself()),
        }
    }

    /// The most tokens of one answer of a model, where it is known.
    fn most_output(&self, model: &str) -> Option<u64> {
        figures::built_in(model).output
    }

    /// The price of a model's requests is known: what they cost can be told, also where that is nothing.
    fn knows_price(&self, model: &str) -> bool {
        let many = RequestUsage { input: 1_000_000, output: 1_000_000, ..RequestUsage::default() };
        self.figures(model, many).1 > 0.0
    }
}
