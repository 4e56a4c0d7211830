//! Acts on a session by people, changes of its properties, and the release of its files.

use super::super::asker::Asker;
use super::super::blocking::blocking;
use super::super::clock::now;
use super::super::mailbox::{ReleaseAnswer, Released, Running, SHOWN};
use super::super::session_files::{FilesState, trouble};
use super::SessionActor;
use super::idle_work::Due;
use super::view::Show;
use crate::agent::machine_io::{Input, Safety};
use crate::domain::SessionMeta;
use crate::domain::ids::At;
use crate::domain::message::UserText;
use crate::domain::notice::{Level, Notice};
use crate::domain::property_change::PropertyChange;
use crate::protocol::{SessionCommand, SessionEvent};
use crate::store::StoreError;

impl SessionActor {
    /// Does a command, whoever sent it.
    pub(super) async fn carry_out(&mut self, command: SessionCommand) {
        match command {
            SessionCommand::Open { rows } => self.open(rows).await,
            SessionCommand::Resume { instance, seq, rows } => self.resume(&instance, seq, rows).await,
            SessionCommand::OpenAt { at, rows } => self.open_at(at, rows).await,
            SessionCommand::Earlier { cursor, rows } => self.earlier(cursor, rows).await,
            SessionCommand::Later { cursor, rows } => self.later(cursor, rows).await,
            SessionCommand::Leave => {
                match self.out.asker().map(Asker::id) {
                    Some(client) => self.left_by(client),
                    None => self.view.leave(),
                }
                self.vanish_if_blank();
            }
            SessionCommand::Context => self.show_context().await,
            SessionCommand::Rules => self.show_rules().await,
            SessionCommand::Sources => self.show_sources().await,
            SessionCommand::Extensions => self.show_extensions().await,
            act @ SessionCommand::UseSource { .. } => {
                self.act(act).await;
                self.show_sources().await;
            }
            SessionCommand::Forget { rule, scope } => self.forget_rule(*rule, scope).await,
            SessionCommand::Trust { request } => self.trust_shown(request).await,
            SessionCommand::AskKey { connection } => self.ask_for_key(connection).await,
            SessionCommand::Enhance { number, draft } => self.enhance(number, draft).await,
            SessionCommand::PlanUndo { aim } => self.plan_undo(aim).await,
            SessionCommand::Undo { aim, also } => self.undo(aim, also).await,
            SessionCommand::FilesChanged => self.tell_changes().await,
            SessionCommand::Clear => self.clear().await,
            act @ (SessionCommand::Send { .. }
            | SessionCommand::Steer { .. }
            | SessionCommand::Type { .. }
            | SessionCommand::Queue(_)
            | SessionCommand::Stop
            | SessionCommand::Cut { .. }
            | SessionCommand::Retry
            | SessionCommand::Compact { .. }
            | SessionCommand::Answer { .. }
            | SessionCommand::Mode { .. }
            | SessionCommand::DropPlan
            | SessionCommand::Model { .. }
            | SessionCommand::StandIn { .. }
            | SessionCommand::Thinking(_)
            | SessionCommand::Switch { .. }
            | SessionCommand::UsePrompt { .. }
            | SessionCommand::Rename { .. }
            | SessionCommand::Retitle
            | SessionCommand::Read
            | SessionCommand::Cwd(_)
            | SessionCommand::KillJob { .. }
            | SessionCommand::Claim
            | SessionCommand::TakeOver
            | SessionCommand::Attach { .. }
            | SessionCommand::Detach { .. }
            | SessionCommand::Draft { .. }) => {
                self.act(act).await;
                // A turn takes them with its next request.
                if !self.machine.is_running() {
                    self.follow_mode().await;
                }
            }
        }
    }

