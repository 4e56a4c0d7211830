//! Request panel above the composer: its answers, the selected one, and the text being written.
//!
//! `panels::panel` decides who gets the focus, and when keys are dropped.

use super::edit::Editor;
use super::hidden::Hidden;
use super::hunks::HunkView;
use super::plan::PlanView;
use crate::domain::Mode;
use crate::domain::diff::FileDiff;
use crate::domain::ids::{At, RequestId};
use crate::domain::request::{Approval, Ask, Request, TrustWhat, UserAnswer};
use crate::domain::rule::{Rule, RuleScope};
use crate::domain::tool::Proposal;

/// An answer that can be selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Run it, this once.
    Once,
    /// Run it, and remember for this session.
    Session,
    /// Run it, and remember for this workspace.
    Workspace,
    /// Do not run it.
    No,
    /// Do not run it, and say why.
    Reason,
    /// Edit the command, and run what it is then.
    Instead,
    /// Approve the plan, go to Ask to Edit.
    PlanToAsk,
    /// Approve the plan, go to Execute.
    PlanToExecute,
    /// Approve the plan, compact first, go to Ask to Edit.
    PlanCompactToAsk,
    /// Approve the plan, compact first, go to Execute.
    PlanCompactToExecute,
    /// Request changes of the plan.
    PlanChanges,
    /// Edit the plan, then decide.
    PlanEdit,
    /// Say something to the step of this number: no answer yet.
    StepComment(u32),
    /// Decline the plan.
    PlanDecline,
    /// An answer that the agent offered.
    Option(String),
    /// An answer in the user's own words.
    Words,
    /// Trust the shown text.
    Trust,
    /// Let the shown sources start.
    TrustSources,
    /// Leave the shown sources off.
    LeaveSources,
    /// Trust skills, agents and commands as they are now.
    TrustExtensions,
    /// Leave them off.
    LeaveExtensions,
    /// It is not.
    Distrust,
    /// Give the key that is asked for.
    Key,
    /// Go on without it.
    NoKey,
}

impl Choice {
    /// Label beside its number.
    #[must_use]
    pub fn label(&self) -> &str {
        match self {
            Choice::Once => "yes, this once",
            Choice::Session => "yes, for this session",
            Choice::Workspace => "yes, for this workspace",
            Choice::No => "no",
            Choice::Reason => "no, with a reason",
            Choice::Instead => "edit the command first",
            Choice::PlanToAsk => "approve and continue in Ask to Edit",
            Choice::PlanToExecute => "approve and continue in Execute",
            Choice::PlanCompactToAsk => "approve, compact, continue in Ask to Edit",
            Choice::PlanCompactToExecute => "approve, compact, continue in Execute",
            Choice::PlanChanges => "request changes",
            Choice::PlanEdit => "edit in $EDITOR, then decide",
            Choice::StepComment(_) => "comment on this step",
            Choice::PlanDecline => "decline",
            Choice::Option(text) => text,
            Choice::Words => "reply in your own words",
            Choice::Trust => "yes, rules may allow calls",
            Choice::Distrust => "no, rules may only restrict",
            Choice::TrustSources => "yes, trust this file as it is now",
            Choice::LeaveSources => "no, leave it off",
            Choice::TrustExtensions => "yes, trust these files as they are now",
            Choice::LeaveExtensions => "no, leave them off",
            Choice::Key => "type the key",
            Choice::NoKey => "not now",
        }
    }

    /// Scope for which a yes is remembered.
    #[must_use]
    pub fn scope(&self) -> Option<RuleScope> {
        match self {
            Choice::Session => Some(RuleScope::Session),
            Choice::Workspace => Some(RuleScope::Workspace),
            _ => None,
        }
    }

    /// The answer with these words, for one that needs them; `None` for no words.
    #[must_use]
    pub fn with_words(&self, words: &str) -> Option<UserAnswer> {
        if words.trim().is_empty() {
            return None;
        }
        // A command is its bytes.
        if *self == Choice::Instead {
            return Some(UserAnswer::Instead(words.to_owned()));
        }
        let words = words.trim();
        match self {
            Choice::Reason => Some(UserAnswer::No(Some(words.to_owned()))),
            Choice::PlanChanges => Some(UserAnswer::PlanChanges(words.to_owned())),
            Choice::Words => Some(UserAnswer::Reply(words.to_owned())),
            _ => None,
        }
    }
}

