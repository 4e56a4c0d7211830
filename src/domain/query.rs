//! Search query: words and filters, their matches, and the positions of the words in a line.
//!
//! A query selects **sessions**. Each word must stand somewhere in the session: in its title, its id, a label, or one
//! of its rows, not necessarily the same one; no `-word` may. What is listed of a session are the rows that hold any of
//! the words, those with the most of them first. Words match anywhere, also within longer words, as
//! [`super::fold`] compares: case, accents and width do not count.
//!
//! | written | means |
//! |---|---|
//! | `flaky test` | both words |
//! | `"flaky test"` | these words one after the other; `\"` for a quote in it |
//! | `-flaky` `-"flaky test"` | sessions without it; `--flaky` is a word with two dashes |
//! | `status:done` `label:bug` | sessions of this status or label, by id or name; a label also finds those below it, and `label:id::value` the ones with that value |
//! | `tool:bash` `file:main.rs` | only in calls of this tool; only in rows that name a file with this in its path |
//! | `in:title` `in:user` `in:assistant` `in:tool` | only there |
//! | `after:2026-11-01` `before:yesterday` | only rows written since the beginning of that day, or before it; titles, and queries without a word, go by the last message |
//! | `-status:done` | any filter but the dates, turned around |
//!
//! Dates are `YYYY-MM-DD`, `YYYY-MM`, `YYYY`, `YYYY-MM-DDTHH:MM`, `today`, `yesterday`, and spans back from now: `90min`,
//! `12h`, `7d`, `2w`, `3m` (months), `1y`. A filter that is given twice means either, except labels: all of them.
//! Reading a query is `parse`'s, and what its names mean in a workspace is `scope`'s.

mod parse;
mod scope;
mod when;

pub use scope::Scope;
pub use when::When;

use super::fold::{self, Mapped};
use super::message::{Body, Message, UserText};
use super::search_hit::HitIn;
use super::tool::ToolCall;
use memchr::memmem::Finder;
use serde_json::Value;
use std::fmt;

/// Error in a query, with its byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    /// Byte of the query where the part begins that is wrong.
    pub at: usize,
    /// A sentence: what is wrong with it, and what would not be.
    pub text: String,
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for QueryError {}

/// Word to find, ready to be compared.
#[derive(Clone, Debug)]
pub struct QueryWord {
    /// Its fold.
    pub folded: Vec<u8>,
    finder: Finder<'static>,
}

impl PartialEq for QueryWord {
    fn eq(&self, other: &Self) -> bool {
        self.folded == other.folded
    }
}

impl QueryWord {
    /// `None` when nothing of the text counts, as of a lone accent.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let folded = fold::fold(text);
        let finder = Finder::new(&folded).into_owned();
        (!folded.is_empty()).then_some(Self { folded, finder })
    }

    /// Position in a folded text, from byte `from` on.
    #[must_use]
    pub fn find(&self, folded: &[u8], from: usize) -> Option<usize> {
        fold::find(folded, &self.finder, from)
    }
}

/// A filter with a name in it.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedFilter {
    /// The name as it was written.
    pub name: String,
    /// The name as it is compared.
    pub word: QueryWord,
    /// Byte of the query where the filter begins.
    pub at: usize,
    /// Turned around: everything but these.
    pub not: bool,
}

/// A query that was understood. The empty one selects every session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// Words that must occur.
    pub words: Vec<QueryWord>,
    /// Words that must not occur.
    pub without: Vec<QueryWord>,
    /// Places that count; all if empty.
    pub places: Vec<HitIn>,
    /// Places that do not count.
    pub not_places: Vec<HitIn>,
    /// Statuses.
    pub statuses: Vec<NamedFilter>,
    /// Labels.
    pub labels: Vec<NamedFilter>,
    /// Tools.
    pub tools: Vec<NamedFilter>,
    /// Parts of paths.
    pub files: Vec<NamedFilter>,
    /// Since when.
    pub after: Option<When>,
    /// Until when.
    pub before: Option<When>,
}

