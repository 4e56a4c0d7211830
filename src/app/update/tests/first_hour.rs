//! The first hour, counted in keys.

use super::*;
use crate::domain::attention::{Broken, Unfinished};

/// Presses keys and counts them.
fn press(screen: &mut Screen, keys: &[&str]) -> usize {
    for key in keys {
        screen.wait(2_000).draw(true).keys(key);
    }
    keys.len()
}

fn once() -> SessionCommand {
    SessionCommand::Answer { request: RequestId::new("r1"), answer: UserAnswer::Once, shown: None }
}

#[test]
fn a_request_is_approved_by_one_chord_or_three_keys() {
    for (keys, count) in [(&["f4"][..], 1), (&["f3", "y", "enter"][..], 3)] {
        let mut screen = Screen::new();
        screen.ask(approval("r1")).draw(true);
        assert_eq!(press(&mut screen, keys), count);
        assert_eq!(screen.acts(), [once()]);
    }
}

#[test]
fn a_request_of_another_session_is_answered_in_four_keys() {
    let mut screen = Screen::new();
    let mut other = meta("a");
    other.activity = Activity::NeedsYou("approve: bash cargo test".into());
    screen.whole(EngineEvent::SessionChanged(Box::new(other.clone())));
    let mut keys = press(&mut screen, &["f3"]);
    let opened = Opened { requests: vec![approval("r1")], ..snapshot(other) };
    screen.session("a", SessionEvent::Opened(Box::new(opened)));
    screen.fx.clear();
    keys += press(&mut screen, &["enter", "y", "enter"]);
    assert_eq!(screen.sent(), [Command::Session { id: id("a"), command: once() }]);
    assert_eq!(keys, 4);
}

#[test]
fn a_failed_request_is_retried_by_one_key() {
    let mut screen = Screen::new();
    let mut failed = meta("s");
    failed.unfinished = Some(Unfinished::new(Broken::Failed, "Server error (500)"));
    screen.session("s", SessionEvent::Changed(Box::new(failed)));
    screen.fx.clear();
    assert_eq!(press(&mut screen, &["enter"]), 1);
    assert_eq!(screen.acts(), [SessionCommand::Retry]);
}

#[test]
fn a_word_that_only_resembles_a_command_runs_nothing() {
    let mut screen = Screen::new();
    screen.type_text("/arcive").keys("enter");
    assert_eq!(screen.sent(), vec![], "a guess is asked about");
    assert!(format!("{:?}", screen.state.notices).contains("/archive"));
    assert_eq!(screen.text(), "/arcive");
    screen.keys("ctrl+c").type_text("/archi").keys("enter");
    assert!(screen.text().is_empty(), "what is typed in part runs");
}

#[test]
fn esc_says_what_else_it_would_stop() {
    let mut screen = Screen::new();
    let mut running = meta("s");
    running.activity = Activity::Running(At(NOON));
    screen.session("s", SessionEvent::Changed(Box::new(running)));
    screen.session("s", SessionEvent::TurnStarted { at: At(NOON) });
    let mut child = meta("c");
    child.parent = Some(crate::domain::session::SpawnedBy { session: id("s"), call: CallId::new("1") });
    (child.hidden, child.activity) = (true, Activity::Running(At(NOON)));
    screen.whole(EngineEvent::SessionChanged(Box::new(child)));
    screen.fx.clear();
    screen.wait(2_000).keys("esc");
    assert_eq!(screen.acts(), vec![]);
    assert!(format!("{:?}", screen.state.notices).contains("1 spawned session"));
    screen.wait(400).keys("esc");
    assert_eq!(screen.acts(), [SessionCommand::Stop]);
}

#[test]
fn a_bare_status_reports_and_one_with_a_word_sets() {
    use crate::app::state::overlay::Overlay;
    use crate::app::state::picker::Kind;
    let mut screen = Screen::new();
    screen.type_text("/status").keys("enter");
    let Some(Overlay::Picker(picker)) = screen.state.overlay() else { panic!("a report") };
    assert_eq!(picker.kind, Kind::SessionState);
    let facts: Vec<&str> = picker.items.iter().map(|item| item.label.as_str()).collect();
    for fact in ["state", "permission mode", "queue", "cost"] {
        assert!(facts.contains(&fact), "{facts:?}");
    }
}