/// The answers on offer for a request, in the order of their numbers.
#[must_use]
pub fn choices(request: &Request) -> Vec<Choice> {
    match &request.ask {
        Ask::Approval(approval) => {
            let mut choices = vec![Choice::Once];
            if !approval.offers.is_empty() && shown_in_full(approval) {
                let kept = [Choice::Session, Choice::Workspace].into_iter();
                choices.extend(kept.filter(|one| one.scope().is_some_and(|scope| approval.scopes.contains(&scope))));
            }
            choices.extend([Choice::No, Choice::Reason]);
            if matches!(approval.proposal, Proposal::Command { .. }) {
                choices.push(Choice::Instead);
            }
            choices
        }
        // An empty plan cannot be approved: there would be nothing that the approval covers.
        Ask::Plan(plan) if plan.markdown.trim().is_empty() => {
            vec![Choice::PlanChanges, Choice::PlanEdit, Choice::PlanDecline]
        }
        Ask::Plan(plan) => {
            let mut choices = vec![Choice::PlanToAsk];
            if !plan.capped {
                choices.push(Choice::PlanToExecute);
            }
            choices.push(Choice::PlanCompactToAsk);
            if !plan.capped {
                choices.push(Choice::PlanCompactToExecute);
            }
            choices.extend([Choice::PlanChanges, Choice::PlanEdit, Choice::PlanDecline]);
            choices
        }
        Ask::Question(question) => {
            question.options.iter().cloned().map(Choice::Option).chain([Choice::Words]).collect()
        }
        Ask::Trust(request) => match request.what {
            TrustWhat::Sources => vec![Choice::TrustSources, Choice::LeaveSources],
            TrustWhat::Extensions => vec![Choice::TrustExtensions, Choice::LeaveExtensions],
            TrustWhat::Workspace | TrustWhat::Repository => vec![Choice::Trust, Choice::Distrust],
        },
        Ask::Key(_) => vec![Choice::Key, Choice::NoKey],
    }
}

/// Characters of a command that people read; a longer one is not remembered.
const LONGEST_COMMAND: usize = 10_000;
/// The same for the lines of a change.
const LONGEST_CHANGE: usize = 20_000;

/// True if the reader can see all of it.
fn shown_in_full(approval: &Approval) -> bool {
    match &approval.proposal {
        Proposal::Command { command, .. } => command.chars().nth(LONGEST_COMMAND).is_none(),
        Proposal::Change { .. } | Proposal::Changes { .. } => {
            let whole = |diff: &FileDiff| diff.left_out == 0 && diff.cut == 0;
            let hunks = approval.proposal.diffs().flat_map(|diff| &diff.hunks);
            approval.proposal.diffs().all(whole) && hunks.map(|hunk| hunk.lines.len()).sum::<usize>() <= LONGEST_CHANGE
        }
        Proposal::Address { url } => url.chars().nth(LONGEST_COMMAND).is_none(),
        Proposal::Script { script, .. } => script.chars().nth(LONGEST_COMMAND).is_none(),
        Proposal::SourceCall { arguments, .. } => arguments.chars().nth(LONGEST_COMMAND).is_none(),
        Proposal::Connect { .. } | Proposal::Plain => true,
    }
}

/// The rules on offer.
fn offered(request: &Request) -> Vec<Rule> {
    match &request.ask {
        Ask::Approval(approval) => approval.offers.iter().map(|offer| offer.rule.clone()).collect(),
        _ => Vec::new(),
    }
}

/// Room for the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// Docked above the composer.
    #[default]
    Docked,
    /// The whole screen.
    Full,
}

/// Stage of answering.
#[derive(Clone, Debug, Default)]
pub enum Stage {
    /// Selecting an answer.
    #[default]
    Choosing,
    /// Writing the words that an answer needs.
    Writing {
        /// Answer that the text is for: [`Choice::Reason`], [`Choice::Instead`],
        /// [`Choice::PlanChanges`] or [`Choice::Words`].
        purpose: Choice,
        /// The words.
        text: Box<Editor>,
    },
    /// Changing the rules that a yes for longer would keep, one a line.
    Rules {
        /// The lines.
        text: Box<Editor>,
        /// Error in the rules, after Enter.
        problem: Option<String>,
    },
    /// Writing a key, unseen.
    Secret {
        /// Entered key.
        key: Hidden,
    },
}

impl Stage {
    /// The key that is being written.
    pub fn secret_mut(&mut self) -> Option<&mut Hidden> {
        match self {
            Stage::Secret { key } => Some(key),
            _ => None,
        }
    }

    /// The text that is being written.
    pub fn editor_mut(&mut self) -> Option<&mut Editor> {
        match self {
            Stage::Writing { text, .. } => Some(text),
            Stage::Rules { text, problem } => {
                *problem = None;
                Some(text)
            }
            Stage::Choosing | Stage::Secret { .. } => None,
        }
    }
}

