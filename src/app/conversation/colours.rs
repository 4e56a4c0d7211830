//! Colours of code: what the last frame drew without them goes to the highlighter, and what comes back is kept.
//!
//! One round at a time for a conversation: what is asked for meanwhile is asked for again by the frame after it.

use crate::app::effect::Effect;
use crate::app::state::State;
use crate::app::state::chat::Chat;
use crate::domain::code::{Block, Coloured};
use crate::domain::ids::SessionId;

/// Blocks whose colours are kept for a conversation.
const KEPT: usize = 400;

/// The last frame drew these blocks without all of their colours.
pub(crate) fn wanted(state: &mut State, blocks: Vec<Block>, fx: &mut Vec<Effect>) {
    let now = state.clock.now;
    let Some(session) = state.current_id().cloned() else { return };
    let Some(open) = state.conversations.open.get_mut(&session) else { return };
    if blocks.is_empty() || open.chat.colouring {
        return;
    }
    open.chat.colouring = true;
    open.chat.coloured_at = Some(now);
    fx.push(Effect::Highlight { session, blocks });
}

/// Colours came.
pub(crate) fn came(state: &mut State, session: &SessionId, blocks: Vec<Coloured>) {
    let Some(open) = state.conversations.open.get_mut(session) else { return };
    let chat = &mut open.chat;
    chat.colouring = false;
    if chat.colours.len() + blocks.len() > KEPT {
        chat.colours.clear();
    }
    chat.colours.extend(blocks.into_iter().map(|block| ((block.key, block.number), block)));
}

/// Drops the colours of an entry whose shown part has changed.
pub(crate) fn forget(chat: &mut Chat, key: i64) {
    chat.colours.retain(|(of, _), _| *of != key);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::state::open::Open;
    use crate::app::state::{Current, Size};
    use crate::domain::At;
    use std::sync::Arc;

    #[test]
    fn one_round_at_a_time() {
        let keys = Arc::new(crate::keymap::load(None).table);
        let mut state = State::new(keys, Size { width: 80, height: 24 }, At(1_000), 0);
        let session = SessionId::parse("260902-swift-river").unwrap();
        state.conversations.open.insert(session.clone(), Open::default());
        state.conversations.current = Current::Session(session.clone());
        let block = |number| Block { number, lang: "rust".to_owned(), text: "fn".to_owned(), ..Block::default() };
        let mut fx = Vec::new();
        wanted(&mut state, vec![block(0)], &mut fx);
        wanted(&mut state, vec![block(0), block(1)], &mut fx);
        assert_eq!(fx, [Effect::Highlight { session: session.clone(), blocks: vec![block(0)] }]);
        came(&mut state, &session, vec![Coloured { number: 0, whole: true, ..Coloured::default() }]);
        wanted(&mut state, vec![block(1)], &mut fx);
        assert_eq!(fx.len(), 2);
        let chat = &mut state.conversations.open.get_mut(&session).unwrap().chat;
        assert!(chat.colours[&(0, 0)].whole);
        forget(chat, 0);
        assert!(chat.colours.is_empty());
        // A highlighter that gave nothing back is not waited for.
        came(&mut state, &session, Vec::new());
        wanted(&mut state, vec![block(1)], &mut fx);
        assert_eq!(fx.len(), 3);
    }
}
