//! Spawned sessions: making one for a call, and waiting for its answer.
//!
//! A child is a session like any other, with an actor and files of its own. While its call waits for it (or it works in
//! the background) its mode never is looser than its parent's, and what it changes is kept for its parent's undo.

use super::family::SpawnRequest;
use super::progress::{ChildLink, ChildProgress};
use crate::agent::blocking::blocking;
use crate::agent::clock::now;
use crate::agent::machine::persona;
use crate::agent::machine_io::Input;
use crate::agent::mailbox::{Control, Mailbox, Report};
use crate::agent::shared_state::Shared;
use crate::agent::tool_host::ToolHost;
use crate::domain::ConnectionName;
use crate::domain::ids::SessionId;
use crate::domain::message::CutBy;
use crate::domain::persona::Persona;
use crate::domain::session::{SessionMeta, SpawnedBy, TitleFrom};
use crate::domain::tool::Child;
use crate::protocol::SessionCommand;
use crate::tools::host::{NotDone, Spawned, Task, WhichModel};
use crate::tools::input::one_line;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{oneshot, watch};

/// Time for a stopped child to report what it has.
const ENDS_WITHIN: Duration = Duration::from_millis(2_500);

/// A place among the children, given back whatever happens.
struct Seat {
    shared: Arc<Shared>,
    parent: SessionId,
    child: Option<SessionId>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.shared.families.leave(&self.parent, self.child.as_ref());
    }
}

fn failed(text: impl Into<String>) -> NotDone {
    NotDone::Failed { text: text.into(), child: None }
}

impl ToolHost {
    /// The properties of a child for this task.
    fn child_meta(&self, task: &Task, persona: Option<&Persona>) -> Result<SessionMeta, NotDone> {
        let (shared, parent) = (&self.shared, &self.meta);
        let now = now();
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
            return Err(failed(format!("No such connection. Available: {}.", known.join(", "))));
        };
        if let Some(why) = &info.missing {
            return Err(failed(format!("Can't use connection {}: {why}.", info.name)));
        }
        if info.offered && meta.connection.as_ref() != parent.asked() {
            return Err(failed(format!("The user has not chosen connection {}.", info.name)));
        }
        let same = meta.connection.as_ref() == parent.asked();
        let own = || parent.model.clone().filter(|_| same);
        let of_persona = persona.and_then(|persona| info.known_model(&persona.model));
        meta.model = match &task.model {
            WhichModel::Named(model) => Some(model.clone()),
            WhichModel::Small => Some(info.small_model.clone()).filter(|model| !model.is_empty()).or_else(own),
            WhichModel::Session => of_persona.or_else(own),
        };
        meta.model = meta.model.or_else(|| Some(info.default_model.clone()).filter(|model| !model.is_empty()));
        Ok(meta)
    }

    /// The agent that a task is for. Claude Code's own general one is none.
    async fn persona_of(&self, task: &Task) -> Result<Option<Persona>, NotDone> {
        let Some(name) = task.agent.clone().filter(|name| name != "general-purpose") else { return Ok(None) };
        let (book, cwd) = (self.shared.setup.extensions.clone(), self.meta.cwd.clone());
        let list = blocking(move || book.read(&cwd)).await.ok_or_else(|| failed("Can't read the agents."))?;
        match list.agent(&name) {
            Some(agent) => Ok(Some(persona(agent))),
            None => {
                let known: Vec<&str> =
                    list.agents.iter().filter(|one| one.trusted).map(|one| one.slug.as_str()).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                Err(failed(format!("No agent {:?}. Available: {known}.", one_line(&name, 60))))
            }
        }
    }

    /// Spawns a session for a task.
    pub(in crate::agent) async fn raise(self, task: Task) -> Result<Spawned, NotDone> {
        if self.meta.parent.is_some() {
            return Err(failed("A spawned session spawns no others: do the work here."));
        }
        let persona = self.persona_of(&task).await?;
        let mut meta = self.child_meta(&task, persona.as_ref())?;
        let gate = self.shared.families.join(&self.meta.id).map_err(failed)?;
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
        let first = ChildProgress::of(id.clone());
        let (news, heard) = watch::channel(first);
        let link = ChildLink {
            ceiling: self.mode.stricter(self.meta.mode),
            news,
            undo: self.undo.clone(),
            company: self.company,
            persona,
        };
        let (ready, mailbox) = oneshot::channel();
        let request = SpawnRequest { meta, link: Box::new(link), prompt: task.prompt.clone(), ready };
        let sent = self.shared.spawn_requests.send(request).is_ok();
        let mailbox = if sent { mailbox.await.ok() } else { None };
        let Some(mailbox) = mailbox else { return Err(failed("The program ends.")) };
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
                let _ = mailbox.control(Control::Detached);
            });
            return Ok(Spawned { text, child });
        }
        let done = self.wait(&task, &id, &mailbox, heard).await;
        // From now on it is a session like any other.
        let _ = mailbox.control(Control::Detached);
        drop((seat, turn));
        done
    }

    /// Waits for the answer, and shows with the call how far it is.
    async fn wait(
        &self,
        task: &Task,
        id: &SessionId,
        mailbox: &Mailbox,
        mut heard: watch::Receiver<ChildProgress>,
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
            self.show(task, child, news.line().to_owned()).await;
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
                    let by = self.shared.families.cut_by(&self.meta.id);
                    return Err(stop_child(mailbox, by, heard).await);
                }
            }
        }
    }

    async fn show(&self, task: &Task, child: Child, line: String) {
        let input = Input::Child(self.run, task.call.clone(), Box::new(child), line);
        // A parent that ended shows nothing.
        let _ = self.mailbox.report(Report::Input(input)).await;
    }

    /// Waits for a child that its call does not wait for, and delivers its answer as a message.
    async fn wait_in_background(self, task: Task, id: SessionId, mut heard: watch::Receiver<ChildProgress>) {
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
        let _ = self.mailbox.report(Report::Deliver(text)).await;
    }
}

/// Stops the child with its call. What it had said comes back.
async fn stop_child(mailbox: &Mailbox, by: CutBy, mut heard: watch::Receiver<ChildProgress>) -> NotDone {
    // One that ended needs no word.
    let act = if by == CutBy::User { SessionCommand::Stop } else { SessionCommand::Cut { by } };
    let _ = mailbox.control(Control::Command(act, None));
    let ended = heard.wait_for(|news| news.has_ended());
    let _ = tokio::time::timeout(ENDS_WITHIN, ended).await;
    NotDone::Stopped(heard.borrow().said().to_owned())
}