    /// Does what changes the session, so that it may have to be ours for it.
    async fn act(&mut self, act: SessionCommand) {
        // Whoever takes the files or the messages away comes first.
        if self.idle_work.is_ending() && !matches!(act, SessionCommand::Stop | SessionCommand::Cut { .. }) {
            let text = "Ignored: the session is being deleted or cleared.";
            self.out.send(SessionEvent::Notice(Notice::new(Level::Warning, text)));
            return self.refuse(act, text).await;
        }
        if !self.was_shown(&act) {
            return self.refuse(act, "The request was not shown here as it is now.").await;
        }
        let Some(act) = self.act_without_lock(act).await else { return };
        if !self.own().await {
            let why = match self.files.ownership() {
                FilesState::Theirs(who) => format!("Read-only: {who} has this session open."),
                _ => "Can't read this session.".to_owned(),
            };
            return self.refuse(act, &why).await;
        }
        // What is written into a session that was taken over comes back, instead of going where nobody looks.
        if (act.said().is_some() || leads_to_a_request(&act)) && !self.is_still_ours().await {
            return self.refuse(act, "Another lisle took over this session.").await;
        }
        if !self.is_new_message(&act).await {
            return;
        }
        self.view.act();
        if act == SessionCommand::Retitle {
            return self.retitle().await;
        }
        let Some(act) = self.prepared(act).await else { return };
        self.act_as_writer(act).await;
    }

    /// Does what needs no right to write. Acts that need it come back.
    async fn act_without_lock(&mut self, act: SessionCommand) -> Option<SessionCommand> {
        match act {
            SessionCommand::Draft { text, attachments } => {
                if self.load(Show::Nothing).await {
                    let asker = self.out.asker().cloned();
                    self.save_draft(UserText::with(text, attachments), asker.as_ref()).await;
                }
            }
            SessionCommand::KillJob { job } => self.kill_job(&job).await,
            SessionCommand::Read => self.read_by_user().await,
            SessionCommand::TakeOver => self.take_from_holder().await,
            SessionCommand::Detach { path } => self.detach(path).await,
            SessionCommand::Claim => self.claim_for_client().await,
            act => return Some(act),
        }
        None
    }

    /// Looks up what the act names, and reads what it needs. `None` if it was done or refused.
    async fn prepared(&mut self, act: SessionCommand) -> Option<SessionCommand> {
        self.automatic();
        self.reach();
        if let SessionCommand::Model { connection: Some(name), .. } | SessionCommand::StandIn { connection: name, .. } =
            &act
            && !self.shared.setup.connections.can_answer(name)
        {
            self.not_there(name).await;
            return None;
        }
        let act = match act {
            SessionCommand::Attach { path } => {
                self.attach(path).await;
                return None;
            }
            SessionCommand::Cwd(written) => {
                let store = self.shared.setup.store.clone();
                match blocking(move || store.directory(&written)).await? {
                    Ok(path) => {
                        if let Some(why) = self.refusal_of(&path, true) {
                            self.out.send(SessionEvent::Notice(Notice::new(Level::Error, why)));
                            return None;
                        }
                        SessionCommand::Cwd(path)
                    }
                    Err(error) => {
                        self.out.send(SessionEvent::Notice(trouble(&error)));
                        return None;
                    }
                }
            }
            SessionCommand::UsePrompt { kind, name } => {
                self.use_prompt(kind, name).await;
                return None;
            }
            act => act,
        };
        if leads_to_a_request(&act) && !self.load_context().await {
            // Without its history the model would answer somebody else: what was sent waits.
            match act {
                SessionCommand::Send { text, attachments, piped } => {
                    self.input(Input::Enqueue(UserText { piped, ..UserText::with(text, attachments) })).await;
                }
                SessionCommand::Steer { text, attachments, piped } => {
                    self.input(Input::Enqueue(UserText { piped, ..UserText::with(text, attachments) })).await;
                }
                act => self.refuse(act, "Can't read the earlier messages.").await,
            }
            return None;
        }
        Some(act)
    }

    async fn act_as_writer(&mut self, act: SessionCommand) {
        let begins = matches!(act, SessionCommand::Send { .. });
        self.warn_of_unseen(&act).await;
        self.note_sent(&act);
        let choice = self.choice(&act);
        if !self.look_at_plan(&act).await {
            return self.refuse(act, "The plan changed since it was shown.").await;
        }
        let act = self.fitting(act);
        if leads_to_a_request(&act) {
            self.tell_unfit().await;
        }
        let models = matches!(act, SessionCommand::Model { .. } | SessionCommand::StandIn { .. });
        let directory = if let SessionCommand::Cwd(path) = &act { Some(path.clone()) } else { None };
        self.input(Input::Command(act)).await;
        if models {
            self.show_models().await;
        }
        // The same path once more is another choice: the folder there may be another one.
        if let Some(path) = directory.filter(|path| self.machine.meta().cwd == *path) {
            self.calls.folder().choose(&path);
        }
        if begins {
            self.name_at_start();
        }
        if let Some(choice) = choice {
            self.remember(choice).await;
        }
    }

