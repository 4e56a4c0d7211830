//! Views of a session for clients: snapshots of its end or of a place in it, and pages before and after.

use super::super::session_files::{FilesState, trouble};
use super::SessionActor;
use super::view::Show;
use crate::agent::machine_io::Input;
use crate::domain::message::Message;
use crate::protocol::{Opened, SessionCommand, SessionEvent};
use crate::store::Around;

impl SessionActor {
    pub(super) async fn open(&mut self, rows: usize) {
        self.view.show();
        // Whoever held it may be gone by now, and others may have written what is not ours.
        self.files.look_again();
        let fresh = matches!(self.files.ownership(), FilesState::Unloaded);
        if let Err(why) = self.load_or_why(Show::Rows(rows)).await {
            let command = Box::new(SessionCommand::Open { rows });
            return self.out.send(SessionEvent::Refused { command, why });
        }
        if !fresh {
            self.snapshot(rows).await;
        }
        self.input(Input::Look).await;
    }

    /// A client comes back: it gets what it missed, or a snapshot.
    pub(super) async fn resume(&mut self, instance: &str, seq: u64, rows: usize) {
        let Some(client) = self.out.asker().map(|asker| asker.client().clone()) else { return self.open(rows).await };
        let loaded = !matches!(self.files.ownership(), FilesState::Unloaded);
        if loaded && self.out.resume(&client, instance, seq) {
            return self.view.show();
        }
        self.out.open_to(&client);
        self.open(rows).await;
    }

    /// `later`: there are rows behind these, so live ones do not follow them.
    pub(super) async fn show(&mut self, mut rows: Vec<Message>, earlier: Option<u64>, later: Option<u64>) {
        if later.is_none() {
            rows.extend(self.machine.live_rows());
        }
        let client = self.out.asker().map(|asker| asker.client().info().name.clone()).unwrap_or_default();
        let draft = self.draft.said(&client).clone();
        let mut meta = self.machine.meta().clone();
        meta.next_cost = self.shared.next_cost(&meta);
        let opened = Opened {
            meta,
            rows,
            earlier,
            later,
            redelivery: self.machine.redelivery(),
            queue: self.machine.queue().items.clone(),
            queue_held: self.machine.queue().held,
            steers: self.machine.steers().to_vec(),
            requests: self.machine.requests(),
            todo: self.machine.own().todo.clone(),
            plan: self.machine.own().progress.clone().map(Box::new),
            jobs: self.jobs.list(),
            draft: draft.text,
            draft_attachments: draft.attachments,
        };
        self.out.send(SessionEvent::Opened(Box::new(opened)));
        if let Some(event) = self.machine.compacting() {
            self.out.send(event);
        }
    }

    pub(super) async fn snapshot(&mut self, rows: usize) {
        let count = rows.max(1);
        match self.files.ownership() {
            FilesState::New { .. } => {
                let all = self.machine.rows();
                let last = all[all.len().saturating_sub(count)..].to_vec();
                self.show(last, None, None).await;
            }
            FilesState::Unloaded => {}
            FilesState::Ours(_) | FilesState::Seen | FilesState::Theirs(_) => {
                self.flush().await;
                match self.files.page(u64::MAX, count).await {
                    Some(Ok(page)) => {
                        let mut last = page.rows;
                        self.add_unsaved(&mut last);
                        self.show(last, page.earlier, None).await;
                    }
                    Some(Err(error)) => self.out.send(SessionEvent::Notice(trouble(&error))),
                    None => {}
                }
            }
        }
    }

    /// Rows that could not be saved yet are shown all the same.
    fn add_unsaved(&self, last: &mut Vec<Message>) {
        let end = last.last().map(|row| row.id.clone());
        let known = self.machine.rows();
        if let Some(at) = known.iter().rposition(|row| Some(&row.id) == end.as_ref()) {
            last.extend_from_slice(&known[at + 1..]);
        }
    }

    /// Around a place. From there the client asks for more, and live rows follow when it has come to the end.
    pub(super) async fn open_at(&mut self, at: u64, rows: usize) {
        self.view.show();
        self.files.look_again();
        if let Err(why) = self.load_or_why(Show::Nothing).await {
            let command = Box::new(SessionCommand::OpenAt { at, rows });
            return self.out.send(SessionEvent::Refused { command, why });
        }
        self.flush().await;
        match self.files.page_at(at, rows).await {
            Some(Ok(Around { mut rows, earlier, later })) => {
                if later.is_none() {
                    self.add_unsaved(&mut rows);
                }
                self.show(rows, earlier, later).await;
            }
            Some(Err(error)) => self.out.send(SessionEvent::Notice(trouble(&error))),
            None => {}
        }
        self.input(Input::Look).await;
    }

    pub(super) async fn later(&mut self, cursor: u64, rows: usize) {
        self.flush().await;
        match self.files.page_after(cursor, rows).await {
            Some(Ok((mut rows, later))) => {
                if later.is_none() {
                    self.add_unsaved(&mut rows);
                    rows.extend(self.machine.live_rows());
                }
                self.out.send(SessionEvent::LaterPage { rows, later });
            }
            Some(Err(error)) => self.out.send(SessionEvent::Notice(trouble(&error))),
            None => {}
        }
    }

    pub(super) async fn earlier(&mut self, cursor: u64, rows: usize) {
        match self.files.page(cursor, rows).await {
            Some(Ok(page)) => self.out.send(SessionEvent::Page { rows: page.rows, earlier: page.earlier }),
            Some(Err(error)) => self.out.send(SessionEvent::Notice(trouble(&error))),
            None => {}
        }
    }
}
