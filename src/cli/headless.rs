//! `lisle run`: one message through the same engine as the app, with nobody to ask.
//!
//! It goes by the events of its own session alone, from the moment that the session has accepted its message: what spawned
//! sessions do, or what another process writes into the session, is no answer of its own. Every wait has an end.

use super::args::RunArgs;
use super::exit::Exit;
use super::output::{complain, sentences};
use super::run_input::RunInput;
use super::run_line::RunLine;
use super::run_output::RunPrinter;
use super::run_start::{self, Here, session_of, typed};
use super::stop_signals::{self, StopSignal};
use super::{fabric, run_result};
use crate::agent::Link;
use crate::domain::attachment::Attachment;
use crate::domain::ids::CallId;
use crate::domain::message::{Body, CutBy, Message, UserText};
use crate::domain::notice::{Level, Notice};
use crate::domain::sanitise::reveal_line;
use crate::domain::unsaved::{KEPT_IN_MEMORY, SAVED_AGAIN, Unsaved};
use crate::domain::usage::Usage;
use crate::domain::{MessageId, SessionId, SessionMeta};
use crate::protocol::{
    Command, EngineCommand, EngineEvent, Event, NewSession, SessionCommand, SessionEvent, Stamped, TurnEnd,
};
use crate::runtime::gateway::EngineChoice;
use crate::runtime::setup::{Bootstrap, StartRequest, Which};
use crate::tools::protected_files::interrupted;
use std::path::Path;
use std::time::Duration;
use tokio::time::Instant;

/// Time for an interrupted run to save and to end its processes: longer than the wait for the end of a write.
const LAST_WORDS: Duration = Duration::from_secs(8);
/// The same for any other run.
const SAVES: Duration = Duration::from_secs(30);
/// The engine has opened the session and taken the message after this time.
const BEGINS: Duration = Duration::from_secs(60);
/// Silence after which a turn counts as failed.
const SILENCE: Duration = Duration::from_secs(3600);
/// Number of attempts to claim a session, with pauses: a reader holds it only for a moment.
const CLAIMS: u32 = 4;
const BETWEEN_CLAIMS: Duration = Duration::from_millis(100);
/// Interval at which it is asked whether changes are still being taken back.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

pub(super) async fn run(mut bootstrap: Bootstrap, engine: EngineChoice, run: RunArgs) -> Exit {
    if let Some(exit) = fabric::run(&bootstrap, &run.list) {
        return exit;
    }
    let began = Instant::now();
    let deadline = run.limits.timeout.map(|time| began + time);
    let (mut face, mut link) = match begin(&mut bootstrap, engine, &run, deadline).await {
        Ok(begun) => begun,
        // What would be sent was printed.
        Err(Exit::Done) => return Exit::Done,
        Err(exit) => return RunPrinter::ended_early(&run.output, exit, began.elapsed()),
    };
    face.start(&link).await;
    let mut end = face.turn(&mut link, deadline).await;
    if matches!(end, Ended::Turn(TurnEnd::Done)) && face.input.schema.is_some() {
        end = face.checked(&mut link, deadline).await;
    }
    let stopped = matches!(end, Ended::Interrupted(_) | Ended::Late) || face.stage == RunStage::Ending;
    if !stopped {
        face.print_answer();
    }
    let is_gone = matches!(end, Ended::Gone(_));
    if is_gone {
        face.printer.held_back();
    }
    // The stopped turn's last rows still belong to the answer.
    let patience = if stopped { LAST_WORDS } else { SAVES };
    // The engine went with its gateway: nothing more comes of it.
    let last = async { if is_gone { true } else { finished(face.finish(link, stopped), patience).await } };
    let saved = tokio::select! {
        saved = last => saved,
        // Asked twice, or something that cannot be ended holds the end.
        by = stop_signals::next() => {
            if interrupted::is_under_way() {
                complain("lisle: some files that configure or run code are not restored yet; the next start of lisle \
                 continues.");
            }
            return by.exit();
        }
    };
    if stopped {
        face.print_answer();
    }
    if !saved {
        complain("lisle: quit before the session was saved: the disk or a command blocked it. Open it to check.");
    }
    let status = face.status(&end);
    let (exit, why) = face.exit_told(end, saved);
    let exit = run_result::keep(&bootstrap, &run.output, &face.said(), face.session.as_ref(), exit).await;
    face.print_result(exit, status, why, began.elapsed());
    exit
}

