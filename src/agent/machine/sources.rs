//! Sources of a session: which it uses, the tools and guides that they add, their failures.

use super::state::Machine;
use crate::agent::machine_io::{RunNo, Safety, Step};
use crate::agent::model_context::prompt::SourceGuide;
use crate::domain::ids::At;
use crate::domain::message::InfoKind;
use crate::domain::notice::Level;
use crate::domain::tool::ToolSpec;
use crate::provider::ModelRequest;

impl Machine {
    /// Sets the tools on offer and what is told about sources. A turn that runs keeps what it was told.
    pub fn set_tools(&mut self, tools: Vec<(ToolSpec, bool)>, guides: Vec<SourceGuide>) {
        (self.config.tools, self.config.extensions.guides) = (tools, guides);
    }

    /// The request of this run with the tools as they are now; `None` if the run is over.
    pub fn renewed_request(&mut self, now: At, run: RunNo) -> Option<ModelRequest> {
        if run != self.runs.current() || self.is_stopping() {
            return None;
        }
        self.turn.as_mut()?.standing = None;
        Some(self.next_request(now))
    }

    /// The session uses this source. `usual`: it does where nobody chose.
    #[must_use]
    pub fn uses_source(&self, slug: &str, usual: bool) -> bool {
        !self.own.no_tools && self.own.sources.get(slug).copied().unwrap_or(usual)
    }

    pub(super) fn use_source(&mut self, slug: String, on: bool, out: &mut Vec<Step>) {
        self.own.sources.insert(slug, on);
        self.changed_by_user(out);
    }

    /// A source that the session needs does not run.
    pub(super) fn source_failed(&mut self, now: At, text: String, out: &mut Vec<Step>) {
        let row = self.info(now, Level::Warning, InfoKind::Remark, text);
        self.keep(vec![row], Safety::Written, out);
    }
}
