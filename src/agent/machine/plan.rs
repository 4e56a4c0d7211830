//! Plans in a session: submitted, changed, approved, carried out, dropped.
//!
//! A plan that waits is kept until its answer's message is on disk. The approval covers the text that was shown and
//! nothing else; the file that holds it is looked at by the actor, and what it found comes in as an input.

use super::header_extension::PendingPlan;
use super::state::{Machine, notice};
use super::turn_state::{Turn, Work};
use super::user_input::stale_answer;
use crate::agent::machine_io::{PlanFile, Safety, Step};
use crate::domain::ids::{At, MessageId, RequestId};
use crate::domain::message::{Body, InfoKind, Message, Plan};
use crate::domain::notice::Level;
use crate::domain::permission::Mode;
use crate::domain::plan::{self, Outline, PendingExecution, PlanApproval, Progress, StepStatus};
use crate::domain::request::{Ask, PlanOrigin, PlanReview, Request, UserAnswer};
use crate::domain::tool::Outcome;
use crate::permit::Struck;
use crate::protocol::SessionEvent;
use std::path::PathBuf;

const PLAN_WAITS: &str = "skipped: a plan was submitted and waits for the user";

impl Machine {
    // ---- a plan waits ----

    /// A plan was submitted: it waits for its answer, and the turn ends with this batch of calls.
    pub(super) fn submit_plan(&mut self, now: At, path: PathBuf, title: String, markdown: String, out: &mut Vec<Step>) {
        self.drop_plan(out);
        self.set_progress(None, out);
        self.meta.pending_execution = None;
        let request: RequestId = self.request_id(now);
        let review = PlanReview { path: path.clone(), title, markdown: markdown.clone(), ..PlanReview::default() };
        let plan = PendingPlan { request, review };
        self.own.plan = Some(plan.clone());
        self.meta.plan_pending = true;
        if let Some(turn) = &mut self.turn {
            turn.planned = true;
        }
        self.skip_unstarted(now, PLAN_WAITS, out);
        let at = self.stamp(now);
        let body = Body::Plan(Plan { path: path.display().to_string(), markdown });
        let id = MessageId::new(format!("plan-{}-{}", at.0, self.letters()));
        // The plan's row comes behind the rows of its calls.
        if let Some(Turn { work: Work::Calling(batch), .. }) = &mut self.turn {
            let rows = batch.take_final();
            self.keep(rows, Safety::Written, out);
        }
        self.keep(vec![Message::new(id, at, body)], Safety::Synced, out);
        out.push(Step::KeepMeta(Safety::Synced));
        out.push(Step::Emit(SessionEvent::Asked(Box::new(self.plan_request(&plan)))));
    }

    /// The plan that waits, as it is asked.
    pub(super) fn plan_request(&self, plan: &PendingPlan) -> Request {
        let resumes = self.meta.pending_execution.as_ref().is_some_and(is_unfinished);
        let capped = self.config.loosest < Mode::Execute;
        let review = PlanReview { capped, resumes, ..plan.review.clone() };
        Request { id: plan.request.clone(), ask: Ask::Plan(review) }
    }

    /// The plan that this request is about.
    #[must_use]
    pub fn plan_asked(&self, request: &RequestId) -> Option<&PlanReview> {
        let plan = self.own.plan.as_ref().filter(|plan| plan.request == *request)?;
        Some(&plan.review)
    }

    /// A plan that waits no longer waits.
    pub(super) fn drop_plan(&mut self, out: &mut Vec<Step>) {
        if let Some(plan) = self.own.plan.take() {
            self.meta.plan_pending = false;
            out.push(Step::Emit(SessionEvent::Settled { request: plan.request, by: None }));
        }
    }

