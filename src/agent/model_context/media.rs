//! Files that go along with a conversation, read right before a request: pictures small enough for every provider, texts as
//! text, documents as they are.
//!
//! Only the session's own copies are read. A turn sends the same files with each of its requests, so what was made of
//! them is kept, up to a limit; if a request has too many, the oldest are described in words.

use crate::agent::blocking::blocking;
use crate::domain::attachment::{LARGEST, copy_in, image_type};
use crate::provider::{ConversationItem, Media};
use crate::tools::files::{self, notebook, text};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageEncoder as _, ImageFormat, ImageReader, Limits};
use std::collections::VecDeque;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The longer edge of a picture that is sent, in pixels: models see no more.
const EDGE: u32 = 1_568;
/// A larger picture is made smaller, in bytes: 5 MB of base64 is what the strictest provider takes.
const PICTURE: usize = 3_700_000;
/// A picture of more pixels on an edge is not opened.
const MOST_EDGE: u32 = 20_000;
/// Memory limit for opening a picture.
const MOST_MEMORY: u64 = 256 * 1024 * 1024;
/// Media of one request, as base64.
const MOST_SENT: usize = 28_000_000;
/// Pictures and documents of one request.
const MOST_FILES: usize = 40;
/// Bytes of a text that are sent.
const MOST_TEXT: usize = 100_000;
/// Bytes of converted files that are kept.
const KEPT: usize = 48_000_000;

/// Cache of converted files, for the next request.
#[derive(Debug, Default)]
pub struct Shelf {
    inside: Mutex<Inside>,
}

#[derive(Debug, Default)]
struct Inside {
    session: PathBuf,
    /// Used last stands last.
    kept: VecDeque<(PathBuf, Ready)>,
}

/// A file as it is sent.
#[derive(Clone, Debug, PartialEq)]
enum Ready {
    /// Its media type and its bytes in base64.
    Data(String, Arc<str>),
    /// Words in its place.
    Words(Arc<str>),
}

impl Ready {
    fn len(&self) -> usize {
        match self {
            Self::Data(_, text) | Self::Words(text) => text.len(),
        }
    }
}

impl Shelf {
    /// The session whose copies are read.
    pub fn belongs_to(&self, session: &Path) {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        if inside.session != session {
            *inside = Inside { session: session.to_owned(), kept: VecDeque::new() };
        }
    }

    /// The file as it is sent, read if it was not yet.
    ///
    /// # Errors
    /// A sentence: why it cannot be sent.
    fn ready(&self, media: &Media) -> Result<Ready, String> {
        let path = {
            let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
            let path = copy_in(&inside.session, &media.path).ok_or("no copy of it was kept")?;
            if let Some(at) = inside.kept.iter().position(|(known, _)| *known == path)
                && let Some(found) = inside.kept.remove(at)
            {
                inside.kept.push_back(found.clone());
                return Ok(found.1);
            }
            path
        };
        let made = make(media, &path)?;
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        inside.kept.push_back((path, made.clone()));
        let mut sum: usize = inside.kept.iter().map(|(_, ready)| ready.len()).sum();
        while sum > KEPT
            && let Some((_, gone)) = inside.kept.pop_front()
        {
            sum -= gone.len();
        }
        Ok(made)
    }
}

/// Reads the unread media of these items, off the async threads.
pub async fn fill(items: &mut Vec<ConversationItem>, shelf: Arc<Shelf>) {
    if items.iter().all(|item| media_of(item).is_none_or(|mut all| all.next().is_none())) {
        return;
    }
    let mut own = std::mem::take(items);
    // If it panics, the log says so and nothing is sent: an empty conversation is refused.
    *items = blocking(move || {
        fill_now(&mut own, &shelf);
        own
    })
    .await
    .unwrap_or_default();
}

fn media_of(item: &ConversationItem) -> Option<Box<dyn Iterator<Item = &Media> + '_>> {
    match item {
        ConversationItem::User(said) => Some(Box::new(said.media.iter())),
        ConversationItem::Results(results) => Some(Box::new(results.iter().flat_map(|result| &result.media))),
        ConversationItem::Assistant(_) => None,
    }
}

/// The latest first, so that what there is no room for is the oldest.
fn fill_now(items: &mut [ConversationItem], shelf: &Shelf) {
    let mut room = Room { bytes: MOST_SENT, files: MOST_FILES };
    for item in items.iter_mut().rev() {
        match item {
            ConversationItem::User(said) => place(&mut said.text, &mut said.media, shelf, &mut room),
            ConversationItem::Results(results) => {
                for result in results.iter_mut().rev() {
                    place(&mut result.text, &mut result.media, shelf, &mut room);
                }
            }
            ConversationItem::Assistant(_) => {}
        }
    }
}

struct Room {
    bytes: usize,
    files: usize,
}

