//! A task that looks at a session's files while another process writes them.

use crate::agent::blocking::blocking;
use crate::agent::mailbox::{Mailbox, Report};
use crate::store::Follower;
use std::time::Duration;
use tokio::net::unix::pipe;
use tokio::task::AbortHandle;

/// Interval of looks at a session that another process of this machine writes.
pub(super) const NEAR: Duration = Duration::from_millis(500);

/// The same on a network file system, or in the workspace of another program.
pub(super) const FAR: Duration = Duration::from_secs(2);

/// Delay after an event: a process that only reads the session releases it meanwhile.
const SETTLES: Duration = Duration::from_millis(250);

/// Time of the next look at the files.
#[derive(Debug)]
pub(super) enum Pace {
    /// Again and again after this time.
    Every(Duration),
    /// After an event of the file system there.
    News(pipe::Receiver),
}

impl Pace {
    async fn wait(&mut self) {
        match self {
            Pace::Every(time) => tokio::time::sleep(*time).await,
            Pace::News(news) => match news.readable().await {
                Ok(()) => {
                    tokio::time::sleep(SETTLES).await;
                    let mut words = [0; 4096];
                    while news.try_read(&mut words).is_ok_and(|got| got > 0) {}
                }
                Err(error) => {
                    tracing::warn!(%error, "no more news of a session");
                    *self = Pace::Every(FAR);
                }
            },
        }
    }
}

/// A task that looks at a session's files until this is dropped.
#[derive(Debug)]
pub(super) struct Following {
    number: u64,
    task: AbortHandle,
}

impl Drop for Following {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Following {
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn begin(mut follower: Follower, mut pace: Pace, number: u64, mailbox: Mailbox) -> Self {
        let task = tokio::spawn(async move {
            loop {
                pace.wait().await;
                let polled = blocking(move || {
                    let polled = follower.poll();
                    (follower, polled)
                });
                let Some((again, polled)) = polled.await else { return };
                follower = again;
                match polled {
                    Ok(followed) if followed.is_empty() => {}
                    Ok(followed) => {
                        if mailbox.report(Report::Followed(number, followed)).await.is_err() {
                            return;
                        }
                    }
                    // The next look may go better.
                    Err(error) => tracing::warn!(%error, "a session could not be followed"),
                }
            }
        });
        Self { number, task: task.abort_handle() }
    }
}
