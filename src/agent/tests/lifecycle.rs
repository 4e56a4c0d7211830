//! Sessions as a whole: the list, changes in batches, the trash, branches.

use super::*;
use crate::domain::trash::TrashId;

async fn listed(engine: &mut Engine) -> Vec<SessionMeta> {
    engine
        .until(
            |event| {
                if let Event::Engine(EngineEvent::Listed { sessions }) = event { Some(sessions.clone()) } else { None }
            },
        )
        .await
}

async fn deleted(engine: &mut Engine) -> (SessionId, Option<TrashId>) {
    engine
        .until(|event| match event {
            Event::Engine(EngineEvent::Deleted { session, trash, .. }) => Some((session.clone(), trash.clone())),
            _ => None,
        })
        .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_workspace_defines_comes_at_the_start_and_when_it_changed() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    engine.until(|event| matches!(event, Event::Engine(EngineEvent::Configured(_))).then_some(())).await;
    let properties = |event: &Event| {
        if let Event::Engine(EngineEvent::Properties(all)) = event { Some((**all).clone()) } else { None }
    };
    assert_eq!(engine.until(properties).await.statuses.len(), 5);
    engine.send(Command::Engine(EngineCommand::List)).await;
    listed(&mut engine).await;
    let label = crate::domain::property::Definition::Label { name: "Bug".into(), under: None, value_type: None };
    engine.send(Command::Engine(EngineCommand::Define(label.clone()))).await;
    assert_eq!(engine.until(properties).await.labels[0].id, "bug");
    engine
        .send(Command::Engine(EngineCommand::Define(crate::domain::property::Definition::View {
            name: "v".into(),
            expression: "(".into(),
        })))
        .await;
    engine.notice("v").await;
    engine
        .store
        .define(&crate::domain::property::Definition::Label { name: "Later".into(), under: None, value_type: None })
        .unwrap();
    engine.send(Command::Engine(EngineCommand::List)).await;
    assert_eq!(engine.until(properties).await.labels.len(), 2, "another program's change is seen with the next list");
    let sessions = engine.store.session_dir(&id("a"));
    let path = sessions.ancestors().nth(2).unwrap().join("labels/config.json");
    let rules = r#"{"labels":[{"id":"a","autoRules":[{"pattern":"(?=x)"}]}]}"#;
    std::fs::write(path, rules).unwrap();
    engine.send(Command::Engine(EngineCommand::List)).await;
    engine.notice("rule of the label").await;
    let told = engine.until(properties).await;
    assert_eq!((told.labels.len(), told.problems.len()), (1, 1));
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_list_comes_from_the_cache_and_then_from_the_files() {
    let home = tempfile::tempdir().unwrap();
    stored(&store(home.path()), "a", |_| {});
    let mut engine = Engine::new(home.path());
    engine.send(Command::Engine(EngineCommand::List)).await;
    assert_eq!(listed(&mut engine).await.len(), 1);
    engine.end().await;
    stored(&store(home.path()), "b", |_| {});
    let mut engine = Engine::new(home.path());
    engine.send(Command::Engine(EngineCommand::List)).await;
    assert_eq!(listed(&mut engine).await.len(), 1, "as it was left");
    let changed = |event: &Event| {
        if let Event::Engine(EngineEvent::SessionChanged(meta)) = event { Some(meta.id.clone()) } else { None }
    };
    assert_eq!(engine.until(changed).await, id("b"), "what is new is told alone");
    std::fs::remove_dir_all(engine.store.session_dir(&id("a"))).unwrap();
    engine.send(Command::Engine(EngineCommand::List)).await;
    assert_eq!(listed(&mut engine).await.len(), 1, "no cache any more, and what is gone is gone");
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_changes_what_it_can_and_names_the_rest_once() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    let mut all: Vec<SessionId> = (0..20).map(|n| stored(&store, &format!("s{n}"), |_| {})).collect();
    let other = written(&store, "held", |_| {});
    all.push(id("held"));
    all.push(id("missing"));
    let mut engine = Engine::new(home.path());
    engine.open(&id("s0")).await;
    engine.act(&id("s1"), SessionCommand::send("hi")).await;
    engine.ended().await;
    engine.rest();
    engine
        .send(Command::Engine(EngineCommand::Change { sessions: all.clone(), change: PropertyChange::Flagged(true) }))
        .await;
    let notice = engine.notice("not changed").await;
    assert!(notice.text.starts_with("2 sessions") && notice.text.contains("held") && notice.text.contains("missing"));
    let changed: std::collections::BTreeSet<_> = engine
        .seen
        .iter()
        .filter_map(|(_, event)| {
            if let Event::Session { event: SessionEvent::Changed(meta), .. }
            | Event::Engine(EngineEvent::SessionChanged(meta)) = event
            {
                Some(meta).filter(|meta| meta.flagged)
            } else {
                None
            }
        })
        .map(|meta| meta.id.clone())
        .collect();
    assert_eq!(changed.len(), 20);
    drop(other);
    for session in &all[..20] {
        assert!(engine.store.read(session, 1).unwrap().meta.flagged, "{session}");
    }
    assert!(is_free(&engine.store, &id("s0")) && is_free(&engine.store, &id("s7")), "locks go back");
    assert!(!is_free(&engine.store, &id("s1")), "this one is written here");
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_work_only_where_there_is_a_directory() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let session = engine.talked("think about it").await;
    engine.act(&session, SessionCommand::Cwd(home.path().join("nowhere"))).await;
    engine.notice("nowhere").await;
    let there = home.path().to_owned();
    engine.act(&session, SessionCommand::Cwd(there.clone())).await;
    engine.changed(|meta| meta.cwd == there).await;
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_status_that_the_user_sets_in_a_turn_stays() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let session = engine.talked("think about it").await;
    assert_eq!(engine.store.read(&session, 1).unwrap().meta.status, "in-progress");
    engine.act(&session, SessionCommand::send("ask Shall I? | yes | no")).await;
    let request = engine
        .until(|event| {
            if let Event::Session { event: SessionEvent::Asked(request), .. } = event {
                Some(request.id.clone())
            } else {
                None
            }
        })
        .await;
    engine
        .send(Command::Engine(EngineCommand::Change {
            sessions: vec![session.clone()],
            change: PropertyChange::Status("done".into()),
        }))
        .await;
    engine.changed(|meta| meta.status == "done").await;
    let answer = crate::domain::request::UserAnswer::Reply("yes".into());
    engine.act(&session, SessionCommand::Answer { request, answer, shown: None }).await;
    engine.ended().await;
    assert_eq!(engine.store.read(&session, 1).unwrap().meta.status, "done");
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleting_stops_the_turn_and_the_trash_gives_back() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let session = engine.talked("hello").await;
    engine.act(&session, SessionCommand::send("ask Shall I? | yes | no")).await;
    engine.until(|event| matches!(event, Event::Session { event: SessionEvent::Asked(_), .. }).then_some(())).await;
    engine.send(Command::Engine(EngineCommand::Delete { sessions: vec![session.clone()], now: false })).await;
    assert_eq!(engine.ended().await, TurnEnd::Stopped);
    let (id, trash) = deleted(&mut engine).await;
    assert_eq!(id, session);
    assert!(!engine.store.session_dir(&session).exists());
    engine.send(Command::Engine(EngineCommand::Trash)).await;
    let there = engine
        .until(|event| if let Event::Engine(EngineEvent::Trash(there)) = event { Some(there.clone()) } else { None })
        .await;
    assert_eq!((there.len(), Some(&there[0].trash)), (1, trash.as_ref()));
    engine
        .send(Command::Engine(EngineCommand::Restore { trash: vec![trash.unwrap(), TrashId("nothing-1".into())] }))
        .await;
    assert_eq!(engine.changed(|_| true).await.id, session);
    engine.notice("Not restored: nothing-1").await;
    let rows = engine.open(&session).await.rows;
    assert!(rows.len() > 2, "{rows:?}");
    engine.act(&session, SessionCommand::send("and on")).await;
    engine.ended().await;
    engine.send(Command::Engine(EngineCommand::Delete { sessions: vec![session.clone()], now: true })).await;
    assert_eq!(deleted(&mut engine).await, (session, None));
    assert_eq!(engine.store.trash(), vec![]);
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_another_process_holds_is_not_deleted_and_what_was_never_written_is_just_gone() {
    let home = tempfile::tempdir().unwrap();
    let other = written(&store(home.path()), "held", |_| {});
    let mut engine = Engine::new(home.path());
    engine.send(Command::Engine(EngineCommand::Delete { sessions: vec![id("held")], now: false })).await;
    assert!(engine.notice("not deleted").await.text.contains("has it open"));
    engine.open(&id("held")).await;
    engine.send(Command::Engine(EngineCommand::Delete { sessions: vec![id("held")], now: false })).await;
    engine.notice("not deleted").await;
    drop(other);
    engine.send(Command::Engine(EngineCommand::Create(NewSession::default()))).await;
    let new = engine.until(|event| match event {
        Event::Session { event: SessionEvent::Opened(opened), .. } if opened.rows.is_empty() => {
            Some(opened.meta.id.clone())
        }
        _ => None,
    });
    let new = new.await;
    engine.send(Command::Engine(EngineCommand::Delete { sessions: vec![new.clone()], now: false })).await;
    assert_eq!(deleted(&mut engine).await, (new, None));
    engine.end().await;
}

/// A new session that is open and on no disk.
async fn blank(engine: &mut Engine) -> SessionId {
    engine.send(Command::Engine(EngineCommand::Create(NewSession::default()))).await;
    let opened = |event: &Event| match event {
        Event::Session { event: SessionEvent::Opened(opened), .. } => Some(opened.meta.id.clone()),
        _ => None,
    };
    engine.until(opened).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blank_session_is_gone_once_nobody_looks_at_it() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let session = blank(&mut engine).await;
    engine.act(&session, SessionCommand::Leave).await;
    assert_eq!(deleted(&mut engine).await, (session.clone(), None));
    // One in which something is typed stays, and comes back.
    let typed = blank(&mut engine).await;
    engine.act(&typed, SessionCommand::Draft { text: "half a".into(), attachments: Vec::new() }).await;
    engine.act(&typed, SessionCommand::Leave).await;
    assert_eq!(engine.open(&typed).await.draft, "half a");
    engine.end().await;
    assert_eq!(store(home.path()).draft(&typed).text, "half a", "also after a restart");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_chosen_in_a_blank_session_reaches_the_disk_with_its_first_message() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let session = blank(&mut engine).await;
    let mode = SessionCommand::Mode { mode: Mode::Explore, drop_plan: false };
    engine.act(&session, mode).await;
    engine.changed(|meta| meta.mode == Mode::Explore).await;
    engine.act(&session, SessionCommand::Leave).await;
    let opened = engine.open(&session).await;
    assert_eq!((opened.meta.mode, engine.store.list().sessions.len()), (Mode::Explore, 0));
    engine.act(&session, SessionCommand::send("hello")).await;
    engine.ended().await;
    engine.end().await;
    assert_eq!(store(home.path()).read(&session, 1).unwrap().meta.mode, Mode::Explore);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_the_start_old_trash_goes_and_idle_sessions_are_archived() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    for (name, flagged, unread) in
        [("old", false, false), ("flagged", true, false), ("unread", false, true), ("trash", false, false)]
    {
        stored(&store, name, |meta| (meta.flagged, meta.unread) = (flagged, unread));
    }
    store.delete(&id("trash"), At(2_000)).unwrap();
    let mut engine = Engine::with(home.path(), |settings| settings.inbox.archive_idle_days = Some(30));
    let fresh = engine.talked("hello").await;
    engine.send(Command::Engine(EngineCommand::List)).await;
    assert_eq!(engine.changed(|meta| meta.archived).await.id, id("old"));
    assert_eq!(engine.store.trash(), vec![]);
    for (session, archived) in [(id("old"), true), (id("flagged"), false), (id("unread"), false), (fresh, false)] {
        assert_eq!(engine.store.read(&session, 1).unwrap().meta.archived, archived, "{session}");
    }
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_id_that_was_taken_is_the_other_session_once_the_face_knows() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    engine.send(Command::Engine(EngineCommand::Create(NewSession::default()))).await;
    let old = engine.opened().await.meta.id;
    stored(&engine.store, old.as_str(), |_| {});
    // Both were sent before the client could know.
    engine.act(&old, SessionCommand::send("one")).await;
    engine.act(&old, SessionCommand::send("two")).await;
    let new = engine
        .until(|event| {
            if let Event::Session { event: SessionEvent::Reidentified { to }, .. } = event {
                Some(to.clone())
            } else {
                None
            }
        })
        .await;
    engine.ended().await;
    engine.ended().await;
    let texts = |rows: Vec<Message>| -> Vec<String> {
        rows.into_iter()
            .filter_map(|row| if let Body::User(user) = row.body { Some(user.text) } else { None })
            .collect()
    };
    assert_eq!(texts(engine.store.context(&new).unwrap()), ["one", "two"]);
    assert_eq!(texts(engine.store.context(&old).unwrap()), ["hello"]);
    engine.act(&new, SessionCommand::send("three")).await;
    engine.ended().await;
    assert_eq!(texts(engine.open(&old).await.rows), ["hello"]);
    engine.act(&old, SessionCommand::send("to the other")).await;
    engine.ended().await;
    assert_eq!(texts(engine.store.context(&old).unwrap()), ["hello", "to the other"]);
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn branches_take_along_what_was_said_and_going_back_ends_the_turn() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let session = engine.talked("hello").await;
    engine.act(&session, SessionCommand::send("ask Shall I? | yes | no")).await;
    engine.until(|event| matches!(event, Event::Session { event: SessionEvent::Asked(_), .. }).then_some(())).await;
    let first = engine.store.context(&session).unwrap()[0].id.clone();
    engine
        .send(Command::Engine(EngineCommand::Branch { session: session.clone(), at: Some(first.clone()), title: None }))
        .await;
    let branched = |event: &Event| match event {
        Event::Engine(EngineEvent::Branched { from, to, rewound }) => Some((from.clone(), to.clone(), *rewound)),
        _ => None,
    };
    let (from, to, rewound) = engine.until(branched).await;
    assert_eq!((&from, rewound), (&session, false));
    let opened = engine.open(&to).await;
    assert_eq!(opened.rows.len(), 1);
    assert_eq!(opened.meta.shown_title(), "hello (2)");
    assert_eq!(opened.meta.branched_from.map(|from| from.session), Some(session.clone()));
    engine.send(Command::Engine(EngineCommand::Rewind { session: session.clone(), at: first, files: None })).await;
    assert_eq!(engine.ended().await, TurnEnd::Stopped);
    let (_, back, rewound) = engine.until(branched).await;
    assert!(rewound && back != to);
    assert!(engine.store.context(&session).unwrap().len() > 2, "the old one stays");
    engine.act(&back, SessionCommand::send("another way")).await;
    engine.ended().await;
    let title = Some("My way".to_owned());
    engine.send(Command::Engine(EngineCommand::Branch { session: session.clone(), at: None, title })).await;
    let (_, named, _) = engine.until(branched).await;
    assert_eq!(engine.open(&named).await.meta.title, "My way");
    engine.send(Command::Engine(EngineCommand::Branch { session: id("missing"), at: None, title: None })).await;
    engine.notice("Can't branch missing").await;
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clearing_ends_the_turn_and_leaves_an_empty_session_of_the_same_name() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let session = engine.talked("hello").await;
    engine.act(&session, SessionCommand::Rename { title: "Mine".into() }).await;
    engine.act(&session, SessionCommand::send("ask Shall I? | yes | no")).await;
    engine.until(|event| matches!(event, Event::Session { event: SessionEvent::Asked(_), .. }).then_some(())).await;
    engine.send(Command::Session { id: session.clone(), command: SessionCommand::Clear }).await;
    assert_eq!(engine.ended().await, TurnEnd::Stopped);
    let opened = engine.opened().await;
    assert_eq!((opened.rows.len(), opened.meta.title.as_str(), opened.meta.id), (0, "Mine", session.clone()));
    let trash = engine.store.trash();
    assert!(trash.len() == 1 && trash[0].cleared);
    engine.act(&session, SessionCommand::send("anew")).await;
    engine.ended().await;
    let rows = engine.store.context(&session).unwrap();
    assert!(matches!(&rows[0].body, Body::User(user) if user.text == "anew"));
    engine.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_works_alone_takes_its_worktree_with_it_unless_something_is_in_it() {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("project");
    std::fs::create_dir_all(&project).unwrap();
    let alone = || Command::Engine(EngineCommand::Create(NewSession { worktree: true, ..NewSession::default() }));
    let mut engine = Engine::new(home.path());
    engine.send(alone()).await;
    engine.notice("Can't create the session").await;
    if std::process::Command::new("git").arg("--version").output().is_err() {
        return;
    }
    let git = |words: &[&str]| {
        let done = std::process::Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"])
            .args(words)
            .current_dir(&project)
            .output()
            .unwrap();
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "--quiet"]);
    git(&["commit", "--quiet", "--allow-empty", "-m", "first"]);
    let mut trees = Vec::new();
    for _ in 0..2 {
        engine.send(alone()).await;
        let meta = engine.opened().await.meta;
        let tree = meta.worktree.unwrap();
        assert_eq!((&meta.cwd, meta.first_cwd.as_ref()), (&tree.path, Some(&tree.path)));
        assert!(tree.path.join(".git").exists());
        engine.act(&meta.id, SessionCommand::send("hello")).await;
        engine.ended().await;
        trees.push((meta.id, tree.path));
    }
    std::fs::write(trees[1].1.join("new"), "work").unwrap();
    for (session, path) in &trees {
        engine.send(Command::Engine(EngineCommand::Delete { sessions: vec![session.clone()], now: false })).await;
        if *path == trees[1].1 {
            assert!(engine.notice("Kept").await.text.contains(&path.display().to_string()));
        }
        assert_eq!(deleted(&mut engine).await.0, *session);
    }
    assert_eq!((trees[0].1.exists(), trees[1].1.exists()), (false, true));
    // One that was never written leaves nothing behind.
    engine.send(alone()).await;
    let tree = engine.opened().await.meta.worktree.unwrap();
    engine.end().await;
    assert!(!tree.path.exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_health_of_a_session_is_told_also_while_it_is_written() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let session = engine.talked("hello").await;
    let report = |event: &Event| {
        if let Event::Engine(EngineEvent::Health(report)) = event { Some((**report).clone()) } else { None }
    };
    engine.send(Command::Engine(EngineCommand::Verify { session: session.clone(), repair: false })).await;
    let health = engine.until(report).await;
    assert!(health.is_sound() && health.messages >= 2 && health.session == session.as_str(), "{health:?}");
    engine.act(&session, SessionCommand::send("ask Shall I? | yes | no")).await;
    engine.until(|event| matches!(event, Event::Session { event: SessionEvent::Asked(_), .. }).then_some(())).await;
    engine.send(Command::Engine(EngineCommand::Verify { session: session.clone(), repair: true })).await;
    engine.notice("Can't repair session").await;
    engine.act(&session, SessionCommand::Stop).await;
    engine.changed(|meta| meta.activity == crate::domain::session::Activity::Idle).await;
    engine.send(Command::Engine(EngineCommand::Verify { session: session.clone(), repair: true })).await;
    assert!(engine.until(report).await.is_sound());
    // It is shown anew and can be written on.
    engine.opened().await;
    engine.act(&session, SessionCommand::send("and on")).await;
    engine.ended().await;
    engine.end().await;
}
