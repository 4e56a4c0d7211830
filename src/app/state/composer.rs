//! The draft of one session: its text, pasted texts folded into chips, the walk through what was sent earlier, and the
//! commands offered while it begins with a slash.

mod chips;

use super::edit::{Done, Editor};
use super::files::{File, Files};
use super::offer::Menu;
use super::vim::{Do, Mode, Text, Token, Vim};
use crate::domain::message::UserText;
use crate::keymap::action::ComposerAction as Verb;
use crate::keymap::action::VimAction as VimVerb;
pub use chips::{Chip, Picked};

/// Pasted texts of more lines become a chip.
pub const CHIP_LINES: usize = 20;
/// Pasted texts of more characters become one too: the widget gets slow on them.
pub const CHIP_CHARS: usize = 10_000;
/// A chip of more lines is not unfolded in the composer; $EDITOR shows it.
pub const UNFOLD_LINES: usize = 2_000;

/// Texts sent earlier, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The texts.
    pub items: Vec<String>,
}

impl History {
    /// Adds a text; one that is there already moves to the end.
    pub fn push(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.items.retain(|item| item != text);
            self.items.push(text.to_owned());
        }
    }
}

/// A walk through what was sent earlier.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Walk {
    /// The place in the history that is shown.
    at: usize,
    /// The draft that was there before.
    draft: String,
}

/// Meaning of Enter for a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnterDoes {
    /// The line was broken because of a backslash before the caret.
    BrokeLine,
    /// Nothing to send.
    Empty,
    /// Send it.
    Send,
}

/// The draft of one session.
#[derive(Clone, Debug, Default)]
pub struct Composer {
    editor: Editor,
    /// Texts behind the chips; chip n is `chips[n - 1]`.
    chips: Vec<String>,
    /// The chip or file that is selected.
    picked: Option<Picked>,
    walk: Option<Walk>,
    /// Rises with each change of the text.
    revision: u64,
    vim: Vim,
    /// The files that go along.
    files: Files,
    /// Its text began in a panel of answers.
    spilled: bool,
    /// Revision that was held back as a likely answer.
    held: Option<u64>,
    /// Completions shown above it.
    pub menu: Option<Menu>,
    /// The revision for which that was made.
    pub(crate) offered: u64,
}

impl Composer {
    /// The files that go along.
    #[must_use]
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// The files that go along, to be changed.
    pub fn files_mut(&mut self) -> &mut Files {
        self.revision += 1;
        &mut self.files
    }

    /// Takes the files away.
    pub fn take_files(&mut self) -> Files {
        self.revision += 1;
        std::mem::take(&mut self.files)
    }

    /// Text and files as they are kept with a session.
    #[must_use]
    pub fn kept(&self) -> UserText {
        UserText::with(self.text(), self.files.there())
    }

    /// The text with its caret, for drawing.
    #[must_use]
    pub fn editor(&self) -> &Editor {
        &self.editor
    }

