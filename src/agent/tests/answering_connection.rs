//! Connection of a session that was made elsewhere: with a connection that is not configured here, or with none.

use super::*;

/// A session of another home: it was begun with a connection that nobody has here.
fn theirs(store: &Store, name: &str) -> SessionId {
    stored(store, name, |meta| {
        meta.connection = Some(ConnectionName::new("theirs"));
        meta.connection_locked = true;
    })
}

fn stand_in(everywhere: bool) -> SessionCommand {
    SessionCommand::StandIn { connection: ConnectionName::new("rehearsal"), everywhere }
}

async fn wanted(engine: &mut Engine) -> ConnectionName {
    engine
        .until(|event| match event {
            Event::Session { event: SessionEvent::ConnectionWanted { connection }, .. } => Some(connection.clone()),
            _ => None,
        })
        .await
}

/// The `model` that the session's file names.
fn stored_model(store: &Store, id: &SessionId) -> serde_json::Value {
    let text = std::fs::read_to_string(store.session_dir(id).join("session.jsonl")).unwrap();
    let header: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    header["model"].clone()
}

#[tokio::test]
async fn a_model_that_does_not_travel_stays_in_the_file() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let id = stored(&engine.store, "260101-a-b", |meta| {
        meta.connection = Some(ConnectionName::new("theirs"));
        meta.connection_locked = true;
        meta.model = Some("their-model".to_owned());
    });
    engine.open(&id).await;
    engine.act(&id, stand_in(false)).await;
    engine.act(&id, SessionCommand::send("say one")).await;
    assert_eq!(engine.ended().await, TurnEnd::Done);
    assert_eq!(engine.open(&id).await.meta.model, None, "it is not asked for here");
    let store = engine.store.clone();
    engine.end().await;
    assert_eq!(stored_model(&store, &id), "their-model");
    // Nor does the next life lose it, or the choice of another connection that names no model.
    let mut engine = Engine::new(home.path());
    engine.open(&id).await;
    let other = SessionCommand::Model { connection: Some(ConnectionName::new("rehearsal")), model: String::new() };
    engine.act(&id, other).await;
    engine.act(&id, SessionCommand::send("say two")).await;
    assert_eq!(engine.ended().await, TurnEnd::Done);
    engine.end().await;
    assert_eq!(stored_model(&store, &id), "their-model");
}

fn texts(opened: &Opened) -> Vec<&str> {
    let of_user = opened.rows.iter().filter_map(|row| if let Body::User(said) = &row.body { Some(said) } else { None });
    of_user.map(|said| said.text.as_str()).collect()
}

#[tokio::test]
async fn what_is_said_waits_until_a_connection_stands_in_and_then_goes_in_its_order() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let id = theirs(&engine.store, "260101-a-b");
    assert!(engine.open(&id).await.meta.unmapped);
    for text in ["say one", "say two"] {
        engine.act(&id, SessionCommand::send(text)).await;
        assert_eq!(wanted(&mut engine).await.as_str(), "theirs");
    }
    let opened = engine.open(&id).await;
    let waits: Vec<&str> = opened.queue.iter().map(|queued| queued.text.as_str()).collect();
    assert_eq!((waits, opened.queue_held), (vec!["say one", "say two"], true), "it is kept, and shown");
    assert!(matches!(opened.meta.activity, crate::domain::session::Activity::NeedsYou(_)));
    engine.act(&id, stand_in(false)).await;
    assert_eq!(engine.ended().await, TurnEnd::Done);
    assert_eq!(engine.ended().await, TurnEnd::Done);
    let opened = engine.open(&id).await;
    assert_eq!(texts(&opened), ["hello", "say one", "say two"]);
    assert_eq!(opened.meta.asked().map(ConnectionName::as_str), Some("demo"));
    assert_eq!(opened.meta.connection.as_ref().map(ConnectionName::as_str), Some("theirs"), "the file keeps its word");
    engine.end().await;

    let mut engine = Engine::new(home.path());
    let opened = engine.open(&id).await;
    assert_eq!((opened.meta.unmapped, opened.meta.asked().map(ConnectionName::as_str)), (false, Some("demo")));
    engine.send(Command::Engine(EngineCommand::Branch { session: id.clone(), at: None, title: None })).await;
    let branch = engine
        .until(
            |event| if let Event::Engine(EngineEvent::Branched { to, .. }) = event { Some(to.clone()) } else { None },
        )
        .await;
    let opened = engine.open(&branch).await;
    assert_eq!(opened.meta.asked().map(ConnectionName::as_str), Some("demo"), "a branch inherits it");
    let other = theirs(&engine.store, "260101-c-d");
    assert!(engine.open(&other).await.meta.unmapped, "it was said for one session");
    engine.end().await;
}

