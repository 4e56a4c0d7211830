//! Text objects: a word, the text between quotes or brackets, and the matching bracket.

use super::text::Text;

/// Pairs of brackets.
const BRACKETS: [(char, char); 4] = [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')];

/// The brackets that a key names.
fn brackets(key: char) -> Option<(char, char)> {
    match key {
        'b' => Some(('(', ')')),
        'B' => Some(('{', '}')),
        key => BRACKETS.into_iter().find(|(open, close)| key == *open || key == *close),
    }
}

/// Range of the object that a key names at a position, end exclusive; `around` includes its surroundings.
pub(super) fn object(text: &Text, at: usize, key: char, around: bool) -> Option<(usize, usize)> {
    match key {
        'w' => Some(text.word_around(at, around)).filter(|(from, to)| to > from),
        'W' => Some(blanks_apart(text, at, around)).filter(|(from, to)| to > from),
        '"' | '\'' | '`' => quoted(text, at, key, around),
        key => {
            let (from, to) = enclosing(text, at, brackets(key)?)?;
            Some(if around { (from, to + 1) } else { inner(text, from + 1, to) })
        }
    }
}

/// Run of text between blanks.
fn blanks_apart(text: &Text, at: usize, around: bool) -> (usize, usize) {
    let (start, end) = (text.line_start(at), text.line_end(at));
    let blank = |n: usize| text.at(n).is_some_and(char::is_whitespace);
    let kind = blank(at);
    let (mut from, mut to) = (at, at);
    while from > start && blank(from - 1) == kind {
        from -= 1;
    }
    while to < end && blank(to) == kind {
        to += 1;
    }
    if around {
        let behind = to;
        while to < end && blank(to) != kind {
            to += 1;
        }
        while !kind && to == behind && from > start && blank(from - 1) {
            from -= 1;
        }
    }
    (from, to)
}

/// Between the quotes of this line that the place is in, else between the next ones.
fn quoted(text: &Text, at: usize, quote: char, around: bool) -> Option<(usize, usize)> {
    let (start, end) = (text.line_start(at), text.line_end(at));
    let escaped = |n: usize| n > start && text.at(n - 1) == Some('\\');
    let signs: Vec<usize> = (start..end).filter(|n| text.at(*n) == Some(quote) && !escaped(*n)).collect();
    let pair = signs.chunks_exact(2).find(|pair| pair.get(1).is_some_and(|close| *close >= at))?;
    let (&[from, to] | &[from, .., to]) = pair else { return None };
    if !around {
        return Some((from + 1, to));
    }
    let blank = |n: usize| text.at(n).is_some_and(|c| c.is_whitespace() && c != '\n');
    let (mut first, mut last) = (from, to + 1);
    while last < end && blank(last) {
        last += 1;
    }
    while last == to + 1 && first > start && blank(first - 1) {
        first -= 1;
    }
    Some((first, last))
}

/// The brackets around a place, that itself among them.
fn enclosing(text: &Text, at: usize, (open, close): (char, char)) -> Option<(usize, usize)> {
    let mut depth = 0usize;
    let from = (0..=at.min(text.len().saturating_sub(1))).rev().find(|n| match text.at(*n) {
        Some(c) if c == open && depth == 0 => true,
        Some(c) if c == open => {
            depth -= 1;
            false
        }
        Some(c) if c == close && *n != at => {
            depth += 1;
            false
        }
        _ => false,
    })?;
    Some((from, closing(text, from, (open, close))?))
}

/// Position of the closing bracket.
fn closing(text: &Text, from: usize, (open, close): (char, char)) -> Option<usize> {
    let mut depth = 0usize;
    (from..text.len()).find(|n| {
        match text.at(*n) {
            Some(c) if c == open => depth += 1,
            Some(c) if c == close => depth -= 1,
            _ => return false,
        }
        depth == 0
    })
}

/// Without the line breaks of brackets that have lines of their own.
fn inner(text: &Text, from: usize, to: usize) -> (usize, usize) {
    if text.at(from) != Some('\n') || to <= from + 1 {
        return (from, to);
    }
    let line = text.line_start(to);
    let blank = (line..to).all(|n| text.at(n).is_some_and(char::is_whitespace));
    if blank && line > from + 1 { (from + 1, line - 1) } else { (from + 1, to) }
}

/// The bracket that belongs to the next one of the line.
pub(super) fn partner(text: &Text, at: usize) -> Option<usize> {
    let is = |c: char| BRACKETS.into_iter().take(3).find(|(open, close)| c == *open || c == *close);
    let here = (at..text.line_end(at)).find(|n| text.at(*n).is_some_and(|c| is(c).is_some()))?;
    let c = text.at(here)?;
    let pair = is(c)?;
    if c == pair.0 { closing(text, here, pair) } else { enclosing(text, here, pair).map(|(from, _)| from) }
}
