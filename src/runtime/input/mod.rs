//! Input of the terminal: bytes in, keys, mouse, pastes and answers to queries out.
//!
//! `reader` is the pure part: it cuts the bytes into whole sequences and knows what a silence means. `answer` reads what
//! the terminal answers to queries. `thread` waits on the terminal. `translate` turns a key into the screen's own type;
//! `spelling` knows the odd ways of writing one.

pub mod answer;
pub mod reader;
mod spelling;
pub mod thread;
pub mod translate;

use answer::TerminalAnswer;
use termina::event::{KeyEvent, MouseEvent};

/// One thing that came from the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A key was pressed or repeats. Releases never get here.
    Key(KeyEvent),
    /// Several characters came in one read: hands do not type so, but a paste without brackets does.
    Typed(Vec<KeyEvent>),
    /// The mouse did something.
    Mouse(MouseEvent),
    /// The terminal got (`true`) or lost the focus.
    Focus(bool),
    /// A bracketed paste: line ends are `\n`, and there are no control characters besides it and tab.
    Paste(String),
    /// The terminal answered a query.
    Answer(TerminalAnswer),
    /// The terminal is gone; nothing follows.
    Gone,
}

#[cfg(test)]
mod tests;
