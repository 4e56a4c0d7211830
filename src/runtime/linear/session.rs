//! A session of linear mode: lines in, what they mean, and what is printed of what changed.

use super::input::LineReader;
use super::output::{LinearOutput, Unseen};
use crate::agent::Link;
use crate::app::line::Line;
use crate::app::msg::{Frame, Timer};
use crate::app::state::chat::Drawn;
use crate::app::state::{Quit, Size};
use crate::app::{Effect, Msg};
use crate::domain::request::UserAnswer;
use crate::domain::{Level, Notice};
use crate::protocol::{Command, EngineCommand, Event, SessionCommand, SessionEvent, Stamped};
use crate::runtime::client::event::{Events, LineInput, RuntimeEvent};
use crate::runtime::client::exit::RunError;
use crate::runtime::client::options::Options;
use crate::runtime::client::{Client, Owed, Surface, background_tasks};
use crate::runtime::clipboard;
use crate::runtime::environment::{env, now};
use crate::runtime::signals::Signal;
use crate::ui::linear::{LineSource, Printer, as_lines};
use std::collections::VecDeque;
use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;

/// Time to wait for the turn that a line should begin.
const BEGINS: Duration = Duration::from_secs(3);
/// Silence after the engine's last answer after which it has done its work …
const QUIET: Duration = Duration::from_millis(80);
/// … or, where events do not stop, this time is over.
const LATEST: Duration = Duration::from_millis(800);
/// An answer that takes longer is not waited for.
const ANSWERED: Duration = Duration::from_secs(5);
/// Marks of a turn's start, its output and its end, for terminals that jump between them.
const MARK_PROMPT: &str = "\x1b]133;A\x1b\\";
const MARK_OUTPUT: &str = "\x1b]133;C\x1b\\";
const MARK_END: &str = "\x1b]133;D\x1b\\";

/// Input lines and what became of them.
pub(super) struct InputLines {
    pub input: Option<LineReader>,
    sender: UnboundedSender<LineInput>,
    /// A program's lines that wait for their turn.
    waiting: VecDeque<String>,
    /// Nothing more comes in.
    over: bool,
    /// Lines of a message that goes on.
    begun: Vec<String>,
    /// Guard while input is not echoed.
    pub unseen: Option<Unseen>,
}

/// Messages sent to the engine that have not come back as an event.
#[derive(Default)]
struct TurnWatch {
    /// A turn should begin until then.
    begins: Option<Instant>,
    /// The turn that begins is to be stopped.
    stops: bool,
    /// Commands sent to the engine settle: from the first until the second time, a program's next line waits.
    settles: Option<(Instant, Instant)>,
}

/// A client that prints lines.
pub(super) struct Linear {
    pub client: Client,
    printer: Printer,
    pub output: LinearOutput,
    pub lines: InputLines,
    turn: TurnWatch,
    /// A person types at a terminal.
    person: bool,
    /// The terminal can be told where turns begin and end.
    marks: bool,
    /// The session could not be read, and a program's lines went nowhere.
    pub unread: bool,
}

impl Linear {
    /// Begins with the session of the options.
    ///
    /// # Errors
    /// When there are no threads to be had.
    pub fn open(
        link: Link,
        options: Options,
        events: Events,
        sender: UnboundedSender<LineInput>,
    ) -> Result<Self, RunError> {
        let person = io::stdin().is_terminal();
        let term = env("TERM").unwrap_or_default();
        let poor = matches!(term.as_str(), "" | "dumb" | "unknown" | "emacs" | "linux");
        let gone = events.clone();
        let output = LinearOutput::start(move || {
            let _ = gone.send(RuntimeEvent::Gone);
        })
        .map_err(RunError::System)?;
        let (client, start, _) = Client::open(link, options, Size { width: 80, height: 24 }, events);
        let source = if person { LineSource::Person } else { LineSource::Program };
        let printer = Printer::new(source, &env("HOME").unwrap_or_default());
        let printer = if io::stdout().is_terminal() { printer } else { printer.logging() };
        let mut linear = Self {
            client,
            printer,
            output,
            person,
            marks: person && io::stdout().is_terminal() && !poor,
            lines: InputLines {
                input: None,
                sender,
                waiting: VecDeque::new(),
                over: false,
                begun: Vec::new(),
                unseen: None,
            },
            turn: TurnWatch::default(),
            unread: false,
        };
        linear.listen()?;
        linear.mark(MARK_PROMPT);
        linear.begin(start);
        Ok(linear)
    }

