//! Modal editing after vi: what a verb of the vim keymap does to a draft, by its mode, count and operator.
//!
//! Nothing here knows a key: the keymap says which key is which verb (`keymaps/vim.toml`). [`Vim::feed`] is pure: it gets
//! the text and the caret, and tells what is to be done with the draft; `composer` does it. Motions are in `motion`, their
//! arithmetic in `text`.

mod motion;
mod object;
mod operate;
mod text;

use crate::keymap::action::VimAction as Verb;
use motion::Find;
pub use text::Text;

/// Editing mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Keys are typed.
    #[default]
    Insert,
    /// Keys are verbs.
    Normal,
    /// Keys are verbs for the selection.
    Visual,
    /// The same, by whole lines.
    VisualLine,
}

impl Mode {
    /// Its name on the screen.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Mode::Insert => "insert",
            Mode::Normal => "normal",
            Mode::Visual => "visual",
            Mode::VisualLine => "visual line",
        }
    }
}

/// Operator that waits for a motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Take it out.
    Delete,
    /// Take it out and type.
    Change,
    /// Keep a copy.
    Yank,
    /// Move the lines to the right.
    Indent,
    /// Move the lines to the left.
    Outdent,
}

/// Input of the interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// A verb.
    Verb(Verb),
    /// A digit of a count; 0 without digits before it goes to the start of the line.
    Digit(usize),
    /// The character that a verb waits for.
    Char(char),
}

/// Pending command that waits for a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaits {
    /// A motion to it.
    Find(Find),
    /// It replaces what is under the caret.
    Replace,
    /// It names what is meant; with what is about it where that holds.
    Object {
        /// With what is about it.
        around: bool,
    },
}

/// Edits to apply to the draft, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Do {
    /// The caret goes there.
    Move(usize),
    /// These characters are replaced, and the caret goes to `caret`.
    Splice {
        /// From this character.
        from: usize,
        /// To before this one.
        to: usize,
        /// Replacement.
        with: String,
        /// New position of the caret.
        caret: usize,
    },
    /// Visual lines to move, up if negative; at the edge the walk through sent messages begins.
    Lines(isize),
    /// This text replaces the whole, with the caret there.
    Whole(String, usize),
    /// The last change is done again, this often where a count was given.
    Again(Option<usize>),
}

/// Cut or copied text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Register {
    text: String,
    lines: bool,
}

/// The draft at some instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snap {
    text: String,
    caret: usize,
}

/// Size of the selection that was changed: a repeat changes as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    by_lines: bool,
    /// Line breaks in it.
    breaks: usize,
    /// Characters behind the last of them.
    last: usize,
}

/// A change that can be done again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Size of the selection, if there was one.
    pub extent: Option<Extent>,
    /// The verbs that led to it.
    pub tokens: Vec<Token>,
    /// Text typed then.
    pub typed: String,
}

/// Changes that can be undone.
const UNDONE: usize = 200;
/// Counts end here: nobody means more, and a slip must not freeze the screen.
const MOST: usize = 9_999;

/// Modal editing of one draft.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vim {
    mode: Mode,
    count: Option<usize>,
    op: Option<(Op, usize)>,
    awaits: Option<Awaits>,
    /// Start of the selection.
    anchor: usize,
    found: Option<(Find, char)>,
    register: Register,
    undo: Vec<Snap>,
    redo: Vec<Snap>,
    /// The draft when typing began.
    began: Option<Snap>,
    typed: String,
    /// Repetitions of the typed text …
    times: usize,
    /// … each on a line of its own.
    opens: bool,
    /// Size of the selection for the current change.
    extent: Option<Extent>,
    tokens: Vec<Token>,
    last: Option<Change>,
    /// The last change is being done again.
    replays: bool,
}

impl Vim {
    /// Current editing mode.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// True if the next character belongs to the pending verb.
    #[must_use]
    pub fn awaits_char(&self) -> bool {
        self.awaits.is_some()
    }

