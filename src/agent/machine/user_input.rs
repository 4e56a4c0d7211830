//! Input of the user: messages, answers, modes, names.

use super::batch::{Asking, Edited, Stage};
use super::state::{Machine, notice};
use super::turn_state::Work;
use crate::agent::machine_io::{Safety, Step};
use crate::domain::ids::{At, CallId, RequestId};
use crate::domain::message::{CutBy, UserText};
use crate::domain::notice::Level;
use crate::domain::permission::{Authority, Decision, Mode};
use crate::domain::prompt_text::{NamedText, PromptKind};
use crate::domain::request::{Ask, UserAnswer};
use crate::domain::session::{SessionSwitch, TitleFrom};
use crate::domain::tool::{CallFacts, Proposal, ToolFigures};
use crate::permit::{self, Verdict};
use crate::protocol::{QueueEdit, SessionCommand, SessionEvent};
use crate::provider::ProposedCall;
use std::path::PathBuf;

/// Arguments of a command that open the sandbox for it.
const OPENS: [&str; 2] = ["access", "outside"];

impl Machine {
    pub(super) fn person(&mut self, now: At, act: SessionCommand, out: &mut Vec<Step>) {
        // What is read or taken over by itself is nobody's word.
        if !matches!(
            act,
            SessionCommand::Read
                | SessionCommand::Claim
                | SessionCommand::TakeOver
                | SessionCommand::Detach { .. }
                | SessionCommand::KillJob { .. }
        ) {
            self.hold_redelivery(out);
        }
        match act {
            SessionCommand::Send { text, attachments, piped } => {
                let steers = self.config.steer_by_default;
                self.said(now, UserText { piped, ..UserText::with(text, attachments) }, steers, out);
            }
            SessionCommand::Steer { text, attachments, piped } => {
                self.said(now, UserText { piped, ..UserText::with(text, attachments) }, true, out);
            }
            SessionCommand::Type { command } if command.trim().is_empty() => {}
            SessionCommand::Type { command } => self.typed(now, command.trim(), out),
            SessionCommand::Queue(edit) => self.edit_queue(now, edit, out),
            SessionCommand::Stop => self.stop_turn(now, CutBy::User, out),
            SessionCommand::Cut { by } => self.stop_turn(now, by, out),
            SessionCommand::Compact { wish } if self.wants_connection(out) => {
                give_back(SessionCommand::Compact { wish }, "This session's connection is not configured here.", out);
            }
            SessionCommand::Compact { wish } => self.compact_wished(now, wish, out),
            SessionCommand::Retry => self.retry(now, out),
            SessionCommand::Answer { request, answer, .. } => self.answer(now, &request, answer, out),
            SessionCommand::Mode { mode, drop_plan } => self.set_mode(now, mode, drop_plan, out),
            SessionCommand::DropPlan => self.give_up_plan(now, out),
            SessionCommand::Model { connection, model } => self.set_model(now, connection, model, out),
            SessionCommand::StandIn { connection, everywhere } => self.stand_in(now, connection, everywhere, out),
            SessionCommand::Thinking(level) => {
                self.meta.thinking = level;
                self.changed_by_user(out);
            }
            SessionCommand::Switch { what, on } => self.switch(what, on, out),
            SessionCommand::UseSource { source, on } => self.use_source(source, on, out),
            SessionCommand::Rename { title } => self.rename(&title, out),
            // What a model is asked for is the actor's business.
            SessionCommand::Retitle => {}
            SessionCommand::Read => self.read(out),
            SessionCommand::Cwd(cwd) => self.change_directory(cwd, out),
            // The actor does these: what is shown, and files beside the conversation. A draft only holds a redelivery.
            SessionCommand::Draft { .. }
            | SessionCommand::Claim
            | SessionCommand::TakeOver
            | SessionCommand::Attach { .. }
            | SessionCommand::Detach { .. }
            | SessionCommand::UsePrompt { .. }
            | SessionCommand::KillJob { .. }
            | SessionCommand::Open { .. }
            | SessionCommand::OpenAt { .. }
            | SessionCommand::Resume { .. }
            | SessionCommand::Earlier { .. }
            | SessionCommand::Later { .. }
            | SessionCommand::Leave
            | SessionCommand::Context
            | SessionCommand::Rules
            | SessionCommand::Sources
            | SessionCommand::Extensions
            | SessionCommand::Forget { .. }
            | SessionCommand::Trust { .. }
            | SessionCommand::AskKey { .. }
            | SessionCommand::Enhance { .. }
            | SessionCommand::PlanUndo { .. }
            | SessionCommand::Undo { .. }
            | SessionCommand::FilesChanged
            | SessionCommand::Clear => {}
        }
    }

