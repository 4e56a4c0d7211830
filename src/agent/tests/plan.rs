//! Plans with their files, a real actor and the rehearsal.

use super::*;
use crate::domain::message::InfoKind;
use crate::domain::plan::{Outline, PlanApproval, Progress, StepMark, StepStatus, hash};
use crate::domain::request::{Ask, PlanOrigin, PlanReview, Request, UserAnswer};

/// A session with a plan that waits, and the request.
async fn planned(engine: &mut Engine) -> (SessionId, Request) {
    engine
        .send(Command::Engine(EngineCommand::Create(NewSession { mode: Some(Mode::Explore), ..NewSession::default() })))
        .await;
    let id = engine.opened().await.meta.id;
    engine.act(&id, SessionCommand::send("plan a tidy-up")).await;
    let request = engine.asked().await;
    assert_eq!(engine.ended().await, TurnEnd::Plan);
    (id, request)
}

fn review(request: &Request) -> &PlanReview {
    let Ask::Plan(review) = &request.ask else { panic!("{request:?}") };
    review
}

fn approve(request: &Request, mode: Mode, compact: bool, struck: &[u32]) -> SessionCommand {
    let markdown = &review(request).markdown;
    let marks = Outline::parse(markdown).marks().into_iter();
    let marks = marks.map(|mark| StepMark { struck: struck.contains(&mark.number), ..mark }).collect();
    let approval = PlanApproval { mode, compact, marks, covers: hash(markdown) };
    SessionCommand::Answer { request: request.id.clone(), answer: UserAnswer::PlanApprove(approval), shown: None }
}

async fn progress(engine: &mut Engine, over: bool) -> Progress {
    engine
        .until(|event| match event {
            Event::Session { event: SessionEvent::Plan(Some(plan)), .. } if plan.over == over => Some((**plan).clone()),
            _ => None,
        })
        .await
}

#[tokio::test]
async fn an_approved_plan_is_carried_out_step_by_step() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let (id, request) = planned(&mut engine).await;
    engine.act(&id, approve(&request, Mode::Execute, false, &[])).await;
    let plan = progress(&mut engine, true).await;
    assert!(plan.steps.iter().all(|step| step.status == StepStatus::Done), "{plan:?}");
    assert_eq!(engine.ended().await, TurnEnd::Done);
    assert!(home.path().join("project/TIDY-UP.md").exists());
    engine.end().await;
    // Another process finds how far it came.
    let mut engine = Engine::new(home.path());
    let opened = engine.open(&id).await;
    assert!(opened.plan.is_some_and(|plan| plan.over && plan.figures() == (3, 3)));
    assert!(opened.requests.is_empty());
    engine.end().await;
}

#[tokio::test]
async fn what_is_struck_out_is_left_out_and_asked_for_later() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let (id, request) = planned(&mut engine).await;
    let path = review(&request).path.clone();
    engine.act(&id, approve(&request, Mode::Execute, false, &[1, 2])).await;
    assert_eq!(engine.ended().await, TurnEnd::Done);
    assert!(!home.path().join("project/TIDY-UP.md").exists());
    let written = std::fs::read_to_string(path).unwrap();
    assert!(written.contains("2. ~~Write `TIDY-UP.md`"), "{written}");
    engine.end().await;
}

#[tokio::test]
async fn a_changed_file_asks_again_and_one_that_is_gone_is_written_anew() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let (id, request) = planned(&mut engine).await;
    let path = review(&request).path.clone();
    std::fs::write(&path, "# A tidy-up\n\n1. Something else\n").unwrap();
    engine.act(&id, approve(&request, Mode::Execute, false, &[])).await;
    let again = engine.asked().await;
    assert_eq!((&again.id, review(&again).origin), (&request.id, PlanOrigin::ChangedOnDisk));
    assert!(review(&again).markdown.contains("Something else"));
    std::fs::remove_file(&path).unwrap();
    engine.act(&id, approve(&again, Mode::Ask, false, &[])).await;
    engine.notice("was missing").await;
    engine
        .until(|event| matches!(event, Event::Session { event: SessionEvent::TurnStarted { .. }, .. }).then_some(()))
        .await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), review(&again).markdown);
    engine.end().await;
}

