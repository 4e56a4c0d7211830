//! Preview of an undo of files, and the changes of a session: at several sizes, through a terminal emulator. With
//! `LISLE_PICTURES=DIR` each screen is also written there as SVG.

// What goes wrong in a helper of a test is the test's failure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::screen;

use lisle::app::state::State;
use lisle::app::state::overlay::{ChangesCard, Confirm, Deed, Overlay, RewindTo, UndoCard};
use lisle::domain::diff::FileDiff;
use lisle::domain::undo::{ChangeKind, ChangedFile, Changes, UndoAim, UndoDeed, UndoFile, UndoPlan, UndoState};
use lisle::domain::{At, MessageId};
use screen::{NOW, SIZES, one_session, session};
use std::path::PathBuf;

fn shots(name: &str, state: &State) {
    for (width, height) in SIZES {
        let (buf, _) = screen::draw(state, width, height);
        if let Ok(dir) = std::env::var("LISLE_PICTURES") {
            let file = format!("{dir}/{name}-{width}x{height}.svg");
            std::fs::write(file, screen::svg::picture(screen::terminal(&buf).screen(), true)).unwrap();
        }
        insta::assert_snapshot!(format!("{name}-{width}x{height}"), screen::text(&screen::terminal(&buf)));
    }
}

fn file(shown: &str, deed: UndoDeed, lines: Option<(u32, u32)>, state: UndoState) -> UndoFile {
    let path = PathBuf::from("/home/me/src/app").join(shown);
    UndoFile { path, shown: shown.to_owned(), deed, lines, state, during: None }
}

fn plan(aim: UndoAim) -> UndoPlan {
    let changed = UndoState::Changed("Changed since, not by this session.".to_owned());
    let lost = UndoState::Lost("Too large to record for commands: 4.2 MB.".to_owned());
    UndoPlan {
        aim,
        at: At(NOW.0 - 61 * 60_000),
        about: "Rename the redirect module and \u{1b}[31mmove its tests to a place of their own, please".to_owned(),
        any: true,
        files: vec![
            file("fixtures/large.bin", UndoDeed::Change, None, lost),
            file("src/auth/redirect.rs", UndoDeed::Change, Some((12, 3)), changed),
            file("src/auth/redirect/", UndoDeed::Remove, None, UndoState::Ready),
            file("src/auth/redirect/tests.rs", UndoDeed::Remove, Some((0, 48)), UndoState::Ready),
            file("src/auth/tests.rs", UndoDeed::Bring, Some((48, 0)), UndoState::Ready),
            file("tools/check.sh", UndoDeed::Mode, None, UndoState::Ready),
        ],
        gaps: vec!["Started before the files in /home/me/src/app were recorded.".to_owned()],
        commits: false,
    }
}

fn card(aim: UndoAim, selected: usize) -> UndoCard {
    let mut card = UndoCard::new(session(), aim.clone());
    card.plan = Some(plan(aim));
    card.selected = selected;
    card
}

#[test]
fn an_undo_before_it_is_done() {
    let mut state = one_session();
    state.overlays.push(Overlay::Undo(Box::new(card(UndoAim::Last, 1))));
    shots("undo", &state);
    let mut ticked = card(UndoAim::Redo, 1);
    ticked.also.insert(PathBuf::from("/home/me/src/app/src/auth/redirect.rs"));
    state.overlays = vec![Overlay::Undo(Box::new(ticked))];
    shots("redo-ticked", &state);
    let mut back = card(UndoAim::Since(MessageId::new("m")), 0);
    back.rewind = Some((RewindTo::After(MessageId::new("m")), None));
    state.overlays = vec![Overlay::Undo(Box::new(back))];
    shots("rewind-files", &state);
    state.overlays = vec![Overlay::Undo(Box::new(UndoCard::new(session(), UndoAim::Last)))];
    shots("undo-looking", &state);
    let mut nothing = card(UndoAim::Last, 0);
    nothing.plan.as_mut().unwrap().files.clear();
    state.overlays = vec![Overlay::Undo(Box::new(nothing))];
    shots("undo-nothing-known", &state);
}

#[test]
fn going_back_offers_the_files() {
    let mut state = one_session();
    let aim = UndoAim::Since(MessageId::new("m"));
    let kept = RewindTo::After(MessageId::new("m"));
    let deed = Deed::Rewind { session: session(), kept, text: None, files: Some(Box::new(plan(aim))) };
    let says = vec![
        "Opens a new session with everything up to the chosen entry.".to_owned(),
        "Files are unchanged; 6 files changed since can also be restored (f shows them)".to_owned(),
    ];
    let confirm = Confirm::new("Rewind?", says, "rewind", deed);
    state.overlays.push(Overlay::Confirm(Box::new(confirm)));
    shots("rewind-asks", &state);
}

#[test]
fn what_a_session_changed() {
    let mut state = one_session();
    let diff = |path: &str, old: Option<&str>, new: &str| Some(FileDiff::between(path, old, new));
    let old = "fn next(url: &Url) -> String {\n    let query = url.query();\n    decode(decode(query))\n}\n";
    let new = "fn next(url: &Url) -> String {\n    let query = url.query().unwrap_or_default();\n    decode(query)\n}\n\nfn decode(text: &str) -> String {\n    percent_decode(text)\n}\n";
    let one = |shown: &str, kind, diff, note: &str| ChangedFile { shown: shown.into(), kind, diff, note: note.into() };
    let changes = Changes {
        files: vec![
            one("assets/logo.png", ChangeKind::Changed, None, "not text"),
            one("src/auth/redirect.rs", ChangeKind::Changed, diff("src/auth/redirect.rs", Some(old), new), ""),
            one("src/new.rs", ChangeKind::Made, diff("src/new.rs", None, "fn new() {}\n"), ""),
            one("old.txt", ChangeKind::Removed, diff("old.txt", Some("gone\n"), ""), ""),
        ],
        more: 0,
        gaps: vec!["Some files were not recorded: the directory has more than 500 MB in all.".into()],
    };
    let card = |changes, selected| ChangesCard { session: session(), changes, selected, scroll: 0 };
    state.overlays = vec![Overlay::Changes(Box::new(card(Some(changes.clone()), 1)))];
    shots("changes", &state);
    state.overlays = vec![Overlay::Changes(Box::new(card(Some(changes), 0)))];
    shots("changes-no-text", &state);
    state.overlays = vec![Overlay::Changes(Box::new(card(Some(Changes::default()), 0)))];
    shots("changes-none", &state);
}
