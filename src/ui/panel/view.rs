//! A request with how it is shown.

use crate::app::state::overlay::Reach;
use crate::app::state::panel::Panel;
use crate::domain::request::{Ask, Request};
use crate::keymap::action::Context;

/// A request with how it is shown.
#[derive(Clone, Copy)]
pub(in crate::ui) struct View<'p> {
    pub panel: &'p Panel,
    pub request: &'p Request,
    /// Keys go to it.
    pub focused: bool,
    /// Number of requests that wait in this session, including this one.
    pub waiting: usize,
    /// Number of equal requests, and whether they get the same answer.
    pub equal: (usize, Reach),
}

/// Keymap context of this request.
pub(in crate::ui) fn context(request: &Request) -> Context {
    match request.ask {
        Ask::Approval(_) => Context::Approval,
        Ask::Plan(_) => Context::Plan,
        Ask::Question(_) | Ask::Trust(_) | Ask::Key(_) => Context::Question,
    }
}
