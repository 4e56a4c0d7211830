//! The screen: a client that draws frames and reads keys. `open` takes the terminal, `effects` does what only a screen
//! can, `frame_schedule` says when a frame may go out, `pictures` what is drawn of pictures.

mod effects;
mod frame_schedule;
mod open;
mod pictures;
mod settings;

use super::client::event::{Events, RuntimeEvent};
use super::client::exit::{Exit, RunError};
use super::client::options::{Options, RememberTheme};
use super::client::{self, Client, Owed, Sources, Surface, background_tasks};
use super::encode;
use super::environment::env;
use super::files::Finder;
use super::frames::Writer;
use super::graphics::Graphics;
use super::graphics::make::PictureJob;
use super::graphics::way::Able;
use super::highlighter::Highlighter;
use super::input::answer::TerminalAnswer;
use super::input::thread::Listener;
use super::input::{Input, translate};
use super::renderer::{self, Renderer};
use super::signals::{Signal, Signals};
use super::terminal::{Guard, Learnt};
use super::terminal_cache::{TerminalAnswers, TerminalCache};
use super::tty::Tty;
use crate::agent::Link;
use crate::app::effect::TextTarget;
use crate::app::msg::MouseKind;
use crate::app::{Effect, Msg, chooses, repeats, resolve};
use crate::domain::{Level, Notice};
use crate::protocol::{Event, SessionEvent, Stamped};
use crate::ui;
use frame_schedule::FrameSchedule;
use ratatui::layout::Rect;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};
use termina::event::{KeyEvent, KeyEventKind};
use tokio::sync::mpsc::unbounded_channel;

/// Shows the screen until the user quits or the process is asked to end. The terminal is as before when it returns.
///
/// To be called on the main thread (`block_on`, not `spawn`): a panic of its thread gives the terminal back.
///
/// # Errors
/// When there is no usable terminal. What goes wrong once it is open is in the [`Exit`].
pub async fn run(link: Link, options: Options) -> Result<Exit, RunError> {
    let tty = Tty::open()?;
    let (tell, events) = unbounded_channel();
    let signals = Signals::listen().map_err(RunError::System)?;
    client::background_tasks::tell_of_the_log(&tell);
    let line = options.gateway.as_ref().map(|gateway| gateway.line.clone());
    let mut screen = open::open(tty, link, options, tell)?;
    let result = client::run(&mut screen, &mut Sources { signals, events, lines: None, line }).await;
    screen.leave();
    // Saving needs no screen: the shell has its terminal back meanwhile.
    Ok(screen.client.finish(result).await)
}

/// A terminal that is given back is not waited for longer.
const LAST_ANSWER: Duration = Duration::from_millis(400);

/// The terminal, while the screen has it.
struct ScreenTerminal {
    /// First, so that a panic that unwinds gives the terminal back before anything else ends.
    guard: Guard,
    listener: Option<Listener>,
    writer: Writer,
    tty: Tty,
    /// The terminal was given back before the process was stopped.
    suspended: bool,
}

/// Answers of the terminal about itself.
struct Answers {
    cache: TerminalCache,
    known: TerminalAnswers,
    /// The background is dark, as the environment says; for terminals that never do.
    dark: Option<bool>,
    /// Picture abilities that the terminal reported in this run.
    heard: Able,
}

impl Answers {
    /// The background is dark, as far as is known.
    fn dark(&self) -> Option<bool> {
        self.known.dark().or(self.dark)
    }
}

/// Pictures of the session that is shown.
struct Pictures {
    graphics: Graphics,
    /// The thread that reads pictures, once there was any.
    studio: Option<Sender<PictureJob>>,
}

/// Links that the terminal can follow.
struct Hyperlinks {
    /// The terminal knows links.
    known: bool,
    /// Host name in links to files.
    host: encode::links::Host,
}

