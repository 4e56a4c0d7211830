//! One session's agent as a pure machine: an [`Input`] goes in, [`Step`]s come out. No clock, no disk, no network.
//!
//! `response` holds what is streaming in, `batch` the calls that run, [`super::queue`] what waits. `turn` drives a turn
//! from request to request, `calls` the calls of a response, `stop` what ends it early, `children` the sessions that these spawn, `plan` what becomes of plans, `person` handles what the user does, `law` the rules and
//! who is trusted, `connecting` what their commands reach of the network, `connection` which one answers, `key` their keys, `automatic` what happens by itself, `compaction` what sums up, `context` what the model gets. The driver does the steps and reports back.

mod automatic;
mod batch;
mod calls;
mod children;
mod compaction;
mod connecting;
mod connection;
mod context;
mod key;
mod law;
mod person;
mod plan;
mod response;
mod stop;
#[cfg(test)]
mod tests;
mod turn;
mod typed;

use super::memory::Memory;
use super::queue::Queue;
use super::step::{Input, RunNo, Safety, Step};
use super::tokens::Gauge;
use crate::domain::contract::{Queued, TurnEnd};
use crate::domain::ids::{At, ConnectionName, MessageId, RequestId};
use crate::domain::message::{Body, CutBy, Info, InfoKind, Message, UserText};
use crate::domain::notice::{Level, Notice};
use crate::domain::permission::Mode;
use crate::domain::plan::{PlanApproval, Progress};
use crate::domain::request::{Ask, PlanReview, Request, TrustRequest};
use crate::domain::rule::{Rule, RuleScope};
use crate::domain::session::Activity;
use crate::domain::tool::{TodoItem, ToolSpec};
use crate::domain::{Event, SessionMeta};
use crate::permit;
pub use automatic::{Automatic, REDELIVERED_AFTER_MS};
use batch::Batch;
use compaction::Compacting;
pub use compaction::Models;
pub use law::Answers;
use response::Response;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use stop::Stopping;

/// What the machine is told once.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// The tools on offer and whether each only reads.
    pub tools: Vec<(ToolSpec, bool)>,
    /// Requests a turn may make.
    pub requests_per_turn: u32,
    /// What the user's settings change in the table of the modes.
    pub policy: crate::permit::Policy,
    /// Nobody can be asked.
    pub headless: bool,
    /// Enter steers while a turn runs, instead of queuing.
    pub steer_by_default: bool,
    /// The loosest mode that this workspace may have.
    pub loosest: Mode,
    /// The mode of the session that spawned this one and waits for it: no mode is looser.
    pub ceiling: Option<Mode>,
    /// Where `plans/` and `data/` of this session lie.
    pub session_dir: PathBuf,
    /// The part of the window, in percent, at which a conversation is compacted by itself; 0 for never.
    pub compact_at: f64,
    /// Prompts stay long in the vendor's cache where the session says nothing of it.
    pub long_cache: bool,
    /// Tools are told to the model in full where the session says nothing of it.
    pub full_tools: bool,
    /// Seed of ids and back-off.
    pub seed: u64,
}

/// lisle's own data of a session, kept beside the header.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Own {
    /// The plan that waits for its answer.
    pub plan: Option<PendingPlan>,
    /// The plan that was approved, and how far it is.
    pub progress: Option<Progress>,
    /// The agent's todo list.
    pub todo: Vec<TodoItem>,
    /// Answers that hold for this session.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// The files, by their SHA-256, that the user does not want to trust from this session.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_trusted: Vec<String>,
    /// The connections that stand in for those that are not configured here, by the name of these.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub connections: BTreeMap<ConnectionName, ConnectionName>,
    /// The connection that the session's model was chosen for, where it was chosen here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_for: Option<ConnectionName>,
    /// Prompts stay long in the vendor's cache; `None` for what the settings say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extended_prompt_cache: Option<bool>,
    /// Tools are told to the model in full; `None` for what the settings say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rich_tool_descriptions: Option<bool>,
    /// What a newer version keeps here, unchanged.
    #[serde(flatten)]
    pub other: serde_json::Map<String, Value>,
}