impl Query {
    /// Reads a query. An open quote reaches to the end, because that is what somebody sees who is still typing.
    ///
    /// # Errors
    /// If a filter is unknown or its value is invalid.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        parse::query(text)
    }

    /// It asks for nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Rows must be looked at to answer it; otherwise the properties of the sessions are enough.
    #[must_use]
    pub fn asks_for_rows(&self) -> bool {
        !(self.words.is_empty() && self.without.is_empty() && self.tools.is_empty() && self.files.is_empty())
    }

    /// Only rows are asked for, not titles, ids and labels.
    #[must_use]
    pub fn only_rows(&self) -> bool {
        !(self.tools.is_empty() && self.files.is_empty())
    }

    /// It looks there.
    #[must_use]
    pub fn takes_place(&self, place: HitIn) -> bool {
        (self.places.is_empty() || self.places.contains(&place)) && !self.not_places.contains(&place)
    }

    /// One of its words stands in this id at the beginning of a part.
    #[must_use]
    pub fn begins_a_part_of(&self, id: &str) -> bool {
        let folded = fold::fold(id);
        let begins = |at: usize| at == 0 || folded.get(at - 1).is_some_and(|byte| !byte.is_ascii_alphanumeric());
        let mut words = self.words.iter().chain(&self.without);
        let places = |word: &QueryWord| {
            std::iter::successors(word.find(&folded, 0), |at| word.find(&folded, at + 1)).any(begins)
        };
        words.any(places)
    }

    /// It looks into this row, as far as `in:`, `tool:` and `file:` say.
    #[must_use]
    pub fn takes_row(&self, row: &Message) -> bool {
        if !self.takes_place(place_of(&row.body)) {
            return false;
        }
        let tool = |named: &NamedFilter| row.tool().is_some_and(|call| is_tool(call, named));
        let file =
            |named: &NamedFilter| paths(&row.body).iter().any(|path| named.word.find(&fold::fold(path), 0).is_some());
        either(&self.tools, |named| named.not, tool) && either(&self.files, |named| named.not, file)
    }

    /// Words that occur in a folded text, as bits in their order, and whether an excluded word does.
    #[must_use]
    pub fn holds(&self, folded: &[u8]) -> (u64, bool) {
        let bits = self.words.iter().enumerate().filter(|(_, word)| word.find(folded, 0).is_some());
        let bits = bits.fold(0, |bits, (n, _)| bits | 1 << n);
        (bits, self.without.iter().any(|word| word.find(folded, 0).is_some()))
    }

    /// The bits of all words.
    #[must_use]
    pub fn all(&self) -> u64 {
        u64::MAX.checked_shr(64 - self.words.len() as u32).unwrap_or(0)
    }

    /// Positions of the query's words and path parts in a line: start and end, in order, none within another.
    #[must_use]
    pub fn marks(&self, line: &str) -> Vec<(usize, usize)> {
        let mapped = Mapped::new(line);
        let mut found = Vec::new();
        let files = self.files.iter().filter(|named| !named.not).map(|named| &named.word);
        for word in self.words.iter().chain(files) {
            let mut from = 0;
            while let Some(at) = word.find(&mapped.text, from) {
                from = at + word.folded.len();
                found.push(mapped.source(at, from));
            }
        }
        found.sort_unstable();
        let mut marks: Vec<(usize, usize)> = Vec::new();
        for (start, end) in found {
            match marks.last_mut() {
                Some((_, last)) if start <= *last => *last = end.max(*last),
                _ => marks.push((start, end)),
            }
        }
        marks
    }
}

/// One of those that are wanted, where any is, and none that is not.
fn either<T>(all: &[T], not: impl Fn(&T) -> bool, fits: impl Fn(&T) -> bool) -> bool {
    let mut wanted = all.iter().filter(|one| !not(one)).peekable();
    (wanted.peek().is_none() || wanted.any(&fits)) && !all.iter().any(|one| not(one) && fits(one))
}

/// The call is of the tool, by its whole name or by one part of a name such as `mcp__server__tool`.
fn is_tool(call: &ToolCall, named: &NamedFilter) -> bool {
    let names = std::iter::once(call.name.as_str()).chain(call.name.split("__"));
    names.map(fold::fold).any(|name| name == named.word.folded)
}

/// Place of a hit in this row.
#[must_use]
pub fn place_of(body: &Body) -> HitIn {
    match body {
        Body::User(_) => HitIn::User,
        Body::Assistant(_) | Body::Thinking(_) => HitIn::Assistant,
        Body::Tool(_) => HitIn::Tool,
        Body::Error(_) | Body::Info(_) | Body::Plan(_) | Body::Odd(_) => HitIn::Other,
    }
}

/// The texts of a row that are searched. Of a call: what identifies it, the texts of its input, its result; its name
/// only where it is another program's own, because `tool:` finds the others without the noise.
#[must_use]
pub fn texts(body: &Body) -> Vec<&str> {
    match body {
        Body::User(user) => std::iter::once(user.text.as_str()).chain(file_names(user)).collect(),
        Body::Assistant(assistant) => vec![&assistant.text],
        Body::Thinking(thinking) => vec![&thinking.text],
        Body::Tool(call) => {
            let mut texts = vec![call.subject.as_str()];
            if call.name.contains("__") {
                texts.push(&call.name);
            }
            leaves(&call.input, &mut |_, text| texts.push(text));
            texts.extend(call.figures.diff.as_ref().map(|diff| diff.path.as_str()));
            texts.extend(call.result.as_deref());
            texts
        }
        Body::Error(failure) => vec![&failure.title, &failure.text, &failure.detail, &failure.code],
        Body::Info(info) => vec![&info.text],
        Body::Plan(plan) => vec![&plan.markdown, &plan.path],
        Body::Odd(odd) => vec![&odd.raw],
    }
}

fn file_names(user: &UserText) -> impl Iterator<Item = &str> {
    user.attachments.iter().map(|file| file.name.as_str())
}

/// The paths that a row names: of a call the inputs whose key speaks of a path, a file or a directory.
fn paths(body: &Body) -> Vec<&str> {
    match body {
        Body::User(user) => file_names(user).collect(),
        Body::Plan(plan) => vec![&plan.path],
        Body::Tool(call) => {
            let mut paths: Vec<&str> = call.figures.diff.iter().map(|diff| diff.path.as_str()).collect();
            leaves(&call.input, &mut |key, text| {
                let key = key.to_ascii_lowercase();
                if ["path", "file", "dir"].iter().any(|word| key.contains(word)) {
                    paths.push(text);
                }
            });
            paths
        }
        _ => Vec::new(),
    }
}

/// The texts in a JSON value, each with the key that it stands under.
pub fn leaves<'a>(value: &'a Value, take: &mut dyn FnMut(&'a str, &'a str)) {
    // Values that were parsed are nested 128 deep at the most.
    fn go<'a>(key: &'a str, value: &'a Value, take: &mut dyn FnMut(&'a str, &'a str)) {
        match value {
            Value::String(text) => take(key, text),
            Value::Array(items) => items.iter().for_each(|item| go(key, item, take)),
            Value::Object(fields) => fields.iter().for_each(|(key, value)| go(key, value, take)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    go("", value, take);
}

#[cfg(test)]
mod tests;