    /// True if an operator waits for a motion.
    #[must_use]
    pub fn has_operator(&self) -> bool {
        self.op.is_some()
    }

    /// Pending input: `2d`, `f`. Empty if there is none.
    #[must_use]
    pub fn begun(&self) -> String {
        let mut out = String::new();
        if let Some((op, count)) = self.op {
            if count > 1 {
                out.push_str(&count.to_string());
            }
            out.push(match op {
                Op::Delete => 'd',
                Op::Change => 'c',
                Op::Yank => 'y',
                Op::Indent => '>',
                Op::Outdent => '<',
            });
        }
        if let Some(count) = self.count {
            out.push_str(&count.to_string());
        }
        match self.awaits {
            Some(Awaits::Replace) => out.push('r'),
            Some(Awaits::Object { around }) => out.push(if around { 'a' } else { 'i' }),
            Some(Awaits::Find(find)) => out.push(find.letter()),
            None => {}
        }
        out
    }

    /// Selection in characters, end exclusive.
    #[must_use]
    pub fn marked(&self, text: &Text, caret: usize) -> Option<(usize, usize)> {
        let (from, to) = (self.anchor.min(caret).min(text.len()), self.anchor.max(caret).min(text.len()));
        match self.mode {
            Mode::Visual => Some((from, text.next(to).min(text.len()))),
            Mode::VisualLine => Some((text.line_start(from), text.line_end(to))),
            Mode::Insert | Mode::Normal => None,
        }
    }

    /// The draft was sent or put away: a new one is typed, what was cut stays.
    #[must_use]
    pub fn renewed(&self) -> Self {
        Self { register: self.register.clone(), found: self.found, last: self.last.clone(), ..Self::default() }
    }

    /// Typing is about to begin: undo comes back to the current draft.
    pub fn begins(&mut self, now: impl FnOnce() -> (String, usize)) {
        if self.mode == Mode::Insert && self.began.is_none() {
            let (text, caret) = now();
            self.began = Some(Snap { text, caret });
        }
    }

    /// A text was typed or pasted.
    pub fn types(&mut self, text: &str) {
        if self.mode == Mode::Insert {
            self.typed.push_str(text);
        }
    }

    /// The character before the caret was taken away.
    pub fn takes_back(&mut self) {
        self.typed.pop();
    }

    /// The caret was moved: what was typed before does not belong to what is typed now.
    pub fn moves(&mut self) {
        if self.mode == Mode::Insert && !self.replays {
            self.typed.clear();
            (self.times, self.tokens) = (1, Vec::new());
        }
    }

    /// The last change begins to be done again, this often where a count is given.
    pub fn replay(&mut self, count: Option<usize>) -> Option<Change> {
        let mut change = self.last.clone()?;
        if let Some(count) = count {
            while matches!(change.tokens.first(), Some(Token::Digit(_))) {
                change.tokens.remove(0);
            }
            let digits = count.to_string();
            let digits = digits.chars().filter_map(|c| c.to_digit(10)).map(|d| Token::Digit(d as usize));
            change.tokens.splice(0..0, digits);
        }
        self.replays = true;
        Some(change)
    }

    /// It was done again.
    pub fn replayed(&mut self) {
        self.replays = false;
    }

    /// Draft before the edit; noted for undo if it changed.
    pub fn note(&mut self, before: &Text, caret: usize, after: &Text) {
        if self.replays {
            return;
        }
        let snap = Snap { text: before.slice(0, before.len()), caret };
        if self.mode == Mode::Insert {
            self.began.get_or_insert(snap);
        } else {
            let snap = self.began.take().unwrap_or(snap);
            if snap.text != after.slice(0, after.len()) {
                self.undo.push(snap);
                self.redo.clear();
                if self.undo.len() > UNDONE {
                    self.undo.remove(0);
                }
            }
        }
    }

