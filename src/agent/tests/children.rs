//! Sessions that calls spawn, and titles and drafts beside the turns.

use super::*;
use crate::domain::request::{Ask, Request, UserAnswer};
use crate::domain::session::{Activity, TitleFrom};
use crate::domain::tool::{ToolCall, ToolStatus};
use crate::protocol::{Command, EngineCommand, EngineEvent, Enhanced, Event, SessionCommand, SessionEvent};

impl Engine {
    /// A new session in this mode, told this.
    async fn told(&mut self, mode: Mode, text: &str) -> SessionId {
        self.send(Command::Engine(EngineCommand::Create(NewSession { mode: Some(mode), ..NewSession::default() })))
            .await;
        let id = self.opened().await.meta.id;
        self.act(&id, SessionCommand::send(text)).await;
        id
    }

    /// The session of the event that was looked at last.
    fn from(&self) -> SessionId {
        self.seen[self.read - 1].0.clone().unwrap()
    }

    /// The next request to the user, and the session that it is of.
    async fn asked_by(&mut self) -> (SessionId, Request) {
        let request = self.asked().await;
        (self.from(), request)
    }

    async fn ended_in(&mut self, session: &SessionId) -> TurnEnd {
        loop {
            let end = self.ended().await;
            if self.from() == *session {
                return end;
            }
        }
    }

    /// The calls of a session as its file has them.
    fn calls(&self, session: &SessionId) -> Vec<ToolCall> {
        let rows = self.store.read(session, 100).unwrap().rows;
        rows.iter().filter_map(Message::tool).cloned().collect()
    }

    fn answer_of(&self, session: &SessionId) -> String {
        let rows = self.store.read(session, 100).unwrap().rows;
        let said = rows.iter().rev().find_map(|row| match &row.body {
            Body::Assistant(said) => Some(said.text.clone()),
            _ => None,
        });
        said.unwrap_or_default()
    }
}

#[tokio::test]
async fn a_spawned_session_does_its_task_and_its_last_word_is_the_result() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    std::fs::write(home.path().join("project/a.txt"), "one\ntwo\n").unwrap();
    let parent = engine.told(Mode::Ask, "delegate read a.txt | \"list then read a.txt\"").await;
    assert_eq!(engine.ended_in(&parent).await, TurnEnd::Done);
    let calls = engine.calls(&parent);
    assert_eq!(calls.len(), 2);
    let mut seen = Vec::new();
    for (call, made) in calls.iter().zip([1, 2]) {
        assert_eq!((call.name.as_str(), call.status), ("spawn", ToolStatus::Completed), "{call:?}");
        let child = call.figures.child.clone().unwrap();
        assert_eq!((child.calls, child.waits, child.background), (made, None, false));
        assert!(child.tokens > 0);
        let meta = engine.store.read(&child.session, 1).unwrap().meta;
        assert!(meta.hidden && !meta.unread);
        let by = meta.parent.unwrap();
        assert_eq!((by.session, by.call), (parent.clone(), call.id.clone()));
        assert_eq!(call.result.as_deref(), Some(engine.answer_of(&child.session).trim()));
        seen.push(child.session);
    }
    assert_ne!(seen[0], seen[1]);
    assert!(engine.answer_of(&parent).contains("finished: **Done.**"));
    // Nobody has its files any more, and it is a session that can be opened and talked to.
    engine.act(&seen[0], SessionCommand::send("list")).await;
    assert_eq!(engine.ended_in(&seen[0]).await, TurnEnd::Done);
    engine.end().await;
}

#[tokio::test]
async fn what_a_child_waits_for_is_seen_at_its_parent_and_answered_in_the_child() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let parent = engine.told(Mode::Ask, "delegate write x.txt: hi").await;
    let (child, request) = engine.asked_by().await;
    assert_ne!(child, parent);
    assert!(matches!(request.ask, Ask::Approval(_)));
    let seen = engine.changed(|meta| matches!(&meta.activity, Activity::NeedsYou(_)) && meta.parent.is_none()).await;
    assert_eq!(seen.id, parent);
    assert!(matches!(seen.activity, Activity::NeedsYou(what) if what.contains("approve: write x.txt")));
    engine.act(&child, SessionCommand::Answer { request: request.id, answer: UserAnswer::Once, shown: None }).await;
    assert_eq!(engine.ended_in(&parent).await, TurnEnd::Done);
    assert_eq!(std::fs::read_to_string(home.path().join("project/x.txt")).unwrap().trim_end(), "hi");
    engine.end().await;
}

