//! Spawned sessions: what the lane of one tells whoever waits for it, the bounds, and the waiting.
//!
//! A child is a session like any other, with a lane and files of its own. While its call waits for it (or it works in
//! the background) its mode never is looser than its parent's, and what it changes is kept for its parent's undo.

use super::desk::Shared;
use super::engine::Engine;
use super::lane::ToLane;
use super::step::{Input, RunNo};
use super::undo::Keeping;
use crate::domain::contract::{Act, TurnEnd};
use crate::domain::ids::{MessageId, SessionId};
use crate::domain::message::{Body, CutBy, InfoKind};
use crate::domain::permission::Mode;
use crate::domain::session::{Activity, SessionMeta, SpawnedBy, TitleFrom};
use crate::domain::tool::Child;
use crate::domain::{ConnectionName, Event};
use crate::tools::host::{NotDone, Spawned, Task, WhichModel};
use std::collections::HashSet;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};

/// Number of a session's children that work at a time; others wait for their turn.
const AT_ONCE: usize = 4;
/// Number of children that may work or wait.
const MOST: usize = 16;
/// Time for a stopped child to report what it has.
const ENDS_WITHIN: Duration = Duration::from_millis(2_500);
/// Its last answer is cut off here, in bytes; what is too long for the model besides goes to a file.
const MOST_ANSWER: usize = 400_000;

/// Prompt of a child, after what every session gets.
pub(super) const TOLD: &str = "\n\n# You were spawned\nAnother agent spawned this session for one task: the first message. \
     Nobody reads along, so do not ask what you can find out yourself. When the task is done, your last message goes back \
     to that agent, and nothing else of this session does: make it complete and short, with paths, line numbers and what \
     you are not sure of. Do not submit a plan, whatever is said above about plans: describe what you would do instead.";

/// The children of one session.
#[derive(Debug)]
pub(super) struct Family {
    gate: Arc<Semaphore>,
    members: Vec<(SessionId, mpsc::Sender<ToLane>)>,
    /// Number including those that wait for their turn.
    count: usize,
    /// What ended the parent's turn the last time.
    cut_by: Option<CutBy>,
}

impl Default for Family {
    fn default() -> Self {
        Self { gate: Arc::new(Semaphore::new(AT_ONCE)), members: Vec::new(), count: 0, cut_by: None }
    }
}

/// A session that was spawned, for the desk to start a lane for.
pub(super) struct Birth {
    pub(super) meta: SessionMeta,
    pub(super) raised: Box<Raised>,
    pub(super) prompt: String,
    /// Told when the lane is there.
    pub(super) ready: oneshot::Sender<mpsc::Sender<ToLane>>,
}

/// Link from a child's session actor to whoever waits for it.
#[derive(Debug)]
pub(super) struct Raised {
    /// No mode is looser than this one.
    pub(super) ceiling: Mode,
    /// Channel of its progress.
    pub(super) news: watch::Sender<News>,
    /// Store for undo of its calls' changes: with the parent's turn.
    pub(super) undo: Keeping,
}

/// Progress of a child.
#[derive(Clone, Debug, Default)]
pub(super) struct News {
    /// Its id as it is now.
    pub(super) session: Option<SessionId>,
    activity: Activity,
    /// Their rows: ids of calls may repeat.
    calls: HashSet<MessageId>,
    tokens: u64,
    /// Last action, on one line.
    line: String,
    /// The last text that it said, and whether that is an answer.
    said: Arc<str>,
    failure: Option<String>,
    /// What ended its turn early, where the user did not.
    cut: Option<String>,
    ended: Option<TurnEnd>,
}

