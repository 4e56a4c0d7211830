//! Rules that an answer keeps for the workspace.

use super::*;
use crate::domain::request::{Ask, UserAnswer};

#[tokio::test]
async fn an_answer_for_the_workspace_counts_at_once_in_other_sessions_too() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let mut asked = Vec::new();
    for _ in 0..2 {
        engine.send(Command::Engine(EngineCommand::Create(NewSession::default()))).await;
        let session = engine.opened().await.meta.id;
        engine.act(&session, SessionCommand::send("run touch x.txt")).await;
        let request = engine.asked().await;
        let Ask::Approval(approval) = &request.ask else { panic!("{request:?}") };
        let rules = approval.offers.iter().map(|offer| offer.rule.clone()).collect();
        asked.push((session, request.id.clone(), rules));
    }
    let (session, request, rules) = asked.swap_remove(0);
    let other = asked.swap_remove(0);
    let answer = UserAnswer::Remember { scope: RuleScope::Workspace, rules };
    engine.act(&session, SessionCommand::Answer { request, answer, shown: None }).await;
    // What waits goes on waiting: nothing that is being read runs by itself.
    let told = engine
        .until(|event| match event {
            Event::Session { id, event: SessionEvent::Asked(request) } if *id == other.0 => Some((**request).clone()),
            _ => None,
        })
        .await;
    let Ask::Approval(approval) = &told.ask else { panic!("{told:?}") };
    assert!(told.id == other.1 && approval.would_run_now);
    engine.end().await;
}
