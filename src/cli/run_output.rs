//! Output of `lisle run`: the answer on stdout as it streams, progress on stderr, or events in one of the JSON formats.
//!
//! A text that streams in may turn out to be a remark before a tool call. In a pipe it is held back until it is longer than
//! remarks are, or known to be the answer: short of such a long remark, stdout is the answer alone.
//!
//! A response that broke off is asked for again in the same row, whose text may then be another. What was printed of the
//! earlier one is named on stderr (`dropped` in events), and the new one follows from its beginning.

use super::args::{OutputArgs, RunFormat, RunOutput};
use super::exit::Exit;
use super::output::{complain, is_listened_to, last_complaint, say, say_json, with_demo};
use super::run_events::{
    ResultKind, ResultLine, RunEvent, RunLine, RunResult, RunStatus, RunUsage, ToolState, VERSION,
};
use crate::domain::message::{Body, Message};
use crate::domain::sanitise::reveal_line;
use crate::domain::tool::{ToolCall, ToolStatus};
use crate::domain::{MessageId, SessionMeta};
use crate::protocol::{Event, SessionEvent, Stamped};
use std::io::IsTerminal;
use std::time::Duration;

/// Bytes of a text that are held back in a pipe.
const HELD_BACK: usize = 1_000;

/// Form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputForm {
    Text,
    Result,
    Events,
    /// Every event of the engine, as the protocol has it.
    Raw,
}

/// Printer of a run.
pub(super) struct RunPrinter {
    pub(super) form: OutputForm,
    progress: bool,
    /// Bytes of a text that are held back.
    hold: usize,
    /// Row of the text that is coming.
    row: Option<MessageId>,
    /// Text of that row so far.
    text: String,
    /// Beginning of it that was printed, or what was printed of an earlier attempt.
    printed: String,
    /// Last character on stdout was no newline.
    open_line: bool,
    /// Calls that were announced, with the state that was told.
    calls: Vec<(String, ToolState)>,
}

impl RunPrinter {
    pub(super) fn new(args: &OutputArgs) -> Self {
        let form = match (args.format, args.output) {
            (_, Some(RunOutput::Json)) => OutputForm::Raw,
            (None, _) | (Some(RunFormat::Text), _) => OutputForm::Text,
            (Some(RunFormat::Json), _) => OutputForm::Result,
            (Some(RunFormat::StreamJson), _) => OutputForm::Events,
        };
        let at_once = args.stream || std::io::stdout().is_terminal();
        Self {
            form,
            // A plan or JSON that is checked is printed once it is known.
            hold: match (args.json_schema.is_some(), at_once) {
                (true, _) => usize::MAX,
                (false, true) => 0,
                (false, false) => HELD_BACK,
            },
            progress: args.verbose || (!args.quiet && std::io::stderr().is_terminal()),
            row: None,
            text: String::new(),
            printed: String::new(),
            open_line: false,
            calls: Vec::new(),
        }
    }

    /// Prints an event of the engine where those are wanted. False when nobody reads any more.
    pub(super) fn raw(&self, stamped: &Stamped) -> bool {
        if self.form != OutputForm::Raw {
            return true;
        }
        match with_demo(stamped).and_then(|value| serde_json::to_string(&value)) {
            Ok(line) => say_json(&line),
            Err(error) => {
                complain(&format!("lisle: can't write an event as JSON: {error}"));
                true
            }
        }
    }

    fn event(&self, event: RunEvent) -> bool {
        if self.form != OutputForm::Events {
            return true;
        }
        match serde_json::to_string(&RunLine::new(event)) {
            Ok(line) => say_json(&line),
            Err(error) => {
                complain(&format!("lisle: can't write an event as JSON: {error}"));
                true
            }
        }
    }

    /// The session that the message goes to.
    pub(super) fn session(&self, meta: &SessionMeta, new: bool) -> bool {
        self.event(RunEvent::Session {
            id: meta.id.to_string(),
            name: meta.names.alias.clone(),
            new,
            connection: meta.asked().map(ToString::to_string),
            model: meta.model.clone(),
            mode: meta.mode.word().to_owned(),
            cwd: meta.cwd.display().to_string(),
        })
    }

    /// Something worth knowing.
    pub(super) fn notice(&mut self, text: &str) -> bool {
        self.event(RunEvent::Notice { text: text.to_owned() })
    }

