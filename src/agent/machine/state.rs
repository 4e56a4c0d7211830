//! Parts of a machine, and what every part needs: rows, ids, and how changes are kept and told.

use super::announced::Announced;
use super::answering::Answering;
use super::asks::Asks;
use super::automation::Automation;
use super::budget::Budget;
use super::config::MachineConfig;
use super::header_extension::HeaderExtension;
use super::plan_state::PlanState;
use super::runs::{Death, Runs};
use super::transcript::Transcript;
use super::trust::Trust;
use super::turn_state::{Turn, Work};
use crate::agent::machine_io::{Safety, Step, TurnCompany};
use crate::agent::message_queue::Queue;
use crate::domain::SessionMeta;
use crate::domain::ids::{At, MessageId, RequestId, SessionId};
use crate::domain::message::{Body, InfoKind, Message, UserText};
use crate::domain::notice::{Level, Notice};
use crate::domain::request::Request;
use crate::protocol::{Queued, SessionEvent};
use std::path::PathBuf;

/// One session's agent.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The session's properties.
    pub(super) meta: SessionMeta,
    /// lisle's own data of the session.
    pub(super) own: HeaderExtension,
    /// Messages that wait for the turn to end.
    pub(super) queue: Queue,
    pub(super) config: MachineConfig,
    pub(super) transcript: Transcript,
    pub(super) turn: Option<Turn>,
    pub(super) runs: Runs,
    pub(super) plan: PlanState,
    pub(super) trust: Trust,
    pub(super) asks: Asks,
    pub(super) answering: Answering,
    pub(super) budget: Budget,
    pub(super) automation: Automation,
    pub(super) announced: Announced,
    /// Time at which the user chose the mode; 0 for a mode that counts at once.
    pub(super) mode_since: At,
}

/// State in which the last process left a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftBehind {
    /// The program died in the last turn.
    pub died: Option<Death>,
    /// Waiting messages may be sent by themselves once somebody looks at the session.
    pub redelivers: bool,
    /// The last row of the files.
    pub last_row: Option<MessageId>,
}

impl Machine {
    /// A machine for a session. Its rows come with [`Machine::set_rows`] before the first turn.
    #[must_use]
    pub fn new(meta: SessionMeta, own: HeaderExtension, queue: Queue, config: MachineConfig) -> Self {
        let mut machine = Self {
            transcript: Transcript::new(config.seed),
            trust: Trust::new(&meta.cwd, &own),
            announced: Announced::new(meta.mode),
            meta,
            own,
            queue,
            runs: Runs::of(config.headless),
            config,
            turn: None,
            plan: PlanState::default(),
            asks: Asks::default(),
            answering: Answering::default(),
            budget: Budget::default(),
            automation: Automation::default(),
            mode_since: At(0),
        };
        machine.meta.plan_pending = machine.own.plan.is_some();
        machine.meta.switches.long_cache = machine.own.extended_prompt_cache.unwrap_or(machine.config.long_cache);
        machine.meta.switches.full_tools = machine.own.rich_tool_descriptions.unwrap_or(machine.config.full_tools);
        machine.meta.switches.no_tools = machine.own.no_tools;
        machine.show_preamble();
        machine.show_activity();
        machine
    }

    /// The session's properties.
    #[must_use]
    pub fn meta(&self) -> &SessionMeta {
        &self.meta
    }

    /// lisle's own data of the session.
    #[must_use]
    pub fn own(&self) -> &HeaderExtension {
        &self.own
    }

    /// Messages that wait for the turn to end.
    #[must_use]
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// The last final row, whether or not it is among those that the machine was given.
    #[must_use]
    pub fn last_row(&self) -> Option<&MessageId> {
        self.transcript.last()
    }

    /// Takes the state in which the last process left the session.
    pub fn set_left_behind(&mut self, left: LeftBehind) {
        if left.died.is_some() {
            self.died_unfinished();
        }
        self.runs.set_died(left.died);
        self.automation.set_redelivers(left.redelivers);
        self.transcript.set_last(left.last_row);
    }

    /// Takes properties that another process wrote.
    pub fn set_meta(&mut self, meta: SessionMeta) {
        self.meta = meta;
    }

    /// Takes labels back that could not be saved.
    pub fn set_labels(&mut self, labels: Vec<String>) {
        self.meta.labels = labels;
    }

    /// Takes the queue of the process that writes the session.
    pub fn set_queue(&mut self, items: Vec<Queued>) {
        self.queue.items = items;
        self.queue.held = false;
    }

    /// The session got another id and directory when it was first written: its own was taken. Returns the old id.
    pub fn reidentify(&mut self, id: SessionId, dir: PathBuf) -> SessionId {
        self.config.session_dir = dir;
        std::mem::replace(&mut self.meta.id, id)
    }

    /// The message that is sent next gets this id; `None`: one that is made for it.
    pub fn choose_message_id(&mut self, id: Option<MessageId>) {
        self.transcript.choose_id(id);
    }

