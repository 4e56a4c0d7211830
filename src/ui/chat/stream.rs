//! Markdown that grows: finished top-level blocks are laid out once and kept, only what can still change is parsed again.
//!
//! The end of a block is decided on complete lines alone, and each block is laid out on its own. So
//! the lines of a text depend on the text and not on the pieces in which it came, and the cost of a
//! delta depends on the last block, not on the text. The lines of a fenced block of code are final
//! one by one. A block that is larger than [`LARGE`] is shown unformatted.

use super::laid_out_line::{CodeAt, LaidOutLine};
use super::style::ChatStyle;
use super::{markdown, source_lines};
use crate::domain::datatable;
use crate::domain::sanitise::clean_growing;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};
use ratatui::text::Line;

/// Bytes of a block up to which it is laid out as markdown.
const LARGE: usize = 64 * 1024;

/// The laid out lines of one text at one width.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// Bytes of the source whose lines are final, and a hash of them.
    done: usize,
    hash: u64,
    /// The final lines, and behind them those of the rest.
    lines: Vec<LaidOutLine>,
    kept: usize,
    state: State,
    /// Bytes of the source that were there last time.
    seen: usize,
}

/// Between two lines of the source: what stands open and what came before.
#[derive(Clone, Debug, Default)]
struct State {
    mode: BlockMode,
    before: Before,
    /// A blank line stands before what comes.
    blank: bool,
    /// Blocks of code that have begun.
    blocks: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Before {
    #[default]
    Nothing,
    Heading,
    Other,
}

#[derive(Clone, Debug, Default)]
enum BlockMode {
    /// A block begins.
    #[default]
    Block,
    /// Inside a fenced block of code.
    Fence(Fence),
    /// Inside a block that is too large; how much of it has passed.
    Raw(usize),
}

#[derive(Clone, Debug)]
struct Fence {
    mark: char,
    length: usize,
    indent: usize,
    /// The word for the language, the block's number, and which line of it comes next.
    code: CodeAt,
}

/// Position that a pass reached.
struct Pass<'t> {
    text: &'t str,
    at: usize,
    state: State,
    lines: Vec<LaidOutLine>,
}

impl Stream {
    /// Lays out `source`, which mostly is what it was before with more at its end, and gives all its lines.
    pub(super) fn update(&mut self, source: &str, width: usize, look: &ChatStyle<'_>) -> &[LaidOutLine] {
        if source.get(..self.done).is_none_or(|same| hash(same) != self.hash) {
            *self = Self::default();
        }
        self.lines.truncate(self.kept);
        let tail = source.get(self.done..).unwrap_or_default();
        // Without a new line nothing becomes final.
        if source.get(self.seen..).is_none_or(|new| new.contains('\n')) {
            self.settle(tail, width, look);
            self.hash = hash(source.get(..self.done).unwrap_or_default());
        }
        self.seen = source.len();

        let rest = clean_growing(source.get(self.done..).unwrap_or_default());
        let mut pass = Pass { text: &rest.text, at: 0, state: self.state.clone(), lines: Vec::new() };
        pass.run(&rest.text, width, look, &mut |_| {});
        pass.last(width, look);
        self.lines.append(&mut pass.lines);
        &self.lines
    }

    /// Keeps what is final of the text behind `done`.
    fn settle(&mut self, tail: &str, width: usize, look: &ChatStyle<'_>) {
        let growing = clean_growing(tail);
        let mut pass = Pass { text: &growing.text, at: 0, state: self.state.clone(), lines: Vec::new() };
        let mut kept = (0, 0, self.state.clone());
        pass.run(growing.settled(), width, look, &mut |pass: &Pass<'_>| {
            if let Some(at) = growing.source(pass.at) {
                kept = (at, pass.lines.len(), pass.state.clone());
            }
        });
        let (at, count, state) = kept;
        pass.lines.truncate(count);
        self.lines.append(&mut pass.lines);
        self.kept = self.lines.len();
        self.state = state;
        self.done += at;
    }

    /// The lines as they were laid out last.
    pub(super) fn lines(&self) -> &[LaidOutLine] {
        &self.lines
    }

    /// No more lines come to this block of code, whatever comes.
    pub(super) fn is_closed(&self, block: u32) -> bool {
        let open = matches!(self.state.mode, BlockMode::Fence(_));
        block.saturating_add(u32::from(open)) < self.state.blocks
    }

    /// The same, for one who keeps them.
    pub(super) fn into_lines(self) -> Vec<Line<'static>> {
        super::laid_out_line::lines(self.lines)
    }

    /// The same, with what is more than text.
    pub(super) fn into_inks(self) -> Vec<LaidOutLine> {
        self.lines
    }
}

