//! Core of a client, for the screen and for linear mode: the loop, timers, what goes to the engine, saving and the end.
//!
//! A [`Surface`] is what differs between the two: what it reads, and how it shows what changed.

pub mod background_tasks;
pub mod event;
pub mod exit;
pub mod options;
pub mod outbox;
pub mod settings_file;
mod sharing;
pub mod ui_state_file;

use super::environment::{now, utc_offset};
use super::extensions::ExtensionFiles;
use super::picture;
use super::signals::{Signal, Signals};
use super::workspaces::Workspaces;
use crate::agent::Link;
use crate::app::msg::Timer;
use crate::app::state::Size;
use crate::app::state::engine_facts::EngineLine;
use crate::app::{self, Effect, Msg, State};
use crate::domain::session::Activity;
use crate::domain::unsaved::Unsaved;
use crate::domain::{Level, Notice, SessionId};
use crate::gateway::remote::{LineState, LineView};
use crate::protocol::{
    Command, EngineCommand, EngineEvent, Event, NewSession, Reply, SessionEvent, ShownRequests, Stamped, ToClient,
};
use event::{Events, LineInput, RuntimeEvent};
use exit::{Exit, LAST_SAVE, RunError};
use options::{Examine, Options, ScreenOptions};
use outbox::CommandOutbox;
use settings_file::SettingsFile;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedReceiver;
use ui_state_file::UiStateFile;

/// A turn of the loop that took longer is logged: nothing is drawn and no key is heard meanwhile.
const SLOW_TURN: Duration = Duration::from_millis(16);

/// Events of the engine that are taken before keys are looked at again.
const AT_ONCE: usize = 128;

/// The engine, and the commands that it had no room for yet, in order.
pub(super) struct EngineLink {
    pub link: Link,
    pub backlog: CommandOutbox,
    pub shown: ShownRequests,
    /// Properties of new sessions that the command line asks for, where the engine is that of others.
    pub asked: NewSession,
}

/// Files and folders that a client reads and writes.
pub(super) struct ClientFiles {
    pub ui_state: UiStateFile,
    pub extensions: ExtensionFiles,
    pub workspaces: Workspaces,
    pub settings: SettingsFile,
    /// Folder of the screen's state.
    pub state_dir: PathBuf,
    /// The machine of the engine, where it is another one.
    pub machine: Option<String>,
    /// The doctor.
    pub examine: Examine,
    /// Folder for texts that go to other programs.
    pub temp: PathBuf,
}

/// Stage of the end.
#[derive(Default)]
pub(super) struct Ending {
    /// The engine said its last word.
    pub ended: bool,
    /// Content that could not be saved.
    pub unsaved: Vec<Unsaved>,
    /// There is no screen any more: the loop ends once no turn can go on.
    pub lingers: bool,
    /// Until then the engine may save, after a signal; then the loop ends in any case.
    pub deadline: Option<Instant>,
    /// The loop ends.
    pub exit: Option<Exit>,
}

/// The state with what every client needs from outside.
pub(super) struct Client {
    pub state: State,
    pub engine: EngineLink,
    pub timers: HashMap<Timer, Instant>,
    pub events: Events,
    pub files: ClientFiles,
    pub ending: Ending,
    /// An editor has the terminal.
    pub editing: bool,
    /// The terminal or the reader of the lines is gone: nothing is written any more.
    pub gone: bool,
}