impl Own {
    /// Reads the stored data; a part that this version cannot read is left out, the rest is kept.
    #[must_use]
    pub fn read(stored: Value) -> Self {
        let Value::Object(mut other) = stored else { return Self::default() };
        let plan = other.remove("plan").and_then(|plan| serde_json::from_value(plan).ok()).flatten();
        let progress = other.remove("progress").and_then(|progress| serde_json::from_value(progress).ok()).flatten();
        let todo = other.remove("todo").and_then(|todo| serde_json::from_value(todo).ok()).unwrap_or_default();
        let mut list = |key: &str| match other.remove(key) {
            Some(Value::Array(all)) => all,
            _ => Vec::new(),
        };
        // What was kept is as narrow as it was answered: an allow that can no longer be read whole is not kept.
        let rules = list("rules").into_iter().filter_map(|rule| serde_json::from_value::<Rule>(rule).ok());
        let rules = rules.filter(|rule| rule.fault().is_none()).collect();
        let not_trusted = list("notTrusted").into_iter().filter_map(|hash| hash.as_str().map(str::to_owned)).collect();
        let connections = match other.remove("connections") {
            Some(Value::Object(map)) => map,
            _ => serde_json::Map::new(),
        };
        let named =
            |(theirs, ours): (String, Value)| Some((ConnectionName::new(theirs), ConnectionName::new(ours.as_str()?)));
        let connections = connections.into_iter().filter_map(named).collect();
        let model_for = other.remove("modelFor").and_then(|name| Some(ConnectionName::new(name.as_str()?)));
        let mut switch = |key: &str| other.remove(key).and_then(|on| on.as_bool());
        let (extended_prompt_cache, rich_tool_descriptions) =
            (switch("extendedPromptCache"), switch("richToolDescriptions"));
        Self {
            plan,
            progress,
            todo,
            rules,
            not_trusted,
            connections,
            model_for,
            extended_prompt_cache,
            rich_tool_descriptions,
            other,
        }
    }
}

/// A plan that waits for its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PendingPlan {
    /// The request's id.
    pub request: RequestId,
    /// The plan.
    pub review: PlanReview,
}

/// One session's agent.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The session's properties.
    pub meta: SessionMeta,
    /// lisle's own data of the session.
    pub own: Own,
    /// What waits for the turn to end.
    pub queue: Queue,
    /// The program died in the last turn: the transcript and the model are told with the next one.
    pub died_in_turn: bool,
    /// … or rather another lisle, from which the session was taken over in the middle of it.
    pub taken_over: bool,
    /// The connection that the session was made with is not configured here.
    pub connection_missing: bool,
    /// What waits was left by a death, in a session that may go on by itself once somebody looks at it.
    pub redelivers: bool,
    /// The last final row, whether or not it is among those that the machine was given.
    pub last_row: Option<MessageId>,
    rules: Rules,
    automatic: Automatic,
    models: Models,
    memory: Arc<Memory>,
    gauge: Gauge,
    rows: Vec<Message>,
    turn: Option<Turn>,
    last_cut: Option<CutBy>,
    /// The model that answers where the session names none.
    usual_model: Option<String>,
    run: RunNo,
    /// A stopped run whose processes may not be gone yet.
    ending: Option<RunNo>,
    /// The rules in force: the session's answers, then those of the files.
    law: permit::Rules,
    /// How often the rules decided.
    hits: Vec<(Rule, Option<String>, RuleScope, u64)>,
    /// What is not trusted and could be.
    untrusted: Vec<TrustRequest>,
    /// The question about it.
    trust: Option<Request>,
    /// The question for the key of a connection.
    key: Option<key::KeyAsked>,
    /// Connections of commands that wait for the user.
    connecting: Vec<connecting::Connecting>,
    /// The turn waits for somebody to choose a model.
    model_wanted: bool,
    mode_since: At,
    mode_told: Mode,
    shutting_down: bool,
    shown_activity: Activity,
    /// A plan was approved to be carried out once what was kept for it is on disk.
    due: Option<PlanApproval>,
    /// The plan was carried out to its end in this turn: what was struck out holds until the next.
    ended_plan: bool,
    /// The user set the status since the last message that began a turn.
    status_by_user: bool,
    redelivery: Option<At>,
    /// It was said that commands which the user types are closed in.
    told_confined: bool,
    /// What ended in the background since the last request, and is told with the next one.
    jobs_ended: Vec<String>,
    rng: fastrand::Rng,
    last_stamp: At,
}

