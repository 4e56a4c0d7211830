//! Undo as a client asks for it: what the rehearsal's tools changed is planned, restored, told, and redone after a restart.

use super::*;
use crate::agent::UndoSettings;
use crate::domain::message::InfoKind;
use crate::domain::undo::{Changes, UndoAim, UndoPlan, UndoState};
use crate::store::checkpoints::Bounds;

/// The disk of the test may be nearly full.
fn roomy(settings: &mut EngineSettings) {
    settings.mode = Mode::Execute;
    let bounds = Bounds { free: 0, free_percent: 0, ..Bounds::default() };
    settings.undo = UndoSettings { bounds, ..UndoSettings::default() };
}

impl Engine {
    async fn say(&mut self, session: &SessionId, text: &str) {
        self.act(session, SessionCommand::send(text)).await;
        assert_eq!(self.ended().await, TurnEnd::Done);
    }

    async fn planned(&mut self, session: &SessionId, aim: UndoAim) -> UndoPlan {
        self.send(Command::Session { id: session.clone(), command: SessionCommand::PlanUndo { aim } }).await;
        self.until(|event| {
            if let Event::Session { event: SessionEvent::UndoPlanned(plan), .. } = event {
                Some((**plan).clone())
            } else {
                None
            }
        })
        .await
    }

    async fn restored(&mut self) -> String {
        self.until(|event| match event {
            Event::Session { event: SessionEvent::Row(row), .. } => match &row.body {
                Body::Info(info) if info.kind == InfoKind::Restored => Some(info.text.clone()),
                _ => None,
            },
            _ => None,
        })
        .await
    }

    async fn files_changed(&mut self, session: &SessionId) -> Changes {
        self.send(Command::Session { id: session.clone(), command: SessionCommand::FilesChanged }).await;
        self.until(|event| {
            if let Event::Session { event: SessionEvent::FilesChanged(all), .. } = event {
                Some((**all).clone())
            } else {
                None
            }
        })
        .await
    }
}

#[tokio::test]
async fn what_a_turn_wrote_is_undone_and_redone_after_a_restart() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::with(home.path(), roomy);
    let file = home.path().join("project/a.md");
    let session = engine.talked("write a.md: one").await;
    engine.say(&session, "write b.md: two").await;
    let plan = engine.planned(&session, UndoAim::Last).await;
    let shown: Vec<_> = plan.files.iter().map(|file| (file.shown.as_str(), &file.state)).collect();
    assert_eq!((shown, plan.about.as_str()), (vec![("b.md", &UndoState::Ready)], "write b.md: two"));
    assert_eq!(engine.files_changed(&session).await.files.len(), 2);
    let undo = |aim| Command::Session { id: session.clone(), command: SessionCommand::Undo { aim, also: vec![] } };
    engine.send(undo(UndoAim::Last)).await;
    assert!(engine.restored().await.contains("b.md"));
    assert!(file.exists() && !home.path().join("project/b.md").exists());
    engine.send(undo(UndoAim::Last)).await;
    engine.restored().await;
    assert!(!file.exists());
    engine.send(undo(UndoAim::Last)).await;
    engine.notice("Nothing to undo").await;
    engine.send(Command::Engine(EngineCommand::Shutdown)).await;
    engine.until(|event| matches!(event, Event::Engine(EngineEvent::Ended)).then_some(())).await;

    let mut engine = Engine::with(home.path(), roomy);
    let opened = engine.open(&session).await;
    let told =
        opened.rows.iter().filter(|row| matches!(&row.body, Body::Info(info) if info.kind == InfoKind::Restored));
    assert_eq!(told.count(), 2);
    engine.send(undo(UndoAim::Redo)).await;
    assert!(engine.restored().await.contains("a.md") && file.exists());
}

#[tokio::test]
async fn a_folder_that_took_the_place_of_the_working_directory_keeps_its_files() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::with(home.path(), roomy);
    let at = |name: &str| home.path().join(name);
    let session = engine.talked("write a.md: one").await;
    std::fs::rename(at("project"), at("elsewhere")).unwrap();
    // A copy: what it holds is all that an undo looks for.
    std::fs::create_dir(at("project")).unwrap();
    std::fs::copy(at("elsewhere/a.md"), at("project/a.md")).unwrap();
    let undo =
        || Command::Session { id: session.clone(), command: SessionCommand::Undo { aim: UndoAim::Last, also: vec![] } };
    engine.send(undo()).await;
    engine.notice("is another folder now").await;
    assert!(at("project/a.md").exists());
    std::fs::remove_dir_all(at("project")).unwrap();
    std::fs::rename(at("elsewhere"), at("project")).unwrap();
    engine.send(undo()).await;
    engine.restored().await;
    assert!(!at("project/a.md").exists(), "the session's own folder is restored");
}

#[tokio::test]
async fn going_back_can_take_the_files_along() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::with(home.path(), roomy);
    let session = engine.talked("write a.md: one").await;
    let last = engine.open(&session).await.rows.last().unwrap().id.clone();
    engine.say(&session, "write b.md: two").await;
    let aim = UndoAim::Since(last.clone());
    let plan = engine.planned(&session, aim).await;
    assert_eq!(plan.files.len(), 1);
    engine
        .send(Command::Engine(EngineCommand::Rewind { session: session.clone(), at: last, files: Some(vec![]) }))
        .await;
    let to = engine
        .until(|event| {
            if let Event::Engine(EngineEvent::Branched { to, rewound: true, .. }) = event {
                Some(to.clone())
            } else {
                None
            }
        })
        .await;
    assert!(home.path().join("project/a.md").exists() && !home.path().join("project/b.md").exists());
    let rows = engine.open(&to).await.rows;
    assert!(rows.iter().all(|row| !matches!(&row.body, Body::Info(info) if info.kind == InfoKind::Restored)));
}

#[tokio::test]
async fn who_waits_for_a_preview_hears_when_there_is_none() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::with(home.path(), roomy);
    let session = engine.talked("write x.txt: hi").await;
    let list = engine.store.session_dir(&session).join("checkpoints/list.jsonl");
    std::fs::remove_file(&list).unwrap();
    std::fs::create_dir(&list).unwrap();
    engine.act(&session, SessionCommand::PlanUndo { aim: UndoAim::Last }).await;
    engine.notice("Can't undo").await;
    let planned = |event: &Event| match event {
        Event::Session { event: SessionEvent::UndoPlanned(plan), .. } => Some((**plan).clone()),
        _ => None,
    };
    let plan = engine.until(planned).await;
    assert!(!plan.any && !plan.gaps.is_empty());
    engine.end().await;
}
