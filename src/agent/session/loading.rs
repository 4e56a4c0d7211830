//! A session's machine and its files: reading makes the machine, and what the machine wants kept is written.

use super::super::clock::now;
use super::super::machine::{Answers, Death, HeaderExtension, LeftBehind, Machine};
use super::super::mailbox::SHOWN;
use super::super::session_files::{self, FilesState, ReadSession, Writing, trouble};
use super::recovery::LastEnd;
use super::steps::durability;
use super::view::{LockAfterRead, Mark, Show};
use super::{SessionActor, machine_config};
use crate::agent::machine_io::{Input, Safety};
use crate::agent::message_queue::Queue;
use crate::domain::message::{Body, CutBy, Message, UserText};
use crate::domain::notice::{Level, Notice};
use crate::domain::permission::Mode;
use crate::domain::{MessageId, SessionId, SessionMeta};
use crate::protocol::{SessionCommand, SessionEvent};
use crate::store::{Access, Elsewhere, Health, LoadedSession, Merged, StoreError, Urgency, Writer};

impl SessionActor {
    /// Reads the session to look at it, if that was not done. Its lock goes back at once, unless something is to happen
    /// by itself. False when it cannot be read; the user was told.
    pub(super) async fn load(&mut self, show: Show) -> bool {
        self.load_or_why(show).await.is_ok()
    }

    /// The same with the reason why it cannot be read, which clients were told.
    pub(super) async fn load_or_why(&mut self, show: Show) -> Result<(), String> {
        match self.files.ownership() {
            FilesState::Unloaded => self.read(show, LockAfterRead::Released).await,
            _ => Ok(()),
        }
    }

    /// Reads the session to write it: its lock is kept where it can be had.
    pub(super) async fn claim(&mut self, show: Show) -> bool {
        self.read(show, LockAfterRead::Kept).await.is_ok()
    }

    async fn read(&mut self, show: Show, lock: LockAfterRead) -> Result<(), String> {
        let rows = match show {
            Show::Nothing => 0,
            Show::Rows(rows) => rows,
            Show::Changed => SHOWN,
        };
        let loaded = {
            // Not while a session that nobody has open is changed: its lock would seem to be another's.
            let _alone = self.shared.gates.enter(&self.machine.meta().id).await;
            self.files.load(rows).await
        };
        self.took(loaded, show, lock).await
    }

    /// Takes the session from a holder that does not answer; what is there is shown.
    pub(super) async fn take_over(&mut self) -> bool {
        let loaded = self.files.take_over(SHOWN).await;
        self.took(loaded, Show::Rows(SHOWN), LockAfterRead::Kept).await.is_ok()
    }

    async fn took(
        &mut self,
        loaded: Option<Result<ReadSession, StoreError>>,
        show: Show,
        lock: LockAfterRead,
    ) -> Result<(), String> {
        match loaded {
            Some(Ok(ReadSession { loaded, draft, follower, news })) => {
                draft.attachments.iter().for_each(|file| self.attachments.add(&file.path));
                self.draft.read(draft);
                self.take(loaded, show, lock).await;
                self.follow(follower, news);
                Ok(())
            }
            Some(Err(error)) => {
                let notice = trouble(&error);
                let why = notice.text.clone();
                self.out.send(SessionEvent::Notice(notice));
                Err(why)
            }
            None => Err(String::new()),
        }
    }

