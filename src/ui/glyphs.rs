//! The signs of the screen, once with Unicode and once in ASCII for consoles, other locales, and terminals that draw
//! an ambiguous sign two cells wide. Each is one cell. Never the only bearer of a meaning: a word stands by it or the
//! place says it.

use crate::domain::Mode;

/// A set of signs.
#[derive(Debug, PartialEq, Eq)]
pub struct Glyphs {
    /// A meter, as far as it is full.
    pub full: &'static str,
    /// The rest of a meter.
    pub empty: &'static str,
    /// A session that needs the user.
    pub needs_you: &'static str,
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
    /// A label without its name.
    pub label: &'static str,
    /// Work on a session is begun.
    pub begun: &'static str,
    /// A session is to be looked at.
    pub review: &'static str,
    /// A session is done.
    pub done: &'static str,
    /// A cancelled session.
    pub cancelled: &'static str,
    /// The frames of something that runs.
    pub spinner: &'static [&'static str],
    /// A group or entry that is open.
    pub open: &'static str,
    /// A group or entry that is closed.
    pub closed: &'static str,
    /// The line between the panes.
    pub rule: &'static str,
    /// The line above the composer.
    pub line: &'static str,
    /// The corners of a frame, from the top left on, row by row.
    pub corners: [&'static str; 4],
    /// Fork of the rule into a branch.
    pub branch: &'static str,
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
    /// Sign of more content above.
    pub up: &'static str,
    /// Sign of more content below.
    pub down: &'static str,
    /// To the left.
    pub left: &'static str,
    /// To the right.
    pub right: &'static str,
    /// Before a number of removed lines.
    pub minus: &'static str,
    /// A warning.
    pub warning: &'static str,
    /// Sign of yes, or of success.
    pub check: &'static str,
    /// Sign of partly yes.
    pub partly: &'static str,
    /// A session that was branched off another one.
    pub branched: &'static str,
    /// A cell of a meter that is used.
    pub used: &'static str,
    /// A cell of a meter that is free.
    pub free: &'static str,
    /// Explore, Ask to Edit, Execute.
    modes: [&'static str; 3],
}

impl Glyphs {
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

/// The set for what the terminal draws well.
#[must_use]
pub fn set(which: super::chat::Glyphs) -> &'static Glyphs {
    match which {
        super::chat::Glyphs::Unicode => &UNICODE,
        super::chat::Glyphs::Ascii => &ASCII,
    }
}

/// The usual signs.
pub const UNICODE: Glyphs = Glyphs {
    needs_you: "●",
    unread: "•",
    plan: "≡",
    stopping: "◌",
    current: "▎",
    flag: "⚑",
    marked: "┃",
    label: "▪",
    begun: "◐",
    review: "◇",
    done: "✓",
    cancelled: "✗",
    spinner: &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
    open: "▾",
    closed: "▸",
    full: "━",
    empty: "─",
    rule: "│",
    line: "─",
    corners: ["┌", "┐", "└", "┘"],
    branch: "├",
    prompt: "›",
    bar: "▌",
    stop: "■",
    dot: "·",
    cut: "…",
    up: "↑",
    down: "↓",
    left: "←",
    right: "→",
    minus: "−",
    warning: "▲",
    check: "✓",
    partly: "~",
    branched: "↳",
    used: "█",
    free: "░",
    modes: ["◇", "◆", "»"],
};

/// The same in ASCII.
pub const ASCII: Glyphs = Glyphs {
    needs_you: "!",
    unread: "*",
    plan: "=",
    stopping: "x",
    current: "|",
    flag: "^",
    marked: "+",
    label: "#",
    begun: "/",
    review: "?",
    done: ".",
    cancelled: "x",
    spinner: &["|", "/", "-", "\\"],
    open: "v",
    closed: ">",
    full: "#",
    empty: "-",
    rule: "|",
    line: "-",
    corners: ["+", "+", "+", "+"],
    branch: "|",
    prompt: ">",
    bar: "|",
    stop: "#",
    dot: "-",
    cut: "~",
    up: "^",
    down: "v",
    left: "<",
    right: ">",
    minus: "-",
    warning: "!",
    check: "x",
    partly: "~",
    branched: ">",
    used: "#",
    free: ".",
    modes: ["o", "+", "!"],
};

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn every_sign_is_one_cell() {
        for set in [&UNICODE, &ASCII] {
            let mut all: Vec<&str> = Mode::ALL.iter().map(|mode| set.mode(*mode)).collect();
            all.extend(set.spinner);
            all.extend([set.needs_you, set.unread, set.plan, set.stopping, set.flag, set.open, set.closed, set.rule]);
            all.extend([set.line, set.branch, set.prompt, set.bar, set.stop, set.dot, set.cut, set.up, set.down]);
            all.extend([set.left, set.right, set.warning, set.marked, set.label, set.begun, set.check]);
            all.extend([set.review, set.done, set.cancelled, set.partly, set.branched, set.used, set.free]);
            for sign in &all {
                assert_eq!(sign.width(), 1, "{sign}");
            }
            assert_eq!(set == &ASCII, all.iter().all(|sign| sign.is_ascii()));
        }
    }
}