    /// A plan was approved to be carried out after a compaction, and the program ended before. It is asked for once more:
    /// nothing goes on by itself. Plans of ours are kept; that of another program is found among its rows.
    pub fn resume_plan(&mut self, now: At, rows: &[Message]) {
        let Some(pending) = self.meta.pending_execution.clone().filter(is_unfinished) else { return };
        if self.own.plan.is_some() {
            return;
        }
        let since_user = rows.iter().rev().take_while(|row| !matches!(row.body, Body::User(_)));
        let found = since_user.into_iter().find_map(|row| match &row.body {
            Body::Plan(plan) if plan.path == pending.plan_path => Some(plan.clone()),
            _ => None,
        });
        let Some(found) = found else { return };
        let title = found.markdown.lines().find_map(|line| line.trim().strip_prefix("# ")).unwrap_or("Plan");
        let review = PlanReview {
            path: found.path.clone().into(),
            title: title.trim().to_owned(),
            markdown: found.markdown.clone(),
            ..PlanReview::default()
        };
        self.own.plan = Some(PendingPlan { request: self.request_id(now), review });
        self.meta.plan_pending = true;
        self.show_activity();
    }

    /// Handles the content of the plan's file: a text other than the shown one is asked about
    /// again, and a missing file is written from the shown text.
    pub(super) fn found_plan(&mut self, file: PlanFile, out: &mut Vec<Step>) {
        let Some(waiting) = &mut self.own.plan else { return };
        let review = &mut waiting.review;
        match file {
            PlanFile::Text(text) if text == review.markdown => {}
            PlanFile::Text(text) => {
                review.markdown = text;
                review.origin = PlanOrigin::ChangedOnDisk;
                let text = "Not approved: the plan's file changed meanwhile. This is the current version.";
                out.push(notice(Level::Warning, text, "Review it and answer again."));
                self.ask_plan_anew(out);
            }
            PlanFile::Gone => {
                let text = format!("Plan file {} was missing and has been recreated.", review.path.display());
                out.push(Step::KeepPlan(review.path.clone(), review.markdown.clone()));
                out.push(notice(Level::Info, text, ""));
            }
        }
    }

    fn ask_plan_anew(&mut self, out: &mut Vec<Step>) {
        out.push(Step::KeepMeta(Safety::Synced));
        self.stays_asked(out);
    }

    // ---- its answers ----

    pub(super) fn answer_plan(&mut self, now: At, answer: UserAnswer, out: &mut Vec<Step>) {
        if self.turn.is_some() {
            let text = "Turn running: answer the plan when it ends.";
            out.push(notice(Level::Warning, text, "Esc stops the turn."));
            return self.stays_asked(out);
        }
        match answer {
            UserAnswer::PlanApprove(approval) => self.approve_plan(now, approval, out),
            UserAnswer::PlanEdited(text) => self.edit_plan(text, out),
            UserAnswer::PlanChanges(text) => {
                let read = self.own.plan.as_ref().and_then(|plan| now_reads(&plan.review));
                self.drop_plan(out);
                self.label(&text);
                let read = read.map(|read| format!("\n\n{read}")).unwrap_or_default();
                self.begin(now, format!("Change the plan: {text}{read}"), out);
            }
            UserAnswer::PlanDecline => self.decline_plan(now, out),
            _ => {
                out.push(stale_answer());
                self.stays_asked(out);
            }
        }
    }

    /// Keeps the request pending: a client that removed it shows it again.
    pub(super) fn stays_asked(&self, out: &mut Vec<Step>) {
        let request = self.own.plan.as_ref().map(|plan| self.plan_request(plan));
        out.extend(request.map(|request| Step::Emit(SessionEvent::Asked(Box::new(request)))));
    }

    fn decline_plan(&mut self, now: At, out: &mut Vec<Step>) {
        self.drop_plan(out);
        self.meta.pending_execution = None;
        let row = self.info(now, Level::Info, InfoKind::Remark, "Plan declined");
        self.keep(vec![row], Safety::Synced, out);
        self.changed_by_user(out);
        if !self.queue.items.is_empty() {
            self.queue.hold();
            self.queue_changed(out);
        }
    }

    fn edit_plan(&mut self, text: String, out: &mut Vec<Step>) {
        let Some(waiting) = &mut self.own.plan else { return };
        let review = &mut waiting.review;
        if text.trim().is_empty() {
            out.push(notice(Level::Warning, "Plan unchanged: the edited text is empty.", ""));
        } else if text.trim_end() == review.markdown.trim_end() {
            out.push(notice(Level::Info, "Plan unchanged", ""));
        } else {
            review.markdown = text;
            review.origin = PlanOrigin::EditedByUser;
            out.push(Step::KeepPlan(review.path.clone(), review.markdown.clone()));
            self.ask_plan_anew(out);
        }
    }

