//! The tool calls of one response: which may start, which waits for whom, and which rows are final.
//!
//! Calls that only read run side by side; one that may change something waits for all before it, and holds all behind it.
//! Rows become final in the order of the calls, whatever ends first.

use crate::domain::ids::{At, CallId, RequestId};
use crate::domain::message::{Body, Message};
use crate::domain::permission::Decision;
use crate::domain::request::Request;
use crate::domain::tool::{CallFacts, Child, ToolCall, ToolFigures, ToolStatus};
use crate::provider::ProposedCall;

/// The calls of one response.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    calls: Vec<OpenCall>,
    kept: usize,
}

/// One call and how far it is.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenCall {
    /// The call as proposed.
    pub call: ProposedCall,
    /// Its row.
    pub row: Message,
    /// Time of the proposal, by the clock. The row's time may be later: it is never before that of
    /// an earlier row.
    pub proposed: At,
    /// Stage.
    pub stage: Stage,
    /// Start of its tool.
    pub started: Option<At>,
    /// The user changed its command.
    pub edited: Option<Edited>,
    /// lisle itself writes its files.
    pub writes: bool,
    reads_only: bool,
}

/// A command that the user changed before it ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// Command that the model had proposed.
    pub proposed: String,
    /// Nothing was asked about it since: writing it was the answer.
    pub fresh: bool,
}

/// Stage of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Stage {
    /// Not looked at yet.
    Proposed,
    /// Its facts are being gathered.
    Inspecting,
    /// The user is asked.
    Asking(Box<Asking>),
    /// The tool runs.
    Running,
    /// The tool asked the user something; the answer is its result.
    Answering(Box<Request>),
    /// It has its result.
    Done,
}

/// A call that waits for the user, with the facts that the answer covers.
#[derive(Clone, Debug, PartialEq)]
pub struct Asking {
    /// Pending request.
    pub request: Request,
    /// Facts that it is about.
    pub facts: CallFacts,
}

impl Batch {
    /// Adds a call that is proposed now, with its row.
    pub fn push(&mut self, now: At, call: ProposedCall, row: Message, reads_only: bool) {
        self.calls.push(OpenCall {
            call,
            row,
            proposed: now,
            stage: Stage::Proposed,
            started: None,
            edited: None,
            writes: false,
            reads_only,
        });
    }

    /// The call of that id that has no result yet.
    pub fn open(&mut self, id: &CallId) -> Option<&mut OpenCall> {
        self.calls.iter_mut().find(|one| one.call.id == *id && one.stage != Stage::Done)
    }

    /// All calls without a result.
    pub fn all_open(&mut self) -> impl Iterator<Item = &mut OpenCall> {
        self.calls.iter_mut().filter(|one| one.stage != Stage::Done)
    }

    /// The call that this request is about.
    pub fn asked(&mut self, request: &RequestId) -> Option<&mut OpenCall> {
        self.calls.iter_mut().find(|one| one.request().is_some_and(|asked| asked.id == *request))
    }

    /// Pending requests.
    pub fn requests(&self) -> impl Iterator<Item = &Request> {
        self.calls.iter().filter_map(OpenCall::request)
    }

    /// Marks the next calls that may be looked at now, and names them.
    pub fn startable(&mut self) -> Vec<ProposedCall> {
        let mut found = Vec::new();
        let mut all_before_done = true;
        let mut changers_before_done = true;
        for one in &mut self.calls {
            let free = if one.reads_only { changers_before_done } else { all_before_done };
            if free && one.stage == Stage::Proposed {
                one.stage = Stage::Inspecting;
                found.push(one.call.clone());
            }
            let done = one.stage == Stage::Done;
            all_before_done &= done;
            changers_before_done &= done || one.reads_only;
        }
        found
    }

    /// Takes the rows that are final now: the done ones at the front, in order.
    pub fn take_final(&mut self) -> Vec<Message> {
        let mut rows = Vec::new();
        while let Some(one) = self.calls.get(self.kept).filter(|one| one.stage == Stage::Done) {
            rows.push(one.row.clone());
            self.kept += 1;
        }
        rows
    }

    /// Rows that are not final yet, in order.
    pub fn live(&self) -> impl Iterator<Item = &Message> {
        self.calls.iter().skip(self.kept).map(|one| &one.row)
    }

    /// Pending request of a spawned session, if there is one.
    #[must_use]
    pub fn waits_below(&self) -> Option<String> {
        self.calls.iter().filter(|one| one.stage == Stage::Running).find_map(|one| {
            let call = one.row.tool()?;
            let waits = call.figures.child.as_ref()?.waits.as_ref()?;
            Some(format!("{}: {waits}", call.subject))
        })
    }

    /// Every call has its result.
    #[must_use]
    pub fn done(&self) -> bool {
        self.calls.iter().all(|one| one.stage == Stage::Done)
    }
}

impl OpenCall {
    /// The row's tool call.
    pub fn tool(&mut self) -> Option<&mut ToolCall> {
        match &mut self.row.body {
            Body::Tool(tool) => Some(tool),
            _ => None,
        }
    }

    /// It was not started: a steer or a plan may skip it.
    #[must_use]
    pub fn not_started(&self) -> bool {
        matches!(self.stage, Stage::Proposed | Stage::Inspecting | Stage::Asking(_))
    }

    /// True if its files may be being written at this moment.
    #[must_use]
    pub fn is_writing(&self) -> bool {
        self.writes && self.stage == Stage::Running
    }

    /// Pending request.
    #[must_use]
    pub fn request(&self) -> Option<&Request> {
        match &self.stage {
            Stage::Asking(asking) => Some(&asking.request),
            Stage::Answering(request) => Some(request),
            _ => None,
        }
    }

    /// Keeps the decision with the call.
    pub fn decide(&mut self, decision: Decision) {
        if let Some(tool) = self.tool() {
            tool.decision = Some(decision);
        }
    }

    /// The words about a change by the user that the model is to see before the result.
    fn changed_by_user(&self) -> Option<String> {
        let edited = self.edited.as_ref()?;
        let now = self.call.input.get("command").and_then(serde_json::Value::as_str)?;
        let proposed = &edited.proposed;
        Some(format!("The user changed the command before it ran: {now}\nYou had proposed: {proposed}\n\n"))
    }

    /// Gives the call its result.
    pub fn finish(&mut self, now: At, failed: bool, mut text: String, figures: ToolFigures) {
        let millis = self.started.map(|from| now.since(from));
        self.stage = Stage::Done;
        if let Some(words) = self.changed_by_user() {
            text.insert_str(0, &words);
        }
        if let Some(tool) = self.tool() {
            tool.status = if failed { ToolStatus::Error } else { ToolStatus::Completed };
            tool.result = Some(text);
            tool.millis = millis;
            // Which session a call spawned stays known, however the call ends.
            let child = figures.child.or_else(|| tool.figures.child.take());
            let child = child.map(|child| Box::new(Child { waits: None, ..*child }));
            tool.figures = ToolFigures { child, ..figures };
        }
    }
}