    fn listen(&mut self) -> Result<(), RunError> {
        if !self.lines.over {
            self.lines.input =
                Some(LineReader::start(self.person, self.lines.sender.clone()).map_err(RunError::System)?);
        }
        Ok(())
    }

    /// Changes the state by one message and does what it asks for.
    fn tell(&mut self, msg: Msg) {
        self.apply(msg, Owed::User);
    }

    /// Delays output for a moment after a request that changes it.
    fn await_answers(&mut self) {
        let now = Instant::now();
        self.turn.settles = Some((now, now + QUIET));
    }

    /// The engine did something: more may belong to it.
    fn go_on_settling(&mut self) {
        if let Some((since, _)) = self.turn.settles {
            let end = (Instant::now() + QUIET).min(since + LATEST);
            self.turn.settles = Some((since, end));
        }
    }

    /// Handles an input event.
    fn came(&mut self, came: LineInput) {
        match came {
            LineInput::Line(line) if self.person => self.told_line(&line, false),
            LineInput::Line(line) => self.lines.waiting.push_back(line),
            LineInput::Pasted(lines) => {
                // The end of a pasted line sends nothing.
                let text = format!("note: pasted {} lines; Enter sends, Ctrl+C discards", lines.len());
                self.lines.begun.extend(lines);
                self.print(&[text]);
            }
            LineInput::End if self.person => {
                if self.lines.begun.is_empty() {
                    self.tell(Msg::Line(Line::End));
                }
            }
            LineInput::End => self.lines.over = true,
            LineInput::Gone => {
                self.lines.over = true;
                if self.person {
                    self.terminate();
                }
            }
        }
    }

    /// A line that counts now.
    fn told_line(&mut self, line: &str, pasted: bool) {
        if !self.printer.wants_secret() {
            if let Some(line) = line.strip_suffix('\\') {
                return self.lines.begun.push(line.to_owned());
            }
            if !self.lines.begun.is_empty() {
                let mut lines = std::mem::take(&mut self.lines.begun);
                if !line.is_empty() {
                    lines.push(line.to_owned());
                }
                return self.heard(&lines.join("\n"), true);
            }
        }
        self.heard(line, pasted);
    }

    fn heard(&mut self, text: &str, pasted: bool) {
        let heard = self.printer.hear(&self.client.state, text, now(), pasted);
        self.print(&heard.lines);
        for msg in heard.msgs {
            self.tell(msg);
        }
        // A key that was written is over with its line.
        self.lines.unseen = None;
    }

    /// True if a program's next line can be processed now.
    fn takes_a_line(&self) -> bool {
        if self.client.editing || self.client.state.ending.quit == Quit::Ending || self.turn.settles.is_some() {
            return false;
        }
        let stops =
            self.lines.waiting.front().is_some_and(|line| line.trim() == "/stop") && self.client.state.running();
        if stops || self.printer.asks() {
            return true;
        }
        self.is_idle()
    }

    /// Nothing runs here, nothing is about to, and nothing is waited for.
    fn is_idle(&self) -> bool {
        let calm = self.client.state.current_open().is_some_and(|open| {
            let queue = open.queue_held || open.waits() == 0;
            open.loaded && open.turn.started.is_none() && !open.turn.stopping && queue
        });
        let lobby = self.client.state.lobby.sent.is_empty();
        calm && lobby
            && self.turn.settles.is_none()
            && self.turn.begins.is_none()
            && self.client.state.overlays.is_empty()
            && !self.client.state.running()
    }

    /// Ends a program's run on a session that cannot be read: its lines were meant for that one.
    fn end_at_unreadable(&mut self) {
        let unreadable = self.client.state.current_open().is_some_and(|open| open.unreadable.is_some());
        if unreadable && !self.person && self.client.state.ending.quit != Quit::Ending {
            self.unread = true;
            self.lines.waiting.clear();
            self.tell(Msg::Terminate);
        }
    }

