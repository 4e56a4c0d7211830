//! The loop of linear mode: lines in, lines out, the same state and the same engine as the screen's.
//!
//! At a terminal a line counts when it comes. A program's lines wait for each other instead: the next one is taken when the
//! turn that the last one began is over, or when something is asked, so that a file of lines is a script.

mod input;
mod output;

use super::deeds;
use super::face::{Told, now, utc_offset};
use super::kept::FaceFile;
use super::outbox::Outbox;
use super::run::{last_words, until};
use super::signals::{Signal, Signals};
use super::{Exit, Folders, LAST_SAVE, Link, Look, Options, RunError, SettingsFile};
use crate::app::line::Line;
use crate::app::msg::{Frame, Timer};
use crate::app::state::chat::Drawn;
use crate::app::state::{Quit, Size};
use crate::app::{Effect, Msg, State, start, update};
use crate::domain::contract::{Act, Command, Event, Stamped};
use crate::domain::request::Answer;
use crate::domain::unsaved::Unsaved;
use crate::domain::{Level, Notice};
use crate::ui::linear::{Printer, Writer, as_lines};
use input::{Came, Input};
use output::{Output, Unseen};
use std::collections::{HashMap, VecDeque};
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Number of engine events that are applied before their changes are printed.
const AT_ONCE: usize = 128;
/// Time to wait for the turn that a line should begin.
const BEGINS: Duration = Duration::from_secs(3);
/// Silence after which the engine has done its work …
const QUIET: Duration = Duration::from_millis(80);
/// … or this time is over.
const LATEST: Duration = Duration::from_millis(800);
/// Marks of a turn's start, its output and its end, for terminals that jump between them.
const MARK_PROMPT: &str = "\x1b]133;A\x1b\\";
const MARK_OUTPUT: &str = "\x1b]133;C\x1b\\";
const MARK_END: &str = "\x1b]133;D\x1b\\";

/// True if linear mode is on: by the command line, else by the settings, else where the terminal
/// can only add lines.
pub(super) fn wanted(asked: Option<bool>, set: Option<bool>) -> bool {
    let plain = || matches!(deeds::env("TERM").as_deref(), Some("dumb" | "unknown" | "emacs"));
    asked.or(set).unwrap_or_else(|| io::stdout().is_terminal() && plain())
}

/// Tells and hears lines until the user quits, the input ends, or the process is asked to end.
///
/// # Errors
/// When threads or signals cannot be had. What goes wrong later is in the [`Exit`].
pub(super) async fn run(link: Link, options: Options) -> Result<Exit, RunError> {
    let (tell, mut told) = unbounded_channel();
    let (lines, mut came) = unbounded_channel();
    let mut signals = Signals::listen().map_err(RunError::System)?;
    deeds::tell_of_the_log(&tell);
    let mut face = Face::open(link, options, tell, lines)?;
    let result = face.turn(&mut signals, &mut told, &mut came).await;
    face.input = None;
    face.unseen = None;
    face.tell_news();
    if !face.ended {
        let end = face.deadline.unwrap_or_else(|| Instant::now() + LAST_SAVE);
        let last = last_words(&mut face.link, &mut face.unsaved);
        face.ended = tokio::time::timeout_at(end.into(), last).await.is_ok();
    }
    face.output.settle();
    Ok(Exit::after(result, face.ended, face.unsaved))
}

/// The state with what it needs from outside, where there is no screen.
struct Face {
    state: State,
    printer: Printer,
    link: Link,
    backlog: Outbox,
    timers: HashMap<Timer, Instant>,
    tell: UnboundedSender<Told>,
    output: Output,
    input: Option<Input>,
    lines: UnboundedSender<Came>,
    /// A person types at a terminal.
    person: bool,
    /// The terminal can be told where turns begin and end.
    marks: bool,
    /// A program's lines that wait for their turn.
    waiting: VecDeque<String>,
    /// Nothing more comes in.
    over: bool,
    /// Lines of a message that goes on.
    begun: Vec<String>,
    /// Guard while input is not echoed.
    unseen: Option<Unseen>,
    /// A turn should begin until then.
    begins: Option<Instant>,
    /// The turn that begins is to be stopped.
    stops: bool,
    /// Commands sent to the engine settle: from the first until the second time, a program's next line waits.
    settles: Option<(Instant, Instant)>,
    kept: FaceFile,
    commands: Folders,
    workspaces: super::workspaces::Workspaces,
    settings: SettingsFile,
    look: Look,
    temp: PathBuf,
    /// An editor has the terminal.
    editing: bool,
    /// The reader of the output is gone.
    gone: bool,
    ended: bool,
    /// Content that the engine could not save.
    unsaved: Vec<Unsaved>,
    deadline: Option<Instant>,
    exit: Option<Exit>,
}

