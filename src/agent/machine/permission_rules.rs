//! The rules that a session goes by: answers that it keeps, what the files say, and what the user is asked to trust.

use super::batch::Asking;
use super::state::{Machine, notice};
use super::trust::Answers;
use crate::agent::machine_io::{FileRules, Safety, Step};
use crate::domain::access::Extras;
use crate::domain::ids::At;
use crate::domain::message::Body;
use crate::domain::notice::Level;
use crate::domain::permission::{Authority, Mode};
use crate::domain::request::{Ask, Request, TrustWhat, UserAnswer};
use crate::domain::rule::{Rule, RuleScope};
use crate::domain::tool::{CallFacts, Touch};
use crate::permit::{self, Verdict};
use crate::protocol::{InForce, SessionEvent};
use std::borrow::Cow;

impl Machine {
    /// Verdict on a call: the table and the rules decide, and struck steps of the plan ask.
    pub(super) fn verdict(&self, mode: Mode, facts: &CallFacts) -> Verdict {
        let headless = self.config.headless;
        let rules = self.rules_for(facts);
        let verdict = permit::decide(self.config.policy, mode, &rules, facts, headless);
        permit::hold_struck(verdict, &self.struck(), (mode, &self.meta.cwd, headless), facts)
    }

    /// The rules in force, with the hosts of the call that the user named.
    fn rules_for(&self, facts: &CallFacts) -> Cow<'_, permit::Rules> {
        let hosts = facts.touches.iter().filter_map(|touch| match touch {
            Touch::Fetch { host, .. } => Some(host),
            _ => None,
        });
        let named: Vec<String> = hosts.filter(|host| self.user_named(host)).cloned().collect();
        if named.is_empty() && !self.has_grants() {
            return Cow::Borrowed(self.trust.rules());
        }
        Cow::Owned(permit::Rules { named, ..self.with_grants(self.trust.rules().clone()) })
    }

    /// The user named this host in a message. What a spawned session was told, another agent wrote.
    fn user_named(&self, host: &str) -> bool {
        self.meta.parent.is_none()
            && self.transcript.rows().iter().any(|row| match &row.body {
                Body::User(said) => permit::names_host(said.own(), host),
                _ => false,
            })
    }

    /// The files of rules say this from now on.
    pub(super) fn set_file_rules(&mut self, now: At, files: FileRules, out: &mut Vec<Step>) {
        let FileRules { rules, loosest, untrusted } = files;
        self.config.loosest = loosest;
        self.trust.set_rules(rules, untrusted, &self.own);
        self.ask_for_trust(now, out);
        if self.meta.mode > loosest {
            self.meta.mode = self.meta.mode.stricter(loosest);
            let text = format!("Untrusted workspace: sessions are limited to {}.", loosest.shown());
            out.push(notice(Level::Warning, text, "/trust shows what trusting it changes."));
            self.changed_by_user(out);
        }
        self.reconsider(now, out);
    }

    /// A repository whose rules would let things run is asked about once, and again when they changed.
    fn ask_for_trust(&mut self, now: At, out: &mut Vec<Step>) {
        let wanted = self.trust.to_ask(&self.own).filter(|_| !self.config.headless).cloned();
        let asked = self.trust.asked().cloned();
        if wanted == asked {
            return;
        }
        if let Some(request) = self.trust.take_request() {
            out.push(Step::Emit(SessionEvent::Settled { request: request.id, by: None }));
        }
        if let Some(wanted) = wanted {
            let request = Request { id: self.request_id(now), ask: Ask::Trust(Box::new(wanted)) };
            self.trust.set_request(request.clone());
            out.push(Step::Emit(SessionEvent::Asked(Box::new(request))));
        }
    }

    pub(super) fn answer_trust(&mut self, answer: &UserAnswer, out: &mut Vec<Step>) {
        let yes = match answer {
            UserAnswer::Trust(yes) => *yes,
            UserAnswer::No(_) => false,
            _ => {
                out.push(notice(Level::Info, "Already answered", ""));
                return;
            }
        };
        let Some(Request { id, ask: Ask::Trust(wanted) }) = self.trust.take_request() else { return };
        let settled = Step::Emit(SessionEvent::Settled { request: id, by: None });
        if yes {
            // Whoever reads the files after the answer finds them trusted.
            out.extend([Step::Trust(wanted), settled]);
        } else {
            out.push(settled);
            self.own.not_trusted.push(wanted.hash);
            out.push(Step::KeepMeta(Safety::Synced));
            let text = match wanted.what {
                TrustWhat::Sources => "These sources stay off.",
                TrustWhat::Extensions => "These skills, agents and commands stay off.",
                TrustWhat::Workspace | TrustWhat::Repository => "This repository's rules can only restrict.",
            };
            out.push(notice(Level::Info, text, "/trust to review them again."));
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
            Some("Can't remember this: always asks.".to_owned())
        } else if !approval.scopes.contains(&scope) {
            Some(format!("Can't remember this for {}.", scope.in_words()))
        } else if rules.is_empty() {
            Some("No rule left to remember.".to_owned())
        } else {
            let ground = &self.trust.rules().ground;
            rules.iter().find_map(|rule| permit::takes(rule, &asking.facts, &approval.offers, ground).err())
        };
        if let Some(fault) = fault {
            out.push(notice(Level::Warning, fault, "The request is still pending."));
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
                self.trust.add_answer(rule);
            }
        }
        out.push(Step::KeepMeta(Safety::Synced));
        Some(Authority::Grant(words))
    }

    /// Access beside its sandbox of a call that was decided in this mode.
    #[must_use]
    pub fn extras(&self, mode: Mode, facts: &CallFacts) -> Extras {
        // What a person types is not held to the session's mode.
        let typed = self.turn.as_ref().is_some_and(|turn| turn.typed);
        let mode = if typed { Mode::Execute } else { mode };
        self.trust.extras(self.config.policy, mode, facts)
    }

    /// An answer of this session no longer holds.
    pub(super) fn forget(&mut self, rule: &Rule, out: &mut Vec<Step>) {
        self.own.rules.retain(|kept| kept != rule);
        self.trust.forget(rule);
        out.push(Step::KeepMeta(Safety::Synced));
    }

    /// The working directory is another one: no answer of the old one holds for it.
    pub(super) fn moved(&mut self, out: &mut Vec<Step>) {
        self.trust.move_to(&self.meta.cwd);
        if !self.own.rules.is_empty() {
            self.own.rules.clear();
            let text = "Session rules cleared: they applied to the old directory.";
            out.push(notice(Level::Info, text, ""));
        }
    }

    /// Counts the rules that decided.
    pub(super) fn count_hits(&mut self, verdict: &Verdict) {
        self.trust.count_hits(verdict);
    }

    /// The rules in force, the session's own first.
    #[must_use]
    pub fn in_force(&self) -> InForce {
        self.trust.in_force()
    }

    /// Takes over what is known of the rules from the machine that this one replaces. Answers come with the session's own
    /// data; those that were not saved yet are in the old machine alone.
    #[must_use]
    pub fn with_rules_of(mut self, earlier: &Machine, answers: Answers) -> Self {
        if answers == Answers::Hold {
            for rule in &earlier.own.rules {
                if !self.own.rules.contains(rule) {
                    self.own.rules.push(rule.clone());
                }
            }
        } else {
            self.own.rules.clear();
        }
        self.config.headless = earlier.config.headless;
        self.config.stranger = earlier.config.stranger;
        let same_cwd = self.meta.cwd == earlier.meta.cwd;
        self.trust.take_over(&earlier.trust, same_cwd, &self.own);
        self
    }
}