fn place(text: &mut String, all: &mut Vec<Media>, shelf: &Shelf, room: &mut Room) {
    let mut words = String::new();
    all.retain_mut(|media| {
        if media.data.is_some() {
            return true;
        }
        match shelf.ready(media) {
            Ok(Ready::Words(told)) => {
                words.push_str("\n\n");
                words.push_str(&told);
                return false;
            }
            Ok(Ready::Data(mime, data)) if data.len() <= room.bytes && room.files > 0 => {
                room.bytes -= data.len();
                room.files -= 1;
                media.mime = mime;
                media.data = Some(Ok(data));
            }
            Ok(Ready::Data(..)) => {
                media.data = Some(Err("it is left out of this request, which has as much as it can hold".to_owned()));
            }
            Err(why) => media.data = Some(Err(why)),
        }
        true
    });
    text.push_str(&words);
    if text.starts_with("\n\n") {
        text.drain(..2);
    }
}

fn make(media: &Media, path: &Path) -> Result<Ready, String> {
    let size = files::look(path).map_err(|error| format!("can't read its copy: {error}"))?.len();
    if size > LARGEST {
        return Err(format!("its copy has {}, which is too much", text::size(size)));
    }
    let read = files::load(path).map_err(|error| format!("can't read its copy: {error}"))?;
    let data = |mime: &str, bytes: &[u8]| Ready::Data(mime.to_owned(), STANDARD.encode(bytes).into());
    if image_type(&read.bytes).is_some() {
        return picture(read.bytes).map(|(mime, bytes)| data(mime, &bytes));
    }
    if read.bytes.starts_with(b"%PDF-") {
        return Ok(data("application/pdf", &read.bytes));
    }
    let (content, _) = text::decode(&read.bytes).map_err(|kind| format!("can't send {kind}"))?;
    Ok(Ready::Words(fenced(&media.name, &content).into()))
}

/// A text with its name, between fences that do not occur in it.
fn fenced(name: &str, content: &str) -> String {
    let cells = name.to_lowercase().ends_with(".ipynb").then(|| notebook::told(content)).flatten();
    let content = cells.as_deref().unwrap_or(content);
    let mut end = content.len().min(MOST_TEXT);
    while !content.is_char_boundary(end) {
        end -= 1;
    }
    let shown = content.get(..end).unwrap_or(content);
    let mut fence = "```".to_owned();
    while shown.contains(&fence) {
        fence.push('`');
    }
    let name: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let mut out = format!("[File given along: {name}]\n{fence}\n{}\n{fence}", shown.trim_end_matches('\n'));
    if end < content.len() {
        let (end, whole) = (text::size(end as u64), text::size(content.len() as u64));
        out.push_str(&format!("\n[The first {end} of {whole} are shown.]"));
    }
    out
}