    /// A program's lines are all told: when the turn is over it ends, and when nobody can answer any more.
    fn end_of_input(&mut self) {
        if !self.lines.over
            || !self.lines.waiting.is_empty()
            || self.client.state.ending.quit == Quit::Ending
            || self.client.editing
        {
            return;
        }
        if !self.lines.begun.is_empty() {
            let text = std::mem::take(&mut self.lines.begun).join("\n");
            self.heard(&text, true);
            self.tell_news();
        }
        if self.printer.waits_for_an_answer() {
            self.print(&["warning: end of input, can't ask for answers; the session can be resumed".to_owned()]);
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
        self.lines.unseen = None;
        if std::mem::take(&mut self.lines.begun).is_empty() {
            if self.turn.begins.is_some() && !self.client.state.running() && self.client.state.overlays.is_empty() {
                // The turn is on its way: it stops when it is there.
                self.turn.stops = true;
            } else {
                self.tell(Msg::Line(Line::Interrupt));
            }
        } else {
            self.print(&["note: input discarded".to_owned()]);
        }
    }

    /// Handles a reader that is gone: saves what runs and ends the loop.
    fn nobody_reads(&mut self) {
        if !std::mem::replace(&mut self.client.gone, true) {
            self.terminate();
        }
    }

    /// Tells what is new, and that it was seen.
    pub fn tell_news(&mut self) {
        self.printer.hold(self.turn.settles.is_some());
        let news = self.printer.news(&self.client.state);
        if news.began {
            self.mark(MARK_OUTPUT);
        }
        if self.printer.wants_secret() {
            if self.lines.unseen.is_none() && self.person && !self.client.editing {
                self.lines.unseen = Unseen::begin();
                if self.lines.unseen.is_none() {
                    let text = "typing can't be hidden here; store the key with \"lisle auth add\" instead";
                    self.tell(Msg::Notice(Notice::new(Level::Warning, text)));
                }
            }
        } else {
            self.lines.unseen = None;
        }
        let any = !news.lines.is_empty();
        self.print(&news.lines);
        if news.ended {
            self.mark(MARK_END);
            self.mark(MARK_PROMPT);
        }
        if any && self.client.state.overlays.is_empty() {
            let chat = Some(Drawn { at_end: true, ..Drawn::default() });
            self.tell(Msg::Drawn(Box::new(Frame { chat, ..Frame::default() })));
        }
    }

    fn mark(&self, mark: &str) {
        if self.marks && !self.client.gone {
            self.output.write(mark.to_owned());
        }
    }

    fn print(&self, lines: &[String]) {
        if self.client.gone || lines.is_empty() {
            return;
        }
        let mut text = lines.join("\n");
        text.push('\n');
        self.output.write(text);
    }
}

impl Surface for Linear {
    fn client(&self) -> &Client {
        &self.client
    }

    fn client_mut(&mut self) -> &mut Client {
        &mut self.client
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Send(command) => {
                if begins_a_turn(&command) {
                    self.turn.begins = Some(Instant::now() + BEGINS);
                }
                if !matches!(
                    command,
                    Command::Engine(EngineCommand::Remember { .. })
                        | Command::Session { command: SessionCommand::Read | SessionCommand::Draft { .. }, .. }
                ) {
                    self.await_answers();
                }
                self.client.perform(Effect::Send(command));
            }
            // Nothing is drawn that would move on.
            Effect::Arm { timer: Timer::Tick | Timer::Chord, .. } => {}
            Effect::Copy(text) => {
                background_tasks::copy(&self.client.events, clipboard::clean(&text), clipboard::ClipboardOutcome::Deaf);
            }
            Effect::Edit { text } => {
                self.lines.input = None;
                self.lines.unseen = None;
                self.client.editing = true;
                background_tasks::edit(&self.client.events, self.client.files.temp.clone(), text);
            }
            Effect::Show { text, .. } | Effect::ShowCode { text, .. } => self.print(&as_lines(&text)),
            asks @ (Effect::Settings
            | Effect::Histories
            | Effect::Share { .. }
            | Effect::SharePage(_)
            | Effect::OfferUpload(_)
            | Effect::Upload(_)
            | Effect::Unshare { .. }) => {
                self.await_answers();
                self.client.perform(asks);
            }
            Effect::Set { key, value } => {
                background_tasks::change_setting(&self.client.events, &self.client.files.settings, key, value);
            }
            Effect::Doctor => background_tasks::examine(&self.client.events, &self.client.files.examine, None),
            // What only a screen has does nothing there. Ctrl+Z is the terminal's own.
            other => self.client.perform(other),
        }
    }

