//! The commands of a session that go on in the background: shown when they change, told when they end, ended with the
//! session.

use super::super::mailbox::ToLane;
use super::super::step::Input;
use super::Lane;
use crate::domain::job::EndedBy;
use crate::domain::{Event, Level, Notice};
use crate::tools::jobs::{self, Jobs};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Minimum interval of reports to clients.
const EVERY: Duration = Duration::from_millis(500);

/// No jobs yet; the lane hears of every change.
pub(super) fn begin(lane: &mpsc::Sender<ToLane>) -> Arc<Jobs> {
    let jobs = Arc::<Jobs>::default();
    let (mut changed, lane) = (jobs.watch(), lane.clone());
    tokio::spawn(async move {
        while changed.changed().await.is_ok() {
            if lane.send(ToLane::Jobs).await.is_err() {
                return;
            }
            tokio::time::sleep(EVERY).await;
        }
    });
    jobs
}

impl Lane {
    /// Shows them, and tells of those that ended.
    pub(super) async fn jobs_changed(&mut self) {
        let all = self.jobs.list();
        let news: Vec<_> = all.iter().filter(|job| !job.runs() && !self.told_jobs.contains(&job.id)).cloned().collect();
        self.out.send(Event::Jobs(all)).await;
        if let Some(notice) = Notice::protected(&self.jobs.breaches()) {
            self.out.send(Event::Notice(notice)).await;
        }
        for job in news {
            self.told_jobs.insert(job.id.clone());
            if let Some(notice) = job.end.as_ref().and_then(|end| Notice::protected(&end.protected)) {
                self.out.send(Event::Notice(notice)).await;
            }
            // Whoever ended it with a call has its result.
            let by_model = job.end.as_ref().is_some_and(|end| end.by == EndedBy::Model);
            if let Some(text) = jobs::ended(&job).filter(|_| !by_model) {
                // Boxed: what follows from it may end in another look at them.
                Box::pin(self.input(Input::JobEnded(text))).await;
            }
        }
    }

    pub(super) async fn kill_job(&mut self, id: &str) {
        if !self.jobs.kill(id, EndedBy::User) {
            let text = "That job is not known any more: it ended.";
            self.out.send(Event::Notice(Notice::new(Level::Info, text))).await;
        }
    }

    /// Asks all of them to end; their end comes as a change.
    pub(super) fn close_jobs(&self) {
        for job in self.jobs.list().iter().filter(|job| job.runs()) {
            self.jobs.kill(&job.id, EndedBy::Close);
        }
    }

    /// The files are kept open for their end to be written: until it was, or, where they are `wanted` by somebody else,
    /// until nothing of them runs.
    pub(super) fn jobs_hold(&self, wanted: bool) -> bool {
        if wanted {
            return self.jobs.any_running();
        }
        self.jobs.list().iter().any(|job| !self.told_jobs.contains(&job.id))
    }

    /// lisle ends, and they with it.
    pub(super) async fn end_jobs(&mut self) {
        if self.jobs.any_running() {
            self.jobs.end_all().await;
            self.jobs_changed().await;
        }
    }
}