impl News {
    /// Takes what the lane tells the clients. Whether it is worth telling.
    pub(super) fn take(&mut self, event: &Event) -> bool {
        match event {
            Event::Changed(meta) => {
                let before = (self.session.clone(), self.activity.clone(), self.tokens);
                self.session = Some(meta.id.clone());
                self.activity = meta.activity.clone();
                self.tokens = meta.usage.context_tokens.saturating_add(meta.usage.output_tokens);
                before != (self.session.clone(), self.activity.clone(), self.tokens)
            }
            Event::Row(row) => {
                match &row.body {
                    Body::Tool(call) => {
                        self.calls.insert(row.id.clone());
                        self.line = crate::tools::input::one_line(&format!("{} {}", call.name, call.subject), 200);
                    }
                    Body::Assistant(said) if !said.text.trim().is_empty() => {
                        let last = said.text.trim().lines().next_back().unwrap_or_default();
                        self.line = crate::tools::input::one_line(last, 200);
                        self.said = said.text.trim().into();
                    }
                    Body::Error(failure) => self.failure = Some(format!("{}: {}", failure.title, failure.text)),
                    Body::Info(info) if matches!(info.kind, InfoKind::Restarted | InfoKind::Ended) => {
                        self.cut = Some(info.text.clone());
                    }
                    _ => return false,
                }
                true
            }
            Event::TurnStarted { .. } => {
                (self.ended, self.failure, self.cut) = (None, None, None);
                true
            }
            Event::TurnEnded { end } => {
                self.ended = Some(*end);
                true
            }
            _ => false,
        }
    }

    /// Child as shown with the call.
    pub(super) fn child(&self, session: &SessionId, background: bool) -> Child {
        let waits = match &self.activity {
            Activity::NeedsYou(what) => Some(what.clone()),
            _ => None,
        };
        Child {
            session: self.session.clone().unwrap_or_else(|| session.clone()),
            calls: self.calls.len() as u64,
            tokens: self.tokens,
            waits,
            background,
        }
    }

    /// Outcome, if it has ended: its answer, or why there is none. A submitted plan still waits.
    fn outcome(&self) -> Option<Result<String, String>> {
        let said = self.said.get(..self.said.floor_char_boundary(MOST_ANSWER)).unwrap_or_default().to_owned();
        let so_far = if said.is_empty() { String::new() } else { format!(" The last that it said: {said}") };
        match self.ended? {
            TurnEnd::Plan => None,
            TurnEnd::Done if said.is_empty() => Some(Err("It ended without a word.".to_owned())),
            TurnEnd::Done => Some(Ok(said)),
            TurnEnd::Stopped => {
                let why = self.cut.as_deref().unwrap_or("The user stopped it.");
                Some(Err(format!("{why}{so_far}")))
            }
            TurnEnd::Failed => {
                let why = self.failure.clone().unwrap_or_else(|| "its request failed".to_owned());
                Some(Err(format!("It failed: {why}{so_far}")))
            }
            TurnEnd::Limit => Some(Err(format!("It reached the limit of its turn.{so_far}"))),
        }
    }
}

impl Shared {
    /// The children of this session follow its mode down.
    pub(super) async fn tell_children(&self, parent: &SessionId, mode: Mode) {
        let members: Vec<mpsc::Sender<ToLane>> = {
            let families = self.families.lock().unwrap_or_else(PoisonError::into_inner);
            families
                .get(parent)
                .map_or_else(Vec::new, |family| family.members.iter().map(|(_, to)| to.clone()).collect())
        };
        for child in members {
            // One that ended runs nothing.
            let _ = child.send(ToLane::Ceiling(mode)).await;
        }
    }

    /// Mode of a live session.
    pub(super) fn mode_of(&self, session: &SessionId) -> Option<Mode> {
        self.metas.lock().unwrap_or_else(PoisonError::into_inner).get(session).map(|meta| meta.mode)
    }

    /// A session's turn was ended early: its children end for the same reason.
    pub(super) fn cut_children(&self, parent: &SessionId, by: CutBy) {
        let mut families = self.families.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(family) = families.get_mut(parent) {
            family.cut_by = Some(by);
        }
    }

    /// What ended the turn of the parent; the user, where nobody says.
    fn cut_by(&self, parent: &SessionId) -> CutBy {
        let families = self.families.lock().unwrap_or_else(PoisonError::into_inner);
        families.get(parent).and_then(|family| family.cut_by).unwrap_or(CutBy::User)
    }

    fn join_family(&self, parent: &SessionId) -> Result<Arc<Semaphore>, String> {
        let mut families = self.families.lock().unwrap_or_else(PoisonError::into_inner);
        let family = families.entry(parent.clone()).or_default();
        if family.count >= MOST {
            return Err(format!("{MOST} spawned sessions work or wait already. Wait for their answers first."));
        }
        family.count += 1;
        Ok(family.gate.clone())
    }

