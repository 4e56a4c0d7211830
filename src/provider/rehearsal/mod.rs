//! The rehearsal: a provider without a model, for trying the program out, for demonstrations and for tests.
//!
//! It follows a few verbs and says that it is no language model. `script` reads what the user wrote, `act` decides what the
//! response is (`plan`, `failures`, `prose`, `apart` and `words` give it its parts); this file gives the response its pace.

mod act;
mod apart;
mod failures;
mod plan;
mod prose;
mod script;
#[cfg(test)]
mod tests;
mod words;

use super::figures::{ModelFacts, Prices};
use super::{Chunk, Chunks, ConversationItem, ModelRequest, Provider, ProviderError, Stop};
use crate::domain::session::ThinkingLevel;
use crate::domain::usage::RequestUsage;
use act::{Beat, act, fingerprint};
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{self, StreamExt};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The name of its only model.
pub const MODEL: &str = crate::domain::ids::DEMO;
/// Its context window in tokens.
pub const WINDOW: u64 = 200_000;
/// The pace at which it writes when nothing else was set: the time between two words.
pub const PACE: Duration = Duration::from_millis(15);
/// The time between two words of `stream`: a hundred words a second.
const QUICK: Duration = Duration::from_millis(10);

/// A provider that follows rules. The same request gives the same response.
#[derive(Clone, Debug)]
pub struct Rehearsal {
    pace: Duration,
    seed: u64,
    /// Number of failures on demand, by the request's fingerprint: `fail rate 2` works at the third try.
    failed: Arc<Mutex<BTreeMap<u64, u32>>>,
}

impl Rehearsal {
    /// A rehearsal that waits `pace` between two words; zero waits nowhere.
    #[must_use]
    pub fn new(pace: Duration) -> Self {
        Self { pace, seed: 1, failed: Arc::default() }
    }

    /// The same with other variations of its text.
    #[must_use]
    pub fn seeded(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
}

impl Default for Rehearsal {
    fn default() -> Self {
        Self::new(PACE)
    }
}

impl Provider for Rehearsal {
    fn wire(&self) -> &'static str {
        "rehearsal"
    }

    fn stream(&self, request: ModelRequest) -> Chunks {
        let me = self.clone();
        stream::once(async move {
            let timed = me.chunks(&request);
            stream::unfold(timed, |mut timed| async move {
                let (wait, chunk) = timed.pop_front()?;
                if !wait.is_zero() {
                    tokio::time::sleep(wait).await;
                }
                Some((chunk, timed))
            })
        })
        .flatten()
        .boxed()
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
        async { Ok(vec![MODEL.to_owned()]) }.boxed()
    }

    fn figures(&self, _model: &str, _usage: RequestUsage) -> (Option<u64>, f64) {
        (Some(WINDOW), 0.0)
    }

    fn knows_price(&self, _model: &str) -> bool {
        true
    }

    fn known(&self, _model: &str) -> ModelFacts {
        let free = Prices { input: 0.0, cached: 0.0, written: None, written_hour: None, output: 0.0 };
        ModelFacts {
            window: Some(WINDOW),
            reasons: Some(true),
            vision: Some(false),
            prices: Some(free),
            ..ModelFacts::default()
        }
    }

    fn level(&self, _model: &str, _level: ThinkingLevel) -> Result<String, String> {
        Ok("the demo follows its rules at any level".to_owned())
    }
}

type Timed = VecDeque<(Duration, Result<Chunk, ProviderError>)>;

impl Rehearsal {
    /// The chunks of a response, each with the time to wait before it.
    fn chunks(&self, request: &ModelRequest) -> Timed {
        let print = fingerprint(request);
        let quick = if self.pace.is_zero() { Duration::ZERO } else { QUICK };
        let mut out = Timed::new();
        let mut written = 0;
        out.push_back((self.pace * 4, Ok(Chunk::Started(Some(format!("demo-{print:016x}"))))));
        for beat in act(request, self.seed) {
            match beat {
                Beat::Text(text) => words(&text).for_each(|word| {
                    written += word.len();
                    out.push_back((self.pace, Ok(Chunk::Text(word.to_owned()))));
                }),
                Beat::Quick(word) => {
                    written += word.len();
                    out.push_back((quick, Ok(Chunk::Text(word))));
                }
                Beat::Thinking(text) => words(&text).for_each(|word| {
                    written += word.len();
                    out.push_back((self.pace, Ok(Chunk::Thinking(word.to_owned()))));
                }),
                Beat::Call(call) => {
                    written += call.name.len() + call.input.to_string().len();
                    out.push_back((self.pace, Ok(Chunk::CallBegun(call.name.clone()))));
                    out.push_back((self.pace * 8, Ok(Chunk::Call(call))));
                }
                Beat::Fail { error, times } => {
                    if self.fails_now(print, times) {
                        out.push_back((self.pace * 4, Err(error)));
                        return out;
                    }
                }
                Beat::Stop(stop) => finish(&mut out, request, written, stop),
            }
        }
        out
    }

    /// Counts a failure on demand; false when it has failed often enough, which begins the count anew.
    fn fails_now(&self, print: u64, times: Option<u32>) -> bool {
        let Some(times) = times else { return true };
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let so_far = failed.entry(print).or_default();
        if *so_far >= times {
            failed.remove(&print);
            return false;
        }
        *so_far += 1;
        true
    }
}

fn finish(out: &mut Timed, request: &ModelRequest, written: usize, stop: Stop) {
    let usage = RequestUsage { input: tokens(length(request)), output: tokens(written), ..RequestUsage::default() };
    out.push_back((Duration::ZERO, Ok(Chunk::Usage(usage))));
    out.push_back((Duration::ZERO, Ok(Chunk::Stopped(stop))));
}

/// A text in words, each with the white space after it.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(char::is_whitespace)
}

/// Four bytes are about a token.
fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}

fn length(request: &ModelRequest) -> usize {
    let items: usize = request
        .items
        .iter()
        .map(|item| match item {
            ConversationItem::User(said) => said.text.len(),
            ConversationItem::Assistant(reply) => {
                reply.text.len() + reply.calls.iter().map(|c| c.name.len() + c.input.to_string().len()).sum::<usize>()
            }
            ConversationItem::Results(results) => results.iter().map(|result| result.text.len()).sum(),
        })
        .sum();
    let tools: usize =
        request.tools.iter().map(|tool| tool.name.len() + tool.description.len() + tool.schema.to_string().len()).sum();
    request.system.len() + items + tools
}
