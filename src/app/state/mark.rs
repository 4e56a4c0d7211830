//! Selection in a conversation, for copying: from one position of its logical text to another.
//!
//! Places are bound to entries and their logical lines, not to rows of the screen: so neither what streams in nor another
//! size of the window moves them. Only the drawing knows the text: it says what lies under the mouse ([`Spot`]) and hands
//! over what is marked.

/// A place in the logical text of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The entry's key.
    pub key: i64,
    /// Logical line of the entry, from 0.
    pub line: u32,
    /// The byte of that line before which it lies.
    pub at: u32,
}

/// Position under the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The entry's key.
    pub key: i64,
    /// Logical line of the entry, from 0.
    pub line: u32,
    /// The bytes of the character; empty beside the text.
    pub sign: (u32, u32),
    /// The bytes of the word that it is in.
    pub word: (u32, u32),
    /// Bytes of the line.
    pub len: u32,
}

impl Spot {
    /// The two ends of the character, the word or the line here.
    #[must_use]
    pub fn ends(self, unit: Unit) -> (Place, Place) {
        let (from, to) = match unit {
            Unit::Sign => self.sign,
            Unit::Word => self.word,
            Unit::Line => (0, self.len),
        };
        let at = |at: u32| Place { key: self.key, line: self.line, at };
        (at(from), at(to))
    }
}

/// Unit of a selection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Characters.
    #[default]
    Sign,
    /// Words.
    Word,
    /// Logical lines.
    Line,
}

impl Unit {
    /// Unit for a number of quick presses.
    #[must_use]
    pub fn of_presses(times: u8) -> Self {
        match times {
            0 | 1 => Self::Sign,
            2 => Self::Word,
            _ => Self::Line,
        }
    }
}

/// Selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Start: both ends of the character, word or line there.
    pub anchor: (Place, Place),
    /// Moving end.
    pub head: (Place, Place),
    /// Unit.
    pub unit: Unit,
    /// Keys make it: they move its head until it is copied or cancelled. One of the mouse goes with the next key.
    pub by_keys: bool,
    /// Lines that the head still has to move, down if positive: drawing does it, and reports the result.
    pub steps: i64,
    /// The next frame hands over its text, to be copied.
    pub wanted: bool,
}

impl Mark {
    /// A mark on what lies at a spot.
    #[must_use]
    pub fn at(spot: Spot, unit: Unit) -> Self {
        let ends = spot.ends(unit);
        Self { anchor: ends, head: ends, unit, by_keys: false, steps: 0, wanted: false }
    }

    /// From where to where it goes.
    #[must_use]
    pub fn range(&self) -> (Place, Place) {
        let (mut from, mut to) = (self.anchor.0.min(self.head.0), self.anchor.1.max(self.head.1));
        if self.unit == Unit::Line {
            // Whole lines, however long they are by now.
            (from.at, to.at) = (0, u32::MAX);
        }
        (from, to)
    }
}

/// Facts about the selection that the last frame found out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marked {
    /// Current head, and the number of its steps that led there.
    pub head: Option<((Place, Place), i64)>,
    /// The marked text, if it was wanted.
    pub text: Option<String>,
    /// The first and the last place on the screen.
    pub seen: Option<(Spot, Spot)>,
}

/// The mouse button is down on the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pressed {
    /// The cell.
    pub cell: (u16, u16),
    /// Time of the press.
    pub when: crate::domain::At,
    /// Number of presses there in short succession.
    pub times: u8,
    /// Position in the conversation, if any.
    pub spot: Option<Spot>,
    /// The entry was the chosen one already.
    pub chosen: bool,
    /// It is down still.
    pub down: bool,
    /// Lines to scroll at each tick while the mouse is beyond an edge, down if positive.
    pub pull: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spot(line: u32, at: u32) -> Spot {
        Spot { key: 1, line, sign: (at, at + 1), word: (2, 6), len: 9 }
    }

    #[test]
    fn a_mark_holds_both_of_its_ends_whichever_comes_first() {
        let place = |line, at| Place { key: 1, line, at };
        for (unit, want) in [
            (Unit::Sign, (place(0, 3), place(2, 6))),
            (Unit::Word, (place(0, 2), place(2, 6))),
            (Unit::Line, (place(0, 0), place(2, u32::MAX))),
        ] {
            let (one, other) = (spot(0, 3), spot(2, 5));
            let down = Mark { head: other.ends(unit), ..Mark::at(one, unit) };
            let up = Mark { head: one.ends(unit), ..Mark::at(other, unit) };
            assert_eq!((down.range(), up.range()), (want, want), "{unit:?}");
        }
    }
}