/// Event that woke the loop.
enum Next {
    Told(Told),
    Came(Came),
    Signal(Signal),
    Engine(Option<Stamped>),
    Room,
    Clock,
}

impl Face {
    fn open(
        link: Link,
        options: Options,
        tell: UnboundedSender<Told>,
        lines: UnboundedSender<Came>,
    ) -> Result<Self, RunError> {
        let person = io::stdin().is_terminal();
        let term = deeds::env("TERM").unwrap_or_default();
        let poor = matches!(term.as_str(), "" | "dumb" | "unknown" | "emacs" | "linux");
        let gone = tell.clone();
        let output = Output::start(move || {
            let _ = gone.send(Told::Gone);
        })
        .map_err(RunError::System)?;
        let mut state = State::new(options.keys, Size { width: 80, height: 24 }, now(), utc_offset());
        state.lobby.sent.extend(options.first.map(Into::into));
        let kept = FaceFile::of(&options.state_dir);
        state.recall(kept.recall());
        let writer = if person { Writer::Person } else { Writer::Program };
        let printer = Printer::new(writer, &deeds::env("HOME").unwrap_or_default());
        let printer = if io::stdout().is_terminal() { printer } else { printer.logging() };
        let mut face = Self {
            state,
            printer,
            link,
            backlog: Outbox::default(),
            timers: HashMap::new(),
            tell,
            output,
            input: None,
            lines,
            person,
            marks: person && io::stdout().is_terminal() && !poor,
            waiting: VecDeque::new(),
            over: false,
            begun: Vec::new(),
            unseen: None,
            begins: None,
            stops: false,
            settles: None,
            kept,
            commands: options.commands,
            workspaces: options.workspaces,
            settings: options.settings,
            look: options.look,
            temp: std::env::temp_dir(),
            editing: false,
            gone: false,
            ended: false,
            unsaved: Vec::new(),
            deadline: None,
            exit: None,
        };
        face.listen()?;
        face.mark(MARK_PROMPT);
        for effect in start(&mut face.state, options.resume) {
            face.perform(effect);
        }
        for notice in options.notices {
            face.tell(Msg::Notice(notice));
        }
        Ok(face)
    }

    fn listen(&mut self) -> Result<(), RunError> {
        if !self.over {
            self.input = Some(Input::start(self.person, self.lines.clone()).map_err(RunError::System)?);
        }
        Ok(())
    }

    async fn turn(
        &mut self,
        signals: &mut Signals,
        told: &mut UnboundedReceiver<Told>,
        came: &mut UnboundedReceiver<Came>,
    ) -> Result<Exit, RunError> {
        loop {
            match self.next(signals, told, came).await {
                Next::Told(thing) => self.take(thing)?,
                Next::Came(line) => self.came(line),
                Next::Signal(signal) => self.heed(signal),
                Next::Engine(event) => self.engine(event)?,
                Next::Room => self.backlog.send_kept(&self.link.commands),
                Next::Clock => {}
            }
            while let Ok(thing) = told.try_recv() {
                self.take(thing)?;
            }
            for _ in 0..AT_ONCE {
                let Ok(event) = self.link.events.try_recv() else { break };
                self.engine(Some(event))?;
            }
            self.expire();
            self.tell_news();
            while self.exit.is_none() && self.takes_a_line() {
                let Some(line) = self.waiting.pop_front() else { break };
                self.line(&line, false);
                self.tell_news();
            }
            self.end_of_input();
            if let Some(exit) = self.exit.take() {
                return Ok(exit);
            }
        }
    }

