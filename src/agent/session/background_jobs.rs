//! Background jobs of a session, and which ends were told.

use crate::agent::mailbox::{Mailbox, Report};
use crate::domain::job::{EndedBy, JobShown};
use crate::tools::command::jobs::Jobs;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Minimum interval of reports to clients.
const EVERY: Duration = Duration::from_millis(500);

/// Background jobs of a session.
#[derive(Debug)]
pub(super) struct BackgroundJobs {
    all: Arc<Jobs>,
    /// Ids of the jobs whose end was told.
    told: HashSet<String>,
    /// Jobs of this session that run, as far as was told.
    running: usize,
    /// Those of all sessions of the engine.
    running_in_all: Arc<AtomicUsize>,
}

impl Drop for BackgroundJobs {
    fn drop(&mut self) {
        self.note_running(0);
    }
}

impl BackgroundJobs {
    /// None yet; the actor hears of every change. `running_in_all`: number of those that run in the engine.
    pub(super) fn new(mailbox: &Mailbox, running_in_all: Arc<AtomicUsize>) -> Self {
        let all = Arc::<Jobs>::default();
        let (mut changed, mailbox) = (all.watch(), mailbox.clone());
        tokio::spawn(async move {
            while changed.changed().await.is_ok() {
                if mailbox.report(Report::Jobs).await.is_err() {
                    return;
                }
                tokio::time::sleep(EVERY).await;
            }
        });
        Self { all, told: HashSet::new(), running: 0, running_in_all }
    }

    /// Tells the engine how many run.
    pub(super) fn note_running(&mut self, now: usize) {
        self.running_in_all.fetch_add(now, Ordering::Relaxed);
        self.running_in_all.fetch_sub(self.running, Ordering::Relaxed);
        self.running = now;
    }

    /// The jobs, for calls.
    pub(super) fn shared(&self) -> Arc<Jobs> {
        self.all.clone()
    }

    pub(super) fn list(&self) -> Vec<JobShown> {
        self.all.list()
    }

    /// Takes lines about what jobs that go on made of what configures or runs code.
    pub(super) fn take_breaches(&self) -> Vec<String> {
        self.all.breaches()
    }

    /// Takes the jobs of a list whose end is news.
    pub(super) fn take_ended(&mut self, all: &[JobShown]) -> Vec<JobShown> {
        let ended = all.iter().filter(|job| !job.runs());
        ended.filter(|job| self.told.insert(job.id.clone())).cloned().collect()
    }

    /// Asks a job to end; false if it is not known any more.
    pub(super) fn kill(&self, id: &str) -> bool {
        self.all.kill(id, EndedBy::User)
    }

    /// Asks all of them to end; their end comes as a change.
    pub(super) fn close(&self) {
        for job in self.all.list().iter().filter(|job| job.runs()) {
            self.all.kill(&job.id, EndedBy::Close);
        }
    }

    pub(super) fn any_running(&self) -> bool {
        self.all.any_running()
    }

    /// The files are kept open for their end to be written: until it was, or, where they are `wanted` by somebody else,
    /// until nothing of them runs.
    pub(super) fn hold_files(&self, wanted: bool) -> bool {
        if wanted {
            return self.any_running();
        }
        self.all.list().iter().any(|job| !self.told.contains(&job.id))
    }

    /// Ends all of them, and waits for that.
    pub(super) async fn end_all(&self) {
        self.all.end_all().await;
    }
}
