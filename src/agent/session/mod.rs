//! Actor of one session: feeds the machine, does its steps in order, and tells the clients.
//!
//! It decides nothing. A step that keeps something has been handed to the disk when the next step begins: a message before its
//! request leaves, a call before its tool runs. What a disk refuses is kept in memory, tried again, and clients are told.
//!
//! Its data are groups with fields of their own, each in a leaf file: `attachments`, `background_jobs`, `calls`,
//! `follower_task`, `idle_work`, `parent_link`, `saving`, `side_requests`, `sources` with `used_sources`, and `view`. The other files do things with
//! them: `clients` whose command it is, `commands` what people do to the session, `attach` the files that they give along, `loading` reads it
//! and takes its lock, `saving` is what waits for the disk, `recovery` what a death left, `undo` what is taken back, `side_tasks` what
//! goes on beside its turns, `context` what the model is told, `connection` which connection answers, `keys` their keys,
//! `windows` what servers tell of their models, `jobs` what goes on in the background, `permission_rules` the files of rules,
//! `plan` those of plans, `pages` what is shown, `follow` what others write, `steps` what the machine wants done.

mod attach;
mod attachments;
mod background_jobs;
mod calls;
mod chosen_folder;
mod clients;
mod commands;
mod connection;
mod context;
mod folder;
mod follow;
mod follower_task;
mod idle_work;
mod input_needs;
mod jobs;
mod keys;
mod loading;
mod no_connection;
mod pages;
mod parent_link;
mod permission_rules;
mod plan;
mod recovery;
mod saving;
mod side_requests;
mod side_tasks;
mod sources;
mod steps;
mod undo;
pub(in crate::agent) mod used_extensions;
mod used_sources;
mod view;
mod windows;

use super::clock::now;
use super::event_outbox::SessionOutbox;
use super::machine::{HeaderExtension, Machine, MachineConfig, MachineExtensions};
use super::machine_io::Input;
use super::mailbox::{Control, Mail, MailReader, Mailbox, Report};
use super::message_queue::Queue;
use super::session_files::{FilesState, SessionFiles};
use super::shared_state::{Shared, loosest_in};
use super::undo::UndoRecorder;
use super::worktree;
use crate::domain::message::UserText;
use crate::domain::{SessionId, SessionMeta};
use crate::protocol::{EngineEvent, SessionCommand, SessionEvent};
use attachments::Attachments;
use background_jobs::BackgroundJobs;
use calls::Calls;
use idle_work::IdleWork;
use input_needs::needs_rules;
use parent_link::ParentLink;
use saving::{Draft, Saving};
use side_requests::SideRequests;
use sources::Sources;
use std::sync::Arc;
use used_sources::UsedSources;
use view::ClientView;

/// Actor of one session.
pub(super) struct SessionActor {
    shared: Arc<Shared>,
    mailbox: Mailbox,
    machine: Machine,
    out: SessionOutbox,
    files: SessionFiles,
    calls: Calls,
    /// Commands that go on in the background.
    jobs: BackgroundJobs,
    draft: Draft,
    saving: Saving,
    attachments: Attachments,
    view: ClientView,
    idle_work: IdleWork,
    parent: ParentLink,
    side: SideRequests,
    sources: Sources,
}