    async fn next(
        &mut self,
        signals: &mut Signals,
        told: &mut UnboundedReceiver<Told>,
        came: &mut UnboundedReceiver<Came>,
    ) -> Next {
        let wake = self.timers.values().copied().chain(self.deadline).chain(self.begins);
        let wake = wake.chain(self.settles.map(|(_, end)| end)).min();
        let kept = !self.backlog.is_empty();
        tokio::select! {
            biased;
            // Senders of both live in the face, so these never end.
            Some(thing) = told.recv() => Next::Told(thing),
            signal = signals.next() => Next::Signal(signal),
            Some(line) = came.recv() => Next::Came(line),
            _ = self.link.commands.reserve(), if kept => Next::Room,
            event = self.link.events.recv() => Next::Engine(event),
            () = until(wake) => Next::Clock,
        }
    }

    fn take(&mut self, thing: Told) -> Result<(), RunError> {
        match thing {
            Told::Msg(msg) | Told::Late(msg) => self.tell(msg),
            Told::Gone => self.nobody_reads(),
            Told::Show(text) => self.print(&as_lines(&text)),
            Told::Edited(edited) => {
                self.editing = false;
                self.listen()?;
                self.tell(Msg::Edited(edited));
            }
            Told::Shown(_) | Told::Input(_) | Told::Returned | Told::Shrunk(..) | Told::PictureSent(_) => {}
        }
        Ok(())
    }

    fn heed(&mut self, signal: Signal) {
        match signal {
            // A key of the editor's makes a signal for the whole job.
            Signal::Interrupt if self.editing => {}
            Signal::Interrupt => self.interrupt(),
            Signal::End => self.terminate(),
            Signal::Size | Signal::Continued => {}
        }
    }

    fn engine(&mut self, event: Option<Stamped>) -> Result<(), RunError> {
        let Some(event) = event else {
            self.ended = true;
            if self.deadline.is_none() && self.state.ending.quit != Quit::Ending {
                return Err(RunError::EngineGone);
            }
            self.quit();
            return Ok(());
        };
        let ended = event.event == Event::Ended;
        if let Event::Unsaved(unsaved) = &event.event {
            self.unsaved.push((**unsaved).clone());
        }
        let of_shown = event.session.as_ref() == self.state.current_id();
        let turns = of_shown && matches!(event.event, Event::TurnStarted { .. } | Event::TurnEnded { .. });
        if turns {
            self.begins = None;
        }
        if let Some((since, _)) = self.settles {
            let end = (Instant::now() + QUIET).min(since + LATEST);
            self.settles = Some((since, end));
        }
        self.tell(Msg::Engine(Box::new(event)));
        if turns && std::mem::take(&mut self.stops) && self.state.running() {
            self.tell(Msg::Line(Line::Interrupt));
        }
        if ended {
            self.ended = true;
            self.quit();
        }
        Ok(())
    }

    /// Changes the state by one message and does what it asks for.
    fn tell(&mut self, msg: Msg) {
        for effect in update(&mut self.state, now(), msg) {
            self.perform(effect);
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Send(command) => {
                if begins_a_turn(&command) {
                    self.begins = Some(Instant::now() + BEGINS);
                }
                if !matches!(command, Command::Remember { .. } | Command::To { act: Act::Read | Act::Draft { .. }, .. })
                {
                    self.await_answers();
                }
                self.backlog.send(&self.link.commands, command);
            }
            // Nothing is drawn that would move on.
            Effect::Arm { timer: Timer::Tick | Timer::Chord, .. } => {}
            Effect::Arm { timer, ms } => drop(self.timers.insert(timer, Instant::now() + Duration::from_millis(ms))),
            Effect::Disarm(timer) => drop(self.timers.remove(&timer)),
            Effect::Copy(text) => {
                deeds::copy(&self.tell, super::clipboard::clean(&text), super::clipboard::Asked::Deaf)
            }
            Effect::Edit { text } => {
                self.input = None;
                self.unseen = None;
                self.editing = true;
                deeds::edit(&self.tell, self.temp.clone(), text);
            }
            Effect::Show { text, .. } | Effect::ShowCode { text, .. } => self.print(&as_lines(&text)),
            Effect::View(file) => deeds::view(&self.tell, *file),
            Effect::Picture => deeds::picture(&self.tell, self.temp.clone()),
            Effect::Discard(file) => drop(tokio::task::spawn_blocking(move || super::picture::discard(&file))),
            Effect::Commands { cwd } => deeds::read_commands(&self.tell, &self.commands, cwd),
            Effect::KeepFace(kept) => deeds::keep_face(&self.kept, *kept),
            Effect::Settings => {
                self.await_answers();
                super::settings::read(&self.tell, &self.settings);
            }
            Effect::Set { key, value } => super::settings::change(&self.tell, &self.settings, key, value),
            Effect::Doctor => super::settings::look(&self.tell, &self.look, None),
            Effect::Workspaces => deeds::list_workspaces(&self.tell, &self.workspaces),
            Effect::Workspace { written, create, from } => {
                deeds::find_workspace(&self.tell, &self.workspaces, (written, create), from);
            }
            Effect::Quit { resume, workspace } => self.exit = Some(Exit { workspace, ..Exit::of(resume) }),
            // What only a screen has. Ctrl+Z is the terminal's own.
            Effect::Title(_)
            | Effect::Bell { .. }
            | Effect::Suspend
            | Effect::Repaint
            | Effect::Mouse { .. }
            | Effect::EditFile { .. }
            | Effect::Theme { .. }
            | Effect::Find { .. }
            | Effect::Highlight { .. }
            | Effect::Measure { .. }
            | Effect::Shrink { .. }
            | Effect::ForgetPictures => {}
        }
    }

