//! One session's task: feeds the machine, does its steps in order, and tells the clients.
//!
//! It decides nothing. A step that keeps something has been kept when the next step begins, which is how a message is on
//! disk before its request leaves and a call before its tool runs.
//!
//! Its data are groups with fields of their own, each in a leaf file: `attachments`, `background_jobs`, `calls`,
//! `parent_link`, `saving`, `side_requests`, `sources`, `view` and `when_quiet`. The other files do things with them: `acts`
//! what people do to the session, `attach` the files that they give along, `keep` reads and writes it, `beside` what goes on
//! beside its turns, `context` what the model is told, `reach` which connection answers, `keys` their keys, `windows` what
//! servers tell of their models, `jobs` what goes on in the background, `law` the files of rules, `plan` those of plans,
//! `face` what is shown, `follow` what others write, `steps` what the machine wants done.

mod acts;
mod attach;
mod attachments;
mod background_jobs;
mod beside;
mod calls;
mod context;
mod face;
mod follow;
mod following;
mod jobs;
mod keep;
mod keys;
mod law;
mod needs;
mod parent_link;
mod plan;
mod reach;
mod recovery;
mod saving;
mod side_requests;
mod sources;
mod steps;
mod unanswered;
mod undo;
mod view;
mod when_quiet;
mod windows;

use super::clock::now;
use super::files::{Files, Standing};
use super::machine::{Machine, MachineConfig, Own};
use super::mailbox::ToLane;
use super::outbox::Outbox;
use super::queue::Queue;
use super::shared::{Shared, loosest_in};
use super::step::Input;
use super::undo::Keeper;
use super::worktree;
use crate::domain::contract::Act;
use crate::domain::message::UserText;
use crate::domain::tool::ToolSpec;
use crate::domain::{Event, SessionId, SessionMeta};
use crate::tools::registry::Registry;
use attachments::Attachments;
use background_jobs::BackgroundJobs;
use calls::Calls;
use needs::needs_law;
use parent_link::ParentLink;
use saving::{Draft, Saving};
use side_requests::SideRequests;
use sources::Sources;
use std::sync::Arc;
use tokio::sync::mpsc;
use view::View;
use when_quiet::WhenQuiet;

/// One session's task.
pub(super) struct Lane {
    shared: Arc<Shared>,
    me: mpsc::Sender<ToLane>,
    machine: Machine,
    out: Outbox,
    files: Files,
    calls: Calls,
    /// Commands that go on in the background.
    jobs: BackgroundJobs,
    draft: Draft,
    saving: Saving,
    attachments: Attachments,
    view: View,
    when_quiet: WhenQuiet,
    parent: ParentLink,
    side: SideRequests,
    sources: Sources,
}

impl Lane {
    pub(super) fn new(
        shared: Arc<Shared>,
        session: SessionId,
        new: Option<SessionMeta>,
        me: mpsc::Sender<ToLane>,
    ) -> Self {
        let out = Outbox::new(shared.events.clone(), Some(session.clone()));
        let is_new = new.is_some();
        let settings = &shared.setup.settings;
        let meta = new.unwrap_or_else(|| SessionMeta::new(session, now(), settings.mode, settings.cwd.clone()));
        let machine = Machine::new(meta.clone(), Own::default(), Queue::default(), rules(&shared, &meta));
        let files = Files::new(shared.setup.store.clone(), meta.id, is_new, me.clone());
        let keeper = Keeper::new(settings.undo.clone(), settings.own_dirs.clone());
        let jobs = BackgroundJobs::new(&me);
        let mut lane = Self {
            shared,
            me,
            machine,
            out,
            files,
            calls: Calls::new(keeper),
            jobs,
            draft: Draft::default(),
            saving: Saving::default(),
            attachments: Attachments::default(),
            view: View::new(is_new),
            when_quiet: WhenQuiet::default(),
            parent: ParentLink::default(),
            side: SideRequests::default(),
            sources: Sources::new(is_new),
        };
        lane.automatic();
        lane.reach();
        lane
    }