    /// True if a row in memory, or a message that waits, has this id.
    #[must_use]
    pub fn has_message(&self, id: &MessageId) -> bool {
        self.rows().iter().any(|row| row.id == *id) || self.waiting().iter().any(|item| item.id == *id)
    }

    /// Client whose command follows; `None`: of one in this process, or of nobody.
    pub fn set_client(&mut self, client: Option<String>) {
        self.config.client = client;
    }

    /// Company of the turns from here on. A turn that runs keeps to how it began.
    pub fn set_company(&mut self, company: TurnCompany) {
        if !self.is_running() {
            (self.config.headless, self.config.stranger) = (company.asks_nobody, company.stranger);
        }
    }

    /// Company of the turn.
    #[must_use]
    pub fn company(&self) -> TurnCompany {
        TurnCompany { asks_nobody: self.config.headless, stranger: self.config.stranger }
    }

    /// Nobody can be asked.
    #[must_use]
    pub fn asks_nobody(&self) -> bool {
        self.config.headless
    }

    /// Gives the machine the rows since the last compaction.
    pub fn set_rows(&mut self, rows: Vec<Message>) {
        self.transcript.set_rows(rows);
    }

    /// The rows that the model would get, oldest first.
    #[must_use]
    pub fn rows(&self) -> &[Message] {
        self.transcript.rows()
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

    /// Requests that wait for the user.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        let mut all: Vec<Request> = match self.turn.as_ref().map(|turn| &turn.work) {
            Some(Work::Calling(batch)) => batch.requests().cloned().collect(),
            _ => Vec::new(),
        };
        all.extend(self.asks.all_connecting().cloned());
        all.extend(self.own.plan.as_ref().map(|plan| self.plan_request(plan)));
        all.extend(self.trust.request().cloned());
        all.extend(self.asks.key().map(|asked| asked.request.clone()));
        all
    }

    /// Messages sent into the running turn and not delivered yet.
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
        self.turn.is_none() && !self.runs.are_ending()
    }

    /// Appends final rows and shows them.
    pub(super) fn keep(&mut self, rows: Vec<Message>, safety: Safety, out: &mut Vec<Step>) {
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
        }
        out.push(Step::Append(rows.clone(), safety));
        out.extend(rows.iter().map(|row| Step::Emit(SessionEvent::Row(Box::new(row.clone())))));
        self.transcript.append(rows);
    }

    /// The properties changed: keep them and show them.
    pub(super) fn changed(&mut self, out: &mut Vec<Step>) {
        out.push(Step::KeepMeta(Safety::Written));
        out.push(Step::Emit(SessionEvent::Changed(Box::new(self.meta.clone()))));
    }

    /// The user changed the properties: keep them at once.
    pub(super) fn changed_by_user(&mut self, out: &mut Vec<Step>) {
        out.push(Step::KeepMeta(Safety::Synced));
        out.push(Step::Emit(SessionEvent::Changed(Box::new(self.meta.clone()))));
    }

    pub(super) fn enqueue(&mut self, now: At, said: UserText) -> MessageId {
        let item = self.queued(now, said);
        let id = item.id.clone();
        self.queue.items.push(item);
        id
    }

    pub(super) fn queued(&mut self, now: At, said: UserText) -> Queued {
        let at = self.stamp(now);
        let id = self.message_id(at);
        let UserText { text, attachments, piped, client, .. } = said;
        Queued { id, text, at, redelivered: false, attachments, piped, client }
    }

    /// All that is kept as waiting: what steers and was not delivered, then the queue.
    pub(super) fn waiting(&self) -> Vec<Queued> {
        self.steers().iter().chain(&self.queue.items).cloned().collect()
    }

    pub(super) fn queue_changed(&mut self, out: &mut Vec<Step>) {
        out.push(Step::KeepQueue(self.waiting()));
        let (items, steers) = (self.queue.items.clone(), self.steers().to_vec());
        out.push(Step::Emit(SessionEvent::Queue { items, held: self.queue.held, steers }));
    }

    // ---- rows and ids ----

    pub(super) fn stamp(&mut self, now: At) -> At {
        self.transcript.stamp(now)
    }

    pub(super) fn message_id(&mut self, at: At) -> MessageId {
        self.transcript.message_id(at)
    }

    pub(super) fn request_id(&mut self, now: At) -> RequestId {
        self.transcript.request_id(now)
    }

    pub(super) fn letters(&mut self) -> String {
        self.transcript.letters()
    }

    pub(super) fn row(&mut self, now: At, body: Body) -> Message {
        self.transcript.row(now, body)
    }

    pub(super) fn info(&mut self, now: At, level: Level, kind: InfoKind, text: impl Into<String>) -> Message {
        self.transcript.info(now, level, kind, text)
    }
}

pub(super) fn notice(level: Level, text: impl Into<String>, hint: impl Into<String>) -> Step {
    Step::Emit(SessionEvent::Notice(Notice::new(level, text).hint(hint)))
}
