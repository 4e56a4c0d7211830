//! One session's task: feeds the machine, does its steps in order, and tells the faces.
//!
//! It decides nothing. A step that keeps something has been kept when the next step begins, which is how a message is on
//! disk before its request leaves and a call before its tool runs.

use super::desk::{Shared, blocking};
use super::files::{self, Files, Standing, Writing, trouble};
use super::machine::{Machine, Own, Rules};
use super::outbox::Outbox;
use super::queue::Queue;
use super::step::{Input, RunNo, Safety, Step};
use super::work::{Site, Works};
use crate::domain::contract::{Act, Opened};
use crate::domain::ids::At;
use crate::domain::message::Message;
use crate::domain::notice::{Level, Notice};
use crate::domain::permission::Mode;
use crate::domain::tool::ToolSpec;
use crate::domain::{Event, SessionId, SessionMeta};
use crate::provider::ProviderError;
use crate::store::{Access, Durability, Health, Loaded, Urgency, Writer};
use crate::tools::Place;
use crate::tools::registry::Registry;
use crate::tools::seen::Seen;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc;

/// What a lane hears.
#[derive(Debug)]
pub(super) enum ToLane {
    Input(Input),
    Act(Act),
    Open { rows: usize },
    Earlier { cursor: u64, rows: usize },
    Leave,
    Health(Health),
    Shutdown,
}

/// Rows that are shown when a session is shown anew without being asked.
pub(super) const SHOWN: usize = 200;

