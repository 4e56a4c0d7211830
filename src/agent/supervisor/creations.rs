//! New sessions with a key: a client that lost the answer asks again with the same key, and gets the session that was made.
//!
//! Keys of this run are known here; those of earlier runs stand in the headers of their sessions.

use super::Supervisor;
use crate::agent::asker::Asker;
use crate::agent::clock::now;
use crate::agent::event_outbox::EngineOutbox;
use crate::agent::mailbox::Control;
use crate::domain::session::TitleFrom;
use crate::domain::{SessionId, SessionMeta};
use crate::protocol::{ErrorCode, NewSession, SessionCommand};
use std::collections::{HashMap, VecDeque};

/// Keys that are remembered. Of older ones the sessions' headers tell.
const REMEMBERED: usize = 10_000;

/// State of one key.
enum KeyState {
    /// The session is being looked up or made: these clients wait for it.
    Pending(Vec<EngineOutbox>),
    Made(SessionId),
}

/// Next step for a creation.
#[derive(Debug, PartialEq, Eq)]
enum NextStep {
    /// Look in the headers, then make it.
    LookUp,
    /// It was made before.
    Open(SessionId),
    /// It is under way; the client is answered then.
    Wait,
}

/// News of a creation that took a while.
pub(super) enum CreationNews {
    /// The headers were looked at for the session of a key.
    LookedUp { new: NewSession, found: Option<SessionId>, out: EngineOutbox },
    /// A session is ready for its actor.
    Ready(Box<SessionMeta>, EngineOutbox),
    /// It was not made; whoever asked first was told why.
    Failed { key: Option<String> },
}

/// Keys of creations.
#[derive(Default)]
pub(super) struct Creations {
    keys: HashMap<String, KeyState>,
    /// Keys that were made, oldest first.
    made: VecDeque<String>,
}

/// Reason why a key is none.
fn fault(key: &str) -> Option<&'static str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let good = (8..=64).contains(&key.len()) && key.chars().all(fits);
    (!good).then_some("The key of a new session has 8 to 64 letters, digits, - and _.")
}

impl Creations {
    /// Takes a creation with a key. `is_there`: the session that was made with it still exists.
    fn ask(&mut self, key: &str, out: &EngineOutbox, is_there: impl Fn(&SessionId) -> bool) -> NextStep {
        match self.keys.get_mut(key) {
            Some(KeyState::Pending(waiting)) => {
                waiting.push(out.clone());
                NextStep::Wait
            }
            Some(KeyState::Made(session)) if is_there(session) => NextStep::Open(session.clone()),
            Some(KeyState::Made(_)) | None => {
                self.keys.insert(key.to_owned(), KeyState::Pending(Vec::new()));
                NextStep::LookUp
            }
        }
    }

    /// The session of a key is there. Returns who waited for it.
    fn made(&mut self, key: &str, session: SessionId) -> Vec<EngineOutbox> {
        let before = self.keys.insert(key.to_owned(), KeyState::Made(session));
        self.made.push_back(key.to_owned());
        while self.made.len() > REMEMBERED {
            let oldest = self.made.pop_front().unwrap_or_default();
            // One that is pending again is made anew.
            if matches!(self.keys.get(&oldest), Some(KeyState::Made(_))) {
                self.keys.remove(&oldest);
            }
        }
        waiting(before)
    }

    /// The session of a key was not made. Returns who waited for it.
    fn failed(&mut self, key: &str) -> Vec<EngineOutbox> {
        waiting(self.keys.remove(key))
    }
}

fn waiting(state: Option<KeyState>) -> Vec<EngineOutbox> {
    match state {
        Some(KeyState::Pending(waiting)) => waiting,
        Some(KeyState::Made(_)) | None => Vec::new(),
    }
}

impl Supervisor {
    /// Makes a session, or opens the one that was made with the same key.
    pub(super) fn create(&mut self, new: NewSession, out: EngineOutbox) {
        let Some(key) = new.key.clone() else { return self.make(new, out) };
        if let (Some(why), Some(asker)) = (fault(&key), out.asker()) {
            return asker.fail(ErrorCode::Failed, why);
        }
        let sessions = &self.shared.sessions;
        let store = &self.shared.setup.store;
        let is_there = |session: &SessionId| {
            let session = sessions.meant(session);
            let other = sessions.meta(&session).is_some_and(|meta| meta.names.key.as_deref() != Some(key.as_str()));
            !other && (sessions.mailbox(&session).is_some() || store.session_dir(&session).is_dir())
        };
        match self.creations.ask(&key, &out, is_there) {
            NextStep::Wait => {}
            NextStep::Open(session) => self.open_made(&session, &out),
            NextStep::LookUp => {
                let news = self.creation_news.clone();
                self.beside(out, |ops, _| async move {
                    let found = ops.made_with(key).await;
                    // Without a supervisor there is nothing to make either.
                    let _ = news.send(CreationNews::LookedUp { new, found, out: ops.out });
                });
            }
        }
    }

