//! A session held by another process takes nothing, and the user's words come back.

use super::*;
use crate::domain::ids::RequestId;
use crate::domain::plan::{PlanApproval, StepMark};
use crate::domain::request::UserAnswer;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_act_that_carries_words_comes_back_from_a_session_that_is_held_elsewhere() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let other = written(&engine.store, "260101-held", |_| {});
    let session = id("260101-held");
    assert!(engine.open(&session).await.meta.held_by.is_some());
    let answer = |answer| SessionCommand::Answer { request: RequestId::new("r"), answer, shown: None };
    let marks = vec![StepMark { number: 1, struck: false, comment: Some("careful".into()) }];
    for act in [
        SessionCommand::send("hello"),
        SessionCommand::steer("hello"),
        SessionCommand::Type { command: "ls".into() },
        SessionCommand::Compact { wish: "the names".into() },
        SessionCommand::Rename { title: "A title".into() },
        SessionCommand::Queue(QueueEdit::Replace { id: MessageId::new("m"), text: "t".into() }),
        answer(UserAnswer::Reply("yes".into())),
        answer(UserAnswer::No(Some("because".into()))),
        answer(UserAnswer::PlanChanges("smaller".into())),
        answer(UserAnswer::PlanApprove(PlanApproval { mode: Mode::Ask, compact: false, marks, covers: String::new() })),
    ] {
        engine.act(&session, act.clone()).await;
        let back = engine.until(|event| match event {
            Event::Session { event: SessionEvent::Refused { command: act, .. }, .. } => Some((**act).clone()),
            _ => None,
        });
        assert_eq!(back.await, act);
    }
    engine.act(&session, SessionCommand::Attach { path: "a.png".into() }).await;
    engine
        .until(|event| {
            matches!(event, Event::Session { event: SessionEvent::Attached { made: Err(_), .. }, .. }).then_some(())
        })
        .await;
    drop(other);
    // Nobody holds it any more: the same is taken.
    engine.act(&session, SessionCommand::send("hello")).await;
    engine.ended().await;
    engine
        .act(&session, SessionCommand::Queue(QueueEdit::Replace { id: MessageId::new("gone"), text: "mine".into() }))
        .await;
    engine
        .until(|event| matches!(event, Event::Session { event: SessionEvent::Refused { .. }, .. }).then_some(()))
        .await;
    engine.end().await;
}