    /// Rises with each change of the text.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// True if there is neither text nor files.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.has_no_text() && self.files.is_empty()
    }

    /// True if no text is written.
    #[must_use]
    pub fn has_no_text(&self) -> bool {
        self.editor.is_empty()
    }

    /// The text as it is sent: chips unfolded.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        let text = self.editor.text();
        let mut rest = text.as_str();
        while let Some((before, number, after)) = self.next_chip(rest) {
            out.push_str(before);
            out.push_str(self.chips.get(number).map_or("", String::as_str));
            rest = after;
        }
        out.push_str(rest);
        out
    }

    /// Replaces the draft, as one step of undo. A very long text becomes a chip.
    pub fn set(&mut self, text: &str) {
        self.walk = None;
        self.spilled = false;
        if is_long(text) && text.lines().count() > 10 * CHIP_LINES || text.len() > 4 * CHIP_CHARS {
            self.editor.replace("");
            self.fold(text);
        } else {
            self.editor.replace(text);
        }
        self.revision += 1;
    }

    /// Takes the text away, undo and chips with it, and tells it. The files stay.
    pub fn take(&mut self) -> String {
        let text = self.text();
        let (vim, editor) = (self.vim.renewed(), self.editor.renewed());
        let files = std::mem::take(&mut self.files);
        *self = Self { revision: self.revision + 1, vim, editor, files, ..Self::default() };
        text
    }

    /// The same text without its files, where these stay behind.
    #[must_use]
    pub fn without_files(mut self) -> Self {
        self.files = Files::default();
        self
    }

    /// Restores a sent draft with its chips and files. Text written since then follows it.
    pub fn bring_back(&mut self, before: Self) {
        let revision = self.revision + 1;
        if self.is_empty() {
            *self = Self { revision, ..before };
            return;
        }
        let mut files = before.files.there();
        let since = std::mem::take(&mut self.files);
        files.extend(since.there());
        let coming: Vec<_> = since.items().iter().filter(|file| matches!(file, File::Coming { .. })).cloned().collect();
        let text = [before.text(), self.text()];
        self.set(&text.map(|text| text.trim_end_matches('\n').to_owned()).join("\n\n"));
        self.files = Files::kept(files);
        for file in coming {
            if let File::Coming { path, pasted } = file {
                self.files.ask(path, pasted);
            }
        }
        self.revision = revision;
    }

    /// Types a character.
    pub fn type_char(&mut self, c: char) {
        let mut buffer = [0; 4];
        let text: &str = c.encode_utf8(&mut buffer);
        self.begins();
        self.vim.types(text);
        self.editor.insert(text);
        self.changed();
    }

    /// Marks the text as one that began in a panel of answers.
    pub(crate) fn spill(&mut self) {
        self.spilled = true;
    }

    /// True once if the text began in a panel of answers.
    pub(crate) fn take_spill(&mut self) -> bool {
        std::mem::take(&mut self.spilled)
    }

    /// True once for each text.
    pub(crate) fn hold_once(&mut self) -> bool {
        self.held.replace(self.revision) != Some(self.revision)
    }

    /// Inserts a pasted text: line ends made one kind, control characters taken out, a long one folded into a chip.
    pub fn paste(&mut self, text: &str) {
        let clean = clean_paste(text);
        self.begins();
        self.vim.types(&clean);
        if is_long(&clean) {
            self.fold(&clean);
        } else if !clean.is_empty() {
            self.editor.insert(&clean);
        }
        self.changed();
    }

    /// Inserts a text as it is.
    pub fn insert(&mut self, text: &str) {
        self.editor.insert(text);
        self.changed();
    }

    fn fold(&mut self, text: &str) {
        self.chips.push(text.to_owned());
        let label = chip_label(self.chips.len(), text);
        self.editor.insert(&label);
    }

    /// Does one of the verbs that edit.
    pub fn edit(&mut self, verb: Verb) -> Done {
        self.begins();
        match verb {
            Verb::Newline => self.vim.types("\n"),
            Verb::Backspace => self.vim.takes_back(),
            _ => self.vim.moves(),
        }
        if let Some(done) = self.step(verb) {
            return done;
        }
        let caret = self.editor.caret();
        let done = self.editor.edit(verb);
        self.out_of_chips(caret);
        if done == Done::Changed {
            self.changed();
        }
        done
    }

    /// Starts an undo step for modal editing.
    fn begins(&mut self) {
        let editor = &self.editor;
        self.vim.begins(|| {
            let (row, col) = editor.caret();
            (editor.text(), Text::new(editor.lines()).flat(row, col))
        });
    }

    /// The modes of the draft.
    #[must_use]
    pub fn vim(&self) -> &Vim {
        &self.vim
    }

    /// Selection: positions of its first character and behind its last one.
    #[must_use]
    pub fn marked(&self) -> Option<((usize, usize), (usize, usize))> {
        if !matches!(self.vim.mode(), Mode::Visual | Mode::VisualLine) {
            return self.editor.marked();
        }
        let text = Text::new(self.editor.lines());
        let (row, col) = self.editor.caret();
        let (from, to) = self.vim.marked(&text, text.flat(row, col))?;
        Some((text.place(from), text.place(to)))
    }

    /// Nothing is marked any more. Whether something was.
    pub fn unmark(&mut self) -> bool {
        self.editor.unmark()
    }

    /// Takes a verb, a digit or a character of modal editing. Tells how far the walk through what was sent goes, where the
    /// caret was at an edge: back where negative.
    pub fn modal(&mut self, token: Token) -> Option<isize> {
        if self.vim.mode() == Mode::Insert {
            self.begins();
        }
        let before = Text::new(self.editor.lines());
        let (row, col) = self.editor.caret();
        let caret = before.flat(row, col);
        self.picked = None;
        let walk = self.fed(token);
        self.out_of_chips((row, col));
        let after = Text::new(self.editor.lines());
        if matches!(token, Token::Verb(VimVerb::Undo | VimVerb::Redo)) {
            self.changed();
            return None;
        }
        self.vim.note(&before, caret, &after);
        if after != before {
            self.changed();
        }
        if self.vim.mode() != Mode::Insert {
            self.close_menu();
        }
        walk
    }

    fn fed(&mut self, token: Token) -> Option<isize> {
        let text = Text::new(self.editor.lines());
        let (row, col) = self.editor.caret();
        let mut walk = None;
        for one in self.vim.feed(&text, text.flat(row, col), token) {
            match one {
                Do::Move(at) => self.go(at),
                Do::Splice { from, to, with, caret } => {
                    let text = Text::new(self.editor.lines());
                    // A chip goes whole, or not at all.
                    let cut = |from: usize, to: usize| {
                        self.chips().into_iter().fold((from, to), |(from, to), chip| {
                            let (start, end) = (text.flat(chip.row, chip.start), text.flat(chip.row, chip.end()));
                            if from < end && to > start { (from.min(start), to.max(end)) } else { (from, to) }
                        })
                    };
                    let ((from, to), caret) = match cut(from, to) {
                        whole if from < to && whole != (from, to) => (whole, caret.min(whole.0)),
                        _ => ((from, to), caret),
                    };
                    self.editor.splice(text.place(from), to.saturating_sub(from), &with);
                    self.go(caret);
                }
                Do::Lines(by) => walk = self.lines(by),
                Do::Whole(text, caret) => {
                    self.editor.replace(&text);
                    self.go(caret);
                }
                Do::Again(count) => self.again(count),
            }
        }
        // While keys are verbs the caret stands on a sign.
        if self.vim.mode() == Mode::Normal {
            let text = Text::new(self.editor.lines());
            let (row, col) = self.editor.caret();
            let at = text.flat(row, col);
            if text.on_a_sign(at) != at {
                self.go(text.on_a_sign(at));
            }
        }
        walk
    }

    fn go(&mut self, at: usize) {
        let (row, col) = Text::new(self.editor.lines()).place(at);
        self.editor.place(row, col);
    }

    /// Moves by lines as they are shown; what is left at the edge is for the walk through what was sent.
    fn lines(&mut self, by: isize) -> Option<isize> {
        let verb = if by < 0 { Verb::Up } else { Verb::Down };
        for n in 0..by.abs() {
            if self.editor.edit(verb) == Done::Nothing {
                return (n == 0 && self.vim.mode() == Mode::Normal).then_some(by.signum());
            }
        }
        None
    }

    fn again(&mut self, count: Option<usize>) {
        let Some(change) = self.vim.replay(count) else { return };
        if let Some(extent) = change.extent {
            let text = Text::new(self.editor.lines());
            let (row, col) = self.editor.caret();
            let at = self.vim.cover(&text, text.flat(row, col), extent);
            self.go(at);
        }
        for token in change.tokens {
            self.fed(token);
        }
        if self.vim.mode() == Mode::Insert {
            self.vim.types(&change.typed);
            self.editor.insert(&change.typed);
            self.fed(Token::Verb(VimVerb::Normal));
        }
        self.vim.replayed();
    }

    /// Meaning of Enter now. Breaks the line if a backslash stands before the caret.
    pub fn enter(&mut self) -> EnterDoes {
        let (row, col) = self.editor.caret();
        let (before, after) = self.editor.around();
        if after.is_empty() && before.ends_with('\\') {
            self.editor.cut(row, col - 1, 1);
            self.editor.edit(Verb::Newline);
            self.changed();
            return EnterDoes::BrokeLine;
        }
        if self.text().trim().is_empty() && self.files.is_empty() { EnterDoes::Empty } else { EnterDoes::Send }
    }

    /// Shows the text sent before the shown one. Whether there was one.
    pub fn earlier(&mut self, history: &History) -> bool {
        let at = self.walk.as_ref().map_or(history.items.len(), |walk| walk.at);
        let Some((at, item)) = at.checked_sub(1).and_then(|at| Some((at, history.items.get(at)?))) else {
            return false;
        };
        let draft = self.walk.take().map_or_else(|| self.text(), |walk| walk.draft);
        self.set(item);
        self.close_menu();
        self.walk = Some(Walk { at, draft });
        true
    }

    /// Shows the text sent after the shown one; after the last one the draft. Whether a walk was going on.
    pub fn later(&mut self, history: &History) -> bool {
        let Some(walk) = self.walk.take() else { return false };
        match history.items.get(walk.at + 1) {
            Some(item) => {
                self.set(item);
                self.walk = Some(Walk { at: walk.at + 1, draft: walk.draft });
            }
            None => self.set(&walk.draft),
        }
        self.close_menu();
        true
    }

    fn changed(&mut self) {
        (self.walk, self.picked) = (None, None);
        self.revision += 1;
    }

    /// True while completions are shown.
    #[must_use]
    pub fn offers(&self) -> bool {
        self.menu.as_ref().is_some_and(|menu| !menu.rows.is_empty())
    }

    /// Hides completions until the draft changes.
    pub fn close_menu(&mut self) {
        self.menu = None;
        self.offered = self.revision;
    }

    /// Replaces what stands in the caret's line from this character to the caret.
    pub fn replace(&mut self, from: usize, text: &str) {
        let (row, col) = self.editor.caret();
        self.begins();
        self.editor.splice((row, from.min(col)), col.saturating_sub(from), text);
        self.changed();
    }
}

