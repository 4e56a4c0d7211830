//! The files of plans: looked at before an approval counts, and written when what they hold was changed here.

use super::super::blocking::blocking;
use super::SessionActor;
use crate::agent::machine_io::{Input, PlanFile};
use crate::domain::notice::{Level, Notice};
use crate::domain::request::UserAnswer;
use crate::protocol::{SessionCommand, SessionEvent};
use crate::sandbox::own_folders;
use crate::tools::files::{self, FileError};
use std::path::{Path, PathBuf};

impl SessionActor {
    /// Looks at a plan's file before the plan is approved: what is approved is what was shown. False when it holds
    /// something else, which is asked for anew.
    pub(super) async fn look_at_plan(&mut self, act: &SessionCommand) -> bool {
        let SessionCommand::Answer { request, answer: UserAnswer::PlanApprove(_), .. } = act else { return true };
        let Some(review) = self.machine.plan_asked(request) else { return true };
        let (path, shown) = (review.path.clone(), review.markdown.clone());
        if !self.is_own(&path) || self.machine.is_running() {
            return true;
        }
        let looked = blocking(move || match files::load(&path) {
            Ok(loaded) => Ok(PlanFile::Text(String::from_utf8_lossy(&loaded.bytes).into_owned())),
            Err(FileError::Missing(_)) => Ok(PlanFile::Gone),
            Err(error) => Err(error.to_string()),
        });
        match looked.await {
            Some(Ok(file)) => {
                let other = matches!(&file, PlanFile::Text(text) if *text != shown);
                self.input(Input::PlanFile(file)).await;
                return !other;
            }
            Some(Err(why)) => {
                let text = format!("Can't read the plan's file: {why}. The approval covers the version shown.");
                self.out.send(SessionEvent::Notice(Notice::new(Level::Warning, text)));
            }
            None => {}
        }
        true
    }

    pub(super) async fn keep_plan(&mut self, path: PathBuf, text: String) {
        if !self.is_own(&path) {
            return;
        }
        let kept = blocking(move || {
            let before = match files::load(&path) {
                Ok(loaded) => Some(loaded),
                Err(FileError::Missing(_)) => None,
                Err(error) => return Err(error),
            };
            match &before {
                Some(_) => files::replace(&path, text.as_bytes(), before.as_ref()).map(drop),
                None => files::create_private(&path, text.as_bytes()),
            }
        });
        if let Some(Err(why)) = kept.await {
            let text = format!("Can't save the plan: {why}. Your approval still applies.");
            self.out.send(SessionEvent::Notice(Notice::new(Level::Warning, text)));
        }
    }

    /// The session's own plan: what a header of another program names elsewhere is not touched.
    fn is_own(&self, path: &Path) -> bool {
        let session = self.shared.setup.store.session_dir(&self.machine.meta().id);
        if own_folders::fault(&session).is_some() {
            return false;
        }
        let plans = session.join("plans");
        let resolved = plans.canonicalize();
        let below = |folder: &Path| path.parent() == Some(folder);
        below(&plans) || resolved.is_ok_and(|folder| below(&folder))
    }
}
