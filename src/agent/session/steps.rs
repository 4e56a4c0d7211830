//! The steps of the machine, done in order: writes, events, requests, calls.

use super::super::clock::now;
use super::super::mailbox::Report;
use super::super::run_tasks::CallContext;
use super::super::tool_host::{Decided, ToolHost};
use super::super::undo::UndoTarget;
use super::SessionActor;
use super::no_connection::{no_connection, unmapped, wanted_after};
use crate::agent::machine_io::{Input, RunNo, Safety, Step};
use crate::domain::CallId;
use crate::domain::message::Message;
use crate::domain::permission::{Mode, Sandbox, SandboxState};
use crate::domain::session::Activity;
use crate::domain::tool::CallFacts;
use crate::protocol::SessionEvent;
use crate::provider::{ProposedCall, ProviderError};
use crate::store::Durability;
use crate::tools::CallPlace;
use std::sync::Arc;
use std::time::Duration;

pub(super) fn durability(safety: Safety) -> Durability {
    match safety {
        Safety::Written => Durability::Written,
        Safety::Synced => Durability::Synced,
    }
}

impl SessionActor {
    pub(super) async fn perform(&mut self, step: Step) {
        match step {
            // What was not kept is not acted upon.
            Step::Ask(..) | Step::Summarise(..) | Step::Inspect(..) | Step::Run(..) if self.saving.is_taken_over() => {}
            Step::Append(rows, safety) => self.keep(rows, safety).await,
            Step::KeepLive(row, safety) => self.keep_live(row, safety).await,
            Step::AppendText(id, add) => {
                if let Some(writer) = self.files.ours() {
                    writer.grow(id, add);
                }
            }
            Step::DropLive(id) => {
                if let Some(writer) = self.files.ours() {
                    let kept = writer.drop_live(id).await;
                    self.told("forget a running row", kept);
                }
            }
            Step::KeepQueue(items) => {
                if let Some(writer) = self.writer().await {
                    let kept = writer.queue(items).await;
                    self.saving.note(&kept);
                    self.told("keep the queue", kept);
                }
            }
            Step::KeepMeta(safety) => self.keep_chosen(safety).await,
            Step::KeepPlan(path, text) => self.keep_plan(path, text).await,
            Step::Turn(on) => {
                if let Some(writer) = self.writer().await {
                    let kept = writer.turn(on).await;
                    self.told("keep that a turn runs", kept);
                }
            }
            Step::Emit(SessionEvent::Accepted { id, queued }) => self.accepted(id, queued).await,
            Step::Emit(event) => self.emit(event).await,
            Step::Ask(run, request) => self.ask(run, *request).await,
            Step::Summarise(run, asked) => self.sum(run, *asked),
            Step::Inspect(run, call) => {
                let tool = self.sources.used().tools().find(&call.name);
                let site = self.site(None);
                self.calls.tasks().inspect(run, call, tool, site);
            }
            Step::Run(run, call, facts, sandbox) => self.run(run, call, *facts, sandbox),
            Step::Reached(number, answer) => self.calls.reached(number, answer),
            Step::Cancel(run) => self.cancel(run),
            Step::RetryIn(run, ms) => self.report_in(ms, Report::Input(Input::RetryNow(run))),
            Step::KeepRules(scope, rules) => self.keep_rules(scope, rules).await,
            Step::Trust(request) => self.trust(*request).await,
            Step::UseSources => self.use_sources_now().await,
            Step::KeepLongText(path, text) => self.keep_whole(path, text).await,
            Step::StandIn(named, answers) => self.stand_in_everywhere(named, answers),
            Step::StoreKey(connection, key) => self.store_key(connection, key),
            Step::RedeliverAt(at) => self.report_in(at.since(now()), Report::Redeliver(at)),
        }
    }

    async fn keep_live(&mut self, row: Message, safety: Safety) {
        if let Some(writer) = self.writer().await {
            let kept = writer.live(row, durability(safety)).await;
            self.told("keep a running row", kept);
        }
    }

    /// Sends an event to the clients, and to whoever here goes by it.
    async fn emit(&mut self, mut event: SessionEvent) {
        if let SessionEvent::Changed(meta) = &mut event {
            meta.next_cost = self.shared.next_cost(meta);
        }
        if let SessionEvent::Changed(meta) = &event
            && self.files.ours().is_some()
        {
            self.shared.sessions.set_meta((**meta).clone());
        }
        if let SessionEvent::Settled { by, .. } = &mut event {
            *by = self.out.answered_by();
        }
        self.parent.hear(&event);
        self.side.hear(&event);
        self.out.send(event);
    }

    fn run(&mut self, run: RunNo, call: ProposedCall, facts: CallFacts, sandbox: Sandbox) {
        let mode = self.machine.decided_in(&call.id).unwrap_or(Mode::Explore);
        let mut site = self.site(Some((Decided { run, mode }, &call.id)));
        site.place.allow(&self.machine.extras(mode, &facts));
        if let Ok(tool) = self.sources.used().tools().find(&call.name) {
            self.calls.tasks().run(run, call, tool, (facts, sandbox), site);
        }
    }

