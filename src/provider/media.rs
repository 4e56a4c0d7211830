//! Pictures and documents for a model: which of them it can be shown, and the words that stand in for the others. Pure, for every
//! wire; the wires write the parts.

use super::figures::ModelFacts;
use super::{CallResult, ConversationItem, Media, ModelRequest, ProviderError};
use serde_json::Value;
use std::collections::BTreeMap;

/// The pictures that every wire takes.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const PDF: &str = "application/pdf";

/// Media that a model can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sight {
    /// Pictures.
    pub(super) pictures: bool,
    /// PDF documents.
    pub(super) documents: bool,
}

impl Default for Sight {
    /// Everything is tried: a server that refuses it is asked again in words.
    fn default() -> Self {
        Self { pictures: true, documents: true }
    }
}

impl Sight {
    /// Known abilities of a model; its wire's default for unknown ones.
    pub(super) fn of(known: &ModelFacts, otherwise: Self) -> Self {
        Self {
            pictures: known.vision.unwrap_or(otherwise.pictures),
            documents: known.pdf.unwrap_or(otherwise.documents) && otherwise.documents,
        }
    }

    /// Intersection: several requests may learn at once.
    pub(super) fn and(self, other: Self) -> Self {
        Self { pictures: self.pictures && other.pictures, documents: self.documents && other.documents }
    }

    /// Remaining abilities after a refusal; `None` if it was about something else.
    pub(super) fn after(self, request: &ModelRequest, error: &ProviderError) -> Option<Self> {
        // The sentence alone: some servers repeat the request in their answer.
        let said = sentence(&error.detail).to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
        let text_alone = says(TEXT_ALONE);
        if !text_alone && !says(CANNOT) {
            return None;
        }
        let has = |document| media(request).any(|one| is_document(one) == document);
        if self.documents && has(true) && (text_alone || says(DOCUMENT)) && !(says(PICTURE) && has(false)) {
            return Some(Self { documents: false, ..self });
        }
        (self.pictures && has(false) && (text_alone || says(PICTURE))).then_some(Self { pictures: false, ..self })
    }
}

/// Media that servers refused to show their models, by model.
pub(super) type Blind = BTreeMap<String, Sight>;

/// Remembers what a model cannot be shown, beside what was known.
pub(super) fn learn_blind(blind: &mut Blind, model: &str, sight: Sight) {
    blind.entry(model.to_owned()).and_modify(|known| *known = known.and(sight)).or_insert(sight);
}

/// Phrases of servers for media that a model cannot see. Problems of one picture alone ("exceeds 5
/// MB") are not among them.
const CANNOT: &[&str] = &[
    "not support",
    "unsupported",
    "only supported",
    "not enabled",
    "unknown variant",
    "missing data required",
    "not a multimodal",
    "at most 0",
    "support image input",
    "invalid content type",
    "mmproj",
];
/// The content was to be a plain text.
const TEXT_ALONE: &[&str] =
    &["content must be a string", "content should be a string", "expected `text`", "expected a string"];
const PICTURE: &[&str] = &["image", "vision", "multimodal", "multi-modal", "mmproj"];
const DOCUMENT: &[&str] = &["pdf", "document", "file"];

fn sentence(detail: &str) -> String {
    let value: Option<Value> = serde_json::from_str(detail).ok();
    let value = value.as_ref().map(|value| value.as_array().and_then(|list| list.first()).unwrap_or(value));
    let places = ["/error/message", "/message", "/error", "/detail"];
    let found = value.and_then(|value| places.iter().find_map(|place| value.pointer(place).and_then(Value::as_str)));
    found.unwrap_or(detail).to_owned()
}

/// Media of a request.
fn media(request: &ModelRequest) -> impl Iterator<Item = &Media> {
    request.items.iter().flat_map(|item| -> Vec<&Media> {
        match item {
            ConversationItem::User(said) => said.media.iter().collect(),
            ConversationItem::Results(results) => results.iter().flat_map(|result| &result.media).collect(),
            ConversationItem::Assistant(_) => Vec::new(),
        }
    })
}