#[tokio::test]
async fn what_stands_in_everywhere_stands_in_for_sessions_that_are_open_and_for_those_to_come() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let (one, two) = (theirs(&engine.store, "260101-a-b"), theirs(&engine.store, "260101-c-d"));
    assert!(engine.open(&two).await.meta.unmapped);
    engine.open(&one).await;
    engine.act(&one, stand_in(true)).await;
    engine.changed(|meta| meta.id == two && meta.stand_in.is_some()).await;
    let three = theirs(&engine.store, "260101-e-f");
    assert!(!engine.open(&three).await.meta.unmapped);
    engine.act(&three, SessionCommand::send("say it")).await;
    assert_eq!(engine.ended().await, TurnEnd::Done);
    engine.end().await;
}

#[tokio::test]
async fn a_session_without_a_connection_asks_the_default_and_stays_with_it() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let id = stored(&engine.store, "260101-a-b", |_| {});
    let opened = engine.open(&id).await;
    assert_eq!((opened.meta.unmapped, opened.meta.asked().map(ConnectionName::as_str)), (false, Some("demo")));
    engine.act(&id, SessionCommand::send("say it")).await;
    assert_eq!(engine.ended().await, TurnEnd::Done);
    engine.end().await;
    let mut engine = Engine::new(home.path());
    let meta = engine.open(&id).await.meta;
    assert_eq!((meta.connection.as_ref().map(ConnectionName::as_str), meta.connection_locked), (Some("demo"), true));
    engine.end().await;
}

#[tokio::test]
async fn with_nobody_to_ask_it_says_what_to_do_and_a_named_connection_stands_in() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::with(home.path(), |settings| settings.headless = true);
    let id = theirs(&engine.store, "260101-a-b");
    engine.open(&id).await;
    engine.act(&id, SessionCommand::send("say it")).await;
    assert_eq!(engine.ended().await, TurnEnd::Failed);
    let failed = engine.open(&id).await;
    let why = failed.rows.iter().find_map(|row| match &row.body {
        Body::Error(failure) => Some(failure.text.clone()),
        _ => None,
    });
    assert!(why.is_some_and(|why| why.contains("--connection NAME") && why.contains("theirs")));
    let name = Some(ConnectionName::new("rehearsal"));
    engine.act(&id, SessionCommand::Model { connection: name, model: String::new() }).await;
    engine.act(&id, SessionCommand::send("say it")).await;
    assert_eq!(engine.ended().await, TurnEnd::Done);
    assert_eq!(engine.open(&id).await.meta.connection.as_ref().map(ConnectionName::as_str), Some("theirs"));
    engine.end().await;
}

#[tokio::test]
async fn a_connection_that_is_here_is_not_replaced_and_one_that_is_not_does_not_stand_in() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let id = theirs(&engine.store, "260101-a-b");
    engine.open(&id).await;
    engine.act(&id, SessionCommand::StandIn { connection: ConnectionName::new("nowhere"), everywhere: true }).await;
    engine.notice("No connection nowhere").await;
    let own = engine.talked("say it").await;
    engine.act(&own, SessionCommand::StandIn { connection: ConnectionName::new("rehearsal"), everywhere: true }).await;
    engine.act(&own, SessionCommand::Rename { title: "t".into() }).await;
    let meta = engine.changed(|meta| meta.title == "t").await;
    assert_eq!((meta.stand_in, meta.unmapped), (None, false));
    engine.end().await;
}

