//! Workspaces: listed, made, and left for one another.

use super::*;
use crate::app::state::overlay::Overlay;
use crate::domain::workspace::Workspace;

fn workspace(name: &str, sessions: usize, current: bool) -> Workspace {
    Workspace { name: name.into(), path: format!("/data/{name}").into(), sessions, current, foreign: false }
}

fn listed() -> Screen {
    let mut screen = Screen::new();
    screen.type_text("/workspace").keys("esc enter");
    assert!(screen.fx.contains(&Effect::Workspaces));
    screen.msg(Msg::Workspaces(vec![workspace("default", 12, true), workspace("work", 3, false)]));
    screen
}

fn wanted(screen: &mut Screen) -> Vec<String> {
    let fx = std::mem::take(&mut screen.fx).into_iter();
    fx.filter_map(|effect| if let Effect::Workspace { written, .. } = effect { Some(written) } else { None }).collect()
}

fn quits(screen: &Screen) -> bool {
    screen.fx.contains(&Effect::Send(Command::Engine(EngineCommand::Shutdown)))
}

#[test]
fn they_are_listed_with_their_sessions_and_chosen() {
    let mut screen = listed();
    let Some(Overlay::Picker(picker)) = screen.state.overlay() else { panic!("a list") };
    let rows: Vec<_> = picker.items.iter().map(|item| (item.label.as_str(), item.facts.columns[0].as_str())).collect();
    assert_eq!((rows, picker.selected), (vec![("default", "12 sessions"), ("work", "3 sessions")], 0));
    screen.keys("down enter");
    assert_eq!(wanted(&mut screen), ["/data/work"]);
}

#[test]
fn what_is_typed_makes_a_new_one() {
    for (typed, expected) in [("play", "play"), ("~/x", "~/x"), ("wor", "/data/work")] {
        let mut screen = listed();
        screen.type_text(typed).keys("enter");
        assert_eq!(wanted(&mut screen), [expected], "{typed}");
    }
    let mut screen = Screen::new();
    screen.type_text("/workspace Two words").keys("enter");
    assert_eq!(wanted(&mut screen), ["Two words"]);
}

#[test]
fn drafts_are_kept_and_what_runs_is_told_of_before() {
    let mut screen = Screen::new();
    screen.type_text("half a thought").msg(Msg::Workspace(Ok(workspace("work", 3, false))));
    let sent = screen.fx.iter().any(|effect| {
        matches!(effect, Effect::Send(Command::Session { command: SessionCommand::Draft { text, .. }, .. }) if text == "half a thought")
    });
    assert!(sent && quits(&screen));
    screen.whole(EngineEvent::Ended);
    let leaves =
        |effect: &Effect| matches!(effect, Effect::Quit { workspace: Some(path), .. } if path.ends_with("work"));
    assert!(screen.fx.iter().any(leaves));

    let mut screen = Screen::new();
    let mut running = meta("a");
    running.activity = Activity::Running(At(NOON));
    screen.whole(EngineEvent::SessionChanged(Box::new(running)));
    screen.msg(Msg::Workspace(Ok(workspace("work", 3, false))));
    let Some(Overlay::Confirm(asked)) = screen.state.overlay() else { panic!("a question") };
    assert!(asked.title.contains("work") && asked.says[0].contains("its turn will be interrupted"), "{asked:?}");
    assert!(!quits(&screen));
    screen.wait(400).keys("enter");
    assert!(quits(&screen));
}

#[test]
fn one_that_cannot_be_opened_ends_nothing() {
    let mut screen = Screen::new();
    screen.msg(Msg::Workspace(Err("/x is a file.".into())));
    assert!(screen.last_notice().contains("/x is a file") && !quits(&screen));
    screen.msg(Msg::Workspace(Ok(workspace("default", 1, true))));
    assert!(screen.last_notice().contains("is already open") && !quits(&screen));
}

#[test]
fn the_question_before_the_end_says_what_really_happens() {
    let mut screen = Screen::new();
    let mut planned = meta("a");
    (planned.plan_pending, planned.activity) = (true, Activity::NeedsYou("a plan".into()));
    screen.whole(EngineEvent::SessionChanged(Box::new(planned)));
    let said = screen.state.leaving();
    assert_eq!(said, ["Title a: plan kept", "Everything is saved. Pending plans are kept."]);
    let mut running = meta("b");
    running.activity = Activity::Running(At(NOON));
    screen.whole(EngineEvent::SessionChanged(Box::new(running)));
    let mut asks = meta("c");
    asks.activity = Activity::NeedsYou("approve: bash cargo test".into());
    screen.whole(EngineEvent::SessionChanged(Box::new(asks)));
    let mut theirs = meta("d");
    (theirs.activity, theirs.held_by) = (Activity::Running(At(NOON)), Some("process 7".into()));
    screen.whole(EngineEvent::SessionChanged(Box::new(theirs)));
    assert_eq!(
        screen.state.leaving(),
        [
            "Title a: plan kept",
            "Title b: its turn will be interrupted",
            "Title c: approve: bash cargo test, will be interrupted",
            "Everything is saved. After a restart, Enter continues interrupted turns.",
        ],
        "another process's turn goes on"
    );
}