    async fn take(&mut self, loaded: LoadedSession, show: Show, lock: LockAfterRead) {
        let LoadedSession {
            mut meta,
            own,
            rows: last,
            earlier,
            queue,
            died_in_turn,
            taken_from,
            foreign_last_write,
            access,
        } = loaded;
        let left_in = meta.mode;
        let last_end = LastEnd { died: died_in_turn, taken_from, foreign: foreign_last_write };
        let mut remarks = last_end.restrict(&mut meta, self.shared.loosest());
        let answers = Answers::after(left_in, died_in_turn, foreign_last_write);
        let own_data = own;
        let own = HeaderExtension::read(own_data.clone());
        // A death between the row and the queue leaves a message in both.
        let queue: Vec<_> = queue.into_iter().filter(|item| last.iter().all(|row| row.id != item.id)).collect();
        let held = !queue.is_empty();
        let queue = Queue { items: queue, held };
        meta.held_by = match &access {
            Access::Writer(_) => None,
            Access::Reader { held_by } => Some(held_by.clone()),
        };
        let theirs = meta.held_by.is_some();
        let mark = Mark {
            last: last.last().map(|row| row.id.clone()),
            queue: queue.items.iter().map(|item| item.id.clone()).collect(),
            theirs,
        };
        // What is read without being shown, and let go again, is read again by whoever looks.
        let counts = show != Show::Nothing || lock == LockAfterRead::Kept;
        let before = if counts { self.view.set_mark(mark) } else { self.view.mark().cloned() };
        // Without a turn that died, what waits was held by somebody. In Execute nothing goes by itself.
        let fresh = before.as_ref().is_none_or(|before| before.theirs);
        let redelivers = died_in_turn && held && left_in != Mode::Execute && !theirs && fresh;
        // Whatever is written first, the stricter mode goes with it.
        let first = (!remarks.is_empty()).then(|| (meta.clone(), own_data));
        let stays = lock == LockAfterRead::Kept || (redelivers && show != Show::Nothing);
        let elsewhere = self.files.take(access, first, stays);
        let config = machine_config(&self.shared, &meta);
        let machine = Machine::new(meta, own, queue, config).with_rules_of(&self.machine, answers);
        let old = std::mem::replace(&mut self.machine, machine);
        self.note_folder();
        self.saving.reset();
        let death = if last_end.taken_from.is_some() { Death::TakenOver } else { Death::Restarted };
        let last_row = last.last().map(|row| row.id.clone());
        self.machine.set_left_behind(LeftBehind { died: died_in_turn.then_some(death), redelivers, last_row });
        self.machine.resume_plan(now(), &last);
        self.automatic();
        if died_in_turn && remarks.is_empty() && !theirs {
            remarks.push(last_end.remark());
        }
        self.reach();
        self.sources.forget_context();
        if let Elsewhere::Also(who) = &elsewhere
            && show != Show::Nothing
        {
            self.also(who).await;
        }
        self.show_taken(show, before.as_ref(), old.meta(), (last, earlier)).await;
        if stays && lock == LockAfterRead::Released {
            // What a death left is written now: snapshots come from the files.
            self.keep_meta(Safety::Written).await;
        }
        // Once is enough for one look at the session.
        if counts && before.is_none_or(|before| before.theirs && !theirs) {
            for text in remarks {
                self.out.send(SessionEvent::Notice(Notice::new(Level::Warning, text)));
            }
        }
    }

    /// Shows what was read, unless clients have it already.
    async fn show_taken(
        &mut self,
        show: Show,
        before: Option<&Mark>,
        old: &SessionMeta,
        (last, earlier): (Vec<Message>, Option<u64>),
    ) {
        match (show, before) {
            (Show::Nothing, _) | (Show::Changed, None) => {}
            (Show::Changed, Some(_)) if before == self.view.mark() => {
                if old != self.machine.meta() {
                    self.out.send(SessionEvent::Changed(Box::new(self.machine.meta().clone())));
                }
            }
            (Show::Rows(_) | Show::Changed, _) => self.show(last, earlier, None).await,
        }
    }

    /// Drops the content of the files from memory.
    pub(super) fn unload(&mut self) {
        self.out.rest();
        self.sources.forget_context();
        self.view.unload();
        self.machine.set_rows(Vec::new());
        self.forget_meta();
    }

    /// The list goes by the files again.
    pub(super) fn forget_meta(&self) {
        self.shared.sessions.forget_meta(&self.machine.meta().id);
    }

    pub(super) async fn health(&mut self, health: Health) {
        if let Some(notice) = self.files.health(health) {
            self.out.send(SessionEvent::Notice(notice));
        }
    }

