//! Texts being written: [`Line`] for one line, [`Editor`] for several. Both step by what the reader sees as one character,
//! and both know readline's verbs. The several-line one is `tui_textarea` without any of its own keys.

use crate::keymap::action::ComposerAction as Verb;
use std::collections::VecDeque;
use tui_textarea::{CursorMove, TextArea, WrapMode};
use unicode_segmentation::UnicodeSegmentation;

/// Effect of a verb on a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// The text changed.
    Changed,
    /// The caret moved, nothing else.
    Moved,
    /// Nothing: the caret was at an edge, or the verb is not one of editing.
    Nothing,
}

/// Characters of the last grapheme of `text`.
fn last_len(text: &str) -> usize {
    text.graphemes(true).next_back().map_or(0, |g| g.chars().count())
}

/// Characters of the first grapheme of `text`.
fn first_len(text: &str) -> usize {
    text.graphemes(true).next().map_or(0, |g| g.chars().count())
}

/// Characters from the end of `before` back over the word that ends it; `fits` says what belongs to a word.
fn word_before(before: &str, fits: impl Fn(char) -> bool) -> usize {
    let kept = before.trim_end_matches(|c| !fits(c)).trim_end_matches(&fits);
    before[kept.len()..].chars().count()
}

/// Characters from the start of `after` to the end of its first word.
fn word_after(after: &str) -> usize {
    let rest = after.trim_start_matches(|c| !of_word(c)).trim_start_matches(of_word);
    after[..after.len() - rest.len()].chars().count()
}

fn of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || matches!(c, '\u{300}'..='\u{36f}')
}

fn not_blank(c: char) -> bool {
    !c.is_whitespace()
}

fn byte_of(text: &str, chars: usize) -> usize {
    text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at)
}

/// One line of text with a caret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    text: String,
    /// In bytes, between graphemes.
    caret: usize,
    killed: String,
    /// All of it is selected: what is typed takes its place.
    selected: bool,
}

impl Line {
    /// Selects the text: the first key that writes takes its place, any other one leaves it.
    pub fn select(&mut self) {
        self.selected = !self.text.is_empty();
        self.caret = self.text.len();
    }

    /// True while all of it is selected.
    #[must_use]
    pub fn is_selected(&self) -> bool {
        self.selected
    }

    /// This text with the caret at its end. Line breaks become blanks.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut line = Self::default();
        line.insert(text);
        line
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The caret as an offset in bytes into the text.
    #[must_use]
    pub fn caret(&self) -> usize {
        self.caret
    }

    /// Inserts a text at the caret; line breaks become blanks, other control characters go.
    pub fn insert(&mut self, text: &str) {
        if std::mem::take(&mut self.selected) {
            self.killed = self.cut(0, self.text.len());
        }
        let clean: String = text
            .replace("\r\n", "\n")
            .chars()
            .map(|c| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c })
            .filter(|c| !c.is_control())
            .collect();
        self.text.insert_str(self.caret, &clean);
        self.caret += clean.len();
    }

    fn cut(&mut self, from: usize, to: usize) -> String {
        let cut: String = self.text.drain(from..to).collect();
        self.caret = from;
        cut
    }

    /// Does one of the verbs that edit.
    pub fn edit(&mut self, verb: Verb) -> Done {
        if std::mem::take(&mut self.selected) && matches!(verb, Verb::Backspace | Verb::Delete | Verb::KillWord) {
            self.killed = self.cut(0, self.text.len());
            return Done::Changed;
        }
        let (before, after) = self.text.split_at(self.caret);
        let back = |chars: usize| byte_of(before, before.chars().count() - chars);
        let on = |chars: usize| self.caret + byte_of(after, chars);
        let target = match verb {
            Verb::Left | Verb::Backspace => back(last_len(before)),
            Verb::Right | Verb::Delete => on(first_len(after)),
            Verb::LineStart | Verb::KillToStart => 0,
            Verb::LineEnd | Verb::KillToEnd => self.text.len(),
            Verb::WordBack => back(word_before(before, of_word)),
            Verb::KillWord => back(word_before(before, not_blank)),
            Verb::WordForward | Verb::KillWordForward => on(word_after(after)),
            Verb::Yank => {
                let killed = std::mem::take(&mut self.killed);
                self.insert(&killed);
                let done = if killed.is_empty() { Done::Nothing } else { Done::Changed };
                self.killed = killed;
                return done;
            }
            _ => return Done::Nothing,
        };
        if target == self.caret {
            return Done::Nothing;
        }
        let (from, to) = (target.min(self.caret), target.max(self.caret));
        match verb {
            Verb::Backspace | Verb::Delete => {
                self.cut(from, to);
                Done::Changed
            }
            Verb::KillToStart | Verb::KillToEnd | Verb::KillWord | Verb::KillWordForward => {
                self.killed = self.cut(from, to);
                Done::Changed
            }
            _ => {
                self.caret = target;
                Done::Moved
            }
        }
    }
}

