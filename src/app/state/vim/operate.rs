//! Effects of operators and of verbs without a motion on the text.

use super::text::Text;
use super::{Do, Mode, Op, Register, Vim};
use crate::keymap::action::VimAction as Verb;

impl Vim {
    /// An operator: for what is marked at once, for the lines when it comes twice, else it waits for a motion.
    pub(super) fn operator(&mut self, text: &Text, caret: usize, op: Op, marked: Option<(usize, usize)>) -> Vec<Do> {
        if let Some(range) = marked {
            let lines = self.mode == Mode::VisualLine;
            self.mode = Mode::Normal;
            return self.operate(text, caret, op, range, lines);
        }
        match self.op.take() {
            None => {
                self.op = Some((op, self.take_count()));
                Vec::new()
            }
            Some((before, count)) if before == op => {
                let count = (self.take_count() * count).min(super::MOST);
                let range = lines(text, caret, count);
                self.operate(text, caret, op, range, true)
            }
            Some(_) => {
                self.forget();
                Vec::new()
            }
        }
    }

    /// Does what an operator does with a range, which is made of whole lines with `by_lines`.
    pub(super) fn operate(
        &mut self,
        text: &Text,
        caret: usize,
        op: Op,
        (from, to): (usize, usize),
        by_lines: bool,
    ) -> Vec<Do> {
        self.count = None;
        if let Op::Indent | Op::Outdent = op {
            return moved(text, op, (from, to));
        }
        if from == to && !by_lines && op != Op::Change {
            return Vec::new();
        }
        self.register = Register { text: text.slice(from, to), lines: by_lines };
        match op {
            Op::Yank if by_lines && text.line_start(caret) == from => vec![Do::Move(text.on_a_sign(caret))],
            Op::Yank => vec![Do::Move(text.on_a_sign(from))],
            Op::Change => {
                self.insert();
                vec![Do::Splice { from, to, with: String::new(), caret: from }]
            }
            Op::Delete if by_lines => {
                // With the line break behind it, at the end of the text with the one before it.
                let (from, to, caret) = match (to < text.len(), from) {
                    (true, _) => (from, to + 1, from),
                    (false, 0) => (0, to, 0),
                    (false, _) => (from - 1, to, text.line_start(from - 1)),
                };
                vec![Do::Splice { from, to, with: String::new(), caret }]
            }
            Op::Delete | Op::Indent | Op::Outdent => {
                vec![Do::Splice { from, to, with: String::new(), caret: from }]
            }
        }
    }

    /// A verb that needs no motion.
    pub(super) fn simple(&mut self, text: &Text, caret: usize, verb: Verb, marked: Option<(usize, usize)>) -> Vec<Do> {
        let (start, end) = (text.line_start(caret), text.line_end(caret));
        if let (Some(range), Some(op)) = (marked, on_marked(verb)) {
            // The capital ones take whole lines.
            let by_lines = self.mode == Mode::VisualLine || matches!(verb, Verb::SubstituteLine | Verb::DeleteToEnd);
            let range = if by_lines { (text.line_start(range.0), text.line_end(range.1)) } else { range };
            self.mode = Mode::Normal;
            return self.operate(text, caret, op, range, by_lines);
        }
        match verb {
            Verb::DeleteChar | Verb::Substitute => {
                let to = (0..self.take_count().min(text.len() + 1)).fold(caret, |at, _| text.next(at).min(end));
                let op = if verb == Verb::Substitute { Op::Change } else { Op::Delete };
                self.operate(text, caret, op, (caret, to), false)
            }
            Verb::DeleteCharBack => {
                let count = self.take_count().min(text.len() + 1);
                let from = (0..count).fold(caret, |at, _| text.previous(at).max(start));
                self.operate(text, caret, Op::Delete, (from, caret), false)
            }
            Verb::DeleteToEnd => self.operate(text, caret, Op::Delete, (caret, end), false),
            Verb::ChangeToEnd => self.operate(text, caret, Op::Change, (caret, end), false),
            Verb::YankLine | Verb::SubstituteLine => {
                let op = if verb == Verb::YankLine { Op::Yank } else { Op::Change };
                let range = lines(text, caret, self.take_count());
                self.operate(text, caret, op, range, true)
            }
            Verb::Case => self.case(text, caret, marked),
            Verb::Join => self.join(text, caret, marked),
            Verb::Put | Verb::PutBefore => self.put(text, caret, verb == Verb::Put, marked),
            // What is marked stays marked; typing begins from Normal.
            _ if marked.is_some() => Vec::new(),
            Verb::Insert => self.type_at(caret),
            Verb::InsertStart => self.type_at(text.first_sign(caret)),
            Verb::Append => self.type_at(text.next(caret).min(end)),
            Verb::AppendEnd => self.type_at(end),
            Verb::OpenBelow | Verb::OpenAbove => {
                let below = verb == Verb::OpenBelow;
                let at = if below { end } else { start };
                self.insert();
                self.opens = true;
                vec![Do::Splice { from: at, to: at, with: "\n".into(), caret: at + usize::from(below) }]
            }
            _ => Vec::new(),
        }
    }

    fn type_at(&mut self, at: usize) -> Vec<Do> {
        self.insert();
        vec![Do::Move(at)]
    }