    fn stop_turn(&mut self, now: At, by: CutBy, out: &mut Vec<Step>) {
        if self.turn.is_some() {
            self.stop(now, by, out);
        }
    }

    fn retry(&mut self, now: At, out: &mut Vec<Step>) {
        if self.turn.is_none() {
            self.begin_again(now, out);
        } else if self.backs_off() {
            // The wait that runs belongs to the run before: when it is over, nothing comes of it.
            self.runs.next();
            self.request(now, out);
        }
    }

    fn change_directory(&mut self, cwd: PathBuf, out: &mut Vec<Step>) {
        if self.meta.cwd != cwd {
            self.meta.cwd = cwd;
            self.moved(out);
        }
        self.changed_by_user(out);
    }

    fn switch(&mut self, what: SessionSwitch, on: bool, out: &mut Vec<Step>) {
        match what {
            SessionSwitch::LongCache => {
                (self.own.extended_prompt_cache, self.meta.switches.long_cache) = (Some(on), on)
            }
            SessionSwitch::FullTools => {
                (self.own.rich_tool_descriptions, self.meta.switches.full_tools) = (Some(on), on)
            }
            SessionSwitch::NoTools => (self.own.no_tools, self.meta.switches.no_tools) = (on, on),
        }
        self.changed_by_user(out);
    }

    /// Puts a context or a strategy into the system prompt, or takes it out. It applies from the next turn on.
    pub(super) fn set_preamble(&mut self, kind: PromptKind, text: Option<NamedText>, out: &mut Vec<Step>) {
        match kind {
            PromptKind::Context => self.own.preamble.context = text,
            PromptKind::Strategy => self.own.preamble.strategy = text,
            // A pattern frames one message, not a session.
            PromptKind::Pattern => return,
        }
        self.show_preamble();
        self.changed_by_user(out);
    }

    pub(super) fn show_preamble(&mut self) {
        let name = |text: &Option<NamedText>| text.as_ref().map(|text| text.name.clone());
        self.meta.names.context = name(&self.own.preamble.context);
        self.meta.names.strategy = name(&self.own.preamble.strategy);
    }

    fn rename(&mut self, title: &str, out: &mut Vec<Step>) {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        if !title.is_empty() {
            self.meta.title = title;
            self.meta.title_from = TitleFrom::User;
            self.changed_by_user(out);
        }
    }

    /// A message: into the turn that runs, behind it, or it begins one.
    /// The message with the client that sends it.
    pub(super) fn signed(&self, said: UserText) -> UserText {
        UserText { client: self.config.client.clone(), ..said }
    }