/// Form of a picture or document in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MediaForm<'a> {
    /// As a picture.
    Picture {
        /// Its media type.
        mime: &'static str,
        /// Its bytes in base64.
        data: &'a str,
    },
    /// As a PDF document.
    Document {
        /// Its name.
        name: String,
        /// Its bytes in base64.
        data: &'a str,
    },
    /// Not at all; these words stand in for it.
    Words(String),
}

/// Form of a picture or document for a model with these abilities.
pub(super) fn shown(media: &Media, sight: Sight) -> MediaForm<'_> {
    let mime = media.mime.trim().to_ascii_lowercase();
    let mime = if mime == "image/jpg" { "image/jpeg" } else { mime.as_str() };
    let picture = PICTURES.into_iter().find(|known| *known == mime);
    let can = if mime == PDF { sight.documents } else { picture.is_some() && sight.pictures };
    match (&media.data, picture) {
        (Some(Err(why)), _) => MediaForm::Words(format!("[{} could not be read: {}]", what(media), one_line(why))),
        (None, _) => MediaForm::Words(format!("[{} could not be read]", what(media))),
        (Some(Ok(data)), Some(mime)) if can => MediaForm::Picture { mime, data },
        (Some(Ok(data)), None) if can => MediaForm::Document { name: one_line(&media.name), data },
        (Some(Ok(_)), _) => MediaForm::Words(in_words(media)),
    }
}

/// Data URL of its bytes.
pub(super) fn address(mime: &str, data: &str) -> String {
    format!("data:{mime};base64,{data}")
}

/// A PDF document as an address.
pub(super) fn document_address(data: &str) -> String {
    address(PDF, data)
}

/// A text with descriptions of its media, for a model or a place that takes only text.
pub(super) fn told<'a>(text: &str, media: impl IntoIterator<Item = &'a Media>) -> String {
    let blind = Sight { pictures: false, documents: false };
    let words = media.into_iter().filter_map(|media| match shown(media, blind) {
        MediaForm::Words(words) => Some(words),
        MediaForm::Picture { .. } | MediaForm::Document { .. } => None,
    });
    let text = Some(text.to_owned()).filter(|text| !text.trim().is_empty());
    text.into_iter().chain(words).collect::<Vec<_>>().join("\n")
}

/// Note that names the result to which media belong, where they cannot be part of the result.
pub(super) fn belongs_to(result: &CallResult, media: &Media) -> String {
    format!("[{} of the result of call {}]", what(media), result.id)
}

fn in_words(media: &Media) -> String {
    format!("[{} could not be shown to this model]", what(media))
}

fn what(media: &Media) -> String {
    let kind = if is_document(media) { "document" } else { "image" };
    format!("{kind} {}", one_line(&media.name))
}

