//! The face: the screen's state with everything it needs from outside, and the small steps that the loop is made of.
//!
//! `run` is the loop; `effects` does what the screen asks for. Nothing is decided here but when a frame may go out.

use super::brush::Brush;
use super::canvas::{self, Canvas};
use super::encode;
use super::files::Finder;
use super::frames::{Pace, Writer};
use super::graphics::Graphics;
use super::graphics::make::{Form, Job};
use super::graphics::way::Able;
use super::input::thread::Listener;
use super::input::{Input, translate};
use super::kept::FaceFile;
use super::memory::{Known, Memory};
use super::outbox::Outbox;
use super::terminal::{Guard, Learnt};
use super::tty::Tty;
use super::workspaces::Workspaces;
use super::{Exit, Folders, Link};
use crate::app::msg::{MouseKind, Timer};
use crate::app::{Msg, State, chooses, resolve, update};
use crate::domain::picture::Want;
use crate::domain::unsaved::Unsaved;
use crate::domain::{At, SessionId};
use crate::ui;
use ratatui::layout::Rect;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use termina::event::{KeyEvent, KeyEventKind};
use tokio::sync::mpsc::UnboundedSender;

/// Event of the runtime's tasks and threads, for the loop.
#[derive(Debug)]
pub(super) enum Told {
    /// Input from the terminal.
    Input(Input),
    /// Message for the screen.
    Msg(Msg),
    /// Message for the screen that nobody waits for.
    Late(Msg),
    /// A picture of a session came, or why there is none.
    Shrunk(SessionId, Want, Result<Form, String>),
    /// All of the picture of this number was written.
    PictureSent(u32),
    /// A text for the pager.
    Show(String),
    /// The program that showed a text ended.
    Shown(Result<(), String>),
    /// The editor ended.
    Edited(Result<String, String>),
    /// The process was stopped, or would have been with job control, and goes on.
    Returned,
    /// The terminal is gone.
    Gone,
}

/// A window that is dragged to another size has every size in between. Each costs a layout of all that is seen, so a frame
/// waits until the hand rests, or for so long that the drawing still follows the hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dragged {
    /// The first change that was not drawn.
    begun: Instant,
    /// The last one.
    last: Instant,
}

impl Dragged {
    const REST: Duration = Duration::from_millis(14);
    const LONGEST: Duration = Duration::from_millis(80);

    /// Time when a frame may be drawn if nothing more changes.
    fn rests(self) -> Instant {
        (self.last + Self::REST).min(self.begun + Self::LONGEST)
    }
}

/// Reason for the next frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owed {
    /// No frame is owed.
    No,
    /// The engine: it may wait for the frame gap.
    Engine,
    /// The user: at once.
    User,
}

/// The screen's state with everything it needs from outside.
pub(super) struct Face {
    /// First, so that a panic that unwinds gives the terminal back before anything else ends.
    pub guard: Guard,
    pub listener: Option<Listener>,
    pub writer: Writer,
    pub tty: Tty,
    pub state: State,
    pub canvas: Canvas,
    pub link: Link,
    /// Commands that the engine had no room for yet, in order.
    pub backlog: Outbox,
    pub timers: HashMap<Timer, Instant>,
    pub tell: UnboundedSender<Told>,
    pub pace: Pace,
    pub owed: Owed,
    pub last_frame: Option<Instant>,
    pub memory: Memory,
    pub known: Known,
    pub kept: FaceFile,
    pub commands: Folders,
    pub workspaces: Workspaces,
    /// Started by the first question.
    pub finder: Option<Finder>,
    pub temp: PathBuf,
    pub remember_theme: super::RememberTheme,
    pub settings: super::SettingsFile,
    pub look: super::Look,
    /// A picture is drawn then, if it rests until then.
    pub pictures_at: Option<Instant>,
    /// The terminal's size changes and was not drawn yet.
    pub dragged: Option<Dragged>,
    /// Glyphs follow the terminal's answer.
    pub auto_signs: bool,
    /// The terminal knows links.
    pub links: bool,
    /// The pictures of the session that is shown.
    pub graphics: Graphics,
    /// Picture abilities that the terminal reported in this run.
    pub heard: Able,
    /// The thread that reads pictures, once there was any.
    pub studio: Option<Sender<Job>>,
    /// Way of notifying the user.
    pub notify: crate::config::settings::Notify,
    /// Host name in links to files.
    pub host: encode::links::Host,
    /// The thread that colours code, once there was any.
    pub brush: Option<Brush>,
    /// An editor has the terminal.
    pub editing: bool,
    /// The terminal was given back before the process was stopped.
    pub suspended: bool,
    /// The terminal is gone: nothing is written any more.
    pub gone: bool,
    /// The engine said its last word.
    pub ended: bool,
    /// Content that could not be saved.
    pub unsaved: Vec<Unsaved>,
    /// Until then the engine may save, after a signal; then the loop ends in any case.
    pub deadline: Option<Instant>,
    pub exit: Option<Exit>,
}

