//! Files that go along: asked for, come, refused, taken out, sent.

use super::*;
use crate::app::effect::Effect;
use crate::app::state::composer::Picked;
use crate::domain::attachment::{Attachment, AttachmentKind};
use crate::protocol::{SessionCommand, SessionEvent};

pub(super) fn file(name: &str) -> Attachment {
    Attachment {
        name: name.to_owned(),
        path: format!("/s/attachments/1_{name}").into(),
        kind: AttachmentKind::Image,
        mime: "image/png".into(),
        bytes: 3,
        text: None,
    }
}

fn asked(path: &str) -> SessionCommand {
    SessionCommand::Attach { path: path.into() }
}

#[test]
fn a_pasted_path_goes_along_once_its_copy_is_there() {
    let mut screen = Screen::new();
    screen.msg(Msg::Paste("'/tmp/my plot.png'".to_owned()));
    assert_eq!(screen.acts(), [asked("/tmp/my plot.png")]);
    assert!(screen.state.composer().has_no_text() && !screen.state.composer().is_empty());
    screen.keys("enter");
    assert_eq!(screen.acts(), [], "not before the copy is there");
    let made = Ok(file("my plot.png"));
    screen.session("s", SessionEvent::Attached { path: "/tmp/my plot.png".into(), made });
    screen.keys("enter");
    assert_eq!(
        screen.acts(),
        [SessionCommand::Send { text: String::new(), attachments: vec![file("my plot.png")], piped: None }]
    );
    assert!(screen.state.composer().is_empty());
}

#[test]
fn a_path_that_cannot_go_along_is_pasted_as_text() {
    let mut screen = Screen::new();
    screen.msg(Msg::Paste("/tmp/no such".to_owned()));
    screen.session("s", SessionEvent::Attached { path: "/tmp/no such".into(), made: Err("It does not exist.".into()) });
    assert_eq!(screen.state.composer().text(), "/tmp/no such");
    assert!(screen.state.composer().files().is_empty());
}

#[test]
fn the_command_asks_for_several_and_backspace_takes_the_last_one_out() {
    let mut screen = Screen::new();
    screen.state.composer_mut().set("/attach a.png 'b c.png'");
    screen.keys("enter");
    assert_eq!(screen.acts(), [asked("a.png"), asked("b c.png")]);
    screen.session("s", SessionEvent::Attached { path: "a.png".into(), made: Ok(file("a.png")) });
    screen.keys("backspace");
    assert_eq!(screen.acts(), [], "one that is still copied has no copy to remove");
    screen.session("s", SessionEvent::Attached { path: "b c.png".into(), made: Ok(file("b c.png")) });
    assert_eq!(screen.acts(), [SessionCommand::Detach { path: "/s/attachments/1_b c.png".into() }]);
    screen.keys("backspace");
    assert_eq!(screen.acts(), [SessionCommand::Detach { path: "/s/attachments/1_a.png".into() }]);
    assert!(screen.state.composer().is_empty());
}

#[test]
fn behind_a_command_a_pasted_path_is_a_word() {
    let mut screen = Screen::new();
    screen.state.composer_mut().set("/cwd ");
    screen.msg(Msg::Paste("/tmp/a.png".to_owned()));
    assert_eq!(screen.state.composer().text(), "/cwd /tmp/a.png");
    assert_eq!(screen.acts(), []);
}

#[test]
fn the_picture_of_the_clipboard_is_copied_and_its_file_removed() {
    let mut screen = Screen::new();
    screen.keys("ctrl+v");
    assert!(screen.fx.contains(&Effect::Picture));
    screen.msg(Msg::Picture(Ok("/tmp/p/clipboard.png".into())));
    assert_eq!(screen.acts(), [asked("/tmp/p/clipboard.png")]);
    screen
        .session("s", SessionEvent::Attached { path: "/tmp/p/clipboard.png".into(), made: Ok(file("clipboard.png")) });
    assert!(screen.fx.contains(&Effect::Discard("/tmp/p/clipboard.png".into())));
    assert_eq!(screen.state.composer().files().there(), [file("clipboard.png")]);
}

#[test]
fn what_was_queued_comes_back_with_its_files() {
    let mut screen = Screen::new();
    let item = Queued {
        id: MessageId::new("q"),
        text: "look".to_owned(),
        at: At(NOON),
        redelivered: false,
        attachments: vec![file("a.png")],
        piped: None,
        client: None,
    };
    screen.session("s", SessionEvent::Queue { items: vec![item], held: false, steers: vec![] });
    screen.keys("up");
    assert_eq!(screen.state.composer().text(), "look");
    assert_eq!(screen.state.composer().files().there(), [file("a.png")]);
}

#[test]
fn files_are_selected_one_by_one() {
    let mut screen = Screen::new();
    let file = |name: &str| Attachment {
        name: name.to_owned(),
        path: format!("/s/attachments/{name}").into(),
        kind: crate::domain::attachment::AttachmentKind::Text,
        mime: "text/plain".to_owned(),
        bytes: 1,
        text: None,
    };
    screen.state.composer_mut().files_mut().add(vec![file("a"), file("b"), file("c")]);
    screen.type_text("x").keys("left").keys("left");
    assert_eq!(screen.state.composer().picked(), Some(Picked::File(2)));
    screen.keys("left").keys("enter");
    assert_eq!(screen.fx.pop(), Some(Effect::View(Box::new(file("b")))));
    screen.keys("ctrl+x").keys("ctrl+o");
    assert_eq!(screen.fx.pop(), Some(Effect::View(Box::new(file("b")))));
    screen.keys("backspace");
    assert_eq!(screen.state.composer().files().there(), [file("a"), file("c")]);
    assert_eq!(screen.acts(), [SessionCommand::Detach { path: "/s/attachments/b".into() }]);
    assert_eq!(screen.state.composer().picked(), Some(Picked::File(1)), "the next one is selected");
    screen.keys("right");
    assert_eq!(screen.state.composer().picked(), None);
    screen.keys("left").keys("esc");
    assert_eq!((screen.state.composer().picked(), screen.text().as_str()), (None, "x"));
    screen.keys("enter");
    assert_eq!(
        screen.acts(),
        [SessionCommand::Send { text: "x".to_owned(), attachments: vec![file("a"), file("c")], piped: None }]
    );
}
