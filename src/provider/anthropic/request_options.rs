//! Request options: the fields that a server may refuse, and what to omit or change after a refusal. Pure.

use crate::domain::session::ThinkingLevel;
use crate::provider::figures::{MILLION, ModelFacts, Thinks, claude_family};
use crate::provider::media::Sight;
use crate::provider::{ModelRequest, ProviderError};
use serde_json::Value;

/// The most tokens of an answer where nothing is known of a model.
const MOST: u64 = 8_192;
/// The same for a Claude model that came after the table.
const MOST_CLAUDE: u64 = 64_000;
/// An answer that has less room than this is not worth a request.
const LEAST: u64 = 1_024;

/// Options of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnthropicOptions {
    /// Form of the request for thinking; `None` omits it.
    pub(super) thinks: Option<Thinks>,
    /// Index of the word for the effort; one past the last for none.
    pub(super) effort: usize,
    /// The thinking is asked for in words, which newer models keep to themselves otherwise.
    pub(super) shown: bool,
    /// Thinking between calls is asked for, which older models do only then.
    pub(super) interleaved: bool,
    /// The places up to which the server may cache are marked.
    pub(super) cached: bool,
    /// Request an hour of caching.
    pub(super) long: bool,
    /// Earlier thinking goes back.
    pub(super) replayed: bool,
    /// Media that the model can see.
    pub(super) sight: Sight,
    /// The most tokens of the answer.
    pub(super) most: u64,
}

/// Lifetime of a lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lasts {
    /// This request only: another one may be accepted.
    ThisOnce,
    /// All requests of this kind.
    FromNowOn,
}

impl AnthropicOptions {
    /// First options for a model.
    pub(super) fn first(request: &ModelRequest, figures: &ModelFacts) -> Self {
        let claude = claude_family(&request.model).is_some();
        let thinks = thinks(&request.model, request.thinking, figures);
        let most = figures.output.unwrap_or(if claude { MOST_CLAUDE } else { MOST });
        let sight = Sight::of(figures, Sight::default());
        Self {
            thinks,
            effort: 0,
            shown: true,
            interleaved: claude,
            cached: true,
            long: true,
            replayed: true,
            sight,
            most,
        }
    }

    /// With what another request learned as well: each field as the stricter of the two has it. Of two ways to think the later one
    /// holds.
    pub(super) fn and(self, later: Self) -> Self {
        Self {
            thinks: later.thinks.filter(|_| self.thinks.is_some()),
            effort: self.effort.max(later.effort),
            shown: self.shown && later.shown,
            interleaved: self.interleaved && later.interleaved,
            cached: self.cached && later.cached,
            long: self.long && later.long,
            replayed: self.replayed && later.replayed,
            sight: self.sight.and(later.sight),
            most: self.most.min(later.most),
        }
    }

    /// Options for another try after a refusal; `None` if nothing about them can be changed.
    pub(super) fn after(self, request: &ModelRequest, error: &ProviderError) -> Option<(Self, Lasts)> {
        let level = request.thinking;
        if let Some(sight) = self.sight.after(request, error) {
            return Some((Self { sight, ..self }, Lasts::FromNowOn));
        }
        if error.retry {
            return None;
        }
        let said = words(&error.detail).to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
        if error.code == "context_overflow" {
            // The prompt fits, but not with so long an answer: "input length and `max_tokens` exceed context limit: 180000 +
            // 64000 > 200000".
            let [prompt, most, limit] = *numbers(said.split_once("exceed")?.1).first_chunk()?;
            let room = limit.checked_sub(prompt)?;
            return (most == self.most && (LEAST..most).contains(&room))
                .then_some((Self { most: room, ..self }, Lasts::ThisOnce));
        }
        if !matches!(error.code, "invalid_request" | "provider_error" | "unknown_error") {
            return None;
        }
        if says(&["max_tokens"]) && !says(&["thinking", "budget_tokens"]) {
            // "max_tokens: 64000 > 32000, which is the maximum allowed number of output tokens for …"
            let limit = numbers(&said).into_iter().filter(|number| (LEAST..self.most).contains(number)).max()?;
            return Some((Self { most: limit, ..self }, Lasts::FromNowOn));
        }
        if says(&["ttl"]) && self.long {
            return Some((Self { long: false, ..self }, Lasts::FromNowOn));
        }
        if says(&["cache_control"]) && self.cached {
            return Some((Self { cached: false, ..self }, Lasts::FromNowOn));
        }
        if says(&["anthropic-beta", "interleaved"]) && self.interleaved {
            return Some((Self { interleaved: false, ..self }, Lasts::FromNowOn));
        }
        let by_effort = matches!(self.thinks, Some(Thinks::Adaptive | Thinks::Always));
        if says(&["effort", "output_config"]) && by_effort && self.effort < efforts(level).len() {
            return Some((Self { effort: self.effort + 1, ..self }, Lasts::FromNowOn));
        }
        if says(&["display"]) && self.shown {
            return Some((Self { shown: false, ..self }, Lasts::FromNowOn));
        }
        if !says(&["thinking", "budget_tokens", "signature"]) {
            return None;
        }
        // A conversation whose calls came without thinking, from another model perhaps.
        if says(&["expected `thinking`"]) && self.thinks.is_some() {
            return Some((Self { thinks: None, ..self }, Lasts::ThisOnce));
        }
        // Thinking that cannot be given back: from another account, another conversation, or no longer known.
        if says(&["signature", "block", "redacted"]) && self.replayed {
            return Some((Self { replayed: false, ..self }, Lasts::ThisOnce));
        }
        let thinks = match self.thinks? {
            Thinks::Budget | Thinks::SmallBudget if says(&["adaptive"]) => Some(Thinks::Adaptive),
            Thinks::Adaptive | Thinks::Always if says(&["adaptive"]) => Some(Thinks::Budget),
            _ => None,
        };
        Some((Self { thinks, ..self }, Lasts::FromNowOn))
    }
}

