//! The commands of a session that go on in the background: shown when they change, told when they end, ended with the
//! session.

use super::SessionActor;
use crate::agent::machine_io::Input;
use crate::domain::job::EndedBy;
use crate::domain::{Level, Notice};
use crate::protocol::SessionEvent;
use crate::tools::command::jobs;

impl SessionActor {
    /// Shows them, and tells of those that ended.
    pub(super) async fn jobs_changed(&mut self) {
        let all = self.jobs.list();
        self.jobs.note_running(all.iter().filter(|job| job.end.is_none()).count());
        let ended = self.jobs.take_ended(&all);
        self.out.send(SessionEvent::Jobs(all));
        if let Some(notice) = Notice::protected(&self.jobs.take_breaches()) {
            self.out.send(SessionEvent::Notice(notice));
        }
        for job in ended {
            if let Some(notice) = job.end.as_ref().and_then(|end| Notice::protected(&end.protected)) {
                self.out.send(SessionEvent::Notice(notice));
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
        if !self.jobs.kill(id) {
            let text = "Job already ended";
            self.out.send(SessionEvent::Notice(Notice::new(Level::Info, text)));
        }
    }

    /// lisle ends, and they with it.
    pub(super) async fn end_jobs(&mut self) {
        if self.jobs.any_running() {
            self.jobs.end_all().await;
            self.jobs_changed().await;
        }
    }
}