    fn event(&mut self, event: RuntimeEvent) -> Result<(), RunError> {
        match event {
            RuntimeEvent::Msg(msg) | RuntimeEvent::Late(msg) => self.tell(msg),
            RuntimeEvent::Gone => self.nobody_reads(),
            RuntimeEvent::Show(text) => self.print(&as_lines(&text)),
            RuntimeEvent::Edited(edited) => {
                self.client.editing = false;
                self.listen()?;
                self.tell(Msg::Edited(edited));
            }
            RuntimeEvent::Shown(_)
            | RuntimeEvent::Input(_)
            | RuntimeEvent::Returned
            | RuntimeEvent::Shrunk(..)
            | RuntimeEvent::PictureSent(_) => {}
        }
        Ok(())
    }

    fn signal(&mut self, signal: Signal) -> Result<(), RunError> {
        match signal {
            // A key of the editor's makes a signal for the whole job.
            Signal::Interrupt if self.client.editing => {}
            Signal::Interrupt => self.interrupt(),
            Signal::End | Signal::Hangup => self.terminate(),
            Signal::Size | Signal::Continued => {}
        }
        Ok(())
    }

    fn engine(&mut self, event: Stamped) {
        let of_shown = event.event.session() == self.client.state.current_id();
        let turns = of_shown
            && matches!(
                event.event,
                Event::Session { event: SessionEvent::TurnStarted { .. } | SessionEvent::TurnEnded { .. }, .. }
            );
        if turns {
            self.turn.begins = None;
        }
        self.go_on_settling();
        self.tell(Msg::Engine(Box::new(event)));
        if turns && std::mem::take(&mut self.turn.stops) && self.client.state.running() {
            self.tell(Msg::Line(Line::Interrupt));
        }
    }

    fn answered(&mut self) {
        self.go_on_settling();
    }

    fn line(&mut self, line: LineInput) {
        self.came(line);
    }

    fn expects_the_end(&self) -> bool {
        self.client.ending.deadline.is_some() || self.client.state.ending.quit == Quit::Ending
    }

    fn wake(&self) -> Option<Instant> {
        self.turn.begins.into_iter().chain(self.turn.settles.map(|(_, end)| end)).min()
    }

    fn expire(&mut self, now: Instant) {
        if self.turn.begins.is_some_and(|at| at <= now) {
            (self.turn.begins, self.turn.stops) = (None, false);
        }
        if let Some((since, _)) = self.turn.settles.filter(|(_, at)| *at <= now) {
            let waits = !self.client.engine.backlog.is_answered() && now < since + ANSWERED;
            self.turn.settles = waits.then_some((since, now + QUIET));
        }
    }

    fn settle(&mut self) {
        self.tell_news();
        self.end_at_unreadable();
        while self.client.ending.exit.is_none() && self.takes_a_line() {
            let Some(line) = self.lines.waiting.pop_front() else { break };
            self.told_line(&line, false);
            self.tell_news();
        }
        self.end_of_input();
    }
}

/// True if the engine is expected to begin a turn.
fn begins_a_turn(command: &Command) -> bool {
    let Command::Session { command: act, .. } = command else { return false };
    match act {
        SessionCommand::Send { .. }
        | SessionCommand::Steer { .. }
        | SessionCommand::Type { .. }
        | SessionCommand::Retry
        | SessionCommand::Compact { .. } => true,
        SessionCommand::Answer { answer, .. } => {
            matches!(answer, UserAnswer::PlanApprove(_) | UserAnswer::PlanChanges(_))
        }
        _ => false,
    }
}
