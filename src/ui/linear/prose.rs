//! Markdown as plain lines that can be read by ear: words in place of signs, one row of a table after the other, code as it
//! is. Text that still grows is taken by finished blocks, and no line is taken twice.

use crate::domain::datatable;
use crate::domain::sanitise::{clean, clean_line, clean_message};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use std::borrow::Cow;

/// Reading position in a growing text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Prose {
    /// Bytes that were taken.
    at: usize,
    /// Closing fence of the open block of code.
    fence: Option<Fence>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Fence {
    sign: char,
    length: usize,
    indent: usize,
}

impl Fence {
    /// The fence that a line begins, and the language behind it.
    fn begun(line: &str) -> Option<(Self, &str)> {
        let text = line.trim_start();
        let sign = text.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
        let length = text.chars().take_while(|c| *c == sign).count();
        let rest = text.trim_start_matches(sign).trim();
        // A line of inline code is no fence.
        let fence = Self { sign, length, indent: line.len() - text.len() };
        (length >= 3 && !(sign == '`' && rest.contains('`'))).then_some((fence, rest))
    }

    fn is_ended_by(&self, line: &str) -> bool {
        let text = line.trim();
        text.len() >= self.length && text.chars().all(|c| c == self.sign)
    }
}

impl Prose {
    /// The lines of what was finished since the last time; all of the rest when the text is `over`.
    pub fn take(&mut self, text: &str, over: bool) -> Vec<String> {
        let mut out = Vec::new();
        // A text that is not the one that grew is read from its end on.
        self.at = text.floor_char_boundary(self.at.min(text.len()));
        let mut block = String::new();
        let mut read = self.at;
        for line in text[self.at..].split_inclusive('\n') {
            if !line.ends_with('\n') && !over {
                break;
            }
            read += line.len();
            let bare = line.trim_end_matches(['\n', '\r']);
            if let Some(fence) = &self.fence {
                if fence.is_ended_by(bare) {
                    self.fence = None;
                    out.push("end of code".to_owned());
                } else {
                    let blanks = bare.len() - bare.trim_start_matches(' ').len();
                    out.push(clean(&bare[blanks.min(fence.indent)..]).into_owned());
                }
                self.at = read;
            } else if let Some((fence, language)) = Fence::begun(bare) {
                out.extend(lines(&std::mem::take(&mut block)));
                out.push(match language.split([' ', '{', ',']).next().unwrap_or_default() {
                    "" => "code:".to_owned(),
                    language => format!("code, {}:", clean_line(language)),
                });
                self.fence = Some(fence);
                self.at = read;
            } else if bare.trim().is_empty() {
                out.extend(lines(&std::mem::take(&mut block)));
                self.at = read;
            } else {
                block.push_str(line);
                // A heading is whole with its line.
                if block == line && bare.starts_with('#') {
                    out.extend(lines(&std::mem::take(&mut block)));
                    self.at = read;
                }
            }
        }
        if over {
            out.extend(lines(&block));
            if self.fence.take().is_some() {
                out.push("end of code".to_owned());
            }
            self.at = text.len();
        }
        for line in &mut out {
            // Also what a reference like `&#27;` stands for.
            *line = harmless(line);
        }
        out
    }
}

/// One line in which no terminal finds anything to do; tabs stay.
pub(super) fn harmless(line: &str) -> String {
    if !line.chars().any(|c| c.is_control() && c != '\t') {
        return clean(line).replace('\n', " ");
    }
    clean(line).chars().map(|c| if c == '\n' { ' ' } else { c }).filter(|c| !c.is_control() || *c == '\t').collect()
}

/// A whole text as lines.
pub(super) fn whole(markdown: &str) -> Vec<String> {
    Prose::default().take(markdown, true)
}

