//! The face's part in pictures: what the terminal says of itself, what the screen wants made, what a frame shows.

use super::super::encode;
use super::super::face::{Face, Owed, Told};
use super::super::frames::{Pace, Piece};
use super::super::{deeds, terminal};
use super::make::{self, Job};
use super::way::{Able, Program};
use super::{Sending, Shrunk, kitty};
use crate::app::Msg;
use crate::domain::SessionId;
use crate::domain::picture::Want;
use ratatui::buffer::Buffer;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::time::Instant;

impl Face {
    /// Tells the screen whether there are pictures, and in cells of how many pixels.
    pub(in super::super) fn tell_pictures(&mut self) {
        let cell = self.graphics.cell();
        if self.state.conversations.gallery.cell != cell {
            self.tell(Msg::Pictures(cell), Owed::User);
        }
    }

    /// The terminal said something of the pictures that it draws.
    pub(in super::super) fn hears(&mut self, change: impl Fn(&mut Able)) {
        change(&mut self.heard);
        change(&mut self.known.pictures);
        self.decide_pictures();
    }

    /// The terminal said all. What it did not say again, it cannot: it may be another one than last time.
    pub(in super::super) fn heard_all(&mut self) {
        let cell = self.heard.cell.or_else(|| self.tty.cell());
        self.known.pictures = Able { cell, ..self.heard };
        self.graphics.be_sure();
        self.decide_pictures();
        self.owed = Owed::User;
    }

    fn decide_pictures(&mut self) {
        if let Some(gone) = self.graphics.learn(&deeds::env, &self.known.pictures) {
            self.let_go(gone);
            self.tell_pictures();
        }
    }

    /// The terminal has another size, and perhaps another font.
    pub(in super::super) fn measure_again(&mut self) {
        if self.graphics.cell().is_none() {
            return;
        }
        // A frame of another size clears the screen. In kitty pictures outlive that, in Ghostty they go with it.
        if self.known.pictures.program != Some(Program::Kitty) {
            self.graphics.repaint();
        }
        if self.heard.cell.is_some() {
            self.writer.control(terminal::ASK_CELL.as_bytes());
        } else if let Some(cell) = self.tty.cell() {
            self.known.pictures.cell = Some(cell);
            self.decide_pictures();
        }
    }

    fn studio(&mut self) -> Sender<Job> {
        let sessions = self.commands.workspace.join("sessions");
        self.studio.get_or_insert_with(|| make::start(sessions, self.tell.clone())).clone()
    }

    /// Looks how large pictures are.
    pub(in super::super) fn measure(&mut self, session: SessionId, files: Vec<PathBuf>) {
        // A thread that is gone says nothing any more: pictures stay described.
        let _ = self.studio().send(Job::Measure(session, files));
    }

    /// Makes pictures ready.
    pub(in super::super) fn shrink(&mut self, session: SessionId, wants: Vec<Want>) {
        if let Some((way, cell)) = self.graphics.way() {
            let _ = self.studio().send(Job::Shrink(session, wants, cell, way));
        }
    }

    /// A picture is ready, or there is none.
    pub(in super::super) fn shrunk(&mut self, (session, want, made): Shrunk) {
        // One that was asked for before another session was shown, or the terminal said what it draws.
        let cells = self.state.conversations.gallery.ready(&want);
        if self.state.current_id() != Some(&session) || cells.is_none() {
            return;
        }
        let made = made.map(|form| {
            let held = self.graphics.held();
            let (number, gone) = self.graphics.take(&want, form);
            if !gone.is_empty() {
                self.let_go(gone.iter().copied().filter(|number| held.contains(number)).collect());
                self.tell(Msg::PicturesGone(gone), Owed::No);
            }
            number
        });
        self.tell(Msg::Shrunk { session, want, made }, Owed::Engine);
    }

    /// All of a picture was written: its cells can stand for it.
    pub(in super::super) fn picture_sent(&mut self, number: u32) {
        self.graphics.sent(number);
        self.owed = self.owed.max(Owed::Engine);
    }

    /// Nothing of the session that was shown is kept.
    pub(in super::super) fn forget_pictures(&mut self) {
        let gone = self.graphics.forget();
        self.let_go(gone);
    }

    /// The terminal need not keep these any more. Only kitty's way leaves it any.
    fn let_go(&mut self, numbers: Vec<u32>) {
        let delete = |number| Piece { bytes: kitty::delete(number).into_bytes(), done: None };
        self.writer.behind(numbers.into_iter().map(delete));
        self.guard.keeps(self.graphics.held());
    }

    /// Pictures of a drawn screen: those drawn over its cells, and those to be sent after the frame.
    pub(in super::super) fn lay_pictures(
        &mut self,
        buffer: &mut Buffer,
        any: bool,
        now: Instant,
    ) -> (Vec<encode::Picture>, Vec<Sending>) {
        self.pictures_at = None;
        if !any {
            return (Vec::new(), Vec::new());
        }
        let slow = Pace::is_slow(&self.writer.written(), now);
        let laid = self.graphics.lay(buffer, slow, now);
        self.pictures_at = laid.again;
        (laid.over, laid.send)
    }

    /// Sends pictures, behind the frame that was put: it may clear the screen.
    pub(in super::super) fn send_pictures(&mut self, pictures: Vec<Sending>) {
        if !pictures.is_empty() {
            self.guard.keeps(self.graphics.held());
        }
        for (number, pieces) in pictures {
            let last = pieces.len().saturating_sub(1);
            let piece = |(n, bytes)| {
                let tell = self.tell.clone();
                let said = move || drop(tell.send(Told::PictureSent(number)));
                Piece { bytes, done: if n == last { Some(Box::new(said)) } else { None } }
            };
            self.writer.behind(pieces.into_iter().enumerate().map(piece));
        }
    }
}
