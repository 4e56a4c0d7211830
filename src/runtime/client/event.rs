//! Events of the runtime's tasks and threads, for a client's loop.

use crate::app::Msg;
use crate::domain::SessionId;
use crate::domain::picture::Want;
use crate::runtime::graphics::form::PictureForm;
use crate::runtime::input::Input;
use tokio::sync::mpsc::UnboundedSender;

/// The way to the loop.
pub(in crate::runtime) type Events = UnboundedSender<RuntimeEvent>;

/// Event of the runtime's tasks and threads, for the loop.
#[derive(Debug)]
pub(in crate::runtime) enum RuntimeEvent {
    /// Input from the terminal.
    Input(Input),
    /// Message for the screen.
    Msg(Msg),
    /// Message for the screen that nobody waits for.
    Late(Msg),
    /// A picture of a session came, or why there is none.
    Shrunk(SessionId, Want, Result<PictureForm, String>),
    /// All of the picture of this number was written.
    PictureSent(u32),
    /// A text for the pager.
    Show(String),
    /// The program that showed a text ended.
    Shown(Result<(), String>),
    /// The editor ended.
    Edited(Result<String, String>),
    /// The process was stopped, or would have been with job control, and goes on.
    Returned,
    /// The terminal is gone.
    Gone,
}

/// Input of linear mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::runtime) enum LineInput {
    /// A line, without its end.
    Line(String),
    /// Several lines at once.
    Pasted(Vec<String>),
    /// The input ended. A terminal's goes on nevertheless.
    End,
    /// Nothing will ever come again.
    Gone,
}
