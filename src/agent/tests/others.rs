//! A workspace that another program writes too: what it does there is shown.

use super::*;

/// The other program's workspace with one session that it wrote just now.
fn theirs(home: &Path, name: &str) {
    let dir = home.join("data/workspaces/w/sessions/a");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(home.join("data/workspaces/w/config.json"), r#"{"id":"w","name":"Theirs","slug":"theirs"}"#)
        .unwrap();
    save(home, name, "");
}

/// The other program writes the session anew, as it does with each change: whole, and by rename.
fn save(home: &Path, name: &str, more: &str) {
    let path = home.join("data/workspaces/w/sessions/a/session.jsonl");
    let header = serde_json::json!({
        "id": "a", "createdAt": 5, "lastUsedAt": 6, "name": name, "messageCount": 1, "permissionMode": "ask",
        "sessionStatus": if more.is_empty() { "todo" } else { "done" },
    });
    let text = format!("{header}\n{{\"id\":\"m1\",\"type\":\"user\",\"content\":\"x\",\"timestamp\":6}}\n{more}");
    let temp = path.with_file_name("session.jsonl.tmp");
    std::fs::write(&temp, text).unwrap();
    let _ = std::fs::remove_file(&path);
    std::fs::rename(&temp, &path).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_another_program_does_in_its_workspace_is_shown() {
    let home = tempfile::tempdir().unwrap();
    theirs(home.path(), "Before");
    let mut engine = Engine::new(home.path());
    engine.send(Command::Engine(EngineCommand::List)).await;
    engine.until(|event| matches!(event, Event::Engine(EngineEvent::Listed { .. })).then_some(())).await;
    // Nobody has it open here. It is seen with the next look but one at the latest.
    for round in 0..50 {
        save(home.path(), &format!("Renamed {round}"), "");
        let now =
            tokio::time::timeout(Duration::from_secs(3), engine.changed(|meta| meta.title.starts_with("Renamed")));
        if now.await.is_ok() {
            break;
        }
    }
    // It is made, and it is gone.
    let dir = home.path().join("data/workspaces/w/sessions/b");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("session.jsonl"), "{\"id\":\"b\",\"createdAt\":5,\"name\":\"New there\"}\n").unwrap();
    engine.changed(|meta| meta.title == "New there").await;
    std::fs::remove_dir_all(&dir).unwrap();
    let gone = engine.until(|event| match event {
        Event::Engine(EngineEvent::Deleted { session, trash, .. }) => {
            Some((session.as_str().to_owned(), trash.clone()))
        }
        _ => None,
    });
    assert_eq!(gone.await, ("b".to_owned(), None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_is_open_there_as_well_says_so_and_takes_its_changes() {
    let home = tempfile::tempdir().unwrap();
    theirs(home.path(), "Before");
    let mut engine = Engine::new(home.path());
    let session = id("a");
    engine.send(Command::Session { id: session.clone(), command: SessionCommand::Open { rows: 50 } }).await;
    // It was written a moment ago.
    engine.notice("also open in another program").await;
    assert_eq!(engine.opened().await.meta.title, "Before");
    engine.act(&session, SessionCommand::send("hello")).await;
    engine.ended().await;
    let rows = std::fs::read_to_string(home.path().join("data/workspaces/w/sessions/a/session.jsonl")).unwrap();
    let rows: String = rows.lines().skip(2).map(|line| format!("{line}\n")).collect();
    save(home.path(), "Renamed there", &rows);
    let meta = engine.changed(|meta| meta.title == "Renamed there").await;
    assert_eq!(meta.status, "done");
    let told = engine.end().await;
    let also =
        told.iter().filter(|event| matches!(event, Event::Session { event: SessionEvent::Notice(notice), .. } if notice.text.contains("also open in")));
    assert_eq!(also.count(), 1, "once is enough");
}
