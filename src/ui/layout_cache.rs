//! Lines laid out in earlier frames, kept until what they depend on changes.

use super::chat;
use crate::app::state::Current;
use crate::app::state::hunks::HunkView;
use crate::app::state::mark::Spot;
use crate::app::state::plan::PlanView;
use crate::domain::ids::RequestId;
use crate::domain::request::Request;
use ratatui::text::Line;
use std::rc::Rc;

/// Lines laid out in earlier frames. Make one with `LayoutCache::default()` and hand it to every frame.
#[derive(Debug, Default)]
pub struct LayoutCache {
    /// Rows of the conversation.
    pub(super) chat: chat::Cache,
    /// The request of the panel.
    pub(super) request: Option<LaidRequest>,
    /// The draft of the composer.
    pub(super) draft: Option<LaidText>,
    /// The words for an answer.
    pub(super) answer: Option<LaidText>,
    /// The page of the manual.
    pub(super) topic: Option<LaidTopic>,
}

impl LayoutCache {
    /// Position in the conversation at a cell of the last frame, or the nearest one.
    #[must_use]
    pub fn spot(&self, col: u16, row: u16) -> Option<Spot> {
        self.chat.spot(col, row)
    }
}

/// Order of a plan's parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlanOrder {
    /// Whichever is laid out: only the number of lines counts.
    Any,
    /// As the plan is written.
    AsWritten,
    /// The steps before the summary.
    StepsFirst,
}

/// The request, laid out for a width.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LaidRequest {
    pub request: Request,
    /// With the marks that the user made of a plan.
    pub plan: Option<Box<PlanView>>,
    /// With the changed places that the user struck out.
    pub hunks: Option<HunkView>,
    pub width: u16,
    pub order: PlanOrder,
    pub theme: String,
    pub unified: bool,
    pub lines: Rc<Vec<Line<'static>>>,
    pub steps: Vec<(u16, u16)>,
    /// Lines that a plan has before its steps, as it is written.
    pub before_steps: usize,
    /// First and last line that come or go, of each changed place.
    pub changes: Vec<(usize, usize)>,
}

/// Text laid out last, and its width: the widget counts its rows by the width of its last drawing.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LaidText {
    /// The draft of this place.
    Draft(Current, u16),
    /// The words for this answer.
    Answer(RequestId, u16),
}

/// A page of the manual, laid out for a width.
#[derive(Debug)]
pub(super) struct LaidTopic {
    pub topic: &'static str,
    pub width: u16,
    pub theme: String,
    pub lines: Rc<Vec<Line<'static>>>,
}
