//! A session's machine and its files: reading makes the machine, and what the machine wants kept is written.

use super::super::clock::now;
use super::super::files::{self, Read, Standing, Writing, trouble};
use super::super::machine::{Answers, Death, LeftBehind, Machine, Own};
use super::super::mailbox::SHOWN;
use super::super::queue::Queue;
use super::super::shared::loosest_in;
use super::super::step::{Input, Safety};
use super::{Lane, durability, rules};
use crate::domain::contract::Act;
use crate::domain::message::{Body, CutBy, Message, UserText};
use crate::domain::notice::{Level, Notice};
use crate::domain::permission::Mode;
use crate::domain::{Event, MessageId, SessionId};
use crate::store::{Access, Elsewhere, Health, LoadedSession, Merged, StoreError, Urgency, Writer};
use std::sync::PoisonError;

/// View to show of a session that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Show {
    /// Nothing: nobody looks.
    Nothing,
    /// The last rows.
    Rows(usize),
    /// The last rows where they are others than those that were shown, by what another program did meanwhile.
    Changed,
}

/// Mark of the content shown last, to tell if something else is there now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    last: Option<MessageId>,
    queue: Vec<MessageId>,
    theirs: bool,
}

impl Lane {
    /// Reads the session to look at it, if that was not done. Its lock goes back at once, unless something is to happen
    /// by itself. False when it cannot be read; the user was told.
    pub(super) async fn load(&mut self, show: Show) -> bool {
        !matches!(self.files.standing(), Standing::Unloaded) || self.read(show, Hold::No).await
    }

    /// Reads the session to write it: its lock is kept where it can be had.
    pub(super) async fn claim(&mut self, show: Show) -> bool {
        self.read(show, Hold::Yes).await
    }

    async fn read(&mut self, show: Show, hold: Hold) -> bool {
        let rows = match show {
            Show::Nothing => 0,
            Show::Rows(rows) => rows,
            Show::Changed => SHOWN,
        };
        let apart = self.shared.apart.clone();
        let loaded = {
            // Not while a session that nobody has open is changed: its lock would seem to be another's.
            let _alone = apart.write().await;
            self.files.load(rows).await
        };
        self.took(loaded, show, hold).await
    }

    /// Takes the session from a holder that does not answer; what is there is shown.
    pub(super) async fn take_over(&mut self) -> bool {
        let loaded = self.files.take_over(SHOWN).await;
        self.took(loaded, Show::Rows(SHOWN), Hold::Yes).await
    }

    async fn took(&mut self, loaded: Option<Result<Read, StoreError>>, show: Show, hold: Hold) -> bool {
        match loaded {
            Some(Ok(Read { loaded, draft, follower, news })) => {
                draft.attachments.iter().for_each(|file| self.loose.add(&file.path));
                self.draft = draft;
                self.take(loaded, show, hold).await;
                self.follow(follower, news);
                true
            }
            Some(Err(error)) => {
                self.out.send(Event::Notice(trouble(&error))).await;
                false
            }
            None => false,
        }
    }