/// The run with its input checked and its engine there, before anything is sent.
///
/// # Errors
/// The exit, once the reason was told.
async fn begin(
    bootstrap: &mut Bootstrap,
    engine: EngineChoice,
    run: &RunArgs,
    deadline: Option<Instant>,
) -> Result<(Face, Link), Exit> {
    let input = RunInput::read(bootstrap, run)?;
    let prompt = typed(&run.prompt, &input, deadline).await.and_then(|typed| input.message(&typed))?;
    let session = session_of(bootstrap)?;
    if run.input.dry_run {
        return Err(input.dry_run(bootstrap, session.as_ref(), &prompt.text, run.output.format));
    }
    run_start::note_names(bootstrap, &prompt);
    run_result::check(&run.output)?;
    if let Some(most) = run.limits.max_turns {
        bootstrap.settings.limits.requests_per_turn = most;
    }
    let mut wanted = bootstrap.wanted.clone();
    wanted.name_lock = bootstrap.wanted.name_lock.take();
    let (link, line, here) = run_start::engine(bootstrap, engine, &run.limits, session.as_ref()).await?;
    Ok((Face::new(RunPrinter::new(&run.output), session, wanted, (prompt, input), (here, line)), link))
}

/// Waits for the end, longer where what a command made of protected files is being taken back. True if it came.
async fn finished(end: impl Future, patience: Duration) -> bool {
    tokio::pin!(end);
    if tokio::time::timeout(patience, &mut end).await.is_ok() {
        return true;
    }
    if interrupted::is_under_way() {
        complain("lisle: still restoring files that configure or run code, changed by a command.");
    }
    while interrupted::is_under_way() {
        if tokio::time::timeout(BETWEEN_LOOKS, &mut end).await.is_ok() {
            return true;
        }
    }
    tokio::time::timeout(LAST_WORDS, &mut end).await.is_ok()
}

/// End of a run.
pub(super) enum Ended {
    Turn(TurnEnd),
    Interrupted(StopSignal),
    /// It took longer than was allowed.
    Late,
    /// The message waits in the queue.
    Queued,
    /// Another process has the session, or took it over.
    Held(String),
    /// The session did not take the message.
    Refused(String),
    /// No connection answers in the session.
    NoConnection(String),
    Usage(String),
    /// The gateway is gone, and with it the turn.
    Gone(String),
    /// The answer does not match its schema.
    Mismatch(String),
    Lost,
}

/// Stage of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunStage {
    /// The session is being made, or its lock asked for the n-th time.
    Claiming(u32),
    Opening,
    /// Files are copied into the session.
    Attaching,
    /// The message is on its way to the session.
    Sent,
    /// The session has it: what comes now answers it.
    Accepted,
    /// Another process took the session over: what had come until then is still the answer.
    Ending,
    /// Whatever comes now is somebody else's.
    Over,
}

/// Calls that were refused or kept from something.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    /// Number of refused calls.
    pub(super) count: u32,
    /// Calls of which it was told: a row may come more than once.
    told: Vec<CallId>,
}

/// Errors and warnings of the turn.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    /// Code and words of the last error.
    pub(super) error: Option<(String, String)>,
    /// The last warning, which was printed: where a limit ended the turn, it is the reason.
    pub(super) warned: Option<String>,
}

