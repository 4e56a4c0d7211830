//! End of `lisle run`: the answer, its check, the result for whoever reads events, and the exit status.

use super::exit::Exit;
use super::headless::{Ended, Face};
use super::output::complain;
use super::run_events::{RunResult, RunStatus, RunUsage};
use super::run_input::json_of;
use crate::agent::Link;
use crate::domain::message::UserText;
use crate::domain::sanitise::reveal;
use crate::domain::unsaved::Refuge;
use crate::protocol::TurnEnd;
use std::time::Duration;
use tokio::time::Instant;

impl Face {
    /// Checks the answer against its schema, and lets the model try once more.
    pub(super) async fn checked(&mut self, link: &mut Link, deadline: Option<Instant>) -> Ended {
        for retry in [true, false] {
            let Some(schema) = &self.input.schema else { break };
            let why = match json_of(&self.said()) {
                None => "the answer is not JSON".to_owned(),
                Some(value) => match schema.fault(&value) {
                    None => {
                        if let Some(answer) = &mut self.answer {
                            answer.1 = value.to_string();
                        }
                        break;
                    }
                    Some(fault) => fault,
                },
            };
            if !retry {
                return Ended::Mismatch(format!("the answer does not match --json-schema: {why}"));
            }
            self.printer.progress(&format!("{why}; asking again"));
            let text =
                format!("That does not match the JSON Schema: {why}. Answer again with the corrected JSON alone.");
            self.prompt = UserText { piped: Some(0), ..text.into() };
            if let Some((id, _)) = self.answer.take() {
                self.printer.dropped(&id);
            }
            self.attached = Vec::new();
            self.send_message(link).await;
            let end = self.turn(link, deadline).await;
            if !matches!(end, Ended::Turn(TurnEnd::Done)) {
                return end;
            }
        }
        Ended::Turn(TurnEnd::Done)
    }

    /// The plan or the answer, as far as it came.
    pub(super) fn said(&self) -> String {
        let answer = self.answer.as_ref().map(|(_, text)| text.trim_end().to_owned());
        // A plan is decided on, so nothing in it is hidden; an answer is handed on as it is.
        self.plan.as_ref().map(|plan| reveal(plan.trim_end()).to_string()).or(answer).unwrap_or_default()
    }

    /// Prints the answer or the plan.
    pub(super) fn print_answer(&mut self) {
        let said = self.said();
        match (&self.plan, &self.answer) {
            (None, None) => {}
            (Some(_), _) => {
                self.printer.answer(None, &said);
            }
            (None, Some((id, text))) => {
                // What was checked is printed as JSON of lisle's own.
                self.printer.message(id, text, self.input.schema.is_none());
                self.printer.answer(Some(id), &said);
            }
        }
    }

    /// Prints the end of the run for whoever reads events.
    pub(super) fn print_result(&self, exit: Exit, status: RunStatus, error: Option<String>, took: Duration) {
        let (before, now) = &self.usage;
        let text = self.said();
        self.printer.result(RunResult {
            session: self.session.as_ref().map(ToString::to_string),
            status,
            exit: exit as u8,
            json: self.input.schema.as_ref().and_then(|_| json_of(&text)),
            text,
            error,
            refused: self.refusals.count,
            usage: RunUsage {
                input_tokens: now.input_tokens.saturating_sub(before.input_tokens),
                output_tokens: now.output_tokens.saturating_sub(before.output_tokens),
                cost_usd: Some(now.cost_usd - before.cost_usd).filter(|cost| *cost > 0.0),
            },
            millis: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        });
    }

    /// Status of a run that ended so.
    pub(super) fn status(&self, end: &Ended) -> RunStatus {
        match end {
            Ended::Turn(TurnEnd::Done) => RunStatus::Done,
            Ended::Turn(TurnEnd::Plan) => RunStatus::Plan,
            Ended::Turn(TurnEnd::Limit) | Ended::Late => RunStatus::Limit,
            Ended::Turn(TurnEnd::Stopped) | Ended::Interrupted(_) => RunStatus::Interrupted,
            Ended::Turn(TurnEnd::Failed)
            | Ended::Queued
            | Ended::Held(_)
            | Ended::Refused(_)
            | Ended::NoConnection(_)
            | Ended::Usage(_)
            | Ended::Mismatch(_)
            | Ended::Gone(_)
            | Ended::Lost => RunStatus::Failed,
        }
    }

    /// Exit of a run and the reason of a bad one, with what could not be saved told.
    pub(super) fn exit_told(&self, end: Ended, saved: bool) -> (Exit, Option<String>) {
        self.unsaved.iter().for_each(|unsaved| complain(&format!("lisle: {}", unsaved.words())));
        // Where the rest lies beside the session, another process writes that now: it came while the turn ended.
        let taken_over = self.unsaved.iter().any(|unsaved| matches!(unsaved.refuge, Refuge::Salvage(_)));
        let (exit, why) = self.exit(end);
        if let Some(why) = why.as_ref().filter(|why| self.trouble.warned.as_ref() != Some(why)) {
            complain(&format!("lisle: {why}"));
        }
        let exit = match exit {
            Exit::Done | Exit::Refused if taken_over => Exit::Held,
            Exit::Done | Exit::Refused if !saved || !self.unsaved.is_empty() || self.line.kept_in_memory => {
                Exit::Unsaved
            }
            exit => exit,
        };
        (exit, why)
    }

    /// The exit status, with the reason of a bad one.
    fn exit(&self, end: Ended) -> (Exit, Option<String>) {
        match end {
            Ended::Interrupted(by) => (by.exit(), None),
            Ended::Turn(TurnEnd::Stopped) => (Exit::Interrupted, None),
            Ended::Late => (Exit::Failed, Some("timeout: the turn was stopped; its work so far is saved.".to_owned())),
            Ended::Queued => {
                let session = self.session.as_ref().map(ToString::to_string).unwrap_or_default();
                let why =
                    format!("message queued in {session}, where a turn runs. Open it with lisle --session {session}.");
                (Exit::Queued, Some(why))
            }
            Ended::Held(why) => (Exit::Held, Some(why)),
            Ended::Refused(why) => (Exit::Failed, Some(format!("{why} Nothing sent."))),
            Ended::NoConnection(why) => (Exit::NoCredentials, Some(why)),
            Ended::Usage(why) => (Exit::Usage, Some(why)),
            Ended::Mismatch(why) => (Exit::Failed, Some(why)),
            Ended::Gone(why) => {
                let session = self.session.as_ref().map(ToString::to_string).unwrap_or_default();
                (Exit::Failed, Some(format!("{why}. Open the session with lisle --session {session}.")))
            }
            Ended::Lost => (Exit::Failed, None),
            Ended::Turn(TurnEnd::Limit) if self.trouble.warned.is_some() => (Exit::Failed, self.trouble.warned.clone()),
            Ended::Turn(TurnEnd::Failed | TurnEnd::Limit) => {
                let (code, text) = self.trouble.error.clone().unwrap_or_default();
                let of_key = matches!(code.as_str(), "invalid_api_key" | "invalid_credentials");
                (if of_key { Exit::NoCredentials } else { Exit::Failed }, Some(text).filter(|text| !text.is_empty()))
            }
            Ended::Turn(TurnEnd::Done | TurnEnd::Plan) if self.refusals.count > 0 => (Exit::Refused, None),
            Ended::Turn(TurnEnd::Done | TurnEnd::Plan) => (Exit::Done, None),
        }
    }
}