/// Number of deleted texts that are kept.
const RING: usize = 60;

/// Number of whole-text replacements that can be undone.
const WHOLES: usize = 16;

/// Several lines of text with a caret, undo and soft wrap.
#[derive(Clone, Debug)]
pub struct Editor {
    area: TextArea<'static>,
    /// Texts deleted by verbs that keep them, newest last.
    ring: Vec<String>,
    /// The last verb was one of them: the next one adds to what it kept.
    kills: bool,
    /// Text put back by the last verb: its start, its length, and its index in `ring`.
    yanked: Option<((usize, usize), usize, usize)>,
    /// Start of the selection.
    mark: Option<(usize, usize)>,
    /// Texts that were replaced as a whole, with what came in their place: for the widget that is two steps, for the user one.
    wholes: VecDeque<(String, String)>,
}

impl Default for Editor {
    fn default() -> Self {
        Self::new("")
    }
}

impl Editor {
    /// This text with the caret at its end and nothing to undo.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut area = TextArea::new(text.split('\n').map(str::to_owned).collect());
        area.set_wrap_mode(WrapMode::WordOrGlyph);
        area.set_max_histories(500);
        // The real cursor stands at the caret; the widget paints none.
        area.set_cursor_style(Default::default());
        area.set_cursor_line_style(Default::default());
        area.move_cursor(CursorMove::Bottom);
        area.move_cursor(CursorMove::End);
        Self { area, ring: Vec::new(), kills: false, yanked: None, mark: None, wholes: VecDeque::new() }
    }

    /// An empty text that still knows what was deleted.
    #[must_use]
    pub fn renewed(&self) -> Self {
        Self { ring: self.ring.clone(), ..Self::default() }
    }

    /// The widget, for drawing.
    #[must_use]
    pub fn area(&self) -> &TextArea<'static> {
        &self.area
    }

    /// The lines.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        self.area.lines()
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    /// True if there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self.area.lines(), [] | [_]) && self.area.lines().iter().all(String::is_empty)
    }

    /// Line and column of the caret, in characters from 0.
    #[must_use]
    pub fn caret(&self) -> (usize, usize) {
        let caret = self.area.cursor();
        (caret.0, caret.1)
    }

    /// The caret's line, before and after the caret.
    #[must_use]
    pub fn around(&self) -> (&str, &str) {
        let (row, col) = self.caret();
        let line = self.area.lines().get(row).map_or("", String::as_str);
        line.split_at(byte_of(line, col))
    }

    /// Puts the caret there; past the end means at the end.
    pub fn place(&mut self, row: usize, col: usize) {
        let row = row.min(self.lines().len().saturating_sub(1));
        let col = col.min(self.lines().get(row).map_or(0, |line| line.chars().count()));
        let short = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        self.area.move_cursor(CursorMove::Jump(short(row), short(col)));
        // The widget jumps no further than a u16 counts.
        while self.caret().1 < col && self.caret().0 == row {
            let before = self.caret();
            self.area.move_cursor(CursorMove::Forward);
            if self.caret() == before {
                break;
            }
        }
    }

    /// Inserts a text at the caret, as one step of undo.
    pub fn insert(&mut self, text: &str) {
        (self.kills, self.yanked, self.mark) = (false, None, None);
        self.area.insert_str(text);
    }

    /// Replaces `chars` characters from there on, line breaks among them, by a text.
    pub fn splice(&mut self, (row, col): (usize, usize), chars: usize, text: &str) {
        (self.kills, self.yanked, self.mark) = (false, None, None);
        self.place(row, col);
        if chars > 0 {
            self.area.delete_str(chars);
        }
        if !text.is_empty() {
            self.area.insert_str(text);
        }
    }

    /// Selection: positions of its first character and behind its last one.
    #[must_use]
    pub fn marked(&self) -> Option<((usize, usize), (usize, usize))> {
        let (mark, caret) = (self.mark?, self.caret());
        Some((mark.min(caret), mark.max(caret)))
    }

    /// Nothing is marked any more. Whether something was.
    pub fn unmark(&mut self) -> bool {
        self.mark.take().is_some()
    }

    /// The characters between two places.
    fn between(&self, (from, to): ((usize, usize), (usize, usize))) -> String {
        let mut out = String::new();
        for row in from.0..=to.0 {
            let Some(line) = self.lines().get(row) else { break };
            let start = if row == from.0 { from.1 } else { 0 };
            let end = if row == to.0 { to.1 } else { usize::MAX };
            if row > from.0 {
                out.push('\n');
            }
            out.extend(line.chars().take(end).skip(start));
        }
        out
    }

    /// Keeps what was deleted; what deletions right after one another take is one text.
    fn keep(&mut self, text: String, more: bool, before: bool) {
        match self.ring.last_mut().filter(|_| more) {
            Some(last) if before => last.insert_str(0, &text),
            Some(last) => last.push_str(&text),
            None => {
                self.ring.push(text);
                if self.ring.len() > RING {
                    self.ring.remove(0);
                }
            }
        }
        self.kills = true;
    }

    /// Puts the text at this place of the ring in at the caret.
    fn put_back(&mut self, at: usize) -> Done {
        let Some(text) = self.ring.get(at).cloned() else { return Done::Nothing };
        let from = self.caret();
        self.insert(&text);
        self.yanked = Some((from, text.chars().count(), at));
        changed(!text.is_empty())
    }

    /// The verbs of what is marked, and of the ring. `None`: it is another one.
    fn edit_marked(&mut self, verb: Verb, more: bool, yanked: Option<((usize, usize), usize, usize)>) -> Option<Done> {
        Some(match verb {
            Verb::Mark => {
                self.mark = if self.mark.is_some() { None } else { Some(self.caret()) };
                Done::Moved
            }
            Verb::MarkAll => {
                self.area.move_cursor(CursorMove::Bottom);
                self.area.move_cursor(CursorMove::End);
                self.mark = Some((0, 0));
                Done::Moved
            }
            Verb::MarkSwap => {
                let there = self.mark.replace(self.caret())?;
                self.place(there.0, there.1);
                Done::Moved
            }
            Verb::MarkCopy => {
                let range = self.marked()?;
                let text = self.between(range);
                self.keep(text, false, false);
                (self.mark, self.kills) = (None, false);
                Done::Moved
            }
            Verb::MarkCut => {
                let range = self.marked()?;
                let text = self.between(range);
                self.splice(range.0, text.chars().count(), "");
                let cut = !text.is_empty();
                self.keep(text, more, false);
                changed(cut)
            }
            Verb::Yank => self.put_back(self.ring.len().checked_sub(1)?),
            Verb::YankPop => {
                let (from, chars, at) = yanked?;
                self.splice(from, chars, "");
                self.put_back(at.checked_sub(1).unwrap_or(self.ring.len() - 1))
            }
            Verb::First | Verb::Last => {
                let before = self.caret();
                if verb == Verb::First {
                    self.place(0, 0);
                } else {
                    self.area.move_cursor(CursorMove::Bottom);
                    self.area.move_cursor(CursorMove::End);
                }
                if self.caret() == before { Done::Nothing } else { Done::Moved }
            }
            _ => return None,
        })
    }

    /// Replaces the whole text as one step of undo; the caret goes to the end.
    pub fn replace(&mut self, text: &str) {
        if !self.is_empty() && !text.is_empty() {
            self.wholes.push_back((self.text(), text.to_owned()));
            if self.wholes.len() > WHOLES {
                self.wholes.pop_front();
            }
        }
        self.area.clear();
        if !text.is_empty() {
            self.area.insert_str(text);
        }
        self.area.move_cursor(CursorMove::Bottom);
        self.area.move_cursor(CursorMove::End);
    }

    /// True if the current text is this side of a replacement.
    fn is_whole(&self, side: impl Fn(&(String, String)) -> &String) -> bool {
        let text = self.text();
        self.wholes.iter().any(|whole| *side(whole) == text)
    }

    /// Deletes `chars` characters of this line from column `col` on, and tells them.
    pub fn cut(&mut self, row: usize, col: usize, chars: usize) -> String {
        let cut = self.area.lines().get(row).map(|line| line.chars().skip(col).take(chars).collect::<String>());
        self.place(row, col);
        self.area.delete_str(chars);
        cut.unwrap_or_default()
    }

    /// Does one of the verbs that edit. `Up` and `Down` follow the wrapped lines; at an edge they do nothing.
    pub fn edit(&mut self, verb: Verb) -> Done {
        let more = std::mem::take(&mut self.kills);
        let yanked = self.yanked.take();
        if let Some(done) = self.edit_marked(verb, more, yanked) {
            return done;
        }
        // Without a mark it is the word before the caret, as in readline.
        let verb = if verb == Verb::MarkCut { Verb::KillWord } else { verb };
        let done = self.edit_plain(verb, more);
        if done == Done::Changed {
            self.mark = None;
        }
        done
    }

    fn edit_plain(&mut self, verb: Verb, more: bool) -> Done {
        let (row, col) = self.caret();
        let (before, after) = self.around();
        let ended = after.is_empty();
        let last_row = row + 1 >= self.lines().len();
        match verb {
            Verb::Up => return self.go(CursorMove::Up),
            Verb::Down => return self.go(CursorMove::Down),
            Verb::Newline => {
                self.area.insert_newline();
                return Done::Changed;
            }
            Verb::Transpose => {
                // At the end of a line it is the two before it.
                let at = if ended { col - last_len(before) } else { col };
                let first = last_len(before.get(..byte_of(before, at)).unwrap_or(before));
                let second = if ended { last_len(before) } else { first_len(after) };
                if first == 0 || second == 0 {
                    return Done::Nothing;
                }
                let line = self.lines().get(row).cloned().unwrap_or_default();
                let part = |from: usize, len: usize| line.chars().skip(from).take(len).collect::<String>();
                let swapped = part(at, second) + &part(at - first, first);
                self.splice((row, at - first), first + second, &swapped);
                return Done::Changed;
            }
            Verb::Upper | Verb::Lower | Verb::Capital => {
                let len = word_after(after);
                let word: String = after.chars().take(len).collect();
                let small = word.to_lowercase();
                let with = match verb {
                    Verb::Upper => word.to_uppercase(),
                    Verb::Lower => small,
                    _ => {
                        let mut begun = false;
                        let capital = |c: char| -> String {
                            if begun || !of_word(c) {
                                return c.to_string();
                            }
                            begun = true;
                            c.to_uppercase().collect()
                        };
                        small.chars().map(capital).collect()
                    }
                };
                if len == 0 {
                    return Done::Nothing;
                }
                self.splice((row, col), len, &with);
                return Done::Changed;
            }
            Verb::Undo => {
                let replaced = self.is_whole(|(_, after)| after);
                let undone = self.area.undo();
                // Between the two steps there was nothing that the user ever saw.
                if replaced && self.is_empty() {
                    self.area.undo();
                }
                return changed(undone);
            }
            Verb::Redo => {
                let replaced = self.is_whole(|(before, _)| before);
                let redone = self.area.redo();
                if replaced && self.is_empty() {
                    self.area.redo();
                }
                return changed(redone);
            }
            _ => {}
        }
        let (from, to) = match verb {
            Verb::Left | Verb::Backspace => (col - last_len(before), col),
            Verb::Right | Verb::Delete => (col, col + first_len(after)),
            Verb::LineStart | Verb::KillToStart => (0, col),
            Verb::LineEnd | Verb::KillToEnd => (col, col + after.chars().count()),
            Verb::WordBack => (col - word_before(before, of_word), col),
            Verb::KillWord => (col - word_before(before, not_blank), col),
            Verb::WordForward | Verb::KillWordForward => (col, col + word_after(after)),
            _ => return Done::Nothing,
        };
        match verb {
            Verb::Backspace | Verb::KillToStart | Verb::KillWord if col == 0 => changed(self.area.delete_newline()),
            Verb::Delete | Verb::KillToEnd | Verb::KillWordForward if ended && !last_row => {
                self.place(row + 1, 0);
                changed(self.area.delete_newline())
            }
            Verb::Left | Verb::WordBack if col == 0 && row > 0 => {
                self.place(row - 1, usize::MAX);
                Done::Moved
            }
            Verb::Right | Verb::WordForward if ended && !last_row => {
                self.place(row + 1, 0);
                Done::Moved
            }
            _ if from == to => Done::Nothing,
            Verb::Backspace | Verb::Delete => {
                self.cut(row, from, to - from);
                Done::Changed
            }
            Verb::KillToStart | Verb::KillToEnd | Verb::KillWord | Verb::KillWordForward => {
                let cut = self.cut(row, from, to - from);
                self.keep(cut, more, from < col);
                Done::Changed
            }
            _ => {
                self.place(row, if from == col { to } else { from });
                Done::Moved
            }
        }
    }

    fn go(&mut self, step: CursorMove) -> Done {
        let before = self.caret();
        self.area.move_cursor(step);
        if self.caret() == before { Done::Nothing } else { Done::Moved }
    }
}

