//! End of a client: how it was left, and what the engine could not save.

use crate::domain::ids::SessionId;
use crate::domain::unsaved::Unsaved;
use crate::runtime::tty::TtyError;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Time for the engine to save its last state after the process was asked to end. Together with
/// restoring the terminal it stays under the two seconds after which system managers kill.
pub(in crate::runtime) const LAST_SAVE: Duration = Duration::from_millis(1_600);

/// Outcome of a screen session.
#[derive(Debug)]
pub struct Exit {
    /// The session to name in the command that resumes.
    pub resume: Option<SessionId>,
    /// The folder of the workspace that is opened next.
    pub workspace: Option<PathBuf>,
    /// Content that could not be saved.
    pub unsaved: Vec<Unsaved>,
    /// The engine had ended by then. Where it had not, nobody knows what it saved.
    pub ended: bool,
    /// Error that ended the screen, if any.
    pub trouble: Option<RunError>,
}

impl Exit {
    pub(in crate::runtime) fn of(resume: Option<SessionId>) -> Self {
        Self { resume, workspace: None, unsaved: Vec::new(), ended: false, trouble: None }
    }

    /// The end of a loop, after the engine's last words.
    pub(in crate::runtime) fn after(result: Result<Self, RunError>, ended: bool, unsaved: Vec<Unsaved>) -> Self {
        match result {
            Ok(exit) => Self { ended, unsaved, ..exit },
            Err(trouble) => Self { ended, unsaved, trouble: Some(trouble), ..Self::of(None) },
        }
    }

    /// Messages for the user once the terminal is restored: none when all went well.
    pub fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = self.unsaved.iter().map(Unsaved::words).collect();
        match &self.trouble {
            Some(trouble) => words.push(trouble.to_string()),
            None if !self.ended => words.push(
                "quit before all sessions were saved: the disk or a command blocked them. Open them to check"
                    .to_owned(),
            ),
            None => {}
        }
        words
    }
}

/// Error that keeps the screen from being shown.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// No usable terminal.
    #[error(transparent)]
    Terminal(#[from] TtyError),
    /// Threads, pipes or signals could not be had.
    #[error("can't set up the screen: {0}")]
    System(#[source] io::Error),
    /// The engine ended by itself.
    #[error("the engine stopped unexpectedly; everything up to the last saved message is on disk. Restart lisle")]
    EngineGone,
    /// The session of a program's lines cannot be read. Why was printed.
    #[error("the session can't be read; nothing was sent")]
    Unread,
    /// The output of lines does not take them, for another reason than a closed pipe.
    #[error("can't write stdout: {0}")]
    Unwritten(#[source] io::Error),
}