    fn said(&mut self, now: At, said: UserText, steers: bool, out: &mut Vec<Step>) {
        let said = self.signed(said);
        if said.is_empty() {
            return;
        }
        if self.is_stopping() {
            return self.said_meanwhile(now, said, out);
        }
        if self.turn.is_some() && steers {
            return self.steer(now, said, out);
        }
        if self.turn.is_some() {
            let id = self.enqueue(now, said);
            self.queue_changed(out);
            out.push(Step::Emit(SessionEvent::Accepted { id, queued: true }));
            return;
        }
        if self.wants_connection(out) {
            self.enqueue(now, said);
            return self.hold_for_connection(out);
        }
        // The next message lets a held queue go: it is sent first, what waited follows.
        if self.queue.held {
            self.queue.held = false;
            self.queue_changed(out);
        }
        self.label(&said.text);
        let at = self.stamp(now);
        let id = self.message_id(at);
        let mut turn = Vec::new();
        let called = self.called(&said);
        self.begin_with(now, Some((id.clone(), said)), called, &mut turn);
        // Taken once it is on disk, and before anything comes of it. Where nothing can answer yet it waits.
        match turn.iter().position(|step| matches!(step, Step::Append(..))) {
            Some(kept) => turn.insert(kept + 1, Step::Emit(SessionEvent::Accepted { id, queued: false })),
            None => turn.push(Step::Emit(SessionEvent::Accepted { id, queued: true })),
        }
        out.append(&mut turn);
    }

    fn edit_queue(&mut self, now: At, edit: QueueEdit, out: &mut Vec<Step>) {
        let releases = edit == QueueEdit::Release;
        if self.edit_steers(&edit) || self.queue.edit(edit.clone()) {
            self.queue_changed(out);
        } else if let QueueEdit::Replace { id, .. } = &edit
            && self.queue.items.iter().all(|item| item.id != *id)
        {
            give_back(SessionCommand::Queue(edit), "Not changed: the message was already sent.", out);
        }
        if releases && self.turn.is_none() {
            self.send_next(now, out);
        }
    }

    /// Edits messages that go into the running turn: they can be removed and changed until they are
    /// delivered; their order stays. True if the edit was about such a message.
    fn edit_steers(&mut self, edit: &QueueEdit) -> bool {
        let (QueueEdit::Remove { id } | QueueEdit::Replace { id, .. }) = edit else { return false };
        let Some(steers) = self.turn.as_mut().map(|turn| &mut turn.steers) else { return false };
        let Some(at) = steers.iter().position(|steer| steer.id == *id) else { return false };
        match edit {
            QueueEdit::Replace { text, .. } => {
                if let Some(steer) = steers.get_mut(at) {
                    steer.text.clone_from(text);
                }
            }
            _ => drop(steers.remove(at)),
        }
        true
    }

    // ---- answers ----

    fn answer(&mut self, now: At, request: &RequestId, answer: UserAnswer, out: &mut Vec<Step>) {
        if self.own.plan.as_ref().is_some_and(|plan| plan.request == *request) {
            self.answer_plan(now, answer, out);
            return;
        }
        if self.asks_for_key(request) {
            return self.answer_key(now, answer, out);
        }
        if self.trust.asks(request) {
            self.answer_trust(&answer, out);
            return;
        }
        if self.asks.connecting(request).is_some() {
            return self.answer_connecting(now, request, answer, out);
        }
        let asked = match self.turn.as_mut().map(|turn| &mut turn.work) {
            Some(Work::Calling(batch)) => batch.asked(request).map(|one| (one.call.clone(), one.stage.clone())),
            _ => None,
        };
        match asked {
            Some((call, Stage::Asking(asking))) => match answer {
                UserAnswer::Once => {
                    out.push(Step::Emit(SessionEvent::Settled { request: request.clone(), by: None }));
                    self.run_call(now, &call, asking.facts, Authority::Person, out);
                }
                UserAnswer::OnceWithout(places) => self.once_without(now, &call, &asking, places, out),
                UserAnswer::Remember { scope, rules } => match self.remember(&asking, scope, rules, out) {
                    Some(authority) => {
                        out.push(Step::Emit(SessionEvent::Settled { request: request.clone(), by: None }));
                        self.run_call(now, &call, asking.facts, authority, out);
                        self.reconsider(now, out);
                    }
                    // It goes on waiting: what it would keep is not what was asked. Faces took it for answered.
                    None => out.push(Step::Emit(SessionEvent::Asked(Box::new(asking.request)))),
                },
                UserAnswer::Instead(command) => self.instead(now, &call.id, &asking, command, out),
                UserAnswer::No(reason) => self.refused(now, &call.id, reason, out),
                answer => unheard(request, answer, out),
            },
            Some((call, Stage::Answering(_))) => {
                let (failed, text) = match answer {
                    UserAnswer::Reply(text) => (false, format!("The user answered: {text}")),
                    UserAnswer::No(reason) => (
                        true,
                        format!("The user did not answer.{}", reason.map(|r| format!(" {r}")).unwrap_or_default()),
                    ),
                    answer => return unheard(request, answer, out),
                };
                let mut outcome = crate::domain::tool::Outcome::ok(text);
                outcome.failed = failed;
                outcome.figures = ToolFigures::default();
                self.finish(now, &call.id, outcome, out);
            }
            _ => unheard(request, answer, out),
        }
    }

