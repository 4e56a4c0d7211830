//! Messages to the screen. Each comes with the instant at which it happened.

use crate::app::line::Line;
use crate::app::state::chat;
use crate::app::state::engine_facts::EngineLine;
use crate::app::state::lobby::FoundHistory;
use crate::app::state::mark::{Marked, Spot};
use crate::app::state::sessions::Group;
use crate::domain::Notice;
use crate::domain::code::{Block, Coloured};
use crate::domain::command::OwnCommand;
use crate::domain::export::SharedFile;
use crate::domain::finding::Finding;
use crate::domain::ids::{MessageId, RequestId, SessionId};
use crate::domain::picture::{KnownPicture, Pixels, Want};
use crate::domain::setting::Setting;
use crate::domain::workspace::Workspace;
use crate::keymap::action::Action;
use crate::keymap::key::Key;
use crate::protocol::Stamped;
use std::path::PathBuf;

/// Step of `/share`.
#[derive(Clone, Debug, PartialEq)]
pub enum ShareAnswer {
    /// Answer to [`super::Effect::OfferUpload`].
    Offered {
        /// Lines of the session.
        file: SharedFile,
        /// Address of the server.
        server: String,
    },
    /// Answer to [`super::Effect::SharePage`] and [`super::Effect::Upload`].
    Done {
        /// File of the conversation.
        file: SharedFile,
        /// Its address; `None` where no gateway serves pages.
        address: Option<String>,
    },
}

/// Message to the screen.
#[derive(Clone, Debug)]
pub enum Msg {
    /// A verb: from a key (then with it), the palette or a click.
    Act {
        /// The verb.
        action: Action,
        /// The last key of what was pressed for it; `None` when no key was.
        key: Option<Key>,
    },
    /// These keys begin a chord.
    Chord(Vec<Key>),
    /// A key that is not bound in the contexts of now.
    Key(Key),
    /// A line was written, where lines are read instead of keys.
    Line(Line),
    /// A text was pasted.
    Paste(String),
    /// Several characters came in one read while answers had the keys.
    Typed(String),
    /// Position in the conversation that the next mouse message is about.
    Spot(Option<Spot>),
    /// The mouse.
    Mouse(Mouse),
    /// The terminal has this size now.
    Resize {
        /// Columns.
        width: u16,
        /// Rows.
        height: u16,
    },
    /// The terminal got or lost the focus.
    Focus(bool),
    /// The engine reports.
    Engine(Box<Stamped>),
    /// The line to the engine changed.
    EngineLine(EngineLine),
    /// A frame was drawn.
    Drawn(Box<Frame>),
    /// A timer armed with [`super::effect::Effect::Arm`] ran out.
    Timer(Timer),
    /// The terminal said whether its background is dark.
    Background {
        /// It is.
        dark: bool,
    },
    /// These themes can be chosen, and this one is in force.
    Themes {
        /// Their names, in the order to show.
        names: Vec<String>,
        /// The one in force.
        current: String,
    },
    /// Result of [`super::effect::Effect::Edit`]: the edited text or an error.
    Edited(Result<String, String>),
    /// Result of [`super::effect::Effect::Highlight`].
    Highlighted {
        /// The session in which the blocks are shown.
        session: SessionId,
        /// Their colours.
        blocks: Vec<Coloured>,
    },
    /// Size in pixels of a cell for pictures, or none if the terminal draws no pictures.
    Pictures(Option<Pixels>),
    /// Result of [`super::effect::Effect::Measure`].
    Measured(Vec<(PathBuf, KnownPicture)>),
    /// Result of [`super::effect::Effect::Shrink`]: the number of a picture, or why it cannot be shown.
    Shrunk {
        /// The session whose file it is.
        session: SessionId,
        /// The picture.
        want: Want,
        /// Its number.
        made: Result<u32, String>,
    },
    /// The pictures of these numbers were let go.
    PicturesGone(Vec<u32>),
    /// Result of [`super::effect::Effect::Picture`]: the file or an error.
    Picture(Result<PathBuf, String>),
    /// Result of [`super::effect::Effect::Copy`], or any other notice of the runtime.
    Notice(Notice),
    /// No desktop took the address of [`super::effect::Effect::Browse`]; why.
    NotBrowsed {
        /// The address.
        url: String,
        /// Reason, in words.
        why: String,
    },
    /// Results of [`super::effect::Effect::Find`] so far.
    Found(Box<Found>),
    /// The user's settings, as they are now.
    Settings(Vec<Setting>),
    /// Result of [`super::effect::Effect::Doctor`].
    Doctor(Vec<Finding>),
    /// Sessions of other programs were found on this machine.
    Histories(Vec<FoundHistory>),
    /// A step of `/share` was done.
    Share(ShareAnswer),
    /// Answer to [`super::Effect::Histories`]: nothing on another machine, whose engine would import.
    Importable(Vec<FoundHistory>),
    /// The user's own commands, as they are now.
    Commands(Vec<OwnCommand>),
    /// Result of [`super::effect::Effect::Workspaces`].
    Workspaces(Vec<Workspace>),
    /// Result of [`super::effect::Effect::Workspace`]: the workspace, or why it cannot be opened.
    Workspace(Result<Workspace, String>),
    /// The offset of local time from UTC changed.
    Zone {
        /// Seconds east of UTC.
        utc_offset: i32,
    },
    /// The program was asked to end from outside (SIGTERM, SIGHUP).
    Terminate,
}

