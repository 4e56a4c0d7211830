//! Meaning of the thinking levels for a model, in words for the user. The vendors' modules decide what is sent.

use crate::domain::session::ThinkingLevel;

/// Nothing is sent: the model does what it does without a word.
pub(super) fn by_itself() -> String {
    "model default".to_owned()
}

/// It never thinks.
pub(super) fn never(level: ThinkingLevel) -> Result<String, String> {
    match level {
        ThinkingLevel::Off => Ok("no thinking; this model never thinks".to_owned()),
        _ => Err("this model does not think".to_owned()),
    }
}

/// A token budget.
pub(super) fn within(tokens: u64) -> String {
    if tokens == 0 { "no thinking".to_owned() } else { format!("up to {} tokens of thinking", grouped(tokens)) }
}

/// Meaning of a word for the effort.
pub(super) fn by_word(word: &str) -> String {
    match word {
        "none" => "no thinking".to_owned(),
        word => format!("effort: {word}"),
    }
}

/// The `place`-th of the words that can be sent; servers refused those before it.
pub(super) fn by_words(words: &[&str], place: usize) -> Result<String, String> {
    match words.get(place) {
        _ if words.is_empty() => Ok(by_itself()),
        Some(word) => Ok(by_word(word)),
        None => Err("not supported by the server".to_owned()),
    }
}

/// `32,000`.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_words() {
        assert_eq!(within(0), "no thinking");
        assert_eq!(within(800), "up to 800 tokens of thinking");
        assert_eq!(within(1_032_000), "up to 1,032,000 tokens of thinking");
        assert_eq!(by_words(&[], 0), Ok(by_itself()));
        assert_eq!(by_words(&["xhigh", "high"], 1), Ok("effort: high".to_owned()));
        assert!(by_words(&["xhigh"], 1).is_err() && never(ThinkingLevel::Low).is_err());
    }
}
