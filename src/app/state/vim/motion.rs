//! Motions: their target, and the range that an operator takes.

use super::object;
use super::text::Text;
use super::{Awaits, Do, Mode, Op, Vim};
use crate::domain::sanitise;
use crate::keymap::action::VimAction as Verb;

/// A motion to a character of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Find {
    /// Onto the next one.
    On,
    /// Before the next one.
    Till,
    /// Back onto one.
    BackOn,
    /// Back to behind one.
    BackTill,
}

impl Find {
    pub(super) fn of(verb: Verb) -> Option<Self> {
        Some(match verb {
            Verb::Find => Find::On,
            Verb::Till => Find::Till,
            Verb::FindBack => Find::BackOn,
            Verb::TillBack => Find::BackTill,
            _ => return None,
        })
    }

    pub(super) fn letter(self) -> char {
        match self {
            Find::On => 'f',
            Find::Till => 't',
            Find::BackOn => 'F',
            Find::BackTill => 'T',
        }
    }

    fn back(self) -> Self {
        match self {
            Find::On => Find::BackOn,
            Find::Till => Find::BackTill,
            Find::BackOn => Find::On,
            Find::BackTill => Find::Till,
        }
    }

    /// Position of the `count`th match, from `at` on.
    fn seek(self, text: &Text, at: usize, c: char, count: usize) -> Option<usize> {
        let (start, end) = (text.line_start(at), text.line_end(at));
        match self {
            Find::On | Find::Till => {
                let hit = (at + 1..end).filter(|n| text.at(*n) == Some(c)).nth(count - 1)?;
                Some(if self == Find::On { hit } else { text.previous(hit) })
            }
            Find::BackOn | Find::BackTill => {
                let hit = (start..at).rev().filter(|n| text.at(*n) == Some(c)).nth(count - 1)?;
                Some(if self == Find::BackOn { hit } else { text.next(hit) })
            }
        }
    }
}

/// Target of a motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Goal {
    /// The position.
    pub(super) at: usize,
    /// Range that an operator takes.
    pub(super) reach: MotionReach,
}

/// Range that an operator takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MotionReach {
    /// Up to before the goal.
    Before,
    /// The sign at the goal too.
    On,
    /// Whole lines.
    Lines,
}

impl Vim {
    /// Moves, or does what the operator that waits does with what lies between. `None`: the verb is no motion.
    pub(super) fn motion(&mut self, text: &Text, caret: usize, verb: Verb) -> Option<Vec<Do>> {
        if self.op.is_none() && matches!(verb, Verb::Up | Verb::Down) {
            let by = isize::try_from(self.take_count()).unwrap_or(1);
            return Some(vec![Do::Lines(if verb == Verb::Up { -by } else { by })]);
        }
        if !is_motion(verb) {
            return None;
        }
        let goal = self.goal(text, caret, verb);
        Some(self.reach(text, caret, goal, matches!(verb, Verb::Word | Verb::BigWord)))
    }

    /// Goes to the goal, or has the operator take what lies between. Without a goal nothing happens.
    fn reach(&mut self, text: &Text, caret: usize, goal: Option<Goal>, by_words: bool) -> Vec<Do> {
        let Some(goal) = goal else {
            self.forget();
            return Vec::new();
        };
        let Some((op, _)) = self.op.take() else {
            let at = if matches!(self.mode, Mode::Normal) { text.on_a_sign(goal.at) } else { goal.at };
            return vec![Do::Move(at)];
        };
        let (from, mut to) = (caret.min(goal.at), caret.max(goal.at));
        match goal.reach {
            MotionReach::Lines => {
                return self.operate(text, caret, op, (text.line_start(from), text.line_end(to)), true);
            }
            MotionReach::On => to = text.next(to).min(text.len()),
            // The last word of a line ends with it: the line break and the next line's blanks stay.
            MotionReach::Before if by_words => {
                let mut end = to;
                while end > from && text.at(end - 1).is_some_and(char::is_whitespace) {
                    end -= 1;
                }
                if let Some(broken) = (end..to).find(|n| text.at(*n) == Some('\n')) {
                    to = broken.max(from);
                }
            }
            MotionReach::Before => {}
        }
        self.operate(text, caret, op, (from, to), false)
    }

