//! Context of the model and its compaction: with the demo agent, over real files.

use super::*;
use crate::domain::context::{ContextReport, ContextSort};
use crate::domain::message::{Carried, Failure, InfoKind};
use crate::domain::prompt_text::PromptKind;

impl Engine {
    /// The next compaction's row: the notice, and the content carried over.
    async fn compacted(&mut self) -> (String, Carried) {
        self.until(|event| match event {
            Event::Session { event: SessionEvent::Row(row), .. } => match &row.body {
                Body::Info(info) if info.kind == InfoKind::Compacted => {
                    Some((info.text.clone(), *info.carried.clone().expect("something is carried over")))
                }
                _ => None,
            },
            _ => None,
        })
        .await
    }

    async fn failed(&mut self) -> Failure {
        self.until(|event| match event {
            Event::Session { event: SessionEvent::Row(row), .. } => match &row.body {
                Body::Error(failure) => Some(failure.clone()),
                _ => None,
            },
            _ => None,
        })
        .await
    }

    async fn context(&mut self, session: &SessionId) -> ContextReport {
        self.send(Command::Session { id: session.clone(), command: SessionCommand::Context }).await;
        self.until(|event| {
            if let Event::Session { event: SessionEvent::Context(report), .. } = event {
                Some((**report).clone())
            } else {
                None
            }
        })
        .await
    }
}

#[tokio::test]
async fn a_compaction_is_on_disk_and_the_session_goes_on_from_there() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let id = engine.talked("list").await;
    for wish in ["stream 30", "list then stream 5"] {
        engine.act(&id, SessionCommand::send(wish)).await;
        engine.ended().await;
    }
    engine.act(&id, SessionCommand::Compact { wish: "keep it short".into() }).await;
    engine
        .until(|event| matches!(event, Event::Session { event: SessionEvent::Compacting { .. }, .. }).then_some(()))
        .await;
    let (told, carried) = engine.compacted().await;
    assert!(told.contains("with a summary"), "{told}");
    assert!(carried.summary.contains("Demo summary. Goal: \"list\""), "{}", carried.summary);
    assert_eq!(engine.ended().await, TurnEnd::Done);
    engine.end().await;

    let store = store(home.path());
    let context = store.context(&id).unwrap();
    assert_eq!(Some(&context[0].id), carried.keeps.as_ref(), "what stays is read along, and nothing before it");
    assert!(store.read(&id, 100).unwrap().rows.len() > context.len(), "and nothing is gone");
    drop(store);
    let mut engine = Engine::new(home.path());
    engine.open(&id).await;
    let report = engine.context(&id).await;
    let carried_over = report.parts.iter().find(|part| part.sort == ContextSort::Carried);
    assert!(carried_over.is_some_and(|part| part.tokens > 50), "{report:?}");
    engine.act(&id, SessionCommand::send("list")).await;
    assert_eq!(engine.ended().await, TurnEnd::Done);
    engine.end().await;
}

#[tokio::test]
async fn project_memory_is_in_the_context_and_what_is_wrong_is_told_once() {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    std::fs::write(project.join("AGENTS.md"), "Use tabs.\n@gone.md").unwrap();
    let mut engine = Engine::new(home.path());
    let id = engine.talked("list").await;
    engine.act(&id, SessionCommand::send("list")).await;
    engine.ended().await;
    let told = |engine: &Engine| {
        let events = engine.seen.iter().filter(|(_, event)| match event {
            Event::Session { event: SessionEvent::Notice(notice), .. } => notice.text.contains("gone.md not found"),
            _ => false,
        });
        events.count()
    };
    assert_eq!(told(&engine), 1);
    let report = engine.context(&id).await;
    let names: Vec<&str> =
        report.parts.iter().filter(|part| part.sort == ContextSort::Memory).map(|part| part.name.as_str()).collect();
    assert!(matches!(names.as_slice(), [name] if name.ends_with("project/AGENTS.md")), "{names:?}");
    assert_eq!((report.window, report.notes.len()), (Some(200_000), 1));
    assert!(report.total() > 500 && report.measured == crate::domain::context::Measured::Corrected);
    engine.end().await;
}

#[tokio::test]
async fn a_context_that_is_full_is_compacted_and_asked_again_once() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let id = engine.talked("stream 40").await;
    engine.act(&id, SessionCommand::send("fail context")).await;
    engine.compacted().await;
    let failure = engine.failed().await;
    assert_eq!(failure.title, "Context window exceeded");
    assert!(failure.text.contains("after compaction"), "{}", failure.text);
    assert_eq!(engine.ended().await, TurnEnd::Failed);
    engine.act(&id, SessionCommand::send("list")).await;
    assert_eq!(engine.ended().await, TurnEnd::Done);
    engine.end().await;
}

#[tokio::test]
async fn a_context_is_chosen_kept_and_taken_out() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("config/contexts");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("writer"), "Be brief.\n").unwrap();
    let mut engine = Engine::new(home.path());
    let id = engine.talked("list").await;
    let choose =
        |name: Option<&str>| SessionCommand::UsePrompt { kind: PromptKind::Context, name: name.map(str::to_owned) };
    engine.act(&id, choose(Some("writer"))).await;
    engine.changed(|meta| meta.names.context.as_deref() == Some("writer")).await;
    engine.notice("Context writer").await;
    engine.act(&id, choose(Some("writr"))).await;
    assert!(engine.notice("No context").await.text.contains("Did you mean \"writer\"?"));
    let part = |report: &ContextReport| report.parts.iter().find(|part| part.sort == ContextSort::Preamble).cloned();
    let found = part(&engine.context(&id).await).expect("it is part of the context");
    assert_eq!((found.name.as_str(), found.count), ("context writer", 9));
    // A branch, a cleared session and another process have it as it was.
    std::fs::write(folder.join("writer"), "Changed.").unwrap();
    engine.act(&id, SessionCommand::Clear).await;
    assert_eq!(engine.opened().await.meta.names.context.as_deref(), Some("writer"));
    engine.end().await;
    let mut engine = Engine::new(home.path());
    assert_eq!(engine.open(&id).await.meta.names.context.as_deref(), Some("writer"));
    assert_eq!(part(&engine.context(&id).await).map(|part| part.count), Some(9));
    engine.act(&id, choose(None)).await;
    engine.changed(|meta| meta.names.context.is_none()).await;
    assert_eq!(part(&engine.context(&id).await), None);
}
