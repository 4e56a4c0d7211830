//! Sessions of the open workspaces as the gateway knows them: a list for whoever asks over HTTP, and what runs.
//!
//! One task for each engine hears its events as a client of its own. What sessions do in this gateway is in the list at once;
//! what other programs write is read from the files when somebody asks and the list is older than [`FRESH`]. Those who ask
//! meanwhile share that look.

use super::methods::SessionShown;
use crate::agent::{ClientInfo, Engine, Link};
use crate::domain::SessionId;
use crate::domain::session::{Activity, SessionMeta};
use crate::protocol::{Command, EngineCommand, EngineEvent, Event, SessionEvent};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};

/// Age of a list that is answered without a look at the files.
const FRESH: Duration = Duration::from_secs(2);
/// Time for the engine to list.
const LISTS: Duration = Duration::from_secs(30);
/// Questions that may wait for the task of a workspace.
const QUESTIONS: usize = 256;

/// Part of a list that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListRange {
    /// Hidden and archived sessions as well.
    pub all: bool,
    pub offset: usize,
    pub limit: usize,
}

impl ListRange {
    /// The whole list.
    pub const WHOLE: Self = Self { all: true, offset: 0, limit: usize::MAX };
}

/// Part of a list.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ListPart {
    /// Number of sessions in the whole list.
    pub total: usize,
    /// Sessions, latest first.
    pub sessions: Vec<SessionMeta>,
}

struct ListQuestion {
    range: ListRange,
    answer: oneshot::Sender<ListPart>,
}

type RunningSessions = Arc<Mutex<BTreeMap<SessionShown, Activity>>>;

/// Lists of all open workspaces.
#[derive(Default)]
pub(super) struct SessionLists {
    running: RunningSessions,
    followed: Mutex<HashMap<PathBuf, FollowedWorkspace>>,
}

/// Way to the task of a workspace.
#[derive(Clone)]
struct FollowedWorkspace {
    questions: mpsc::Sender<ListQuestion>,
    /// Something was done over HTTP that may have made a session.
    touched: Arc<AtomicBool>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SessionLists {
    /// Follows the sessions of a workspace until its engine ends.
    pub fn follow(&self, engine: &Engine, workspace: PathBuf) {
        let (questions, asked) = mpsc::channel(QUESTIONS);
        let touched = Arc::<AtomicBool>::default();
        let followed = FollowedWorkspace { questions, touched: touched.clone() };
        lock(&self.followed).insert(workspace.clone(), followed);
        // What a list of before left behind is no list for others.
        let info = ClientInfo { interactive: false, reads_on: false, ..ClientInfo::local("gateway") };
        let link = engine.connect(info);
        let follower = ListFollower { workspace, running: self.running.clone(), list: SessionList::default(), touched };
        tokio::spawn(follower.work(link, asked));
    }

    /// A part of the list of a workspace.
    ///
    /// # Errors
    /// A sentence.
    pub async fn part(&self, workspace: &Path, range: ListRange) -> Result<ListPart, String> {
        let ended = || "The engine of this workspace has ended.".to_owned();
        let followed = lock(&self.followed).get(workspace).cloned().ok_or_else(ended)?;
        let (answer, answered) = oneshot::channel();
        followed.questions.send(ListQuestion { range, answer }).await.map_err(|_| ended())?;
        let late = |_| "The engine did not list its sessions in time.".to_owned();
        tokio::time::timeout(LISTS, answered).await.map_err(late)?.map_err(|_| ended())
    }

    /// Notes that a session may have been made or changed: the next list looks at the files.
    pub fn touch(&self, workspace: &Path) {
        if let Some(followed) = lock(&self.followed).get(workspace) {
            followed.touched.store(true, Ordering::Relaxed);
        }
    }

    /// Sessions whose activity is as wanted.
    pub fn with(&self, wanted: fn(&Activity) -> bool) -> Vec<SessionShown> {
        lock(&self.running).iter().filter(|(_, activity)| wanted(activity)).map(|(shown, _)| shown.clone()).collect()
    }

    /// Nothing runs or waits for the user.
    pub fn are_idle(&self) -> bool {
        lock(&self.running).is_empty()
    }
}

/// Sessions of one workspace.
#[derive(Debug, Default)]
struct SessionList {
    sessions: HashMap<SessionId, SessionMeta>,
    /// Time of the last look at the files; `None` if something happened that a look has to tell.
    looked: Option<Instant>,
}

impl SessionList {
    fn is_fresh(&self) -> bool {
        self.looked.is_some_and(|looked| looked.elapsed() < FRESH)
    }

    fn replace(&mut self, sessions: Vec<SessionMeta>) {
        self.sessions = sessions.into_iter().map(|meta| (meta.id.clone(), meta)).collect();
        self.looked = Some(Instant::now());
    }

    /// Takes in the properties of a session. One that is not in the list may be on no disk yet: the next look tells.
    fn change(&mut self, meta: &SessionMeta) {
        match self.sessions.get_mut(&meta.id) {
            Some(known) => *known = SessionMeta { odd: known.odd.clone(), ..meta.clone() },
            None => self.looked = None,
        }
    }

    fn remove(&mut self, session: &SessionId) {
        self.sessions.remove(session);
    }