    fn goal(&mut self, text: &Text, caret: usize, verb: Verb) -> Option<Goal> {
        let given = self.count.take();
        let before = self.op.map_or(1, |(_, count)| count);
        let counted = given.is_some() || before > 1;
        let count = given.unwrap_or(1).max(1) * before;
        let count = count.min(super::MOST);
        let repeat = |step: &dyn Fn(usize) -> usize| (0..count.min(text.len() + 1)).fold(caret, |at, _| step(at));
        let (start, end) = (text.line_start(caret), text.line_end(caret));
        let col = caret - start;
        let lines = |by: isize| {
            let line = text.line(caret, by)?;
            let at = (line + col).min(text.line_end(line));
            Some(Goal { at, reach: MotionReach::Lines })
        };
        let by = isize::try_from(count).unwrap_or(1);
        let before = |at: usize| Some(Goal { at, reach: MotionReach::Before });
        let on = |at: usize| Some(Goal { at, reach: MotionReach::On });
        match verb {
            Verb::Left => before(repeat(&|at| text.previous(at).max(start))),
            Verb::Right => before(repeat(&|at| text.next(at).min(end))),
            Verb::Up => lines(-by),
            Verb::Down => lines(by),
            // To change a word is to change it to its end, not to the next one.
            Verb::Word | Verb::BigWord
                if self.op.is_some_and(|(op, _)| op == Op::Change)
                    && text.at(caret).is_some_and(|c| !c.is_whitespace()) =>
            {
                let big = verb == Verb::BigWord;
                let mut at = caret;
                while at + 1 < text.len() && text.class(at + 1, big) == text.class(at, big) {
                    at += 1;
                }
                on((1..count.min(text.len() + 1)).fold(at, |at, _| text.word_end(at, big)))
            }
            Verb::Word => before(repeat(&|at| text.word(at, false))),
            Verb::BigWord => before(repeat(&|at| text.word(at, true))),
            Verb::WordBack => before(repeat(&|at| text.word_back(at, false))),
            Verb::BigWordBack => before(repeat(&|at| text.word_back(at, true))),
            Verb::WordEnd => on(repeat(&|at| text.word_end(at, false))),
            Verb::BigWordEnd => on(repeat(&|at| text.word_end(at, true))),
            Verb::LineStart => before(start),
            Verb::FirstSign => before(text.first_sign(caret)),
            Verb::LineEnd => {
                let line = text.line(caret, by - 1).unwrap_or(caret);
                before(text.line_end(line))
            }
            Verb::FirstLine | Verb::LastLine => {
                let last = text.place(text.len()).0;
                let row = if counted { count - 1 } else { last * usize::from(verb == Verb::LastLine) };
                let at = text.first_sign(text.flat(row.min(last), 0));
                Some(Goal { at, reach: MotionReach::Lines })
            }
            Verb::Pair => on(object::partner(text, caret)?),
            Verb::FindAgain | Verb::FindAgainBack => {
                let (find, c) = self.found?;
                let find = if verb == Verb::FindAgain { find } else { find.back() };
                Self::to_char(text, caret, (find, c, count), true)
            }
            _ => None,
        }
    }

    fn to_char(text: &Text, caret: usize, (find, c, count): (Find, char, usize), again: bool) -> Option<Goal> {
        let mut at = find.seek(text, caret, c, count)?;
        // Done again, it does not stay before the very same one.
        if again && at == caret {
            at = find.seek(text, caret, c, count + 1)?;
        }
        let forward = matches!(find, Find::On | Find::Till);
        Some(Goal { at, reach: if forward { MotionReach::On } else { MotionReach::Before } })
    }

    /// The character that a verb waited for.
    pub(super) fn character(&mut self, text: &Text, caret: usize, awaits: Awaits, c: char) -> Vec<Do> {
        match awaits {
            Awaits::Find(find) => {
                self.found = Some((find, c));
                let before = self.op.map_or(1, |(_, count)| count);
                let count = (self.take_count() * before).min(super::MOST);
                let goal = Self::to_char(text, caret, (find, c, count), false);
                self.reach(text, caret, goal, false)
            }
            Awaits::Object { around } => {
                let found = object::object(text, caret, c, around);
                match (found, self.op.take(), self.mode) {
                    (Some(range), Some((op, _)), _) => self.operate(text, caret, op, range, false),
                    (Some((from, to)), None, Mode::Visual | Mode::VisualLine) if to > from => {
                        self.anchor = from;
                        vec![Do::Move(text.previous(to))]
                    }
                    _ => {
                        self.forget();
                        Vec::new()
                    }
                }
            }
            Awaits::Replace => {
                let count = self.take_count();
                let c = sanitise::clean_line(&c.to_string()).into_owned();
                if let Some((from, to)) = self.marked(text, caret) {
                    self.mode = Mode::Normal;
                    let kept = text.slice(from, to);
                    let with = kept.chars().map(|old| if old == '\n' { "\n" } else { c.as_str() }).collect();
                    return vec![Do::Splice { from, to, with, caret: from }];
                }
                let end = text.line_end(caret);
                let mut to = caret;
                for _ in 0..count {
                    if to >= end {
                        return Vec::new();
                    }
                    to = text.next(to);
                }
                vec![Do::Splice { from: caret, to, with: c.repeat(count), caret: caret + count - 1 }]
            }
        }
    }
}

fn is_motion(verb: Verb) -> bool {
    use Verb::{
        BigWord, BigWordBack, BigWordEnd, Down, FindAgain, FindAgainBack, FirstLine, FirstSign, LastLine, Left,
    };
    use Verb::{LineEnd, LineStart, Pair, Right, Up, Word, WordBack, WordEnd};
    matches!(
        verb,
        Left | Right
            | Up
            | Down
            | Word
            | WordBack
            | WordEnd
            | BigWord
            | BigWordBack
            | BigWordEnd
            | LineStart
            | FirstSign
            | LineEnd
            | FirstLine
            | LastLine
            | FindAgain
            | FindAgainBack
            | Pair
    )
}