    fn approve_plan(&mut self, now: At, approval: PlanApproval, out: &mut Vec<Step>) {
        let Some(waiting) = self.own.plan.clone() else { return };
        let review = &waiting.review;
        if approval.covers != plan::hash(&review.markdown) {
            let text = "Not approved: the plan changed since it was shown.";
            out.push(notice(Level::Warning, text, "Review it and answer again."));
            return self.stays_asked(out);
        }
        if approval.mode == Mode::Explore {
            out.push(stale_answer());
            return self.stays_asked(out);
        }
        if review.markdown.trim().is_empty() {
            out.push(notice(Level::Warning, "Empty plan: nothing to approve", ""));
            return self.stays_asked(out);
        }
        let mut outline = Outline::parse(&review.markdown);
        let before = outline.clone();
        outline.apply(&approval.marks);
        if outline.is_all_struck() {
            let text = "Every step is struck: nothing to carry out.";
            out.push(notice(Level::Warning, text, "Decline the plan, or restore a step."));
            return self.stays_asked(out);
        }
        if outline != before {
            // What was approved is what the file says, and what is asked again should the program end now.
            let text = outline.render();
            if let Some(plan) = &mut self.own.plan {
                plan.review.markdown.clone_from(&text);
            }
            out.push(Step::KeepPlan(review.path.clone(), text));
        }
        if !approval.compact {
            self.carry_out(now, approval.mode, out);
            return;
        }
        self.meta.pending_execution = Some(PendingExecution {
            plan_path: review.path.display().to_string(),
            draft_input_snapshot: self.meta.pending_execution.take().and_then(|pending| pending.draft_input_snapshot),
            awaiting_compaction: true,
            execution_dispatched: None,
        });
        out.push(Step::KeepMeta(Safety::Synced));
        // It is carried out when the compaction is on disk: until then it waits, and a death in between finds it waiting.
        self.compact_for_plan(now, approval, out);
    }

    /// An approved plan is carried out once what was kept for it is on disk.
    #[must_use]
    pub fn has_due(&self) -> bool {
        self.plan.is_due()
    }

    pub(super) fn carry_out_due(&mut self, now: At, out: &mut Vec<Step>) {
        if let Some(approval) = self.plan.take_due() {
            self.carry_out(now, approval.mode, out);
        }
    }

    fn carry_out(&mut self, now: At, wanted: Mode, out: &mut Vec<Step>) {
        let Some(PendingPlan { review, .. }) = self.own.plan.clone() else { return };
        let mode = self.capped(wanted, out);
        let steps = Outline::parse(&review.markdown).steps;
        let draft = self.meta.pending_execution.take().and_then(|pending| pending.draft_input_snapshot);
        let text = approved(mode, &review, &steps, draft.as_deref());
        self.drop_plan(out);
        let PlanReview { title, path, .. } = review;
        let progress = Progress { title, path, steps, over: false };
        self.set_progress((!progress.steps.is_empty()).then_some(progress), out);
        self.meta.mode = mode;
        // The user chose this mode deliberately: it counts at once.
        self.mode_since = At(0);
        self.status_at_approval();
        // The message is on disk before the plan is gone and the mode another.
        self.begin(now, text, out);
        out.push(Step::KeepMeta(Safety::Synced));
    }

    // ---- a plan is carried out ----

    fn set_progress(&mut self, progress: Option<Progress>, out: &mut Vec<Step>) {
        self.plan.set_ended(false);
        if self.own.progress != progress {
            self.own.progress.clone_from(&progress);
            out.push(Step::Emit(SessionEvent::Plan(progress.map(Box::new))));
        }
    }

    /// Targets of the struck steps, while they apply: until the plan was carried out, and to the
    /// end of that turn.
    pub(super) fn struck(&self) -> Vec<Struck> {
        let holds = self.own.progress.as_ref().filter(|progress| !progress.over || self.plan.has_ended());
        holds.into_iter().flat_map(|progress| &progress.steps).filter_map(Struck::of).collect()
    }