/// State of `run`, from the events.
pub(super) struct Face {
    pub(super) printer: RunPrinter,
    pub(super) input: RunInput,
    pub(super) attached: Vec<Attachment>,
    pub(super) session: Option<SessionId>,
    here: Here,
    wanted: StartRequest,
    pub(super) prompt: UserText,
    stage: RunStage,
    /// The last text of the model and its row.
    pub(super) answer: Option<(MessageId, String)>,
    pub(super) plan: Option<String>,
    /// Usage of the session before the run and now.
    pub(super) usage: (Usage, Usage),
    pub(super) refusals: Refusals,
    pub(super) trouble: Trouble,
    /// Content that could not be saved, of spawned sessions too.
    pub(super) unsaved: Vec<Unsaved>,
    pub(super) line: RunLine,
}

impl Face {
    fn new(
        printer: RunPrinter,
        session: Option<SessionId>,
        wanted: StartRequest,
        (prompt, input): (UserText, RunInput),
        (here, line): (Here, RunLine),
    ) -> Self {
        let stage = if session.is_some() { RunStage::Claiming(1) } else { RunStage::Opening };
        Self {
            printer,
            input,
            attached: Vec::new(),
            session,
            here,
            wanted,
            prompt,
            stage,
            answer: None,
            plan: None,
            usage: (Usage::default(), Usage::default()),
            refusals: Refusals::default(),
            trouble: Trouble::default(),
            unsaved: Vec::new(),
            line,
        }
    }

    async fn start(&mut self, link: &Link) {
        match &self.session {
            // Held before it is looked at: what is seen then stays true.
            Some(_) => self.act(link, SessionCommand::Claim).await,
            None => {
                let new = NewSession {
                    cwd: None,
                    alias: self.wanted.alias.clone(),
                    connection: self.wanted.connection.clone(),
                    model: self.wanted.model.clone(),
                    mode: self.wanted.mode,
                    ..NewSession::default()
                };
                self.line.create = link.requests.send(Command::Engine(EngineCommand::Create(new))).await.ok();
            }
        }
    }

    /// Follows the session until the turn of the message is over, or cannot come.
    pub(super) async fn turn(&mut self, link: &mut Link, deadline: Option<Instant>) -> Ended {
        let mut interrupted = std::pin::pin!(stop_signals::next());
        let mut heard = Instant::now();
        loop {
            let silence = heard + if self.stage == RunStage::Accepted { SILENCE } else { BEGINS };
            // People take their time.
            let silence = if self.line.asked.is_empty() { Some(silence) } else { None };
            let until = deadline.into_iter().chain(silence).min();
            let stamped = tokio::select! {
                next = link.events.event() => next,
                why = self.line.lost() => return Ended::Gone(why),
                by = &mut interrupted => {
                    let cut = SessionCommand::Cut { by: CutBy::Signal };
                    // Ctrl+C is the user's word.
                    self.act(link, if by == StopSignal::Interrupt { SessionCommand::Stop } else { cut }).await;
                    return Ended::Interrupted(by);
                }
                () = at(until) => {
                    let by = if until == deadline { CutBy::TimeLimit } else { CutBy::Error };
                    self.act(link, SessionCommand::Cut { by }).await;
                    return Ended::Late;
                }
            };
            heard = Instant::now();
            let Some(stamped) = stamped else { return Ended::Lost };
            if !self.print(&stamped) {
                // A gateway would go on for nobody.
                self.act(link, SessionCommand::Cut { by: CutBy::Signal }).await;
                return Ended::Lost;
            }
            if let Some(end) = self.hear(link, stamped).await {
                return end;
            }
        }
    }

    /// Prints the event as far as it is wanted. False when nobody reads any more.
    fn print(&mut self, stamped: &Stamped) -> bool {
        // A session that somebody else writes is followed: that is not for whoever waits for an answer here.
        let ours = self.stage != RunStage::Over || stamped.event.session().is_none();
        if !ours {
            return true;
        }
        let of_turn = matches!(self.stage, RunStage::Accepted | RunStage::Ending)
            && stamped.event.session().is_some_and(|session| Some(session) == self.session.as_ref());
        self.printer.raw(stamped) && (!of_turn || self.printer.turn(&stamped.event))
    }