    /// Takes one verb, digit or character.
    pub fn feed(&mut self, text: &Text, caret: usize, token: Token) -> Vec<Do> {
        if self.mode == Mode::Insert {
            return match token {
                Token::Verb(Verb::Normal) => self.leave_insert(text, caret),
                _ => Vec::new(),
            };
        }
        if !matches!(token, Token::Verb(Verb::Again | Verb::Undo | Verb::Redo)) && !self.replays {
            self.tokens.push(token);
        }
        let extent = self.extent_of(text, caret);
        let done = match (self.awaits.take(), token) {
            (Some(awaits), Token::Char(c)) => self.character(text, caret, awaits, c),
            // Any other key but a character takes back what waited.
            (Some(_), _) => {
                self.forget();
                Vec::new()
            }
            (None, Token::Char(_)) => Vec::new(),
            (None, Token::Digit(0)) if self.count.is_none() => self.verb(text, caret, Verb::LineStart),
            (None, Token::Digit(digit)) => {
                self.count = Some((self.count.unwrap_or(0) * 10 + digit).min(MOST));
                return Vec::new();
            }
            (None, Token::Verb(verb)) => self.verb(text, caret, verb),
        };
        let idle = self.op.is_none() && self.awaits.is_none();
        if idle && self.mode != Mode::Insert {
            self.count = None;
            let changed = done.iter().any(|one| matches!(one, Do::Splice { .. }));
            let tokens = std::mem::take(&mut self.tokens);
            if changed && !self.replays {
                self.last = Some(Change { tokens: of_change(tokens, extent), typed: String::new(), extent });
            } else if matches!(self.mode, Mode::Visual | Mode::VisualLine) {
                self.tokens = tokens;
            }
        }
        if self.mode == Mode::Insert {
            self.extent = extent;
            let once = !self.opens && done.iter().any(|one| matches!(one, Do::Splice { .. }));
            self.times = if once { 1 } else { self.take_count() };
            (self.count, self.op) = (None, None);
        }
        done
    }

    fn leave_insert(&mut self, text: &Text, caret: usize) -> Vec<Do> {
        self.mode = Mode::Normal;
        let typed = std::mem::take(&mut self.typed);
        let tokens = std::mem::take(&mut self.tokens);
        let times = std::mem::replace(&mut self.times, 1);
        let extent = self.extent.take();
        if !tokens.is_empty() && !self.replays {
            self.last = Some(Change { tokens: of_change(tokens, extent), typed: typed.clone(), extent });
        }
        let line = if std::mem::take(&mut self.opens) { "\n" } else { "" };
        let more = format!("{line}{typed}").repeat(times.saturating_sub(1));
        let end = caret + more.chars().count();
        let mut out = Vec::new();
        if !more.is_empty() {
            out.push(Do::Splice { from: caret, to: caret, with: more, caret: end });
        }
        // The caret stands on the last sign that was typed; what is put in now is not in the text that is known here.
        let back = if end > caret {
            end - 1
        } else if caret > text.line_start(caret) {
            text.previous(caret)
        } else {
            caret
        };
        out.push(Do::Move(back));
        out
    }

    fn take_count(&mut self) -> usize {
        self.count.take().unwrap_or(1).max(1)
    }

    /// Nothing is begun any more.
    fn forget(&mut self) {
        (self.count, self.op, self.awaits) = (None, None, None);
        if self.mode == Mode::Normal {
            self.tokens.clear();
        }
    }

    /// Size of the selection.
    fn extent_of(&self, text: &Text, caret: usize) -> Option<Extent> {
        let (from, to) = self.marked(text, caret)?;
        let marked = text.slice(from, to);
        let last = marked.rsplit('\n').next().unwrap_or_default().chars().count();
        Some(Extent { by_lines: self.mode == Mode::VisualLine, breaks: marked.matches('\n').count(), last })
    }

    /// Marks as much from the caret on. Tells where the caret goes for that.
    pub fn cover(&mut self, text: &Text, caret: usize, extent: Extent) -> usize {
        self.mode = if extent.by_lines { Mode::VisualLine } else { Mode::Visual };
        self.anchor = caret;
        let below = (0..extent.breaks).fold(caret, |at, _| text.line(at, 1).unwrap_or(at));
        let from = if extent.breaks == 0 { caret } else { text.line_start(below) };
        (from + extent.last.saturating_sub(1)).min(text.line_end(below).saturating_sub(1)).max(from)
    }