    /// Handles actions of others on a session that we write.
    pub(super) async fn elsewhere(&mut self, elsewhere: Elsewhere) {
        if self.files.ours().is_none() {
            return;
        }
        let notice = match elsewhere {
            Elsewhere::Quiet => return,
            Elsewhere::Also(who) => return self.also(&who).await,
            Elsewhere::Rewritten(_) => return self.rewritten().await,
            Elsewhere::Gone => Notice::new(Level::Error, "This session's files are missing.")
                .hint("Unsaved changes stay in memory and are saved if the files return."),
            Elsewhere::Lost(who) => return self.lost(who).await,
        };
        self.out.send(SessionEvent::Notice(notice));
    }

    /// Says once that the session is open in another program as well.
    pub(super) async fn also(&mut self, who: &str) {
        if !self.view.tell_also() {
            return;
        }
        let notice = Notice::new(Level::Warning, format!("Session also open in {who}."))
            .hint("Use only one: the other's memory may overwrite changes made here.");
        self.out.send(SessionEvent::Notice(notice));
    }

    /// Another program changed properties of a session that is written here.
    pub(super) async fn merged(&mut self, merged: Option<Merged>) {
        let Some(merged) = merged else { return };
        let meta = merged.onto(self.machine.meta());
        if meta != *self.machine.meta() {
            self.machine.set_meta(meta.clone());
            self.out.send(SessionEvent::Changed(Box::new(meta)));
        }
    }

    /// Another program wrote the messages anew: its content is shown, and goes to the model next.
    async fn rewritten(&mut self) {
        if self.shared.setup.store.is_foreign() {
            self.also("another program").await;
        } else {
            let text = "Another copy replaced this session's file while it was open.";
            let hint = "Changes made here since were added to it; nothing else from the old file was.";
            self.out.send(SessionEvent::Notice(Notice::new(Level::Warning, text).hint(hint)));
        }
        if !self.machine.is_running() {
            self.sources.forget_context();
            self.machine.set_rows(Vec::new());
        }
        if self.view.is_shown() {
            self.snapshot(SHOWN).await;
        }
    }

    /// Looks whether another process took the session over, and does what follows from that. False when one did.
    pub(super) async fn is_still_ours(&mut self) -> bool {
        let Some(writer) = self.files.ours().cloned() else { return true };
        match writer.is_ours().await {
            Err(StoreError::TakenOver { holder, .. }) => {
                self.lost(holder).await;
                false
            }
            _ => true,
        }
    }

    /// A message was taken, unless it was not kept because another process took the session over.
    pub(super) async fn accepted(&mut self, id: MessageId, queued: bool) {
        if !self.saving.is_taken_over() {
            return self.out.send(SessionEvent::Accepted { id, queued });
        }
        let rows = self.machine.rows().iter().rev();
        let row = rows.filter(|row| row.id == id).find_map(|row| match &row.body {
            Body::User(said) => Some(said.clone()),
            _ => None,
        });
        let waits = self.machine.queue().items.iter().chain(self.machine.steers()).find(|item| item.id == id);
        let waits = waits.map(|item| UserText::with(item.text.clone(), item.attachments.clone()));
        if let Some(UserText { text, attachments, .. }) = row.or(waits) {
            let why = "Another lisle took over this session.".to_owned();
            self.out.send(SessionEvent::Refused {
                command: Box::new(SessionCommand::Send { text, attachments, piped: None }),
                why,
            });
        }
    }

    /// Another process took the session over. Its turn ends here, and what comes there is followed.
    async fn lost(&mut self, who: String) {
        // Whoever waits for an answer knows before the turn ends that none comes.
        self.out.send(SessionEvent::Held { by: Some(who.clone()) });
        self.input(Input::Command(SessionCommand::Cut { by: CutBy::TakenOver })).await;
        let text = format!("Read-only now: {who} took over this session.");
        self.out.send(SessionEvent::Notice(Notice::new(Level::Warning, text)));
        // What came too late is reported at once, and not tried again.
        if let Some(unsaved) = self.files.end(self.machine.meta(), UserText::default()).await {
            self.out.send(SessionEvent::Unsaved(Box::new(unsaved)));
        }
        self.files.forget();
        self.sources.forget_context();
        self.view.rest();
        self.forget_meta();
        self.reopen(SHOWN).await;
    }

