//! Commands in the background: their list, and an end to one of them.

use super::*;
use crate::app::state::overlay::Overlay;
use crate::domain::job::{EndedBy, JobEnd, JobShown};

fn job(id: &str, runs: bool) -> JobShown {
    let end = JobEnd { at: At(NOON), words: "exit 0".into(), failed: false, by: EndedBy::Itself, protected: vec![] };
    JobShown {
        id: id.into(),
        command: format!("run {id}"),
        since: At(NOON),
        end: (!runs).then_some(end),
        bytes: 3,
        last: "x".into(),
    }
}

fn selected(screen: &Screen) -> Option<&str> {
    match screen.state.overlay() {
        Some(Overlay::Jobs(card)) => card.selected.as_deref(),
        _ => None,
    }
}

#[test]
fn one_that_goes_on_can_be_ended_and_one_that_ended_cannot() {
    let mut screen = Screen::new();
    let jobs = vec![job("old", false), job("one", true), job("two", true)];
    screen.session("s", SessionEvent::Jobs(jobs));
    screen.type_text("/jobs").keys("enter");
    assert_eq!(selected(&screen), Some("two"));
    screen.sent();
    screen.keys("up").keys("d");
    let kill = Command::Session { id: id("s"), command: SessionCommand::KillJob { job: "one".into() } };
    assert_eq!(screen.sent(), [kill]);
    // Others come and go; the selection stays with its job.
    screen.session("s", SessionEvent::Jobs(vec![job("one", false), job("two", true), job("new", true)]));
    assert_eq!(selected(&screen), Some("one"));
    screen.keys("d");
    assert_eq!(screen.sent(), []);
    screen.keys("esc");
    assert!(screen.state.overlay().is_none());
}

#[test]
fn quitting_asks_while_one_goes_on() {
    let mut screen = Screen::new();
    screen.session("s", SessionEvent::Jobs(vec![job("one", true)]));
    screen.type_text("/quit").keys("enter");
    assert!(matches!(screen.state.overlay(), Some(Overlay::ConfirmQuit)));
}