    /// The agent reports how far a step is. What comes back is the result of its call.
    pub(super) fn report_step(
        &mut self,
        number: u32,
        status: StepStatus,
        outcome: Outcome,
        out: &mut Vec<Step>,
    ) -> Outcome {
        let Some(progress) = self.own.progress.as_mut().filter(|progress| !progress.over) else {
            return Outcome::error("No approved plan is being carried out, so there is no step to report.");
        };
        if let Err(why) = progress.set(number, status) {
            return Outcome::error(why);
        }
        progress.over = progress.is_settled();
        self.plan.set_ended(progress.over);
        let (done, of) = progress.figures();
        let next = match progress.next() {
            _ if progress.over => "That was the last step: say what was done, and what was not.".to_owned(),
            Some(step) if step.number != number => format!("Next is step {}: {}", step.number, step.line()),
            Some(_) => String::new(),
            None => "No step is open. Retry what failed, or tell the user.".to_owned(),
        };
        let text = format!("Step {number} is {}. {done} of {of} steps are done. {next}", status.word());
        out.push(Step::Emit(SessionEvent::Plan(Some(Box::new(progress.clone())))));
        out.push(Step::KeepMeta(Safety::Written));
        Outcome { text: text.trim_end().to_owned(), ..outcome }
    }

    /// The user drops the plan that waits, or the one that is carried out.
    pub(super) fn give_up_plan(&mut self, now: At, out: &mut Vec<Step>) {
        if self.own.plan.is_some() {
            self.decline_plan(now, out);
        } else if self.own.progress.is_some() {
            let over = self.own.progress.as_ref().is_some_and(|progress| progress.over);
            self.set_progress(None, out);
            if !over && self.turn.is_none() {
                let text = "Plan dropped";
                let row = self.info(now, Level::Info, InfoKind::Remark, text);
                self.keep(vec![row], Safety::Synced, out);
            }
            self.changed_by_user(out);
        } else {
            out.push(notice(Level::Info, "No plan to drop", ""));
        }
    }
}

/// It was approved, and nobody was told yet.
fn is_unfinished(pending: &PendingExecution) -> bool {
    pending.awaiting_compaction && pending.execution_dispatched != Some(true)
}

/// The plan in whole, where it is not the one that the agent wrote.
fn now_reads(review: &PlanReview) -> Option<String> {
    let why = match review.origin {
        PlanOrigin::Submitted => return None,
        PlanOrigin::EditedByUser => "The user edited the plan; the plan now reads:",
        PlanOrigin::ChangedOnDisk => "The plan's file was changed since it was submitted; the plan now reads:",
    };
    Some(format!("{why}\n\n{}", review.markdown.trim()))
}

/// The message that tells the agent of the approval.
fn approved(mode: Mode, review: &PlanReview, steps: &[plan::PlanStep], draft: Option<&str>) -> String {
    let mut out = format!("{}\n\n", plan::approval_line(mode));
    out.push_str(&format!("Plan: {}\nFile: {}\n", review.title, review.path.display()));
    if let Some(read) = now_reads(review) {
        out.push_str(&format!("\n{read}\n"));
    }
    if !steps.is_empty() {
        out.push_str("\nSteps as approved:\n");
    }
    for step in steps {
        let lead = format!("{}. ", step.number);
        let indent = format!("\n{}", " ".repeat(lead.len()));
        let not = if step.struck { "Not to be done, struck out by the user: " } else { "" };
        out.push_str(&format!("{lead}{not}{}\n", step.text.replace('\n', &indent)));
        if let Some(comment) = &step.comment {
            out.push_str(&format!("{}The user's comment: {}\n", &indent[1..], comment.replace('\n', &indent)));
        }
    }
    if !steps.is_empty() {
        out.push_str(
            "\nReport each step with the tool `step`: running when you begin it, then done, failed or skipped.",
        );
    }
    if let Some(draft) = draft.filter(|draft| !draft.trim().is_empty()) {
        out.push_str(&format!("\n\nAdditional user context:\n{}", draft.trim()));
    }
    out.trim_end().to_owned()
}