#[tokio::test]
async fn a_child_follows_its_parent_down_at_once_and_never_up() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let parent = engine.told(Mode::Ask, "delegate write x.txt: hi").await;
    let (child, request) = engine.asked_by().await;
    engine.act(&child, SessionCommand::Mode { mode: Mode::Execute, drop_plan: false }).await;
    engine.notice("Limited to").await;
    engine.act(&parent, SessionCommand::Mode { mode: Mode::Execute, drop_plan: false }).await;
    engine.changed(|meta| meta.id == parent && meta.mode == Mode::Execute).await;
    engine.act(&parent, SessionCommand::Mode { mode: Mode::Explore, drop_plan: false }).await;
    engine.changed(|meta| meta.id == child && meta.mode == Mode::Explore).await;
    engine
        .until(|event| {
            matches!(event, Event::Session { event: SessionEvent::Settled { request: r, .. }, .. } if *r == request.id)
                .then_some(())
        })
        .await;
    assert_eq!(engine.ended_in(&parent).await, TurnEnd::Done);
    assert!(!home.path().join("project/x.txt").exists());
    let call = engine.calls(&child).remove(0);
    assert!(call.decision.is_some_and(|decision| !decision.allowed && decision.mode == Mode::Explore));
    engine.end().await;
}

#[tokio::test]
async fn stopping_the_parent_stops_the_child() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let parent = engine.told(Mode::Ask, "delegate write x.txt: hi").await;
    let (child, _) = engine.asked_by().await;
    engine.act(&parent, SessionCommand::Stop).await;
    let mut ended = [engine.ended().await, engine.ended().await];
    ended.sort_by_key(|end| *end != TurnEnd::Stopped);
    assert_eq!(ended, [TurnEnd::Stopped, TurnEnd::Stopped]);
    let call = engine.calls(&parent).remove(0);
    assert!(call.result.unwrap().starts_with("interrupted"));
    assert_eq!(call.figures.child.unwrap().session, child, "the way to it stays");
    engine.end().await;
}

#[tokio::test]
async fn a_child_says_what_ended_its_parents_turn() {
    use crate::domain::message::CutBy;
    for (act, says) in [
        (SessionCommand::Stop, "You stopped the turn."),
        (SessionCommand::Cut { by: CutBy::TimeLimit }, "Timeout: the turn was stopped (--timeout)."),
        (SessionCommand::Cut { by: CutBy::Signal }, "lisle was stopped by a signal during this turn."),
    ] {
        let home = tempfile::tempdir().unwrap();
        let mut engine = Engine::new(home.path());
        let parent = engine.told(Mode::Ask, "delegate write x.txt: hi").await;
        let (child, _) = engine.asked_by().await;
        engine.act(&parent, act).await;
        engine.ended().await;
        engine.ended().await;
        for session in [&parent, &child] {
            let rows = engine.open(session).await.rows;
            let mut infos = rows.iter().filter_map(|row| match &row.body {
                Body::Info(info) => Some(info.text.as_str()),
                _ => None,
            });
            assert_eq!(infos.next_back(), Some(says), "{session}: {rows:?}");
        }
        engine.end().await;
    }
}