    fn part(&self, range: ListRange) -> ListPart {
        let shown = |meta: &&SessionMeta| range.all || !(meta.hidden || meta.archived);
        let mut sessions: Vec<&SessionMeta> = self.sessions.values().filter(shown).collect();
        sessions.sort_by(|a, b| (b.last_message, &b.id).cmp(&(a.last_message, &a.id)));
        let total = sessions.len();
        ListPart { total, sessions: sessions.into_iter().skip(range.offset).take(range.limit).cloned().collect() }
    }
}

/// Task of one workspace.
struct ListFollower {
    workspace: PathBuf,
    running: RunningSessions,
    list: SessionList,
    touched: Arc<AtomicBool>,
}

impl ListFollower {
    async fn work(mut self, mut link: Link, mut asked: mpsc::Receiver<ListQuestion>) {
        let mut waiting: Vec<ListQuestion> = Vec::new();
        let list = || Command::Engine(EngineCommand::List);
        let _ = link.requests.send(list()).await;
        loop {
            tokio::select! {
                biased;
                // Events first: an answer has what was told before the question.
                stamped = link.events.event() => match stamped {
                    Some(stamped) => self.hear(stamped.event),
                    None => break,
                },
                Some(question) = asked.recv() => {
                    let looks = !waiting.is_empty();
                    if self.touched.swap(false, Ordering::Relaxed) {
                        self.list.looked = None;
                    }
                    waiting.push(question);
                    if !self.list.is_fresh() && !looks && link.requests.send(list()).await.is_err() {
                        break;
                    }
                }
            }
            if self.list.is_fresh() {
                for ListQuestion { range, answer } in waiting.drain(..) {
                    // Whoever asked may be gone.
                    let _ = answer.send(self.list.part(range));
                }
            }
        }
        lock(&self.running).retain(|shown, _| shown.workspace != self.workspace);
    }

    fn hear(&mut self, event: Event) {
        match event {
            Event::Session { id, event: SessionEvent::Changed(meta) } => {
                self.note(&id, Some(&meta.activity));
                self.list.change(&meta);
            }
            Event::Session { id, event: SessionEvent::Opened(opened) } => {
                self.note(&id, Some(&opened.meta.activity));
            }
            Event::Session { id, event: SessionEvent::Reidentified { .. } } => {
                self.note(&id, None);
                self.list.remove(&id);
            }
            Event::Engine(EngineEvent::Deleted { session, .. }) => {
                self.note(&session, None);
                self.list.remove(&session);
            }
            Event::Engine(EngineEvent::SessionChanged(meta)) => self.list.change(&meta),
            Event::Engine(EngineEvent::Listed { sessions }) => self.list.replace(sessions),
            Event::Session { .. } | Event::Engine(_) => {}
        }
    }

    fn note(&self, session: &SessionId, activity: Option<&Activity>) {
        let shown = SessionShown { workspace: self.workspace.clone(), session: session.clone() };
        let mut running = lock(&self.running);
        match activity {
            Some(Activity::Idle) | None => running.remove(&shown),
            Some(activity) => running.insert(shown, activity.clone()),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::At;
    use crate::domain::permission::Mode;

    fn meta(id: &str, at: i64) -> SessionMeta {
        let id = SessionId::parse(id).unwrap();
        SessionMeta { last_message: At(at), ..SessionMeta::new(id, At(at), Mode::Ask, "/p".into()) }
    }

    fn ids(part: &ListPart) -> Vec<&str> {
        part.sessions.iter().map(|meta| meta.id.as_str()).collect()
    }

    #[test]
    fn a_part_has_the_latest_first_and_the_number_of_all() {
        let mut list = SessionList::default();
        let hidden = SessionMeta { hidden: true, ..meta("d", 9) };
        list.replace(vec![meta("a", 1), meta("b", 3), meta("c", 2), hidden]);
        for (range, total, expected) in [
            (ListRange { all: false, offset: 0, limit: 9 }, 3, vec!["b", "c", "a"]),
            (ListRange { all: false, offset: 1, limit: 1 }, 3, vec!["c"]),
            (ListRange { all: false, offset: 7, limit: 1 }, 3, vec![]),
            (ListRange::WHOLE, 4, vec!["d", "b", "c", "a"]),
        ] {
            let part = list.part(range);
            assert_eq!((part.total, ids(&part)), (total, expected), "{range:?}");
        }
    }

    #[test]
    fn what_happens_here_is_in_the_list_and_a_new_session_asks_for_a_look() {
        let mut list = SessionList::default();
        assert!(!list.is_fresh());
        list.replace(vec![meta("a", 1), meta("b", 2)]);
        list.change(&SessionMeta { title: "Mine".into(), ..meta("a", 3) });
        list.remove(&SessionId::parse("b").unwrap());
        assert!(list.is_fresh());
        assert_eq!(list.part(ListRange::WHOLE).sessions[0].title, "Mine");
        assert_eq!(ids(&list.part(ListRange::WHOLE)), ["a"]);
        list.change(&meta("new", 4));
        assert!(!list.is_fresh());
        assert_eq!(ids(&list.part(ListRange::WHOLE)), ["a"], "on no disk yet, for all that is known");
    }
}
