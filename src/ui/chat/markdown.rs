//! One block of markdown as lines: headings, lists, quotes, code, links. `table` lays out tables, `stream` finds the
//! blocks of a text. Everything of the source is shown: HTML and math as they stand, addresses of links behind their text.
//!
//! Text is sanitised once more when it becomes a span: an entity such as `&#27;` becomes a character only here.

use super::laid_out_line::{CodeAt, LaidOutLine, Source, laid_out};
use super::link_marks::{LinkMark, linked};
use super::source_lines::{code_label, code_line, language, raw};
use super::style::ChatStyle;
use super::table::{Cell, Table};
use crate::domain::datatable::{self, DataTable};
use crate::domain::sanitise::clean_line;
use crate::theme::Role;
use crate::ui::text::{self, Fold};
use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use std::sync::Arc;

/// Events of one block; beyond it the source is shown. Keeps tables of a million empty cells away.
const EVENTS: usize = 60_000;
/// Containers (quotes, list items) whose lead is drawn; deeper ones stand below the last.
const DEPTH: usize = 12;
/// The dialect: CommonMark with GitHub's tables, task lists and strikethrough, and math.
pub(super) fn dialect() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS | Options::ENABLE_MATH
}

/// One top-level block as lines; above the limit of work as its source.
/// Its blocks of code are numbered from `code` on.
pub(super) fn block(source: &str, width: usize, look: &ChatStyle<'_>, code: u32) -> Vec<LaidOutLine> {
    let parser = Parser::new_ext(source, dialect());
    let mut definitions: Vec<_> = parser.reference_definitions().iter().map(|(_, def)| def.span.clone()).collect();
    definitions.sort_by_key(|span| span.start);
    let mut page = Page::new(width, look);
    page.blocks = code;
    for (count, event) in parser.enumerate() {
        if count > EVENTS {
            return raw(source, width, look);
        }
        page.event(event);
    }
    page.flush();
    for span in definitions {
        // A link elsewhere may refer to it, and blocks are laid out one by one: so its address is shown here.
        page.text(source.get(span).unwrap_or_default().trim(), look.style(Role::Dim));
        page.flush();
    }
    page.lines
}

/// Prefix of the lines of a container.
struct Lead {
    /// Before its first line, until that was drawn.
    first: Option<Span<'static>>,
    rest: Span<'static>,
    /// Copied form of the first prefix.
    copied: String,
}

/// A link that is open.
struct MarkdownLink {
    kind: LinkType,
    url: String,
    /// First span of its text in the line.
    from: usize,
}

struct Page<'a> {
    width: usize,
    look: &'a ChatStyle<'a>,
    lines: Vec<LaidOutLine>,
    /// The number of the next block of code.
    blocks: u32,
    /// Links of the line, by span.
    marks: Vec<LinkMark>,
    leads: Vec<Lead>,
    /// Containers beyond [`DEPTH`].
    deeper: usize,
    spans: Vec<Span<'static>>,
    styles: Vec<Style>,
    /// The next number of each open list; `None` for bullets.
    lists: Vec<Option<u64>>,
    links: Vec<MarkdownLink>,
    table: Option<Table>,
    code: Option<(String, String)>,
    html: Option<String>,
    /// A blank line stands before the next block of this container.
    gap: bool,
}

impl<'a> Page<'a> {
    fn new(width: usize, look: &'a ChatStyle<'a>) -> Self {
        Self {
            width,
            look,
            lines: Vec::new(),
            blocks: 0,
            marks: Vec::new(),
            leads: Vec::new(),
            deeper: 0,
            spans: Vec::new(),
            styles: vec![look.style(Role::Text)],
            lists: Vec::new(),
            links: Vec::new(),
            table: None,
            code: None,
            html: None,
            gap: false,
        }
    }

