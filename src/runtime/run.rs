//! The loop: wait for one thing, take what else is there, draw once if something changed.

use super::canvas::{self, Canvas, Shows};
use super::face::{Face, Owed, Told, now, utc_offset};
use super::frames::{Pace, Writer};
use super::graphics::Graphics;
use super::graphics::way::{self, Able};
use super::kept::FaceFile;
use super::memory::Memory;
use super::outbox::Outbox;
use super::signals::{Signal, Signals};
use super::terminal::{Guard, Queries, Screen, Wishes};
use super::tty::{Tty, TtyError};
use super::{Exit, LAST_SAVE, Link, Options, RunError, deeds, listen};
use crate::app::effect::Place;
use crate::app::state::Size;
use crate::app::{Msg, State, start};
use crate::domain::unsaved::Unsaved;
use crate::domain::{Command, Event, Level, Notice, Stamped};
use rustix::system::uname;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// A turn of the main loop that took longer is logged: nothing is drawn and no key is heard meanwhile.
const SLOW_TURN: std::time::Duration = std::time::Duration::from_millis(16);

/// Events of the engine that are taken before keys are looked at again.
const AT_ONCE: usize = 128;

/// Shows the screen until the user quits or the process is asked to end. The terminal is as before when it returns.
///
/// To be called on the main thread (`block_on`, not `spawn`): a panic of its thread gives the terminal back.
///
/// # Errors
/// When there is no usable terminal. What goes wrong once it is open is in the [`Exit`].
pub async fn run(link: Link, options: Options) -> Result<Exit, RunError> {
    let tty = Tty::open()?;
    let (tell, mut told) = unbounded_channel();
    let mut signals = Signals::listen().map_err(RunError::System)?;
    deeds::tell_of_the_log(&tell);
    let mut face = open(tty, link, options, tell)?;
    let result = turn(&mut face, &mut signals, &mut told).await;
    face.leave();
    // Saving needs no screen: the shell has its terminal back meanwhile.
    if !face.ended {
        let end = face.deadline.unwrap_or_else(|| Instant::now() + LAST_SAVE);
        let last = last_words(&mut face.link, &mut face.unsaved);
        face.ended = tokio::time::timeout_at(end.into(), last).await.is_ok();
    }
    Ok(Exit::after(result, face.ended, face.unsaved))
}

fn open(
    tty: Tty,
    link: Link,
    options: Options,
    tell: tokio::sync::mpsc::UnboundedSender<Told>,
) -> Result<Face, RunError> {
    let term = deeds::env("TERM").unwrap_or_default();
    if term == "dumb" {
        return Err(TtyError::Dumb(term).into());
    }
    let memory = Memory::of(&options.state_dir, &term, &deeds::env("TERM_PROGRAM").unwrap_or_default());
    let known = memory.recall();
    let (width, height) = tty.size();
    let mut state = State::new(options.keys, Size { width, height }, now(), utc_offset());
    state.lobby.sent.extend(options.first.map(Into::into));
    let kept = FaceFile::of(&options.state_dir);
    state.recall(kept.recall());
    let shows = Shows {
        colors: canvas::colors(&deeds::env),
        glyphs: options.glyphs.unwrap_or_else(|| canvas::signs(known.wide_signs, &deeds::env)),
        home: deeds::env("HOME").unwrap_or_default(),
    };
    let (canvas, problems) = Canvas::new(shows, options.themes, &options.theme, known.dark());
    let gone = tell.clone();
    let writer = Writer::start(Arc::clone(&tty.output), move || {
        let _ = gone.send(Told::Gone);
    })
    .map_err(RunError::System)?;
    writer.synchronize(known.synchronized);
    let queries = match Queries::for_term(&term) {
        Queries::Ask if way::may_ask(options.pictures, &deeds::env) => Queries::AskPictures,
        queries => queries,
    };
    let wishes = Wishes { mouse: options.mouse, queries, screen: Screen::Ours };
    let graphics = Graphics::new(options.pictures, &deeds::env, &known.pictures);
    let guard = Guard::take(tty.clone(), wishes)?;
    let listener = Some(listen(&tty, tell.clone()).map_err(RunError::System)?);
    let mut face = Face {
        guard,
        listener,
        writer,
        tty,
        state,
        canvas,
        link,
        backlog: Outbox::default(),
        timers: HashMap::new(),
        tell,
        pace: Pace::new(options.fps),
        owed: Owed::User,
        last_frame: None,
        memory,
        known,
        kept,
        graphics,
        heard: Able::default(),
        studio: None,
        commands: options.commands,
        workspaces: options.workspaces,
        finder: None,
        temp: std::env::temp_dir(),
        remember_theme: options.remember_theme,
        auto_signs: options.glyphs.is_none(),
        settings: options.settings,
        look: options.look,
        notify: options.notify,
        links: super::encode::links::known(&deeds::env),
        host: super::encode::links::Host::new(&uname().nodename().to_string_lossy(), &deeds::env),
        dragged: None,
        pictures_at: None,
        brush: None,
        editing: false,
        suspended: false,
        gone: false,
        ended: false,
        unsaved: Vec::new(),
        deadline: None,
        exit: None,
    };
    face.background();
    face.tell_pictures();
    face.tell_themes(problems);
    for effect in start(&mut face.state, options.resume) {
        face.perform(effect);
    }
    for notice in options.notices {
        face.tell(Msg::Notice(notice), Owed::User);
    }
    Ok(face)
}

