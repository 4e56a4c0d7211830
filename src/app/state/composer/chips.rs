//! Chips: what stands in a draft in the place of something longer. A pasted text is one in the text, a file one above it.
//! Each is one thing for the caret: it is selected, taken out or opened whole, and the caret never stands inside it.

use super::{CHIP_CHARS, Composer, UNFOLD_LINES, chip_label};
use crate::app::state::edit::Done;
use crate::keymap::action::ComposerAction as Verb;

/// A chip in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chip {
    /// Its line.
    pub row: usize,
    /// Start in its line, in characters.
    pub start: usize,
    /// Its characters.
    pub len: usize,
    /// Its place among the pasted texts.
    number: usize,
}

impl Chip {
    /// End in its line, in characters.
    #[must_use]
    pub fn end(self) -> usize {
        self.start + self.len
    }
}

/// Selected chip or file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picked {
    /// A chip in the text.
    Chip(Chip),
    /// A file, by its place.
    File(usize),
}

impl Composer {
    /// Selected chip or file, if it still exists.
    #[must_use]
    pub fn picked(&self) -> Option<Picked> {
        self.picked.filter(|picked| match picked {
            Picked::Chip(chip) => self.chips().contains(chip),
            Picked::File(at) => *at < self.files.items().len(),
        })
    }

    /// Selects something.
    pub fn pick(&mut self, picked: Picked) {
        if let Picked::Chip(chip) = picked {
            self.editor.place(chip.row, chip.end());
        }
        self.picked = Some(picked);
    }

    /// Nothing is selected any more. Whether something was.
    pub fn unpick(&mut self) -> bool {
        self.picked.take().is_some()
    }

    /// All chips of the text, from its beginning.
    #[must_use]
    pub fn chips(&self) -> Vec<Chip> {
        let mut out = Vec::new();
        if self.chips.is_empty() {
            return out;
        }
        for (row, line) in self.editor.lines().iter().enumerate() {
            let mut rest = line.as_str();
            while let Some((_, number, after)) = self.next_chip(rest) {
                let label = self.label(number);
                let start = line[..line.len() - after.len() - label.len()].chars().count();
                out.push(Chip { row, start, len: label.chars().count(), number });
                rest = after;
            }
        }
        out
    }

    pub(super) fn label(&self, number: usize) -> String {
        self.chips.get(number).map_or_else(String::new, |text| chip_label(number + 1, text))
    }

