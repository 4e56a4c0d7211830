//! Inputs of a frame of the conversation.

use super::picture;
use crate::app::state::chat::Spent;
use crate::app::state::find::Marker;
use crate::domain::At;
use crate::domain::message::FailureAction;
use crate::domain::plan::Progress;
use crate::ui::glyphs::GlyphSet;

/// Inputs of a transcript frame besides the conversation itself.
#[derive(Clone, Copy, Debug)]
pub struct ChatOpts<'a> {
    /// Session id of the conversation; the cache keeps only one.
    pub session: &'a str,
    /// The instant of the frame, for elapsed times and for the day of a message.
    pub now: At,
    /// Seconds east of UTC of the user's clock.
    pub utc_offset_s: i32,
    /// Glyphs that the terminal draws well.
    pub glyphs: GlyphSet,
    /// The pane has the focus: the entry at the cursor is marked.
    pub focused: bool,
    /// The short name of the model in the head lines of answers; empty when there is none.
    pub model: &'a str,
    /// The path of a plan that is shown whole elsewhere on the screen, for the user to judge: here its title is enough.
    pub asked_plan: Option<&'a str>,
    /// The plan that is carried out: its row ticks off.
    pub plan: Option<&'a Progress>,
    /// The keys for what helps after a failure; what has none here is not offered.
    pub helps: &'a [(FailureAction, String)],
    /// State of pictures.
    pub pictures: picture::Sight<'a>,
    /// Search hits to mark.
    pub marker: Option<&'a Marker>,
    /// Keys that it names.
    pub keys: ChatKeys<'a>,
    /// A turn runs: its answer has no end yet.
    pub running: bool,
    /// Tokens and money of the session now.
    pub spent: Spent,
    /// Working directory: paths inside it link to their files. Empty: no links.
    pub cwd: &'a str,
}

/// Keys that a frame of the conversation names, from where the focus is; empty where there is none.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChatKeys<'a> {
    /// To the end.
    pub to_end: &'a str,
    /// More of all output.
    pub unfold_all: &'a str,
}
