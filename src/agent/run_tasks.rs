//! The tasks of a run: the request that streams and the calls that execute, and how they are ended.

use super::clock::now;
use super::machine_io::{Input, RunNo};
use super::mailbox::{Mailbox, Report};
use super::model_context::media::{self, Shelf};
use super::tool_host::answer;
use super::undo::{CallToRecord, UndoTarget};
use super::usage_recorder::UsageRecorder;
use crate::domain::permission::Sandbox;
use crate::domain::request::KeyRequest;
use crate::domain::tool::{CallFacts, Outcome};
use crate::domain::{Level, Notice};
use crate::protocol::SessionEvent;
use crate::provider::named::NO_MODEL;
use crate::provider::{Chunk, ModelRequest, ProposedCall, Provider, ProviderError};
use crate::tools::command::jobs::Jobs;
use crate::tools::read_tracker::Seen;
use crate::tools::{CallPlace, RunContext, RunError, Tool};
use futures_util::{FutureExt, StreamExt};
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// All runs that may still have tasks.
#[derive(Debug, Default)]
pub(super) struct RunTasks(BTreeMap<u64, TasksOfRun>);

#[derive(Debug, Default, Clone)]
struct TasksOfRun {
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// Context of calls: their place, the files they read, and the receiver of events.
pub(super) struct CallContext {
    pub(super) place: CallPlace,
    pub(super) seen: Arc<Seen>,
    /// Background jobs.
    pub(super) jobs: Arc<Jobs>,
    pub(super) mailbox: Mailbox,
    /// The engine, for calls that ask something of it.
    pub(super) host: Arc<dyn crate::tools::host::Host>,
    /// Store for undo of a call's changes, and the message that the turn began with.
    pub(super) undo: UndoTarget,
}

impl RunTasks {
    fn of(&mut self, run: RunNo) -> TasksOfRun {
        self.0.entry(run.0).or_default().clone()
    }

    /// Spawns a task that a turn waits for. A defect in it is reported as this input, so that the turn ends.
    fn spawn(
        &mut self,
        run: RunNo,
        (mailbox, defect): (Mailbox, Input),
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        self.of(run).tasks.spawn(async move {
            // What the task had is dropped with it.
            if AssertUnwindSafe(work).catch_unwind().await.is_err() {
                tracing::error!("a task of a turn panicked");
                // An actor that ended waits for nothing.
                let _ = mailbox.report(Report::Input(defect)).await;
            }
        });
    }

