//! Rules in force for a session, how often they decided, and what is not trusted.

use super::header_extension::HeaderExtension;
use crate::domain::access::Extras;
use crate::domain::ids::RequestId;
use crate::domain::permission::Mode;
use crate::domain::request::{Ask, Request, TrustRequest, TrustWhat};
use crate::domain::rule::{KnownRule, Rule, RuleScope};
use crate::domain::tool::CallFacts;
use crate::permit::{self, Allowed, Clause, Ground, Policy, Verdict};
use crate::protocol::InForce;
use std::path::Path;

/// Number of decisions of one rule.
#[derive(Clone, Debug, PartialEq)]
struct Hits {
    rule: Rule,
    pattern: Option<String>,
    scope: RuleScope,
    count: u64,
}

/// Rules in force and the question of trust.
#[derive(Clone, Debug)]
pub(super) struct Trust {
    /// The session's answers, and the rules of the files.
    rules: permit::Rules,
    hits: Vec<Hits>,
    /// Files that are not trusted and could be.
    untrusted: Vec<TrustRequest>,
    /// The question about one of them.
    request: Option<Request>,
}

impl Trust {
    /// Rules of a session that was just read: its answers alone.
    pub(super) fn new(cwd: &Path, own: &HeaderExtension) -> Self {
        let rules = permit::Rules::new(Ground { here: vec![cwd.to_owned()], home: None });
        let mut trust = Self { rules, hits: Vec::new(), untrusted: Vec::new(), request: None };
        trust.add_answers(own);
        trust
    }

    pub(super) fn rules(&self) -> &permit::Rules {
        &self.rules
    }

    /// Goes by these rules of the files, and the session's answers.
    pub(super) fn set_rules(&mut self, rules: permit::Rules, untrusted: Vec<TrustRequest>, own: &HeaderExtension) {
        self.rules = rules;
        self.untrusted = untrusted;
        self.add_answers(own);
    }

    fn add_answers(&mut self, own: &HeaderExtension) {
        own.rules.iter().for_each(|rule| self.rules.add_answer(rule.clone()));
    }

    /// Adds an answer of the session.
    pub(super) fn add_answer(&mut self, rule: Rule) {
        self.rules.add_answer(rule);
    }

    /// Takes an answer of the session back.
    pub(super) fn forget(&mut self, rule: &Rule) {
        let this = |one: &permit::StandingRule| {
            one.scope == RuleScope::Session && matches!(&one.clause, Clause::Rule(kept) if kept == rule)
        };
        self.rules.standing.retain(|one| !this(one));
    }

    /// The working directory is another one: no answer of the old one holds there.
    pub(super) fn move_to(&mut self, cwd: &Path) {
        self.rules.ground.here = vec![cwd.to_owned()];
        self.rules.standing.retain(|one| one.scope != RuleScope::Session);
    }

    /// Takes over what is known of the files from an earlier machine of the session. `same_cwd`: their rules are for the
    /// same directory.
    pub(super) fn take_over(&mut self, earlier: &Trust, same_cwd: bool, own: &HeaderExtension) {
        if same_cwd {
            self.rules = earlier.rules.clone();
            self.rules.standing.retain(|one| one.scope != RuleScope::Session);
        } else {
            self.rules.standing.clear();
        }
        self.add_answers(own);
        self.hits.clone_from(&earlier.hits);
        self.untrusted.clone_from(&earlier.untrusted);
        self.request.clone_from(&earlier.request);
    }

    /// Access beside its sandbox of a call that was decided in this mode.
    pub(super) fn extras(&self, policy: Policy, mode: Mode, facts: &CallFacts) -> Extras {
        permit::extras(policy, mode, &self.rules, facts)
    }

    // ---- what is not trusted ----

    /// Question about a file that is not trusted.
    pub(super) fn request(&self) -> Option<&Request> {
        self.request.as_ref()
    }

    pub(super) fn set_request(&mut self, request: Request) {
        self.request = Some(request);
    }

    pub(super) fn take_request(&mut self) -> Option<Request> {
        self.request.take()
    }

    pub(super) fn asks(&self, request: &RequestId) -> bool {
        self.request.as_ref().is_some_and(|asked| asked.id == *request)
    }

    /// The file that the user is asked about now.
    pub(super) fn asked(&self) -> Option<&TrustRequest> {
        match &self.request {
            Some(Request { ask: Ask::Trust(request), .. }) => Some(request),
            _ => None,
        }
    }

    /// The file that is to be asked about: the first of the repository that was not refused.
    pub(super) fn to_ask(&self, own: &HeaderExtension) -> Option<&TrustRequest> {
        let open = |one: &&TrustRequest| one.what != TrustWhat::Workspace && !own.not_trusted.contains(&one.hash);
        self.untrusted.iter().find(open)
    }

    // ---- rules for the user ----

    /// Counts the rules that decided.
    pub(super) fn count_hits(&mut self, verdict: &Verdict) {
        let ruled = match verdict {
            Verdict::Allow(Allowed::ByRules(ruled)) => Some(ruled),
            Verdict::Deny(refusal) => refusal.rule.as_ref(),
            Verdict::Ask(question) => question.rule.as_ref(),
            Verdict::Allow(_) => None,
        };
        for one in ruled.iter().flat_map(|ruled| &ruled.at).filter_map(|at| self.rules.standing.get(*at)) {
            let (rule, pattern) = (one.clause.rule(), one.clause.pattern().map(str::to_owned));
            let scope = one.scope;
            let known = |hits: &&mut Hits| hits.rule == rule && hits.pattern == pattern && hits.scope == scope;
            match self.hits.iter_mut().find(known) {
                Some(hits) => hits.count += 1,
                None => self.hits.push(Hits { rule, pattern, scope, count: 1 }),
            }
        }
    }

    /// The rules in force, the session's own first.
    pub(super) fn in_force(&self) -> InForce {
        let mut rules: Vec<KnownRule> = self.rules.standing.iter().map(|one| self.known(one)).collect();
        rules.sort_by_key(|rule| match rule.scope {
            RuleScope::Session => 0,
            RuleScope::Workspace => 1,
            RuleScope::User => 2,
            RuleScope::Repository => 3,
        });
        InForce { rules, trust: self.untrusted.clone() }
    }

    fn known(&self, one: &permit::StandingRule) -> KnownRule {
        let (rule, pattern) = (one.clause.rule(), one.clause.pattern().map(str::to_owned));
        let known = |hits: &&Hits| hits.rule == rule && hits.pattern == pattern && hits.scope == one.scope;
        KnownRule {
            hits: self.hits.iter().find(known).map_or(0, |hits| hits.count),
            pattern,
            scope: one.scope,
            file: one.file.clone(),
            // The keys of the old form belong to the program that wrote them.
            removable: matches!(one.clause, Clause::Rule(_)),
            rule,
        }
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
