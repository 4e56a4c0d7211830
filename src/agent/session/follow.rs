//! A session that another process writes, or that another program may write: what happens there is shown here.

use super::super::mailbox::SHOWN;
use super::super::session_files::FilesState;
use super::SessionActor;
use super::follower_task::{FAR, NEAR, Pace};
use super::view::Show;
use crate::agent::machine_io::Input;
use crate::domain::SessionMeta;
use crate::domain::notice::{Level, Notice};
use crate::domain::session::{Activity, SessionNames};
use crate::protocol::{EngineEvent, SessionEvent, TurnEnd};
use crate::store::{FolderWatch, Followed, Follower};
use tokio::net::unix::pipe;

impl SessionActor {
    /// Follows what was read where somebody else writes or may write it, and somebody here looks.
    pub(super) fn follow(&mut self, follower: Option<Follower>, news: Option<FolderWatch>) {
        self.view.unfollow();
        let store = &self.shared.setup.store;
        let pace = match self.files.ownership() {
            FilesState::Theirs(_) if store.is_remote() => Pace::Every(FAR),
            FilesState::Theirs(_) => Pace::Every(NEAR),
            FilesState::Seen if store.is_remote() || store.is_foreign() => Pace::Every(FAR),
            // Nothing is woken for a session at rest.
            FilesState::Seen => match news.map(|news| pipe::Receiver::from_owned_fd_unchecked(news.into())) {
                Some(Ok(news)) => Pace::News(news),
                Some(Err(_)) | None => Pace::Every(FAR),
            },
            FilesState::Ours(_) | FilesState::New { .. } | FilesState::Unloaded => return,
        };
        if let Some(follower) = follower.filter(|_| self.view.is_shown()) {
            self.view.follow(follower, pace, self.mailbox.clone());
        }
    }

    /// Takes in rows seen by the task. Those from before the files were read again are known already.
    pub(super) async fn followed(&mut self, number: u64, followed: Vec<Followed>) {
        for one in followed {
            if !self.view.is_followed_by(number) {
                return;
            }
            match self.files.ownership() {
                FilesState::Theirs(_) => self.theirs(one).await,
                FilesState::Seen => self.touched(one).await,
                FilesState::Ours(_) | FilesState::New { .. } | FilesState::Unloaded => return,
            }
        }
    }

    /// Handles a file that somebody holds.
    async fn theirs(&mut self, one: Followed) {
        match one {
            Followed::Meta(meta) => self.their_meta(*meta).await,
            Followed::Row(row) => self.out.send(SessionEvent::Row(row)),
            Followed::Delta { id, add } => self.out.send(SessionEvent::Delta { id, add }),
            Followed::Dropped(id) => self.out.send(SessionEvent::Dropped { id }),
            Followed::Queue(items) => {
                self.machine.set_queue(items.clone());
                self.out.send(SessionEvent::Queue { items, held: false, steers: Vec::new() });
            }
            Followed::Rewritten => self.reopen(SHOWN).await,
            Followed::Free => {
                self.reopen(SHOWN).await;
                if !matches!(self.files.ownership(), FilesState::Theirs(_)) {
                    let text = "Session released by the other process; you can write here now";
                    self.out.send(SessionEvent::Notice(Notice::new(Level::Info, text)));
                }
            }
            Followed::Held => {}
            Followed::Gone => self.gone().await,
        }
    }

    async fn their_meta(&mut self, meta: SessionMeta) {
        let old = self.machine.meta();
        let meta = SessionMeta { held_by: old.held_by.clone(), ..known_here(old, meta) };
        let (ran, runs) = (is_running(old), is_running(&meta));
        if *old != meta {
            self.machine.set_meta(meta.clone());
            self.out.send(SessionEvent::Changed(Box::new(meta.clone())));
        }
        match (ran, runs) {
            (false, true) => self.out.send(SessionEvent::TurnStarted { at: meta.used }),
            // How it ended stands in its rows.
            (true, false) => self.out.send(SessionEvent::TurnEnded { end: TurnEnd::Done }),
            _ => {}
        }
    }

    /// Handles a file that nobody held when it was read.
    async fn touched(&mut self, one: Followed) {
        match one {
            Followed::Meta(meta) => {
                let old = self.machine.meta();
                let (activity, held_by) = (old.activity.clone(), old.held_by.clone());
                let meta =
                    SessionMeta { activity, held_by, mode: meta.mode.stricter(old.mode), ..known_here(old, *meta) };
                if *old != meta {
                    self.machine.set_meta(meta.clone());
                    self.out.send(SessionEvent::Changed(Box::new(meta)));
                }
            }
            Followed::Free => {}
            Followed::Gone => self.gone().await,
            Followed::Row(_)
            | Followed::Delta { .. }
            | Followed::Dropped(_)
            | Followed::Queue(_)
            | Followed::Held
            | Followed::Rewritten => {
                if self.shared.setup.store.is_foreign() {
                    self.also("another program").await;
                }
                self.files.look_again();
                self.load(Show::Changed).await;
            }
        }
    }

    /// Reads the session anew and shows it to those who look.
    pub(super) async fn reopen(&mut self, rows: usize) {
        self.files.look_again();
        if matches!(self.files.ownership(), FilesState::Unloaded)
            && self.view.is_shown()
            && self.load(Show::Rows(rows)).await
        {
            self.input(Input::Look).await;
        }
    }

    /// Handles files deleted by somebody else.
    pub(super) async fn gone(&mut self) {
        self.view.unfollow();
        self.files.forget();
        self.unload();
        let session = self.machine.meta().id.clone();
        self.shared.out.send(EngineEvent::Deleted { session, trash: None, pages: 0 });
    }
}

/// Properties that were read, with what only the engine knows of the session.
fn known_here(old: &SessionMeta, read: SessionMeta) -> SessionMeta {
    SessionMeta {
        odd: old.odd.clone(),
        next_cost: old.next_cost,
        stand_in: old.stand_in.clone(),
        unmapped: old.unmapped,
        switches: old.switches,
        names: SessionNames {
            alias: read.names.alias.clone(),
            key: read.names.key.clone(),
            program: read.names.program.clone(),
            ..old.names.clone()
        },
        ..read
    }
}

fn is_running(meta: &SessionMeta) -> bool {
    matches!(meta.activity, Activity::Running(_))
}