    /// Makes a change without the places that the user struck out. Places that are not those of the change answer nothing.
    fn once_without(&mut self, now: At, call: &ProposedCall, asking: &Asking, places: Vec<u32>, out: &mut Vec<Step>) {
        if !asking.facts.proposal.can_leave_out(&places) {
            out.push(notice(Level::Warning, "The struck parts don't belong to this change.", "Answer it again."));
            return out.push(Step::Emit(SessionEvent::Asked(Box::new(asking.request.clone()))));
        }
        out.push(Step::Emit(SessionEvent::Settled { request: asking.request.id.clone(), by: None }));
        let facts = CallFacts { left_out: places, ..asking.facts.clone() };
        self.run_call(now, call, facts, Authority::Person, out);
    }

    /// Runs another command in the place of the one that was asked about: its facts are gathered and judged from the start.
    fn instead(&mut self, now: At, id: &CallId, asking: &Asking, command: String, out: &mut Vec<Step>) {
        let Proposal::Command { command: proposed, .. } = &asking.facts.proposal else {
            out.push(notice(
                Level::Warning,
                "Only commands can be edited before they run.",
                "Answer no, with a reason.",
            ));
            out.push(Step::Emit(SessionEvent::Asked(Box::new(asking.request.clone()))));
            return;
        };
        if command.trim().is_empty() {
            out.push(notice(Level::Warning, "Empty command.", "Enter one, or answer no."));
            out.push(Step::Emit(SessionEvent::Asked(Box::new(asking.request.clone()))));
            return;
        }
        let run = self.runs.current();
        let Some(Work::Calling(batch)) = self.turn.as_mut().map(|turn| &mut turn.work) else { return };
        let Some(one) = batch.open(id) else { return };
        if command == *proposed {
            let call = one.call.clone();
            out.push(Step::Emit(SessionEvent::Settled { request: asking.request.id.clone(), by: None }));
            self.run_call(now, &call, asking.facts.clone(), Authority::Person, out);
            return;
        }
        // What the model proposed first stays known, however often it is changed.
        let first = one.edited.take().map_or_else(|| proposed.clone(), |edited| edited.proposed);
        one.edited = Some(Edited { proposed: first, fresh: true });
        let Some(input) = one.call.input.as_object_mut() else { return };
        input.insert("command".to_owned(), command.clone().into());
        // What the model asked to be opened was for its own command.
        OPENS.iter().for_each(|name| {
            input.remove(*name);
        });
        one.stage = Stage::Inspecting;
        let (call, input) = (one.call.clone(), one.call.input.clone());
        if let Some(tool) = one.tool() {
            tool.input = input;
            tool.subject = command;
        }
        let row = one.row.clone();
        out.push(Step::Emit(SessionEvent::Settled { request: asking.request.id.clone(), by: None }));
        // What runs later is never another command than the one on disk.
        out.push(Step::KeepLive(row.clone(), Safety::Synced));
        out.push(Step::Emit(SessionEvent::Row(Box::new(row))));
        out.push(Step::Inspect(run, call));
    }

