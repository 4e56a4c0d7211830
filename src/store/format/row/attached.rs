//! The files of a row to and from Craft Agents' `attachments` items.
//!
//! Thumbnails and other keys of theirs stay where they are, because a line is never written back.

use super::{JsonFields, Value, json};
use crate::domain::attachment::Attachment;
#[cfg(test)]
use crate::domain::attachment::AttachmentKind;
use serde_json::Map;
use std::path::PathBuf;

/// A file as an item of the list.
pub fn write(file: &Attachment) -> Value {
    let stored = file.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // The copy is named after its id.
    let id = stored.split_once('_').map_or(stored.as_str(), |(id, _)| id);
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| drop(out.insert(key.to_owned(), value));
    put("id", json!(id));
    put("type", json!(file.kind));
    put("name", json!(file.name));
    put("mimeType", json!(file.mime));
    put("size", json!(file.bytes));
    put("storedPath", json!(file.path.to_string_lossy()));
    if let Some(text) = &file.text {
        put("markdownPath", json!(text.to_string_lossy()));
    }
    Value::Object(out)
}

/// The files of a row. One without a name is none that could be shown.
pub fn read(fields: &JsonFields) -> Vec<Attachment> {
    match fields.value("attachments") {
        Some(Value::Array(items)) => items.iter().filter_map(item).collect(),
        _ => Vec::new(),
    }
}

fn item(item: &Value) -> Option<Attachment> {
    let text = |key: &str| item.get(key).and_then(Value::as_str);
    Some(Attachment {
        name: text("name")?.to_owned(),
        path: text("storedPath").map(PathBuf::from).unwrap_or_default(),
        kind: item.get("type").and_then(|kind| serde_json::from_value(kind.clone()).ok()).unwrap_or_default(),
        mime: text("mimeType").unwrap_or("application/octet-stream").to_owned(),
        bytes: item.get("size").and_then(Value::as_u64).unwrap_or_default(),
        text: text("markdownPath").map(PathBuf::from),
    })
}

/// Files of every shape, for the tests of rows.
#[cfg(test)]
pub fn examples(dir: &std::path::Path) -> Vec<Attachment> {
    let file = |name: &str, kind, mime: &str| Attachment {
        name: name.into(),
        path: dir.join("attachments").join(format!("0b5f_{name}")),
        kind,
        mime: mime.into(),
        bytes: 7,
        text: None,
    };
    let office = file("a.docx", AttachmentKind::Office, "application/msword");
    let beside = dir.join("attachments/0b5f_a.docx.md");
    vec![
        file("a.png", AttachmentKind::Image, "image/png"),
        file("日本.pdf", AttachmentKind::Pdf, "application/pdf"),
        Attachment { text: Some(beside), ..office },
        file("x", AttachmentKind::Unknown, "application/octet-stream"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_others_are_read_as_far_as_can_be() {
        let line = r#"{"attachments":[
            {"id":"1","type":"image","name":"a.png","mimeType":"image/png","size":5,"storedPath":"/s/attachments/1_a.png",
             "thumbnailBase64":"AAAA","wasResized":true},
            {"type":"hologram","name":"b"}, {"type":"image"}, 7, null,
            {"name":"c.docx","type":"office","markdownPath":"/s/attachments/1_c.docx.md","size":-3}]}"#;
        let files = read(&JsonFields::parse(line).unwrap());
        let told: Vec<_> = files.iter().map(|file| (file.name.as_str(), file.kind, file.bytes)).collect();
        assert_eq!(
            told,
            [
                ("a.png", AttachmentKind::Image, 5),
                ("b", AttachmentKind::Unknown, 0),
                ("c.docx", AttachmentKind::Office, 0)
            ]
        );
        assert_eq!(files[0].path, PathBuf::from("/s/attachments/1_a.png"));
        assert_eq!(files[1].path, PathBuf::new());
        assert_eq!(files[2].text.as_deref(), Some(std::path::Path::new("/s/attachments/1_c.docx.md")));
        assert_eq!(read(&JsonFields::parse(r#"{"attachments":"x"}"#).unwrap()), []);
    }

    #[test]
    fn an_item_has_the_keys_of_craft() {
        let dir = std::path::Path::new("/s");
        let value = write(&examples(dir)[0]);
        assert_eq!(
            value,
            json!({"id": "0b5f", "type": "image", "name": "a.png", "mimeType": "image/png", "size": 7,
                "storedPath": "/s/attachments/0b5f_a.png"})
        );
    }
}