impl SessionActor {
    pub(super) fn new(shared: Arc<Shared>, session: SessionId, new: Option<SessionMeta>, mailbox: Mailbox) -> Self {
        let out = SessionOutbox::new(shared.hub.clone(), session.clone());
        let is_new = new.is_some();
        let settings = &shared.setup.settings;
        let meta = new.unwrap_or_else(|| SessionMeta::new(session, now(), settings.mode, settings.cwd.clone()));
        let machine =
            Machine::new(meta.clone(), HeaderExtension::default(), Queue::default(), machine_config(&shared, &meta));
        let session_dir = shared.setup.store.session_dir(&meta.id);
        let files = SessionFiles::new(shared.setup.store.clone(), meta.id, is_new, mailbox.clone());
        let recorder = UndoRecorder::new(settings.undo.clone(), settings.own_dirs.clone(), session_dir);
        let jobs = BackgroundJobs::new(&mailbox, shared.running_jobs.clone());
        let tools = shared.setup.tools.clone();
        let mut actor = Self {
            shared,
            mailbox,
            machine,
            out,
            files,
            calls: Calls::new(recorder),
            jobs,
            draft: Draft::default(),
            saving: Saving::default(),
            attachments: Attachments::default(),
            view: ClientView::new(is_new),
            idle_work: IdleWork::default(),
            parent: ParentLink::default(),
            side: SideRequests::default(),
            sources: Sources::new(is_new, UsedSources::new(tools)),
        };
        if is_new {
            actor.calls.folder().choose(&actor.machine.meta().cwd);
        }
        actor.automatic();
        actor.reach();
        actor
    }

    pub(super) async fn work(mut self, mut from: MailReader) {
        loop {
            let next = match from.try_next() {
                Some(next) => Some(next),
                None => {
                    self.out.flush();
                    from.next().await
                }
            };
            match next {
                Some(Mail::Control(Control::Shutdown)) | None => break,
                Some(Mail::Control(command)) => self.control(command).await,
                Some(Mail::Report(report)) => self.report(report).await,
            }
            self.let_go().await;
        }
        self.end(from).await;
    }

    async fn control(&mut self, control: Control) {
        match control {
            Control::Command(command, asker) => self.command(command, asker).await,
            Control::Gone(client) => self.left_by(client),
            Control::Change { change, done } => {
                let changed = self.change(change).await;
                // Whoever asked may have ended meanwhile.
                let _ = done.send(changed);
            }
            Control::Release { running, done } => self.release(running, done).await,
            Control::Stop => self.input(Input::Command(SessionCommand::Stop)).await,
            Control::Restore(restore) => self.idle_work.restore(restore),
            Control::Reload { rows } => self.reopen(rows).await,
            Control::Flush { done } => {
                self.flush().await;
                let _ = done.send(());
            }
            Control::Reach => self.reach_again().await,
            Control::Keyed(connection) => self.input(Input::Keyed(connection, Ok(()))).await,
            Control::Spawned(link) => self.spawned(*link).await,
            Control::Detached => self.detached().await,
            Control::Ceiling(mode) => self.input(Input::Ceiling(Some(mode))).await,
            // The loop ends with it.
            Control::Shutdown => {}
        }
    }

    async fn report(&mut self, report: Report) {
        match report {
            Report::Input(input) => self.input(input).await,
            Report::Tell(event) => self.out.send(event),
            Report::Answer(event, asker) => self.answer(event, asker.as_ref()),
            Report::ModelsListed { connection, models } => {
                self.shared.out.send(EngineEvent::Models { connection, models });
                self.show_models().await;
            }
            Report::Attached { path, made, asker } => self.attached(path, made, asker.as_ref()).await,
            Report::RulesChanged => {
                self.refresh_rules().await;
                self.refresh_sources().await;
            }
            Report::SourcesChanged => self.take_tools(),
            Report::SourcesReady(run, request) => self.sources_ready(run, *request).await,
            Report::Deliver(text) => self.deliver(text).await,
            Report::Titled { title, was, wanted } => self.titled(title, was, wanted).await,
            Report::SideUsage(used, cost) => self.input(Input::SideUsage(used, cost)).await,
            Report::MayReach { number, call, facts, done } => {
                self.calls.wait_to_reach(number, done);
                self.input(Input::MayReach(number, call, facts)).await;
            }
            Report::Jobs => self.jobs_changed().await,
            Report::Redeliver(at) => self.redeliver(at).await,
            Report::LockTouched => {
                self.is_still_ours().await;
            }
            Report::Health(health) => self.health(health).await,
            Report::Elsewhere(elsewhere) => self.elsewhere(elsewhere).await,
            Report::Merged(merged) => self.merged(merged.map(|merged| *merged)).await,
            Report::Followed(number, followed) => self.followed(number, followed).await,
        }
    }