    /// Delays output for a moment after a request that changes it.
    fn await_answers(&mut self) {
        let now = Instant::now();
        self.settles = Some((now, now + QUIET));
    }

    /// Handles an input event.
    fn came(&mut self, came: Came) {
        match came {
            Came::Line(line) if self.person => self.line(&line, false),
            Came::Line(line) => self.waiting.push_back(line),
            Came::Pasted(lines) => {
                // The end of a pasted line sends nothing.
                let text = format!("note: {} lines were pasted; Enter sends them, Ctrl+C drops them", lines.len());
                self.begun.extend(lines);
                self.print(&[text]);
            }
            Came::End if self.person => {
                if self.begun.is_empty() {
                    self.tell(Msg::Line(Line::End));
                }
            }
            Came::End => self.over = true,
            Came::Gone => {
                self.over = true;
                if self.person {
                    self.terminate();
                }
            }
        }
    }

    /// A line that counts now.
    fn line(&mut self, line: &str, pasted: bool) {
        if !self.printer.wants_secret() {
            if let Some(line) = line.strip_suffix('\\') {
                return self.begun.push(line.to_owned());
            }
            if !self.begun.is_empty() {
                let mut lines = std::mem::take(&mut self.begun);
                if !line.is_empty() {
                    lines.push(line.to_owned());
                }
                return self.heard(&lines.join("\n"), true);
            }
        }
        self.heard(line, pasted);
    }

    fn heard(&mut self, text: &str, pasted: bool) {
        let heard = self.printer.hear(&self.state, text, now(), pasted);
        self.print(&heard.lines);
        for msg in heard.msgs {
            self.tell(msg);
        }
        // A key that was written is over with its line.
        self.unseen = None;
    }

    /// True if a program's next line can be processed now.
    fn takes_a_line(&self) -> bool {
        if self.editing || self.state.ending.quit == Quit::Ending || self.settles.is_some() {
            return false;
        }
        let stops = self.waiting.front().is_some_and(|line| line.trim() == "/stop") && self.state.running();
        if stops || self.printer.asks() {
            return true;
        }
        self.is_idle()
    }

    /// Nothing runs here, nothing is about to, and nothing is waited for.
    fn is_idle(&self) -> bool {
        let calm = self.state.current_open().is_some_and(|open| {
            let queue = open.queue_held || open.waits() == 0;
            open.loaded && open.turn.started.is_none() && !open.turn.stopping && queue
        });
        let lobby = self.state.lobby.sent.is_empty();
        calm && lobby
            && self.settles.is_none()
            && self.begins.is_none()
            && self.state.overlays.is_empty()
            && !self.state.running()
    }