    fn leave_family(&self, parent: &SessionId, child: Option<&SessionId>) {
        let mut families = self.families.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(family) = families.get_mut(parent) else { return };
        family.count = family.count.saturating_sub(1);
        family.members.retain(|(id, _)| Some(id) != child);
        if family.count == 0 {
            families.remove(parent);
        }
    }

    /// A child is there from now on.
    pub(super) fn raise(&self, parent: &SessionId, child: &SessionId, to: mpsc::Sender<ToLane>) {
        let mut families = self.families.lock().unwrap_or_else(PoisonError::into_inner);
        families.entry(parent.clone()).or_default().members.push((child.clone(), to));
    }
}

/// A place among the children, given back whatever happens.
struct Seat {
    shared: Arc<Shared>,
    parent: SessionId,
    child: Option<SessionId>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.shared.leave_family(&self.parent, self.child.as_ref());
    }
}

fn failed(text: impl Into<String>) -> NotDone {
    NotDone::Failed { text: text.into(), child: None }
}

impl Engine {
    /// The properties of a child for this task.
    fn child_meta(&self, task: &Task) -> Result<SessionMeta, NotDone> {
        let (shared, parent) = (&self.shared, &self.meta);
        let now = super::lane::now();
        let id = shared.new_id(now);
        // What the call was decided in counts, and what holds now where that is stricter.
        let most = self.mode.stricter(shared.mode_of(&parent.id).unwrap_or(parent.mode));
        let mode = task.mode.map_or(most, |wanted| wanted.stricter(most));
        let mut meta = SessionMeta::new(id, now, mode, parent.cwd.clone());
        meta.title = task.title.clone();
        meta.title_from = TitleFrom::Generated;
        meta.hidden = true;
        meta.parent = Some(SpawnedBy { session: parent.id.clone(), call: task.call.clone() });
        meta.thinking = parent.thinking;
        meta.worktree = None;
        meta.connection = match &task.connection {
            Some(name) => Some(ConnectionName::new(name)),
            None => parent.asked().cloned(),
        };
        let connections = &shared.setup.connections;
        let Some(info) = meta.connection.as_ref().and_then(|name| connections.info(name)) else {
            let known: Vec<String> = connections.infos().into_iter().map(|info| info.name.to_string()).collect();
            return Err(failed(format!("There is no such connection. There are: {}.", known.join(", "))));
        };
        if let Some(why) = &info.missing {
            return Err(failed(format!("The connection {} cannot be used: {why}.", info.name)));
        }
        if info.offered && meta.connection.as_ref() != parent.asked() {
            return Err(failed(format!("The user never chose the connection {}.", info.name)));
        }
        let same = meta.connection.as_ref() == parent.asked();
        let own = || parent.model.clone().filter(|_| same);
        meta.model = match &task.model {
            WhichModel::Named(model) => Some(model.clone()),
            WhichModel::Small => Some(info.small_model.clone()).filter(|model| !model.is_empty()).or_else(own),
            WhichModel::Session => own(),
        };
        meta.model = meta.model.or_else(|| Some(info.default_model.clone()).filter(|model| !model.is_empty()));
        Ok(meta)
    }