/// Parts that a client begins with.
pub(super) struct Start {
    resume: Option<SessionId>,
    notices: Vec<Notice>,
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

/// Sources of the loop's messages.
pub(super) struct Sources {
    pub signals: Signals,
    pub events: UnboundedReceiver<RuntimeEvent>,
    /// Lines, where they are the input.
    pub lines: Option<UnboundedReceiver<LineInput>>,
    /// The line to a gateway, where the engine is not in this process.
    pub line: Option<LineView>,
}

impl Client {
    /// The state as it was left last, before anything is asked of the engine.
    pub fn open(link: Link, options: Options, size: Size, events: Events) -> (Self, Start, ScreenOptions) {
        let mut state = State::new(options.keys, size, now(), utc_offset());
        state.screen.status.clone_from(&options.screen.status);
        state.lobby.sent.extend(options.first.map(Into::into));
        let ui_state = UiStateFile::of(&options.state_dir);
        state.recall(ui_state.recall());
        if options.gateway.is_some() {
            state.engine.line = EngineLine::Joined;
        }
        let asked = options.gateway.as_ref().map(|gateway| gateway.asked.clone()).unwrap_or_default();
        let asked = NewSession { alias: options.alias, ..asked };
        let files = ClientFiles {
            ui_state,
            extensions: options.extensions,
            workspaces: options.workspaces,
            settings: options.settings,
            state_dir: options.state_dir,
            machine: options.gateway.and_then(|gateway| gateway.machine),
            examine: options.examine,
            temp: std::env::temp_dir(),
        };
        let client = Self {
            state,
            engine: EngineLink { link, backlog: CommandOutbox::default(), shown: ShownRequests::default(), asked },
            timers: HashMap::new(),
            events,
            files,
            ending: Ending::default(),
            editing: false,
            gone: false,
        };
        (client, Start { resume: options.resume, notices: options.notices }, options.screen)
    }

    /// Does what an effect asks of every client. The others belong to the surface.
    pub fn perform(&mut self, effect: Effect) {
        let (events, files) = (&self.events, &self.files);
        match effect {
            Effect::Send(mut command) => {
                if let Command::Session { id, command } = &mut command {
                    self.engine.shown.quote(id, command);
                }
                if let Command::Engine(EngineCommand::Create(new)) = &mut command {
                    let asked = &mut self.engine.asked;
                    new.alias = new.alias.take().or_else(|| asked.alias.take());
                    new.connection = new.connection.take().or_else(|| asked.connection.clone());
                    new.model = new.model.take().or_else(|| asked.model.clone());
                    new.mode = new.mode.or(asked.mode);
                }
                self.engine.backlog.send(&self.engine.link.requests, command);
            }
            Effect::Arm { timer, ms } => {
                self.timers.insert(timer, Instant::now() + Duration::from_millis(ms));
            }
            Effect::Disarm(timer) => {
                self.timers.remove(&timer);
            }
            Effect::View(file) => background_tasks::view(events, *file),
            Effect::Browse(url) => background_tasks::browse(events, url),
            Effect::Picture => background_tasks::picture(events, files.temp.clone()),
            Effect::Discard(file) => drop(tokio::task::spawn_blocking(move || picture::discard(&file))),
            Effect::Share { session } => {
                let upload = sharing::uploads(files);
                self.perform(Effect::Send(Command::Engine(EngineCommand::Share { session, upload })));
            }
            Effect::SharePage(file) => sharing::page(events, files, file),
            Effect::OfferUpload(file) => sharing::offer(events, files, file),
            Effect::Upload(file) => sharing::upload(events, files, file),
            Effect::Unshare { session } => sharing::unshare(events, files, session),
            Effect::Histories => background_tasks::count_histories(events, files.machine.is_none()),
            Effect::Settings => background_tasks::read_settings(events, &files.settings),
            Effect::Commands { cwd } => background_tasks::read_commands(events, &files.extensions, cwd),
            Effect::KeepFace(kept) => background_tasks::save_ui_state(&files.ui_state, *kept),
            Effect::Workspaces | Effect::Workspace { .. } if files.machine.is_some() => {
                background_tasks::workspaces_elsewhere(events, files.machine.as_deref().unwrap_or_default());
            }
            Effect::Workspaces => background_tasks::list_workspaces(events, &files.workspaces),
            Effect::Workspace { written, create, from } => {
                background_tasks::find_workspace(events, &files.workspaces, (written, create), from);
            }
            Effect::Quit { resume, workspace } => {
                self.ending.exit = Some(Exit { workspace, ..Exit::of(resume) });
            }
            Effect::Copy(_)
            | Effect::Title(_)
            | Effect::Bell { .. }
            | Effect::Suspend
            | Effect::Repaint
            | Effect::Edit { .. }
            | Effect::Show { .. }
            | Effect::ShowCode { .. }
            | Effect::EditFile { .. }
            | Effect::Mouse { .. }
            | Effect::Theme { .. }
            | Effect::Set { .. }
            | Effect::Doctor
            | Effect::Find { .. }
            | Effect::Highlight { .. }
            | Effect::Measure { .. }
            | Effect::Shrink { .. }
            | Effect::ForgetPictures => {}
        }
    }