    /// The model's context is read only when a turn needs it: a long session is opened by its last page alone. False when it
    /// cannot be read.
    pub(super) async fn load_context(&mut self) -> bool {
        if self.sources.has_context() {
            return true;
        }
        match self.files.context().await {
            Some(Ok(mut rows)) => {
                // What was said since without being saved yet is known here alone.
                let known = self.machine.rows().iter().filter(|row| rows.iter().rev().all(|old| old.id != row.id));
                let unsaved: Vec<Message> = known.cloned().collect();
                rows.extend(unsaved);
                self.machine.set_rows(rows);
            }
            Some(Err(error)) => {
                self.out.send(SessionEvent::Notice(trouble(&error)));
                return false;
            }
            None => return false,
        }
        self.sources.context_read();
        true
    }

    /// The writer; made at the first write of a new session.
    pub(super) async fn writer(&mut self) -> Option<Writer> {
        match self.files.writer(self.machine.meta()).await {
            Writing::Ready(writer) => Some(writer),
            Writing::Made(writer, id, unsaved) => {
                if id != self.machine.meta().id {
                    self.reidentify(id).await;
                }
                let kept = session_files::save(&writer, unsaved).await;
                self.told("save the messages", kept);
                if self.saving.take_postponed() {
                    let own = serde_json::to_value(self.machine.own()).unwrap_or_default();
                    let kept = writer.meta(self.machine.meta().clone(), own, Urgency::Soon).await;
                    self.told("save the session's properties", kept);
                }
                Some(writer)
            }
            Writing::None(notice) => {
                if let Some(notice) = notice {
                    self.out.send(SessionEvent::Notice(notice));
                }
                None
            }
        }
    }

    async fn reidentify(&mut self, id: SessionId) {
        let old = self.machine.reidentify(id.clone(), self.shared.setup.store.session_dir(&id));
        self.shared.sessions.reidentify(&old, &id, self.mailbox.clone());
        self.out.reidentify(&id);
    }

    pub(super) async fn keep(&mut self, rows: Vec<Message>, safety: Safety) {
        if let Some(writer) = self.writer().await {
            let kept = writer.append(rows, durability(safety)).await;
            self.saving.note(&kept);
            self.told("save a message", kept);
        } else {
            self.files.keep_in_memory(rows);
        }
    }

    /// Keeps properties that somebody chose. The first message brings those of a blank session to disk; until then there is
    /// nothing to come back to.
    pub(super) async fn keep_chosen(&mut self, safety: Safety) {
        if matches!(self.files.ownership(), FilesState::New { .. }) && self.machine.meta().is_blank() {
            return self.saving.postpone();
        }
        self.keep_meta(safety).await;
    }

    pub(super) async fn keep_meta(&mut self, safety: Safety) {
        let Some(writer) = self.writer().await else { return };
        let own = serde_json::to_value(self.machine.own()).unwrap_or_default();
        let urgency = match safety {
            Safety::Synced => Urgency::Now,
            Safety::Written => Urgency::Soon,
        };
        let kept = writer.meta(self.machine.meta().clone(), own, urgency).await;
        if let Err(error) = kept {
            tracing::warn!(session = %self.machine.meta().id, %error, "can't save the session's properties");
            self.saving.refuse(error);
        }
    }

    /// The writer keeps what it could not save and its health says so; the log has the details.
    pub(super) fn told(&self, what: &str, kept: Result<(), StoreError>) {
        if let Err(error) = kept {
            tracing::warn!(session = %self.machine.meta().id, %error, "can't {what}");
        }
    }
}