/// Context of a run of text.
#[derive(Default)]
struct Reading {
    out: Vec<String>,
    /// The line that is being put together.
    line: String,
    /// The numbers of the lists around, `None` for those without.
    lists: Vec<Option<u64>>,
    /// Prefix of the next line of an item.
    item: Option<String>,
    quotes: usize,
    /// Start of each link's text, and its target.
    links: Vec<(usize, String)>,
    heads: Vec<String>,
    cells: Vec<String>,
    row: usize,
    /// In a block of code, where blanks count.
    code: bool,
}

impl Reading {
    fn say(&mut self, text: &str) {
        self.line.push_str(text);
    }

    /// Ends the line.
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.line);
        if self.code {
            return self.out.push(text);
        }
        let text = text.trim();
        if text.is_empty() && self.item.is_none() {
            return;
        }
        let depth = self.lists.len().saturating_sub(1);
        let lead = match self.item.take() {
            Some(item) => format!("{}{item}", "  ".repeat(depth)),
            None if !self.lists.is_empty() => "  ".repeat(depth + 1),
            None => String::new(),
        };
        let quote = if self.quotes > 0 { "quote: " } else { "" };
        self.out.push(format!("{quote}{lead}{text}").trim_end().to_owned());
    }
}

/// A finished block of markdown as lines.
fn lines(block: &str) -> Vec<String> {
    if block.trim().is_empty() {
        return Vec::new();
    }
    let unfolded = datatable::unfolded(block);
    let block: Cow<'_, str> = clean_message(&unfolded);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut r = Reading::default();
    for event in Parser::new_ext(&block, options) {
        match event {
            Event::Start(tag) => start(&mut r, tag),
            Event::End(tag) => end(&mut r, tag),
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                let mut parts = text.split('\n');
                r.say(parts.next().unwrap_or_default());
                for part in parts {
                    r.flush();
                    r.say(part);
                }
            }
            Event::SoftBreak => r.say(" "),
            Event::HardBreak => r.flush(),
            Event::Rule => r.out.push("section break".to_owned()),
            Event::TaskListMarker(done) => r.say(if done { "done: " } else { "to do: " }),
            Event::FootnoteReference(name) => r.say(&format!("[{name}]")),
            Event::InlineMath(text) | Event::DisplayMath(text) => r.say(&text),
        }
    }
    r.flush();
    r.out
}

fn start(r: &mut Reading, tag: Tag<'_>) {
    match tag {
        Tag::Heading { level, .. } => {
            r.flush();
            r.say(if level == HeadingLevel::H1 { "heading: " } else { "subheading: " });
        }
        Tag::BlockQuote(_) => {
            r.flush();
            r.quotes += 1;
        }
        Tag::CodeBlock(kind) => {
            r.flush();
            r.out.push(match kind {
                CodeBlockKind::Fenced(language) if !language.is_empty() => format!("code, {language}:"),
                _ => "code:".to_owned(),
            });
            r.code = true;
        }
        Tag::List(first) => {
            r.flush();
            r.lists.push(first);
        }
        Tag::Item => {
            r.flush();
            r.item = Some(match r.lists.last_mut() {
                Some(Some(number)) => {
                    *number += 1;
                    format!("{}. ", *number - 1)
                }
                _ => "- ".to_owned(),
            });
        }
        Tag::Table(_) => {
            r.flush();
            r.row = 0;
            r.heads.clear();
        }
        Tag::TableRow | Tag::TableHead => r.cells.clear(),
        Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
            let at = r.line.len();
            r.links.push((at, dest_url.into_string()));
        }
        Tag::Paragraph if r.item.is_none() => r.flush(),
        _ => {}
    }
}