    /// Makes a session.
    fn make(&mut self, new: NewSession, out: EngineOutbox) {
        let alone = new.worktree;
        let meta = self.new_meta(new);
        if !alone {
            return self.begin(meta, &out);
        }
        // A checkout of a large repository takes its time.
        let (news, key) = (self.creation_news.clone(), meta.names.key.clone());
        self.beside(out, |ops, _| async move {
            let made = match ops.with_worktree(meta).await {
                Some(meta) => CreationNews::Ready(Box::new(meta), ops.out),
                None => CreationNews::Failed { key },
            };
            // Without a supervisor there is no session either.
            let _ = news.send(made);
        });
    }

    pub(super) fn hear_of_creation(&mut self, news: CreationNews) {
        match news {
            CreationNews::LookedUp { new, found: None, out } => self.make(new, out),
            CreationNews::LookedUp { new, found: Some(session), out } => {
                self.open_made(&session, &out);
                let waiting = self.creations.made(&new.key.unwrap_or_default(), session.clone());
                waiting.iter().for_each(|out| self.open_made(&session, out));
            }
            CreationNews::Ready(meta, out) => self.begin(*meta, &out),
            CreationNews::Failed { key } => {
                let waiting = key.map(|key| self.creations.failed(&key)).unwrap_or_default();
                for asker in waiting.iter().filter_map(|out| out.asker().as_ref()) {
                    asker.fail(ErrorCode::Failed, "The session was not made.");
                }
            }
        }
    }

    fn begin(&mut self, meta: SessionMeta, out: &EngineOutbox) {
        let (id, key) = (meta.id.clone(), meta.names.key.clone());
        let mailbox = self.start(id.clone(), Some(meta));
        // A fresh actor takes what comes.
        let _ = mailbox.control(Control::Command(SessionCommand::Open { rows: 0 }, out.asker().clone()));
        let waiting = key.map(|key| self.creations.made(&key, id.clone())).unwrap_or_default();
        waiting.iter().for_each(|out| self.open_made(&id, out));
    }

    /// Answers a creation with the session that is there.
    fn open_made(&mut self, session: &SessionId, out: &EngineOutbox) {
        let asker: Option<Asker> = out.asker().clone();
        self.to(session, Control::Command(SessionCommand::Open { rows: 0 }, asker));
    }

    /// A session as it is wanted. It has its id though it is not on disk yet.
    fn new_meta(&self, new: NewSession) -> SessionMeta {
        let now = now();
        let id = self.shared.new_id(now);
        let settings = &self.shared.setup.settings;
        let mode = new.mode.unwrap_or(settings.mode).stricter(self.shared.loosest());
        let mut meta = SessionMeta::new(id, now, mode, new.cwd.unwrap_or_else(|| settings.cwd.clone()));
        let connections = &self.shared.setup.connections;
        meta.connection = new.connection.or_else(|| connections.preferred().map(|info| info.name));
        meta.thinking = new.thinking.unwrap_or_default();
        meta.labels = new.labels;
        (meta.names.alias, meta.names.key) = (new.alias, new.key);
        if let Some(title) = new.title.filter(|title| !title.trim().is_empty()) {
            (meta.title, meta.title_from) = (title, TitleFrom::User);
        }
        meta.model = new.model.or_else(|| {
            let info = meta.asked().and_then(|name| connections.info(name))?;
            Some(info.default_model).filter(|model| !model.is_empty())
        });
        meta
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::hub::Hub;

    #[test]
    fn a_key_makes_one_session() {
        let (hub, _news) = Hub::new();
        let out = EngineOutbox::new(hub);
        let (one, key) = (SessionId::parse("one").unwrap(), "key-00001");
        let mut creations = Creations::default();
        assert_eq!(creations.ask(key, &out, |_| true), NextStep::LookUp);
        assert_eq!(creations.ask(key, &out, |_| true), NextStep::Wait);
        assert_eq!(creations.ask("key-00002", &out, |_| true), NextStep::LookUp);
        assert_eq!(creations.made(key, one.clone()).len(), 1);
        assert_eq!(creations.ask(key, &out, |_| true), NextStep::Open(one));
        assert_eq!(creations.ask(key, &out, |_| false), NextStep::LookUp, "it was deleted");
        assert_eq!(creations.ask(key, &out, |_| true), NextStep::Wait);
        assert_eq!(creations.failed(key).len(), 1);
        assert_eq!(creations.ask(key, &out, |_| true), NextStep::LookUp);
    }

    #[test]
    fn few_keys_are_remembered() {
        let mut creations = Creations::default();
        for n in 0..REMEMBERED + 10 {
            creations.made(&format!("key-{n:06}"), SessionId::numbered(1));
        }
        assert_eq!((creations.keys.len(), creations.made.len()), (REMEMBERED, REMEMBERED));
        assert!(!creations.keys.contains_key("key-000009") && creations.keys.contains_key("key-000010"));
    }
}