/// The words for a thinking level, the best one first: not every model knows each.
pub(super) fn efforts(level: ThinkingLevel) -> &'static [&'static str] {
    match level {
        ThinkingLevel::Off | ThinkingLevel::Low => &["low"],
        ThinkingLevel::Medium => &["medium"],
        ThinkingLevel::High => &["high"],
        ThinkingLevel::Xhigh => &["xhigh", "high"],
        ThinkingLevel::Max => &["max", "high"],
    }
}

/// Request that a thinking level makes of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThinkingRequest {
    /// Not a word.
    Nothing,
    /// Not to think.
    Off,
    /// Thinking within a token budget.
    Tokens(u64),
    /// To think with this effort.
    Word(&'static str),
}

/// First request to a model, which may refuse a word of it.
pub(super) fn asked(model: &str, level: ThinkingLevel, figures: &ModelFacts) -> ThinkingRequest {
    match thinks(model, level, figures) {
        None => ThinkingRequest::Nothing,
        Some(thinks @ (Thinks::Budget | Thinks::SmallBudget)) => ThinkingRequest::Tokens(budget(level, thinks)),
        Some(Thinks::Adaptive) if level == ThinkingLevel::Off => ThinkingRequest::Off,
        Some(Thinks::Adaptive | Thinks::Always) => {
            efforts(level).first().map_or(ThinkingRequest::Nothing, |word| ThinkingRequest::Word(word))
        }
    }
}

/// First form of the request for thinking; `None` omits it.
fn thinks(model: &str, level: ThinkingLevel, figures: &ModelFacts) -> Option<Thinks> {
    match (figures.thinks, level) {
        (Some(known), _) => Some(known),
        // Models that are not in the table yet think as the newest there do.
        (None, _) if claude_family(model).is_some() => Some(Thinks::Adaptive),
        // Other makers' models: medium is what they do by themselves, so nothing is sent that they could refuse.
        (None, ThinkingLevel::Off) => Some(Thinks::Adaptive),
        (None, ThinkingLevel::Medium) => None,
        (None, _) => Some(Thinks::Budget),
    }
}

/// Tokens for a thinking level; the numbers are those of Craft Agents.
pub(super) fn budget(level: ThinkingLevel, thinks: Thinks) -> u64 {
    let (small, other) = match level {
        ThinkingLevel::Off => (0, 0),
        ThinkingLevel::Low => (2_000, 4_000),
        ThinkingLevel::Medium => (4_000, 10_000),
        ThinkingLevel::High => (6_000, 20_000),
        ThinkingLevel::Xhigh => (7_000, 26_000),
        ThinkingLevel::Max => (8_000, 32_000),
    };
    if thinks == Thinks::SmallBudget { small } else { other }
}

/// The name of a model as the server knows it, and whether its large context is wanted.
pub(super) fn model(name: &str) -> (&str, bool) {
    name.strip_suffix(MILLION).map_or((name, false), |name| (name, true))
}

/// The server's sentence out of its answer: numbers elsewhere in it mean nothing.
fn words(detail: &str) -> String {
    let value: Option<Value> = serde_json::from_str(detail).ok();
    let message = value.as_ref().and_then(|value| value.pointer("/error/message").or_else(|| value.get("message")));
    message.and_then(Value::as_str).unwrap_or(detail).to_owned()
}

fn numbers(text: &str) -> Vec<u64> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}
