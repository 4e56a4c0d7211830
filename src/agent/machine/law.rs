//! The rules that a session goes by: answers that it keeps, what the files say, and what the user is asked to trust.

use super::batch::Asking;
use super::{Machine, notice};
use crate::agent::step::{Law, Safety, Step};
use crate::domain::Event;
use crate::domain::access::Extras;
use crate::domain::contract::InForce;
use crate::domain::ids::At;
use crate::domain::notice::Level;
use crate::domain::permission::{Authority, Mode};
use crate::domain::request::{Answer, Ask, Request, TrustWhat};
use crate::domain::rule::{KnownRule, Rule, RuleScope};
use crate::domain::tool::CallFacts;
use crate::permit::{self, Allowed, Clause, Verdict};

impl Machine {
    /// The files of rules say this from now on.
    pub(super) fn set_law(&mut self, now: At, law: Law, out: &mut Vec<Step>) {
        let Law { rules, loosest, untrusted } = law;
        self.rules.loosest = loosest;
        self.law = rules;
        self.own.rules.iter().for_each(|rule| self.law.add_answer(rule.clone()));
        self.untrusted = untrusted;
        self.ask_for_trust(now, out);
        if self.meta.mode > loosest {
            self.meta.mode = self.meta.mode.stricter(loosest);
            let text = format!("This workspace is not trusted: its sessions go no further than {}.", loosest.shown());
            out.push(notice(Level::Warning, text, "/trust says what trusting it would change."));
            self.changed_by_user(out);
        }
        self.reconsider(now, out);
    }

    /// A repository whose rules would let things run is asked about once, and again when they changed.
    fn ask_for_trust(&mut self, now: At, out: &mut Vec<Step>) {
        let wanted = self
            .untrusted
            .iter()
            .find(|request| request.what == TrustWhat::Repository && !self.own.not_trusted.contains(&request.hash));
        let wanted = wanted.filter(|_| !self.rules.headless).cloned();
        let asked = match &self.trust {
            Some(Request { ask: Ask::Trust(request), .. }) => Some((**request).clone()),
            _ => None,
        };
        if wanted == asked {
            return;
        }
        if let Some(request) = self.trust.take() {
            out.push(Step::Emit(Event::Settled { request: request.id }));
        }
        if let Some(wanted) = wanted {
            let request = Request { id: self.request_id(now), ask: Ask::Trust(Box::new(wanted)) };
            self.trust = Some(request.clone());
            out.push(Step::Emit(Event::Asked(Box::new(request))));
        }
    }

    pub(super) fn answer_trust(&mut self, answer: &Answer, out: &mut Vec<Step>) {
        let yes = match answer {
            Answer::Trust(yes) => *yes,
            Answer::No(_) => false,
            _ => {
                out.push(notice(Level::Info, "That was already settled.", ""));
                return;
            }
        };
        let Some(Request { id, ask: Ask::Trust(wanted) }) = self.trust.take() else { return };
        out.push(Step::Emit(Event::Settled { request: id }));
        if yes {
            out.push(Step::Trust(wanted));
        } else {
            self.own.not_trusted.push(wanted.hash);
            out.push(Step::KeepMeta(Safety::Synced));
            let text = "The rules of this repository only make things stricter.";
            out.push(notice(Level::Info, text, "/trust asks again."));
        }
    }

    /// Keeps the rules of an answer, and says what lets the call run now; `None` when they cannot be kept, which the user
    /// is told.
    pub(super) fn remember(
        &mut self,
        asking: &Asking,
        scope: RuleScope,
        rules: Vec<Rule>,
        out: &mut Vec<Step>,
    ) -> Option<Authority> {
        let Ask::Approval(approval) = &asking.request.ask else { return None };
        let fault = if approval.offers.is_empty() {
            Some("This cannot be remembered: it is asked every time.".to_owned())
        } else if !approval.scopes.contains(&scope) {
            Some(format!("This cannot be remembered for {}.", scope.in_words()))
        } else if rules.is_empty() {
            Some("No rule was left to remember.".to_owned())
        } else {
            let ground = &self.law.ground;
            rules.iter().find_map(|rule| permit::takes(rule, &asking.facts, &approval.offers, ground).err())
        };
        if let Some(fault) = fault {
            out.push(notice(Level::Warning, fault, "The request still waits."));
            return None;
        }
        let words: Vec<String> = rules.iter().map(Rule::in_words).collect();
        let words = format!("{} ({})", words.join(", "), scope.in_words());
        if scope != RuleScope::Session {
            out.push(Step::KeepRules(scope, rules));
            // Whether the rule could be written is another matter: the user let this call run.
            return Some(Authority::Person);
        }
        for rule in rules {
            if !self.own.rules.contains(&rule) {
                self.own.rules.push(rule.clone());
                self.law.add_answer(rule);
            }
        }
        out.push(Step::KeepMeta(Safety::Synced));
        Some(Authority::Grant(words))
    }