/// A turn that runs.
#[derive(Clone, Debug)]
struct Turn {
    started: At,
    requests: u32,
    attempts: u32,
    /// The last call and how often it came in a row.
    last_call: Option<(String, Value)>,
    repeats: u32,
    steers: Vec<Queued>,
    /// A plan was submitted in this turn: it ends with this batch of calls.
    planned: bool,
    /// The user typed a command, or wants a compaction: no model is asked for an answer.
    typed: bool,
    /// The last row of the last compaction in this turn.
    compacted: Option<MessageId>,
    /// A request did not fit, and it was compacted for that.
    recovered: bool,
    /// An answer was empty, and it was asked for again.
    emptied: bool,
    /// How often the same call came three times in a row and nobody could be asked.
    strikes: u32,
    /// What all requests of the turn begin with. A compaction begins anew.
    standing: Option<context::Standing>,
    /// The last row that the last request told of.
    sent: Option<MessageId>,
    /// What attempts that broke off showed, while no request is on its way.
    broken: Option<Box<Response>>,
    work: Work,
}

#[derive(Clone, Debug)]
enum Work {
    /// A response streams in.
    Responding(Box<Response>),
    /// Its calls run.
    Calling(Batch),
    /// The conversation is being summed up.
    Compacting(Box<Compacting>),
    /// The turn was stopped while a call wrote a file: how that ended is its result.
    Stopping(Box<Stopping>),
    /// A failed request waits for its retry.
    BackingOff,
}

impl Machine {
    /// A machine for a session. Its rows come with [`Machine::set_rows`] before the first turn.
    #[must_use]
    pub fn new(meta: SessionMeta, own: Own, queue: Queue, rules: Rules) -> Self {
        let mode_told = meta.mode;
        let rng = fastrand::Rng::with_seed(rules.seed);
        let mut law = permit::Rules::new(permit::Ground { here: vec![meta.cwd.clone()], home: None });
        own.rules.iter().for_each(|rule| law.add_answer(rule.clone()));
        let mut machine = Self {
            meta,
            own,
            queue,
            died_in_turn: false,
            taken_over: false,
            connection_missing: false,
            redelivers: false,
            last_row: None,
            rules,
            automatic: Automatic::default(),
            models: Models::default(),
            memory: Arc::default(),
            gauge: Gauge::default(),
            rows: Vec::new(),
            turn: None,
            last_cut: None,
            usual_model: None,
            run: RunNo(1),
            ending: None,
            law,
            hits: Vec::new(),
            untrusted: Vec::new(),
            trust: None,
            key: None,
            connecting: Vec::new(),
            model_wanted: false,
            mode_since: At(0),
            mode_told,
            shutting_down: false,
            shown_activity: Activity::Idle,
            due: None,
            ended_plan: false,
            status_by_user: false,
            redelivery: None,
            told_confined: false,
            jobs_ended: Vec::new(),
            rng,
            last_stamp: At(0),
        };
        machine.meta.plan_pending = machine.own.plan.is_some();
        machine.meta.long_cache = machine.own.extended_prompt_cache.unwrap_or(machine.rules.long_cache);
        machine.meta.full_tools = machine.own.rich_tool_descriptions.unwrap_or(machine.rules.full_tools);
        machine.meta.activity = machine.activity();
        machine.shown_activity = machine.meta.activity.clone();
        machine
    }

    /// Gives the machine the rows since the last compaction.
    pub fn set_rows(&mut self, rows: Vec<Message>) {
        self.last_stamp = rows.iter().map(|row| row.at).max().unwrap_or_default().max(self.last_stamp);
        if let Some(last) = rows.last() {
            self.last_row = Some(last.id.clone());
        }
        // What subagents said and did is no part of this conversation.
        self.rows = rows.into_iter().filter(|row| row.parent.is_none()).collect();
    }

    /// The session's directory is another one: its id was taken when it was first written.
    pub fn set_session_dir(&mut self, dir: PathBuf) {
        self.rules.session_dir = dir;
    }

    /// The rows that the model would get, oldest first.
    #[must_use]
    pub fn rows(&self) -> &[Message] {
        &self.rows
    }

    /// Rows that can still change, in order.
    #[must_use]
    pub fn live_rows(&self) -> Vec<Message> {
        match self.turn.as_ref().map(|turn| &turn.work) {
            Some(Work::Responding(response)) => response.live().cloned().collect(),
            Some(Work::Calling(batch)) => batch.live().cloned().collect(),
            Some(Work::Stopping(it)) => it.live().cloned().collect(),
            Some(Work::Compacting(_) | Work::BackingOff) => {
                let broken = self.turn.iter().filter_map(|turn| turn.broken.as_ref());
                broken.flat_map(|broken| broken.live().cloned()).collect()
            }
            None => Vec::new(),
        }
    }