    /// The first chip in `text`: what stands before it, its place in `chips`, what stands after it.
    pub(super) fn next_chip<'t>(&self, text: &'t str) -> Option<(&'t str, usize, &'t str)> {
        (0..self.chips.len())
            .filter_map(|number| {
                let label = self.label(number);
                let at = text.find(&label)?;
                Some((&text[..at], number, &text[at + label.len()..]))
            })
            .min_by_key(|(before, ..)| before.len())
    }

    /// Applies a verb to chips. `None`: it does not concern them, and the text is edited.
    pub(super) fn step(&mut self, verb: Verb) -> Option<Done> {
        let (row, col) = self.editor.caret();
        let picked = self.picked();
        self.picked = None;
        match (picked, verb) {
            (Some(Picked::Chip(chip)), Verb::Left) => self.editor.place(chip.row, chip.start),
            (Some(Picked::Chip(chip)), Verb::Right) => self.editor.place(chip.row, chip.end()),
            (Some(Picked::Chip(chip)), Verb::Backspace | Verb::Delete) => return Some(self.take_out(chip)),
            (Some(Picked::File(at)), Verb::Left) => self.picked = Some(Picked::File(at.saturating_sub(1))),
            (Some(Picked::File(at)), Verb::Right) if at + 1 < self.files.items().len() => {
                self.picked = Some(Picked::File(at + 1));
            }
            (Some(Picked::File(_)), Verb::Right) => {}
            (None, Verb::Left | Verb::Backspace) => {
                let chip = self.chips().into_iter().find(|chip| chip.row == row && chip.end() == col);
                match (chip, self.files.items().len().checked_sub(1)) {
                    (Some(chip), _) if verb == Verb::Backspace => return Some(self.take_out(chip)),
                    (Some(chip), _) => self.picked = Some(Picked::Chip(chip)),
                    (None, Some(last)) if verb == Verb::Left && (row, col) == (0, 0) => {
                        self.picked = Some(Picked::File(last));
                    }
                    _ => return None,
                }
            }
            (None, Verb::Right | Verb::Delete) => {
                let chip = self.chips().into_iter().find(|chip| chip.row == row && chip.start == col)?;
                if verb == Verb::Delete {
                    return Some(self.take_out(chip));
                }
                self.picked = Some(Picked::Chip(chip));
            }
            _ => return None,
        }
        Some(Done::Moved)
    }

    fn take_out(&mut self, chip: Chip) -> Done {
        self.editor.cut(chip.row, chip.start, chip.len);
        self.changed();
        Done::Changed
    }

    /// Takes the caret out of a chip: on to its end, or back to its beginning.
    pub(super) fn out_of_chips(&mut self, before: (usize, usize)) {
        let (row, col) = self.editor.caret();
        let inside = |chip: &Chip| chip.row == row && chip.start < col && col < chip.end();
        if let Some(chip) = self.chips().into_iter().find(inside) {
            let at = if (row, col) > before { chip.end() } else { chip.start };
            self.editor.place(row, at);
        }
    }

    /// Unfolds the chip at the caret, else the last one. `Err` holds its lines when there are too many of them.
    ///
    /// # Errors
    /// The number of its lines, if it is too long.
    pub fn unfold(&mut self) -> Result<bool, usize> {
        let (row, col) = self.editor.caret();
        let all = self.chips();
        let here = |chip: &&Chip| chip.row == row && (chip.start..=chip.end()).contains(&col);
        let picked = self.picked().and_then(|picked| match picked {
            Picked::Chip(chip) => Some(chip),
            Picked::File(_) => None,
        });
        match picked.or(all.iter().find(here).or(all.last()).copied()) {
            Some(chip) => self.unfold_at(chip).map(|()| true),
            None => Ok(false),
        }
    }

    fn unfold_at(&mut self, chip: Chip) -> Result<(), usize> {
        let text = self.chips.get(chip.number).cloned().unwrap_or_default();
        let lines = text.lines().count();
        if lines > UNFOLD_LINES || text.len() > 50 * CHIP_CHARS {
            return Err(lines);
        }
        self.editor.cut(chip.row, chip.start, chip.len);
        self.editor.insert(&text);
        self.changed();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(n: usize) -> String {
        (0..n).map(|n| format!("l{n}\n")).collect()
    }

    fn two() -> Composer {
        let mut composer = Composer::default();
        composer.insert("a");
        composer.paste(&lines(21));
        composer.insert("b");
        composer.paste(&lines(30));
        composer
    }

    const ONE: &str = "[Pasted text #1 +21 lines]";
    const TWO: &str = "[Pasted text #2 +30 lines]";

    #[test]
    fn the_caret_goes_over_chips_and_selects_them() {
        let mut composer = two();
        let chips = composer.chips();
        assert_eq!(composer.editor().text(), format!("a{ONE}b{TWO}"));
        assert_eq!(composer.edit(Verb::Left), Done::Moved);
        assert_eq!(composer.picked(), Some(Picked::Chip(chips[1])));
        composer.edit(Verb::Left);
        assert_eq!((composer.picked(), composer.editor().caret()), (None, (0, chips[1].start)));
        composer.edit(Verb::Left);
        composer.edit(Verb::Left);
        assert_eq!(composer.picked(), Some(Picked::Chip(chips[0])));
        composer.edit(Verb::Left);
        assert_eq!(composer.editor().caret(), (0, 1));
        composer.edit(Verb::Right);
        assert_eq!(composer.picked(), Some(Picked::Chip(chips[0])));
        composer.edit(Verb::Right);
        assert_eq!(composer.editor().caret(), (0, chips[0].end()));
        // By words it does not stop inside.
        composer.edit(Verb::WordBack);
        assert_eq!(composer.editor().caret(), (0, chips[0].start));
        composer.edit(Verb::WordForward);
        assert_eq!(composer.editor().caret(), (0, chips[0].end()));
    }

    #[test]
    fn a_selected_chip_is_taken_out_opened_and_comes_back() {
        let mut composer = two();
        let chips = composer.chips();
        composer.pick(Picked::Chip(chips[0]));
        assert_eq!(composer.edit(Verb::Backspace), Done::Changed);
        assert_eq!(composer.editor().text(), format!("ab{TWO}"));
        assert_eq!(composer.edit(Verb::Undo), Done::Changed);
        assert_eq!(composer.text(), format!("a{}b{}", lines(21), lines(30)), "with all of its text");
        composer.pick(Picked::Chip(chips[0]));
        assert_eq!(composer.unfold(), Ok(true));
        assert_eq!(composer.editor().text(), format!("a{}b{TWO}", lines(21)));
        assert_eq!(composer.picked(), None);
        // What is typed while one is selected stands behind it.
        let mut composer = two();
        composer.edit(Verb::Left);
        composer.type_char('!');
        assert_eq!((composer.editor().text(), composer.picked()), (format!("a{ONE}b{TWO}!"), None));
        composer.edit(Verb::LineStart);
        composer.edit(Verb::Right);
        assert_eq!(composer.edit(Verb::Delete), Done::Changed);
        assert_eq!(composer.editor().text(), format!("ab{TWO}!"));
    }
}
