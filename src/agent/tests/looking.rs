//! Opening sessions: who holds them, what others do to them meanwhile, and what a death left.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn looking_holds_nothing_and_acting_does() {
    let home = tempfile::tempdir().unwrap();
    let session = stored(&store(home.path()), "s", |_| {});
    let mut engine = Engine::new(home.path());
    let opened = engine.open(&session).await;
    assert_eq!((opened.rows.len(), opened.meta.held_by), (1, None));
    assert!(is_free(&engine.store, &session), "a look keeps nobody out");
    engine.act(&session, SessionCommand::draft("unsent")).await;
    engine.act(&session, SessionCommand::send("hi")).await;
    engine.ended().await;
    assert!(!is_free(&engine.store, &session));
    let events: Vec<_> = engine
        .seen
        .iter()
        .filter(|(_, event)| matches!(event, Event::Session { event: SessionEvent::Opened(_), .. }))
        .collect();
    assert_eq!(events.len(), 1, "nobody wrote meanwhile, so nothing is shown anew");
    engine.send(Command::Session { id: session.clone(), command: SessionCommand::Leave }).await;
    engine.send(Command::Session { id: session.clone(), command: SessionCommand::Open { rows: 5 } }).await;
    let opened = engine.opened().await;
    assert!(opened.rows.len() > 2 && opened.draft == "unsent");
    assert!(is_free(&engine.store, &session), "it was left");
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reading_marks_the_file_and_lets_it_go() {
    let home = tempfile::tempdir().unwrap();
    let session = stored(&store(home.path()), "s", |meta| meta.unread = true);
    let mut engine = Engine::new(home.path());
    assert!(engine.open(&session).await.meta.unread);
    engine.act(&session, SessionCommand::Read).await;
    let meta = engine.changed(|meta| !meta.unread).await;
    assert_eq!(meta.last_read, Some(MessageId::new("s-1")));
    assert!(is_free(&engine.store, &session));
    assert!(!engine.store.read(&session, 1).unwrap().meta.unread);
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_written_elsewhere_is_shown_before_one_acts() {
    let home = tempfile::tempdir().unwrap();
    let session = stored(&store(home.path()), "s", |_| {});
    let mut engine = Engine::new(home.path());
    engine.open(&session).await;
    let Access::Writer(mut other) = engine.store.load(&session, 1).unwrap().access else { panic!("free") };
    other.append(&[said("theirs", "from elsewhere")], Durability::Synced).unwrap();
    other.close().unwrap();
    drop(other);
    engine.act(&session, SessionCommand::send("hi")).await;
    let opened = engine.opened().await;
    assert_eq!(opened.rows.last().unwrap().id.as_str(), "theirs");
    engine.ended().await;
    let rows = engine.store.context(&session).unwrap();
    assert_eq!(rows[1].id.as_str(), "theirs");
    assert!(matches!(&rows[2].body, Body::User(user) if user.text == "hi"));
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_another_holds_is_followed_and_can_be_had_when_it_is_let_go() {
    let home = tempfile::tempdir().unwrap();
    let mut other = written(&store(home.path()), "s", |_| {});
    let mut engine = Engine::new(home.path());
    let opened = engine.open(&id("s")).await;
    assert!(opened.meta.held_by.is_some());
    other.append(&[said("live", "as it comes")], Durability::Synced).unwrap();
    engine
        .until(|event| {
            matches!(event, Event::Session { event: SessionEvent::Row(row), .. } if row.id.as_str() == "live")
                .then_some(())
        })
        .await;
    engine.act(&id("s"), SessionCommand::send("hi")).await;
    assert!(engine.notice("Read-only").await.text.contains("has this session open"));
    other.close().unwrap();
    drop(other);
    let opened = engine.opened().await;
    assert_eq!((opened.meta.held_by, opened.rows.len()), (None, 2));
    engine.notice("can write here now").await;
    engine.act(&id("s"), SessionCommand::send("hi")).await;
    engine.ended().await;
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_at_rest_is_followed_when_another_process_begins_to_write() {
    let home = tempfile::tempdir().unwrap();
    let session = stored(&store(home.path()), "s", |_| {});
    let mut engine = Engine::new(home.path());
    assert_eq!(engine.open(&session).await.meta.held_by, None);
    let other = store(home.path());
    for round in 0..2 {
        let Access::Writer(mut journal) = other.load(&session, 1).unwrap().access else { panic!("free") };
        journal.append(&[said(&format!("first-{round}"), "from elsewhere")], Durability::Synced).unwrap();
        let opened = engine
            .until(|event| match event {
                Event::Session { event: SessionEvent::Opened(opened), .. } if opened.meta.held_by.is_some() => {
                    Some((**opened).clone())
                }
                _ => None,
            })
            .await;
        assert_eq!(opened.rows.last().unwrap().id.as_str(), format!("first-{round}"));
        // From here on row by row.
        let next = format!("second-{round}");
        journal.append(&[said(&next, "as it comes")], Durability::Synced).unwrap();
        engine
            .until(|event| {
                matches!(event, Event::Session { event: SessionEvent::Row(row), .. } if row.id.as_str() == next)
                    .then_some(())
            })
            .await;
        journal.close().unwrap();
        drop(journal);
        engine.notice("can write here now").await;
    }
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_who_look_at_a_session_at_rest_leave_each_other_alone() {
    let home = tempfile::tempdir().unwrap();
    let session = stored(&store(home.path()), "s", |_| {});
    let (mut one, mut two) = (Engine::new(home.path()), Engine::new(home.path()));
    for engine in [&mut one, &mut two] {
        engine.open(&session).await;
    }
    // A retry takes as long as any echo between the two would.
    two.talked("fail network 1").await;
    for engine in [&mut one, &mut two] {
        let again = engine.rest().into_iter().filter(
            |event| matches!(event, Event::Session { event: SessionEvent::Opened(one), .. } if one.meta.id == session),
        );
        assert_eq!(again.count(), 0);
    }
    one.end().await;
    two.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_followed_session_that_is_deleted_is_gone() {
    let home = tempfile::tempdir().unwrap();
    let other = written(&store(home.path()), "s", |_| {});
    let mut engine = Engine::new(home.path());
    engine.open(&id("s")).await;
    std::fs::remove_dir_all(engine.store.session_dir(&id("s"))).unwrap();
    let gone = engine.until(|event| {
        if let Event::Engine(EngineEvent::Deleted { session, trash, .. }) = event {
            Some((session.clone(), trash.clone()))
        } else {
            None
        }
    });
    assert_eq!(gone.await, (id("s"), None));
    drop(other);
    engine.end().await;
}

/// A session whose program died in a turn with this waiting.
fn died(store: &Store, mode: Mode) -> SessionId {
    let mut journal = written(store, "s", |meta| meta.mode = mode);
    journal.turn(true).unwrap();
    let item = crate::protocol::Queued {
        id: MessageId::new("q"),
        text: "waited".into(),
        at: At(2),
        redelivered: false,
        attachments: Vec::new(),
        piped: None,
        client: None,
    };
    journal.queue(vec![item]).unwrap();
    // Nothing is closed: that is how a death leaves it.
    drop(journal);
    id("s")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_death_left_goes_after_a_while_unless_it_is_held() {
    let home = tempfile::tempdir().unwrap();
    let session = died(&store(home.path()), Mode::Ask);
    let mut engine = Engine::new(home.path());
    let opened = engine.open(&session).await;
    assert!(opened.queue_held && opened.queue[0].redelivered);
    let at = engine
        .until(|event| {
            if let Event::Session { event: SessionEvent::Redelivering { at }, .. } = event { Some(*at) } else { None }
        })
        .await;
    assert!(at.is_some());
    assert!(!is_free(&engine.store, &session), "what is to be sent needs the writer");
    let again = engine.open(&session).await;
    assert_eq!((again.redelivery, again.queue.len()), (at, 1));
    engine.act(&session, SessionCommand::draft("x")).await;
    let none = engine
        .until(|event| {
            if let Event::Session { event: SessionEvent::Redelivering { at }, .. } = event { Some(*at) } else { None }
        })
        .await;
    assert_eq!(none, None);
    engine.act(&session, SessionCommand::Queue(QueueEdit::Release)).await;
    engine.ended().await;
    let rows = engine.store.context(&session).unwrap();
    assert!(rows.iter().any(|row| row.id.as_str() == "q"));
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_execute_what_a_death_left_waits_for_the_user() {
    let home = tempfile::tempdir().unwrap();
    let session = died(&store(home.path()), Mode::Execute);
    let mut engine = Engine::new(home.path());
    let opened = engine.open(&session).await;
    assert!(opened.queue_held && opened.queue.len() == 1 && opened.meta.mode == Mode::Ask);
    engine.act(&session, SessionCommand::Queue(QueueEdit::Release)).await;
    engine.ended().await;
    assert!(
        !engine
            .end()
            .await
            .iter()
            .any(|event| matches!(event, Event::Session { event: SessionEvent::Redelivering { .. }, .. }))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_place_far_from_the_end_is_shown_and_the_end_is_reached_page_by_page() {
    let home = tempfile::tempdir().unwrap();
    let mut journal = written(&store(home.path()), "s", |_| {});
    let rows: Vec<Message> = (0..200).map(|n| said(&format!("m{n}"), &format!("line {n}"))).collect();
    journal.append(&rows, Durability::Synced).unwrap();
    journal.close().unwrap();
    drop(journal);
    let mut engine = Engine::new(home.path());
    let query = |search, query: &str| Command::Engine(EngineCommand::Search { search, query: query.into() });
    engine.send(query(1, "\"line 50\"")).await;
    let at = engine
        .until(|event| match event {
            Event::Engine(EngineEvent::Found { search: 1, results, .. }) => results.first().map(|one| one.hits[0].at),
            _ => None,
        })
        .await;
    engine.send(Command::Session { id: id("s"), command: SessionCommand::OpenAt { at, rows: 20 } }).await;
    let opened = engine.opened().await;
    assert!(opened.rows.iter().any(|row| row.id.as_str() == "m50"));
    assert!(opened.earlier.is_some() && opened.rows.len() <= 21);
    let mut cursor = opened.later;
    let mut last = opened.rows.last().unwrap().clone();
    while let Some(at) = cursor {
        engine.send(Command::Session { id: id("s"), command: SessionCommand::Later { cursor: at, rows: 70 } }).await;
        let (rows, later) = engine
            .until(|event| match event {
                Event::Session { event: SessionEvent::LaterPage { rows, later }, .. } => Some((rows.clone(), *later)),
                _ => None,
            })
            .await;
        last = rows.last().cloned().unwrap_or(last);
        cursor = later;
    }
    assert_eq!(last.id.as_str(), "m199");
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn searches_end_with_what_was_looked_at_and_say_what_is_wrong_with_them() {
    let home = tempfile::tempdir().unwrap();
    for n in 0..30 {
        stored(&store(home.path()), &format!("s{n}"), |_| {});
    }
    let mut engine = Engine::new(home.path());
    let query = |search, query: &str| Command::Engine(EngineCommand::Search { search, query: query.into() });
    engine.send(query(7, "hello")).await;
    let mut found = 0;
    let end = engine
        .until(|event| match event {
            Event::Engine(EngineEvent::Found { search, results, end }) => {
                assert_eq!(*search, 7);
                found += results.len();
                end.clone()
            }
            _ => None,
        })
        .await;
    assert_eq!((found, end.sessions, end.stopped, end.error), (30, 30, false, None));
    engine.send(query(8, "status:")).await;
    let end =
        engine
            .until(|event| {
                if let Event::Engine(EngineEvent::Found { search: 8, end, .. }) = event { end.clone() } else { None }
            })
            .await;
    assert!(end.error.as_ref().is_some_and(|error| error.contains("at character")), "{end:?}");
    // What is replaced says nothing more; what replaces it does.
    engine.send(query(9, "hello")).await;
    engine.send(query(10, "")).await;
    engine.send(query(11, "nowhere to be found")).await;
    let end =
        engine
            .until(|event| {
                if let Event::Engine(EngineEvent::Found { search: 11, end, .. }) = event { end.clone() } else { None }
            })
            .await;
    assert_eq!((end.sessions, end.stopped), (30, false));
    let events = engine.end().await;
    assert!(!events.iter().any(|event| matches!(event, Event::Engine(EngineEvent::Found { search: 10, .. }))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_taken_over_and_the_one_that_lost_it_follows() {
    let home = tempfile::tempdir().unwrap();
    let mut first = Engine::new(home.path());
    let session = first.talked("hello").await;
    let mut second = Engine::new(home.path());
    assert!(second.open(&session).await.meta.held_by.is_some());
    second.act(&session, SessionCommand::TakeOver).await;
    second.notice("Session taken over").await;
    // The first gets the notice when it happens, not when it writes the next time.
    first.notice("took over").await;
    assert!(first.opened().await.meta.held_by.is_some());
    second.act(&session, SessionCommand::send("mine now")).await;
    second.ended().await;
    // What is sent there comes back.
    first.act(&session, SessionCommand::send("too late")).await;
    let refused = |event: &Event| match event {
        Event::Session { event: SessionEvent::Refused { command: act, .. }, .. } => act.said().map(|said| said.text),
        _ => None,
    };
    assert_eq!(first.until(refused).await, "too late");
    second.act(&session, SessionCommand::send("once more")).await;
    first
        .until(|event| match event {
            Event::Session { event: SessionEvent::Row(row), .. } => {
                matches!(&row.body, Body::User(user) if user.text == "once more").then_some(())
            }
            _ => None,
        })
        .await;
    second.ended().await;
    first.end().await;
    second.end().await;
}

#[tokio::test]
async fn who_claims_a_session_knows_before_it_sends_and_what_is_refused_comes_back() {
    let home = tempfile::tempdir().unwrap();
    let mut first = Engine::new(home.path());
    let session = first.talked("hello").await;
    let held = |event: &Event| {
        if let Event::Session { event: SessionEvent::Held { by }, .. } = event { Some(by.clone()) } else { None }
    };

    let mut second = Engine::new(home.path());
    second.act(&session, SessionCommand::Claim).await;
    assert!(second.until(held).await.is_some(), "the first one has it");
    second.act(&session, SessionCommand::send("not taken")).await;
    let (text, why) = second
        .until(|event| match event {
            Event::Session { event: SessionEvent::Refused { command: act, why }, .. } => {
                Some((act.said().map(|said| said.text).unwrap_or_default(), why.clone()))
            }
            _ => None,
        })
        .await;
    assert_eq!(text, "not taken");
    assert!(why.contains("has this session open"), "{why}");
    first.end().await;

    second.act(&session, SessionCommand::Claim).await;
    assert_eq!(second.until(held).await, None);
    // It is kept though nothing was done in it yet.
    let mut third = Engine::new(home.path());
    third.act(&session, SessionCommand::Claim).await;
    assert!(third.until(held).await.is_some());
    second.act(&session, SessionCommand::send("taken")).await;
    let accepted = |event: &Event| match event {
        Event::Session { event: SessionEvent::Accepted { id, queued }, .. } => Some((id.clone(), *queued)),
        _ => None,
    };
    let (id, queued) = second.until(accepted).await;
    assert!(!queued);
    second.ended().await;
    let of_message = |(_, event): &(Option<SessionId>, Event)| match event {
        Event::Session { event: SessionEvent::Row(row), .. } => {
            row.id == id && matches!(&row.body, Body::User(user) if user.text == "taken")
        }
        _ => false,
    };
    assert!(second.seen.iter().any(of_message));

    third.act(&session, SessionCommand::TakeOver).await;
    third.notice("Session taken over").await;
    second.act(&session, SessionCommand::Rename { title: "too late".into() }).await;
    assert!(second.until(held).await.is_some(), "it was taken over");
    second.end().await;
    third.end().await;
}

/// A message that is sent before the takeover was noticed comes back, whatever is faster.
#[tokio::test]
async fn a_message_to_a_session_that_was_just_taken_over_comes_back() {
    for round in 0..8 {
        let home = tempfile::tempdir().unwrap();
        let mut first = Engine::new(home.path());
        let session = first.talked("hello").await;
        let mut second = Engine::new(home.path());
        second.open(&session).await;
        second.act(&session, SessionCommand::TakeOver).await;
        if round % 2 == 0 {
            second.notice("Session taken over").await;
        }
        first.act(&session, SessionCommand::send("mine")).await;
        let answered = |event: &Event| match event {
            Event::Session { event: SessionEvent::Refused { command: act, .. }, .. } => {
                act.said().map(|said| Some(said.text))
            }
            Event::Session { event: SessionEvent::Accepted { .. }, .. } => Some(None),
            _ => None,
        };
        let back = first.until(answered).await;
        if round % 2 == 0 {
            assert_eq!(back.as_deref(), Some("mine"), "{round}");
        }
        first.end().await;
        second.end().await;
        let file = home.path().join(format!("data/workspaces/w/sessions/{session}/session.jsonl"));
        let there = std::fs::read_to_string(file).unwrap().contains("\"mine\"");
        assert_eq!(there, back.is_none(), "{round}: taken or given back, never both");
    }
}