async fn turn(face: &mut Face, signals: &mut Signals, told: &mut UnboundedReceiver<Told>) -> Result<Exit, RunError> {
    face.draw_if_due();
    loop {
        let next = next(face, signals, told).await;
        let began = Instant::now();
        match next {
            Next::Told(thing) => take(face, thing)?,
            Next::Signal(signal) => heed(face, signal)?,
            Next::Engine(event) => engine(face, event)?,
            Next::Room => face.backlog.send_kept(&face.link.commands),
            Next::Clock => {}
        }
        while let Ok(thing) = told.try_recv() {
            take(face, thing)?;
        }
        for _ in 0..AT_ONCE {
            let Ok(event) = face.link.events.try_recv() else { break };
            engine(face, Some(event))?;
        }
        face.expire();
        if let Some(exit) = face.exit.take() {
            return Ok(exit);
        }
        face.draw_if_due();
        let took = began.elapsed();
        if took > SLOW_TURN {
            tracing::debug!("a turn of the main loop took {} ms", took.as_millis());
        }
    }
}

/// Event that woke the loop.
enum Next {
    Told(Told),
    Signal(Signal),
    Engine(Option<Stamped>),
    /// The engine can take a command that was kept.
    Room,
    Clock,
}

async fn next(face: &mut Face, signals: &mut Signals, told: &mut UnboundedReceiver<Told>) -> Next {
    let (wake, kept) = (face.wake(), !face.backlog.is_empty());
    tokio::select! {
        biased;
        // A sender lives in the face, so this never ends.
        Some(thing) = told.recv() => Next::Told(thing),
        signal = signals.next() => Next::Signal(signal),
        _ = face.link.commands.reserve(), if kept => Next::Room,
        event = face.link.events.recv() => Next::Engine(event),
        () = until(wake) => Next::Clock,
    }
}

pub(super) async fn until(wake: Option<Instant>) {
    match wake {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

fn take(face: &mut Face, thing: Told) -> Result<(), RunError> {
    match thing {
        Told::Input(input) => face.input(input),
        Told::Msg(msg) => face.tell(msg, Owed::User),
        Told::Late(msg) => face.tell(msg, Owed::Engine),
        Told::Shrunk(session, want, made) => face.shrunk((session, want, made)),
        Told::PictureSent(number) => face.picture_sent(number),
        Told::Gone => face.terminal_gone(),
        Told::Returned => face.come_back().map_err(RunError::System)?,
        // The terminal is somebody else's already: nothing takes it from there.
        Told::Show(_) if face.editing => {}
        Told::Show(text) => face.show(text, Place::Pager),
        Told::Shown(shown) => {
            face.editing = false;
            face.come_back().map_err(RunError::System)?;
            if let Err(why) = shown {
                face.tell(Msg::Notice(Notice::new(Level::Error, why)), Owed::User);
            }
        }
        Told::Edited(edited) => {
            face.editing = false;
            face.come_back().map_err(RunError::System)?;
            face.tell(Msg::Edited(edited), Owed::User);
        }
    }
    Ok(())
}

fn heed(face: &mut Face, signal: Signal) -> Result<(), RunError> {
    match signal {
        // A key of the editor's makes a signal for the whole job.
        Signal::Interrupt if face.editing => {}
        Signal::Interrupt | Signal::End => face.terminate(),
        Signal::Size => face.resized(),
        Signal::Continued => face.continued().map_err(RunError::System)?,
    }
    Ok(())
}

fn engine(face: &mut Face, event: Option<Stamped>) -> Result<(), RunError> {
    let Some(event) = event else {
        face.ended = true;
        // Asked to end, it did, only without saying so.
        if face.deadline.is_none() {
            return Err(RunError::EngineGone);
        }
        face.quit();
        return Ok(());
    };
    let ended = event.event == Event::Ended;
    if let Event::Unsaved(unsaved) = &event.event {
        face.unsaved.push((**unsaved).clone());
    }
    // The end of a turn is what somebody waits for, above all who pressed Esc.
    let owed = if matches!(event.event, Event::TurnEnded { .. }) { Owed::User } else { Owed::Engine };
    face.tell(Msg::Engine(Box::new(event)), owed);
    if ended {
        face.ended = true;
        face.quit();
    }
    Ok(())
}

/// Tells the engine to end and waits until it has; what it could not save is added to `unsaved`.
pub(super) async fn last_words(link: &mut Link, unsaved: &mut Vec<Unsaved>) {
    // A second report does no harm: the screen may have asked already.
    let ask = link.commands.clone();
    tokio::spawn(async move { ask.send(Command::Shutdown).await });
    while let Some(event) = link.events.recv().await {
        match event.event {
            Event::Unsaved(one) => unsaved.push(*one),
            Event::Ended => return,
            _ => {}
        }
    }
}
