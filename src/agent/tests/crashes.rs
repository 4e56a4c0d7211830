//! Defects of lisle's own, in the middle of a turn: the turn ends, what was said is there, and the session goes on.

use super::*;
use crate::domain::session::Activity;
use crate::domain::usage::RequestUsage;
use crate::provider::{Chunks, ModelRequest, ProviderError};
use futures_util::future::BoxFuture;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// A provider that panics once where it is armed.
struct Faulty {
    within: Rehearsal,
    in_the_stream: AtomicBool,
    /// In the session's own task, once the request is out.
    in_the_session: AtomicBool,
    asked: AtomicBool,
}

impl Faulty {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            within: Rehearsal::new(Duration::ZERO),
            in_the_stream: AtomicBool::new(false),
            in_the_session: AtomicBool::new(false),
            asked: AtomicBool::new(false),
        })
    }
}

impl Provider for Faulty {
    fn wire(&self) -> &'static str {
        self.within.wire()
    }
    fn stream(&self, request: ModelRequest) -> Chunks {
        assert!(!self.in_the_stream.swap(false, SeqCst), "a defect in a provider");
        self.asked.store(true, SeqCst);
        self.within.stream(request)
    }
    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
        self.within.models()
    }
    fn figures(&self, model: &str, usage: RequestUsage) -> (Option<u64>, f64) {
        self.within.figures(model, usage)
    }
    fn only(&self) -> Option<String> {
        let is_time = self.asked.load(SeqCst) && self.in_the_session.load(SeqCst);
        assert!(!(is_time && self.in_the_session.swap(false, SeqCst)), "a defect in a session");
        self.within.only()
    }
}

#[tokio::test]
async fn a_defect_in_a_request_ends_the_turn_and_not_the_session() {
    let home = tempfile::tempdir().unwrap();
    let faulty = Faulty::new();
    let mut engine = Engine::asking(faulty.clone(), store(home.path()), home.path(), |_| {});
    let session = engine.talked("hello").await;
    faulty.in_the_stream.store(true, SeqCst);
    engine.act(&session, SessionCommand::send("and now?")).await;
    assert_eq!(engine.ended().await, TurnEnd::Failed);
    engine.act(&session, SessionCommand::send("again")).await;
    assert_eq!(engine.ended().await, TurnEnd::Done);
}

#[tokio::test]
async fn a_session_that_crashes_in_a_turn_is_reopened_at_once_and_waits_for_nothing() {
    let home = tempfile::tempdir().unwrap();
    let faulty = Faulty::new();
    let mut engine = Engine::asking(faulty.clone(), store(home.path()), home.path(), |_| {});
    let session = engine.talked("hello").await;
    faulty.asked.store(false, SeqCst);
    faulty.in_the_session.store(true, SeqCst);
    engine.act(&session, SessionCommand::send("what the crash cuts off")).await;
    // Nobody does anything.
    engine.notice("crashed and was reopened").await;
    let opened = engine.opened().await;
    assert_eq!(opened.meta.activity, Activity::Idle);
    let is_it = |row: &Message| matches!(&row.body, Body::User(said) if said.text.contains("what the crash cuts off"));
    assert!(opened.rows.iter().any(is_it), "{:#?}", opened.rows);
    engine.act(&session, SessionCommand::send("again")).await;
    assert_eq!(engine.ended().await, TurnEnd::Done);
    engine.end().await;
}