    pub(super) async fn work(mut self, mut from: mpsc::Receiver<ToLane>) {
        loop {
            let next = match from.try_recv() {
                Ok(next) => Some(next),
                Err(_) => {
                    self.out.flush().await;
                    from.recv().await
                }
            };
            match next {
                Some(ToLane::Input(input)) => self.input(input).await,
                Some(ToLane::Act(act)) => self.act(act).await,
                Some(ToLane::Open { rows }) => self.open(rows).await,
                Some(ToLane::Earlier { cursor, rows }) => self.earlier(cursor, rows).await,
                Some(ToLane::OpenAt { at, rows }) => self.open_at(at, rows).await,
                Some(ToLane::Later { cursor, rows }) => self.later(cursor, rows).await,
                Some(ToLane::Leave) => self.view.leave(),
                Some(ToLane::Change { change, done }) => {
                    let changed = self.change(change).await;
                    // Whoever asked may have ended meanwhile.
                    let _ = done.send(changed);
                }
                Some(ToLane::Yield { running, done }) => self.give_up(running, done).await,
                Some(ToLane::Clear) => self.clear().await,
                Some(ToLane::Stop) => self.input(Input::Act(Act::Stop)).await,
                Some(ToLane::Reload { rows }) => self.reopen(rows).await,
                Some(ToLane::Flush { done }) => {
                    self.flush().await;
                    let _ = done.send(());
                }
                Some(ToLane::Undo(ask)) => self.undo(ask).await,
                Some(ToLane::Tell(event)) => {
                    let models = matches!(event, Event::Models { .. });
                    self.out.send(event).await;
                    if models {
                        self.show_models().await;
                    }
                }
                Some(ToLane::Attached { path, made }) => self.attached(path, made).await,
                Some(ToLane::Rules) => self.show_rules().await,
                Some(ToLane::Context) => self.show_context().await,
                Some(ToLane::Forget(rule, scope)) => self.forget_rule(rule, scope).await,
                Some(ToLane::Trust(request)) => self.trust_shown(*request).await,
                Some(ToLane::Law) => self.refresh_law().await,
                Some(ToLane::Reach) => self.reach_again().await,
                Some(ToLane::AskKey(connection)) => self.ask_for_key(connection).await,
                Some(ToLane::Raised(raised)) => self.raised(*raised).await,
                Some(ToLane::Grown) => self.grown().await,
                Some(ToLane::Ceiling(mode)) => self.input(Input::Ceiling(Some(mode))).await,
                Some(ToLane::Deliver(text)) => self.deliver(text).await,
                Some(ToLane::Titled { title, was, wanted }) => self.titled(title, was, wanted).await,
                Some(ToLane::Enhance { number, draft }) => self.enhance(number, draft).await,
                Some(ToLane::Apart(used, cost)) => self.input(Input::Apart(used, cost)).await,
                Some(ToLane::MayReach { number, call, facts, done }) => {
                    self.calls.wait_to_reach(number, done);
                    self.input(Input::MayReach(number, call, facts)).await;
                }
                Some(ToLane::Jobs) => self.jobs_changed().await,
                Some(ToLane::Redeliver(at)) => self.redeliver(at).await,
                Some(ToLane::LockTouched) => {
                    self.is_still_ours().await;
                }
                Some(ToLane::Health(health)) => self.health(health).await,
                Some(ToLane::Elsewhere(elsewhere)) => self.elsewhere(elsewhere).await,
                Some(ToLane::Merged(merged)) => self.merged(merged.map(|merged| *merged)).await,
                Some(ToLane::Followed(number, followed)) => self.followed(number, followed).await,
                Some(ToLane::Shutdown) | None => break,
            }
            self.let_go().await;
        }
        self.end(from).await;
    }

    /// Stops, waits for the processes, and closes the files.
    async fn end(mut self, mut from: mpsc::Receiver<ToLane>) {
        self.calls.keeper().end_all();
        self.input(Input::Shutdown).await;
        self.end_jobs().await;
        while !self.machine.is_quiet() {
            match from.recv().await {
                Some(what) => self.at_the_end(what).await,
                None => break,
            }
        }
        self.await_title(&mut from).await;
        if matches!(self.files.standing(), Standing::New { .. })
            && let Some(made) = &self.machine.meta().worktree
            && let Err(error) =
                worktree::remove(&self.shared.setup.settings.runner, made, worktree::Loss::Refused).await
        {
            // A session that was never written leaves nothing behind, unless somebody worked there.
            tracing::warn!(%error, "the worktree {} stays", made.path.display());
        }
        let draft = self.draft.unsaved();
        if let Some(unsaved) = self.files.end(self.machine.meta(), draft).await {
            self.out.send(Event::Unsaved(Box::new(unsaved))).await;
        }
        self.out.flush().await;
    }

    /// Handles a command that still counts when nothing new begins.
    async fn at_the_end(&mut self, what: ToLane) {
        match what {
            ToLane::Input(input) => self.input(input).await,
            ToLane::Act(Act::Draft { text, attachments }) => {
                self.save_draft(UserText::with(text, attachments)).await;
            }
            ToLane::Apart(used, cost) => self.input(Input::Apart(used, cost)).await,
            ToLane::Titled { title, was, wanted } => self.titled(title, was, wanted).await,
            _ => {}
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
        if needs_law(&input) {
            self.refresh_law().await;
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

fn rules(shared: &Shared, meta: &SessionMeta) -> MachineConfig {
    let setup = &shared.setup;
    MachineConfig {
        tools: offers(&setup.tools),
        requests_per_turn: setup.settings.requests_per_turn,
        policy: setup.settings.policy,
        headless: setup.settings.headless,
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

/// The tools on offer, each with whether it only reads.
fn offers(tools: &Registry) -> Vec<(ToolSpec, bool)> {
    let reads_only = |name: &str| tools.find(name).is_ok_and(|tool| tool.reads_only());
    tools.specs().into_iter().map(|spec| (spec.clone(), reads_only(&spec.name))).collect()
}