    fn cancel(&mut self, run: RunNo) {
        // Before the calls hear of it: the sessions that they wait for end for the same reason.
        if let Some(by) = self.machine.last_cut() {
            self.shared.families.cut(&self.machine.meta().id, by);
        }
        self.calls.tasks().cancel(run, self.mailbox.clone());
    }

    /// Reports after a delay in milliseconds.
    fn report_in(&self, ms: u64, report: Report) {
        let mailbox = self.mailbox.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            // A session that ended waits for nothing.
            let _ = mailbox.report(report).await;
        });
    }

    /// Looks at the working directory while the model answers, so that the first command does not wait for that.
    fn look_ahead(&self) {
        if self.shared.setup.settings.sandbox != SandboxState::Nothing {
            let cwd = self.machine.meta().cwd.clone();
            // Nobody waits for it.
            drop(tokio::task::spawn_blocking(move || crate::sandbox::places::prepare(&cwd)));
        }
    }

    pub(super) async fn ask(&mut self, run: RunNo, mut request: crate::provider::ModelRequest) {
        self.calls.tasks().forget_before(run);
        if let Some(error) = self.refused_folder() {
            return self.fail_soon(run, error);
        }
        self.look_ahead();
        self.follow_mode().await;
        if self.sources.used_mut().take_renews()
            && let Some(renewed) = self.machine.renewed_request(now(), run)
        {
            request = renewed;
        }
        if self.wait_for_sources(run, &request) {
            return;
        }
        let connections = &self.shared.setup.connections;
        let name = self.machine.meta().asked().cloned();
        let info = name.as_ref().and_then(|name| connections.info(name));
        let provider = name.as_ref().and_then(|name| connections.provider(name));
        match (info, provider) {
            (Some(info), Some(provider)) if info.missing.is_none() => {
                if request.model.is_empty() {
                    request.model.clone_from(&info.default_model);
                }
                if let Some(model) = self.machine.wanted_model().and_then(|wanted| info.known_model(wanted)) {
                    request.model = model;
                }
                let turn = match self.machine.meta().activity {
                    Activity::Running(since) => Some(since),
                    _ => None,
                };
                let recorder = self.shared.recorder(self.machine.meta(), turn);
                let (connections, name) = (connections.clone(), info.name);
                let wanted = move |error: &ProviderError| wanted_after(&connections, &name, error);
                let dir = self.shared.setup.store.session_dir(&self.machine.meta().id);
                let shelf = self.attachments.shelf(&dir);
                let provider = (provider, self.machine.meta().switches.long_cache);
                self.calls.tasks().ask(run, provider, request, (shelf, self.mailbox.clone()), (wanted, recorder));
            }
            (Some(info), _) => {
                let why = info.missing.unwrap_or_else(|| "not supported by this version".to_owned());
                let error = no_connection(&format!("Can't use connection {}: {why}.", info.name));
                self.fail_for_a_key(run, &info.name, error);
            }
            (None, _) => match name {
                Some(name) => {
                    self.fail_for_a_key(run, &name, no_connection(&unmapped(&name, &self.machine.meta().id)));
                }
                None => {
                    let text = "No connection configured. Choose one with /connection.";
                    self.fail_soon(run, no_connection(text));
                }
            },
        }
    }

    /// Reports a failure after the steps at hand were done.
    pub(super) fn fail_soon(&self, run: RunNo, error: ProviderError) {
        let mailbox = self.mailbox.clone();
        tokio::spawn(async move {
            let _ = mailbox.report(Report::Input(Input::Failed(run, error))).await;
        });
    }

    /// Store for undo of this turn's changes.
    fn kept_for_undo(&self, call: Option<&CallId>) -> UndoTarget {
        self.parent.undo().unwrap_or_else(|| UndoTarget {
            recorder: self.calls.recorder().clone(),
            checkpoints: self.shared.setup.store.checkpoints(&self.machine.meta().id),
            turn: self.turn_message(),
            row: call.and_then(|call| self.machine.row_of(call)),
        })
    }

    pub(super) fn engine(&self, call: Option<&CallId>) -> ToolHost {
        let undo = self.kept_for_undo(call);
        ToolHost::of(&self.shared, self.machine.meta(), self.mailbox.clone(), undo, self.machine.company())
    }

    pub(super) fn site(&self, decided: Option<(Decided, &CallId)>) -> CallContext {
        let settings = &self.shared.setup.settings;
        let call = decided.map(|(_, call)| call);
        let engine = self.engine(call);
        CallContext {
            place: CallPlace {
                cwd: self.machine.meta().cwd.clone(),
                folder: Some(self.calls.folder().at(&self.machine.meta().cwd)),
                session_dir: self.shared.setup.store.session_dir(&self.machine.meta().id),
                own_dirs: settings.own_dirs.clone(),
                runner: settings.runner.clone(),
                allowances: self.calls.allowances(&settings.allowances),
                known: self.calls.known_hosts(&self.machine.meta().cwd, &settings.allowances, &settings.inbox.data),
                window: self.machine.meta().usage.context_window.unwrap_or(200_000),
            },
            seen: self.calls.seen(),
            jobs: self.jobs.shared(),
            mailbox: self.mailbox.clone(),
            host: Arc::new(match decided {
                Some((decided, _)) => engine.decided(decided),
                None => engine,
            }),
            undo: self.kept_for_undo(call),
        }
    }
}
