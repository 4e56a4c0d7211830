//! The screen's part in pictures: what the terminal says of itself, what the screen wants made, what a frame shows.

use super::Screen;
use crate::app::Msg;
use crate::domain::SessionId;
use crate::domain::picture::Want;
use crate::runtime::client::event::RuntimeEvent;
use crate::runtime::client::{Owed, Surface};
use crate::runtime::environment::env;
use crate::runtime::frames::{Pace, RawSequence};
use crate::runtime::graphics::make::{self, PictureJob};
use crate::runtime::graphics::way::{Able, TerminalProgram};
use crate::runtime::graphics::{Sending, Shrunk, kitty};
use crate::runtime::{encode, terminal};
use ratatui::buffer::Buffer;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::time::Instant;

impl Screen {
    /// Tells the screen whether there are pictures, and in cells of how many pixels.
    pub(super) fn tell_pictures(&mut self) {
        let cell = self.pictures.graphics.cell();
        if self.client.state.conversations.gallery.cell != cell {
            self.apply(Msg::Pictures(cell), Owed::User);
        }
    }

    /// The terminal said something of the pictures that it draws.
    pub(super) fn hears(&mut self, change: impl Fn(&mut Able)) {
        change(&mut self.answers.heard);
        change(&mut self.answers.known.pictures);
        self.decide_pictures();
    }

    /// The terminal said all. What it did not say again, it cannot: it may be another one than last time.
    pub(super) fn heard_all(&mut self) {
        let cell = self.answers.heard.cell.or_else(|| self.terminal.tty.cell());
        self.answers.known.pictures = Able { cell, ..self.answers.heard };
        self.pictures.graphics.be_sure();
        self.decide_pictures();
        self.frames.owed = Owed::User;
    }

    fn decide_pictures(&mut self) {
        if let Some(gone) = self.pictures.graphics.learn(&env, &self.answers.known.pictures) {
            self.let_go(gone);
            self.tell_pictures();
        }
    }

    /// The terminal has another size, and perhaps another font.
    pub(super) fn measure_again(&mut self) {
        if self.pictures.graphics.cell().is_none() {
            return;
        }
        // A frame of another size clears the screen. In kitty pictures outlive that, in Ghostty they go with it.
        if self.answers.known.pictures.program != Some(TerminalProgram::Kitty) {
            self.pictures.graphics.repaint();
        }
        if self.answers.heard.cell.is_some() {
            self.terminal.writer.control(terminal::ASK_CELL.as_bytes());
        } else if let Some(cell) = self.terminal.tty.cell() {
            self.answers.known.pictures.cell = Some(cell);
            self.decide_pictures();
        }
    }

    fn studio(&mut self) -> Sender<PictureJob> {
        let sessions = self.client.files.extensions.workspace().join("sessions");
        self.pictures.studio.get_or_insert_with(|| make::start(sessions, self.client.events.clone())).clone()
    }

    /// Looks how large pictures are.
    pub(super) fn measure(&mut self, session: SessionId, files: Vec<PathBuf>) {
        // A thread that is gone says nothing any more: pictures stay described.
        let _ = self.studio().send(PictureJob::Measure(session, files));
    }

    /// Makes pictures ready.
    pub(super) fn shrink(&mut self, session: SessionId, wants: Vec<Want>) {
        if let Some((way, cell)) = self.pictures.graphics.way() {
            let _ = self.studio().send(PictureJob::Shrink(session, wants, cell, way));
        }
    }

    /// A picture is ready, or there is none.
    pub(super) fn shrunk(&mut self, (session, want, made): Shrunk) {
        // One that was asked for before another session was shown, or the terminal said what it draws.
        let cells = self.client.state.conversations.gallery.ready(&want);
        if self.client.state.current_id() != Some(&session) || cells.is_none() {
            return;
        }
        let made = made.map(|form| {
            let held = self.pictures.graphics.held();
            let (number, gone) = self.pictures.graphics.take(&want, form);
            if !gone.is_empty() {
                self.let_go(gone.iter().copied().filter(|number| held.contains(number)).collect());
                self.apply(Msg::PicturesGone(gone), Owed::No);
            }
            number
        });
        self.apply(Msg::Shrunk { session, want, made }, Owed::Engine);
    }

    /// All of a picture was written: its cells can stand for it.
    pub(super) fn picture_sent(&mut self, number: u32) {
        self.pictures.graphics.sent(number);
        self.frames.owed = self.frames.owed.max(Owed::Engine);
    }

    /// Nothing of the session that was shown is kept.
    pub(super) fn forget_pictures(&mut self) {
        let gone = self.pictures.graphics.forget();
        self.let_go(gone);
    }

    /// The terminal need not keep these any more. Only kitty's way leaves it any.
    fn let_go(&mut self, numbers: Vec<u32>) {
        let delete = |number| RawSequence { bytes: kitty::delete(number).into_bytes(), done: None };
        self.terminal.writer.behind(numbers.into_iter().map(delete));
        self.terminal.guard.keeps(self.pictures.graphics.held());
    }

    /// Pictures of a drawn screen: those drawn over its cells, and those to be sent after the frame.
    pub(super) fn lay_pictures(
        &mut self,
        buffer: &mut Buffer,
        any: bool,
        now: Instant,
    ) -> (Vec<encode::Picture>, Vec<Sending>) {
        self.frames.pictures_at = None;
        if !any {
            return (Vec::new(), Vec::new());
        }
        let slow = Pace::is_slow(&self.terminal.writer.written(), now);
        let laid = self.pictures.graphics.lay(buffer, slow, now);
        self.frames.pictures_at = laid.again;
        (laid.over, laid.send)
    }

    /// Sends pictures, behind the frame that was put: it may clear the screen.
    pub(super) fn send_pictures(&mut self, pictures: Vec<Sending>) {
        if !pictures.is_empty() {
            self.terminal.guard.keeps(self.pictures.graphics.held());
        }
        for (number, pieces) in pictures {
            let last = pieces.len().saturating_sub(1);
            let piece = |(n, bytes)| {
                let tell = self.client.events.clone();
                let said = move || drop(tell.send(RuntimeEvent::PictureSent(number)));
                RawSequence { bytes, done: if n == last { Some(Box::new(said)) } else { None } }
            };
            self.terminal.writer.behind(pieces.into_iter().enumerate().map(piece));
        }
    }
}