    /// True if an event is of the run's session, or of none. A new session is the one that answers the request for it.
    fn is_ours(&mut self, stamped: &Stamped) -> bool {
        let Some(session) = stamped.event.session() else { return true };
        if self.session.is_none() && self.line.create.is_some() && stamped.re == self.line.create {
            self.session = Some(session.clone());
        }
        self.session.as_ref() == Some(session)
    }

    async fn hear(&mut self, link: &Link, stamped: Stamped) -> Option<Ended> {
        if let Event::Session { event: SessionEvent::Unsaved(unsaved), .. } = stamped.event {
            self.unsaved.push(*unsaved);
            return None;
        }
        if !self.is_ours(&stamped) {
            if self.line.is_gateway() {
                self.follow_spawned(link, &stamped.event).await;
            }
            return None;
        }
        match stamped.event {
            Event::Session { event, .. } => self.hear_ours(link, event).await,
            Event::Engine(EngineEvent::Notice(notice)) => self.notice(&notice),
            // A run follows its session: lists, searches and models are for a screen.
            Event::Engine(_) => None,
        }
    }

    /// Follows the run's session.
    #[deny(clippy::wildcard_enum_match_arm, reason = "a new event is handled, or named as ignored")]
    async fn hear_ours(&mut self, link: &Link, event: SessionEvent) -> Option<Ended> {
        match event {
            SessionEvent::Held { by } => return self.held(link, by).await,
            SessionEvent::Opened(open) if self.stage == RunStage::Opening => return self.send(link, &open.meta).await,
            SessionEvent::Accepted { queued, .. } if self.stage == RunStage::Sent => {
                self.stage = RunStage::Accepted;
                // The session is on disk: its name can be found.
                self.wanted.name_lock = None;
                return queued.then_some(Ended::Queued);
            }
            SessionEvent::Refused { why, .. } => return Some(Ended::Refused(why)),
            SessionEvent::Reidentified { to } => self.session = Some(to),
            SessionEvent::Row(row) => self.row(*row),
            SessionEvent::Delta { id, add } => self.grows(&id, &add),
            SessionEvent::Retrying { attempt, of, wait_ms, reason } => {
                let wait = if wait_ms == 0 { String::new() } else { format!(" in {:.1} s", wait_ms as f64 / 1000.0) };
                let text = sentences(&reason, &format!("Trying again ({attempt} of {of}){wait}."));
                self.printer.notice(&text);
                complain(&format!("lisle: {text}"));
            }
            SessionEvent::Attached { path, made } if self.stage == RunStage::Attaching => {
                return self.attached(link, &path, made).await;
            }
            SessionEvent::Changed(meta) => self.usage.1 = meta.usage,
            SessionEvent::Notice(notice) => return self.notice(&notice),
            SessionEvent::TurnEnded { end } if self.stage == RunStage::Accepted => return Some(Ended::Turn(end)),
            SessionEvent::Opened(opened) if self.stage == RunStage::Accepted => return self.read_anew(&opened),
            SessionEvent::Asked(request) if self.stage == RunStage::Accepted => self.asks(&request),
            SessionEvent::Settled { request, by } => {
                if self.line.asked.contains(&request)
                    && let Some(by) = by
                {
                    complain(&format!("lisle: answered by {}", reveal_line(&by)));
                }
                self.line.asked.retain(|asked| *asked != request);
            }
            // Of another turn, or answers to what was not asked.
            SessionEvent::Opened(_) | SessionEvent::Accepted { .. } | SessionEvent::TurnEnded { .. } => {}
            // Rows carry all that the answer needs, and nobody is there whom the rest could be shown to.
            SessionEvent::Page { .. }
            | SessionEvent::LaterPage { .. }
            | SessionEvent::Dropped { .. }
            | SessionEvent::Queue { .. }
            | SessionEvent::Redelivering { .. }
            | SessionEvent::Attached { .. }
            | SessionEvent::ConnectionWanted { .. }
            | SessionEvent::ModelWanted { .. }
            | SessionEvent::Asked(_)
            | SessionEvent::Todo(_)
            | SessionEvent::Jobs(_)
            | SessionEvent::Plan(_)
            | SessionEvent::TurnStarted { .. }
            | SessionEvent::Compacting { .. }
            | SessionEvent::Waiting(_)
            | SessionEvent::Starting { .. }
            | SessionEvent::Enhanced { .. }
            | SessionEvent::UndoPlanned(_)
            | SessionEvent::FilesChanged(_)
            | SessionEvent::Context(_)
            | SessionEvent::Rules(_)
            | SessionEvent::Sources(_)
            | SessionEvent::Extensions(_)
            // Taken in before it was looked whose it is.
            | SessionEvent::Unsaved(_) => {}
        }
        None
    }