fn is_long(text: &str) -> bool {
    text.lines().count() > CHIP_LINES || text.len() > CHIP_CHARS
}

/// Label of a folded text in the draft.
#[must_use]
pub fn chip_label(number: usize, text: &str) -> String {
    match text.lines().count() {
        0 | 1 => format!("[Pasted text #{number} +{} characters]", text.chars().count()),
        lines => format!("[Pasted text #{number} +{lines} lines]"),
    }
}

/// A pasted text with one kind of line end and no control characters but tabs.
#[must_use]
pub fn clean_paste(text: &str) -> String {
    let lines = text.replace("\r\n", "\n").replace('\r', "\n");
    lines.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(n: usize) -> String {
        (0..n).map(|n| format!("l{n}\n")).collect()
    }

    #[test]
    fn chips_stand_for_their_text() {
        let mut composer = Composer::default();
        composer.paste(&lines(20));
        assert_eq!(composer.text(), lines(20), "twenty lines are shown");
        composer.take();
        composer.paste(&lines(21));
        composer.type_char(' ');
        composer.paste(&lines(40));
        assert_eq!(composer.editor().text(), "[Pasted text #1 +21 lines] [Pasted text #2 +40 lines]");
        assert_eq!(composer.text(), format!("{} {}", lines(21), lines(40)));
        assert_eq!(composer.unfold(), Ok(true));
        assert_eq!(composer.text(), format!("{} {}", lines(21), lines(40)));
        composer.take();
        assert!(composer.is_empty() && composer.text().is_empty());
        composer.paste(&"x".repeat(CHIP_CHARS + 1));
        assert_eq!(composer.editor().text(), "[Pasted text #1 +10001 characters]");
        assert_eq!(composer.edit(Verb::Backspace), Done::Changed);
        assert!(composer.is_empty());
    }

    #[test]
    fn a_chip_too_long_to_unfold_says_so() {
        let mut composer = Composer::default();
        composer.paste(&lines(UNFOLD_LINES + 1));
        assert_eq!(composer.unfold(), Err(UNFOLD_LINES + 1));
        assert_eq!(composer.text(), lines(UNFOLD_LINES + 1));
    }

    #[test]
    fn a_chip_whose_text_names_a_chip_is_unfolded_once() {
        let mut composer = Composer::default();
        let tricky = format!("[Pasted text #2 +21 lines]\n{}", lines(20));
        composer.paste(&tricky);
        composer.paste(&lines(21));
        assert_eq!(composer.text(), format!("{tricky}{}", lines(21)));
    }

    #[test]
    fn the_walk_ends_where_it_began() {
        let mut history = History::default();
        for text in ["a", "b", "a", " "] {
            history.push(text);
        }
        assert_eq!(history.items, ["b", "a"]);
        let mut composer = Composer::default();
        composer.set("draft");
        assert!(!composer.later(&history));
        let mut seen = Vec::new();
        while composer.earlier(&history) {
            seen.push(composer.text());
        }
        while composer.later(&history) {
            seen.push(composer.text());
        }
        assert_eq!(seen, ["a", "b", "a", "draft"]);
        composer.earlier(&history);
        composer.type_char('!');
        assert!(!composer.later(&history), "what was changed is the draft now");
        assert_eq!(composer.text(), "a!");
    }
}
