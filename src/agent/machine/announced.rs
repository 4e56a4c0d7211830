//! State that clients, the transcript or the model were told last.

use crate::domain::permission::Mode;
use crate::domain::session::Activity;

/// State that was told last, and what waits to be told.
#[derive(Clone, Debug)]
pub(super) struct Announced {
    activity: Activity,
    /// Mode in the transcript.
    mode: Mode,
    /// The user knows that commands which they type are confined.
    confined: bool,
    /// Background jobs that ended since the last request.
    jobs_ended: Vec<String>,
}

impl Announced {
    pub(super) fn new(mode: Mode) -> Self {
        Self { activity: Activity::Idle, mode, confined: false, jobs_ended: Vec::new() }
    }

    pub(super) fn set_activity(&mut self, activity: Activity) {
        self.activity = activity;
    }

    pub(super) fn activity(&self) -> &Activity {
        &self.activity
    }

    /// True if the transcript names another mode; from now on it names this one.
    pub(super) fn is_news(&mut self, mode: Mode) -> bool {
        std::mem::replace(&mut self.mode, mode) != mode
    }

    /// True the first time.
    pub(super) fn confined_is_news(&mut self) -> bool {
        !std::mem::replace(&mut self.confined, true)
    }

    /// A background job ended; the text waits to be told.
    pub(super) fn add_job_ended(&mut self, text: String) {
        self.jobs_ended.push(text);
    }

    pub(super) fn take_jobs_ended(&mut self) -> Vec<String> {
        std::mem::take(&mut self.jobs_ended)
    }
}