    /// A table of data, its title above it and what is left out below.
    fn data(&mut self, table: &DataTable, first: &[Span<'static>], rest: &[Span<'static>]) {
        let text = |text: &str, role: Role| Span::styled(text.to_owned(), self.look.style(role));
        let cell = |said: &str| Cell { spans: vec![text(said, Role::Text)], marks: Vec::new() };
        let side = |figures: bool| if figures { Alignment::Right } else { Alignment::None };
        let mut grid = Table::new(table.columns.iter().map(|column| side(column.figures)).collect());
        grid.rows.push(table.columns.iter().map(|column| cell(&column.name)).collect());
        grid.rows.extend(table.rows.iter().map(|row| row.iter().map(|one| cell(one)).collect()));
        let mut lead = first;
        if !table.title.is_empty() {
            let title = [text(&table.title, Role::Bold)];
            self.lines.extend(
                laid_out(&title, self.width, lead, rest, Fold::Words, Source::default())
                    .into_iter()
                    .map(|(laid_line, _)| laid_line),
            );
            lead = rest;
        }
        self.lines.extend(grid.lines(self.width, lead, rest, self.look));
        if table.more > 0 {
            let more = [text(&table.rest(), Role::Dim)];
            self.lines.extend(
                laid_out(&more, self.width, rest, rest, Fold::Words, Source::default())
                    .into_iter()
                    .map(|(laid_line, _)| laid_line),
            );
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn push_style(&mut self, role: Role) {
        let style = self.style().patch(self.look.style(role));
        self.styles.push(style);
    }

    /// Takes the next lead of each container, and what of them is copied: the marks of lists, and what they stand in.
    fn take_leads(&mut self) -> (Vec<Span<'static>>, String) {
        let (mut spans, mut copied, mut depth) = (Vec::with_capacity(self.leads.len()), String::new(), 0);
        for lead in &mut self.leads {
            match lead.first.take() {
                Some(first) => {
                    copied.extend(std::iter::repeat_n(' ', std::mem::take(&mut depth)));
                    copied.push_str(&lead.copied);
                    spans.push(first);
                }
                None => {
                    depth += text::width(&lead.copied);
                    spans.push(lead.rest.clone());
                }
            }
        }
        (spans, copied)
    }

    fn later_leads(&self) -> Vec<Span<'static>> {
        self.leads.iter().map(|lead| lead.rest.clone()).collect()
    }

    /// Adds inline text in a style.
    fn text(&mut self, text: &str, style: Style) {
        let text = clean_line(text);
        let marked = self.marks.last().is_some_and(|mark| mark.1 == self.spans.len());
        match self.spans.last_mut() {
            Some(last) if last.style == style && self.links.is_empty() && !marked => {
                last.content.to_mut().push_str(&text)
            }
            _ => self.spans.push(Span::styled(text.into_owned(), style)),
        }
    }

    /// Ends the line of inline text.
    fn flush(&mut self) {
        if self.spans.is_empty() {
            return;
        }
        for link in &self.links {
            self.marks.push((link.from, self.spans.len(), link.url.as_str().into()));
        }
        let spans = std::mem::take(&mut self.spans);
        let marks = std::mem::take(&mut self.marks);
        let (first, prefix) = self.take_leads();
        let rest = self.later_leads();
        let source = Source { prefix: &prefix, ..Source::default() };
        let laid = laid_out(&spans, self.width, &first, &rest, Fold::Words, source).into_iter();
        self.lines.extend(laid.map(|(laid_line, origins)| linked(laid_line, &origins, &marks)));
    }

    /// Before a block: ends what stands open and keeps the distance.
    fn begin(&mut self) {
        self.flush();
        if std::mem::take(&mut self.gap) && !self.lines.is_empty() {
            let lead: String = self.later_leads().iter().map(|s| s.content.as_ref()).collect();
            let style = self.leads.iter().map(|l| l.rest.style).next().unwrap_or_default();
            let line = text::line(text::cut_with(lead.trim_end(), self.width, "").into_owned(), style);
            self.lines.push(LaidOutLine::standing_for(line, ""));
        }
    }

    fn end(&mut self) {
        self.flush();
        self.gap = true;
    }

    fn enter(&mut self, first: Option<Span<'static>>, rest: Span<'static>, copied: String) {
        if self.leads.len() < DEPTH {
            self.leads.push(Lead { first, rest, copied });
        } else {
            self.deeper += 1;
        }
    }

    fn leave(&mut self) {
        match self.deeper {
            0 => drop(self.leads.pop()),
            _ => self.deeper -= 1,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.close(tag),
            Event::Text(text) => match (&mut self.code, &mut self.html) {
                (Some((_, code)), _) => code.push_str(&text),
                (None, Some(html)) => html.push_str(&text),
                (None, None) => self.text(&text, self.style()),
            },
            Event::Code(code) => self.text(&code, self.style().patch(self.look.style(Role::Code))),
            Event::InlineMath(math) => self.math(&math, "$"),
            Event::DisplayMath(math) => self.math(&math, "$$"),
            Event::Html(html) => match &mut self.html {
                Some(block) => block.push_str(&html),
                None => self.text(&html, self.look.style(Role::Dim)),
            },
            Event::InlineHtml(html) => self.text(&html, self.look.style(Role::Dim)),
            Event::FootnoteReference(name) => self.text(&format!("[^{name}]"), self.style()),
            Event::SoftBreak | Event::HardBreak if self.table.is_some() => self.text(" ", self.style()),
            Event::SoftBreak | Event::HardBreak => {
                // Inside a link its text so far stays on the line that ends here.
                self.links.iter_mut().for_each(|link| link.from = 0);
                self.flush();
            }
            Event::Rule => {
                self.begin();
                let (leads, _) = self.take_leads();
                let mut spans = text::lead_within(&leads, self.width).to_vec();
                let room = self.width.saturating_sub(text::spans_width(&spans)).min(40);
                spans.push(Span::styled(self.look.glyph("─", "-").repeat(room), self.look.style(Role::Mark)));
                self.lines.push(LaidOutLine::standing_for(Line::from(spans), "---"));
                self.gap = true;
            }
            Event::TaskListMarker(done) => {
                let mark = if done { self.look.glyph("☑ ", "[x] ") } else { self.look.glyph("☐ ", "[ ] ") };
                let mark = Span::styled(mark, self.look.style(Role::Mark));
                let numbered = self.lists.last().is_some_and(Option::is_some);
                match self.leads.last_mut().filter(|lead| lead.first.is_some() && !numbered) {
                    // The box stands for the bullet.
                    Some(lead) => {
                        lead.rest = Span::raw(" ".repeat(mark.width()));
                        lead.first = Some(mark);
                        lead.copied = if done { "- [x] " } else { "- [ ] " }.to_owned();
                    }
                    None => self.text(&mark.content, mark.style),
                }
            }
        }
    }

    fn math(&mut self, math: &str, dollars: &str) {
        let style = self.style().patch(self.look.style(Role::Code));
        let text = format!("{dollars}{math}{dollars}");
        for (i, line) in text.split('\n').enumerate() {
            if i > 0 && self.table.is_none() {
                self.flush();
            }
            self.text(line, style);
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.begin(),
            Tag::Heading { level, .. } => {
                self.begin();
                self.push_style(match level {
                    HeadingLevel::H1 => Role::Heading,
                    HeadingLevel::H2 => Role::Heading2,
                    _ => Role::Heading3,
                });
            }
            Tag::BlockQuote(_) => {
                self.begin();
                let bar = Span::styled(self.look.glyph("▎ ", "> "), self.look.style(Role::Quote));
                self.enter(None, bar, String::new());
                self.push_style(Role::Quote);
            }
            Tag::CodeBlock(kind) => {
                self.begin();
                let info = match kind {
                    CodeBlockKind::Fenced(info) => info.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((info, String::new()));
            }
            Tag::HtmlBlock => {
                self.begin();
                self.html = Some(String::new());
            }
            Tag::List(first) => {
                if self.lists.is_empty() {
                    self.begin();
                } else {
                    self.flush();
                    self.gap = false;
                }
                self.lists.push(first);
            }
            Tag::Item => self.start_item(),
            Tag::Table(alignments) => {
                self.begin();
                self.table = Some(Table::new(alignments));
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            Tag::Emphasis => self.push_style(Role::Emphasis),
            Tag::Strong => self.push_style(Role::Bold),
            Tag::Strikethrough => {
                let style = self.style().add_modifier(Modifier::CROSSED_OUT);
                self.styles.push(style);
            }
            Tag::Link { link_type, dest_url, .. } => {
                self.push_style(Role::Link);
                self.links.push(MarkdownLink { kind: link_type, url: dest_url.to_string(), from: self.spans.len() });
            }
            Tag::Image { link_type, dest_url, .. } => {
                self.text("[image: ", self.look.style(Role::Dim));
                self.push_style(Role::Link);
                self.links.push(MarkdownLink { kind: link_type, url: dest_url.to_string(), from: self.spans.len() });
            }
            _ => {}
        }
    }

    fn close(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.end(),
            TagEnd::Heading(_) => {
                self.end();
                self.styles.pop();
                self.gap = false;
            }
            TagEnd::BlockQuote(_) => {
                self.end();
                self.styles.pop();
                self.leave();
            }
            TagEnd::CodeBlock => self.close_code(),
            TagEnd::HtmlBlock => {
                let html = self.html.take().unwrap_or_default();
                for line in html.trim_end_matches('\n').split('\n') {
                    self.text(line, self.look.style(Role::Dim));
                    self.flush();
                }
                self.gap = true;
            }
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
                self.gap = true;
            }
            TagEnd::Item => {
                if self.spans.is_empty() && self.leads.last().is_some_and(|lead| lead.first.is_some()) {
                    // An empty item still shows its mark.
                    self.text("", self.style());
                }
                self.flush();
                self.leave();
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    let (first, _) = self.take_leads();
                    let rest = self.later_leads();
                    self.lines.extend(table.lines(self.width, &first, &rest, self.look));
                }
                self.gap = true;
            }
            TagEnd::TableCell => {
                let cell = Cell { spans: std::mem::take(&mut self.spans), marks: std::mem::take(&mut self.marks) };
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => drop(self.styles.pop()),
            TagEnd::Link => {
                self.styles.pop();
                self.address();
            }
            TagEnd::Image => {
                self.styles.pop();
                let dim = self.look.style(Role::Dim);
                self.address();
                self.text("]", dim);
            }
            _ => {}
        }
    }

    fn start_item(&mut self) {
        self.flush();
        self.gap = false;
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            _ => self.look.glyph("• ", "- ").to_owned(),
        };
        let rest = Span::raw(" ".repeat(text::width(&mark)));
        let copied = mark.replace('•', "-");
        self.enter(Some(Span::styled(mark, self.look.style(Role::Mark))), rest, copied);
    }