fn end(r: &mut Reading, tag: TagEnd) {
    match tag {
        TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::HtmlBlock => r.flush(),
        TagEnd::CodeBlock => {
            // Every line of it ended already.
            r.line.clear();
            r.code = false;
            r.out.push("end of code".to_owned());
        }
        TagEnd::BlockQuote(_) => {
            r.flush();
            r.quotes = r.quotes.saturating_sub(1);
        }
        TagEnd::List(_) => {
            r.flush();
            r.lists.pop();
        }
        TagEnd::TableCell => {
            let cell = std::mem::take(&mut r.line);
            r.cells.push(cell.trim().to_owned());
        }
        TagEnd::TableHead => {
            r.heads = std::mem::take(&mut r.cells);
            r.out.push(format!("table, columns: {}", r.heads.join(", ")));
        }
        TagEnd::TableRow => {
            r.row += 1;
            let cells = std::mem::take(&mut r.cells);
            let said = cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty()).map(|(n, cell)| {
                match r.heads.get(n).filter(|head| !head.is_empty()) {
                    Some(head) => format!("{head}: {cell}"),
                    None => cell.clone(),
                }
            });
            let said = said.collect::<Vec<_>>().join("; ");
            r.out.push(format!("row {}: {said}", r.row));
        }
        TagEnd::Table => r.out.push("end of table".to_owned()),
        TagEnd::Link => {
            if let Some((at, url)) = r.links.pop()
                && r.line.get(at..).is_some_and(|text| text.trim() != url && format!("mailto:{}", text.trim()) != url)
            {
                r.say(&format!(" ({url})"));
            }
        }
        TagEnd::Image => {
            if let Some((at, url)) = r.links.pop() {
                let text = r.line.split_off(at.min(r.line.len()));
                r.say(&format!("image {} ({url})", text.trim()));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "# Plan\n\nFirst *this* and `that`,\nthen [more](https://x.org/a).\n\n- one\n  - two **bold**\n- [x] three\n\n\
        1. a\n2. b\n\n| Name | Size |\n|---|---:|\n| a.rs | 12 |\n| b.rs | |\n\n> said\n\n```rust\nfn main() {\n\n    x();\n}\n```\n\n---\nend";

    #[test]
    fn markdown_is_words() {
        let want = [
            "heading: Plan",
            "First this and that, then more (https://x.org/a).",
            "- one",
            "  - two bold",
            "- done: three",
            "1. a",
            "2. b",
            "table, columns: Name, Size",
            "row 1: Name: a.rs; Size: 12",
            "row 2: Name: b.rs",
            "end of table",
            "quote: said",
            "code, rust:",
            "fn main() {",
            "",
            "    x();",
            "}",
            "end of code",
            "section break",
            "end",
        ];
        assert_eq!(whole(TEXT), want);
    }

    #[test]
    fn a_growing_text_is_taken_by_finished_blocks() {
        let mut prose = Prose::default();
        assert_eq!(prose.take("One line\nand", false), Vec::<String>::new());
        assert_eq!(prose.take("One line\nand more\n\nnext", false), ["One line and more"]);
        assert_eq!(prose.take("One line\nand more\n\nnext", true), ["next"]);
        assert_eq!(prose.take("One line\nand more\n\nnext", true), Vec::<String>::new());
    }

    #[test]
    fn nothing_acts_on_the_terminal() {
        let said = whole("a \u{1b}[2Jb\u{1b}]0;t\u{7}\n\n```\n\u{9b}31m\u{1b}c\u{8}x\n```").join("\n");
        assert!(!said.chars().any(|c| c.is_control() && c != '\n'), "{said:?}");
    }

    proptest! {
        #[test]
        fn pieces_give_the_same_lines_as_the_whole(cuts in proptest::collection::vec(0..TEXT.len(), 0..8)) {
            let (mut cuts, mut prose, mut out) = (cuts, Prose::default(), Vec::new());
            cuts.sort_unstable();
            for cut in cuts {
                out.extend(prose.take(&TEXT[..cut], false));
            }
            out.extend(prose.take(TEXT, true));
            prop_assert_eq!(out, whole(TEXT));
        }

        #[test]
        fn no_text_makes_it_fail(text in "(\\PC|\n|`{1,4}|~~~|\\| |#|- |1\\. |> |\u{1b}|\t){0,60}") {
            for line in whole(&text) {
                prop_assert!(!line.contains('\u{1b}') && !line.contains('\n'), "{:?}", line);
            }
        }
    }
}
