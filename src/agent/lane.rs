//! One session's task: feeds the machine, does its steps in order, and tells the clients.
//!
//! It decides nothing. A step that keeps something has been kept when the next step begins, which is how a message is on
//! disk before its request leaves and a call before its tool runs. `acts` is what people do to the session, `attach` the
//! files that they give along, `keep` its machine and its files, `beside` what goes on beside its turns, `context` what the
//! model is told, `reach` which connection answers, `keys` their keys, `windows` what servers tell of their models, `jobs` what goes on in the
//! background, `law` the files of rules, `plan` those of plans, `face` what is shown, `follow` what others write.

mod acts;
mod attach;
mod beside;
mod context;
mod face;
mod follow;
mod jobs;
mod keep;
mod keys;
mod law;
mod plan;
mod reach;
mod undo;
mod windows;

use super::clock::now;
use super::engine::{Decided, Engine};
use super::files::{Files, Standing};
use super::machine::{Machine, MachineConfig, Own};
use super::mailbox::{ToLane, Yielding};
use super::media::Shelf;
use super::memory::Memories;
use super::outbox::Outbox;
use super::queue::Queue;
use super::rules::Book;
use super::shared::{Shared, loosest_in};
use super::step::{Input, RunNo, Safety, Step};
use super::undo::{Keeper, Keeping};
use super::work::{Site, Works};
use super::worktree;
use crate::domain::contract::Act;
use crate::domain::message::UserText;
use crate::domain::permission::{Holding, Mode};
use crate::domain::problem::Problem;
use crate::domain::session::Activity;
use crate::domain::tool::ToolSpec;
use crate::domain::{CallId, ConnectionName, Event, SessionId, SessionMeta};
use crate::provider::ProviderError;
use crate::sandbox::Network;
use crate::sandbox::proxy::KnownHosts;
use crate::store::{Durability, StoreError};
use crate::tools::CallPlace;
use crate::tools::jobs::Jobs;
use crate::tools::registry::Registry;
use crate::tools::seen::Seen;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// One session's task.
pub(super) struct Lane {
    shared: Arc<Shared>,
    me: mpsc::Sender<ToLane>,
    machine: Machine,
    out: Outbox,
    works: Works,
    seen: Arc<Seen>,
    /// Commands that go on in the background.
    jobs: Arc<Jobs>,
    /// The jobs whose end was told.
    told_jobs: HashSet<String>,
    files: Files,
    /// The machine has the rows that the model gets.
    has_context: bool,
    draft: UserText,
    /// It could not be saved.
    draft_unsaved: bool,
    /// Copies of files that no message has yet.
    loose: attach::Loose,
    /// Files that go along, as they are sent.
    shelf: Arc<Shelf>,
    /// No client shows the session.
    left: bool,
    /// The user knows that another program has the session open as well.
    told_also: bool,
    /// Somebody did something in it. A session that is only shown releases its lock, so that others can have it.
    acted: bool,
    /// Content shown last.
    mark: Option<keep::Mark>,
    /// Error of the last attempt to save the properties.
    refused: Option<StoreError>,
    /// Another process took the session over, which a write found out: nothing new begins here.
    over: bool,
    /// Waiting for the files to be released.
    yielding: Vec<Yielding>,
    /// All messages go out as soon as the turn is over.
    clearing: bool,
    following: Option<follow::Following>,
    /// Keeps what calls change.
    keeper: Arc<Keeper>,
    /// Restorations to run as soon as nothing else does.
    restoring: Vec<undo::Restore>,
    /// The number of the last task that followed the files.
    looks: u64,
    /// Rule files, as read last.
    book: Option<Arc<Book>>,
    /// Project memory as it was read last.
    memories: Arc<Memories>,
    /// Problems reported about it.
    told_memory: Vec<Problem>,
    /// Side requests.
    beside: beside::Beside,
    /// The server was asked how much its models can hold.
    windows_asked: bool,
    /// A model that did not travel to the connection that answers, until that was said.
    unfit: Option<(String, ConnectionName)>,
    /// Last notice about files that the model cannot see.
    told_unseen: Option<String>,
    /// Calls that wait for permission to connect.
    reaching: HashMap<u64, oneshot::Sender<Result<(), String>>>,
    /// Hosts that commands reach without a question, by directory, as before the first command.
    known_hosts: Mutex<HashMap<PathBuf, Arc<KnownHosts>>>,
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
        let jobs = jobs::begin(&me);
        let mut lane = Self {
            shared,
            me,
            machine,
            out,
            works: Works::default(),
            seen: Arc::default(),
            jobs,
            told_jobs: HashSet::new(),
            files,
            has_context: is_new,
            draft: UserText::default(),
            draft_unsaved: false,
            loose: attach::Loose::default(),
            shelf: Arc::default(),
            left: false,
            told_also: false,
            acted: is_new,
            mark: None,
            refused: None,
            over: false,
            yielding: Vec::new(),
            clearing: false,
            following: None,
            keeper: Arc::new(keeper),
            restoring: Vec::new(),
            looks: 0,
            book: None,
            memories: Arc::default(),
            told_memory: Vec::new(),
            beside: beside::Beside::default(),
            windows_asked: false,
            unfit: None,
            told_unseen: None,
            reaching: HashMap::new(),
            known_hosts: Mutex::default(),
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
                Some(ToLane::Leave) => {
                    self.left = true;
                    self.following = None;
                }
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
                    self.reaching.insert(number, done);
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
        self.keeper.end_all();
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
        let draft = if self.draft_unsaved { self.draft.clone() } else { UserText::default() };
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
            self.reaching.remove(number);
        }
        if law::needs_law(&input) {
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

    async fn perform(&mut self, step: Step) {
        match step {
            // What was not kept is not acted upon.
            Step::Ask(..) | Step::Sum(..) | Step::Inspect(..) | Step::Run(..) if self.over => {}
            Step::Emit(Event::Accepted { id, queued }) => self.accepted(id, queued).await,
            Step::Keep(rows, safety) => self.keep(rows, safety).await,
            Step::Live(row, safety) => {
                if let Some(writer) = self.writer().await {
                    let kept = writer.live(row, durability(safety)).await;
                    self.told("keep a running row", kept);
                }
            }
            Step::Grow(id, add) => {
                if let Some(writer) = self.files.ours() {
                    writer.grow(id, add);
                }
            }
            Step::Drop(id) => {
                if let Some(writer) = self.files.ours() {
                    let kept = writer.drop_live(id).await;
                    self.told("forget a running row", kept);
                }
            }
            Step::KeepQueue(items) => {
                if let Some(writer) = self.writer().await {
                    let kept = writer.queue(items).await;
                    self.over |= matches!(kept, Err(StoreError::TakenOver { .. }));
                    self.told("keep the queue", kept);
                }
            }
            Step::KeepMeta(safety) => self.keep_meta(safety).await,
            Step::KeepPlan(path, text) => self.keep_plan(path, text).await,
            Step::Turn(on) => {
                if let Some(writer) = self.writer().await {
                    let kept = writer.turn(on).await;
                    self.told("keep that a turn runs", kept);
                }
            }
            Step::Emit(mut event) => {
                if let Event::Changed(meta) = &mut event {
                    meta.next_cost = self.shared.next_cost(meta);
                }
                if let Event::Changed(meta) = &event
                    && self.files.ours().is_some()
                {
                    let mut metas = self.shared.metas.lock().unwrap_or_else(PoisonError::into_inner);
                    metas.insert(meta.id.clone(), (**meta).clone());
                }
                self.beside.hear(&event);
                self.out.send(event).await;
            }
            Step::Ask(run, request) => self.ask(run, *request).await,
            Step::Sum(run, asked) => self.sum(run, *asked),
            Step::Inspect(run, call) => {
                let tool = self.shared.setup.tools.find(&call.name);
                let site = self.site(None);
                self.works.inspect(run, call, tool, site);
            }
            Step::Run(run, call, facts, sandbox) => {
                let mode = self.machine.decided_in(&call.id).unwrap_or(Mode::Explore);
                let mut site = self.site(Some((Decided { run, mode }, &call.id)));
                site.place.allow(&self.machine.extras(mode, &facts));
                if let Ok(tool) = self.shared.setup.tools.find(&call.name) {
                    self.works.run(run, call, tool, (*facts, sandbox), site);
                }
            }
            Step::Reached(number, answer) => {
                if let Some(done) = self.reaching.remove(&number) {
                    // The command may have ended meanwhile.
                    let _ = done.send(answer);
                }
            }
            Step::Cancel(run) => {
                // Before the calls hear of it: the sessions that they wait for end for the same reason.
                if let Some(by) = self.machine.last_cut() {
                    self.shared.families.cut(&self.machine.meta().id, by);
                }
                self.works.cancel(run, self.me.clone());
            }
            Step::RetryIn(run, ms) => {
                let me = self.me.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(ms)).await;
                    let _ = me.send(ToLane::Input(Input::RetryNow(run))).await;
                });
            }
            Step::KeepRules(scope, rules) => self.keep_rules(scope, rules).await,
            Step::Trust(request) => self.trust(*request).await,
            Step::Whole(path, text) => self.keep_whole(path, text).await,
            Step::StandIn(named, answers) => self.stand_in_everywhere(named, answers),
            Step::StoreKey(connection, key) => self.store_key(connection, key),
            Step::RedeliverAt(at) => {
                let me = self.me.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(at.since(now()))).await;
                    let _ = me.send(ToLane::Redeliver(at)).await;
                });
            }
        }
    }

    /// Looks at the working directory while the model answers, so that the first command does not wait for that.
    fn look_ahead(&self) {
        if self.shared.setup.settings.sandbox != Holding::Nothing {
            let cwd = self.machine.meta().cwd.clone();
            // Nobody waits for it.
            drop(tokio::task::spawn_blocking(move || crate::sandbox::places::prepare(&cwd)));
        }
    }

    async fn ask(&mut self, run: RunNo, mut request: crate::provider::ModelRequest) {
        self.works.forget_before(run);
        self.look_ahead();
        let connections = &self.shared.setup.connections;
        let name = self.machine.meta().asked().cloned();
        let info = name.as_ref().and_then(|name| connections.info(name));
        let provider = name.as_ref().and_then(|name| connections.provider(name));
        match (info, provider) {
            (Some(info), Some(provider)) if info.missing.is_none() => {
                if request.model.is_empty() {
                    request.model.clone_from(&info.default_model);
                }
                let turn = match self.machine.meta().activity {
                    Activity::Running(since) => Some(since),
                    _ => None,
                };
                let tally = self.shared.tally(self.machine.meta(), turn);
                let (connections, name) = (connections.clone(), info.name);
                let wanted = move |error: &ProviderError| keys::wanted_after(&connections, &name, error);
                let dir = self.shared.setup.store.session_dir(&self.machine.meta().id);
                let shelf = Arc::clone(&self.shelf);
                shelf.belongs_to(&dir);
                let provider = (provider, self.machine.meta().long_cache);
                self.works.ask(run, provider, request, (shelf, self.me.clone()), (wanted, tally));
            }
            (Some(info), _) => {
                let why = info.missing.unwrap_or_else(|| "it cannot be used by this version".to_owned());
                let error = no_connection(&format!("The connection {} cannot be used: {why}.", info.name));
                self.fail_for_a_key(run, &info.name, error);
            }
            (None, _) => match name {
                Some(name) => {
                    self.fail_for_a_key(run, &name, no_connection(&reach::unmapped(&name, &self.machine.meta().id)));
                }
                None => {
                    let text = "No connection is configured. Choose one with /connection.";
                    self.fail_soon(run, no_connection(text));
                }
            },
        }
    }

    /// Reports a failure after the steps at hand were done.
    fn fail_soon(&self, run: RunNo, error: ProviderError) {
        let me = self.me.clone();
        tokio::spawn(async move {
            let _ = me.send(ToLane::Input(Input::Failed(run, error))).await;
        });
    }

    /// Store for undo of this turn's changes.
    fn kept_for_undo(&self, call: Option<&CallId>) -> Keeping {
        self.beside.undo().unwrap_or_else(|| Keeping {
            keeper: self.keeper.clone(),
            checkpoints: self.shared.setup.store.checkpoints(&self.machine.meta().id),
            turn: self.turn_message(),
            row: call.and_then(|call| self.machine.row_of(call)),
        })
    }

    fn engine(&self, call: Option<&CallId>) -> Engine {
        Engine::of(&self.shared, self.machine.meta(), self.me.clone(), self.kept_for_undo(call))
    }

    /// Read before the first command of a directory, and never again: what a command writes adds nothing.
    fn known_hosts(&self) -> Arc<KnownHosts> {
        let allowances = &self.shared.setup.settings.allowances;
        if allowances.network != Network::Proxy {
            return Arc::default();
        }
        let cwd = &self.machine.meta().cwd;
        let mut known = self.known_hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let known =
            known.entry(cwd.clone()).or_insert_with(|| Arc::new(KnownHosts::of(cwd, &allowances.private_hosts, None)));
        Arc::clone(known)
    }

    fn site(&self, decided: Option<(Decided, &CallId)>) -> Site {
        let settings = &self.shared.setup.settings;
        let call = decided.map(|(_, call)| call);
        let engine = self.engine(call);
        Site {
            place: CallPlace {
                cwd: self.machine.meta().cwd.clone(),
                session_dir: self.shared.setup.store.session_dir(&self.machine.meta().id),
                own_dirs: settings.own_dirs.clone(),
                runner: settings.runner.clone(),
                allowances: Arc::clone(&settings.allowances),
                known: self.known_hosts(),
                window: self.machine.meta().usage.context_window.unwrap_or(200_000),
            },
            seen: self.seen.clone(),
            jobs: self.jobs.clone(),
            lane: self.me.clone(),
            host: Arc::new(match decided {
                Some((decided, _)) => engine.decided(decided),
                None => engine,
            }),
            undo: self.kept_for_undo(call),
        }
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

fn durability(safety: Safety) -> Durability {
    match safety {
        Safety::Written => Durability::Written,
        Safety::Synced => Durability::Synced,
    }
}

fn no_connection(text: &str) -> ProviderError {
    ProviderError {
        code: "invalid_credentials",
        title: "No connection".to_owned(),
        text: text.to_owned(),
        detail: String::new(),
        retry: false,
        after: None,
    }
}