    /// What a call that was decided in this mode gets beside its sandbox.
    #[must_use]
    pub fn extras(&self, mode: Mode, facts: &CallFacts) -> Extras {
        // What a person types is not held to the session's mode.
        let typed = self.turn.as_ref().is_some_and(|turn| turn.typed);
        let mode = if typed { Mode::Execute } else { mode };
        permit::extras(self.rules.policy, mode, &self.law, facts)
    }

    /// An answer of this session no longer holds.
    pub(super) fn forget(&mut self, rule: &Rule, out: &mut Vec<Step>) {
        self.own.rules.retain(|kept| kept != rule);
        let this = |one: &permit::Standing| {
            one.scope == RuleScope::Session && matches!(&one.clause, Clause::Rule(kept) if kept == rule)
        };
        self.law.standing.retain(|one| !this(one));
        out.push(Step::KeepMeta(Safety::Synced));
    }

    /// The working directory is another one: no answer of the old one holds for it.
    pub(super) fn moved(&mut self, out: &mut Vec<Step>) {
        self.law.ground.here = vec![self.meta.cwd.clone()];
        self.law.standing.retain(|one| one.scope != RuleScope::Session);
        if !self.own.rules.is_empty() {
            self.own.rules.clear();
            let text = "The answers for this session were about the old directory and do not hold any more.";
            out.push(notice(Level::Info, text, ""));
        }
    }

    /// Counts the rules that decided.
    pub(super) fn count_hits(&mut self, verdict: &Verdict) {
        let ruled = match verdict {
            Verdict::Allow(Allowed::ByRules(ruled)) => Some(ruled),
            Verdict::Deny(refusal) => refusal.rule.as_ref(),
            Verdict::Ask(question) => question.rule.as_ref(),
            Verdict::Allow(_) => None,
        };
        for one in ruled.iter().flat_map(|ruled| &ruled.at).filter_map(|at| self.law.standing.get(*at)) {
            let key = (one.clause.rule(), one.clause.pattern().map(str::to_owned), one.scope);
            match self
                .hits
                .iter_mut()
                .find(|(rule, pattern, scope, _)| (rule, pattern, scope) == (&key.0, &key.1, &key.2))
            {
                Some((.., hits)) => *hits += 1,
                None => self.hits.push((key.0, key.1, key.2, 1)),
            }
        }
    }

    /// The rules in force, the session's own first.
    #[must_use]
    pub fn in_force(&self) -> InForce {
        let mut rules: Vec<KnownRule> = self.law.standing.iter().map(|one| self.known(one)).collect();
        rules.sort_by_key(|rule| match rule.scope {
            RuleScope::Session => 0,
            RuleScope::Workspace => 1,
            RuleScope::User => 2,
            RuleScope::Repository => 3,
        });
        InForce { rules, trust: self.untrusted.clone() }
    }

    fn known(&self, one: &permit::Standing) -> KnownRule {
        let (rule, pattern) = (one.clause.rule(), one.clause.pattern().map(str::to_owned));
        let hits = self.hits.iter().find(|(r, p, s, _)| (r, p, *s) == (&rule, &pattern, one.scope));
        KnownRule {
            hits: hits.map_or(0, |(.., hits)| *hits),
            pattern,
            scope: one.scope,
            file: one.file.clone(),
            // The keys of the old form belong to the program that wrote them.
            removable: matches!(one.clause, Clause::Rule(_)),
            rule,
        }
    }

    /// Takes over what is known of the rules from the machine that this one replaces. Answers come with the session's own
    /// data; those that were not saved yet are in the old machine alone.
    #[must_use]
    pub fn with_law_of(mut self, earlier: &Machine, answers: Answers) -> Self {
        if answers == Answers::Hold {
            for rule in &earlier.own.rules {
                if !self.own.rules.contains(rule) {
                    self.own.rules.push(rule.clone());
                }
            }
        } else {
            self.own.rules.clear();
        }
        if self.meta.cwd == earlier.meta.cwd {
            self.law = earlier.law.clone();
            self.law.standing.retain(|one| one.scope != RuleScope::Session);
        } else {
            self.law.standing.clear();
        }
        self.own.rules.iter().for_each(|rule| self.law.add_answer(rule.clone()));
        self.hits.clone_from(&earlier.hits);
        self.untrusted.clone_from(&earlier.untrusted);
        self.trust.clone_from(&earlier.trust);
        self
    }
}

/// Fate of the answers of a session that is read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// The answers still apply.
    Hold,
    /// They are dropped: nothing comes back looser after another program wrote the session, or
    /// after a crash in Execute.
    Drop,
}

impl Answers {
    /// Fate for a session that was left in this mode.
    #[must_use]
    pub fn after(left_in: Mode, died_in_turn: bool, foreign_last_write: bool) -> Self {
        if foreign_last_write || (died_in_turn && left_in == Mode::Execute) { Answers::Drop } else { Answers::Hold }
    }
}
