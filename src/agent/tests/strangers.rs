//! Turns of people who are not the operator: what they learn of other sessions.

use super::*;
use crate::agent::client_link::ClientInfo;
use crate::domain::CallId;
use crate::domain::usage::RequestUsage;
use crate::provider::{Chunk, Chunks, ConversationItem, ModelRequest, ProposedCall, ProviderError, Stop};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

/// Model that calls the tool that its user names, and repeats the results.
struct Obedient(Rehearsal);

impl Provider for Obedient {
    fn wire(&self) -> &'static str {
        self.0.wire()
    }
    fn stream(&self, request: ModelRequest) -> Chunks {
        let chunks = match request.items.last() {
            Some(ConversationItem::User(said)) => {
                let (name, input) = said.text.split_once(' ').unwrap_or((&said.text, "{}"));
                let input: Value = serde_json::from_str(input).unwrap_or_else(|_| json!({}));
                let call = ProposedCall { id: CallId::new("c"), name: name.to_owned(), input };
                vec![Chunk::Call(call), Chunk::Stopped(Stop::Calls)]
            }
            Some(ConversationItem::Results(results)) => {
                let text = results.iter().map(|result| result.text.as_str()).collect();
                vec![Chunk::Text(text), Chunk::Stopped(Stop::Done)]
            }
            _ => vec![Chunk::Text("?".to_owned()), Chunk::Stopped(Stop::Done)],
        };
        Box::pin(futures_util::stream::iter(chunks.into_iter().map(Ok)))
    }
    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
        self.0.models()
    }
    fn figures(&self, model: &str, usage: RequestUsage) -> (Option<u64>, f64) {
        self.0.figures(model, usage)
    }
}

/// Text of the answer to a message.
async fn answer(engine: &mut Engine, session: &SessionId, text: &str) -> String {
    engine.act(session, SessionCommand::send(text)).await;
    engine.ended().await;
    let rows = engine.store.read(session, 50).unwrap().rows;
    let texts = rows.iter().rev().filter_map(|row| match &row.body {
        Body::Assistant(said) => Some(said.text.clone()),
        _ => None,
    });
    texts.into_iter().next().unwrap_or_default()
}

#[tokio::test]
async fn a_stranger_learns_of_no_session_but_its_own_and_changes_none() {
    let home = tempfile::tempdir().unwrap();
    let provider = Arc::new(Obedient(Rehearsal::new(Duration::ZERO)));
    let mut engine = Engine::asking(provider, store(home.path()), home.path(), |settings| {
        settings.mode = Mode::Execute;
    });
    let secret = engine.talked("PINEAPPLE {}").await;
    let own = engine.talked("hello {}").await;
    let listed = answer(&mut engine, &own, "list_sessions {}").await;
    assert!(listed.contains(secret.as_str()), "the operator sees all: {listed}");

    let info = ClientInfo { stranger: true, follows: Follows::Everything, ..ClientInfo::local("channel x") };
    engine.link = engine.handle.connect(info);
    engine.open(&own).await;
    for (tool, input) in [
        ("list_sessions", json!({})),
        ("list_sessions", json!({"words": "PINEAPPLE"})),
        ("session_info", json!({"session": secret.as_str(), "messages": 50})),
        ("set_status", json!({"session": secret.as_str(), "status": "done"})),
        ("set_labels", json!({"session": secret.as_str(), "add": ["bug"]})),
    ] {
        let said = answer(&mut engine, &own, &format!("{tool} {input}")).await;
        let tells = said.replace(&format!("No session {secret}"), "").contains(secret.as_str());
        assert!(!said.contains("PINEAPPLE {}") && !tells, "{tool} {input}: {said}");
    }
    let own_info = answer(&mut engine, &own, "session_info {}").await;
    assert!(own_info.contains(own.as_str()), "{own_info}");
    let status = engine.store.list().sessions.into_iter().find(|meta| meta.id == secret).unwrap().status;
    assert_ne!(status, "done");
    engine.end().await;
}
