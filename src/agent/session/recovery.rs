//! Recovery of a session that was read: the mode that it may be in, and the remarks about what happened to it.

use crate::agent::shared_state::loosest_in;
use crate::domain::SessionMeta;
use crate::domain::permission::Mode;

/// The end of a session's last turn, as its files have it.
#[derive(Clone, Debug)]
pub(super) struct LastEnd {
    /// The turn broke off.
    pub(super) died: bool,
    /// Whoever it was taken from.
    pub(super) taken_from: Option<String>,
    /// Another program wrote last.
    pub(super) foreign: bool,
}

impl LastEnd {
    /// Makes the mode as strict as it has to be here. The remarks say why.
    pub(super) fn restrict(&self, meta: &mut SessionMeta, loosest: Mode) -> Vec<String> {
        let mut remarks = Vec::new();
        // Nothing ever comes back looser than it was left.
        if meta.mode == Mode::Execute && (self.died || self.foreign) {
            meta.mode = Mode::Ask;
            let why = match (self.died, &self.taken_from) {
                (true, Some(_)) => "it was taken over in the middle of a turn",
                (true, None) => "its last turn died",
                (false, _) => "another program wrote it last",
            };
            remarks.push(format!("This session was in Execute and {why}, so it is in Ask to Edit now."));
        }
        if meta.mode > loosest {
            meta.mode = loosest;
            remarks.push(
                "This workspace was made by another program, so its sessions are in Ask to Edit at most.".to_owned(),
            );
        }
        if meta.mode > loosest_in(&meta.cwd) {
            meta.mode = loosest_in(&meta.cwd);
            remarks.push(format!(
                "{} is no folder of a project of yours, so sessions there are in Ask to Edit at most.",
                meta.cwd.display()
            ));
        }
        remarks
    }

    /// Remark about a turn that broke off.
    pub(super) fn remark(&self) -> String {
        match &self.taken_from {
            Some(who) => format!(
                "This session was taken over from {who} in the middle of a turn, which broke off there. What was there is kept."
            ),
            None => "lisle was restarted: it had ended during the last turn of this session. What was there is kept."
                .to_owned(),
        }
    }
}