/// A letter typed in a panel of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Letter {
    pub c: char,
    pub at: At,
    pub did: LetterDid,
}

/// Effect of such a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LetterDid {
    /// It marked an answer.
    Marked,
    /// It named an answer that arrows alone choose.
    Refused,
    /// It moved the panel.
    Moved,
}

/// A request on the screen.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Request id.
    pub request: RequestId,
    /// The answers on offer.
    pub choices: Vec<Choice>,
    /// The selected one, by its place in `choices`; nothing at first.
    pub selected: Option<usize>,
    /// Letter typed last; `None` after arrows and clicks.
    pub(crate) letter: Option<Letter>,
    /// A yes is selected by arrows only.
    irreversible: bool,
    /// Stage of answering.
    pub stage: Stage,
    /// Lines of what is asked that are scrolled away above; `None` until it is scrolled: then the drawing brings the
    /// first changed lines into sight.
    pub scroll: Option<u16>,
    /// Room for the request.
    pub extent: Extent,
    /// The rules that a yes for longer would keep: as offered, or as the user changed them.
    pub rules: Vec<Rule>,
    /// The plan that is asked for, with what the user made of its steps.
    pub plan: Option<Box<PlanView>>,
    /// The changed places of the change that is asked for, where they can be struck out one by one.
    pub hunks: Option<HunkView>,
    /// Words that were begun and left with Esc, and what for.
    pub(crate) begun: Option<(Choice, String)>,
}

/// True if nothing brings back what a yes lets happen.
fn is_irreversible(request: &Request) -> bool {
    matches!(&request.ask, Ask::Approval(approval) if approval.irreversible)
}

impl Panel {
    /// A panel with nothing selected.
    #[must_use]
    pub fn new(request: &Request) -> Self {
        Self {
            request: request.id.clone(),
            choices: choices(request),
            selected: None,
            letter: None,
            irreversible: is_irreversible(request),
            stage: Stage::Choosing,
            scroll: None,
            extent: Extent::Docked,
            rules: offered(request),
            plan: match &request.ask {
                Ask::Plan(review) => Some(Box::new(PlanView::new(review))),
                _ => None,
            },
            hunks: match &request.ask {
                Ask::Approval(approval) => HunkView::new(&approval.proposal),
                _ => None,
            },
            begun: None,
        }
    }

    /// Scrolls what is asked, from the line that the last frame `drew` first to the `last` one at the most.
    pub(crate) fn scroll_by(&mut self, by: isize, drew: u16, last: u16) {
        let from = usize::from(self.scroll.unwrap_or(drew));
        let scroll = from.saturating_add_signed(by).min(usize::from(last));
        self.scroll = Some(u16::try_from(scroll).unwrap_or(u16::MAX));
    }

    /// The answer that this choice gives, where no words are needed for it.
    #[must_use]
    pub fn answer(&self, choice: &Choice) -> Option<UserAnswer> {
        match choice {
            Choice::Once => {
                let left_out = self.hunks.as_ref().map(HunkView::left_out).unwrap_or_default();
                Some(if left_out.is_empty() { UserAnswer::Once } else { UserAnswer::OnceWithout(left_out) })
            }
            Choice::Session | Choice::Workspace => {
                Some(UserAnswer::Remember { scope: choice.scope()?, rules: self.rules.clone() })
            }
            Choice::No => Some(UserAnswer::No(None)),
            Choice::PlanToAsk => self.approval(Mode::Ask, false),
            Choice::PlanToExecute => self.approval(Mode::Execute, false),
            Choice::PlanCompactToAsk => self.approval(Mode::Ask, true),
            Choice::PlanCompactToExecute => self.approval(Mode::Execute, true),
            Choice::PlanDecline => Some(UserAnswer::PlanDecline),
            Choice::Option(text) => Some(UserAnswer::Reply(text.clone())),
            Choice::Trust | Choice::TrustSources | Choice::TrustExtensions => Some(UserAnswer::Trust(true)),
            Choice::Distrust | Choice::LeaveSources | Choice::LeaveExtensions => Some(UserAnswer::Trust(false)),
            Choice::NoKey => Some(UserAnswer::No(None)),
            Choice::Reason | Choice::Instead | Choice::PlanChanges | Choice::Words => None,
            Choice::PlanEdit | Choice::StepComment(_) | Choice::Key => None,
        }
    }

    fn approval(&self, mode: Mode, compact: bool) -> Option<UserAnswer> {
        self.plan.as_ref().map(|plan| UserAnswer::PlanApprove(plan.approval(mode, compact)))
    }