impl Pass<'_> {
    /// Goes over `text` (a prefix of `self.text`) up to its last block, and calls `keep` wherever all before is final.
    fn run(&mut self, text: &str, width: usize, look: &ChatStyle<'_>, keep: &mut dyn FnMut(&Self)) {
        loop {
            let from = self.at;
            match self.state.mode.clone() {
                BlockMode::Fence(fence) => self.fence(fence, text, width, look, keep),
                BlockMode::Raw(passed) => self.raw(passed, text, width, look, keep),
                BlockMode::Block => self.blocks(text, width, look, keep),
            }
            if self.at == from || self.at >= text.len() {
                return;
            }
        }
    }

    /// The next complete line.
    fn line<'t>(&self, text: &'t str) -> Option<&'t str> {
        let rest = text.get(self.at..)?;
        rest.find('\n').and_then(|end| rest.get(..end))
    }

    fn fence(&mut self, mut fence: Fence, text: &str, width: usize, look: &ChatStyle<'_>, keep: &mut dyn FnMut(&Self)) {
        while let Some(line) = self.line(text) {
            self.at += line.len() + 1;
            let closes = fence.closes(line);
            if closes {
                self.state =
                    State { mode: BlockMode::Block, before: Before::Other, blank: false, blocks: self.state.blocks };
            } else {
                self.lines.extend(source_lines::code_line(fence.strip(line), width, &[], look, &fence.code));
                fence.code.next();
                self.state.mode = BlockMode::Fence(fence.clone());
            }
            keep(self);
            if closes {
                return;
            }
        }
    }

    fn raw(&mut self, mut passed: usize, text: &str, width: usize, look: &ChatStyle<'_>, keep: &mut dyn FnMut(&Self)) {
        while let Some(line) = self.line(text) {
            self.at += line.len() + 1;
            passed += line.len() + 1;
            let ends = passed > LARGE && line.trim().is_empty();
            if ends {
                self.state =
                    State { mode: BlockMode::Block, before: Before::Other, blank: true, blocks: self.state.blocks };
            } else {
                self.lines.extend(source_lines::raw_line(line, width, look));
                self.state.mode = BlockMode::Raw(passed);
            }
            keep(self);
            if ends {
                return;
            }
        }
    }

    /// Lays out all blocks but the last. Returns early when the mode changed or what follows must be looked at anew.
    fn blocks(&mut self, text: &str, width: usize, look: &ChatStyle<'_>, keep: &mut dyn FnMut(&Self)) {
        let base = self.at;
        let found = top_level(text.get(base..).unwrap_or_default());
        let mut found = found.iter().map(|b| Found { start: b.start + base, ..*b }).peekable();
        while let Some(block) = found.next() {
            let end = found.peek().map(|next| next.start);
            let here = block.start;
            if end.unwrap_or(text.len()) - here > LARGE && !block.fenced {
                self.gap(&block);
                self.at = here;
                self.state =
                    State { mode: BlockMode::Raw(0), before: Before::Other, blank: false, blocks: self.state.blocks };
                keep(self);
                return;
            }
            if block.fenced {
                let first = text.get(here..).unwrap_or_default();
                let Some((first, _)) = first.split_once('\n') else { return };
                let (fence, info) = Fence::open(first, self.state.blocks);
                if datatable::is_meant(info) && end.unwrap_or(text.len()) - here <= LARGE {
                    // A table is laid out when all of it is there.
                    let Some(close) = fence.end(text, here + first.len() + 1) else { return };
                    let blocks = self.state.blocks.saturating_add(1);
                    self.block(&block, text.get(self.at..close).unwrap_or_default(), width, look);
                    self.state.blocks = self.state.blocks.max(blocks);
                    self.at = close;
                    keep(self);
                    match end {
                        Some(end) if self.at <= end => continue,
                        _ => return,
                    }
                }
                self.gap(&block);
                self.between(&block, width, look);
                self.lines.extend(source_lines::code_label(info, width, &[], look));
                self.at = here + first.len() + 1;
                let blocks = self.state.blocks.saturating_add(1);
                self.state =
                    State { mode: BlockMode::Fence(fence.clone()), before: Before::Other, blank: false, blocks };
                keep(self);
                self.fence(fence, text, width, look, keep);
                match end {
                    // The next block is known already.
                    Some(end) if matches!(self.state.mode, BlockMode::Block) && self.at <= end => continue,
                    _ => return,
                }
            }
            let Some(end) = end else { return };
            // From where the last one ended: definitions of links stand between blocks and belong to the next.
            self.block(&block, text.get(self.at..end).unwrap_or_default(), width, look);
            self.at = end;
            keep(self);
        }
    }

    /// Lays out what cannot be kept yet: the last block and the line that is not complete.
    fn last(&mut self, width: usize, look: &ChatStyle<'_>) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        match self.state.mode.clone() {
            BlockMode::Fence(fence) if rest.is_empty() || fence.closes(rest) => {}
            BlockMode::Fence(fence) => {
                self.lines.extend(source_lines::code_line(fence.strip(rest), width, &[], look, &fence.code));
            }
            BlockMode::Raw(_) if rest.is_empty() => {}
            BlockMode::Raw(_) => self.lines.extend(source_lines::raw_line(rest, width, look)),
            BlockMode::Block => {
                let found = top_level(rest);
                let Some(block) = found.first() else {
                    // Nothing but blank lines and definitions of links.
                    self.lines.extend(markdown::block(rest, width, look, self.state.blocks));
                    return;
                };
                let block = Found { start: block.start + self.at, ..*block };
                let source = self.text.get(block.start..).unwrap_or_default();
                let (_, info) = Fence::open(source.lines().next().unwrap_or_default(), 0);
                if block.fenced && (!datatable::is_meant(info) || !source.contains('\n') || source.len() > LARGE) {
                    self.gap(&block);
                    self.between(&block, width, look);
                    self.lines.extend(source_lines::code_label(Fence::open(source, 0).1, width, &[], look));
                } else if source.len() > LARGE {
                    self.gap(&block);
                    self.lines.extend(source_lines::raw(source, width, look));
                } else {
                    self.block(&block, rest, width, look);
                }
            }
        }
    }

    fn block(&mut self, block: &Found, source: &str, width: usize, look: &ChatStyle<'_>) {
        self.gap(block);
        let laid_lines = markdown::block(source, width, look, self.state.blocks);
        let after =
            laid_lines.iter().flat_map(|laid_line| &laid_line.code).map(|code| code.block.saturating_add(1)).max();
        self.state.blocks = after.unwrap_or(self.state.blocks).max(self.state.blocks);
        self.lines.extend(laid_lines);
        let trailing = source.get(source.trim_end().len()..).unwrap_or_default();
        self.state.blank = trailing.matches('\n').count() > 1;
        self.state.before = if block.heading { Before::Heading } else { Before::Other };
    }

    /// Definitions of links before a block of code.
    fn between(&mut self, block: &Found, width: usize, look: &ChatStyle<'_>) {
        let between = self.text.get(self.at..block.start).unwrap_or_default();
        if !between.trim().is_empty() {
            self.lines.extend(markdown::block(between, width, look, self.state.blocks));
        }
    }

    /// A blank line where the source has one, and before each heading; none behind a heading.
    fn gap(&mut self, block: &Found) {
        let between = self.text.get(self.at..block.start).unwrap_or_default();
        let blank = self.state.blank || between.contains('\n') || block.heading;
        if self.state.before == Before::Other && blank {
            self.lines.push(LaidOutLine::blank());
        }
    }
}

