//! Token counts of a conversation: the server's count where there is one, otherwise an estimate
//! corrected by the last real count. Pure, and the only place where the engine estimates a context.

use crate::domain::tool::ToolSpec;
use crate::provider::{ConversationItem, Media, ModelRequest};
use crate::tools::results::limits;

/// Estimated tokens of a picture or a page of a document, whatever its size.
const MEDIA: u64 = 1_500;
/// Overhead in tokens of each part of a conversation.
const AROUND: u64 = 4;
/// No real count moves the guess further than this, in either direction.
const MOST_RATIO: f64 = 6.0;

/// A guess at the tokens of a text.
#[must_use]
pub fn text(text: &str) -> u64 {
    limits::tokens(text)
}

/// Estimated tokens of a tool's description.
#[must_use]
pub fn tool(spec: &ToolSpec) -> u64 {
    text(&spec.name) + text(&spec.description) + text(&spec.schema.to_string()) + AROUND
}

/// A guess at the tokens of a part of the conversation.
#[must_use]
pub fn item(item: &ConversationItem) -> u64 {
    let media = |media: &[Media]| media.len() as u64 * MEDIA;
    AROUND
        + match item {
            ConversationItem::User(said) => text(&said.text) + media(&said.media),
            ConversationItem::Assistant(reply) => {
                let calls: u64 =
                    reply.calls.iter().map(|call| text(&call.name) + text(&call.input.to_string()) + AROUND).sum();
                text(&reply.text) + calls
            }
            ConversationItem::Results(results) => {
                results.iter().map(|result| text(&result.text) + media(&result.media) + AROUND).sum()
            }
        }
}

/// A guess at the tokens of a request. The tools stand apart: templates of models that know none leave them out, and then the
/// server counts none of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guess {
    /// Tokens of the offered tools.
    pub tools: u64,
    /// Tokens of everything else.
    pub rest: u64,
}

impl Guess {
    fn whole(self) -> u64 {
        self.tools.saturating_add(self.rest)
    }
}

/// A guess at the tokens of a request.
#[must_use]
pub fn request(request: &ModelRequest) -> Guess {
    let items: u64 = request.items.iter().map(item).sum();
    Guess { tools: request.tools.iter().map(tool).sum(), rest: text(&request.system) + items }
}

/// Corrects guesses by what the server counted last, for one model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gauge {
    model: String,
    /// The guess at the request that was sent last.
    asked: Guess,
    /// The guess at a request, and what the server counted for it.
    counted: Option<(Guess, u64)>,
}

impl Gauge {
    /// A request of this guess is sent. Counts of another model say nothing about this one.
    pub fn asks(&mut self, model: &str, guess: Guess) {
        if self.model != model {
            *self = Self { model: model.to_owned(), ..Self::default() };
        }
        self.asked = guess;
    }

    /// Sets the server's count of tokens for the last request.
    pub fn counts(&mut self, real: u64) {
        if real > 0 && self.asked.whole() > 0 {
            self.counted = Some((self.asked, real));
        }
    }