    /// Nothing was done of it: what the user wrote in it goes back to them, and nobody waits for a file that does not come.
    async fn refuse(&mut self, act: SessionCommand, why: &str) {
        if let SessionCommand::Attach { path } = act {
            return self.out.send(SessionEvent::Attached { path, made: Err(why.to_owned()) });
        }
        if act.said().is_some() {
            self.out.send(SessionEvent::Refused { command: Box::new(act), why: why.to_owned() });
        }
    }

    /// Takes the session from whoever has it, where somebody has.
    async fn take_from_holder(&mut self) {
        self.files.look_again();
        if !self.load(Show::Nothing).await || !matches!(self.files.ownership(), FilesState::Theirs(_)) {
            return self.reopen(SHOWN).await;
        }
        if self.take_over().await {
            self.view.act();
            let text = "Session taken over";
            self.out.send(SessionEvent::Notice(Notice::new(Level::Info, text)));
        }
    }

    /// Makes us the writer. False when we are not; the user was told why.
    pub(super) async fn own(&mut self) -> bool {
        match self.hold().await {
            WriteClaim::Ours => true,
            WriteClaim::Theirs(who) => {
                let text = format!("Read-only: {who} has this session open.");
                let hint = "Close it there, take it over if it hangs, or start a new session.";
                let notice = Notice::new(Level::Warning, text).hint(hint);
                self.out.send(SessionEvent::Notice(notice));
                false
            }
            WriteClaim::Unread => false,
        }
    }

    async fn hold(&mut self) -> WriteClaim {
        match self.files.ownership() {
            FilesState::Ours(_) | FilesState::New { .. } => return WriteClaim::Ours,
            // What another program wrote since is shown first.
            FilesState::Seen | FilesState::Theirs(_) => self.files.look_again(),
            FilesState::Unloaded => {}
        }
        if !self.claim(Show::Changed).await {
            return WriteClaim::Unread;
        }
        match self.files.ownership() {
            FilesState::Theirs(who) => WriteClaim::Theirs(who.clone()),
            _ => WriteClaim::Ours,
        }
    }

    /// A client wants to be sure of the session before it sends something.
    async fn claim_for_client(&mut self) {
        let by = match self.hold().await {
            WriteClaim::Ours => {
                self.view.act();
                None
            }
            WriteClaim::Theirs(who) => Some(who),
            WriteClaim::Unread => return,
        };
        self.out.send(SessionEvent::Held { by });
    }

    pub(super) async fn save_draft(&mut self, draft: UserText, asker: Option<&Asker>) {
        let client = asker.map(|asker| asker.client().info().name.as_str());
        let draft = self.draft.set(client.unwrap_or_default(), draft);
        self.input(Input::Command(SessionCommand::draft(draft.text.clone()))).await;
        // A draft of a session that is nowhere would be found by nobody.
        if !(draft.text.is_empty() && draft.attachments.is_empty())
            && matches!(self.files.ownership(), FilesState::New { .. })
        {
            self.keep_meta(Safety::Written).await;
        }
        let saved = self.files.save_draft(draft).await;
        match saved {
            Some(Ok(())) => self.draft.saved(),
            Some(Err(error)) => tracing::warn!(%error, "the draft was not saved"),
            None => {}
        }
    }

    /// The time of a redelivery has come.
    pub(super) async fn redeliver(&mut self, at: At) {
        if self.machine.redelivery() == Some(at) && self.files.ours().is_some() && self.load_context().await {
            self.view.act();
            self.input(Input::Redeliver(at)).await;
        }
    }

