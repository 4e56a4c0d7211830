//! Files that go along with a message or a result, as described boxes: a bar, what each is, its name, its type and its
//! size. Below that of a picture are the rows that are kept for it, where the terminal draws pictures.

use super::laid_out_line::LaidOutLine;
use super::picture::{self, PictureRows};
use super::row::Row;
use crate::domain::attachment::{Attachment, AttachmentKind};
use crate::domain::sanitise::clean_line;
use crate::theme::Role;
use crate::ui::figures::bytes;
use crate::ui::text::{self, cut_start};
use ratatui::text::{Line, Span};

/// Adds the lines of each file to `out`, and what is kept for its picture among them to `pictures`.
pub(super) fn add(files: &[Attachment], row: &Row<'_>, out: &mut Vec<LaidOutLine>, pictures: &mut Vec<PictureRows>) {
    for file in files {
        out.push(line(file, row).into());
        if let Some((kept, rows)) = picture::kept(file, out.len(), row) {
            pictures.push(kept);
            out.resize(out.len() + rows, LaidOutLine::quiet(Line::default()));
        }
    }
}

fn line(file: &Attachment, row: &Row<'_>) -> Line<'static> {
    let look = &row.look;
    let kind = match file.kind {
        AttachmentKind::Image => "image",
        AttachmentKind::Pdf => "PDF",
        AttachmentKind::Text => "text",
        AttachmentKind::Office => "document",
        AttachmentKind::Audio => "audio",
        AttachmentKind::Unknown => "file",
    };
    let name = clean_line(&file.name).into_owned();
    let dot = look.glyph(" · ", " - ");
    let mime = clean_line(&file.mime).into_owned();
    let size = bytes(file.bytes);
    let bar = Span::styled(look.glyph("▌ ", "| "), look.style(Role::Accent));
    let head = Span::styled(format!("{kind}  "), look.style(Role::Dim));
    // What says least goes first where there is no room.
    let mut rest = vec![mime, size];
    match picture::told(&file.path, row) {
        Some(Ok(size)) => rest.insert(1, size),
        // That it cannot be shown is said wherever there is room for it.
        Some(Err(why)) => rest.push(why),
        None => {}
    }
    rest.retain(|part| !part.is_empty());
    let lead = text::width(&bar.content) + text::width(&head.content);
    let told = |rest: &[String]| rest.iter().map(|part| format!("{dot}{part}")).collect::<String>();
    while !rest.is_empty() && lead + text::width(&name) + text::width(&told(&rest)) > row.width {
        rest.remove(0);
    }
    let rest = told(&rest);
    let mut spans = vec![bar, head];
    if lead + 4 > row.width {
        spans.truncate(usize::from(row.width > 4));
    }
    let room = row.width.saturating_sub(text::spans_width(&spans) + text::width(&rest));
    let name = cut_start(&name, room, look.ellipsis()).into_owned();
    spans.push(Span::styled(name, look.style(Role::User)));
    spans.push(Span::styled(rest, look.style(Role::Dim)));
    Line::from(spans)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::state::gallery::Gallery;
    use crate::domain::At;
    use crate::theme::Theme;
    use crate::ui::chat::ChatStyle;
    use crate::ui::chat::row::Level;
    use crate::ui::glyphs::GlyphSet;

    #[test]
    fn a_file_is_described_as_far_as_there_is_room() {
        let file = Attachment {
            name: "日本\u{1b}[31m login page.png".to_owned(),
            path: std::path::PathBuf::new(),
            kind: AttachmentKind::Image,
            mime: "image/png".to_owned(),
            bytes: 24_000,
            text: None,
        };
        let (theme, gallery) = (Theme::plain(), Gallery::default());
        let shown = |width: usize, glyphs| {
            let pictures = picture::Sight { gallery: &gallery, screen_rows: 24 };
            let row = Row {
                pictures,
                look: ChatStyle { theme: &theme, glyphs },
                width,
                wide: 40,
                level: Level::Line,
                usual: Level::Results,
                now: At(0),
                last: false,
                plan: None,
                beside: false,
                helps: &[],
            };
            let line = line(&file, &row);
            assert!(text::spans_width(&line.spans) <= width, "{line} in {width}");
            line.to_string()
        };
        assert_eq!(shown(60, GlyphSet::Unicode), "▌ image  日本 login page.png · image/png · 24 KB");
        assert_eq!(shown(44, GlyphSet::Ascii), "| image  日本 login page.png - 24 KB");
        assert_eq!(shown(28, GlyphSet::Unicode), "▌ image  日本 login page.png");
        for width in 1..60 {
            shown(width, GlyphSet::Unicode);
        }
    }
}