    fn insert(&mut self) {
        self.opens = false;
        self.mode = Mode::Insert;
        self.typed.clear();
    }

    fn verb(&mut self, text: &Text, caret: usize, verb: Verb) -> Vec<Do> {
        if let Some(find) = Find::of(verb) {
            self.awaits = Some(Awaits::Find(find));
            return Vec::new();
        }
        if let Verb::Inner | Verb::Around = verb
            && (self.op.is_some() || self.mode != Mode::Normal)
        {
            self.awaits = Some(Awaits::Object { around: verb == Verb::Around });
            return Vec::new();
        }
        if let Some(done) = self.motion(text, caret, verb) {
            return done;
        }
        let marked = self.marked(text, caret);
        match verb {
            Verb::Delete => self.operator(text, caret, Op::Delete, marked),
            Verb::Change => self.operator(text, caret, Op::Change, marked),
            Verb::Yank => self.operator(text, caret, Op::Yank, marked),
            Verb::Indent => self.operator(text, caret, Op::Indent, marked),
            Verb::Outdent => self.operator(text, caret, Op::Outdent, marked),
            _ if self.op.is_some() => {
                self.forget();
                Vec::new()
            }
            Verb::Undo => self.undone(text, caret),
            Verb::Redo => self.redone(text, caret),
            Verb::Again => vec![Do::Again(self.count.take())],
            Verb::Replace => {
                self.awaits = Some(Awaits::Replace);
                Vec::new()
            }
            Verb::Visual => self.mark(Mode::Visual, caret),
            Verb::VisualLine => self.mark(Mode::VisualLine, caret),
            Verb::Swap if marked.is_some() => {
                let there = std::mem::replace(&mut self.anchor, caret);
                vec![Do::Move(there)]
            }
            Verb::Normal => {
                self.mode = Mode::Normal;
                self.forget();
                vec![Do::Move(text.on_a_sign(caret))]
            }
            _ => self.simple(text, caret, verb, marked),
        }
    }

    fn mark(&mut self, mode: Mode, caret: usize) -> Vec<Do> {
        match self.mode {
            Mode::Normal => (self.mode, self.anchor) = (mode, caret),
            now if now == mode => {
                self.mode = Mode::Normal;
                self.tokens.clear();
            }
            _ => self.mode = mode,
        }
        Vec::new()
    }

    fn undone(&mut self, text: &Text, caret: usize) -> Vec<Do> {
        let mut out = Vec::new();
        let mut now = Snap { text: text.slice(0, text.len()), caret };
        for _ in 0..self.take_count() {
            let Some(snap) = self.undo.pop() else { break };
            // Done again, the caret is where the change began.
            now.caret = snap.caret;
            self.redo.push(std::mem::replace(&mut now, snap));
            out = vec![Do::Whole(now.text.clone(), now.caret)];
        }
        out
    }

    fn redone(&mut self, text: &Text, caret: usize) -> Vec<Do> {
        let mut out = Vec::new();
        let mut now = Snap { text: text.slice(0, text.len()), caret };
        for _ in 0..self.take_count() {
            let Some(snap) = self.redo.pop() else { break };
            self.undo.push(std::mem::replace(&mut now, snap));
            out = vec![Do::Whole(now.text.clone(), now.caret)];
        }
        out
    }
}

/// Verbs that a repeat runs again: all of them, or the last one alone if there was a selection.
fn of_change(tokens: Vec<Token>, extent: Option<Extent>) -> Vec<Token> {
    if extent.is_none() {
        return tokens;
    }
    let kept = if matches!(tokens.last(), Some(Token::Char(_))) { 2 } else { 1 };
    let skipped = tokens.len().saturating_sub(kept);
    tokens.into_iter().skip(skipped).collect()
}

#[cfg(test)]
mod tests;