    fn close_code(&mut self) {
        let (info, code) = self.code.take().unwrap_or_default();
        let (first, _) = self.take_leads();
        let rest = self.later_leads();
        if let Some(table) = datatable::read(&info, &code) {
            self.data(&table, &first, &rest);
            self.blocks = self.blocks.saturating_add(1);
            self.gap = true;
            return;
        }
        let label = code_label(&info, self.width, &first, self.look);
        let mut lead = if label.is_some() { &rest } else { &first };
        self.lines.extend(label);
        let mut at = CodeAt::first(self.blocks, language(&info));
        self.blocks = self.blocks.saturating_add(1);
        for line in code.trim_end_matches('\n').split('\n') {
            self.lines.extend(code_line(line, self.width, lead, self.look, &at));
            at.next();
            lead = &rest;
        }
        self.gap = true;
    }

    /// Behind the text of a link: its address, unless the text is the address.
    fn address(&mut self) {
        let Some(link) = self.links.pop() else { return };
        let shown: String =
            self.spans.get(link.from..).unwrap_or_default().iter().map(|s| s.content.as_ref()).collect();
        let url: Arc<str> = link.url.as_str().into();
        self.marks.push((link.from, self.spans.len(), Arc::clone(&url)));
        let bare = |url: &str| {
            let url = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).unwrap_or(url);
            url.trim_end_matches('/').to_owned()
        };
        if matches!(link.kind, LinkType::Autolink | LinkType::Email) || bare(&shown) == bare(&link.url) {
            return;
        }
        let address = format!(" ({})", link.url);
        let from = self.spans.len();
        self.text(&address, self.look.style(Role::Dim));
        self.marks.push((from, self.spans.len(), url));
    }
}
