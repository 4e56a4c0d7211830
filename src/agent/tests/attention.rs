//! State of sessions after their turns ended, were stopped, or died.

use super::*;
use crate::domain::attention::Attention;

/// State of the only session that is not spawned, as the list has it.
fn listed(store: &Store) -> SessionMeta {
    store.list().sessions.into_iter().find(|meta| meta.parent.is_none()).unwrap()
}

fn interrupted(meta: &SessionMeta) -> Option<String> {
    match meta.attention() {
        Attention::Interrupted(why) => Some(why),
        _ => None,
    }
}

#[tokio::test]
async fn a_request_that_waited_at_the_end_comes_back_as_interrupted_and_goes_on() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    engine.send(Command::Engine(EngineCommand::Create(NewSession::default()))).await;
    let session = engine.opened().await.meta.id;
    engine.act(&session, SessionCommand::send("write x.txt: hi")).await;
    engine.asked().await;
    engine.end().await;
    let meta = listed(&store(home.path()));
    assert!(interrupted(&meta).is_some_and(|why| why.contains("write x.txt")), "{meta:?}");
    assert!(meta.needs_you());

    let mut engine = Engine::new(home.path());
    engine.open(&session).await;
    engine.act(&session, SessionCommand::Read).await;
    let meta = engine.changed(|meta| !meta.needs_you()).await;
    assert!(interrupted(&meta).is_some(), "it was looked at, and is interrupted all the same");
    engine.act(&session, SessionCommand::Retry).await;
    assert_eq!(engine.ended().await, TurnEnd::Done);
    engine.end().await;
    assert!(!listed(&store(home.path())).needs_you());
    assert!(interrupted(&listed(&store(home.path()))).is_none());
}

#[tokio::test]
async fn a_spawned_session_that_waited_is_not_forgotten_either() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    engine.send(Command::Engine(EngineCommand::Create(NewSession::default()))).await;
    let session = engine.opened().await.meta.id;
    engine.act(&session, SessionCommand::send("delegate write x.txt: hi")).await;
    engine.asked().await;
    engine.changed(|meta| meta.id == session && meta.needs_you()).await;
    engine.end().await;
    let sessions = store(home.path()).list().sessions;
    assert_eq!(sessions.len(), 2);
    for meta in sessions {
        assert!(meta.needs_you() && interrupted(&meta).is_some_and(|why| why.contains("write x.txt")), "{meta:?}");
    }
}

#[tokio::test]
async fn a_failed_turn_says_so_until_the_next_one() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let session = engine.talked("fail key").await;
    let meta = listed(&engine.store);
    assert!(matches!(meta.attention(), Attention::Failed(ref why) if !why.is_empty()), "{meta:?}");
    assert!(meta.needs_you() && meta.can_retry());
    engine.act(&session, SessionCommand::send("list")).await;
    assert_eq!(engine.ended().await, TurnEnd::Done);
    engine.end().await;
    let meta = listed(&store(home.path()));
    assert!(!meta.needs_you() && meta.unfinished.is_none(), "{meta:?}");
}

#[tokio::test]
async fn what_the_user_stopped_needs_nobody() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    engine.send(Command::Engine(EngineCommand::Create(NewSession::default()))).await;
    let session = engine.opened().await.meta.id;
    engine.act(&session, SessionCommand::send("write x.txt: hi")).await;
    engine.asked().await;
    engine.act(&session, SessionCommand::Stop).await;
    engine.ended().await;
    engine.end().await;
    assert!(!listed(&store(home.path())).needs_you());
}

/// Copies the files of a workspace as a death would leave them.
fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copied(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[tokio::test]
async fn after_a_death_the_list_says_interrupted_and_meanwhile_running() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    engine.send(Command::Engine(EngineCommand::Create(NewSession::default()))).await;
    let session = engine.opened().await.meta.id;
    engine.act(&session, SessionCommand::send("write x.txt: hi")).await;
    engine.asked().await;
    // The header is written after the request is told.
    engine.act(&session, SessionCommand::Rename { title: "Writing".into() }).await;
    engine.changed(|meta| meta.title == "Writing").await;
    let (done, saved) = tokio::sync::oneshot::channel();
    std::thread::spawn({
        let store = engine.store.clone();
        move || {
            let mut meta = listed(&store);
            while meta.title != "Writing" {
                std::thread::yield_now();
                meta = listed(&store);
            }
            done.send(meta).unwrap();
        }
    });
    let meta = saved.await.unwrap();
    assert!(matches!(meta.attention(), Attention::Running) && meta.held_by.is_some(), "{meta:?}");
    let other = tempfile::tempdir().unwrap();
    copied(&home.path().join("data"), &other.path().join("data"));
    let meta = listed(&store(other.path()));
    assert!(interrupted(&meta).is_some_and(|why| why.contains("write x.txt")), "{meta:?}");
    engine.end().await;
}
