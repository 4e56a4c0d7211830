//! The end of the thread, also by a defect: nothing that was given is dropped without a word.
//!
//! After a panic nothing more is written, because nobody knows how far the journal came. What is given from then on is kept
//! in memory, every call fails, and [`super::Writer::rescue`] gets all of it out.

use super::{Call, Health, Op, WriterThread};
use crate::domain::message::UserText;
use crate::store::StoreError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Receiver;

/// The life of the thread.
pub(super) fn run(mut desk: WriterThread, inbox: &Receiver<Call>) {
    // What a panic leaves half done in the journal is only read afterwards.
    match catch_unwind(AssertUnwindSafe(|| desk.run(inbox))) {
        Ok(Some((reply, closed))) => {
            // The lock goes before the answer, so that whoever waits for it can have the session.
            drop(desk);
            let _ = reply.send(closed);
        }
        Ok(None) => {}
        Err(_) => desk.broken(inbox),
    }
}

impl WriterThread {
    fn broken(mut self, inbox: &Receiver<Call>) {
        let error = || StoreError::Broken { path: self.journal.dir().to_owned() };
        tracing::error!(error = %error(), "the thread that writes a session panicked");
        self.health.send_replace(Health::Over(error().to_string()));
        self.journal.lifecycle.break_off();
        while let Ok((grown, op)) = inbox.recv() {
            for (id, add) in grown {
                self.journal.grow(&id, &add);
            }
            let error = StoreError::Broken { path: self.journal.dir().to_owned() };
            let reply = match op {
                Op::Grown => continue,
                Op::Append(rows, _, reply) => {
                    rows.iter().for_each(|row| self.journal.hold(row));
                    reply
                }
                Op::Live(row, _, reply) => {
                    self.journal.hold_live(*row);
                    reply
                }
                Op::Rescue(why, draft, reply) => {
                    let rescued = catch_unwind(AssertUnwindSafe(|| self.journal.rescue(&why, &draft)));
                    let _ = reply.send(rescued.unwrap_or_default());
                    continue;
                }
                Op::Queue(queue, reply) => {
                    self.journal.live.content.queue = queue;
                    reply
                }
                Op::DropLive(_, reply)
                | Op::Turn(_, reply)
                | Op::Meta(_, _, _, reply)
                | Op::Clear(_, _, reply)
                | Op::Mine(reply)
                | Op::Flush(reply)
                | Op::Close(reply) => reply,
            };
            // A caller that no longer waits is no error.
            let _ = reply.send(Err(error));
        }
    }

    /// Logs the place of unsaved content when nobody can call any more.
    pub(super) fn abandoned(&mut self, error: &StoreError) {
        tracing::error!(%error, "a session was not saved whole");
        if let Some(unsaved) = self.journal.rescue(&format!("{error}."), &UserText::default()) {
            tracing::error!("{}", unsaved.words());
        }
    }
}
