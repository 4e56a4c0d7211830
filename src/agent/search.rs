//! Searching all sessions: one search at a time, and what it finds is sent in batches while it runs.

use super::event_outbox::EngineOutbox;
use crate::domain::property::Properties;
use crate::domain::query::{Query, QueryError};
use crate::domain::search_hit::{Searched, SessionHits};
use crate::protocol::EngineEvent;
use crate::store::Store;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;

/// Interval of batches of hits: each is a frame of the screen.
const BATCH: Duration = Duration::from_millis(30);

/// Maximum number of sessions in a batch.
const MANY: usize = 1000;

/// The search that runs, if one does.
#[derive(Debug, Default)]
pub(super) struct Searching {
    stop: Option<Arc<AtomicBool>>,
}

impl Searching {
    /// Stops the search that runs.
    pub(super) fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            stop.store(true, Ordering::Relaxed);
        }
    }

    /// Begins a search in place of the one that runs; an empty query only stops that.
    pub(super) fn begin(
        &mut self,
        store: Store,
        properties: Arc<Properties>,
        search: u64,
        query: &str,
        out: EngineOutbox,
    ) {
        self.stop();
        if query.trim().is_empty() {
            return;
        }
        let query = match Query::parse(query) {
            Ok(query) => query,
            Err(error) => {
                let end = Searched { error: Some(sentence(query, &error)), ..Searched::default() };
                tokio::spawn(async move {
                    out.send(EngineEvent::Found { search, results: Vec::new(), end: Some(end) });
                });
                return;
            }
        };
        let stop = Arc::new(AtomicBool::new(false));
        self.stop = Some(stop.clone());
        let (hits, found) = mpsc::unbounded_channel();
        let stopped = stop.clone();
        let work = tokio::task::spawn_blocking(move || {
            store.search(&query, &properties, &stop, &mut |one| {
                // Nobody takes what comes after a stop.
                let _ = hits.send(one);
            })
        });
        tokio::spawn(async move {
            pass_on(found, search, &stopped, &out).await;
            let end = match work.await {
                Ok(end) => end,
                Err(error) => {
                    tracing::error!(%error, "a search ended badly");
                    Searched { stopped: true, ..Searched::default() }
                }
            };
            // Whoever stopped it waits for nothing.
            if !stopped.load(Ordering::Relaxed) {
                out.send(EngineEvent::Found { search, results: Vec::new(), end: Some(end) });
            }
        });
    }
}

/// Sends what is found until there is no more: the first at once, then in batches.
async fn pass_on(
    mut found: mpsc::UnboundedReceiver<SessionHits>,
    search: u64,
    stopped: &AtomicBool,
    out: &EngineOutbox,
) {
    let mut results = Vec::new();
    while found.recv_many(&mut results, MANY).await > 0 {
        if stopped.load(Ordering::Relaxed) {
            return;
        }
        out.send(EngineEvent::Found { search, results: std::mem::take(&mut results), end: None });
        tokio::time::sleep(BATCH).await;
    }
}

/// The problem, and the character.
fn sentence(query: &str, error: &QueryError) -> String {
    let before = query.get(..error.at).unwrap_or(query).chars().count();
    format!("{} (at character {})", error.text.trim_end_matches('.'), before + 1)
}
