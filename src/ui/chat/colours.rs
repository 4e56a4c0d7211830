//! Colours of code on the screen: which role a shade has, and which blocks that are seen still want colours.

use super::cache::Laid;
use super::laid_out_line::CodeAt;
use crate::app::state::chat::Entry;
use crate::domain::code::{Block, Coloured, Shade};
use crate::theme::{Role, Theme};
use ratatui::style::Style;

/// Lines of the screen that a block may have to be coloured.
const LONGEST: usize = 4_000;

/// The style of a shade: the ground stays what it is.
pub(super) fn style(shade: Shade, theme: &Theme) -> Style {
    let role = match shade {
        Shade::Keyword => Role::CodeKeyword,
        Shade::String => Role::CodeString,
        Shade::Comment => Role::CodeComment,
        Shade::Number => Role::CodeNumber,
        Shade::Type => Role::CodeType,
        Shade::Function => Role::CodeFunction,
        Shade::Constant => Role::CodeConstant,
        Shade::Heading => Role::Heading,
        Shade::Added => Role::DiffAdded,
        Shade::Removed => Role::DiffRemoved,
    };
    Style { bg: None, ..theme.style(role) }
}

/// The block of which `code` stands on line `at` of a row, if it has no colours yet or grew since.
pub(super) fn wanted(entry: &Entry, laid: &Laid, at: usize, code: &CodeAt, known: Option<&Coloured>) -> Option<Block> {
    let whole = laid.is_closed(code.block) || !entry.live;
    let done = match known {
        None => false,
        Some(known) if whole => known.whole,
        Some(known) => known.revision == entry.revision,
    };
    if done || code.lang.is_empty() {
        return None;
    }
    let of_block = |n: usize| {
        laid.line(n).and_then(|laid_line| Some((laid_line, laid_line.code.iter().find(|c| c.block == code.block)?)))
    };
    let is_code = |n: usize| laid.line(n).is_some_and(|laid_line| !laid_line.code.is_empty());
    let first = (0..at).rev().take(LONGEST).take_while(|n| is_code(*n)).last().unwrap_or(at);
    let after = (at..laid.height()).take(LONGEST).take_while(|n| is_code(*n)).last().map_or(at, |n| n + 1);
    let mut text = String::new();
    if after - first < LONGEST {
        let mut line = 0;
        for (laid_line, code) in (first..after).filter_map(of_block) {
            // What is not on the screen (folded away, or told apart by its colour) leaves its lines empty.
            while line < code.line {
                text.push('\n');
                line += 1;
            }
            text.push_str(&laid_line.code_text(code));
        }
    }
    let lang = code.lang.to_string();
    Some(Block { key: entry.key, number: code.block, lang, text, whole, revision: entry.revision })
}