#[tokio::test]
async fn a_child_has_no_children_and_its_changes_are_undone_with_the_parents_turn() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    std::fs::write(home.path().join("project/a.txt"), "one\n").unwrap();
    let parent = engine.told(Mode::Execute, "delegate \"replace one with two in a.txt then delegate list\"").await;
    assert_eq!(engine.ended_in(&parent).await, TurnEnd::Done);
    assert_eq!(std::fs::read_to_string(home.path().join("project/a.txt")).unwrap(), "two\n");
    let child = engine.calls(&parent).remove(0).figures.child.unwrap().session;
    assert!(engine.answer_of(&child).contains("no `spawn` tool here"));
    let aim = crate::domain::undo::UndoAim::Last;
    engine.send(Command::Session { id: parent.clone(), command: SessionCommand::Undo { aim, also: vec![] } }).await;
    engine
        .until(|event| match event {
            Event::Session { event: SessionEvent::Row(row), .. } => {
                matches!(&row.body, Body::Info(info) if info.kind == crate::domain::message::InfoKind::Restored)
                    .then_some(())
            }
            _ => None,
        })
        .await;
    assert_eq!(std::fs::read_to_string(home.path().join("project/a.txt")).unwrap(), "one\n");
    engine.end().await;
}

#[tokio::test]
async fn the_answer_of_a_child_in_the_background_comes_as_a_message() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let parent = engine.told(Mode::Ask, "delegate write x.txt: hi &").await;
    assert_eq!(engine.ended_in(&parent).await, TurnEnd::Done);
    let call = engine.calls(&parent).remove(0);
    let child = call.figures.child.unwrap();
    assert!(child.background && call.result.unwrap().contains("in the background"));
    let opened = engine.open(&child.session).await;
    let request = opened.requests.first().cloned();
    let request = match request {
        Some(request) => request,
        None => engine.asked().await,
    };
    engine
        .act(&child.session, SessionCommand::Answer { request: request.id, answer: UserAnswer::No(None), shown: None })
        .await;
    let text = engine
        .until(|event| match event {
            Event::Session { event: SessionEvent::Row(row), .. } => match &row.body {
                Body::User(said) if said.text.contains("is done. Its answer:") => Some(said.text.clone()),
                _ => None,
            },
            _ => None,
        })
        .await;
    assert_eq!(engine.from(), parent);
    assert!(text.contains("not run"), "{text}");
    engine.end().await;
}

#[tokio::test]
async fn deleting_a_session_deletes_what_it_spawned() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let parent = engine.told(Mode::Ask, "delegate list").await;
    engine.ended_in(&parent).await;
    let child = engine.calls(&parent).remove(0).figures.child.unwrap().session;
    engine.send(Command::Engine(EngineCommand::Delete { sessions: vec![parent.clone()], now: false })).await;
    let gone = [parent, child];
    for _ in 0..2 {
        let session = engine
            .until(|event| {
                if let Event::Engine(EngineEvent::Deleted { session, .. }) = event {
                    Some(session.clone())
                } else {
                    None
                }
            })
            .await;
        assert!(gone.contains(&session));
    }
    assert!(engine.store.list().sessions.is_empty());
    engine.end().await;
}

#[tokio::test]
async fn a_title_is_made_when_the_user_wants_one_and_a_draft_is_rewritten() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    std::fs::create_dir_all(home.path().join("project/src")).unwrap();
    std::fs::write(home.path().join("project/src/login.rs"), "fn keep_query() {}\n").unwrap();
    let id = engine.told(Mode::Ask, "list then read src/login.rs then list src").await;
    engine.ended_in(&id).await;
    engine.act(&id, SessionCommand::Rename { title: "Mine".into() }).await;
    engine.changed(|meta| meta.title == "Mine").await;
    engine.act(&id, SessionCommand::Retitle).await;
    let meta = engine.changed(|meta| meta.title_from == TitleFrom::Generated).await;
    assert_eq!(meta.title, "List then read src/login.rs then");

    let draft = "why does keep_query drop it?".to_owned();
    engine.send(Command::Session { id: id.clone(), command: SessionCommand::Enhance { number: 7, draft } }).await;
    let made = engine
        .until(|event| {
            if let Event::Session { event: SessionEvent::Enhanced { number: 7, result }, .. } = event {
                Some(result.clone())
            } else {
                None
            }
        })
        .await;
    let Enhanced { text, used } = made.unwrap();
    assert_eq!(text, "why does keep_query drop it?\n\nIt is about: src/login.rs");
    assert!(used.contains(&"src/login.rs".to_owned()), "{used:?}");
    engine.end().await;
}
