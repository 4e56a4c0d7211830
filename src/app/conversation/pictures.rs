//! Pictures of the conversation: files that came with rows are measured, and what a frame would have drawn is made ready.

use crate::app::effect::Effect;
use crate::app::state::State;
use crate::domain::ids::SessionId;
use crate::domain::picture::{KnownPicture, Want};
use std::path::PathBuf;

/// After each message: the session that is shown has files whose size is not known yet, or another one is shown.
pub(crate) fn settle(state: &mut State, fx: &mut Vec<Effect>) {
    let session = state.current_id().cloned();
    if state.conversations.gallery.turn_to(session.as_ref()) {
        fx.push(Effect::ForgetPictures);
    }
    let Some(open) = state.current_open_mut().filter(|open| !open.chat.unmeasured.is_empty()) else { return };
    let files = std::mem::take(&mut open.chat.unmeasured);
    let files = state.conversations.gallery.to_measure(files);
    if let (Some(session), false) = (session, files.is_empty()) {
        fx.push(Effect::Measure { session, files });
    }
}

/// Sizes came.
pub(crate) fn measured(state: &mut State, sizes: Vec<(PathBuf, KnownPicture)>) {
    state.conversations.gallery.measured(sizes);
}

/// The last frame had room for these pictures and did not have them.
pub(crate) fn wanted(state: &mut State, wants: Vec<Want>, fx: &mut Vec<Effect>) {
    if wants.is_empty() {
        return;
    }
    let wants = state.conversations.gallery.to_make(wants);
    if let (Some(session), false) = (state.current_id().cloned(), wants.is_empty()) {
        fx.push(Effect::Shrink { session, wants });
    }
}

/// A picture came.
pub(crate) fn made(state: &mut State, session: &SessionId, want: Want, made: Result<u32, String>) {
    if state.current_id() == Some(session) {
        state.conversations.gallery.made(want, made);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::state::gallery::Ready;
    use crate::app::state::open::Open;
    use crate::app::state::{Current, Size};
    use crate::domain::At;
    use crate::domain::picture::{Cells, Pixels};
    use std::sync::Arc;

    fn shown(state: &mut State, name: &str) -> SessionId {
        let session = SessionId::parse(name).unwrap();
        state.conversations.open.insert(session.clone(), Open::default());
        state.conversations.current = Current::Session(session.clone());
        session
    }

    #[test]
    fn a_file_is_measured_once_and_a_picture_is_made_once() {
        let keys = Arc::new(crate::keymap::load(None).table);
        let mut state = State::new(keys, Size { width: 80, height: 24 }, At(1_000), 0);
        let session = shown(&mut state, "260902-swift-river");
        let path = PathBuf::from("/s/attachments/a.png");
        let mut fx = Vec::new();
        for _ in 0..2 {
            let chat = &mut state.conversations.open.get_mut(&session).unwrap().chat;
            chat.unmeasured = vec![path.clone(), path.clone(), PathBuf::new()];
            settle(&mut state, &mut fx);
        }
        assert_eq!(fx, [Effect::Measure { session: session.clone(), files: vec![path.clone()] }]);
        let size = KnownPicture::Sized(Pixels { width: 4, height: 2 });
        measured(&mut state, vec![(path.clone(), size.clone())]);
        assert_eq!(state.conversations.gallery.known(&path), Some(&size));
        fx.clear();
        let want = Want { path: path.clone(), cells: Cells { cols: 2, rows: 1 } };
        wanted(&mut state, vec![want.clone(), want.clone()], &mut fx);
        wanted(&mut state, vec![want.clone()], &mut fx);
        assert_eq!(fx, [Effect::Shrink { session: session.clone(), wants: vec![want.clone()] }]);
        made(&mut state, &session, want.clone(), Ok(7));
        assert_eq!(state.conversations.gallery.ready(&want), Some(Ready::There(7)));
        // What the runtime let go is asked for again by the next frame.
        state.conversations.gallery.gone(&[7]);
        assert_eq!(state.conversations.gallery.ready(&want), None);
        made(&mut state, &session, want.clone(), Ok(8));
        // Another session is shown: its pictures are let go, and what comes late for the first one is nothing.
        fx.clear();
        shown(&mut state, "260902-calm-lake");
        settle(&mut state, &mut fx);
        assert_eq!((fx.as_slice(), state.conversations.gallery.ready(&want)), (&[Effect::ForgetPictures][..], None));
        made(&mut state, &session, want.clone(), Ok(9));
        assert_eq!(state.conversations.gallery.ready(&want), None);
        // What cannot be made is known as broken.
        let other = state.current_id().cloned().unwrap();
        made(&mut state, &other, want, Err("it is cut off".to_owned()));
        assert_eq!(state.conversations.gallery.known(&path), Some(&KnownPicture::Broken("it is cut off".to_owned())));
    }
}
