//! Keys out of a row before it is rendered: what escapes a text would hide them from whoever looks for them later. Home
//! directories out of what was rendered.

use super::html::escaped;
use crate::domain::datatable::plain;
use crate::domain::message::{Body, Message};
use crate::domain::sanitise::clean;
use crate::domain::secret;
use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::LazyLock;

/// Numbers of what was masked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Masked {
    /// Keys and passwords.
    #[serde(rename = "masked")]
    pub keys: usize,
    /// Paths of home directories.
    #[serde(default)]
    pub homes: usize,
}

impl Masked {
    /// `2 keys, 1 home path`; `None` if nothing was masked.
    #[must_use]
    pub fn words(self) -> Option<String> {
        let some = |count: usize, one: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {one}s")),
        };
        let all: Vec<String> = [some(self.keys, "key"), some(self.homes, "home path")].into_iter().flatten().collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}

/// Homes of people, where systems have them. A path inside another, or of an address, is none. `\n` may be an escape of JSON.
static HOMES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let before = r"(?P<before>^|[^\p{L}\p{N}_.~\\-]|\\[nrt])";
    let windows = r"[A-Za-z]:(?:\\{1,4}|/)Users(?:\\{1,4}|/)";
    // Markdown has a backslash before `_`.
    let name = r"(?:[\p{L}\p{N}_.-]|\\_)*[\p{L}\p{N}_-]";
    Regex::new(&format!(r"(?m){before}(?:/home/|/Users/|{windows}){name}")).ok()
});

/// Stands for a masked home in Markdown until it is rendered: two `~` would strike out what is between them.
pub const HOME_MARK: char = '\u{10fffd}';

/// The text with `~` in the place of home directories, `home` and those of other people, and how many there were. `None`:
/// there are none.
#[must_use]
pub fn homes_masked(text: &str, home: &Path) -> Option<(String, usize)> {
    homes_masked_as(text, home, '~')
}

/// The same with another sign, such as [`HOME_MARK`], in the place of home directories.
#[must_use]
pub fn homes_masked_as(text: &str, home: &Path, sign: char) -> Option<(String, usize)> {
    let own = path_masked(text, home, &sign.to_string());
    let (text, before) = own.as_ref().map_or((text, 0), |(text, count)| (text.as_str(), *count));
    let mut count = before;
    let safe = HOMES.as_ref().map(|homes| {
        homes.replace_all(text, |found: &regex::Captures<'_>| {
            count += 1;
            format!("{}{sign}", found.name("before").map_or("", |before| before.as_str()))
        })
    });
    let safe = safe.map_or_else(|| text.to_owned(), std::borrow::Cow::into_owned);
    (count > 0).then_some((safe, count))
}

/// The text in which a folder shows its last name alone. `None`: it is not there, or has a single name, which says nothing of
/// where it lies.
#[must_use]
pub fn folder_masked(text: &str, folder: &Path) -> Option<String> {
    folder.parent()?.file_name()?;
    let short = format!("…/{}", folder.file_name()?.to_str()?);
    path_masked(text, folder, &short).map(|(safe, _)| safe)
}

/// The same for one path, as it is and as pages escape it.
fn path_masked(text: &str, path: &Path, short: &str) -> Option<(String, usize)> {
    let path = path.to_str().filter(|_| path.file_name().is_some())?.trim_end_matches('/');
    let mut safe = spelling_masked(text, path, short);
    for (spelled, short) in [(plain(path), plain(short)), (escaped(path), escaped(short))] {
        if spelled != path {
            let (text, before) = safe.as_ref().map_or((text, 0), |(text, count)| (text.as_str(), *count));
            safe = spelling_masked(text, &spelled, &short).map(|(text, count)| (text, before + count)).or(safe);
        }
    }
    safe
}

fn spelling_masked(text: &str, path: &str, short: &str) -> Option<(String, usize)> {
    let (mut out, mut count, mut rest) = (String::new(), 0, text);
    let in_name = |c: char| c.is_alphanumeric() || "_-".contains(c);
    while let Some((before, after)) = rest.split_once(path) {
        out.push_str(before);
        let is_longer = after.trim_start_matches('.').starts_with(in_name) || after.starts_with("\\_");
        let is_inside = before.ends_with(|c: char| in_name(c) || ".~".contains(c)) && !escape_ends(before);
        let masked = !is_longer && !is_inside;
        out.push_str(if masked { short } else { path });
        count += usize::from(masked);
        rest = after;
    }
    out.push_str(rest);
    (count > 0).then_some((out, count))
}

/// True for a text that ends with the escape of a line end or a tab.
fn escape_ends(text: &str) -> bool {
    ["\\n", "\\r", "\\t"].iter().any(|escape| text.ends_with(escape))
}

/// Markdown of a row.
pub fn markdown_of(row: &mut Message) -> Option<&mut String> {
    match &mut row.body {
        Body::Assistant(said) => Some(&mut said.text),
        Body::Thinking(thought) => Some(&mut thought.text),
        Body::Plan(plan) => Some(&mut plan.markdown),
        Body::User(_) | Body::Tool(_) | Body::Error(_) | Body::Info(_) | Body::Odd(_) => None,
    }
}

/// Masks the keys in a text, as it reads without what acts on a terminal. Gives how many there were.
pub(super) fn text(text: &mut String) -> usize {
    let Some((safe, count)) = secret::masked(&clean(text)) else { return 0 };
    *text = safe;
    count
}

/// Masks the keys in everything that a row shows. Gives how many there were.
pub(super) fn row(row: &mut Message) -> usize {
    match &mut row.body {
        Body::User(said) => {
            text(&mut said.text) + said.attachments.iter_mut().map(|file| text(&mut file.name)).sum::<usize>()
        }
        Body::Assistant(said) => text(&mut said.text),
        Body::Thinking(thought) => text(&mut thought.text),
        Body::Tool(call) => {
            let input = secret::masked_value(&mut call.input);
            input + text(&mut call.subject) + call.result.as_mut().map_or(0, text)
        }
        Body::Error(failure) => {
            [&mut failure.title, &mut failure.text, &mut failure.detail].into_iter().map(text).sum()
        }
        Body::Info(info) => text(&mut info.text),
        Body::Plan(plan) => text(&mut plan.markdown) + text(&mut plan.path),
        Body::Odd(odd) => text(&mut odd.raw) + text(&mut odd.what),
    }
}

/// Masks a rendered text again: markdown may have joined the pieces of a key.
pub(super) fn again(rendered: String, before: usize) -> (String, usize) {
    match secret::masked(&rendered) {
        Some((safe, count)) => (safe, before + count),
        None => (rendered, before),
    }
}
