//! Preselection of the lines that can match a query, from their bytes without parsing them.
//!
//! A line's bytes are folded as they are ([`crate::domain::fold`]), and the longest pieces of each word are looked for in
//! that. A piece has none of the characters that JSON writes in another way than they are: quotes, backslashes,
//! slashes, blanks and control characters, nor those between values, because an input that is no text is searched as
//! JSON that was written anew. So a text that holds the word comes from a line that holds its pieces, unless the line
//! spells characters as `\u00e9`, or a path as `{{SESSION_PATH}}`: such a line always passes. (Of numbers
//! in a result that is no text, only those are found that stand there as JSON would write them.)

use crate::domain::fold;
use crate::domain::query::{Query, QueryWord};
use crate::domain::search_hit::HitIn;
use crate::store::format::row;
use memchr::memmem::Finder;
use std::path::Path;

/// Number of pieces of a word that are searched.
const PIECES: usize = 3;
/// A row that is wanted for its tool or its file, as a bit.
const ROW: u64 = 1 << 62;
/// A word that must not be there.
const WITHOUT: u64 = 1 << 63;
/// The token for the session's directory, folded.
const TOKEN: &[u8] = b"{{session_path}}";

/// Pieces of one word. All of them are in a line that holds the word.
#[derive(Debug)]
struct Pieces(Vec<Finder<'static>>);

impl Pieces {
    fn new(folded: &[u8]) -> Self {
        // U+FFFD stands for bytes that are no text.
        let text = String::from_utf8_lossy(folded);
        let mut pieces: Vec<&str> = text
            .split(|c: char| c.is_control() || " \"\\/{}[]:,\u{fffd}".contains(c))
            .filter(|p| !p.is_empty())
            .collect();
        pieces.sort_by_key(|piece| std::cmp::Reverse(piece.len()));
        pieces.dedup();
        // A single letter beside a longer piece only costs time.
        let long = pieces.iter().take(PIECES).enumerate().filter(|(n, piece)| *n == 0 || piece.len() > 1);
        Self(long.map(|(_, piece)| Finder::new(piece.as_bytes()).into_owned()).collect())
    }

    fn may_be_in(&self, folded: &[u8]) -> bool {
        self.0.iter().all(|piece| piece.find(folded).is_some())
    }

    /// A piece can be part of the path that the token stands for, or reach out of its end.
    fn may_be_of(&self, dir: &[u8]) -> bool {
        self.0.is_empty()
            || self.0.iter().map(Finder::needle).any(|piece| {
                memchr::memmem::find(dir, piece).is_some() || (1..piece.len()).any(|n| dir.ends_with(&piece[..n]))
            })
    }
}

/// The sieve of one query.
#[derive(Debug)]
pub(super) struct Sieve {
    words: Vec<Pieces>,
    without: Vec<Pieces>,
    /// Pieces that a row must have: one of each group.
    row: Vec<Vec<Pieces>>,
    wants_rows: bool,
    escape: Finder<'static>,
    token: Finder<'static>,
    all: u64,
}

impl Sieve {
    pub(super) fn new(query: &Query) -> Self {
        let pieces = |words: &[QueryWord]| words.iter().map(|word| Pieces::new(&word.folded)).collect();
        let mut row = Vec::new();
        if !query.places.is_empty() {
            let kinds = query.places.iter().filter_map(|place| match place {
                HitIn::User => Some("user"),
                HitIn::Assistant => Some("assistant"),
                HitIn::Tool => Some("tool"),
                HitIn::Title | HitIn::Id | HitIn::Label | HitIn::Other => None,
            });
            row.push(kinds.map(|kind| Pieces::new(kind.as_bytes())).collect());
        }
        let tools = query.tools.iter().filter(|named| !named.not);
        let names = tools.flat_map(|named| [named.name.as_str(), row::craft_tool(&named.name)]);
        row.push(names.map(|name| Pieces::new(&fold::fold(name))).collect::<Vec<_>>());
        let files = query.files.iter().filter(|named| !named.not);
        row.push(files.map(|named| Pieces::new(&named.word.folded)).collect());
        row.retain(|group| !group.is_empty());
        let words: Vec<Pieces> = pieces(&query.words);
        let wants_rows = words.is_empty() && query.only_rows();
        let mut all = query.all();
        if wants_rows {
            all |= ROW;
        }
        if !query.without.is_empty() {
            all |= WITHOUT;
        }
        Self {
            words,
            without: pieces(&query.without),
            row,
            wants_rows,
            escape: Finder::new(b"\\u"),
            token: Finder::new(TOKEN),
            all,
        }
    }

    /// Lines with the token may hold what is searched in a session that lies there.
    pub(super) fn minds_token(&self, dir: &Path) -> bool {
        let dir = fold::fold(&dir.to_string_lossy());
        let row = self.row.iter().flatten();
        self.words.iter().chain(&self.without).chain(row).any(|pieces| pieces.may_be_of(&dir))
    }

    /// Words that a line may contain, as bits in their order, and other bits for other reasons to
    /// look at it; 0: none.
    pub(super) fn bits(&self, folded: &[u8], minds_token: bool) -> u64 {
        if self.is_spelled(folded) || (minds_token && self.token.find(folded).is_some()) {
            return self.all;
        }
        if !self.row.iter().all(|group| group.iter().any(|pieces| pieces.may_be_in(folded))) {
            return 0;
        }
        let mut bits = if self.wants_rows { ROW } else { 0 };
        for (n, pieces) in self.words.iter().enumerate() {
            if pieces.may_be_in(folded) {
                bits |= 1 << n;
            }
        }
        if self.without.iter().any(|pieces| pieces.may_be_in(folded)) {
            bits |= WITHOUT;
        }
        bits
    }

    /// A character is written as `\uXXXX`, other than control characters: those are in no piece.
    fn is_spelled(&self, folded: &[u8]) -> bool {
        self.escape.find_iter(folded).any(|at| {
            let before = folded[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
            before % 2 == 0 && !matches!(folded.get(at + 2..at + 5), Some(b"000" | b"001"))
        })
    }
}