/// A client with everything that its frames and keys need.
struct Screen {
    /// First: see [`ScreenTerminal::guard`].
    terminal: ScreenTerminal,
    client: Client,
    renderer: Renderer,
    frames: FrameSchedule,
    answers: Answers,
    pictures: Pictures,
    hyperlinks: Hyperlinks,
    /// The thread that colours code, once there was any.
    highlighter: Option<Highlighter>,
    /// Started by the first question.
    finder: Option<Finder>,
    remember_theme: RememberTheme,
    /// Way of notifying the user.
    notify: crate::config::settings::Notify,
    /// Glyphs follow the terminal's answer.
    auto_glyphs: bool,
    /// The list was shown for the first time, which ends the start.
    settled: bool,
}

/// Starts reading the terminal for the loop. What acknowledges frames goes to the writer at once.
fn listen(tty: &Tty, writer: &Writer, events: Events) -> io::Result<Listener> {
    let answered = writer.answered();
    let owed = {
        let answered = answered.clone();
        move || answered.is_owed()
    };
    Listener::start(Arc::clone(&tty.input), owed, move |input| {
        if input == Input::Answer(TerminalAnswer::Status) {
            answered.take();
            return true;
        }
        events.send(RuntimeEvent::Input(input)).is_ok()
    })
}

impl Surface for Screen {
    fn client(&self) -> &Client {
        &self.client
    }

    fn client_mut(&mut self) -> &mut Client {
        &mut self.client
    }

    fn perform(&mut self, effect: Effect) {
        self.perform_here(effect);
    }

    fn owe(&mut self, owed: Owed) {
        self.frames.owed = self.frames.owed.max(owed);
    }

    fn event(&mut self, event: RuntimeEvent) -> Result<(), RunError> {
        match event {
            RuntimeEvent::Input(input) => self.input(input),
            RuntimeEvent::Msg(msg) => self.apply(msg, Owed::User),
            RuntimeEvent::Late(msg) => self.apply(msg, Owed::Engine),
            RuntimeEvent::Shrunk(session, want, made) => self.shrunk((session, want, made)),
            RuntimeEvent::PictureSent(number) => self.picture_sent(number),
            RuntimeEvent::Gone => self.terminal_gone(),
            RuntimeEvent::Returned => self.come_back().map_err(RunError::System)?,
            // The terminal is somebody else's already: nothing takes it from there.
            RuntimeEvent::Show(_) if self.client.editing => {}
            RuntimeEvent::Show(text) => self.show(text, TextTarget::Pager),
            RuntimeEvent::Shown(shown) => {
                self.client.editing = false;
                self.come_back().map_err(RunError::System)?;
                if let Err(why) = shown {
                    self.apply(Msg::Notice(Notice::new(Level::Error, why)), Owed::User);
                }
            }
            RuntimeEvent::Edited(edited) => {
                self.client.editing = false;
                self.come_back().map_err(RunError::System)?;
                self.apply(Msg::Edited(edited), Owed::User);
            }
        }
        Ok(())
    }

    fn signal(&mut self, signal: Signal) -> Result<(), RunError> {
        match signal {
            // A key of the editor's makes a signal for the whole job.
            Signal::Interrupt if self.client.editing => {}
            Signal::Interrupt | Signal::End => self.terminate(),
            Signal::Hangup => self.terminal_gone(),
            Signal::Size => self.resized(),
            Signal::Continued => self.continued().map_err(RunError::System)?,
        }
        Ok(())
    }

    fn engine(&mut self, event: Stamped) {
        // The end of a turn is what somebody waits for, above all who pressed Esc.
        let owed = if matches!(event.event, Event::Session { event: SessionEvent::TurnEnded { .. }, .. }) {
            Owed::User
        } else {
            Owed::Engine
        };
        self.apply(Msg::Engine(Box::new(event)), owed);
    }

    fn wake(&self) -> Option<Instant> {
        if !self.can_draw() {
            return None;
        }
        let frame = self.frames.due(&self.terminal.writer.written(), Instant::now());
        frame.into_iter().chain(self.frames.pictures_at).min()
    }