/// A top-level block: where the line begins on which it begins.
#[derive(Clone, Copy, Debug)]
struct Found {
    start: usize,
    fenced: bool,
    heading: bool,
}

fn top_level(text: &str) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut depth = 0usize;
    for (event, range) in Parser::new_ext(text, markdown::dialect()).into_offset_iter() {
        let top = depth == 0;
        match &event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if !top || matches!(event, Event::End(_)) {
            continue;
        }
        let start = text.get(..range.start).and_then(|before| before.rfind('\n')).map_or(0, |i| i + 1);
        if found.last().is_some_and(|last| last.start >= start) {
            continue;
        }
        found.push(Found {
            start,
            fenced: matches!(event, Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_)))),
            heading: matches!(event, Event::Start(Tag::Heading { .. })),
        });
    }
    found
}

impl Fence {
    /// Reads the line that opens a block of code: the fence, and the info string behind it.
    fn open(line: &str, block: u32) -> (Self, &str) {
        let trimmed = line.trim_start_matches(' ');
        let mark = if trimmed.starts_with('~') { '~' } else { '`' };
        let info = trimmed.trim_start_matches(mark);
        let (length, indent) = (trimmed.len() - info.len(), line.len() - trimmed.len());
        let info = info.trim();
        let code = CodeAt::first(block, source_lines::language(info));
        (Self { mark, length, indent, code }, info)
    }

    /// End of the block whose text begins at `from`: after its closing line, if that line is complete.
    fn end(&self, text: &str, from: usize) -> Option<usize> {
        let mut at = from;
        while let Some(line) = text.get(at..).and_then(|rest| rest.find('\n').and_then(|end| rest.get(..end))) {
            at += line.len() + 1;
            if self.closes(line) {
                return Some(at);
            }
        }
        None
    }

    fn closes(&self, line: &str) -> bool {
        let trimmed = line.trim_start_matches(' ');
        let rest = trimmed.trim_start_matches(self.mark);
        line.len() - trimmed.len() < 4 && trimmed.len() - rest.len() >= self.length && rest.trim().is_empty()
    }

    /// A line inside, without the indentation of the fence.
    fn strip<'t>(&self, line: &'t str) -> &'t str {
        let blanks = line.bytes().take(self.indent).take_while(|b| *b == b' ').count();
        line.get(blanks..).unwrap_or(line)
    }
}

/// A quick hash: only there to notice that a text was replaced and did not grow.
fn hash(text: &str) -> u64 {
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let mix = |h: u64, w: u64| (h ^ w).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let whole = words.iter().fold(text.len() as u64, |h, w| mix(h, u64::from_le_bytes(*w)));
    rest.iter().fold(whole, |h, b| mix(h, u64::from(*b)))
}

#[cfg(test)]
mod tests;
