//! The signs of the screen, once with Unicode and once in ASCII for consoles, other locales, and terminals that draw
//! an ambiguous sign two cells wide. Each is one cell. Never the only bearer of a meaning: a word stands by it or the
//! place says it.

use crate::domain::Mode;

/// Glyphs that the terminal draws well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GlyphSet {
    /// Unicode.
    #[default]
    Unicode,
    /// ASCII only.
    Ascii,
}

/// A set of signs.
#[derive(Debug, PartialEq, Eq)]
pub struct Glyphs {
    /// Signs of a session in the lists.
    pub session: SessionGlyphs,
    /// Cells of meters.
    pub meter: MeterGlyphs,
    /// Lines between panes and around sheets.
    pub lines: LineGlyphs,
    /// Arrows.
    pub arrows: ArrowGlyphs,
    /// Signs of outcomes.
    pub marks: MarkGlyphs,
    /// The frames of something that runs.
    pub spinner: &'static [&'static str],
    /// A group or entry that is open.
    pub open: &'static str,
    /// A group or entry that is closed.
    pub closed: &'static str,
    /// Before the composer's text.
    pub prompt: &'static str,
    /// Before a queued message.
    pub bar: &'static str,
    /// The mark that stops a turn.
    pub stop: &'static str,
    /// Between two facts.
    pub dot: &'static str,
    /// Sign of truncated text.
    pub cut: &'static str,
    /// Before a number of removed lines.
    pub minus: &'static str,
    /// Explore, Ask to Edit, Execute.
    modes: [&'static str; 3],
}

/// Signs of a session in the lists.
#[derive(Debug, PartialEq, Eq)]
pub struct SessionGlyphs {
    /// A session that needs the user.
    pub needs_you: &'static str,
    /// A session whose last turn failed.
    pub failed: &'static str,
    /// A session whose last turn was interrupted.
    pub interrupted: &'static str,
    /// A session with something new.
    pub unread: &'static str,
    /// A session whose plan waits.
    pub plan: &'static str,
    /// A session that is being stopped.
    pub stopping: &'static str,
    /// At the edge of the list: the session that is shown.
    pub current: &'static str,
    /// A session with a mark that the user set.
    pub flag: &'static str,
    /// At the edge of the list: a session that is marked.
    pub marked: &'static str,
    /// A session is done.
    pub done: &'static str,
    /// A cancelled session.
    pub cancelled: &'static str,
    /// A session that was branched off another one.
    pub branched: &'static str,
}

/// Cells of meters.
#[derive(Debug, PartialEq, Eq)]
pub struct MeterGlyphs {
    /// A meter, as far as it is full.
    pub full: &'static str,
    /// The rest of a meter.
    pub empty: &'static str,
    /// A cell of a meter that is used.
    pub used: &'static str,
    /// A cell of a meter that is free.
    pub free: &'static str,
}

/// Lines between panes and around sheets.
#[derive(Debug, PartialEq, Eq)]
pub struct LineGlyphs {
    /// The line between the panes.
    pub rule: &'static str,
    /// The line above the composer.
    pub line: &'static str,
    /// The corners of a frame, from the top left on, row by row.
    pub corners: [&'static str; 4],
    /// Fork of the rule into a branch.
    pub branch: &'static str,
}

/// Arrows.
#[derive(Debug, PartialEq, Eq)]
pub struct ArrowGlyphs {
    /// Sign of more content above.
    pub up: &'static str,
    /// Sign of more content below.
    pub down: &'static str,
    /// To the left.
    pub left: &'static str,
    /// To the right.
    pub right: &'static str,
}

/// Signs of outcomes.
#[derive(Debug, PartialEq, Eq)]
pub struct MarkGlyphs {
    /// A warning.
    pub warning: &'static str,
    /// Sign of yes, or of success.
    pub check: &'static str,
    /// Sign of partly yes.
    pub partly: &'static str,
}

impl Glyphs {
    /// Sign that something follows or is left out, where there is room for all of it.
    #[must_use]
    pub fn ellipsis(&self) -> &'static str {
        if self.cut.is_ascii() { "..." } else { self.cut }
    }