    /// Without a session nothing comes after an error; a warning, as of a view that cannot be used, ends nothing.
    fn notice(&mut self, notice: &Notice) -> Option<Ended> {
        if self.line.is_gateway() && (notice.hint == KEPT_IN_MEMORY || notice.text == SAVED_AGAIN) {
            self.line.kept_in_memory = notice.hint == KEPT_IN_MEMORY;
        }
        if notice.level < Level::Warning {
            return None;
        }
        complain(&format!("lisle: {}", sentences(&notice.text, &notice.hint)));
        let begins = matches!(self.stage, RunStage::Claiming(_) | RunStage::Opening | RunStage::Attaching);
        (begins && notice.level == Level::Error).then_some(Ended::Lost)
    }

    /// The session is ours, or another process has it.
    async fn held(&mut self, link: &Link, by: Option<String>) -> Option<Ended> {
        match (by, self.stage) {
            (None, RunStage::Claiming(_)) => {
                self.stage = RunStage::Opening;
                let session = self.session.clone()?;
                let _ = link
                    .requests
                    .send(Command::Session { id: session, command: SessionCommand::Open { rows: 1 } })
                    .await;
                None
            }
            (None, _) => None,
            (Some(_), RunStage::Claiming(times)) if times < CLAIMS => {
                tokio::time::sleep(BETWEEN_CLAIMS).await;
                self.stage = RunStage::Claiming(times + 1);
                self.act(link, SessionCommand::Claim).await;
                None
            }
            (Some(who), RunStage::Claiming(_)) => {
                self.stage = RunStage::Over;
                Some(Ended::Held(format!(
                    "nothing sent: session open in {who}. Close it there, or start a new session."
                )))
            }
            (Some(who), _) => {
                self.stage = if self.stage == RunStage::Accepted { RunStage::Ending } else { RunStage::Over };
                Some(Ended::Held(format!("turn ended: {who} took over this session.")))
            }
        }
    }

    async fn send(&mut self, link: &Link, meta: &SessionMeta) -> Option<Ended> {
        self.session = Some(meta.id.clone());
        // A new session was made as wanted.
        let new = self.wanted.which == Which::New;
        if !new && let Some(why) = self.here.refuses(meta, self.wanted.connection.as_ref()) {
            return Some(why);
        }
        self.usage = (meta.usage.clone(), meta.usage.clone());
        if let Some(name) = self.wanted.alias.as_ref().filter(|_| new) {
            complain(&format!("lisle: new session {name} ({})", meta.id));
        }
        if !self.printer.session(meta, new) {
            return Some(Ended::Lost);
        }
        let acts = if new { Vec::new() } else { self.wanted.acts() };
        for act in acts.into_iter().chain(self.input.commands()) {
            self.act(link, act).await;
        }
        if self.input.attach.is_empty() {
            self.send_message(link).await;
            return None;
        }
        self.stage = RunStage::Attaching;
        for path in self.input.attach.clone() {
            self.act(link, SessionCommand::Attach { path }).await;
        }
        None
    }

    pub(super) async fn send_message(&mut self, link: &Link) {
        self.stage = RunStage::Sent;
        let UserText { text, piped, .. } = self.prompt.clone();
        let send = SessionCommand::Send { text, attachments: self.attached.clone(), piped };
        self.act(link, send).await;
    }

