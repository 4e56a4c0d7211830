//! Worktrees of sessions: made with a session that works alone, and removed with it.

use super::session_ops::SessionOps;
use super::worktree;
use crate::domain::notice::{Level, Notice};
use crate::domain::session::Worktree;
use crate::domain::{SessionId, SessionMeta};

impl SessionOps {
    /// Makes a git worktree for a new session, which works there from the start. `None` when that cannot be: the user was
    /// told, and a session that was to work alone is not made to work with others.
    pub(super) async fn with_worktree(&self, mut meta: SessionMeta) -> Option<SessionMeta> {
        let settings = &self.shared.setup.settings;
        let name = self.shared.setup.store.workspace_name();
        match worktree::create(&settings.runner, &meta.cwd, &settings.inbox.data, name, &meta.id).await {
            Ok(worktree::Made { worktree: made, note }) => {
                if let Some(note) = note {
                    self.out.tell(Some(Notice::new(Level::Info, note)));
                }
                meta.cwd.clone_from(&made.path);
                meta.first_cwd = Some(made.path.clone());
                meta.worktree = Some(made);
                Some(meta)
            }
            Err(error) => {
                let text = format!("Can't create the session: {error}.");
                let hint = "Without a worktree it uses the directory itself.";
                self.out.tell(Some(Notice::new(Level::Error, text).hint(hint)));
                None
            }
        }
    }

    /// The worktree of a session that is gone goes too, unless something in it is nowhere else.
    pub(super) async fn remove_worktree(&self, id: &SessionId, left: Worktree) {
        let path = left.path.display();
        let settings = &self.shared.setup.settings;
        // Where a session came from elsewhere, its file may name any.
        if left.path != worktree::place(&settings.inbox.data, self.store().workspace_name(), id) {
            let text = format!("Kept worktree {path}: lisle did not make it for this session.");
            return self.out.tell(Some(Notice::new(Level::Info, text).hint("Remove it with git worktree remove.")));
        }
        let notice = match worktree::remove(&settings.runner, &left, worktree::Loss::Refused).await {
            Ok(worktree::BranchLeft::Gone) => return,
            Ok(worktree::BranchLeft::Kept) => {
                let text = format!("Kept branch {}: it has unmerged commits.", left.branch);
                let hint = format!("Merge it in {}, or remove it with git branch -D.", left.repository.display());
                Notice::new(Level::Info, text).hint(hint)
            }
            Err(worktree::WorktreeError::Dirty { .. }) => {
                let text = format!("Kept worktree {path}: it has uncommitted changes.");
                Notice::new(Level::Warning, text).hint(format!("Its branch is {}.", left.branch))
            }
            Err(error) => {
                let text = format!("Can't remove the worktree {path}: {error}.");
                Notice::new(Level::Warning, text).hint("Use git worktree remove.")
            }
        };
        self.out.tell(Some(notice));
    }
}
