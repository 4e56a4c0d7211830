//! Changes of session rows: those that wait for a store are made together, with one read and one write of its file.

use crate::domain::ids::At;
use crate::routes::store::{RouteRows, RouteStore, RouteStoreError};
use crate::store::io::{Disk, Io};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Says how a change went, once it is on disk.
type Completion = Box<dyn FnOnce(Result<(), String>) + Send>;
type RowEdit = Box<dyn FnOnce(&mut RouteRows) -> Completion + Send>;

#[derive(Default)]
struct WaitingEdits {
    edits: Vec<RowEdit>,
    /// A thread works on the store.
    busy: bool,
}

/// Stores with the changes that wait for them.
#[derive(Default)]
pub(super) struct RowWriters(Arc<Mutex<HashMap<PathBuf, WaitingEdits>>>);

fn all(writers: &Mutex<HashMap<PathBuf, WaitingEdits>>) -> MutexGuard<'_, HashMap<PathBuf, WaitingEdits>> {
    writers.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn now() -> At {
    At(jiff::Timestamp::now().as_millisecond())
}

impl RowWriters {
    /// Changes the rows of a store; they are read for it. What `edit` returns is on disk.
    ///
    /// # Errors
    /// A sentence without its end: then nothing was changed.
    pub async fn edit<T: Send + 'static>(
        &self,
        store: &Path,
        edit: impl FnOnce(&mut RouteRows) -> T + Send + 'static,
    ) -> Result<T, String> {
        let (done, result) = oneshot::channel();
        let edit: RowEdit = Box::new(move |rows| {
            let value = edit(rows);
            Box::new(move |written| drop(done.send(written.map(|()| value))))
        });
        let starts = {
            let mut all = all(&self.0);
            let waiting = all.entry(store.to_owned()).or_default();
            waiting.edits.push(edit);
            !std::mem::replace(&mut waiting.busy, true)
        };
        if starts {
            let (writers, store) = (self.0.clone(), store.to_owned());
            tokio::task::spawn_blocking(move || work(&writers, &store));
        }
        result.await.unwrap_or_else(|_| Err(format!("{} was not changed", store.display())))
    }
}

/// Makes the changes that wait until there are none.
fn work(writers: &Mutex<HashMap<PathBuf, WaitingEdits>>, path: &Path) {
    let io: Arc<dyn Io> = Arc::new(Disk);
    let store = RouteStore::new(io, path);
    loop {
        let edits = {
            let mut all = all(writers);
            let edits = all.get_mut(path).map(|waiting| std::mem::take(&mut waiting.edits)).unwrap_or_default();
            if edits.is_empty() {
                all.remove(path);
                return;
            }
            edits
        };
        let mut completions: Vec<Completion> = Vec::new();
        let changed = store.change(now(), |rows| {
            completions.extend(edits.into_iter().map(|edit| edit(rows)));
            Ok::<(), RouteStoreError>(())
        });
        let changed = changed.map_err(|error| error.to_string());
        if let Err(error) = &changed {
            tracing::error!(error, "can't change the session rows");
        }
        completions.into_iter().for_each(|complete| complete(changed.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::SessionId;
    use crate::routes::row::SessionRow;

    #[tokio::test]
    async fn changes_that_wait_are_made_in_their_order_and_a_damaged_store_fails_them_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sessions/sessions.json");
        let writers = RowWriters::default();
        let row = SessionRow::new(SessionId::parse("261128-a-b").unwrap(), At(1));
        let all = (0..50).map(|n| {
            let row = row.clone();
            writers.edit(&path, move |rows| {
                let _ = rows.set(&format!("agent:main:irc:direct:{n}"), &row);
                rows.len()
            })
        });
        let counts: Vec<usize> = futures_util::future::join_all(all).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(counts, (1..=50).collect::<Vec<_>>());
        assert!(all_idle(&writers));
        std::fs::write(&path, "[").unwrap();
        let error = writers.edit(&path, |rows| rows.len()).await.unwrap_err();
        assert!(error.contains("was not changed") || error.contains("damaged"), "{error}");
        assert_eq!(writers.edit(&path, |rows| rows.len()).await, Ok(0), "it was moved aside");
    }

    fn all_idle(writers: &RowWriters) -> bool {
        // The thread ends after it has answered.
        while all(&writers.0).values().any(|waiting| waiting.busy) {
            std::thread::yield_now();
        }
        true
    }
}
