//! A plan that waits, as the user goes through its steps: which one is looked at, which are struck out, what is said to
//! them. Nothing of it is the engine's before the answer is given.

use crate::domain::Mode;
use crate::domain::plan::{Outline, PlanApproval, PlanStep, StepMark, hash};
use crate::domain::request::PlanReview;

/// A plan in its panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanView {
    /// The plan with the marks of the user.
    pub outline: Outline,
    /// The step that is looked at, by its place in the outline.
    pub at: Option<usize>,
    /// As it was submitted or edited.
    markdown: String,
    marks: Vec<StepMark>,
}

impl PlanView {
    /// The plan as it is asked, with no step looked at.
    #[must_use]
    pub fn new(review: &PlanReview) -> Self {
        let outline = Outline::parse(&review.markdown);
        let marks = outline.marks();
        Self { outline, at: None, markdown: review.markdown.clone(), marks }
    }

    /// True if it shows this text.
    #[must_use]
    pub fn covers(&self, review: &PlanReview) -> bool {
        review.markdown == self.markdown
    }

    /// The step that is looked at.
    #[must_use]
    pub fn step(&self) -> Option<&PlanStep> {
        self.outline.steps.get(self.at?)
    }

    /// Goes to the next step or the one before. Whether there are steps at all.
    pub(crate) fn walk(&mut self, forward: bool) -> bool {
        let last = self.outline.steps.len().checked_sub(1);
        self.at = last.map(|last| match self.at {
            None if forward => 0,
            None => last,
            Some(at) if forward => (at + 1).min(last),
            Some(at) => at.saturating_sub(1),
        });
        self.at.is_some()
    }

    /// Strikes the step out, or takes the strike back. Whether there is one.
    pub(crate) fn strike(&mut self) -> bool {
        let step = self.at.and_then(|at| self.outline.steps.get_mut(at));
        step.map(|step| step.struck = !step.struck).is_some()
    }

    /// Says something to a step; nothing takes it back.
    pub(crate) fn comment(&mut self, number: u32, words: &str) {
        let words = words.trim();
        if let Some(step) = self.outline.steps.iter_mut().find(|step| step.number == number) {
            step.comment = (!words.is_empty()).then(|| words.to_owned());
        }
    }

    /// The user changed something of it here.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.outline.marks() != self.marks
    }

    /// The plan as it reads now.
    #[must_use]
    pub fn text(&self) -> String {
        if self.is_changed() { self.outline.render() } else { self.markdown.clone() }
    }

    /// The approval of exactly this.
    #[must_use]
    pub fn approval(&self, mode: Mode, compact: bool) -> PlanApproval {
        PlanApproval { mode, compact, marks: self.outline.marks(), covers: hash(&self.markdown) }
    }

    /// Change request for the agent: the user's words, struck steps and comments.
    #[must_use]
    pub fn wish(&self, words: &str) -> String {
        let mut out = words.to_owned();
        for step in self.outline.steps.iter().filter(|step| step.struck) {
            out.push_str(&format!("\nLeave out step {}: {}", step.number, step.line()));
        }
        for step in &self.outline.steps {
            if let Some(comment) = &step.comment {
                out.push_str(&format!("\nTo step {}: {comment}", step.number));
            }
        }
        out
    }

    /// The same marks on the plan as it is asked elsewhere; another text has none.
    pub(crate) fn carried_to(&self, review: &PlanReview) -> Option<Self> {
        (review.markdown == self.markdown).then(|| Self { at: None, ..self.clone() })
    }
}