    /// An event of the run's turn. False when nobody reads any more.
    pub(super) fn turn(&mut self, event: &Event) -> bool {
        let Event::Session { event, .. } = event else { return true };
        match event {
            SessionEvent::Delta { id, add } => self.added(id, add),
            SessionEvent::Dropped { id } => self.dropped(id),
            SessionEvent::Row(row) => self.row(row),
            _ => true,
        }
    }

    fn row(&mut self, row: &Message) -> bool {
        match &row.body {
            Body::Assistant(said) => {
                if said.intermediate {
                    let remark =
                        RunEvent::Message { id: row.id.as_str().to_owned(), text: said.text.clone(), remark: true };
                    let told = self.row.as_ref() != Some(&row.id) || self.replaced_in_events(&said.text);
                    self.remark(&row.id, &said.text);
                    return told && self.event(remark);
                }
                // Between two attempts the row shows the longer one; what counts comes with the next, or at the end.
                if said.partial && self.row.as_ref() == Some(&row.id) {
                    return true;
                }
                self.shows(&row.id, &said.text)
            }
            Body::Plan(plan) => self.event(RunEvent::Plan { text: plan.markdown.clone() }),
            Body::Tool(call) => self.call(call),
            Body::Info(info) => self.event(RunEvent::Notice { text: info.text.clone() }),
            Body::Error(failure) => {
                self.event(RunEvent::Notice { text: format!("{}: {}", failure.title, failure.text) })
            }
            Body::User(_) | Body::Thinking(_) | Body::Odd(_) => true,
        }
    }

    /// A call began or ended: each is told once.
    fn call(&mut self, call: &ToolCall) -> bool {
        let refused = call.decision.as_ref().is_some_and(|decision| !decision.allowed);
        let state = match call.status {
            _ if refused => ToolState::Refused,
            ToolStatus::Completed => ToolState::Done,
            ToolStatus::Error => ToolState::Failed,
            _ => ToolState::Started,
        };
        let told = self.calls.iter().position(|(id, _)| id == call.id.as_str());
        match told {
            Some(at) if self.calls.get(at).is_some_and(|(_, before)| *before == state) => return true,
            Some(at) => {
                if let Some(known) = self.calls.get_mut(at) {
                    known.1 = state;
                }
            }
            None => self.calls.push((call.id.as_str().to_owned(), state)),
        }
        if self.progress && told.is_none() && state != ToolState::Refused {
            let [name, subject] = [&call.name, &call.subject].map(|text| reveal_line(text));
            self.progress(&format!("{name} {subject}"));
        }
        self.event(RunEvent::Tool {
            id: call.id.as_str().to_owned(),
            name: call.name.clone(),
            subject: call.subject.clone(),
            state,
            result: call.result.clone().filter(|_| state != ToolState::Started),
        })
    }

    /// A line about what goes on.
    pub(super) fn progress(&mut self, text: &str) {
        if self.progress {
            let lead = if self.open_line && std::io::stdout().is_terminal() { "\n" } else { "" };
            self.open_line &= lead.is_empty();
            complain(&format!("{lead}lisle: {text}"));
        }
    }

    fn next_row(&mut self, row: Option<MessageId>) {
        if !self.printed.is_empty() {
            self.put("\n\n");
            self.open_line = false;
        }
        self.text.clear();
        self.printed.clear();
        self.row = row;
    }

    /// The text so far of a row does not count.
    pub(super) fn dropped(&mut self, id: &MessageId) -> bool {
        if self.row.as_ref() == Some(id) {
            self.start_over();
            self.next_row(None);
        }
        self.event(RunEvent::Dropped { id: id.as_str().to_owned() })
    }

    /// A row has this text now: the text so far with more of it, or another one.
    fn shows(&mut self, id: &MessageId, text: &str) -> bool {
        if self.row.as_ref() != Some(id) {
            self.next_row(Some(id.clone()));
        }
        if self.form != OutputForm::Text {
            return self.replaced_in_events(text);
        }
        text.clone_into(&mut self.text);
        if !self.text.starts_with(&self.printed) {
            self.start_over();
        }
        self.print_more()
    }

    /// Events that bring the current row to this text.
    fn replaced_in_events(&mut self, text: &str) -> bool {
        let before = std::mem::replace(&mut self.text, text.to_owned());
        let id = self.row.as_ref().map(|id| id.as_str().to_owned()).unwrap_or_default();
        let (kept, add) = match text.strip_prefix(before.as_str()) {
            Some(add) => (true, add),
            None => (self.event(RunEvent::Dropped { id: id.clone() }), text),
        };
        kept && (add.is_empty() || self.event(RunEvent::Text { id, add: add.to_owned() })) && is_listened_to()
    }