    /// Changes properties. What goes wrong comes back as a sentence: one batch tells it once.
    pub(super) async fn change(&mut self, change: PropertyChange) -> Result<(), String> {
        if self.idle_work.is_releasing() {
            return Err("it is being deleted".to_owned());
        }
        if !matches!(self.files.ownership(), FilesState::Ours(_) | FilesState::New { .. }) {
            let at = now();
            return self.alter(move |meta| change.apply(meta, at)).await;
        }
        let labels = self.machine.meta().labels.clone();
        self.saving.take_refused();
        self.input(Input::Change(change)).await;
        if let Some(error @ StoreError::HeaderTooLong { .. }) = self.saving.take_refused() {
            // Back to what is on disk: else nothing of the header could be saved any more.
            self.machine.set_labels(labels);
            self.keep_meta(Safety::Synced).await;
            self.out.send(SessionEvent::Changed(Box::new(self.machine.meta().clone())));
            return Err(error.to_string());
        }
        Ok(())
    }

    /// Changes the header of a session that is only looked at, or was: nobody has to read all of it for that.
    async fn alter(&mut self, change: impl FnOnce(&mut SessionMeta) + Send + 'static) -> Result<(), String> {
        let (store, id) = (self.shared.setup.store.clone(), self.machine.meta().id.clone());
        match blocking(move || store.alter(&id, change)).await {
            Some(Ok(meta)) => {
                if matches!(self.files.ownership(), FilesState::Seen) {
                    let old = self.machine.meta();
                    let (activity, odd) = (old.activity.clone(), old.odd.clone());
                    let meta = SessionMeta { activity, odd, mode: meta.mode.stricter(old.mode), ..meta };
                    self.machine.set_meta(meta);
                    self.out.send(SessionEvent::Changed(Box::new(self.machine.meta().clone())));
                } else {
                    self.out.send(SessionEvent::Changed(Box::new(meta)));
                }
                Ok(())
            }
            Some(Err(StoreError::Held { holder, .. })) => Err(format!("{holder} has it open")),
            Some(Err(error)) => Err(error.to_string()),
            None => Err("internal error, see the log".to_owned()),
        }
    }

    /// The end of it was seen.
    async fn read_by_user(&mut self) {
        if matches!(self.files.ownership(), FilesState::Ours(_) | FilesState::New { .. }) {
            return self.input(Input::Command(SessionCommand::Read)).await;
        }
        if !self.load(Show::Nothing).await || !self.machine.meta().clone().mark_seen() {
            return;
        }
        let last = self.machine.last_row().cloned();
        let read = self.alter(|meta| {
            meta.mark_seen();
            meta.last_read = last;
        });
        // What somebody else has open is marked there, and a mark that could not be made is worth no word.
        if let Err(why) = read.await {
            tracing::info!(session = %self.machine.meta().id, "not marked as read: {why}");
        }
    }

    /// Lets the files go as soon as nothing runs.
    pub(super) async fn release(&mut self, running: Running, done: ReleaseAnswer) {
        let busy = match running {
            Running::Stays if !self.machine.is_quiet() => Some("a turn runs"),
            Running::Stays if self.jobs.any_running() => Some("a command runs in the background"),
            Running::Stays | Running::Stops => None,
        };
        if let Some(why) = busy {
            // Whoever asked may have ended meanwhile; so below.
            let _ = done.send(Err(why.to_owned()));
            return;
        }
        self.jobs.close();
        self.idle_work.release_to(done);
        if matches!(self.files.ownership(), FilesState::Ours(_) | FilesState::New { .. }) {
            self.input(Input::Command(SessionCommand::Stop)).await;
        }
    }

    /// Takes all messages out, once nothing runs.
    pub(super) async fn clear(&mut self) {
        if self.own().await {
            self.view.act();
            self.idle_work.clear();
            self.input(Input::Command(SessionCommand::Stop)).await;
        }
    }

    async fn clear_now(&mut self) {
        let Some(writer) = self.files.ours().cloned() else { return };
        if let Err(error) = writer.clear(now()).await {
            return self.out.send(SessionEvent::Notice(trouble(&error)));
        }
        // What is there now is read anew: the model knows nothing of what was said, nor of files that it read.
        let closed = self.files.close().await;
        self.told("close the session", closed);
        self.files.forget();
        self.unload();
        self.calls.forget_seen();
        self.reopen(SHOWN).await;
    }

    pub(super) async fn flush(&mut self) {
        let kept = self.files.flush().await;
        self.told("save what waits", kept);
    }