    /// Spawns a session for a task.
    pub(super) async fn raise(self, task: Task) -> Result<Spawned, NotDone> {
        if self.meta.parent.is_some() {
            return Err(failed("A spawned session spawns no others: do the work here."));
        }
        let mut meta = self.child_meta(&task)?;
        let gate = self.shared.join_family(&self.meta.id).map_err(failed)?;
        let mut seat = Seat { shared: self.shared.clone(), parent: self.meta.id.clone(), child: None };
        let turn = tokio::select! {
            turn = gate.acquire_owned() => turn,
            () = task.stop.cancelled() => return Err(NotDone::Stopped(String::new())),
        };
        // A place that was free at once was not waited for.
        if task.stop.is_cancelled() {
            return Err(NotDone::Stopped(String::new()));
        }
        // The parent may have become stricter while it waited.
        meta.mode = meta.mode.stricter(self.shared.mode_of(&self.meta.id).unwrap_or(self.meta.mode));
        let id = meta.id.clone();
        seat.child = Some(id.clone());
        let first = News { session: Some(id.clone()), ..News::default() };
        let (news, heard) = watch::channel(first);
        let raised = Raised { ceiling: self.mode.stricter(self.meta.mode), news, undo: self.undo.clone() };
        let (ready, lane) = oneshot::channel();
        let birth = Birth { meta, raised: Box::new(raised), prompt: task.prompt.clone(), ready };
        let sent = self.shared.births.send(birth).is_ok();
        let lane = if sent { lane.await.ok() } else { None };
        let Some(lane) = lane else { return Err(failed("The program ends.")) };
        if task.background {
            let text = format!(
                "The session {id} works on it in the background. Its answer comes as a message when it is done; go on \
                 with something else, or end your turn."
            );
            let child = heard.borrow().child(&id, true);
            let stays = (seat, turn);
            tokio::spawn(async move {
                let _stays = stays;
                self.wait_in_background(task, id, heard).await;
                let _ = lane.send(ToLane::Grown).await;
            });
            return Ok(Spawned { text, child });
        }
        let done = self.wait(&task, &id, &lane, heard).await;
        // From now on it is a session like any other.
        let _ = lane.send(ToLane::Grown).await;
        drop((seat, turn));
        done
    }

    /// Waits for the answer, and shows with the call how far it is.
    async fn wait(
        &self,
        task: &Task,
        id: &SessionId,
        lane: &mpsc::Sender<ToLane>,
        mut heard: watch::Receiver<News>,
    ) -> Result<Spawned, NotDone> {
        loop {
            let news = heard.borrow_and_update().clone();
            let child = news.child(id, false);
            if let Some(outcome) = news.outcome() {
                let child = Child { waits: None, ..child };
                return match outcome {
                    Ok(text) => Ok(Spawned { text, child }),
                    Err(text) => Err(NotDone::Failed { text, child: Some(child) }),
                };
            }
            self.show(task, child, news.line.clone()).await;
            tokio::select! {
                changed = heard.changed() => {
                    if changed.is_err() {
                        let text = format!("The session {id} ended inside lisle.");
                        return Err(NotDone::Failed { text, child: Some(news.child(id, false)) });
                    }
                    // Not more often than the screen would show it; an end is looked at at once all the same.
                    if heard.borrow().outcome().is_none() {
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                }
                () = task.stop.cancelled() => {
                    let by = self.shared.cut_by(&self.meta.id);
                    return Err(stop_child(lane, by, heard).await);
                }
            }
        }
    }

    async fn show(&self, task: &Task, child: Child, line: String) {
        let input = Input::Child(self.run, task.call.clone(), Box::new(child), line);
        // A parent that ended shows nothing.
        let _ = self.lane.send(ToLane::Input(input)).await;
    }

    /// Waits for a child that its call does not wait for, and delivers its answer as a message.
    async fn wait_in_background(self, task: Task, id: SessionId, mut heard: watch::Receiver<News>) {
        let done = heard.wait_for(|news| news.outcome().is_some()).await.map(|news| news.outcome());
        let text = match done {
            Ok(Some(Ok(text))) => {
                format!("The spawned session \"{}\" ({id}) is done. Its answer:\n\n{text}", task.title)
            }
            Ok(Some(Err(why))) => {
                format!("The spawned session \"{}\" ({id}) ended without an answer. {why}", task.title)
            }
            // The program ends.
            _ => return,
        };
        let _ = self.lane.send(ToLane::Deliver(text)).await;
    }
}

/// Stops the child with its call. What it had said comes back.
async fn stop_child(lane: &mpsc::Sender<ToLane>, by: CutBy, mut heard: watch::Receiver<News>) -> NotDone {
    // One that ended needs no word.
    let act = if by == CutBy::User { Act::Stop } else { Act::Cut { by } };
    let _ = lane.send(ToLane::Act(act)).await;
    let ended = heard.wait_for(|news| news.ended.is_some());
    let _ = tokio::time::timeout(ENDS_WITHIN, ended).await;
    NotDone::Stopped(heard.borrow().said.to_string())
}

/// The run that a call belongs to, and the mode that it was decided in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decided {
    pub(super) run: RunNo,
    pub(super) mode: Mode,
}