fn is_document(media: &Media) -> bool {
    !media.mime.trim().to_ascii_lowercase().starts_with("image/")
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::provider::UserContent;

    /// A picture or a document with this content.
    pub(in crate::provider) fn one(name: &str, mime: &str, data: Option<Result<&str, &str>>) -> Media {
        Media {
            name: name.to_owned(),
            path: name.into(),
            mime: mime.to_owned(),
            data: data.map(|data| data.map(Into::into).map_err(str::to_owned)),
        }
    }

    /// A picture and a document of the user, and a picture that a call led to.
    pub(in crate::provider) fn conversation() -> Vec<ConversationItem> {
        let png = one("a.png", "image/png", Some(Ok("AAAA")));
        let pdf = one("b.pdf", "application/pdf", Some(Ok("BBBB")));
        let jpg = one("c.jpg", "image/jpeg", Some(Ok("CCCC")));
        let id = crate::domain::ids::CallId::new("c1");
        let call = crate::provider::ProposedCall { id: id.clone(), name: "read".into(), input: serde_json::json!({}) };
        vec![
            ConversationItem::User(UserContent { text: "what is it?".into(), media: vec![png, pdf] }),
            ConversationItem::Assistant(crate::provider::Reply { calls: vec![call], ..Default::default() }),
            ConversationItem::Results(vec![CallResult {
                id,
                text: "a picture".into(),
                failed: false,
                media: vec![jpg],
            }]),
        ]
    }

    #[test]
    fn what_cannot_be_shown_is_said() {
        let all = Sight::default();
        let none = Sight { pictures: false, documents: false };
        let words = |media: &Media, sight| match shown(media, sight) {
            MediaForm::Words(words) => words,
            other => panic!("{other:?}"),
        };
        let png = one("a\nb.png", "image/PNG", Some(Ok("AAAA")));
        assert_eq!(shown(&png, all), MediaForm::Picture { mime: "image/png", data: "AAAA" });
        assert_eq!(words(&png, none), "[image a b.png could not be shown to this model]");
        let jpg = one("a.jpg", "image/jpg", Some(Ok("AAAA")));
        assert_eq!(shown(&jpg, all), MediaForm::Picture { mime: "image/jpeg", data: "AAAA" });
        let pdf = one("a.pdf", "application/pdf", Some(Ok("BBBB")));
        assert_eq!(shown(&pdf, all), MediaForm::Document { name: "a.pdf".into(), data: "BBBB" });
        assert_eq!(words(&pdf, none), "[document a.pdf could not be shown to this model]");
        let odd = one("a.tiff", "image/tiff", Some(Ok("CCCC")));
        assert_eq!(words(&odd, all), "[image a.tiff could not be shown to this model]");
        let gone = one("a.png", "image/png", Some(Err("no such file")));
        assert_eq!(words(&gone, all), "[image a.png could not be read: no such file]");
        assert_eq!(words(&one("a.png", "image/png", None), all), "[image a.png could not be read]");
        assert_eq!(told("x", [&png]), "x\n[image a b.png could not be shown to this model]");
    }

    #[test]
    fn refusals_of_servers_are_known() {
        let picture = one("a.png", "image/png", Some(Ok("AAAA")));
        let pdf = one("a.pdf", "application/pdf", Some(Ok("AAAA")));
        let request = |media: Vec<Media>| ModelRequest {
            model: "m".into(),
            system: String::new(),
            items: vec![ConversationItem::User(UserContent { text: "x".into(), media })],
            tools: vec![],
            thinking: crate::domain::session::ThinkingLevel::Medium,
        };
        let error = |detail: &str| ProviderError {
            code: "invalid_request",
            title: String::new(),
            text: String::new(),
            detail: detail.into(),
            retry: false,
            after: None,
        };
        let both = request(vec![picture.clone(), pdf.clone()]);
        for words in [
            "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
            r#"{"error":{"message":"x is not a multimodal model"}}"#,
            r#"{"error":{"message":"No endpoints found that support image input","code":404}}"#,
            "this model is missing data required for image input",
            "Failed to deserialize the JSON body: messages[0]: unknown variant `image_url`, expected `text`",
            "Invalid content type. image_url is only supported by certain models.",
            "messages[0].content must be a string",
            "Model does not support images. Please use a model that does.",
            "Image input modality is not enabled for models/x",
        ] {
            let after = Sight::default().after(&request(vec![picture.clone()]), &error(words));
            assert_eq!(after, Some(Sight { pictures: false, documents: true }), "{words}");
        }
        let after = Sight::default().after(&both, &error("Unsupported MIME type: application/pdf"));
        assert_eq!(after, Some(Sight { pictures: true, documents: false }));
        // A model that takes text alone loses one after the other.
        let first = Sight::default().after(&both, &error("content must be a string")).unwrap();
        let second = first.after(&both, &error("content must be a string")).unwrap();
        assert_eq!(second, Sight { pictures: false, documents: false });
        assert_eq!(second.after(&both, &error("content must be a string")), None);
        for other in ["image exceeds 5 MB maximum", "Could not process image", "unsupported parameter: logprobs", ""] {
            assert_eq!(Sight::default().after(&both, &error(other)), None, "{other}");
        }
        assert_eq!(Sight::default().after(&request(vec![]), &error("image input is not supported")), None);
    }
}