    /// Lets the files go when nothing needs them here: somebody waits for them, nobody looks, or nobody did anything but
    /// look. While something runs or is unsaved they are kept, and it is tried again after whatever happens next.
    pub(super) async fn let_go(&mut self) {
        if !self.machine.is_quiet() || self.jobs.hold_files(self.idle_work.is_releasing()) {
            return;
        }
        match self.idle_work.take_due() {
            Some(Due::Yield) => return self.release_now().await,
            Some(Due::Restore(all)) => return self.restore_now(all).await,
            Some(Due::Clear) => return self.clear_now().await,
            None => {}
        }
        match self.files.ownership() {
            FilesState::Ours(_) if !self.view.is_shown() && self.machine.requests().is_empty() => {}
            FilesState::Ours(_) if !self.view.has_acted() && self.machine.redelivery().is_none() => {
                let closed = self.files.rest().await;
                self.told("close the session", closed);
                self.forget_meta();
                // It is at rest from here on, and somebody else may write it.
                self.files.look_again();
                self.load(Show::Changed).await;
                return;
            }
            FilesState::Seen | FilesState::Theirs(_) if !self.view.is_shown() => {}
            _ => return,
        }
        let closed = self.files.close().await;
        let saved = closed.is_ok();
        self.told("close the session", closed);
        if saved {
            self.unload();
        }
    }

    async fn release_now(&mut self) {
        let new = matches!(self.files.ownership(), FilesState::New { .. });
        let closed = if new { Ok(()) } else { self.files.close().await };
        if closed.is_ok() && !new {
            self.unload();
        }
        for done in self.idle_work.take_releasing() {
            let worktree = self.machine.meta().worktree.clone();
            let released = if new { Released::Nowhere(worktree) } else { Released::OnDisk };
            let _ = done.send(closed.as_ref().map(|()| released).map_err(ToString::to_string));
        }
    }
}

/// The outcome of asking for the right to write a session.
enum WriteClaim {
    /// This engine has it.
    Ours,
    /// Another process has it; who, in words.
    Theirs(String),
    /// The session could not be read; the user was told why.
    Unread,
}

/// The model may be asked after this act, so it needs to know what was said. Reading all of a long session for the others
/// would hold up what the user waits for.
fn leads_to_a_request(act: &SessionCommand) -> bool {
    match act {
        SessionCommand::Send { .. }
        | SessionCommand::Steer { .. }
        | SessionCommand::Type { .. }
        | SessionCommand::Queue(_)
        | SessionCommand::Retry
        | SessionCommand::Compact { .. }
        | SessionCommand::StandIn { .. }
        | SessionCommand::Model { connection: Some(_), .. }
        | SessionCommand::Answer { .. } => true,
        SessionCommand::Stop
        | SessionCommand::Cut { .. }
        | SessionCommand::Mode { .. }
        | SessionCommand::DropPlan
        | SessionCommand::Model { .. }
        | SessionCommand::Thinking(_)
        | SessionCommand::Switch { .. }
        | SessionCommand::UsePrompt { .. }
        | SessionCommand::Rename { .. }
        | SessionCommand::Retitle
        | SessionCommand::Read
        | SessionCommand::Cwd(_)
        | SessionCommand::KillJob { .. }
        | SessionCommand::Claim
        | SessionCommand::TakeOver
        | SessionCommand::Attach { .. }
        | SessionCommand::Detach { .. }
        | SessionCommand::Draft { .. }
        // What shows something or takes messages away asks no model.
        | SessionCommand::Open { .. }
        | SessionCommand::OpenAt { .. }
        | SessionCommand::Resume { .. }
        | SessionCommand::Earlier { .. }
        | SessionCommand::Later { .. }
        | SessionCommand::Leave
        | SessionCommand::Context
        | SessionCommand::Rules
        | SessionCommand::Sources
        | SessionCommand::Extensions
        | SessionCommand::UseSource { .. }
        | SessionCommand::Forget { .. }
        | SessionCommand::Trust { .. }
        | SessionCommand::AskKey { .. }
        | SessionCommand::Enhance { .. }
        | SessionCommand::PlanUndo { .. }
        | SessionCommand::Undo { .. }
        | SessionCommand::FilesChanged
        | SessionCommand::Clear => false,
    }
}