/// Files that were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Ticket of the search.
    pub ticket: u64,
    /// The best ones.
    pub hits: Vec<Hit>,
}

/// A file that was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hit {
    /// As it is written, a folder with a `/` at its end.
    pub path: String,
    /// It is a folder.
    pub folder: bool,
    /// The characters that matched, by their place.
    pub marks: Vec<usize>,
}

/// Mouse event with its cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mouse {
    /// Kind of the event.
    pub kind: MouseKind,
    /// Column, from 0.
    pub col: u16,
    /// Row, from 0.
    pub row: u16,
}

/// Kind of a mouse event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseKind {
    /// The left button went down.
    Press,
    /// The mouse was moved while the left button was down.
    Drag,
    /// The left button went up.
    Release,
    /// The wheel was turned up by one notch.
    WheelUp,
    /// The wheel was turned down by one notch.
    WheelDown,
}

/// A timer; arming one that runs starts it anew.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Timer {
    /// A chord is unfinished: show what can follow.
    Chord,
    /// A letter in the list waits for a second one.
    HeldLetter,
    /// The draft of this session is to be saved.
    Draft(SessionId),
    /// The oldest notice goes.
    Notice,
    /// "Once more quits" is over.
    Quit,
    /// The last change of sessions can be undone no longer.
    Undo,
    /// Times on the screen move on.
    Tick,
    /// Send the query of the search over all sessions.
    Search,
    /// The seconds until a message is sent again move on.
    Countdown,
    /// The mouse is held over an edge of the conversation: it scrolls on.
    Pull,
    /// The key of the permission mode has rested.
    Mode,
}

/// A rectangle of the screen in cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Area {
    /// Left column.
    pub x: u16,
    /// Top row.
    pub y: u16,
    /// Columns.
    pub w: u16,
    /// Rows.
    pub h: u16,
}

impl Area {
    /// True if the cell lies inside.
    #[must_use]
    pub fn holds(self, col: u16, row: u16) -> bool {
        col >= self.x && row >= self.y && col - self.x < self.w && row - self.y < self.h
    }
}

/// Target of a click.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The list, beside its rows.
    List,
    /// A row of the list.
    ListRow(SessionId),
    /// A heading of the list.
    ListHeading(Group),
    /// The conversation, beside its entries.
    Chat,
    /// An entry of the conversation, by its key.
    Entry(i64),
    /// The fold mark of an entry, by its key.
    Fold(i64),
    /// A link of the conversation to the web: its address.
    Link(String),
    /// "12 new lines": a way to the end.
    ToEnd,
    /// The line that says of which session this one is a branch.
    Parent,
    /// The composer.
    Composer,
    /// The mark that stops the turn.
    StopMark,
    /// The mark that takes a file out of the draft, by its place.
    File(usize),
    /// A chip or a file of the draft.
    Chip(super::state::composer::Picked),
    /// A message in the queue.
    Queued(MessageId),
    /// A row of what is offered above the composer, by its place in [`super::state::offer::Menu::rows`].
    Slash(usize),
    /// The panel of what is asked, beside its answers.
    Panel,
    /// An answer of the panel, by its place in [`super::state::panel::Panel::choices`].
    Choice(usize),
    /// The topmost overlay, beside its rows.
    Overlay,
    /// A row of the topmost overlay: its place in [`super::state::picker::Picker::hits`], in
    /// [`super::state::overlay::Inbox::rows`], in [`super::state::find::Find::rows`], or in the trash.
    OverlayRow(usize),
    /// A key that is shown with its action.
    Act(Action),
    /// The mode in the status line.
    Mode,
    /// The line between list and chat, which can be drawn to a side.
    Rule,
}

/// Facts that the last frame found out: positions and sizes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// The conversation of the current session; `None` when it was not on the screen.
    pub chat: Option<chat::Drawn>,
    /// Selection in the conversation.
    pub marked: Marked,
    /// Blocks of code that were drawn without all of their colours.
    pub code: Vec<Block>,
    /// Pictures that there was room for and that are not ready.
    pub pictures: Vec<Want>,
    /// Clickable areas; of overlapping ones the last counts.
    pub areas: Vec<(Area, Target)>,
    /// Rows that the list of sessions has.
    pub list_rows: u16,
    /// Lines of the panel's text that are not shown because they are scrolled away or below its end.
    pub panel_hidden: u16,
    /// Lines of the panel's text above the first one that is shown.
    pub panel_scroll: u16,
    /// The first and the last line of each step of the plan that is asked for.
    pub panel_steps: Vec<(u16, u16)>,
    /// Rows in which the panel's text is shown.
    pub panel_rows: u16,
    /// Request of the panel, and whether all of it is on the screen; `None` where none is shown.
    pub panel: Option<(RequestId, bool)>,
    /// Rows in which the topmost overlay shows its items or text.
    pub overlay_rows: u16,
    /// Lines of the topmost overlay's text, for one that is read.
    pub overlay_lines: u16,
    /// The list of sessions and the chat are both on the screen.
    pub both_panes: bool,
    /// Columns of the list beside the chat.
    pub list_cells: u16,
}

impl Frame {
    /// Target at a cell.
    #[must_use]
    pub fn at(&self, col: u16, row: u16) -> Option<&Target> {
        self.areas.iter().rev().find(|(area, _)| area.holds(col, row)).map(|(_, target)| target)
    }
}
