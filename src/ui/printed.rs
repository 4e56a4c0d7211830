//! Markdown as text for a terminal that only prints, or for a pipe.

use super::chat::{ChatStyle, markdown_with};
use super::glyphs::GlyphSet;
use crate::theme;
use ratatui::style::Modifier;

/// Emphasis of printed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// None: the text goes into a pipe or a file.
    None,
    /// Bold, italic and underlined: the text goes to a terminal.
    Sgr,
}

/// Markdown as lines of at most `width` cells, each with its end. Sanitised.
#[must_use]
pub fn printed(markdown: &str, width: u16, marks: Marks) -> String {
    let theme = theme::load("mono", &[]).theme;
    let look = ChatStyle { theme: &theme, glyphs: GlyphSet::Unicode };
    let mut out = String::new();
    for line in markdown_with(markdown, width, &look) {
        let mut row = String::new();
        for span in &line.spans {
            let style = line.style.patch(span.style).add_modifier;
            let codes = [(Modifier::BOLD, "1"), (Modifier::ITALIC, "3"), (Modifier::UNDERLINED, "4")];
            let codes: Vec<&str> = codes.iter().filter(|(of, _)| style.contains(*of)).map(|(_, code)| *code).collect();
            if marks == Marks::None || codes.is_empty() {
                row.push_str(&span.content);
            } else {
                row.push_str(&format!("\u{1b}[{}m{}\u{1b}[0m", codes.join(";"), span.content));
            }
        }
        out.push_str(row.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_gets_plain_text_and_a_terminal_emphasis() {
        let text = "## Head\n\nOne **two** \u{1b}[31mthree.\n\n- item\n";
        let plain = printed(text, 40, Marks::None);
        assert!(plain.contains("Head\n") && plain.contains("One two") && plain.contains("• item\n"), "{plain:?}");
        assert!(!plain.contains('\u{1b}'), "{plain:?}");
        let marked = printed(text, 40, Marks::Sgr);
        assert!(marked.contains("\u{1b}[1mtwo\u{1b}[0m") && !marked.contains("\u{1b}[31m"), "{marked:?}");
    }
}
