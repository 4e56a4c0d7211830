//! The conversation as the screen holds it: its rows, what is unfolded, and which line is at the top.
//!
//! Drawing of a row and its height are up to `ui::chat`, which reports back with [`Drawn`].

use super::find::Stop;
use super::mark::Mark;
use crate::domain::Message;
use crate::domain::attachment::Attachment;
use crate::domain::code::Coloured;
use crate::domain::ids::At;
use crate::domain::ids::MessageId;
use crate::domain::message::Body;
use crate::domain::usage::Usage;
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;

/// A row with a key of its own: ids of other programs are not unique, and rows are added at both ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Unique in this conversation and rising from top to bottom; earlier pages get smaller (negative) keys.
    pub key: i64,
    /// Rises when the row changes, so that cached lines are made anew.
    pub revision: u64,
    /// The row.
    pub message: Message,
    /// It can still change or grow.
    pub live: bool,
}

/// Detail of tool calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Density {
    /// One line a call.
    #[default]
    Lines,
    /// One line and the last lines of output or of the change.
    Tails,
    /// Everything.
    Full,
}

/// Scroll position of the pane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// The end is shown and followed.
    #[default]
    End,
    /// The pane begins `line` lines into entry `key`. `line` may be negative or past the entry's height after scrolling:
    /// the drawing walks to the right entry and reports it.
    At {
        /// Key of the entry.
        key: i64,
        /// Number of its lines above the pane.
        line: i64,
    },
    /// The first marked line of entry `key` is on the pane, with some lines above it; the drawing reports what that
    /// is, and it becomes [`View::At`].
    Mark {
        /// Key of the entry.
        key: i64,
    },
}

/// Tokens and money of a session at the begin of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Begin of the turn.
    pub at: At,
    /// Tokens of all prompts so far.
    pub input: u64,
    /// Tokens that the model wrote so far.
    pub output: u64,
    /// US dollars so far.
    pub cost_usd: f64,
}

impl Spent {
    /// The figures of a session as they are at `at`.
    #[must_use]
    pub fn new(at: At, usage: &Usage) -> Self {
        Self { at, input: usage.input_tokens, output: usage.output_tokens, cost_usd: usage.cost_usd }
    }
}

/// Facts that the last frame found out about the conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// The entry at the top and how many of its lines are above the pane; `None` when there is no entry.
    pub top: Option<(i64, i64)>,
    /// The last line is visible.
    pub at_end: bool,
    /// Lines below the pane.
    pub below: usize,
    /// Rows of the pane.
    pub height: u16,
    /// The top of the first loaded row is visible: earlier rows should be asked for.
    pub at_top: bool,
}

/// The conversation of one open session.
#[derive(Clone, Debug, Default)]
pub struct Chat {
    /// The rows that are loaded, oldest first; live ones last.
    pub entries: VecDeque<Entry>,
    /// Cursor for the page before; `None` at the beginning.
    pub earlier: Option<u64>,
    /// Cursor for the page after; `None` when the rows reach the end and live ones follow.
    pub later: Option<u64>,
    /// Rows that came at the end while `later` rows were missing: they are not shown.
    pub unseen: HashSet<MessageId>,
    /// Row around which older rows were requested last; `None` at the end.
    pub around: Option<u64>,
    /// The place to be shown when it is loaded.
    pub seek: Option<Stop>,
    /// Entries at which pages begin, by their keys, with the cursor of each: where rows can be let go and asked for again.
    pub pages: VecDeque<(i64, u64)>,
    /// The beginning is to be shown when it is loaded.
    pub to_top: bool,
    /// A page was asked for and has not come.
    pub loading: bool,
    /// Scroll position.
    pub view: View,
    /// Detail of tool calls.
    pub density: Density,
    /// Changes stand one line below the other however wide the pane is.
    pub unified: bool,
    /// Colours of blocks of code, by entry and number.
    pub colours: HashMap<(i64, u32), Coloured>,
    /// Blocks are with the highlighter.
    pub colouring: bool,
    /// Time when blocks were last sent to the highlighter.
    pub coloured_at: Option<At>,
    /// Files with pictures that came with rows and were not measured yet.
    pub unmeasured: Vec<PathBuf>,
    /// The block of code that was copied last: its entry, and its place among the entry's blocks.
    pub copied: Option<(i64, usize)>,
    /// The file that was edited last: its entry, and its place among those that it names.
    pub edited: Option<(i64, usize)>,
    /// Thinking is unfolded.
    pub thinking: bool,
    /// Entries that are folded the other way than the density says.
    pub toggled: HashSet<i64>,
    /// The entry that keys like Enter and `y` act on, while the chat has the focus.
    pub cursor: Option<i64>,
    /// The block of code in focus, by its number in the entry at the cursor.
    pub block: Option<u32>,
    /// Selection.
    pub mark: Option<Mark>,
    /// The end was followed when the mouse began to mark, and nobody scrolled since.
    pub held: bool,
    /// The block in focus, or the head of the mark, is to be brought on the pane.
    pub reveal: bool,
    /// Usage before each turn that began while this was open, oldest first.
    pub turns: Vec<Spent>,
    /// Facts that the last frame found out.
    pub drawn: Drawn,
}

impl Chat {
    /// The files of the chosen message; without one those of the last message that has some.
    #[must_use]
    pub fn files(&self) -> Vec<Attachment> {
        let of = |entry: &Entry| match &entry.message.body {
            Body::User(said) if !said.attachments.is_empty() => Some(said.attachments.clone()),
            _ => None,
        };
        let chosen = self.entries.iter().find(|entry| self.cursor == Some(entry.key)).and_then(of);
        chosen.or_else(|| self.entries.iter().rev().find_map(of)).unwrap_or_default()
    }

    /// The loaded entry with this key.
    #[must_use]
    pub fn entry(&self, key: i64) -> Option<&Entry> {
        self.entries.get(self.place(key)?)
    }

    /// True if the entry has more to show than its first line. What people and models say is always whole.
    #[must_use]
    pub fn folds(&self, key: i64) -> bool {
        let body = self.entry(key).map(|entry| &entry.message.body);
        !matches!(body, None | Some(Body::User(_) | Body::Assistant(_)))
    }

    /// Index in [`Chat::entries`] of the entry with this key.
    #[must_use]
    pub fn place(&self, key: i64) -> Option<usize> {
        self.entries.binary_search_by_key(&key, |entry| entry.key).ok()
    }
}