    /// True if a turn goes on that ends with this process.
    pub fn can_linger(&self) -> bool {
        let goes_on = |activity: &Activity| matches!(activity, Activity::Running(_) | Activity::Stopping);
        let mut ours = self.state.sessions.metas().filter(|meta| meta.held_by.is_none());
        self.state.engine.line == EngineLine::Own && ours.any(|meta| goes_on(&meta.activity))
    }

    /// Time when the loop has to wake although nothing comes.
    fn wake(&self) -> Option<Instant> {
        self.timers.values().copied().chain(self.ending.deadline).min()
    }

    /// The loop ends, whether the state asked for it or not.
    fn quit(&mut self) {
        let current = self.state.current_id().cloned();
        self.ending.exit.get_or_insert_with(|| Exit::of(current));
    }

    /// Waits until the engine has saved its last state, or the time for that is over.
    pub async fn finish(&mut self, result: Result<Exit, RunError>) -> Exit {
        let ending = &mut self.ending;
        if !ending.ended {
            let end = ending.deadline.unwrap_or_else(|| Instant::now() + LAST_SAVE);
            let last = last_words(&mut self.engine.link, &mut ending.unsaved);
            ending.ended = tokio::time::timeout_at(end.into(), last).await.is_ok();
        }
        Exit::after(result, ending.ended, std::mem::take(&mut ending.unsaved))
    }
}

/// Parts that the screen and linear mode do each in their own way.
pub(super) trait Surface {
    fn client(&self) -> &Client;
    fn client_mut(&mut self) -> &mut Client;

    /// Does what an effect asks for.
    fn perform(&mut self, effect: Effect);

    /// An event of a task or thread.
    ///
    /// # Errors
    /// When the terminal or the system refuses what goes on from there.
    fn event(&mut self, event: RuntimeEvent) -> Result<(), RunError>;

    /// A signal of the system.
    ///
    /// # Errors
    /// As [`Surface::event`].
    fn signal(&mut self, signal: Signal) -> Result<(), RunError>;

    /// An event of the engine.
    fn engine(&mut self, event: Stamped);

    /// The engine answered a command.
    fn answered(&mut self) {}

    /// A line of the input.
    fn line(&mut self, _line: LineInput) {}

    /// A change is to be shown.
    fn owe(&mut self, _owed: Owed) {}

    /// True if the engine may end without saying so.
    fn expects_the_end(&self) -> bool {
        self.client().ending.deadline.is_some()
    }

    /// Time when the surface has to wake although nothing comes.
    fn wake(&self) -> Option<Instant> {
        None
    }

    /// The surface's own times that have run out.
    fn expire(&mut self, _now: Instant) {}

    /// Everything that came was applied.
    fn settle(&mut self) {}

    /// Shows what changed, if it is due.
    fn draw(&mut self) {}

    /// Changes the state by one message and does what it asks for.
    fn apply(&mut self, msg: Msg, owed: Owed) {
        self.owe(owed);
        for effect in app::update(&mut self.client_mut().state, now(), msg) {
            self.perform(effect);
        }
    }