fn changed(did: bool) -> Done {
    if did { Done::Changed } else { Done::Nothing }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FAMILY: &str = "👩‍👩‍👧‍👦";

    fn after(text: &str, verbs: &[Verb]) -> (String, String) {
        let (mut line, mut editor) = (Line::new(text), Editor::new(text));
        for verb in verbs {
            line.edit(*verb);
            editor.edit(*verb);
        }
        (line.text().to_owned(), editor.text())
    }

    #[test]
    fn a_selected_line_is_replaced_by_what_is_typed_and_kept_by_what_moves() {
        let selected = || {
            let mut line = Line::new("old text");
            line.select();
            line
        };
        let mut line = selected();
        line.insert("n");
        line.insert("ew");
        assert_eq!((line.text(), line.is_selected()), ("new", false));
        assert_eq!((line.edit(Verb::Yank), line.text()), (Done::Changed, "newold text"), "it is not lost");
        let mut line = selected();
        line.edit(Verb::Left);
        line.insert("!");
        assert_eq!(line.text(), "old tex!t");
        let mut line = selected();
        line.edit(Verb::Backspace);
        assert_eq!(line.text(), "");
    }

    #[test]
    fn a_text_that_was_replaced_comes_back_with_one_undo() {
        for (before, after) in [("mine", "theirs"), ("a\nb", "c"), ("", "new"), ("old", ""), ("x", "y\nz\n")] {
            let mut editor = Editor::new(before);
            editor.replace(after);
            assert_eq!(editor.edit(Verb::Undo), Done::Changed);
            assert_eq!(editor.text(), before, "{after:?} undone");
            editor.edit(Verb::Redo);
            assert_eq!(editor.text(), after, "{before:?} redone");
            editor.edit(Verb::Undo);
            editor.insert("!");
            editor.edit(Verb::Undo);
            assert_eq!(editor.text(), before);
        }
        let mut editor = Editor::new("one");
        editor.replace("two");
        editor.replace("three");
        editor.edit(Verb::Undo);
        assert_eq!(editor.text(), "two");
        editor.edit(Verb::Undo);
        assert_eq!(editor.text(), "one");
    }

    #[test]
    fn both_step_by_graphemes_and_know_readline() {
        use Verb::*;
        for (text, verbs, expected) in [
            ("a", &[Backspace][..], ""),
            (FAMILY, &[Backspace], ""),
            ("xe\u{301}", &[Backspace], "x"),
            (FAMILY, &[Left, Delete], ""),
            ("ab", &[Left, Backspace], "b"),
            ("one two", &[KillWord], "one "),
            ("one --x/y", &[KillWord], "one "),
            ("one two", &[WordBack, KillToEnd, LineStart, Yank], "twoone "),
            ("one two", &[LineStart, KillWordForward], " two"),
            ("one two", &[LineStart, WordForward, KillToStart], " two"),
            ("one two ", &[KillWord, Yank, Yank], "one two two "),
            ("a b", &[LineStart, LineEnd, KillToStart], ""),
        ] {
            let (line, editor) = after(text, verbs);
            assert_eq!((line.as_str(), editor.as_str()), (expected, expected), "{text} {verbs:?}");
        }
    }

    #[test]
    fn lines_join_and_undo_comes_back() {
        let mut editor = Editor::new("ab\ncd");
        editor.edit(Verb::LineStart);
        assert_eq!(editor.edit(Verb::Left), Done::Moved);
        assert_eq!(editor.caret(), (0, 2));
        assert_eq!(editor.edit(Verb::Delete), Done::Changed);
        assert_eq!(editor.text(), "abcd");
        editor.edit(Verb::Newline);
        editor.edit(Verb::Backspace);
        assert_eq!((editor.text().as_str(), editor.caret()), ("abcd", (0, 2)));
        editor.insert(FAMILY);
        editor.edit(Verb::Backspace);
        editor.edit(Verb::Undo);
        assert_eq!(editor.text(), format!("ab{FAMILY}cd"));
        editor.edit(Verb::Redo);
        assert_eq!(editor.text(), "abcd");
    }

    #[test]
    fn what_is_marked_is_cut_copied_and_put_back() {
        use Verb::{
            Backspace, Down, First, KillWord, KillWordForward, LineStart, Mark, MarkAll, MarkCopy, MarkCut, MarkSwap,
            Right, Yank, YankPop,
        };
        for (text, verbs, expected) in [
            ("ab\ncd", &[First, Mark, Down, Right, MarkCut][..], "d"),
            ("ab\ncd", &[First, Mark, Down, Right, MarkCut, Yank, Yank], "ab\ncab\ncd"),
            ("ab cd", &[MarkCut], "ab "),
            ("ab cd", &[MarkAll, MarkCopy, Yank], "ab cdab cd"),
            ("ab", &[Mark, First, MarkSwap, Backspace], "a"),
            ("ab", &[Mark, Mark, First, MarkCut], "ab"),
            ("a b c", &[KillWord, KillWord, Yank, Yank], "a b cb c"),
            ("a b c", &[KillWord, LineStart, KillWordForward, Yank, YankPop], "c b "),
            ("a b c", &[KillWord, LineStart, KillWordForward, Yank, YankPop, YankPop], "a b "),
            ("ab", &[Yank, YankPop, MarkSwap, MarkCopy], "ab"),
        ] {
            let mut editor = Editor::new(text);
            for verb in verbs {
                editor.edit(*verb);
            }
            assert_eq!(editor.text(), expected, "{text:?} {verbs:?}");
        }
        let mut editor = Editor::new("ab");
        editor.edit(Mark);
        editor.edit(Verb::Left);
        assert_eq!(editor.marked(), Some(((0, 1), (0, 2))));
        assert!(editor.unmark() && editor.marked().is_none());
    }

    #[test]
    fn a_line_stays_one() {
        let mut line = Line::new("a\r\nb\tc\u{1b}[");
        assert_eq!(line.text(), "a b c[");
        assert_eq!(line.edit(Verb::Newline), Done::Nothing);
    }

    proptest! {
        /// Backspace takes away what the reader sees as the last character, all the way down; the widget never disagrees.
        #[test]
        fn backspace_empties(text in "[ae\u{301}👩\u{200d}한ß ]{0,12}") {
            let mut editor = Editor::new(&text);
            let graphemes = text.graphemes(true).count();
            for _ in 0..graphemes {
                prop_assert_eq!(editor.edit(Verb::Backspace), Done::Changed);
            }
            prop_assert!(editor.is_empty());
        }

        /// No order of verbs leaves the caret outside the text, and both kinds of text agree on one line.
        #[test]
        fn any_order_of_verbs(text in "[a-c e\u{301}👩\u{200d}.]{0,10}", verbs in prop::collection::vec(0usize..12, 0..20)) {
            use Verb::{Backspace, Delete, KillToEnd, KillToStart, KillWord, KillWordForward, Left, LineEnd, LineStart};
            use Verb::{Right, WordBack, WordForward};
            let all = [Left, Right, LineStart, LineEnd, WordBack, WordForward, Backspace, Delete, KillWord,
                KillWordForward, KillToStart, KillToEnd];
            let (mut line, mut editor) = (Line::new(&text), Editor::new(&text));
            for at in verbs {
                prop_assert_eq!(line.edit(all[at]), editor.edit(all[at]));
                let (before, after) = line.text().split_at(line.caret());
                prop_assert_eq!(editor.around(), (before, after));
            }
        }
    }

    #[test]
    fn letters_are_swapped_and_words_change_their_case() {
        for (text, back, verb, expected) in [
            ("abcd", 2, Verb::Transpose, "acbd"),
            ("abcd", 0, Verb::Transpose, "abdc"),
            ("abcd", 4, Verb::Transpose, "abcd"),
            ("a", 0, Verb::Transpose, "a"),
            ("", 0, Verb::Transpose, ""),
            ("one two", 7, Verb::Upper, "ONE two"),
            ("one two", 4, Verb::Upper, "one TWO"),
            ("ONE two", 7, Verb::Lower, "one two"),
            ("oNE two", 7, Verb::Capital, "One two"),
            ("one (tWO)", 6, Verb::Capital, "one (Two)"),
            ("one", 0, Verb::Capital, "one"),
        ] {
            let mut editor = Editor::default();
            editor.insert(text);
            for _ in 0..back {
                editor.edit(Verb::Left);
            }
            let done = editor.edit(verb);
            assert_eq!(editor.text(), expected, "{text} {back} {verb:?}");
            if done == Done::Changed && expected != text {
                editor.edit(Verb::Undo);
                editor.edit(Verb::Undo);
                assert_eq!(editor.text(), text, "{verb:?} is undone");
            }
        }
    }
}