    fn refused(&mut self, now: At, call: &CallId, reason: Option<String>, out: &mut Vec<Step>) {
        let text = match reason.filter(|reason| !reason.trim().is_empty()) {
            Some(reason) => format!("The user refused this call: {reason}"),
            None => "The user refused this call. Do not try it in another form; ask what they want instead.".to_owned(),
        };
        self.refuse(now, call, Decision::refused(self.meta.mode, Authority::Person, text), out);
    }

    // ---- modes and models ----

    /// The mode, or the loosest one that this workspace may have.
    pub(super) fn capped(&self, wanted: Mode, out: &mut Vec<Step>) -> Mode {
        let mode = wanted.stricter(self.config.loosest);
        if mode != wanted {
            let text = format!("Workspace created by another program: sessions are limited to {}.", mode.shown());
            out.push(notice(Level::Warning, text, "/trust shows what trusting it changes."));
        }
        self.below_ceiling(mode, out)
    }

    fn set_mode(&mut self, now: At, mode: Mode, drop_plan: bool, out: &mut Vec<Step>) {
        let mode = self.capped(mode, out);
        if mode == self.meta.mode && !drop_plan {
            return;
        }
        if self.own.plan.is_some() {
            if drop_plan {
                self.drop_plan(out);
            } else if self.meta.mode == Mode::Explore {
                let text = "Plan pending: the mode stays Explore.";
                out.push(notice(Level::Warning, text, "Answer the plan, or drop it with /mode MODE --drop-plan."));
                return;
            }
        }
        self.meta.mode = mode;
        // Nobody cycles through modes without a screen.
        self.mode_since = if self.config.headless { At(0) } else { now };
        self.changed_by_user(out);
        self.reconsider(now, out);
    }

    /// A stricter mode, or rule, decides on waiting approvals at once; a looser one only offers to run them.
    pub(super) fn reconsider(&mut self, now: At, out: &mut Vec<Step>) {
        self.reconsider_connecting(now, out);
        let mode = self.meta.mode;
        let (policy, headless) = (self.config.policy, self.config.headless);
        let (struck, cwd) = (self.struck(), self.meta.cwd.clone());
        let rules = self.trust.rules();
        let Some(Work::Calling(batch)) = self.turn.as_mut().map(|turn| &mut turn.work) else { return };
        let mut refusals = Vec::new();
        for one in batch.all_open() {
            let id = one.call.id.clone();
            let Stage::Asking(asking) = &mut one.stage else { continue };
            let verdict = permit::decide(policy, mode, rules, &asking.facts, headless);
            let verdict = permit::hold_struck(verdict, &struck, (mode, &cwd, headless), &asking.facts);
            if let Verdict::Deny(refusal) = verdict {
                refusals.push((id, refusal));
                continue;
            }
            if let Ask::Approval(approval) = &mut asking.request.ask {
                let would = matches!(verdict, Verdict::Allow(_));
                if approval.would_run_now != would {
                    approval.would_run_now = would;
                    out.push(Step::Emit(SessionEvent::Asked(Box::new(asking.request.clone()))));
                }
            }
        }
        for (id, permit::Refusal { reason, rule }) in refusals {
            let authority = rule.map_or(Authority::Mode, |ruled| Authority::Rule(ruled.words));
            self.refuse(now, &id, Decision::refused(mode, authority, reason), out);
        }
    }
}

/// Nothing was done of it: what the user wrote in it goes back to them.
pub(super) fn give_back(act: SessionCommand, why: &str, out: &mut Vec<Step>) {
    if act.said().is_some() {
        out.push(Step::Emit(SessionEvent::Refused { command: Box::new(act), why: why.to_owned() }));
    }
}

/// An answer that nobody waits for any more.
pub(super) fn unheard(request: &RequestId, answer: UserAnswer, out: &mut Vec<Step>) {
    out.push(stale_answer());
    give_back(SessionCommand::Answer { request: request.clone(), answer, shown: None }, "Already answered", out);
}

pub(super) fn stale_answer() -> Step {
    notice(Level::Info, "Already answered", "")
}