#[tokio::test]
async fn a_models_name_does_not_travel_to_a_connection_that_never_had_it() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let name = |name: &str| Some(ConnectionName::new(name));
    let make = |engine: &Engine, id: &str, connection: Option<ConnectionName>, model: &str| {
        stored(&engine.store, id, |meta| (meta.connection, meta.model) = (connection, Some(model.to_owned())))
    };
    let strange = make(&engine, "260101-a-b", name("theirs"), "their-model");
    let known = make(&engine, "260101-c-d", name("theirs"), "rehearsal");
    let none = make(&engine, "260101-e-f", None, "their-model");
    engine.open(&strange).await;
    engine.act(&strange, stand_in(false)).await;
    engine.notice("demo doesn't offer their-model; using demo").await;
    assert_eq!(engine.changed(|meta| meta.id == strange && !meta.unmapped).await.model, None);
    engine.open(&known).await;
    engine.act(&known, stand_in(false)).await;
    let kept = engine.changed(|meta| meta.id == known && !meta.unmapped).await;
    assert_eq!(kept.model.as_deref(), Some("rehearsal"), "what is offered stays");
    assert_eq!(engine.open(&none).await.meta.model, None, "the default connection has its own models");
    engine.act(&none, SessionCommand::send("say it")).await;
    engine.notice("demo doesn't offer their-model").await;
    assert_eq!(engine.ended().await, TurnEnd::Done);
    // What is chosen here stays, though no list has it.
    engine.act(&strange, SessionCommand::Model { connection: None, model: "unlisted".into() }).await;
    engine.changed(|meta| meta.id == strange && meta.model.is_some()).await;
    engine.end().await;
    let mut engine = Engine::new(home.path());
    assert_eq!(engine.open(&strange).await.meta.model.as_deref(), Some("unlisted"));
    engine.end().await;
}

#[tokio::test]
async fn what_the_model_cannot_look_at_is_told_before_it_is_sent() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    // A picture of one point.
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";
    std::fs::write(home.path().join("project/a.png"), png).unwrap();
    let id = engine.talked("say it").await;
    engine.act(&id, SessionCommand::Attach { path: "a.png".into() }).await;
    let made = engine
        .until(|event| {
            if let Event::Session { event: SessionEvent::Attached { made, .. }, .. } = event {
                Some(made.clone())
            } else {
                None
            }
        })
        .await
        .unwrap();
    engine.notice("can't read images: a.png").await;
    engine.act(&id, SessionCommand::Send { text: "look".into(), attachments: vec![made], piped: None }).await;
    assert_eq!(engine.ended().await, TurnEnd::Done);
    let again = engine
        .seen
        .iter()
        .filter(|(_, event)| matches!(event, Event::Session { event: SessionEvent::Notice(notice), .. } if notice.text.contains("can't read images")));
    assert_eq!(again.count(), 1, "once is enough");
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_sessions_begin_with_the_model_that_a_person_chose_last() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let create = || Command::Engine(EngineCommand::Create(NewSession::default()));
    engine.send(create()).await;
    let first = engine.opened().await.meta;
    let model = SessionCommand::Model { connection: first.connection.clone(), model: "chosen".into() };
    engine.act(&first.id, model).await;
    let usual = |event: &Event| match event {
        Event::Engine(EngineEvent::Connections(all)) => Some(all[0].default_model.clone()),
        _ => None,
    };
    assert_eq!(engine.until(usual).await, "chosen");
    engine.send(create()).await;
    assert_eq!(engine.opened().await.meta.model.as_deref(), Some("chosen"));
    // What a script chooses is for its own session.
    let script = engine.handle.connect(ClientInfo { interactive: false, ..ClientInfo::local("script") });
    let other = SessionCommand::Model { connection: first.connection, model: "other".into() };
    script.requests.send(Command::Session { id: first.id.clone(), command: other }).await.unwrap();
    let changed = |event: &Event| match event {
        Event::Session { event: SessionEvent::Changed(meta), .. } => {
            (meta.model.as_deref() == Some("other")).then_some(())
        }
        _ => None,
    };
    engine.until(changed).await;
    engine.send(create()).await;
    assert_eq!(engine.opened().await.meta.model.as_deref(), Some("chosen"));
    engine.end().await;
}
