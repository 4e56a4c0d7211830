//! Visible part of the conversation, and the lines between the rows: who speaks, when, how long.
//!
//! Only what is seen is laid out: from the top of the pane downwards, or from the end upwards while the end is followed.
//! The cost of a frame does not depend on the length of the conversation: nothing here goes over all rows.

use super::cache::{Anchor, Cache, Laid, RowAt};
use super::colours;
use super::heads::{Above, Heads, Speaker, speaker};
use super::laid_out_line::Unfold;
use super::links::{Addresses, addresses};
use super::opts::ChatOpts;
use super::picture;
use super::row::{Row, level, thousands, usual};
use super::style::ChatStyle;
use super::text_position::cells as parts;
use crate::app::state::chat::{Chat, Drawn, Entry, View};
use crate::app::state::find::Marker;
use crate::app::state::mark::Mark;
use crate::domain::Body;
use crate::theme::{Role, Theme};
use crate::ui::text;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// Rows that one frame walks over at most: to find its top, or its end.
const WALK: usize = 4_000;
/// Rows below the pane whose height is measured; of the others it is guessed.
const MEASURED: usize = 32;
/// Rows below the pane whose height is guessed from their text; of the others from the mean of these.
const GUESSED: usize = 500;
/// Rows that are looked at to find the call that a row belongs under.
const NEAR: usize = 200;
/// Panes narrower than this have no gutter.
const GUTTER_FROM: u16 = 24;
/// Panes narrower than this have no room for the key that goes to the end.
const NARROW: u16 = 60;
/// Milliseconds between two highlightings of a growing block.
const COLOUR_GAP: u64 = 300;
/// Cells before the lines of a row.
const GUTTER: usize = 2;
/// Cells of a line of text at the most: longer ones are hard to read.
const MEASURE: usize = 110;

/// Working state of a frame.
pub(super) struct Transcript<'a> {
    pub(super) chat: &'a Chat,
    pub(super) opts: &'a ChatOpts<'a>,
    pub(super) theme: &'a Theme,
    pub(super) cache: &'a mut Cache,
    pub(super) area: Rect,
    /// Blocks of code that were drawn: the row, a line of it, the block's number.
    pub(super) blocks: Vec<(usize, usize, u32)>,
    /// Selection, as of this frame.
    pub(super) mark: Option<Mark>,
    /// Links of the logical line drawn last: the entry, the line where it begins, the parts.
    pub(super) leads: Option<(i64, usize, Addresses)>,
}

impl<'a> Transcript<'a> {
    /// Draws the frame.
    pub(super) fn draw(mut self, buf: &mut Buffer) -> Drawn {
        self.area = self.area.intersection(buf.area);
        self.cache.begin(self.opts.session, self.theme, self.opts.glyphs);
        let height = self.area.height;
        let count = self.chat.entries.len();
        if count == 0 || self.area.is_empty() {
            return Drawn { top: None, at_end: count == 0, below: 0, height, at_top: count == 0 };
        }
        self.work_mark();
        let (mut top, mut line) = self.resolve();
        if self.chat.reveal {
            (top, line) = self.revealing(top, line);
        }
        let key = self.entry(top).map_or(0, |entry| entry.key);
        let (next, hidden) = self.fill(top, line, buf);
        let at_end = next >= count && hidden == 0;
        let below = if at_end { 0 } else { hidden + self.heights_from(next) };
        self.mark_end(at_end && self.chat.later.is_none(), below);
        let line = i64::try_from(line).unwrap_or(i64::MAX);
        let anchor = Anchor { view: self.chat.view, width: self.area.width, key, line, height: self.height(top) };
        self.cache.anchor = Some(anchor);
        self.want();
        self.cache.marked.seen = self.cache.seen_spots();
        self.cache.end();
        Drawn { top: Some((key, line)), at_end, below, height, at_top: top == 0 && line == 0 }
    }