    /// A file was copied into the session, or not. The message goes with the last of them.
    async fn attached(&mut self, link: &Link, path: &Path, made: Result<Attachment, String>) -> Option<Ended> {
        match made {
            Ok(attachment) => self.attached.push(attachment),
            Err(why) => return Some(Ended::Usage(format!("can't attach {}: {why}", path.display()))),
        }
        if self.attached.len() == self.input.attach.len() {
            self.send_message(link).await;
        }
        None
    }

    fn row(&mut self, row: Message) {
        if !matches!(self.stage, RunStage::Accepted | RunStage::Ending) {
            return;
        }
        match row.body {
            Body::Assistant(said) if !said.intermediate => self.answer = Some((row.id, said.text)),
            // What looked like the answer while it streamed was a remark before a call.
            Body::Assistant(_) => self.answer = self.answer.take().filter(|(id, _)| *id != row.id),
            Body::Plan(plan) => self.plan = Some(plan.markdown),
            Body::Tool(call) => {
                let first = !self.refusals.told.contains(&call.id);
                if first && !call.figures.withheld.is_empty() {
                    let [name, subject, kept] =
                        [&call.name, &call.subject, &call.figures.withheld.join("; ")].map(|text| reveal_line(text));
                    complain(&format!("lisle: blocked by the sandbox in {name} {subject}: {kept}"));
                    self.refusals.told.push(call.id.clone());
                }
                if let Some(decision) = call.decision.filter(|decision| !decision.allowed) {
                    if first {
                        let [name, subject, why] =
                            [&call.name, &call.subject, &decision.reason].map(|text| reveal_line(text));
                        complain(&format!("lisle: refused: {name} {subject}: {why}"));
                        self.refusals.told.push(call.id.clone());
                    }
                    self.refusals.count += u32::from(first);
                }
            }
            // What ends a turn short of its goal, as a limit does, is no error of the provider's.
            Body::Info(info) if info.level >= Level::Warning => {
                complain(&format!("lisle: {}", info.text));
                self.trouble.warned = Some(info.text);
            }
            Body::Error(failure) => {
                self.trouble.error = Some((failure.code, format!("{}: {}", failure.title, failure.text)));
            }
            _ => {}
        }
    }

    async fn act(&self, link: &Link, act: SessionCommand) {
        if let Some(session) = self.session.clone() {
            let _ = link.requests.send(Command::Session { id: session, command: act }).await;
        }
    }

    /// Lets the engine save and end, or leaves the gateway. `stopped`: the last rows of the turn come yet.
    async fn finish(&mut self, mut link: Link, stopped: bool) {
        // Whoever leaves a gateway gets nothing more.
        let mut leaves = !(self.line.is_gateway() && stopped && self.stage == RunStage::Accepted);
        if leaves {
            let _ = link.requests.send(Command::Engine(EngineCommand::Shutdown)).await;
        }
        while let Some(stamped) = link.events.event().await {
            self.print(&stamped);
            let ours = self.is_ours(&stamped);
            let event = match stamped.event {
                Event::Engine(EngineEvent::Ended) => return,
                // The run is over, so nothing of the engine as a whole matters any more.
                Event::Engine(_) => continue,
                Event::Session { event, .. } => event,
            };
            if let SessionEvent::Unsaved(unsaved) = event {
                self.unsaved.push(*unsaved);
            } else if ours && let SessionEvent::Row(row) = event {
                if stopped {
                    self.row(*row);
                }
            } else if ours && !leaves && matches!(event, SessionEvent::TurnEnded { .. }) {
                leaves = true;
                let _ = link.requests.send(Command::Engine(EngineCommand::Shutdown)).await;
            } else if ours && self.stage == RunStage::Ending && matches!(event, SessionEvent::TurnEnded { .. }) {
                self.stage = RunStage::Over;
            }
        }
    }
}

/// Waits until then; for ever without a time.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}
