//! Laid out rows of one conversation: made when a row is looked at, kept while nothing they depend on changes, dropped
//! when they are far away.

use super::laid_out_line::LaidOutLine;
use super::picture::{self, PictureRows};
use super::row::{Level, Row};
use super::stream::Stream;
use super::{rows, thinking, tool, user};
use crate::app::state::chat::{Entry, View};
use crate::app::state::mark::Marked;
use crate::domain::Body;
use crate::domain::code::Block;
use crate::domain::message::CutBy;
use crate::domain::picture::Want;
use crate::domain::plan::Progress;
use crate::domain::tool::ToolStatus;
use crate::theme::{Role, Theme};
use crate::ui::glyphs::GlyphSet;
use ratatui::layout::Rect;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Lines that are kept besides those of the last frame.
const KEPT: usize = 6_000;

/// Cells of the conversation that a click acts on.
#[derive(Debug, Default)]
pub(super) struct Clickable {
    /// Links: cells of one row, and where they lead.
    pub(super) links: Vec<(Rect, Arc<str>)>,
    /// Fold marks, with the keys of their entries.
    pub(super) folds: Vec<(Rect, i64)>,
}

/// Laid out rows of one conversation. Make one with `Cache::default()` and hand it to every frame.
#[derive(Debug, Default)]
pub struct Cache {
    session: String,
    theme: Option<Theme>,
    glyphs: GlyphSet,
    frame: u64,
    laid: HashMap<i64, Laid>,
    /// Rows of the screen that the last frame drew, with the key of the entry on each.
    pub(super) seen: Vec<(u16, i64)>,
    /// Rows of the screen that the last frame drew, with what of an entry stands on each.
    pub(super) rows: Vec<RowAt>,
    /// Selection found by the last frame.
    pub(super) marked: Marked,
    /// Blocks of code that were seen and want colours.
    pub(super) wanted: Vec<Block>,
    /// Pictures that there was room for and that are not ready.
    pub(super) unready: Vec<Want>,
    /// Parts of pictures were drawn.
    pub(super) pictured: bool,
    /// Targets of clicks, as they were drawn.
    pub(super) clickable: Clickable,
    /// Words about lines below the pane of the last frame.
    pub(super) below: Option<(String, Role)>,
    /// Anchor of the last frame.
    pub(super) anchor: Option<Anchor>,
    /// The last row when its end was last seen: (key, height, width of the pane).
    pub(super) end_seen: Option<(i64, usize, u16)>,
}

/// A row of the screen as it was drawn last.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowAt {
    pub(super) y: u16,
    /// Column where the text begins, behind the gutter.
    pub(super) x: u16,
    /// The entry, and which of its lines on the screen.
    pub(super) key: i64,
    pub(super) number: usize,
}

/// Scroll anchor of a frame. Another width gives the same place another line number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anchor {
    /// The view that was asked for.
    pub(super) view: View,
    /// Width of the pane.
    pub(super) width: u16,
    /// The row at the top, how many of its lines are above the pane, and its height.
    pub(super) key: i64,
    pub(super) line: i64,
    pub(super) height: usize,
}

/// Inputs that the lines of a row depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    revision: u64,
    width: usize,
    wide: usize,
    level: Level,
    /// Seconds, for rows that show a time that passes.
    tick: u64,
    last: bool,
    /// Plan progress.
    plan: u64,
    /// State of its pictures.
    pictures: u64,
}

/// A laid out row.
#[derive(Debug)]
pub(super) struct Laid {
    stamp: Stamp,
    used: u64,
    /// Markdown, which can grow.
    text: Stream,
    /// All other lines; those of markdown stand before them.
    lines: Vec<LaidOutLine>,
    /// Rows among them that are kept for pictures.
    pictures: Vec<PictureRows>,
}

impl Laid {
    /// Lines of the row.
    pub(super) fn height(&self) -> usize {
        self.text.lines().len() + self.lines.len()
    }

    /// Its lines.
    pub(super) fn laid_lines(&self) -> impl Iterator<Item = &LaidOutLine> {
        self.text.lines().iter().chain(&self.lines)
    }

    /// Its line `number`.
    pub(super) fn line(&self, number: usize) -> Option<&LaidOutLine> {
        let text = self.text.lines();
        text.get(number).or_else(|| self.lines.get(number.checked_sub(text.len())?))
    }

    /// The picture that line `number` is kept for, and which of its rows it is.
    pub(super) fn picture(&self, number: usize) -> Option<(&PictureRows, usize)> {
        let mut all = self.pictures.iter();
        all.find_map(|kept| {
            let row = number.checked_sub(kept.first)?;
            (row < usize::from(kept.want.cells.rows)).then_some((kept, row))
        })
    }

    /// No more lines come to this block of code, whatever comes.
    pub(super) fn is_closed(&self, block: u32) -> bool {
        self.text.is_closed(block)
    }
}

/// A number that is another one when the plan is further.
fn standing(progress: &Progress) -> u64 {
    let mut hasher = DefaultHasher::new();
    for step in &progress.steps {
        (step.number, step.status, step.struck).hash(&mut hasher);
    }
    hasher.finish() | 1
}