    /// Streams a response, whose prompt stays long in the server's cache where that is wanted; dropping the stream drops the request. `wanted` says which key could help against a failure.
    pub(super) fn ask(
        &mut self,
        run: RunNo,
        (provider, kept_long): (Arc<dyn Provider>, bool),
        mut request: ModelRequest,
        (shelf, mailbox): (Arc<Shelf>, Mailbox),
        (wanted, recorder): (impl Fn(&ProviderError) -> Option<KeyRequest> + Send + 'static, Option<UsageRecorder>),
    ) {
        let stop = self.of(run).stop;
        self.spawn(run, (mailbox.clone(), Input::Failed(run, defect())), async move {
            let named = request.model.clone();
            // Known at the latest when the answer comes.
            let meant = || match named.as_str() {
                "" => provider.only().unwrap_or_default(),
                _ => named.clone(),
            };
            tokio::select! {
                () = stop.cancelled() => return,
                () = media::fill(&mut request.items, shelf) => {}
            }
            let mut chunks = if kept_long { provider.stream_kept_long(request) } else { provider.stream(request) };
            let mut counted = None;
            loop {
                let next = tokio::select! {
                    () = stop.cancelled() => break,
                    next = chunks.next() => next,
                };
                let (input, last) = match next {
                    Some(Ok(Chunk::Usage(used))) => {
                        // A response may be counted more than once, each time up to then.
                        counted = Some(used);
                        let (window, cost) = provider.figures(&meant(), used);
                        (Input::Used(run, used, window, cost), false)
                    }
                    Some(Ok(chunk)) => {
                        let last = matches!(chunk, Chunk::Stopped(_));
                        (Input::Chunk(run, chunk), last)
                    }
                    Some(Err(error)) if error.code == NO_MODEL => (Input::NoModel(run, error), true),
                    Some(Err(error)) => match wanted(&error) {
                        Some(key) => (Input::NoKey(run, Box::new(key), error), true),
                        None => (Input::Failed(run, error), true),
                    },
                    None => (Input::Failed(run, broke_off()), true),
                };
                if mailbox.report(Report::Input(input)).await.is_err() || last {
                    break;
                }
            }
            if let (Some(used), Some(recorder)) = (counted, recorder) {
                recorder.note(&*provider, &meant(), used);
            }
        });
    }

    /// Does work that a run waits for before its request; it is dropped when the run is stopped.
    pub(super) fn wait(&mut self, run: RunNo, work: impl Future<Output = ()> + Send + 'static) {
        let one = self.of(run);
        one.tasks.spawn(async move {
            tokio::select! {
                () = one.stop.cancelled() => {}
                () = work => {}
            }
        });
    }

    /// Asks a model for a summary; dropping the question drops the request.
    pub(super) fn sum(
        &mut self,
        run: RunNo,
        provider: Arc<dyn Provider>,
        request: ModelRequest,
        (mailbox, recorder): (Mailbox, Option<UsageRecorder>),
    ) {
        let stop = self.of(run).stop;
        self.spawn(run, (mailbox.clone(), Input::Summarised(run, Err(defect()))), async move {
            let model = request.model.clone();
            let answer = tokio::select! {
                () = stop.cancelled() => return,
                answer = answer(provider, request, &model, mailbox.clone(), recorder) => answer,
            };
            // An actor that ended wants no summary.
            let _ = mailbox.report(Report::Input(Input::Summarised(run, answer))).await;
        });
    }

    /// Gathers the facts of a call off the async threads.
    pub(super) fn inspect(
        &mut self,
        run: RunNo,
        call: ProposedCall,
        tool: Result<Arc<dyn Tool>, String>,
        site: CallContext,
    ) {
        let CallContext { place, seen, mailbox, .. } = site;
        let lost = Input::Inspected(run, call.id.clone(), Err(DEFECT.to_owned()));
        let stop = self.of(run).stop;
        self.spawn(run, (mailbox.clone(), lost), async move {
            let id = call.id.clone();
            let found = match tool {
                Err(unknown) => Err(unknown),
                Ok(tool) => {
                    let look = tokio::task::spawn_blocking(move || match place.fault() {
                        Some(fault) => Err(fault),
                        None => tool.inspect(&call.input, &place, &seen),
                    });
                    // It only looks: whoever stops the turn does not wait for it.
                    let found = tokio::select! {
                        () = stop.cancelled() => return,
                        found = look => found,
                    };
                    found.unwrap_or_else(|error| Err(format!("Internal error checking the call: {error}.")))
                }
            };
            let _ = mailbox.report(Report::Input(Input::Inspected(run, id, found))).await;
        });
    }

    /// Runs a call.
    pub(super) fn run(
        &mut self,
        run: RunNo,
        call: ProposedCall,
        tool: Arc<dyn Tool>,
        (facts, sandbox): (CallFacts, Sandbox),
        site: CallContext,
    ) {
        let CallContext { place, seen, jobs, mailbox, host, undo: UndoTarget { recorder, checkpoints, turn, row } } =
            site;
        let about = CallToRecord {
            checkpoints,
            call: call.id.clone(),
            row,
            turn,
            at: now(),
            facts: facts.clone(),
            sandbox,
            cwd: place.cwd.clone(),
        };
        let one = self.of(run);
        let (progress, mut lines) = mpsc::channel(4);
        let stop = one.stop.child_token();
        let with = RunContext { call: call.id.clone(), place, facts, sandbox, seen, stop, progress, jobs, host };
        let to = mailbox.clone();
        let id = call.id.clone();
        one.tasks.spawn(async move {
            while let Some(text) = lines.recv().await {
                if to.report(Report::Input(Input::Progress(run, id.clone(), text))).await.is_err() {
                    return;
                }
            }
        });
        let lost = Input::Ran(run, call.id.clone(), Box::new(Ok(Outcome::error(DEFECT))));
        self.spawn(run, (mailbox.clone(), lost), async move {
            let id = call.id.clone();
            let kept = recorder.begin(about).await;
            if let Some(text) = recorder.news() {
                let notice = Notice::new(Level::Warning, text).hint("changes can't be undone until there is space");
                let _ = mailbox.report(Report::Tell(SessionEvent::Notice(notice))).await;
            }
            // A task of its own, so that a defect in a tool ends the call and not the session.
            let mut ended = if with.stop.is_cancelled() {
                // Keeping what it may change takes its time, in which the turn can be stopped.
                Err(RunError::stopped(""))
            } else if let Some(fault) = fault_of(&with.place).await {
                Ok(Outcome::error(fault))
            } else {
                match tokio::spawn(tool.run(call.input, with)).await {
                    Ok(ended) => ended,
                    Err(error) => Ok(Outcome::error(format!("Internal error in the tool: {error}."))),
                }
            };
            if let Some(mut kept) = kept {
                if ended.as_ref().is_ok_and(|outcome| outcome.figures.job.is_some()) {
                    kept.goes_on();
                }
                if let Some(made) = ended.as_mut().ok().and_then(|outcome| outcome.made.take()) {
                    kept.made(*made);
                }
                let did = ended.as_ref().is_ok_and(|outcome| !outcome.failed);
                let gaps = recorder.end(kept, did, now()).await;
                if let (Ok(outcome), false) = (&mut ended, gaps.is_empty()) {
                    outcome.figures.undo_incomplete = Some(gaps.join(" "));
                }
            }
            let protected = match &ended {
                Ok(outcome) => &*outcome.figures.protected,
                Err(RunError::Stopped(run)) => &*run.protected,
                Err(RunError::FactsChanged(_)) => &[],
            };
            if let Some(notice) = Notice::protected(protected) {
                let _ = mailbox.report(Report::Tell(SessionEvent::Notice(notice))).await;
            }
            let _ = mailbox.report(Report::Input(Input::Ran(run, id, Box::new(ended)))).await;
        });
    }

    /// Ends everything of the runs up to this one and reports when it is gone.
    pub(super) fn cancel(&mut self, upto: RunNo, mailbox: Mailbox) {
        let later = self.0.split_off(&(upto.0 + 1));
        let ended = std::mem::replace(&mut self.0, later);
        for one in ended.values() {
            one.stop.cancel();
            one.tasks.close();
        }
        tokio::spawn(async move {
            for one in ended.into_values() {
                one.tasks.wait().await;
            }
            let _ = mailbox.report(Report::Input(Input::Reaped(upto))).await;
        });
    }

    /// A run that ended by itself needs no bookkeeping any more.
    pub(super) fn forget_before(&mut self, run: RunNo) {
        self.0.retain(|number, one| *number >= run.0 || !one.tasks.is_empty());
    }
}

/// Why no call may run at this place any more.
async fn fault_of(place: &CallPlace) -> Option<String> {
    let place = place.clone();
    tokio::task::spawn_blocking(move || place.fault()).await.unwrap_or_else(|error| Some(error.to_string()))
}

/// End of a task by a defect of lisle's own.
const DEFECT: &str = "Internal error; the log has the place.";

fn defect() -> ProviderError {
    ProviderError {
        code: "internal_error",
        title: "Internal error".to_owned(),
        text: "lisle failed while it waited for the response. The log has the place.".to_owned(),
        detail: String::new(),
        retry: false,
        after: None,
    }
}

fn broke_off() -> ProviderError {
    ProviderError {
        code: "network_error",
        title: "Response interrupted".to_owned(),
        text: "The connection closed before the response was complete.".to_owned(),
        detail: String::new(),
        retry: true,
        after: None,
    }
}
