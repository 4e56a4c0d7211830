//! Links among the spans of a text, and their cells once it is laid out.

use super::laid_out_line::{LaidOutLine, LinkAt};
use crate::ui::text;
use std::sync::Arc;

/// Spans of a link: the first, the one after the last, and the target.
pub(super) type LinkMark = (usize, usize, Arc<str>);

/// A line whose spans come from `origins`, with what of it is a link.
pub(super) fn linked(mut laid_line: LaidOutLine, origins: &[(u32, u32)], marks: &[LinkMark]) -> LaidOutLine {
    if marks.is_empty() {
        return laid_line;
    }
    let line = &laid_line.line;
    let lead = line.spans.len() - origins.len();
    let mut at = u16::try_from(text::spans_width(line.spans.get(..lead).unwrap_or_default())).unwrap_or(u16::MAX);
    let mut links: Vec<LinkAt> = Vec::new();
    for (span, (origin, _)) in line.spans.iter().skip(lead).zip(origins) {
        let width = u16::try_from(text::width(&span.content)).unwrap_or(u16::MAX);
        let place = *origin as usize;
        if let Some((_, _, url)) = marks.iter().find(|(from, to, _)| (*from..*to).contains(&place)) {
            match links.last_mut() {
                Some(last) if last.url == *url && last.from + last.width == at => last.width += width,
                _ => links.push(LinkAt { from: at, width, url: Arc::clone(url) }),
            }
        }
        at = at.saturating_add(width);
    }
    laid_line.links = links;
    laid_line
}
