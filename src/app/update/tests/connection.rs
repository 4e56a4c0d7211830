//! A session that was made with a connection that is not configured here: another one can be chosen for it.

use super::*;
use crate::app::state::overlay::Overlay;
use crate::app::state::picker::Kind;
use crate::domain::ids::ConnectionName;
use crate::protocol::{ConnectionInfo, EngineEvent, SessionCommand, SessionEvent};

fn screen(change: impl FnOnce(&mut SessionMeta)) -> Screen {
    let mut screen = Screen::new();
    let here = ConnectionInfo {
        name: ConnectionName::new("here"),
        provider: "openai-compatible".into(),
        default_model: "usual".into(),
        small_model: String::new(),
        models: vec![],
        host: "http://127.0.0.1:1".into(),
        key_from: None,
        missing: None,
        offered: false,
    };
    let connections = vec![here];
    screen.whole(EngineEvent::Configured(Box::new(Configured { connections, ..Configured::default() })));
    let mut theirs = meta("s");
    theirs.connection = Some(ConnectionName::new("theirs"));
    theirs.connection_locked = true;
    theirs.unmapped = true;
    change(&mut theirs);
    screen.session("s", SessionEvent::Changed(Box::new(theirs)));
    screen.fx.clear();
    screen
}

fn stands_in(everywhere: bool) -> Vec<SessionCommand> {
    vec![SessionCommand::StandIn { connection: ConnectionName::new("here"), everywhere }]
}

#[test]
fn another_connection_can_be_named_for_it_and_for_all_of_its_name() {
    let mut screen = screen(|_| {});
    screen.type_text("/connection here").keys("enter");
    assert_eq!(screen.acts(), stands_in(false));
    screen.type_text("/connection here --all").keys("enter");
    assert_eq!(screen.acts(), stands_in(true));
    // What stands in can be changed.
    let mut screen = self::screen(|meta| (meta.unmapped, meta.stand_in) = (false, Some(ConnectionName::new("gone"))));
    screen.type_text("/connection here").keys("enter");
    assert_eq!(screen.acts(), stands_in(false));
}

#[test]
fn the_picker_opens_when_a_message_waits_for_the_choice() {
    let mut screen = screen(|_| {});
    screen.session("s", SessionEvent::ConnectionWanted { connection: ConnectionName::new("theirs") });
    assert!(matches!(screen.state.overlays.last(), Some(Overlay::Picker(picker)) if picker.kind == Kind::Connection));
    screen.keys("enter");
    assert_eq!(screen.acts(), [], "it appeared by itself, under the key");
    screen.wait(300).keys("enter");
    assert_eq!(screen.acts(), stands_in(false));
}

#[test]
fn one_that_is_here_stays_as_it_is() {
    let mut screen = screen(|meta| (meta.connection, meta.unmapped) = (Some(ConnectionName::new("here")), false));
    screen.type_text("/connection here --all").keys("enter");
    assert_eq!(screen.acts(), vec![]);
}
