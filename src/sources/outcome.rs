//! Results of a source's tools: text and structured content as text, pictures beside it, links and sound in words.

use crate::domain::attachment::{Attachment, AttachmentKind};
use crate::domain::sanitise::{clean, reveal_line};
use crate::domain::tool::{Outcome, ToolFigures};
use crate::tools::CallPlace;
use crate::tools::files::attachments;
use crate::tools::results::downloads;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

/// Pictures of one result that go to the model.
const MOST_PICTURES: usize = 10;
/// Bytes of a text that is taken from a result; what is longer is a matter of the limits of results.
const LONGEST: usize = 8 << 20;

/// Outcome of a call. Keeps pictures and files in the session's folder. Blocks.
#[must_use]
pub fn of(result: CallToolResult, tool: &str, place: &CallPlace) -> Outcome {
    let mut parts = Parts { tool, place, texts: Vec::new(), media: Vec::new() };
    let says_text = result.content.iter().any(|block| matches!(block, ContentBlock::Text(_)));
    for block in result.content {
        parts.take(block);
    }
    // A server repeats it as text for clients that do not know it.
    if let Some(structured) = result.structured_content.filter(|value| !value.is_null() && !says_text) {
        parts.texts.push(serde_json::to_string_pretty(&structured).unwrap_or_default());
    }
    let mut text = clean(&parts.texts.join("\n\n")).into_owned();
    if text.trim().is_empty() {
        text = if parts.media.is_empty() { "(no output)" } else { "(no text; see the pictures)" }.to_owned();
    }
    let failed = result.is_error == Some(true);
    let figures = ToolFigures { media: parts.media, ..ToolFigures::default() };
    Outcome { failed, figures, ..Outcome::ok(text) }
}

struct Parts<'a> {
    tool: &'a str,
    place: &'a CallPlace,
    texts: Vec<String>,
    media: Vec<Attachment>,
}

impl Parts<'_> {
    fn take(&mut self, block: ContentBlock) {
        match block {
            ContentBlock::Text(text) => self.text(text.text),
            ContentBlock::Image(image) => self.picture(&image.data, &image.mime_type),
            ContentBlock::Audio(audio) => self.file(&audio.data, &audio.mime_type, "sound"),
            ContentBlock::Resource(embedded) => match embedded.resource {
                ResourceContents::TextResourceContents { uri, text, .. } => {
                    self.text(format!("{}:\n{text}", reveal_line(&uri)));
                }
                ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                    self.file(&blob, &mime_type.unwrap_or_default(), &reveal_line(&uri));
                }
                _ => self.texts.push("(a resource of an unknown kind)".to_owned()),
            },
            ContentBlock::ResourceLink(link) => {
                let about = link.description.as_deref().or(link.title.as_deref()).unwrap_or_default();
                let about = if about.is_empty() { String::new() } else { format!(" ({})", reveal_line(about)) };
                self.texts.push(format!("[link] {} {}{about}", reveal_line(&link.name), reveal_line(&link.uri)));
            }
            _ => self.texts.push("(content of an unknown kind)".to_owned()),
        }
    }

    fn text(&mut self, mut text: String) {
        if text.len() > LONGEST {
            text.truncate(text.floor_char_boundary(LONGEST));
            text.push_str("\n(The rest was left out.)");
        }
        self.texts.push(text);
    }

    fn picture(&mut self, data: &str, mime: &str) {
        let said = |why: &str| format!("(a picture, {}, that can't be shown: {why})", reveal_line(mime));
        let kept = match STANDARD.decode(data) {
            Err(_) => Err("invalid base64".to_owned()),
            Ok(_) if self.media.len() == MOST_PICTURES => Err(format!("more than {MOST_PICTURES} in one result")),
            Ok(bytes) => attachments::keep(self.tool, &bytes, &self.place.session_dir),
        };
        match kept {
            Ok(kept) if kept.kind == AttachmentKind::Image => self.media.push(kept),
            Ok(kept) => {
                attachments::remove(&kept.path, &self.place.session_dir);
                self.texts.push(said("not an image"));
            }
            Err(why) => self.texts.push(said(&why)),
        }
    }

    /// Content that a model does not read by itself goes to a file of the session.
    fn file(&mut self, data: &str, mime: &str, what: &str) {
        let saved = STANDARD.decode(data).map_err(|_| "invalid base64".to_owned());
        let saved = saved.and_then(|bytes| downloads::save(&bytes, self.tool, None, self.place));
        self.texts.push(match saved {
            Ok(saved) => format!("({what}, {}) {}", reveal_line(mime), saved.told()),
            Err(why) => format!("({what}, {}, that can't be saved: {why})", reveal_line(mime)),
        });
    }
}
