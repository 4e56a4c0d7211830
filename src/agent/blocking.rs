//! File work, off the async threads.

/// Runs file work off the async threads; `None` only if it panicked, which is logged.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => Some(value),
        Err(error) => {
            tracing::error!(%error, "file work ended badly");
            None
        }
    }
}