    async fn take(&mut self, loaded: LoadedSession, show: Show, hold: Hold) {
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
        let mut remarks = Vec::new();
        let left_in = meta.mode;
        // Nothing ever comes back looser than it was left.
        if meta.mode == Mode::Execute && (died_in_turn || foreign_last_write) {
            meta.mode = Mode::Ask;
            let why = match (died_in_turn, &taken_from) {
                (true, Some(_)) => "it was taken over in the middle of a turn",
                (true, None) => "its last turn died",
                (false, _) => "another program wrote it last",
            };
            remarks.push(format!("This session was in Execute and {why}, so it is in Ask to Edit now."));
        }
        let answers = Answers::after(left_in, died_in_turn, foreign_last_write);
        let loosest = self.shared.loosest();
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
        let own_data = own;
        let own = Own::read(own_data.clone());
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
        let counts = show != Show::Nothing || hold == Hold::Yes;
        let before = if counts { self.mark.replace(mark) } else { self.mark.clone() };
        // Without a turn that died, what waits was held by somebody. In Execute nothing goes by itself.
        let fresh = before.as_ref().is_none_or(|before| before.theirs);
        let redelivers = died_in_turn && held && left_in != Mode::Execute && !theirs && fresh;
        // Whatever is written first, the stricter mode goes with it.
        let first = (!remarks.is_empty()).then(|| (meta.clone(), own_data));
        let stays = hold == Hold::Yes || (redelivers && show != Show::Nothing);
        let elsewhere = self.files.take(access, first, stays);
        let rules = rules(&self.shared, &meta);
        let machine = Machine::new(meta, own, queue, rules).with_law_of(&self.machine, answers);
        let old = std::mem::replace(&mut self.machine, machine);
        self.over = false;
        let death = if taken_from.is_some() { Death::TakenOver } else { Death::Restarted };
        let last_row = last.last().map(|row| row.id.clone());
        self.machine.set_left_behind(LeftBehind { died: died_in_turn.then_some(death), redelivers, last_row });
        self.machine.resume_plan(now(), &last);
        self.automatic();
        if died_in_turn && remarks.is_empty() && !theirs {
            remarks.push(match &taken_from {
                Some(who) => format!(
                    "This session was taken over from {who} in the middle of a turn, which broke off there. What was there is kept."
                ),
                None => "lisle was restarted: it had ended during the last turn of this session. What was there is kept."
                    .to_owned(),
            });
        }
        self.reach();
        self.has_context = false;
        if let Elsewhere::Also(who) = &elsewhere
            && show != Show::Nothing
        {
            self.also(who).await;
        }
        match (show, &before) {
            (Show::Nothing, _) | (Show::Changed, None) => {}
            (Show::Changed, Some(_)) if before == self.mark => {
                if old.meta() != self.machine.meta() {
                    self.out.send(Event::Changed(Box::new(self.machine.meta().clone()))).await;
                }
            }
            (Show::Rows(_) | Show::Changed, _) => self.show(last, earlier, None).await,
        }
        if stays && hold == Hold::No {
            // What a death left is written now: snapshots come from the files.
            self.keep_meta(Safety::Written).await;
        }
        // Once is enough for one look at the session.
        if counts && before.is_none_or(|before| before.theirs && !theirs) {
            for text in remarks {
                self.out.send(Event::Notice(Notice::new(Level::Warning, text))).await;
            }
        }
    }

    /// Drops the content of the files from memory.
    pub(super) fn unload(&mut self) {
        self.has_context = false;
        self.acted = false;
        self.mark = None;
        self.following = None;
        self.machine.set_rows(Vec::new());
        self.forget_meta();
    }

    /// The list goes by the files again.
    pub(super) fn forget_meta(&self) {
        let mut metas = self.shared.metas.lock().unwrap_or_else(PoisonError::into_inner);
        metas.remove(&self.machine.meta().id);
    }

    pub(super) async fn health(&mut self, health: Health) {
        if let Some(notice) = self.files.health(health) {
            self.out.send(Event::Notice(notice)).await;
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
            Elsewhere::Gone => Notice::new(Level::Error, "The files of this session are gone.")
                .hint("What is unsaved is kept in memory and written if they come back."),
            Elsewhere::Lost(who) => return self.lost(who).await,
        };
        self.out.send(Event::Notice(notice)).await;
    }

    /// Says once that the session is open in another program as well.
    pub(super) async fn also(&mut self, who: &str) {
        if std::mem::replace(&mut self.told_also, true) || self.left {
            return;
        }
        let notice = Notice::new(Level::Warning, format!("This session is also open in {who}."))
            .hint("Write in one of the two: what the other one has in memory may replace what is written here.");
        self.out.send(Event::Notice(notice)).await;
    }

    /// Another program changed properties of a session that is written here.
    pub(super) async fn merged(&mut self, merged: Option<Merged>) {
        let Some(merged) = merged else { return };
        let meta = merged.onto(self.machine.meta());
        if meta != *self.machine.meta() {
            self.machine.set_meta(meta.clone());
            self.out.send(Event::Changed(Box::new(meta))).await;
        }
    }