    /// The server said how it counts for this model.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.counted.is_some()
    }

    /// The server counts the tools among what a request has. It does not where it counted less than half of what was guessed at,
    /// and that is nearer to the guess without them.
    #[must_use]
    pub fn counts_tools(&self) -> bool {
        let Some((guess, real)) = self.counted else { return true };
        let off = |guess: u64| (real.max(guess) as f64) / (real.min(guess).max(1) as f64);
        real.saturating_mul(2) >= guess.whole() || off(guess.whole()) <= off(guess.rest)
    }

    fn whole(&self, guess: Guess) -> u64 {
        if self.counts_tools() { guess.whole() } else { guess.rest }
    }

    /// Corrected estimate for a part of a request.
    #[must_use]
    pub fn scaled(&self, guess: u64) -> u64 {
        (guess as f64 * self.ratio()) as u64
    }

    /// Corrected estimate for a tool.
    #[must_use]
    pub fn scaled_tool(&self, guess: u64) -> u64 {
        if self.counts_tools() { self.scaled(guess) } else { 0 }
    }

    fn ratio(&self) -> f64 {
        let free = self.counted.map_or(1.0, |(guess, real)| real as f64 / self.whole(guess).max(1) as f64);
        free.clamp(1.0 / MOST_RATIO, MOST_RATIO)
    }

    /// Corrected estimate for a whole request.
    #[must_use]
    pub fn corrected(&self, guess: Guess) -> u64 {
        let guess = self.whole(guess);
        let Some((counted, real)) = self.counted else { return guess };
        let guessed = self.whole(counted);
        // What was counted is known, and only the rest is guessed at: unless it is out of all bounds, and something else
        // was counted than what was guessed at.
        let absurd = real.max(guessed) as f64 > real.min(guessed) as f64 * MOST_RATIO;
        if guess < guessed || absurd { self.scaled(guess) } else { real + self.scaled(guess - guessed) }
    }

    /// The least that a request has for certain, as far as can be guessed: before the server counted, nobody knows whether the
    /// tools count.
    #[must_use]
    pub fn at_least(&self, guess: Guess) -> u64 {
        if self.is_measured() { self.corrected(guess) } else { guess.rest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::session::ThinkingLevel;
    use crate::provider::{CallResult, UserContent};

    #[test]
    fn a_guess_is_corrected_by_the_last_count_of_the_same_model() {
        let of = |rest| Guess { tools: 0, rest };
        let mut gauge = Gauge::default();
        assert_eq!((gauge.corrected(of(1_000)), gauge.is_measured()), (1_000, false));
        gauge.asks("a", of(1_000));
        gauge.counts(1_500);
        assert_eq!(gauge.corrected(of(1_000)), 1_500);
        assert_eq!(gauge.corrected(of(1_100)), 1_650, "what came since is guessed at, as wrongly as before");
        assert_eq!(gauge.corrected(of(100)), 150);
        gauge.asks("b", of(1_000));
        assert_eq!(gauge.corrected(of(1_000)), 1_000, "another model counts otherwise");
        gauge.asks("b", of(1_000));
        gauge.counts(0);
        assert!(!gauge.is_measured(), "no count is no count");
        gauge.counts(1_000_000);
        assert_eq!(gauge.corrected(of(1_000)), 6_000, "and an absurd one is held back");
    }

    #[test]
    fn tools_that_a_template_leaves_out_do_not_count() {
        let guess = |rest| Guess { tools: 6_000, rest };
        let mut gauge = Gauge::default();
        assert_eq!(gauge.at_least(guess(300)), 300, "nobody said yet that the tools count");
        gauge.asks("m", guess(300));
        gauge.counts(230);
        assert!(!gauge.counts_tools());
        assert_eq!((gauge.corrected(guess(300)), gauge.corrected(guess(600))), (230, 460));
        assert_eq!((gauge.scaled_tool(100), gauge.scaled(300)), (0, 230));
        gauge.asks("m", guess(300));
        gauge.counts(7_000);
        assert!(gauge.counts_tools(), "the same server with another template");
        assert_eq!(gauge.at_least(guess(300)), 7_000);
        // A model that writes in fewer tokens than is guessed at counts its tools all the same.
        gauge.asks("m", Guess { tools: 200, rest: 800 });
        gauge.counts(600);
        assert!(gauge.counts_tools());
    }

    #[test]
    fn every_part_of_a_request_counts() {
        let media = Media { name: "a.png".into(), path: "/a".into(), mime: "image/png".into(), data: None };
        let said = UserContent { text: "x".repeat(400), media: vec![media] };
        let result = CallResult {
            id: crate::domain::ids::CallId::new("c"),
            text: "y".repeat(800),
            failed: false,
            media: vec![],
        };
        let spec = ToolSpec { name: "read".into(), description: "d".repeat(40), schema: serde_json::json!({}) };
        let whole = ModelRequest {
            model: "m".into(),
            system: "s".repeat(4_000),
            items: vec![ConversationItem::User(said), ConversationItem::Results(vec![result])],
            tools: vec![spec.clone()],
            thinking: ThinkingLevel::Off,
        };
        let parts: u64 = whole.items.iter().map(item).sum();
        assert_eq!(request(&whole), Guess { tools: tool(&spec), rest: 1_000 + parts });
        assert_eq!(parts, 100 + MEDIA + AROUND + 200 + AROUND * 2);
    }
}