    fn draw(&mut self) {
        self.draw_if_due();
        if !self.settled && self.client.state.sessions.loaded {
            self.settled = true;
            tokio::task::spawn_blocking(crate::sandbox::own_process::memory::give_back_start_code);
            let files = &self.client.files;
            // Of this machine, where nothing of lisle's own is in the list yet.
            if files.machine.is_none() && self.client.state.sessions.metas().all(|meta| meta.messages == 0) {
                background_tasks::look_for_histories(&self.client.events, files.state_dir.clone());
            }
        }
    }
}

impl Screen {
    /// Handles input from the terminal.
    pub fn input(&mut self, input: Input) {
        match input {
            Input::Key(event) => self.key(&event),
            Input::Typed(events) if chooses(&self.client.state) => {
                let text = events.iter().filter_map(|event| translate::key(event)?.printable()).collect();
                self.apply(Msg::Typed(text), Owed::User);
            }
            Input::Typed(events) => events.iter().for_each(|event| self.key(event)),
            Input::Mouse(event) => {
                if let Some(mouse) = translate::mouse(&event) {
                    if matches!(mouse.kind, MouseKind::Press | MouseKind::Drag | MouseKind::Release) {
                        self.apply(Msg::Spot(self.renderer.spot(mouse.col, mouse.row)), Owed::No);
                    }
                    self.apply(Msg::Mouse(mouse), Owed::User);
                }
            }
            Input::Focus(focused) => self.apply(Msg::Focus(focused), Owed::User),
            Input::Paste(text) => self.apply(Msg::Paste(text), Owed::User),
            Input::Answer(answer) => {
                let (learnt, bytes) = self.terminal.guard.answered(answer);
                self.terminal.writer.control(bytes.as_bytes());
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
        if event.kind == KeyEventKind::Repeat && !repeats(&self.client.state, key) {
            return;
        }
        let msg = resolve(&self.client.state, key);
        self.apply(msg, Owed::User);
    }

    fn learn(&mut self, learnt: Learnt) {
        match learnt {
            Learnt::Synchronized(on) => {
                self.answers.known.synchronized = on;
                self.terminal.writer.synchronize(on);
            }
            Learnt::Background(rgb) => {
                self.answers.known.background = Some((rgb.0, rgb.1, rgb.2));
                self.background();
            }
            Learnt::WideSigns(wide) => {
                if std::mem::replace(&mut self.answers.known.wide_signs, wide) != wide && self.auto_glyphs {
                    self.renderer.glyphs(renderer::signs(wide, &env));
                    self.frames.owed = Owed::User;
                }
            }
            Learnt::JoinedSigns(joined) => {
                if std::mem::replace(&mut self.answers.known.split_signs, !joined) == joined {
                    self.terminal.writer.join_signs(joined);
                    self.frames.owed = Owed::User;
                }
            }
            Learnt::Graphics => self.hears(|able| able.kitty = true),
            Learnt::Sixel => self.hears(|able| able.sixel = true),
            Learnt::Program(program) => self.hears(|able| able.program = Some(program)),
            Learnt::Cell(width, height) => self.hears(|able| able.cell = Some((width, height))),
            Learnt::All => {
                self.heard_all();
                let (memory, known) = (self.answers.cache.clone(), self.answers.known);
                tokio::task::spawn_blocking(move || {
                    if memory.recall() != known
                        && let Err(error) = memory.keep(known)
                    {
                        tracing::warn!("can't save the terminal's answers: {error}");
                    }
                });
            }
        }
    }

    /// The screen and the theme follow the terminal's background.
    pub fn background(&mut self) {
        if let Some(dark) = self.answers.dark()
            && self.client.state.terminal.dark != Some(dark)
        {
            self.renderer.background(dark);
            self.apply(Msg::Background { dark }, Owed::User);
        }
    }

    /// Handles a terminal that is gone: turns go on without it, and then all is saved.
    pub fn terminal_gone(&mut self) {
        if !self.client.gone {
            self.terminal.listener = None;
            self.hang_up();
        }
    }

    /// The terminal may have another size now.
    pub fn resized(&mut self) {
        let (width, height) = self.terminal.tty.size();
        if (self.client.state.screen.size.width, self.client.state.screen.size.height) != (width, height) {
            let now = Instant::now();
            self.frames.resized(now);
            self.measure_again();
            self.apply(Msg::Resize { width, height }, Owed::User);
        }
    }

    fn can_draw(&self) -> bool {
        !self.client.gone && self.terminal.guard.has_screen()
    }

    /// Tells once that the line is slow, with what helps over SSH.
    fn tell_slow(&mut self) {
        if self.frames.found_slow(&self.terminal.writer.written()) {
            let ssh = ["SSH_CONNECTION", "SSH_TTY"].iter().any(|name| env(name).is_some_and(|value| !value.is_empty()));
            let hint = if ssh { "Connect with ssh -C to compress what is sent" } else { "" };
            let notice = Notice::new(Level::Info, "Slow connection: drawing less often").hint(hint);
            self.apply(Msg::Notice(notice), Owed::Engine);
        }
    }

    /// Draws once if a frame is owed and may go out now.
    pub fn draw_if_due(&mut self) {
        self.tell_slow();
        let now = Instant::now();
        if self.frames.pictures_at.is_some_and(|at| at <= now) {
            self.frames.pictures_at = None;
            self.frames.owed = self.frames.owed.max(Owed::Engine);
        }
        if !self.can_draw() || self.frames.due(&self.terminal.writer.written(), now).is_none_or(|due| due > now) {
            return;
        }
        let area = Rect::new(0, 0, self.client.state.screen.size.width, self.client.state.screen.size.height);
        let mut buffer = self.terminal.writer.buffer(area);
        let drawn = self.renderer.draw(&self.client.state, &mut buffer);
        let (pictures, send) = self.lay_pictures(&mut buffer, drawn.pictures, now);
        let link = |link: ui::Link| encode::CellLink {
            x: link.x,
            y: link.y,
            width: link.width,
            url: self.hyperlinks.host.told(link.url),
        };
        let links = if self.hyperlinks.known { drawn.links.into_iter().map(link).collect() } else { Vec::new() };
        self.terminal.writer.put(encode::Frame { buffer, cursor: drawn.cursor, links, pictures });
        self.send_pictures(send);
        self.frames.drawn(now);
        self.apply(Msg::Drawn(Box::new(drawn.frame)), Owed::No);
    }

    /// Gives the terminal to somebody else. The reader stops before, so that no key of theirs is ours, but not before the
    /// terminal answered: what comes later would be theirs.
    pub fn leave(&mut self) {
        self.terminal.writer.drop_behind();
        if !self.terminal.writer.settle(LAST_ANSWER) {
            self.terminal.guard.owes_answers();
        }
        self.terminal.listener = None;
        self.pictures.graphics.left();
        self.terminal.guard.leave();
    }

    /// The process was stopped and goes on. When somebody else stopped it, the shell has changed the terminal under us:
    /// all of it is set anew.
    ///
    /// # Errors
    /// As [`Screen::come_back`].
    pub fn continued(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.terminal.suspended) && self.can_draw() {
            self.leave();
        }
        self.come_back()
    }

    /// Takes the terminal again, and draws everything.
    ///
    /// # Errors
    /// When the terminal or the system refuses.
    pub fn come_back(&mut self) -> io::Result<()> {
        if self.client.gone || self.client.editing {
            return Ok(());
        }
        self.terminal.guard.enter().map_err(io::Error::other)?;
        if !self.terminal.guard.has_screen() {
            return Ok(());
        }
        if self.terminal.listener.is_none() {
            self.terminal.listener =
                Some(listen(&self.terminal.tty, &self.terminal.writer, self.client.events.clone())?);
        }
        self.terminal.writer.forget();
        self.frames.owed = Owed::User;
        self.resized();
        Ok(())
    }
}
