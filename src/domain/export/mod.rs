//! A conversation as a file for people: what stands at its beginning, for each row, and at its end.
//!
//! Rows are rendered one by one, so that a conversation of any length is written as it is read. Keys are masked before a
//! text is escaped, and once more behind it. Who writes them where is the store's business.

mod colours;
mod context;
mod html;
mod markdown;
mod mask;
pub mod openclaw;
mod parts;

pub use context::ExportContext;
pub use html::{escaped, picture};
pub use markdown::homes_shown;
pub use mask::{HOME_MARK, Masked, folder_masked, homes_masked, homes_masked_as, markdown_of};
use parts::{files, outcome};

use super::datatable;
use super::ids::SessionId;
use super::message::{Body, Message};
use super::sanitise::{clean, clean_line};
use super::session::SessionMeta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Conversation in a file that is to be given to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedFile {
    /// Its session.
    pub session: SessionId,
    /// The file.
    pub path: PathBuf,
    /// Numbers of what was masked.
    pub masked: Masked,
}

/// Format of an exported conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Markdown, with tool calls folded.
    #[default]
    Markdown,
    /// One page that needs nothing else and runs nothing.
    Html,
    /// The session's own lines as they are.
    Json,
    /// Plain text with labels.
    Text,
    /// Transcript of OpenClaw, version 3. It is written as a whole: [`openclaw::transcript`].
    Openclaw,
}

impl Format {
    /// All of them, the usual one first.
    pub const ALL: [Format; 5] = [Format::Markdown, Format::Html, Format::Json, Format::Text, Format::Openclaw];

    /// Name of the format, as the user writes it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Format::Markdown => "md",
            Format::Html => "html",
            Format::Json => "json",
            Format::Text => "text",
            Format::Openclaw => "openclaw",
        }
    }

    /// File extension, without the dot.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            Format::Markdown => "md",
            Format::Html => "html",
            Format::Json | Format::Openclaw => "jsonl",
            Format::Text => "txt",
        }
    }

    /// The format of that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word.to_lowercase().as_str() {
            "md" | "markdown" => Some(Format::Markdown),
            "html" | "htm" => Some(Format::Html),
            "json" | "jsonl" => Some(Format::Json),
            "text" | "txt" => Some(Format::Text),
            "openclaw" => Some(Format::Openclaw),
            _ => None,
        }
    }

    /// The format that a file's name says.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        path.extension().and_then(|ending| ending.to_str()).and_then(Self::parse)
    }

    /// [`Format::head`] with keys masked, and how many there were.
    #[must_use]
    pub fn safe_head(self, meta: &SessionMeta, look: &dyn ExportContext) -> (String, usize) {
        let (mut title, mut cwd) = (meta.shown_title().to_owned(), meta.cwd.to_string_lossy().into_owned());
        let before = mask::text(&mut title) + mask::text(&mut cwd);
        let mut meta = meta.clone();
        (meta.title, meta.cwd) = (title, cwd.into());
        mask::again(self.head(&meta, look), before)
    }

    /// [`Format::row`] with keys masked, and how many there were. The row is masked as well.
    #[must_use]
    pub fn safe_row(self, row: &mut Message, look: &dyn ExportContext) -> (String, usize) {
        parts::end_lines(row);
        let before = mask::row(row);
        mask::again(self.row(row, look), before)
    }

    /// Text before the first row.
    #[must_use]
    pub fn head(self, meta: &SessionMeta, look: &dyn ExportContext) -> String {
        let title = clean_line(meta.shown_title()).trim().to_owned();
        let facts = format!("session {} · started {} · {}", meta.id, look.time(meta.created), meta.cwd.display());
        let facts = clean_line(&facts).into_owned();
        match self {
            Format::Markdown => format!("# {title}\n\n*{}*\n", markdown::plain(&facts)),
            Format::Html => html::head(&title, &facts),
            Format::Json | Format::Openclaw => String::new(),
            Format::Text => format!("{title}\n{facts}\n"),
        }
    }

    /// One row; nothing for one that has nothing to say.
    #[must_use]
    pub fn row(self, row: &Message, look: &dyn ExportContext) -> String {
        match self {
            Format::Markdown => markdown::row(row, look),
            Format::Html => html::row(row, look),
            Format::Json | Format::Openclaw => String::new(),
            Format::Text => text(row, look),
        }
    }

    /// Text after the last row.
    #[must_use]
    pub fn tail(self) -> &'static str {
        match self {
            Format::Html => "</main>\n</body>\n</html>\n",
            Format::Markdown | Format::Json | Format::Text | Format::Openclaw => "",
        }
    }
}

/// A name for the file of a session: its title in small letters, without what file systems dislike.
#[must_use]
pub fn file_name(meta: &SessionMeta) -> String {
    let mut name = String::new();
    let mut title = clean_line(meta.shown_title()).into_owned();
    mask::text(&mut title);
    for c in title.to_lowercase().chars() {
        match c {
            c if c.is_alphanumeric() => name.push(c),
            _ if name.ends_with('-') || name.is_empty() => {}
            _ => name.push('-'),
        }
        if name.chars().count() >= 48 {
            break;
        }
    }
    let name = name.trim_end_matches('-');
    if name.is_empty() { meta.id.as_str().to_owned() } else { name.to_owned() }
}

fn text(row: &Message, look: &dyn ExportContext) -> String {
    let labelled =
        |label: &str, body: &str| format!("\n[{label} · {}]\n{}\n", look.time(row.at), clean(body).trim_end());
    match &row.body {
        Body::User(said) => {
            let mut out = labelled("you", &said.text);
            for name in files(row) {
                let _ = writeln!(out, "(with {name})");
            }
            out
        }
        Body::Assistant(said) if said.text.trim().is_empty() => String::new(),
        Body::Assistant(said) if said.partial => {
            labelled(&format!("assistant, {}", said.cut_off().unwrap_or_default()), &datatable::unfolded(&said.text))
        }
        Body::Assistant(said) => labelled("assistant", &datatable::unfolded(&said.text)),
        Body::Thinking(thought) if thought.text.trim().is_empty() => String::new(),
        Body::Thinking(thought) => labelled("thinking", &thought.text),
        Body::Tool(call) => {
            let head = clean_line(&format!("{} {}", call.name, call.subject)).trim().to_owned();
            let outcome = outcome(call);
            let head = if outcome.is_empty() { head } else { format!("{head} · {outcome}") };
            labelled(&head, call.result.as_deref().unwrap_or("(no result)"))
        }
        Body::Error(failure) => labelled("error", &format!("{}: {}", failure.title, failure.text)),
        Body::Info(info) => labelled("note", &info.text),
        Body::Plan(plan) => labelled("plan", &plan.markdown),
        Body::Odd(odd) => labelled(&clean_line(&odd.what), &odd.raw),
    }
}

#[cfg(test)]
mod tests;
