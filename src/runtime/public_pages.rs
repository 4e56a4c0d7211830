//! Shared pages of a home, as the store ends them with their sessions.

use crate::domain::SessionId;
use crate::gateway::shares::{SharedPages, SharedSession};
use crate::store::PublicPages;
use std::path::Path;

/// Shared pages of a home.
#[derive(Debug)]
pub(super) struct HomePages(pub SharedPages);

impl PublicPages for HomePages {
    fn revoke(&self, workspace: &Path, session: &SessionId) -> std::io::Result<usize> {
        self.0.revoke_all(SharedSession { workspace, id: session })
    }
}