    /// Stops, waits for the processes, and closes the files.
    async fn end(mut self, mut from: MailReader) {
        self.calls.recorder().end_all();
        self.input(Input::Shutdown).await;
        self.end_jobs().await;
        while !self.machine.is_quiet() {
            match from.next().await {
                Some(what) => self.at_the_end(what).await,
                None => break,
            }
        }
        self.await_title(&mut from).await;
        if matches!(self.files.ownership(), FilesState::New { .. })
            && let Some(made) = &self.machine.meta().worktree
            && let Err(error) =
                worktree::remove(&self.shared.setup.settings.runner, made, worktree::Loss::Refused).await
        {
            // A session that was never written leaves nothing behind, unless somebody worked there.
            tracing::warn!(%error, "kept worktree {}", made.path.display());
        }
        let draft = self.draft.unsaved();
        if let Some(unsaved) = self.files.end(self.machine.meta(), draft).await {
            self.out.send(SessionEvent::Unsaved(Box::new(unsaved)));
        }
        self.out.flush();
    }

    /// Handles a command that still counts when nothing new begins.
    async fn at_the_end(&mut self, what: Mail) {
        match what {
            Mail::Report(Report::Input(input)) => self.input(input).await,
            Mail::Report(Report::SideUsage(used, cost)) => self.input(Input::SideUsage(used, cost)).await,
            Mail::Report(Report::Titled { title, was, wanted }) => self.titled(title, was, wanted).await,
            Mail::Control(Control::Command(SessionCommand::Draft { text, attachments }, asker)) => {
                self.save_draft(UserText::with(text, attachments), asker.as_ref()).await;
            }
            Mail::Control(_) | Mail::Report(_) => {}
        }
    }

    // ---- the machine ----

    /// Applies the workspace's definitions to automatic changes.
    fn automatic(&mut self) {
        self.machine.set_automatic(self.shared.automatic());
    }

    async fn input(&mut self, input: Input) {
        if matches!(input, Input::Keyed(..)) {
            self.reach();
        }
        if let Input::NoLongerReaches(number) = &input {
            self.calls.no_longer_reaches(*number);
        }
        if needs_rules(&input) {
            self.refresh_rules().await;
        }
        if matches!(input, Input::Used(..)) {
            self.learn_model().await;
        }
        if matches!(input, Input::Used(_, _, None, _)) {
            self.ask_for_windows();
        }
        self.refresh_context(&input).await;
        self.feed(input).await;
    }

    async fn feed(&mut self, input: Input) {
        let steps = self.machine.step(now(), input);
        for step in steps {
            self.perform(step).await;
        }
        while self.machine.has_due() {
            for step in self.machine.step(now(), Input::CarryOut) {
                self.perform(step).await;
            }
        }
        self.tell_family().await;
    }
}

fn machine_config(shared: &Shared, meta: &SessionMeta) -> MachineConfig {
    let setup = &shared.setup;
    MachineConfig {
        tools: setup.tools.offers(),
        extensions: MachineExtensions::default(),
        requests_per_turn: setup.settings.requests_per_turn,
        policy: setup.settings.policy,
        client: None,
        headless: setup.settings.headless,
        stranger: false,
        steer_by_default: setup.settings.steer_by_default,
        loosest: shared.loosest().stricter(loosest_in(&meta.cwd)),
        compact_at: setup.settings.compact_at,
        ceiling: None,
        session_dir: setup.store.session_dir(&meta.id),
        long_cache: setup.settings.long_cache,
        full_tools: setup.settings.full_tools,
        seed: fastrand::u64(..),
    }
}
