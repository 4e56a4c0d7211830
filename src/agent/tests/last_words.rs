//! The end of an engine that could not save everything: each part is reported with the place of its text, and then comes the end.

use super::*;
use crate::domain::unsaved::{Refuge, Unsaved};

fn unsaved(events: &[Event]) -> Vec<Unsaved> {
    let all = events.iter().filter_map(|event| match event {
        Event::Session { event: SessionEvent::Unsaved(one), .. } => Some((**one).clone()),
        _ => None,
    });
    all.collect()
}

fn text_of(unsaved: &Unsaved) -> String {
    match &unsaved.refuge {
        Refuge::File(path) | Refuge::Salvage(path) => std::fs::read_to_string(path).unwrap(),
        Refuge::Nowhere { why, .. } => panic!("{why}"),
    }
}

#[tokio::test]
async fn what_was_saved_is_not_told() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    engine.talked("hello").await;
    assert_eq!(unsaved(&engine.end().await), []);
}

#[tokio::test]
async fn a_session_whose_folder_is_gone_is_told_with_its_whole_text() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let session = engine.talked("my first words").await;
    std::fs::remove_dir_all(engine.store.session_dir(&session)).unwrap();
    engine.act(&session, SessionCommand::send("my second words")).await;
    engine.ended().await;
    let events = engine.end().await;
    let [one] = &unsaved(&events)[..] else { panic!("{events:#?}") };
    assert!(matches!(events.last(), Some(Event::Engine(EngineEvent::Ended))));
    assert_eq!((&one.session, one.rows), (&session, 4), "{one:?}");
    let text = text_of(one);
    assert!(text.contains("my first words") && text.contains("my second words"), "{text}");
}

#[tokio::test]
async fn a_new_session_that_could_not_be_made_is_told_with_its_draft() {
    let home = tempfile::tempdir().unwrap();
    let workspace = home.path().join("data/workspaces/w");
    std::fs::create_dir_all(&workspace).unwrap();
    let mut engine = Engine::new(home.path());
    // Nothing can be made below a file.
    std::fs::write(workspace.join("sessions"), "").unwrap();
    std::fs::write(home.path().join("state"), "").unwrap();
    let session = engine.talked("only in memory").await;
    engine.act(&session, SessionCommand::Draft { text: "not sent".into(), attachments: vec![] }).await;
    let events = engine.end().await;
    let [one] = &unsaved(&events)[..] else { panic!("{events:#?}") };
    let text = text_of(one);
    assert!(one.rows == 2 && text.contains("only in memory") && text.contains("not sent"), "{one:?} {text}");
}

#[tokio::test]
async fn a_message_to_a_session_that_was_taken_over_comes_back_and_is_nowhere_else() {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(home.path());
    let session = engine.talked("hello").await;
    let taken = store(home.path()).take_over(&session, 10).unwrap();
    engine.act(&session, SessionCommand::send("words that come too late")).await;
    let back = |event: &Event| match event {
        Event::Session { event: SessionEvent::Refused { command: act, .. }, .. } => act.said().map(|said| said.text),
        _ => None,
    };
    assert_eq!(engine.until(back).await, "words that come too late");
    let events = engine.end().await;
    drop(taken);
    assert!(unsaved(&events).is_empty(), "{events:#?}");
}