/// Milliseconds since the epoch, now.
pub(super) fn now() -> At {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    At(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// One session's task.
pub(super) struct Lane {
    shared: Arc<Shared>,
    me: mpsc::Sender<ToLane>,
    machine: Machine,
    out: Outbox,
    works: Works,
    seen: Arc<Seen>,
    files: Files,
    /// The machine has the rows that the model gets.
    has_context: bool,
    draft: String,
    /// Nobody looks at the session.
    left: bool,
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
        let machine = Machine::new(meta.clone(), Own::default(), Queue::default(), rules(&shared, &meta.id));
        let files = Files::new(shared.setup.store.clone(), meta.id, is_new, me.clone());
        Self {
            shared,
            me,
            machine,
            out,
            works: Works::default(),
            seen: Arc::default(),
            files,
            has_context: is_new,
            draft: String::new(),
            left: false,
        }
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
                Some(ToLane::Input(input)) => {
                    self.input(input).await;
                    self.give_back().await;
                }
                Some(ToLane::Act(act)) => self.act(act).await,
                Some(ToLane::Open { rows }) => self.open(rows).await,
                Some(ToLane::Earlier { cursor, rows }) => self.earlier(cursor, rows).await,
                Some(ToLane::Leave) => self.leave().await,
                Some(ToLane::Health(health)) => self.health(health).await,
                Some(ToLane::Shutdown) | None => break,
            }
        }
        self.end(from).await;
    }

    /// Stops, waits for the processes, and closes the files.
    async fn end(mut self, mut from: mpsc::Receiver<ToLane>) {
        self.input(Input::Shutdown).await;
        while !self.machine.is_quiet() {
            match from.recv().await {
                Some(ToLane::Input(input)) => self.input(input).await,
                Some(ToLane::Act(Act::Draft { text })) => self.save_draft(text).await,
                Some(_) => {}
                None => break,
            }
        }
        if let Err(error) = self.files.close().await {
            let notice = trouble(&error).hint("What was not saved is lost with this process.");
            self.out.send(Event::Notice(notice)).await;
        }
        self.out.flush().await;
    }

    // ---- the machine ----

    async fn input(&mut self, input: Input) {
        let steps = self.machine.step(now(), input);
        for step in steps {
            self.perform(step).await;
        }
    }

    async fn perform(&mut self, step: Step) {
        match step {
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
                    self.told("keep the queue", kept);
                }
            }
            Step::KeepMeta(safety) => self.keep_meta(safety).await,
            Step::Turn(on) => {
                if let Some(writer) = self.writer().await {
                    let kept = writer.turn(on).await;
                    self.told("keep that a turn runs", kept);
                }
            }
            Step::Emit(event) => {
                if let Event::Changed(meta) = &event {
                    let mut metas = self.shared.metas.lock().unwrap_or_else(PoisonError::into_inner);
                    metas.insert(meta.id.clone(), (**meta).clone());
                }
                self.out.send(event).await;
            }
            Step::Ask(run, request) => self.ask(run, *request).await,
            Step::Inspect(run, call) => {
                let tool = self.shared.setup.tools.find(&call.name);
                let site = self.site();
                self.works.inspect(run, call, tool, site);
            }
            Step::Run(run, call, facts, sandbox) => {
                let site = self.site();
                if let Ok(tool) = self.shared.setup.tools.find(&call.name) {
                    self.works.run(run, call, tool, (*facts, sandbox), site);
                }
            }
            Step::Cancel(run) => self.works.cancel(run, self.me.clone()),
            Step::RetryIn(run, ms) => {
                let me = self.me.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(ms)).await;
                    let _ = me.send(ToLane::Input(Input::RetryNow(run))).await;
                });
            }
        }
    }

    async fn ask(&mut self, run: RunNo, mut request: crate::provider::ModelRequest) {
        self.works.forget_before(run);
        let connections = &self.shared.setup.connections;
        let name = self.machine.meta.connection.clone();
        let info = name.as_ref().and_then(|name| connections.info(name)).cloned();
        let provider = name.as_ref().and_then(|name| connections.provider(name));
        match (info, provider) {
            (Some(info), Some(provider)) if info.missing.is_none() => {
                if request.model.is_empty() {
                    request.model.clone_from(&info.default_model);
                }
                self.works.ask(run, provider, request, self.me.clone());
            }
            (Some(info), _) => {
                let why = info.missing.unwrap_or_else(|| "it cannot be used by this version".to_owned());
                let error = no_connection(&format!("The connection {} cannot be used: {why}.", info.name));
                self.fail_soon(run, error);
            }
            (None, _) => {
                self.machine.connection_missing = true;
                let text = match name {
                    Some(name) => format!(
                        "This session was made with the connection {name}, which is not configured here. Choose another with /model."
                    ),
                    None => "No connection is configured. Choose one with /model.".to_owned(),
                };
                self.fail_soon(run, no_connection(&text));
            }
        }
    }

    /// Reports a failure after the steps at hand were done.
    fn fail_soon(&self, run: RunNo, error: ProviderError) {
        let me = self.me.clone();
        tokio::spawn(async move {
            let _ = me.send(ToLane::Input(Input::Failed(run, error))).await;
        });
    }

    fn site(&self) -> Site {
        let settings = &self.shared.setup.settings;
        Site {
            place: Place {
                cwd: self.machine.meta.cwd.clone(),
                session_dir: self.shared.setup.store.session_dir(&self.machine.meta.id),
                own_dirs: settings.own_dirs.clone(),
                runner: settings.runner.clone(),
                window: self.machine.meta.usage.context_window.unwrap_or(200_000),
            },
            seen: self.seen.clone(),
            lane: self.me.clone(),
        }
    }

    // ---- the user ----

    async fn act(&mut self, act: Act) {
        if !self.load(0).await {
            return;
        }
        if let Act::Draft { text } = act {
            self.save_draft(text).await;
            return;
        }
        if matches!(self.files.standing(), Standing::Theirs(_)) && act != Act::Read {
            // Whoever held it may be gone by now: then what they wrote is shown first.
            self.files.look_again();
            if !self.load(SHOWN).await {
                return;
            }
        }
        if let Standing::Theirs(who) = self.files.standing()
            && act != Act::Read
        {
            let text = format!("This session can only be read here: {who} has it open.");
            let notice = Notice::new(Level::Warning, text).hint("Close it there, or start a new session here.");
            self.out.send(Event::Notice(notice)).await;
            return;
        }
        if leads_to_a_request(&act) && !self.load_context().await {
            // Without its history the model would answer somebody else: what was sent waits.
            if let Act::Send { text } | Act::Steer { text } = act {
                self.input(Input::Hold(text)).await;
            }
            return;
        }
        let chosen = match &act {
            Act::Model { connection, .. } => connection.clone(),
            _ => None,
        };
        self.input(Input::Act(act)).await;
        // Refused choices are not remembered.
        if let Some(name) = chosen.filter(|name| self.machine.meta.connection.as_ref() == Some(name)) {
            self.shared.setup.connections.choose(&name);
            let shared = self.shared.clone();
            blocking(move || (shared.setup.chosen)(&name)).await;
        }
    }

    async fn save_draft(&mut self, text: String) {
        self.draft.clone_from(&text);
        // A draft of a session that is nowhere would be found by nobody.
        if !text.is_empty() && matches!(self.files.standing(), Standing::New { .. }) {
            self.keep_meta(Safety::Written).await;
        }
        if let Some(Err(error)) = self.files.save_draft(text).await {
            tracing::warn!(%error, "the draft was not saved");
        }
    }

    async fn open(&mut self, rows: usize) {
        self.left = false;
        // Whoever held it may be gone by now.
        self.files.look_again();
        let fresh = matches!(self.files.standing(), Standing::Unloaded);
        if !self.load(rows).await {
            return;
        }
        if !fresh {
            self.snapshot(rows).await;
        }
    }

    /// Nobody looks any more: the files are given back when nothing runs, so that another process can have them. Until then,
    /// and while something is unsaved, they are kept, and it is tried again after each input.
    async fn leave(&mut self) {
        self.left = true;
        self.give_back().await;
    }

    async fn give_back(&mut self) {
        if !self.left || !self.machine.is_quiet() || !self.machine.requests().is_empty() {
            return;
        }
        if matches!(self.files.standing(), Standing::Unloaded | Standing::New { .. }) {
            return;
        }
        let closed = self.files.close().await;
        let saved = closed.is_ok();
        self.told("close the session", closed);
        if !saved {
            return;
        }
        self.has_context = false;
        self.machine.set_rows(Vec::new());
        let mut metas = self.shared.metas.lock().unwrap_or_else(PoisonError::into_inner);
        metas.remove(&self.machine.meta.id);
    }

    // ---- files ----

    /// Reads the session if that was not done; shows it if `rows` are wanted. False when it cannot be read.
    async fn load(&mut self, rows: usize) -> bool {
        if !matches!(self.files.standing(), Standing::Unloaded) {
            return true;
        }
        match self.files.load(rows).await {
            Some(Ok((loaded, draft))) => {
                self.draft = draft;
                self.take(loaded, rows).await;
                true
            }
            Some(Err(error)) => {
                self.out.send(Event::Notice(trouble(&error))).await;
                false
            }
            None => false,
        }
    }

    async fn take(&mut self, loaded: Loaded, rows: usize) {
        let Loaded { mut meta, own, rows: last, earlier, queue, died_in_turn, foreign_last_write, access } = loaded;
        let mut remarks = Vec::new();
        // Nothing ever comes back looser than it was left.
        if meta.mode == Mode::Execute && (died_in_turn || foreign_last_write) {
            meta.mode = Mode::Ask;
            let why = if died_in_turn { "its last turn died" } else { "another program wrote it last" };
            remarks.push(format!("This session was in Execute and {why}, so it is in Ask to Edit now."));
        }
        let loosest = loosest(&self.shared);
        if meta.mode > loosest {
            meta.mode = loosest;
            remarks.push(
                "This workspace was made by another program, so its sessions are in Ask to Edit at most.".to_owned(),
            );
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
        // Whatever is written first, the stricter mode goes with it.
        let first = (!remarks.is_empty()).then(|| (meta.clone(), own_data));
        self.files.take(access, first);
        let rules = rules(&self.shared, &meta.id);
        self.machine = Machine::new(meta, own, queue, rules).with_grants_of(&self.machine);
        self.machine.died_in_turn = died_in_turn;
        if died_in_turn && remarks.is_empty() && self.files.ours().is_some() {
            remarks.push("The program ended during the last turn of this session; what was there is kept.".to_owned());
        }
        let connections = &self.shared.setup.connections;
        self.machine.connection_missing =
            self.machine.meta.connection.as_ref().is_some_and(|name| connections.info(name).is_none());
        self.has_context = false;
        if rows > 0 {
            self.show(last, earlier).await;
        }
        for text in remarks {
            self.out.send(Event::Notice(Notice::new(Level::Warning, text))).await;
        }
    }

    async fn health(&mut self, health: Health) {
        if let Some(notice) = self.files.health(health) {
            self.out.send(Event::Notice(notice)).await;
        }
    }

    /// The model's context is read only when a turn needs it: a long session is opened by its last page alone. False when it
    /// cannot be read.
    async fn load_context(&mut self) -> bool {
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
    async fn writer(&mut self) -> Option<Writer> {
        match self.files.writer(&self.machine.meta).await {
            Writing::Ready(writer) => Some(writer),
            Writing::Made(writer, id, unsaved) => {
                if id != self.machine.meta.id {
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
        let old = std::mem::replace(&mut self.machine.meta.id, id.clone());
        self.machine.set_session_dir(self.shared.setup.store.session_dir(&id));
        {
            let mut lanes = self.shared.lanes.lock().unwrap_or_else(PoisonError::into_inner);
            lanes.insert(id.clone(), self.me.clone());
            let mut metas = self.shared.metas.lock().unwrap_or_else(PoisonError::into_inner);
            metas.remove(&old);
        }
        self.out.reidentify(&id).await;
    }

    async fn keep(&mut self, rows: Vec<Message>, safety: Safety) {
        if let Some(writer) = self.writer().await {
            let kept = writer.append(rows, durability(safety)).await;
            self.told("save a message", kept);
        } else {
            self.files.keep_in_memory(rows);
        }
    }

    async fn keep_meta(&mut self, safety: Safety) {
        let Some(writer) = self.writer().await else { return };
        let own = serde_json::to_value(&self.machine.own).unwrap_or_default();
        let urgency = match safety {
            Safety::Synced => Urgency::Now,
            Safety::Written => Urgency::Soon,
        };
        let kept = writer.meta(self.machine.meta.clone(), own, urgency).await;
        self.told("save the session's properties", kept);
    }

    /// The writer keeps what it could not save and its health says so; the log has the details.
    fn told(&self, what: &str, kept: Result<(), crate::store::StoreError>) {
        if let Err(error) = kept {
            tracing::warn!(session = %self.machine.meta.id, %error, "could not {what}");
        }
    }

    // ---- the face ----

    async fn show(&mut self, mut rows: Vec<Message>, earlier: Option<u64>) {
        rows.extend(self.machine.live_rows());
        let opened = Opened {
            meta: self.machine.meta.clone(),
            rows,
            earlier,
            later: None,
            redelivery: None,
            queue: self.machine.queue.items.clone(),
            queue_held: self.machine.queue.held,
            requests: self.machine.requests(),
            todo: self.machine.own.todo.clone(),
            draft: self.draft.clone(),
        };
        self.out.send(Event::Opened(Box::new(opened))).await;
    }

    async fn snapshot(&mut self, rows: usize) {
        let count = rows.max(1);
        match self.files.standing() {
            Standing::New { .. } => {
                let all = self.machine.rows();
                let last = all[all.len().saturating_sub(count)..].to_vec();
                self.show(last, None).await;
            }
            Standing::Unloaded => {}
            Standing::Ours(_) | Standing::Theirs(_) => {
                let kept = self.files.flush().await;
                self.told("save what waits", kept);
                match self.files.page(u64::MAX, count).await {
                    Some(Ok(page)) => {
                        let mut last = page.rows;
                        // Rows that could not be saved yet are shown all the same.
                        let end = last.last().map(|row| row.id.clone());
                        let known = self.machine.rows();
                        if let Some(at) = known.iter().rposition(|row| Some(&row.id) == end.as_ref()) {
                            last.extend_from_slice(&known[at + 1..]);
                        }
                        self.show(last, page.earlier).await;
                    }
                    Some(Err(error)) => self.out.send(Event::Notice(trouble(&error))).await,
                    None => {}
                }
            }
        }
    }

    async fn earlier(&mut self, cursor: u64, rows: usize) {
        match self.files.page(cursor, rows).await {
            Some(Ok(page)) => self.out.send(Event::Page { rows: page.rows, earlier: page.earlier }).await,
            Some(Err(error)) => self.out.send(Event::Notice(trouble(&error))).await,
            None => {}
        }
    }
}

/// The model may be asked after this act, so it needs to know what was said. Reading all of a long session for the others
/// would hold up what the user waits for.
fn leads_to_a_request(act: &Act) -> bool {
    match act {
        Act::Send { .. } | Act::Steer { .. } | Act::Queue(_) | Act::Retry | Act::Answer { .. } => true,
        Act::Stop
        | Act::Mode { .. }
        | Act::Model { .. }
        | Act::Thinking(_)
        | Act::Rename { .. }
        | Act::Read
        | Act::Cwd(_)
        | Act::TakeOver
        | Act::Draft { .. } => false,
    }
}

fn rules(shared: &Shared, id: &SessionId) -> Rules {
    let setup = &shared.setup;
    Rules {
        tools: offers(&setup.tools),
        requests_per_turn: setup.settings.requests_per_turn,
        policy: setup.settings.policy,
        enforced: setup.settings.enforced,
        headless: setup.settings.headless,
        steer_by_default: setup.settings.steer_by_default,
        loosest: loosest(shared),
        session_dir: setup.store.session_dir(id),
        seed: fastrand::u64(..),
    }
}

/// What another program made is not trusted with Execute.
fn loosest(shared: &Shared) -> Mode {
    if shared.setup.store.is_foreign() { Mode::Ask } else { Mode::Execute }
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