/// Now, by the wall clock.
pub(super) fn now() -> At {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    At(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Local time minus UTC, in seconds.
pub(super) fn utc_offset() -> i32 {
    jiff::Zoned::now().offset().seconds()
}

impl Face {
    /// Changes the state by one message and does what it asks for.
    pub fn tell(&mut self, msg: Msg, owed: Owed) {
        self.owed = self.owed.max(owed);
        for effect in update(&mut self.state, now(), msg) {
            self.perform(effect);
        }
    }

    /// Handles input from the terminal.
    pub fn input(&mut self, input: Input) {
        match input {
            Input::Key(event) => self.key(&event),
            Input::Typed(events) if chooses(&self.state) => {
                let text = events.iter().filter_map(|event| translate::key(event)?.printable()).collect();
                self.tell(Msg::Typed(text), Owed::User);
            }
            Input::Typed(events) => events.iter().for_each(|event| self.key(event)),
            Input::Mouse(event) => {
                if let Some(mouse) = translate::mouse(&event) {
                    if matches!(mouse.kind, MouseKind::Press | MouseKind::Drag | MouseKind::Release) {
                        self.tell(Msg::Spot(self.canvas.spot(mouse.col, mouse.row)), Owed::No);
                    }
                    self.tell(Msg::Mouse(mouse), Owed::User);
                }
            }
            Input::Focus(focused) => self.tell(Msg::Focus(focused), Owed::User),
            Input::Paste(text) => self.tell(Msg::Paste(text), Owed::User),
            Input::Answer(answer) => {
                let (learnt, bytes) = self.guard.answered(answer);
                self.writer.control(bytes.as_bytes());
                if let Some(learnt) = learnt {
                    self.learn(learnt);
                }
            }
            Input::Gone => self.terminal_gone(),
        }
    }

    fn key(&mut self, event: &KeyEvent) {
        let Some(key) = translate::key(event) else { return };
        // A key held down answers nothing.
        if event.kind == KeyEventKind::Repeat && key.printable().is_some() && chooses(&self.state) {
            return;
        }
        let msg = resolve(&self.state, key);
        self.tell(msg, Owed::User);
    }

    fn learn(&mut self, learnt: Learnt) {
        match learnt {
            Learnt::Synchronized(on) => {
                self.known.synchronized = on;
                self.writer.synchronize(on);
            }
            Learnt::Background(rgb) => {
                self.known.background = Some((rgb.0, rgb.1, rgb.2));
                self.background();
            }
            Learnt::WideSigns(wide) => {
                if std::mem::replace(&mut self.known.wide_signs, wide) != wide && self.auto_signs {
                    self.canvas.glyphs(canvas::signs(wide, &super::deeds::env));
                    self.owed = Owed::User;
                }
            }
            Learnt::Graphics => self.hears(|able| able.kitty = true),
            Learnt::Sixel => self.hears(|able| able.sixel = true),
            Learnt::Program(program) => self.hears(|able| able.program = Some(program)),
            Learnt::Cell(width, height) => self.hears(|able| able.cell = Some((width, height))),
            Learnt::All => {
                self.heard_all();
                let (memory, known) = (self.memory.clone(), self.known);
                tokio::task::spawn_blocking(move || {
                    if memory.recall() != known
                        && let Err(error) = memory.keep(known)
                    {
                        tracing::warn!("what the terminal answered could not be kept: {error}");
                    }
                });
            }
        }
    }

    /// The screen and the theme follow the terminal's background.
    pub fn background(&mut self) {
        if let Some(dark) = self.known.dark()
            && self.state.terminal.dark != Some(dark)
        {
            self.canvas.background(dark);
            self.tell(Msg::Background { dark }, Owed::User);
        }
    }

    /// Handles a terminal that is gone: saves what runs and ends the loop.
    pub fn terminal_gone(&mut self) {
        if !std::mem::replace(&mut self.gone, true) {
            self.listener = None;
            self.terminate();
        }
    }

    /// The program was asked to end from outside.
    pub fn terminate(&mut self) {
        if self.deadline.is_none() {
            self.deadline = Some(Instant::now() + super::LAST_SAVE);
            self.tell(Msg::Terminate, Owed::User);
        }
    }

    /// The terminal may have another size now.
    pub fn resized(&mut self) {
        let (width, height) = self.tty.size();
        if (self.state.screen.size.width, self.state.screen.size.height) != (width, height) {
            let now = Instant::now();
            let begun = self.dragged.map_or(now, |dragged| dragged.begun);
            self.dragged = Some(Dragged { begun, last: now });
            self.measure_again();
            self.tell(Msg::Resize { width, height }, Owed::User);
        }
    }

    /// Messages of the timers that have run out.
    pub fn expire(&mut self) {
        let now = Instant::now();
        let due: Vec<Timer> =
            self.timers.iter().filter(|(_, at)| **at <= now).map(|(timer, _)| timer.clone()).collect();
        for timer in due {
            self.timers.remove(&timer);
            if timer == Timer::Tick && utc_offset() != self.state.clock.utc_offset {
                self.tell(Msg::Zone { utc_offset: utc_offset() }, Owed::Engine);
            }
            self.tell(Msg::Timer(timer), Owed::Engine);
        }
        if self.deadline.is_some_and(|at| at <= now) {
            self.quit();
        }
    }

    /// The loop ends, whether the screen asked for it or not.
    pub fn quit(&mut self) {
        self.exit.get_or_insert_with(|| Exit::of(self.state.current_id().cloned()));
    }

    /// Time when the loop has to wake although nothing comes.
    pub fn wake(&self) -> Option<Instant> {
        let frame = if self.can_draw() { self.frame_due(Instant::now()) } else { None };
        let pictures = self.pictures_at.filter(|_| self.can_draw());
        self.timers.values().copied().chain(self.deadline).chain(frame).chain(pictures).min()
    }

    fn frame_due(&self, now: Instant) -> Option<Instant> {
        let due = match (self.owed, self.last_frame) {
            (Owed::No, _) => None,
            (Owed::User, _) | (Owed::Engine, None) => Some(now),
            (Owed::Engine, Some(last)) => Some(last + self.pace.gap(&self.writer.written(), now)),
        };
        due.map(|due| self.dragged.map_or(due, |dragged| due.max(dragged.rests())))
    }

    fn can_draw(&self) -> bool {
        !self.gone && self.guard.has_screen()
    }

    /// Draws once if a frame is owed and may go out now.
    pub fn draw_if_due(&mut self) {
        let now = Instant::now();
        if self.pictures_at.is_some_and(|at| at <= now) {
            self.pictures_at = None;
            self.owed = self.owed.max(Owed::Engine);
        }
        if !self.can_draw() || self.frame_due(now).is_none_or(|due| due > now) {
            return;
        }
        let area = Rect::new(0, 0, self.state.screen.size.width, self.state.screen.size.height);
        let mut buffer = self.writer.buffer(area);
        let drawn = self.canvas.draw(&self.state, &mut buffer);
        let (pictures, send) = self.lay_pictures(&mut buffer, drawn.pictures, now);
        let link =
            |link: ui::Link| encode::Link { x: link.x, y: link.y, width: link.width, url: self.host.told(link.url) };
        let links = if self.links { drawn.links.into_iter().map(link).collect() } else { Vec::new() };
        self.writer.put(encode::Frame { buffer, cursor: drawn.cursor, links, pictures });
        self.send_pictures(send);
        self.last_frame = Some(now);
        self.dragged = None;
        if self.owed == Owed::Engine {
            self.pace.drawn(now);
        }
        // What a frame finds out is no reason for another one.
        self.owed = Owed::No;
        self.tell(Msg::Drawn(Box::new(drawn.frame)), Owed::No);
    }

    /// Gives the terminal to somebody else. The reader stops first, so that no key of theirs is ours.
    pub fn leave(&mut self) {
        self.listener = None;
        self.writer.drop_behind();
        self.writer.settle(Duration::from_millis(200));
        self.graphics.left();
        self.guard.leave();
    }

    /// The process was stopped and goes on. When somebody else stopped it, the shell has changed the terminal under us:
    /// all of it is set anew.
    ///
    /// # Errors
    /// As [`Face::come_back`].
    pub fn continued(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.suspended) && self.can_draw() {
            self.leave();
        }
        self.come_back()
    }

    /// Takes the terminal again, and draws everything.
    ///
    /// # Errors
    /// When the terminal or the system refuses.
    pub fn come_back(&mut self) -> io::Result<()> {
        if self.gone || self.editing {
            return Ok(());
        }
        self.guard.enter().map_err(io::Error::other)?;
        if !self.guard.has_screen() {
            return Ok(());
        }
        if self.listener.is_none() {
            self.listener = Some(super::listen(&self.tty, self.tell.clone())?);
        }
        self.writer.forget();
        self.owed = Owed::User;
        self.resized();
        Ok(())
    }
}