    fn case(&mut self, text: &Text, caret: usize, marked: Option<(usize, usize)>) -> Vec<Do> {
        let end = text.line_end(caret);
        let (from, to) = match marked {
            Some(range) => range,
            None => {
                let count = self.take_count().min(text.len() + 1);
                (caret, (0..count).fold(caret, |at, _| text.next(at).min(end)))
            }
        };
        if from == to {
            return Vec::new();
        }
        self.mode = Mode::Normal;
        let mut with = String::new();
        for c in text.slice(from, to).chars() {
            if c.is_uppercase() {
                with.extend(c.to_lowercase());
            } else {
                with.extend(c.to_uppercase());
            }
        }
        let behind = from + with.chars().count();
        vec![Do::Splice { from, to, with, caret: if marked.is_some() { from } else { behind } }]
    }

    fn join(&mut self, text: &Text, caret: usize, marked: Option<(usize, usize)>) -> Vec<Do> {
        let counted = self.take_count();
        let (mut at, breaks) = match marked {
            Some((from, to)) => (from, text.slice(from, to).matches('\n').count().max(1)),
            None => (caret, counted.max(2) - 1),
        };
        self.mode = Mode::Normal;
        let begin = text.line_start(at);
        let mut with = text.slice(begin, text.line_end(at));
        let mut caret = caret;
        let mut joined = false;
        for _ in 0..breaks {
            let end = text.line_end(at);
            if end == text.len() {
                break;
            }
            let next = text.slice(end + 1, text.line_end(end + 1));
            let next = next.trim_start();
            caret = begin + with.chars().count();
            if !next.is_empty() && !with.is_empty() && !with.ends_with(char::is_whitespace) {
                with.push(' ');
            }
            with.push_str(next);
            (at, joined) = (end + 1, true);
        }
        if !joined {
            return Vec::new();
        }
        vec![Do::Splice { from: begin, to: text.line_end(at), with, caret }]
    }

    fn put(&mut self, text: &Text, caret: usize, behind: bool, marked: Option<(usize, usize)>) -> Vec<Do> {
        let Register { text: kept, lines } = self.register.clone();
        let count = self.take_count();
        if kept.is_empty() && !lines {
            return Vec::new();
        }
        let room = 1_000_000 / kept.len().max(1);
        let count = count.min(room.max(1));
        if let Some((from, to)) = marked {
            // What is replaced can be put somewhere else then.
            let by_lines = self.mode == Mode::VisualLine;
            self.mode = Mode::Normal;
            self.register = Register { text: text.slice(from, to), lines: by_lines };
            let with = if lines && !by_lines { format!("\n{kept}\n") } else { kept };
            return vec![Do::Splice { from, to, with, caret: from }];
        }
        let (start, end) = (text.line_start(caret), text.line_end(caret));
        if lines {
            let all = vec![kept.as_str(); count].join("\n");
            let lead = kept.chars().take_while(|c| *c != '\n' && c.is_whitespace()).count();
            return vec![if behind {
                Do::Splice { from: end, to: end, with: format!("\n{all}"), caret: end + 1 + lead }
            } else {
                Do::Splice { from: start, to: start, with: format!("{all}\n"), caret: start + lead }
            }];
        }
        let at = if behind { text.next(caret).min(end) } else { caret };
        let with = kept.repeat(count);
        let caret = at + with.chars().count().saturating_sub(1);
        vec![Do::Splice { from: at, to: at, with, caret }]
    }
}

/// Operator that a verb stands for while text is selected.
fn on_marked(verb: Verb) -> Option<Op> {
    Some(match verb {
        Verb::DeleteChar | Verb::DeleteCharBack | Verb::DeleteToEnd => Op::Delete,
        Verb::Substitute | Verb::SubstituteLine | Verb::ChangeToEnd => Op::Change,
        Verb::YankLine => Op::Yank,
        _ => return None,
    })
}

/// Blanks that a line is moved by.
const STEP: &str = "    ";

/// The lines of a range, moved to the right or to the left; the caret goes to the first sign of the first one.
fn moved(text: &Text, op: Op, (from, to): (usize, usize)) -> Vec<Do> {
    let last = if to > from { to - 1 } else { to };
    let (from, to) = (text.line_start(from), text.line_end(last.max(from)));
    let line = |line: &str| match op {
        _ if line.is_empty() => String::new(),
        Op::Indent => format!("{STEP}{line}"),
        _ => {
            let blanks = line.chars().take(STEP.len()).take_while(|c| *c == ' ').count();
            line.strip_prefix('\t').or_else(|| line.get(blanks..)).unwrap_or(line).to_owned()
        }
    };
    let with = text.slice(from, to).split('\n').map(line).collect::<Vec<_>>().join("\n");
    if with == text.slice(from, to) {
        return vec![Do::Move(text.first_sign(from))];
    }
    let lead = with.chars().take_while(|c| *c == ' ' || *c == '\t').count();
    vec![Do::Splice { from, to, with, caret: from + lead }]
}

/// Range of whole lines from that of the caret on.
fn lines(text: &Text, caret: usize, count: usize) -> (usize, usize) {
    let mut end = text.line_end(caret);
    for _ in 1..count {
        if end >= text.len() {
            break;
        }
        end = text.line_end(end + 1);
    }
    (text.line_start(caret), end)
}