/// A picture that every provider takes: as it is where it is small, else made smaller.
///
/// # Errors
/// Half a sentence: it is broken or far too large.
pub fn picture(bytes: Vec<u8>) -> Result<(&'static str, Vec<u8>), String> {
    let mime = image_type(&bytes).ok_or("not an image")?;
    let broken = |error: image::ImageError| format!("can't open the image: {error}");
    let open = || ImageReader::new(Cursor::new(&bytes)).with_guessed_format();
    let io = |error: std::io::Error| format!("can't open the image: {error}");
    let (width, height) = open().map_err(io)?.into_dimensions().map_err(broken)?;
    if width.max(height) > MOST_EDGE {
        return Err(format!("the image is too large: {width}×{height} pixels"));
    }
    if width.max(height) <= EDGE && bytes.len() <= PICTURE {
        return Ok((mime, bytes));
    }
    let mut reader = open().map_err(io)?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(MOST_EDGE);
    limits.max_image_height = Some(MOST_EDGE);
    limits.max_alloc = Some(MOST_MEMORY);
    reader.limits(limits);
    let lossy = reader.format() == Some(ImageFormat::Jpeg);
    let full = reader.decode().map_err(broken)?;
    let mut small =
        if width.max(height) > EDGE { full.resize(EDGE, EDGE, image::imageops::FilterType::Triangle) } else { full };
    if !lossy {
        let mut out = Cursor::new(Vec::new());
        small.write_to(&mut out, ImageFormat::Png).map_err(broken)?;
        if out.get_ref().len() <= PICTURE {
            return Ok(("image/png", out.into_inner()));
        }
    }
    // What shows through becomes white in a JPEG, not black.
    if small.color().has_alpha() {
        let mut white = image::RgbaImage::from_pixel(small.width(), small.height(), image::Rgba([255; 4]));
        image::imageops::overlay(&mut white, &small.to_rgba8(), 0, 0);
        small = DynamicImage::ImageRgba8(white);
    }
    let rgb = small.to_rgb8();
    for quality in [90, 75, 50] {
        let mut out = Vec::new();
        JpegEncoder::new_with_quality(&mut out, quality)
            .write_image(rgb.as_raw(), rgb.width(), rgb.height(), image::ExtendedColorType::Rgb8)
            .map_err(broken)?;
        if out.len() <= PICTURE {
            return Ok(("image/jpeg", out));
        }
    }
    Err("the image can't be made small enough".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::UserContent;
    use crate::tools::files::attachments;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut out = Cursor::new(Vec::new());
        let picture = image::RgbaImage::from_fn(width, height, |x, y| image::Rgba([x as u8, y as u8, 7, 200]));
        DynamicImage::ImageRgba8(picture).write_to(&mut out, ImageFormat::Png).unwrap();
        out.into_inner()
    }

    fn size(bytes: &[u8]) -> (u32, u32) {
        ImageReader::new(Cursor::new(bytes)).with_guessed_format().unwrap().into_dimensions().unwrap()
    }

    #[test]
    fn pictures_are_made_small_enough() {
        let small = png(20, 10);
        assert_eq!(picture(small.clone()).unwrap(), ("image/png", small), "a small one is not touched");
        for (width, height, made) in [(2_000, 10, (1_568, 8)), (10, 2_000, (8, 1_568)), (1_568, 4, (1_568, 4))] {
            let (mime, bytes) = picture(png(width, height)).unwrap();
            assert_eq!((mime, size(&bytes)), ("image/png", made), "{width}x{height}");
        }
        let mut jpeg = Vec::new();
        let rgb = image::RgbImage::new(1_600, 20);
        JpegEncoder::new(&mut jpeg).write_image(rgb.as_raw(), 1_600, 20, image::ExtendedColorType::Rgb8).unwrap();
        let (mime, bytes) = picture(jpeg).unwrap();
        assert_eq!((mime, size(&bytes).0), ("image/jpeg", 1_568));
    }

    #[test]
    fn broken_and_huge_pictures_are_refused() {
        let mut cut = png(2_000, 20);
        cut.truncate(60);
        assert!(picture(cut).unwrap_err().contains("can't open the image"));
        assert!(picture(b"hello".to_vec()).unwrap_err().contains("not an image"));
        // A header that claims more than is ever opened.
        let mut bomb = png(4, 4);
        bomb[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
        assert!(picture(bomb).is_err());
    }

    fn media(name: &str, path: &Path) -> Media {
        Media { name: name.into(), path: path.to_owned(), mime: "x/y".into(), data: None }
    }

    #[tokio::test]
    async fn only_copies_of_the_session_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        let (session, outside) = (dir.join("s"), dir.join("secret.txt"));
        std::fs::write(&outside, "secret").unwrap();
        let picture = attachments::keep("a.png", &png(4, 4), &session).unwrap();
        let text = attachments::keep("n.csv", b"a,b\n```\n1,2\n", &session).unwrap();
        let shelf = Arc::new(Shelf::default());
        shelf.belongs_to(&session);
        let said = || UserContent {
            text: "look".into(),
            media: vec![media("a.png", &picture.path), media("n.csv", &text.path), media("o", &outside)],
        };
        let mut items = vec![ConversationItem::User(said())];
        fill(&mut items, Arc::clone(&shelf)).await;
        let ConversationItem::User(told) = &items[0] else { panic!("{items:?}") };
        assert_eq!(told.text, "look\n\n[File given along: n.csv]\n````\na,b\n```\n1,2\n````");
        assert_eq!(told.media.len(), 2);
        assert_eq!(told.media[0].data, Some(Ok(STANDARD.encode(png(4, 4)).into())));
        assert_eq!(told.media[0].mime, "image/png", "the bytes decide");
        assert!(matches!(&told.media[1].data, Some(Err(why)) if why.contains("can't read its copy")), "{told:?}");
        // A second request does not need the file any more.
        std::fs::remove_file(&picture.path).unwrap();
        let mut again = vec![ConversationItem::User(said())];
        fill(&mut again, shelf).await;
        assert!(matches!(&again[0], ConversationItem::User(told) if matches!(told.media[0].data, Some(Ok(_)))));
    }

    #[test]
    fn of_too_many_the_oldest_are_told_in_words() {
        let dir = tempfile::tempdir().unwrap();
        let session = dir.path().canonicalize().unwrap();
        let picture = attachments::keep("a.png", &png(4, 4), &session).unwrap();
        let shelf = Shelf::default();
        shelf.belongs_to(&session);
        let one =
            || ConversationItem::User(UserContent { text: String::new(), media: vec![media("a.png", &picture.path)] });
        let mut items: Vec<ConversationItem> = (0..=MOST_FILES).map(|_| one()).collect();
        fill_now(&mut items, &shelf);
        let sent: Vec<bool> = items
            .iter()
            .map(|item| matches!(item, ConversationItem::User(said) if matches!(said.media[0].data, Some(Ok(_)))))
            .collect();
        assert_eq!((sent[0], sent.iter().filter(|sent| **sent).count()), (false, MOST_FILES));
    }

    #[test]
    fn a_long_text_is_cut_and_says_so() {
        let told = fenced("a\nb.txt", &"ä".repeat(MOST_TEXT));
        assert!(told.starts_with("[File given along: a b.txt]\n```\nä"), "{}", &told[..60]);
        assert!(told.ends_with("are shown.]") && told.len() < MOST_TEXT + 200);
    }
}