    /// A program's lines are all told: when the turn is over it ends, and when nobody can answer any more.
    fn end_of_input(&mut self) {
        if !self.over || !self.waiting.is_empty() || self.state.ending.quit == Quit::Ending || self.editing {
            return;
        }
        if !self.begun.is_empty() {
            let text = std::mem::take(&mut self.begun).join("\n");
            self.heard(&text, true);
            self.tell_news();
        }
        if self.printer.waits_for_an_answer() {
            self.print(&["warning: the input ended, so nobody can answer; the session can be resumed".to_owned()]);
            self.tell(Msg::Terminate);
        } else if self.printer.asks() || self.is_idle() {
            self.tell(Msg::Terminate);
        }
    }

    fn interrupt(&mut self) {
        if self.person {
            // Behind the terminal's own `^C`.
            self.output.write("\n".to_owned());
        }
        self.unseen = None;
        if std::mem::take(&mut self.begun).is_empty() {
            if self.begins.is_some() && !self.state.running() && self.state.overlays.is_empty() {
                // The turn is on its way: it stops when it is there.
                self.stops = true;
            } else {
                self.tell(Msg::Line(Line::Interrupt));
            }
        } else {
            self.print(&["note: what was begun is dropped".to_owned()]);
        }
    }

    /// Handles a reader that is gone: saves what runs and ends the loop.
    fn nobody_reads(&mut self) {
        if !std::mem::replace(&mut self.gone, true) {
            self.terminate();
        }
    }

    /// The program was asked to end from outside.
    fn terminate(&mut self) {
        if self.deadline.is_none() {
            self.deadline = Some(Instant::now() + LAST_SAVE);
            self.tell(Msg::Terminate);
        }
    }

    fn quit(&mut self) {
        self.exit.get_or_insert_with(|| Exit::of(self.state.current_id().cloned()));
    }

    /// Messages of the timers that have run out.
    fn expire(&mut self) {
        let now = Instant::now();
        let due: Vec<Timer> = self.timers.iter().filter(|(_, at)| **at <= now).map(|(one, _)| one.clone()).collect();
        for timer in due {
            self.timers.remove(&timer);
            self.tell(Msg::Timer(timer));
        }
        if self.begins.is_some_and(|at| at <= now) {
            (self.begins, self.stops) = (None, false);
        }
        if self.settles.is_some_and(|(_, at)| at <= now) {
            self.settles = None;
        }
        if self.deadline.is_some_and(|at| at <= now) {
            self.quit();
        }
    }

    /// Tells what is new, and that it was seen.
    fn tell_news(&mut self) {
        self.printer.hold(self.settles.is_some());
        let news = self.printer.news(&self.state);
        if news.began {
            self.mark(MARK_OUTPUT);
        }
        if self.printer.wants_secret() {
            if self.unseen.is_none() && self.person && !self.editing {
                self.unseen = Unseen::begin();
                if self.unseen.is_none() {
                    let text = "what you type cannot be hidden here; better store the key with \"lisle auth add\"";
                    self.tell(Msg::Notice(Notice::new(Level::Warning, text)));
                }
            }
        } else {
            self.unseen = None;
        }
        let any = !news.lines.is_empty();
        self.print(&news.lines);
        if news.ended {
            self.mark(MARK_END);
            self.mark(MARK_PROMPT);
        }
        if any && self.state.overlays.is_empty() {
            let chat = Some(Drawn { at_end: true, ..Drawn::default() });
            self.tell(Msg::Drawn(Box::new(Frame { chat, ..Frame::default() })));
        }
    }

    fn mark(&self, mark: &str) {
        if self.marks && !self.gone {
            self.output.write(mark.to_owned());
        }
    }

    fn print(&self, lines: &[String]) {
        if self.gone || lines.is_empty() {
            return;
        }
        let mut text = lines.join("\n");
        text.push('\n');
        self.output.write(text);
    }
}

/// True if the engine is expected to begin a turn.
fn begins_a_turn(command: &Command) -> bool {
    let Command::To { act, .. } = command else { return false };
    match act {
        Act::Send { .. } | Act::Steer { .. } | Act::Type { .. } | Act::Retry | Act::Compact { .. } => true,
        Act::Answer { answer, .. } => matches!(answer, Answer::PlanApprove(_) | Answer::PlanChanges(_)),
        _ => false,
    }
}
