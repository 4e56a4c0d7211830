//! The thread that colours code. It is started by the first block and holds the grammars and where it is in a block that
//! grows; what code is made of, `syntax` knows.

use super::client::event::{Events, RuntimeEvent};
use crate::app::Msg;
use crate::domain::SessionId;
use crate::domain::code::{Block, Coloured};
use crate::syntax::Painter;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// One block is coloured for no longer than this; what is left stays plain.
const LONGEST: Duration = Duration::from_millis(400);

/// The way to it. It ends when this is dropped.
pub(super) type Highlighter = Sender<(SessionId, Vec<Block>)>;

/// Starts it. Where there is no thread to be had, code stays plain.
pub(super) fn start(tell: Events) -> Highlighter {
    let (highlighter, blocks) = channel::<(SessionId, Vec<Block>)>();
    let thread = std::thread::Builder::new().name("lisle-colours".into()).spawn(move || {
        let mut painter = Painter::default();
        for (session, blocks) in blocks {
            let blocks = blocks.iter().map(|block| paint(&mut painter, block)).collect();
            if tell.send(RuntimeEvent::Late(Msg::Highlighted { session, blocks })).is_err() {
                return;
            }
        }
    });
    if let Err(error) = thread {
        tracing::warn!("can't highlight code: {error}");
    }
    highlighter
}

fn paint(painter: &mut Painter, block: &Block) -> Coloured {
    painter.load();
    let begun = Instant::now();
    painter.paint(block, &mut || begun.elapsed() > LONGEST)
}
