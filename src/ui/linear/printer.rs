//! Record of what was printed so far.

use super::asked::{PendingPrompt, PrintedQuestion};
use super::facts::SessionFacts;
use super::prose::Prose;
use crate::app::state::Quit;
use crate::app::state::engine_facts::EngineLine;
use crate::domain::ids::{At, MessageId, SessionId};
use crate::domain::notice::Notice;
use std::collections::{HashMap, HashSet};

/// Source of the input lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineSource {
    /// Person at a terminal, which echoes their input.
    Person,
    /// A file or a program: its input is printed, so that the lines are a log of both sides.
    Program,
}

/// Printed part of a row.
#[derive(Clone, Debug, Default)]
pub(super) struct PrintedRow {
    pub(super) prose: Prose,
    /// A call was told when it began.
    pub(super) begun: bool,
    /// Text printed before the response was interrupted and requested again.
    pub(super) broken: Option<String>,
    /// Nothing of it is left to tell.
    pub(super) over: bool,
}

/// Printed part of the conversation that is shown.
#[derive(Debug, Default)]
pub(super) struct PrintedRows {
    /// The session whose conversation was told last.
    pub(super) shown: Option<SessionId>,
    pub(super) told: HashMap<MessageId, PrintedRow>,
    /// Message of the speaker label printed last.
    pub(super) speaker: Option<MessageId>,
    pub(super) facts: SessionFacts,
    pub(super) started: Option<At>,
    pub(super) queued: HashSet<MessageId>,
    /// Messages that a person typed and sees already.
    pub(super) typed: Vec<String>,
}

/// Sessions that are not shown, as of the last lines about them.
#[derive(Debug, Default)]
pub(super) struct Elsewhere {
    pub(super) needing: HashSet<SessionId>,
    pub(super) running: HashSet<SessionId>,
}

/// Record of what was printed so far.
#[derive(Debug)]
pub struct Printer {
    pub(super) source: LineSource,
    /// Whoever reads the lines does not see what is typed.
    pub(super) logs: bool,
    pub(super) home: String,
    /// Line to the engine, as it was printed last.
    pub(super) line: EngineLine,
    /// The first lines were told.
    pub(super) greeted: bool,
    pub(super) rows: PrintedRows,
    pub(super) question: PrintedQuestion,
    pub(super) elsewhere: Elsewhere,
    pub(super) notices: Vec<Notice>,
    pub(super) quit: Quit,
}

impl Printer {
    /// Nothing was told. `home` is the home directory, shown as `~`.
    #[must_use]
    pub fn new(source: LineSource, home: &str) -> Self {
        Self {
            source,
            logs: source == LineSource::Program,
            home: home.to_owned(),
            line: EngineLine::Own,
            greeted: false,
            rows: PrintedRows::default(),
            question: PrintedQuestion::default(),
            elsewhere: Elsewhere::default(),
            notices: Vec::new(),
            quit: Quit::No,
        }
    }

    /// The lines go elsewhere than to the terminal where somebody types: messages are printed as well.
    #[must_use]
    pub fn logging(mut self) -> Self {
        self.logs = true;
        self
    }

    /// Holds a list back that the engine may still fill, or no longer.
    pub fn hold(&mut self, holds: bool) {
        self.question.holds = holds;
    }

    /// True while a key is asked for: the input must not be echoed.
    #[must_use]
    pub fn wants_secret(&self) -> bool {
        matches!(self.question.asked, PendingPrompt::Key(_))
    }

    /// True while a question or a list waits for a line.
    #[must_use]
    pub fn asks(&self) -> bool {
        !matches!(self.question.asked, PendingPrompt::Nothing)
    }

    /// True while a request of the engine waits, which nobody can answer once the input has ended.
    #[must_use]
    pub fn waits_for_an_answer(&self) -> bool {
        self.question.asked.request().is_some()
    }
}
