//! Effects that the screen asks the runtime for.

use super::msg::Timer;
use super::state::sessions::kept::Kept;
use crate::domain::attachment::Attachment;
use crate::domain::code::Block;
use crate::domain::export::SharedFile;
use crate::domain::ids::SessionId;
use crate::domain::picture::Want;
use crate::protocol::Command;
use std::path::PathBuf;

/// Effect: a task for the runtime.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// To the engine.
    Send(Command),
    /// Sends [`super::Msg::Timer`] after this many milliseconds; an armed one restarts.
    Arm {
        /// Timer to start.
        timer: Timer,
        /// Milliseconds from now.
        ms: u64,
    },
    /// The timer is not wanted any more.
    Disarm(Timer),
    /// Put this text on the clipboard by all ways there are; answered by [`super::Msg::Notice`].
    Copy(String),
    /// The terminal's title.
    Title(String),
    /// Call the user's attention, in words where the terminal can.
    Bell {
        /// Notification text.
        text: String,
    },
    /// Give the terminal back and stop until `fg`.
    Suspend,
    /// Draw every cell anew.
    Repaint,
    /// Edit this text in $EDITOR; answered by [`super::Msg::Edited`].
    Edit {
        /// The text to begin with.
        text: String,
    },
    /// Show this text outside the screen.
    Show {
        /// The text.
        text: String,
        /// Destination.
        place: TextTarget,
    },
    /// Show this code outside the screen, in a file with this ending.
    ShowCode {
        /// The code.
        text: String,
        /// The ending, without a dot.
        ending: String,
    },
    /// Edit this file of the user's in $EDITOR.
    EditFile {
        /// Its absolute path.
        path: PathBuf,
        /// The line to begin at, from 1.
        line: Option<u32>,
    },
    /// The mouse is lisle's, or the terminal's.
    Mouse {
        /// It is lisle's.
        ours: bool,
    },
    /// Open this file of a session in what shows such files.
    View(Box<Attachment>),
    /// Open this address in the desktop's browser; [`super::Msg::NotBrowsed`] where there is none.
    Browse(String),
    /// Put the picture of the clipboard into a file; answered by [`super::Msg::Picture`].
    Picture,
    /// Remove a file that [`Effect::Picture`] made.
    Discard(PathBuf),
    /// Use this theme, and keep the choice if `keep`.
    Theme {
        /// Its name.
        name: String,
        /// The user chose it; otherwise it is only looked at.
        keep: Keep,
    },
    /// Have the engine write the shown session for others, in the form that the configured place for shares takes.
    Share {
        /// Session.
        session: SessionId,
    },
    /// Give the page of a session an address, where a gateway of this machine serves such; answered by
    /// [`super::Msg::Share`].
    SharePage(SharedFile),
    /// Find where a session's lines would be uploaded; answered by [`super::Msg::Share`].
    OfferUpload(SharedFile),
    /// Upload a session's lines; answered by [`super::Msg::Share`].
    Upload(SharedFile),
    /// Revoke the addresses of a session's pages and uploads.
    Unshare {
        /// Session.
        session: SessionId,
    },
    /// Count sessions of other programs on this machine; answered by [`super::Msg::Importable`].
    Histories,
    /// Read the settings; answered by [`super::Msg::Settings`].
    Settings,
    /// Set this in the user's settings, and use it from now on where that can be. Answered by [`super::Msg::Settings`].
    Set {
        /// [`crate::domain::setting::Setting::key`]
        key: String,
        /// One of its choices.
        value: String,
    },
    /// Look at this machine and this installation; answered by [`super::Msg::Doctor`].
    Doctor,
    /// Look for files; answered by [`super::Msg::Found`], several times while the walk goes on. A newer one ends it.
    Find {
        /// Comes back with the answers.
        ticket: u64,
        /// Below this directory; a query that begins with `/`, `~` or `..` leads elsewhere.
        root: PathBuf,
        /// Typed part of the path.
        query: String,
        /// Only the folders of the one that the query is in.
        folders: bool,
    },
    /// Read the user's own commands, with those of this directory; answered by [`super::Msg::Commands`].
    Commands {
        /// Working directory of the shown session.
        cwd: PathBuf,
    },
    /// Save this screen state for the next start.
    KeepFace(Box<Kept>),
    /// Colour these blocks of code; answered by [`super::Msg::Highlighted`].
    Highlight {
        /// The session in which they are shown.
        session: SessionId,
        /// Blocks to highlight.
        blocks: Vec<Block>,
    },
    /// Look how large the pictures in these files of a session are; answered by [`super::Msg::Measured`].
    Measure {
        /// The session.
        session: SessionId,
        /// The files, as its rows name them.
        files: Vec<PathBuf>,
    },
    /// Make these pictures ready to be drawn; answered by [`super::Msg::Shrunk`], one by one.
    Shrink {
        /// The session whose files they are.
        session: SessionId,
        /// Pictures to make.
        wants: Vec<Want>,
    },
    /// The pictures that are ready or coming are not shown any more.
    ForgetPictures,
    /// Leave the loop.
    Quit {
        /// The session to name in the command that resumes.
        resume: Option<SessionId>,
        /// The folder of the workspace that is opened then.
        workspace: Option<PathBuf>,
    },
    /// List the workspaces; answered by [`super::Msg::Workspaces`].
    Workspaces,
    /// Look up a workspace that can be opened; answered by [`super::Msg::Workspace`].
    Workspace {
        /// A name, or a folder.
        written: String,
        /// Create it where it does not exist.
        create: bool,
        /// A relative folder begins there.
        from: Option<PathBuf>,
    },
}

/// Destination of a text that leaves the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextTarget {
    /// In the user's pager.
    Pager,
    /// On the terminal's own screen, from where it scrolls back.
    Scrollback,
}

/// Persistence of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Kept for the next start too.
    Yes,
    /// Only looked at.
    No,
}