    fn added(&mut self, id: &MessageId, add: &str) -> bool {
        if self.row.as_ref() != Some(id) {
            self.next_row(Some(id.clone()));
        }
        if add.is_empty() {
            return true;
        }
        self.text.push_str(add);
        if self.form != OutputForm::Text {
            return self.event(RunEvent::Text { id: id.as_str().to_owned(), add: add.to_owned() }) && is_listened_to();
        }
        self.print_more()
    }

    /// Prints what came of the text, once it is long enough.
    fn print_more(&mut self) -> bool {
        if self.printed.is_empty() && self.text.len() <= self.hold {
            return true;
        }
        let more = self.text.get(self.printed.len()..).unwrap_or_default().to_owned();
        self.printed.push_str(&more);
        self.put(&more)
    }

    /// Takes back what was printed of the text: it is said, and what follows begins on a line of its own.
    fn start_over(&mut self) {
        // Whoever closed a pipe has read enough, also of this.
        if self.form != OutputForm::Text || self.printed.is_empty() || !is_listened_to() {
            return;
        }
        self.printed.clear();
        if self.open_line {
            self.put("\n");
        }
        complain("lisle: the response starts over; ignore its text above");
    }

    /// The text was a remark before a call. What is held back of it is not for stdout.
    fn remark(&mut self, id: &MessageId, text: &str) {
        if self.row.as_ref() == Some(id) {
            self.next_row(None);
        }
        self.progress(text.trim());
    }

    fn put(&mut self, text: &str) -> bool {
        if !text.is_empty() {
            self.open_line = !text.ends_with('\n');
        }
        say(text)
    }

    /// Prints what is missing of the answer, which is the row `id`; a plan has none.
    pub(super) fn answer(&mut self, id: Option<&MessageId>, text: &str) -> bool {
        if self.form != OutputForm::Text {
            return true;
        }
        let text = text.trim_end();
        let same = id.is_some() && self.row.as_ref() == id;
        if !same {
            self.next_row(None);
        } else if !text.starts_with(self.printed.trim_end()) {
            self.start_over();
        }
        let rest = text.get(self.printed.len()..).unwrap_or_default().to_owned();
        self.printed.clear();
        self.text.clear();
        let end = if rest.is_empty() && !self.open_line { "" } else { "\n" };
        self.put(&format!("{rest}{end}"))
    }

    /// Prints what is held back of a text whose end never comes.
    pub(super) fn held_back(&mut self) -> bool {
        let rest = self.text.get(self.printed.len()..).unwrap_or_default().trim_end().to_owned();
        if self.form != OutputForm::Text || (rest.is_empty() && !self.open_line) {
            return true;
        }
        self.printed.clear();
        self.text.clear();
        self.put(&format!("{rest}\n"))
    }

    /// The end of the run, for whoever reads JSON.
    pub(super) fn result(&self, result: RunResult) {
        match self.form {
            OutputForm::Text | OutputForm::Raw => {}
            OutputForm::Events => {
                self.event(RunEvent::Result(result));
            }
            OutputForm::Result => {
                let line = ResultLine { v: VERSION, kind: ResultKind::Result, result };
                match serde_json::to_string(&line) {
                    Ok(line) => {
                        say_json(&line);
                    }
                    Err(error) => complain(&format!("lisle: can't write the result as JSON: {error}")),
                }
            }
        }
    }

    /// Prints the result of a run that ended before its session was there, for whoever reads JSON.
    pub(super) fn ended_early(args: &OutputArgs, exit: Exit, took: Duration) -> Exit {
        Self::new(args).result(RunResult {
            session: None,
            status: RunStatus::Failed,
            exit: exit as u8,
            text: String::new(),
            json: None,
            error: last_complaint(),
            refused: 0,
            usage: RunUsage::default(),
            millis: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        });
        exit
    }

    /// The answer as a whole, for whoever reads events.
    pub(super) fn message(&mut self, id: &MessageId, text: &str, is_as_streamed: bool) -> bool {
        // Of an answer that broke off for good the longest attempt stays, which may be an earlier one.
        if is_as_streamed && self.form == OutputForm::Events && self.row.as_ref() == Some(id) {
            self.replaced_in_events(text);
        }
        self.event(RunEvent::Message { id: id.as_str().to_owned(), text: text.to_owned(), remark: false })
    }
}