    /// What waits for the user.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        let mut all: Vec<Request> = match self.turn.as_ref().map(|turn| &turn.work) {
            Some(Work::Calling(batch)) => batch.requests().cloned().collect(),
            _ => Vec::new(),
        };
        all.extend(self.all_connecting().cloned());
        all.extend(self.own.plan.as_ref().map(|plan| self.plan_request(plan)));
        all.extend(self.trust.clone());
        all.extend(self.key.as_ref().map(|asked| asked.request.clone()));
        all
    }

    /// What was sent into the turn that runs and is not delivered yet.
    #[must_use]
    pub fn steers(&self) -> &[Queued] {
        self.turn.as_ref().map(|turn| turn.steers.as_slice()).unwrap_or_default()
    }

    /// A turn runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.turn.is_some()
    }

    /// No turn runs and the processes of the last one are gone.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.turn.is_none() && self.ending.is_none()
    }

    /// Takes an input and says what is to be done.
    pub fn step(&mut self, now: At, input: Input) -> Vec<Step> {
        let mut out = Vec::new();
        match input {
            Input::Act(act) => self.person(now, act, &mut out),
            Input::Chunk(run, chunk) if run == self.run => self.chunk(now, chunk, &mut out),
            Input::Used(run, used, window, cost) if run == self.run => self.used(used, window, cost, &mut out),
            Input::Apart(used, cost) => {
                self.meta.usage.add_apart(used, cost);
                self.changed(&mut out);
            }
            Input::Child(run, call, child, line) if run == self.run => self.child(&call, *child, line, &mut out),
            Input::Ceiling(ceiling) => self.set_ceiling(now, ceiling, &mut out),
            Input::Deliver(text) => self.deliver(now, text, &mut out),
            Input::Titled { title, was, wanted } => self.titled(title, &was, wanted, &mut out),
            Input::Failed(run, error) if run == self.run => self.failed(now, error, &mut out),
            Input::NoKey(run, wanted, failure) if run == self.run => self.no_key(now, *wanted, failure, &mut out),
            Input::NoModel(run, error) if run == self.run => self.no_model(now, error, &mut out),
            Input::GiveKey(wanted) => self.give_key(now, *wanted, &mut out),
            Input::Keyed(connection, stored) => self.keyed(now, &connection, stored, &mut out),
            Input::RetryNow(run) if run == self.run && self.is_stopping() => self.stopped_in_vain(now, &mut out),
            Input::RetryNow(run) if run == self.run && self.backs_off() => self.request(now, &mut out),
            // The part that could not be summed up, again. Does nothing where none is.
            Input::RetryNow(run) if run == self.run => self.sum_up(&mut out),
            Input::Summed(run, answer) if run == self.run => self.summed(now, answer, &mut out),
            Input::Inspected(run, call, found) if run == self.run => self.inspected(now, &call, found, &mut out),
            Input::Progress(run, call, text) if run == self.run => self.progress(&call, text, &mut out),
            Input::Ran(run, call, ended) if run == self.run => self.ran(now, &call, *ended, &mut out),
            Input::Ran(run, call, ended) => self.ran_late(now, (run, &call), *ended, &mut out),
            Input::Reaped(run) => {
                self.ending = self.ending.filter(|ending| *ending > run);
                if self.is_stopping_of(run) {
                    self.stopped_in_vain(now, &mut out);
                }
            }
            Input::PlanFile(file) => self.found_plan(file, &mut out),
            Input::CarryOut => self.carry_out_due(now, &mut out),
            Input::Change(change) => self.change(now, &change, &mut out),
            Input::Restored(text) => {
                let row = self.info(now, Level::Info, InfoKind::Restored, text);
                self.keep(vec![row], Safety::Synced, &mut out);
                self.changed(&mut out);
            }
            Input::JobEnded(text) => self.job_ended(now, text, &mut out),
            Input::MayReach(number, call, facts) => self.may_reach(now, number, call, *facts, &mut out),
            Input::NoLongerReaches(number) => self.no_longer_reaches(number, &mut out),
            Input::Law(law) => self.set_law(now, *law, &mut out),
            Input::Forget(rule) => self.forget(&rule, &mut out),
            Input::Look => self.looked_at(now, &mut out),
            Input::Redeliver(at) => self.redeliver(now, at, &mut out),
            Input::Hold(said) => {
                self.hold_redelivery(&mut out);
                let id = self.enqueue(now, said);
                self.queue.hold();
                self.queue_changed(&mut out);
                out.push(Step::Emit(Event::Accepted { id, queued: true }));
            }
            Input::Shutdown => {
                self.shutting_down = true;
                if self.turn.is_some() {
                    self.stop(now, CutBy::Restart, &mut out);
                }
            }
            // The rest is late news of a run that was stopped.
            Input::Chunk(..)
            | Input::Child(..)
            | Input::Used(..)
            | Input::Failed(..)
            | Input::NoKey(..)
            | Input::NoModel(..)
            | Input::RetryNow(_)
            | Input::Summed(..)
            | Input::Inspected(..)
            | Input::Progress(..) => {}
        }
        let activity = self.activity();
        if activity != self.shown_activity {
            self.shown_activity = activity.clone();
            self.meta.activity = activity;
            self.changed(&mut out);
        }
        out
    }

    fn backs_off(&self) -> bool {
        matches!(&self.turn, Some(Turn { work: Work::BackingOff, .. }))
    }

    fn activity(&self) -> Activity {
        if let Some(asked) = &self.key {
            return Activity::NeedsYou(waiting_for(&asked.request));
        }
        if self.model_wanted {
            return Activity::NeedsYou("which model answers".to_owned());
        }
        if self.is_stopping() {
            return Activity::Stopping;
        }
        if let Some(request) = self.first_connecting() {
            return Activity::NeedsYou(waiting_for(request));
        }
        if let Some(turn) = &self.turn {
            if let Work::Calling(batch) = &turn.work
                && let Some(request) = batch.requests().next()
            {
                return Activity::NeedsYou(waiting_for(request));
            }
            if let Work::Calling(batch) = &turn.work
                && let Some(what) = batch.waits_below()
            {
                return Activity::NeedsYou(what);
            }
            return Activity::Running(turn.started);
        }
        if !self.is_quiet() {
            return Activity::Stopping;
        }
        match &self.own.plan {
            Some(plan) => Activity::NeedsYou(format!("plan: {}", plan.review.title)),
            None if self.waits_for_connection() => Activity::NeedsYou("which connection answers".to_owned()),
            None => match &self.trust {
                Some(request) => Activity::NeedsYou(waiting_for(request)),
                None => Activity::Idle,
            },
        }
    }

    // ---- what every part needs ----

    /// A time that is later than every earlier one of this session.
    fn stamp(&mut self, now: At) -> At {
        self.last_stamp = now.max(self.last_stamp.plus(1));
        self.last_stamp
    }

    fn letters(&mut self) -> String {
        (0..6).map(|_| char::from(b"0123456789abcdefghijklmnopqrstuvwxyz"[self.rng.usize(..36)])).collect()
    }

    fn message_id(&mut self, at: At) -> MessageId {
        MessageId::new(format!("msg-{}-{}", at.0, self.letters()))
    }

    fn request_id(&mut self, now: At) -> RequestId {
        RequestId::new(format!("ask-{}-{}", now.0, self.letters()))
    }

    fn row(&mut self, now: At, body: Body) -> Message {
        let at = self.stamp(now);
        Message::new(self.message_id(at), at, body)
    }

    fn info(&mut self, now: At, level: Level, kind: InfoKind, text: impl Into<String>) -> Message {
        self.row(now, Body::Info(Info { text: text.into(), level, kind, carried: None }))
    }

    /// Appends final rows and shows them.
    fn keep(&mut self, rows: Vec<Message>, safety: Safety, out: &mut Vec<Step>) {
        if rows.is_empty() {
            return;
        }
        for row in &rows {
            self.meta.messages += 1;
            let counts = match &row.body {
                Body::User(_) => true,
                Body::Assistant(said) => !said.intermediate,
                _ => false,
            };
            if counts {
                self.meta.last_message = row.at;
            }
            self.meta.used = row.at;
            self.last_row = Some(row.id.clone());
        }
        out.push(Step::Keep(rows.clone(), safety));
        out.extend(rows.iter().map(|row| Step::Emit(Event::Row(Box::new(row.clone())))));
        self.rows.extend(rows);
    }

    /// The properties changed: keep them and show them.
    fn changed(&mut self, out: &mut Vec<Step>) {
        out.push(Step::KeepMeta(Safety::Written));
        out.push(Step::Emit(Event::Changed(Box::new(self.meta.clone()))));
    }

    /// The user changed the properties: keep them at once.
    fn changed_by_user(&mut self, out: &mut Vec<Step>) {
        out.push(Step::KeepMeta(Safety::Synced));
        out.push(Step::Emit(Event::Changed(Box::new(self.meta.clone()))));
    }

    fn enqueue(&mut self, now: At, said: UserText) -> MessageId {
        let item = self.queued(now, said);
        let id = item.id.clone();
        self.queue.items.push(item);
        id
    }

    fn queued(&mut self, now: At, said: UserText) -> Queued {
        let at = self.stamp(now);
        let id = self.message_id(at);
        Queued { id, text: said.text, at, redelivered: false, attachments: said.attachments }
    }

    /// All that is kept as waiting: what steers and was not delivered, then the queue.
    fn waiting(&self) -> Vec<Queued> {
        self.steers().iter().chain(&self.queue.items).cloned().collect()
    }

    fn queue_changed(&mut self, out: &mut Vec<Step>) {
        out.push(Step::KeepQueue(self.waiting()));
        let (items, steers) = (self.queue.items.clone(), self.steers().to_vec());
        out.push(Step::Emit(Event::Queue { items, held: self.queue.held, steers }));
    }

    /// Writes the mode to the transcript once something happens in it, so that cycling leaves no trail of its own.
    fn tell_mode(&mut self, now: At) -> Option<Message> {
        if self.mode_told == self.meta.mode {
            return None;
        }
        self.mode_told = self.meta.mode;
        Some(self.info(now, Level::Info, InfoKind::ModeChanged, format!("Permission mode: {}", self.meta.mode.shown())))
    }

    /// A command in the background ended. While a turn runs its row waits for the next request, so that it never stands
    /// among the calls of a response.
    fn job_ended(&mut self, now: At, text: String, out: &mut Vec<Step>) {
        self.jobs_ended.push(text);
        if self.turn.is_none() {
            let rows = self.tell_jobs(now);
            self.keep(rows, Safety::Synced, out);
            self.changed(out);
        }
    }

    /// The rows about what ended in the background.
    fn tell_jobs(&mut self, now: At) -> Vec<Message> {
        let ended = std::mem::take(&mut self.jobs_ended);
        ended.into_iter().map(|text| self.info(now, Level::Info, InfoKind::JobEnded, text)).collect()
    }

    fn end_turn(&mut self, now: At, end: TurnEnd, out: &mut Vec<Step>) {
        self.model_wanted = false;
        let ended = self.tell_jobs(now);
        self.keep(ended, Safety::Synced, out);
        // What was to steer and was not delivered waits in the queue.
        let typed = self.turn.as_ref().is_some_and(|turn| turn.typed);
        let steers = self.turn.take().map(|turn| turn.steers).unwrap_or_default();
        let steered = !steers.is_empty();
        self.queue.items.splice(0..0, steers);
        self.meta.plan_pending = self.own.plan.is_some();
        if end != TurnEnd::Done || steered {
            self.queue.hold();
        }
        if !typed {
            self.status_at_end(end);
        }
        // A face that shows the end says so at once; headless the answer was printed.
        if matches!(end, TurnEnd::Done | TurnEnd::Plan) && !typed && !self.rules.headless && self.meta.parent.is_none()
        {
            self.meta.unread = true;
        }
        self.meta.activity = self.activity();
        self.shown_activity = self.meta.activity.clone();
        // The properties first: a death in between must not lose what the turn cost.
        self.changed(out);
        out.push(Step::Turn(false));
        out.push(Step::Emit(Event::TurnEnded { end }));
        if self.queue.held {
            self.queue_changed(out);
        } else if !self.shutting_down && !self.rules.headless {
            // A headless run is one turn.
            self.send_next(now, out);
        }
    }
}

fn notice(level: Level, text: impl Into<String>, hint: impl Into<String>) -> Step {
    Step::Emit(Event::Notice(Notice::new(level, text).hint(hint)))
}

/// A few words for the list: what a request is about.
fn waiting_for(request: &Request) -> String {
    match &request.ask {
        Ask::Approval(approval) => format!("approve: {} {}", approval.tool, approval.subject),
        Ask::Plan(review) => format!("plan: {}", review.title),
        Ask::Question(question) => format!("asks: {}", question.text),
        Ask::Trust(request) => format!("trust: {}", request.path.display()),
        Ask::Key(request) => format!("key: {}", request.connection),
    }
}
