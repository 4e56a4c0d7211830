//! How many tokens a conversation has: the server's count where it gave one, otherwise a guess that is corrected by the
//! last real count. Pure, and the only place where the engine guesses at a context.

use crate::domain::tool::ToolSpec;
use crate::provider::{Item, Media, ModelRequest};
use crate::tools::limits;

/// What a picture or a page of a document is taken for, whatever its size.
const MEDIA: u64 = 1_500;
/// What each part of a conversation costs beside its text.
const AROUND: u64 = 4;
/// No real count moves the guess further than this, in either direction.
const MOST_RATIO: f64 = 6.0;

/// A guess at the tokens of a text.
#[must_use]
pub fn text(text: &str) -> u64 {
    limits::tokens(text)
}

/// A guess at the tokens of what a tool is told as.
#[must_use]
pub fn tool(spec: &ToolSpec) -> u64 {
    text(&spec.name) + text(&spec.description) + text(&spec.schema.to_string()) + AROUND
}

/// A guess at the tokens of a part of the conversation.
#[must_use]
pub fn item(item: &Item) -> u64 {
    let media = |media: &[Media]| media.len() as u64 * MEDIA;
    AROUND
        + match item {
            Item::User(said) => text(&said.text) + media(&said.media),
            Item::Assistant(reply) => {
                let calls: u64 =
                    reply.calls.iter().map(|call| text(&call.name) + text(&call.input.to_string()) + AROUND).sum();
                text(&reply.text) + calls
            }
            Item::Results(results) => {
                results.iter().map(|result| text(&result.text) + media(&result.media) + AROUND).sum()
            }
        }
}

/// A guess at the tokens of a request.
#[must_use]
pub fn request(request: &ModelRequest) -> u64 {
    let items: u64 = request.items.iter().map(item).sum();
    text(&request.system) + request.tools.iter().map(tool).sum::<u64>() + items
}

/// Corrects guesses by what the server counted last, for one model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gauge {
    model: String,
    /// The guess at the request that was sent last.
    asked: u64,
    /// The guess at a request, and what the server counted for it.
    counted: Option<(u64, u64)>,
}

impl Gauge {
    /// A request of this guess is sent. Counts of another model say nothing about this one.
    pub fn asks(&mut self, model: &str, guess: u64) {
        if self.model != model {
            *self = Self { model: model.to_owned(), ..Self::default() };
        }
        self.asked = guess;
    }

    /// The server counted so many tokens for the request that was sent last.
    pub fn counts(&mut self, real: u64) {
        if real > 0 && self.asked > 0 {
            self.counted = Some((self.asked, real));
        }
    }

    /// The server said how it counts for this model.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.counted.is_some()
    }

    /// What a part of a request comes to.
    #[must_use]
    pub fn scaled(&self, guess: u64) -> u64 {
        (guess as f64 * self.ratio()) as u64
    }

    fn ratio(&self) -> f64 {
        let free = self.counted.map_or(1.0, |(guessed, real)| real as f64 / guessed as f64);
        free.clamp(1.0 / MOST_RATIO, MOST_RATIO)
    }

    /// What a guess at a whole request comes to.
    #[must_use]
    pub fn corrected(&self, guess: u64) -> u64 {
        let Some((guessed, real)) = self.counted else { return guess };
        // What was counted is known, and only the rest is guessed at: unless it is out of all bounds, and something else
        // was counted than what was guessed at.
        let absurd = real.max(guessed) as f64 > real.min(guessed) as f64 * MOST_RATIO;
        if guess < guessed || absurd { self.scaled(guess) } else { real + self.scaled(guess - guessed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::session::ThinkingLevel;
    use crate::provider::{CallResult, Said};

    #[test]
    fn a_guess_is_corrected_by_the_last_count_of_the_same_model() {
        let mut gauge = Gauge::default();
        assert_eq!((gauge.corrected(1_000), gauge.is_measured()), (1_000, false));
        gauge.asks("a", 1_000);
        gauge.counts(1_500);
        assert_eq!(gauge.corrected(1_000), 1_500);
        assert_eq!(gauge.corrected(1_100), 1_650, "what came since is guessed at, as wrongly as before");
        assert_eq!(gauge.corrected(100), 150);
        gauge.asks("b", 1_000);
        assert_eq!(gauge.corrected(1_000), 1_000, "another model counts otherwise");
        gauge.asks("b", 1_000);
        gauge.counts(0);
        assert!(!gauge.is_measured(), "no count is no count");
        gauge.counts(1_000_000);
        assert_eq!(gauge.corrected(1_000), 6_000, "and an absurd one is held back");
    }

    #[test]
    fn every_part_of_a_request_counts() {
        let media = Media { name: "a.png".into(), path: "/a".into(), mime: "image/png".into(), data: None };
        let said = Said { text: "x".repeat(400), media: vec![media] };
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
            items: vec![Item::User(said), Item::Results(vec![result])],
            tools: vec![spec.clone()],
            thinking: ThinkingLevel::Off,
        };
        let parts: u64 = whole.items.iter().map(item).sum();
        assert_eq!(request(&whole), 1_000 + tool(&spec) + parts);
        assert_eq!(parts, 100 + MEDIA + AROUND + 200 + AROUND * 2);
    }
}