    /// Opens the first session, and reports the problems of the start.
    fn begin(&mut self, start: Start) {
        for effect in app::start(&mut self.client_mut().state, start.resume) {
            self.perform(effect);
        }
        for notice in start.notices {
            self.apply(Msg::Notice(notice), Owed::User);
        }
    }

    /// The terminal is gone, and with it the user: turns go on, and what they need is saved. In a gateway they need nobody.
    fn hang_up(&mut self) {
        let client = self.client_mut();
        client.gone = true;
        if client.can_linger() {
            client.ending.lingers = true;
        } else {
            self.terminate();
        }
    }

    /// The program was asked to end from outside.
    fn terminate(&mut self) {
        let ending = &mut self.client_mut().ending;
        if ending.deadline.is_none() {
            ending.deadline = Some(Instant::now() + LAST_SAVE);
            self.apply(Msg::Terminate, Owed::User);
        }
    }
}

/// Event that woke the loop.
enum Next {
    Event(RuntimeEvent),
    Signal(Signal),
    Line(LineInput),
    Engine(Option<ToClient>),
    /// The line to the gateway changed.
    EngineLine(LineState),
    /// The engine can take a command that was kept.
    Room,
    Clock,
}

/// The loop: wait for one thing, take what else is there, show once what changed.
///
/// # Errors
/// When the engine ends by itself, or the terminal or the system refuses.
pub(super) async fn run<S: Surface>(surface: &mut S, sources: &mut Sources) -> Result<Exit, RunError> {
    surface.draw();
    loop {
        let next = next(surface, sources).await;
        let began = Instant::now();
        if matches!(next, Next::Event(RuntimeEvent::Input(_)) | Next::Line(_)) {
            sources.hurry();
        }
        match next {
            Next::Event(event) => surface.event(event)?,
            Next::Signal(signal) => surface.signal(signal)?,
            Next::Line(line) => surface.line(line),
            Next::Engine(event) => engine(surface, event)?,
            Next::EngineLine(line) => surface.apply(Msg::EngineLine(shown_line(line)), Owed::User),
            Next::Room => {
                let EngineLink { link, backlog, .. } = &mut surface.client_mut().engine;
                backlog.send_kept(&link.requests);
            }
            Next::Clock => {}
        }
        while let Ok(event) = sources.events.try_recv() {
            surface.event(event)?;
        }
        for _ in 0..AT_ONCE {
            let Some(event) = surface.client_mut().engine.link.events.try_recv() else { break };
            engine(surface, Some(event))?;
        }
        expire(surface);
        surface.settle();
        if surface.client().ending.lingers && !surface.client().can_linger() {
            surface.terminate();
        }
        if let Some(exit) = surface.client_mut().ending.exit.take() {
            return Ok(exit);
        }
        surface.draw();
        let took = began.elapsed();
        if took > SLOW_TURN {
            tracing::debug!("a turn of the main loop took {} ms", took.as_millis());
        }
    }
}

async fn next<S: Surface>(surface: &mut S, sources: &mut Sources) -> Next {
    let wake = surface.client().wake().into_iter().chain(surface.wake()).min();
    let EngineLink { link, backlog, .. } = &mut surface.client_mut().engine;
    let kept = !backlog.is_empty();
    tokio::select! {
        biased;
        // A sender lives in the client, so this never ends.
        Some(event) = sources.events.recv() => Next::Event(event),
        signal = sources.signals.next() => Next::Signal(signal),
        Some(line) = next_line(&mut sources.lines) => Next::Line(line),
        () = link.requests.ready(), if kept => Next::Room,
        line = next_state(&mut sources.line) => Next::EngineLine(line),
        event = link.events.recv() => Next::Engine(event),
        () = until(wake) => Next::Clock,
    }
}

async fn next_line(lines: &mut Option<UnboundedReceiver<LineInput>>) -> Option<LineInput> {
    match lines {
        Some(lines) => lines.recv().await,
        None => std::future::pending().await,
    }
}

/// The next state of the line to a gateway.
async fn next_state(line: &mut Option<LineView>) -> LineState {
    if let Some(view) = line
        && view.state.changed().await.is_ok()
    {
        return view.state.borrow_and_update().clone();
    }
    // It ends with the client alone.
    std::future::pending().await
}

fn shown_line(line: LineState) -> EngineLine {
    match line {
        LineState::Connected => EngineLine::Joined,
        LineState::Reconnecting { why, waiting } => EngineLine::Reconnecting { why, waiting },
        LineState::Down { why, waiting } => EngineLine::Down { why, waiting },
    }
}

impl Sources {
    /// The user does something: a line that was lost is made again at once.
    fn hurry(&self) {
        if let Some(line) = self.line.as_ref().filter(|line| *line.state.borrow() != LineState::Connected) {
            line.hurry.notify_one();
        }
    }
}

async fn until(wake: Option<Instant>) {
    match wake {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

fn engine<S: Surface>(surface: &mut S, came: Option<ToClient>) -> Result<(), RunError> {
    let Some(came) = came else {
        surface.client_mut().ending.ended = true;
        // Asked to end, it did, only without saying so.
        if !surface.expects_the_end() {
            return Err(RunError::EngineGone);
        }
        surface.client_mut().quit();
        return Ok(());
    };
    if matches!(came, ToClient::Reply(_)) {
        surface.client_mut().engine.backlog.answered();
        surface.answered();
    }
    let event = match came {
        ToClient::Event(event) => Arc::unwrap_or_clone(event),
        ToClient::Reply(Reply { error: Some(error), .. }) if !error.told => {
            surface.apply(Msg::Notice(Notice::new(Level::Warning, error.message)), Owed::Engine);
            return Ok(());
        }
        ToClient::Reply(_) => return Ok(()),
        ToClient::CutOff { why } => {
            surface.apply(Msg::Notice(Notice::new(Level::Error, why)), Owed::Engine);
            return Ok(());
        }
    };
    surface.client_mut().engine.shown.hear(&event);
    let ended = event.event == Event::Engine(EngineEvent::Ended);
    if let Event::Session { event: SessionEvent::Unsaved(unsaved), .. } = &event.event {
        surface.client_mut().ending.unsaved.push((**unsaved).clone());
    }
    surface.engine(event);
    if ended {
        let client = surface.client_mut();
        client.ending.ended = true;
        client.quit();
    }
    Ok(())
}

/// Messages of the timers that have run out.
fn expire<S: Surface>(surface: &mut S) {
    let now = Instant::now();
    let timers = &surface.client().timers;
    let due: Vec<Timer> = timers.iter().filter(|(_, at)| **at <= now).map(|(timer, _)| timer.clone()).collect();
    for timer in due {
        let client = surface.client_mut();
        client.timers.remove(&timer);
        if timer == Timer::Tick && utc_offset() != client.state.clock.utc_offset {
            surface.apply(Msg::Zone { utc_offset: utc_offset() }, Owed::Engine);
        }
        surface.apply(Msg::Timer(timer), Owed::Engine);
    }
    surface.expire(now);
    let client = surface.client_mut();
    if client.ending.deadline.is_some_and(|at| at <= now) {
        client.quit();
    }
}

/// Tells the engine to end and waits until it has; what it could not save is added to `unsaved`.
async fn last_words(link: &mut Link, unsaved: &mut Vec<Unsaved>) {
    // A second report does no harm: the screen may have asked already.
    let ask = link.requests.clone();
    tokio::spawn(async move { ask.send(Command::Engine(EngineCommand::Shutdown)).await });
    while let Some(event) = link.events.event().await {
        if let Event::Session { event: SessionEvent::Unsaved(one), .. } = event.event {
            unsaved.push(*one);
        } else if event.event == Event::Engine(EngineEvent::Ended) {
            return;
        }
    }
}