    /// True if a part of the request can be remembered.
    #[must_use]
    pub fn remembers(&self) -> bool {
        self.choices.iter().any(|choice| choice.scope().is_some())
    }

    /// The rules as lines to be changed; `None` where one of them cannot stand on a line.
    #[must_use]
    pub(crate) fn rule_lines(&self) -> Option<String> {
        let lines: Vec<String> = self.rules.iter().map(Rule::in_words).collect();
        let plain = lines.iter().all(|line| !line.chars().any(char::is_control));
        plain.then(|| lines.join("\n"))
    }

    /// Takes over the rules as the user wrote them, one a line; an empty line is left out.
    ///
    /// # Errors
    ///
    /// The problem of the first line that is no rule.
    pub(crate) fn take_rules(&mut self, lines: &str, request: &Request) -> Result<(), String> {
        let offered = offered(request);
        let mut rules: Vec<Rule> = Vec::new();
        for line in lines.lines().filter(|line| !line.trim().is_empty()) {
            let rule = Rule::parse_words(line, &offered).map_err(|why| format!("{}: {why}", line.trim()))?;
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        if rules.is_empty() {
            return Err("rule is empty: answer \"yes, this once\" instead".to_owned());
        }
        self.rules = rules;
        Ok(())
    }

    /// The words that an answer begins with: the command that is to be edited, or what was begun and left.
    #[must_use]
    pub(crate) fn first_words(&mut self, choice: &Choice, request: &Request) -> String {
        if let Some((_, words)) = self.begun.take().filter(|(purpose, _)| purpose == choice) {
            return words;
        }
        match (choice, &request.ask) {
            (Choice::Instead, Ask::Approval(approval)) => match &approval.proposal {
                Proposal::Command { command, .. } => command.clone(),
                _ => String::new(),
            },
            _ => String::new(),
        }
    }

    /// Words were written in it: for an answer, or to the steps of a plan.
    #[must_use]
    pub(crate) fn has_words(&self) -> bool {
        let comments =
            self.plan.as_ref().is_some_and(|plan| plan.outline.steps.iter().any(|step| step.comment.is_some()));
        comments || matches!(&self.stage, Stage::Writing { text, .. } if !text.is_empty())
    }

    /// True if the user has chosen, written or marked something here.
    #[must_use]
    pub(crate) fn is_worked_with(&self) -> bool {
        let marked = self.plan.as_ref().is_some_and(|plan| plan.at.is_some() || plan.is_changed());
        marked || self.begun.is_some() || self.selected.is_some() || !matches!(self.stage, Stage::Choosing)
    }

    /// True if the panel shows exactly this request.
    #[must_use]
    pub(crate) fn is_about(&self, request: &Request) -> bool {
        let same_plan = match (&request.ask, &self.plan) {
            (Ask::Plan(review), Some(plan)) => plan.covers(review),
            (Ask::Plan(_), None) => false,
            _ => true,
        };
        // A yes that letters select must not carry over to what cannot be taken back.
        let same_end = self.irreversible == is_irreversible(request);
        self.request == request.id && self.choices == choices(request) && same_plan && same_end
    }

    /// A new panel for what is asked now, which keeps the words that were written for what was asked before.
    #[must_use]
    pub(crate) fn renewed(self, request: &Request) -> Self {
        let begun = match (self.stage, self.plan) {
            (Stage::Writing { purpose, text }, _) => Some((purpose, text.text())),
            (_, Some(plan)) => {
                let said = plan.approval(Mode::Ask, false).said();
                (!said.is_empty()).then_some((Choice::PlanChanges, said)).or(self.begun)
            }
            _ => self.begun,
        };
        Self { begun, ..Self::new(request) }
    }

    /// The same without a key that was written.
    #[must_use]
    pub(crate) fn without_key(mut self) -> Self {
        if matches!(self.stage, Stage::Secret { .. }) {
            self.stage = Stage::Choosing;
        }
        self
    }

    /// True if no letter or digit selects this answer: nothing brings back what it lets happen.
    #[must_use]
    pub fn needs_arrows(&self, at: usize) -> bool {
        match self.choices.get(at) {
            Some(Choice::PlanToExecute | Choice::PlanCompactToExecute) => true,
            Some(Choice::Once | Choice::Session | Choice::Workspace) => self.irreversible,
            _ => false,
        }
    }

    /// Selects nothing.
    pub(crate) fn unselect(&mut self) {
        (self.selected, self.letter) = (None, None);
    }

    /// The selected answer.
    #[must_use]
    pub fn choice(&self) -> Option<&Choice> {
        self.choices.get(self.selected?)
    }
}