    /// The signs of a set.
    #[must_use]
    pub fn of(set: GlyphSet) -> &'static Self {
        match set {
            GlyphSet::Unicode => &UNICODE,
            GlyphSet::Ascii => &ASCII,
        }
    }

    /// Signs of the list with their meaning, for the legend.
    #[must_use]
    pub fn legend(&self) -> [(&'static str, &'static str); 10] {
        let [explore, ask, execute] = self.modes;
        [
            (self.session.needs_you, "needs you"),
            (self.session.plan, "plan pending"),
            (self.session.failed, "failed"),
            (self.session.interrupted, "interrupted"),
            (self.session.unread, "unread"),
            (self.session.flag, "flagged"),
            (self.session.branched, "branched session"),
            (explore, Mode::Explore.shown()),
            (ask, Mode::Ask.shown()),
            (execute, Mode::Execute.shown()),
        ]
    }

    /// The sign of a mode.
    #[must_use]
    pub fn mode(&self, mode: Mode) -> &'static str {
        let [explore, ask, execute] = self.modes;
        match mode {
            Mode::Explore => explore,
            Mode::Ask => ask,
            Mode::Execute => execute,
        }
    }

    /// The spinner's sign at `frame`.
    #[must_use]
    pub fn spin(&self, frame: usize) -> &'static str {
        let frames = self.spinner.len().max(1);
        self.spinner.get(frame % frames).copied().unwrap_or(" ")
    }
}

/// The usual signs.
pub const UNICODE: Glyphs = Glyphs {
    session: SessionGlyphs {
        needs_you: "●",
        failed: "✗",
        interrupted: "⊘",
        unread: "•",
        plan: "≡",
        stopping: "◌",
        current: "▎",
        flag: "⚑",
        marked: "┃",
        done: "✓",
        cancelled: "⊖",
        branched: "↳",
    },
    meter: MeterGlyphs { full: "━", empty: "─", used: "█", free: "░" },
    lines: LineGlyphs { rule: "│", line: "─", corners: ["┌", "┐", "└", "┘"], branch: "├" },
    arrows: ArrowGlyphs { up: "↑", down: "↓", left: "←", right: "→" },
    marks: MarkGlyphs { warning: "▲", check: "✓", partly: "~" },
    spinner: &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
    open: "▾",
    closed: "▸",
    prompt: "›",
    bar: "▌",
    stop: "■",
    dot: "·",
    cut: "…",
    minus: "−",
    modes: ["◇", "◆", "»"],
};

/// The same in ASCII.
pub const ASCII: Glyphs = Glyphs {
    session: SessionGlyphs {
        needs_you: "*",
        failed: "x",
        interrupted: "?",
        unread: "o",
        plan: "=",
        stopping: ".",
        current: "|",
        flag: "F",
        marked: "@",
        done: "+",
        cancelled: "/",
        branched: "&",
    },
    meter: MeterGlyphs { full: "#", empty: "-", used: "#", free: "." },
    lines: LineGlyphs { rule: "|", line: "-", corners: ["+", "+", "+", "+"], branch: "|" },
    arrows: ArrowGlyphs { up: "^", down: "v", left: "<", right: ">" },
    marks: MarkGlyphs { warning: "!", check: "+", partly: "~" },
    spinner: &["|", "/", "-", "\\"],
    open: "v",
    closed: ">",
    prompt: ">",
    bar: "|",
    stop: "#",
    dot: "-",
    cut: "~",
    minus: "-",
    modes: ["E", "A", "X"],
};

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn a_sign_means_one_thing() {
        for set in [&UNICODE, &ASCII] {
            let mut signs: Vec<&str> = set.legend().iter().map(|(sign, _)| *sign).collect();
            signs.extend([set.session.stopping, set.session.marked, set.marks.warning, set.session.cancelled]);
            signs.extend([set.stop, set.open, set.closed, set.marks.partly]);
            // What is done or allowed has one sign, which is never that of a row that failed.
            assert_eq!(set.marks.check, set.session.done);
            assert!(!["x", "✗"].contains(&set.marks.check), "{}", set.marks.check);
            let count = signs.len();
            signs.sort_unstable();
            signs.dedup();
            assert_eq!(signs.len(), count, "{signs:?}");
        }
    }

    #[test]
    fn every_sign_is_one_cell() {
        for set in [&UNICODE, &ASCII] {
            let mut all: Vec<&str> = Mode::ALL.iter().map(|mode| set.mode(*mode)).collect();
            all.extend(set.spinner);
            all.extend([
                set.session.needs_you,
                set.session.failed,
                set.session.interrupted,
                set.session.unread,
                set.session.plan,
                set.session.stopping,
                set.session.flag,
                set.open,
                set.closed,
                set.lines.rule,
            ]);
            all.extend([
                set.lines.line,
                set.lines.branch,
                set.prompt,
                set.bar,
                set.stop,
                set.dot,
                set.cut,
                set.arrows.up,
                set.arrows.down,
            ]);
            all.extend([set.arrows.left, set.arrows.right, set.marks.warning, set.session.marked, set.marks.check]);
            all.extend([
                set.session.done,
                set.session.cancelled,
                set.marks.partly,
                set.session.branched,
                set.meter.used,
                set.meter.free,
            ]);
            for sign in &all {
                assert_eq!(sign.width(), 1, "{sign}");
            }
            assert_eq!(set == &ASCII, all.iter().all(|sign| sign.is_ascii()));
        }
    }
}
