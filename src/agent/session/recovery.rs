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
                (true, Some(_)) => "it was taken over during a turn",
                (true, None) => "its last turn crashed",
                (false, _) => "another program wrote it last",
            };
            remarks.push(format!("Switched from Execute to Ask to Edit: {why}."));
        }
        if meta.mode > loosest {
            meta.mode = loosest;
            remarks.push("Workspace created by another program: sessions are limited to Ask to Edit.".to_owned());
        }
        if meta.mode > loosest_in(&meta.cwd) {
            meta.mode = loosest_in(&meta.cwd);
            remarks.push(format!(
                "{} is not a project folder of yours: sessions there are limited to Ask to Edit.",
                meta.cwd.display()
            ));
        }
        remarks
    }

    /// Remark about a turn that broke off.
    pub(super) fn remark(&self) -> String {
        match &self.taken_from {
            Some(who) => format!("Taken over from {who} during a turn. Its work so far is kept."),
            None => "lisle quit during this session's last turn. Its work so far is kept.".to_owned(),
        }
    }
}
