//! Writes down what each request used, once it is over, however it ended.

use super::clock::now;
use crate::domain::spending::Spent;
use crate::domain::usage::RequestUsage;
use crate::domain::{At, ConnectionName, SessionId};
use crate::provider::Provider;
use crate::store::usage_log::UsageLog;
use std::path::PathBuf;
use std::sync::Arc;

/// Usage recorder of a session.
#[derive(Clone)]
pub(super) struct UsageRecorder {
    pub(super) books: Arc<UsageLog>,
    pub(super) workspace: PathBuf,
    pub(super) session: SessionId,
    /// The turn that runs; `None` for a question apart from turns.
    pub(super) turn: Option<At>,
    pub(super) connection: ConnectionName,
}

impl UsageRecorder {
    /// Records the usage of a finished request. The line is written off the async threads.
    pub(super) fn note(self, provider: &dyn Provider, model: &str, used: RequestUsage) {
        let cost = provider.knows_price(model).then(|| provider.figures(model, used).1);
        let UsageRecorder { books, workspace, session, turn, connection } = self;
        let spent = Spent { at: now(), workspace, session, turn, connection, model: model.to_owned(), used, cost };
        // Kept at once: the end of lisle writes what was not yet.
        books.add(spent);
        tokio::task::spawn_blocking(move || {
            if let Err(error) = books.settle() {
                tracing::warn!(%error, "what a request used is not written down yet in {}", books.folder().display());
            }
        });
    }
}