#[tokio::test]
async fn an_edited_plan_is_kept_in_its_file() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let (id, request) = planned(&mut engine).await;
    let answer = UserAnswer::PlanEdited("# Mine\n\n1. Only list\n".into());
    engine.act(&id, SessionCommand::Answer { request: request.id.clone(), answer, shown: None }).await;
    let again = engine.asked().await;
    assert_eq!(review(&again).origin, PlanOrigin::EditedByUser);
    engine.end().await;
    assert_eq!(std::fs::read_to_string(&review(&again).path).unwrap(), "# Mine\n\n1. Only list\n");
    // It waits over a restart, as it was edited.
    let mut engine = Engine::new(home.path());
    let opened = engine.open(&id).await;
    assert_eq!(opened.requests, vec![again]);
    engine.end().await;
}

#[tokio::test]
async fn compacting_first_begins_the_conversation_anew_and_keeps_it_all() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let (id, request) = planned(&mut engine).await;
    engine.act(&id, approve(&request, Mode::Execute, true, &[])).await;
    assert_eq!(engine.ended().await, TurnEnd::Done);
    assert!(home.path().join("project/TIDY-UP.md").exists(), "it is carried out from what was carried over");
    engine.end().await;
    let header =
        std::fs::read_to_string(home.path().join(format!("data/workspaces/w/sessions/{id}/session.jsonl"))).unwrap();
    assert!(!header.lines().next().unwrap().contains("pendingPlanExecution"), "it was told");
    let store = store(home.path());
    let context = store.context(&id).unwrap();
    let Body::Info(info) = &context[0].body else { panic!("{:?}", context[0]) };
    assert_eq!(info.kind, InfoKind::Compacted);
    assert!(info.carried.as_ref().is_some_and(|carried| carried.text.contains("plan a tidy-up")));
    let all = store.read(&id, 100).unwrap().rows;
    assert!(all.len() > context.len(), "the rows before it stay");
    drop(store);
    // The session goes on from there.
    let mut engine = Engine::new(home.path());
    engine.open(&id).await;
    engine.act(&id, SessionCommand::send("list")).await;
    assert_eq!(engine.ended().await, TurnEnd::Done);
    engine.end().await;
}

#[tokio::test]
async fn a_death_between_compaction_and_execution_asks_once_more() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let (id, request) = planned(&mut engine).await;
    engine.end().await;
    // What is on disk at that moment: the key of the header, and the plan that still waits.
    let store = store(home.path());
    let Access::Writer(mut journal) = store.load(&id, 10).unwrap().access else { panic!() };
    let loaded = store.read(&id, 10).unwrap();
    let mut meta = loaded.meta.clone();
    meta.pending_execution = Some(crate::domain::plan::PendingExecution {
        plan_path: review(&request).path.display().to_string(),
        awaiting_compaction: true,
        ..Default::default()
    });
    journal.set_meta(meta, loaded.own);
    journal.flush().unwrap();
    drop((journal, store));
    let file = home.path().join(format!("data/workspaces/w/sessions/{id}/session.jsonl"));
    let line = std::fs::read_to_string(&file).unwrap().lines().next().unwrap().to_owned();
    let (_, kept) = line.split_once(r#""pendingPlanExecution":{"#).expect(&line);
    for part in [r#""awaitingCompaction":true"#, r#""planPath":"{{SESSION_PATH}}/plans/"#] {
        assert!(kept.contains(part), "{kept}");
    }

    let mut engine = Engine::new(home.path());
    let opened = engine.open(&id).await;
    let again = opened.requests.first().expect("it is asked").clone();
    assert!(review(&again).resumes && opened.meta.mode == Mode::Explore);
    engine.act(&id, approve(&again, Mode::Execute, true, &[])).await;
    assert_eq!(engine.ended().await, TurnEnd::Done);
    assert!(home.path().join("project/TIDY-UP.md").exists());
    engine.end().await;
    let line = std::fs::read_to_string(&file).unwrap().lines().next().unwrap().to_owned();
    assert!(!line.contains("pendingPlanExecution"), "{line}");
}
