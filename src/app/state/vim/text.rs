//! A draft as characters in one row, with the places where signs begin: what motions count in. Line breaks are
//! characters too. Positions go from 0 to the number of characters.

use unicode_segmentation::UnicodeSegmentation;

/// A draft as characters in one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    chars: Vec<char>,
    /// True where a grapheme begins; the end of the text counts as a beginning.
    begins: Vec<bool>,
}

/// Class of a character for word motions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A blank or a line break.
    Blank,
    /// A letter, a digit, an underscore.
    Word,
    /// Any other sign.
    Sign,
}

impl Text {
    /// The characters of these lines.
    #[must_use]
    pub fn new(lines: &[String]) -> Self {
        let whole = lines.join("\n");
        let mut begins = Vec::with_capacity(whole.len() + 1);
        for sign in whole.graphemes(true) {
            begins.extend(sign.chars().enumerate().map(|(n, _)| n == 0));
        }
        begins.push(true);
        Self { chars: whole.chars().collect(), begins }
    }

    /// Number of characters.
    #[must_use]
    pub fn len(&self) -> usize {
        self.chars.len()
    }

    /// True if there are no characters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chars.is_empty()
    }

    /// The position of a line and column, both from 0.
    #[must_use]
    pub fn flat(&self, row: usize, col: usize) -> usize {
        let mut at = 0;
        for _ in 0..row {
            at = (self.line_end(at) + 1).min(self.len());
        }
        (at + col).min(self.line_end(at))
    }

    /// Line and column of a position, both from 0.
    #[must_use]
    pub fn place(&self, at: usize) -> (usize, usize) {
        let at = at.min(self.len());
        let row = self.chars.iter().take(at).filter(|c| **c == '\n').count();
        (row, at - self.line_start(at))
    }

    /// The characters from `from` to before `to`.
    #[must_use]
    pub fn slice(&self, from: usize, to: usize) -> String {
        self.chars.get(from..to.min(self.len())).unwrap_or_default().iter().collect()
    }

    /// The character at a position.
    #[must_use]
    pub fn at(&self, at: usize) -> Option<char> {
        self.chars.get(at).copied()
    }

    /// Start of the line of `at`.
    #[must_use]
    pub fn line_start(&self, at: usize) -> usize {
        let before = self.chars.get(..at.min(self.len())).unwrap_or_default();
        before.iter().rposition(|c| *c == '\n').map_or(0, |n| n + 1)
    }

    /// End of the line of `at`: its line break, or the end of the text.
    #[must_use]
    pub fn line_end(&self, at: usize) -> usize {
        let behind = self.chars.get(at..).unwrap_or_default();
        behind.iter().position(|c| *c == '\n').map_or(self.len(), |n| at + n)
    }

    /// The first place of the line of `at` that is no blank, else its end.
    #[must_use]
    pub fn first_sign(&self, at: usize) -> usize {
        let (start, end) = (self.line_start(at), self.line_end(at));
        (start..end).find(|n| self.class(*n, false) != Class::Blank).unwrap_or(end)
    }

    /// Start of the grapheme after the one at `at`.
    #[must_use]
    pub fn next(&self, at: usize) -> usize {
        (at + 1..self.begins.len()).find(|n| self.begins.get(*n) == Some(&true)).unwrap_or(self.len())
    }

    /// Start of the grapheme before `at`.
    #[must_use]
    pub fn previous(&self, at: usize) -> usize {
        (0..at.min(self.len() + 1)).rev().find(|n| self.begins.get(*n) == Some(&true)).unwrap_or(0)
    }

    /// The line that is `by` lines from that of `at`, by a position in it; `None` when there is none so far away.
    #[must_use]
    pub fn line(&self, at: usize, by: isize) -> Option<usize> {
        let mut start = self.line_start(at);
        for _ in 0..by.unsigned_abs() {
            start = if by > 0 {
                Some(self.line_end(start) + 1).filter(|next| *next <= self.len())?
            } else {
                self.line_start(start.checked_sub(1)?)
            };
        }
        Some(start)
    }

    /// Caret position outside of insert mode: on a grapheme of the line, not behind its last one.
    #[must_use]
    pub fn on_a_sign(&self, at: usize) -> usize {
        let at = at.min(self.len());
        if at == self.line_end(at) && at > self.line_start(at) { self.previous(at) } else { at }
    }

    /// Class of the character at `at`. With `big` everything but blanks is a word.
    #[must_use]
    pub fn class(&self, at: usize, big: bool) -> Class {
        match self.at(at) {
            None => Class::Blank,
            Some(c) if c.is_whitespace() => Class::Blank,
            Some(_) if big => Class::Word,
            Some(c) if c.is_alphanumeric() || c == '_' || matches!(c, '\u{300}'..='\u{36f}') => Class::Word,
            Some(_) => Class::Sign,
        }
    }

    /// True if an empty line is at `at`: it counts as a word.
    fn empty_line(&self, at: usize) -> bool {
        self.line_start(at) == at && self.line_end(at) == at
    }

    /// Start of the next word.
    #[must_use]
    pub fn word(&self, at: usize, big: bool) -> usize {
        let mut to = at;
        let class = self.class(to, big);
        if class != Class::Blank {
            while to < self.len() && self.class(to, big) == class {
                to += 1;
            }
        } else if to < self.len() {
            to += 1;
        }
        while to < self.len() && self.class(to, big) == Class::Blank && !(to > at && self.empty_line(to)) {
            to += 1;
        }
        to
    }

    /// Start of the word at or before `at`.
    #[must_use]
    pub fn word_back(&self, at: usize, big: bool) -> usize {
        let mut to = at.min(self.len());
        while to > 0 && self.class(to - 1, big) == Class::Blank {
            to -= 1;
            if to < at && self.empty_line(to) {
                return to;
            }
        }
        if let Some(last) = to.checked_sub(1) {
            let class = self.class(last, big);
            while to > 0 && self.class(to - 1, big) == class && class != Class::Blank {
                to -= 1;
            }
        }
        to
    }

    /// The last character of the word at or behind `at`, or of the next one where `at` is on a last one.
    #[must_use]
    pub fn word_end(&self, at: usize, big: bool) -> usize {
        let mut to = at + 1;
        while to < self.len() && self.class(to, big) == Class::Blank {
            to += 1;
        }
        let class = self.class(to, big);
        while to + 1 < self.len() && self.class(to + 1, big) == class && class != Class::Blank {
            to += 1;
        }
        self.previous(to.min(self.len()) + 1).min(self.len().saturating_sub(1))
    }

    /// The word that `at` is in, or the blanks, within the line. With `around` the blanks behind it too, else those
    /// before it.
    #[must_use]
    pub fn word_around(&self, at: usize, around: bool) -> (usize, usize) {
        let (start, end) = (self.line_start(at), self.line_end(at));
        let class = self.class(at, false);
        let same = |n: usize, class: Class| n < end && self.class(n, false) == class;
        let mut from = at;
        while from > start && same(from - 1, class) {
            from -= 1;
        }
        let mut to = at;
        while same(to, class) {
            to += 1;
        }
        if around {
            let behind = to;
            let class = self.class(to, false);
            while same(to, class) && (class == Class::Blank || self.class(at, false) == Class::Blank) {
                to += 1;
            }
            while to == behind && from > start && self.class(from - 1, false) == Class::Blank {
                from -= 1;
            }
        }
        (from, to)
    }
}