    /// Another program wrote the messages anew: its content is shown, and goes to the model next.
    async fn rewritten(&mut self) {
        if self.shared.setup.store.is_foreign() {
            self.also("another program").await;
        } else {
            let text = "The file of this session was replaced by another copy while it was open here.";
            let hint = "What was written here since is behind it again; nothing else of the old file is.";
            self.out.send(Event::Notice(Notice::new(Level::Warning, text).hint(hint))).await;
        }
        if !self.machine.is_running() {
            self.has_context = false;
            self.machine.set_rows(Vec::new());
        }
        if !self.left {
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
        if !self.over {
            return self.out.send(Event::Accepted { id, queued }).await;
        }
        let rows = self.machine.rows().iter().rev();
        let row = rows.filter(|row| row.id == id).find_map(|row| match &row.body {
            Body::User(said) => Some(said.clone()),
            _ => None,
        });
        let waits = self.machine.queue().items.iter().chain(self.machine.steers()).find(|item| item.id == id);
        let waits = waits.map(|item| UserText::with(item.text.clone(), item.attachments.clone()));
        if let Some(UserText { text, attachments, .. }) = row.or(waits) {
            let why = "Another lisle took this session over.".to_owned();
            self.out.send(Event::Refused { act: Box::new(Act::Send { text, attachments }), why }).await;
        }
    }

    /// Another process took the session over. Its turn ends here, and what comes there is followed.
    async fn lost(&mut self, who: String) {
        // Whoever waits for an answer knows before the turn ends that none comes.
        self.out.send(Event::Held { by: Some(who.clone()) }).await;
        self.input(Input::Act(Act::Cut { by: CutBy::TakenOver })).await;
        let text = format!("This session was taken over by {who}: it can only be read here now.");
        self.out.send(Event::Notice(Notice::new(Level::Warning, text))).await;
        // What came too late is reported at once, and not tried again.
        if let Some(unsaved) = self.files.end(self.machine.meta(), UserText::default()).await {
            self.out.send(Event::Unsaved(Box::new(unsaved))).await;
        }
        self.files.forget();
        self.has_context = false;
        self.acted = false;
        self.forget_meta();
        self.reopen(SHOWN).await;
    }

    /// The model's context is read only when a turn needs it: a long session is opened by its last page alone. False when it
    /// cannot be read.
    pub(super) async fn load_context(&mut self) -> bool {
        if self.has_context {
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
                self.out.send(Event::Notice(trouble(&error))).await;
                return false;
            }
            None => return false,
        }
        self.has_context = true;
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
                let kept = files::save(&writer, unsaved).await;
                self.told("save the messages", kept);
                Some(writer)
            }
            Writing::None(notice) => {
                if let Some(notice) = notice {
                    self.out.send(Event::Notice(notice)).await;
                }
                None
            }
        }
    }

    async fn reidentify(&mut self, id: SessionId) {
        let old = self.machine.reidentify(id.clone(), self.shared.setup.store.session_dir(&id));
        self.shared.reidentify(&old, &id, self.me.clone());
        self.out.reidentify(&id).await;
    }

    pub(super) async fn keep(&mut self, rows: Vec<Message>, safety: Safety) {
        if let Some(writer) = self.writer().await {
            let kept = writer.append(rows, durability(safety)).await;
            self.over |= matches!(kept, Err(StoreError::TakenOver { .. }));
            self.told("save a message", kept);
        } else {
            self.files.keep_in_memory(rows);
        }
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
            tracing::warn!(session = %self.machine.meta().id, %error, "could not save the session's properties");
            self.refused = Some(error);
        }
    }

    /// The writer keeps what it could not save and its health says so; the log has the details.
    pub(super) fn told(&self, what: &str, kept: Result<(), StoreError>) {
        if let Err(error) = kept {
            tracing::warn!(session = %self.machine.meta().id, %error, "could not {what}");
        }
    }
}

/// Treatment of the lock after reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    Yes,
    No,
}