    fn entry(&self, index: usize) -> Option<&Entry> {
        self.chat.entries.get(index)
    }

    fn heads(&self) -> Heads<'a> {
        let look = ChatStyle { theme: self.theme, glyphs: self.opts.glyphs };
        Heads { chat: self.chat, opts: self.opts, look, width: usize::from(self.area.width) }
    }

    fn above(&self, index: usize) -> Above {
        self.heads().above(index)
    }

    fn look(&self) -> ChatStyle<'_> {
        ChatStyle { theme: self.theme, glyphs: self.opts.glyphs }
    }

    /// Cells before the lines of a row.
    fn indent(&self, index: usize) -> usize {
        if self.area.width < GUTTER_FROM {
            return 0;
        }
        (GUTTER + 2 * self.depth(index)).min(usize::from(self.area.width) / 2)
    }

    /// Under how many calls a row stands.
    fn depth(&self, index: usize) -> usize {
        let mut depth = 0;
        let mut parent = self.entry(index).and_then(|entry| entry.message.parent.as_ref());
        let mut before = (index.saturating_sub(NEAR)..index).rev().filter_map(|i| self.entry(i));
        while let (Some(id), true) = (parent, depth < 4) {
            depth += 1;
            let call = before.find(|entry| entry.message.tool().is_some_and(|call| call.id == *id));
            parent = call.and_then(|entry| entry.message.parent.as_ref());
        }
        depth
    }

    fn row(&self, index: usize, entry: &Entry, look: ChatStyle<'a>) -> Row<'a> {
        let wide = usize::from(self.area.width).saturating_sub(self.indent(index)).max(1);
        Row {
            look,
            width: wide.min(MEASURE),
            wide,
            level: level(self.chat, entry, self.opts.asked_plan),
            usual: usual(self.chat.density),
            now: self.opts.now,
            last: index + 1 == self.chat.entries.len(),
            beside: !self.chat.unified,
            helps: self.opts.helps,
            pictures: self.opts.pictures,
            plan: self.opts.plan,
        }
    }

    /// Lines of a row with what stands above them.
    fn height(&mut self, index: usize) -> usize {
        let chat = self.chat;
        let Some(entry) = chat.entries.get(index) else { return 0 };
        let row = self.row(index, entry, ChatStyle { theme: self.theme, glyphs: self.opts.glyphs });
        let body = self.cache.row(entry, &row).height();
        // A row without lines (an answer that has not begun) has only its head.
        let above = self.above(index);
        let footer = usize::from(self.heads().footer(index).is_some());
        if body == 0 && !above.head { footer } else { above.height() + body + footer }
    }

    /// The row, laid out.
    pub(super) fn laid_row(&mut self, index: usize) -> Option<&Laid> {
        let chat = self.chat;
        let entry = chat.entries.get(index)?;
        let row = self.row(index, entry, ChatStyle { theme: self.theme, glyphs: self.opts.glyphs });
        Some(self.cache.row(entry, &row))
    }

    /// Lines above those of the row itself.
    pub(super) fn lines_above(&self, index: usize) -> usize {
        self.above(index).height()
    }

    /// True if something separates a row from the one before it.
    pub(super) fn stands_apart(&self, index: usize) -> bool {
        self.above(index).height() > 0
    }

    /// Lines of a row with what stands above them.
    pub(super) fn tall_row(&mut self, index: usize) -> usize {
        self.height(index)
    }

    /// The row at the top of the pane and how many of its lines are above it.
    fn resolve(&mut self) -> (usize, usize) {
        let (key, place) = match self.chat.view {
            View::End => return self.end(),
            View::At { key, line } => (key, Some(line)),
            View::Mark { key } => (key, None),
        };
        let count = self.chat.entries.len();
        let (mut index, mut line) = match self.chat.entries.binary_search_by_key(&key, |entry| entry.key) {
            Ok(index) => match place {
                Some(line) => (index, self.same_place(index, line)),
                None => (index, self.marked(index)),
            },
            Err(index) if index >= count => return self.end(),
            Err(index) => (index, 0),
        };
        for _ in 0..WALK {
            if line < 0 {
                if index == 0 {
                    line = 0;
                    break;
                }
                index -= 1;
                line += self.tall(index);
            } else if line >= self.tall(index) {
                if index + 1 >= count {
                    return self.end();
                }
                line -= self.tall(index);
                index += 1;
            } else {
                break;
            }
        }
        let line = usize::try_from(line.clamp(0, (self.tall(index) - 1).max(0))).unwrap_or(0);
        // A pane that would reach below the end shows the end.
        let mut room = usize::from(self.area.height) + line;
        for below in (index..count).take(WALK) {
            let tall = self.height(below);
            if tall >= room {
                return (index, line);
            }
            room -= tall;
        }
        if count - index > WALK { (index, line) } else { self.end() }
    }

    /// First line of the pane, in lines of a row, chosen so that the first marked line is visible
    /// with its context.
    fn marked(&mut self, index: usize) -> i64 {
        let chat = self.chat;
        let Some(entry) = chat.entries.get(index) else { return 0 };
        let row = self.row(index, entry, ChatStyle { theme: self.theme, glyphs: self.opts.glyphs });
        let above = self.above(index).height();
        let laid = self.cache.row(entry, &row);
        let found = self.opts.marker.and_then(|marker| {
            (0..laid.height())
                .find(|n| laid.line(*n).is_some_and(|laid_line| !marker.marks(&laid_line.to_string()).is_empty()))
        });
        let line = i64::try_from(above + found.unwrap_or(0)).unwrap_or(0);
        line - i64::from(self.area.height / 3)
    }

    fn tall(&mut self, index: usize) -> i64 {
        i64::try_from(self.height(index)).unwrap_or(i64::MAX)
    }

    /// The line of a view at the width of now: the part of the row that was above the pane stays above.
    fn same_place(&mut self, index: usize, line: i64) -> i64 {
        let Some(anchor) = self.cache.anchor else { return line };
        let View::At { key, .. } = self.chat.view else { return line };
        let asked_again = anchor.view == self.chat.view || (anchor.key == key && anchor.line == line);
        if !asked_again || line < 0 {
            return line;
        }
        if anchor.view == self.chat.view && anchor.key != key {
            // Walked to another row last time; it walks the same way again.
            return line;
        }
        if anchor.width == self.area.width {
            return anchor.line;
        }
        let (before, now) = (i64::try_from(anchor.height.max(1)).unwrap_or(i64::MAX), self.tall(index));
        anchor.line.saturating_mul(now) / before
    }

    /// The top of a pane that shows the end.
    fn end(&mut self) -> (usize, usize) {
        let room = usize::from(self.area.height);
        let mut index = self.chat.entries.len().saturating_sub(1);
        let mut lines = self.height(index);
        for _ in 0..WALK {
            if lines >= room || index == 0 {
                break;
            }
            index -= 1;
            lines += self.height(index);
        }
        (index, lines.saturating_sub(room))
    }

    /// Draws from the top downwards; gives the first row that has no line on the screen, and how many lines of the row
    /// before it are below the pane.
    fn fill(&mut self, top: usize, skip: usize, buf: &mut Buffer) -> (usize, usize) {
        let (mut y, mut skip, mut index) = (self.area.y, skip, top);
        while y < self.area.bottom() && index < self.chat.entries.len() {
            let tall = self.height(index);
            for number in skip..tall {
                if y >= self.area.bottom() {
                    return (index + 1, tall - number);
                }
                self.line(index, number, y, buf);
                y += 1;
            }
            skip = 0;
            index += 1;
        }
        (index, 0)
    }

    /// Draws line `number` of a row.
    fn line(&mut self, index: usize, number: usize, y: u16, buf: &mut Buffer) {
        let chat = self.chat;
        let Some(entry) = chat.entries.get(index) else { return };
        let above = self.above(index);
        let Some(number) = number.checked_sub(above.height()) else {
            if above.head && number + 1 == above.height() {
                self.band(entry, y, buf);
                buf.set_line(self.area.x, y, &self.heads().head(index, entry), self.area.width);
            }
            return;
        };
        let indent = u16::try_from(self.indent(index)).unwrap_or(0);
        let row = self.row(index, entry, ChatStyle { theme: self.theme, glyphs: self.opts.glyphs });
        if number >= self.cache.row(entry, &row).height() {
            if let Some(footer) = self.heads().footer(index) {
                buf.set_line(self.area.x + indent, y, &footer, self.area.width - indent);
            }
            return;
        }
        self.cache.seen.push((y, entry.key));
        self.band(entry, y, buf);
        self.cache.rows.push(RowAt { y, x: self.area.x + indent, key: entry.key, number });
        if indent > 0 && self.opts.focused && chat.cursor == Some(entry.key) && self.is_block(index, number) {
            let mark = text::line(self.look().glyph("▎", "|"), self.theme.style(Role::Accent));
            buf.set_line(self.area.x, y, &mark, 1);
        }
        let row = self.row(index, entry, ChatStyle { theme: self.theme, glyphs: self.opts.glyphs });
        let area = Rect { x: self.area.x + indent, y, width: self.area.width - indent, height: 1 };
        if let Some((kept, nth)) = self.cache.row(entry, &row).picture(number) {
            let want = Arc::clone(&kept.want);
            if picture::draw(kept, nth, &row, area, buf) {
                self.cache.pictured = true;
            } else if !self.cache.unready.contains(&want) {
                self.cache.unready.push(want.as_ref().clone());
            }
            return;
        }
        let Some(laid_line) = self.cache.row(entry, &row).line(number) else { return };
        if let Some(from) = laid_line.ground {
            let ground = Rect { width: row.width.try_into().unwrap_or(area.width), ..area };
            fill(crate::ui::cells::after(ground, from), Role::CodeGround, self.theme, buf);
        }
        buf.set_line(area.x, y, &laid_line.line, area.width);
        if let Some(unfold) = laid_line.more {
            let said = u16::try_from(laid_line.line.width()).unwrap_or(u16::MAX);
            return self.more(entry.key, unfold, area, said, buf);
        }
        let cells = |from: u16, width: u16| Rect { x: area.x.saturating_add(from), width, ..area }.intersection(area);
        for code in &laid_line.code {
            let Some(coloured) = chat.colours.get(&(entry.key, code.block)) else { continue };
            for (from, width, run) in laid_line.shades(code, &coloured.lines) {
                buf.set_style(cells(from, width), colours::style(run.shade, self.theme));
            }
        }
        if let Some(marker) = self.opts.marker {
            mark(&laid_line.to_string(), marker, self.theme, area, buf);
        }
        for code in &laid_line.code {
            if !self.blocks.iter().any(|(row, _, block)| (*row, *block) == (index, code.block)) {
                self.blocks.push((index, number, code.block));
            }
        }
        let links = self.links(entry, number, area);
        if let Some(mark) = &self.mark {
            self.paint_mark(mark, entry.key, number, area, buf);
        }
        self.cache.clickable.links.extend(links);
        if self.cache.laid(entry.key).and_then(|laid| laid.line(number)).is_some_and(|laid_line| laid_line.folds) {
            self.cache.clickable.folds.push((Rect { width: Row::FOLD.min(area.width), ..area }, entry.key));
        }
    }

    /// Key that shows what is left out, behind the `said` cells that count it: as pressed from where the focus is.
    fn more(&mut self, entry: i64, unfold: Unfold, area: Rect, said: u16, buf: &mut Buffer) {
        let key = match unfold {
            Unfold::Here if self.opts.focused => "enter",
            Unfold::Program if self.opts.focused => "o",
            Unfold::Here => self.opts.keys.unfold_all,
            Unfold::Program => "",
        };
        if !key.is_empty() {
            let behind = crate::ui::cells::after(area, said);
            buf.set_stringn(behind.x, area.y, format!(" ({key})"), behind.width.into(), self.theme.style(Role::Dim));
        }
        if unfold == Unfold::Here {
            self.cache.clickable.folds.push((Rect { width: said.min(area.width), ..area }, entry));
        }
    }

    /// Links on line `number` of a row that was drawn into `area`.
    fn links(&mut self, entry: &Entry, number: usize, area: Rect) -> Vec<(Rect, Arc<str>)> {
        let cells = |from: u16, width: u16| Rect { x: area.x.saturating_add(from), width, ..area }.intersection(area);
        let laid = self.cache.laid(entry.key);
        let (begun, text) = laid.and_then(|laid| laid.text_at(number)).unwrap_or((number, ""));
        let Some(laid_line) = laid.and_then(|laid| laid.line(number)) else { return Vec::new() };
        // Of an address that is broken over lines each part leads to the whole of it.
        let mut bare: Vec<(Rect, Arc<str>)> = Vec::new();
        // A line that goes on over many rows is looked through once.
        if self.leads.as_ref().is_none_or(|leads| (leads.0, leads.1) != (entry.key, begun)) {
            self.leads = Some((entry.key, begun, addresses(entry, begun, text, self.opts.cwd)));
        }
        for (range, url) in self.leads.iter().flat_map(|leads| &leads.2) {
            let range = u32::try_from(range.start).unwrap_or(u32::MAX)..u32::try_from(range.end).unwrap_or(u32::MAX);
            bare.extend(parts(laid_line, text, range).into_iter().map(|(x, width)| (cells(x, width), Arc::clone(url))));
        }
        let mut links: Vec<(Rect, Arc<str>)> =
            laid_line.links.iter().map(|link| (cells(link.from, link.width), Arc::clone(&link.url))).collect();
        // The address behind a link's text is a part of that link.
        let known = links.len();
        for (place, url) in bare {
            if !links.iter().take(known).any(|(link, _)| link.intersects(place)) {
                links.push((place, url));
            }
        }
        links
    }

    /// The band under a message of the user.
    fn band(&self, entry: &Entry, y: u16, buf: &mut Buffer) {
        if speaker(entry) != Speaker::User || self.area.width < GUTTER_FROM {
            return;
        }
        let width = u16::try_from(MEASURE + GUTTER).unwrap_or(u16::MAX).min(self.area.width);
        let row = Rect { y, width, height: 1, ..self.area };
        fill(row, Role::UserGround, self.theme, buf);
    }

    /// True if the gutter of a line shows the cursor: all lines of the entry, except where a block
    /// of code is in focus.
    fn is_block(&mut self, index: usize, number: usize) -> bool {
        let Some(block) = self.chat.block else { return true };
        let laid_line = self.laid_row(index).and_then(|laid| laid.line(number));
        laid_line.is_some_and(|laid_line| laid_line.code.iter().any(|code| code.block == block))
    }

    /// Notes the blocks of code that were seen without their colours.
    fn want(&mut self) {
        let chat = self.chat;
        if chat.colouring {
            return;
        }
        let early = chat.coloured_at.is_some_and(|at| self.opts.now.since(at) < COLOUR_GAP);
        for (index, number, block) in std::mem::take(&mut self.blocks) {
            let Some(entry) = chat.entries.get(index).filter(|entry| !(entry.live && early)) else { continue };
            let row = self.row(index, entry, ChatStyle { theme: self.theme, glyphs: self.opts.glyphs });
            let laid = self.cache.row(entry, &row);
            let code = laid.line(number).and_then(|laid_line| laid_line.code.iter().find(|code| code.block == block));
            let known = chat.colours.get(&(entry.key, block));
            let wanted = code.and_then(|code| colours::wanted(entry, laid, number, code, known));
            self.cache.wanted.extend(wanted);
        }
    }

    /// Lines of the rows from `index` on: measured near the pane, guessed beyond.
    fn heights_from(&mut self, index: usize) -> usize {
        let count = self.chat.entries.len();
        let measured: usize = (index..count).take(MEASURED).map(|i| self.height(i)).sum();
        let far = index.saturating_add(MEASURED);
        let guessed: usize = (far..count).take(GUESSED).map(|i| self.guess(i)).sum();
        let rest = count.saturating_sub(far.saturating_add(GUESSED));
        measured + guessed + rest.saturating_mul(guessed / GUESSED)
    }

    fn guess(&self, index: usize) -> usize {
        let text = match self.entry(index).map(|entry| &entry.message.body) {
            Some(Body::User(user)) => user.text.len(),
            Some(Body::Assistant(text)) => text.text.len(),
            _ => 0,
        };
        1 + text / usize::from(self.area.width.max(1)) + self.above(index).height()
    }

    /// The mark that there is more below, and how much of it came since the end was last seen. It stands on the line below
    /// the pane: over the text it would hide some of it.
    fn mark_end(&mut self, at_end: bool, below: usize) {
        let last = self.chat.entries.len().saturating_sub(1);
        if at_end {
            let key = self.entry(last).map_or(0, |entry| entry.key);
            self.cache.end_seen = Some((key, self.height(last), self.area.width));
            return;
        }
        let more = self.chat.later.is_some();
        let new = if more { self.chat.unseen.len() } else { self.new_lines().min(below) };
        let arrow = self.look().glyph("↓", "v");
        let key = self.opts.keys.to_end;
        let (words, role) = match new {
            _ if more && self.area.width < NARROW => (format!(" {arrow} more below "), Role::Accent),
            0 if more => (format!(" {arrow} more below, {key} to the end "), Role::Accent),
            new if more => (format!(" {arrow} {new} new at the end, {key} goes there "), Role::Accent),
            0 if below == 1 => (format!(" {arrow} 1 line "), Role::Dim),
            0 => (format!(" {arrow} {} lines ", thousands(below as u64)), Role::Dim),
            1 => (format!(" {arrow} 1 new line "), Role::Accent),
            new => (format!(" {arrow} {} new lines ", thousands(new as u64)), Role::Accent),
        };
        self.cache.below = Some((words.trim().to_owned(), role));
    }

    fn new_lines(&mut self) -> usize {
        let Some((key, height, width)) = self.cache.end_seen else { return 0 };
        let Ok(index) = self.chat.entries.binary_search_by_key(&key, |entry| entry.key) else { return 0 };
        let now = self.height(index);
        if width != self.area.width {
            self.cache.end_seen = Some((key, now, self.area.width));
            return self.heights_from(index + 1);
        }
        now.saturating_sub(height) + self.heights_from(index + 1)
    }
}

/// Lays the ground of `role` under `area`, where the theme has one.
fn fill(area: Rect, role: Role, theme: &Theme, buf: &mut Buffer) {
    let style = theme.style(role);
    if style.bg.is_some() {
        buf.set_style(area.intersection(buf.area), style);
    }
}

/// Lays the style of a hit over what is marked in a line that was drawn into `area`.
fn mark(line: &str, marker: &Marker, theme: &Theme, area: Rect, buf: &mut Buffer) {
    for (start, end) in marker.marks(line) {
        let cells = |bytes: std::ops::Range<usize>| {
            let wide = line.get(bytes).map_or(0, text::width);
            u16::try_from(wide).unwrap_or(u16::MAX)
        };
        let x = area.x.saturating_add(cells(0..start));
        let place = Rect { x, width: cells(start..end), ..area };
        buf.set_style(place.intersection(area), theme.style(Role::Found));
    }
}