impl Cache {
    /// The entries that the last frame drew, from above: the first row of each, how many rows it has, and its key.
    pub fn seen(&self) -> impl Iterator<Item = (u16, u16, i64)> + '_ {
        self.seen.chunk_by(|a, b| a.1 == b.1).filter_map(|rows| {
            let (first, key) = *rows.first()?;
            Some((first, u16::try_from(rows.len()).ok()?, key))
        })
    }

    /// Words about lines below the pane of the last frame; `None` where its end was seen.
    #[must_use]
    pub fn below(&self) -> Option<(&str, Role)> {
        self.below.as_ref().map(|(words, role)| (words.as_str(), *role))
    }

    /// The blocks of code that the last frame drew without all of their colours.
    pub fn take_wanted(&mut self) -> Vec<Block> {
        std::mem::take(&mut self.wanted)
    }

    /// The pictures that the last frame had room for and did not have, and whether it drew any.
    pub fn take_pictures(&mut self) -> (Vec<Want>, bool) {
        (std::mem::take(&mut self.unready), self.pictured)
    }

    /// The links that the last frame drew: cells of one row, and where they lead.
    pub fn take_links(&mut self) -> Vec<(Rect, Arc<str>)> {
        std::mem::take(&mut self.clickable.links)
    }

    /// The fold marks that the last frame drew, with the keys of their entries.
    pub fn take_folds(&mut self) -> Vec<(Rect, i64)> {
        std::mem::take(&mut self.clickable.folds)
    }

    /// Begins a frame: what was laid out for another conversation or with another look goes.
    pub(super) fn begin(&mut self, session: &str, theme: &Theme, glyphs: GlyphSet) {
        self.frame += 1;
        self.seen.clear();
        self.rows.clear();
        self.marked = Marked::default();
        self.wanted.clear();
        self.clickable.links.clear();
        self.clickable.folds.clear();
        self.unready.clear();
        self.pictured = false;
        self.below = None;
        if self.session != session || self.theme.as_ref() != Some(theme) || self.glyphs != glyphs {
            let same = self.session == session;
            *self = Self {
                session: session.to_owned(),
                theme: Some(theme.clone()),
                glyphs,
                frame: self.frame,
                anchor: self.anchor.filter(|_| same),
                end_seen: self.end_seen.filter(|_| same),
                seen: Vec::new(),
                rows: Vec::new(),
                marked: Marked::default(),
                wanted: Vec::new(),
                clickable: Clickable::default(),
                unready: Vec::new(),
                pictured: false,
                below: None,
                laid: HashMap::new(),
            };
        }
    }

    /// The row, laid out.
    pub(super) fn row(&mut self, entry: &Entry, row: &Row<'_>) -> &Laid {
        let message = &entry.message;
        let passes = match &message.body {
            Body::Tool(call) => call.status == ToolStatus::Executing,
            Body::Thinking(thinking) => entry.live && thinking.millis.is_none(),
            _ => false,
        };
        let stamp = Stamp {
            revision: entry.revision,
            width: row.width,
            wide: row.wide,
            level: row.level,
            tick: if passes { row.now.since(message.at) / 1000 } else { 0 },
            last: row.last && matches!(message.body, Body::Error(_)),
            plan: match &message.body {
                Body::Plan(plan) => rows::progress(plan, row).map_or(0, standing),
                _ => 0,
            },
            pictures: picture::stamp(message, row),
        };
        let frame = self.frame;
        let laid = self.laid.entry(entry.key).or_insert_with(|| Laid {
            // Never the stamp of a row that was laid out: no level of markdown matters, no width is 0.
            stamp: Stamp { width: 0, ..stamp },
            used: frame,
            text: Stream::default(),
            lines: Vec::new(),
            pictures: Vec::new(),
        });
        laid.used = frame;
        if laid.stamp == stamp {
            return laid;
        }
        let is_text = matches!(message.body, Body::Assistant(_));
        if laid.stamp.width != stamp.width || !is_text {
            laid.text = Stream::default();
        }
        laid.stamp = stamp;
        laid.pictures.clear();
        laid.lines = match &message.body {
            Body::User(text) => user::lines(text, row, &mut laid.pictures),
            Body::Assistant(text) => {
                laid.text.update(&text.text, row.width, &row.look);
                // That the user stopped it is a row of its own.
                let cut = text.cut_off().filter(|_| text.cut_by != Some(CutBy::User));
                let mark = cut.map(|words| format!("{} {words}", row.look.ellipsis()));
                mark.map(|mark| LaidOutLine::quiet(row.hint(&mark))).into_iter().collect()
            }
            Body::Thinking(text) => thinking::lines(text, message.at, entry.live, row),
            Body::Tool(call) => tool::lines(call, message.at, row, &mut laid.pictures),
            Body::Error(failure) => rows::failure(failure, row),
            Body::Info(info) => rows::info(info, row),
            Body::Plan(plan) => rows::plan(plan, row),
            Body::Odd(odd) => rows::odd(odd, row),
        };
        laid
    }

    /// The row, as it was laid out last.
    pub(super) fn laid(&self, key: i64) -> Option<&Laid> {
        self.laid.get(&key)
    }

    /// Ends a frame: drops the rows that were not used for longest once there are too many.
    pub(super) fn end(&mut self) {
        let mut total: usize = self.laid.values().map(|laid| laid.height() + 1).sum();
        if total <= KEPT {
            return;
        }
        let mut idle: Vec<(u64, i64)> =
            self.laid.iter().filter(|(_, laid)| laid.used < self.frame).map(|(key, laid)| (laid.used, *key)).collect();
        idle.sort_unstable();
        for (_, key) in idle {
            // Half of it, so that not every frame has to.
            if total <= KEPT / 2 {
                break;
            }
            total -= self.laid.remove(&key).map_or(0, |laid| laid.height() + 1);
        }
    }

    /// Number of rows laid out.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.laid.len()
    }
}
