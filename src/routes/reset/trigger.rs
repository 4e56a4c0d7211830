//! Reset triggers: `/new`, `/reset`, with an optional model and first prompt.

/// Model that a trigger may choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedModel {
    /// Provider or connection.
    pub provider: String,
    /// Model.
    pub model: String,
    /// Aliases.
    pub aliases: Vec<String>,
}

/// Shortest text that may be a part of a model's name.
const SHORTEST_PART: usize = 6;
/// The same behind a provider's name. Shorter words belong to the prompt: `/new openai is down`.
const SHORTEST_OF_PROVIDER: usize = 3;

/// Explicit reset that a message asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// Index of the model in the list of allowed models.
    pub model: Option<usize>,
    /// First prompt; empty for a bare trigger.
    pub prompt: String,
}

/// Finds a trigger in a message; `None` for a normal one, and for every message of a sender without authority.
///
/// `mentions` are the names that call the agent, such as `@bot`; those at the message's start do not count.
#[must_use]
pub fn find_trigger(
    text: &str,
    triggers: &[String],
    mentions: &[&str],
    models: &[AllowedModel],
    authorised: bool,
) -> Option<Trigger> {
    let text = without_mentions(text, mentions);
    let rest = triggers.iter().filter_map(|trigger| after_trigger(text, trigger.trim())).next()?;
    if !authorised {
        return None;
    }
    let (model, prompt) = split_model(rest.trim(), models);
    Some(Trigger { model, prompt: prompt.to_owned() })
}

pub(in crate::routes) fn without_mentions<'a>(text: &'a str, mentions: &[&str]) -> &'a str {
    let mut text = text.trim();
    while let Some(rest) = mentions.iter().find_map(|mention| {
        let rest = strip_folded(text, mention.trim())?;
        let rest = rest.trim_start_matches([':', ',']);
        // A longer name that begins with this one is somebody else.
        (!mention.trim().is_empty() && (rest.is_empty() || rest.starts_with(char::is_whitespace))).then_some(rest)
    }) {
        text = rest.trim_start();
    }
    text
}

/// Rest of `text` after `start`, compared without case.
fn strip_folded<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    let mut rest = text.chars();
    for wanted in start.chars() {
        let found = rest.next()?;
        if found != wanted && !found.to_lowercase().eq(wanted.to_lowercase()) {
            return None;
        }
    }
    Some(rest.as_str())
}

fn after_trigger<'a>(text: &'a str, trigger: &str) -> Option<&'a str> {
    let rest = strip_folded(text, trigger).filter(|_| !trigger.is_empty())?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then_some(rest)
}

/// Model at the start of a text, and what is left.
fn split_model<'a>(text: &'a str, models: &[AllowedModel]) -> (Option<usize>, &'a str) {
    let (first, rest) = word(text);
    let (second, after) = word(rest);
    if first.is_empty() {
        return (None, text);
    }
    // Two words first: `openai gpt-5` is one choice, although `openai` alone is none.
    if let Some(index) = of_provider(first, second, models) {
        return (Some(index), after);
    }
    match one_word(first, models) {
        Some(index) => (Some(index), rest),
        None => (None, text),
    }
}

fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (word, rest.trim_start())
}

fn folded(text: &str) -> String {
    text.trim().to_lowercase()
}

fn one_word(text: &str, models: &[AllowedModel]) -> Option<usize> {
    let wanted = folded(text);
    let alias = models.iter().position(|model| model.aliases.iter().any(|alias| folded(alias) == wanted));
    let bare = || models.iter().position(|model| folded(&model.model) == wanted);
    let with_provider = || wanted.split_once('/').and_then(|(provider, model)| of_provider(provider, model, models));
    // A provider's name chooses no model alone, although names of routed models begin with one.
    let long = wanted.chars().count() >= SHORTEST_PART && models.iter().all(|model| folded(&model.provider) != wanted);
    let part = || only(models, |model| long && folded(&model.model).contains(&wanted));
    alias.or_else(bare).or_else(with_provider).or_else(part)
}

/// Model of a provider by its whole name, else by a part that only one has.
fn of_provider(provider: &str, model: &str, models: &[AllowedModel]) -> Option<usize> {
    let (provider, wanted) = (folded(provider), folded(model));
    let of = |one: &AllowedModel| folded(&one.provider) == provider;
    let whole = models.iter().position(|one| of(one) && folded(&one.model) == wanted);
    whole.or_else(|| {
        only(models, |one| {
            wanted.chars().count() >= SHORTEST_OF_PROVIDER && of(one) && folded(&one.model).contains(&wanted)
        })
    })
}

/// The only model that fits; `None` if several do, so that no prompt's word picks one by chance.
fn only(models: &[AllowedModel], fits: impl Fn(&AllowedModel) -> bool) -> Option<usize> {
    let mut found = models.iter().enumerate().filter(|(_, model)| fits(model)).map(|(index, _)| index);
    found.next().filter(|_| found.next().is_none())
}
