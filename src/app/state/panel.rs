//! What the engine asks, docked above the composer: which answers there are, which one is selected, what is written.
//!
//! Who gets the focus, and when keys are dropped, is decided in `update::panel`.

use super::edit::Editor;
use crate::domain::ids::RequestId;
use crate::domain::request::{Answer, Ask, Request};
use crate::domain::rule::RuleScope;

/// An answer that can be selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Run it, this once.
    Once,
    /// Run it, and remember for this session.
    Session,
    /// Do not run it.
    No,
    /// Do not run it, and say why.
    Reason,
    /// Approve the plan, go to Ask to Edit.
    PlanToAsk,
    /// Approve the plan, go to Execute.
    PlanToExecute,
    /// Request changes of the plan.
    PlanChanges,
    /// Decline the plan.
    PlanDecline,
    /// An answer that the agent offered.
    Option(String),
    /// An answer in the user's own words.
    Words,
    /// What was shown is trusted.
    Trust,
    /// It is not.
    Distrust,
}

impl Choice {
    /// What stands beside its number.
    #[must_use]
    pub fn label(&self) -> &str {
        match self {
            Choice::Once => "yes, this once",
            Choice::Session => "yes, for this session",
            Choice::No => "no",
            Choice::Reason => "no, and say why",
            Choice::PlanToAsk => "approve, go to Ask to Edit",
            Choice::PlanToExecute => "approve, go to Execute",
            Choice::PlanChanges => "request changes",
            Choice::PlanDecline => "decline",
            Choice::Option(text) => text,
            Choice::Words => "answer in your own words",
            Choice::Trust => "yes, they may let things run",
            Choice::Distrust => "no, they only make things stricter",
        }
    }

    /// The answer, where no words are needed for it.
    #[must_use]
    pub fn answer(&self) -> Option<Answer> {
        match self {
            Choice::Once => Some(Answer::Once),
            Choice::No => Some(Answer::No(None)),
            Choice::PlanToAsk => Some(Answer::PlanToAsk),
            Choice::PlanToExecute => Some(Answer::PlanToExecute),
            Choice::PlanDecline => Some(Answer::PlanDecline),
            Choice::Option(text) => Some(Answer::Reply(text.clone())),
            Choice::Trust => Some(Answer::Trust(true)),
            Choice::Distrust => Some(Answer::Trust(false)),
            // What is kept stands in the request: `answer_to` knows it.
            Choice::Session | Choice::Reason | Choice::PlanChanges | Choice::Words => None,
        }
    }

    /// The answer to this request, where no words are needed for it.
    #[must_use]
    pub fn answer_to(&self, request: &Request) -> Option<Answer> {
        match (self, &request.ask) {
            (Choice::Session, Ask::Approval(approval)) => {
                let rules = approval.offers.iter().map(|offer| offer.rule.clone()).collect();
                Some(Answer::Remember { scope: RuleScope::Session, rules })
            }
            _ => self.answer(),
        }
    }

    /// The answer with these words, for one that needs them; `None` for no words.
    #[must_use]
    pub fn with_words(&self, words: &str) -> Option<Answer> {
        let words = words.trim();
        if words.is_empty() {
            return None;
        }
        match self {
            Choice::Reason => Some(Answer::No(Some(words.to_owned()))),
            Choice::PlanChanges => Some(Answer::PlanChanges(words.to_owned())),
            Choice::Words => Some(Answer::Reply(words.to_owned())),
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
            if approval.scopes.contains(&RuleScope::Session) {
                choices.push(Choice::Session);
            }
            choices.extend([Choice::No, Choice::Reason]);
            choices
        }
        // An empty plan cannot be approved: there would be nothing that the approval covers.
        Ask::Plan(plan) if plan.markdown.trim().is_empty() => vec![Choice::PlanChanges, Choice::PlanDecline],
        Ask::Plan(_) => vec![Choice::PlanToAsk, Choice::PlanToExecute, Choice::PlanChanges, Choice::PlanDecline],
        Ask::Question(question) => {
            question.options.iter().cloned().map(Choice::Option).chain([Choice::Words]).collect()
        }
        Ask::Trust(_) => vec![Choice::Trust, Choice::Distrust],
    }
}

/// How much room what is asked takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// Docked above the composer.
    #[default]
    Docked,
    /// The whole screen.
    Full,
}

/// What the user is doing with it.
#[derive(Clone, Debug, Default)]
pub enum Stage {
    /// Selecting an answer.
    #[default]
    Choosing,
    /// Writing the words that an answer needs.
    Writing {
        /// For this answer: [`Choice::Reason`], [`Choice::PlanChanges`] or [`Choice::Words`].
        purpose: Choice,
        /// The words.
        text: Box<Editor>,
    },
}

/// A request on the screen.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Which request.
    pub request: RequestId,
    /// The answers on offer.
    pub choices: Vec<Choice>,
    /// The selected one, by its place in `choices`; nothing at first.
    pub selected: Option<usize>,
    /// What the user is doing.
    pub stage: Stage,
    /// Lines of what is asked that are scrolled away above.
    pub scroll: u16,
    /// How much room it takes.
    pub extent: Extent,
    /// Words that were begun and left with Esc, and what for.
    pub(crate) begun: Option<(Choice, String)>,
}

impl Panel {
    /// A panel with nothing selected.
    #[must_use]
    pub fn new(request: &Request) -> Self {
        Self {
            request: request.id.clone(),
            choices: choices(request),
            selected: None,
            stage: Stage::Choosing,
            scroll: 0,
            extent: Extent::Docked,
            begun: None,
        }
    }

    /// The selected answer.
    #[must_use]
    pub fn choice(&self) -> Option<&Choice> {
        self.choices.get(self.selected?)
    }
}
