//! A file of a session, opened outside the screen: its text for the pager, a picture or a PDF with the desktop's program.

use crate::domain::attachment::{Attachment, AttachmentKind, LARGEST};
use crate::domain::sanitise::clean;
use crate::plain_file;
use std::path::Path;
use std::process::Stdio;
use tokio::process::Command;

/// The endings of what is handed to the desktop: nothing there runs as a program, whatever a session's file says it is.
const SHOWN: [&str; 7] = ["png", "jpg", "jpeg", "gif", "webp", "bmp", "pdf"];

/// Opens it. The text that the pager is to show, where it has one; nothing where another program shows it.
///
/// # Errors
/// A sentence: why it cannot be shown, and where it lies.
pub async fn view(file: &Attachment, env: &(dyn Fn(&str) -> Option<String> + Sync)) -> Result<Option<String>, String> {
    let path = file.path.as_path();
    if path.as_os_str().is_empty() {
        return Err(format!("No copy of {} in this session", file.name));
    }
    match (&file.text, file.kind) {
        (Some(text), _) => read(text).await.map(Some),
        (None, AttachmentKind::Text) => read(path).await.map(Some),
        (None, _) => desktop(path, env).await.map(|()| None),
    }
}

async fn read(path: &Path) -> Result<String, String> {
    let told = |why: String| format!("Can't read {}: {why}", path.display());
    let file = path.to_owned();
    let bytes = tokio::task::spawn_blocking(move || plain_file::read(&file, LARGEST)).await;
    let bytes = bytes.map_err(|error| told(error.to_string()))?.map_err(|error| told(error.to_string()))?;
    Ok(clean(&String::from_utf8_lossy(&bytes)).into_owned())
}

/// The desktop's opener, where there is a desktop here.
fn opener(env: &dyn Fn(&str) -> Option<String>, mac: bool) -> Option<&'static str> {
    let has = |name| env(name).is_some_and(|value| !value.is_empty());
    if mac {
        return (!has("SSH_CONNECTION")).then_some("open");
    }
    (has("WAYLAND_DISPLAY") || has("DISPLAY")).then_some("xdg-open")
}

/// Opens an address in the desktop's browser. Only those of the web: a file that an address names may be a program.
///
/// # Errors
/// Reason, in words.
pub async fn browse(url: &str, env: &(dyn Fn(&str) -> Option<String> + Sync)) -> Result<(), String> {
    if !["http://", "https://"].iter().any(|scheme| url.starts_with(scheme)) {
        return Err("Only web links are opened".to_owned());
    }
    let opener = opener(env, cfg!(target_os = "macos")).ok_or("No desktop to open the link")?;
    let child = Command::new(opener).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = child.map_err(|error| format!("Can't start {opener}: {error}"))?;
    match child.wait().await {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{opener} exited with {status}")),
        Err(error) => Err(format!("{opener} was lost: {error}")),
    }
}

async fn desktop(path: &Path, env: &(dyn Fn(&str) -> Option<String> + Sync)) -> Result<(), String> {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_lowercase).unwrap_or_default();
    let lies = format!("File: {}", path.display());
    if !SHOWN.contains(&ending.as_str()) {
        return Err(format!("Can't open this file type here. {lies}"));
    }
    if !tokio::fs::metadata(path).await.is_ok_and(|facts| facts.is_file()) {
        return Err(format!("{} no longer exists", path.display()));
    }
    let Some(opener) = opener(env, cfg!(target_os = "macos")) else {
        return Err(format!("No desktop to open it. {lies}"));
    };
    let mut child = Command::new(opener)
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("Can't start {opener}: {error}. {lies}"))?;
    match child.wait().await {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{opener} exited with {status}. {lies}")),
        Err(error) => Err(format!("{opener} was lost: {error}. {lies}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &Path, kind: AttachmentKind) -> Attachment {
        let (name, mime) = ("a".to_owned(), String::new());
        Attachment { name, path: path.to_owned(), kind, mime, bytes: 1, text: None }
    }

    #[tokio::test]
    async fn text_is_cleaned_for_the_pager_and_programs_are_never_started() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        std::fs::write(&path, "one\u{1b}[31m two").unwrap();
        let none = |_: &str| None;
        assert_eq!(view(&file(&path, AttachmentKind::Text), &none).await, Ok(Some("one two".to_owned())));
        let folder = view(&file(dir.path(), AttachmentKind::Text), &none).await.unwrap_err();
        assert!(folder.contains("not a regular file"), "{folder}");
        // What a session's file calls a picture is one by its ending, too.
        let desktop = |name: &str| (name == "DISPLAY").then(|| ":9".to_owned());
        let path = dir.path().join("evil.desktop");
        std::fs::write(&path, "[Desktop Entry]").unwrap();
        let refused = view(&file(&path, AttachmentKind::Image), &desktop).await.unwrap_err();
        assert!(refused.starts_with("Can't open this file type") && refused.contains("evil.desktop"), "{refused}");
        // Without a desktop its path is shown.
        let path = dir.path().join("a.png");
        std::fs::write(&path, "x").unwrap();
        let told = view(&file(&path, AttachmentKind::Image), &none).await.unwrap_err();
        assert!(told.contains("No desktop") && told.contains("a.png"), "{told}");
        let kept_none = view(&file(Path::new(""), AttachmentKind::Image), &none).await.unwrap_err();
        assert!(kept_none.contains("No copy"), "{kept_none}");
    }

    #[test]
    fn the_opener_is_the_desktops() {
        let set = |wanted: &'static str| move |name: &str| (name == wanted).then(|| "x".to_owned());
        assert_eq!(opener(&set("DISPLAY"), false), Some("xdg-open"));
        assert_eq!(opener(&set("WAYLAND_DISPLAY"), false), Some("xdg-open"));
        assert_eq!(opener(&set("HOME"), false), None);
        assert_eq!(opener(&set("HOME"), true), Some("open"));
        assert_eq!(opener(&set("SSH_CONNECTION"), true), None);
    }
}
